//! Paxos for one place of a log after the other, as it runs for real: each node proposes, rests for a while, and proposes again.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_protocol::{Actor, ActorId, Out, System, pairwise};

use crate::synod::{Place, Synod, SynodMsg};
use crate::{Propose, Value};

/// A node of the log.
pub struct Replica {
    /// All nodes, itself among them.
    pub all: Vec<ActorId>,
    /// A proposer takes the value of the last response.
    pub bug: bool,
    /// How long it rests at most before it proposes.
    pub rest: Duration,
    /// Whether it goes on for ever, or proposes once more.
    pub goes_on: bool,
}

/// What is said for which place of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct For(pub u32, pub SynodMsg<Value>);

/// What a node knows of each place of the log.
pub type Log = BTreeMap<u32, Synod<Value>>;

impl Replica {
    fn place(&self, me: ActorId) -> Place<'_> {
        Place { me, all: &self.all, bug: self.bug }
    }
}

impl Actor for Replica {
    type Msg = For;
    type State = Log;
    type Timer = Propose;

    fn on_start(&self, out: &mut Out<Self>) -> Log {
        out.set_timer(Propose, Duration::ZERO..self.rest);
        Log::new()
    }

    fn on_msg(&self, log: &mut Log, from: ActorId, For(at, msg): &For, out: &mut Out<Self>) {
        let place = self.place(out.me());
        log.entry(*at).or_default().handle(&place, from, msg, &mut |to, msg| out.send(to, For(*at, msg)));
    }

    /// Proposes for the first place of which nothing is known to be chosen, or else for the next.
    fn on_timeout(&self, log: &mut Log, Propose: &Propose, out: &mut Out<Self>) {
        let me = out.me();
        let open = log.iter().find(|(_, synod)| synod.chosen.is_none()).map(|(at, _)| *at);
        let at = open.unwrap_or_else(|| log.last_key_value().map_or(0, |(last, _)| last + 1));
        let synod = log.entry(at).or_default();
        synod.propose(&self.place(me), me.0 + 1, &mut |to, msg| out.send(to, For(at, msg)));
        if self.goes_on {
            out.set_timer(Propose, Duration::ZERO..self.rest);
        }
    }
}

/// No two nodes choose different values for one place.
pub fn agreeing(system: System<For>) -> System<For> {
    let agree = |one: &Log, other: &Log| {
        one.iter().all(|(at, here)| {
            let there = other.get(at).and_then(|there| there.chosen);
            here.chosen.is_none() || there.is_none() || here.chosen == there
        })
    };
    system.always("no two nodes choose different values for one place", pairwise(agree))
}
