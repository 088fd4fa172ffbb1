//! How long the code of a round takes, looked at in steps that double.
//!
//! A thread may be made to wait in the middle of a step, for other work of the machine; that says nothing about the code, and
//! hardly ever happens in two steps of one round. So the slowest step does not count. Where it was the code of one actor that
//! took long, nothing is lost: other threads would not have made that shorter.

use super::parallelism::Stopwatch;

/// The steps of a round up to now.
#[derive(Copy, Clone, Debug)]
pub(super) struct RoundTimer {
    watch: Stopwatch,
    /// For so many nanoseconds one thread goes on before the others are woken after all.
    patience: u64,
    start: u64,
    /// When the clock was looked at last, and how many actors had run by then.
    last: u64,
    done: usize,
    /// The slowest step: how long it took, and for how many actors.
    slowest: u64,
    of_slowest: usize,
}

impl RoundTimer {
    /// A round begins.
    pub(super) fn begin(watch: Stopwatch, patience: u64) -> Self {
        let start = watch();
        Self { watch, patience, start, last: start, done: 0, slowest: 0, of_slowest: 0 }
    }

    /// When it began.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// How long it took up to the last look.
    pub(super) fn taken(&self) -> u64 {
        self.last.saturating_sub(self.start)
    }

    pub(super) fn now(&self) -> u64 {
        (self.watch)()
    }

    /// So many actors have run by now: a step ends.
    pub(super) fn look(&mut self, done: usize) {
        let now = self.now();
        let took = now.saturating_sub(self.last);
        if took >= self.slowest {
            (self.slowest, self.of_slowest) = (took, done - self.done);
        }
        (self.last, self.done) = (now, done);
    }

    /// Whether it takes longer than one has patience for.
    pub(super) fn is_long(&self) -> bool {
        self.but_slowest() > self.patience
    }

    /// How long all steps but the slowest took, in nanoseconds.
    fn but_slowest(&self) -> u64 {
        self.taken().saturating_sub(self.slowest)
    }

    /// What the code of an actor takes at least, for sure. Of less than two steps nothing is.
    pub(super) fn cost(&self) -> f64 {
        let counted = self.done - self.of_slowest;
        if counted > 0 { self.but_slowest() as f64 / counted as f64 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static NOW: Cell<u64> = const { Cell::new(0) };
    }

    /// The steps of a round in which each of these numbers of actors took so long.
    fn steps(of: &[(usize, u64)]) -> RoundTimer {
        let mut steps = RoundTimer::begin(|| NOW.get(), 100_000);
        let mut done = 0;
        for &(actors, took) in of {
            NOW.set(NOW.get() + took);
            done += actors;
            steps.look(done);
        }
        steps
    }

    #[test]
    fn who_is_kept_waiting_once_is_not_slow() {
        let kept = steps(&[(1, 100), (1, 100), (2, 4_000_200), (4, 400)]);
        assert_eq!((kept.is_long(), kept.cost()), (false, 100.0));
        let slow = steps(&[(1, 1_000_000), (1, 1_000_000)]);
        assert_eq!((slow.is_long(), slow.cost()), (true, 1e6));
        let one_is_slow = steps(&[(1, 9_000_000), (1, 5), (2, 10)]);
        assert_eq!((one_is_slow.is_long(), one_is_slow.cost()), (false, 5.0));
        let single = steps(&[(1, 1_000_000)]);
        assert_eq!((single.is_long(), single.cost()), (false, 0.0));
    }
}
