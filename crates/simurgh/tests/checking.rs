//! Checks as library calls: every option, every assertion when it succeeds and when it fails, checks at the same time, and that
//! the command prints the same.

mod support;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use simurgh::checking::{Progress, Stopped};
use simurgh::prelude::*;
use simurgh::{
    CheckReport, Compared, Counterexample, Engine, Error, ExploreReport, Network, Objective, Scenario,
    Verdict,
};
use support::command::Folder;

/// So many senders, of which the receiver takes the first to be first if it is wrong.
fn fan_in(senders: u32, wrong: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        program.spawn("receiver", "node-0", move |ctx: Ctx| async move {
            for turn in 0..senders {
                let sender = ctx.mailbox::<u32>("in").recv().await?;
                simurgh::check!(!wrong || turn > 0 || sender == 0, "sender {sender} came first");
            }
            Ok::<_, Error>(())
        })?;
        for number in 0..senders {
            let code = move |ctx: Ctx| async move { ctx.mailbox("in").send(number, 1e3).repeatable().await };
            program.spawn(format!("sender-{number}"), "node-1", code)?;
        }
        Ok(())
    }
}

fn right(program: &mut Program) -> simurgh::Result {
    fan_in(3, false)(program)
}

fn wrong(program: &mut Program) -> simurgh::Result {
    fan_in(3, true)(program)
}

/// One of two is served, and the other waits for ever.
fn one_seat(program: &mut Program) -> simurgh::Result {
    program.spawn("usher", "node-0", |ctx: Ctx| async move { ctx.mailbox::<()>("seat").recv().await })?;
    for name in ["ann", "bob"] {
        program.spawn(name, "node-1", |ctx: Ctx| async move { ctx.mailbox("seat").send((), 1.0).await })?;
    }
    Ok(())
}

/// Goes on for ever: it tries again after each timeout.
fn endless(program: &mut Program) -> simurgh::Result {
    program.spawn("hopeful", "node-0", |ctx: Ctx| async move {
        while ctx.mailbox::<()>("never").recv().timeout(1.0).await.is_err() {}
    })?;
    Ok(())
}

fn unmade(program: &mut Program) -> simurgh::Result {
    program.spawn("lost", "no-such-host", |_: Ctx| async move {})?;
    Ok(())
}

/// An invariant over two actors that does not hold.
fn crossing(program: &mut Program) -> simurgh::Result {
    let (north, east) = (program.exposed("north", false), program.exposed("east", false));
    program.invariant("one way at a time", [north, east], |green| !(green[0] && green[1]));
    for (name, light) in [("north", north), ("east", east)] {
        program.spawn(name, "node-0", move |ctx: Ctx| async move {
            let _ = ctx.now();
            light.set(true).await;
            light.set(false).await;
        })?;
    }
    Ok(())
}

fn panicking(program: &mut Program) -> simurgh::Result {
    program.spawn("clumsy", "node-0", |ctx: Ctx| async move {
        assert!(ctx.choose(2).await == 0, "dropped it");
    })?;
    Ok(())
}

const SEAT: &str = r#"
[[actor]]
name = "usher"
do = ["recv seat"]
[[actor]]
name = "ann"
do = ["send seat 1"]
[[actor]]
name = "bob"
do = ["send seat 1"]
"#;

fn seat() -> Scenario {
    Scenario::parse(SEAT, "seat.toml", Path::new(".")).expect("it is a scenario")
}

fn one_host(name: &str) -> Platform {
    let text = format!(
        "<?xml version='1.0'?><platform version='4.1'><zone id='z' routing='Full'>\
         <host id='{name}' speed='1Gf'/></zone></platform>"
    );
    Platform::from_xml(&text, "one_host.xml", Path::new(".")).expect("it is a platform")
}

#[test]
fn what_holds() {
    let report = simurgh::check(right).assert_holds();
    assert_eq!((report.verdict, report.executions, report.engine), (Verdict::Holds, 6, Engine::Receives));
    assert!(report.exhausted && report.counterexamples.is_empty() && report.violation().is_none());
    assert!(report.stopped.is_none() && report.cut.is_none() && report.error.is_none());
    assert_eq!(report.verdict.exit_code(), 0);
    assert!(report.to_string().starts_with("holds: 6 executions, "), "{report}");
}

#[test]
fn what_is_violated() {
    let report = simurgh::check(wrong).run();
    let found = report.assert_violated();
    assert!(found.what.starts_with("receiver failed: ") && found.what.ends_with(" came first"), "{found}");
    assert!(!found.is_deadlock() && !report.exhausted);
    assert_eq!(report.violation(), Some(found));
    assert_eq!(report.verdict.exit_code(), 1);
    // It is told with the lines of this file, which the compiler names as seen from the root of the workspace.
    let text = found.to_string();
    assert!(text.contains("crates/simurgh/tests/checking.rs\n"), "{text}");
    assert!(text.contains("simurgh::check!(!wrong || turn > 0 || sender == 0"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert_eq!(simurgh::check(wrong).assert_violated(), *found);
}

#[test]
fn who_waits_for_ever() {
    let report = simurgh::check(one_seat).run();
    assert_eq!(report.verdict, Verdict::Deadlock);
    assert!(report.assert_deadlock().is_deadlock());
    let found = seat().check().engine(Engine::Optimal).assert_deadlock();
    assert_eq!(found.steps(), "1 0 0 0 1 1 2");
    assert_eq!(
        found.to_string(),
        "deadlock: bob waits for ever
  bob  waits until somebody receives m2 from \"seat\" (seat.toml:10); nobody is left who could receive

step │ usher                 │ ann                       │ bob
─────┼───────────────────────┼───────────────────────────┼────────────────────────
   1 │                       │ :7 sends m1 to \"seat\"     │
 2-3 │ :4 receives m1 of ann │                           │
   4 │ ends                  │                           │
   5 │                       │ :7 sees that usher has m1 │
   6 │                       │ ends                      │
   7 │                       │                           │ :10 sends m2 to \"seat\"
"
    );
}

#[test]
fn all_kinds_are_collected() {
    let report = simurgh::check(one_seat).all().run();
    let mut found: Vec<_> = report.counterexamples.iter().map(|found| found.what.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, ["deadlock: ann waits for ever", "deadlock: bob waits for ever"]);
    assert!(report.exhausted, "it went on to the end");
}

#[test]
fn every_engine_says_the_same() {
    for engine in [Engine::Receives, Engine::Optimal, Engine::Source, Engine::Dpor, Engine::Dfs] {
        let app = fan_in(2, false);
        let report = simurgh::check(&app).engine(engine).assert_holds();
        assert_eq!(report.engine, engine);
        simurgh::check(fan_in(2, true)).engine(engine).assert_violated();
    }
    for engine in [Engine::Random, Engine::Pct] {
        let walk = |seed| simurgh::check(right).engine(engine).seed(seed).executions(20).run();
        let report = walk(7);
        assert_eq!((report.verdict, report.executions), (Verdict::NotExhausted, 20));
        assert_eq!(walk(7).transitions, report.transitions);
        simurgh::check(wrong).engine(engine).seed(1).assert_violated();
    }
}

#[test]
fn another_engine_explores_what_the_first_does_not_preserve() {
    let notes = RefCell::new(Vec::new());
    let report = simurgh::check(crossing).on_note(|note| notes.borrow_mut().push(note.to_owned())).run();
    let found = report.assert_violated();
    assert!(found.what.starts_with("invariant \"one way at a time\" does not hold"), "{found}");
    let why = "the engine receives does not preserve invariants over several actors; exploring with optimal instead";
    assert_eq!((report.engine, report.refined.as_deref()), (Engine::Optimal, Some(why)));
    assert_eq!(notes.into_inner(), [why]);
    assert!(report.to_string().ends_with(&format!("{why}\n")), "{report}");
}

#[test]
fn networks_promise_more_or_less() {
    let overtaking = |program: &mut Program| {
        program.spawn("author", "node-0", |ctx: Ctx| async move {
            for page in 1..=2 {
                ctx.mailbox("printer").send(page, 1.0).detach().await;
            }
        })?;
        program.spawn("printer", "node-1", |ctx: Ctx| async move {
            let first: i32 = ctx.mailbox("printer").recv().await?;
            simurgh::check!(first == 1, "page {first} came first");
            ctx.mailbox::<i32>("printer").recv().await.map(drop)
        })?;
        Ok(())
    };
    simurgh::check(overtaking).assert_holds();
    simurgh::check(overtaking).network(Network::Pairwise).assert_holds();
    simurgh::check(overtaking).network(Network::Unordered).assert_violated();
}

#[test]
fn messages_are_lost_and_come_twice() {
    let unordered = || simurgh::check(right).network(Network::Unordered);
    unordered().assert_holds();
    unordered().losses(1).assert_deadlock();
    let twice = unordered().duplications(1).run();
    // Whoever comes after a copy is not received.
    assert_eq!((twice.verdict, twice.engine), (Verdict::Deadlock, Engine::Optimal));
    // What cannot be copied comes once, and that is said.
    let letter = |program: &mut Program| {
        program.spawn("writer", "node-0", |ctx: Ctx| async move {
            ctx.mailbox("letters").send("dear reader".to_owned(), 1.0).await
        })?;
        program.spawn("reader", "node-1", |ctx: Ctx| async move {
            ctx.mailbox::<String>("letters").recv().await.map(drop)
        })?;
        Ok(())
    };
    let once = simurgh::check(letter).network(Network::Unordered).duplications(1).assert_holds();
    assert_eq!(once.notes.len(), 1);
    assert!(once.notes[0].starts_with("messages that cannot be copied did not arrive twice"), "{once}");
    let refused = simurgh::check(right).losses(1).run();
    let told = "`losses`: the network mailbox delivers each message once; add `network(Network::Unordered)`";
    assert_eq!(refused.error.expect("it cannot run").to_string(), told);
}

#[test]
fn communication_is_compared() {
    simurgh::check(right).deterministic(Compared::SENDS).assert_holds();
    let found = simurgh::check(right).deterministic(Compared::RECEIVES).assert_violated();
    assert!(found.what.starts_with("receiver is not deterministic"), "{found}");
    simurgh::check(right).deterministic(Compared::BOTH).assert_violated();
}

#[test]
fn bounds_are_never_taken_for_holds() {
    let is_cut = |report: &CheckReport, stopped: Stopped| {
        assert_eq!((report.verdict, report.stopped), (Verdict::NotExhausted, Some(stopped)), "{report}");
        assert!(!report.exhausted);
    };
    let many = fan_in(9, false);
    is_cut(&simurgh::check(right).executions(2).run(), Stopped::Executions(2));
    is_cut(&simurgh::check(&many).time(Duration::ZERO).run(), Stopped::Time(0.0));
    let slow = simurgh::check(&many).memory(1).run();
    is_cut(&slow, Stopped::Memory(1));
    is_cut(&simurgh::check(&many).stop_when(|_| true).run(), Stopped::Asked);
    is_cut(&simurgh::check(endless).run(), Stopped::Endless);
    let cut = simurgh::check(endless).depth(10).run();
    assert_eq!((cut.verdict, cut.stopped), (Verdict::NotExhausted, None));
    assert_eq!(cut.cut.as_ref().map(|cut| (cut.executions > 0, cut.steps)), Some((true, 10)));
    assert!(cut.to_string().contains("after 10 steps (`depth`): does the program ever end?"), "{cut}");
    let text = simurgh::check(right).executions(2).run().to_string();
    assert!(text.ends_with("stopped after 2 executions (`executions`)\n"), "{text}");
}

#[test]
fn several_cores_find_the_same() {
    let report = simurgh::check(fan_in(5, false)).workers(2).assert_holds();
    assert_eq!(report.executions, 120);
    simurgh::check(fan_in(5, true)).workers(0).assert_violated();
    let refused = simurgh::check(right).engine(Engine::Dfs).workers(2).run();
    let told = "only the engine `receives` explores on several cores; leave out `workers`";
    assert_eq!(refused.error.expect("it cannot run").to_string(), told);
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    let folder = Folder::new("checking-resume");
    let file = folder.path().join("right.search");
    let first = simurgh::check(right).executions(2).resume(&file).run();
    assert_eq!((first.verdict, first.executions), (Verdict::NotExhausted, 2));
    assert_eq!(first.left.as_ref().map(|left| left.path.as_path()), Some(file.as_path()));
    assert!(first.to_string().contains("is kept in "), "{first}");
    let second = simurgh::check(right).resume(&file).assert_holds();
    assert_eq!(second.executions, 6, "with those of the first");
    assert!(!file.exists());
    let refused = simurgh::check(crossing).resume(&file).run();
    assert!(refused.error.is_some_and(|error| error.to_string().ends_with("leave out `resume`")));
}

#[test]
fn progress_is_told_to_who_asks() {
    let seen: RefCell<Vec<Progress>> = RefCell::default();
    simurgh::check(fan_in(7, false)).progress(|progress| seen.borrow_mut().push(*progress)).assert_holds();
    let seen = seen.into_inner();
    assert!(!seen.is_empty() && seen.is_sorted_by_key(|progress| progress.executions), "{seen:?}");
    assert!(seen.iter().all(|progress| progress.executions <= 5040 && progress.seconds >= 0.0));
    let looks = Cell::new(0);
    let count = |_: &Progress| {
        looks.set(looks.get() + 1);
        looks.get() == 3
    };
    let report = simurgh::check(fan_in(7, false)).engine(Engine::Optimal).stop_when(count).run();
    assert_eq!((report.stopped, looks.get()), (Some(Stopped::Asked), 3));
}

#[test]
#[should_panic(expected = "more than I can bear")]
fn a_listener_may_panic() {
    let _ = simurgh::check(fan_in(8, false)).workers(2).progress(|_| panic!("more than I can bear")).run();
}

#[test]
fn hosts_are_those_of_the_platform() {
    let app = |program: &mut Program| {
        program.spawn("alone", "home", |_: Ctx| async move {})?;
        Ok(())
    };
    assert_eq!(simurgh::check(app).run().verdict, Verdict::CannotRun);
    simurgh::check(app).platform(one_host("home")).assert_holds();
}

#[test]
fn what_cannot_run_says_why() {
    let report = simurgh::check(unmade).run();
    assert_eq!((report.verdict, report.verdict.exit_code()), (Verdict::CannotRun, 2));
    assert!(report.to_string().starts_with("cannot-run: there is no host \"no-such-host\""), "{report}");
}

#[test]
fn a_counterexample_is_replayed() {
    let found = simurgh::check(wrong).assert_violated();
    let again = simurgh::check(wrong).replay(&found.steps());
    assert_eq!(again.executions, 1);
    assert_eq!(again.assert_violated().to_string(), found.to_string());
    // The program was mended: that order is fine now, which says nothing of the others.
    let mended = simurgh::check(right).replay(&found.steps());
    assert_eq!((mended.verdict, mended.counterexamples.len()), (Verdict::NotExhausted, 0));
    let lost = simurgh::check(right).network(Network::Unordered).losses(1).assert_deadlock();
    simurgh::check(right).network(Network::Unordered).replay(&lost.steps()).assert_deadlock();
    let other = simurgh::check(one_seat).replay("7 7");
    assert!(other.to_string().starts_with("cannot-run: step 1 (7) is not possible there"), "{other}");
    let nonsense = simurgh::check(one_seat).replay("first of all");
    assert!(nonsense.to_string().starts_with("cannot-run: \"first\" is not a step"), "{nonsense}");
}

#[test]
fn a_counterexample_is_saved_for_replay() {
    let folder = Folder::new("checking-save");
    folder.write("seat.toml", SEAT);
    let scenario = Scenario::from_file(folder.path().join("seat.toml")).expect("it is a scenario");
    let found = scenario.check().assert_deadlock();
    found.save(folder.path().join("bug.toml")).expect("it can be written");
    let ran = folder.simurgh(&["replay", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.ends_with(&format!("it happens again: {}\n", found.what)), "{}", ran.told());

    let read = |found: &Counterexample| {
        found.save(folder.path().join("own.toml")).expect("it can be written");
        String::from_utf8(folder.read("own.toml")).expect("it is text")
    };
    let plain = read(&simurgh::check(wrong).assert_violated());
    assert!(plain.contains("program = \"checking\"\narguments = [\"check\"]\n"), "{plain}");
    let named = read(&simurgh::check(wrong).program("fan_in", ["check", "--bug"]).assert_violated());
    assert!(named.contains("program = \"fan_in\"\narguments = [\"check\", \"--bug\"]\n"), "{named}");
}

#[test]
fn the_command_prints_the_same() {
    let folder = Folder::new("checking-same");
    folder.write("seat.toml", SEAT);
    let path = folder.path().join("seat.toml");
    let name = path.display().to_string();
    for options in [&[][..], &["--engine", "optimal", "--network", "unordered", "--all"]] {
        let ran = folder.simurgh(&[&["check", &name], options].concat());
        let mut check = Scenario::from_file(&path).expect("it is a scenario").check();
        if !options.is_empty() {
            check = check.engine(Engine::Optimal).network(Network::Unordered).all();
        }
        let report = check.run();
        let mut rest = ran.stdout.as_str();
        for found in &report.counterexamples {
            let text = format!("{found}\n");
            rest = rest.strip_prefix(text.as_str()).unwrap_or_else(|| panic!("{text}\n{}", ran.told()));
        }
        let counts = format!("deadlock: {} execution", report.executions);
        assert!(rest.contains(&counts), "{counts}\n{}", ran.told());
        assert!(rest.contains(&format!(", {} steps, ", report.transitions)), "{}", ran.told());
    }
}

#[test]
#[should_panic(expected = "it does not hold\n\nreceiver failed: ")]
fn what_is_violated_does_not_hold() {
    simurgh::check(wrong).assert_holds();
}

#[test]
#[should_panic(expected = "to see it again: `replay(\"")]
fn what_fails_says_how_to_see_it_again() {
    simurgh::check(one_seat).assert_holds();
}

#[test]
#[should_panic(
    expected = "it is not known whether it holds: not all orders were tried\n\nnot-exhausted: 2 executions"
)]
fn what_is_not_exhausted_does_not_hold() {
    simurgh::check(right).executions(2).assert_holds();
}

#[test]
#[should_panic(expected = "it cannot be checked\n\ncannot-run: there is no host \"no-such-host\"")]
fn what_cannot_run_does_not_hold() {
    simurgh::check(unmade).assert_holds();
}

#[test]
#[should_panic(expected = "nothing is violated\n\nholds: 6 executions")]
fn what_holds_is_not_violated() {
    simurgh::check(right).assert_violated();
}

#[test]
#[should_panic(
    expected = "nothing is violated but that actors wait for ever (`assert_deadlock`)\n\ndeadlock: "
)]
fn a_deadlock_is_no_violation() {
    simurgh::check(one_seat).assert_violated();
}

#[test]
#[should_panic(expected = "nobody waits for ever\n\nholds: 6 executions")]
fn what_holds_has_no_deadlock() {
    simurgh::check(right).assert_deadlock();
}

#[test]
#[should_panic(expected = "nobody waits for ever, but something else goes wrong (`assert_violated`)")]
fn a_violation_is_no_deadlock() {
    simurgh::check(wrong).assert_deadlock();
}

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
    let arguments = ["--exact", "explored_actors_panic", "--include-ignored", "--nocapture"];
    let output = Command::new(test).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("panicked at").count(), 1, "{text}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.split("at line ").nth(1).and_then(|rest| rest.lines().next()).expect("the line");
    assert!(text.contains(&format!("tests/checking.rs:{line}:")), "{line}: {text}");
    assert!(text.contains("it does not hold\n\nreceiver failed: "), "{text}");
}

/// Serves two, of whom the second one served has to hurry.
fn served(program: &mut Program) -> simurgh::Result {
    program.spawn("server", "node-0", |ctx: Ctx| async move {
        for _ in 0..2 {
            ctx.mailbox::<()>("requests").recv().await?;
            ctx.sleep(1.0).await;
        }
        Ok::<_, Error>(())
    })?;
    for (name, host, seconds) in [("short", "node-1", 1.0), ("long", "node-2", 3.0)] {
        program.spawn(name, host, move |ctx: Ctx| async move {
            ctx.mailbox("requests").send((), 0.0).await?;
            ctx.sleep(seconds).await;
            Ok::<_, Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn the_best_and_the_worst() {
    let report = simurgh::explore(served).assert_holds();
    assert_eq!((report.verdict(), report.found.ways, report.found.exhausted), (Verdict::Holds, 2, true));
    let (best, worst) = (report.assert_at_least(3.0), report.assert_at_most(4.1));
    assert!((best.value, worst.value) < (3.1, 4.1) && worst.value > 4.0, "{report}");
    assert_ne!(best.way, worst.way);
    assert_eq!((report.best(), report.worst()), (Some(best), Some(worst)));
    assert!(
        report.to_string().starts_with("makespan over 2 ways to receive on a mailbox network, "),
        "{report}"
    );
    let messages = simurgh::explore(served).objective(Objective::Messages).network(Network::Pairwise).run();
    assert_eq!(messages.best().map(|run| run.value), Some(2.0));
    assert_eq!((messages.objective, messages.network), (Objective::Messages, Network::Pairwise));
}

#[test]
fn options_of_timed_exploration() {
    let two = || simurgh::explore(served);
    assert_eq!(two().executions(1).run().verdict(), Verdict::NotExhausted);
    assert_eq!(two().time(Duration::ZERO).run().verdict(), Verdict::NotExhausted);
    assert_eq!(two().stop_when(|found| found.ways == 1).run().found.ways, 1);
    let ways = Cell::new(0);
    two().progress(|found| ways.set(found.ways)).seed(3).assert_holds();
    assert_eq!(ways.get(), 2);
    let value = |report: ExploreReport| report.best().map(|run| run.value);
    assert!(value(two().config("network/model", "CM02").run()) < value(two().run()));
    let wrong = two().config("network/model", "telepathy").run();
    assert_eq!(wrong.verdict(), Verdict::CannotRun);
    let elsewhere = two().platform(one_host("elsewhere")).run();
    assert!(elsewhere.to_string().starts_with("cannot-run: there is no host"), "{elsewhere}");
}

#[test]
fn a_scenario_is_explored_as_the_command_does() {
    let folder = Folder::new("checking-explore");
    folder.write("seat.toml", SEAT);
    let ran = folder.simurgh(&["explore", "seat.toml"]);
    let report =
        Scenario::from_file(folder.path().join("seat.toml")).expect("it is a scenario").explore().run();
    assert_eq!(report.verdict(), Verdict::Violated);
    let after_time = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(after_time(&report.to_string()), after_time(&ran.stdout), "{}", ran.told());
}

#[test]
#[should_panic(expected = "the worst is more than 3.500000 s\n\nmakespan over 2 ways")]
fn the_worst_is_too_much() {
    simurgh::explore(served).assert_at_most(3.5);
}

#[test]
#[should_panic(expected = "the best is less than 3.500000 s\n\nmakespan over 2 ways")]
fn the_best_is_too_little() {
    simurgh::explore(served).assert_at_least(3.5);
}

#[test]
#[should_panic(expected = "some way comes to a bad end\n\n")]
fn a_way_comes_to_a_bad_end() {
    simurgh::explore(one_seat).assert_holds();
}

#[test]
#[should_panic(expected = "not all ways were seen\n\n")]
fn not_all_ways_are_seen() {
    simurgh::explore(served).executions(1).assert_at_most(100.0);
}

#[test]
#[should_panic(expected = "it cannot be explored\n\ncannot-run: there is no host")]
fn what_cannot_be_made_cannot_be_explored() {
    simurgh::explore(unmade).assert_holds();
}

#[test]
#[should_panic(expected = "too many ways")]
fn a_listener_of_an_exploration_may_panic() {
    let _ = simurgh::explore(served).progress(|_| panic!("too many ways")).run();
}
