//! Work that an actor begins: computations, disk accesses, parallel tasks.

use simurgh_models::{Direction, DiskAccess, Execution, ParallelTask, Transfer};

use super::{Effect, Kernel, Served};
use crate::activity::{Activity, Held, Kind, State};
use crate::event::Event;
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{ExecRequest, Follow, OnTimeout};

impl<K: Default> Kernel<K> {
    /// What an activity computes, if it does.
    pub fn execution(&self, id: ActivityId) -> Option<&Execution> {
        match &self.activities.get(id)?.kind {
            Kind::Execution { what, .. } => Some(what),
            _ => None,
        }
    }

    /// Serves a computation; [`Kernel::serve`] without the way round.
    #[inline]
    pub fn post_execute(&mut self, actor: ActorId, request: &ExecRequest, follow: Follow) -> Served {
        match self.actors[actor.index()].alive {
            true => self.execute(actor, request, follow),
            false => Served::Gone,
        }
    }

    pub(super) fn execute(&mut self, actor: ActorId, request: &ExecRequest, follow: Follow) -> Served {
        let host = request.host.unwrap_or(self.actors[actor.index()].host);
        let id = self.begin(|| Kind::Execution {
            actor,
            what: Execution {
                host,
                flops: request.flops,
                priority: request.priority.unwrap_or(1.0),
                bound: request.bound,
                threads: request.threads,
            },
        });
        match self.has_effects() {
            false => self.begun = Some(id),
            true => self.effects.push_back(Effect::Execute(id)),
        }
        self.tell(|_| Event::ExecutionStarted { activity: id, actor, host, flops: request.flops });
        self.wait_or_own(actor, id, follow)
    }

    pub(super) fn access(&mut self, actor: ActorId, what: DiskAccess, follow: Follow) -> Served {
        let id = self.begin(|| Kind::Access { actor, what: what.clone() });
        let (disk, bytes, write) = (what.disk, what.bytes, what.direction == Direction::Write);
        self.effects.push_back(Effect::Access(id, what));
        self.tell(|_| Event::AccessStarted { activity: id, actor, disk, bytes, write });
        self.wait_or_own(actor, id, follow)
    }

    pub(super) fn parallel(&mut self, actor: ActorId, what: ParallelTask, follow: Follow) -> Served {
        let id = self.begin(|| Kind::Parallel { actor });
        let hosts = what.hosts.clone();
        self.effects.push_back(Effect::Parallel(id, Box::new(what)));
        self.tell(|_| Event::ParallelStarted { activity: id, actor, hosts });
        self.wait_or_own(actor, id, follow)
    }

    pub(super) fn flow(&mut self, actor: ActorId, what: Transfer, follow: Follow) -> Served {
        let id = self.begin(|| Kind::Flow { actor });
        let hosts = vec![what.src, what.dst];
        self.effects.push_back(Effect::Flow(id, what));
        self.tell(|_| Event::ParallelStarted { activity: id, actor, hosts });
        self.wait_or_own(actor, id, follow)
    }

    /// What the actor does after it began some work. What it waits for to the end is known by that, and needs no owner;
    /// what goes on after a timeout does.
    fn wait_or_own(&mut self, actor: ActorId, id: ActivityId, follow: Follow) -> Served {
        if follow == Follow::Wait(None) && self.fuse_post_wait {
            return self.wait_one(actor, id, None, OnTimeout::GiveUp, true);
        }
        self.own(actor, id);
        self.follow(actor, id, follow)
    }

    #[inline(always)]
    fn begin(&mut self, kind: impl FnOnce() -> Kind) -> ActivityId {
        let held = Held { owner: true, receiver: false };
        self.activities.insert(|| Activity::new(kind(), State::Running, held))
    }
}
