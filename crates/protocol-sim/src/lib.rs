//! The actors of `simurgh-protocol` on a simulated platform: the same handlers that a checker runs and that are deployed.
//!
//! - [`Simulation`]: which system, on which platform, with how many losses, and who crashes when.
//! - [`Running`]: a simulation that goes on as far as it is told to, so that a test can look and meddle on the way.
//! - [`Report`]: what came of it.
//! - [`Error`]: what can go wrong, each in one line.
//!
//! Each actor is on a host. A message has a size, and takes as long as the network of the platform needs for it beside all
//! others; a timer takes as long as its range says. What is left to chance (losses, timers, [`Out::choose`]) comes from a
//! seed: the same seed gives the same run. The properties of the system are looked at after every handler, all states
//! being those of one instant.
//!
//! This is a driver of its own beside that of the kernel: handlers need no mailboxes and no stacks, and a message sets out when it is
//! sent, whether or not its receiver is ready for it.
//!
//! ```
//! use simurgh_platform::Platform;
//! use simurgh_protocol::{Actor, ActorId, Out, System, local};
//! use simurgh_protocol_sim::Simulation;
//!
//! struct Player;
//!
//! impl Actor for Player {
//!     type Msg = u32;
//!     type State = u32;
//!     type Timer = ();
//!     fn on_start(&self, out: &mut Out<Self>) -> u32 {
//!         if out.me() == ActorId(0) {
//!             out.send(ActorId(1), 1);
//!         }
//!         0
//!     }
//!     fn on_msg(&self, seen: &mut u32, from: ActorId, ball: &u32, out: &mut Out<Self>) {
//!         *seen = *ball;
//!         if *ball < 10 {
//!             out.send(from, ball + 1);
//!         }
//!     }
//! }
//!
//! let system = System::new()
//!     .actors([Player, Player])
//!     .always("ten at most", local(|seen: &u32| *seen <= 10))
//!     .sometimes("ten", local(|seen: &u32| *seen == 10));
//! let report = Simulation::new(system, Platform::builtin()).size(|_| 1_000_000).run(None)?;
//! assert!(report.is_fine());
//! assert_eq!((report.counts.sent, report.counts.received), (10, 10));
//! assert!(report.properties[1].at.is_some_and(|at| at == report.clock && at > 0.01));
//! # Ok::<(), simurgh_protocol_sim::Error>(())
//! ```
//!
//! [`Out::choose`]: simurgh_protocol::Out::choose
#![forbid(unsafe_code)]

mod error;
mod report;
mod running;
mod simulation;

pub use error::Error;
pub use report::{Counts, End, Node, Property, Report};
pub use running::Running;
pub use simulation::{MESSAGE_BYTES, Simulation};
