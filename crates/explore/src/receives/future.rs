//! What may still come: dead ends are cut when a choice is made, not when an execution is over.
//!
//! In a complete execution no message lies beside a receive that admits it, and what was never matched came after all that
//! was matched in its place. A choice that leaves a post behind (an older message is passed over, a receive is left for
//! later) can therefore only come to a good end if some other post comes that takes it, and in time: a receive that takes a
//! message which was passed over is posted before the receive that passed it over, a message for a receive that was passed over
//! arrives before the one that passed it over. Who could post such a thing? A process that goes on, whose next step need not come
//! after that moment, and that posts to this mailbox.
//!
//! Who posts how often to which mailbox is learned ([`Posters`]): the most that was seen in any execution. What is not
//! known to come is taken not to come. If an execution shows that more comes to a mailbox where a choice was cut, and from
//! a process that could have mattered, the search begins anew with that knowledge. So a choice is cut only if all
//! executions that were seen in the end agree that nobody can rescue it; in programs where each mailbox has one sender and one
//! receiver nothing can, and nothing is begun in vain.

use std::collections::BTreeMap;

use super::graph::{Post, PostId, admits};
use super::order::Node;
use super::search::{Search, Stage};
use super::{Mailbox, Network};

/// What a process does to a mailbox in one execution, at most.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How many messages it sends.
    pub sends: u32,
    /// How many receives it posts.
    pub receives: u32,
    /// How many of its messages it takes back, or might.
    pub withdrawn_sends: u32,
    /// How many of its receives it takes back, or might.
    pub withdrawn_receives: u32,
}

impl Traffic {
    fn posts(&self, is_send: bool) -> u32 {
        if is_send { self.sends } else { self.receives }
    }

    fn withdrawn(&self, is_send: bool) -> u32 {
        if is_send { self.withdrawn_sends } else { self.withdrawn_receives }
    }

    fn most(self, other: Self) -> Self {
        Self {
            sends: self.sends.max(other.sends),
            receives: self.receives.max(other.receives),
            withdrawn_sends: self.withdrawn_sends.max(other.withdrawn_sends),
            withdrawn_receives: self.withdrawn_receives.max(other.withdrawn_receives),
        }
    }

    fn count(&mut self, post: &Post) {
        // Where it met somebody in time, it is not taken back; in another execution it may be.
        let taken_back = u32::from(post.withdrawn.is_some() || post.revocable);
        if post.is_send() {
            self.sends += 1;
            self.withdrawn_sends += taken_back;
        } else {
            self.receives += 1;
            self.withdrawn_receives += taken_back;
        }
    }
}

/// Whose posts were not counted on where a choice was cut, by mailbox and side: all but this process, or all.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Cut {
    AllBut(u32),
    All,
}

/// What is known of who posts to which mailbox, and where choices were cut by it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Posters {
    /// By mailbox and process.
    pub traffic: BTreeMap<(Mailbox, u32), Traffic>,
    /// By mailbox and side (`true` for sends).
    cuts: BTreeMap<(Mailbox, bool), Cut>,
}

/// What a process was seen to do to a mailbox, as a row: mailbox, process, and the numbers of its traffic.
pub type TrafficRow = (u32, u32, [u32; 4]);

/// Where choices were cut, as a row: mailbox, whether sends were missing, and whose did not count.
pub type CutRow = (u32, bool, Option<u32>);

impl Posters {
    /// All that is known, as rows of numbers.
    pub fn rows(&self) -> (Vec<TrafficRow>, Vec<CutRow>) {
        let traffic = self.traffic.iter().map(|(&(mailbox, process), traffic)| {
            let Traffic { sends, receives, withdrawn_sends, withdrawn_receives } = *traffic;
            (mailbox.0, process, [sends, receives, withdrawn_sends, withdrawn_receives])
        });
        let cuts = self.cuts.iter().map(|(&(mailbox, is_send), &cut)| match cut {
            Cut::All => (mailbox.0, is_send, None),
            Cut::AllBut(process) => (mailbox.0, is_send, Some(process)),
        });
        (traffic.collect(), cuts.collect())
    }

    /// The same from its rows.
    pub fn from_rows(traffic: &[TrafficRow], cuts: &[CutRow]) -> Self {
        let traffic = traffic.iter().map(|&(mailbox, process, [sends, receives, ws, wr])| {
            let traffic = Traffic { sends, receives, withdrawn_sends: ws, withdrawn_receives: wr };
            ((Mailbox(mailbox), process), traffic)
        });
        let mut posters = Self { traffic: traffic.collect(), cuts: BTreeMap::new() };
        for &(mailbox, is_send, excepted) in cuts {
            posters.note_cut(Mailbox(mailbox), is_send, excepted);
        }
        posters
    }

    /// Those who post to a mailbox.
    fn of(&self, mailbox: Mailbox) -> impl Iterator<Item = (u32, &Traffic)> {
        let all = self.traffic.range((mailbox, 0)..=(mailbox, u32::MAX));
        all.map(|(&(_, process), traffic)| (process, traffic))
    }

    fn note_cut(&mut self, mailbox: Mailbox, is_send: bool, excepted: Option<u32>) {
        let cut = excepted.map_or(Cut::All, Cut::AllBut);
        let known = self.cuts.entry((mailbox, is_send)).or_insert(cut);
        if *known != cut {
            *known = Cut::All;
        }
    }

    /// Whether it would have mattered to know that a process does more than was known.
    fn matters(&self, mailbox: Mailbox, process: u32, known: Traffic, seen: Traffic) -> bool {
        let cut = |is_send: bool| match self.cuts.get(&(mailbox, is_send)) {
            Some(Cut::All) => true,
            Some(Cut::AllBut(excepted)) => *excepted != process,
            None => false,
        };
        let any_cut = self.cuts.contains_key(&(mailbox, true)) || self.cuts.contains_key(&(mailbox, false));
        (seen.sends > known.sends && cut(true))
            || (seen.receives > known.receives && cut(false))
            || ((seen.withdrawn_sends > known.withdrawn_sends
                || seen.withdrawn_receives > known.withdrawn_receives)
                && any_cut)
    }

    /// Adds what another knows, and where it cut. Says whether one of the two would have gone on otherwise, had it known.
    pub fn merge(&mut self, other: &Posters) -> bool {
        for (&(mailbox, is_send), &cut) in &other.cuts {
            let excepted = match cut {
                Cut::AllBut(process) => Some(process),
                Cut::All => None,
            };
            self.note_cut(mailbox, is_send, excepted);
        }
        let mut mattered = false;
        let keys: Vec<_> = self.traffic.keys().chain(other.traffic.keys()).copied().collect();
        for key in keys {
            let known = self.traffic.get(&key).copied().unwrap_or_default();
            let others = other.traffic.get(&key).copied().unwrap_or_default();
            let most = known.most(others);
            mattered |= most != known && self.matters(key.0, key.1, known, most);
            mattered |= most != others && other.matters(key.0, key.1, others, most);
            self.traffic.insert(key, most);
        }
        mattered
    }
}

/// A post that must not be left as it is: somebody has to take it.
#[derive(Copy, Clone, Debug)]
pub(super) enum Need {
    /// A post that was passed over needs a partner that is there before this moment.
    Before(PostId, Node),
    /// A message and a receive that admits it, beside each other: one of them needs another partner.
    Beside(PostId, PostId),
    /// A wait that could have taken another of its set has taken this one, which must come.
    Awaited(PostId),
}

impl Search {
    /// A post was made, or taken back: from now on it is known that its process does so much. If that would have mattered where
    /// a choice was cut, the search has to begin anew.
    pub(super) fn learn(&mut self, post: PostId) {
        let Post { mailbox, process, .. } = self.graph.posts[post as usize];
        let mut seen = Traffic::default();
        let posts = self.graph.posts.iter();
        posts.filter(|p| p.process == process && p.mailbox == mailbox).for_each(|p| seen.count(p));
        let known = self.posters.traffic.entry((mailbox, process)).or_default();
        let (before, most) = (*known, known.most(seen));
        if most != before {
            *known = most;
            self.learned |= self.posters.matters(mailbox, process, before, most);
        }
    }

    /// Notes what two posts that just met pass over. False if it cannot come to a good end.
    pub(super) fn passes_over(&mut self, send: PostId, recv: PostId) -> bool {
        let (s, r) = (self.graph.posts[send as usize], self.graph.posts[recv as usize]);
        for index in 0..self.graph.posts.len() {
            let left = &self.graph.posts[index];
            if left.mailbox != s.mailbox || !left.is_free() {
                continue;
            }
            let need = if left.is_send() {
                (self.graph.order.before(left.arrives, s.arrives) && admits(&r, left)).then_some(r.posted)
            } else {
                (self.graph.order.before(left.posted, r.posted) && admits(left, &s)).then_some(s.arrives)
            };
            if let Some(before) = need
                && !self.need(Need::Before(index as PostId, before))
            {
                return false;
            }
        }
        true
    }

    /// Notes what a post that is left for later leaves behind. False if it cannot come to a good end.
    pub(super) fn is_left(&mut self, post: PostId) -> bool {
        let own = self.graph.posts[post as usize];
        for index in 0..self.graph.posts.len() {
            let other = self.graph.posts[index];
            if other.mailbox != own.mailbox || index as PostId == post {
                continue;
            }
            let need = match other.partner {
                None if other.is_free() && admits(&own, &other) => Need::Beside(post, index as PostId),
                Some(partner) if other.is_send() == own.is_send() => {
                    let partner = &self.graph.posts[partner as usize];
                    let passed = admits(partner, &own) && self.graph.order.before(own.arrives, other.arrives);
                    if !passed {
                        continue;
                    }
                    Need::Before(post, partner.arrives)
                }
                _ => continue,
            };
            if !self.need(need) {
                return false;
            }
        }
        true
    }

    pub(super) fn need(&mut self, need: Need) -> bool {
        self.needs.push(need);
        self.limits.eager || self.can_be_met(need)
    }

    /// Whether all that was passed over or left may still come to a good end.
    pub(super) fn needs_can_be_met(&mut self) -> bool {
        self.limits.eager || (0..self.needs.len()).all(|index| self.can_be_met(self.needs[index]))
    }

    fn can_be_met(&mut self, need: Need) -> bool {
        match need {
            Need::Before(left, before) => {
                let post = self.graph.posts[left as usize];
                !post.is_free() || self.can_be_taken(&post, Some(before))
            }
            Need::Awaited(left) => {
                let post = self.graph.posts[left as usize];
                !post.is_free() || self.can_be_taken(&post, None)
            }
            Need::Beside(one, two) => {
                let (one, two) = (self.graph.posts[one as usize], self.graph.posts[two as usize]);
                !one.is_free()
                    || !two.is_free()
                    || self.can_be_taken(&one, Some(two.arrives))
                    || self.can_be_taken(&two, Some(one.arrives))
            }
        }
    }

    /// Whether somebody may take a post, before some moment if there is one, or its own process may take it back.
    fn can_be_taken(&mut self, post: &Post, before: Option<Node>) -> bool {
        let is_send = !post.is_send();
        let goes_on = |search: &Search, process: u32| {
            search
                .processes
                .get(process as usize)
                .is_none_or(|record| record.stage != Stage::Over || search.current == Some(process))
        };
        let used = |search: &Search, process: u32, count: &dyn Fn(&Post) -> bool| {
            let posts = search.graph.posts.iter();
            posts.filter(|p| p.process == process && p.mailbox == post.mailbox && count(p)).count() as u32
        };
        // What arrives in order cannot overtake.
        let in_order = is_send && self.graph.network() == Network::Pairwise;
        let owner = before
            .and_then(|before| self.graph.posts.iter().find(|p| p.arrives == before))
            .map(|p| p.process);
        let in_time = |search: &Search, process: u32| {
            let (Some(record), Some(before)) = (search.processes.get(process as usize), before) else {
                return true;
            };
            record.last != before
                && !search.graph.order.before(before, record.last)
                && !(in_order && owner == Some(process))
        };
        let comes = self.posters.of(post.mailbox).any(|(process, traffic)| {
            traffic.posts(is_send) > 0
                && goes_on(self, process)
                && in_time(self, process)
                && used(self, process, &|p| p.is_send() == is_send) < traffic.posts(is_send)
        });
        let taken_back = || {
            let traffic =
                self.posters.traffic.get(&(post.mailbox, post.process)).copied().unwrap_or_default();
            let most = traffic.withdrawn(post.is_send());
            most > 0
                && goes_on(self, post.process)
                && used(self, post.process, &|p| p.is_send() == post.is_send() && p.withdrawn.is_some())
                    < most
        };
        let can = comes || taken_back();
        if !can {
            let excepted = if self.graph.network() == Network::Unordered && is_send { None } else { owner };
            self.posters.note_cut(post.mailbox, is_send, excepted);
        }
        can
    }
}
