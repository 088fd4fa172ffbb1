//! A master hands out tasks to workers of different speeds; whoever is free takes the next one.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::platform::Routing;
use simurgh::prelude::*;
use simurgh::{App, clap};

#[derive(clap::Args)]
struct Options {
    /// How many workers there are, each faster than the one before
    #[arg(long, default_value_t = 4)]
    hands: u32,
    /// How many tasks there are
    #[arg(long, default_value_t = 50)]
    tasks: u32,
    /// What a task costs on the average
    #[arg(long, default_value_t = 2e9)]
    flops: f64,
    /// How many bytes go with a task
    #[arg(long, default_value_t = 5e6)]
    bytes: f64,
}

/// What a task is about.
enum Order {
    Work,
    Stop,
}

/// What a worker says when it has stopped.
struct Account {
    worker: u32,
    done: u32,
    busy: f64,
}

/// All workers receive from one mailbox, so that a task goes to whoever has waited longest.
const TASKS: &str = "tasks";
const ACCOUNTS: &str = "accounts";

async fn master(ctx: Ctx, workers: u32, tasks: u32, flops: f64, bytes: f64) -> simurgh::Result {
    let mailbox = ctx.mailbox(TASKS);
    let mut random = ctx.random();
    for number in 0..tasks {
        let flops = flops * (0.5 + random.next_f64());
        Task::with_data(format!("task {number}"), flops, bytes, Order::Work).send_to(&mailbox).await?;
    }
    ctx.say(format!("all {tasks} tasks are handed out"));
    for _ in 0..workers {
        Task::with_data("stop", 0.0, 0.0, Order::Stop).send_to(&mailbox).await?;
    }
    let mut accounts: Vec<Account> = Vec::new();
    for _ in 0..workers {
        accounts.push(ctx.mailbox(ACCOUNTS).recv().await?);
    }
    accounts.sort_by_key(|account| account.worker);
    for Account { worker, done, busy } in accounts {
        let percent = 100.0 * busy / ctx.now();
        ctx.say(format!("worker-{worker} did {done:>2} tasks and computed {percent:.0} % of the time"));
    }
    Ok(())
}

async fn worker(ctx: Ctx, worker: u32) -> simurgh::Result {
    let mailbox = ctx.mailbox::<Task<Order>>(TASKS);
    let (mut done, mut busy) = (0, 0.0);
    loop {
        let task = mailbox.recv().await?;
        if matches!(task.data, Order::Stop) {
            return ctx.mailbox(ACCOUNTS).send(Account { worker, done, busy }, 100.0).await;
        }
        let begin = ctx.now();
        task.execute(&ctx).await?;
        busy += ctx.now() - begin;
        done += 1;
    }
}

/// The master's host in the middle, and around it workers of 1 Gf, 2 Gf, 3 Gf...
fn platform(options: &Options) -> simurgh::Result<Platform> {
    let mut builder = Platform::builder();
    let zone = builder.zone("office", Routing::Star);
    let centre = builder.host(zone, "centre", 1e9).id();
    builder.star(zone, centre, &[]);
    for worker in 0..options.hands {
        let host = builder.host(zone, &format!("desk-{worker}"), f64::from(worker + 1) * 1e9).id();
        let cable = builder.link(zone, &format!("cable-{worker}"), 125e6, 100e-6).id();
        builder.star(zone, host, &[cable]);
    }
    Ok(builder.build()?)
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { hands: workers, tasks, flops, bytes } = *options;
    let host = program.any_host()?;
    program.spawn("master", host, move |ctx| master(ctx, workers, tasks, flops, bytes))?;
    for number in 0..workers {
        let host = program.any_host()?;
        program.spawn(format!("worker-{number}"), host, move |ctx| worker(ctx, number))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
