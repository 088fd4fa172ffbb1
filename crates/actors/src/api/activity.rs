//! Activities: what was started and goes on in the background.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use simurgh_kernel::context::{Call, call, call_at, leave, stand_at, with_port};
use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{
    ActivitySet as Set, Answer, Failure, Note, OnTimeout, Payload, PlatformRequest, Simcall,
};

use super::mailbox::Mailbox;
use super::quantity::{Seconds, amount, patience, positive};
use super::resources::done;
use super::{Ask, completed, completed_one, nothing, number, unexpected};
use crate::error::{Error, Result};

/// How the result of an activity is read from the message that it brings, if it brings one.
enum Read<T> {
    /// By a function, which is given the mailbox, if there is one.
    Plain(Option<Mailbox<T>>, Plain<T>),
    /// As another one is, and then changed.
    Mapped(Box<dyn Fn(Option<Payload>) -> Result<T> + Send + Sync>),
}

type Plain<T> = fn(Option<&Mailbox<T>>, Option<Payload>) -> Result<T>;

impl<T> Read<T> {
    fn value(&self, payload: Option<Payload>) -> Result<T> {
        match self {
            Read::Plain(mailbox, read) => read(mailbox.as_ref(), payload),
            Read::Mapped(read) => read(payload),
        }
    }
}

impl<T> std::fmt::Debug for Read<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Read::Plain(..)) { "Plain" } else { "Mapped" })
    }
}

/// A communication, execution, disk access or parallel task under way; its value is what it brings.
///
/// Dropping it does not stop it: it only cannot be asked about any more. It ends with its actor at the latest.
#[derive(Debug)]
pub struct Activity<T> {
    id: ActivityId,
    read: Read<T>,
    /// What it brought when it was asked for its state: for the wait that comes.
    brought: Mutex<Option<Box<Payload>>>,
}

/// How an activity is doing ([`Activity::state`]).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ActivityState {
    /// It goes on, or is halted.
    Running,
    /// It is over, and succeeded.
    Done,
    /// It did not succeed.
    Failed(Failure),
}

impl<T> Drop for Activity<T> {
    fn drop(&mut self) {
        leave(Note::Forget(self.id));
    }
}

impl<T> Activity<T> {
    /// Its identity, as observers see it.
    pub fn id(&self) -> ActivityId {
        self.id
    }

    /// Waits until it is over.
    #[track_caller]
    pub fn wait(&self) -> Wait<'_, T> {
        self.wait_with(None)
    }

    /// Waits at most so many seconds; then a communication is given up for both sides, and anything else goes on.
    #[track_caller]
    pub fn wait_for(&self, span: impl Into<Seconds>) -> Wait<'_, T> {
        self.wait_with(Some(patience(span)))
    }

    #[track_caller]
    fn wait_with(&self, timeout: Option<f64>) -> Wait<'_, T> {
        Wait { call: call(self.waiting(timeout, OnTimeout::GiveUp)), activity: self }
    }

    fn waiting(&self, timeout: Option<f64>, on_timeout: OnTimeout) -> Simcall {
        Simcall::WaitAny { activities: Set::from_slice(&[self.id]), timeout, on_timeout, release: false }
    }

    /// Its value if it is over, `None` if it is not; does not wait.
    #[track_caller]
    pub fn test(&self) -> Test<'_, T> {
        Test { call: call(Simcall::TestAny { activities: Set::from_slice(&[self.id]) }), activity: self }
    }

    /// How it is doing. What it brings stays for whoever waits for it.
    ///
    /// ```
    /// use simurgh::prelude::*;
    /// use simurgh::ActivityState;
    ///
    /// async fn patient(ctx: Ctx) -> simurgh::Result {
    ///     let receive = ctx.mailbox::<u32>("numbers").recv().start().await;
    ///     while receive.state().await == ActivityState::Running {
    ///         ctx.execute(1e6).await?;
    ///     }
    ///     let _number = receive.wait().await?;
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn state(&self) -> impl Future<Output = ActivityState> {
        let asked = call(Simcall::TestAny { activities: Set::from_slice(&[self.id]) });
        async move {
            match asked.await {
                Answer::Nothing => ActivityState::Running,
                answer => match completed(answer) {
                    Ok(payload) => {
                        if let Some(payload) = payload {
                            *self.brought() = Some(Box::new(payload));
                        }
                        ActivityState::Done
                    }
                    Err(failure) => ActivityState::Failed(failure),
                },
            }
        }
    }

    fn brought(&self) -> MutexGuard<'_, Option<Box<Payload>>> {
        self.brought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops it: for everyone who waits for it, it failed.
    #[track_caller]
    pub fn cancel(&self) -> Ask<()> {
        Ask::new(Simcall::Cancel(self.id), nothing)
    }

    /// Halts it.
    #[track_caller]
    pub fn suspend(&self) -> Ask<()> {
        Ask::new(Simcall::Pause(self.id), nothing)
    }

    /// Lets it go on.
    #[track_caller]
    pub fn resume(&self) -> Ask<()> {
        Ask::new(Simcall::Continue(self.id), nothing)
    }

    /// How many flops or bytes are left; of a parallel task, which part of it, from 1 down to 0.
    #[track_caller]
    pub fn remaining(&self) -> Ask<f64> {
        Ask::new(Simcall::Remaining(self.id), number)
    }

    /// Changes the share that it gets against others.
    #[track_caller]
    pub fn set_priority(&self, priority: f64) -> Ask<Result<()>> {
        let priority = amount(priority, "a priority");
        Ask::new(Simcall::Platform(PlatformRequest::SetPriority(self.id, priority)), done)
    }

    /// Changes the bound on its speed.
    #[track_caller]
    pub fn set_bound(&self, bound: Option<f64>) -> Ask<Result<()>> {
        if let Some(bound) = bound {
            positive(bound, "a bound");
        }
        Ask::new(Simcall::Platform(PlatformRequest::SetBound(self.id, bound)), done)
    }

    /// The same activity with another value: so that sends, receives and executions can be in one [`ActivitySet`].
    ///
    /// ```
    /// use simurgh::prelude::*;
    ///
    /// enum Over { Sent, Received(u32) }
    ///
    /// async fn exchange(ctx: Ctx) -> simurgh::Result {
    ///     let mut set = ActivitySet::new();
    ///     set.push(ctx.mailbox("left").send(7u32, 8.0).start().await.map(|()| Over::Sent));
    ///     set.push(ctx.mailbox::<u32>("right").recv().start().await.map(Over::Received));
    ///     while let Some((_, over)) = set.next_over().await {
    ///         if let Over::Received(value) = over? {
    ///             println!("{value}");
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn map<U>(mut self, change: impl Fn(T) -> U + Send + Sync + 'static) -> Activity<U>
    where
        T: Send + 'static,
    {
        let gone = Read::Plain(None, |_, _| unreachable!("it has another value now"));
        let (id, read) = (self.id, std::mem::replace(&mut self.read, gone));
        let brought = Mutex::new(self.brought().take());
        // It goes on: nobody lets go of it.
        std::mem::forget(self);
        let read = Read::Mapped(Box::new(move |payload| read.value(payload).map(&change)));
        Activity { id, read, brought }
    }

    fn value(&self, payload: Option<Payload>) -> Result<T> {
        self.read.value(payload.or_else(|| self.brought().take().map(|payload| *payload)))
    }
}

/// The future of operations that start an activity.
#[derive(Debug)]
#[must_use = "nothing starts until it is awaited"]
pub struct Start<T> {
    call: Call,
    mailbox: Option<Mailbox<T>>,
    read: Plain<T>,
}

impl<T> Start<T> {
    pub(crate) fn new(call: Call, read: Plain<T>) -> Self {
        Self { call, mailbox: None, read }
    }
}

impl<T: Send + 'static> Start<T> {
    pub(crate) fn with_mailbox(call: Call, mailbox: Mailbox<T>) -> Self {
        Self {
            call,
            mailbox: Some(mailbox),
            read: |mailbox, payload| match mailbox {
                Some(mailbox) => mailbox.open(payload),
                None => unreachable!("a receive knows its mailbox"),
            },
        }
    }
}

impl<T> Future for Start<T> {
    type Output = Activity<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Activity<T>> {
        match ready!(Pin::new(&mut self.call).poll(cx)) {
            Answer::Activity(id) => {
                let read = Read::Plain(self.mailbox.take(), self.read);
                Poll::Ready(Activity { id, read, brought: Mutex::default() })
            }
            other => unexpected(&other),
        }
    }
}

impl<T> Unpin for Start<T> {}

/// The future of [`Activity::wait`].
#[derive(Debug)]
#[must_use = "nothing is waited for until it is awaited"]
pub struct Wait<'a, T> {
    call: Call,
    activity: &'a Activity<T>,
}

impl<T> Future for Wait<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let result = completed(ready!(Pin::new(&mut self.call).poll(cx)));
        Poll::Ready(result.map_err(Error::from).and_then(|payload| self.activity.value(payload)))
    }
}

/// The future of [`Activity::test`].
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct Test<'a, T> {
    call: Call,
    activity: &'a Activity<T>,
}

impl<T> Future for Test<'_, T> {
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(Pin::new(&mut self.call).poll(cx)) {
            Answer::Nothing => Poll::Ready(Ok(None)),
            answer => {
                let result = completed(answer).map_err(Error::from);
                Poll::Ready(result.and_then(|payload| self.activity.value(payload)).map(Some))
            }
        }
    }
}

/// Several activities, to wait for one or for all of them, in the order in which they were added. Those of different values are
/// made alike by [`Activity::map`].
#[derive(Debug)]
pub struct ActivitySet<T> {
    members: VecDeque<Activity<T>>,
    /// What those brought that a wait for all had taken out before it failed.
    over: Vec<T>,
}

impl<T> Default for ActivitySet<T> {
    fn default() -> Self {
        Self { members: VecDeque::new(), over: Vec::new() }
    }
}

impl<T> FromIterator<Activity<T>> for ActivitySet<T> {
    fn from_iter<I: IntoIterator<Item = Activity<T>>>(activities: I) -> Self {
        Self { members: activities.into_iter().collect(), over: Vec::new() }
    }
}

impl<T> ActivitySet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an activity, as the last.
    pub fn push(&mut self, activity: Activity<T>) {
        self.members.push_back(activity);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The activities, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Activity<T>> {
        self.members.iter()
    }

    /// Takes one out of the set.
    ///
    /// # Panics
    /// If there is none at this place.
    pub fn remove(&mut self, index: usize) -> Activity<T> {
        self.members.remove(index).expect("a place of the set")
    }

    /// Waits until one is over: gives its place in the set and its value, and takes it out. One that failed stays in, and
    /// [`Error::Member`] says which it is. An empty set is an error: nothing would ever be over.
    #[track_caller]
    pub fn wait_any(&mut self) -> WaitAny<'_, T> {
        self.wait_any_with(None)
    }

    /// As [`wait_any`](Self::wait_any), at most so many seconds; a timeout ([`Error::is_timeout`]) leaves all of them as they are.
    #[track_caller]
    pub fn wait_any_for(&mut self, span: impl Into<Seconds>) -> WaitAny<'_, T> {
        self.wait_any_with(Some(patience(span)))
    }

    #[track_caller]
    fn wait_any_with(&mut self, timeout: Option<f64>) -> WaitAny<'_, T> {
        let activities = self.members.iter().map(Activity::id).collect();
        let simcall = Simcall::WaitAny { activities, timeout, on_timeout: OnTimeout::Keep, release: false };
        WaitAny { call: call(simcall), set: self, place: Location::caller() }
    }

    /// Waits until one is over, however it ended: takes it out of the set, and gives its place and what it came to.
    /// `None` if the set is empty.
    #[track_caller]
    pub fn next_over(&mut self) -> impl Future<Output = Option<(usize, Result<T>)>> {
        let place = Location::caller();
        async move {
            if self.is_empty() {
                return None;
            }
            let activities = self.members.iter().map(Activity::id).collect();
            let simcall =
                Simcall::WaitAny { activities, timeout: None, on_timeout: OnTimeout::Keep, release: false };
            let (index, result) = completed_one(call_at(simcall, place).await);
            let activity = self.remove(index);
            let value = result.map_err(Error::from).and_then(|payload| activity.value(payload));
            Some((index, value))
        }
    }

    /// Looks whether one is over, without waiting: if so, gives its place in the set and its value, and takes it out. One that failed stays
    /// in, as with [`wait_any`](Self::wait_any). Of an empty set, none is over.
    #[track_caller]
    pub fn test_any(&mut self) -> impl Future<Output = Result<Option<(usize, T)>>> {
        let place = Location::caller();
        async move {
            if self.is_empty() {
                return Ok(None);
            }
            let activities = self.members.iter().map(Activity::id).collect();
            match call_at(Simcall::TestAny { activities }, place).await {
                Answer::Nothing => Ok(None),
                answer => {
                    let (index, result) = completed_one(answer);
                    let payload = result.map_err(|failure| Error::Member { index, failure })?;
                    self.remove(index).value(payload).map(|value| Some((index, value)))
                }
            }
        }
    }

    /// Waits for all of them, one by one, in order: gives their values. The first that fails ends it, and stays in; what those before
    /// it brought is given by the next wait for all.
    #[track_caller]
    pub fn wait_all(&mut self) -> WaitAll<'_, T> {
        WaitAll { set: self, call: None, span: None, deadline: None, place: Location::caller() }
    }

    /// As [`wait_all`](Self::wait_all), at most so many seconds for all of them together; a timeout leaves those that are not over as
    /// they are.
    #[track_caller]
    pub fn wait_all_for(&mut self, span: impl Into<Seconds>) -> WaitAll<'_, T> {
        let span = Some(patience(span));
        WaitAll { set: self, call: None, span, deadline: None, place: Location::caller() }
    }
}

/// The present date, in seconds.
fn now() -> f64 {
    with_port(|port| port.now.seconds()).unwrap_or_default()
}

/// The future of [`ActivitySet::wait_any`].
#[derive(Debug)]
#[must_use = "nothing is waited for until it is awaited"]
pub struct WaitAny<'a, T> {
    call: Call,
    set: &'a mut ActivitySet<T>,
    place: &'static Location<'static>,
}

impl<T> Future for WaitAny<'_, T> {
    type Output = Result<(usize, T)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.set.is_empty() {
            stand_at(self.place);
            return Poll::Ready(Err(Error::Other("waits for one of no activities".to_owned())));
        }
        let answer = ready!(Pin::new(&mut self.call).poll(cx));
        let is_timed_out = answer.is_timed_out();
        let (index, result) = completed_one(answer);
        Poll::Ready(match result {
            Ok(payload) => {
                let activity = self.set.remove(index);
                activity.value(payload).map(|value| (index, value))
            }
            Err(failure) if is_timed_out => Err(failure.into()),
            Err(failure) => Err(Error::Member { index, failure }),
        })
    }
}

/// The future of [`ActivitySet::wait_all`].
#[derive(Debug)]
#[must_use = "nothing is waited for until it is awaited"]
pub struct WaitAll<'a, T> {
    set: &'a mut ActivitySet<T>,
    call: Option<Call>,
    span: Option<f64>,
    /// From the first poll on.
    deadline: Option<f64>,
    place: &'static Location<'static>,
}

impl<T> Unpin for WaitAll<'_, T> {}

impl<T> Future for WaitAll<'_, T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(span) = this.span.take() {
            this.deadline = Some(now() + span);
        }
        loop {
            if this.call.is_none() {
                let Some(first) = this.set.members.front() else {
                    return Poll::Ready(Ok(std::mem::take(&mut this.set.over)));
                };
                let timeout = this.deadline.map(|deadline| (deadline - now()).max(0.0));
                this.call = Some(call_at(first.waiting(timeout, OnTimeout::Keep), this.place));
            }
            let Some(waiting) = &mut this.call else { continue };
            let answer = ready!(Pin::new(waiting).poll(cx));
            this.call = None;
            match completed(answer) {
                Ok(payload) => {
                    let activity = this.set.remove(0);
                    match activity.value(payload) {
                        Ok(value) => this.set.over.push(value),
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
                Err(failure) => return Poll::Ready(Err(failure.into())),
            }
        }
    }
}
