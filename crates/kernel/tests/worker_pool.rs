//! The worker pool of a simulation under loom: every interleaving of its threads, and every value that the memory orders allow
//! to be read. The source is that of the kernel; only what it is made of comes from loom.

#[path = "../src/simulation/worker_pool.rs"]
#[expect(dead_code, reason = "how many threads there are is not asked here")]
mod worker_pool;

/// The primitives of loom. A thread that sleeps until a word changes is one that waits for a notification, under a lock that
/// whoever notifies takes too: as with a futex, what was changed before is seen, or the sleeper is woken.
mod sync {
    pub(super) use std::sync::PoisonError;

    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread::JoinHandle;

    /// Few, since every one more multiplies what there is to try.
    pub(super) const BATCHES: usize = 1;

    loom::lazy_static! {
        static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub(super) fn spawn(serve: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
        Some(loom::thread::spawn(serve))
    }

    pub(super) fn wait(word: &AtomicU32, value: u32) {
        let (lock, woken) = &*SLEEPERS;
        let guard = lock.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(woken.wait(guard).unwrap());
        }
    }

    pub(super) fn wake_all(_: &AtomicU32) {
        let (lock, woken) = &*SLEEPERS;
        let _guard = lock.lock().unwrap();
        woken.notify_all();
    }

    /// Who is woken besides looks again, and goes back to sleep.
    pub(super) fn wake_one(word: &AtomicU32) {
        wake_all(word);
    }
}

use loom::cell::UnsafeCell;
use worker_pool::{Work, WorkerPool};

/// A piece of work that notices if two threads do it at once: loom watches the cell.
struct Piece {
    number: u32,
    runs: UnsafeCell<u32>,
}

impl Default for Piece {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Piece {
    fn new(number: u32) -> Self {
        Self { number, runs: UnsafeCell::new(0) }
    }
}

impl Work for Piece {
    fn run(&mut self) {
        self.runs.with_mut(|runs| {
            // SAFETY: loom fails the test if somebody else has it at the same time.
            unsafe { *runs += 1 }
        });
    }

    fn prefetch(&self) {}
}

/// Runs rounds of so many pieces by so many threads; in each, those from the second on.
fn rounds(workers: usize, sizes: &'static [usize], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let mut pool = WorkerPool::new(workers);
        for &size in sizes {
            let mut pieces: Vec<Piece> = (0..size as u32).map(Piece::new).collect();
            pool.run(&mut pieces, 1..size);
            for (place, piece) in pieces.iter().enumerate() {
                assert_eq!(piece.number, place as u32, "they are in the same order afterwards");
                let runs = piece.runs.with(|runs| {
                    // SAFETY: as above.
                    unsafe { *runs }
                });
                assert_eq!(runs, u32::from(place > 0), "each ran once, the first not at all");
            }
        }
        // Dropped, it waits for its threads.
        drop(pool);
    });
}

#[test]
fn one_other_thread_and_two_rounds() {
    rounds(2, &[3, 3], 2);
}

#[test]
fn two_other_threads() {
    rounds(3, &[4], 2);
}

#[test]
fn rounds_that_leave_nothing_for_others() {
    rounds(2, &[2, 2, 2], 2);
}
