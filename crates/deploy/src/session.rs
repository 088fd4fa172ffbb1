//! What two say to each other after a handshake: each frame is opened once at most, and only in its session.
//!
//! A session belongs to one incarnation of either side, which the handshake has proved. A frame has a number, the nonce of the cipher. Over
//! datagrams a window of the last 128 numbers tells what was taken; over a stream the numbers have no gaps. So what was
//! recorded on the wire is of no use: neither now, nor in another session, nor after a restart.

use std::time::Duration;

use snow::StatelessTransportState;
use tokio::time::Instant;

use crate::counters::Count;
use crate::cut;
use crate::frame::{Header, Kind, OBSERVER, PIECE_MAX, TAG};

/// After so long, whoever began a session begins another, with other keys: who takes the memory of a node learns no more than was said since.
const RENEWED: Duration = Duration::from_secs(600);

/// What a sealed frame contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing: whoever sent it lives, and has the keys of the session.
    Alive = 1,
    /// A message.
    Message = 2,
    /// A message behind the number of the last cut that its sender was in; see `cut`.
    InCut = 3,
    /// An observer asks for something.
    Question = 4,
    /// The answer to an observer.
    Answer = 5,
    /// A piece of what the next frame goes on with.
    Piece = 6,
}

/// One end of a session.
pub(crate) struct Session {
    state: StatelessTransportState,
    me: u32,
    pub(crate) peer: u32,
    pub(crate) number: u64,
    /// Which incarnation of the peer is at the other end.
    pub(crate) incarnation: u64,
    /// When another session is to be begun in its place.
    pub(crate) renewed_at: Instant,
    sent: u64,
    taken: Window,
}

/// Which of the last 128 numbers were taken; what is older counts as taken.
#[derive(Default)]
struct Window {
    last: u64,
    bits: u128,
}

impl Window {
    fn is_fresh(&self, number: u64) -> bool {
        let behind = self.last.saturating_sub(number);
        number > self.last || behind < 128 && self.bits & (1 << behind) == 0
    }

    /// Takes a number, and says whether it was not taken before.
    fn take(&mut self, number: u64) -> bool {
        if !self.is_fresh(number) {
            return false;
        }
        if number > self.last {
            let ahead = number - self.last;
            self.bits = if ahead < 128 { self.bits << ahead } else { 0 };
            self.last = number;
        }
        self.bits |= 1 << (self.last - number);
        true
    }
}

impl Session {
    pub(crate) fn new(
        state: StatelessTransportState,
        me: u32,
        peer: u32,
        number: u64,
        incarnation: u64,
    ) -> Self {
        let (renewed_at, taken) = (Instant::now() + RENEWED, Window::default());
        Self { state, me, peer, number, incarnation, renewed_at, sent: 0, taken }
    }

    /// Nobody answers: it is tried again later.
    pub(crate) fn put_off(&mut self) {
        self.renewed_at = Instant::now() + RENEWED;
    }

    /// Appends the frames in which something is said: one, unless it is longer than that.
    pub(crate) fn seal(&mut self, content: Content, mut message: &[u8], bytes: &mut Vec<u8>) {
        while message.len() > PIECE_MAX {
            let (piece, rest) = message.split_at(PIECE_MAX);
            self.seal_one(Content::Piece, piece, bytes);
            message = rest;
        }
        self.seal_one(content, message, bytes);
    }

    /// The same for a message that lies behind the number of a cut. As long as there was no cut, no number goes over the wire.
    pub(crate) fn seal_message(&mut self, behind: &[u8], bytes: &mut Vec<u8>) {
        match cut::apart(behind) {
            Some((0, message)) => self.seal(Content::Message, message, bytes),
            _ => self.seal(Content::InCut, behind, bytes),
        }
    }

    fn seal_one(&mut self, content: Content, message: &[u8], bytes: &mut Vec<u8>) {
        self.sent += 1;
        let (from, to, session, nonce) = (self.me, self.peer, self.number, self.sent);
        let plain = [&[content as u8], message].concat();
        Header { kind: Kind::Sealed, from, to, session, nonce }.write(plain.len() + TAG, bytes);
        let begin = bytes.len();
        bytes.resize(begin + plain.len() + TAG, 0);
        self.state.write_message(nonce, &plain, &mut bytes[begin..]).expect("a piece is short enough");
    }

    /// What a datagram says, if it is one of this session that was not taken before.
    pub(crate) fn open(&mut self, header: &Header, behind: &[u8]) -> Result<(Content, Vec<u8>), Count> {
        if !self.taken.is_fresh(header.nonce) {
            // Who cannot make a frame of this session is not told what was taken, nor counted as who can.
            self.decrypted(header, behind)?;
            return Err(Count::Replayed);
        }
        let opened = self.decrypted(header, behind)?;
        self.taken.take(header.nonce);
        Ok(opened)
    }

    /// What the next frame of a stream says: a stream that leaves out or repeats one is not what its sender wrote.
    pub(crate) fn open_next(&mut self, header: &Header, behind: &[u8]) -> Result<(Content, Vec<u8>), Count> {
        if header.nonce <= self.taken.last {
            return Err(Count::Replayed);
        }
        let opened = self.decrypted(header, behind)?;
        if header.nonce != self.taken.last + 1 {
            return Err(Count::NotAuthentic);
        }
        self.taken.last = header.nonce;
        Ok(opened)
    }

    fn decrypted(&self, header: &Header, behind: &[u8]) -> Result<(Content, Vec<u8>), Count> {
        if (header.kind, header.from, header.to, header.session)
            != (Kind::Sealed, self.peer, self.me, self.number)
        {
            return Err(Count::Outdated);
        }
        let mut plain = vec![0; behind.len().saturating_sub(TAG)];
        match self.state.read_message(header.nonce, behind, &mut plain) {
            Ok(length) if length == plain.len() => {}
            _ => return Err(Count::NotAuthentic),
        }
        let content = match plain.first() {
            Some(1) => Content::Alive,
            Some(2) => Content::Message,
            Some(3) => Content::InCut,
            Some(4) => Content::Question,
            Some(5) => Content::Answer,
            Some(6) => Content::Piece,
            _ => return Err(Count::NotUnderstood),
        };
        // An observer asks and is answered, and says nothing else; nodes do not ask each other.
        let (to_observer, from_observer) = (self.me == OBSERVER, self.peer == OBSERVER);
        let may = match content {
            Content::Alive | Content::Piece => true,
            Content::Message | Content::InCut => !to_observer && !from_observer,
            Content::Question => from_observer,
            Content::Answer => to_observer,
        };
        if !may {
            return Err(Count::UnknownSender);
        }
        plain.remove(0);
        Ok((content, plain))
    }
}

/// Puts pieces together.
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    longest: usize,
}

impl Pieces {
    /// `longest` bytes may come of them.
    pub(crate) fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), longest }
    }

    /// Takes the next frame: what is said, once it is whole.
    pub(crate) fn add(
        &mut self,
        (content, message): (Content, Vec<u8>),
    ) -> Result<Option<(Content, Vec<u8>)>, Count> {
        if self.bytes.len() + message.len() > self.longest {
            return Err(Count::TooLong);
        }
        if content == Content::Piece {
            self.bytes.extend(message);
            return Ok(None);
        }
        if self.bytes.is_empty() {
            return Ok(Some((content, message)));
        }
        self.bytes.extend(message);
        Ok(Some((content, std::mem::take(&mut self.bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment::Deployment;
    use crate::noise::Credentials;
    use crate::noise::tests::{credentials, deployment, meet};
    use proptest::prelude::*;

    fn two() -> (Session, Session) {
        meet(&credentials(0, "one"), &credentials(1, "one")).expect("they share a key")
    }

    fn sealed(by: &mut Session, content: Content, message: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        by.seal(content, message, &mut bytes);
        bytes
    }

    fn opened(by: &mut Session, frame: &[u8]) -> Result<(Content, Vec<u8>), Count> {
        let (header, behind) = Header::read(frame)?;
        by.open(&header, behind)
    }

    #[test]
    fn observers_ask_and_are_answered_and_can_say_nothing_else() {
        let deployment: Deployment = deployment("one", "udp", "b");
        let (observer, bob) = (Credentials::observer(&deployment), credentials(1, "one"));
        let (mut asks, mut answers) = meet(&observer, &bob).expect("an observer has the key");
        let question = sealed(&mut asks, Content::Question, b"how are you?");
        assert_eq!(opened(&mut answers, &question), Ok((Content::Question, b"how are you?".to_vec())));
        let answer = sealed(&mut answers, Content::Answer, b"fine");
        assert_eq!(opened(&mut asks, &answer), Ok((Content::Answer, b"fine".to_vec())));
        for content in [Content::Message, Content::InCut, Content::Answer] {
            let said = sealed(&mut asks, content, b"from nobody");
            assert_eq!(opened(&mut answers, &said), Err(Count::UnknownSender));
        }
        let (mut alice, mut bob) = two();
        for content in [Content::Question, Content::Answer] {
            assert_eq!(opened(&mut bob, &sealed(&mut alice, content, b"?")), Err(Count::UnknownSender));
        }
    }

    #[test]
    fn a_stream_is_what_its_sender_wrote() {
        let (mut alice, mut bob) = two();
        let frames: Vec<Vec<u8>> =
            (0..3).map(|number| sealed(&mut alice, Content::Message, &[number])).collect();
        let mut next = |place: usize| {
            let (header, behind) = Header::read(&frames[place]).expect("it is a frame");
            bob.open_next(&header, behind)
        };
        assert_eq!(next(0), Ok((Content::Message, vec![0])));
        assert_eq!(next(0), Err(Count::Replayed));
        assert_eq!(next(2), Err(Count::NotAuthentic), "one is left out");
        assert_eq!(next(1), Ok((Content::Message, vec![1])));
    }

    #[test]
    fn what_is_long_goes_in_pieces() {
        let (mut alice, mut bob) = two();
        let message: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let bytes = sealed(&mut alice, Content::Message, &message);
        let (mut at, mut pieces, mut short) = (0, Pieces::new(200_000), Pieces::new(199_999));
        loop {
            let length = crate::frame::frame_length(&bytes[at..]).expect("a frame").expect("its length");
            let frame = opened(&mut bob, &bytes[at..at + length]).expect("it opens");
            at += length;
            let too_long = short.add(frame.clone());
            if let Some(whole) = pieces.add(frame).expect("it is short enough") {
                assert_eq!((whole, at), ((Content::Message, message), bytes.len()));
                assert_eq!(too_long, Err(Count::TooLong));
                return;
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_nothing_else_does(message: Vec<u8>, place: usize, flip in 1_u8..) {
            let (mut alice, mut bob) = two();
            let mut bytes = sealed(&mut alice, Content::Message, &message);
            prop_assert!(message.len() < 4 || !bytes.windows(message.len()).any(|window| window == message));
            let (_, mut other) = two();
            prop_assert_eq!(opened(&mut other, &bytes), Err(Count::Outdated), "it is of another session");
            prop_assert_eq!(opened(&mut alice, &bytes), Err(Count::Outdated), "it is not for alice");
            let place = place % bytes.len();
            bytes[place] ^= flip;
            prop_assert!(opened(&mut bob, &bytes).is_err(), "one byte differs, and it opens");
            bytes[place] ^= flip;
            prop_assert_eq!(opened(&mut bob, &bytes), Ok((Content::Message, message)));
            prop_assert_eq!(opened(&mut bob, &bytes), Err(Count::Replayed));
        }

        /// In whatever order frames come, and however often: each is opened once at most, and if none comes more
        /// than 127 places late, each that came is opened.
        #[test]
        fn nothing_is_opened_twice(order in prop::collection::vec(0_usize..100, 0..400)) {
            let (mut alice, mut bob) = two();
            let frames: Vec<_> = (0..100).map(|number| sealed(&mut alice, Content::Message, &[number])).collect();
            let mut came = std::collections::BTreeSet::new();
            for number in order {
                let fresh = came.insert(number);
                let expected = if fresh { Ok((Content::Message, vec![number as u8])) } else { Err(Count::Replayed) };
                prop_assert_eq!(opened(&mut bob, &frames[number]), expected);
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
