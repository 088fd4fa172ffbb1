//! The wire format, written a second time from its description (`src/frame.rs`, `src/noise.rs`): for attacks by those who have the key.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sha2::{Digest, Sha256};
use snow::{Builder, HandshakeState, StatelessTransportState};

use super::KEY;

pub const OBSERVER: u32 = u32::MAX;
/// Both for those who connect and for those who are connected to: they are one node.
const INCARNATION: u64 = 7;
// Kinds of frames.
pub const HELLO: u8 = 1;
pub const WELCOME: u8 = 2;
pub const SEALED: u8 = 3;
// What a sealed frame contains.
pub const ALIVE: u8 = 1;
pub const MESSAGE: u8 = 2;
pub const QUESTION: u8 = 4;
pub const ANSWER: u8 = 5;
pub const PIECE: u8 = 6;

pub fn frame(kind: u8, from: u32, to: u32, session: u64, nonce: u64, behind: &[u8]) -> Vec<u8> {
    let length = 32 + behind.len() as u32;
    let mut bytes = vec![b'S', b'G', 2, kind];
    bytes.extend(length.to_le_bytes());
    bytes.extend(from.to_le_bytes());
    bytes.extend(to.to_le_bytes());
    bytes.extend(session.to_le_bytes());
    bytes.extend(nonce.to_le_bytes());
    bytes.extend(behind);
    bytes
}

/// A handshake of the deployment of these tests, in which two nodes, `a` and `b`, share a key.
fn handshake(udp: bool, from: u32, to: u32, session: u64, begins: bool) -> HandshakeState {
    let mut prologue = b"simurgh deployment".to_vec();
    prologue.extend([2, u8::from(udp)]);
    prologue.extend(2_u64.to_le_bytes());
    for name in ["a", "b"] {
        prologue.extend(1_u64.to_le_bytes());
        prologue.extend(name.as_bytes());
    }
    prologue.extend(from.to_le_bytes());
    prologue.extend(to.to_le_bytes());
    prologue.extend(session.to_le_bytes());
    let key = Sha256::digest([b"simurgh key of all\0", KEY.as_bytes()].concat()).into();
    let pattern = "Noise_NNpsk0_25519_ChaChaPoly_SHA256".parse().expect("a pattern");
    let builder = Builder::new(pattern).psk(0, &key).expect("a key").prologue(&prologue).expect("a prologue");
    if begins { builder.build_initiator() } else { builder.build_responder() }.expect("a handshake")
}

/// One end of a session over a connection.
pub struct Wire {
    pub stream: TcpStream,
    state: StatelessTransportState,
    from: u32,
    to: u32,
    session: u64,
    sent: u64,
}

impl Wire {
    /// Connects to a node and comes to a session with it.
    pub fn connect(port: u16, from: u32, to: u32) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("it has a timeout");
        let session = rand::random();
        let mut state = handshake(false, from, to, session, true);
        let mut message = [0; 56];
        state.write_message(&INCARNATION.to_le_bytes(), &mut message).expect("a first message");
        stream.write_all(&frame(HELLO, from, to, session, 0, &message)).expect("it is taken");
        let welcome = read_frame(&mut stream).expect("it is answered");
        assert_eq!(welcome[3], WELCOME);
        state.read_message(&welcome[32..], &mut [0; 99]).expect("it is right");
        let state = state.into_stateless_transport_mode().expect("it is over");
        let mut wire = Self { stream, state, from, to, session, sent: 0 };
        wire.say(ALIVE, &[]).expect("it is taken");
        wire
    }

    /// Answers a node that connects.
    pub fn accept(mut stream: TcpStream) -> Option<Self> {
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        let hello = read_frame(&mut stream)?;
        let word = |at: usize| u32::from_le_bytes(hello[at..at + 4].try_into().expect("four bytes"));
        let (from, to) = (word(8), word(12));
        let session = u64::from_le_bytes(hello[16..24].try_into().expect("eight bytes"));
        let mut state = handshake(false, from, to, session, false);
        state.read_message(&hello[32..], &mut [0; 99]).expect("it is right");
        let mut message = [0; 56];
        state.write_message(&INCARNATION.to_le_bytes(), &mut message).expect("an answer");
        stream.write_all(&frame(WELCOME, to, from, session, 0, &message)).ok()?;
        let state = state.into_stateless_transport_mode().expect("it is over");
        Some(Self { stream, state, from: to, to: from, session, sent: 0 })
    }

    pub fn seal(&mut self, content: u8, message: &[u8]) -> Vec<u8> {
        self.sent += 1;
        let plain = [&[content], message].concat();
        let mut sealed = vec![0; plain.len() + 16];
        self.state.write_message(self.sent, &plain, &mut sealed).expect("it is sealed");
        frame(SEALED, self.from, self.to, self.session, self.sent, &sealed)
    }

    pub fn say(&mut self, content: u8, message: &[u8]) -> std::io::Result<()> {
        let bytes = self.seal(content, message);
        self.stream.write_all(&bytes)
    }

    /// What is said next, if anything is; that somebody lives is left out.
    pub fn hear(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            let bytes = read_frame(&mut self.stream)?;
            let nonce = u64::from_le_bytes(bytes[24..32].try_into().expect("eight bytes"));
            let mut plain = vec![0; bytes.len() - 48];
            self.state.read_message(nonce, &bytes[32..], &mut plain).expect("it opens");
            if plain[0] != ALIVE {
                return Some((plain[0], plain[1..].to_vec()));
            }
        }
    }

    /// Reads until the other end closes the connection; that it lives may be said before. Whether it did.
    pub fn is_closed(&mut self) -> bool {
        self.hear().is_none()
    }
}

pub fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 8];
    stream.read_exact(&mut bytes).ok()?;
    let length = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
    bytes.resize(length as usize, 0);
    stream.read_exact(&mut bytes[8..]).ok()?;
    Some(bytes)
}
