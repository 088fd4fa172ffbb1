//! Chord in its steady state: nodes that know each other, with correct fingers. Each looks up a random key every 10 s,
//! asks its successor for its predecessor every 20 s, and looks up where one of its fingers belongs every 120 s.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simurgh::api::{Detach, Recv};
use simurgh::prelude::*;

use crate::star::star;
use crate::{Line, Threads};

/// Keys and positions go around a ring of 2^32: differences wrap by themselves.
type Key = u32;
const BITS: usize = Key::BITS as usize;

/// A message is so many bytes long.
const BYTES: f64 = 10.0;

/// What nodes send each other. Answers carry what they would in reality, and nothing comes of it here.
#[derive(Copy, Clone)]
enum Message {
    Lookup { key: Key, origin: u32 },
    Found { _key: Key, _owner: u32 },
    AskPredecessor { origin: u32 },
    Predecessor { _position: Key },
}

/// What all nodes know.
struct Ring {
    nodes: u32,
    /// How far apart two neighbours are.
    step: u64,
    end: f64,
    boxes: Mailboxes<Message>,
    received: AtomicU64,
}

impl Ring {
    fn position(&self, node: u32) -> Key {
        (u64::from(node) * self.step) as Key
    }

    /// Lets a node receive within some time.
    fn receive(&self, node: u32, timeout: f64) -> Recv<Message> {
        self.boxes.at(node).recv().timeout(timeout)
    }

    /// Sends a message to a node, which is not waited for.
    fn send(&self, node: u32, message: Message) -> Detach {
        self.boxes.at(node).send(message, BYTES).detach()
    }

    /// Who is responsible for a key: the first node at or after it.
    fn owner(&self, key: Key) -> u32 {
        let node = u64::from(key).div_ceil(self.step);
        if node >= u64::from(self.nodes) { 0 } else { node as u32 }
    }
}

/// The generator that the program on SimGrid has too (splitmix64).
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Some date within a period.
    fn within(&mut self, period: f64) -> f64 {
        period * (self.next() % 1000) as f64 / 1000.0
    }
}

/// A node. It is short: each line of the cache that it takes is fetched from memory for each message of a large system.
struct Node {
    me: u32,
    /// Which finger is looked up next.
    finger: u32,
    ring: Arc<Ring>,
    fingers: [u32; BITS],
}

impl Node {
    fn new(me: u32, ring: Arc<Ring>) -> Self {
        let fingers = std::array::from_fn(|bit| ring.owner(ring.position(me).wrapping_add(1 << bit)));
        Self { me, finger: 0, ring, fingers }
    }

    fn successor(&self) -> u32 {
        (self.me + 1) % self.ring.nodes
    }

    fn predecessor(&self) -> u32 {
        (self.me + self.ring.nodes - 1) % self.ring.nodes
    }

    /// How far a key lies ahead of this node.
    fn distance(&self, key: Key) -> Key {
        key.wrapping_sub(self.ring.position(self.me))
    }

    /// Where a lookup goes from here, and what is sent.
    fn route(&self, key: Key, origin: u32) -> (u32, Message) {
        let ahead = self.distance(key);
        let successor = self.successor();
        if ahead == 0 {
            return (origin, Message::Found { _key: key, _owner: self.me });
        }
        if ahead <= self.distance(self.ring.position(successor)) {
            return (origin, Message::Found { _key: key, _owner: successor });
        }
        let nearer = |finger: &&u32| {
            let distance = self.distance(self.ring.position(**finger));
            distance != 0 && distance < ahead
        };
        let next = self.fingers.iter().rev().find(nearer).copied().unwrap_or(successor);
        (next, Message::Lookup { key, origin })
    }

    /// The life of a node.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn keeps what it is given twice, and there are millions"
    )]
    fn run(mut self, ctx: Ctx) -> impl Future<Output = simurgh::Result> {
        async move {
            let mut random = Generator(u64::from(self.me) + 1);
            let mut next_lookup = random.within(10.0);
            let mut next_stabilise = random.within(20.0);
            let mut next_fix = random.within(120.0);
            let mut received = 0_u32;
            loop {
                let now = ctx.now();
                if now >= self.ring.end {
                    break;
                }
                let (to, message) = if now >= next_lookup {
                    next_lookup += 10.0;
                    self.route(random.next() as Key, self.me)
                } else if now >= next_stabilise {
                    next_stabilise += 20.0;
                    (self.successor(), Message::AskPredecessor { origin: self.me })
                } else if now >= next_fix {
                    next_fix += 120.0;
                    let key = self.ring.position(self.me).wrapping_add(1 << self.finger);
                    self.finger = (self.finger + 1) % Key::BITS;
                    self.route(key, self.me)
                } else {
                    let next = next_lookup.min(next_stabilise).min(next_fix.min(self.ring.end));
                    let message = match self.ring.receive(self.me, next - now).await {
                        Ok(message) => message,
                        Err(error) if error.is_timeout() => continue,
                        Err(error) => return Err(error),
                    };
                    received += 1;
                    match message {
                        Message::Lookup { key, origin } => self.route(key, origin),
                        Message::AskPredecessor { origin } => (
                            origin,
                            Message::Predecessor { _position: self.ring.position(self.predecessor()) },
                        ),
                        Message::Found { .. } | Message::Predecessor { .. } => continue,
                    }
                };
                self.ring.send(to, message).await;
            }
            self.ring.received.fetch_add(u64::from(received), Ordering::Relaxed);
            Ok(())
        }
    }
}

pub fn run(nodes: u32, end: f64, threads: Threads) -> simurgh::Result<Line> {
    let (platform, hosts) = star("node-", nodes, |_| 125e6)?;
    let mut program = Program::new(platform);
    let boxes = program.mailboxes("", nodes);
    let step = (1 << BITS) / u64::from(nodes);
    let ring = Arc::new(Ring { nodes, step, end, boxes, received: AtomicU64::new(0) });
    for (me, &host) in (0..).zip(&hosts) {
        let ring = Arc::clone(&ring);
        program.spawn("n", host, move |ctx| Node::new(me, ring).run(ctx))?;
    }
    let line = crate::simulate(program, threads)?;
    Ok(Line { counted: Some(("messages", ring.received.load(Ordering::Relaxed))), ..line })
}
