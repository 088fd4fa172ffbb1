//! Doing a step again: whether it is possible, and what is to be said when the program is not the same.

use simurgh_kernel::ids::ActorId;
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{ActivitySet, Simcall};

use super::enabled::{OTHERWISE, arrival_step, kind_of_return, kind_of_wait};
use super::{Actors, Next};
use crate::transition::{Kind, Outcome, Transition};
use crate::verdict::{Divergence, Step};

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// Whether a step is possible.
    pub(super) fn is_possible(&self, step: Step) -> bool {
        if step.actor == Step::NETWORK {
            return self.messages.iter().any(|message| arrival_step(message.post) == step);
        }
        let actor = ActorId(step.actor);
        if actor.index() >= self.count || !self.kernel.is_alive(actor) || self.kernel.is_suspended(actor) {
            return false;
        }
        let process = &self.processes[actor.index()];
        if !process.returns.is_empty() {
            return step.choice == 0;
        }
        match &process.next {
            Next::Nothing => false,
            Next::Queued(_) if process.granted => step.choice == 0,
            Next::Queued(_) => process.timer && step.choice == OTHERWISE,
            Next::Ask(simcall) => self.is_outcome(simcall, step.choice),
        }
    }

    /// Whether a request can be served now with this outcome.
    fn is_outcome(&self, simcall: &Simcall, choice: u32) -> bool {
        let one_over = |set: &ActivitySet, timed: bool| match choice {
            OTHERWISE => timed && !set.iter().any(|&id| self.is_over(id)),
            index => set.get(index as usize).is_some_and(|&id| self.may_be_over(id)),
        };
        match simcall {
            Simcall::WaitAny { activities, timeout, .. } => one_over(activities, timeout.is_some()),
            Simcall::TestAny { activities } => one_over(activities, true),
            Simcall::Choose(n) => choice < (*n).max(1),
            Simcall::Cancel(id) => choice == 0 || (choice == OTHERWISE && self.is_at_work(*id)),
            Simcall::Send(request, _) => choice == 0 || self.fates(request).any(|(other, _)| other == choice),
            Simcall::Join(target, timeout) => {
                let alive = target.index() < self.count && self.kernel.is_alive(*target);
                if alive { timeout.is_some() && choice == OTHERWISE } else { choice == 0 }
            }
            _ => choice == 0,
        }
    }

    pub(super) fn diverged(&self, taken: &Transition, instead: Option<&Transition>) -> Divergence {
        let words = |kind: &Kind| kind.in_words(&|mailbox| mailbox.to_string());
        let actor = ActorId(taken.step.actor);
        if actor.0 == Step::NETWORK {
            return Divergence {
                actor: "the network".to_owned(),
                asked: instead.map(|instead| words(&instead.kind)),
                before: words(&taken.kind),
            };
        }
        let is_there = actor.index() < self.count;
        let name =
            if is_there { self.kernel.actor_name(actor).to_owned() } else { format!("number {actor}") };
        let pending = || self.asked(actor).filter(|_| is_there);
        let asked = instead.map(|instead| instead.kind.clone()).or_else(pending);
        Divergence { actor: name, asked: asked.map(|kind| words(&kind)), before: words(&taken.kind) }
    }

    /// What an actor asks for, whether it can be served or not.
    fn asked(&self, actor: ActorId) -> Option<Kind> {
        let process = &self.processes[actor.index()];
        if let Some(note) = process.returns.front() {
            return Some(kind_of_return(note));
        }
        match &process.next {
            Next::Nothing => None,
            Next::Queued(queued) => Some(kind_of_wait(*queued, process.timed, false)),
            Next::Ask(Simcall::WaitAny { activities, timeout, .. }) => Some(Kind::Wait {
                awaited: self.awaited_set(activities),
                taken: None,
                outcome: Outcome::Nothing,
                timed: timeout.is_some(),
                single: activities.len() == 1,
            }),
            Next::Ask(Simcall::TestAny { activities }) => Some(Kind::Wait {
                awaited: self.awaited_set(activities),
                taken: None,
                outcome: Outcome::Nothing,
                timed: true,
                single: activities.len() == 1,
            }),
            Next::Ask(Simcall::Choose(_)) => Some(Kind::Choose),
            Next::Ask(Simcall::Join(target, timeout)) => {
                Some(Kind::Join { target: target.0, timed: timeout.is_some(), timeout: false })
            }
            Next::Ask(simcall) => Some(self.kind_of_request(actor, simcall)),
        }
    }
}
