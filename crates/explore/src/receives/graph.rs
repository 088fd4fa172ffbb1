//! An execution as a graph: what each process did, who received what, and the order that follows from it.
//!
//! A receive takes the oldest message in its mailbox that it admits, a message goes to the oldest receive that admits it. So for every two
//! matched pairs of a mailbox, `(s, r)` and `(t, q)`: if `r` admits `t`, then not both `t` arrives before `s` and `r` is posted before `q`.
//! What was taken back (a timeout) met nobody until then, and what is never matched comes after all that is. Each of these is a clause: one
//! of a few orders must hold. A graph is an execution if all clauses can hold together with the order of each process, and with every
//! wait after both ends of what it waits for: by induction over the line of events, every post finds in its mailbox what the graph says.
//! A clause of which only one possibility is left is put into the order at once; of the others one is chosen at the end.

use smallvec::SmallVec;

use super::order::{self, Node, Order};
use super::{Handle, Mailbox, Network, Side};

/// A post: a send or a receive, by its place in the graph.
pub type PostId = u32;

#[derive(Copy, Clone, Debug)]
pub struct Post {
    pub process: u32,
    /// Which of the posts of its process.
    pub handle: Handle,
    pub mailbox: Mailbox,
    pub side: Side,
    /// How many like it its process has posted there, with this one.
    pub number: u32,
    /// When it is posted.
    pub posted: Node,
    /// When it is in the mailbox: for a send on a network that takes its time, its arrival.
    pub arrives: Node,
    /// The other end.
    pub partner: Option<PostId>,
    /// The last test that found it not complete.
    pub tested: Option<Node>,
    /// When it was taken back, having met nobody.
    pub withdrawn: Option<Node>,
    /// Whether it meets only what is there before it.
    pub at_once: bool,
    /// Whether its process was seen to ask for it to be taken back, whatever came of that.
    pub revocable: bool,
    /// Whether it is one of the permits that a semaphore was made with, which nobody can tell apart.
    pub is_permit: bool,
    /// Whether its process waits for it, however long, and does nothing else.
    pub is_awaited: bool,
    /// Whether its process was told that it is complete.
    pub is_over: bool,
}

impl Post {
    pub fn is_send(&self) -> bool {
        self.side.is_send()
    }

    /// Whether it may still meet somebody.
    pub fn is_free(&self) -> bool {
        self.partner.is_none() && self.withdrawn.is_none()
    }

    fn travels(&self) -> bool {
        self.arrives != self.posted
    }
}

/// Whether two posts of one mailbox may meet at all: one is a receive that admits the other.
pub fn admits(a: &Post, b: &Post) -> bool {
    a.side.meets(&b.side)
}

type Before = (Node, Node);

/// One of a few orders must hold.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Clause {
    /// One pair is before the other at both ends.
    Pairs(Pair, Pair),
    /// At least one of so many orders, which are kept from this place on.
    Any(u32, u32),
}

/// A send and a receive that met: when the one arrived, and when the other was posted.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Pair {
    arrives: Node,
    posted: Node,
}

/// What is known of a clause.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Holds,
    Open,
    Contradiction,
}

/// How to take a change back.
#[derive(Copy, Clone, Debug)]
enum Change {
    /// This post met somebody.
    Met(PostId),
    /// This post was tested, and had been before.
    Tested(PostId, Option<Node>),
    /// This post was taken back.
    Withdrawn(PostId),
    /// This clause was found to hold.
    Settled(u32),
    /// The process of this post was told that it is complete.
    Over(PostId),
}

/// A moment to go back to.
#[derive(Copy, Clone, Debug, Default)]
pub struct Mark {
    order: order::Mark,
    posts: u32,
    met: u32,
    clauses: u32,
    orders: u32,
    changes: u32,
}

#[derive(Debug, Default)]
pub struct Graph {
    /// The order that is known.
    pub order: Order,
    pub posts: Vec<Post>,
    /// The sends of the pairs that have met, in the order in which they were found to, and what was taken back.
    met: Vec<(Mailbox, PostId)>,
    /// What is open, or was: and whether it is.
    clauses: Vec<(Clause, bool)>,
    /// The orders that the clauses speak of.
    orders: Vec<Before>,
    changes: Vec<Change>,
    /// What may arrive before what.
    pub network: Network,
}

impl Graph {
    pub fn mark(&self) -> Mark {
        Mark {
            order: self.order.mark(),
            posts: self.posts.len() as u32,
            met: self.met.len() as u32,
            clauses: self.clauses.len() as u32,
            orders: self.orders.len() as u32,
            changes: self.changes.len() as u32,
        }
    }

    /// Takes back all since a moment.
    pub fn undo(&mut self, to: Mark) {
        for change in self.changes.drain(to.changes as usize..).rev() {
            match change {
                Change::Met(post) => self.posts[post as usize].partner = None,
                Change::Tested(post, before) => self.posts[post as usize].tested = before,
                Change::Withdrawn(post) => self.posts[post as usize].withdrawn = None,
                Change::Settled(clause) => self.clauses[clause as usize].1 = true,
                Change::Over(post) => self.posts[post as usize].is_over = false,
            }
        }
        self.posts.truncate(to.posts as usize);
        self.met.truncate(to.met as usize);
        self.clauses.truncate(to.clauses as usize);
        self.orders.truncate(to.orders as usize);
        self.order.undo(to.order);
    }

    /// A new post of a process, which is also a step of it.
    pub fn post(
        &mut self,
        process: u32,
        handle: Handle,
        last: Node,
        mailbox: Mailbox,
        side: Side,
        at_once: bool,
    ) -> PostId {
        let posted = self.order.add(&[last]);
        self.order.is_post(posted, process, handle + 1);
        let number = self.last_of(process, mailbox, |other| *other == side).map_or(0, |last| last.number) + 1;
        let arrives = match self.network {
            _ if !side.is_send() || mailbox.is_local() => posted,
            Network::Mailbox => posted,
            Network::Pairwise => {
                let is_earlier = |other: &Side| other.is_send() && other.context() == side.context();
                let earlier = self.last_of(process, mailbox, is_earlier).map(|other| other.arrives);
                let after: SmallVec<[Node; 2]> = [posted].into_iter().chain(earlier).collect();
                self.order.add(&after)
            }
            Network::Unordered => self.order.add(&[posted]),
        };
        self.posts.push(Post {
            process,
            handle,
            mailbox,
            side,
            number,
            posted,
            arrives,
            partner: None,
            tested: None,
            withdrawn: None,
            at_once,
            revocable: at_once,
            is_permit: false,
            is_awaited: false,
            is_over: false,
        });
        (self.posts.len() - 1) as PostId
    }

    /// The process of a post is told that it is complete.
    pub fn is_over(&mut self, post: PostId) {
        if !std::mem::replace(&mut self.posts[post as usize].is_over, true) {
            self.changes.push(Change::Over(post));
        }
    }

    /// The last such that a process has posted to a mailbox.
    pub fn last_of(&self, process: u32, mailbox: Mailbox, is_such: impl Fn(&Side) -> bool) -> Option<&Post> {
        let is_one = |p: &&Post| p.process == process && p.mailbox == mailbox && is_such(&p.side);
        self.posts.iter().rev().find(is_one)
    }

    /// Puts one moment before another, and all that follows from it. False if that cannot be; then it must be undone.
    #[must_use]
    pub fn put(&mut self, a: Node, b: Node) -> bool {
        let before = self.order.mark();
        self.order.put(a, b) && self.settle(before)
    }

    /// At least one of these orders holds. False if that cannot be; then it must be undone.
    #[must_use]
    pub fn put_some(&mut self, orders: &[Before]) -> bool {
        let before = self.order.mark();
        self.one_of(orders) && self.settle(before)
    }

    /// Matches two posts. False if no execution can have this; then it must be undone.
    #[must_use]
    pub fn meet(&mut self, a: PostId, b: PostId) -> bool {
        let (x, y) = (self.posts[a as usize], self.posts[b as usize]);
        debug_assert!(admits(&x, &y) && x.mailbox == y.mailbox && x.is_free() && y.is_free());
        let before = self.order.mark();
        self.posts[a as usize].partner = Some(b);
        self.posts[b as usize].partner = Some(a);
        self.changes.extend([Change::Met(a), Change::Met(b)]);
        let (send, recv, id) = if x.is_send() { (x, y, a) } else { (y, x, b) };
        let fits = self.meet_tests(&send, &recv) && self.meet_others(&send, &recv) && self.settle(before);
        self.met.push((send.mailbox, id));
        fits
    }

    /// A test that found one end not complete came before the other end was there.
    fn meet_tests(&mut self, send: &Post, recv: &Post) -> bool {
        recv.tested.is_none_or(|test| self.order.put(test, send.arrives))
            && send.tested.is_none_or(|test| self.send_was_tested(test, send, recv))
            && (!recv.at_once || self.order.put(send.arrives, recv.posted))
            && (!send.at_once || self.order.put(recv.posted, send.arrives))
    }

    /// Where the message travels, it may also be its arrival that came late.
    fn send_was_tested(&mut self, test: Node, send: &Post, recv: &Post) -> bool {
        self.one_of(&[(test, recv.posted), (test, send.arrives)][..1 + usize::from(send.travels())])
    }

    /// Whether something fits all that its mailbox has done. The last first: what follows from it is known then of what
    /// was before.
    fn fits_all(&mut self, mailbox: Mailbox, fits: impl Fn(&mut Self, PostId) -> bool) -> bool {
        (0..self.met.len()).rev().all(|index| {
            let (other, post) = self.met[index];
            other != mailbox || fits(self, post)
        })
    }

    fn meet_others(&mut self, send: &Post, recv: &Post) -> bool {
        let pair = Pair { arrives: send.arrives, posted: recv.posted };
        self.fits_all(send.mailbox, |graph, post| {
            let other = &graph.posts[post as usize];
            match (other.partner, other.withdrawn) {
                // Who takes one permit and who another says nothing of who came first: both were there.
                (Some(_), _) if send.is_permit && other.is_permit => true,
                (Some(partner), _) => {
                    let partner = &graph.posts[partner as usize];
                    let met = Pair { arrives: other.arrives, posted: partner.posted };
                    let (one, two) = (admits(recv, other), admits(partner, send));
                    graph.two_pairs(pair, met, one, two)
                }
                (None, Some(end)) => {
                    let other = *other;
                    graph.pair_and_withdrawn(send, recv, &other, end)
                }
                _ => true,
            }
        })
    }

    /// The oldest that fits is taken, at both ends.
    fn two_pairs(&mut self, a: Pair, b: Pair, a_admits_b: bool, b_admits_a: bool) -> bool {
        match (a_admits_b, b_admits_a) {
            (true, true) => match self.look_at_pairs(a, b) {
                State::Open => {
                    self.clauses.push((Clause::Pairs(a, b), true));
                    true
                }
                known => known == State::Holds,
            },
            (true, false) => self.one_of(&[(a.arrives, b.arrives), (b.posted, a.posted)]),
            (false, true) => self.one_of(&[(b.arrives, a.arrives), (a.posted, b.posted)]),
            (false, false) => true,
        }
    }

    /// What was taken back was not there when it would have been older than what was met instead.
    fn pair_and_withdrawn(&mut self, send: &Post, recv: &Post, other: &Post, end: Node) -> bool {
        if other.is_send() {
            !admits(recv, other)
                || self.one_of(
                    &[(send.arrives, other.arrives), (end, recv.posted), (end, other.arrives)]
                        [..2 + usize::from(other.travels())],
                )
        } else {
            !admits(send, other) || self.one_of(&[(recv.posted, other.posted), (end, send.arrives)])
        }
    }

    /// A test found a post not complete. False if it surely was; then it must be undone.
    #[must_use]
    pub fn tested(&mut self, post: PostId, test: Node) -> bool {
        let before = self.order.mark();
        let earlier = self.posts[post as usize].tested.replace(test);
        self.changes.push(Change::Tested(post, earlier));
        let own = self.posts[post as usize];
        let Some(partner) = own.partner else { return true };
        let other = self.posts[partner as usize];
        let is_late = if own.is_send() {
            self.send_was_tested(test, &own, &other)
        } else {
            self.order.put(test, other.arrives)
        };
        is_late && self.settle(before)
    }

    /// A post that has met nobody is taken back. False if it surely had; then it must be undone.
    #[must_use]
    pub fn withdraw(&mut self, post: PostId, end: Node) -> bool {
        let before = self.order.mark();
        if self.posts[post as usize].partner.is_some() {
            return false;
        }
        self.posts[post as usize].withdrawn = Some(end);
        self.changes.push(Change::Withdrawn(post));
        let own = self.posts[post as usize];
        let fits = self.withdraw_among_others(&own, end) && self.settle(before);
        self.met.push((own.mailbox, post));
        fits
    }

    fn withdraw_among_others(&mut self, own: &Post, end: Node) -> bool {
        self.fits_all(own.mailbox, |graph, post| {
            let other = graph.posts[post as usize];
            match (other.partner, other.withdrawn) {
                (Some(partner), _) => {
                    let partner = graph.posts[partner as usize];
                    graph.pair_and_withdrawn(&other, &partner, own, end)
                }
                (None, Some(others)) if admits(own, &other) => {
                    let (send, recv) = if own.is_send() { (own, &other) } else { (&other, own) };
                    let (sends, receives) = if own.is_send() { (end, others) } else { (others, end) };
                    graph.one_of(
                        &[(receives, send.arrives), (sends, recv.posted), (sends, send.arrives)]
                            [..2 + usize::from(send.travels())],
                    )
                }
                _ => true,
            }
        })
    }

    /// Whether this is a whole execution: what is never matched comes last, and every open order can be chosen. On
    /// success the order is one that the mailboxes really can have seen.
    #[must_use]
    pub fn complete(&mut self) -> bool {
        let before = self.order.mark();
        self.order_the_unmatched() && self.settle(before) && self.choose_open(0)
    }

    /// A mailbox keeps no send beside a receive that admits it, and what it keeps came after all that it matched instead.
    fn order_the_unmatched(&mut self) -> bool {
        let mut lists: [Option<Vec<PostId>>; 2] = [None, None];
        for i in 0..self.posts.len() {
            let left = self.posts[i];
            if !left.is_free() {
                continue;
            }
            let which = usize::from(left.is_send());
            let beside = lists[which].take().unwrap_or_else(|| self.beside_the_unmatched(left.is_send()));
            for &other in &beside {
                let other = self.posts[other as usize];
                if other.mailbox == left.mailbox && !self.comes_before_the_unmatched(&other, &left) {
                    return false;
                }
            }
            lists[which] = Some(beside);
        }
        true
    }

    /// What may have to be ordered with a post that is left. What is left on the same side orders nothing, and there may be much of it.
    fn beside_the_unmatched(&self, is_send: bool) -> Vec<PostId> {
        let posts = (0..).zip(&self.posts);
        let such = posts.filter(|(_, post)| post.is_send() != is_send || post.partner.is_some());
        such.map(|(id, _)| id).collect()
    }

    fn comes_before_the_unmatched(&mut self, other: &Post, left: &Post) -> bool {
        if other.is_send() == left.is_send() {
            let Some(partner) = other.partner else { return true };
            let partner = self.posts[partner as usize];
            return !admits(&partner, left) || self.order.put(other.arrives, left.arrives);
        }
        if other.partner.is_some() || !admits(other, left) {
            return true;
        }
        let Some(end) = other.withdrawn else { return false };
        let after: &[Before] = &[(end, left.arrives), (end, other.arrives)];
        self.one_of(&after[..1 + usize::from(other.travels())])
    }

    /// Chooses an order where several are open, and goes on; the next if that leads nowhere.
    fn choose_open(&mut self, from: usize) -> bool {
        let Some(at) = (from..self.clauses.len()).find(|&at| self.clauses[at].1) else { return true };
        let clause = self.clauses[at].0;
        let possibilities = if let Clause::Any(_, count) = clause { count } else { 2 };
        for possibility in 0..possibilities {
            let mark = self.mark();
            let before = self.order.mark();
            let is_put = match clause {
                Clause::Pairs(a, b) if possibility == 0 => self.put_pairs(a, b),
                Clause::Pairs(a, b) => self.put_pairs(b, a),
                Clause::Any(start, _) => {
                    let (a, b) = self.orders[(start + possibility) as usize];
                    self.order.put(a, b)
                }
            };
            if is_put && self.settle(before) && self.choose_open(at) {
                return true;
            }
            self.undo(mark);
        }
        false
    }

    /// Adds a clause, unless it holds already. False if it cannot hold.
    fn one_of(&mut self, orders: &[Before]) -> bool {
        let known = look_at_any(&mut self.order, orders);
        if known == State::Open {
            self.clauses.push((Clause::Any(self.orders.len() as u32, orders.len() as u32), true));
            self.orders.extend_from_slice(orders);
        }
        known != State::Contradiction
    }

    /// Draws all conclusions from what was put into the order since a moment. False if they contradict each other.
    fn settle(&mut self, since: order::Mark) -> bool {
        let mut since = since;
        while !self.order.is_unchanged(since) {
            since = self.order.mark();
            for at in 0..self.clauses.len() {
                let (clause, open) = self.clauses[at];
                if !open {
                    continue;
                }
                match self.look(clause) {
                    State::Open => {}
                    State::Contradiction => return false,
                    State::Holds => {
                        self.clauses[at].1 = false;
                        self.changes.push(Change::Settled(at as u32));
                    }
                }
            }
        }
        true
    }

    /// What is known of a clause; its last possibility is put into the order.
    fn look(&mut self, clause: Clause) -> State {
        match clause {
            Clause::Pairs(a, b) => self.look_at_pairs(a, b),
            Clause::Any(start, count) => {
                look_at_any(&mut self.order, &self.orders[start as usize..][..count as usize])
            }
        }
    }

    /// If the order of two pairs is known at one end, it holds at the other.
    fn look_at_pairs(&mut self, a: Pair, b: Pair) -> State {
        let order = &self.order;
        if order.before(b.posted, a.posted) && order.before(b.arrives, a.arrives) {
            return State::Holds;
        }
        let (first, second) = if order.before(a.arrives, b.arrives) || order.before(a.posted, b.posted) {
            (a, b)
        } else if order.before(b.arrives, a.arrives) || order.before(b.posted, a.posted) {
            (b, a)
        } else {
            return State::Open;
        };
        if self.put_pairs(first, second) { State::Holds } else { State::Contradiction }
    }

    fn put_pairs(&mut self, first: Pair, second: Pair) -> bool {
        self.order.put(first.arrives, second.arrives) && self.order.put(first.posted, second.posted)
    }
}

/// Whether one of a few orders holds, or may; the last that may is put into the order.
fn look_at_any(order: &mut Order, orders: &[Before]) -> State {
    if orders.iter().any(|&(a, b)| order.before(a, b)) {
        return State::Holds;
    }
    let mut open = orders.iter().filter(|&&(a, b)| a != b && !order.before(b, a));
    match (open.next(), open.next()) {
        (Some(_), Some(_)) => State::Open,
        (Some(&(a, b)), None) if order.put(a, b) => State::Holds,
        _ => State::Contradiction,
    }
}
