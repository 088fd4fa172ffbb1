//! Collectives of all processes as lines, where the format can tell them: types that it has a number for, operators that do not
//! need an order. What it cannot tell is written as messages.

use super::action::{Action, Verb, number_of};
use super::record::Hidden;
use crate::collectives::buffers::{Blocks, Piece};
use crate::collectives::call::{Call, Root, What};
use crate::collectives::folding::Folding;
use crate::collectives::scan::Own;
use crate::communicator::context;
use crate::rank::Rank;

impl Rank {
    /// Writes a collective down, if the format knows it: then its messages are not written.
    pub(crate) fn write_collective(&self, call: &Call) -> Option<Hidden<'_>> {
        if !self.world.wanted.actions || self.scribe.is_hidden() {
            return None;
        }
        let action = line(call)?;
        self.scribe.write(action);
        Some(self.scribe.hide())
    }
}

/// The line of a collective.
fn line(call: &Call) -> Option<Action> {
    if call.comm.context != context::WORLD || call.comm.is_inter() {
        return None;
    }
    let root = |root: &Root| match root {
        Root::Rank(rank) => Some(*rank as f64),
        Root::Here | Root::Elsewhere => None,
    };
    let rank = call.comm.rank;
    Some(match &call.what {
        What::Barrier => Action::new(Verb::Barrier, []),
        What::Bcast { data, root: from } => Action::new(Verb::Bcast, [count(data), root(from)?, kind(data)?]),
        What::Gather { mine, all, root: to, equal: true } => {
            let (send, receive) = both(mine.as_ref(), all.as_ref(), rank)?;
            let numbers = [count(&send), count(&receive), root(to)?, kind(&send)?, kind(&receive)?];
            Action::new(Verb::Gather, numbers)
        }
        What::Scatter { all, mine, root: from, equal: true } => {
            let (receive, send) = both(mine.as_ref(), all.as_ref(), rank)?;
            let numbers = [count(&send), count(&receive), root(from)?, kind(&send)?, kind(&receive)?];
            Action::new(Verb::Scatter, numbers)
        }
        What::Gather { mine, all, root: to, equal: false } => {
            let (send, receive) = both(mine.as_ref(), all.as_ref(), rank)?;
            let mut numbers = vec![count(&send)];
            numbers.extend(counts(all.as_ref(), call.comm.size())?);
            numbers.extend([root(to)?, kind(&send)?, kind(&receive)?]);
            Action::new(Verb::Gatherv, numbers)
        }
        What::Scatter { all, mine, root: from, equal: false } => {
            let (receive, send) = both(mine.as_ref(), all.as_ref(), rank)?;
            let mut numbers = counts(all.as_ref(), call.comm.size())?;
            numbers.extend([count(&receive), root(from)?, kind(&send)?, kind(&receive)?]);
            Action::new(Verb::Scatterv, numbers)
        }
        What::Allgather { mine, all } => {
            let (send, receive) = both(mine.as_ref(), Some(all), rank)?;
            match all {
                Blocks::Equal { .. } => {
                    let numbers = [count(&send), count(&receive), kind(&send)?, kind(&receive)?];
                    Action::new(Verb::Allgather, numbers)
                }
                Blocks::Listed(_) => {
                    let mut numbers = vec![count(&send)];
                    numbers.extend(counts(Some(all), call.comm.size())?);
                    numbers.extend([kind(&send)?, kind(&receive)?]);
                    Action::new(Verb::Allgatherv, numbers)
                }
            }
        }
        What::Alltoall { out, into } => alltoall(out.as_ref().unwrap_or(into), into)?,
        What::Reduce { input, output, folding, root: to } => {
            let data = input.as_ref().or(output.as_ref())?;
            Action::new(Verb::Reduce, [count(data), 0.0, root(to)?, plain(data, folding)?])
        }
        What::Allreduce { output, folding, .. } => {
            Action::new(Verb::Allreduce, [count(output), 0.0, plain(output, folding)?])
        }
        What::ReduceScatter { input, counts, folding, .. } => {
            let mut numbers: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
            numbers.extend([0.0, plain(input, folding)?]);
            Action::new(Verb::ReduceScatter, numbers)
        }
        What::Scan { output, folding, own, .. } => {
            let verb = if *own == Own::In { Verb::Scan } else { Verb::Exscan };
            Action::new(verb, [count(output), 0.0, plain(output, folding)?])
        }
        What::Neighbors { .. } => return None,
    })
}

fn alltoall(out: &Blocks, into: &Blocks) -> Option<Action> {
    if out.is_empty() || into.is_empty() {
        return None;
    }
    let (send, receive) = (out.block(0), into.block(0));
    let kinds = [kind(&send)?, kind(&receive)?];
    if let (Blocks::Equal { .. }, Blocks::Equal { .. }) = (out, into) {
        return Some(Action::new(Verb::Alltoall, [count(&send), count(&receive), kinds[0], kinds[1]]));
    }
    let (sends, receives) = (counts(Some(out), out.len())?, counts(Some(into), into.len())?);
    let mut numbers = vec![sends.iter().sum()];
    numbers.extend(&sends);
    numbers.push(receives.iter().sum());
    numbers.extend(&receives);
    numbers.extend(kinds);
    Some(Action::new(Verb::Alltoallv, numbers))
}

/// What a process gives or gets, and a block of what all do: one stands for the other where it is not there.
fn both(mine: Option<&Piece>, all: Option<&Blocks>, rank: usize) -> Option<(Piece, Piece)> {
    let block = all.filter(|all| rank < all.len()).map(|all| all.block(rank));
    let mine = mine.cloned().or_else(|| block.clone())?;
    let block = block.unwrap_or_else(|| mine.clone());
    Some((mine, block))
}

fn count(piece: &Piece) -> f64 {
    piece.count as f64
}

/// The number of the type of elements.
fn kind(piece: &Piece) -> Option<f64> {
    number_of(piece.datatype.permanent.get()?, piece.datatype.size)
}

/// The same, where elements are reduced by an operator that needs no order.
fn plain(piece: &Piece, folding: &Folding) -> Option<f64> {
    if folding.is_derived() || !folding.commutative {
        return None;
    }
    kind(piece)
}

/// How many elements each block has, if all are of one type; zeros where there are none.
fn counts(blocks: Option<&Blocks>, size: usize) -> Option<Vec<f64>> {
    let Some(blocks) = blocks else { return Some(vec![0.0; size]) };
    let first = kind(&blocks.block(0))?;
    let number = |index: usize| {
        let block = blocks.block(index);
        (kind(&block)? == first).then(|| count(&block))
    };
    (0..blocks.len()).map(number).collect()
}
