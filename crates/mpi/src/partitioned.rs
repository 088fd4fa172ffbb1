//! Partitioned communication: one message whose partitions are sent as they become ready (MPI 5.0, chapter 4).
//!
//! When a send is made it tells the receiver, in a message of its own, how its data are divided and which tag the partitions will
//! have. These first messages carry the tag of the program, and meet the receives in the order in which both sides were made, as
//! the standard wants it. Each partition that is ready is then a message. All of one round are sent before the next round
//! begins, so that messages of two rounds are never mixed up, and who is ready first does not matter to the receiver.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Envelope, Follow, SendRequest, Simcall};

use crate::abi::{self, Status};
use crate::communicator::Communicator;
use crate::datatype::Type;
use crate::error::{Result, fail};
use crate::message::{Content, Data, Typed};
use crate::p2p::{Context, HEADER, Posted, mailbox};
use crate::rank::Rank;
use crate::request::{Pending, Several, Then, Work};
use crate::verify::Used;

/// The memory of one side, and how it is divided.
#[derive(Clone, Debug)]
pub struct Divided {
    /// Where the first element lies.
    pub buffer: *mut c_void,
    /// How many partitions.
    pub partitions: usize,
    /// How many elements each has.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
}

impl Divided {
    /// The bytes of data of one partition.
    fn part(&self) -> usize {
        self.count * self.datatype.size
    }

    /// The memory of one partition.
    fn uses(&self, number: usize, writes: bool) -> Used {
        let part = self.part();
        Used::range(self.buffer as usize, &self.datatype, number * part, part, writes)
    }

    /// The bytes of data of all.
    fn total(&self) -> usize {
        self.partitions * self.part()
    }
}

/// What a send tells its receiver before anything else.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Announcement {
    /// The tag of the first partition.
    tag: i32,
    /// How many there are in a round.
    partitions: usize,
    /// How many bytes each has.
    part: usize,
}

impl Announcement {
    const BYTES: usize = 20;

    fn to_data(self) -> Data {
        let mut data = Data::from_slice(&self.tag.to_le_bytes());
        data.extend_from_slice(&(self.partitions as u64).to_le_bytes());
        data.extend_from_slice(&(self.part as u64).to_le_bytes());
        data
    }

    fn from_data(data: &[u8]) -> Self {
        let number = |from: usize| u64::from_le_bytes(data[from..from + 8].try_into().expect("eight bytes"));
        Self {
            tag: i32::from_le_bytes(data[..4].try_into().expect("four bytes")),
            partitions: number(4) as usize,
            part: number(12) as usize,
        }
    }
}

/// A send of partitions.
#[derive(Debug)]
pub struct PartitionedSend {
    memory: Divided,
    destination: i32,
    comm: Rc<Communicator>,
    /// The tag of its first partition; the others follow.
    tag: i32,
    /// The tag of what tells that a round begins.
    round: i32,
    /// Which partitions are ready in this round.
    ready: RefCell<Vec<bool>>,
    /// How many are not.
    left: Cell<usize>,
}

/// A receive of partitions.
#[derive(Debug)]
pub struct PartitionedReceive {
    memory: Divided,
    source: i32,
    tag: i32,
    comm: Rc<Communicator>,
    /// The receive of the first message, until it is over.
    announcement: Cell<Option<ActivityId>>,
    /// What it said.
    known: Cell<Option<Announcement>>,
    /// The receive of what tells that this round has begun at the other side, until it is waited for.
    round: Cell<Option<ActivityId>>,
    /// Which messages of this round have come.
    arrived: RefCell<Vec<bool>>,
    /// How many have not.
    left: Cell<usize>,
}

/// The tag of messages that tell that a round begins, for a tag of the program: below wildcards, above those of partitions.
fn tag_of_rounds(tag: i32) -> i32 {
    -16 - (tag & (i32::MAX >> 2))
}

/// The number of such a message.
const ROUND: i32 = -1;

impl Rank {
    /// Whether the end of a round waits for its begin at the other side, as that of a standard send may. The partitions themselves wait
    /// for nobody then: once both sides have begun they come, whatever the receiver waits for first (4.2).
    fn rounds_meet(&self) -> bool {
        self.world.explored && self.eager_limit() == 0
    }

    /// A message of partitioned communication. What it is about is told apart by the tag on the envelope; the number in it is
    /// that of the partition.
    fn send_partition(
        &self,
        comm: &Communicator,
        to: i32,
        tag: i32,
        number: i32,
        data: Data,
        typed: Option<Typed>,
    ) -> Result<Posted> {
        let Some(process) = comm.destination(to)? else { return Ok(Posted::Done) };
        let bytes = data.len() as u64;
        let is_partition = self.world.explored && number != ROUND;
        let detached = is_partition || bytes < self.eager_limit();
        self.sleep(self.world.costs.immediate_send.of(bytes));
        self.traffic.sends(bytes);
        let source = comm.rank;
        let content = Content {
            process: self.process,
            source: source as i32,
            tag: number,
            waited: !detached,
            sent: self.stamp(typed),
            data,
        };
        let request = SendRequest {
            mailbox: mailbox(process),
            bytes: bytes as f64 + HEADER,
            rate: None,
            envelope: Envelope { context: Context::Partitioned.of(comm), source: source as u32, tag },
            payload: Some(self.for_others(|| Box::new(content))),
        };
        if detached {
            self.post(request);
            return Ok(Posted::Done);
        }
        match self.ask(Simcall::Send(request, Follow::Return)) {
            Answer::Activity(activity) => Ok(Posted::UnderWay(activity)),
            other => unreachable!("a send is not answered by {other:?}"),
        }
    }

    /// Makes a send of partitions, and tells its receiver.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn partitioned_send(
        &self,
        memory: Divided,
        destination: i32,
        tag: i32,
        comm: Rc<Communicator>,
    ) -> Result<PartitionedSend> {
        // Tags of programs are not negative, and wildcards are just below 0: those of partitions are far below.
        let number = self.channels.get();
        let next = number.wrapping_add(memory.partitions.clamp(1, i32::MAX as usize) as i32);
        self.channels.set(next & (i32::MAX >> 1));
        let own = i32::MIN + number;
        let told = Announcement { tag: own, partitions: memory.partitions, part: memory.part() };
        let typed = self.typed(memory.partitions * memory.count, &memory.datatype);
        self.send_partition(&comm, destination, tag, tag, told.to_data(), typed)?;
        let ready = RefCell::new(vec![false; memory.partitions]);
        let left = Cell::new(memory.partitions);
        Ok(PartitionedSend { memory, destination, comm, tag: own, round: tag_of_rounds(tag), ready, left })
    }

    /// Makes a receive of partitions.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn partitioned_receive(
        &self,
        memory: Divided,
        source: i32,
        tag: i32,
        comm: Rc<Communicator>,
    ) -> Result<PartitionedReceive> {
        let announcement = Cell::new(self.post_receive(&comm, Context::Partitioned, source, tag)?);
        Ok(PartitionedReceive {
            memory,
            source,
            tag,
            comm,
            announcement,
            known: Cell::new(None),
            round: Cell::new(None),
            arrived: RefCell::default(),
            left: Cell::new(0),
        })
    }
}

impl PartitionedSend {
    /// A round begins: no partition is ready.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn begin(&self, me: &Rank, request: &Pending) -> Result {
        self.ready.borrow_mut().fill(false);
        self.left.set(self.memory.partitions);
        let somebody = self.destination != abi::PROC_NULL;
        let met = if somebody && me.rounds_meet() {
            match me.send_partition(&self.comm, self.destination, self.round, ROUND, Data::new(), None)? {
                Posted::Done => None,
                Posted::UnderWay(activity) => Some(activity),
            }
        } else {
            None
        };
        request.begins(met, Work::Nothing, Status::empty());
        request.open.set(somebody && self.memory.partitions > 0);
        Ok(())
    }

    /// A partition is ready.
    ///
    /// # Errors
    /// If there is none of this number, it is ready already, or no round has begun.
    pub fn ready(&self, me: &Rank, request: &Pending, partition: i32) -> Result {
        if !request.active.get() {
            return fail(abi::ERR_REQUEST, "the request is not active: MPI_Start comes before MPI_Pready");
        }
        let number = number_of(partition, self.memory.partitions)?;
        if std::mem::replace(&mut self.ready.borrow_mut()[number], true) {
            return fail(abi::ERR_ARG, format!("partition {partition} is ready already"));
        }
        let (part, somebody) = (self.memory.part(), self.destination != abi::PROC_NULL);
        // It is the receiver's in the end.
        let data = me.for_others(|| {
            let (mut data, memory) = (Data::new(), &self.memory);
            if somebody {
                // SAFETY: the program says that so many elements lie there, and that this partition does not change any more.
                unsafe { memory.datatype.pack_range(memory.buffer, number * part, part, &mut data) };
            }
            data
        });
        match me.send_partition(&self.comm, self.destination, self.tag + partition, partition, data, None)? {
            Posted::Done => {}
            Posted::UnderWay(activity) => request.adds(activity),
        }
        if somebody {
            me.owns_more(request, || self.memory.uses(number, false));
        }
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            request.open.set(false);
        }
        Ok(())
    }
}

/// Checks the number of a partition.
fn number_of(partition: i32, partitions: usize) -> Result<usize> {
    match usize::try_from(partition) {
        Ok(number) if number < partitions => Ok(number),
        _ => fail(abi::ERR_ARG, format!("there is no partition {partition}: there are {partitions}")),
    }
}

impl PartitionedReceive {
    /// A round begins.
    ///
    /// # Errors
    /// If a receive cannot be posted.
    pub fn begin(self: &Rc<Self>, me: &Rank, request: &Pending) -> Result {
        if self.source == abi::PROC_NULL {
            request.begins([], Work::Nothing, Status::of_nobody());
            return Ok(());
        }
        self.arrived.borrow_mut().clear();
        if me.rounds_meet() {
            let round =
                me.post_receive(&self.comm, Context::Partitioned, self.source, tag_of_rounds(self.tag))?;
            self.round.set(round);
        }
        let first = match (self.known.get(), self.announcement.get()) {
            // Whether it has come makes no difference to the program: that is no choice to be explored.
            (None, Some(activity)) if me.world.explored => Some(activity),
            (None, Some(activity)) => {
                // It has come in most cases: then nothing is lost by waiting for it first.
                let test = Simcall::TestAny { activities: [activity].into_iter().collect() };
                match me.ask(test).into_over() {
                    Ok((_, result)) => {
                        self.announcement.set(None);
                        let message = result.map_err(crate::request::gone)?;
                        let content = Content::of(message.expect("a receive brings something"));
                        me.learns(&content);
                        self.learn(me, &content);
                        None
                    }
                    Err(_) => Some(activity),
                }
            }
            _ => None,
        };
        let (activities, round) = match first {
            Some(activity) => (vec![activity], Round { receive: Rc::clone(self), posted: false }),
            None => (self.post(me)?, Round { receive: Rc::clone(self), posted: true }),
        };
        request.begins(activities, Work::Several(Box::new(round)), Status::empty());
        (0..self.memory.partitions).for_each(|part| me.owns_more(request, || self.memory.uses(part, true)));
        request.settle(me);
        Ok(())
    }

    /// What the send has told.
    fn learn(&self, me: &Rank, content: &Content) {
        let told = Announcement::from_data(&content.data);
        self.known.set(Some(told));
        if told.partitions * told.part <= self.memory.total() {
            me.check_types_of(&self.memory.datatype, self.memory.partitions * self.memory.count, content);
        }
    }

    fn known(&self) -> Announcement {
        self.known.get().expect("the send has told how it is divided")
    }

    /// Posts the receives of a round.
    fn post(&self, me: &Rank) -> Result<Vec<ActivityId>> {
        let Announcement { tag, partitions, .. } = self.known();
        *self.arrived.borrow_mut() = vec![false; partitions];
        self.left.set(partitions);
        let mut posted = Vec::with_capacity(partitions);
        for partition in 0..partitions as i32 {
            posted.extend(me.post_receive(&self.comm, Context::Partitioned, self.source, tag + partition)?);
        }
        posted.extend(self.round.take());
        Ok(posted)
    }

    /// A partition of the sender has come, or word that its round has begun.
    fn put(&self, content: &Content) {
        if content.tag == ROUND {
            return;
        }
        let number = content.tag as usize;
        let from = number * self.known().part;
        let room = self.memory.total().saturating_sub(from).min(content.data.len());
        // SAFETY: the program gave room for so many elements, until the receive is complete.
        unsafe { self.memory.datatype.unpack_from(&content.data[..room], from, self.memory.buffer) };
        self.arrived.borrow_mut()[number] = true;
        self.left.set(self.left.get() - 1);
    }

    /// Whether all of a partition of the receiver is there: whatever the sender's partitions have of it.
    fn has(&self, number: usize) -> bool {
        self.is_posted() && self.missing(number).is_none()
    }

    /// Whether this round waits for partitions, and not for what tells of them.
    fn is_posted(&self) -> bool {
        self.known.get().is_some_and(|told| self.arrived.borrow().len() == told.partitions)
    }

    /// The first partition of the sender that a partition of the receiver lacks.
    fn missing(&self, number: usize) -> Option<usize> {
        let (told, part) = (self.known(), self.memory.part());
        let (from, to) = (number * part, (number + 1) * part);
        let mut sent = if part == 0 || told.part == 0 || from >= told.part * told.partitions {
            0..told.partitions
        } else {
            from / told.part..to.div_ceil(told.part).min(told.partitions)
        };
        let arrived = self.arrived.borrow();
        sent.find(|sent| !arrived[*sent])
    }

    /// Tests what a partition lacks, and nothing else: each answer is one more way in which an execution goes on.
    fn tests(&self, me: &Rank, request: &Pending, number: usize) {
        loop {
            let lacks = if self.is_posted() { self.missing(number) } else { Some(0) };
            match lacks {
                Some(message) if me.test_message(request, message as u32) => {}
                _ => return,
            }
        }
    }

    /// Looks whether a partition has come, at the cost of a test if it has not.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn has_arrived(&self, me: &Rank, request: &Pending, partition: i32) -> Result<bool> {
        let number = number_of(partition, self.memory.partitions)?;
        if !request.active.get() || self.source == abi::PROC_NULL {
            return Ok(true);
        }
        if self.has(number) {
            me.owns_less(request, || self.memory.uses(number, true));
            return Ok(true);
        }
        let polls = &me.world.polls.test;
        me.sleep(f64::from(polls.get()) * me.world.costs.test);
        if me.world.explored {
            self.tests(me, request, number);
        } else {
            me.test(request);
        }
        let found = self.has(number);
        if found {
            me.owns_less(request, || self.memory.uses(number, true));
        }
        me.has_polled(polls, found);
        Ok(found)
    }
}

/// A round of a receive.
#[derive(Debug)]
struct Round {
    receive: Rc<PartitionedReceive>,
    /// Whether it waits for partitions, and not for what tells of them.
    posted: bool,
}

impl Several for Round {
    fn arrived(&mut self, me: &Rank, _number: u32, message: Option<Box<Content>>) -> Result {
        let content = message.expect("a receive brings something");
        if self.posted {
            self.receive.put(&content);
        } else {
            self.receive.announcement.set(None);
            self.receive.learn(me, &content);
        }
        Ok(())
    }

    fn finish(&mut self, me: &Rank) -> Result<Then> {
        if !self.posted {
            self.posted = true;
            return self.receive.post(me).map(Then::More);
        }
        let (told, room) = (self.receive.known(), self.receive.memory.total());
        let sent = told.partitions * told.part;
        if sent > room {
            return fail(
                abi::ERR_TRUNCATE,
                format!(
                    "{sent} bytes in {} partitions from rank {} with tag {} do not fit into a receive of {room} bytes",
                    told.partitions, self.receive.source, self.receive.tag
                ),
            );
        }
        Ok(Then::Complete)
    }

    fn status(&self) -> Status {
        let told = self.receive.known();
        Status::new(self.receive.source, self.receive.tag, (told.partitions * told.part) as i64)
    }
}

const _: () = assert!(Announcement::BYTES == 4 + 8 + 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_travel_in_messages() {
        let told = Announcement { tag: -7, partitions: 1 << 33, part: 12 };
        assert_eq!(told.to_data().len(), Announcement::BYTES);
        assert_eq!(Announcement::from_data(&told.to_data()), told);
    }
}
