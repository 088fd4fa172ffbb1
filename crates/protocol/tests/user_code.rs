//! Code of a user that panics, is not the same twice, ends the process or never comes back: that, and nothing else, is said.

mod common;

use std::hash::{Hash, Hasher};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{SECOND, Timed, deaf, walker};
use simurgh_protocol::{
    Actor, ActorId, Checker, Happened, Out, Outcome, Report, System, Trait, Verdict, Whose, agree, global,
    history, local, pairwise, world,
};

type Search = (&'static str, fn(Checker<'_>) -> Report);

fn searches() -> [Search; 10] {
    [
        ("bfs", |checker| checker.bfs()),
        ("bfs, two workers", |checker| checker.workers(2).bfs()),
        ("dfs", |checker| checker.dfs()),
        ("local", |checker| checker.local()),
        ("local-gen", |checker| checker.local_gen()),
        ("optimal", |checker| checker.optimal()),
        ("source", |checker| checker.source()),
        ("interleavings", |checker| checker.interleavings()),
        ("random", |checker| checker.random(1)),
        ("pct", |checker| checker.pct(1, 2)),
    ]
}

/// Goes to 1, and panics after that.
fn fails() -> Timed<u8> {
    deaf(0, |state, out| {
        assert!(*state == 0, "one is enough");
        *state = 1;
        out.set_timer((), SECOND);
    })
}

/// What was left after a panic was taken for a state of the protocol, in which an actor is missing.
#[test]
fn a_state_after_a_panic_decides_nothing_else() {
    let all_there = || global(|states| states.of::<u8>().count() == 2);
    let one_missing = || global(|states| states.of::<u8>().count() == 1);
    let system = || System::new().actor(fails()).actor(walker(0));
    for (name, search) in searches() {
        let found = search(system().always("all are there", all_there()).checker());
        assert_eq!(found.violation().map(|found| found.name.as_str()), Some("no handler panics"), "{name}");
        let outcome = |found: &Report, name: &str| {
            found.findings.iter().find(|finding| finding.name == name).map(|finding| finding.outcome.clone())
        };
        assert_eq!(outcome(&found, "all are there"), Some(Outcome::Unknown), "{name}: {found}");
        let found = search(system().sometimes("one is missing", one_missing()).checker());
        assert_eq!(outcome(&found, "one is missing"), Some(Outcome::Unknown), "{name}: {found}");
        let found = search(system().sometimes("disagree", agree(|state: &u8| Some(*state))).checker());
        found.assert_violated("no handler panics");
    }
}

/// The boundary was asked about what is left after a panic, and left it out.
#[test]
fn no_boundary_hides_a_panic() {
    let within = |states: &simurgh_protocol::States<'_>| states.of::<u8>().count() == 2;
    for (name, search) in searches() {
        let found = search(System::new().actor(fails()).actor(walker(0)).within(within).checker());
        assert!(found.assert_violated("no handler panics").steps.len() >= 2, "{name}: {found}");
    }
}

/// Panics at the message that it sends to itself.
struct Refuses;

impl Actor for Refuses {
    type Msg = ();
    type State = u8;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        out.send(out.me(), ());
        0
    }

    fn on_msg(&self, _: &mut u8, _: ActorId, (): &(), _: &mut Out<Self>) {
        panic!("not this one")
    }
}

#[test]
fn a_history_is_not_told_of_what_a_handler_panicked_at() {
    let tell = |_: &mut u8, happened: Happened<'_, ()>| {
        assert!(matches!(happened, Happened::Sent { .. }), "it was not received");
    };
    let system = System::new().actor(Refuses).history(0_u8, |()| true, tell);
    for (name, search) in searches().into_iter().filter(|(name, _)| !name.starts_with("local")) {
        let found = search(system.checker());
        assert_eq!(found.assert_violated("no handler panics").steps.len(), 1, "{name}: {found}");
    }
}

/// An answer that nobody expects (it has no period).
fn is_odd() -> bool {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    ASKED.fetch_add(1, Ordering::Relaxed).count_ones() % 2 == 1
}

/// Some held, some were violated, by chance.
#[test]
fn conditions_that_are_not_the_same_twice_are_told() {
    let walkers = || System::new().actor(walker(0)).actor(walker(1));
    let says = |system: System<()>, what: &str, is_local: bool| {
        for (name, search) in
            searches().into_iter().filter(|(name, _)| is_local || !name.starts_with("local"))
        {
            let found = search(system.checker());
            let note = found.note.as_deref().unwrap_or_default();
            assert_eq!(found.verdict, Verdict::CannotRun, "{name}: {found}");
            let told = format!("not deterministic: {what} gave another answer about the same");
            assert!(note.starts_with(&told), "{name}: {found}");
        }
    };
    let what = "the condition of \"fickle\"";
    says(walkers().always("fickle", local(|_: &u8| is_odd())), what, true);
    says(walkers().sometimes("fickle", local(|_: &u8| is_odd())), what, true);
    says(walkers().always("fickle", pairwise(|_: &u8, _: &u8| is_odd())), what, true);
    says(walkers().always("fickle", agree(|_: &u8| Some(is_odd()))), what, true);
    says(walkers().always("fickle", global(|_| is_odd())), what, true);
    says(walkers().always("fickle", world(|_| is_odd())), what, false);
    let told = || walkers().actor(Refuses).history(0_u8, |()| true, |_, _| {});
    says(told().always("fickle", history(|_: &u8| is_odd())), what, false);
    says(walkers().within(|_| is_odd()), "within()", true);
    let tell = |history: &mut bool, _: Happened<'_, ()>| *history = is_odd();
    says(walkers().actor(Refuses).history(false, |()| true, tell), "history()", false);
    says(walkers().actor(Refuses).history(0_u8, |()| is_odd(), |_, _| {}), "history()", false);
}

/// A state whose traits misbehave once it is 2.
#[derive(Default)]
struct State(u8, Option<(Trait, Does)>);

#[derive(Copy, Clone, PartialEq, Eq)]
enum Does {
    Panics,
    Hangs,
    Exits,
}

impl State {
    fn called(&self, of: Trait) {
        let Some((_, does)) = self.1.filter(|(misbehaving, _)| self.0 == 2 && *misbehaving == of) else {
            return;
        };
        match does {
            Does::Panics if std::thread::panicking() => {}
            Does::Panics => panic!("as it was built"), // <- panics
            Does::Exits => std::process::exit(0),
            Does::Hangs => loop {
                std::thread::sleep(Duration::from_millis(1));
            },
        }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        self.called(Trait::Clone);
        Self(self.0, self.1)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.called(Trait::Eq);
        self.0 == other.0
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.called(Trait::Hash);
        self.0.hash(state);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.called(Trait::Debug);
        write!(f, "{}", self.0)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.called(Trait::Drop);
    }
}

/// Counts up to 3.
fn counts(of: Trait, does: Does) -> System<()> {
    let count = |state: &mut State, out: &mut Out<Timed<State>>| {
        state.0 += 1;
        if state.0 < 3 {
            out.set_timer((), SECOND);
        }
    };
    let counter = deaf(State(0, Some((of, does))), count);
    let system = System::new().actor(counter);
    match of {
        // Where a condition panics, the states are shown.
        Trait::Debug => system.always("not two", local(|state: &State| [true, true][state.0 as usize])),
        _ => system,
    }
}

const TRAITS: [Trait; 5] = [Trait::Clone, Trait::Debug, Trait::Drop, Trait::Eq, Trait::Hash];

/// The panic came out of the search.
#[test]
fn a_value_that_panics_is_told_with_its_trait_and_line() {
    let line = include_str!("user_code.rs").lines().position(|line| line.ends_with("// <- panics"));
    let line = line.expect("a line with it") + 1;
    for of in TRAITS {
        for (name, search) in searches() {
            let found = search(counts(of, Does::Panics).checker());
            let told = format!("user_code.rs:{line}: the {of} of a value panics: as it was built");
            let note = found.note.as_deref().unwrap_or_default();
            assert!(note.contains(&told), "{of} {name}: {found}");
            // What copies a state for a handler may be taken for the handler.
            let expected = if of == Trait::Clone { Verdict::Violated } else { Verdict::CannotRun };
            assert!([expected, Verdict::CannotRun].contains(&found.verdict), "{of} {name}: {found}");
        }
    }
}

#[test]
fn a_value_that_never_comes_back_is_told() {
    std::thread::scope(|scope| {
        for of in TRAITS {
            for (name, search) in searches() {
                scope.spawn(move || {
                    let system = counts(of, Does::Hangs);
                    let found = search(system.checker().stuck_after(Duration::from_millis(500)));
                    assert_eq!(found.verdict, Verdict::NotExhausted, "{of} {name}: {found}");
                    let whose = found.stuck.map(|stuck| stuck.whose);
                    assert_eq!(whose, Some(Whose::Value(Some(of))), "{name}");
                });
            }
        }
    });
}

#[test]
#[ignore = "ends the process"]
fn quits() {
    let number: usize = std::env::var("TRAIT").ok().and_then(|text| text.parse().ok()).expect("a number");
    let _ = counts(TRAITS[number], Does::Exits).checker().bfs();
}

/// The test was passed.
#[test]
fn a_value_that_ends_the_process_is_told() {
    for (number, of) in TRAITS.iter().enumerate() {
        let program = std::env::current_exe().expect("this test has a file");
        let arguments = ["--ignored", "--exact", "quits"];
        let ended =
            Command::new(program).args(arguments).env("TRAIT", number.to_string()).output().expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{of}: {said}");
        assert!(said.contains(&format!("the {of} of a value ends the process")), "{of}: {said}");
    }
}
