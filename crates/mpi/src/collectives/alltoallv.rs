//! `MPI_Alltoallv` and `MPI_Alltoallw`: each has a block for each, of unequal sizes and types (MPI 5.0, 6.8).

use super::buffers::Blocks;
use super::selection::Alltoallv;
use super::team::Team;
use crate::error::Result;

/// Each gets a block from each.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn alltoallv(team: &Team<'_>, out: &Blocks, into: &Blocks) -> Result {
    by(team, out, into, team.me.world.selection.alltoallv)
}

/// Each gets a block from each, by an algorithm.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn by(team: &Team<'_>, out: &Blocks, into: &Blocks, algorithm: Alltoallv) -> Result {
    let rank = team.rank;
    match algorithm {
        Alltoallv::Ompi => by(team, out, into, Alltoallv::ompi(team.size)),
        Alltoallv::Default | Alltoallv::BasicLinear => {
            into.block(rank).copy_from(&out.block(rank));
            let others: Vec<usize> = (0..team.size).filter(|other| *other != rank).collect();
            at_once(team, out, into, &others, &others)
        }
        Alltoallv::Mpich | Alltoallv::Bruck => {
            into.block(rank).copy_from(&out.block(rank));
            let all: Vec<usize> = (0..team.size).collect();
            all.chunks(4).try_for_each(|group| {
                let others = group.iter().filter(|away| **away != 0);
                let (from, to): (Vec<_>, Vec<_>) =
                    others.map(|away| (team.after(*away), team.before(*away))).unzip();
                at_once(team, out, into, &from, &to)
            })
        }
        Alltoallv::Pair => {
            into.block(rank).copy_from(&out.block(rank));
            (1..team.size).try_for_each(|away| {
                let (to, from) = match team.size.is_power_of_two() {
                    true => (rank ^ away, rank ^ away),
                    false => (team.after(away), team.before(away)),
                };
                let sent = team.isend(to, &out.block(to).read())?;
                into.block(from).receive(&*team.hear(from)?)?;
                team.sent(sent)
            })
        }
    }
}

/// Receives from these and sends to those are posted, and waited for together.
fn at_once(team: &Team<'_>, out: &Blocks, into: &Blocks, from: &[usize], to: &[usize]) -> Result {
    let receives = from.iter().map(|other| team.irecv(*other)).collect::<Result<_>>()?;
    let sends =
        to.iter().map(|other| team.isend(*other, &out.block(*other).read())).collect::<Result<_>>()?;
    let contents = team.finish(sends, receives)?;
    from.iter().zip(contents).try_for_each(|(other, content)| into.block(*other).receive(&content))
}
