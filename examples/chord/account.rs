//! What came of it: each node gives account at its end, and one actor holds them all against the ring as it should be.

use std::collections::BTreeSet;

use simurgh::Error;
use simurgh::prelude::*;

use crate::ring::{self, Id};

/// The mailbox for accounts.
pub const ACCOUNTS: &str = "accounts";
/// How long after the end an account may still come.
const LATE: f64 = 10.0;

/// A key that was looked up.
pub struct Lookup {
    pub key: Id,
    pub begin: f64,
    pub end: f64,
    pub owner: Option<Id>,
    pub hops: u32,
}

/// What a node did, and what it knew at its end.
pub struct Account {
    id: Id,
    pub messages: u64,
    pub timeouts: u64,
    pub lookups: Vec<Lookup>,
    predecessor: Option<Id>,
    successor: Option<Id>,
    fingers: Vec<Option<Id>>,
}

impl Account {
    pub fn new(id: Id) -> Self {
        Self {
            id,
            messages: 0,
            timeouts: 0,
            lookups: Vec::new(),
            predecessor: None,
            successor: None,
            fingers: Vec::new(),
        }
    }

    pub fn settle(&mut self, predecessor: Option<Id>, successors: &[Id], fingers: Vec<Option<Id>>) {
        self.predecessor = predecessor;
        self.successor = successors.first().copied();
        self.fingers = fingers;
    }
}

/// What the collector expects.
pub struct Expected {
    /// How many nodes live to give account.
    pub accounts: usize,
    /// Who is there at the end.
    pub members: BTreeSet<Id>,
    /// From this date on, all lookups are right.
    pub settled: f64,
    pub bits: u32,
    /// When all is over.
    pub end: f64,
}

/// Collects the accounts, checks the ring, and tells.
pub async fn collect(ctx: Ctx, expected: Expected) -> simurgh::Result {
    let mailbox = ctx.mailbox::<Account>(ACCOUNTS);
    // A message sets out when a receive is posted for it: so that none has to wait, all are posted now.
    let mut receives = ActivitySet::new();
    for _ in 0..expected.accounts {
        receives.push(mailbox.recv().start().await);
    }
    let mut accounts = Vec::new();
    while !receives.is_empty() {
        match receives.wait_any_for(expected.end - ctx.now() + LATE).await {
            Ok((_, account)) => accounts.push(account),
            Err(error) if error.is_timeout() => break,
            Err(error) => return Err(error),
        }
    }
    let messages: u64 = accounts.iter().map(|account| account.messages).sum();
    let timeouts: u64 = accounts.iter().map(|account| account.timeouts).sum();
    ctx.say(format!("{messages} messages, {timeouts} questions without an answer"));
    let wrong = expected.accounts - accounts.len()
        + check_lookups(&ctx, &accounts, &expected)
        + check_ring(&ctx, &accounts, &expected);
    if wrong > 0 {
        return Err(Error::input(format!("{wrong} things are not as they should be")));
    }
    Ok(())
}

/// Lookups: all are counted, those after all has settled are checked.
fn check_lookups(ctx: &Ctx, accounts: &[Account], expected: &Expected) -> usize {
    let lookups = || accounts.iter().flat_map(|account| &account.lookups);
    let found = lookups().filter(|lookup| lookup.owner.is_some()).count();
    let mean = |of: &dyn Fn(&Lookup) -> f64| {
        lookups().map(of).fold(0.0, |sum, value| sum + value) / (lookups().count().max(1) as f64)
    };
    ctx.say(format!(
        "{found} of {} lookups found an owner, in {:.2} hops and {:.3} s on the average",
        lookups().count(),
        mean(&|lookup| f64::from(lookup.hops)),
        mean(&|lookup| lookup.end - lookup.begin)
    ));
    let settled = || lookups().filter(|lookup| lookup.begin >= expected.settled);
    let right = settled().filter(|lookup| lookup.owner == ring::owner(&expected.members, lookup.key)).count();
    ctx.say(format!(
        "{right} of the {} lookups after {} s found the right one",
        settled().count(),
        expected.settled
    ));
    settled().count() - right
}

/// Neighbours and fingers of those that are there at the end.
fn check_ring(ctx: &Ctx, accounts: &[Account], expected: &Expected) -> usize {
    let members = &expected.members;
    let (mut neighbours, mut fingers) = (0, 0);
    for account in accounts.iter().filter(|account| members.contains(&account.id)) {
        let others = |id: Option<Id>| id.filter(|&id| id != account.id);
        neighbours += usize::from(account.successor == others(ring::successor(members, account.id)));
        neighbours += usize::from(account.predecessor == others(ring::predecessor(members, account.id)));
        fingers += (0..)
            .zip(&account.fingers)
            .filter(|(i, finger)| **finger == ring::owner(members, account.id.plus(*i, expected.bits)))
            .count();
    }
    let all = 2 * members.len();
    ctx.say(format!(
        "the ring of {} nodes: {neighbours} of {all} neighbours and {fingers} of {} fingers are right",
        members.len(),
        members.len() * expected.bits as usize
    ));
    all - neighbours
}
