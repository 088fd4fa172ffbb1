//! The sessions of a node that talks by datagrams: which frame belongs to which, and when another one is due.
//!
//! Each node begins a session with each other for what it sends, and answers those of the others. What it began
//! counts once the answer has come; what it answered once something was opened in it: a greeting that is played back makes
//! a session in which nobody can say anything, and takes the place of none that counts. Of each peer the last two sessions that
//! count are kept, so that what was on its way when it began another still comes.
//!
//! A node that has forgotten a session, since it was started again, says so by `Unknown`, which anybody could say. So it
//! costs a greeting at most: the session stays until another one is there. What is proved is the incarnation of a peer that
//! begins a session: if it is not the one that this node talks to, another session is due at once.
//!
//! What is remembered is bounded, whatever strangers do and however often peers are started again.

use std::collections::VecDeque;
use std::sync::Arc;

use simurgh_protocol::ActorId;
use tokio::time::Instant;

use crate::counters::Count;
use crate::cut;
use crate::frame::{Header, Kind, OBSERVER};
use crate::noise::{Credentials, Greeting};
use crate::session::{Content, Session};

/// Greetings of a peer that were answered and not confirmed: more are due to who plays them back.
const UNCONFIRMED_MAX: usize = 8;
/// Sessions of a peer that count.
const CONFIRMED_MAX: usize = 2;
/// Sessions of observers that count.
const OBSERVERS_MAX: usize = 16;

/// What is to be done with a datagram that came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A message for the actor, behind the number of the cut that its sender was in.
    Deliver(ActorId, Vec<u8>),
    /// Whoever sent this is to get that answer.
    Reply(Vec<u8>),
    /// A frame of a session that is not known: dropped, and its sender is to get that hint.
    Outdated(Vec<u8>),
    /// There is a session for what is sent to this peer.
    Welcomed(ActorId),
    /// The session with a peer may be gone.
    Doubted,
    /// An observer asks for something, in this session.
    Observe(u64, Vec<u8>),
    /// Nothing.
    Drop(Count),
}

/// All sessions of a node.
pub(crate) struct Sessions {
    credentials: Arc<Credentials>,
    peers: Vec<Peer>,
    observers: Answered,
}

#[derive(Default)]
struct Peer {
    /// What was begun, and waits for its answer.
    greeting: Option<Greeting>,
    /// For what is sent.
    sending: Option<Session>,
    /// The session is there, but its other end may be gone.
    doubted: bool,
    answered: Answered,
}

/// Sessions that others began.
#[derive(Default)]
struct Answered {
    confirmed: VecDeque<Session>,
    unconfirmed: VecDeque<Unconfirmed>,
}

struct Unconfirmed {
    hello: Vec<u8>,
    welcome: Vec<u8>,
    session: Session,
}

/// What a session that somebody else began says of a frame.
enum Found {
    Opened { content: Content, message: Vec<u8>, began: Option<u64> },
    Wrong(Count),
    Nothing,
}

impl Answered {
    fn open(&mut self, header: &Header, behind: &[u8], confirmed_max: usize) -> Found {
        if let Some(session) = self.confirmed.iter_mut().find(|session| session.number == header.session) {
            return match session.open(header, behind) {
                Ok((content, message)) => Found::Opened { content, message, began: None },
                Err(count) => Found::Wrong(count),
            };
        }
        let found = self.unconfirmed.iter().position(|one| one.session.number == header.session);
        let Some(place) = found else { return Found::Nothing };
        // What does not open may be of a session with this number that was answered and forgotten: its sender has to begin again.
        let Ok((content, message)) = self.unconfirmed[place].session.open(header, behind) else {
            return Found::Nothing;
        };
        let Some(Unconfirmed { session, .. }) = self.unconfirmed.remove(place) else { return Found::Nothing };
        let began = Some(session.incarnation);
        self.confirmed.push_front(session);
        self.confirmed.truncate(confirmed_max);
        Found::Opened { content, message, began }
    }
}

impl Sessions {
    pub(crate) fn new(credentials: Arc<Credentials>, nodes: usize) -> Self {
        let peers = (0..nodes).map(|_| Peer::default()).collect();
        Self { credentials, peers, observers: Answered::default() }
    }

    /// The frame that begins a session with a peer: the same one until it is answered.
    pub(crate) fn hello(&mut self, to: ActorId) -> Vec<u8> {
        let Self { credentials, peers, .. } = self;
        peers[to.index()].greeting.get_or_insert_with(|| credentials.greet(to)).hello.clone()
    }

    /// Whether a session with a peer is to be begun: there is none, or its other end may be gone, or it is old.
    pub(crate) fn is_due(&self, to: ActorId) -> bool {
        let Peer { sending, doubted, .. } = &self.peers[to.index()];
        *doubted || sending.as_ref().is_none_or(|session| session.renewed_at <= Instant::now())
    }

    /// Nobody has answered a greeting: the session that is there has to do, until somebody doubts it again.
    pub(crate) fn make_do(&mut self, to: ActorId) -> bool {
        let peer = &mut self.peers[to.index()];
        peer.doubted = false;
        peer.sending.as_mut().map(Session::put_off).is_some()
    }

    /// Seals a message that lies behind the number of a cut, if there is a session with its receiver.
    pub(crate) fn seal(&mut self, to: ActorId, behind: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.peers[to.index()].sending.as_mut()?.seal_message(behind, &mut bytes);
        Some(bytes)
    }

    /// Answers an observer, if its session is still known.
    pub(crate) fn answer(&mut self, session: u64, answer: &[u8]) -> Option<Vec<u8>> {
        let session = self.observers.confirmed.iter_mut().find(|known| known.number == session)?;
        let mut bytes = Vec::new();
        session.seal(Content::Answer, answer, &mut bytes);
        Some(bytes)
    }

    /// Judges a datagram that came in, from whomever.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Verdict {
        let (header, behind) = match Header::read(bytes) {
            Ok(read) => read,
            Err(count) => return Verdict::Drop(count),
        };
        if header.to != self.credentials.me || !self.credentials.knows(header.from) {
            return Verdict::Drop(Count::UnknownSender);
        }
        let from = ActorId(header.from);
        match header.kind {
            Kind::Hello => self.greeted(bytes, &header, behind),
            Kind::Sealed => self.opened(&header, behind),
            Kind::Welcome => {
                let peer = self.peers.get_mut(from.index()).ok_or(Count::UnknownSender);
                let welcomed = peer.and_then(|peer| peer.welcomed(&header, behind));
                welcomed.map_or_else(Verdict::Drop, |()| Verdict::Welcomed(from))
            }
            Kind::Unknown => match self.peers.get_mut(from.index()) {
                Some(Peer { sending: Some(session), doubted, .. }) if session.number == header.session => {
                    *doubted = true;
                    Verdict::Doubted
                }
                _ => Verdict::Drop(Count::Outdated),
            },
        }
    }

    fn greeted(&mut self, bytes: &[u8], header: &Header, behind: &[u8]) -> Verdict {
        let answered = match self.peers.get_mut(header.from as usize) {
            Some(peer) => &mut peer.answered,
            None => &mut self.observers,
        };
        if answered.confirmed.iter().any(|session| session.number == header.session) {
            return Verdict::Drop(Count::Replayed);
        }
        if let Some(again) = answered.unconfirmed.iter().find(|one| one.hello == bytes) {
            return Verdict::Reply(again.welcome.clone());
        }
        match self.credentials.answer(header, behind) {
            Ok((session, welcome)) => {
                answered.unconfirmed.truncate(UNCONFIRMED_MAX - 1);
                let hello = bytes.to_vec();
                answered.unconfirmed.push_front(Unconfirmed { hello, welcome: welcome.clone(), session });
                Verdict::Reply(welcome)
            }
            Err(count) => Verdict::Drop(count),
        }
    }

    fn opened(&mut self, header: &Header, behind: &[u8]) -> Verdict {
        let from = ActorId(header.from);
        let found = match self.peers.get_mut(from.index()) {
            Some(peer) => peer.answered.open(header, behind, CONFIRMED_MAX),
            None => self.observers.open(header, behind, OBSERVERS_MAX),
        };
        let (content, message) = match found {
            Found::Opened { content, message, began } => {
                if let (Some(peer), Some(incarnation)) = (self.peers.get_mut(from.index()), began) {
                    // It was started again, and knows nothing of what was said to it before.
                    peer.doubted |=
                        peer.sending.as_ref().is_some_and(|session| session.incarnation != incarnation);
                }
                (content, message)
            }
            Found::Wrong(count) => return Verdict::Drop(count),
            Found::Nothing => {
                let (kind, session, nonce) = (Kind::Unknown, header.session, header.nonce);
                let mut hint = Vec::new();
                Header { kind, from: header.to, to: header.from, session, nonce }.write(0, &mut hint);
                return Verdict::Outdated(hint);
            }
        };
        match content {
            Content::Message => Verdict::Deliver(from, cut::behind(0, &message)),
            Content::InCut => Verdict::Deliver(from, message),
            Content::Question if header.from == OBSERVER => Verdict::Observe(header.session, message),
            Content::Alive | Content::Question | Content::Answer | Content::Piece => {
                Verdict::Drop(Count::NotUnderstood)
            }
        }
    }
}

impl Peer {
    fn welcomed(&mut self, header: &Header, behind: &[u8]) -> Result<(), Count> {
        match self.greeting.take().ok_or(Count::Outdated)?.answered(header, behind) {
            Ok(session) => {
                self.sending = Some(session);
                self.doubted = false;
                Ok(())
            }
            Err((greeting, count)) => {
                self.greeting = Some(greeting);
                Err(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::tests::credentials;

    const ALICE: ActorId = ActorId(0);
    const BOB: ActorId = ActorId(1);

    /// A node that starts.
    fn node(me: ActorId) -> Sessions {
        Sessions::new(Arc::new(credentials(me.0, "one")), 2)
    }

    /// `from` begins a session with `to`; what went over the wire.
    fn greet(from: &mut Sessions, to: &mut Sessions) -> [Vec<u8>; 2] {
        let peer = ActorId(to.credentials.me);
        let hello = from.hello(peer);
        let Verdict::Reply(welcome) = to.receive(&hello) else { panic!("a reply") };
        assert_eq!(from.receive(&welcome), Verdict::Welcomed(peer));
        [hello, welcome]
    }

    fn say(from: &mut Sessions, to: ActorId, number: u64) -> Vec<u8> {
        from.seal(to, &cut::behind(number, b"hi")).expect("there is a session")
    }

    fn heard(from: ActorId, number: u64) -> Verdict {
        Verdict::Deliver(from, cut::behind(number, b"hi"))
    }

    #[test]
    fn a_message_is_taken_once_and_by_one_incarnation() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        assert_eq!(alice.seal(BOB, b"hi"), None);
        greet(&mut alice, &mut bob);
        let sealed = say(&mut alice, BOB, 0);
        assert_eq!(bob.receive(&sealed), heard(ALICE, 0));
        assert_eq!(bob.receive(&sealed), Verdict::Drop(Count::Replayed));
        assert_eq!(alice.receive(&sealed), Verdict::Drop(Count::UnknownSender), "it is not for alice");

        // Bob starts again: what was recorded is refused, and the hint lets alice begin another session.
        let mut bob = node(BOB);
        let Verdict::Outdated(hint) = bob.receive(&sealed) else { panic!("it is outdated") };
        assert!(hint.len() < sealed.len() && !alice.is_due(BOB));
        assert_eq!(alice.receive(&hint), Verdict::Doubted);
        assert!(alice.is_due(BOB));
        greet(&mut alice, &mut bob);
        assert!(!alice.is_due(BOB));
        assert_eq!(bob.receive(&say(&mut alice, BOB, 7)), heard(ALICE, 7));
        assert_eq!(alice.receive(&hint), Verdict::Drop(Count::Outdated), "it was of another session");

        // Alice starts again: what is left of her earlier incarnation counts once still, and shuts nobody out.
        let late = say(&mut alice, BOB, 1);
        let mut alice = node(ALICE);
        greet(&mut alice, &mut bob);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 2)), heard(ALICE, 2));
        assert_eq!(bob.receive(&late), heard(ALICE, 1));
        assert_eq!(bob.receive(&late), Verdict::Drop(Count::Replayed));
        assert_eq!(bob.receive(&say(&mut alice, BOB, 3)), heard(ALICE, 3));
    }

    /// What went wrong: a recorded `Welcome` set a node back to an incarnation of its peer that was dead.
    #[test]
    fn a_handshake_that_is_played_back_changed_whom_a_node_talked_to() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        let old = greet(&mut alice, &mut bob);
        let old_of_bob = greet(&mut bob, &mut alice);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
        let mut bob = node(BOB);
        alice.peers[1].doubted = true;
        greet(&mut alice, &mut bob);
        for recorded in old.iter().chain(&old_of_bob) {
            alice.receive(recorded);
            bob.receive(recorded);
            assert!(!alice.is_due(BOB));
            assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
        }
        // Nor while the answer is waited for.
        alice.peers[1].doubted = true;
        let hello = alice.hello(BOB);
        assert_eq!(alice.receive(&old[1]), Verdict::Drop(Count::Outdated));
        let Verdict::Reply(welcome) = bob.receive(&hello) else { panic!("a reply") };
        assert_eq!(alice.receive(&welcome), Verdict::Welcomed(BOB));
    }

    #[test]
    fn greetings_that_are_played_back_take_the_place_of_none_that_counts() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        let recorded: Vec<Vec<u8>> = (0..50).map(|_| node(ALICE).hello(BOB)).collect();
        greet(&mut alice, &mut bob);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
        for hello in &recorded {
            assert!(matches!(bob.receive(hello), Verdict::Reply(_)));
        }
        assert_eq!(bob.peers[0].answered.unconfirmed.len(), UNCONFIRMED_MAX);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
        // A greeting that is sent again, since the answer was lost, gets the same answer.
        let hello = alice.hello(BOB);
        let replies = [bob.receive(&hello), bob.receive(&hello)];
        assert_eq!(replies[0], replies[1]);
    }

    #[test]
    fn an_answer_that_was_forgotten_leaves_nobody_stuck() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        let hello = alice.hello(BOB);
        let Verdict::Reply(first) = bob.receive(&hello) else { panic!("a reply") };
        bob.peers[0].answered.unconfirmed.clear();
        let Verdict::Reply(_) = bob.receive(&hello) else { panic!("a reply") };
        assert_eq!(alice.receive(&first), Verdict::Welcomed(BOB));
        let Verdict::Outdated(hint) = bob.receive(&say(&mut alice, BOB, 0)) else {
            panic!("it does not open")
        };
        alice.receive(&hint);
        assert!(alice.is_due(BOB));
        greet(&mut alice, &mut bob);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
    }

    #[test]
    fn a_session_is_renewed_and_nothing_is_lost() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        greet(&mut alice, &mut bob);
        let late = say(&mut alice, BOB, 1);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 2)), heard(ALICE, 2));
        assert!(!alice.is_due(BOB));
        let age = |node: &mut Sessions| {
            node.peers[1].sending.as_mut().expect("there is a session").renewed_at = Instant::now();
        };
        age(&mut alice);
        assert!(alice.is_due(BOB));
        // As long as bob does not answer, the old one has to do.
        assert!(alice.make_do(BOB) && !alice.is_due(BOB));
        assert_eq!(bob.receive(&say(&mut alice, BOB, 3)), heard(ALICE, 3));
        age(&mut alice);
        let before = alice.peers[1].sending.as_ref().map(|session| session.number);
        greet(&mut alice, &mut bob);
        assert!(
            !alice.is_due(BOB) && before != alice.peers[1].sending.as_ref().map(|session| session.number)
        );
        assert_eq!(bob.receive(&say(&mut alice, BOB, 4)), heard(ALICE, 4));
        assert_eq!(bob.receive(&late), heard(ALICE, 1));
    }

    #[test]
    fn a_peer_that_was_started_again_is_greeted_at_once() {
        let (mut alice, mut bob) = (node(ALICE), node(BOB));
        greet(&mut alice, &mut bob);
        assert_eq!(bob.receive(&say(&mut alice, BOB, 0)), heard(ALICE, 0));
        let mut bob = node(BOB);
        greet(&mut bob, &mut alice);
        assert!(!alice.is_due(BOB), "a greeting alone proves nothing");
        assert_eq!(alice.receive(&say(&mut bob, ALICE, 0)), heard(BOB, 0));
        assert!(alice.is_due(BOB));
        assert!(alice.make_do(BOB) && !alice.is_due(BOB));
    }
}
