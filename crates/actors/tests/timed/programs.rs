//! Programs whose best and worst are calculated by hand.

use simurgh::prelude::*;
use simurgh::timed::{Came, Found, Limit, Objective, Subject, explore_ways};

use super::{got, near, star, values};

const HOSTS: [&str; 5] = ["0", "1", "2", "3", "4"];

/// Explores a program, and sees that the way of the plain simulation, steered, is the plain simulation.
fn explored(objective: Objective, app: impl Fn(&mut Program) -> simurgh::Result) -> Found {
    let subject = Subject::new(star(&HOSTS), app);
    let found = explore_ways(&subject, objective, Limit::default(), &mut |_, _| true).unwrap();
    assert!(found.exhausted);
    if let Some(plain) = &found.simulated {
        match subject.simulate(Some(&plain.way), objective, |_| {}).unwrap() {
            simurgh::timed::Attempt::Fine(run, _) => assert_eq!(*run, *plain),
            other => panic!("{other:?}"),
        }
    }
    found
}

fn done() -> simurgh::Result {
    Ok(())
}

async fn sleep(ctx: &Ctx, seconds: f64) {
    ctx.sleep(seconds).await;
}

#[test]
fn the_first_message_decides_what_is_done() {
    let app = |program: &mut Program| {
        program.spawn("broker", "0", |ctx: Ctx| async move {
            let first: u32 = ctx.mailbox("orders").recv().await?;
            let second: u32 = ctx.mailbox("orders").recv().await?;
            // The higher order is carried out in three parts if it comes first, in one if it comes last.
            for part in 0..if first > second { 3 } else { 1 } {
                ctx.mailbox("parts").send(part, 1e6).await?;
            }
            ctx.mailbox("parts").send(99, 0.0).await
        })?;
        for (name, host, order) in [("low", "1", 1_u32), ("high", "2", 2_u32)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                ctx.mailbox("orders").send(order, 1e3).await
            })?;
        }
        program.spawn("store", "3", |ctx: Ctx| async move {
            while ctx.mailbox::<i32>("parts").recv().await? != 99 {}
            done()
        })?;
        Ok(())
    };
    let found = explored(Objective::Messages, app);
    assert_eq!(values(&found), (4.0, 6.0, 4.0));
    assert_eq!(got(&found.worst, "broker"), ["high", "low"]);
    let found = explored(Objective::Bytes, app);
    assert_eq!(values(&found), (1e6 + 2e3, 3e6 + 2e3, 1e6 + 2e3));
    let (best, worst, _) = values(&explored(Objective::Makespan, app));
    near(best, 1.002);
    near(worst, 3.002);
}

#[test]
fn choices_are_made_as_told() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("chooser", "0", |ctx: Ctx| async move {
            let seconds = ctx.choose(3).await;
            sleep(&ctx, f64::from(seconds)).await;
            let more = ctx.choose(2).await;
            sleep(&ctx, f64::from(more) * 10.0).await;
        })?;
        Ok(())
    });
    assert_eq!(found.ways, 6);
    let (best, worst, _) = values(&found);
    assert_eq!((best, worst), (0.0, 12.0));
    assert_eq!(found.worst.unwrap().way.processes[0], [Came::Chosen(2), Came::Chosen(1)]);
}

#[test]
fn a_test_finds_what_it_is_told_to_find() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("receiver", "0", |ctx: Ctx| async move {
            let message = ctx.mailbox::<()>("box").recv().start().await;
            sleep(&ctx, 3.0).await;
            match message.test().await? {
                Some(()) => sleep(&ctx, 1.0).await,
                None => {
                    message.wait().await?;
                    sleep(&ctx, 5.0).await;
                }
            }
            done()
        })?;
        program.spawn("sender", "1", |ctx: Ctx| async move { ctx.mailbox("box").send((), 1e6).await })?;
        Ok(())
    });
    assert_eq!(found.ways, 2);
    let (best, worst, simulated) = values(&found);
    near(best, 4.0);
    // On a slower network the message would not be there yet; here it is, and the wait after the test is over at once.
    near(worst, 8.0);
    assert_eq!(simulated, best);
}

#[test]
fn a_test_that_is_to_succeed_waits() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("receiver", "0", |ctx: Ctx| async move {
            let message = ctx.mailbox::<()>("box").recv().start().await;
            if message.test().await?.is_none() {
                sleep(&ctx, 0.5).await;
            }
            done()
        })?;
        program.spawn("sender", "1", |ctx: Ctx| async move {
            ctx.mailbox("box").send((), 1e6).detach().await;
        })?;
        Ok(())
    });
    assert_eq!(found.ways, 2);
    let (best, worst, simulated) = values(&found);
    near(best, 0.5);
    near(worst, 1.0);
    assert_eq!(simulated, best);
}

/// A lock held for 1 s by who has 5 s of work then, and for 3 s by who has 1 s of work.
fn locking(program: &mut Program, lock: Lock) -> simurgh::Result {
    for (name, host, held, work) in [("a", "0", 1.0, 5.0), ("b", "1", 3.0, 1.0)] {
        let lock = lock.clone();
        program.spawn(name, host, move |ctx: Ctx| async move {
            match lock {
                Lock::Mutex(mutex) => {
                    let guard = mutex.lock().await;
                    sleep(&ctx, held).await;
                    drop(guard);
                }
                Lock::Semaphore(semaphore) => {
                    semaphore.acquire().await;
                    sleep(&ctx, held).await;
                    semaphore.release().await;
                }
            }
            sleep(&ctx, work).await;
        })?;
    }
    Ok(())
}

#[derive(Clone)]
enum Lock {
    Mutex(Mutex<()>),
    Semaphore(Semaphore),
}

#[test]
fn locks_are_taken_in_every_order() {
    for kind in ["mutex", "semaphore"] {
        let found = explored(Objective::Makespan, |program| {
            let lock = match kind {
                "mutex" => Lock::Mutex(program.mutex(())),
                _ => Lock::Semaphore(program.semaphore(1)),
            };
            locking(program, lock)
        });
        assert_eq!(found.ways, 2, "{kind}");
        // a first: a is done at 6, b at 1 + 3 + 1. b first: b is done at 4, a at 3 + 1 + 5.
        assert_eq!(values(&found), (6.0, 9.0, 6.0), "{kind}");
    }
}

#[test]
fn actors_that_come_later_are_steered_too() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("server", "0", |ctx: Ctx| async move {
            for _ in 0..2 {
                ctx.mailbox::<()>("box").recv().await?;
                sleep(&ctx, 1.0).await;
            }
            done()
        })?;
        // The second parent is faster, so that the children come in another order than their parents.
        for (name, host, delay, work) in [("slow", "1", 0.5, 4.0), ("quick", "2", 0.25, 2.0)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                sleep(&ctx, delay).await;
                let child = move |ctx: Ctx| async move {
                    ctx.mailbox("box").send((), 0.0).await?;
                    sleep(&ctx, work).await;
                    done()
                };
                ctx.spawn(format!("child of {name}"), host, child)?.await;
                done()
            })?;
        }
        Ok(())
    });
    assert_eq!(found.ways, 2);
    // The slow child first: served at 0.5 and done at 4.5. Last: served at 1.25 and done at 5.25.
    assert_eq!(values(&found), (4.5, 5.25, 5.25));
    assert_eq!(got(&found.best, "server"), ["child of slow", "child of quick"]);
}

#[test]
fn a_deadline_that_only_some_orders_meet() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("server", "0", |ctx: Ctx| async move {
            for _ in 0..2 {
                let seconds: f64 = ctx.mailbox("box").recv().await?;
                sleep(&ctx, seconds).await;
            }
            done()
        })?;
        for (name, host, seconds) in [("long", "1", 3.0), ("urgent", "2", 1.0)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                ctx.mailbox("box").send(seconds, 0.0).await?;
                // Time stands still when orders alone are explored.
                if name == "urgent" && ctx.now() > 2.0 {
                    return Err(simurgh::Error::other(format!("served at {} s only", ctx.now())));
                }
                Ok(())
            })?;
        }
        Ok(())
    });
    assert_eq!((found.ways, found.broken, found.impossible), (2, 1, 0));
    assert_eq!(found.damage.as_deref(), Some("actor \"urgent\" failed at 3.000000 s: served at 3 s only"));
    near(found.best.unwrap().value, 4.0);
}

#[test]
fn a_program_that_looks_at_the_clock_may_leave_its_way() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("receiver", "0", |ctx: Ctx| async move {
            ctx.mailbox::<()>("box").recv().await?;
            if ctx.now() > 0.5 {
                ctx.mailbox::<()>("box").recv().await?;
            }
            done()
        })?;
        for (name, host, bytes) in [("small", "1", 1e5), ("large", "2", 1e6)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                ctx.mailbox("box").send((), bytes).detach().await;
            })?;
        }
        Ok(())
    });
    assert_eq!((found.ways, found.broken, found.impossible), (2, 0, 1));
    let obstacle = found.obstacle.unwrap();
    assert_eq!(obstacle, "actor \"receiver\" sends or receives where its way has nothing more");
}

#[test]
fn daemons_end_wherever_they_are() {
    let found = explored(Objective::Makespan, |program| {
        program.actor("echo", "0")?.daemon().start(|ctx: Ctx| async move {
            loop {
                let from: &str = ctx.mailbox("box").recv().await?;
                sleep(&ctx, 1.0).await;
                ctx.mailbox(from).send((), 0.0).detach().await;
                if from == "never" {
                    return done();
                }
            }
        })?;
        for (name, host, work) in [("a", "1", 2.0), ("b", "2", 7.0)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                ctx.mailbox("box").send(name, 0.0).await?;
                ctx.mailbox::<()>(name).recv().await?;
                sleep(&ctx, work).await;
                done()
            })?;
        }
        Ok(())
    });
    assert_eq!(found.ways, 2);
    assert_eq!(values(&found), (8.0, 9.0, 9.0));
}

#[test]
fn actors_that_start_late_keep_their_numbers() {
    let found = explored(Objective::Makespan, |program| {
        program.actor("late", "1")?.start_at(0.25).start(|ctx: Ctx| async move {
            ctx.mailbox("box").send((), 0.0).await?;
            sleep(&ctx, 4.0).await;
            done()
        })?;
        program.spawn("early", "2", |ctx: Ctx| async move { ctx.mailbox("box").send((), 0.0).await })?;
        program.spawn("server", "0", |ctx: Ctx| async move {
            for _ in 0..2 {
                ctx.mailbox::<()>("box").recv().await?;
                sleep(&ctx, 1.0).await;
            }
            done()
        })?;
        Ok(())
    });
    assert_eq!(found.ways, 2);
    // Late first: it is met at 0.25. Early first: the server is back at 1.
    assert_eq!(values(&found), (4.25, 5.0, 5.0));
    assert_eq!(got(&found.best, "server"), ["late", "early"]);
}

#[test]
fn locks_that_are_given_up_or_only_tried() {
    let timed = |wait: f64| {
        explored(Objective::Makespan, move |program: &mut Program| {
            let semaphore = program.semaphore(1);
            for (name, host, held) in [("a", "0", 2.0), ("b", "1", 4.0)] {
                program.spawn(name, host, move |ctx: Ctx| async move {
                    if semaphore.acquire_for(wait).await {
                        sleep(&ctx, held).await;
                        semaphore.release().await;
                    } else {
                        sleep(&ctx, 10.0).await;
                    }
                })?;
            }
            Ok(())
        })
    };
    // Three ways: a gives up, b gives up, nobody does, in either order.
    let found = timed(3.0);
    // a first: b gets it at 2 and is done at 6. b first: a gives up at 3, and is done at 13.
    assert_eq!((found.best.as_ref().unwrap().value, found.worst.as_ref().unwrap().value), (6.0, 13.0));
    assert_eq!(found.simulated.unwrap().value, 6.0);
    assert_eq!((found.ways, found.impossible), (4, 2));
    // Nobody waits for 5 s in vain, whoever is first.
    let found = timed(5.0);
    assert_eq!((found.best.unwrap().value, found.worst.unwrap().value), (6.0, 6.0));
    assert_eq!((found.ways, found.impossible), (4, 2));

    let found = explored(Objective::Makespan, |program| {
        let mutex = program.mutex(());
        for (name, host, held) in [("a", "0", 2.0), ("b", "1", 4.0)] {
            let mutex = mutex.clone();
            program.spawn(name, host, move |ctx: Ctx| async move {
                match mutex.try_lock().await {
                    Some(_guard) => sleep(&ctx, held).await,
                    None => sleep(&ctx, 10.0).await,
                }
            })?;
        }
        Ok(())
    });
    // Both find it free, one after the other; or one of them does not.
    assert_eq!((found.best.as_ref().unwrap().value, found.worst.as_ref().unwrap().value), (6.0, 10.0));
    assert_eq!((found.ways, found.impossible, found.simulated.unwrap().value), (4, 0, 10.0));
}

#[test]
fn objects_that_actors_make() {
    let found = explored(Objective::Makespan, |program| {
        program.spawn("maker", "0", |ctx: Ctx| async move {
            let mutex = ctx.mutex(0);
            for (name, host, held, work) in [("a", "1", 1.0, 5.0), ("b", "2", 3.0, 1.0)] {
                let mutex = mutex.clone();
                let child = move |ctx: Ctx| async move {
                    let guard = mutex.lock().await;
                    sleep(&ctx, held).await;
                    drop(guard);
                    sleep(&ctx, work).await;
                };
                ctx.spawn(name, host, child)?.await;
            }
            done()
        })?;
        Ok(())
    });
    assert_eq!(found.ways, 2);
    assert_eq!(values(&found), (6.0, 9.0, 6.0));
}

#[test]
fn barriers_joins_and_cancelled_receives() {
    let found = explored(Objective::Makespan, |program| {
        let barrier = program.barrier(2);
        for (name, host, work) in [("a", "0", 2.0), ("b", "1", 3.0)] {
            program.spawn(name, host, move |ctx: Ctx| async move {
                sleep(&ctx, work).await;
                if barrier.wait_last().await {
                    sleep(&ctx, work).await;
                }
            })?;
        }
        Ok(())
    });
    // Whoever is last works on: at 3 both are there.
    assert_eq!(found.ways, 2);
    assert_eq!(values(&found), (5.0, 6.0, 6.0));

    let found = explored(Objective::Makespan, |program| {
        let worker = program.spawn("worker", "0", |ctx: Ctx| async move { sleep(&ctx, 4.0).await })?;
        program.spawn("boss", "1", move |ctx: Ctx| async move {
            if !worker.join_for(3.0).await {
                sleep(&ctx, 0.5).await;
                worker.join().await;
            }
        })?;
        Ok(())
    });
    // It is not over after 3 s, whatever happens.
    assert_eq!((found.ways, found.impossible), (2, 1));
    assert_eq!((found.best.unwrap().value, found.simulated.unwrap().value), (4.0, 4.0));

    let found = explored(Objective::Makespan, |program| {
        program.spawn("receiver", "0", |ctx: Ctx| async move {
            let message = ctx.mailbox::<()>("box").recv().start().await;
            sleep(&ctx, 1.0).await;
            message.cancel().await;
            match message.wait().await {
                Ok(()) => sleep(&ctx, 3.0).await,
                Err(_) => sleep(&ctx, 5.0).await,
            }
        })?;
        program.spawn("sender", "1", |ctx: Ctx| async move {
            sleep(&ctx, 2.0).await;
            ctx.mailbox("box").send((), 0.0).detach().await;
        })?;
        Ok(())
    });
    assert_eq!((found.ways, found.impossible), (2, 0));
    // Taken back at 1, or met at 2.
    assert_eq!(values(&found), (5.0, 6.0, 6.0));
}
