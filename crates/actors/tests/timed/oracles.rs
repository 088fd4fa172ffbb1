//! Random scenarios against simulations in which nothing is steered.
//!
//! Where every message has a mailbox of its own, nothing is left open. So a way of a scenario is a scenario itself: the
//! mailboxes are renamed, one for each pair that meets. It is simulated as any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use simurgh::Platform;
use simurgh::prelude::Random;
use simurgh::scenario::{Operation, Scenario, play};
use simurgh::timed::{Attempt, Came, Limit, Objective, Place, ReadsFrom};
use simurgh_explore::Network;

use super::{attempts, explored, scenario, settings, values, with};

/// The makespan of a scenario that is left to itself; none if it does not come to its end.
fn makespan(scenario: &Scenario, platform: &Arc<Platform>) -> Option<f64> {
    let (program, _) = play(scenario, Arc::clone(platform), 0).unwrap();
    let outcome = program.simulate(settings()).unwrap();
    outcome.is_fine().then(|| outcome.clock())
}

/// The scenario of one way: each pair that meets has a mailbox of its own, named after its send.
fn renamed(original: &Scenario, way: &ReadsFrom) -> Scenario {
    let mut scenario = original.clone();
    for (process, (actor, outcomes)) in (0..).zip(scenario.actors.iter_mut().zip(&way.processes)) {
        let mut partners = outcomes.iter().filter_map(|outcome| match outcome {
            Came::Posted { partner } => Some(*partner),
            _ => None,
        });
        let mut post = 0;
        for operation in std::sync::Arc::make_mut(&mut actor.operations) {
            let (mailbox, is_send) = match operation {
                Operation::Send(message, _) | Operation::Isend(message) | Operation::Dsend(message) => {
                    (&mut message.mailbox, true)
                }
                Operation::Recv { mailbox, .. } | Operation::Irecv { mailbox, .. } => (mailbox, false),
                _ => continue,
            };
            let Some(partner) = partners.next() else { continue };
            let own = Place { process, post };
            post += 1;
            *mailbox = match partner {
                Some(send) if !is_send => format!("{}.{}", send.process, send.post),
                _ => format!("{}.{}", own.process, own.post),
            };
        }
    }
    scenario
}

/// Some platform: built in, or one whose hosts and links are all different.
fn platform(random: &mut Random) -> Arc<Platform> {
    if random.below(4) == 0 {
        return Arc::new(Platform::builtin());
    }
    let mut builder = Platform::builder();
    let zone = builder.zone("star", simurgh::platform::Routing::Star);
    for host in 0..5 {
        let speed = 1e9 * (1 + random.below(4)) as f64;
        let id = builder.host(zone, &format!("node-{host}"), speed).id();
        let (bandwidth, latency) = (1e6 * (1 + random.below(3)) as f64, 1e-3 * random.below(3) as f64);
        let link = builder.link(zone, &format!("link-{host}"), bandwidth, latency).id();
        builder.star(zone, id, &[link]);
    }
    Arc::new(builder.build().unwrap())
}

fn pause(random: &mut Random) -> Option<String> {
    match random.below(4) {
        0 => Some(format!("exec {}e8", 1 + random.below(20))),
        1 => Some(format!("sleep 0.{}", random.below(10))),
        _ => None,
    }
}

/// A scenario with as many receives as sends for each of two mailboxes, in actors that do both.
fn balanced(random: &mut Random, any: bool) -> Scenario {
    let actors = 2 + random.below(3) as usize;
    let mut operations = vec![Vec::new(); actors];
    let put = |random: &mut Random, operations: &mut Vec<Vec<String>>, text: String| {
        let actor = random.below(actors as u64) as usize;
        operations[actor].extend(pause(random));
        operations[actor].push(text);
        if random.below(3) == 0 {
            operations[actor]
                .push(if any && random.below(2) == 0 { "waitany" } else { "waitall" }.to_owned());
        }
    };
    for _ in 0..2 + random.below(3) {
        let mailbox = ["x", "y"][random.below(2) as usize];
        let bytes = ["0", "1e5", "1e6", "3e6"][random.below(4) as usize];
        let send = ["send", "isend", "isend", "dsend"][random.below(4) as usize];
        put(random, &mut operations, format!("{send} {mailbox} {bytes}"));
        let recv = ["recv", "irecv", "irecv"][random.below(3) as usize];
        put(random, &mut operations, format!("{recv} {mailbox}"));
    }
    for operations in &mut operations {
        operations.push("waitall".to_owned());
        operations.extend(pause(random));
    }
    let names: Vec<_> = (0..actors).map(|actor| (format!("p{actor}"), format!("node-{actor}"))).collect();
    let lines: Vec<Vec<&str>> =
        operations.iter().map(|operations| operations.iter().map(String::as_str).collect()).collect();
    let actors: Vec<_> = names
        .iter()
        .zip(&lines)
        .map(|((name, host), operations)| (name.as_str(), host.as_str(), operations.as_slice()))
        .collect();
    scenario(&actors)
}

/// All orders of the first `n` numbers.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..n {
        all = all
            .iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, next);
                    longer
                })
            })
            .collect();
    }
    all
}

#[test]
fn one_receiver_against_all_permutations() {
    let mut random = Random::new(3, 0);
    for _ in 0..60 {
        let platform = platform(&mut random);
        let count = 2 + random.below(3) as usize;
        let senders: Vec<_> = (0..count)
            .map(|_| {
                let before = format!("sleep 0.{}", random.below(8));
                let bytes = random.below(4) as f64 * 4e5;
                let kind = ["send", "dsend", "isend"][random.below(3) as usize];
                let after = format!("exec {}e8", random.below(30));
                move |mailbox: &str| {
                    vec![
                        before.clone(),
                        format!("{kind} {mailbox} {bytes}"),
                        after.clone(),
                        "waitall".to_owned(),
                    ]
                }
            })
            .collect();
        let pauses: Vec<_> = (0..count).map(|_| format!("exec {}e8", random.below(30))).collect();
        // The receiver gets its messages from the mailboxes that it is given.
        let make = |mailboxes: &[String], own: &dyn Fn(usize) -> String| {
            let receiver: Vec<String> = mailboxes
                .iter()
                .zip(&pauses)
                .flat_map(|(mailbox, pause)| [format!("recv {mailbox}"), pause.clone()])
                .collect();
            let mut text = vec![("receiver".to_owned(), "node-0".to_owned(), receiver)];
            for (index, sender) in senders.iter().enumerate() {
                text.push((format!("s{index}"), format!("node-{}", index + 1), sender(&own(index))));
            }
            let lines: Vec<Vec<&str>> = text
                .iter()
                .map(|(_, _, operations)| operations.iter().map(String::as_str).collect())
                .collect();
            let actors: Vec<_> = text
                .iter()
                .zip(&lines)
                .map(|((name, host, _), operations)| (name.as_str(), host.as_str(), operations.as_slice()))
                .collect();
            scenario(&actors)
        };
        let open = make(&vec!["box".to_owned(); count], &|_| "box".to_owned());
        let fixed: Vec<_> = permutations(count)
            .into_iter()
            .map(|order| {
                let mailboxes: Vec<_> = order.iter().map(|sender| format!("box-{sender}")).collect();
                makespan(&make(&mailboxes, &|sender| format!("box-{sender}")), &platform)
                    .expect("nobody is left over")
            })
            .collect();
        let found = explored(&open, &platform, Objective::Makespan);
        let (best, worst, simulated) = values(&found);
        assert_eq!(found.ways, fixed.len() as u64);
        assert_eq!(best, fixed.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(worst, fixed.iter().copied().fold(0.0, f64::max));
        assert!(best <= simulated && simulated <= worst);
    }
}

#[test]
fn every_way_against_mailboxes_of_their_own() {
    let mut random = Random::new(4, 0);
    let (mut ways, mut different) = (0, 0);
    let cases = simurgh_testing::cases(600);
    for round in 0..cases {
        let platform = platform(&mut random);
        let program = balanced(&mut random, false);
        let network = [Network::Mailbox, Network::Pairwise, Network::Unordered][round % 3];
        let limit = Limit { network, ..Limit::default() };
        let (found, runs) = attempts(&program, &platform, Objective::Makespan, limit);
        assert_eq!(found.impossible, 0, "{program:?}");
        for run in runs.into_iter().flatten() {
            ways += 1;
            assert_eq!(makespan(&renamed(&program, &run.way), &platform), Some(run.value), "{program:?}");
        }
        different += u32::from(found.best.map(|run| run.value) < found.worst.map(|run| run.value));
    }
    println!("{ways} ways; in {different} of {cases} scenarios the order matters");
    assert!(cases < 600 || ways > 800 && different > 150);
}

#[test]
fn the_plain_simulation_takes_one_of_the_ways() {
    let mut random = Random::new(5, 0);
    let (mut between, mut strictly) = (0, 0);
    let cases = simurgh_testing::cases(800);
    for _ in 0..cases {
        let platform = platform(&mut random);
        let program = balanced(&mut random, true);
        let (found, runs) = attempts(&program, &platform, Objective::Makespan, Limit::default());
        assert_eq!(found.impossible, 0, "{program:?}");
        let plain = makespan(&program, &platform);
        let Some(simulated) = found.simulated else {
            assert!(plain.is_none() && found.broken > 0, "{program:?}");
            continue;
        };
        // Whoever writes down what happens changes nothing.
        assert_eq!(Some(simulated.value), plain);
        // Steered along its own way, it is the same run to the last bit, and the exploration has found it.
        let again = with(&program, &platform, |subject| {
            subject.simulate(Some(&simulated.way), Objective::Makespan, |_| {})
        });
        match again.unwrap() {
            Attempt::Fine(run, _) => assert_eq!(*run, simulated, "{program:?}"),
            other => panic!("{other:?} of {program:?}"),
        }
        assert!(runs.iter().flatten().any(|run| *run == simulated), "{program:?}");
        let (best, worst) = (found.best.unwrap().value, found.worst.unwrap().value);
        assert!(best <= simulated.value && simulated.value <= worst);
        between += 1;
        strictly += u32::from(best < simulated.value && simulated.value < worst);
    }
    println!("{between} of {cases} end well, {strictly} strictly between best and worst");
    assert!(cases < 800 || between > 400 && strictly > 20);
}

#[test]
fn all_measures_agree_with_the_plain_simulation_of_the_same_way() {
    let mut random = Random::new(6, 0);
    let mut values = BTreeMap::new();
    let cases = simurgh_testing::cases(100);
    for _ in 0..cases {
        let platform = platform(&mut random);
        let program = balanced(&mut random, false);
        for run in attempts(&program, &platform, Objective::Bytes, Limit::default()).1.into_iter().flatten() {
            let (alone, _) = play(&renamed(&program, &run.way), Arc::clone(&platform), 0).unwrap();
            let outcome = alone.simulate(settings()).unwrap();
            let report = &outcome.report;
            assert_eq!((run.measures.messages, run.measures.bytes), (report.messages, report.bytes));
            *values.entry(report.messages).or_insert(0) += 1;
        }
    }
    assert!(cases < 100 || values.len() > 2, "{values:?}");
}
