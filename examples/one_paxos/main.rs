//! 1Paxos: one active acceptor, one leader, and a second consensus (PaxosUtility, which is Paxos itself) on who they are.
//!
//! The leader sends its proposals to the acceptor alone, and what that has accepted is chosen. Who suspects the leader
//! puts itself into the log of PaxosUtility; once that has been chosen, it is the leader, asks the log who the acceptor
//! is, and asks the acceptor what was accepted before it proposes anything itself.
#![forbid(unsafe_code)]

#[path = "../paxos/synod.rs"]
mod synod;

use std::process::ExitCode;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};
use simurgh::clap;
use simurgh_deploy::Arguments;
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::{Actor, ActorId, Out, System, agree, local};

use synod::{Ballot, Place, Synod, SynodMsg};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// At the start, nodes take the first member for the acceptor, as `*(members.begin()++)` gives it, in place of the second
    #[arg(long)]
    bug: bool,
}

#[derive(clap::Args)]
struct CheckOnly {
    /// Starts where node 2 has become the leader, its value was accepted by node 1, and nodes 1 and 2 have learned it
    #[arg(long)]
    live: bool,
}

/// What the log of PaxosUtility is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Entry {
    LeaderChange(ActorId),
    AcceptorChange(ActorId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Msg {
    /// Will you follow this leader?
    Prepare(Ballot),
    /// Yes, and this was accepted.
    Promise(Ballot, Option<Value>),
    /// Accept this value.
    Propose(Ballot, Value),
    /// It was accepted.
    Learn(Value),
    /// Something about the next entry of the log.
    Utility(SynodMsg<Entry>),
}

type Value = u32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Timer {
    /// The application proposes a value.
    Propose,
    /// The fault detector takes the leader for dead.
    Suspect,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// Whom this node takes for the leader, and for the acceptor.
    leader: ActorId,
    acceptor: ActorId,
    /// The ballot of this node when it leads.
    ballot: Ballot,
    /// As an acceptor: whom it follows, and what it has accepted.
    promised: Option<Ballot>,
    accepted: Option<Value>,
    /// As a learner.
    chosen: Option<Value>,
    /// The entry after those that everybody begins with.
    utility: Synod<Entry>,
}

struct Node {
    members: Vec<ActorId>,
    /// Whether it tries again as long as it knows of nothing that was chosen: messages may have been lost.
    persistent: bool,
    bug: bool,
}

impl Node {
    /// The log of PaxosUtility, as far as a node knows it.
    fn log(&self, state: &State) -> Vec<Entry> {
        let first = [Entry::LeaderChange(self.members[0]), Entry::AcceptorChange(self.members[1])];
        first.into_iter().chain(state.utility.chosen.clone()).collect()
    }

    /// The active acceptor: the last one in the log.
    fn active_acceptor(&self, state: &State) -> ActorId {
        let acceptors = self.log(state).into_iter().rev().find_map(|entry| match entry {
            Entry::AcceptorChange(acceptor) => Some(acceptor),
            Entry::LeaderChange(_) => None,
        });
        acceptors.expect("the log begins with an acceptor")
    }

    /// Whether a leader that is followed has not heard so.
    fn asks_again(&self, state: &State, ballot: Ballot) -> bool {
        self.persistent && state.promised == Some(ballot)
    }

    fn value(me: ActorId) -> Value {
        me.0 + 1
    }

    fn utility(&self, me: ActorId) -> Place<'_> {
        Place { me, all: &self.members, bug: false }
    }
}

impl Actor for Node {
    type Msg = Msg;
    type State = State;
    type Timer = Timer;

    fn on_start(&self, out: &mut Out<Self>) -> State {
        let (me, leader) = (out.me(), self.members[0]);
        let acceptor = if self.bug { self.members[0] } else { self.members[1] };
        if me == leader {
            out.set_timer(Timer::Propose, Duration::ZERO..Duration::from_secs(2));
        }
        if me == self.members[2] {
            out.set_timer(Timer::Suspect, Duration::ZERO..Duration::from_secs(4));
        }
        State {
            leader,
            acceptor,
            ballot: (0, me),
            promised: None,
            accepted: None,
            chosen: None,
            utility: Synod::default(),
        }
    }

    fn on_timeout(&self, state: &mut State, timer: &Timer, out: &mut Out<Self>) {
        let me = out.me();
        if self.persistent {
            if state.chosen.is_some() {
                return;
            }
            out.set_timer(timer.clone(), Duration::from_secs(1)..Duration::from_secs(2));
            if *timer == Timer::Suspect && state.leader == me {
                return out.send(state.acceptor, Msg::Prepare(state.ballot));
            }
        }
        match timer {
            // Who takes itself for the leader goes straight to the acceptor, without asking PaxosUtility who that is.
            Timer::Propose if state.leader == me => {
                out.send(state.acceptor, Msg::Propose(state.ballot, Self::value(me)));
            }
            Timer::Propose => {}
            Timer::Suspect => {
                let place = self.utility(me);
                state
                    .utility
                    .propose(&place, Entry::LeaderChange(me), &mut |to, msg| out.send(to, Msg::Utility(msg)));
            }
        }
    }

    fn on_msg(&self, state: &mut State, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let me = out.me();
        match msg {
            Msg::Utility(msg) => {
                let before = state.utility.chosen.clone();
                state
                    .utility
                    .handle(&self.utility(me), from, msg, &mut |to, msg| out.send(to, Msg::Utility(msg)));
                if let (None, Some(Entry::LeaderChange(leader))) = (before, state.utility.chosen.clone()) {
                    state.leader = leader;
                    if leader == me {
                        state.acceptor = self.active_acceptor(state);
                        state.ballot = (state.ballot.0 + 1, me);
                        out.send(state.acceptor, Msg::Prepare(state.ballot));
                    }
                }
            }
            Msg::Prepare(ballot) if state.promised < Some(*ballot) || self.asks_again(state, *ballot) => {
                state.promised = Some(*ballot);
                out.send(from, Msg::Promise(*ballot, state.accepted));
            }
            Msg::Promise(ballot, accepted) if state.leader == me && *ballot == state.ballot => {
                out.send(from, Msg::Propose(*ballot, accepted.unwrap_or_else(|| Self::value(me))));
            }
            Msg::Propose(ballot, value) if state.promised <= Some(*ballot) => {
                state.promised = Some(*ballot);
                // There is one acceptor, so what it has accepted first is chosen for ever.
                let value = *state.accepted.get_or_insert(*value);
                out.broadcast(self.members.iter().copied(), Msg::Learn(value));
            }
            Msg::Learn(value) => {
                state.chosen.get_or_insert(*value);
            }
            _ => {}
        }
    }
}

fn checked(options: &Options, only: &CheckOnly) -> System<Msg> {
    let members: Vec<ActorId> = (0..3).map(ActorId).collect();
    let node = || Node { members: members.clone(), persistent: false, bug: options.bug };
    let system = if only.live {
        let [first, second, third] = [members[0], members[1], members[2]];
        let ballot = (1, third);
        let at_first = |me: ActorId| State {
            leader: first,
            acceptor: if options.bug { first } else { second },
            ballot: (0, me),
            promised: None,
            accepted: None,
            chosen: None,
            utility: Synod::default(),
        };
        let chosen = Some(Node::value(third));
        let utility = || Synod { chosen: Some(Entry::LeaderChange(third)), ..Synod::default() };
        let acceptor = State {
            leader: third,
            promised: Some(ballot),
            accepted: chosen,
            chosen,
            utility: utility(),
            ..at_first(second)
        };
        let leader =
            State { leader: third, acceptor: second, ballot, chosen, utility: utility(), ..at_first(third) };
        System::new()
            .resumed(node(), at_first(first), vec![Timer::Propose])
            .resumed(node(), acceptor, vec![])
            .resumed(node(), leader, vec![])
    } else {
        System::new().actors((0..3).map(|_| node()))
    };
    agreement(system).sometimes("the third is followed", local(|state: &State| state.chosen == Some(3)))
}

fn simulated(options: &Options) -> System<Msg> {
    let members: Vec<ActorId> = (0..3).map(ActorId).collect();
    let node = |_| Node { members: members.clone(), persistent: true, bug: options.bug };
    agreement(System::new().actors((0..3).map(node)))
        .eventually("all know what is chosen", local(|state: &State| state.chosen.is_some()))
}

fn agreement(system: System<Msg>) -> System<Msg> {
    system.always("no two nodes choose different values", agree(|state: &State| state.chosen))
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    arguments.run(|name, deployment| {
        let node = Node { members: deployment.actors().collect(), persistent: true, bug: options.bug };
        let mut told = None;
        Ok(simurgh_deploy::Node::new(node, name, deployment)?.watch(move |state: &State| {
            if state.chosen != told {
                told = state.chosen;
                told.iter().for_each(|value| println!("{value} is chosen, {} leads", state.leader));
            }
        }))
    })
}

fn main() -> ExitCode {
    let protocol = Protocol { engine: Engine::Local, check: checked, run: simulated, deploy };
    protocol.main(&MEMORY)
}
