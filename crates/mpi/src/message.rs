//! Messages: what a send puts together, and a receive takes apart.

use simurgh_kernel::simcall::Payload;
use smallvec::SmallVec;

use crate::datatype::Signature;
use crate::verify::VectorClock;

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
    /// What it was sent as, for those who check it.
    pub sent: Option<Box<Sent>>,
    /// The data, without gaps.
    pub data: Data,
}

/// The type of a message.
#[derive(Debug)]
pub struct Typed {
    /// The basic types.
    pub signature: Signature,
    /// The datatype, in words.
    pub datatype: String,
}

/// What a message was sent as.
#[derive(Debug, Default)]
pub struct Sent {
    /// What its sender knew to have happened.
    pub clock: VectorClock,
    /// Its type, if it is a message of the program.
    pub typed: Option<Typed>,
    /// Whether it is a ready send.
    pub is_ready: bool,
    /// Whether it is a synchronous send, which is over when it is received.
    pub is_synchronous: bool,
    /// Which of the synchronous sends of its sender it is.
    pub number: u32,
    /// Of a ready send: the synchronous sends to the same process that were over.
    pub over: Vec<u32>,
    /// Whether a request was made for it.
    pub is_immediate: bool,
    /// By which call.
    pub call: &'static str,
    /// Where the program goes on after it.
    pub at: usize,
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
