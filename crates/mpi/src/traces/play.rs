//! Lines become calls of MPI again: what a process of the program `replay/replay.c` does between its first call and its last.
//!
//! All data are zeros, in memory that all processes share.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;

use super::action::{Action, Verb, type_of};
use super::read::Trace;
use crate::abi::{self, COMM_WORLD, Counts, Datatype, Procedure, Request, Status};
use crate::calls::{collectives, immediate, p2p, requests};
use crate::entry::enter;
use crate::error::{On, Result};
use crate::os;
use crate::rank::Rank;

/// A trace that is replayed, and the memory of its messages.
#[derive(Debug)]
pub struct Replay {
    trace: Arc<Trace>,
    /// Where all messages come from, and where all go.
    memory: [usize; 2],
    bytes: usize,
}

impl Replay {
    /// Prepares memory for a trace; none if there is not enough.
    pub fn new(trace: Arc<Trace>) -> Option<Self> {
        let bytes = trace.most_bytes();
        let map = || {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a new range, wherever there is room.
            let mapped = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
            (mapped != libc::MAP_FAILED).then_some(mapped as usize)
        };
        Some(Self { trace, memory: [map()?, map()?], bytes })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        for memory in self.memory {
            // SAFETY: it was mapped by us, and no process runs any more.
            unsafe { libc::munmap(memory as *mut c_void, self.bytes) };
        }
    }
}

/// Whom a message is from, to whom, and its tag.
type Label = (i64, i64, i64);

/// A process that replays.
struct Player<'a> {
    process: i64,
    replay: &'a Replay,
    open: BTreeMap<Label, VecDeque<Request>>,
}

/// What the processes of the program call.
pub(crate) extern "C" fn simurgh_replay() {
    os::in_heap_of_library(|| {
        let me = os::rank();
        let Some(replay) = &me.world.replay else { return };
        let process = me.process as usize;
        let mut player = Player { process: process as i64, replay, open: BTreeMap::new() };
        // Messages of buffered sends are not stored.
        let _ = me.buffered.attach(replay.memory[0] as *mut c_void, i64::MAX / 2);
        let actions = replay.trace.processes.get(process).map(Vec::as_slice).unwrap_or_default();
        for action in actions {
            player.play(me, action);
        }
        player.wait_for_all();
    });
}

/// A call of MPI, as a program makes it. What goes wrong ends the run, as in a program.
fn call(procedure: Procedure, call: impl FnOnce(&Rank) -> Result) {
    enter(procedure, On::Comm(COMM_WORLD), call);
}

/// A rank or a tag: any, if it is negative.
fn or_any(number: i64, any: i32) -> i32 {
    if number < 0 { any } else { number as i32 }
}

impl Player<'_> {
    fn outbox(&self) -> *const c_void {
        self.replay.memory[0] as *const c_void
    }

    fn inbox(&self) -> *mut c_void {
        self.replay.memory[1] as *mut c_void
    }

    /// Room for the longest message.
    fn room(&self) -> i64 {
        self.replay.bytes as i64
    }

    fn play(&mut self, me: &Rank, action: &Action) {
        match action.verb {
            Verb::Init | Verb::Finalize | Verb::CommSize | Verb::CommDup | Verb::CommSplit => {}
            Verb::Compute => me.compute(action.number(0, 0.0)),
            Verb::Sleep => me.spend(action.number(0, 0.0)),
            Verb::Send | Verb::Ssend | Verb::Bsend => self.send(action),
            Verb::Isend | Verb::Issend => self.isend(action),
            Verb::Recv => self.recv(action),
            Verb::Irecv => self.irecv(action),
            Verb::SendRecv => self.exchange(action),
            Verb::Wait => self.wait(action),
            Verb::Test => self.test(action),
            Verb::Waitall => self.wait_for_all(),
            _ => self.collective(me, action),
        }
    }

    fn send(&self, action: &Action) {
        let (to, tag, out) = (action.whole(0, 0) as i32, action.whole(1, 0) as i32, self.outbox());
        let (count, datatype) = (action.whole(2, 0), type_of(action.number(3, super::action::BYTES)));
        match action.verb {
            Verb::Ssend => {
                call(Procedure::Ssend, |me| p2p::ssend(me, out, count, datatype, to, tag, COMM_WORLD))
            }
            Verb::Bsend => {
                call(Procedure::Bsend, |me| p2p::bsend(me, out, count, datatype, to, tag, COMM_WORLD))
            }
            _ => call(Procedure::Send, |me| p2p::send(me, out, count, datatype, to, tag, COMM_WORLD)),
        }
    }

    fn isend(&mut self, action: &Action) {
        let (to, tag, out) = (action.whole(0, 0), action.whole(1, 0), self.outbox());
        let (count, datatype) = (action.whole(2, 0), type_of(action.number(3, super::action::BYTES)));
        let (to_rank, with_tag) = (to as i32, tag as i32);
        let mut request = abi::REQUEST_NULL;
        if action.verb == Verb::Issend {
            call(Procedure::Issend, |me| {
                immediate::issend(me, out, count, datatype, to_rank, with_tag, COMM_WORLD, &raw mut request)
            });
        } else {
            call(Procedure::Isend, |me| {
                immediate::isend(me, out, count, datatype, to_rank, with_tag, COMM_WORLD, &raw mut request)
            });
        }
        self.open.entry((self.process, to, tag)).or_default().push_back(request);
    }

    fn recv(&self, action: &Action) {
        let (from, tag) =
            (or_any(action.whole(0, -1), abi::ANY_SOURCE), or_any(action.whole(1, -1), abi::ANY_TAG));
        let (into, room, ignored) = (self.inbox(), self.room(), std::ptr::null_mut::<Status>());
        call(Procedure::Recv, |me| p2p::recv(me, into, room, abi::BYTE, from, tag, COMM_WORLD, ignored));
    }

    fn irecv(&mut self, action: &Action) {
        let (from, tag) = (action.whole(0, -1), action.whole(1, -1));
        let (source, with_tag) = (or_any(from, abi::ANY_SOURCE), or_any(tag, abi::ANY_TAG));
        let (into, room) = (self.inbox(), self.room());
        let mut request = abi::REQUEST_NULL;
        call(Procedure::Irecv, |me| {
            immediate::irecv(me, into, room, abi::BYTE, source, with_tag, COMM_WORLD, &raw mut request)
        });
        self.open.entry((from, self.process, tag)).or_default().push_back(request);
    }

    /// Such lines have no tags.
    fn exchange(&self, action: &Action) {
        let (count, datatype) = (action.whole(0, 0), type_of(action.number(4, super::action::BYTES)));
        let (to, from) = (action.whole(1, 0) as i32, or_any(action.whole(3, -1), abi::ANY_SOURCE));
        let (out, into, room) = (self.outbox(), self.inbox(), self.room());
        let (tag, ignored) = (0, std::ptr::null_mut::<Status>());
        call(Procedure::Sendrecv, |me| {
            let (bytes, all) = (abi::BYTE, COMM_WORLD);
            p2p::sendrecv(me, out, count, datatype, to, tag, into, room, bytes, from, tag, all, ignored)
        });
    }

    /// The oldest request with the label of an action. Without a label it is any.
    fn take(&mut self, action: &Action) -> Option<Request> {
        if action.numbers.len() < 3 {
            let label = *self.open.keys().next_back()?;
            return self.take_of(label);
        }
        let label = (action.whole(0, 0), action.whole(1, 0), action.whole(2, 0));
        let fits = |open: &&Label| {
            let (from, to, tag) = **open;
            to == label.1 && (from < 0 || from == label.0) && (tag < 0 || tag == label.2)
        };
        // A receive from anybody is waited for by the one that it got its message from.
        let label = if self.open.contains_key(&label) { label } else { *self.open.keys().find(fits)? };
        self.take_of(label)
    }

    fn take_of(&mut self, label: Label) -> Option<Request> {
        let requests = self.open.get_mut(&label)?;
        let request = requests.pop_front();
        if requests.is_empty() {
            self.open.remove(&label);
        }
        request
    }

    fn wait(&mut self, action: &Action) {
        // What was found by a test is not there any more.
        let Some(mut request) = self.take(action) else { return };
        let ignored = std::ptr::null_mut::<Status>();
        call(Procedure::Wait, |me| requests::wait(me, &raw mut request, ignored));
    }

    fn test(&mut self, action: &Action) {
        let Some(mut request) = self.take(action) else { return };
        let (mut flag, ignored) = (0, std::ptr::null_mut::<Status>());
        call(Procedure::Test, |me| requests::test(me, &raw mut request, &raw mut flag, ignored));
        if flag == 0 {
            let label = (action.whole(0, 0), action.whole(1, 0), action.whole(2, 0));
            self.open.entry(label).or_default().push_front(request);
        }
    }

    fn wait_for_all(&mut self) {
        let mut all: Vec<Request> = std::mem::take(&mut self.open).into_values().flatten().collect();
        if !all.is_empty() {
            let (count, first) = (all.len() as i32, all.as_mut_ptr());
            call(Procedure::Waitall, |me| requests::waitall(me, count, first, std::ptr::null_mut()));
        }
    }

    fn collective(&self, me: &Rank, action: &Action) {
        let (out, into, size) = (self.outbox(), self.inbox(), me.world.size());
        let whole = |place: usize, otherwise: i64| action.whole(place, otherwise);
        let kind = |place: usize| type_of(action.number(place, super::action::BYTES));
        let root = |place: usize| action.whole(place, 0) as i32;
        // What a reduction computes beside.
        let works = |place: usize| match action.number(place, 0.0) {
            flops if flops > 0.0 => me.compute(flops),
            _ => {}
        };
        let sum = |datatype: Datatype| if datatype == abi::BYTE { abi::BOR } else { abi::SUM };
        match action.verb {
            Verb::Barrier => call(Procedure::Barrier, |me| collectives::barrier(me, COMM_WORLD)),
            Verb::Bcast => call(Procedure::Bcast, |me| {
                collectives::bcast(me, into, whole(0, 0), kind(2), root(1), COMM_WORLD)
            }),
            Verb::Reduce => {
                call(Procedure::Reduce, |me| {
                    collectives::reduce(
                        me,
                        out,
                        into,
                        whole(0, 0),
                        kind(3),
                        sum(kind(3)),
                        root(2),
                        COMM_WORLD,
                    )
                });
                works(1);
            }
            Verb::Allreduce => {
                call(Procedure::Allreduce, |me| {
                    collectives::allreduce(me, out, into, whole(0, 0), kind(2), sum(kind(2)), COMM_WORLD)
                });
                works(1);
            }
            Verb::Scan => {
                call(Procedure::Scan, |me| {
                    collectives::scan(me, out, into, whole(0, 0), kind(2), sum(kind(2)), COMM_WORLD)
                });
                works(1);
            }
            Verb::Exscan => {
                call(Procedure::Exscan, |me| {
                    collectives::exscan(me, out, into, whole(0, 0), kind(2), sum(kind(2)), COMM_WORLD)
                });
                works(1);
            }
            Verb::Gather => call(Procedure::Gather, |me| {
                let (sent, received) = (whole(0, 0), whole(1, 0));
                collectives::gather(me, out, sent, kind(3), into, received, kind(4), root(2), COMM_WORLD)
            }),
            Verb::Scatter => call(Procedure::Scatter, |me| {
                let (sent, received) = (whole(0, 0), whole(1, 0));
                collectives::scatter(me, out, sent, kind(3), into, received, kind(4), root(2), COMM_WORLD)
            }),
            Verb::Allgather => call(Procedure::Allgather, |me| {
                collectives::allgather(me, out, whole(0, 0), kind(2), into, whole(1, 0), kind(3), COMM_WORLD)
            }),
            Verb::Alltoall => call(Procedure::Alltoall, |me| {
                collectives::alltoall(me, out, whole(0, 0), kind(2), into, whole(1, 0), kind(3), COMM_WORLD)
            }),
            Verb::Gatherv => {
                let (counts, away) = blocks(action, 1, size);
                call(Procedure::Gatherv, |me| {
                    let (sent, after) = (whole(0, 0), size + 1);
                    let (root, sends, receives) = (root(after), kind(after + 1), kind(after + 2));
                    let (counts, away) = (wide(&counts), wide(&away));
                    collectives::gatherv(me, out, sent, sends, into, counts, away, receives, root, COMM_WORLD)
                });
            }
            Verb::Scatterv => {
                let (counts, away) = blocks(action, 0, size);
                call(Procedure::Scatterv, |me| {
                    let received = whole(size, 0);
                    let (root, sends, receives) = (root(size + 1), kind(size + 2), kind(size + 3));
                    let (counts, away) = (wide(&counts), wide(&away));
                    collectives::scatterv(
                        me, out, counts, away, sends, into, received, receives, root, COMM_WORLD,
                    )
                });
            }
            Verb::Allgatherv => {
                let (counts, away) = blocks(action, 1, size);
                call(Procedure::Allgatherv, |me| {
                    let (sends, receives) = (kind(size + 1), kind(size + 2));
                    let (counts, away) = (wide(&counts), wide(&away));
                    collectives::allgatherv(
                        me,
                        out,
                        whole(0, 0),
                        sends,
                        into,
                        counts,
                        away,
                        receives,
                        COMM_WORLD,
                    )
                });
            }
            Verb::Alltoallv => {
                let ((sends, from), (receives, to)) =
                    (blocks(action, 1, size), blocks(action, size + 2, size));
                call(Procedure::Alltoallv, |me| {
                    let (given, gotten) = (kind(2 * size + 2), kind(2 * size + 3));
                    let (sends, from, receives, to) = (wide(&sends), wide(&from), wide(&receives), wide(&to));
                    collectives::alltoallv(
                        me, out, sends, from, given, into, receives, to, gotten, COMM_WORLD,
                    )
                });
            }
            Verb::ReduceScatter => {
                let (counts, _) = blocks(action, 0, size);
                let datatype = kind(size + 1);
                call(Procedure::ReduceScatter, |me| {
                    let counts = wide(&counts);
                    collectives::reduce_scatter(me, out, into, counts, datatype, sum(datatype), COMM_WORLD)
                });
                works(size);
            }
            other => unreachable!("{} is no collective", other.name()),
        }
    }
}

/// The counts of a line, from a place on, and where the blocks begin that they stand for.
fn blocks(action: &Action, first: usize, size: usize) -> (Vec<i64>, Vec<i64>) {
    let counts: Vec<i64> = (first..first + size).map(|place| action.whole(place, 0)).collect();
    let mut away = Vec::with_capacity(size);
    let mut sum = 0;
    for count in &counts {
        away.push(sum);
        sum += count;
    }
    (counts, away)
}

fn wide(numbers: &[i64]) -> Counts {
    Counts::new(numbers.as_ptr().cast(), true)
}
