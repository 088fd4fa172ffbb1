//! What can happen next in a global state, and what it leads to.

use crate::network::Network;
use crate::node::Health;
use crate::space::{CRASH, Move, RECOVER, Space, TIMEOUT, Unknown};
use simurgh_search::space::Steps;

pub(crate) type Successors = simurgh_search::space::Successors<Move>;

impl Space {
    /// Puts the states that come after one behind those in `out`, or says what is to be learned first; then nothing is added.
    pub(crate) fn expand(&self, steps: Steps, state: &[u32], out: &mut Successors) -> Result<(), Unknown> {
        let mark = out.mark();
        let is_kept_up = self.permutations.len() <= 1 && self.network == Network::Unordered;
        let base = is_kept_up.then(|| self.hash(state));
        let result = Expansion { space: self, steps, state, base, out }.all();
        if result.is_err() {
            out.truncate(mark);
        }
        result
    }

    /// The same, learning what is not known.
    pub(crate) fn expand_learning(&mut self, steps: Steps, state: &[u32], out: &mut Successors) {
        while let Err(unknown) = self.expand(steps, state, out) {
            self.learn(unknown);
        }
    }

    /// What comes after a state by the first step that is meant, if there is one.
    pub(crate) fn after(
        &mut self,
        steps: Steps,
        state: &[u32],
        is_meant: impl Fn(&Self, Move) -> bool,
    ) -> Option<Vec<u32>> {
        let mut next = Successors::default();
        self.expand_learning(steps, state, &mut next);
        let meant = next.list.iter().find(|successor| is_meant(self, successor.step))?;
        Some(next.state(meant).to_vec())
    }
}

struct Expansion<'a> {
    space: &'a Space,
    steps: Steps,
    state: &'a [u32],
    /// The fingerprint that those of the next states are computed from, where that can be done.
    base: Option<u128>,
    out: &'a mut Successors,
}

impl Expansion<'_> {
    fn all(&mut self) -> Result<(), Unknown> {
        let (space, actors) = (self.space, self.space.actors());
        let flying = &self.state[space.header()..];
        if space.lossy {
            for at in space.network.losable(flying) {
                self.loss(at);
            }
        }
        for at in space.network.deliverable(flying, &space.envelopes.values) {
            let envelope = flying[at];
            let to = space.envelopes.get(envelope).to;
            self.event(to, envelope, Some(at))?;
        }
        for actor in 0..actors as u32 {
            for timer in 0..space.facts(actor as usize, self.state[actor as usize]).timers {
                self.event(actor, TIMEOUT + timer, None)?;
            }
        }
        if space.crashes_max > 0 {
            let state = self.state;
            let health = |actor: u32| space.facts(actor as usize, state[actor as usize]).health;
            let down = (0..actors as u32).filter(|actor| health(*actor) == Health::Down).count();
            for actor in 0..actors as u32 {
                match health(actor) {
                    Health::Up if down < space.crashes_max => self.event(actor, CRASH, None)?,
                    Health::Down => self.event(actor, RECOVER, None)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, actor: u32, event: u32, taken: Option<usize>) -> Result<(), Unknown> {
        let reactions = self.space.reactions_to(actor, self.state[actor as usize], event)?;
        // A message that may be duplicated stays on its way.
        let taken = taken.filter(|_| self.space.network != Network::Duplicating);
        let quiet = reactions.quiet().filter(|_| self.steps == Steps::All);
        for reaction in reactions.effective().chain(quiet) {
            self.reaction(actor, event, reaction, taken)?;
        }
        Ok(())
    }

    fn reaction(&mut self, actor: u32, event: u32, number: u32, taken: Option<usize>) -> Result<(), Unknown> {
        let (space, at) = (self.space, actor as usize);
        let (fixed, flying) = self.state.split_at(space.header());
        let reaction = space.reaction(number);
        let history = match fixed.get(space.actors()) {
            Some(&old) => Some((old, space.history_after(old, event, reaction)?)),
            None => None,
        };
        let data = &mut self.out.data;
        let start = data.len();
        data.extend_from_slice(fixed);
        data[start + at] = reaction.local;
        if let Some((_, new)) = history {
            data[start + space.actors()] = new;
        }
        space.network.after(flying, taken, space.sends(reaction), &space.envelopes.values, data);
        let hash = match self.base {
            Some(base) => {
                let mut hash = base
                    .wrapping_sub(space.nodes[at].hash(fixed[at], 0))
                    .wrapping_add(space.nodes[at].hash(reaction.local, 0))
                    .wrapping_add(reaction.sent_hash);
                if event < TIMEOUT {
                    hash = hash.wrapping_sub(space.envelopes.hash(event, 0));
                }
                if let Some((old, new)) = history.filter(|(old, new)| old != new) {
                    hash = hash.wrapping_sub(space.history_hash(old)).wrapping_add(space.history_hash(new));
                }
                debug_assert_eq!(hash, space.hash(&data[start..]), "kept up is computed anew");
                hash
            }
            None => space.hash(&data[start..]),
        };
        self.out.push(Move::Event { actor, event, reaction: number }, hash, start);
        Ok(())
    }

    fn loss(&mut self, at: usize) {
        let (space, data) = (self.space, &mut self.out.data);
        let (fixed, flying) = self.state.split_at(space.header());
        let start = data.len();
        data.extend_from_slice(fixed);
        space.network.after(flying, Some(at), &[], &space.envelopes.values, data);
        let hash = space.hash(&data[start..]);
        let envelope = flying[at];
        // In a queue it makes a difference which of two equal messages is lost.
        let after = flying[..at].iter().filter(|other| **other == envelope).count() as u32;
        self.out.push(Move::Loss { envelope, after }, hash, start);
    }
}
