//! `MPI_Bcast`: one has something, all get it (MPI 5.0, 6.4). Algorithms in one piece; those in segments are in
//! [`super::pipelines`].

use std::ops::Range;

use super::hosts::hosts;
use super::selection::Bcast;
use super::team::Team;
use super::trees::{self, powers};
use super::{doubling, pipelines};
use crate::error::Result;

/// Data to be given to all: elements of so many bytes each.
#[derive(Debug)]
pub struct Wave<'a> {
    /// What there is, or where it goes.
    pub data: &'a mut [u8],
    /// Bytes of an element, 1 at least.
    pub element: usize,
    /// Who has it.
    pub root: usize,
}

impl Wave<'_> {
    /// How many elements.
    pub fn count(&self) -> usize {
        self.data.len() / self.element
    }
}

/// Gives all what the root has.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn bcast(team: &Team<'_>, data: &mut [u8], element: usize, root: usize) -> Result {
    let element = element.max(1);
    by(team, &mut Wave { data, element, root }, team.me.world.selection.bcast)
}

/// Gives all what the root has, by an algorithm.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn by(team: &Team<'_>, wave: &mut Wave<'_>, algorithm: Bcast) -> Result {
    if team.size == 1 {
        return Ok(());
    }
    let bytes = wave.data.len();
    match algorithm {
        Bcast::Default | Bcast::BinomialTree => binomial(team, wave.data, wave.root),
        Bcast::Mpich if team.is_whole() => {
            let uniform = hosts(team)?.uniform;
            by(team, wave, if uniform { Bcast::SmpBinomial } else { Bcast::by_size(team.size, bytes) })
        }
        Bcast::Mpich => by(team, wave, Bcast::by_size(team.size, bytes)),
        Bcast::Ompi => by(team, wave, Bcast::ompi(team.size, bytes)),
        Bcast::Ntsl => pipelines::chain_by_rank(team, wave),
        Bcast::Ntsb => pipelines::heap_by_rank(team, wave),
        Bcast::Pipeline => pipelines::pipeline(team, wave),
        Bcast::SplitBintree => pipelines::split_binary_tree(team, wave),
        Bcast::ScatterLrAllgather => scatter_ring(team, wave.data, wave.root),
        Bcast::ScatterRdbAllgather => scatter_doubling(team, wave.data, wave.root),
        Bcast::Knomial => {
            hosts(team)?;
            of_four(team, wave.data, wave.root)
        }
        Bcast::SmpBinomial => {
            let hosts = hosts(team)?;
            if !hosts.uniform {
                return by(team, wave, Bcast::by_size(team.size, bytes));
            }
            by_groups(team, wave.data, wave.root, team.size / hosts.hosts.len())
        }
        Bcast::SmpLinear => {
            let hosts = hosts(team)?;
            if !hosts.uniform {
                return by(team, wave, Bcast::by_size(team.size, bytes));
            }
            let group = team.size / hosts.hosts.len();
            // With one rank a host there is no group to go through: the chain of leaders is that of all ranks.
            match group {
                _ if team.size <= group => binomial(team, wave.data, wave.root),
                1 => pipelines::chain_by_rank(team, wave),
                _ => pipelines::chains_by_group(team, wave, group),
            }
        }
    }
}

/// A binomial tree, the farthest first.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn binomial(team: &Team<'_>, data: &mut [u8], root: usize) -> Result {
    let size = team.size;
    let tree = trees::binomial((team.rank + size - root) % size, size).rooted(root, size);
    if let Some(parent) = tree.parent {
        team.recv(parent, data)?;
    }
    tree.children.iter().rev().try_for_each(|child| team.send(*child, data))
}

/// A tree of radix 4, group by group.
fn of_four(team: &Team<'_>, data: &mut [u8], root: usize) -> Result {
    let size = team.size;
    let (parent, groups) = trees::of_four((team.rank + size - root) % size, size);
    if let Some(parent) = parent {
        team.recv((parent + root) % size, data)?;
    }
    for group in groups {
        let sends =
            group.iter().map(|child| team.isend((child + root) % size, data)).collect::<Result<_>>()?;
        team.finish(sends, Vec::new())?;
    }
    Ok(())
}

/// First among the first ranks of groups of consecutive ranks, then within each group.
fn by_groups(team: &Team<'_>, data: &mut [u8], root: usize, group: usize) -> Result {
    if root != 0 {
        if team.rank == root {
            team.send(0, data)?;
        } else if team.rank == 0 {
            team.recv(root, data)?;
        }
    }
    let firsts: Vec<usize> = (0..team.size).step_by(group).collect();
    if let Some(firsts) = team.part(&firsts) {
        binomial(&firsts, data, 0)?;
    }
    let first = team.rank - team.rank % group;
    let members: Vec<usize> = (first..(first + group).min(team.size)).collect();
    let members = team.part(&members).expect("each rank is in its group");
    binomial(&members, data, 0)
}

/// Where block `number` of `bytes` bytes for `size` ranks lies.
fn block(bytes: usize, size: usize, number: usize) -> Range<usize> {
    let each = bytes.div_ceil(size);
    (number * each).min(bytes)..((number + 1) * each).min(bytes)
}

/// A block for each rank, by a binomial tree.
fn scatter(team: &Team<'_>, data: &mut [u8], root: usize) -> Result {
    let (size, bytes) = (team.size, data.len());
    let v = (team.rank + size - root) % size;
    let each = bytes.div_ceil(size);
    let begin = (v * each).min(bytes);
    let mut held = if v == 0 { bytes } else { 0 };
    let reach = if v == 0 { size.next_power_of_two() } else { v & v.wrapping_neg() };
    if v > 0 && v * each < bytes {
        let parent = (v & (v - 1)) + root;
        held = ((v + reach) * each).min(bytes) - begin;
        team.recv(parent % size, &mut data[begin..begin + held])?;
    }
    for distance in powers(reach).rev().filter(|distance| v + distance < size) {
        if held > each * distance {
            let first = begin + each * distance;
            team.send((v + distance + root) % size, &data[first..begin + held])?;
            held = each * distance;
        }
    }
    Ok(())
}

/// A block for each rank, then blocks go round a ring.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn scatter_ring(team: &Team<'_>, data: &mut [u8], root: usize) -> Result {
    let (size, bytes) = (team.size, data.len());
    if size == 1 {
        return Ok(());
    }
    scatter(team, data, root)?;
    let v = (team.rank + size - root) % size;
    for step in 0..size - 1 {
        let out = block(bytes, size, (v + size - step) % size);
        let into = block(bytes, size, (v + 2 * size - step - 1) % size);
        team.exchange_in(data, team.after(1), out, team.before(1), into)?;
    }
    Ok(())
}

/// A block for each rank, then recursive doubling.
fn scatter_doubling(team: &Team<'_>, data: &mut [u8], root: usize) -> Result {
    let (size, bytes) = (team.size, data.len());
    if bytes == 0 {
        return Ok(());
    }
    scatter(team, data, root)?;
    let v = (team.rank + size - root) % size;
    let range =
        |blocks: Range<usize>| block(bytes, size, blocks.start).start..block(bytes, size, blocks.end - 1).end;
    doubling::gather(team, v, |number| (number + root) % size, data, range)
}
