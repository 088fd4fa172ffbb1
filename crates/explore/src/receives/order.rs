//! A partial order under construction: edges are added one by one, its transitive closure is kept, a cycle is refused.

/// A point of the order.
pub type Node = u32;

/// The closure as a bit matrix: row `a` holds all that comes after `a`.
#[derive(Clone, Debug, Default)]
pub struct Order {
    nodes: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Order {
    /// Forgets all points.
    pub fn clear(&mut self) {
        self.nodes = 0;
        self.words = 1;
        self.bits.clear();
    }

    /// Becomes a copy of another, without new memory where there is enough.
    pub fn copy_from(&mut self, other: &Order) {
        self.nodes = other.nodes;
        self.words = other.words;
        self.bits.clear();
        self.bits.extend_from_slice(&other.bits);
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.nodes
    }

    /// Adds a point that is not ordered with any other yet.
    pub fn add(&mut self) -> Node {
        if self.nodes == self.words * 64 {
            self.widen();
        }
        self.bits.resize(self.bits.len() + self.words, 0);
        self.nodes += 1;
        (self.nodes - 1) as Node
    }

    fn widen(&mut self) {
        let (words, wider) = (self.words, self.words * 2);
        let mut bits = vec![0; self.nodes * wider];
        for node in 0..self.nodes {
            bits[node * wider..node * wider + words]
                .copy_from_slice(&self.bits[node * words..(node + 1) * words]);
        }
        self.words = wider;
        self.bits = bits;
    }

    /// Whether `a` comes before `b`.
    pub fn before(&self, a: Node, b: Node) -> bool {
        self.bits[a as usize * self.words + b as usize / 64] >> (b % 64) & 1 == 1
    }

    /// Puts `a` before `b`, and all that follows from it. False if that would close a cycle; then nothing changed.
    #[must_use]
    pub fn put(&mut self, a: Node, b: Node) -> bool {
        if a == b || self.before(b, a) {
            return false;
        }
        if self.before(a, b) {
            return true;
        }
        let words = self.words;
        for x in 0..self.nodes as Node {
            if x != a && !self.before(x, a) {
                continue;
            }
            for word in 0..words {
                self.bits[x as usize * words + word] |= self.bits[b as usize * words + word];
            }
            self.bits[x as usize * words + b as usize / 64] |= 1 << (b % 64);
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
