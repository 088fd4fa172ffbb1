//! Whoever sees to it that a search ends when it is to: bounds and signals are heard even where code of the program, or a step
//! of the engine, takes long; and code that never comes back is told.
//!
//! What runs cannot be stopped from beside it. So where the search does not end by itself, this thread says what is known, and
//! ends the process.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use simurgh_explore::watchdog::{EVERY, Lookout};
use simurgh_explore::{Engine, Exploration, Verdict, Watchdog};

use super::report::{By, Ending, human, json};
use super::watch::{Bounds, Stopped};
use super::{CheckOptions, Stopwatch};
use crate::command::print;
use crate::error::{Error, Exit, Result};

/// How long after a bound was reached a search may take to hear of it.
const GRACE: f64 = 0.7;

/// As long as it lives, somebody looks after a search.
pub(crate) struct Guard {
    shared: Arc<Shared>,
    handlers: Vec<SigId>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Whether there is nothing to look after any more.
    over: AtomicBool,
    /// Whether bounds are for what runs now.
    bounded: AtomicBool,
    interrupted: Arc<AtomicBool>,
    known: Mutex<Known>,
}

/// What is known of a search, as long as it goes on.
struct Known {
    engine: Engine,
    refined: Option<String>,
    executions: u64,
    transitions: u64,
}

impl Guard {
    /// Begins to look after whatever runs code of a program.
    ///
    /// # Errors
    /// If the options make no sense.
    pub(crate) fn start(watchdog: &Watchdog, options: &CheckOptions) -> Result<Self> {
        let wrong = || Error::input("--stuck-after: a number of seconds, 0 for ever");
        let patience = match options.stuck_after {
            0.0 => Duration::MAX,
            seconds => Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?,
        };
        let interrupted = Arc::new(AtomicBool::new(false));
        let handlers = [SIGINT, SIGTERM]
            .into_iter()
            .filter_map(|signal| signal_hook::flag::register(signal, Arc::clone(&interrupted)).ok())
            .collect();
        let shared = Arc::new(Shared {
            over: AtomicBool::new(false),
            bounded: AtomicBool::new(true),
            interrupted,
            known: Mutex::new(Known {
                engine: options.engine.into(),
                refined: None,
                executions: 0,
                transitions: 0,
            }),
        });
        let sentry = Sentry {
            shared: Arc::clone(&shared),
            lookout: watchdog.lookout(),
            patience,
            bounds: Bounds::new(options),
            // What is left is kept by the search itself, however long that takes.
            waits: options.resume.is_some(),
            json: options.json,
            clock: Stopwatch::start(),
        };
        #[expect(clippy::disallowed_methods, reason = "whoever looks after a search must not be part of it")]
        let thread = std::thread::spawn(move || sentry.look());
        Ok(Self { shared, handlers, thread: Some(thread) })
    }

    /// Who explores, and why that is not who was asked for.
    pub(super) fn explored_by(&self, engine: Engine, refined: Option<&str>) {
        let mut known = self.shared.known();
        (known.engine, known.refined) = (engine, refined.map(str::to_owned));
    }

    /// How far the search is.
    pub(super) fn note(&self, executions: u64, transitions: u64) {
        let mut known = self.shared.known();
        (known.executions, known.transitions) = (executions, transitions);
    }

    /// The search is over: what comes now has no bounds, but its code may be stuck as well.
    pub(super) fn search_is_over(&self) {
        self.shared.bounded.store(false, Ordering::Relaxed);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        for handler in self.handlers.drain(..) {
            signal_hook::low_level::unregister(handler);
        }
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It may be about to end the process; then there is nothing to go on with.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that looks.
struct Sentry {
    shared: Arc<Shared>,
    lookout: Lookout,
    patience: Duration,
    bounds: Bounds,
    waits: bool,
    json: bool,
    clock: Stopwatch,
}

impl Sentry {
    fn look(mut self) {
        // The bound that was reached, and when.
        let mut reached: Option<(Stopped, f64)> = None;
        loop {
            std::thread::park_timeout(EVERY);
            if self.shared.over.load(Ordering::Relaxed) {
                return;
            }
            if let Some(stuck) = self.lookout.look(self.patience) {
                self.end(format!("stopped: {stuck} (--stuck-after)"));
            }
            if !self.shared.bounded.load(Ordering::Relaxed) || self.waits {
                continue;
            }
            let seconds = self.clock.seconds();
            if reached.is_none() {
                let interrupted = self.shared.interrupted.load(Ordering::Relaxed);
                reached = self.bounds.reached(seconds, interrupted).map(|stopped| (stopped, seconds));
            }
            if let Some((stopped, since)) = reached.filter(|(_, since)| seconds - since >= GRACE) {
                let long = Duration::from_secs_f64((seconds - since) / 2.0);
                let stuck = self.lookout.look(long).map_or_else(String::new, |stuck| format!(": {stuck}"));
                self.end(format!("{stopped}{stuck}"));
            }
        }
    }

    /// Says what is known, and ends the process.
    fn end(&self, stopped: String) -> ! {
        let known = self.shared.known();
        let found = Exploration {
            verdict: Verdict::NotExhausted,
            executions: known.executions,
            transitions: known.transitions,
            ..Exploration::default()
        };
        let by = By {
            engine: known.engine,
            refined: known.refined.clone(),
            seconds: self.clock.seconds(),
            cut: None,
            ending: Ending { exhausted: false, stopped: Some(stopped) },
        };
        if std::io::stderr().is_terminal() {
            // The line that tells how far it is.
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
        print(&if self.json { json(&found, &[], &by) } else { human(&found, &[], "", &by) });
        std::process::exit(Exit::NotExhausted as i32)
    }
}
