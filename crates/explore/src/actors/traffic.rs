//! What each actor sends and receives in an execution, for those who compare executions.

use std::collections::BTreeMap;

use simurgh_kernel::kernel::Kernel;

use super::Actors;
use crate::determinism::{ActorRecord, Compared, Determinism, Exchange, Posted};
use crate::transition::Post;
use crate::verdict::{Step, Violation};

/// The present execution, and how it compares with those before.
#[derive(Debug)]
pub(super) struct Traffic {
    determinism: Determinism,
    /// How many steps were taken.
    pub(super) steps: usize,
    /// What was sent, and the receives: what they got is known at the end.
    posted: Vec<(Post, Posted)>,
    /// Who came to its end by itself.
    pub(super) ended: Vec<u32>,
}

impl Traffic {
    pub(super) fn reset(&mut self) {
        self.steps = 0;
        self.posted.clear();
        self.ended.clear();
    }
}

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// Compares what each actor sends or receives in all executions from now on.
    pub fn compare(mut self, compared: Compared) -> Self {
        let determinism = Determinism::new(compared);
        self.traffic = Some(Traffic { determinism, steps: 0, posted: Vec::new(), ended: Vec::new() });
        self
    }

    /// An actor has posted this, in the step that is being taken.
    pub(super) fn record(&mut self, post: Post, exchange: Exchange) {
        if let Some(traffic) = &mut self.traffic {
            let place = self.processes[post.actor as usize].place;
            traffic.posted.push((post, Posted { exchange, step: traffic.steps + 1, place }));
        }
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
        let mut names = BTreeMap::new();
        for (post, posted) in &traffic.posted {
            if let Exchange::Sent { .. } = posted.exchange {
                let sends = &mut records[post.actor as usize].sends;
                names.insert(*post, Post { number: sends.len() as u32, ..*post });
                sends.push(*posted);
            }
        }
        for &(post, mut posted) in &traffic.posted {
            if let Exchange::Received { message, .. } = &mut posted.exchange {
                let met = self.meetings.iter().find(|(receive, _)| *receive == post);
                *message = met.and_then(|(_, send)| names.get(&send.original())).copied();
                records[post.actor as usize].receives.push(posted);
            }
        }
        for &actor in &traffic.ended {
            records[actor as usize].ended = !self.has_failed(actor);
        }
        Some(records)
    }
}
