//! Mutual exclusion by messages (Ricart and Agrawala: An optimal algorithm for mutual exclusion in computer networks,
//! Communications of the ACM 24(1), 1981): who wants the printer asks all the others, and whoever asked earlier lets the
//! others wait for their reply.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// How many nodes share the printer
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// How often each of them prints
    #[arg(long, default_value_t = 1)]
    prints: u32,
    /// Forgets to set its clock by the clocks of others
    #[arg(long)]
    bug: bool,
}

/// When a node asked, by the clock of its own: the smaller one goes first. Of two that are equal, the node decides.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    clock: u64,
    node: u32,
}

enum Message {
    /// May I print?
    Request(Stamp),
    /// You may, as far as I am concerned.
    Reply,
}

struct Node {
    ctx: Ctx,
    number: u32,
    bug: bool,
    /// The mailboxes of all nodes, by number.
    nodes: Vec<Mailbox<Message>>,
    /// The receive that is posted.
    incoming: ActivitySet<Message>,
    /// Whether it prints now, for all to see.
    printing: Exposed<bool>,
    /// The largest clock that it has seen.
    clock: u64,
    /// What it asked for, until it has printed.
    wish: Option<Stamp>,
    /// Those that wait for its reply.
    waiting: Vec<u32>,
    /// How many requests of others it has seen.
    requests: u32,
}

impl Node {
    fn new(ctx: Ctx, number: u32, printing: Exposed<bool>, options: Options) -> Self {
        Self {
            number,
            bug: options.bug,
            nodes: (0..options.nodes).map(|node| ctx.mailbox(&format!("node {node}"))).collect(),
            incoming: ActivitySet::new(),
            printing,
            clock: 0,
            wish: None,
            waiting: Vec::new(),
            requests: 0,
            ctx,
        }
    }

    /// Serves others until nobody asks for a while, or so many requests were seen.
    async fn serve(&mut self, patience: Option<f64>, requests: u32) -> simurgh::Result {
        while self.requests < requests {
            match self.next(patience).await? {
                Some(Message::Request(theirs)) => self.consider(theirs).await,
                Some(Message::Reply) => {}
                None => break,
            }
        }
        Ok(())
    }

    /// Asks all others, and waits until all have replied.
    async fn enter(&mut self) -> simurgh::Result {
        self.clock += 1;
        let stamp = Stamp { clock: self.clock, node: self.number };
        self.wish = Some(stamp);
        for node in self.others() {
            self.send(node, Message::Request(stamp)).await;
        }
        let mut missing = self.others().count();
        while missing > 0 {
            match self.next(None).await? {
                Some(Message::Request(theirs)) => self.consider(theirs).await,
                Some(Message::Reply) => missing -= 1,
                None => {}
            }
        }
        Ok(())
    }

    /// While it prints, it goes on listening.
    async fn print(&mut self) -> simurgh::Result {
        self.printing.set(true).await;
        self.ctx.say("prints");
        self.serve(Some(1.0), u32::MAX).await?;
        self.printing.set(false).await;
        Ok(())
    }

    /// Replies to those that had to wait.
    async fn leave(&mut self) {
        self.wish = None;
        for node in std::mem::take(&mut self.waiting) {
            self.send(node, Message::Reply).await;
        }
    }

    /// Replies at once to who goes first, and to the others when it has printed.
    async fn consider(&mut self, theirs: Stamp) {
        self.requests += 1;
        if !self.bug {
            self.clock = self.clock.max(theirs.clock);
        }
        if self.wish.is_none_or(|mine| theirs < mine) {
            self.send(theirs.node, Message::Reply).await;
        } else {
            self.waiting.push(theirs.node);
        }
    }

    /// The next message, or nothing for so many seconds. The receive stays posted then: what comes later is not lost.
    async fn next(&mut self, patience: Option<f64>) -> simurgh::Result<Option<Message>> {
        if self.incoming.is_empty() {
            self.incoming.push(self.nodes[self.number as usize].recv().start().await);
        }
        let waiting = match patience {
            Some(seconds) => self.incoming.wait_any_for(seconds),
            None => self.incoming.wait_any(),
        };
        match waiting.await {
            Ok((_, message)) => Ok(Some(message)),
            Err(error) if error.is_timeout() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn send(&self, node: u32, message: Message) {
        self.nodes[node as usize].send(message, 100.0).detach().await;
    }

    fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let (count, mine) = (self.nodes.len() as u32, self.number);
        (0..count).filter(move |&node| node != mine)
    }
}

async fn live(mut node: Node, prints: u32) -> simurgh::Result {
    for _ in 0..prints {
        // At first it has no wish of its own, the later ones for longer.
        node.serve(Some(0.1 * f64::from(node.number + 1)), u32::MAX).await?;
        node.enter().await?;
        node.print().await?;
        node.leave().await;
    }
    // The others may still ask.
    let all = prints * node.others().count() as u32;
    node.serve(None, all).await
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = *options;
    let mut all = Vec::new();
    for number in 0..options.nodes {
        let printing = program.exposed(format!("node-{number} prints"), false);
        all.push(printing);
        let host = program.any_host()?;
        program.spawn(format!("node-{number}"), host, move |ctx| {
            live(Node::new(ctx, number, printing, options), options.prints)
        })?;
    }
    program.invariant("one at a time", all, |prints| prints.iter().filter(|&&prints| prints).count() <= 1);
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
