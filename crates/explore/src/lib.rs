//! Explores every order that matters of a distributed program.
//!
//! - [`verdict`](mod@verdict): what an exploration found.
//! - [`system`]: what can be explored.
//! - [`session`]: bounds, progress, and what all engines share.
//! - [`dfs`]: plain search, the oracle of all others.
//! - `causality`, `wakeup`, `reduction`: what happened before what, and the loop that the next three share.
//! - [`dpor`], [`source`], [`optimal`]: partial order reductions, each better than the one before.
//! - [`receives`](mod@receives): one execution for each way to receive.
//! - [`random`], [`pct`]: walks, for what is too big to exhaust.
//! - [`transition`], [`dependence`]: the steps of actors, and when their order matters.
//! - [`actors`]: a program of actors as a system.
#![forbid(unsafe_code)]

pub mod actors;
mod causality;
pub mod dependence;
pub mod dfs;
pub mod dpor;
pub mod optimal;
pub mod pct;
pub mod random;
pub mod receives;
mod reduction;
pub mod session;
pub mod source;
pub mod system;
pub mod transition;
pub mod verdict;
mod wakeup;

pub use actors::{Actors, Network};
pub use session::{Options, Progress};
pub use system::{Reversal, System};
pub use verdict::{Exploration, Step, Verdict, Violation};
