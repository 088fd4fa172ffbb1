//! Worker threads, for rounds in which the code of many actors, or long code, is to be run (Rosa's thesis, 4.3 and 4.4).
//!
//! The actors of a round are dealt into portions; each thread, the simulation's own among them, takes the next portion
//! by an atomic index until none is left. The threads sleep between such rounds. A round costs at most as many system
//! calls as there are other threads, and three: one wakes them all, each goes back to sleep, the simulation sleeps
//! until the last of them is done, and that one wakes it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use atomic_wait::{wait, wake_all, wake_one};

use super::round::Slot;

/// So many portions for each thread, so that one with long code does not keep the others waiting.
const PORTIONS: usize = 8;

/// The code of an actor is asked for so many actors before it runs.
const AHEAD: usize = 4;

/// What the threads share.
struct Board {
    portions: Box<[Portion]>,
    /// The next portion to take.
    next: AtomicUsize,
    /// How many there are in this round.
    count: AtomicUsize,
    /// The number of the round; the threads sleep until it changes.
    round: AtomicU32,
    /// How many threads are not done with the round.
    busy: AtomicU32,
    over: AtomicBool,
}

type Portion = Mutex<Vec<Slot>>;

impl Board {
    /// Runs portions until none is left.
    fn work(&self) {
        let count = self.count.load(Ordering::Relaxed);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let mut slots = lock(&self.portions[index]);
            for place in 0..slots.len() {
                slots.get(place + AHEAD).into_iter().for_each(Slot::fetch);
                slots[place].run();
            }
        }
    }

    /// The life of a thread.
    fn serve(&self) {
        let mut seen = 0;
        loop {
            while self.round.load(Ordering::Acquire) == seen {
                wait(&self.round, seen);
            }
            seen = self.round.load(Ordering::Acquire);
            if self.over.load(Ordering::Acquire) {
                return;
            }
            self.work();
            if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
                wake_one(&self.busy);
            }
        }
    }
}

/// Code of actors that panics is caught before it gets here: what lies behind a lock is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The threads.
pub(super) struct Crew {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    /// So many threads together with the one that calls. Fewer, if the system gives no more.
    pub(super) fn new(workers: usize) -> Self {
        let board = Arc::new(Board {
            portions: (0..PORTIONS * workers.max(1)).map(|_| Portion::default()).collect(),
            next: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            round: AtomicU32::new(0),
            busy: AtomicU32::new(0),
            over: AtomicBool::new(false),
        });
        let start = |_| {
            let board = Arc::clone(&board);
            std::thread::Builder::new().name("simurgh-worker".to_owned()).spawn(move || board.serve()).ok()
        };
        let threads: Vec<_> = (1..workers).map_while(start).collect();
        Self { board, threads }
    }

    /// How many threads there are, with the one that calls.
    pub(super) fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Runs the code of some of the actors. All are in the same order afterwards.
    pub(super) fn run(&mut self, slots: &mut Vec<Slot>, which: Range<usize>) {
        let count = which.len();
        let board = &*self.board;
        let size = count.div_ceil(board.portions.len()).max(1);
        let used = count.div_ceil(size);
        let rest = slots.split_off(which.end);
        let mut dealt = slots.drain(which.start..);
        for portion in &board.portions[..used] {
            lock(portion).extend(dealt.by_ref().take(size));
        }
        drop(dealt);
        board.next.store(0, Ordering::Relaxed);
        board.count.store(used, Ordering::Relaxed);
        board.busy.store(self.threads.len() as u32, Ordering::Relaxed);
        board.round.fetch_add(1, Ordering::Release);
        wake_all(&board.round);
        board.work();
        loop {
            let busy = board.busy.load(Ordering::Acquire);
            if busy == 0 {
                break;
            }
            wait(&board.busy, busy);
        }
        for portion in &board.portions[..used] {
            slots.append(&mut lock(portion));
        }
        slots.extend(rest);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.board.over.store(true, Ordering::Release);
        self.board.round.fetch_add(1, Ordering::Release);
        wake_all(&self.board.round);
        for thread in self.threads.drain(..) {
            // A thread that panicked has told so itself.
            let _ = thread.join();
        }
    }
}
