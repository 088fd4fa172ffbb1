//! What all processes of a run share: how many there are, where they run, and what MPI costs them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use simurgh_kernel::ids::BarrierId;
use simurgh_platform::{DiskId, HostId};

use crate::abi::Procedure;
use crate::collectives::Selection;
use crate::compute::Compute;
use crate::even::Even;
use crate::progress::Progress;
use crate::sampling::Samples;
use crate::shared_memory::SharedMemory;
use crate::started::Started;
use crate::traces::play::Replay;
use crate::tracks::Wanted;
use crate::verify::{Common, Effort, Kind, Lines};
use crate::window::{Atomics, Holds};

/// A run of an MPI program.
#[derive(Debug)]
pub struct World {
    /// The first process of each program.
    pub applications: Vec<usize>,
    /// Where each process runs.
    pub hosts: Vec<HostId>,
    /// The names of those hosts.
    pub host_names: Vec<String>,
    /// The speed of a core of each, flop/s.
    pub speeds: Vec<f64>,
    /// The disk of each, if it has one: the first.
    pub disks: Vec<Option<DiskId>>,
    /// What MPI costs.
    pub costs: Costs,
    /// How computation counts.
    pub compute: Compute,
    /// Which algorithms collectives use.
    pub selection: Selection,
    /// How often in a row polling was in vain; one number for all processes, as in the reference.
    pub polls: Polls,
    /// Whether somebody gets anywhere.
    pub progress: Progress,
    /// What processes left undone when they called `MPI_Finalize`.
    pub leftovers: Mutex<Vec<Leftover>>,
    /// Whether what was printed last, on standard output and on standard error, is no whole line.
    pub unterminated: [AtomicBool; 2],
    /// Why something that a process printed was lost.
    pub unprinted: OnceLock<String>,
    /// The barrier at which all wait that have begun.
    pub start: BarrierId,
    /// Processes that were started later, and what they meet by.
    pub started: Started,
    /// Whether executions of it are explored: whoever ends the run fails, and is no reason to end the others.
    pub explored: bool,
    /// Whether something may go in several ways: what is received, or who is first.
    pub has_choices: AtomicBool,
    /// Why the program cannot be explored, if it turned out that it cannot.
    pub gives_up: Mutex<Option<&'static str>>,
    /// How windows are held.
    pub holds: Holds,
    /// Whether sends that wait for nobody are cancelled.
    pub cancels: Learned,
    /// Whether the program polls memory of windows.
    pub watches: Learned,
    /// Whether it polls memory that is shared, as it is: single words of it are flags.
    pub flags: Learned,
    /// Whether accesses to files that nothing orders meet in atomic mode.
    pub files_in_turn: Learned,
    /// How it accesses windows atomically.
    pub atomics: Atomics,
    /// How closely loads and stores are watched.
    pub effort: Effort,
    /// What all processes know together where executions are explored.
    pub common: Mutex<Common>,
    /// The lines of the program.
    pub lines: Lines,
    /// How it was ended, if one of them did.
    pub aborted: Mutex<Option<Aborted>>,
    /// Whether what programs print goes to standard error.
    pub output: Output,
    /// What is written down of each process.
    pub wanted: Wanted,
    /// The trace that is replayed, if one is.
    pub replay: Option<Replay>,
    /// Samples of blocks that all processes take together.
    pub samples: Mutex<Samples>,
    /// Memory that processes share.
    pub shared_memory: Mutex<SharedMemory>,
    /// Whether they are all in the same situation.
    pub even: Even,
}

/// Where what programs print goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Output {
    /// Where it would go: to standard output and standard error.
    #[default]
    AsItIs,
    /// All to standard error.
    AllToError,
    /// To whoever drives the processes, line by line, where it wants to know what they say and ask.
    ToDriver,
}

/// What may turn out while executions are explored, and changes how they are.
#[derive(Debug, Default)]
pub struct Learned {
    seen: AtomicBool,
    known: AtomicBool,
}

impl Learned {
    /// It turns out.
    pub fn is_seen(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }

    /// It is known from the beginning.
    pub fn know(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// Whether it was known from the beginning.
    pub fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// Whether it turned out, and is not known.
    pub fn is_news(&self) -> bool {
        self.seen.load(Ordering::Relaxed) && !self.is_known()
    }

    /// Whether it turned out, and was not known before. It is known from now on.
    pub fn has_learned(&self) -> bool {
        self.seen.load(Ordering::Relaxed) && !self.known.swap(true, Ordering::Relaxed)
    }
}

/// How often in a row polling was in vain, and once more.
#[derive(Debug)]
pub struct Counter(AtomicU32);

impl Default for Counter {
    fn default() -> Self {
        Self(AtomicU32::new(1))
    }
}

impl Counter {
    /// The number.
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Another number.
    pub fn set(&self, number: u32) {
        self.0.store(number, Ordering::Relaxed);
    }
}

/// How a run was ended by one of its processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aborted {
    /// By which.
    pub process: u32,
    /// With this code.
    pub code: i32,
    /// What it said, without its number.
    pub message: String,
    /// What kind of mistake it is.
    pub kind: Kind,
    /// Where the program would have gone on, if that is known.
    pub at: usize,
}

/// A request that a process had when it called `MPI_Finalize`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Leftover {
    /// Which call has begun it.
    pub begun_by: Procedure,
    /// Whether it was complete, and nobody asked.
    pub complete: bool,
    /// Whose it is.
    pub process: u32,
}

/// Counters of polling in vain.
#[derive(Debug, Default)]
pub struct Polls {
    /// By `MPI_Test`.
    pub test: Counter,
    /// By `MPI_Testany`.
    pub test_any: Counter,
    /// By `MPI_Iprobe`.
    pub probe: Counter,
}

impl World {
    /// Which of several programs a process of the beginning runs (`MPI_APPNUM`).
    pub fn application(&self, process: u32) -> i32 {
        self.applications.partition_point(|first| *first <= process as usize) as i32 - 1
    }

    /// Another execution begins.
    pub fn begins_again(&self) {
        self.effort.begins_again();
        for counter in [&self.polls.test, &self.polls.test_any, &self.polls.probe] {
            counter.set(1);
        }
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.aborted.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.samples.lock().unwrap_or_else(PoisonError::into_inner) = Samples::default();
        *self.common.lock().unwrap_or_else(PoisonError::into_inner) = Common::default();
        self.shared_memory().begins_again();
        self.started.begins_again();
    }

    /// How a process has ended the run, in words: with the line and the kind of mistake where executions are explored.
    pub fn told(&self, aborted: &Aborted) -> String {
        match self.explored {
            true => format!("{}{} [{}]", aborted.message, self.lines.in_words(aborted.at), aborted.kind),
            false => aborted.message.clone(),
        }
    }

    /// How many processes there are at the beginning.
    pub fn size(&self) -> usize {
        self.hosts.len()
    }

    /// Samples of blocks that all processes take together.
    pub fn samples(&self) -> MutexGuard<'_, Samples> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that processes share.
    pub fn shared_memory(&self) -> MutexGuard<'_, SharedMemory> {
        self.shared_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What calls cost beside the messages, in seconds where nothing else is said. The names and defaults are those of SMPI.
#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// A standard send of fewer bytes does not wait for its receiver (`smpi/send-is-detached-thresh`).
    pub detached_below: u64,
    /// Before a send that blocks (`smpi/os`).
    pub send: Overhead,
    /// Before an immediate send (`smpi/ois`).
    pub immediate_send: Overhead,
    /// After a receive (`smpi/or`).
    pub receive: Overhead,
    /// `MPI_Init` (`smpi/init`).
    pub init: f64,
    /// Reading a clock (`smpi/wtime`).
    pub wtime: f64,
    /// `MPI_Test` (`smpi/test`).
    pub test: f64,
    /// `MPI_Iprobe` (`smpi/iprobe`).
    pub probe: f64,
    /// Whether polling again and again costs more each time (`smpi/grow-injected-times`).
    pub polling_grows: bool,
    /// Whether `MPI_Finalize` waits for all (`smpi/finalization-barrier`).
    pub finalize_waits: bool,
}

impl Costs {
    /// Nothing costs anything; standard sends of fewer bytes go on.
    pub fn nothing(detached_below: u64) -> Self {
        Self { detached_below, wtime: 0.0, test: 0.0, probe: 0.0, ..Self::default() }
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            detached_below: 65536,
            send: Overhead::default(),
            immediate_send: Overhead::default(),
            receive: Overhead::default(),
            init: 0.0,
            wtime: 1e-8,
            test: 1e-4,
            probe: 1e-4,
            polling_grows: true,
            finalize_waits: false,
        }
    }
}

/// A time that depends on the size of a message by steps: from so many bytes on, so many seconds and so many a byte.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Overhead {
    steps: Vec<(u64, f64, f64)>,
}

impl Overhead {
    /// Reads `0:1e-6:2e-9;1420:2e-6:1e-9`.
    pub fn parse(text: &str) -> Option<Self> {
        let step = |step: &str| {
            let mut words = step.split(':').map(str::trim);
            let from = words.next()?.parse().ok()?;
            let number = |word: Option<&str>| word.map_or(Some(0.0), |word| word.parse::<f64>().ok());
            let found = (from, number(words.next())?, number(words.next())?);
            let sound = [found.1, found.2].iter().all(|value| (0.0..f64::INFINITY).contains(value));
            (words.next().is_none() && sound).then_some(found)
        };
        let mut steps =
            text.split(';').filter(|step| !step.trim().is_empty()).map(step).collect::<Option<Vec<_>>>()?;
        steps.sort_by_key(|step| step.0);
        Some(Self { steps })
    }

    /// Whether it is none for all messages.
    pub fn is_nothing(&self) -> bool {
        self.steps.iter().all(|(_, constant, a_byte)| *constant == 0.0 && *a_byte == 0.0)
    }

    /// The seconds for a message of this size.
    pub fn of(&self, bytes: u64) -> f64 {
        let last = self.steps.iter().rev().find(|step| step.0 < bytes).or_else(|| self.steps.first());
        last.map_or(0.0, |(_, constant, a_byte)| constant + a_byte * bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overheads_are_steps() {
        let overhead = Overhead::parse("0:1:0.5;10:2:0").expect("it is well written");
        assert_eq!([0, 1, 10, 11].map(|bytes| overhead.of(bytes)), [1.0, 1.5, 6.0, 2.0]);
        assert_eq!(Overhead::default().of(9), 0.0);
        assert_eq!(Overhead::parse("0:x:1"), None);
        assert_eq!(Overhead::parse("0:-1:1"), None);
    }
}
