//! Whether processes get anywhere. Who polls lets time pass, so that a run in which all that is left is polling never ends by
//! itself: somebody has to see that nothing else can happen.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use simurgh_kernel::simcall::Simcall;

use crate::os;
use crate::rank::Rank;
use crate::verify::Kind;

/// How far all processes are together.
#[derive(Debug, Default)]
pub struct Progress {
    /// How often one of them got further: sent or received something, or found what it polled for.
    moves: AtomicU64,
    /// How many are in a computation or a sleep, after which they will go on.
    busy: AtomicU32,
    /// Whether somebody who looks from beside has seen enough: the next that polls ends the run.
    enough: AtomicBool,
}

/// How often in a row a process has polled while nobody got further.
#[derive(Debug, Default)]
pub struct Vain {
    moves: Cell<u64>,
    count: Cell<u64>,
    since: Cell<f64>,
    /// Whether it looked at a clock meanwhile: it may wait for a date.
    saw_clock: Cell<bool>,
}

/// So often it polls, at least, before it is told that it never ends.
const POLLS: u64 = 10_000;
/// And for so many seconds of simulated time: no message and no computation takes as long.
const SECONDS: f64 = 1e5;

impl Progress {
    /// One of them got further.
    #[inline]
    pub fn moves(&self) {
        // One process runs at a time.
        self.moves.store(self.moves.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// How often one of them got further.
    pub fn count(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// One of them does something that ends by itself.
    pub fn while_busy<T>(&self, run: impl FnOnce() -> T) -> T {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let result = run();
        self.busy.fetch_sub(1, Ordering::Relaxed);
        self.moves();
        result
    }

    /// Whether one of them does something that ends by itself.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    /// Whoever polls next ends the run.
    pub fn is_enough(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }
}

/// Whether what a process asks gets it further.
pub fn is_move(simcall: &Simcall) -> bool {
    !matches!(
        simcall,
        Simcall::TestAny { .. }
            | Simcall::Probe(..)
            | Simcall::Sleep(_)
            | Simcall::Execute(..)
            | Simcall::Yield
    )
}

impl Rank {
    /// It looked at a clock.
    pub fn saw_clock(&self) {
        self.vain.saw_clock.set(true);
        self.has_enough();
    }

    /// It polled, and found something or not. Who has polled for long enough, in a world in which nobody does anything else, polls for
    /// ever.
    pub fn polled(&self, found: bool) {
        let progress = &self.world.progress;
        if found {
            progress.moves();
            return;
        }
        let (vain, moves) = (&self.vain, progress.count());
        if vain.moves.replace(moves) != moves {
            vain.count.set(0);
            vain.since.set(self.now());
            vain.saw_clock.set(false);
        }
        vain.count.set(vain.count.get() + 1);
        if vain.count.get() < POLLS || !vain.count.get().is_multiple_of(256) {
            return;
        }
        self.has_enough();
        let seconds = self.now() - vain.since.get();
        if seconds > SECONDS && !vain.saw_clock.get() && !progress.is_busy() {
            self.polls_for_ever();
        }
    }

    fn has_enough(&self) {
        if self.world.progress.enough.load(Ordering::Relaxed) {
            self.polls_for_ever();
        }
    }

    fn polls_for_ever(&self) -> ! {
        let since = self.vain.since.get();
        let what = if self.vain.saw_clock.get() { "reads the clock" } else { "polls" };
        os::abort(Kind::Error, 1, &format!("{what} for ever: since {since:.6} s nobody has got any further"))
    }
}
