//! Collectives among neighbours: those that a topology says (MPI 5.0, 8.6).

use std::ffi::c_void;
use std::rc::Rc;

use super::buffers::{Blocks, Piece};
use super::call::{Call, What};
use super::check::{Said, SaidBlocks, SaidTypes, call, equal, forbid_in_place, listed, piece, typed};
use super::exchange::LANES;
use crate::abi::{self, Comm};
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::topology::Topology;

/// The neighbours of a process: whom it receives from, whom it sends to, and whether they are those in a grid.
struct Around {
    comm: Rc<Communicator>,
    sources: Vec<i32>,
    destinations: Vec<i32>,
    grid: bool,
}

fn around(me: &Rank, comm: Comm) -> Result<Around> {
    let comm = me.comm(comm)?;
    let (sources, destinations, grid) = match &*comm.topology.borrow() {
        Some(topology) => {
            let (sources, destinations) = topology.neighbors(comm.rank);
            (sources, destinations, matches!(topology, Topology::Cartesian(_)))
        }
        None => {
            return fail(
                abi::ERR_TOPOLOGY,
                "the communicator has no topology: make it with MPI_Cart_create, MPI_Graph_create or MPI_Dist_graph_create",
            );
        }
    };
    Ok(Around { comm, sources, destinations, grid })
}

impl Around {
    /// In a grid, what goes down arrives from above, even where both neighbours are one process (8.6).
    fn call(self, out: impl Fn(usize) -> Piece, into: &Blocks) -> Result<Call> {
        let lane = |index: usize, arrives: bool| match self.grid {
            true => (index ^ usize::from(arrives)) as i32 % LANES,
            false => 0,
        };
        let out = (0..self.destinations.len())
            .map(|index| (self.destinations[index], out(index), lane(index, false)));
        let into =
            (0..self.sources.len()).map(|index| (self.sources[index], into.block(index), lane(index, true)));
        let what = What::Neighbors { out: out.collect(), into: into.collect() };
        call(self.comm, what)
    }
}

fn forbid_both_in_place(out: *const c_void, into: *const c_void) -> Result {
    forbid_in_place(out, "neighbours get something else than they give")?;
    forbid_in_place(into, "neighbours get something else than they give")
}

#[allow(clippy::missing_errors_doc, reason = "each fails if an argument is not as the standard demands")]
impl Call {
    /// `MPI_Neighbor_allgather`.
    pub fn neighbor_allgather(me: &Rank, mine: Said, all: Said, comm: Comm) -> Result<Self> {
        let around = around(me, comm)?;
        forbid_both_in_place(mine.0, all.0)?;
        let (mine, into) = (piece(me, mine)?, equal(me, all, around.sources.len())?);
        around.call(|_| mine.clone(), &into)
    }

    /// `MPI_Neighbor_allgatherv`.
    pub fn neighbor_allgatherv(me: &Rank, mine: Said, all: SaidBlocks, comm: Comm) -> Result<Self> {
        let around = around(me, comm)?;
        forbid_both_in_place(mine.0, all.0)?;
        let (mine, into) = (piece(me, mine)?, listed(me, all, around.sources.len())?);
        around.call(|_| mine.clone(), &into)
    }

    /// `MPI_Neighbor_alltoall`.
    pub fn neighbor_alltoall(me: &Rank, out: Said, into: Said, comm: Comm) -> Result<Self> {
        let around = around(me, comm)?;
        forbid_both_in_place(out.0, into.0)?;
        let out = equal(me, out, around.destinations.len())?;
        let into = equal(me, into, around.sources.len())?;
        around.call(|index| out.block(index), &into)
    }

    /// `MPI_Neighbor_alltoallv`.
    pub fn neighbor_alltoallv(me: &Rank, out: SaidBlocks, into: SaidBlocks, comm: Comm) -> Result<Self> {
        let around = around(me, comm)?;
        forbid_both_in_place(out.0, into.0)?;
        let out = listed(me, out, around.destinations.len())?;
        let into = listed(me, into, around.sources.len())?;
        around.call(|index| out.block(index), &into)
    }

    /// `MPI_Neighbor_alltoallw`.
    pub fn neighbor_alltoallw(me: &Rank, out: SaidTypes, into: SaidTypes, comm: Comm) -> Result<Self> {
        let around = around(me, comm)?;
        forbid_both_in_place(out.0, into.0)?;
        let out = typed(me, out, around.destinations.len())?;
        let into = typed(me, into, around.sources.len())?;
        around.call(|index| out.block(index), &into)
    }
}
