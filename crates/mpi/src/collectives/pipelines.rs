//! Broadcasts in segments: while one is handed on, the next one is on its way.

use std::ops::Range;

use super::bcast::{self, Wave};
use super::selection::Bcast;
use super::team::Team;
use super::trees::{self, Tree, segment, segments};
use crate::error::Result;

/// Where segments lie: so many elements of so many bytes each, of this part of the data.
#[derive(Clone, Debug)]
struct Segments {
    part: Range<usize>,
    each: usize,
}

impl Segments {
    fn new(part: Range<usize>, elements: usize, element: usize) -> Self {
        Self { part, each: elements * element }
    }

    fn len(&self) -> usize {
        segments(self.part.len(), self.each)
    }

    fn get(&self, index: usize) -> Range<usize> {
        let at = |index: usize| (self.part.start + index * self.each).min(self.part.end);
        at(index)..at(index + 1)
    }
}

/// The root hands its data to rank 0, from which the chain or tree starts.
fn to_first(team: &Team<'_>, wave: &mut Wave<'_>) -> Result {
    if wave.root == 0 {
        Ok(())
    } else if team.rank == wave.root {
        team.send(0, wave.data)
    } else if team.rank == 0 {
        team.recv(wave.root, wave.data)
    } else {
        Ok(())
    }
}

/// What whole segments leave is broadcast as it is configured.
fn rest(team: &Team<'_>, wave: &mut Wave<'_>, from: usize) -> Result {
    if from == wave.data.len() {
        return Ok(());
    }
    let (element, root) = (wave.element, wave.root);
    let mut rest = Wave { data: &mut wave.data[from..], element, root };
    bcast::by(team, &mut rest, team.me.world.selection.bcast)
}

/// A chain in the order of ranks (Karwande, Yuan, Lowenthal: CC-MPI, 2003).
pub(super) fn chain_by_rank(team: &Team<'_>, wave: &mut Wave<'_>) -> Result {
    let next = team.rank + 1;
    let tree = Tree {
        parent: team.rank.checked_sub(1),
        children: (next < team.size).then_some(next).into_iter().collect(),
    };
    along(team, wave, &tree)
}

/// The heap of ranks.
pub(super) fn heap_by_rank(team: &Team<'_>, wave: &mut Wave<'_>) -> Result {
    let below = [2 * team.rank + 1, 2 * team.rank + 2];
    let tree = Tree {
        parent: team.rank.checked_sub(1).map(|before| before / 2),
        children: below.into_iter().filter(|child| *child < team.size).collect(),
    };
    along(team, wave, &tree)
}

/// Down a tree of ranks: all receives are posted at first, and what has come is sent at once.
fn along(team: &Team<'_>, wave: &mut Wave<'_>, tree: &Tree) -> Result {
    to_first(team, wave)?;
    let each = (8192 / wave.element).max(1);
    let count = wave.count();
    if count <= each {
        if let Some(parent) = tree.parent {
            team.recv(parent, wave.data)?;
        }
        return tree.children.iter().try_for_each(|child| team.send(*child, wave.data));
    }
    let whole = count / each;
    let parts = Segments::new(0..whole * each * wave.element, each, wave.element);
    let receives = match tree.parent {
        Some(parent) => (0..whole).map(|_| team.irecv(parent)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let mut sends = Vec::new();
    if tree.children.is_empty() {
        for (index, content) in team.finish(Vec::new(), receives)?.iter().enumerate() {
            super::team::land(content, &mut wave.data[parts.get(index)])?;
        }
    } else {
        for index in 0..whole {
            if let Some(receive) = receives.get(index) {
                team.take_into(*receive, &mut wave.data[parts.get(index)])?;
            }
            for child in &tree.children {
                sends.push(team.isend(*child, &wave.data[parts.get(index)])?);
            }
        }
    }
    team.finish(sends, Vec::new())?;
    rest(team, wave, parts.part.end)
}

/// Through the first ranks of groups of consecutive ranks, and from each through its group.
pub(super) fn chains_by_group(team: &Team<'_>, wave: &mut Wave<'_>, group: usize) -> Result {
    to_first(team, wave)?;
    let each = (8192 / wave.element).max(1);
    let count = wave.count();
    let whole = if count <= each { 1 } else { count / each };
    let elements = if count <= each { count.max(1) } else { each };
    let parts = Segments::new(0..(whole * elements).min(count) * wave.element, elements, wave.element);
    let (rank, leads) = (team.rank, team.rank.is_multiple_of(group));
    let parent = if leads { rank.checked_sub(group) } else { Some(rank - 1) };
    let mut children = Vec::new();
    if leads && rank + group < team.size {
        children.push(rank + group);
    }
    if rank + 1 < team.size && !(rank + 1).is_multiple_of(group) {
        children.push(rank + 1);
    }
    let receives = match parent {
        Some(parent) => (0..whole).map(|_| team.irecv(parent)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    for index in 0..whole {
        if let Some(receive) = receives.get(index) {
            team.take_into(*receive, &mut wave.data[parts.get(index)])?;
        }
        for child in &children {
            team.send(*child, &wave.data[parts.get(index)])?;
        }
    }
    rest(team, wave, parts.part.end)
}

/// A chain from the root, with segments whose size depends on how much there is for how many (Open MPI's numbers).
pub(super) fn pipeline(team: &Team<'_>, wave: &mut Wave<'_>) -> Result {
    let (ranks, bytes) = (team.size as f64, wave.data.len() as f64);
    let size = if ranks < 1.6134e-6 * bytes + 2.1102 {
        131_072
    } else if ranks < 2.3679e-6 * bytes + 1.1787 {
        65536
    } else if ranks < 3.2118e-6 * bytes + 8.7936 {
        16384
    } else {
        131_072
    };
    let size = segment(size, wave.element, wave.count());
    let parts = Segments::new(0..wave.data.len(), size, wave.element);
    let v = (team.rank + team.size - wave.root) % team.size;
    let tree = trees::chain(1, v, team.size).rooted(wave.root, team.size);
    let mut next = tree.parent.map(|parent| team.irecv(parent)).transpose()?;
    for index in 0..parts.len() {
        if let (Some(parent), Some(receive)) = (tree.parent, next) {
            if index + 1 < parts.len() {
                next = Some(team.irecv(parent)?);
            }
            team.take_into(receive, &mut wave.data[parts.get(index)])?;
        }
        for child in &tree.children {
            let sent = team.isend(*child, &wave.data[parts.get(index)])?;
            team.sent(sent)?;
        }
    }
    Ok(())
}

/// Each half of the data goes down one side of a binary tree; then ranks of both sides swap halves.
pub(super) fn split_binary_tree(team: &Team<'_>, wave: &mut Wave<'_>) -> Result {
    let (size, element, count) = (team.size, wave.element, wave.count());
    let segment = if wave.data.len() < 370_728 { 1024 } else { 8192 }.max(element);
    let middle = (count - count / 2) * element;
    let halves = [0..middle, middle..wave.data.len()];
    if halves.iter().any(|half| half.is_empty() || half.len() < segment) {
        return bcast::by(team, wave, Bcast::SmpLinear);
    }
    let halves = halves.map(|half| Segments::new(half, segment / element, element));
    let v = (team.rank + size - wave.root) % size;
    let tree = trees::binary(v, size).rooted(wave.root, size);
    let Some(parent) = tree.parent else {
        for index in 0..halves[0].len() {
            for (half, child) in halves.iter().zip(&tree.children) {
                if index < half.len() {
                    team.send(*child, &wave.data[half.get(index)])?;
                }
            }
        }
        return if size.is_multiple_of(2) {
            team.send(team.before(1), &wave.data[halves[1].part.clone()])
        } else {
            Ok(())
        };
    };
    let side = (v + 1) % 2;
    let half = &halves[side];
    if tree.children.is_empty() {
        for index in 0..half.len() {
            team.recv(parent, &mut wave.data[half.get(index)])?;
        }
    } else {
        let mut next = team.irecv(parent)?;
        for index in 0..half.len() {
            let receive = next;
            if index + 1 < half.len() {
                next = team.irecv(parent)?;
            }
            team.take_into(receive, &mut wave.data[half.get(index)])?;
            for child in &tree.children {
                team.send(*child, &wave.data[half.get(index)])?;
            }
        }
    }
    let (own, other) = (half.part.clone(), halves[1 - side].part.clone());
    if size.is_multiple_of(2) && v == size - 1 {
        return team.recv(wave.root, &mut wave.data[other]);
    }
    let partner = if side == 0 { team.after(1) } else { team.before(1) };
    team.exchange_in(wave.data, partner, own, partner, other)
}
