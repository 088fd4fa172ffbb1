//! The command line `NAME watch FILE`: where a running system is, and what may happen to it next (online checking).
//!
//! Every few seconds a snapshot is taken, and local search goes on from there for as long as the budget allows. What it
//! finds has not happened yet: it is told with the live state that it begins in, and with a schedule from there. The
//! search runs in this process, away from the nodes. Since there is little time, it begins with what takes few local
//! events (section 4.2 of the paper): first the timers of one node alone may go off, then of two, then of all.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use simurgh_files::shown;
use simurgh_protocol::{
    Actor, ActorId, Durable, Finding, Mode, Outcome, Report, Schedule, Snapshot, System, Verdict,
};

use crate::deployment::Deployment;
use crate::error::Error;
use crate::observer::{Observable, Observer};
use crate::run::Run;

/// What follows `watch` on the command line; a program has it as one of its commands.
#[derive(Clone, Debug, clap::Args)]
pub struct WatchArguments {
    /// The deployment file of the system that runs
    #[arg(required_unless_present = "simulate", conflicts_with = "simulate")]
    pub file: Option<PathBuf>,
    /// Watches a run in a simulated network, in place of a deployment; seconds are those of the run then
    #[arg(long)]
    pub simulate: bool,
    /// Which part of the messages the simulated network loses, from 0 to 1
    #[arg(long, default_value_t = 0.0, requires = "simulate", value_parser = part)]
    pub loss: f64,
    /// Which of the runs is simulated
    #[arg(long, default_value_t = 1, requires = "simulate")]
    pub seed: u64,
    /// Seconds from one snapshot to the next
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS", value_parser = pause)]
    pub every: f64,
    /// Seconds that the search from each snapshot may take
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds)]
    pub budget: f64,
    /// Stops after so many seconds; otherwise when something was found, or on Ctrl-C
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// One JSON object a line, for machines
    #[arg(long)]
    pub json: bool,
}

/// A part of a whole, on the command line.
pub(crate) fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0 to 1 is expected, such as 0.3".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds is expected, such as 2 or 0.5".into())
}

/// Without any time in between, nothing would happen from one snapshot to the next.
fn pause(text: &str) -> Result<f64, String> {
    let pause = seconds(text)?;
    if pause >= 0.01 { Ok(pause) } else { Err("at least 0.01 seconds are expected".into()) }
}

/// Something that runs and is looked at.
trait Watched<A: Actor> {
    /// Waits until so long after the beginning, and takes a snapshot.
    fn at(&mut self, since_begin: Duration) -> Result<Snapshot<A>, Error>;
}

impl<A: Actor> Watched<A> for Run<A> {
    fn at(&mut self, since_begin: Duration) -> Result<Snapshot<A>, Error> {
        self.advance(since_begin);
        Ok(self.live())
    }
}

struct Deployed {
    observer: Observer,
    begin: Instant,
}

impl<A: Observable> Watched<A> for Deployed {
    fn at(&mut self, since_begin: Duration) -> Result<Snapshot<A>, Error> {
        std::thread::sleep(since_begin.saturating_sub(self.begin.elapsed()));
        self.observer.snapshot()
    }
}

impl WatchArguments {
    /// Watches actors, which are given by `actors`: those that run if they are simulated, and those that stand for them in
    /// what is looked at from a snapshot (`Stage` tells which). `properties` adds what is to hold of them.
    ///
    /// If `properties` lets them crash, they start anew: nodes that run as [`Node::durable`](crate::Node::durable) are watched by
    /// [`WatchArguments::run_durable`].
    ///
    /// Exit code 0 if nothing was found in the time given, 1 if something was, 2 if it cannot run.
    pub fn run<A: Observable>(
        &self,
        actors: impl Fn(Stage) -> Vec<A>,
        properties: impl Fn(System<A::Msg>) -> System<A::Msg>,
    ) -> ExitCode {
        self.run_resumed(actors, properties, System::from_live)
    }

    /// The same for actors with disks: after a crash, they go on from what is stored.
    pub fn run_durable<A: Observable + Durable>(
        &self,
        actors: impl Fn(Stage) -> Vec<A>,
        properties: impl Fn(System<A::Msg>) -> System<A::Msg>,
    ) -> ExitCode {
        self.run_resumed(actors, properties, System::from_live_durable)
    }

    fn run_resumed<A: Observable>(
        &self,
        actors: impl Fn(Stage) -> Vec<A>,
        properties: impl Fn(System<A::Msg>) -> System<A::Msg>,
        resume: impl Fn(Vec<A>, Snapshot<A>) -> System<A::Msg>,
    ) -> ExitCode {
        let checked = |live: Snapshot<A>| properties(resume(actors(Stage::Checked), live));
        let watched: Result<Box<dyn Watched<A>>, Error> = match &self.file {
            None => Ok(Box::new(Run::new(actors(Stage::Running), self.seed).loss(self.loss))),
            Some(file) => deployed(file, actors(Stage::Checked).len()),
        };
        match watched.and_then(|mut watched| self.watch(watched.as_mut(), checked)) {
            Ok(false) => ExitCode::SUCCESS,
            Ok(true) => ExitCode::from(1),
            Err(error) => {
                eprintln!("error: {}", shown(&error.to_string()));
                ExitCode::from(2)
            }
        }
    }

    /// Round after round; whether something was found.
    fn watch<A: Actor>(
        &self,
        watched: &mut dyn Watched<A>,
        checked: impl Fn(Snapshot<A>) -> System<A::Msg>,
    ) -> Result<bool, Error> {
        let limit = self.seconds.map(Duration::from_secs_f64);
        let (begin, every) = (now(), Duration::from_secs_f64(self.every));
        let mut answered = false;
        let mut due = every;
        while limit.is_none_or(|limit| due <= limit) {
            let live = match watched.at(due) {
                Ok(live) => live,
                // A node may be down for a while; but one that was never there, or cannot be observed, is a mistake.
                Err(error) if answered => {
                    self.tell_missed(due, &error);
                    due += every;
                    continue;
                }
                Err(error) => return Err(error),
            };
            answered = true;
            let round = predict(&live, &checked, Duration::from_secs_f64(self.budget))?;
            self.tell_round(due, &live, &round);
            if let Some((name, schedule)) = &round.prediction {
                self.tell_prediction(due, &checked(live.clone()), &live, name, schedule);
                return Ok(true);
            }
            // What took longer than it should is not made up for.
            due += every;
            if !self.simulate {
                due = due.max(begin.elapsed());
            }
        }
        Ok(false)
    }

    fn tell_missed(&self, at: Duration, error: &Error) {
        let at = at.as_secs_f64();
        if self.json {
            println!("{}", json!({ "at": at, "consistent": false, "why": error.to_string() }));
        } else {
            println!("{at:7.1} s  no snapshot: {error}");
        }
    }

    fn tell_round<A: Actor>(&self, at: Duration, live: &Snapshot<A>, round: &Round) {
        let (at, took) = (at.as_secs_f64(), round.took.as_secs_f64());
        let (nodes, flying) = (live.nodes.len(), live.in_flight.len());
        let Round { states, transitions, verdict, prediction, .. } = round;
        let word = match verdict {
            _ if prediction.is_some() => "something is going to be wrong",
            Verdict::NotExhausted => "nothing found within the budget",
            _ => "nothing can go wrong from here",
        };
        if !self.json {
            let messages = if flying == 1 { "message" } else { "messages" };
            println!(
                "{at:7.1} s  consistent snapshot of {nodes} nodes, {flying} {messages} in flight; {states} local states in {:.0} ms: {word}",
                took * 1e3
            );
        } else if prediction.is_none() {
            let verdict = verdict.to_string();
            println!(
                "{}",
                json!({
                    "at": at, "consistent": true, "nodes": nodes, "in_flight": flying, "states": states,
                    "transitions": transitions, "seconds": took, "verdict": verdict,
                })
            );
        }
    }

    fn tell_prediction<A: Actor>(
        &self,
        at: Duration,
        system: &System<A::Msg>,
        live: &Snapshot<A>,
        name: &str,
        schedule: &Schedule,
    ) {
        let replayed = system.replay(schedule).ok();
        let end = replayed.as_ref().map(|replayed| replayed.actors_after(schedule.steps.len()));
        if self.json {
            let steps: Vec<String> = schedule.steps.iter().map(ToString::to_string).collect();
            let live: Vec<String> = live.to_string().lines().map(str::to_owned).collect();
            println!(
                "{}",
                json!({
                    "at": at.as_secs_f64(), "consistent": true, "verdict": "violated", "property": name,
                    "live": live, "schedule": steps, "end": end,
                })
            );
            return;
        }
        if schedule.steps.is_empty() {
            println!("\"{name}\" is violated already in the live state:");
        } else {
            println!("\"{name}\" will be violated, if from the live state");
        }
        print!("{}", indented(&live.to_string()));
        if schedule.steps.is_empty() {
            return;
        }
        println!("these {} steps follow:", schedule.steps.len());
        print!("{}", indented(&schedule.to_string()));
        println!("in the end:");
        for (number, state) in end.iter().flatten().enumerate() {
            println!("  {number}: {state}");
        }
    }
}

/// What actors are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// They run.
    Running,
    /// They stand for those that run in what is looked at from a snapshot. They may do less: propose once more, say, in
    /// place of again and again, so that the search has an end.
    Checked,
}

fn deployed<A: Observable>(file: &PathBuf, actors: usize) -> Result<Box<dyn Watched<A>>, Error> {
    let deployment = Deployment::read(file)?;
    let nodes = deployment.nodes().len();
    if nodes != actors {
        let what = format!("it has {nodes} nodes, and this program is for {actors}; change one");
        return Err(Error::Deployment { path: file.clone(), what });
    }
    Ok(Box::new(Deployed { observer: Observer::new(&deployment)?, begin: now() }))
}

#[allow(clippy::disallowed_methods, reason = "a running system is watched by the clock")]
fn now() -> Instant {
    Instant::now()
}

/// What came of one snapshot.
struct Round {
    took: Duration,
    states: u64,
    transitions: u64,
    verdict: Verdict,
    prediction: Option<(String, Schedule)>,
}

/// Searches from a snapshot, through more and more of what can happen.
fn predict<A: Actor>(
    live: &Snapshot<A>,
    checked: &impl Fn(Snapshot<A>) -> System<A::Msg>,
    budget: Duration,
) -> Result<Round, Error> {
    let begin = now();
    let mut round = Round {
        took: Duration::ZERO,
        states: 0,
        transitions: 0,
        verdict: Verdict::NotExhausted,
        prediction: None,
    };
    let stages = stages(live);
    for (place, actors) in stages.iter().enumerate() {
        // What one stage leaves over is for those that follow.
        let share = budget.saturating_sub(begin.elapsed()) / (stages.len() - place) as u32;
        let until = begin.elapsed() + share;
        let system = checked(live.with_timers_of(actors));
        let report = system.checker().stop_when(move |_| begin.elapsed() > until).local();
        if report.verdict == Verdict::CannotRun {
            return Err(Error::CannotWatch { why: report.note.unwrap_or_default() });
        }
        // It would not come back in the next round either, and each leaves a thread behind.
        if let Some(stuck) = &report.stuck {
            return Err(Error::CannotWatch { why: stuck.to_string() });
        }
        round.states += report.states;
        round.transitions += report.transitions;
        round.verdict = report.verdict;
        round.prediction = prediction(&report).map(|(name, schedule)| (name.to_owned(), schedule.clone()));
        if round.prediction.is_some() {
            break;
        }
    }
    round.took = begin.elapsed();
    Ok(round)
}

/// Whose timers may go off: those of each one, then of each two, then of all.
fn stages<A: Actor>(live: &Snapshot<A>) -> Vec<Vec<ActorId>> {
    let with_timers: Vec<ActorId> = (0..live.nodes.len())
        .filter(|place| !live.nodes[*place].timers.is_empty())
        .map(ActorId::from)
        .collect();
    let mut stages: Vec<Vec<ActorId>> = with_timers.iter().map(|one| vec![*one]).collect();
    for (place, one) in with_timers.iter().enumerate() {
        stages.extend(with_timers[..place].iter().map(|other| vec![*other, *one]));
    }
    if !(1..=2).contains(&with_timers.len()) {
        stages.push(with_timers);
    }
    stages
}

/// What is going to be violated, and how; that something good has not been seen to happen is no prediction.
fn prediction(report: &Report) -> Option<(&str, &Schedule)> {
    report.findings.iter().find_map(|Finding { name, mode, outcome }| match (mode, outcome) {
        (Mode::Always, Outcome::Violated(Some(schedule))) => Some((name.as_str(), schedule)),
        _ => None,
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use simurgh_protocol::{Out, local};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        watch: WatchArguments,
    }

    /// Counts on its disk, from one on.
    struct Counter;

    impl Actor for Counter {
        type Msg = u8;
        type State = u8;
        type Timer = u8;

        fn on_start(&self, out: &mut Out<Self>) -> u8 {
            out.set_timer(0, Duration::from_millis(100));
            0
        }

        fn on_msg(&self, _: &mut u8, _: ActorId, _: &u8, _: &mut Out<Self>) {}

        fn on_timeout(&self, state: &mut u8, _: &u8, _: &mut Out<Self>) {
            *state = 1;
        }
    }

    impl Durable for Counter {
        type Stored = u8;
        fn stored(&self, state: &u8) -> u8 {
            *state
        }
        fn on_recover(&self, stored: &u8, _: &mut Out<Self>) -> u8 {
            *stored
        }
    }

    #[test]
    fn durable_nodes_were_said_to_lose_what_is_on_their_disks() {
        let line = ["watch", "--simulate", "--every", "1", "--for", "1", "--budget", "10", "--json"];
        let watch = Line::parse_from(line).watch;
        let actors = |_: Stage| vec![Counter, Counter];
        let counted =
            |system: System<u8>| system.crashes(1).always("counted", local(|state: &u8| *state == 1));
        assert_eq!(watch.run_durable(actors, counted), ExitCode::SUCCESS);
        assert_eq!(watch.run(actors, counted), ExitCode::from(1));
    }
}
