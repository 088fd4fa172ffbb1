//! The progress line of a long run: simulated time and events a second, on a terminal only.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simurgh_kernel::simulation::{Status, Watcher};

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

/// The line of a timed exploration.
pub(crate) struct Exploring(Option<ProgressBar>);

impl Exploring {
    /// A line, or none when nobody would see it.
    pub(crate) fn start() -> Self {
        Self(std::io::stderr().is_terminal().then(line))
    }

    /// Shows how many ways were simulated, and what was found.
    pub(crate) fn update(&mut self, ways: u64, found: impl FnOnce() -> String) {
        const EVERY: u64 = 64;
        let Some(bar) = self.0.as_ref().filter(|_| ways.is_multiple_of(EVERY)) else { return };
        let elapsed = bar.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        let rate = ways as f64 / elapsed.as_secs_f64();
        bar.set_message(format!(
            "{ways} ways   {rate:.0} ways/s   {}   {:.0} s elapsed",
            found(),
            elapsed.as_secs_f64()
        ));
        bar.tick();
    }
}

impl Drop for Exploring {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
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
