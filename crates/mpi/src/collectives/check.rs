//! The arguments of collectives, checked: from what a program says to a [`Call`].

use std::ffi::c_void;
use std::rc::Rc;

use super::buffers::{Blocks, Piece};
use super::call::{Call, Root, What};
use super::folding::{Folding, Operation};
use super::scan::Own;
use crate::abi::{self, Comm, Counts, Datatype, Op};
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::rank::Rank;

/// Some elements, as a program says it: where, how many, of what.
pub type Said = (*const c_void, i64, Datatype);

/// Blocks, as a program says it: where, how many elements each, how far away, of what.
pub type SaidBlocks = (*const c_void, Counts, Counts, Datatype);

/// Blocks of several types, as a program says it: displacements are of bytes.
pub type SaidTypes = (*const c_void, Counts, Counts, *const Datatype);

/// Whether a program says that the data are in their place.
pub fn is_in_place(buffer: *const c_void) -> bool {
    buffer.addr() == abi::IN_PLACE
}

pub(super) fn forbid_in_place(buffer: *const c_void, why: &str) -> Result {
    if is_in_place(buffer) {
        return fail(abi::ERR_BUFFER, format!("MPI_IN_PLACE is not allowed here: {why}"));
    }
    Ok(())
}

/// Two places of one call are two places.
fn forbid_same(send: &Piece, receive: &Piece) -> Result {
    if send.buffer == receive.buffer && send.bytes() > 0 && receive.bytes() > 0 {
        return fail(
            abi::ERR_BUFFER,
            "the buffers to send from and to receive into are the same: use MPI_IN_PLACE, or another buffer",
        );
    }
    Ok(())
}

pub(super) fn piece(me: &Rank, (buffer, count, datatype): Said) -> Result<Piece> {
    let found = me.elements(buffer, count, datatype)?;
    Ok(Piece { buffer: found.buffer, count: found.count, datatype: found.datatype })
}

pub(super) fn equal(me: &Rank, said: Said, number: usize) -> Result<Blocks> {
    Ok(Blocks::Equal { first: piece(me, said)?, number })
}

pub(super) fn listed(
    me: &Rank,
    (buffer, counts, away, datatype): SaidBlocks,
    number: usize,
) -> Result<Blocks> {
    forbid_null(number, &[counts, away])?;
    let pieces = (0..number).map(|index| {
        // SAFETY: the program says that it has as many as there are processes.
        let (count, away) = unsafe { (counts.get(index), away.get(index)) };
        let mut piece = piece(me, (buffer, count, datatype))?;
        let distance = away.wrapping_mul(piece.datatype.extent);
        piece.buffer = piece.buffer.wrapping_byte_offset(distance as isize);
        Ok(piece)
    });
    Ok(Blocks::Listed(pieces.collect::<Result<_>>()?))
}

pub(super) fn typed(
    me: &Rank,
    (buffer, counts, away, datatypes): SaidTypes,
    number: usize,
) -> Result<Blocks> {
    forbid_null(number, &[counts, away])?;
    if datatypes.is_null() && number > 0 {
        return fail(abi::ERR_ARG, "the array of datatypes is a null pointer");
    }
    let pieces = (0..number).map(|index| {
        // SAFETY: the program says that it has as many as there are processes.
        let (count, away, datatype) = unsafe { (counts.get(index), away.get(index), *datatypes.add(index)) };
        let mut piece = piece(me, (buffer, count, datatype))?;
        piece.buffer = piece.buffer.wrapping_byte_offset(away as isize);
        Ok(piece)
    });
    Ok(Blocks::Listed(pieces.collect::<Result<_>>()?))
}

fn forbid_null(number: usize, arrays: &[Counts]) -> Result {
    if number > 0 && arrays.iter().any(|array| array.is_null()) {
        return fail(abi::ERR_ARG, "an array of counts or displacements is a null pointer");
    }
    Ok(())
}

fn root(comm: &Communicator, root: i32) -> Result<Root> {
    let number = comm.peers().size();
    match (comm.is_inter(), usize::try_from(root)) {
        (_, Ok(rank)) if rank < number => Ok(Root::Rank(rank)),
        (true, _) if root == abi::ROOT => Ok(Root::Here),
        (true, _) if root == abi::PROC_NULL => Ok(Root::Elsewhere),
        (true, _) => fail(
            abi::ERR_ROOT,
            format!(
                "the root is {root}: it is a rank of the other group, which has {number}, MPI_ROOT or MPI_PROC_NULL"
            ),
        ),
        (false, _) => fail(
            abi::ERR_ROOT,
            format!("the root is {root}, which is none of the {number} ranks of the communicator"),
        ),
    }
}

fn folding(me: &Rank, datatype: Datatype, op: Op) -> Result<Folding> {
    let ty = me.committed(datatype)?;
    let operator = me.operator_for(op, &ty)?;
    Ok(Folding::new(Rc::new(Operation { operator, datatype, ty })))
}

/// What a process gives, if it does not lie in its place.
fn input(me: &Rank, comm: &Communicator, said: Said) -> Result<Option<Piece>> {
    if is_in_place(said.0) && !comm.is_inter() {
        return Ok(None);
    }
    forbid_in_place(said.0, "between two groups nothing lies in its place")?;
    piece(me, said).map(Some)
}

pub(super) fn call(comm: Rc<Communicator>, what: What) -> Result<Call> {
    Ok(Call { comm, what, arrays: Vec::new() })
}

impl Call {
    /// Arrays of counts and displacements by which it is told what it sends and what it receives: they stay as they are until it
    /// is over (6.12, 6.13). Compilers of Fortran may have copied them for the call, so that these places are the program's again.
    pub fn told_by(mut self, me: &Rank, out: &[Counts], into: &[Counts]) -> Self {
        let is_read = match &self.what {
            What::Gather { all, .. } | What::Scatter { all, .. } => all.is_some(),
            _ => true,
        };
        if me.world.explored && is_read && !me.is_fortran() {
            let (sent, received) = self.blocks();
            let out = out.iter().filter(|array| !array.is_null()).map(|array| array.place(sent));
            let into = into.iter().filter(|array| !array.is_null()).map(|array| array.place(received));
            self.arrays.extend(out.chain(into));
        }
        self
    }

    /// The same for arrays of datatypes.
    pub fn told_by_types(self, me: &Rank, out: *const Datatype, into: *const Datatype) -> Self {
        // Handles are as wide as addresses.
        let wide = |array: *const Datatype| Counts::new(array.cast(), true);
        self.told_by(me, &[wide(out)], &[wide(into)])
    }

    /// How many blocks it sends and receives.
    fn blocks(&self) -> (usize, usize) {
        match &self.what {
            What::Neighbors { out, into } => (out.len(), into.len()),
            What::ReduceScatter { counts, .. } => (counts.len(), counts.len()),
            _ => (self.comm.peers().size(), self.comm.peers().size()),
        }
    }
}

#[allow(clippy::missing_errors_doc, reason = "each fails if an argument is not as the standard demands")]
impl Call {
    /// `MPI_Barrier`.
    pub fn barrier(me: &Rank, comm: Comm) -> Result<Self> {
        call(me.comm(comm)?, What::Barrier)
    }

    /// `MPI_Bcast`.
    pub fn bcast(me: &Rank, said: Said, at: i32, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        let root = root(&comm, at)?;
        if root == Root::Elsewhere {
            let data = Piece::nothing(&me.datatype(abi::BYTE)?);
            return call(comm, What::Bcast { data, root });
        }
        forbid_in_place(said.0, "there is one buffer")?;
        call(comm, What::Bcast { data: piece(me, said)?, root })
    }

    /// `MPI_Gather` and `MPI_Gatherv`: how all blocks are said is read at the root alone.
    fn any_gather(
        me: &Rank,
        mine: Said,
        place: *const c_void,
        all: impl FnOnce(usize) -> Result<Blocks>,
        at: i32,
        comm: Comm,
        equal: bool,
    ) -> Result<Self> {
        let comm = me.comm(comm)?;
        let root = root(&comm, at)?;
        let inter = comm.is_inter();
        let here = root == Root::Here || (!inter && root == Root::Rank(comm.rank));
        let all = match here {
            true => {
                forbid_in_place(place, "the root receives")?;
                Some(all(comm.peers().size())?)
            }
            false => None,
        };
        let mine = match (inter, here) {
            (true, true) => None,
            _ if root == Root::Elsewhere => None,
            (false, true) => input(me, &comm, mine)?,
            (_, false) => {
                forbid_in_place(mine.0, "only the root has its block in its place")?;
                Some(piece(me, mine)?)
            }
        };
        if let (Some(mine), Some(all)) = (&mine, &all) {
            forbid_same(mine, &all.block(comm.rank))?;
            forbid_same(mine, &all.block(0))?;
        }
        call(comm, What::Gather { mine, all, root, equal })
    }

    /// `MPI_Gather`.
    pub fn gather(me: &Rank, mine: Said, all: Said, at: i32, comm: Comm) -> Result<Self> {
        Self::any_gather(me, mine, all.0, |number| equal(me, all, number), at, comm, true)
    }

    /// `MPI_Gatherv`.
    pub fn gatherv(me: &Rank, mine: Said, all: SaidBlocks, at: i32, comm: Comm) -> Result<Self> {
        Self::any_gather(me, mine, all.0, |number| listed(me, all, number), at, comm, false)
    }

    fn any_scatter(
        me: &Rank,
        place: *const c_void,
        all: impl FnOnce(usize) -> Result<Blocks>,
        mine: Said,
        at: i32,
        comm: Comm,
        equal: bool,
    ) -> Result<Self> {
        // It is a gather the other way.
        let Call { comm, what, .. } = Self::any_gather(me, mine, place, all, at, comm, equal)?;
        let What::Gather { mine, all, root, equal } = what else { unreachable!("that was a gather") };
        call(comm, What::Scatter { all, mine, root, equal })
    }

    /// `MPI_Scatter`.
    pub fn scatter(me: &Rank, all: Said, mine: Said, at: i32, comm: Comm) -> Result<Self> {
        Self::any_scatter(me, all.0, |number| equal(me, all, number), mine, at, comm, true)
    }

    /// `MPI_Scatterv`.
    pub fn scatterv(me: &Rank, all: SaidBlocks, mine: Said, at: i32, comm: Comm) -> Result<Self> {
        Self::any_scatter(me, all.0, |number| listed(me, all, number), mine, at, comm, false)
    }

    fn any_allgather(me: &Rank, comm: Rc<Communicator>, mine: Said, all: Blocks) -> Result<Self> {
        let mine = input(me, &comm, mine)?;
        if let (Some(mine), false) = (&mine, all.is_empty()) {
            forbid_same(mine, &all.block(0))?;
            if !comm.is_inter() {
                forbid_same(mine, &all.block(comm.rank))?;
            }
        }
        call(comm, What::Allgather { mine, all })
    }

    /// `MPI_Allgather`.
    pub fn allgather(me: &Rank, mine: Said, all: Said, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_in_place(all.0, "all processes receive")?;
        let all = equal(me, all, comm.peers().size())?;
        Self::any_allgather(me, comm, mine, all)
    }

    /// `MPI_Allgatherv`.
    pub fn allgatherv(me: &Rank, mine: Said, all: SaidBlocks, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_in_place(all.0, "all processes receive")?;
        let all = listed(me, all, comm.peers().size())?;
        Self::any_allgather(me, comm, mine, all)
    }

    fn any_alltoall(
        comm: Rc<Communicator>,
        place: *const c_void,
        out: impl FnOnce(usize) -> Result<Blocks>,
        into: Blocks,
    ) -> Result<Self> {
        let out = match is_in_place(place) && !comm.is_inter() {
            true => None,
            false => {
                forbid_in_place(place, "between two groups nothing lies in its place")?;
                Some(out(comm.peers().size())?)
            }
        };
        if let (Some(out), false) = (&out, into.is_empty()) {
            forbid_same(&out.block(0), &into.block(0))?;
        }
        call(comm, What::Alltoall { out, into })
    }

    /// `MPI_Alltoall`.
    pub fn alltoall(me: &Rank, out: Said, into: Said, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_in_place(into.0, "all processes receive")?;
        let into = equal(me, into, comm.peers().size())?;
        Self::any_alltoall(comm, out.0, |number| equal(me, out, number), into)
    }

    /// `MPI_Alltoallv`.
    pub fn alltoallv(me: &Rank, out: SaidBlocks, into: SaidBlocks, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_in_place(into.0, "all processes receive")?;
        let into = listed(me, into, comm.peers().size())?;
        Self::any_alltoall(comm, out.0, |number| listed(me, out, number), into)
    }

    /// `MPI_Alltoallw`.
    pub fn alltoallw(me: &Rank, out: SaidTypes, into: SaidTypes, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_in_place(into.0, "all processes receive")?;
        let into = typed(me, into, comm.peers().size())?;
        Self::any_alltoall(comm, out.0, |number| typed(me, out, number), into)
    }

    /// `MPI_Reduce`: where from, and what is said of the result.
    pub fn reduce(me: &Rank, from: *const c_void, said: Said, op: Op, at: i32, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        let root = root(&comm, at)?;
        let folding = folding(me, said.2, op)?;
        let here = root == Root::Here || (!comm.is_inter() && root == Root::Rank(comm.rank));
        let output = match here {
            true => {
                forbid_in_place(said.0, "the root receives")?;
                Some(piece(me, said)?)
            }
            false => None,
        };
        let given = (from, said.1, said.2);
        let input = match (comm.is_inter(), here) {
            (true, true) => None,
            _ if root == Root::Elsewhere => None,
            (false, true) => input(me, &comm, given)?,
            (_, false) => {
                forbid_in_place(from, "only the root has its data in their place")?;
                Some(piece(me, given)?)
            }
        };
        if let (Some(input), Some(output)) = (&input, &output) {
            forbid_same(input, output)?;
        }
        call(comm, What::Reduce { input, output, folding, root })
    }

    fn two_buffers(
        me: &Rank,
        comm: &Communicator,
        from: *const c_void,
        said: Said,
    ) -> Result<(Option<Piece>, Piece)> {
        forbid_in_place(said.0, "all processes receive")?;
        let output = piece(me, said)?;
        let input = input(me, comm, (from, said.1, said.2))?;
        if let Some(input) = &input {
            forbid_same(input, &output)?;
        }
        Ok((input, output))
    }

    /// `MPI_Allreduce`.
    pub fn allreduce(me: &Rank, from: *const c_void, said: Said, op: Op, comm: Comm) -> Result<Self> {
        let comm = me.comm(comm)?;
        let folding = folding(me, said.2, op)?;
        let (input, output) = Self::two_buffers(me, &comm, from, said)?;
        call(comm, What::Allreduce { input, output, folding })
    }

    /// `MPI_Scan`, `MPI_Exscan`.
    pub fn scan(me: &Rank, from: *const c_void, said: Said, op: Op, comm: Comm, own: Own) -> Result<Self> {
        let comm = me.comm(comm)?;
        if comm.is_inter() {
            return fail(
                abi::ERR_COMM,
                "the communicator connects two groups: ranks of one group are needed for a scan",
            );
        }
        let folding = folding(me, said.2, op)?;
        let (input, output) = Self::two_buffers(me, &comm, from, said)?;
        call(comm, What::Scan { input, output, folding, own })
    }

    fn any_reduce_scatter(
        me: &Rank,
        comm: Rc<Communicator>,
        (from, to, datatype): (*const c_void, *const c_void, Datatype),
        counts: Vec<i64>,
        op: Op,
        block: bool,
    ) -> Result<Self> {
        let folding = folding(me, datatype, op)?;
        forbid_in_place(to, "all processes receive")?;
        if let Some(count) = counts.iter().find(|count| **count < 0) {
            return fail(abi::ERR_COUNT, format!("a count is {count}: it must not be negative"));
        }
        let all: i64 = counts.iter().sum();
        let output = piece(me, (to, counts[comm.rank], datatype))?;
        let input = match input(me, &comm, (from, all, datatype))? {
            Some(input) => {
                forbid_same(&input, &output)?;
                input
            }
            None => piece(me, (to, all, datatype))?,
        };
        let counts = counts.into_iter().map(|count| count as usize).collect();
        call(comm, What::ReduceScatter { input, output, counts, block, folding })
    }

    /// `MPI_Reduce_scatter`.
    pub fn reduce_scatter(
        me: &Rank,
        places: (*const c_void, *const c_void, Datatype),
        counts: Counts,
        op: Op,
        comm: Comm,
    ) -> Result<Self> {
        let comm = me.comm(comm)?;
        forbid_null(comm.size(), &[counts])?;
        // SAFETY: the program says that it has as many as there are processes.
        let counts = unsafe { counts.take(comm.size()) };
        Self::any_reduce_scatter(me, comm, places, counts, op, false)
    }

    /// `MPI_Reduce_scatter_block`.
    pub fn reduce_scatter_block(
        me: &Rank,
        places: (*const c_void, *const c_void, Datatype),
        count: i64,
        op: Op,
        comm: Comm,
    ) -> Result<Self> {
        let comm = me.comm(comm)?;
        let counts = vec![count; comm.size()];
        Self::any_reduce_scatter(me, comm, places, counts, op, true)
    }
}
