//! The kernel plays operating system for the actors of a distributed program.
//!
//! In reading order:
//! - [`ids`](mod@ids): identities.
//! - [`simcall`](mod@simcall): the kernel's door, what actors may ask and what they are answered.
//! - [`operation`]: what a simcall means to a search.
//! - [`context`]: how the code of an actor runs up to its next simcall.
//! - [`activity`], [`mailbox`]: what was started, and where sends and receives meet.
//! - [`kernel`]: the state machine that serves simcalls. It does not know who drives it.
//! - [`exposed`]: what actors show of their state, and what must be true of it.
//! - [`watchdog`]: code of a program that does not come back.
//! - [`event`]: what happened, told to whoever listens.
//! - [`simulation`]: the driver of simulated time.
//! - [`random`]: seeded randomness.
#![forbid(unsafe_code)]

pub mod activity;
pub mod context;
pub mod event;
pub mod exposed;
pub mod ids;
pub mod kernel;
pub mod mailbox;
pub mod operation;
mod platform_requests;
pub use simurgh_random as random;
pub mod simcall;
pub mod simulation;
pub use simurgh_watchdog as watchdog;
