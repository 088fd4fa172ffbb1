//! Locks, semaphores, condition variables and barriers between actors. They take no time.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};

use simurgh_kernel::context::{Call, call, leave};
use simurgh_kernel::ids::{BarrierId, ConditionId, MutexId, SemaphoreId};
use simurgh_kernel::simcall::{Note, Simcall, Wake};

use super::quantity::{Seconds, patience, some};
use super::shared::{Shared, Tag};
use super::{Ask, flag, nothing};

/// A value that one actor at a time may hold.
pub struct Mutex<T> {
    id: MutexId,
    tag: Tag,
    value: Arc<std::sync::Mutex<Option<T>>>,
}

impl<T> Clone for Mutex<T> {
    fn clone(&self) -> Self {
        Self { id: self.id, tag: self.tag, value: Arc::clone(&self.value) }
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mutex").field(&self.id).finish()
    }
}

impl<T> Mutex<T> {
    pub(crate) fn new(shared: &Shared, value: T) -> Self {
        let mutex = Self::unborn(shared, value);
        leave(mutex.note());
        mutex
    }

    pub(crate) fn unborn(shared: &Shared, value: T) -> Self {
        Self {
            id: MutexId(shared.next_object()),
            tag: shared.tag(),
            value: Arc::new(std::sync::Mutex::new(Some(value))),
        }
    }

    pub(crate) fn note(&self) -> Note {
        Note::NewMutex(self.id)
    }

    /// Waits for the value. It is given back when the guard is dropped.
    #[track_caller]
    pub fn lock(&self) -> Lock<T> {
        self.tag.check("mutex");
        Lock { call: call(Simcall::Lock(self.id, None)), mutex: self.clone() }
    }

    /// Waits for the value at most so many seconds.
    #[track_caller]
    pub fn lock_for(&self, span: impl Into<Seconds>) -> impl Future<Output = Option<MutexGuard<T>>> {
        self.tag.check("mutex");
        let seconds = patience(span);
        let asked = Ask::new(Simcall::Lock(self.id, Some(seconds)), flag);
        async move { asked.await.then(|| self.guard()) }
    }

    /// Takes the value if nobody has it.
    #[track_caller]
    pub fn try_lock(&self) -> impl Future<Output = Option<MutexGuard<T>>> {
        self.tag.check("mutex");
        let asked = Ask::new(Simcall::TryLock(self.id), flag);
        async move { asked.await.then(|| self.guard()) }
    }

    /// The kernel gave the lock to this actor: the value is here.
    fn guard(&self) -> MutexGuard<T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        MutexGuard { value, mutex: self.clone() }
    }

    fn put_back(&self, value: Option<T>) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

/// The future of [`Mutex::lock`].
#[derive(Debug)]
#[must_use = "nothing is locked until it is awaited"]
pub struct Lock<T> {
    call: Call,
    mutex: Mutex<T>,
}

impl<T> Future for Lock<T> {
    type Output = MutexGuard<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<MutexGuard<T>> {
        let _locked = flag(ready!(Pin::new(&mut self.call).poll(cx)));
        Poll::Ready(self.mutex.guard())
    }
}

/// The value of a [`Mutex`], as long as it is held.
pub struct MutexGuard<T> {
    value: Option<T>,
    mutex: Mutex<T>,
}

impl<T> Unpin for Lock<T> {}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T> Deref for MutexGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("a guard has the value until it is dropped")
    }
}

impl<T> DerefMut for MutexGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("a guard has the value until it is dropped")
    }
}

impl<T> Drop for MutexGuard<T> {
    fn drop(&mut self) {
        if self.value.is_some() {
            self.mutex.put_back(self.value.take());
            leave(Note::Unlock(self.mutex.id));
        }
    }
}

/// Lets so many actors pass, and the others wait.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Semaphore {
    id: SemaphoreId,
    count: u32,
    tag: Tag,
}

impl Semaphore {
    pub(crate) fn new(shared: &Shared, count: u32) -> Self {
        let semaphore = Self::unborn(shared, count);
        leave(semaphore.note());
        semaphore
    }

    pub(crate) fn unborn(shared: &Shared, count: u32) -> Self {
        Self { id: SemaphoreId(shared.next_object()), count, tag: shared.tag() }
    }

    pub(crate) fn note(&self) -> Note {
        Note::NewSemaphore(self.id, self.count)
    }

    /// Takes one, waiting if there is none.
    #[track_caller]
    pub fn acquire(&self) -> Ask<()> {
        self.tag.check("semaphore");
        Ask::new(Simcall::Acquire(self.id, None), |answer| {
            flag(answer);
        })
    }

    /// Takes one, waiting at most so many seconds: whether it got one.
    #[track_caller]
    pub fn acquire_for(&self, span: impl Into<Seconds>) -> Ask<bool> {
        self.tag.check("semaphore");
        let seconds = patience(span);
        Ask::new(Simcall::Acquire(self.id, Some(seconds)), flag)
    }

    /// Gives one back.
    #[track_caller]
    pub fn release(&self) -> Ask<()> {
        self.tag.check("semaphore");
        Ask::new(Simcall::Release(self.id), nothing)
    }
}

/// Lets actors wait for something to become true of a value in a [`Mutex`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Condvar {
    id: ConditionId,
    tag: Tag,
}

impl Condvar {
    pub(crate) fn new(shared: &Shared) -> Self {
        let condvar = Self::unborn(shared);
        leave(condvar.note());
        condvar
    }

    pub(crate) fn unborn(shared: &Shared) -> Self {
        Self { id: ConditionId(shared.next_object()), tag: shared.tag() }
    }

    pub(crate) fn note(&self) -> Note {
        Note::NewCondition(self.id)
    }

    /// Gives the value back, waits for a notification, and takes the value again.
    #[track_caller]
    pub fn wait<T>(&self, guard: MutexGuard<T>) -> impl Future<Output = MutexGuard<T>> {
        let waiting = self.wait_with(guard, None);
        async move { waiting.await.0 }
    }

    /// As [`wait`](Self::wait), at most so many seconds: also says whether there was a notification, which is false if
    /// the time was over first.
    #[track_caller]
    pub fn wait_for<T>(
        &self,
        guard: MutexGuard<T>,
        span: impl Into<Seconds>,
    ) -> impl Future<Output = (MutexGuard<T>, bool)> {
        self.wait_with(guard, Some(patience(span)))
    }

    #[track_caller]
    fn wait_with<T>(
        &self,
        mut guard: MutexGuard<T>,
        timeout: Option<f64>,
    ) -> impl Future<Output = (MutexGuard<T>, bool)> + use<T> {
        self.tag.check("condition variable");
        let mutex = guard.mutex.clone();
        let asked = Ask::new(Simcall::WaitCondition(self.id, mutex.id, timeout), flag);
        async move {
            // The value goes back, and the kernel gives the lock back itself, together with the wait.
            mutex.put_back(guard.value.take());
            drop(guard);
            let notified = asked.await;
            (mutex.guard(), notified)
        }
    }

    /// Wakes the actor that has waited longest.
    #[track_caller]
    pub fn notify_one(&self) -> Ask<()> {
        self.tag.check("condition variable");
        Ask::new(Simcall::Notify(self.id, Wake::One), nothing)
    }

    /// Wakes all actors that wait.
    #[track_caller]
    pub fn notify_all(&self) -> Ask<()> {
        self.tag.check("condition variable");
        Ask::new(Simcall::Notify(self.id, Wake::All), nothing)
    }
}

/// Lets a number of actors wait for each other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Barrier {
    id: BarrierId,
    size: u32,
    tag: Tag,
}

impl Barrier {
    #[track_caller]
    pub(crate) fn new(shared: &Shared, size: u32) -> Self {
        let barrier = Self::unborn(shared, size);
        leave(barrier.note());
        barrier
    }

    #[track_caller]
    pub(crate) fn unborn(shared: &Shared, size: u32) -> Self {
        let size = some(size, "the size of a barrier");
        Self { id: BarrierId(shared.next_object()), size, tag: shared.tag() }
    }

    /// Its identity.
    pub fn id(&self) -> BarrierId {
        self.id
    }

    pub(crate) fn note(&self) -> Note {
        Note::NewBarrier(self.id, self.size)
    }

    /// Waits until all have come.
    #[track_caller]
    pub fn wait(&self) -> Ask<()> {
        self.tag.check("barrier");
        Ask::new(Simcall::Arrive { barrier: self.id, told: false }, |answer| {
            flag(answer);
        })
    }

    /// Waits until all have come: true for the last of them. Under `check` each of them is the last once; with
    /// [`wait`](Self::wait) it does not matter who is.
    #[track_caller]
    pub fn wait_last(&self) -> Ask<bool> {
        self.tag.check("barrier");
        Ask::new(Simcall::Arrive { barrier: self.id, told: true }, flag)
    }
}
