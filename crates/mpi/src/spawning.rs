//! Starting processes while the program runs (MPI 5.0, 11.8): programs are read once, and their processes are actors like those
//! of the beginning, with numbers, addresses and hosts that follow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_kernel::context::Body;
use simurgh_kernel::ids::BarrierId;
use simurgh_kernel::simcall::{Answer, Note, Simcall, SpawnRequest};
use simurgh_native::{End, Frame, Image, Options, Personality, Processes};
use simurgh_platform::{HostId, Platform};

use crate::abi;
use crate::communicator::Communicator;
use crate::communicator::channel::{Channel, tags};
use crate::communicator::context::capacity;
use crate::communicator::inter::between;
use crate::error::{Error, Result, fail};
use crate::group::Group;
use crate::info::Info;
use crate::launch::Another;
use crate::message::Data;
use crate::rank::Rank;
use crate::started::{Birth, Place};

/// A program that is to be started.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it is called.
    pub program: String,
    /// What it is given.
    pub arguments: Vec<String>,
    /// By how many processes.
    pub count: usize,
    /// Where, and from where.
    pub info: Info,
}

/// Bytes of addresses for the heap of a process that is started later.
const HEAP: usize = 16 << 30;

/// What starting needs of the run.
pub struct Spawner {
    platform: Arc<Platform>,
    personality: Arc<dyn Personality>,
    /// Where processes are put, one after the other and again from the first.
    listed: Vec<HostId>,
    next: AtomicUsize,
    environment: Vec<(String, String)>,
    images: Mutex<BTreeMap<PathBuf, Arc<Image>>>,
    /// Those that were started. They stay to the end of the run: what became of them is asked for then.
    started: Mutex<Vec<(usize, Processes)>>,
}

impl std::fmt::Debug for Spawner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spawner").field("hosts", &self.listed.len()).finish_non_exhaustive()
    }
}

impl Spawner {
    /// One that knows the program of the beginning; the hosts after those of the first processes come next.
    pub fn new(
        platform: Arc<Platform>,
        personality: Arc<dyn Personality>,
        listed: Vec<HostId>,
        used: usize,
        environment: Vec<(String, String)>,
        (path, image): (&Path, Arc<Image>),
    ) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self {
            platform,
            personality,
            listed,
            next: AtomicUsize::new(used),
            environment,
            images: Mutex::new(BTreeMap::from([(path, image)])),
            started: Mutex::default(),
        }
    }

    /// How a process ended, if it has.
    pub fn end(&self, process: usize) -> Option<End> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let found = started.iter().find(|(first, found)| (*first..first + found.count()).contains(&process));
        found.and_then(|(_, processes)| processes.end(process))
    }

    /// Where a process is, the innermost function first.
    pub fn frames(&self, process: usize) -> Vec<Frame> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let found = started.iter().find(|(first, found)| (*first..first + found.count()).contains(&process));
        found.map_or_else(Vec::new, |(_, processes)| processes.place(process))
    }

    /// What the library knows of a process; null if it has not begun.
    pub fn local(&self, process: usize) -> *const Rank {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let found = started.iter().find(|(first, found)| (*first..first + found.count()).contains(&process));
        found.map_or(std::ptr::null(), |(_, processes)| processes.local::<Rank>(process).cast_const())
    }

    /// A program, read once.
    fn image(&self, command: &Command) -> std::result::Result<Arc<Image>, String> {
        let path = &*find(&command.program, &command.info)?;
        let known = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = images.get(&known) {
            return Ok(Arc::clone(image));
        }
        let image =
            Arc::new(Image::read(path, Arc::clone(&self.personality)).map_err(|error| error.to_string())?);
        images.insert(known, Arc::clone(&image));
        Ok(image)
    }

    /// The hosts of so many processes: those that are named, else the next ones.
    fn hosts(&self, named: Option<&str>, count: usize) -> std::result::Result<Vec<HostId>, String> {
        let Some(names) = named else {
            let first = self.next.fetch_add(count, Ordering::Relaxed);
            return Ok((first..first + count).map(|place| self.listed[place % self.listed.len()]).collect());
        };
        let mut hosts = Vec::new();
        for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
            match self.platform.hosts().find(|host| self.platform.host(*host).name == name) {
                Some(host) => hosts.push(host),
                None => return Err(format!("the platform has no host {name:?}")),
            }
        }
        if hosts.is_empty() {
            return Err("the info key \"host\" names no host".to_owned());
        }
        Ok((0..count).map(|place| hosts[place % hosts.len()]).collect())
    }

    fn place(&self, host: HostId) -> Place {
        let found = self.platform.host(host);
        let (name, speed) = (found.name.to_owned(), found.speed());
        Place { host, name, speed, disk: self.platform.disks_of(host).first().copied() }
    }

    /// Makes the processes of a program that runs beside the first from the beginning.
    ///
    /// # Errors
    /// If there is no such program, or no memory for it.
    pub fn make_beside(
        &self,
        other: &Another,
        first: usize,
        hosts: &[HostId],
    ) -> std::result::Result<Vec<Body>, String> {
        let command = Command {
            program: other.executable.display().to_string(),
            arguments: other.arguments.clone(),
            count: other.processes,
            info: Info::default(),
        };
        self.make(&command, self.image(&command)?, first, hosts)
    }

    /// Makes the processes of a program, the next in number.
    fn make(
        &self,
        command: &Command,
        image: Arc<Image>,
        first: usize,
        hosts: &[HostId],
    ) -> std::result::Result<Vec<Body>, String> {
        let options = Options {
            args: std::iter::once(command.program.clone()).chain(command.arguments.clone()).collect(),
            env: self.environment.clone(),
            heap: HEAP,
            directory: command.info.get("wdir").map(PathBuf::from),
            hosts: hosts.iter().map(|host| self.platform.host(*host).name.to_owned()).collect(),
            first,
            ..Options::default()
        };
        let processes = Processes::new(image, command.count, options).map_err(|error| error.to_string())?;
        let numbers = first..first + command.count;
        let bodies = numbers.map(|process| Body::Coroutine(processes.coroutine(process))).collect();
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push((first, processes));
        Ok(bodies)
    }
}

/// The file of a program: as it is named, or where the info key `path`, the working folder and `PATH` lead.
fn find(program: &str, info: &Info) -> std::result::Result<PathBuf, String> {
    let named = Path::new(program);
    let folder = info.get("wdir").map(PathBuf::from).unwrap_or_default();
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![named.to_owned(), folder.join(named)]
    } else {
        let listed = info.get("path").unwrap_or_default();
        let listed = listed.split([':', ' ']).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let searched = std::env::var_os("PATH").unwrap_or_default();
        let searched: Vec<PathBuf> = std::env::split_paths(&searched).collect();
        listed.chain([folder, PathBuf::new()]).chain(searched).map(|folder| folder.join(named)).collect()
    };
    let found = candidates.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| match program.contains('/') {
        true => format!("there is no program {program:?}"),
        false => format!(
            "there is no program {program:?}; name its path, or give its folder with the info key \"path\""
        ),
    })
}

/// What the root tells the others of a start.
struct Outcome {
    context: u32,
    first: u32,
    count: u32,
}

impl Outcome {
    fn write(result: &Result<Self>) -> Data {
        match result {
            Ok(Self { context, first, count }) => {
                let words = [abi::SUCCESS as u32, *context, *first, *count];
                words.iter().flat_map(|word| word.to_le_bytes()).collect()
            }
            Err(error) => {
                let mut data = Data::from_slice(&error.class.to_le_bytes());
                data.extend_from_slice(error.message.as_bytes());
                data
            }
        }
    }

    fn read(data: &[u8]) -> Result<Self> {
        let word =
            |place: usize| u32::from_le_bytes(data[4 * place..4 * place + 4].try_into().expect("four bytes"));
        match word(0) as i32 {
            abi::SUCCESS => Ok(Self { context: word(1), first: word(2), count: word(3) }),
            class => fail(class, String::from_utf8_lossy(&data[4..])),
        }
    }
}

impl Rank {
    /// Starts processes, which all processes of a communicator do together: the communicator between them and those that were
    /// started. What is started is said at the root alone.
    ///
    /// # Errors
    /// If they cannot be started: all are told.
    pub fn spawn(
        &self,
        comm: &Rc<Communicator>,
        root: usize,
        commands: Option<Result<Vec<Command>>>,
    ) -> Result<Communicator> {
        let mut told = Data::new();
        if let Some(commands) = commands {
            told = Outcome::write(&commands.and_then(|commands| self.start_processes(comm, &commands)));
        }
        let channel = Channel { me: self, comm, tag: tags::SPAWN };
        channel.broadcast(&Group::all(comm.size()), root, &mut told, None)?;
        let Outcome { context, first, count } = Outcome::read(&told)?;
        let made = between(context, comm.group.clone(), comm.rank, Group::range(first, 1, count));
        self.inherit(&made, comm);
        Ok(made)
    }

    /// Starts the processes of programs, in a world of their own.
    fn start_processes(&self, comm: &Communicator, commands: &[Command]) -> Result<Outcome> {
        let refused = |message: String| Error::new(abi::ERR_SPAWN, message);
        let started = &self.world.started;
        if self.world.explored {
            self.gives_up("processes that are started later cannot be explored yet");
        }
        let Some(spawner) = started.spawner.get().and_then(std::sync::Weak::upgrade) else {
            return fail(abi::ERR_SPAWN, "processes cannot be started in this run");
        };
        let first = self.world.size() + started.count();
        let count: usize = commands.iter().map(|command| command.count).sum();
        if count == 0 {
            return fail(abi::ERR_ARG, "no process is to be started: maxprocs is 0");
        }
        let most = capacity(self.world.size());
        if first + count > most {
            return fail(
                abi::ERR_SPAWN,
                format!("process {} cannot be started: a run has {most} at most", first + count - 1),
            );
        }
        let context = self.name_contexts(2);
        let mut parents = Data::new();
        comm.group.write(&mut parents);
        // One barrier for each start, after that of the beginning.
        let start = BarrierId(self.world.start.0 + 1 + first as u32);
        // All of it outlives the process that starts them.
        let made = self.for_others(|| {
            let (mut births, mut bodies) = (Vec::new(), Vec::new());
            let parents: Arc<[u8]> = parents.as_slice().into();
            let images = commands.iter().map(|command| spawner.image(command));
            let images = images.collect::<std::result::Result<Vec<_>, _>>()?;
            let hosts = commands.iter().map(|command| spawner.hosts(command.info.get("host"), command.count));
            let hosts = hosts.collect::<std::result::Result<Vec<_>, _>>()?;
            let programs = commands.iter().zip(images).zip(hosts);
            for (application, ((command, image), hosts)) in programs.enumerate() {
                match spawner.make(command, image, first + births.len(), &hosts) {
                    Ok(made) => bodies.extend(made),
                    Err(message) => {
                        // Code of processes is dropped by nobody who is a process: those that were made never begin.
                        std::mem::forget(bodies);
                        return Err(message);
                    }
                }
                births.extend(hosts.into_iter().map(|host| Birth {
                    first: first as u32,
                    count: count as u32,
                    application: application as i32,
                    start,
                    context,
                    parents: Arc::clone(&parents),
                    place: spawner.place(host),
                }));
            }
            let hosts: Vec<HostId> = births.iter().map(|birth| birth.place.host).collect();
            let requests = (first..).zip(hosts.into_iter().zip(bodies)).map(|(process, (host, body))| {
                Box::new(SpawnRequest::new(format!("rank {process}"), host, body))
            });
            let requests: Vec<Box<SpawnRequest>> = requests.collect();
            started.add(births);
            Ok(requests)
        });
        let requests = made.map_err(refused)?;
        self.note(Note::NewBarrier(start, count as u32));
        for request in requests {
            match self.ask(Simcall::Spawn(request)) {
                Answer::Actor(_) => {}
                other => unreachable!("a spawn is not answered by {other:?}"),
            }
        }
        Ok(Outcome { context, first: first as u32, count: count as u32 })
    }
}
