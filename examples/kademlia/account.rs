//! What came of it: each node gives account at its end, and one actor holds the lookups against the truth.

use simurgh::Error;
use simurgh::prelude::*;

use crate::table::{Id, K};

/// The mailbox for accounts.
pub const ACCOUNTS: &str = "accounts";

/// A lookup, with what it found, the nearest first.
pub struct Lookup {
    pub target: Id,
    pub begin: f64,
    pub end: f64,
    pub questions: u64,
    pub found: Vec<Id>,
}

/// What a node did.
#[derive(Default)]
pub struct Account {
    pub messages: u64,
    pub timeouts: u64,
    pub contacts: usize,
    pub lookups: Vec<Lookup>,
}

/// Collects the accounts of those that stay to the end, checks the lookups after a date, and tells.
pub async fn collect(ctx: Ctx, members: Vec<Id>, settled: f64) -> simurgh::Result {
    let mailbox = ctx.mailbox::<Account>(ACCOUNTS);
    // A message sets out when a receive is posted for it: so that none has to wait, all are posted now.
    let mut receives = ActivitySet::new();
    for _ in &members {
        receives.push(mailbox.recv().start().await);
    }
    let accounts = receives.wait_all().await?;
    let count = accounts.len().max(1) as f64;
    let messages: u64 = accounts.iter().map(|account| account.messages).sum();
    let timeouts: u64 = accounts.iter().map(|account| account.timeouts).sum();
    let contacts: usize = accounts.iter().map(|account| account.contacts).sum();
    ctx.say(format!(
        "{} nodes: {messages} messages, {timeouts} questions without an answer, {:.1} contacts on the average",
        accounts.len(),
        contacts as f64 / count
    ));
    let lookups: Vec<&Lookup> = accounts.iter().flat_map(|account| &account.lookups).collect();
    let of_all = lookups.len().max(1) as f64;
    let questions: u64 = lookups.iter().map(|lookup| lookup.questions).sum();
    let seconds = lookups.iter().fold(0.0, |sum, lookup| sum + (lookup.end - lookup.begin));
    ctx.say(format!(
        "{} lookups, of {:.1} questions and {:.3} s on the average",
        lookups.len(),
        questions as f64 / of_all,
        seconds / of_all
    ));
    check(&ctx, &lookups, members, settled)
}

/// After the last trouble, each lookup should find the nearest node, and nearly all of those that are nearest.
fn check(ctx: &Ctx, lookups: &[&Lookup], mut members: Vec<Id>, settled: f64) -> simurgh::Result {
    let (mut checked, mut nearest, mut all) = (0, 0, 0);
    for lookup in lookups.iter().filter(|lookup| lookup.begin >= settled) {
        members.sort_by_key(|id| id.distance(lookup.target));
        let truth = &members[..members.len().min(K)];
        checked += 1;
        nearest += usize::from(lookup.found.first() == truth.first());
        all += usize::from(lookup.found == truth);
    }
    ctx.say(format!(
        "after {settled} s, {nearest} of {checked} lookups found the nearest node, {all} all of the {K} nearest"
    ));
    if nearest < checked {
        return Err(Error::input(format!("{} lookups found another node", checked - nearest)));
    }
    Ok(())
}
