//! Who runs code of a user, and since when.
//!
//! Whoever runs such code has a [`Pulse`], on which it notes what it is about to run: two or three plain stores. Somebody else has
//! a [`Lookout`], which looks now and then whether each pulse still moves. Between two steps of an actor it is one beat, so that code
//! that comes back again and again without doing anything that others can see is found too.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::place::Place;
use crate::untold;
use crate::user_code::Code;
use crate::value::Trait;

/// How long code of a program may run between two steps where nobody says.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How often somebody looks.
pub const EVERY: Duration = Duration::from_millis(50);

/// What the searchers of a program and those who look after them share.
#[derive(Clone, Debug, Default)]
pub struct Watchdog {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    runners: Mutex<Vec<Arc<Runner>>>,
    due: AtomicBool,
    on_exit: OnceLock<fn(Stuck)>,
}

thread_local! {
    /// Those who run code of programs on this thread.
    static RUN_HERE: RunHere = const { RunHere(RefCell::new(Vec::new())) };
}

struct RunHere(RefCell<Vec<RunnerHere>>);

/// What this thread runs, and who is told if the thread ends in the middle of it.
type RunnerHere = (Arc<Runner>, fn(Stuck));

impl Drop for RunHere {
    fn drop(&mut self) {
        // A thread that comes to its own end has let go of all its pulses before.
        let run = self.0.borrow();
        let in_use = |(runner, _): &&RunnerHere| !runner.over.load(Ordering::Relaxed);
        let is_running = |here: &&RunnerHere| !here.0.beat.load(Ordering::Relaxed).is_multiple_of(2);
        let mut searches = run.iter().filter(in_use);
        if let Some((runner, tell)) = searches.clone().find(is_running) {
            tell(runner.stuck(Duration::ZERO));
        } else if let Some((_, tell)) = searches.next() {
            tell(Stuck { whose: Whose::Value(None), place: None, seconds: 0.0 });
        }
    }
}

/// What one thread runs, for others to see.
#[derive(Default)]
struct Runner {
    /// Odd while code of the program runs; another number each time.
    beat: AtomicU64,
    /// Who it is, and the line or number that goes with it.
    who: AtomicU64,
    /// The file of the line, by its place among the known ones; from 1.
    file: AtomicU32,
    /// Whether a value of an actor panicked that was dropped between two executions.
    untold: AtomicBool,
    /// Whether its pulse is gone.
    over: AtomicBool,
    known: Mutex<Known>,
    /// The handler that runs, and what it is given.
    call: Mutex<Option<Call>>,
}

#[derive(Debug, Default)]
struct Known {
    actors: Vec<String>,
    invariants: Vec<String>,
    files: Vec<&'static str>,
    properties: Vec<String>,
}

/// Whose code it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// That of an actor of this name.
    Actor(String),
    /// That of an invariant of this name.
    Invariant(String),
    /// That which makes the program.
    Program,
    /// That of a handler.
    Handler {
        /// The number of the actor.
        actor: u32,
        /// Which handler, and what it is given.
        call: String,
    },
    /// That of a property, a boundary or a history, in words.
    Asked(String),
    /// That of a trait of a value, if it is known of which.
    Value(Option<Trait>),
}

/// Code that has not come back.
#[derive(Clone, PartialEq, Debug)]
pub struct Stuck {
    /// Whose.
    pub whose: Whose,
    /// The line that it went on from: that of the last request of an actor.
    pub place: Option<Place>,
    /// For how long.
    pub seconds: f64,
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whose::Actor(name) => f.write_str(name),
            Whose::Invariant(name) => write!(f, "invariant {name:?}"),
            Whose::Program => f.write_str("the function that makes the program"),
            Whose::Handler { actor, .. } => write!(f, "actor {actor}"),
            Whose::Asked(what) => f.write_str(what),
            Whose::Value(Some(of)) => write!(f, "the {of} of a value"),
            Whose::Value(None) => f.write_str("the `Drop`, `Clone` or `Debug` of a value"),
        }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whose, place, seconds } = self;
        match whose {
            Whose::Actor(_) => {
                let since =
                    place.map_or_else(|| "since its start".to_owned(), |place| format!("after {place}"));
                write!(f, "{whose} did not come back from its code for {seconds:.1} s, {since}")
            }
            Whose::Invariant(_) => write!(f, "{whose} did not come to an answer for {seconds:.1} s"),
            Whose::Handler { call, .. } => {
                write!(f, "{whose} did not come back from {call} for {seconds:.1} s")
            }
            Whose::Program | Whose::Asked(_) | Whose::Value(_) => {
                write!(f, "{whose} did not come back for {seconds:.1} s")
            }
        }
    }
}

const PROGRAM: u32 = u32::MAX;
const INVARIANT: u32 = u32::MAX - 1;
const HANDLER: u32 = u32::MAX - 2;
const CONDITION: u32 = u32::MAX - 3;
const BOUNDARY: u32 = u32::MAX - 4;
const HISTORY: u32 = u32::MAX - 5;
const VALUE: u32 = u32::MAX - 6;

/// So many characters are told of what a handler is given.
const CALL_CHARS: usize = 200;

/// A handler, and what it is given: shown by another thread, and hardly ever.
pub type Call = (&'static str, Box<dyn fmt::Debug + Send>);

/// What a handler is given, as a tuple.
pub fn given(arguments: impl fmt::Debug + Send + 'static) -> Box<dyn fmt::Debug + Send> {
    Box::new(arguments)
}

/// What runs, in a few words; what a user gives us to show may panic.
fn in_words(call: Option<&Call>) -> String {
    let shown = |(handler, given): &Call| {
        let text = format!("{handler}{given:?}");
        // A tuple of one.
        text.strip_suffix(",)").map_or(text.clone(), |text| format!("{text})"))
    };
    let text = call.and_then(|call| catch_unwind(AssertUnwindSafe(|| shown(call))).ok());
    let text = text.unwrap_or_else(|| "a handler".to_owned());
    match text.char_indices().nth(CALL_CHARS) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

impl Watchdog {
    /// For one who runs code of the program.
    pub fn pulse(&self) -> Pulse {
        let pulse = Pulse::default();
        lock(&self.shared.runners).push(Arc::clone(&pulse.runner));
        if let Some(tell) = self.shared.on_exit.get() {
            let _ = RUN_HERE.try_with(|run| {
                let mut run = run.0.borrow_mut();
                // Those of searches that are over are nobody's any more.
                run.retain(|(runner, _)| !runner.over.load(Ordering::Relaxed));
                run.push((Arc::clone(&pulse.runner), *tell));
            });
        }
        pulse
    }

    /// Calls this where the process is ended on a thread that has a pulse, by whatever code: that would otherwise be the end of the
    /// search without a word. For pulses that are taken later, on the thread that uses them; where the system runs the destructors of a
    /// thread that exits.
    pub fn on_exit(&self, tell: fn(Stuck)) {
        let _ = self.shared.on_exit.set(tell);
    }

    /// For one who looks after all who do.
    pub fn lookout(&self) -> Lookout {
        Lookout { watchdog: self.clone(), seen: Vec::new(), last: None }
    }

    /// Whether somebody has looked since the last call: then it is time to look at bounds too, however few steps were taken.
    pub fn is_due(&self) -> bool {
        self.shared.due.load(Ordering::Relaxed) && self.shared.due.swap(false, Ordering::Relaxed)
    }

    /// The name of an actor, as whoever ran it last knows it.
    pub fn actor_name(&self, actor: u32) -> Option<String> {
        let runners = lock(&self.shared.runners);
        runners.iter().rev().find_map(|runner| lock(&runner.known).actors.get(actor as usize).cloned())
    }

    /// Whether a value of an actor that was left at the end of an execution panicked when it was dropped.
    pub fn has_untold(&self) -> bool {
        lock(&self.shared.runners).iter().any(|runner| runner.untold.load(Ordering::Relaxed))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Someone who looks after all that run code of a program.
#[derive(Debug)]
pub struct Lookout {
    watchdog: Watchdog,
    /// The beat of each, and for how long it has been seen so.
    seen: Vec<(u64, Duration)>,
    last: Option<Instant>,
}

impl Lookout {
    /// Looks, to be called every [`EVERY`] or so: the code that has run longest, if that is longer than it may.
    #[expect(clippy::disallowed_methods, reason = "that code does not come back is known by the clock alone")]
    pub fn look(&mut self, patience: Duration) -> Option<Stuck> {
        let now = Instant::now();
        // Time in which nobody looked does not count much: the whole process may have been halted.
        let since = self.last.replace(now).map_or(Duration::ZERO, |last| (now - last).min(EVERY * 4));
        self.watchdog.shared.due.store(true, Ordering::Relaxed);
        let runners = lock(&self.watchdog.shared.runners);
        self.seen.resize(runners.len(), (0, Duration::ZERO));
        let mut longest: Option<(Duration, &Runner)> = None;
        for (runner, (beat, span)) in runners.iter().zip(&mut self.seen) {
            let present = runner.beat.load(Ordering::Acquire);
            *span = if present == *beat { *span + since } else { Duration::ZERO };
            *beat = present;
            if !present.is_multiple_of(2)
                && *span >= patience
                && longest.is_none_or(|(other, _)| *span > other)
            {
                longest = Some((*span, runner));
            }
        }
        longest.map(|(span, runner)| runner.stuck(span))
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("beat", &self.beat).finish_non_exhaustive()
    }
}

impl Runner {
    fn stuck(&self, span: Duration) -> Stuck {
        let who = self.who.load(Ordering::Relaxed);
        let (who, number) = ((who >> 32) as u32, who as u32);
        let file = self.file.load(Ordering::Relaxed);
        let known = lock(&self.known);
        let file = known.files.get((file as usize).wrapping_sub(1)).copied();
        let name = |names: &[String], number: u32| match names.get(number as usize) {
            Some(name) => name.clone(),
            None => format!("number {number}"),
        };
        let (whose, place) = match who {
            PROGRAM => (Whose::Program, None),
            INVARIANT => (Whose::Invariant(name(&known.invariants, number)), None),
            HANDLER => {
                let call = in_words(lock(&self.call).as_ref());
                (Whose::Handler { actor: number, call }, None)
            }
            CONDITION => {
                let name = name(&known.properties, number);
                (Whose::Asked(Code::Condition(0).in_words(|_| &name)), None)
            }
            BOUNDARY => (Whose::Asked(Code::Boundary.in_words(|_| "")), None),
            HISTORY => (Whose::Asked(Code::History.in_words(|_| "")), None),
            VALUE => (Whose::Value(Trait::of_number(number)), None),
            actor => {
                let place = file.map(|file| Place { file, line: number });
                (Whose::Actor(name(&known.actors, actor)), place)
            }
        };
        Stuck { whose, place, seconds: span.as_secs_f64() }
    }
}

/// On this, whoever runs code of a program notes what it runs. It beats for nobody if it comes from no [`Watchdog`].
#[derive(Debug, Default)]
pub struct Pulse {
    runner: Arc<Runner>,
    beat: u64,
    /// What the runner knows, to see without a lock what is new.
    actors: Vec<String>,
    files: Vec<&'static str>,
}

impl Pulse {
    /// An actor of this number has this name.
    pub fn knows(&mut self, actor: usize, name: &str) {
        if self.actors.get(actor).is_some_and(|known| known == name) {
            return;
        }
        if self.actors.len() <= actor {
            self.actors.resize(actor + 1, String::new());
        }
        self.actors[actor] = name.to_owned();
        lock(&self.runner.known).actors.clone_from(&self.actors);
    }

    /// The name of an actor.
    pub fn actor_name(&self, actor: u32) -> Option<&str> {
        self.actors.get(actor as usize).map(String::as_str)
    }

    /// The invariants have these names.
    pub fn knows_invariants<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        lock(&self.runner.known).invariants = names.map(str::to_owned).collect();
    }

    /// The code of an actor runs next, from this line on. Until it [`rests`](Self::rests) that is one beat.
    #[inline]
    pub fn runs(&mut self, actor: u32, place: Option<Place>) {
        let (file, line) = place.map_or((0, 0), |place| (self.file(place.file), place.line));
        self.runner.file.store(file, Ordering::Relaxed);
        self.beats(actor, line);
    }

    /// An invariant is judged next.
    pub fn judges(&mut self, invariant: usize) {
        self.beats(INVARIANT, invariant as u32);
    }

    /// The program is made next, and what was left of it before is gone.
    pub fn makes(&mut self) {
        self.listens();
        self.beats(PROGRAM, 0);
    }

    /// The code of a trait of a value may run next, if it is known of which.
    #[inline]
    pub fn treats(&mut self, of: Option<Trait>) {
        self.beats(VALUE, of.map_or(0, Trait::number));
    }

    /// The properties have these names.
    pub(crate) fn knows_properties(&mut self, names: Vec<String>) {
        lock(&self.runner.known).properties = names;
    }

    /// A condition, a boundary or a history is asked next.
    #[inline]
    pub(crate) fn asks(&mut self, code: Code) {
        match code {
            Code::Boundary => self.beats(BOUNDARY, 0),
            Code::History => self.beats(HISTORY, 0),
            Code::Condition(property) => self.beats(CONDITION, property as u32),
        }
    }

    /// A handler of an actor runs next.
    #[inline]
    pub(crate) fn handles(&mut self, actor: u32, call: Option<Call>) {
        *lock(&self.runner.call) = call;
        self.beats(HANDLER, actor);
    }

    /// What runs now.
    pub(crate) fn runs_now(&self) -> Option<Stuck> {
        (!self.beat.is_multiple_of(2)).then(|| self.runner.stuck(Duration::ZERO))
    }

    fn listens(&self) {
        if untold::take().is_some() {
            self.runner.untold.store(true, Ordering::Relaxed);
        }
    }

    #[inline]
    fn beats(&mut self, who: u32, number: u32) {
        self.runner.who.store(u64::from(who) << 32 | u64::from(number), Ordering::Relaxed);
        if self.beat.is_multiple_of(2) {
            self.beat += 1;
            self.runner.beat.store(self.beat, Ordering::Release);
        }
    }

    /// The code has come back.
    #[inline]
    pub fn rests(&mut self) {
        if !self.beat.is_multiple_of(2) {
            self.beat += 1;
            self.runner.beat.store(self.beat, Ordering::Release);
        }
    }

    /// The number of a file, from 1.
    #[inline]
    fn file(&mut self, file: &'static str) -> u32 {
        // The same text lies at the same place, almost always.
        match self.files.iter().position(|known| std::ptr::eq(*known, file)) {
            Some(index) => index as u32 + 1,
            None => self.new_file(file),
        }
    }

    #[cold]
    fn new_file(&mut self, file: &'static str) -> u32 {
        self.files.push(file);
        lock(&self.runner.known).files.push(file);
        self.files.len() as u32
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.listens();
        self.rests();
        self.runner.over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks until somebody is stuck.
    fn find(watchdog: &Watchdog, patience: Duration) -> Stuck {
        let mut lookout = watchdog.lookout();
        loop {
            if let Some(stuck) = lookout.look(patience) {
                return stuck;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn who_does_not_come_back_is_told() {
        const PATIENCE: Duration = Duration::from_millis(30);
        let watchdog = Watchdog::default();
        let (mut idle, mut busy) = (watchdog.pulse(), watchdog.pulse());
        idle.runs(0, None);
        idle.rests();
        busy.knows(1, "loop");
        busy.knows_invariants(["a", "b"].into_iter());
        let place = Place { file: file!(), line: 7 };
        busy.runs(1, Some(place));
        let stuck = find(&watchdog, PATIENCE);
        assert_eq!((&stuck.whose, stuck.place), (&Whose::Actor("loop".to_owned()), Some(place)));
        assert!(stuck.to_string().starts_with("loop did not come back from its code for 0."), "{stuck}");
        busy.rests();
        busy.judges(1);
        assert_eq!(find(&watchdog, PATIENCE).whose, Whose::Invariant("b".to_owned()));
        busy.rests();
        busy.makes();
        assert_eq!(find(&watchdog, PATIENCE).whose, Whose::Program);
        drop(busy);
        assert_eq!(watchdog.lookout().look(Duration::ZERO), None);
        assert!(watchdog.is_due() && !watchdog.is_due());
    }

    #[test]
    fn a_handler_is_told_with_what_it_is_given() {
        let mut pulse = Watchdog::default().pulse();
        let mut told = |handler, given| {
            pulse.handles(3, Some((handler, given)));
            let stuck = pulse.runs_now().expect("it runs");
            pulse.rests();
            stuck.to_string()
        };
        let text = |call: &str| format!("actor 3 did not come back from {call} for 0.0 s");
        assert_eq!(told("on_start", given(())), text("on_start()"));
        assert_eq!(told("on_timeout", given(("retry",))), text("on_timeout(\"retry\")"));
        assert_eq!(told("on_msg", given((1, Some(2)))), text("on_msg(1, Some(2))"));
        assert_eq!(
            told("on_msg", given((1, "é".repeat(1000)))),
            text(&format!("on_msg(1, \"{}...", "é".repeat(189)))
        );
        assert_eq!(told("on_msg", given((1, Shy))), text("a handler"));
        assert_eq!(pulse.runs_now(), None);
    }

    /// Cannot be shown.
    struct Shy;

    impl fmt::Debug for Shy {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("not me")
        }
    }
}
