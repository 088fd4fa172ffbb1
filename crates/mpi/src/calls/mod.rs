//! The procedures of MPI: each function here does the one that has its name. They look at the arguments, and leave the work to
//! the modules beside this folder. `build.rs` finds them by their names, and makes their entry points.

pub mod attributes;
pub mod collectives;
pub mod communicators;
pub mod datatypes;
pub mod environment;
pub mod errors;
pub mod files;
pub mod generalized;
pub mod groups;
pub mod handles;
pub mod infos;
pub mod neighbors;
pub mod nonblocking;
pub mod onesided;
pub mod operators;
pub mod p2p;
pub mod packing;
pub mod partitioned;
pub mod probe;
pub mod processes;
pub mod requests;
pub mod sessions;
pub mod status;
pub mod tools;
pub mod topologies;
pub mod windows;
