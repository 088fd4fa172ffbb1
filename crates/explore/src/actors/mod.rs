//! A program of actors as a [`System`]: the kernel, driven by choosing whose request is served next.
//!
//! - `enabled`: what may happen next.
//! - `execute`: one step.
//! - `barriers`: who meets whom at a barrier.
//! - `faults`: messages that are lost, or arrive twice.
//! - `invariants`: what must be true of what the actors show.
//! - `traffic`: what each actor sent and received.
//! - `fingerprint`: a state as a number.
//!
//! Time is abstract. A communication is complete when its two posts have met, sleeps take no time, and a wait that may time
//! out may do so as long as nothing of what it waits for is there. Executions and disk accesses may be over at any time: whoever
//! waits for one alone, and for ever, finds it over; a wait with a timeout, a test, and whoever stops it finds both. What only
//! concerns the actor itself is not a step of its own: it goes with the step before it. Requests that queue (a lock, a barrier) are
//! two steps: the post, and the wait once it is granted.

mod barriers;
mod enabled;
mod execute;
mod faults;
mod fingerprint;
mod invariants;
mod traffic;

pub use faults::Faults;

use std::collections::VecDeque;

use simurgh_kernel::context::{Body, Door, Label, OnExit, Place, panicked_at};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Criteria, Envelope, Note, Simcall};

use self::barriers::Meeting;
use self::enabled::arrival_step;
use self::faults::Unreliable;
use self::invariants::Upheld;
use self::traffic::Traffic;
use crate::dependence;
use crate::transition::{Awaited, Ending, Fate, Kind, MatchKeys, Outcome, Post, Transition};
use crate::verdict::{Divergence, Step, Violation};
use simurgh_kernel::watchdog::{Pulse, Trait, guarding};
use simurgh_search::{Headway, Reversal, System};

/// What may arrive before what.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Network {
    /// A message is in its mailbox when it is sent: first sent, first received.
    #[default]
    Mailbox,
    /// Messages of one sender to one mailbox in one context keep their order, and nothing else is promised.
    Pairwise,
    /// Any message under way may arrive next.
    Unordered,
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl std::str::FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Network::Mailbox, Network::Pairwise, Network::Unordered];
        let named = all.into_iter().find(|network| network.to_string() == text);
        named.ok_or_else(|| format!("{text:?} is not a network: mailbox, pairwise or unordered"))
    }
}

/// What an actor that stands still will do next.
#[derive(Debug, Default)]
pub enum Next {
    /// Nothing: it is new, or has ended.
    #[default]
    Nothing,
    /// To ask this.
    Ask(Simcall),
    /// To go on from a queue with this, once it is granted.
    Queued(Kind),
}

/// What is kept of an actor beside the kernel.
#[derive(Default)]
struct Process {
    body: Option<Body>,
    on_exit: Vec<OnExit>,
    next: Next,
    /// The line of its program that it stands at.
    place: Option<Place>,
    /// What it calls what it asks next, while somebody listens.
    label: Option<Box<Label>>,
    /// Locks and semaphores that it gives back before its next request, each in a step of its own.
    returns: VecDeque<Note>,
    /// Whether what it queues for is its.
    granted: bool,
    /// Whether it may stop to wait now.
    timer: bool,
    /// Whether it might have stopped, at some time since it began to wait.
    timed: bool,
    /// Whether it has taken a step.
    acted: bool,
    /// How many posts it has made.
    posts: u32,
    /// What it posted and was not told the end of, whether or not it can still ask about it: this is taken back when it
    /// ends. Its partner is looked up then.
    unclaimed: Vec<(ActivityId, Awaited)>,
    /// What it has been answered until now, folded: with the same answers it is in the same state.
    history: u64,
}

/// What is known of a communication, by its slot in the kernel's table.
#[derive(Copy, Clone, Default)]
struct Comm {
    bits: u64,
    mailbox: u32,
    send: Option<Post>,
    recv: Option<Post>,
}

/// A message under way.
#[derive(Copy, Clone, Debug)]
struct Message {
    post: Post,
    activity: ActivityId,
    mailbox: u32,
    envelope: Envelope,
}

/// A program of actors to explore. `F` makes the program anew for each execution: it spawns the actors and makes the
/// objects that they share.
pub struct Actors<F> {
    program: F,
    network: Network,
    keeps_posts: bool,
    kernel: Kernel,
    processes: Vec<Process>,
    /// How many of `processes` belong to the present execution.
    count: usize,
    /// How many of them were there at the start.
    first: usize,
    /// How many of them have begun to run.
    begun: usize,
    comms: Vec<Comm>,
    /// Sorted by sender and number.
    messages: Vec<Message>,
    /// For each lock, what those were told who held it, folded: what it guards depends on that.
    guarded: Vec<u64>,
    /// Which send each receive met, in the order in which they met.
    meetings: Vec<(Post, Post)>,
    /// What went wrong, and where.
    failures: Vec<(Violation, Option<Place>)>,
    ready: Vec<ActorId>,
    /// What the actors said, while somebody listens.
    said: Option<Vec<(u32, String)>>,
    /// By what the receives of each mailbox choose, seen in all executions until now.
    observers: Vec<MatchKeys>,
    /// The barriers, in this execution and in all until now.
    barriers: Vec<Meeting>,
    /// Whether actors were seen, in any execution until now, that are created as daemons after the start: then each end of
    /// another may be one that they end with, also before they are there.
    spawned_daemons: bool,
    /// Whether something was seen that makes steps dependent that were taken for independent.
    learned: bool,
    upheld: Upheld,
    door: Door,
    unreliable: Unreliable,
    /// What was sent and received, while somebody compares executions.
    traffic: Option<Traffic>,
    /// Where it is noted whose code runs.
    pulse: Pulse,
    /// What people call a mailbox.
    mailbox_name: Box<dyn Fn(u32) -> String>,
}

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// A program that is made anew by a function, and what may arrive before what.
    pub fn new(network: Network, program: F) -> Self {
        Self::with_pulse(network, Pulse::default(), program)
    }

    /// The same, while somebody looks whether its code comes back.
    pub fn with_pulse(network: Network, pulse: Pulse, program: F) -> Self {
        let mut kernel = Kernel::new(0);
        kernel.hold_messages(true);
        let mut actors = Self {
            program,
            network,
            keeps_posts: false,
            kernel,
            processes: Vec::new(),
            count: 0,
            first: 0,
            begun: 0,
            comms: Vec::new(),
            messages: Vec::new(),
            guarded: Vec::new(),
            meetings: Vec::new(),
            failures: Vec::new(),
            ready: Vec::new(),
            said: None,
            observers: Vec::new(),
            barriers: Vec::new(),
            spawned_daemons: false,
            learned: false,
            upheld: Upheld::default(),
            door: Door::new(),
            unreliable: Unreliable::default(),
            traffic: None,
            pulse,
            mailbox_name: Box::new(|mailbox| mailbox.to_string()),
        };
        actors.reset();
        actors
    }

    /// Says what people call a mailbox.
    pub fn call_mailboxes(mut self, by: impl Fn(u32) -> String + 'static) -> Self {
        self.mailbox_name = Box::new(by);
        self
    }

    /// Lets what an actor posted stay in the mailboxes when the actor ends; otherwise what has met nobody is taken back,
    /// as the kernel does.
    pub fn keep_posts(mut self) -> Self {
        self.keeps_posts = true;
        self
    }

    /// Which send each receive has met since the start: (receive, send), in the order in which they met.
    pub fn meetings(&self) -> &[(Post, Post)] {
        &self.meetings
    }

    /// The kernel, to look at.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What an actor asks next, if it does not queue for something.
    pub fn pending(&self, actor: ActorId) -> Option<&Simcall> {
        match &self.processes[..self.count].get(actor.index())?.next {
            Next::Ask(simcall) => Some(simcall),
            _ => None,
        }
    }

    /// What an actor is about.
    pub fn next(&self, actor: ActorId) -> &Next {
        &self.processes[actor.index()].next
    }

    /// Whether an actor gives back a lock or the like before it goes on with what it is about.
    pub fn gives_back(&self, actor: ActorId) -> bool {
        !self.processes[actor.index()].returns.is_empty()
    }

    /// Whether an actor has failed since the start.
    pub fn has_failed(&self, number: u32) -> bool {
        let is_it =
            |failed: &Violation| matches!(failed, Violation::Failed { actor, .. } if *actor == number);
        self.failures.iter().any(|(failed, _)| is_it(failed))
    }

    /// What may arrive before what.
    pub fn network(&self) -> Network {
        self.network
    }

    /// The line of its program that an actor stands at: that of what it asks next, if it is known.
    pub fn place(&self, actor: ActorId) -> Option<Place> {
        self.processes[..self.count].get(actor.index())?.place
    }

    /// What an actor calls what it asks next, if it says so and somebody [listens](Self::listen).
    pub fn label(&self, actor: ActorId) -> Option<&Label> {
        self.processes[..self.count].get(actor.index())?.label.as_deref()
    }

    /// Where an actor found that something is wrong, of a violation since the start.
    pub fn violation_place(&self, index: usize) -> Option<Place> {
        self.failures.get(index)?.1
    }

    /// From the next start on, keeps what the actors say, and what they call what they ask.
    pub fn listen(&mut self) {
        self.door.wants_labels = true;
        self.said = Some(Vec::new());
    }

    /// What the actors said since it was last taken: who, and what.
    pub fn take_said(&mut self) -> Vec<(u32, String)> {
        self.said.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Who waits for ever where nothing may happen, if somebody does.
    pub fn deadlock(&self) -> Option<Violation> {
        let waits = |&actor: &ActorId| self.kernel.is_alive(actor) && !self.kernel.is_daemon(actor);
        let actors = (0..self.count).map(ActorId::from_index).filter(waits);
        let actors: Vec<u32> = actors.map(|actor| actor.0).collect();
        (!actors.is_empty()).then_some(Violation::Deadlock { actors })
    }

    /// What is known of a communication; nothing if the kernel has forgotten it.
    fn comm(&self, id: ActivityId) -> Option<&Comm> {
        self.comms.get(id.index()).filter(|comm| comm.bits == id.to_bits())
    }

    /// A receive or probe chooses by this.
    fn observe(&mut self, mailbox: u32, criteria: &Criteria) {
        self.learned |= place_of(&mut self.observers, mailbox as usize).insert(criteria);
    }

    fn comm_mut(&mut self, id: ActivityId) -> &mut Comm {
        place_of(&mut self.comms, id.index())
    }
}

impl<F> Actors<F> {
    /// Drops all values of the present execution: outside of any actor, so that they leave no notes.
    fn let_go(&mut self) {
        self.pulse.treats(Some(Trait::Drop));
        guarding(Trait::Drop, panicked_at, || {
            self.kernel.reset(0);
            for process in &mut self.processes[..self.count] {
                process.body = None;
                process.on_exit.clear();
                process.returns.clear();
                process.next = Next::Nothing;
            }
        });
        self.pulse.rests();
    }
}

impl<F> Drop for Actors<F> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.let_go();
            self.upheld.let_go(&mut self.pulse);
        }
    }
}

/// The place of an index in a list that grows as far as it is needed.
fn place_of<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

impl<F: FnMut(&mut Kernel)> System for Actors<F> {
    type Transition = Transition;
    type Step = Step;
    type Violation = Violation;
    type Snapshot = ();

    fn reset(&mut self) {
        self.let_go();
        for process in &mut self.processes[..self.count] {
            process.unclaimed.clear();
            let unclaimed = std::mem::take(&mut process.unclaimed);
            *process = Process { unclaimed, ..Process::default() };
        }
        (self.count, self.first, self.begun) = (0, usize::MAX, 0);
        self.comms.clear();
        self.messages.clear();
        self.guarded.clear();
        self.meetings.clear();
        self.failures.clear();
        self.ready.clear();
        self.said.iter_mut().for_each(Vec::clear);
        self.upheld.broken.fill(false);
        self.unreliable.lost.clear();
        self.unreliable.twice.clear();
        self.barriers.iter_mut().for_each(|meeting| meeting.round = 0);
        self.traffic.iter_mut().for_each(Traffic::reset);
        self.pulse.makes();
        (self.program)(&mut self.kernel);
        self.pulse.rests();
        self.settle();
        self.judge(None, None);
        self.wake();
        self.first = self.count;
    }

    fn enabled(&mut self, into: &mut Vec<Transition>) {
        self.collect_enabled(into);
    }

    fn execute(&mut self, step: Step) -> Transition {
        self.pulse.treats(None);
        let taken = match step.actor {
            Step::NETWORK => self.arrive(step),
            actor => self.act(ActorId(actor), step.choice),
        };
        self.traffic.iter_mut().for_each(|traffic| traffic.steps += 1);
        self.settle();
        self.wake();
        self.pulse.rests();
        taken
    }

    fn can_repeat(&self, taken: &Transition) -> bool {
        let step = taken.step;
        if step.actor == Step::NETWORK {
            return self.messages.iter().any(|message| arrival_step(message.post) == step);
        }
        let mut is_possible = false;
        if (step.actor as usize) < self.count {
            self.choices(ActorId(step.actor), |choice| is_possible |= choice == step.choice);
        }
        is_possible
    }

    fn divergence(&self, taken: &Transition, instead: Option<&Transition>) -> Divergence {
        let words = |kind: &Kind| kind.in_words(&*self.mailbox_name);
        let actor = ActorId(taken.step.actor);
        let is_there = actor.index() < self.count;
        let name = match actor.0 {
            Step::NETWORK => "the network".to_owned(),
            _ if is_there => self.kernel.actor_name(actor).to_owned(),
            number => format!("number {number}"),
        };
        let pending = || if is_there { self.kind(actor, Step::OTHERWISE) } else { None };
        let asked = instead.map(|instead| instead.kind.clone()).or_else(pending);
        Divergence::Actor { name, asked: asked.map(|kind| words(&kind)), before: words(&taken.kind) }
    }

    fn unsteady(&self) -> Option<String> {
        self.upheld.unsteady.map(|index| format!("invariant {:?}", self.upheld.name(index)))
    }

    fn headway(transition: &Transition) -> Headway {
        match &transition.kind {
            Kind::TakeWait(_, end) | Kind::ConditionWait(_, _, end) | Kind::Join(_, end) if end.timeout => {
                Headway::InVain
            }
            Kind::TakeWait(..) | Kind::ConditionWait(..) | Kind::Join(..) | Kind::Give(_) => Headway::Made,
            Kind::Wait { outcome: Outcome::Taken, .. } | Kind::BarrierWait(..) => Headway::Made,
            Kind::Wait { .. } | Kind::Probe(..) | Kind::TryTake(_) | Kind::IsAlive(_) => Headway::InVain,
            Kind::Spawn(_) => Headway::Creates,
            // What is posted, or shown, nobody need ever look at.
            _ => Headway::Unclear,
        }
    }

    fn step(transition: &Transition) -> Step {
        transition.step
    }

    fn process(transition: &Transition) -> u64 {
        transition.process()
    }

    fn dependent(a: &Transition, b: &Transition) -> bool {
        dependence::dependent(a, b)
    }

    fn reversal(first: &Transition, second: &Transition) -> Reversal {
        dependence::reversal(first, second)
    }

    fn learned(&mut self) -> bool {
        std::mem::take(&mut self.learned)
    }

    fn stays(transition: &Transition) -> bool {
        // Others may use up what may be lost, or come twice.
        !matches!(transition.kind, Kind::Submit { fate: Fate::Lost | Fate::Twice, .. })
    }

    fn disables(transition: &Transition) -> bool {
        matches!(transition.kind, Kind::Interfere | Kind::Exit { last: true, .. })
    }

    fn blocks(transition: &Transition, other: &Transition) -> bool {
        // Who is notified waits for its lock, perhaps for ever, and cannot give up any more.
        matches!(
            (&transition.kind, &other.kind),
            (Kind::Notify(notified), Kind::ConditionWait(condition, _, Ending { timeout: true, .. }))
                if notified == condition
        )
    }

    fn violation_count(&self) -> usize {
        self.failures.len()
    }

    fn violation(&self, index: usize) -> Violation {
        self.failures[index].0.clone()
    }

    fn at_end(&mut self, schedule: &mut dyn Iterator<Item = Step>) -> Vec<Violation> {
        let mut found = match self.deadlock() {
            // Where some wait for ever, that is why.
            Some(deadlock) => vec![deadlock],
            None => [self.missed_goals(), self.see_out_daemons()].concat(),
        };
        found.extend(self.compare_execution(schedule));
        found
    }

    fn state_key(&mut self) -> Option<u128> {
        self.pulse.treats(Some(Trait::Debug));
        let key = guarding(Trait::Debug, panicked_at, || self.fold_state());
        self.pulse.rests();
        Some(key)
    }
}
