//! A replicated log by majority over real processes: one of three is killed and started again every second, and nothing
//! that was committed is lost, nor do two nodes ever disagree. The same actor is checked first.
//!
//! Each place of the log is decided by single-decree Paxos (Lamport: *The part-time parliament*, 1998). Nodes propose
//! values of their own without end; who is behind learns what was decided when it proposes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_deploy::{Deployment, Node};
use simurgh_protocol::{Actor, ActorId, Durable, IdSet, Network, Out, System, local, pairwise};

type Ballot = (u32, u32);
/// Who proposed it, and the how manyth it is of that node.
type Value = (u32, u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Msg {
    Prepare(usize, Ballot),
    Promise(usize, Ballot, Option<(Ballot, Value)>),
    Accept(usize, Ballot, Value),
    Accepted(usize, Ballot),
    Decided(usize, Value),
}

/// What a node has promised and accepted for a place of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Place {
    promised: Ballot,
    accepted: Option<(Ballot, Value)>,
}

/// What survives a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Disk {
    /// What is decided, from the first place on without a gap.
    log: Vec<Value>,
    /// Places that are not decided.
    places: BTreeMap<usize, Place>,
    /// How many rounds and values this node has begun.
    rounds: u32,
    values: u32,
}

/// A proposal for the first place that is not decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Proposal {
    ballot: Ballot,
    promises: IdSet,
    best: Option<(Ballot, Value)>,
    value: Option<Value>,
    acceptances: IdSet,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    disk: Disk,
    proposal: Option<Proposal>,
    /// Proposals in a row that came to nothing: who fails waits longer, so that slow disks do not make nodes outbid
    /// each other for ever.
    failed: u32,
}

struct Replica {
    nodes: usize,
    /// How many rounds a node may begin, so that a checker comes to an end.
    rounds_max: u32,
}

impl Replica {
    fn all(&self) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.nodes).map(ActorId::from)
    }

    fn propose(&self, state: &mut State, out: &mut Out<Self>) {
        if state.disk.rounds < self.rounds_max {
            state.disk.rounds += 1;
            let ballot = (state.disk.rounds, out.me().0);
            let none = IdSet::default();
            state.proposal =
                Some(Proposal { ballot, promises: none, best: None, value: None, acceptances: none });
            out.broadcast(self.all(), Msg::Prepare(state.disk.log.len(), ballot));
            let least = Duration::from_millis(30) * (1 << state.failed.min(4));
            state.failed += 1;
            out.set_timer((), least..3 * least);
        }
    }

    fn learn(&self, state: &mut State, place: usize, value: Value, out: &mut Out<Self>) {
        if place == state.disk.log.len() {
            state.disk.log.push(value);
            state.disk.places.remove(&place);
            state.proposal = None;
            state.failed = 0;
            out.set_timer((), Duration::from_millis(1)..Duration::from_millis(20));
        }
    }
}

impl Actor for Replica {
    type Msg = Msg;
    type State = State;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> State {
        self.on_recover(&Disk::default(), out)
    }

    fn on_msg(&self, state: &mut State, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let majority = self.nodes / 2 + 1;
        match *msg {
            Msg::Prepare(place, _) | Msg::Accept(place, ..) if place < state.disk.log.len() => {
                out.send(from, Msg::Decided(place, state.disk.log[place]));
            }
            Msg::Prepare(place, ballot) => {
                let here = state.disk.places.entry(place).or_default();
                if ballot > here.promised {
                    here.promised = ballot;
                    out.send(from, Msg::Promise(place, ballot, here.accepted));
                }
            }
            Msg::Accept(place, ballot, value) => {
                let here = state.disk.places.entry(place).or_default();
                if ballot >= here.promised {
                    *here = Place { promised: ballot, accepted: Some((ballot, value)) };
                    out.send(from, Msg::Accepted(place, ballot));
                }
            }
            Msg::Promise(place, ballot, accepted) => {
                let Some(proposal) = &mut state.proposal else { return };
                if place != state.disk.log.len() || proposal.ballot != ballot || proposal.value.is_some() {
                    return;
                }
                proposal.promises.insert(from);
                proposal.best = proposal.best.max(accepted);
                if proposal.promises.len() >= majority {
                    let value = proposal.best.map_or((out.me().0, state.disk.values), |(_, value)| value);
                    state.disk.values += u32::from(proposal.best.is_none());
                    proposal.value = Some(value);
                    out.broadcast(self.all(), Msg::Accept(place, ballot, value));
                }
            }
            Msg::Accepted(place, ballot) => {
                let Some(proposal) = &mut state.proposal else { return };
                let Some(value) = proposal.value else { return };
                if place != state.disk.log.len() || proposal.ballot != ballot {
                    return;
                }
                proposal.acceptances.insert(from);
                if proposal.acceptances.len() >= majority {
                    let me = out.me();
                    out.broadcast(self.all().filter(|&other| other != me), Msg::Decided(place, value));
                    self.learn(state, place, value, out);
                }
            }
            Msg::Decided(place, value) => self.learn(state, place, value, out),
        }
    }

    fn on_timeout(&self, state: &mut State, (): &(), out: &mut Out<Self>) {
        self.propose(state, out);
    }
}

impl Durable for Replica {
    type Stored = Disk;

    fn stored(&self, state: &State) -> Disk {
        state.disk.clone()
    }

    fn on_recover(&self, stored: &Disk, out: &mut Out<Self>) -> State {
        out.set_timer((), Duration::from_millis(1)..Duration::from_millis(50));
        State { disk: stored.clone(), ..State::default() }
    }
}

/// The actor that the processes run, with loss and crashes: as far as a search of 200,000 states comes, logs agree.
#[test]
fn a_checker_finds_no_disagreement() {
    let agree = |one: &State, other: &State| one.disk.log.iter().zip(&other.disk.log).all(|(a, b)| a == b);
    let replica = |rounds_max| Replica { nodes: 3, rounds_max };
    let system = System::new()
        .durable(replica(1))
        .durable(replica(1))
        .durable(replica(0))
        .network(Network::Unordered)
        .lossy()
        .crashes(1)
        .always("logs agree", pairwise(agree))
        .sometimes("something is committed", local(|state: &State| !state.disk.log.is_empty()));
    let report = system.checker().states_max(200_000).bfs();
    assert!(report.violation().is_none(), "{report:?}");
}

/// Not a test of its own: this is what the processes of the test below run.
#[test]
fn node_process() {
    let (Ok(file), Ok(name)) = (std::env::var("LOG_FILE"), std::env::var("LOG_NODE")) else { return };
    let deployment = Deployment::read(file).expect("a deployment");
    let replica = Replica { nodes: deployment.nodes().len(), rounds_max: u32::MAX };
    let mut told = 0;
    let node = Node::durable(replica, &name, &deployment).expect("it is there").watch(move |state| {
        for (place, value) in state.disk.log.iter().enumerate().skip(told) {
            println!("\ncommitted {place} {} {}", value.0, value.1);
        }
        told = state.disk.log.len();
    });
    println!("\nstopped {}", node.run().expect("it runs"));
}

/// What a process says.
enum Said {
    Committed { node: usize, place: usize, value: String },
    Stopped { counters: String },
}

/// A process, killed when it is dropped.
struct Process(Child);

impl Process {
    fn start(file: &Path, node: usize, said: &Sender<Said>) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
        command.args(["--exact", "log::node_process", "--nocapture", "--test-threads", "1"]);
        command.env("LOG_FILE", file).env("LOG_NODE", node.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a process starts");
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        let said = said.clone();
        #[expect(clippy::disallowed_methods, reason = "the outputs of processes are read beside each other")]
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((place, value)) =
                    line.strip_prefix("committed ").and_then(|rest| rest.split_once(' '))
                {
                    // A line that was cut by the kill says nothing.
                    if let Ok(place) = place.parse()
                        && value.contains(' ')
                    {
                        let _ = said.send(Said::Committed { node, place, value: value.to_owned() });
                    }
                } else if let Some(counters) = line.strip_prefix("stopped ") {
                    let _ = said.send(Said::Stopped { counters: counters.to_owned() });
                }
            }
        });
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().expect("it can be killed");
        self.0.wait().expect("it ends");
    }

    /// Asks it to stop, as `kill PID` does.
    fn stop(mut self) {
        let asked = Command::new("kill").arg(self.0.id().to_string()).status().expect("kill is there");
        assert!(asked.success());
        assert!(self.0.wait().expect("it ends").success(), "a node that is asked to stop ends well");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was committed where, by whatever anyone said in any of its incarnations.
#[derive(Default)]
struct Committed {
    values: BTreeMap<usize, String>,
    lengths: [usize; 3],
    stopped: Vec<String>,
}

impl Committed {
    fn hear(&mut self, said: &Receiver<Said>) {
        for one in said.try_iter() {
            match one {
                Said::Committed { node, place, value } => {
                    let first = self.values.entry(place).or_insert_with(|| value.clone());
                    assert_eq!(
                        *first, value,
                        "place {place} was committed twice, the second time by node {node}"
                    );
                    self.lengths[node] = self.lengths[node].max(place + 1);
                }
                Said::Stopped { counters } => self.stopped.push(counters),
            }
        }
    }
}

/// Tenths of a second that are waited for what must come.
const PATIENCE: usize = 300;

fn killed_every_second(transport: &str, seconds: usize) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("simurgh-log-{transport}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let ports = held.map(|listener| listener.local_addr().expect("an address").port());
    let nodes: String = (0..3)
        .map(|node| format!("[[node]]\nname = \"n{node}\"\naddress = \"127.0.0.1:{}\"\n", ports[node]))
        .collect();
    let text =
        format!("transport = \"{transport}\"\nkey = \"a key for this test\"\nstorage = \"state\"\n{nodes}");
    let file = folder.join("log.toml");
    std::fs::write(&file, text).expect("it is written");

    let (sender, said) = channel();
    let mut committed = Committed::default();
    let mut processes = [0, 1, 2].map(|node| Some(Process::start(&file, node, &sender)));
    std::thread::sleep(Duration::from_millis(500));
    let mut before = 0;
    for second in 0..seconds {
        let victim = second % 3;
        processes[victim].take().expect("it runs").kill();
        std::thread::sleep(Duration::from_millis(500));
        processes[victim] = Some(Process::start(&file, victim, &sender));
        std::thread::sleep(Duration::from_millis(500));
        // All three are up: how soon they go on is up to the machine, that they do is not.
        for _ in 0..PATIENCE {
            committed.hear(&said);
            if committed.values.len() > before {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(committed.values.len() > before, "nothing was committed since kill {second}");
        before = committed.values.len();
    }
    // Whoever is behind catches up; then all have all that was ever said to be committed.
    for _ in 0..PATIENCE {
        committed.hear(&said);
        if committed.lengths.iter().all(|&length| length >= before) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    for process in processes.iter_mut() {
        process.take().expect("it runs").stop();
    }
    for _ in 0..PATIENCE {
        committed.hear(&said);
        if committed.stopped.len() == 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(committed.lengths.iter().all(|&length| length >= before), "{:?} of {before}", committed.lengths);
    assert!(committed.values.keys().copied().eq(0..committed.values.len()), "there is a gap");
    assert_eq!(committed.stopped.len(), 3, "each tells what it counted");
    println!("{transport}: {seconds} kills, {} committed, none lost", committed.values.len());
    committed.stopped.iter().for_each(|counters| println!("{counters}"));
    std::fs::remove_dir_all(&folder).expect("it is removed");
}

#[test]
fn nothing_committed_is_lost_over_tcp() {
    killed_every_second("tcp", 6);
}

#[test]
fn nothing_committed_is_lost_over_udp() {
    killed_every_second("udp", 6);
}

#[test]
#[ignore = "takes a minute"]
fn nothing_committed_is_lost_in_a_minute() {
    killed_every_second("tcp", 60);
}
