//! `MPI_Scan` and `MPI_Exscan`: each gets what an operator makes of what it and those before it have (MPI 5.0, 6.11).

use super::folding::Folding;
use super::reduce::{first, in_turn};
use super::team::Team;
use crate::error::Result;

/// Whether a rank's own data are part of its result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Own {
    /// `MPI_Scan`.
    In,
    /// `MPI_Exscan`.
    Out,
}

/// Reduces what the ranks up to this one have, into `data`. The first rank of [`Own::Out`] has no result, and keeps its data.
///
/// # Errors
/// If a message is lost, or the operator does not know the type.
pub fn scan(team: &Team<'_>, folding: &Folding, data: &mut [u8], own: Own) -> Result {
    let receives = (0..team.rank).map(|other| team.irecv(other)).collect::<Result<_>>()?;
    let sends = (team.rank + 1..team.size).map(|other| team.isend(other, data)).collect::<Result<_>>()?;
    let contents = team.finish(sends, receives)?;
    let mut parts: Vec<&[u8]> = contents.iter().map(|content| first(&content.data, data.len())).collect();
    if own == Own::In {
        parts.push(data);
    }
    if !parts.is_empty() {
        let result = in_turn(team, folding, &parts)?;
        data.copy_from_slice(&result);
    }
    Ok(())
}
