//! Mailboxes: where senders and receivers meet.

use std::any::type_name;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use simurgh_kernel::context::{Call, call, with_port};
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::simcall::{
    Answer, Criteria, Envelope, Follow, Payload, RecvRequest, Repeatable, SendRequest, Simcall,
};

use super::activity::Start;
use super::shared::Shared;
use super::{Ask, unexpected};
use crate::error::{Error, Result};

/// A meeting point for messages of type `T`. Any actor may send to it and any may receive from it; the oldest send
/// meets the oldest receive.
///
/// A message sets out when its receive is posted, not before: the network starts to carry it when both sides are there.
/// An actor that must not hold up its senders keeps some receives posted in advance ([`Recv::start`] in an
/// [`ActivitySet`](super::ActivitySet)).
///
/// A receive takes any message, or only those with a label ([`Send::tag`], [`Recv::tag`]), or only those of one sender
/// ([`Recv::from`]): then it meets the oldest of them.
///
/// ```
/// use simurgh::prelude::*;
///
/// let mut program = Program::new(Platform::builtin());
/// let inbox = program.mailbox::<&str>("inbox");
/// let to = inbox.clone();
/// let friend = program.spawn("friend", "node-1", |_| async move { to.send("hello", 8.0).await })?;
/// let to = inbox.clone();
/// program.spawn("stranger", "node-2", |_| async move {
///     to.send("buy!", 8.0).detach().await;
///     to.send("fire!", 8.0).tag(1).await
/// })?;
/// program.spawn("reader", "node-0", move |ctx| async move {
///     ctx.sleep(1.0).await;
///     simurgh::check!(inbox.recv().tag(1).await? == "fire!");
///     simurgh::check!(inbox.recv().from(friend).await? == "hello");
///     simurgh::check!(inbox.recv().await? == "buy!");
///     Ok::<(), simurgh::Error>(())
/// })?;
/// assert!(program.simulate(Settings::default())?.is_fine());
/// # Ok::<(), simurgh::Error>(())
/// ```
pub struct Mailbox<T> {
    id: MailboxId,
    shared: Arc<Shared>,
    carries: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self { id: self.id, shared: Arc::clone(&self.shared), carries: PhantomData }
    }
}

impl<T> std::fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailbox<{}>({:?})", type_name::<T>(), self.name())
    }
}

impl<T: std::marker::Send + 'static> Mailbox<T> {
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Self {
        Self { id: shared.mailbox(name), shared: Arc::clone(shared), carries: PhantomData }
    }

    /// Its number.
    pub fn id(&self) -> MailboxId {
        self.id
    }

    /// Sends a message of so many bytes. Awaited as it is, it is over when the message has arrived; see [`Send`] for
    /// the other ways.
    #[track_caller]
    pub fn send(&self, message: T, bytes: f64) -> Send<T> {
        let sender = with_port(|port| port.actor);
        let envelope = Envelope { source: sender.map_or(0, |actor| actor.0), ..Envelope::default() };
        Send {
            call: call(Simcall::Send(
                SendRequest {
                    mailbox: self.id,
                    bytes,
                    rate: None,
                    envelope,
                    payload: Some(Box::new(message)),
                },
                Follow::Wait(None),
            )),
            carries: PhantomData,
        }
    }

    /// Receives a message. Awaited as it is, it is over when a message has arrived; see [`Recv`] for the other ways.
    #[track_caller]
    pub fn recv(&self) -> Recv<T> {
        Recv {
            call: call(Simcall::Recv(
                RecvRequest { mailbox: self.id, rate: None, criteria: Criteria::default() },
                Follow::Wait(None),
            )),
            mailbox: self.clone(),
        }
    }

    /// Whether a message lies here that nobody has begun to receive.
    #[track_caller]
    pub fn has_message(&self) -> Ask<bool> {
        Ask::new(Simcall::Probe(self.id, Criteria::default()), |answer| match answer {
            Answer::Probed(found) => found.is_some(),
            other => unexpected(&other),
        })
    }
}

impl<T> Mailbox<T> {
    /// Its name.
    pub fn name(&self) -> String {
        self.shared.mailbox_name(self.id)
    }
}

impl<T: std::marker::Send + 'static> Mailbox<T> {
    pub(crate) fn open(&self, payload: Option<Payload>) -> Result<T> {
        payload
            .and_then(|payload| match payload.downcast::<T>() {
                Ok(message) => Some(message),
                Err(payload) => Repeatable::unwrap(payload).downcast::<T>().ok(),
            })
            .map(|message| *message)
            .ok_or_else(|| Error::WrongMessage { mailbox: self.name(), expected: type_name::<T>() })
    }
}

/// A message about to be sent.
///
/// - `mailbox.send(m, 1e6).await?` returns when it has arrived.
/// - `mailbox.send(m, 1e6).start().await` returns at once, with an [`Activity`](super::Activity) to wait for.
/// - `mailbox.send(m, 1e6).detach().await` returns at once; nobody waits, and the message outlives its sender.
///
/// Under `check --loss N` a message may be lost: then the first of these returns all the same, since the network took the
/// message. Under `check --duplication N` a message that is [`repeatable`](Self::repeatable) may come twice.
#[derive(Debug)]
#[must_use = "nothing is sent until it is awaited"]
pub struct Send<T> {
    call: Call,
    carries: PhantomData<fn(T)>,
}

impl<T: Clone + std::marker::Send + 'static> Send<T> {
    /// Allows a network that delivers messages twice to deliver this one twice, as a copy: `check --duplication N`. It
    /// changes nothing otherwise.
    ///
    /// ```
    /// use simurgh::prelude::*;
    ///
    /// let mut program = Program::new(Platform::builtin());
    /// let inbox = program.mailbox("inbox");
    /// program.spawn("sender", "node-0", move |_| async move { inbox.send("hello", 8.0).repeatable().await })?;
    /// program.spawn("receiver", "node-1", |ctx| async move { ctx.mailbox::<&str>("inbox").recv().await.map(drop) })?;
    /// assert!(program.simulate(Settings::default())?.is_fine());
    /// # Ok::<(), simurgh::Error>(())
    /// ```
    pub fn repeatable(mut self) -> Self {
        if let Some((request, _)) = self.request() {
            request.payload = request.payload.take().map(Repeatable::wrap::<T>);
        }
        self
    }
}

impl<T> Send<T> {
    fn request(&mut self) -> Option<(&mut SendRequest, &mut Follow)> {
        match self.call.simcall_mut() {
            Some(Simcall::Send(request, follow)) => Some((request, follow)),
            _ => None,
        }
    }

    /// At most so many bytes a second.
    pub fn rate(mut self, bytes_per_second: f64) -> Self {
        if let Some((request, _)) = self.request() {
            request.rate = Some(bytes_per_second);
        }
        self
    }

    /// Writes a label on it, by which receives may choose ([`Recv::tag`]); it is 0 if nothing is said.
    pub fn tag(mut self, tag: i32) -> Self {
        if let Some((request, _)) = self.request() {
            request.envelope.tag = tag;
        }
        self
    }

    /// Gives up after so many seconds, for both sides.
    pub fn timeout(mut self, seconds: f64) -> Self {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Wait(Some(seconds));
        }
        self
    }

    /// Sends in the background: gives an activity that can be waited for.
    pub fn start(mut self) -> Start<()> {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Return;
        }
        Start::new(self.call, |_, _| Ok(()))
    }

    /// Sends in the background, and nobody waits for it.
    pub fn detach(mut self) -> Detach {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Detach;
        }
        Detach { call: self.call }
    }
}

impl<T> Future for Send<T> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.call).poll(cx).map(|answer| match answer {
            Answer::Completed { result, .. } => result.map(drop).map_err(Error::from),
            other => unexpected(&other),
        })
    }
}

/// The future of [`Send::detach`].
#[derive(Debug)]
#[must_use = "nothing is sent until it is awaited"]
pub struct Detach {
    call: Call,
}

impl Future for Detach {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.call.poll_post().is_ready() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.call).poll(cx).map(super::nothing)
    }
}

/// A receive about to be posted.
///
/// - `mailbox.recv().await?` returns with the message.
/// - `mailbox.recv().timeout(1.0).await` gives up after a second.
/// - `mailbox.recv().start().await` returns at once, with an [`Activity`](super::Activity) to wait for.
#[derive(Debug)]
#[must_use = "nothing is received until it is awaited"]
pub struct Recv<T> {
    call: Call,
    mailbox: Mailbox<T>,
}

impl<T: std::marker::Send + 'static> Recv<T> {
    fn request(&mut self) -> Option<(&mut RecvRequest, &mut Follow)> {
        match self.call.simcall_mut() {
            Some(Simcall::Recv(request, follow)) => Some((request, follow)),
            _ => None,
        }
    }

    /// At most so many bytes a second.
    pub fn rate(mut self, bytes_per_second: f64) -> Self {
        if let Some((request, _)) = self.request() {
            request.rate = Some(bytes_per_second);
        }
        self
    }

    /// Takes only messages with this label ([`Send::tag`]).
    pub fn tag(mut self, tag: i32) -> Self {
        if let Some((request, _)) = self.request() {
            request.criteria.tag = Some(tag);
        }
        self
    }

    /// Takes only messages that this actor sent.
    pub fn from(mut self, sender: impl Into<ActorId>) -> Self {
        if let Some((request, _)) = self.request() {
            request.criteria.source = Some(sender.into().0);
        }
        self
    }

    /// Gives up after so many seconds; a message under way is then lost, for both sides.
    pub fn timeout(mut self, seconds: f64) -> Self {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Wait(Some(seconds));
        }
        self
    }

    /// Receives in the background: gives an activity that can be waited for.
    pub fn start(mut self) -> Start<T> {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Return;
        }
        Start::with_mailbox(self.call, self.mailbox)
    }

    /// As [`start`](Self::start), when it only matters that a message came: it can be waited for again and again.
    pub(crate) fn start_discarding(mut self) -> Start<()> {
        if let Some((_, follow)) = self.request() {
            *follow = Follow::Return;
        }
        Start::new(self.call, |_, _| Ok(()))
    }
}

impl<T: std::marker::Send + 'static> Future for Recv<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.call).poll(cx));
        Poll::Ready(match answer {
            Answer::Completed { result, .. } => {
                result.map_err(Error::from).and_then(|p| self.mailbox.open(p))
            }
            other => unexpected(&other),
        })
    }
}
