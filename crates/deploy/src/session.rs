//! Tells fresh frames of living peers from all others: each sealed message is delivered once at most, also across restarts.
//!
//! A node draws a number, its *life*, whenever it starts. A message carries the lives of its sender and its receiver and
//! a number in sequence. It is taken only by the life of the receiver that it is meant for, which remembers the numbers
//! that it has taken of each life of each sender: so what was recorded on the wire is of no use, neither now nor after a
//! restart. A sender learns the life of a receiver by `Hello` and `Welcome`; who gets a message for an earlier life of its
//! own answers with `Welcome` too.
//!
//! What is remembered grows by one window for each restart of a peer or an observer, and by nothing that a stranger can
//! do. An observer has the key and is none of the nodes: it asks, and is answered; it sends no messages.

use std::collections::BTreeMap;

use simurgh_protocol::ActorId;

use crate::counters::Count;
use crate::cut;
use crate::frame::{Frame, Key, Kind, OBSERVER};

/// What is to be done with bytes that came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A message for the actor, behind the number of the cut that its sender was in.
    Deliver(ActorId, Vec<u8>),
    /// Whoever sent this is to get that answer.
    Reply(Vec<u8>),
    /// A message for an earlier life: dropped, and its sender is to get that answer.
    Outdated(Vec<u8>),
    /// The life of a peer is known now.
    Welcomed(ActorId),
    /// The connection comes from a living peer, or from an observer.
    Ready(ActorId),
    /// An observer asks for something.
    Observe(Asked),
    /// A node answers what was asked under this number.
    Observed(u64, Vec<u8>),
    /// Nothing.
    Drop(Count),
}

/// What an observer asked, and what the answer needs to reach it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    life: u64,
    sequence: u64,
    pub(crate) request: Vec<u8>,
}

/// What a node knows of the lives of its peers.
pub(crate) struct Sessions {
    me: u32,
    life: u64,
    key: Key,
    peers: Vec<Peer>,
    observer: Peer,
}

#[derive(Default)]
struct Peer {
    /// For sending.
    life: Option<u64>,
    sequence: u64,
    /// For receiving: what was taken of each life.
    taken: BTreeMap<u64, Window>,
}

/// Which of the last 128 numbers were taken; what is older counts as taken.
#[derive(Default)]
struct Window {
    last: u64,
    bits: u128,
}

impl Window {
    /// Takes a number, and says whether it was not taken before.
    fn take(&mut self, number: u64) -> bool {
        if number > self.last {
            let ahead = number - self.last;
            self.bits = if ahead < 128 { self.bits << ahead } else { 0 } | 1;
            self.last = number;
            return true;
        }
        let behind = self.last - number;
        if behind >= 128 || self.bits & (1 << behind) != 0 {
            return false;
        }
        self.bits |= 1 << behind;
        true
    }
}

impl Sessions {
    /// A node that begins a life; `life` must be drawn at random.
    pub(crate) fn new(me: ActorId, nodes: usize, key: Key, life: u64) -> Self {
        let peers = (0..nodes).map(|_| Peer::default()).collect();
        Self { me: me.0, life, key, peers, observer: Peer::default() }
    }

    /// Somebody who looks at all nodes from outside.
    pub(crate) fn observer(nodes: usize, key: Key, life: u64) -> Self {
        Self::new(ActorId(OBSERVER), nodes, key, life)
    }

    /// Asks a peer for its life.
    pub(crate) fn hello(&self, to: ActorId) -> Vec<u8> {
        self.frame(Kind::Hello, to.0, 0, 0, &[])
    }

    /// Proves a connection.
    pub(crate) fn ready(&mut self, to: ActorId) -> Option<Vec<u8>> {
        self.numbered(Kind::Ready, to, &[])
    }

    /// Seals a message that lies behind the number of a cut, if the life of its receiver is known. As long as there was no
    /// cut, no number goes over the wire.
    pub(crate) fn seal(&mut self, to: ActorId, behind: &[u8]) -> Option<Vec<u8>> {
        match cut::apart(behind) {
            Some((0, message)) => self.numbered(Kind::Data, to, message),
            _ => self.numbered(Kind::InCut, to, behind),
        }
    }

    /// Asks a node for something, if its life is known; gives the number of the question, too.
    pub(crate) fn ask(&mut self, to: ActorId, request: &[u8]) -> Option<(u64, Vec<u8>)> {
        let sealed = self.numbered(Kind::Observe, to, request)?;
        Some((self.peers[to.index()].sequence, sealed))
    }

    /// Answers an observer.
    pub(crate) fn answer(&mut self, asked: &Asked, answer: &[u8]) -> Vec<u8> {
        // A number of its own, so that no two answers are encrypted alike; behind that of the question.
        self.observer.sequence += 1;
        let answer = cut::behind(asked.sequence, answer);
        self.frame(Kind::Observed, OBSERVER, asked.life, self.observer.sequence, &answer)
    }

    fn numbered(&mut self, kind: Kind, to: ActorId, message: &[u8]) -> Option<Vec<u8>> {
        let peer = &mut self.peers[to.index()];
        let life = peer.life?;
        peer.sequence += 1;
        let sequence = peer.sequence;
        Some(self.frame(kind, to.0, life, sequence, message))
    }

    fn frame(&self, kind: Kind, to: u32, receiver_life: u64, sequence: u64, message: &[u8]) -> Vec<u8> {
        let (from, sender_life) = (self.me, self.life);
        let message = message.into();
        self.key.seal(&Frame { kind, from, to, sender_life, receiver_life, sequence, message })
    }

    /// Judges bytes that came in, from whomever.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Verdict {
        let frame = match self.key.open(bytes) {
            Ok(frame) => frame,
            Err(count) => return Verdict::Drop(count),
        };
        let is_observer = frame.from == OBSERVER;
        if frame.to != self.me
            || frame.from == self.me
            || frame.from as usize >= self.peers.len() && !is_observer
            || is_observer && matches!(frame.kind, Kind::Welcome | Kind::Data | Kind::InCut | Kind::Observed)
            || !is_observer && frame.kind == Kind::Observe
            || self.me != OBSERVER && frame.kind == Kind::Observed
        {
            return Verdict::Drop(Count::UnknownSender);
        }
        let welcome = || self.frame(Kind::Welcome, frame.from, frame.sender_life, 0, &[]);
        match frame.kind {
            Kind::Hello => Verdict::Reply(welcome()),
            _ if frame.receiver_life != self.life && matches!(frame.kind, Kind::Welcome | Kind::Observed) => {
                Verdict::Drop(Count::Outdated)
            }
            _ if frame.receiver_life != self.life => Verdict::Outdated(welcome()),
            Kind::Welcome => {
                self.peers[frame.from as usize].life = Some(frame.sender_life);
                Verdict::Welcomed(ActorId(frame.from))
            }
            Kind::Observed => match cut::apart(&frame.message) {
                Some((number, answer)) => Verdict::Observed(number, answer.to_vec()),
                None => Verdict::Drop(Count::NotUnderstood),
            },
            Kind::Ready | Kind::Data | Kind::InCut | Kind::Observe => {
                let peer = self.peers.get_mut(frame.from as usize).unwrap_or(&mut self.observer);
                let taken = peer.taken.entry(frame.sender_life).or_default();
                if !taken.take(frame.sequence) {
                    return Verdict::Drop(Count::Replayed);
                }
                let message = frame.message.into_owned();
                match frame.kind {
                    Kind::Data => Verdict::Deliver(ActorId(frame.from), cut::behind(0, &message)),
                    Kind::InCut => Verdict::Deliver(ActorId(frame.from), message),
                    Kind::Observe => {
                        let (life, sequence) = (frame.sender_life, frame.sequence);
                        Verdict::Observe(Asked { life, sequence, request: message })
                    }
                    _ => Verdict::Ready(ActorId(frame.from)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::key;
    use proptest::prelude::*;

    fn node(me: u32, life: u64) -> Sessions {
        Sessions::new(ActorId(me), 2, key("one"), life)
    }

    /// `from` learns the life of `to`.
    fn greet(from: &mut Sessions, to: &mut Sessions) {
        let Verdict::Reply(welcome) = to.receive(&from.hello(ActorId(to.me))) else { panic!("a reply") };
        assert_eq!(from.receive(&welcome), Verdict::Welcomed(ActorId(to.me)));
    }

    #[test]
    fn a_message_is_taken_once_and_by_one_life() {
        let (mut alice, mut bob) = (node(0, 10), node(1, 20));
        assert_eq!(alice.seal(ActorId(1), b"hi"), None);
        greet(&mut alice, &mut bob);
        let sealed = alice.seal(ActorId(1), b"hi").expect("bob's life is known");
        assert_eq!(bob.receive(&sealed), Verdict::Deliver(ActorId(0), b"hi".to_vec()));
        assert_eq!(bob.receive(&sealed), Verdict::Drop(Count::Replayed));
        assert_eq!(alice.receive(&sealed), Verdict::Drop(Count::UnknownSender), "it is not for alice");

        // Bob starts again: what was recorded is refused, and the answer lets alice go on.
        let mut bob = node(1, 21);
        let Verdict::Outdated(welcome) = bob.receive(&sealed) else { panic!("it is outdated") };
        assert_eq!(alice.receive(&welcome), Verdict::Welcomed(ActorId(1)));
        let sealed = alice.seal(ActorId(1), b"again").expect("bob's life is known");
        assert_eq!(bob.receive(&sealed), Verdict::Deliver(ActorId(0), b"again".to_vec()));

        // Alice starts again: what is left of her earlier life counts once still, and shuts nobody out.
        let late = alice.seal(ActorId(1), b"late").expect("bob's life is known");
        let mut alice = node(0, 11);
        assert_eq!(alice.receive(&welcome), Verdict::Drop(Count::Outdated), "it was for an earlier life");
        greet(&mut alice, &mut bob);
        let fresh = alice.seal(ActorId(1), b"fresh").expect("bob's life is known");
        assert_eq!(bob.receive(&fresh), Verdict::Deliver(ActorId(0), b"fresh".to_vec()));
        assert_eq!(bob.receive(&late), Verdict::Deliver(ActorId(0), b"late".to_vec()));
        assert_eq!(bob.receive(&late), Verdict::Drop(Count::Replayed));
        let fresh = alice.seal(ActorId(1), b"more").expect("bob's life is known");
        assert_eq!(bob.receive(&fresh), Verdict::Deliver(ActorId(0), b"more".to_vec()));
    }

    #[test]
    fn an_observer_asks_and_is_answered_and_can_say_nothing_else() {
        let mut bob = node(1, 20);
        let mut observer = Sessions::observer(2, key("one"), 30);
        greet(&mut observer, &mut bob);
        let (number, question) = observer.ask(ActorId(1), b"how are you?").expect("bob's life is known");
        let Verdict::Observe(asked) = bob.receive(&question) else { panic!("it is a question") };
        assert_eq!(asked.request, b"how are you?");
        assert_eq!(bob.receive(&question), Verdict::Drop(Count::Replayed));
        let answer = bob.answer(&asked, b"fine");
        assert_eq!(observer.receive(&answer), Verdict::Observed(number, b"fine".to_vec()));
        let other = &mut Sessions::observer(2, key("one"), 31);
        assert_eq!(other.receive(&answer), Verdict::Drop(Count::Outdated), "it was for another");
        let message = observer.seal(ActorId(1), b"from nobody").expect("bob's life is known");
        assert_eq!(bob.receive(&message), Verdict::Drop(Count::UnknownSender));

        // Nodes do not ask each other, and answer nobody else.
        let mut alice = node(0, 10);
        greet(&mut alice, &mut bob);
        let (_, question) = alice.ask(ActorId(1), b"?").expect("bob's life is known");
        assert_eq!(bob.receive(&question), Verdict::Drop(Count::UnknownSender));
    }

    proptest! {
        /// In whatever order frames come, and however often: each is delivered once at most, and if none comes more
        /// than 127 places late, each that came is delivered.
        #[test]
        fn nothing_is_delivered_twice(order in prop::collection::vec(0_usize..100, 0..400)) {
            let (mut alice, mut bob) = (node(0, 10), node(1, 20));
            greet(&mut alice, &mut bob);
            let seal = |number: u8| alice.seal(ActorId(1), &[number]).expect("bob's life is known");
            let sealed: Vec<_> = (0..100).map(seal).collect();
            let mut came = std::collections::BTreeSet::new();
            for number in order {
                let expected = if came.insert(number) {
                    Verdict::Deliver(ActorId(0), vec![number as u8])
                } else {
                    Verdict::Drop(Count::Replayed)
                };
                prop_assert_eq!(bob.receive(&sealed[number]), expected);
            }
        }

        #[test]
        fn a_window_takes_a_number_once(numbers in prop::collection::vec(1_u64..1000, 0..300)) {
            let mut window = Window::default();
            let mut taken = std::collections::BTreeSet::new();
            for number in numbers {
                let last = taken.last().copied().unwrap_or(0);
                let fresh = !taken.contains(&number) && number + 128 > last;
                prop_assert_eq!(window.take(number), fresh);
                if fresh {
                    taken.insert(number);
                }
            }
        }
    }
}
