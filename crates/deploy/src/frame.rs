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
//! | ... | message |
//! | 32 | HMAC-SHA-256 of all before it |
//!
//! Numbers are little-endian. A life is a number that a node draws whenever it starts.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::counters::Count;
use crate::deployment::{Deployment, Transport};

pub(crate) const MARK: [u8; 2] = *b"SG";
pub(crate) const VERSION: u8 = 1;
/// What is needed to know the length of a frame.
pub(crate) const PREFIX: usize = 8;
pub(crate) const HEADER: usize = 40;
pub(crate) const TAG: usize = 32;
/// A frame without a message.
pub(crate) const EMPTY: usize = HEADER + TAG;

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) sender_life: u64,
    pub(crate) receiver_life: u64,
    pub(crate) sequence: u64,
    pub(crate) message: &'a [u8],
}

/// Makes and checks tags.
#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    /// The key of a deployment: nodes that disagree on who takes part do not understand each other.
    pub(crate) fn new(deployment: &Deployment) -> Self {
        let mut derived = keyed(&deployment.key);
        derived.update(b"simurgh deployment");
        derived.update(&[VERSION, u8::from(deployment.transport == Transport::Udp)]);
        for node in &deployment.nodes {
            derived.update(&(node.name.len() as u64).to_le_bytes());
            derived.update(node.name.as_bytes());
        }
        Self(keyed(&derived.finalize().into_bytes()))
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
        bytes.extend(frame.message);
        let tag = self.0.clone().chain_update(&bytes).finalize().into_bytes();
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
            _ => return Err(Count::Garbage),
        };
        let (signed, tag) = bytes.split_at(bytes.len() - TAG);
        // Compared in constant time.
        self.0.clone().chain_update(signed).verify_slice(tag).map_err(|_| Count::NotAuthentic)?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        Ok(Frame {
            kind,
            from: word(8),
            to: word(12),
            sender_life: long(16),
            receiver_life: long(24),
            sequence: long(32),
            message: &signed[HEADER..],
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

    pub(crate) fn key(secret: &str) -> Key {
        let text = format!(
            "transport = \"udp\"\nkey = \"{secret} of sixteen bytes\"\n[[node]]\nname = \"a\"\naddress = \"h:1\"\n\
             [[node]]\nname = \"b\"\naddress = \"h:2\"\n"
        );
        Key::new(&Deployment::parse("d.toml", &text).expect("a deployment"))
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens(
            from: u32, to: u32, lives: (u64, u64), sequence: u64, message: Vec<u8>, place: usize, flip in 1_u8..,
        ) {
            let (sender_life, receiver_life) = lives;
            let message = message.as_slice();
            let frame = Frame { kind: Kind::Data, from, to, sender_life, receiver_life, sequence, message };
            let mut bytes = key("one").seal(&frame);
            prop_assert_eq!(key("one").open(&bytes), Ok(frame));
            prop_assert_eq!(key("other").open(&bytes), Err(Count::NotAuthentic));
            prop_assert!(key("one").open(&bytes[1..]).is_err());
            let place = place % bytes.len();
            bytes[place] ^= flip;
            prop_assert!(key("one").open(&bytes).is_err(), "one byte differs, and it opens");
        }

        #[test]
        fn hostile_bytes_never_open(bytes: Vec<u8>, right_length: bool) {
            prop_assert!(key("one").open(&bytes).is_err());
            let mut bytes = [&MARK[..], &[VERSION, 4, 0, 0, 0, 0], &bytes[..], &[0; EMPTY]].concat();
            if right_length {
                let length = bytes.len() as u32;
                bytes[4..8].copy_from_slice(&length.to_le_bytes());
            }
            prop_assert!(key("one").open(&bytes).is_err());
        }
    }
}
