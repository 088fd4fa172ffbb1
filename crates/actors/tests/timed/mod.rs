//! Timed exploration: the best and the worst over all ways to receive.
//!
//! - `scenarios`: small scenarios whose best and worst are calculated by hand.
//! - `programs`: the same for programs, with all that they can leave open.
//! - `anything`: random programs.
//! - `oracles`: random scenarios against simulations in which nothing is steered.

mod anything;
mod oracles;
mod programs;
mod scenarios;

use std::path::Path;
use std::sync::Arc;

use simurgh::platform::{PlatformBuilder, Routing};
use simurgh::prelude::*;
use simurgh::scenario::{Scenario, play};
use simurgh::timed::{Attempt, Found, Limit, Objective, Receive, Run, Subject, explore_ways};
use simurgh_kernel::simulation::Pacing;

/// Hosts of one core of 1 Gf that draw 100 W when idle and 200 W at work; each behind a link of 1 MBps without latency.
/// A message of 1 MB takes a second if it is alone.
fn star_builder(names: &[&str]) -> PlatformBuilder {
    let mut builder = Platform::builder();
    builder.config("network/model", "CM02");
    builder.config("network/crosstraffic", "0");
    let zone = builder.zone("star", Routing::Star);
    for name in names {
        let host = builder.host(zone, name, 1e9).property("wattage_per_state", "100:100:200").id();
        let link = builder.link(zone, &format!("link of {name}"), 1e6, 0.0).id();
        builder.star(zone, host, &[link]);
    }
    builder
}

fn star(names: &[&str]) -> Arc<Platform> {
    Arc::new(star_builder(names).build().unwrap())
}

/// A scenario in which each actor is a line: its name, its host, and what it does.
fn scenario(actors: &[(&str, &str, &[&str])]) -> Scenario {
    let line = |(name, host, operations): &(&str, &str, &[&str])| {
        format!("[[actor]]\nname = \"{name}\"\nhost = \"{host}\"\ndo = {operations:?}\n")
    };
    let text: String = actors.iter().map(line).collect();
    Scenario::parse(&text, "test.toml", Path::new(".")).unwrap()
}

/// As the `simurgh` command runs scenarios.
fn settings() -> Settings {
    Settings { pacing: Pacing::Reference, ..Settings::default() }
}

/// Does something with a scenario on a platform.
fn with<T>(scenario: &Scenario, platform: &Arc<Platform>, f: impl FnOnce(&Subject<'_>) -> T) -> T {
    let fill = |program: &mut Program| play::fill(program, scenario, None);
    f(&Subject::new(Arc::clone(platform), fill).settings(settings))
}

/// All ways of a scenario, and what came of each.
fn attempts(
    scenario: &Scenario,
    platform: &Arc<Platform>,
    objective: Objective,
    limit: Limit,
) -> (Found, Vec<Result<Run, String>>) {
    let mut all = Vec::new();
    let mut watch = |attempt: Option<&Attempt>, _: &Found| {
        let Some(attempt) = attempt else { return true };
        all.push(match attempt {
            Attempt::Fine(run, _) => Ok((**run).clone()),
            Attempt::Broken(what) | Attempt::Impossible(what) => Err(what.clone()),
        });
        true
    };
    let found =
        with(scenario, platform, |subject| explore_ways(subject, objective, limit, &mut watch)).unwrap();
    assert!(found.exhausted);
    assert_eq!(found.ways, all.len() as u64);
    (found, all)
}

fn explored(scenario: &Scenario, platform: &Arc<Platform>, objective: Objective) -> Found {
    attempts(scenario, platform, objective, Limit::default()).0
}

/// The values of best, worst and plain simulation, of a program that always ends well.
fn values(found: &Found) -> (f64, f64, f64) {
    assert_eq!((found.broken, found.impossible), (0, 0), "{found:?}");
    let value = |run: &Option<Run>| run.as_ref().expect("it ends well").value;
    (value(&found.best), value(&found.worst), value(&found.simulated))
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// Whom an actor got its messages from.
fn got(run: &Option<Run>, actor: &str) -> Vec<String> {
    let stories = &run.as_ref().unwrap().stories;
    let story = stories.iter().find(|story| story.actor == actor).unwrap();
    let from = |receive: &Receive| receive.from.clone().map_or("-".to_owned(), |(name, _)| name);
    story.receives.iter().map(from).collect()
}
