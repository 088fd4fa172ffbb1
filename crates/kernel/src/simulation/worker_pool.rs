//! Worker threads, for rounds in which the code of many actors, or long code, is to be run (Rosa's thesis, 4.3 and 4.4).
//!
//! The actors of a round are dealt into batches; each thread, the simulation's own among them, takes the next batch
//! by an atomic index until none is left. The threads sleep between such rounds. A round costs at most as many system
//! calls as there are other threads, and three: one wakes them all, each goes back to sleep, the simulation sleeps
//! until the last batch is done, and whoever did that wakes it. A thread that wakes so late that nothing is left for it
//! keeps nobody waiting.
//!
//! `tests/worker_pool.rs` compiles this file with the primitives of loom in the place of `sync`, and tries every
//! interleaving and every value that the memory orders allow.

use std::ops::Range;

use super::sync::{
    Arc, AtomicBool, AtomicU32, AtomicUsize, BATCHES, JoinHandle, Mutex, MutexGuard, Ordering, PoisonError,
    spawn, wait, wake_all, wake_one,
};

/// Something that one of the threads does.
pub(super) trait Work: Default + Send + 'static {
    /// Does it.
    fn run(&mut self);

    /// Asks for what it needs, before it is run.
    fn prefetch(&self);
}

/// What a piece of work needs is asked for so many pieces before it runs.
const AHEAD: usize = 4;

/// What the threads share.
struct Board<W> {
    batches: Box<[Mutex<Vec<W>>]>,
    /// How many batches nobody has taken; the last of them is taken next.
    untaken: AtomicUsize,
    /// How many batches are not done.
    undone: AtomicU32,
    /// The number of the round; the threads sleep until it changes.
    round: AtomicU32,
    over: AtomicBool,
}

impl<W: Work> Board<W> {
    /// Runs batches until none is left. Whether the last of all was among them.
    ///
    /// A thread that comes late, to a round that is over, finds none, or those of the next: each is there before it is
    /// counted.
    fn work(&self) -> bool {
        let take = || {
            let less = |untaken: usize| untaken.checked_sub(1);
            self.untaken.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).ok()
        };
        let mut was_last = false;
        while let Some(untaken) = take() {
            let mut batch = lock(&self.batches[untaken - 1]);
            for place in 0..batch.len() {
                batch.get(place + AHEAD).into_iter().for_each(W::prefetch);
                batch[place].run();
            }
            drop(batch);
            was_last = self.undone.fetch_sub(1, Ordering::AcqRel) == 1;
        }
        was_last
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
            if self.work() {
                wake_one(&self.undone);
            }
        }
    }
}

/// Code of actors that panics is caught before it gets here: what lies behind a lock is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The threads.
pub(super) struct WorkerPool<W> {
    board: Arc<Board<W>>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Work> WorkerPool<W> {
    /// So many threads together with the one that calls. Fewer, if the system gives no more.
    pub(super) fn new(workers: usize) -> Self {
        let board = Arc::new(Board {
            batches: (0..BATCHES * workers.max(1)).map(|_| Mutex::new(Vec::new())).collect(),
            untaken: AtomicUsize::new(0),
            undone: AtomicU32::new(0),
            round: AtomicU32::new(0),
            over: AtomicBool::new(false),
        });
        let start = |_| {
            let board = Arc::clone(&board);
            spawn(move || board.serve())
        };
        let threads: Vec<_> = (1..workers).map_while(start).collect();
        Self { board, threads }
    }

    /// How many threads there are, with the one that calls.
    pub(super) fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Runs the code of some of the actors. All are in the same order afterwards.
    pub(super) fn run(&mut self, slots: &mut Vec<W>, which: Range<usize>) {
        let count = which.len();
        let board = &*self.board;
        let size = count.div_ceil(board.batches.len()).max(1);
        let used = count.div_ceil(size);
        let rest = slots.split_off(which.end);
        // The last batch is taken first.
        let batches = || board.batches[..used].iter().rev();
        let mut dealt = slots.drain(which.start..);
        for batch in batches() {
            lock(batch).extend(dealt.by_ref().take(size));
        }
        drop(dealt);
        board.undone.store(used as u32, Ordering::Relaxed);
        board.untaken.store(used, Ordering::Release);
        board.round.fetch_add(1, Ordering::Release);
        wake_all(&board.round);
        board.work();
        loop {
            let undone = board.undone.load(Ordering::Acquire);
            if undone == 0 {
                break;
            }
            wait(&board.undone, undone);
        }
        for batch in batches() {
            slots.append(&mut lock(batch));
        }
        slots.extend(rest);
    }
}

impl<W> Drop for WorkerPool<W> {
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
