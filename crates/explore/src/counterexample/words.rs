//! What the steps of a counterexample do, in words and as data.

use std::collections::BTreeMap;

use simurgh_kernel::context::Place;
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Simcall, Wake};

use super::{MailboxNames, Taken};
use crate::actors::Actors;
use crate::determinism::Posted;
use crate::transition::{Awaited, Fate, Kind, Outcome, Post, Side};
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
    Lock(u32),
    Semaphore(u32),
    Condition(u32),
    Barrier(u32),
}

/// What an actor asks, seen before it is served.
pub(super) struct Asked {
    place: Option<Place>,
    bytes: Option<f64>,
    mailbox: Option<u32>,
    /// What it does to others, in words.
    deed: Option<(&'static str, Option<u32>)>,
    /// How many numbers there are to choose from.
    choices: u32,
    /// The name of an actor that is created.
    child: Option<String>,
    /// The value that is shown, and what it is called.
    shown: Option<String>,
}

/// What a step does, before it has a number.
#[derive(Default)]
struct Told {
    kind: &'static str,
    does: String,
    mailbox: Option<u32>,
    message: Option<u32>,
    other: Option<u32>,
    bytes: Option<f64>,
    after: Vec<usize>,
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
        let mut asked = Asked {
            place: None,
            bytes: None,
            mailbox: None,
            deed: None,
            choices: 0,
            child: None,
            shown: None,
        };
        if step.actor == Step::NETWORK {
            return asked;
        }
        let actor = ActorId(step.actor);
        if system.gives_back(actor) {
            // A guard that was dropped: nobody knows where.
            return asked;
        }
        asked.place = system.place(actor);
        match system.pending(actor) {
            Some(Simcall::Send(request, _)) => {
                (asked.bytes, asked.mailbox) = (Some(request.bytes), Some(request.mailbox.0));
            }
            Some(Simcall::Choose(n)) => asked.choices = (*n).max(1),
            Some(Simcall::Kill(other)) if *other == actor => asked.deed = Some(("ends itself", None)),
            Some(Simcall::Kill(other)) => asked.deed = Some(("kills", Some(other.0))),
            Some(Simcall::KillAll) => asked.deed = Some(("kills all others", None)),
            Some(Simcall::Suspend(other)) if *other == actor => asked.deed = Some(("halts", None)),
            Some(Simcall::Suspend(other)) => asked.deed = Some(("halts", Some(other.0))),
            Some(Simcall::Resume(other)) => asked.deed = Some(("resumes", Some(other.0))),
            Some(Simcall::BecomeDaemon) => asked.deed = Some(("becomes a daemon", None)),
            Some(Simcall::Notify(_, Wake::One)) => asked.deed = Some(("one", None)),
            Some(Simcall::Expose(slot, value)) => {
                asked.shown = Some(format!("{} = {value:?}", system.kernel().exposure().name(*slot)));
            }
            Some(Simcall::Spawn(request)) => asked.child = Some(request.name.clone()),
            _ => {}
        }
        asked
    }

    /// What a step did.
    pub(super) fn describe(&mut self, number: usize, step: Step, kind: &Kind, asked: Asked) -> Taken {
        let place = asked.place;
        let mut told = self.told(number, step, kind, asked);
        let actor = (step.actor != Step::NETWORK).then_some(step.actor);
        if let Some(actor) = actor {
            if !self.last_step.contains_key(&actor) {
                told.after.extend(self.created.get(&actor));
            }
            self.last_step.insert(actor, number);
        }
        told.after.sort_unstable();
        told.after.dedup();
        Taken {
            number,
            step,
            actor,
            kind: told.kind,
            does: told.does,
            mailbox: told.mailbox.map(|mailbox| (self.mailboxes)(MailboxId(mailbox))),
            message: told.message,
            other: told.other,
            bytes: told.bytes,
            after: told.after,
            place,
            said: Vec::new(),
            shows: Vec::new(),
            fails: None,
        }
    }

    fn told(&mut self, number: usize, step: Step, kind: &Kind, asked: Asked) -> Told {
        let actor = step.actor;
        let plain = |kind, does: String| Told { kind, does, ..Told::default() };
        match *kind {
            Kind::Send { post, .. } => self.sends(number, post, Fate::Kept, &asked),
            Kind::Submit { post, fate, .. } => self.sends(number, post, fate, &asked),
            Kind::Arrive { post, mailbox, .. } => {
                let message = self.messages.get_mut(&post);
                let sent = message.as_ref().map_or(0, |message| message.there);
                let name = message.map_or(0, |message| {
                    message.there = number;
                    message.number
                });
                let again = if post.is_copy() { " again" } else { "" };
                Told {
                    kind: "arrive",
                    does: format!("m{name} arrives{again} at {}", self.mailbox(mailbox)),
                    mailbox: Some(mailbox),
                    message: Some(name),
                    other: Some(post.actor),
                    after: vec![sent],
                    ..Told::default()
                }
            }
            Kind::Recv { post, mailbox, .. } => {
                self.receives.insert(post, number);
                let does = format!("posts a receive at {}", self.mailbox(mailbox));
                Told { kind: "post", does, mailbox: Some(mailbox), ..Told::default() }
            }
            Kind::Wait { ref awaited, taken, outcome, .. } => self.wait(awaited, taken, outcome),
            Kind::Withdraw(ref posts) => {
                let does = match posts.first() {
                    Some(taken) => format!("takes back {}", self.own(taken)),
                    None if step.choice == Step::OTHERWISE => "stops an activity, which was over".to_owned(),
                    None => "stops an activity".to_owned(),
                };
                Told { mailbox: posts.first().map(|taken| taken.mailbox), ..plain("cancel", does) }
            }
            Kind::Probe { mailbox, .. } => {
                let does = format!("looks into {}", self.mailbox(mailbox));
                Told { mailbox: Some(mailbox), ..plain("probe", does) }
            }
            Kind::Choose => plain(
                "choose",
                format!("chooses {} of 0 to {}", step.choice, asked.choices.saturating_sub(1)),
            ),
            Kind::Spawn { child } => {
                self.created.insert(child, number);
                let name = asked.child.filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| format!("actor-{child}"));
                Told { other: Some(child), ..plain("spawn", format!("creates {name}")) }
            }
            Kind::Join { target, timeout, .. } => {
                let after = self.ended.get(&target).copied().filter(|_| !timeout).into_iter().collect();
                let verb = if timeout { "stops to wait for" } else { "sees the end of" };
                let does = format!("{verb} {}", self.actor(target));
                Told { other: Some(target), after, ..plain("join", does) }
            }
            Kind::IsAlive { target } => {
                let does = format!("looks whether {} has ended", self.actor(target));
                Told { other: Some(target), ..plain("is alive", does) }
            }
            Kind::Expose { .. } => {
                let does =
                    asked.shown.map_or_else(|| "shows a value".to_owned(), |shown| format!("shows {shown}"));
                plain("expose", does)
            }
            Kind::Exit { .. } => {
                self.ended.insert(actor, number);
                plain("end", "ends".to_owned())
            }
            Kind::Interfere => {
                let (verb, other) = asked.deed.unwrap_or(("goes on", None));
                let does = match other {
                    Some(other) => format!("{verb} {}", self.actor(other)),
                    None => verb.to_owned(),
                };
                Told { other, ..plain("interfere", does) }
            }
            _ => self.synchronisation(number, actor, kind, &asked),
        }
    }

    /// A message is sent, and this becomes of it.
    fn sends(&mut self, number: usize, post: Post, fate: Fate, asked: &Asked) -> Told {
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
        let (mailbox, message) = (Some(mailbox), Some(message));
        Told { kind, does, mailbox, message, bytes: asked.bytes, ..Told::default() }
    }

    /// Locks, semaphores, conditions and barriers.
    fn synchronisation(&mut self, number: usize, actor: u32, kind: &Kind, asked: &Asked) -> Told {
        let plain = |kind, does: String| Told { kind, does, ..Told::default() };
        match *kind {
            Kind::Lock(lock) => {
                self.queued.insert(actor, number);
                plain("lock", format!("asks for lock {lock}"))
            }
            Kind::TryLock(lock) => plain("try lock", format!("tries to take lock {lock}")),
            Kind::LockWait { lock, timeout: true, .. } => {
                plain("lock", format!("stops to wait for lock {lock}"))
            }
            Kind::LockWait { lock, .. } => Told {
                after: self.since_queued(actor, Thing::Lock(lock)),
                ..plain("lock", format!("has lock {lock}"))
            },
            Kind::Unlock(lock) => {
                self.given.insert(Thing::Lock(lock), number);
                plain("unlock", format!("gives lock {lock} back"))
            }
            Kind::Acquire(semaphore) => {
                self.queued.insert(actor, number);
                plain("acquire", format!("asks for one of semaphore {semaphore}"))
            }
            Kind::TryAcquire(semaphore) => {
                plain("try acquire", format!("tries to take one of semaphore {semaphore}"))
            }
            Kind::AcquireWait { semaphore, timeout: true, .. } => {
                plain("acquire", format!("stops to wait for semaphore {semaphore}"))
            }
            Kind::AcquireWait { semaphore, .. } => Told {
                after: self.since_queued(actor, Thing::Semaphore(semaphore)),
                ..plain("acquire", format!("has one of semaphore {semaphore}"))
            },
            Kind::Release(semaphore) => {
                self.given.insert(Thing::Semaphore(semaphore), number);
                plain("release", format!("gives one to semaphore {semaphore}"))
            }
            Kind::ConditionPost { condition, lock } => {
                self.queued.insert(actor, number);
                self.given.insert(Thing::Lock(lock), number);
                plain("condition", format!("gives lock {lock} back and waits for condition {condition}"))
            }
            Kind::ConditionWait { condition, timeout: true, .. } => {
                plain("condition", format!("stops to wait for condition {condition}"))
            }
            Kind::ConditionWait { condition, lock, .. } => {
                let mut after = self.since_queued(actor, Thing::Condition(condition));
                after.extend(self.since_queued(actor, Thing::Lock(lock)));
                Told { after, ..plain("condition", format!("was notified and has lock {lock} again")) }
            }
            Kind::Notify(condition) => {
                self.given.insert(Thing::Condition(condition), number);
                let whom = if asked.deed.is_some() { "one that waits" } else { "all that wait" };
                plain("notify", format!("wakes {whom} for condition {condition}"))
            }
            Kind::BarrierPost { barrier, .. } => {
                self.queued.insert(actor, number);
                self.given.insert(Thing::Barrier(barrier), number);
                plain("barrier", format!("comes to barrier {barrier}"))
            }
            Kind::BarrierWait { barrier, .. } => Told {
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
    fn wait(&self, awaited: &[Awaited], taken: Option<Post>, outcome: Outcome) -> Told {
        let plain = |kind, does: String| Told { kind, does, ..Told::default() };
        match outcome {
            Outcome::Timeout => match awaited {
                [alone] => {
                    let does = match alone.side {
                        Side::Recv => format!("times out at {}", self.mailbox(alone.mailbox)),
                        Side::Send => format!("times out with {}", self.own(alone)),
                    };
                    Told { mailbox: Some(alone.mailbox), ..plain("timeout", does) }
                }
                [] => plain("timeout", "times out".to_owned()),
                several => plain("timeout", format!("times out with {} activities", several.len())),
            },
            Outcome::Nothing => match awaited {
                [alone] => Told {
                    mailbox: Some(alone.mailbox),
                    ..plain("test", format!("tests {}: not over", self.own(alone)))
                },
                [] => plain("test", "tests an activity: not over".to_owned()),
                several => plain("test", format!("tests {}: none is over", several.len())),
            },
            Outcome::Taken => {
                let Some(over) = awaited.iter().find(|one| Some(one.post) == taken) else {
                    return plain("wait", "sees the end of an activity".to_owned());
                };
                self.over(over)
            }
        }
    }

    /// A communication is over for the actor.
    fn over(&self, over: &Awaited) -> Told {
        let mailbox = Some(over.mailbox);
        if over.lost {
            let does = format!("takes {} for received", self.own(over));
            return Told { kind: "wait", does, mailbox, ..Told::default() };
        }
        let Some(partner) = over.partner else {
            let does = format!("sees that {} was given up", self.own(over));
            return Told { kind: "wait", does, mailbox, ..Told::default() };
        };
        match over.side {
            Side::Recv => {
                let message = self.message(partner);
                let name = message.map_or_else(|| "a message".to_owned(), |m| format!("m{}", m.number));
                let again = if partner.is_copy() { " again" } else { "" };
                Told {
                    kind: "receive",
                    does: format!("receives {name} of {}{again}", self.actor(partner.actor)),
                    mailbox,
                    message: message.map(|message| message.number),
                    other: Some(partner.actor),
                    after: message.map(|message| message.there).into_iter().collect(),
                    ..Told::default()
                }
            }
            Side::Send => Told {
                kind: "sent",
                does: format!("sees that {} has {}", self.actor(partner.actor), self.own(over)),
                mailbox,
                other: Some(partner.actor),
                after: self.receives.get(&partner).copied().into_iter().collect(),
                ..Told::default()
            },
        }
    }

    /// What an actor posted itself.
    pub(super) fn own(&self, posted: &Awaited) -> String {
        match (posted.side, self.message(posted.post)) {
            (Side::Send, Some(message)) => format!("m{}", message.number),
            (Side::Send, None) => format!("its message to {}", self.mailbox(posted.mailbox)),
            (Side::Recv, _) => format!("its receive at {}", self.mailbox(posted.mailbox)),
        }
    }
}
