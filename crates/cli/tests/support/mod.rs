//! What several tests need.
#![allow(dead_code, missing_docs)]

pub mod command;
pub mod mpi_fuzz;
