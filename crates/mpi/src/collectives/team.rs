//! Those who take part in a collective, as one of them sees it: how it sends to the others and hears from them.
//!
//! Algorithms know no more than this. A send is a plain one (`send`) or an immediate one (`isend`, `exchange`), since the two
//! cost differently; data are bytes without gaps.

use std::cell::RefCell;
use std::ops::{Deref, Range};
use std::sync::Arc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Follow, OnTimeout, Payload, Simcall};

use super::hosts::Hosts;
use crate::abi;
use crate::communicator::Communicator;
use crate::communicator::channel::Channel;
use crate::error::{Result, fail};
use crate::group::Group;
use crate::message::{Content, Data};
use crate::p2p::{Context, Manner, Mode, Posted};
use crate::rank::Rank;
use crate::request::gone;
use crate::spare;

/// Some ranks of a communicator, or all, one of which is the one that runs.
#[derive(Clone, Debug)]
pub struct Team<'a> {
    /// The one that runs.
    pub me: &'a Rank,
    /// The communicator.
    pub comm: &'a Communicator,
    /// Its number among them.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// Their ranks in the communicator, where these are not all.
    members: Option<Vec<usize>>,
    context: Context,
    tag: i32,
    /// Where it is noted which of them share a host, unless these are some for one step of a collective.
    hosts: Option<&'a KnownHosts>,
}

/// Who shares a host, once that is known.
pub type KnownHosts = RefCell<Option<Arc<Hosts>>>;

impl<'a> Team<'a> {
    /// All of a communicator.
    pub fn all(me: &'a Rank, comm: &'a Communicator, tag: i32) -> Self {
        Self {
            me,
            comm,
            rank: comm.rank,
            size: comm.size(),
            members: None,
            context: Context::Collective,
            tag,
            hosts: Some(&comm.hosts),
        }
    }

    /// Those of a new communicator, who speak in the one that it is made of, and are given by their ranks in that.
    ///
    /// # Panics
    /// If the process is no member.
    pub fn making(channel: Channel<'a>, members: &Group, hosts: &'a KnownHosts) -> Self {
        let Channel { me, comm, tag } = channel;
        Self {
            me,
            comm,
            rank: members.rank_of(comm.rank as u32).expect("the process is a member"),
            size: members.size(),
            members: Some(members.iter().map(|member| member as usize).collect()),
            context: Context::Internal,
            tag,
            hosts: Some(hosts),
        }
    }

    /// Some of these, by their numbers here; none if the one that runs is not among them.
    pub fn part(&self, members: &[usize]) -> Option<Self> {
        let rank = members.iter().position(|member| *member == self.rank)?;
        let members: Vec<usize> = members.iter().map(|member| self.in_comm(*member)).collect();
        Some(Self { rank, size: members.len(), members: Some(members), hosts: None, ..self.clone() })
    }

    /// Whether these are all of a communicator.
    pub fn is_whole(&self) -> bool {
        self.hosts.is_some()
    }

    /// Where it is noted which of them share a host, if these are all of a communicator.
    pub fn known_hosts(&self) -> Option<&'a KnownHosts> {
        self.hosts
    }

    /// After how many of them the hosts begin again, if these are all processes in their order, all in the same situation, and nobody
    /// looks at single messages.
    pub fn stride(&self) -> Option<usize> {
        let world = &self.me.world;
        let stride = world.even.stride.filter(|_| self.size == world.size() && world.started.count() == 0)?;
        let process = |member| self.comm.group.process(self.in_comm(member)) as usize;
        (0..self.size).all(|member| process(member) == member).then_some(stride)
    }

    /// Whether all processes, which are in the same situation, come to a round of a collective at the same date and have nothing under
    /// way. They all ask this.
    pub fn is_in_step(&self, round: usize) -> bool {
        let place = (self.context.of(self.comm), self.tag, round);
        let is_free = self.me.has_nothing_under_way();
        self.me.for_others(|| self.me.world.even.comes(place, self.me.now(), is_free));
        self.me.ask(Simcall::Yield);
        self.me.for_others(|| self.me.world.even.are_in_step(place, self.size))
    }

    /// The rank in the communicator of one of them.
    pub fn in_comm(&self, member: usize) -> usize {
        self.members.as_ref().map_or(member, |members| members[member])
    }

    /// The number `away` after that of the one that runs; the numbers are a circle.
    pub fn after(&self, away: usize) -> usize {
        (self.rank + away) % self.size
    }

    /// The number `away` before.
    pub fn before(&self, away: usize) -> usize {
        (self.rank + self.size - away % self.size) % self.size
    }

    /// The data of a message: these parts, one after the other.
    pub fn joined<'b>(&self, parts: impl Iterator<Item = &'b [u8]> + Clone) -> Data {
        self.me.for_others(|| {
            let mut joined = spare::data(parts.clone().map(<[u8]>::len).sum());
            parts.for_each(|part| joined.extend_from_slice(part));
            joined
        })
    }

    fn post(&self, to: usize, data: Data, manner: Manner, follow: Follow) -> Result<Posted> {
        let to = self.in_comm(to) as i32;
        self.me.send_data(self.comm, self.context, to, self.tag, data, Mode::Standard, manner, follow)
    }

    /// Sends as `MPI_Send` does.
    ///
    /// # Errors
    /// If the message is lost.
    pub fn send(&self, to: usize, data: &[u8]) -> Result {
        self.post(to, self.joined([data].into_iter()), Manner::Blocking, Follow::Wait(None))?;
        Ok(())
    }

    /// Sends as `MPI_Isend` does.
    ///
    /// # Errors
    /// If the message is lost.
    pub fn isend(&self, to: usize, data: &[u8]) -> Result<Posted> {
        self.post(to, self.joined([data].into_iter()), Manner::Immediate, Follow::Return)
    }

    /// Receives as `MPI_Recv` does.
    ///
    /// # Errors
    /// If the message is lost, or longer than its place.
    pub fn recv(&self, from: usize, place: &mut [u8]) -> Result {
        land(&*self.hear(from)?, place)
    }

    /// Receives as `MPI_Recv` does; gives the message.
    ///
    /// # Errors
    /// If the message is lost.
    pub fn hear(&self, from: usize) -> Result<Received<'a>> {
        let from = self.in_comm(from) as i32;
        let content = self.me.receive_content(self.comm, self.context, from, self.tag)?;
        Ok(Received { me: self.me, content })
    }

    /// Receives as `MPI_Irecv` does.
    ///
    /// # Errors
    /// None: who takes part is there.
    pub fn irecv(&self, from: usize) -> Result<ActivityId> {
        let from = self.in_comm(from) as i32;
        let activity = self.me.post_receive(self.comm, self.context, from, self.tag)?;
        Ok(activity.expect("it comes from a rank"))
    }

    /// Waits for a message whose receive was posted.
    ///
    /// # Errors
    /// If it is lost.
    pub fn take(&self, receive: ActivityId) -> Result<Received<'a>> {
        let content = Content::of(self.me.await_one(receive)?.expect("a receive brings something"));
        self.me.has_received(&content);
        Ok(Received { me: self.me, content: Some(content) })
    }

    /// Waits for a message whose receive was posted, and puts it into its place.
    ///
    /// # Errors
    /// If it is lost, or longer than its place.
    pub fn take_into(&self, receive: ActivityId, place: &mut [u8]) -> Result {
        land(&*self.take(receive)?, place)
    }

    /// Waits for a send that was posted.
    ///
    /// # Errors
    /// If the message is lost.
    pub fn sent(&self, send: Posted) -> Result {
        if let Posted::UnderWay(activity) = send {
            self.me.await_one(activity)?;
        }
        Ok(())
    }

    /// Waits for all; gives what came, in the order of the receives.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn finish(&self, sends: Vec<Posted>, receives: Vec<ActivityId>) -> Result<Vec<Received<'a>>> {
        let contents = self.me.receive_all(&receives)?;
        sends.into_iter().try_for_each(|send| self.sent(send))?;
        Ok(contents.into_iter().map(|content| Received { me: self.me, content: Some(content) }).collect())
    }

    /// Sends and receives as `MPI_Sendrecv` does; the data of both lie in one place.
    ///
    /// # Errors
    /// If a message is lost, or longer than its place.
    pub fn exchange_in(
        &self,
        data: &mut [u8],
        to: usize,
        out: Range<usize>,
        from: usize,
        into: Range<usize>,
    ) -> Result {
        if to == self.rank && from == self.rank {
            data.copy_within(out, into.start);
            return Ok(());
        }
        let sent = self.isend(to, &data[out])?;
        self.recv(from, &mut data[into])?;
        self.sent(sent)
    }

    /// Sends and receives as `MPI_Sendrecv` does.
    ///
    /// # Errors
    /// If a message is lost, or longer than its place.
    pub fn exchange(&self, to: usize, out: &[u8], from: usize, into: &mut [u8]) -> Result {
        if to == self.rank && from == self.rank {
            into[..out.len()].copy_from_slice(out);
            return Ok(());
        }
        let sent = self.isend(to, out)?;
        self.recv(from, into)?;
        self.sent(sent)
    }

    /// Sends data and receives as `MPI_Sendrecv` does, from another; gives the message, which has no place.
    ///
    /// # Errors
    /// If a message is lost, or is longer than `most` bytes.
    pub fn swap(&self, to: usize, out: Data, from: usize, most: usize) -> Result<Received<'a>> {
        let sent = self.post(to, out, Manner::Immediate, Follow::Return)?;
        let received = self.hear(from)?.within(most)?;
        self.sent(sent)?;
        Ok(received)
    }
}

/// A message that a member of a team has received. Its memory is kept for another once nobody reads it.
#[derive(Debug)]
pub struct Received<'a> {
    me: &'a Rank,
    /// It is taken when this is dropped.
    content: Option<Box<Content>>,
}

impl Received<'_> {
    /// The message, if it is no longer than so many bytes.
    ///
    /// # Errors
    /// If it is.
    pub fn within(self, most: usize) -> Result<Self> {
        fits(&self, most)?;
        Ok(self)
    }
}

impl Deref for Received<'_> {
    type Target = Content;

    fn deref(&self) -> &Content {
        self.content.as_ref().expect("it comes from a rank")
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        if let Some(content) = self.content.take() {
            self.me.for_others(|| spare::keep(content));
        }
    }
}

/// Checks that a message is no longer than its place.
fn fits(content: &Content, room: usize) -> Result {
    let length = content.data.len();
    if length > room {
        return fail(
            abi::ERR_TRUNCATE,
            format!("rank {} sent {length} bytes where {room} are received", content.source),
        );
    }
    Ok(())
}

/// Puts a message into its place.
///
/// # Errors
/// If it is longer than that.
pub fn land(content: &Content, place: &mut [u8]) -> Result {
    fits(content, place.len())?;
    place[..content.data.len()].copy_from_slice(&content.data);
    Ok(())
}

impl Rank {
    /// Waits for an activity; gives what it brings.
    ///
    /// # Errors
    /// If it fails.
    pub fn await_one(&self, activity: ActivityId) -> Result<Option<Payload>> {
        Ok(self.await_any(&[activity])?.1)
    }

    /// Waits for one of several activities; gives which one it is, and what it brings.
    ///
    /// # Errors
    /// If it fails.
    pub fn await_any(&self, activities: &[ActivityId]) -> Result<(usize, Option<Payload>)> {
        let answer = self.ask(Simcall::WaitAny {
            activities: activities.iter().copied().collect(),
            timeout: None,
            on_timeout: OnTimeout::Keep,
            release: true,
        });
        match answer {
            Answer::Completed { index, message } => Ok((index as usize, message)),
            Answer::Failed { failure, .. } => Err(gone(failure)),
            other => unreachable!("a wait is not answered by {other:?}"),
        }
    }

    /// Waits for messages whose receives were posted. Where receiving costs time they are taken as they come.
    ///
    /// # Errors
    /// If one is lost.
    pub fn receive_all(&self, receives: &[ActivityId]) -> Result<Vec<Box<Content>>> {
        if self.world.costs.receive.is_nothing() {
            let take = |receive: &ActivityId| {
                let content = Content::of(self.await_one(*receive)?.expect("a receive brings something"));
                self.learns(&content);
                Ok(content)
            };
            return receives.iter().map(take).collect();
        }
        let mut contents: Vec<Option<Box<Content>>> = receives.iter().map(|_| None).collect();
        let (mut left, mut numbers) = (receives.to_vec(), (0..receives.len()).collect::<Vec<_>>());
        while !left.is_empty() {
            let (index, message) = self.await_any(&left)?;
            left.remove(index);
            let content = Content::of(message.expect("a receive brings something"));
            self.has_received(&content);
            contents[numbers.remove(index)] = Some(content);
        }
        Ok(contents.into_iter().flatten().collect())
    }
}
