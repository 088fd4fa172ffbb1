//! Frames as datagrams: one task receives, and one for each peer sends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use simurgh_protocol::ActorId;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::counters::Count;
use crate::cut::{self, CUT};
use crate::deployment::DATAGRAM_MESSAGE_MAX;
use crate::frame::EMPTY;
use crate::node::Shared;
use crate::sessions::Verdict;

const HELLO_FIRST: Duration = Duration::from_millis(20);
const HELLO_LAST: Duration = Duration::from_secs(1);
/// How often a peer is greeted with whom there is a session: for 300 ms.
const DOUBTED_TRIES: u32 = 4;

/// Receives for ever.
pub(crate) async fn receive(shared: Arc<Shared>, socket: Arc<UdpSocket>) {
    // One byte more than the longest frame, so that what is too long shows.
    let mut buffer = vec![0; shared.message_bytes_max + CUT + EMPTY + 1];
    // Dropped with this task.
    let mut observers = JoinSet::new();
    loop {
        // Errors here are about datagrams sent before to who was not there: nothing to be done about them.
        let Ok((length, source)) = socket.recv_from(&mut buffer).await else {
            tokio::task::yield_now().await;
            continue;
        };
        if length == buffer.len() {
            shared.counters.add(Count::TooLong);
            continue;
        }
        let verdict = shared.sessions().receive(&buffer[..length]);
        match verdict {
            Verdict::Deliver(from, message) => {
                if shared.inbound.try_send((from, message)).is_err() {
                    shared.counters.add(Count::QueueFull);
                }
            }
            Verdict::Reply(answer) => drop(socket.send_to(&answer, source).await),
            Verdict::Outdated(answer) => {
                shared.counters.add(Count::Outdated);
                drop(socket.send_to(&answer, source).await);
            }
            Verdict::Welcomed(peer) => shared.welcomed[peer.index()].notify_one(),
            Verdict::Observe(session, request) => {
                while observers.try_join_next().is_some() {}
                let (shared, socket) = (Arc::clone(&shared), Arc::clone(&socket));
                observers.spawn(async move {
                    let Some(mut answer) = shared.observed(&request).await else { return };
                    if answer.len() > DATAGRAM_MESSAGE_MAX {
                        answer = postcard::to_stdvec(&cut::Answer::TooLong).unwrap_or_default();
                    }
                    let sealed = shared.sessions().answer(session, &answer);
                    if let Some(sealed) = sealed {
                        drop(socket.send_to(&sealed, source).await);
                    }
                });
            }
            Verdict::Doubted => {}
            Verdict::Drop(count) => shared.counters.add(count),
        }
    }
}

/// Sends what is queued for each peer, until the queues are closed and empty.
pub(crate) fn send(
    tasks: &mut JoinSet<()>,
    shared: &Arc<Shared>,
    socket: &Arc<UdpSocket>,
    addresses: &[SocketAddr],
) {
    for (place, &address) in addresses.iter().enumerate().filter(|(place, _)| *place != shared.me.index()) {
        tasks.spawn(send_to(Arc::clone(shared), Arc::clone(socket), ActorId::from(place), address));
    }
}

async fn send_to(shared: Arc<Shared>, socket: Arc<UdpSocket>, peer: ActorId, address: SocketAddr) {
    while let Some(message) = shared.queues[peer.index()].pop().await {
        greet(&shared, &socket, peer, address).await;
        let sealed = shared.sessions().seal(peer, &message);
        if let Some(sealed) = sealed
            && socket.send_to(&sealed, address).await.is_ok()
        {
            shared.counters.add(Count::Sent);
        }
    }
}

/// Begins a session with a peer if one is due. Who has never answered is asked again, less and less often; if there is a session, and
/// it is only said to be gone, a few times.
async fn greet(shared: &Shared, socket: &UdpSocket, peer: ActorId, address: SocketAddr) {
    let (mut pause, mut tries) = (HELLO_FIRST, 0);
    loop {
        let hello = {
            let mut sessions = shared.sessions();
            if !sessions.is_due(peer) || tries >= DOUBTED_TRIES && sessions.make_do(peer) {
                return;
            }
            sessions.hello(peer)
        };
        drop(socket.send_to(&hello, address).await);
        let _ = timeout(pause, shared.welcomed[peer.index()].notified()).await;
        pause = (pause * 2).min(HELLO_LAST);
        tries += 1;
    }
}
