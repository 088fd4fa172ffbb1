//! A compiled MPI program becomes a program of actors, one for each process, on the hosts of a platform.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_actors::{Error, Program, Result};
use simurgh_kernel::context::{Body, Ending};
use simurgh_native::{End, Export, Image, Options, Personality, Processes};
use simurgh_platform::{HostId, Platform};

use crate::compute::Compute;
use crate::costs;
use crate::entry;
use crate::extras;
use crate::os;
use crate::rank::{Rank, Stage};
use crate::toolchain::Files;
use crate::traces::play::Replay;
use crate::traces::{Action, Trace};
use crate::tracks::{Tracked, Wanted};
use crate::world::{Aborted, Output, World};

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
    /// A trace that is replayed in the place of an executable.
    pub replay: Option<Arc<Trace>>,
}

/// A run that was prepared: what became of its processes can be asked for when it is over.
#[derive(Clone)]
pub struct Run {
    world: Arc<World>,
    processes: Arc<Processes>,
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
        self.processes.end(process)
    }

    /// What went wrong, a line for each process that came to a bad end by itself.
    pub fn troubles(&self) -> Vec<String> {
        let aborted = self.aborted();
        let mut troubles = Vec::new();
        if let Some(Aborted { process, message, .. }) = &aborted {
            // Most say themselves whose they are.
            let named = message.starts_with(&format!("rank {process}"));
            troubles.push(if named { message.clone() } else { format!("rank {process}: {message}") });
        }
        for process in 0..self.size() {
            if aborted.as_ref().is_some_and(|aborted| aborted.process as usize == process) {
                continue;
            }
            match self.end(process) {
                None | Some(End::Exited(0) | End::Killed) => {}
                Some(end) => {
                    troubles.push(format!("rank {process}: {end}"));
                    let frames = end.crash().map_or(&[][..], |crash| &crash.backtrace);
                    troubles.extend(frames.iter().take(8).map(|frame| format!("    in {frame}")));
                }
            }
        }
        troubles
    }

    /// What is known of each process that has not come to a bad end, in order.
    pub fn tracked(&self) -> Vec<Option<Tracked>> {
        let tracked = |process| {
            let rank = self.processes.local::<Rank>(process);
            let is_sound = matches!(self.end(process), None | Some(End::Exited(_) | End::Killed));
            // SAFETY: it was made when the process began, stays as long as its memory does, and no process runs now.
            (is_sound && !rank.is_null()).then(|| unsafe { (*rank).tracked() })
        };
        (0..self.size()).map(tracked).collect()
    }

    /// What each process did, as a time-independent trace, and the calls that such a trace cannot tell.
    pub fn actions(&self) -> Vec<(Vec<Action>, Vec<&'static str>)> {
        let actions = |process| {
            let rank = self.processes.local::<Rank>(process);
            // SAFETY: as above.
            if rank.is_null() { Default::default() } else { unsafe { (*rank).scribe.taken() } }
        };
        (0..self.size()).map(actions).collect()
    }

    /// Commands for gdb that add the symbols of the copies of the first so many processes.
    pub fn gdb_script(&self, most: usize) -> String {
        self.processes.gdb_script(0..self.size().min(most))
    }

    /// Tells a debugger where the processes are; nothing of the program has run.
    pub fn show_to_debugger(&self) {
        self.processes.show_to_debugger();
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.world.size()
    }
}

impl Launch {
    /// Prepares the run on a platform.
    ///
    /// # Errors
    /// If the executable cannot be run, or the hosts are not there.
    pub fn prepare(&self, platform: Arc<Platform>) -> Result<(Program, Run)> {
        let hosts = self.hosts(&platform)?;
        // What the platform's file says comes first, as it does for the models.
        let of_platform = platform.config().iter();
        let said = self.config.iter().map(|(key, value)| (key, value));
        let keys = costs::read(of_platform.chain(said).map(|(key, value)| (key.as_str(), value.as_str())))?;
        let compute = if self.replay.is_some() { Compute::Nothing } else { keys.compute(self.compute) };
        let replay = self.replay.clone().map(|trace| {
            Replay::new(trace).ok_or_else(|| Error::input("there is no memory for the messages of the trace"))
        });
        let replay = replay.transpose()?;
        let costs::Keys { costs, selection, .. } = keys;
        let mut program = Program::with_seed(Arc::clone(&platform), self.seed);
        let start = program.barrier(hosts.len() as u32).id();
        let mailboxes = program.mailboxes::<()>("rank ", hosts.len() as u32);
        assert_eq!(mailboxes.at(0).id(), crate::p2p::mailbox(0), "the mailboxes of processes come first");
        let names: Vec<String> = hosts.iter().map(|host| platform.host(*host).name.to_owned()).collect();
        let world = Arc::new(World {
            speeds: hosts.iter().map(|host| platform.host(*host).speed()).collect(),
            disks: hosts.iter().map(|host| platform.disks_of(*host).first().copied()).collect(),
            hosts,
            host_names: names.clone(),
            costs,
            compute,
            selection,
            polls: Default::default(),
            start,
            aborted: Mutex::new(None),
            output: self.output,
            wanted: self.wanted,
            replay,
            samples: Mutex::default(),
            shared_memory: Mutex::default(),
        });
        let exports = entry::OFFERED
            .iter()
            .chain(extras::OFFERED)
            .map(|offered| Export { name: offered.name, address: offered.address as usize })
            .collect();
        let personality = Arc::new(Mpi { world: Arc::clone(&world), exports });
        let executable = match &world.replay {
            Some(_) => replayer()?,
            None => self.executable.clone(),
        };
        let image = Image::read(&executable, personality).map_err(refused)?;
        if let Compute::Counted { .. } = world.compute
            && image.imports("__sanitizer_cov_trace_pc").is_empty()
        {
            return Err(Error::input(format!(
                "--compute counted: {} does not count what it executes; compile it with --counted, as in simurgh cc --counted -O2 app.c -o app",
                self.executable.display()
            )));
        }
        let options = Options {
            args: std::iter::once(executable.display().to_string()).chain(self.arguments.clone()).collect(),
            env: std::env::vars().collect(),
            hosts: names,
            ..Options::default()
        };
        let processes = Arc::new(Processes::new(Arc::new(image), world.size(), options).map_err(refused)?);
        for (process, host) in world.hosts.iter().enumerate() {
            let body = Body::Coroutine(processes.coroutine(process));
            program.actor(format!("rank {process}"), *host)?.code(body)?;
        }
        Ok((program, Run { world, processes }))
    }

    /// Where each process runs.
    fn hosts(&self, platform: &Platform) -> Result<Vec<HostId>> {
        let listed = match &self.hostfile {
            Some(path) => read_hosts(path, platform)?,
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
            return Ok((0..trace.processes.len()).map(|process| listed[process % listed.len()]).collect());
        }
        let count = self.processes.filter(|count| *count > 0).unwrap_or(listed.len());
        if count > listed.len() && !self.oversubscribe && self.hostfile.is_none() {
            return Err(Error::input(format!(
                "{count} processes are to run on {} hosts: give a platform with more hosts, or --oversubscribe to let them share",
                listed.len()
            )));
        }
        Ok((0..count).map(|process| listed[process % listed.len()]).collect())
    }
}

/// The program whose processes replay traces, as a file.
fn replayer() -> Result<PathBuf> {
    let files = Files::ready().map_err(|error| Error::input(error.to_string()))?;
    files.replayer().map_err(|error| Error::input(error.to_string()))
}

fn refused(error: simurgh_native::Error) -> Error {
    Error::input(error.to_string())
}

/// Reads a host file: a host a line, `host:k` for k lines.
fn read_hosts(path: &Path, platform: &Platform) -> Result<Vec<HostId>> {
    let text = simurgh_actors::scenario::file::read_text(path)?;
    let by_name: BTreeMap<&str, HostId> =
        platform.hosts().map(|host| (platform.host(host).name, host)).collect();
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{}", path.display(), number + 1);
        let (name, slots) = match line.trim().rsplit_once(':') {
            Some((name, slots)) => {
                let slots = slots.trim().parse::<usize>().map_err(|_| {
                    Error::input(format!("{place}: {slots:?} is no number of processes; write HOST:4, say"))
                })?;
                (name.trim(), slots)
            }
            None => (line.trim(), 1),
        };
        let Some(host) = by_name.get(name) else {
            return Err(Error::input(format!("{place}: the platform has no host {name:?}")));
        };
        hosts.extend(std::iter::repeat_n(*host, slots));
    }
    Ok(hosts)
}

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
        // A reader that has gone away is no error of the program.
        let _ = match (self.world.output, fd) {
            (Output::AsItIs, 1) => std::io::stdout().lock().write_all(bytes),
            (Output::AsItIs | Output::AllToError, _) => std::io::stderr().lock().write_all(bytes),
            (Output::Nowhere, _) => Ok(()),
        };
    }

    fn now(&self, _rank: usize) -> f64 {
        // Before the date is read, what was computed until then has to take its time.
        outside_of_calls(|me| {
            let now = me.now();
            me.pays_clock();
            now
        })
    }

    fn sleep(&self, _rank: usize, seconds: f64) {
        outside_of_calls(|me| me.spend(seconds));
    }

    fn leaves(&self, rank: usize, how: &End) {
        if let End::Exited(0) = how
            && os::rank().stage.get() == Stage::Within
        {
            os::abort(1, &format!("rank {rank} ended without MPI_Finalize"));
        }
    }

    fn ending(&self, rank: usize, how: &End) -> Ending {
        let aborted = self.world.aborted.lock().unwrap_or_else(PoisonError::into_inner);
        match (how, &*aborted) {
            (_, Some(aborted)) if aborted.process as usize == rank => Err(aborted.message.clone()),
            (End::Exited(0) | End::Killed, _) => Ok(()),
            (other, _) => Err(other.to_string()),
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
