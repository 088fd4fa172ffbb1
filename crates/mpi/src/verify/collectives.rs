//! Whether all processes of a communicator call the same collectives in the same order, with arguments that fit (MPI 5.0, 6.1).
//!
//! Each process counts the collectives that it calls on a communicator. The first to come to one of a number leaves there what it
//! calls; whoever comes later is compared with all who were there before.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use crate::abi::{self, Comm, File, Procedure};
use crate::collectives::buffers::{Blocks, Piece};
use crate::collectives::call::{Call, Root, What};
use crate::collectives::folding::Folding;
use crate::communicator::Communicator;
use crate::datatype::Signature;
use crate::group::Group;
use crate::operator::Action;
use crate::os;
use crate::rank::Rank;
use crate::topology::{DistGraph, Edge};
use crate::window::Window;

use super::Kind;

/// Which collective: the context, the tag of a window, the first process, and how many were called there before.
type Key = (u32, i32, u32, u64);

/// Those that some have called, and not all.
#[derive(Debug, Default)]
pub(super) struct Meetings(BTreeMap<Key, Vec<Called>>);

/// What a process has called.
#[derive(Debug)]
struct Called {
    process: u32,
    rank: usize,
    procedure: Procedure,
    at: usize,
    /// The first process of its group, of the two of an intercommunicator.
    side: u32,
    is_inter: bool,
    root: Option<Root>,
    operator: Option<Action>,
    /// Whether the order of its operands does not matter.
    is_commutative: bool,
    /// The program that its function is in, and where.
    function: Option<(usize, usize)>,
    /// What is the same for all: of how many basic types of which kind.
    all: Option<Signature>,
    counts: Vec<usize>,
    /// Access modes or assertions, with their name.
    modes: Option<(&'static str, i32)>,
    /// The processes of a group.
    group: Vec<u32>,
    /// What of a topology all say alike, with its name.
    described: Vec<(&'static str, Vec<i64>)>,
    /// Who sends to it and whom it sends to, in a distributed graph.
    edges: Option<DistGraph>,
    /// Whether its edges have weights: those from others, those to others.
    weighted: [Option<bool>; 2],
    /// Whether its group comes second in a union of two.
    is_high: Option<bool>,
    /// What it sends to each rank, and receives from each; nothing where that is not said.
    gives: Vec<Option<Signature>>,
    takes: Vec<Option<Signature>>,
    /// What it sends to its neighbours, and receives from them.
    around: Option<(Vec<Along>, Vec<Along>)>,
}

/// What goes to a neighbour or comes from one: its rank, the lane, and what it is.
type Along = (i32, i32, Signature);

impl Called {
    fn new(me: &Rank, comm: &Communicator, procedure: Procedure) -> Self {
        Self {
            process: me.process,
            rank: comm.rank,
            procedure,
            at: os::caller(),
            side: comm.group.process(0),
            is_inter: comm.is_inter(),
            root: None,
            operator: None,
            is_commutative: false,
            function: None,
            all: None,
            counts: Vec::new(),
            modes: None,
            group: Vec::new(),
            described: Vec::new(),
            edges: None,
            weighted: [None; 2],
            is_high: None,
            gives: Vec::new(),
            takes: Vec::new(),
            around: None,
        }
    }

    /// Notes the arguments of a collective.
    fn with_arguments(mut self, comm: &Communicator, what: &What) -> Self {
        let number = comm.peers().size();
        let alone = |root: &Root, piece: Option<&Piece>| {
            let mut all = vec![None; number];
            if let Root::Rank(rank) = root {
                all[*rank] = piece.map(signature);
            }
            all
        };
        match what {
            What::Barrier => {}
            What::Neighbors { out, into } => {
                let told = |pieces: &[(i32, Piece, i32)]| -> Vec<Along> {
                    pieces.iter().map(|(rank, piece, lane)| (*rank, *lane, signature(piece))).collect()
                };
                self.around = Some((told(out), told(into)));
            }
            What::Bcast { data, root } => {
                self.root = Some(*root);
                self.all = (*root != Root::Elsewhere).then(|| signature(data));
            }
            What::Gather { mine, all, root, .. } => {
                self.root = Some(*root);
                self.gives = alone(root, mine.as_ref());
                self.takes = all.as_ref().map(|all| blocks(all, number)).unwrap_or_default();
            }
            What::Scatter { all, mine, root, .. } => {
                self.root = Some(*root);
                self.gives = all.as_ref().map(|all| blocks(all, number)).unwrap_or_default();
                self.takes = alone(root, mine.as_ref());
            }
            What::Allgather { mine, all } => {
                self.takes = blocks(all, number);
                let own = mine.as_ref().map(signature).or_else(|| self.takes[comm.rank]);
                self.gives = vec![own; number];
            }
            What::Alltoall { out, into } => {
                self.takes = blocks(into, number);
                self.gives = out.as_ref().map_or_else(|| self.takes.clone(), |out| blocks(out, number));
            }
            What::Reduce { input, output, folding, root } => {
                self.root = Some(*root);
                self.combines(folding);
                self.all = input.as_ref().or(output.as_ref()).map(signature);
            }
            What::Allreduce { output, folding, .. } | What::Scan { output, folding, .. } => {
                self.combines(folding);
                self.all = Some(signature(output));
            }
            What::ReduceScatter { input, counts, folding, .. } => {
                self.combines(folding);
                self.all = Some(signature(input));
                self.counts.clone_from(counts);
            }
        }
        self
    }

    /// Notes the operator.
    fn combines(&mut self, folding: &Folding) {
        self.operator = folding.action();
        self.is_commutative = folding.commutative;
        if let Some(Action::Program(function, _)) = self.operator {
            self.function = os::place_in_program(function.address);
        }
    }

    /// In what it differs from what another has called.
    fn differs(&self, other: &Called) -> Option<String> {
        let names = (self.procedure.name(), other.procedure.name());
        if names.0 != names.1 {
            return Some(String::new());
        }
        if let Some(roots) = self.roots_differ(other) {
            return Some(roots);
        }
        match (self.operator, other.operator) {
            (Some(Action::Predefined(mine)), Some(Action::Predefined(theirs))) if mine != theirs => {
                return Some(format!(": the operator is {mine:?} here and {theirs:?} there"));
            }
            (Some(Action::Predefined(_)), Some(Action::Program(..)))
            | (Some(Action::Program(..)), Some(Action::Predefined(_))) => {
                return Some(
                    ": the operator is one of the standard on one side, and of the program on the other"
                        .to_owned(),
                );
            }
            (Some(Action::Program(..)), Some(Action::Program(..))) if self.functions_differ(other) => {
                return Some(": the operators are of different functions of the program".to_owned());
            }
            (Some(Action::Program(..)), Some(Action::Program(..)))
                if self.is_commutative != other.is_commutative =>
            {
                return Some(": the operator is commutative on one side, and not on the other".to_owned());
            }
            _ => {}
        }
        if self.counts != other.counts && self.side == other.side {
            return Some(": the counts are not the same".to_owned());
        }
        let described = self.described.iter().zip(&other.described);
        if let Some(((what, mine), (_, theirs))) = described.into_iter().find(|(mine, theirs)| mine != theirs)
        {
            return Some(format!(": the {what} are {mine:?} here and {theirs:?} there"));
        }
        if self.side == other.side && self.is_high != other.is_high {
            return Some(
                ": one of the group says that it comes first, and another that it comes second".to_owned(),
            );
        }
        let weighted = self.weighted.iter().zip(&other.weighted);
        if weighted.into_iter().any(|(mine, theirs)| mine.is_some() && theirs.is_some() && mine != theirs) {
            return Some(": one gives weights, and another MPI_UNWEIGHTED".to_owned());
        }
        if let Some(edges) = self.edges_differ(other) {
            return Some(edges);
        }
        if let (Some((what, mine)), Some((_, theirs))) = (self.modes, other.modes)
            && mine != theirs
        {
            return Some(format!(": the {what} are {mine:#x} here and {theirs:#x} there"));
        }
        if self.group != other.group && self.group.iter().any(|process| other.group.contains(process)) {
            return Some(": the groups have processes in common, and are not the same".to_owned());
        }
        if let (Some(mine), Some(theirs)) = (self.all, other.all)
            && !fit(mine, theirs)
        {
            return Some(format!(": {}", amounts(mine, theirs, "here", "there")));
        }
        if let Some(around) = self.neighbors_differ(other) {
            return Some(around);
        }
        let pairs = [
            (self, other, "is sent here", "is received there"),
            (other, self, "is sent there", "is received here"),
        ];
        // Of two groups each gives to the other.
        let pairs = pairs.into_iter().filter(|_| !self.is_inter || self.side != other.side);
        for (from, to, sent, received) in pairs {
            let given = from.gives.get(to.rank).copied().flatten();
            let taken = to.takes.get(from.rank).copied().flatten();
            if let (Some(given), Some(taken)) = (given, taken)
                && !fit(given, taken)
            {
                return Some(format!(
                    ": what {sent} and what {received} differ: {}",
                    amounts(given, taken, "sent", "received")
                ));
            }
        }
        None
    }
}

impl Called {
    /// Whether operators are of different functions of one program.
    fn functions_differ(&self, other: &Called) -> bool {
        matches!((self.function, other.function), (Some(mine), Some(theirs)) if mine.0 == theirs.0 && mine.1 != theirs.1)
    }

    /// In what the roots differ: one rank within a group; of two groups one says where the root is in the other (6.2.3).
    fn roots_differ(&self, other: &Called) -> Option<String> {
        let (mine, theirs) = (self.root?, other.root?);
        let same = self.side == other.side;
        let fit = match (mine, theirs) {
            (Root::Rank(mine), Root::Rank(theirs)) => same && mine == theirs,
            (Root::Here, Root::Here) => same && self.process == other.process,
            (Root::Here | Root::Elsewhere, Root::Here | Root::Elsewhere) => same,
            (Root::Rank(rank), said) => !same && (rank == other.rank) == (said == Root::Here),
            (said, Root::Rank(rank)) => !same && (rank == self.rank) == (said == Root::Here),
        };
        let in_words = |root| match root {
            Root::Rank(rank) => rank.to_string(),
            Root::Here => "MPI_ROOT".to_owned(),
            Root::Elsewhere => "MPI_PROC_NULL".to_owned(),
        };
        (!fit).then(|| format!(": the root is {} here and {} there", in_words(mine), in_words(theirs)))
    }

    /// Between which neighbours something else is sent than received (8.6).
    fn neighbors_differ(&self, other: &Called) -> Option<String> {
        let pairs = [
            (self, other, "is sent here", "is received there"),
            (other, self, "is sent there", "is received here"),
        ];
        for (from, to, sent, received) in pairs {
            let (out, into) = (&from.around.as_ref()?.0, &to.around.as_ref()?.1);
            let out = out.iter().filter(|(rank, ..)| *rank == to.rank as i32);
            let into: Vec<&Along> = into.iter().filter(|(rank, ..)| *rank == from.rank as i32).collect();
            for (place, (_, lane, given)) in out.clone().enumerate() {
                // The first on a lane meets the first on it, and so on.
                let before = out.clone().take(place).filter(|(_, other, _)| other == lane).count();
                let taken = into.iter().filter(|(_, other, _)| other == lane).nth(before);
                if let Some((_, _, taken)) = taken
                    && !fit(*given, *taken)
                {
                    return Some(format!(
                        ": what {sent} and what {received} differ: {}",
                        amounts(*given, *taken, "sent", "received")
                    ));
                }
            }
        }
        None
    }

    /// Which edges of a distributed graph one of its two ends alone names (8.5.4).
    fn edges_differ(&self, other: &Called) -> Option<String> {
        let (mine, theirs) = (self.edges.as_ref()?, other.edges.as_ref()?);
        let named = |edges: &[Edge], rank: usize| {
            let mut weights: Vec<i32> = Vec::new();
            weights.extend(edges.iter().filter(|edge| edge.rank == rank as i32).map(|edge| edge.weight));
            weights.sort_unstable();
            weights
        };
        for (from, to) in [(self, other), (other, self)] {
            let ends = if std::ptr::eq(from, self) { (mine, theirs) } else { (theirs, mine) };
            let out = named(&ends.0.destinations, to.rank);
            let into = named(&ends.1.sources, from.rank);
            if out.len() != into.len() {
                return Some(format!(
                    ": rank {} names {} edges to rank {}, which names {} from there",
                    from.rank,
                    out.len(),
                    to.rank,
                    into.len()
                ));
            }
            if mine.weighted && theirs.weighted && out != into {
                return Some(format!(
                    ": the weights of edges from rank {} to rank {} are {out:?} and {into:?}",
                    from.rank, to.rank
                ));
            }
        }
        None
    }
}

/// Whether as many basic types of the same kinds are meant.
fn fit(one: Signature, other: Signature) -> bool {
    one.matches(other)
}

fn amounts(one: Signature, other: Signature, here: &str, there: &str) -> String {
    if one.elements == other.elements {
        return "the datatypes are not the same".to_owned();
    }
    format!("{} basic elements {here} and {} {there}", one.elements, other.elements)
}

fn signature(piece: &Piece) -> Signature {
    piece.datatype.signature.repeated(piece.count as u64)
}

fn blocks(blocks: &Blocks, number: usize) -> Vec<Option<Signature>> {
    (0..number).map(|rank| (!blocks.is_empty()).then(|| signature(&blocks.block(rank)))).collect()
}

impl Rank {
    /// The process calls a collective.
    pub fn check_collective(&self, call: &Call) {
        if !self.world.explored {
            return;
        }
        let Some(procedure) = self.procedure.get() else { return };
        match &call.what {
            // No place is written twice, by one process or by several (6.5 to 6.7).
            What::Gather { .. } | What::Allgather { .. } | What::Alltoall { .. } => {
                self.check_written(&call.uses());
            }
            What::Neighbors { .. } => self.check_written(&call.uses()),
            _ if call.writes_derived() => {
                call.uses().iter().for_each(|used| self.check_written(std::slice::from_ref(used)));
            }
            _ => {}
        }
        // Nothing is read where something is written, but what a program says to lie in its place (6.2).
        let is_in_place =
            matches!(&call.what, What::ReduceScatter { input, output, .. } if input.buffer == output.buffer);
        if !is_in_place {
            self.check_apart(|| call.uses().into_iter().partition(|used| !used.writes));
        }
        let comm = &call.comm;
        self.for_others(|| {
            let called = Called::new(self, comm, procedure);
            self.meets(comm, called.with_arguments(comm, &call.what));
        });
    }

    /// The process calls something that all of a communicator do together.
    pub fn check_together(&self, comm: Comm, procedure: Procedure) {
        if !is_collective(procedure) {
            return;
        }
        let Ok(comm) = self.comm(comm) else { return };
        self.for_others(|| self.meets(&comm, Called::new(self, &comm, procedure)));
    }

    /// The process calls something that all do together who have opened a file.
    pub fn check_file(&self, file: File, procedure: Procedure) {
        let name = procedure.name();
        if !(name.contains("_all") || name.contains("_ordered") || name == "MPI_File_sync") {
            return;
        }
        let Ok(file) = self.file(file) else { return };
        self.for_others(|| self.meets(&file.comm, Called::new(self, &file.comm, procedure)));
    }

    /// The process opens a file together with others.
    pub fn check_opened(&self, comm: &Communicator, amode: i32) {
        self.check_alike(comm, |called| called.modes = Some(("access modes", amode)));
    }

    /// The process makes a communicator of a group: all of that group give the same one (7.4.2).
    pub fn check_grouped(&self, comm: &Communicator, group: &Group) {
        let members = || (0..group.size()).map(|rank| group.process(rank)).collect();
        self.check_alike(comm, |called| called.group = members());
    }

    /// The process makes a communicator with a topology that all describe alike (8.5).
    pub fn check_described(
        &self,
        comm: &Communicator,
        described: impl FnOnce() -> Vec<(&'static str, Vec<i64>)>,
    ) {
        self.check_alike(comm, |called| called.described = described());
    }

    /// The process makes a communicator with a graph of which it names the edges at its own place.
    pub fn check_edges(
        &self,
        comm: &Communicator,
        graph: &DistGraph,
        weighted: [Option<bool>; 2],
        reorder: bool,
    ) {
        self.check_alike(comm, |called| {
            called.edges = Some(graph.clone());
            called.weighted = weighted;
            called.described = vec![("flags to reorder", vec![i64::from(reorder)])];
        });
    }

    /// The process makes one group of the two of an intercommunicator (7.6.2).
    pub fn check_merged(&self, comm: &Communicator, high: bool) {
        self.check_alike(comm, |called| called.is_high = Some(high));
    }

    /// The process splits a communicator by what its processes share: all say by what, or take no part (7.4.2).
    pub fn check_split(&self, comm: &Communicator, split_type: i32) {
        let takes_part = split_type != abi::UNDEFINED;
        self.check_alike(comm, |called| called.modes = takes_part.then_some(("split types", split_type)));
    }

    fn check_alike(&self, comm: &Communicator, with: impl FnOnce(&mut Called)) {
        if let (true, Some(procedure)) = (self.world.explored, self.procedure.get()) {
            self.for_others(|| {
                let mut called = Called::new(self, comm, procedure);
                with(&mut called);
                self.meets(comm, called);
            });
        }
    }

    /// The process calls a fence: if nothing precedes or succeeds, all say so (12.5.5).
    pub fn check_fenced(&self, window: &Window, assert: i32) {
        let Some(procedure) = self.procedure.get() else { return };
        self.for_others(|| {
            let mut called = Called::new(self, &window.comm, procedure);
            called.modes = Some(("assertions", assert & (abi::MODE_NOPRECEDE | abi::MODE_NOSUCCEED)));
            let number = window.fences.get();
            self.meets_as(&window.comm, called, window.tag(), number);
        });
    }

    /// The process calls `MPI_Finalize`. When the last one does, all have called what some have.
    pub(super) fn check_meetings(&self) {
        let missing = self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            common.finalized += 1;
            if common.finalized < self.world.size() {
                return None;
            }
            let left = common.meetings.0.values().find_map(|there| there.first())?;
            let line = self.world.lines.in_words(left.at);
            Some(format!(
                "rank {} calls {}{line}, and others of its communicator never do",
                left.process,
                left.procedure.name()
            ))
        });
        if let Some(message) = missing {
            self.finding(Kind::CollectiveMismatch, &format!("MPI_Finalize: {message}"));
        }
    }

    /// Compares what a process calls with what others have called.
    fn meets(&self, comm: &Communicator, called: Called) {
        let number = comm.checked.get();
        comm.checked.set(number + 1);
        self.meets_as(comm, called, 0, number);
    }

    fn meets_as(&self, comm: &Communicator, called: Called, tag: i32, number: u64) {
        let first = |group: &crate::group::Group| (0..group.size()).map(|rank| group.process(rank)).min();
        let remote = comm.remote.as_ref().and_then(|remote| first(&remote.group));
        let least = first(&comm.group).into_iter().chain(remote).min().unwrap_or(0);
        let members = comm.group.size() + comm.remote.as_ref().map_or(0, |remote| remote.group.size());
        let key = (comm.context, tag, least, number);
        let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
        let there = common.meetings.0.entry(key).or_default();
        // What it sends to itself fits too.
        let all = there.iter().chain(std::iter::once(&called));
        let wrong = all.into_iter().find_map(|other| called.differs(other).map(|what| (what, other)));
        if let Some((what, other)) = wrong {
            let lines = &self.world.lines;
            let message = format!(
                "{} on {}: rank {} calls {}{}{what}",
                called.procedure.name(),
                name_of(comm),
                other.process,
                other.procedure.name(),
                lines.in_words(other.at)
            );
            drop(common);
            self.finding(Kind::CollectiveMismatch, &message);
        }
        there.push(called);
        if there.len() == members {
            common.meetings.0.remove(&key);
        }
    }
}

fn name_of(comm: &Communicator) -> String {
    match comm.name.borrow().as_str() {
        "" => "a communicator without a name".to_owned(),
        name => name.to_owned(),
    }
}

/// Whether all processes of the communicator among its arguments call it, beside those that are checked with their arguments.
fn is_collective(procedure: Procedure) -> bool {
    matches!(
        procedure,
        Procedure::CommDup
            | Procedure::CommDupWithInfo
            | Procedure::CommIdup
            | Procedure::CommIdupWithInfo
            | Procedure::CommSplit
            | Procedure::CartSub
            | Procedure::DistGraphCreate
            | Procedure::WinCreate
            | Procedure::WinAllocate
            | Procedure::WinAllocateShared
            | Procedure::WinCreateDynamic
    )
}
