//! Runs the handlers of an actor: messages from the network, timers of the clock, choices at random.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use simurgh_protocol::runtime::{Environment, NodeRuntime};
use simurgh_protocol::{Actor, ActorId, After, Durable, Out};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::counters::{Count, Counters};
use crate::cut::{Answer, Cut, Request, apart, behind, is_plausible};
use crate::deployment::{Deployment, Transport};
use crate::error::Error;
use crate::frame::{EMPTY, PIECE_MAX};
use crate::noise::Credentials;
use crate::queue::Queue;
use crate::sessions::Sessions;
use crate::storage::Storage;
use crate::{tcp, udp};

/// How long a node that stops tries to send what is still queued.
const FAREWELL: Duration = Duration::from_millis(300);
/// How long an observer waits for an actor that is busy.
const BUSY: Duration = Duration::from_secs(3);
/// Questions of observers that wait at a time.
const OBSERVERS_MAX: usize = 8;

/// A question of an observer, and where its answer goes.
type Question = (Request, oneshot::Sender<Answer>);

/// What the tasks of a node share.
pub(crate) struct Shared {
    pub(crate) me: ActorId,
    pub(crate) message_bytes_max: usize,
    pub(crate) counters: Counters,
    pub(crate) queues: Vec<Queue>,
    pub(crate) welcomed: Vec<Notify>,
    pub(crate) inbound: mpsc::Sender<(ActorId, Vec<u8>)>,
    pub(crate) credentials: Arc<Credentials>,
    /// Which incarnation of each peer has connected last.
    incarnations: Vec<AtomicU64>,
    questions: mpsc::Sender<Question>,
    sessions: Mutex<Sessions>,
}

impl Shared {
    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A peer has connected, and has proved itself: whoever waits to try it again need not wait any longer.
    pub(crate) fn met(&self, peer: u32, incarnation: u64) {
        if let Some(last) = self.incarnations.get(peer as usize) {
            last.store(incarnation, Ordering::Release);
            self.welcomed[peer as usize].notify_one();
        }
    }

    /// Which incarnation of a peer has connected last.
    pub(crate) fn incarnation(&self, peer: ActorId) -> u64 {
        self.incarnations[peer.index()].load(Ordering::Acquire)
    }

    /// What the actor answers an observer; nothing if it is too busy, or the question is none.
    pub(crate) async fn observed(&self, request: &[u8]) -> Option<Vec<u8>> {
        let Ok((request, [])) = postcard::take_from_bytes(request) else {
            self.counters.add(Count::NotUnderstood);
            return None;
        };
        let (sender, answer) = oneshot::channel();
        if self.questions.try_send((request, sender)).is_err() {
            self.counters.add(Count::QueueFull);
            return None;
        }
        let answer = timeout(BUSY, answer).await.ok()?.ok()?;
        self.counters.add(Count::Observed);
        postcard::to_stdvec(&answer).ok()
    }
}

/// How many bytes a message takes on its way to another node, with all that is around it; nothing if it cannot be encoded.
///
/// ```
/// assert_eq!(simurgh_deploy::wire_bytes(&(1_u8, "hello")), Some(56));
/// ```
pub fn wire_bytes<M: Serialize + ?Sized>(message: &M) -> Option<u64> {
    let message = postcard::serialize_with_flavor(message, postcard::ser_flavors::Size::default()).ok()?;
    // What is longer than a frame goes in several.
    let frames = message.div_ceil(PIECE_MAX).max(1);
    Some((frames * EMPTY + message) as u64)
}

/// Runs an actor as a node of a deployment, given by its name or number, until Ctrl-C or SIGTERM. It begins anew whenever it is started.
///
/// # Errors
/// If there is no such node, or the system refuses something it needs.
pub fn run<A: Actor>(actor: A, node: &str, deployment: &Deployment) -> Result<Counters, Error>
where
    A::Msg: Serialize + DeserializeOwned,
{
    Node::new(actor, node, deployment)?.run()
}

/// The same for an actor of which something survives a crash: it is on the disk before anything is sent that may depend on it.
///
/// # Errors
/// If there is no such node, or the system refuses something it needs, or nothing can be stored.
pub fn run_durable<A: Durable>(actor: A, node: &str, deployment: &Deployment) -> Result<Counters, Error>
where
    A::Msg: Serialize + DeserializeOwned,
    A::Stored: Serialize + DeserializeOwned,
{
    Node::durable(actor, node, deployment)?.run()
}

type Watch<A> = Box<dyn FnMut(&<A as Actor>::State)>;
type Store<A> = Box<dyn FnMut(&A, &<A as Actor>::State) -> Result<bool, Error>>;
type Encode<A> = Box<dyn Fn(&<A as Actor>::State, &[&<A as Actor>::Timer]) -> Option<Vec<u8>>>;
type Begin<A> = Box<dyn FnOnce(&A, &mut Out<A>) -> <A as Actor>::State>;

/// An actor at its place in a deployment, ready to run.
pub struct Node<A: Actor> {
    actor: A,
    me: ActorId,
    deployment: Deployment,
    begin: Begin<A>,
    store: Option<Store<A>>,
    watch: Option<Watch<A>>,
    encode: Option<Encode<A>>,
    inputs: Option<mpsc::Receiver<A::Msg>>,
    reader: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    until: Option<Pin<Box<dyn Future<Output = ()>>>>,
    crash: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl<A: Actor> Node<A>
where
    A::Msg: Serialize + DeserializeOwned,
{
    /// A node, by its name or number, that begins anew whenever it is started.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn new(actor: A, node: &str, deployment: &Deployment) -> Result<Self, Error> {
        Ok(Self {
            me: deployment.find(node)?,
            actor,
            deployment: deployment.clone(),
            begin: Box::new(|actor, out| actor.on_start(out)),
            store: None,
            watch: None,
            encode: None,
            inputs: None,
            reader: None,
            until: None,
            crash: None,
        })
    }

    /// A node that begins where it was stopped or crashed, from what is stored in the folder `storage` of the deployment.
    ///
    /// # Errors
    /// If there is no such node or no such folder, or what is stored is damaged.
    pub fn durable(actor: A, node: &str, deployment: &Deployment) -> Result<Self, Error>
    where
        A: Durable,
        A::Stored: Serialize + DeserializeOwned,
    {
        let mut made = Self::new(actor, node, deployment)?;
        let path = deployment.path().to_owned();
        let folder = deployment.storage.as_ref().ok_or(Error::NoStorage { path })?;
        let mut storage = Storage::new(folder, &deployment.nodes[made.me.index()].name)?;
        let mut last: Option<A::Stored> = storage.load()?;
        if let Some(stored) = last.clone() {
            made.begin = Box::new(move |actor, out| actor.on_recover(&stored, out));
        }
        made.store = Some(Box::new(move |actor, state| {
            let stored = actor.stored(state);
            let differs = last.as_ref() != Some(&stored);
            if differs {
                storage.store(&stored)?;
                last = Some(stored);
            }
            Ok(differs)
        }));
        Ok(made)
    }

    /// Shows every state that a handler leaves, the first one too, after it is stored and before anything is sent.
    #[must_use]
    pub fn watch(mut self, watch: impl FnMut(&A::State) + 'static) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Lets who has the key look at the state and the timers: for `watch`, see [`WatchArguments`](crate::WatchArguments).
    #[must_use]
    pub fn observable(mut self) -> Self
    where
        A::State: Serialize,
        A::Timer: Serialize,
    {
        self.encode = Some(Box::new(|state, timers| postcard::to_stdvec(&(state, timers)).ok()));
        self
    }

    /// Loses this part of all messages on purpose, from 0 to 1, whatever the deployment says; never those to itself.
    #[must_use]
    pub fn losing(mut self, part: f64) -> Self {
        self.deployment.loss = part.clamp(0.0, 1.0);
        self
    }

    /// Messages from outside, such as what somebody types: the actor gets them as if it had sent them to itself.
    #[must_use]
    pub fn inputs(mut self, inputs: mpsc::Receiver<A::Msg>) -> Self {
        self.inputs = Some(inputs);
        self
    }

    /// What runs beside the node and gives it its inputs.
    pub(crate) fn reading(mut self, reader: Pin<Box<dyn Future<Output = ()> + Send>>) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Stops when this is done, as well as on Ctrl-C and SIGTERM.
    #[must_use]
    pub fn until(mut self, done: impl Future<Output = ()> + 'static) -> Self {
        self.until = Some(Box::pin(done));
        self
    }

    /// Ends when this is done as a crash does: at once, and whatever waits to be sent is gone. For tests.
    #[must_use]
    pub fn crash_when(mut self, crash: impl Future<Output = ()> + 'static) -> Self {
        self.crash = Some(Box::pin(crash));
        self
    }

    /// Runs until it is told to stop, and gives what was counted.
    ///
    /// # Errors
    /// If the system refuses something that the node needs, or something cannot be stored.
    pub fn run(self) -> Result<Counters, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(Error::System)?;
        let ended = runtime.block_on(self.live());
        // Who waits for a line of input would never end.
        runtime.shutdown_background();
        ended
    }

    async fn live(mut self) -> Result<Counters, Error> {
        let addresses = addresses(&self.deployment).await?;
        let (sender, mut inbound) = mpsc::channel(self.deployment.queue_max);
        let (questions, mut asked) = mpsc::channel(OBSERVERS_MAX);
        let nodes = addresses.len();
        let credentials = Arc::new(Credentials::node(&self.deployment, self.me)?);
        let sessions = Sessions::new(Arc::clone(&credentials), nodes);
        let shared = Arc::new(Shared {
            me: self.me,
            message_bytes_max: self.deployment.message_bytes_max,
            counters: Counters::default(),
            queues: (0..nodes).map(|_| Queue::new(self.deployment.queue_max)).collect(),
            welcomed: (0..nodes).map(|_| Notify::new()).collect(),
            inbound: sender,
            credentials,
            incarnations: (0..nodes).map(|_| AtomicU64::default()).collect(),
            questions,
            sessions: Mutex::new(sessions),
        });
        let (mut receiving, mut sending) = (JoinSet::new(), JoinSet::new());
        let here = addresses[self.me.index()];
        match self.deployment.transport {
            Transport::Udp => {
                let socket = UdpSocket::bind(here).await.map_err(|error| self.cannot_listen(error))?;
                let socket = Arc::new(socket);
                udp::send(&mut sending, &shared, &socket, &addresses);
                receiving.spawn(udp::receive(Arc::clone(&shared), socket));
            }
            Transport::Tcp => {
                let listener = TcpListener::bind(here).await.map_err(|error| self.cannot_listen(error))?;
                tcp::send(&mut sending, &shared, &addresses);
                receiving.spawn(tcp::accept(Arc::clone(&shared), listener));
            }
        }
        let mut stop = std::pin::pin!(stopped(self.until.take())?);
        let crash = self.crash.take().unwrap_or_else(|| Box::pin(std::future::pending()));
        let mut crash = std::pin::pin!(crash);
        let mut inputs = self.inputs.take();
        if let Some(reader) = self.reader.take() {
            receiving.spawn(reader);
        }
        let begin = std::mem::replace(&mut self.begin, Box::new(|actor, out| actor.on_start(out)));
        let mut out = chance(self.me);
        let runtime = NodeRuntime::new(begin(&self.actor, &mut out));
        let mut running = Running { runtime, place: Place { node: self, shared, cut: Cut::default() } };
        running.settle(out)?;
        loop {
            let timers = running.runtime.timers.iter();
            let due = timers.min_by_key(|(_, due)| **due).map(|(timer, due)| (timer.clone(), *due));
            let far = Instant::now() + Duration::from_secs(3600);
            tokio::select! {
                () = &mut stop => break,
                () = &mut crash => {
                    receiving.shutdown().await;
                    sending.shutdown().await;
                    return Ok(running.place.shared.counters.clone());
                }
                () = sleep_until(due.as_ref().map_or(far, |(_, due)| *due)) => {
                    if let Some((timer, _)) = due {
                        running.timeout(&timer)?;
                    }
                }
                Some((from, bytes)) = inbound.recv() => running.bytes(from, &bytes)?,
                Some((request, answer)) = asked.recv() => drop(answer.send(running.observed(request))),
                Some(message) = next(&mut inputs) => running.message(running.place.node.me, &message)?,
            }
        }
        receiving.shutdown().await;
        running.place.shared.queues.iter().for_each(Queue::close);
        let _ = timeout(FAREWELL, async { while sending.join_next().await.is_some() {} }).await;
        sending.shutdown().await;
        Ok(running.place.shared.counters.clone())
    }

    fn cannot_listen(&self, source: io::Error) -> Error {
        let peer = &self.deployment.nodes[self.me.index()];
        let advice = match source.kind() {
            io::ErrorKind::AddrInUse => "stop what listens there, or give the node another address",
            io::ErrorKind::AddrNotAvailable => "run this node on the machine that has this address",
            io::ErrorKind::PermissionDenied => "take a port above 1023",
            _ => "see the address of the node",
        };
        Error::Listen { node: peer.name.clone(), address: peer.address.clone(), source, advice }
    }
}

/// A node that runs.
struct Running<A: Actor> {
    runtime: NodeRuntime<A::State, A::Timer, Instant>,
    place: Place<A>,
}

/// What is around it.
struct Place<A: Actor> {
    node: Node<A>,
    shared: Arc<Shared>,
    cut: Cut,
}

impl<A: Actor> Running<A>
where
    A::Msg: Serialize + DeserializeOwned,
{
    fn bytes(&mut self, from: ActorId, bytes: &[u8]) -> Result<(), Error> {
        let understood =
            apart(bytes).and_then(|(cut, bytes)| Some((cut, bytes, postcard::take_from_bytes(bytes).ok()?)));
        let Some((cut, bytes, (message, []))) = understood else {
            self.place.shared.counters.add(Count::NotUnderstood);
            return Ok(());
        };
        // A number that no cut can have yet is not joined: no later cut could be.
        if is_plausible(cut) {
            self.join(cut);
        }
        self.place.cut.comes(cut, from, bytes, self.place.node.deployment.queue_max);
        self.message(from, &message)
    }

    /// Joins a cut, unless it is in this one or a later one.
    fn join(&mut self, cut: u64) {
        let Self { runtime, place } = self;
        let record = || {
            let timers: Vec<&A::Timer> = runtime.timers.keys().collect();
            place.node.encode.as_ref()?(&runtime.state, &timers)
        };
        place.cut.join(cut, record);
    }

    fn observed(&mut self, request: Request) -> Answer {
        if self.place.node.encode.is_none() {
            return Answer::NotObservable;
        }
        match request {
            Request::Join(cut) if cut < self.place.cut.number() => Answer::Overtaken(self.place.cut.number()),
            Request::Join(cut) if !is_plausible(cut) => Answer::Ahead,
            Request::Join(cut) => {
                self.join(cut);
                Answer::Joined
            }
            Request::Collect(cut) => self.place.cut.collect(cut),
        }
    }

    fn message(&mut self, from: ActorId, message: &A::Msg) -> Result<(), Error> {
        self.place.shared.counters.add(Count::Received);
        let mut out = chance(self.place.node.me);
        self.runtime.deliver(&self.place.node.actor, from, message, &mut out);
        self.settle(out)
    }

    fn timeout(&mut self, timer: &A::Timer) -> Result<(), Error> {
        self.place.shared.counters.add(Count::Timeouts);
        let mut out = chance(self.place.node.me);
        self.runtime.timeout(&self.place.node.actor, timer, &mut out);
        self.settle(out)
    }

    /// Does what a handler asked for, once what it changed is on the disk.
    fn settle(&mut self, out: Out<A>) -> Result<(), Error> {
        let Place { node, shared, .. } = &mut self.place;
        if let Some(store) = &mut node.store
            && store(&node.actor, &self.runtime.state)?
        {
            shared.counters.add(Count::Stored);
        }
        if let Some(watch) = &mut node.watch {
            watch(&self.runtime.state);
        }
        self.runtime.carry_out(out, &mut self.place);
        Ok(())
    }
}

impl<A: Actor> Environment<A> for Place<A>
where
    A::Msg: Serialize,
{
    type Due = Instant;

    fn set_timer(&mut self, _: ActorId, _: &A::Timer, after: After) -> Instant {
        Instant::now() + drawn(&after)
    }

    fn send(&mut self, from: ActorId, to: ActorId, message: A::Msg) {
        let counters = &self.shared.counters;
        let Some(queue) = self.shared.queues.get(to.index()) else { return counters.add(Count::NoSuchNode) };
        let Ok(bytes) = postcard::to_stdvec(&message) else { return counters.add(Count::NotUnderstood) };
        if bytes.len() > self.shared.message_bytes_max {
            return counters.add(Count::TooLong);
        }
        let bytes = behind(self.cut.number(), &bytes);
        if to == from {
            // Through the queue of what comes in, so that the handler ends first, as on any network.
            let sent = self.shared.inbound.try_send((to, bytes)).is_ok();
            counters.add(if sent { Count::Sent } else { Count::QueueFull });
        } else if self.node.deployment.loss > 0.0 && rand::random_bool(self.node.deployment.loss) {
            counters.add(Count::Lost);
        } else if queue.push(bytes) {
            counters.add(Count::QueueFull);
        }
    }
}

/// What a handler may ask for, with choices at random.
fn chance<A: Actor>(me: ActorId) -> Out<A> {
    Out::new(me, |options| rand::random_range(0..options))
}

fn drawn(After(range): &After) -> Duration {
    if range.is_empty() { range.start } else { rand::random_range(range.clone()) }
}

async fn next<M>(inputs: &mut Option<mpsc::Receiver<M>>) -> Option<M> {
    match inputs {
        Some(inputs) => inputs.recv().await,
        None => None,
    }
}

pub(crate) async fn addresses(deployment: &Deployment) -> Result<Vec<SocketAddr>, Error> {
    let mut addresses = Vec::new();
    for peer in &deployment.nodes {
        let found = match tokio::net::lookup_host(&peer.address).await {
            Ok(mut found) => found.next().ok_or(io::Error::other("no address has this name")),
            Err(error) => Err(error),
        };
        let wrong =
            |source| Error::Address { node: peer.name.clone(), address: peer.address.clone(), source };
        addresses.push(found.map_err(wrong)?);
    }
    Ok(addresses)
}

/// Is done on Ctrl-C, on SIGTERM, or when something else is.
fn stopped(until: Option<Pin<Box<dyn Future<Output = ()>>>>) -> Result<impl Future<Output = ()>, Error> {
    #[cfg(unix)]
    let mut terminated =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).map_err(Error::System)?;
    #[cfg(unix)]
    let mut interrupted =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map_err(Error::System)?;
    Ok(async move {
        let done = async move {
            match until {
                Some(until) => until.await,
                None => std::future::pending().await,
            }
        };
        #[cfg(unix)]
        tokio::select! {
            () = done => {}
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        #[cfg(not(unix))]
        tokio::select! {
            () = done => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    })
}
