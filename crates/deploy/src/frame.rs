//! What goes over the wire: a header that can be read by everybody, and what only two can read.
//!
//! | bytes | what |
//! | --- | --- |
//! | 2 | `SG` |
//! | 1 | version |
//! | 1 | kind: 1 `Hello`, 2 `Welcome`, 3 `Sealed`, 4 `Unknown` |
//! | 4 | length of the whole frame |
//! | 4, 4 | from, to; an observer is 2³² − 1 |
//! | 8 | session: a number that who says `Hello` draws for it |
//! | 8 | nonce of a sealed frame: its number in the session and direction; 0 in the others |
//! | ... | a message of the Noise protocol (`noise`); nothing in `Unknown` |
//!
//! Numbers are little-endian. Nothing in the header has to be believed: from, to and session choose the keys, the nonce is that of the
//! cipher, and the length is that of what is opened, so that a header with one bit changed opens nothing.

use crate::counters::Count;

pub(crate) const MARK: [u8; 2] = *b"SG";
pub(crate) const VERSION: u8 = 2;
/// What is needed to know the length of a frame.
pub(crate) const PREFIX: usize = 8;
pub(crate) const HEADER: usize = 32;
/// What authenticates a message of the Noise protocol.
pub(crate) const TAG: usize = 16;
/// A greeting or its answer: an ephemeral key, an incarnation, a tag.
pub(crate) const HANDSHAKE: usize = HEADER + 32 + 8 + TAG;
/// A sealed frame without a message: it says only what it contains.
pub(crate) const EMPTY: usize = HEADER + 1 + TAG;
/// The longest message of the Noise protocol.
pub(crate) const NOISE_MAX: usize = 65_535;
/// The longest frame.
pub(crate) const FRAME_MAX: usize = HEADER + NOISE_MAX;
/// The longest message that one sealed frame holds.
pub(crate) const PIECE_MAX: usize = FRAME_MAX - EMPTY;
/// Who looks at a deployment from outside: it has the key of all, and is none of the nodes.
pub(crate) const OBSERVER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Begins a session: the first message of a handshake.
    Hello = 1,
    /// The answer: the second and last message of a handshake.
    Welcome = 2,
    /// Something that is said in a session.
    Sealed = 3,
    /// There is no such session here, any more: a hint to begin another, which anybody may have sent.
    Unknown = 4,
}

/// What everybody can read of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) session: u64,
    pub(crate) nonce: u64,
}

impl Header {
    /// Appends the header of a frame that has so many bytes behind it.
    pub(crate) fn write(&self, behind: usize, bytes: &mut Vec<u8>) {
        let length = u32::try_from(HEADER + behind).expect("frames are short");
        bytes.extend(MARK);
        bytes.extend([VERSION, self.kind as u8]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.from.to_le_bytes());
        bytes.extend(self.to.to_le_bytes());
        bytes.extend(self.session.to_le_bytes());
        bytes.extend(self.nonce.to_le_bytes());
    }

    /// The header of a whole frame, and what is behind it.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Count> {
        if frame_length(bytes) != Ok(Some(bytes.len())) {
            return Err(Count::Garbage);
        }
        let kind = match bytes[3] {
            1 => Kind::Hello,
            2 => Kind::Welcome,
            3 => Kind::Sealed,
            4 => Kind::Unknown,
            _ => return Err(Count::Garbage),
        };
        let behind = bytes.len() - HEADER;
        let right = match kind {
            Kind::Hello | Kind::Welcome => bytes.len() == HANDSHAKE,
            Kind::Sealed => (EMPTY..=FRAME_MAX).contains(&bytes.len()),
            Kind::Unknown => behind == 0,
        };
        if !right {
            return Err(Count::Garbage);
        }
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|place| bytes[at + place]));
        let header = Self { kind, from: word(8), to: word(12), session: long(16), nonce: long(24) };
        Ok((header, &bytes[HEADER..]))
    }
}

/// How long the frame is that begins with these bytes; `None` if there are too few of them to tell.
pub(crate) fn frame_length(bytes: &[u8]) -> Result<Option<usize>, Count> {
    if bytes.len() < PREFIX {
        return Ok(None);
    }
    let length = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
    if bytes[..2] != MARK || bytes[2] != VERSION || length < HEADER {
        return Err(Count::Garbage);
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_are_read_as_they_are_written(from: u32, to: u32, session: u64, nonce: u64, behind in 17_usize..99) {
            let header = Header { kind: Kind::Sealed, from, to, session, nonce };
            let mut bytes = Vec::new();
            header.write(behind, &mut bytes);
            bytes.resize(HEADER + behind, 7);
            prop_assert_eq!(Header::read(&bytes), Ok((header, &vec![7; behind][..])));
            prop_assert_eq!(Header::read(&bytes[1..]), Err(Count::Garbage));
            prop_assert_eq!(Header::read(&bytes[..HEADER + behind - 1]), Err(Count::Garbage));
        }

        #[test]
        fn hostile_bytes_are_read_without_panic(bytes: Vec<u8>, kind in 0_u8..6, right_length: bool) {
            let _ = Header::read(&bytes);
            let mut bytes = [&MARK[..], &[VERSION, kind, 0, 0, 0, 0], &bytes[..]].concat();
            if right_length {
                let length = bytes.len() as u32;
                bytes[4..8].copy_from_slice(&length.to_le_bytes());
            }
            let _ = Header::read(&bytes);
        }
    }
}
