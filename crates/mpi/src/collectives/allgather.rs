//! `MPI_Allgather`: all get a block from each (MPI 5.0, 6.7). Blocks may be unequal here.
//!
//! All blocks lie in one place without gaps, each rank's own where it belongs.

use super::buffers::Layout;
use super::doubling;
use super::selection::Allgather;
use super::team::{Team, land};
use super::trees::powers;
use crate::error::Result;

/// All get a block of so many bytes from each.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn allgather(team: &Team<'_>, block: usize, data: &mut [u8]) -> Result {
    by(team, block, data, team.me.world.selection.allgather)
}

fn by(team: &Team<'_>, block: usize, data: &mut [u8], algorithm: Allgather) -> Result {
    let layout = Layout::Equal(team.size, block);
    if team.size == 1 {
        return Ok(());
    }
    match algorithm {
        Allgather::Default => linear(team, &layout, data),
        Allgather::Mpich => by(team, block, data, Allgather::mpich(team.size, block)),
        Allgather::Ompi => by(team, block, data, Allgather::ompi(team.size, block)),
        Allgather::Bruck => bruck(team, &layout, data),
        Allgather::NtslrNb => round_the_ring(team, &layout, data),
        Allgather::Pair => pairs(team, &layout, data),
        Allgather::Rdb => recursive_doubling(team, &layout, data),
        Allgather::Ring => each_to_each(team, &layout, data),
        Allgather::NeighborExchange => neighbors(team, &layout, data),
    }
}

/// SMPI's `ring`, of blocks of so many bytes.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn ring(team: &Team<'_>, block: usize, data: &mut [u8]) -> Result {
    each_to_each(team, &Layout::Equal(team.size, block), data)
}

/// Each sends to each at once.
pub(super) fn linear(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    let others = || (0..team.size).filter(|other| *other != team.rank);
    for other in others() {
        sends.push(team.isend(other, &data[layout.block(team.rank)])?);
        receives.push(team.irecv(other)?);
    }
    let contents = team.finish(sends, receives)?;
    others().zip(contents).try_for_each(|(other, content)| land(&content, &mut data[layout.block(other)]))
}

/// Each sends its block to the one after it, then to the next, and so on. It is called a ring, and is none.
pub(super) fn each_to_each(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    (1..team.size).try_for_each(|away| {
        let (to, from) = (team.after(away), team.before(away));
        team.exchange_in(data, to, layout.block(team.rank), from, layout.block(from))
    })
}

/// Partners exchange blocks; a power of two of ranks has enough of them.
pub(super) fn pairs(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    if !team.size.is_power_of_two() {
        return each_to_each(team, layout, data);
    }
    (1..team.size).try_for_each(|away| {
        let partner = team.rank ^ away;
        team.exchange_in(data, partner, layout.block(team.rank), partner, layout.block(partner))
    })
}

/// Blocks go round a ring.
fn round_the_ring(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    let (size, next, previous) = (team.size, team.after(1), team.before(1));
    let receives = (1..size).map(|_| team.irecv(previous)).collect::<Result<Vec<_>>>()?;
    for (step, receive) in receives.into_iter().enumerate() {
        let sent = team.isend(next, &data[layout.block(team.rank + size - step)])?;
        team.take_into(receive, &mut data[layout.block(team.rank + 2 * size - step - 1)])?;
        team.sent(sent)?;
    }
    Ok(())
}

/// All that is held goes to the rank 1, 2, 4... before (Bruck et al.: Efficient Algorithms for All-to-All Communications in
/// Multiport Message-Passing Systems, 1997).
pub(super) fn bruck(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    for distance in powers(team.size) {
        let number = distance.min(team.size - distance);
        let [high, low] = layout.round(team.rank, number);
        let out = team.joined([&data[high], &data[low]].into_iter());
        let from = team.after(distance);
        let [high, low] = layout.round(from, number);
        let got = team.swap(team.before(distance), out, from, high.len() + low.len())?;
        let (first, rest) = got.data.split_at(high.len().min(got.data.len()));
        data[high][..first.len()].copy_from_slice(first);
        data[low][..rest.len()].copy_from_slice(rest);
    }
    Ok(())
}

/// Recursive doubling.
pub(super) fn recursive_doubling(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    doubling::gather(team, team.rank, |rank| rank, data, |blocks| layout.blocks(blocks))
}

/// Neighbours exchange two blocks, now on one side, now on the other
/// (Chen et al.: Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet, 2005).
pub(super) fn neighbors(team: &Team<'_>, layout: &Layout, data: &mut [u8]) -> Result {
    let (rank, size) = (team.rank, team.size);
    if !size.is_multiple_of(2) {
        return each_to_each(team, layout, data);
    }
    let even = rank.is_multiple_of(2);
    let sides = if even { [team.after(1), team.before(1)] } else { [team.before(1), team.after(1)] };
    team.exchange_in(data, sides[0], layout.block(rank), sides[0], layout.block(sides[0]))?;
    let pair = |first: usize| layout.blocks(first..first + 2);
    let own = rank - rank % 2;
    let (mut last, mut heard) = (own, [own, own]);
    for step in 1..size / 2 {
        let side = step % 2;
        heard[side] = if (side == 0) == even { heard[side] + 2 } else { heard[side] + size - 2 } % size;
        team.exchange_in(data, sides[side], pair(last), sides[side], pair(heard[side]))?;
        last = heard[side];
    }
    Ok(())
}
