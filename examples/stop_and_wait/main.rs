//! Stop and wait (Bartlett, Scantlebury, Wilkinson: A note on reliable full-duplex transmission over half-duplex links, 1969):
//! items reach their receiver in order and once each, over a network that loses messages and delivers others twice.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// How many items are sent
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    items: u32,
    /// How often an item is sent again before its sender gives up
    #[arg(long, default_value_t = 1)]
    retries: u32,
    /// Both wait as long as it takes, and nothing is sent again
    #[arg(long, conflicts_with = "retries")]
    patient: bool,
    /// Labels are the number of the item modulo 2, as in 1969: right where messages keep their order
    #[arg(long)]
    bit: bool,
    /// There are no labels: whatever comes is taken for the next item
    #[arg(long, conflicts_with = "bit")]
    bug: bool,
}

impl Options {
    /// What tells an item from others.
    fn label(&self, item: u32) -> u32 {
        match (self.bug, self.bit) {
            (true, _) => 0,
            (_, true) => item % 2,
            _ => item,
        }
    }
}

/// How long the sender waits before it sends an item again, in seconds.
const PATIENCE: f64 = 1.0;

/// After so long a silence the receiver takes all to be over, in seconds.
const SILENCE: f64 = 10.0;

/// An item, with its label.
#[derive(Clone)]
struct Frame {
    label: u32,
    item: u32,
}

/// A frame with this label has come.
#[derive(Clone)]
struct Ack(u32);

async fn sender(ctx: Ctx, options: Options) -> simurgh::Result {
    let (frames, acks) = (ctx.mailbox("frames"), ctx.mailbox("acks"));
    for item in 0..options.items {
        let label = options.label(item);
        let mut sent = 0;
        loop {
            frames.send(Frame { label, item }, 1e3).repeatable().detach().await;
            sent += 1;
            if is_acknowledged(&acks, label, options.patient).await? {
                break;
            }
            if sent > options.retries {
                ctx.say(format!("nobody acknowledges item {item}"));
                return Ok(());
            }
        }
    }
    ctx.say(format!("all {} items have come", options.items));
    Ok(())
}

/// Waits for the acknowledgement of a label. Others are of frames that came before.
async fn is_acknowledged(acks: &Mailbox<Ack>, label: u32, patient: bool) -> simurgh::Result<bool> {
    loop {
        let ack = if patient { acks.recv().await } else { acks.recv().timeout(PATIENCE).await };
        match ack {
            Ok(Ack(acknowledged)) if acknowledged == label => return Ok(true),
            Ok(_) => {}
            Err(error) if error.is_timeout() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Accepts each item once, and acknowledges whatever comes: the acknowledgement before may have been lost.
async fn receiver(ctx: Ctx, options: Options) -> simurgh::Result {
    let (frames, acks) = (ctx.mailbox::<Frame>("frames"), ctx.mailbox("acks"));
    let mut accepted = 0;
    while !options.patient || accepted < options.items {
        let frame = if options.patient { frames.recv().await } else { frames.recv().timeout(SILENCE).await };
        let Frame { label, item } = match frame {
            Err(error) if error.is_timeout() => break,
            frame => frame?,
        };
        if label == options.label(accepted) {
            simurgh::check!(item == accepted, "item {item} was taken for item {accepted}");
            accepted += 1;
        }
        acks.send(Ack(label), 100.0).repeatable().detach().await;
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = *options;
    let host = program.any_host()?;
    program.spawn("sender", host, move |ctx| sender(ctx, options))?;
    let host = program.any_host()?;
    program.spawn("receiver", host, move |ctx| receiver(ctx, options))?;
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
