//! How InfiniBand cards slow each other down, when several messages leave or reach a node.
//!
//! After J. Vienne, "Prédiction de performances d'applications de calcul haute performance sur réseau
//! Infiniband" (PhD thesis, Grenoble 2010). Each message has a penalty, by which its bound is divided. Leaving a
//! node with n messages costs n·Bs, or n·Bs·ys if one goes to a node that receives more than two, and holds for
//! all that leave the node; reaching a node that receives several costs Be × the number of its senders × the
//! messages from this one. The greater of the two counts.

use std::collections::BTreeMap;

use simurgh_platform::HostId;

use crate::config::Infiniband;

/// Who sends to whom at present.
#[derive(Debug)]
pub(crate) struct Contention {
    numbers: Infiniband,
    nodes: BTreeMap<HostId, Node>,
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
        Contention { numbers, nodes: BTreeMap::new() }
    }

    /// A message begins; answers the messages whose penalty may change, with their penalty.
    pub fn begin(&mut self, message: u32, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
        self.nodes.entry(src).or_default().leaving.push((message, dst));
        *self.nodes.entry(dst).or_default().coming.entry(src).or_default() += 1;
        self.penalties_around(src, dst)
    }

    /// A message ends; answers the messages whose penalty may change, with their penalty.
    pub fn end(&mut self, message: u32, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
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

    /// Those of the sender, and of all that send to the receiver.
    fn penalties_around(&self, src: HostId, dst: HostId) -> Vec<(u32, f64)> {
        let mut penalties = Vec::new();
        self.penalties_of(src, &mut penalties);
        for &other in self.nodes.get(&dst).map(|node| &node.coming).into_iter().flat_map(BTreeMap::keys) {
            if other != src {
                self.penalties_of(other, &mut penalties);
            }
        }
        penalties
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
        assert_eq!(contention.begin(2, b, c), [(2, 1.93), (0, 1.85), (1, 1.93)]);
        assert_eq!(contention.end(0, a, b), [(1, 1.93)]);
    }
}
