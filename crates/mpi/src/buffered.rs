//! The buffer of buffered sends: how much of it is in use (MPI 5.0, 3.6).
//!
//! Nothing is stored in it: a message carries its own data. What is kept is which messages have not arrived, and so how much
//! room there would be.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, OnTimeout, Simcall};

use crate::abi;
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::rank::Rank;

/// The buffer that a program attached, if any, and the messages that are in it.
#[derive(Debug, Default)]
pub struct Buffered {
    attached: Cell<Option<(*mut c_void, i64)>>,
    messages: RefCell<Vec<(ActivityId, i64)>>,
    /// The number of what its messages own, if any.
    owns: Cell<u64>,
}

impl Buffered {
    /// Whether there is a buffer.
    pub fn is_attached(&self) -> bool {
        self.attached.get().is_some()
    }

    /// A program attaches a buffer.
    ///
    /// # Errors
    /// If there is one.
    pub fn attach(&self, buffer: *mut c_void, size: i64) -> Result {
        if self.attached.get().is_some() {
            return fail(abi::ERR_BUFFER, "a buffer is attached already: MPI_Buffer_detach comes first");
        }
        if size < 0 {
            return fail(abi::ERR_ARG, format!("the size of the buffer is {size}"));
        }
        self.attached.set(Some((buffer, size)));
        Ok(())
    }
}

impl Rank {
    /// The messages that are in a buffer; they are somebody else's to wait for.
    pub fn under_way(&self, buffered: &Buffered) -> Vec<ActivityId> {
        self.owns_until_now(buffered.owns.take());
        buffered.messages.borrow_mut().drain(..).map(|(activity, _)| activity).collect()
    }

    /// What each message takes beside its data. Programs add `MPI_BSEND_OVERHEAD`, which is more; where executions are explored it is
    /// as much as any library in use needs, and not what a program may rely on that adds nothing to a large buffer.
    fn overhead(&self) -> i64 {
        if self.world.explored { 128 } else { 64 }
    }

    /// Makes room for a message of so many bytes.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn make_room(&self, buffered: &Buffered, bytes: usize) -> Result {
        let Some((buffer, size)) = buffered.attached.get() else {
            return fail(
                abi::ERR_BUFFER,
                "a buffered send needs a buffer: MPI_Buffer_attach (size of the data, and MPI_BSEND_OVERHEAD)",
            );
        };
        if buffer as usize == abi::BUFFER_AUTOMATIC {
            return Ok(());
        }
        let needed = bytes as i64 + self.overhead();
        let used = || buffered.messages.borrow().iter().map(|(_, bytes)| *bytes).sum::<i64>();
        while used() + needed > size {
            let activities = buffered.messages.borrow().iter().map(|(activity, _)| *activity).collect();
            match self.ask(Simcall::TestAny { activities }).into_over() {
                Ok((index, _)) => drop(buffered.messages.borrow_mut().remove(index as usize)),
                Err(_) => {
                    let free = size - used();
                    return fail(
                        abi::ERR_BUFFER,
                        format!(
                            "a buffered send of {bytes} bytes needs {needed} bytes of the attached buffer, of which {free} are free"
                        ),
                    );
                }
            }
        }
        Ok(())
    }

    /// A message is in the buffer until it has arrived.
    pub fn is_buffered(&self, buffered: &Buffered, activity: ActivityId, bytes: usize) {
        buffered.messages.borrow_mut().push((activity, bytes as i64 + self.overhead()));
        if let Some((buffer, size)) = buffered.attached.get()
            && buffer as usize != abi::BUFFER_AUTOMATIC
        {
            self.lies_in((buffer as usize, buffer as usize + size as usize), &buffered.owns);
        }
    }

    /// A message is in no buffer any more.
    pub fn has_left_buffer(&self, comm: Option<&Communicator>, activity: ActivityId) {
        let buffered = comm.map_or(&self.buffered, |comm| self.buffer_of(comm));
        buffered.messages.borrow_mut().retain(|(other, _)| *other != activity);
    }

    /// Waits until all messages have left the buffer.
    ///
    /// # Errors
    /// None so far.
    pub fn flush_buffer(&self, buffered: &Buffered) -> Result {
        loop {
            let Some((activity, _)) = buffered.messages.borrow_mut().pop() else {
                self.owns_until_now(buffered.owns.take());
                return Ok(());
            };
            let wait = Simcall::WaitAny {
                activities: [activity].into_iter().collect(),
                timeout: None,
                on_timeout: OnTimeout::Keep,
                release: true,
            };
            match self.ask(wait) {
                Answer::Completed { .. } | Answer::Failed { .. } => {}
                other => unreachable!("a wait is not answered by {other:?}"),
            }
        }
    }

    /// Gives the buffer back, once all messages have left it.
    ///
    /// # Errors
    /// If there is none.
    pub fn detach_buffer(&self, buffered: &Buffered) -> Result<(*mut c_void, i64)> {
        self.flush_buffer(buffered)?;
        match buffered.attached.take() {
            Some(attached) => Ok(attached),
            None => Ok((std::ptr::null_mut(), 0)),
        }
    }
}
