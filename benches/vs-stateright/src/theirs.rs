//! The same protocol on Stateright: its own clients, its own linearizability tester, and servers that do what ours do.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, Network, Out, majority, model_peers};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;
use stateright::{Expectation, Model, Property};

type Ballot = (u32, Id);
type Proposal = (u64, Id, char);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inner {
    Prepare(Ballot),
    Prepared(Ballot, Option<(Ballot, Proposal)>),
    Accept(Ballot, Proposal),
    Accepted(Ballot),
    Decided(Ballot, Proposal),
}

type Msg = RegisterMsg<u64, char, Inner>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerState {
    ballot: Ballot,
    proposal: Option<Proposal>,
    prepares: BTreeMap<Id, Option<(Ballot, Proposal)>>,
    accepts: BTreeSet<Id>,
    accepted: Option<(Ballot, Proposal)>,
    decided: bool,
}

#[derive(Clone)]
pub struct Server {
    peers: Vec<Id>,
}

impl Actor for Server {
    type Msg = Msg;
    type State = ServerState;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> ServerState {
        ServerState {
            ballot: (0, Id::from(0)),
            proposal: None,
            prepares: BTreeMap::new(),
            accepts: BTreeSet::new(),
            accepted: None,
            decided: false,
        }
    }

    fn on_msg(&self, me: Id, state: &mut Cow<'_, ServerState>, from: Id, msg: Msg, out: &mut Out<Self>) {
        if state.decided {
            if let (RegisterMsg::Get(request), Some((_, (_, _, value)))) = (msg, state.accepted) {
                out.send(from, RegisterMsg::GetOk(request, value));
            }
            return;
        }
        let tell =
            |inner: Inner, out: &mut Out<Self>| out.broadcast(&self.peers, &RegisterMsg::Internal(inner));
        match msg {
            RegisterMsg::Put(request, value) if state.proposal.is_none() => {
                let state = state.to_mut();
                state.proposal = Some((request, from, value));
                state.ballot = (state.ballot.0 + 1, me);
                state.accepts.clear();
                state.prepares.clear();
                state.prepares.insert(me, state.accepted);
                tell(Inner::Prepare(state.ballot), out);
            }
            RegisterMsg::Internal(Inner::Prepare(ballot)) if state.ballot < ballot => {
                state.to_mut().ballot = ballot;
                out.send(from, RegisterMsg::Internal(Inner::Prepared(ballot, state.accepted)));
            }
            RegisterMsg::Internal(Inner::Prepared(ballot, last)) if ballot == state.ballot => {
                let state = state.to_mut();
                state.prepares.insert(from, last);
                if state.prepares.len() == majority(self.peers.len() + 1) {
                    let latest = state.prepares.values().max().copied().flatten();
                    let proposal =
                        latest.map(|(_, proposal)| proposal).or(state.proposal).expect("one was put");
                    state.proposal = Some(proposal);
                    state.accepted = Some((ballot, proposal));
                    state.accepts.insert(me);
                    tell(Inner::Accept(ballot, proposal), out);
                }
            }
            RegisterMsg::Internal(Inner::Accept(ballot, proposal)) if state.ballot <= ballot => {
                let state = state.to_mut();
                state.ballot = ballot;
                state.accepted = Some((ballot, proposal));
                out.send(from, RegisterMsg::Internal(Inner::Accepted(ballot)));
            }
            RegisterMsg::Internal(Inner::Accepted(ballot)) if ballot == state.ballot => {
                let state = state.to_mut();
                state.accepts.insert(from);
                if state.accepts.len() == majority(self.peers.len() + 1) {
                    state.decided = true;
                    let proposal = state.proposal.expect("one was put");
                    tell(Inner::Decided(ballot, proposal), out);
                    out.send(proposal.1, RegisterMsg::PutOk(proposal.0));
                }
            }
            RegisterMsg::Internal(Inner::Decided(ballot, proposal)) => {
                let state = state.to_mut();
                state.ballot = ballot;
                state.accepted = Some((ballot, proposal));
                state.decided = true;
            }
            _ => {}
        }
    }
}

type History = LinearizabilityTester<Id, Register<char>>;

/// Three servers, and clients that write once and then read.
pub fn model(clients: usize) -> ActorModel<RegisterActor<Server>, (), History> {
    let servers = 3;
    ActorModel::new((), LinearizabilityTester::new(Register('\0')))
        .actors((0..servers).map(|at| RegisterActor::Server(Server { peers: model_peers(at, servers) })))
        .actors((0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count: servers }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "linearizable", |_, state| {
            state.history.serialized_history().is_some()
        })
        .property(Expectation::Sometimes, "value chosen", |_, state| {
            state.network.iter_deliverable().any(|envelope| matches!(envelope.msg, RegisterMsg::GetOk(..)))
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}

/// A number that goes from 0 to 1 and back for ever; it is to become 2 some time.
#[derive(Clone)]
pub struct Lasso;

impl Model for Lasso {
    type State = u8;
    type Action = ();

    fn init_states(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, _: &u8, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next_state(&self, state: &u8, (): ()) -> Option<u8> {
        Some(1 - *state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::eventually("becomes two", |_, state| *state == 2)]
    }
}
