//! What was recorded of a run, for people to look at: a timeline for Perfetto, a Paje trace, a Gantt chart in SVG; and
//! counterexamples as columns of text.
//!
//! In reading order:
//! - [`timeline`]: the run as plain data.
//! - [`recorder`]: listening to a simulation; `finish` turns what was heard into a [`Timeline`].
//! - `perfetto`, `paje`, `svg`: a writer for each format, as methods of [`Timeline`].
//! - `rows`, `words`, `palette`: what the writers share about the run: who is where, what it is called, its colour.
//! - [`counterexample`]: what an exploration found, step by step.
//! - `chronicle`, `text`: what they share about files: lines in the order of time, names and numbers as each format wants.
//!
//! The same events give the same bytes.
//!
//! ```
//! use simurgh_kernel::event::{Event, Observer, Reason};
//! use simurgh_kernel::ids::{ActivityId, ActorId};
//! use simurgh_models::SimTime;
//! use simurgh_platform::{HostId, Platform};
//! use simurgh_trace::Recorder;
//!
//! // A simulation calls the recorder by itself, once it was told to: `simulation.observe(Box::new(recorder))`.
//! let (mut recorder, recording) = Recorder::new(Platform::builtin().into());
//! let (actor, activity) = (ActorId(0), ActivityId::from_bits(0));
//! let (start, end) = (SimTime::ZERO, SimTime::new(2.0));
//! recorder.event(start, &Event::ActorStarted { actor, name: "alice".into(), host: HostId(0) });
//! recorder.event(start, &Event::ExecutionStarted { activity, actor, host: HostId(0), flops: 2e9 });
//! recorder.event(start, &Event::Blocked { actor, reason: Reason::Executing });
//! recorder.event(end, &Event::ActivityEnded { activity, result: Ok(()) });
//! recorder.event(end, &Event::Unblocked { actor });
//!
//! let timeline = recording.finish(end, &|mailbox| format!("mailbox {mailbox}"));
//! assert_eq!(timeline.executions[0].flops, 2e9);
//! let mut json = Vec::new();
//! timeline.write_perfetto(&mut json).unwrap();
//! assert!(String::from_utf8(json).unwrap().contains(r#""name":"executing","args":{"flops":2000000000}"#));
//! ```
#![forbid(unsafe_code)]

mod chronicle;
pub mod counterexample;
mod finish;
mod paje;
mod palette;
mod perfetto;
pub mod recorder;
mod rows;
mod svg;
mod text;
pub mod timeline;
mod words;

pub use recorder::{Recorder, Recording};
pub use timeline::Timeline;
