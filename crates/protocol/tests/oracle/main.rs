//! Every search against an obvious one, on random protocols with random conditions.
//!
//! `PROPTEST_CASES` says how many, `PROPTEST_RNG_SEED` where to begin. `protocol` is what a case is; `brute` searches it as the
//! documentation tells it, with states of its own; `liveness` is `eventually` by definition; `conditions` are given to both.

mod brute;
mod conditions;
mod liveness;
mod protocol;

use std::collections::BTreeMap;

use brute::{State, reachable};
use conditions::{Boundary, Property};
use liveness::{Known, eventually, shows};
use protocol::{Follower, One, Protocol, Random, Two};
use simurgh_protocol::local::Options;
use simurgh_protocol::{
    Actor, ActorId, Checker, Durable, Fairness, Happened, Mode, Outcome, Report, Schedule, System, Verdict,
};

const PANIC: &str = "no handler panics";

/// The obvious search goes no further.
const STATES_MAX: usize = 1_500;

struct Case {
    protocol: Protocol,
    properties: Vec<Property>,
    boundary: Option<Boundary>,
    fairness: Fairness,
    states_max: Option<u64>,
    depth_max: Option<usize>,
    /// How local search goes about it the third time.
    local: Options,
}

fn add<A: Durable<Msg = u8> + Actor<Msg = u8>>(system: System<u8>, actor: A, durable: bool) -> System<u8> {
    if durable { system.durable(actor) } else { system.actor(actor) }
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x1000_0000_01b3));
        let protocol = Protocol::random(&mut random);
        let count = 1 + random.below(2);
        let properties = (0..count).map(|at| Property::random(&mut random, &protocol, at)).collect();
        let boundary = random.chance(5).then(|| Boundary::random(&mut random));
        let fairness = [Fairness::Unfair, Fairness::Weak, Fairness::Strong][random.below(3)];
        let is_bounded = random.chance(4);
        let states_max = (is_bounded && random.chance(2)).then(|| 1 + random.below(30) as u64);
        let depth_max = (is_bounded && states_max.is_none()).then(|| random.below(6));
        let local = match random.below(5) {
            0 => Options { histories: false, coexistence: false, ..Options::default() },
            1 => Options { coexistence: false, early: false, ..Options::default() },
            2 => Options { coexistence_states_max: 5, ..Options::default() },
            3 => Options { causal_histories_from: 0, ..Options::default() },
            _ => Options { causal_histories_from: 4, ..Options::default() },
        };
        Self { protocol, properties, boundary, fairness, states_max, depth_max, local }
    }

    fn system(&self) -> System<u8> {
        let protocol = &self.protocol;
        let actors = protocol.tables.len() as u32;
        let mut system = System::new().network(protocol.network).crashes(protocol.crashes);
        for table in &protocol.tables {
            let (table, kind) = (table.clone(), std::marker::PhantomData);
            let durable = table.is_durable;
            system = if table.is_other {
                add(system, Follower::<Two> { table, actors, kind: std::marker::PhantomData }, durable)
            } else {
                add(system, Follower::<One> { table, actors, kind }, durable)
            };
        }
        if protocol.lossy {
            system = system.lossy();
        }
        for (from, to, msg) in &protocol.flying {
            system = system.in_flight(ActorId(*from), ActorId(*to), *msg);
        }
        if let Some(told) = protocol.history.clone() {
            let concerns = told.concerns;
            system = system.history(
                0_u8,
                move |msg| concerns[*msg as usize],
                move |value, happened| {
                    let (msg, received) = match happened {
                        Happened::Sent { msg, .. } => (*msg, false),
                        Happened::Received { msg, .. } => (*msg, true),
                    };
                    *value = told.next[*value as usize][msg as usize][usize::from(received)];
                },
            );
        }
        if protocol.symmetric {
            system = system.symmetric((0..actors).map(ActorId));
        }
        if let Some(boundary) = self.boundary {
            system = system.within(move |states| boundary.sees(states));
        }
        for property in &self.properties {
            let (name, condition) = (property.name.clone(), property.condition());
            system = match property.mode {
                Mode::Always => system.always(name, condition),
                Mode::Sometimes => system.sometimes(name, condition),
                Mode::Eventually => system.eventually(name, condition),
            };
        }
        system
    }

    fn is_within(&self, state: &State) -> bool {
        self.boundary.is_none_or(|boundary| boundary.is_within(state))
    }

    fn is_bounded(&self) -> bool {
        self.states_max.is_some() || self.depth_max.is_some()
    }

    /// Conditions may name actors that are exchanged for each other; that is a mistake, and it may be told.
    fn may_be_refused(&self) -> bool {
        let boundary = self.boundary.is_some_and(Boundary::names_actors);
        self.protocol.symmetric && (boundary || self.properties.iter().any(Property::names_actors))
    }
}

/// What is true of a property: whether it is violated, if that is known, and by how many steps at least it is decided.
struct Truth {
    violated: Option<bool>,
    nearest: Option<usize>,
}

/// What is true of a case; nothing if it is too much for the obvious search, or cannot begin.
fn truth(case: &Case) -> Option<BTreeMap<String, Truth>> {
    let protocol = &case.protocol;
    let within = |state: &State| case.is_within(state);
    // A state after a panic is asked nothing but whether somebody has panicked, and is within every boundary.
    let reached = |state: &State| state.has_failed() || within(state);
    let states = reachable(protocol, false, &reached, STATES_MAX)?;
    if states.is_empty() {
        return None;
    }
    let nearest = |is: &dyn Fn(&State) -> bool| {
        states.iter().filter(|(state, _)| is(state)).map(|(_, depth)| *depth).min()
    };
    let mut truths = BTreeMap::new();
    let failure = nearest(&State::has_failed);
    truths.insert(PANIC.to_owned(), Truth { violated: Some(failure.is_some()), nearest: failure });
    for property in &case.properties {
        let is = |state: &State| property.is_decided_by(protocol, state);
        let found = if property.mode == Mode::Eventually {
            match eventually(protocol, case.fairness, &within, &is, STATES_MAX) {
                Known::Holds => Truth { violated: Some(false), nearest: None },
                Known::Violated => Truth { violated: Some(true), nearest: None },
                Known::Undecided => Truth { violated: None, nearest: None },
                Known::TooMuch => return None,
            }
        } else {
            let nearest = nearest(&|state: &State| !state.has_failed() && is(state));
            Truth { violated: Some(nearest.is_some() == (property.mode == Mode::Always)), nearest }
        };
        truths.insert(property.name.clone(), found);
    }
    Some(truths)
}

/// Whether a schedule that was reported shows what it is said to show.
fn is_shown(case: &Case, name: &str, schedule: &Schedule) -> bool {
    let protocol = &case.protocol;
    let within = |state: &State| case.is_within(state);
    let Some(property) = case.properties.iter().find(|property| property.name == name) else {
        return protocol
            .follow(schedule)
            .iter()
            .any(|(states, _)| states.last().is_some_and(State::has_failed));
    };
    let is = |state: &State| property.is_decided_by(protocol, state);
    if property.mode == Mode::Eventually {
        return shows(protocol, case.fairness, &within, &is, schedule);
    }
    protocol
        .follow(schedule)
        .iter()
        .any(|(states, _)| states.iter().all(within) && states.last().is_some_and(&is))
}

#[derive(Default, Debug)]
struct Counts {
    /// Properties of types that no actor has are refused.
    foreign: u64,
    too_much: usize,
    holds: usize,
    violated: usize,
    undecided: usize,
    refused: usize,
    eventually_holds: usize,
    eventually_violated: usize,
    local_holds: usize,
    local_violated: usize,
    local_open: usize,
}

fn check(case: &Case, counts: &mut Counts) -> Result<(), String> {
    let Some(truths) = truth(case) else {
        counts.too_much += 1;
        return Ok(());
    };
    let system = case.system();
    let checker = || {
        let mut checker = system.checker().fairness(case.fairness);
        checker = case
            .states_max
            .map_or(checker, |states| system.checker().fairness(case.fairness).states_max(states));
        case.depth_max.into_iter().fold(checker, Checker::depth_max)
    };
    let any_violated = truths.values().any(|truth| truth.violated == Some(true));
    let any_unknown = truths.values().any(|truth| truth.violated.is_none());
    let global = [("bfs", checker().bfs()), ("bfs-2", checker().workers(2).bfs()), ("dfs", checker().dfs())];
    if format!("{:?}", global[0].1) != format!("{:?}", global[1].1) {
        return Err(format!("two workers differ\n{}{}", global[0].1, global[1].1));
    }
    let is_foreign =
        |found: &Report| found.note.as_ref().is_some_and(|why| why.contains("of a type that no actor has"));
    if global.iter().all(|(_, found)| is_foreign(found)) {
        counts.foreign += 1;
        return Ok(());
    }
    for (name, found) in &global {
        shown(case, &system, &truths, found, *name != "dfs" && !case.may_be_refused())
            .map_err(|why| format!("{name}: {why}\n{found}"))?;
        if case.protocol.symmetric {
            // Nothing is known of `eventually`; conditions that name actors may be refused.
            let refused = found.verdict == Verdict::CannotRun && case.may_be_refused();
            counts.refused += usize::from(refused);
            let asks = case.properties.iter().any(|property| property.mode == Mode::Eventually);
            if refused || found.verdict == Verdict::NotExhausted && (asks || case.is_bounded()) {
                continue;
            }
        }
        let expected = match (any_violated, any_unknown) {
            (true, _) => Verdict::Violated,
            (false, true) => Verdict::NotExhausted,
            (false, false) => Verdict::Holds,
        };
        if found.verdict != expected && !(case.is_bounded() && found.verdict == Verdict::NotExhausted) {
            return Err(format!("{name}: {expected} was expected\n{found}"));
        }
        match found.verdict {
            Verdict::Holds => counts.holds += 1,
            Verdict::Violated => counts.violated += 1,
            _ => counts.undecided += 1,
        }
        for finding in found.findings.iter().filter(|finding| finding.mode == Mode::Eventually) {
            match finding.outcome {
                Outcome::Holds(_) => counts.eventually_holds += 1,
                Outcome::Violated(_) => counts.eventually_violated += 1,
                Outcome::Unknown => {}
            }
        }
    }
    if !case.properties.iter().all(Property::is_local) || case.protocol.history.is_some() {
        return Ok(());
    }
    let local = || {
        let mut asked = 0;
        let bounded = checker().stop_when(move |_| {
            asked += 1;
            asked > 60
        });
        if case.states_max.is_none() { bounded.states_max(400) } else { bounded }
    };
    for (name, found) in [
        ("local", local().local()),
        ("local-gen", local().local_gen()),
        ("local with options", local().local_options(case.local.clone()).local()),
    ] {
        shown(case, &system, &truths, &found, false).map_err(|why| format!("{name}: {why}\n{found}"))?;
        match found.verdict {
            // Local states may go on for ever where global ones do not.
            Verdict::NotExhausted => counts.local_open += usize::from(!case.is_bounded()),
            Verdict::Holds if !any_violated => counts.local_holds += 1,
            Verdict::Violated if any_violated => counts.local_violated += 1,
            _ => return Err(format!("{name} is wrong\n{found}")),
        }
    }
    Ok(())
}

/// Whether what is said of each property is true, and every schedule shows it.
fn shown(
    case: &Case,
    system: &System<u8>,
    truths: &BTreeMap<String, Truth>,
    found: &Report,
    is_shortest: bool,
) -> Result<(), String> {
    for finding in &found.findings {
        let truth = &truths[&finding.name];
        let schedule = match &finding.outcome {
            Outcome::Unknown => continue,
            Outcome::Holds(schedule) if truth.violated == Some(false) => schedule,
            Outcome::Violated(schedule) if truth.violated == Some(true) => schedule,
            _ => return Err(format!("{} is not so", finding.name)),
        };
        let Some(schedule) = schedule else { continue };
        system.replay(schedule).map_err(|error| error.to_string())?;
        if !is_shown(case, &finding.name, schedule) {
            return Err(format!("the schedule of {} shows nothing", finding.name));
        }
        if is_shortest && finding.mode != Mode::Eventually && truth.nearest != Some(schedule.steps.len()) {
            return Err(format!("{} takes {:?} steps", finding.name, truth.nearest));
        }
    }
    Ok(())
}

#[test]
fn every_search_says_what_an_obvious_one_says() {
    let (cases, first) = (simurgh_testing::cases(6_000), simurgh_testing::seed().unwrap_or(0));
    let mut counts = Counts::default();
    for seed in first..first + cases {
        let case = Case::random(seed);
        if let Err(why) = check(&case, &mut counts) {
            let Case { protocol, properties, boundary, fairness, states_max, depth_max, local } = &case;
            panic!(
                "PROPTEST_RNG_SEED={seed} PROPTEST_CASES=1: {why}\n{protocol:#?}\n{properties:?}\n{boundary:?} {fairness:?} {states_max:?} {depth_max:?} {local:?}"
            );
        }
    }
    println!("{cases} cases: {counts:?}");
    if cases >= 1_000 {
        let Counts { holds, violated, eventually_holds, eventually_violated, .. } = counts;
        let Counts { local_holds, local_violated, local_open, too_much, .. } = counts;
        let enough = cases as usize / 50;
        for count in [holds, violated, eventually_holds, eventually_violated, local_holds, local_violated] {
            assert!(count > enough, "one-sided protocols: {counts:?}");
        }
        assert!(
            too_much < cases as usize / 2 && local_open < (local_holds + local_violated) / 5,
            "{counts:?}"
        );
    }
}
