//! Single-decree Paxos: three nodes, each of them proposer, acceptor and learner.
#![forbid(unsafe_code)]

mod synod;

use std::process::ExitCode;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use simurgh::clap::{self, Parser};
use simurgh_examples::protocol::{CheckOptions, check};
use simurgh_protocol::{Actor, ActorId, IdMap, Out, System, agree, local};

use synod::{Place, Proposer, Synod, SynodMsg};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(Parser)]
enum Command {
    /// Looks at everything that can happen
    Check {
        #[command(flatten)]
        check: CheckOptions,
        #[command(flatten)]
        options: Options,
    },
}

#[derive(clap::Args)]
struct Options {
    /// How many of the nodes propose, each a value of its own and once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=3))]
    proposals: u32,
    /// A proposer takes the value of the last response, in place of that with the highest ballot
    #[arg(long)]
    bug: bool,
    /// Starts where node 0 has proposed, nodes 0 and 1 have accepted, and only node 0 has learned it; now node 1 proposes
    #[arg(long)]
    live: bool,
}

struct Node {
    all: Vec<ActorId>,
    proposes: bool,
    bug: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Propose;

type Value = u32;

impl Node {
    fn place(&self, me: ActorId) -> Place<'_> {
        Place { me, all: &self.all, bug: self.bug }
    }
}

impl Actor for Node {
    type Msg = SynodMsg<Value>;
    type State = Synod<Value>;
    type Timer = Propose;

    fn on_start(&self, out: &mut Out<Self>) -> Self::State {
        if self.proposes {
            out.set_timer(Propose, Duration::ZERO..Duration::from_secs(60));
        }
        Synod::default()
    }

    fn on_msg(&self, state: &mut Self::State, from: ActorId, msg: &Self::Msg, out: &mut Out<Self>) {
        state.handle(&self.place(out.me()), from, msg, &mut |to, msg| out.send(to, msg));
    }

    fn on_timeout(&self, state: &mut Self::State, Propose: &Propose, out: &mut Out<Self>) {
        let me = out.me();
        state.propose(&self.place(me), me.0 + 1, &mut |to, msg| out.send(to, msg));
    }
}

fn system(options: &Options) -> System<SynodMsg<Value>> {
    let all: Vec<ActorId> = (0..3).map(ActorId).collect();
    let bug = options.bug;
    let node = |proposes: bool| Node { all: all.clone(), proposes, bug };
    let system = if options.live {
        let ballot = (1, ActorId(0));
        let acceptor = || Synod { promised: Some(ballot), accepted: Some((ballot, 1)), ..Synod::default() };
        let mut heard = IdMap::default();
        heard.insert(ActorId(0), ballot);
        heard.insert(ActorId(1), ballot);
        let first = Synod { proposer: Proposer::Asked, heard, chosen: Some(1), ..acceptor() };
        System::new()
            .resumed(node(false), first, vec![])
            .resumed(node(true), acceptor(), vec![Propose])
            .resumed(node(false), Synod::default(), vec![])
    } else {
        System::new().actors((0..3).map(|place| node(place < options.proposals)))
    };
    let system =
        system.always("no two nodes choose different values", agree(|state: &Synod<Value>| state.chosen));
    if options.proposals == 0 && !options.live {
        return system;
    }
    system.sometimes("a value is chosen", local(|state: &Synod<Value>| state.chosen.is_some()))
}

fn main() -> ExitCode {
    let Command::Check { check: how, options } = Command::parse();
    MEMORY.reset_peak_usage();
    check(&system(&options), &how, || MEMORY.peak_usage())
}
