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
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};

use simurgh_models::SimTime;
use simurgh_models::ahead::fetch;
use simurgh_platform::HostId;

use crate::ids::ActorId;
use crate::simcall::{Answer, Note, SendRequest, Simcall};

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

/// What makes the code of an actor, which is told who it is.
pub type Begin = Box<dyn FnOnce(ActorId) -> ActorFuture + Send>;

/// User code of another kind than a future.
pub trait Coroutine: Send {
    /// Runs until the next simcall, which is left in the port, or to the end.
    fn resume(&mut self, port: &mut Port) -> Option<Ending>;
}

/// The code of an actor, between two simcalls.
pub enum Body {
    /// Rust code that has not begun; none once it has.
    New(Option<Begin>),
    /// Rust code.
    Future(ActorFuture),
    /// Any other code.
    Coroutine(Box<dyn Coroutine>),
}

/// A function to call when an actor ends; it is told whether the actor was killed or failed.
pub type OnExit = Box<dyn FnOnce(bool) + Send>;

/// Where an actor's code and the kernel exchange requests and answers.
pub struct Port {
    /// The actor that runs.
    pub actor: ActorId,
    /// The host it runs on.
    pub host: HostId,
    /// The present date.
    pub now: SimTime,
    /// What the actor asks next.
    pub simcall: Option<Simcall>,
    /// What it is answered.
    pub answer: Option<Answer>,
    /// What goes with its next simcall, served before it.
    pub notes: Vec<Note>,
    /// Whether messages that nobody waits for may be left here, instead of being asked one by one.
    pub takes_posts: bool,
    /// Such messages, sent before its next simcall is served.
    pub posts: Vec<SendRequest>,
    /// What is to be called when it ends.
    pub on_exit: Vec<OnExit>,
    /// What it says, for people to read, when its request is served.
    pub said: Vec<String>,
    /// Where in its code it says that it is, or that it failed.
    stood: Option<Place>,
    /// Where in its code it asks.
    line: Option<&'static Location<'static>>,
}

impl Port {
    /// Where in its code the actor asks, or says that it failed; `None` if that is not known, as of an ordinary end.
    pub fn place(&self) -> Option<Place> {
        self.stood.or_else(|| self.line.map(Place::from))
    }
}

/// A [`Port`] that is lent to one actor after the other: whoever runs actors owns one, fills it before an actor runs,
/// and finds in it what the actor left. It is not copied: while an actor runs its thread has it.
pub struct Door {
    /// The port; while it is lent, that of the actor around this one, if an actor itself runs a simulation.
    port: Lent,
}

/// A port, or the place of one that is elsewhere. A thread that has such a place need not watch its own end for it: the
/// port is always given back.
type Lent = Option<ManuallyDrop<Box<Port>>>;

impl Drop for Door {
    fn drop(&mut self) {
        drop(self.port.take().map(ManuallyDrop::into_inner));
    }
}

impl Default for Door {
    fn default() -> Self {
        Self::new()
    }
}

impl Door {
    /// A port with nothing in it.
    pub fn new() -> Self {
        let port = Port {
            actor: ActorId(0),
            host: HostId(0),
            now: SimTime::ZERO,
            simcall: None,
            answer: None,
            notes: Vec::new(),
            takes_posts: false,
            posts: Vec::new(),
            on_exit: Vec::new(),
            said: Vec::new(),
            stood: None,
            line: None,
        };
        Self { port: Some(ManuallyDrop::new(Box::new(port))) }
    }

    /// Prepares it for an actor.
    #[inline]
    pub fn prepare(&mut self, actor: ActorId, host: HostId, now: SimTime, answer: Option<Answer>) {
        let port: &mut Port = self;
        (port.actor, port.host, port.now, port.answer) = (actor, host, now, answer);
        (port.stood, port.line) = (None, None);
    }

    /// Lends it to this thread, or takes it back.
    #[inline]
    fn swap(&mut self) {
        self.port = PORT.replace(self.port.take());
    }
}

impl Deref for Door {
    type Target = Port;

    #[inline]
    fn deref(&self) -> &Port {
        self.port.as_ref().expect(LENT)
    }
}

impl DerefMut for Door {
    #[inline]
    fn deref_mut(&mut self) -> &mut Port {
        self.port.as_mut().expect(LENT)
    }
}

const LENT: &str = "a port is lent only while an actor runs";

thread_local! {
    /// That of the actor that runs; none while somebody has it [in his hands](Hand).
    static PORT: Cell<Lent> = const { Cell::new(None) };
    /// Whether code runs that is no future, and has it in its hands all the time.
    static HELD: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic was, while panics are remembered.
    static PANICKED: Cell<Option<Place>> = const { Cell::new(None) };
    /// Names of files that places refer to.
    static FILES: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The port of the actor that runs, taken in hand; it goes back to its place afterwards.
struct Hand(Lent);

impl Hand {
    #[inline]
    fn take() -> Self {
        Self(PORT.take())
    }

    /// As [`take`](Self::take), where the thread may be going down.
    fn try_take() -> Self {
        Self(PORT.try_with(Cell::take).unwrap_or_default())
    }

    #[inline]
    fn port(&mut self) -> Option<&mut Port> {
        self.0.as_deref_mut().map(|port| &mut **port)
    }
}

impl Drop for Hand {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            PORT.set(self.0.take());
        }
    }
}

/// While code runs that is no future. It keeps what was before it: such code may run a simulation itself.
struct Held(bool);

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(self.0);
    }
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

/// Says at which line the actor that runs is: one that finds that something is wrong, or that carries out what is
/// written in a file and has just asked for it. Its next request is elsewhere.
pub fn stand_at(place: impl Into<Place>) {
    if let Some(port) = Hand::try_take().port() {
        port.stood = Some(place.into());
    }
}

/// Where the last panic on this thread was, if it was not that of an actor.
pub fn panicked_at() -> Option<Place> {
    PANICKED.get()
}

/// A panic hook that prints nothing, and remembers where the panic was for [`Port::place`]: for those who run an actor
/// that panics again and again.
pub fn remember_panic(info: &PanicHookInfo<'_>) {
    // The hook may be called while the thread is going down.
    let place = info.location().map(|location| Place::new(location.file(), location.line()));
    let _ = PANICKED.try_with(|panicked| panicked.set(place));
}

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

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    pub(crate) fn fetch(&self) {
        match self {
            Body::New(begin) => begin.iter().for_each(|begin| fetch(&**begin)),
            Body::Future(future) => fetch(&**future),
            Body::Coroutine(coroutine) => fetch(&**coroutine),
        }
    }

    /// Runs the code until its next simcall. The door is [prepared](Door::prepare) for it.
    #[inline]
    pub fn resume(&mut self, door: &mut Door) -> Resumed {
        door.swap();
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let ending = match self {
                Body::Future(future) => poll(future),
                _ => self.resume_other(),
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

    /// The same for code that has not begun, or is no future.
    fn resume_other(&mut self) -> Option<Ending> {
        if let Body::New(begin) = self {
            let begin = begin.take().expect("an actor that could not begin has ended");
            *self = Body::Future(begin(with_port(|port| port.actor).expect(LENT)));
        }
        match self {
            Body::Future(future) => poll(future),
            Body::Coroutine(coroutine) => {
                let _held = Held(HELD.replace(true));
                coroutine.resume(Hand::take().port().expect(LENT))
            }
            Body::New(_) => unreachable!("it has begun"),
        }
    }

    /// Drops the code of an actor that ended. Its destructors may leave notes.
    pub fn dispose(self, door: &mut Door) {
        door.swap();
        // A destructor that panics has nobody left to tell.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(self)));
        door.swap();
        (door.answer, door.simcall) = (None, None);
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
/// the functions say and note is left in the port; gives the messages of those that panicked.
pub fn part(on_exit: Vec<OnExit>, failed: bool, door: &mut Door) -> Vec<String> {
    let mut panics = Vec::new();
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
pub fn violate(message: String) -> ! {
    if HELD.get() || with_port(|_| ()).is_some() {
        resume_unwind(Box::new(Violated(message)));
    }
    panic!("{message}")
}

/// A trip through the kernel's door: the request is made when first polled, and the trip is over when it is answered.
#[derive(Debug)]
pub struct Trip {
    stage: Stage,
    place: &'static Location<'static>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Stage {
    New,
    Asked,
    Over,
}

impl Trip {
    /// One that begins at this line.
    pub fn new(place: &'static Location<'static>) -> Self {
        Self { stage: Stage::New, place }
    }

    /// The line on whose behalf it is.
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }

    /// Goes on with it. The request is made, once, by the actor that asks; the answer is read where it lies, which
    /// must ask for nothing itself and leaves nothing behind.
    ///
    /// # Panics
    /// Outside of any actor, when two trips are made at once, and after its end.
    #[inline]
    pub fn poll_with<T>(
        &mut self,
        request: impl FnOnce(ActorId) -> Simcall,
        read: impl FnOnce(&mut Option<Answer>) -> T,
    ) -> Poll<T> {
        let mut hand = Hand::take();
        let port = hand.port();
        match self.stage {
            Stage::New => {
                let Some(port) = port else { outside() };
                if port.simcall.is_some() || port.answer.is_some() {
                    several_at_once();
                }
                let request = request(port.actor);
                // There was none, as the compiler does not see.
                std::mem::forget(port.simcall.replace(request));
                (port.stood, port.line) = (None, Some(self.place));
                self.stage = Stage::Asked;
                Poll::Pending
            }
            Stage::Asked => match port {
                Some(port) if port.answer.is_some() => {
                    self.stage = Stage::Over;
                    Poll::Ready(read(&mut port.answer))
                }
                _ => Poll::Pending,
            },
            Stage::Over => panic!("an operation was polled after it was over"),
        }
    }

    /// Sends a message that nobody waits for without stopping, where that can be done: then it is over at once.
    #[inline]
    pub fn poll_post(&mut self, request: impl FnOnce(ActorId) -> SendRequest) -> Poll<()> {
        if self.stage != Stage::New {
            return Poll::Pending;
        }
        match Hand::take().port() {
            Some(port) if port.takes_posts => {
                let request = request(port.actor);
                port.posts.push(request);
                self.stage = Stage::Over;
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

#[cold]
fn outside() -> ! {
    panic!("an operation of an actor was awaited outside of any actor")
}

#[cold]
fn several_at_once() -> ! {
    panic!(
        "an actor does one thing at a time: start the activities, then wait for one or all of them \
         (ActivitySet), instead of polling several operations at once"
    )
}

impl Drop for Trip {
    fn drop(&mut self) {
        if self.stage == Stage::Asked {
            give_up();
        }
    }
}

/// Given up before it was served (by a `select!`, say): then it is not asked at all.
#[cold]
fn give_up() {
    if let Some(port) = Hand::try_take().port() {
        (port.simcall, port.answer) = (None, None);
    }
}

/// A simcall as a future: asks when first polled, and is done when answered.
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct Call {
    /// The request, while it has not been made yet.
    simcall: Option<Simcall>,
    trip: Trip,
}

/// Asks the kernel, on behalf of the line that calls this.
#[track_caller]
pub fn call(simcall: Simcall) -> Call {
    call_at(simcall, Location::caller())
}

/// Asks the kernel, on behalf of this line.
pub fn call_at(simcall: Simcall, place: &'static Location<'static>) -> Call {
    Call { simcall: Some(simcall), trip: Trip::new(place) }
}

impl Call {
    /// The request, while it has not been made yet.
    pub fn simcall_mut(&mut self) -> Option<&mut Simcall> {
        self.simcall.as_mut()
    }
}

impl Future for Call {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Answer> {
        let Call { simcall, trip } = &mut *self;
        trip.poll_with(
            |_| simcall.take().expect("it is asked once"),
            |answer| answer.take().expect("it is there"),
        )
    }
}

/// Looks at, or adds to, the port of the actor that runs. `None` outside of any actor.
pub fn with_port<T>(f: impl FnOnce(&mut Port) -> T) -> Option<T> {
    Hand::take().port().map(f)
}

/// Leaves a note, if an actor runs; says whether it was taken.
pub fn leave(note: Note) -> bool {
    Hand::try_take().port().map(|port| port.notes.push(note)).is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn run(body: &mut Body, answer: Option<Answer>) -> (Resumed, Option<Place>) {
        let mut door = Door::new();
        door.prepare(ActorId(0), HostId(0), SimTime::ZERO, answer);
        let resumed = body.resume(&mut door);
        (resumed, door.place())
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
        assert!(matches!(resumed, Resumed::Ended));
        assert_eq!(end, None);
    }

    #[test]
    fn an_actor_begins_when_it_first_runs_and_knows_who_it_is() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&begun);
        let mut body = Body::New(Some(Box::new(move |actor| {
            noted.lock().expect("one at a time").push(actor);
            Box::pin(async {
                call(Simcall::Yield).await;
                Ok(())
            })
        })));
        assert!(begun.lock().expect("one at a time").is_empty());
        assert!(matches!(run(&mut body, None).0, Resumed::Asked));
        assert!(matches!(run(&mut body, Some(Answer::Ready)).0, Resumed::Ended));
        assert_eq!(*begun.lock().expect("one at a time"), [ActorId(0)]);

        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(remember_panic));
        let mut failing = Body::New(Some(Box::new(|_| panic!("not even begun"))));
        let (resumed, _) = run(&mut failing, None);
        std::panic::set_hook(hook);
        assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "panicked: not even begun"));
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
        assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "panicked: no"));
        assert_eq!(place, Some(Place::new(file!(), line)));
        // A place that was noted by an earlier panic is not taken for that of a later run.
        assert_eq!(run(&mut Body::Future(Box::pin(async { Ok(()) })), None).1, None);
    }
    /// Code that is no future has the port in its hands while it runs, and is inside of an actor all the same.
    #[test]
    fn other_code_may_say_what_is_wrong() {
        struct Wrong;
        impl Coroutine for Wrong {
            fn resume(&mut self, port: &mut Port) -> Option<Ending> {
                port.simcall = Some(Simcall::Yield);
                if port.answer.take().is_some() {
                    violate("two and two are five".to_owned());
                }
                None
            }
        }
        let mut body = Body::Coroutine(Box::new(Wrong));
        assert!(matches!(run(&mut body, None).0, Resumed::Asked));
        let (resumed, _) = run(&mut body, Some(Answer::Ready));
        assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "two and two are five"));
        assert!(!HELD.get() && with_port(|_| ()).is_none(), "nobody runs any more");
    }

    /// What is dropped with a request that is given up may look for the actor, and finds none: it does no harm.
    #[test]
    fn a_request_is_given_up_with_all_that_is_in_it() {
        struct Curious(Arc<Mutex<u32>>);
        impl Drop for Curious {
            fn drop(&mut self) {
                leave(Note::Forget(crate::ids::ActivityId::new(0, 0)));
                *self.0.lock().expect("one at a time") += 1;
            }
        }
        let dropped = Arc::new(Mutex::new(0));
        let curious = Curious(Arc::clone(&dropped));
        let request = SendRequest {
            mailbox: crate::ids::MailboxId(0),
            bytes: 1.0,
            rate: None,
            envelope: Default::default(),
            payload: Some(Box::new(curious)),
        };
        let mut body = Body::Future(Box::pin(async move {
            let mut send = Box::pin(call(Simcall::Send(request, crate::simcall::Follow::Detach)));
            std::future::poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx).is_pending())).await;
            drop(send);
            call(Simcall::Yield).await;
            Ok(())
        }));
        assert!(matches!(run(&mut body, None).0, Resumed::Asked));
        assert_eq!(*dropped.lock().expect("one at a time"), 1);
    }
}
