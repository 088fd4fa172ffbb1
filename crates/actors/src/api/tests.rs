//! Every request of an actor knows the line of the program that made it.

use std::future::Future;
use std::sync::Arc;

use simurgh_kernel::context::{Body, Door, Place, Resumed};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::simcall::Answer;
use simurgh_models::SimTime;
use simurgh_platform::{HostId, Platform};

use super::actor::body;
use super::{Ctx, Mutex, Shared, Task};
use crate::scenario::{Scenario, play};

fn stopped_at(body: &mut Body, answer: Option<Answer>) -> Option<Place> {
    let mut door = Door::new();
    door.prepare(ActorId(0), HostId(0), SimTime::ZERO, answer);
    body.resume(&mut door);
    door.place()
}

/// The line at which an actor stops, after it was answered so.
fn line_after<Fut>(answers: Vec<Answer>, code: impl FnOnce(Ctx) -> Fut + Send + 'static) -> u32
where
    Fut: Future<Output = ()> + Send + 'static,
{
    let shared = Arc::new(Shared::new(Arc::new(Platform::builtin()), 0, super::Registry::new()));
    let mut body = body(&shared, code);
    let mut place = None;
    for answer in std::iter::once(None).chain(answers.into_iter().map(Some)) {
        place = stopped_at(&mut body, answer);
    }
    let place = place.expect("it asked for something");
    assert_eq!(place.file, file!());
    place.line
}

macro_rules! asks_here {
    (|$ctx:ident| $code:expr) => {
        let line = line_after(Vec::new(), |$ctx: Ctx| async move { consume($code.await) });
        assert_eq!(line, line!(), "{}", stringify!($code));
    };
}

/// What comes of a request is not looked at.
fn consume<T>(_: T) {}

fn locked(ctx: &Ctx) -> (super::Condvar, Mutex<u8>) {
    (ctx.condvar(), ctx.mutex(0))
}

#[test]
fn requests_of_all_kinds() {
    asks_here!(|ctx| ctx.sleep(1.0));
    asks_here!(|ctx| ctx.sleep_until(1.0));
    asks_here!(|ctx| ctx.yield_now());
    asks_here!(|ctx| ctx.execute(1e9).priority(2.0));
    asks_here!(|ctx| ctx.execute(1e9).start());
    asks_here!(|ctx| ctx.parallel(&ctx.hosts(), &[], &[]).timeout(1.0));
    asks_here!(|ctx| ctx.spawn("a", "node-0", |_| async {}).expect("there is one").daemon());
    asks_here!(|ctx| ctx.exit());
    asks_here!(|ctx| ctx.choose(3));
    asks_here!(|ctx| ctx.handle().join());
    asks_here!(|ctx| ctx.handle().join_for(1.0));
    asks_here!(|ctx| ctx.handle().kill());
    asks_here!(|ctx| ctx.host().speed());
    asks_here!(|ctx| ctx.mailbox::<u8>("a").send(1, 1.0).timeout(1.0));
    asks_here!(|ctx| ctx.mailbox::<u8>("a").send(1, 1.0).start());
    asks_here!(|ctx| ctx.mailbox::<u8>("a").send(1, 1.0).detach());
    asks_here!(|ctx| ctx.mailbox::<u8>("a").recv().rate(1.0));
    asks_here!(|ctx| ctx.mailbox::<u8>("a").recv().start());
    asks_here!(|ctx| ctx.mailbox::<u8>("a").has_message());
    asks_here!(|ctx| Task::new("a", 1.0, 1.0).send_to(&ctx.mailbox("a")));
    asks_here!(|ctx| Task::new("a", 1.0, 1.0).execute(&ctx));
    asks_here!(|ctx| ctx.mutex(0).lock());
    asks_here!(|ctx| ctx.mutex(0).lock_for(1.0));
    asks_here!(|ctx| ctx.mutex(0).try_lock());
    asks_here!(|ctx| ctx.semaphore(0).acquire());
    asks_here!(|ctx| ctx.semaphore(0).release());
    asks_here!(|ctx| ctx.barrier(2).wait());
    asks_here!(|ctx| ctx.condvar().notify_all());
}

#[test]
fn waits_for_what_was_started() {
    let started = || vec![Answer::Activity(ActivityId::from_bits(0))];
    let completed = |index| Answer::Completed { index, message: Some(Box::new(7u8)) };
    let line = line!() + 1;
    let wait = |ctx: Ctx| async move {
        let one = ctx.mailbox::<u8>("a").recv().start().await;
        assert_eq!(one.test().await.unwrap(), None);
        one.wait_for(1.0).await.unwrap();
        let mut set = super::ActivitySet::new();
        set.push(one);
        set.wait_any_for(1.0).await.unwrap_err();
        consume(set.next_over().await);
        set.push(ctx.mailbox::<u8>("a").recv().start().await);
        set.push(ctx.mailbox::<u8>("a").recv().start().await);
        set.wait_all().await.unwrap();
    };
    let answers = || {
        let mut answers = started();
        answers.push(Answer::Nothing);
        answers.push(completed(0));
        answers.push(Answer::TIMED_OUT);
        answers.push(completed(0));
        answers.extend(started());
        answers.extend(started());
        answers.push(completed(0));
        answers
    };
    let lines: Vec<u32> =
        (1..=8).map(|count| line_after(answers().into_iter().take(count).collect(), wait) - line).collect();
    assert_eq!(lines, [2, 3, 6, 7, 8, 9, 10, 10]);
}

#[test]
fn waits_for_a_condition() {
    let line = line!() + 3;
    let wait = |ctx: Ctx| async move {
        let (condvar, mutex) = locked(&ctx);
        let guard = condvar.wait(mutex.lock().await).await;
        condvar.wait_for(guard, 1.0).await;
    };
    let answers = |count| (0..count).map(|_| Answer::Flag(true)).collect();
    assert_eq!([0, 1, 2].map(|count| line_after(answers(count), wait) - line), [0, 0, 1]);
}

#[test]
fn operations_of_a_scenario() {
    let text = "[[actor]]\nname = \"a\"\ndo = [\n  \"irecv x\",\n  \"sleep 1\", \"waitall\"\n]\n";
    let scenario = Scenario::parse(text, "some.toml", std::path::Path::new(".")).unwrap();
    let (program, _) = play(&scenario, Arc::new(Platform::builtin()), 0).unwrap();
    let mut body = program.into_parts().0.remove(0).body;
    let answers = [None, Some(Answer::Activity(ActivityId::from_bits(0))), Some(Answer::Ready)];
    let places = answers.map(|answer| stopped_at(&mut body, answer).map(|place: Place| place.to_string()));
    assert_eq!(places.map(Option::unwrap), ["some.toml:4", "some.toml:5", "some.toml:5"]);
}

#[test]
fn an_actor_begins_when_it_first_runs_and_knows_who_it_is() {
    let shared = Arc::new(Shared::new(Arc::new(Platform::builtin()), 0, super::Registry::new()));
    let begun = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = Arc::clone(&begun);
    let mut code = body(&shared, move |ctx: Ctx| {
        noted.lock().expect("one at a time").push(ctx.id());
        async move { ctx.yield_now().await }
    });
    assert!(begun.lock().expect("one at a time").is_empty());
    assert!(stopped_at(&mut code, None).is_some());
    stopped_at(&mut code, Some(Answer::Ready));
    assert_eq!(*begun.lock().expect("one at a time"), [ActorId(0)]);

    let quiet = simurgh_kernel::context::quiet();
    let mut failing = body(&shared, |_: Ctx| -> std::future::Ready<()> { panic!("not even begun") });
    let mut door = Door::new();
    door.prepare(ActorId(0), HostId(0), SimTime::ZERO, None);
    let resumed = failing.resume(&mut door);
    drop(quiet);
    assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "panicked: not even begun"));
}
