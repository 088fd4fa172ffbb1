//! What a program computes between two calls: it is measured, and takes as long as it would on the simulated host.

use std::cell::Cell;
use std::sync::OnceLock;

use simurgh_kernel::simcall::{ExecRequest, Follow, Simcall};

use crate::rank::Rank;

/// How computation counts.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub enum Compute {
    /// It takes no time.
    #[default]
    Nothing,
    /// It takes the time that it takes here, scaled by the speeds of this machine and of the simulated host.
    Measured {
        /// What this machine does in a second, in flops.
        speed: f64,
        /// What is shorter does not count, seconds.
        least: f64,
    },
}

impl Compute {
    /// As this machine computes: it is measured once, by a loop of additions and multiplications.
    pub fn measured() -> Self {
        static SPEED: OnceLock<f64> = OnceLock::new();
        Compute::Measured { speed: *SPEED.get_or_init(calibrate), least: 1e-6 }
    }
}

/// The flops of a second of this machine: the best of some short runs, which others disturb least.
fn calibrate() -> f64 {
    const TURNS: u32 = 200_000;
    let run = || {
        let (start, mut sums) = (processor_time(), [1.0f64, 2.0, 3.0, 4.0]);
        for _ in 0..TURNS {
            for sum in &mut sums {
                *sum = std::hint::black_box(*sum * 0.999_999 + 1e-6);
            }
        }
        std::hint::black_box(sums);
        f64::from(TURNS) * 8.0 / (processor_time() - start).max(1e-9)
    };
    (0..5).map(|_| run()).fold(0.0, f64::max)
}

/// The time that this thread has run, seconds: a call of the operating system.
fn processor_time() -> f64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The time on the wall, seconds: ten times as fast to read.
fn elapsed_time() -> f64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(which: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to what is given.
    unsafe { libc::clock_gettime(which, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// When a program went on. The clock of the thread is read only where the time on the wall does not tell enough: what took little
/// time on the wall took no more of the processor, and a thread that was interrupted was so for longer than a reading stays fresh.
#[derive(Debug, Default)]
pub struct Clock {
    /// When the program went on last, on the wall; 0 before it did.
    went_on: Cell<f64>,
    /// What the thread had run when its clock was read last.
    read: Cell<f64>,
    /// When that was, on the wall.
    read_at: Cell<f64>,
}

impl Clock {
    /// For so long a reading of the thread's clock can be carried on by the wall's, seconds.
    const FRESH: f64 = 50e-6;

    fn read(&self, at: f64) -> f64 {
        self.read.set(processor_time());
        self.read_at.set(at);
        self.read.get()
    }

    /// The program goes on.
    fn goes_on(&self) {
        let now = elapsed_time();
        if now - self.read_at.get() > Self::FRESH {
            self.read(now);
        }
        self.went_on.set(now);
    }

    /// What the program has computed since it went on, seconds; nothing if it is less than `least`.
    fn computed(&self, least: f64) -> Option<f64> {
        let (now, went_on) = (elapsed_time(), self.went_on.get());
        if went_on == 0.0 || now - went_on < least {
            return None;
        }
        let had_run = self.read.get() + (went_on - self.read_at.get());
        Some(self.read(now) - had_run).filter(|seconds| *seconds >= least)
    }
}

impl Rank {
    /// The program has called: what it did since the last call takes its time.
    #[inline]
    pub fn has_computed(&self) {
        if let Compute::Measured { speed, least } = self.world.compute
            && let Some(seconds) = self.clock.computed(least)
        {
            self.compute(seconds * speed);
        }
    }

    /// The program goes on.
    #[inline]
    pub fn goes_on(&self) {
        if let Compute::Measured { .. } = self.world.compute {
            self.clock.goes_on();
        }
    }

    /// What reading the clock costs. Who does nothing else waits for a date, and is let to come there: after a thousand times in a
    /// row it costs more and more, up to a millisecond.
    pub fn pays_clock(&self) {
        let reads = self.clock_reads.get();
        self.clock_reads.set(reads.saturating_add(1));
        let grown = self.world.costs.wtime * f64::exp2(f64::from(reads.saturating_sub(1000) / 64));
        self.sleep(grown.min(1e-3).max(self.world.costs.wtime));
    }

    /// Computes on the host of the process.
    pub fn compute(&self, flops: f64) {
        let request = ExecRequest { flops, host: None, priority: None, bound: None, threads: 1 };
        self.ask(Simcall::Execute(request, Follow::Wait(None)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_computations_are_measured_and_short_ones_are_not() {
        let clock = Clock::default();
        assert_eq!(clock.computed(1e-6), None, "it has not gone on");
        clock.goes_on();
        assert_eq!(clock.computed(1e3), None, "it takes less");
        clock.goes_on();
        let start = processor_time();
        while processor_time() - start < 0.01 {}
        let ran = processor_time() - start;
        let computed = clock.computed(1e-6).expect("it takes more");
        assert!((ran - computed).abs() < 1e-3, "{ran} {computed}");
    }
}
