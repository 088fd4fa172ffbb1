//! Drives the kernel along a random schedule, and writes down what can be seen of each state.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_explore::transition::{Kind, Post as Named, Posting, Transition};
use simurgh_explore::{Network, Step, System};
use simurgh_kernel::activity::State;
use simurgh_kernel::ids::{ActivityId, ActorId, MailboxId};
use simurgh_kernel::operation::Side;
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::{Criteria, Failure, Follow as Following, OnTimeout, Simcall};

use super::data::{
    ACTORS, Accepts, Ask, By, Choice, Entry, Follow, MAILBOXES, Observation, Post, TAGS, Taken, Told,
};
use super::program::{Played, Program, Raw, Reports};

/// The choice of a step that stands for a timeout, or for nothing being over.
const OTHERWISE: u32 = u32::MAX;

/// What a schedule showed.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub network: Network,
    pub entries: Vec<Entry>,
}

/// Plays a random program along a random schedule: once to see by what its receives choose, which the dependence relation
/// asks for, and once to write down what it does.
pub fn record(seed: u64, network: Network) -> Recorded {
    let (mut system, reports) = Program::random(seed).system(network);
    let schedule = walk(&mut system, &mut Random::new(seed, 1 + network as u64));
    system.reset();
    let mut recorder = Recorder {
        system,
        reports,
        names: BTreeMap::new(),
        following: vec![None; ACTORS as usize],
        told: vec![Told::Silence; ACTORS as usize],
    };
    let mut entries = vec![recorder.entry(None, BTreeSet::new())];
    let mut trace: Vec<Transition> = Vec::new();
    for step in schedule {
        let mut enabled = Vec::new();
        recorder.system.enabled(&mut enabled);
        let chosen =
            enabled.iter().find(|transition| transition.step == step).expect("it was possible before");
        let (step, taken) = (recorder.taken(chosen), recorder.step(chosen));
        let depends = |place: &usize| Played::dependent(&trace[place - 1], &taken);
        let depends = (1..=trace.len()).filter(depends).collect();
        trace.push(taken);
        entries.push(recorder.entry(Some(step), depends));
    }
    Recorded { network, entries }
}

/// Takes steps at random until none is possible.
fn walk(system: &mut Played, random: &mut Random) -> Vec<Step> {
    let mut schedule = Vec::new();
    loop {
        let mut enabled = Vec::new();
        system.enabled(&mut enabled);
        if enabled.is_empty() {
            return schedule;
        }
        schedule.push(enabled[random.below(enabled.len() as u64) as usize].step);
        system.execute(schedule[schedule.len() - 1]);
    }
}

/// The ends of a communication: a send, a receive, or both.
#[derive(Default)]
struct Ends {
    send: Option<Post>,
    recv: Option<Post>,
}

struct Recorder {
    system: Played,
    reports: Reports,
    /// The send and the receive that an activity of the kernel stands for.
    names: BTreeMap<u64, Ends>,
    /// The post that an actor waits for since it made it.
    following: Vec<Option<Post>>,
    told: Vec<Told>,
}

impl Recorder {
    /// Takes a step, and notes the names of what was posted.
    fn step(&mut self, chosen: &Transition) -> Transition {
        let actor = ActorId(chosen.step.actor);
        let follows = matches!(
            self.system.pending(actor),
            Some(Simcall::Send(_, Following::Wait(_)) | Simcall::Recv(_, Following::Wait(_)))
        );
        let timed_out = chosen.step.choice == OTHERWISE
            && matches!(self.system.pending(actor), Some(Simcall::WaitAny { .. }));
        let about = self.about(actor);
        let taken = self.system.execute(chosen.step);
        let ends = match &taken.kind {
            Kind::Post(Posting { post, side: Side::Recv(_), .. }) => {
                Ends { send: None, recv: Some(plain(*post)) }
            }
            Kind::Post(Posting { post, .. }) | Kind::Submit { post, .. } => {
                Ends { send: Some(plain(*post)), recv: None }
            }
            _ => Ends::default(),
        };
        let post = ends.send.or(ends.recv);
        self.name(ends);
        if let Some(told) = self.told.get_mut(actor.index()) {
            let answer = self.reports[actor.index()].lock().expect("nobody panics with it").answer;
            *told = match (post, answer) {
                _ if !self.system.kernel().is_alive(actor) => Told::Silence,
                (Some(post), _) => Told::Posted(post),
                (None, Raw::Completed(u32::MAX, Err(Failure::Timeout))) if timed_out => Told::Timeout,
                (None, Raw::Completed(index, Ok(message))) => {
                    Told::Completed { post: about[index as usize], message }
                }
                (None, Raw::Completed(index, Err(_))) => Told::Failed(about[index as usize]),
                (None, Raw::Ready) => Told::Ready,
                (None, Raw::Nothing) => Told::Nothing,
                (None, Raw::Chosen(number)) => Told::Chosen(number),
                (None, Raw::Probed(found)) => Told::Probed(
                    found.map(|envelope| (envelope.context, envelope.source, envelope.tag as u32)),
                ),
                (None, Raw::Silence | Raw::Activity | Raw::Other) => {
                    panic!("{actor} was answered {answer:?}")
                }
            };
            self.following[actor.index()] = post.filter(|_| follows);
        }
        taken
    }

    /// Finds the activity of what was just posted: one that is new, or that of the send that a receive met.
    fn name(&mut self, posted: Ends) {
        let table = self.system.kernel().activities();
        let new: Vec<u64> =
            table.iter().map(|(id, _)| id.to_bits()).filter(|bits| !self.names.contains_key(bits)).collect();
        if let [bits] = new[..] {
            assert!(posted.send.or(posted.recv).is_some(), "an activity appears without a post");
            self.names.insert(bits, posted);
        } else {
            assert!(new.is_empty(), "one post is one activity");
            let Some(recv) = posted.recv else { return };
            let met = self.system.meetings().iter().find(|(met, _)| plain(*met) == recv);
            let send = met.map(|(_, send)| plain(*send)).expect("a receive that is not new has met a send");
            let of_send = |ends: &&mut Ends| ends.send == Some(send);
            self.names.values_mut().find(of_send).expect("the send has a name").recv = Some(recv);
        }
    }

    /// The posts that an actor asks about, in its order.
    fn about(&self, actor: ActorId) -> Vec<Post> {
        let Some(following) = self.following.get(actor.index()) else { return Vec::new() };
        let about = match following {
            Some(post) => vec![*post],
            None => self.reports[actor.index()].lock().expect("nobody panics with it").about.clone(),
        };
        let ids: &[ActivityId] = match self.system.pending(actor) {
            Some(Simcall::WaitAny { activities, .. } | Simcall::TestAny { activities }) => activities,
            Some(Simcall::Cancel(id)) => std::slice::from_ref(id),
            _ => return Vec::new(),
        };
        assert_eq!(ids.len(), about.len(), "{actor} asks about other posts than it says");
        for (id, post) in ids.iter().zip(&about) {
            let ends = &self.names[&id.to_bits()];
            assert!(
                [ends.send, ends.recv].contains(&Some(*post)),
                "{actor} asks about another post than {post:?}"
            );
        }
        about
    }

    fn ask(&self, actor: ActorId) -> Option<Ask> {
        if !self.system.kernel().is_alive(actor) {
            return None;
        }
        let about = self.about(actor);
        let set: BTreeSet<Post> = about.iter().copied().collect();
        Some(match self.system.pending(actor)? {
            Simcall::Send(request, following) => Ask::Send {
                mailbox: request.mailbox.0,
                context: request.envelope.context,
                tag: request.envelope.tag as u32,
                follow: follow(*following),
            },
            Simcall::Recv(request, following) => Ask::Recv {
                mailbox: request.mailbox.0,
                accepts: accepts(&request.criteria),
                follow: follow(*following),
            },
            Simcall::WaitAny { timeout, on_timeout, release, .. } => {
                let timed = timeout.is_some();
                // Whether to give up is of no interest where nothing times out.
                let giveup = timed && *on_timeout == OnTimeout::GiveUp;
                Ask::Wait { set, timed, giveup, release: *release }
            }
            Simcall::TestAny { .. } => Ask::Test { set },
            Simcall::Choose(choices) => Ask::Local { choices: *choices },
            Simcall::Cancel(_) => Ask::Cancel { post: about[0] },
            Simcall::Probe(mailbox, criteria) => {
                Ask::Probe { mailbox: mailbox.0, accepts: accepts(criteria) }
            }
            Simcall::Exit => Ask::Exit,
            other => panic!("{actor} asks {other:?}, which no program does"),
        })
    }

    /// A transition that is possible, as the specification names it.
    fn taken(&self, transition: &Transition) -> Taken {
        if let Kind::Arrive { posting: Posting { post, mailbox, side, .. }, ordered } = transition.kind {
            let post = plain(post);
            let by = if ordered { By::Channel(post.0, mailbox, side.context()) } else { By::Message(post) };
            return Taken { by, choice: Choice::Post(post) };
        }
        let choice = match (&transition.kind, transition.step.choice) {
            (Kind::Choose, number) => Choice::Number(number),
            (Kind::Wait { .. }, OTHERWISE) => Choice::Only,
            (Kind::Wait { .. }, index) => {
                Choice::Post(self.about(ActorId(transition.step.actor))[index as usize])
            }
            (_, choice) => {
                assert_eq!(choice, 0, "{transition:?} has one outcome");
                Choice::Only
            }
        };
        Taken { by: By::Actor(transition.step.actor), choice }
    }

    fn entry(&mut self, step: Option<Taken>, depends: BTreeSet<usize>) -> Entry {
        let mut enabled = Vec::new();
        self.system.enabled(&mut enabled);
        let kernel = self.system.kernel();
        let table = kernel.activities();
        let side = |id: ActivityId, receiving: bool| {
            let ends = &self.names[&id.to_bits()];
            if receiving { ends.recv } else { ends.send }.expect("it was posted")
        };
        let queues = |receiving: bool| -> Vec<Vec<Post>> {
            let queue = |mailbox| {
                let mailbox = kernel.mailbox(MailboxId(mailbox));
                let queue = if receiving { mailbox.receives } else { mailbox.sends };
                queue.iter(table).map(|id| side(id, receiving)).collect()
            };
            (0..MAILBOXES).map(queue).collect()
        };
        let under_way =
            |id: ActivityId| matches!(table.get(id), Some(activity) if activity.state == State::UnderWay);
        let seen = Observation {
            sends: queues(false),
            recvs: queues(true),
            travel: table.iter().filter(|(id, _)| under_way(*id)).map(|(id, _)| side(id, false)).collect(),
            met: self.system.meetings().iter().map(|(recv, send)| (plain(*recv), plain(*send))).collect(),
            alive: (0..ACTORS).map(|actor| kernel.is_alive(ActorId(actor))).collect(),
            told: self.told.clone(),
            enabled: enabled.iter().map(|transition| self.taken(transition)).collect(),
        };
        let asks = (0..ACTORS).map(|actor| self.ask(ActorId(actor))).collect();
        Entry { step, seen, asks, depends }
    }
}

fn plain(post: Named) -> Post {
    (post.actor, post.number)
}

fn follow(following: Following) -> Follow {
    match following {
        Following::Return => Follow::Return,
        Following::Detach => Follow::Detach,
        Following::Wait(None) => Follow::Wait,
        Following::Wait(Some(_)) => Follow::Timed,
    }
}

fn accepts(criteria: &Criteria) -> Accepts {
    let only =
        |one: Option<u32>, all: u32| one.map_or_else(|| (0..all).collect(), |one| BTreeSet::from([one]));
    Accepts {
        context: criteria.context,
        sources: only(criteria.source, ACTORS),
        tags: only(criteria.tag.map(|tag| tag as u32), TAGS),
    }
}
