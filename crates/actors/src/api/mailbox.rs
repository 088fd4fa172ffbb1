//! Mailboxes: where senders and receivers meet.

use std::any::type_name;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use simurgh_kernel::context::{Call, SimcallFuture, call_at, with_port};
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::simcall::{
    Answer, Criteria, Envelope, Follow, Payload, RecvRequest, Repeatable, SendRequest, Simcall,
};

use super::activity::Start;
use super::quantity::{Seconds, amount, patience, positive};
use super::shared::{Shared, mailbox_name};
use super::{Ask, take_completed, unexpected};
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
///     Ok(())
/// })?;
/// assert!(program.simulate(Settings::default())?.is_fine());
/// # Ok::<(), simurgh::Error>(())
/// ```
pub struct Mailbox<T> {
    id: MailboxId,
    /// Where its name is. It is no `Copy` all the same: then closures would borrow it that are to take it along.
    registry: u32,
    carries: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self { id: self.id, registry: self.registry, carries: PhantomData }
    }
}

impl<T> std::fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailbox<{}>({:?})", type_name::<T>(), self.name())
    }
}

impl<T: std::marker::Send + 'static> Mailbox<T> {
    pub(crate) fn new(shared: &Shared, name: &str) -> Self {
        Self::of(shared.mailbox(name), shared.registry())
    }

    /// The mailbox of a number that a registry gave out.
    #[inline]
    pub(crate) fn of(id: MailboxId, registry: u32) -> Self {
        Self { id, registry, carries: PhantomData }
    }

    /// Its number.
    pub fn id(&self) -> MailboxId {
        self.id
    }

    /// Sends a message of so many bytes. Awaited as it is, it is over when the message has arrived; see [`Send`] for
    /// the other ways.
    #[track_caller]
    #[inline]
    pub fn send(&self, message: T, bytes: f64) -> Send<T> {
        let bytes = amount(bytes, "bytes to send");
        let payload: Option<Payload> = Some(Box::new(message));
        Send {
            message: Message { mailbox: self.id, tag: 0, bytes, rate: f64::INFINITY, payload },
            timeout: f64::NAN,
            simcall: SimcallFuture::new(Location::caller()),
            carries: PhantomData,
        }
    }

    /// Receives a message. Awaited as it is, it is over when a message has arrived; see [`Recv`] for the other ways.
    #[track_caller]
    #[inline]
    pub fn recv(&self) -> Recv<T> {
        Recv {
            mailbox: self.clone(),
            wanted: Wanted {
                source: 0,
                tag: 0,
                has_source: false,
                has_tag: false,
                rate: f64::INFINITY,
                timeout: f64::NAN,
            },
            simcall: SimcallFuture::new(Location::caller()),
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
        mailbox_name(self.registry, self.id)
    }
}

impl<T: std::marker::Send + 'static> Mailbox<T> {
    pub(crate) fn open(&self, payload: Option<Payload>) -> Result<T> {
        let Some(payload) = payload else { return Err(Error::Taken { mailbox: self.name() }) };
        let message = match payload.downcast::<T>() {
            Ok(message) => Some(message),
            Err(payload) => Repeatable::unwrap(payload).downcast::<T>().ok(),
        };
        message
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
    message: Message,
    /// Not a number if there is none.
    timeout: f64,
    simcall: SimcallFuture,
    carries: PhantomData<fn(T)>,
}

/// What is sent, until it is.
#[derive(Debug)]
struct Message {
    mailbox: MailboxId,
    tag: i32,
    bytes: f64,
    /// Infinite if there is no limit.
    rate: f64,
    payload: Option<Payload>,
}

impl Message {
    /// As its sender posts it.
    #[inline]
    fn request(&mut self, sender: ActorId) -> SendRequest {
        SendRequest {
            mailbox: self.mailbox,
            bytes: self.bytes,
            rate: (self.rate != f64::INFINITY).then_some(self.rate),
            envelope: Envelope { source: sender.0, tag: self.tag, ..Envelope::default() },
            payload: self.payload.take(),
        }
    }
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
        self.message.payload = self.message.payload.take().map(Repeatable::wrap::<T>);
        self
    }
}

impl<T> Send<T> {
    /// At most so many bytes a second.
    #[track_caller]
    pub fn rate(mut self, bytes_per_second: f64) -> Self {
        self.message.rate = positive(bytes_per_second, "a rate");
        self
    }

    /// Writes a label on it, by which receives may choose ([`Recv::tag`]); it is 0 if nothing is said.
    pub fn tag(mut self, tag: i32) -> Self {
        self.message.tag = tag;
        self
    }

    /// Gives up after so many seconds, for both sides.
    #[track_caller]
    pub fn timeout(mut self, span: impl Into<Seconds>) -> Self {
        self.timeout = patience(span);
        self
    }

    /// Sends in the background: gives an activity that can be waited for.
    pub fn start(mut self) -> Start<()> {
        let sender = with_port(|port| port.actor).unwrap_or(ActorId(0));
        let simcall = Simcall::Send(self.message.request(sender), Follow::Return);
        Start::new(call_at(simcall, self.simcall.place()), |_, _| Ok(()))
    }

    /// Sends in the background, and nobody waits for it.
    #[inline]
    pub fn detach(self) -> Detach {
        Detach { message: self.message, simcall: self.simcall }
    }
}

impl<T> Future for Send<T> {
    type Output = Result<()>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let Send { message, timeout, simcall, .. } = &mut *self;
        let request = |sender| Simcall::Send(message.request(sender), Follow::Wait(limit(*timeout)));
        simcall.poll_with(request, |answer| take_completed(answer).map(drop)).map_err(Error::from)
    }
}

/// The future of [`Send::detach`].
#[derive(Debug)]
#[must_use = "nothing is sent until it is awaited"]
pub struct Detach {
    message: Message,
    simcall: SimcallFuture,
}

impl Future for Detach {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let Detach { message, simcall } = &mut *self;
        if simcall.poll_post(|sender| message.request(sender)).is_ready() {
            return Poll::Ready(());
        }
        let request = |sender| Simcall::Send(message.request(sender), Follow::Detach);
        simcall.poll_with(request, |answer| super::nothing(answer.take().expect("it is there")))
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
    mailbox: Mailbox<T>,
    wanted: Wanted,
    simcall: SimcallFuture,
}

/// What is received, and for how long it is waited. It is short: each actor that waits has one.
#[derive(Debug)]
struct Wanted {
    /// The only source and label that are accepted, if there are such.
    source: u32,
    tag: i32,
    has_source: bool,
    has_tag: bool,
    /// Infinite if there is no limit.
    rate: f64,
    /// Not a number if there is none.
    timeout: f64,
}

impl Wanted {
    /// As a receive at a mailbox.
    #[inline]
    fn request(&self, mailbox: MailboxId) -> RecvRequest {
        RecvRequest {
            mailbox,
            rate: (self.rate != f64::INFINITY).then_some(self.rate),
            criteria: Criteria {
                context: 0,
                source: self.has_source.then_some(self.source),
                tag: self.has_tag.then_some(self.tag),
            },
        }
    }
}

/// A timeout, if there is one.
#[inline]
fn limit(timeout: f64) -> Option<f64> {
    (!timeout.is_nan()).then_some(timeout)
}

impl<T: std::marker::Send + 'static> Recv<T> {
    /// At most so many bytes a second.
    #[track_caller]
    pub fn rate(mut self, bytes_per_second: f64) -> Self {
        self.wanted.rate = positive(bytes_per_second, "a rate");
        self
    }

    /// Takes only messages with this label ([`Send::tag`]).
    pub fn tag(mut self, tag: i32) -> Self {
        (self.wanted.tag, self.wanted.has_tag) = (tag, true);
        self
    }

    /// Takes only messages that this actor sent.
    pub fn from(mut self, sender: impl Into<ActorId>) -> Self {
        (self.wanted.source, self.wanted.has_source) = (sender.into().0, true);
        self
    }

    /// Gives up after so many seconds; a message under way is then lost, for both sides.
    #[track_caller]
    #[inline]
    pub fn timeout(mut self, span: impl Into<Seconds>) -> Self {
        self.wanted.timeout = patience(span);
        self
    }

    /// Receives in the background: gives an activity that can be waited for.
    pub fn start(self) -> Start<T> {
        Start::with_mailbox(self.call(), self.mailbox)
    }

    /// As [`start`](Self::start), when it only matters that a message came: it can be waited for again and again.
    pub(crate) fn start_discarding(self) -> Start<()> {
        Start::new(self.call(), |_, _| Ok(()))
    }

    fn call(&self) -> Call {
        call_at(Simcall::Recv(self.wanted.request(self.mailbox.id), Follow::Return), self.simcall.place())
    }
}

impl<T: std::marker::Send + 'static> Future for Recv<T> {
    type Output = Result<T>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let Recv { mailbox, wanted, simcall } = &mut *self;
        let request = |_| Simcall::Recv(wanted.request(mailbox.id), Follow::Wait(limit(wanted.timeout)));
        let message = std::task::ready!(simcall.poll_with(request, take_completed));
        Poll::Ready(message.map_err(Error::from).and_then(|payload| mailbox.open(payload)))
    }
}
