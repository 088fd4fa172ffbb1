//! What a simulation tells: how it ended, how it goes, and what its actors say.

use std::ops::ControlFlow;

use simurgh_models::SimTime;
use simurgh_platform::{HostId, RouteError};

use crate::exposed::Broken;
use crate::ids::ActorId;
use crate::kernel::Blocked;

/// What ends a simulation before its time.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A message has no way to go.
    #[error("{sender} sends to {receiver}: {source}")]
    NoRoute {
        /// Who sends.
        sender: String,
        /// Who would receive.
        receiver: String,
        /// Why there is no way.
        source: Box<RouteError>,
    },
    /// The models do not take a request.
    #[error("{actor}: {reason}")]
    Refused {
        /// Who asked.
        actor: String,
        /// Why not.
        reason: String,
    },
    /// Very much happens, and no time passes.
    #[error(
        "time stands still at {at} s: {turns} rounds since it passed, the last one of {actor}; let it sleep, or wait for something"
    )]
    Stalled {
        /// When.
        at: f64,
        /// One of those who go on.
        actor: String,
        /// How often, all in all.
        turns: u64,
    },
}

/// An actor that did not come to a good end.
#[derive(Clone, PartialEq, Debug)]
pub struct ActorFailure {
    /// Who.
    pub actor: ActorId,
    /// Its name.
    pub name: String,
    /// Where.
    pub host: HostId,
    /// When.
    pub at: SimTime,
    /// What it said.
    pub message: String,
}

/// An invariant that did not hold.
#[derive(Clone, PartialEq, Debug)]
pub struct InvariantFailure {
    /// When it was seen first.
    pub at: SimTime,
    /// The name of the actor that showed a value then; nobody at the start.
    pub by: Option<String>,
    /// What was wrong.
    pub what: Broken,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The date of the end.
    pub clock: SimTime,
    /// Why it ended.
    pub end: End,
    /// Actors that failed on the way.
    pub failures: Vec<ActorFailure>,
    /// Invariants that did not hold on the way, each once.
    pub broken: Vec<InvariantFailure>,
    /// How many actors there were.
    pub actors: usize,
    /// How many messages were delivered.
    pub messages: u64,
    /// How many bytes were in them.
    pub bytes: f64,
    /// How often a set of actors ran.
    pub rounds: u64,
    /// How many times an actor ran.
    pub turns: u64,
    /// How often the clock was moved.
    pub steps: u64,
}

/// What several threads did, which may differ from run to run as nothing else does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// How many threads ran the code of actors.
    pub workers: usize,
    /// How many rounds they shared.
    pub rounds: u64,
    /// The least number of actors, to a power of two, for which they were faster.
    pub from: Option<usize>,
}

/// Why a run ended.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// All actors came to their end.
    Finished,
    /// Nothing can happen any more, and these still wait.
    Deadlock(Vec<Blocked>),
    /// The date up to which it was to run was reached.
    Reached,
    /// The watcher stopped it.
    Interrupted,
}

/// How many turns an operation takes within an instant.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Pacing {
    /// One: the fastest.
    #[default]
    Single,
    /// As many as the reference simulator's programs take, for the same order of events within an instant.
    Reference,
}

/// What a watcher is told now and then.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Status {
    /// The present date.
    pub clock: SimTime,
    /// How often an actor has run.
    pub turns: u64,
    /// How often the clock was moved.
    pub steps: u64,
    /// How many actors are living.
    pub living: usize,
}

/// Someone who looks at a long run now and then, and may stop it.
pub type Watcher = Box<dyn FnMut(&Status) -> ControlFlow<()>>;

/// Someone who hears what the actors say.
pub type Listener = Box<dyn FnMut(&Said<'_>)>;

/// A line that an actor says.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Said<'a> {
    /// When.
    pub at: SimTime,
    /// Who.
    pub actor: &'a str,
    /// On which host.
    pub host: &'a str,
    /// What.
    pub text: &'a str,
}
