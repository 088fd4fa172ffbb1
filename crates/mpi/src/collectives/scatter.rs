//! `MPI_Scatter` and `MPI_Scatterv`: one has a block for each (MPI 5.0, 6.6).

use super::buffers::Layout;
use super::selection::Scatter;
use super::team::{Received, Team, land};
use super::trees;
use crate::error::Result;

/// A block for each, as one rank sees it.
#[derive(Debug)]
pub struct Deal<'a> {
    /// All blocks, at the root.
    pub all: Option<&'a [u8]>,
    /// Where its block goes; none at the root if it stays in its place.
    pub mine: Option<&'a mut [u8]>,
    /// The bytes of a block.
    pub block: usize,
    /// Who has them.
    pub root: usize,
}

/// Each gets a block from the root.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn scatter(team: &Team<'_>, deal: &mut Deal<'_>) -> Result {
    if let (Some(all), Some(mine)) = (deal.all, deal.mine.as_deref_mut()) {
        let fits = mine.len().min(deal.block);
        mine[..fits].copy_from_slice(&all[team.rank * deal.block..][..fits]);
    }
    by(team, deal, team.me.world.selection.scatter)
}

fn by(team: &Team<'_>, deal: &mut Deal<'_>, algorithm: Scatter) -> Result {
    if team.size == 1 {
        return Ok(());
    }
    let layout = Layout::Equal(team.size, deal.block);
    let (all, root) = (deal.all.unwrap_or_default(), deal.root);
    let mut others = (0..team.size).filter(|other| *other != root);
    match algorithm {
        Scatter::Default => {
            match (linear_from(team, root, |other| &all[layout.block(other)])?, &mut deal.mine) {
                (Some(content), Some(mine)) => land(&content, mine),
                _ => Ok(()),
            }
        }
        Scatter::Mpich | Scatter::Binomial => binomial(team, deal),
        Scatter::Ompi => by(team, deal, Scatter::ompi(team.size, deal.block)),
        _ if team.rank != root => team.recv(root, deal.mine.as_deref_mut().unwrap_or_default()),
        Scatter::BasicLinear => others.try_for_each(|other| team.send(other, &all[layout.block(other)])),
        Scatter::LinearNb => {
            let sends =
                others.map(|other| team.isend(other, &all[layout.block(other)])).collect::<Result<_>>()?;
            team.finish(sends, Vec::new()).map(drop)
        }
    }
}

/// The root sends to all at once; the others get what it sends.
///
/// # Errors
/// If a message is lost.
pub fn linear_from<'t, B: AsRef<[u8]>>(
    team: &Team<'t>,
    root: usize,
    block: impl Fn(usize) -> B,
) -> Result<Option<Received<'t>>> {
    if team.rank != root {
        let receive = team.irecv(root)?;
        return team.take(receive).map(Some);
    }
    let others = (0..team.size).filter(|other| *other != root);
    let sends = others.map(|other| team.isend(other, block(other).as_ref())).collect::<Result<_>>()?;
    team.finish(sends, Vec::new())?;
    Ok(None)
}

/// Down a binomial tree: each gets what is for it and those below it.
fn binomial(team: &Team<'_>, deal: &mut Deal<'_>) -> Result {
    let Deal { all, mine, block, root } = deal;
    let (size, block, root) = (team.size, *block, *root);
    let v = (team.rank + size - root) % size;
    let tree = trees::binomial(v, size);
    let below = |child: usize| (child - v).min(size - child);
    let held = match (tree.parent, all) {
        (Some(parent), _) if tree.children.is_empty() => {
            return team.recv((parent + root) % size, mine.as_deref_mut().unwrap_or_default());
        }
        (Some(parent), _) => {
            let number = 1 + tree.children.iter().map(|child| below(*child)).sum::<usize>();
            let mut held = vec![0; number * block];
            team.recv((parent + root) % size, &mut held)?;
            if let Some(mine) = mine {
                let fits = mine.len().min(block);
                mine[..fits].copy_from_slice(&held[..fits]);
            }
            held.into()
        }
        (None, Some(all)) if root == 0 => std::borrow::Cow::Borrowed(*all),
        (None, Some(all)) => {
            let [high, low] = Layout::Equal(size, block).round(root, size);
            [&all[high], &all[low]].concat().into()
        }
        (None, None) => unreachable!("the root has all"),
    };
    tree.children.iter().try_for_each(|child| {
        let place = (child - v) * block..(child - v + below(*child)) * block;
        team.send((child + root) % size, &held[place])
    })
}
