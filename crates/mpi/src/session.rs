//! Sessions (MPI 5.0, 11.3).

use std::cell::Cell;
use std::rc::Rc;

use crate::abi::{self, Errhandler, Session};
use crate::buffered::Buffered;
use crate::error::{Result, fail};
use crate::group::Group;
use crate::info::Info;
use crate::rank::Rank;

/// The sets of processes that every session knows.
pub const PROCESS_SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// A session.
#[derive(Debug)]
pub struct OpenSession {
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
    /// Its hints.
    pub info: Info,
    /// The buffer of buffered sends on communicators that come from it.
    pub buffered: Buffered,
}

impl Rank {
    /// A session.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn session(&self, session: Session) -> Result<Rc<OpenSession>> {
        match self.sessions.borrow().get(session.0) {
            Some(found) => Ok(Rc::clone(found)),
            None if session == abi::SESSION_NULL => fail(abi::ERR_SESSION, "the session is MPI_SESSION_NULL"),
            None => fail(
                abi::ERR_SESSION,
                format!("no session has the handle {:#x}: it was finalized, or never made", session.0),
            ),
        }
    }

    /// The processes of a set.
    ///
    /// # Errors
    /// If there is none of this name. Letters may be of either case.
    pub fn process_set(&self, name: &str) -> Result<Group> {
        match PROCESS_SETS.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            Some(0) => Ok(self.comm_world.group.clone()),
            Some(_) => Ok(Group::of(vec![self.process])),
            None => fail(
                abi::ERR_ARG,
                format!("no set of processes is named {name:?}: there are {}", PROCESS_SETS.join(" and ")),
            ),
        }
    }
}
