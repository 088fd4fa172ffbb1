//! Time-independent traces: what each process of a recorded run computed and sent, without the dates, so that it can be
//! replayed on another platform.
//!
//! A line is `PROCESS ACTION ARGUMENTS`; `#` begins a comment:
//!
//! | action | meaning |
//! | --- | --- |
//! | `compute F`, `sleep S` | computes so many flops, lets time pass |
//! | `send TO BYTES`, `recv FROM` | sends to, receives from another process |
//! | `isend TO BYTES`, `irecv FROM` | the same in the background |
//! | `wait`, `waitall` | waits for the last started, for all that were started |
//! | `bcast BYTES`, `reduce BYTES FLOPS`, `allreduce BYTES FLOPS`, `barrier` | all processes together, the first is the root |
//! | `init`, `finalize`, `comm_size N` | nothing |
//!
//! When all processes are numbers it is a trace of an MPI program, as SimGrid's SMPI records it: `send TO TAG BYTES`,
//! `recv FROM TAG BYTES`, `isend`, `irecv` likewise, `wait FROM TO TAG`. Then every message has a header of 16 bytes,
//! one of less than 65536 bytes does not hold up its sender, and the network model is SMPI unless another is set. The command
//! replays such traces with the whole of MPI where it can (`simurgh_mpi::traces`), and by these actions in deployments.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use simurgh_actors::scenario::file::read_text;
use simurgh_actors::{ActivitySet, Barrier, Ctx, Error, Program, Result};
use simurgh_platform::units;

/// What a process does next.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Computes so many flops.
    Compute(f64),
    /// Lets so many seconds pass.
    Sleep(f64),
    /// Sends to a process, with a tag.
    Send(String, String, f64),
    /// Receives from a process, with a tag.
    Recv(String, String),
    /// Sends in the background.
    Isend(String, String, f64),
    /// Receives in the background.
    Irecv(String, String),
    /// Waits for the last that was started in the background.
    Wait,
    /// Waits for all that were started in the background.
    WaitAll,
    /// The first process sends to all others.
    Bcast(f64),
    /// All others send to the first process, which computes.
    Reduce(f64, f64),
    /// A reduce and a broadcast of its result.
    AllReduce(f64, f64),
    /// All wait for each other.
    Barrier,
    /// Nothing.
    Nothing,
}

/// The actions of each process, in the order in which the processes appear.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Names and actions.
    pub processes: Vec<(String, Vec<Action>)>,
    /// Whether it is a trace of an MPI program.
    pub mpi: bool,
}

impl Trace {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read or understood, and what to do.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Trace> {
        let path = path.as_ref();
        Trace::parse(&read_text(path)?, &path.display().to_string())
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Where it cannot be understood, and what to do.
    pub fn parse(text: &str, name: &str) -> Result<Trace> {
        let mut trace = Trace { mpi: is_mpi(text), ..Trace::default() };
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = line.split_whitespace().collect();
            let [process, action, arguments @ ..] = words.as_slice() else {
                if words.is_empty() {
                    continue;
                }
                return Err(Error::input(format!(
                    "{name}:{}: the action is missing; a line is PROCESS ACTION ARGUMENTS",
                    number + 1
                )));
            };
            let action = parse_action(action, arguments, trace.mpi)
                .map_err(|what| Error::input(format!("{name}:{}: {what}", number + 1)))?;
            let place = *places.entry((*process).to_owned()).or_insert_with(|| {
                trace.processes.push(((*process).to_owned(), Vec::new()));
                trace.processes.len() - 1
            });
            trace.processes[place].1.push(action);
        }
        if trace.processes.is_empty() {
            return Err(Error::input(format!(
                "{name}: the trace has no action; a line is PROCESS ACTION ARGUMENTS"
            )));
        }
        Ok(trace)
    }

    fn actions_of(&self, process: &str) -> Option<&[Action]> {
        self.processes.iter().find(|(name, _)| name == process).map(|(_, actions)| actions.as_slice())
    }
}

/// Whether all processes are numbers.
fn is_mpi(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut processes = lines.filter_map(|line| line.split_whitespace().next()).peekable();
    processes.peek().is_some() && processes.all(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
}

fn parse_action(name: &str, arguments: &[&str], mpi: bool) -> Result<Action, String> {
    let number = |index: usize, what: &str, parse: fn(&str) -> Result<f64, String>| {
        let text = arguments.get(index).ok_or_else(|| missing(name, what, mpi))?;
        let value = parse(text).map_err(|error| format!("{name}: {error}"))?;
        if value.is_finite() && value >= 0.0 {
            Ok(value)
        } else {
            Err(format!("{name}: {what} cannot be {text}; give a number that is not negative"))
        }
    };
    let flops = |index| number(index, "the number of flops", units::parse_flops);
    let bytes = |index| number(index, "the number of bytes", units::parse_size);
    let process = |index: usize| {
        arguments.get(index).map(|name| (*name).to_owned()).ok_or_else(|| missing(name, "the process", mpi))
    };
    let most = match name.to_ascii_lowercase().as_str() {
        "compute" | "sleep" => 1,
        "send" | "isend" if !mpi => 2,
        _ => usize::MAX,
    };
    if let Some(word) = arguments.get(most) {
        return Err(format!("{name}: {word:?} is one word too many; take it out"));
    }
    let tag = || if mpi { arguments.get(1).copied().unwrap_or("0").to_owned() } else { String::new() };
    let size = || bytes(if mpi { 2 } else { 1 });
    Ok(match name.to_ascii_lowercase().as_str() {
        "compute" => Action::Compute(flops(0)?),
        "sleep" => Action::Sleep(number(0, "the number of seconds", units::parse_time)?),
        "send" => Action::Send(process(0)?, tag(), size()?),
        "recv" => Action::Recv(process(0)?, tag()),
        "isend" => Action::Isend(process(0)?, tag(), size()?),
        "irecv" => Action::Irecv(process(0)?, tag()),
        "wait" => Action::Wait,
        "waitall" => Action::WaitAll,
        "bcast" => Action::Bcast(bytes(0)?),
        "reduce" => Action::Reduce(bytes(0)?, flops(1)?),
        "allreduce" => Action::AllReduce(bytes(0)?, flops(1)?),
        "barrier" => Action::Barrier,
        "init" | "finalize" | "comm_size" => Action::Nothing,
        _ => {
            return Err(format!(
                "there is no action {name:?}; there are compute, sleep, send, recv, isend, irecv, wait, waitall, \
                 bcast, reduce, allreduce, barrier, init, finalize, comm_size"
            ));
        }
    })
}

fn missing(name: &str, what: &str, mpi: bool) -> String {
    let tag = if mpi { "TAG " } else { "" };
    let form = match name.to_ascii_lowercase().as_str() {
        "compute" => "compute FLOPS".to_owned(),
        "sleep" => "sleep SECONDS".to_owned(),
        "send" | "isend" => format!("{name} TO {tag}BYTES"),
        "recv" | "irecv" => format!("{name} FROM"),
        "bcast" => "bcast BYTES".to_owned(),
        _ => format!("{name} BYTES FLOPS"),
    };
    format!("{what} is missing; it is written `PROCESS {form}`")
}

/// Adds the processes of a trace to a program, on its hosts in turn.
///
/// # Errors
/// If the platform is empty.
pub fn spread(program: &mut Program, trace: &Trace) -> Result<()> {
    let team = Team::new(program, trace.processes.iter().map(|(name, _)| name.clone()).collect(), trace.mpi);
    for (name, actions) in &trace.processes {
        let host = program.any_host()?;
        let (name, actions, team) = (name.clone(), actions.clone(), team.clone());
        program.spawn(name.clone(), host, move |ctx| replay(ctx, name, actions, team))?;
    }
    Ok(())
}

/// Adds the actors of a deployment file, each with the actions of the process that it is named after: of its own
/// trace, if it has one as an argument, else of the common one. Says whether it is an MPI program.
///
/// # Errors
/// If a file cannot be read, or an actor has no actions.
pub fn deploy(program: &mut Program, deployment: &Path, common: Option<&Path>) -> Result<bool> {
    let declared = simurgh_platform::read_deployment(deployment)?;
    if declared.is_empty() {
        return Err(Error::input(format!(
            "{}: there is no actor; add an <actor host=\"HOST\" function=\"PROCESS\"/>",
            deployment.display()
        )));
    }
    let common = common.map(Trace::from_file).transpose()?;
    let names: Vec<_> = declared.iter().map(|actor| actor.function.clone()).collect();
    let mpi = common.as_ref().is_some_and(|trace| trace.mpi)
        || names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let team = Team::new(program, names, mpi);
    for actor in &declared {
        let place = format!("{}:{}", deployment.display(), actor.line);
        let own = match actor.arguments.first() {
            Some(file) => {
                let directory = deployment.parent().unwrap_or_else(|| Path::new("."));
                Some(Trace::from_file(directory.join(file))?)
            }
            None => None,
        };
        let trace = own.as_ref().or(common.as_ref()).ok_or_else(|| {
            Error::input(format!(
                "{place}: actor {:?} has no trace; give one as an argument there, or for all with --actions FILE",
                actor.function
            ))
        })?;
        let name = actor.function.clone();
        let Some(actions) = trace.actions_of(&name).map(<[Action]>::to_vec) else {
            let there: Vec<_> = trace.processes.iter().map(|(name, _)| name.as_str()).collect();
            return Err(Error::input(format!(
                "{place}: its trace has no actions of {name:?}; it has those of {}",
                there.join(", ")
            )));
        };
        let team = team.clone();
        program
            .register(name.clone(), move |ctx, _| replay(ctx, name.clone(), actions.clone(), team.clone()));
    }
    program.deploy_all(&declared, &deployment.display().to_string())?;
    Ok(mpi)
}

/// The processes that act together.
#[derive(Clone)]
struct Team {
    names: Arc<Vec<String>>,
    barrier: Barrier,
    mpi: bool,
}

impl Team {
    fn new(program: &mut Program, names: Vec<String>, mpi: bool) -> Self {
        let barrier = program.barrier(u32::try_from(names.len()).unwrap_or(u32::MAX));
        Self { names: Arc::new(names), barrier, mpi }
    }

    /// How many bytes go over the network for a message.
    fn on_the_wire(&self, bytes: f64) -> f64 {
        const HEADER: f64 = 16.0;
        if self.mpi { bytes + HEADER } else { bytes }
    }

    /// Whether a send returns before its message is received.
    fn is_eager(&self, bytes: f64) -> bool {
        const THRESHOLD: f64 = 65536.0;
        self.mpi && bytes < THRESHOLD
    }
}

async fn replay(ctx: Ctx, me: String, actions: Vec<Action>, team: Team) -> Result<()> {
    let mut pending: ActivitySet<()> = ActivitySet::new();
    let to = |name: &str, tag: &str| ctx.mailbox::<()>(&format!("{me}_{name}_{tag}"));
    let from = |name: &str, tag: &str| ctx.mailbox::<()>(&format!("{name}_{me}_{tag}"));
    for action in actions {
        match action {
            Action::Compute(flops) => ctx.execute(flops).await?,
            Action::Sleep(seconds) => ctx.sleep(seconds).await,
            Action::Send(name, tag, bytes) => {
                let send = to(&name, &tag).send((), team.on_the_wire(bytes));
                if team.is_eager(bytes) { send.detach().await } else { send.await? }
            }
            Action::Recv(name, tag) => from(&name, &tag).recv().await?,
            Action::Isend(name, tag, bytes) => {
                let send = to(&name, &tag).send((), team.on_the_wire(bytes));
                if team.is_eager(bytes) { send.detach().await } else { pending.push(send.start().await) }
            }
            Action::Irecv(name, tag) => pending.push(from(&name, &tag).recv().start().await),
            Action::Wait => {
                if let Some(last) = pending.len().checked_sub(1) {
                    pending.remove(last).wait().await?;
                }
            }
            Action::WaitAll => drop(pending.wait_all().await?),
            Action::Bcast(bytes) => broadcast(&ctx, &me, &team, bytes).await?,
            Action::Reduce(bytes, flops) => reduce(&ctx, &me, &team, bytes, flops).await?,
            Action::AllReduce(bytes, flops) => {
                reduce(&ctx, &me, &team, bytes, flops).await?;
                broadcast(&ctx, &me, &team, bytes).await?;
            }
            Action::Barrier => team.barrier.wait().await,
            Action::Nothing => {}
        }
    }
    Ok(())
}

async fn broadcast(ctx: &Ctx, me: &str, team: &Team, bytes: f64) -> Result<()> {
    let Some((root, others)) = team.names.split_first() else { return Ok(()) };
    if me != root {
        return ctx.mailbox::<()>(&format!("bcast_{me}")).recv().await;
    }
    let mut sends = ActivitySet::new();
    for other in others {
        sends.push(ctx.mailbox(&format!("bcast_{other}")).send((), bytes).start().await);
    }
    sends.wait_all().await.map(drop)
}

async fn reduce(ctx: &Ctx, me: &str, team: &Team, bytes: f64, flops: f64) -> Result<()> {
    let Some((root, others)) = team.names.split_first() else { return Ok(()) };
    if me != root {
        return ctx.mailbox(&format!("reduce_{me}")).send((), bytes).await;
    }
    let mut receives = ActivitySet::new();
    for other in others {
        receives.push(ctx.mailbox::<()>(&format!("reduce_{other}")).recv().start().await);
    }
    receives.wait_all().await?;
    ctx.execute(flops).await
}
