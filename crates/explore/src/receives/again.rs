//! Whether a program is the same twice: its first execution, done again before a search begins.

use super::actors::{Actors, Factory};
use super::choice::Path;
use super::search::{Limits, Refusal, Search};
use super::{Mailbox, Network, Processes, Reply, Request, Side};
use crate::verdict::Divergence;

/// Longer ones are repeated up to here.
const STEPS_MAX: u64 = 1000;
/// How often the first execution is repeated at most, and how many answers that may take if it is more than once: what depends
/// on the order of a hash map is the same by luck, now and then.
const REPEATS: usize = 4;
const REPEATED_ANSWERS: usize = 1 << 10;

/// Runs the first execution of a program, and then again: what is not as it was, if something is not. `name` is what people
/// call a mailbox.
///
/// # Errors
/// If the program does something that this engine does not know.
pub fn same_twice<F: Factory>(
    actors: &mut Actors<F>,
    network: Network,
    name: &dyn Fn(u32) -> String,
) -> Result<Option<Divergence>, Refusal> {
    let mut recorder = Recorder { actors, log: Vec::new() };
    let limits = Limits { depth: STEPS_MAX, ..Limits::default() };
    Search::new(network, limits, Path::new()).run(&mut recorder, &mut |_| true)?;
    let Recorder { actors, log } = recorder;
    for _ in 0..(REPEATED_ANSWERS / log.len().max(1)).clamp(1, REPEATS) {
        actors.restart();
        for (process, reply, before) in &log {
            let asked = (*process < actors.present()).then(|| actors.resume(*process, *reply));
            if asked.as_ref() != Some(before) {
                let asked = asked.map(|asked| in_words(&asked, name));
                let before = in_words(before, name);
                return Ok(Some(Divergence { actor: actors.name(*process), asked, before }));
            }
        }
    }
    Ok(None)
}

/// What is to be said of an actor that did something else when it was run again, later in a search.
pub fn diverged(actor: &str) -> String {
    format!(
        "actor {actor:?} did something else when it was run again: a program must depend on messages and choices only \
         (does it use statics, the clock, random numbers of its own, or the order of a hash map?)"
    )
}

/// Remembers what each process was answered, and what it asked then.
struct Recorder<'a, F> {
    actors: &'a mut Actors<F>,
    log: Vec<(u32, Reply, Request)>,
}

impl<F: Factory> Processes for Recorder<'_, F> {
    fn restart(&mut self) {
        self.log.clear();
        self.actors.restart();
    }

    fn count(&self) -> u32 {
        self.actors.count()
    }

    fn given(&self) -> &[Mailbox] {
        self.actors.given()
    }

    fn is_daemon(&self, process: u32) -> bool {
        self.actors.is_daemon(process)
    }

    fn resume(&mut self, process: u32, reply: Reply) -> Request {
        let request = self.actors.resume(process, reply);
        self.log.push((process, reply, request.clone()));
        request
    }
}

/// What is asked for, as a noun.
fn in_words(request: &Request, name: &dyn Fn(u32) -> String) -> String {
    match request {
        Request::Post(mailbox, side) | Request::PostAndWait(mailbox, side, _) => {
            match (side, mailbox.is_local()) {
                (Side::Send(_), false) => format!("a send to mailbox {:?}", name(mailbox.0)),
                (Side::Recv(_), false) => format!("a receive from mailbox {:?}", name(mailbox.0)),
                (Side::Send(_), true) => "a lock or semaphore to be given back".to_owned(),
                (Side::Recv(_), true) => "a lock, or one from a semaphore".to_owned(),
            }
        }
        Request::Give(_) => "a new lock or semaphore".to_owned(),
        Request::Begin => "something to be started".to_owned(),
        Request::WaitAny(set, _) => format!("the end of {}", activities(set.len())),
        Request::TestAny(set) => format!("whether one of {} is over", activities(set.len())),
        Request::Cancel(_) => "a communication to be cancelled".to_owned(),
        Request::Choose(n) => format!("a choice of {n}"),
        Request::Spawn => "a new actor".to_owned(),
        Request::Join(process, _) => format!("the end of actor number {process}"),
        Request::Arrive { .. } => "a barrier".to_owned(),
        Request::Ended => "its end".to_owned(),
        Request::Failed(message) => format!("its end, as it failed ({message})"),
        Request::Unsupported(what) => (*what).to_owned(),
    }
}

fn activities(count: usize) -> String {
    if count == 1 { "an activity".to_owned() } else { format!("{count} activities") }
}
