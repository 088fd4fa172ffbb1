//! Calls with the types of programs: in their place, without blocking, again and again, and with mistakes.

use std::rc::Rc;

use simurgh_platform::HostId;

use super::Selection;
use super::call::Call;
use super::scan::Own;
use crate::abi::{self, Datatype, Request};
use crate::datatype::Type;
use crate::error::Result;
use crate::rank::Rank;
use crate::testing;
use crate::world::Costs;

/// Runs this as each of so many ranks.
fn among(ranks: usize, run: impl Fn(&Rank) -> Result + Send + Sync + 'static) {
    let hosts: Vec<HostId> = (0..ranks).map(|rank| HostId(rank as u32)).collect();
    let all = hosts.clone();
    let results = testing::run(&testing::cluster(ranks), &hosts, move |process| {
        run(&Rank::new(process, testing::world(&all, Costs::default(), Selection::default())))
    });
    for result in results.expect("all come to their end") {
        assert_eq!(result, Ok(()));
    }
}

/// Waits for the request that a call wrote.
fn complete(me: &Rank, request: Request) -> Result {
    let pending = Rc::clone(me.requests.borrow().get(request.0).expect("it is kept"));
    me.wait_for(&pending);
    let outcome = pending.outcome.borrow().clone();
    outcome.map(drop).map_err(|wrong| wrong.0)
}

/// Every second number of memory.
fn every_second(me: &Rank) -> Result<Datatype> {
    let int = me.datatype(abi::INT)?;
    let spread = Rc::new(Type::vector(1, 1, 2, &int, false)?);
    let resized = Type::resized(&spread, 0, 8, false)?;
    resized.committed.set(true);
    Ok(me.keep_type(resized))
}

const COMM: abi::Comm = abi::COMM_WORLD;

#[test]
fn data_in_their_place_are_used() {
    among(5, |me| {
        let (rank, in_place) = (me.process as i32, abi::IN_PLACE as *const _);
        let mut sum = [rank, 10 * rank];
        Call::allreduce(me, in_place, (sum.as_mut_ptr().cast(), 2, abi::INT), abi::SUM, COMM)?.run(me)?;
        assert_eq!(sum, [10, 100]);
        let mut all = [-1; 5];
        all[rank as usize] = rank;
        let place = (all.as_mut_ptr().cast_const().cast(), 1, abi::INT);
        Call::allgather(me, (in_place, 0, abi::INT), place, COMM)?.run(me)?;
        assert_eq!(all, [0, 1, 2, 3, 4]);
        let mut all: [i32; 5] = std::array::from_fn(|to| 10 * rank + to as i32);
        let place = (all.as_mut_ptr().cast_const().cast(), 1, abi::INT);
        Call::alltoall(me, (in_place, 0, abi::INT), place, COMM)?.run(me)?;
        assert_eq!(all, std::array::from_fn(|from| 10 * from as i32 + rank));
        let mut sum = [rank + 1];
        Call::scan(me, in_place, (sum.as_mut_ptr().cast(), 1, abi::INT), abi::SUM, COMM, Own::In)?.run(me)?;
        assert_eq!(sum, [(rank + 1) * (rank + 2) / 2]);
        let mut parts = [rank, 1, 2, 3, 4];
        let places = (in_place, parts.as_mut_ptr().cast_const().cast(), abi::INT);
        Call::reduce_scatter_block(me, places, 1, abi::SUM, COMM)?.run(me)?;
        assert_eq!(parts[0], if rank == 0 { 10 } else { 5 * rank });
        Ok(())
    });
}

#[test]
fn gaps_of_types_are_left_alone() {
    among(4, |me| {
        let (rank, spread) = (me.process as i32, every_second(me)?);
        let mut data = if rank == 2 { [1, 2, 3, 4] } else { [-1; 4] };
        Call::bcast(me, (data.as_mut_ptr().cast(), 2, spread), 2, COMM)?.run(me)?;
        assert_eq!(data, if rank == 2 { [1, 2, 3, 4] } else { [1, -1, 3, -1] });
        let (mine, mut all) = ([rank], [-1; 8]);
        let place = (all.as_mut_ptr().cast_const().cast(), 1, spread);
        Call::gather(me, (mine.as_ptr().cast(), 1, abi::INT), place, 3, COMM)?.run(me)?;
        assert_eq!(all, if rank == 3 { [0, -1, 1, -1, 2, -1, 3, -1] } else { [-1; 8] });
        let mut request = abi::REQUEST_NULL;
        let mut all = [-1; 8];
        let place = (all.as_mut_ptr().cast_const().cast(), 1, spread);
        Call::allgather(me, (mine.as_ptr().cast(), 1, abi::INT), place, COMM)?.start(me, &mut request)?;
        complete(me, request)?;
        assert_eq!(all, [0, -1, 1, -1, 2, -1, 3, -1]);
        Ok(())
    });
}

#[test]
fn nobody_leaves_a_barrier_that_does_not_block_before_all_have_entered() {
    among(6, |me| {
        let mut request = abi::REQUEST_NULL;
        me.sleep(if me.process == 4 { 1.0 } else { 0.0 });
        Call::barrier(me, COMM)?.start(me, &mut request)?;
        complete(me, request)?;
        assert!(testing::now() >= 1.0);
        Ok(())
    });
}

#[test]
fn requests_of_reductions_give_what_calls_that_block_do() {
    among(5, |me| {
        let (rank, mut request) = (i64::from(me.process), abi::REQUEST_NULL);
        let (mine, mut sum) = ([rank, 1], [0_i64; 2]);
        let place = (sum.as_mut_ptr().cast_const().cast(), 2, abi::INT64_T);
        Call::allreduce(me, mine.as_ptr().cast(), place, abi::SUM, COMM)?.start(me, &mut request)?;
        complete(me, request)?;
        assert_eq!(sum, [10, 5]);
        let mut sum = [-1_i64; 2];
        let place = (sum.as_mut_ptr().cast_const().cast(), 2, abi::INT64_T);
        let call = Call::scan(me, mine.as_ptr().cast(), place, abi::SUM, COMM, Own::Out)?;
        call.start(me, &mut request)?;
        complete(me, request)?;
        assert_eq!(sum, if rank == 0 { [-1, -1] } else { [rank * (rank - 1) / 2, rank] });
        let call = Call::reduce(me, mine.as_ptr().cast(), place, abi::MAX, 1, COMM)?;
        call.start(me, &mut request)?;
        complete(me, request)?;
        assert!(rank != 1 || sum == [4, 1]);
        Ok(())
    });
}

#[test]
fn mistakes_have_their_classes() {
    among(1, |me| {
        let mut data = [0_i32; 2];
        let said = (data.as_mut_ptr().cast_const().cast(), 1, abi::INT);
        let class = |result: Result<Call>| result.map_or_else(|error| error.class, |_| abi::SUCCESS);
        let null = (std::ptr::null(), 1, abi::INT);
        assert_eq!(class(Call::bcast(me, said, 1, COMM)), abi::ERR_ROOT);
        assert_eq!(class(Call::bcast(me, said, -1, COMM)), abi::ERR_ROOT);
        assert_eq!(class(Call::bcast(me, (said.0, -1, abi::INT), 0, COMM)), abi::ERR_COUNT);
        assert_eq!(class(Call::bcast(me, null, 0, COMM)), abi::ERR_BUFFER);
        assert_eq!(class(Call::bcast(me, said, 0, abi::COMM_NULL)), abi::ERR_COMM);
        assert_eq!(class(Call::bcast(me, (said.0, 1, abi::DATATYPE_NULL), 0, COMM)), abi::ERR_TYPE);
        assert_eq!(class(Call::allgather(me, said, said, COMM)), abi::ERR_BUFFER);
        assert_eq!(class(Call::allreduce(me, said.0, said, abi::SUM, COMM)), abi::ERR_BUFFER);
        let double = (said.0, 1, abi::DOUBLE);
        assert_eq!(
            class(Call::allreduce(me, abi::IN_PLACE as *const _, double, abi::BAND, COMM)),
            abi::ERR_OP
        );
        assert_eq!(
            class(Call::bcast(me, (abi::IN_PLACE as *const _, 1, abi::INT), 0, COMM)),
            abi::ERR_BUFFER
        );
        assert_eq!(class(Call::neighbor_allgather(me, said, said, COMM)), abi::ERR_TOPOLOGY);
        let other = (said.0.wrapping_byte_add(4), 2, abi::INT);
        let result = Call::allgather(me, other, said, COMM)?.run(me);
        assert_eq!(result.map_err(|error| error.class), Err(abi::ERR_TRUNCATE));
        Ok(())
    });
}

/// Blocks one after the other are received where they lie; others are put there in the end. What lies between them stays.
#[test]
fn unequal_blocks_lie_in_a_row_or_not() {
    const COUNTS: [i32; 4] = [1, 2, 0, 3];
    // In a row, with gaps, and backwards.
    const PLACES: [[i32; 4]; 3] = [[0, 1, 3, 3], [1, 4, 7, 8], [8, 4, 4, 0]];
    among(4, |me| {
        let rank = me.process as i32;
        let mine: Vec<i32> = (0..COUNTS[rank as usize]).map(|index| 10 * rank + index).collect();
        for places in PLACES {
            let mut all = [-1; 12];
            let counts = abi::Counts::new(COUNTS.as_ptr().cast(), false);
            let away = abi::Counts::new(places.as_ptr().cast(), false);
            let said = (mine.as_ptr().cast(), mine.len() as i64, abi::INT);
            Call::allgatherv(me, said, (all.as_mut_ptr().cast(), counts, away, abi::INT), abi::COMM_WORLD)?
                .run(me)?;
            let mut expected = [-1; 12];
            for (other, (count, place)) in COUNTS.iter().zip(places).enumerate() {
                (0..*count).for_each(|index| expected[(place + index) as usize] = 10 * other as i32 + index);
            }
            assert_eq!(all, expected, "{places:?}");
        }
        Ok(())
    });
}
