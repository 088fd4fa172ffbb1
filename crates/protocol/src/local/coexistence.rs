//! What may be there at the same time: which two local states, which local state and sent message, and which two sent
//! messages.
//!
//! A message is received only in a state that may be there after it was sent. The paper knows nothing like it; without it, a
//! node meets consequences of what it has not done yet, and may count up for ever. It takes memory that is quadratic in
//! the local states, so it is given up beyond a bound.

use crate::local::bits::Bits;
use crate::local::graph::{Edge, Graph};
use crate::space::TIMEOUT;

impl Graph {
    /// Draws all conclusions from a way: which states coexist with its target, and what has been sent there.
    pub(super) fn follow(&mut self, number: u32, is_new: bool) {
        let Edge { node, from, to, event, does } = self.ways[number as usize];
        let (at, actors) = (node as usize, self.nodes.len());
        let mut news = std::mem::take(&mut self.scratch);
        // What had been sent before has been sent after, unless it is never sent along with what is received.
        let along =
            (self.knows_coexistence() && event < TIMEOUT).then(|| &self.messages[event as usize].along);
        let before = &self.nodes[at].sent[from as usize];
        before.news(along, &self.nodes[at].sent[to as usize], &mut news);
        news.iter().for_each(|&message| self.sent_with(message, node, to));
        let sends = does.0 as usize..does.1 as usize;
        for place in sends.clone() {
            let message = self.sends[place];
            let twice = (sends.start..place).any(|earlier| self.sends[earlier] == message);
            if self.nodes[at].sent[from as usize].get(message)
                && (is_new || from != to || self.can_repeat(event))
                || twice
            {
                self.repeat(message);
            }
            self.sent_with(message, node, to);
            if self.knows_coexistence() {
                let along = (event < TIMEOUT).then(|| &self.messages[event as usize].along);
                let before = &self.nodes[at].sent[from as usize];
                before.news(along, &self.messages[message as usize].along, &mut news);
                news.extend_from_slice(&self.sends[sends.start..place]);
                news.iter().for_each(|&other| self.sent_along(message, other));
            }
        }
        if self.knows_coexistence() {
            for other in (0..actors).filter(|other| *other != at) {
                let mask = (event < TIMEOUT).then(|| &self.messages[event as usize].with[other]);
                let before = &self.nodes[at].coexistence[other][from as usize];
                before.news(mask, &self.nodes[at].coexistence[other][to as usize], &mut news);
                news.iter().for_each(|&state| self.meet(node, to, other as u32, state));
                for place in sends.clone() {
                    let message = self.sends[place];
                    let mask = (event < TIMEOUT).then(|| &self.messages[event as usize].with[other]);
                    let before = &self.nodes[at].coexistence[other][from as usize];
                    before.news(mask, &self.messages[message as usize].with[other], &mut news);
                    news.iter().for_each(|&state| self.sent_with(message, other as u32, state));
                }
            }
        }
        self.scratch = news;
    }

    /// Whether a way by this event that leads back to where it began can be gone more than once.
    fn can_repeat(&self, event: u32) -> bool {
        event >= TIMEOUT || self.messages[event as usize].repeated || !self.options.histories
    }

    pub(super) fn knows_coexistence(&self) -> bool {
        self.options.coexistence && !self.crowded
    }

    /// Two local states may be there at the same time.
    pub(super) fn meet(&mut self, left: u32, state: u32, right: u32, other: u32) {
        if self.knows_coexistence()
            && self.nodes[left as usize].coexistence[right as usize][state as usize].set(other)
        {
            self.nodes[right as usize].coexistence[left as usize][other as usize].set(state);
            self.touch(left, state);
            self.touch(right, other);
        }
    }

    /// A message may have been sent when a local state is there.
    pub(super) fn sent_with(&mut self, message: u32, actor: u32, state: u32) {
        let knows_coexistence = self.knows_coexistence();
        let known = &mut self.messages[message as usize];
        if !knows_coexistence {
            if known.from == actor && self.nodes[actor as usize].sent[state as usize].set(message) {
                self.touch(actor, state);
            }
            return;
        }
        if known.with[actor as usize].set(state) {
            let comes_here = known.to == actor;
            self.nodes[actor as usize].sent[state as usize].set(message);
            self.touch(actor, state);
            self.touch_message(message);
            if comes_here {
                self.consider(message, state);
            }
        }
    }

    /// A message may be sent more than once.
    pub(super) fn repeat(&mut self, message: u32) {
        if !std::mem::replace(&mut self.messages[message as usize].repeated, true) {
            self.consider_everywhere(message);
            self.touch_message(message);
        }
    }

    /// Two messages may both have been sent.
    pub(super) fn sent_along(&mut self, message: u32, other: u32) {
        for (one, two) in [(message, other), (other, message)] {
            if self.messages[one as usize].along.set(two) {
                self.touch_message(one);
            }
        }
    }

    pub(super) fn give_up_company(&mut self) {
        self.crowded = true;
        self.nodes.iter_mut().flat_map(|local| &mut local.coexistence).for_each(Vec::clear);
        self.messages.iter_mut().for_each(|message| message.with.clear());
        // One after the other, and only when there is nothing else to do: there are very many states and messages.
        self.unconsidered = (0..self.messages.len() as u32).rev().collect();
    }

    /// More is known of a state: what follows from it has to be drawn again.
    fn touch(&mut self, actor: u32, state: u32) {
        self.nodes[actor as usize].dirty.set(state);
    }

    fn touch_message(&mut self, message: u32) {
        if !std::mem::replace(&mut self.messages[message as usize].is_dirty, true) {
            self.dirty_messages.push(message);
        }
    }

    /// With which states of another a state may coexist; nothing if that is not known.
    pub(crate) fn coexistence(&self, actor: usize, state: u32, other: usize) -> Option<&Bits> {
        self.knows_coexistence().then(|| &self.nodes[actor].coexistence[other][state as usize])
    }
}
