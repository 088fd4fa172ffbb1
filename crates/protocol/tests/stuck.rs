//! Code of a user that does not come back: every search says whose it is, and ends.

#![allow(clippy::disallowed_methods, reason = "how long it takes until something is told is what is tested")]

use std::process::Command;
use std::time::{Duration, Instant};

use simurgh_protocol::{
    Actor, ActorId, Checker, Condition, Durable, Fairness, Happened, Out, Report, System, Verdict, Whose,
    agree, global, history, local, pairwise, world,
};

/// Short, for tests; much longer than anything that comes back takes.
const PATIENCE: Duration = Duration::from_millis(400);

/// Where code does not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Nowhere,
    Start,
    Msg,
    Timeout,
    Stored,
    Recover,
}

fn never<T>() -> T {
    loop {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Greets somebody when its timer goes off.
#[derive(Clone, Copy)]
struct Peer(At, ActorId);

impl Peer {
    fn pass(self, at: At) {
        if self.0 == at {
            never()
        }
    }
}

impl Actor for Peer {
    type Msg = u8;
    type State = u8;
    type Timer = char;

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        self.pass(At::Start);
        out.set_timer('t', Duration::from_secs(1));
        0
    }

    fn on_msg(&self, state: &mut u8, _: ActorId, msg: &u8, _: &mut Out<Self>) {
        self.pass(At::Msg);
        *state |= *msg;
    }

    fn on_timeout(&self, state: &mut u8, _: &char, out: &mut Out<Self>) {
        self.pass(At::Timeout);
        *state |= 1;
        out.send(self.1, 2);
    }
}

impl Durable for Peer {
    type Stored = u8;

    fn stored(&self, state: &u8) -> u8 {
        self.pass(At::Stored);
        *state
    }

    fn on_recover(&self, stored: &u8, _: &mut Out<Self>) -> u8 {
        self.pass(At::Recover);
        *stored
    }
}

/// One that does well, and one that does not come back.
fn peers(at: At) -> System<u8> {
    System::new().durable(Peer(At::Nowhere, ActorId(1))).durable(Peer(at, ActorId(0)))
}

/// One that crashes; with two, the other could crash for ever.
fn alone(at: At) -> System<u8> {
    System::new().durable(Peer(at, ActorId(0))).crashes(1)
}

type Search = (&'static str, fn(Checker<'_>) -> Report);

const SEARCHES: [Search; 12] = [
    ("bfs", |checker| checker.bfs()),
    ("bfs, two workers", |checker| checker.workers(2).bfs()),
    ("dfs", |checker| checker.dfs()),
    ("dfs, two workers", |checker| checker.workers(2).dfs()),
    ("local", |checker| checker.local()),
    ("local-gen", |checker| checker.local_gen()),
    ("optimal", |checker| checker.optimal()),
    ("source", |checker| checker.source()),
    ("dpor", |checker| checker.dpor()),
    ("interleavings", |checker| checker.interleavings()),
    ("random", |checker| checker.random(1)),
    ("pct", |checker| checker.pct(1, 2)),
];

/// Runs searches, all at once, and expects of each that it gives up on the same code.
fn assert_stuck(searches: &[Search], system: impl Fn() -> System<u8> + Sync, whose: &Whose) {
    std::thread::scope(|scope| {
        for (name, search) in searches {
            let system = &system;
            scope.spawn(move || {
                let found = search(system().checker().stuck_after(PATIENCE));
                assert_eq!(
                    (found.verdict, found.verdict.exit_code()),
                    (Verdict::NotExhausted, 3),
                    "{name}: {found}"
                );
                let stuck = found.stuck.as_ref().unwrap_or_else(|| panic!("{name}: {found}"));
                assert_eq!(&stuck.whose, whose, "{name}: {found}");
                assert!((0.4..5.0).contains(&stuck.seconds), "{name}: {found}");
                assert!(found.to_string().contains("did not come back"), "{name}: {found}");
                assert!(found.violation().is_none(), "{name}: {found}");
            });
        }
    });
}

fn handler(actor: u32, call: &str) -> Whose {
    Whose::Handler { actor, call: call.into() }
}

fn asked(what: &str) -> Whose {
    Whose::Asked(what.into())
}

#[test]
fn a_handler_that_does_not_come_back_hung_every_search() {
    assert_stuck(&SEARCHES, || peers(At::Start), &handler(1, "on_start()"));
    assert_stuck(&SEARCHES, || peers(At::Msg), &handler(1, "on_msg(0, 2)"));
    assert_stuck(&SEARCHES, || peers(At::Timeout), &handler(1, "on_timeout('t')"));
    assert_stuck(&SEARCHES, || alone(At::Stored), &handler(0, "stored()"));
    assert_stuck(&SEARCHES, || alone(At::Recover), &handler(0, "on_recover()"));
}

#[test]
fn a_condition_that_does_not_come_back_hung_every_search() {
    let conditions: [fn() -> Condition<u8>; 4] = [
        || local(|state: &u8| *state < 3 || never()),
        || pairwise(|one: &u8, other: &u8| *one < 3 || *other < 3 || never()),
        || agree(|state: &u8| if *state == 3 { never() } else { None::<u8> }),
        || global(|states| states.get(ActorId(0)) != Some(&3_u8) || never()),
    ];
    for condition in conditions {
        let system = || {
            peers(At::Nowhere).always("fine", condition()).sometimes("far", local(|state: &u8| *state > 9))
        };
        assert_stuck(&SEARCHES, system, &asked("the condition of \"fine\""));
    }
    // What local search cannot see.
    let seen = |states: &[u8]| states.len() < 2 || never();
    let whole: [fn() -> Condition<u8>; 2] = [
        || world(|world| world.messages().count() == 0 || never()),
        || history(|told: &Vec<u8>| told.is_empty() || never()),
    ];
    let others: Vec<Search> = SEARCHES.into_iter().filter(|(name, _)| !name.starts_with("local")).collect();
    for condition in whole {
        let tell = |told: &mut Vec<u8>, happened: Happened<'_, u8>| {
            let (Happened::Sent { msg, .. } | Happened::Received { msg, .. }) = happened;
            told.push(*msg);
        };
        let system = || peers(At::Nowhere).history(Vec::new(), |_| true, tell).always("fine", condition());
        assert_stuck(&others, system, &asked("the condition of \"fine\""));
    }
    let tell = move |told: &mut Vec<u8>, _: Happened<'_, u8>| {
        told.push(1);
        seen(told);
    };
    assert_stuck(&others, || peers(At::Nowhere).history(Vec::new(), |_| true, tell), &asked("history()"));
}

#[test]
fn a_boundary_that_does_not_come_back_hung_every_search() {
    let early = || peers(At::Nowhere).within(|_| never());
    assert_stuck(&SEARCHES, early, &asked("within()"));
    let late = || peers(At::Nowhere).within(|states| states.get(ActorId(0)) != Some(&3_u8) || never());
    assert_stuck(&SEARCHES, late, &asked("within()"));
}

#[test]
fn an_eventually_that_does_not_come_back_hung_its_search() {
    let searches: [Search; 3] = [
        ("bfs", |checker| checker.bfs()),
        ("bfs, two workers", |checker| checker.workers(2).fairness(Fairness::Weak).bfs()),
        ("dfs", |checker| checker.fairness(Fairness::Unfair).dfs()),
    ];
    let system = || peers(At::Nowhere).eventually("greeted", local(|state: &u8| *state == 3 && never()));
    assert_stuck(&searches, system, &asked("the condition of \"greeted\""));
}

/// Who stops a search by a clock waited for ever where a handler did not come back.
#[test]
fn a_clock_is_heard_while_a_handler_does_not_come_back() {
    std::thread::scope(|scope| {
        for (name, search) in SEARCHES {
            scope.spawn(move || {
                let begin = Instant::now();
                let system = peers(At::Msg);
                let checker = system.checker().stuck_after(Duration::MAX);
                let found = search(checker.stop_when(|_| begin.elapsed() > Duration::from_millis(200)));
                let took = begin.elapsed();
                assert!(took < Duration::from_millis(2000), "{name}: {took:?}");
                assert_eq!(found.verdict, Verdict::NotExhausted, "{name}: {found}");
                let note = found.note.as_deref().unwrap_or_default();
                let expected = "it was stopped: actor 1 did not come back from on_msg(0, 2) for ";
                assert!(note.starts_with(expected), "{name}: {found}");
            });
        }
    });
}

/// Takes long, and comes back.
#[derive(Clone, Copy)]
struct Slow;

impl Actor for Slow {
    type Msg = u8;
    type State = u8;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        (0..4).for_each(|msg| out.send(ActorId(0), msg));
        0
    }

    fn on_msg(&self, state: &mut u8, _: ActorId, msg: &u8, _: &mut Out<Self>) {
        std::thread::sleep(Duration::from_millis(30));
        *state |= 1 << *msg;
    }
}

#[test]
fn handlers_that_take_long_together_are_not_stuck() {
    // 16 states, in which 32 handlers run, twice each.
    let begin = Instant::now();
    let found = System::new().actor(Slow).checker().stuck_after(PATIENCE).bfs();
    assert!(begin.elapsed() > PATIENCE);
    assert_eq!(found.assert_holds().stuck, None);
}

#[test]
fn a_panic_of_who_stops_a_search_is_passed_on() {
    let stopped = std::panic::catch_unwind(|| {
        let counters = System::new().actors([Slow, Slow, Slow]);
        counters.checker().stop_when(|_| std::panic::panic_any(7_u8)).local()
    });
    assert_eq!(stopped.unwrap_err().downcast_ref(), Some(&7_u8));
}

/// Ends the process.
struct Quitter;

impl Actor for Quitter {
    type Msg = u8;
    type State = u8;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        out.send(ActorId(0), 7);
        0
    }

    fn on_msg(&self, _: &mut u8, _: ActorId, _: &u8, _: &mut Out<Self>) {
        std::process::exit(0)
    }
}

#[test]
#[ignore = "ends the process"]
fn quits() {
    let _ = match std::env::var("SEARCH").as_deref() {
        Ok("condition") => {
            System::new().actor(Slow).always("fine", local(|_: &u8| std::process::exit(0))).checker().bfs()
        }
        Ok("local") => System::new().actor(Quitter).checker().local(),
        _ => System::new().actor(Quitter).checker().workers(2).bfs(),
    };
}

/// A test that ended the process was passed, whatever else was to be seen.
#[test]
fn code_that_ends_the_process_was_taken_for_an_answer() {
    for (search, who) in [
        ("bfs", "actor 0 ends the process in on_msg(0, 7) (`std::process::exit`)"),
        ("local", "actor 0 ends the process in on_msg(0, 7) (`std::process::exit`)"),
        ("condition", "the condition of \"fine\" ends the process (`std::process::exit`)"),
    ] {
        let program = std::env::current_exe().expect("this test has a file");
        let arguments = ["--ignored", "--exact", "quits", "--nocapture"];
        let ended = Command::new(program).args(arguments).env("SEARCH", search).output().expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{search}: {said}");
        assert!(said.contains(who) && said.contains("let handlers return, or panic"), "{search}: {said}");
    }
}
