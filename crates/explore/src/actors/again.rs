//! Doing a step again: whether it is possible, and what is to be said when the program is not the same.

use simurgh_kernel::ids::ActorId;
use simurgh_kernel::kernel::Kernel;

use super::enabled::{OTHERWISE, arrival_step, kind_of_return, kind_of_wait};
use super::{Actors, Next};
use crate::transition::{Kind, Transition};
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
            Next::Ask(simcall) => {
                let mut possible = false;
                self.outcomes(&simcall.operation(), |choice| possible |= choice == step.choice);
                possible
            }
        }
    }

    pub(super) fn diverged(&self, taken: &Transition, instead: Option<&Transition>) -> Divergence {
        let words = |kind: &Kind| kind.in_words(&|mailbox| mailbox.to_string());
        let actor = ActorId(taken.step.actor);
        let name = match actor.0 {
            Step::NETWORK => "the network".to_owned(),
            number if (number as usize) < self.count => self.kernel.actor_name(actor).to_owned(),
            number => format!("number {number}"),
        };
        let asked = instead.map(|instead| instead.kind.clone()).or_else(|| self.asked(actor));
        Divergence { actor: name, asked: asked.map(|kind| words(&kind)), before: words(&taken.kind) }
    }

    /// What an actor asks for, whether it can be served or not; nothing if it is not there.
    fn asked(&self, actor: ActorId) -> Option<Kind> {
        let process = self.processes[..self.count].get(actor.index())?;
        if let Some(note) = process.returns.front() {
            return Some(kind_of_return(note));
        }
        match &process.next {
            Next::Nothing => None,
            Next::Queued(wait) => Some(kind_of_wait(wait, process.timed, false)),
            Next::Ask(simcall) => Some(self.kind_of(actor, &simcall.operation(), OTHERWISE)),
        }
    }
}
