//! The tests of this crate, as one program: what they share is built once, and linked once.

mod exact;
mod random;
mod support;
