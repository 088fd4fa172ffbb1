//! What the steps of a counterexample do, in words and as data.

use std::collections::BTreeMap;

use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::operation::{Deed, Operation, Side, Token};
use simurgh_kernel::simcall::Wake;

use super::{MailboxNames, Taken};
use simurgh_explore::actors::Actors;
use simurgh_explore::determinism::{Exchange, Posted, Traffic};
use simurgh_explore::transition::{Awaited, Ending, Fate, Kind, Outcome, Post, Posting};
use simurgh_explore::verdict::{Step, Violation};

/// That a send or a receive of an actor is not what it was, in words that go on from "its".
pub fn varies(what: Traffic, number: usize) -> String {
    let what = match what {
        Traffic::Sends => "send",
        Traffic::Receives => "receive",
    };
    format!("{what} number {} is not the same in all executions", number + 1)
}

/// What is known of the execution until now.
pub(super) struct Teller<'a> {
    mailboxes: MailboxNames<'a>,
    actors: Vec<String>,
    messages: BTreeMap<Post, Message>,
    /// How many messages were sent.
    sent: u32,
    /// The step in which each thing last came about.
    when: BTreeMap<Thing, usize>,
}

/// A message that was sent.
#[derive(Copy, Clone, Debug)]
pub(super) struct Message {
    /// Its number, from 1.
    pub(super) number: u32,
    /// The step that put it where it can be received, for now: that of the send, or that of the arrival.
    pub(super) there: usize,
}

/// What later steps may have had to wait for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thing {
    /// A lock or one of a semaphore is given, a condition notified, a barrier come to.
    Token(Token),
    Condition(u32),
    Barrier(u32),
    /// A receive is posted.
    Receive(Post),
    /// An actor is created, takes a step, begins to queue for something, ends.
    Creation(u32),
    Step(u32),
    Queue(u32),
    End(u32),
}

/// What a step does, in one word and in more.
type Words = (&'static str, String);

impl<'a> Teller<'a> {
    pub(super) fn new(mailboxes: MailboxNames<'a>) -> Self {
        Self { mailboxes, actors: Vec::new(), messages: BTreeMap::new(), sent: 0, when: BTreeMap::new() }
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
                format!("{} is not deterministic: its {}", self.actor(*actor), varies(*what, *number))
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
        match posted.map(|posted| posted.exchange) {
            Some(Exchange::Sent { mailbox, envelope, bytes }) => {
                let tag = if envelope.tag == 0 { String::new() } else { format!(", tag {}", envelope.tag) };
                format!("goes to {} ({} bytes{tag})", self.mailbox(mailbox), f64::from_bits(bytes))
            }
            Some(Exchange::Received { mailbox, message: Some(message) }) => {
                let sender = self.actor(message.actor);
                format!("gets message {} of {sender} from {}", message.number + 1, self.mailbox(mailbox))
            }
            Some(Exchange::Received { mailbox, message: None }) => {
                format!("gets nothing from {}", self.mailbox(mailbox))
            }
            None => "does not come about".to_owned(),
        }
    }

    /// Looks at what is asked, before it is served: what of a step is not known afterwards.
    pub(super) fn look<F: FnMut(&mut Kernel)>(&self, system: &Actors<F>, number: usize, step: Step) -> Taken {
        let mut asked = Taken { number, step, ..Taken::default() };
        let actor = ActorId(step.actor);
        if step.actor == Step::NETWORK {
            return asked;
        }
        asked.actor = Some(step.actor);
        // A guard that was dropped: nobody knows where.
        if system.gives_back(actor) {
            return asked;
        }
        asked.place = system.place(actor);
        asked.call = system.label(actor).map(Into::into);
        let Some(simcall) = system.pending(actor) else {
            asked.does = "goes on".to_owned();
            return asked;
        };
        asked.does = match simcall.operation() {
            Operation::Post { mailbox, message: Some(message), .. } => {
                (asked.bytes, asked.mailbox) = (Some(message.bytes), self.named(mailbox.0));
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
    pub(super) fn describe(&mut self, mut told: Taken, kind: &Kind) -> Taken {
        (told.kind, told.does) = self.told(&mut told, kind);
        if let Some(actor) = told.actor
            && self.when.insert(Thing::Step(actor), told.number).is_none()
        {
            told.after.extend(self.when.get(&Thing::Creation(actor)));
        }
        told.after.sort_unstable();
        told.after.dedup();
        told
    }

    fn named(&self, mailbox: u32) -> Option<String> {
        Some((self.mailboxes)(MailboxId(mailbox)))
    }

    fn told(&mut self, told: &mut Taken, kind: &Kind) -> Words {
        let number = told.number;
        let asked = std::mem::take(&mut told.does);
        match *kind {
            Kind::Post(Posting { post, mailbox, side: Side::Recv(_), .. }) => {
                self.when.insert(Thing::Receive(post), number);
                told.mailbox = self.named(mailbox);
                ("post", format!("posts a receive at {}", self.mailbox(mailbox)))
            }
            Kind::Post(Posting { post, .. }) => self.sends(told, post, Fate::Kept),
            Kind::Submit { post, fate, .. } => self.sends(told, post, fate),
            Kind::Arrive { posting: Posting { post, mailbox, .. }, .. } => {
                let (mut name, mut sent) = (0, 0);
                if let Some(message) = self.messages.get_mut(&post) {
                    (name, sent) = (message.number, std::mem::replace(&mut message.there, number));
                }
                (told.mailbox, told.message, told.other) =
                    (self.named(mailbox), Some(name), Some(post.actor));
                told.after.push(sent);
                let again = if post.is_copy() { " again" } else { "" };
                ("arrive", format!("m{name} arrives{again} at {}", self.mailbox(mailbox)))
            }
            Kind::Wait { ref awaited, taken, outcome, .. } => self.wait(told, awaited, taken, outcome),
            Kind::Withdraw(ref posts) => {
                told.mailbox = posts.first().and_then(|taken| self.named(taken.mailbox));
                let does = match posts.first() {
                    Some(taken) => format!("takes back {}", self.own(taken)),
                    None if told.step.choice == Step::OTHERWISE => {
                        "stops an activity, which was over".to_owned()
                    }
                    None => "stops an activity".to_owned(),
                };
                ("cancel", does)
            }
            Kind::Probe(mailbox, _) => {
                told.mailbox = self.named(mailbox);
                ("probe", format!("looks into {}", self.mailbox(mailbox)))
            }
            Kind::Choose => ("choose", asked),
            Kind::Spawn(child) => {
                self.when.insert(Thing::Creation(child), number);
                told.other = Some(child);
                ("spawn", asked)
            }
            Kind::Join(target, Ending { timeout, .. }) => {
                told.other = Some(target);
                told.after.extend(self.when.get(&Thing::End(target)).filter(|_| !timeout));
                let verb = if timeout { "stops to wait for" } else { "sees the end of" };
                ("join", format!("{verb} {}", self.actor(target)))
            }
            Kind::IsAlive(target) => {
                told.other = Some(target);
                ("is alive", format!("looks whether {} has ended", self.actor(target)))
            }
            Kind::Expose(..) => ("expose", asked),
            Kind::Exit { .. } => {
                self.when.insert(Thing::End(told.step.actor), number);
                ("end", "ends".to_owned())
            }
            Kind::Interfere => ("interfere", asked),
            _ => self.synchronisation(told, kind, asked),
        }
    }

    /// A message is sent, and this becomes of it.
    fn sends(&mut self, told: &mut Taken, post: Post, fate: Fate) -> Words {
        self.sent += 1;
        let message = Message { number: self.sent, there: told.number };
        told.message = Some(self.sent);
        self.messages.insert(post, message);
        if fate == Fate::Twice {
            self.messages.insert(post.copy(), message);
        }
        let becomes = match fate {
            Fate::Kept => "",
            Fate::Lost => ": it is lost",
            Fate::Twice => ": it will come twice",
        };
        let does =
            format!("sends m{} to {:?}{becomes}", self.sent, told.mailbox.as_deref().unwrap_or_default());
        (if fate == Fate::Lost { "lose" } else { "send" }, does)
    }

    /// Locks, semaphores, conditions and barriers.
    fn synchronisation(&mut self, told: &mut Taken, kind: &Kind, asked: String) -> Words {
        let (number, actor) = (told.number, told.step.actor);
        let by_token =
            |token, mutex, semaphore| if matches!(token, Token::Mutex(_)) { mutex } else { semaphore };
        match *kind {
            Kind::Take(token) => {
                self.when.insert(Thing::Queue(actor), number);
                (by_token(token, "lock", "acquire"), format!("asks for {token:#}"))
            }
            Kind::TryTake(token) => {
                (by_token(token, "try lock", "try acquire"), format!("tries to take {token:#}"))
            }
            Kind::TakeWait(token, Ending { timeout: true, .. }) => {
                (by_token(token, "lock", "acquire"), format!("stops to wait for {token}"))
            }
            Kind::TakeWait(token, _) => {
                told.after.extend(self.since_queued(actor, Thing::Token(token)));
                (by_token(token, "lock", "acquire"), format!("has {token:#}"))
            }
            Kind::Give(token) => {
                self.when.insert(Thing::Token(token), number);
                (by_token(token, "unlock", "release"), format!("gives {}", token.given()))
            }
            Kind::ConditionPost(condition, lock) => {
                self.when.insert(Thing::Queue(actor), number);
                self.when.insert(Thing::Token(lock), number);
                ("condition", format!("gives {lock} back and waits for condition {condition}"))
            }
            Kind::ConditionWait(condition, _, Ending { timeout: true, .. }) => {
                ("condition", format!("stops to wait for condition {condition}"))
            }
            Kind::ConditionWait(condition, lock, _) => {
                told.after.extend(self.since_queued(actor, Thing::Condition(condition)));
                told.after.extend(self.since_queued(actor, Thing::Token(lock)));
                ("condition", format!("was notified and has {lock} again"))
            }
            Kind::Notify(condition) => {
                self.when.insert(Thing::Condition(condition), number);
                ("notify", asked)
            }
            Kind::BarrierPost { barrier, .. } => {
                self.when.insert(Thing::Queue(actor), number);
                self.when.insert(Thing::Barrier(barrier), number);
                ("barrier", format!("comes to barrier {barrier}"))
            }
            Kind::BarrierWait(barrier, _) => {
                told.after.extend(self.since_queued(actor, Thing::Barrier(barrier)));
                ("barrier", format!("passes barrier {barrier}"))
            }
            ref other => ("step", other.in_words(&|mailbox| self.mailbox(mailbox))),
        }
    }

    /// The step that gave a thing, if it came after the actor began to wait for it.
    fn since_queued(&self, actor: u32, thing: Thing) -> Option<usize> {
        let since = self.when.get(&Thing::Queue(actor)).copied().unwrap_or(0);
        self.when.get(&thing).copied().filter(|&given| given > since)
    }

    /// What a wait or a test came to.
    fn wait(&self, told: &mut Taken, awaited: &[Awaited], taken: Option<Post>, outcome: Outcome) -> Words {
        if outcome == Outcome::Taken {
            return match awaited.iter().find(|one| Some(one.post) == taken) {
                Some(over) => self.over(told, over),
                None => ("wait", "sees the end of an activity".to_owned()),
            };
        }
        if let [alone] = awaited {
            told.mailbox = self.named(alone.mailbox);
        }
        match (outcome, awaited) {
            (Outcome::Timeout, [Awaited { side: Side::Recv(_), mailbox, .. }]) => {
                ("timeout", format!("times out at {}", self.mailbox(*mailbox)))
            }
            (Outcome::Timeout, [alone]) => ("timeout", format!("times out with {}", self.own(alone))),
            (Outcome::Timeout, []) => ("timeout", "times out".to_owned()),
            (Outcome::Timeout, several) => {
                ("timeout", format!("times out with {} activities", several.len()))
            }
            (_, [alone]) => ("test", format!("tests {}: not over", self.own(alone))),
            (_, []) => ("test", "tests an activity: not over".to_owned()),
            (_, several) => ("test", format!("tests {}: none is over", several.len())),
        }
    }

    /// A communication is over for the actor.
    fn over(&self, told: &mut Taken, over: &Awaited) -> Words {
        told.mailbox = self.named(over.mailbox);
        let own = self.own(over);
        if over.lost {
            return ("wait", format!("takes {own} for received"));
        }
        let Some(partner) = over.partner else { return ("wait", format!("sees that {own} was given up")) };
        told.other = Some(partner.actor);
        let other = self.actor(partner.actor);
        if over.side.is_send() {
            told.after.extend(self.when.get(&Thing::Receive(partner)));
            return ("sent", format!("sees that {other} has {own}"));
        }
        let message = self.message(partner);
        told.message = message.map(|message| message.number);
        told.after.extend(message.map(|message| message.there));
        let name = message.map_or_else(|| "a message".to_owned(), |m| format!("m{}", m.number));
        let again = if partner.is_copy() { " again" } else { "" };
        ("receive", format!("receives {name} of {other}{again}"))
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
