//! What each actor sends and receives in an execution, for those who compare executions.

use simurgh_kernel::kernel::Kernel;

use super::Actors;
use super::kept::Traffic;
use crate::determinism::{ActorRecord, Compared, Determinism, Exchange, MessageName, Posted};
use crate::transition::Post;
use crate::verdict::{Step, Violation};

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// Compares what each actor sends or receives in all executions from now on.
    pub fn compare(mut self, compared: Compared) -> Self {
        let determinism = Determinism::new(compared);
        let (sends, receives, ended) = (Vec::new(), Vec::new(), Vec::new());
        self.traffic = Some(Traffic { determinism, steps: 0, sends, receives, ended });
        self
    }

    /// The execution is complete: how it compares with those before.
    pub(super) fn compare_execution(
        &mut self,
        schedule: &mut dyn Iterator<Item = Step>,
    ) -> Option<Violation> {
        let records = self.records()?;
        let traffic = self.traffic.as_mut()?;
        traffic.determinism.observe(&records, || schedule.collect())
    }

    /// What each actor has sent and received since the start, if executions are compared.
    pub fn records(&self) -> Option<Vec<ActorRecord>> {
        let traffic = self.traffic.as_ref()?;
        let mut records = vec![ActorRecord::default(); self.count];
        // How many messages an actor had sent before one of its posts.
        let mut name = |&(post, posted): &(Post, Posted)| {
            let sends = &mut records[post.actor as usize].sends;
            sends.push(posted);
            (post, MessageName { actor: post.actor, number: sends.len() as u32 - 1 })
        };
        let names: Vec<(Post, MessageName)> = traffic.sends.iter().map(&mut name).collect();
        for &(post, mut posted) in &traffic.receives {
            let met = self.meetings.iter().find(|(receive, _)| *receive == post).map(|(_, send)| *send);
            let got = met
                .and_then(|met| names.iter().find(|(post, _)| *post == met.original()))
                .map(|(_, name)| *name);
            if let Exchange::Received { message, .. } = &mut posted.exchange {
                *message = got;
            }
            records[post.actor as usize].receives.push(posted);
        }
        for &actor in &traffic.ended {
            let failed = self.failures.iter().any(
                |failure| matches!(failure.violation, Violation::Failed { actor: other, .. } if other == actor),
            );
            records[actor as usize].ended = !failed;
        }
        Some(records)
    }
}
