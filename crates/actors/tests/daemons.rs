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
