//! Actors: what they know of themselves, and what they do besides communicating.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use simurgh_kernel::context::{Body, Call, Ending, call, stand_at, violate, with_port};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::{Answer, ExecRequest, Follow, Reboot, Simcall, SpawnRequest};
use simurgh_models::{ParallelTask, SimTime};
use simurgh_platform::{HostId, Platform};

use super::activity::Start;
use super::mailbox::Mailbox;
use super::mailboxes::Mailboxes;
use super::quantity::{Seconds, amount, moment, nap, patience, positive, some};
use super::resources::{Disk, Host, HostRef, Link};
use super::shared::Shared;
use super::synchronisation::{Barrier, Condvar, Mutex, Semaphore};
use super::{Ask, completed, flag, nothing, unexpected};
use crate::error::{Error, Result};

/// What the code of an actor may end with: nothing, or a [`Result`](crate::Result) whose error is told in the report. Other errors become
/// one by `map_err(Error::other)`. As there is one type of result, `Ok(())` is enough at the end of a closure.
#[diagnostic::on_unimplemented(
    message = "the code of an actor ends with nothing or with a `simurgh::Result`, not with `{Self}`",
    note = "other errors become one by `.map_err(simurgh::Error::other)?`, texts by `?` alone"
)]
pub trait IntoEnding {
    /// Reads it.
    fn into_ending(self) -> Ending;
}

impl IntoEnding for () {
    fn into_ending(self) -> Ending {
        Ok(())
    }
}

/// The type of what never ends has no name of its own yet; it is what such a function returns.
mod never {
    pub trait Returns {
        type What;
    }

    impl<T> Returns for fn() -> T {
        type What = T;
    }
}

impl IntoEnding for <fn() -> ! as never::Returns>::What {
    fn into_ending(self) -> Ending {
        self
    }
}

impl IntoEnding for Result {
    fn into_ending(self) -> Ending {
        self.map_err(|error| error.to_string())
    }
}

/// An actor's view of the world: who and where it is, what time it is, and what it can do.
///
/// It is handed to the code of every actor, and can be cloned freely.
#[derive(Clone, Debug)]
pub struct Ctx {
    id: ActorId,
    shared: Arc<Shared>,
}

/// Wraps the code of an actor for the kernel.
pub(crate) fn body<F, Fut>(shared: &Arc<Shared>, code: F) -> Body
where
    F: FnOnce(Ctx) -> Fut + Send + 'static,
    Fut: Future<Output: IntoEnding> + Send + 'static,
{
    Body::Future(Box::pin(Life::New { begin: Some((code, Arc::clone(shared))) }))
}

pin_project! {
    /// The code of an actor, as the kernel knows it: one block of memory, no larger than it is, for there may be millions. It begins when it
    /// first runs, and learns then who it is.
    #[project = Stage]
    enum Life<F, Fut> {
        New { begin: Option<(F, Arc<Shared>)> },
        Begun { #[pin] code: Fut },
    }
}

impl<F, Fut> Future for Life<F, Fut>
where
    F: FnOnce(Ctx) -> Fut,
    Fut: Future<Output: IntoEnding>,
{
    type Output = Ending;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ending> {
        if let Stage::New { begin } = self.as_mut().project() {
            let (code, shared) = begin.take().expect("code that could not begin has ended");
            let id = with_port(|port| port.actor).expect("an actor begins when it is run");
            let code = code(Ctx { id, shared });
            self.set(Life::Begun { code });
        }
        match self.project() {
            Stage::Begun { code } => code.poll(cx).map(IntoEnding::into_ending),
            Stage::New { .. } => unreachable!("it has begun"),
        }
    }
}

/// Wraps the code of an actor that can be started again and again.
pub(crate) fn reboot<F, Fut>(shared: &Arc<Shared>, code: F) -> Reboot
where
    F: Fn(Ctx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoEnding> + Send + 'static,
{
    let (shared, code) = (Arc::clone(shared), Arc::new(code));
    Arc::new(move || {
        let code = Arc::clone(&code);
        body(&shared, move |ctx| code(ctx))
    })
}

impl Ctx {
    /// Its identity.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// The present date, in seconds since the start.
    pub fn now(&self) -> f64 {
        self.time().seconds()
    }

    /// The present date.
    pub fn time(&self) -> SimTime {
        with_port(|port| port.now).unwrap_or_default()
    }

    /// The host it runs on.
    pub fn host(&self) -> Host {
        let id = with_port(|port| port.host).unwrap_or(HostId(0));
        Host::new(&self.shared, id)
    }

    /// The platform.
    pub fn platform(&self) -> &Platform {
        &self.shared.platform
    }

    /// Another host.
    ///
    /// # Errors
    /// If there is none of this name.
    #[track_caller]
    pub fn host_named(&self, name: &str) -> Result<Host> {
        Ok(Host::new(&self.shared, self.shared.host(name)?))
    }

    /// All hosts, in the order of the platform.
    pub fn hosts(&self) -> Vec<Host> {
        self.shared.platform.hosts().map(|id| Host::new(&self.shared, id)).collect()
    }

    /// A link.
    ///
    /// # Errors
    /// If there is none of this name.
    #[track_caller]
    pub fn link(&self, name: &str) -> Result<Link> {
        Link::named(&self.shared, name)
    }

    /// A disk of the host it runs on.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn disk(&self, name: &str) -> Result<Disk> {
        self.host().disk(name)
    }

    /// A mailbox, by its name; it need not exist before.
    pub fn mailbox<T: Send + 'static>(&self, name: &str) -> Mailbox<T> {
        Mailbox::new(&self.shared, name)
    }

    /// So many mailboxes, whose names are this text followed by 0, 1, 2...; they need not exist before.
    #[track_caller]
    pub fn mailboxes<T: Send + 'static>(&self, name: &str, count: u32) -> Mailboxes<T> {
        Mailboxes::new(&self.shared, name, count)
    }

    /// Says something to the people who watch: with the date, the actor and its host before it.
    pub fn say(&self, text: impl Into<String>) {
        let text = text.into();
        with_port(|port| port.said.push(text));
    }

    /// Lets time pass. A span that is negative, or without end, is refused, simulated and checked. Who sleeps up to a date that may
    /// be over takes [`sleep_until`](Self::sleep_until); who sleeps for ever waits for something that does not come, as a daemon does.
    #[track_caller]
    pub fn sleep(&self, span: impl Into<Seconds>) -> Ask<()> {
        Ask::new(Simcall::Sleep(nap(span)), nothing)
    }

    /// Lets time pass until a date; none, if it is over.
    #[track_caller]
    pub fn sleep_until(&self, date: f64) -> Ask<()> {
        let span = date - self.now();
        self.sleep(if span < 0.0 { 0.0 } else { span })
    }

    /// Lets the others go first, without time passing.
    #[track_caller]
    pub fn yield_now(&self) -> Ask<()> {
        Ask::new(Simcall::Yield, nothing)
    }

    /// Computes on the host it runs on. Awaited as it is, it is over when the work is done; see [`Execute`].
    #[track_caller]
    pub fn execute(&self, flops: f64) -> Execute {
        let flops = amount(flops, "flops to execute");
        let request = ExecRequest { flops, host: None, priority: None, bound: None, threads: 1 };
        Execute { call: call(Simcall::Execute(request, Follow::Wait(None))) }
    }

    /// Computes and communicates on several hosts at once, as one task of which all parts progress together.
    /// `bytes[i * n + j]` goes from host `i` to host `j`.
    #[track_caller]
    pub fn parallel(&self, hosts: &[Host], flops: &[f64], bytes: &[f64]) -> Parallel {
        for host in hosts {
            host.check();
        }
        for &flops in flops {
            amount(flops, "flops of a parallel task");
        }
        for &bytes in bytes {
            amount(bytes, "bytes of a parallel task");
        }
        let task = ParallelTask {
            hosts: hosts.iter().map(Host::id).collect(),
            flops: flops.to_vec(),
            bytes: bytes.to_vec(),
        };
        Parallel { call: call(Simcall::Parallel(task, Follow::Wait(None))) }
    }

    /// Creates another actor.
    ///
    /// # Errors
    /// If there is no such host.
    #[track_caller]
    pub fn spawn<F, Fut>(&self, name: impl Into<String>, host: impl Into<HostRef>, code: F) -> Result<Spawn>
    where
        F: FnOnce(Ctx) -> Fut + Send + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        let host = host.into().find(&self.shared)?;
        let request = SpawnRequest::new(name.into(), host, body(&self.shared, code));
        Ok(Spawn { call: call(Simcall::Spawn(Box::new(request))) })
    }

    /// A handle on itself, for others to join, kill or suspend it.
    pub fn handle(&self) -> ActorHandle {
        ActorHandle { id: self.id }
    }

    /// Halts itself until someone resumes it.
    #[track_caller]
    pub fn suspend(&self) -> Ask<()> {
        Ask::new(Simcall::Suspend(self.id), nothing)
    }

    /// Goes to another host.
    ///
    /// # Errors
    /// If there is no such host.
    #[track_caller]
    pub fn migrate(&self, host: impl Into<HostRef>) -> Result<Ask<()>> {
        let host = host.into().find(&self.shared)?;
        Ok(Ask::new(Simcall::Migrate(self.id, host), nothing))
    }

    /// Becomes a daemon: it ends when all actors that are not have ended.
    #[track_caller]
    pub fn become_daemon(&self) -> Ask<()> {
        Ask::new(Simcall::BecomeDaemon, nothing)
    }

    /// Ends itself, here and now.
    #[track_caller]
    pub fn exit(&self) -> Ask<()> {
        Ask::new(Simcall::Kill(self.id), nothing)
    }

    /// Ends all other actors.
    #[track_caller]
    pub fn kill_all(&self) -> Ask<()> {
        Ask::new(Simcall::KillAll, nothing)
    }

    /// Calls a function when the actor ends, with whether it was killed, or blocked for ever at the end of the simulation. The last
    /// one given is called first. It may
    /// say something, but there is no time left for it to wait for anything.
    pub fn on_exit(&self, f: impl FnOnce(bool) + Send + 'static) {
        with_port(|port| port.on_exit.push(Box::new(f)));
    }

    /// A number below `n`, which is 1 or more: at random when simulated; a checker tries them all.
    #[track_caller]
    pub fn choose(&self, n: u32) -> Ask<u32> {
        let n = some(n, "the number of choices");
        Ask::new(Simcall::Choose(n), |answer| match answer {
            Answer::Chosen(number) => number,
            other => unexpected(&other),
        })
    }

    /// A generator of random numbers of its own, from the seed of the run and the actor's number.
    pub fn random(&self) -> Random {
        Random::new(self.shared.seed(), u64::from(self.id.0))
    }

    /// A lock around a value.
    pub fn mutex<T>(&self, value: T) -> Mutex<T> {
        Mutex::new(&self.shared, value)
    }

    /// A semaphore with so many to take.
    pub fn semaphore(&self, count: u32) -> Semaphore {
        Semaphore::new(&self.shared, count)
    }

    /// A condition variable.
    pub fn condvar(&self) -> Condvar {
        Condvar::new(&self.shared)
    }

    /// A barrier for so many actors, one or more.
    #[track_caller]
    pub fn barrier(&self, size: u32) -> Barrier {
        Barrier::new(&self.shared, size)
    }
}

/// A computation about to be done.
///
/// - `ctx.execute(1e9).await?` returns when it is done.
/// - `ctx.execute(1e9).priority(2.0).bound(1e8).threads(4)` says how.
/// - `ctx.execute(1e9).start().await` returns at once, with an [`Activity`](super::Activity).
#[derive(Debug)]
#[must_use = "nothing is computed until it is awaited"]
pub struct Execute {
    call: Call,
}

impl Execute {
    fn with(mut self, change: impl FnOnce(&mut ExecRequest, &mut Follow)) -> Self {
        if let Some(Simcall::Execute(request, follow)) = self.call.simcall_mut() {
            change(request, follow);
        }
        self
    }

    /// Its share against others on the same cores: twice the priority, twice the speed.
    #[track_caller]
    pub fn priority(self, priority: f64) -> Self {
        let priority = amount(priority, "a priority");
        self.with(|request, _| request.priority = Some(priority))
    }

    /// At most so many flop/s.
    #[track_caller]
    pub fn bound(self, flops_per_second: f64) -> Self {
        let flops_per_second = positive(flops_per_second, "a bound");
        self.with(|request, _| request.bound = Some(flops_per_second))
    }

    /// So many threads, each of which does all of the flops on a core of its own.
    #[track_caller]
    pub fn threads(self, threads: u32) -> Self {
        let threads = some(threads, "a number of threads");
        self.with(|request, _| request.threads = threads)
    }

    /// On another host than the actor's.
    #[track_caller]
    pub fn on(self, host: &Host) -> Self {
        host.check();
        let host = host.id();
        self.with(|request, _| request.host = Some(host))
    }

    /// Stops waiting after so many seconds; the work goes on in the background.
    #[track_caller]
    pub fn timeout(self, span: impl Into<Seconds>) -> Self {
        let seconds = patience(span);
        self.with(|_, follow| *follow = Follow::Wait(Some(seconds)))
    }

    /// Computes in the background: gives an activity that can be waited for.
    pub fn start(self) -> Start<()> {
        Start::new(self.with(|_, follow| *follow = Follow::Return).call, |_, _| Ok(()))
    }
}

/// A parallel task about to be done.
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited"]
pub struct Parallel {
    call: Call,
}

impl Parallel {
    /// Stops waiting after so many seconds; the work goes on in the background.
    #[track_caller]
    pub fn timeout(mut self, span: impl Into<Seconds>) -> Self {
        let seconds = patience(span);
        if let Some(Simcall::Parallel(_, follow)) = self.call.simcall_mut() {
            *follow = Follow::Wait(Some(seconds));
        }
        self
    }

    /// Works in the background: gives an activity that can be waited for.
    pub fn start(mut self) -> Start<()> {
        if let Some(Simcall::Parallel(_, follow)) = self.call.simcall_mut() {
            *follow = Follow::Return;
        }
        Start::new(self.call, |_, _| Ok(()))
    }
}

macro_rules! completes {
    ($name:ident) => {
        impl Future for $name {
            type Output = Result<()>;

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let result = completed(ready!(Pin::new(&mut self.call).poll(cx)));
                Poll::Ready(result.map(drop).map_err(Error::from))
            }
        }
    };
}

completes!(Execute);
completes!(Parallel);

/// An actor about to be created.
#[derive(Debug)]
#[must_use = "no actor is created until it is awaited"]
pub struct Spawn {
    call: Call,
}

impl Spawn {
    fn with(mut self, change: impl FnOnce(&mut SpawnRequest)) -> Self {
        if let Some(Simcall::Spawn(request)) = self.call.simcall_mut() {
            change(request);
        }
        self
    }

    /// As a daemon, which ends when all actors that are not have ended.
    pub fn daemon(self) -> Self {
        self.with(|request| request.daemon = true)
    }

    /// To be killed at a date.
    #[track_caller]
    pub fn kill_at(self, date: f64) -> Self {
        let date = moment(date, "a date to be killed at");
        self.with(|request| request.kill_at = Some(date))
    }
}

impl Future for Spawn {
    type Output = ActorHandle;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ActorHandle> {
        match ready!(Pin::new(&mut self.call).poll(cx)) {
            Answer::Actor(id) => Poll::Ready(ActorHandle { id }),
            other => unexpected(&other),
        }
    }
}

/// Another actor, to be waited for, halted or killed.
///
/// ```
/// # use simurgh::prelude::*;
/// async fn master(ctx: Ctx) -> simurgh::Result {
///     let worker = ctx.spawn("worker", ctx.host(), |ctx| async move { ctx.execute(1e12).await })?.await;
///     if !worker.join_for(10.0).await {
///         worker.kill().await;
///     }
///     Ok(())
/// }
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ActorHandle {
    pub(crate) id: ActorId,
}

impl From<ActorHandle> for ActorId {
    fn from(handle: ActorHandle) -> Self {
        handle.id
    }
}

impl From<&ActorHandle> for ActorId {
    fn from(handle: &ActorHandle) -> Self {
        handle.id
    }
}

impl ActorHandle {
    /// Its identity.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// Its number. One that starts at a date has none before.
    #[track_caller]
    fn there(&self) -> ActorId {
        if self.id == ActorId(u32::MAX) {
            let place = Location::caller();
            stand_at(place);
            violate(format!(
                "{}:{}: this is the handle of an actor that starts at a date, and has no number before: let it tell its own, by a message",
                place.file(),
                place.line()
            ));
        }
        self.id
    }

    /// Waits until it has ended.
    #[track_caller]
    pub fn join(&self) -> Ask<()> {
        Ask::new(Simcall::Join(self.there(), None), |answer| {
            flag(answer);
        })
    }

    /// Waits until it has ended, at most so many seconds: whether it has.
    #[track_caller]
    pub fn join_for(&self, span: impl Into<Seconds>) -> Ask<bool> {
        let seconds = patience(span);
        Ask::new(Simcall::Join(self.there(), Some(seconds)), flag)
    }

    /// Ends it.
    #[track_caller]
    pub fn kill(&self) -> Ask<()> {
        Ask::new(Simcall::Kill(self.there()), nothing)
    }

    /// Halts it, and all that it does.
    #[track_caller]
    pub fn suspend(&self) -> Ask<()> {
        Ask::new(Simcall::Suspend(self.there()), nothing)
    }

    /// Lets it go on.
    #[track_caller]
    pub fn resume(&self) -> Ask<()> {
        Ask::new(Simcall::Resume(self.there()), nothing)
    }

    /// Whether it has not ended.
    #[track_caller]
    pub fn is_alive(&self) -> Ask<bool> {
        Ask::new(Simcall::IsAlive(self.there()), flag)
    }

    /// Moves it to another host.
    #[track_caller]
    pub fn migrate(&self, host: &Host) -> Ask<()> {
        host.check();
        Ask::new(Simcall::Migrate(self.there(), host.id()), nothing)
    }
}
