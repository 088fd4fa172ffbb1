//! Daemons do not keep a simulation going.

use std::sync::Arc;

use simurgh::platform::{Profile, ProfileTarget, Routing};
use simurgh::prelude::*;

#[test]
fn a_daemon_whose_host_is_off_is_not_waited_for_while_profiles_go_on() {
    let mut builder = Platform::builder();
    let zone = builder.zone("zone", Routing::None);
    builder.host(zone, "steady", 1e9);
    for (name, profile) in [("gone", "1 0\n"), ("flickering", "1 0\n 2 1\n PERIODICITY 3\n")] {
        let host = builder.host(zone, name, 1e9).id();
        let profile = Profile::parse(profile, name).unwrap();
        builder.profile(ProfileTarget::HostState(host), Arc::new(profile));
    }
    let mut program = Program::new(builder.build().unwrap());
    program.spawn("regular", "steady", |ctx: Ctx| async move { ctx.sleep(5.5).await }).unwrap();
    for host in ["gone", "flickering"] {
        let daemon = |ctx: Ctx| async move { ctx.sleep(1e9).await };
        program.actor("daemon", host).unwrap().daemon().restart(daemon).unwrap();
    }
    let outcome = program.simulate(Settings::default()).unwrap();
    assert!(outcome.is_fine());
    assert_eq!(outcome.clock(), 5.5);
}

#[test]
fn an_actor_whose_host_never_comes_back_is_not_waited_for_while_profiles_go_on() {
    let mut builder = Platform::builder();
    let zone = builder.zone("zone", Routing::None);
    for (name, profile) in [("gone", "1 0\n"), ("flickering", "1 0\n 2 1\n PERIODICITY 3\n")] {
        let host = builder.host(zone, name, 1e9).id();
        let profile = Profile::parse(profile, name).unwrap();
        builder.profile(ProfileTarget::HostState(host), Arc::new(profile));
    }
    let mut program = Program::new(builder.build().unwrap());
    let patient = |ctx: Ctx| async move { ctx.sleep(1e9).await };
    program.actor("patient", "gone").unwrap().restart(patient).unwrap();
    let settings = Settings { until: Some(1e4), ..Settings::default() };
    let outcome = program.simulate(settings).unwrap();
    assert_eq!(outcome.clock(), 1.0, "it ends when the host goes off, for good");
}

/// Daemons went on to their next event then, or for ever, and were not told of the end.
#[test]
fn a_run_ends_with_the_last_who_is_killed_or_dies_with_its_host() {
    use std::sync::atomic::{AtomicBool, Ordering};

    for dies in [false, true] {
        for sleeps in [false, true] {
            let mut builder = Platform::builder();
            let zone = builder.zone("zone", Routing::None);
            builder.host(zone, "steady", 1e9);
            let gone = builder.host(zone, "gone", 1e9).id();
            let profile = Profile::parse("3 0\n", "gone").unwrap();
            builder.profile(ProfileTarget::HostState(gone), Arc::new(profile));
            let mut program = Program::new(builder.build().unwrap());
            let worker = program.actor("worker", if dies { "gone" } else { "steady" }).unwrap();
            let worker = if dies { worker } else { worker.kill_at(3.0) };
            worker.start(|ctx: Ctx| async move { ctx.sleep(30.0).await }).unwrap();
            let told = Arc::new(AtomicBool::new(false));
            let tells = Arc::clone(&told);
            let daemon = move |ctx: Ctx| async move {
                ctx.on_exit(move |failed| tells.store(failed, Ordering::Relaxed));
                if sleeps {
                    ctx.sleep(20.0).await;
                } else {
                    ctx.mailbox::<()>("nobody").recv().await?;
                }
                simurgh::Result::Ok(())
            };
            program.actor("daemon", "steady").unwrap().daemon().start(daemon).unwrap();
            let outcome = program.simulate(Settings::default()).unwrap();
            assert_eq!(outcome.clock(), 3.0, "dies {dies}, sleeps {sleeps}");
            assert!(told.load(Ordering::Relaxed), "dies {dies}, sleeps {sleeps}");
        }
    }
}

/// Whoever starts again with its host finds the daemons that it left.
#[test]
fn daemons_go_on_while_somebody_will_start_again() {
    let mut builder = Platform::builder();
    let zone = builder.zone("zone", Routing::Full);
    builder.host(zone, "steady", 1e9);
    let host = builder.host(zone, "back", 1e9).id();
    let profile = Profile::parse("1 0\n 5 1\n", "back").unwrap();
    builder.profile(ProfileTarget::HostState(host), Arc::new(profile));
    let mut program = Program::new(builder.build().unwrap());
    let clock = |ctx: Ctx| async move {
        loop {
            ctx.sleep(1.0).await;
        }
    };
    program.actor("clock", "steady").unwrap().daemon().start(clock).unwrap();
    let worker = |ctx: Ctx| async move { ctx.sleep(2.0).await };
    program.actor("worker", "back").unwrap().restart(worker).unwrap();
    let outcome = program.simulate(Settings::default()).unwrap();
    assert_eq!(outcome.clock(), 7.0);
}
