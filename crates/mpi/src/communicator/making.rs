//! Communicators that are made of others, and of groups (MPI 5.0, 7.4.2).

use std::rc::Rc;

use crate::abi::{self, Comm};
use crate::collectives::bcast;
use crate::collectives::team::{KnownHosts, Team};
use crate::communicator::channel::{Channel, tags};
use crate::communicator::{Communicator, context};
use crate::error::{Result, fail};
use crate::group::Group;
use crate::message::Data;
use crate::rank::Rank;

/// A context is told by so many bytes.
const CONTEXT_BYTES: usize = 4;

/// A context, in a message.
pub fn context_in(data: &[u8]) -> u32 {
    u32::from_le_bytes(data[..CONTEXT_BYTES].try_into().expect("a context is in the message"))
}

impl Rank {
    /// Agrees on a context with the other members, who are given by their ranks in the communicator of the channel. The first
    /// of them names it. As in SMPI, that is a broadcast like those of the program, and may be the first that goes by hosts.
    ///
    /// # Errors
    /// If a message is lost.
    fn agree(&self, channel: Channel<'_>, members: &Group, hosts: &KnownHosts) -> Result<u32> {
        let mut context = [0; CONTEXT_BYTES];
        if members.process(0) as usize == channel.comm.rank {
            context = self.name_contexts(1).to_le_bytes();
        }
        if self.world.explored {
            let mut data = Data::from_slice(&context);
            channel.broadcast(members, 0, &mut data, None)?;
            return Ok(context_in(&data));
        }
        bcast::bcast(&Team::making(channel, members, hosts), &mut context, CONTEXT_BYTES, 0)?;
        Ok(u32::from_le_bytes(context))
    }

    /// Makes a communicator of some processes of another, which are given by their ranks in it. They all call this, and may be
    /// told apart by a tag.
    ///
    /// # Errors
    /// If a message is lost.
    ///
    /// # Panics
    /// If the process is not among them.
    pub fn make_intra(&self, parent: &Communicator, members: &Group, tag: i32) -> Result<Communicator> {
        let hosts = KnownHosts::default();
        let context = self.agree(Channel { me: self, comm: parent, tag }, members, &hosts)?;
        let rank = members.rank_of(parent.rank as u32).expect("the process is a member");
        let made = Communicator::new(context, parent.group.select(members), rank, None);
        made.hosts.swap(&hosts);
        self.inherit(&made, parent);
        Ok(made)
    }

    /// Gives a new communicator the error handler of the one that it was made of (9.3), and its session.
    pub fn inherit(&self, made: &Communicator, parent: &Communicator) {
        self.hold_errhandler(parent.errhandler.get());
        made.errhandler.set(parent.errhandler.get());
        if let Some(session) = parent.session.get() {
            made.comes_from(session);
        }
    }

    /// A communicator of the same processes in a context of its own, without attributes: what windows and files need for
    /// themselves. All processes call this.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn duplicate(&self, comm: &Communicator) -> Result<Communicator> {
        if comm.is_inter() {
            return self.duplicate_inter(comm);
        }
        self.make_intra(comm, &Group::all(comm.size()), tags::CONTEXT)
    }

    /// Keeps a communicator, and gives its handle.
    pub fn keep_comm(&self, comm: Communicator) -> Comm {
        Comm(self.comms.borrow_mut().insert(Rc::new(comm)))
    }

    /// The communicator of a group of processes of another, who alone call this: `MPI_Comm_create`, and with a tag of the
    /// program `MPI_Comm_create_group`. None for those who are not in the group.
    ///
    /// # Errors
    /// If a process of the group is not in the communicator, or a message is lost.
    pub fn make_of_group(
        &self,
        parent: &Communicator,
        group: &Group,
        tag: i32,
    ) -> Result<Option<Communicator>> {
        let members = ranks_in(parent, group)?;
        if members.rank_of(parent.rank as u32).is_none() {
            return Ok(None);
        }
        self.make_intra(parent, &members, tag).map(Some)
    }

    /// Where processes speak that have no communicator in common yet: a process has its own number as its rank.
    pub fn boot(&self) -> Communicator {
        let all = Group::range(0, 1, i32::MAX as u32);
        Communicator::new(context::BOOT, all, self.process as usize, None)
    }
}

/// The ranks in a communicator of the processes of a group.
///
/// # Errors
/// If one is not in it.
pub fn ranks_in(comm: &Communicator, group: &Group) -> Result<Group> {
    let ranks = group.translate(0..group.size(), &comm.group);
    let mut found = Vec::with_capacity(ranks.len());
    for (rank, known) in ranks.into_iter().enumerate() {
        match known {
            Some(known) => found.push(known as u32),
            None => {
                return fail(
                    abi::ERR_GROUP,
                    format!("rank {rank} of the group is a process that is not in the communicator"),
                );
            }
        }
    }
    Ok(Group::of(found))
}

/// The tag of those who make a communicator under this name.
pub fn tag_of(name: &str) -> i32 {
    // FNV-1a, without the sign.
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    (hash & 0x7fff_ffff) as i32
}
