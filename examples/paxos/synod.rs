//! Single-decree Paxos as a part of a node: proposer, acceptor and learner in one.

use serde::{Deserialize, Serialize};
use simurgh_protocol::{ActorId, Data, IdMap, IdSet};

/// A round, and who proposes in it.
pub type Ballot = (u32, ActorId);

/// What nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SynodMsg<V> {
    /// Will you follow this ballot?
    Prepare(Ballot),
    /// Yes, and this is what was accepted here before.
    PrepareResponse(Ballot, Option<(Ballot, V)>),
    /// Accept this value.
    Accept(Ballot, V),
    /// It was accepted here.
    Learn(Ballot, V),
}

/// How far a proposal has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Proposer<V> {
    /// Nothing was proposed here.
    Idle,
    /// Waiting for a majority of responses.
    Preparing {
        /// The ballot it waits for.
        ballot: Ballot,
        /// Its own value.
        value: V,
        /// Who has responded.
        responses: IdSet,
        /// What is to be proposed if nothing else is heard.
        best: Option<(Ballot, V)>,
    },
    /// A majority has responded, and the acceptors have been asked.
    Asked,
}

/// What a node knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Synod<V> {
    /// The proposer.
    pub proposer: Proposer<V>,
    /// The highest ballot that this acceptor follows.
    pub promised: Option<Ballot>,
    /// What this acceptor has accepted.
    pub accepted: Option<(Ballot, V)>,
    /// The last ballot in which this learner heard each acceptor accept.
    pub heard: IdMap<Ballot>,
    /// What this learner takes for chosen.
    pub chosen: Option<V>,
}

impl<V> Default for Synod<V> {
    fn default() -> Self {
        Self {
            proposer: Proposer::Idle,
            promised: None,
            accepted: None,
            heard: IdMap::default(),
            chosen: None,
        }
    }
}

/// What a node has to know about itself and the others.
pub struct Place<'a> {
    /// Who it is.
    pub me: ActorId,
    /// All nodes, itself among them.
    pub all: &'a [ActorId],
    /// Whether the value of the last response is taken, in place of that with the highest ballot.
    pub bug: bool,
}

impl<V: Data> Synod<V> {
    /// Proposes a value, in a higher round than any that was heard of here.
    pub fn propose(&mut self, place: &Place<'_>, value: V, send: &mut dyn FnMut(ActorId, SynodMsg<V>)) {
        let round = self.promised.map_or(0, |(round, _)| round);
        let ballot = (round + 1, place.me);
        self.proposer = Proposer::Preparing { ballot, value, responses: IdSet::default(), best: None };
        place.all.iter().for_each(|other| send(*other, SynodMsg::Prepare(ballot)));
    }

    /// Handles a message.
    pub fn handle(
        &mut self,
        place: &Place<'_>,
        from: ActorId,
        msg: &SynodMsg<V>,
        send: &mut dyn FnMut(ActorId, SynodMsg<V>),
    ) {
        let majority = place.all.len() / 2 + 1;
        match msg {
            SynodMsg::Prepare(ballot) => {
                if self.promised < Some(*ballot) {
                    self.promised = Some(*ballot);
                    send(from, SynodMsg::PrepareResponse(*ballot, self.accepted.clone()));
                }
            }
            SynodMsg::PrepareResponse(of, accepted) => {
                let Proposer::Preparing { ballot, value, responses, best } = &mut self.proposer else {
                    return;
                };
                if of != ballot || !responses.insert(from) {
                    return;
                }
                let later =
                    accepted.as_ref().map(|(ballot, _)| *ballot) > best.as_ref().map(|(ballot, _)| *ballot);
                if place.bug || later {
                    best.clone_from(accepted);
                }
                if responses.len() == majority {
                    let value = best.take().map_or_else(|| value.clone(), |(_, value)| value);
                    let ballot = *ballot;
                    self.proposer = Proposer::Asked;
                    place.all.iter().for_each(|other| send(*other, SynodMsg::Accept(ballot, value.clone())));
                }
            }
            SynodMsg::Accept(ballot, value) => {
                if self.promised <= Some(*ballot)
                    && self.accepted.as_ref().is_none_or(|(last, _)| last < ballot)
                {
                    self.promised = Some(*ballot);
                    self.accepted = Some((*ballot, value.clone()));
                    place.all.iter().for_each(|other| send(*other, SynodMsg::Learn(*ballot, value.clone())));
                }
            }
            SynodMsg::Learn(ballot, value) => {
                if self.heard.get(from) < Some(ballot) {
                    self.heard.insert(from, *ballot);
                    if self.heard.values().filter(|heard| *heard == ballot).count() == majority {
                        self.chosen = Some(value.clone());
                    }
                }
            }
        }
    }
}
