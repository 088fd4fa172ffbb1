//! Receives that are left for later, although something is there: only where something comes later.
//!
//! A process that waits for a receive takes what is there, or something that is sent later and arrives before that. The first is explored
//! first, all of it. If in none of these executions anything was sent that the receive might take and did not cause, then the second is
//! impossible, and is left out: who tried it would go on with all the others until they wait for this process, and begin again. The same where
//! the receive is there first, and a message that comes may be taken, or left for another that comes later.
//!
//! Why: let E be an execution in which the receive x took m, sent after the choice, though s was there, the first of those to arrive. Take from E
//! all that x has caused (program order and messages, no more), and let x take s. That is the beginning of an execution: while its
//! process waited for x, nobody saw in which order messages arrived there, so s may have arrived before all that was not there yet. In it, m was sent, and
//! not caused by x; and it is one of those that were explored first. The same goes for choices within these, by induction on what is left to explore.
//!
//! It needs that messages travel (who posts to a mailbox at once sees its order); that nothing is promised yet: where another receive was left
//! for later, E may keep the promise by what x has caused, and what was explored first may lead nowhere; and that what one takes says
//! nothing of what another has not taken. So only one process receives at each mailbox and takes each token, and no process has
//! two receives under way that might take the same message, for then the younger may get it because x has caused what the older got. Whatever
//! else there is (processes that are created, joins that are given up) is not looked into: then nothing is left out, and if something
//! was, the search begins anew.

use super::future::Need;
use super::graph::{Post, PostId, admits};
use super::search::Search;
use super::{Network, Side};

impl Search {
    /// Several processes take from one place, or the like: nothing is left out any more.
    pub(super) fn is_shared(&mut self) {
        if !self.posters.is_shared {
            self.posters.is_shared = true;
            self.learned |= self.posters.is_left_out;
        }
    }

    /// A process receives at a mailbox.
    fn receives(&mut self, own: &Post) {
        let is_another = *self.posters.receivers.entry(own.mailbox).or_insert(own.process) != own.process;
        let is_under_way = |other: &Post| {
            other.mailbox == own.mailbox
                && other.posted != own.posted
                && !other.is_over
                && other.withdrawn.is_none()
                && matches!((other.side, own.side), (Side::Recv(one), Side::Recv(two)) if one.overlaps(&two))
        };
        if is_another || self.graph.posts.iter().any(is_under_way) {
            self.is_shared();
        }
    }

    /// Whether something that was passed over, or left, has to be taken by what is still to come.
    fn is_something_promised(&self) -> bool {
        let is_free = |post: PostId| self.graph.posts[post as usize].is_free();
        self.needs.iter().any(|need| match *need {
            Need::Partner(left, _) => is_free(left),
            Need::Beside(one, two) => is_free(one) && is_free(two),
        })
    }

    /// Whether a receive for which its process waits is left for later only if something comes.
    pub(super) fn waits_for_what_comes(&self, post: PostId) -> bool {
        let own = &self.graph.posts[post as usize];
        let is_alike = |other: &Post| {
            (other.process, other.mailbox, other.is_send()) == (own.process, own.mailbox, false)
                && other.posted != own.posted
                && other.is_free()
                && other.side.context() == own.side.context()
        };
        let travels = self.graph.network != Network::Mailbox && !own.mailbox.is_local();
        travels
            && own.is_awaited
            && !own.is_send()
            && !self.limits.eager
            && !self.posters.is_shared
            && !self.is_something_promised()
            && !self.graph.posts.iter().any(is_alike)
    }

    /// A post was made: a message may be what receives wait for that took something else.
    pub(super) fn comes(&mut self, post: PostId) {
        let own = self.graph.posts[post as usize];
        if !own.is_send() {
            return self.receives(&own);
        }
        for &place in &self.waiting {
            let Some(waits) = &mut self.choices[place as usize].waits else { continue };
            let receive = &self.graph.posts[waits.post as usize];
            if !waits.is_met && receive.mailbox == own.mailbox && admits(receive, &own) {
                waits.is_met =
                    !self.graph.order.is_caused_by(own.posted, receive.process, receive.handle + 1);
            }
        }
    }
}
