//! Recursive doubling for any number of ranks: groups of 1, 2, 4... ranks exchange with their neighbours; where a group has more
//! ranks than its neighbour, those without a partner hear from the others in their group.
//! (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005, section 4.)

use std::ops::Range;

use super::team::Team;
use super::trees::powers;
use crate::error::Result;

/// A step of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// It sends what its group has, and receives what the other has.
    Exchange {
        /// With this number.
        with: usize,
        /// The numbers of its own group.
        own: Range<usize>,
        /// Those of the other.
        other: Range<usize>,
    },
    /// It hands on what came from the other group.
    Pass {
        /// To this number.
        to: usize,
        /// The numbers of the other group.
        other: Range<usize>,
    },
    /// It is told what came from the other group.
    Hear {
        /// By this number.
        from: usize,
        /// The numbers of the other group.
        other: Range<usize>,
    },
}

/// What number `v` of `size` does.
pub fn steps(v: usize, size: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let group = |first: usize, length: usize| first..(first + length).min(size);
    for distance in powers(size) {
        let partner = v ^ distance;
        let clear = |number: usize, below: usize| number & !(below - 1);
        let (mine, other) = (clear(v, distance), clear(partner, distance));
        if partner < size {
            steps.push(Step::Exchange {
                with: partner,
                own: group(mine, distance),
                other: group(other, distance),
            });
        }
        if other + distance <= size || mine + distance >= size {
            continue;
        }
        let there = size - mine - distance;
        for half in powers(distance).rev() {
            let next = v ^ half;
            let limit = clear(v, 2 * half) + there;
            let other = group(other, distance);
            if next > v && v < limit && limit <= next {
                steps.push(Step::Pass { to: next, other });
            } else if next < v && next < limit && limit <= v {
                steps.push(Step::Hear { from: next, other });
            }
        }
    }
    steps
}

/// Each number has its block of the data in the end each has all. `rank` says whose number it is, `range` where blocks lie.
///
/// # Errors
/// If a message is lost, or longer than its place.
pub fn gather(
    team: &Team<'_>,
    v: usize,
    rank: impl Fn(usize) -> usize,
    data: &mut [u8],
    range: impl Fn(Range<usize>) -> Range<usize>,
) -> Result {
    for step in steps(v, team.size) {
        match step {
            Step::Exchange { with, own, other } => {
                team.exchange_in(data, rank(with), range(own), rank(with), range(other))?;
            }
            Step::Pass { to, other } => team.send(rank(to), &data[range(other)])?,
            Step::Hear { from, other } => team.recv(rank(from), &mut data[range(other)])?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each number holds, and what is on the way, as sets of blocks.
    #[test]
    fn all_hold_all_in_the_end() {
        for size in 1..=40 {
            let mut held: Vec<Vec<bool>> =
                (0..size).map(|v| (0..size).map(|block| block == v).collect()).collect();
            let mut left: Vec<Vec<Step>> = (0..size).map(|v| steps(v, size)).collect();
            left.iter_mut().for_each(|steps| steps.reverse());
            loop {
                let ready = (0..size).find_map(|v| match left[v].last()? {
                    Step::Exchange { with, own, .. } => {
                        let back = left[*with].last()?;
                        matches!(back, Step::Exchange { with, .. } if *with == v)
                            .then(|| (v, *with, own.clone(), true))
                    }
                    Step::Pass { to, other } => {
                        let back = left[*to].last()?;
                        matches!(back, Step::Hear { from, .. } if *from == v)
                            .then(|| (v, *to, other.clone(), false))
                    }
                    Step::Hear { .. } => None,
                });
                let Some((v, with, blocks, both)) = ready else { break };
                for block in blocks {
                    assert!(held[v][block], "{v} of {size} has no block {block} to send");
                    held[with][block] = true;
                }
                if let (true, Some(Step::Exchange { own, .. })) = (both, left[with].last().cloned()) {
                    for block in own {
                        assert!(held[with][block]);
                        held[v][block] = true;
                    }
                }
                left[v].pop();
                left[with].pop();
            }
            assert!(left.iter().all(Vec::is_empty), "{size} ranks wait for ever: {left:?}");
            assert!(held.iter().flatten().all(|held| *held), "{size} ranks");
        }
    }
}
