//! Verdicts that were wrong once, each named after what went wrong.

mod common;

use std::time::Duration;

use common::{SECOND, Timed, deaf, walker};
use simurgh_protocol::local::Options;
use simurgh_protocol::{
    Actor, ActorId, Happened, Network, Out, Report, System, Verdict, agree, global, history, local, pairwise,
    projected,
};

fn walkers(count: usize) -> System<()> {
    System::new().actors((0..count).map(|_| walker(1)))
}

fn all_searches(system: &System<()>) -> [Report; 5] {
    [
        system.checker().bfs(),
        system.checker().workers(2).bfs(),
        system.checker().dfs(),
        system.checker().local(),
        system.checker().local_gen(),
    ]
}

#[test]
fn local_search_took_one_key_alone_for_all_keys() {
    let one_is_left =
        || projected(|state: &u8| Some(*state), |keys: &[&u8]| keys.iter().any(|key| **key == 1));
    for found in all_searches(&walkers(3).always("one is left", one_is_left())) {
        assert_eq!(found.assert_violated("one is left").steps.len(), 3, "{found}");
    }
    // None is left after three steps, and that is found, too.
    let none_is_left =
        || projected(|state: &u8| Some(*state), |keys: &[&u8]| keys.iter().all(|key| **key == 0));
    for found in all_searches(&walkers(3).sometimes("none is left", none_is_left())) {
        assert_eq!(found.assert_properties().discovery("none is left").map(|way| way.steps.len()), Some(3));
    }
    let agreement = || agree(|state: &u8| Some(*state));
    for found in all_searches(&walkers(3).sometimes("agreement", agreement())) {
        assert_eq!(found.assert_properties().discovery("agreement").map(|way| way.steps.len()), Some(0));
    }
    let odd = || projected(|state: &u8| (*state < 2).then_some(()), |keys: &[&()]| keys.len() % 2 == 1);
    for found in all_searches(&walkers(3).always("odd", odd())) {
        found.assert_properties();
    }
}

/// Counts to a thousand, and fails there.
fn long_fuse() -> Timed<u32> {
    deaf(0, |state, out| {
        *state += 1;
        assert!(*state < 1_000, "a thousand is too much");
        out.set_timer((), SECOND);
    })
}

#[test]
fn a_search_that_was_cut_did_not_know_that_no_handler_panics() {
    let system = System::new().actor(long_fuse()).sometimes("moves", local(|state: &u32| *state == 1));
    for found in [
        system.checker().states_max(10).bfs(),
        system.checker().states_max(10).dfs(),
        system.checker().states_max(10).local(),
        system.checker().depth_max(5).bfs(),
        system.checker().depth_max(5).dfs(),
        system.checker().depth_max(5).local(),
        system.checker().depth_max(5).local_gen(),
    ] {
        assert_eq!(found.verdict, Verdict::NotExhausted, "{found}");
        assert!(found.note.is_some(), "{found}");
    }
    for found in [system.checker().bfs(), system.checker().dfs(), system.checker().local()] {
        assert_eq!(found.assert_violated("no handler panics").steps.len(), 1_000);
    }
}

#[test]
fn a_search_that_found_all_it_looked_for_and_came_to_an_end_holds() {
    for found in all_searches(&walkers(2).sometimes("moves", local(|state: &u8| *state == 0))) {
        found.assert_properties();
    }
}

#[test]
fn what_lies_behind_a_boundary_counted_as_reached() {
    // It is never within the boundary that the condition becomes true.
    let system = walkers(1)
        .within(|states| states.of::<u8>().all(|(_, state)| *state == 1))
        .eventually("arrives", local(|state: &u8| *state == 0));
    for found in [system.checker().bfs(), system.checker().dfs()] {
        assert_eq!(found.verdict, Verdict::NotExhausted, "{found}");
        assert!(found.note.as_ref().is_some_and(|note| note.contains("boundary")), "{found}");
    }
    // Where the condition has become true before, the boundary does not matter.
    let system = walkers(2)
        .within(|states| states.of::<u8>().filter(|(_, state)| **state == 0).count() < 2)
        .eventually("one arrives", global(|states| states.of::<u8>().any(|(_, state)| *state == 0)));
    for found in [system.checker().bfs(), system.checker().dfs()] {
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
        assert!(found.note.as_ref().is_some_and(|note| note.contains("boundary")), "{found}");
    }
}

#[test]
fn what_holds_within_a_boundary_is_said_to_hold_there_only() {
    let near = |system: System<()>| system.within(|states| states.of::<u8>().any(|(_, state)| *state == 1));
    let moving = local(|state: &u8| *state == 1);
    for found in all_searches(&near(walkers(1)).always("moving", moving)) {
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
        assert!(found.note.as_ref().is_some_and(|note| note.contains("boundary")), "{found}");
    }
    let arrived = local(|state: &u8| *state == 0);
    for found in all_searches(&near(walkers(1)).sometimes("arrived", arrived)) {
        assert_eq!(found.verdict, Verdict::Violated, "{found}");
        assert!(found.note.as_ref().is_some_and(|note| note.contains("boundary")), "{found}");
    }
    for found in all_searches(&walkers(1).within(|_| false)) {
        assert_eq!(found.verdict, Verdict::CannotRun, "{found}");
        assert!(found.note.as_ref().is_some_and(|note| note.contains("within()")), "{found}");
    }
}

fn cannot_run(found: &Report, words: &[&str]) {
    assert_eq!((found.verdict, found.verdict.exit_code()), (Verdict::CannotRun, 2), "{found}");
    let note = found.note.clone().unwrap_or_default();
    for word in words {
        assert!(note.contains(word), "{word:?} is missing: {found}");
    }
}

#[test]
fn a_condition_that_panics_took_the_checker_with_it() {
    let broken = |what: usize| {
        let fails = |state: u8| {
            assert!(state != 0, "it is zero");
            true
        };
        let system = walkers(2);
        match what {
            0 => system.always("broken", local(move |state: &u8| fails(*state))),
            1 => system.always("broken", pairwise(move |one: &u8, _: &u8| fails(*one))),
            2 => system.always("broken", projected(move |state: &u8| fails(*state).then_some(()), |_| true)),
            3 => system.always("broken", agree(move |state: &u8| fails(*state).then_some(()))),
            4 => system.sometimes(
                "broken",
                projected(|s: &u8| Some(*s), move |k: &[&u8]| k.iter().any(|k| !fails(**k))),
            ),
            5 => system.always("broken", global(move |all| all.of::<u8>().all(|(_, state)| fails(*state)))),
            6 => system.sometimes("broken", local(move |state: &u8| !fails(*state))),
            _ => system.within(move |all| all.of::<u8>().all(|(_, state)| fails(*state))),
        }
    };
    for what in 0..8 {
        let name = if what == 7 { "within()" } else { "\"broken\"" };
        for found in all_searches(&broken(what)) {
            cannot_run(&found, &[name, "it is zero", "after timeout", "0 is"]);
        }
    }
    let eventually = walkers(1).eventually(
        "broken",
        local(|state: &u8| {
            assert!(*state != 0, "it is zero");
            false
        }),
    );
    for found in [eventually.checker().bfs(), eventually.checker().dfs()] {
        cannot_run(&found, &["\"broken\"", "it is zero", "timeout 0: ()"]);
    }
}

#[test]
fn local_search_said_holds_where_the_boundary_panics() {
    let panics_if = |wrong: fn(u8, u8) -> bool| {
        let within = move |states: &simurgh_protocol::States<'_>| {
            let [one, other] = [0, 1].map(|actor| states.get::<u8>(ActorId(actor)).copied().unwrap_or(9));
            assert!(!wrong(one, other), "neither here nor there");
            one > 0 || other > 0
        };
        walkers(2).within(within).always("low", local(|state: &u8| *state < 2))
    };
    // Only the second has moved; nothing seems to be wrong with the property.
    for found in all_searches(&panics_if(|one, other| one == 1 && other == 0)) {
        cannot_run(&found, &["within()", "neither here nor there", "after timeout 1", "1 is 0"]);
    }
    // Never: walkers stop at zero.
    for found in all_searches(&panics_if(|one, _| one > 1)) {
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
    }
    // Behind the boundary only: one has to get to zero after the other, and both are there then, outside.
    let system = walkers(3).within(|states| {
        let arrived = states.of::<u8>().filter(|(_, state)| **state == 0).count();
        assert!(arrived < 3, "nobody comes here");
        arrived < 2
    });
    for found in all_searches(&system) {
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
    }
}

#[test]
fn a_history_that_panics_took_the_checker_with_it() {
    let system = |concerns: bool| {
        System::new()
            .actor(walker(1))
            .actor(sender())
            .history(
                0_u8,
                move |()| {
                    assert!(concerns, "it was not asked for");
                    true
                },
                |_: &mut u8, _: Happened<'_, ()>| panic!("nothing is to be told"),
            )
            .always("no history", history(|told: &u8| *told == 0))
    };
    for (concerns, word) in [(true, "nothing is to be told"), (false, "it was not asked for")] {
        let system = system(concerns);
        for found in [system.checker().bfs(), system.checker().workers(2).bfs(), system.checker().dfs()] {
            cannot_run(&found, &["history()", word]);
        }
    }
}

/// It said that all holds: what a history is told may panic where no property looks at it.
#[test]
fn local_search_keeps_no_history() {
    let system = System::new().actor(walker(1)).actor(sender()).history(
        0_u8,
        |()| true,
        |_: &mut u8, _: Happened<'_, ()>| panic!("nothing is to be told"),
    );
    for found in all_searches(&system) {
        cannot_run(&found, &["history()"]);
    }
    cannot_run(&system.checker().bfs(), &["nothing is to be told"]);
    cannot_run(&system.checker().local(), &["local search does not know", "use bfs or dfs"]);
}

/// What was left out took the place of what else was to be known.
#[test]
fn all_notes_are_told() {
    let counter = deaf(0_u8, |count, out| {
        *count += 1;
        out.set_timer((), SECOND);
    });
    let system = System::new().actor(counter).within(|_| true);
    let options = Options { coexistence_states_max: 1, ..Options::default() };
    let found = system.checker().depth_max(3).local_options(options).local();
    let note = found.note.as_deref().unwrap_or_default();
    for part in ["3 steps of one actor were the bound", "coexistence was given up", "within"] {
        assert!(note.contains(part), "{part}: {note}");
    }
}

/// The report spoke of 0 states, depth 0 and 1 steps.
#[test]
fn reports_count_what_their_engine_counts() {
    let system = || System::new().actor(walker(0)).always("stays", local(|at: &u8| *at == 0));
    for found in [system().checker().bfs(), system().checker().optimal()] {
        let text = found.to_string();
        let counts = text.lines().nth(1).unwrap_or_default();
        assert!(counts.contains("1 transition"), "{text}");
        for wrong in ["0 states", "0 executions", "depth 0", "1 transitions"] {
            assert!(!counts.contains(wrong), "{text}");
        }
        assert!(text.contains("always \"stays\" is violated, in 1 step:"), "{text}");
    }
}

/// Sends when its timer goes off.
fn sender() -> Timed<()> {
    deaf((), |(), out| out.send(ActorId(0), ()))
}

const RACERS: [ActorId; 3] = [ActorId(0), ActorId(1), ActorId(2)];

/// Whoever moves first gets all the way.
fn racer() -> Timed<u8> {
    let on_timeout = |state: &mut u8, out: &mut Out<Timed<u8>>| {
        *state += 1;
        if *state == 1 {
            out.broadcast(RACERS, ());
        }
        if *state < 3 {
            out.set_timer((), SECOND);
        }
    };
    Timed { first: 0, on_msg: |_, out| out.cancel_timer(()), on_timeout }
}

fn racers() -> System<()> {
    System::new().actors((0..3).map(|_| racer())).symmetric(RACERS)
}

#[test]
fn symmetric_said_nothing_of_conditions_that_name_an_actor() {
    let first_wins = |actor: u32| {
        global(move |states: &simurgh_protocol::States<'_>| states.get::<u8>(ActorId(actor)) != Some(&3))
    };
    for actor in 0..3 {
        let system = racers().always("not this one", first_wins(actor));
        for found in [system.checker().bfs(), system.checker().workers(2).bfs(), system.checker().dfs()] {
            // Violated for whoever is looked at, or told to be no question for symmetric actors.
            match found.verdict {
                Verdict::Violated => assert_eq!(found.assert_violated("not this one").steps.len(), 3),
                _ => cannot_run(&found, &["symmetric()", "\"not this one\""]),
            }
        }
        system.checker().local().assert_violated("not this one");
    }
    let boundary = racers().within(|states| states.get::<u8>(ActorId(1)) != Some(&2));
    for found in [boundary.checker().bfs(), boundary.checker().dfs()] {
        cannot_run(&found, &["symmetric()", "within()"]);
    }
    let tell = |told: &mut u32, happened: Happened<'_, ()>| {
        if let Happened::Sent { from, .. } = happened {
            *told = from.0;
        }
    };
    cannot_run(&racers().history(0, |()| true, tell).checker().bfs(), &["symmetric()", "history"]);
    racers().always("up to three", local(|state: &u8| *state <= 3)).checker().bfs().assert_properties();
}

#[test]
fn symmetric_had_to_be_said_before_the_history() {
    let tell = |told: &mut Option<ActorId>, happened: Happened<'_, ()>| {
        if let Happened::Sent { from, .. } = happened {
            *told = Some(from);
        }
    };
    let actors = || System::new().actors((0..3).map(|_| racer()));
    let before = actors().symmetric(RACERS).history(None, |()| true, tell);
    let after = actors().history(None, |()| true, tell).symmetric(RACERS);
    assert_eq!(after.checker().bfs().states, before.checker().bfs().states);
}

#[test]
fn local_search_with_queues_exchanged_actors_that_it_had_told_apart() {
    let last_wins = global(|states: &simurgh_protocol::States<'_>| states.get::<u8>(ActorId(2)) != Some(&3));
    let system = racers().network(Network::Ordered).always("not the last", last_wins);
    for found in [system.checker().local(), system.checker().local_gen()] {
        assert_eq!(found.assert_violated("not the last").steps.len(), 3, "{found}");
    }
}

/// Starts in 0 or in 10, and counts up.
struct Chooser;

impl Actor for Chooser {
    type Msg = u8;
    type State = u8;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        out.set_timer((), Duration::from_secs(1));
        10 * out.choose(2) as u8
    }

    fn on_msg(&self, _: &mut u8, _: ActorId, _: &u8, _: &mut Out<Self>) {}

    fn on_timeout(&self, state: &mut u8, (): &(), out: &mut Out<Self>) {
        *state += 1;
        if !state.is_multiple_of(10) && *state % 10 < 3 {
            out.set_timer((), Duration::from_secs(1));
        }
    }
}

#[test]
fn a_start_outside_of_the_boundary_is_not_gone_on_from() {
    for avoided in [0, 1] {
        let system = System::new()
            .actor(Chooser)
            .within(|states| states.get::<u8>(ActorId(0)).is_none_or(|state| *state > 9))
            .always("avoided", local(move |state: &u8| *state != avoided));
        let searches = [
            system.checker().bfs(),
            system.checker().dfs(),
            system.checker().local(),
            system.checker().optimal(),
            system.checker().source(),
            system.checker().dpor(),
            system.checker().interleavings(),
        ];
        for found in searches {
            assert_eq!(found.verdict, Verdict::Holds, "{found}");
        }
        assert_eq!(system.checker().executions_max(10).random(1).verdict, Verdict::NotExhausted);
    }
}

#[test]
fn some_pair_is_in_one_order_only() {
    let two = || System::new().actor(Chooser).actor(Chooser);
    let ahead = two().sometimes("one is ahead", pairwise(|one: &u8, other: &u8| one < other));
    let never = two().always("none is ahead", pairwise(|one: &u8, other: &u8| one >= other));
    for (system, verdict) in [(ahead, Verdict::Holds), (never, Verdict::Violated)] {
        let searches = [
            system.checker().bfs(),
            system.checker().dfs(),
            system.checker().local(),
            system.checker().optimal(),
        ];
        for found in searches {
            assert_eq!(found.verdict, verdict, "{found}");
        }
    }
}

#[test]
fn mistakes_of_who_asks_are_told() {
    let foreign = System::new().actor(Chooser).always("foreign", local(|state: &u16| *state > 0));
    let told = foreign.checker().bfs();
    assert_eq!(told.verdict, Verdict::CannotRun, "{told}");
    assert!(told.note.is_some_and(|note| note.contains("of a type that no actor has")));
    let twice =
        System::new().actor(Chooser).history(0_u8, |_| true, |_, _| {}).history(0_u16, |_| true, |_, _| {});
    assert_eq!(twice.checker().dfs().verdict, Verdict::CannotRun);
    let both = System::new()
        .actor(Chooser)
        .within(|states| states.get::<u8>(ActorId(0)).is_none_or(|state| *state > 9))
        .within(|states| states.get::<u8>(ActorId(0)).is_none_or(|state| *state < 12));
    assert_eq!(both.checker().bfs().states, 2);
    let none = both.checker().depth_max(0).dfs();
    assert_eq!((none.verdict, none.states), (Verdict::NotExhausted, 1), "{none}");
}

#[test]
fn an_eventually_is_refused_where_actors_are_symmetric() {
    let system = walkers(2)
        .symmetric([ActorId(0), ActorId(1)])
        .always("low", local(|state: &u8| *state < 2))
        .eventually("arrives", local(|state: &u8| *state == 0));
    for found in [system.checker().bfs(), system.checker().dfs()] {
        assert_eq!(found.verdict, Verdict::NotExhausted, "{found}");
        let note = "\"arrives\" is an eventually, which cannot be looked for with symmetric()";
        assert_eq!(found.note.as_deref(), Some(note));
    }
}

/// Answers with what a static says.
struct Fickle;

static ASKED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

impl Actor for Fickle {
    type Msg = u32;
    type State = u32;
    type Timer = ();
    fn on_start(&self, out: &mut Out<Self>) -> u32 {
        out.send(out.me(), 7);
        0
    }
    fn on_msg(&self, state: &mut u32, _: ActorId, _: &u32, _: &mut Out<Self>) {
        *state = ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2;
    }
}

#[test]
fn handlers_that_depend_on_more_than_their_arguments_held() {
    let system = || System::new().actor(Fickle).always("small", local(|state: &u32| *state < 2));
    let all = [
        system().checker().bfs(),
        system().checker().dfs(),
        system().checker().local(),
        system().checker().optimal(),
        system().checker().random(1),
    ];
    for found in all {
        assert_eq!(found.verdict, Verdict::CannotRun, "{found}");
        let note = found.note.as_deref().unwrap_or_default();
        assert!(
            note.starts_with("actor 0 did something else when the same happened to it once more"),
            "{note}"
        );
    }
}
