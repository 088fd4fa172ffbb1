//! What simulated protocols do: they take the time that the platform says, and do nothing that a checker does not know.

use std::sync::Arc;
use std::time::Duration;

use simurgh_platform::{Platform, Routing};
use simurgh_protocol::{Actor, ActorId, Durable, Network, Out, System, agree, history, local, world};
use simurgh_protocol_sim::{End, Simulation};

const ONE: ActorId = ActorId(0);
const TWO: ActorId = ActorId(1);

/// Two hosts, and a wire of 1 MB/s and 10 ms between them.
fn wire() -> Platform {
    let mut builder = Platform::builder();
    let zone = builder.zone("world", Routing::Full);
    let (a, b) = (builder.host(zone, "a", 1e9).id(), builder.host(zone, "b", 1e9).id());
    let wire = builder.link(zone, "wire", 1e6, 10e-3).id();
    builder.route(zone, a, b, [wire]);
    builder.build().expect("a platform")
}

/// Sends the messages of a list at the start, one after the other, and keeps what comes.
struct Lister(Vec<u32>);

impl Actor for Lister {
    type Msg = u32;
    type State = Vec<u32>;
    type Timer = ();
    fn on_start(&self, out: &mut Out<Self>) -> Vec<u32> {
        self.0.iter().for_each(|number| out.send(ActorId(1 - out.me().0), *number));
        Vec::new()
    }
    fn on_msg(&self, seen: &mut Vec<u32>, _: ActorId, number: &u32, _: &mut Out<Self>) {
        seen.push(*number);
    }
}

fn listers(numbers: &[u32]) -> System<u32> {
    System::new().actor(Lister(numbers.to_vec())).actor(Lister(Vec::new()))
}

/// A message takes as long as one of the same size in a program of async actors.
#[test]
fn messages_take_the_time_of_the_platform() {
    use simurgh::prelude::{Ctx, Program, Settings};
    for bytes in [1_u64, 1000, 5_000_000] {
        let mut program = Program::new(wire());
        program
            .spawn("a", "a", move |ctx: Ctx| async move { ctx.mailbox("b").send((), bytes as f64).await })
            .expect("a");
        program.spawn("b", "b", |ctx: Ctx| async move { ctx.mailbox::<()>("b").recv().await }).expect("b");
        let expected = program.simulate(Settings::default()).expect("it runs").clock();
        let report = Simulation::new(listers(&[1]), wire()).size(move |_| bytes).run(None).expect("it runs");
        assert_eq!((report.clock, report.end), (expected, End::Quiet), "{bytes} bytes");
    }
}

/// A long message is overtaken by a short one, unless the network is ordered.
#[test]
fn an_ordered_network_keeps_the_order() {
    for (network, expected) in [(Network::Unordered, vec![1, 2, 1000]), (Network::Ordered, vec![1, 1000, 2])]
    {
        let system = listers(&[1, 1000, 2]).network(network);
        let mut running = Simulation::new(system, wire())
            .size(|number| u64::from(*number) * 1000)
            .begin()
            .expect("it runs");
        running.go(None, |_| false).expect("it runs");
        assert_eq!(running.states().get::<Vec<u32>>(TWO), Some(&expected), "{network}");
    }
}

#[test]
fn losses_come_from_the_seed_and_add_up() {
    let numbers: Vec<u32> = (0..1000).collect();
    let run =
        |seed| Simulation::new(listers(&numbers), wire()).loss(0.3).seed(seed).run(None).expect("it runs");
    let report = run(1);
    assert_eq!(report.counts.sent, report.counts.received + report.counts.lost);
    assert!((200..400).contains(&report.counts.lost), "{}", report.counts.lost);
    assert_eq!(report, run(1));
    assert_ne!(report.nodes, run(2).nodes);
}

/// Doubles are messages of their own, and come where the network may bring them.
#[test]
fn messages_are_doubled() {
    let numbers: Vec<u32> = (0..1000).collect();
    let run = |network| {
        let simulation = Simulation::new(listers(&numbers).network(network), wire());
        let counts = simulation.loss(0.3).duplication(0.5).seed(1).run(None).expect("it runs").counts;
        assert_eq!(counts.sent + counts.doubled, counts.received + counts.lost);
        counts
    };
    assert!((250..450).contains(&run(Network::Duplicating).doubled));
    assert_eq!(run(Network::Ordered).doubled, 0);
}

/// Counts its timeouts, on its disk.
struct Clock;

impl Actor for Clock {
    type Msg = u32;
    type State = (u32, u32);
    type Timer = ();
    fn on_start(&self, out: &mut Out<Self>) -> (u32, u32) {
        self.on_recover(&0, out)
    }
    fn on_msg(&self, state: &mut (u32, u32), _: ActorId, number: &u32, _: &mut Out<Self>) {
        state.0 += number;
    }
    fn on_timeout(&self, state: &mut (u32, u32), (): &(), out: &mut Out<Self>) {
        state.0 += 1;
        state.1 += 1;
        out.set_timer((), Duration::from_secs(1));
    }
}

impl Durable for Clock {
    type Stored = u32;
    fn stored(&self, state: &(u32, u32)) -> u32 {
        state.0
    }
    fn on_recover(&self, stored: &u32, out: &mut Out<Self>) -> (u32, u32) {
        out.set_timer((), Duration::from_secs(1));
        (*stored, 0)
    }
}

#[test]
fn what_is_on_the_disk_survives_a_crash() {
    let system = || System::new().durable(Clock).actor(Clock);
    let simulation = |system| {
        Simulation::new(system, wire()).crash(ONE, 2.5).crash(TWO, 2.5).recover(ONE, 4.0).recover(TWO, 4.0)
    };
    let report = simulation(system()).run(Some(6.5)).expect("it runs");
    assert_eq!((report.end, report.clock), (End::Reached, 6.5));
    assert_eq!((report.counts.crashes, report.counts.recoveries, report.counts.timeouts), (2, 2, 8));
    let states: Vec<&str> = report.nodes.iter().map(|node| node.state.as_str()).collect();
    assert_eq!(states, ["(4, 2)", "(2, 2)"]);
    // Inputs do not reach who is down.
    let report =
        simulation(system()).input(ONE, 1.5, 10).input(ONE, 3.0, 100).run(Some(3.5)).expect("it runs");
    assert_eq!(report.nodes[0].state, "down, stored 12");
    assert!(!report.nodes[0].is_up);
}

/// A host that is off from 3 s to 5 s, by its profile, takes its actor with it.
#[test]
fn hosts_that_fail_take_their_actors_with_them() {
    let xml = "<?xml version='1.0'?><platform version='4.1'><zone id='z' routing='Full'>\
        <host id='a' speed='1Gf' state_file='s'/></zone></platform>";
    let folder = std::env::temp_dir().join(format!("simurgh-protocol-sim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("s"), "3.5 0\n5 1\n").expect("a profile");
    let platform = Platform::from_xml(xml, "p.xml", &folder).expect("a platform");
    std::fs::remove_dir_all(&folder).expect("it is removed");
    let report = Simulation::new(System::new().durable(Clock), platform).run(Some(7.5)).expect("it runs");
    assert_eq!(report.nodes[0].state, "(5, 2)");
    assert_eq!((report.counts.crashes, report.counts.recoveries), (1, 1));
}

/// Conditions of all kinds are looked at after every handler, and dated.
#[test]
fn properties_are_looked_at_on_the_way() {
    let told = |seen: &mut u32, _: simurgh_protocol::Happened<'_, u32>| *seen += 1;
    let system = listers(&[7, 8])
        .history(0_u32, |_| true, told)
        .always("nobody sees 8", local(|seen: &Vec<u32>| !seen.contains(&8)))
        .always("one value", agree(|seen: &Vec<u32>| seen.first().copied()))
        .sometimes("both under way", world(|world| world.messages().count() == 2))
        .sometimes("a message was received", history(|happened: &u32| *happened == 3))
        .eventually("all know", local(|seen: &Vec<u32>| !seen.is_empty()));
    let report =
        Simulation::new(system, wire()).size(|number| u64::from(*number)).run(None).expect("it runs");
    let dates: Vec<Option<f64>> = report.properties.iter().map(|property| property.at).collect();
    assert_eq!(dates, [Some(report.clock), None, Some(0.0), dates[3], None]);
    assert!(dates[3] < Some(report.clock) && report.end == End::Violated && !report.is_fine());
    assert!(report.to_string().contains("always \"nobody sees 8\" is violated at 0.1"), "{report}");
}

#[test]
fn a_panic_is_told() {
    struct Fragile;
    impl Actor for Fragile {
        type Msg = u32;
        type State = ();
        type Timer = ();
        fn on_start(&self, out: &mut Out<Self>) {
            out.set_timer((), Duration::from_secs(1));
        }
        fn on_msg(&self, (): &mut (), _: ActorId, _: &u32, _: &mut Out<Self>) {}
        fn on_timeout(&self, (): &mut (), (): &(), _: &mut Out<Self>) {
            panic!("glass");
        }
    }
    let report = Simulation::new(System::new().actor(Fragile), wire()).run(None).expect("it runs");
    assert!(!report.is_fine());
    assert!(report.to_string().contains("fragile-0 panicked: glass"), "{report}");
}

#[test]
fn what_is_wrong_is_told_in_one_line() {
    let told = |simulation: Simulation<u32>| simulation.run(None).expect_err("it is wrong").to_string();
    let simulation = || Simulation::new(listers(&[1]), wire());
    assert_eq!(
        told(Simulation::new(System::new(), wire())),
        "the system has no actors: add some with actor()"
    );
    assert!(told(simulation().loss(1.5)).starts_with("a loss of 1.5 is none"));
    assert!(told(simulation().hosts(["a", "c"])).contains("there is no host \"c\""));
    assert_eq!(
        told(simulation().crash(ActorId(2), 1.0)),
        "a crash of actor 2 at 1 s: there are 2 actors, the last is 1"
    );
    assert!(told(simulation().recover(ONE, f64::NAN)).contains("a date is a number of seconds"));
    let mut builder = Platform::builder();
    let zone = builder.zone("world", Routing::Full);
    builder.host(zone, "a", 1e9);
    builder.host(zone, "b", 1e9);
    let apart = Simulation::new(listers(&[1]), builder.build().expect("a platform"));
    assert!(told(apart).starts_with("a message from lister-0 to lister-1: "));
}

/// A walk in a table of states: what an actor does is drawn from a number, once and for all.
#[derive(Clone)]
struct Table(u64);

impl Table {
    fn apply(&self, cell: u64, state: &mut u8, out: &mut Out<Self>) {
        let mut random = simurgh_kernel::random::Random::new(self.0, cell);
        match random.below(4) {
            0 => return,
            1 => *state = (*state + out.choose(2) as u8 + 1).min(5),
            _ => *state = (*state + 1).min(5),
        }
        if *state < 5 {
            for _ in 0..random.below(3) {
                out.send(ActorId(random.below(3) as u32), random.below(4) as u8);
            }
        }
        match random.below(4) {
            0 => out.set_timer((), Duration::from_millis(5)..Duration::from_millis(50)),
            1 => out.cancel_timer(()),
            _ => {}
        }
    }
}

impl Actor for Table {
    type Msg = u8;
    type State = u8;
    type Timer = ();
    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        out.set_timer((), Duration::from_millis(5)..Duration::from_millis(50));
        out.send(ActorId(1), 0);
        0
    }
    fn on_msg(&self, state: &mut u8, from: ActorId, msg: &u8, out: &mut Out<Self>) {
        self.apply(u64::from(*state) * 100 + u64::from(*msg) * 10 + u64::from(from.0), state, out);
    }
    fn on_timeout(&self, state: &mut u8, (): &(), out: &mut Out<Self>) {
        self.apply(1000 + u64::from(*state), state, out);
    }
}

impl Durable for Table {
    type Stored = u8;
    fn stored(&self, state: &u8) -> u8 {
        *state / 2
    }
    fn on_recover(&self, stored: &u8, out: &mut Out<Self>) -> u8 {
        out.send(ActorId(2), 3);
        *stored
    }
}

/// What a simulation does is one of the ways that a checker knows: its schedule is followed through the handlers, with the
/// same states in the end.
#[test]
fn a_checker_follows_what_was_simulated() {
    let (cases, mut steps) = (simurgh_testing::cases(400), 0);
    for seed in 0..cases {
        let network = [Network::Unordered, Network::Ordered, Network::Duplicating][seed as usize % 3];
        let tables = [0, 1, 2].map(|place| Table(seed * 3 + place));
        let [one, two, three] = tables;
        let system = System::new().durable(one).actor(two).durable(three).network(network).lossy().crashes(2);
        let system = Arc::new(system);
        let crash = 0.01 * (seed % 7) as f64;
        let report = Simulation::new(Arc::clone(&system), Platform::builtin())
            .loss(0.1)
            .duplication(if network == Network::Duplicating { 0.2 } else { 0.0 })
            .seed(seed)
            .crash(ONE, crash)
            .recover(ONE, crash + 0.01)
            .crash(TWO, 0.02)
            .recover(TWO, 0.03)
            .record()
            .run(Some(1.0))
            .expect("it runs");
        let schedule = report.schedule.expect("it was kept");
        let last = schedule.steps.len();
        assert_eq!(report.dates.len(), last);
        assert!(report.dates.is_sorted());
        steps += last;
        let replayed =
            system.replay(&schedule).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{schedule}"));
        for (node, text) in report.nodes.iter().zip(replayed.actors_after(last)) {
            assert_eq!(Some(node.state.as_str()), text.split(", timers").next(), "seed {seed}");
        }
    }
    assert!(cases < 400 || steps > 4000, "{steps} steps");
}
