//! How the actors stand between two steps: who waits for what, and who could go on.

use serde::Serialize;
use simurgh_kernel::context::Place;
use simurgh_kernel::ids::{ActorId, BarrierId, MailboxId, MutexId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::Simcall;

use super::words::Teller;
use crate::actors::{Actors, Pending, Queued};
use crate::transition::{Awaited, Side};
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
        let failed: Vec<u32> =
            (0..system.violation_count()).filter_map(|index| system.failed_actor(index)).collect();
        let kernel = system.kernel();
        let count = kernel.actor_count() as u32;
        let last = enabled.is_empty() && (0..count).filter(|&n| kernel.is_alive(ActorId(n))).count() == 1;
        (0..count)
            .map(|number| {
                let actor = ActorId(number);
                let possible = enabled.iter().any(|transition| transition.step.actor == number);
                let (how, does, why) = if failed.contains(&number) {
                    (How::Failed, "has failed".to_owned(), None)
                } else if !system.kernel().is_alive(actor) {
                    (How::Ended, "has ended".to_owned(), None)
                } else {
                    let (does, why) = self.about(system, actor, possible, last);
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
        match system.standing(actor) {
            Pending::Nothing => ("has nothing to do".to_owned(), None),
            Pending::Queues(queued) => self.queues(kernel, queued, possible),
            Pending::Asks(Simcall::WaitAny { activities, .. } | Simcall::TestAny { activities }) => {
                let awaited = system.awaits(activities);
                self.awaits(kernel, &awaited, activities.len(), possible, last)
            }
            Pending::Asks(Simcall::Join(target, _)) => {
                let name = self.actor(target.0);
                let does = if possible { "sees the end of" } else { "waits for the end of" };
                (format!("{does} {name}"), None)
            }
            Pending::Asks(simcall) => (self.about_to(simcall), None),
        }
    }

    /// What an actor that can always go on will do.
    fn about_to(&self, simcall: &Simcall) -> String {
        match simcall {
            Simcall::Send(request, _) => format!("is about to send to {}", self.mailbox(request.mailbox.0)),
            Simcall::Recv(request, _) => {
                format!("is about to post a receive at {}", self.mailbox(request.mailbox.0))
            }
            Simcall::Probe(mailbox, _) => format!("is about to look into {}", self.mailbox(mailbox.0)),
            Simcall::Choose(n) => format!("is about to choose one of {n}"),
            Simcall::Spawn(request) => format!("is about to create {}", request.name),
            Simcall::Lock(lock, _) | Simcall::TryLock(lock) => format!("is about to ask for lock {lock}"),
            Simcall::Unlock(lock) => format!("is about to give lock {lock} back"),
            Simcall::Acquire(semaphore, _) => format!("is about to ask for one of semaphore {semaphore}"),
            Simcall::Release(semaphore) => format!("is about to give one to semaphore {semaphore}"),
            Simcall::WaitCondition(condition, ..) => format!("is about to wait for condition {condition}"),
            Simcall::Notify(condition, _) => format!("is about to notify condition {condition}"),
            Simcall::Arrive { barrier, .. } => format!("is about to come to barrier {barrier}"),
            Simcall::Kill(other) => format!("is about to kill {}", self.actor(other.0)),
            Simcall::Suspend(other) => format!("is about to halt {}", self.actor(other.0)),
            Simcall::Resume(other) => format!("is about to resume {}", self.actor(other.0)),
            Simcall::Expose(_, value) => format!("is about to show {value:?}"),
            Simcall::Exit => "is about to end".to_owned(),
            _ => "can go on".to_owned(),
        }
    }

    fn queues(&self, kernel: &Kernel, queued: Queued, possible: bool) -> (String, Option<String>) {
        if possible {
            return match queued {
                Queued::Lock(lock) => (format!("is about to have lock {lock}"), None),
                Queued::Semaphore(semaphore) => {
                    (format!("is about to have one of semaphore {semaphore}"), None)
                }
                Queued::Condition { lock, .. } => (format!("is about to have lock {lock} again"), None),
                Queued::Barrier { barrier, .. } => (format!("is about to pass barrier {barrier}"), None),
                Queued::Resume => ("is about to go on".to_owned(), None),
            };
        }
        let owner = |lock: u32| {
            kernel.lock_owner(MutexId(lock)).map(|owner| format!("which {} has", self.actor(owner.0)))
        };
        match queued {
            Queued::Lock(lock) => (format!("waits for lock {lock}"), owner(lock)),
            Queued::Semaphore(semaphore) => {
                (format!("waits for semaphore {semaphore}"), Some("of which none is left".to_owned()))
            }
            Queued::Condition { condition, .. } => (format!("waits for condition {condition}"), None),
            Queued::Barrier { barrier, .. } => {
                let (come, size) = kernel.barrier_state(BarrierId(barrier));
                let why = format!("where {come} of {size} have come");
                (format!("waits at barrier {barrier}"), Some(why))
            }
            Queued::Resume => ("is halted".to_owned(), None),
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
                (Side::Recv, Some(message)) => format!("is about to receive m{}", message.number),
                _ => format!("is about to see that {} is over", self.own(over)),
            };
            return (does, None);
        }
        let one = |one: &Awaited| match one.side {
            Side::Recv => format!("to receive from {}", self.mailbox(one.mailbox)),
            Side::Send => {
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
            Side::Recv => (mailbox.sends.is_empty(), "send"),
            Side::Send => (mailbox.receives.is_empty(), "receive"),
        };
        let holds = match (awaited.side, empty) {
            (Side::Recv, true) => Some("which holds nothing"),
            (Side::Recv, false) => Some("which holds no message that it accepts"),
            (Side::Send, true) => None,
            (Side::Send, false) => Some("where no receive accepts it"),
        };
        let left = last.then(|| format!("nobody is left who could {who}"));
        match (holds, left) {
            (Some(holds), Some(left)) => Some(format!("{holds}; {left}")),
            (holds, left) => holds.map(str::to_owned).or(left),
        }
    }
}
