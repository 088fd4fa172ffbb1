//! Actors written as Rust futures: what they may say and do while they are explored.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use simurgh_explore::{
    Actors, Exploration, Network, Options, Verdict, Violation, dfs, dpor, optimal, source,
};
use simurgh_kernel::context::{Body, call, violate, with_port};
use simurgh_kernel::ids::MailboxId;
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{
    Answer, Criteria, Envelope, Follow, RecvRequest, SendRequest, Simcall, SpawnRequest,
};
use simurgh_platform::HostId;

fn spawn(kernel: &mut Kernel, name: &str, body: impl Future<Output = Result<(), String>> + Send + 'static) {
    let body = Body::Future(Box::pin(body));
    kernel.spawn(SpawnRequest::new(name.to_owned(), HostId::from_index(0), body));
}

async fn choose(n: u32) -> u32 {
    match call(Simcall::Choose(n)).await {
        Answer::Chosen(number) => number,
        other => panic!("{other:?}"),
    }
}

async fn post(mailbox: u32, follow: Follow) {
    let (mailbox, envelope) = (MailboxId(mailbox), Envelope::default());
    call(Simcall::Send(SendRequest { mailbox, bytes: 8.0, rate: None, envelope, payload: None }, follow))
        .await;
}

async fn receive(mailbox: u32) {
    let request = RecvRequest { mailbox: MailboxId(mailbox), rate: None, criteria: Criteria::default() };
    call(Simcall::Recv(request, Follow::Wait(None))).await;
}

/// A plain function, deep in the code of an actor.
fn judge(number: u32) {
    if number == 2 {
        violate("two is too much".to_owned());
    }
}

#[test]
fn a_violation_is_found_wherever_it_is_said() {
    let mut system = Actors::new(Network::Mailbox, |kernel: &mut Kernel| {
        spawn(kernel, "one", async {
            judge(choose(3).await);
            Ok(())
        });
        spawn(kernel, "other", async {
            if choose(2).await == 1 {
                with_port(|port| port.on_exit.push(Box::new(|_| violate("not at the end".to_owned()))));
            }
            Ok(())
        });
    });
    let found = optimal::explore(&mut system, Options::all());
    assert_eq!((found.verdict, found.executions), (Verdict::Violated, 6));
    let said: Vec<_> = found.found.into_iter().map(|(violation, _)| violation).collect();
    let failed = |actor, message: &str| Violation::Failed { actor, message: message.to_owned() };
    let at_end = "panicked in what it does at its end: not at the end";
    assert_eq!(said, [failed(0, "two is too much"), failed(1, at_end)]);
}

/// What an engine says of a program that counts in a static how often it was made: once by `Actors::new`, then for each
/// execution.
fn told(engine: Engine, program: impl Fn(&mut Kernel, u32) + 'static) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let before = MADE.load(Ordering::Relaxed);
    let mut system: Boxed = Actors::new(
        Network::Mailbox,
        Box::new(move |kernel| {
            let executions = (MADE.fetch_add(1, Ordering::Relaxed) - before).saturating_sub(1);
            program(kernel, executions);
        }),
    );
    let found = engine(&mut system, Options::all());
    assert_eq!(found.verdict, Verdict::NotExhausted);
    found.divergence.expect("the program does not do the same again").to_string()
}

type Boxed = Actors<Box<dyn FnMut(&mut Kernel)>>;
type Engine = fn(&mut Boxed, Options<'_, Boxed>) -> Exploration;

#[test]
fn a_program_that_is_not_the_same_again_is_told() {
    const WHY: &str = "before: a program must depend on messages and choices only (does it use statics, the clock, \
                       random numbers of its own, or the order of a hash map?)";
    for engine in [dfs::explore as Engine, dpor::explore, source::explore, optimal::explore] {
        let said = told(engine, |kernel, executions| {
            spawn(kernel, "flips", async move {
                choose(2).await;
                // The first execution sends, and others receive.
                if executions == 0 {
                    post(0, Follow::Detach).await;
                } else {
                    receive(0).await;
                }
                choose(2).await;
                Ok(())
            });
        });
        let expected =
            "actor \"flips\" asked for a receive from mailbox 0 where it asked for a send to mailbox 0";
        assert_eq!(said, format!("{expected} {WHY}"));
        let said = told(engine, |kernel, executions| {
            spawn(kernel, "stops", async move {
                for _ in 0..3 - executions.min(1) {
                    choose(2).await;
                }
                Ok(())
            });
        });
        assert_eq!(said, format!("actor \"stops\" asked for its end where it asked for a choice {WHY}"));
        let said = told(engine, |kernel, executions| {
            if executions < 3 {
                spawn(kernel, "comes", async move {
                    choose(2).await;
                    choose(2).await;
                    Ok(())
                });
            }
        });
        assert!(
            said.starts_with("actor \"number 0\" had come to its end where it asked for a choice"),
            "{said}"
        );
    }
}

/// Two actors that throw a ball to each other, for ever.
fn endless() -> Boxed {
    Actors::new(
        Network::Mailbox,
        Box::new(|kernel: &mut Kernel| {
            for (mine, other) in [(0, 1), (1, 0)] {
                spawn(kernel, "player", async move {
                    loop {
                        post(other, Follow::Detach).await;
                        receive(mine).await;
                    }
                });
            }
        }),
    )
}

#[test]
fn an_execution_that_does_not_end_is_cut_and_shown() {
    for engine in [dfs::explore as Engine, dpor::explore, source::explore, optimal::explore] {
        let options = Options { depth: Some(12), ..Options::all() };
        let found = engine(&mut endless(), options);
        assert_eq!((found.verdict, found.executions), (Verdict::NotExhausted, 0));
        assert!(found.cut > 0);
        assert_eq!(found.cut_schedule.map(|schedule| schedule.len()), Some(12));
        // Somebody who watches can stop it while it goes on.
        let mut looks = 0;
        let options = Options::all().watch(|progress| {
            looks += 1;
            if progress.depth < 4_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let found = engine(&mut endless(), options);
        assert_eq!((found.verdict, found.executions, looks), (Verdict::NotExhausted, 0, 2));
    }
}

#[test]
fn an_actor_that_does_nothing_that_others_can_see_for_ever_is_told() {
    let mut system = Actors::new(Network::Mailbox, |kernel: &mut Kernel| {
        spawn(kernel, "sleeper", async {
            loop {
                call(Simcall::Sleep(1.0)).await;
            }
        });
    });
    let found = optimal::explore(&mut system, Options::all());
    let message = "goes on for ever without doing anything that others can see (2000000 requests); time stands still under \
                   `check`"
        .to_owned();
    assert_eq!(found.found, [(Violation::Failed { actor: 0, message }, vec![])]);
}
