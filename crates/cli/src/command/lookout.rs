//! Looks after an MPI program from beside: a process that computes for ever cannot be told from one that computes for long, so it
//! is told where it is, now and then; it is ended only where somebody has said after how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use simurgh_actors::command_line::Stopwatch;
use simurgh_mpi::launch::Run;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(100);

/// After so many seconds somebody is told first; then after twice as many, and so on.
const FIRST: f64 = 10.0;

/// Someone who looks after a run until it is dropped.
pub(crate) struct Lookout {
    over: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Lookout {
    /// Begins to look. Nothing is told if it is to be quiet; the run is ended after so many seconds, if that is said.
    pub(crate) fn start(run: &Run, stuck_after: Option<f64>, quiet: bool) -> Self {
        let (over, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let mut watch = Watch {
            run: run.clone(),
            over: Arc::clone(&over),
            ended: Arc::clone(&ended),
            stuck_after,
            quiet,
            computing: Span::default(),
            polling: Span::default(),
        };
        #[expect(clippy::disallowed_methods, reason = "whoever looks after a run must not be part of it")]
        let thread = std::thread::spawn(move || watch.look());
        Self { over, ended, thread: Some(thread) }
    }

    /// Whether it has ended the run.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// For how long something has not changed.
#[derive(Default)]
struct Span {
    value: Option<u64>,
    seconds: f64,
    /// How often it was told.
    told: u32,
}

impl Span {
    /// After so many seconds more it is this.
    fn is(&mut self, value: Option<u64>, seconds: f64) {
        if value.is_none() || self.value != value {
            *self = Span { value, ..Span::default() };
        } else {
            self.seconds += seconds;
        }
    }

    /// Whether it is time to tell.
    fn is_due(&mut self) -> bool {
        let due = self.seconds >= FIRST * f64::from(self.told).exp2();
        self.told += u32::from(due);
        due
    }
}

struct Watch {
    run: Run,
    over: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    stuck_after: Option<f64>,
    quiet: bool,
    /// The turn of a process, while one runs.
    computing: Span,
    /// How far all are together.
    polling: Span,
}

impl Watch {
    fn look(&mut self) {
        let (mut clock, mut turns) = (Stopwatch::start(), Run::turns());
        loop {
            std::thread::park_timeout(EVERY);
            if self.over.load(Ordering::Acquire) {
                return;
            }
            // Time in which nobody looked does not count much: all of us may have been halted.
            let seconds = clock.seconds().min(4.0 * EVERY.as_secs_f64());
            clock = Stopwatch::start();
            let turn = Run::turn();
            self.computing.is(turn, seconds);
            // Where one process runs all the time, or none does, nobody polls.
            let has_turned = std::mem::replace(&mut turns, Run::turns()) != turns;
            // Whoever sleeps or computes in simulated time will go on.
            let progress = self.run.progress();
            let count = (!progress.is_busy()).then(|| progress.count());
            self.polling.is(count, if has_turned { seconds } else { 0.0 });
            let most = self.stuck_after.unwrap_or(f64::INFINITY);
            if self.computing.seconds >= most {
                self.ended.store(true, Ordering::Release);
                Run::interrupt();
            } else if self.polling.seconds >= most {
                self.ended.store(true, Ordering::Release);
                self.run.progress().is_enough();
            } else if !self.quiet {
                self.tell();
            }
        }
    }

    fn tell(&mut self) {
        if self.computing.is_due() {
            let seconds = self.computing.seconds;
            if let Some((rank, line)) = (0..3).find_map(|_| self.run.glance()) {
                let line = line.map_or_else(String::new, |line| format!(" at {line}"));
                eprintln!(
                    "simurgh: rank {rank} has run for {seconds:.0} s without a call of MPI{line}; it goes on (--stuck-after SECONDS ends it)"
                );
            }
        } else if self.polling.is_due() {
            let seconds = self.polling.seconds;
            // Somebody polls most of the time.
            if let Some((rank, line)) = (0..20).find_map(|_| self.run.glance()) {
                let line = line.map_or_else(String::new, |line| format!(" at {line}"));
                eprintln!(
                    "simurgh: for {seconds:.0} s nobody has got any further; rank {rank} polls{line}; it goes on (--stuck-after SECONDS ends it)"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_not_told_and_what_does_not_is_told_less_and_less() {
        let mut span = Span::default();
        for turn in 0..1000 {
            span.is(Some(turn), 1.0);
            assert!(!span.is_due());
        }
        let mut told = Vec::new();
        for second in 1..100 {
            span.is(Some(1000), 1.0);
            if span.is_due() {
                told.push(second);
            }
        }
        assert_eq!(told, [11, 21, 41, 81]);
        span.is(None, 1.0);
        assert!(!span.is_due());
    }
}
