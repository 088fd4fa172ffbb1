//! Protocols as handlers of messages and timeouts, and every way in which they can go.
//!
//! - [`Actor`], [`Durable`], [`Out`]: what a protocol is made of.
//! - [`ActorId`], [`IdSet`], [`IdMap`]: who is who.
//! - [`System`]: actors of several kinds, a [`Network`], and what is to be true of them.
//! - [`local()`], [`pairwise`], [`agree`], [`projected`], [`global`], [`history()`], [`world`]: conditions, which become
//!   properties by [`System::always`], [`System::sometimes`] and [`System::eventually`].
//! - [`Checker`]: which search, within which bounds; [`Report`]: what it found.
//! - [`Snapshot`]: where a running system was found, to go on from there.
//! - [`linearizability`]: whether what clients were answered can be explained.
//! - [`runtime`]: one execution of a system, for whoever has a network and a clock, such as a simulation; and of one node.
//! - [`Schedule`], [`Step`]: what happened, as data that prints, parses and is followed again by [`System::replay`].
//!
//! Inside, in reading order: `runtime::node` runs handlers; `message` and `model` are what is left without types; `node` knows local states
//! by numbers; `space` remembers what came of them;
//! `successors` says what can happen next; `evaluate` asks the conditions; `session` is what searches share, and the space
//! of states that the engines of `simurgh_search` go through; `symmetry` looks whether actors are alike; `stepping` is a protocol
//! as a system of steps, for partial order reductions and walks; [`mod@local`] searches local states.
//!
//! Two nodes ask each other for a lock, and enter when they are answered, though they want it themselves:
//!
//! ```
//! use simurgh_protocol::{Actor, ActorId, Out, System, pairwise};
//!
//! struct Node;
//!
//! impl Actor for Node {
//!     type Msg = &'static str;
//!     type State = bool;
//!     type Timer = ();
//!     fn on_start(&self, out: &mut Out<Self>) -> bool {
//!         out.send(ActorId(1 - out.me().0), "ask");
//!         false
//!     }
//!     fn on_msg(&self, inside: &mut bool, from: ActorId, msg: &&'static str, out: &mut Out<Self>) {
//!         match *msg {
//!             "ask" => out.send(from, "enter"),
//!             _ => *inside = true,
//!         }
//!     }
//! }
//!
//! let system = System::new()
//!     .actors([Node, Node])
//!     .always("one at a time", pairwise(|one: &bool, other: &bool| !(*one && *other)));
//! let found = system.checker().bfs();
//! assert_eq!(found.assert_violated("one at a time").steps.len(), 4);
//! ```
#![forbid(unsafe_code)]

mod actor;
mod checker;
mod evaluate;
mod hash;
mod history;
mod ids;
mod inert;
mod intern;
pub mod linearizability;
pub mod local;
mod message;
mod model;
mod network;
mod node;
mod property;
mod replay;
mod report;
pub mod runtime;
mod schedule;
mod session;
mod snapshot;
mod space;
mod stepping;
mod successors;
mod symmetry;
mod system;

pub use actor::{Actor, After, Data, Durable, Out};
pub use checker::Checker;
pub use history::Happened;
pub use ids::{ActorId, IdMap, IdSet};
pub use network::Network;
pub use property::{
    Condition, LocalStates, Mode, States, World, agree, global, history, local, pairwise, projected, world,
};
pub use replay::{ReplayError, Replayed};
pub use report::{Finding, Outcome, Report, Verdict};
pub use schedule::{Schedule, Step};
pub use simurgh_search::liveness::Fairness;
pub use simurgh_search::space::Seen as Progress;
pub use simurgh_watchdog::{Stuck, Trait, Whose};
pub use snapshot::{NodeSnapshot, Snapshot};
pub use system::System;

/// What a protocol offers to the engines of a search.
pub const OFFERS: &[simurgh_search::Offer] = {
    use simurgh_search::Offer::*;
    &[Steps, Independence, StateKeys, Cycles, LocalStates]
};

/// The guide: what it shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/protocols.md")]
struct Guide;
