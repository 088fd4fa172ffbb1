//! Steps in words, for people.

use simurgh_kernel::operation::{Side, Token};
use simurgh_kernel::simcall::{Criteria, Envelope};

use crate::transition::{Awaited, Kind};

impl Kind {
    /// What is asked for, as a noun: "a send to mailbox m". Mailboxes are named by whoever knows their names.
    pub fn in_words(&self, mailbox: &dyn Fn(u32) -> String) -> String {
        match self {
            Kind::Send { mailbox: m, envelope, .. } => {
                format!("a send to mailbox {}{}", mailbox(*m), labelled(envelope))
            }
            Kind::Submit { .. } => "a send".to_owned(),
            Kind::Arrive { mailbox: m, envelope, .. } => {
                format!("the arrival of a message at mailbox {}{}", mailbox(*m), labelled(envelope))
            }
            Kind::Recv { mailbox: m, criteria, .. } => {
                format!("a receive from mailbox {}{}", mailbox(*m), chosen(criteria))
            }
            Kind::Wait { awaited, .. } => waiting(awaited, mailbox),
            Kind::Withdraw(_) => "a communication to be cancelled".to_owned(),
            Kind::Probe { mailbox: m, criteria } => {
                format!("a look into mailbox {}{}", mailbox(*m), chosen(criteria))
            }
            Kind::Choose => "a choice".to_owned(),
            Kind::Take(token) | Kind::TakeWait { token, .. } => {
                by_token(token, "a lock", "one from a semaphore")
            }
            Kind::TryTake(token) => {
                by_token(token, "a lock that is free", "one from a semaphore that has some")
            }
            Kind::Give(token) => by_token(token, "a lock to be given back", "a semaphore to be released"),
            Kind::ConditionPost { .. } | Kind::ConditionWait { .. } => "a notification".to_owned(),
            Kind::Notify(_) => "others to be notified".to_owned(),
            Kind::BarrierPost { .. } | Kind::BarrierWait { .. } => "a barrier".to_owned(),
            Kind::Spawn { .. } => "a new actor".to_owned(),
            Kind::Join { target, .. } => format!("the end of actor number {target}"),
            Kind::IsAlive { target } => format!("whether actor number {target} is there"),
            Kind::Exit { .. } => "its end".to_owned(),
            Kind::Expose { .. } => "a value to be shown".to_owned(),
            Kind::Interfere => "another actor to be killed, halted or resumed".to_owned(),
        }
    }
}

fn by_token(token: &Token, mutex: &str, semaphore: &str) -> String {
    if matches!(token, Token::Mutex(_)) { mutex } else { semaphore }.to_owned()
}

fn labelled(envelope: &Envelope) -> String {
    if envelope.tag == 0 { String::new() } else { format!(" with tag {}", envelope.tag) }
}

fn chosen(criteria: &Criteria) -> String {
    let source = criteria.source.map_or_else(String::new, |source| format!(", of actor number {source}"));
    let tag = criteria.tag.map_or_else(String::new, |tag| format!(", with tag {tag}"));
    source + &tag
}

fn waiting(awaited: &[Awaited], mailbox: &dyn Fn(u32) -> String) -> String {
    let one = |awaited: &Awaited| match awaited.side {
        Side::Send(_) => format!("its message to mailbox {}", mailbox(awaited.mailbox)),
        Side::Recv(_) => format!("a message from mailbox {}", mailbox(awaited.mailbox)),
    };
    match awaited {
        [] => "the end of an activity".to_owned(),
        [alone] => format!("the end of {}", one(alone)),
        [first, rest @ ..] => {
            let rest: String = rest.iter().map(|other| format!(" or {}", one(other))).collect();
            format!("the end of {}{rest}", one(first))
        }
    }
}
