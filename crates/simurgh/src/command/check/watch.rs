//! Whoever looks at a long search: shows how far it is, and stops it when a bound is reached or somebody asks.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{CheckOptions, Stopwatch};
use crate::error::{Error, Result};

/// How a search is doing.
pub(super) struct Glance {
    /// Executions until now.
    pub(super) executions: u64,
    /// The most steps of one.
    pub(super) depth: u64,
    /// The part that is behind, if it can be estimated.
    pub(super) part: Option<f64>,
}

/// Why a search stopped before its end.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Stopped {
    Interrupted,
    Time(f64),
    Memory(u64),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Interrupted => f.write_str("interrupted"),
            Stopped::Time(seconds) => write!(f, "stopped after {seconds} s (--time)"),
            Stopped::Memory(megabytes) => write!(f, "stopped at {megabytes} MB of memory (--memory)"),
        }
    }
}

/// How long a search may take, and how much.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bounds {
    time: Option<f64>,
    memory: Option<u64>,
}

impl Bounds {
    pub(super) fn new(options: &CheckOptions) -> Self {
        Self { time: options.time, memory: options.memory }
    }

    /// Which of them is reached after so many seconds.
    pub(super) fn reached(&self, seconds: f64, interrupted: bool) -> Option<Stopped> {
        let is_full = |most: &u64| resident().is_some_and(|used| used >= most << 20);
        if interrupted {
            return Some(Stopped::Interrupted);
        }
        let time = self.time.filter(|&time| seconds >= time).map(Stopped::Time);
        time.or_else(|| self.memory.filter(is_full).map(Stopped::Memory))
    }
}

pub(super) struct Watch {
    clock: Stopwatch,
    bounds: Bounds,
    interrupted: Arc<AtomicBool>,
    handlers: Vec<SigId>,
    line: Option<ProgressBar>,
    /// When the line was drawn last, and memory looked at.
    looked: f64,
    /// How many executions the whole was estimated to have, each time their number had doubled.
    estimates: Vec<(u64, f64)>,
    stopped: Option<Stopped>,
}

impl Watch {
    pub(super) fn start(options: &CheckOptions) -> Result<Self> {
        if options.time.is_some_and(|seconds| seconds.is_nan() || seconds < 0.0) {
            return Err(Error::input("--time: a number of seconds, 0 or more"));
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        // The first Ctrl-C stops the search with what it knows; a second one ends the program as ever. So do those who end
        // programs without a terminal.
        let mut handlers = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted));
            handlers.extend(signal_hook::flag::register(signal, Arc::clone(&interrupted)));
        }
        let line = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        Ok(Self {
            clock: Stopwatch::start(),
            bounds: Bounds::new(options),
            interrupted,
            handlers,
            line,
            looked: 0.0,
            estimates: Vec::new(),
            stopped: None,
        })
    }

    /// Looks at the search; says whether it is to go on.
    pub(super) fn go_on(&mut self, glance: &Glance) -> bool {
        let elapsed = self.clock.seconds();
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        let often = Bounds { memory: None, ..self.bounds };
        self.stopped = self.stopped.or_else(|| often.reached(elapsed, interrupted));
        self.estimate(glance);
        if elapsed - self.looked >= 0.1 {
            self.looked = elapsed;
            self.stopped = self.stopped.or_else(|| self.bounds.reached(elapsed, interrupted));
            // A search of less than a second needs no line.
            if let Some(line) = self.line.as_ref().filter(|_| elapsed >= 1.0) {
                line.set_message(self.message(glance, elapsed));
                line.tick();
            }
        }
        self.stopped.is_none()
    }

    /// Remembers the estimate each time the number of executions has doubled, to see how much it moves.
    fn estimate(&mut self, glance: &Glance) {
        let (Some(part), executions) = (glance.part.filter(|&part| part > 0.0), glance.executions) else {
            return;
        };
        if self.estimates.last().is_none_or(|&(last, _)| executions >= last.saturating_mul(2).max(1)) {
            self.estimates.push((executions, executions as f64 / part));
        }
    }

    fn message(&self, glance: &Glance, elapsed: f64) -> String {
        let rate = glance.executions as f64 / elapsed.max(1e-9);
        let mut text = format!(
            "{} executions   {rate:.0}/s   {} steps deep   {elapsed:.0} s",
            glance.executions, glance.depth
        );
        if let Some(part) = glance.part.filter(|&part| part > 0.0) {
            let total = glance.executions as f64 / part;
            let left = (total - glance.executions as f64).max(0.0) / rate.max(1e-9);
            text.push_str(&format!("   about {:.1} % of {total:.2e}, {} left", part * 100.0, span(left)));
            if let [.., (_, before), (_, now)] = self.estimates[..] {
                let moved = (now / before).max(before / now);
                text.push_str(&format!(
                    " (an estimate, which moved by a factor {moved:.1} since half as many)"
                ));
            } else {
                text.push_str(" (a first estimate)");
            }
        }
        text
    }

    /// Why it was stopped, if it was.
    pub(super) fn finish(&mut self) -> Option<Stopped> {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
        self.stopped
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            signal_hook::low_level::unregister(handler);
        }
        self.interrupted.store(true, Ordering::Relaxed);
        let _ = self.finish();
    }
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

/// The memory in use, in bytes, where the system tells.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
