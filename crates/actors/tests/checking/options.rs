//! Every option of a check.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use simurgh::checking::{Progress, Stopped};
use simurgh::prelude::*;
use simurgh::{CheckReport, Compared, Engine, Network, Verdict};

use super::{crossing, endless, fan_in, one_host, one_seat, right, unmade, wrong};
use crate::support::folder::fresh;

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
    let why = "the engine receives is not sound and complete for invariants over several actors; exploring with optimal instead";
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
    simurgh::check(right).deterministic(Compared::Sends).assert_holds();
    let found = simurgh::check(right).deterministic(Compared::Receives).assert_violated();
    assert!(found.what.starts_with("receiver is not deterministic"), "{found}");
    simurgh::check(right).deterministic(Compared::Both).assert_violated();
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
    let file = fresh("checking-resume").join("right.search");
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

/// Giving a lock back is a step; a request that only concerns the actor came after it, and nobody knew what kind of step that is.
#[test]
fn after_a_guard_is_dropped_an_actor_may_do_what_is_its_own_affair() {
    let app = |program: &mut Program| {
        let mutex = program.mutex(0);
        for name in ["one", "two"] {
            let mutex = mutex.clone();
            program.spawn(name, "node-0", move |ctx: Ctx| {
                let mutex = mutex.clone();
                async move {
                    let mut guard = mutex.lock().await;
                    *guard += 1;
                    drop(guard);
                    ctx.sleep(1.0).await;
                    ctx.yield_now().await;
                    Ok(())
                }
            })?;
        }
        Ok(())
    };
    for engine in
        [Engine::Receives, Engine::Optimal, Engine::Source, Engine::Dpor, Engine::Dfs, Engine::States]
    {
        simurgh::check(app).engine(engine).assert_holds();
    }
}
