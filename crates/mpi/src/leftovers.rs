//! What is left undone at the end of a run that went well: requests that nobody completed, messages that nobody received. MPI wants
//! neither (5.0, 11.2.2 and 3.8), and most programs do not mean it.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use simurgh_kernel::kernel::Unreceived;

use crate::abi::Procedure;
use crate::communicator::context;
use crate::launch::Run;
use crate::p2p::HEADER;
use crate::rank::Rank;
use crate::report::ranks_in_words;
use crate::world::Leftover;

impl Rank {
    /// The process calls `MPI_Finalize`: requests that are still there are noted. Those that were freed or cancelled are fine, and
    /// persistent ones that are not under way.
    pub fn notes_leftovers(&self) {
        let requests = self.requests.borrow();
        let left = requests.iter().filter(|request| request.active.get() && !request.cancelled.get());
        let found: Vec<Leftover> = left
            .filter_map(|request| {
                let begun_by = request.begun.get()?.begun_by?;
                Some(Leftover { begun_by, complete: request.is_complete(), process: self.process })
            })
            .collect();
        if found.is_empty() {
            return;
        }
        self.for_others(|| {
            let mut all = self.world.leftovers.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend_from_slice(&found);
        });
    }
}

/// So many different things are told of what is left.
const MOST: usize = 6;

impl Run {
    /// What was left undone, a line for requests and one for messages; for runs that went well.
    pub fn leftovers(&self, unreceived: &[Unreceived]) -> Vec<String> {
        self.requests_left().into_iter().chain(self.messages_left(unreceived)).collect()
    }

    fn requests_left(&self) -> Option<String> {
        let left = self.world.leftovers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kinds: BTreeMap<(Procedure, bool), Vec<u32>> = BTreeMap::new();
        for Leftover { begun_by, complete, process } in left.iter() {
            kinds.entry((*begun_by, *complete)).or_default().push(*process);
        }
        let kind = |((begun_by, complete), processes): (&(Procedure, bool), &mut Vec<u32>)| {
            processes.sort_unstable();
            let count = processes.len();
            processes.dedup();
            let what = if *complete { " (complete, and never waited for)" } else { "" };
            format!("{count} of {}{what} on {}", begun_by.name(), ranks_in_words(processes))
        };
        let told: Vec<String> = kinds.iter_mut().map(kind).collect();
        (!told.is_empty())
            .then(|| format!("at MPI_Finalize requests were neither completed nor freed: {}", listed(&told)))
    }

    fn messages_left(&self, unreceived: &[Unreceived]) -> Option<String> {
        let mut kinds: BTreeMap<(u32, String, i32), (u64, f64)> = BTreeMap::new();
        let mut count = 0;
        // Those of collectives and of the library itself are nobody's business.
        let of_programs = |message: &&Unreceived| message.envelope.context.is_multiple_of(context::STEP);
        for message in unreceived.iter().filter(of_programs) {
            let Unreceived { mailbox, envelope, bytes } = message;
            let sender = self.sender(mailbox.0, envelope.context, envelope.source);
            let (number, sum) = kinds.entry((mailbox.0, sender, envelope.tag)).or_default();
            *number += 1;
            *sum += bytes - HEADER;
            count += 1;
        }
        let kind = |((receiver, sender, tag), (number, bytes)): (&(u32, String, i32), &(u64, f64))| {
            let often = if *number > 1 { format!("{number} times ") } else { String::new() };
            format!("{often}from {sender} to rank {receiver} with tag {tag} ({bytes} bytes)")
        };
        let told: Vec<String> = kinds.iter().map(kind).collect();
        let were = if count == 1 { "1 message was" } else { "messages were" };
        let were = if count > 1 { format!("{count} {were}") } else { were.to_owned() };
        (count > 0).then(|| format!("{were} never received: {}", listed(&told)))
    }

    /// Who has sent a message, by what the receiver knows of the communicator.
    fn sender(&self, receiver: u32, context: u32, source: u32) -> String {
        let known = self.with_rank(receiver as usize, |rank| {
            rank.with_comm(context, |comm| {
                let group = comm.peers();
                ((source as usize) < group.size()).then(|| group.process(source as usize))
            })?
        });
        match known.flatten() {
            Some(process) => format!("rank {process}"),
            None => format!("rank {source} of another communicator"),
        }
    }
}

/// The first of them, and how many more there are.
fn listed(told: &[String]) -> String {
    let mut text = told.iter().take(MOST).cloned().collect::<Vec<_>>().join("; ");
    if told.len() > MOST {
        text.push_str(&format!("; and {} more like these", told.len() - MOST));
    }
    text
}
