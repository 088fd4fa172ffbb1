//! Messages: what a send puts together, and a receive takes apart.

use simurgh_kernel::simcall::Payload;
use smallvec::SmallVec;

/// What is in a message.
#[derive(Debug)]
pub struct Content {
    /// The process that sent it.
    pub process: u32,
    /// The rank of the sender in the communicator.
    pub source: i32,
    /// Its tag.
    pub tag: i32,
    /// Whether its send waited for the receive to be there.
    pub waited: bool,
    /// The data, without gaps.
    pub data: Data,
}

/// Data without gaps; a few bytes need no memory of their own.
pub type Data = SmallVec<[u8; 32]>;

impl Content {
    /// What the kernel brings.
    ///
    /// # Panics
    /// If it is no message of MPI.
    pub fn of(payload: Payload) -> Box<Content> {
        payload.downcast().expect("processes of MPI send messages of MPI alone")
    }
}
