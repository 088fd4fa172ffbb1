//! What a protocol is: actors that handle messages and timeouts, and what their handlers may ask for.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::time::Duration;

use crate::ids::ActorId;

/// What states and messages are made of: plain data. Whatever derives `Clone, Debug, PartialEq, Eq, Hash` is `Data`.
pub trait Data: Clone + Debug + Eq + Hash + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Send + Sync + 'static> Data for T {}

/// One kind of node of a protocol.
///
/// Handlers must depend on nothing but their arguments: the same state and the same message always give the same new
/// state and the same requests. What is to be left to chance goes through [`Out::choose`].
pub trait Actor: Send + Sync + 'static {
    /// What actors of a system say to each other; all kinds of actors in one system share it.
    type Msg: Data;
    /// What an actor remembers between two handlers.
    type State: Data;
    /// The names of its timers.
    type Timer: Data + Ord;

    /// Gives the first state.
    fn on_start(&self, out: &mut Out<Self>) -> Self::State;

    /// Handles a message.
    fn on_msg(&self, state: &mut Self::State, from: ActorId, msg: &Self::Msg, out: &mut Out<Self>);

    /// Handles a timer that went off; it is no longer set.
    fn on_timeout(&self, _state: &mut Self::State, _timer: &Self::Timer, _out: &mut Out<Self>) {}

    /// What such an actor is called when a schedule is shown.
    fn name(&self) -> String {
        let name = std::any::type_name::<Self>();
        let plain = name.split('<').next().unwrap_or(name);
        plain.rsplit("::").next().unwrap_or(plain).to_lowercase()
    }
}

/// An actor of which something survives a crash.
///
/// What survives is a function of the state: it counts as stored when a handler ends, before anything that the handler
/// sent is on its way. An actor without this trait starts anew after a crash.
pub trait Durable: Actor {
    /// What is on the disk.
    type Stored: Data;

    /// What of a state is on the disk.
    fn stored(&self, state: &Self::State) -> Self::Stored;

    /// The state after a crash.
    fn on_recover(&self, stored: &Self::Stored, out: &mut Out<Self>) -> Self::State;
}

/// How long a timer takes: a duration, or a range out of which a run for real draws one. A checker lets a timer go off at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After(pub Range<Duration>);

impl From<Duration> for After {
    fn from(duration: Duration) -> Self {
        Self(duration..duration)
    }
}

impl From<Range<Duration>> for After {
    fn from(range: Range<Duration>) -> Self {
        Self(range)
    }
}

/// What a handler asked for.
pub(crate) enum Command<A: Actor + ?Sized> {
    Send(ActorId, A::Msg),
    SetTimer(A::Timer, After),
    CancelTimer(A::Timer),
}

/// What a handler may ask for: messages, timers, choices. Nothing of it happens before the handler has ended.
pub struct Out<A: Actor + ?Sized> {
    me: ActorId,
    pub(crate) commands: Vec<Command<A>>,
    chooser: Chooser,
    /// What was chosen, and out of how many options.
    pub(crate) chosen: Vec<(usize, usize)>,
}

/// Who answers [`Out::choose`]: gives a number below the one that it is given.
pub(crate) type Chooser = Box<dyn FnMut(usize) -> usize + Send>;

impl<A: Actor + ?Sized> Out<A> {
    /// For those who drive actors themselves: what `me` is about to ask for, with `choose` to answer [`Out::choose`].
    pub fn new(me: ActorId, choose: impl FnMut(usize) -> usize + Send + 'static) -> Self {
        Self { me, commands: Vec::new(), chooser: Box::new(choose), chosen: Vec::new() }
    }

    /// Who is asking.
    pub fn me(&self) -> ActorId {
        self.me
    }

    /// Sends a message. An actor may send to itself; that message goes through the network as any other.
    pub fn send(&mut self, to: ActorId, msg: A::Msg) {
        self.commands.push(Command::Send(to, msg));
    }

    /// Sends a message to each of several actors.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = ActorId>, msg: A::Msg) {
        for actor in to {
            self.send(actor, msg.clone());
        }
    }

    /// Sets a timer; if it is set already, it starts again.
    pub fn set_timer(&mut self, timer: A::Timer, after: impl Into<After>) {
        self.commands.push(Command::SetTimer(timer, after.into()));
    }

    /// Forgets a timer. It is no mistake if it was not set.
    pub fn cancel_timer(&mut self, timer: A::Timer) {
        self.commands.push(Command::CancelTimer(timer));
    }

    /// Leaves a choice to chance: gives a number below `options`. A checker tries every one of them.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn choose(&mut self, options: usize) -> usize {
        assert!(options > 0, "a choice needs at least one option");
        let which = (self.chooser)(options);
        assert!(which < options, "{which} was chosen out of {options}");
        self.chosen.push((which, options));
        which
    }
}

/// What is to be chosen after this was, if there is any: the last choice that can be raised is.
pub(crate) fn next_script(mut chosen: Vec<(usize, usize)>) -> Option<Vec<usize>> {
    while let Some((last, options)) = chosen.pop() {
        if last + 1 < options {
            return Some(chosen.into_iter().map(|(which, _)| which).chain([last + 1]).collect());
        }
    }
    None
}
