//! The tests of this crate, as one program: what they share is built once, and linked once.

mod errors;
mod fuzz;
mod graphs;
mod routes;
mod shapes;
mod shared;
