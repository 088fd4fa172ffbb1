//! Frames over a stream, and what both ends of a connection need.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::counters::Count;
use crate::frame::{FRAME_MAX, HANDSHAKE, Header, frame_length};
use crate::session::{Content, Pieces, Session};

/// How much is read at once, if so much is there.
const READ: usize = 16 << 10;

/// Cuts a stream into frames. What was read of a frame is kept when `next` is dropped.
pub(crate) struct Frames<R> {
    stream: R,
    bytes: BytesMut,
    longest: usize,
}

/// Why there are no more frames.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Wrong(Count),
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// At first only greetings are taken, so that strangers cannot fill the memory.
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, bytes: BytesMut::new(), longest: HANDSHAKE }
    }

    /// Whoever is at the other end has proved who it is: frames of any length are taken.
    pub(crate) fn trust(&mut self) {
        self.longest = FRAME_MAX;
    }

    /// What the frames come from, to answer there.
    pub(crate) fn stream(&mut self) -> &mut R {
        &mut self.stream
    }

    /// The next frame. Taking it off what was read moves nothing: the cost of a frame is that of its bytes.
    pub(crate) async fn next(&mut self) -> Result<BytesMut, End> {
        loop {
            let mut missing = READ;
            if let Some(length) = frame_length(&self.bytes).map_err(End::Wrong)? {
                if length > self.longest {
                    return Err(End::Wrong(Count::TooLong));
                }
                if self.bytes.len() >= length {
                    return Ok(self.bytes.split_to(length));
                }
                missing = missing.max(length - self.bytes.len());
            }
            self.bytes.reserve(missing);
            if !matches!(self.stream.read_buf(&mut self.bytes).await, Ok(1..)) {
                return Err(End::Closed);
            }
        }
    }
}

/// Opens the frames of a stream, one after the other, and puts together what goes in pieces.
pub(crate) fn opened(
    session: &mut Session,
    pieces: &mut Pieces,
    frame: &[u8],
) -> Result<Option<(Content, Vec<u8>)>, Count> {
    let (header, behind) = Header::read(frame)?;
    pieces.add(session.open_next(&header, behind)?)
}

/// Says something over a connection; whether it was taken in time.
pub(crate) async fn say<W: AsyncWrite + Unpin>(
    writer: &mut W,
    session: &mut Session,
    content: Content,
    message: &[u8],
    patience: Duration,
) -> bool {
    let mut bytes = Vec::new();
    session.seal(content, message, &mut bytes);
    matches!(timeout(patience, writer.write_all(&bytes)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{HEADER, Kind};

    fn frame(behind: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        Header { kind: Kind::Sealed, from: 0, to: 1, session: 2, nonce: 3 }.write(behind, &mut bytes);
        bytes.resize(HEADER + behind, 7);
        bytes
    }

    /// How long it takes to read 2,000 small frames after one of some length: the least of many times, since others use this machine too.
    #[expect(clippy::disallowed_methods, reason = "what is measured is time")]
    fn took(long: usize) -> Duration {
        let stream = [frame(long), frame(17).repeat(2000)].concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let once = || {
            runtime.block_on(async {
                let mut frames = Frames::new(&stream[..]);
                frames.trust();
                assert_eq!(frames.next().await.map(|frame| frame.len()), Ok(HEADER + long));
                let begin = std::time::Instant::now();
                for _ in 0..2000 {
                    assert!(frames.next().await.is_ok());
                }
                let took = begin.elapsed();
                assert_eq!(frames.next().await, Err(End::Closed));
                took
            })
        };
        (0..200).map(|_| once()).min().expect("there are some")
    }

    /// What went wrong: each small frame after a long one moved all that had been read with it.
    #[test]
    fn small_frames_after_a_long_one_took_quadratic_time() {
        let (after_short, after_long) = (took(17), took(65_000));
        println!("2,000 frames after a short one: {after_short:?}, after a long one: {after_long:?}");
        assert!(after_long < 2 * after_short, "{after_long:?} and {after_short:?}");
    }

    #[test]
    fn what_is_too_long_ends_a_stream_before_it_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let long = frame(HANDSHAKE - HEADER + 1);
            assert_eq!(Frames::new(&long[..]).next().await, Err(End::Wrong(Count::TooLong)));
            let mut huge = long.clone();
            huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
            let mut frames = Frames::new(&huge[..]);
            frames.trust();
            assert_eq!(frames.next().await, Err(End::Wrong(Count::TooLong)));
            let noise = [&frame(40)[..], b"noise that is no frame"].concat();
            let mut frames = Frames::new(&noise[..]);
            assert!(frames.next().await.is_ok());
            assert_eq!(frames.next().await, Err(End::Wrong(Count::Garbage)));
        });
    }
}
