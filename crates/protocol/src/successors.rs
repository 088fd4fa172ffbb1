//! What can happen next in a global state, and what it leads to.

use crate::actor::Data;
use crate::network::Network;
use crate::node::Health;
use crate::space::{CRASH, Move, RECOVER, Space, TIMEOUT, Unknown};
use simurgh_search::space::Steps;

pub(crate) type Successors = simurgh_search::space::Successors<Move>;

impl<M: Data> Space<M> {
    /// Puts the states that come after one behind those in `out`, or says what is to be learned first; then nothing is added.
    pub(crate) fn expand(&self, steps: Steps, state: &[u32], out: &mut Successors) -> Result<(), Unknown> {
        let mark = out.mark();
        let is_kept_up = self.permutations.len() <= 1 && self.network == Network::Unordered;
        let base = is_kept_up.then(|| self.hash(state));
        let result = Expansion { space: self, steps, state, base }.all(out);
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

struct Expansion<'a, M> {
    space: &'a Space<M>,
    steps: Steps,
    state: &'a [u32],
    /// The fingerprint that those of the next states are computed from, where that can be done.
    base: Option<u128>,
}

impl<M: Data> Expansion<'_, M> {
    fn all(&self, out: &mut Successors) -> Result<(), Unknown> {
        let (space, actors) = (self.space, self.space.actors());
        let flying = &self.state[space.header()..];
        if space.lossy {
            for at in space.network.losable(flying) {
                self.loss(at, out);
            }
        }
        for at in space.network.deliverable(flying, &space.envelopes) {
            let envelope = flying[at];
            let to = space.envelopes[envelope as usize].to;
            self.event(to, envelope, Some(at), out)?;
        }
        for actor in 0..actors as u32 {
            for timer in 0..space.facts(actor as usize, self.state[actor as usize]).timers {
                self.event(actor, TIMEOUT + timer, None, out)?;
            }
        }
        if space.crashes_max > 0 {
            let health = |actor: u32| space.facts(actor as usize, self.state[actor as usize]).health;
            let down = (0..actors as u32).filter(|actor| health(*actor) == Health::Down).count();
            for actor in 0..actors as u32 {
                match health(actor) {
                    Health::Up if down < space.crashes_max => self.event(actor, CRASH, None, out)?,
                    Health::Down => self.event(actor, RECOVER, None, out)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn event(
        &self,
        actor: u32,
        event: u32,
        taken: Option<usize>,
        out: &mut Successors,
    ) -> Result<(), Unknown> {
        let space = self.space;
        let reactions = space.reactions_to(actor, self.state[actor as usize], event)?;
        // A message that may be duplicated stays on its way.
        let taken = taken.filter(|_| space.network != Network::Duplicating);
        for reaction in reactions.effective() {
            self.reaction(actor, event, taken, reaction, out)?;
        }
        if let Some(quiet) = reactions.quiet()
            && self.steps == Steps::All
        {
            self.reaction(actor, event, taken, quiet, out)?;
        }
        Ok(())
    }

    fn reaction(
        &self,
        actor: u32,
        event: u32,
        taken: Option<usize>,
        reaction_index: u32,
        out: &mut Successors,
    ) -> Result<(), Unknown> {
        let (space, header) = (self.space, self.space.header());
        let before = self.state[actor as usize];
        let reaction = space.reaction(reaction_index);
        let start = out.data.len();
        out.data.extend_from_slice(&self.state[..header]);
        out.data[start + actor as usize] = reaction.local;
        let mut history = None;
        if space.has_history() {
            let old = self.state[space.actors()];
            let new = match space.history_after(old, event, reaction) {
                Ok(new) => new,
                Err(unknown) => {
                    out.data.truncate(start);
                    return Err(unknown);
                }
            };
            out.data[start + space.actors()] = new;
            history = (new != old).then_some((old, new));
        }
        let flying = &self.state[header..];
        space.network.after(flying, taken, space.sends(reaction), &space.envelopes, &mut out.data);
        let hash = match self.base {
            Some(base) => {
                let at = actor as usize;
                let mut hash = base
                    .wrapping_sub(space.local_hash(at, before))
                    .wrapping_add(space.local_hash(at, reaction.local))
                    .wrapping_add(reaction.sent_hash);
                if event < TIMEOUT {
                    hash = hash.wrapping_sub(space.envelope_hash(event));
                }
                if let Some((old, new)) = history {
                    hash = hash.wrapping_sub(space.history_hash(old)).wrapping_add(space.history_hash(new));
                }
                debug_assert_eq!(hash, space.hash(&out.data[start..]), "kept up is computed anew");
                hash
            }
            None => space.hash(&out.data[start..]),
        };
        let step = Move::Event { actor, event, reaction: reaction_index };
        out.push(step, hash, start);
        Ok(())
    }

    fn loss(&self, at: usize, out: &mut Successors) {
        let (space, header) = (self.space, self.space.header());
        let start = out.data.len();
        out.data.extend_from_slice(&self.state[..header]);
        space.network.after(&self.state[header..], Some(at), &[], &space.envelopes, &mut out.data);
        let flying = &self.state[header..];
        let envelope = flying[at];
        // In a queue it makes a difference which of two equal messages is lost.
        let after = flying[..at].iter().filter(|other| **other == envelope).count() as u32;
        let step = Move::Loss { envelope, after };
        let hash = space.hash(&out.data[start..]);
        out.push(step, hash, start);
    }
}
