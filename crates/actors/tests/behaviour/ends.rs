//! How actors end, and what becomes of what they were doing.

use simurgh::prelude::*;

use super::{receiver, sender};
use crate::support::log::{Play, fine};
use crate::support::platforms::three_hosts;

fn kills(play: &mut Play, victim: ActorHandle, at: f64) {
    play.actor("killer", "c", move |ctx, log| async move {
        ctx.sleep(at).await;
        victim.kill().await;
        log.at(&ctx, "killed");
    });
}

#[test]
fn whoever_shares_a_message_with_the_dead_is_told_at_once() {
    for which in [0, 1] {
        let mut play = Play::on(three_hosts());
        let ends = [play.actor("a", "a", sender(5e6)), play.actor("b", "b", receiver)];
        kills(&mut play, ends[which], 1.0);
        let what = ["received", "sent"][which];
        let expected = format!("1.000000 {what}: the actor at the other end is gone");
        assert_eq!(play.lines(), [expected, "1.000000 killed".to_owned()]);
    }
}

#[test]
fn whoever_does_not_wait_is_told_when_it_does_and_each_time() {
    let mut play = Play::on(three_hosts());
    let a = play.actor("a", "a", sender(5e6));
    play.actor("b", "b", |ctx, log| async move {
        let message = ctx.mailbox::<()>("x").recv().start().await;
        ctx.sleep(3.0).await;
        for _ in 0..2 {
            log.how(&ctx, "received", message.wait().await);
        }
    });
    kills(&mut play, a, 1.0);
    let told = "3.000000 received: the actor at the other end is gone";
    assert_eq!(play.lines(), ["1.000000 killed", told, told]);
}

#[test]
fn what_the_dead_posted_leaves_the_mailbox() {
    let mut play = Play::on(three_hosts());
    let a = play.actor("a", "a", sender(5e6));
    play.actor("b", "b", |ctx, log| async move {
        let there = ctx.mailbox::<()>("x");
        log.at(&ctx, format!("a message: {}", there.has_message().await));
        ctx.sleep(2.0).await;
        log.at(&ctx, format!("a message: {}", there.has_message().await));
    });
    kills(&mut play, a, 1.0);
    assert_eq!(play.lines(), ["0.000000 a message: true", "1.000000 killed", "2.000000 a message: false"]);
}

#[test]
fn the_work_of_the_dead_ends_with_them() {
    for in_background in [false, true] {
        let mut play = Play::on(three_hosts());
        let victim = play.actor("victim", "a", move |ctx, _| async move {
            if in_background {
                ctx.execute(2e9).start().await;
                ctx.sleep(1.0).await;
            } else {
                ctx.execute(2e9).await?;
            }
            fine()
        });
        play.actor("other", "a", |ctx, log| async move {
            ctx.execute(2e9).await?;
            log.at(&ctx, "done");
            fine()
        });
        if !in_background {
            kills(&mut play, victim, 1.0);
        }
        assert_eq!(play.lines().last().unwrap(), "2.500000 done");
    }
}

#[test]
fn a_detached_message_goes_on_without_its_sender() {
    for wait in [0.0, 2.0] {
        let mut play = Play::on(three_hosts());
        let a = play.actor("a", "a", |ctx, _| async move {
            ctx.mailbox("x").send((), 1e6).detach().await;
            ctx.sleep(10.0).await;
        });
        play.actor("b", "b", move |ctx, log| async move {
            ctx.sleep(wait).await;
            let result = ctx.mailbox::<()>("x").recv().await;
            log.how(&ctx, "received", result);
        });
        kills(&mut play, a, 0.5);
        let expected = format!("{:.6} received: ok", wait + 1.095484);
        assert_eq!(play.lines(), ["0.500000 killed".to_owned(), expected]);
    }
}

#[test]
fn what_is_to_be_done_at_the_end_is_done_last_first_and_knows_how_it_ended() {
    type Ends = fn(Ctx) -> std::pin::Pin<Box<dyn Future<Output = simurgh::Result> + Send>>;
    let ways: [(&str, bool, Ends); 5] = [
        ("returns", false, |_| Box::pin(async { fine() })),
        ("fails", true, |_| Box::pin(async { Err(simurgh::Error::input("no")) })),
        ("panics", true, |_| Box::pin(async { panic!("no") })),
        ("exits", true, |ctx| {
            Box::pin(async move {
                ctx.exit().await;
                unreachable!("it has ended")
            })
        }),
        ("is killed", true, |ctx| {
            Box::pin(async move {
                ctx.sleep(1e9).await;
                fine()
            })
        }),
    ];
    for (name, failed, end) in ways {
        let mut play = Play::on(three_hosts());
        let it = play.actor(name, "a", move |ctx, log| async move {
            for number in [1, 2] {
                let (seen, me) = (log.clone(), ctx.clone());
                ctx.on_exit(move |failed| seen.at(&me, format!("{number}: {failed}")));
            }
            ctx.sleep(1.0).await;
            end(ctx).await
        });
        if name == "is killed" {
            kills(&mut play, it, 1.0);
        }
        let mut lines = play.ends().1;
        lines.truncate(2);
        assert_eq!(lines, [format!("1.000000 2: {failed}"), format!("1.000000 1: {failed}")], "{name}");
    }
}

#[test]
fn what_panics_at_the_end_is_reported_and_what_is_said_is_heard() {
    let mut play = Play::on(three_hosts());
    play.actor("it", "a", |ctx, _| async move {
        let me = ctx.clone();
        ctx.on_exit(move |_| me.say("farewell"));
        ctx.on_exit(|_| panic!("so it goes"));
        ctx.say("hello");
        ctx.sleep(1.0).await;
    });
    let heard = play.log.clone();
    let listener = Box::new(move |said: &simurgh_kernel::simulation::Said<'_>| {
        heard.write(format!("{:.6} {} on {}: {}", said.at, said.actor, said.host, said.text));
    });
    let outcome =
        play.program.simulate(Settings { listener: Some(listener), ..Settings::default() }).unwrap();
    assert_eq!(play.log.lines(), ["0.000000 it on a: hello", "1.000000 it on a: farewell"]);
    let [failure] = outcome.report.failures.as_slice() else { panic!("{:?}", outcome.report) };
    assert_eq!(failure.message, "panicked in what it does at its end: so it goes");
}

#[test]
fn dates_of_birth_and_death() {
    let mut play = Play::on(three_hosts());
    for (name, from, to) in
        [("late", Some(2.0), None), ("short", None, Some(3.0)), ("both", Some(1.0), Some(4.0))]
    {
        let log = play.log.clone();
        let mut plan = play.program.actor(name, "a").unwrap();
        if let Some(from) = from {
            plan = plan.start_at(from);
        }
        if let Some(to) = to {
            plan = plan.kill_at(to);
        }
        plan.start(move |ctx: Ctx| async move {
            log.at(&ctx, format!("{name} is there"));
            let (seen, me) = (log.clone(), ctx.clone());
            ctx.on_exit(move |_| seen.at(&me, format!("{name} is gone")));
            ctx.sleep(5.0).await;
        })
        .unwrap();
    }
    assert_eq!(
        play.lines(),
        [
            "0.000000 short is there",
            "1.000000 both is there",
            "2.000000 late is there",
            "3.000000 short is gone",
            "4.000000 both is gone",
            "7.000000 late is gone"
        ]
    );
}

#[test]
fn joins_end_with_the_actor_or_with_patience() {
    let mut play = Play::on(three_hosts());
    let other = play.actor("other", "a", |ctx, _| async move { ctx.sleep(3.0).await });
    play.actor("joiner", "b", move |ctx, log| async move {
        for seconds in [0.0, 1.0, 10.0, 1.0] {
            let over = other.join_for(seconds).await;
            log.at(&ctx, format!("over: {over}"));
        }
        other.join().await;
        log.at(&ctx, format!("alive: {}", other.is_alive().await));
    });
    assert_eq!(
        play.lines(),
        [
            "0.000000 over: false",
            "1.000000 over: false",
            "3.000000 over: true",
            "3.000000 over: true",
            "3.000000 alive: false"
        ]
    );
}

#[test]
fn daemons_end_with_the_last_of_the_others() {
    let mut play = Play::on(three_hosts());
    for name in ["declared", "converted"] {
        let log = play.log.clone();
        let mut plan = play.program.actor(name, "a").unwrap();
        if name == "declared" {
            plan = plan.daemon();
        }
        plan.start(move |ctx: Ctx| async move {
            let (seen, me) = (log.clone(), ctx.clone());
            ctx.on_exit(move |failed| seen.at(&me, format!("{name}: {failed}")));
            ctx.become_daemon().await;
            ctx.execute(1e12).await
        })
        .unwrap();
    }
    play.actor("regular", "b", |ctx, _| async move { ctx.sleep(3.0).await });
    let (outcome, lines) = play.ends();
    assert_eq!(lines, ["3.000000 declared: true", "3.000000 converted: true"]);
    assert!(outcome.is_fine() && outcome.clock() == 3.0);
}

#[test]
fn kill_all_spares_the_killer() {
    let mut play = Play::on(three_hosts());
    for name in ["one", "two"] {
        play.actor(name, "a", move |ctx, log| async move {
            ctx.on_exit(move |failed| log.write(format!("{name}: {failed}")));
            ctx.execute(1e12).await
        });
    }
    play.actor("killer", "b", |ctx, log| async move {
        ctx.sleep(1.0).await;
        ctx.kill_all().await;
        log.at(&ctx, "alone");
    });
    assert_eq!(play.lines(), ["one: true", "two: true", "1.000000 alone"]);
}

#[test]
fn an_execution_moves_with_its_actor() {
    // Two threads on one core: 1e9 of 8e9 flops are done when it moves.
    for (threads, halted, expected) in [(1, false, 2.5), (2, false, 4.5), (1, true, 4.5)] {
        let mut play = Play::on(three_hosts());
        let it = play.actor("it", "a", move |ctx, log| async move {
            ctx.execute(4e9).threads(threads).await?;
            log.at(&ctx, format!("done on {}", ctx.host().name()));
            fine()
        });
        play.actor("mover", "b", move |ctx, _| async move {
            ctx.sleep(1.0).await;
            if halted {
                it.suspend().await;
            }
            it.migrate(&ctx.host_named("c")?).await;
            ctx.sleep(2.0).await;
            it.resume().await;
            fine()
        });
        assert_eq!(play.lines(), [format!("{expected:.6} done on c")], "{threads} threads");
    }
}

#[test]
fn a_message_sets_out_from_where_its_sender_is_when_it_is_met() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, _| async move {
        let message = ctx.mailbox("x").send((), 1e6).start().await;
        ctx.migrate("c")?.await;
        message.wait().await
    });
    play.actor("b", "b", |ctx, log| async move {
        ctx.sleep(2.0).await;
        ctx.mailbox::<()>("x").recv().await?;
        log.at(&ctx, "received");
        fine()
    });
    assert_eq!(play.lines(), ["3.121504 received"]);
}

#[test]
fn a_message_goes_to_where_its_receiver_is_when_it_is_met() {
    // The receive is waited for, only started, or started and let go; whoever waits is moved by another.
    let sent = |home: &'static str, goes: bool, way: u32| {
        let mut play = Play::on(three_hosts());
        let it = play.actor("it", home, move |ctx, _| async move {
            let inbox = ctx.mailbox::<()>("x");
            match way {
                0 => return inbox.recv().await,
                1 => {
                    let receive = inbox.recv().start().await;
                    return receive.wait().await;
                }
                _ => drop(inbox.recv().start().await),
            }
            ctx.sleep(9.0).await;
            fine()
        });
        play.actor("mover", "b", move |ctx, _| async move {
            ctx.sleep(1.0).await;
            if goes {
                it.migrate(&ctx.host_named("c")?).await;
            }
            fine()
        });
        play.actor("sender", "a", |ctx, log| async move {
            ctx.sleep(2.0).await;
            ctx.mailbox("x").send((), 1e6).await?;
            log.at(&ctx, "sent");
            fine()
        });
        play.lines()
    };
    for way in 0..3 {
        assert_eq!(sent("b", true, way), sent("c", false, way), "{way}");
        assert_ne!(sent("b", true, way), sent("b", false, way), "{way}");
    }
}

/// A plain function that an actor calls.
fn halve(number: u32) -> u32 {
    simurgh::check!(number.is_multiple_of(2), "{number} is odd");
    number / 2
}

#[test]
fn a_check_that_fails_ends_its_actor_with_the_place_and_the_message() {
    let mut play = Play::on(three_hosts());
    play.actor("in a function", "a", |_, _| async move {
        halve(halve(6));
    });
    play.actor("without a message", "a", |ctx, log| async move {
        let limit = 2;
        ctx.on_exit(move |failed| log.write(format!("failed: {failed}")));
        ctx.sleep(1.0).await;
        simurgh::check!(limit > 3);
    });
    play.actor("at its end", "a", |ctx, _| async move {
        ctx.sleep(2.0).await;
        ctx.on_exit(|_| simurgh::check!(false, "not like this"));
    });
    play.actor("is well", "b", |ctx, log| async move {
        ctx.sleep(3.0).await;
        simurgh::check!(halve(4) == 2, "arithmetic");
        log.at(&ctx, "well");
    });
    let (outcome, lines) = play.ends();
    assert_eq!(lines, ["failed: true", "3.000000 well"]);
    let told: Vec<_> = outcome.report.failures.iter().map(|failure| failure.message.as_str()).collect();
    let [first, second, third] = told[..] else { panic!("{told:?}") };
    let place = |message: &str| message.split(": ").next().map(str::to_owned);
    assert!(place(first).is_some_and(|place| place.contains("tests/behaviour/ends.rs:")), "{first}");
    assert!(first.ends_with(": 3 is odd"), "{first}");
    assert!(second.ends_with(": limit > 3 does not hold"), "{second}");
    assert!(third.starts_with("panicked in what it does at its end: "), "{third}");
    assert!(third.ends_with(": not like this"), "{third}");
}

#[test]
#[should_panic(expected = "5 is odd")]
fn a_check_outside_of_any_actor_panics() {
    halve(5);
}
