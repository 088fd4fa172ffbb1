//! Within an instant all actors run, then all are served, however many they are.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use simurgh::prelude::*;

use crate::support::platforms::three_hosts;

/// What the first of so many actors does to the last of them, when all wake up at one instant.
fn steps_of_the_last(count: u32, meddle: &'static str) -> (u32, u32) {
    let mut program = Program::new(three_hosts());
    let (steps, ends) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let handle: Arc<OnceLock<ActorHandle>> = Arc::default();
    let target = Arc::clone(&handle);
    program
        .spawn("first", "a", move |ctx: Ctx| async move {
            ctx.sleep(1.0).await;
            let last = target.get().expect("it is there before all run");
            match meddle {
                "kill" => last.kill().await,
                "kill all" => ctx.kill_all().await,
                "suspend" => last.suspend().await,
                "migrate" => last.migrate(&ctx.host_named("b")?).await,
                "turn off" => ctx.host_named("c")?.turn_off().await?,
                other => unreachable!("{other}"),
            }
            Ok(())
        })
        .unwrap();
    for _ in 2..count {
        program.spawn("other", "a", |ctx: Ctx| async move { ctx.sleep(1.0).await }).unwrap();
    }
    let (taken, over) = (Arc::clone(&steps), Arc::clone(&ends));
    let last = program
        .spawn("last", "c", move |ctx: Ctx| async move {
            ctx.sleep(1.0).await;
            taken.fetch_add(1 + ctx.host().id().0, Ordering::Relaxed);
            ctx.sleep(1.0).await;
            over.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    handle.set(last).expect("it is set once");
    program.simulate(Settings { until: Some(10.0), ..Settings::default() }).unwrap();
    (steps.load(Ordering::Relaxed), ends.load(Ordering::Relaxed))
}

#[test]
fn a_thousand_behave_as_two() {
    for meddle in ["kill", "kill all", "suspend", "migrate", "turn off"] {
        let few = steps_of_the_last(2, meddle);
        // It has run on host c, whatever is done to it then.
        assert_eq!(few.0, 3, "{meddle}");
        for count in [511, 512, 513, 514, 1_500] {
            assert_eq!(steps_of_the_last(count, meddle), few, "{meddle} among {count}");
        }
    }
}
