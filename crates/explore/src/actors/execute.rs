//! One step: a request is served with one of its outcomes, then its actor runs up to its next request that matters.

use simurgh_kernel::activity::Held;
use simurgh_kernel::context::{Body, Place, Resumed, part};
use simurgh_kernel::ids::{ActivityId, ActorId, MailboxId};
use simurgh_kernel::kernel::{Effect, Kernel, Served};
use simurgh_kernel::operation::{Deed, Noted, Operation, Patience, Side, Token};
use simurgh_kernel::simcall::{Answer, Note, Simcall, SpawnRequest};
use simurgh_models::SimTime;
use simurgh_search::fingerprint::fingerprint;

use super::enabled::{arrival_step, kind_of_return, kind_of_wait, transition};
use super::faults::fate_of;
use super::{Actors, Comm, Message, Network, Next, Process, place_of};
use crate::determinism::Exchange;
use crate::endless::{AT_ITS_END, LOCAL_MAX, endless};
use crate::transition::{Awaited, Ending, Fate, Kind, Post, Posting, Transition};
use crate::verdict::{Step, Violation};

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// A message under way reaches its mailbox. One that was taken back travels too, and nothing comes of it: so taking
    /// back makes no step impossible, and the race of the two is seen whoever is first.
    pub(super) fn arrive(&mut self, step: Step) -> Transition {
        let index = self.messages.iter().position(|message| arrival_step(message.post) == step);
        let message = self.messages.remove(index.expect("a message arrives that is under way"));
        self.deliver(&message);
        self.arrival(&message)
    }

    fn deliver(&mut self, message: &Message) {
        let Some(receive) = self.kernel.deliver(message.activity) else { return };
        let met = self.comm_mut(receive);
        met.send = Some(message.post);
        let recv = met.recv.expect("a receive was posted");
        self.comm_mut(message.activity).recv = Some(recv);
        self.meetings.push((recv, message.post));
    }

    pub(super) fn act(&mut self, actor: ActorId, choice: u32) -> Transition {
        let process = &mut self.processes[actor.index()];
        process.acted = true;
        if let Some(note) = process.returns.pop_front() {
            let kind = kind_of_return(&note);
            self.leave_behind(actor, &kind);
            self.kernel.serve_note(actor, note);
            self.go_on_locally(actor);
            return transition(actor, choice, kind);
        }
        match std::mem::take(&mut process.next) {
            Next::Nothing => unreachable!("an actor acts that has something to do"),
            Next::Queued(wait) => self.leave_queue(actor, wait, choice),
            Next::Ask(simcall) => self.serve(actor, simcall, choice),
        }
    }

    /// Once all was given back, what an actor asks next may be its own affair, which goes with the step before it.
    fn go_on_locally(&mut self, actor: ActorId) {
        match std::mem::take(&mut self.processes[actor.index()].next) {
            Next::Ask(simcall) => match self.serve_local(actor, simcall) {
                Ok(answer) => self.advance(actor, Some(answer), 0),
                Err(simcall) => self.stop(actor, simcall),
            },
            other => self.processes[actor.index()].next = other,
        }
    }

    /// An actor goes on with what it queued for, or gives up.
    fn leave_queue(&mut self, actor: ActorId, wait: Kind, choice: u32) -> Transition {
        let timeout = choice == Step::OTHERWISE;
        let kind = kind_of_wait(&wait, self.processes[actor.index()].timed, timeout);
        if timeout {
            self.processes[actor.index()].timer = false;
            self.processes[actor.index()].next = Next::Queued(wait);
            // A condition's lock must be had again before the actor goes on; all else goes on now.
            self.kernel.timer_fired(actor);
            self.settle();
            self.take_grants();
        }
        if std::mem::take(&mut self.processes[actor.index()].granted) {
            let answer = self.kernel.take_answer(actor);
            self.processes[actor.index()].next = Next::Nothing;
            let seen = self.found_behind(&kind);
            self.advance(actor, answer, seen);
        }
        transition(actor, choice, kind)
    }

    /// An actor gives a lock back: what it guards depends on what the actor was told until now.
    fn leave_behind(&mut self, actor: ActorId, kind: &Kind) {
        if let Kind::Give(Token::Mutex(lock)) | Kind::ConditionPost(_, Token::Mutex(lock)) = *kind {
            let guarded = place_of(&mut self.guarded, lock.index());
            *guarded = mix(*guarded, self.processes[actor.index()].history);
        }
    }

    /// What an actor finds behind a lock that it takes, as a number.
    fn found_behind(&self, kind: &Kind) -> u64 {
        match *kind {
            Kind::TryTake(Token::Mutex(lock))
            | Kind::TakeWait(Token::Mutex(lock), _)
            | Kind::ConditionWait(_, Token::Mutex(lock), _) => {
                self.guarded.get(lock.index()).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Serves a request with one of its outcomes.
    fn serve(&mut self, actor: ActorId, mut simcall: Simcall, choice: u32) -> Transition {
        let operation = simcall.operation();
        let kind = self.kind_of(actor, &operation, choice);
        match kind {
            Kind::Wait { .. } => {
                if let Operation::Wait { set, .. } = operation {
                    self.let_end(set, choice);
                }
                match choice {
                    Step::OTHERWISE => simcall.wait_no_longer(),
                    index => simcall.wait_only_for(index),
                }
                let served = self.kernel.serve(actor, simcall);
                self.completed(actor, served, choice, &kind);
            }
            Kind::Choose => self.advance(actor, Some(Answer::Chosen(choice)), 0),
            Kind::Join(_, Ending { timeout, .. }) => self.advance(actor, Some(Answer::Flag(!timeout)), 0),
            Kind::Post(Posting { post, mailbox, side: side @ Side::Recv(criteria), .. }) => {
                let served = self.kernel.serve(actor, simcall);
                self.observe(mailbox, &criteria);
                self.note_receive(post, mailbox, side, &served);
                self.posted(actor, served);
            }
            Kind::Post(Posting { post, .. }) | Kind::Submit { post, .. } => {
                if let Operation::Post { message: Some(message), .. } = operation {
                    let (mailbox, envelope) = (message.mailbox.0, message.envelope);
                    let bytes = message.bytes.to_bits();
                    self.record(post, Exchange::Sent { mailbox, envelope, bytes });
                    self.note_unrepeatable(message, self.place(actor));
                }
                let served = self.kernel.serve(actor, simcall);
                self.take_message(post, fate_of(choice));
                self.posted(actor, served);
            }
            Kind::Expose(slot, _) => self.expose(actor, slot, simcall),
            _ => {
                match operation {
                    Operation::Exit if self.keeps_posts => self.kernel.disown(actor),
                    Operation::Cancel(id) if choice == Step::OTHERWISE => {
                        self.let_end(&[id], 0);
                        let history = &mut self.processes[actor.index()].history;
                        *history = mix(*history, 8);
                    }
                    Operation::Probe(mailbox, criteria) => self.observe(mailbox.0, &criteria),
                    _ => {}
                }
                self.serve_plain(actor, simcall, &kind);
            }
        }
        transition(actor, choice, kind)
    }

    /// Work that is found over is over from now on.
    fn let_end(&mut self, set: &[ActivityId], choice: u32) {
        if let Some(&id) = set.get(choice as usize).filter(|&&id| self.is_at_work(id)) {
            self.kernel.finish(id, Ok(()));
        }
    }

    /// A wait or a test is over.
    fn completed(&mut self, actor: ActorId, served: Served, choice: u32, kind: &Kind) {
        let mut answer = match served {
            Served::Answered(answer) => Some(answer),
            // A wait of no time has timed out: its answer lies ready.
            Served::Blocked => {
                self.settle();
                self.take_grants();
                self.processes[actor.index()].granted = false;
                self.kernel.take_answer(actor)
            }
            Served::Then(_) | Served::Gone => unreachable!("a wait is answered"),
        };
        if let Some(Answer::Completed { index, .. } | Answer::Failed { index, .. }) = &mut answer
            && choice != Step::OTHERWISE
        {
            *index = choice;
        }
        // What was received tells histories apart, not the identities that the kernel gave.
        let Kind::Wait { awaited, taken, .. } = kind else { unreachable!("a wait") };
        self.processes[actor.index()].unclaimed.retain(|(_, posted)| Some(posted.post) != *taken);
        let partner = awaited.iter().find(|a| Some(a.post) == *taken).and_then(|a| a.partner);
        let seen = partner.map_or(0, |post| mix(u64::from(post.actor) + 1, u64::from(post.number)));
        self.advance(actor, answer, seen);
    }

    /// A post was made.
    fn posted(&mut self, actor: ActorId, served: Served) {
        self.processes[actor.index()].posts += 1;
        self.settle();
        match served {
            Served::Answered(answer) => self.advance(actor, Some(answer), 0),
            Served::Then(next) => self.stop(actor, next),
            Served::Blocked | Served::Gone => unreachable!("a post does not wait"),
        }
    }

    /// A message was just sent: it is under way now, or in its mailbox where messages do not travel.
    fn take_message(&mut self, post: Post, fate: Fate) {
        let Some(Effect::UnderWay(activity)) = self.kernel.next_effect() else {
            unreachable!("messages are held back")
        };
        let Some(simurgh_kernel::activity::Kind::Comm(comm)) =
            self.kernel.activities().get(activity).map(|activity| &activity.kind)
        else {
            unreachable!("a message was sent")
        };
        let (mailbox, envelope, detached) = (comm.mailbox.0, comm.envelope(), comm.detached);
        if !detached {
            self.claim(activity, post, mailbox, Side::Send(envelope));
        }
        *self.comm_mut(activity) = Comm { bits: activity.to_bits(), mailbox, send: Some(post), recv: None };
        let message = Message { post, activity, mailbox, envelope };
        if self.network == Network::Mailbox {
            return self.deliver(&message);
        }
        self.meet_fate(message, fate);
    }

    /// A message is under way.
    pub(super) fn set_out(&mut self, message: Message) {
        let index = self.messages.partition_point(|other| other.post < message.post);
        self.messages.insert(index, message);
    }

    /// An actor has posted this, and was not told the end of it.
    fn claim(&mut self, activity: ActivityId, post: Post, mailbox: u32, side: Side) {
        let posted = Awaited { post, mailbox, side, partner: None, lost: false };
        self.processes[post.actor as usize].unclaimed.push((activity, posted));
    }

    /// Notes which communication a receive is part of, and the send that it met.
    fn note_receive(&mut self, post: Post, mailbox: u32, side: Side, served: &Served) {
        self.record(post, Exchange::Received { mailbox, message: None });
        let id = match served {
            Served::Answered(Answer::Activity(id)) => *id,
            Served::Then(Simcall::WaitAny { activities, .. }) => activities[0],
            // A receive that nobody asks about: all that is known of it is what it met.
            _ => match self.kernel.next_effect() {
                Some(Effect::Transfer { activity, .. }) => {
                    let send = self.comm(activity).and_then(|comm| comm.send);
                    self.claim(activity, post, mailbox, side);
                    self.comm_mut(activity).recv = Some(post);
                    self.meetings.extend(send.map(|send| (post, send)));
                    return self.kernel.finish(activity, Ok(()));
                }
                _ => {
                    let queue = self.kernel.mailbox(MailboxId(mailbox)).receives;
                    queue.iter(self.kernel.activities()).last().expect("it was just posted")
                }
            },
        };
        self.claim(id, post, mailbox, side);
        let known = self.comm(id).and_then(|comm| comm.send);
        *self.comm_mut(id) = Comm { bits: id.to_bits(), mailbox, send: known, recv: Some(post) };
        self.meetings.extend(known.map(|send| (post, send)));
    }

    /// Serves a request that has one outcome, now or after a queue.
    fn serve_plain(&mut self, actor: ActorId, simcall: Simcall, kind: &Kind) {
        let process = &mut self.processes[actor.index()];
        (process.granted, process.timed) = (false, false);
        let operation = simcall.operation();
        let wait = match *kind {
            Kind::Take(token) => Some(Kind::TakeWait(token, Ending::default())),
            Kind::ConditionPost(condition, lock) => {
                Some(Kind::ConditionWait(condition, lock, Ending::default()))
            }
            Kind::BarrierPost { barrier, round, .. } => Some(Kind::BarrierWait(barrier, round)),
            // Halted by itself.
            _ if matches!(operation, Operation::Interfere(Deed::Halt, target) if target == Some(actor)) => {
                Some(Kind::Interfere)
            }
            _ => None,
        };
        let could_wait = operation.is_timed();
        self.leave_behind(actor, kind);
        let served = self.kernel.serve(actor, simcall);
        let served = match *kind {
            Kind::BarrierPost { barrier, told, .. } => self.come_to_barrier(actor, barrier, told, served),
            _ => served,
        };
        let may_queue = wait.is_some();
        if let (Some(wait), Served::Answered(_) | Served::Blocked) = (wait, &served) {
            let process = &mut self.processes[actor.index()];
            (process.next, process.timed) = (Next::Queued(wait), could_wait);
        }
        match served {
            Served::Answered(answer) if may_queue => self.kernel.answer(actor, answer),
            Served::Answered(answer) => {
                self.settle();
                if self.kernel.is_alive(actor) {
                    let seen = self.found_behind(kind);
                    self.advance(actor, Some(answer), seen);
                }
            }
            Served::Blocked => debug_assert!(may_queue, "only what may queue is blocked"),
            Served::Gone => {}
            Served::Then(_) => unreachable!("only posts are followed by a wait"),
        }
    }

    /// Carries out what the kernel wants done in the world. Messages that met are over at once; work is as soon as somebody
    /// finds that it is.
    pub(super) fn settle(&mut self) {
        for &(actor, duration) in self.kernel.timers() {
            let process = &mut self.processes[actor.index()];
            process.timer = duration.is_some();
            process.timed |= process.timer;
        }
        self.kernel.clear_timers();
        while let Some(effect) = self.kernel.next_effect() {
            match effect {
                Effect::Transfer { activity, .. } => self.kernel.finish(activity, Ok(())),
                Effect::Execute(activity)
                | Effect::Access(activity, _)
                | Effect::Parallel(activity, _)
                | Effect::Flow(activity, _) => {
                    let activities = self.kernel.activities();
                    if activities.get(activity).is_some_and(|activity| activity.held == Held::default()) {
                        // Nobody will ever look.
                        self.kernel.finish(activity, Ok(()));
                    }
                }
                Effect::Started(actor, request) => self.keep_code(actor, *request),
                Effect::Ended { actor, failed } => self.drop_code(actor, failed),
                Effect::UnderWay(_) => unreachable!("a send takes its message itself"),
                Effect::Stop(..) | Effect::Pause(_) | Effect::Continue(_) | Effect::Move(..) => {}
            }
        }
    }

    fn keep_code(&mut self, actor: ActorId, request: SpawnRequest) {
        debug_assert_eq!(actor.index(), self.count, "actors are numbered in the order of their creation");
        if self.processes.len() == self.count {
            self.processes.push(Process::default());
        }
        self.pulse.knows(self.count, &request.name);
        self.processes[self.count].body = Some(request.body);
        self.count += 1;
    }

    fn drop_code(&mut self, actor: ActorId, failed: bool) {
        self.traffic.iter_mut().filter(|_| !failed).for_each(|traffic| traffic.ended.push(actor.0));
        let process = &mut self.processes[actor.index()];
        (process.granted, process.timer) = (false, false);
        let mut notes: Vec<Note> = process.returns.drain(..).collect();
        let failures = self.see_out(actor, failed);
        self.failures.extend(failures.into_iter().map(|failure| (failure, None)));
        notes.append(&mut self.door.notes);
        notes.into_iter().for_each(|note| self.kernel.serve_note(actor, note));
    }

    /// Drops the code of an actor: what went wrong then.
    fn see_out(&mut self, actor: ActorId, failed: bool) -> Vec<Violation> {
        let process = &mut self.processes[actor.index()];
        self.door.prepare(actor, self.kernel.actor_host(actor), SimTime::ZERO, None);
        self.pulse.runs(actor.0, process.place);
        process.body.take().into_iter().for_each(|body| body.dispose(&mut self.door));
        if let Next::Ask(request) = std::mem::take(&mut process.next) {
            Body::dispose_request(request, &mut self.door);
        }
        let panics = part(std::mem::take(&mut process.on_exit), failed, &mut self.door);
        self.pulse.rests();
        self.door.said.clear();
        let failure = |panic| Violation::Failed { actor: actor.0, message: format!("{AT_ITS_END}: {panic}") };
        panics.into_iter().map(failure).collect()
    }

    /// Daemons end when all is over, which nobody can notice any more: what went wrong then.
    pub(super) fn see_out_daemons(&mut self) -> Vec<Violation> {
        let all = (0..self.count).map(ActorId::from_index);
        let left: Vec<ActorId> = all.filter(|&actor| self.kernel.is_alive(actor)).collect();
        let failures = left.into_iter().flat_map(|daemon| self.see_out(daemon, true)).collect();
        self.door.notes.clear();
        failures
    }

    /// Lets new actors run up to their first request, and marks those whose turn in a queue has come.
    pub(super) fn wake(&mut self) {
        loop {
            self.take_grants();
            if self.begun == self.count {
                return;
            }
            let new = ActorId::from_index(self.begun);
            self.begun += 1;
            if self.processes[new.index()].body.is_some() {
                self.advance(new, None, 0);
            }
            self.settle();
        }
    }

    fn take_grants(&mut self) {
        self.kernel.take_ready(&mut self.ready);
        for actor in self.ready.drain(..) {
            let process = &mut self.processes[actor.index()];
            process.granted = matches!(process.next, Next::Queued(_));
        }
    }

    /// Runs an actor up to its next request that is not its own affair.
    pub(super) fn advance(&mut self, actor: ActorId, answer: Option<Answer>, seen: u64) {
        self.remember(actor, answer.as_ref(), seen);
        self.go_on(actor, answer);
        self.pulse.rests();
    }

    fn go_on(&mut self, actor: ActorId, mut answer: Option<Answer>) {
        for _ in 0..LOCAL_MAX {
            let Some(simcall) = self.resume(actor, answer.take()) else {
                return self.stop(actor, Simcall::Exit);
            };
            match self.serve_local(actor, simcall) {
                Ok(local) => answer = Some(local),
                Err(simcall) => return self.stop(actor, simcall),
            }
        }
        self.fail(actor, endless(), self.place(actor));
        self.stop(actor, Simcall::Exit);
    }

    /// An actor stands still, and will ask this next.
    fn stop(&mut self, actor: ActorId, simcall: Simcall) {
        self.processes[actor.index()].next = Next::Ask(simcall);
    }

    fn remember(&mut self, actor: ActorId, answer: Option<&Answer>, seen: u64) {
        let what = match answer {
            None | Some(Answer::Ready | Answer::Activity(_)) => 0,
            Some(Answer::Completed { index, .. }) => mix(1, u64::from(*index) << 1 | 1),
            Some(Answer::Failed { index, .. }) => mix(1, u64::from(*index) << 1),
            Some(Answer::Nothing) => 2,
            Some(Answer::Actor(actor)) => mix(3, u64::from(actor.0)),
            Some(Answer::Flag(flag)) => mix(4, u64::from(*flag)),
            Some(Answer::Chosen(number)) => mix(5, u64::from(*number)),
            Some(Answer::Probed(probed)) => fingerprint(&(
                6u8,
                probed.as_deref().map(|(e, bytes)| (e.context, e.source, e.tag, bytes.to_bits())),
            )) as u64,
            Some(Answer::Number(_) | Answer::Platform(_)) => 7,
            Some(Answer::All(_)) => unreachable!("a search is asked to wait for one after the other"),
        };
        let history = &mut self.processes[actor.index()].history;
        *history = mix(mix(*history, what), seen);
    }

    /// Runs the code of an actor up to its next request; `None` at its end.
    fn resume(&mut self, actor: ActorId, answer: Option<Answer>) -> Option<Simcall> {
        let host = self.kernel.actor_host(actor);
        let process = &mut self.processes[actor.index()];
        let body = process.body.as_mut().expect("a living actor has code");
        let door = &mut self.door;
        door.prepare(actor, host, SimTime::ZERO, answer);
        self.pulse.runs(actor.0, process.place);
        let resumed = body.resume(door);
        process.on_exit.append(&mut door.on_exit);
        match &mut self.said {
            Some(said) => said.extend(door.said.drain(..).map(|text| (actor.0, text))),
            None => door.said.clear(),
        }
        // An error that says nothing of its place is that of the request before it.
        let place = door.place().or(process.place);
        process.place = place;
        process.label = door.label.take();
        for note in door.notes.drain(..) {
            match note.tokens() {
                Noted::Give(_) => process.returns.push_back(note),
                Noted::Make(..) | Noted::Other => self.kernel.serve_note(actor, note),
            }
        }
        match resumed {
            Resumed::Asked => return self.door.simcall.take(),
            Resumed::Ended => self.processes[actor.index()].place = None,
            Resumed::Failed(fault) => self.fail(actor, fault.to_string(), place),
        }
        None
    }

    fn fail(&mut self, actor: ActorId, message: String, place: Option<Place>) {
        self.failures.push((Violation::Failed { actor: actor.0, message }, place));
    }

    /// Whether an activity is over, and no communication: nobody else has a part in it.
    fn is_known(&self, id: ActivityId) -> bool {
        self.is_over(id) && self.awaited(id).is_none()
    }

    /// Serves a request that concerns nobody else; others are given back. After something to be given back in a step
    /// of its own, all requests are.
    fn serve_local(&mut self, actor: ActorId, simcall: Simcall) -> Result<Answer, Simcall> {
        if !self.processes[actor.index()].returns.is_empty() {
            return Err(simcall);
        }
        let is_local = match simcall.operation() {
            Operation::Local => return Ok(simcall.answer_without_time()),
            Operation::Cancel(id) if self.is_known(id) => return Ok(Answer::Ready),
            Operation::Wait { set, patience } if patience != Patience::Now => match set[..] {
                // The only thing to wait for is an execution or disk access, for as long as it takes.
                [id] if patience == Patience::Forever && self.is_at_work(id) => {
                    self.let_end(&[id], 0);
                    true
                }
                [id] => self.is_known(id),
                _ => false,
            },
            Operation::Work(_) | Operation::Adjust => true,
            // What no invariant looks at is seen by nobody.
            Operation::Expose(slot, _) => self.watched(slot) == 0,
            // At its start this is nobody's business; later it may end all.
            Operation::BecomeDaemon if !self.processes[actor.index()].acted => {
                self.learned |= actor.index() >= self.first && !self.spawned_daemons;
                self.spawned_daemons |= actor.index() >= self.first;
                true
            }
            _ => false,
        };
        if !is_local {
            return Err(simcall);
        }
        let served = self.kernel.serve(actor, simcall);
        self.settle();
        match served {
            Served::Answered(answer) => Ok(answer),
            Served::Then(next) => self.serve_local(actor, next),
            Served::Blocked | Served::Gone => unreachable!("what is local is answered at once"),
        }
    }
}

/// Folds one number into another.
fn mix(into: u64, number: u64) -> u64 {
    let folded = u128::from(into ^ 0x9E37_79B9_7F4A_7C15) * u128::from(number ^ 0xD6E8_FEB8_6659_FD93);
    (folded as u64 ^ (folded >> 64) as u64).rotate_left(23)
}
