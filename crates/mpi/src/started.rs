//! Processes that are started while the program runs, as the whole run knows them: where each is, who its siblings and its
//! parents are (MPI 5.0, 11.8). And what processes meet by: ports, and the names under which ports are published (11.9).
//!
//! Numbers of processes are never given twice: those of the first world come first, and each start takes the next ones.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use simurgh_kernel::ids::BarrierId;
use simurgh_platform::{DiskId, HostId};

use crate::spawning::Spawner;
use crate::world::World;

/// What came after the beginning.
#[derive(Debug, Default)]
pub struct Started {
    /// For how many processes there is room at once (`MPI_UNIVERSE_SIZE`); no fewer than there are at the beginning.
    pub universe: usize,
    /// Who starts processes.
    pub spawner: OnceLock<Weak<Spawner>>,
    births: RwLock<Vec<Birth>>,
    meeting: Mutex<Meeting>,
}

/// How a process began that was started later.
#[derive(Clone, Debug)]
pub struct Birth {
    /// The first process of its `MPI_COMM_WORLD`.
    pub first: u32,
    /// How many that has.
    pub count: u32,
    /// Which of several programs it is.
    pub application: i32,
    /// The barrier at which all of them wait that have begun.
    pub start: BarrierId,
    /// The context of the communicator that leads to its parents.
    pub context: u32,
    /// Its parents: a group, as it is written into messages.
    pub parents: std::sync::Arc<[u8]>,
    /// Where it runs.
    pub place: Place,
}

/// A host, as a process knows the one that it runs on.
#[derive(Clone, Debug)]
pub struct Place {
    /// Which.
    pub host: HostId,
    /// Its name.
    pub name: String,
    /// The speed of a core, flop/s.
    pub speed: f64,
    /// Its first disk.
    pub disk: Option<DiskId>,
}

/// Ports, and names of services.
#[derive(Debug, Default)]
pub struct Meeting {
    /// How many ports were opened so far.
    opened: u32,
    /// The ports that are open, and whose they are.
    pub ports: BTreeMap<u32, u32>,
    /// The ports of services.
    pub services: BTreeMap<String, String>,
}

impl Meeting {
    /// Opens a port of a process: its number.
    pub fn open(&mut self, process: u32) -> u32 {
        let port = self.opened;
        self.opened += 1;
        self.ports.insert(port, process);
        port
    }
}

impl Started {
    /// Nothing yet, with room for so many processes at once.
    pub fn in_room_for(universe: usize) -> Self {
        Self { universe, ..Self::default() }
    }

    /// Ports and names, for one who changes them.
    pub fn meeting(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another execution begins: no port is open, and the first has the number that it had before.
    pub fn begins_again(&self) {
        *self.meeting() = Meeting::default();
    }

    /// How many processes were started.
    pub fn count(&self) -> usize {
        self.births.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Adds processes, the next in number.
    pub fn add(&self, births: Vec<Birth>) {
        self.births.write().unwrap_or_else(PoisonError::into_inner).extend(births);
    }
}

impl World {
    /// How a process began, if it was started later.
    pub fn birth(&self, process: u32) -> Option<Birth> {
        self.of_birth(process, Birth::clone)
    }

    fn of_birth<T>(&self, process: u32, what: impl FnOnce(&Birth) -> T) -> Option<T> {
        let number = (process as usize).checked_sub(self.size())?;
        self.started.births.read().unwrap_or_else(PoisonError::into_inner).get(number).map(what)
    }

    /// What is known of a process, from the lists of the first world or from how it was started.
    fn known<T: Clone>(&self, process: u32, first: &[T], later: impl FnOnce(&Place) -> T) -> T {
        let found = first.get(process as usize).cloned();
        let started = || self.of_birth(process, |birth| later(&birth.place));
        found.or_else(started).expect("a process of the run")
    }

    /// Where a process runs.
    pub fn host(&self, process: u32) -> HostId {
        self.known(process, &self.hosts, |place| place.host)
    }

    /// The name of the host of a process.
    pub fn host_name(&self, process: u32) -> String {
        self.known(process, &self.host_names, |place| place.name.clone())
    }

    /// The speed of a core of the host of a process, flop/s.
    pub fn speed(&self, process: u32) -> f64 {
        self.known(process, &self.speeds, |place| place.speed)
    }

    /// The disk that a process uses, if its host has one.
    pub fn disk(&self, process: u32) -> Option<DiskId> {
        self.known(process, &self.disks, |place| place.disk)
    }

    /// For how many processes there is room at once.
    pub fn universe(&self) -> usize {
        self.started.universe.max(self.size())
    }
}
