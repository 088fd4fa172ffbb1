//! Graphs of which each process knows its own edges (MPI 5.0, 8.5.4).

use crate::communicator::Communicator;
use crate::communicator::channel::{Channel, tags};
use crate::error::Result;
use crate::group::Group;
use crate::message::Data;
use crate::p2p::Manner;
use crate::rank::Rank;

/// An edge to or from a process.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The other end.
    pub rank: i32,
    /// How much is sent along it; 1 where nothing is said.
    pub weight: i32,
}

/// The edges of one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistGraph {
    /// Who sends to it.
    pub sources: Vec<Edge>,
    /// Whom it sends to.
    pub destinations: Vec<Edge>,
    /// Whether the program gave weights.
    pub weighted: bool,
}

/// An edge that some process has named.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Named {
    /// Where it begins.
    pub source: i32,
    /// Where it ends.
    pub destination: i32,
    /// Its weight.
    pub weight: i32,
}

/// Edges in a message.
fn write(edges: &[Named]) -> Data {
    let numbers = edges.iter().flat_map(|edge| [edge.source, edge.destination, edge.weight]);
    numbers.flat_map(i32::to_le_bytes).collect()
}

/// Edges from a message.
fn read(data: &[u8]) -> Vec<Named> {
    let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("a number has four bytes"));
    data.chunks(12)
        .map(|edge| Named {
            source: number(&edge[..4]),
            destination: number(&edge[4..8]),
            weight: number(&edge[8..]),
        })
        .collect()
}

impl DistGraph {
    /// Those of a rank among all edges that were named, in the order of who named them.
    pub fn of(rank: i32, edges: &[Named], weighted: bool) -> Self {
        let sources = edges.iter().filter(|edge| edge.destination == rank);
        let destinations = edges.iter().filter(|edge| edge.source == rank);
        Self {
            sources: sources.map(|edge| Edge { rank: edge.source, weight: edge.weight }).collect(),
            destinations: destinations
                .map(|edge| Edge { rank: edge.destination, weight: edge.weight })
                .collect(),
            weighted,
        }
    }
}

impl Rank {
    /// Tells each process of a communicator its edges, whoever has named them: all call this. The first process collects them.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn share_edges(&self, comm: &Communicator, named: &[Named], weighted: bool) -> Result<DistGraph> {
        let channel = Channel { me: self, comm, tag: tags::EDGES };
        let mut mine = Data::from_slice(&[u8::from(weighted)]);
        mine.extend_from_slice(&write(named));
        let Some(all) = channel.gather(&Group::all(comm.size()), &mine, None)? else {
            let told = channel.receive(0, None)?;
            return Ok(DistGraph::of(comm.rank as i32, &read(&told[1..]), told[0] != 0));
        };
        // Those that name edges say whether these have weights.
        let says = |named: bool| all.iter().any(|data| data[0] != 0 && (data.len() > 1) == named);
        let weighted = if all.iter().any(|data| data.len() > 1) { says(true) } else { says(false) };
        let mut edges: Vec<Vec<Named>> = vec![vec![]; comm.size()];
        for edge in all.iter().flat_map(|data| read(&data[1..])) {
            edges[edge.source as usize].push(edge);
            if edge.destination != edge.source {
                edges[edge.destination as usize].push(edge);
            }
        }
        for (rank, edges) in edges.iter().enumerate().skip(1) {
            let mut data = Data::from_slice(&[u8::from(weighted)]);
            data.extend_from_slice(&write(edges));
            channel.send(rank, &data, data.len(), Manner::Immediate)?;
        }
        Ok(DistGraph::of(0, &edges[0], weighted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_own_edges() {
        let edges = [(0, 1, 5), (1, 0, 6), (2, 1, 7), (1, 1, 8)].map(|(source, destination, weight)| Named {
            source,
            destination,
            weight,
        });
        assert_eq!(read(&write(&edges)), edges);
        let graph = DistGraph::of(1, &edges, true);
        let pairs = |edges: &[Edge]| edges.iter().map(|edge| (edge.rank, edge.weight)).collect::<Vec<_>>();
        assert_eq!(pairs(&graph.sources), [(0, 5), (2, 7), (1, 8)]);
        assert_eq!(pairs(&graph.destinations), [(0, 6), (1, 8)]);
    }
}
