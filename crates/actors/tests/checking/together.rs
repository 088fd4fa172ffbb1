//! Several checks at once, in one process, and without a word.

use std::process::Command;

use simurgh::{CheckReport, Counterexample, Engine, ExploreReport};

use super::{fan_in, one_seat, panicking, wrong};

#[test]
fn checks_run_at_the_same_time() {
    std::thread::scope(|scope| {
        let checks: Vec<_> = (0..8)
            .map(|number| {
                scope.spawn(move || match number % 4 {
                    0 => simurgh::check(fan_in(5, false)).assert_holds().executions,
                    1 => simurgh::check(panicking).assert_violated().schedule.len() as u64,
                    2 => simurgh::check(one_seat).all().run().counterexamples.len() as u64,
                    _ => simurgh::check(wrong).workers(2).all().run().executions,
                })
            })
            .collect();
        let counts: Vec<_> = checks.into_iter().map(|check| check.join().expect("it ends")).collect();
        assert_eq!(counts, [120, 1, 2, 4, 120, 1, 2, 4]);
    });
}

#[test]
fn reports_go_where_they_are_wanted() {
    fn everywhere<T: Send + Sync + 'static>() {}
    everywhere::<CheckReport>();
    everywhere::<Counterexample>();
    everywhere::<ExploreReport>();
}

/// Run by the next one, in a process of its own, where all that is printed is seen.
#[test]
#[ignore = "it is run by another one"]
fn explored_actors_panic() {
    let found = simurgh::check(panicking).assert_violated();
    assert!(found.what.contains("dropped it"), "{found}");
    assert!(found.told.as_ref().is_ok_and(|told| told.place.is_some()), "where it panicked is known");
    simurgh::check(panicking).engine(Engine::Dfs).all().run().assert_violated();
    simurgh::check(panicking).workers(2).all().run().assert_violated();
    assert_eq!(simurgh::explore(panicking).run().found.broken, 1);
    // What a test asserts is heard, at its own line.
    println!("at line {}", line!() + 1);
    let loud = std::panic::catch_unwind(|| simurgh::check(wrong).assert_holds());
    assert!(loud.is_err());
}

#[test]
fn panics_of_explored_actors_print_nothing() {
    let test = std::env::current_exe().expect("this test has a path");
    let arguments =
        ["--exact", "checking::together::explored_actors_panic", "--include-ignored", "--nocapture"];
    let output = Command::new(test).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("panicked at").count(), 1, "{text}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.split("at line ").nth(1).and_then(|rest| rest.lines().next()).expect("the line");
    assert!(text.contains(&format!("tests/checking/together.rs:{line}:")), "{line}: {text}");
    assert!(text.contains("it does not hold\n\nreceiver failed: "), "{text}");
}
