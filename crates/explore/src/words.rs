//! Steps in words, for people.

use simurgh_kernel::operation::{Side, Token};
use simurgh_kernel::simcall::Envelope;

use crate::transition::{Awaited, Kind, Posting};

impl Kind {
    /// What is asked for, as a noun: "a send to mailbox m". Mailboxes are named by whoever knows their names.
    pub fn in_words(&self, mailbox: &dyn Fn(u32) -> String) -> String {
        match self {
            Kind::Post(Posting { mailbox: m, side, .. }) => {
                let what = if matches!(side, Side::Send(_)) { "send to" } else { "receive from" };
                format!("a {what} mailbox {}{}", mailbox(*m), labelled(side))
            }
            Kind::Submit { .. } => "a send".to_owned(),
            Kind::Arrive { posting: Posting { mailbox: m, side, .. }, .. } => {
                format!("the arrival of a message at mailbox {}{}", mailbox(*m), labelled(side))
            }
            Kind::Wait { awaited, .. } => waiting(awaited, mailbox),
            Kind::Withdraw(_) => "a communication to be cancelled".to_owned(),
            Kind::Probe(m, criteria) => {
                format!("a look into mailbox {}{}", mailbox(*m), labelled(&Side::Recv(*criteria)))
            }
            Kind::Choose => "a choice".to_owned(),
            Kind::Take(token) | Kind::TakeWait(token, _) => by_token(token, "a lock", "one from a semaphore"),
            Kind::TryTake(token) => {
                by_token(token, "a lock that is free", "one from a semaphore that has some")
            }
            Kind::Give(token) => by_token(token, "a lock to be given back", "a semaphore to be released"),
            Kind::ConditionPost(..) | Kind::ConditionWait(..) => "a notification".to_owned(),
            Kind::Notify(_) => "others to be notified".to_owned(),
            Kind::BarrierPost { .. } | Kind::BarrierWait(..) => "a barrier".to_owned(),
            Kind::Spawn(_) => "a new actor".to_owned(),
            Kind::Join(target, _) => format!("the end of actor number {target}"),
            Kind::IsAlive(target) => format!("whether actor number {target} is there"),
            Kind::Exit { .. } => "its end".to_owned(),
            Kind::Expose(..) => "a value to be shown".to_owned(),
            Kind::Interfere => "another actor to be killed, halted or resumed".to_owned(),
        }
    }
}

fn by_token(token: &Token, mutex: &str, semaphore: &str) -> String {
    if matches!(token, Token::Mutex(_)) { mutex } else { semaphore }.to_owned()
}

fn labelled(side: &Side) -> String {
    match side {
        Side::Send(Envelope { tag: 0, .. }) => String::new(),
        Side::Send(Envelope { tag, .. }) => format!(" with tag {tag}"),
        Side::Recv(criteria) => {
            let source = criteria.source.map(|source| format!(", of actor number {source}"));
            source.unwrap_or_default()
                + &criteria.tag.map_or_else(String::new, |tag| format!(", with tag {tag}"))
        }
    }
}

fn waiting(awaited: &[Awaited], mailbox: &dyn Fn(u32) -> String) -> String {
    let one = |awaited: &Awaited| match awaited.side {
        Side::Send(_) => format!("its message to mailbox {}", mailbox(awaited.mailbox)),
        Side::Recv(_) => format!("a message from mailbox {}", mailbox(awaited.mailbox)),
    };
    let all: Vec<String> = awaited.iter().map(one).collect();
    format!("the end of {}", if all.is_empty() { "an activity".to_owned() } else { all.join(" or ") })
}
