//! What a search is: a system whose steps are chosen, engines that choose them, and what they found.
//!
//! - [`system`]: what can be searched. Nothing here knows actors, messages or handlers.
//! - [`verdict`](mod@verdict): what a search found.
//! - [`session`], [`replay`]: bounds, progress, and what all engines share; following a schedule.
//! - [`dfs`]: plain search, the exhaustive reference engine.
//! - [`fingerprint`](mod@fingerprint): what a state is known by.
//! - [`space`]: states as values, and `stepped`, any system as such a space; [`visited`]: which of them were seen.
//! - [`states`], [`bfs`]: every state once, in depth or the nearest first, where states can be told apart.
//! - [`liveness`]: whether something becomes true, whatever happens.
//! - [`causality`], `wakeup`, `reduction`: happens-before, wakeup trees, and the loop that the next three share.
//! - [`dpor`], [`source`], [`optimal`]: partial order reductions, each better than the one before.
//! - [`random`], [`pct`]: walks, for what is too big to exhaust.
//! - [`engine`]: which engine needs what of a system.
//!
//! Two processes count a number up, one by one and by two; nobody minds the order:
//!
//! ```
//! use simurgh_search::{Finding, Options, System, Verdict, dfs, optimal, states};
//!
//! #[derive(Default)]
//! struct Counter { done: [u32; 2] }
//!
//! #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
//! struct Wrong;
//!
//! impl Finding for Wrong {
//!     fn verdict(&self) -> Verdict { Verdict::Violated }
//! }
//!
//! impl System for Counter {
//!     type Transition = u8;
//!     type Step = u8;
//!     type Violation = Wrong;
//!     type Snapshot = ();
//!     fn reset(&mut self) { self.done = [0, 0]; }
//!     fn enabled(&mut self, into: &mut Vec<u8>) {
//!         into.extend((0..2).filter(|&process| self.done[process as usize] < 3));
//!     }
//!     fn execute(&mut self, process: u8) -> u8 { self.done[process as usize] += 1; process }
//!     fn step(process: &u8) -> u8 { *process }
//!     fn process(process: &u8) -> u64 { u64::from(*process) }
//!     fn dependent(a: &u8, b: &u8) -> bool { a == b }
//!     fn violation_count(&self) -> usize { 0 }
//!     fn violation(&self, _: usize) -> Wrong { Wrong }
//!     fn at_end(&mut self, _: &mut dyn Iterator<Item = u8>) -> Vec<Wrong> { Vec::new() }
//!     fn state_key(&mut self) -> Option<u128> { Some(u128::from(self.done[0] * 4 + self.done[1])) }
//! }
//!
//! // Twenty interleavings of three steps and three; one state at the end; one order that matters.
//! assert_eq!(dfs::explore(&mut Counter::default(), Options::default()).executions, 20);
//! assert_eq!(states::explore(&mut Counter::default(), Options::default()).executions, 1);
//! assert_eq!(optimal::explore(&mut Counter::default(), Options::default()).executions, 1);
//! ```
#![forbid(unsafe_code)]

pub mod bfs;
pub mod causality;
pub mod dfs;
pub mod dpor;
pub mod engine;
pub mod fingerprint;
pub mod liveness;
pub mod optimal;
pub mod pct;
pub mod random;
mod reduction;
pub mod replay;
pub mod session;
pub mod source;
pub mod space;
pub mod states;
mod stepped;
pub mod system;
pub mod verdict;
pub mod visited;
mod wakeup;

pub use engine::{Engine, Offer};
pub use session::{Options, Progress};
pub use space::StateSpace;
pub use system::{Headway, Reversal, System};
pub use verdict::{Divergence, Exploration, Finding, Found, STEADY, Verdict};
