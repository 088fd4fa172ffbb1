//! A search in parts: several at once on several cores, or one after the other over days.
//!
//! A part is the first choices of the executions that are meant ([`Path`]). What is left of a search at any time is a list of
//! parts, and parts need nothing from each other, but for what is known of who posts what: where one learns more, and choices
//! were cut that should not have been, all begins anew. Any number of workers sees the same executions.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::choice::Path;
use super::future::Posters;
use super::reads_from::ReadsFrom;
use super::search::{End, Limits, Refusal, Search};
use super::{Network, Processes};
use crate::verdict::{Exploration, Step, Verdict, Violation};

/// A search that may be continued: what was found until now, and what is left.
#[derive(Clone, PartialEq, Debug)]
pub struct Frontier {
    /// What was found until now.
    pub found: Exploration,
    /// What is left.
    pub parts: Vec<Path>,
    /// The most steps of an execution until now.
    pub depth: u64,
    /// What is known of who posts what: choices were cut by it.
    pub posters: Posters,
    /// What was found was found earlier, and there was no time to come to it again: another may be the first.
    pub found_earlier: bool,
}

impl Default for Frontier {
    /// All is left.
    fn default() -> Self {
        Self {
            found: Exploration::default(),
            parts: vec![Path::new()],
            depth: 0,
            posters: Posters::default(),
            found_earlier: false,
        }
    }
}

impl Frontier {
    /// What is known until now, in order.
    fn judge(&mut self) {
        self.found.found.sort();
        let is_exhausted = self.is_exhausted() && self.found.cut == 0;
        self.found.verdict =
            Verdict::of(self.found.found.iter().map(|(violation, _)| violation), is_exhausted);
    }

    /// All begins anew, with a better knowledge of the program; steps are counted anew. What was found goes with `earlier`: how much
    /// that is depends on who was faster, and it will be found again.
    fn begin_anew(self, earlier: &mut Vec<(Violation, Vec<Step>)>) -> Self {
        earlier.extend(self.found.found);
        Self { depth: self.depth, posters: self.posters, ..Self::default() }
    }

    /// Not all was seen again: what was found earlier was found. Where the first violation is enough, one is.
    fn with_earlier(mut self, earlier: Vec<(Violation, Vec<Step>)>, all: bool) -> Self {
        if !self.is_exhausted() && (all || self.found.found.is_empty()) {
            self.found_earlier = !earlier.is_empty();
            for (violation, schedule) in earlier {
                if !self.found.found.iter().any(|(known, _)| *known == violation) {
                    self.found.found.push((violation, schedule));
                }
            }
            self.judge();
        }
        self
    }

    /// The same without what was found earlier, for whoever goes on and will come to it again.
    pub fn without_earlier(mut self) -> Self {
        if std::mem::take(&mut self.found_earlier) {
            self.found.found.clear();
            self.judge();
        }
        self
    }

    /// Whether nothing is left.
    pub fn is_exhausted(&self) -> bool {
        self.parts.is_empty()
    }
}

/// What a watcher is told.
#[derive(Copy, Clone, Debug)]
pub struct Progress {
    /// Executions until now.
    pub executions: u64,
    /// The most steps of an execution.
    pub depth: u64,
    /// A part of the whole, estimated from the choices that are behind.
    pub part: f64,
}

/// Goes on with a search until nothing is left, something was found (unless all is wanted), a limit is reached, or `watch`
/// says false; it is asked now and then. `make` makes the processes for a worker.
///
/// # Errors
/// If the program does something that this engine does not know.
pub fn explore_parts<P: Processes>(
    make: &(dyn Fn() -> P + Sync),
    network: Network,
    limits: Limits,
    workers: usize,
    frontier: Frontier,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Frontier, Refusal> {
    let (mut frontier, mut workers, mut earlier) = (frontier, workers, Vec::new());
    let mut watch =
        |shown: Shown<'_>| if let Shown::Progress(progress) = shown { watch(progress) } else { true };
    loop {
        let before = (workers > 1 && !limits.all).then(|| frontier.clone());
        let (more, anew) = explore_once(network, limits, frontier, |worker_pool| match workers {
            0 | 1 => worker_pool.work(&mut make(), &mut watch),
            _ => worker_pool.work_together(make, workers, &mut watch),
        })?;
        match before {
            // Which violation several workers find first depends on who is faster; one worker finds the first.
            Some(before) if more.found.found.len() > before.found.found.len() => {
                earlier = more.found.found;
                (frontier, workers) = (before, 1);
            }
            _ if anew => frontier = more.begin_anew(&mut earlier),
            _ => return Ok(more.with_earlier(earlier, limits.all)),
        }
    }
}

/// Who is shown each way with what is wrong with it, or nothing in between, and says whether to go on.
pub type Visitor<'a> = dyn FnMut(Option<(&ReadsFrom, &[Violation])>) -> bool + 'a;

/// Explores all ways, and shows each to a visitor, with what went wrong in it; it stops the search by saying false. In between it is
/// asked now and then whether to go on, with nothing to see.
///
/// # Errors
/// If the program does something that this engine does not know.
pub fn explore_ways(
    processes: &mut dyn Processes,
    network: Network,
    limits: Limits,
    visitor: &mut Visitor<'_>,
) -> Result<Exploration, Refusal> {
    // Where the search begins anew, the visitor has seen some of the ways.
    let mut shown = BTreeSet::new();
    let mut onlooker = |seen: Shown<'_>| {
        let Shown::Execution(search, wrong) = seen else { return visitor(None) };
        let way = search.way();
        !shown.insert(way.fingerprint()) || visitor(Some((&way, wrong)))
    };
    let (mut frontier, mut earlier) = (Frontier::default(), Vec::new());
    loop {
        let (more, anew) = explore_once(network, limits, frontier, |worker_pool| {
            worker_pool.work(processes, &mut onlooker)
        })?;
        if !anew {
            return Ok(more.with_earlier(earlier, limits.all).found);
        }
        frontier = more.begin_anew(&mut earlier);
    }
}

/// Goes on with what is known; says whether it has to begin anew, since more is known now.
fn explore_once(
    network: Network,
    limits: Limits,
    frontier: Frontier,
    work: impl FnOnce(&WorkerPool),
) -> Result<(Frontier, bool), Refusal> {
    let worker_pool = WorkerPool {
        network,
        limits,
        left: AtomicU64::new(limits.executions.saturating_sub(frontier.found.executions)),
        shared: Mutex::new(Shared::new(frontier)),
        ..WorkerPool::default()
    };
    // Before this there may have been as many as there are to be.
    if worker_pool.left.load(Ordering::Relaxed) > 0 {
        work(&worker_pool);
    }
    let shared = worker_pool.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(refusal) = shared.refusal {
        return Err(refusal);
    }
    let mut frontier = shared.frontier;
    frontier.judge();
    let is_over = shared.seen_enough || (!limits.all && !frontier.found.found.is_empty());
    Ok((frontier, shared.anew && !is_over))
}

/// What an onlooker is shown: the progress, now and then, and each execution with what is wrong with it.
enum Shown<'a> {
    Progress(&'a Progress),
    Execution(&'a Search, &'a [Violation]),
}

/// Who looks on, and stops the search by saying false.
type Onlooker<'a> = dyn FnMut(Shown<'_>) -> bool + 'a;

/// What the workers share.
#[derive(Default)]
struct WorkerPool {
    network: Network,
    limits: Limits,
    /// How many more executions there may be.
    left: AtomicU64,
    stop: AtomicBool,
    idle: AtomicUsize,
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// What a worker has counted and not told.
type Tally = simurgh_search::Progress;

#[derive(Default)]
struct Shared {
    frontier: Frontier,
    /// How much of the whole each part is, if all were alike, in the order of the parts.
    shares: Vec<f64>,
    /// How many parts are being worked on.
    active: usize,
    /// How much is behind.
    done: f64,
    /// How many steps the shortest execution has that shows a violation.
    lengths: BTreeMap<Violation, u64>,
    refusal: Option<Refusal>,
    /// How often somebody told what it has learned of who posts what.
    lessons: u64,
    /// Whether it has to begin anew, since choices were cut that should not have been.
    anew: bool,
    /// Whether a visitor wants no more.
    seen_enough: bool,
}

impl Shared {
    fn new(frontier: Frontier) -> Self {
        let share = 1.0 / frontier.parts.len().max(1) as f64;
        Self { shares: vec![share; frontier.parts.len()], frontier, ..Self::default() }
    }

    fn progress(&self, more: f64) -> Progress {
        let Frontier { found, depth, .. } = &self.frontier;
        Progress { executions: found.executions, depth: *depth, part: self.done + more }
    }

    fn take(&mut self) -> Option<(Path, f64)> {
        let path = self.frontier.parts.pop()?;
        self.active += 1;
        Some((path, self.shares.pop().unwrap_or(0.0)))
    }

    /// Adds what a search knows of who posts what; it began when this had been told so often.
    fn take_lessons(&mut self, search: &mut Search, lessons: u64) {
        if self.lessons == lessons {
            self.frontier.posters = std::mem::take(&mut search.posters);
        } else {
            self.anew |= self.frontier.posters.merge(&search.posters);
        }
        self.lessons += 1;
    }

    /// Something is wrong with an execution. The counterexample of the fewest steps is kept of each kind, of those the shortest, and
    /// of those the first in order: the same for any number of workers, whoever comes first.
    fn note(&mut self, violation: Violation, search: &Search) {
        let fewest = self.lengths.entry(violation.clone()).or_insert(u64::MAX);
        if search.steps > *fewest {
            return;
        }
        let is_fewer = search.steps < std::mem::replace(fewest, search.steps);
        let (violation, schedule) = search.schedule(violation);
        let found = &mut self.frontier.found.found;
        match found.iter_mut().find(|(known, _)| *known == violation) {
            Some((_, known)) if is_fewer || (known.len(), &*known) > (schedule.len(), &schedule) => {
                *known = schedule;
            }
            Some(_) => {}
            None => found.push((violation, schedule)),
        }
    }

    fn put(&mut self, parts: Vec<Path>, share: f64) {
        self.shares.extend(parts.iter().map(|_| share));
        self.frontier.parts.extend(parts);
    }
}

impl WorkerPool {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn work_together<P: Processes>(
        &self,
        make: &(dyn Fn() -> P + Sync),
        workers: usize,
        onlooker: &mut Onlooker<'_>,
    ) {
        let (left, panicked) = (AtomicUsize::new(workers), Mutex::new(None));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let work = || self.work(&mut make(), &mut |_: Shown<'_>| true);
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                        panicked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                        self.stop();
                    }
                    left.fetch_sub(1, Ordering::SeqCst);
                    self.changed.notify_all();
                });
            }
            // This thread only looks.
            while left.load(Ordering::SeqCst) > 0 {
                self.look(0.0, onlooker);
                let wait = self.changed.wait_timeout(self.shared(), Duration::from_millis(50));
                drop(wait.unwrap_or_else(PoisonError::into_inner));
            }
        });
        if let Some(panic) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// Somebody looks at how far all have come, with so much of the whole beside what is done.
    fn look(&self, more: f64, onlooker: &mut Onlooker<'_>) {
        let progress = self.shared().progress(more);
        if !onlooker(Shown::Progress(&progress)) {
            self.stop();
        }
    }

    /// Works on parts until there are none, or it is to stop.
    fn work(&self, code: &mut dyn Processes, onlooker: &mut Onlooker<'_>) {
        let mut shared = self.shared();
        while !self.is_stopped() && (shared.active > 0 || !shared.frontier.is_exhausted()) {
            if let Some(part) = shared.take() {
                drop(shared);
                self.work_on(part, code, onlooker);
                shared = self.shared();
            } else {
                self.idle.fetch_add(1, Ordering::Relaxed);
                shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
                self.idle.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.changed.notify_all();
    }

    /// Works on one part. What is left of it when it is to stop goes back.
    fn work_on(&self, (path, mut share): (Path, f64), code: &mut dyn Processes, onlooker: &mut Onlooker<'_>) {
        let mut search = Search::new(self.network, self.limits, path);
        let shared = self.shared();
        search.posters = shared.frontier.posters.clone();
        let lessons = shared.lessons;
        drop(shared);
        let mut runs: u64 = 0;
        let mut tally = Tally::default();
        loop {
            let run = search.run(code, &mut |search| {
                self.look(share * search.part(), onlooker);
                !self.is_stopped()
            });
            let interrupted = run == Ok(End::Interrupted);
            match run {
                Ok(end) => self.account(&mut search, end, &mut tally, onlooker),
                Err(refusal) => {
                    self.shared().refusal = Some(refusal);
                    self.stop();
                }
            }
            runs += 1;
            if runs.is_multiple_of(self.limits.stretch)
                || tally.executions >= self.left.load(Ordering::Relaxed)
            {
                self.add(&mut tally);
            }
            if search.learned {
                self.shared().anew = true;
                self.stop();
            }
            let more = interrupted || search.choose_next();
            if more && runs.is_multiple_of(self.limits.stretch) {
                if self.idle.load(Ordering::Relaxed) > 0 {
                    share = self.give_away(&mut search, share);
                }
                self.look(share * search.part(), onlooker);
            }
            if more && self.left.load(Ordering::Relaxed) == 0 {
                self.stop();
            }
            if more && !self.is_stopped() {
                continue;
            }
            self.add(&mut tally);
            let mut shared = self.shared();
            if more {
                let parts = search.rest();
                let share = share / parts.len() as f64;
                shared.put(parts, share);
            } else {
                shared.done += share;
            }
            shared.take_lessons(&mut search, lessons);
            if shared.anew {
                self.stop();
            }
            shared.active -= 1;
            drop(shared);
            return self.changed.notify_all();
        }
    }

    /// Adds what a worker has counted for itself: what all write for each execution would be a place where they wait.
    fn add(&self, tally: &mut Tally) {
        let Tally { executions, transitions, depth, .. } = std::mem::take(tally);
        let Frontier { found, depth: deepest, .. } = &mut self.shared().frontier;
        found.executions += executions;
        found.transitions += transitions;
        *deepest = (depth as u64).max(*deepest);
        self.left.store(self.limits.executions.saturating_sub(found.executions), Ordering::Relaxed);
    }

    fn account(&self, search: &mut Search, end: End, tally: &mut Tally, onlooker: &mut Onlooker<'_>) {
        if end == End::Interrupted {
            return;
        }
        tally.transitions += search.steps;
        tally.depth = tally.depth.max(search.steps as usize);
        match end {
            End::Nowhere | End::Interrupted => {}
            End::TooDeep => {
                let mut shared = self.shared();
                let found = &mut shared.frontier.found;
                found.cut += 1;
                found.cut_schedule.get_or_insert_with(|| search.line_so_far());
                if self.limits.stops_when_cut {
                    self.stop();
                }
            }
            End::Execution(mut wrong) => {
                tally.executions += 1;
                if !onlooker(Shown::Execution(search, &wrong)) {
                    self.shared().seen_enough = true;
                    self.stop();
                }
                if !self.limits.all && !wrong.is_empty() {
                    wrong.truncate(1);
                    self.stop();
                }
                wrong.into_iter().for_each(|violation| self.shared().note(violation, search));
            }
        }
    }

    /// Others have nothing to do: they get the largest part of what is left. Gives the share that remains.
    fn give_away(&self, search: &mut Search, share: f64) -> f64 {
        let parts = search.split();
        if parts.is_empty() {
            return share;
        }
        let share = share / (parts.len() + 1) as f64;
        self.shared().put(parts, share);
        self.changed.notify_all();
        share
    }
}
