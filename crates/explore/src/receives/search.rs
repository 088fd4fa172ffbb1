//! The search: one execution after the other, each with other choices than those before it.
//!
//! What an execution shares with the one before it, its graph above all, is kept; only the code of the processes runs again
//! from its start, and is told what it was told before.

use std::collections::BTreeMap;

use simurgh_search::session::ENDLESS;
use smallvec::SmallVec;

use super::choice::{Choice, Path, Pick, Picks, Waits};
use super::future::{Need, Posters};
use super::graph::{self, Graph, PostId};
use super::order::Node;
use super::reads_from::{Outcome, Place, ReadsFrom};
use super::serve::Halt;
use super::{Handle, Mailbox, Network, Patience, Processes, Reply, Request, Side};
use crate::verdict::{Step, Violation};

/// How far to go.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Whether to go on after something was found.
    pub all: bool,
    /// At most so many executions.
    pub executions: u64,
    /// At most so many steps in an execution.
    pub depth: u64,
    /// Whether to stop at the first execution that has more.
    pub stops_when_cut: bool,
    /// How many executions are between two looks at the clock, and at those who have nothing to do.
    pub stretch: u64,
    /// Whether every choice offers all that it might ever have to, at once. Slow, and obviously complete: the oracle.
    pub eager: bool,
    /// Whether a receive is left for later only once something was seen to come later (docs/search.md). What was seen depends on what was
    /// explored before, so one worker has to explore all.
    pub in_turn: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            all: false,
            executions: u64::MAX,
            depth: 1_000_000,
            stops_when_cut: false,
            stretch: 256,
            eager: false,
            in_turn: false,
        }
    }
}

/// Why the engine does not explore a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It does something that this engine does not know.
    Unsupported(&'static str),
    /// This actor did something else when it was run again.
    Diverged(u32),
}

fn branch(trunk: &[Pick], pick: Pick) -> Path {
    trunk.iter().copied().chain([pick]).collect()
}

/// How an execution ended.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// It is complete; what was wrong with it.
    Execution(Vec<Violation>),
    /// A choice led nowhere: there is no such execution.
    Nowhere,
    /// It was cut.
    TooDeep,
    /// Whoever looks on wants it to stop: what is left of the search includes this execution.
    Interrupted,
}

/// How many steps of an execution are taken between two looks of whoever may stop it.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 10;

/// What a process of the present execution is about to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Stage {
    /// It has asked for this.
    Asks(Request),
    /// It waits for this post of its own; in the set of its wait it has this place.
    Waits { post: PostId, index: u32 },
    /// It waits for the end of a process, which was promised.
    Joins(u32),
    /// It is at a barrier.
    AtBarrier,
    /// All have come to the barrier, at these moments; and whether it was the last.
    Leaves { after: SmallVec<[Node; 8]>, last: bool },
    /// It came to its end.
    #[default]
    Over,
}

/// The place in the set of a wait for a single post, which may never end.
pub(super) const ALONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    pub(super) stage: Stage,
    /// Its posts; `None` for what was over when it began.
    pub(super) posts: Vec<Option<PostId>>,
    pub(super) last: Node,
    /// Its steps that a schedule shows, and which choice each had.
    pub(super) steps: Vec<(Node, u32)>,
    /// What came of its requests. Who met whom is known at the end only.
    pub(super) outcomes: Vec<Outcome>,
    /// Where it was saved the last time.
    saved_at: u32,
}

/// How to take back what became of a process.
#[derive(Debug)]
struct Saved {
    process: u32,
    stage: Stage,
    last: Node,
    posts: u32,
    steps: u32,
    outcomes: u32,
}

/// Who has come to a barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathering {
    pub(super) users: SmallVec<[u32; 8]>,
    pub(super) arrived: SmallVec<[(u32, Node, bool); 8]>,
}

/// A moment to go back to: before a process did something that includes a choice.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Mark {
    graph: graph::Mark,
    log: u32,
    saved: u32,
    processes: u32,
    early: u32,
    children: u32,
    gatherings: u32,
    needs: u32,
    pub(super) spent: u32,
    steps: u64,
    failed: u32,
}

/// The search, at one execution.
#[derive(Debug, Default)]
pub struct Search {
    pub(super) limits: Limits,
    pub(super) graph: Graph,
    pub(super) processes: Vec<Process>,
    spare: Vec<Process>,
    pub(super) choices: Vec<Choice>,
    /// Those of them in which a receive is waited for, by their places.
    pub(super) waiting: Vec<u32>,
    /// Such a receive, while its choice is made.
    pub(super) awaited: Option<PostId>,
    marks: Vec<Mark>,
    /// How many choices the present execution has made until now.
    pub(super) depth: usize,
    /// How many steps the present execution has.
    pub steps: u64,
    /// Who failed, and what it said.
    pub(super) failed: Vec<(u32, String)>,
    pub(super) gatherings: BTreeMap<u32, Gathering>,
    /// Gatherings as they were before they changed.
    pub(super) former: Vec<(u32, Gathering)>,
    /// Who was not waited for any longer, and when.
    pub(super) early: Vec<(u32, Node)>,
    /// The creation of processes, and which.
    pub(super) children: Vec<(Node, u32)>,
    /// The answers that processes were given, and what each asked then, in short.
    log: Vec<(u32, Reply, u32)>,
    saved: Vec<Saved>,
    /// Before what is being done now.
    pub(super) present: Mark,
    /// The part of the search that this is.
    path: Path,
    /// The process that is being served.
    pub(super) current: Option<u32>,
    /// What somebody has to take, of what was left behind.
    pub(super) needs: Vec<Need>,
    /// Mailboxes to which nobody but this process, which receives there, posts anything more.
    pub(super) spent: Vec<Option<(Mailbox, u32)>>,
    /// A post that is not taken back, while it is looked whether it can be left for later.
    pub(super) kept: Option<PostId>,
    /// What is known of who posts what.
    pub posters: Posters,
    /// Whether the last execution showed that a choice was cut that should not have been.
    pub learned: bool,
}

impl Search {
    /// The part of a search where the first choices are these.
    pub fn new(network: Network, limits: Limits, path: Path) -> Self {
        let mut search = Self { limits, path, ..Self::default() };
        search.graph.network = network;
        search
    }

    /// Runs the present execution along the choices made, and makes new ones where they end. Somebody looks on now and then,
    /// and may stop it.
    ///
    /// # Errors
    /// If the program does something that this engine does not know.
    pub fn run(
        &mut self,
        code: &mut dyn Processes,
        goes_on: &mut dyn FnMut(&Search) -> bool,
    ) -> Result<End, Refusal> {
        code.restart();
        if self.log.is_empty() {
            self.begin_all(code);
        } else {
            for (index, &(process, reply, asked)) in self.log.iter().enumerate() {
                if (index as u64 + 1).is_multiple_of(STEPS_BETWEEN_LOOKS) && !goes_on(self) {
                    return Ok(End::Interrupted);
                }
                if code.resume(process, reply).shape() != asked {
                    return Err(Refusal::Diverged(process));
                }
            }
        }
        while let Some(process) = self.next_to_run() {
            self.steps += 1;
            if self.steps > self.limits.depth || self.limits.stops_when_cut && self.seems_endless() {
                // What has failed until now has failed, if it can have come to that.
                let is_failure = !self.failed.is_empty() && self.graph.complete();
                return Ok(if is_failure { End::Execution(self.failures()) } else { End::TooDeep });
            }
            if self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && !goes_on(self) {
                return Ok(End::Interrupted);
            }
            self.present = self.mark();
            if self.may_choose(process) || !self.is_saved(process) {
                self.save(process);
            }
            self.current = Some(process);
            let advanced = self.advance(process, code);
            self.current = None;
            match advanced {
                Err(Halt::Refused(refusal)) => return Err(refusal),
                Ok(()) if self.needs_can_be_met() => {}
                _ => return Ok(End::Nowhere),
            }
        }
        let promised = |process: &Process| match process.stage {
            Stage::Waits { index, .. } => index != ALONE,
            Stage::Joins(_) => true,
            _ => false,
        };
        if self.processes.iter().any(promised) || !self.graph.complete() {
            return Ok(End::Nowhere);
        }
        // An actor that failed is gone; the others went on, which shows that all this can really happen.
        let mut wrong = self.failures();
        let actors: Vec<u32> = (0..self.processes.len() as u32)
            .filter(|&p| self.processes[p as usize].stage != Stage::Over && !code.is_daemon(p))
            .collect();
        wrong.extend((!actors.is_empty()).then_some(Violation::Deadlock { actors }));
        Ok(End::Execution(wrong))
    }

    /// Whether somebody has tried in vain again and again, or more and more processes are created; asked now and then.
    fn seems_endless(&self) -> bool {
        let in_vain = |process: &Process| {
            let posts = |outcome: &&Outcome| matches!(outcome, Outcome::Posted { .. });
            let waits = process.outcomes.iter().rev().filter(|outcome| !posts(outcome));
            let is_vain = |outcome: &&Outcome| matches!(outcome, Outcome::TimedOut | Outcome::Nothing);
            process.outcomes.len() >= ENDLESS && waits.take_while(is_vain).count() >= ENDLESS
        };
        self.steps.is_multiple_of(128)
            && (self.children.len() >= ENDLESS || self.processes.iter().any(in_vain))
    }

    fn failures(&self) -> Vec<Violation> {
        let failed = self.failed.iter().cloned();
        failed.map(|(actor, message)| Violation::Failed { actor, message }).collect()
    }

    /// Goes to the next execution. False if there is none.
    pub fn choose_next(&mut self) -> bool {
        while let Some(last) = self.choices.last_mut() {
            last.at += 1;
            let is_in_vain = last.is_in_vain();
            self.posters.is_left_out |= is_in_vain;
            if last.at < last.picks.len() && !is_in_vain {
                self.go_back();
                return true;
            }
            self.choices.pop();
            self.marks.pop();
            self.waiting.pop_if(|place| *place as usize == self.choices.len());
        }
        false
    }

    /// Goes back to before the last choice.
    fn go_back(&mut self) {
        let mark = *self.marks.last().expect("a mark for each choice");
        self.graph.undo(mark.graph);
        self.log.truncate(mark.log as usize);
        for saved in self.saved.drain(mark.saved as usize..).rev() {
            let process = &mut self.processes[saved.process as usize];
            process.stage = saved.stage;
            process.last = saved.last;
            process.posts.truncate(saved.posts as usize);
            process.steps.truncate(saved.steps as usize);
            process.outcomes.truncate(saved.outcomes as usize);
        }
        self.spare.extend(self.processes.drain(mark.processes as usize..));
        for (barrier, old) in self.former.drain(mark.gatherings as usize..).rev() {
            self.gatherings.insert(barrier, old);
        }
        self.needs.truncate(mark.needs as usize);
        self.spent.truncate(mark.spent as usize);
        self.early.truncate(mark.early as usize);
        self.children.truncate(mark.children as usize);
        self.steps = mark.steps;
        self.failed.truncate(mark.failed as usize);
        self.depth = self.choices.len() - 1;
    }

    fn mark(&self) -> Mark {
        Mark {
            graph: self.graph.mark(),
            log: self.log.len() as u32,
            saved: self.saved.len() as u32,
            processes: self.processes.len() as u32,
            early: self.early.len() as u32,
            children: self.children.len() as u32,
            gatherings: self.former.len() as u32,
            needs: self.needs.len() as u32,
            spent: self.spent.len() as u32,
            steps: self.steps - 1,
            failed: self.failed.len() as u32,
        }
    }

    /// Whether its next step may include a choice, which one goes back to the moment before.
    fn may_choose(&self, process: u32) -> bool {
        let stage = &self.processes[process as usize].stage;
        !matches!(stage, Stage::Waits { .. } | Stage::Asks(Request::Ended))
    }

    /// Whether it was saved since the last choice: nobody goes back to a moment between.
    fn is_saved(&self, process: u32) -> bool {
        let at = self.processes[process as usize].saved_at;
        let since = self.marks.last().map_or(0, |mark| mark.saved);
        at >= since && self.saved.get(at as usize).is_some_and(|saved| saved.process == process)
    }

    /// Remembers a process as it is, before it changes.
    pub(super) fn save(&mut self, process: u32) {
        let record = &mut self.processes[process as usize];
        record.saved_at = self.saved.len() as u32;
        self.saved.push(Saved {
            process,
            stage: record.stage.clone(),
            last: record.last,
            posts: record.posts.len() as u32,
            steps: record.steps.len() as u32,
            outcomes: record.outcomes.len() as u32,
        });
    }

    fn begin_all(&mut self, code: &mut dyn Processes) {
        if self.limits.in_turn {
            self.graph.order.follow(code.count());
        }
        let mut last = self.graph.order.add(&[]);
        for (handle, &mailbox) in (0..).zip(code.given()) {
            let token = self.graph.post(0, handle, last, mailbox, Side::GIVE, false);
            self.graph.posts[token as usize].is_permit = true;
            last = self.graph.posts[token as usize].posted;
            self.learn(token);
        }
        for process in 0..code.count() {
            let start = self.graph.order.add(&[last]);
            self.begin(process, start, code);
        }
        if let Some(first) = self.processes.first_mut() {
            let tokens = self.graph.posts.len() as PostId;
            first.posts.extend((0..tokens).map(Some));
            first.outcomes.extend((0..tokens).map(|_| Outcome::Posted { partner: None }));
        }
    }

    pub(super) fn begin(&mut self, process: u32, start: Node, code: &mut dyn Processes) {
        debug_assert_eq!(process as usize, self.processes.len());
        let request = self.tell(process, Reply::Start, code);
        let mut record = self.spare.pop().unwrap_or_default();
        record.stage = Stage::Asks(request);
        record.posts.clear();
        record.steps.clear();
        record.outcomes.clear();
        record.last = start;
        self.processes.push(record);
    }

    pub(super) fn tell(&mut self, process: u32, reply: Reply, code: &mut dyn Processes) -> Request {
        let request = code.resume(process, reply);
        self.log.push((process, reply, request.shape()));
        request
    }

    /// The manner in which the graph grows: receives last, so that they find the sends; otherwise in order.
    fn next_to_run(&self) -> Option<u32> {
        let mut receiver = None;
        for (index, process) in self.processes.iter().enumerate() {
            if !self.can_run(process) {
                continue;
            }
            let Stage::Asks(request) = &process.stage else { return Some(index as u32) };
            if !request.looks() {
                return Some(index as u32);
            }
            receiver = receiver.or(Some(index as u32));
        }
        receiver
    }

    fn can_run(&self, process: &Process) -> bool {
        let is_over =
            |other: u32| self.processes.get(other as usize).is_none_or(|other| other.stage == Stage::Over);
        match &process.stage {
            Stage::Asks(Request::Join(process, false)) => is_over(*process),
            Stage::Asks(Request::WaitAny(set, Patience::Forever)) => {
                set.iter().any(|&handle| self.is_complete(process, handle))
            }
            Stage::Asks(_) | Stage::Leaves { .. } => true,
            Stage::Waits { post, .. } => self.graph.posts[*post as usize].partner.is_some(),
            Stage::Joins(other) => is_over(*other),
            Stage::AtBarrier | Stage::Over => false,
        }
    }

    /// Whether one of a process' own posts is complete, or was taken back.
    pub(super) fn is_complete(&self, process: &Process, handle: Handle) -> bool {
        process.posts[handle as usize].is_none_or(|post| !self.graph.posts[post as usize].is_free())
    }

    /// The next choice: the one that was made, or the first of new ones. `None` if there is nothing to choose.
    pub(super) fn choose(&mut self, offer: impl FnOnce(&mut Search) -> Picks) -> Option<Pick> {
        if self.depth == self.choices.len() {
            let mut picks = offer(self);
            if let Some(&forced) = self.path.get(self.depth) {
                picks.clear();
                picks.push(forced);
            }
            let waits = self.awaited.take().map(|post| Waits { post, is_met: false });
            self.waiting.extend(waits.map(|_| self.choices.len() as u32));
            self.choices.push(Choice { picks, at: 0, waits });
            self.marks.push(self.present);
        }
        let picked = self.choices[self.depth].picked();
        self.depth += 1;
        picked
    }

    /// What part of the search is behind, if all branches of its tree were alike.
    pub fn part(&self) -> f64 {
        let (mut part, mut width) = (0.0, 1.0);
        for choice in &self.choices {
            width /= choice.picks.len().max(1) as f64;
            part += width * choice.at as f64;
        }
        part
    }

    /// Gives away the largest part of what is left: those picks of the first choice that has any.
    pub fn split(&mut self) -> Vec<Path> {
        let has_more = |choice: &Choice| choice.at + 1 < choice.picks.len();
        let Some(at) = self.choices.iter().position(has_more) else { return Vec::new() };
        let trunk = self.trunk(at);
        let choice = &mut self.choices[at];
        choice.picks.drain(choice.at + 1..).map(|pick| branch(&trunk, pick)).collect()
    }

    /// What is left of this part, as parts, the next execution included.
    pub fn rest(&self) -> Vec<Path> {
        let mut rest = Vec::new();
        for (depth, choice) in self.choices.iter().enumerate() {
            let trunk = self.trunk(depth);
            rest.extend(choice.picks.iter().skip(choice.at + 1).map(|&pick| branch(&trunk, pick)));
        }
        rest.push(self.trunk(self.choices.len()));
        rest
    }

    /// What was picked by the first choices.
    fn trunk(&self, depth: usize) -> Path {
        self.choices[..depth].iter().filter_map(Choice::picked).collect()
    }

    /// The present execution as what came of each request.
    pub fn way(&self) -> ReadsFrom {
        let mut places = vec![Place { process: 0, post: 0 }; self.graph.posts.len()];
        for (process, record) in (0..).zip(&self.processes) {
            for (post, &id) in (0..).zip(record.posts.iter().flatten()) {
                places[id as usize] = Place { process, post };
            }
        }
        let mut way = ReadsFrom::default();
        for record in &self.processes {
            let mut posts = record.posts.iter().flatten();
            way.processes.push(record.outcomes.clone());
            for outcome in way.processes.last_mut().into_iter().flatten() {
                if let Outcome::Posted { partner } = outcome
                    && let Some(&id) = posts.next()
                {
                    *partner = self.graph.posts[id as usize].partner.map(|other| places[other as usize]);
                }
            }
        }
        way
    }

    /// A number for what the processes did in this execution: another program has another, almost surely.
    pub fn fingerprint(&self) -> u64 {
        let fold =
            |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(17);
        self.log.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &(process, _, asked)| {
            fold(fold(hash, u64::from(process)), u64::from(asked))
        })
    }

    /// Whether this is the end of a process, and nothing comes after it.
    fn is_last_end(&self, node: Node) -> bool {
        let has_failed = |number: usize| self.failed.iter().any(|(process, _)| *process as usize == number);
        let ends = |(number, process): (usize, &Process)| {
            let last = process.steps.last().is_some_and(|&(last, _)| last == node);
            last && process.stage == Stage::Over && !has_failed(number)
        };
        let order = &self.graph.order;
        self.processes.iter().enumerate().any(ends)
            && (0..order.len() as Node).all(|other| !order.before(node, other))
    }

    /// The steps until now of an execution that was cut, as far as they can be put into a line.
    pub fn line_so_far(&mut self) -> Vec<Step> {
        let mark = self.graph.mark();
        let _ = self.graph.complete();
        let (_, line) = self.schedule(Violation::Deadlock { actors: Vec::new() });
        self.graph.undo(mark);
        line
    }

    /// The present execution, which is complete, as a line of steps; processes are numbered in the order of their creation in this
    /// line, and so is what is wrong with it.
    pub fn schedule(&self, mut violation: Violation) -> (Violation, Vec<Step>) {
        // Whose step each moment is, and which of its choices, or which of its messages arrives then.
        let mut owner: Vec<Option<(usize, u32)>> = vec![None; self.graph.order.len()];
        for (process, record) in self.processes.iter().enumerate() {
            for &(node, choice) in &record.steps {
                owner[node as usize] = Some((process, choice));
            }
        }
        let mut posts = vec![0; self.processes.len()];
        let mut arrives = vec![false; owner.len()];
        for post in self.graph.posts.iter().filter(|post| !post.mailbox.is_local()) {
            let number = &mut posts[post.process as usize];
            if post.arrives != post.posted {
                arrives[post.arrives as usize] = true;
                owner[post.arrives as usize] = Some((post.process as usize, *number));
            }
            *number += 1;
        }
        let mut numbers: Vec<u32> = (0..self.processes.len() as u32).collect();
        let mut next = (self.processes.len() - self.children.len()) as u32;
        let mut line = Vec::new();
        // Daemons end with the last of the others: so nobody ends before all that need not come after it.
        let (ends, others): (Vec<Node>, Vec<Node>) =
            self.graph.order.linearise().into_iter().partition(|&node| self.is_last_end(node));
        for node in others.into_iter().chain(ends) {
            let Some((process, choice)) = owner[node as usize] else { continue };
            let actor = numbers[process];
            let is_arrival = arrives[node as usize];
            line.push(if is_arrival { Step::arrival(actor, choice) } else { Step { actor, choice } });
            for &(_, child) in self.children.iter().filter(|(creation, _)| *creation == node) {
                numbers[child as usize] = next;
                next += 1;
            }
        }
        match &mut violation {
            Violation::Failed { actor, .. } => *actor = numbers[*actor as usize],
            Violation::Deadlock { actors } => {
                actors.iter_mut().for_each(|actor| *actor = numbers[*actor as usize]);
                actors.sort_unstable();
            }
            Violation::Invariant { .. } | Violation::Varies { .. } => {}
        }
        (violation, line)
    }
}
