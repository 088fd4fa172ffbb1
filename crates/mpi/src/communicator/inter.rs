//! Communicators between two groups (MPI 5.0, 7.6).
//!
//! The first process of each side is its leader. Leaders tell each other what their sides want, and tell their sides what came
//! of it. Both propose a context; that of the leader whose process has the lower number is taken.

use std::collections::BTreeMap;

use crate::abi;
use crate::communicator::channel::{Channel, tags};
use crate::communicator::context::STEP;
use crate::communicator::making::context_in;
use crate::communicator::split::{Choice, arranged};
use crate::communicator::{Communicator, Remote};
use crate::error::{Result, fail};
use crate::group::Group;
use crate::message::Data;
use crate::p2p::Manner;
use crate::rank::Rank;

/// What the leaders of two sides propose.
struct Proposals {
    /// The context that is taken.
    context: u32,
    /// Whether this side comes first where nothing else decides.
    first: bool,
}

impl Proposals {
    /// What a leader sends: its process, and a context.
    fn mine(me: &Rank) -> Data {
        let mut data = Data::new();
        data.extend_from_slice(&me.process.to_le_bytes());
        // One for the messages between both groups, one for those within each.
        data.extend_from_slice(&me.name_contexts(2).to_le_bytes());
        data
    }

    /// What follows of both; the rest of each is left.
    fn decide(mine: &mut &[u8], theirs: &mut &[u8]) -> Self {
        let number = |data: &mut &[u8]| {
            let (number, rest) = data.split_at(4);
            *data = rest;
            context_in(number)
        };
        let (my_process, my_context) = (number(mine), number(mine));
        let (their_process, their_context) = (number(theirs), number(theirs));
        let first = my_process < their_process;
        Self { context: if first { my_context } else { their_context }, first }
    }
}

/// An intercommunicator of two groups.
pub(crate) fn between(context: u32, group: Group, rank: usize, remote: Group) -> Communicator {
    let remote = Remote { group: remote, local_context: context + STEP };
    Communicator::new(context, group, rank, Some(remote))
}

impl Rank {
    /// The leaders of both sides of an intercommunicator tell each other something after their proposals; each then tells its
    /// side what it makes of both.
    fn by_leaders(
        &self,
        comm: &Communicator,
        more: impl FnOnce(&mut Data),
        combine: impl FnOnce(Proposals, &[u8], &[u8]) -> Data,
    ) -> Result<Data> {
        let mut result = Data::new();
        if comm.rank == 0 {
            let mut mine = Proposals::mine(self);
            more(&mut mine);
            let across = Channel { me: self, comm, tag: tags::LEADERS };
            across.send(0, &mine, mine.len(), Manner::Immediate)?;
            let theirs = across.receive(0, None)?;
            let (mut mine, mut theirs) = (&mine[..], &theirs[..]);
            let proposals = Proposals::decide(&mut mine, &mut theirs);
            result = combine(proposals, mine, theirs);
        }
        let local = comm.local();
        let within = Channel { me: self, comm: &local, tag: tags::LEADERS };
        within.broadcast(&Group::all(local.size()), 0, &mut result, None)?;
        Ok(result)
    }

    /// A copy in a context of its own.
    pub(super) fn duplicate_inter(&self, comm: &Communicator) -> Result<Communicator> {
        let told = self.by_leaders(
            comm,
            |_| (),
            |proposals, _, _| Data::from_slice(&proposals.context.to_le_bytes()),
        )?;
        let made = between(context_in(&told), comm.group.clone(), comm.rank, comm.peers().clone());
        self.inherit(&made, comm);
        Ok(made)
    }

    /// One between a part of each side; none for those who are in no part, or if one part is empty.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn make_inter_of_group(&self, comm: &Communicator, group: &Group) -> Result<Option<Communicator>> {
        let told = self.by_leaders(
            comm,
            |mine| group.write(mine),
            |proposals, _, theirs| {
                let mut data = Data::from_slice(&proposals.context.to_le_bytes());
                data.extend_from_slice(theirs);
                data
            },
        )?;
        let remote = Group::read(&mut &told[4..]);
        let Some(rank) = group.rank_of(self.process) else { return Ok(None) };
        if remote.size() == 0 {
            return Ok(None);
        }
        let made = between(context_in(&told), group.clone(), rank, remote);
        self.inherit(&made, comm);
        Ok(Some(made))
    }

    /// One communicator of both sides: first those who do not say `high`.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn merge(&self, comm: &Communicator, high: bool) -> Result<Communicator> {
        let told = self.by_leaders(
            comm,
            |mine| mine.push(u8::from(high)),
            |proposals, mine, theirs| {
                let first = if mine == theirs { proposals.first } else { mine < theirs };
                let mut data = Data::from_slice(&proposals.context.to_le_bytes());
                data.push(u8::from(first));
                data
            },
        )?;
        let (local, remote) = (&comm.group, comm.peers());
        let (group, rank) = match told[4] {
            0 => (remote.union(local), remote.size() + comm.rank),
            _ => (local.union(remote), comm.rank),
        };
        let made = Communicator::new(context_in(&told), group, rank, None);
        self.inherit(&made, comm);
        Ok(made)
    }

    /// One between the processes of a group here, who are given by their ranks in a communicator, and others there. The leaders
    /// of both meet in another communicator, at a rank of it.
    ///
    /// # Errors
    /// If the groups are not disjoint, or a message is lost.
    pub fn make_inter(
        &self,
        local: Channel<'_>,
        members: &Group,
        leader: usize,
        peer: Option<(Channel<'_>, usize)>,
    ) -> Result<Communicator> {
        let group = local.comm.group.select(members);
        let mut told = Data::new();
        if let Some((across, remote_leader)) = peer {
            let mut mine = Proposals::mine(self);
            group.write(&mut mine);
            across.send(remote_leader, &mine, mine.len(), Manner::Immediate)?;
            let theirs = across.receive(remote_leader, None)?;
            let (mut mine, mut theirs) = (&mine[..], &theirs[..]);
            told.extend_from_slice(&Proposals::decide(&mut mine, &mut theirs).context.to_le_bytes());
            told.extend_from_slice(theirs);
        }
        local.broadcast(members, leader, &mut told, None)?;
        let remote = Group::read(&mut &told[4..]);
        if group.intersection(&remote).size() > 0 {
            return fail(abi::ERR_COMM, "the two groups have a process in common: they must be disjoint");
        }
        let rank = members.rank_of(local.comm.rank as u32).expect("the process is a member");
        let made = between(context_in(&told), group, rank, remote);
        self.inherit(&made, local.comm);
        Ok(made)
    }

    /// Splits both sides: those of one colour here meet those of the same colour there; none where nobody is there.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn split_inter(&self, comm: &Communicator, mine: Choice) -> Result<Option<Communicator>> {
        let local = comm.local();
        let members = Group::all(local.size());
        let within = Channel { me: self, comm: &local, tag: tags::SPLIT };
        let told = match within.gather(&members, &mine.to_bytes(), None)? {
            None => within.receive(0, None)?,
            Some(here) => {
                let answers = self.split_by_leaders(comm, &here)?;
                for (rank, answer) in answers.iter().enumerate().skip(1) {
                    within.send(rank, answer, answer.len(), Manner::Immediate)?;
                }
                answers[0].clone()
            }
        };
        if told.is_empty() {
            return Ok(None);
        }
        let mut rest = &told[4..];
        let (here, there) = (Group::read(&mut rest), Group::read(&mut rest));
        let rank = here.rank_of(comm.rank as u32).expect("a process is in the group of its colour");
        let made = between(context_in(&told), comm.group.select(&here), rank, comm.peers().select(&there));
        self.inherit(&made, comm);
        Ok(Some(made))
    }

    /// What the leader tells each process of its side: a context and the ranks on both sides, or nothing.
    fn split_by_leaders(&self, comm: &Communicator, here: &[Data]) -> Result<Vec<Data>> {
        let across = Channel { me: self, comm, tag: tags::LEADERS };
        let flat: Data = here.iter().flat_map(|choice| choice.iter().copied()).collect();
        across.send(0, &flat, flat.len(), Manner::Immediate)?;
        let there = across.receive(0, None)?;
        let choices = |bytes: &[u8]| bytes.chunks(8).map(Choice::from_bytes).collect::<Vec<_>>();
        let (here, there) = (choices(&flat), choices(&there));
        let (ours, theirs) = (arranged(&here), arranged(&there));
        let common: Vec<i32> = ours.keys().filter(|color| theirs.contains_key(color)).copied().collect();
        let names = if self.process < comm.peers().process(0) {
            let names: Vec<u32> = common.iter().map(|_| self.name_contexts(2)).collect();
            let bytes: Data = names.iter().flat_map(|name| name.to_le_bytes()).collect();
            across.send(0, &bytes, bytes.len(), Manner::Immediate)?;
            names
        } else {
            across.receive(0, None)?.chunks(4).map(context_in).collect()
        };
        let answers: BTreeMap<i32, Data> = common
            .iter()
            .zip(names)
            .map(|(color, name)| {
                let ranks = |places: &[usize]| Group::of(places.iter().map(|place| *place as u32).collect());
                let mut data = Data::from_slice(&name.to_le_bytes());
                ranks(&ours[color]).write(&mut data);
                ranks(&theirs[color]).write(&mut data);
                (*color, data)
            })
            .collect();
        let answer = |choice: &Choice| choice.color.and_then(|color| answers.get(&color)).cloned();
        Ok(here.iter().map(|choice| answer(choice).unwrap_or_default()).collect())
    }
}
