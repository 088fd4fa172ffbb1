//! A search on a thread of its own, which is left behind where code of a user does not come back, and where a search does not
//! hear in time that it is to end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::user_code::note_on;
use crate::watchdog::{EVERY, Stuck, Watchdog};

/// How long after it is to end a search may take to hear of it.
const GRACE: Duration = Duration::from_millis(700);

/// As much as the first thread of a process has.
const STACK_BYTES: usize = 8 << 20;

/// For a search: asks whoever began it whether it is to end.
pub struct Asker<Q> {
    said: Sender<Said<Q>>,
    answers: Receiver<bool>,
}

enum Said<Q> {
    /// Shall it end, after so much was seen?
    Asks(Q),
    /// It has ended.
    Over,
}

impl<Q> Asker<Q> {
    /// Whether to end, after so much was seen. Also where nobody waits for it any more.
    pub fn is_to_end(&self, seen: Q) -> bool {
        self.said.send(Said::Asks(seen)).is_err() || self.answers.recv().unwrap_or(true)
    }
}

/// A search that was left behind.
#[derive(Clone, Debug, Default)]
pub struct LeftBehind<Q> {
    /// The code of a user that does not come back, if that is why.
    pub stuck: Option<Stuck>,
    /// Whether it was to end, and did not.
    pub was_to_end: bool,
    /// What it had seen when it asked last whether to end.
    pub seen: Q,
}

impl<Q> fmt::Display for LeftBehind<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stuck {
            None => f.write_str("it was stopped in the middle of something that takes long"),
            Some(stuck) if self.was_to_end => write!(f, "it was stopped: {stuck}"),
            Some(stuck) => {
                write!(f, "{stuck}, and cannot be stopped: the thread that runs it is left behind")
            }
        }
    }
}

/// Who says whether a search is to end, after so much was seen.
pub type Stop<'a, Q> = Box<dyn FnMut(&Q) -> bool + 'a>;

/// Runs a search on a thread of its own. Gives up on it when code of a user, run by [`quietly`](crate::quietly), has not come back for
/// so long; or when it was to end, and goes on. `names` are those of the properties. `stop` is asked where the
/// search asks, and now and then while it does not.
///
/// # Errors
/// If it was left behind.
///
/// # Panics
/// If the search does, or `stop`.
#[expect(clippy::disallowed_methods, reason = "that code does not come back is known by the clock alone")]
pub fn apart<Q: Clone + Default + Send + 'static, T: Send + 'static>(
    patience: Duration,
    names: Vec<String>,
    mut stop: Option<Stop<'_, Q>>,
    run: impl FnOnce(Asker<Q>) -> T + Send + 'static,
) -> Result<T, LeftBehind<Q>> {
    let watchdog = Watchdog::default();
    let mut lookout = watchdog.lookout();
    let ((said, hear), (answer, answers)) = (channel(), channel());
    let over = said.clone();
    let mut builder = thread::Builder::new();
    if let Some(name) = thread::current().name() {
        builder = builder.name(name.to_owned());
    }
    // Who says how much a thread has means this one, too.
    if std::env::var_os("RUST_MIN_STACK").is_none() {
        builder = builder.stack_size(STACK_BYTES);
    }
    let search = builder.spawn(move || {
        let mut pulse = watchdog.pulse();
        pulse.knows_properties(names);
        note_on(Some(pulse));
        let result = catch_unwind(AssertUnwindSafe(|| run(Asker { said, answers })));
        note_on(None);
        // Nobody may want it any more.
        let _ = over.send(Said::Over);
        result
    });
    let search = search.expect("the system has a thread for a search");
    let (mut seen, mut to_end) = (Q::default(), None);
    loop {
        match hear.recv_timeout(EVERY) {
            Ok(Said::Asks(now)) => {
                seen = now;
                let end = to_end.is_some() || stop.as_mut().is_some_and(|stop| stop(&seen));
                // It waits for the answer.
                let _ = answer.send(end);
            }
            Ok(Said::Over) | Err(RecvTimeoutError::Disconnected) => {
                return Ok(search
                    .join()
                    .and_then(|result| result)
                    .unwrap_or_else(|panic| resume_unwind(panic)));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(stuck) = lookout.look(patience) {
                    return Err(LeftBehind { stuck: Some(stuck), was_to_end: false, seen });
                }
                if to_end.is_none() && stop.as_mut().is_some_and(|stop| stop(&seen)) {
                    to_end = Some(Instant::now());
                }
                if let Some(waited) = to_end.map(|since| since.elapsed()).filter(|waited| *waited >= GRACE) {
                    return Err(LeftBehind { stuck: lookout.look(waited / 2), was_to_end: true, seen });
                }
            }
        }
    }
}
