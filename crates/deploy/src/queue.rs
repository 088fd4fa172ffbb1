//! What waits to be sent to a peer: bounded, and what is oldest is dropped first.
//!
//! While a peer is away its queue fills. What is newest says most about how things are, so that is kept.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Vec<u8>>,
    closed: bool,
}

pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
    most: usize,
}

impl Queue {
    pub(crate) fn new(most: usize) -> Self {
        Self { waiting: Mutex::default(), changed: Notify::new(), most }
    }

    /// Adds a message, and says whether one was dropped for it.
    pub(crate) fn push(&self, message: Vec<u8>) -> bool {
        let mut waiting = self.lock();
        let full = waiting.messages.len() == self.most;
        if full {
            waiting.messages.pop_front();
        }
        waiting.messages.push_back(message);
        drop(waiting);
        self.changed.notify_one();
        full
    }

    /// Nothing will be added any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// The oldest message if there is one.
    pub(crate) fn try_pop(&self) -> Option<Vec<u8>> {
        self.lock().messages.pop_front()
    }

    /// Waits for the oldest message; `None` once the queue is closed and empty. There is one who waits at most.
    pub(crate) async fn pop(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut waiting = self.lock();
                if let Some(message) = waiting.messages.pop_front() {
                    return Some(message);
                }
                if waiting.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_dropped() {
        let queue = Queue::new(2);
        assert_eq!([1, 2, 3].map(|number| queue.push(vec![number])), [false, false, true]);
        assert_eq!([(); 3].map(|()| queue.try_pop()), [Some(vec![2]), Some(vec![3]), None]);
    }
}
