//! Explores every order of a distributed program that makes a difference.
//!
//! Engines over any system are those of [`simurgh_search`]: [`dfs`], [`states`], [`bfs`], [`dpor`], [`source`], [`optimal`],
//! [`random`], [`pct`]. Here is what is to be known of actors:
//!
//! - [`verdict`](mod@verdict): what may be wrong with an execution, and how its steps are written.
//! - [`receives`](mod@receives): one execution for each reads-from equivalence class, which needs more than a system.
//! - `endless`: code of the program that runs in circles.
//! - [`determinism`]: whether all executions communicate alike.
//! - [`transition`], `dependence`, `words`: the steps of actors, when their order matters, and how they are told.
//! - [`actors`]: a program of actors as a system.
//! - [`shorten`](mod@shorten): making a schedule shorter.
//!
//! Two actors send to a third, which expects the first of them to be first:
//!
//! ```
//! use simurgh_explore::{Actors, Network, Options, Verdict, optimal};
//! use simurgh_kernel::context::{Body, call};
//! use simurgh_kernel::simcall::*;
//! use simurgh_kernel::{ids::MailboxId, kernel::Kernel};
//! use simurgh_platform::HostId;
//!
//! async fn receive() -> Result<(), String> {
//!     let request = RecvRequest { mailbox: MailboxId(0), rate: None, criteria: Criteria::default() };
//!     match call(Simcall::Recv(request, Follow::Wait(None))).await {
//!         Answer::Completed { message: Some(payload), .. } if payload.is::<&str>() => Ok(()),
//!         other => Err(format!("the number came first: {other:?}")),
//!     }
//! }
//!
//! async fn send(payload: Box<dyn std::any::Any + Send>) -> Result<(), String> {
//!     let (mailbox, envelope) = (MailboxId(0), Envelope::default());
//!     let request = SendRequest { mailbox, bytes: 8.0, rate: None, envelope, payload: Some(payload) };
//!     call(Simcall::Send(request, Follow::Detach)).await;
//!     Ok(())
//! }
//!
//! let mut system = Actors::new(Network::Mailbox, |kernel: &mut Kernel| {
//!     let mut spawn = |body| kernel.spawn(SpawnRequest::new("actor".into(), HostId::from_index(0), Body::Future(body)));
//!     spawn(Box::pin(receive()));
//!     spawn(Box::pin(send(Box::new("text"))));
//!     spawn(Box::pin(send(Box::new(42))));
//! });
//! let found = optimal::explore(&mut system, Options::default());
//! assert_eq!((found.verdict, found.executions), (Verdict::Violated, 1));
//! // The receive is posted, the third sends, and the receiver has its message.
//! assert_eq!(found.found[0].1.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0", "2", "0"]);
//! ```
#![forbid(unsafe_code)]

pub mod actors;
mod dependence;
pub mod determinism;
mod endless;
pub mod receives;
pub mod shorten;
pub mod transition;
pub mod verdict;
mod words;

pub use actors::{Actors, Faults, Network};
pub use simurgh_search::{
    Engine, Finding, Offer, Options, Progress, Reversal, STEADY, System, bfs, dfs, dpor, fingerprint,
    optimal, pct, random, replay, session, source, states,
};
pub use verdict::{Divergence, Exploration, Step, Verdict, Violation};

/// What actors under the kernel offer to the engines of a search. What each was told only grows, so that no state comes again.
pub const OFFERS: &[Offer] = &[Offer::Steps, Offer::Independence, Offer::StateKeys, Offer::ReadsFrom];
