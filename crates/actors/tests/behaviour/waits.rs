//! Waiting with patience, testing, cancelling.

use simurgh::ActorId;
use simurgh::prelude::*;

use super::receiver;
use crate::support::log::{Play, fine};
use crate::support::platforms::three_hosts;

#[test]
fn patience_of_nothing_gives_a_message_up_for_both_and_leaves_an_execution() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let message = ctx.mailbox("x").send((), 1e6).start().await;
        let work = ctx.execute(1e9).start().await;
        ctx.sleep(0.5).await;
        log.how(&ctx, "message", message.wait_for(0.0).await);
        log.how(&ctx, "work", work.wait_for(0.0).await);
        log.how(&ctx, "work", work.wait_for(0.5).await);
        log.how(&ctx, "work", work.wait().await);
    });
    play.actor("b", "b", receiver);
    assert_eq!(
        play.lines(),
        [
            "0.500000 message: timeout",
            "0.500000 received: timeout",
            "0.500000 work: timeout",
            // At the instant of the completion the timeout wins.
            "1.000000 work: timeout",
            "1.000000 work: ok"
        ]
    );
}

#[test]
fn a_test_does_not_wait() {
    let mut play = Play::on(three_hosts());
    play.actor("b", "b", |ctx, log| async move {
        let message = ctx.mailbox::<u32>("x").recv().start().await;
        for _ in 0..2 {
            log.at(&ctx, format!("{:?}", message.test().await?));
            ctx.sleep(2.0).await;
        }
        fine()
    });
    play.actor("a", "a", |ctx, _| async move { ctx.mailbox("x").send(7_u32, 1e6).await });
    assert_eq!(play.lines(), ["0.000000 None", "2.000000 Some(7)"]);
}

#[test]
fn waiting_for_one_of_several_cancels_none() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let mut works = ActivitySet::new();
        for flops in [2e9, 1e9] {
            works.push(ctx.execute(flops).start().await);
        }
        log.how(&ctx, "any", works.wait_any_for(0.0).await);
        log.how(&ctx, "any", works.wait_any_for(1.0).await);
        while !works.is_empty() {
            let (place, ()) = works.wait_any().await?;
            log.at(&ctx, format!("number {place}"));
        }
        fine()
    });
    assert_eq!(
        play.lines(),
        ["0.000000 any: timeout", "1.000000 any: timeout", "2.000000 number 1", "3.000000 number 0"]
    );
}

#[test]
fn a_member_that_timed_out_is_told_from_a_wait_that_did() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let mut receives = ActivitySet::new();
        for name in ["silent", "impatient"] {
            receives.push(ctx.mailbox::<()>(name).recv().start().await);
        }
        let error = receives.wait_any_for(0.1).await.unwrap_err();
        log.at(&ctx, format!("{error}, {}", error.is_timeout()));
        let error = receives.wait_any_for(9.0).await.unwrap_err();
        let simurgh::Error::Member { index, failure } = error else { panic!("{error}") };
        log.at(&ctx, format!("{index}, {failure}, {}", error.is_timeout()));
        let error = receives.test_any().await.unwrap_err();
        log.at(&ctx, format!("{error}, {}", error.is_timeout()));
        drop(receives.remove(index));
        fine()
    });
    // The sender gives up while its message is under way: it has failed for the receiver too, by a timeout.
    play.actor("b", "b", |ctx, _| async move {
        assert!(ctx.mailbox("impatient").send((), 1e6).timeout(0.5).await.unwrap_err().is_timeout());
    });
    assert_eq!(
        play.lines(),
        ["0.100000 timeout, true", "0.500000 1, timeout, false", "0.500000 timeout, false"]
    );
}

#[test]
fn a_cancelled_message_fails_at_once_for_both() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let message = ctx.mailbox("x").send((), 1e6).start().await;
        ctx.sleep(0.5).await;
        message.cancel().await;
        log.how(&ctx, "message", message.wait().await);
        let alone = ctx.mailbox("y").send((), 1.0).start().await;
        alone.cancel().await;
        log.how(&ctx, "alone", alone.wait().await);
        log.at(&ctx, format!("{}", ctx.mailbox::<()>("y").has_message().await));
    });
    play.actor("b", "b", receiver);
    assert_eq!(
        play.lines(),
        [
            "0.500000 received: cancelled",
            "0.500000 message: cancelled",
            "0.500000 alone: cancelled",
            "0.500000 false"
        ]
    );
}

#[test]
fn amounts_and_durations_of_nothing_take_no_time() {
    let mut play = Play::on(three_hosts());
    play.actor("it", "a", |ctx, log| async move {
        ctx.execute(0.0).await?;
        ctx.sleep(0.0).await;
        ctx.sleep(-0.0).await;
        ctx.sleep_until(-3.0).await;
        let message = ctx.mailbox("x").send((), 0.0).start().await;
        ctx.mailbox::<()>("x").recv().await?;
        message.wait().await?;
        let nothing = ctx.parallel(&[ctx.host()], &[], &[]).await;
        log.how(&ctx, "nothing", nothing);
        ctx.sleep(1e-12).await;
        log.write(format!("{:e}", ctx.now()));
        fine()
    });
    assert_eq!(play.lines(), ["0.000000 nothing: ok", "1e-9"]);
}

#[test]
fn a_receive_takes_the_oldest_message_that_it_asks_for() {
    let mut play = Play::on(three_hosts());
    let one = play.actor("one", "a", |ctx, _| async move {
        for (what, tag) in [("one, plain", 0), ("one, seven", 7), ("one, seven again", 7)] {
            ctx.mailbox("x").send(what, 1.0).tag(tag).detach().await;
        }
    });
    play.actor("two", "b", |ctx, _| async move {
        ctx.sleep(0.5).await;
        ctx.mailbox("x").send("two, seven", 1.0).tag(7).detach().await;
        ctx.mailbox("x").send("two, plain", 1.0).detach().await;
    });
    play.actor("receiver", "c", move |ctx, log| async move {
        ctx.sleep(1.0).await;
        let mailbox = ctx.mailbox::<&str>("x");
        log.write(mailbox.recv().tag(7).await.unwrap());
        log.write(mailbox.recv().from(ActorId(1)).await.unwrap());
        log.write(mailbox.recv().from(one).tag(7).await.unwrap());
        log.write(mailbox.recv().await.unwrap());
        log.write(mailbox.recv().tag(0).await.unwrap());
        let nothing = mailbox.recv().from(ctx.id()).timeout(1.0).await;
        log.how(&ctx, "from itself", nothing);
    });
    let lines = play.lines();
    let expected = ["one, seven", "two, seven", "one, seven again", "one, plain", "two, plain"];
    assert_eq!(lines[..5], expected);
    assert!(lines[5].ends_with("from itself: timeout"), "{lines:?}");
}

/// What an actor does when its patience was not needed.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Then {
    End,
    WaitForGood,
    BeSuspended,
}

#[test]
fn patience_that_was_not_needed_moves_no_clock() {
    for then in [Then::End, Then::WaitForGood, Then::BeSuspended] {
        let mut program = Program::new(three_hosts());
        let turn = program.semaphore(0);
        let waiter = program
            .spawn("waiter", "a", move |ctx: Ctx| async move {
                assert!(turn.acquire_for(100.0).await, "there is enough time");
                if then == Then::WaitForGood {
                    turn.acquire().await;
                }
                assert_ne!(then, Then::BeSuspended, "it is suspended before it runs");
                assert_eq!(ctx.now(), 1.0);
            })
            .expect("a good host");
        program
            .spawn("releaser", "b", move |ctx: Ctx| async move {
                ctx.sleep(1.0).await;
                turn.release().await;
            })
            .expect("a good host");
        program
            .spawn("suspender", "c", move |ctx: Ctx| async move {
                ctx.sleep(1.0).await;
                if then == Then::BeSuspended {
                    waiter.suspend().await;
                }
            })
            .expect("a good host");
        let outcome = program.simulate(Settings::default()).expect("it runs");
        assert_eq!((outcome.clock(), outcome.is_fine()), (1.0, then == Then::End), "{then:?}");
        assert!(outcome.report.failures.is_empty(), "{then:?} {:?}", outcome.report.failures);
    }
}

/// A send, a receive and an execution in one set, each with what it brings.
#[test]
fn a_set_mixes_what_was_mapped() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let mut set = ActivitySet::new();
        log.at(&ctx, format!("{:?}", set.test_any().await?));
        set.push(ctx.execute(1e9).start().await.map(|()| "worked".to_owned()));
        set.push(ctx.mailbox::<u32>("x").recv().start().await.map(|value| format!("got {value}")));
        log.at(&ctx, format!("{:?}", set.test_any().await?));
        while let Some((place, over)) = set.next_over().await {
            log.at(&ctx, format!("{place} {}", over?));
        }
        fine()
    });
    play.actor(
        "b",
        "b",
        |ctx, _| async move { ctx.mailbox("x").send(7_u32, 1e6).start().await.wait().await },
    );
    let lines = play.lines();
    assert_eq!(lines[..2], ["0.000000 None", "0.000000 None"]);
    assert!(lines[2..].iter().any(|line| line.ends_with("got 7")), "{lines:?}");
    assert!(
        lines[2..].iter().any(|line| line.starts_with("1.000000") && line.ends_with("worked")),
        "{lines:?}"
    );
}

/// The time is for all of them together. What was over in time is given by the next wait for all.
#[test]
fn waiting_for_all_with_a_deadline_loses_nothing() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, log| async move {
        let mut works = ActivitySet::new();
        for (number, flops) in (0..).zip([1e9, 3e9, 0.5e9]) {
            works.push(ctx.execute(flops).start().await.map(move |()| number));
        }
        log.how(&ctx, "all", works.wait_all_for(3.25).await.map(drop));
        log.at(&ctx, format!("{} left", works.len()));
        log.at(&ctx, format!("{:?}", works.wait_all_for(2.0).await?));
        log.at(&ctx, format!("{:?}", works.wait_all().await?));
        fine()
    });
    // They share a core: the first is over at 2.5, the second at 4.5.
    let expected = ["3.250000 all: timeout", "3.250000 2 left", "4.500000 [0, 1, 2]", "4.500000 []"];
    assert_eq!(play.lines(), expected);
}
