//! A partial order under construction: edges are added one by one, its transitive closure is kept, a cycle is refused, and
//! all that was added since some moment can be taken back.

use std::collections::BTreeSet;

use smallvec::SmallVec;

/// A point of the order.
pub type Node = u32;

/// The closure as a bit matrix: row `b` holds all that comes before `b`.
///
/// Most points are added at the end, after others, which costs a row; only an edge between old points has to look for all
/// that comes after.
#[derive(Clone, Debug)]
pub struct Order {
    nodes: usize,
    words: usize,
    before: Vec<u64>,
    /// The words that were changed in rows that were there, with what they held.
    trail: Vec<(u32, u64)>,
    /// How many processes are followed, and for each point how many of the posts of each it was caused by: a vector clock. An edge
    /// between old points says what came first, and causes nothing.
    followed: usize,
    clocks: Vec<u32>,
}

/// A moment to go back to.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    nodes: u32,
    trail: u32,
}

type Row = SmallVec<[u64; 4]>;

impl Default for Order {
    fn default() -> Self {
        Self { nodes: 0, words: 1, before: Vec::new(), trail: Vec::new(), followed: 0, clocks: Vec::new() }
    }
}

impl Order {
    pub fn len(&self) -> usize {
        self.nodes
    }

    pub fn mark(&self) -> Mark {
        Mark { nodes: self.nodes as u32, trail: self.trail.len() as u32 }
    }

    /// Whether nothing was put between old points since a moment.
    pub fn is_unchanged(&self, since: Mark) -> bool {
        self.trail.len() == since.trail as usize
    }

    /// Takes back all since a moment.
    pub fn undo(&mut self, to: Mark) {
        for (word, old) in self.trail.drain(to.trail as usize..).rev() {
            self.before[word as usize] = old;
        }
        self.nodes = to.nodes as usize;
        self.before.truncate(self.nodes * self.words);
        self.clocks.truncate(self.nodes * self.followed);
    }

    /// Notes from now on what is caused by what, among so many processes.
    pub fn follow(&mut self, processes: u32) {
        debug_assert_eq!(self.nodes, 0, "it is asked at the beginning");
        self.followed = processes as usize;
    }

    /// A point is this one of the posts of a process, the first being 1.
    pub fn is_post(&mut self, node: Node, process: u32, number: u32) {
        if (process as usize) < self.followed {
            self.clocks[node as usize * self.followed + process as usize] = number;
        }
    }

    /// Whether a point was caused by what a process did from this one of its posts on, or is that post.
    pub fn is_caused_by(&self, node: Node, process: u32, number: u32) -> bool {
        self.clocks[node as usize * self.followed + process as usize] >= number
    }

    /// The clock of a point that is added after some others.
    #[inline(never)]
    fn add_clock(&mut self, after: &[Node]) {
        let start = self.clocks.len();
        self.clocks.resize(start + self.followed, 0);
        let (clocks, own) = self.clocks.split_at_mut(start);
        for &other in after {
            let other = &clocks[other as usize * self.followed..][..self.followed];
            own.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
        }
    }

    /// Adds a point after some others, and after all that is before them.
    pub fn add(&mut self, after: &[Node]) -> Node {
        if self.nodes == self.words * 64 {
            self.widen();
        }
        if self.followed > 0 {
            self.add_clock(after);
        }
        if self.words == 1 {
            let rows = &self.before;
            let row = after.iter().fold(0, |row, &other| row | rows[other as usize] | 1 << other);
            self.before.push(row);
            self.nodes += 1;
            return (self.nodes - 1) as Node;
        }
        let words = self.words;
        let start = self.nodes * words;
        self.nodes += 1;
        self.before.resize(start + words, 0);
        for &other in after {
            let (rows, row) = self.before.split_at_mut(start);
            let others = &rows[other as usize * words..][..words];
            for (word, others) in row.iter_mut().zip(others) {
                *word |= others;
            }
            row[other as usize / 64] |= 1 << (other % 64);
        }
        (self.nodes - 1) as Node
    }

    /// Whether `a` comes before `b`.
    #[inline]
    pub fn before(&self, a: Node, b: Node) -> bool {
        self.before[b as usize * self.words + a as usize / 64] >> (a % 64) & 1 == 1
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
        if self.words == 1 {
            self.put_small(a, b);
            return true;
        }
        let words = self.words;
        let mut more = Row::from_slice(&self.before[a as usize * words..][..words]);
        more[a as usize / 64] |= 1 << (a % 64);
        let (word, bit) = (b as usize / 64, 1 << (b % 64));
        for other in 0..self.nodes {
            let start = other * words;
            if other == b as usize || self.before[start + word] & bit != 0 {
                for (index, more) in more.iter().enumerate() {
                    let old = self.before[start + index];
                    if old | more != old {
                        self.trail.push(((start + index) as u32, old));
                        self.before[start + index] = old | more;
                    }
                }
            }
        }
        true
    }

    /// As [`put`](Self::put), where a row is a word.
    fn put_small(&mut self, a: Node, b: Node) {
        let more = self.before[a as usize] | 1 << a;
        self.trail.push((b, self.before[b as usize]));
        self.before[b as usize] |= more;
        for (other, row) in (0..).zip(&mut self.before) {
            if *row >> b & 1 == 1 && *row | more != *row {
                self.trail.push((other, *row));
                *row |= more;
            }
        }
    }

    /// All points in an order that agrees with this one; of those that may come next, the lowest first.
    pub fn linearise(&self) -> Vec<Node> {
        // Each point waits for the last of those that come before it, most of which come before that one too; once that is in the line,
        // for another one.
        let mut waiting: Vec<Vec<Node>> = vec![Vec::new(); self.nodes];
        let mut in_line = vec![0_u64; self.words];
        let mut unseen = vec![self.words; self.nodes];
        let mut next = BTreeSet::new();
        let mut line = Vec::with_capacity(self.nodes);
        let mut woken: Vec<Node> = (0..self.nodes as Node).collect();
        loop {
            for node in woken {
                let row = &self.before[node as usize * self.words..][..self.words];
                // Words from this one on have nothing more to wait for.
                let to = &mut unseen[node as usize];
                while *to > 0 && row[*to - 1] & !in_line[*to - 1] == 0 {
                    *to -= 1;
                }
                match to.checked_sub(1) {
                    Some(word) => {
                        let missing = row[word] & !in_line[word];
                        waiting[word * 64 + missing.ilog2() as usize].push(node);
                    }
                    None => drop(next.insert(node)),
                }
            }
            let Some(first) = next.pop_first() else { return line };
            line.push(first);
            in_line[first as usize / 64] |= 1 << (first % 64);
            woken = std::mem::take(&mut waiting[first as usize]);
        }
    }

    fn widen(&mut self) {
        let old = self.words;
        let mut wide = Vec::with_capacity(self.before.len() * 2);
        for row in self.before.chunks(old) {
            wide.extend_from_slice(row);
            wide.resize(wide.len() + old, 0);
        }
        self.before = wide;
        self.words *= 2;
        for (word, _) in &mut self.trail {
            *word += *word / old as u32 * old as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use simurgh_kernel::random::Random;

    #[test]
    fn a_cycle_is_refused_and_changes_nothing() {
        let mut order = Order::default();
        let nodes: Vec<_> = (0..130).map(|_| order.add(&[])).collect();
        for pair in nodes.windows(2) {
            assert!(order.put(pair[0], pair[1]));
        }
        assert!(order.before(nodes[0], nodes[129]));
        assert!(!order.put(nodes[129], nodes[0]));
        assert!(!order.before(nodes[129], nodes[0]));
        assert_eq!(order.linearise(), nodes);
    }

    /// Against paths that are searched for anew, with points added, edges put and moments gone back to at random.
    #[test]
    fn the_closure_is_that_of_the_edges_whatever_was_taken_back() {
        let mut random = Random::new(11, 3);
        for _ in 0..60 {
            let mut order = Order::default();
            let mut edges: Vec<(u32, u32)> = Vec::new();
            let mut marks = Vec::new();
            for _ in 0..200 {
                let count = order.len() as u32;
                match random.below(8) {
                    0..=2 => {
                        let after: Vec<u32> = (0..random.below(3))
                            .filter(|_| count > 0)
                            .map(|_| random.below(u64::from(count)) as u32)
                            .collect();
                        let node = order.add(&after);
                        edges.extend(after.iter().map(|&a| (a, node)));
                    }
                    3..=5 if count > 1 => {
                        let (a, b) =
                            (random.below(u64::from(count)) as u32, random.below(u64::from(count)) as u32);
                        let fits = a != b && !reaches(&edges, b, a);
                        assert_eq!(order.put(a, b), fits);
                        if fits {
                            edges.push((a, b));
                        }
                    }
                    6 => marks.push((order.mark(), edges.len())),
                    _ => {
                        if let Some((mark, length)) = marks.pop() {
                            order.undo(mark);
                            edges.truncate(length);
                        }
                    }
                }
            }
            for a in 0..order.len() as u32 {
                for b in 0..order.len() as u32 {
                    assert_eq!(order.before(a, b), a != b && reaches(&edges, a, b));
                }
            }
        }
    }

    fn reaches(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while at < seen.len() {
            let here = seen[at];
            at += 1;
            for &(_, b) in edges.iter().filter(|(a, _)| *a == here) {
                if !seen.contains(&b) {
                    seen.push(b);
                }
            }
        }
        from != to && seen.contains(&to)
    }
}
