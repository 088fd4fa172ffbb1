//! Simcalls as futures: the request is put into the port, and the answer is found there.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::port::PortGuard;
use crate::ids::ActorId;
use crate::simcall::{Answer, Post, SendRequest, Simcall};

/// A simcall as a future: the request is made when it is first polled, and it is ready when that is answered.
#[derive(Debug)]
pub struct SimcallFuture {
    stage: Stage,
    place: &'static Location<'static>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Stage {
    New,
    Asked,
    Over,
}

impl SimcallFuture {
    /// One that begins at this line.
    pub fn new(place: &'static Location<'static>) -> Self {
        Self { stage: Stage::New, place }
    }

    /// The line on whose behalf it is.
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }

    /// Goes on with it. The request is made, once, by the actor that asks; the answer is read where it lies, which
    /// must ask for nothing itself and leaves nothing behind.
    ///
    /// # Panics
    /// Outside of any actor, when two trips are made at once, and after its end.
    #[inline]
    pub fn poll_with<T>(
        &mut self,
        request: impl FnOnce(ActorId) -> Simcall,
        read: impl FnOnce(&mut Option<Answer>) -> T,
    ) -> Poll<T> {
        let mut hand = PortGuard::take();
        let port = hand.port();
        match self.stage {
            Stage::New => {
                let Some(port) = port else { outside() };
                if port.simcall.is_some() || port.answer.is_some() {
                    several_at_once();
                }
                let request = request(port.actor);
                // There was none, as the compiler does not see.
                std::mem::forget(port.simcall.replace(request));
                (port.stood, port.line) = (None, Some(self.place));
                self.stage = Stage::Asked;
                Poll::Pending
            }
            Stage::Asked => match port {
                Some(port) if port.answer.is_some() => {
                    self.stage = Stage::Over;
                    Poll::Ready(read(&mut port.answer))
                }
                _ => Poll::Pending,
            },
            Stage::Over => panic!("an operation was polled after it was over"),
        }
    }

    /// Sends a message that nobody waits for without stopping, where that can be done: then it is over at once.
    #[inline]
    pub fn poll_post(&mut self, request: impl FnOnce(ActorId) -> SendRequest) -> Poll<()> {
        if self.stage != Stage::New {
            return Poll::Pending;
        }
        match PortGuard::take().port() {
            Some(port) if port.takes_posts => {
                let request = request(port.actor);
                port.posts.push(Post::Send(request));
                self.stage = Stage::Over;
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

#[cold]
fn outside() -> ! {
    panic!("an operation of an actor was awaited outside of any actor")
}

#[cold]
fn several_at_once() -> ! {
    panic!(
        "an actor does one thing at a time: start the activities, then wait for one or all of them \
         (ActivitySet), instead of polling several operations at once"
    )
}

impl Drop for SimcallFuture {
    fn drop(&mut self) {
        if self.stage == Stage::Asked {
            give_up();
        }
    }
}

/// Given up before it was served (by a `select!`, say): then it is not asked at all.
#[cold]
fn give_up() {
    if let Some(port) = PortGuard::try_take().port() {
        (port.simcall, port.answer) = (None, None);
    }
}

/// A simcall as a future: asks when first polled, and is done when answered.
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct Call {
    /// The request, while it has not been made yet.
    simcall: Option<Simcall>,
    trip: SimcallFuture,
}

/// Asks the kernel, on behalf of the line that calls this.
#[track_caller]
pub fn call(simcall: Simcall) -> Call {
    call_at(simcall, Location::caller())
}

/// Asks the kernel, on behalf of this line.
pub fn call_at(simcall: Simcall, place: &'static Location<'static>) -> Call {
    Call { simcall: Some(simcall), trip: SimcallFuture::new(place) }
}

impl Call {
    /// The request, while it has not been made yet.
    pub fn simcall_mut(&mut self) -> Option<&mut Simcall> {
        self.simcall.as_mut()
    }
}

impl Future for Call {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Answer> {
        let Call { simcall, trip } = &mut *self;
        trip.poll_with(
            |_| simcall.take().expect("it is asked once"),
            |answer| answer.take().expect("it is there"),
        )
    }
}
