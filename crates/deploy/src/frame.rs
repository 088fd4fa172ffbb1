//! What goes over the wire: a header, a message, and a tag that only who knows the key can make.
//!
//! | bytes | what |
//! | --- | --- |
//! | 2 | `SG` |
//! | 1 | version |
//! | 1 | kind |
//! | 4 | length of the whole frame |
//! | 4, 4 | from, to |
//! | 8, 8 | the life of the sender, the life of the receiver |
//! | 8 | number of the frame in the life of the sender towards the receiver |
//! | ... | message, encrypted if the deployment says so |
//! | 32 | HMAC-SHA-256 of all before it |
//!
//! Numbers are little-endian. A life is a number that a node draws whenever it starts.
//!
//! A message is encrypted by ChaCha20, with a key for each life of a sender and each of its receivers, and the number of the frame
//! as the nonce; the tag is made of what is encrypted. So no two messages are ever encrypted alike, as long as no node draws
//! the same life twice.

use std::borrow::Cow;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use simurgh_protocol::ActorId;

use crate::counters::Count;
use crate::deployment::{Deployment, Transport};
use crate::error::Error;

pub(crate) const MARK: [u8; 2] = *b"SG";
pub(crate) const VERSION: u8 = 1;
/// What is needed to know the length of a frame.
pub(crate) const PREFIX: usize = 8;
pub(crate) const HEADER: usize = 40;
pub(crate) const TAG: usize = 32;
/// A frame without a message.
pub(crate) const EMPTY: usize = HEADER + TAG;
/// Who looks at a deployment from outside: it has the key of all, and is none of the nodes.
pub(crate) const OBSERVER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// I live; who are you now?
    Hello = 1,
    /// The answer: this is my life, and yours is the one I was asked by.
    Welcome = 2,
    /// A connection proves that it comes from a living peer.
    Ready = 3,
    /// A message.
    Data = 4,
    /// A message behind the number of the last cut that its sender was in; see `cut`.
    InCut = 5,
    /// An observer asks for something.
    Observe = 6,
    /// The answer to an observer.
    Observed = 7,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) sender_life: u64,
    pub(crate) receiver_life: u64,
    pub(crate) sequence: u64,
    pub(crate) message: Cow<'a, [u8]>,
}

/// Makes and checks tags, and hides messages.
#[derive(Clone)]
pub(crate) struct Key {
    /// What a node shares with each other; with itself, what strangers cannot know either.
    pairs: Vec<Pair>,
    me: usize,
}

/// What two nodes share.
#[derive(Clone)]
struct Pair {
    tags: Hmac<Sha256>,
    /// The keys of messages are made from this, if they are encrypted.
    messages: Option<Hmac<Sha256>>,
}

impl Pair {
    fn new(secret: &[u8], encrypted: bool) -> Self {
        let hidden = || keyed(&keyed(secret).chain_update(b"simurgh messages").finalize().into_bytes());
        Self { tags: keyed(secret), messages: encrypted.then(hidden) }
    }

    /// Encrypts or decrypts a message where it lies.
    fn hide(&self, header: &[u8; HEADER], message: &mut [u8]) {
        let Some(messages) = &self.messages else { return };
        let hidden = [Kind::Data, Kind::InCut, Kind::Observe, Kind::Observed];
        if !hidden.iter().any(|kind| header[3] == *kind as u8) {
            return;
        }
        // From, to, and the life of the sender; then a key is used for one frame of each number.
        let key = messages.clone().chain_update(&header[8..24]).finalize().into_bytes();
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&header[32..40]);
        ChaCha20::new(&key, &nonce.into()).apply_keystream(message);
    }
}

impl Key {
    /// The keys of a node of a deployment: nodes that disagree on who takes part do not understand each other.
    ///
    /// # Errors
    /// If the node has a key of its own that cannot be read.
    pub(crate) fn new(deployment: &Deployment, me: ActorId) -> Result<Self, Error> {
        let shared = match &deployment.node_keys {
            None => vec![None; deployment.nodes.len()],
            Some(keys) => keys.shared(deployment, me)?,
        };
        Ok(Self { pairs: Self::pairs(deployment, &shared), me: me.index() })
    }

    /// The keys of an observer: the key of all, without what two nodes share.
    pub(crate) fn observer(deployment: &Deployment) -> Self {
        Self { pairs: Self::pairs(deployment, &vec![None; deployment.nodes.len()]), me: 0 }
    }

    fn pairs(deployment: &Deployment, shared: &[Option<[u8; 32]>]) -> Vec<Pair> {
        let mut derived = keyed(&deployment.key);
        derived.update(b"simurgh deployment");
        derived.update(&[VERSION, u8::from(deployment.transport == Transport::Udp)]);
        if deployment.encrypted {
            derived.update(b"encrypted");
        }
        for node in &deployment.nodes {
            derived.update(&(node.name.len() as u64).to_le_bytes());
            derived.update(node.name.as_bytes());
        }
        if let Some(keys) = &deployment.node_keys {
            keys.public.iter().for_each(|public| derived.update(public));
        }
        let pair = |secret: &Option<[u8; 32]>| {
            let mut derived = derived.clone();
            if let Some(secret) = secret {
                derived.update(secret);
            }
            Pair::new(&derived.finalize().into_bytes(), deployment.encrypted)
        };
        shared.iter().map(pair).collect()
    }

    /// What is shared with a node; with an observer, and with whoever else is none, what nodes share with no other.
    fn with(&self, node: u32) -> &Pair {
        self.pairs.get(node as usize).unwrap_or(&self.pairs[self.me])
    }

    /// The bytes of a frame.
    pub(crate) fn seal(&self, frame: &Frame<'_>) -> Vec<u8> {
        let length = EMPTY + frame.message.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(MARK);
        bytes.extend([VERSION, frame.kind as u8]);
        bytes.extend(u32::try_from(length).expect("messages are shorter than 64 MiB").to_le_bytes());
        bytes.extend(frame.from.to_le_bytes());
        bytes.extend(frame.to.to_le_bytes());
        bytes.extend(frame.sender_life.to_le_bytes());
        bytes.extend(frame.receiver_life.to_le_bytes());
        bytes.extend(frame.sequence.to_le_bytes());
        let pair = self.with(frame.to);
        let header: [u8; HEADER] = std::array::from_fn(|place| bytes[place]);
        bytes.extend(&*frame.message);
        pair.hide(&header, &mut bytes[HEADER..]);
        let tag = pair.tags.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(tag);
        bytes
    }

    /// The frame that bytes are, if they are one that was sealed with this key.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Result<Frame<'a>, Count> {
        if frame_length(bytes) != Ok(Some(bytes.len())) {
            return Err(Count::Garbage);
        }
        let kind = match bytes[3] {
            1 => Kind::Hello,
            2 => Kind::Welcome,
            3 => Kind::Ready,
            4 => Kind::Data,
            5 => Kind::InCut,
            6 => Kind::Observe,
            7 => Kind::Observed,
            _ => return Err(Count::Garbage),
        };
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        let pair = self.with(word(8));
        let (signed, tag) = bytes.split_at(bytes.len() - TAG);
        // Compared in constant time.
        pair.tags.clone().chain_update(signed).verify_slice(tag).map_err(|_| Count::NotAuthentic)?;
        let mut message = Cow::Borrowed(&signed[HEADER..]);
        if pair.messages.is_some() && !message.is_empty() {
            pair.hide(&std::array::from_fn(|place| bytes[place]), message.to_mut());
        }
        Ok(Frame {
            kind,
            from: word(8),
            to: word(12),
            sender_life: long(16),
            receiver_life: long(24),
            sequence: long(32),
            message,
        })
    }
}

/// How long the frame is that begins with these bytes; `None` if there are too few of them to tell.
pub(crate) fn frame_length(bytes: &[u8]) -> Result<Option<usize>, Count> {
    if bytes.len() < PREFIX {
        return Ok(None);
    }
    let length = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
    if bytes[..2] != MARK || bytes[2] != VERSION || length < EMPTY {
        return Err(Count::Garbage);
    }
    Ok(Some(length))
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    <Hmac<Sha256> as Mac>::new_from_slice(key).expect("HMAC takes keys of any length")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The key of a node of two, with these lines in the deployment file.
    fn key_of(me: u32, secret: &str, more: &str) -> Key {
        let text = format!(
            "transport = \"udp\"\nkey = \"{secret} of sixteen bytes\"\n{more}\n[[node]]\nname = \"a\"\naddress = \"h:1\"\n\
             [[node]]\nname = \"b\"\naddress = \"h:2\"\n"
        );
        let deployment = Deployment::parse("d.toml", &text).expect("a deployment");
        Key::new(&deployment, ActorId(me)).expect("no file is needed")
    }

    pub(crate) fn key(secret: &str) -> Key {
        key_of(0, secret, "")
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens(
            to in 0_u32..2, lives: (u64, u64), sequence: u64, message: Vec<u8>, place: usize, flip in 1_u8..,
            encrypted: bool,
        ) {
            let (sender_life, receiver_life) = lives;
            let more = if encrypted { "encrypted = true" } else { "" };
            let from = 1 - to;
            let (mine, theirs) = (key_of(from, "one", more), key_of(to, "one", more));
            let frame = Frame {
                kind: Kind::Data, from, to, sender_life, receiver_life, sequence, message: Cow::Borrowed(&message),
            };
            let mut bytes = mine.seal(&frame);
            let shown = bytes[HEADER..].starts_with(&message);
            prop_assert!(shown != encrypted || message.len() < 4, "a message shows if it is not encrypted");
            prop_assert_eq!(theirs.open(&bytes), Ok(frame));
            prop_assert_eq!(key_of(to, "other", more).open(&bytes), Err(Count::NotAuthentic));
            let unlike = if encrypted { "" } else { "encrypted = true" };
            prop_assert_eq!(key_of(to, "one", unlike).open(&bytes), Err(Count::NotAuthentic));
            prop_assert!(theirs.open(&bytes[1..]).is_err());
            let place = place % bytes.len();
            bytes[place] ^= flip;
            prop_assert!(theirs.open(&bytes).is_err(), "one byte differs, and it opens");
        }

        /// The same message is never sealed alike: not in another frame, nor another life, nor to somebody else.
        #[test]
        fn no_two_messages_are_encrypted_alike(message in prop::collection::vec(any::<u8>(), 8..100), lives: (u64, u64)) {
            let mine = key_of(0, "one", "encrypted = true");
            let hidden = |to, sender_life, sequence| {
                let message = Cow::Borrowed(message.as_slice());
                let frame = Frame { kind: Kind::Data, from: 0, to, sender_life, receiver_life: 1, sequence, message };
                let bytes = mine.seal(&frame);
                bytes[HEADER..bytes.len() - TAG].to_vec()
            };
            let first = hidden(1, lives.0, 1);
            prop_assert_eq!(&first, &hidden(1, lives.0, 1));
            prop_assert_ne!(&first, &hidden(1, lives.0, 2));
            prop_assert_ne!(&first, &hidden(0, lives.0, 1));
            prop_assert!(lives.0 == lives.1 || first != hidden(1, lives.1, 1));
        }

        #[test]
        fn hostile_bytes_never_open(bytes: Vec<u8>, right_length: bool, encrypted: bool) {
            let mine = key_of(0, "one", if encrypted { "encrypted = true" } else { "" });
            prop_assert!(mine.open(&bytes).is_err());
            let mut bytes = [&MARK[..], &[VERSION, 4, 0, 0, 0, 0], &bytes[..], &[0; EMPTY]].concat();
            if right_length {
                let length = bytes.len() as u32;
                bytes[4..8].copy_from_slice(&length.to_le_bytes());
            }
            prop_assert!(mine.open(&bytes).is_err());
        }
    }
}
