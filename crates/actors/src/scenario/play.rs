//! Playing a scenario: each actor does its operations one after the other, and each is recorded when it ends.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_kernel::context::{Place, stand_at};
use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::Failure;
use simurgh_platform::Platform;

use super::file::Scenario;
use super::operation::Operation;
use crate::api::{Activity, ActivitySet, Ctx};
use crate::error::{Error, Result};
use crate::program::Program;

/// What an operation came to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// It succeeded.
    Ok,
    /// It succeeded with the activity at this place of the pending ones.
    OkAt(usize),
    /// It took too long.
    Timeout,
    /// It failed.
    Failure,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::Ok => f.write_str("ok"),
            How::OkAt(place) => write!(f, "ok {place}"),
            How::Timeout => f.write_str("timeout"),
            How::Failure => f.write_str("failure"),
        }
    }
}

/// The end of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Whose, by its place in the scenario.
    pub actor: usize,
    /// Which of its operations.
    pub index: usize,
    /// When it began.
    pub begin: f64,
    /// When it ended.
    pub end: f64,
    /// What it came to.
    pub how: How,
    /// What `isend` and `irecv` started, and what the waits took.
    pub activity: Option<ActivityId>,
}

/// The records of a run, in the order in which the operations ended; where several threads run the code of actors
/// ([`Settings::workers`](crate::Settings::workers)), those of one round in any order.
#[derive(Clone, Debug, Default)]
pub struct Records {
    inner: Arc<Mutex<Vec<Record>>>,
}

impl Records {
    fn push(&self, record: Record) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    /// All records until now.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes a program of a scenario.
///
/// # Errors
/// If an actor names a host or a disk that is not in the platform.
pub fn play(scenario: &Scenario, platform: Arc<Platform>, seed: u64) -> Result<(Program, Records)> {
    let mut program = Program::with_seed(platform, seed);
    let records = Records::default();
    fill(&mut program, scenario, Some(&records))?;
    Ok((program, records))
}

/// Adds the actors of a scenario to a program. Explorations, which begin thousands of times a second, need no records.
///
/// # Errors
/// If an actor names a host or a disk that is not in the platform.
pub fn fill(program: &mut Program, scenario: &Scenario, records: Option<&Records>) -> Result {
    for (index, actor) in scenario.actors.iter().enumerate() {
        let place = |error: Error| {
            Error::input(format!("{}:{}: actor {:?}: {error}", scenario.name, actor.line, actor.name))
        };
        let host = match &actor.host {
            Some(name) => program.host(name).map_err(place)?.id(),
            None => program.any_host().map_err(place)?,
        };
        for (operation, line) in actor.operations.iter().zip(actor.lines.iter()) {
            let named = match operation {
                Operation::Read { disk, .. } | Operation::Write { disk, .. } => {
                    program.host_at(host).disk(disk).map(drop)
                }
                Operation::Exec { host: Some(host), .. } => program.host(host).map(drop),
                _ => Ok(()),
            };
            named.map_err(|error| {
                Error::input(format!("{}:{line}: actor {:?}: {error}", scenario.name, actor.name))
            })?;
        }
        let name = Place::new(&scenario.name, 0).file;
        let script = (Arc::clone(&actor.operations), name, Arc::clone(&actor.lines));
        let records = records.cloned();
        let mut plan = program.actor(actor.name.clone(), host)?;
        if actor.daemon {
            plan = plan.daemon();
        }
        if let Some(date) = actor.start_at {
            plan = plan.start_at(date);
        }
        if let Some(date) = actor.kill_at {
            plan = plan.kill_at(date);
        }
        if actor.restart {
            plan.restart(move |ctx: Ctx| perform(ctx, index, script.clone(), records.clone()))?
        } else {
            plan.start(move |ctx: Ctx| perform(ctx, index, script, records))?
        };
    }
    Ok(())
}

/// The operations of an actor, and where they are written. An exploration begins thousands of times a second: they are shared.
type Script = (Arc<[Operation]>, &'static str, Arc<[usize]>);

/// The operations of one actor.
async fn perform(
    ctx: Ctx,
    actor: usize,
    (operations, file, lines): Script,
    records: Option<Records>,
) -> Result {
    let mut pending: ActivitySet<()> = ActivitySet::new();
    for (index, (operation, &line)) in operations.iter().zip(lines.iter()).enumerate() {
        let place = Place { file, line: u32::try_from(line).unwrap_or(u32::MAX) };
        let begin = ctx.now();
        let mut operation = pin!(one(&ctx, operation, &mut pending));
        let (result, activity) = poll_fn(|cx| {
            let polled = operation.as_mut().poll(cx);
            // Whatever it asked is asked by the line of the scenario, not by the code here.
            stand_at(place);
            polled
        })
        .await;
        let how = match result {
            Ok(None) => How::Ok,
            Ok(Some(place)) => How::OkAt(place),
            Err(error) => match error.failure() {
                Some(Failure::Timeout) => How::Timeout,
                Some(_) => How::Failure,
                None => return Err(error),
            },
        };
        if let Some(records) = &records {
            records.push(Record { actor, index, begin, end: ctx.now(), how, activity });
        }
    }
    Ok(())
}

type Came = (Result<Option<usize>>, Option<ActivityId>);

async fn one(ctx: &Ctx, operation: &Operation, pending: &mut ActivitySet<()>) -> Came {
    match *operation {
        Operation::Exec { flops, ref host, priority, bound, timeout } => {
            let mut exec = ctx.execute(flops);
            if let Some(host) = host {
                match ctx.host_named(host) {
                    Ok(host) => exec = exec.on(&host),
                    Err(error) => return (Err(error), None),
                }
            }
            if let Some(priority) = priority {
                exec = exec.priority(priority);
            }
            if let Some(bound) = bound {
                exec = exec.bound(bound);
            }
            if let Some(timeout) = timeout {
                exec = exec.timeout(timeout);
            }
            (exec.await.map(|()| None), None)
        }
        Operation::Sleep(seconds) => {
            ctx.sleep(seconds).await;
            (Ok(None), None)
        }
        Operation::Send(ref message, timeout) => {
            let mut send = ctx.mailbox(&message.mailbox).send((), message.bytes);
            if let Some(rate) = message.rate {
                send = send.rate(rate);
            }
            if let Some(timeout) = timeout {
                send = send.timeout(timeout);
            }
            (send.await.map(|()| None), None)
        }
        Operation::Isend(ref message) => {
            let mut send = ctx.mailbox(&message.mailbox).send((), message.bytes);
            if let Some(rate) = message.rate {
                send = send.rate(rate);
            }
            started(send.start().await, pending)
        }
        Operation::Dsend(ref message) => {
            let mut send = ctx.mailbox(&message.mailbox).send((), message.bytes);
            if let Some(rate) = message.rate {
                send = send.rate(rate);
            }
            send.detach().await;
            (Ok(None), None)
        }
        Operation::Recv { ref mailbox, rate, timeout } => {
            let mut recv = ctx.mailbox::<()>(mailbox).recv();
            if let Some(rate) = rate {
                recv = recv.rate(rate);
            }
            if let Some(timeout) = timeout {
                recv = recv.timeout(timeout);
            }
            (recv.await.map(|()| None), None)
        }
        Operation::Irecv { ref mailbox, rate } => {
            let mut recv = ctx.mailbox::<()>(mailbox).recv();
            if let Some(rate) = rate {
                recv = recv.rate(rate);
            }
            started(recv.start_discarding().await, pending)
        }
        Operation::WaitAll => {
            // One by one; the first that fails ends it, and the list stays as it is.
            for activity in pending.iter() {
                if let Err(error) = activity.wait().await {
                    return (Err(error), Some(activity.id()));
                }
            }
            let last = pending.iter().last().map(Activity::id);
            *pending = ActivitySet::new();
            (Ok(None), last)
        }
        Operation::WaitAny if pending.is_empty() => {
            (Err(Error::input("waitany: nothing was started that has not been waited for")), None)
        }
        Operation::WaitAny => {
            let ids: VecDeque<_> = pending.iter().map(Activity::id).collect();
            let result = pending.wait_any().await;
            let taken = result.as_ref().ok().and_then(|(place, ())| ids.get(*place).copied());
            (result.map(|(place, ())| Some(place)), taken)
        }
        Operation::Read { ref disk, bytes } => (access(ctx, disk, |disk| disk.read(bytes)).await, None),
        Operation::Write { ref disk, bytes } => (access(ctx, disk, |disk| disk.write(bytes)).await, None),
    }
}

fn started(activity: Activity<()>, pending: &mut ActivitySet<()>) -> Came {
    let id = activity.id();
    pending.push(activity);
    (Ok(None), Some(id))
}

async fn access(
    ctx: &Ctx,
    disk: &str,
    start: impl FnOnce(crate::api::Disk) -> crate::api::Access,
) -> Result<Option<usize>> {
    let access = start(ctx.disk(disk)?);
    access.await.map(|()| None)
}
