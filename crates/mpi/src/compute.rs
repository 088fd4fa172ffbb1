//! What a program computes between two calls: it is measured, or counted, and takes as long as it would on the simulated host.

use std::cell::Cell;

use simurgh_kernel::simcall::{ExecRequest, Follow, Simcall};

use crate::calibration;
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
    /// Its instructions are counted, which is the same in every run.
    Counted {
        /// What an instruction is worth, in flops.
        flops: f64,
        /// What is shorter counts when more has come together, seconds of the simulated host.
        least: f64,
    },
}

/// Bytes of code that make an instruction: on x86-64 it is four in the mean.
const INSTRUCTION: f64 = 4.0;

impl Compute {
    /// Computation that is shorter does not count, seconds.
    pub const LEAST: f64 = 1e-6;

    /// As this machine computes: its speed is measured once, and remembered.
    pub fn measured() -> Self {
        Compute::Measured { speed: calibration::speed(), least: Self::LEAST }
    }

    /// An instruction is a flop.
    pub fn counted() -> Self {
        Compute::Counted { flops: 1.0, least: Self::LEAST }
    }
}

/// The time that this thread has run, seconds: a call of the operating system.
pub(crate) fn processor_time() -> f64 {
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
    /// What the thread had executed when the program went on, where that is counted.
    executed: Cell<u64>,
    /// What was executed and has not counted yet.
    owed: Cell<u64>,
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

    /// What the program has executed and what has not counted yet, in instructions, once it is at least so many.
    fn counted(&self, executed: u64, least: f64) -> Option<f64> {
        let owed = self.owed.get() + (executed - self.executed.get());
        self.executed.set(executed);
        let instructions = owed as f64 / INSTRUCTION;
        let counts = owed > 0 && instructions >= least;
        self.owed.set(if counts { 0 } else { owed });
        counts.then_some(instructions)
    }
}

/// So many seconds may be measured between two polls where nothing but polling is done: they get nobody any further. On a busy machine
/// much is measured that the program does not do.
const LITTLE: f64 = 1e-3;

/// So often in a row may the clock be read at its price.
const READS: u32 = 100_000;

impl Rank {
    /// The program has called: what it did since the last call takes its time.
    #[inline]
    pub fn has_computed(&self) {
        self.has_computed_at_least(1.0);
    }

    /// The same; what is shorter than this part of the least that counts does not.
    pub(crate) fn has_computed_at_least(&self, part: f64) {
        match self.world.compute {
            Compute::Nothing => {}
            Compute::Measured { speed, least } => {
                if let Some(seconds) = self.clock.computed(least * part) {
                    self.compute(seconds * speed);
                }
            }
            Compute::Counted { flops, least } => {
                let least = least * part * self.world.speed(self.process) / flops;
                if let Some(instructions) = self.clock.counted(simurgh_native::executed(), least) {
                    self.compute(instructions * flops);
                }
            }
        }
    }

    /// The program goes on.
    #[inline]
    pub fn goes_on(&self) {
        match self.world.compute {
            Compute::Nothing => {}
            Compute::Measured { .. } => self.clock.goes_on(),
            Compute::Counted { .. } => self.clock.executed.set(simurgh_native::executed()),
        }
    }

    /// What reading the clock costs. Who does nothing else for very long waits for a date, and is let to come there: then it costs
    /// more and more, up to a millisecond. Programs that take the time of each small piece of work do not read it as often in a row.
    pub fn pays_clock(&self) {
        self.saw_clock();
        let reads = self.clock_reads.get();
        self.clock_reads.set(reads.saturating_add(1));
        let grown = self.world.costs.wtime * f64::exp2(f64::from(reads.saturating_sub(READS) / 64));
        self.spend(grown.min(1e-3).max(self.world.costs.wtime));
    }

    /// Computes on the host of the process.
    pub fn compute(&self, flops: f64) {
        let from = self.now();
        let request = ExecRequest { flops, host: None, priority: None, bound: None, threads: 1 };
        self.doing.computes(true);
        let run = || self.ask(Simcall::Execute(request, Follow::Wait(None)));
        match flops < LITTLE * self.world.speed(self.process) {
            true => run(),
            false => self.world.progress.while_busy(run),
        };
        self.doing.computes(false);
        let to = self.now();
        self.tracks.has_computed(flops, from, to);
        self.was_in(None, from, to);
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

    #[test]
    fn what_is_counted_and_short_is_not_lost() {
        let clock = Clock::default();
        assert_eq!(clock.counted(400, 1000.0), None);
        assert_eq!(clock.counted(2000, 1000.0), None);
        assert_eq!(clock.counted(4000, 1000.0), Some(1000.0));
        assert_eq!(clock.counted(4000, 0.0), None, "nothing was executed");
        assert_eq!(clock.counted(4004, 0.0), Some(1.0));
    }
}
