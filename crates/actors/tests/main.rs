//! The tests of this crate, as one program: what they share is built once, and linked once.

mod behaviour;
mod checking;
mod conformance;
mod daemons;
mod differences;
mod fuzz;
mod support;
mod timed;
mod timing_facts;
