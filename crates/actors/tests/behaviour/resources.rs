//! Hosts and links that change under what runs on them.

use simurgh::prelude::*;

use super::{receiver, sender};
use crate::support::log::{Play, fine};
use crate::support::platforms::{platform, three_hosts};

#[test]
fn a_host_that_goes_off_takes_its_actors_along_and_brings_some_back() {
    let mut play = Play::on(three_hosts());
    let log = play.log.clone();
    play.program
        .actor("phoenix", "b")
        .unwrap()
        .restart(move |ctx: Ctx| {
            let log = log.clone();
            async move {
                log.at(&ctx, "phoenix is there");
                let seen = log.clone();
                ctx.on_exit(move |failed| seen.write(format!("phoenix: {failed}")));
                ctx.sleep(5.0).await;
            }
        })
        .unwrap();
    play.actor("mortal", "b", |ctx, log| async move {
        let seen = log.clone();
        ctx.on_exit(move |failed| seen.write(format!("mortal: {failed}")));
        let result = ctx.mailbox("x").send((), 5e6).await;
        log.how(&ctx, "sent", result);
    });
    play.actor("remote", "a", |ctx, log| async move {
        let b = ctx.host_named("b")?;
        for _ in 0..2 {
            let result = ctx.execute(1e10).on(&b).await;
            log.how(&ctx, "computed there", result);
        }
        let never = ctx.spawn("never", &b, |_| async { unreachable_end() })?.await;
        log.at(&ctx, format!("alive: {}", never.is_alive().await));
        fine()
    });
    play.actor("peer", "c", receiver);
    play.actor("switch", "a", |ctx, log| async move {
        ctx.sleep(1.0).await;
        let b = ctx.host_named("b")?;
        b.turn_off().await?;
        log.at(&ctx, format!("on: {}", b.is_on().await));
        ctx.sleep(1.0).await;
        b.turn_on().await?;
        log.at(&ctx, format!("on: {}", b.is_on().await));
        fine()
    });
    assert_eq!(
        play.lines(),
        [
            "0.000000 phoenix is there",
            "phoenix: true",
            "mortal: true",
            "1.000000 received: the actor at the other end is gone",
            "1.000000 computed there: a host went off",
            "1.000000 computed there: a host went off",
            "1.000000 on: false",
            "1.000000 alive: false",
            "2.000000 phoenix is there",
            "2.000000 on: true",
            "phoenix: false"
        ]
    );
}

#[test]
fn off_and_on_at_one_instant_is_off_all_the_same() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", sender(5e6));
    play.actor("b", "b", receiver);
    play.actor("victim", "b", |ctx, log| async move {
        ctx.on_exit(move |failed| log.write(format!("victim: {failed}")));
        ctx.sleep(10.0).await;
    });
    play.actor("switch", "c", |ctx, log| async move {
        ctx.sleep(1.0).await;
        let link = ctx.link("l")?;
        link.turn_off().await?;
        link.turn_on().await?;
        log.at(&ctx, "link");
        ctx.sleep(1.0).await;
        let host = ctx.host_named("b")?;
        host.turn_off().await?;
        host.turn_on().await?;
        log.at(&ctx, "host");
        fine()
    });
    let lines = play.lines();
    assert_eq!(lines[2..], ["1.000000 link", "victim: true", "2.000000 host"]);
    assert!(lines[..2].iter().all(|line| line.ends_with(": a link of the route is off")), "{lines:?}");
}

#[test]
fn whoever_turns_its_own_host_off_dies_at_once() {
    let mut play = Play::on(three_hosts());
    play.actor("it", "a", |ctx, log| async move {
        let _ = ctx.host().turn_off().await;
        log.at(&ctx, "never");
    });
    play.actor("other", "b", |ctx, log| async move {
        ctx.sleep(1.0).await;
        log.at(&ctx, "there");
    });
    assert_eq!(play.lines(), ["1.000000 there"]);
}

#[test]
fn a_power_state_changes_the_speed_of_what_runs() {
    let mut play =
        Play::on(platform(r#"<zone id="w" routing="Full"><host id="a" speed="1Gf,500Mf,100Mf"/></zone>"#));
    for (flops, bound) in [(4e9, 1e12), (1e9, 3e8)] {
        play.actor("it", "a", move |ctx, log| async move {
            ctx.execute(flops).bound(bound).await?;
            log.at(&ctx, format!("{flops}"));
            fine()
        });
    }
    play.actor("switch", "a", |ctx, log| async move {
        let host = ctx.host();
        for pstate in [1, 2, 0] {
            ctx.sleep(1.0).await;
            host.set_pstate(pstate).await?;
        }
        log.how(&ctx, "pstate 3", host.set_pstate(3).await);
        fine()
    });
    assert_eq!(
        play.lines(),
        [
            "3.000000 pstate 3: host \"a\" has 3 power state(s), numbered from 0; there is no number 3",
            "4.333333 1000000000",
            "6.400000 4000000000"
        ]
    );
}

#[test]
fn a_flow_keeps_the_bound_of_its_start_when_the_link_grows() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", sender(2e6));
    play.actor("b", "b", receiver);
    play.actor("switch", "c", |ctx, log| async move {
        let link = ctx.link("l")?;
        for bandwidth in [5e5, 5e6] {
            ctx.sleep(1.0).await;
            link.set_bandwidth(bandwidth).await?;
        }
        log.how(&ctx, "nonsense", link.set_bandwidth(-1.0).await);
        fine()
    });
    let lines = play.lines();
    assert_eq!(lines[0], "2.000000 nonsense: a bandwidth cannot be -1e0; give a number that is not negative");
    assert_eq!(lines[1..], ["2.645675 sent: ok", "2.645675 received: ok"]);
}

#[test]
fn a_new_priority_counts_at_once() {
    let mut play = Play::on(three_hosts());
    play.actor("it", "a", |ctx, log| async move {
        let works = [ctx.execute(2e9).start().await, ctx.execute(2e9).start().await];
        ctx.sleep(1.0).await;
        works[0].set_priority(3.0).await?;
        log.how(&ctx, "nonsense", works[0].set_priority(0.0).await);
        for work in works {
            work.wait().await?;
            log.at(&ctx, "done");
        }
        fine()
    });
    assert_eq!(
        play.lines(),
        [
            "1.000000 nonsense: a priority cannot be 0e0; give a number above 0, such as 1",
            "3.000000 done",
            "4.000000 done"
        ]
    );
}

fn unreachable_end() {
    panic!("its host is off");
}

/// Turns hosts off and on, at given dates.
fn switching(play: &mut Play, dates: &'static [(f64, &'static str, bool)], until: f64) {
    play.actor("switch", "a", move |ctx, log| async move {
        for &(date, host, on) in dates {
            ctx.sleep(date - ctx.now()).await;
            let found = ctx.host_named(host)?;
            if on {
                found.turn_on().await?
            } else {
                found.turn_off().await?
            }
            log.at(&ctx, format!("{host} {}", if on { "on" } else { "off" }));
        }
        ctx.sleep(until - ctx.now()).await;
        fine()
    });
}

/// SimGrid 3.32 does the same at the same dates.
#[test]
fn who_restarts_does_so_at_every_boot_of_its_host_though_it_had_ended() {
    let mut play = Play::on(three_hosts());
    let log = play.log.clone();
    let brief = move |ctx: Ctx| {
        let log = log.clone();
        async move {
            log.at(&ctx, "brief starts");
            ctx.sleep(1.0).await;
            log.at(&ctx, "brief is over");
        }
    };
    play.program.actor("brief", "b").unwrap().restart(brief).unwrap();
    switching(&mut play, &[(3.0, "b", false), (4.0, "b", true), (7.0, "b", false), (8.0, "b", true)], 11.0);
    assert_eq!(
        play.lines(),
        [
            "0.000000 brief starts",
            "1.000000 brief is over",
            "3.000000 b off",
            "4.000000 brief starts",
            "4.000000 b on",
            "5.000000 brief is over",
            "7.000000 b off",
            "8.000000 brief starts",
            "8.000000 b on",
            "9.000000 brief is over",
        ]
    );
}

/// SimGrid 3.32 does the same at the same dates.
#[test]
fn who_was_killed_or_has_moved_comes_back_with_the_host_that_it_was_added_to() {
    let mut play = Play::on(three_hosts());
    let (log, other) = (play.log.clone(), play.log.clone());
    let victim = move |ctx: Ctx| {
        let log = log.clone();
        async move {
            log.at(&ctx, "victim starts");
            if ctx.now() == 0.0 {
                ctx.sleep(1.0).await;
                ctx.exit().await;
            }
        }
    };
    let nomad = move |ctx: Ctx| {
        let log = other.clone();
        async move {
            log.at(&ctx, format!("nomad starts on {}", ctx.host().name()));
            ctx.sleep(1.0).await;
            ctx.migrate("c").unwrap().await;
            let seen = log.clone();
            ctx.on_exit(move |failed| seen.write(format!("nomad: {failed}")));
            ctx.sleep(10.0).await;
        }
    };
    play.program.actor("victim", "b").unwrap().restart(victim).unwrap();
    play.program.actor("nomad", "b").unwrap().restart(nomad).unwrap();
    switching(&mut play, &[(2.0, "b", false), (5.0, "b", true), (8.0, "c", false), (9.0, "c", true)], 12.0);
    assert_eq!(
        play.lines(),
        [
            "0.000000 victim starts",
            "0.000000 nomad starts on b",
            "2.000000 b off",
            "5.000000 victim starts",
            "5.000000 nomad starts on b",
            "5.000000 b on",
            "nomad: true",
            "nomad: true",
            "8.000000 c off",
            "9.000000 c on",
        ]
    );
}

/// SimGrid 3.32 does the same: what an actor has to say at its end is said, also where the end is that of the simulation.
#[test]
fn who_is_blocked_for_ever_is_told_of_the_end() {
    let mut play = Play::on(three_hosts());
    play.actor("blocked", "a", |ctx, log| async move {
        let seen = log.clone();
        ctx.on_exit(move |failed| seen.write(format!("blocked: {failed}")));
        ctx.mailbox::<()>("nobody").recv().await
    });
    play.actor("brief", "b", |ctx, log| async move {
        ctx.sleep(3.0).await;
        log.at(&ctx, "brief is over");
        fine()
    });
    let (outcome, lines) = play.ends();
    assert!(!outcome.is_fine() && outcome.clock() == 3.0, "{:?}", outcome.report);
    assert_eq!(lines, ["3.000000 brief is over", "blocked: true"]);
}

/// SimGrid 3.32 fails such a message for both ends at its very end, at 5.425381; one that has not met its receiver when the host goes
/// off arrives there too, from where its sender is then.
#[test]
fn a_message_goes_with_its_sender_that_has_moved_before_its_host_went_off() {
    for (bytes, receive_at, end) in [(5e6, 0.0, "5.425381"), (1e6, 5.0, "5.134267")] {
        let mut play = Play::on(three_hosts());
        play.actor("sender", "b", move |ctx, log| async move {
            let message = ctx.mailbox("m").send((), bytes).start().await;
            ctx.sleep(1.0).await;
            ctx.migrate("c")?.await;
            let result = message.wait().await;
            log.how(&ctx, "sent", result);
            fine()
        });
        play.actor("receiver", "a", move |ctx, log| async move {
            ctx.sleep(receive_at).await;
            let result = ctx.mailbox::<()>("m").recv().await;
            log.how(&ctx, "received", result);
            fine()
        });
        switching(&mut play, &[(2.0, "b", false)], 30.0);
        let lines = play.lines();
        assert!(lines.contains(&format!("{end} received: ok")), "{lines:?}");
        assert!(lines.contains(&format!("{end} sent: ok")), "{lines:?}");
    }
}
