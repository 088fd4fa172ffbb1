//! Disks: accesses alone and together, then a storage server that reads what its clients ask for.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many clients the storage server has
    #[arg(long, default_value_t = 3)]
    clients: u32,
    /// How long the file is that each of them wants
    #[arg(long, default_value_t = 1e9)]
    bytes: f64,
}

/// What a client wants, and where it waits for it.
struct Wish {
    bytes: f64,
    answer_to: String,
}

/// What comes back.
struct Contents;

const SERVER: &str = "storage";
const BLOCK: f64 = 64e6;

/// Accesses alone and together on one disk (the built-in one reads 500 MB a second, writes 250 MB, and does no more
/// than 500 MB a second of both).
async fn measure(ctx: &Ctx) -> simurgh::Result {
    let disk = ctx.disk("disk")?;
    let begin = ctx.now();
    disk.read(1e9).await?;
    ctx.say(format!("1 GB read: {:.2} s", ctx.now() - begin));

    let begin = ctx.now();
    disk.write(1e9).await?;
    ctx.say(format!("1 GB written: {:.2} s", ctx.now() - begin));

    let begin = ctx.now();
    let mut reads = ActivitySet::new();
    for _ in 0..2 {
        reads.push(disk.read(1e9).start().await);
    }
    reads.wait_all().await?;
    ctx.say(format!("1 GB read twice at once: {:.2} s", ctx.now() - begin));

    let begin = ctx.now();
    let read = disk.read(1e9).start().await;
    let write = disk.write(1e9).start().await;
    read.wait().await?;
    let first = ctx.now() - begin;
    write.wait().await?;
    ctx.say(format!("1 GB read while 1 GB is written: {first:.2} s and {:.2} s", ctx.now() - begin));
    Ok(())
}

/// Answers wishes, each by an actor of its own, so that they share the disk and the network.
async fn server(ctx: Ctx) -> simurgh::Result {
    measure(&ctx).await?;
    let wishes = ctx.mailbox::<Wish>(SERVER);
    ctx.become_daemon().await;
    loop {
        let wish = wishes.recv().await?;
        let name = format!("reader for {}", wish.answer_to);
        ctx.spawn(name, ctx.host(), move |ctx| read_and_send(ctx, wish))?.await;
    }
}

/// Reads a block while the one before is on the network.
async fn read_and_send(ctx: Ctx, wish: Wish) -> simurgh::Result {
    let disk = ctx.disk("disk")?;
    let client = ctx.mailbox(&wish.answer_to);
    let mut left = wish.bytes;
    let mut sends = ActivitySet::new();
    while left > 0.0 {
        let block = left.min(BLOCK);
        disk.read(block).await?;
        left -= block;
        sends.push(client.send(Contents, block).start().await);
    }
    sends.wait_all().await?;
    Ok(())
}

async fn client(ctx: Ctx, number: u32, bytes: f64) -> simurgh::Result {
    let answer_to = format!("client-{number}");
    let answers = ctx.mailbox::<Contents>(&answer_to);
    ctx.mailbox(SERVER).send(Wish { bytes, answer_to }, 100.0).await?;
    let begin = ctx.now();
    let blocks = (bytes / BLOCK).ceil() as u64;
    for _ in 0..blocks {
        let Contents = answers.recv().await?;
    }
    ctx.say(format!("{:.0} MB in {blocks} blocks came in {:.2} s", bytes / 1e6, ctx.now() - begin));
    let begin = ctx.now();
    ctx.disk("disk")?.write(bytes).await?;
    ctx.say(format!("and are on its own disk {:.2} s later", ctx.now() - begin));
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { clients, bytes } = *options;
    let host = program.any_host()?;
    program.spawn("server", host, server)?;
    for number in 0..clients {
        let host = program.any_host()?;
        program.spawn(format!("client-{number}"), host, move |ctx| client(ctx, number, bytes))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
