//! How outcomes are told to people.

use std::path::Path;

use simurgh::command::summary;
use simurgh::prelude::*;
use simurgh_kernel::simulation::End;

fn three_hosts() -> Platform {
    let text = r#"<platform version="4.1"><zone id="world" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="2Gf"/>
        </zone></platform>"#;
    Platform::from_xml(text, "three.xml", Path::new(".")).unwrap()
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_what_since_when() -> simurgh::Result {
    let mut program = Program::new(three_hosts());
    let (lock, condition) = (program.mutex(()), program.condvar());
    let (semaphore, barrier) = (program.semaphore(0), program.barrier(2));
    let other = lock.clone();
    program.spawn("receiver", "a", |ctx: Ctx| async move {
        ctx.sleep(1.0).await;
        ctx.mailbox::<()>("x").recv().await
    })?;
    let sender =
        program.spawn("sender", "a", |ctx: Ctx| async move { ctx.mailbox("y").send((), 1.0).await })?;
    program.spawn("joiner", "b", move |_: Ctx| async move { sender.join().await })?;
    program.spawn("holder", "b", move |ctx: Ctx| async move {
        let _guard = lock.lock().await;
        ctx.suspend().await;
    })?;
    program.spawn("locker", "b", move |ctx: Ctx| async move {
        ctx.sleep(2.0).await;
        other.lock().await;
    })?;
    program.spawn("taker", "c", move |_: Ctx| async move { semaphore.acquire().await })?;
    program.spawn("comer", "c", move |_: Ctx| async move {
        barrier.wait().await;
    })?;
    program.spawn("hoper", "c", move |ctx: Ctx| async move {
        let mine = ctx.mutex(());
        let guard = mine.lock().await;
        condition.wait(guard).await;
    })?;
    program.actor("daemon", "c")?.daemon().start(|ctx: Ctx| async move { ctx.suspend().await })?;
    let outcome = program.simulate(Settings::default())?;
    let End::Deadlock(blocked) = &outcome.report.end else { panic!("{:?}", outcome.report) };
    assert_eq!(blocked.len(), 8, "daemons are not missed");
    assert_eq!(
        summary::human(&outcome, None),
        "actor \"receiver\" on a waits since 1.000000 s to receive from mailbox \"x\"\n\
         actor \"sender\" on a waits since 0.000000 s to send to mailbox \"y\"\n\
         actor \"joiner\" on b waits since 0.000000 s for the end of actor \"sender\"\n\
         actor \"holder\" on b waits since 0.000000 s to be resumed\n\
         actor \"locker\" on b waits since 2.000000 s for a lock\n\
         actor \"taker\" on c waits since 0.000000 s for a semaphore\n\
         actor \"comer\" on c waits since 0.000000 s at a barrier\n\
         actor \"hoper\" on c waits since 0.000000 s for a condition\n\
         blocked for ever at 2.000000 s: 9 actors, 0 messages\n"
    );
    Ok(())
}
