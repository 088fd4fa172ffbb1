//! The tests of this crate, as one program: what they share is built once, and linked once.

mod agreement;
mod common;
mod counts;
mod determinism;
mod faults;
mod features;
mod invariants;
mod receives;
mod rust_actors;
mod seen_ways;
mod shortening;
mod spec;
mod trust;
mod ways;
mod work;
