//! `MPI_Reduce_scatter`: each gets a block of what an operator makes of what all have (MPI 5.0, 6.10).
//!
//! Each rank brings all its data in a place of its own, in which they may be overwritten; its block of the result is there in the
//! end, where that block lies in the data.

use super::buffers::offsets;
use super::folding::{Folding, Scratch};
use super::halving::{self, Folded, Held, Stays, merge, reversed};
use super::selection::{Reduce, ReduceScatter};
use super::team::Team;
use super::trees::powers;
use super::{doubling, reduce, scatter};
use crate::error::Result;

/// Reduces what all have, a block for each.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn reduce_scatter(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    by(team, folding, data, sizes, team.me.world.selection.reduce_scatter)
}

/// Reduces what all have, a block for each, by an algorithm. The sizes of blocks are in bytes.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn by(
    team: &Team<'_>,
    folding: &Folding,
    data: &mut [u8],
    sizes: &[usize],
    algorithm: ReduceScatter,
) -> Result {
    let (size, commutative) = (team.size, folding.commutative);
    if size == 1 {
        return Ok(());
    }
    let equal = sizes.iter().all(|other| *other == sizes[0]);
    let elements = data.len() / folding.element.max(1);
    match algorithm {
        ReduceScatter::Default if equal => reduce_then_scatter(team, folding, data, sizes),
        ReduceScatter::Default | ReduceScatter::Mpich => {
            by(team, folding, data, sizes, ReduceScatter::mpich(size, elements, equal, commutative))
        }
        ReduceScatter::Ompi => {
            by(team, folding, data, sizes, ReduceScatter::ompi(size, data.len(), commutative))
        }
        ReduceScatter::Rdb => by_doubling(team, folding, data, sizes),
        ReduceScatter::Pair => by_pairs(team, folding, data, sizes),
        ReduceScatter::Noncomm if size.is_power_of_two() && equal => by_halves(team, folding, data, sizes),
        ReduceScatter::Butterfly => butterfly(team, folding, data, sizes),
        _ if !commutative => by_doubling(team, folding, data, sizes),
        ReduceScatter::Noncomm => by_doubling(team, folding, data, sizes),
        ReduceScatter::RecursiveHalving => recursive_halving(team, folding, data, sizes),
        ReduceScatter::Ring => ring(team, folding, data, sizes),
    }
}

/// The first rank gets all, and deals it out.
fn reduce_then_scatter(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    reduce::by(team, folding, data, 0, Reduce::Default)?;
    let at = offsets(sizes);
    scatter::linear_from(team, 0, |other| &data[at[other]..at[other + 1]])?
        .map_or(Ok(()), |content| super::team::land(&content, &mut data[at[team.rank]..at[team.rank + 1]]))
}

/// Recursive doubling; a group does not send the blocks of its own ranks.
fn by_doubling(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    let at = offsets(sizes);
    let all = data.len();
    let without = |data: &[u8], group: &std::ops::Range<usize>| {
        team.joined([&data[..at[group.start]], &data[at[group.end]..]].into_iter())
    };
    let mut received = None;
    let merged = |data: &mut [u8], received: &[u8], other: &std::ops::Range<usize>| -> Result {
        let (low, high) = received.split_at(at[other.start].min(received.len()));
        merge(team, folding, other.start, low, &mut data[..at[other.start]])?;
        merge(team, folding, other.start, high, &mut data[at[other.end]..])
    };
    for step in doubling::steps(team.rank, team.size) {
        match step {
            doubling::Step::Exchange { with, own, other } => {
                let most = all - (at[other.end] - at[other.start]);
                let got = received.insert(team.swap(with, without(data, &own), with, most)?);
                merged(data, &got.data, &other)?;
            }
            doubling::Step::Pass { to, .. } => {
                team.send(to, received.as_ref().map_or(&[], |received| &received.data))?;
            }
            doubling::Step::Hear { from, other } => {
                let most = all - (at[other.end] - at[other.start]);
                let got = received.insert(team.hear(from)?.within(most)?);
                merged(data, &got.data, &other)?;
            }
        }
    }
    Ok(())
}

/// Each sends each its block.
fn by_pairs(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    let (size, at) = (team.size, offsets(sizes));
    let own = at[team.rank]..at[team.rank + 1];
    let mut parts: Vec<_> = (0..size).map(|_| None).collect();
    for away in 1..size {
        let (to, from) = (team.after(away), team.before(away));
        let out = team.joined([&data[at[to]..at[to + 1]]].into_iter());
        parts[from] = Some(team.swap(to, out, from, own.len())?);
    }
    let copy = Scratch::copy(&data[own.clone()]);
    let parts: Vec<&[u8]> =
        parts.iter().map(|part| part.as_ref().map_or(&copy[..], |part| &part.data)).collect();
    data[own].copy_from_slice(&reduce::in_turn(team, folding, &parts)?);
    Ok(())
}

/// Halving keeps the order of operands, and leaves each rank the block of its number in reverse: so blocks are put there before.
fn by_halves(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    let (at, bits) = (offsets(sizes), team.size.ilog2());
    let mut turned = Scratch::zeros(data.len());
    for block in 0..team.size {
        let place = reversed(block, bits);
        turned[at[place]..at[place + 1]].copy_from_slice(&data[at[block]..at[block + 1]]);
    }
    let folded = Folded::new(team.size, Stays::Odd);
    let held = halving::halve(team, folding, folded, team.rank, &mut turned, &at)?;
    data[at[team.rank]..at[team.rank + 1]].copy_from_slice(&turned[held.range(&at)]);
    Ok(())
}

/// Where the blocks of numbers begin, once pairs of ranks are folded into one.
fn folded_offsets(folded: Folded, at: &[usize]) -> Vec<usize> {
    let first =
        |number: usize| if number < folded.pairs { at[2 * number] } else { at[number + folded.pairs] };
    (0..folded.power).map(first).chain(at.last().copied()).collect()
}

/// Halving from the largest distance to the smallest.
fn recursive_halving(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    if data.is_empty() {
        return Ok(());
    }
    let at = offsets(sizes);
    let folded = Folded::new(team.size, Stays::Odd);
    let blocks = folded_offsets(folded, &at);
    if let Some(number) = folded.fold(team, folding, data)? {
        let mut held = Held { first: 0, count: folded.power };
        for distance in powers(folded.power).rev() {
            let (low, high) = (
                Held { first: held.first, count: distance },
                Held { first: held.first + distance, count: distance },
            );
            let (keep, give) = if number & distance == 0 { (low, high) } else { (high, low) };
            let (keep_range, give_range) = (keep.range(&blocks), give.range(&blocks));
            let partner = folded.rank(number ^ distance);
            let receive = if keep_range.is_empty() { None } else { Some(team.irecv(partner)?) };
            if !give_range.is_empty() {
                team.send(partner, &data[give_range])?;
            }
            if let Some(receive) = receive {
                let other = team.take(receive)?.within(keep_range.len())?;
                folding.from_left(team.me, &other.data, &mut data[keep_range])?;
            }
            held = keep;
        }
    }
    give_back(team, folded, data, &at)
}

/// Those who were folded away get their blocks from their partners.
fn give_back(team: &Team<'_>, folded: Folded, data: &mut [u8], at: &[usize]) -> Result {
    let rank = team.rank;
    if rank >= 2 * folded.pairs {
        return Ok(());
    }
    let even = rank - rank % 2;
    let block = at[even]..at[even + 1];
    if block.is_empty() {
        Ok(())
    } else if rank == even {
        team.recv(rank + 1, &mut data[block])
    } else {
        team.send(rank - 1, &data[block])
    }
}

/// Each block goes round the ring to its rank.
fn ring(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    let (size, at) = (team.size, offsets(sizes));
    let block = |away: usize| {
        let block = (team.rank + size - away) % size;
        at[block]..at[block + 1]
    };
    let (next, previous) = (team.after(1), team.before(1));
    let mut receive = team.irecv(previous)?;
    team.send(next, &data[block(1)])?;
    for away in 2..=size {
        let arriving = receive;
        if away < size {
            receive = team.irecv(previous)?;
        }
        let range = block(away);
        let other = team.take(arriving)?.within(range.len())?;
        folding.from_left(team.me, &other.data, &mut data[range.clone()])?;
        if away < size {
            team.send(next, &data[range])?;
        }
    }
    Ok(())
}

/// Halving in order, after which blocks lie at the wrong ranks, and go to theirs
/// (Träff: An Improved Algorithm for (Non-commutative) Reduce-Scatter, 2005).
fn butterfly(team: &Team<'_>, folding: &Folding, data: &mut [u8], sizes: &[usize]) -> Result {
    let at = offsets(sizes);
    let folded = Folded::new(team.size, Stays::Odd);
    let bits = folded.power.ilog2();
    let own = at[team.rank]..at[team.rank + 1];
    let Some(number) = folded.fold(team, folding, data)? else {
        let holder = reversed(team.rank / 2, bits);
        return team.recv(folded.rank(holder), &mut data[own]);
    };
    halving::halve(team, folding, folded, number, data, &folded_offsets(folded, &at))?;
    let owner = reversed(number, bits);
    if owner < folded.pairs {
        team.send(2 * owner, &data[at[2 * owner]..at[2 * owner + 1]])?;
    }
    if owner != number {
        let rank = folded.rank(owner);
        team.exchange_in(data, rank, at[rank]..at[rank + 1], rank, own)?;
    }
    Ok(())
}
