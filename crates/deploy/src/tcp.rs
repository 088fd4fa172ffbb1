//! Frames over connections: each node makes one to each other for what it sends, and makes it again whenever it breaks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use simurgh_protocol::ActorId;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::counters::Count;
use crate::cut::CUT;
use crate::frame::{EMPTY, frame_length};
use crate::node::Shared;
use crate::session::Verdict;

/// A connection that has not proved by then that it comes from a living peer is closed.
const PROOF: Duration = Duration::from_secs(3);
/// A peer that takes nothing for so long is taken for dead.
const STUCK: Duration = Duration::from_secs(10);
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_LAST: Duration = Duration::from_secs(1);
/// Connections of strangers at one time, beside a few of each peer.
const STRANGERS_MAX: usize = 32;
/// What is written at once.
const BATCH_BYTES: usize = 64 << 10;

/// Cuts a stream into frames. What was read of a frame is kept when `next` is dropped.
pub(crate) struct Frames<R> {
    pub(crate) stream: R,
    bytes: Vec<u8>,
    /// How much of `bytes` was given out as the last frame.
    given: usize,
    pub(crate) longest: usize,
}

/// Why there are no more frames.
pub(crate) enum End {
    Closed,
    Wrong(Count),
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// At first only frames without a message are taken, so that strangers cannot fill the memory.
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, bytes: Vec::new(), given: 0, longest: EMPTY }
    }

    pub(crate) async fn next(&mut self) -> Result<&[u8], End> {
        self.bytes.drain(..self.given);
        self.given = 0;
        loop {
            if let Some(length) = frame_length(&self.bytes).map_err(End::Wrong)? {
                if length > self.longest {
                    return Err(End::Wrong(Count::TooLong));
                }
                if self.bytes.len() >= length {
                    self.given = length;
                    return Ok(&self.bytes[..length]);
                }
            }
            // A frame is at most as long as was allowed, and so is what is kept here, but for one read.
            self.bytes.reserve(4096);
            if !matches!(self.stream.read_buf(&mut self.bytes).await, Ok(1..)) {
                return Err(End::Closed);
            }
        }
    }
}

/// Accepts connections for ever.
pub(crate) async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    let room = Arc::new(Semaphore::new(STRANGERS_MAX + 4 * shared.queues.len()));
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, most likely.
            sleep(RETRY_FIRST).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            shared.counters.add(Count::Refused);
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            receive(&shared, stream).await;
            drop(permit);
        });
    }
}

/// Takes the frames of one connection.
async fn receive(shared: &Shared, stream: TcpStream) {
    let (reader, mut writer) = stream.into_split();
    let mut frames = Frames::new(reader);
    let proof = Instant::now() + PROOF;
    let mut proved = false;
    loop {
        let next = if proved {
            frames.next().await
        } else {
            timeout_at(proof, frames.next()).await.unwrap_or(Err(End::Wrong(Count::Refused)))
        };
        let verdict = match next {
            Ok(bytes) => shared.sessions().receive(bytes),
            Err(End::Closed) => return,
            Err(End::Wrong(count)) => return shared.counters.add(count),
        };
        match verdict {
            Verdict::Deliver(from, message) => {
                // A full queue makes the peer wait.
                if shared.inbound.send((from, message)).await.is_err() {
                    return;
                }
            }
            Verdict::Ready(from) => {
                proved = true;
                // Who comes can be reached: whoever waits to try it again need not wait any longer.
                shared.welcomed.get(from.index()).into_iter().for_each(|peer| peer.notify_one());
                frames.longest = shared.message_bytes_max + CUT + EMPTY;
            }
            Verdict::Reply(answer) => {
                if !matches!(timeout(PROOF, writer.write_all(&answer)).await, Ok(Ok(()))) {
                    return;
                }
            }
            Verdict::Observe(asked) => {
                let Some(answer) = shared.observed(&asked.request).await else { return };
                let sealed = shared.sessions().answer(&asked, &answer);
                if !matches!(timeout(PROOF, writer.write_all(&sealed)).await, Ok(Ok(()))) {
                    return;
                }
            }
            // Where the lives have changed, the peer connects anew; where a frame is wrong, nothing after it is trusted.
            Verdict::Outdated(_) => return shared.counters.add(Count::Outdated),
            Verdict::Drop(count) => return shared.counters.add(count),
            Verdict::Welcomed(_) | Verdict::Observed(..) => {}
        }
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
        if let Ok(Some(stream)) = timeout(PROOF, connect(&shared, peer, address)).await {
            shared.counters.add(Count::Connected);
            pause = RETRY_FIRST;
            if carry(&shared, peer, stream).await {
                return;
            }
        }
        // Peers that all wait for one do not all come back at once; one that is back says so.
        let pause_of_mine = pause.mul_f64(rand::random_range(0.5..1.0));
        let _ = timeout(pause_of_mine, shared.welcomed[peer.index()].notified()).await;
        pause = (pause * 2).min(RETRY_LAST);
    }
}

/// Connects, learns the life of the peer, and proves to be alive.
async fn connect(shared: &Shared, peer: ActorId, address: SocketAddr) -> Option<Frames<TcpStream>> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.set_nodelay(true).ok()?;
    let hello = shared.sessions().hello(peer);
    stream.write_all(&hello).await.ok()?;
    let mut frames = Frames::new(stream);
    let verdict = match frames.next().await {
        Ok(bytes) => shared.sessions().receive(bytes),
        Err(End::Closed) => return None,
        Err(End::Wrong(count)) => {
            shared.counters.add(count);
            return None;
        }
    };
    match verdict {
        Verdict::Welcomed(from) if from == peer => {}
        Verdict::Drop(count) => {
            shared.counters.add(count);
            return None;
        }
        _ => return None,
    }
    let ready = shared.sessions().ready(peer)?;
    frames.stream.write_all(&ready).await.ok()?;
    Some(frames)
}

/// Sends over a connection while it lasts; true if there is nothing more to send.
async fn carry(shared: &Shared, peer: ActorId, mut frames: Frames<TcpStream>) -> bool {
    let queue = &shared.queues[peer.index()];
    loop {
        let first = tokio::select! {
            message = queue.pop() => message,
            // The peer has nothing to say here: whatever comes is the end.
            _ = frames.next() => return false,
        };
        let Some(first) = first else { return true };
        let (mut batch, mut messages) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(message) = next {
            let Some(sealed) = shared.sessions().seal(peer, &message) else { return false };
            batch.extend(sealed);
            messages += 1;
            next = if batch.len() < BATCH_BYTES { queue.try_pop() } else { None };
        }
        if !matches!(timeout(STUCK, frames.stream.write_all(&batch)).await, Ok(Ok(()))) {
            return false;
        }
        for _ in 0..messages {
            shared.counters.add(Count::Sent);
        }
    }
}
