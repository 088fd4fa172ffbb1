//! `MPI_Alltoall`: each has a block for each (MPI 5.0, 6.8).

use super::buffers::Layout;
use super::selection::Alltoall;
use super::team::{Team, land};
use super::trees::powers;
use crate::error::Result;

/// Each gets a block of so many bytes from each.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn alltoall(team: &Team<'_>, block: usize, out: &[u8], into: &mut [u8]) -> Result {
    let own = Layout::Equal(team.size, block).block(team.rank);
    into[own.clone()].copy_from_slice(&out[own]);
    by(team, block, out, into, team.me.world.selection.alltoall)
}

fn by(team: &Team<'_>, block: usize, out: &[u8], into: &mut [u8], algorithm: Alltoall) -> Result {
    let layout = Layout::Equal(team.size, block);
    if team.size == 1 {
        return Ok(());
    }
    match algorithm {
        Alltoall::Default | Alltoall::Ompi => by(team, block, out, into, Alltoall::ompi(team.size, block)),
        Alltoall::Mpich => by(team, block, out, into, Alltoall::mpich(team.size, block)),
        Alltoall::BasicLinear => basic_linear(team, &layout, out, into),
        Alltoall::Bruck => bruck(team, &layout, out, into),
        Alltoall::Pair if team.size.is_power_of_two() => (1..team.size).try_for_each(|away| {
            let partner = team.rank ^ away;
            team.exchange(partner, &out[layout.block(partner)], partner, &mut into[layout.block(partner)])
        }),
        Alltoall::Pair | Alltoall::Ring => (1..team.size).try_for_each(|away| {
            let (to, from) = (team.after(away), team.before(away));
            team.exchange(to, &out[layout.block(to)], from, &mut into[layout.block(from)])
        }),
        Alltoall::ScatterDest if block == 0 => Ok(()),
        Alltoall::ScatterDest => scattered(team, &layout, out, into),
    }
}

/// All at once.
fn basic_linear(team: &Team<'_>, layout: &Layout, out: &[u8], into: &mut [u8]) -> Result {
    let receives = (1..team.size).map(|away| team.irecv(team.after(away))).collect::<Result<_>>()?;
    let send = |away: usize| {
        let to = team.before(away);
        team.isend(to, &out[layout.block(to)])
    };
    let sends = (1..team.size).map(send).collect::<Result<_>>()?;
    let contents = team.finish(sends, receives)?;
    (1..team.size)
        .zip(contents)
        .try_for_each(|(away, content)| land(&content, &mut into[layout.block(team.after(away))]))
}

/// Blocks hop by 1, 2, 4... ranks, as the bits of their way say (Bruck et al. 1997).
fn bruck(team: &Team<'_>, layout: &Layout, out: &[u8], into: &mut [u8]) -> Result {
    let size = team.size;
    let [high, low] = layout.round(team.rank, size);
    let mut held = [&out[high], &out[low]].concat();
    for distance in powers(size) {
        // Those whose number has that bit: every second run of so many.
        let moving = (distance..size).step_by(2 * distance);
        let moving = moving.map(|first| layout.blocks(first..(first + distance).min(size)));
        let sent = team.joined(moving.clone().map(|run| &held[run]));
        let length = sent.len();
        let got = team.swap(team.after(distance), sent, team.before(distance), length)?;
        let mut rest = &got.data[..];
        for run in moving {
            let (first, after) = rest.split_at(run.len().min(rest.len()));
            held[run][..first.len()].copy_from_slice(first);
            rest = after;
        }
    }
    for away in 0..size {
        into[layout.block(team.before(away))].copy_from_slice(&held[layout.block(away)]);
    }
    Ok(())
}

/// All at once, but four at a time; the first message is to itself.
fn scattered(team: &Team<'_>, layout: &Layout, out: &[u8], into: &mut [u8]) -> Result {
    let all: Vec<usize> = (0..team.size).collect();
    for group in all.chunks(4) {
        let receives = group.iter().map(|away| team.irecv(team.after(*away))).collect::<Result<_>>()?;
        let send = |away: &usize| {
            let to = team.before(*away);
            team.isend(to, &out[layout.block(to)])
        };
        let sends = group.iter().map(send).collect::<Result<_>>()?;
        for (away, content) in group.iter().zip(team.finish(sends, receives)?) {
            land(&content, &mut into[layout.block(team.after(*away))])?;
        }
    }
    Ok(())
}
