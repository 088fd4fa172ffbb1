//! The four primitives: posting and matching, waiting and testing (Rosa's thesis, 2.4.1 and 3.9 to 3.12).

use simurgh_platform::HostId;

use super::{Actor, Effect, Kernel, PendingTransfer, Served, Several, Waiting};
use crate::activity::{Activity, Comm, Held, Kind, State};
use crate::event::{Event, Reason};
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{
    ActivitySet, Answer, Failure, Follow, OnTimeout, RecvRequest, Repeatable, SendRequest, Simcall,
};

impl<K: Default> Kernel<K> {
    /// Serves a send; [`Kernel::serve`] without the way round. What is in the message is taken out of the request.
    #[inline]
    pub fn post_send(&mut self, actor: ActorId, request: &mut SendRequest, follow: Follow) -> Served {
        match self.actors[actor.index()].alive {
            true => self.send(actor, request, follow),
            false => Served::Gone,
        }
    }

    /// Serves a receive; [`Kernel::serve`] without the way round.
    #[inline]
    pub fn post_recv(&mut self, actor: ActorId, request: &RecvRequest, follow: Follow) -> Served {
        match self.actors[actor.index()].alive {
            true => self.recv(actor, request, follow),
            false => Served::Gone,
        }
    }

    pub(super) fn send(&mut self, actor: ActorId, request: &mut SendRequest, follow: Follow) -> Served {
        self.open_mailbox(request.mailbox);
        let (now, mailbox) = (self.now, request.mailbox);
        let detached = follow == Follow::Detach;
        let envelope = request.envelope;
        let receives = self.mailboxes[mailbox.index()].receives;
        let found = if self.holding {
            None
        } else {
            receives.find(&mut self.activities, |comm| comm.criteria().admits(&envelope))
        };
        let id = match found {
            Some(id) => {
                self.mailboxes[mailbox.index()].receives.remove(id, &mut self.activities);
                let activity = self.activities.get_mut(id).expect("found in the mailbox");
                activity.held.owner = !detached;
                let Kind::Comm(comm) = &mut activity.kind else {
                    unreachable!("mailboxes hold communications")
                };
                comm.rate = comm.rate.min(request.rate.unwrap_or(f64::INFINITY));
                comm.detached = detached;
                comm.set_message(Some(actor), envelope, request.bytes, request.payload.take(), now);
                let met = Met::new(activity);
                self.start_transfer(id, met);
                id
            }
            None => {
                let id = self.activities.insert(|| {
                    Activity::new(
                        Kind::Comm(Comm::sent(actor, request, detached, now)),
                        if self.holding { State::UnderWay } else { State::Posted },
                        Held { owner: !detached, receiver: false },
                    )
                });
                if self.holding {
                    self.effects.push_back(Effect::UnderWay(id));
                } else {
                    self.mailboxes[mailbox.index()].sends.push(id, &mut self.activities);
                }
                id
            }
        };
        if detached {
            return Served::Answered(Answer::Ready);
        }
        self.wait_or_follow(actor, id, follow)
    }

    pub(super) fn recv(&mut self, actor: ActorId, request: &RecvRequest, follow: Follow) -> Served {
        self.open_mailbox(request.mailbox);
        let (now, mailbox, criteria) = (self.now, request.mailbox, request.criteria);
        let host = self.actors[actor.index()].host;
        let sends = self.mailboxes[mailbox.index()].sends;
        let found = sends.find(&mut self.activities, |comm| criteria.admits(&comm.envelope()));
        let id = match found {
            Some(id) => {
                self.mailboxes[mailbox.index()].sends.remove(id, &mut self.activities);
                let activity = self.activities.get_mut(id).expect("found in the mailbox");
                activity.held.receiver = true;
                let Kind::Comm(comm) = &mut activity.kind else {
                    unreachable!("mailboxes hold communications")
                };
                comm.set_receive(actor, host, criteria);
                comm.rate = comm.rate.min(request.rate.unwrap_or(f64::INFINITY));
                let met = Met::new(activity);
                self.start_transfer(id, met);
                id
            }
            None => {
                let id = self.activities.insert(|| {
                    Activity::new(
                        Kind::Comm(Comm::awaited(actor, host, request, now)),
                        State::Posted,
                        Held { owner: false, receiver: true },
                    )
                });
                self.mailboxes[mailbox.index()].receives.push(id, &mut self.activities);
                id
            }
        };
        self.wait_or_follow(actor, id.received(), follow)
    }

    /// What the actor does after a post. What it waits for to the end is known by that, and needs no owner.
    #[inline(always)]
    fn wait_or_follow(&mut self, actor: ActorId, id: ActivityId, follow: Follow) -> Served {
        if let Follow::Wait(timeout) = follow
            && self.fuse_post_wait
        {
            return self.wait_one(actor, id, timeout, OnTimeout::GiveUp, true);
        }
        self.own(actor, id);
        self.follow(actor, id, follow)
    }

    /// A message that was held back reaches its mailbox. If a receive waits there for it, both are over at once, each
    /// under the identity that its actor knows; that of the receive is given back. A message that is not under way any
    /// more is left alone.
    pub fn deliver(&mut self, id: ActivityId) -> Option<ActivityId> {
        let activity = self.activities.get_mut(id).filter(|activity| activity.state == State::UnderWay)?;
        activity.state = State::Posted;
        let Kind::Comm(comm) = &activity.kind else { unreachable!("only communications are under way") };
        let (mailbox, envelope) = (comm.mailbox.index(), comm.envelope());
        let receives = self.mailboxes[mailbox].receives;
        let found = receives.find(&mut self.activities, |comm| comm.criteria().admits(&envelope));
        let Some(receive) = found else {
            self.mailboxes[mailbox].sends.push(id, &mut self.activities);
            return None;
        };
        self.mailboxes[mailbox].receives.remove(receive, &mut self.activities);
        let sent = self.activities.comm_mut(id).expect("it was under way");
        let (sender, bytes, posted, payload) = (sent.sender(), sent.bytes, sent.posted, sent.payload.take());
        let received = self.activities.comm_mut(receive).expect("found in the mailbox");
        received.set_message(sender, envelope, bytes, payload, posted);
        let receiver = received.receiver();
        self.activities.comm_mut(id).expect("it was under way").set_receiver(receiver);
        self.messages += 1;
        self.bytes += bytes;
        for over in [id, receive] {
            self.activities.get_mut(over).expect("both are there").state = State::Over(Ok(()));
            self.wake_waiters(over);
            self.collect(over);
        }
        Some(receive)
    }

    /// A message that was held back is lost: its sender takes it for received, and nobody receives it. A message that
    /// is not under way any more is left alone.
    pub fn lose(&mut self, id: ActivityId) {
        let Some(activity) = self.activities.get_mut(id) else { return };
        if activity.state != State::UnderWay {
            return;
        }
        activity.state = State::Over(Ok(()));
        let Kind::Comm(comm) = &mut activity.kind else { unreachable!("only communications are under way") };
        comm.payload = None;
        self.wake_waiters(id);
        self.collect(id);
    }

    /// Copies a message that was held back: the copy is under way too, and nobody waits for it. None if the message is not
    /// under way any more, or cannot be copied.
    pub fn repeat(&mut self, id: ActivityId) -> Option<ActivityId> {
        let activity = self.activities.get(id).filter(|activity| activity.state == State::UnderWay)?;
        let Kind::Comm(comm) = &activity.kind else { unreachable!("only communications are under way") };
        let payload = match &comm.payload {
            None => None,
            Some(payload) => Some(Repeatable::copy(payload)?),
        };
        let copy = comm.copied(payload);
        Some(self.activities.insert(|| Activity::new(Kind::Comm(copy), State::UnderWay, Held::default())))
    }

    /// What the actor does after it started an activity.
    pub(super) fn follow(&mut self, actor: ActorId, id: ActivityId, follow: Follow) -> Served {
        match follow {
            Follow::Return => Served::Answered(Answer::Activity(id)),
            Follow::Wait(timeout) => Served::Then(Simcall::WaitAny {
                activities: ActivitySet::from_slice(&[id]),
                timeout,
                on_timeout: OnTimeout::GiveUp,
                release: true,
            }),
            Follow::Detach => {
                // The activity stays with its actor, which ends it when it ends itself; nobody asks about it.
                self.forget(actor, id);
                Served::Answered(Answer::Ready)
            }
        }
    }

    /// Sender and receiver have met: the message sets out.
    #[inline]
    fn start_transfer(&mut self, id: ActivityId, met: Met) {
        let Met { sender, receiver, dst, bytes, rate, paused } = met;
        let src = self.actors[sender.index()].host;
        match self.has_effects() {
            false => self.pending_transfer = Some(PendingTransfer { activity: id, src, dst, bytes, rate }),
            true => self.effects.push_back(Effect::Transfer { activity: id, src, dst, bytes, rate }),
        }
        if paused {
            self.effects.push_back(Effect::Pause(id));
        }
        self.tell(|kernel| {
            let Some(Activity { kind: Kind::Comm(comm), .. }) = kernel.activities.get(id) else {
                unreachable!("it was just matched")
            };
            let (mailbox, posted) = (comm.mailbox, comm.posted);
            Event::TransferStarted { activity: id, sender, receiver, src, dst, mailbox, bytes, posted }
        });
    }

    /// Waits for one activity: what a wait for a set of one comes to.
    #[inline(always)]
    pub(super) fn wait_one(
        &mut self,
        actor: ActorId,
        id: ActivityId,
        timeout: Option<f64>,
        on_timeout: OnTimeout,
        release: bool,
    ) -> Served {
        match self.activities.get_mut(id) {
            Some(activity) if !matches!(activity.state, State::Over(_)) => activity.waiters.push(actor),
            _ => return self.is_over(actor, id, release),
        }
        let at_once = timeout.is_some_and(|seconds| seconds <= 0.0);
        self.block(actor, Waiting::One { id, on_timeout, release }, timeout.filter(|_| !at_once));
        if at_once {
            self.time_out(actor);
        }
        Served::Blocked
    }

    /// What an actor waits for is over already, or forgotten.
    #[cold]
    fn is_over(&mut self, actor: ActorId, id: ActivityId, release: bool) -> Served {
        let over = self.first_over(actor, &[id], release);
        Served::Answered(over.expect("what is over, or forgotten, is found so"))
    }

    pub(super) fn wait_any(
        &mut self,
        actor: ActorId,
        set: ActivitySet,
        timeout: Option<f64>,
        on_timeout: OnTimeout,
        release: bool,
    ) -> Served {
        if let [id] = set[..] {
            return self.wait_one(actor, id, timeout, on_timeout, release);
        }
        if let Some(answer) = self.first_over(actor, &set, release) {
            return Served::Answered(answer);
        }
        for &id in &set {
            if let Some(activity) = self.activities.get_mut(id) {
                activity.waiters.push(actor);
            }
        }
        // An empty set, or a timeout of 0, is over at once.
        let at_once = timeout.is_some_and(|seconds| seconds <= 0.0);
        let several = Box::new(Several { set, on_timeout, release });
        self.block(actor, Waiting::Several(several), timeout.filter(|_| !at_once));
        if at_once {
            self.time_out(actor);
        }
        Served::Blocked
    }

    pub(super) fn test_any(&mut self, actor: ActorId, set: &ActivitySet) -> Served {
        Served::Answered(self.first_over(actor, set, false).unwrap_or(Answer::Nothing))
    }

    /// The first of the set that is over, in the order of the set. An activity that was forgotten counts as cancelled.
    fn first_over(&mut self, actor: ActorId, set: &[ActivityId], release: bool) -> Option<Answer> {
        for (index, &id) in set.iter().enumerate() {
            let state = self.activities.get(id).map_or(State::Over(Err(Failure::Cancelled)), |a| a.state);
            if let State::Over(result) = state {
                let result =
                    result.map(|()| self.activities.get_mut(id).and_then(|over| over.take_payload(id)));
                if release {
                    self.forget(actor, id);
                }
                return Some(Answer::over(index as u32, result));
            }
        }
        None
    }

    /// The activity is over: whoever waits for it is woken, in the order in which they began to.
    pub(super) fn wake_waiters(&mut self, id: ActivityId) {
        while let Some((actor, result)) = self.wake_single_waiters(id) {
            match self.actors[actor.index()].waiting {
                Waiting::All(_) => self.wake_from_all(actor),
                _ => self.wake_from_several(actor, id, result),
            }
        }
    }

    /// The same, up to the first who waits for others as well; that one, and what is to be told, is the answer.
    #[inline]
    fn wake_single_waiters(&mut self, id: ActivityId) -> Option<(ActorId, Result<(), Failure>)> {
        let Self { activities, actors, ready, timers, events, listening, lazy_timer_cancel, .. } = self;
        let activity = activities.get_mut(id)?;
        while let Some(actor) = activity.waiters.first() {
            let State::Over(result) = activity.state else {
                unreachable!("only what is over wakes its waiters")
            };
            let record = &mut actors[actor.index()];
            let Waiting::One { id: end, release, .. } = record.waiting else {
                return Some((actor, result));
            };
            activity.waiters.remove_first();
            // The answer is written where it is read, and not handed on as a whole: that would be waited for.
            match result {
                Ok(()) => {
                    let message = activity.take_payload(end);
                    record.answer = Some(Answer::Completed { index: 0, message });
                }
                Err(failure) => record.answer = Some(Answer::Failed { index: 0, failure }),
            }
            if release {
                let_go(activity, end, record);
            }
            record.stop_waiting(actor, *lazy_timer_cancel, timers);
            if *listening {
                events.push(Event::Unblocked { actor });
            }
            record.let_run(actor, ready);
        }
        None
    }

    /// One of the activities that an actor waits for is over.
    fn wake_from_several(&mut self, actor: ActorId, id: ActivityId, result: Result<(), Failure>) {
        let record = &mut self.actors[actor.index()];
        let Waiting::Several(several) = &record.waiting else {
            unreachable!("whoever is registered with an activity waits for activities")
        };
        let index = several.set.iter().position(|&other| other == id).expect("it waited for this one");
        let (end, release) = (several.set[index], several.release);
        self.unregister(actor);
        let Some(activity) = self.activities.get_mut(id) else { return };
        let result = result.map(|()| activity.take_payload(end));
        if release {
            let_go(activity, end, &mut self.actors[actor.index()]);
        }
        self.unblock(actor, Answer::over(index as u32, result));
    }

    /// The actor waits for none of its activities any more.
    fn unregister(&mut self, actor: ActorId) {
        for id in self.actors[actor.index()].waiting.activities() {
            if let Some(activity) = self.activities.get_mut(*id) {
                activity.waiters.remove(actor);
            }
        }
    }

    /// The wait for these activities timed out.
    pub(super) fn give_up(
        &mut self,
        actor: ActorId,
        set: &[ActivityId],
        on_timeout: OnTimeout,
        release: bool,
    ) {
        self.unregister(actor);
        self.stop_waiting(actor);
        self.actors[actor.index()].answer = Some(Answer::TIMED_OUT);
        self.let_run(actor);
        for &id in set {
            let is_comm = matches!(self.activities.get(id), Some(Activity { kind: Kind::Comm(_), .. }));
            if on_timeout == OnTimeout::GiveUp && is_comm {
                self.cancel(id, Failure::Timeout);
            }
            if release {
                self.forget(actor, id);
            }
        }
    }

    /// The actor leaves the wait that it was killed in.
    pub(super) fn leave_wait(&mut self, actor: ActorId) {
        self.unregister(actor);
    }

    /// Stops an activity, whatever it does; for everyone who waits for it, now or later, it failed.
    pub(super) fn cancel(&mut self, id: ActivityId, failure: Failure) {
        let Some(activity) = self.activities.get_mut(id) else { return };
        match activity.state {
            State::Over(_) => return,
            State::Running => {
                activity.state = State::Over(Err(failure));
                let note = Some(std::mem::replace(&mut activity.driver_data, Activity::NO_DATA));
                self.effects.push_back(Effect::Stop(id, note.filter(|&note| note != Activity::NO_DATA)));
                self.tell(|_| Event::ActivityEnded { activity: id, result: Err(failure) });
            }
            State::UnderWay => activity.state = State::Over(Err(failure)),
            State::Posted => {
                activity.state = State::Over(Err(failure));
                let Kind::Comm(comm) = &activity.kind else { unreachable!("only communications are posted") };
                let (mailbox, is_send) = (comm.mailbox.index(), comm.sender().is_some());
                let mailbox = &mut self.mailboxes[mailbox];
                let queue = if is_send { &mut mailbox.sends } else { &mut mailbox.receives };
                queue.remove(id, &mut self.activities);
            }
        }
        self.wake_waiters(id);
        self.collect(id);
    }

    pub(super) fn pause(&mut self, id: ActivityId, paused: bool) -> Served {
        if let Some(activity) = self.activities.get_mut(id)
            && activity.paused != paused
        {
            activity.paused = paused;
            if activity.state == State::Running {
                self.effects.push_back(if paused { Effect::Pause(id) } else { Effect::Continue(id) });
            }
        }
        Served::Answered(Answer::Ready)
    }

    /// Records that the actor is to blame for the activity: it ends with it.
    pub(super) fn own(&mut self, actor: ActorId, id: ActivityId) {
        let more = self.actors[actor.index()].more.get_or_insert_default();
        if more.owned.len() >= (more.owned_limit as usize).max(8) {
            let activities = &self.activities;
            more.owned.retain(|&owned| activities.get(owned).is_some());
            more.owned_limit = 2 * more.owned.len() as u32;
        }
        more.owned.push(id);
    }

    /// The actor will not ask about the activity any more.
    pub(super) fn forget(&mut self, actor: ActorId, id: ActivityId) {
        if let Some(activity) = self.activities.get_mut(id) {
            let_go(activity, id, &mut self.actors[actor.index()]);
        }
        self.collect(id);
    }

    /// Frees the slot of an activity that is over and that nobody can ask about.
    #[inline]
    pub(super) fn collect(&mut self, id: ActivityId) {
        if let Some(Activity { state: State::Over(_), held, .. }) = self.activities.get(id)
            && *held == Held::default()
        {
            self.activities.remove(id);
        }
    }

    /// What waiting for this activity means to its actor.
    pub(super) fn purpose(&self, id: ActivityId) -> Reason {
        match self.activities.get(id).map(|activity| &activity.kind) {
            Some(Kind::Comm(comm)) if id.is_receiving() => Reason::Receiving(comm.mailbox),
            Some(Kind::Comm(comm)) => Reason::Sending(comm.mailbox),
            Some(Kind::Execution { .. }) => Reason::Executing,
            Some(Kind::Access { what, .. }) => match what.direction {
                simurgh_models::Direction::Read => Reason::Reading(what.disk),
                simurgh_models::Direction::Write => Reason::Writing(what.disk),
            },
            Some(Kind::Parallel { .. } | Kind::Flow { .. }) => Reason::Parallel,
            None => Reason::WaitingAny(0),
        }
    }
}

/// A message and a receive that have just met.
struct Met {
    sender: ActorId,
    receiver: ActorId,
    dst: HostId,
    bytes: f64,
    rate: Option<f64>,
    paused: bool,
}

impl Met {
    /// What is known of them, in one place now; they are under way.
    #[inline]
    fn new(activity: &mut Activity) -> Self {
        activity.state = State::Running;
        let Kind::Comm(comm) = &activity.kind else { unreachable!("only communications are matched") };
        let (Some(sender), Some(receiver)) = (comm.sender(), comm.receiver()) else {
            unreachable!("a matched communication has both ends")
        };
        let rate = comm.rate.is_finite().then_some(comm.rate);
        Self { sender, receiver, dst: comm.destination, bytes: comm.bytes, rate, paused: activity.paused }
    }
}

/// The actor at this end of an activity will not ask about it any more. Whoever calls collects what nobody asks about.
#[inline]
fn let_go<K>(activity: &mut Activity, end: ActivityId, actor: &mut Actor<K>) {
    let held = &mut activity.held;
    *(if end.is_receiving() { &mut held.receiver } else { &mut held.owner }) = false;
    if matches!(activity.state, State::Over(_))
        && let Some(more) = &mut actor.more
        && more.owned.last() == Some(&end)
    {
        more.owned.pop();
    }
}
