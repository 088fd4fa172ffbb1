//! How InfiniBand cards slow each other down, when several messages leave or reach a node.
//!
//! After J. Vienne, "Prédiction de performances d'applications de calcul haute performance sur réseau
//! Infiniband" (PhD thesis, Grenoble 2010). Each message has a penalty, by which its bound is divided. Leaving a
//! node with n messages costs n·Bs, or n·Bs·ys if one goes to a node that receives more than two, and holds for
//! all that leave the node; reaching a node that receives several costs Be × the number of its senders × the
//! messages from this one. The greater of the two counts. A message counts from its start, its latency included;
//! one from a node to itself passes no card, and does not count.
//!
//! When a message begins or ends, the penalties of all that can be reached from its sender are computed again,
//! going from node to node by the messages that are left, whichever way they go. So if the last message from a
//! node ends, those that still go to its receiver keep their penalty until one of them is reached again: that is
//! what the reference does, and it shows in its times.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_platform::HostId;

use crate::config::Infiniband;

/// Who sends to whom at present.
#[derive(Debug)]
pub(crate) struct Contention {
    numbers: Infiniband,
    nodes: BTreeMap<HostId, Node>,
    /// Senders whose messages have a penalty that may no longer be right.
    stale: BTreeSet<HostId>,
}

#[derive(Default, Debug)]
struct Node {
    /// Messages that leave: the caller's number, and where to.
    leaving: Vec<(u32, HostId)>,
    /// How many messages come, by sender.
    coming: BTreeMap<HostId, u32>,
}

impl Contention {
    pub fn new(numbers: Infiniband) -> Contention {
        Contention { numbers, nodes: BTreeMap::new(), stale: BTreeSet::new() }
    }

    /// A message begins; answers the messages whose penalty may change, with their penalty.
    pub fn begin(&mut self, message: u32, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
        if src == dst {
            return Vec::new();
        }
        self.nodes.entry(src).or_default().leaving.push((message, dst));
        *self.nodes.entry(dst).or_default().coming.entry(src).or_default() += 1;
        self.penalties_around(src, dst)
    }

    /// A message ends; answers the messages whose penalty may change, with their penalty.
    pub fn end(&mut self, message: u32, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
        if src == dst {
            return Vec::new();
        }
        if let Some(node) = self.nodes.get_mut(&src) {
            node.leaving.retain(|&(other, _)| other != message);
        }
        if let Some(node) = self.nodes.get_mut(&dst)
            && let Some(count) = node.coming.get_mut(&src)
        {
            *count -= 1;
            if *count == 0 {
                node.coming.remove(&src);
            }
        }
        self.penalties_around(src, dst)
    }

    /// Those of the sender, and of all that send to the receiver, if it can be reached.
    fn penalties_around(&mut self, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
        let mut senders = BTreeSet::from([src]);
        let others = self.nodes.get(&dst).map(|node| &node.coming).into_iter().flat_map(BTreeMap::keys);
        if self.stale.is_empty() && self.reach(src, Some(dst)).contains(&dst) {
            senders.extend(others);
        } else {
            let reached = self.reach(src, None);
            self.stale.extend(others);
            senders.extend(self.stale.intersection(&reached));
            self.stale.retain(|node| !reached.contains(node));
        }
        let mut penalties = Vec::new();
        for sender in senders {
            self.penalties_of(sender, &mut penalties);
        }
        penalties
    }

    /// The nodes that are joined to one by messages, until `wanted` is among them.
    fn reach(&self, from: HostId, wanted: Option<HostId>) -> BTreeSet<HostId> {
        let mut reached = BTreeSet::from([from]);
        let mut to_visit = vec![from];
        while let Some(node) = to_visit.pop().and_then(|id| self.nodes.get(&id)) {
            let receivers = node.leaving.iter().map(|&(_, dst)| dst);
            for next in receivers.chain(node.coming.keys().copied()) {
                if reached.insert(next) {
                    to_visit.push(next);
                }
                if wanted == Some(next) {
                    return reached;
                }
            }
        }
        reached
    }

    fn penalties_of(&self, src: HostId, penalties: &mut Vec<(u32, f64)>) {
        let Some(node) = self.nodes.get(&src) else { return };
        let count = node.leaving.len() as f64;
        let mut out: f64 = 1.0;
        if node.leaving.len() > 1 {
            for &(_, dst) in &node.leaving {
                let crowded = if self.received_by(dst) > 2 { self.numbers.gamma_out } else { 1.0 };
                out = out.max(count * self.numbers.beta_out * crowded);
            }
        }
        for &(message, dst) in &node.leaving {
            let mut penalty = out;
            if self.received_by(dst) > 1 {
                let coming = &self.nodes[&dst].coming;
                let mine = f64::from(coming.get(&src).copied().unwrap_or(0));
                penalty = penalty.max(mine * self.numbers.beta_in * coming.len() as f64);
            }
            penalties.push((message, penalty));
        }
    }

    fn received_by(&self, dst: HostId) -> u32 {
        self.nodes.get(&dst).map_or(0, |node| node.coming.values().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_leave_one_node_slow_each_other_down() {
        let numbers = Infiniband { beta_in: 0.965, beta_out: 0.925, gamma_out: 1.35 };
        let mut contention = Contention::new(numbers);
        let [a, b, c] = [0, 1, 2].map(HostId);
        assert_eq!(contention.begin(0, a, b), [(0, 1.0)]);
        assert_eq!(contention.begin(1, a, c), [(0, 1.85), (1, 1.85)]);
        assert_eq!(contention.begin(2, b, c), [(0, 1.85), (1, 1.93), (2, 1.93)]);
        assert_eq!(contention.end(0, a, b), [(1, 1.93)]);
    }

    #[test]
    fn what_an_ended_message_leaves_unreached_keeps_its_penalty() {
        let numbers = Infiniband { beta_in: 0.965, beta_out: 0.925, gamma_out: 1.35 };
        let mut contention = Contention::new(numbers);
        let [a, b, c, d] = [0, 1, 2, 3].map(HostId);
        contention.begin(0, a, c);
        assert_eq!(contention.begin(1, b, c), [(0, 1.93), (1, 1.93)]);
        assert_eq!(contention.end(0, a, c), [], "no message joins a and c any more");
        assert_eq!(contention.begin(2, a, d), [(2, 1.0)]);
        assert_eq!(contention.begin(3, c, d), [(2, 1.93), (1, 1.0), (3, 1.93)]);
    }

    #[test]
    fn a_message_from_a_node_to_itself_slows_nobody_down() {
        let numbers = Infiniband { beta_in: 0.965, beta_out: 0.925, gamma_out: 1.35 };
        let mut contention = Contention::new(numbers);
        let [a, b] = [0, 1].map(HostId);
        assert_eq!(contention.begin(0, a, a), []);
        assert_eq!(contention.begin(1, a, b), [(1, 1.0)]);
        assert_eq!(contention.begin(2, b, a), [(2, 1.0)]);
        assert_eq!(contention.end(0, a, a), []);
    }
}
