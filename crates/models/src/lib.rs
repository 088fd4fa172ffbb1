//! How activities share processors, networks and disks over time.
//!
//! In reading order:
//! - [`work`]: what can be asked: executions, transfers, disk accesses, parallel tasks;
//! - [`step`], [`time`](mod@time): what a step of the clock answers;
//! - [`models`]: every resource of one simulation, and the clock;
//! - [`maxmin`]: who gets how much of what;
//! - `network`, `cpu`, `disk`, `parallel`, `infiniband`: what each kind of work asks of the solver;
//! - `actions`, [`heap`], `virtual_time`, `alarms`, `ladder_queue`, `quad_heap`, `profiles`: work under way, dates to come, changes to come;
//! - `energy`, `explain`, [`seeing`]: joules, and why things lasted as long as they did;
//! - [`prefetch`]: asking for memory before it is needed;
//! - [`config`], [`factors`], [`error`]: which models, their numbers, and what can be wrong with them.
//!
//! The numbers agree with SimGrid's to the last digit that it prints, but for its plain errors.
//!
//! ```
//! use std::sync::Arc;
//! use simurgh_models::{Config, Models, Progress, Step, Transfer};
//! use simurgh_platform::{Platform, Routing};
//!
//! let mut builder = Platform::builder();
//! let world = builder.zone("world", Routing::Full);
//! let (a, b) = (builder.host(world, "a", 1e9).id(), builder.host(world, "b", 1e9).id());
//! let wire = builder.link(world, "wire", 125e6, 100e-6).id();
//! builder.route(world, a, b, [wire]);
//! let platform = Arc::new(builder.build().unwrap());
//!
//! let mut models = Models::new(platform, &Config::default()).unwrap();
//! models.transfer(Transfer::new(a, b, 125e6), 7).unwrap();
//! let mut step = Step::default();
//! while models.step(None, &mut step) != Progress::Idle {
//!     for ended in &step.ended {
//!         assert_eq!(ended.token, 7);
//!         assert_eq!(models.now().to_string(), "1.083775");
//!     }
//! }
//! ```
// One instruction, in `prefetch.rs`.
#![deny(unsafe_code)]

pub mod config;
pub mod error;
pub mod factors;
pub mod heap;
pub mod maxmin;
pub mod models;
pub mod prefetch;
mod route_cache;
pub mod seeing;
pub mod step;
pub mod time;
pub mod work;

mod actions;
mod alarms;
mod cpu;
mod disk;
mod energy;
mod explain;
mod infiniband;
mod ladder_queue;
mod network;
mod parallel;
mod profiles;
mod quad_heap;
mod virtual_time;

pub use config::{Config, HostModel, Infiniband, Known, NetworkKind, Solver};
pub use error::Error;
pub use factors::Factor;
pub use models::Models;
pub use seeing::{Explanation, FlowFacts, Limit, Segment, Usage, What};
pub use step::{Change, Ended, Outcome, Progress, Statistics, Step};
pub use time::SimTime;
pub use work::{
    ActionId, Direction, DiskAccess, Execution, ParallelTask, Refused, Resource, Token, Transfer,
};
