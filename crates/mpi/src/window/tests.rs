//! Windows among several ranks in a simulation.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use simurgh_platform::HostId;

use crate::abi::{self, Win};
use crate::calls::onesided::*;
use crate::calls::windows::*;
use crate::collectives::Selection;
use crate::error::Error;
use crate::rank::Rank;
use crate::testing;
use crate::world::Costs;

/// Runs a rank on each of so many hosts; gives what each came to.
fn run<T: Send + 'static>(
    ranks: usize,
    rank: impl Fn(&Rank) -> Result<T, Error> + Send + Sync + 'static,
) -> Vec<T> {
    let hosts: Vec<HostId> = (0..ranks as u32).map(HostId).collect();
    let places = hosts.clone();
    let results = testing::run(&testing::cluster(ranks), &hosts, move |process| {
        let selection = Selection::parse([("smpi/coll-selector", "default")]).expect("it is known");
        let me = Rank::new(process, testing::world(&places, Costs::default(), selection));
        rank(&me).map_err(|error| error.to_string())
    });
    results.expect("it ends").into_iter().map(|result| result.expect("it goes well")).collect()
}

fn window(me: &Rank, memory: &mut [i32]) -> Result<Win, Error> {
    let mut win = abi::WIN_NULL;
    let bytes = size_of_val(memory) as i64;
    win_create(me, memory.as_mut_ptr().cast(), bytes, 4, abi::INFO_NULL, abi::COMM_WORLD, &mut win)?;
    Ok(win)
}

fn put_one(me: &Rank, value: &i32, rank: usize, place: i64, win: Win) -> Result<(), Error> {
    put(me, (&raw const *value).cast(), 1, abi::INT, rank as i32, place, 1, abi::INT, win)
}

#[test]
fn a_ring_by_fences() {
    let results = run(4, |me| {
        let mut memory = [-1; 2];
        let win = window(me, &mut memory)?;
        let (rank, size) = (me.comm_world.rank, me.comm_world.size());
        win_fence(me, 0, win)?;
        let value = rank as i32 * 10;
        put_one(me, &value, (rank + 1) % size, 0, win)?;
        win_fence(me, 0, win)?;
        let mut got = 0;
        get(me, (&raw mut got).cast(), 1, abi::INT, ((rank + 1) % size) as i32, 0, 1, abi::INT, win)?;
        win_fence(me, abi::MODE_NOSUCCEED, win)?;
        let mut win = win;
        win_free(me, &mut win)?;
        assert_eq!(win, abi::WIN_NULL);
        Ok((memory[0], got))
    });
    assert_eq!(results, [(30, 0), (0, 10), (10, 20), (20, 30)]);
}

#[test]
fn counters_are_atomic() {
    let results = run(5, |me| {
        let mut memory = [0; 1];
        let win = window(me, &mut memory)?;
        let (one, mut tickets) = (1_i32, Vec::new());
        win_lock_all(me, 0, win)?;
        for _ in 0..4 {
            let mut ticket = -1;
            let (from, to) = ((&raw const one).cast(), (&raw mut ticket).cast());
            fetch_and_op(me, from, to, abi::INT, 2, 0, abi::SUM, win)?;
            win_flush(me, 2, win)?;
            tickets.push(ticket);
        }
        win_unlock_all(me, win)?;
        let mut win = win;
        win_free(me, &mut win)?;
        Ok((tickets, memory[0]))
    });
    let mut all: Vec<i32> = results.iter().flat_map(|(tickets, _)| tickets.clone()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..20).collect::<Vec<_>>());
    assert_eq!(results[2].1, 20);
}

/// A lock held alone protects a read and a write that follows from it, also from those who hold it together.
#[test]
fn exclusive_locks_exclude() {
    let inside = Arc::new(Mutex::new((0, 0)));
    let results = run(4, move |me| {
        let mut memory = [0; 1];
        let win = window(me, &mut memory)?;
        for round in 0..3 {
            let shared = (me.process + round) % 2 == 0;
            let kind = if shared { abi::LOCK_SHARED } else { abi::LOCK_EXCLUSIVE };
            win_lock(me, kind, 0, 0, win)?;
            let add = |by: i32| {
                let mut inside = inside.lock().expect("one at a time");
                if shared {
                    inside.0 += by
                } else {
                    inside.1 += by
                }
                assert!(inside.1 <= 1 && (inside.1 == 0 || inside.0 == 0), "{inside:?}");
            };
            add(1);
            let mut value = -1;
            get(me, (&raw mut value).cast(), 1, abi::INT, 0, 0, 1, abi::INT, win)?;
            win_flush(me, 0, win)?;
            if !shared {
                value += 1;
                put_one(me, &value, 0, 0, win)?;
            }
            add(-1);
            win_unlock(me, 0, win)?;
        }
        let mut win = win;
        win_free(me, &mut win)?;
        Ok(memory[0])
    });
    assert_eq!(results[0], 6);
}

#[test]
fn groups_of_origins_and_targets() {
    let results = run(3, |me| {
        let mut memory = [0; 3];
        let win = window(me, &mut memory)?;
        let group = |ranks: Vec<u32>| {
            let group = std::rc::Rc::new(crate::group::Group::of(ranks));
            abi::Group(me.groups.borrow_mut().insert(group))
        };
        let value = 7 + me.process as i32;
        if me.process == 0 {
            win_post(me, group(vec![1, 2]), 0, win)?;
            let mut over = 0;
            while over == 0 {
                win_test(me, win, &mut over)?;
            }
        } else {
            win_start(me, group(vec![0]), 0, win)?;
            put_one(me, &value, 0, i64::from(me.process), win)?;
            let wrong = put_one(me, &value, 1, 0, win).expect_err("it is not in the group");
            assert_eq!(wrong.class, abi::ERR_RMA_SYNC);
            win_complete(me, win)?;
        }
        let mut win = win;
        win_free(me, &mut win)?;
        Ok(memory)
    });
    assert_eq!(results[0], [0, 8, 9]);
}

#[test]
fn one_piece_of_memory_for_all() {
    let results = run(3, |me| {
        let (mut win, mut mine) = (abi::WIN_NULL, std::ptr::null_mut::<i32>());
        let place = (&raw mut mine).cast::<c_void>();
        let bytes = 4 * i64::from(me.process + 1);
        win_allocate_shared(me, bytes, 4, abi::INFO_NULL, abi::COMM_WORLD, place, &mut win)?;
        // SAFETY: it is the memory of the window.
        unsafe { mine.write(me.process as i32 + 5) };
        win_fence(me, 0, win)?;
        let (mut size, mut unit, mut first) = (0, 0, std::ptr::null_mut::<i32>());
        let out = abi::CountsOut::new((&raw mut unit).cast(), false);
        win_shared_query(me, win, abi::PROC_NULL, &mut size, out, (&raw mut first).cast())?;
        // SAFETY: it is the memory of the window.
        let all = unsafe { [first.read(), first.add(1).read(), first.add(3).read()] };
        win_fence(me, 0, win)?;
        win_free(me, &mut win)?;
        Ok((size, unit, all))
    });
    assert!(results.iter().all(|result| *result == (4, 4, [5, 6, 7])), "{results:?}");
}

#[test]
fn what_is_wrong_is_told() {
    run(2, |me| {
        let mut memory = [0; 4];
        let win = window(me, &mut memory)?;
        let class = |result: Result<(), Error>| result.map_or_else(|error| error.class, |()| 0);
        let value = 3;
        assert_eq!(class(put_one(me, &value, 1, 0, win)), abi::ERR_RMA_SYNC);
        win_fence(me, 0, win)?;
        assert_eq!(class(put_one(me, &value, 1, 4, win)), abi::ERR_RMA_RANGE);
        assert_eq!(class(put_one(me, &value, 1, -1, win)), abi::ERR_DISP);
        assert_eq!(class(put_one(me, &value, 2, 0, win)), abi::ERR_RANK);
        let nobody = abi::PROC_NULL as usize;
        assert_eq!(class(put_one(me, &value, nobody, 0, win)), 0);
        put_one(me, &value, 1, 0, win)?;
        assert_eq!(class(win_lock(me, abi::LOCK_SHARED, 0, 0, win)), abi::ERR_RMA_SYNC);
        win_fence(me, abi::MODE_NOSUCCEED, win)?;
        assert_eq!(class(win_lock(me, 5, 0, 0, win)), abi::ERR_LOCKTYPE);
        assert_eq!(class(win_attach(me, win, memory.as_mut_ptr().cast(), 4)), abi::ERR_RMA_FLAVOR);
        win_lock(me, abi::LOCK_SHARED, 0, 0, win)?;
        let mut same = win;
        assert_eq!(class(win_free(me, &mut same)), abi::ERR_RMA_SYNC);
        win_unlock(me, 0, win)?;
        win_free(me, &mut same)?;
        assert_eq!(class(win_sync(me, win)), abi::ERR_WIN);
        Ok(())
    });
}
