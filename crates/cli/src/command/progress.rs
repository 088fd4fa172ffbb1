//! The progress line of a long run or search, on a terminal only; and Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag};
use simurgh_actors::checking::Progress;
use simurgh_actors::command_line::Stopwatch;
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

/// Hears of Ctrl-C, and of those who end programs without a terminal (SIGTERM): the first one stops a search with what it knows, a second one
/// ends the program as ever. `timeout` sends two SIGTERMs at once, to its child and to their group: these are one.
pub(crate) struct Interrupt {
    came: Arc<AtomicBool>,
    /// Whether a second SIGTERM would be another one.
    is_long_ago: Arc<AtomicBool>,
    since: OnceLock<Stopwatch>,
    handlers: Vec<SigId>,
}

/// For so many seconds two SIGTERMs are one.
const TOGETHER: f64 = 1.0;

impl Interrupt {
    /// Begins to listen.
    pub(crate) fn listen() -> Self {
        let came = Arc::new(AtomicBool::new(false));
        let is_long_ago = Arc::new(AtomicBool::new(false));
        let handlers = [(SIGINT, &came), (SIGTERM, &is_long_ago)].into_iter().flat_map(|(signal, ends)| {
            [
                flag::register_conditional_default(signal, Arc::clone(ends)),
                flag::register(signal, Arc::clone(&came)),
            ]
        });
        Self { handlers: handlers.flatten().collect(), came, is_long_ago, since: OnceLock::new() }
    }

    /// Whether it came.
    pub(crate) fn came(&self) -> bool {
        let came = self.came.load(Ordering::Relaxed);
        if came && self.since.get_or_init(Stopwatch::start).seconds() > TOGETHER {
            self.is_long_ago.store(true, Ordering::Relaxed);
        }
        came
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for &handler in &self.handlers {
            signal_hook::low_level::unregister(handler);
        }
        // Nobody looks any more: what comes now ends the program.
        self.came.store(true, Ordering::Relaxed);
        self.is_long_ago.store(true, Ordering::Relaxed);
    }
}

/// A line about a search, if anybody would see it.
struct Line {
    bar: Option<ProgressBar>,
    drawn: f64,
}

impl Line {
    fn start() -> Self {
        Self { bar: std::io::stderr().is_terminal().then(line), drawn: 0.0 }
    }

    /// Draws it, now and then.
    fn draw(&mut self, elapsed: f64, text: impl FnOnce() -> String) {
        // What takes less than a second needs no line.
        if elapsed >= 1.0
            && elapsed - self.drawn >= 0.1
            && let Some(bar) = &self.bar
        {
            self.drawn = elapsed;
            bar.set_message(text());
            bar.tick();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The line of a timed exploration.
pub(crate) struct Exploring {
    line: Line,
    clock: Stopwatch,
}

impl Exploring {
    /// Begins it.
    pub(crate) fn start() -> Self {
        Self { line: Line::start(), clock: Stopwatch::start() }
    }

    /// Shows how many ways were simulated, and what was found.
    pub(crate) fn show(&mut self, ways: u64, found: impl FnOnce() -> String) {
        let elapsed = self.clock.seconds();
        self.line.draw(elapsed, || {
            let rate = ways as f64 / elapsed;
            format!("{ways} ways   {rate:.0} ways/s   {}   {elapsed:.0} s elapsed", found())
        });
    }
}

/// The line of a check.
pub(crate) struct Searching {
    line: Line,
    /// How many executions the whole was estimated to have, each time their number had doubled.
    estimates: Vec<(u64, f64)>,
}

impl Searching {
    /// Begins it.
    pub(crate) fn start() -> Self {
        Self { line: Line::start(), estimates: Vec::new() }
    }

    /// Shows how far a search is.
    pub(crate) fn show(&mut self, progress: &Progress) {
        self.estimate(progress);
        self.line.draw(progress.seconds, || message(progress, &self.estimates));
    }

    /// Remembers the estimate each time the number of executions has doubled, to see how much it moves.
    fn estimate(&mut self, progress: &Progress) {
        let (Some(part), executions) = (progress.part.filter(|&part| part > 0.0), progress.executions) else {
            return;
        };
        if self.estimates.last().is_none_or(|&(last, _)| executions >= last.saturating_mul(2).max(1)) {
            self.estimates.push((executions, executions as f64 / part));
        }
    }
}

fn message(progress: &Progress, estimates: &[(u64, f64)]) -> String {
    let &Progress { executions, depth, seconds, .. } = progress;
    let rate = executions as f64 / seconds.max(1e-9);
    let mut text = format!("{executions} executions   {rate:.0}/s   {depth} steps deep   {seconds:.0} s");
    if let Some(part) = progress.part.filter(|&part| part > 0.0) {
        let total = executions as f64 / part;
        let left = (total - executions as f64).max(0.0) / rate.max(1e-9);
        text.push_str(&format!("   about {:.1} % of {total:.2e}, {} left", part * 100.0, span(left)));
        if let [.., (_, before), (_, now)] = estimates[..] {
            let moved = (now / before).max(before / now);
            text.push_str(&format!(" (an estimate, which moved by a factor {moved:.1} since half as many)"));
        } else {
            text.push_str(" (a first estimate)");
        }
    }
    text
}

/// A span of time for people.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.1e} days", s / 86_400.0),
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
