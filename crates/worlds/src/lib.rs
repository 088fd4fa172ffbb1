//! One test suite for a protocol, in two worlds: on a simulated platform, and over real sockets on this machine.
//!
//! - [`World`]: what a test does in either of them.
//! - [`Cast`]: who takes part; it makes a [`Simulated`] world or a [`Real`] one, or runs a test in both.
//!
//! ```
//! use std::time::Duration;
//! use serde::{Deserialize, Serialize};
//! use simurgh_protocol::{Actor, ActorId, Out};
//! use simurgh_worlds::Cast;
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
//! enum Msg { Say(String), Said(String) }
//!
//! struct Parrot;
//!
//! impl Actor for Parrot {
//!     type Msg = Msg;
//!     type State = Vec<String>;
//!     type Timer = ();
//!     fn on_start(&self, _: &mut Out<Self>) -> Vec<String> { Vec::new() }
//!     fn on_msg(&self, heard: &mut Vec<String>, _: ActorId, msg: &Msg, out: &mut Out<Self>) {
//!         match msg {
//!             Msg::Say(what) => out.send(ActorId(1 - out.me().0), Msg::Said(what.clone())),
//!             Msg::Said(what) => heard.push(what.clone()),
//!         }
//!     }
//! }
//!
//! Cast::new().actors(2, |_| Parrot).in_both_worlds(|world| {
//!     world.input(ActorId(0), Msg::Say("hello".into()));
//!     let heard = world.wait(Duration::from_secs(10), &mut |states| {
//!         states.get::<Vec<String>>(ActorId(1)).is_some_and(|heard| heard == &["hello"])
//!     });
//!     assert!(heard, "nothing is heard in the {} world", world.name());
//! });
//! ```
#![forbid(unsafe_code)]

mod cast;
mod real;
mod simulated;

use std::time::Duration;

use simurgh_protocol::{ActorId, States};

pub use cast::Cast;
pub use real::Real;
pub use simulated::Simulated;

/// What a test does in a world: it talks to nodes, kills them and starts them again, and waits for what comes of it.
///
/// Where something cannot be done that a test may expect to work (a socket is refused, a node ends by itself, a property is
/// violated), the test fails by a panic that says so.
pub trait World<M> {
    /// Which world it is: `simulated` or `real`.
    fn name(&self) -> &'static str;

    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// Gives a node a message from outside, as if it had sent it to itself; one that is down does not get it.
    fn input(&mut self, node: ActorId, msg: M);

    /// Kills a node: it ends at once, and what it had in its queues is gone. Nothing happens if it is down.
    fn kill(&mut self, node: ActorId);

    /// Starts a node that was killed: from its disk if it has one, anew otherwise. Nothing happens if it is up.
    fn restart(&mut self, node: ActorId);

    /// Lets time go by until something is true of the nodes, and says whether it came true in that time. In the real world
    /// the states of two nodes are not those of one instant.
    fn wait(&mut self, time_max: Duration, until: &mut dyn FnMut(&States<'_>) -> bool) -> bool;

    /// How many messages were lost on purpose so far, by nodes that are not up any more in the real world.
    fn lost(&self) -> u64;
}
