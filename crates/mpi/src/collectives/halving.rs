//! Recursive halving and doubling among a power of two of ranks, and how any number of ranks is folded into one
//! (Rabenseifner: Optimization of Collective Reduction Operations, 2004).

use std::ops::Range;

use super::folding::Folding;
use super::team::Team;
use super::trees::{power_below, powers};
use crate::error::Result;

/// Which of two ranks is left when a pair is folded into one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stays {
    /// The odd one.
    Odd,
    /// The even one.
    Even,
}

/// Ranks folded into a power of two of numbers.
#[derive(Copy, Clone, Debug)]
pub struct Folded {
    /// How many numbers.
    pub power: usize,
    /// How many pairs were folded: they have the first numbers.
    pub pairs: usize,
    stays: Stays,
}

impl Folded {
    /// So many ranks.
    pub fn new(size: usize, stays: Stays) -> Self {
        let power = power_below(size);
        Self { power, pairs: size - power, stays }
    }

    /// The number of a rank; none if it was folded away.
    pub fn number(&self, rank: usize) -> Option<usize> {
        if rank >= 2 * self.pairs {
            return Some(rank - self.pairs);
        }
        ((rank % 2 == 1) == (self.stays == Stays::Odd)).then_some(rank / 2)
    }

    /// The rank of a number.
    pub fn rank(&self, number: usize) -> usize {
        if number < self.pairs {
            2 * number + usize::from(self.stays == Stays::Odd)
        } else {
            number + self.pairs
        }
    }

    /// Those who leave give their data to their partners; gives the number of the one that runs, if it stays.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn fold(&self, team: &Team<'_>, folding: &Folding, data: &mut [u8]) -> Result<Option<usize>> {
        let number = self.number(team.rank);
        if team.rank < 2 * self.pairs {
            let partner = team.rank ^ 1;
            if number.is_none() {
                team.send(partner, data)?;
            } else {
                let other = team.hear(partner)?.within(data.len())?;
                merge(team, folding, partner, &other.data, data)?;
            }
        }
        Ok(number)
    }

    /// Those who left get the result from their partners.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn unfold(&self, team: &Team<'_>, data: &mut [u8]) -> Result {
        if team.rank >= 2 * self.pairs {
            return Ok(());
        }
        match self.number(team.rank) {
            Some(_) => team.send(team.rank ^ 1, data),
            None => team.recv(team.rank ^ 1, data),
        }
    }
}

/// `data`, which the ranks around the one that runs gave, and `other`, from the side of another rank, become one.
///
/// # Errors
/// If the operator does not know the type.
pub fn merge(team: &Team<'_>, folding: &Folding, from: usize, other: &[u8], data: &mut [u8]) -> Result {
    if from < team.rank {
        folding.from_left(team.me, other, data)
    } else {
        folding.from_right(team.me, other, data)
    }
}

/// The blocks that a number holds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The first.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Held {
    /// Those that the partner at this distance has, beside these.
    pub fn neighbour(self, number: usize, distance: usize) -> Held {
        let first = if number & distance == 0 { self.first + self.count } else { self.first - self.count };
        Held { first, ..self }
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Held) -> Held {
        Held { first: self.first.min(other.first), count: self.count + other.count }
    }

    /// Where they lie, if block `n` begins at `offsets[n]`.
    pub fn range(self, offsets: &[usize]) -> Range<usize> {
        offsets[self.first]..offsets[self.first + self.count]
    }
}

/// Where `blocks` blocks of `count` elements begin; the last has what is left.
pub fn even_blocks(count: usize, blocks: usize, element: usize) -> Vec<usize> {
    let each = count / blocks * element;
    (0..blocks).map(|block| block * each).chain([count * element]).collect()
}

/// Partners at distances 1, 2, 4... exchange halves of what they hold, and reduce. Operands stay in order.
///
/// # Errors
/// If a message is lost.
pub fn halve(
    team: &Team<'_>,
    folding: &Folding,
    folded: Folded,
    number: usize,
    data: &mut [u8],
    offsets: &[usize],
) -> Result<Held> {
    let mut held = Held { first: 0, count: folded.power };
    for distance in powers(folded.power) {
        let half = held.count / 2;
        let (low, high) =
            (Held { first: held.first, count: half }, Held { first: held.first + half, count: half });
        let (keep, give) = if number & distance == 0 { (low, high) } else { (high, low) };
        let partner = folded.rank(number ^ distance);
        let out = team.joined([&data[give.range(offsets)]].into_iter());
        let other = team.swap(partner, out, partner, keep.range(offsets).len())?;
        merge(team, folding, partner, &other.data, &mut data[keep.range(offsets)])?;
        held = keep;
    }
    Ok(held)
}

/// The way back: partners exchange all that they hold.
///
/// # Errors
/// If a message is lost.
pub fn double(
    team: &Team<'_>,
    folded: Folded,
    number: usize,
    mut held: Held,
    data: &mut [u8],
    offsets: &[usize],
) -> Result {
    for distance in powers(folded.power).rev() {
        let partner = folded.rank(number ^ distance);
        let other = held.neighbour(number, distance);
        team.exchange_in(data, partner, held.range(offsets), partner, other.range(offsets))?;
        held = held.with(other);
    }
    Ok(())
}

/// The lowest bits of a number, so many of them, in reverse.
pub fn reversed(number: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { number.reverse_bits() >> (usize::BITS - bits) }
}
