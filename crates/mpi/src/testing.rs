//! A world for tests: ranks that are threads, whose requests go to a real simulation one at a time. What calls do among
//! several ranks, and when, is tested so without a program of C.

use std::cell::RefCell;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use simurgh_kernel::context::{Body, Coroutine, Ending, Port};
use simurgh_kernel::ids::BarrierId;
use simurgh_kernel::simcall::{Answer, Follow, Note, SendRequest, Simcall, SpawnRequest};
use simurgh_kernel::simulation::{End, Simulation};
use simurgh_models::{Config, Models};
use simurgh_platform::{HostId, Platform};

use crate::collectives::Selection;
use crate::world::{Costs, Polls, World};

/// What a thread asks next, or how it ended.
enum Asked {
    Simcall(Simcall),
    Ended(Ending),
}

/// The kernel's side of a rank.
struct Bridge {
    asked: Receiver<Asked>,
    answers: Sender<(f64, Option<Answer>)>,
}

impl Coroutine for Bridge {
    fn resume(&mut self, port: &mut Port) -> Option<Ending> {
        let _ = self.answers.send((port.now.seconds(), port.answer.take()));
        match self.asked.recv() {
            Ok(Asked::Simcall(simcall)) => {
                port.simcall = Some(simcall);
                None
            }
            Ok(Asked::Ended(ending)) => Some(ending),
            Err(_) => Some(Err("its thread is gone".to_owned())),
        }
    }
}

/// The rank's side of it.
struct Thread {
    ask: Sender<Asked>,
    answers: Receiver<(f64, Option<Answer>)>,
    now: f64,
}

impl Thread {
    fn wait(&mut self) -> Option<Answer> {
        let (now, answer) = self.answers.recv().expect("the simulation goes on");
        self.now = now;
        answer
    }
}

thread_local! {
    static THREAD: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

fn with<T>(run: impl FnOnce(&mut Thread) -> T) -> T {
    THREAD.with_borrow_mut(|thread| run(thread.as_mut().expect("it runs in a world of tests")))
}

/// Asks the kernel.
pub fn ask(simcall: Simcall) -> Answer {
    with(|thread| {
        thread.ask.send(Asked::Simcall(simcall)).expect("the simulation goes on");
        thread.wait().expect("a request is answered")
    })
}

/// Sends what nobody waits for.
pub fn post(request: SendRequest) {
    ask(Simcall::Send(request, Follow::Detach));
}

/// Leaves a word: locks are there when they are first used.
pub fn note(_note: Note) {}

/// The present date.
pub fn now() -> f64 {
    with(|thread| thread.now)
}

/// Runs a rank on each of these hosts; gives what each came to, in order, or who did not end.
pub fn run<T: Send + 'static>(
    platform: &Arc<Platform>,
    hosts: &[HostId],
    rank: impl Fn(u32) -> T + Send + Sync + 'static,
) -> Result<Vec<T>, String> {
    let mut config = Config::default();
    for (key, value) in
        [("network/model", "SMPI"), ("network/crosstraffic", "0"), ("precision/timing", "1e-9")]
    {
        config.set(key, value).map_err(|error| error.to_string())?;
    }
    let models = Models::new(Arc::clone(platform), &config).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(models, 0);
    let rank = Arc::new(rank);
    let results = Arc::new(Mutex::new(Vec::new()));
    let mut threads = Vec::new();
    for (number, host) in (0..).zip(hosts) {
        let (ask, asked) = channel();
        let (answers, answered) = channel();
        let (rank, results) = (Arc::clone(&rank), Arc::clone(&results));
        let thread = Builder::new().stack_size(1 << 20).spawn(move || {
            let side = Thread { ask: ask.clone(), answers: answered, now: 0.0 };
            if side.answers.recv().is_err() {
                return;
            }
            THREAD.set(Some(side));
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rank(number)));
            let ending = match result {
                Ok(result) => {
                    results.lock().expect("one at a time").push((number, result));
                    Ok(())
                }
                Err(_) => Err(format!("rank {number} failed")),
            };
            let _ = ask.send(Asked::Ended(ending));
        });
        threads.push(thread.map_err(|error| error.to_string())?);
        let body = Body::Coroutine(Box::new(Bridge { asked, answers }));
        let request = SpawnRequest::new(format!("rank {number}"), *host, body);
        simulation.spawn(request).map_err(|error| error.to_string())?;
    }
    let end = simulation.run(None).map_err(|error| error.to_string())?.clone();
    if let Some(failure) = simulation.failures().first() {
        return Err(format!("{}: {}", failure.name, failure.message));
    }
    if !matches!(end, End::Finished) {
        return Err(format!("{end:?}"));
    }
    for thread in threads {
        thread.join().map_err(|_| "a thread failed".to_owned())?;
    }
    let mut results = std::mem::take(&mut *results.lock().expect("one at a time"));
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// A run on these hosts.
pub fn world(hosts: &[HostId], costs: Costs, selection: Selection) -> Arc<World> {
    Arc::new(World {
        hosts: hosts.to_vec(),
        host_names: hosts.iter().map(ToString::to_string).collect(),
        speeds: vec![1e9; hosts.len()],
        disks: vec![None; hosts.len()],
        costs,
        selection,
        compute: Default::default(),
        polls: Polls::default(),
        progress: Default::default(),
        leftovers: Default::default(),
        applications: vec![0],
        unterminated: Default::default(),
        unprinted: Default::default(),
        start: BarrierId(0),
        started: Default::default(),
        explored: false,
        has_choices: Default::default(),
        gives_up: Default::default(),
        holds: Default::default(),
        cancels: Default::default(),
        watches: Default::default(),
        files_in_turn: Default::default(),
        flags: Default::default(),
        atomics: Default::default(),
        effort: Default::default(),
        common: Default::default(),
        lines: Default::default(),
        aborted: Mutex::new(None),
        output: Default::default(),
        wanted: Default::default(),
        replay: None,
        samples: Mutex::default(),
        shared_memory: Mutex::default(),
        even: Default::default(),
    })
}

/// A cluster of hosts with links of their own, which do not slow one another.
pub fn cluster(hosts: usize) -> Arc<Platform> {
    let text = format!(
        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform version=\"4.1\">\
         <cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\"/></platform>",
        hosts - 1
    );
    Arc::new(Platform::from_xml(&text, "cluster", Path::new(".")).expect("it is well written"))
}
