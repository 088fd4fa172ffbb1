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

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use simurgh_platform::units;

use crate::api::{ActivitySet, Barrier, Ctx};
use crate::error::{Error, Result};
use crate::program::Program;
use crate::scenario::file::read_text;

/// What a process does next.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Computes so many flops.
    Compute(f64),
    /// Lets so many seconds pass.
    Sleep(f64),
    /// Sends to a process.
    Send(String, f64),
    /// Receives from a process.
    Recv(String),
    /// Sends in the background.
    Isend(String, f64),
    /// Receives in the background.
    Irecv(String),
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
        let mut trace = Trace::default();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = line.split_whitespace().collect();
            let [process, action, arguments @ ..] = words.as_slice() else {
                if words.is_empty() {
                    continue;
                }
                return Err(Error::input(format!(
                    "{name}:{}: a line is PROCESS ACTION ARGUMENTS",
                    number + 1
                )));
            };
            let action = parse_action(action, arguments)
                .map_err(|what| Error::input(format!("{name}:{}: {what}", number + 1)))?;
            let place = *places.entry((*process).to_owned()).or_insert_with(|| {
                trace.processes.push(((*process).to_owned(), Vec::new()));
                trace.processes.len() - 1
            });
            trace.processes[place].1.push(action);
        }
        Ok(trace)
    }

    fn actions_of(&self, process: &str) -> Option<&[Action]> {
        self.processes.iter().find(|(name, _)| name == process).map(|(_, actions)| actions.as_slice())
    }
}

fn parse_action(name: &str, arguments: &[&str]) -> Result<Action, String> {
    let number = |index: usize, what: &str, parse: fn(&str) -> Result<f64, String>| {
        let text = arguments.get(index).ok_or_else(|| format!("{name}: {what} missing"))?;
        let value = parse(text).map_err(|error| format!("{name}: {error}"))?;
        if value.is_finite() && value >= 0.0 {
            Ok(value)
        } else {
            Err(format!("{name}: {what} cannot be {text}; give a number that is not negative"))
        }
    };
    let flops = |index| number(index, "FLOPS", units::parse_speed);
    let bytes = |index| number(index, "BYTES", units::parse_size);
    let process = |index: usize| {
        arguments.get(index).map(|name| (*name).to_owned()).ok_or_else(|| format!("{name}: PROCESS missing"))
    };
    Ok(match name.to_ascii_lowercase().as_str() {
        "compute" => Action::Compute(flops(0)?),
        "sleep" => Action::Sleep(number(0, "SECONDS", units::parse_time)?),
        "send" => Action::Send(process(0)?, bytes(1)?),
        "recv" => Action::Recv(process(0)?),
        "isend" => Action::Isend(process(0)?, bytes(1)?),
        "irecv" => Action::Irecv(process(0)?),
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

/// Adds the processes of a trace to a program, on its hosts in turn.
///
/// # Errors
/// If the trace or the platform is empty.
pub fn spread(program: &mut Program, trace: &Trace) -> Result<()> {
    if trace.processes.is_empty() {
        return Err(Error::input("the trace has no action; a line is PROCESS ACTION ARGUMENTS"));
    }
    let team = Team::new(program, trace.processes.iter().map(|(name, _)| name.clone()).collect());
    for (name, actions) in &trace.processes {
        let host = program.any_host()?;
        let (name, actions, team) = (name.clone(), actions.clone(), team.clone());
        program.spawn(name.clone(), host, move |ctx| replay(ctx, name, actions, team))?;
    }
    Ok(())
}

/// Adds the actors of a deployment file, each with the actions of the process that it is named after: of its own
/// trace, if it has one as an argument, else of the common one.
///
/// # Errors
/// If a file cannot be read, or an actor has no actions.
pub fn deploy(program: &mut Program, deployment: &Path, common: Option<&Path>) -> Result<()> {
    let declared = simurgh_platform::read_deployment(deployment)?;
    let common = common.map(Trace::from_file).transpose()?;
    let team = Team::new(program, declared.iter().map(|actor| actor.function.clone()).collect());
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
        let actions = trace.actions_of(&actor.function).unwrap_or_default().to_vec();
        let team = team.clone();
        program.register(actor.function.clone(), move |ctx, _| {
            let (actions, team) = (actions.clone(), team.clone());
            let name = team.name_of(&ctx);
            replay(ctx, name, actions, team)
        });
    }
    program.deploy_all(&declared, &deployment.display().to_string())
}

/// The processes that act together.
#[derive(Clone)]
struct Team {
    names: Arc<Vec<String>>,
    barrier: Barrier,
}

impl Team {
    fn new(program: &mut Program, names: Vec<String>) -> Self {
        let barrier = program.barrier(u32::try_from(names.len()).unwrap_or(u32::MAX));
        Self { names: Arc::new(names), barrier }
    }

    /// Actors are created in the order of the names.
    fn name_of(&self, ctx: &Ctx) -> String {
        self.names.get(ctx.id().index()).cloned().unwrap_or_default()
    }
}

async fn replay(ctx: Ctx, me: String, actions: Vec<Action>, team: Team) -> Result<()> {
    let mut pending: ActivitySet<()> = ActivitySet::new();
    let to = |name: &str| ctx.mailbox::<()>(&format!("{me}_{name}"));
    let from = |name: &str| ctx.mailbox::<()>(&format!("{name}_{me}"));
    for action in actions {
        match action {
            Action::Compute(flops) => ctx.execute(flops).await?,
            Action::Sleep(seconds) => ctx.sleep(seconds).await,
            Action::Send(name, bytes) => to(&name).send((), bytes).await?,
            Action::Recv(name) => from(&name).recv().await?,
            Action::Isend(name, bytes) => pending.push(to(&name).send((), bytes).start().await),
            Action::Irecv(name) => pending.push(from(&name).recv().start().await),
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
            Action::Barrier => drop(team.barrier.wait().await),
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
