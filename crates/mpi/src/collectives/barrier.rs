//! `MPI_Barrier`: nobody leaves before all have entered (MPI 5.0, 6.3).

use super::selection::Barrier;
use super::team::Team;
use super::trees::{power_below, powers};
use crate::error::Result;

/// Waits for all.
///
/// # Errors
/// If a message is lost.
pub fn barrier(team: &Team<'_>) -> Result {
    by(team, team.me.world.selection.barrier)
}

/// Waits for all, by an algorithm.
///
/// # Errors
/// If a message is lost.
pub fn by(team: &Team<'_>, algorithm: Barrier) -> Result {
    if team.size == 1 {
        return Ok(());
    }
    match algorithm {
        Barrier::Default | Barrier::BasicLinear => basic_linear(team),
        Barrier::Mpich | Barrier::Bruck => bruck(team),
        Barrier::Ompi => by(team, Barrier::ompi(team.size)),
        Barrier::TwoProcs if team.size == 2 => team.exchange(team.rank ^ 1, &[], team.rank ^ 1, &mut []),
        Barrier::TwoProcs => bruck(team),
        Barrier::Tree => tree(team),
        Barrier::RecursiveDoubling => recursive_doubling(team),
        Barrier::DoubleRing => double_ring(team),
    }
}

/// All tell the first, which tells all.
fn basic_linear(team: &Team<'_>) -> Result {
    if team.rank > 0 {
        team.send(0, &[])?;
        return team.recv(0, &mut []);
    }
    let receives = (1..team.size).map(|other| team.irecv(other)).collect::<Result<_>>()?;
    team.finish(Vec::new(), receives)?;
    let sends = (1..team.size).map(|other| team.isend(other, &[])).collect::<Result<_>>()?;
    team.finish(sends, Vec::new())?;
    Ok(())
}

/// Each hears from those 1, 2, 4... before it (Hensgen, Finkel, Manber: Two Algorithms for Barrier Synchronization, 1988).
fn bruck(team: &Team<'_>) -> Result {
    powers(team.size)
        .try_for_each(|distance| team.exchange(team.after(distance), &[], team.before(distance), &mut []))
}

fn recursive_doubling(team: &Team<'_>) -> Result {
    let (rank, power) = (team.rank, power_below(team.size));
    let extra = team.size - power;
    if rank >= power {
        return team.exchange(rank - power, &[], rank - power, &mut []);
    }
    if rank < extra {
        team.recv(rank + power, &mut [])?;
    }
    for distance in powers(power) {
        team.exchange(rank ^ distance, &[], rank ^ distance, &mut [])?;
    }
    if rank < extra { team.send(rank + power, &[]) } else { Ok(()) }
}

/// Up a tree, and down again.
fn tree(team: &Team<'_>) -> Result {
    let steps = || powers(team.size.next_power_of_two()).filter(|step| team.rank.is_multiple_of(*step));
    let step = |step: usize, up: bool| {
        let other = team.rank ^ step;
        if other >= team.size {
            Ok(())
        } else if (team.rank < other) == up {
            team.recv(other, &mut [])
        } else {
            team.send(other, &[])
        }
    };
    steps().try_for_each(|distance| step(distance, true))?;
    steps().rev().try_for_each(|distance| step(distance, false))
}

/// Twice round the ring.
fn double_ring(team: &Team<'_>) -> Result {
    for _ in 0..2 {
        if team.rank > 0 {
            team.recv(team.before(1), &mut [])?;
        }
        team.send(team.after(1), &[])?;
        if team.rank == 0 {
            team.recv(team.before(1), &mut [])?;
        }
    }
    Ok(())
}
