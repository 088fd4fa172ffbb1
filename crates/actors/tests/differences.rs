//! Where docs/models.md says that we differ from SimGrid 3.32 on purpose, as far as actors and mailboxes are concerned.

use std::path::Path;
use std::sync::{Arc, Mutex};

use simurgh::prelude::*;
use simurgh::scenario::{How, Scenario, play};

/// One link of 1 MBps and 1 ms between two hosts; `b` may have a profile of its state.
fn platform(state_of_b: Option<&str>) -> Arc<Platform> {
    let (trace, connect) = match state_of_b {
        Some(state) => (
            format!("<trace id=\"t\" periodicity=\"-1\">{state}</trace>"),
            "<trace_connect kind=\"HOST_AVAIL\" trace=\"t\" element=\"b\"/>",
        ),
        None => (String::new(), ""),
    };
    let xml = format!(
        r#"<platform version="4.1">{trace}<zone id="w" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="1MBps" latency="1ms"/>
        <route src="a" dst="b"><link_ctn id="l"/></route></zone>{connect}</platform>"#
    );
    Arc::new(Platform::from_xml(&xml, "ab.xml", Path::new(".")).expect("a good platform"))
}

fn ends(scenario: &str) -> Vec<(f64, How)> {
    let scenario = Scenario::parse(scenario, "test.toml", Path::new(".")).expect("a good scenario");
    let (program, records) = play(&scenario, platform(None), 0).expect("a good program");
    program.simulate(Settings::default()).expect("it runs");
    records.take().iter().filter(|record| record.actor == 1).map(|record| (record.end, record.how)).collect()
}

#[test]
fn the_lower_of_both_rates_holds_whoever_comes_first() {
    let cases = [
        (r#"["sleep 1", "send m 1e6"]"#, r#"["recv m rate 1e5"]"#),
        (r#"["send m 1e6"]"#, r#"["sleep 1", "recv m rate 1e5"]"#),
        (r#"["sleep 1", "send m 1e6 rate 2e5"]"#, r#"["recv m rate 1e5"]"#),
    ];
    for (sender, receiver) in cases {
        let scenario = format!(
            "[[actor]]\nname = \"s\"\nhost = \"a\"\ndo = {sender}\n[[actor]]\nname = \"r\"\nhost = \"b\"\ndo = {receiver}\n"
        );
        let (end, how) = *ends(&scenario).last().expect("the receive ended");
        assert!((end - 11.01301).abs() < 1e-6 && how == How::Ok, "{sender} {receiver}: {end} {how}");
    }
}

async fn nobody() {
    panic!("nobody runs on a host that is off");
}

/// Dates that actors leave for the test.
type Dates = Arc<Mutex<Vec<f64>>>;

#[test]
fn a_timeout_that_comes_while_its_actor_is_suspended_is_delivered_at_the_resume() {
    let dates = Dates::default();
    let mut program = Program::new(platform(None));
    let noted = Arc::clone(&dates);
    let waiter = program
        .spawn("waiter", "a", move |ctx: Ctx| async move {
            let came = ctx.mailbox::<()>("never").recv().timeout(2.0).await;
            assert!(came.is_err_and(|error| error.is_timeout()));
            noted.lock().expect("one at a time").push(ctx.now());
        })
        .expect("a good host");
    program
        .spawn("other", "b", move |ctx: Ctx| async move {
            ctx.sleep(1.0).await;
            waiter.suspend().await;
            ctx.sleep(4.0).await;
            waiter.resume().await;
        })
        .expect("a good host");
    let outcome = program.simulate(Settings::default()).expect("it runs");
    assert!(outcome.is_fine(), "{:?}", outcome.report);
    assert_eq!(*dates.lock().expect("one at a time"), [5.0]);
}

#[test]
fn a_detached_message_is_received_after_its_senders_host_went_off() {
    let dates = Dates::default();
    let mut program = Program::new(platform(Some("1 0")));
    program
        .spawn("sender", "b", |ctx: Ctx| async move {
            ctx.mailbox("box").send(7, 1e6).detach().await;
            ctx.sleep(100.0).await;
        })
        .expect("a good host");
    let noted = Arc::clone(&dates);
    program
        .spawn("receiver", "a", move |ctx: Ctx| async move {
            ctx.sleep(2.0).await;
            let message = ctx.mailbox::<i32>("box").recv().await;
            assert!(message.is_ok_and(|message| message == 7));
            noted.lock().expect("one at a time").push(ctx.now());
        })
        .expect("a good host");
    let outcome = program.simulate(Settings::default()).expect("it runs");
    assert!(outcome.is_fine(), "{:?}", outcome.report);
    let end = dates.lock().expect("one at a time")[0];
    assert!((end - 3.095484).abs() < 1e-6, "{end}");
}

#[test]
fn an_actor_on_a_host_that_is_off_at_the_start_comes_with_its_host_if_it_restarts() {
    let dates = Dates::default();
    let mut program = Program::new(platform(Some("0 0\n3 1")));
    let noted = Arc::clone(&dates);
    program
        .actor("patient", "b")
        .and_then(|plan| {
            plan.restart(move |ctx: Ctx| {
                let noted = Arc::clone(&noted);
                async move { noted.lock().expect("one at a time").push(ctx.now()) }
            })
        })
        .expect("a good host");
    program.spawn("lost", "b", |_: Ctx| nobody()).expect("a good host");
    program.simulate(Settings::default()).expect("it runs");
    assert_eq!(*dates.lock().expect("one at a time"), [3.0]);
}
