//! The choices of an execution, one after the other, and then the next execution.

use smallvec::SmallVec;

use super::graph::{Graph, PostId};
use super::order::Node;
use super::way::{Outcome, Place, Way};
use super::{Handle, Mailbox, Network, Processes, Reply, Request};
use crate::verdict::{Exploration, Step, Verdict, Violation};

/// How far to go.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Whether to go on after something was found.
    pub all: bool,
    /// At most so many executions.
    pub executions: u64,
    /// At most so many steps in an execution.
    pub depth: u64,
    /// Whether every choice offers all that it might ever have to, at once. Slow, and obviously complete: the oracle.
    pub eager: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { all: false, executions: u64::MAX, depth: 1_000_000, eager: false }
    }
}

/// Why the engine does not explore a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the engine `receives` does not explore {0} yet; use --engine optimal")]
pub struct Unsupported(pub &'static str);

/// What a watcher is told.
#[derive(Copy, Clone, Debug)]
pub struct Progress {
    /// Executions until now.
    pub executions: u64,
    /// Steps until now.
    pub transitions: u64,
    /// A part of the whole, estimated from the choices that are behind.
    pub part: f64,
}

/// Explores all ways. `watch` is called now and then, and stops the search by saying false.
///
/// # Errors
/// If the program does something that this engine does not know.
pub fn explore(
    processes: &mut dyn Processes,
    network: Network,
    limits: Limits,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Exploration, Unsupported> {
    explore_ways(processes, network, limits, watch, None)
}

/// Someone who sees each way, with what went wrong in it; and stops the search by saying false.
pub type Visitor<'a> = dyn FnMut(&Way, Option<&Violation>) -> bool + 'a;

/// As [`explore`], and shows each way to a visitor.
///
/// # Errors
/// If the program does something that this engine does not know.
pub fn explore_ways(
    processes: &mut dyn Processes,
    network: Network,
    limits: Limits,
    watch: &mut dyn FnMut(&Progress) -> bool,
    mut visitor: Option<&mut Visitor<'_>>,
) -> Result<Exploration, Unsupported> {
    let mut search = Search::new(network, limits);
    let mut result = Exploration::default();
    let mut runs: u64 = 0;
    let mut stopped = false;
    loop {
        let end = search.run(processes)?;
        runs += 1;
        result.transitions += search.steps;
        match end {
            End::Nowhere => {}
            End::TooDeep => result.verdict = worse(result.verdict, Verdict::NotExhausted),
            End::Execution(violation) => {
                result.executions += 1;
                if let Some(visit) = &mut visitor {
                    stopped = !visit(&search.way(), violation.as_ref());
                }
                if let Some(violation) = violation {
                    result.verdict = worse(result.verdict, violation.verdict());
                    if !result.found.iter().any(|(known, _)| *known == violation) {
                        result.found.push((violation, search.schedule()));
                    }
                    if !limits.all {
                        return Ok(result);
                    }
                }
            }
        }
        let more = search.next();
        if !more {
            return Ok(result);
        }
        let stop = runs.is_multiple_of(1 << 10) && {
            let progress = Progress {
                executions: result.executions,
                transitions: result.transitions,
                part: search.part(),
            };
            !watch(&progress)
        };
        if stop || stopped || result.executions >= limits.executions {
            result.verdict = worse(result.verdict, Verdict::NotExhausted);
            return Ok(result);
        }
    }
}

/// A violation outweighs a deadlock, and anything found outweighs not having seen all.
fn worse(a: Verdict, b: Verdict) -> Verdict {
    let rank = |verdict| match verdict {
        Verdict::Holds => 0,
        Verdict::NotExhausted => 1,
        Verdict::Deadlock => 2,
        Verdict::Violated => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

enum End {
    Execution(Option<Violation>),
    /// A choice that led nowhere.
    Nowhere,
    TooDeep,
}

/// What one choice can be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Pick {
    /// The post meets this one.
    Meet(PostId),
    /// The post meets only what comes later, or nothing.
    Later,
    /// The wait is for this member of its set.
    Member(u32),
    /// The test finds none complete.
    None,
    /// This number is chosen.
    Number(u32),
}

/// A choice of the present execution, and those that are left to try.
#[derive(Clone, Debug, Default)]
struct Choice {
    picks: SmallVec<[Pick; 8]>,
    at: usize,
    /// What makes sense only if a post comes to this mailbox later: offered when one is seen to come.
    ///
    /// If it never does in any execution below, then nothing below could have met it. If it does in one where this
    /// choice was made otherwise, it may also come where it is made so. What comes only because of what was chosen
    /// here instead, after the end of the wait for it, does not count.
    late: SmallVec<[(Mailbox, Pick); 2]>,
    /// The post that this choice is about.
    post: Option<PostId>,
    /// The end of the wait that this choice is about.
    wait: Option<Node>,
}

/// What a process of the present execution is about to do.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// It has asked for this.
    Asks(Request),
    /// It waits for this post of its own; in the set of its wait it has this place.
    Waits { post: PostId, index: u32 },
    /// It came to its end.
    Over,
}

#[derive(Clone, Debug)]
struct Process {
    stage: Stage,
    /// Its posts; `None` for what was over when it began.
    posts: Vec<Option<PostId>>,
    last: Node,
    /// The choice of the wait that it is in.
    choice: Option<usize>,
    /// For [`Search::schedule`]: its steps that a schedule shows, and which choice each had.
    steps: Vec<(Node, u32)>,
    /// For [`Search::way`]: what came of its requests. Who met whom is known at the end only.
    outcomes: Vec<Outcome>,
}

struct Search {
    network: Network,
    limits: Limits,
    graph: Graph,
    trial: Graph,
    processes: Vec<Process>,
    spare: Vec<Process>,
    choices: Vec<Choice>,
    depth: usize,
    steps: u64,
    failed: Option<(u32, String)>,
}

impl Search {
    fn new(network: Network, limits: Limits) -> Self {
        Self {
            network,
            limits,
            graph: Graph::default(),
            trial: Graph::default(),
            processes: Vec::new(),
            spare: Vec::new(),
            choices: Vec::new(),
            depth: 0,
            steps: 0,
            failed: None,
        }
    }

    /// Runs one execution along the choices made, and makes new ones where they end.
    fn run(&mut self, code: &mut dyn Processes) -> Result<End, Unsupported> {
        code.restart();
        self.graph.clear(self.network);
        self.spare.append(&mut self.processes);
        self.depth = 0;
        self.steps = 0;
        self.failed = None;
        for process in 0..code.count() {
            let start = self.graph.order.add();
            self.begin(process, start, code);
        }
        while let Some(process) = self.next_to_run() {
            self.steps += 1;
            if self.steps > self.limits.depth {
                return Ok(End::TooDeep);
            }
            if !self.advance(process, code)? {
                return Ok(End::Nowhere);
            }
        }
        if self
            .processes
            .iter()
            .any(|process| matches!(process.stage, Stage::Waits { index, .. } if index != ALONE))
        {
            // It was promised that this member of a larger set would complete.
            return Ok(End::Nowhere);
        }
        if !self.graph.complete() {
            return Ok(End::Nowhere);
        }
        // An actor that failed is gone; the others went on, which shows that all this can really happen.
        if let Some((actor, message)) = self.failed.take() {
            return Ok(End::Execution(Some(Violation::Failed { actor, message })));
        }
        let waiting: Vec<u32> = (0..self.processes.len() as u32)
            .filter(|&p| self.processes[p as usize].stage != Stage::Over && !code.is_daemon(p))
            .collect();
        Ok(End::Execution((!waiting.is_empty()).then_some(Violation::Deadlock { actors: waiting })))
    }

    fn begin(&mut self, process: u32, start: Node, code: &mut dyn Processes) {
        debug_assert_eq!(process as usize, self.processes.len());
        let request = code.resume(process, Reply::Start);
        let mut record = self.spare.pop().unwrap_or_else(|| Process {
            stage: Stage::Over,
            posts: Vec::new(),
            last: 0,
            choice: None,
            steps: Vec::new(),
            outcomes: Vec::new(),
        });
        record.stage = Stage::Asks(request);
        record.posts.clear();
        record.steps.clear();
        record.outcomes.clear();
        record.last = start;
        record.choice = None;
        self.processes.push(record);
    }

    /// The manner in which the graph grows: receives last, so that they find the sends; otherwise in order.
    fn next_to_run(&self) -> Option<u32> {
        let mut receiver = None;
        for (index, process) in self.processes.iter().enumerate() {
            if !self.can_run(process) {
                continue;
            }
            let receives = matches!(
                process.stage,
                Stage::Asks(
                    Request::Post { is_send: false, .. }
                        | Request::PostAndWait { is_send: false, .. }
                        | Request::WaitAny(_)
                        | Request::TestAny(_)
                )
            );
            if !receives {
                return Some(index as u32);
            }
            receiver = receiver.or(Some(index as u32));
        }
        receiver
    }

    fn can_run(&self, process: &Process) -> bool {
        match &process.stage {
            Stage::Asks(Request::Join(other)) => {
                self.processes.get(*other as usize).is_none_or(|other| other.stage == Stage::Over)
            }
            Stage::Asks(Request::WaitAny(set)) => set.iter().any(|&handle| self.is_complete(process, handle)),
            Stage::Asks(_) => true,
            Stage::Waits { post, .. } => self.graph.posts[*post as usize].partner.is_some(),
            Stage::Over => false,
        }
    }

    /// Whether one of a process' own posts is complete.
    fn is_complete(&self, process: &Process, handle: Handle) -> bool {
        process.posts[handle as usize].is_none_or(|post| self.graph.posts[post as usize].partner.is_some())
    }

    /// Lets a process do what it asks. False if the choices made lead nowhere.
    fn advance(&mut self, process: u32, code: &mut dyn Processes) -> Result<bool, Unsupported> {
        let p = process as usize;
        match std::mem::replace(&mut self.processes[p].stage, Stage::Over) {
            Stage::Waits { post, index } => {
                self.finish_wait(process, post, if index == ALONE { 0 } else { index }, code);
            }
            Stage::Asks(request) => return self.serve(process, request, code),
            Stage::Over => unreachable!("such a process does not run"),
        }
        Ok(true)
    }

    fn serve(
        &mut self,
        process: u32,
        request: Request,
        code: &mut dyn Processes,
    ) -> Result<bool, Unsupported> {
        match request {
            Request::Post { mailbox, is_send } => {
                let Some(_) = self.post(process, mailbox, is_send) else { return Ok(false) };
                let handle = self.processes[process as usize].posts.len() as Handle - 1;
                self.resume(process, Reply::Posted(handle), code);
            }
            Request::PostAndWait { mailbox, is_send } => {
                let Some(post) = self.post(process, mailbox, is_send) else { return Ok(false) };
                self.processes[process as usize].stage = Stage::Waits { post, index: ALONE };
            }
            Request::Begin => {
                let record = &mut self.processes[process as usize];
                record.posts.push(None);
                let handle = record.posts.len() as Handle - 1;
                self.resume(process, Reply::Posted(handle), code);
            }
            Request::WaitAny(set) => return Ok(self.wait_any(process, &set, code)),
            Request::TestAny(set) => return Ok(self.test_any(process, &set, code)),
            Request::Choose(n) => {
                let Some(Pick::Number(number)) = self.choose(|_| Choice {
                    picks: (0..n.max(1)).map(Pick::Number).collect(),
                    ..Choice::default()
                }) else {
                    return Ok(false);
                };
                self.step(process, number);
                self.came(process, Outcome::Chosen(number));
                self.resume(process, Reply::Chosen(number), code);
            }
            Request::Spawn => {
                let node = self.step(process, 0);
                let start = self.graph.step(node);
                let child = self.processes.len() as u32;
                self.came(process, Outcome::Spawned(child));
                self.resume(process, Reply::Done, code);
                self.begin(child, start, code);
            }
            Request::Join(other) => {
                let node = self.step(process, 0);
                if let Some(other) = self.processes.get(other as usize) {
                    let fits = self.graph.order.put(other.last, node);
                    debug_assert!(fits, "what has ended is before what comes now");
                }
                self.resume(process, Reply::Done, code);
            }
            Request::Ended => self.processes[process as usize].stage = Stage::Over,
            Request::Failed(message) => {
                self.processes[process as usize].stage = Stage::Over;
                self.failed.get_or_insert((process, message));
            }
            Request::Unsupported(what) => return Err(Unsupported(what)),
        }
        Ok(true)
    }

    fn resume(&mut self, process: u32, reply: Reply, code: &mut dyn Processes) {
        self.processes[process as usize].stage = Stage::Asks(code.resume(process, reply));
    }

    fn step(&mut self, process: u32, choice: u32) -> Node {
        let record = &mut self.processes[process as usize];
        record.last = self.graph.step(record.last);
        record.steps.push((record.last, choice));
        record.last
    }

    fn came(&mut self, process: u32, outcome: Outcome) {
        self.processes[process as usize].outcomes.push(outcome);
    }

    /// Adds a post, and chooses whom it meets of those that are there.
    fn post(&mut self, process: u32, mailbox: Mailbox, is_send: bool) -> Option<PostId> {
        let record = &mut self.processes[process as usize];
        let post = self.graph.post(process, record.last, mailbox, is_send);
        record.last = self.graph.posts[post as usize].posted;
        record.posts.push(Some(post));
        record.steps.push((record.last, 0));
        record.outcomes.push(Outcome::Posted { partner: None });
        let posted = record.last;
        self.offer_late(Some((mailbox, posted)));
        let mut refused = false;
        let pick = self.choose(|search| {
            let mut choice = Choice { post: Some(post), ..Choice::default() };
            for other in 0..post {
                let candidate = &search.graph.posts[other as usize];
                if candidate.mailbox != mailbox || candidate.is_send == is_send || candidate.partner.is_some()
                {
                    continue;
                }
                search.trial.copy_from(&search.graph);
                if search.trial.meet(post, other) {
                    choice.picks.push(Pick::Meet(other));
                } else {
                    refused = true;
                }
            }
            if choice.picks.is_empty() || refused || search.limits.eager {
                choice.picks.push(Pick::Later);
            } else {
                choice.late.push((mailbox, Pick::Later));
            }
            choice
        });
        if refused {
            // What was chosen before rules out what is possible here: there is more to it than mailboxes show.
            self.offer_late(None);
        }
        if let Pick::Meet(other) = pick? {
            let fits = self.graph.meet(post, other);
            debug_assert!(fits, "only what fits was offered");
        }
        Some(post)
    }

    /// A post comes to a mailbox, or something may come to any: the choices until now that waited for it offer more.
    fn offer_late(&mut self, comes: Option<(Mailbox, Node)>) {
        let Search { graph, choices, depth, .. } = self;
        for choice in &mut choices[..*depth] {
            let Choice { picks, late, post, wait, .. } = choice;
            if late.is_empty() {
                continue;
            }
            if let Some((mailbox, node)) = comes {
                let is_consequence = |end: Option<Node>| end.is_some_and(|end| graph.order.before(end, node));
                let post = post.map(|post| &graph.posts[post as usize]);
                let partner =
                    post.and_then(|post| post.partner).map(|partner| &graph.posts[partner as usize]);
                if !late.iter().any(|(awaited, _)| *awaited == mailbox)
                    || is_consequence(*wait)
                    || is_consequence(post.and_then(|post| post.completed))
                    || is_consequence(partner.and_then(|partner| partner.completed))
                {
                    continue;
                }
            }
            late.retain(|(awaited, pick)| {
                let comes = comes.is_none_or(|(mailbox, _)| mailbox == *awaited);
                if comes {
                    picks.push(*pick);
                }
                !comes
            });
        }
    }

    fn wait_any(&mut self, process: u32, set: &[Handle], code: &mut dyn Processes) -> bool {
        if let [alone] = set {
            match self.processes[process as usize].posts[*alone as usize] {
                Some(post) => self.processes[process as usize].stage = Stage::Waits { post, index: ALONE },
                None => self.completed_at_once(process, 0, code),
            }
            return true;
        }
        let pick = self.choose(|search| search.members(process, set));
        let Some(Pick::Member(index)) = pick else { return false };
        self.choices[self.depth - 1].wait = None;
        self.processes[process as usize].choice = Some(self.depth - 1);
        self.take_member(process, set, index, code);
        true
    }

    /// The members of a set that are complete, and those that may be later.
    fn members(&self, process: u32, set: &[Handle]) -> Choice {
        let record = &self.processes[process as usize];
        let mut choice = Choice::default();
        for (index, &handle) in set.iter().enumerate() {
            let pick = Pick::Member(index as u32);
            match record.posts[handle as usize].filter(|_| !self.is_complete(record, handle)) {
                Some(post) if !self.limits.eager => {
                    choice.late.push((self.graph.posts[post as usize].mailbox, pick));
                }
                _ => choice.picks.push(pick),
            }
        }
        choice
    }

    fn take_member(&mut self, process: u32, set: &[Handle], index: u32, code: &mut dyn Processes) {
        match self.processes[process as usize].posts[set[index as usize] as usize] {
            Some(post) => self.processes[process as usize].stage = Stage::Waits { post, index },
            None => self.completed_at_once(process, index, code),
        }
    }

    fn completed_at_once(&mut self, process: u32, index: u32, code: &mut dyn Processes) {
        self.step(process, index);
        self.came(process, Outcome::Completed(index));
        self.resume(process, Reply::Completed { index, from: None }, code);
    }

    fn test_any(&mut self, process: u32, set: &[Handle], code: &mut dyn Processes) -> bool {
        let posts: SmallVec<[Option<PostId>; 4]> =
            set.iter().map(|&handle| self.processes[process as usize].posts[handle as usize]).collect();
        let pick = self.choose(|search| {
            let mut choice = search.members(process, set);
            if posts.iter().all(Option::is_some) {
                choice.picks.push(Pick::None);
            }
            choice
        });
        match pick {
            Some(Pick::Member(index)) => self.take_member(process, set, index, code),
            Some(Pick::None) => {
                let node = self.step(process, u32::MAX);
                self.came(process, Outcome::Nothing);
                for &post in posts.iter().flatten() {
                    if !self.graph.tested(post, node) {
                        self.offer_late(None);
                        return false;
                    }
                }
                self.resume(process, Reply::Nothing, code);
            }
            _ => return false,
        }
        true
    }

    /// The post is matched: the wait is over, after both ends were there.
    fn finish_wait(&mut self, process: u32, post: PostId, index: u32, code: &mut dyn Processes) {
        let own = self.graph.posts[post as usize];
        let partner = own.partner.expect("a wait ends when its post is matched");
        let other = self.graph.posts[partner as usize];
        let node = self.step(process, index);
        self.came(process, Outcome::Completed(index));
        let fits = self.graph.order.put(own.arrives, node) && self.graph.order.put(other.arrives, node);
        debug_assert!(fits, "a new step follows what is there");
        self.graph.posts[post as usize].completed.get_or_insert(node);
        if let Some(choice) = self.processes[process as usize].choice.take() {
            self.choices[choice].wait = Some(node);
        }
        let from = (!own.is_send).then(|| {
            let posts = &self.processes[other.process as usize].posts;
            let handle = posts.iter().position(|&candidate| candidate == Some(partner));
            (other.process, handle.expect("a post belongs to its process") as Handle)
        });
        self.resume(process, Reply::Completed { index, from }, code);
    }

    /// The next choice: the one that was made, or the first of new ones. `None` if there is nothing to choose.
    fn choose(&mut self, offer: impl FnOnce(&mut Search) -> Choice) -> Option<Pick> {
        if self.depth == self.choices.len() {
            let choice = offer(self);
            self.choices.push(choice);
        }
        let choice = &self.choices[self.depth];
        self.depth += 1;
        choice.picks.get(choice.at).copied()
    }

    /// Goes to the next execution. False if there is none.
    fn next(&mut self) -> bool {
        while let Some(last) = self.choices.last_mut() {
            last.at += 1;
            if last.at < last.picks.len() {
                return true;
            }
            self.choices.pop();
        }
        false
    }

    /// What part of the tree of choices is behind, if all its branches were alike.
    fn part(&self) -> f64 {
        let (mut part, mut width) = (0.0, 1.0);
        for choice in &self.choices {
            width /= choice.picks.len().max(1) as f64;
            part += width * choice.at as f64;
        }
        part
    }

    /// The present execution as what came of each request.
    fn way(&self) -> Way {
        let mut places = vec![Place { process: 0, post: 0 }; self.graph.posts.len()];
        for (process, record) in (0..).zip(&self.processes) {
            for (post, &id) in (0..).zip(record.posts.iter().flatten()) {
                places[id as usize] = Place { process, post };
            }
        }
        let mut way = Way::default();
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

    /// The present execution as a line.
    fn schedule(&self) -> Vec<Step> {
        let mut order = self.graph.clone();
        let _ = order.complete();
        let mut owner: Vec<Option<Step>> = vec![None; order.order.len()];
        for (actor, process) in self.processes.iter().enumerate() {
            for &(node, choice) in &process.steps {
                owner[node as usize] = Some(Step { actor: actor as u32, choice });
            }
        }
        order.order.linearise().into_iter().filter_map(|node| owner[node as usize]).collect()
    }
}

/// The place in the set of a wait for a single post.
const ALONE: u32 = u32::MAX;
