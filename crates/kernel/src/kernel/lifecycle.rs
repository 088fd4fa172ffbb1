//! Birth, halt, move and death of actors.

use simurgh_platform::HostId;

use super::actor::Timer;
use super::{Actor, Effect, Halt, Kernel, Served, Waiting, Woken};
use crate::activity::{Kind, State};
use crate::event::Event;
use crate::ids::ActorId;
use crate::simcall::{Answer, Failure, SpawnRequest};

impl<K: Default> Kernel<K> {
    /// Creates an actor; it runs when its turn comes.
    pub fn spawn(&mut self, request: SpawnRequest) -> ActorId {
        let actor = ActorId::from_index(self.actors.len());
        self.actors.push(Actor {
            host: request.host,
            alive: true,
            daemon: request.daemon,
            halt: Halt::No,
            timer: Timer::No,
            waiting: Waiting::Nothing,
            since: self.now,
            answer: None,
            more: None,
            kept: K::default(),
        });
        self.names.push(request.name.as_str().into());
        self.living += 1;
        self.living_regular += usize::from(!request.daemon);
        self.ready.push(actor);
        if self.listening {
            let (name, host) = (request.name.clone(), request.host);
            self.events.push(Event::ActorStarted { actor, name, host });
        }
        self.effects.push_back(Effect::Started(actor, Box::new(request)));
        actor
    }

    /// What an actor whose turn has come needs to run, if it may run; a suspended one is held until it is resumed.
    #[inline]
    pub fn wake(&mut self, actor: ActorId) -> Option<Woken<'_, K>> {
        let record = &mut self.actors[actor.index()];
        if !record.alive || record.halt != Halt::No {
            if record.alive {
                record.halt = Halt::Ready;
                record.timer.take_back(actor, &mut self.timers);
            }
            return None;
        }
        let Actor { host, answer, kept, .. } = record;
        Some(Woken { host: *host, answer, kept })
    }

    /// Ends an actor. What it left behind is cancelled: unmatched posts leave their mailboxes, and whoever shares a
    /// communication under way with it is told.
    pub fn end(&mut self, actor: ActorId, failed: bool) {
        let Some(record) = self.actors.get_mut(actor.index()) else { return };
        if !std::mem::replace(&mut record.alive, false) {
            return;
        }
        self.living -= 1;
        self.living_regular -= usize::from(!record.daemon);
        let belongings = record.belongings();
        if record.waiting != Waiting::Nothing {
            self.leave_wait(actor);
            self.leave_queues(actor);
            self.stop_waiting(actor);
        }
        let record = &mut self.actors[actor.index()];
        record.timer.take_back(actor, &mut self.timers);
        if let Some(Answer::Flag(true)) = record.answer.take() {
            self.give_back_all(actor);
        }
        let more = self.actors[actor.index()].more.take();
        for id in belongings {
            let Some(activity) = self.activities.get(id) else { continue };
            let failure = match activity.kind {
                Kind::Comm(_) => Failure::PeerGone,
                _ => Failure::Cancelled,
            };
            self.cancel(id, failure);
            self.forget(actor, id);
        }
        if let Some(joiners) = more.and_then(|more| more.joiners) {
            for joiner in joiners.iter() {
                self.unblock(joiner, Answer::Flag(true));
            }
        }
        self.tell(|_| Event::ActorEnded { actor, failed });
        self.effects.push_back(Effect::Ended { actor, failed });
    }

    pub(super) fn make_daemon(&mut self, actor: ActorId) {
        let record = &mut self.actors[actor.index()];
        if !std::mem::replace(&mut record.daemon, true) {
            self.living_regular -= 1;
        }
    }

    pub(super) fn join(&mut self, actor: ActorId, target: ActorId, timeout: Option<f64>) -> Served {
        let Some(other) = self.actors.get_mut(target.index()).filter(|other| other.alive) else {
            return Served::Answered(Answer::Flag(true));
        };
        if timeout.is_some_and(|seconds| seconds <= 0.0) {
            return Served::Answered(Answer::Flag(false));
        }
        other.more.get_or_insert_default().joiners.get_or_insert_default().push(actor);
        self.block(actor, Waiting::Join(target), timeout);
        Served::Blocked
    }

    /// An actor does not wait for the end of another any more.
    pub(super) fn leave_joiners(&mut self, target: ActorId, actor: ActorId) {
        if let Some(joiners) =
            self.actors[target.index()].more.as_mut().and_then(|more| more.joiners.as_mut())
        {
            joiners.leave(actor);
        }
    }

    pub(super) fn suspend(&mut self, actor: ActorId, target: ActorId) -> Served {
        let found = self.actors.get_mut(target.index());
        let Some(other) = found.filter(|other| other.alive && other.halt == Halt::No) else {
            return Served::Answered(Answer::Ready);
        };
        other.halt = Halt::Suspended;
        self.pause_belongings(target, true);
        if target != actor {
            return Served::Answered(Answer::Ready);
        }
        self.block(actor, Waiting::Suspended, None);
        Served::Blocked
    }

    pub(super) fn resume(&mut self, target: ActorId) {
        let found = self.actors.get_mut(target.index());
        let Some(other) = found.filter(|other| other.alive && other.halt != Halt::No) else { return };
        let halt = std::mem::replace(&mut other.halt, Halt::No);
        let was_suspending_itself = other.waiting == Waiting::Suspended;
        self.pause_belongings(target, false);
        if was_suspending_itself {
            self.unblock(target, Answer::Ready);
        } else if halt == Halt::Ready {
            self.ready.push(target);
        }
    }

    /// A suspended actor's activities halt with it. Its sleep does not: the date to wake up at stays, and the actor
    /// goes on then or when it is resumed, whichever comes later.
    fn pause_belongings(&mut self, actor: ActorId, paused: bool) {
        for id in self.actors[actor.index()].belongings() {
            self.pause(id, paused);
        }
    }

    pub(super) fn migrate(&mut self, target: ActorId, host: HostId) {
        let Some(other) = self.actors.get_mut(target.index()).filter(|other| other.alive) else { return };
        let from = std::mem::replace(&mut other.host, host);
        if from == host {
            return;
        }
        for id in self.actors[target.index()].belongings() {
            let Some(activity) = self.activities.get_mut(id) else { continue };
            // A message that has not set out goes to where its receiver is then.
            if let Kind::Comm(comm) = &mut activity.kind
                && comm.receiver() == Some(target)
            {
                comm.destination = host;
            }
            if let Kind::Execution { actor, what } = &mut activity.kind
                && *actor == target
                && what.host == from
                && activity.state == State::Running
            {
                what.host = host;
                self.effects.push_back(Effect::Move(id, what.clone()));
                if activity.paused {
                    self.effects.push_back(Effect::Pause(id));
                }
            }
        }
        self.tell(|_| Event::ActorMoved { actor: target, host });
    }
}
