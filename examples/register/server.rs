//! A register that several servers keep (Attiya, Bar-Noy and Dolev: *Sharing memory robustly in message-passing systems*,
//! 1995; with several writers, as Lynch and Shvartsman do it, 1997), and clients that read and write it.
//!
//! A client asks one server. That asks all others for what they have, and goes on when a majority has answered; then it has a
//! majority keep what is to be read, or written with a later stamp than any it heard of; then it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_protocol::linearizability::{RegisterAnswer, RegisterAsk};
use simurgh_protocol::{Actor, ActorId, Durable, IdMap, IdSet, Out};

/// What is in the register.
pub type Value = u32;
/// How late a value was written, and for whom.
pub type Stamp = (u32, ActorId);

/// What clients and servers say to each other. A request is known by its client, and the how manyth it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Msg {
    /// From a client: do this.
    Ask(u32, RegisterAsk<Value>),
    /// To a client: it is done.
    Answer(u32, RegisterAnswer<Value>),
    /// For a request: what do you have?
    Query(ActorId, u32),
    /// This.
    Have(ActorId, u32, Stamp, Value),
    /// For a request: keep this, if it is later than what you have.
    Store(ActorId, u32, Stamp, Value),
    /// It is kept.
    Stored(ActorId, u32),
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Who has told what it has, and the latest of that.
    Query(IdSet, Stamp, Value),
    /// Who has kept it.
    Store(IdSet, Stamp, Value),
    /// It is done.
    Done(RegisterAnswer<Value>),
}

/// What a server was asked for last by a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    number: u32,
    ask: RegisterAsk<Value>,
    phase: Phase,
}

/// What a server knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    /// How late the value is.
    pub stamp: Stamp,
    /// The value.
    pub value: Value,
    requests: IdMap<Request>,
}

/// Something may have been lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Again;

/// One of those who keep the register.
#[derive(Clone, Debug)]
pub struct Server {
    /// How many there are.
    pub servers: usize,
    /// Whether it repeats what may have been lost.
    pub persistent: bool,
    /// Does not have a majority keep what is read.
    pub bug: bool,
}

const AGAIN: Duration = Duration::from_millis(200);

impl Server {
    fn others(&self, me: ActorId) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.servers).map(ActorId::from).filter(move |other| *other != me)
    }

    fn is_majority(&self, set: IdSet) -> bool {
        set.len() > self.servers / 2
    }

    /// Goes on with a request as far as it can.
    fn go_on(&self, state: &mut Kept, client: ActorId, out: &mut Out<Self>) {
        let me = out.me();
        let Some(request) = state.requests.get(client).cloned() else { return };
        let Request { number, ask, .. } = &request;
        let next = match (&request.phase, ask) {
            (Phase::Query(heard, _, value), RegisterAsk::Read) if self.is_majority(*heard) && self.bug => {
                Phase::Done(RegisterAnswer::Value(*value))
            }
            (Phase::Query(heard, stamp, value), ask) if self.is_majority(*heard) => {
                let (stamp, value) = match ask {
                    RegisterAsk::Read => (*stamp, *value),
                    RegisterAsk::Write(value) => ((stamp.0 + 1, client), *value),
                };
                out.broadcast(self.others(me), Msg::Store(client, *number, stamp, value));
                keep(state, stamp, value);
                Phase::Store([me].into_iter().collect(), stamp, value)
            }
            (Phase::Store(kept, _, value), ask) if self.is_majority(*kept) => Phase::Done(match ask {
                RegisterAsk::Read => RegisterAnswer::Value(*value),
                RegisterAsk::Write(_) => RegisterAnswer::Written,
            }),
            _ => return,
        };
        if let Phase::Done(answer) = &next {
            out.send(client, Msg::Answer(*number, answer.clone()));
        }
        state.requests.insert(client, Request { phase: next, ..request });
        self.go_on(state, client, out);
    }

    /// Repeats what the others have not answered.
    fn repeat(&self, request: &Request, client: ActorId, out: &mut Out<Self>) {
        let me = out.me();
        let (done, msg) = match &request.phase {
            Phase::Query(heard, ..) => (heard, Msg::Query(client, request.number)),
            Phase::Store(kept, stamp, value) => (kept, Msg::Store(client, request.number, *stamp, *value)),
            Phase::Done(_) => return,
        };
        out.broadcast(self.others(me).filter(|other| !done.contains(*other)), msg);
        out.set_timer(Again, AGAIN);
    }
}

fn keep(state: &mut Kept, stamp: Stamp, value: Value) {
    if stamp > state.stamp {
        (state.stamp, state.value) = (stamp, value);
    }
}

impl Actor for Server {
    type Msg = Msg;
    type State = Kept;
    type Timer = Again;

    fn on_start(&self, out: &mut Out<Self>) -> Kept {
        self.on_recover(&((0, ActorId(0)), 0), out)
    }

    fn on_msg(&self, state: &mut Kept, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let me = out.me();
        match msg {
            Msg::Ask(number, ask) => match state.requests.get(from) {
                Some(Request { number: last, .. }) if last > number => {}
                Some(Request { number: last, phase, .. }) if last == number => {
                    if let Phase::Done(answer) = phase {
                        out.send(from, Msg::Answer(*number, answer.clone()));
                    }
                }
                _ => {
                    let phase = Phase::Query([me].into_iter().collect(), state.stamp, state.value);
                    let (number, ask) = (*number, ask.clone());
                    state.requests.insert(from, Request { number, ask, phase });
                    out.broadcast(self.others(me), Msg::Query(from, number));
                    if self.persistent {
                        out.set_timer(Again, AGAIN);
                    }
                    self.go_on(state, from, out);
                }
            },
            Msg::Query(client, number) => {
                out.send(from, Msg::Have(*client, *number, state.stamp, state.value));
            }
            Msg::Store(client, number, stamp, value) => {
                keep(state, *stamp, *value);
                out.send(from, Msg::Stored(*client, *number));
            }
            Msg::Have(client, number, stamp, value) => {
                let Some(mut request) = state.requests.get(*client).cloned() else { return };
                if let Phase::Query(heard, latest, best) = &mut request.phase
                    && request.number == *number
                    && heard.insert(from)
                {
                    if *stamp > *latest {
                        (*latest, *best) = (*stamp, *value);
                    }
                    state.requests.insert(*client, request);
                    self.go_on(state, *client, out);
                }
            }
            Msg::Stored(client, number) => {
                let Some(mut request) = state.requests.get(*client).cloned() else { return };
                if let Phase::Store(kept, ..) = &mut request.phase
                    && request.number == *number
                    && kept.insert(from)
                {
                    state.requests.insert(*client, request);
                    self.go_on(state, *client, out);
                }
            }
            Msg::Answer(..) => {}
        }
    }

    fn on_timeout(&self, state: &mut Kept, Again: &Again, out: &mut Out<Self>) {
        state.requests.iter().for_each(|(client, request)| self.repeat(request, client, out));
    }
}

/// What was kept survives a crash; requests do not, and clients ask again.
impl Durable for Server {
    type Stored = (Stamp, Value);

    fn stored(&self, state: &Kept) -> (Stamp, Value) {
        (state.stamp, state.value)
    }

    fn on_recover(&self, (stamp, value): &(Stamp, Value), _: &mut Out<Self>) -> Kept {
        Kept { stamp: *stamp, value: *value, requests: IdMap::default() }
    }
}

/// Asks for one thing after the other.
#[derive(Clone, Debug)]
pub struct Client {
    /// Whom it asks.
    pub server: ActorId,
    /// For what.
    pub asks: Vec<RegisterAsk<Value>>,
    /// Whether it repeats what may have been lost.
    pub persistent: bool,
}

/// What a client was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answers(pub Vec<RegisterAnswer<Value>>);

impl Client {
    fn ask(&self, state: &Answers, out: &mut Out<Self>) {
        let number = state.0.len();
        match self.asks.get(number) {
            Some(ask) => {
                out.send(self.server, Msg::Ask(number as u32, ask.clone()));
                if self.persistent {
                    out.set_timer(Again, 2 * AGAIN);
                }
            }
            None => out.cancel_timer(Again),
        }
    }
}

impl Actor for Client {
    type Msg = Msg;
    type State = Answers;
    type Timer = Again;

    fn on_start(&self, out: &mut Out<Self>) -> Answers {
        let state = Answers::default();
        self.ask(&state, out);
        state
    }

    fn on_msg(&self, state: &mut Answers, _: ActorId, msg: &Msg, out: &mut Out<Self>) {
        if let Msg::Answer(number, answer) = msg
            && *number as usize == state.0.len()
        {
            state.0.push(answer.clone());
            self.ask(state, out);
        }
    }

    fn on_timeout(&self, state: &mut Answers, Again: &Again, out: &mut Out<Self>) {
        self.ask(state, out);
    }
}
