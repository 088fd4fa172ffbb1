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

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::graph::{Post, PostId, admits};
use super::order::Node;
use super::search::{Search, Stage};
use super::{Mailbox, Network};

/// What a process does to a mailbox in one execution, at most.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Traffic {
    sends: u32,
    receives: u32,
    /// Which of its posts it takes back, or might: [`Post::key`].
    revocable: BTreeSet<u32>,
}

impl Traffic {
    fn posts(&self, is_send: bool) -> u32 {
        if is_send { self.sends } else { self.receives }
    }

    /// In what it exceeds another.
    fn more_than(&self, other: &Self) -> More {
        // What the other has not seen at all is no news of what it has seen.
        let is_news = |&key: &u32| !other.revocable.contains(&key) && key >> 1 <= other.posts(key & 1 == 1);
        let takes_back = self.revocable.iter().any(is_news);
        (self.sends > other.sends, self.receives > other.receives, takes_back)
    }
}

/// Whether there are more sends, more receives, more that is taken back.
type More = (bool, bool, bool);

/// What is known of who posts to which mailbox, and where choices were cut by it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Posters {
    /// By mailbox and process.
    traffic: BTreeMap<(Mailbox, u32), Traffic>,
    /// By mailbox and side (`true` for sends): the process whose posts did not count, if it is one; all others' would have.
    cuts: BTreeMap<(Mailbox, bool), Option<u32>>,
}

/// What a process was seen to do to a mailbox, as a row: mailbox, process, sends, receives, and which it may take back.
pub type TrafficRow = (u32, u32, u32, u32, Vec<u32>);

/// Where choices were cut, as a row: mailbox, whether sends were missing, and whose did not count.
pub type CutRow = (u32, bool, Option<u32>);

impl Posters {
    /// All that is known, as rows of numbers.
    pub fn rows(&self) -> (Vec<TrafficRow>, Vec<CutRow>) {
        let traffic = self.traffic.iter().map(|(&(mailbox, process), traffic)| {
            let revocable = traffic.revocable.iter().copied().collect();
            (mailbox.0, process, traffic.sends, traffic.receives, revocable)
        });
        let cuts = self.cuts.iter().map(|(&(mailbox, is_send), &excepted)| (mailbox.0, is_send, excepted));
        (traffic.collect(), cuts.collect())
    }

    /// The same from its rows.
    pub fn from_rows(traffic: &[TrafficRow], cuts: &[CutRow]) -> Self {
        let traffic = traffic.iter().map(|(mailbox, process, sends, receives, revocable)| {
            let revocable = revocable.iter().copied().collect();
            ((Mailbox(*mailbox), *process), Traffic { sends: *sends, receives: *receives, revocable })
        });
        let cuts = cuts.iter().map(|&(mailbox, is_send, excepted)| ((Mailbox(mailbox), is_send), excepted));
        Self { traffic: traffic.collect(), cuts: cuts.collect() }
    }

    /// Those who post to a mailbox.
    fn of(&self, mailbox: Mailbox) -> impl Iterator<Item = (u32, &Traffic)> {
        let all = self.traffic.range((mailbox, 0)..=(mailbox, u32::MAX));
        all.map(|(&(_, process), traffic)| (process, traffic))
    }

    fn note_cut(&mut self, mailbox: Mailbox, is_send: bool, excepted: Option<u32>) {
        let known = self.cuts.entry((mailbox, is_send)).or_insert(excepted);
        *known = known.filter(|_| *known == excepted);
    }

    /// Whether it would have mattered to know that a process sends more, receives more, or takes back more than was known.
    fn matters(&self, mailbox: Mailbox, process: u32, (sends, receives, takes_back): More) -> bool {
        let cut =
            |is_send| self.cuts.get(&(mailbox, is_send)).is_some_and(|excepted| *excepted != Some(process));
        let any_cut = self.cuts.contains_key(&(mailbox, true)) || self.cuts.contains_key(&(mailbox, false));
        (sends && cut(true)) || (receives && cut(false)) || (takes_back && any_cut)
    }

    /// Adds what another knows, and where it cut. Says whether one of the two would have gone on otherwise, had it known.
    pub fn merge(&mut self, other: &Posters) -> bool {
        for (&(mailbox, is_send), &excepted) in &other.cuts {
            self.note_cut(mailbox, is_send, excepted);
        }
        let mut mattered = false;
        let keys: BTreeSet<_> = self.traffic.keys().chain(other.traffic.keys()).copied().collect();
        for key in keys {
            let known = self.traffic.get(&key).cloned().unwrap_or_default();
            let others = other.traffic.get(&key).cloned().unwrap_or_default();
            mattered |= self.matters(key.0, key.1, others.more_than(&known));
            mattered |= other.matters(key.0, key.1, known.more_than(&others));
            let most = self.traffic.entry(key).or_default();
            most.sends = known.sends.max(others.sends);
            most.receives = known.receives.max(others.receives);
            most.revocable.extend(&others.revocable);
        }
        mattered
    }
}

/// A post that must not be left as it is: somebody has to take it.
#[derive(Copy, Clone, Debug)]
pub(super) enum Need {
    /// A post that was passed over needs a partner that is there before this moment; or, without one, a wait that could
    /// have taken another of its set has taken this one, which must come.
    Partner(PostId, Option<Node>),
    /// A message and a receive that admits it, beside each other: one of them needs another partner.
    Beside(PostId, PostId),
}

impl Search {
    /// A post was made, or taken back: from now on it is known that its process does so much. If that would have mattered where
    /// a choice was cut, the search has to begin anew.
    pub(super) fn learn(&mut self, post: PostId) {
        let own = self.graph.posts[post as usize];
        let known = self.posters.traffic.entry((own.mailbox, own.process)).or_default();
        let posts = if own.is_send() { &mut known.sends } else { &mut known.receives };
        let is_more = own.number > *posts;
        *posts = own.number.max(*posts);
        // Where it met somebody in time, it is not taken back; in another execution it may be.
        let takes_back = (own.withdrawn.is_some() || own.revocable) && known.revocable.insert(own.key());
        // No choice was cut for a post that was never seen before.
        let takes_back = takes_back && !is_more;
        if is_more || takes_back {
            let more = (is_more && own.is_send(), is_more && !own.is_send(), takes_back);
            self.learned |= self.posters.matters(own.mailbox, own.process, more);
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
                && !self.need(Need::Partner(index as PostId, Some(before)))
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
                    Need::Partner(post, Some(partner.arrives))
                }
                _ => continue,
            };
            if !self.need(need) {
                return false;
            }
        }
        true
    }

    /// Notes what is there beside a post that has met nobody until a moment: somebody else has taken it. False if nobody can have.
    pub(super) fn has_met_nobody(&mut self, post: PostId, until: Node) -> bool {
        let own = self.graph.posts[post as usize];
        if own.partner.is_some() || !self.graph.order.before(own.arrives, until) {
            return true;
        }
        (0..self.graph.posts.len()).all(|index| {
            let other = &self.graph.posts[index];
            let is_there = other.mailbox == own.mailbox
                && other.is_free()
                && admits(&own, other)
                && self.graph.order.before(other.arrives, until);
            !is_there || self.need(Need::Partner(index as PostId, Some(own.arrives)))
        })
    }

    /// Whether a post may be left for later, and its process does not take it back before it goes on, or may.
    pub(super) fn may_be_left(&mut self, post: PostId, is_kept: bool) -> bool {
        let needs = self.needs.len();
        self.kept = is_kept.then_some(post);
        let may = self.is_left(post);
        self.kept = None;
        self.needs.truncate(needs);
        may
    }

    pub(super) fn need(&mut self, need: Need) -> bool {
        self.needs.push(need);
        self.limits.eager || self.can_be_met(need)
    }

    /// Whether all that was passed over or left may still come to a good end: each of it, and all of it together.
    pub(super) fn needs_can_be_met(&mut self) -> bool {
        self.limits.eager
            || (0..self.needs.len()).all(|index| self.can_be_met(self.needs[index]))
                && self.needs_can_be_met_together()
    }

    pub(super) fn can_be_met(&mut self, need: Need) -> bool {
        match need {
            Need::Partner(left, before) => {
                let post = self.graph.posts[left as usize];
                !post.is_free() || self.can_be_taken(&post, before)
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
        let can = self.takers(post, before).next().is_some() || self.may_be_taken_back(post, before);
        if !can {
            let is_send = !post.is_send();
            let owner = before.and_then(|before| self.owner(before));
            let excepted = if self.graph.network == Network::Unordered && is_send { None } else { owner };
            self.posters.note_cut(post.mailbox, is_send, excepted);
        }
        can
    }

    /// Whether the process of a post may take it back: not while it waits for it, which it does where there is no moment.
    fn may_be_taken_back(&self, post: &Post, before: Option<Node>) -> bool {
        let is_kept = self.kept.is_some_and(|kept| self.graph.posts[kept as usize].posted == post.posted);
        if before.is_none() || is_kept {
            return false;
        }
        let traffic = self.posters.traffic.get(&(post.mailbox, post.process));
        traffic.is_some_and(|traffic| traffic.revocable.contains(&post.key())) && self.goes_on(post.process)
    }

    fn goes_on(&self, process: u32) -> bool {
        let record = self.processes.get(process as usize);
        record.is_none_or(|record| record.stage != Stage::Over || self.current == Some(process))
    }

    /// Whose post is in its mailbox from this moment on.
    fn owner(&self, moment: Node) -> Option<u32> {
        self.graph.posts.iter().find(|post| post.arrives == moment).map(|post| post.process)
    }

    /// Who may take a post, before some moment if there is one, and how many posts of that kind each has left.
    fn takers(&self, post: &Post, before: Option<Node>) -> impl Iterator<Item = (u32, u32)> {
        let (mailbox, is_send) = (post.mailbox, !post.is_send());
        // What arrives in order cannot overtake.
        let in_order = is_send && self.graph.network == Network::Pairwise;
        let owner = before.filter(|_| in_order).and_then(|before| self.owner(before));
        let in_time = move |process: u32| {
            let (Some(record), Some(before)) = (self.processes.get(process as usize), before) else {
                return true;
            };
            record.last != before && !self.graph.order.before(before, record.last) && owner != Some(process)
        };
        let used =
            move |process: u32| self.graph.last_of(process, mailbox, is_send).map_or(0, |last| last.number);
        self.posters.of(mailbox).filter_map(move |(process, traffic)| {
            let most = traffic.posts(is_send);
            if most == 0 || !self.goes_on(process) || !in_time(process) {
                return None;
            }
            Some((process, most.saturating_sub(used(process)))).filter(|(_, left)| *left > 0)
        })
    }

    /// Whether there are enough posts to come for all that somebody has to take, each of them for one only.
    fn needs_can_be_met_together(&mut self) -> bool {
        let mut needy: BTreeMap<PostId, SmallVec<[Option<Node>; 2]>> = BTreeMap::new();
        for index in 0..self.needs.len() {
            let (left, before) = match self.needs[index] {
                Need::Partner(left, before) => (left, before),
                Need::Beside(one, two) => {
                    let (a, b) = (self.graph.posts[one as usize], self.graph.posts[two as usize]);
                    // Where one of them cannot be taken, it has to be the other.
                    if !a.is_free() || !b.is_free() {
                        continue;
                    } else if !self.can_be_taken(&a, Some(b.arrives)) {
                        (two, Some(a.arrives))
                    } else if !self.can_be_taken(&b, Some(a.arrives)) {
                        (one, Some(b.arrives))
                    } else {
                        continue;
                    }
                }
            };
            let post = &self.graph.posts[left as usize];
            if post.is_free() && !self.may_be_taken_back(post, before) {
                needy.entry(left).or_default().push(before);
            }
        }
        if needy.len() < 2 {
            return true;
        }
        // A matching of those who need with what comes, by augmenting paths.
        let mut taken = BTreeMap::new();
        let mut offers: Vec<Vec<Coming>> = Vec::new();
        for (&left, befores) in &needy {
            let post = &self.graph.posts[left as usize];
            let mut takers: Vec<(u32, u32)> = self.takers(post, befores[0]).collect();
            for before in &befores[1..] {
                let others: Vec<(u32, u32)> = self.takers(post, *before).collect();
                takers.retain(|taker| others.contains(taker));
            }
            let coming = takers.iter().flat_map(|&(process, most)| {
                let useful = most.min(needy.len() as u32);
                (0..useful).map(move |number| (post.mailbox, post.is_send(), process, number))
            });
            offers.push(coming.collect());
            if !augment(offers.len() - 1, &offers, &mut taken, &mut BTreeSet::new()) {
                let (mailbox, is_send) = (post.mailbox, !post.is_send());
                self.posters.note_cut(mailbox, is_send, None);
                return false;
            }
        }
        true
    }
}

/// A post that is to come: where, which side it takes, whose, and which of those.
type Coming = (Mailbox, bool, u32, u32);

/// Finds something for one that needs it, if others who have something take something else.
fn augment(
    needs: usize,
    offers: &[Vec<Coming>],
    taken: &mut BTreeMap<Coming, usize>,
    seen: &mut BTreeSet<Coming>,
) -> bool {
    for &coming in &offers[needs] {
        if !seen.insert(coming) {
            continue;
        }
        let owner = taken.get(&coming).copied();
        if owner.is_none_or(|owner| augment(owner, offers, taken, seen)) {
            taken.insert(coming, needs);
            return true;
        }
    }
    false
}
