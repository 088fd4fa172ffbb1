//! Compiled programs, from source, as processes: each test compiles a program and runs it.

mod harness;

mod basics;
mod crashes;
mod host;
mod languages;
mod libc;
mod refusals;
mod snapshots;
mod speed;
