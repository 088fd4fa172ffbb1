//! What `worker_pool` is made of: the one place where its primitives come from, so that a model checker can bring its own.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
pub(super) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread::JoinHandle;

pub(super) use atomic_wait::{wait, wake_all, wake_one};

use crate::context::{is_quiet, quiet};

/// So many batches for each thread, so that one with long code does not keep the others waiting.
pub(super) const BATCHES: usize = 8;

/// Starts a thread, if the system has one more. What panics there is told as it is on the thread that starts it.
pub(super) fn spawn(serve: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let is_quiet = is_quiet();
    let serve = move || {
        let _quiet = is_quiet.then(quiet);
        serve();
    };
    std::thread::Builder::new().name("simurgh-worker".to_owned()).spawn(serve).ok()
}
