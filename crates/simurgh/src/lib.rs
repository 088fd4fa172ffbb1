//! Simurgh: write a distributed program once; simulate it, verify it, run it for real.
//!
//! A program is a set of actors, `async` functions that send and receive messages, compute, sleep, read and write. A
//! platform says which hosts, links and disks there are. Simulated, the program runs in virtual time, and every
//! operation takes as long as it would on that platform.
//!
//! This crate has no code of its own: it is where everything that programs use has one name. In reading order:
//! - [`api`]: what an actor's code is written with: [`Ctx`], [`Mailbox`], [`Activity`], [`Host`], [`Mutex`]...
//! - [`program`], [`Settings`], [`simulation`]: the actors of a program, how it is simulated, halted and looked at.
//! - [`scenario`]: programs written as data, in TOML.
//! - [`replay`]: time-independent traces.
//! - [`checking`]: every order of a program, in a test or as a command: [`check`](fn@check).
//! - [`timed`]: the best and the worst that a program can come to on a platform: [`explore`](fn@explore).
//! - With the feature `cli`, `app`: a program as a command, `fn main() -> ExitCode { simurgh::main(app) }`; and `command`, what
//!   the `simurgh` command does.
//!
//! ```
//! use simurgh::prelude::*;
//!
//! async fn master(ctx: Ctx) -> simurgh::Result {
//!     let jobs = ctx.mailbox("jobs");
//!     for size in [1e9, 2e9, 3e9] {
//!         Task::new("job", size, 1e6).send_to(&jobs).await?;
//!     }
//!     Ok(())
//! }
//!
//! async fn worker(ctx: Ctx) -> simurgh::Result {
//!     let jobs = ctx.mailbox::<Task>("jobs");
//!     for _ in 0..3 {
//!         jobs.recv().await?.execute(&ctx).await?;
//!     }
//!     Ok(())
//! }
//!
//! let mut program = Program::new(Platform::builtin());
//! program.spawn("master", "node-0", master)?;
//! program.spawn("worker", "node-1", worker)?;
//! let outcome = program.simulate(Settings::default())?;
//! assert!(outcome.is_fine());
//! assert!(outcome.clock() > 6.0);
//! # Ok::<(), simurgh::Error>(())
//! ```
//!
//! That is one order of its messages. A test tries all of them, and fails with the steps that lead to what is wrong:
//!
//! ```
//! use simurgh::Network;
//! use simurgh::prelude::*;
//!
//! fn app(program: &mut Program) -> simurgh::Result {
//!     program.spawn("author", "node-0", |ctx: Ctx| async move {
//!         ctx.mailbox("printer").send(1, 1e6).detach().await;
//!         ctx.mailbox("printer").send(2, 1e6).await
//!     })?;
//!     program.spawn("printer", "node-1", |ctx: Ctx| async move {
//!         for expected in 1..=2 {
//!             let page: i32 = ctx.mailbox("printer").recv().await?;
//!             simurgh::check!(page == expected, "page {page} came in place of page {expected}");
//!         }
//!         Ok(())
//!     })?;
//!     Ok(())
//! }
//!
//! // TCP keeps the order of the pages; datagrams do not.
//! simurgh::check(app).network(Network::Pairwise).assert_holds();
//! let found = simurgh::check(app).network(Network::Unordered).assert_violated();
//! assert!(found.what.ends_with("page 2 came in place of page 1"), "{found}");
//! ```
#![forbid(unsafe_code)]

pub use simurgh_actors::{
    Activity, ActivitySet, ActivityState, ActorHandle, Ask, Barrier, Check, CheckReport, Compared, Condvar,
    Counterexample, Ctx, Disk, Engine, Error, Exit, Explore, ExploreReport, Exposed, Host, Link, LivingActor,
    Mailbox, Mailboxes, Mutex, MutexGuard, Network, Objective, Outcome, Program, Result, Scenario, Seconds,
    Semaphore, Settings, SimTime, Simulation, Task, Verdict, check, explore,
};
pub use simurgh_actors::{api, checking, program, scenario, simulation, timed};
#[cfg(feature = "cli")]
pub use simurgh_cli::{App, NoOptions, app, clap, command, main, main_with};
pub use simurgh_kernel::event::{Event, Observer, Reason};
pub use simurgh_kernel::ids::ActorId;
pub use simurgh_kernel::random::Random;
pub use simurgh_kernel::simcall::Failure;
pub use simurgh_kernel::simulation::{End, Listener, Pacing, Report, Said, Status, Watcher};
pub use simurgh_platform::Platform;
pub use simurgh_trace_replay as replay;

/// What platforms are built of, for [`Platform::builder`].
pub mod platform {
    pub use simurgh_platform::{
        BackboneSpec, ClusterSpec, DiskId, Error, HostId, LinkId, LoopbackSpec, Platform, PlatformBuilder,
        PrivateLinks, Profile, ProfilePoint, ProfileTarget, Repeat, Routing, Sharing, Topology, ZoneId,
    };
}

/// What most programs need: `use simurgh::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Activity, ActivitySet, ActorHandle, Barrier, Condvar, Ctx, Exposed, Failure, Host, Mailbox,
        Mailboxes, Mutex, MutexGuard, Outcome, Platform, Program, Random, Semaphore, Settings, Task,
    };
}
