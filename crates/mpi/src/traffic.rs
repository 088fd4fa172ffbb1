//! What a process has sent and received so far, for the tools interface.

use std::cell::Cell;

/// Messages and bytes of data, those of collectives too.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Messages that were sent.
    pub sent: Cell<u64>,
    /// Their bytes.
    pub sent_bytes: Cell<u64>,
    /// Messages that were received.
    pub received: Cell<u64>,
    /// Their bytes.
    pub received_bytes: Cell<u64>,
}

impl Traffic {
    /// A message of so many bytes is sent.
    pub fn sends(&self, bytes: u64) {
        self.sent.set(self.sent.get() + 1);
        self.sent_bytes.set(self.sent_bytes.get() + bytes);
    }

    /// Messages of so many bytes each are sent and received, or might as well have been.
    pub fn passes(&self, messages: u64, bytes: u64) {
        for (count, sum) in [(&self.sent, &self.sent_bytes), (&self.received, &self.received_bytes)] {
            count.set(count.get() + messages);
            sum.set(sum.get() + messages * bytes);
        }
    }

    /// A message of so many bytes is received.
    pub fn receives(&self, bytes: u64) {
        self.received.set(self.received.get() + 1);
        self.received_bytes.set(self.received_bytes.get() + bytes);
    }
}
