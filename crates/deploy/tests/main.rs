//! The tests of this crate, as one program: what they share is built once, and linked once.

mod attacks;
mod files;
mod hostile;
mod log;
mod snapshot;
mod support;
