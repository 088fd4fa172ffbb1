//! Computations that may be over at any time: all outcomes of timeouts, tests and cancellation, by every engine.

use std::collections::BTreeSet;

use simurgh_explore::{Actors, Exploration, Network, Options, Violation, dfs, dpor, optimal, source};
use simurgh_kernel::context::{ActorFuture, Body, call};
use simurgh_kernel::ids::{ActivityId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{
    ActivitySet, Answer, Criteria, Envelope, ExecRequest, Follow, OnTimeout, RecvRequest, SendRequest,
    Simcall, SpawnRequest,
};
use simurgh_platform::HostId;

async fn start() -> ActivityId {
    let request = ExecRequest { flops: 1.0, host: None, priority: None, bound: None, threads: 1 };
    begun(call(Simcall::Execute(request, Follow::Return)).await)
}

async fn receive() -> ActivityId {
    let request = RecvRequest { mailbox: MailboxId(0), rate: None, criteria: Criteria::default() };
    begun(call(Simcall::Recv(request, Follow::Return)).await)
}

async fn send() -> Result<(), String> {
    let (mailbox, envelope) = (MailboxId(0), Envelope::default());
    let request = SendRequest { mailbox, bytes: 8.0, rate: None, envelope, payload: Some(Box::new(())) };
    call(Simcall::Send(request, Follow::Detach)).await;
    Ok(())
}

fn begun(answer: Answer) -> ActivityId {
    match answer {
        Answer::Activity(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Waits for one of a set, and says what came of it.
async fn wait(set: &[ActivityId], timeout: Option<f64>) -> String {
    let activities = ActivitySet::from_slice(set);
    let wait = Simcall::WaitAny { activities, timeout, on_timeout: OnTimeout::Keep, release: false };
    in_words(&call(wait).await)
}

async fn test(set: &[ActivityId]) -> String {
    in_words(&call(Simcall::TestAny { activities: ActivitySet::from_slice(set) }).await)
}

fn in_words(answer: &Answer) -> String {
    match answer {
        Answer::Completed { index, .. } => format!("over {index}"),
        Answer::Failed { failure, .. } => format!("{failure:?}"),
        Answer::Nothing => "nothing".to_owned(),
        other => panic!("{other:?}"),
    }
}

type Code = fn() -> ActorFuture;

/// All that the actors say at their ends, and how many executions it took.
fn explored(
    code: &'static [Code],
    explore: impl Fn(&mut dyn FnMut(&mut Kernel)) -> Exploration,
) -> (BTreeSet<(u32, String)>, u64) {
    let mut fill = |kernel: &mut Kernel| {
        for (number, code) in code.iter().enumerate() {
            let body = Body::Future(code());
            kernel.spawn(SpawnRequest::new(format!("actor-{number}"), HostId::from_index(0), body));
        }
    };
    let found = explore(&mut fill);
    assert_eq!(found.divergence, None);
    let said = found.found.into_iter().map(|(violation, _)| match violation {
        Violation::Failed { actor, message } => (actor, message),
        other => panic!("{other:?}"),
    });
    (said.collect(), found.executions)
}

/// What each of the engines finds: the words are the same for all, and so is the count for those that see each order once.
fn outcomes(code: &'static [Code]) -> (Vec<String>, u64) {
    macro_rules! with {
        ($engine:ident) => {
            explored(code, |fill| $engine::explore(&mut Actors::new(Network::Mailbox, fill), Options::all()))
        };
    }
    let (said, executions) = with!(optimal);
    assert_eq!(with!(dfs).0, said);
    assert_eq!(with!(dpor).0, said);
    assert_eq!(with!(source), (said.clone(), executions));
    (said.into_iter().map(|(_, message)| message).collect(), executions)
}

#[test]
fn a_timeout_of_a_computation_was_never_tried() {
    let timed: &[Code] = &[|| Box::pin(async { Err(wait(&[start().await], Some(1.0)).await) })];
    assert_eq!(outcomes(timed), (vec!["Timeout".to_owned(), "over 0".to_owned()], 2));
    // After a timeout it goes on, and may be over later; what was seen to be over stays so.
    let twice: &[Code] = &[|| {
        Box::pin(async {
            let id = start().await;
            let first = wait(&[id], Some(1.0)).await;
            Err(format!("{first}, {}", wait(&[id], Some(1.0)).await))
        })
    }];
    let expected = ["Timeout, Timeout", "Timeout, over 0", "over 0, over 0"];
    assert_eq!(outcomes(twice), (expected.map(str::to_owned).to_vec(), 3));
}

#[test]
fn a_test_of_a_computation_found_it_over_always() {
    let tested: &[Code] = &[|| {
        Box::pin(async {
            let id = start().await;
            Err(format!("{}, {}", test(&[id]).await, wait(&[id], None).await))
        })
    }];
    assert_eq!(outcomes(tested), (vec!["nothing, over 0".to_owned(), "over 0, over 0".to_owned()], 2));
}

#[test]
fn a_computation_was_over_before_it_could_be_cancelled() {
    let cancelled: &[Code] = &[|| {
        Box::pin(async {
            let id = start().await;
            call(Simcall::Cancel(id)).await;
            Err(wait(&[id], None).await)
        })
    }];
    assert_eq!(outcomes(cancelled), (vec!["Cancelled".to_owned(), "over 0".to_owned()], 2));
}

#[test]
fn what_is_the_actors_own_affair_is_tried_once_whatever_others_do() {
    // Two times two outcomes, and no order of the two actors matters.
    const TIMED: Code = || {
        Box::pin(async {
            wait(&[start().await], Some(1.0)).await;
            Ok(())
        })
    };
    assert_eq!(outcomes(&[TIMED, TIMED]), (Vec::new(), 4));
    // A plain wait is no step at all.
    const PLAIN: Code = || {
        Box::pin(async {
            wait(&[start().await], None).await;
            Ok(())
        })
    };
    assert_eq!(outcomes(&[PLAIN, PLAIN]), (Vec::new(), 1));
}

#[test]
fn a_message_and_a_computation_come_in_any_order() {
    const RECEIVER: Code = || {
        Box::pin(async {
            let set = [receive().await, start().await];
            Err(wait(&set, None).await)
        })
    };
    const SENDER: Code = || Box::pin(send());
    let both = ["over 0", "over 1"].map(str::to_owned).to_vec();
    assert_eq!(outcomes(&[RECEIVER, SENDER]).0, both);
    const TIMED: Code = || {
        Box::pin(async {
            let set = [receive().await, start().await];
            Err(wait(&set, Some(1.0)).await)
        })
    };
    let all = ["Timeout", "over 0", "over 1"].map(str::to_owned).to_vec();
    assert_eq!(outcomes(&[TIMED, SENDER]).0, all);
    const TESTED: Code = || {
        Box::pin(async {
            let set = [receive().await, start().await];
            Err(test(&set).await)
        })
    };
    let all = ["nothing", "over 0", "over 1"].map(str::to_owned).to_vec();
    assert_eq!(outcomes(&[TESTED, SENDER]).0, all);
}
