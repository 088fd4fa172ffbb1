//! A node of Kademlia (Maymounkov, Mazières: Kademlia: a peer-to-peer information system based on the XOR metric, IPTPS
//! 2002): contacts in buckets by distance, and lookups that ask several nodes at once.

use std::collections::BTreeMap;

use simurgh::Error;
use simurgh::prelude::*;

use crate::account::{Account, Lookup};
use crate::table::{Id, K, Table};

/// How many nodes a lookup asks at once.
const ALPHA: usize = 3;
/// How long an answer may take.
const PATIENCE: f64 = 2.0;
/// How often a node looks something up, and refreshes one of its buckets.
const LOOKUP_PERIOD: f64 = 20.0;
const REFRESH_PERIOD: f64 = 30.0;
/// How many receives are posted: as many messages can be under way to a node at once.
const RECEIVES: usize = 8;

/// What nodes say to each other.
pub enum Message {
    /// FIND_NODE: who is nearest to this?
    Find { from: Id, number: u64, target: Id },
    /// These are the nearest that are known.
    Found { from: Id, number: u64, nearest: Vec<Id> },
}

impl Message {
    fn bytes(&self) -> f64 {
        match self {
            Message::Find { .. } => 60.0,
            Message::Found { nearest, .. } => 40.0 + 20.0 * nearest.len() as f64,
        }
    }
}

/// What a lookup knows of a node on its list.
#[derive(Copy, Clone, PartialEq)]
enum Standing {
    New,
    Asked { number: u64, until: f64 },
    Answered,
}

pub struct Node {
    ctx: Ctx,
    id: Id,
    end: f64,
    mailbox: Mailbox<Message>,
    incoming: ActivitySet<Message>,
    random: Random,
    table: Table,
    questions: u64,
    account: Account,
}

fn mailbox(id: Id) -> String {
    format!("node {id}")
}

impl Node {
    pub fn new(ctx: Ctx, id: Id, end: f64) -> Self {
        Self {
            id,
            end,
            mailbox: ctx.mailbox(&mailbox(id)),
            incoming: ActivitySet::new(),
            random: ctx.random(),
            table: Table::new(id),
            questions: 0,
            account: Account::default(),
            ctx,
        }
    }

    /// Joins, looks things up until the end, and gives account.
    pub async fn live(mut self, known: Option<Id>) -> simurgh::Result<Account> {
        if let Some(known) = known {
            self.join(known).await?;
        }
        let mut lookup = self.ctx.now() + LOOKUP_PERIOD * self.random.next_f64();
        let mut refresh = self.ctx.now() + REFRESH_PERIOD * self.random.next_f64();
        while self.ctx.now() < self.end {
            if let Some(message) = self.next_message(lookup.min(refresh).min(self.end)).await? {
                self.serve(message).await;
            } else if self.ctx.now() >= lookup {
                self.look_something_up().await?;
                lookup = self.ctx.now() + LOOKUP_PERIOD;
            } else if self.ctx.now() >= refresh {
                let lowest = self.table.lowest();
                let buckets = (self.table.buckets() - lowest).max(1);
                let bucket = lowest + self.random.below(buckets as u64) as usize;
                self.refresh(bucket).await?;
                refresh = self.ctx.now() + REFRESH_PERIOD;
            }
        }
        self.account.contacts = self.table.len();
        Ok(self.account)
    }

    /// Looks itself up, by which it learns of its neighbours and they of it, then something in each bucket that is
    /// farther away.
    async fn join(&mut self, known: Id) -> simurgh::Result {
        while self.table.len() == 0 && self.ctx.now() < self.end {
            self.table.heard_of(known);
            self.find(self.id).await?;
        }
        for bucket in self.table.lowest() + 1..self.table.buckets() {
            self.refresh(bucket).await?;
        }
        Ok(())
    }

    async fn refresh(&mut self, bucket: usize) -> simurgh::Result {
        if bucket < self.table.buckets() {
            let target = self.table.inside(bucket, self.random.next_u64());
            self.find(target).await?;
        }
        Ok(())
    }

    async fn look_something_up(&mut self) -> simurgh::Result {
        let target = Id(self.random.next_u64());
        let (begin, asked) = (self.ctx.now(), self.questions);
        let mut found = self.find(target).await?;
        if self.ctx.now() < self.end {
            // Who looks something up may be one of the nearest itself.
            found.push(self.id);
            found.sort_by_key(|id| id.distance(target));
            found.truncate(K);
            let (end, questions) = (self.ctx.now(), self.questions - asked);
            self.account.lookups.push(Lookup { target, begin, end, questions, found });
        }
        Ok(())
    }

    /// Finds the nodes nearest to a target (section 2.3): asks the nearest that are known, some at once, and those that
    /// they name, until the nearest of all have answered.
    async fn find(&mut self, target: Id) -> simurgh::Result<Vec<Id>> {
        let mut list: BTreeMap<u64, (Id, Standing)> = BTreeMap::new();
        for id in self.table.nearest(target) {
            list.insert(id.distance(target), (id, Standing::New));
        }
        while self.ctx.now() < self.end {
            self.ask_some(target, &mut list).await;
            let Some(until) = self.earliest(&list) else { break };
            match self.next_message(until.min(self.end)).await? {
                Some(Message::Found { from, number, nearest }) => {
                    self.table.heard_of(from);
                    let Some((_, standing)) = list.get_mut(&from.distance(target)) else { continue };
                    // The answer to a question that was given up counts for nothing.
                    if matches!(standing, Standing::Asked { number: n, .. } if *n == number) {
                        *standing = Standing::Answered;
                        for id in nearest.into_iter().filter(|&id| id != self.id) {
                            list.entry(id.distance(target)).or_insert((id, Standing::New));
                        }
                    }
                }
                Some(message) => self.serve(message).await,
                None => self.give_up(&mut list),
            }
        }
        Ok(list.values().filter(|(_, standing)| *standing == Standing::Answered).map(|(id, _)| *id).collect())
    }

    /// Asks the nearest new ones among the first of the list, as long as few have been asked and have not answered.
    async fn ask_some(&mut self, target: Id, list: &mut BTreeMap<u64, (Id, Standing)>) {
        let asked = |standing: &Standing| matches!(standing, Standing::Asked { .. });
        let mut under_way = list.values().filter(|(_, standing)| asked(standing)).count();
        for (id, standing) in list.values_mut().take(K) {
            if under_way >= ALPHA {
                break;
            }
            if *standing == Standing::New {
                self.questions += 1;
                let number = self.questions;
                *standing = Standing::Asked { number, until: self.ctx.now() + PATIENCE };
                self.send(*id, Message::Find { from: self.id, number, target }).await;
                under_way += 1;
            }
        }
    }

    /// The date until which the next answer should be there, if one is waited for.
    fn earliest(&self, list: &BTreeMap<u64, (Id, Standing)>) -> Option<f64> {
        let dates = list.values().filter_map(|(_, standing)| match standing {
            Standing::Asked { until, .. } => Some(*until),
            Standing::New | Standing::Answered => None,
        });
        dates.reduce(f64::min)
    }

    /// Forgets those that have not answered in time.
    fn give_up(&mut self, list: &mut BTreeMap<u64, (Id, Standing)>) {
        let now = self.ctx.now();
        list.retain(|_, (id, standing)| {
            let late = matches!(standing, Standing::Asked { until, .. } if *until <= now);
            if late {
                self.account.timeouts += 1;
                self.table.forget(*id);
            }
            !late
        });
    }

    /// Does what a message wants, without waiting for anyone.
    async fn serve(&mut self, message: Message) {
        match message {
            Message::Find { from, number, target } => {
                let mut nearest = self.table.nearest(target);
                nearest.retain(|&id| id != from);
                self.table.heard_of(from);
                self.send(from, Message::Found { from: self.id, number, nearest }).await;
            }
            // To a question that was given up: at least it lives.
            Message::Found { from, .. } => self.table.heard_of(from),
        }
    }

    async fn send(&mut self, to: Id, message: Message) {
        self.account.messages += 1;
        let bytes = message.bytes();
        self.ctx.mailbox(&mailbox(to)).send(message, bytes).detach().await;
    }

    /// The next message, or nothing until a date.
    async fn next_message(&mut self, until: f64) -> simurgh::Result<Option<Message>> {
        loop {
            while self.incoming.len() < RECEIVES {
                self.incoming.push(self.mailbox.recv().start().await);
            }
            match self.incoming.wait_any_for((until - self.ctx.now()).max(0.0)).await {
                Ok((_, message)) => return Ok(Some(message)),
                Err(error) if error.is_timeout() => return Ok(None),
                // A message was lost on its way, and the receive that it was for with it.
                Err(Error::Member { index, .. }) => drop(self.incoming.remove(index)),
                Err(error) => return Err(error),
            }
        }
    }
}
