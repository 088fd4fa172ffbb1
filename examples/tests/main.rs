//! The tests of this crate, as one program: what they share is built once, and linked once.

mod checks;
mod engines;
mod in_cargo_test;
mod pages;
mod protocols;
mod replay;
mod worlds;
