//! Groups (MPI 5.0, 7.3).

use std::collections::BTreeSet;

use super::{elements, give, give_elements, taken};
use crate::abi::{self, Comm, Group};
use crate::error::{Result, fail};
use crate::group;
use crate::rank::Rank;

/// The ranks that a program lists, each of the group and none twice.
fn ranks_of(group: &group::Group, n: i32, ranks: *const i32) -> Result<Vec<u32>> {
    distinct(group, elements(n, ranks, "ranks")?.into_iter())
}

fn distinct(group: &group::Group, ranks: impl Iterator<Item = i32>) -> Result<Vec<u32>> {
    let size = group.size();
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for rank in ranks {
        if rank < 0 || rank as usize >= size {
            return fail(
                abi::ERR_RANK,
                format!("rank {rank} is not in the group, which has {size} processes"),
            );
        }
        if !seen.insert(rank) {
            return fail(abi::ERR_RANK, format!("rank {rank} is given twice"));
        }
        found.push(rank as u32);
    }
    Ok(found)
}

/// The ranks of ranges of a first, a last and a stride.
fn ranges_of(group: &group::Group, n: i32, ranges: *const [i32; 3]) -> Result<Vec<u32>> {
    let size = group.size() as i64;
    let mut ranks = Vec::new();
    for (index, range) in elements(n, ranges, "ranges")?.into_iter().enumerate() {
        let [first, last, stride] = range.map(i64::from);
        if stride == 0 {
            return fail(abi::ERR_ARG, format!("the stride of range {index} is 0"));
        }
        if (first < last && stride < 0) || (first > last && stride > 0) {
            return fail(
                abi::ERR_ARG,
                format!("range {index} does not come from {first} to {last} by steps of {stride}"),
            );
        }
        let end = first + (last - first) / stride * stride;
        if first.min(end) < 0 || first.max(end) >= size {
            return fail(
                abi::ERR_RANK,
                format!(
                    "range {index}, from {first} to {last}, leaves the group, which has {size} processes"
                ),
            );
        }
        ranks.extend((0..=(last - first) / stride).map(|step| (first + step * stride) as i32));
    }
    distinct(group, ranks.into_iter())
}

pub fn group_size(me: &Rank, group: Group, size: *mut i32) -> Result {
    give(size, me.group(group)?.size() as i32)
}

pub fn group_rank(me: &Rank, group: Group, rank: *mut i32) -> Result {
    give(rank, me.group(group)?.rank_of(me.process).map_or(abi::UNDEFINED, |rank| rank as i32))
}

pub fn group_translate_ranks(
    me: &Rank,
    group1: Group,
    n: i32,
    ranks1: *const i32,
    group2: Group,
    ranks2: *mut i32,
) -> Result {
    let (from, to) = (me.group(group1)?, me.group(group2)?);
    let ranks = elements(n, ranks1, "ranks")?;
    let size = from.size();
    if let Some(rank) = ranks.iter().find(|rank| **rank != abi::PROC_NULL && !(0..size as i32).contains(rank))
    {
        return fail(
            abi::ERR_RANK,
            format!("rank {rank} is not in the first group, which has {size} processes"),
        );
    }
    let known = ranks.iter().filter(|rank| **rank != abi::PROC_NULL).map(|rank| *rank as usize);
    let mut translated = from.translate(known, &to).into_iter();
    let answers: Vec<i32> = ranks
        .iter()
        .map(|rank| match *rank {
            abi::PROC_NULL => abi::PROC_NULL,
            _ => translated.next().flatten().map_or(abi::UNDEFINED, |rank| rank as i32),
        })
        .collect();
    give_elements(ranks2, n, &answers)
}

pub fn group_compare(me: &Rank, group1: Group, group2: Group, result: *mut i32) -> Result {
    let (first, second) = (me.group(group1)?, me.group(group2)?);
    let answer = if first == second {
        abi::IDENT
    } else if first.is_similar(&second) {
        abi::SIMILAR
    } else {
        abi::UNEQUAL
    };
    give(result, answer)
}

pub fn comm_group(me: &Rank, comm: Comm, group: *mut Group) -> Result {
    let found = me.comm(comm)?;
    let made = me.keep_group(found.group.clone());
    me.comes_from(made, found.session.get());
    give(group, made)
}

pub fn comm_remote_group(me: &Rank, comm: Comm, group: *mut Group) -> Result {
    match &me.comm(comm)?.remote {
        Some(remote) => give(group, me.keep_group(remote.group.clone())),
        None => fail(abi::ERR_COMM, "the communicator has no remote group: it is no intercommunicator"),
    }
}

pub fn group_union(me: &Rank, group1: Group, group2: Group, newgroup: *mut Group) -> Result {
    give(newgroup, me.keep_group_of(group1, me.group(group1)?.union(&*me.group(group2)?)))
}

pub fn group_intersection(me: &Rank, group1: Group, group2: Group, newgroup: *mut Group) -> Result {
    give(newgroup, me.keep_group_of(group1, me.group(group1)?.intersection(&*me.group(group2)?)))
}

pub fn group_difference(me: &Rank, group1: Group, group2: Group, newgroup: *mut Group) -> Result {
    give(newgroup, me.keep_group_of(group1, me.group(group1)?.difference(&*me.group(group2)?)))
}

pub fn group_incl(me: &Rank, group: Group, n: i32, ranks: *const i32, newgroup: *mut Group) -> Result {
    let (parent, group) = (group, me.group(group)?);
    let ranks = ranks_of(&group, n, ranks)?;
    give(newgroup, me.keep_group_of(parent, group.select(&group::Group::of(ranks))))
}

pub fn group_excl(me: &Rank, group: Group, n: i32, ranks: *const i32, newgroup: *mut Group) -> Result {
    let (parent, group) = (group, me.group(group)?);
    let ranks = ranks_of(&group, n, ranks)?.into_iter().map(|rank| rank as usize).collect();
    give(newgroup, me.keep_group_of(parent, group.without(&ranks)))
}

pub fn group_range_incl(
    me: &Rank,
    group: Group,
    n: i32,
    ranges: *const [i32; 3],
    newgroup: *mut Group,
) -> Result {
    let (parent, group) = (group, me.group(group)?);
    let ranks = ranges_of(&group, n, ranges)?;
    give(newgroup, me.keep_group_of(parent, group.select(&group::Group::of(ranks))))
}

pub fn group_range_excl(
    me: &Rank,
    group: Group,
    n: i32,
    ranges: *const [i32; 3],
    newgroup: *mut Group,
) -> Result {
    let (parent, group) = (group, me.group(group)?);
    let ranks = ranges_of(&group, n, ranges)?.into_iter().map(|rank| rank as usize).collect();
    give(newgroup, me.keep_group_of(parent, group.without(&ranks)))
}

pub fn group_free(me: &Rank, group: *mut Group) -> Result {
    let handle = taken(group)?;
    me.group(handle)?;
    me.groups.borrow_mut().remove(handle.0);
    me.sessions_of_groups.borrow_mut().remove(&handle.0);
    give(group, abi::GROUP_NULL)
}
