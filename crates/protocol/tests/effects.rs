//! What has no effect, and what nobody has to do: verdicts of `eventually` and histories that were wrong once.

mod common;

use common::{SECOND, Timed, deaf, walker};
use simurgh_protocol::{
    Actor, ActorId, Fairness, Happened, Network, Out, States, System, Verdict, World, global, history, local,
    projected, world,
};

/// Does nothing.
struct Stuck;

impl Actor for Stuck {
    type Msg = u8;
    type State = u8;
    type Timer = ();

    fn on_start(&self, _: &mut Out<Self>) -> u8 {
        0
    }

    fn on_msg(&self, state: &mut u8, _: ActorId, msg: &u8, _: &mut Out<Self>) {
        *state = *msg;
    }
}

/// By each search, under each fairness: nothing, weak, strong.
fn eventually<M: simurgh_protocol::Data>(system: &System<M>) -> [Verdict; 3] {
    [Fairness::Unfair, Fairness::Weak, Fairness::Strong].map(|fairness| {
        let [bfs, dfs] =
            [system.checker().fairness(fairness).bfs(), system.checker().fairness(fairness).dfs()];
        assert_eq!(bfs.verdict, dfs.verdict, "{bfs}{dfs}");
        for found in [&bfs, &dfs] {
            if let Some(schedule) = found.discovery("done") {
                system.replay(schedule).expect("a counterexample can be followed");
            }
        }
        bfs.verdict
    })
}

#[test]
fn nobody_has_to_crash_and_nothing_has_to_be_lost() {
    let done = || local(|state: &u8| *state == 1);
    let stuck = || System::new().actor(Stuck);
    assert_eq!(eventually(&stuck().eventually("done", done())), [Verdict::Violated; 3]);
    assert_eq!(eventually(&stuck().crashes(1).eventually("done", done())), [Verdict::Violated; 3]);
    // A message that may be lost, for one that is down for good: it recovers, since that can be relied on.
    let flying = || stuck().in_flight(ActorId(0), ActorId(0), 1);
    assert_eq!(eventually(&flying().eventually("done", done())), [Verdict::Holds; 3]);
    assert_eq!(eventually(&flying().lossy().eventually("done", done())), [Verdict::Violated; 3]);
    let gone = world(|world: &World<'_, u8>| world.messages().next().is_none());
    let ignored = || stuck().in_flight(ActorId(0), ActorId(0), 0);
    assert_eq!(eventually(&ignored().lossy().eventually("done", gone)), [Verdict::Holds; 3]);
}

/// Chooses whether it is done; if not, all stays as it is.
fn hesitant() -> Timed<u8> {
    let hesitate = |state: &mut u8, out: &mut Out<Timed<u8>>| match out.choose(2) {
        0 => *state = 1,
        _ => out.set_timer((), SECOND),
    };
    Timed { first: 0, on_msg: hesitate, on_timeout: hesitate }
}

/// Its timer goes off again and again, without any effect.
fn idle() -> Timed<()> {
    deaf((), |(), out| out.set_timer((), SECOND))
}

#[test]
fn what_has_no_effect_may_go_on_for_ever() {
    let done = || local(|state: &u8| *state == 1);
    let hesitant = System::new().actor(hesitant()).eventually("done", done());
    assert_eq!(eventually(&hesitant), [Verdict::Violated; 3]);
    let found = hesitant.checker().bfs();
    assert_eq!(found.assert_violated("done").to_string(), "again and again\ntimeout[1] 0: ()\n");
    // Whoever does nothing again and again keeps others from moving, where there is no fairness.
    let starved = System::new().actor(walker(0)).actor(idle()).eventually("done", done());
    assert_eq!(eventually(&starved), [Verdict::Violated, Verdict::Holds, Verdict::Holds]);
}

/// Ignores a message until its timer has gone off.
fn later() -> Timed<u8> {
    let on_msg = |state: &mut u8, _: &mut Out<Timed<u8>>| {
        if *state == 1 {
            *state = 2;
        }
    };
    Timed { first: 0, on_msg, on_timeout: |state, _| *state = 1 }
}

#[test]
fn a_message_that_was_ignored_arrived_again() {
    let late = || {
        let done = local(|state: &u8| *state == 2);
        System::new().actor(later()).in_flight(ActorId(0), ActorId(0), ()).eventually("done", done)
    };
    for network in [Network::Unordered, Network::Ordered] {
        let system = late().network(network);
        assert_eq!(eventually(&system), [Verdict::Violated; 3], "{network}");
        let found = system.checker().bfs();
        assert_eq!(found.assert_violated("done").to_string(), "deliver 0 -> 0: ()\ntimeout 0: ()\n");
    }
    // Where messages come again and again, it does.
    let again = late().network(Network::Duplicating);
    assert_eq!(eventually(&again), [Verdict::Violated, Verdict::Holds, Verdict::Holds]);
}

/// Messages that change nothing are as good as lost where messages overtake each other; in a queue, they are received.
#[test]
fn what_is_ignored_counts_as_not_received() {
    let count = |count: &mut u8, happened: Happened<'_, ()>| {
        *count += u8::from(matches!(happened, Happened::Received { .. }));
    };
    for (network, verdict) in [
        (Network::Unordered, Verdict::Holds),
        (Network::Duplicating, Verdict::Holds),
        (Network::Ordered, Verdict::Violated),
    ] {
        let system = System::new()
            .actor(idle())
            .in_flight(ActorId(0), ActorId(0), ())
            .network(network)
            .history(0_u8, |()| true, count)
            .always("nothing arrives", history(|count: &u8| *count == 0));
        for found in [system.checker().bfs(), system.checker().dfs()] {
            assert_eq!(found.verdict, verdict, "{network}: {found}");
        }
    }
}

/// Says two things at once, the greater number first.
struct Speaker;

impl Actor for Speaker {
    type Msg = u8;
    type State = ();
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) {
        out.send(ActorId(0), 1);
        out.send(ActorId(0), 2);
        out.set_timer((), SECOND);
    }

    fn on_msg(&self, (): &mut (), _: ActorId, _: &u8, _: &mut Out<Self>) {}

    fn on_timeout(&self, (): &mut (), (): &(), out: &mut Out<Self>) {
        out.send(ActorId(0), 2);
        out.send(ActorId(0), 1);
    }
}

#[test]
fn a_history_was_told_of_messages_out_of_order() {
    let last = |last: &mut u8, happened: Happened<'_, u8>| {
        if let Happened::Sent { msg, .. } = happened {
            *last = *msg;
        }
    };
    for network in [Network::Unordered, Network::Duplicating, Network::Ordered] {
        let system = System::new().actor(Speaker).network(network);
        let system =
            system.history(0, |_| true, last).sometimes("one is last", history(|last: &u8| *last == 1));
        let found = system.checker().bfs();
        assert_eq!(found.assert_properties().discovery("one is last").map(|way| way.steps.len()), Some(1));
        system.checker().dfs().assert_properties();
    }
}

/// Counts messages, and forgets them in a crash.
struct Client;

impl Actor for Client {
    type Msg = u8;
    type State = u32;
    type Timer = ();

    fn on_start(&self, _: &mut Out<Self>) -> u32 {
        0
    }

    fn on_msg(&self, got: &mut u32, _: ActorId, _: &u8, _: &mut Out<Self>) {
        *got += 1;
    }
}

/// While the only client is down, `local` and `projected` were true of all clients there are.
#[test]
fn nothing_becomes_true_by_a_crash() {
    let system = |crashes: usize| {
        let messages = System::new().actor(Client).actor(Stuck).in_flight(ActorId(1), ActorId(0), 1);
        messages.in_flight(ActorId(1), ActorId(0), 2).crashes(crashes)
    };
    let both = [
        || local(|got: &u32| *got == 2),
        || projected(|got: &u32| Some(*got), |all: &[&u32]| all.iter().all(|got| **got == 2)),
        || global(|states: &States<'_>| states.get::<u32>(ActorId(0)) == Some(&2)),
    ];
    for both in both {
        assert_eq!(eventually(&system(0).eventually("done", both())), [Verdict::Holds; 3]);
        assert_eq!(eventually(&system(1).eventually("done", both())), [Verdict::Violated; 3]);
    }
}
