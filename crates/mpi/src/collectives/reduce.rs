//! `MPI_Reduce`: one gets what an operator makes of what all have (MPI 5.0, 6.9).
//!
//! Each rank brings its data in a place of its own, in which it may be overwritten; the result is in that of the root.
//! Some algorithms change the order of operands. With an operator that is not commutative another one is taken instead.

use super::folding::{Folding, Scratch};
use super::halving::{self, Folded, Stays};
use super::hosts::hosts;
use super::selection::Reduce;
use super::team::Team;
use super::trees::{self, Tree, powers, segment, segments};
use crate::error::Result;

/// Reduces what all have.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn reduce(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    by(team, folding, data, root, team.me.world.selection.reduce)
}

/// Reduces what all have, by an algorithm.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn by(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize, algorithm: Reduce) -> Result {
    let (size, bytes, element) = (team.size, data.len(), folding.element.max(1));
    let count = bytes / element;
    if size == 1 {
        return Ok(());
    }
    let ordered = !folding.commutative;
    let v = (team.rank + size - root) % size;
    match algorithm {
        Reduce::Default if ordered || folding.is_derived() => basic_linear(team, folding, data, root),
        Reduce::Default => linear(team, folding, data, root),
        Reduce::Mpich if !team.is_whole() => {
            by(team, folding, data, root, Reduce::by_size(size, count, bytes, !ordered))
        }
        Reduce::Mpich if ordered => {
            hosts(team)?;
            by(team, folding, data, root, Reduce::by_size(size, count, bytes, false))
        }
        Reduce::Mpich => two_level(team, folding, data, root),
        Reduce::Ompi => by(team, folding, data, root, Reduce::ompi(size, bytes, !ordered)),
        Reduce::BasicLinear => basic_linear(team, folding, data, root),
        Reduce::InOrderBinary => in_order(team, folding, data, root),
        Reduce::Binomial => binomial(team, folding, data, root),
        _ if ordered => binomial(team, folding, data, root),
        Reduce::ScatterGather => scatter_gather(team, folding, data, root),
        Reduce::Chain => {
            let tree = trees::chain(size / 2, v, size).rooted(root, size);
            in_segments(team, folding, data, &tree, segment(65536, element, count))
        }
        Reduce::Pipeline => {
            let tree = trees::chain(1, v, size).rooted(root, size);
            in_segments(team, folding, data, &tree, segment(pipeline_segment(size, bytes), element, count))
        }
        Reduce::Binary => {
            let tree = trees::binary(v, size).rooted(root, size);
            in_segments(team, folding, data, &tree, segment(32768, element, count))
        }
        Reduce::OmpiBinomial => {
            let tree = trees::binomial(v, size).rooted(root, size);
            in_segments(team, folding, data, &tree, binomial_segment(size, bytes, element, count))
        }
        Reduce::TwoLevel => two_level(team, folding, data, root),
        Reduce::Knomial => of_four(team, folding, data, root),
    }
}

/// Open MPI's numbers.
fn pipeline_segment(size: usize, bytes: usize) -> usize {
    let (size, bytes) = (size as f64, bytes as f64);
    if size > 0.0410 / 1024.0 * bytes + 9.7128 {
        1024
    } else if size > 0.0033 / 1024.0 * bytes + 1.6761 {
        32768
    } else {
        65536
    }
}

/// Open MPI's numbers.
fn binomial_segment(size: usize, bytes: usize, element: usize, count: usize) -> usize {
    let short = (size < 8 && bytes < 20480) || bytes < 2048 || count <= 1;
    if !short && size as f64 > 0.6016 / 1024.0 * bytes as f64 + 1.3496 {
        segment(1024, element, count)
    } else {
        count.max(1)
    }
}

/// The first bytes of data that may be longer.
pub fn first(data: &[u8], length: usize) -> &[u8] {
    &data[..length.min(data.len())]
}

/// What the operator makes of these, in this order.
///
/// # Errors
/// If it does not know the type.
pub fn in_turn(team: &Team<'_>, folding: &Folding, parts: &[&[u8]]) -> Result<Scratch> {
    let (last, others) = parts.split_last().expect("somebody gives something");
    let mut result = Scratch::copy(last);
    for part in others.iter().rev() {
        folding.from_left(team.me, part, &mut result)?;
    }
    Ok(result)
}

/// All send to the root at once.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn linear(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    if team.rank != root {
        let sent = team.isend(root, data)?;
        return team.sent(sent);
    }
    let others = (0..team.size).filter(|other| *other != root);
    let receives = others.map(|other| team.irecv(other)).collect::<Result<_>>()?;
    let contents = team.finish(Vec::new(), receives)?;
    let mut parts: Vec<&[u8]> = contents.iter().map(|content| first(&content.data, data.len())).collect();
    let own = Scratch::copy(data);
    parts.insert(root, &own);
    data.copy_from_slice(&in_turn(team, folding, &parts)?);
    Ok(())
}

/// The root receives from the last to the first.
fn basic_linear(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    if team.rank != root {
        return team.send(root, data);
    }
    let own = Scratch::copy(data);
    for rank in (0..team.size).rev() {
        let other = if rank == root { None } else { Some(team.hear(rank)?.within(data.len())?) };
        let part = other.as_ref().map_or(&own[..], |other| &other.data);
        if rank == team.size - 1 {
            data[..part.len()].copy_from_slice(part);
        } else {
            folding.from_left(team.me, part, data)?;
        }
    }
    Ok(())
}

/// A binomial tree, the nearest first. If operands must stay in order its root is rank 0, which sends on to the root.
fn binomial(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    if data.is_empty() {
        return Ok(());
    }
    let (size, top) = (team.size, if folding.commutative { root } else { 0 });
    let tree = trees::binomial((team.rank + size - top) % size, size).rooted(top, size);
    for child in tree.children {
        let other = team.hear(child)?.within(data.len())?;
        folding.from_right(team.me, &other.data, data)?;
    }
    if let Some(parent) = tree.parent {
        team.send(parent, data)?;
    }
    if top != root && team.rank == top {
        team.send(root, data)?;
    } else if top != root && team.rank == root {
        team.recv(top, data)?;
    }
    Ok(())
}

/// Up a tree, segment by segment: the next receive is posted before the last one is waited for.
fn in_segments(team: &Team<'_>, folding: &Folding, data: &mut [u8], tree: &Tree, each: usize) -> Result {
    let element = folding.element.max(1);
    let count = data.len() / element;
    let number = segments(count, each);
    let range = |index: usize| index * each * element..((index + 1) * each).min(count) * element;
    if tree.children.is_empty() {
        if let Some(parent) = tree.parent {
            (0..number).try_for_each(|index| team.send(parent, &data[range(index)]))?;
        }
        return Ok(());
    }
    let width = tree.children.len();
    let mut next = Some(team.irecv(tree.children[0])?);
    for turn in 0..number * width {
        let receive = next.take().expect("it was posted");
        if turn + 1 < number * width {
            next = Some(team.irecv(tree.children[(turn + 1) % width])?);
        }
        let range = range(turn / width);
        let other = team.take(receive)?.within(range.len())?;
        folding.from_left(team.me, &other.data, &mut data[range.clone()])?;
        if let (Some(parent), true) = (tree.parent, turn % width == width - 1) {
            team.send(parent, &data[range])?;
        }
    }
    Ok(())
}

/// The tree in order, whose root is the last rank; it sends on to the root.
fn in_order(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    let (last, each) = (team.size - 1, (data.len() / folding.element.max(1)).max(1));
    let tree = trees::in_order(team.rank, team.size);
    in_segments(team, folding, data, &tree, each)?;
    if root != last && team.rank == last {
        team.send(root, data)?;
    } else if root != last && team.rank == root {
        team.recv(last, data)?;
    }
    Ok(())
}

/// Halving, and then blocks are gathered at the root.
fn scatter_gather(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    if data.is_empty() {
        return Ok(());
    }
    let folded = Folded::new(team.size, Stays::Even);
    let offsets = halving::even_blocks(data.len() / folding.element, folded.power, folding.element);
    let number = folded.fold(team, folding, data)?;
    let held = match number {
        Some(number) => Some(halving::halve(team, folding, folded, number, data, &offsets)?),
        None => None,
    };
    let first = halving::Held { first: 0, count: 1 };
    let goal = folded.number(root);
    // A root that was folded away takes the place of number 0.
    let (number, mut held) = match (goal, number, held) {
        (None, Some(0), Some(held)) => return team.send(root, &data[held.range(&offsets)]),
        (None, None, _) if team.rank == root => {
            team.recv(folded.rank(0), &mut data[first.range(&offsets)])?;
            (0, first)
        }
        (_, Some(number), Some(held)) => (number, held),
        _ => return Ok(()),
    };
    let rank = |number: usize| if number == 0 && goal.is_none() { root } else { folded.rank(number) };
    let goal = goal.unwrap_or(0);
    for distance in powers(folded.power).rev() {
        let partner = number ^ distance;
        if partner / distance == goal / distance {
            return team.send(rank(partner), &data[held.range(&offsets)]);
        }
        let other = held.neighbour(number, distance);
        team.recv(rank(partner), &mut data[other.range(&offsets)])?;
        held = held.with(other);
    }
    Ok(())
}

/// A tree of radix 4: all below are received from at once.
fn of_four(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    if data.is_empty() {
        return Ok(());
    }
    let size = team.size;
    let (parent, groups) = trees::of_four((team.rank + size - root) % size, size);
    let children = groups.concat();
    let receives =
        children.iter().rev().map(|child| team.irecv((child + root) % size)).collect::<Result<_>>()?;
    for content in team.finish(Vec::new(), receives)? {
        let other = content.within(data.len())?;
        folding.from_left(team.me, &other.data, data)?;
    }
    if let Some(parent) = parent {
        let sent = team.isend((parent + root) % size, data)?;
        team.sent(sent)?;
    }
    Ok(())
}

/// Within hosts, then among them.
fn two_level(team: &Team<'_>, folding: &Folding, data: &mut [u8], root: usize) -> Result {
    let hosts = hosts(team)?;
    if let [all] = &hosts.hosts[..] {
        if data.len() > 2048 {
            return of_four(team, folding, data, root);
        }
        let (leader, host) = (all[0], team.part(all).expect("all are on it"));
        basic_linear(&host, folding, data, 0)?;
        if root != leader && team.rank == leader {
            team.send(root, data)?;
        } else if root != leader && team.rank == root {
            team.recv(leader, data)?;
        }
        return Ok(());
    }
    let count = data.len() / folding.element.max(1);
    let by_size = |team: &Team<'_>| Reduce::by_size(team.size, count, data.len(), folding.commutative);
    let host = team.part(&hosts.hosts[hosts.of[team.rank]]).expect("each rank is on its host");
    let within = by_size(&host);
    let leaders = team.part(&hosts.leaders);
    let among = leaders.as_ref().map(by_size);
    by(&host, folding, data, 0, within)?;
    let leader = hosts.hosts[hosts.of[root]][0];
    if let (Some(leaders), Some(among)) = (leaders, among) {
        let goal = hosts.leaders.iter().position(|other| *other == leader).expect("each host has one");
        by(&leaders, folding, data, goal, among)?;
    }
    if leader != root && team.rank == leader {
        team.send(root, data)?;
    } else if leader != root && team.rank == root {
        team.recv(leader, data)?;
    }
    Ok(())
}
