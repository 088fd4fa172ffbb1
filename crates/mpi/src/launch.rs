//! A compiled MPI program becomes a program of actors, one for each process, on the hosts of a platform.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use object::read::elf::{Dyn, FileHeader};
use simurgh_actors::{Error, Program, Result};
use simurgh_kernel::context::{Body, Ending};
use simurgh_native::{End, Export, Frame, Image, Options, Personality, Processes, Touch, noting_callers};
use simurgh_platform::{HostId, Platform};

use crate::communicator::context::capacity;
use crate::compute::Compute;
use crate::costs;
use crate::entry;
use crate::even::Even;
use crate::explored::Buffering;
use crate::extras;
use crate::hostfile;
use crate::os;
use crate::progress::Progress;
use crate::rank::{Rank, Stage};
use crate::spawning::Spawner;
use crate::started::Started;
use crate::toolchain::Files;
use crate::traces::play::Replay;
use crate::traces::{Action, Trace};
use crate::tracks::{Tracked, Wanted};
use crate::verify::{Kind, Unwatched};
use crate::world::{Aborted, Costs, Output, World};

pub use crate::os::keep_output;

/// What is run, and where.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The executable.
    pub executable: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// How many processes; as many as lines in the host file, or hosts, if not said.
    pub processes: Option<usize>,
    /// Which process runs on which host.
    pub hostfile: Option<PathBuf>,
    /// Configuration keys; those of `smpi/` that are about MPI are used here.
    pub config: Vec<(String, String)>,
    /// Whether more processes than hosts may be run.
    pub oversubscribe: bool,
    /// How computation counts; as the configuration says, else measured, if not said.
    pub compute: Option<Compute>,
    /// Where what is printed goes.
    pub output: Output,
    /// The seed of all randomness.
    pub seed: u64,
    /// What is written down of each process.
    pub wanted: Wanted,
    /// What standard sends do, where executions are explored; calls cost nothing then.
    pub explored: Option<Buffering>,
    /// A trace that is replayed in the place of an executable.
    pub replay: Option<Arc<Trace>>,
    /// Other programs whose processes follow, in the same `MPI_COMM_WORLD`.
    pub others: Vec<Another>,
}

/// Another program that is run beside the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Another {
    /// The executable.
    pub executable: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// How many processes.
    pub processes: usize,
}

/// A run that was prepared: what became of its processes can be asked for when it is over.
#[derive(Clone)]
pub struct Run {
    pub(crate) world: Arc<World>,
    pub(crate) processes: Arc<Processes>,
    spawner: Arc<Spawner>,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("processes", &self.world.size()).finish_non_exhaustive()
    }
}

impl Run {
    /// How the run was ended by one of its processes, if one did.
    pub fn aborted(&self) -> Option<Aborted> {
        self.world.aborted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How a process ended, if it has.
    pub fn end(&self, process: usize) -> Option<End> {
        if process < self.processes.count() { self.processes.end(process) } else { self.spawner.end(process) }
    }

    /// What the library knows of a process, if it has begun.
    pub(crate) fn with_rank<T>(&self, process: usize, look: impl FnOnce(&Rank) -> T) -> Option<T> {
        // SAFETY: it was made when the process began, and stays as long as the processes do; none runs now.
        unsafe { self.local(process).as_ref() }.map(look)
    }

    /// A standard send of fewer bytes does not wait for its receiver.
    pub fn detached_below(&self) -> u64 {
        self.world.costs.detached_below
    }

    /// How far the processes are together, for those who look from beside.
    pub fn progress(&self) -> &Progress {
        &self.world.progress
    }

    /// Which turn of a process it is; none while none runs.
    pub fn turn() -> Option<u64> {
        Processes::turn()
    }

    /// How many turns there were so far.
    pub fn turns() -> u64 {
        Processes::turns()
    }

    /// Ends the process that runs at this moment, and the run with it; asked from beside, again and again until it does.
    pub fn interrupt() {
        Processes::interrupt();
    }

    /// Which process runs at this moment, and at which line; asked from beside.
    pub fn glance(&self) -> Option<(usize, Option<String>)> {
        let (process, frames) = self.processes.glance()?;
        Some((process, crate::report::line_of(&frames)))
    }

    /// Whether the last word of a process, on standard output or standard error, is no whole line.
    pub fn is_unterminated(&self) -> [bool; 2] {
        [0, 1].map(|stream| self.world.unterminated[stream].load(Ordering::Relaxed))
    }

    /// Why something that a process printed was lost.
    pub fn unprinted(&self) -> Option<&str> {
        self.world.unprinted.get().map(String::as_str)
    }

    /// Where a process is, the innermost function first.
    pub(crate) fn place(&self, process: usize) -> Vec<Frame> {
        match process < self.processes.count() {
            true => self.processes.place(process),
            false => self.spawner.frames(process),
        }
    }

    /// What the library knows of a process; null if it has not begun.
    fn local(&self, process: usize) -> *const Rank {
        match process < self.processes.count() {
            true => self.processes.local::<Rank>(process).cast_const(),
            false => self.spawner.local(process),
        }
    }

    /// What is known of each process that has not come to a bad end, in order.
    pub fn tracked(&self) -> Vec<Option<Tracked>> {
        let tracked = |process| {
            let rank = self.local(process);
            let is_sound = matches!(self.end(process), None | Some(End::Exited(_) | End::Killed));
            // SAFETY: it was made when the process began, stays as long as its memory does, and no process runs now.
            (is_sound && !rank.is_null()).then(|| unsafe { (*rank).tracked() })
        };
        (0..self.size()).map(tracked).collect()
    }

    /// What each process did, as a time-independent trace, and the calls that such a trace cannot tell.
    pub fn actions(&self) -> Vec<(Vec<Action>, Vec<&'static str>)> {
        let actions = |process| {
            let rank = self.local(process);
            // SAFETY: as above.
            if rank.is_null() { Default::default() } else { unsafe { (*rank).scribe.taken() } }
        };
        (0..self.size()).map(actions).collect()
    }

    /// Commands for gdb that add the symbols of the copies of the first so many processes. What is in no file is written into this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn gdb_script(&self, most: usize, own: &Path) -> std::io::Result<String> {
        std::fs::write(own, simurgh_native::SHIM)?;
        Ok(self.processes.gdb_script(0..self.processes.count().min(most), own))
    }

    /// Tells a debugger where the processes are; nothing of the program has run.
    pub fn show_to_debugger(&self) {
        self.processes.show_to_debugger();
    }

    /// A process is about to take a step: a debugger may stop there.
    pub fn stop_before_step(step: usize, rank: usize, words: &str) {
        Processes::stop_before_step(step, rank, words);
    }

    /// How many messages were accounted for without being sent, since others like them were.
    pub fn skipped(&self) -> u64 {
        self.world.even.skipped()
    }

    /// How many processes there are, those that were started later too.
    pub fn size(&self) -> usize {
        self.world.size() + self.world.started.count()
    }
}

impl Launch {
    /// Prepares the run on a platform.
    ///
    /// # Errors
    /// If the executable cannot be run, or the hosts are not there.
    pub fn prepare(&self, platform: Arc<Platform>) -> Result<(Program, Run)> {
        check_libraries(&self.executable)?;
        self.others.iter().try_for_each(|other| check_libraries(&other.executable))?;
        os::keep_pages();
        let (hosts, listed) = self.hosts(&platform)?;
        // What the platform's file says comes first, as it does for the models.
        let of_platform = platform.config().iter();
        let of_platform = of_platform.map(|(key, value)| (Some(&*platform), key.as_str(), value.as_str()));
        let said = self.config.iter().map(|(key, value)| (None, key.as_str(), value.as_str()));
        let keys = costs::read(of_platform.chain(said))?;
        let compute = if self.replay.is_some() || self.explored.is_some() {
            Compute::Nothing
        } else {
            keys.compute(self.compute)
        };
        let replay = self.replay.clone().map(|trace| {
            Replay::new(trace).ok_or_else(|| Error::input("there is no memory for the messages of the trace"))
        });
        let replay = replay.transpose()?;
        let costs::Keys { mut costs, selection, .. } = keys;
        if let Some(buffering) = self.explored {
            costs = Costs::nothing(buffering.detached_below());
        }
        let mut program = Program::with_seed(Arc::clone(&platform), self.seed);
        let start = program.barrier(hosts.len() as u32).id();
        let mailboxes = program.mailboxes::<()>("rank ", capacity(hosts.len()) as u32);
        assert_eq!(mailboxes.at(0).id(), crate::p2p::mailbox(0), "the mailboxes of processes come first");
        // Where executions are explored, all run on one host.
        let here = |host: &HostId| if self.explored.is_some() { hosts[0] } else { *host };
        let even = match self.explored.is_some() || self.wanted != Wanted::default() {
            true => Even::default(),
            false => Even::new(&platform, &hosts),
        };
        let names: Vec<String> = hosts.iter().map(|host| platform.host(here(host)).name.to_owned()).collect();
        let world = Arc::new(World {
            speeds: hosts.iter().map(|host| platform.host(*host).speed()).collect(),
            disks: hosts.iter().map(|host| platform.disks_of(*host).first().copied()).collect(),
            applications: self.applications(hosts.len()),
            hosts,
            host_names: names.clone(),
            costs,
            compute,
            selection,
            polls: Default::default(),
            progress: Default::default(),
            leftovers: Default::default(),
            unterminated: Default::default(),
            unprinted: Default::default(),
            start,
            started: Started::in_room_for(listed.len()),
            explored: self.explored.is_some(),
            has_choices: Default::default(),
            gives_up: Default::default(),
            holds: Default::default(),
            cancels: Default::default(),
            watches: Default::default(),
            files_in_turn: Default::default(),
            flags: Default::default(),
            atomics: Default::default(),
            effort: Default::default(),
            common: Mutex::default(),
            lines: Default::default(),
            aborted: Mutex::new(None),
            output: self.output,
            wanted: self.wanted,
            replay,
            samples: Mutex::default(),
            shared_memory: Mutex::default(),
            even,
        });
        let exports = exports(self.explored.is_some())?;
        let personality: Arc<dyn Personality> = Arc::new(Mpi { world: Arc::clone(&world), exports });
        let executable = match &world.replay {
            Some(_) => replayer()?,
            None => self.executable.clone(),
        };
        let image = Arc::new(Image::read(&executable, Arc::clone(&personality)).map_err(refused)?);
        if let Compute::Counted { .. } = world.compute
            && image.imports("__sanitizer_cov_trace_pc").is_empty()
        {
            return Err(Error::input(format!(
                "--compute counted: {} does not count what it executes; compile it with --counted, as in simurgh cc --counted -O2 app.c -o app",
                self.executable.display()
            )));
        }
        let environment = environment();
        let of_beginning = (&*executable, Arc::clone(&image));
        let (shared, first, env) = (Arc::clone(&platform), world.size(), environment.clone());
        let spawner = Arc::new(Spawner::new(shared, personality, listed, first, env, of_beginning));
        let _ = world.started.spawner.set(Arc::downgrade(&spawner));
        let options = Options {
            args: std::iter::once(executable.display().to_string()).chain(self.arguments.clone()).collect(),
            env: environment,
            hosts: names,
            stack: os::stack_limit(),
            ..Options::default()
        };
        let first = world.size() - self.others.iter().map(|other| other.processes).sum::<usize>();
        let processes = Arc::new(Processes::new(image, first, options).map_err(refused)?);
        if self.explored.is_some() {
            let known = Arc::downgrade(&processes);
            world.lines.are_found_by(move |address| {
                known.upgrade()?.line(address).map(|line| crate::report::shown_line(&line))
            });
        }
        let mut bodies: Vec<Body> =
            (0..first).map(|process| Body::Coroutine(processes.coroutine(process))).collect();
        for other in &self.others {
            let hosts = &world.hosts[bodies.len()..][..other.processes];
            bodies.extend(spawner.make_beside(other, bodies.len(), hosts).map_err(Error::input)?);
        }
        for (process, (host, body)) in world.hosts.iter().zip(bodies).enumerate() {
            program.actor(format!("rank {process}"), *host)?.code(body)?;
        }
        Ok((program, Run { world, processes, spawner }))
    }

    /// The number of the first process of each program, of so many processes.
    fn applications(&self, count: usize) -> Vec<usize> {
        let mut first = count - self.others.iter().map(|other| other.processes).sum::<usize>();
        let begins = |other: &Another| {
            first += other.processes;
            first - other.processes
        };
        std::iter::once(0).chain(self.others.iter().map(begins)).collect()
    }

    /// Where each process runs, and where processes may run at all.
    fn hosts(&self, platform: &Platform) -> Result<(Vec<HostId>, Vec<HostId>)> {
        let listed = match &self.hostfile {
            Some(path) => hostfile::read(path, platform)?,
            None => {
                let mut hosts: Vec<HostId> = platform.hosts().collect();
                hosts.sort_by(|a, b| platform.host(*a).name.cmp(platform.host(*b).name));
                hosts
            }
        };
        if listed.is_empty() {
            return Err(Error::input("there is no host to run processes on"));
        }
        if let Some(trace) = &self.replay {
            let places = 0..trace.processes.len();
            return Ok((places.map(|process| listed[process % listed.len()]).collect(), listed));
        }
        let others: usize = self.others.iter().map(|other| other.processes).sum();
        let count = self.processes.filter(|count| *count > 0).unwrap_or(listed.len()) + others;
        if count > listed.len() && !self.oversubscribe && self.hostfile.is_none() {
            return Err(Error::input(format!(
                "{count} processes are to run on {} hosts: give a platform with more hosts, or --oversubscribe to let them share",
                listed.len()
            )));
        }
        Ok(((0..count).map(|process| listed[process % listed.len()]).collect(), listed))
    }
}

/// What programs find here. Where executions are explored, calls note where the program goes on after them.
fn exports(note_callers: bool) -> Result<Vec<Export>> {
    let offered = entry::OFFERED.iter().map(|offered| (offered, note_callers));
    let offered: Vec<_> = offered.chain(extras::OFFERED.iter().map(|offered| (offered, false))).collect();
    let functions: Vec<usize> = offered.iter().map(|(offered, _)| offered.address as usize).collect();
    let noting = if note_callers { noting_callers(&functions).map_err(refused)? } else { Vec::new() };
    let address = |number: usize, notes: bool| if notes { noting[number] } else { functions[number] };
    let exports = offered.iter().enumerate();
    Ok(exports
        .map(|(number, (offered, notes))| Export { name: offered.name, address: address(number, *notes) })
        .collect())
}

/// The program whose processes replay traces, as a file.
fn replayer() -> Result<PathBuf> {
    let files = Files::ready().map_err(|error| Error::input(error.to_string()))?;
    files.replayer().map_err(|error| Error::input(error.to_string()))
}

/// Numbers of threads that libraries would make by themselves, which they do without if these say so.
const THREADS: [&str; 2] = ["OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"];

/// What programs are given of the environment. What is no text is left out.
fn environment() -> Vec<(String, String)> {
    let text = |word: OsString| word.into_string().ok();
    let mut all: Vec<(String, String)> =
        std::env::vars_os().filter_map(|(name, value)| text(name).zip(text(value))).collect();
    let missing = THREADS.iter().filter(|name| std::env::var_os(name).is_none());
    all.extend(missing.map(|name| ((*name).to_owned(), "1".to_owned())));
    all
}

fn refused(error: simurgh_native::Error) -> Error {
    Error::input(error.to_string())
}

/// What has its handles and constants elsewhere than the standard ABI cannot be run by another library.
fn check_libraries(executable: &Path) -> Result<()> {
    let Ok(bytes) = std::fs::read(executable) else { return Ok(()) };
    match foreign_library(&bytes) {
        Some(library) if is_sanitizer(&library) => Err(Error::input(format!(
            "{}: was built with a sanitizer ({library}), which must own the whole memory of a process and cannot be folded; build it without -fsanitize. \
             `simurgh check` tells what touches memory that it must not, and a crash is told with its line",
            executable.display()
        ))),
        Some(library) => Err(Error::input(format!(
            "{}: was built by the compiler of another MPI, whose library {library} it needs; build it again with simurgh cc (or cxx, fc), or with mpicc_abi",
            executable.display()
        ))),
        None => Ok(()),
    }
}

/// The library of another MPI that a program needs, if it needs one.
fn foreign_library(bytes: &[u8]) -> Option<String> {
    let header = object::elf::FileHeader64::<object::Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let (entries, link) = sections.dynamic(endian, bytes).ok()??;
    let strings = sections.strings(endian, bytes, link).ok()?;
    entries.iter().filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED).find_map(|entry| {
        let name = std::str::from_utf8(entry.string(endian, strings).ok()?).ok()?;
        (is_foreign(name) || is_sanitizer(name)).then(|| name.to_owned())
    })
}

/// Whether a library is that of a sanitizer with a shadow of all memory.
fn is_sanitizer(library: &str) -> bool {
    ["libasan", "libtsan", "libmsan", "libhwasan", "liblsan"].iter().any(|known| library.starts_with(known))
}

/// Whether a library is one of an MPI with an ABI of its own.
fn is_foreign(library: &str) -> bool {
    const KNOWN: [&str; 12] = [
        "libmpi.so",
        "libmpich",
        "libmpicxx",
        "libmpifort",
        "libmpi_cxx",
        "libmpi_mpifh",
        "libmpi_usempi",
        "libfmpich",
        "libmpichf90",
        "libopen-rte",
        "libopen-pal",
        "libsimgrid",
    ];
    KNOWN.iter().any(|known| library.starts_with(known))
}

/// So many seconds the others go on when one has ended without MPI_Finalize: who is told to end comes to print why others end too, as under
/// launchers, which need some time to end all.
const LAST_WORDS: f64 = 1e-3;

/// MPI as what the host of compiled programs offers them.
struct Mpi {
    world: Arc<World>,
    exports: Vec<Export>,
}

impl Personality for Mpi {
    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn provides(&self, library: &str) -> bool {
        library.starts_with("libmpi")
    }

    fn begins(&self, rank: usize) {
        os::begins(|| Rank::new(rank as u32, Arc::clone(&self.world)));
    }

    fn output(&self, _rank: usize, fd: i32, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            let stream = usize::from(fd != 1 || self.world.output == Output::AllToError);
            self.world.unterminated[stream].store(*last != b'\n', Ordering::Relaxed);
        }
        let printed = match (self.world.output, fd) {
            (Output::AsItIs, 1) => std::io::stdout().lock().write_all(bytes),
            (Output::AsItIs | Output::AllToError, _) => std::io::stderr().lock().write_all(bytes),
            (Output::ToDriver, _) => {
                os::say(bytes);
                Ok(())
            }
        };
        match printed {
            // Nobody is left to run for.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe && fd == 1 => {
                os::end_by_closed_pipe()
            }
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                let _ = self.world.unprinted.set(error.to_string());
            }
            _ => {}
        }
    }

    fn now(&self, _rank: usize) -> f64 {
        // Before the date is read, what was computed until then has to take its time.
        outside_of_calls(|me| {
            let now = me.clock_of_program();
            me.pays_clock();
            now
        })
    }

    fn sleep(&self, _rank: usize, seconds: f64) {
        outside_of_calls(|me| self.world.progress.while_busy(|| me.spend(seconds)));
    }

    /// The first process has our input, and no other has one.
    fn input(&self, rank: usize, bytes: &mut [u8]) -> usize {
        if rank != 0 {
            return 0;
        }
        // Not more than is asked for: commands that the program starts may read the rest.
        let Ok(input) = std::io::stdin().as_fd().try_clone_to_owned() else { return 0 };
        let mut input = File::from(input);
        loop {
            match input.read(bytes) {
                Ok(count) => return count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return 0,
            }
        }
    }

    fn touched(&self, _rank: usize, touch: &Touch) -> bool {
        os::rank().is_touched(touch)
    }

    fn is_not_watched(&self, _rank: usize) {
        self.world.effort.misses(Unwatched::LongComputations);
    }

    fn refuses_thread(&self, _rank: usize) {
        if self.world.explored {
            os::in_heap_of_library(|| {
                os::rank().gives_up(
                    "threads that a program makes itself (pthread_create, std::thread) cannot be explored; those of OpenMP can",
                )
            })
        }
    }

    fn leaves(&self, _rank: usize, how: &End) {
        if let End::Exited(code) = how {
            os::rank().check_sessions_are_over(*code);
        }
        if let End::Exited(code) = how
            && os::rank().stage.get() == Stage::Within
        {
            if !self.world.explored {
                outside_of_calls(|me| self.world.progress.while_busy(|| me.spend(LAST_WORDS)));
            }
            match code {
                0 => os::abort(Kind::MissingFinalize, 1, "ended without MPI_Finalize"),
                code => os::abort(
                    Kind::MissingFinalize,
                    *code,
                    &format!("exited with code {code}, without MPI_Finalize"),
                ),
            }
        }
    }

    fn ends_all(&self, _rank: usize, how: &End) -> bool {
        // The others would wait for it, or go on as if nothing had happened.
        how.crash().is_some() && !self.world.explored
    }

    fn ending(&self, rank: usize, how: &End) -> Ending {
        let aborted = self.world.aborted.lock().unwrap_or_else(PoisonError::into_inner);
        match (how, &*aborted) {
            (_, Some(aborted)) if aborted.process as usize == rank => Err(self.world.told(aborted)),
            (End::Exited(0) | End::Killed, _) => Ok(()),
            (other, _) => Err(crate::report::end_in_words(other)),
        }
    }
}

/// The program asks for something beside MPI that takes time. Others run meanwhile: what they compute is not its own.
fn outside_of_calls<T>(ask: impl FnOnce(&Rank) -> T) -> T {
    os::in_heap_of_library(|| {
        let me = os::rank();
        let outside = me.procedure.get().is_none();
        if outside {
            me.has_computed();
        }
        let answer = ask(me);
        if outside {
            me.goes_on();
        }
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_other_implementations_are_told_apart() {
        for library in [
            "libmpi.so.40",
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpifort.so.12",
            "libmpi_usempif08.so.40",
            "libsimgrid.so.3.32",
        ] {
            assert!(is_foreign(library), "{library}");
        }
        for library in ["libmpi_abi.so.0", "libmpi_abi.so.1", "libc.so.6", "libmpitools.so.1", "libmpi_f.so"]
        {
            assert!(!is_foreign(library), "{library}");
        }
        assert_eq!(foreign_library(b"#!/bin/sh"), None);
    }
}
