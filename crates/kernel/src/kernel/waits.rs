//! How actors come to wait and go on: blocked, answered, timed out; and what an activity that is over does to them.

use super::Kernel;
use super::actor::{Timer, Waiting};
use crate::activity::{Activity, Kind, State};
use crate::event::Event;
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{Answer, Failure};

impl<K: Default> Kernel<K> {
    /// Gives an actor its answer, and lets it run. The driver calls this for [`Served::Answered`](super::Served).
    #[inline(always)]
    pub fn answer(&mut self, actor: ActorId, answer: Answer) {
        let record = &mut self.actors[actor.index()];
        if !record.alive {
            return;
        }
        record.answer = Some(answer);
        self.let_run(actor);
    }

    /// Lets an actor run that has its answer.
    #[inline(always)]
    pub(super) fn let_run(&mut self, actor: ActorId) {
        self.actors[actor.index()].let_run(actor, &mut self.ready);
    }

    /// Puts an actor whose simcall is held into the next round.
    pub fn postpone(&mut self, actor: ActorId) {
        self.ready.push(actor);
    }

    /// Tells that an activity under way is over. Waiters are woken in the order in which they began to wait.
    #[inline]
    pub fn finish(&mut self, id: ActivityId, result: Result<(), Failure>) {
        let Some(activity) = self.activities.get_mut(id) else { return };
        if !matches!(activity.state, State::Running) {
            return;
        }
        activity.state = State::Over(result);
        activity.driver_data = Activity::NO_DATA;
        if let (Kind::Comm(comm), Ok(())) = (&activity.kind, result) {
            self.messages += 1;
            self.bytes += comm.bytes;
        }
        self.tell(|_| Event::ActivityEnded { activity: id, result });
        self.wake_waiters(id);
        self.collect(id);
    }

    /// Tells that the timer of an actor ran out.
    pub fn timer_fired(&mut self, actor: ActorId) {
        let record = &mut self.actors[actor.index()];
        if record.alive && std::mem::replace(&mut record.timer, Timer::No) == Timer::Set {
            match record.waiting {
                Waiting::Sleep => self.unblock(actor, Answer::Ready),
                _ => self.time_out(actor),
            }
        }
    }

    #[inline(always)]
    pub(super) fn block(&mut self, actor: ActorId, waiting: Waiting, timeout: Option<f64>) {
        let now = self.now;
        let record = &mut self.actors[actor.index()];
        debug_assert!(record.waiting == Waiting::Nothing, "an actor waits for one thing at a time");
        record.waiting = waiting;
        record.since = now;
        match timeout {
            Some(duration) => {
                record.timer = Timer::Set;
                self.timers.push((actor, Some(duration)));
            }
            None => record.timer.take_back(actor, &mut self.timers),
        }
        if self.listening {
            let reason = self.reason(&self.actors[actor.index()].waiting);
            self.events.extend(reason.map(|reason| Event::Blocked { actor, reason }));
        }
    }

    /// Ends the wait of an actor and answers it.
    #[inline(always)]
    pub(super) fn unblock(&mut self, actor: ActorId, answer: Answer) {
        self.stop_waiting(actor);
        self.answer(actor, answer);
    }

    /// Ends the wait of an actor.
    #[inline(always)]
    pub(super) fn stop_waiting(&mut self, actor: ActorId) {
        self.actors[actor.index()].stop_waiting(actor, self.lazy_timer_cancel, &mut self.timers);
        self.tell(|_| Event::Unblocked { actor });
    }

    #[cold]
    pub(super) fn time_out(&mut self, actor: ActorId) {
        match self.actors[actor.index()].waiting.clone() {
            Waiting::Sleep => self.unblock(actor, Answer::Ready),
            Waiting::One { id, on_timeout, release } => self.give_up(actor, &[id], on_timeout, release),
            Waiting::Several(several) => {
                self.give_up(actor, &several.set, several.on_timeout, several.release);
            }
            Waiting::Mutex(mutex) => {
                self.mutexes[mutex.index()].queue.leave(actor);
                self.unblock(actor, Answer::Flag(false));
            }
            Waiting::Semaphore(semaphore) => {
                self.semaphores[semaphore.index()].queue.leave(actor);
                self.unblock(actor, Answer::Flag(false));
            }
            Waiting::Condition(condition, mutex) => {
                self.conditions[condition.index()].queue.leave(actor);
                self.reacquire(actor, mutex, false);
            }
            Waiting::Join(target) => {
                self.leave_joiners(target, actor);
                self.unblock(actor, Answer::Flag(false));
            }
            Waiting::Nothing
            | Waiting::All(_)
            | Waiting::Reacquiring { .. }
            | Waiting::Barrier(_)
            | Waiting::Suspended => unreachable!("these waits have no timer"),
        }
    }
}
