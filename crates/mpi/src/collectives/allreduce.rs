//! `MPI_Allreduce`: all get what an operator makes of what all have (MPI 5.0, 6.9.6).

use super::folding::Folding;
use super::halving::{self, Folded, Stays, merge};
use super::hosts::hosts;
use super::selection::{Allreduce, Bcast};
use super::team::Team;
use super::trees::{powers, segment};
use super::{bcast, reduce};
use crate::error::Result;

/// Reduces what all have, for all.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn allreduce(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    by(team, folding, data, team.me.world.selection.allreduce)
}

/// Reduces what all have, for all, by an algorithm.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn by(team: &Team<'_>, folding: &Folding, data: &mut [u8], algorithm: Allreduce) -> Result {
    let (size, bytes, element) = (team.size, data.len(), folding.element.max(1));
    let (count, commutative) = (bytes / element, folding.commutative);
    if size == 1 {
        return Ok(());
    }
    match algorithm {
        Allreduce::Default if folding.is_derived() => by(team, folding, data, Allreduce::Ompi),
        Allreduce::Default => {
            reduce::by(team, folding, data, 0, super::selection::Reduce::Default)?;
            bcast::binomial(team, data, 0)
        }
        Allreduce::Mpich if !team.is_whole() => {
            by(team, folding, data, Allreduce::by_size(size, count, bytes, commutative))
        }
        Allreduce::Mpich if commutative => two_level(team, folding, data),
        Allreduce::Mpich => {
            hosts(team)?;
            by(team, folding, data, Allreduce::by_size(size, count, bytes, false))
        }
        Allreduce::Ompi => by(team, folding, data, Allreduce::ompi(size, bytes, commutative)),
        Allreduce::Redbcast => {
            reduce::reduce(team, folding, data, 0)?;
            bcast::bcast(team, data, element, 0)
        }
        Allreduce::Rdb => doubling(team, folding, data),
        Allreduce::RabRdb => halving(team, folding, data),
        _ if !commutative => doubling(team, folding, data),
        Allreduce::Lr => ring(team, folding, data),
        Allreduce::RingSegmented => ring_in_phases(team, folding, data),
        Allreduce::TwoLevel => two_level(team, folding, data),
    }
}

/// Recursive doubling.
fn doubling(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    let folded = Folded::new(team.size, Stays::Odd);
    if let Some(number) = folded.fold(team, folding, data)? {
        for distance in powers(folded.power) {
            let partner = folded.rank(number ^ distance);
            let other = team.swap(partner, team.joined([&*data].into_iter()), partner, data.len())?;
            merge(team, folding, partner, &other.data, data)?;
        }
    }
    folded.unfold(team, data)
}

/// Recursive halving, and doubling back.
fn halving(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    let folded = Folded::new(team.size, Stays::Odd);
    let element = folding.element.max(1);
    let offsets = halving::even_blocks(data.len() / element, folded.power, element);
    if let Some(number) = folded.fold(team, folding, data)? {
        let held = halving::halve(team, folding, folded, number, data, &offsets)?;
        halving::double(team, folded, number, held, data, &offsets)?;
    }
    folded.unfold(team, data)
}

/// Blocks go twice round a ring: to be reduced, and to be known.
fn ring(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    let (size, element) = (team.size, folding.element.max(1));
    let count = data.len() / element;
    if count < size {
        return by(team, folding, data, Allreduce::Redbcast);
    }
    let each = count / size * element;
    let block = |number: usize| number % size * each..(number % size + 1) * each;
    for step in 0..size - 1 {
        let (out, into) = (block(team.rank + size - step), block(team.rank + 2 * size - step - 1));
        let other = team.swap(team.after(1), team.joined([&data[out]].into_iter()), team.before(1), each)?;
        folding.from_left(team.me, &other.data, &mut data[into])?;
    }
    for step in 0..size - 1 {
        let (out, into) = (block(team.rank + 1 + size - step), block(team.rank + size - step));
        team.exchange_in(data, team.after(1), out, team.before(1), into)?;
    }
    if count.is_multiple_of(size) { Ok(()) } else { allreduce(team, folding, &mut data[size * each..]) }
}

/// A ring as well, with blocks in parts of at most a megabyte: one phase for each part.
fn ring_in_phases(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    let (size, element) = (team.size, folding.element.max(1));
    let count = data.len() / element;
    let once = size * segment(1 << 20, element, count);
    if count < once {
        return ring(team, folding, data);
    }
    let rest = count % once;
    let phases = count / once + usize::from(rest >= size && rest > once / 2);
    let split = |all: usize, parts: usize, part: usize| {
        let at = |part: usize| part * (all / parts) + part.min(all % parts);
        at(part)..at(part + 1)
    };
    let block = |number: usize| {
        let block = split(count, size, number % size);
        block.start * element..block.end * element
    };
    let part = |phase: usize, number: usize| {
        let block = split(count, size, number % size);
        let part = split(block.len(), phases, phase);
        (block.start + part.start) * element..(block.start + part.end) * element
    };
    let (next, previous) = (team.after(1), team.before(1));
    for phase in 0..phases {
        let mut receive = team.irecv(previous)?;
        team.send(next, &data[part(phase, team.rank)])?;
        for step in 2..=size {
            let arriving = receive;
            if step < size {
                receive = team.irecv(previous)?;
            }
            let range = part(phase, team.rank + size + 1 - step);
            let other = team.take(arriving)?.within(range.len())?;
            folding.from_left(team.me, &other.data, &mut data[range.clone()])?;
            if step < size {
                team.send(next, &data[range])?;
            }
        }
    }
    for step in 0..size - 1 {
        let (out, into) = (block(team.rank + 1 + size - step), block(team.rank + size - step));
        team.exchange_in(data, next, out, previous, into)?;
    }
    Ok(())
}

/// Within hosts, among them, and within them again.
fn two_level(team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result {
    let hosts = hosts(team)?;
    if data.is_empty() {
        return Ok(());
    }
    let host = team.part(&hosts.hosts[hosts.of[team.rank]]).expect("each rank is on its host");
    let count = data.len() / folding.element.max(1);
    by(&host, folding, data, Allreduce::by_size(host.size, count, data.len(), folding.commutative))?;
    if hosts.hosts.len() > 1
        && let Some(leaders) = team.part(&hosts.leaders)
    {
        doubling(&leaders, folding, data)?;
    }
    bcast::bcast(&host, data, folding.element, 0)
}

/// What finding out about hosts ends with: four bytes that mean nothing to the first rank, and back.
///
/// # Errors
/// If a message is lost.
pub fn of_nothing(team: &Team<'_>) -> Result {
    if team.size == 1 {
        return Ok(());
    }
    if team.rank == 0 {
        let receives = (1..team.size).map(|other| team.irecv(other)).collect::<Result<_>>()?;
        team.finish(Vec::new(), receives)?;
    } else {
        let sent = team.isend(0, &[0; 4])?;
        team.sent(sent)?;
    }
    bcast::by(team, &mut bcast::Wave { data: &mut [0; 4], element: 1, root: 0 }, Bcast::BinomialTree)
}
