//! How the actors stand between two steps: who waits for what, and who could go on.

use serde::Serialize;
use simurgh_kernel::context::Place;
use simurgh_kernel::ids::{ActorId, BarrierId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::operation::{Operation, Side, Token};

use super::words::Teller;
use simurgh_explore::Step;
use simurgh_explore::actors::{Actors, Next};
use simurgh_explore::transition::{Awaited, Kind};
use simurgh_search::System;

/// How an actor stands.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// It can go on.
    Ready,
    /// It waits, and nothing lets it go on now.
    Waits,
    /// It has failed.
    Failed,
    /// It has ended.
    Ended,
}

/// What an actor is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// Who.
    pub actor: u32,
    /// How it stands.
    pub how: How,
    /// What it is about, in words that go on from the name of the actor.
    pub does: String,
    /// The line of the program.
    #[serde(serialize_with = "super::place", skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why it waits, as far as it can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Teller<'_> {
    /// How all actors stand.
    pub(super) fn standing<F: FnMut(&mut Kernel)>(&self, system: &mut Actors<F>) -> Vec<Standing> {
        let mut enabled = Vec::new();
        system.enabled(&mut enabled);
        let kernel = system.kernel();
        let count = kernel.actor_count() as u32;
        let last = enabled.is_empty() && (0..count).filter(|&n| kernel.is_alive(ActorId(n))).count() == 1;
        (0..count)
            .map(|number| {
                let actor = ActorId(number);
                let own = || enabled.iter().filter(|transition| transition.step.actor == number);
                let possible = own().next().is_some();
                // Whoever can only stop to wait does not get what it waits for.
                let comes = own().any(|transition| transition.step.choice != Step::OTHERWISE);
                let (how, does, why) = if system.has_failed(number) {
                    (How::Failed, "has failed".to_owned(), None)
                } else if !system.kernel().is_alive(actor) {
                    (How::Ended, "has ended".to_owned(), None)
                } else if let Some(label) = system.label(actor) {
                    let how = if possible { How::Ready } else { How::Waits };
                    let verb = if possible { "is" } else { "waits" };
                    (how, format!("{verb} in {}", label.text), None)
                } else {
                    let (does, why) = self.about(system, actor, comes, last);
                    (if possible { How::Ready } else { How::Waits }, does, why)
                };
                let place = system.place(actor).filter(|_| matches!(how, How::Ready | How::Waits));
                Standing { actor: number, how, does, place, why }
            })
            .collect()
    }

    /// What a living actor is about, and why it waits. `last`: it is the only one, and cannot go on.
    fn about<F: FnMut(&mut Kernel)>(
        &self,
        system: &Actors<F>,
        actor: ActorId,
        possible: bool,
        last: bool,
    ) -> (String, Option<String>) {
        let kernel = system.kernel();
        if kernel.is_suspended(actor) {
            return ("is halted".to_owned(), None);
        }
        if system.gives_back(actor) {
            return ("gives back what it has locked".to_owned(), None);
        }
        match system.next(actor) {
            Next::Nothing => ("has nothing to do".to_owned(), None),
            Next::Queued(wait) => self.queues(kernel, wait, possible),
            Next::Ask(simcall) => match simcall.operation() {
                Operation::Wait { set, .. } => {
                    self.awaits(kernel, &system.awaited_set(set), set.len(), possible, last)
                }
                Operation::Join { target, .. } => {
                    let does = if possible { "sees the end of" } else { "waits for the end of" };
                    (format!("{does} {}", self.actor(target.0)), None)
                }
                operation => (self.about_to(&operation), None),
            },
        }
    }

    /// What an actor that can always go on will do.
    fn about_to(&self, operation: &Operation<'_>) -> String {
        let what = match operation {
            Operation::Post { mailbox, side: Side::Send(_), .. } => {
                format!("send to {}", self.mailbox(mailbox.0))
            }
            Operation::Post { mailbox, .. } => format!("post a receive at {}", self.mailbox(mailbox.0)),
            Operation::Probe(mailbox, _) => format!("look into {}", self.mailbox(mailbox.0)),
            Operation::Choose(n) => format!("choose one of {n}"),
            Operation::Spawn(request) => format!("create {}", request.name),
            Operation::Take(token, _) => format!("ask for {token:#}"),
            Operation::Give(token) => format!("give {}", token.given()),
            Operation::WaitCondition { condition, .. } => format!("wait for condition {condition}"),
            Operation::Notify(condition, _) => format!("notify condition {condition}"),
            Operation::Arrive { barrier, .. } => format!("come to barrier {barrier}"),
            Operation::Interfere(deed, Some(other)) => format!("{deed} {}", self.actor(other.0)),
            Operation::Expose(_, value) => format!("show {value:?}"),
            Operation::Exit => "end".to_owned(),
            _ => return "can go on".to_owned(),
        };
        format!("is about to {what}")
    }

    /// What an actor waits for in a queue, and why; or what it has of it.
    fn queues(&self, kernel: &Kernel, wait: &Kind, possible: bool) -> (String, Option<String>) {
        match *wait {
            Kind::TakeWait(token, _) if possible => (format!("is about to have {token:#}"), None),
            Kind::ConditionWait(_, lock, _) if possible => (format!("is about to have {lock} again"), None),
            Kind::BarrierWait(barrier, _) if possible => {
                (format!("is about to pass barrier {barrier}"), None)
            }
            Kind::TakeWait(token, _) => {
                let why = match token {
                    Token::Mutex(lock) => {
                        kernel.lock_owner(lock).map(|owner| format!("which {} has", self.actor(owner.0)))
                    }
                    Token::Semaphore(_) => Some("of which none is left".to_owned()),
                };
                (format!("waits for {token}"), why)
            }
            Kind::ConditionWait(condition, ..) => (format!("waits for condition {condition}"), None),
            Kind::BarrierWait(barrier, _) => {
                let (come, size) = kernel.barrier_state(BarrierId(barrier));
                let why = format!("where {come} of {size} have come");
                (format!("waits at barrier {barrier}"), Some(why))
            }
            _ if possible => ("is about to go on".to_owned(), None),
            _ => ("is halted".to_owned(), None),
        }
    }

    fn awaits(
        &self,
        kernel: &Kernel,
        awaited: &[Awaited],
        count: usize,
        possible: bool,
        last: bool,
    ) -> (String, Option<String>) {
        let over = awaited.iter().find(|one| one.partner.is_some() || one.lost).filter(|_| possible);
        if let Some(over) = over {
            let does = match (over.side, over.partner.and_then(|partner| self.message(partner))) {
                (Side::Recv(_), Some(message)) => format!("is about to receive m{}", message.number),
                _ => format!("is about to see that {} is over", self.own(over)),
            };
            return (does, None);
        }
        let one = |one: &Awaited| match one.side {
            Side::Recv(_) => format!("to receive from {}", self.mailbox(one.mailbox)),
            Side::Send(_) => {
                let message = self
                    .message(one.post)
                    .map_or_else(|| "its message".to_owned(), |m| format!("m{}", m.number));
                format!("until somebody receives {message} from {}", self.mailbox(one.mailbox))
            }
        };
        match awaited {
            [] if count == 0 => ("waits for one of no activities".to_owned(), None),
            [] => ("waits for an activity".to_owned(), None),
            [alone] => (format!("waits {}", one(alone)), self.why(kernel, alone, last)),
            several => {
                let all: Vec<String> = several.iter().map(one).collect();
                (format!("waits {}", all.join(", or ")), last.then(|| "all others have ended".to_owned()))
            }
        }
    }

    /// Why a communication does not come about.
    fn why(&self, kernel: &Kernel, awaited: &Awaited, last: bool) -> Option<String> {
        let mailbox = kernel.mailbox(MailboxId(awaited.mailbox));
        let (empty, who) = match awaited.side {
            Side::Recv(_) => (mailbox.sends.is_empty(), "send"),
            Side::Send(_) => (mailbox.receives.is_empty(), "receive"),
        };
        let holds = match (awaited.side, empty) {
            (Side::Recv(_), true) => Some("which holds nothing"),
            (Side::Recv(_), false) => Some("which holds no message that it accepts"),
            (Side::Send(_), true) => None,
            (Side::Send(_), false) => Some("where no receive accepts it"),
        };
        let left = last.then(|| format!("nobody is left who could {who}"));
        match (holds, left) {
            (Some(holds), Some(left)) => Some(format!("{holds}; {left}")),
            (holds, left) => holds.map(str::to_owned).or(left),
        }
    }
}
