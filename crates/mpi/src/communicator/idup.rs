//! Copies of communicators that are made while the program goes on (`MPI_Comm_idup`).
//!
//! One process names the context and tells all others at once, without a tree: nobody has to pass anything on, so that the copy of
//! one process is complete whatever another does.

use std::rc::Rc;

use crate::abi::{Comm, Request};
use crate::communicator::channel::{Channel, tags};
use crate::communicator::context::STEP;
use crate::communicator::making::context_in;
use crate::communicator::{Communicator, Remote};
use crate::error::Result;
use crate::message::Content;
use crate::p2p::{Context, Manner};
use crate::rank::Rank;
use crate::request::{Pending, Several, Then, Work};

/// A copy whose context is under way.
#[derive(Debug)]
struct Copying {
    /// The handle that the program has.
    handle: Comm,
}

impl Several for Copying {
    fn arrived(&mut self, me: &Rank, _number: u32, message: Option<Box<Content>>) -> Result {
        let content = message.expect("a receive brings something");
        me.rename(self.handle, context_in(&content.data));
        Ok(())
    }

    fn finish(&mut self, _me: &Rank) -> Result<Then> {
        Ok(Then::Complete)
    }
}

impl Rank {
    /// Gives the communicator of a handle its context, unless the program has freed it.
    fn rename(&self, handle: Comm, context: u32) {
        let mut comms = self.comms.borrow_mut();
        let Some(comm) = comms.get_mut(handle.0) else { return };
        let remote = comm
            .remote
            .as_ref()
            .map(|remote| Remote { group: remote.group.clone(), local_context: context + STEP });
        let named = Communicator::new(context, comm.group.clone(), comm.rank, remote);
        named.topology.swap(&comm.topology);
        named.attributes.swap(&comm.attributes);
        named.name.swap(&comm.name);
        named.errhandler.swap(&comm.errhandler);
        named.info.swap(&comm.info);
        if let Some(session) = comm.session.get() {
            named.comes_from(session);
        }
        *comm = Rc::new(named);
    }

    /// Begins to copy a communicator, which all of its processes do: the copy, that may be used when the request is complete.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn begin_copy(&self, comm: &Rc<Communicator>, copy: Communicator) -> Result<(Comm, Request)> {
        let sequence = comm.sequence.get();
        comm.sequence.set(sequence.wrapping_add(1));
        let tag = tags::IDUP - (sequence & 0x3fff_ffff) as i32;
        let local = if comm.is_inter() { comm.local() } else { comm.shallow() };
        // Who names it: the first of the group, and of two groups the one whose process has the lower number.
        let here = comm.group.process(0);
        let across = comm.is_inter() && comm.peers().process(0) < here;
        let within = Channel { me: self, comm: &local, tag };
        let handle = self.keep_comm(copy);
        if comm.rank == 0 && !across {
            let context = self.name_contexts(2);
            let bytes = context.to_le_bytes();
            for rank in 1..local.size() {
                within.send(rank, &bytes, bytes.len(), Manner::Immediate)?;
            }
            if comm.is_inter() {
                let beyond = Channel { me: self, comm, tag };
                for rank in 0..comm.peers().size() {
                    beyond.send(rank, &bytes, bytes.len(), Manner::Immediate)?;
                }
            }
            self.rename(handle, context);
            let status = crate::abi::Status::empty();
            return Ok((handle, self.keep(Pending::complete(status, Some(Rc::clone(comm))))));
        }
        if let Some(copy) = self.comms.borrow().get(handle.0) {
            copy.unmade.set(true);
        }
        let from = if across { &**comm } else { &local };
        let activity = self.post_receive(from, Context::Internal, 0, tag)?;
        let work = Work::Several(Box::new(Copying { handle }));
        Ok((handle, self.keep(Pending::new(activity, work, Some(Rc::clone(comm))))))
    }
}
