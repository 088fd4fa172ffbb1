//! Memory that calls read and write, by the datatypes that they are given.

use crate::abi;
use crate::collectives::buffers::{Blocks, Piece};
use crate::collectives::call::{Call, Root, What};
use crate::datatype::Type;
use crate::p2p::{Incoming, Outgoing};
use crate::request::Landing;
use crate::window::Operation;

/// What is loaded or stored at once has so many bytes, at most.
pub(super) const WORD: usize = 8;

/// More blocks than these are not listed: they are taken as one.
pub(super) const BLOCKS_MAX: usize = 10_000;

/// A number for what is in memory, from where to where.
pub(super) fn sum(blocks: &[(usize, usize)]) -> u64 {
    let mut sum = 0_u64;
    for (start, end) in blocks {
        // SAFETY: the program said that these bytes are to be sent or written, or lie in a window.
        let bytes = unsafe { std::slice::from_raw_parts(*start as *const u8, end - start) };
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            sum = (sum.rotate_left(5) ^ u64::from_le_bytes(whole)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
    sum
}

/// What memory is to the call that uses it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// What is communicated.
    Data,
    /// It says what is communicated.
    Argument,
    /// Messages wait in it: it was attached (3.6).
    Attached,
    /// The call answers there.
    Answer,
}

/// Memory that a call uses.
#[derive(Debug)]
pub struct Used {
    /// From where to where.
    pub(super) blocks: Vec<(usize, usize)>,
    /// Whether it is written.
    pub(super) writes: bool,
    /// What it is to the call.
    pub(super) role: Role,
}

impl Used {
    /// Elements of a datatype.
    pub fn elements(buffer: usize, count: usize, datatype: &Type, writes: bool) -> Self {
        Self::range(buffer, datatype, 0, datatype.size * count, writes)
    }

    /// The memory of `length` bytes of data of many elements, after the first `from`.
    pub fn range(buffer: usize, datatype: &Type, from: usize, length: usize, writes: bool) -> Self {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        datatype.blocks(from, length, |offset, length| {
            let start = buffer.wrapping_add_signed(offset as isize);
            let many = blocks.len() >= BLOCKS_MAX;
            match blocks.last_mut() {
                Some((_, end)) if *end == start => *end = start + length,
                Some((low, end)) if many => {
                    (*low, *end) = ((*low).min(start), (*end).max(start + length));
                }
                _ => blocks.push((start, start + length)),
            }
        });
        Self { blocks, writes, role: Role::Data }
    }

    fn piece(piece: &Piece, writes: bool) -> Self {
        Self::elements(piece.buffer as usize, piece.count, &piece.datatype, writes)
    }

    fn all(blocks: &Blocks, number: usize, writes: bool) -> Vec<Self> {
        if blocks.is_empty() {
            return Vec::new();
        }
        (0..number).map(|rank| Self::piece(&blocks.block(rank), writes)).collect()
    }

    /// Whether it is no more than a word.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.blocks[..], [(start, end)] if end - start <= WORD)
    }

    /// From one byte to another.
    pub fn bytes(start: usize, end: usize, writes: bool) -> Self {
        Self { blocks: vec![(start, end)], writes, role: Role::Data }
    }

    /// More of the same.
    pub(super) fn extend(&mut self, other: &Used) {
        for (start, end) in &other.blocks {
            match self.blocks.iter_mut().find(|(low, high)| *low <= *end && *start <= *high) {
                Some((low, high)) => (*low, *high) = ((*low).min(*start), (*high).max(*end)),
                None => self.blocks.push((*start, *end)),
            }
        }
    }

    /// What of it lies from one byte to another.
    pub(super) fn within(&self, start: usize, end: usize) -> Option<Self> {
        let cut = |(low, high): &(usize, usize)| ((*low).max(start), (*high).min(end));
        let blocks: Vec<_> = self.blocks.iter().map(cut).filter(|(low, high)| low < high).collect();
        (!blocks.is_empty()).then_some(Self { blocks, ..*self })
    }

    /// Whether they have a byte in common.
    pub(super) fn overlaps(&self, other: &Used) -> bool {
        other.blocks.iter().any(|(start, end)| self.meets(*start, *end))
    }

    pub(super) fn meets(&self, start: usize, end: usize) -> bool {
        self.blocks.iter().any(|(low, high)| *low < end && start < *high)
    }

    /// A number of what is in it, if it is read and there is not too much.
    pub(super) fn sum(&self) -> Option<u64> {
        const MOST: usize = 1 << 20;
        let bytes: usize = self.blocks.iter().map(|(start, end)| end - start).sum();
        if self.writes || bytes > MOST || self.blocks.len() >= BLOCKS_MAX {
            return None;
        }
        Some(sum(&self.blocks))
    }

    /// What it is to the call that uses it.
    pub(super) fn in_words(&self) -> &'static str {
        match self.role {
            Role::Data => "the buffer",
            Role::Argument => "an array of arguments",
            Role::Attached => "the attached buffer",
            Role::Answer => "an answer",
        }
    }

    /// What is done with it by the call that owns it.
    pub(super) fn owner_does(&self) -> &'static str {
        match (self.role, self.writes) {
            (Role::Attached, _) => self.why(),
            (_, true) => "writes it until it is completed",
            (_, false) => "reads it until it is completed",
        }
    }

    /// Why it is not the program's.
    pub(super) fn why(&self) -> &'static str {
        match self.role {
            Role::Attached => {
                "may hold its message until that is known to be received: MPI_Buffer_detach comes first"
            }
            _ => "is not completed",
        }
    }

    pub(super) fn conflicts(&self, other: &Used) -> bool {
        (self.writes || other.writes) && self.overlaps(other)
    }
}

impl Operation {
    /// Its memory.
    pub fn uses(&self, writes: bool) -> Used {
        Used::elements(self.buffer as usize, self.count, &self.datatype, writes)
    }
}

impl Outgoing {
    /// The memory that it reads: none if it goes to nobody (3.10).
    pub fn uses(&self) -> Vec<Used> {
        if self.destination == abi::PROC_NULL {
            return Vec::new();
        }
        vec![Used::elements(self.buffer as usize, self.count, &self.datatype, false)]
    }
}

impl Landing {
    /// The memory that is written.
    pub fn uses(&self) -> Used {
        Used::elements(self.buffer as usize, self.count, &self.datatype, true)
    }
}

impl Incoming {
    /// The memory that it writes: none if it comes from nobody (3.10).
    pub fn uses(&self) -> Vec<Used> {
        if self.source == abi::PROC_NULL {
            return Vec::new();
        }
        vec![self.landing.uses()]
    }
}

impl Call {
    /// Whether it writes elements of types whose entries may overlap each other.
    pub(super) fn writes_derived(&self) -> bool {
        let is_derived = |piece: &Piece| piece.datatype.is_derived();
        match &self.what {
            What::Bcast { data, .. } => is_derived(data),
            What::Scatter { mine, .. } => mine.as_ref().is_some_and(is_derived),
            What::Neighbors { into, .. } => into.iter().any(|(_, piece, _)| is_derived(piece)),
            _ => false,
        }
    }

    /// The memory that it reads and writes.
    pub fn uses(&self) -> Vec<Used> {
        let number = self.comm.peers().size();
        let read =
            |piece: &Option<Piece>| piece.iter().map(|piece| Used::piece(piece, false)).collect::<Vec<_>>();
        let written = |piece: &Piece| vec![Used::piece(piece, true)];
        let (mut uses, others) = match &self.what {
            What::Barrier => (Vec::new(), Vec::new()),
            What::Bcast { data, root } => {
                let sends = match root {
                    Root::Rank(rank) => !self.comm.is_inter() && *rank == self.comm.rank,
                    other => *other == Root::Here,
                };
                (vec![Used::piece(data, !sends)], Vec::new())
            }
            What::Gather { mine, all, .. } => {
                (read(mine), all.as_ref().map_or_else(Vec::new, |all| Used::all(all, number, true)))
            }
            What::Scatter { all, mine, .. } => (
                all.as_ref().map_or_else(Vec::new, |all| Used::all(all, number, false)),
                mine.as_ref().map_or_else(Vec::new, written),
            ),
            What::Allgather { mine, all } => (read(mine), Used::all(all, number, true)),
            What::Alltoall { out, into } => (
                out.as_ref().map_or_else(Vec::new, |out| Used::all(out, number, false)),
                Used::all(into, number, true),
            ),
            What::Reduce { input, output, .. } => {
                (read(input), output.as_ref().map_or_else(Vec::new, written))
            }
            What::Allreduce { input, output, .. } | What::Scan { input, output, .. } => {
                (read(input), written(output))
            }
            What::ReduceScatter { input, output, .. } => (vec![Used::piece(input, false)], written(output)),
            What::Neighbors { out, into } => (
                out.iter().map(|(_, piece, _)| Used::piece(piece, false)).collect(),
                into.iter().map(|(_, piece, _)| Used::piece(piece, true)).collect(),
            ),
        };
        uses.extend(others);
        uses.extend(self.told());
        uses
    }

    /// The arrays by which it is told, that must not change until it is over.
    pub fn told(&self) -> Vec<Used> {
        let told =
            |(start, end): &(usize, usize)| Used { role: Role::Argument, ..Used::bytes(*start, *end, false) };
        self.arrays.iter().map(told).collect()
    }
}
