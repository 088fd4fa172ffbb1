//! The progress line of a long run: simulated time and events a second, on a terminal only.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::SIGINT;
use signal_hook::{SigId, flag};
use simurgh_kernel::simulation::{Status, Watcher};

use super::check::Stopwatch;

/// A watcher that draws the line, or none when nobody would see it.
pub(crate) fn watcher() -> Option<Watcher> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let mut shown = Shown { bar: line(), last_steps: 0, quiet: true };
    Some(Box::new(move |status: &Status| {
        shown.update(status);
        ControlFlow::Continue(())
    }))
}

fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    bar
}

/// Whoever looks at a timed exploration: shows how far it is, and stops it when its time is up or somebody asks.
pub(crate) struct Exploring {
    line: Option<ProgressBar>,
    clock: Stopwatch,
    time: Option<f64>,
    looked: f64,
    interrupted: Arc<AtomicBool>,
    handlers: Vec<SigId>,
}

impl Exploring {
    /// Begins to look, for so many seconds at most. The line is there if anybody would see it.
    pub(crate) fn start(time: Option<f64>) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        // The first Ctrl-C stops the exploration with what it knows; a second one ends the program as ever.
        let handlers = [
            flag::register_conditional_default(SIGINT, Arc::clone(&interrupted)),
            flag::register(SIGINT, Arc::clone(&interrupted)),
        ];
        Self {
            line: std::io::stderr().is_terminal().then(line),
            clock: Stopwatch::start(),
            time,
            looked: 0.0,
            interrupted,
            handlers: handlers.into_iter().flatten().collect(),
        }
    }

    /// How long it has taken until now.
    pub(crate) fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    /// Shows how many ways were simulated, and what was found; says whether to go on.
    pub(crate) fn go_on(&mut self, ways: u64, found: impl FnOnce() -> String) -> bool {
        let elapsed = self.seconds();
        // What takes less than a second needs no line.
        if elapsed >= 1.0
            && elapsed - self.looked >= 0.1
            && let Some(line) = &self.line
        {
            self.looked = elapsed;
            let rate = ways as f64 / elapsed;
            line.set_message(format!(
                "{ways} ways   {rate:.0} ways/s   {}   {elapsed:.0} s elapsed",
                found()
            ));
            line.tick();
        }
        !self.interrupted.load(Ordering::Relaxed) && self.time.is_none_or(|most| elapsed < most)
    }
}

impl Drop for Exploring {
    fn drop(&mut self) {
        for &handler in &self.handlers {
            signal_hook::low_level::unregister(handler);
        }
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

struct Shown {
    bar: ProgressBar,
    last_steps: u64,
    quiet: bool,
}

impl Shown {
    fn update(&mut self, status: &Status) {
        let elapsed = self.bar.elapsed();
        // A run of less than a second needs no line.
        if self.quiet && elapsed < Duration::from_secs(1) {
            return;
        }
        self.quiet = false;
        let events = status.turns + status.steps;
        let rate = events as f64 / elapsed.as_secs_f64().max(1e-9);
        self.bar.set_message(format!(
            "simulated {:.3} s   {events} events   {rate:.0} events/s   {} actors   {:.0} s elapsed",
            status.clock.seconds(),
            status.living,
            elapsed.as_secs_f64()
        ));
        self.bar.tick();
        self.last_steps = status.steps;
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
