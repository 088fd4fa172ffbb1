//! Communicators: a group of processes, and a context in which their messages meet (MPI 5.0, chapter 7).
//!
//! - [`context`]: how contexts are numbered.
//! - [`channel`]: messages among those who make a communicator.
//! - [`making`]: communicators from communicators and groups.
//! - [`split`]: by colours, and by hosts.
//! - [`inter`]: between two groups.
//! - [`idup`]: a copy that is made while the program goes on.

pub mod channel;
pub mod context;
pub mod idup;
pub mod inter;
pub mod making;
pub mod split;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::abi::Errhandler;
use crate::buffered::Buffered;
use crate::collectives::team::KnownHosts;
use crate::error::{Result, fail};
use crate::group::Group;
use crate::info::Info;
use crate::session::OpenSession;
use crate::topology::Topology;
use crate::{abi, attributes::Attributes};

/// What a communicator is to one of its processes.
#[derive(Debug)]
pub struct Communicator {
    /// The context of messages, a multiple of four; that of collectives is the next one, and the one after that is for
    /// making other communicators of this one, and the last for partitions.
    pub context: u32,
    /// Those whom it connects; of an intercommunicator, the local group.
    pub group: Group,
    /// The rank of this process in it.
    pub rank: usize,
    /// The other side of an intercommunicator.
    pub remote: Option<Remote>,
    /// What is known of who is whose neighbour.
    pub topology: RefCell<Option<Topology>>,
    /// The buffer of buffered sends on it alone.
    pub buffered: Buffered,
    /// What programs attached to it.
    pub attributes: RefCell<Attributes>,
    /// What programs call it.
    pub name: RefCell<String>,
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
    /// Its hints.
    pub info: RefCell<BTreeMap<String, String>>,
    /// How many non-blocking collectives were begun on it: messages of one do not meet those of another.
    pub sequence: Cell<u32>,
    /// How many collectives were called on it, for those who compare what all call.
    pub checked: Cell<u64>,
    /// The session that it comes from, if it does from one.
    pub session: OnceCell<Rc<OpenSession>>,
    /// Which of its ranks share a host, once a collective has found out.
    pub hosts: KnownHosts,
    /// Whether the program has freed it; it stays while something is under way.
    pub freed: Cell<bool>,
    /// Whether it has no context yet.
    pub unmade: Cell<bool>,
}

/// The other side of an intercommunicator.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Who is there.
    pub group: Group,
    /// The context in which the processes of the local group speak among themselves.
    pub local_context: u32,
}

impl Communicator {
    /// One of these processes, in a context of its own.
    pub fn new(context: u32, group: Group, rank: usize, remote: Option<Remote>) -> Self {
        Self {
            context,
            group,
            rank,
            remote,
            topology: RefCell::new(None),
            buffered: Buffered::default(),
            attributes: RefCell::default(),
            name: RefCell::default(),
            errhandler: Cell::new(abi::ERRORS_ARE_FATAL),
            info: RefCell::default(),
            sequence: Cell::new(0),
            checked: Cell::new(0),
            session: OnceCell::new(),
            hosts: RefCell::new(None),
            freed: Cell::new(false),
            unmade: Cell::new(false),
        }
    }

    /// The local side of an intercommunicator, as a communicator of its own.
    ///
    /// # Panics
    /// If it is none.
    pub fn local(&self) -> Communicator {
        let remote = self.remote.as_ref().expect("an intercommunicator has two sides");
        Communicator::new(remote.local_context, self.group.clone(), self.rank, None)
    }

    /// Notes the session that it comes from.
    pub fn comes_from(&self, session: &Rc<OpenSession>) {
        let _ = self.session.set(Rc::clone(session));
    }

    /// The same processes and contexts, without what programs attached.
    pub(crate) fn shallow(&self) -> Communicator {
        Communicator::new(self.context, self.group.clone(), self.rank, self.remote.clone())
    }

    /// How many processes; of an intercommunicator, in the local group.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Whether it connects two groups.
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// Those who messages go to and come from.
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().map_or(&self.group, |remote| &remote.group)
    }

    /// The process that a message to this rank goes to; none for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn destination(&self, rank: i32) -> Result<Option<u32>> {
        match usize::try_from(rank) {
            Ok(rank) if rank < self.peers().size() => Ok(Some(self.peers().process(rank))),
            _ if rank == abi::PROC_NULL => Ok(None),
            _ => fail(
                abi::ERR_RANK,
                format!(
                    "rank {rank} is not in the communicator, which has {} processes",
                    self.peers().size()
                ),
            ),
        }
    }

    /// Whom a receive accepts: `Ok(None)` is nobody, `Some(None)` anybody.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn source(&self, rank: i32) -> Result<Option<Option<u32>>> {
        if rank == abi::ANY_SOURCE {
            return Ok(Some(None));
        }
        Ok(self.destination(rank)?.map(|_| Some(rank as u32)))
    }
}

/// The hints that mean something to a communicator (7.4.4); others are not kept.
pub fn keep_known(info: &Info) -> BTreeMap<String, String> {
    const FLAGS: [&str; 5] = [
        "mpi_assert_no_any_tag",
        "mpi_assert_no_any_source",
        "mpi_assert_exact_length",
        "mpi_assert_allow_overtaking",
        "mpi_assert_strict_persistent_collective_ordering",
    ];
    let known = |(key, value): &&(String, String)| {
        FLAGS.contains(&key.as_str()) && ["true", "false"].contains(&value.as_str())
            || key == "mpi_hw_resource_type"
    };
    info.entries.iter().filter(known).cloned().collect()
}
