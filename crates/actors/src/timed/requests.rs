//! What an interposer asks in place of what its actor asks, request by request.

use simurgh_explore::receives::reads_from::{Outcome, Place};
use simurgh_kernel::context::call;
use simurgh_kernel::ids::{ActivityId, MailboxId};
use simurgh_kernel::operation::{Patience, Side, Token};
use simurgh_kernel::simcall::{ActivitySet, Answer, Criteria, Envelope, Failure, Follow, OnTimeout, Simcall};

use super::interposer::{Interposer, now, steered};
use super::log::{Posted, Spot, Trouble};

/// A communication context in which nobody sends.
const NOBODY: u32 = u32::MAX;

impl Interposer {
    /// Sends or receives.
    pub(super) async fn communicate(
        &mut self,
        mut simcall: Simcall,
        mailbox: MailboxId,
        side: Side,
        follow: Follow,
    ) -> Result<Answer, Trouble> {
        let Posted { place, partner } = self.post(Spot::Mailbox(mailbox), side)?;
        if self.way.is_some() {
            simcall.set_side(match (side, partner.map(label)) {
                (Side::Send(_), _) => Side::Send(label(place)),
                (Side::Recv(_), Some(Envelope { context, source, tag })) => {
                    Side::Recv(Criteria { context, source: Some(source), tag: Some(tag) })
                }
                (Side::Recv(_), None) => Side::Recv(Criteria { context: NOBODY, source: None, tag: None }),
            });
        }
        let answer = call(simcall).await;
        self.posted(place, follow, answer)
    }

    /// The answer to a post, and to the wait that follows it.
    fn posted(&mut self, place: Place, follow: Follow, answer: Answer) -> Result<Answer, Trouble> {
        match (follow, &answer) {
            (Follow::Return, Answer::Activity(activity)) => {
                self.started.insert(*activity, place);
                self.begun.push(place);
            }
            (Follow::Wait(Some(_)), Answer::Failed { failure: Failure::Timeout, .. })
                if self.give_up(place)? =>
            {
                self.came_to(Outcome::TimedOut, true)?;
            }
            (Follow::Wait(_), _) => self.completed(&answer, None, false)?,
            _ => {}
        }
        Ok(answer)
    }

    pub(super) async fn wait_any(
        &mut self,
        mut simcall: Simcall,
        activities: ActivitySet,
        patience: Patience,
    ) -> Result<Answer, Trouble> {
        let index = self.member(&activities);
        index.into_iter().for_each(|index| simcall.wait_only_for(index));
        let answer = call(simcall).await;
        if !answer.is_timed_out() {
            let answer = instead_of(answer, index);
            self.completed(&answer, Some(&activities), activities.len() > 1)?;
            return Ok(answer);
        }
        if patience == Patience::Timed(OnTimeout::GiveUp) {
            self.give_up_all(&activities)?;
        }
        self.came_to(Outcome::TimedOut, true)?;
        Ok(answer)
    }

    /// The wait for these is over, and with it the messages and receives among them: none of them has met anybody.
    fn give_up_all(&mut self, activities: &[ActivityId]) -> Result<(), Trouble> {
        for activity in activities {
            let Some(&place) = self.started.get(activity) else { continue };
            if !self.give_up(place)? {
                self.only_noted(self.strayed("gives up a message that is under way".to_owned()))?;
            }
            self.withdrawn.insert(*activity);
        }
        Ok(())
    }

    /// Takes back a post for which there was no more time. False if it has met somebody. Whoever gives up while somebody
    /// is there to meet has not waited as long as it could: time does not allow that.
    fn give_up(&self, place: Place) -> Result<bool, Trouble> {
        if self.way.is_some() && self.log.has_company(place, now()) {
            return Err(self.strayed("is to give up, but can meet somebody in time".to_owned()));
        }
        Ok(self.log.give_up(place, now()))
    }

    pub(super) async fn test_any(
        &mut self,
        simcall: Simcall,
        activities: ActivitySet,
    ) -> Result<Answer, Trouble> {
        let answer = match self.peek() {
            Some(Outcome::Nothing) => call(Simcall::TestAny { activities: ActivitySet::new() }).await,
            Some(Outcome::Completed(_)) => {
                let index = self.member(&activities);
                let (activities, on_timeout) = (activities.clone(), OnTimeout::Keep);
                let mut wait = Simcall::WaitAny { activities, timeout: None, on_timeout, release: false };
                index.into_iter().for_each(|index| wait.wait_only_for(index));
                instead_of(call(wait).await, index)
            }
            _ => call(simcall).await,
        };
        if matches!(answer, Answer::Nothing) {
            self.came_to(Outcome::Nothing, true)?;
        } else {
            self.completed(&answer, Some(&activities), true)?;
        }
        Ok(answer)
    }

    /// The prescribed member of a set; all of them where nothing is prescribed, or the wait never ends.
    fn member(&self, activities: &ActivitySet) -> Option<u32> {
        match self.peek() {
            Some(Outcome::Completed(index)) => Some(index).filter(|_| (index as usize) < activities.len()),
            _ => None,
        }
    }

    /// A wait or test ended with a member of its set.
    fn completed(&mut self, answer: &Answer, set: Option<&ActivitySet>, open: bool) -> Result<(), Trouble> {
        let mut activity = None;
        if let Answer::Completed { index, .. } | Answer::Failed { index, .. } = answer {
            // What a post is followed by is a wait for it alone.
            let index = set.map_or(0, |_| *index);
            self.came_to(Outcome::Completed(index), open)?;
            activity = set.and_then(|set| set.get(index as usize).copied());
        }
        self.succeeded(answer, activity)
    }

    /// A message or receive that has met nobody is taken back. For one that has, it is too late; where that is
    /// prescribed, nothing is done, as the message may still be on its way here. Work is stopped wherever it is.
    pub(super) async fn cancel(&mut self, activity: ActivityId) -> Result<Answer, Trouble> {
        let Some(&place) = self.started.get(&activity) else {
            self.came_to(Outcome::Completed(0), false)?;
            return Ok(call(Simcall::Cancel(activity)).await);
        };
        let too_late = matches!(self.peek(), Some(Outcome::Completed(_)));
        let simcall = if too_late { Simcall::Yield } else { Simcall::Cancel(activity) };
        let answer = call(simcall).await;
        if self.log.withdraw(place) {
            self.withdrawn.insert(activity);
            self.came_to(Outcome::TimedOut, true)?;
        } else {
            self.came_to(Outcome::Completed(0), true)?;
            if self.way.is_none() {
                self.log.trouble(self.strayed("cancels a message that may be under way".to_owned()));
            }
        }
        Ok(answer)
    }

    pub(super) async fn choose(&mut self, simcall: Simcall) -> Result<Answer, Trouble> {
        let answer = match self.peek() {
            Some(Outcome::Chosen(number)) => {
                call(Simcall::Yield).await;
                Answer::Chosen(number)
            }
            _ => call(simcall).await,
        };
        if let Answer::Chosen(number) = answer {
            self.came_to(Outcome::Chosen(number), true)?;
        }
        Ok(answer)
    }

    pub(super) async fn spawn(&mut self, simcall: Simcall) -> Result<Answer, Trouble> {
        let Simcall::Spawn(request) = simcall else { unreachable!("it creates an actor") };
        let wanted = match self.peek() {
            Some(Outcome::Spawned(child)) => Some(child),
            _ => None,
        };
        let child = self.log.add(wanted, &request.name, request.daemon);
        self.came_to(Outcome::Spawned(child), false)?;
        let interposer = Interposer::new(child, &self.way, &self.log);
        Ok(call(Simcall::Spawn(Box::new(steered(*request, interposer)))).await)
    }

    /// Waits for the end of an actor, but not for ever.
    pub(super) async fn join(&mut self, simcall: Simcall) -> Result<Answer, Trouble> {
        let answer = call(simcall).await;
        let in_time = matches!(answer, Answer::Flag(true));
        self.came_to(if in_time { Outcome::Completed(0) } else { Outcome::TimedOut }, true)?;
        Ok(answer)
    }

    /// Takes a lock, or one from a semaphore. An attempt that is to succeed waits until it does; one that is to fail
    /// fails.
    pub(super) async fn take(
        &mut self,
        token: Token,
        patience: Patience,
        mut simcall: Simcall,
    ) -> Result<Answer, Trouble> {
        let Posted { place, partner } = self.post(Spot::Token(token), Side::TAKE)?;
        if self.way.is_some() {
            // Its own token is never given: nobody knows it but the one who waits for it.
            let token = self.log.token(partner.unwrap_or(place));
            let succeeds = patience == Patience::Now && partner.is_some();
            simcall = Simcall::Acquire(token, simcall.timeout().filter(|_| !succeeds));
        }
        let answer = call(simcall).await;
        if matches!(answer, Answer::Flag(false)) {
            if patience != Patience::Now {
                self.give_up(place)?;
            } else {
                self.log.give_up(place, now());
            }
            self.came_to(Outcome::TimedOut, true)?;
        } else {
            self.came_to(Outcome::Completed(0), patience != Patience::Forever)?;
        }
        Ok(answer)
    }

    /// Gives it back.
    pub(super) async fn give(&mut self, token: Token, own: Simcall) -> Result<Answer, Trouble> {
        let Posted { place, .. } = self.post(Spot::Token(token), Side::GIVE)?;
        Ok(call(if self.way.is_none() { own } else { Simcall::Release(self.log.token(place)) }).await)
    }

    /// Waits for the others at a barrier. Who came last is prescribed too, where it matters.
    pub(super) async fn arrive(&mut self, simcall: Simcall, told: bool) -> Result<Answer, Trouble> {
        let answer = call(simcall).await;
        let last = match self.peek() {
            Some(Outcome::Passed(last)) => last,
            _ => told && matches!(answer, Answer::Flag(true)),
        };
        self.came_to(Outcome::Passed(last), true)?;
        Ok(Answer::Flag(last))
    }
}

/// What is written on the message that was posted here: no other has the same.
fn label(place: Place) -> Envelope {
    let tag = i32::try_from(place.post).expect("fewer than 2^31 posts of an actor");
    Envelope { context: 0, source: place.process, tag }
}

/// The answer of a wait for one, as that of a wait for several.
fn instead_of(answer: Answer, place: Option<u32>) -> Answer {
    match (answer, place) {
        (Answer::Completed { message, .. }, Some(index)) => Answer::Completed { index, message },
        (Answer::Failed { failure, .. }, Some(index)) => Answer::Failed { index, failure },
        (answer, _) => answer,
    }
}
