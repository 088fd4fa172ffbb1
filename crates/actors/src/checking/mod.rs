//! Checking: every order in which the messages of a program can be received, from a test.
//!
//! [`simurgh::check`](fn@crate::check) takes what `simurgh::main` takes, and tries all orders of it.
//! The command `my_program check` does no more than to make a [`Check`] of its arguments and to print the [`CheckReport`].
//!
//! - [`Check`]: what is to be checked, with which engine, within which bounds.
//! - [`CheckReport`], [`Counterexample`]: what came of it, and what a test can assert.
//! - `subject`: the program, which is made again and again.
//! - `exploring`, `demands`: which engine explores it.
//! - `watch`: who looks at a long search, and why it is stopped.
//! - `kept`: a search in a file, to go on with.
//! - `counterexample`, `cut`: what was found, replayed, made shorter and told.
//! - `schedule`: the file of a counterexample.
//! - `silence`: panics of actors are findings, and print nothing.
//! - `spelling`: what options are called.
//!
//! ```
//! use simurgh::Verdict;
//! use simurgh::prelude::*;
//!
//! // Whoever comes first gets the seat, and the other one waits for ever.
//! fn app(program: &mut Program) -> simurgh::Result {
//!     program.spawn("usher", "node-0", |ctx: Ctx| async move { ctx.mailbox::<()>("seat").recv().await })?;
//!     for name in ["ann", "bob"] {
//!         program.spawn(name, "node-1", |ctx: Ctx| async move { ctx.mailbox("seat").send((), 1.0).await })?;
//!     }
//!     Ok(())
//! }
//!
//! let report = simurgh::check(app).all().run();
//! assert_eq!(report.verdict, Verdict::Deadlock);
//! let mut found: Vec<_> = report.counterexamples.iter().map(|found| found.what.as_str()).collect();
//! found.sort();
//! assert_eq!(found, ["deadlock: ann waits for ever", "deadlock: bob waits for ever"]);
//! ```

pub(crate) mod counterexample;
mod cut;
mod demands;
mod exploring;
mod kept;
mod report;
pub(crate) mod schedule;
pub(crate) mod silence;
mod spelling;
pub(crate) mod subject;
pub(crate) mod watch;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use simurgh_explore::determinism::Compared;
pub use simurgh_explore::{Engine, Network, Step, Violation};
use simurgh_explore::{Exploration, Faults, Finding};
use simurgh_kernel::watchdog::{Watchdog, ended_the_process};
use simurgh_platform::Platform;
pub use simurgh_trace::counterexample::told;

use crate::error::{Error, Result};
use crate::program::Program;
use crate::scenario::{Scenario, play};

pub use counterexample::Counterexample;
use counterexample::DEADLOCK;
pub use cut::Cut;
pub use kept::Left;
pub use report::{CheckReport, Verdict};
pub(crate) use silence::{calling, making, pass_on, silently};
pub(crate) use spelling::Spelling;
use subject::Fill;
pub(crate) use subject::{Origin, Subject};
pub(crate) use watch::{Listener, Stopwatch};
use watch::{Listeners, Sentinel};

/// So many seconds what was found is shortened after a search was stopped.
const AFTER_STOP: f64 = 1.0;
pub use watch::{Progress, Stopped};

/// A check that is about to begin: what is checked, and how.
///
/// Its methods are called as the options of the command are: `my_program check --network pairwise --time 60` is
///
/// ```
/// # use simurgh::prelude::*;
/// # use simurgh::Network;
/// # use std::time::Duration;
/// # fn app(program: &mut Program) -> simurgh::Result { Ok(()) }
/// simurgh::check(app).network(Network::Pairwise).time(Duration::from_secs(60)).assert_holds();
/// ```
#[must_use = "nothing is checked before `run`, `assert_holds`, `assert_violated`, `assert_deadlock` or `replay`"]
pub struct Check<'a> {
    fill: Fill<'a>,
    on: On,
    origin: Option<Origin>,
    options: Options,
    listeners: Listeners<'a>,
    watchdog: Watchdog,
}

/// Where the hosts are.
enum On {
    Builtin,
    OfScenario(Box<Scenario>),
    Given(Arc<Platform>),
}

/// How a program is checked.
#[derive(Clone, Debug)]
struct Options {
    engine: Engine,
    network: Network,
    faults: Faults,
    all: bool,
    executions: Option<u64>,
    depth: Option<u64>,
    time: Option<Duration>,
    memory: Option<u64>,
    stuck_after: Option<Duration>,
    workers: usize,
    deterministic: Option<Compared>,
    seed: u64,
    resume: Option<PathBuf>,
    /// Whether a kept search stays where it is when nothing is left of it.
    keeps_finished: bool,
    /// Files that are part of what is checked.
    made_of: Vec<PathBuf>,
    /// Whether one worker explores all, so that what it has seen may decide what it explores.
    in_turn: bool,
    /// How many steps an execution is known to have.
    length: u64,
    spelling: Spelling,
}

/// Every order in which the messages of a program can be received: takes what `simurgh::main` takes, a function that
/// adds the actors.
///
/// ```
/// use simurgh::prelude::*;
///
/// fn app(program: &mut Program) -> simurgh::Result {
///     program.spawn("judge", "node-0", |ctx: Ctx| async move {
///         let first = ctx.mailbox::<&str>("line").recv().await?;
///         simurgh::check!(first == "hare", "the {first} was first");
///         ctx.mailbox::<&str>("line").recv().await.map(drop)
///     })?;
///     for name in ["hare", "tortoise"] {
///         program.spawn(name, "node-1", move |ctx: Ctx| async move { ctx.mailbox("line").send(name, 1.0).await })?;
///     }
///     Ok(())
/// }
///
/// // In a test: with a message that shows how, if it does not hold.
/// let found = simurgh::check(app).assert_violated();
/// assert!(found.what.ends_with("the tortoise was first"), "{found}");
/// ```
pub fn check<'a>(app: impl Fn(&mut Program) -> Result + Sync + 'a) -> Check<'a> {
    let options = Options {
        engine: Engine::Receives,
        network: Network::default(),
        faults: Faults::default(),
        all: false,
        executions: None,
        depth: None,
        time: None,
        memory: None,
        stuck_after: None,
        workers: 1,
        deterministic: None,
        seed: 0,
        resume: None,
        keeps_finished: false,
        made_of: Vec::new(),
        in_turn: false,
        length: 0,
        spelling: Spelling::default(),
    };
    let (listeners, watchdog) = (Listeners::default(), Watchdog::default());
    watchdog.on_exit(ended_the_process);
    Check { fill: Box::new(app), on: On::Builtin, origin: None, options, listeners, watchdog }
}

impl Scenario {
    /// Every order in which the messages of this scenario can be received, as [`simurgh::check`](fn@crate::check) does it for
    /// programs.
    ///
    /// ```
    /// # use simurgh::Scenario;
    /// # use std::path::Path;
    /// let text = "[[actor]]\ndo = [\"recv box\"]\n[[actor]]\ndo = [\"send box 1e6\"]\n";
    /// Scenario::parse(text, "pair.toml", Path::new("."))?.check().assert_holds();
    /// # Ok::<(), simurgh::Error>(())
    /// ```
    pub fn check(&self) -> Check<'static> {
        let scenario = self.clone();
        let on = On::OfScenario(Box::new(self.clone()));
        let origin = Some(Origin::scenario(&scenario.name));
        Check { on, origin, ..check(move |program| play::fill(program, &scenario, None)) }
    }
}

impl<'a> Check<'a> {
    /// How the orders are explored; [`Engine::Receives`] if not said. Where that engine is not sound and complete for what is asked (invariants,
    /// determinism, loss), [`Engine::Optimal`] explores instead, and the report says why.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.options.engine = engine;
        self
    }

    /// What may arrive before what; [`Network::Mailbox`] if not said.
    pub fn network(mut self, network: Network) -> Self {
        self.options.network = network;
        self
    }

    /// Lets at most so many messages of an execution be lost, with [`Network::Unordered`].
    pub fn losses(mut self, messages: u32) -> Self {
        self.options.faults.losses = messages;
        self
    }

    /// Lets at most so many messages of an execution arrive twice, with [`Network::Unordered`].
    pub fn duplications(mut self, messages: u32) -> Self {
        self.options.faults.duplications = messages;
        self
    }

    /// Compares what each actor sends, or receives, in all executions: if they differ, it is violated.
    pub fn deterministic(mut self, compared: Compared) -> Self {
        self.options.deterministic = Some(compared);
        self
    }

    /// Goes on after a violation, and collects one of each kind.
    pub fn all(mut self) -> Self {
        self.options.all = true;
        self
    }

    /// Ends the search after so many executions. Random walks make 10,000 if nothing is said.
    pub fn executions(mut self, executions: u64) -> Self {
        self.options.executions = Some(executions);
        self
    }

    /// Cuts executions after so many steps, and goes on with the others. If nothing is said, the search stops at the first of more
    /// than 20,000, which is taken for endless.
    pub fn depth(mut self, steps: u64) -> Self {
        self.options.depth = Some(steps);
        self
    }

    /// Ends the search after so long.
    pub fn time(mut self, time: Duration) -> Self {
        self.options.time = Some(time);
        self
    }

    /// Ends the search when the process has so many megabytes of memory, where the system tells. Tests that run at the same time
    /// are the same process.
    pub fn memory(mut self, megabytes: u64) -> Self {
        self.options.memory = Some(megabytes);
        self
    }

    /// Ends the process, with exit code 3 and on standard error whose code it is, when an actor, an invariant, the making of the program
    /// or the `Drop`, `Clone` or `Debug` of a value has not come back for so long: it cannot be stopped otherwise, since it borrows from
    /// its caller. If nothing is said, it is told after ten seconds, and the check goes on waiting.
    pub fn stuck_after(mut self, patience: Duration) -> Self {
        self.options.stuck_after = Some(patience);
        self
    }

    /// Lets [`Engine::Receives`] explore on so many cores, or on all there are if it is 0. What it finds is the same for any number, and
    /// so are its counterexamples. Where another engine explores instead of it, and where [`executions`](Self::executions) bounds the
    /// search, one core does.
    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = workers;
        self
    }

    /// The seed of random walks.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Goes on with the search that is kept in this file, if there is one, and keeps there what is left when it stops early.
    pub fn resume(mut self, file: impl AsRef<Path>) -> Self {
        self.options.resume = Some(file.as_ref().to_owned());
        self
    }

    /// What is left of a search is kept even if that is nothing: whoever goes on with it finds what it came to.
    pub(crate) fn keep_finished(mut self) -> Self {
        self.options.keeps_finished = true;
        self
    }

    /// One worker explores all.
    pub(crate) fn in_turn(mut self) -> Self {
        self.options.in_turn = true;
        self
    }

    /// An execution is known to come to its end after so many steps: others may be somewhat longer.
    pub(crate) fn with_length(mut self, steps: u64) -> Self {
        self.options.length = steps;
        self
    }

    /// A search that was kept is of a program with this file as it was: an executable, say.
    pub(crate) fn made_of(mut self, file: &Path) -> Self {
        self.options.made_of.push(file.to_owned());
        self
    }

    /// The platform, for its hosts; the built-in one if not said, or that of a scenario.
    pub fn platform(mut self, platform: impl Into<Arc<Platform>>) -> Self {
        self.on = On::Given(platform.into());
        self
    }

    /// Which program this is, and the arguments with which its command would check the same, such as `["check", "--bug"]`: for
    /// [`Counterexample::save`], so that `replay` can make it again.
    pub fn program<W: Into<String>>(
        self,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = W>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        self.of(Origin::Program { name: name.into(), arguments })
    }

    /// Tells from time to time how far the search is.
    pub fn progress(mut self, listener: impl FnMut(&Progress) + 'a) -> Self {
        self.listeners.progress = Some(Box::new(listener));
        self
    }

    /// Asks from time to time whether to end the search: for a clock, or for an interrupt.
    pub fn stop_when(mut self, stop: impl FnMut(&Progress) -> bool + 'a) -> Self {
        self.listeners.stop_when = Some(Box::new(stop));
        self
    }

    /// Tells at once what the report says later: that another engine explores, or that some messages cannot be copied.
    pub fn on_note(mut self, listener: impl FnMut(&str) + 'a) -> Self {
        self.listeners.note = Some(Box::new(listener));
        self
    }

    /// Where it comes from, as far as that was said.
    pub(crate) fn origin(&self) -> Origin {
        self.origin.clone().unwrap_or_else(Origin::this_program)
    }

    /// Where it comes from.
    pub(crate) fn of(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// What its options are called where they were given.
    pub(crate) fn spelled(mut self, spelling: Spelling) -> Self {
        self.options.spelling = spelling;
        self
    }
}

impl<'a> Check<'a> {
    /// Does it. Nothing is printed, whatever is found, unless code of the program does not come back for ten seconds: then
    /// standard error says whose ([`stuck_after`](Self::stuck_after) ends the process).
    #[must_use = "the report says what was found; `assert_holds` asserts that it is nothing"]
    pub fn run(self) -> CheckReport {
        let engine = self.options.engine;
        let _sentinel = Sentinel::start(&self.watchdog, self.options.stuck_after);
        self.explore().map_or_else(|error| CheckReport::cannot_run(engine, error), |(report, _)| report)
    }

    /// For tests: does it, and asserts that all orders were tried and nothing goes wrong in any of them. Gives the report.
    ///
    /// # Panics
    /// If something goes wrong, or that is not known; with all counterexamples.
    #[track_caller]
    pub fn assert_holds(self) -> CheckReport {
        let report = self.run();
        report.assert_holds();
        report
    }

    /// For tests: does it, and asserts that an actor fails, an invariant does not hold, or actors do not communicate as they do
    /// in another order. Gives the counterexample.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn assert_violated(self) -> Counterexample {
        self.run().assert_violated().clone()
    }

    /// For tests: does it, and asserts that actors wait for ever. Gives the counterexample.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn assert_deadlock(self) -> Counterexample {
        self.run().assert_deadlock().clone()
    }

    /// Executes one schedule, as [`Counterexample::steps`] and a test that fails give it, in place of all that there are.
    ///
    /// The verdict is that of what goes wrong. If nothing does, it is [`NotExhausted`](Verdict::NotExhausted), as this is
    /// one order of many; if a step is not possible any more, it cannot run.
    #[must_use = "the report says what happened"]
    pub fn replay(self, schedule: &str) -> CheckReport {
        let engine = self.options.engine;
        let _sentinel = Sentinel::start(&self.watchdog, self.options.stuck_after);
        self.follow(schedule).unwrap_or_else(|error| CheckReport::cannot_run(engine, error))
    }

    fn follow(self, schedule: &str) -> Result<CheckReport> {
        let Options { network, engine, .. } = self.options;
        let words = schedule.split_whitespace();
        let is_deadlock = words.clone().last() == Some(DEADLOCK);
        let steps: Vec<Step> = words
            .filter(|word| *word != DEADLOCK)
            .map(str::parse)
            .collect::<Result<_, String>>()
            .map_err(Error::input)?;
        let subject = self.subject()?;
        let found = silently(|| counterexample::followed(&subject, network, engine, &steps, is_deadlock))?;
        let found = found.map_err(Error::input)?;
        let verdict =
            found.as_ref().map_or(simurgh_explore::Verdict::NotExhausted, |found| found.violation.verdict());
        Ok(CheckReport {
            executions: 1,
            transitions: steps.len() as u64,
            counterexamples: found.into_iter().collect(),
            ..CheckReport::empty(verdict, engine)
        })
    }

    /// Does it, and gives what was checked as well.
    ///
    /// # Errors
    /// If it cannot be checked.
    pub(crate) fn explore(mut self) -> Result<(CheckReport, Subject<'a>)> {
        self.options.check()?;
        let mut listeners = std::mem::take(&mut self.listeners);
        let options = self.options.clone();
        let subject = self.subject()?;
        let watch = Stopwatch::start();
        let explored = silently(|| exploring::explore(&subject, &options, &mut listeners))??;
        let exploring::Explored { found, exhausted, stopped, left, engine, refined, notes } = explored;
        if let Some(divergence) = &found.divergence {
            return Err(Error::input(divergence.to_string()));
        }
        let seconds = watch.seconds();
        // Whoever shows how far it is clears that away; who stops it may be asked still.
        let stop = RefCell::new(listeners.stop_when.take());
        drop(listeners);
        // A search that was stopped is over soon, whatever it has found.
        let (until, is_over) = match &stopped {
            Some(Stopped::Time(_) | Stopped::Memory(_)) => (Some(seconds + AFTER_STOP), false),
            Some(Stopped::Asked) => (Some(seconds + AFTER_STOP), true),
            _ => (options.time.map(|time| time.as_secs_f64() + AFTER_STOP), false),
        };
        let progress = Progress { executions: found.executions, depth: 0, part: None, seconds };
        let is_asked = || match &mut *stop.borrow_mut() {
            Some(stop) if !is_over => calling(|| stop(&progress)).unwrap_or(true),
            _ => false,
        };
        let is_enough = |more: f64| until.is_some_and(|until| watch.seconds() > until + more) || is_asked();
        let (counterexamples, cut) = silently(|| {
            let found: &Exploration = &found;
            let told =
                counterexample::counterexamples(&subject, options.network, engine, &found.found, &is_enough);
            (told, Cut::of(&subject, options.network, found))
        })?;
        let report = CheckReport {
            executions: found.executions,
            transitions: found.transitions,
            seconds,
            refined,
            counterexamples,
            cut,
            exhausted,
            stopped,
            left,
            notes,
            ..CheckReport::empty(found.verdict, engine)
        };
        Ok((report, subject))
    }

    /// Who looks whether the code of the program comes back.
    pub(crate) fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// What is checked.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn subject(self) -> Result<Subject<'a>> {
        let platform = match self.on {
            On::Builtin => Arc::new(Platform::builtin()),
            On::OfScenario(scenario) => Arc::new(scenario.read_platform()?),
            On::Given(platform) => platform,
        };
        let origin = self.origin.unwrap_or_else(Origin::this_program);
        Subject::new(platform, origin, self.watchdog, self.fill)
    }
}

impl Options {
    /// Whether what is asked for goes together.
    fn check(&self) -> Result {
        if self.executions == Some(0) {
            let option = self.spelling.of("--executions", "`executions`");
            return Err(Error::input(format!("{option}: 1 or more are expected, or nothing to bound them")));
        }
        if self.faults.is_none() || self.network == Network::Unordered {
            return Ok(());
        }
        let option = match self.faults.losses {
            0 => self.spelling.of("--duplication", "`duplications`"),
            _ => self.spelling.of("--loss", "`losses`"),
        };
        Err(Error::input(format!(
            "{option}: the network {} delivers each message once; add {}",
            self.network,
            self.spelling.of("--network unordered", "`network(Network::Unordered)`")
        )))
    }
}

impl std::fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check")
            .field("origin", &self.origin)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
