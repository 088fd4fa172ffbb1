//! `MPI_Gather` and `MPI_Gatherv`: one gets a block from each (MPI 5.0, 6.5).

use super::buffers::Layout;
use super::selection::Gather;
use super::team::{Team, land};
use super::trees::{self, segment};
use crate::error::Result;
use crate::message::Content;

/// A block of each, as one rank sees it.
#[derive(Debug)]
pub struct Harvest<'a> {
    /// Its block; none at the root if it lies in its place.
    pub mine: Option<&'a [u8]>,
    /// Where all blocks go, at the root.
    pub all: Option<&'a mut [u8]>,
    /// The bytes of a block.
    pub block: usize,
    /// The bytes of an element, 1 at least.
    pub element: usize,
    /// Who gets them.
    pub root: usize,
}

/// The root gets a block from each.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn gather(team: &Team<'_>, harvest: &mut Harvest<'_>) -> Result {
    if let (Some(all), Some(mine)) = (harvest.all.as_deref_mut(), harvest.mine) {
        let begin = team.rank * harvest.block;
        let fits = mine.len().min(harvest.block);
        all[begin..begin + fits].copy_from_slice(&mine[..fits]);
    }
    by(team, harvest, team.me.world.selection.gather)
}

fn by(team: &Team<'_>, harvest: &mut Harvest<'_>, algorithm: Gather) -> Result {
    if team.size == 1 {
        return Ok(());
    }
    match algorithm {
        Gather::Default => {
            let block = harvest.block;
            let mine = harvest.mine.unwrap_or_default();
            let all = harvest.all.as_deref_mut().unwrap_or_default();
            linear_to(team, harvest.root, mine, |other, content| {
                land(content, &mut all[other * block..(other + 1) * block])
            })
        }
        Gather::Mpich | Gather::Binomial => binomial(team, harvest),
        Gather::Ompi => by(team, harvest, Gather::ompi(team.size, harvest.block)),
        Gather::BasicLinear => basic_linear(team, harvest),
        Gather::LinearSync => linear_sync(team, harvest),
    }
}

/// All send to the root at once, which is told what each sent.
///
/// # Errors
/// If a message is lost, or is not what it should be.
pub fn linear_to(
    team: &Team<'_>,
    root: usize,
    mine: &[u8],
    mut told: impl FnMut(usize, &Content) -> Result,
) -> Result {
    if team.rank != root {
        let sent = team.isend(root, mine)?;
        return team.sent(sent);
    }
    let others = || (0..team.size).filter(|other| *other != root);
    let receives = others().map(|other| team.irecv(other)).collect::<Result<_>>()?;
    let contents = team.finish(Vec::new(), receives)?;
    others().zip(&contents).try_for_each(|(other, content)| told(other, content))
}

/// The root receives from one after the other.
fn basic_linear(team: &Team<'_>, harvest: &mut Harvest<'_>) -> Result {
    let Harvest { mine, all, block, root, .. } = harvest;
    match all {
        Some(all) => (0..team.size)
            .filter(|other| other != root)
            .try_for_each(|other| team.recv(other, &mut all[other * *block..(other + 1) * *block])),
        None => team.send(*root, mine.unwrap_or_default()),
    }
}

/// Up a binomial tree: each sends what it has of all those below it.
fn binomial(team: &Team<'_>, harvest: &mut Harvest<'_>) -> Result {
    let Harvest { mine, all, block, root, .. } = harvest;
    let (size, block, root) = (team.size, *block, *root);
    let v = (team.rank + size - root) % size;
    let tree = trees::binomial(v, size);
    if let (Some(parent), true) = (tree.parent, tree.children.is_empty()) {
        return team.send((parent + root) % size, mine.unwrap_or_default());
    }
    let below = |child: usize| (child - v).min(size - child);
    let number = 1 + tree.children.iter().map(|child| below(*child)).sum::<usize>();
    if let (Some(all), 0) = (all.as_deref_mut(), root) {
        return tree.children.iter().try_for_each(|child| {
            team.recv(*child, &mut all[child * block..(child + below(*child)) * block])
        });
    }
    let mut held = vec![0; number * block];
    if let Some(mine) = mine {
        let fits = mine.len().min(block);
        held[..fits].copy_from_slice(&mine[..fits]);
    }
    for child in &tree.children {
        let place = (child - v) * block..(child - v + below(*child)) * block;
        team.recv((child + root) % size, &mut held[place])?;
    }
    match (tree.parent, all) {
        (Some(parent), _) => team.send((parent + root) % size, &held),
        (None, Some(all)) => {
            // The root's own block is in its place already.
            for other in 1..size {
                let place = Layout::Equal(size, block).block(other + root);
                all[place].copy_from_slice(&held[other * block..(other + 1) * block]);
            }
            Ok(())
        }
        (None, None) => unreachable!("the root has a place for all"),
    }
}

/// The root asks one after the other for the first part; the rests may come when they like.
fn linear_sync(team: &Team<'_>, harvest: &mut Harvest<'_>) -> Result {
    let Harvest { mine, all, block, element, root } = harvest;
    let (block, element) = (*block, (*element).max(1));
    let first = segment(if block > 92160 { 32768 } else { 1024 }, element, block / element) * element;
    let first = first.min(block);
    let Some(all) = all else {
        let mine = mine.unwrap_or_default();
        let first = first.min(mine.len());
        team.recv(*root, &mut [])?;
        team.send(*root, &mine[..first])?;
        return team.send(*root, &mine[first..]);
    };
    let others = || (0..team.size).filter(|other| other != root);
    let mut rests = Vec::new();
    for other in others() {
        let begin = team.irecv(other)?;
        team.send(other, &[])?;
        rests.push(team.irecv(other)?);
        team.take_into(begin, &mut all[other * block..other * block + first])?;
    }
    for (other, content) in others().zip(team.finish(Vec::new(), rests)?) {
        land(&content, &mut all[other * block + first..(other + 1) * block])?;
    }
    Ok(())
}
