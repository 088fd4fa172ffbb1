//! What is found: its text, which is that of the command, and how it is seen again.

use simurgh::prelude::*;
use simurgh::{Counterexample, Engine, Error, Network, Scenario, Verdict};

use super::{one_seat, right, seat, wrong};
use crate::support::folder::fresh;

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
    assert!(text.contains("crates/actors/tests/checking/mod.rs\n"), "{text}");
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
    assert_eq!(found.steps(), "0 1 1 1 0 0 2");
    assert_eq!(
        found.to_string(),
        "deadlock: bob waits for ever
  bob  waits until somebody receives m2 from \"seat\" (seat.toml:10); nobody is left who could receive

step │ usher                        │ ann                       │ bob
─────┼──────────────────────────────┼───────────────────────────┼────────────────────────
   1 │ :4 posts a receive at \"seat\" │                           │
   2 │                              │ :7 sends m1 to \"seat\"     │
   3 │                              │ :7 sees that usher has m1 │
   4 │                              │ ends                      │
   5 │ :4 receives m1 of ann        │                           │
   6 │ ends                         │                           │
   7 │                              │                           │ :10 sends m2 to \"seat\"
"
    );
}

/// A deadlock was replayed as the failure that comes before it.
#[test]
fn each_of_several_counterexamples_replays_to_itself() {
    let app = |program: &mut Program| {
        program.spawn("sender", "node-0", |ctx: Ctx| async move {
            ctx.mailbox("in").send((), 1.0).detach().await;
        })?;
        program.spawn("fails", "node-1", |ctx: Ctx| async move {
            ctx.mailbox::<()>("in").recv().timeout(1.0).await?;
            Err::<(), _>(Error::other("as it was built"))
        })?;
        program.spawn("waits", "node-2", |ctx: Ctx| async move {
            // Some of its steps may come after the failure, some before.
            ctx.mailbox("in").send((), 1.0).detach().await;
            ctx.mailbox::<()>("nobody").recv().await
        })?;
        Ok(())
    };
    for engine in [Engine::Receives, Engine::Optimal, Engine::Dfs, Engine::States, Engine::Bfs] {
        let report = simurgh::check(app).engine(engine).all().run();
        report.assert_deadlock();
        report.assert_violated();
        for found in &report.counterexamples {
            let again = simurgh::check(app).replay(&found.steps());
            let again = again.violation().expect("it is shown again");
            assert_eq!(again.violation, found.violation, "{engine}: {}\n{found}\n{again}", found.steps());
            assert_eq!(again.what, found.what, "{engine}");
        }
    }
}

/// By chance, it held or was violated.
#[test]
fn an_invariant_that_is_not_the_same_twice_is_told() {
    static ASKED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let app = |program: &mut Program| {
        let shown = program.exposed("shown", 0);
        program.invariant("fickle", [shown], |_| {
            ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed).count_ones().is_multiple_of(2)
        });
        program.spawn("shows", "node-0", move |_| async move { shown.set(1).await })?;
        Ok(())
    };
    let told = "not deterministic: invariant \"fickle\" gave another answer about the same state: a program must depend on";
    for engine in
        [Engine::Receives, Engine::Optimal, Engine::Dfs, Engine::States, Engine::Bfs, Engine::Random]
    {
        let report = simurgh::check(app).engine(engine).run();
        assert_eq!(report.verdict, Verdict::CannotRun, "{engine}: {report}");
        let error = report.error.expect("it cannot run").to_string();
        assert!(error.starts_with(told), "{engine}: {error}");
    }
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
fn a_counterexample_is_saved_with_what_it_is_of() {
    let file = fresh("checking-save").join("own.toml");
    let read = |found: &Counterexample| {
        found.save(&file).expect("it can be written");
        std::fs::read_to_string(&file).expect("it is text")
    };
    let plain = read(&simurgh::check(wrong).assert_violated());
    assert!(plain.contains("program = \"actors\"\narguments = [\"check\"]\n"), "{plain}");
    let named = read(&simurgh::check(wrong).program("fan_in", ["check", "--bug"]).assert_violated());
    assert!(named.contains("program = \"fan_in\"\narguments = [\"check\", \"--bug\"]\n"), "{named}");
}

/// Two are to be served; that is forgotten if they come in the wrong order.
fn two_guests(forgets: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        let served = program.exposed("served", 0);
        program.eventually("both are served", served, |served| served == 2);
        for name in ["ann", "bob"] {
            program.spawn(name, "node-0", move |ctx: Ctx| async move {
                ctx.mailbox("door").send(name, 1.0).await
            })?;
        }
        program.spawn("server", "node-1", move |ctx: Ctx| async move {
            let first: &str = ctx.mailbox("door").recv().await?;
            served.set(1).await;
            let _: &str = ctx.mailbox("door").recv().await?;
            if first == "ann" || !forgets {
                served.set(2).await;
            }
            served.set(3).await;
            Ok(())
        })?;
        Ok(())
    }
}

/// Two add to what a lock guards; who was first is seen by the last, in some way.
fn behind_a_lock(how: &'static str) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        let list = program.mutex(Vec::new());
        let mut added = Vec::new();
        for number in [0, 1] {
            let list = list.clone();
            added.push(program.spawn(format!("adder-{number}"), "node-0", move |ctx: Ctx| async move {
                if how == "two steps" {
                    let length = list.lock().await.len();
                    list.lock().await.push(length);
                } else {
                    list.lock().await.push(number);
                }
                if how == "messages" {
                    ctx.mailbox("done").send((), 1.0).await?;
                }
                Ok(())
            })?);
        }
        program.spawn("judge", "node-1", move |ctx: Ctx| async move {
            for adder in added {
                match how {
                    "messages" => ctx.mailbox::<()>("done").recv().await?,
                    _ => adder.join().await,
                }
            }
            let seen = list.lock().await.clone();
            simurgh::check!(seen == [0, 1], "{seen:?}");
            Ok(())
        })?;
        Ok(())
    }
}

#[test]
fn what_a_lock_guards_is_part_of_a_state() {
    for how in ["joins", "messages", "two steps"] {
        for engine in [Engine::Receives, Engine::Optimal, Engine::Source, Engine::States, Engine::Bfs] {
            let report = simurgh::check(behind_a_lock(how)).engine(engine).run();
            assert_eq!(report.verdict, Verdict::Violated, "{engine}, {how}");
        }
    }
}

#[test]
fn what_never_becomes_true_in_some_execution_is_found_by_every_engine() {
    for engine in [
        Engine::Receives,
        Engine::Optimal,
        Engine::Source,
        Engine::Dpor,
        Engine::Dfs,
        Engine::States,
        Engine::Bfs,
    ] {
        let found = simurgh::check(two_guests(true)).engine(engine).run();
        let found = found.assert_violated();
        let expected = "invariant \"both are served\" does not hold: it never becomes true (served = 3)";
        assert_eq!(found.what, expected, "{engine}");
        simurgh::check(two_guests(false)).engine(engine).run().assert_holds();
    }
}

/// Streams whose last messages may be given up: their dead ends doubled with each message once.
#[test]
fn timeouts_at_the_end_of_a_stream_cost_no_dead_ends() {
    let many = |operation: &str, last: &str| {
        let mut all = vec![format!("{operation:?}"); 24];
        all.push(format!("{last:?}"));
        all.join(", ")
    };
    for (receive, send) in [("recv m", "dsend m 1"), ("irecv m", "dsend m 1"), ("irecv m", "isend m 1")] {
        let text = format!(
            "[[actor]]\nname = \"a\"\ndo = [{}]\n[[actor]]\nname = \"b\"\ndo = [{}]\n",
            many(receive, "recv m timeout 1"),
            many(send, "send m 1 timeout 1"),
        );
        let scenario = Scenario::parse(&text, "stream.toml", std::path::Path::new(".")).expect("it is one");
        let report = scenario.check().run();
        assert_eq!((report.verdict, report.executions), (Verdict::Holds, 2), "{receive}, {send}");
        assert!(report.transitions <= 2 * 4 * 50, "{} steps for {receive}, {send}", report.transitions);
    }
}

/// The engine `receives` did not see it.
#[test]
fn a_panic_at_the_end_of_an_actor_is_found_by_every_engine() {
    let app = |program: &mut Program| {
        program.spawn("untidy", "node-0", |ctx: Ctx| async move {
            ctx.on_exit(|_| panic!("something is left"));
        })?;
        Ok(())
    };
    for engine in [Engine::Receives, Engine::Optimal, Engine::Source, Engine::Dpor, Engine::Dfs, Engine::Bfs]
    {
        let found = simurgh::check(app).engine(engine).assert_violated();
        let says = "untidy failed: panicked in what it does at its end: something is left";
        assert!(found.what.contains(says), "{engine}: {found}");
    }
}

/// All that is wrong with an execution is told, by every engine.
#[test]
fn two_that_fail_and_one_that_waits() {
    fn app(program: &mut Program) -> simurgh::Result {
        for name in ["a", "b"] {
            program.spawn(name, "node-0", move |_: Ctx| async move { Err::<(), _>(Error::other("no")) })?;
        }
        program.spawn(
            "c",
            "node-1",
            |ctx: Ctx| async move { ctx.mailbox::<u32>("m").recv().await.map(drop) },
        )?;
        Ok(())
    }
    let told = |engine| {
        let report = simurgh::check(app).engine(engine).all().run();
        let mut told: Vec<String> = report.counterexamples.iter().map(|found| found.what.clone()).collect();
        told.sort();
        told
    };
    let all = told(Engine::Optimal);
    assert_eq!(all.len(), 3, "{all:?}");
    for engine in [Engine::Receives, Engine::Source, Engine::Dfs] {
        assert_eq!(told(engine), all);
    }
    // Without `all`, the first failure is enough.
    assert_eq!(simurgh::check(app).engine(Engine::Receives).run().counterexamples.len(), 1);
}

/// Who finds what it wants does not give up. Executions in which it did were begun, and given up, without end.
#[test]
fn nobody_gives_up_what_is_there() {
    fn app(program: &mut Program) -> simurgh::Result {
        let semaphore = program.semaphore(1);
        program.spawn("a", "node-0", move |_: Ctx| async move {
            while !semaphore.acquire_for(1.0).await {}
            Ok(())
        })?;
        Ok(())
    }
    let report = simurgh::check(app).engine(Engine::Receives).assert_holds();
    assert_eq!(report.executions, 1);
    // Nor does who has been sent something before.
    fn later(program: &mut Program) -> simurgh::Result {
        program.spawn("b", "node-1", |ctx: Ctx| async move {
            let ticket = ctx.mailbox::<u32>("m").send(1, 8.0).start().await;
            ctx.mailbox::<u32>("ready").send(1, 8.0).await?;
            ticket.wait().await
        })?;
        program.spawn("a", "node-0", |ctx: Ctx| async move {
            ctx.mailbox::<u32>("ready").recv().await?;
            while ctx.mailbox::<u32>("m").recv().timeout(1.0).await.is_err() {}
            Ok(())
        })?;
        Ok(())
    }
    let report = simurgh::check(later).engine(Engine::Receives).assert_holds();
    assert_eq!(report.executions, 1);
}

/// Who takes which of the permits that a semaphore was made with is nothing that anybody can see.
#[test]
fn permits_of_a_semaphore_are_alike() {
    let executions = |permits: u32, actors: u32| {
        let report = simurgh::check(move |program: &mut Program| {
            let semaphore = program.semaphore(permits);
            for actor in 0..actors {
                program.spawn(format!("actor-{actor}"), "node-0", move |_| async move {
                    semaphore.acquire().await;
                    semaphore.release().await;
                })?;
            }
            Ok(())
        });
        report.assert_holds().executions
    };
    // Enough for all: nobody waits for anybody.
    assert_eq!(executions(5, 5), 1);
    // One has to wait, for either of the others.
    assert_eq!(executions(2, 3), 3 * 2);
    // A lock: every order.
    assert_eq!(executions(1, 4), 24);
}

/// So many tokens are counted, not listed: another engine does that.
#[test]
fn a_semaphore_of_billions() {
    let report = simurgh::check(|program: &mut Program| {
        let semaphore = program.semaphore(u32::MAX);
        program.spawn("a", "node-0", move |_: Ctx| async move {
            semaphore.acquire().await;
            Ok(())
        })?;
        Ok(())
    });
    let report = report.assert_holds();
    assert_eq!((report.engine, report.executions), (Engine::Optimal, 1));
}

/// An exploration in time of what may go on for ever is ended by its clock, and says so.
#[test]
fn what_goes_on_for_ever_in_time() {
    fn app(program: &mut Program) -> simurgh::Result {
        program.spawn("b", "node-1", |ctx: Ctx| async move { ctx.mailbox("m").send(1u32, 8.0).await })?;
        program.spawn("a", "node-0", |ctx: Ctx| async move {
            while ctx.mailbox::<u32>("m").recv().timeout(1.0).await.is_err() {}
            Ok(())
        })?;
        Ok(())
    }
    let report = simurgh::explore(app).time(std::time::Duration::from_millis(200)).run();
    assert_eq!(report.verdict(), Verdict::NotExhausted);
    assert!(report.seconds < 5.0, "{} s", report.seconds);
}

/// A value that must not be dropped while its actor is about something.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("it broke");
    }
}

/// Whose values panic when they are dropped: one that is killed, a daemon that is left at the end, or two that wait for ever.
fn drops(how: &'static str) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        let waits = move |ctx: Ctx| async move {
            let _fragile = Fragile;
            if how == "daemon" {
                ctx.become_daemon().await;
            }
            let received = ctx.mailbox::<()>("nobody").recv().await;
            received.map(drop)
        };
        let victim = program.spawn("victim", "node-0", waits)?;
        match how {
            "killed" => drop(program.spawn("killer", "node-1", move |ctx: Ctx| async move {
                ctx.mailbox("m").send((), 1.0).detach().await;
                victim.kill().await;
            })?),
            "blocked" => drop(program.spawn("other", "node-1", waits)?),
            _ => {}
        }
        Ok(())
    }
}

/// It was an internal error under `check`; in a run nobody was told, or two of them ended the process.
#[test]
fn a_value_that_panics_when_it_is_dropped_is_a_failure_of_its_actor() {
    let engines = [Engine::Receives, Engine::Optimal, Engine::Source, Engine::Dpor, Engine::Dfs, Engine::Bfs];
    let says = "victim failed: panicked in what it does at its end: it broke";
    for engine in engines.into_iter().chain([Engine::States, Engine::Random]) {
        for how in ["killed", "daemon"] {
            let found = simurgh::check(drops(how)).engine(engine).assert_violated();
            assert!(found.what.starts_with(says), "{how}, {engine}: {found}");
        }
        simurgh::check(drops("blocked")).engine(engine).assert_deadlock();
    }
    for how in ["killed", "daemon", "blocked"] {
        let mut program = Program::new(Platform::builtin());
        drops(how)(&mut program).expect("it can be made");
        let report = program.simulate(simurgh::Settings::default()).expect("it runs").report;
        let failed: Vec<_> = report.failures.iter().map(|failure| failure.name.as_str()).collect();
        let expected = if how == "blocked" { &["victim", "other"][..] } else { &["victim"] };
        assert_eq!(failed, expected, "{how}");
    }
}

/// A condition that panicked counted as one that is not true yet.
#[test]
fn a_condition_that_panics_is_told_with_its_message() {
    let app = |program: &mut Program| {
        let turn = program.exposed("turn", 0);
        program.eventually("all had their turn", turn, |turn| match turn {
            2 => panic!("nobody has turn 2"),
            turn => turn == 3,
        });
        program.spawn("player", "node-0", move |_| async move {
            for number in 1..=3 {
                turn.set(number).await;
            }
        })?;
        Ok(())
    };
    let says = "invariant \"all had their turn\" does not hold: panicked: nobody has turn 2 (turn = 2)";
    for engine in [Engine::Receives, Engine::Source, Engine::Dfs, Engine::Bfs] {
        assert_eq!(simurgh::check(app).engine(engine).assert_violated().what, says, "{engine}");
    }
    let mut program = Program::new(Platform::builtin());
    app(&mut program).expect("it can be made");
    let report = program.simulate(simurgh::Settings::default()).expect("it runs").report;
    let broken: Vec<String> = report.broken.iter().map(|broken| broken.what.to_string()).collect();
    assert_eq!(broken, [says]);
}

#[test]
fn a_host_that_there_is_not_is_told_with_the_line_that_names_it() {
    let line = line!() + 3;
    let app = |program: &mut Program| {
        program.spawn("lost", "node-0", |ctx: Ctx| async move {
            ctx.migrate("nod-1")?.await;
            Ok(())
        })?;
        Ok(())
    };
    let found = simurgh::check(app).assert_violated().to_string();
    let says = "lost failed: there is no host \"nod-1\" in the platform; did you mean \"node-1\"?\n";
    assert!(
        found.starts_with(&format!("{says}  at crates/actors/tests/checking/found.rs:{line}\n")),
        "{found}"
    );
}

/// It was said to be about to have the lock.
#[test]
fn who_can_only_lose_patience_is_not_about_to_have_a_lock() {
    let app = |program: &mut Program| {
        let lock = program.mutex(());
        let holder = lock.clone();
        program.spawn("holder", "node-0", move |ctx: Ctx| async move {
            let _held = holder.lock().await;
            ctx.mailbox::<()>("nobody").recv().await.map(drop)
        })?;
        program.spawn("patient", "node-1", move |ctx: Ctx| async move {
            while lock.lock_for(1.0).await.is_none() {}
            drop(ctx);
        })?;
        Ok(())
    };
    let found = simurgh::check(app).depth(12).engine(Engine::Dfs).run().to_string();
    assert!(!found.contains("is about to have"), "{found}");
    assert!(found.contains("which holder has"), "{found}");
    assert!(!found.contains(" 0 executions (") && found.contains("after 12 steps"), "{found}");
}

/// It was said that there were 0 executions, and that the search stopped after 0 of them.
#[test]
fn executions_are_counted_where_there_are_some() {
    let fails = |program: &mut Program| {
        program.spawn("fails", "node-0", |_| async { Err::<(), _>(Error::other("as it must")) })?;
        Ok(())
    };
    for engine in [Engine::Receives, Engine::Optimal, Engine::Bfs, Engine::States, Engine::Random] {
        let report = simurgh::check(fails).engine(engine).run();
        assert!(!report.to_string().contains(": 0 executions"), "{report}");
        assert!(!report.to_string().contains(" 1 steps"), "{report}");
    }
    let bounded = simurgh::check(right).engine(Engine::Random).depth(2).executions(5).run();
    assert!(bounded.to_string().contains("stopped after 5 executions"), "{bounded}");
    let nothing = simurgh::check(right).executions(0).run();
    assert!(nothing.to_string().starts_with("cannot-run: `executions`: 1 or more"), "{nothing}");
}

/// Their names were those of others.
#[test]
fn more_actors_than_have_names_for_their_messages_are_refused() {
    let many = |program: &mut Program| {
        for number in 0..4097 {
            program.spawn(format!("a{number}"), "node-0", |_| async {})?;
        }
        Ok(())
    };
    let report = simurgh::check(many).network(Network::Pairwise).run();
    assert!(report.to_string().contains("at most 4096 actors"), "{report}");
}

/// What somebody else could have done in an execution that was cut is tried too.
#[test]
fn what_is_behind_a_loop_that_is_cut() {
    fn app(program: &mut Program) -> simurgh::Result {
        program.spawn("a", "node-0", |ctx: Ctx| async move {
            while ctx.mailbox::<u32>("m").recv().timeout(1.0).await.is_err() {}
            Err::<(), _>(Error::other("it came"))
        })?;
        program.spawn("b", "node-1", |ctx: Ctx| async move { ctx.mailbox("m").send(1u32, 8.0).await })?;
        Ok(())
    }
    let engines =
        [Engine::Receives, Engine::Optimal, Engine::Source, Engine::Dpor, Engine::States, Engine::Bfs];
    for engine in engines {
        let found = simurgh::check(app).engine(engine).depth(40).assert_violated();
        assert!(found.what.contains("it came"), "{engine}: {found}");
    }
}

/// It was taken for a program without actors, and held.
#[test]
fn a_program_that_cannot_be_made_again_is_told() {
    use std::sync::atomic::{AtomicU32, Ordering};
    for engine in
        [Engine::Receives, Engine::Optimal, Engine::Dfs, Engine::States, Engine::Bfs, Engine::Random]
    {
        for panics in [false, true] {
            let calls = AtomicU32::new(0);
            let app = |program: &mut Program| {
                if calls.fetch_add(1, Ordering::Relaxed) >= 4 {
                    assert!(!panics, "not again");
                    return Err(simurgh::Error::other("not again"));
                }
                program.spawn("judge", "node-0", |ctx: Ctx| async move {
                    for _ in 0..3 {
                        ctx.mailbox::<u8>("line").recv().await?;
                    }
                    Ok(())
                })?;
                for name in ["ann", "bob", "cid"] {
                    program.spawn(name, "node-1", |ctx: Ctx| async move {
                        ctx.mailbox("line").send(1_u8, 1.0).await
                    })?;
                }
                Ok(())
            };
            let report = simurgh::check(app).engine(engine).run();
            let error = report.error.as_ref().map(ToString::to_string).unwrap_or_default();
            assert!(
                error.contains(
                    "not again; it was made before: what makes a program has to do the same each time"
                ),
                "{engine:?}: {report:?}"
            );
        }
    }
}

/// An actor that is killed has a lock, or is just about to hand its guard over to a wait.
fn killed_with_a_guard(yields: usize) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        let (lock, condition) = (program.mutex(0), program.condvar());
        program.spawn("killer", "node-0", move |ctx: Ctx| async move {
            let of_victim = lock.clone();
            let waits = move |_: Ctx| async move {
                let guard = of_victim.lock().await;
                drop(condition.wait(guard).await);
                Ok(())
            };
            let victim = ctx.spawn("victim", ctx.host(), waits)?.await;
            for _ in 0..yields {
                ctx.yield_now().await;
            }
            victim.kill().await;
            drop(lock.lock().await);
            Ok(())
        })?;
        Ok(())
    }
}

/// What a victim was about to ask for was forgotten with the lock that it would have given back: others waited for it for ever.
#[test]
fn what_a_victim_was_about_to_ask_is_dropped_with_it() {
    for engine in [Engine::Optimal, Engine::Source, Engine::Dpor, Engine::Dfs, Engine::States, Engine::Bfs] {
        simurgh::check(killed_with_a_guard(0)).engine(engine).assert_holds();
    }
    for yields in 0..6 {
        let mut program = Program::new(Platform::builtin());
        killed_with_a_guard(yields)(&mut program).expect("it can be made");
        let report = program.simulate(simurgh::Settings::default()).expect("it runs").report;
        assert_eq!(report.end, simurgh::End::Finished, "{yields}: {report:?}");
    }
}
