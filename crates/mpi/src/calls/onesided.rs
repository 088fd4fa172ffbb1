//! One-sided communication and its synchronisation (MPI 5.0, 12.3 to 12.5).

use std::ffi::c_void;

use super::p2p::Elements;
use super::windows::tell;
use crate::abi::{self, Datatype, Group, Op, Request, Status, Win};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::request::{Pending, Work};
use crate::window::{Access, Accumulation, Hold, Operation, Window, check_swapped};

impl From<Elements> for Operation {
    fn from(Elements { buffer, count, datatype }: Elements) -> Self {
        Operation { buffer, count, datatype }
    }
}

/// Elements at a target, as a program gives them.
struct Target {
    rank: i32,
    displacement: i64,
    count: i64,
    datatype: Datatype,
}

impl Target {
    /// The rank, if it is not `MPI_PROC_NULL`, and the elements in its window.
    fn find(&self, me: &Rank, window: &Window) -> Result<Option<(usize, Operation)>> {
        let rank = window.target(self.rank)?;
        let Ok(count) = usize::try_from(self.count) else {
            return fail(
                abi::ERR_COUNT,
                format!("the count at the target is {}: it must not be negative", self.count),
            );
        };
        let datatype = me.committed(self.datatype)?;
        let Some(rank) = rank else { return Ok(None) };
        window.may_access(rank)?;
        Ok(Some((rank, window.target_elements(rank, self.displacement, count, datatype)?)))
    }
}

/// What a put, a get or an accumulate accesses; nothing if the target is nobody.
fn access(me: &Rank, origin: Operation, target: &Target, win: Win) -> Result<Option<Access>> {
    let window = me.window(win)?;
    let Some((rank, elements)) = target.find(me, &window)? else { return Ok(None) };
    let access = Access { window, rank, origin, target: elements };
    access.check()?;
    Ok(Some(access))
}

/// Checks that an access may have a request.
fn may_request(me: &Rank, target_rank: i32, win: Win) -> Result {
    let window = me.window(win)?;
    if target_rank == abi::PROC_NULL { Ok(()) } else { window.epochs().request() }
}

/// A request that is complete.
fn completed(me: &Rank, request: *mut Request) -> Result {
    let pending = Pending::complete(Status::empty(), None);
    me.is_requested(&pending);
    tell(request, me.keep(pending))
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn put(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    win: Win,
) -> Result {
    me.window(win)?;
    let origin = me.elements(origin_addr, origin_count, origin_datatype)?.into();
    let target = Target {
        rank: target_rank,
        displacement: target_disp,
        count: target_count,
        datatype: target_datatype,
    };
    access(me, origin, &target, win)?.map_or(Ok(()), |access| me.put(&access))
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn rput(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    win: Win,
    request: *mut Request,
) -> Result {
    may_request(me, target_rank, win)?;
    put(
        me,
        origin_addr,
        origin_count,
        origin_datatype,
        target_rank,
        target_disp,
        target_count,
        target_datatype,
        win,
    )?;
    completed(me, request)
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn get(
    me: &Rank,
    origin_addr: *mut c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    win: Win,
) -> Result {
    me.window(win)?;
    let origin = me.elements(origin_addr, origin_count, origin_datatype)?.into();
    let target = Target {
        rank: target_rank,
        displacement: target_disp,
        count: target_count,
        datatype: target_datatype,
    };
    if let Some(access) = access(me, origin, &target, win)? {
        me.get(&access, false)?;
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn rget(
    me: &Rank,
    origin_addr: *mut c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    win: Win,
    request: *mut Request,
) -> Result {
    may_request(me, target_rank, win)?;
    let origin = me.elements(origin_addr, origin_count, origin_datatype)?.into();
    let target = Target {
        rank: target_rank,
        displacement: target_disp,
        count: target_count,
        datatype: target_datatype,
    };
    let begun = match access(me, origin, &target, win)? {
        Some(access) => me.get(&access, true)?,
        None => None,
    };
    match begun {
        None => completed(me, request),
        Some((activity, fetched)) => {
            let pending = Pending::new(activity, Work::Several(Box::new(fetched)), None);
            pending.settle(me);
            me.is_requested(&pending);
            tell(request, me.keep(pending))
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn accumulate(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    op: Op,
    win: Win,
) -> Result {
    me.window(win)?;
    let origin: Operation = me.elements(origin_addr, origin_count, origin_datatype)?.into();
    let accumulation = Accumulation::new(me.operator(op)?, None);
    let combined = me.committed(target_datatype)?;
    accumulation.check(&combined)?;
    me.check_text(&accumulation.operator, &combined)?;
    let target = Target {
        rank: target_rank,
        displacement: target_disp,
        count: target_count,
        datatype: target_datatype,
    };
    access(me, origin, &target, win)?.map_or(Ok(()), |access| me.accumulate(&access, accumulation))
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn raccumulate(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    op: Op,
    win: Win,
    request: *mut Request,
) -> Result {
    may_request(me, target_rank, win)?;
    accumulate(
        me,
        origin_addr,
        origin_count,
        origin_datatype,
        target_rank,
        target_disp,
        target_count,
        target_datatype,
        op,
        win,
    )?;
    completed(me, request)
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn get_accumulate(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    result_addr: *mut c_void,
    result_count: i64,
    result_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    op: Op,
    win: Win,
) -> Result {
    me.window(win)?;
    let result: Operation = me.elements(result_addr, result_count, result_datatype)?.into();
    let accumulation = Accumulation::new(me.operator(op)?, Some(result.clone()));
    let combined = me.committed(target_datatype)?;
    accumulation.check(&combined)?;
    me.check_text(&accumulation.operator, &combined)?;
    let target = Target {
        rank: target_rank,
        displacement: target_disp,
        count: target_count,
        datatype: target_datatype,
    };
    // What is at the origin counts for nothing if nothing changes.
    let origin = match accumulation.is_fetch() {
        true => result.clone(),
        false => me.elements(origin_addr, origin_count, origin_datatype)?.into(),
    };
    let Some(access) = access(me, origin, &target, win)? else { return Ok(()) };
    if result.bytes() != access.target.bytes() {
        return fail(
            abi::ERR_TYPE,
            format!(
                "{} bytes of results do not match {} bytes at the target",
                result.bytes(),
                access.target.bytes()
            ),
        );
    }
    me.accumulate(&access, accumulation)
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn rget_accumulate(
    me: &Rank,
    origin_addr: *const c_void,
    origin_count: i64,
    origin_datatype: Datatype,
    result_addr: *mut c_void,
    result_count: i64,
    result_datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    target_count: i64,
    target_datatype: Datatype,
    op: Op,
    win: Win,
    request: *mut Request,
) -> Result {
    may_request(me, target_rank, win)?;
    get_accumulate(
        me,
        origin_addr,
        origin_count,
        origin_datatype,
        result_addr,
        result_count,
        result_datatype,
        target_rank,
        target_disp,
        target_count,
        target_datatype,
        op,
        win,
    )?;
    completed(me, request)
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn fetch_and_op(
    me: &Rank,
    origin_addr: *const c_void,
    result_addr: *mut c_void,
    datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    op: Op,
    win: Win,
) -> Result {
    me.window(win)?;
    let found = me.datatype(datatype)?;
    if found.is_derived() {
        return fail(
            abi::ERR_TYPE,
            format!("MPI_Fetch_and_op needs a predefined datatype, and not {}", found.label()),
        );
    }
    get_accumulate(
        me,
        origin_addr,
        1,
        datatype,
        result_addr,
        1,
        datatype,
        target_rank,
        target_disp,
        1,
        datatype,
        op,
        win,
    )
}

#[expect(clippy::too_many_arguments, reason = "the call of MPI has as many")]
pub fn compare_and_swap(
    me: &Rank,
    origin_addr: *const c_void,
    compare_addr: *const c_void,
    result_addr: *mut c_void,
    datatype: Datatype,
    target_rank: i32,
    target_disp: i64,
    win: Win,
) -> Result {
    let window = me.window(win)?;
    check_swapped(&*me.datatype(datatype)?)?;
    let elements = |address: *const c_void| me.elements(address, 1, datatype).map(Operation::from);
    let (origin, compare, result) = (elements(origin_addr)?, elements(compare_addr)?, elements(result_addr)?);
    let target = Target { rank: target_rank, displacement: target_disp, count: 1, datatype };
    match target.find(me, &window)? {
        Some((rank, place)) => me.compare_and_swap(&window, rank, &origin, &compare, &result, &place),
        None => Ok(()),
    }
}

/// Checks assertions: those that a call knows.
fn check_assertions(assert: i32, known: i32) -> Result {
    if assert & !known != 0 {
        return fail(abi::ERR_ASSERT, format!("{assert:#x} has assertions that this call does not know"));
    }
    Ok(())
}

pub fn win_fence(me: &Rank, assert: i32, win: Win) -> Result {
    let window = me.window(win)?;
    let known = abi::MODE_NOSTORE | abi::MODE_NOPUT | abi::MODE_NOPRECEDE | abi::MODE_NOSUCCEED;
    check_assertions(assert, known)?;
    me.check_fence(&window, assert);
    me.fence(&window, assert & abi::MODE_NOPRECEDE == 0, assert & abi::MODE_NOSUCCEED == 0)
}

/// The ranks in a window of the processes of a group.
fn ranks_of(me: &Rank, group: Group, window: &Window) -> Result<Vec<usize>> {
    let found = me.group(group)?;
    let ranks = found.translate(0..found.size(), &window.comm.group);
    match ranks.iter().copied().collect() {
        Some(ranks) => Ok(ranks),
        None => fail(abi::ERR_GROUP, "the group has processes that are not in the group of the window"),
    }
}

pub fn win_post(me: &Rank, group: Group, assert: i32, win: Win) -> Result {
    let window = me.window(win)?;
    check_assertions(assert, abi::MODE_NOCHECK | abi::MODE_NOSTORE | abi::MODE_NOPUT)?;
    let ranks = ranks_of(me, group, &window)?;
    me.promises_at_post(&window, assert);
    me.expose_to(&window, ranks)
}

pub fn win_start(me: &Rank, group: Group, assert: i32, win: Win) -> Result {
    let window = me.window(win)?;
    check_assertions(assert, abi::MODE_NOCHECK)?;
    let (ranks, before) = (ranks_of(me, group, &window)?, me.clock_before());
    me.start_access(&window, ranks.clone())?;
    if assert & abi::MODE_NOCHECK != 0 {
        me.check_posted(&window, &ranks, &before);
    }
    Ok(())
}

pub fn win_complete(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.complete_access(&window)
}

pub fn win_wait(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.wait_for_access(&window)
}

pub fn win_test(me: &Rank, win: Win, flag: *mut i32) -> Result {
    let window = me.window(win)?;
    me.answers_anew(flag);
    tell(flag, i32::from(me.test_access(&window)?))
}

pub fn win_lock(me: &Rank, lock_type: i32, rank: i32, assert: i32, win: Win) -> Result {
    let window = me.window(win)?;
    let hold = match lock_type {
        abi::LOCK_EXCLUSIVE => Hold::Exclusive,
        abi::LOCK_SHARED => Hold::Shared,
        other => {
            return fail(
                abi::ERR_LOCKTYPE,
                format!("the lock type is {other}: it is MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED"),
            );
        }
    };
    check_assertions(assert, abi::MODE_NOCHECK)?;
    me.check_may_lock(&window);
    window.target(rank)?.map_or(Ok(()), |rank| {
        let before = me.clock_before();
        me.lock_window(&window, rank, hold)?;
        me.check_locked(&window, rank, hold, assert & abi::MODE_NOCHECK != 0, &before);
        Ok(())
    })
}

pub fn win_unlock(me: &Rank, rank: i32, win: Win) -> Result {
    let window = me.window(win)?;
    window.target(rank)?.map_or(Ok(()), |rank| me.unlock_window(&window, rank))
}

pub fn win_lock_all(me: &Rank, assert: i32, win: Win) -> Result {
    let window = me.window(win)?;
    check_assertions(assert, abi::MODE_NOCHECK)?;
    me.check_may_lock(&window);
    me.lock_all(&window)
}

pub fn win_unlock_all(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.unlock_all(&window)
}

pub fn win_flush(me: &Rank, rank: i32, win: Win) -> Result {
    let window = me.window(win)?;
    let Some(rank) = window.target(rank)? else { return Ok(()) };
    me.may_flush(&window, Some(rank))?;
    me.completes_accesses(&window, Some(rank));
    me.flush(&window, rank)
}

pub fn win_flush_all(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.may_flush(&window, None)?;
    me.completes_accesses(&window, None);
    me.flush_all(&window)
}

pub fn win_flush_local(me: &Rank, rank: i32, win: Win) -> Result {
    let window = me.window(win)?;
    let Some(rank) = window.target(rank)? else { return Ok(()) };
    me.may_flush(&window, Some(rank))?;
    me.completes_locally(&window, Some(rank));
    me.flush_local(&window, Some(rank))
}

pub fn win_flush_local_all(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.may_flush(&window, None)?;
    me.completes_locally(&window, None);
    me.flush_local(&window, None)
}

pub fn win_sync(me: &Rank, win: Win) -> Result {
    let window = me.window(win)?;
    me.sync_window(&window);
    Ok(())
}
