//! Atomic commit in two phases (Gray: *Notes on data base operating systems*, 1978), by nodes that crash and recover: a
//! transaction is committed everywhere or nowhere.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};
use simurgh::clap;
use simurgh_deploy::{Arguments, Deployment, Error};
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::{Actor, ActorId, Durable, IdSet, Network, Out, System, agree, local};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// How many nodes take part, beside the coordinator; under deploy, the deployment file says so
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    participants: u32,
    /// The coordinator tells its decision before it is on its disk
    #[arg(long)]
    bug: bool,
}

#[derive(clap::Args)]
struct CheckOnly {
    /// How many nodes may be down at a time; with none, everybody has to know in the end
    #[arg(long, value_name = "N", default_value_t = 1)]
    crashes: usize,
    /// The coordinator may crash for good; nobody else does
    #[arg(long)]
    blocking: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Msg {
    /// Can you commit?
    Prepare,
    Yes,
    No,
    /// What became of it: whether it is committed.
    Decision(bool),
    /// What became of it?
    Ask,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Timer {
    /// The coordinator waits no longer for votes.
    GiveUp,
    /// The coordinator crashes for good.
    End,
    /// Something may have been lost.
    Again,
}

/// The first node.
struct Coordinator {
    participants: Vec<ActorId>,
    persistent: bool,
    mortal: bool,
    bug: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Coordination {
    /// These have voted yes.
    Asking(IdSet),
    Decided(bool),
    /// It has crashed for good.
    Gone,
}

impl Coordinator {
    fn decide(&self, state: &mut Coordination, commit: bool, out: &mut Out<Self>) {
        *state = Coordination::Decided(commit);
        out.cancel_timer(Timer::GiveUp);
        out.cancel_timer(Timer::Again);
        out.broadcast(self.participants.iter().copied(), Msg::Decision(commit));
    }
}

impl Actor for Coordinator {
    type Msg = Msg;
    type State = Coordination;
    type Timer = Timer;

    fn on_start(&self, out: &mut Out<Self>) -> Coordination {
        out.broadcast(self.participants.iter().copied(), Msg::Prepare);
        out.set_timer(Timer::GiveUp, Duration::from_secs(2));
        if self.persistent {
            out.set_timer(Timer::Again, Duration::from_millis(300));
        }
        if self.mortal {
            out.set_timer(Timer::End, Duration::from_secs(1));
        }
        Coordination::Asking(IdSet::default())
    }

    fn on_msg(&self, state: &mut Coordination, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        match (&mut *state, msg) {
            (Coordination::Asking(yes), Msg::Yes) => {
                yes.insert(from);
                if yes.len() == self.participants.len() {
                    self.decide(state, true, out);
                }
            }
            (Coordination::Asking(_), Msg::No) => self.decide(state, false, out),
            (Coordination::Decided(commit), Msg::Ask) => out.send(from, Msg::Decision(*commit)),
            _ => {}
        }
    }

    fn on_timeout(&self, state: &mut Coordination, timer: &Timer, out: &mut Out<Self>) {
        match (timer, &*state) {
            (Timer::End, _) => {
                *state = Coordination::Gone;
                out.cancel_timer(Timer::GiveUp);
            }
            (Timer::GiveUp, Coordination::Asking(_)) => self.decide(state, false, out),
            (Timer::Again, Coordination::Asking(yes)) => {
                let silent = self.participants.iter().filter(|participant| !yes.contains(**participant));
                out.broadcast(silent.copied(), Msg::Prepare);
                out.set_timer(Timer::Again, Duration::from_millis(300));
            }
            _ => {}
        }
    }
}

/// The decision is on the disk before anybody hears of it. Where there is none, nobody has heard of one, and it is no.
impl Durable for Coordinator {
    type Stored = Option<bool>;

    fn stored(&self, state: &Coordination) -> Option<bool> {
        match state {
            Coordination::Decided(commit) if !self.bug => Some(*commit),
            _ => None,
        }
    }

    fn on_recover(&self, stored: &Option<bool>, out: &mut Out<Self>) -> Coordination {
        let mut state = Coordination::Asking(IdSet::default());
        self.decide(&mut state, stored.unwrap_or(false), out);
        state
    }
}

/// One of the others.
struct Participant {
    persistent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Participation {
    Working,
    /// It has voted yes: only the coordinator knows what becomes of it.
    Prepared,
    Done(bool),
}

impl Participation {
    fn outcome(&self) -> Option<bool> {
        match self {
            Self::Done(commit) => Some(*commit),
            Self::Working | Self::Prepared => None,
        }
    }
}

impl Participant {
    /// Whether it votes no. A checker tries both; in a run it is one of eight who does.
    fn refuses(&self, out: &mut Out<Self>) -> bool {
        out.choose(if self.persistent { 8 } else { 2 }) == 1
    }

    fn wait(&self, out: &mut Out<Self>) {
        if self.persistent {
            out.set_timer(Timer::Again, Duration::from_millis(300)..Duration::from_millis(600));
        }
    }
}

impl Actor for Participant {
    type Msg = Msg;
    type State = Participation;
    type Timer = Timer;

    fn on_start(&self, _: &mut Out<Self>) -> Participation {
        Participation::Working
    }

    fn on_msg(&self, state: &mut Participation, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        match (&*state, msg) {
            (Participation::Working, Msg::Prepare) if self.refuses(out) => {
                *state = Participation::Done(false);
                out.send(from, Msg::No);
            }
            (Participation::Working | Participation::Prepared, Msg::Prepare) => {
                *state = Participation::Prepared;
                out.send(from, Msg::Yes);
                self.wait(out);
            }
            (Participation::Done(false), Msg::Prepare) => out.send(from, Msg::No),
            (Participation::Working | Participation::Prepared, Msg::Decision(commit)) => {
                *state = Participation::Done(*commit);
                out.cancel_timer(Timer::Again);
            }
            _ => {}
        }
    }

    fn on_timeout(&self, state: &mut Participation, _: &Timer, out: &mut Out<Self>) {
        if *state == Participation::Prepared {
            out.send(ActorId(0), Msg::Ask);
            self.wait(out);
        }
    }
}

impl Durable for Participant {
    type Stored = Participation;

    fn stored(&self, state: &Participation) -> Participation {
        state.clone()
    }

    fn on_recover(&self, stored: &Participation, out: &mut Out<Self>) -> Participation {
        if *stored == Participation::Prepared {
            self.wait(out);
        }
        stored.clone()
    }
}

fn system(options: &Options, persistent: bool, mortal: bool) -> System<Msg> {
    let participants = (1..=options.participants).map(ActorId).collect();
    let first = System::new().durable(Coordinator { participants, persistent, mortal, bug: options.bug });
    (0..options.participants)
        .fold(first, |system, _| system.durable(Participant { persistent }))
        .always("all or none", agree(Participation::outcome))
}

fn checked(options: &Options, only: &CheckOnly) -> System<Msg> {
    let crashes = if only.blocking { 0 } else { only.crashes };
    // Who recovers says what it said before: as often as that may be, it is the same message.
    let network = if crashes > 0 { Network::Duplicating } else { Network::Unordered };
    let system = system(options, false, only.blocking)
        .network(network)
        .crashes(crashes)
        .sometimes("it is committed", local(|state: &Participation| *state == Participation::Done(true)));
    if crashes > 0 {
        return system;
    }
    system.eventually("everybody knows", local(|state: &Participation| state.outcome().is_some()))
}

fn simulated(options: &Options) -> System<Msg> {
    system(options, true, false)
        .eventually("everybody knows", local(|state: &Participation| state.outcome().is_some()))
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    let is_first = |deployment: &Deployment, name: &str| Ok::<_, Error>(deployment.find(name)? == ActorId(0));
    let first =
        Deployment::read(&arguments.file).and_then(|deployment| is_first(&deployment, &arguments.node));
    let mut told = None;
    if first.is_ok_and(|first| first) {
        return arguments.run(|name, deployment| {
            let participants = deployment.actors().skip(1).collect();
            let node = Coordinator { participants, persistent: true, mortal: false, bug: options.bug };
            let node = simurgh_deploy::Node::durable(node, name, deployment)?;
            Ok(node.watch(move |state: &Coordination| tell(state, &mut told)))
        });
    }
    arguments.run(|name, deployment| {
        let node = simurgh_deploy::Node::durable(Participant { persistent: true }, name, deployment)?;
        Ok(node.watch(move |state: &Participation| tell(state, &mut told)))
    })
}

/// Says what a node is, whenever that has changed.
fn tell(state: &impl std::fmt::Debug, told: &mut Option<String>) {
    let text = format!("{state:?}");
    if told.as_ref() != Some(&text) {
        println!("{text}");
        *told = Some(text);
    }
}

fn main() -> ExitCode {
    let protocol = Protocol { engine: Engine::Bfs, check: checked, run: simulated, deploy };
    protocol.main(&MEMORY)
}
