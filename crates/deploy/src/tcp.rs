//! Connections: each node makes one to each other for what it sends, and makes it again whenever it breaks.
//!
//! Both ends say that they live when they have nothing else to say, and end a connection over which nothing comes. Strangers have places
//! of their own, of which the oldest is given up for the newest: however many of them are silent, a peer has the time that a handshake takes.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use simurgh_protocol::ActorId;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::counters::Count;
use crate::cut::{self, CUT};
use crate::frame::Header;
use crate::node::Shared;
use crate::session::{Content, Pieces, Session};
use crate::stream::{End, Frames, opened, say};

/// A connection that has not proved by then that it comes from a living peer is closed; who takes no answer for so long, too.
pub(crate) const PROOF: Duration = Duration::from_secs(3);
/// A peer that takes nothing for so long is taken for dead.
const STUCK: Duration = Duration::from_secs(10);
/// Who has said nothing for so long says that it lives.
const ALIVE: Duration = Duration::from_secs(3);
/// Who has said nothing for so long, not even that it lives, is taken for dead.
const SILENT: Duration = Duration::from_secs(12);
/// How long what is left on a connection is still taken after its peer has made another one.
const LEFT: Duration = Duration::from_millis(500);
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_LAST: Duration = Duration::from_secs(1);
/// Connections at one time that have not proved whom they come from.
const STRANGERS_MAX: usize = 64;
/// Connections of observers at one time.
const OBSERVERS_MAX: usize = 16;
/// What is written at once.
const BATCH_BYTES: usize = 64 << 10;

/// A connection that has proved nothing yet.
const STRANGER: u8 = 0;
const PROVED: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Who is connected: a place for each peer, and some for observers.
struct Places {
    /// Telling it ends the connection that has the place.
    peers: Vec<Mutex<Option<oneshot::Sender<()>>>>,
    observers: Mutex<VecDeque<oneshot::Sender<()>>>,
}

impl Places {
    /// Takes the place of a peer: the connection that had it is told. Observers share some, and the oldest gives way.
    fn take(&self, peer: u32) -> oneshot::Receiver<()> {
        let (sender, replaced) = oneshot::channel();
        let before = match self.peers.get(peer as usize) {
            Some(place) => place.lock().unwrap_or_else(PoisonError::into_inner).replace(sender),
            None => {
                let mut observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
                observers.retain(|observer| !observer.is_closed());
                observers.push_back(sender);
                if observers.len() > OBSERVERS_MAX { observers.pop_front() } else { None }
            }
        };
        before.map(|before| before.send(()));
        replaced
    }
}

/// Accepts connections for ever.
pub(crate) async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    let places = Arc::new(Places {
        peers: shared.queues.iter().map(|_| Mutex::default()).collect(),
        observers: Mutex::default(),
    });
    let mut strangers: VecDeque<(Arc<AtomicU8>, AbortHandle)> = VecDeque::new();
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, most likely.
            sleep(RETRY_FIRST).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        strangers.retain(|(standing, handle)| {
            standing.load(Ordering::Acquire) == STRANGER && !handle.is_finished()
        });
        if strangers.len() >= STRANGERS_MAX
            && let Some((standing, handle)) = strangers.pop_front()
            && change(&standing, GIVEN_UP)
        {
            handle.abort();
            shared.counters.add(Count::Refused);
        }
        let standing = Arc::new(AtomicU8::new(STRANGER));
        let (shared, places, of_it) = (Arc::clone(&shared), Arc::clone(&places), Arc::clone(&standing));
        let handle = connections.spawn(async move { receive(&shared, &places, &of_it, stream).await });
        strangers.push_back((standing, handle));
    }
}

/// A stranger proves itself or is given up, whichever comes first.
fn change(standing: &AtomicU8, to: u8) -> bool {
    standing.compare_exchange(STRANGER, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The end of a connection that somebody else has made.
struct Accepted {
    frames: Frames<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    session: Session,
}

/// Takes the frames of one connection.
async fn receive(shared: &Shared, places: &Places, standing: &AtomicU8, stream: TcpStream) {
    let ended = match timeout(PROOF, prove(shared, stream)).await {
        Ok(Ok(accepted)) if change(standing, PROVED) => serve(shared, places, accepted).await,
        Ok(Ok(_)) => return,
        Ok(Err(end)) => end,
        Err(_) => End::Wrong(Count::Refused),
    };
    if let End::Wrong(count) = ended {
        shared.counters.add(count);
    }
}

/// Answers a greeting, and waits for a frame that only a living peer can make.
async fn prove(shared: &Shared, stream: TcpStream) -> Result<Accepted, End> {
    stream.set_nodelay(true).map_err(|_| End::Closed)?;
    let (reader, mut writer) = stream.into_split();
    let mut frames = Frames::new(reader);
    let hello = frames.next().await?;
    let (header, behind) = Header::read(&hello).map_err(End::Wrong)?;
    let (mut session, welcome) = shared.credentials.answer(&header, behind).map_err(End::Wrong)?;
    writer.write_all(&welcome).await.map_err(|_| End::Closed)?;
    let first = frames.next().await?;
    match opened(&mut session, &mut Pieces::new(0), &first).map_err(End::Wrong)? {
        Some((Content::Alive, _)) => {}
        _ => return Err(End::Wrong(Count::NotUnderstood)),
    }
    frames.trust();
    Ok(Accepted { frames, writer, session })
}

/// Takes what a peer or an observer says, until there is nothing more.
async fn serve(shared: &Shared, places: &Places, accepted: Accepted) -> End {
    let Accepted { mut frames, mut writer, mut session } = accepted;
    let mut replaced = places.take(session.peer);
    shared.met(session.peer, session.incarnation);
    let mut pieces = Pieces::new(shared.message_bytes_max + CUT);
    let (mut heard, mut said) = (Instant::now(), Instant::now());
    let mut end: Option<Instant> = None;
    loop {
        let deadline = end.unwrap_or(heard + SILENT);
        let frame = tokio::select! {
            // In this order: who says much is told that somebody lives here, and who has said something is not silent.
            biased;
            () = sleep_until(said + ALIVE) => {
                if !say(&mut writer, &mut session, Content::Alive, &[], PROOF).await {
                    return End::Closed;
                }
                said = Instant::now();
                continue;
            }
            _ = &mut replaced, if end.is_none() => {
                end = Some(Instant::now() + LEFT);
                continue;
            }
            frame = frames.next() => match frame {
                Ok(frame) => frame,
                Err(end) => return end,
            },
            () = sleep_until(deadline) => {
                return if end.is_some() { End::Closed } else { End::Wrong(Count::Silent) };
            }
        };
        let (content, message) = match opened(&mut session, &mut pieces, &frame) {
            Ok(Some(whole)) => whole,
            Ok(None) => {
                heard = Instant::now();
                continue;
            }
            // Where a frame is wrong, nothing after it is trusted.
            Err(count) => return End::Wrong(count),
        };
        let from = ActorId(session.peer);
        match content {
            Content::Message | Content::InCut => {
                let message = if content == Content::InCut { message } else { cut::behind(0, &message) };
                // A full queue makes the peer wait; it is told that somebody lives here.
                let permit = loop {
                    match timeout(ALIVE, shared.inbound.reserve()).await {
                        Ok(Ok(permit)) => break permit,
                        Ok(Err(_)) => return End::Closed,
                        Err(_) => {
                            if !say(&mut writer, &mut session, Content::Alive, &[], PROOF).await {
                                return End::Closed;
                            }
                            said = Instant::now();
                        }
                    }
                };
                permit.send((from, message));
            }
            Content::Question => {
                let Some(answer) = shared.observed(&message).await else { return End::Closed };
                if !say(&mut writer, &mut session, Content::Answer, &answer, STUCK).await {
                    return End::Closed;
                }
                said = Instant::now();
            }
            Content::Alive | Content::Answer | Content::Piece => {}
        }
        heard = Instant::now();
    }
}

/// Sends what is queued for each peer, until the queues are closed and empty.
pub(crate) fn send(tasks: &mut JoinSet<()>, shared: &Arc<Shared>, addresses: &[SocketAddr]) {
    for (place, &address) in addresses.iter().enumerate().filter(|(place, _)| *place != shared.me.index()) {
        tasks.spawn(send_to(Arc::clone(shared), ActorId::from(place), address));
    }
}

async fn send_to(shared: Arc<Shared>, peer: ActorId, address: SocketAddr) {
    let mut pause = RETRY_FIRST;
    loop {
        match timeout(PROOF, connect(&shared, peer, address)).await {
            Ok(Ok((mut frames, session))) => {
                shared.counters.add(Count::Connected);
                pause = RETRY_FIRST;
                match carry(&shared, peer, &mut frames, session).await {
                    Carried::Broken => {}
                    Carried::Old => part(frames).await,
                    Carried::All => return part(frames).await,
                }
            }
            Ok(Err(End::Wrong(count))) => shared.counters.add(count),
            Ok(Err(End::Closed)) | Err(_) => {}
        }
        // Peers that all wait for one do not all come back at once; one that is back says so.
        let pause_of_mine = pause.mul_f64(rand::random_range(0.5..1.0));
        let _ = timeout(pause_of_mine, shared.welcomed[peer.index()].notified()).await;
        pause = (pause * 2).min(RETRY_LAST);
    }
}

/// Connects, and comes to a session with the peer.
async fn connect(
    shared: &Shared,
    peer: ActorId,
    address: SocketAddr,
) -> Result<(Frames<TcpStream>, Session), End> {
    let stream = TcpStream::connect(address).await.map_err(|_| End::Closed)?;
    greet(&shared.credentials, peer, stream).await
}

/// Comes to a session with a node over a connection to it, and proves to be alive.
pub(crate) async fn greet(
    credentials: &crate::noise::Credentials,
    node: ActorId,
    mut stream: TcpStream,
) -> Result<(Frames<TcpStream>, Session), End> {
    stream.set_nodelay(true).map_err(|_| End::Closed)?;
    let greeting = credentials.greet(node);
    stream.write_all(&greeting.hello).await.map_err(|_| End::Closed)?;
    let mut frames = Frames::new(stream);
    let welcome = frames.next().await?;
    let (header, behind) = Header::read(&welcome).map_err(End::Wrong)?;
    let mut session = greeting.answered(&header, behind).map_err(|(_, count)| End::Wrong(count))?;
    if !say(frames.stream(), &mut session, Content::Alive, &[], PROOF).await {
        return Err(End::Closed);
    }
    frames.trust();
    Ok((frames, session))
}

/// Why nothing more is sent over a connection.
enum Carried {
    /// It is of no use any more.
    Broken,
    /// Its session is old.
    Old,
    /// There is nothing more to send.
    All,
}

/// Ends a connection so that all that was sent over it arrives: a socket that is closed with something unread takes back what it has sent.
async fn part(mut frames: Frames<TcpStream>) {
    if frames.stream().shutdown().await.is_ok() {
        let _ = timeout(PROOF, async { while frames.next().await.is_ok() {} }).await;
    }
}

/// Sends over a connection while it lasts.
async fn carry(
    shared: &Shared,
    peer: ActorId,
    frames: &mut Frames<TcpStream>,
    mut session: Session,
) -> Carried {
    let queue = &shared.queues[peer.index()];
    let (mut heard, mut said) = (Instant::now(), Instant::now());
    // The peer says here that it lives, and nothing else.
    let mut nothing = Pieces::new(0);
    loop {
        let first = tokio::select! {
            // In this order: who has said something is not silent, and much to send hides nothing.
            biased;
            frame = frames.next() => {
                let Ok(frame) = frame else { return Carried::Broken };
                if !matches!(opened(&mut session, &mut nothing, &frame), Ok(Some((Content::Alive, _)))) {
                    return Carried::Broken;
                }
                heard = Instant::now();
                continue;
            }
            () = shared.welcomed[peer.index()].notified() => {
                // It was started again: nobody reads any more what is sent here.
                if shared.incarnation(peer) != session.incarnation {
                    return Carried::Broken;
                }
                continue;
            }
            () = sleep_until(heard + SILENT) => {
                shared.counters.add(Count::Silent);
                return Carried::Broken;
            }
            () = sleep_until(said + ALIVE) => {
                if !say(frames.stream(), &mut session, Content::Alive, &[], STUCK).await {
                    return Carried::Broken;
                }
                said = Instant::now();
                continue;
            }
            () = sleep_until(session.renewed_at) => return Carried::Old,
            message = queue.pop() => message,
        };
        let Some(first) = first else { return Carried::All };
        let (mut batch, mut messages) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(message) = next {
            session.seal_message(&message, &mut batch);
            messages += 1;
            next = if batch.len() < BATCH_BYTES { queue.try_pop() } else { None };
        }
        if !matches!(timeout(STUCK, frames.stream().write_all(&batch)).await, Ok(Ok(()))) {
            return Carried::Broken;
        }
        said = Instant::now();
        for _ in 0..messages {
            shared.counters.add(Count::Sent);
        }
    }
}
