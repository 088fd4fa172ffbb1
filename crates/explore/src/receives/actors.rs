//! The actors of a program as processes that can be run one at a time.
//!
//! Time is abstract: what only takes time is over at once. Locks and semaphores are mailboxes of tokens.

use std::collections::VecDeque;

use simurgh_kernel::context::{Body, Leavings, Resumed};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::simcall::{ActivitySet, Answer, Criteria, Follow, Note, Payload, Simcall, SpawnRequest};
use simurgh_models::SimTime;
use simurgh_platform::HostId;
use smallvec::SmallVec;

use super::{Handle, Mailbox, Processes, Reply, Request};

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
    count: u32,
}

/// What is to be made of the next reply.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Expect {
    Start,
    /// Nothing: the request came from a note.
    Note,
    Activity,
    Completed,
    Ready,
    Flag,
    Chosen,
    Actor(u32),
}

/// What an actor asked.
enum Asked {
    /// The engine is to answer; a send comes with its message.
    Engine(Request, Expect, Option<Payload>),
    /// The answer is known.
    Local(Answer),
}

struct Live {
    body: Option<Body>,
    host: HostId,
    daemon: bool,
    expect: Expect,
    queue: VecDeque<Request>,
    /// What the actor asked, while its notes go first.
    then: Option<Asked>,
    payloads: Vec<Option<Payload>>,
    leavings: Leavings,
}

impl<F: Factory> Actors<F> {
    /// The actors that the factory makes.
    pub fn new(factory: F) -> Self {
        let mut actors = Self { factory, actors: Vec::new(), notes: Vec::new(), live: Vec::new(), count: 0 };
        actors.restart();
        actors
    }

    fn add(&mut self, request: SpawnRequest) {
        self.live.push(Live {
            body: Some(request.body),
            host: request.host,
            daemon: request.daemon,
            expect: Expect::Start,
            queue: VecDeque::new(),
            then: None,
            payloads: Vec::new(),
            leavings: Leavings::default(),
        });
    }

    /// The answer to the actor's simcall.
    fn answer(&mut self, process: u32, reply: Reply) -> Option<Answer> {
        let expect = self.live[process as usize].expect;
        Some(match (expect, reply) {
            (Expect::Start | Expect::Note, _) => return None,
            (Expect::Activity, Reply::Posted(handle)) => {
                Answer::Activity(ActivityId::from_bits(u64::from(handle)))
            }
            (Expect::Completed, Reply::Completed { index, from }) => {
                let message = from.and_then(|(sender, handle)| {
                    self.live[sender as usize].payloads.get_mut(handle as usize).and_then(Option::take)
                });
                Answer::Completed { index, result: Ok(message) }
            }
            (Expect::Completed, Reply::Nothing) => Answer::Nothing,
            (Expect::Ready, _) => Answer::Ready,
            (Expect::Flag, _) => Answer::Flag(true),
            (Expect::Chosen, Reply::Chosen(number)) => Answer::Chosen(number),
            (Expect::Actor(actor), _) => Answer::Actor(ActorId(actor)),
            (expect, reply) => unreachable!("the engine answers {reply:?} where {expect:?} is expected"),
        })
    }

    /// Runs the actor until it asks for something that the engine has a say in.
    fn run(&mut self, process: u32, mut answer: Option<Answer>) -> Request {
        loop {
            let live = &mut self.live[process as usize];
            let Some(body) = &mut live.body else { return Request::Ended };
            let resumed =
                body.resume(ActorId(process), live.host, SimTime::ZERO, answer.take(), &mut live.leavings);
            live.leavings.said.clear();
            let simcall = match resumed {
                Resumed::Asked(simcall) => simcall,
                Resumed::Ended(Ok(())) => return self.end(process, Request::Ended),
                Resumed::Ended(Err(message)) => return self.end(process, Request::Failed(message)),
                Resumed::Panicked(message) => {
                    return self.end(process, Request::Failed(format!("panicked: {message}")));
                }
                Resumed::Stray => {
                    return self
                        .end(process, Request::Failed("awaits something of another world".to_owned()));
                }
            };
            self.take_notes(process);
            let asked = match self.translate(simcall) {
                Ok(asked) => asked,
                Err(Unknown(what)) => return Request::Unsupported(what),
            };
            match self.ask(process, asked) {
                Ok(request) => return request,
                Err(local) => answer = Some(local),
            }
        }
    }

    fn end(&mut self, process: u32, request: Request) -> Request {
        let live = &mut self.live[process as usize];
        if let Some(body) = live.body.take() {
            let notes = body.dispose(ActorId(process), live.host, SimTime::ZERO);
            live.leavings.notes.extend(notes);
        }
        self.take_notes(process);
        self.ask(process, Asked::Engine(request, Expect::Start, None)).unwrap_or(Request::Ended)
    }

    /// The next request to the engine, notes first; or the answer, if the engine has no say.
    fn ask(&mut self, process: u32, asked: Asked) -> Result<Request, Answer> {
        let live = &mut self.live[process as usize];
        if let Some(first) = live.queue.pop_front() {
            live.then = Some(asked);
            live.expect = Expect::Note;
            live.payloads.push(None);
            return Ok(first);
        }
        match asked {
            Asked::Local(answer) => Err(answer),
            Asked::Engine(request, expect, payload) => {
                live.expect = expect;
                if matches!(request, Request::Post { .. } | Request::PostAndWait { .. } | Request::Begin) {
                    live.payloads.push(payload);
                }
                Ok(request)
            }
        }
    }

    fn take_notes(&mut self, process: u32) {
        let live = &mut self.live[process as usize];
        for note in live.leavings.notes.drain(..) {
            note_requests(note, &mut live.queue);
        }
    }

    fn translate(&mut self, simcall: Simcall) -> Result<Asked, Unknown> {
        let engine = |request, expect| Ok(Asked::Engine(request, expect, None));
        match simcall {
            Simcall::Send(request, follow) => post(Mailbox(request.mailbox.0), true, follow, request.payload),
            Simcall::Recv(request, _) if request.criteria != Criteria::default() => {
                Err(Unknown("receives that choose by source or tag"))
            }
            Simcall::Recv(request, follow) => post(Mailbox(request.mailbox.0), false, follow, None),
            Simcall::WaitAny { activities, timeout: None, .. } => {
                engine(Request::WaitAny(handles(&activities)), Expect::Completed)
            }
            Simcall::TestAny { activities } => {
                engine(Request::TestAny(handles(&activities)), Expect::Completed)
            }
            Simcall::Execute(_, follow) | Simcall::Access(_, follow) | Simcall::Parallel(_, follow) => {
                match follow {
                    Follow::Wait(_) => Ok(Asked::Local(Answer::Completed { index: 0, result: Ok(None) })),
                    Follow::Detach => Ok(Asked::Local(Answer::Ready)),
                    Follow::Return => engine(Request::Begin, Expect::Activity),
                }
            }
            Simcall::Sleep(_) | Simcall::Yield | Simcall::BecomeDaemon => Ok(Asked::Local(Answer::Ready)),
            Simcall::Remaining(_) => Ok(Asked::Local(Answer::Number(0.0))),
            Simcall::Spawn(request) => {
                let child = self.live.len() as u32;
                self.add(request);
                engine(Request::Spawn, Expect::Actor(child))
            }
            Simcall::Join(actor, None) => engine(Request::Join(actor.0), Expect::Flag),
            Simcall::Lock(mutex, None) => engine(take(mutex_token(mutex.0)), Expect::Flag),
            Simcall::Unlock(mutex) => engine(give(mutex_token(mutex.0)), Expect::Ready),
            Simcall::Acquire(semaphore, None) => engine(take(semaphore_token(semaphore.0)), Expect::Flag),
            Simcall::Release(semaphore) => engine(give(semaphore_token(semaphore.0)), Expect::Ready),
            Simcall::Choose(n) => engine(Request::Choose(n), Expect::Chosen),
            Simcall::Exit => engine(Request::Ended, Expect::Start),
            Simcall::WaitAny { .. } | Simcall::Lock(..) | Simcall::Acquire(..) | Simcall::Join(..) => {
                Err(Unknown("timeouts"))
            }
            Simcall::TryLock(_) => Err(Unknown("attempts to lock")),
            Simcall::WaitCondition(..) | Simcall::Notify(..) => Err(Unknown("condition variables")),
            Simcall::Arrive(_) => Err(Unknown("barriers")),
            Simcall::Cancel(_) | Simcall::Pause(_) | Simcall::Continue(_) => {
                Err(Unknown("activities that are cancelled or suspended"))
            }
            Simcall::Kill(_)
            | Simcall::KillAll
            | Simcall::Suspend(_)
            | Simcall::Resume(_)
            | Simcall::Migrate(..)
            | Simcall::IsAlive(_) => Err(Unknown("actors that kill, suspend or move others")),
            Simcall::Probe(..) => Err(Unknown("probes")),
            Simcall::Platform(_) => Err(Unknown("questions about the platform")),
        }
    }
}

/// A simcall that the engine does not know.
struct Unknown(&'static str);

fn post(mailbox: Mailbox, is_send: bool, follow: Follow, payload: Option<Payload>) -> Result<Asked, Unknown> {
    let (request, expect) = match follow {
        Follow::Return => (Request::Post { mailbox, is_send }, Expect::Activity),
        Follow::Detach => (Request::Post { mailbox, is_send }, Expect::Ready),
        Follow::Wait(None) => (Request::PostAndWait { mailbox, is_send }, Expect::Completed),
        Follow::Wait(Some(_)) => return Err(Unknown("timeouts")),
    };
    Ok(Asked::Engine(request, expect, payload))
}

fn handles(activities: &ActivitySet) -> SmallVec<[Handle; 4]> {
    activities.iter().map(|activity| activity.index() as Handle).collect()
}

fn mutex_token(id: u32) -> Mailbox {
    Mailbox::token(id * 2)
}

fn semaphore_token(id: u32) -> Mailbox {
    Mailbox::token(id * 2 + 1)
}

fn take(mailbox: Mailbox) -> Request {
    Request::PostAndWait { mailbox, is_send: false }
}

fn give(mailbox: Mailbox) -> Request {
    Request::Post { mailbox, is_send: true }
}

fn note_requests(note: Note, queue: &mut VecDeque<Request>) {
    match note {
        Note::Unlock(mutex) | Note::NewMutex(mutex) => queue.push_back(give(mutex_token(mutex.0))),
        Note::Release(semaphore) => queue.push_back(give(semaphore_token(semaphore.0))),
        Note::NewSemaphore(semaphore, count) => {
            queue.extend((0..count).map(|_| give(semaphore_token(semaphore.0))));
        }
        Note::Forget(_) | Note::NewCondition(_) | Note::NewBarrier(..) => {}
    }
}

impl<F: Factory> Processes for Actors<F> {
    fn restart(&mut self) {
        self.live.clear();
        self.factory.make(&mut self.actors, &mut self.notes);
        let mut actors = std::mem::take(&mut self.actors);
        self.count = actors.len() as u32;
        for request in actors.drain(..) {
            self.add(request);
        }
        self.actors = actors;
        if let Some(first) = self.live.first_mut() {
            first.leavings.notes.append(&mut self.notes);
        }
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn is_daemon(&self, process: u32) -> bool {
        self.live.get(process as usize).is_some_and(|live| live.daemon)
    }

    fn resume(&mut self, process: u32, reply: Reply) -> Request {
        let live = &mut self.live[process as usize];
        let answer = match live.then.take() {
            Some(asked) => match self.ask(process, asked) {
                Ok(request) => return request,
                Err(local) => Some(local),
            },
            None => self.answer(process, reply),
        };
        self.run(process, answer)
    }
}
