//! Whoever looks at a long search: tells how far it is, and stops it when a bound is reached or somebody asks.

use std::any::Any;
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use simurgh_kernel::watchdog::{EVERY, PATIENCE, Pulse, Watchdog};

use super::exploring::DEPTH;
use super::silence::{calling, pass_on};
use super::{Options, Spelling};
use crate::error::Exit;
use crate::text::count;
use simurgh_explore::session::ENDLESS;

/// How a search is doing.
#[derive(Copy, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Executions until now.
    pub executions: u64,
    /// The most steps of one.
    pub depth: u64,
    /// The part that is behind, from 0 to 1, if it can be estimated.
    pub part: Option<f64>,
    /// How long it has taken, in seconds.
    pub seconds: f64,
}

/// Why a search stopped before its end, with nothing found.
#[derive(Copy, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// Somebody asked: [`Check::stop_when`](super::Check::stop_when).
    Asked,
    /// So many seconds were over.
    Time(f64),
    /// So many megabytes were in use.
    Memory(u64),
    /// So many executions were seen.
    Executions(u64),
    /// An execution was so long that it was taken for endless.
    Endless,
}

impl Stopped {
    /// Why, in a line.
    pub(crate) fn in_words(self, spelling: Spelling) -> String {
        let of = |argument, method| spelling.of(argument, method);
        match self {
            Stopped::Asked => of("interrupted", "stopped as it was asked to (`stop_when`)").to_owned(),
            Stopped::Time(seconds) => format!("stopped after {seconds} s ({})", of("--time", "`time`")),
            Stopped::Memory(megabytes) => {
                format!("stopped at {megabytes} MB of memory ({})", of("--memory", "`memory`"))
            }
            Stopped::Executions(executions) => {
                let executions = count(executions, "execution");
                format!("stopped after {executions} ({})", of("--executions", "`executions`"))
            }
            Stopped::Endless => format!(
                "stopped at an execution that seems to be endless: more than {DEPTH} steps, {ENDLESS} waits in vain in a row, or {ENDLESS} \
                 actors created; {} cuts executions after N steps instead, and goes on with the others",
                of("--depth N", "`depth(N)`")
            ),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(Spelling::Methods))
    }
}

/// Someone who hears of something, and may say something about it.
pub(crate) type Listener<'a, T, A = ()> = Box<dyn FnMut(&T) -> A + 'a>;

/// Those who hear of a search while it goes on.
#[derive(Default)]
pub(super) struct Listeners<'a> {
    pub(super) progress: Option<Listener<'a, Progress>>,
    pub(super) stop_when: Option<Listener<'a, Progress, bool>>,
    pub(super) note: Option<Listener<'a, str>>,
}

impl Listeners<'_> {
    /// Tells something at once.
    pub(super) fn note(&mut self, line: &str) {
        if let Some(note) = &mut self.note
            && let Err(panic) = calling(|| note(line))
        {
            pass_on(panic);
        }
    }

    /// Tells how far a search is, and asks whether it is to go on.
    fn hear(&mut self, progress: &Progress) -> bool {
        if let Some(listener) = &mut self.progress {
            listener(progress);
        }
        !self.stop_when.as_mut().is_some_and(|stop| stop(progress))
    }
}

pub(super) struct Watch<'l, 'a> {
    clock: Stopwatch,
    time: Option<f64>,
    memory: Option<u64>,
    listeners: &'l mut Listeners<'a>,
    /// When memory was looked at last.
    looked: f64,
    stopped: Option<Stopped>,
    /// What one of the listeners panicked with: the search ends first.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'l, 'a> Watch<'l, 'a> {
    /// Begins to look; `clock` runs since the check began, whoever explored before.
    pub(super) fn start(clock: Stopwatch, options: &Options, listeners: &'l mut Listeners<'a>) -> Self {
        Self {
            clock,
            time: options.time.map(|time| time.as_secs_f64()),
            memory: options.memory.or_else(enough),
            listeners,
            looked: 0.0,
            stopped: None,
            panic: None,
        }
    }

    /// Looks at the search (executions, the most steps of one, and the part that is behind); says whether it is to go on.
    pub(super) fn go_on(&mut self, executions: u64, depth: u64, part: Option<f64>) -> bool {
        if self.panic.is_some() {
            return false;
        }
        let elapsed = self.clock.seconds();
        let progress = Progress { executions, depth, part, seconds: elapsed };
        match calling(|| self.listeners.hear(&progress)) {
            Ok(true) => {}
            Ok(false) => self.stopped = Some(Stopped::Asked),
            Err(panic) => {
                self.stopped = Some(Stopped::Asked);
                self.panic = Some(panic);
            }
        }
        if let Some(time) = self.time.filter(|&time| self.stopped.is_none() && elapsed >= time) {
            self.stopped = Some(Stopped::Time(time));
        }
        if elapsed - self.looked >= 0.1 {
            self.looked = elapsed;
            if let Some(most) = self.memory.filter(|&most| resident().is_some_and(|used| used >= most << 20))
            {
                self.stopped = Some(Stopped::Memory(most));
            }
        }
        self.stopped.is_none()
    }

    /// Whether it is to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Why it was stopped, if it was.
    pub(super) fn finish(self) -> Option<Stopped> {
        if let Some(panic) = self.panic {
            pass_on(panic);
        }
        self.stopped
    }
}

/// How long something takes, for people.
#[derive(Copy, Clone)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Begins now.
    #[expect(clippy::disallowed_methods, reason = "the time that a search took is told, and changes nothing")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// How many seconds there were until now.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Says on standard error whose code does not come back, where nobody else would: a test that hangs says why. And as long as it
/// lives, code that ends the process is told.
pub(super) struct Sentinel {
    over: Arc<AtomicBool>,
    thread: Thread,
    _pulse: Pulse,
}

impl Sentinel {
    /// Begins to look; ends the process after `patience`, if that is given.
    pub(super) fn start(watchdog: &Watchdog, patience: Option<Duration>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (seen, mut lookout) = (Arc::clone(&over), watchdog.lookout());
        #[expect(clippy::disallowed_methods, reason = "whoever looks after a search must not be part of it")]
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                if let Some(stuck) = lookout.look(patience.unwrap_or(PATIENCE)) {
                    let then = match patience {
                        Some(_) => "not exhausted, and the process ends (`stuck_after`)",
                        None => "it cannot be stopped from here; `stuck_after` would end the process",
                    };
                    // A test keeps what is printed by `eprintln` for its end, which never comes.
                    let _ = writeln!(std::io::stderr(), "simurgh: {stuck}; {then}");
                    if patience.is_some() {
                        std::process::exit(Exit::NotExhausted as i32);
                    }
                    return;
                }
                std::thread::park_timeout(EVERY);
            }
        });
        Self { over, thread: thread.thread().clone(), _pulse: watchdog.pulse() }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// So many megabytes are enough, where nobody says how many: with less than a quarter of what was available left, a machine gets
/// slow, and then ends some process. Nothing where the system does not tell.
pub fn enough() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 4 * 3 / 1024 + resident().map_or(0, |used| used >> 20))
}

/// The memory in use, in bytes, where the system tells.
pub fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
