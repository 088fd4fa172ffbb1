//! Requests from their start to their completion: the start, wait and test families (MPI 5.0, 3.7 to 3.9).

use std::rc::Rc;

use smallvec::SmallVec;

use crate::abi::{self, Comm, Request, Status};
use crate::error::{Error, On, Result, fail};
use crate::p2p::{Begun, Context, Incoming, Manner, Posted};
use crate::rank::Rank;
use crate::request::{Pending, Persistent, Work};

impl Rank {
    /// A request; none for `MPI_REQUEST_NULL`.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn request(&self, request: Request) -> Result<Option<Rc<Pending>>> {
        if request == abi::REQUEST_NULL {
            return Ok(None);
        }
        match self.requests.borrow().get(request.0) {
            Some(found) => Ok(Some(Rc::clone(found))),
            None => fail(
                abi::ERR_REQUEST,
                format!(
                    "no request has the handle {:#x}: it was completed or freed, or never made",
                    request.0
                ),
            ),
        }
    }

    /// Begins a persistent request.
    ///
    /// # Errors
    /// If it is not one, or is under way, or cannot be begun.
    pub fn start(&self, request: &Rc<Pending>) -> Result {
        let Some(persistent) = request.persistent.as_deref() else {
            return fail(
                abi::ERR_REQUEST,
                "the request is not persistent: only those of MPI_..._init are started",
            );
        };
        if request.active.get() {
            return fail(
                abi::ERR_REQUEST,
                "the request is active: it is waited for before it is started again",
            );
        }
        match persistent {
            Persistent::Send(send) => {
                let manner = if self.world.explored { Manner::Immediate } else { Manner::Blocking };
                let activity = match self.post_send(send, manner)? {
                    Posted::Done => None,
                    Posted::UnderWay(activity) => Some(activity),
                };
                let sent = self.moment_of_send();
                request.begins(activity, Work::Nothing, Status::empty());
                self.owns(request, || send.uses());
                request.posted.set(sent);
                request.detached.set(self.detached.take());
            }
            Persistent::Receive(receive @ Incoming { landing, source, tag, comm }) => {
                let Some(criteria) = self.criteria(comm, Context::User, *source, *tag)? else {
                    request.begins([], Work::Nothing, Status::of_nobody());
                    self.has_begun(request);
                    return Ok(());
                };
                if let Some(content) = self.takes_found(&criteria) {
                    request.begins([], Work::Receive(landing.clone()), Status::empty());
                    request.has_come(self, content);
                    self.has_begun(request);
                    return Ok(());
                }
                match self.begin_receive(criteria) {
                    Begun::Known(activity) => {
                        request.begins([activity], Work::Receive(landing.clone()), Status::empty());
                    }
                    Begun::Left => {
                        request.begins_untold(landing.clone());
                        self.is_left(Rc::clone(request));
                    }
                }
                self.owns(request, || receive.uses());
            }
            Persistent::PartitionedSend(send) => send.begin(self, request)?,
            Persistent::PartitionedReceive(receive) => receive.begin(self, request)?,
            Persistent::Other(begin) => {
                let (activities, work) = begin.begin(self)?;
                request.begins(activities, work, Status::empty());
                request.settle(self);
                self.owns(request, || begin.uses());
            }
        }
        self.has_begun(request);
        Ok(())
    }

    /// Takes what a completed request came to. One that is not persistent is gone, and so is its handle.
    ///
    /// # Errors
    /// What went wrong.
    pub fn complete(
        &self,
        place: *mut Request,
        request: &Pending,
    ) -> std::result::Result<Status, (Error, Status)> {
        let outcome = request.outcome.replace(Ok(Status::empty()));
        let outcome = match request.ended(self) {
            Ok(Some(status)) => Ok(status),
            Ok(None) => outcome.map_err(|wrong| *wrong),
            Err(error) => Err((error, Status::empty())),
        };
        request.active.set(false);
        self.owns_no_longer(request);
        if request.persistent.is_none() {
            // SAFETY: the program gave the place of the handle.
            unsafe {
                self.requests.borrow_mut().remove((*place).0);
                place.write(abi::REQUEST_NULL);
            }
        }
        outcome
    }

    /// Whose errors those of a request are.
    fn on(&self, request: &Pending) -> On {
        match &request.comm {
            Some(comm) => self.handle_of(comm).map_or(On::Nothing, On::Comm),
            None => On::Nothing,
        }
    }

    /// The handle of a communicator, if it has one still.
    fn handle_of(&self, comm: &Rc<crate::communicator::Communicator>) -> Option<Comm> {
        if Rc::ptr_eq(comm, &self.comm_world) {
            return Some(abi::COMM_WORLD);
        }
        if Rc::ptr_eq(comm, &self.comm_self) {
            return Some(abi::COMM_SELF);
        }
        self.comms.borrow().find(|other| Rc::ptr_eq(other, comm)).map(Comm)
    }
}

pub fn start(me: &Rank, request: *mut Request) -> Result {
    // SAFETY: the program gives its request.
    match me.request(unsafe { *request })? {
        Some(found) => me.start(&found),
        None => fail(abi::ERR_REQUEST, "the request is MPI_REQUEST_NULL"),
    }
}

pub fn startall(me: &Rank, count: i32, array_of_requests: *mut Request) -> Result {
    for index in 0..length(count)? {
        // SAFETY: the program gives so many.
        start(me, unsafe { array_of_requests.add(index) })?;
    }
    Ok(())
}

pub(super) fn length(count: i32) -> Result<usize> {
    usize::try_from(count)
        .or_else(|_| fail(abi::ERR_COUNT, format!("the count is {count}: it must not be negative")))
}

/// Writes a status, and gives what went wrong, to the error handler of the request's communicator.
fn told(me: &Rank, place: *mut Request, request: &Pending, status: *mut Status) -> Result {
    let on = me.on(request);
    super::p2p::told(me.complete(place, request), status).map_err(|error| match error.on {
        Some(_) => error,
        None => error.on(on),
    })
}

/// Writes the status of what is not there.
pub(super) fn told_nothing(status: *mut Status) {
    // SAFETY: the program gives a status, or none.
    unsafe { Status::write_empty(status) };
}

pub fn wait(me: &Rank, request: *mut Request, status: *mut Status) -> Result {
    // SAFETY: the program gives its request.
    let found = me.request(unsafe { *request })?;
    me.check_waited(found.as_deref());
    let Some(found) = found.filter(|found| found.active.get()) else {
        told_nothing(status);
        return Ok(());
    };
    let waited = [(0, found)];
    me.wait_for_all(&waited);
    let [(_, found)] = waited;
    let outcome = told(me, request, &found, status);
    me.spares.keep(found);
    outcome
}

/// The requests of an array that are under way, by their places. Whoever does not need them any more may [put](put_back) them back.
fn active(me: &Rank, count: i32, array: *mut Request) -> Result<Vec<(usize, Rc<Pending>)>> {
    let mut active = std::mem::take(&mut *me.in_hand.borrow_mut());
    active.clear();
    active.reserve(length(count)?);
    for index in 0..length(count)? {
        // SAFETY: the program gives so many.
        let found = me.request(unsafe { *array.add(index) })?;
        me.check_waited(found.as_deref());
        if let Some(found) = found.filter(|found| found.active.get()) {
            active.push((index, found));
        }
    }
    me.check_distinct(&active);
    Ok(active)
}

/// Requests that are complete, and the memory of their list, are kept for others.
fn put_back(me: &Rank, mut requests: Vec<(usize, Rc<Pending>)>) {
    for (_, request) in requests.drain(..) {
        me.spares.keep(request);
    }
    *me.in_hand.borrow_mut() = requests;
}

/// The one of this place.
fn at(requests: &[(usize, Rc<Pending>)], place: usize) -> Rc<Pending> {
    let found = requests.iter().find(|(index, _)| *index == place);
    Rc::clone(&found.expect("it is one of them").1)
}

pub fn waitany(
    me: &Rank,
    count: i32,
    array_of_requests: *mut Request,
    index: *mut i32,
    status: *mut Status,
) -> Result {
    let requests = active(me, count, array_of_requests)?;
    if requests.is_empty() {
        // SAFETY: the program wants the place there.
        unsafe { index.write(abi::UNDEFINED) };
        told_nothing(status);
        return Ok(());
    }
    let place = me.wait_for_one(&requests);
    // SAFETY: the program wants the place there; there are so many requests.
    unsafe { index.write(place as i32) };
    told(me, unsafe { array_of_requests.add(place) }, &at(&requests, place), status)
}

/// Completes these, and writes the status of each to its place; errors go to the statuses (3.7.5).
fn told_all(
    me: &Rank,
    requests: &[(usize, Rc<Pending>)],
    array: *mut Request,
    statuses: *mut Status,
    place_of: impl Fn(usize, usize) -> usize,
) -> Result {
    let mut wrong = None;
    let mut codes = SmallVec::<[i32; 16]>::new();
    for (number, (index, request)) in requests.iter().enumerate() {
        // SAFETY: there are so many requests.
        let outcome = me.complete(unsafe { array.add(*index) }, request);
        let (status, code) = match outcome {
            Ok(status) => (status, abi::SUCCESS),
            Err((error, status)) => {
                let code = error.class;
                wrong.get_or_insert_with(|| (error, me.on(request)));
                (status, code)
            }
        };
        if !statuses.is_null() {
            // SAFETY: there is a status for each.
            unsafe { status.write(statuses.add(place_of(number, *index))) };
            codes.push(code);
        }
    }
    if wrong.is_some() {
        for (number, code) in codes.into_iter().enumerate() {
            // SAFETY: there is a status for each.
            unsafe { (*statuses.add(place_of(number, requests[number].0))).error = code };
        }
    }
    match wrong {
        None => Ok(()),
        Some((error, on)) if statuses.is_null() => Err(error.on(on)),
        Some((error, on)) => Err(Error::new(abi::ERR_IN_STATUS, error.message).on(on)),
    }
}

pub fn waitall(
    me: &Rank,
    count: i32,
    array_of_requests: *mut Request,
    array_of_statuses: *mut Status,
) -> Result {
    let requests = active(me, count, array_of_requests)?;
    if me.world.costs.receive.is_nothing() {
        me.wait_for_all(&requests);
    } else {
        // What a receive costs is paid in the order in which they are completed.
        let mut rest = requests.clone();
        while !rest.is_empty() {
            let place = me.wait_for_one(&rest);
            rest.retain(|(index, _)| *index != place);
        }
    }
    if !array_of_statuses.is_null() {
        for index in 0..length(count)? {
            // SAFETY: there is a status for each.
            told_nothing(unsafe { array_of_statuses.add(index) });
        }
    }
    let outcome = told_all(me, &requests, array_of_requests, array_of_statuses, |_, index| index);
    put_back(me, requests);
    outcome
}

pub fn waitsome(
    me: &Rank,
    incount: i32,
    array_of_requests: *mut Request,
    outcount: *mut i32,
    array_of_indices: *mut i32,
    array_of_statuses: *mut Status,
) -> Result {
    let requests = active(me, incount, array_of_requests)?;
    if requests.is_empty() {
        // SAFETY: the program wants the number there.
        unsafe { outcount.write(abi::UNDEFINED) };
        return Ok(());
    }
    let first = me.wait_for_one(&requests);
    let mut done = vec![(first, at(&requests, first))];
    for (index, request) in &requests {
        if *index != first && me.poll(request) {
            done.push((*index, Rc::clone(request)));
        }
    }
    done.sort_by_key(|(index, _)| *index);
    told_some(me, &done, array_of_requests, outcount, array_of_indices, array_of_statuses)
}

fn told_some(
    me: &Rank,
    done: &[(usize, Rc<Pending>)],
    requests: *mut Request,
    outcount: *mut i32,
    indices: *mut i32,
    statuses: *mut Status,
) -> Result {
    // SAFETY: the program wants the number there, and has room for as many places as requests.
    unsafe {
        outcount.write(done.len() as i32);
        for (number, (index, _)) in done.iter().enumerate() {
            indices.add(number).write(*index as i32);
        }
    }
    told_all(me, done, requests, statuses, |number, _| number)
}

impl Rank {
    /// Looks whether a request is complete, at the cost of a test.
    pub fn poll(&self, request: &Pending) -> bool {
        self.awaits(request, 1);
        let polls = &self.world.polls.test;
        self.spend(f64::from(polls.get()) * self.world.costs.test);
        // A collective pays for itself, and for each of its messages, those that have come too.
        // What an earlier test has found costs as much, and counts as no attempt.
        let messages = if self.world.explored { Vec::new() } else { request.messages() };
        for (place, message) in messages.iter().enumerate() {
            self.spend(f64::from(polls.get()) * self.world.costs.test);
            if request.was_found(place) {
                continue;
            }
            let over = message.is_none_or(|number| self.test_message(request, number));
            if over {
                request.is_found(place);
            }
            self.has_polled(polls, over);
        }
        let complete = if messages.is_empty() { self.test(request) } else { request.is_complete() };
        self.has_polled(polls, complete);
        complete
    }

    /// Polling in vain costs more each time.
    pub fn has_polled(&self, polls: &crate::world::Counter, found: bool) {
        let grows = self.world.costs.polling_grows;
        polls.set(if found || !grows { 1 } else { polls.get().saturating_add(1) });
        self.polled(found);
    }
}

pub fn test(me: &Rank, request: *mut Request, flag: *mut i32, status: *mut Status) -> Result {
    me.answers_anew(flag);
    // SAFETY: the program gives its request, and wants the answer there.
    let found = me.request(unsafe { *request })?.filter(|found| found.active.get());
    let Some(found) = found else {
        // SAFETY: as above.
        unsafe { flag.write(1) };
        told_nothing(status);
        return Ok(());
    };
    let complete = me.poll(&found);
    // SAFETY: as above.
    unsafe { flag.write(i32::from(complete)) };
    if complete { told(me, request, &found, status) } else { Ok(()) }
}

pub fn testany(
    me: &Rank,
    count: i32,
    array_of_requests: *mut Request,
    index: *mut i32,
    flag: *mut i32,
    status: *mut Status,
) -> Result {
    me.answers_anew(flag);
    me.answers_anew(index);
    let requests = active(me, count, array_of_requests)?;
    if requests.is_empty() {
        // SAFETY: the program wants the answers there.
        unsafe {
            flag.write(1);
            index.write(abi::UNDEFINED);
        }
        told_nothing(status);
        return Ok(());
    }
    // What is complete without a message costs nothing, and counts as no attempt.
    let polls = &me.world.polls.test_any;
    let costs = requests.iter().any(|(_, request)| !request.waits_for(me).is_empty());
    if costs {
        me.spend(f64::from(polls.get()) * me.world.costs.test);
    }
    let found = me.test_any(&requests);
    if costs {
        polls.set(if found.is_some() { 1 } else { polls.get().saturating_add(1) });
        me.polled(found.is_some());
    }
    // SAFETY: the program wants the answers there.
    unsafe {
        flag.write(i32::from(found.is_some()));
        index.write(found.map_or(abi::UNDEFINED, |place| place as i32));
    }
    match found {
        // SAFETY: there are so many requests.
        Some(place) => told(me, unsafe { array_of_requests.add(place) }, &at(&requests, place), status),
        None => Ok(()),
    }
}

pub fn testall(
    me: &Rank,
    count: i32,
    array_of_requests: *mut Request,
    flag: *mut i32,
    array_of_statuses: *mut Status,
) -> Result {
    me.answers_anew(flag);
    let requests = active(me, count, array_of_requests)?;
    let mut all = true;
    me.polls_together(requests.iter().map(|(_, request)| request));
    for (_, request) in &requests {
        // One that a test before has found complete costs nothing more.
        if request.was_seen.get() && request.persistent.is_none() {
            continue;
        }
        request.was_seen.set(me.poll(request));
        all &= request.was_seen.get();
        // The program is told nothing of the others.
        if !all && me.world.explored {
            break;
        }
    }
    // SAFETY: the program wants the answer there.
    unsafe { flag.write(i32::from(all)) };
    if !all {
        return Ok(());
    }
    if !array_of_statuses.is_null() {
        for index in 0..length(count)? {
            // SAFETY: there is a status for each.
            told_nothing(unsafe { array_of_statuses.add(index) });
        }
    }
    told_all(me, &requests, array_of_requests, array_of_statuses, |_, index| index)
}

pub fn testsome(
    me: &Rank,
    incount: i32,
    array_of_requests: *mut Request,
    outcount: *mut i32,
    array_of_indices: *mut i32,
    array_of_statuses: *mut Status,
) -> Result {
    me.answers_anew(outcount);
    let requests = active(me, incount, array_of_requests)?;
    if requests.is_empty() {
        // SAFETY: the program wants the number there.
        unsafe { outcount.write(abi::UNDEFINED) };
        return Ok(());
    }
    let done: Vec<_> = requests.into_iter().filter(|(_, request)| me.poll(request)).collect();
    told_some(me, &done, array_of_requests, outcount, array_of_indices, array_of_statuses)
}

pub fn request_free(me: &Rank, request: *mut Request) -> Result {
    // SAFETY: the program gives its request.
    let handle = unsafe { *request };
    let Some(found) = me.request(handle)? else {
        return fail(abi::ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    };
    found.is_freed(me)?;
    me.ends_cancelled(&found);
    me.check_freed(&found);
    me.owns_unless_received(&found);
    me.requests.borrow_mut().remove(handle.0);
    if found.active.get() && !found.is_complete() {
        // What is under way goes on; a receive is still put into its place.
        me.orphans.borrow_mut().push(found);
    }
    // SAFETY: as above.
    unsafe { request.write(abi::REQUEST_NULL) };
    Ok(())
}
