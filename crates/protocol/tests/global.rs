//! Global search: the shortest counterexample, what eventually means, networks, crashes, symmetry.

use std::time::Duration;

use simurgh_protocol::{
    Actor, ActorId, Durable, Fairness, IdSet, Network, Out, Report, Schedule, System, Verdict, agree, global,
    local, pairwise, world,
};

/// Moves from number to number whenever its timer goes off.
struct Walker {
    edges: &'static [(u8, u8)],
}

impl Actor for Walker {
    type Msg = ();
    type State = u8;
    type Timer = u8;

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        self.timers(0, out);
        0
    }

    fn on_msg(&self, _: &mut u8, _: ActorId, (): &(), _: &mut Out<Self>) {}

    fn on_timeout(&self, state: &mut u8, timer: &u8, out: &mut Out<Self>) {
        for (_, to) in self.edges.iter().filter(|edge| edge.0 == *state) {
            out.cancel_timer(*to);
        }
        *state = *timer;
        self.timers(*state, out);
    }
}

impl Walker {
    fn timers(&self, state: u8, out: &mut Out<Self>) {
        for (_, to) in self.edges.iter().filter(|edge| edge.0 == state) {
            out.set_timer(*to, Duration::from_secs(1));
        }
    }
}

fn walk(edges: &'static [(u8, u8)], goal: u8, fairness: Fairness) -> Report {
    let system =
        System::new().actor(Walker { edges }).eventually("arrives", local(move |state: &u8| *state == goal));
    let found = system.checker().fairness(fairness).dfs();
    let other = system.checker().fairness(fairness).bfs();
    assert_eq!(found.verdict, other.verdict);
    found
}

#[test]
fn a_cycle_on_which_nothing_is_reached_is_reported() {
    let found = walk(&[(0, 1), (1, 0)], 2, Fairness::Strong);
    let schedule = found.assert_violated("arrives");
    assert_eq!(schedule.to_string(), "again and again\ntimeout 0: 1\ntimeout 0: 0\n");
    assert_eq!(found.verdict.exit_code(), 1);
}

#[test]
fn a_cycle_that_can_be_left_depends_on_fairness() {
    // From 0 and 1 there is a way to 2: never taken without fairness. At 0 only, it is not possible all the time.
    let [everywhere, sometimes] = [&[(0, 1), (1, 0), (0, 2), (1, 2)][..], &[(0, 1), (1, 0), (0, 2)][..]];
    for (edges, fairness, verdict) in [
        (everywhere, Fairness::Unfair, Verdict::Violated),
        (everywhere, Fairness::Weak, Verdict::Holds),
        (everywhere, Fairness::Strong, Verdict::Holds),
        (sometimes, Fairness::Unfair, Verdict::Violated),
        (sometimes, Fairness::Weak, Verdict::Violated),
        (sometimes, Fairness::Strong, Verdict::Holds),
    ] {
        let edges: &'static [(u8, u8)] = edges;
        assert_eq!(walk(edges, 2, fairness).verdict, verdict, "{edges:?} {fairness:?}");
    }
}

#[test]
fn where_ways_join_it_matters_which_was_taken() {
    // 0 -> 1 -> 3 and 0 -> 2 -> 3: whoever goes by 2 never sees 1, though 3 is also reached by way of 1.
    let found = walk(&[(0, 1), (0, 2), (1, 3), (2, 3)], 1, Fairness::Strong);
    let schedule = found.assert_violated("arrives");
    assert_eq!(schedule.to_string(), "timeout 0: 2\ntimeout 0: 3\n");
    walk(&[(0, 1), (0, 2), (1, 3), (2, 3)], 3, Fairness::Unfair).assert_properties();
}

#[test]
fn strong_fairness_looks_inside_of_components() {
    // All of 0, 1, 2 is one component, and 3 can be reached from 2 only: staying in 0 and 1 is fair to that.
    assert_eq!(walk(&[(0, 1), (1, 0), (1, 2), (2, 1), (2, 3)], 3, Fairness::Strong).verdict, Verdict::Holds);
    // Without a way from 1 to 2 that is possible again and again, it is not.
    assert_eq!(walk(&[(0, 1), (1, 4), (4, 1), (0, 3)], 3, Fairness::Strong).verdict, Verdict::Violated);
}

/// Says hello to the next, which counts.
struct Greeter {
    to: Vec<ActorId>,
    times: u8,
}

impl Actor for Greeter {
    type Msg = u8;
    type State = Vec<u8>;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> Vec<u8> {
        for number in 0..self.times {
            out.broadcast(self.to.iter().copied(), number);
        }
        Vec::new()
    }

    fn on_msg(&self, state: &mut Vec<u8>, _: ActorId, number: &u8, _: &mut Out<Self>) {
        state.push(*number);
    }
}

fn greeting(times: u8) -> System<u8> {
    System::new().actor(Greeter { to: vec![ActorId(1)], times }).actor(Greeter { to: vec![], times: 0 })
}

#[test]
fn networks_deliver_as_they_say() {
    let count = |system: System<u8>| {
        let found = system.checker().bfs();
        let other = system.checker().dfs();
        assert_eq!((found.states, found.transitions), (other.states, other.transitions));
        found.states
    };
    // In order: after 0, 1, 2, 3 messages. Unordered: every sequence of distinct numbers, 1 + 3 + 6 + 6.
    assert_eq!(count(greeting(3).network(Network::Ordered)), 4);
    assert_eq!(count(greeting(3)), 16);
    // Lost or delivered, one after the other: at each of four places in the queue, which of those before arrived.
    assert_eq!(count(greeting(3).network(Network::Ordered).lossy()), {
        // Any subset may be lost at any time: (delivered, still on their way), in order.
        let mut seen = std::collections::BTreeSet::new();
        let mut queue = vec![(vec![], vec![0, 1, 2])];
        while let Some((got, flying)) = queue.pop() {
            if !seen.insert((got.clone(), flying.clone())) {
                continue;
            }
            for at in 0..flying.len() {
                let mut rest: Vec<i32> = flying.clone();
                let message = rest.remove(at);
                queue.push((got.clone(), rest.clone()));
                if at == 0 {
                    let mut got = got.clone();
                    got.push(message);
                    queue.push((got, rest));
                }
            }
        }
        seen.len() as u64
    });
    let twice = |states: &simurgh_protocol::States<'_>| {
        states.of::<Vec<u8>>().all(|(_, got)| got.iter().filter(|number| **number == 0).count() < 2)
    };
    greeting(2).always("once", global(twice)).checker().bfs().assert_properties();
    let duplicated = greeting(2).network(Network::Duplicating).always("once", global(twice));
    let found = duplicated.checker().bfs();
    assert_eq!(found.assert_violated("once").to_string(), "deliver 0 -> 1: 0\ndeliver 0 -> 1: 0\n");
}

/// Counts up on its disk, or in memory.
struct Counter;

impl Actor for Counter {
    type Msg = ();
    type State = (u8, u8);
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> (u8, u8) {
        out.set_timer((), Duration::from_secs(1));
        (0, 0)
    }

    fn on_msg(&self, _: &mut (u8, u8), _: ActorId, (): &(), _: &mut Out<Self>) {}

    fn on_timeout(&self, state: &mut (u8, u8), (): &(), out: &mut Out<Self>) {
        state.0 += 1;
        state.1 += 1;
        if state.0 < 2 {
            out.set_timer((), Duration::from_secs(1));
        }
    }
}

impl Durable for Counter {
    type Stored = u8;

    fn stored(&self, state: &(u8, u8)) -> u8 {
        state.0
    }

    fn on_recover(&self, stored: &u8, out: &mut Out<Self>) -> (u8, u8) {
        if *stored < 2 {
            out.set_timer((), Duration::from_secs(1));
        }
        (*stored, 0)
    }
}

#[test]
fn what_is_on_the_disk_survives_and_the_rest_does_not() {
    let both = || local(|state: &(u8, u8)| state.0 != 2 || state.1 == 2);
    System::new().actor(Counter).crashes(1).always("same", both()).checker().bfs().assert_properties();
    let durable = System::new().durable(Counter).crashes(1).always("same", both());
    let found = durable.checker().bfs();
    assert_eq!(
        found.assert_violated("same").to_string(),
        "timeout 0: ()\ntimeout 0: ()\ncrash 0\nrecover 0\n"
    );
    // Up with (0, 0), (1, 1), (2, 2), and after a crash also (1, 0), (2, 1), (2, 0); down with 0, 1, 2.
    assert_eq!(System::new().durable(Counter).crashes(1).checker().dfs().states, 9);
}

/// Asks everybody, and is done when all have answered. All are alike.
struct Peer {
    all: u32,
    unlike: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Talk {
    Ask,
    Answer,
}

impl Actor for Peer {
    type Msg = Talk;
    type State = (IdSet, IdSet);
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> (IdSet, IdSet) {
        let me = out.me();
        out.broadcast((0..self.all).map(ActorId).filter(|other| *other != me), Talk::Ask);
        Default::default()
    }

    fn on_msg(&self, state: &mut (IdSet, IdSet), from: ActorId, msg: &Talk, out: &mut Out<Self>) {
        match msg {
            Talk::Ask => {
                state.0.insert(from);
                if !self.unlike || from > out.me() {
                    out.send(from, Talk::Answer);
                }
            }
            Talk::Answer => {
                state.1.insert(from);
            }
        }
    }
}

fn peers(count: u32, unlike: bool) -> System<Talk> {
    let done = move |state: &(IdSet, IdSet)| state.1.len() == count as usize - 1;
    System::new()
        .actors((0..count).map(|_| Peer { all: count, unlike }))
        .always("once", local(|state: &(IdSet, IdSet)| state.1.len() < 5))
        .sometimes("all answered", local(done))
        .eventually("everybody has all answers", local(done))
}

#[test]
fn symmetric_actors_are_looked_at_once() {
    // An answer is on its way, or has arrived, or its question has not: three states for each of six pairs.
    let full = peers(3, false).checker().bfs();
    full.assert_properties();
    assert_eq!(full.states, 3_u64.pow(6));
    let mut without = peers(3, false).symmetric((0..3).map(ActorId)).checker().bfs();
    assert_eq!(without.note.take().map(|note| note.contains("eventually")), Some(true));
    // By Burnside's lemma: (729 + 3 * 27 + 2 * 9) / 6.
    assert_eq!(without.states, 138);
    assert_eq!(peers(3, false).symmetric((0..3).map(ActorId)).checker().dfs().states, 138);
}

/// The second call took the place of the first.
#[test]
fn groups_of_symmetric_actors_are_exchanged_each_among_themselves() {
    let pairs = || peers(4, false).symmetric([0, 1].map(ActorId));
    let both = |other: [u32; 2]| pairs().symmetric(other.map(ActorId)).checker().bfs();
    let [one, two] = [pairs().checker().bfs().states, both([2, 3]).states];
    // By Burnside's lemma, of 12 ordered pairs with three states each. Who exchanges two actors leaves two pairs where they are
    // and exchanges ten; who exchanges two and two exchanges all.
    let [all, two_exchanged, four_exchanged] = [12, 7, 6].map(|orbits| 3_u64.pow(orbits));
    assert_eq!(one, (all + two_exchanged) / 2);
    assert_eq!(two, (all + 2 * two_exchanged + four_exchanged) / 4);
    let twice = both([1, 2]);
    assert_eq!(twice.note.as_deref(), Some("symmetric(): actor 1 is named twice"), "{twice}");
}

#[test]
fn actors_that_are_not_symmetric_are_noticed() {
    let found = peers(4, true).symmetric((0..4).map(ActorId)).checker().bfs();
    assert_eq!(found.verdict, Verdict::CannotRun, "{found}");
    assert!(found.note.is_some_and(|note| note.contains("symmetric()")));
}

#[test]
fn any_number_of_workers_gives_the_same() {
    let system = peers(3, false);
    let one = system.checker().workers(1).bfs();
    for workers in 2..5 {
        let more = system.checker().workers(workers).bfs();
        assert_eq!(format!("{one:?}"), format!("{more:?}"));
    }
}

#[test]
fn bounds_are_told() {
    for found in [
        peers(3, false).checker().states_max(100).bfs(),
        peers(3, false).checker().states_max(100).dfs(),
        peers(3, false).checker().depth_max(3).bfs(),
        peers(3, false).checker().depth_max(3).dfs(),
    ] {
        assert_eq!((found.verdict, found.verdict.exit_code()), (Verdict::NotExhausted, 3), "{found}");
        assert!(found.note.is_some());
    }
    let mut asked = 0;
    let stopped = peers(4, false)
        .checker()
        .stop_when(|_| {
            asked += 1;
            asked == 2
        })
        .dfs();
    assert_eq!(stopped.verdict, Verdict::NotExhausted);
    assert_eq!(System::<()>::new().checker().bfs().verdict, Verdict::CannotRun);
}

/// Chooses twice, and panics at one combination.
struct Chooser;

impl Actor for Chooser {
    type Msg = ();
    type State = (usize, usize);
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> (usize, usize) {
        out.set_timer((), Duration::from_secs(1));
        (out.choose(2), 0)
    }

    fn on_msg(&self, _: &mut (usize, usize), _: ActorId, (): &(), _: &mut Out<Self>) {}

    fn on_timeout(&self, state: &mut (usize, usize), (): &(), out: &mut Out<Self>) {
        state.1 = out.choose(3) * 10 + if state.0 == 1 { out.choose(2) } else { 0 };
        assert!(*state != (1, 21), "this is the one");
    }
}

#[test]
fn every_choice_is_tried_and_a_panic_is_a_finding() {
    let system = System::new().actor(Chooser);
    for found in [system.checker().bfs(), system.checker().dfs()] {
        let schedule = found.assert_violated("no handler panics");
        assert_eq!(schedule.to_string(), "start 1\ntimeout[2,1] 0: ()\n");
        let parsed: Schedule = schedule.to_string().parse().expect("what is printed parses");
        let replayed = system.replay(&parsed).expect("it can be followed");
        assert_eq!(replayed.actors_after(1), ["failed: this is the one"]);
    }
}

#[test]
fn conditions_on_pairs_and_on_everything() {
    let one = |count: usize| local(move |state: &Vec<u8>| state.len() < count);
    greeting(2).always("few", one(3)).checker().dfs().assert_properties();
    assert_eq!(greeting(2).always("few", one(2)).checker().bfs().assert_violated("few").steps.len(), 2);
    let pair = pairwise(|left: &Vec<u8>, right: &Vec<u8>| left.len() + right.len() < 2);
    assert_eq!(greeting(2).always("few", pair).checker().bfs().assert_violated("few").steps.len(), 2);
    let first = agree(|state: &Vec<u8>| state.first().copied());
    let two = System::new()
        .actor(Greeter { to: vec![ActorId(1), ActorId(2)], times: 2 })
        .actors((0..2).map(|_| Greeter { to: vec![], times: 0 }))
        .always("same first", first);
    assert_eq!(two.checker().bfs().assert_violated("same first").steps.len(), 2);
    let empty = world(|world: &simurgh_protocol::World<'_, u8>| world.messages().next().is_none());
    let found = greeting(2).sometimes("all arrived", empty).checker().bfs();
    assert_eq!(found.assert_properties().discovery("all arrived").expect("found").steps.len(), 2);
    let nobody = local(|state: &Vec<u8>| state.len() == 9);
    assert_eq!(greeting(2).sometimes("many", nobody).checker().dfs().verdict, Verdict::Violated);
}
