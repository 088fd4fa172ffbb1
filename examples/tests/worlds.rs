//! One test suite for two worlds: each test runs on a simulated platform and over real sockets, with the same code.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use simurgh_deploy::Transport;
use simurgh_protocol::linearizability::{RegisterAnswer, RegisterAsk};
use simurgh_protocol::{ActorId, States, pairwise};
use simurgh_worlds::{Cast, World};

#[path = "../raft/server.rs"]
mod raft;
#[path = "../register/server.rs"]
mod register;

use raft::{Msg, Server, State};

const PATIENCE: Duration = Duration::from_secs(30);

/// What was seen to be committed by whichever node, in any of its lives.
#[derive(Default)]
struct Book {
    places: BTreeMap<usize, String>,
    wrong: Vec<String>,
}

impl Book {
    fn see(&mut self, node: ActorId, state: &State) {
        for (place, entry) in state.committed().iter().enumerate() {
            let text = format!("{entry:?}");
            let first = self.places.entry(place).or_insert_with(|| text.clone());
            if *first != text {
                self.wrong.push(format!("place {place} was {first}, and is {text} at node {node}"));
            }
        }
    }
}

/// Three servers, with disks or without, and what is committed by them.
fn servers(disks: bool) -> (Cast<Msg>, Arc<Mutex<Book>>) {
    let book = Arc::new(Mutex::new(Book::default()));
    let seen = Arc::clone(&book);
    let same =
        |one: &State, other: &State| one.committed().iter().zip(other.committed()).all(|(a, b)| a == b);
    let cast = Cast::new();
    let cast = if disks { cast.durables(3, |_| Server::new(3)) } else { cast.actors(3, |_| Server::new(3)) };
    let cast = cast.properties(move |system| system.always("state machine safety", pairwise(same))).watch(
        move |node, state: &State| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).see(node, state);
        },
    );
    (cast, book)
}

/// Runs a test in both worlds; whatever it does, nobody may disagree, and all that was ever committed is known to all in the end.
fn in_both_worlds(loss: f64, test: impl Fn(&mut dyn World<Msg>)) {
    in_worlds(&["simulated", "over TCP", "over UDP"], true, loss, test);
}

fn in_worlds(worlds: &[&str], disks: bool, loss: f64, test: impl Fn(&mut dyn World<Msg>)) {
    for world in worlds {
        let (cast, book) = servers(disks);
        let cast = cast.loss(loss).seed(1);
        let check = |world: &mut dyn World<Msg>| {
            test(world);
            let committed = book.lock().unwrap_or_else(PoisonError::into_inner).places.len();
            (0..3).for_each(|node| world.restart(ActorId(node)));
            let all = world.wait(PATIENCE, &mut |states| knows(states, 3, committed));
            assert!(all, "{}: {committed} were committed, and somebody never hears of them", world.name());
            if loss > 0.0 {
                (0..3).for_each(|node| world.kill(ActorId(node)));
                assert!(world.lost() > 0, "{}: nothing was lost", world.name());
            }
        };
        match *world {
            "simulated" => check(&mut cast.simulated(simurgh::Platform::builtin())),
            "over UDP" => check(&mut cast.real_over(Transport::Udp)),
            _ => check(&mut cast.real()),
        }
        let book = book.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(book.wrong.is_empty(), "{world}: {:?}", book.wrong);
        println!("{world}: {} committed, none lost", book.places.len());
    }
}

/// Whether so many servers know so many committed entries.
fn knows(states: &States<'_>, servers: usize, entries: usize) -> bool {
    states.of::<State>().filter(|(_, state)| state.commit >= entries).count() >= servers
}

/// Whether so many servers know that something is written.
fn knows_text(states: &States<'_>, servers: usize, text: &str) -> bool {
    states.of::<State>().filter(|(_, state)| state.written().any(|command| command.text == text)).count()
        >= servers
}

/// Asks for something at a node, and waits for the answer: it is committed, as far as that node knows.
fn write(world: &mut dyn World<Msg>, node: ActorId, text: &str) {
    world.input(node, Msg::Typed(text.to_owned()));
    let written = |states: &States<'_>| {
        let state = states.get::<State>(node);
        state.is_some_and(|state| state.written().any(|command| command.text == text))
    };
    let answered = world.wait(PATIENCE, &mut |states| written(states));
    assert!(answered, "{}: {text:?} was asked for at node {node} and is not written", world.name());
}

/// Waits until there is a leader, and says who it is.
fn leader(world: &mut dyn World<Msg>) -> ActorId {
    let mut leader = None;
    world.wait(PATIENCE, &mut |states| {
        leader = states.of::<State>().find(|(_, state)| state.leads()).map(|(node, _)| node);
        leader.is_some()
    });
    leader.unwrap_or_else(|| panic!("{}: there is no leader", world.name()))
}

#[test]
fn a_client_gets_its_answer() {
    in_both_worlds(0.0, |world| {
        let leader = leader(world);
        write(world, leader, "at the leader");
        write(world, ActorId((leader.0 + 1) % 3), "at a follower");
    });
}

#[test]
fn agreement_survives_that_nodes_are_killed_and_started_again() {
    in_both_worlds(0.0, |world| {
        for round in 0..6_u32 {
            let victim = ActorId(round % 3);
            world.kill(victim);
            write(world, ActorId((round + 1) % 3), &format!("while {victim} is down, {round}"));
            world.restart(victim);
            write(world, victim, &format!("after {victim} is back, {round}"));
        }
    });
}

#[test]
fn nothing_committed_is_lost_with_the_leader() {
    in_both_worlds(0.0, |world| {
        for round in 0..4 {
            let leader = leader(world);
            write(world, leader, &format!("before {round}"));
            world.kill(leader);
            // The next leader has it, and says so without being asked for anything else.
            let others = |states: &States<'_>| knows_text(states, 2, &format!("before {round}"));
            assert!(world.wait(PATIENCE, &mut |states| others(states)), "{}: round {round}", world.name());
            write(world, ActorId((leader.0 + 2) % 3), &format!("after {round}"));
            world.restart(leader);
        }
        // All at once: what was committed is on the disks.
        (0..3).for_each(|node| world.kill(ActorId(node)));
        (0..3).for_each(|node| world.restart(ActorId(node)));
        write(world, ActorId(0), "after all were down");
    });
}

fn forgotten(world: &mut dyn World<Msg>) {
    write(world, ActorId(0), "before");
    (0..3).for_each(|node| world.kill(ActorId(node)));
    (0..3).for_each(|node| world.restart(ActorId(node)));
    write(world, ActorId(0), "after");
}

/// The suite can fail: servers without disks are found out, in either world.
#[test]
#[should_panic(expected = "simulated: ")]
fn servers_without_disks_are_found_out_by_a_simulation() {
    in_worlds(&["simulated"], false, 0.0, forgotten);
}

#[test]
#[should_panic]
fn servers_without_disks_are_found_out_for_real() {
    in_worlds(&["over TCP"], false, 0.0, forgotten);
}

#[test]
fn lost_messages_are_survived() {
    in_both_worlds(0.2, |world| {
        for round in 0..10_u32 {
            write(world, ActorId(round % 3), &format!("{round}"));
        }
    });
}

/// A register that is read and written while one of its servers is killed and messages are lost: values never go back.
#[test]
fn a_register_never_goes_back() {
    use register::{Answers, Client, Server};
    let operations = 20;
    let client = move |me: ActorId| {
        let ask = |value| if me == ActorId(3) { RegisterAsk::Write(value) } else { RegisterAsk::Read };
        Client { server: ActorId(me.0 - 3), asks: (1..=operations).map(ask).collect(), persistent: true }
    };
    let cast = Cast::new()
        .durables(3, |_| Server { servers: 3, persistent: true, bug: false })
        .actors(2, client)
        .loss(0.1);
    cast.in_both_worlds(|world| {
        let answers = |states: &States<'_>, client| {
            states.get::<Answers>(ActorId(client)).map_or(0, |answers| answers.0.len())
        };
        assert!(world.wait(PATIENCE, &mut |states| answers(states, 4) >= 5), "{}", world.name());
        world.kill(ActorId(2));
        assert!(world.wait(PATIENCE, &mut |states| answers(states, 4) >= 10), "{}", world.name());
        world.restart(ActorId(2));
        let mut read = Vec::new();
        let all = world.wait(PATIENCE, &mut |states| {
            read = states.get::<Answers>(ActorId(4)).map(|answers| answers.0.clone()).unwrap_or_default();
            [3, 4].iter().all(|client| answers(states, *client) == operations as usize)
        });
        assert!(all, "{}: {read:?}", world.name());
        let values = read.iter().map(|answer| match answer {
            RegisterAnswer::Value(value) => *value,
            RegisterAnswer::Written => panic!("{}: a read was answered as a write", world.name()),
        });
        assert!(values.is_sorted(), "{}: {read:?}", world.name());
    });
}
