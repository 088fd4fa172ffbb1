//! Single-decree Paxos behind a register, with clients that write once and then read: the protocol that Stateright's own
//! example checks, step for step, so that both have the same states.

use simurgh_protocol::linearizability::{Calls, Register, RegisterAnswer, RegisterAsk};
use simurgh_protocol::{
    Actor, ActorId, Happened, IdMap, IdSet, Out, System, World, history, local, pairwise, world,
};

/// A round and who leads it.
type Ballot = (u32, ActorId);
/// A request, who made it, and the value.
type Proposal = (u64, ActorId, char);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Msg {
    Put(u64, char),
    PutOk(u64),
    Get(u64),
    GetOk(u64, char),
    Prepare(Ballot),
    Prepared(Ballot, Option<(Ballot, Proposal)>),
    Accept(Ballot, Proposal),
    Accepted(Ballot),
    Decided(Ballot, Proposal),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerState {
    ballot: Ballot,
    proposal: Option<Proposal>,
    prepares: IdMap<Option<(Ballot, Proposal)>>,
    accepts: IdSet,
    accepted: Option<(Ballot, Proposal)>,
    decided: bool,
}

pub struct Server {
    peers: Vec<ActorId>,
}

impl Server {
    fn majority(&self) -> usize {
        self.peers.len().div_ceil(2) + 1
    }
}

impl Actor for Server {
    type Msg = Msg;
    type State = ServerState;
    type Timer = ();

    fn on_start(&self, _: &mut Out<Self>) -> ServerState {
        ServerState {
            ballot: (0, ActorId(0)),
            proposal: None,
            prepares: IdMap::default(),
            accepts: IdSet::default(),
            accepted: None,
            decided: false,
        }
    }

    fn on_msg(&self, state: &mut ServerState, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let me = out.me();
        if state.decided {
            if let (Msg::Get(request), Some((_, (_, _, value)))) = (msg, state.accepted) {
                out.send(from, Msg::GetOk(*request, value));
            }
            return;
        }
        match *msg {
            Msg::Put(request, value) if state.proposal.is_none() => {
                state.proposal = Some((request, from, value));
                state.ballot = (state.ballot.0 + 1, me);
                state.accepts = IdSet::default();
                state.prepares.clear();
                state.prepares.insert(me, state.accepted);
                out.broadcast(self.peers.iter().copied(), Msg::Prepare(state.ballot));
            }
            Msg::Prepare(ballot) if state.ballot < ballot => {
                state.ballot = ballot;
                out.send(from, Msg::Prepared(ballot, state.accepted));
            }
            Msg::Prepared(ballot, last) if ballot == state.ballot => {
                state.prepares.insert(from, last);
                if state.prepares.len() == self.majority() {
                    let latest = state.prepares.values().max().copied().flatten();
                    let proposal =
                        latest.map(|(_, proposal)| proposal).or(state.proposal).expect("one was put");
                    state.proposal = Some(proposal);
                    state.accepted = Some((ballot, proposal));
                    state.accepts.insert(me);
                    out.broadcast(self.peers.iter().copied(), Msg::Accept(ballot, proposal));
                }
            }
            Msg::Accept(ballot, proposal) if state.ballot <= ballot => {
                state.ballot = ballot;
                state.accepted = Some((ballot, proposal));
                out.send(from, Msg::Accepted(ballot));
            }
            Msg::Accepted(ballot) if ballot == state.ballot => {
                state.accepts.insert(from);
                if state.accepts.len() == self.majority() {
                    state.decided = true;
                    let proposal = state.proposal.expect("one was put");
                    out.broadcast(self.peers.iter().copied(), Msg::Decided(ballot, proposal));
                    out.send(proposal.1, Msg::PutOk(proposal.0));
                }
            }
            Msg::Decided(ballot, proposal) => {
                state.ballot = ballot;
                state.accepted = Some((ballot, proposal));
                state.decided = true;
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientState {
    awaited: Option<u64>,
    calls: u64,
    /// What it wrote, and what it has read.
    wrote: char,
    read: Option<char>,
}

/// Writes to one server, and then reads from the next.
pub struct Client {
    servers: u32,
}

impl Client {
    fn server(&self, me: ActorId, call: u64) -> ActorId {
        ActorId(((u64::from(me.0) + call) % u64::from(self.servers)) as u32)
    }
}

impl Actor for Client {
    type Msg = Msg;
    type State = ClientState;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> ClientState {
        let me = out.me();
        let (request, value) = (u64::from(me.0), char::from(b'A' + (me.0 - self.servers) as u8));
        out.send(self.server(me, 0), Msg::Put(request, value));
        ClientState { awaited: Some(request), calls: 1, wrote: value, read: None }
    }

    fn on_msg(&self, state: &mut ClientState, _: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let me = out.me();
        match *msg {
            Msg::PutOk(request) if state.awaited == Some(request) => {
                let request = (state.calls + 1) * u64::from(me.0);
                out.send(self.server(me, state.calls), Msg::Get(request));
                state.awaited = Some(request);
                state.calls += 1;
            }
            Msg::GetOk(request, value) if state.awaited == Some(request) => {
                state.awaited = None;
                state.calls += 1;
                state.read = Some(value);
            }
            _ => {}
        }
    }
}

fn actors(clients: u32) -> System<Msg> {
    let servers = 3;
    let peers = |me: u32| (0..servers).filter(|other| *other != me).map(ActorId).collect();
    System::new()
        .actors((0..servers).map(|me| Server { peers: peers(me) }))
        .actors((0..clients).map(|_| Client { servers }))
}

/// With the properties of Stateright's example: linearizability of the history, and that a value is chosen at all.
pub fn with_history(clients: u32) -> System<Msg> {
    let tell = |calls: &mut Calls<Register<char>>, happened: Happened<'_, Msg>| match happened {
        Happened::Sent { from, msg: Msg::Put(_, value), .. } => calls.ask(from, RegisterAsk::Write(*value)),
        Happened::Sent { from, msg: Msg::Get(_), .. } => calls.ask(from, RegisterAsk::Read),
        Happened::Received { to, msg: Msg::PutOk(_), .. } => calls.answer(to, RegisterAnswer::Written),
        Happened::Received { to, msg: Msg::GetOk(_, value), .. } => {
            calls.answer(to, RegisterAnswer::Value(*value))
        }
        _ => {}
    };
    let concerns = |msg: &Msg| matches!(msg, Msg::Put(..) | Msg::Get(_) | Msg::PutOk(_) | Msg::GetOk(..));
    let chosen = |world: &World<'_, Msg>| world.messages().any(|(_, _, msg)| matches!(msg, Msg::GetOk(..)));
    actors(clients)
        .history(Calls::new(Register('\0')), concerns, tell)
        .always("linearizable", history(|calls: &Calls<Register<char>>| calls.is_linearizable()))
        .sometimes("value chosen", world(chosen))
}

/// With properties of states, from which linearizability follows: servers decide one value only, and only the client that
/// wrote it is answered; it reads what it wrote.
pub fn with_states(clients: u32) -> System<Msg> {
    let same = |one: &ServerState, other: &ServerState| {
        let decided =
            |state: &ServerState| state.accepted.filter(|_| state.decided).map(|(_, proposal)| proposal);
        decided(one).is_none() || decided(other).is_none() || decided(one) == decided(other)
    };
    actors(clients)
        .always("one value is decided", pairwise(same))
        .always(
            "reads what was written",
            local(|state: &ClientState| state.read.is_none_or(|read| read == state.wrote)),
        )
        .always(
            "one client is answered",
            pairwise(|one: &ClientState, other: &ClientState| one.calls == 1 || other.calls == 1),
        )
        .sometimes("value chosen", local(|state: &ClientState| state.read.is_some()))
}
