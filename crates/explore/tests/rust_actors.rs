//! Actors written as Rust futures: what they may say and do while they are explored.

use simurgh_explore::{Actors, Network, Options, Verdict, Violation, optimal};
use simurgh_kernel::context::{Body, call, violate, with_port};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Answer, Simcall, SpawnRequest};
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
