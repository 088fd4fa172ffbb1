//! How user code runs: an actor's code goes on until its next simcall, then stops.
//!
//! Rust actors are futures. A simcall is a future that puts the request into the [`Port`] of the thread that runs the
//! actor and stops; the next time it is polled, the answer lies there. The port is lent to an actor while it runs and
//! holds nothing in between, so that any thread may run any actor. Other kinds of user code (fibers for compiled
//! programs) implement [`Coroutine`].

mod body;
mod label;
mod place;
mod port;
mod quiet;
mod simcall_future;

pub(crate) use body::panic_message;
pub use body::{ActorFuture, Body, Coroutine, Ending, Fault, OnExit, Resumed, part, violate};
pub use label::{Label, Part, label};
pub use place::{Place, panicked_at, remember_panic, stand_at};
pub use port::{Door, Port, leave, with_port};
pub use quiet::{Quiet, is_quiet, loud, quiet};
pub use simcall_future::{Call, SimcallFuture, call, call_at};

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::panic::Location;
    use std::sync::{Arc, Mutex};
    use std::task::Poll;

    use simurgh_models::SimTime;
    use simurgh_platform::HostId;

    use super::port::HELD;
    use super::*;
    use crate::ids::ActorId;
    use crate::simcall::{Answer, Note, SendRequest, Simcall};

    fn run(body: &mut Body, answer: Option<Answer>) -> (Resumed, Option<Place>) {
        let mut door = Door::new();
        door.prepare(ActorId(0), HostId(0), SimTime::ZERO, answer);
        let resumed = body.resume(&mut door);
        (resumed, door.place())
    }

    #[test]
    fn a_request_knows_its_line() {
        let line = line!() + 2;
        let mut body = Body::Future(Box::pin(async {
            let first = call(Simcall::Yield);
            let second = call(Simcall::Yield);
            second.await;
            first.await;
            Ok(())
        }));
        let place = |line| Some(Place { file: file!(), line });
        assert_eq!(run(&mut body, None).1, place(line + 1));
        assert_eq!(run(&mut body, Some(Answer::Ready)).1, place(line));
        let (resumed, end) = run(&mut body, Some(Answer::Ready));
        assert!(matches!(resumed, Resumed::Ended));
        assert_eq!(end, None);
    }

    #[test]
    fn a_failure_and_a_panic_know_their_lines() {
        let line = line!() + 2;
        let mut failing = Body::Future(Box::pin(async {
            stand_at(Location::caller());
            Err("wrong".to_owned())
        }));
        assert_eq!(run(&mut failing, None).1, Some(Place { file: file!(), line }));
        assert_eq!(Place { file: file!(), line }.to_string(), format!("{}:{line}", file!()));

        let quiet = quiet();
        let line = line!() + 1;
        let mut panicking = Body::Future(Box::pin(async { panic!("no") }));
        let (resumed, place) = run(&mut panicking, None);
        drop(quiet);
        assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "panicked: no"));
        assert_eq!(place, Some(Place::new(file!(), line)));
        // A place that was noted by an earlier panic is not taken for that of a later run.
        assert_eq!(run(&mut Body::Future(Box::pin(async { Ok(()) })), None).1, None);
    }

    /// Code that is no future has the port in its hands while it runs, and is inside of an actor all the same.
    #[test]
    fn other_code_may_say_what_is_wrong() {
        struct Wrong;
        impl Coroutine for Wrong {
            fn resume(&mut self, port: &mut Port) -> Option<Ending> {
                port.simcall = Some(Simcall::Yield);
                if port.answer.take().is_some() {
                    violate("two and two are five".to_owned());
                }
                None
            }
        }
        let mut body = Body::Coroutine(Box::new(Wrong));
        assert!(matches!(run(&mut body, None).0, Resumed::Asked));
        let (resumed, _) = run(&mut body, Some(Answer::Ready));
        assert!(matches!(resumed, Resumed::Failed(fault) if fault.to_string() == "two and two are five"));
        assert!(!HELD.get() && with_port(|_| ()).is_none(), "nobody runs any more");
    }

    /// A label is made where it is wanted, and only there.
    #[test]
    fn a_request_is_called_what_its_actor_says() {
        for wanted in [false, true] {
            let mut body = Body::Future(Box::pin(async {
                label(|| Label { text: "rests".to_owned(), call: 1, part: Part::Own });
                call(Simcall::Yield).await;
                Ok(())
            }));
            let mut door = Door::new();
            door.wants_labels = wanted;
            door.prepare(ActorId(0), HostId(0), SimTime::ZERO, None);
            assert!(matches!(body.resume(&mut door), Resumed::Asked));
            let text = door.label.take().map(|label| label.text);
            assert_eq!(text, wanted.then(|| "rests".to_owned()));
        }
    }

    /// What is dropped with a request that is given up may look for the actor, and finds none: it does no harm.
    #[test]
    fn a_request_is_given_up_with_all_that_is_in_it() {
        struct Curious(Arc<Mutex<u32>>);
        impl Drop for Curious {
            fn drop(&mut self) {
                leave(Note::Forget(crate::ids::ActivityId::new(0, 0)));
                *self.0.lock().expect("one at a time") += 1;
            }
        }
        let dropped = Arc::new(Mutex::new(0));
        let curious = Curious(Arc::clone(&dropped));
        let request = SendRequest {
            mailbox: crate::ids::MailboxId(0),
            bytes: 1.0,
            rate: None,
            envelope: Default::default(),
            payload: Some(Box::new(curious)),
        };
        let mut body = Body::Future(Box::pin(async move {
            let mut send = Box::pin(call(Simcall::Send(request, crate::simcall::Follow::Detach)));
            std::future::poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx).is_pending())).await;
            drop(send);
            call(Simcall::Yield).await;
            Ok(())
        }));
        assert!(matches!(run(&mut body, None).0, Resumed::Asked));
        assert_eq!(*dropped.lock().expect("one at a time"), 1);
    }
}
