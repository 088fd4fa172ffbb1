//! Leader election by votes (as in Raft: Ongaro and Ousterhout, In search of an understandable consensus algorithm, USENIX
//! ATC 2014): who hears nothing for a while stands for election in a new term, and leads it with the votes of most.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// How many nodes there are
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// How many of them may stand for election, if not all; the others only vote
    #[arg(long)]
    candidates: Option<u32>,
    /// How often a candidate stands before it gives up
    #[arg(long, default_value_t = 1)]
    attempts: u32,
    /// A candidate, too, votes for whoever asks, though it has voted for itself
    #[arg(long)]
    bug: bool,
}

enum Message {
    /// Will you vote for me?
    Stand { term: u32, candidate: u32 },
    /// Yes.
    Vote { term: u32 },
    /// I have the votes of most.
    Lead { term: u32 },
}

struct Node {
    number: u32,
    options: Options,
    /// The mailboxes of all nodes, by number.
    nodes: Vec<Mailbox<Message>>,
    /// How often it may still stand.
    attempts: u32,
    term: u32,
    /// Whether it has voted in this term.
    has_voted: bool,
    /// The votes for itself in this term, if it stands.
    votes: Option<u32>,
}

impl Node {
    fn new(ctx: &Ctx, number: u32, options: Options) -> Self {
        let stands = options.candidates.is_none_or(|candidates| number < candidates);
        Self {
            number,
            options,
            nodes: (0..options.nodes).map(|node| ctx.mailbox(&format!("node {node}"))).collect(),
            attempts: if stands { options.attempts } else { 0 },
            term: 0,
            has_voted: false,
            votes: None,
        }
    }

    /// Until there is a leader, or it gives up: gives the term that it leads, if it does.
    async fn elect(&mut self) -> simurgh::Result<Option<u32>> {
        loop {
            // The later ones are more patient.
            let patience = 1.0 + f64::from(self.number);
            match self.nodes[self.number as usize].recv().timeout(patience).await {
                Ok(Message::Stand { term, candidate }) => self.consider(term, candidate).await,
                Ok(Message::Vote { term }) => {
                    self.votes = self.votes.map(|votes| votes + u32::from(term == self.term));
                }
                Ok(Message::Lead { term }) if term >= self.term => return Ok(None),
                Ok(Message::Lead { .. }) => {}
                Err(error) if error.is_timeout() && self.attempts > 0 => self.stand().await,
                Err(error) if error.is_timeout() => return Ok(None),
                Err(error) => return Err(error),
            }
            if self.votes.is_some_and(|votes| 2 * votes > self.options.nodes) {
                self.tell_others(|| Message::Lead { term: self.term }).await;
                return Ok(Some(self.term));
            }
        }
    }

    /// Stands for election in a new term.
    async fn stand(&mut self) {
        self.attempts -= 1;
        self.begin(self.term + 1);
        self.votes = Some(1);
        self.has_voted = !self.options.bug;
        self.tell_others(|| Message::Stand { term: self.term, candidate: self.number }).await;
    }

    /// Votes for the first that asks in a term.
    async fn consider(&mut self, term: u32, candidate: u32) {
        if term > self.term {
            self.begin(term);
        }
        if term == self.term && !self.has_voted {
            self.has_voted = true;
            self.nodes[candidate as usize].send(Message::Vote { term }, 100.0).detach().await;
        }
    }

    fn begin(&mut self, term: u32) {
        self.term = term;
        self.has_voted = false;
        self.votes = None;
    }

    async fn tell_others(&self, message: impl Fn() -> Message) {
        for (_, node) in (0..).zip(&self.nodes).filter(|(other, _)| *other != self.number) {
            node.send(message(), 100.0).detach().await;
        }
    }
}

async fn node(ctx: Ctx, number: u32, options: Options) -> simurgh::Result {
    let term = Node::new(&ctx, number, options).elect().await?;
    ctx.mailbox(&format!("result {number}")).send(term, 100.0).detach().await;
    Ok(())
}

/// Asks all nodes what came of it: no term has two leaders.
async fn judge(ctx: Ctx, nodes: u32) -> simurgh::Result {
    let mut leaders = BTreeMap::new();
    for node in 0..nodes {
        let result: Option<u32> = ctx.mailbox(&format!("result {node}")).recv().await?;
        if let Some(term) = result {
            let first = *leaders.entry(term).or_insert(node);
            simurgh::check!(first == node, "nodes {first} and {node} both lead term {term}");
            ctx.say(format!("node {node} leads term {term}"));
        }
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = *options;
    for number in 0..options.nodes {
        let host = program.any_host()?;
        program.spawn(format!("node-{number}"), host, move |ctx| node(ctx, number, options))?;
    }
    let host = program.any_host()?;
    program.spawn("judge", host, move |ctx| judge(ctx, options.nodes))?;
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
