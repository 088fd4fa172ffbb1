//! The outcome of a simulation does not depend on how many threads run the code of its actors.

use std::sync::{Arc, Mutex};

use simurgh::prelude::*;

/// What an actor received, when, and what it drew.
type Log = Vec<(usize, f64, u64)>;

/// Many actors that send to each other at random, fall asleep at random, create others, lock, say things, and fail.
fn run(seed: u64, workers: usize, always_share: bool) -> (String, Log, Vec<String>) {
    const ACTORS: usize = 60;
    let mut program = Program::with_seed(Platform::builtin(), seed);
    let hosts = program.hosts().len();
    let log = Arc::new(Mutex::new(vec![Log::new(); ACTORS]));
    let tally = program.mutex(0u64);
    for me in 0..ACTORS {
        let (log, tally) = (Arc::clone(&log), tally.clone());
        let host = program.hosts()[me % hosts].clone();
        let code = move |ctx: Ctx| async move {
            let mut random = ctx.random();
            for turn in 0..20 {
                let to = random.below(ACTORS as u64);
                ctx.mailbox::<usize>(&to.to_string()).send(me, 1e3).detach().await;
                if random.below(3) == 0 {
                    ctx.sleep(random.below(4) as f64).await;
                }
                if random.below(8) == 0 {
                    let mut guard = tally.lock().await;
                    *guard += 1;
                    ctx.say(format!("turn {turn}"));
                }
                let inbox = ctx.mailbox::<usize>(&me.to_string());
                if let Ok(from) = inbox.recv().timeout(1.0).await {
                    log.lock().unwrap()[me].push((from, ctx.now(), random.below(1000)));
                }
                if turn == 10 && me % 17 == 3 {
                    return Err(simurgh::Error::other(format!("actor {me} has had enough")));
                }
                if turn == 15 && me % 13 == 5 {
                    panic!("actor {me} falls over");
                }
            }
            Ok(())
        };
        program.spawn(format!("a{me}"), host.id(), code).unwrap();
    }
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let settings = Settings {
        workers: Some(workers),
        always_share,
        listener: Some(Box::new(move |said| {
            heard.lock().unwrap().push(format!("{} {} {}", said.at, said.actor, said.text));
        })),
        ..Settings::default()
    };
    let outcome = program.simulate(settings).unwrap();
    let threads = outcome.threads();
    if always_share && workers > 1 {
        assert!(threads.rounds > 10 && threads.workers == workers, "{threads:?}");
    }
    let all = log.lock().unwrap().concat();
    let said = std::mem::take(&mut *said.lock().unwrap());
    (format!("{:?}", outcome.report), all, said)
}

#[test]
fn any_number_of_workers_gives_the_same() {
    std::panic::set_hook(Box::new(|_| {}));
    for seed in 0..12 {
        let one = run(seed, 1, false);
        assert!(one.0.contains("has had enough") && one.0.contains("falls over"));
        for workers in [2, 3, 7] {
            assert_eq!(one, run(seed, workers, true), "seed {seed}, {workers} workers");
        }
        assert_eq!(one, run(seed, 2, false), "seed {seed}, as measured");
    }
}

/// So many actors compute at every second date, and do nothing in between: how many rounds were shared.
fn shared_rounds(actors: usize) -> u64 {
    let mut program = Program::new(Platform::builtin());
    for me in 0..actors {
        let host = program.hosts()[me % program.hosts().len()].clone();
        let code = move |ctx: Ctx| async move {
            for turn in 0..40_u64 {
                ctx.sleep(1.0).await;
                let work = if turn % 2 == 0 { 1_000_000 } else { 0 };
                let sum = (0..work).fold(turn, |sum, number| std::hint::black_box(sum ^ number));
                ctx.say(format!("{sum}"));
            }
        };
        program.spawn(format!("a{me}"), host.id(), code).unwrap();
    }
    let settings = Settings { workers: Some(2), ..Settings::default() };
    program.simulate(settings).unwrap().threads().rounds
}

/// Long rounds are noticed among short ones. Whether they go on to be shared is up to the machine, which may have only one core
/// to spare.
#[test]
fn code_that_takes_long_now_and_then_is_shared() {
    for actors in [2, 3, 8] {
        let shared = shared_rounds(actors);
        assert!(shared >= 3, "{actors} actors: {shared} rounds were shared, and 20 are long");
    }
}
