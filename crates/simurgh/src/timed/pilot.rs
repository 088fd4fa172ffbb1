//! Steering: a program made into one that takes a given way, whatever the time says.
//!
//! Each actor gets a pilot: code that runs the actor's own code from simcall to simcall, and asks the kernel something
//! slightly different. Every send carries a label of its own and every receive admits the one label that its way
//! prescribes; a wait for one of several is a wait for the prescribed one; a test asks for what it is to find; a token
//! of a lock or semaphore is one that nobody else can take. So the kernel and the models need not know that anything is
//! steered, and every operation takes the time that it takes.
//!
//! One simcall is replaced by one simcall, so that an actor takes the same turns as without a pilot. A pilot that
//! prescribes nothing only writes down what happens.

use std::sync::Arc;

use simurgh_explore::receives::way::{Outcome, Place, Way};
use simurgh_kernel::context::{Body, Ending, Leavings, Resumed, call, leave, with_port};
use simurgh_kernel::simcall::{
    ActivitySet, Answer, Criteria, Envelope, Follow, Note, OnTimeout, RecvRequest, SendRequest, Simcall,
    SpawnRequest,
};

use super::log::{End, Log, Posted, Spot, Trouble};
use crate::program::Program;

/// Gives every actor of a program a pilot. Without a way, the pilots only write down what happens.
pub(super) fn board(program: Program, way: Option<Arc<Way>>) -> (Program, Arc<Log>) {
    let log = Arc::new(Log::new(program.shared()));
    let program = program.convert(
        |process, request| {
            let process = log.add(Some(process), &request.name, request.daemon);
            steered(request, Pilot { process, way: way.clone(), log: Arc::clone(&log) })
        },
        // Objects that were there before the actors belong to the first one, as for the exploration.
        |notes| Pilot { process: 0, way: way.clone(), log: Arc::clone(&log) }.convert_notes(notes),
    );
    (program, log)
}

/// The actor with its pilot. If its host fails it is gone for good: no way has it starting again.
fn steered(mut request: SpawnRequest, pilot: Pilot) -> SpawnRequest {
    request.body = Body::Future(Box::pin(pilot.fly(request.body)));
    request.reboot = None;
    request
}

/// A way in which nobody ever gets what is asked for.
const NOBODY: u32 = u32::MAX;

/// Who steers one actor.
struct Pilot {
    process: u32,
    way: Option<Arc<Way>>,
    log: Arc<Log>,
}

impl Pilot {
    /// Runs the code of an actor to its end.
    async fn fly(self, mut body: Body) -> Ending {
        let mut answer = None;
        loop {
            let place =
                with_port(|port| port.actor.zip(port.host).map(|(actor, host)| (actor, host, port.now)));
            let (actor, host, now) = place.flatten().expect("an actor runs inside of its port");
            let mut leavings = Leavings::default();
            let resumed = body.resume(actor, host, now, answer.take(), &mut leavings);
            self.pass_on(leavings);
            let ending = match resumed {
                Resumed::Asked(simcall) => match self.ask(simcall).await {
                    Ok(answered) => {
                        answer = Some(answered);
                        continue;
                    }
                    Err(trouble) => {
                        self.log.trouble(trouble);
                        return Err("it does not go the way that was prescribed".to_owned());
                    }
                },
                Resumed::Ended(ending) => ending,
                Resumed::Panicked(message) => Err(format!("panicked: {message}")),
                Resumed::Stray => {
                    Err("awaits a future that has nothing to do with the simulation".to_owned())
                }
            };
            let notes = body.dispose(actor, host, now);
            self.leave_all(notes);
            return ending;
        }
    }

    /// What the actor left besides its request goes with the request that is made in its place.
    fn pass_on(&self, leavings: Leavings) {
        with_port(|port| {
            port.on_exit.extend(leavings.on_exit);
            port.said.extend(leavings.said);
        });
        self.leave_all(leavings.notes);
    }

    fn leave_all(&self, notes: Vec<Note>) {
        for note in self.convert_notes(notes) {
            leave(note);
        }
    }

    fn convert_notes(&self, notes: Vec<Note>) -> Vec<Note> {
        let mut converted = Vec::new();
        for note in notes {
            if let Err(trouble) = self.convert_note(note, &mut converted) {
                self.log.trouble(trouble);
            }
        }
        converted
    }

    fn convert_note(&self, note: Note, into: &mut Vec<Note>) -> Result<(), Trouble> {
        let (spot, count) = match note {
            Note::Unlock(id) | Note::NewMutex(id) => (Spot::Mutex(id), 1),
            Note::Release(id) => (Spot::Semaphore(id), 1),
            Note::NewSemaphore(id, count) => (Spot::Semaphore(id), count),
            Note::Forget(_) | Note::NewCondition(_) | Note::NewBarrier(..) => {
                into.push(note);
                return Ok(());
            }
        };
        if self.way.is_none() {
            into.push(note);
        }
        for _ in 0..count {
            if let Some(posted) = self.post(spot, End::GIVE)? {
                into.push(Note::Release(self.log.token(posted.place)));
            }
        }
        Ok(())
    }

    /// Asks the kernel what the actor asks, in such a manner that the answer is the prescribed one.
    async fn ask(&self, simcall: Simcall) -> Result<Answer, Trouble> {
        match simcall {
            Simcall::Send(request, follow) => self.send(request, follow).await,
            Simcall::Recv(request, follow) => self.recv(request, follow).await,
            Simcall::WaitAny { activities, timeout: None, on_timeout, release } => {
                self.wait_any(activities, on_timeout, release).await
            }
            Simcall::TestAny { activities } => self.test_any(activities).await,
            Simcall::Choose(n) => self.choose(n).await,
            Simcall::Spawn(request) => self.spawn(request).await,
            Simcall::Lock(mutex, None) => self.take(Spot::Mutex(mutex), Simcall::Lock(mutex, None)).await,
            Simcall::Unlock(mutex) => self.give(Spot::Mutex(mutex), Simcall::Unlock(mutex)).await,
            Simcall::Acquire(id, None) => self.take(Spot::Semaphore(id), Simcall::Acquire(id, None)).await,
            Simcall::Release(id) => self.give(Spot::Semaphore(id), Simcall::Release(id)).await,
            Simcall::Execute(_, Follow::Wait(None))
            | Simcall::Access(_, Follow::Wait(None))
            | Simcall::Parallel(_, Follow::Wait(None)) => {
                let answer = call(simcall).await;
                self.succeeded(&answer)?;
                Ok(answer)
            }
            Simcall::BecomeDaemon => {
                self.log.become_daemon(self.process);
                Ok(call(simcall).await)
            }
            Simcall::Execute(_, Follow::Return | Follow::Detach)
            | Simcall::Access(_, Follow::Return | Follow::Detach)
            | Simcall::Parallel(_, Follow::Return | Follow::Detach)
            | Simcall::Sleep(_)
            | Simcall::Yield
            | Simcall::Remaining(_)
            | Simcall::Pause(_)
            | Simcall::Continue(_)
            | Simcall::Migrate(..)
            | Simcall::Platform(_)
            | Simcall::Exit
            | Simcall::Join(_, None) => Ok(call(simcall).await),
            unknown => {
                self.unknown(unknown_kind(&unknown))?;
                Ok(call(unknown).await)
            }
        }
    }

    async fn send(&self, mut request: SendRequest, follow: Follow) -> Result<Answer, Trouble> {
        if let Some(posted) = self.post(Spot::Mailbox(request.mailbox), End::Send(request.envelope))? {
            request.envelope = label(posted.place);
        }
        self.check_timeout(follow)?;
        let answer = call(Simcall::Send(request, follow)).await;
        self.follow(follow, answer)
    }

    async fn recv(&self, mut request: RecvRequest, follow: Follow) -> Result<Answer, Trouble> {
        if let Some(posted) = self.post(Spot::Mailbox(request.mailbox), End::Recv(request.criteria))? {
            request.criteria = match posted.partner.map(label) {
                Some(Envelope { context, source, tag }) => {
                    Criteria { context, source: Some(source), tag: Some(tag) }
                }
                None => Criteria { context: NOBODY, source: None, tag: None },
            };
        }
        self.check_timeout(follow)?;
        let answer = call(Simcall::Recv(request, follow)).await;
        self.follow(follow, answer)
    }

    /// The answer to a post, and to the wait that follows it.
    fn follow(&self, follow: Follow, answer: Answer) -> Result<Answer, Trouble> {
        if matches!(follow, Follow::Wait(_)) { self.completed(answer, false) } else { Ok(answer) }
    }

    async fn wait_any(
        &self,
        activities: ActivitySet,
        on_timeout: OnTimeout,
        release: bool,
    ) -> Result<Answer, Trouble> {
        let open = activities.len() > 1;
        let (activities, index) = self.member(activities);
        let answer = call(Simcall::WaitAny { activities, timeout: None, on_timeout, release }).await;
        self.completed(instead_of(answer, index), open)
    }

    async fn test_any(&self, activities: ActivitySet) -> Result<Answer, Trouble> {
        let answer = match self.peek() {
            Some(Outcome::Nothing) => call(Simcall::TestAny { activities: ActivitySet::new() }).await,
            Some(Outcome::Completed(_)) => {
                let (activities, index) = self.member(activities);
                let on_timeout = OnTimeout::Keep;
                let wait = Simcall::WaitAny { activities, timeout: None, on_timeout, release: false };
                instead_of(call(wait).await, index)
            }
            _ => call(Simcall::TestAny { activities }).await,
        };
        if matches!(answer, Answer::Nothing) {
            self.came_to(Outcome::Nothing, true)?;
        }
        self.completed(answer, true)
    }

    /// The prescribed member of a set, and its place. All of them where nothing is prescribed, or the wait never ends.
    fn member(&self, activities: ActivitySet) -> (ActivitySet, Option<u32>) {
        if let Some(Outcome::Completed(index)) = self.peek()
            && let Some(&member) = activities.get(index as usize)
        {
            return (ActivitySet::from_slice(&[member]), Some(index));
        }
        (activities, None)
    }

    async fn choose(&self, n: u32) -> Result<Answer, Trouble> {
        let answer = match self.peek() {
            Some(Outcome::Chosen(number)) => {
                call(Simcall::Yield).await;
                Answer::Chosen(number)
            }
            _ => call(Simcall::Choose(n)).await,
        };
        if let Answer::Chosen(number) = answer {
            self.came_to(Outcome::Chosen(number), true)?;
        }
        Ok(answer)
    }

    async fn spawn(&self, request: SpawnRequest) -> Result<Answer, Trouble> {
        let wanted = match self.peek() {
            Some(Outcome::Spawned(child)) => Some(child),
            _ => None,
        };
        let child = self.log.add(wanted, &request.name, request.daemon);
        self.came_to(Outcome::Spawned(child), false)?;
        let pilot = Pilot { process: child, way: self.way.clone(), log: Arc::clone(&self.log) };
        Ok(call(Simcall::Spawn(steered(request, pilot))).await)
    }

    /// Takes a lock, or one from a semaphore.
    async fn take(&self, spot: Spot, own: Simcall) -> Result<Answer, Trouble> {
        let answer = match self.post(spot, End::TAKE)? {
            None => call(own).await,
            Some(Posted { place, partner }) => {
                // Its own token is never given: nobody knows it but the one who waits for it.
                let token = self.log.token(partner.unwrap_or(place));
                call(Simcall::Acquire(token, None)).await
            }
        };
        self.came_to(Outcome::Completed(0), false)?;
        Ok(answer)
    }

    /// Gives it back.
    async fn give(&self, spot: Spot, own: Simcall) -> Result<Answer, Trouble> {
        let simcall = match self.post(spot, End::GIVE)? {
            None => own,
            Some(posted) => Simcall::Release(self.log.token(posted.place)),
        };
        Ok(call(simcall).await)
    }

    // --- the way ----------------------------------------------------------------------------------------------

    /// What the way says of the next request that has several outcomes.
    fn peek(&self) -> Option<Outcome> {
        let way = self.way.as_ref()?;
        way.processes.get(self.process as usize)?.get(self.log.count(self.process)).copied()
    }

    /// A post: who is to be met, if that is prescribed.
    fn post(&self, spot: Spot, end: End) -> Result<Option<Posted>, Trouble> {
        if self.way.is_none() {
            self.log.meet(self.process, spot, end);
            return Ok(None);
        }
        let Some(Outcome::Posted { partner }) = self.peek() else {
            let wanted = self.peek().map_or_else(|| "nothing more".to_owned(), |wanted| wanted.to_string());
            return Err(self.strayed(format!("sends or receives where its way has {wanted}")));
        };
        Ok(Some(self.log.posted(self.process, spot, matches!(end, End::Send(_)), partner)))
    }

    /// A request came to this, and perhaps could have come to something else. If a way prescribes something else, the
    /// run went astray.
    fn came_to(&self, outcome: Outcome, open: bool) -> Result<(), Trouble> {
        if self.way.is_some() && self.peek() != Some(outcome) {
            let wanted = self.peek().map_or_else(|| "nothing more".to_owned(), |wanted| wanted.to_string());
            return Err(self.strayed(format!("comes to {outcome} where its way has {wanted}")));
        }
        self.log.came(self.process, outcome, open);
        Ok(())
    }

    /// A wait or test ended.
    fn completed(&self, answer: Answer, open: bool) -> Result<Answer, Trouble> {
        if let Answer::Completed { index, .. } = answer {
            self.came_to(Outcome::Completed(index), open)?;
        }
        self.succeeded(&answer)?;
        Ok(answer)
    }

    /// No way has activities that fail.
    fn succeeded(&self, answer: &Answer) -> Result<(), Trouble> {
        match answer {
            Answer::Completed { result: Err(failure), .. } => {
                let trouble = self.strayed(format!("waits for something that failed ({failure})"));
                self.only_noted(trouble)
            }
            _ => Ok(()),
        }
    }

    fn check_timeout(&self, follow: Follow) -> Result<(), Trouble> {
        if matches!(follow, Follow::Wait(Some(_))) { self.unknown("timeouts") } else { Ok(()) }
    }

    fn unknown(&self, what: &'static str) -> Result<(), Trouble> {
        self.only_noted(Trouble::Unknown(what))
    }

    /// A run that is only watched goes on, whatever happens; but its way is not known then.
    fn only_noted(&self, trouble: Trouble) -> Result<(), Trouble> {
        if self.way.is_some() {
            return Err(trouble);
        }
        self.log.trouble(trouble);
        Ok(())
    }

    fn strayed(&self, what: String) -> Trouble {
        Trouble::Strayed { actor: self.log.name(self.process), what }
    }
}

/// What is written on the message that was posted here: no other has the same.
fn label(place: Place) -> Envelope {
    let tag = i32::try_from(place.post).expect("fewer than 2^31 posts of an actor");
    Envelope { context: 0, source: place.process, tag }
}

/// The answer of a wait for one, as that of a wait for several.
fn instead_of(answer: Answer, place: Option<u32>) -> Answer {
    match (answer, place) {
        (Answer::Completed { result, .. }, Some(index)) => Answer::Completed { index, result },
        (answer, _) => answer,
    }
}

fn unknown_kind(simcall: &Simcall) -> &'static str {
    match simcall {
        Simcall::WaitAny { .. } | Simcall::Lock(..) | Simcall::Acquire(..) | Simcall::Join(..) => "timeouts",
        Simcall::Execute(..) | Simcall::Access(..) | Simcall::Parallel(..) => "timeouts",
        Simcall::TryLock(_) => "attempts to lock",
        Simcall::WaitCondition(..) | Simcall::Notify(..) => "condition variables",
        Simcall::Arrive(_) => "barriers",
        Simcall::Cancel(_) | Simcall::Pause(_) | Simcall::Continue(_) => {
            "activities that are cancelled or suspended"
        }
        Simcall::Probe(..) => "probes",
        Simcall::Platform(_) => "questions about the platform",
        _ => "actors that kill, suspend or move others",
    }
}
