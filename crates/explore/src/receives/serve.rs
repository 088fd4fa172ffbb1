//! What becomes of a request: steps of the graph, and choices.

use smallvec::SmallVec;

use simurgh_kernel::simcall::OnTimeout;

use super::choice::{Pick, Picks};
use super::future::Need;
use super::graph::{self, PostId, admits};
use super::order::Node;
use super::reads_from::Outcome;
use super::search::{ALONE, Refusal, Search, Stage};
use super::{Handle, Mailbox, Patience, Processes, Reply, Request, Side};

/// Two posts that were let meet, and how to take that back.
struct Tried {
    with: PostId,
    mark: graph::Mark,
    needs: usize,
}

/// How a post is made.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Manner {
    /// It is one of the tokens that something is made with: nobody's step.
    Given,
    /// Its process goes on.
    Started,
    /// Its process waits for it.
    Waited,
}

/// Why an execution does not go on.
pub(super) enum Halt {
    /// The choices made lead nowhere.
    Nowhere,
    Refused(Refusal),
}

type Served<T = ()> = Result<T, Halt>;

/// Goes on if this can be.
fn only_if(can_be: bool) -> Served {
    if can_be { Ok(()) } else { Err(Halt::Nowhere) }
}

impl Search {
    /// Lets a process do what it asks.
    pub(super) fn advance(&mut self, process: u32, code: &mut dyn Processes) -> Served {
        match std::mem::take(&mut self.processes[process as usize].stage) {
            Stage::Waits { post, index } => {
                self.finish_wait(process, post, if index == ALONE { 0 } else { index }, code);
            }
            Stage::Asks(request) => return self.serve(process, request, code),
            Stage::Joins(other) => self.joined_in_time(process, other, code),
            Stage::Leaves { after, last } => {
                let node = self.graph.order.add(&after);
                self.at(process, node, Some(0));
                self.came(process, Outcome::Passed(last));
                self.resume(process, Reply::Passed(last), code);
            }
            Stage::AtBarrier | Stage::Over => unreachable!("such a process does not run"),
        }
        Ok(())
    }

    fn serve(&mut self, process: u32, request: Request, code: &mut dyn Processes) -> Served {
        match request {
            Request::Post(mailbox, side) => {
                let post = self.post(process, mailbox, side, Patience::Forever, Manner::Started)?;
                self.resume(process, Reply::Posted(self.graph.posts[post as usize].handle), code);
            }
            Request::Give(mailbox) => {
                self.post(process, mailbox, Side::GIVE, Patience::Forever, Manner::Given)?;
                self.resume(process, Reply::Done, code);
            }
            Request::PostAndWait(mailbox, side, patience) => {
                let post = self.post(process, mailbox, side, patience, Manner::Waited)?;
                let own = &self.graph.posts[post as usize];
                let waits = own.partner.is_some() || patience == Patience::Forever;
                self.processes[process as usize].stage = if waits {
                    Stage::Waits { post, index: ALONE }
                } else {
                    Stage::Asks(Request::WaitAny(SmallVec::from_slice(&[own.handle]), patience))
                };
            }
            Request::Begin => {
                let record = &mut self.processes[process as usize];
                record.posts.push(None);
                let handle = record.posts.len() as Handle - 1;
                self.resume(process, Reply::Posted(handle), code);
            }
            Request::WaitAny(set, Patience::Forever) => return self.wait_any(process, &set, code),
            Request::WaitAny(set, patience) => {
                let shown = (patience != Patience::Now).then_some(u32::MAX);
                return self.wait_or_not(process, &set, patience, (Reply::TimedOut, shown), code);
            }
            Request::TestAny(set) => {
                let keep = Patience::Timed(OnTimeout::Keep);
                return self.wait_or_not(process, &set, keep, (Reply::Nothing, Some(u32::MAX)), code);
            }
            Request::Cancel(handle) => {
                let withdraw = Patience::Timed(OnTimeout::GiveUp);
                return self.wait_or_not(process, &[handle], withdraw, (Reply::TimedOut, Some(0)), code);
            }
            Request::Choose(n) => {
                let pick = self.choose(|_| (0..n.max(1)).map(Pick::Number).collect());
                let Some(Pick::Number(number)) = pick else { return Err(Halt::Nowhere) };
                self.step(process, number);
                self.came(process, Outcome::Chosen(number));
                self.resume(process, Reply::Chosen(number), code);
            }
            Request::Spawn => {
                self.is_shared();
                let node = self.step(process, 0);
                let start = self.graph.order.add(&[node]);
                let child = self.processes.len() as u32;
                self.children.push((node, child));
                self.came(process, Outcome::Spawned(child));
                self.resume(process, Reply::Done, code);
                self.begin(child, start, code);
            }
            Request::Join(other, false) => self.joined(process, other, code),
            Request::Join(other, true) => return self.join_or_not(process, other, code),
            Request::Arrive { barrier, places, told } => return self.arrive(process, barrier, places, told),
            Request::Ended => self.end(process),
            Request::Failed(message) => {
                self.end(process);
                self.failed.push((process, message));
            }
            Request::Unsupported(what) => return Err(Halt::Refused(Refusal::Unsupported(what))),
        }
        Ok(())
    }

    fn resume(&mut self, process: u32, reply: Reply, code: &mut dyn Processes) {
        self.processes[process as usize].stage = Stage::Asks(self.tell(process, reply, code));
    }

    /// A step of a process, after its last one.
    fn step(&mut self, process: u32, choice: u32) -> Node {
        let node = self.graph.order.add(&[self.processes[process as usize].last]);
        self.at(process, node, Some(choice));
        node
    }

    /// A process has come to this moment; a schedule shows it as a step with this choice, if at all.
    fn at(&mut self, process: u32, node: Node, choice: Option<u32>) {
        let record = &mut self.processes[process as usize];
        record.last = node;
        record.steps.extend(choice.map(|choice| (node, choice)));
    }

    fn came(&mut self, process: u32, outcome: Outcome) {
        self.processes[process as usize].outcomes.push(outcome);
    }

    /// A process has ended: later than those moments at which it was not waited for any longer.
    fn end(&mut self, process: u32) {
        let mut after: SmallVec<[Node; 4]> = SmallVec::from_slice(&[self.processes[process as usize].last]);
        after.extend(self.early.iter().filter(|(other, _)| *other == process).map(|(_, moment)| *moment));
        let node = self.graph.order.add(&after);
        self.at(process, node, Some(0));
        self.processes[process as usize].stage = Stage::Over;
    }

    /// Adds a post, and chooses whom it meets of those that are there.
    fn post(
        &mut self,
        process: u32,
        mailbox: Mailbox,
        side: Side,
        patience: Patience,
        manner: Manner,
    ) -> Served<PostId> {
        let record = &mut self.processes[process as usize];
        let handle = record.posts.len() as Handle;
        let post = self.graph.post(process, handle, record.last, mailbox, side, patience == Patience::Now);
        record.posts.push(Some(post));
        record.outcomes.push(Outcome::Posted { partner: None });
        let posted = self.graph.posts[post as usize].posted;
        self.at(process, posted, (manner != Manner::Given).then_some(0));
        let own = &mut self.graph.posts[post as usize];
        own.revocable |= patience != Patience::Forever;
        own.is_permit = manner == Manner::Given;
        own.is_awaited = manner == Manner::Waited && patience == Patience::Forever;
        self.learn(post);
        if self.limits.in_turn {
            self.comes(post);
        }
        let mut met = None;
        let pick =
            self.choose(|search| search.whom_to_meet(post, patience, &mut met)).ok_or(Halt::Nowhere)?;
        match met {
            // What was tried last is what was picked, almost always.
            Some(tried) if pick == Pick::Meet(tried.with) => return Ok(post),
            Some(tried) => self.take_back(&tried),
            None => {}
        }
        let fits = match pick {
            Pick::Meet(other) => self.try_to_meet(post, other),
            // Who gives up takes it back.
            _ => patience != Patience::Forever || self.is_left(post),
        };
        only_if(fits).map(|()| post)
    }

    /// Lets two posts meet; then what they pass over must be able to come to a good end. False if that cannot be.
    fn try_to_meet(&mut self, post: PostId, other: PostId) -> bool {
        let is_send = self.graph.posts[post as usize].is_send();
        let (send, recv) = if is_send { (post, other) } else { (other, post) };
        self.graph.meet(post, other) && self.passes_over(send, recv)
    }

    fn take_back(&mut self, tried: &Tried) {
        self.graph.undo(tried.mark);
        self.needs.truncate(tried.needs);
    }

    /// Those that a post may meet; the first of them is met already, and how to take that back is said.
    fn whom_to_meet(&mut self, post: PostId, patience: Patience, met: &mut Option<Tried>) -> Picks {
        let own = self.graph.posts[post as usize];
        let mut picks = Picks::new();
        let may_give_up = patience != Patience::Forever && self.can_give_up(&[Some(post)], true, own.posted);
        let may_be_left = self.may_be_left(post, patience != Patience::Forever);
        let needs = self.needs.len();
        for other in self.candidates(post).into_iter().rev() {
            if let Some(tried) = met.take() {
                self.take_back(&tried);
            }
            let tried = Tried { with: other, mark: self.graph.mark(), needs };
            if self.try_to_meet(post, other) {
                picks.push(Pick::Meet(other));
                *met = Some(tried);
            } else {
                self.take_back(&tried);
            }
        }
        if let (None, Some(&Pick::Meet(first))) = (&met, picks.last()) {
            let tried = Tried { with: first, mark: self.graph.mark(), needs };
            let fits = self.try_to_meet(post, first);
            debug_assert!(fits, "it did before");
            *met = Some(tried);
        }
        picks.reverse();
        if self.limits.in_turn && may_be_left && patience == Patience::Forever {
            let receive = match picks[..] {
                [Pick::Meet(other)] if own.is_send() => Some(other),
                [_, ..] if !own.is_send() => Some(post),
                _ => None,
            };
            self.awaited = receive.filter(|&receive| self.waits_for_what_comes(receive));
        }
        picks.extend((may_give_up || may_be_left).then_some(Pick::Later));
        picks
    }

    /// Those that a post might meet, the oldest first: without those that come after one that nobody else can take in time.
    fn candidates(&mut self, post: PostId) -> SmallVec<[PostId; 8]> {
        let own = self.graph.posts[post as usize];
        let mut candidates = SmallVec::<[PostId; 8]>::new();
        // Whether each must be taken, as far as that was asked.
        let mut first = SmallVec::<[Option<bool>; 8]>::new();
        let mut is_firm: Option<Node> = None;
        'next: for other in 0..post {
            let candidate = &self.graph.posts[other as usize];
            if candidate.mailbox != own.mailbox || !candidate.is_free() || !admits(candidate, &own) {
                continue;
            }
            // One permit is as good as another.
            if candidate.is_permit && candidates.iter().any(|&one| self.graph.posts[one as usize].is_permit) {
                continue;
            }
            let arrives = candidate.arrives;
            if is_firm.is_some_and(|firm| self.graph.order.before(firm, arrives)) {
                continue;
            }
            for index in 0..candidates.len() {
                let earlier = self.graph.posts[candidates[index] as usize].arrives;
                if first[index] == Some(false) || !self.graph.order.before(earlier, arrives) {
                    continue;
                }
                let can_be_taken =
                    self.limits.eager || self.can_be_met(Need::Partner(candidates[index], Some(own.arrives)));
                first[index] = Some(!can_be_taken);
                if !can_be_taken {
                    is_firm = Some(earlier);
                    continue 'next;
                }
            }
            candidates.push(other);
            first.push(None);
        }
        candidates
    }

    /// Whether none of these may be complete now, as far as can be seen.
    fn can_give_up(&mut self, posts: &[Option<PostId>], withdraws: bool, last: Node) -> bool {
        let (mark, needs) = (self.graph.mark(), self.needs.len());
        let now = self.graph.order.add(&[last]);
        let fits = self.give_up(posts, withdraws, now);
        self.graph.undo(mark);
        self.needs.truncate(needs);
        fits
    }

    /// None of these is complete now. False if that cannot be.
    fn give_up(&mut self, posts: &[Option<PostId>], withdraws: bool, now: Node) -> bool {
        posts.iter().all(|post| match post {
            None => false,
            Some(post) if self.graph.posts[*post as usize].withdrawn.is_some() => false,
            Some(post) if withdraws => self.graph.withdraw(*post, now) && self.has_met_nobody(*post, now),
            Some(post) => self.graph.tested(*post, now) && self.has_met_nobody(*post, now),
        })
    }

    fn wait_any(&mut self, process: u32, set: &[Handle], code: &mut dyn Processes) -> Served {
        if set.len() == 1 {
            self.take_member(process, set, 0, code);
            if let Stage::Waits { index, .. } = &mut self.processes[process as usize].stage {
                *index = ALONE;
            }
            return Ok(());
        }
        let pick = self.choose(|search| search.members(process, set, false));
        let Some(Pick::Member(index)) = pick else { return Err(Halt::Nowhere) };
        self.promise(process, set, index, code)
    }

    /// The wait takes this one of its set, now or when it is complete, if it still can be.
    fn promise(&mut self, process: u32, set: &[Handle], index: u32, code: &mut dyn Processes) -> Served {
        let post = self.processes[process as usize].posts[set[index as usize] as usize];
        only_if(post.is_none_or(|post| self.need(Need::Partner(post, None))))?;
        self.take_member(process, set, index, code);
        Ok(())
    }

    /// The members of a set that are complete; then to give up, if that may be; then those that may be complete later.
    fn members(&mut self, process: u32, set: &[Handle], may_give_up: bool) -> Picks {
        let (mut picks, mut later) = (Picks::new(), Picks::new());
        for (index, &handle) in (0..).zip(set) {
            let record = &self.processes[process as usize];
            let open = record.posts[handle as usize].filter(|_| !self.is_complete(record, handle));
            match open {
                None => picks.push(Pick::Member(index)),
                Some(post) if self.limits.eager || self.can_be_met(Need::Partner(post, None)) => {
                    later.push(Pick::Member(index));
                }
                Some(_) => {}
            }
        }
        picks.extend(may_give_up.then_some(Pick::None));
        picks.extend(later);
        picks
    }

    fn take_member(&mut self, process: u32, set: &[Handle], index: u32, code: &mut dyn Processes) {
        let handle = set[index as usize];
        match self.processes[process as usize].posts[handle as usize] {
            Some(post) if self.graph.posts[post as usize].withdrawn.is_some() => {
                self.step(process, index);
                self.came(process, Outcome::Completed(index));
                self.resume(process, Reply::Withdrawn(index, handle), code);
            }
            Some(post) => self.processes[process as usize].stage = Stage::Waits { post, index },
            None => {
                // A wait for nothing else than what took no time is the process' own affair.
                if set.len() > 1 {
                    self.step(process, index);
                }
                self.came(process, Outcome::Completed(index));
                self.resume(process, Reply::Completed { index, from: None }, code);
            }
        }
    }

    /// A wait that may give up, or a test: one of the set is complete, or none is.
    fn wait_or_not(
        &mut self,
        process: u32,
        set: &[Handle],
        patience: Patience,
        (otherwise, shown): (Reply, Option<u32>),
        code: &mut dyn Processes,
    ) -> Served {
        let record = &self.processes[process as usize];
        let posts: SmallVec<[Option<PostId>; 4]> =
            set.iter().map(|&handle| record.posts[handle as usize]).collect();
        let last = record.last;
        let withdraws = matches!(patience, Patience::Timed(OnTimeout::GiveUp) | Patience::Now);
        if withdraws {
            for &post in posts.iter().flatten() {
                self.graph.posts[post as usize].revocable = true;
                self.learn(post);
            }
        }
        let pick = self.choose(|search| {
            let may_give_up = search.can_give_up(&posts, withdraws, last);
            search.members(process, set, may_give_up)
        });
        match pick {
            Some(Pick::Member(index)) => self.promise(process, set, index, code),
            Some(Pick::None) => {
                let node = self.graph.order.add(&[last]);
                self.at(process, node, shown);
                let is_test = otherwise == Reply::Nothing;
                self.came(process, if is_test { Outcome::Nothing } else { Outcome::TimedOut });
                only_if(self.give_up(&posts, withdraws, node))?;
                self.resume(process, otherwise, code);
                Ok(())
            }
            _ => Err(Halt::Nowhere),
        }
    }

    /// The post is matched: the wait is over, after both ends were there.
    fn finish_wait(&mut self, process: u32, post: PostId, index: u32, code: &mut dyn Processes) {
        let own = self.graph.posts[post as usize];
        let partner = own.partner.expect("a wait ends when its post is matched");
        let other = self.graph.posts[partner as usize];
        let last = self.processes[process as usize].last;
        let node = self.graph.order.add(&[last, own.arrives, other.arrives]);
        self.at(process, node, (!own.at_once).then_some(index));
        self.came(process, Outcome::Completed(index));
        if self.limits.in_turn {
            self.graph.is_over(post);
        }
        let from = (!own.is_send()).then_some((other.process, other.handle));
        self.resume(process, Reply::Completed { index, from }, code);
    }

    fn joined_in_time(&mut self, process: u32, other: u32, code: &mut dyn Processes) {
        self.came(process, Outcome::Completed(0));
        self.joined(process, other, code);
    }

    fn joined(&mut self, process: u32, other: u32, code: &mut dyn Processes) {
        let last = self.processes[process as usize].last;
        let after: SmallVec<[Node; 2]> =
            [last].into_iter().chain(self.processes.get(other as usize).map(|other| other.last)).collect();
        let node = self.graph.order.add(&after);
        self.at(process, node, Some(0));
        self.resume(process, Reply::Done, code);
    }

    fn join_or_not(&mut self, process: u32, other: u32, code: &mut dyn Processes) -> Served {
        self.is_shared();
        let pick = self.choose(|_| [Pick::Member(0), Pick::None].into_iter().collect());
        let Some(target) = self.processes.get(other as usize) else {
            // Nobody of this number was ever there: it has ended, for all that can be known.
            only_if(pick != Some(Pick::None))?;
            self.joined_in_time(process, other, code);
            return Ok(());
        };
        // While it is served, the process itself looks as if it were over.
        let (is_over, end) = (other != process && target.stage == Stage::Over, target.last);
        match pick {
            Some(Pick::Member(_)) if is_over => self.joined_in_time(process, other, code),
            Some(Pick::Member(_)) => self.processes[process as usize].stage = Stage::Joins(other),
            _ => {
                let node = self.step(process, u32::MAX);
                if is_over {
                    only_if(self.graph.put(node, end))?;
                } else {
                    self.early.push((other, node));
                }
                self.came(process, Outcome::TimedOut);
                self.resume(process, Reply::TimedOut, code);
            }
        }
        Ok(())
    }

    fn arrive(&mut self, process: u32, barrier: u32, places: u32, told: bool) -> Served {
        let node = self.step(process, 0);
        let gathering = self.gatherings.entry(barrier).or_default();
        self.former.push((barrier, gathering.clone()));
        if !gathering.users.contains(&process) {
            gathering.users.push(process);
            if gathering.users.len() > places as usize {
                let crowded = "barriers that more actors come to than they have places";
                return Err(Halt::Refused(Refusal::Unsupported(crowded)));
            }
        }
        gathering.arrived.push((process, node, told));
        self.processes[process as usize].stage = Stage::AtBarrier;
        if gathering.arrived.len() < places as usize {
            return Ok(());
        }
        let all = std::mem::take(&mut gathering.arrived);
        let mut last = None;
        if all.iter().any(|&(_, _, told)| told) {
            last = match self.choose(|search| search.who_came_last(&all)) {
                Some(Pick::Number(index)) => Some(index as usize),
                Some(Pick::None) => None,
                _ => return Err(Halt::Nowhere),
            };
            only_if(self.comes_last(&all, last))?;
        }
        let after: SmallVec<[Node; 8]> = all.iter().map(|&(_, node, _)| node).collect();
        for (index, &(other, ..)) in all.iter().enumerate() {
            if other != process {
                self.save(other);
            }
            self.processes[other as usize].stage =
                Stage::Leaves { after: after.clone(), last: last == Some(index) };
        }
        Ok(())
    }

    /// Each of those who want to know may have come last; or none of them, if others came too: who of these it was, nobody
    /// can tell.
    fn who_came_last(&mut self, all: &[(u32, Node, bool)]) -> Picks {
        let mut picks = Picks::new();
        let told = (0..all.len()).filter(|&index| all[index].2).map(Some);
        let others = all.iter().any(|&(_, _, told)| !told).then_some(None);
        for last in told.chain(others) {
            let mark = self.graph.mark();
            if self.comes_last(all, last) {
                picks.push(last.map_or(Pick::None, |index| Pick::Number(index as u32)));
            }
            self.graph.undo(mark);
        }
        picks
    }

    fn comes_last(&mut self, all: &[(u32, Node, bool)], index: Option<usize>) -> bool {
        match index {
            Some(index) => {
                let (_, last, _) = all[index];
                all.iter().all(|&(_, node, _)| node == last || self.graph.put(node, last))
            }
            None => all.iter().filter(|&&(_, _, told)| told).all(|&(_, node, _)| {
                let others =
                    all.iter().map(|&(_, other, _)| (node, other)).filter(|(_, other)| *other != node);
                let others: SmallVec<[(Node, Node); 8]> = others.collect();
                self.graph.put_some(&others)
            }),
        }
    }
}
