//! Memory that a communication owns, from its begin to its completion (MPI 5.0, 3.7.2): a send's may be read and not written, a
//! receive's not even read. Other calls are compared with it, and so are the loads and stores of the program itself.

use std::cell::{Cell, RefCell};

use simurgh_native::Touch;

use crate::collectives::buffers::{Blocks, Piece};
use crate::collectives::call::{Call, Root, What};
use crate::datatype::Type;
use crate::os;
use crate::p2p::{Incoming, Outgoing};
use crate::rank::Rank;
use crate::request::Pending;
use crate::world::Aborted;

use super::Kind;

/// More blocks than these are not listed: they are taken as one.
const BLOCKS_MAX: usize = 10_000;

/// What communications of a process own.
#[derive(Debug, Default)]
pub struct Buffers {
    owned: RefCell<Vec<Owned>>,
    next: Cell<u64>,
    /// The number of what the last access to a window owns, if it owns something.
    pub(super) last: Cell<u64>,
}

/// What one of them owns.
#[derive(Debug)]
struct Owned {
    number: u64,
    used: Used,
    call: &'static str,
    at: usize,
}

/// Memory that a call uses.
#[derive(Debug)]
pub struct Used {
    /// From where to where.
    blocks: Vec<(usize, usize)>,
    /// Whether it is written.
    writes: bool,
}

impl Used {
    /// Elements of a datatype.
    pub fn elements(buffer: usize, count: usize, datatype: &Type, writes: bool) -> Self {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        datatype.blocks(0, datatype.size * count, |offset, length| {
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
        Self { blocks, writes }
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

    /// From one byte to another.
    pub(super) fn bytes(start: usize, end: usize, writes: bool) -> Self {
        Self { blocks: vec![(start, end)], writes }
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

    /// Whether they have a byte in common.
    pub(super) fn overlaps(&self, other: &Used) -> bool {
        other.blocks.iter().any(|(start, end)| self.meets(*start, *end))
    }

    pub(super) fn meets(&self, start: usize, end: usize) -> bool {
        self.blocks.iter().any(|(low, high)| *low < end && start < *high)
    }

    fn conflicts(&self, other: &Used) -> bool {
        (self.writes || other.writes) && self.overlaps(other)
    }
}

impl Outgoing {
    /// The memory that it reads.
    pub fn uses(&self) -> Vec<Used> {
        vec![Used::elements(self.buffer as usize, self.count, &self.datatype, false)]
    }
}

impl Incoming {
    /// The memory that it writes.
    pub fn uses(&self) -> Vec<Used> {
        let landing = &self.landing;
        vec![Used::elements(landing.buffer as usize, landing.count, &landing.datatype, true)]
    }
}

impl Call {
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
        uses
    }
}

impl Rank {
    /// A call uses memory: nothing that is under way owns it.
    pub fn check_uses(&self, uses: impl FnOnce() -> Vec<Used>) {
        if self.world.explored && !self.buffers.owned.borrow().is_empty() {
            self.check_each(&uses());
        }
    }

    /// What a call reads and what it writes do not overlap.
    pub fn check_apart(&self, uses: impl FnOnce() -> (Vec<Used>, Vec<Used>)) {
        if !self.world.explored {
            return;
        }
        let (read, written) = uses();
        if read.iter().any(|read| written.iter().any(|written| written.conflicts(read))) {
            let message =
                format!("{}: the buffers to send from and to receive into overlap", self.call_name());
            self.finding(Kind::BufferRace, &message);
        }
    }

    fn check_each(&self, uses: &[Used]) {
        let found = {
            let owned = self.buffers.owned.borrow();
            let wrong = |owned: &&Owned| uses.iter().any(|used| used.conflicts(&owned.used));
            owned.iter().find(wrong).map(|owned| (owned.call, owned.at, owned.used.writes))
        };
        let Some((call, at, writes)) = found else { return };
        let message = format!(
            "{}: its buffer overlaps with that of {call}{}, which {} it until it is completed",
            self.call_name(),
            self.line_of(at),
            if writes { "writes" } else { "reads" }
        );
        self.finding(Kind::BufferRace, &message);
    }

    /// A request begins: it owns memory until it is completed.
    pub fn owns(&self, request: &Pending, uses: impl FnOnce() -> Vec<Used>) {
        if !self.world.explored {
            return;
        }
        request.posted.set(self.moment_of_post());
        let uses: Vec<Used> = uses().into_iter().filter(|used| !used.blocks.is_empty()).collect();
        if uses.is_empty() {
            return;
        }
        self.check_each(&uses);
        let number = self.own(uses);
        request.owns.set(number);
    }

    /// Something owns memory from now on: its number.
    pub(super) fn own(&self, uses: Vec<Used>) -> u64 {
        let number = self.buffers.next.get() + 1;
        self.buffers.next.set(number);
        let (call, at) = (self.call_name(), self.caller.get());
        let owned = uses.into_iter().map(|used| Owned { number, used, call, at });
        self.buffers.owned.borrow_mut().extend(owned);
        self.watches();
        number
    }

    /// A request is completed or freed.
    pub fn owns_no_longer(&self, request: &Pending) {
        let number = request.owns.replace(0);
        if number != 0 {
            self.own_no_longer(number);
        }
    }

    /// The memory is the program's again.
    pub(super) fn own_no_longer(&self, number: u64) {
        self.buffers.owned.borrow_mut().retain(|owned| owned.number != number);
        self.watches();
    }

    /// Watches what is owned now.
    pub fn watches(&self) {
        let owned = self.buffers.owned.borrow();
        os::watch(self.world.steps(), || {
            let owned = owned.iter().flat_map(|owned| owned.used.blocks.iter().copied());
            owned.chain(self.exposed_memory()).collect()
        });
    }

    /// The program is about to touch memory that is watched; whether that is the end of the execution.
    pub fn is_touched(&self, touch: &Touch) -> bool {
        let (start, end) = (touch.address, touch.address + touch.bytes);
        let found = {
            let owned = self.buffers.owned.borrow();
            let wrong = |owned: &&Owned| (owned.used.writes || touch.writes) && owned.used.meets(start, end);
            owned.iter().find(wrong).map(|owned| (owned.call, owned.at))
        };
        let Some((call, at)) = found else { return self.touches_window(touch) };
        let what = if touch.writes { "a store to" } else { "a load from" };
        let message =
            format!("{what} the buffer of {call}{}, which is not completed", self.world.lines.in_words(at));
        self.found(Kind::BufferRace, message, touch.at + 1);
        true
    }

    /// Notes what was found; whoever calls ends the process.
    pub(super) fn found(&self, kind: Kind, message: String, at: usize) {
        self.world.looks_closely();
        let mut aborted = self.world.aborted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if aborted.is_none() {
            *aborted = Some(Aborted { process: self.process, code: 1, message, kind, at });
        }
    }
}
