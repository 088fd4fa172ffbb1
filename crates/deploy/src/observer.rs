//! Takes consistent snapshots of a running deployment, from outside: see `cut` for why they are consistent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use simurgh_protocol::{Actor, ActorId, NodeSnapshot, Snapshot};
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cut::{self, Answer, Part, Request, refusal};
use crate::deployment::{Deployment, Transport};
use crate::error::Error;
use crate::frame::Header;
use crate::node::addresses;
use crate::noise::Credentials;
use crate::session::{Content, Pieces};
use crate::stream::{opened, say};
use crate::tcp;

/// A node that has not answered by then does not answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A datagram that was not answered by then is sent again.
const AGAIN: Duration = Duration::from_millis(200);
/// How long messages from this side of a cut may be on their way; those that take longer count as lost.
const ON_THE_WAY: Duration = Duration::from_millis(50);
/// How often a cut is tried again that another observer has overtaken.
const OVERTAKEN_MAX: usize = 3;
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
    credentials: Credentials,
    /// The number of the last cut that was heard of.
    last: AtomicU64,
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
        let credentials = Credentials::observer(deployment);
        let names = deployment.nodes().iter().map(|node| node.name.clone()).collect();
        let transport = deployment.transport();
        Ok(Self {
            runtime,
            from: Arc::new(From { names, addresses, transport, credentials, last: AtomicU64::new(0) }),
        })
    }

    /// Where all nodes are, and what is on its way between them.
    ///
    /// # Errors
    /// If a node does not answer, was started in the middle, does not let itself be observed, or runs another program.
    pub fn snapshot<A: Observable>(&self) -> Result<Snapshot<A>, Error> {
        let parts = self.runtime.block_on(self.from.cut())?;
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
    /// Takes a cut; another one with a later number, a few times, if there is one already that is later than it is here.
    async fn cut(self: &Arc<Self>) -> Result<Vec<Part>, Error> {
        let mut tries = OVERTAKEN_MAX;
        let number = loop {
            let last = self.last.load(Ordering::Relaxed);
            // Two observers that are both behind the last cut do not take the same number for the next.
            let number = cut::time().max(last.saturating_add(rand::random_range(1..1000)));
            self.last.store(number, Ordering::Relaxed);
            match self.ask_all(Request::Join(number)).await {
                Ok(_) => break number,
                Err(_) if tries > 0 && self.last.load(Ordering::Relaxed) > number => tries -= 1,
                Err(error) => return Err(error),
            }
        };
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
            if let Some(Answer::Overtaken(by)) = answer {
                self.last.fetch_max(by, Ordering::Relaxed);
            }
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
        let stream = TcpStream::connect(self.addresses[node.index()]).await.ok()?;
        let (mut frames, mut session) = tcp::greet(&self.credentials, node, stream).await.ok()?;
        if !say(frames.stream(), &mut session, Content::Question, request, PATIENCE).await {
            return None;
        }
        let mut pieces = Pieces::new(PART_MAX);
        loop {
            let frame = frames.next().await.ok()?;
            match opened(&mut session, &mut pieces, &frame).ok()? {
                Some((Content::Answer, answer)) => return Some(answer),
                Some((Content::Alive, _)) | None => {}
                Some(_) => return None,
            }
        }
    }

    async fn ask_over_udp(&self, node: ActorId, request: &[u8]) -> Option<Vec<u8>> {
        let address = self.addresses[node.index()];
        let here: SocketAddr = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse().ok()?;
        let socket = UdpSocket::bind(here).await.ok()?;
        let mut buffer = vec![0; 1 << 16];
        let mut greeting = self.credentials.greet(node);
        let mut session = loop {
            socket.send_to(&greeting.hello, address).await.ok()?;
            let Some(datagram) = received(&socket, &mut buffer).await else { continue };
            let Ok((header, behind)) = Header::read(datagram) else { continue };
            match greeting.answered(&header, behind) {
                Ok(session) => break session,
                Err((same, _)) => greeting = same,
            }
        };
        loop {
            let mut question = Vec::new();
            session.seal(Content::Question, request, &mut question);
            socket.send_to(&question, address).await.ok()?;
            let Some(datagram) = received(&socket, &mut buffer).await else { continue };
            let Ok((header, behind)) = Header::read(datagram) else { continue };
            if let Ok((Content::Answer, answer)) = session.open(&header, behind) {
                return Some(answer);
            }
        }
    }
}

/// A datagram, if one comes soon.
async fn received<'a>(socket: &UdpSocket, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let (length, _) = timeout(AGAIN, socket.recv_from(buffer)).await.ok()?.ok()?;
    Some(&buffer[..length])
}
