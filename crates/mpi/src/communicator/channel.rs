//! Messages among those who make a communicator: in a context of their own of the communicator that they start from, and with the
//! ranks that they have in it, so that two communicators that are made one after the other never take each other's messages.

use simurgh_kernel::simcall::{Answer, Envelope, Follow, RecvRequest, SendRequest, Simcall};

use crate::communicator::Communicator;
use crate::error::Result;
use crate::group::Group;
use crate::message::{Content, Data};
use crate::p2p::{Context, HEADER, Manner, mailbox};
use crate::rank::Rank;
use crate::request::gone;

/// Where such messages go: a communicator that is there, and a tag.
#[derive(Copy, Clone, Debug)]
pub struct Channel<'a> {
    /// Who speaks.
    pub me: &'a Rank,
    /// Among whom.
    pub comm: &'a Communicator,
    /// What all of these messages carry.
    pub tag: i32,
}

/// Tags of what communicators are made by. Those that programs give are not negative; -2 is `MPI_ANY_TAG`.
pub mod tags {
    /// The context of a new communicator.
    pub const CONTEXT: i32 = -1;
    /// Colours and keys, and what follows from them.
    pub const SPLIT: i32 = -7;
    /// Between the two sides of an intercommunicator, and what leaders tell their side.
    pub const LEADERS: i32 = -3;
    /// Edges of a graph.
    pub const EDGES: i32 = -4;
    /// What came of a start of processes, or of meeting others.
    pub const SPAWN: i32 = -5;
    /// Between those who meet at a port, or by a socket.
    pub const MEET: i32 = -6;
    /// The first of those that go down, one for each copy that is made while the program goes on.
    pub const IDUP: i32 = -1000;
}

impl Channel<'_> {
    /// Sends data, at the cost of so many bytes.
    ///
    /// # Errors
    /// If there is no such rank, or the message is lost.
    pub fn send(&self, to: usize, data: &[u8], cost: usize, manner: Manner) -> Result {
        let Some(process) = self.comm.destination(to as i32)? else { return Ok(()) };
        let (costs, bytes) = (&self.me.world.costs, cost as u64);
        let detached = manner == Manner::Immediate || bytes < self.me.eager_limit();
        match manner {
            Manner::Immediate => self.me.sleep(costs.immediate_send.of(bytes)),
            Manner::Blocking => self.me.sleep(costs.send.of(bytes)),
        }
        let source = self.comm.rank;
        let request = SendRequest {
            mailbox: mailbox(process),
            bytes: cost as f64 + HEADER,
            rate: None,
            envelope: Envelope {
                context: Context::Internal.of(self.comm),
                source: source as u32,
                tag: self.tag,
            },
            payload: Some(self.me.for_others(|| {
                let data = Data::from_slice(data);
                Box::new(Content {
                    process: self.me.process,
                    source: source as i32,
                    tag: self.tag,
                    waited: !detached,
                    sent: self.me.stamp(None),
                    data,
                })
            })),
        };
        if detached {
            self.me.post(request);
            return Ok(());
        }
        match self.me.ask(Simcall::Send(request, Follow::Wait(None))) {
            Answer::Failed { failure, .. } => Err(gone(failure)),
            _ => Ok(()),
        }
    }

    /// Receives data that were sent at the cost of so many bytes; of their own length if nothing else is said.
    ///
    /// # Errors
    /// If there is no such rank, or the message is lost.
    pub fn receive(&self, from: usize, cost: Option<usize>) -> Result<Data> {
        let Some(criteria) = self.me.criteria(self.comm, Context::Internal, from as i32, self.tag)? else {
            return Ok(Data::new());
        };
        let request = RecvRequest { mailbox: mailbox(self.me.process), rate: None, criteria };
        match self.me.ask(Simcall::Recv(request, Follow::Wait(None))) {
            Answer::Completed { message, .. } => {
                let content = Content::of(message.expect("a receive brings something"));
                self.me.learns(&content);
                if !content.waited {
                    let bytes = cost.unwrap_or(content.data.len());
                    self.me.sleep(self.me.world.costs.receive.of(bytes as u64));
                }
                Ok(content.data)
            }
            Answer::Failed { failure, .. } => Err(gone(failure)),
            other => unreachable!("a receive is not answered by {other:?}"),
        }
    }

    /// Hands data from one of the members to all of them, by a binomial tree. Members are given by their ranks in the
    /// communicator, the root by its place among them.
    ///
    /// # Errors
    /// If a message is lost.
    ///
    /// # Panics
    /// If the process is no member.
    pub fn broadcast(&self, members: &Group, root: usize, data: &mut Data, cost: Option<usize>) -> Result {
        let size = members.size();
        let place = members.rank_of(self.comm.rank as u32).expect("the process is a member");
        let relative = (place + size - root) % size;
        let member = |relative: usize| members.process((relative + root) % size) as usize;
        let mut step = match relative {
            0 => size.next_power_of_two(),
            _ => 1 << relative.trailing_zeros(),
        };
        if relative != 0 {
            *data = self.receive(member(relative - step), cost)?;
        }
        loop {
            step /= 2;
            if step == 0 {
                return Ok(());
            }
            if relative + step < size {
                self.send(member(relative + step), data, cost.unwrap_or(data.len()), Manner::Blocking)?;
            }
        }
    }

    /// Brings data of all members to the first of them, which is given them in the order of members.
    ///
    /// # Errors
    /// If a message is lost.
    ///
    /// # Panics
    /// If the process is no member.
    pub fn gather(&self, members: &Group, mine: &[u8], cost: Option<usize>) -> Result<Option<Vec<Data>>> {
        if members.process(0) as usize != self.comm.rank {
            let cost = cost.unwrap_or(mine.len());
            self.send(members.process(0) as usize, mine, cost, Manner::Immediate)?;
            return Ok(None);
        }
        let mut posted = Vec::new();
        for rank in members.iter().skip(1) {
            let activity = self.me.post_receive(self.comm, Context::Internal, rank as i32, self.tag)?;
            posted.push(activity.expect("a member is somebody"));
        }
        let mut all = vec![Data::from_slice(mine)];
        for activity in posted {
            let (_, result) = self.me.wait_any([activity].into_iter().collect());
            let content = Content::of(result.map_err(gone)?.expect("a receive brings something"));
            self.me.learns(&content);
            if !content.waited {
                let bytes = cost.unwrap_or(content.data.len());
                self.me.sleep(self.me.world.costs.receive.of(bytes as u64));
            }
            all.push(content.data);
        }
        Ok(Some(all))
    }
}
