//! What many actors do at once takes time in proportion to how many they are.
//!
//! Each program is run with `FEW` actors and with eight times as many. It may take at most 24 times as long, for caches and for
//! others who use the machine; a quadratic one takes 64 times as long.

use std::time::Instant;

use simurgh::Settings;
use simurgh::prelude::*;

const FEW: u32 = 12_500;
const MANY: u32 = 8 * FEW;

type Fill = fn(&mut Program, u32) -> simurgh::Result;

fn crowd<F, Fut>(program: &mut Program, count: u32, code: F) -> simurgh::Result
where
    F: Fn(Ctx) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    (0..count).try_for_each(|_| program.spawn("one", "node-0", code.clone()).map(drop))
}

fn starts_and_ends(program: &mut Program, count: u32) -> simurgh::Result {
    crowd(program, count, |_| async {})
}

fn daemons_end(program: &mut Program, count: u32) -> simurgh::Result {
    for _ in 0..count {
        program.actor("one", "node-0")?.daemon().start(|ctx: Ctx| async move { ctx.sleep(1e9).await })?;
    }
    program.spawn("main", "node-1", |ctx: Ctx| async move { ctx.sleep(1.0).await })?;
    Ok(())
}

fn children_are_killed(program: &mut Program, count: u32) -> simurgh::Result {
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        let mut children = Vec::new();
        for _ in 0..count {
            children.push(ctx.spawn("one", "node-0", |ctx: Ctx| async move { ctx.sleep(1e9).await })?.await);
        }
        ctx.sleep(1.0).await;
        for child in &children {
            child.kill().await;
        }
        Ok(())
    })?;
    Ok(())
}

fn all_are_killed(program: &mut Program, count: u32) -> simurgh::Result {
    crowd(program, count, |ctx| async move { drop(ctx.mailbox::<()>("nobody sends").recv().await) })?;
    program.spawn("main", "node-1", |ctx: Ctx| async move {
        ctx.sleep(1.0).await;
        ctx.kill_all().await;
    })?;
    Ok(())
}

fn one_joins_all(program: &mut Program, count: u32) -> simurgh::Result {
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        let mut children = Vec::new();
        for _ in 0..count {
            children.push(ctx.spawn("one", "node-0", |ctx: Ctx| async move { ctx.sleep(1.0).await })?.await);
        }
        for child in &children {
            child.join().await;
        }
        Ok(())
    })?;
    Ok(())
}

fn all_join_one(program: &mut Program, count: u32) -> simurgh::Result {
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        let target = ctx.spawn("target", "node-0", |ctx: Ctx| async move { ctx.sleep(3.0).await })?.await;
        for number in 0..count {
            // Every other one gives up.
            let patience = if number % 2 == 0 { 1.0 } else { 9.0 };
            ctx.spawn("one", "node-0", move |_| async move {
                let _ = target.join_for(patience).await;
            })?
            .await;
        }
        Ok(())
    })?;
    Ok(())
}

fn all_meet_at_a_barrier(program: &mut Program, count: u32) -> simurgh::Result {
    let barrier = program.barrier(count);
    crowd(program, count, move |_| async move { barrier.wait().await })
}

fn a_barrier_is_left_by_the_dead(program: &mut Program, count: u32) -> simurgh::Result {
    let barrier = program.barrier(count + 1);
    crowd(program, count, move |_| async move { barrier.wait().await })?;
    program.spawn("main", "node-1", |ctx: Ctx| async move {
        ctx.sleep(1.0).await;
        ctx.kill_all().await;
    })?;
    Ok(())
}

fn all_are_notified(program: &mut Program, count: u32) -> simurgh::Result {
    let (lock, condition) = (program.mutex(false), program.condvar());
    let theirs = lock.clone();
    crowd(program, count, move |_| {
        let lock = theirs.clone();
        async move {
            let mut guard = lock.lock().await;
            while !*guard {
                guard = condition.wait(guard).await;
            }
        }
    })?;
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        ctx.sleep(1.0).await;
        *lock.lock().await = true;
        condition.notify_all().await;
    })?;
    Ok(())
}

fn all_give_up_on_a_lock(program: &mut Program, count: u32) -> simurgh::Result {
    let lock = program.mutex(());
    let theirs = lock.clone();
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        let _guard = lock.lock().await;
        ctx.sleep(9.0).await;
    })?;
    crowd(program, count, move |ctx| {
        let lock = theirs.clone();
        async move {
            ctx.sleep(1.0).await;
            drop(lock.lock_for(1.0).await);
        }
    })?;
    Ok(())
}

fn all_give_up_on_a_semaphore(program: &mut Program, count: u32) -> simurgh::Result {
    let semaphore = program.semaphore(0);
    crowd(program, count, move |_| async move {
        let _ = semaphore.acquire_for(1.0).await;
    })
}

fn all_die_with_their_host(program: &mut Program, count: u32) -> simurgh::Result {
    crowd(program, count, |ctx| async move { drop(ctx.mailbox::<()>("nobody sends").recv().await) })?;
    let host = program.host("node-0")?;
    program.spawn("main", "node-1", move |ctx: Ctx| async move {
        ctx.sleep(1.0).await;
        host.turn_off().await.expect("it can be turned off");
    })?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn seconds(fill: Fill, count: u32) -> f64 {
    let mut program = Program::new(simurgh::Platform::builtin());
    fill(&mut program, count).expect("it can be made");
    let start = Instant::now();
    program.simulate(Settings::default()).expect("it runs");
    start.elapsed().as_secs_f64()
}

#[test]
fn a_crowd_takes_time_in_proportion_to_its_size() {
    let programs: [(&str, Fill); 12] = [
        ("starts and ends", starts_and_ends),
        ("daemons end", daemons_end),
        ("children are killed", children_are_killed),
        ("all are killed", all_are_killed),
        ("one joins all", one_joins_all),
        ("all join one", all_join_one),
        ("all meet at a barrier", all_meet_at_a_barrier),
        ("a barrier is left by the dead", a_barrier_is_left_by_the_dead),
        ("all are notified", all_are_notified),
        ("all give up on a lock", all_give_up_on_a_lock),
        ("all give up on a semaphore", all_give_up_on_a_semaphore),
        ("all die with their host", all_die_with_their_host),
    ];
    for (name, fill) in programs {
        // Others may use the machine: the best of three.
        let best = |count| (0..3).map(|_| seconds(fill, count)).fold(f64::INFINITY, f64::min);
        let (few, many) = (best(FEW), best(MANY));
        println!("{name}: {few:.3} s for {FEW}, {many:.3} s for {MANY}: {:.1}", many / few);
        assert!(many < 24.0 * few.max(0.005), "{name}: {few:.3} s for {FEW}, {many:.3} s for {MANY}");
    }
}
