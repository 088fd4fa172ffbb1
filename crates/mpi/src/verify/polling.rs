//! Polling, where executions are explored: probes that the search understands, and loops that end.
//!
//! A probe is a receive whose message is kept until the program receives it; one that does not wait is taken back if nothing has come,
//! and the search tries both. Whoever receives what a probe has found may get another message all the same, if it asks for any.
//!
//! A process that polls in vain, and comes to the same poll in the same state of all its memory, would do so for ever: it waits until
//! something comes that it has polled for.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Criteria, Follow, Payload, RecvRequest, Simcall};

use crate::abi::{Procedure, Status};
use crate::message::Content;
use crate::os;
use crate::p2p::mailbox;
use crate::rank::Rank;
use crate::request::{Pending, Persistent, gone};

use super::watching::Looked;

/// Why a program is not explored.
pub(super) const ATOMICS: &str = "loops that wait until another process has changed memory of a window by atomic instructions are not \
     explored; loops of MPI_Fetch_and_op or MPI_Compare_and_swap are";

/// What a process has polled.
#[derive(Debug, Default)]
pub struct Polling {
    /// Messages that were found by probes and not received yet, with their contexts.
    found: RefCell<Vec<(u32, Box<Content>)>>,
    /// States in which it has polled in vain since it did something else.
    seen: RefCell<BTreeSet<u64>>,
    /// What it has polled for in these.
    polled: RefCell<Vec<ActivityId>>,
    probed: RefCell<Vec<Criteria>>,
    /// The requests of the last test of all of several: what it answers does not change before they are complete.
    together: RefCell<Vec<Rc<Pending>>>,
    /// The memory of windows that it has looked at in these.
    pub(super) looked: RefCell<Vec<Looked>>,
    /// How often it has waited for a change of that.
    pub(super) time: Cell<u32>,
    /// Whether this call has not polled yet: what one call polls, it polls in one state.
    pub is_first: Cell<bool>,
    /// Work that is over whenever somebody asks.
    pub already_over: Cell<Option<ActivityId>>,
    /// Whether what it asks is a part of a poll.
    pub(super) is_polling: Cell<bool>,
}

fn admits(criteria: &Criteria, context: u32, content: &Content) -> bool {
    criteria.context == context
        && criteria.source.is_none_or(|source| source as i32 == content.source)
        && criteria.tag.is_none_or(|tag| tag == content.tag)
}

/// The place of a message among those of its sender.
fn order(content: &Content) -> u32 {
    let sent = content.sent.as_ref().and_then(|sent| sent.clock.get(content.process as usize));
    sent.copied().unwrap_or(0)
}

impl Rank {
    /// The process does something else than to poll.
    pub fn does_more(&self, simcall: &Simcall) {
        if self.world.explored && !self.polling.is_polling.get() && crate::progress::is_move(simcall) {
            self.forgets_polls();
        }
    }

    /// What was polled so far does not count any more.
    pub fn forgets_polls(&self) {
        if self.world.explored {
            if !self.polling.seen.borrow().is_empty() {
                self.polling.seen.borrow_mut().clear();
                self.spins_no_longer();
            }
            self.polling.polled.borrow_mut().clear();
            self.polling.together.borrow_mut().clear();
            self.polling.probed.borrow_mut().clear();
            self.polling.looked.borrow_mut().clear();
        }
    }

    /// A poll will answer here. What an earlier one has answered here is no part of the state in which this one is made.
    pub(crate) fn answers_anew(&self, place: *mut i32) {
        if self.world.explored && !place.is_null() {
            // SAFETY: the program wants the answer there.
            unsafe { place.write(0) };
        }
    }

    /// The process is about to look whether one of these is over. If it did so before in the same state, it waits.
    pub fn polls(&self, activities: &[ActivityId]) {
        if !self.world.explored {
            return;
        }
        self.polling.polled.borrow_mut().extend_from_slice(activities);
        self.spins(None);
    }

    /// The process is about to test whether all of these are complete.
    pub fn polls_together<'a>(&self, requests: impl Iterator<Item = &'a Rc<Pending>>) {
        if self.world.explored {
            self.polling.together.replace(requests.cloned().collect());
        }
    }

    /// The process polls, maybe for a message like this.
    pub(super) fn spins(&self, sought: Option<&Criteria>) {
        if !self.polling.is_first.replace(false) {
            return;
        }
        // What others do to windows is looked at when something is waited for.
        let Some(state) = os::state_without(&self.exposed_memory()) else { return };
        if self.polling.seen.borrow_mut().insert(state) {
            return;
        }
        if self.spins_beside_atomics() {
            self.gives_up(ATOMICS);
        }
        let mut activities = self.polling.polled.take();
        let (probed, looked) = (self.polling.probed.take(), self.polling.looked.take());
        if !looked.is_empty() && !self.tells_changes() {
            // It is explored once more, by one who knows.
            self.world.watches.is_seen();
            if self.procedure.get() == Some(Procedure::WinSync) {
                self.world.flags.is_seen();
            }
            self.waits_for_ever();
        }
        self.polling.seen.borrow_mut().clear();
        activities.sort_unstable();
        activities.dedup();
        // Those that a request still waits for.
        activities.retain(|activity| self.owner(*activity).is_some() || self.is_awaited(*activity));
        let together = self.polling.together.take();
        if self.procedure.get() == Some(Procedure::Testall)
            && probed.is_empty()
            && looked.is_empty()
            && activities
                .iter()
                .all(|activity| together.iter().any(|request| request.waits_for(self).contains(activity)))
        {
            together.iter().for_each(|request| self.wait_for(request));
            return;
        }
        // If that is one request, it waits until all of it is over; of partitions the program may look for one alone.
        if let (true, [activity]) = (probed.is_empty() && looked.is_empty(), &activities[..])
            && let Some(request) = self.owner(*activity)
            && !matches!(request.persistent.as_deref(), Some(Persistent::PartitionedReceive(_)))
        {
            self.wait_for(&request);
            return;
        }
        let before = self.polling.is_polling.replace(true);
        let change = if looked.is_empty() { None } else { self.waits_for_change(&looked) };
        if change.is_none() && !looked.is_empty() {
            self.polling.is_polling.set(before);
            return;
        }
        let mut posted = Vec::new();
        for criteria in probed {
            if !posted.iter().any(|(known, _)| *known == criteria) {
                posted.push((criteria, self.posts(criteria)));
            }
        }
        activities.extend(posted.iter().map(|(_, activity)| *activity));
        activities.extend(change);
        if activities.is_empty() {
            self.waits_for_ever();
        }
        let there = self.polling.found.borrow().len();
        let (index, result) = self.wait_any(activities.iter().copied().collect());
        let over = activities[index];
        match (posted.iter().position(|(_, activity)| *activity == over), self.owner(over)) {
            (Some(place), _) => {
                let (criteria, _) = posted.remove(place);
                if let Ok(payload) = result {
                    self.keeps(criteria.context, payload);
                }
            }
            (None, Some(request)) => request.over(self, over, result),
            (None, None) if Some(over) == change => {}
            (None, None) => self.has_heard(over, result),
        }
        if let Some(change) = change {
            if change != over && !matches!(self.ask(Simcall::Withdraw(change)), Answer::Flag(true)) {
                // It has come as well.
                let _come = self.wait_any([change].into_iter().collect());
            }
            // Who was told of the only thing that was watched waits for nothing more.
            if change != over || looked.len() > 1 {
                self.waits_no_longer(&looked);
            }
        }
        for (criteria, activity) in posted {
            self.takes_back(criteria, activity);
        }
        self.polling.is_polling.set(before);
        // Its send would be over, which the program has not received, and is not told of now.
        let is_early = |(context, content): &(u32, Box<Content>)| {
            content.sent.as_ref().is_some_and(|sent| sent.is_synchronous)
                && !sought.is_some_and(|sought| admits(sought, *context, content))
        };
        if self.polling.found.borrow()[there..].iter().any(is_early) {
            self.gives_up("synchronous sends to a process that probes in a loop and waits for something else, too, are not explored yet");
        }
    }

    /// The request that waits for an activity.
    fn owner(&self, activity: ActivityId) -> Option<Rc<Pending>> {
        self.requests.borrow().iter().find(|request| request.waits_for(self).contains(&activity)).cloned()
    }

    fn posts(&self, criteria: Criteria) -> ActivityId {
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        match self.ask(Simcall::Recv(request, Follow::Return)) {
            Answer::Activity(activity) => activity,
            other => unreachable!("a receive is not answered by {other:?}"),
        }
    }

    fn keeps(&self, context: u32, payload: Option<Payload>) {
        let content = Content::of(payload.expect("a receive brings something"));
        self.learns(&content);
        self.polling.found.borrow_mut().push((context, content));
    }

    /// Takes a receive back; what it has met is kept.
    fn takes_back(&self, criteria: Criteria, activity: ActivityId) {
        if let Answer::Flag(true) = self.ask(Simcall::Withdraw(activity)) {
            return;
        }
        let (_, result) = self.wait_any([activity].into_iter().collect());
        if let Ok(payload) = result {
            self.keeps(criteria.context, payload);
        }
    }

    /// Looks for a message, and waits for one if that is said.
    ///
    /// # Errors
    /// If it is lost.
    pub fn finds(&self, criteria: Criteria, waits: bool) -> crate::error::Result<Option<Status>> {
        if self.first_found(&criteria).is_none() {
            if waits {
                self.polling.is_polling.set(true);
                let activity = self.posts(criteria);
                let (_, result) = self.wait_any([activity].into_iter().collect());
                self.polling.is_polling.set(false);
                self.keeps(criteria.context, result.map_err(gone)?);
            } else {
                self.polling.probed.borrow_mut().push(criteria);
                self.spins(Some(&criteria));
                self.polling.is_polling.set(true);
                if self.first_found(&criteria).is_none() {
                    let activity = self.posts(criteria);
                    self.takes_back(criteria, activity);
                }
                self.polling.is_polling.set(false);
            }
        }
        let found = self.polling.found.borrow();
        let status = self.first_found(&criteria).map(|place| {
            let content = &found[place].1;
            Status::new(content.source, content.tag, content.data.len() as i64)
        });
        if status.is_some() {
            drop(found);
            self.forgets_polls();
        }
        Ok(status)
    }

    /// The first message that was found and fits.
    fn first_found(&self, criteria: &Criteria) -> Option<usize> {
        self.polling.found.borrow().iter().position(|(context, content)| admits(criteria, *context, content))
    }

    /// The message that a receive gets, if a probe has found one for it.
    pub fn takes_found(&self, criteria: &Criteria) -> Option<Box<Content>> {
        if !self.world.explored {
            return None;
        }
        let place = self.first_found(criteria)?;
        let (_, content) = self.polling.found.borrow_mut().remove(place);
        if criteria.source.is_some() && criteria.tag.is_some() {
            return Some(content);
        }
        // Another one may have come that fits as well; one of the same sender only if it was sent before.
        let there = self.polling.found.borrow().len();
        let activity = self.posts(*criteria);
        self.takes_back(*criteria, activity);
        let mut found = self.polling.found.borrow_mut();
        if found.len() == there {
            return Some(content);
        }
        let (context, other) = found.pop().expect("one was added");
        if other.process == content.process && order(&content) < order(&other) {
            found.push((context, other));
            return Some(content);
        }
        found.push((context, content));
        Some(other)
    }
}
