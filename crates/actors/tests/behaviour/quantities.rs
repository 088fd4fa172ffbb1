//! What is no amount, and what cannot be waited for, is refused where it is said.

use std::time::Duration;

use simurgh::Error;
use simurgh::prelude::*;

use crate::support::platforms::three_hosts;

/// What the only actor of a program, which is on line `line`, fails with.
fn failure<F, Fut>(code: F) -> String
where
    F: FnOnce(Ctx) -> Fut + Send + 'static,
    Fut: Future<Output = simurgh::Result> + Send + 'static,
{
    let mut program = Program::new(three_hosts());
    program.spawn("worker", "a", code).unwrap();
    let outcome = program.simulate(Settings::default()).unwrap();
    let [failure] = outcome.report.failures.as_slice() else { panic!("{:?}", outcome.report) };
    assert_eq!(failure.name, "worker");
    failure.message.clone()
}

macro_rules! refused {
    ($says:literal, |$ctx:ident| $code:expr) => {
        let line = line!();
        let message = failure(move |$ctx| async move {
            let _ = $code;
            Ok(())
        });
        assert!(message.contains($says), "{message}");
        let place = format!("behaviour/quantities.rs:{line}: ");
        assert!(message.contains(&place), "{message} is not at {place}");
    };
}

#[test]
#[rustfmt::skip]
fn amounts_are_finite_and_not_negative() {
    let nan = f64::NAN;
    refused!("flops to execute cannot be NaN", |ctx| ctx.execute(nan).await);
    refused!("flops to execute cannot be -1", |ctx| ctx.execute(-1.0).await);
    refused!("flops to execute cannot be inf", |ctx| ctx.execute(f64::INFINITY).await);
    refused!("bytes to send cannot be -5", |ctx| ctx.mailbox("m").send((), -5.0).detach().await);
    refused!("bytes to send cannot be NaN", |ctx| ctx.mailbox("m").send((), nan).await);
    refused!("a sleep cannot be NaN", |ctx| ctx.sleep(nan).await);
    refused!("a sleep cannot be inf: a finite number", |ctx| ctx.sleep(f64::INFINITY).await);
    refused!("a sleep cannot be inf: a finite number", |ctx| ctx.sleep_until(f64::INFINITY).await);
    refused!("a sleep cannot be -1: a finite number of seconds, 0 or more, is expected", |ctx| ctx.sleep(-1).await);
    refused!("a sleep cannot be NaN", |ctx| ctx.sleep_until(nan).await);
    refused!("the number of choices cannot be 0", |ctx| ctx.choose(0).await);
    refused!("the size of a barrier cannot be 0", |ctx| ctx.barrier(0).wait().await);
    refused!("a timeout in seconds cannot be -1", |ctx| ctx.mailbox::<()>("m").recv().timeout(-1.0).await);
    refused!("a timeout in seconds cannot be NaN", |ctx| ctx.mailbox("m").send((), 1.0).timeout(nan).await);
    refused!("a timeout in seconds cannot be -1", |ctx| ctx.execute(1.0).timeout(-1).await);
    refused!("a timeout in seconds cannot be -2", |ctx| ctx.execute(1.0).start().await.wait_for(-2.0).await);
    refused!("a timeout in seconds cannot be -1", |ctx| ctx.mutex(()).lock_for(-1.0).await.is_some());
    refused!("a timeout in seconds cannot be -1", |ctx| ctx.semaphore(1).acquire_for(-1.0).await);
    refused!("a rate cannot be 0", |ctx| ctx.mailbox("m").send((), 1.0).rate(0.0).detach().await);
    refused!("a bound cannot be -3", |ctx| ctx.execute(1.0).bound(-3.0).await);
    refused!("a priority cannot be NaN", |ctx| ctx.execute(1.0).priority(nan).await);
    refused!("a priority cannot be NaN", |ctx| ctx.execute(1.0).start().await.set_priority(nan).await);
    refused!("a bound cannot be 0", |ctx| ctx.execute(1.0).start().await.set_bound(Some(0.0)).await);
    refused!("a number of threads cannot be 0", |ctx| ctx.execute(1.0).threads(0).await);
    refused!("flops of a parallel task cannot be -1", |ctx| ctx.parallel(&[ctx.host()], &[-1.0], &[]).await);
}

#[test]
fn dates_are_numbers() {
    let mut program = Program::new(three_hosts());
    let error = program.actor("late", "a").unwrap().start_at(f64::NAN).start(|_| async {}).unwrap_err();
    assert_eq!(error.to_string(), "actor \"late\" cannot start at NaN: give a date in seconds, 0 or more");
    let error = program.actor("late", "a").unwrap().kill_at(f64::NAN).restart(|_| async {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "actor \"late\" cannot be killed at NaN: give a date in seconds, 0 or more"
    );
}

#[test]
fn a_span_is_seconds_or_a_duration() {
    let mut program = Program::new(three_hosts());
    program
        .spawn("sleeper", "a", |ctx: Ctx| async move {
            ctx.sleep(1).await;
            ctx.sleep(0.5).await;
            ctx.sleep(Duration::from_millis(250)).await;
            // What is over already takes no time.
            ctx.sleep_until(-7.0).await;
            ctx.sleep_until(f64::NEG_INFINITY).await;
            let error = ctx.mailbox::<()>("m").recv().timeout(Duration::from_secs(2)).await.unwrap_err();
            assert!(error.is_timeout() && !error.is_cancelled() && !error.is_peer_gone());
        })
        .unwrap();
    let outcome = program.simulate(Settings::default()).unwrap();
    assert!(outcome.is_fine() && outcome.clock() == 3.75, "{:?}", outcome.report);
}

#[test]
fn nothing_is_not_waited_for() {
    let message = failure(|_| async {
        let mut none: ActivitySet<()> = ActivitySet::new();
        none.wait_any().await.map(drop)
    });
    assert!(message.contains("waits for one of no activities"), "{message}");
    let message = failure(|_| async { ActivitySet::<()>::new().wait_any_for(1.0).await.map(drop) });
    assert!(message.contains("waits for one of no activities"), "{message}");
}

#[test]
fn a_message_is_taken_once() {
    let message = failure(|ctx| async move {
        ctx.mailbox("m").send(7_u32, 1.0).detach().await;
        let receive = ctx.mailbox::<u32>("m").recv().start().await;
        assert_eq!(receive.wait().await?, 7);
        let again = receive.wait().await.unwrap_err();
        assert!(matches!(again, Error::Taken { .. }));
        Err(again)
    });
    assert!(message.contains("the message from mailbox \"m\" was taken by an earlier wait"), "{message}");
}

#[test]
fn what_is_not_there_is_named_with_what_may_have_been_meant() {
    let message = failure(|ctx| async move { ctx.link("ac").map(drop) });
    assert!(message.contains("there is no link \"ac\" in the platform"), "{message}");
    let message = failure(|ctx| async move { ctx.host().energy().await.map(drop) });
    assert!(message.contains("host \"a\" has no wattage_per_state"), "{message}");
}

/// Their numbers were there, and stood for others.
#[test]
fn objects_of_another_program_are_refused_though_their_numbers_are_there() {
    let other = Program::new(three_hosts());
    let host = other.host("b").unwrap();
    let message = failure(move |ctx| async move { ctx.execute(1.0).on(&host).await });
    assert!(
        message.contains("quantities.rs:") && message.contains("this host is of another program"),
        "{message}"
    );
    let mut other = Program::new(three_hosts());
    let (mutex, barrier) = (other.mutex(0), other.barrier(1));
    let own = |program: &mut Program| (program.mutex(0), program.barrier(1));
    for (what, uses_barrier) in [("mutex", false), ("barrier", true)] {
        let mut program = Program::new(three_hosts());
        let _own = own(&mut program);
        let mutex = mutex.clone();
        let code = move |_| async move {
            if uses_barrier {
                barrier.wait().await;
            }
            drop(mutex.lock().await);
        };
        program.spawn("stranger", "a", code).unwrap();
        let outcome = program.simulate(Settings::default()).unwrap();
        let message = &outcome.report.failures[0].message;
        assert!(message.contains(&format!("this {what} is of another program")), "{message}");
    }
}

/// Memory follows the highest mailbox that is used: it was 64 GB then.
#[test]
fn a_row_of_billions_of_mailboxes_is_refused() {
    let message =
        failure(|ctx| async move { ctx.mailboxes("m", 4_000_000_000).at(3_999_999_999).send((), 1.0).await });
    let expected = "the number of mailboxes in a row cannot be 4000000000: 100000000 or fewer is expected";
    assert!(message.contains(expected) && message.contains("quantities.rs:"), "{message}");
}

/// It was full then, and empty afterwards.
#[test]
fn a_semaphore_has_room_for_one_more() {
    let mut program = Program::new(three_hosts());
    let full = program.semaphore(u32::MAX);
    let taker = move |_| async move {
        full.release().await;
        full.acquire().await;
        full.acquire().await;
    };
    program.spawn("taker", "a", taker).unwrap();
    assert!(program.simulate(Settings::default()).unwrap().is_fine());
}
