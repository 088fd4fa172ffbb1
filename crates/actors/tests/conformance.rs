//! Scenarios whose answers are known: SimGrid 3.32 played each of them, and every operation must end at its date and in
//! its way.
//!
//! `scenarios/` holds the project's own, made for it: a few of each kind of platform, and harsher ones where much
//! happens at once. A folder of others may lie beside the repository; where it does not, that part is skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use simurgh::scenario::{Scenario, play};
use simurgh::{Program, Settings};
use simurgh_kernel::simulation::Pacing;
use simurgh_platform::Platform;

#[test]
fn the_scenarios_of_the_project_end_as_in_simgrid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    assert_eq!(check_folder(&folder), 104, "scenarios are neither lost nor added in silence");
}

#[test]
fn the_scenarios_beside_the_repository_end_as_in_simgrid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles");
    if folder.is_dir() {
        assert_eq!(check_folder(&folder), 150);
    } else {
        eprintln!("skipped: {} is not there", folder.display());
    }
}

/// Plays all scenarios of a folder: how many there are.
fn check_folder(folder: &Path) -> usize {
    let mut scenarios: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scenarios.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    scenarios.sort();
    let wrong: Vec<_> = scenarios.iter().filter_map(|path| check(path).err()).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), scenarios.len(), wrong.join("\n"));
    scenarios.len()
}

fn check(path: &Path) -> Result<(), String> {
    let name = path.file_stem().unwrap().to_string_lossy();
    let [answers, shared] =
        [1, 2].map(|workers| answers(path, workers).map_err(|error| format!("{name}: {error}")));
    if answers != shared {
        return Err(format!("{name}: two threads do not give what one gives"));
    }
    let mut answers = answers?;
    if halted(path, &answers).map_err(|error| format!("{name}: {error}"))? != answers {
        return Err(format!("{name}: halted in between, it does not give the same to the last digit"));
    }
    let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
    for line in expected.lines().filter(|line| !line.starts_with("end ")) {
        let [actor, index, end, how]: [&str; 4] =
            line.splitn(4, ' ').collect::<Vec<_>>().try_into().expect("actor index end how");
        let Some((date, came)) = answers.remove(&(actor.to_owned(), index.parse().unwrap())) else {
            return Err(format!("{name}: \"{line}\" never ends here"));
        };
        if !is_close(date, end.parse().unwrap()) || came != how {
            return Err(format!("{name}: \"{line}\", but here it ends at {date:.9}, {came}"));
        }
    }
    match answers.pop_first() {
        None => Ok(()),
        Some(((actor, index), (date, how))) => {
            Err(format!("{name}: here {actor} {index} ends at {date:.9}, {how}, and there never"))
        }
    }
}

type Answers = BTreeMap<(String, usize), (f64, String)>;

/// When and how each operation ends, by its actor and number.
fn answers(path: &Path, workers: usize) -> simurgh::Result<Answers> {
    played(path, workers, |program, settings| program.simulate(settings).map(drop))
}

/// The same, halted at several dates at which nothing ends, and at one at which something does.
fn halted(path: &Path, answers: &Answers) -> simurgh::Result<Answers> {
    let last = answers.values().map(|(date, _)| *date).fold(0.0, f64::max);
    let one = answers.values().next().map_or(0.0, |(date, _)| *date);
    played(path, 1, |program, settings| {
        let mut simulation = program.start(settings)?;
        let mut dates: Vec<f64> = [0.0, 0.013, 0.17, 0.31415, 0.5, 0.77, 0.99].map(|part| part * last).into();
        dates.push(one);
        dates.sort_by(f64::total_cmp);
        for date in dates {
            simulation.run_until(date)?;
            assert!(simulation.now() <= date, "{} comes after {date}", simulation.now());
        }
        simulation.finish().map(drop)
    })
}

fn played(
    path: &Path,
    workers: usize,
    run: impl FnOnce(Program, Settings) -> simurgh::Result,
) -> simurgh::Result<Answers> {
    let scenario = Scenario::from_file(path)?;
    let platform = Platform::from_file(scenario.platform.as_deref().expect("each names its platform"))?;
    let (program, records) = play(&scenario, platform.into(), 0)?;
    let settings = Settings {
        config: scenario.config.clone(),
        pacing: Pacing::Reference,
        workers: Some(workers),
        always_share: true,
        ..Settings::default()
    };
    run(program, settings)?;
    let answer = |record: simurgh::scenario::Record| {
        let key = (scenario.actors[record.actor].name.clone(), record.index);
        (key, (record.end, record.how.to_string()))
    };
    Ok(records.take().into_iter().map(answer).collect())
}

fn is_close(date: f64, wanted: f64) -> bool {
    (date - wanted).abs() <= f64::max(1e-9, 1e-6 * wanted.abs())
}
