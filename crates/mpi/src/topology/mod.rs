//! Who is whose neighbour: Cartesian, graph and distributed graph topologies (MPI 5.0, chapter 8).

mod cartesian;
mod dims;
mod dist_graph;
mod graph;

pub use cartesian::Cartesian;
pub use dims::balanced;
pub use dist_graph::{DistGraph, Edge, Named};
pub use graph::Graph;

/// What is known of the neighbours in a communicator.
#[derive(Clone, PartialEq, Debug)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// Edges that every process knows.
    Graph(Graph),
    /// Edges of which a process knows its own.
    DistGraph(DistGraph),
}

impl Topology {
    /// The neighbours of a rank in neighbourhood collectives: whom it receives from, and whom it sends to (8.6). In a grid they
    /// are in the order of dimensions, first the one below and then the one above, `MPI_PROC_NULL` beyond the edges. Of a
    /// distributed graph the neighbours of the process itself are known, whatever the rank.
    pub fn neighbors(&self, rank: usize) -> (Vec<i32>, Vec<i32>) {
        match self {
            Topology::Cartesian(grid) => {
                let both: Vec<i32> = (0..grid.dims.len())
                    .flat_map(|direction| <[i32; 2]>::from(grid.shift(rank, direction, 1)))
                    .collect();
                (both.clone(), both)
            }
            Topology::Graph(graph) => {
                let both = graph.neighbors(rank).to_vec();
                (both.clone(), both)
            }
            Topology::DistGraph(graph) => (
                graph.sources.iter().map(|edge| edge.rank).collect(),
                graph.destinations.iter().map(|edge| edge.rank).collect(),
            ),
        }
    }
}
