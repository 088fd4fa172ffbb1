//! What a process leaves behind for those who look at the run when it is over: how long it computed, what it sent, and, where that
//! is asked for, what it called when.

use std::cell::{Cell, RefCell};

use crate::abi::Procedure;
use crate::rank::Rank;

/// What is written down beside the sums.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// When each call began and ended.
    pub states: bool,
    /// What each process did, without dates: a time-independent trace.
    pub actions: bool,
    /// What each message does, as whoever watches the kernel wants it.
    pub messages: bool,
}

/// A call, or a computation, that took time.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct State {
    /// Which call; a computation if none.
    pub procedure: Option<Procedure>,
    /// When it began, seconds.
    pub from: f64,
    /// When it ended, seconds.
    pub to: f64,
}

/// The tracks of a process.
#[derive(Debug, Default)]
pub struct Tracks {
    /// How long it computed, seconds of the simulation.
    pub computed: Cell<f64>,
    /// What it computed, in flops.
    pub flops: Cell<f64>,
    /// How many messages it sent, those of collectives too.
    pub messages: Cell<u64>,
    /// How many bytes these had.
    pub bytes: Cell<f64>,
    /// When it was seen last, seconds.
    pub last: Cell<f64>,
    /// What it did when, if that is wanted.
    pub states: RefCell<Vec<State>>,
}

/// What is known of a process when a run is over.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tracked {
    /// How often it called what, and how many seconds that took in all; the most first.
    pub calls: Vec<(&'static str, u64, f64)>,
    /// Seconds of computation.
    pub computed: f64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: f64,
    /// When it was seen last, seconds.
    pub last: f64,
    /// What it did when, if that was wanted.
    pub states: Vec<State>,
}

impl Tracked {
    /// Seconds within calls.
    pub fn in_calls(&self) -> f64 {
        // The sum of nothing is -0.
        self.calls.iter().map(|(_, _, seconds)| seconds).sum::<f64>() + 0.0
    }
}

impl Tracks {
    /// A message of so many bytes sets out.
    #[inline]
    pub fn sends(&self, bytes: f64) {
        self.messages.set(self.messages.get() + 1);
        self.bytes.set(self.bytes.get() + bytes);
    }

    /// Messages of so many bytes each might as well have set out.
    pub fn passes(&self, messages: u64, bytes: f64) {
        self.messages.set(self.messages.get() + messages);
        self.bytes.set(self.bytes.get() + messages as f64 * bytes);
    }

    /// A computation is over.
    pub fn has_computed(&self, flops: f64, from: f64, to: f64) {
        self.flops.set(self.flops.get() + flops);
        self.computed.set(self.computed.get() + (to - from));
        self.last.set(to);
    }
}

impl Rank {
    /// Something that took time is over; it is written down, if that is wanted.
    pub(crate) fn was_in(&self, procedure: Option<Procedure>, from: f64, to: f64) {
        self.tracks.last.set(to);
        if self.world.wanted.states && to > from {
            self.tracks.states.borrow_mut().push(State { procedure, from, to });
        }
    }

    /// All that is known of it.
    pub fn tracked(&self) -> Tracked {
        let called = self.called.borrow();
        let mut calls: Vec<_> =
            called.iter().map(|(procedure, count, seconds)| (procedure.name(), *count, *seconds)).collect();
        calls.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.1.cmp(&a.1)).then(a.0.cmp(b.0)));
        Tracked {
            calls,
            computed: self.tracks.computed.get(),
            messages: self.tracks.messages.get(),
            bytes: self.tracks.bytes.get(),
            last: self.tracks.last.get(),
            states: self.tracks.states.borrow().clone(),
        }
    }
}
