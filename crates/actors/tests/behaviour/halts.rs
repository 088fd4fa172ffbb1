//! Suspend and resume.

use simurgh::prelude::*;

use super::{receiver, sender};
use crate::support::log::{Log, Play, fine};
use crate::support::platforms::three_hosts;

/// An actor that halts another from one date to another.
fn halts(play: &mut Play, victim: ActorHandle, from: f64, to: f64) {
    play.actor("halter", "c", move |ctx, _| async move {
        ctx.sleep(from).await;
        victim.suspend().await;
        ctx.sleep(to - from).await;
        victim.resume().await;
    });
}

#[test]
fn a_sleep_is_not_prolonged_by_a_halt() {
    for (to, expected) in [(2.0, "3.000000 awake"), (6.0, "6.000000 awake")] {
        let mut play = Play::on(three_hosts());
        let sleeper = play.actor("sleeper", "a", |ctx, log| async move {
            ctx.sleep(3.0).await;
            log.at(&ctx, "awake");
        });
        halts(&mut play, sleeper, 1.0, to);
        assert_eq!(play.lines(), [expected]);
    }
}

#[test]
fn a_halted_execution_leaves_its_share_to_the_others() {
    let mut play = Play::on(three_hosts());
    let work = |ctx: Ctx, log: Log| async move {
        ctx.execute(3e9).await?;
        log.at(&ctx, "done");
        fine()
    };
    let victim = play.actor("victim", "a", work);
    play.actor("other", "a", work);
    halts(&mut play, victim, 1.0, 6.0);
    assert_eq!(play.lines(), ["3.500000 done", "8.500000 done"]);
}

#[test]
fn a_message_stands_still_with_either_end() {
    for (bytes, which, from, to, expected) in [
        (5e6, 0, 1.0, 6.0, "10.425381"),
        (5e6, 1, 1.0, 6.0, "10.425381"),
        // Its latency goes on; the bytes set out at the resume.
        (1e6, 0, 0.005, 1.005, "2.087474"),
    ] {
        let mut play = Play::on(three_hosts());
        let ends = [play.actor("a", "a", sender(bytes)), play.actor("b", "b", receiver)];
        halts(&mut play, ends[which], from, to);
        let mut lines = play.lines();
        lines.sort();
        assert_eq!(lines, [format!("{expected} received: ok"), format!("{expected} sent: ok")]);
    }
}

#[test]
fn all_that_an_actor_started_stands_still_with_it() {
    let mut play = Play::on(three_hosts());
    let victim = play.actor("a", "a", |ctx, log| async move {
        let message = ctx.mailbox("x").send((), 5e6).start().await;
        let work = ctx.execute(3e9).start().await;
        ctx.sleep(2.0).await;
        log.at(&ctx, "awake");
        work.wait().await?;
        log.at(&ctx, "computed");
        message.wait().await
    });
    play.actor("b", "b", receiver);
    halts(&mut play, victim, 1.0, 6.0);
    assert_eq!(play.lines(), ["6.000000 awake", "8.000000 computed", "10.425381 received: ok"]);
}

#[test]
fn one_resume_is_enough_for_a_message_whose_ends_were_both_halted() {
    let mut play = Play::on(three_hosts());
    let a = play.actor("a", "a", sender(1e6));
    let b = play.actor("b", "b", receiver);
    halts(&mut play, a, 0.5, 1.5);
    halts(&mut play, b, 0.5, 5.0);
    assert_eq!(play.lines(), ["2.095484 sent: ok", "5.000000 received: ok"]);
}

#[test]
fn a_message_matched_while_its_sender_is_halted_sets_out_at_the_resume() {
    let mut play = Play::on(three_hosts());
    let a = play.actor("a", "a", sender(1e6));
    play.actor("b", "b", |ctx, log| async move {
        ctx.sleep(2.0).await;
        let result = ctx.mailbox::<()>("x").recv().await;
        log.how(&ctx, "received", result);
    });
    halts(&mut play, a, 1.0, 5.0);
    assert_eq!(play.lines(), ["6.082474 sent: ok", "6.082474 received: ok"]);
}

#[test]
fn halts_do_not_nest_and_the_resumed_runs_before_its_resumer() {
    let mut play = Play::on(three_hosts());
    let victim = play.actor("victim", "a", |ctx, log| async move {
        ctx.suspend().await;
        log.at(&ctx, "resumed");
    });
    play.actor("other", "b", move |ctx, log| async move {
        ctx.sleep(1.0).await;
        victim.suspend().await;
        victim.suspend().await;
        victim.resume().await;
        log.at(&ctx, "went on");
    });
    assert_eq!(play.lines(), ["1.000000 resumed", "1.000000 went on"]);
}

#[test]
fn a_halted_actor_can_be_killed_and_holds_the_lock_that_it_is_given() {
    let mut play = Play::on(three_hosts());
    let lock = play.program.mutex(());
    let (first, second, third) = (lock.clone(), lock.clone(), lock);
    play.actor("first", "a", move |ctx, _| async move {
        let guard = first.lock().await;
        ctx.sleep(2.0).await;
        drop(guard);
    });
    let victim = play.actor("second", "a", move |ctx, log| async move {
        let seen = log.clone();
        ctx.on_exit(move |failed| seen.write(format!("second ends, failed: {failed}")));
        let _guard = second.lock().await;
        log.at(&ctx, "never");
    });
    play.actor("third", "a", move |ctx, log| async move {
        ctx.sleep(1.0).await;
        victim.suspend().await;
        let locked = third.lock_for(3.0).await.is_some();
        log.at(&ctx, format!("locked: {locked}"));
        victim.kill().await;
        let locked = third.try_lock().await.is_some();
        log.at(&ctx, format!("locked: {locked}"));
    });
    let expected = ["4.000000 locked: false", "second ends, failed: true", "4.000000 locked: true"];
    assert_eq!(play.lines(), expected);
}
