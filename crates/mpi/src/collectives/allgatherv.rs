//! `MPI_Allgatherv`: all get a block from each, of unequal sizes (MPI 5.0, 6.7).

use std::ops::Range;

use super::buffers::Layout;
use super::selection::Allgatherv;
use super::team::{Team, land};
use super::{allgather, bcast, gather};
use crate::error::Result;

/// All get a block from each; blocks of so many bytes lie one after the other, and are of elements of so many bytes.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn allgatherv(team: &Team<'_>, sizes: &[usize], element: usize, data: &mut [u8]) -> Result {
    by(team, sizes, element.max(1), data, team.me.world.selection.allgatherv)
}

fn by(team: &Team<'_>, sizes: &[usize], element: usize, data: &mut [u8], algorithm: Allgatherv) -> Result {
    let size = team.size;
    if size == 1 {
        return Ok(());
    }
    let layout = Layout::of(sizes);
    match algorithm {
        Allgatherv::Default => allgather::linear(team, &layout, data),
        Allgatherv::Mpich if data.is_empty() => Ok(()),
        Allgatherv::Mpich => by(team, sizes, element, data, Allgatherv::mpich(size, data.len() / element)),
        Allgatherv::Ompi => by(team, sizes, element, data, Allgatherv::ompi(size, data.len() / size)),
        Allgatherv::Gb => {
            let own = data[layout.block(team.rank)].to_vec();
            gather::linear_to(team, 0, &own, |other, content| land(content, &mut data[layout.block(other)]))?;
            bcast::bcast(team, data, element, 0)
        }
        Allgatherv::Pair => allgather::pairs(team, &layout, data),
        Allgatherv::Ring => allgather::each_to_each(team, &layout, data),
        Allgatherv::NeighborExchange => allgather::neighbors(team, &layout, data),
        Allgatherv::Bruck => allgather::bruck(team, &layout, data),
        Allgatherv::Rdb => allgather::recursive_doubling(team, &layout, data),
        Allgatherv::MpichRing => ring_in_pieces(team, sizes, element, &layout, data),
    }
}

/// Blocks go round a ring in pieces. An empty block is a step without a message.
fn ring_in_pieces(
    team: &Team<'_>,
    sizes: &[usize],
    element: usize,
    layout: &Layout,
    data: &mut [u8],
) -> Result {
    let least = sizes.iter().min().copied().unwrap_or(0);
    let most = if least < 262_144 { (262_144 / element).max(1) * element } else { least };
    let (size, next, previous) = (team.size, team.after(1), team.before(1));
    let pieces = |first: usize| {
        let blocks = (0..size - 1).map(move |step| first + 2 * size - step);
        blocks.flat_map(|block| {
            let block = layout.block(block);
            let number = block.len().div_ceil(most).max(1);
            (0..number).map(move |piece| {
                let begin = block.start + piece * most;
                begin..(begin + most).min(block.end)
            })
        })
    };
    let (mut out, mut into) = (pieces(team.rank), pieces(previous));
    loop {
        let full = |piece: &Range<usize>| !piece.is_empty();
        match (out.next(), into.next()) {
            (None, None) => return Ok(()),
            (sent, got) => match (sent.filter(full), got.filter(full)) {
                (Some(sent), Some(got)) => team.exchange_in(data, next, sent, previous, got)?,
                (Some(sent), None) => team.send(next, &data[sent])?,
                (None, Some(got)) => team.recv(previous, &mut data[got])?,
                (None, None) => {}
            },
        }
    }
}
