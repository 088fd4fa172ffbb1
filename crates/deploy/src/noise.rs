//! Who is who, and how two of them come to a session: handshakes of the Noise protocol framework (Perrin, revision 34), by `snow`.
//!
//! Two nodes with keys of their own use `KKpsk0`: each knows the public key of the other from the deployment file, so nothing that
//! identifies it has to be sent, and both are proved in two messages. Where there is the key of all alone, and for observers, who
//! have no other, it is `NNpsk0`. In both, the key of all is mixed in first (`psk0`), so that the first message of a stranger does not
//! open, and is not answered; and both sides bring ephemeral keys, so that who steals every key later cannot read what
//! was recorded (forward secrecy). `IK` and `XX` would send public keys that everybody has.
//!
//! The prologue holds who takes part, over which transport, who says hello to whom, and the number of the session. So what was said
//! to one node, or in one deployment, or in one session, is of no use in another. Each side tells its incarnation in the encrypted payload.
//!
//! The first message can be played back, by whoever recorded it: nothing may be concluded from it. A session
//! counts once something was opened in it, for that takes the ephemeral key of whoever began it.

use sha2::{Digest, Sha256};
use simurgh_protocol::ActorId;
use snow::{Builder, HandshakeState};

use crate::counters::Count;
use crate::deployment::{Deployment, Transport};
use crate::error::Error;
use crate::frame::{HANDSHAKE, HEADER, Header, Kind, OBSERVER, VERSION};
use crate::session::Session;

const WITH_NODE_KEYS: &str = "Noise_KKpsk0_25519_ChaChaPoly_SHA256";
const WITH_KEY_OF_ALL: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// An incarnation, as it is told.
const PAYLOAD: usize = 8;

/// What a node, or an observer, proves itself by, and what it knows the others by.
pub(crate) struct Credentials {
    pub(crate) me: u32,
    /// A number that a node draws whenever it starts.
    pub(crate) incarnation: u64,
    key_of_all: [u8; 32],
    deployment: Vec<u8>,
    nodes: usize,
    keys: Option<Keys>,
}

struct Keys {
    private: [u8; 32],
    public: Vec<[u8; 32]>,
}

/// A handshake that was begun, and waits for its answer.
pub(crate) struct Greeting {
    state: Box<HandshakeState>,
    me: u32,
    to: u32,
    pub(crate) session: u64,
    /// The frame that begins it; it may be sent again.
    pub(crate) hello: Vec<u8>,
}

impl Credentials {
    /// Those of a node that starts.
    ///
    /// # Errors
    /// If the node has a key of its own that cannot be read.
    pub(crate) fn node(deployment: &Deployment, me: ActorId) -> Result<Self, Error> {
        let keys = match &deployment.node_keys {
            None => None,
            Some(keys) => Some(Keys { private: keys.private(deployment, me)?, public: keys.public.clone() }),
        };
        Ok(Self { me: me.0, keys, ..Self::observer(deployment) })
    }

    /// Those of an observer: the key of all, and no other.
    pub(crate) fn observer(deployment: &Deployment) -> Self {
        let mut described = b"simurgh deployment".to_vec();
        described.extend([VERSION, u8::from(deployment.transport == Transport::Udp)]);
        described.extend((deployment.nodes.len() as u64).to_le_bytes());
        for node in &deployment.nodes {
            described.extend((node.name.len() as u64).to_le_bytes());
            described.extend(node.name.as_bytes());
        }
        if let Some(keys) = &deployment.node_keys {
            keys.public.iter().for_each(|public| described.extend(public));
        }
        Self {
            me: OBSERVER,
            incarnation: rand::random(),
            key_of_all: Sha256::new()
                .chain_update(b"simurgh key of all\0")
                .chain_update(&deployment.key)
                .finalize()
                .into(),
            deployment: described,
            nodes: deployment.nodes.len(),
            keys: None,
        }
    }

    /// Whether somebody may talk to this node: another node, or an observer.
    pub(crate) fn knows(&self, from: u32) -> bool {
        from != self.me && ((from as usize) < self.nodes || from == OBSERVER)
    }

    fn begin(&self, from: u32, to: u32, session: u64) -> Result<HandshakeState, snow::Error> {
        let mut prologue = self.deployment.clone();
        prologue.extend(from.to_le_bytes());
        prologue.extend(to.to_le_bytes());
        prologue.extend(session.to_le_bytes());
        let other = if from == self.me { to } else { from };
        let keys = self.keys.as_ref().and_then(|keys| Some((keys, keys.public.get(other as usize)?)));
        let pattern = if keys.is_some() { WITH_NODE_KEYS } else { WITH_KEY_OF_ALL };
        let mut builder = Builder::new(pattern.parse()?).psk(0, &self.key_of_all)?.prologue(&prologue)?;
        if let Some((keys, public)) = keys {
            builder = builder.local_private_key(&keys.private)?.remote_public_key(public)?;
        }
        if from == self.me { builder.build_initiator() } else { builder.build_responder() }
    }

    /// Begins a session with a node.
    pub(crate) fn greet(&self, to: ActorId) -> Greeting {
        let session = rand::random();
        let (from, to) = (self.me, to.0);
        let mut state = self.begin(from, to, session).expect("the patterns have what they need");
        let hello = written(&mut state, Kind::Hello, from, to, session, self.incarnation)
            .expect("a first message can be written");
        Greeting { state: Box::new(state), me: from, to, session, hello }
    }

    /// Answers who begins a session: the session, in which nothing was said yet, and the frame of the answer.
    pub(crate) fn answer(&self, header: &Header, behind: &[u8]) -> Result<(Session, Vec<u8>), Count> {
        let Header { kind, from, to, session, .. } = *header;
        if to != self.me || !self.knows(from) {
            return Err(Count::UnknownSender);
        }
        if kind != Kind::Hello {
            return Err(Count::Outdated);
        }
        let mut state = self.begin(from, to, session).map_err(|_| Count::NotAuthentic)?;
        let incarnation = read(&mut state, behind)?;
        let welcome = written(&mut state, Kind::Welcome, to, from, session, self.incarnation)
            .map_err(|_| Count::NotAuthentic)?;
        let state = state.into_stateless_transport_mode().map_err(|_| Count::NotAuthentic)?;
        Ok((Session::new(state, self.me, from, session, incarnation), welcome))
    }
}

impl Greeting {
    /// Takes the answer. What is none leaves everything as it was: the answer may still come.
    pub(crate) fn answered(mut self, header: &Header, behind: &[u8]) -> Result<Session, (Self, Count)> {
        if (header.from, header.to) != (self.to, self.me) {
            return Err((self, Count::UnknownSender));
        }
        if header.kind != Kind::Welcome || header.session != self.session {
            return Err((self, Count::Outdated));
        }
        let incarnation = match read(&mut self.state, behind) {
            Ok(incarnation) => incarnation,
            Err(count) => return Err((self, count)),
        };
        let state = self.state.into_stateless_transport_mode().expect("this was the last message");
        Ok(Session::new(state, self.me, self.to, self.session, incarnation))
    }
}

fn written(
    state: &mut HandshakeState,
    kind: Kind,
    from: u32,
    to: u32,
    session: u64,
    incarnation: u64,
) -> Result<Vec<u8>, snow::Error> {
    let mut frame = Vec::with_capacity(HANDSHAKE);
    Header { kind, from, to, session, nonce: 0 }.write(HANDSHAKE - HEADER, &mut frame);
    frame.resize(HANDSHAKE, 0);
    let length = state.write_message(&incarnation.to_le_bytes(), &mut frame[HEADER..])?;
    assert_eq!(length, HANDSHAKE - HEADER, "both messages of both patterns are equally long");
    Ok(frame)
}

fn read(state: &mut HandshakeState, behind: &[u8]) -> Result<u64, Count> {
    // Room for what is no payload, too, so that this cannot be what is wrong.
    let mut payload = [0; HANDSHAKE];
    match state.read_message(behind, &mut payload) {
        Ok(PAYLOAD) => Ok(u64::from_le_bytes(std::array::from_fn(|place| payload[place]))),
        _ => Err(Count::NotAuthentic),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The credentials of a node of two, with these lines in the deployment file.
    pub(crate) fn credentials(me: u32, secret: &str) -> Credentials {
        Credentials::node(&deployment(secret, "udp", "b"), ActorId(me)).expect("no file is needed")
    }

    pub(crate) fn deployment(secret: &str, transport: &str, second: &str) -> Deployment {
        let text = format!(
            "transport = \"{transport}\"\nkey = \"{secret} of sixteen bytes\"\n[[node]]\nname = \"a\"\naddress = \"h:1\"\n\
             [[node]]\nname = \"{second}\"\naddress = \"h:2\"\n"
        );
        Deployment::parse("d.toml", &text).expect("a deployment")
    }

    /// Both ends of a session of two who understand each other.
    pub(crate) fn meet(one: &Credentials, other: &Credentials) -> Result<(Session, Session), Count> {
        let greeting = one.greet(ActorId(other.me));
        let (header, behind) = Header::read(&greeting.hello)?;
        let (answered, welcome) = other.answer(&header, behind)?;
        let (header, behind) = Header::read(&welcome)?;
        let began = greeting.answered(&header, behind).map_err(|(_, count)| count)?;
        Ok((began, answered))
    }

    #[test]
    fn incarnations_are_told_and_strangers_are_dropped_at_the_first_message() {
        let (alice, bob) = (credentials(0, "one"), credentials(1, "one"));
        let (began, answered) = meet(&alice, &bob).expect("they share a key");
        assert_eq!((began.incarnation, answered.incarnation), (bob.incarnation, alice.incarnation));
        assert_eq!(meet(&credentials(0, "other"), &bob).err(), Some(Count::NotAuthentic));
        // Who has another idea of who takes part, or how, is a stranger.
        for other in [deployment("one", "tcp", "b"), deployment("one", "udp", "c")] {
            let other = Credentials::node(&other, ActorId(0)).expect("no file is needed");
            assert_eq!(meet(&other, &bob).err(), Some(Count::NotAuthentic));
        }
        let observer = Credentials::observer(&deployment("one", "udp", "b"));
        assert!(meet(&observer, &bob).is_ok());
        // Nobody greets itself, nor is another greeted in its place.
        let hello = |to| alice.greet(ActorId(to)).hello;
        let (header, behind) =
            Header::read(&hello(0)).map(|(header, rest)| (header, rest.to_vec())).expect("it is one");
        assert_eq!(alice.answer(&header, &behind).err(), Some(Count::UnknownSender));
        assert_eq!(bob.answer(&header, &behind).err(), Some(Count::UnknownSender));
        let readdressed = Header { to: 1, ..header };
        assert_eq!(bob.answer(&readdressed, &behind).err(), Some(Count::NotAuthentic));
        let renumbered = hello(1);
        let (header, behind) = Header::read(&renumbered).expect("it is one");
        let renumbered = Header { session: header.session ^ 1, ..header };
        assert_eq!(bob.answer(&renumbered, behind).err(), Some(Count::NotAuthentic));
        assert!(bob.answer(&header, behind).is_ok());
    }

    #[test]
    fn a_wrong_answer_leaves_room_for_the_right_one() {
        let (alice, bob) = (credentials(0, "one"), credentials(1, "one"));
        let greeting = alice.greet(ActorId(1));
        let (header, behind) = Header::read(&greeting.hello).expect("it is one");
        let (_, welcome) = bob.answer(&header, behind).expect("it is answered");
        let (header, behind) = Header::read(&welcome).expect("it is one");
        let mut wrong = behind.to_vec();
        wrong[50] ^= 1;
        let (greeting, count) = greeting.answered(&header, &wrong).err().expect("it is wrong");
        assert_eq!(count, Count::NotAuthentic);
        let later = Header { session: header.session + 1, ..header };
        let (greeting, count) = greeting.answered(&later, behind).err().expect("it is another");
        assert_eq!(count, Count::Outdated);
        assert!(greeting.answered(&header, behind).is_ok());
        // The answer to one greeting is none to another.
        let (_, count) = alice.greet(ActorId(1)).answered(&header, behind).err().expect("it is old");
        assert_eq!(count, Count::Outdated);
    }
}
