//! What a process does becomes lines: what it asks of the kernel is written down, and which message or request it was about.
//!
//! All of MPI is made of a few requests to the kernel, so this is the one place that sees everything. Collectives that the format
//! knows are one line, and their messages are not written; all others are written as the messages that they are made of. A message
//! that is received from anybody is written with the one that it came from. Polling is written as the time it took.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Follow, Payload, SendRequest, Simcall};

use super::action::{Action, BYTES, Verb};
use crate::abi::Procedure;
use crate::communicator::context;
use crate::message::Content;
use crate::p2p::{Context, HEADER};
use crate::rank::Rank;

/// What a process has done so far.
#[derive(Debug, Default)]
pub struct Scribe {
    lines: RefCell<Vec<Option<Action>>>,
    /// How many calls are under way of which nothing is to be written.
    hidden: Cell<u32>,
    /// Requests that are under way: their lines, and the contexts of receives.
    open: RefCell<Vec<(ActivityId, usize, u32)>>,
    /// Calls that the format cannot tell.
    left_out: RefCell<BTreeSet<Procedure>>,
}

/// While it lives, nothing is written.
pub(crate) struct Hidden<'a>(&'a Scribe);

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        self.0.hidden.set(self.0.hidden.get() - 1);
    }
}

/// What is to be noted of the answer.
enum Asked {
    Nothing,
    /// A request, by its line.
    Begins(usize, u32),
    /// A receive that blocks, by its line.
    Receives(usize, u32),
    /// One of these is over.
    Waits(Vec<ActivityId>),
    /// It is taken back.
    Withdraws(ActivityId),
}

/// The tag of a message on the communicator of all: that of the program there, and one that follows from both for others.
fn tag_of(context: u32, tag: i32) -> f64 {
    if context == context::WORLD + Context::User as u32 {
        return f64::from(tag);
    }
    let mixed = (u64::from(context) << 32 | u64::from(tag as u32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f64::from((mixed >> 34) as u32 | 1 << 30)
}

impl Scribe {
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.get() > 0
    }

    /// Nothing is written for a while.
    pub(crate) fn hide(&self) -> Hidden<'_> {
        self.hidden.set(self.hidden.get() + 1);
        Hidden(self)
    }

    /// Writes a line, unless it is part of another; gives its place.
    pub(crate) fn write(&self, action: Action) -> usize {
        let mut lines = self.lines.borrow_mut();
        // One computation after another is one.
        if let (Verb::Compute | Verb::Sleep, Some(Some(last))) = (action.verb, lines.last_mut())
            && last.verb == action.verb
        {
            last.numbers[0] += action.numbers[0];
            return lines.len() - 1;
        }
        lines.push(Some(action));
        lines.len() - 1
    }

    /// The lines, and the calls that are missing in them.
    pub fn taken(&self) -> (Vec<Action>, Vec<&'static str>) {
        let lines = self.lines.borrow().iter().flatten().cloned().collect();
        (lines, self.left_out.borrow().iter().map(|procedure| procedure.name()).collect())
    }

    fn leaves_out(&self, me: &Rank) {
        if let Some(procedure) = me.procedure.get() {
            self.left_out.borrow_mut().insert(procedure);
        }
    }

    /// Something is over: what it brought says where it came from.
    fn is_over(&self, me: &Rank, activity: ActivityId, message: Option<&Payload>) {
        let mut open = self.open.borrow_mut();
        let Some(place) = open.iter().position(|(other, ..)| *other == activity) else { return };
        let (_, line, context) = open.remove(place);
        drop(open);
        self.came(line, context, message);
        let numbers = match &self.lines.borrow()[line] {
            Some(begun) if begun.verb == Verb::Irecv => {
                [begun.numbers[0], f64::from(me.process), begun.numbers[1]]
            }
            Some(begun) => [f64::from(me.process), begun.numbers[0], begun.numbers[1]],
            None => return,
        };
        self.write(Action::new(Verb::Wait, numbers));
    }

    /// A receive has got its message.
    fn came(&self, line: usize, context: u32, message: Option<&Payload>) {
        let content = message.and_then(|message| message.downcast_ref::<Content>());
        if let (Some(content), Some(action)) = (content, &mut self.lines.borrow_mut()[line]) {
            action.numbers[0] = f64::from(content.process);
            action.numbers[1] = tag_of(context, content.tag);
            action.numbers[2] = content.data.len() as f64;
        }
    }

    /// The line of a send.
    fn send(&self, me: &Rank, request: &SendRequest, blocks: bool) -> usize {
        let bytes = request.bytes - HEADER;
        let is_short = (bytes as u64) < me.world.costs.detached_below;
        let content = request.payload.as_ref().and_then(|payload| payload.downcast_ref::<Content>());
        let detached = content.is_some_and(|content| !content.waited);
        let verb = match (detached, is_short, blocks) {
            (true, false, _) => Verb::Bsend,
            (false, true, true) => Verb::Ssend,
            (false, true, false) => Verb::Issend,
            (_, _, true) => Verb::Send,
            (_, _, false) => Verb::Isend,
        };
        let tag = tag_of(request.envelope.context, request.envelope.tag);
        self.write(Action::new(verb, [f64::from(request.mailbox.0), tag, bytes, BYTES]))
    }

    fn asks(&self, me: &Rank, simcall: &Simcall) -> Asked {
        if self.is_hidden() {
            return Asked::Nothing;
        }
        match simcall {
            Simcall::Send(request, follow) => {
                let blocks = matches!(follow, Follow::Wait(_)) || is_blocking_send(me);
                let line = self.send(me, request, blocks);
                let waited = matches!(follow, Follow::Return)
                    && self.lines.borrow()[line].as_ref().is_some_and(|action| action.verb != Verb::Bsend);
                if waited { Asked::Begins(line, 0) } else { Asked::Nothing }
            }
            Simcall::Recv(request, follow) => {
                let context = request.criteria.context;
                let blocks = matches!(follow, Follow::Wait(_));
                let verb = if blocks { Verb::Recv } else { Verb::Irecv };
                let line = self.write(Action::new(verb, [-1.0, -1.0, 0.0, BYTES]));
                if blocks { Asked::Receives(line, context) } else { Asked::Begins(line, context) }
            }
            Simcall::WaitAny { activities, .. } | Simcall::TestAny { activities } => {
                Asked::Waits(activities.iter().copied().collect())
            }
            Simcall::Execute(request, _) => {
                self.write(Action::new(Verb::Compute, [request.flops]));
                Asked::Nothing
            }
            Simcall::Withdraw(activity) | Simcall::Cancel(activity) => Asked::Withdraws(*activity),
            Simcall::Access(..) | Simcall::Flow(..) | Simcall::Lock(..) | Simcall::WaitCondition(..) => {
                self.leaves_out(me);
                Asked::Nothing
            }
            _ => Asked::Nothing,
        }
    }

    fn answered(&self, me: &Rank, asked: Asked, answer: &Answer) {
        match (asked, answer) {
            (Asked::Begins(line, context), Answer::Activity(activity)) => {
                self.open.borrow_mut().push((*activity, line, context));
            }
            (Asked::Receives(line, context), Answer::Completed { message, .. }) => {
                self.came(line, context, message.as_ref());
            }
            (Asked::Waits(activities), Answer::Completed { index, message }) => {
                self.is_over(me, activities[*index as usize], message.as_ref());
            }
            (Asked::Withdraws(activity), Answer::Flag(true) | Answer::Ready) => {
                let mut open = self.open.borrow_mut();
                if let Some(place) = open.iter().position(|(other, ..)| *other == activity) {
                    let (_, line, _) = open.remove(place);
                    self.lines.borrow_mut()[line] = None;
                }
            }
            _ => {}
        }
    }
}

/// Whether the program calls what waits for its message to be on its way.
fn is_blocking_send(me: &Rank) -> bool {
    matches!(
        me.procedure.get(),
        Some(Procedure::Send | Procedure::Rsend | Procedure::Ssend | Procedure::Bsend)
    )
}

impl Rank {
    /// Asks the kernel, and writes down what.
    pub(crate) fn ask_and_write(&self, simcall: Simcall, ask: impl FnOnce(Simcall) -> Answer) -> Answer {
        let asked = self.scribe.asks(self, &simcall);
        let answer = ask(simcall);
        self.scribe.answered(self, asked, &answer);
        answer
    }

    /// Writes down a message that nobody waits for.
    pub(crate) fn write_post(&self, request: &SendRequest) {
        if !self.scribe.is_hidden() {
            self.scribe.send(self, request, is_blocking_send(self));
        }
    }

    /// Lets time pass that no message explains: it is part of a trace.
    pub fn spend(&self, seconds: f64) {
        if self.world.wanted.actions && seconds > 0.0 && !self.scribe.is_hidden() {
            self.scribe.write(Action::new(Verb::Sleep, [seconds]));
        }
        self.sleep(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_other_communicators_are_their_own() {
        assert_eq!(tag_of(0, 7), 7.0);
        assert_ne!(tag_of(1, 7), tag_of(2, 7));
        assert_ne!(tag_of(1, 7), tag_of(1, 8));
        for tag in [tag_of(1, -1), tag_of(u32::MAX, i32::MAX)] {
            assert!((f64::from(1 << 30)..f64::from(i32::MAX)).contains(&tag), "{tag}");
        }
    }

    #[test]
    fn one_computation_after_another_is_one() {
        let scribe = Scribe::default();
        scribe.write(Action::new(Verb::Compute, [1.0]));
        scribe.write(Action::new(Verb::Compute, [2.0]));
        scribe.write(Action::new(Verb::Barrier, []));
        scribe.write(Action::new(Verb::Compute, [4.0]));
        let (lines, left_out) = scribe.taken();
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["compute 3", "barrier", "compute 4"]);
        assert!(left_out.is_empty());
    }
}
