//! The tests of this crate, as one program: what they share is built once, and linked once.

mod hosts;
mod network;
mod oracles;
mod parallel;
mod solvers;
mod support;
