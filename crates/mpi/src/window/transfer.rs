//! Puts and gets, and what is under way between two processes of a window (MPI 5.0, 12.3).

use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::ids::{ActivityId, MutexId};
use simurgh_kernel::simcall::{Answer, Failure, Follow, OnTimeout, Simcall};
use simurgh_models::Transfer;

use super::accumulate::Accumulation;
use super::{Exposed, Window};
use crate::abi;
use crate::datatype::Type;
use crate::error::{Result, fail};
use crate::message::{Content, Data};
use crate::p2p::HEADER;
use crate::rank::Rank;
use crate::request::{Several, Then, gone};
use crate::verify;

/// Elements of memory, at the origin or at the target.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Where they are.
    pub buffer: *mut c_void,
    /// How many.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
}

impl Operation {
    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.datatype.size * self.count
    }

    /// The data, without gaps.
    pub fn data(&self) -> Data {
        let mut data = Data::new();
        // SAFETY: the program says that so many elements lie there; at a target they lie in its window.
        unsafe { self.datatype.pack(self.buffer, self.count, &mut data) };
        data
    }

    /// Where they lie, from the first byte to the last.
    pub(super) fn ranges(&self) -> [(usize, usize); 1] {
        let (low, high) = span(&self.datatype, self.count);
        let start = self.buffer as usize;
        [(start.wrapping_add_signed(low as isize), start.wrapping_add_signed(high as isize))]
    }

    /// Puts data there.
    pub fn put(&self, data: &[u8]) {
        // SAFETY: the program says that there is room for so many elements; at a target they lie in its window.
        unsafe { self.datatype.unpack(data, self.buffer, self.count) };
    }
}

/// Whether all addresses from one to another lie in attached memory: in several pieces, if they are neighbours.
fn is_covered(low: i128, high: i128, attached: &[(usize, i64)]) -> bool {
    let mut covered = low;
    while covered < high {
        let around = attached.iter().map(|(base, size)| (*base as i128, *base as i128 + i128::from(*size)));
        let Some((_, end)) = around.into_iter().find(|(start, end)| *start <= covered && covered < *end)
        else {
            return false;
        };
        covered = end;
    }
    true
}

/// From which byte to which elements have data, relative to their address.
fn span(datatype: &Type, count: usize) -> (i64, i64) {
    if count == 0 || datatype.size == 0 {
        return (0, 0);
    }
    let last = datatype.extent.saturating_mul(count as i64 - 1);
    let (low, high) = (datatype.true_lb, datatype.true_lb.saturating_add(datatype.true_extent));
    (low.saturating_add(last.min(0)), high.saturating_add(last.max(0)))
}

/// What a call accesses: the elements at the origin, whose they are, and those at the target.
#[derive(Debug)]
pub struct Access {
    /// The window.
    pub window: Rc<Window>,
    /// The rank of the target.
    pub rank: usize,
    /// At the origin.
    pub origin: Operation,
    /// At the target.
    pub target: Operation,
}

/// What is under way: at the window of the target if it is a put, at that of the origin if it is a get.
#[derive(Debug)]
pub(crate) struct Pending {
    number: u64,
    /// Whether the process at whose window it is gets data from the other end.
    is_get: bool,
    /// What takes its time, where that counts.
    activity: Option<ActivityId>,
    /// The rank at the other end.
    with: usize,
    bytes: u64,
    deed: Option<Deed>,
    /// Whether a request waits for it, and nobody else.
    is_requested: bool,
}

/// Which of what is under way at the window of a process is meant.
#[derive(Copy, Clone, Debug)]
enum Meant {
    /// All of it.
    All,
    /// What is under way with a rank, whoever of the two began it.
    With(usize),
    /// What this process gets, from one rank or from all.
    Gets(Option<usize>),
    /// What a rank puts there.
    PutsOf(usize),
}

impl Meant {
    fn has(self, pending: &Pending) -> bool {
        match self {
            Meant::All => true,
            Meant::With(rank) => pending.with == rank,
            Meant::Gets(from) => pending.is_get && from.is_none_or(|rank| pending.with == rank),
            Meant::PutsOf(rank) => !pending.is_get && pending.with == rank,
        }
    }
}

/// What happens to the data.
#[derive(Debug)]
pub(super) enum Deed {
    Put(Data, Operation),
    Get { from: Operation, to: Operation },
    Accumulate(Data, Accumulation, Operation),
}

impl Deed {
    pub(super) fn happens(self) -> Result {
        match self {
            Deed::Put(data, target) => target.put(&data),
            Deed::Get { from, to } => to.put(&from.data()),
            Deed::Accumulate(data, accumulation, target) => accumulation.happens(&data, &target)?,
        }
        Ok(())
    }
}

impl Window {
    /// The elements that a call means at a target.
    ///
    /// # Errors
    /// If they do not lie in its window.
    pub fn target_elements(
        &self,
        rank: usize,
        displacement: i64,
        count: usize,
        datatype: Rc<Type>,
    ) -> Result<Operation> {
        let at = self.exposed(rank);
        if displacement < 0 && !at.is_dynamic {
            return fail(
                abi::ERR_DISP,
                format!("the displacement at the target is {displacement}: it must not be negative"),
            );
        }
        let start = match at.is_dynamic {
            true => i128::from(displacement as u64),
            false => at.base.get() as i128 + i128::from(displacement) * i128::from(at.unit),
        };
        let (low, high) = span(&datatype, count);
        if low < high {
            let (low, high) = (start + i128::from(low), start + i128::from(high));
            let within =
                |base: usize, size: i64| low >= base as i128 && high <= base as i128 + i128::from(size);
            if at.is_dynamic && !is_covered(low, high, &at.attached.borrow()) {
                return fail(
                    abi::ERR_RMA_RANGE,
                    format!(
                        "the memory from {low:#x} to {high:#x} of rank {rank} is not attached to the window"
                    ),
                );
            }
            if !at.is_dynamic && !within(at.base.get(), at.size.get()) {
                let base = at.base.get() as i128;
                return fail(
                    abi::ERR_RMA_RANGE,
                    format!(
                        "bytes {} to {} of the window of rank {rank} are accessed, which has {} bytes",
                        low - base,
                        high - base,
                        at.size.get()
                    ),
                );
            }
        }
        Ok(Operation { buffer: start as usize as *mut c_void, count, datatype })
    }
}

impl Exposed {
    /// Something that is under way is over: what is to be done.
    fn take(&self, number: u64) -> Option<Deed> {
        let mut pending = self.pending.borrow_mut();
        let place = pending.iter().position(|pending| pending.number == number)?;
        pending.remove(place).deed
    }

    fn has_pending(&self, meant: Meant) -> bool {
        self.pending.borrow().iter().any(|pending| meant.has(pending))
    }

    fn first(&self, meant: Meant) -> Option<(u64, Option<ActivityId>, u64)> {
        let pending = self.pending.borrow();
        let found = pending.iter().find(|pending| !pending.is_requested && meant.has(pending))?;
        Some((found.number, found.activity, found.bytes))
    }

    /// Whether a rank puts something there.
    pub(super) fn has_puts_of(&self, origin: usize) -> bool {
        self.has_pending(Meant::PutsOf(origin))
    }

    /// What a rank puts there happens to the data now, however long it takes.
    pub(super) fn settle_puts_of(&self, origin: usize) -> Result {
        self.happen(|pending| Meant::PutsOf(origin).has(pending))
    }

    /// The same, of what this process gets from a rank.
    pub(super) fn settle_gets_from(&self, target: usize) -> Result {
        self.happen(|pending| Meant::Gets(Some(target)).has(pending))
    }

    /// The same, of what a request waits for: a flush means it too, and does not wait for it.
    fn settle_requested(&self, meant: Meant) -> Result {
        let is_meant = |pending: &Pending| pending.is_requested && meant.has(pending);
        let result = self.happen(is_meant);
        self.pending.borrow_mut().retain(|pending| !is_meant(pending));
        result
    }

    fn happen(&self, is_meant: impl Fn(&Pending) -> bool) -> Result {
        let mut result = Ok(());
        loop {
            let deed = {
                let mut pending = self.pending.borrow_mut();
                pending.iter_mut().filter(|pending| is_meant(pending)).find_map(|found| found.deed.take())
            };
            match deed {
                Some(deed) => result = result.and(deed.happens()),
                None => return result,
            }
        }
    }

    /// Notes what is under way.
    fn add(
        &self,
        with: usize,
        bytes: u64,
        activity: Option<ActivityId>,
        deed: Option<Deed>,
        is_requested: bool,
    ) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        let is_get = matches!(deed, Some(Deed::Get { .. }));
        self.pending.borrow_mut().push(Pending { number, is_get, activity, with, bytes, deed, is_requested });
        number
    }
}

impl Rank {
    pub(crate) fn hold(&self, lock: MutexId) {
        self.ask(Simcall::Lock(lock, None));
    }

    pub(crate) fn give_back(&self, lock: MutexId) {
        self.ask(Simcall::Unlock(lock));
    }

    /// Waits for a flow, whoever began it.
    pub(super) fn wait_for_flow(&self, activity: ActivityId, bytes: u64) -> Result {
        let activities = [activity].into_iter().collect();
        let wait = Simcall::WaitAny { activities, timeout: None, on_timeout: OnTimeout::Keep, release: true };
        let (_, result) = self.ask(wait).into_over().expect("a wait ends when something is over");
        self.sleep(self.world.costs.receive.of(bytes));
        match result {
            // Who waited for it before has it forgotten.
            Ok(_) | Err(Failure::Cancelled) => Ok(()),
            Err(failure) => Err(gone(failure)),
        }
    }

    /// Lets data flow from one process to another. Where executions are explored nothing takes time: data are moved by who
    /// completes the access.
    pub(super) fn flow(&self, from: u32, to: u32, bytes: u64) -> Option<ActivityId> {
        if self.world.explored {
            return None;
        }
        let host = |process| self.world.host(process);
        self.sleep(self.world.costs.immediate_send.of(bytes));
        let flow = Transfer::new(host(from), host(to), bytes as f64 + HEADER);
        match self.ask(Simcall::Flow(flow, Follow::Return)) {
            Answer::Activity(activity) => Some(activity),
            other => unreachable!("a flow is not answered by {other:?}"),
        }
    }

    /// Notes what is under way, at a process.
    fn note_pending(
        &self,
        at: &Exposed,
        with: usize,
        bytes: u64,
        activity: Option<ActivityId>,
        deed: Option<Deed>,
    ) {
        if activity.is_none() {
            at.add(with, bytes, activity, deed, false);
            return;
        }
        self.hold(at.names.pending);
        at.add(with, bytes, activity, deed, false);
        self.give_back(at.names.pending);
    }

    /// Waits for what this process puts at a rank.
    ///
    /// In the reference a process waits for what the other one gets from it, too; where executions are explored, what others have
    /// begun is nothing to look at: nothing orders it with what this process does.
    pub(super) fn finish_puts(&self, window: &Window, rank: usize) -> Result {
        let own = window.comm.rank;
        self.finish(window, rank, if self.world.explored { Meant::PutsOf(own) } else { Meant::With(own) })
    }

    /// Waits for what this process gets from a rank, or from all, and puts at itself. In the reference that is all that is under way
    /// there.
    pub(super) fn finish_own(&self, window: &Window, rank: Option<usize>) -> Result {
        let own = window.comm.rank;
        if !self.world.explored {
            return self.finish(window, own, rank.map_or(Meant::All, Meant::With));
        }
        self.finish(window, own, Meant::Gets(rank))?;
        match rank.is_none_or(|rank| rank == own) {
            true => self.finish(window, own, Meant::PutsOf(own)),
            false => Ok(()),
        }
    }

    /// Waits for all that is under way at this process: those who have begun it have said that they have.
    pub(super) fn finish_all(&self, window: &Window) -> Result {
        self.finish(window, window.comm.rank, Meant::All)
    }

    /// Waits for what is under way at a rank; nobody else may note more meanwhile.
    fn finish(&self, window: &Window, rank: usize, meant: Meant) -> Result {
        let at = window.exposed(rank);
        if self.world.explored {
            if !at.has_pending(meant) {
                return Ok(());
            }
            return self.with_memory_of(window, rank, || {
                let mut result = at.settle_requested(meant);
                while let Some((number, ..)) = at.first(meant) {
                    result = result.and(at.take(number).map_or(Ok(()), Deed::happens));
                }
                result
            });
        }
        let mut result = at.settle_requested(meant);
        if at.first(meant).is_none() && !at.is_waited_for.get() {
            return result;
        }
        self.hold(at.names.pending);
        at.is_waited_for.set(true);
        while let Some((number, activity, bytes)) = at.first(meant) {
            if let Some(activity) = activity {
                result = result.and(self.wait_for_flow(activity, bytes));
            }
            if let Some(deed) = at.take(number) {
                result = result.and(deed.happens());
            }
        }
        at.is_waited_for.set(false);
        self.give_back(at.names.pending);
        result
    }

    /// Begins a put, or something like it. To itself it is over at once, unless it takes a message all the same.
    pub(super) fn begin_put(&self, access: &Access, deed: Deed, also_to_itself: bool) -> Result {
        let Access { window, rank, origin, .. } = access;
        window.has_news();
        self.forgets_polls();
        if *rank == window.comm.rank && !also_to_itself {
            return self.with_memory_of(window, *rank, || deed.happens());
        }
        let (at, bytes) = (window.exposed(*rank), origin.bytes() as u64);
        let activity = self.flow(self.process, at.process, bytes);
        self.note_pending(at, window.comm.rank, bytes, activity, Some(deed));
        Ok(())
    }

    /// `MPI_Put`.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn put(&self, access: &Access) -> Result {
        self.check_access(access, verify::Deed::Put);
        let deed = Deed::Put(access.origin.data(), access.target.clone());
        self.begin_put(access, deed, false)
    }

    /// `MPI_Get`, and `MPI_Rget`, where a request waits for it: for what, unless the data are there.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn get(&self, access: &Access, is_requested: bool) -> Result<Option<(Option<ActivityId>, Fetched)>> {
        self.check_access(access, verify::Deed::Get);
        let Access { window, rank, origin, target } = access;
        if *rank == window.comm.rank {
            origin.put(&target.data());
            self.looks_at(window);
            return Ok(None);
        }
        window.has_news();
        let bytes = origin.bytes() as u64;
        let deed = Some(Deed::Get { from: target.clone(), to: origin.clone() });
        let at = window.exposed(*rank);
        let activity = self.flow(at.process, self.process, bytes);
        if at.is_waited_for.get() {
            // Who waits at the target keeps others off.
            self.hold(at.names.pending);
            self.give_back(at.names.pending);
        }
        if !is_requested {
            self.note_pending(window.mine(), *rank, bytes, activity, deed);
            return Ok(None);
        }
        let number = window.mine().add(*rank, bytes, activity, deed, true);
        Ok(Some((activity, Fetched { window: Rc::clone(window), number })))
    }

    /// Waits until data have come from the target, as a get does, but nothing happens to any.
    pub(super) fn wait_for_data_from(&self, window: &Window, rank: usize, bytes: u64) -> Result {
        if rank == window.comm.rank {
            return Ok(());
        }
        let activity = self.flow(window.exposed(rank).process, self.process, bytes);
        activity.map_or(Ok(()), |activity| self.wait_for_flow(activity, bytes))
    }

    /// Begins a flow to a target with which nothing comes that is not there.
    pub(super) fn begin_flow_to(&self, window: &Window, rank: usize, bytes: u64) {
        if rank != window.comm.rank {
            let at = window.exposed(rank);
            let activity = self.flow(self.process, at.process, bytes);
            self.note_pending(at, window.comm.rank, bytes, activity, None);
        }
    }
}

/// The data of a get that a request waits for.
#[derive(Debug)]
pub struct Fetched {
    window: Rc<Window>,
    number: u64,
}

impl Several for Fetched {
    fn arrived(&mut self, _me: &Rank, _number: u32, _message: Option<Box<Content>>) -> Result {
        Ok(())
    }

    fn finish(&mut self, _me: &Rank) -> Result<Then> {
        // A flush may have been there before.
        self.window.mine().take(self.number).map_or(Ok(()), Deed::happens)?;
        Ok(Then::Complete)
    }
}

impl Access {
    /// Checks that as many bytes are moved as have room.
    ///
    /// # Errors
    /// If they have not.
    pub fn check(&self) -> Result {
        let (origin, target) = (self.origin.bytes(), self.target.bytes());
        if origin != target {
            return fail(
                abi::ERR_TYPE,
                format!("{origin} bytes at the origin do not match {target} bytes at the target"),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Predefined;

    #[test]
    fn neighbours_are_attached_together() {
        let attached = [(200, 50), (100, 100), (300, 10)];
        for (low, high, expected) in [
            (100, 250, true),
            (100, 251, false),
            (99, 110, false),
            (240, 301, false),
            (300, 310, true),
            (150, 150, true),
        ] {
            assert_eq!(is_covered(low, high, &attached), expected, "{low} to {high}");
        }
    }

    #[test]
    fn spans() {
        let int = Predefined::default().get(abi::INT).expect("it is there");
        assert_eq!(span(&int, 0), (0, 0));
        assert_eq!(span(&int, 3), (0, 12));
        let vector = Type::hvector(2, 1, -8, &int, false).expect("it is made");
        assert_eq!(span(&vector, 1), (-8, 4));
        let backward = Type::resized(&int, 0, -8, false).expect("it is made");
        assert_eq!(span(&backward, 3), (-16, 4));
    }
}
