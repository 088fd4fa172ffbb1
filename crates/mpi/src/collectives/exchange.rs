//! Collectives whose messages are all posted at once: those that do not block, those between two groups, and those among
//! neighbours.
//!
//! Nothing needs to be done between the call and its completion, so that it is complete when all its messages are over, whatever
//! the process does in between. A barrier is such an exchange, too: each process hears from each other one. That takes more
//! messages than a tree, but nobody has to hand on anything while the program computes, or waits for something else.

use std::ops::Range;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::Follow;

use super::buffers::{Blocks, Piece};
use super::call::{Call, Root, What, fits};
use super::folding::{Folding, Scratch};
use super::scan::Own;
use crate::abi::Request;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::message::{Content, Data};
use crate::p2p::{Context, Manner, Mode, Posted};
use crate::rank::Rank;
use crate::request::{Begin, Pending, Persistent, Several, Then, Work};
use crate::spare;
use crate::verify::Used;

/// Tags of collectives that do not block begin here, one for each.
const FIRST_TAG: i32 = 1 << 20;

/// How many tags a call may use: neighbours in a grid need two for each dimension.
pub const LANES: i32 = 64;

/// A message that is posted.
#[derive(Debug)]
enum Post {
    Send { to: i32, data: Option<Piece>, lane: i32 },
    Receive { from: i32, target: Target, lane: i32 },
}

/// Where a message goes.
#[derive(Clone, Debug)]
enum Target {
    /// Nowhere: it is empty, or was sent.
    Nowhere,
    /// Into memory of the program.
    Place(Piece),
    /// It is kept, to be reduced in the end.
    Kept(usize),
}

/// Messages, and what is made of them.
#[derive(Debug)]
pub struct Exchange {
    comm: Rc<Communicator>,
    tag: i32,
    posts: Vec<Post>,
    mode: Mode,
    fold: Option<Fold>,
    /// What went wrong before anything was sent; the others do not know.
    wrong: Result,
}

/// What comes of a reduction.
#[derive(Debug)]
struct Fold {
    folding: Folding,
    /// What each gave, in order.
    parts: Vec<Part>,
    /// Which bytes of it are of interest, if not all.
    share: Option<Range<usize>>,
    into: Piece,
}

/// What one gave to a reduction.
#[derive(Debug, Default)]
enum Part {
    /// It has not come.
    #[default]
    Missing,
    /// It is the process itself.
    Own(Scratch),
    /// It sent this.
    Sent(Box<Content>),
}

impl Fold {
    fn data<'a>(&self, part: &'a Part) -> &'a [u8] {
        match (part, &self.share) {
            (Part::Missing, _) => &[],
            (Part::Own(data), _) => data,
            (Part::Sent(content), None) => &content.data,
            (Part::Sent(content), Some(share)) => {
                let end = content.data.len();
                &content.data[share.start.min(end)..share.end.min(end)]
            }
        }
    }

    fn finish(mut self, me: &Rank) -> Result {
        let result = self.result(me);
        self.parts.into_iter().for_each(|part| part.release(me));
        self.into.write(&result?);
        Ok(())
    }

    fn result(&mut self, me: &Rank) -> Result<Scratch> {
        let last = self.parts.last_mut().map(std::mem::take).unwrap_or_default();
        let mut result = match last {
            Part::Own(data) => data,
            part => {
                let copy = Scratch::copy(self.data(&part));
                part.release(me);
                copy
            }
        };
        for part in self.parts.iter().rev().skip(1) {
            let data = self.data(part);
            self.folding.from_left(me, &data[..data.len().min(result.len())], &mut result)?;
        }
        Ok(result)
    }
}

impl Part {
    /// Its memory is kept for another message.
    fn release(self, me: &Rank) {
        if let Part::Sent(content) = self {
            me.for_others(|| spare::keep(content));
        }
    }
}

/// An exchange under way.
#[derive(Debug)]
struct UnderWay {
    /// What becomes of each that was not complete at once.
    targets: Vec<Target>,
    /// All, in order: which of these, if any.
    messages: Vec<Option<u32>>,
    fold: Option<Fold>,
    wrong: Result,
}

impl Exchange {
    /// What a collective sends and receives. What a process gives to itself is copied at once.
    pub fn new(me: &Rank, call: &Call, tag: i32) -> Self {
        let comm = Rc::clone(&call.comm);
        // Who hears from all waits for all: where executions are explored, its sends need not wait for the same once more.
        let hears_from_all = matches!(
            call.what,
            What::Barrier
                | What::Allgather { .. }
                | What::Alltoall { .. }
                | What::Allreduce { .. }
                | What::ReduceScatter { .. }
        );
        let mode = if me.world.explored && hears_from_all { Mode::Detached } else { Mode::Standard };
        let mut exchange = Self { comm, tag, posts: Vec::new(), mode, fold: None, wrong: Ok(()) };
        exchange.plan(me, &call.what);
        exchange
    }

    fn send(&mut self, to: usize, data: &Piece) {
        self.posts.push(Post::Send { to: to as i32, data: Some(data.clone()), lane: 0 });
    }

    fn receive(&mut self, from: usize, target: Target) {
        self.posts.push(Post::Receive { from: from as i32, target, lane: 0 });
    }

    /// What a process gives to itself.
    fn copy(&mut self, from: &Piece, to: &Piece) {
        let rank = self.comm.rank;
        if let Err(error) = fits(from, to, rank) {
            self.wrong = Err(error);
        }
        to.copy_from(from);
    }

    /// A reduction of what so many give, one of which is the process itself, perhaps.
    fn folds(&mut self, folding: &Folding, parts: usize, own: Option<(usize, Scratch)>, into: &Piece) {
        let mut parts: Vec<Part> = (0..parts).map(|_| Part::Missing).collect();
        if let Some((place, data)) = own {
            parts[place] = Part::Own(data);
        }
        self.fold = Some(Fold { folding: folding.clone(), parts, share: None, into: into.clone() });
    }

    fn plan(&mut self, me: &Rank, what: &What) {
        let comm = Rc::clone(&self.comm);
        let (rank, inter, number) = (comm.rank, comm.is_inter(), comm.peers().size());
        let others: Vec<usize> = (0..number).filter(|other| inter || *other != rank).collect();
        let is_root = |root: &Root| matches!(root, Root::Here) || (!inter && *root == Root::Rank(rank));
        match what {
            What::Barrier => {
                let nothing = me.datatype(crate::abi::BYTE).map(|byte| Piece::nothing(&byte)).ok();
                for other in others {
                    self.posts.push(Post::Send { to: other as i32, data: nothing.clone(), lane: 0 });
                    self.receive(other, Target::Nowhere);
                }
            }
            What::Bcast { data, root } if is_root(root) => {
                others.iter().for_each(|other| self.send(*other, data))
            }
            What::Bcast { data, root: Root::Rank(root) } => self.receive(*root, Target::Place(data.clone())),
            What::Gather { mine, all: Some(all), root, .. } if is_root(root) => {
                if let (Some(mine), false) = (mine, inter) {
                    self.copy(mine, &all.block(rank));
                }
                others.iter().for_each(|other| self.receive(*other, Target::Place(all.block(*other))));
            }
            What::Gather { mine: Some(mine), root: Root::Rank(root), .. } => self.send(*root, mine),
            What::Scatter { all: Some(all), mine, root, .. } if is_root(root) => {
                if let (Some(mine), false) = (mine, inter) {
                    self.copy(&all.block(rank), mine);
                }
                others.iter().for_each(|other| self.send(*other, &all.block(*other)));
            }
            What::Scatter { mine: Some(mine), root: Root::Rank(root), .. } => {
                self.receive(*root, Target::Place(mine.clone()));
            }
            What::Allgather { mine, all } => {
                if let (Some(mine), false) = (mine, inter) {
                    self.copy(mine, &all.block(rank));
                }
                for other in others {
                    self.send(other, &mine.clone().unwrap_or_else(|| all.block(rank)));
                    self.receive(other, Target::Place(all.block(other)));
                }
            }
            What::Alltoall { out, into } => self.plan_alltoall(out.as_ref(), into, &others, inter),
            What::Reduce { input, output: Some(output), folding, root } if is_root(root) => {
                let own = Scratch::copy(&input.as_ref().unwrap_or(output).read());
                self.folds(folding, number, (!inter).then_some((rank, own)), output);
                others.iter().for_each(|other| self.receive(*other, Target::Kept(*other)));
            }
            What::Reduce { input: Some(input), root: Root::Rank(root), .. } => self.send(*root, input),
            What::Allreduce { input, output, folding } => {
                let input = input.as_ref().unwrap_or(output);
                let own = (!inter).then(|| (rank, Scratch::copy(&input.read())));
                self.folds(folding, number, own, output);
                for other in others {
                    self.send(other, input);
                    self.receive(other, Target::Kept(other));
                }
            }
            What::ReduceScatter { input, output, counts, folding, block } => {
                let part = |other: usize| input.part(counts[..other].iter().sum(), counts[other]);
                let own = (!inter).then(|| (rank, Scratch::copy(&part(rank).read())));
                self.folds(folding, number, own, output);
                for other in others {
                    // How the other group shares its result is not known here, but that its blocks are equal may be.
                    let data = match (inter, block) {
                        (false, _) => part(other),
                        (true, true) => input.part(other * (input.count / number), input.count / number),
                        (true, false) => input.clone(),
                    };
                    self.send(other, &data);
                    self.receive(other, Target::Kept(other));
                }
                if inter && !block {
                    let begin: usize = counts[..rank].iter().sum();
                    let share = begin * folding.element..(begin + counts[rank]) * folding.element;
                    self.fold.iter_mut().for_each(|fold| fold.share = Some(share.clone()));
                }
            }
            What::Scan { input, output, folding, own } => {
                let input = input.as_ref().unwrap_or(output);
                let end = rank + usize::from(*own == Own::In);
                if end > 0 {
                    let given = (*own == Own::In).then(|| (rank, Scratch::copy(&input.read())));
                    self.folds(folding, end, given, output);
                }
                (0..rank).for_each(|other| self.receive(other, Target::Kept(other)));
                (rank + 1..number).for_each(|other| self.send(other, input));
            }
            What::Neighbors { out, into } => {
                for (from, place, lane) in into {
                    self.posts.push(Post::Receive {
                        from: *from,
                        target: Target::Place(place.clone()),
                        lane: *lane,
                    });
                }
                for (to, data, lane) in out {
                    self.posts.push(Post::Send { to: *to, data: Some(data.clone()), lane: *lane });
                }
            }
            What::Bcast { .. } | What::Gather { .. } | What::Scatter { .. } | What::Reduce { .. } => {}
        }
    }

    fn plan_alltoall(&mut self, out: Option<&Blocks>, into: &Blocks, others: &[usize], inter: bool) {
        let rank = self.comm.rank;
        if let (Some(out), false) = (out, inter) {
            self.copy(&out.block(rank), &into.block(rank));
        }
        // Data are taken when they are sent, so what comes in their place later does no harm.
        let out = out.unwrap_or(into);
        let equal = matches!(into, Blocks::Equal { .. }) && !inter;
        let number = others.len() + 1;
        let from = |index: usize| if equal { (rank + 1 + index) % number } else { others[index] };
        let to = |index: usize| if equal { (rank + number - 1 - index) % number } else { others[index] };
        for index in 0..others.len() {
            self.receive(from(index), Target::Place(into.block(from(index))));
        }
        for index in 0..others.len() {
            self.send(to(index), &out.block(to(index)));
        }
    }

    /// Posts all of it.
    ///
    /// # Errors
    /// If there is no such rank.
    fn post(self, me: &Rank) -> Result<(Vec<ActivityId>, UnderWay)> {
        let Self { comm, tag, posts, mode, fold, wrong } = self;
        let (mut activities, mut targets, mut messages) = (Vec::new(), Vec::new(), Vec::new());
        for post in posts {
            match post {
                Post::Send { to, data, lane } => {
                    let packed = |data: Piece| data.packed_into(spare::data(data.bytes()));
                    let data = me.for_others(|| data.map_or_else(Data::new, packed));
                    let (context, manner) = (Context::Collective, Manner::Immediate);
                    let follow = Follow::Return;
                    let posted = me.send_data(&comm, context, to, tag + lane, data, mode, manner, follow)?;
                    match posted {
                        Posted::UnderWay(activity) => {
                            messages.push(Some(activities.len() as u32));
                            activities.push(activity);
                            targets.push(Target::Nowhere);
                        }
                        Posted::Done => messages.push(None),
                    }
                }
                Post::Receive { from, target, lane } => {
                    if let Some(activity) = me.post_receive(&comm, Context::Collective, from, tag + lane)? {
                        messages.push(Some(activities.len() as u32));
                        activities.push(activity);
                        targets.push(target);
                    }
                }
            }
        }
        Ok((activities, UnderWay { targets, messages, fold, wrong }))
    }

    /// Begins it.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn begin(self, me: &Rank) -> Result<Pending> {
        let comm = Rc::clone(&self.comm);
        let (activities, under_way) = self.post(me)?;
        let pending = Pending::new(activities, Work::Several(Box::new(under_way)), Some(comm));
        pending.settle(me);
        Ok(pending)
    }

    /// Begins it, and waits until it is complete.
    ///
    /// # Errors
    /// If a message does not fit, or the operator does not know the type.
    pub fn run(self, me: &Rank) -> Result {
        let pending = self.begin(me)?;
        me.wait_for(&pending);
        let outcome = pending.outcome.borrow().clone();
        outcome.map(drop).map_err(|wrong| wrong.0)
    }
}

impl Several for UnderWay {
    fn arrived(&mut self, me: &Rank, number: u32, message: Option<Box<Content>>) -> Result {
        let Some(content) = message else { return Ok(()) };
        let received = match &self.targets[number as usize] {
            Target::Nowhere => Ok(()),
            Target::Place(piece) => piece.receive(&content),
            Target::Kept(place) => {
                let fold = self.fold.as_mut().expect("what is kept is reduced");
                fold.parts[*place] = Part::Sent(content);
                return Ok(());
            }
        };
        me.for_others(|| spare::keep(content));
        received
    }

    fn finish(&mut self, me: &Rank) -> Result<Then> {
        if let Some(fold) = self.fold.take() {
            fold.finish(me)?;
        }
        self.wrong.clone()?;
        Ok(Then::Complete)
    }

    fn messages(&self) -> Vec<Option<u32>> {
        self.messages.clone()
    }
}

impl Call {
    /// A tag of its own, for all of its messages: the same for all who take part, since they begin such calls in the same order.
    pub fn next_tag(&self) -> i32 {
        let sequence = self.comm.sequence.get();
        self.comm.sequence.set(sequence.wrapping_add(1));
        // Neighbours need some tags for one call.
        FIRST_TAG + (sequence % (1 << 20)) as i32 * LANES
    }

    /// Begins it, and writes the request where the program wants it.
    ///
    /// # Errors
    /// If there is no such rank.
    pub(crate) fn start(&self, me: &Rank, request: *mut Request) -> Result {
        me.check_collective(self);
        let pending = Exchange::new(me, self, self.next_tag()).begin(me)?;
        me.owns(&pending, || self.uses());
        // SAFETY: the program wants the request there.
        unsafe { request.write(me.keep(pending)) };
        Ok(())
    }

    /// Makes a request that begins it again and again.
    ///
    /// # Errors
    /// None.
    pub(crate) fn prepare(self, me: &Rank, request: *mut Request) -> Result {
        me.check_collective(&self);
        let (comm, tag) = (Rc::clone(&self.comm), self.next_tag());
        let owned = me.owns_until_its_end(|| self.told());
        let begin = Box::new(Prepared { call: self, tag, owned });
        let pending = Pending::inactive(Persistent::Other(begin), Some(comm));
        // SAFETY: the program wants the request there.
        unsafe { request.write(me.keep(pending)) };
        Ok(())
    }
}

/// A collective that is begun again and again, each time with the same tag: requests may be started in any order.
#[derive(Debug)]
struct Prepared {
    call: Call,
    tag: i32,
    /// The number of what it owns until it is freed.
    owned: u64,
}

impl Begin for Prepared {
    fn begin(&self, me: &Rank) -> Result<(Vec<ActivityId>, Work)> {
        let (activities, under_way) = Exchange::new(me, &self.call, self.tag).post(me)?;
        Ok((activities, Work::Several(Box::new(under_way))))
    }

    fn uses(&self) -> Vec<Used> {
        self.call.uses()
    }

    fn is_freed(&self, me: &Rank) {
        me.owns_until_now(self.owned);
    }
}
