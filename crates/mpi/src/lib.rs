//! MPI 5.0 on the primitives of the kernel: what C, C++ and Fortran programs call, and what becomes of it.

pub mod abi;
pub mod arguments;
pub mod attributes;
pub mod buffered;
pub mod calibration;
// Programs call these by way of `entry`, and vouch for their pointers.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::not_unsafe_ptr_arg_deref,
    clippy::too_many_arguments
)]
pub mod calls;
pub mod codes;
pub mod collectives;
pub mod communicator;
pub mod compute;
pub mod costs;
pub mod coverage;
pub mod datatype;
pub mod doing;
// Most of it is made from a table, and not for people to read.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod entry;
pub mod errhandler;
pub mod error;
pub mod even;
pub mod explored;
pub mod extras;
pub mod file;
#[allow(clippy::too_many_arguments)]
pub mod fortran;
pub mod group;
pub mod handle;
pub mod hostfile;
pub mod info;
pub mod label;
pub mod launch;
pub mod leftovers;
pub mod logical;
pub mod meeting;
pub mod message;
pub mod operator;
pub mod os;
pub mod p2p;
pub mod partitioned;
pub mod posting;
pub mod progress;
pub mod rank;
pub mod report;
pub mod request;
pub mod sampling;
pub mod session;
pub mod shared_memory;
pub mod spare;
pub mod spawning;
pub mod started;
#[cfg(test)]
mod testing;
pub mod toolchain;
pub mod tools;
pub mod topology;
pub mod traces;
pub mod tracks;
pub mod traffic;
pub mod verify;
pub mod waiting;
pub mod window;
pub mod world;
