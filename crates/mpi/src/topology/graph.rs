//! Graphs whose edges every process knows (MPI 5.0, 8.5.3).

use crate::abi;
use crate::error::{Result, fail};

/// A graph: the neighbours of rank `i` are the edges from `index[i - 1]` to `index[i]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// For each rank, how many edges it and those before have.
    pub index: Vec<i32>,
    /// The neighbours of all.
    pub edges: Vec<i32>,
}

impl Graph {
    /// The neighbours of a rank.
    pub fn neighbors(&self, rank: usize) -> &[i32] {
        let first = if rank == 0 { 0 } else { self.index[rank - 1] };
        &self.edges[first as usize..self.index[rank] as usize]
    }

    /// Checks that indices do not go down, and that edges lead to ranks.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(index: &[i32], edges: &[i32]) -> Result {
        let mut before = 0;
        for (rank, count) in index.iter().enumerate() {
            if *count < before {
                return fail(
                    abi::ERR_ARG,
                    format!(
                        "index {rank} is {count}, less than the one before: each counts the edges so far"
                    ),
                );
            }
            before = *count;
        }
        match edges.iter().position(|edge| !(0..index.len() as i32).contains(edge)) {
            Some(place) => fail(
                abi::ERR_ARG,
                format!("edge {place} leads to {}, and the graph has {} nodes", edges[place], index.len()),
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_follow_from_indices() {
        // The example of the standard: 0: 1 3, 1: 0, 2: 3, 3: 0 2.
        let graph = Graph { index: vec![2, 3, 4, 6], edges: vec![1, 3, 0, 3, 0, 2] };
        let neighbors: Vec<&[i32]> = (0..4).map(|rank| graph.neighbors(rank)).collect();
        assert_eq!(neighbors, [&[1, 3][..], &[0], &[3], &[0, 2]]);
        assert_eq!(Graph::check(&graph.index, &graph.edges), Ok(()));
        assert!(Graph::check(&[2, 1], &[0, 1]).is_err());
        assert!(Graph::check(&[1, 2], &[0, 2]).is_err());
    }
}
