//! A chat: what one types, all others read, in the order in which it was typed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};
use simurgh::{NoOptions, clap};
use simurgh_deploy::{Arguments, Node};
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::{Actor, ActorId, Durable, IdMap, Network, Out, System, local};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// Shows whatever comes, in whatever order
    #[arg(long)]
    bug: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Msg {
    /// To oneself: somebody typed a line.
    Typed(String),
    /// A line, and the how manyth it is of whoever said it.
    Said(u32, String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    said: u32,
    /// The last line of each other that was shown.
    last: IdMap<u32>,
    shown: Vec<(ActorId, u32, String)>,
}

struct Chatter {
    people: usize,
    /// What is said at once, without being typed.
    opening: Vec<&'static str>,
    bug: bool,
}

impl Chatter {
    fn say(&self, state: &mut State, line: &str, out: &mut Out<Self>) {
        state.said += 1;
        let me = out.me();
        let others = (0..self.people).map(ActorId::from).filter(|&other| other != me);
        out.broadcast(others, Msg::Said(state.said, line.to_owned()));
    }
}

impl Actor for Chatter {
    type Msg = Msg;
    type State = State;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> State {
        let mut state = State::default();
        for line in &self.opening {
            self.say(&mut state, line, out);
        }
        state
    }

    fn on_msg(&self, state: &mut State, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        match msg {
            Msg::Typed(line) if from == out.me() => self.say(state, line, out),
            // Nobody types for others.
            Msg::Typed(_) => {}
            Msg::Said(number, line) => {
                // What was overtaken is left out: it would be read as an answer to what came after it.
                if self.bug || state.last.get(from).is_none_or(|last| last < number) {
                    state.last.insert(from, *number);
                    state.shown.push((from, *number, line.clone()));
                }
            }
        }
    }
}

/// How many lines somebody has said survives a crash, so that the others know new lines from old ones.
impl Durable for Chatter {
    type Stored = u32;

    fn stored(&self, state: &State) -> u32 {
        state.said
    }

    fn on_recover(&self, said: &u32, _: &mut Out<Self>) -> State {
        State { said: *said, ..State::default() }
    }
}

/// Whether the lines of each were shown in the order in which they were said.
fn in_order(state: &State) -> bool {
    let shown = &state.shown;
    (0..shown.len())
        .all(|one| shown[..one].iter().all(|before| before.0 != shown[one].0 || before.1 < shown[one].1))
}

/// Two speak, one reads, and the network may lose and exchange what is said.
fn system(options: &Options) -> System<Msg> {
    let bug = options.bug;
    let chatter = |opening: &[&'static str]| Chatter { people: 3, opening: opening.to_vec(), bug };
    System::new()
        .durable(chatter(&["who comes?", "I do"]))
        .durable(chatter(&["hello", "it rains"]))
        .durable(chatter(&[]))
        .network(Network::Unordered)
        .lossy()
        .always("lines are read in order", local(in_order))
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    arguments.run(|node, deployment| {
        let names: Vec<String> = deployment.nodes().iter().map(|peer| peer.name.clone()).collect();
        let chatter = Chatter { people: names.len(), opening: Vec::new(), bug: options.bug };
        let mut told = 0;
        let node = Node::durable(chatter, node, deployment)?.lines(Msg::Typed);
        Ok(node.watch(move |state: &State| {
            for (from, _, line) in state.shown.iter().skip(told) {
                println!("{}: {line}", names[from.index()]);
            }
            told = state.shown.len();
        }))
    })
}

fn main() -> ExitCode {
    let check = |options: &Options, _: &NoOptions| system(options);
    Protocol { engine: Engine::Bfs, check, run: system, deploy }.main(&MEMORY)
}
