//! Depth-first search that comes to each state once: what can happen from a state does not depend on how it was reached.
//!
//! A state is known by its key ([`System::state_key`]); a system that has none is searched as by [`dfs`](mod@crate::dfs). Where an
//! execution comes to a state that was seen, it is given up, and counts as redundant. Deadlocks and violations of states are
//! found as by plain search; executions are not counted one by one, so that what compares whole executions is lost.

use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;

use hashbrown::HashSet;

use crate::session::{Options, Session};
use crate::system::System;
use crate::verdict::Found;

/// Looks at every state once.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    let mut session = Session::new(system, options);
    let _ = search(&mut session);
    session.conclude()
}

/// Keys are numbers that are spread already.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = (key ^ key >> 64) as u64;
    }
}

/// The states that were seen. It is never iterated.
#[derive(Default)]
pub(crate) struct Visited {
    keys: HashSet<u128, BuildHasherDefault<Spread>>,
}

impl Visited {
    /// Whether the present state is new; it is from then on known. Where a system has no keys, each is new.
    pub(crate) fn insert<S: System>(&mut self, system: &mut S) -> bool {
        system.state_key().is_none_or(|key| self.keys.insert(key))
    }
}

/// A state on the way: what is still to be tried there, the last one first; and how to come back to it.
type Left<S> = (Vec<<S as System>::Transition>, Option<<S as System>::Snapshot>);

fn search<S: System>(session: &mut Session<'_, '_, S>) -> ControlFlow<()> {
    let mut visited = Visited::default();
    let mut trace = Vec::new();
    let mut path: Vec<Left<S>> = Vec::new();
    session.begin()?;
    loop {
        let mut rest = Vec::new();
        if visited.insert(session.system) {
            session.system.enabled(&mut rest);
            rest.reverse();
            if rest.is_empty() {
                session.complete(&trace)?;
            } else if session.is_cut(&trace) {
                rest.clear();
            }
        } else {
            session.redundant();
        }
        let snapshot = if rest.len() > 1 { session.system.snapshot() } else { None };
        path.push((rest, snapshot));
        if path.last().is_some_and(|(rest, _)| rest.is_empty()) {
            while path.last().is_some_and(|(rest, _)| rest.is_empty()) {
                path.pop();
                trace.pop();
            }
            let Some((rest, snapshot)) = path.last() else { return ControlFlow::Continue(()) };
            session.begin()?;
            match snapshot {
                Some(snapshot) => session.system.restore(snapshot),
                None => session.replay(&trace, rest)?,
            }
        }
        let (rest, _) = path.last_mut().expect("something is left to be tried");
        let next = rest.pop().expect("something is left to be tried");
        session.execute(S::step(&next), &mut trace)?;
    }
}
