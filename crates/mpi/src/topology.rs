//! Who is whose neighbour: Cartesian, graph and distributed graph topologies (MPI 5.0, chapter 8).

/// What is known of the neighbours in a communicator.
#[derive(Clone, PartialEq, Debug)]
pub enum Topology {}
