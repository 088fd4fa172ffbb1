//! A node of Chord (Stoica, Morris, Liben-Nowell, Karger, Kaashoek, Dabek, Balakrishnan: Chord, IEEE/ACM Transactions on
//! Networking 11(1), 2003), with iterative lookups and a list of successors.
//!
//! A node is an actor with one mailbox. It never waits without serving what comes in: while it waits for an answer, it
//! answers the questions of others, none of which makes it wait for anyone.

use simurgh::Error;
use simurgh::prelude::*;

use crate::account::{Account, Lookup};
use crate::message::{Answer, Message, Question};
use crate::ring::Id;

/// How many successors a node knows, so that as many may fail at once, but one.
const SUCCESSORS: usize = 4;
/// How long an answer may take.
const PATIENCE: f64 = 2.0;
/// How many silent nodes a lookup goes around before it is given up.
const SILENT_MAX: usize = 4;

/// What a node does from time to time, and how often.
#[derive(Copy, Clone)]
enum Duty {
    Stabilise,
    FixFinger,
    CheckPredecessor,
    Lookup,
}

const DUTIES: [(Duty, f64); 4] =
    [(Duty::Stabilise, 10.0), (Duty::FixFinger, 5.0), (Duty::CheckPredecessor, 15.0), (Duty::Lookup, 10.0)];

/// What all nodes know.
#[derive(Copy, Clone)]
pub struct Rules {
    /// The ring has 2^bits places.
    pub bits: u32,
    /// When all is over.
    pub end: f64,
    /// How often a node waits in vain before all is over for it: where time is abstract, there is no other end.
    pub timeouts: Option<u32>,
    /// Takes the next message for the answer, whatever it is, as the implementation of 2011 did.
    pub bug: bool,
    /// How many receives a node keeps posted, so that as many messages can be under way to it at once.
    pub receives: usize,
}

/// How a node comes, and how it goes.
#[derive(Copy, Clone)]
pub struct Life {
    /// Where it is on the ring.
    pub id: Id,
    /// A node that is there; the first one knows none.
    pub known: Option<Id>,
    /// When it leaves, if it does.
    pub leaves: Option<f64>,
}

pub struct Node {
    ctx: Ctx,
    rules: Rules,
    id: Id,
    mailbox: Mailbox<Message>,
    /// The receives that are posted.
    incoming: ActivitySet<Message>,
    random: Random,
    predecessor: Option<Id>,
    /// The nearest first; empty when the node is alone.
    successors: Vec<Id>,
    /// The owner of the place 2^i further, as far as it is known.
    fingers: Vec<Option<Id>>,
    next_finger: u32,
    questions: u64,
    /// How often it has waited in vain.
    timeouts: u32,
    account: Account,
}

/// The name of the mailbox of a node.
fn mailbox(id: Id) -> String {
    format!("node {id}")
}

impl Node {
    pub fn new(ctx: Ctx, rules: Rules, id: Id) -> Self {
        Self {
            rules,
            id,
            mailbox: ctx.mailbox(&mailbox(id)),
            incoming: ActivitySet::new(),
            random: ctx.random(),
            predecessor: None,
            successors: Vec::new(),
            fingers: vec![None; rules.bits as usize],
            next_finger: 0,
            questions: 0,
            timeouts: 0,
            account: Account::new(id),
            ctx,
        }
    }

    /// Joins, does its duties until it leaves or all is over, and gives account.
    pub async fn live(mut self, life: Life) -> simurgh::Result<Account> {
        if let Some(known) = life.known {
            self.join(known).await?;
        }
        let end = life.leaves.unwrap_or(self.rules.end);
        let mut dates = self.first_dates();
        loop {
            let (next, date) = dates
                .iter()
                .copied()
                .enumerate()
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .unwrap_or((0, f64::INFINITY));
            if let Some(message) = self.next_message(date.min(end)).await? {
                self.serve(message).await;
            } else if self.is_over() || self.ctx.now() >= end {
                break;
            } else {
                let (duty, period) = DUTIES[next];
                self.do_duty(duty).await?;
                dates[next] = (date + period).max(self.ctx.now());
            }
        }
        if life.leaves.is_some() {
            self.leave().await;
        }
        self.account.settle(self.predecessor, &self.successors, self.fingers);
        Ok(self.account)
    }

    /// When each duty is done first. Not all nodes do the same at the same time; without dates, the duties take turns.
    fn first_dates(&mut self) -> Vec<f64> {
        let begin = self.ctx.now();
        let spread = if self.rules.timeouts.is_none() { 1.0 } else { 0.0 };
        DUTIES.iter().map(|(_, period)| begin + spread * period * self.random.next_f64()).collect()
    }

    /// Whether it is too late to begin anything.
    fn is_over(&self) -> bool {
        self.ctx.now() >= self.rules.end || self.rules.timeouts.is_some_and(|most| self.timeouts >= most)
    }

    async fn do_duty(&mut self, duty: Duty) -> simurgh::Result {
        match duty {
            Duty::Stabilise => self.stabilise().await,
            Duty::FixFinger => self.fix_finger().await,
            Duty::CheckPredecessor => self.check_predecessor().await,
            Duty::Lookup => self.look_something_up().await,
        }
    }

    /// Section IV-E.1: the new node asks someone for its successor, and stabilisation does the rest.
    async fn join(&mut self, known: Id) -> simurgh::Result {
        while !self.is_over() {
            if let Some((owner, _)) = self.find(known, self.id).await?
                && owner != self.id
            {
                self.successors = vec![owner];
                return self.stabilise().await;
            }
        }
        Ok(())
    }

    /// Asks the successor who is before it: a node that came in between is the better successor, and is asked at once in
    /// its turn, so that many nodes that come at one time do not take as many rounds.
    async fn stabilise(&mut self) -> simurgh::Result {
        while let Some(&successor) = self.successors.first() {
            let answer = self.ask(successor, Question::Neighbours).await?;
            let Some(Answer::Neighbours { predecessor, successors }) = answer else { break };
            self.succeed(successor, &successors);
            match predecessor.filter(|other| other.is_between(self.id, successor)) {
                Some(between) => {
                    self.successors.insert(0, between);
                    self.successors.truncate(SUCCESSORS);
                }
                None => {
                    self.send(successor, Message::Notify { from: self.id }).await;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes a node and those that follow it as its successors.
    fn succeed(&mut self, first: Id, others: &[Id]) {
        // The list of a small ring comes round to this node itself.
        let list = std::iter::once(first).chain(others.iter().copied());
        self.successors = list.take_while(|&id| id != self.id).take(SUCCESSORS).collect();
    }

    /// Looks up who owns the beginning of one finger, the next one each time.
    async fn fix_finger(&mut self) -> simurgh::Result {
        let finger = self.next_finger;
        self.next_finger = (finger + 1) % self.rules.bits;
        let found = self.find(self.id, self.id.plus(finger, self.rules.bits)).await?;
        if !self.is_over() {
            self.fingers[finger as usize] = found.map(|(owner, _)| owner);
        }
        Ok(())
    }

    /// A predecessor that does not answer is forgotten, so that another can take its place.
    async fn check_predecessor(&mut self) -> simurgh::Result {
        if let Some(predecessor) = self.predecessor {
            self.ask(predecessor, Question::Ping).await?;
        }
        Ok(())
    }

    async fn look_something_up(&mut self) -> simurgh::Result {
        let key = Id(self.random.next_u64() >> (64 - self.rules.bits));
        let begin = self.ctx.now();
        let found = self.find(self.id, key).await?;
        let end = self.ctx.now();
        // What was cut short by the end is neither right nor wrong.
        if found.is_some() || !self.is_over() {
            let (owner, hops) = found.unzip();
            self.account.lookups.push(Lookup { key, begin, end, owner, hops: hops.unwrap_or(0) });
        }
        Ok(())
    }

    /// Finds the owner of a key, and in how many hops: asks one node after the other, each closer to the key. From a
    /// node that does not answer it goes back to the one that named it, and asks for another way.
    async fn find(&mut self, start: Id, key: Id) -> simurgh::Result<Option<(Id, u32)>> {
        let mut path = vec![start];
        let mut silent = Vec::new();
        let mut hops = 0;
        while let Some(&at) = path.last() {
            let answer = if at == self.id {
                Some(self.route(key, &silent))
            } else {
                hops += 1;
                self.ask(at, Question::Route { key, silent: silent.clone() }).await?
            };
            match answer {
                Some(Answer::Owner(owner)) => return Ok(Some((owner, hops))),
                // A ring that is being repaired could send it round for ever.
                Some(Answer::Closer(_)) if hops > 2 * self.rules.bits => break,
                Some(Answer::Closer(next)) => path.push(next),
                Some(_) => break,
                None => {
                    silent.push(at);
                    path.pop();
                    if silent.len() > SILENT_MAX || self.is_over() {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// What this node knows about a key: its owner, or the known node that most closely precedes it.
    fn route(&self, key: Id, silent: &[Id]) -> Answer {
        let fine = |id: &Id| !silent.contains(id);
        let successor = self.successors.iter().copied().find(fine).unwrap_or(self.id);
        if key.is_in(self.id, successor) {
            return Answer::Owner(successor);
        }
        let known = self.fingers.iter().flatten().chain(&self.successors).copied();
        let closest = known
            .filter(|id| fine(id) && id.is_between(self.id, key))
            .reduce(|best, id| if id.is_between(best, key) { id } else { best });
        Answer::Closer(closest.unwrap_or(successor))
    }

    /// Tells its neighbours of each other.
    async fn leave(&mut self) {
        let message = Message::Leave {
            from: self.id,
            predecessor: self.predecessor,
            successors: self.successors.clone(),
        };
        for neighbour in self.predecessor.into_iter().chain(self.successors.first().copied()) {
            self.send(neighbour, message.clone()).await;
        }
    }

    /// Does what a message wants, without waiting for anyone.
    async fn serve(&mut self, message: Message) {
        match message {
            Message::Ask { from, number, question } => {
                let answer = match question {
                    Question::Route { key, silent } => self.route(key, &silent),
                    Question::Neighbours => Answer::Neighbours {
                        predecessor: self.predecessor,
                        successors: self.successors.clone(),
                    },
                    Question::Ping => Answer::Here,
                };
                self.send(from, Message::Answer { number, answer }).await;
            }
            // To a question that was given up.
            Message::Answer { .. } => {}
            Message::Notify { from } => {
                if self.predecessor.is_none_or(|predecessor| from.is_between(predecessor, self.id)) {
                    self.predecessor = Some(from);
                }
                if self.successors.is_empty() {
                    self.successors.push(from);
                }
            }
            Message::Leave { from, predecessor, successors } => {
                let (was_before, was_next) =
                    (self.predecessor == Some(from), self.successors.first() == Some(&from));
                self.forget(from);
                if was_before {
                    self.predecessor = predecessor.filter(|&id| id != self.id);
                }
                if was_next && let Some((&first, others)) = successors.split_first() {
                    self.succeed(first, others);
                }
            }
        }
    }

    /// A node that is gone, or seems to be.
    fn forget(&mut self, gone: Id) {
        self.successors.retain(|&id| id != gone);
        self.predecessor = self.predecessor.filter(|&id| id != gone);
        for finger in &mut self.fingers {
            *finger = finger.filter(|&id| id != gone);
        }
        if self.successors.is_empty() {
            // The nearest of those that are left; stabilisation leads back from there.
            let known = self.fingers.iter().flatten().copied().chain(self.predecessor);
            let left = known.into_iter().find(|&id| id != self.id);
            self.successors.extend(left);
        }
    }

    /// Asks, and waits for the answer, serving others meanwhile. Who does not answer in time is forgotten.
    async fn ask(&mut self, whom: Id, question: Question) -> simurgh::Result<Option<Answer>> {
        self.questions += 1;
        let number = self.questions;
        let asked = question.clone();
        self.send(whom, Message::Ask { from: self.id, number, question }).await;
        let until = (self.ctx.now() + PATIENCE).min(self.rules.end);
        while let Some(message) = self.next_message(until).await? {
            match message {
                Message::Answer { number: n, answer } if n == number => return Ok(Some(answer)),
                // To a question that was given up.
                Message::Answer { .. } => {}
                other => {
                    // The assertion of 2011: what comes is the answer. With the bug, nothing else is expected.
                    simurgh::check!(
                        !self.rules.bug,
                        "node {} takes {other:?} for the answer to {asked:?}",
                        self.id
                    );
                    self.serve(other).await;
                }
            }
        }
        if !self.is_over() {
            self.account.timeouts += 1;
            self.forget(whom);
        }
        Ok(None)
    }

    /// Sends, and does not wait: whoever is gone receives nothing.
    async fn send(&mut self, to: Id, message: Message) {
        self.account.messages += 1;
        let bytes = message.bytes();
        self.ctx.mailbox(&mailbox(to)).send(message, bytes).detach().await;
    }

    /// The next message, or nothing until a date.
    async fn next_message(&mut self, until: f64) -> simurgh::Result<Option<Message>> {
        loop {
            while self.incoming.len() < self.rules.receives {
                self.incoming.push(self.mailbox.recv().start().await);
            }
            match self.incoming.wait_any_for((until - self.ctx.now()).max(0.0)).await {
                Ok((_, message)) => return Ok(Some(message)),
                Err(error) if error.is_timeout() => {
                    self.timeouts += 1;
                    return Ok(None);
                }
                // A message was lost on its way, and the receive that it was for with it.
                Err(Error::Member { index, .. }) => drop(self.incoming.remove(index)),
                Err(error) => return Err(error),
            }
        }
    }
}
