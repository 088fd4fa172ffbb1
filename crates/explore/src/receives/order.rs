//! A partial order under construction: edges are added one by one, its transitive closure is kept, a cycle is refused.

/// A point of the order.
pub type Node = u32;

/// The closure as two bit matrices: row `a` of the one holds all that comes after `a`, of the other all before it.
#[derive(Clone, Debug, Default)]
pub struct Order {
    nodes: usize,
    words: usize,
    after: Vec<u64>,
    before: Vec<u64>,
}

impl Order {
    /// Forgets all points.
    pub fn clear(&mut self) {
        self.nodes = 0;
        self.words = 1;
        self.after.clear();
        self.before.clear();
    }

    /// Becomes a copy of another, without new memory where there is enough.
    pub fn copy_from(&mut self, other: &Order) {
        self.nodes = other.nodes;
        self.words = other.words;
        self.after.clone_from(&other.after);
        self.before.clone_from(&other.before);
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.nodes
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.nodes == 0
    }

    /// Adds a point that is not ordered with any other yet.
    pub fn add(&mut self) -> Node {
        if self.nodes == self.words * 64 {
            self.after = widen(&self.after, self.words);
            self.before = widen(&self.before, self.words);
            self.words *= 2;
        }
        self.nodes += 1;
        self.after.resize(self.nodes * self.words, 0);
        self.before.resize(self.nodes * self.words, 0);
        (self.nodes - 1) as Node
    }

    /// Whether `a` comes before `b`.
    pub fn before(&self, a: Node, b: Node) -> bool {
        self.after[a as usize * self.words + b as usize / 64] >> (b % 64) & 1 == 1
    }

    /// Puts `a` before `b`, and all that follows from it. False if that would close a cycle; then nothing changed.
    #[must_use]
    pub fn put(&mut self, a: Node, b: Node) -> bool {
        if a == b || self.before(b, a) {
            return false;
        }
        if !self.before(a, b) {
            spread(&mut self.after, &self.before, self.words, a, b);
            spread(&mut self.before, &self.after, self.words, b, a);
        }
        true
    }

    /// All points in an order that agrees with this one; of those that may come next, the lowest first.
    pub fn linearise(&self) -> Vec<Node> {
        let mut left: Vec<Node> = (0..self.nodes as Node).collect();
        let mut line = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let first = left.iter().position(|&node| left.iter().all(|&other| !self.before(other, node)));
            line.push(left.remove(first.expect("an order without cycles has a first point")));
        }
        line
    }
}

fn widen(bits: &[u64], words: usize) -> Vec<u64> {
    let mut wide = Vec::with_capacity(bits.len() * 2);
    for row in bits.chunks(words) {
        wide.extend_from_slice(row);
        wide.resize(wide.len() + words, 0);
    }
    wide
}

/// All that is on the far side of `from` (as `sides` tells), and `from` itself, reach `to` and all that `to` reaches.
fn spread(reach: &mut [u64], sides: &[u64], words: usize, from: Node, to: Node) {
    let (to, from) = (to as usize, from as usize);
    for word in 0..words {
        let mut here = sides[from * words + word];
        if word == from / 64 {
            here |= 1 << (from % 64);
        }
        while here != 0 {
            let x = word * 64 + here.trailing_zeros() as usize;
            here &= here - 1;
            for word in 0..words {
                reach[x * words + word] |= reach[to * words + word];
            }
            reach[x * words + to / 64] |= 1 << (to % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn a_cycle_is_refused_and_changes_nothing() {
        let mut order = Order::default();
        order.clear();
        let nodes: Vec<_> = (0..130).map(|_| order.add()).collect();
        for pair in nodes.windows(2) {
            assert!(order.put(pair[0], pair[1]));
        }
        assert!(order.before(nodes[0], nodes[129]));
        assert!(!order.put(nodes[129], nodes[0]));
        assert!(!order.before(nodes[129], nodes[0]));
        assert_eq!(order.linearise(), nodes);
    }
}
