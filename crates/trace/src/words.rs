//! What things are called, the same in all formats.

use simurgh_kernel::ids::ActorId;
use simurgh_platform::HostId;

use crate::timeline::{Interval, Kind, Timeline, Work};

/// The name of a kind of interval.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Executing => "executing",
        Kind::Parallel => "parallel task",
        Kind::Sending => "sending",
        Kind::Receiving => "receiving",
        Kind::Reading => "reading",
        Kind::Writing => "writing",
        Kind::WaitingAny => "waiting for any",
        Kind::Sleeping => "sleeping",
        Kind::Locking => "locking",
        Kind::Acquiring => "acquiring",
        Kind::Condition => "waiting for a condition",
        Kind::Barrier => "at a barrier",
        Kind::Joining => "joining",
        Kind::Suspended => "suspended",
        Kind::Calling => "calling",
    }
}

/// What an actor does in an interval, in a few words.
pub(crate) fn interval(interval: &Interval) -> String {
    let detail = &interval.detail;
    match interval.kind {
        Kind::Sending => format!("sending to {detail}"),
        Kind::Receiving => format!("receiving from {detail}"),
        Kind::Reading => format!("reading {detail}"),
        Kind::Writing => format!("writing {detail}"),
        Kind::WaitingAny => format!("waiting for any of {detail}"),
        Kind::Locking => format!("locking {detail}"),
        Kind::Acquiring => format!("acquiring {detail}"),
        Kind::Condition => format!("waiting for {detail}"),
        Kind::Barrier => format!("at {detail}"),
        Kind::Joining => format!("joining {detail}"),
        Kind::Calling => detail.clone(),
        Kind::Executing | Kind::Parallel | Kind::Sleeping | Kind::Suspended => kind(interval.kind).to_owned(),
    }
}

/// A fact's value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
}

/// What is known of an interval beyond its kind and dates, as names and values.
pub(crate) fn facts(timeline: &Timeline, interval: &Interval) -> Vec<(&'static str, Value)> {
    use Value::{Number, Text};
    let mut facts = Vec::new();
    match interval.work {
        Some(Work::Message(place)) => {
            let message = &timeline.messages[place];
            facts.push(("bytes", Number(message.bytes)));
            facts.push(("sender", Text(actor(timeline, message.sender))));
            facts.push(("receiver", Text(actor(timeline, message.receiver))));
            facts.push(("mailbox", Text(message.mailbox.clone())));
            facts.push(("posted (s)", Number(message.posted.seconds())));
            facts.push(("met (s)", Number(message.span.from.seconds())));
        }
        Some(Work::Execution(place)) => {
            let execution = &timeline.executions[place];
            facts.push(("flops", Number(execution.flops)));
            if execution.host != interval.host {
                facts.push(("host", Text(host(timeline, execution.host))));
            }
        }
        Some(Work::Access(place)) => facts.push(("bytes", Number(timeline.accesses[place].bytes))),
        Some(Work::Parallel(place)) => {
            facts.push(("hosts", Number(timeline.parallel_tasks[place].hosts.len() as f64)));
        }
        None => {}
    }
    if let Some(failure) = &interval.failure {
        facts.push(("failed", Text(failure.clone())));
    }
    facts
}

/// The name of an actor.
pub(crate) fn actor(timeline: &Timeline, id: ActorId) -> String {
    timeline.actor(id).map_or_else(|| format!("actor {id}"), |actor| actor.name.clone())
}

/// The name of a host.
pub(crate) fn host(timeline: &Timeline, id: HostId) -> String {
    timeline.host(id).map_or_else(|| format!("host {id}"), |host| host.name.clone())
}
