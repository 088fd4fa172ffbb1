//! Whoever sees to it that a search ends when it is to: bounds and signals are heard even where code of the program, or a step
//! of the engine, takes long; and code that never comes back is told.
//!
//! What runs cannot be stopped from beside it. So where the search does not end by itself, this thread says what is known, and
//! ends the process.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use simurgh_actors::checking::{Progress, Stopped};
use simurgh_actors::command_line::{self, Stopwatch, enough, resident};
use simurgh_actors::{Error, Exit, Result};
use simurgh_explore::Engine;
use simurgh_kernel::watchdog::{EVERY, Lookout, Watchdog};

use super::{CheckOptions, report};
use crate::command::{lost_output, print_answer};

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
    /// How many executions were seen.
    executions: AtomicU64,
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
            executions: AtomicU64::new(0),
        });
        let sentry = Sentry {
            shared: Arc::clone(&shared),
            lookout: watchdog.lookout(),
            patience,
            time: options.time,
            memory: options.memory.or_else(enough),
            engine: options.engine.into(),
            // What is left is kept by the search itself, however long that takes.
            waits: options.resume.is_some(),
            json: options.json,
            clock: Stopwatch::start(),
        };
        #[expect(clippy::disallowed_methods, reason = "whoever looks after a search must not be part of it")]
        let thread = std::thread::spawn(move || sentry.look());
        Ok(Self { shared, handlers, thread: Some(thread) })
    }

    /// For whoever hears how far the search is.
    pub(super) fn listener(&self) -> impl Fn(&Progress) + 'static {
        // It is dropped when nothing is left to hear: what was found is told then, and no bound may end that.
        let heard = UntilHeard(Arc::clone(&self.shared));
        move |progress| heard.0.executions.store(progress.executions, Ordering::Relaxed)
    }

    /// The search is over: what comes now has no bounds, but its code may be stuck as well.
    pub(super) fn search_is_over(&self) {
        self.shared.bounded.store(false, Ordering::Relaxed);
    }
}

/// The search is over when this is dropped.
struct UntilHeard(Arc<Shared>);

impl Drop for UntilHeard {
    fn drop(&mut self) {
        self.0.bounded.store(false, Ordering::Relaxed);
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

/// The thread that looks.
struct Sentry {
    shared: Arc<Shared>,
    lookout: Lookout,
    patience: Duration,
    time: Option<f64>,
    memory: Option<u64>,
    engine: Engine,
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
                reached = self.reached(seconds).map(|stopped| (stopped, seconds));
            }
            if let Some((stopped, since)) = reached.filter(|(_, since)| seconds - since >= GRACE) {
                let long = Duration::from_secs_f64((seconds - since) / 2.0);
                let stuck = self.lookout.look(long).map_or_else(String::new, |stuck| format!(": {stuck}"));
                self.end(format!("{}{stuck}", command_line::stopped(stopped)));
            }
        }
    }

    /// Which bound is reached after so many seconds.
    fn reached(&self, seconds: f64) -> Option<Stopped> {
        if self.shared.interrupted.load(Ordering::Relaxed) {
            return Some(Stopped::Asked);
        }
        let is_full = |most: &u64| resident().is_some_and(|used| used >= most << 20);
        let time = self.time.filter(|&time| seconds >= time).map(Stopped::Time);
        time.or_else(|| self.memory.filter(is_full).map(Stopped::Memory))
    }

    /// Says what is known, and ends the process.
    fn end(&self, stopped: String) -> ! {
        let executions = self.shared.executions.load(Ordering::Relaxed);
        let report = command_line::ended(self.engine, executions, self.clock.seconds());
        if std::io::stderr().is_terminal() {
            // The line that tells how far it is.
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
        let text = match self.json {
            true => report::json(&report, Some(&stopped), None),
            false => format!("{}{stopped}\n", command_line::in_words(&report, &super::view(), "")),
        };
        print_answer(&text, self.json);
        let exit = if lost_output() { Exit::CannotRun } else { Exit::NotExhausted };
        std::process::exit(exit as i32)
    }
}
