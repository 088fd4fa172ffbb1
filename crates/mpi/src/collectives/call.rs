//! A collective as it is called: its arguments, checked, and what becomes of them when it blocks.

use std::rc::Rc;

use super::buffers::{Blocks, Piece};
use super::exchange::Exchange;
use super::folding::{Folding, Scratch};
use super::gather::Harvest;
use super::scan::Own;
use super::scatter::Deal;
use super::team::Team;
use super::{
    allgather, allgatherv, allreduce, alltoall, alltoallv, barrier, bcast, gather, reduce, reduce_scatter,
    scan, scatter,
};
use crate::abi;
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::rank::Rank;

/// A collective and its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who takes part.
    pub comm: Rc<Communicator>,
    /// What it is.
    pub what: What,
    /// Where the arrays lie that it is told by, if they must not change until it is over.
    pub arrays: Vec<(usize, usize)>,
}

/// Who gives or gets something.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Root {
    /// This rank; of the other group, between two groups.
    Rank(usize),
    /// The process that calls, for the other group (`MPI_ROOT`).
    Here,
    /// Another one of its group: it has nothing to do (`MPI_PROC_NULL`).
    Elsewhere,
}

/// What a collective does. Where something is not given it lies in its place already (`MPI_IN_PLACE`), or is not used.
#[derive(Clone, Debug)]
pub enum What {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Bcast`.
    Bcast {
        /// What is given to all.
        data: Piece,
        /// By whom.
        root: Root,
    },
    /// `MPI_Gather`, `MPI_Gatherv`.
    Gather {
        /// What this process gives.
        mine: Option<Piece>,
        /// Where all goes, at the root.
        all: Option<Blocks>,
        /// Who gets it.
        root: Root,
        /// Whether blocks are equal.
        equal: bool,
    },
    /// `MPI_Scatter`, `MPI_Scatterv`.
    Scatter {
        /// What all get, at the root.
        all: Option<Blocks>,
        /// Where this process has its block.
        mine: Option<Piece>,
        /// Who has it.
        root: Root,
        /// Whether blocks are equal.
        equal: bool,
    },
    /// `MPI_Allgather`, `MPI_Allgatherv`.
    Allgather {
        /// What this process gives.
        mine: Option<Piece>,
        /// Where all goes.
        all: Blocks,
    },
    /// `MPI_Alltoall` and its kind.
    Alltoall {
        /// What this process gives.
        out: Option<Blocks>,
        /// Where all goes.
        into: Blocks,
    },
    /// `MPI_Reduce`.
    Reduce {
        /// What this process gives.
        input: Option<Piece>,
        /// Where the result goes, at the root.
        output: Option<Piece>,
        /// The operator.
        folding: Folding,
        /// Who gets it.
        root: Root,
    },
    /// `MPI_Allreduce`.
    Allreduce {
        /// What this process gives.
        input: Option<Piece>,
        /// Where the result goes.
        output: Piece,
        /// The operator.
        folding: Folding,
    },
    /// `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.
    ReduceScatter {
        /// What this process gives: all blocks.
        input: Piece,
        /// Where its block of the result goes.
        output: Piece,
        /// How many elements each gets.
        counts: Vec<usize>,
        /// Whether these are equal because the call says so.
        block: bool,
        /// The operator.
        folding: Folding,
    },
    /// `MPI_Scan`, `MPI_Exscan`.
    Scan {
        /// What this process gives.
        input: Option<Piece>,
        /// Where the result goes.
        output: Piece,
        /// The operator.
        folding: Folding,
        /// Whether it counts for itself.
        own: Own,
    },
    /// `MPI_Neighbor_alltoall` and its kind; a gather gives all the same.
    Neighbors {
        /// Whom it sends to, what, and on which lane.
        out: Vec<(i32, Piece, i32)>,
        /// Whom it receives from, where to, and on which lane.
        into: Vec<(i32, Piece, i32)>,
    },
}

impl Call {
    /// The tag of its messages when it blocks.
    fn tag(&self) -> i32 {
        self.what.tag()
    }
}

impl What {
    fn tag(&self) -> i32 {
        match self {
            What::Barrier => 1,
            What::Bcast { .. } => 2,
            What::Gather { .. } => 3,
            What::Scatter { .. } => 4,
            What::Allgather { .. } => 5,
            What::Alltoall { .. } => 6,
            What::Reduce { .. } => 7,
            What::Allreduce { .. } => 8,
            What::ReduceScatter { .. } => 9,
            What::Scan { .. } => 10,
            // Lanes follow.
            What::Neighbors { .. } => 1 << 16,
        }
    }
}

impl Call {
    fn has_root(&self) -> bool {
        matches!(
            self.what,
            What::Bcast { .. } | What::Gather { .. } | What::Scatter { .. } | What::Reduce { .. }
        )
    }

    /// Does it, and waits until its part of it is done.
    ///
    /// # Errors
    /// If a message does not fit, or the operator does not know the type.
    pub fn run(&self, me: &Rank) -> Result {
        me.check_collective(self);
        me.check_uses(|| self.uses());
        self.run_through(me)?;
        me.has_written(|| self.uses());
        Ok(())
    }

    fn run_through(&self, me: &Rank) -> Result {
        let _written = me.write_collective(self);
        if self.comm.is_inter() || matches!(self.what, What::Neighbors { .. }) {
            return Exchange::new(me, self, self.tag()).run(me);
        }
        if me.world.explored && me.eager_limit() == 0 && !matches!(self.what, What::Barrier) {
            // Collectives may let all wait for all (6.14), as sends may wait for their receivers.
            barrier::barrier(&Team::all(me, &self.comm, What::Barrier.tag()))?;
        }
        if me.world.explored && self.has_root() {
            // Nobody waits for more than what it needs, and no order comes of how the data are handed on.
            return Exchange::new(me, self, self.tag()).run(me);
        }
        let team = Team::all(me, &self.comm, self.tag());
        let rank = team.rank;
        match &self.what {
            What::Barrier => barrier::barrier(&team),
            What::Bcast { data, root } => {
                let (root, mut stage) = (root.rank(), data.stage());
                bcast::bcast(&team, &mut stage, data.datatype.size, root)?;
                if rank != root {
                    stage.commit();
                }
                Ok(())
            }
            What::Gather { mine, all, root, equal } => gather_blocks(&team, mine, all, root.rank(), *equal),
            What::Scatter { all, mine, root, equal } => scatter_blocks(&team, all, mine, root.rank(), *equal),
            What::Allgather { mine, all } => {
                if let Some(mine) = mine {
                    fits(mine, &all.block(rank), rank)?;
                    all.block(rank).copy_from(mine);
                }
                if let (Some(whole), Blocks::Equal { first, .. }) = (all.whole(), all) {
                    let mut stage = whole.stage();
                    allgather::allgather(&team, first.bytes(), &mut stage)?;
                    stage.commit();
                    return Ok(());
                }
                let element = all.block(0).datatype.size;
                if let Some(row) = all.in_a_row() {
                    let mut stage = row.stage();
                    allgatherv::allgatherv(&team, &all.sizes(), element, &mut stage)?;
                    stage.commit();
                    return Ok(());
                }
                let mut data = all.read();
                allgatherv::allgatherv(&team, &all.sizes(), element, &mut data)?;
                all.write(&data);
                Ok(())
            }
            What::Alltoall { out, into } => exchange_blocks(&team, out.as_ref(), into),
            What::Reduce { input, output, folding, root } => match output {
                Some(output) => in_output(input.as_ref(), output, |data| {
                    reduce::reduce(&team, folding, data, root.rank())
                }),
                None => {
                    let mut data =
                        input.as_ref().map_or_else(Scratch::default, |input| Scratch::copy(&input.read()));
                    reduce::reduce(&team, folding, &mut data, root.rank())
                }
            },
            What::Allreduce { input, output, folding } => {
                in_output(input.as_ref(), output, |data| allreduce::allreduce(&team, folding, data))
            }
            What::ReduceScatter { input, output, counts, folding, .. } => {
                let mut data = Scratch::copy(&input.read());
                let sizes: Vec<usize> = counts.iter().map(|count| count * folding.element).collect();
                reduce_scatter::reduce_scatter(&team, folding, &mut data, &sizes)?;
                let begin = sizes[..rank].iter().sum::<usize>();
                output.write(&data[begin..begin + sizes[rank]]);
                Ok(())
            }
            What::Scan { input, output, folding, own } => {
                let mut data = Scratch::copy(&input.as_ref().unwrap_or(output).read());
                scan::scan(&team, folding, &mut data, *own)?;
                if *own == Own::In || rank > 0 {
                    output.write(&data);
                }
                Ok(())
            }
            What::Neighbors { .. } => unreachable!("that is an exchange"),
        }
    }
}

fn gather_blocks(
    team: &Team<'_>,
    mine: &Option<Piece>,
    all: &Option<Blocks>,
    root: usize,
    equal: bool,
) -> Result {
    let read = mine.as_ref().map(Piece::read);
    if !equal {
        if let (Some(all), Some(mine)) = (all, mine) {
            fits(mine, &all.block(team.rank), team.rank)?;
            all.block(team.rank).copy_from(mine);
        }
        return gather::linear_to(team, root, read.as_deref().unwrap_or_default(), |other, content| {
            all.as_ref().map_or(Ok(()), |all| all.block(other).receive(content))
        });
    }
    if let (Some(all), Some(mine)) = (all, mine) {
        fits(mine, &all.block(team.rank), team.rank)?;
    }
    let first = all.as_ref().map(|all| all.block(0));
    let shape = first.as_ref().or(mine.as_ref()).expect("the root has a place, the others give something");
    let (block, element) = (shape.bytes(), shape.datatype.size.max(1));
    let mut stage = all.as_ref().and_then(Blocks::whole).map(|whole| whole.stage());
    let harvest = &mut Harvest { mine: read.as_deref(), all: stage.as_deref_mut(), block, element, root };
    gather::gather(team, harvest)?;
    if let Some(stage) = stage {
        stage.commit();
    }
    Ok(())
}

fn scatter_blocks(
    team: &Team<'_>,
    all: &Option<Blocks>,
    mine: &Option<Piece>,
    root: usize,
    equal: bool,
) -> Result {
    if let (Some(all), Some(mine)) = (all, mine) {
        fits(&all.block(team.rank), mine, team.rank)?;
    }
    if !equal {
        if let (Some(all), Some(mine)) = (all, mine) {
            mine.copy_from(&all.block(team.rank));
        }
        let block =
            |other: usize| all.as_ref().map_or_else(Default::default, |all| all.block(other).packed());
        let content = scatter::linear_from(team, root, block)?;
        return match (content, mine) {
            (Some(content), Some(mine)) => mine.receive(&content),
            _ => Ok(()),
        };
    }
    let first = all.as_ref().map(|all| all.block(0));
    let block = first.as_ref().or(mine.as_ref()).map_or(0, Piece::bytes);
    let whole = all.as_ref().and_then(Blocks::whole);
    let whole = whole.as_ref().map(Piece::read);
    let mut stage = mine.as_ref().map(Piece::stage);
    let deal = &mut Deal { all: whole.as_deref(), mine: stage.as_deref_mut(), block, root };
    scatter::scatter(team, deal)?;
    if let Some(stage) = stage {
        stage.commit();
    }
    Ok(())
}

fn exchange_blocks(team: &Team<'_>, out: Option<&Blocks>, into: &Blocks) -> Result {
    let copy = if out.is_none() { into.read() } else { Vec::new() };
    if let Some(out) = out {
        fits(&out.block(team.rank), &into.block(team.rank), team.rank)?;
    }
    if let (Some(whole), Blocks::Equal { first, .. }) = (into.whole(), into) {
        let given = out.and_then(Blocks::whole);
        let out = given.as_ref().map_or((&copy).into(), Piece::read);
        let mut stage = whole.stage();
        alltoall::alltoall(team, first.bytes(), &out, &mut stage)?;
        stage.commit();
        return Ok(());
    }
    let byte = team.me.datatype(abi::BYTE)?;
    let mut begin = copy.as_ptr().cast_mut();
    let copied = |size: &usize| {
        let piece = Piece { buffer: begin.cast(), count: *size, datatype: Rc::clone(&byte) };
        begin = begin.wrapping_add(*size);
        piece
    };
    match out {
        Some(out) => alltoallv::alltoallv(team, out, into),
        None => {
            let out = Blocks::Listed(into.sizes().iter().map(copied).collect());
            alltoallv::alltoallv(team, &out, into)
        }
    }
}

impl Root {
    /// The rank, within one group.
    pub fn rank(self) -> usize {
        match self {
            Root::Rank(rank) => rank,
            Root::Here | Root::Elsewhere => unreachable!("that is said between two groups alone"),
        }
    }
}

/// Reduces in the place of the result.
fn in_output(input: Option<&Piece>, output: &Piece, run: impl FnOnce(&mut [u8]) -> Result) -> Result {
    if let Some(input) = input {
        output.copy_from(input);
    }
    let mut stage = output.stage();
    run(&mut stage)?;
    stage.commit();
    Ok(())
}

/// What a process sends to itself fits.
pub(super) fn fits(from: &Piece, to: &Piece, rank: usize) -> Result {
    if from.bytes() > to.bytes() {
        return fail(
            abi::ERR_TRUNCATE,
            format!("rank {rank} sends {} bytes to itself, and receives {}", from.bytes(), to.bytes()),
        );
    }
    Ok(())
}
