//! Tells fresh frames of living peers from all others: each sealed message is delivered once at most, also across restarts.
//!
//! A node draws a number, its *life*, whenever it starts. A message carries the lives of its sender and its receiver and
//! a number in sequence. It is taken only by the life of the receiver that it is meant for, which remembers the numbers
//! that it has taken of each life of each sender: so what was recorded on the wire is of no use, neither now nor after a
//! restart. A sender learns the life of a receiver by `Hello` and `Welcome`; who gets a message for an earlier life of its
//! own answers with `Welcome` too.
//!
//! What is remembered grows by one window for each restart of a peer, and by nothing that a stranger can do.

use std::collections::BTreeMap;

use simurgh_protocol::ActorId;

use crate::counters::Count;
use crate::frame::{Frame, Key, Kind};

/// What is to be done with bytes that came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A message for the actor.
    Deliver(ActorId, Vec<u8>),
    /// Whoever sent this is to get that answer.
    Reply(Vec<u8>),
    /// A message for an earlier life: dropped, and its sender is to get that answer.
    Outdated(Vec<u8>),
    /// The life of a peer is known now.
    Welcomed(ActorId),
    /// The connection comes from a living peer.
    Ready,
    /// Nothing.
    Drop(Count),
}

/// What a node knows of the lives of its peers.
pub(crate) struct Sessions {
    me: u32,
    life: u64,
    key: Key,
    peers: Vec<Peer>,
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
        Self { me: me.0, life, key, peers: (0..nodes).map(|_| Peer::default()).collect() }
    }

    /// Asks a peer for its life.
    pub(crate) fn hello(&self, to: ActorId) -> Vec<u8> {
        self.frame(Kind::Hello, to.0, 0, 0, &[])
    }

    /// Proves a connection.
    pub(crate) fn ready(&mut self, to: ActorId) -> Option<Vec<u8>> {
        self.numbered(Kind::Ready, to, &[])
    }

    /// Seals a message, if the life of its receiver is known.
    pub(crate) fn seal(&mut self, to: ActorId, message: &[u8]) -> Option<Vec<u8>> {
        self.numbered(Kind::Data, to, message)
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
        if frame.to != self.me || frame.from == self.me || frame.from as usize >= self.peers.len() {
            return Verdict::Drop(Count::UnknownSender);
        }
        let welcome = || self.frame(Kind::Welcome, frame.from, frame.sender_life, 0, &[]);
        match frame.kind {
            Kind::Hello => Verdict::Reply(welcome()),
            _ if frame.receiver_life != self.life && frame.kind == Kind::Welcome => {
                Verdict::Drop(Count::Outdated)
            }
            _ if frame.receiver_life != self.life => Verdict::Outdated(welcome()),
            Kind::Welcome => {
                self.peers[frame.from as usize].life = Some(frame.sender_life);
                Verdict::Welcomed(ActorId(frame.from))
            }
            Kind::Ready | Kind::Data => {
                let taken = self.peers[frame.from as usize].taken.entry(frame.sender_life).or_default();
                if !taken.take(frame.sequence) {
                    Verdict::Drop(Count::Replayed)
                } else if frame.kind == Kind::Ready {
                    Verdict::Ready
                } else {
                    Verdict::Deliver(ActorId(frame.from), frame.message.into_owned())
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
