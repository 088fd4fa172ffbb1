//! The kernel against the specification in specs/: random programs along random schedules, compared after each step.
//!
//! Here the specification is its transcription in Rust (spec/model.rs). `scripts/specs` has some of the schedules written
//! as TLA+ modules, and TLC compares them with the specification itself, and with its dependence relation.

mod data;
mod model;
mod mutate;
mod program;
mod record;
mod tla;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use data::{Ask, By, Choice, Told};
use model::Model;
use mutate::{MUTATIONS, Mutation, mutate};
use record::{Recorded, record};
use simurgh_explore::Network;
use simurgh_kernel::random::Random;

const NETWORKS: [Network; 3] = [Network::Mailbox, Network::Pairwise, Network::Unordered];

/// How many programs the kernel is compared on, each on all networks; and how many of them TLC sees.
const PROGRAMS: u64 = 2000;
const PROGRAMS_FOR_TLC: u64 = 100;

/// How many wrong traces of each kind.
const MUTANTS: usize = 6;

fn traces(programs: u64) -> impl Iterator<Item = Recorded> {
    (0..programs).flat_map(|seed| NETWORKS.map(|network| record(seed, network)))
}

/// Whether a trace is one of the specification; if not, at which entry they part, and why.
fn compare(mut model: Model, recorded: &Recorded) -> Result<(), (usize, String)> {
    for (place, entry) in recorded.entries.iter().enumerate() {
        if let Some(step) = entry.step {
            let before = &recorded.entries[place - 1].asks;
            if !model.enabled(before).contains(&step) {
                return Err((place, format!("{step:?} is not possible")));
            }
            model.apply(before, step);
            let mut changed = before.iter().zip(&entry.asks).enumerate().filter(|(_, (old, new))| old != new);
            if changed.any(|(actor, _)| step.by != By::Actor(actor as u32)) {
                return Err((place, format!("{step:?} changes what another asks")));
            }
        }
        for (actor, ask) in entry.asks.iter().enumerate() {
            model.may_ask(actor, ask.as_ref()).map_err(|why| (place, why))?;
        }
        let expected = model.observe(&entry.asks);
        if expected != entry.seen {
            return Err((place, format!("{:?} instead of {expected:?}", entry.seen)));
        }
    }
    Ok(())
}

#[test]
fn the_kernel_does_what_the_specification_says() {
    for (index, recorded) in traces(PROGRAMS).enumerate() {
        if let Err((place, why)) = compare(Model::new(recorded.network), &recorded) {
            panic!("trace {index}, {:?}, entry {place}: {why}", recorded.network);
        }
    }
}

/// Wrong traces of every kind, each from another trace.
fn mutants() -> Vec<(Mutation, Recorded)> {
    let mut random = Random::new(0, 0);
    let mut all = Vec::new();
    for mutation in MUTATIONS {
        all.extend(
            traces(PROGRAMS_FOR_TLC)
                .filter_map(|trace| mutate(&trace, mutation, &mut random))
                .take(MUTANTS)
                .map(|wrong| (mutation, wrong)),
        );
    }
    all
}

#[test]
fn a_changed_trace_is_rejected_where_it_was_changed() {
    let mutants = mutants();
    assert_eq!(mutants.len(), MUTANTS * MUTATIONS.len(), "every kind of mistake can be made");
    for (mutation, wrong) in mutants {
        let verdict = compare(Model::new(wrong.network), &wrong).map_err(|(place, _)| place);
        // What depends on what is for TLC alone to compare.
        let expected = if mutation == Mutation::Dependence { Ok(()) } else { Err(wrong.entries.len() - 1) };
        assert_eq!(verdict, expected, "{mutation:?}");
    }
}

#[test]
fn a_specification_that_takes_the_newest_is_rejected() {
    for network in NETWORKS {
        let of_network = || traces(PROGRAMS_FOR_TLC).filter(|trace| trace.network == network);
        let wrong = of_network().filter(|trace| compare(Model::broken(network), trace).is_err()).count();
        assert!(wrong > 0, "{network:?}");
    }
}

/// What the schedules that TLC sees consist of: each kind of request and answer, on each network.
#[test]
fn the_schedules_show_every_request_and_answer() {
    let mut seen: BTreeMap<Network, BTreeSet<&str>> = BTreeMap::new();
    for trace in traces(PROGRAMS_FOR_TLC) {
        let seen = seen.entry(trace.network).or_default();
        for pair in trace.entries.windows(2) {
            let step = pair[1].step.expect("all but the first have one");
            let By::Actor(actor) = step.by else {
                seen.insert("arrival");
                continue;
            };
            let ask = pair[0].asks[actor as usize].as_ref().expect("it asked");
            seen.insert(request(ask));
            if matches!(ask, Ask::Wait { set, .. } if set.len() > 1) {
                seen.insert("wait for several");
            }
            if matches!(ask, Ask::Test { .. }) && step.choice != Choice::Only {
                seen.insert("test that takes");
            }
            seen.insert(answer(pair[1].seen.told[actor as usize]));
        }
    }
    let requests = [
        "send",
        "detached send",
        "blocking send",
        "timed send",
        "receive",
        "blocking receive",
        "timed receive",
        "wait",
        "wait for several",
        "timed wait",
        "test",
        "test that takes",
        "choice",
        "cancellation",
        "probe",
        "end",
    ];
    let answers = [
        "silence",
        "posted",
        "received",
        "completed",
        "failed",
        "timeout",
        "nothing",
        "chosen",
        "probed",
        "empty",
        "ready",
    ];
    for network in NETWORKS {
        let arrival = (network != Network::Mailbox).then_some("arrival");
        let all: BTreeSet<&str> = requests.into_iter().chain(answers).chain(arrival).collect();
        assert_eq!(seen[&network], all, "{network:?}");
    }
}

fn request(ask: &Ask) -> &'static str {
    use data::Follow::*;
    match ask {
        Ask::Send { follow: Return, .. } => "send",
        Ask::Send { follow: Detach, .. } => "detached send",
        Ask::Send { follow: Wait, .. } => "blocking send",
        Ask::Send { follow: Timed, .. } => "timed send",
        Ask::Recv { follow: Return | Detach, .. } => "receive",
        Ask::Recv { follow: Wait, .. } => "blocking receive",
        Ask::Recv { follow: Timed, .. } => "timed receive",
        Ask::Wait { timed: false, .. } => "wait",
        Ask::Wait { timed: true, .. } => "timed wait",
        Ask::Test { .. } => "test",
        Ask::Local { .. } => "choice",
        Ask::Cancel { .. } => "cancellation",
        Ask::Probe { .. } => "probe",
        Ask::Exit => "end",
    }
}

fn answer(told: Told) -> &'static str {
    match told {
        Told::Silence => "silence",
        Told::Posted(_) => "posted",
        Told::Completed { message: Some(_), .. } => "received",
        Told::Completed { message: None, .. } => "completed",
        Told::Failed(_) => "failed",
        Told::Timeout => "timeout",
        Told::Nothing => "nothing",
        Told::Chosen(_) => "chosen",
        Told::Probed(Some(_)) => "probed",
        Told::Probed(None) => "empty",
        Told::Ready => "ready",
    }
}

/// Writes what TLC compares, into the folder that `SIMURGH_SPEC_TRACES` names.
#[test]
fn traces_are_written_for_tlc() {
    let traces: Vec<Recorded> = traces(PROGRAMS_FOR_TLC).collect();
    let mutants: Vec<Recorded> = mutants().into_iter().map(|(_, wrong)| wrong).collect();
    let agree = "StatesAgree StepsAgree AsksAgree ChoicesAgree DependenceAgrees";
    // The small one of the two serves to see that a wrong specification is rejected.
    let rejected = "OnlyTheLastIsRejected";
    let broken = [("newest", rejected), ("send-wait", rejected), ("observers", rejected)];
    let files = [
        ("traces.tla", tla::module("traces", &traces)),
        ("traces.cfg", tla::configuration(&traces, agree, &[])),
        ("mutants.tla", tla::module("mutants", &mutants)),
        ("mutants.cfg", tla::configuration(&mutants, rejected, &broken)),
    ];
    let definitions = files[0].1.lines().filter(|line| line.starts_with('T')).count();
    assert_eq!(definitions, traces.len(), "one definition a trace");
    let Some(folder) = std::env::var_os("SIMURGH_SPEC_TRACES").map(PathBuf::from) else { return };
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
