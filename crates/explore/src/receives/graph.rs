//! An execution as a graph: what each process did, who received what, and the order that follows from it.
//!
//! A mailbox matches the k-th send that arrives with the k-th receive that is posted. So two matched pairs of a mailbox
//! come in one order or the other: `(s, r)` before `(t, q)` means that `s` arrives before `t` *and* `r` is posted before
//! `q`. A graph is an execution if such an order can be chosen for every two pairs, together with the order of each
//! process, with every wait after both ends of what it waits for, and with what is matched before what never is.

use super::order::{Node, Order};
use super::{Mailbox, Network};

/// A post: a send or a receive, by its place in the graph.
pub type PostId = u32;

/// A send or a receive.
#[derive(Copy, Clone, Debug)]
pub struct Post {
    /// Whose.
    pub process: u32,
    /// Where.
    pub mailbox: Mailbox,
    /// Which end.
    pub is_send: bool,
    /// When it is posted.
    pub posted: Node,
    /// When it is in the mailbox: for a send on a network that takes its time, its arrival.
    pub arrives: Node,
    /// The other end.
    pub partner: Option<PostId>,
    /// When its process' first wait for it ended.
    pub completed: Option<Node>,
    /// The last test that found it not complete.
    pub tested: Option<Node>,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The order that is known.
    pub order: Order,
    /// All posts.
    pub posts: Vec<Post>,
    network: Network,
}

impl Graph {
    /// Forgets all, for a network of some kind.
    pub fn clear(&mut self, network: Network) {
        self.order.clear();
        self.posts.clear();
        self.network = network;
    }

    /// Becomes a copy of another.
    pub fn copy_from(&mut self, other: &Graph) {
        self.order.copy_from(&other.order);
        self.posts.clear();
        self.posts.extend_from_slice(&other.posts);
        self.network = other.network;
    }

    /// A new step of a process, after its last one.
    pub fn step(&mut self, last: Node) -> Node {
        let node = self.order.add();
        let fits = self.order.put(last, node);
        debug_assert!(fits, "a new step follows the old ones");
        node
    }

    /// A new post of a process, which is also a step of it.
    pub fn post(&mut self, process: u32, last: Node, mailbox: Mailbox, is_send: bool) -> PostId {
        let posted = self.step(last);
        let travels = is_send && self.network != Network::Mailbox && !mailbox.is_local();
        let arrives = if travels { self.order.add() } else { posted };
        if travels {
            let mut fits = self.order.put(posted, arrives);
            if self.network == Network::Pairwise {
                let before = self
                    .posts
                    .iter()
                    .rev()
                    .find(|other| other.is_send && other.process == process && other.mailbox == mailbox);
                fits &= before.is_none_or(|before| self.order.put(before.arrives, arrives));
            }
            debug_assert!(fits, "a new arrival follows the old ones");
        }
        self.posts.push(Post {
            process,
            mailbox,
            is_send,
            posted,
            arrives,
            partner: None,
            completed: None,
            tested: None,
        });
        (self.posts.len() - 1) as PostId
    }

    /// Matches two posts. False if no execution can have this.
    #[must_use]
    pub fn meet(&mut self, a: PostId, b: PostId) -> bool {
        let (x, y) = (self.posts[a as usize], self.posts[b as usize]);
        debug_assert!(
            x.is_send != y.is_send && x.mailbox == y.mailbox && x.partner.is_none() && y.partner.is_none()
        );
        self.posts[a as usize].partner = Some(b);
        self.posts[b as usize].partner = Some(a);
        // A test that found one end not complete came before the other end was there.
        let (send, recv) = if x.is_send { (x, y) } else { (y, x) };
        if recv.tested.is_some_and(|test| !self.order.put(test, send.arrives)) {
            return false;
        }
        if let Some(test) = send.tested {
            // Where the message travels, it may also be the arrival that came late; of the two, the receive is
            // ordered here only if the arrival is known to be early.
            let arrival_is_early = send.arrives == send.posted || self.order.before(send.arrives, test);
            if arrival_is_early && !self.order.put(test, recv.posted) {
                return false;
            }
        }
        self.settle()
    }

    /// Draws all conclusions that the matched pairs force. False if they contradict each other.
    ///
    /// Conclusions in one mailbox may force others in another, so all are looked at until nothing changes.
    #[must_use]
    fn settle(&mut self) -> bool {
        loop {
            let mut changed = false;
            for i in 0..self.posts.len() {
                let Some(first) = self.pair(i) else { continue };
                for j in 0..i {
                    if self.posts[j].mailbox != self.posts[i].mailbox {
                        continue;
                    }
                    let Some(second) = self.pair(j) else { continue };
                    match self.conclude(first, second) {
                        Conclusion::Contradiction => return false,
                        Conclusion::New => changed = true,
                        Conclusion::Known | Conclusion::Open => {}
                    }
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// The two ends of a matched pair, found once, at its send.
    fn pair(&self, index: usize) -> Option<Pair> {
        let post = &self.posts[index];
        let partner = post.partner.filter(|_| post.is_send)?;
        Some(Pair { arrives: post.arrives, posted: self.posts[partner as usize].posted })
    }

    /// If the order of two pairs is known at one end, it holds at the other.
    fn conclude(&mut self, a: Pair, b: Pair) -> Conclusion {
        let order = &self.order;
        if order.before(a.arrives, b.arrives) || order.before(a.posted, b.posted) {
            self.put_pair(a, b)
        } else if order.before(b.arrives, a.arrives) || order.before(b.posted, a.posted) {
            self.put_pair(b, a)
        } else {
            Conclusion::Open
        }
    }

    fn put_pair(&mut self, a: Pair, b: Pair) -> Conclusion {
        let order = &mut self.order;
        if order.before(a.arrives, b.arrives) && order.before(a.posted, b.posted) {
            Conclusion::Known
        } else if order.put(a.arrives, b.arrives) && order.put(a.posted, b.posted) {
            Conclusion::New
        } else {
            Conclusion::Contradiction
        }
    }

    /// A test found a post not complete. False if it surely was.
    #[must_use]
    pub fn tested(&mut self, post: PostId, test: Node) -> bool {
        self.posts[post as usize].tested = Some(test);
        let own = self.posts[post as usize];
        let Some(partner) = own.partner else { return true };
        let other = self.posts[partner as usize];
        // Both ends are in the graph: the other one must come after the test.
        self.order.put(test, other.arrives) && self.settle()
    }

    /// Whether this is a whole execution: what is never matched comes last, and every open order can be chosen. On
    /// success the order is one that the mailboxes really can have seen.
    #[must_use]
    pub fn complete(&mut self) -> bool {
        self.order_the_unmatched() && self.settle() && self.choose_open()
    }

    /// A mailbox keeps no send beside a receive, and what it keeps came after all that it matched.
    fn order_the_unmatched(&mut self) -> bool {
        for i in 0..self.posts.len() {
            let left = self.posts[i];
            if left.partner.is_some() {
                continue;
            }
            for j in 0..self.posts.len() {
                let other = self.posts[j];
                if other.mailbox != left.mailbox {
                    continue;
                }
                if other.is_send == left.is_send {
                    if other.partner.is_some() && !self.order.put(other.arrives, left.arrives) {
                        return false;
                    }
                } else if other.partner.is_none() {
                    return false;
                }
            }
        }
        true
    }

    /// Chooses an order for two pairs that nothing orders, and goes on; the other order if that leads nowhere.
    fn choose_open(&mut self) -> bool {
        let Some((a, b)) = self.first_open() else { return true };
        let saved = self.order.clone();
        if self.put_pair(a, b) != Conclusion::Contradiction && self.settle() && self.choose_open() {
            return true;
        }
        self.order = saved;
        self.put_pair(b, a) != Conclusion::Contradiction && self.settle() && self.choose_open()
    }

    fn first_open(&self) -> Option<(Pair, Pair)> {
        for i in 0..self.posts.len() {
            let Some(a) = self.pair(i) else { continue };
            for j in 0..i {
                if self.posts[j].mailbox != self.posts[i].mailbox {
                    continue;
                }
                let Some(b) = self.pair(j) else { continue };
                if !self.order.before(a.arrives, b.arrives) && !self.order.before(b.arrives, a.arrives) {
                    return Some((a, b));
                }
            }
        }
        None
    }
}

/// A send and a receive that met: when the one arrived, and when the other was posted.
#[derive(Copy, Clone, Debug)]
struct Pair {
    arrives: Node,
    posted: Node,
}

/// What is known of the order of two pairs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Conclusion {
    Known,
    New,
    Open,
    Contradiction,
}
