//! The actors of `simurgh-protocol` over real sockets: one process a node, the same handlers that a checker runs.
//!
//! - [`Deployment`]: who takes part, at which addresses, over UDP or TCP, with which key; read from a TOML file.
//! - [`Node`]: an actor at its place in a deployment; [`run`] and [`run_durable`] for those who need nothing more.
//! - [`Counters`], [`Count`]: what came and went, and what was dropped for which reason.
//! - [`wire_bytes`]: how long a message is on its way, for simulations.
//! - [`Arguments`], [`main`]: the command line `NAME deploy FILE --node N`.
//! - [`Observer`]: consistent snapshots of a running deployment; [`WatchArguments`]: the command line `NAME watch FILE`,
//!   which goes on from such a snapshot by local search, again and again.
//! - [`Error`]: what can go wrong, each in one line.
//!
//! Inside, in reading order: `private` is about files that nobody else may read, `keys` about those of single nodes; `frame` is what goes
//! over the wire; `noise` makes two nodes sure of each other, `session` is what they say then, `sessions` all of them over datagrams;
//! `queue` holds what waits to be sent; `stream`, `tcp` and `udp` carry frames; `storage` keeps what survives a crash, as the changes that
//! `change` finds; `node` runs the handlers; `cut` is what a node does for a snapshot, `observer` takes it.
//!
//! What the network may do to messages: lose them, over TCP only where a connection breaks or a queue is full;
//! exchange their order, over UDP. None is delivered twice. So a protocol that a checker found right on
//! `Network::Unordered` with loss (`System::lossy`) is right here.
//!
//! ```no_run
//! use serde::{Deserialize, Serialize};
//! use simurgh_deploy::Deployment;
//! use simurgh_protocol::{Actor, ActorId, Out};
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
//! struct Ping(u32);
//!
//! struct Player;
//!
//! impl Actor for Player {
//!     type Msg = Ping;
//!     type State = u32;
//!     type Timer = ();
//!     fn on_start(&self, out: &mut Out<Self>) -> u32 {
//!         out.send(ActorId(1 - out.me().0), Ping(1));
//!         0
//!     }
//!     fn on_msg(&self, seen: &mut u32, from: ActorId, ping: &Ping, out: &mut Out<Self>) {
//!         *seen = ping.0;
//!         out.send(from, Ping(ping.0 + 1));
//!     }
//! }
//!
//! let deployment = Deployment::read("players.toml")?;
//! let counters = simurgh_deploy::run(Player, "left", &deployment)?;
//! println!("{counters}");
//! # Ok::<(), simurgh_deploy::Error>(())
//! ```
#![forbid(unsafe_code)]

mod change;
mod command;
mod counters;
mod cut;
mod deployment;
mod error;
mod frame;
mod keys;
mod node;
mod noise;
mod observer;
mod private;
mod queue;
mod run;
mod session;
mod sessions;
mod storage;
mod stream;
mod tcp;
mod udp;
mod watch;

pub use command::{Arguments, main};
pub use counters::{Count, Counters};
pub use deployment::{Deployment, Peer, Transport};
pub use error::Error;
pub use node::{Node, run, run_durable, wire_bytes};
pub use observer::{Observable, Observer};
pub use run::Run;
pub use watch::{Stage, WatchArguments};
