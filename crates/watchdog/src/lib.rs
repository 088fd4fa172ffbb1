//! Code of a user that does not come back, panics or ends the process: who runs it, and since when.
//!
//! A search runs code that is not its own: actors, handlers, conditions, and the function that makes a program. A loop without end
//! in it cannot be stopped, but somebody beside it can tell whose it is. In reading order:
//!
//! - [`Watchdog`], [`Pulse`], [`Lookout`]: who runs such code notes what it is about to run; somebody else looks whether that moves.
//! - [`quietly`], [`handling`]: runs such code where panics are findings, and notes it on the pulse of the thread.
//! - [`treating`], [`guarding`]: the same for traits of a user's values, such as `Drop` and `Hash`.
//! - [`apart`]: runs a search on a thread of its own, which is left behind where it does not come back.
//! - [`ended_the_process`]: what is said where such code calls `std::process::exit`.
//! - [`untold`]: what destructors said that panicked.
//! - [`Place`]: a line of a program.
//!
//! ```
//! use std::time::Duration;
//! use simurgh_watchdog::{Asker, Code, apart, quietly};
//!
//! // Nobody asks it to stop, so that it goes on until its code has not come back for 0.1 s.
//! let search = |_: Asker<()>| quietly(Code::Condition(0), || loop { std::thread::sleep(Duration::from_secs(1)) });
//! let names = vec!["one leader".to_owned()];
//! let left = apart(Duration::from_millis(100), names, None, search).unwrap_err();
//! assert!(left.to_string().starts_with("the condition of \"one leader\" did not come back for 0."), "{left}");
//! ```
#![forbid(unsafe_code)]

mod apart;
mod exit;
mod place;
pub mod untold;
mod user_code;
mod value;
mod watchdog;

pub use apart::{Asker, LeftBehind, Stop, apart};
pub use exit::ended_the_process;
pub use place::Place;
pub use user_code::{Code, handling, quietly, treating};
pub use value::{Trait, ValuePanic, guarding};
pub use watchdog::{Call, EVERY, Lookout, PATIENCE, Pulse, Stuck, Watchdog, Whose, given};
