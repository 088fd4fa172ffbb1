//! Locks, semaphores, conditions and barriers: who goes first.

use crate::support::log::Play;
use crate::support::platforms::three_hosts;

#[test]
fn a_lock_goes_to_whoever_has_waited_longest() {
    let mut play = Play::on(three_hosts());
    let lock = play.program.mutex(Vec::new());
    for (number, start) in [(0, 0.0), (1, 2.0), (2, 1.0), (3, 3.0)] {
        let lock = lock.clone();
        play.actor("it", "a", move |ctx, log| async move {
            ctx.sleep(start).await;
            let mut order = lock.lock().await;
            order.push(number);
            log.at(&ctx, format!("{order:?}"));
            ctx.sleep(5.0).await;
            drop(order);
            ctx.yield_now().await;
            log.at(&ctx, format!("{number} went on"));
        });
    }
    assert_eq!(
        play.lines(),
        [
            "0.000000 [0]",
            "5.000000 [0, 2]",
            "5.000000 0 went on",
            "10.000000 [0, 2, 1]",
            "10.000000 2 went on",
            "15.000000 [0, 2, 1, 3]",
            "15.000000 1 went on",
            "20.000000 3 went on"
        ]
    );
}

#[test]
fn a_lock_given_to_one_who_dies_before_it_runs_is_not_lost() {
    // Unlike in SimGrid, a lock never stays with the dead.
    let mut play = Play::on(three_hosts());
    let lock = play.program.mutex(());
    let (first, second, third) = (lock.clone(), lock.clone(), lock);
    let victim = play.actor("victim", "a", move |ctx, _| async move {
        ctx.sleep(1.0).await;
        let _guard = second.lock().await;
        ctx.sleep(1e9).await;
    });
    play.actor("first", "a", move |ctx, _| async move {
        let guard = first.lock().await;
        ctx.sleep(2.0).await;
        drop(guard);
        victim.kill().await;
    });
    play.actor("third", "a", move |ctx, log| async move {
        ctx.sleep(3.0).await;
        let _guard = third.lock().await;
        log.at(&ctx, "locked");
    });
    assert_eq!(play.lines(), ["3.000000 locked"]);
}

#[test]
fn a_semaphore_serves_in_order_and_knows_patience() {
    let mut play = Play::on(three_hosts());
    let semaphore = play.program.semaphore(1);
    play.actor("first", "a", move |ctx, log| async move {
        semaphore.acquire().await;
        ctx.sleep(4.0).await;
        semaphore.release().await;
        log.at(&ctx, "released");
    });
    for (name, start, patience) in [("x", 1.0, 2.0), ("y", 2.0, 9.0), ("z", 1.5, 9.0)] {
        play.actor(name, "a", move |ctx, log| async move {
            ctx.sleep(start).await;
            let got = semaphore.acquire_for(patience).await;
            log.at(&ctx, format!("{name}: {got}"));
            if got {
                ctx.sleep(1.0).await;
                semaphore.release().await;
            }
        });
    }
    assert_eq!(
        play.lines(),
        ["3.000000 x: false", "4.000000 z: true", "4.000000 released", "5.000000 y: true"]
    );
}

#[test]
fn conditions_wake_in_order_and_give_the_lock_back() {
    let mut play = Play::on(three_hosts());
    let lock = play.program.mutex(());
    let condition = play.program.condvar();
    for (name, start) in [("x", 1.0), ("y", 0.5), ("z", 1.5)] {
        let lock = lock.clone();
        play.actor(name, "a", move |ctx, log| async move {
            ctx.sleep(start).await;
            let guard = lock.lock().await;
            let guard = condition.wait(guard).await;
            log.at(&ctx, name);
            ctx.sleep(1.0).await;
            drop(guard);
        });
    }
    play.actor("notifier", "a", move |ctx, log| async move {
        condition.notify_all().await;
        ctx.sleep(3.0).await;
        condition.notify_one().await;
        log.at(&ctx, "one");
        ctx.sleep(3.0).await;
        condition.notify_all().await;
        log.at(&ctx, "all");
    });
    let expected = ["3.000000 y", "3.000000 one", "6.000000 x", "6.000000 all", "7.000000 z"];
    assert_eq!(play.lines(), expected);
}

#[test]
fn a_condition_that_times_out_still_waits_for_the_lock() {
    let mut play = Play::on(three_hosts());
    let lock = play.program.mutex(());
    let condition = play.program.condvar();
    let other = lock.clone();
    play.actor("waiter", "a", move |ctx, log| async move {
        for patience in [2.0, 0.0] {
            let guard = lock.lock().await;
            let (guard, notified) = condition.wait_for(guard, patience).await;
            log.at(&ctx, format!("notified: {notified}"));
            drop(guard);
        }
    });
    play.actor("holder", "a", move |ctx, _| async move {
        ctx.sleep(1.0).await;
        let guard = other.lock().await;
        ctx.sleep(4.0).await;
        drop(guard);
    });
    assert_eq!(play.lines(), ["5.000000 notified: false", "5.000000 notified: false"]);
}

#[test]
fn a_barrier_lets_all_go_in_the_order_of_their_coming() {
    let mut play = Play::on(three_hosts());
    let barrier = play.program.barrier(3);
    for (name, start) in [("x", 2.0), ("y", 1.0), ("z", 3.0)] {
        play.actor(name, "a", move |ctx, log| async move {
            ctx.sleep(start).await;
            let last = barrier.wait_last().await;
            log.at(&ctx, format!("{name}: {last}"));
        });
    }
    assert_eq!(play.lines(), ["3.000000 y: false", "3.000000 x: false", "3.000000 z: true"]);
}
