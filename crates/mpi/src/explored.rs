//! An MPI program whose executions begin again and again, for those who explore them.
//!
//! Its processes run once, to where they wait for each other in `MPI_Init`, and a snapshot is taken of them there; each execution begins with
//! putting it back. Where a process asks for something else before, or ends, executions begin with processes that have not begun.
//!
//! The snapshot is put back when the first process of an execution runs: programs may be made that are never run, but no two are run at
//! the same time, since there is one memory for all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_actors::{Program, Result};
use simurgh_kernel::context::{Body, Coroutine, Door, Ending, Place, Port, Resumed};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::Simcall;
use simurgh_models::SimTime;
use simurgh_native::{Processes, Snapshot, SourceLine};
use simurgh_platform::Platform;

use crate::communicator::context::capacity;
use crate::launch::{Launch, Run};
use crate::report::place_of;
pub use crate::verify::Unwatched;
use crate::world::{Learned, World};

/// What a standard send does that finds nobody who receives (MPI 5.0, 3.4: an implementation may do either).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Buffering {
    /// It waits for the receive.
    Zero,
    /// It goes on: there is room for all messages.
    Infinite,
}

impl Buffering {
    /// Standard sends of fewer bytes go on.
    pub(crate) fn detached_below(self) -> u64 {
        match self {
            Buffering::Zero => 0,
            Buffering::Infinite => u64::MAX,
        }
    }
}

/// A program that can be begun again and again.
#[derive(Clone)]
pub struct Explored(Arc<Inner>);

struct Inner {
    run: Run,
    snapshot: Snapshot,
    /// Whether it is of processes that wait in `MPI_Init`, and not of such that have not begun.
    waits: bool,
    /// How many programs were made.
    made: AtomicU64,
    /// Which of them runs.
    running: Mutex<u64>,
}

impl std::fmt::Debug for Explored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explored").field("snapshot", &self.0.snapshot).finish_non_exhaustive()
    }
}

impl Launch {
    /// The program for those who explore it: time is abstract, and calls cost nothing.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn explored(&self, platform: Arc<Platform>) -> Result<Explored> {
        let (program, run) = self.prepare(platform)?;
        run.processes.keep_files();
        let before = run.processes.snapshot();
        drop(program);
        run.processes.restore(&before);
        let waiting = run_to_init(&run.processes, &run.world);
        let waits = waiting.is_some();
        let snapshot = waiting.unwrap_or(before);
        run.world.shared_memory().keep();
        let (made, running) = (AtomicU64::new(0), Mutex::new(0));
        Ok(Explored(Arc::new(Inner { run, snapshot, waits, made, running })))
    }
}

/// Runs all processes to where they wait in `MPI_Init`; nothing if one of them does not come there first.
fn run_to_init(processes: &Processes, world: &World) -> Option<Snapshot> {
    let mut bodies: Vec<Body> =
        (0..world.size()).map(|process| Body::Coroutine(processes.coroutine(process))).collect();
    let mut door = Door::new();
    for (process, body) in bodies.iter_mut().enumerate() {
        door.prepare(ActorId(process as u32), world.hosts[process], SimTime::ZERO, None);
        let asked = matches!(body.resume(&mut door), Resumed::Asked).then(|| door.simcall.take()).flatten();
        let waits = matches!(asked, Some(Simcall::Arrive { barrier, .. }) if barrier == world.start);
        if !waits || !door.notes.is_empty() || !door.posts.is_empty() {
            return None;
        }
    }
    Some(processes.snapshot())
}

impl Explored {
    /// Its processes.
    pub fn run(&self) -> &Run {
        &self.0.run
    }

    /// Whether something turned out that is not known: what is explored now will be explored once more.
    pub fn has_news(&self) -> bool {
        let world = &self.0.run.world;
        let learned = [&world.cancels, &world.watches, &world.flags, &world.files_in_turn];
        learned.into_iter().any(Learned::is_news) || world.holds.has_news() || world.atomics.has_news()
    }

    /// Whether it turned out how windows of the program are held, accessed or polled, or that it cancels sends, which changes what is to
    /// be explored: once more then.
    pub fn has_learned(&self) -> bool {
        let world = &self.0.run.world;
        world.holds.has_learned()
            | world.cancels.has_learned()
            | world.watches.has_learned()
            | world.flags.has_learned()
            | world.files_in_turn.has_learned()
            | world.atomics.has_learned()
    }

    /// What is known of it from the beginning, by names.
    pub fn known(&self) -> Vec<&'static str> {
        let world = &self.0.run.world;
        let known = [
            (world.holds.are_mixed(), "mixed-locks"),
            (world.cancels.is_known(), "cancelled-sends"),
            (world.watches.is_known(), "polled-memory"),
            (world.flags.is_known(), "polled-words"),
            (world.files_in_turn.is_known(), "files-in-turn"),
            (world.atomics.are_ordered(), "ordered-atomics"),
            (world.atomics.are_exclusive(), "exclusive-atomics"),
        ];
        known.into_iter().filter(|(is_known, _)| *is_known).map(|(_, name)| name).collect()
    }

    /// What was known of it when it was explored before.
    pub fn knows(&self, names: &[String]) {
        let (world, has) = (&self.0.run.world, |name: &str| names.iter().any(|known| known == name));
        if has("mixed-locks") {
            world.holds.know();
        }
        if has("cancelled-sends") {
            world.cancels.know();
        }
        if has("polled-memory") {
            world.watches.know();
        }
        if has("polled-words") {
            world.flags.know();
        }
        if has("files-in-turn") {
            world.files_in_turn.know();
        }
        world.atomics.know(has("ordered-atomics"), has("exclusive-atomics"));
    }

    /// Why it cannot be explored, if it turned out that it cannot.
    pub fn gives_up(&self) -> Option<&'static str> {
        *self.0.run.world.gives_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which loads and stores of the program were not watched.
    pub fn unwatched(&self) -> Vec<Unwatched> {
        self.0.run.world.effort.missed()
    }

    /// Whether all that was asked so far is answered in the same way in every order.
    pub fn is_deterministic(&self) -> bool {
        !self.0.run.world.has_choices.load(Ordering::Relaxed)
    }

    /// Adds the processes to a program.
    ///
    /// # Errors
    /// If the platform does not have the hosts.
    pub fn fill(&self, program: &mut Program) -> Result {
        let world = &self.0.run.world;
        let start = program.barrier(world.size() as u32).id();
        assert_eq!(start, world.start, "the barrier of the start comes first");
        let _ = program.mailboxes::<()>("rank ", capacity(world.size()) as u32);
        let execution = self.0.made.fetch_add(1, Ordering::Relaxed) + 1;
        for (process, host) in world.hosts.iter().enumerate() {
            let code = Begun { inner: Arc::clone(&self.0), process, execution, code: None };
            program.actor(format!("rank {process}"), *host)?.code(Body::Coroutine(Box::new(code)))?;
        }
        Ok(())
    }
}

/// The code of a process in one execution.
struct Begun {
    inner: Arc<Inner>,
    process: usize,
    execution: u64,
    code: Option<Box<dyn Coroutine>>,
}

impl Coroutine for Begun {
    fn resume(&mut self, port: &mut Port) -> Option<Ending> {
        let Self { inner, process, execution, code } = self;
        let ending = code.get_or_insert_with(|| inner.begins(*process, *execution)).resume(port);
        if port.wants_labels {
            inner.tells(*process, port);
        }
        ending
    }
}

impl Inner {
    /// Says what a process calls what it asks, and where; or where it ended.
    fn tells(&self, process: usize, port: &mut Port) {
        let label =
            port.simcall.as_ref().and_then(|asked| self.run.with_rank(process, |rank| rank.label(asked)));
        port.label = label.flatten().map(Box::new);
        let found = || self.found_at(process);
        if let Some(SourceLine { file, line }) = found().or_else(|| place_of(&self.run.place(process))) {
            port.stands_at(Place::new(&file, line));
        }
    }

    /// Where the mistake is that a process was ended for: a load or a store is no call that it could be in.
    fn found_at(&self, process: usize) -> Option<SourceLine> {
        let found = self.run.aborted().filter(|found| found.process as usize == process)?;
        let line = self.run.world.lines.at(found.at)?;
        let (file, line) = line.rsplit_once(':')?;
        Some(SourceLine { file: file.to_owned(), line: line.parse().ok()? })
    }

    fn begins(&self, process: usize, execution: u64) -> Box<dyn Coroutine> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if *running != execution {
            self.run.processes.restore(&self.snapshot);
            self.run.world.begins_again();
            *running = execution;
        }
        if self.waits {
            let wait = Simcall::Arrive { barrier: self.run.world.start, told: false };
            self.run.processes.asking(process, wait)
        } else {
            self.run.processes.coroutine(process)
        }
    }
}
