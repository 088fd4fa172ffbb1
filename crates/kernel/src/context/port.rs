//! Ports: where an actor asks and is answered. A thread lends one to the actor that it runs.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use simurgh_models::SimTime;
use simurgh_platform::HostId;

use super::OnExit;
use super::label::Label;
use super::place::Place;
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{Answer, Note, Post, Simcall};

/// Where an actor's code and the kernel exchange requests and answers.
pub struct Port {
    /// The actor that runs.
    pub actor: ActorId,
    /// The host it runs on.
    pub host: HostId,
    /// Which program it is of: whatever number its driver was given, or 0. Objects of other programs are told by it.
    pub program: u32,
    /// The present date.
    pub now: SimTime,
    /// What the actor asks next.
    pub simcall: Option<Simcall>,
    /// What it is answered.
    pub answer: Option<Answer>,
    /// What goes with its next simcall, served before it.
    pub notes: Vec<Note>,
    /// Whether messages that nobody waits for, and receives, may be left here, instead of being asked one by one.
    pub takes_posts: bool,
    /// Such posts, served before its next simcall is.
    pub posts: Vec<Post>,
    /// The receives among those that went with its last simcall, in order; none if that has waited for them.
    pub received: Vec<ActivityId>,
    /// What is to be called when it ends.
    pub on_exit: Vec<OnExit>,
    /// What it says, for people to read, when its request is served.
    pub said: Vec<String>,
    /// Whether somebody wants to know what it calls what it asks.
    pub wants_labels: bool,
    /// What it calls what it asks next.
    pub label: Option<Box<Label>>,
    /// Where in its code it says that it is, or that it failed.
    pub(super) stood: Option<Place>,
    /// Where in its code it asks.
    pub(super) line: Option<&'static Location<'static>>,
}

impl Port {
    /// Where in its code the actor asks, or says that it failed; `None` if that is not known, as of an ordinary end.
    #[inline]
    pub fn place(&self) -> Option<Place> {
        self.stood.or_else(|| self.line.map(Place::from))
    }

    /// Says where the actor is, for code that has the port in its hands: [`stand_at`](super::stand_at) is for other code.
    pub fn stands_at(&mut self, place: Place) {
        self.stood = Some(place);
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
            program: 0,
            now: SimTime::ZERO,
            simcall: None,
            answer: None,
            notes: Vec::new(),
            takes_posts: false,
            posts: Vec::new(),
            received: Vec::new(),
            on_exit: Vec::new(),
            said: Vec::new(),
            wants_labels: false,
            label: None,
            stood: None,
            line: None,
        };
        Self { port: Some(ManuallyDrop::new(Box::new(port))) }
    }

    /// Prepares it for an actor.
    #[inline]
    pub fn prepare(&mut self, actor: ActorId, host: HostId, now: SimTime, answer: Option<Answer>) {
        self.answer = answer;
        self.admit(actor, host, now);
    }

    /// The same, where its answer is already there.
    #[inline]
    pub fn admit(&mut self, actor: ActorId, host: HostId, now: SimTime) {
        let port: &mut Port = self;
        (port.actor, port.host, port.now) = (actor, host, now);
        (port.stood, port.line) = (None, None);
    }

    /// Lends it to this thread, or takes it back.
    #[inline]
    pub(super) fn swap(&mut self) {
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

pub(super) const LENT: &str = "a port is lent only while an actor runs";

thread_local! {
    /// That of the actor that runs; none while somebody has it [in his hands](PortGuard).
    static PORT: Cell<Lent> = const { Cell::new(None) };
    /// Whether code runs that is no future, and has it in its hands all the time.
    pub(super) static HELD: Cell<bool> = const { Cell::new(false) };
}

/// The port of the actor that runs, taken in hand; it goes back to its place afterwards.
pub(super) struct PortGuard(Lent);

impl PortGuard {
    #[inline]
    pub(super) fn take() -> Self {
        Self(PORT.take())
    }

    /// As [`take`](Self::take), where the thread may be going down.
    pub(super) fn try_take() -> Self {
        Self(PORT.try_with(Cell::take).unwrap_or_default())
    }

    #[inline]
    pub(super) fn port(&mut self) -> Option<&mut Port> {
        self.0.as_deref_mut().map(|port| &mut **port)
    }
}

impl Drop for PortGuard {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            PORT.set(self.0.take());
        }
    }
}

/// While code runs that is no future. It keeps what was before it: such code may run a simulation itself.
pub(super) struct Held(pub(super) bool);

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(self.0);
    }
}

/// Looks at, or adds to, the port of the actor that runs. `None` outside of any actor.
pub fn with_port<T>(f: impl FnOnce(&mut Port) -> T) -> Option<T> {
    PortGuard::take().port().map(f)
}

/// Leaves a note, if an actor runs; says whether it was taken.
pub fn leave(note: Note) -> bool {
    PortGuard::try_take().port().map(|port| port.notes.push(note)).is_some()
}
