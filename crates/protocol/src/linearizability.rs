//! Linearizability: can what clients were answered be explained by an object that does one thing at a time?
//!
//! A [`Calls`] is a history (see [`System::history`](crate::System::history)): it is told when a client asks for something
//! and when it is answered. It is linearizable if there is an order of all answered calls, and of some of those that are
//! not answered yet, in which the object gives these answers, and in which a call that had been answered when another
//! was made comes before it.

use std::fmt::Debug;

use crate::actor::Data;
use crate::ids::{ActorId, IdMap};

/// An object that does one thing at a time.
pub trait Object: Data {
    /// What it can be asked.
    type Ask: Data;
    /// What it answers.
    type Answer: Data;

    /// Does one thing.
    fn ask(&mut self, ask: &Self::Ask) -> Self::Answer;
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Call<A, R> {
    ask: A,
    answer: Option<R>,
    /// How many calls of each other client had been answered when this one was made.
    after: IdMap<u32>,
}

/// The calls of one client.
type OfClient<'a, O> = (ActorId, &'a [Call<<O as Object>::Ask, <O as Object>::Answer>]);

/// What clients have asked an object, and what they were answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Calls<O: Object> {
    object: O,
    clients: IdMap<Vec<Call<O::Ask, O::Answer>>>,
    /// A client was answered what it had not asked, or asked twice at a time.
    broken: bool,
}

impl<O: Object> Calls<O> {
    /// Nobody has asked anything of this object.
    pub fn new(object: O) -> Self {
        Self { object, clients: IdMap::default(), broken: false }
    }

    /// A client asks for something.
    pub fn ask(&mut self, client: ActorId, ask: O::Ask) {
        let mut after = IdMap::default();
        for (other, calls) in self.clients.iter().filter(|(other, _)| *other != client) {
            let answered = calls.iter().filter(|call| call.answer.is_some()).count();
            if answered > 0 {
                after.insert(other, answered as u32);
            }
        }
        let mut calls = self.clients.get(client).cloned().unwrap_or_default();
        self.broken |= calls.last().is_some_and(|call| call.answer.is_none());
        calls.push(Call { ask, answer: None, after });
        self.clients.insert(client, calls);
    }

    /// A client is answered.
    pub fn answer(&mut self, client: ActorId, answer: O::Answer) {
        let mut calls = self.clients.get(client).cloned().unwrap_or_default();
        match calls.last_mut() {
            Some(call) if call.answer.is_none() => call.answer = Some(answer),
            _ => self.broken = true,
        }
        self.clients.insert(client, calls);
    }

    /// Whether there is an order that explains everything.
    pub fn is_linearizable(&self) -> bool {
        let clients: Vec<OfClient<'_, O>> =
            self.clients.iter().map(|(client, calls)| (client, calls.as_slice())).collect();
        !self.broken && explained(&self.object, &clients, &mut vec![0; clients.len()])
    }
}

/// Whether the calls from these places on can be put in order.
fn explained<O: Object>(object: &O, clients: &[OfClient<'_, O>], places: &mut Vec<usize>) -> bool {
    let is_placed = |((_, calls), place): (&OfClient<'_, O>, &usize)| {
        calls[*place..].iter().all(|call| call.answer.is_none())
    };
    if clients.iter().zip(places.iter()).all(is_placed) {
        return true;
    }
    for at in 0..clients.len() {
        let Some(call) = clients[at].1.get(places[at]) else { continue };
        let in_time = clients.iter().zip(places.iter()).all(|((other, _), place)| {
            call.after.get(*other).is_none_or(|answered| *place >= *answered as usize)
        });
        if !in_time {
            continue;
        }
        let mut object = object.clone();
        let answer = object.ask(&call.ask);
        if call.answer.as_ref().is_some_and(|expected| *expected != answer) {
            continue;
        }
        places[at] += 1;
        if explained(&object, clients, places) {
            return true;
        }
        places[at] -= 1;
    }
    false
}

/// A register: what was written last is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Register<V>(pub V);

/// What a register can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RegisterAsk<V> {
    /// To keep a value.
    Write(V),
    /// For its value.
    Read,
}

/// What a register answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RegisterAnswer<V> {
    /// It has kept it.
    Written,
    /// Its value.
    Value(V),
}

impl<V: Data> Object for Register<V> {
    type Ask = RegisterAsk<V>;
    type Answer = RegisterAnswer<V>;

    fn ask(&mut self, ask: &RegisterAsk<V>) -> RegisterAnswer<V> {
        match ask {
            RegisterAsk::Write(value) => {
                self.0 = value.clone();
                RegisterAnswer::Written
            }
            RegisterAsk::Read => RegisterAnswer::Value(self.0.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ActorId = ActorId(0);
    const B: ActorId = ActorId(1);

    type Event = (ActorId, Result<RegisterAsk<u8>, RegisterAnswer<u8>>);

    fn told(events: &[Event]) -> bool {
        let mut calls = Calls::new(Register(0));
        for (client, event) in events {
            match event {
                Ok(ask) => calls.ask(*client, ask.clone()),
                Err(answer) => calls.answer(*client, answer.clone()),
            }
        }
        calls.is_linearizable()
    }

    #[test]
    fn answers_need_an_order() {
        use RegisterAnswer::{Value, Written};
        use RegisterAsk::{Read, Write};
        assert!(told(&[]));
        // While a write goes on, a read may see it or not.
        assert!(told(&[(A, Ok(Write(1))), (B, Ok(Read)), (B, Err(Value(1)))]));
        assert!(told(&[(A, Ok(Write(1))), (B, Ok(Read)), (B, Err(Value(0)))]));
        // After it, it has to; and nobody sees what was never written.
        assert!(!told(&[(A, Ok(Write(1))), (A, Err(Written)), (B, Ok(Read)), (B, Err(Value(0)))]));
        assert!(!told(&[(B, Ok(Read)), (B, Err(Value(7)))]));
        // Two reads one after the other do not go back in time, even while the write goes on.
        let write = (A, Ok(Write(1)));
        let reads = |first, second| {
            [write.clone(), (B, Ok(Read)), (B, Err(Value(first))), (B, Ok(Read)), (B, Err(Value(second)))]
        };
        assert!(told(&reads(0, 1)) && told(&reads(1, 1)) && !told(&reads(1, 0)));
        // An answer that nobody asked for.
        assert!(!told(&[(B, Err(Written))]));
    }
}
