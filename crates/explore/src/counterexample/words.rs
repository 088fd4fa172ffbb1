//! What the steps of a counterexample do, in words and as data.

use std::collections::BTreeMap;

use simurgh_kernel::context::Place;
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::operation::{Deed, Operation, Side, Token};
use simurgh_kernel::simcall::Wake;

use super::{MailboxNames, Taken};
use crate::actors::Actors;
use crate::determinism::Posted;
use crate::transition::{Awaited, Ending, Fate, Kind, Outcome, Post, Posting};
use crate::verdict::{Step, Violation};

/// What is known of the execution until now.
pub(super) struct Teller<'a> {
    mailboxes: MailboxNames<'a>,
    actors: Vec<String>,
    messages: BTreeMap<Post, Message>,
    /// How many messages were sent.
    sent: u32,
    /// Where each receive was posted.
    receives: BTreeMap<Post, usize>,
    /// The last step of each actor.
    last_step: BTreeMap<u32, usize>,
    /// When something was last given: a lock, a semaphore, a notification, the arrival of the last at a barrier.
    given: BTreeMap<Thing, usize>,
    /// When each actor began to queue for something.
    queued: BTreeMap<u32, usize>,
    /// Who was created by which step.
    created: BTreeMap<u32, usize>,
    /// Who ended in which step.
    ended: BTreeMap<u32, usize>,
}

/// A message that was sent.
#[derive(Copy, Clone, Debug)]
pub(super) struct Message {
    /// Its number, from 1.
    pub(super) number: u32,
    /// The step that put it where it can be received, for now: that of the send, or that of the arrival.
    pub(super) there: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thing {
    Token(Token),
    Condition(u32),
    Barrier(u32),
}

/// What an actor asks, seen before it is served.
#[derive(Default)]
pub(super) struct Asked {
    place: Option<Place>,
    bytes: Option<f64>,
    mailbox: Option<u32>,
    /// Whom it does something to.
    other: Option<u32>,
    /// What the step does, or the words of it that are not known afterwards.
    does: String,
}

/// A step that does this, before it has a number.
fn plain(kind: &'static str, does: impl Into<String>) -> Taken {
    Taken { kind, does: does.into(), ..Taken::default() }
}

impl<'a> Teller<'a> {
    pub(super) fn new(mailboxes: MailboxNames<'a>) -> Self {
        Self {
            mailboxes,
            actors: Vec::new(),
            messages: BTreeMap::new(),
            sent: 0,
            receives: BTreeMap::new(),
            last_step: BTreeMap::new(),
            given: BTreeMap::new(),
            queued: BTreeMap::new(),
            created: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Learns the names of actors that are new. One that has no name, or that of another, is told apart by its number.
    pub(super) fn learn_names(&mut self, kernel: &Kernel) {
        for index in self.actors.len()..kernel.actor_count() {
            let name = kernel.actor_name(ActorId::from_index(index));
            self.actors.push(match name {
                "" => format!("actor-{index}"),
                name if self.actors.iter().any(|other| other == name) => format!("{name}#{index}"),
                name => name.to_owned(),
            });
        }
    }

    pub(super) fn actor(&self, actor: u32) -> &str {
        self.actors.get(actor as usize).map_or("nobody", String::as_str)
    }

    pub(super) fn mailbox(&self, mailbox: u32) -> String {
        format!("{:?}", (self.mailboxes)(MailboxId(mailbox)))
    }

    pub(super) fn message(&self, post: Post) -> Option<Message> {
        self.messages.get(&post).copied()
    }

    /// A violation in one line.
    pub(super) fn violation(&self, violation: &Violation) -> String {
        match violation {
            Violation::Failed { actor, message } => format!("{} failed: {message}", self.actor(*actor)),
            Violation::Invariant { name, message, values } => {
                let values: Vec<_> = values.iter().map(|(what, value)| format!("{what} = {value}")).collect();
                let message = message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
                format!("invariant {name:?} does not hold{message} ({})", values.join(", "))
            }
            Violation::Varies { actor, what, number, .. } => {
                format!("{} is not deterministic: its {}", self.actor(*actor), what.varies(*number))
            }
            Violation::Deadlock { actors } => {
                let who: Vec<&str> = actors.iter().map(|&actor| self.actor(actor)).collect();
                match &who[..] {
                    [alone] => format!("deadlock: {alone} waits for ever"),
                    [first @ .., last] => format!("deadlock: {} and {last} wait for ever", first.join(", ")),
                    [] => "deadlock".to_owned(),
                }
            }
        }
    }

    /// A send or a receive in words that go on from "the first of them".
    pub(super) fn exchange(&self, posted: Option<&Posted>) -> String {
        match posted {
            Some(posted) => posted
                .exchange
                .in_words(&|mailbox| self.mailbox(mailbox), &|actor| self.actor(actor).to_owned()),
            None => "does not come about".to_owned(),
        }
    }

    /// Looks at what is asked, before it is served.
    pub(super) fn look<F: FnMut(&mut Kernel)>(&self, system: &Actors<F>, step: Step) -> Asked {
        let mut asked = Asked::default();
        let actor = ActorId(step.actor);
        // A guard that was dropped: nobody knows where.
        if step.actor == Step::NETWORK || system.gives_back(actor) {
            return asked;
        }
        asked.place = system.place(actor);
        let Some(simcall) = system.pending(actor) else {
            asked.does = "goes on".to_owned();
            return asked;
        };
        asked.does = match simcall.operation() {
            Operation::Post { mailbox, message: Some(message), .. } => {
                (asked.bytes, asked.mailbox) = (Some(message.bytes), Some(mailbox.0));
                return asked;
            }
            Operation::Choose(n) => format!("chooses {} of 0 to {}", step.choice, n - 1),
            Operation::Interfere(Deed::Kill, None) => "kills all others".to_owned(),
            Operation::Interfere(Deed::Kill, Some(other)) if other == actor => "ends itself".to_owned(),
            Operation::Interfere(Deed::Halt, Some(other)) if other == actor => "halts".to_owned(),
            Operation::Interfere(deed, Some(other)) => {
                asked.other = Some(other.0);
                format!("{deed}s {}", self.actor(other.0))
            }
            Operation::BecomeDaemon => "becomes a daemon".to_owned(),
            Operation::Notify(condition, wake) => {
                let whom = if wake == Wake::One { "one that waits" } else { "all that wait" };
                format!("wakes {whom} for condition {condition}")
            }
            Operation::Expose(slot, value) => {
                format!("shows {} = {value:?}", system.kernel().exposure().name(slot))
            }
            Operation::Spawn(request) if request.name.is_empty() => {
                format!("creates actor-{}", system.kernel().actor_count())
            }
            Operation::Spawn(request) => format!("creates {}", request.name),
            _ => return asked,
        };
        asked
    }

    /// What a step did.
    pub(super) fn describe(&mut self, number: usize, step: Step, kind: &Kind, asked: Asked) -> Taken {
        let place = asked.place;
        let mut told = self.told(number, step, kind, asked);
        (told.number, told.step, told.place) = (number, step, place);
        if step.actor != Step::NETWORK {
            told.actor = Some(step.actor);
            if self.last_step.insert(step.actor, number).is_none() {
                told.after.extend(self.created.get(&step.actor));
            }
        }
        told.after.sort_unstable();
        told.after.dedup();
        told
    }

    fn named(&self, mailbox: u32) -> Option<String> {
        Some((self.mailboxes)(MailboxId(mailbox)))
    }

    fn told(&mut self, number: usize, step: Step, kind: &Kind, asked: Asked) -> Taken {
        let actor = step.actor;
        match *kind {
            Kind::Post(Posting { post, mailbox, side: Side::Recv(_), .. }) => {
                self.receives.insert(post, number);
                let does = format!("posts a receive at {}", self.mailbox(mailbox));
                Taken { mailbox: self.named(mailbox), ..plain("post", does) }
            }
            Kind::Post(Posting { post, .. }) => self.sends(number, post, Fate::Kept, &asked),
            Kind::Submit { post, fate, .. } => self.sends(number, post, fate, &asked),
            Kind::Arrive { posting: Posting { post, mailbox, .. }, .. } => {
                let message = self.messages.get_mut(&post);
                let sent = message.as_ref().map_or(0, |message| message.there);
                let name = message.map_or(0, |message| {
                    message.there = number;
                    message.number
                });
                let again = if post.is_copy() { " again" } else { "" };
                Taken {
                    kind: "arrive",
                    does: format!("m{name} arrives{again} at {}", self.mailbox(mailbox)),
                    mailbox: self.named(mailbox),
                    message: Some(name),
                    other: Some(post.actor),
                    after: vec![sent],
                    ..Taken::default()
                }
            }
            Kind::Wait { ref awaited, taken, outcome, .. } => self.wait(awaited, taken, outcome),
            Kind::Withdraw(ref posts) => {
                let does = match posts.first() {
                    Some(taken) => format!("takes back {}", self.own(taken)),
                    None if step.choice == Step::OTHERWISE => "stops an activity, which was over".to_owned(),
                    None => "stops an activity".to_owned(),
                };
                Taken {
                    mailbox: posts.first().and_then(|taken| self.named(taken.mailbox)),
                    ..plain("cancel", does)
                }
            }
            Kind::Probe(mailbox, _) => {
                let does = format!("looks into {}", self.mailbox(mailbox));
                Taken { mailbox: self.named(mailbox), ..plain("probe", does) }
            }
            Kind::Choose => plain("choose", asked.does),
            Kind::Spawn(child) => {
                self.created.insert(child, number);
                Taken { other: Some(child), ..plain("spawn", asked.does) }
            }
            Kind::Join(target, Ending { timeout, .. }) => {
                let after = self.ended.get(&target).copied().filter(|_| !timeout).into_iter().collect();
                let verb = if timeout { "stops to wait for" } else { "sees the end of" };
                let does = format!("{verb} {}", self.actor(target));
                Taken { other: Some(target), after, ..plain("join", does) }
            }
            Kind::IsAlive(target) => {
                let does = format!("looks whether {} has ended", self.actor(target));
                Taken { other: Some(target), ..plain("is alive", does) }
            }
            Kind::Expose(..) => plain("expose", asked.does),
            Kind::Exit { .. } => {
                self.ended.insert(actor, number);
                plain("end", "ends")
            }
            Kind::Interfere => Taken { other: asked.other, ..plain("interfere", asked.does) },
            _ => self.synchronisation(number, actor, kind, asked),
        }
    }

    /// A message is sent, and this becomes of it.
    fn sends(&mut self, number: usize, post: Post, fate: Fate, asked: &Asked) -> Taken {
        self.sent += 1;
        let message = self.sent;
        self.messages.insert(post, Message { number: message, there: number });
        if fate == Fate::Twice {
            self.messages.insert(post.copy(), Message { number: message, there: number });
        }
        let mailbox = asked.mailbox.unwrap_or_default();
        let becomes = match fate {
            Fate::Kept => "",
            Fate::Lost => ": it is lost",
            Fate::Twice => ": it will come twice",
        };
        let does = format!("sends m{message} to {}{becomes}", self.mailbox(mailbox));
        let kind = if fate == Fate::Lost { "lose" } else { "send" };
        let (mailbox, message) = (self.named(mailbox), Some(message));
        Taken { kind, does, mailbox, message, bytes: asked.bytes, ..Taken::default() }
    }

    /// Locks, semaphores, conditions and barriers.
    fn synchronisation(&mut self, number: usize, actor: u32, kind: &Kind, asked: Asked) -> Taken {
        let by_token = |token, mutex, semaphore, does: String| {
            plain(if matches!(token, Token::Mutex(_)) { mutex } else { semaphore }, does)
        };
        match *kind {
            Kind::Take(token) => {
                self.queued.insert(actor, number);
                by_token(token, "lock", "acquire", format!("asks for {token:#}"))
            }
            Kind::TryTake(token) => {
                by_token(token, "try lock", "try acquire", format!("tries to take {token:#}"))
            }
            Kind::TakeWait(token, Ending { timeout: true, .. }) => {
                by_token(token, "lock", "acquire", format!("stops to wait for {token}"))
            }
            Kind::TakeWait(token, _) => Taken {
                after: self.since_queued(actor, Thing::Token(token)),
                ..by_token(token, "lock", "acquire", format!("has {token:#}"))
            },
            Kind::Give(token) => {
                self.given.insert(Thing::Token(token), number);
                by_token(token, "unlock", "release", format!("gives {}", token.given()))
            }
            Kind::ConditionPost(condition, lock) => {
                self.queued.insert(actor, number);
                self.given.insert(Thing::Token(lock), number);
                plain("condition", format!("gives {lock} back and waits for condition {condition}"))
            }
            Kind::ConditionWait(condition, _, Ending { timeout: true, .. }) => {
                plain("condition", format!("stops to wait for condition {condition}"))
            }
            Kind::ConditionWait(condition, lock, _) => {
                let mut after = self.since_queued(actor, Thing::Condition(condition));
                after.extend(self.since_queued(actor, Thing::Token(lock)));
                Taken { after, ..plain("condition", format!("was notified and has {lock} again")) }
            }
            Kind::Notify(condition) => {
                self.given.insert(Thing::Condition(condition), number);
                plain("notify", asked.does)
            }
            Kind::BarrierPost { barrier, .. } => {
                self.queued.insert(actor, number);
                self.given.insert(Thing::Barrier(barrier), number);
                plain("barrier", format!("comes to barrier {barrier}"))
            }
            Kind::BarrierWait(barrier, _) => Taken {
                after: self.since_queued(actor, Thing::Barrier(barrier)),
                ..plain("barrier", format!("passes barrier {barrier}"))
            },
            ref other => plain("step", other.in_words(&|mailbox| self.mailbox(mailbox))),
        }
    }

    /// The step that gave a thing, if it came after the actor began to wait for it.
    fn since_queued(&self, actor: u32, thing: Thing) -> Vec<usize> {
        let since = self.queued.get(&actor).copied().unwrap_or(0);
        self.given.get(&thing).copied().filter(|&given| given > since).into_iter().collect()
    }

    /// What a wait or a test came to.
    fn wait(&self, awaited: &[Awaited], taken: Option<Post>, outcome: Outcome) -> Taken {
        match outcome {
            Outcome::Timeout => match awaited {
                [alone] => {
                    let does = match alone.side {
                        Side::Recv(_) => format!("times out at {}", self.mailbox(alone.mailbox)),
                        Side::Send(_) => format!("times out with {}", self.own(alone)),
                    };
                    Taken { mailbox: self.named(alone.mailbox), ..plain("timeout", does) }
                }
                [] => plain("timeout", "times out"),
                several => plain("timeout", format!("times out with {} activities", several.len())),
            },
            Outcome::Nothing => match awaited {
                [alone] => Taken {
                    mailbox: self.named(alone.mailbox),
                    ..plain("test", format!("tests {}: not over", self.own(alone)))
                },
                [] => plain("test", "tests an activity: not over"),
                several => plain("test", format!("tests {}: none is over", several.len())),
            },
            Outcome::Taken => {
                let Some(over) = awaited.iter().find(|one| Some(one.post) == taken) else {
                    return plain("wait", "sees the end of an activity");
                };
                self.over(over)
            }
        }
    }

    /// A communication is over for the actor.
    fn over(&self, over: &Awaited) -> Taken {
        let mailbox = self.named(over.mailbox);
        let Some(partner) = over.partner.filter(|_| !over.lost) else {
            let own = self.own(over);
            let lost = format!("takes {own} for received");
            let does = if over.lost { lost } else { format!("sees that {own} was given up") };
            return Taken { mailbox, ..plain("wait", does) };
        };
        match over.side {
            Side::Recv(_) => {
                let message = self.message(partner);
                let name = message.map_or_else(|| "a message".to_owned(), |m| format!("m{}", m.number));
                let again = if partner.is_copy() { " again" } else { "" };
                Taken {
                    kind: "receive",
                    does: format!("receives {name} of {}{again}", self.actor(partner.actor)),
                    mailbox,
                    message: message.map(|message| message.number),
                    other: Some(partner.actor),
                    after: message.map(|message| message.there).into_iter().collect(),
                    ..Taken::default()
                }
            }
            Side::Send(_) => Taken {
                kind: "sent",
                does: format!("sees that {} has {}", self.actor(partner.actor), self.own(over)),
                mailbox,
                other: Some(partner.actor),
                after: self.receives.get(&partner).copied().into_iter().collect(),
                ..Taken::default()
            },
        }
    }

    /// What an actor posted itself.
    pub(super) fn own(&self, posted: &Awaited) -> String {
        match (posted.side, self.message(posted.post)) {
            (Side::Send(_), Some(message)) => format!("m{}", message.number),
            (Side::Send(_), None) => format!("its message to {}", self.mailbox(posted.mailbox)),
            (Side::Recv(_), _) => format!("its receive at {}", self.mailbox(posted.mailbox)),
        }
    }
}
