//! Local search: what each idea is worth, what it refuses, and that nothing is reported that cannot happen.

use std::time::Duration;

use simurgh_protocol::local::Options;
use simurgh_protocol::{
    Actor, ActorId, Network, Out, System, Verdict, World, agree, global, local, pairwise, world,
};

/// Each calls the others once, with the number after the highest that it has heard of.
struct Caller {
    others: Vec<ActorId>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Heard {
    number: u32,
    has_called: bool,
}

impl Actor for Caller {
    type Msg = u32;
    type State = Heard;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> Heard {
        out.set_timer((), Duration::from_secs(1));
        Heard::default()
    }

    fn on_msg(&self, state: &mut Heard, _: ActorId, number: &u32, _: &mut Out<Self>) {
        state.number = state.number.max(*number);
    }

    fn on_timeout(&self, state: &mut Heard, (): &(), out: &mut Out<Self>) {
        state.has_called = true;
        state.number += 1;
        out.broadcast(self.others.iter().copied(), state.number);
    }
}

fn callers(count: u32) -> System<u32> {
    let others = |me: u32| (0..count).filter(|other| *other != me).map(ActorId).collect();
    System::new()
        .actors((0..count).map(|me| Caller { others: others(me) }))
        .always("no higher than callers", local(move |state: &Heard| state.number <= count))
}

#[test]
fn who_hears_of_what_it_has_not_done_counts_for_ever() {
    callers(2).checker().bfs().assert_properties();
    let found = callers(2).checker().local();
    found.assert_properties();
    assert_eq!(found.suspicions, 0, "{found}");
    let alone = Options { coexistence: false, ..Options::default() };
    let found = callers(2).checker().states_max(500).local_options(alone).local();
    assert_eq!(found.verdict, Verdict::NotExhausted, "{found}");
}

/// Counts what it is told; the other tells it once.
struct Count {
    tell: Option<ActorId>,
}

impl Actor for Count {
    type Msg = ();
    type State = u32;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u32 {
        if let Some(to) = self.tell {
            out.send(to, ());
        }
        0
    }

    fn on_msg(&self, state: &mut u32, _: ActorId, (): &(), _: &mut Out<Self>) {
        *state += 1;
        assert!(*state < 3, "it was told three times");
    }
}

fn count() -> System<()> {
    System::new().actor(Count { tell: Some(ActorId(1)) }).actor(Count { tell: None })
}

#[test]
fn what_was_sent_once_is_received_once() {
    let found = count().always("once", local(|count: &u32| *count < 2)).checker().local();
    found.assert_properties();
    assert_eq!((found.states, found.transitions, found.suspicions), (3, 1, 0));
    // Without histories it is received again, up to the panic, and each suspicion turns out to be none.
    let forgetful = Options { histories: false, ..Options::default() };
    let system = count().always("once", local(|count: &u32| *count < 2));
    let found = system.checker().local_options(forgetful.clone()).local();
    found.assert_properties();
    assert_eq!((found.states, found.transitions), (5, 3));
    assert!(found.suspicions > 0 && found.verified_states > 0);
    // On a network that duplicates, it is true.
    let system = count().network(Network::Duplicating);
    for found in [system.checker().local(), system.checker().local_gen(), system.checker().bfs()] {
        assert_eq!(found.assert_violated("no handler panics").steps.len(), 3);
    }
}

#[test]
fn what_it_cannot_see_is_refused() {
    let empty = world(|world: &World<'_, ()>| world.messages().next().is_none());
    let arrives = local(|count: &u32| *count == 1);
    for (system, word) in [
        (count().sometimes("empty", empty), "network"),
        (count().eventually("arrives", arrives), "eventually"),
    ] {
        let found = system.checker().local();
        assert_eq!((found.verdict, found.verdict.exit_code()), (Verdict::CannotRun, 2));
        assert!(
            found.note.as_ref().is_some_and(|note| note.contains(word) && note.contains("bfs")),
            "{found}"
        );
    }
}

#[test]
fn fewer_system_states_are_made_for_conditions_that_say_more() {
    let state = |count: &u32| (*count > 0).then_some(*count);
    let two =
        || System::new().actor(Count { tell: Some(ActorId(1)) }).actor(Count { tell: Some(ActorId(0)) });
    let by_keys = two().always("same", agree(state)).checker().local();
    let by_pairs =
        two().always("same", pairwise(|one: &u32, other: &u32| one.min(other) < &2)).checker().local();
    let by_all = two().always("same", global(|states| states.of::<u32>().count() == 2)).checker().local();
    let all = two().always("same", agree(state)).checker().local_gen();
    for found in [&by_keys, &by_pairs, &by_all, &all] {
        found.assert_properties();
    }
    assert_eq!((by_keys.system_states, by_pairs.system_states), (0, 0));
    assert_eq!((by_all.system_states, all.system_states), (4, 4));
}

/// Somebody may have heard of two while the first has not called, and while the second has not, but not while neither has: who
/// knows pairs only goes on to four, and so on.
#[test]
fn pasts_tell_where_three_contradict_each_other() {
    callers(3).checker().bfs().assert_properties();
    let with_pairs = |states_max: u64| {
        let pairs = Options { causal_histories_from: usize::MAX, ..Options::default() };
        callers(3).checker().states_max(states_max).local_options(pairs).local()
    };
    assert_eq!(with_pairs(1_000).verdict, Verdict::NotExhausted);
    for causal_histories_from in [0, 10, 100] {
        let options = Options { causal_histories_from, ..Options::default() };
        callers(3).checker().states_max(2_000).local_options(options).local().assert_properties();
    }
}

/// Whoever stops a search by a clock has to be asked often, also where conclusions go on for long.
#[test]
fn a_local_search_asks_often_whether_to_stop() {
    let (mut asked, mut last, mut most) = (0_u32, 0, 0);
    let pairs = Options { causal_histories_from: usize::MAX, early: false, ..Options::default() };
    let found = callers(3)
        .checker()
        .states_max(2_000)
        .local_options(pairs)
        .stop_when(|progress| {
            asked += 1;
            most = most.max(progress.transitions - last);
            last = progress.transitions;
            false
        })
        .local();
    assert_eq!(found.verdict, Verdict::NotExhausted);
    assert!(asked > 100 && most <= 64, "asked {asked} times, after {most} transitions at most");
}
