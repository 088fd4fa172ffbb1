//! The actors of a program as processes that can be run one at a time.
//!
//! Time is abstract: what only takes time is over at once. Locks and semaphores are mailboxes of tokens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use simurgh_kernel::context::{Body, Door, OnExit, Place, Resumed, panicked_at, part};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::operation::{Noted, Operation, Token};
use simurgh_kernel::simcall::{Answer, Failure, Follow, Note, OnTimeout, Payload, Simcall, SpawnRequest};
use simurgh_models::SimTime;
use simurgh_platform::HostId;
use smallvec::SmallVec;

use super::{Handle, Mailbox, Patience, Processes, Reply, Request, Side, unsupported};
use crate::endless::{AT_ITS_END, LOCAL_MAX, endless};
use simurgh_kernel::watchdog::{Pulse, Trait, guarding};

/// Makes the actors of a program anew: those of the start, and the objects that they share.
pub trait Factory {
    /// Fills the actors and the notes that make shared objects.
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>);
}

/// The actors of a program.
pub struct Actors<F> {
    factory: F,
    actors: Vec<SpawnRequest>,
    notes: Vec<Note>,
    live: Vec<Live>,
    /// How many of these there are in the present execution; the others wait to be used again.
    living: usize,
    count: u32,
    /// The tokens that are there from the start.
    given: Vec<Mailbox>,
    made: Made,
    door: Door,
    /// Where it is noted whose code runs.
    pulse: Pulse,
    /// Whether somebody else knows how long computations take.
    in_time: bool,
}

/// What is to be made of the next reply.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Expect {
    /// Nothing: it has not begun, or the request came from a note.
    #[default]
    Nothing,
    Activity,
    Completed,
    Ready,
    Flag,
    Chosen,
    Actor(u32),
    /// The end of a wait that nobody asked for: taking this post back, or seeing that it has met somebody.
    Cancelled(Handle),
    /// The same, and which of the two it was.
    Withdrawn(Handle),
}

/// What an actor asked.
enum Asked {
    /// The engine is to answer; a send comes with its message.
    Engine(Request, Expect, Option<Payload>),
    /// The answer is known.
    Local(Answer),
}

#[derive(Default)]
struct Live {
    body: Option<Body>,
    host: Option<HostId>,
    daemon: bool,
    expect: Expect,
    queue: VecDeque<Request>,
    /// What the actor asked, while its notes go first.
    then: Option<Asked>,
    payloads: Vec<Option<Payload>>,
    /// Which of its posts are computations and the like.
    begun: SmallVec<[Handle; 2]>,
    /// Posts that were taken back, and why.
    withdrawn: SmallVec<[(Handle, Failure); 1]>,
    /// The posts that the present wait is for, if they are taken back when it gives up.
    gives_up: SmallVec<[Handle; 1]>,
    on_exit: Vec<OnExit>,
    /// Whether there is more to clean up after it than its messages.
    is_marked: bool,
    /// The line of its last request.
    place: Option<Place>,
}

impl<F: Factory> Actors<F> {
    /// The actors that the factory makes.
    pub fn new(factory: F) -> Self {
        Self::with_pulse(factory, Pulse::default())
    }

    /// The same, while somebody looks whether their code comes back.
    pub fn with_pulse(factory: F, pulse: Pulse) -> Self {
        let mut actors = Self {
            factory,
            actors: Vec::new(),
            notes: Vec::new(),
            live: Vec::new(),
            living: 0,
            count: 0,
            given: Vec::new(),
            made: Made::default(),
            door: Door::new(),
            pulse,
            in_time: false,
        };
        actors.restart();
        actors
    }

    /// Leaves it to whoever runs the ways again to say how long computations take, and whether they time out: for what is
    /// explored in time.
    pub fn in_time(mut self) -> Self {
        self.in_time = true;
        self
    }

    /// What an actor is called.
    pub fn name(&self, process: u32) -> String {
        self.pulse.actor_name(process).map_or_else(|| format!("number {process}"), str::to_owned)
    }

    fn add(&mut self, request: SpawnRequest) {
        if self.live.len() == self.living {
            self.live.push(Live::default());
        }
        self.pulse.knows(self.living, &request.name);
        let live = &mut self.live[self.living];
        self.living += 1;
        live.place = None;
        live.body = Some(request.body);
        live.host = Some(request.host);
        live.daemon = request.daemon;
        live.expect = Expect::Nothing;
        live.begun.clear();
        if live.is_marked {
            live.is_marked = false;
            live.queue.clear();
            live.withdrawn.clear();
            live.gives_up.clear();
        }
    }

    /// Puts the answer to the actor's simcall where it finds it.
    fn answer(&mut self, process: u32, reply: Reply) {
        let live = &mut self.live[process as usize];
        let answer = match (live.expect, reply) {
            (Expect::Nothing, _) => return self.door.answer = None,
            (Expect::Activity, Reply::Posted(handle)) => {
                Answer::Activity(ActivityId::from_bits(u64::from(handle)))
            }
            (Expect::Completed, Reply::Completed { index, from }) => {
                let message = from.and_then(|(sender, handle)| {
                    self.live[sender as usize].payloads.get_mut(handle as usize).and_then(Option::take)
                });
                Answer::Completed { index, message }
            }
            (Expect::Completed, Reply::Withdrawn(index, handle)) => {
                let why = live.withdrawn.iter().find(|(withdrawn, _)| *withdrawn == handle);
                let failure = why.map_or(Failure::Cancelled, |(_, failure)| *failure);
                Answer::Failed { index, failure }
            }
            (Expect::Completed, Reply::TimedOut) => {
                live.withdrawn.extend(live.gives_up.drain(..).map(|handle| (handle, Failure::Timeout)));
                Answer::TIMED_OUT
            }
            (Expect::Completed, Reply::Nothing) => Answer::Nothing,
            (Expect::Cancelled(handle) | Expect::Withdrawn(handle), reply) => {
                let was_withdrawn = reply == Reply::TimedOut;
                if was_withdrawn {
                    live.withdrawn.push((handle, Failure::Cancelled));
                }
                match live.expect {
                    Expect::Withdrawn(_) => Answer::Flag(was_withdrawn),
                    _ => Answer::Ready,
                }
            }
            (Expect::Ready, _) => Answer::Ready,
            (Expect::Flag, Reply::Passed(last)) => Answer::Flag(last),
            (Expect::Flag, reply) => Answer::Flag(reply != Reply::TimedOut),
            (Expect::Chosen, Reply::Chosen(number)) => Answer::Chosen(number),
            (Expect::Actor(actor), _) => Answer::Actor(ActorId(actor)),
            (expect, reply) => unreachable!("the engine answers {reply:?} where {expect:?} is expected"),
        };
        self.door.answer = Some(answer);
    }

    /// Runs the actor, which finds its answer at the door, until it asks for something that the engine has a say in.
    fn run(&mut self, process: u32) -> Request {
        for _ in 0..LOCAL_MAX {
            let live = &mut self.live[process as usize];
            let Some(body) = &mut live.body else { return Request::Ended };
            let door = &mut self.door;
            door.admit(ActorId(process), live.host.expect(PLACED), SimTime::ZERO);
            self.pulse.runs(process, live.place);
            let resumed = body.resume(door);
            if let Some(place) = door.place() {
                live.place = Some(place);
            }
            door.said.clear();
            if !door.on_exit.is_empty() {
                live.is_marked = true;
                live.on_exit.append(&mut door.on_exit);
            }
            let has_notes = !door.notes.is_empty() || !live.queue.is_empty();
            match resumed {
                Resumed::Asked if !has_notes => {
                    // What almost all is, without detours: read where it lies.
                    if let Some(simcall) = &mut door.simcall
                        && let Operation::Post { mailbox, side, follow: Follow::Wait(None), .. } =
                            simcall.operation()
                    {
                        live.payloads.push(simcall.take_payload());
                        door.simcall = None;
                        live.expect = Expect::Completed;
                        self.pulse.rests();
                        let (mailbox, patience) = (Mailbox(mailbox.0), Patience::Forever);
                        return Request::PostAndWait(mailbox, side, patience);
                    }
                }
                Resumed::Asked => {}
                Resumed::Ended if !has_notes && live.on_exit.is_empty() => {
                    // Code that came to its end holds nothing any more that would leave a note.
                    live.body = None;
                    live.expect = Expect::Nothing;
                    self.pulse.rests();
                    return Request::Ended;
                }
                Resumed::Ended => return self.end(process, Request::Ended),
                Resumed::Failed(fault) => return self.end(process, Request::Failed(fault.to_string())),
            }
            live.is_marked = true;
            let simcall = door.simcall.take().expect("an actor that asks has asked something");
            self.take_notes(process);
            let request = match self.translate(process, simcall) {
                Ok(asked) => self.ask(process, asked),
                Err(what) => Some(Request::Unsupported(what)),
            };
            if let Some(request) = request {
                self.pulse.rests();
                return request;
            }
        }
        self.end(process, Request::Failed(endless()))
    }

    fn end(&mut self, process: u32, request: Request) -> Request {
        let live = &mut self.live[process as usize];
        live.is_marked = true;
        self.door.prepare(ActorId(process), live.host.expect(PLACED), SimTime::ZERO, None);
        if let Some(body) = live.body.take() {
            body.dispose(&mut self.door);
        }
        let on_exit = std::mem::take(&mut live.on_exit);
        let failed = matches!(request, Request::Failed(_));
        let panics = part(on_exit, failed, &mut self.door);
        let request = match panics.first() {
            Some(message) if !failed => Request::Failed(format!("{AT_ITS_END}: {message}")),
            _ => request,
        };
        self.door.said.clear();
        self.take_notes(process);
        self.pulse.rests();
        self.ask(process, Asked::Engine(request, Expect::Nothing, None)).unwrap_or(Request::Ended)
    }

    /// The next request to the engine, notes first; none if the engine has no say: then the answer is at the door.
    fn ask(&mut self, process: u32, asked: Asked) -> Option<Request> {
        let live = &mut self.live[process as usize];
        if let Some(first) = live.queue.pop_front() {
            live.then = Some(asked);
            live.expect = Expect::Nothing;
            live.payloads.push(None);
            return Some(first);
        }
        match asked {
            Asked::Local(answer) => {
                self.door.answer = Some(answer);
                None
            }
            Asked::Engine(request, expect, payload) => {
                live.expect = expect;
                if request == Request::Begin {
                    live.begun.push(live.payloads.len() as Handle);
                }
                if matches!(request, Request::Post(..) | Request::PostAndWait(..) | Request::Begin) {
                    live.payloads.push(payload);
                }
                Some(request)
            }
        }
    }

    fn take_notes(&mut self, process: u32) {
        let live = &mut self.live[process as usize];
        for note in self.door.notes.drain(..) {
            live.queue.extend(note_requests(note, &mut self.made));
        }
    }

    /// What a simcall asks of the engine; or what of it the engine does not know.
    fn translate(&mut self, process: u32, mut simcall: Simcall) -> Result<Asked, &'static str> {
        let engine = |request, expect| Ok(Asked::Engine(request, expect, None));
        let operation = simcall.operation();
        if let Some(what) = unsupported(&operation) {
            return Err(what);
        }
        match operation {
            Operation::Post { mailbox, side, follow, .. } => {
                let mailbox = Mailbox(mailbox.0);
                let (request, expect) = match follow {
                    Follow::Return => (Request::Post(mailbox, side), Expect::Activity),
                    Follow::Detach => (Request::Post(mailbox, side), Expect::Ready),
                    Follow::Wait(timeout) => {
                        self.live[process as usize].gives_up.clear();
                        let patience = Patience::of_wait(timeout, OnTimeout::GiveUp);
                        (Request::PostAndWait(mailbox, side, patience), Expect::Completed)
                    }
                };
                Ok(Asked::Engine(request, expect, simcall.take_payload()))
            }
            Operation::Wait { set, patience } => {
                let set: SmallVec<[Handle; 4]> = set.iter().map(|id| id.index() as Handle).collect();
                if patience != Patience::Forever {
                    self.only_communications(process, &set)?;
                }
                let live = &mut self.live[process as usize];
                live.gives_up.clear();
                if patience == Patience::Timed(OnTimeout::GiveUp) {
                    live.gives_up.extend_from_slice(&set);
                }
                let request = match patience {
                    Patience::Now => Request::TestAny(set),
                    patience => Request::WaitAny(set, patience),
                };
                engine(request, Expect::Completed)
            }
            Operation::Cancel(activity) => {
                let handle = activity.index() as Handle;
                self.only_communications(process, &[handle])?;
                let expect = match simcall {
                    Simcall::Withdraw(_) => Expect::Withdrawn(handle),
                    _ => Expect::Cancelled(handle),
                };
                engine(Request::Cancel(handle), expect)
            }
            Operation::Take(token, patience) => {
                engine(Request::PostAndWait(Mailbox::of(token), Side::TAKE, patience), Expect::Flag)
            }
            Operation::Give(token) => engine(give(token), Expect::Ready),
            Operation::Arrive { barrier, told } => {
                let places = self.made.barriers.get(&barrier.0).copied().unwrap_or(1);
                engine(Request::Arrive { barrier: barrier.0, places, told }, Expect::Flag)
            }
            // All of them are offered at once.
            Operation::Choose(n) if n > TOKENS_MAX => Err("choices of more than 10,000"),
            Operation::Choose(n) => engine(Request::Choose(n), Expect::Chosen),
            Operation::Spawn(_) => {
                let Simcall::Spawn(request) = simcall else { unreachable!("it creates an actor") };
                let child = self.living as u32;
                self.add(*request);
                engine(Request::Spawn, Expect::Actor(child))
            }
            Operation::Join { target, timed } => engine(Request::Join(target.0, timed), Expect::Flag),
            Operation::Exit => engine(Request::Ended, Expect::Nothing),
            Operation::Work(Follow::Wait(Some(_))) if !self.in_time => Err(MAY_TAKE_LONG),
            Operation::Work(Follow::Wait(_)) => {
                Ok(Asked::Local(Answer::Completed { index: 0, message: None }))
            }
            Operation::Work(Follow::Return) => engine(Request::Begin, Expect::Activity),
            _ => {
                self.live[process as usize].daemon |= matches!(operation, Operation::BecomeDaemon);
                Ok(Asked::Local(simcall.answer_without_time()))
            }
        }
    }

    /// Refuses what has several outcomes if some of these are computations or the like: here they are over at once.
    fn only_communications(&self, process: u32, set: &[Handle]) -> Result<(), &'static str> {
        let begun = &self.live[process as usize].begun;
        let takes_long = !self.in_time && set.iter().any(|handle| begun.contains(handle));
        if takes_long { Err(MAY_TAKE_LONG) } else { Ok(()) }
    }
}

impl<F> Actors<F> {
    /// Drops all values of the present execution: outside of any actor, so that they leave no notes.
    fn let_go(&mut self) {
        self.pulse.treats(Some(Trait::Drop));
        guarding(Trait::Drop, panicked_at, || {
            for live in &mut self.live[..self.living] {
                live.body = None;
                live.payloads.clear();
                if live.is_marked {
                    live.then = None;
                    live.on_exit.clear();
                }
            }
        });
        self.living = 0;
        self.pulse.rests();
    }
}

impl<F> Drop for Actors<F> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.let_go();
        }
    }
}

const MAY_TAKE_LONG: &str = "computations and disk accesses that may time out, are tested or cancelled";
/// Each token is a message that is there from the start.
const TOKENS_MAX: u32 = 10_000;
const MANY_TOKENS: &str = "semaphores of more than 10,000";
const PLACED: &str = "an actor is on a host";

fn give(token: Token) -> Request {
    Request::Post(Mailbox::of(token), Side::GIVE)
}

/// What was made in an execution.
#[derive(Default)]
struct Made {
    /// For how many each barrier is.
    barriers: BTreeMap<u32, u32>,
    /// Locks: who makes one once more, in the place of one that nobody uses any longer, finds the token of that one.
    locks: BTreeSet<u32>,
}

/// What a note asks of the engine.
fn note_requests(note: Note, made: &mut Made) -> impl Iterator<Item = Request> {
    if let Note::NewBarrier(barrier, places) = note {
        made.barriers.insert(barrier.0, places);
    }
    let (request, count) = match note.tokens() {
        Noted::Give(token) => (Some(give(token)), 1),
        Noted::Make(Token::Mutex(lock), _) if !made.locks.insert(lock.0) => (None, 0),
        Noted::Make(_, count) if count > TOKENS_MAX => (Some(Request::Unsupported(MANY_TOKENS)), 1),
        Noted::Make(token, count) => (Some(Request::Give(Mailbox::of(token))), count),
        Noted::Other => (None, 0),
    };
    (0..count).filter_map(move |_| request.clone())
}

impl<F: Factory> Processes for Actors<F> {
    fn restart(&mut self) {
        self.let_go();
        self.made = Made::default();
        self.pulse.makes();
        self.factory.make(&mut self.actors, &mut self.notes);
        self.pulse.rests();
        let mut actors = std::mem::take(&mut self.actors);
        self.count = actors.len() as u32;
        for request in actors.drain(..) {
            self.add(request);
        }
        self.actors = actors;
        self.given.clear();
        let mut refused = None;
        for note in self.notes.drain(..) {
            for request in note_requests(note, &mut self.made) {
                match request {
                    Request::Give(mailbox) => self.given.push(mailbox),
                    Request::Unsupported(_) => refused = Some(request),
                    _ => {}
                }
            }
        }
        if let Some(first) = self.live[..self.living].first_mut() {
            first.payloads.extend(self.given.iter().map(|_| None));
            first.is_marked |= refused.is_some();
            first.queue.extend(refused);
        }
    }

    fn given(&self) -> &[Mailbox] {
        &self.given
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn is_daemon(&self, process: u32) -> bool {
        self.live.get(process as usize).is_some_and(|live| live.daemon)
    }

    fn resume(&mut self, process: u32, reply: Reply) -> Request {
        let then = &mut self.live[process as usize].then;
        // Almost always there is nothing: to look is cheaper than to take.
        if then.is_some()
            && let Some(asked) = then.take()
        {
            if let Some(request) = self.ask(process, asked) {
                return request;
            }
        } else {
            self.answer(process, reply);
        }
        self.run(process)
    }
}
