//! How user code runs: an actor's code goes on until its next simcall, then stops.
//!
//! Rust actors are futures. A simcall is a future that puts the request into the [`Port`] of the thread that runs the
//! actor and stops; the next time it is polled, the answer lies there. The port is lent to an actor while it runs and
//! holds nothing in between, so that any thread may run any actor. Other kinds of user code (fibers for compiled
//! programs) implement [`Coroutine`].

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};

use simurgh_models::SimTime;
use simurgh_platform::HostId;

use crate::ids::ActorId;
use crate::simcall::{Answer, Note, Simcall};

/// A line of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl Place {
    /// A line of a file whose name is kept for good, once a thread.
    pub fn new(file: &str, line: u32) -> Self {
        Self { file: keep(file), line }
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// How the code of an actor ended: well, or with what it has to say.
pub type Ending = Result<(), String>;

/// The code of an actor as a future.
pub type ActorFuture = Pin<Box<dyn Future<Output = Ending> + Send>>;

/// User code of another kind than a future.
pub trait Coroutine: Send {
    /// Runs until the next simcall, which is left in the port, or to the end.
    fn resume(&mut self, port: &mut Port) -> Option<Ending>;
}

/// The code of an actor, between two simcalls.
pub enum Body {
    /// Rust code.
    Future(ActorFuture),
    /// Any other code.
    Coroutine(Box<dyn Coroutine>),
}

/// A function to call when an actor ends; it is told whether the actor was killed or failed.
pub type OnExit = Box<dyn FnOnce(bool) + Send>;

/// Where an actor's code and the kernel exchange requests and answers.
#[derive(Default)]
pub struct Port {
    /// The actor that runs.
    pub actor: Option<ActorId>,
    /// The host it runs on.
    pub host: Option<HostId>,
    /// The present date.
    pub now: SimTime,
    /// What the actor asks next.
    pub simcall: Option<Simcall>,
    /// What it is answered.
    pub answer: Option<Answer>,
    /// What goes with its next simcall.
    pub notes: Vec<Note>,
    /// What is to be called when it ends.
    pub on_exit: Vec<OnExit>,
    /// What it says, for people to read.
    pub said: Vec<String>,
    /// Where in its code it asks, or says that it failed.
    pub place: Option<Place>,
}

impl Port {
    /// Nobody's.
    const fn empty() -> Self {
        Self {
            actor: None,
            host: None,
            now: SimTime::ZERO,
            simcall: None,
            answer: None,
            notes: Vec::new(),
            on_exit: Vec::new(),
            said: Vec::new(),
            place: None,
        }
    }
}

thread_local! {
    static PORT: RefCell<Port> = const { RefCell::new(Port::empty()) };
    /// Where the code that ran last stopped.
    static STOPPED: Cell<Option<Place>> = const { Cell::new(None) };
    /// Where the last panic was, while panics are remembered.
    static PANICKED: Cell<Option<Place>> = const { Cell::new(None) };
    /// Names of files that places refer to.
    static FILES: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The same text, for good.
fn keep(file: &str) -> &'static str {
    FILES.with_borrow_mut(|files| match files.get(file) {
        Some(kept) => kept,
        None => {
            let kept: &'static str = Box::leak(file.into());
            files.insert(kept);
            kept
        }
    })
}

/// Where the actor that ran last on this thread ([`Body::resume`]) stopped: at its request, its panic, or its failure.
/// `None` if that is not known, as of an ordinary end.
pub fn stopped_at() -> Option<Place> {
    STOPPED.get()
}

/// Says at which line the actor that runs is: one that finds that something is wrong, or that carries out what is
/// written in a file and has just asked for it. Its next request is elsewhere.
pub fn stand_at(place: impl Into<Place>) {
    let _ = PORT.try_with(|port| {
        if let Ok(mut port) = port.try_borrow_mut() {
            port.place = Some(place.into());
        }
    });
}

/// Where the last panic on this thread was, if it was not that of an actor.
pub fn panicked_at() -> Option<Place> {
    PANICKED.get()
}

/// A panic hook that prints nothing, and remembers where the panic was for [`stopped_at`]: for those who run an actor
/// that panics again and again.
pub fn remember_panic(info: &PanicHookInfo<'_>) {
    // The hook may be called while the thread is going down.
    let place = info.location().map(|location| Place::new(location.file(), location.line()));
    let _ = PANICKED.try_with(|panicked| panicked.set(place));
}

/// What came of running an actor.
#[derive(Debug)]
pub enum Resumed {
    /// It asks for something.
    Asked(Simcall),
    /// It came to its end.
    Ended(Ending),
    /// It panicked, with this message.
    Panicked(String),
    /// It waits for something that is not of this world: a future that no simcall stands behind.
    Stray,
}

/// What the actor left besides its request.
#[derive(Default)]
pub struct Leavings {
    /// Served before the request.
    pub notes: Vec<Note>,
    /// Kept until the actor ends.
    pub on_exit: Vec<OnExit>,
    /// Told to people when the request is served.
    pub said: Vec<String>,
}

impl Body {
    /// Runs the code until its next simcall. `leavings` is filled, and must come empty.
    pub fn resume(
        &mut self,
        actor: ActorId,
        host: HostId,
        now: SimTime,
        answer: Option<Answer>,
        leavings: &mut Leavings,
    ) -> Resumed {
        // An actor may itself run a simulation: the outer port waits on this stack meanwhile.
        let outer = PORT.with_borrow_mut(|port| {
            let outer = port.actor.is_some().then(|| Box::new(std::mem::take(port)));
            (port.actor, port.host, port.now, port.answer) = (Some(actor), Some(host), now, answer);
            port.place = None;
            std::mem::swap(&mut port.notes, &mut leavings.notes);
            outer
        });
        let polled = catch_unwind(AssertUnwindSafe(|| match self {
            Body::Future(future) => match future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
                Poll::Ready(ending) => Some(ending),
                Poll::Pending => None,
            },
            Body::Coroutine(coroutine) => PORT.with_borrow_mut(|port| coroutine.resume(port)),
        }));
        let simcall = PORT.with_borrow_mut(|port| {
            (port.actor, port.answer) = (None, None);
            std::mem::swap(&mut port.notes, &mut leavings.notes);
            leavings.on_exit.append(&mut port.on_exit);
            leavings.said.append(&mut port.said);
            let simcall = port.simcall.take();
            STOPPED.set(port.place);
            if let Some(outer) = outer {
                *port = *outer;
            }
            simcall
        });
        match polled {
            Err(panic) => match panic.downcast_ref::<Violated>() {
                Some(Violated(message)) => Resumed::Ended(Err(message.clone())),
                None => {
                    if let Some(place) = PANICKED.take() {
                        STOPPED.set(Some(place));
                    }
                    Resumed::Panicked(panic_message(panic.as_ref()))
                }
            },
            Ok(Some(ending)) => Resumed::Ended(ending),
            Ok(None) => simcall.map_or(Resumed::Stray, Resumed::Asked),
        }
    }

    /// Drops the code of an actor that ended, and collects the notes that its destructors leave.
    pub fn dispose(self, actor: ActorId, host: HostId, now: SimTime) -> Vec<Note> {
        let outer = PORT.with_borrow_mut(|port| {
            let outer = port.actor.is_some().then(|| Box::new(std::mem::take(port)));
            (port.actor, port.host, port.now) = (Some(actor), Some(host), now);
            outer
        });
        // A destructor that panics has nobody left to tell.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(self)));
        PORT.with_borrow_mut(|port| {
            (port.actor, port.answer, port.simcall) = (None, None, None);
            let notes = std::mem::take(&mut port.notes);
            if let Some(outer) = outer {
                *port = *outer;
            }
            notes
        })
    }
}

/// Calls what an actor prepared for its end, the last first: what was prepared first may be needed until then. What
/// the functions say and note goes to `leavings`; gives the messages of those that panicked.
pub fn part(
    on_exit: Vec<OnExit>,
    failed: bool,
    actor: ActorId,
    host: HostId,
    now: SimTime,
    leavings: &mut Leavings,
) -> Vec<String> {
    if on_exit.is_empty() {
        return Vec::new();
    }
    let outer = PORT.replace(Port { actor: Some(actor), host: Some(host), now, ..Port::default() });
    let mut panics = Vec::new();
    for exit in on_exit.into_iter().rev() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| exit(failed))) {
            panics.push(panic_message(panic.as_ref()));
        }
    }
    let mut lent = PORT.replace(outer);
    leavings.notes.append(&mut lent.notes);
    leavings.said.append(&mut lent.said);
    panics
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .or_else(|| panic.downcast_ref::<Violated>().map(|Violated(message)| message.clone()))
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Carries a message out of the code of an actor, however deep it is in plain functions.
struct Violated(String);

/// Ends the actor that runs, with what is wrong. Nothing is printed: whoever drives the actor tells it, once.
///
/// # Panics
/// Outside of any actor, with the message.
pub fn violate(message: String) -> ! {
    // A coroutine has borrowed the port of its thread while it runs.
    let inside = PORT.with(|port| port.try_borrow().map_or(true, |port| port.actor.is_some()));
    if inside {
        resume_unwind(Box::new(Violated(message)));
    }
    panic!("{message}")
}

/// A simcall as a future: asks when first polled, and is done when answered.
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct Call {
    stage: Stage,
    place: &'static Location<'static>,
}

#[derive(Debug)]
enum Stage {
    New(Simcall),
    Asked,
    Over,
}

/// Asks the kernel, on behalf of the line that calls this.
#[track_caller]
pub fn call(simcall: Simcall) -> Call {
    call_at(simcall, Location::caller())
}

/// Asks the kernel, on behalf of this line.
pub fn call_at(simcall: Simcall, place: &'static Location<'static>) -> Call {
    Call { stage: Stage::New(simcall), place }
}

impl Call {
    /// The request, while it has not been made yet.
    pub fn simcall_mut(&mut self) -> Option<&mut Simcall> {
        match &mut self.stage {
            Stage::New(simcall) => Some(simcall),
            _ => None,
        }
    }
}

impl Future for Call {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Answer> {
        PORT.with_borrow_mut(|port| match std::mem::replace(&mut self.stage, Stage::Asked) {
            Stage::New(simcall) => {
                assert!(
                    port.actor.is_some(),
                    "an operation of an actor was awaited outside of any actor"
                );
                assert!(
                    port.simcall.is_none() && port.answer.is_none(),
                    "an actor does one thing at a time: start the activities, then wait for one or all of them \
                     (ActivitySet), instead of polling several operations at once"
                );
                port.simcall = Some(simcall);
                port.place = Some(self.place.into());
                Poll::Pending
            }
            Stage::Asked => match port.answer.take() {
                Some(answer) => {
                    self.stage = Stage::Over;
                    Poll::Ready(answer)
                }
                None => Poll::Pending,
            },
            Stage::Over => panic!("an operation was polled after it was over"),
        })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if matches!(self.stage, Stage::Asked) {
            // Given up before it was served (by a `select!`, say): then it is not asked at all.
            let _ = PORT.try_with(|port| {
                if let Ok(mut port) = port.try_borrow_mut() {
                    port.simcall = None;
                    port.answer = None;
                }
            });
        }
    }
}

/// Looks at, or adds to, the port of the actor that runs. `None` outside of any actor.
pub fn with_port<T>(f: impl FnOnce(&mut Port) -> T) -> Option<T> {
    PORT.with_borrow_mut(|port| port.actor.is_some().then(|| f(port)))
}

/// Leaves a note, if an actor runs; says whether it was taken.
pub fn leave(note: Note) -> bool {
    PORT.try_with(|port| {
        port.try_borrow_mut().is_ok_and(|mut port| {
            let inside = port.actor.is_some();
            if inside {
                port.notes.push(note);
            }
            inside
        })
    })
    .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(body: &mut Body, answer: Option<Answer>) -> (Resumed, Option<Place>) {
        let resumed = body.resume(ActorId(0), HostId(0), SimTime::ZERO, answer, &mut Leavings::default());
        (resumed, stopped_at())
    }

    #[test]
    fn a_request_knows_its_line() {
        let line = line!() + 2;
        let mut body = Body::Future(Box::pin(async {
            let first = call(Simcall::Yield);
            let second = call(Simcall::Yield);
            second.await;
            first.await;
            Ok(())
        }));
        let place = |line| Some(Place { file: file!(), line });
        assert_eq!(run(&mut body, None).1, place(line + 1));
        assert_eq!(run(&mut body, Some(Answer::Ready)).1, place(line));
        let (resumed, end) = run(&mut body, Some(Answer::Ready));
        assert!(matches!(resumed, Resumed::Ended(Ok(()))));
        assert_eq!(end, None);
    }

    #[test]
    fn a_failure_and_a_panic_know_their_lines() {
        let line = line!() + 2;
        let mut failing = Body::Future(Box::pin(async {
            stand_at(Location::caller());
            Err("wrong".to_owned())
        }));
        assert_eq!(run(&mut failing, None).1, Some(Place { file: file!(), line }));
        assert_eq!(Place { file: file!(), line }.to_string(), format!("{}:{line}", file!()));

        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(remember_panic));
        let line = line!() + 1;
        let mut panicking = Body::Future(Box::pin(async { panic!("no") }));
        let (resumed, place) = run(&mut panicking, None);
        std::panic::set_hook(hook);
        assert!(matches!(resumed, Resumed::Panicked(message) if message == "no"));
        assert_eq!(place, Some(Place::new(file!(), line)));
        // A place that was noted by an earlier panic is not taken for that of a later run.
        assert_eq!(run(&mut Body::Future(Box::pin(async { Ok(()) })), None).1, None);
    }
}
