//! Steering: a program made into one that takes a given way, whatever the time says.
//!
//! Each actor gets an interposer: code that runs the actor's own code from simcall to simcall, and asks the kernel something
//! slightly different (`requests`). Every send carries a label of its own and every receive admits the one label that
//! its way prescribes; a wait for one of several is a wait for the prescribed one; a test asks for what it is to find;
//! a token of a lock or semaphore is one that nobody else can take. So the kernel and the models need not know that
//! anything is steered, and every operation takes the time that it takes.
//!
//! One simcall is replaced by one simcall, so that an actor takes the same turns as without an interposer. An interposer that
//! prescribes nothing only writes down what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use simurgh_explore::receives::reads_from::{Outcome, Place, ReadsFrom};
use simurgh_explore::receives::unsupported;
use simurgh_kernel::context::{Body, Door, Ending, Resumed, call, leave, with_port};
use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::operation::{Noted, Operation, Patience, Side};
use simurgh_kernel::simcall::{Answer, Follow, Note, Simcall, SpawnRequest};
use simurgh_models::SimTime;

use super::log::{Log, Posted, Spot, Trouble};
use crate::program::Program;

/// How an actor ends that does not go its way.
pub(super) const ASTRAY: &str = "it does not go the way that was prescribed";

/// Gives every actor of a program an interposer. Without a way, the interposers only write down what happens.
pub(super) fn interpose(program: Program, way: Option<Arc<ReadsFrom>>) -> (Program, Arc<Log>) {
    let log = Arc::new(Log::new(program.shared()));
    let program = program.convert(
        |process, request| {
            let process = log.add(Some(process), &request.name, request.daemon);
            steered(request, Interposer::new(process, &way, &log))
        },
        // Objects that were there before the actors belong to the first one, as for the exploration.
        |notes| Interposer::new(0, &way, &log).convert_notes(notes),
    );
    (program, log)
}

/// The actor with its interposer. If its host fails it is gone for good: no way has it starting again.
pub(super) fn steered(mut request: SpawnRequest, interposer: Interposer) -> SpawnRequest {
    request.body = Body::Future(Box::pin(interposer.run(request.body)));
    request.reboot = None;
    request
}

/// The present date, inside of an actor or before the start.
pub(super) fn now() -> SimTime {
    with_port(|port| port.now).unwrap_or(SimTime::ZERO)
}

/// Who steers one actor.
pub(super) struct Interposer {
    pub(super) process: u32,
    pub(super) way: Option<Arc<ReadsFrom>>,
    pub(super) log: Arc<Log>,
    /// The messages and receives that were started and can be waited for.
    pub(super) started: BTreeMap<ActivityId, Place>,
    /// All that was ever started so.
    pub(super) begun: Vec<Place>,
    /// Those of them that were given up or cancelled before they met anybody.
    pub(super) withdrawn: BTreeSet<ActivityId>,
}

impl Interposer {
    pub(super) fn new(process: u32, way: &Option<Arc<ReadsFrom>>, log: &Arc<Log>) -> Self {
        let (way, log) = (way.clone(), Arc::clone(log));
        Self { process, way, log, started: BTreeMap::new(), begun: Vec::new(), withdrawn: BTreeSet::new() }
    }

    /// Runs the code of an actor to its end.
    async fn run(mut self, mut body: Body) -> Ending {
        let (mut door, mut answer) = (Door::new(), None);
        loop {
            let place = with_port(|port| (port.actor, port.host, port.now));
            let (actor, host, now) = place.expect("an actor runs inside of its port");
            door.prepare(actor, host, now, answer.take());
            let resumed = body.resume(&mut door);
            let simcall = door.simcall.take();
            self.pass_on(&mut door);
            let ending = match (resumed, simcall) {
                (Resumed::Asked, Some(simcall)) => match self.ask(simcall).await {
                    Ok(answered) => {
                        answer = Some(answered);
                        continue;
                    }
                    Err(trouble) => {
                        self.log.trouble(trouble);
                        return Err(ASTRAY.to_owned());
                    }
                },
                (Resumed::Asked, None) => unreachable!("an actor that asks has asked something"),
                (Resumed::Ended, _) => Ok(()),
                (Resumed::Failed(fault), _) => Err(fault.to_string()),
            };
            body.dispose(&mut door);
            self.pass_on(&mut door);
            for &place in &self.begun {
                self.log.leave(place);
            }
            return ending;
        }
    }

    /// What the actor left besides its request goes with the request that is made in its place.
    fn pass_on(&mut self, door: &mut Door) {
        with_port(|port| {
            port.on_exit.append(&mut door.on_exit);
            port.said.append(&mut door.said);
        });
        self.leave_all(std::mem::take(&mut door.notes));
    }

    fn leave_all(&mut self, notes: Vec<Note>) {
        for note in self.convert_notes(notes) {
            leave(note);
        }
    }

    fn convert_notes(&mut self, notes: Vec<Note>) -> Vec<Note> {
        let mut converted = Vec::new();
        for note in notes {
            if let Err(trouble) = self.convert_note(note, &mut converted) {
                self.log.trouble(trouble);
            }
        }
        converted
    }

    fn convert_note(&mut self, note: Note, into: &mut Vec<Note>) -> Result<(), Trouble> {
        if let Note::Forget(id) = note {
            self.started.remove(&id);
            self.withdrawn.remove(&id);
        }
        let (token, count) = match note.tokens() {
            Noted::Give(token) => (token, 1),
            Noted::Make(token, count) => (token, count),
            Noted::Other => {
                into.push(note);
                return Ok(());
            }
        };
        if self.way.is_none() {
            into.push(note);
        }
        for _ in 0..count {
            let posted = self.post(Spot::Token(token), Side::GIVE)?;
            if self.way.is_some() {
                into.push(Note::Release(self.log.token(posted.place)));
            }
        }
        Ok(())
    }

    /// Asks the kernel what the actor asks, in such a manner that the answer is the prescribed one.
    async fn ask(&mut self, simcall: Simcall) -> Result<Answer, Trouble> {
        if let Some(what) = unsupported(&simcall.operation()) {
            self.only_noted(Trouble::Unknown(what))?;
        }
        match simcall.operation() {
            Operation::Post { mailbox, side, follow, .. } => {
                self.communicate(simcall, mailbox, side, follow).await
            }
            Operation::Wait { set, patience } => {
                let set = set.clone();
                match patience {
                    Patience::Now => self.test_any(simcall, set).await,
                    patience => self.wait_any(simcall, set, patience).await,
                }
            }
            Operation::Cancel(activity) => self.cancel(activity).await,
            Operation::Choose(_) => self.choose(simcall).await,
            Operation::Spawn(_) => self.spawn(simcall).await,
            Operation::Join { timed: true, .. } => self.join(simcall).await,
            Operation::Take(token, patience) => self.take(token, patience, simcall).await,
            Operation::Give(token) => self.give(token, simcall).await,
            Operation::Arrive { told, .. } => self.arrive(simcall, told).await,
            Operation::Work(Follow::Wait(None)) => {
                let answer = call(simcall).await;
                self.succeeded(&answer, None)?;
                Ok(answer)
            }
            operation => {
                if matches!(operation, Operation::BecomeDaemon) {
                    self.log.become_daemon(self.process);
                }
                // What takes time takes as long as it takes here; and so does giving it up.
                Ok(call(simcall).await)
            }
        }
    }

    // --- the way ----------------------------------------------------------------------------------------------

    /// What the way says of the next request that has several outcomes.
    pub(super) fn peek(&self) -> Option<Outcome> {
        let way = self.way.as_ref()?;
        way.processes.get(self.process as usize)?.get(self.log.count(self.process)).copied()
    }

    /// A post, and whom it is to meet, if that is prescribed.
    pub(super) fn post(&mut self, spot: Spot, side: Side) -> Result<Posted, Trouble> {
        if self.way.is_none() {
            return Ok(Posted { place: self.log.meet(self.process, spot, side, now()), partner: None });
        }
        let Some(Outcome::Posted { partner }) = self.peek() else {
            return Err(self.strayed(format!("sends or receives where its way has {}", self.wanted())));
        };
        let place = self.log.posted(self.process, spot, side, partner, now());
        Ok(Posted { place, partner })
    }

    /// A request came to this, and perhaps could have come to something else. If a way prescribes something else, the
    /// run went astray.
    pub(super) fn came_to(&mut self, outcome: Outcome, open: bool) -> Result<(), Trouble> {
        if self.way.is_some() && self.peek() != Some(outcome) {
            let what = match outcome {
                Outcome::TimedOut => "waits until its time is up".to_owned(),
                outcome => format!("comes to {outcome}"),
            };
            return Err(self.strayed(format!("{what} where its way has {}", self.wanted())));
        }
        self.log.came(self.process, outcome, open);
        Ok(())
    }

    /// No way has activities that fail, but for those that were withdrawn.
    pub(super) fn succeeded(&self, answer: &Answer, activity: Option<ActivityId>) -> Result<(), Trouble> {
        match answer {
            Answer::Failed { failure, .. }
                if activity.is_none_or(|activity| !self.withdrawn.contains(&activity)) =>
            {
                self.only_noted(self.strayed(format!("waits for something that failed ({failure})")))
            }
            _ => Ok(()),
        }
    }

    /// A run that is only watched goes on, whatever happens; but it takes none of the ways then.
    pub(super) fn only_noted(&self, trouble: Trouble) -> Result<(), Trouble> {
        if self.way.is_some() {
            return Err(trouble);
        }
        self.log.trouble(trouble);
        Ok(())
    }

    pub(super) fn strayed(&self, what: String) -> Trouble {
        Trouble::Strayed { actor: self.log.name(self.process), what }
    }

    fn wanted(&self) -> String {
        self.peek().map_or_else(|| "nothing more".to_owned(), |wanted| wanted.to_string())
    }
}
