//! From tape to timeline: names are looked up, and what is open is closed at the end of the run.

use std::collections::BTreeSet;

use simurgh_kernel::event::Reason;
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::simcall::Failure;
use simurgh_models::{Resource, SimTime};
use simurgh_platform::{HostId, LinkId, Platform, Sharing};

use crate::recorder::{ActorTape, Piece, Tape, Wait};
use crate::timeline::{
    Access, ActorLine, DiskLine, Execution, HostLine, Interval, Kind, LinkLine, Load, Mark, Message, Outcome,
    ParallelTask, Span, Stay, Timeline, Unit,
};

/// The timeline of what is on the tape.
pub(crate) fn timeline(tape: &Tape, end: SimTime, mailbox_name: &dyn Fn(MailboxId) -> String) -> Timeline {
    // A run never ends before what happened in it; the end comes after everything of its date.
    let end = Mark { at: end.max(tape.latest), order: u64::MAX };
    let finish = Finish { tape, end, mailbox_name };
    let pieces = &tape.pieces;
    Timeline {
        platform: tape.platform.name().to_owned(),
        title: None,
        end: end.at,
        hosts: finish.hosts(),
        links: finish.links(),
        disks: finish.disks(),
        actors: tape.actors.iter().map(|(&id, actor)| finish.actor(id, actor)).collect(),
        calls: Vec::new(),
        messages: pieces
            .messages
            .iter()
            .map(|piece| Message {
                sender: piece.facts.sender,
                receiver: piece.facts.receiver,
                src: piece.facts.src,
                dst: piece.facts.dst,
                mailbox: mailbox_name(piece.facts.mailbox),
                bytes: piece.facts.bytes,
                posted: piece.facts.posted,
                span: finish.span(piece),
                outcome: finish.outcome(piece),
            })
            .collect(),
        executions: pieces
            .executions
            .iter()
            .map(|piece| Execution {
                actor: piece.facts.actor,
                host: piece.facts.host,
                flops: piece.facts.flops,
                span: finish.span(piece),
                outcome: finish.outcome(piece),
            })
            .collect(),
        accesses: pieces
            .accesses
            .iter()
            .map(|piece| Access {
                actor: piece.facts.actor,
                disk: piece.facts.disk,
                bytes: piece.facts.bytes,
                direction: piece.facts.direction,
                span: finish.span(piece),
                outcome: finish.outcome(piece),
            })
            .collect(),
        parallel_tasks: pieces
            .parallel_tasks
            .iter()
            .map(|piece| ParallelTask {
                actor: piece.facts.actor,
                hosts: piece.facts.hosts.clone(),
                span: finish.span(piece),
                outcome: finish.outcome(piece),
            })
            .collect(),
    }
}

struct Finish<'a> {
    tape: &'a Tape,
    end: Mark,
    mailbox_name: &'a dyn Fn(MailboxId) -> String,
}

impl Finish<'_> {
    fn platform(&self) -> &Platform {
        &self.tape.platform
    }

    fn hosts(&self) -> Vec<HostLine> {
        let mut seen: BTreeSet<HostId> = self.tape.host_states.keys().copied().collect();
        seen.extend(self.tape.actors.values().flat_map(|actor| actor.stays.iter().map(|&(host, ..)| host)));
        // Arrows start and end at the hosts of their messages.
        seen.extend(self.tape.pieces.messages.iter().flat_map(|piece| [piece.facts.src, piece.facts.dst]));
        for resource in self.tape.loads.keys() {
            match resource {
                Resource::Host(host) => seen.insert(*host),
                Resource::Disk(disk) => seen.insert(self.platform().disk(*disk).host),
                Resource::Link(_) => false,
            };
        }
        let line = |id: HostId| HostLine {
            id,
            name: self.platform().host(id).name.to_owned(),
            loads: self.loads(Resource::Host(id)),
            off: off_spans(self.tape.host_states.get(&id), self.end),
        };
        seen.into_iter().map(line).collect()
    }

    fn links(&self) -> Vec<LinkLine> {
        let mut seen: BTreeSet<LinkId> = self.tape.link_states.keys().copied().collect();
        for resource in self.tape.loads.keys() {
            if let Resource::Link(link) = resource {
                seen.insert(*link);
            }
        }
        let line = |id: LinkId| {
            let link = self.platform().link(id);
            LinkLine {
                id,
                name: link.name.to_owned(),
                unit: match link.sharing {
                    Sharing::Wifi => Unit::AirTime,
                    Sharing::Shared | Sharing::FatPipe => Unit::BytesPerSecond,
                },
                loads: self.loads(Resource::Link(id)),
                off: off_spans(self.tape.link_states.get(&id), self.end),
            }
        };
        seen.into_iter().map(line).collect()
    }

    fn disks(&self) -> Vec<DiskLine> {
        let mut lines = Vec::new();
        for resource in self.tape.loads.keys() {
            if let Resource::Disk(id) = resource {
                let disk = self.platform().disk(*id);
                let (name, loads) = (disk.name.to_owned(), self.loads(*resource));
                lines.push(DiskLine { id: *id, name, host: disk.host, loads });
            }
        }
        lines
    }

    /// The changes of a load, by date: of several at one date the last counts.
    fn loads(&self, resource: Resource) -> Vec<Load> {
        let mut told = self.tape.loads.get(&resource).cloned().unwrap_or_default();
        told.sort_by_key(|load| load.at);
        let mut loads: Vec<Load> = Vec::with_capacity(told.len());
        for load in told {
            if loads.last().is_some_and(|last| last.at == load.at) {
                loads.pop();
            }
            if loads.last().is_none_or(|last| (last.used, last.capacity) != (load.used, load.capacity)) {
                loads.push(load);
            }
        }
        loads
    }

    fn actor(&self, id: ActorId, actor: &ActorTape) -> ActorLine {
        let stay = |&(host, from, to): &(HostId, Mark, Option<Mark>)| Stay {
            host,
            span: Span { from, to: to.unwrap_or(self.end) },
        };
        ActorLine {
            id,
            name: actor.name.clone(),
            stays: actor.stays.iter().map(stay).collect(),
            intervals: actor.waits.iter().map(|wait| self.interval(wait)).collect(),
            ending: actor.ending,
        }
    }

    fn interval(&self, wait: &Wait) -> Interval {
        let mailbox = self.mailbox_name;
        let (kind, detail) = match wait.reason {
            Reason::Sending(id) => (Kind::Sending, mailbox(id)),
            Reason::Receiving(id) => (Kind::Receiving, mailbox(id)),
            Reason::Executing => (Kind::Executing, String::new()),
            Reason::Reading(disk) => (Kind::Reading, self.platform().disk(disk).name.to_owned()),
            Reason::Writing(disk) => (Kind::Writing, self.platform().disk(disk).name.to_owned()),
            Reason::Parallel => (Kind::Parallel, String::new()),
            Reason::WaitingAny(count) => (Kind::WaitingAny, count.to_string()),
            Reason::Sleeping => (Kind::Sleeping, String::new()),
            Reason::Locking(id) => (Kind::Locking, format!("mutex {id}")),
            Reason::Acquiring(id) => (Kind::Acquiring, format!("semaphore {id}")),
            Reason::Condition(id) => (Kind::Condition, format!("condition {id}")),
            Reason::Barrier(id) => (Kind::Barrier, format!("barrier {id}")),
            Reason::Joining(id) => (Kind::Joining, self.actor_name(id)),
            Reason::Suspended => (Kind::Suspended, String::new()),
        };
        Interval {
            kind,
            detail,
            host: wait.host,
            span: Span { from: wait.from, to: wait.to.unwrap_or(self.end) },
            work: wait.work,
            failure: wait.failure.map(|failure| self.failure(failure)),
        }
    }

    fn actor_name(&self, id: ActorId) -> String {
        let known = self.tape.actors.get(&id).map(|actor| actor.name.clone());
        known.unwrap_or_else(|| format!("actor {id}"))
    }

    fn span<F>(&self, piece: &Piece<F>) -> Span {
        Span { from: piece.started, to: piece.ended.map_or(self.end, |(mark, _)| mark) }
    }

    fn outcome<F>(&self, piece: &Piece<F>) -> Outcome {
        match piece.ended {
            None => Outcome::Unfinished,
            Some((_, Ok(()))) => Outcome::Done,
            Some((_, Err(failure))) => Outcome::Failed(self.failure(failure)),
        }
    }

    fn failure(&self, failure: Failure) -> String {
        let Failure::Resource(resource) = failure else { return failure.to_string() };
        let name = match resource {
            Resource::Host(id) => self.platform().host(id).name,
            Resource::Link(id) => self.platform().link(id).name,
            Resource::Disk(id) => self.platform().disk(id).name,
        };
        format!("{failure} ({name})")
    }
}

/// When a resource was off. One that is first told to be on was off before.
fn off_spans(states: Option<&Vec<(Mark, bool)>>, end: Mark) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut off_since = states.and_then(|states| states.first()).filter(|(_, on)| *on).map(|_| Mark::START);
    for &(mark, on) in states.into_iter().flatten() {
        match (off_since, on) {
            (Some(from), true) => {
                spans.push(Span { from, to: mark });
                off_since = None;
            }
            (None, false) => off_since = Some(mark),
            (Some(_), false) | (None, true) => {}
        }
    }
    spans.extend(off_since.map(|from| Span { from, to: end }));
    spans
}
