//! Workers whose hosts fail, some of which come back; a master that gets all of its tasks done in spite of them.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::sync::Arc;

use simurgh::platform::{Profile, ProfileTarget, Routing};
use simurgh::prelude::*;
use simurgh::{App, Error, clap};

#[derive(clap::Args)]
struct Options {
    /// How many tasks there are, of about a second each
    #[arg(long, default_value_t = 20)]
    tasks: u32,
    /// How long the master waits for a worker before it gives its task to another
    #[arg(long, default_value_t = 4.0)]
    patience: f64,
}

/// When the hosts of the workers are off (0) and on (1). The last one fails for good.
const PROFILES: [&str; 4] = ["", "2.5 0\n 4.0 1\n", "1.2 0\n 2.2 1\n PERIODICITY 5.0\n", "3.3 0\n"];

type Number = u32;

/// What a worker tells the master: that it is free, and which task it has just done.
struct Free {
    worker: usize,
    done: Option<Number>,
}

/// What the master knows.
struct Master {
    ctx: Ctx,
    patience: f64,
    todo: VecDeque<Number>,
    /// By worker: what it works at, and until when that should be done.
    busy: BTreeMap<usize, (Number, f64)>,
    done: BTreeMap<Number, usize>,
    lost: u32,
}

impl Master {
    async fn run(mut self, tasks: u32) -> simurgh::Result {
        let mailbox = self.ctx.mailbox::<Free>("master");
        while self.done.len() < tasks as usize {
            match mailbox.recv().timeout(1.0).await {
                Ok(free) => self.serve(free).await?,
                // Nobody came, or who came was gone before it had told.
                Err(Error::Failed(_)) => {}
                Err(error) => return Err(error),
            }
            self.give_up_on_the_late();
        }
        let mut shares: BTreeMap<usize, u32> = BTreeMap::new();
        for worker in self.done.values() {
            *shares.entry(*worker).or_default() += 1;
        }
        self.ctx.say(format!("all {tasks} tasks are done; {} had to be done again", self.lost));
        for (worker, share) in shares {
            self.ctx.say(format!("worker-{worker} did {share}"));
        }
        Ok(())
    }

    async fn serve(&mut self, free: Free) -> simurgh::Result {
        if let Some((task, _)) = self.busy.remove(&free.worker)
            && free.done != Some(task)
        {
            self.lose(task, &format!("worker-{} is back without", free.worker));
        }
        if let Some(task) = free.done {
            self.done.entry(task).or_insert(free.worker);
            self.todo.retain(|&other| other != task);
        }
        let Some(task) = self.todo.pop_front() else { return Ok(()) };
        let mailbox = self.ctx.mailbox(&format!("worker-{}", free.worker));
        match mailbox.send(task, 1e6).timeout(1.0).await {
            Ok(()) => drop(self.busy.insert(free.worker, (task, self.ctx.now() + self.patience))),
            Err(Error::Failed(failure)) => {
                self.lose(task, &format!("worker-{} did not take it ({failure}):", free.worker));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn give_up_on_the_late(&mut self) {
        let now = self.ctx.now();
        let late: Vec<usize> =
            self.busy.iter().filter(|(_, (_, until))| *until < now).map(|(&worker, _)| worker).collect();
        for worker in late {
            if let Some((task, _)) = self.busy.remove(&worker) {
                self.lose(task, &format!("worker-{worker} has been silent for too long about"));
            }
        }
    }

    fn lose(&mut self, task: Number, why: &str) {
        self.ctx.say(format!("{why} task {task}"));
        self.lost += 1;
        self.todo.push_back(task);
    }
}

/// It starts again from here when its host comes back.
async fn worker(ctx: Ctx, worker: usize) -> simurgh::Result {
    ctx.say("at your service");
    let last = ctx.clone();
    ctx.on_exit(move |killed| {
        if killed {
            last.say("is cut off");
        }
    });
    let (master, mine) = (ctx.mailbox("master"), ctx.mailbox::<Number>(&format!("worker-{worker}")));
    let mut done = None;
    loop {
        // The master may be busy, or have found another worker meanwhile: then it is told again.
        match master.send(Free { worker, done }, 100.0).timeout(2.0).await {
            Ok(()) => done = None,
            Err(Error::Failed(_)) => continue,
            Err(error) => return Err(error),
        }
        let Ok(task) = mine.recv().timeout(3.0).await else { continue };
        ctx.execute(1e9 + 1e8 * f64::from(task % 5)).await?;
        done = Some(task);
    }
}

fn platform(_: &Options) -> simurgh::Result<Platform> {
    let mut builder = Platform::builder();
    let zone = builder.zone("cloud", Routing::Star);
    let office = builder.host(zone, "office", 1e9).id();
    let link = builder.link(zone, "uplink", 125e6, 5e-3).id();
    builder.star(zone, office, &[link]);
    for (number, profile) in PROFILES.into_iter().enumerate() {
        let host = builder.host(zone, &format!("rented-{number}"), 1e9).id();
        builder.star(zone, host, &[]);
        let profile = Profile::parse(profile, &format!("the profile of rented-{number}"))?;
        builder.profile(ProfileTarget::HostState(host), Arc::new(profile));
    }
    Ok(builder.build()?)
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { tasks, patience } = *options;
    let host = program.any_host()?;
    program.spawn("master", host, move |ctx| {
        let todo = (0..tasks).collect();
        Master { ctx, patience, todo, busy: BTreeMap::new(), done: BTreeMap::new(), lost: 0 }.run(tasks)
    })?;
    for number in 0..PROFILES.len() {
        let host = program.any_host()?;
        program.actor(format!("worker-{number}"), host)?.daemon().restart(move |ctx| worker(ctx, number))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
