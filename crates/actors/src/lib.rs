//! Actors: what their code is written with, and how programs of them are simulated, checked and explored.
//!
//! Programs use all of this as `simurgh`, which offers it under the same names; so do the examples here.
//!
//! In reading order:
//! - [`api`]: what an actor's code is written with: [`Ctx`], [`Mailbox`], [`Activity`], [`Host`], [`Mutex`]...
//! - [`program`], `settings`, [`simulation`]: the actors of a program, how it is simulated, halted and looked at.
//! - [`scenario`]: programs written as data, in TOML.
//! - [`checking`]: every order of a program: [`check`](fn@check).
//! - [`timed`]: the best and the worst that a program can come to on a platform: [`explore`](fn@explore).
//! - [`command_line`]: what a command needs beside that, and programs do not.
//!
//! ```
//! use simurgh::prelude::*;
//!
//! let mut program = Program::new(Platform::builtin());
//! program.spawn("idler", "node-0", |ctx: Ctx| async move { ctx.sleep(2.0).await })?;
//! assert_eq!(program.simulate(Settings::default())?.clock(), 2.0);
//! # Ok::<(), simurgh::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod api;
pub mod checking;
pub mod command_line;
mod error;
pub mod program;
pub mod scenario;
mod settings;
pub mod simulation;
mod text;
pub mod timed;

pub use api::{
    Activity, ActivitySet, ActivityState, ActorHandle, Ask, Barrier, Condvar, Ctx, Disk, Exposed, Host, Link,
    Mailbox, Mailboxes, Mutex, MutexGuard, Seconds, Semaphore, Task,
};
pub use checking::{Check, CheckReport, Compared, Counterexample, Engine, Network, Verdict, check};
pub use error::{Error, Exit, Result};
pub use program::{Outcome, Program};
pub use scenario::Scenario;
pub use settings::Settings;
pub use simulation::{LivingActor, Simulation};
pub use simurgh_models::SimTime;
pub use timed::{Explore, ExploreReport, Objective, explore};
