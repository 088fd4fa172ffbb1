//! Random programs of posts, waits and tests, played by a coroutine that tells what it asks and is answered.

use std::sync::{Arc, Mutex};

use simurgh_explore::{Actors, Network};
use simurgh_kernel::context::{Body, Coroutine, Ending, Port};
use simurgh_kernel::ids::{ActivityId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::{
    ActivitySet, Answer, Criteria, Envelope, Failure, Follow, Note, OnTimeout, RecvRequest, SendRequest,
    Simcall, SpawnRequest,
};
use simurgh_platform::HostId;

use super::data::{ACTORS, CONTEXTS, MAILBOXES, Post, TAGS};

/// What an actor does next. A mask says which of the posts that it may still ask about are meant.
#[derive(Copy, Clone, Debug)]
enum Op {
    Send(u32, Envelope, Follow),
    Recv(u32, Criteria, Follow),
    Wait { mask: u32, timed: bool, on_timeout: OnTimeout, release: bool },
    Test { mask: u32 },
    Choose(u32),
    Cancel { which: usize },
    Forget { which: usize },
    Probe(u32, Criteria),
}

/// What each actor does.
#[derive(Clone, Debug)]
pub struct Program(Vec<Vec<Op>>);

impl Program {
    /// A program that a seed gives.
    pub fn random(seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        // One program in three is not choosy, so that there is more to meet.
        let choosy = random.below(3) != 0;
        let actors = (0..ACTORS).map(|me| {
            let length = random.below(6);
            let ops = (0..length).map(|_| operation(&mut random, me, choosy));
            // What was taken back is asked about now and then, to hear that it has failed.
            ops.flat_map(|op| [Some(op), matches!(op, Op::Cancel { .. }).then_some(Op::Test { mask: 7 })])
                .flatten()
                .collect()
        });
        Self(actors.collect())
    }

    /// The program as a system, and what its actors tell.
    pub fn system(&self, network: Network) -> (Played, Reports) {
        let reports: Reports = (0..self.0.len()).map(|_| Arc::default()).collect();
        let (program, told) = (self.clone(), reports.clone());
        let system = Actors::new(
            network,
            Box::new(move |kernel: &mut Kernel| {
                for (me, (ops, report)) in program.0.iter().zip(&told).enumerate() {
                    let body = Body::Coroutine(Box::new(Player::new(me as u32, ops.clone(), report.clone())));
                    kernel.spawn(SpawnRequest::new(String::new(), HostId::from_index(0), body));
                }
            }) as Box<dyn FnMut(&mut Kernel)>,
        );
        (system, reports)
    }
}

/// A program as a system.
pub type Played = Actors<Box<dyn FnMut(&mut Kernel)>>;

/// What each actor tells.
pub type Reports = Vec<Arc<Mutex<Report>>>;

fn operation(random: &mut Random, me: u32, choosy: bool) -> Op {
    let mailbox = random.below(u64::from(MAILBOXES)) as u32;
    let mut rarely = |below: u32| {
        if choosy && random.below(3) == 0 { Some(random.below(u64::from(below)) as u32) } else { None }
    };
    let context = rarely(CONTEXTS).unwrap_or(0);
    let (source, tag) = (rarely(ACTORS), rarely(TAGS));
    let criteria = Criteria { context, source, tag: tag.map(|tag| tag as i32) };
    let envelope = Envelope { context, source: me, tag: tag.unwrap_or(0) as i32 };
    let mask = 1 + random.below(7) as u32;
    let which = random.below(4) as usize;
    let keep = [OnTimeout::Keep, OnTimeout::GiveUp][random.below(2) as usize];
    match random.below(24) {
        0..3 => Op::Send(mailbox, envelope, Follow::Return),
        3..5 => Op::Send(mailbox, envelope, Follow::Detach),
        5..7 => Op::Send(mailbox, envelope, Follow::Wait(None)),
        7 => Op::Send(mailbox, envelope, Follow::Wait(Some(1.0))),
        8..11 => Op::Recv(mailbox, criteria, Follow::Return),
        11..13 => Op::Recv(mailbox, criteria, Follow::Wait(None)),
        13 => Op::Recv(mailbox, criteria, Follow::Wait(Some(1.0))),
        14..17 => Op::Wait { mask, timed: false, on_timeout: keep, release: random.below(2) == 0 },
        17 => Op::Wait { mask, timed: true, on_timeout: keep, release: random.below(2) == 0 },
        18..20 => Op::Test { mask },
        20 => Op::Choose(1 + random.below(3) as u32),
        21 => Op::Cancel { which },
        22 => Op::Forget { which },
        _ => Op::Probe(mailbox, criteria),
    }
}

/// The last answer to an actor, as it saw it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Raw {
    Silence,
    Activity,
    Ready,
    Completed(u32, Result<Option<Post>, Failure>),
    Nothing,
    Chosen(u32),
    Probed(Option<Envelope>),
    Other,
}

/// What an actor tells.
#[derive(Clone, Debug)]
pub struct Report {
    pub answer: Raw,
    /// The posts that it asks about, in the order in which it names them.
    pub about: Vec<Post>,
}

impl Default for Report {
    fn default() -> Self {
        Self { answer: Raw::Silence, about: Vec::new() }
    }
}

struct Player {
    me: u32,
    ops: std::vec::IntoIter<Op>,
    /// How many posts it has made.
    posts: u32,
    /// The posts that it may ask about.
    open: Vec<(Post, ActivityId)>,
    asked: Option<Op>,
    report: Arc<Mutex<Report>>,
}

impl Player {
    fn new(me: u32, ops: Vec<Op>, report: Arc<Mutex<Report>>) -> Self {
        Self { me, ops: ops.into_iter(), posts: 0, open: Vec::new(), asked: None, report }
    }

    fn digest(&mut self, answer: Answer) {
        let raw = match answer {
            Answer::Activity(_) => Raw::Activity,
            Answer::Ready => Raw::Ready,
            Answer::Completed { index, ref message } => {
                let name = |post: &Box<dyn std::any::Any + Send>| {
                    *post.downcast_ref::<Post>().expect("messages are names")
                };
                Raw::Completed(index, Ok(message.as_ref().map(name)))
            }
            Answer::Failed { index, failure } => Raw::Completed(index, Err(failure)),
            Answer::Nothing => Raw::Nothing,
            Answer::Chosen(number) => Raw::Chosen(number),
            Answer::Probed(ref found) => Raw::Probed(found.as_ref().map(|found| found.0)),
            _ => Raw::Other,
        };
        let mut report = self.report.lock().expect("nobody panics with it");
        report.answer = raw;
        match (self.asked.take(), answer) {
            (Some(Op::Send(..) | Op::Recv(..)), answer) => {
                if let Answer::Activity(id) = answer {
                    self.open.push(((self.me, self.posts), id));
                }
                self.posts += 1;
            }
            (
                Some(Op::Wait { release: true, .. }),
                answer @ (Answer::Completed { index, .. } | Answer::Failed { index, .. }),
            ) => {
                // A wait that timed out has let go of its whole set.
                let gone = match answer {
                    answer if answer.is_timed_out() => report.about.clone(),
                    _ => vec![report.about[index as usize]],
                };
                self.open.retain(|(post, _)| !gone.contains(post));
            }
            _ => {}
        }
    }

    fn ask(&mut self, op: Op, notes: &mut Vec<Note>) -> Option<Simcall> {
        let name = (self.me, self.posts);
        let masked = |mask: u32| -> Vec<(Post, ActivityId)> {
            let chosen = self.open.iter().enumerate().filter(|(place, _)| mask >> (place % 3) & 1 == 1);
            chosen.map(|(_, open)| *open).collect()
        };
        let mut about = Vec::new();
        let simcall = match op {
            Op::Send(mailbox, envelope, follow) => {
                let (mailbox, payload) = (MailboxId(mailbox), Some(Box::new(name) as _));
                Simcall::Send(SendRequest { mailbox, bytes: 8.0, rate: None, envelope, payload }, follow)
            }
            Op::Recv(mailbox, criteria, follow) => {
                Simcall::Recv(RecvRequest { mailbox: MailboxId(mailbox), rate: None, criteria }, follow)
            }
            Op::Wait { mask, timed, on_timeout, release } => {
                about = masked(mask);
                let activities: ActivitySet = about.iter().map(|(_, id)| *id).collect();
                if activities.is_empty() {
                    return None;
                }
                Simcall::WaitAny { activities, timeout: timed.then_some(1.0), on_timeout, release }
            }
            Op::Test { mask } => {
                about = masked(mask);
                Simcall::TestAny { activities: about.iter().map(|(_, id)| *id).collect() }
            }
            Op::Choose(n) => Simcall::Choose(n),
            Op::Cancel { which } => {
                about.push(*self.open.get(which)?);
                Simcall::Cancel(about[0].1)
            }
            Op::Forget { which } => {
                if which < self.open.len() {
                    notes.push(Note::Forget(self.open.remove(which).1));
                }
                return None;
            }
            Op::Probe(mailbox, criteria) => Simcall::Probe(MailboxId(mailbox), criteria),
        };
        self.report.lock().expect("nobody panics with it").about =
            about.iter().map(|(post, _)| *post).collect();
        Some(simcall)
    }
}

impl Coroutine for Player {
    fn resume(&mut self, port: &mut Port) -> Option<Ending> {
        if let Some(answer) = port.answer.take() {
            self.digest(answer);
        }
        loop {
            let Some(op) = self.ops.next() else { return Some(Ok(())) };
            if let Some(simcall) = self.ask(op, &mut port.notes) {
                self.asked = Some(op);
                port.simcall = Some(simcall);
                return None;
            }
        }
    }
}
