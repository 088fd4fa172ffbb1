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
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    let mut shown = Shown { bar, last_steps: 0, quiet: true };
    Some(Box::new(move |status: &Status| {
        shown.update(status);
        ControlFlow::Continue(())
    }))
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
