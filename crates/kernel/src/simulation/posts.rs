//! What actors leave in their ports ([`Post`]): messages that nobody waits for, and receives that are waited for later.

use super::{Error, Simulation};
use crate::context::Port;
use crate::ids::ActorId;
use crate::kernel::Served;
use crate::simcall::{Answer, Follow, Post, Simcall};

impl Simulation {
    /// Serves what an actor has left. It is not posted for an actor that was ended in this round.
    pub(super) fn serve_posts(&mut self, actor: ActorId, port: &mut Port) -> Result<(), Error> {
        port.received.clear();
        for post in &mut port.posts {
            match post {
                Post::Send(request) => {
                    self.kernel.post_send(actor, request, Follow::Detach);
                }
                Post::Recv(request) => {
                    let served = self.kernel.post_recv(actor, request, Follow::Return);
                    if let Served::Answered(Answer::Activity(id)) = served {
                        port.received.push(id);
                    }
                }
            }
            self.settle()?;
        }
        port.posts.clear();
        if !port.received.is_empty() {
            self.tell_received(actor, port);
        }
        Ok(())
    }

    /// What an actor receives by what it has left: either it waits for all of it now, or it is told when it runs again.
    fn tell_received(&mut self, actor: ActorId, port: &mut Port) {
        if let Some(Simcall::WaitAll(all)) = &mut port.simcall {
            all.activities.extend(port.received.drain(..));
        } else if self.kernel.is_alive(actor) {
            let rare = self.kernel.kept_mut(actor).rare.get_or_insert_default();
            std::mem::swap(&mut rare.received, &mut port.received);
        }
        port.received.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use simurgh_models::{Config, Models};
    use simurgh_platform::{HostId, Platform};

    use super::*;
    use crate::context::{Body, call, with_port};
    use crate::ids::{ActivityId, MailboxId};
    use crate::simcall::{
        ActivitySet, Criteria, Envelope, Failure, OnTimeout, RecvRequest, SendRequest, SpawnRequest,
        WaitForAll,
    };

    fn leave_receive(tag: i32) {
        let criteria = Criteria { context: 0, source: None, tag: Some(tag) };
        let request = RecvRequest { mailbox: MailboxId(0), rate: None, criteria };
        with_port(|port| {
            assert!(port.takes_posts);
            port.posts.push(Post::Recv(request));
        });
    }

    async fn send(tag: i32) {
        let request = SendRequest {
            mailbox: MailboxId(0),
            bytes: 1e6,
            rate: None,
            envelope: Envelope { context: 0, source: 1, tag },
            payload: Some(Box::new(tag)),
        };
        call(Simcall::Send(request, Follow::Wait(None))).await;
    }

    /// Runs two actors, of which so many come to their end; what the first has seen is the answer.
    fn run(
        ends: u32,
        receiver: impl AsyncActor<Arc<Mutex<Vec<String>>>>,
        sender: impl AsyncActor<Arc<AtomicU32>>,
        over: Arc<AtomicU32>,
    ) -> Vec<String> {
        let models = Models::new(Arc::new(Platform::builtin()), &Config::default()).unwrap();
        let mut simulation = Simulation::new(models, 0);
        let (seen, ended) = (Arc::new(Mutex::default()), Arc::default());
        let bodies = [receiver.body(Arc::clone(&seen), &ended), sender.body(over, &ended)];
        for (host, body) in bodies.into_iter().enumerate() {
            let request = SpawnRequest::new(format!("actor {host}"), HostId(host as u32), body);
            simulation.spawn(request).unwrap();
        }
        simulation.run(None).unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), ends, "none of them fails");
        std::mem::take(&mut *seen.lock().unwrap())
    }

    /// The code of an actor, which is counted if it comes to its end.
    trait AsyncActor<T> {
        fn body(self, with: T, ended: &Arc<AtomicU32>) -> Body;
    }

    impl<T, F, A> AsyncActor<T> for A
    where
        A: FnOnce(T) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        fn body(self, with: T, ended: &Arc<AtomicU32>) -> Body {
            let (code, ended) = (self(with), Arc::clone(ended));
            Body::Future(Box::pin(async move {
                code.await;
                ended.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }))
        }
    }

    fn in_words(answer: Answer) -> String {
        let message = |result: Result<Option<crate::simcall::Payload>, Failure>| {
            let message = result.map(|message| *message.unwrap().downcast::<i32>().unwrap());
            message.map_or_else(|failure| failure.to_string(), |message| message.to_string())
        };
        match answer {
            Answer::All(all) => all.results.into_iter().map(message).collect::<Vec<_>>().join(" "),
            other => message(other.into_over().unwrap().1),
        }
    }

    fn date() -> f64 {
        with_port(|port| port.now.seconds()).unwrap()
    }

    #[test]
    fn receives_that_were_left_are_told_when_the_actor_runs_again() {
        let receiver = |seen: Arc<Mutex<Vec<String>>>| async move {
            leave_receive(1);
            leave_receive(2);
            call(Simcall::Sleep(1.0)).await;
            let told: Vec<ActivityId> = with_port(|port| port.received.clone()).unwrap();
            assert_eq!(told.len(), 2);
            call(Simcall::Yield).await;
            assert_eq!(with_port(|port| port.received.len()), Some(0), "they are told once");
            for id in told {
                let (activities, on_timeout) = (ActivitySet::from_slice(&[id]), OnTimeout::Keep);
                let wait = Simcall::WaitAny { activities, timeout: None, on_timeout, release: true };
                let answer = in_words(call(wait).await);
                seen.lock().unwrap().push(answer);
            }
        };
        let sender = |_: Arc<AtomicU32>| async move {
            send(2).await;
            send(1).await;
        };
        assert_eq!(run(2, receiver, sender, Arc::default()), ["1", "2"]);
    }

    /// A wait for all ends when as many waits would have ended, brings the same, and tells how far it is.
    #[test]
    fn all_that_was_left_is_waited_for_in_one_trip() {
        let over = Arc::new(AtomicU32::new(9));
        let waits = Arc::clone(&over);
        let receiver = |seen: Arc<Mutex<Vec<String>>>| async move {
            leave_receive(1);
            leave_receive(2);
            leave_receive(3);
            let wait = Simcall::WaitAll(Box::new(WaitForAll { over: waits, ..WaitForAll::default() }));
            let answer = in_words(call(wait).await);
            seen.lock().unwrap().push(answer);
            let last = date();
            assert!(last > 3.0, "{last}");
            let nothing = Simcall::WaitAll(Box::default());
            assert_eq!(in_words(call(nothing).await), "");
            assert_eq!(date(), last);
        };
        let sender = |over: Arc<AtomicU32>| async move {
            call(Simcall::Yield).await;
            assert_eq!(over.load(Ordering::Relaxed), 0);
            send(2).await;
            assert_eq!(over.load(Ordering::Relaxed), 0, "it waits for one after the other");
            send(1).await;
            call(Simcall::Sleep(3.0)).await;
            assert_eq!(over.load(Ordering::Relaxed), 2);
            send(3).await;
        };
        assert_eq!(run(2, receiver, sender, over), ["1 2 3"]);
    }

    /// Who waits for all and is ended leaves nothing behind that others would meet.
    #[test]
    fn who_waits_for_all_can_be_ended() {
        let receiver = |_: Arc<Mutex<Vec<String>>>| async move {
            leave_receive(1);
            leave_receive(2);
            call(Simcall::WaitAll(Box::default())).await;
            unreachable!("it is ended before");
        };
        let sender = |_: Arc<AtomicU32>| async move {
            send(1).await;
            call(Simcall::Kill(ActorId(0))).await;
            let posted = Simcall::Probe(MailboxId(0), Criteria::default());
            assert!(matches!(call(posted).await, Answer::Probed(None)));
        };
        assert!(run(1, receiver, sender, Arc::default()).is_empty());
    }
}
