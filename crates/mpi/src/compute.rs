//! What a program computes between two calls: it is measured, and takes as long as it would on the simulated host.

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

/// The time that this thread has run, seconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to what is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

impl Rank {
    /// The program has called: what it did since the last call takes its time.
    #[inline]
    pub fn has_computed(&self) {
        if let Compute::Measured { speed, least } = self.world.compute {
            let seconds = processor_time() - self.went_on.get();
            if self.went_on.get() > 0.0 && seconds >= least {
                self.compute(seconds * speed);
            }
        }
    }

    /// The program goes on.
    #[inline]
    pub fn goes_on(&self) {
        if let Compute::Measured { .. } = self.world.compute {
            self.went_on.set(processor_time());
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
