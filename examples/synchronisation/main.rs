//! A bakery: bakers put loaves onto a shelf that has room for a few, sellers take them. The shelf is in a mutex with two
//! condition variables, the ovens are a semaphore, and all open the shop together at a barrier.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many bakers there are
    #[arg(long, default_value_t = 3)]
    bakers: u32,
    /// How many sellers there are
    #[arg(long, default_value_t = 2)]
    sellers: u32,
    /// How many loaves each baker bakes
    #[arg(long, default_value_t = 4)]
    loaves: u32,
    /// How many loaves fit onto the shelf
    #[arg(long, default_value_t = 2)]
    room: usize,
    /// How many ovens there are
    #[arg(long, default_value_t = 2)]
    ovens: u32,
}

struct Loaf {
    baker: u32,
    number: u32,
}

/// What is on the shelf, and how many loaves are still to come.
struct Shelf {
    loaves: VecDeque<Loaf>,
    to_come: u32,
}

/// What all share. Each of these is a handle that can be cloned.
#[derive(Clone)]
struct Bakery {
    shelf: Mutex<Shelf>,
    room: usize,
    not_full: Condvar,
    not_empty: Condvar,
    ovens: Semaphore,
    opening: Barrier,
}

async fn baker(ctx: Ctx, bakery: Bakery, baker: u32, loaves: u32) -> simurgh::Result {
    ctx.sleep(0.25 * f64::from(baker)).await;
    if bakery.opening.wait_last().await {
        ctx.say("is the last to come: the shop opens");
    }
    for number in 0..loaves {
        bakery.ovens.acquire().await;
        ctx.execute(1e9).await?;
        bakery.ovens.release().await;
        let mut shelf = bakery.shelf.lock().await;
        while shelf.loaves.len() >= bakery.room {
            shelf = bakery.not_full.wait(shelf).await;
        }
        shelf.loaves.push_back(Loaf { baker, number });
        drop(shelf);
        bakery.not_empty.notify_one().await;
    }
    ctx.say(format!("has baked {loaves} loaves"));
    Ok(())
}

async fn seller(ctx: Ctx, bakery: Bakery) -> simurgh::Result {
    bakery.opening.wait().await;
    let mut sold = Vec::new();
    loop {
        let mut shelf = bakery.shelf.lock().await;
        while shelf.loaves.is_empty() && shelf.to_come > 0 {
            shelf = bakery.not_empty.wait(shelf).await;
        }
        let Some(loaf) = shelf.loaves.pop_front() else { break };
        shelf.to_come -= 1;
        let last = shelf.to_come == 0;
        drop(shelf);
        bakery.not_full.notify_one().await;
        if last {
            // Whoever still waits for a loaf waits in vain.
            bakery.not_empty.notify_all().await;
        }
        ctx.execute(1.5e9).await?;
        sold.push(format!("{}.{}", loaf.baker, loaf.number));
    }
    ctx.say(format!("has sold {} loaves: {}", sold.len(), sold.join(" ")));
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { bakers, sellers, loaves, room, ovens } = *options;
    let bakery = Bakery {
        shelf: program.mutex(Shelf { loaves: VecDeque::new(), to_come: bakers * loaves }),
        room,
        not_full: program.condvar(),
        not_empty: program.condvar(),
        ovens: program.semaphore(ovens),
        opening: program.barrier(bakers + sellers),
    };
    for number in 0..bakers {
        let (host, bakery) = (program.any_host()?, bakery.clone());
        program.spawn(format!("baker-{number}"), host, move |ctx| baker(ctx, bakery, number, loaves))?;
    }
    for number in 0..sellers {
        let (host, bakery) = (program.any_host()?, bakery.clone());
        program.spawn(format!("seller-{number}"), host, move |ctx| seller(ctx, bakery))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
