//! Why nobody can go on: the mistakes that are made most, told by what the processes wait for.

use simurgh_kernel::kernel::Unreceived;
use simurgh_kernel::simcall::Criteria;

use super::doing::{Doing, is_collective, is_long_send};
use super::{Run, ranks_in_words};
use crate::communicator::context;
use crate::doing::Way;

/// What may be the reason, the likeliest first.
pub(super) fn advice(run: &Run, doings: &[(u32, Doing)], unreceived: &[Unreceived]) -> Vec<String> {
    let gone = gone(doings);
    let long_sends = if gone.is_none() { long_sends(run, doings) } else { None };
    let found = [
        gone,
        other_collectives(doings),
        other_tag(doings, unreceived),
        long_sends,
        itself(doings),
        no_lines(doings),
    ];
    found.into_iter().flatten().collect()
}

fn ranks(doings: &[(u32, Doing)], which: impl Fn(u32, &Doing) -> bool) -> Vec<u32> {
    doings.iter().filter(|(rank, doing)| which(*rank, doing)).map(|(rank, _)| *rank).collect()
}

fn has(ranks: &[u32]) -> &'static str {
    if ranks.len() == 1 { "has" } else { "have" }
}

/// Somebody has ended whom others wait for.
fn gone(doings: &[(u32, Doing)]) -> Option<String> {
    let ended = ranks(doings, |_, doing| doing.has_ended);
    if ended.is_empty() {
        return None;
    }
    let waits = doings.iter().find(|(_, doing)| doing.waits_for.is_some_and(|rank| ended.contains(&rank)));
    if let Some((rank, doing)) = waits {
        let gone = doing.waits_for?;
        return Some(format!("rank {rank} waits for rank {gone}, which has ended"));
    }
    let (rank, doing) = doings.iter().find(|(_, doing)| is_collective(doing) || doing.call == "MPI_Init")?;
    Some(format!(
        "{} {} ended, and rank {rank} waits in {} for all processes of its communicator",
        ranks_in_words(&ended),
        has(&ended),
        doing.begun_by.as_deref().unwrap_or(&doing.call)
    ))
}

/// Some wait in one collective, some in another.
fn other_collectives(doings: &[(u32, Doing)]) -> Option<String> {
    let within: Vec<&Doing> = doings
        .iter()
        .map(|(_, doing)| doing)
        .filter(|doing| is_collective(doing) && doing.begun_by.is_none())
        .collect();
    let first = within.first()?;
    let is_other = |other: &&&Doing| {
        (&other.call, &other.line) != (&first.call, &first.line) && other.communicator == first.communicator
    };
    let calls = match within.iter().find(is_other) {
        Some(other) if other.call == first.call => format!("two calls of {}", first.call),
        Some(other) => format!("{} and {}", first.call, other.call),
        None => return None,
    };
    Some(format!(
        "{calls} wait for one another: all processes of a communicator call the same collectives, in the same order and with the same root"
    ))
}

/// A message has come, and is not the one that is waited for.
fn other_tag(doings: &[(u32, Doing)], unreceived: &[Unreceived]) -> Option<String> {
    doings.iter().find_map(|(rank, doing)| {
        let note = doing.note.filter(|note| note.context.is_multiple_of(context::STEP))?;
        let Way::From(source) = note.way else { return None };
        let here = || unreceived.iter().filter(|message| message.mailbox.0 == *rank);
        let any_tag = Criteria { context: note.context, source, tag: None };
        let any_source = Criteria { context: note.context, source: None, tag: note.tag };
        if let Some(message) = here().find(|message| any_tag.admits(&message.envelope)) {
            return Some(format!(
                "rank {rank} waits for {}; a message with tag {} has been sent to it {}",
                doing.tag.as_deref().unwrap_or("another tag"),
                message.envelope.tag,
                doing.peer.as_deref().unwrap_or("by the same rank"),
            ));
        }
        let message = here().find(|message| any_source.admits(&message.envelope))?;
        Some(format!(
            "rank {rank} waits for a message {}; one with this tag has been sent to it by rank {}",
            doing.peer.as_deref().unwrap_or("of another rank"),
            message.envelope.source
        ))
    })
}

/// Standard sends that would not wait if they were shorter.
fn long_sends(run: &Run, doings: &[(u32, Doing)]) -> Option<String> {
    let senders = ranks(doings, |_, doing| is_long_send(doing));
    let living = doings.iter().filter(|(_, doing)| !doing.has_ended).count();
    if senders.is_empty() || 2 * senders.len() < living {
        return None;
    }
    let least = run.detached_below();
    Some(format!(
        "a standard send of {least} bytes or more waits for its receive (--config smpi/send-is-detached-thresh=BYTES): receive first on one side, or use MPI_Sendrecv or MPI_Isend"
    ))
}

/// Somebody waits for itself.
fn itself(doings: &[(u32, Doing)]) -> Option<String> {
    let (rank, doing) = doings.iter().find(|(rank, doing)| doing.waits_for == Some(*rank))?;
    Some(format!("rank {rank} waits in {} for itself", doing.call))
}

/// Lines are what one wants to see.
fn no_lines(doings: &[(u32, Doing)]) -> Option<String> {
    let within = || doings.iter().filter(|(_, doing)| doing.is_in_mpi);
    let none = within().next().is_some() && within().all(|(_, doing)| doing.line.is_none());
    none.then(|| "compile with -g to see the lines of these calls".to_owned())
}
