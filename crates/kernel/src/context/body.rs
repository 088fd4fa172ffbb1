//! The code of an actor between two simcalls, and what comes of running it.

use std::fmt;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};

use simurgh_models::prefetch::prefetch;
use simurgh_watchdog::untold;

use super::place::PANICKED;
use super::port::{Door, HELD, Held, LENT, Port, PortGuard, with_port};
use crate::simcall::{Note, Simcall};

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

/// What came of running an actor. It is short, for it is handed on after each step of each actor.
#[derive(Debug)]
pub enum Resumed {
    /// It asks for something: [`Port::simcall`].
    Asked,
    /// It came to its end.
    Ended,
    /// It came to an end that it should not have come to.
    Failed(Box<Fault>),
}

/// Why an actor did not go on.
#[derive(Debug)]
pub enum Fault {
    /// It says so itself.
    Told(String),
    /// It panicked, with this message.
    Panicked(String),
    /// It waits for something that is not of this world: a future that no simcall stands behind.
    Stray,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Told(message) => f.write_str(message),
            Fault::Panicked(message) => write!(f, "panicked: {message}"),
            Fault::Stray => f.write_str(
                "awaits a future that has nothing to do with the simulation (a channel or timer of another runtime?)",
            ),
        }
    }
}

impl Resumed {
    fn at_end(ending: Ending) -> Self {
        match ending {
            Ok(()) => Resumed::Ended,
            Err(message) => Resumed::Failed(Box::new(Fault::Told(message))),
        }
    }
}

/// What came of it where an actor did not simply ask for something.
#[cold]
fn unusual(polled: std::thread::Result<Resumed>, door: &mut Door) -> Resumed {
    let fault = match polled {
        Ok(Resumed::Asked) => Fault::Stray,
        Ok(ended) => {
            door.simcall = None;
            return ended;
        }
        Err(panic) => {
            door.simcall = None;
            match panic.downcast_ref::<Violated>() {
                Some(Violated(message)) => Fault::Told(message.clone()),
                None => {
                    let place = PANICKED.take().or(door.place());
                    door.stood = place;
                    Fault::Panicked(panic_message(panic.as_ref()))
                }
            }
        }
    };
    Resumed::Failed(Box::new(fault))
}

impl Body {
    /// Asks the processor for what it will need when it goes on.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self {
            Body::Future(future) => prefetch(&**future),
            Body::Coroutine(coroutine) => prefetch(&**coroutine),
        }
    }

    /// Runs the code until its next simcall. The door is [prepared](Door::prepare) for it.
    #[inline]
    pub fn resume(&mut self, door: &mut Door) -> Resumed {
        door.swap();
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let ending = match self {
                Body::Future(future) => poll(future),
                Body::Coroutine(coroutine) => {
                    let _held = Held(HELD.replace(true));
                    coroutine.resume(PortGuard::take().port().expect(LENT))
                }
            };
            ending.map_or(Resumed::Asked, Resumed::at_end)
        }));
        door.swap();
        if matches!(polled, Ok(Resumed::Asked)) && door.simcall.is_some() {
            // There is nothing in it, as the compiler does not see.
            std::mem::forget(polled);
            return Resumed::Asked;
        }
        unusual(polled, door)
    }

    /// Drops the code of an actor that ended. Its destructors may leave notes; that one of them panicked is told by
    /// [`part`], which is to be called next.
    pub fn dispose(self, door: &mut Door) {
        untold::take();
        door.swap();
        drop(self);
        door.swap();
        (door.answer, door.simcall) = (None, None);
    }

    /// Drops a request of an actor that ended before anybody served it, with all that the actor put into it, as values of the actor.
    pub fn dispose_request(request: Simcall, door: &mut Door) {
        if let Simcall::WaitCondition(_, mutex, _) = request {
            // The wait would have given it back.
            door.notes.push(Note::Unlock(mutex));
        }
        door.swap();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(request))) {
            untold::keep(panic_message(panic.as_ref()));
        }
        door.swap();
    }
}

/// Values of an actor may panic when they are dropped, which must not take along whoever drops the actor.
impl Drop for Body {
    fn drop(&mut self) {
        let dropped = catch_unwind(AssertUnwindSafe(|| match self {
            Body::Future(future) => *future = Box::pin(pending()),
            Body::Coroutine(coroutine) => *coroutine = Box::new(Gone),
        }));
        if let Err(panic) = dropped {
            untold::keep(panic_message(panic.as_ref()));
        }
    }
}

/// What is left of code that was dropped.
struct Gone;

impl Coroutine for Gone {
    fn resume(&mut self, _: &mut Port) -> Option<Ending> {
        None
    }
}

/// Runs a future until its next simcall, or to the end.
#[inline]
fn poll(future: &mut ActorFuture) -> Option<Ending> {
    match future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
        Poll::Pending => None,
        Poll::Ready(ending) => Some(ending),
    }
}

/// Calls what an actor prepared for its end, the last first: what was prepared first may be needed until then. What
/// the functions say and note is left in the port; gives the messages of those that panicked, after that of its code when
/// it was [dropped](Body::dispose).
pub fn part(on_exit: Vec<OnExit>, failed: bool, door: &mut Door) -> Vec<String> {
    let mut panics = Vec::from_iter(untold::take());
    if !on_exit.is_empty() {
        door.swap();
        for exit in on_exit.into_iter().rev() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| exit(failed))) {
                panics.push(panic_message(panic.as_ref()));
            }
        }
        door.swap();
        // Nothing that begins now would ever end.
        door.on_exit.clear();
    }
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
#[track_caller]
pub fn violate(message: String) -> ! {
    if HELD.get() || with_port(|_| ()).is_some() {
        resume_unwind(Box::new(Violated(message)));
    }
    panic!("{message}")
}
