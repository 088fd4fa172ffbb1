//! Splitting a communicator by colours and keys, and by the hosts of its processes (MPI 5.0, 7.4.2).
//!
//! The costs are SMPI's: 8 bytes from each to the first, 8 bytes back to each that has a colour, and then the context of each new
//! communicator. What travels is the group itself, so that a process knows of the others by messages alone.

use std::collections::BTreeMap;

use crate::abi;
use crate::communicator::Communicator;
use crate::communicator::channel::{Channel, tags};
use crate::error::Result;
use crate::group::Group;
use crate::p2p::Manner;
use crate::rank::Rank;

/// What a colour and a key cost, and what is answered.
pub const COST: usize = 8;

/// A colour, none for `MPI_UNDEFINED`, and a key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Those of one colour come together.
    pub color: Option<i32>,
    /// In the order of their keys.
    pub key: i32,
}

impl Choice {
    /// In a message.
    pub fn to_bytes(self) -> [u8; COST] {
        let color = self.color.unwrap_or(abi::UNDEFINED);
        let mut bytes = [0; COST];
        bytes[..4].copy_from_slice(&color.to_le_bytes());
        bytes[4..].copy_from_slice(&self.key.to_le_bytes());
        bytes
    }

    /// From a message.
    ///
    /// # Panics
    /// If it is too short.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let number = |from: usize| i32::from_le_bytes(bytes[from..from + 4].try_into().expect("four bytes"));
        let color = number(0);
        Self { color: (color != abi::UNDEFINED).then_some(color), key: number(4) }
    }
}

/// The places of those of each colour, in the order of keys, and of places where keys are equal.
pub fn arranged(choices: &[Choice]) -> BTreeMap<i32, Vec<usize>> {
    let mut colors: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (place, choice) in choices.iter().enumerate() {
        if let Some(color) = choice.color {
            colors.entry(color).or_default().push(place);
        }
    }
    for places in colors.values_mut() {
        places.sort_by_key(|place| (choices[*place].key, *place));
    }
    colors
}

impl Rank {
    /// Splits some processes of a communicator, given by their ranks in it, who all call this; none without a colour.
    ///
    /// # Errors
    /// If a message is lost.
    ///
    /// # Panics
    /// If the process is not among them.
    pub fn split(&self, comm: &Communicator, members: &Group, mine: Choice) -> Result<Option<Communicator>> {
        let channel = Channel { me: self, comm, tag: tags::SPLIT };
        let gathered = channel.gather(members, &mine.to_bytes(), Some(COST))?;
        let chosen = match gathered {
            Some(all) => {
                let choices: Vec<Choice> = all.iter().map(|bytes| Choice::from_bytes(bytes)).collect();
                let groups: BTreeMap<i32, (Group, Vec<u8>)> = arranged(&choices)
                    .into_iter()
                    .map(|(color, places)| {
                        let group =
                            Group::of(places.into_iter().map(|place| members.process(place)).collect());
                        let mut data = crate::message::Data::new();
                        group.write(&mut data);
                        (color, (group, data.to_vec()))
                    })
                    .collect();
                for (choice, rank) in choices.iter().zip(members.iter()).skip(1) {
                    if let Some(color) = choice.color {
                        channel.send(rank as usize, &groups[&color].1, COST, Manner::Immediate)?;
                    }
                }
                mine.color.map(|color| groups[&color].0.clone())
            }
            None if mine.color.is_none() => None,
            None => {
                let data = channel.receive(members.process(0) as usize, Some(COST))?;
                Some(Group::read(&mut &data[..]))
            }
        };
        match chosen {
            Some(group) => self.make_intra(comm, &group, tags::CONTEXT).map(Some),
            None => Ok(None),
        }
    }

    /// The ranks in a communicator of the processes that share a host with this one. They know each other without a message.
    ///
    /// Where executions are explored there is no platform: all run on one host, as they do where programs are tried.
    pub fn on_this_host(&self, comm: &Communicator) -> Group {
        if self.world.explored {
            return Group::all(comm.size());
        }
        let here = self.world.host(self.process);
        let local = comm.group.iter().zip(0..).filter(|(process, _)| self.world.host(*process) == here);
        Group::of(local.map(|(_, rank)| rank).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_arranged_by_key_and_rank() {
        let choice = |color: i32, key| Choice { color: (color >= 0).then_some(color), key };
        let choices = [choice(1, 5), choice(0, 0), choice(1, -2), choice(-1, 0), choice(1, 5), choice(0, 0)];
        let expected = BTreeMap::from([(0, vec![1, 5]), (1, vec![2, 0, 4])]);
        assert_eq!(arranged(&choices), expected);
        for choice in choices {
            assert_eq!(Choice::from_bytes(&choice.to_bytes()), choice);
        }
    }
}
