//! Whatever is written into a scenario or a trace, it is read or refused in one line; and whatever a program does, the
//! kernel stands it: no input panics, and the same input gives the same run.

use std::path::Path;
use std::sync::Arc;

use crate::support::log::{Log, fine};
use crate::support::platforms::platform;
use proptest::prelude::*;
use simurgh::prelude::*;
use simurgh::replay::{self, Trace};
use simurgh::scenario::{Operation, Scenario, play};
use simurgh_kernel::simulation::Pacing;

// --- reading --------------------------------------------------------------------------------------------------

const SCENARIO: &str = r#"platform = "p.xml"
[config]
"network/model" = "CM02"
[[actor]]
name = "x"
host = "node-0"
do = ["exec 1e9 priority 2 bound 1e8 timeout 3", "send m 1e6 rate 1e5", "recv m timeout 0", "waitall",
  "sleep 0.5", "isend m 10", "irecv n", "dsend o 3kB", "waitany", "read disk 1e6", "write disk 2MiB"]
"#;

const TRACE: &str = "p0 compute 1e9\np1 recv p0\np0 send p1 1e6\n# a comment\np0 bcast 1e3\np1 bcast 1e3\n\
    p0 isend p1 10\np0 waitall\np1 irecv p0\np1 wait\np0 barrier\np1 barrier\np0 reduce 1 2\np1 reduce 1 2\n";

fn read_scenario(text: &str) -> Result<(), String> {
    let read = Scenario::parse(text, "s.toml", Path::new("."));
    read.map(drop).map_err(|error| error.to_string())
}

fn read_trace(text: &str) -> Result<(), String> {
    Trace::parse(text, "t.txt").map(drop).map_err(|error| error.to_string())
}

fn refused_in_one_line(read: Result<(), String>) -> Result<(), TestCaseError> {
    if let Err(message) = read {
        prop_assert!(!message.is_empty() && !message.contains('\n'), "{:?}", message);
    }
    Ok(())
}

/// A few changes to a text: letters put in, taken out, replaced, doubled.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let change = (0..text.len(), 0..4_u8, any::<char>(), 0..40_usize);
    prop::collection::vec(change, 1..6).prop_map(move |changes| {
        let mut letters: Vec<char> = text.chars().collect();
        for (place, kind, letter, length) in changes {
            let place = place.min(letters.len());
            let end = (place + length).min(letters.len());
            match kind {
                0 => letters.insert(place, letter),
                1 => drop(letters.drain(place..end)),
                2 if place < end => letters[place] = letter,
                _ => {
                    let copy = letters[place..end].to_vec();
                    letters.splice(place..place, copy);
                }
            }
        }
        letters.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        refused_in_one_line(read_scenario(&text))?;
        refused_in_one_line(read_trace(&text))?;
        refused_in_one_line(Operation::parse(&text).map(drop))?;
    }

    #[test]
    fn damaged_scenarios_are_read_or_refused(text in damaged(SCENARIO)) {
        refused_in_one_line(read_scenario(&text))?;
    }

    #[test]
    fn damaged_traces_are_read_or_refused(text in damaged(TRACE)) {
        refused_in_one_line(read_trace(&text))?;
    }

    #[test]
    fn operations_are_read_back_as_they_are_shown(operation in operation()) {
        let read = Operation::parse(&operation).unwrap();
        prop_assert_eq!(&Operation::parse(&read.to_string()).unwrap(), &read);
    }

    // --- running ----------------------------------------------------------------------------------------------

    #[test]
    fn scenarios_run_alike_and_without_panics(
        actors in prop::collection::vec((0..4_usize, prop::collection::vec(operation(), 0..8)), 1..6),
        reference in any::<bool>(),
    ) {
        let text: String = actors.iter().map(|(host, operations)| {
            format!("[[actor]]\nhost = \"node-{host}\"\ndo = {operations:?}\n")
        }).collect();
        let scenario = Scenario::parse(&text, "s.toml", Path::new(".")).unwrap();
        let pacing = if reference { Pacing::Reference } else { Pacing::Single };
        let run = || {
            let (program, records) = play(&scenario, Platform::builtin().into(), 0).unwrap();
            let outcome = program.simulate(Settings { pacing, ..Settings::default() }).unwrap();
            // The only mistake that these scenarios can make.
            let waits_for_nothing = |message: &str| message.starts_with("waitany: nothing was started");
            let failures = &outcome.report.failures;
            assert!(failures.iter().all(|failure| waits_for_nothing(&failure.message)), "{failures:?}");
            (records.take(), outcome.report)
        };
        let (first, second) = (run(), run());
        prop_assert_eq!(first.1.clock, second.1.clock);
        prop_assert_eq!(first, second);
    }

    #[test]
    fn traces_run_without_panics(
        lines in prop::collection::vec((0..3_u8, action(), any::<bool>()), 1..20),
        mpi in any::<bool>(),
    ) {
        let name = |number: u8| if mpi { number.to_string() } else { format!("p{number}") };
        let text: String = lines.iter().map(|(process, (verb, other), tagged)| {
            let peer = name(*other);
            let arguments = match *verb {
                "compute" | "bcast" => "1e6".to_owned(),
                "sleep" => "0.1".to_owned(),
                "send" | "isend" if mpi => format!("{peer} {} 7e4", u8::from(*tagged)),
                "send" | "isend" => format!("{peer} 7e4"),
                "recv" | "irecv" => peer,
                "reduce" | "allreduce" => "10 1e3".to_owned(),
                _ => String::new(),
            };
            format!("{} {verb} {arguments}\n", name(*process))
        }).collect();
        let mut program = Program::new(Platform::builtin());
        replay::spread(&mut program, &Trace::parse(&text, "t.txt").unwrap()).unwrap();
        no_panics(&program.simulate(Settings::default()).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(1000)))]

    #[test]
    fn programs_run_alike_and_without_panics(
        actors in prop::collection::vec((0..3_usize, any::<bool>(), prop::collection::vec(step(), 0..10)), 1..6),
    ) {
        let run = |workers| {
            let log = Log::default();
            let settings = Settings { workers: Some(workers), always_share: true, ..Settings::default() };
            let outcome = program(&actors, &log).simulate(settings).unwrap();
            no_panics(&outcome);
            (outcome.report, log.lines())
        };
        let one = run(1);
        prop_assert_eq!(&one, &run(1));
        // The lines are written by the actors themselves: within a round, in any order.
        let mut two = run(2);
        let mut one = one;
        one.1.sort();
        two.1.sort();
        prop_assert_eq!(one, two);
    }
}

fn no_panics(outcome: &Outcome) {
    let panicked = |message: &str| message.starts_with("panicked");
    assert!(
        !outcome.report.failures.iter().any(|failure| panicked(&failure.message)),
        "{:?}",
        outcome.report
    );
}

fn action() -> impl Strategy<Value = (&'static str, u8)> {
    const VERBS: &[&str] = &[
        "compute",
        "sleep",
        "send",
        "recv",
        "isend",
        "irecv",
        "wait",
        "waitall",
        "bcast",
        "reduce",
        "allreduce",
        "barrier",
        "init",
        "finalize",
        "comm_size",
    ];
    (prop::sample::select(VERBS), 0..3_u8)
}

fn amount() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["0", "1", "1000", "1e6", "2.5e8", "1e12"][..])
}

fn operation() -> impl Strategy<Value = String> {
    let timeout =
        prop::sample::select(&["", " timeout 0", " timeout 1e-9", " timeout 0.5", " timeout 1"][..]);
    let rate = prop::sample::select(&["", " rate 1", " rate 1e6", " rate 1e12"][..]);
    let place = prop::sample::select(&["m", "n"][..]);
    prop_oneof![
        (amount(), prop::sample::select(&["", " priority 2", " bound 1e6"][..]), timeout.clone())
            .prop_map(|(flops, how, timeout)| format!("exec {flops}{how}{timeout}")),
        prop::sample::select(&["0", "1e-12", "0.5", "1"][..]).prop_map(|seconds| format!("sleep {seconds}")),
        (place.clone(), amount(), rate.clone(), timeout.clone())
            .prop_map(|(place, bytes, rate, timeout)| format!("send {place} {bytes}{rate}{timeout}")),
        (prop::sample::select(&["isend", "dsend"][..]), place.clone(), amount(), rate)
            .prop_map(|(verb, place, bytes, rate)| format!("{verb} {place} {bytes}{rate}")),
        (place.clone(), timeout).prop_map(|(place, timeout)| format!("recv {place}{timeout}")),
        place.prop_map(|place| format!("irecv {place}")),
        Just("waitall".to_owned()),
        Just("waitany".to_owned()),
        (prop::sample::select(&["read", "write"][..]), amount())
            .prop_map(|(verb, bytes)| format!("{verb} disk {bytes}")),
    ]
}

// --- programs through the interface -----------------------------------------------------------------------------

/// What an actor may do; numbers name one of the actors, hosts or amounts, as far as there are so many.
#[derive(Copy, Clone, Debug)]
enum Step {
    Sleep(u8),
    Execute(u8, u8),
    Send(u8, u8),
    Receive(u8),
    StartSend(u8),
    StartReceive,
    StartExecution(u8),
    WaitAll,
    WaitAny(u8),
    Test,
    Forget,
    Cancel,
    Pause,
    Lock(u8),
    Unlock,
    Condition(u8),
    Notify(bool),
    Acquire(u8),
    Release,
    Barrier,
    Halt(u8),
    Resume(u8),
    Kill(u8),
    Join(u8, u8),
    Migrate(u8, u8),
    Spawn(u8),
    Switch(u8, bool),
    SwitchLink(bool),
    Pstate(u8),
    Bandwidth(u8),
    Daemon,
    Exit,
}

fn step() -> impl Strategy<Value = Step> {
    let n = || 0..5_u8;
    let often = prop_oneof![
        n().prop_map(Step::Sleep),
        (n(), n()).prop_map(|(amount, patience)| Step::Execute(amount, patience)),
        (n(), n()).prop_map(|(amount, patience)| Step::Send(amount, patience)),
        n().prop_map(Step::Receive),
        n().prop_map(Step::StartSend),
        Just(Step::StartReceive),
        n().prop_map(Step::StartExecution),
        Just(Step::WaitAll),
        n().prop_map(Step::WaitAny),
        n().prop_map(Step::Lock),
        Just(Step::Unlock),
        n().prop_map(Step::Acquire),
        Just(Step::Release),
        Just(Step::Barrier),
        n().prop_map(Step::Condition),
    ];
    let seldom = prop_oneof![
        Just(Step::Test),
        Just(Step::Forget),
        Just(Step::Cancel),
        Just(Step::Pause),
        any::<bool>().prop_map(Step::Notify),
        n().prop_map(Step::Halt),
        n().prop_map(Step::Resume),
        n().prop_map(Step::Kill),
        (n(), n()).prop_map(|(actor, patience)| Step::Join(actor, patience)),
        (n(), n()).prop_map(|(actor, host)| Step::Migrate(actor, host)),
        n().prop_map(Step::Spawn),
        (n(), any::<bool>()).prop_map(|(host, on)| Step::Switch(host, on)),
        any::<bool>().prop_map(Step::SwitchLink),
        n().prop_map(Step::Pstate),
        n().prop_map(Step::Bandwidth),
        Just(Step::Daemon),
        Just(Step::Exit),
    ];
    prop_oneof![3 => often, 2 => seldom]
}

/// What the actors of a program share.
#[derive(Clone)]
struct Common {
    lock: Mutex<u32>,
    condition: Condvar,
    semaphore: Semaphore,
    barrier: Barrier,
    actors: Arc<std::sync::Mutex<Vec<ActorHandle>>>,
    log: Log,
}

fn program(actors: &[(usize, bool, Vec<Step>)], log: &Log) -> Program {
    let mut program = Program::new(platform(
        r#"<zone id="world" routing="Full">
        <host id="h0" speed="1Gf,100Mf"/><host id="h1" speed="1Gf,100Mf" core="2"/><host id="h2" speed="2Gf,100Mf"/>
        <link id="l" bandwidth="1MBps" latency="1ms"/>
        <route src="h0" dst="h1"><link_ctn id="l"/></route><route src="h0" dst="h2"><link_ctn id="l"/></route>
        <route src="h1" dst="h2"><link_ctn id="l"/></route></zone>"#,
    ));
    let common = Common {
        lock: program.mutex(0),
        condition: program.condvar(),
        semaphore: program.semaphore(1),
        barrier: program.barrier(2),
        actors: Arc::default(),
        log: log.clone(),
    };
    for (number, (host, restarts, steps)) in actors.iter().enumerate() {
        let (steps, mine) = (steps.clone(), common.clone());
        let plan = program.actor(format!("p{number}"), format!("h{host}")).unwrap();
        let handle = if *restarts {
            plan.restart(move |ctx: Ctx| act(ctx, steps.clone(), mine.clone()))
        } else {
            plan.start(move |ctx: Ctx| act(ctx, steps, mine))
        };
        common.actors.lock().unwrap().push(handle.unwrap());
    }
    program
}

async fn act(ctx: Ctx, steps: Vec<Step>, common: Common) -> simurgh::Result {
    let mut pending: ActivitySet<()> = ActivitySet::new();
    let mut guard = None;
    let (seen, me) = (common.log.clone(), ctx.clone());
    ctx.on_exit(move |failed| seen.at(&me, format!("{} ends: {failed}", me.id())));
    for step in steps {
        common.log.at(&ctx, format!("{} {step:?}", ctx.id()));
        if let Err(error) = take(&ctx, step, &common, &mut pending, &mut guard).await {
            common.log.at(&ctx, format!("{} {error}", ctx.id()));
        }
    }
    fine()
}

async fn take(
    ctx: &Ctx,
    step: Step,
    common: &Common,
    pending: &mut ActivitySet<()>,
    guard: &mut Option<simurgh::MutexGuard<u32>>,
) -> simurgh::Result {
    const PATIENCE: [f64; 5] = [0.0, 1e-9, 0.5, 1.0, 2.0];
    const AMOUNTS: [f64; 5] = [0.0, 1.0, 1e6, 1e9, 2e9];
    let patience = |n: u8| PATIENCE[usize::from(n)];
    let amount = |n: u8| AMOUNTS[usize::from(n)];
    let actor = |n: u8| {
        let actors = common.actors.lock().unwrap();
        actors[usize::from(n) % actors.len()]
    };
    let host = |n: u8| ctx.host_named(&format!("h{}", n % 3));
    let there = ctx.mailbox::<()>("x");
    match step {
        Step::Sleep(n) => ctx.sleep(patience(n)).await,
        Step::Execute(n, t) => ctx.execute(amount(n)).timeout(patience(t)).await?,
        Step::Send(n, t) => there.send((), amount(n)).timeout(patience(t)).await?,
        Step::Receive(t) => there.recv().timeout(patience(t)).await?,
        Step::StartSend(n) => pending.push(there.send((), amount(n)).start().await),
        Step::StartReceive => pending.push(there.recv().start().await),
        Step::StartExecution(n) => pending.push(ctx.execute(amount(n)).threads(2).start().await),
        Step::WaitAll => drop(pending.wait_all().await?),
        Step::WaitAny(t) if !pending.is_empty() => drop(pending.wait_any_for(patience(t)).await?),
        Step::WaitAny(_) => {}
        Step::Test => {
            for activity in pending.iter() {
                activity.test().await?;
                activity.remaining().await;
            }
        }
        Step::Forget => *pending = ActivitySet::new(),
        Step::Cancel => {
            for activity in pending.iter() {
                activity.cancel().await;
            }
        }
        Step::Pause => {
            for activity in pending.iter() {
                activity.suspend().await;
                activity.set_priority(2.0).await?;
                activity.resume().await;
            }
        }
        Step::Lock(t) if guard.is_none() => *guard = common.lock.lock_for(patience(t)).await,
        Step::Lock(_) => {}
        Step::Unlock => *guard = None,
        Step::Condition(t) => {
            if let Some(held) = guard.take() {
                *guard = Some(common.condition.wait_for(held, patience(t)).await.0);
            }
        }
        Step::Notify(true) => common.condition.notify_all().await,
        Step::Notify(false) => common.condition.notify_one().await,
        Step::Acquire(t) => drop(common.semaphore.acquire_for(patience(t)).await),
        Step::Release => common.semaphore.release().await,
        Step::Barrier => common.barrier.wait().await,
        Step::Halt(n) => actor(n).suspend().await,
        Step::Resume(n) => actor(n).resume().await,
        Step::Kill(n) => actor(n).kill().await,
        Step::Join(n, t) => drop(actor(n).join_for(patience(t)).await),
        Step::Migrate(n, h) => actor(n).migrate(&host(h)?).await,
        Step::Spawn(n) => {
            let mine = common.clone();
            let child = ctx.spawn("child", host(n)?, move |ctx: Ctx| async move {
                ctx.mailbox("x").send((), 1e6).detach().await;
                let _guard = mine.lock.lock_for(0.5).await;
                ctx.sleep(0.5).await;
            })?;
            let child = child.await;
            common.actors.lock().unwrap().push(child);
        }
        Step::Switch(n, true) => host(n)?.turn_on().await?,
        Step::Switch(n, false) => host(n)?.turn_off().await?,
        Step::SwitchLink(true) => ctx.link("l")?.turn_on().await?,
        Step::SwitchLink(false) => ctx.link("l")?.turn_off().await?,
        Step::Pstate(n) => ctx.host().set_pstate(usize::from(n % 2)).await?,
        Step::Bandwidth(n) => ctx.link("l")?.set_bandwidth(amount(n).max(1.0)).await?,
        Step::Daemon => ctx.become_daemon().await,
        Step::Exit => ctx.exit().await,
    }
    Ok(())
}
