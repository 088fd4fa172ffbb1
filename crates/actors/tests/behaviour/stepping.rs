//! Programs that are halted, looked at, changed and run on; and what is changed before they start.

use simurgh::prelude::*;
use simurgh::scenario::{Scenario, play};
use simurgh::{ActivityState, Error};
use simurgh_kernel::event::Reason;

use crate::support::log::{Play, run};
use crate::support::platforms::three_hosts;

#[test]
fn a_program_is_halted_and_looked_at() {
    let mut program = Program::new(three_hosts());
    let done = program.exposed("done", 0);
    program
        .spawn("worker", "a", move |ctx| async move {
            for job in 1..=3 {
                ctx.execute(1e9).await?;
                done.set(job).await;
            }
            Ok(())
        })
        .unwrap();
    let idle = async |ctx: Ctx| {
        loop {
            ctx.sleep(100.0).await;
        }
    };
    program.actor("idle", "b").unwrap().daemon().start(idle).unwrap();
    let (host, other) = (program.host("a").unwrap(), program.host("c").unwrap());

    let mut simulation = program.start(Settings::default()).unwrap();
    assert_eq!((simulation.now(), simulation.value(done)), (0.0, 0));
    assert!(simulation.run_until(2.5).unwrap());
    assert_eq!((simulation.now(), simulation.value((done, done))), (2.5, (2, 2)));
    assert_eq!(simulation.ask(host.load()).unwrap(), 1e9);
    assert_eq!(simulation.ask(other.load()).unwrap(), 0.0);
    assert!(simulation.ask(other.energy()).is_err(), "it has no wattage");
    let foreign = Program::new(Platform::builtin()).host("node-15").unwrap();
    let refused = simulation.ask(foreign.load()).unwrap_err();
    assert_eq!(refused.to_string(), "this host or link is of another program");
    let seen: Vec<_> =
        simulation.actors().into_iter().map(|a| (a.name, a.host, a.is_daemon, a.waits)).collect();
    assert_eq!(
        seen,
        [
            ("worker".to_owned(), "a".to_owned(), false, Some((Reason::Executing, 2.0))),
            ("idle".to_owned(), "b".to_owned(), true, Some((Reason::Sleeping, 0.0))),
        ]
    );
    // A date that is over changes nothing, and what is at a date belongs to it.
    assert!(simulation.run_until(1).unwrap());
    assert_eq!(simulation.now(), 2.5);
    assert!(!simulation.run_until(std::time::Duration::from_secs(3)).unwrap(), "all actors have ended");
    assert_eq!((simulation.now(), simulation.value(done), simulation.actors().len()), (3.0, 3, 0));
    assert!(!simulation.run_until(50.0).unwrap());
    let outcome = simulation.finish().unwrap();
    assert_eq!((outcome.is_fine(), outcome.clock()), (true, 3.0));
}

#[test]
fn a_host_is_turned_off_in_the_middle() {
    let mut play = Play::on(three_hosts());
    play.actor("sender", "a", |ctx, log| async move {
        log.how(&ctx, "sent", ctx.mailbox("x").send(1, 1e6).await);
    });
    play.actor("receiver", "b", |ctx, log| async move {
        log.how(&ctx, "received", ctx.mailbox::<i32>("x").recv().await);
    });
    let host = play.program.host("b").unwrap();
    let mut simulation = play.program.start(Settings::default()).unwrap();
    assert!(simulation.run_until(0.5).unwrap());
    simulation.ask(host.turn_off()).unwrap().unwrap();
    assert!(!simulation.ask(host.is_on()).unwrap());
    assert!(simulation.finish().unwrap().is_fine());
    assert_eq!(play.log.lines(), ["0.500000 sent: the actor at the other end is gone"]);
}

#[test]
fn the_date_of_the_settings_is_the_last() {
    let mut program = Program::new(three_hosts());
    program.spawn("a", "a", async |ctx: Ctx| ctx.sleep(10.0).await).unwrap();
    let mut simulation = program.start(Settings::default().until(4.0)).unwrap();
    assert!(simulation.run_until(3.0).unwrap());
    assert!(!simulation.run_until(9.0).unwrap());
    assert_eq!(simulation.now(), 4.0);
    assert!(simulation.run_until(f64::NAN).is_err());
    assert_eq!(simulation.finish().unwrap().clock(), 4.0);
}

#[test]
fn links_and_hosts_are_changed_before_the_start() {
    let slower = |slower: bool| {
        let mut program = Program::new(three_hosts());
        if slower {
            let link = program.link("l").unwrap();
            program.set(link.set_bandwidth(0.5e6)).unwrap();
            program.set(link.set_latency(0.1)).unwrap();
        }
        program.spawn("a", "a", |ctx| async move { ctx.mailbox("x").send((), 1e6).await }).unwrap();
        program.spawn("b", "b", |ctx| async move { ctx.mailbox::<()>("x").recv().await }).unwrap();
        run(program).clock()
    };
    // 13.01 latencies, and 97% of the bandwidth for the message and its acknowledgements, a twentieth of it.
    assert_eq!(format!("{:.6} {:.6}", slower(false), slower(true)), "1.095484 3.465948");
    let mut program = Program::new(three_hosts());
    let host = program.host("a").unwrap();
    program.set(host.set_pstate(7)).unwrap();
    let error = program.simulate(Settings::default()).unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
}

#[test]
fn whoever_looks_at_an_activity_takes_nothing() {
    let mut play = Play::on(three_hosts());
    play.actor("b", "b", |ctx, log| async move {
        let message = ctx.mailbox::<u32>("x").recv().start().await;
        let lost = ctx.mailbox::<u32>("y").recv().start().await;
        assert_eq!(message.state().await, ActivityState::Running);
        ctx.sleep(2.0).await;
        lost.cancel().await;
        assert_eq!([message.state().await, message.state().await], [ActivityState::Done; 2]);
        assert_eq!(lost.state().await, ActivityState::Failed(Failure::Cancelled));
        // Also where it is in a set, or has another value.
        let mut set = ActivitySet::new();
        set.push(message.map(|number| number + 1));
        log.at(&ctx, format!("{:?}", set.iter().next().unwrap().state().await));
        log.at(&ctx, format!("{:?}", set.wait_any().await?));
        Ok(())
    });
    play.actor("a", "a", |ctx, _| async move { ctx.mailbox("x").send(7_u32, 1e6).await });
    assert_eq!(play.lines(), ["2.000000 Done", "2.000000 (0, 8)"]);
}

#[test]
fn errors_of_other_libraries_and_texts_end_an_actor() {
    let mut program = Program::new(three_hosts());
    program
        .spawn("a", "a", |_| async move {
            let _: u32 = "seven".parse().map_err(Error::other)?;
            Ok(())
        })
        .unwrap();
    program.spawn("b", "b", |_| async move { Err("no more".into()) }).unwrap();
    program
        .spawn("c", "c", |ctx| async move {
            if ctx.now() == 0.0 {
                Err(format!("{} left", 0))?;
            }
            Ok(())
        })
        .unwrap();
    let failures = program.simulate(Settings::default()).unwrap().report.failures;
    let told: Vec<_> = failures.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(told, ["invalid digit found in string", "no more", "0 left"]);
}

/// Plays a scenario on hosts a, b and c; c is off from 2 to 5.
fn ends(actors: &str) -> Vec<String> {
    let platform = crate::support::platforms::platform(
        r#"<zone id="world" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="2Gf"/><host id="c" speed="1Gf"/>
        <link id="l" bandwidth="1MBps" latency="1ms"/>
        <route src="a" dst="b"><link_ctn id="l"/></route>
        </zone>"#,
    );
    let scenario = Scenario::parse(actors, "test.toml", std::path::Path::new(".")).unwrap();
    let (program, records) = play(&scenario, platform.into(), 0).unwrap();
    let host = program.host("c").unwrap();
    let mut simulation = program.start(Settings::default()).unwrap();
    simulation.run_until(2.0).unwrap();
    simulation.ask(host.turn_off()).unwrap().unwrap();
    simulation.run_until(5.0).unwrap();
    simulation.ask(host.turn_on()).unwrap().unwrap();
    simulation.finish().unwrap();
    let line = |record: simurgh::scenario::Record| {
        let name = &scenario.actors[record.actor].name;
        format!("{name} {} {} {}", record.index, record.end, record.how)
    };
    records.take().into_iter().map(line).collect()
}

#[test]
fn actors_of_scenarios_start_late_are_killed_restart_and_compute_elsewhere() {
    let actors = r#"
        [[actor]]
        name = "late"
        host = "a"
        start_at = 1.5
        do = ["exec 1e9", "exec 1e9 on b timeout 9", "sleep 6.5"]

        [[actor]]
        name = "short"
        host = "b"
        kill_at = 3
        do = ["sleep 2.5", "sleep 2.5"]

        [[actor]]
        name = "again"
        host = "c"
        restart = true
        do = ["sleep 1", "sleep 3"]

        [[actor]]
        name = "daemon"
        host = "a"
        daemon = true
        do = ["sleep 8", "sleep 8"]
    "#;
    assert_eq!(
        ends(actors),
        [
            "again 0 1 ok",
            "short 0 2.5 ok",
            "late 0 2.5 ok",
            "late 1 3 ok",
            "again 0 6 ok",
            "daemon 0 8 ok",
            "again 1 9 ok",
            "late 2 9.5 ok"
        ]
    );
}

#[test]
fn a_host_that_is_turned_on_brings_its_actors_back_though_all_was_over() {
    let mut play = Play::on(three_hosts());
    let log = play.log.clone();
    let again = move |ctx: Ctx| {
        let log = log.clone();
        async move {
            log.at(&ctx, "begins");
            ctx.sleep(2.0).await;
            log.at(&ctx, "ends");
        }
    };
    play.program.actor("again", "a").unwrap().restart(again).unwrap();
    let host = play.program.host("a").unwrap();
    let mut simulation = play.program.start(Settings::default()).unwrap();
    simulation.run_until(1.0).unwrap();
    simulation.ask(host.turn_off()).unwrap().unwrap();
    assert!(!simulation.run_until(3.0).unwrap(), "nobody is left");
    simulation.ask(host.turn_on()).unwrap().unwrap();
    assert!(simulation.finish().unwrap().is_fine());
    assert_eq!(play.log.lines(), ["0.000000 begins", "1.000000 begins", "3.000000 ends"]);
}

#[test]
fn an_actor_that_starts_at_a_date_has_no_handle_and_one_at_zero_has() {
    let mut program = Program::new(three_hosts());
    let late = program
        .actor("late", "a")
        .unwrap()
        .start_at(2.0)
        .start(async |ctx: Ctx| ctx.sleep(5.0).await)
        .unwrap();
    program.spawn("other", "b", move |_| async move { late.kill().await }).unwrap();
    let first = program
        .actor("first", "a")
        .unwrap()
        .start_at(0.0)
        .start(async |ctx: Ctx| ctx.sleep(1.0).await)
        .unwrap();
    program
        .spawn("third", "b", move |ctx| async move {
            first.join().await;
            simurgh::check!(ctx.now() == 1.0, "{}", ctx.now());
            Ok(())
        })
        .unwrap();
    let outcome = program.simulate(Settings::default()).unwrap();
    let told: Vec<_> = outcome.report.failures.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("this is the handle of an actor that starts at a date"), "{told:?}");
    let mut program = Program::new(three_hosts());
    assert!(program.actor("early", "a").unwrap().start_at(-5.0).start(async |_: Ctx| {}).is_err());
    // Who is to be killed before it starts is not killed.
    let plan = program.actor("killed", "a").unwrap().start_at(3.0).kill_at(2.0);
    plan.start(async |ctx: Ctx| ctx.sleep(1.0).await).unwrap();
    assert_eq!(run(program).clock(), 4.0);
}

#[test]
fn factors_of_smpi_are_read_and_others_are_not() {
    let end = |config: &[(&str, &str)]| {
        let mut program = Program::new(three_hosts());
        program.spawn("a", "a", |ctx| async move { ctx.mailbox("x").send((), 1e6).await }).unwrap();
        program.spawn("b", "b", |ctx| async move { ctx.mailbox::<()>("x").recv().await }).unwrap();
        let smpi = Settings::default().config("network/model", "SMPI");
        let settings = config.iter().fold(smpi, |settings, (key, value)| settings.config(*key, *value));
        program.simulate(settings).map(|outcome| format!("{:.6}", outcome.clock()))
    };
    // What SimGrid 3.32 answers, on a link of 1 MBps and 1 ms.
    assert_eq!(end(&[]).unwrap(), "1.127841");
    assert_eq!(end(&[("smpi/bw-factor", "0:0.5")]).unwrap(), "2.111644");
    assert_eq!(end(&[("smpi/lat-factor", "0:100")]).unwrap(), "1.216197");
    assert_eq!(end(&[("network/bandwidth-factor", "0.5")]).unwrap(), "1.127841");
    for (key, value) in
        [("smpi/bw-factor", "zzz"), ("network/bandwidth-factor", "-1"), ("precision/timing", "nan")]
    {
        assert!(end(&[(key, value)]).is_err(), "{key} {value}");
    }
}
