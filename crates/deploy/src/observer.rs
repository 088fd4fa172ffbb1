//! Takes consistent snapshots of a running deployment, from outside: see `cut` for why they are consistent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use simurgh_protocol::{Actor, ActorId, NodeSnapshot, Snapshot};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cut::{Answer, Part, Request, refusal};
use crate::deployment::{Deployment, Transport};
use crate::error::Error;
use crate::frame::{EMPTY, Key};
use crate::node::addresses;
use crate::session::{Sessions, Verdict};
use crate::tcp::Frames;

/// A node that has not answered by then does not answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A datagram that was not answered by then is sent again.
const AGAIN: Duration = Duration::from_millis(200);
/// How long messages from this side of a cut may be on their way; those that take longer count as lost.
const ON_THE_WAY: Duration = Duration::from_millis(50);
/// The longest state that is taken.
const PART_MAX: usize = 64 << 20;

/// An actor of which a snapshot can be read.
pub trait Observable: Actor<Msg: DeserializeOwned, State: DeserializeOwned, Timer: DeserializeOwned> {}

impl<A> Observable for A where
    A: Actor<Msg: DeserializeOwned, State: DeserializeOwned, Timer: DeserializeOwned>
{
}

/// Somebody who has the key of a deployment, and looks at its nodes.
pub struct Observer {
    runtime: tokio::runtime::Runtime,
    from: Arc<From>,
}

/// Where an observer looks from.
struct From {
    names: Vec<String>,
    addresses: Vec<SocketAddr>,
    transport: Transport,
    sessions: Mutex<Sessions>,
}

impl Observer {
    /// Gets ready to look at a deployment; nobody is asked for anything yet.
    ///
    /// # Errors
    /// If an address is not known here, or the system refuses sockets.
    pub fn new(deployment: &Deployment) -> Result<Self, Error> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::System)?;
        let addresses = runtime.block_on(addresses(deployment))?;
        let sessions = Sessions::observer(addresses.len(), Key::observer(deployment), rand::random());
        let names = deployment.nodes().iter().map(|node| node.name.clone()).collect();
        let transport = deployment.transport();
        Ok(Self {
            runtime,
            from: Arc::new(From { names, addresses, transport, sessions: Mutex::new(sessions) }),
        })
    }

    /// Where all nodes are, and what is on its way between them.
    ///
    /// # Errors
    /// If a node does not answer, was started in the middle, does not let itself be observed, or runs another program.
    #[allow(clippy::disallowed_methods, reason = "numbers of cuts go up, also from one observer to the next")]
    pub fn snapshot<A: Observable>(&self) -> Result<Snapshot<A>, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let cut = now.as_micros() as u64;
        let parts = self.runtime.block_on(self.from.cut(cut))?;
        let mut live = Snapshot { nodes: Vec::new(), in_flight: Vec::new() };
        for (place, part) in parts.into_iter().enumerate() {
            let not_understood = || Error::NotUnderstood { node: self.from.names[place].clone() };
            let Ok(((state, timers), [])) = postcard::take_from_bytes(&part.node) else {
                return Err(not_understood());
            };
            live.nodes.push(NodeSnapshot { state, timers });
            for (from, bytes) in part.in_flight {
                let Ok((message, [])) = postcard::take_from_bytes(&bytes) else {
                    return Err(not_understood());
                };
                live.in_flight.push((from, ActorId::from(place), message));
            }
        }
        Ok(live)
    }
}

impl From {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cut(self: &Arc<Self>, number: u64) -> Result<Vec<Part>, Error> {
        self.ask_all(Request::Join(number)).await?;
        sleep(ON_THE_WAY).await;
        let answers = self.ask_all(Request::Collect(number)).await?;
        let part = |answer: Answer| if let Answer::Part(part) = answer { part } else { Part::default() };
        Ok(answers.into_iter().map(part).collect())
    }

    /// Asks all nodes at once; gives their answers in order.
    async fn ask_all(self: &Arc<Self>, request: Request) -> Result<Vec<Answer>, Error> {
        let mut asking = JoinSet::new();
        for place in 0..self.addresses.len() {
            let from = Arc::clone(self);
            asking.spawn(async move {
                let answer = timeout(PATIENCE, from.ask(ActorId::from(place), request)).await;
                (place, answer.ok().flatten())
            });
        }
        let mut answers = vec![None; self.addresses.len()];
        while let Some(Ok((place, answer))) = asking.join_next().await {
            answers[place] = answer;
        }
        let told = |(answer, name): (Option<Answer>, &String)| {
            let answer = answer.ok_or_else(|| Error::NoPart {
                node: name.clone(),
                why: "it does not answer; is it running, with this deployment file?",
            })?;
            refusal(name, &answer).map_or(Ok(answer), Err)
        };
        answers.into_iter().zip(&self.names).map(told).collect()
    }

    async fn ask(&self, node: ActorId, request: Request) -> Option<Answer> {
        let request = postcard::to_stdvec(&request).ok()?;
        let answer = match self.transport {
            Transport::Tcp => self.ask_over_tcp(node, &request).await?,
            Transport::Udp => self.ask_over_udp(node, &request).await?,
        };
        postcard::from_bytes(&answer).ok()
    }

    async fn ask_over_tcp(&self, node: ActorId, request: &[u8]) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(self.addresses[node.index()]).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let hello = self.sessions().hello(node);
        stream.write_all(&hello).await.ok()?;
        let mut frames = Frames::new(stream);
        let welcome = frames.next().await.ok()?;
        if self.sessions().receive(welcome) != Verdict::Welcomed(node) {
            return None;
        }
        let (ready, (number, question)) = {
            let mut sessions = self.sessions();
            (sessions.ready(node)?, sessions.ask(node, request)?)
        };
        frames.stream.write_all(&[ready, question].concat()).await.ok()?;
        frames.longest = PART_MAX + EMPTY;
        let answer = frames.next().await.ok()?;
        match self.sessions().receive(answer) {
            Verdict::Observed(answered, answer) if answered == number => Some(answer),
            _ => None,
        }
    }

    async fn ask_over_udp(&self, node: ActorId, request: &[u8]) -> Option<Vec<u8>> {
        let address = self.addresses[node.index()];
        let here: SocketAddr = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse().ok()?;
        let socket = UdpSocket::bind(here).await.ok()?;
        let mut buffer = vec![0; 1 << 16];
        let (mut greeted, mut numbers) = (false, Vec::new());
        loop {
            let datagram = {
                let mut sessions = self.sessions();
                if greeted {
                    let (number, question) = sessions.ask(node, request)?;
                    numbers.push(number);
                    question
                } else {
                    sessions.hello(node)
                }
            };
            socket.send_to(&datagram, address).await.ok()?;
            let Ok(Ok((length, _))) = timeout(AGAIN, socket.recv_from(&mut buffer)).await else { continue };
            match self.sessions().receive(&buffer[..length]) {
                Verdict::Welcomed(from) if from == node => greeted = true,
                Verdict::Observed(number, answer) if numbers.contains(&number) => return Some(answer),
                _ => {}
            }
        }
    }
}
