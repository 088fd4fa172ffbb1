//! What may still come: dead ends are cut when a choice is made, not when an execution is over.
//!
//! In a complete execution no message lies beside a receive that admits it, and what was never matched came after all that was
//! matched in its place. So a choice that leaves a post behind (an older message is passed over, a receive is left for later) comes to
//! a good end only if somebody still posts what takes it, and in time.
//!
//! Who posts what to which mailbox, and how often, is learned ([`Posters`]): the most that was seen in any execution. What is not known
//! to come is taken not to come. If an execution shows that more comes where a choice was cut, and from a process that could have
//! mattered, the search begins anew with that knowledge. So a choice is cut only if all executions agree that nobody can rescue it.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::graph::{Post, PostId, admits};
use super::order::Node;
use super::search::{Search, Stage};
use super::{Mailbox, Network, Side};

/// How often a process posts the same to a mailbox in one execution, at most.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How often.
    pub posts: u32,
    /// Which of these it takes back, or might.
    pub revocable: BTreeSet<u32>,
    /// Whether it sends one while another of its messages to this mailbox may be on its way: only then can one overtake another.
    pub overlaps: bool,
}

/// A process, and what it posts.
pub type Poster = (u32, Side);

/// What is known of who posts to which mailbox, and where choices were cut by it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Posters {
    /// By mailbox, then in the order of process and what is posted.
    pub traffic: BTreeMap<Mailbox, Vec<(Poster, Traffic)>>,
    /// By mailbox, then by the post that nobody could take: the process whose posts did not count, if it is one; all others' would have.
    pub cuts: BTreeMap<Mailbox, Vec<(Side, Option<u32>)>>,
    /// Whether anything at all was seen to be taken back.
    takes_back: bool,
    /// Who receives at a mailbox (see `later`).
    pub(super) receivers: BTreeMap<Mailbox, u32>,
    /// Whether several processes receive at one mailbox, or there is something else that `later` knows nothing of.
    pub(super) is_shared: bool,
    /// Whether a receive was not left for later, since nothing was seen to come.
    pub(super) is_left_out: bool,
}

impl Posters {
    /// This is known from before: who posts what, and where choices were cut by it.
    pub fn new(
        traffic: impl Iterator<Item = (Mailbox, Poster, Traffic)>,
        cuts: impl Iterator<Item = (Mailbox, Side, Option<u32>)>,
    ) -> Self {
        let mut posters = Self::default();
        for (mailbox, poster, known) in traffic {
            posters.takes_back |= !known.revocable.is_empty();
            *posters.traffic_of(mailbox, poster) = known;
        }
        cuts.for_each(|(mailbox, left, excepted)| posters.note_cut(mailbox, left, excepted));
        posters
    }

    /// What is known of a process, and a place for it if nothing is.
    fn traffic_of(&mut self, mailbox: Mailbox, poster: Poster) -> &mut Traffic {
        let all = self.traffic.entry(mailbox).or_default();
        let at = all.binary_search_by_key(&poster, |(other, _)| *other).unwrap_or_else(|at| {
            all.insert(at, (poster, Traffic::default()));
            at
        });
        &mut all[at].1
    }

    fn known(&self, mailbox: Mailbox, poster: Poster) -> Option<&Traffic> {
        let all = self.traffic.get(&mailbox)?;
        let at = all.binary_search_by_key(&poster, |(other, _)| *other).ok()?;
        Some(&all[at].1)
    }

    fn note_cut(&mut self, mailbox: Mailbox, left: Side, excepted: Option<u32>) {
        let cuts = self.cuts.entry(mailbox).or_default();
        match cuts.iter_mut().find(|(known, _)| *known == left) {
            Some((_, known)) => *known = known.filter(|process| Some(*process) == excepted),
            None => cuts.push((left, excepted)),
        }
    }

    /// Whether it would have mattered to know that a process posts more of something than was known, or takes more of it back.
    fn matters(&self, mailbox: Mailbox, (process, side): &Poster, is_more: bool, takes_back: bool) -> bool {
        self.cuts.get(&mailbox).is_some_and(|cuts| {
            let counts =
                |(left, excepted): &(Side, Option<u32>)| left.meets(side) && *excepted != Some(*process);
            takes_back || is_more && cuts.iter().any(counts)
        })
    }

    /// Whether another knows what would have mattered here.
    fn misses(&self, other: &Posters) -> bool {
        let nothing = Traffic::default();
        other.traffic.iter().any(|(mailbox, all)| {
            all.iter().any(|(poster, theirs)| {
                let known = self.known(*mailbox, *poster).unwrap_or(&nothing);
                // What was never seen here is no news of what was.
                let is_news = |number: &u32| *number <= known.posts && !known.revocable.contains(number);
                let takes_back = theirs.revocable.iter().any(is_news);
                let is_more = theirs.posts > known.posts || theirs.overlaps && !known.overlaps;
                self.matters(*mailbox, poster, is_more, takes_back)
            })
        })
    }

    /// Adds what another knows, and where it cut. Says whether one of the two would have gone on otherwise, had it known.
    pub fn merge(&mut self, other: &Posters) -> bool {
        let mattered = self.misses(other) || other.misses(self);
        self.takes_back |= other.takes_back;
        self.is_shared |= other.is_shared;
        self.is_left_out |= other.is_left_out;
        for (&mailbox, &process) in &other.receivers {
            self.is_shared |= *self.receivers.entry(mailbox).or_insert(process) != process;
        }
        for (&mailbox, cuts) in &other.cuts {
            cuts.iter().for_each(|&(left, excepted)| self.note_cut(mailbox, left, excepted));
        }
        for (&mailbox, all) in &other.traffic {
            for &(poster, ref theirs) in all {
                let most = self.traffic_of(mailbox, poster);
                most.posts = most.posts.max(theirs.posts);
                most.revocable.extend(&theirs.revocable);
                most.overlaps |= theirs.overlaps;
            }
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
        let poster = (own.process, own.side);
        let overlaps = self.graph.network == Network::Unordered && self.overlaps(&own);
        let known = self.posters.traffic_of(own.mailbox, poster);
        let is_more = own.number > known.posts || overlaps && !known.overlaps;
        known.posts = known.posts.max(own.number);
        known.overlaps |= overlaps;
        // Where it met somebody in time, it is not taken back; in another execution it may be. No choice was cut for a post that was
        // never seen before.
        let takes_back = (own.withdrawn.is_some() || own.revocable) && known.revocable.insert(own.number);
        self.posters.takes_back |= takes_back;
        if is_more || takes_back {
            self.spent.fill(None);
            self.learned |= self.posters.matters(own.mailbox, &poster, is_more, takes_back && !is_more);
        }
    }

    /// Whether another message of the same process to this mailbox may be on its way when this one is sent.
    fn overlaps(&self, own: &Post) -> bool {
        let is_on_its_way = |other: &Post| {
            (other.process, other.mailbox) == (own.process, own.mailbox)
                && other.is_send()
                && other.posted != own.posted
                && !self.graph.order.before(other.arrives, own.posted)
        };
        own.is_send() && self.graph.posts.iter().any(is_on_its_way)
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
            let is_beside = matches!(need, Need::Beside(..)) && !own.is_send();
            if is_beside && self.is_spent(&own, &other) {
                return false;
            }
            if !self.need(need) {
                if is_beside {
                    self.note_spent(&own);
                }
                return false;
            }
        }
        true
    }

    /// Whether a message and a receive that is being made stay beside each other, since nobody else posts anything more there. Where all was
    /// sent this is asked for each receive.
    fn is_spent(&mut self, recv: &Post, send: &Post) -> bool {
        if !self.spent.contains(&Some((recv.mailbox, recv.process))) {
            return false;
        }
        // As if it had been looked into.
        let sender = Some(send.process).filter(|_| self.graph.network != Network::Unordered);
        self.posters.note_cut(recv.mailbox, recv.side, sender);
        self.posters.note_cut(recv.mailbox, send.side, Some(recv.process));
        true
    }

    /// Notes whether that is so: from before the present step on, until more is learned of who posts what.
    fn note_spent(&mut self, recv: &Post) {
        let (mailbox, own) = (recv.mailbox, recv.process);
        let is_over = |&((process, side), ref known): &(Poster, Traffic)| {
            (process == own && !side.is_send())
                || !self.goes_on(process)
                || self.to_come(process, mailbox, side, known) == 0
        };
        if !self.posters.takes_back && self.posters.traffic.get(&mailbox).into_iter().flatten().all(is_over) {
            self.spent.push(Some((mailbox, own)));
            self.present.spent = self.spent.len() as u32;
        }
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
            let owner = before.and_then(|before| self.owner(before, post));
            let excepted = owner.filter(|_| post.is_send() || self.graph.network != Network::Unordered);
            self.posters.note_cut(post.mailbox, post.side, excepted);
        }
        can
    }

    /// Whether the process of a post may take it back: not while it waits for it, which it does where there is no moment.
    fn may_be_taken_back(&self, post: &Post, before: Option<Node>) -> bool {
        let is_kept = self.kept.is_some_and(|kept| self.graph.posts[kept as usize].posted == post.posted);
        if !self.posters.takes_back || before.is_none() || is_kept {
            return false;
        }
        let traffic = self.posters.known(post.mailbox, (post.process, post.side));
        traffic.is_some_and(|traffic| traffic.revocable.contains(&post.number)) && self.goes_on(post.process)
    }

    fn goes_on(&self, process: u32) -> bool {
        let record = self.processes.get(process as usize);
        record.is_none_or(|record| !matches!(record.stage, Stage::Over) || self.current == Some(process))
    }

    /// The last of this kind that a process has posted to a mailbox.
    fn last_like(&self, process: u32, mailbox: Mailbox, side: Side) -> Option<&Post> {
        let own = &self.processes.get(process as usize)?.posts;
        let posts = own.iter().rev().flatten().map(|&post| &self.graph.posts[post as usize]);
        posts.into_iter().find(|post| post.mailbox == mailbox && post.side == side)
    }

    /// Whose post is in its mailbox from this moment on, if it is in the context of another: order is kept within one alone.
    fn owner(&self, moment: Node, other: &Post) -> Option<u32> {
        let found = self.graph.posts.iter().find(|post| post.arrives == moment)?;
        (found.side.context() == other.side.context()).then_some(found.process)
    }

    /// Who may take a post, before some moment if there is one, by which posts, and how many of these each has left.
    fn takers(&self, post: &Post, before: Option<Node>) -> impl Iterator<Item = (u32, Side, u32)> {
        let (mailbox, left) = (post.mailbox, post.side);
        // What arrives in order cannot overtake; nor can what is sent when all before it has arrived.
        let in_order = !post.is_send() && self.graph.network == Network::Pairwise;
        let in_turn = !post.is_send() && self.graph.network == Network::Unordered;
        let owner = before.filter(|_| in_order || in_turn).and_then(|before| self.owner(before, post));
        let in_time = move |process: u32| {
            let (Some(record), Some(before)) = (self.processes.get(process as usize), before) else {
                return true;
            };
            record.last != before && !self.graph.order.before(before, record.last)
        };
        let all = self.posters.traffic.get(&mailbox).into_iter().flatten();
        all.filter_map(move |&((process, side), ref traffic)| {
            let is_late = owner == Some(process) && (in_order || !traffic.overlaps);
            if is_late || !side.meets(&left) || !self.goes_on(process) || !in_time(process) {
                return None;
            }
            Some((process, side, self.to_come(process, mailbox, side, traffic)))
                .filter(|(.., posts)| *posts > 0)
        })
    }

    /// How many such posts of a process are still to come, as far as is known.
    fn to_come(&self, process: u32, mailbox: Mailbox, side: Side, known: &Traffic) -> u32 {
        known.posts.saturating_sub(self.last_like(process, mailbox, side).map_or(0, |last| last.number))
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
            let mut takers: Vec<_> = self.takers(post, befores[0]).collect();
            for before in &befores[1..] {
                let others: Vec<_> = self.takers(post, *before).collect();
                takers.retain(|taker| others.contains(taker));
            }
            let coming = takers.iter().flat_map(|&(process, side, most)| {
                let useful = most.min(needy.len() as u32);
                (0..useful).map(move |number| (post.mailbox, process, side, number))
            });
            offers.push(coming.collect());
            if !augment(offers.len() - 1, &offers, &mut taken, &mut BTreeSet::new()) {
                // One more for any of them might have been enough for all.
                for &left in needy.keys() {
                    let Post { mailbox, side, .. } = self.graph.posts[left as usize];
                    self.posters.note_cut(mailbox, side, None);
                }
                return false;
            }
        }
        true
    }
}

/// A post that is to come: where, whose, what, and which of those.
type Coming = (Mailbox, u32, Side, u32);

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
