//! The tests of this crate, as one program: what they share is built once, and linked once.

mod calls;
mod errors;
mod explore;
mod installed;
mod mpi;
mod mpi_check;
mod mpi_findings;
mod mpi_fuzz;
mod mpi_programs;
mod mpi_reports;
mod mpi_run;
mod mpi_troubles;
mod properties;
mod replay;
mod searches;
mod summary;
mod support;
mod ways;
