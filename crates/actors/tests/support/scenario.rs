//! Scenarios written in a test.

use std::collections::BTreeMap;

use simurgh::scenario::{Operation, Scenario, ScenarioActor, play};
use simurgh::{Platform, Settings};
use simurgh_kernel::simulation::Pacing;

/// What became of each operation, by its actor's name and its number.
#[derive(Debug)]
pub struct Ends {
    ends: BTreeMap<(String, usize), (f64, String)>,
}

/// Plays a scenario; an actor is named after its host, with a number if there are more of them (`a`, `a2`, `a3`).
pub fn ends(platform: Platform, config: &[(&str, &str)], actors: &[(&str, &[&str])]) -> Ends {
    let actor = |(name, operations): &(&str, &[&str])| ScenarioActor {
        name: (*name).to_owned(),
        host: Some(name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned()),
        operations: operations.iter().map(|text| Operation::parse(text).unwrap()).collect(),
        line: 1,
        lines: vec![1; operations.len()].into(),
        ..ScenarioActor::default()
    };
    let scenario = Scenario {
        name: "test.toml".to_owned(),
        platform: None,
        platform_line: 1,
        config: config.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        actors: actors.iter().map(actor).collect(),
    };
    play_out(&scenario, platform)
}

fn play_out(scenario: &Scenario, platform: Platform) -> Ends {
    let (program, records) = play(scenario, platform.into(), 0).unwrap();
    let settings =
        Settings { config: scenario.config.clone(), pacing: Pacing::Reference, ..Settings::default() };
    program.simulate(settings).unwrap();
    let named = |record: simurgh::scenario::Record| {
        let key = (scenario.actors[record.actor].name.clone(), record.index);
        (key, (record.end, record.how.to_string()))
    };
    Ends { ends: records.take().into_iter().map(named).collect() }
}

impl Ends {
    /// Asserts when and how an operation ended, to the last digit that the reference prints.
    #[track_caller]
    pub fn assert(&self, actor: &str, index: usize, date: f64, how: &str) {
        let Some((end, came)) = self.ends.get(&(actor.to_owned(), index)) else {
            panic!("{actor} {index} never ended: {self:?}")
        };
        assert!(
            (end - date).abs() < 0.6e-6 && came == how,
            "{actor} {index} ended at {end:.9}, {came}, instead of {date}, {how}"
        );
    }

    /// Asserts that an operation went well, and when it ended.
    #[track_caller]
    pub fn ok(&self, actor: &str, index: usize, date: f64) {
        self.assert(actor, index, date, "ok");
    }
}
