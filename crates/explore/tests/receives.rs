//! The engine `receives` against brute force: every interleaving of thousands of random programs is tried, and the
//! distinct ways to receive are counted.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::generate::seed_of;
use simurgh_explore::Verdict;
use simurgh_explore::receives::parts::{Frontier, explore_parts};
use simurgh_explore::receives::search::Limits;
use simurgh_explore::receives::{Handle, Mailbox, Network, Patience, Processes, Reply, Request, Side};
use simurgh_kernel::random::Random;
use simurgh_testing::cases;
use smallvec::SmallVec;

/// What a process of a random program does.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Op {
    Send(u32),
    Recv(u32),
    Isend(u32),
    Irecv(u32),
    Dsend(u32),
    WaitAll,
    WaitAny,
}

type Program = Vec<Vec<Op>>;

/// Runs a program for the engine: waits for all are waits one by one, as in scenarios.
struct Script {
    program: Program,
    at: Vec<State>,
}

#[derive(Clone, Default)]
struct State {
    next: usize,
    pending: Vec<Handle>,
    waiting_all: bool,
    posted: Handle,
}

impl Processes for Script {
    fn restart(&mut self) {
        self.at = vec![State::default(); self.program.len()];
    }

    fn count(&self) -> u32 {
        self.program.len() as u32
    }

    fn is_daemon(&self, _: u32) -> bool {
        false
    }

    fn resume(&mut self, process: u32, reply: Reply) -> Request {
        let state = &mut self.at[process as usize];
        let operations = &self.program[process as usize];
        if let Reply::Posted(handle) = reply {
            state.posted = handle + 1;
            match operations[state.next - 1] {
                Op::Isend(_) | Op::Irecv(_) => state.pending.push(handle),
                _ => {}
            }
        }
        if let (Reply::Completed { index, .. }, Some(Op::WaitAny)) =
            (reply, state.next.checked_sub(1).map(|last| operations[last]))
        {
            state.pending.remove(index as usize);
        }
        if state.waiting_all {
            if !state.pending.is_empty() {
                return wait_any(&[state.pending.remove(0)]);
            }
            state.waiting_all = false;
        }
        loop {
            let Some(&operation) = operations.get(state.next) else { return Request::Ended };
            state.next += 1;
            let (mailbox, is_send) = match operation {
                Op::Send(m) | Op::Isend(m) | Op::Dsend(m) => (Mailbox(m), true),
                Op::Recv(m) | Op::Irecv(m) => (Mailbox(m), false),
                Op::WaitAll if state.pending.is_empty() => continue,
                Op::WaitAny if state.pending.is_empty() => continue,
                Op::WaitAll => {
                    state.waiting_all = true;
                    return wait_any(&[state.pending.remove(0)]);
                }
                Op::WaitAny => return wait_any(&state.pending),
            };
            let side = if is_send { Side::Send(Default::default()) } else { Side::Recv(Default::default()) };
            return match operation {
                Op::Send(_) | Op::Recv(_) => Request::PostAndWait(mailbox, side, Patience::Forever),
                _ => Request::Post(mailbox, side),
            };
        }
    }
}

fn wait_any(set: &[Handle]) -> Request {
    Request::WaitAny(SmallVec::from_slice(set), Patience::Forever)
}

/// The obvious semantics: a state of everything, and every step that can be taken from it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct World {
    /// Of each process: the next operation, its pending posts, the posts it is blocked on.
    next: Vec<usize>,
    pending: Vec<Vec<usize>>,
    blocked: Vec<Vec<usize>>,
    /// Posts: process, number within the process, mailbox, whether a send, partner.
    posts: Vec<(usize, usize, u32, bool, Option<usize>)>,
    /// Sends under way, and what lies in the mailboxes, oldest first.
    under_way: Vec<usize>,
    sends: Vec<Vec<usize>>,
    receives: Vec<Vec<usize>>,
    /// The choices of waits for any, by process.
    choices: Vec<Vec<usize>>,
}

const MAILBOXES: usize = 4;

impl World {
    fn start(program: &Program) -> World {
        let n = program.len();
        World {
            next: vec![0; n],
            pending: vec![Vec::new(); n],
            blocked: vec![Vec::new(); n],
            sends: vec![Vec::new(); MAILBOXES],
            receives: vec![Vec::new(); MAILBOXES],
            choices: vec![Vec::new(); n],
            ..World::default()
        }
    }

    fn arrive(&mut self, post: usize) {
        let mailbox = self.posts[post].2 as usize;
        if self.receives[mailbox].is_empty() {
            self.sends[mailbox].push(post);
        } else {
            let other = self.receives[mailbox].remove(0);
            self.posts[post].4 = Some(other);
            self.posts[other].4 = Some(post);
        }
    }

    fn post(&mut self, process: usize, mailbox: u32, is_send: bool, network: Network) -> usize {
        let number = self.posts.iter().filter(|post| post.0 == process).count();
        self.posts.push((process, number, mailbox, is_send, None));
        let post = self.posts.len() - 1;
        if is_send {
            if network == Network::Mailbox {
                self.arrive(post);
            } else {
                self.under_way.push(post);
            }
        } else if self.sends[mailbox as usize].is_empty() {
            self.receives[mailbox as usize].push(post);
        } else {
            let other = self.sends[mailbox as usize].remove(0);
            self.posts[post].4 = Some(other);
            self.posts[other].4 = Some(post);
        }
        post
    }

    /// All states that one step leads to.
    fn steps(&self, program: &Program, network: Network) -> Vec<World> {
        let mut steps = Vec::new();
        for (place, &post) in self.under_way.iter().enumerate() {
            let held_up = network == Network::Pairwise
                && self.under_way[..place].iter().any(|&other| {
                    self.posts[other].0 == self.posts[post].0 && self.posts[other].2 == self.posts[post].2
                });
            if !held_up {
                let mut world = self.clone();
                world.under_way.remove(place);
                world.arrive(post);
                steps.push(world);
            }
        }
        for (process, operations) in program.iter().enumerate() {
            if let Some(&first) = self.blocked[process].first() {
                if self.posts[first].4.is_some() {
                    let mut world = self.clone();
                    world.blocked[process].remove(0);
                    steps.push(world);
                }
                continue;
            }
            let Some(&operation) = operations.get(self.next[process]) else { continue };
            let mut world = self.clone();
            world.next[process] += 1;
            match operation {
                Op::Send(m) | Op::Recv(m) => {
                    let post = world.post(process, m, matches!(operation, Op::Send(_)), network);
                    world.blocked[process].push(post);
                }
                Op::Isend(m) | Op::Irecv(m) => {
                    let post = world.post(process, m, matches!(operation, Op::Isend(_)), network);
                    world.pending[process].push(post);
                }
                Op::Dsend(m) => drop(world.post(process, m, true, network)),
                Op::WaitAll => world.blocked[process] = std::mem::take(&mut world.pending[process]),
                Op::WaitAny if self.pending[process].is_empty() => {}
                Op::WaitAny => {
                    for (place, &post) in self.pending[process].iter().enumerate() {
                        if self.posts[post].4.is_some() {
                            let mut world = world.clone();
                            world.pending[process].remove(place);
                            world.choices[process].push(place);
                            steps.push(world);
                        }
                    }
                    continue;
                }
            }
            steps.push(world);
        }
        steps
    }

    /// Who received what, and which choices were made.
    fn way(&self) -> ReadsFrom {
        let name = |post: usize| (self.posts[post].0, self.posts[post].1);
        let met = (0..self.posts.len())
            .filter(|&post| !self.posts[post].3)
            .filter_map(|post| self.posts[post].4.map(|other| (name(post), name(other))))
            .collect();
        (met, self.choices.clone())
    }
}

type ReadsFrom = (BTreeSet<((usize, usize), (usize, usize))>, Vec<Vec<usize>>);

/// All ways, and whether one of them is a deadlock; nothing if there are too many states.
fn brute_force(program: &Program, network: Network) -> Option<(usize, bool)> {
    brute_force_of(program, network, 2_500)
}

fn brute_force_of(program: &Program, network: Network, most: usize) -> Option<(usize, bool)> {
    let mut seen = BTreeSet::new();
    let mut stack = vec![World::start(program)];
    let mut ways = BTreeSet::new();
    let mut deadlock = false;
    while let Some(world) = stack.pop() {
        if !seen.insert(world.clone()) {
            continue;
        }
        if seen.len() > most {
            return None;
        }
        let steps = world.steps(program, network);
        if steps.is_empty() {
            ways.insert(world.way());
            deadlock |=
                (0..program.len()).any(|p| world.next[p] < program[p].len() || !world.blocked[p].is_empty());
        }
        stack.extend(steps);
    }
    Some((ways.len(), deadlock))
}

fn random_program(random: &mut Random) -> Program {
    sized_program(random, 5, 3)
}

/// Of at most so many operations a process, for few processes and for many.
fn sized_program(random: &mut Random, few: u64, many: u64) -> Program {
    let processes = 2 + random.below(3) as usize;
    let mailboxes = 1 + random.below(3);
    (0..processes)
        .map(|_| {
            let length = 1 + random.below(if processes < 4 { few } else { many });
            (0..length)
                .map(|_| {
                    let mailbox = random.below(mailboxes) as u32;
                    match random.below(8) {
                        0 => Op::Send(mailbox),
                        1 => Op::Recv(mailbox),
                        2 => Op::Isend(mailbox),
                        3 | 4 => Op::Irecv(mailbox),
                        5 => Op::Dsend(mailbox),
                        6 => Op::WaitAll,
                        _ => Op::WaitAny,
                    }
                })
                .collect()
        })
        .collect()
}

fn engine(program: &Program, network: Network, eager: bool) -> (u64, u64, bool) {
    explored(program, network, Limits { all: true, eager, ..Limits::default() })
}

fn explored(program: &Program, network: Network, limits: Limits) -> (u64, u64, bool) {
    let make = || Script { program: program.clone(), at: Vec::new() };
    let explored = explore_parts(&make, network, limits, 1, Frontier::default(), &mut |_| true);
    let found = explored.expect("nothing here is unknown").found;
    (found.executions, found.transitions, found.verdict == Verdict::Deadlock)
}

const NETWORKS: [Network; 3] = [Network::Mailbox, Network::Pairwise, Network::Unordered];

#[test]
fn every_way_once_and_no_other_on_random_programs() {
    let mut random = Random::new(seed_of(2014), 1);
    let mut compared = 0;
    for round in 0..cases(600) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let Some((ways, deadlock)) = brute_force(&program, network) else { continue };
            let (executions, _, found) = engine(&program, network, false);
            assert_eq!(
                (executions, found),
                (ways as u64, deadlock),
                "round {round}, {network:?}: {program:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 3 * cases(600) / 2, "only {compared} programs were small enough");
}

/// Programs of up to fourteen operations: what goes wrong with shared mailboxes needs some length.
/// Programs that were explored wrongly once.
#[test]
fn every_way_once_and_no_other_on_programs_that_went_wrong() {
    use Op::*;
    let programs = [vec![
        vec![Send(0), Irecv(0), Irecv(1)],
        vec![Send(1), Isend(0), Dsend(1), Irecv(0)],
        vec![Irecv(0), Dsend(0), Irecv(1)],
    ]];
    for program in &programs {
        for network in NETWORKS {
            let Some((ways, deadlock)) = brute_force(program, network) else { continue };
            let (executions, _, found) = engine(program, network, false);
            assert_eq!((executions, found), (ways as u64, deadlock), "{network:?}: {program:?}");
        }
    }
}

#[test]
fn every_way_once_and_no_other_on_longer_programs() {
    let mut random = Random::new(seed_of(99), 5);
    let mut compared = 0;
    for round in 0..cases(40) {
        let program = sized_program(&mut random, 7, 4);
        for network in NETWORKS {
            let Some((ways, deadlock)) = brute_force_of(&program, network, 30_000) else { continue };
            let (executions, _, found) = engine(&program, network, false);
            let what = format!("round {round}, {network:?}: {program:?}");
            assert_eq!((executions, found), (ways as u64, deadlock), "{what}");
            compared += 1;
        }
    }
    assert!(compared > cases(40), "only {compared} programs were small enough");
}

/// One sender and one receiver have one way, and each of their operations takes its steps and no more: in every such program of
/// the size of real ones a choice that leads nowhere would double the work, again and again.
#[test]
fn streams_take_one_execution_and_few_steps() {
    let stream = |n: usize, m: u32| [vec![Op::Dsend(m); n], vec![Op::Recv(m); n]];
    let isends =
        |n: usize, m: u32| [[vec![Op::Isend(m); n], vec![Op::WaitAll]].concat(), vec![Op::Recv(m); n]];
    let irecvs =
        |n: usize, m: u32| [vec![Op::Send(m); n], [vec![Op::Irecv(m); n], vec![Op::WaitAll]].concat()];
    let ring = |actors: u32, rounds: usize| -> Program {
        let turn = |i: u32| [Op::Isend((i + 1) % actors), Op::Recv(i), Op::WaitAll];
        (0..actors).map(|i| turn(i).repeat(rounds)).collect()
    };
    // A mailbox for each direction of each pair of neighbours.
    let halo = |actors: u32, steps: usize| -> Program {
        let one = |i: u32| {
            let (left, right) = ((i + actors - 1) % actors, (i + 1) % actors);
            let to = |from: u32, to: u32| from * actors + to;
            [
                Op::Irecv(to(left, i)),
                Op::Irecv(to(right, i)),
                Op::Isend(to(i, left)),
                Op::Isend(to(i, right)),
                Op::WaitAll,
            ]
        };
        (0..actors).map(|i| one(i).repeat(steps)).collect()
    };
    let fan_in = |senders: usize, m: u32| {
        let mut program = vec![vec![Op::Recv(m); senders]];
        program.extend(vec![vec![Op::Send(m)]; senders]);
        program
    };
    let programs: [(&str, Program, u64); 9] = [
        ("64 dsend, 64 recv", stream(64, 0).to_vec(), 1),
        ("64 isend and a waitall", isends(64, 0).to_vec(), 1),
        ("64 send, 64 irecv and a waitall", irecvs(64, 0).to_vec(), 1),
        ("four streams", (0..4).flat_map(|m| stream(32, m)).collect(), 1),
        ("a ring", ring(8, 20), 1),
        ("a halo", halo(6, 20), 1),
        (
            "a fan-in beside two streams",
            [fan_in(5, 0), stream(24, 1).to_vec(), stream(24, 2).to_vec()].concat(),
            120,
        ),
        ("256 dsend, 256 recv", stream(256, 0).to_vec(), 1),
        ("1,000 dsend, 1,000 recv", stream(1_000, 0).to_vec(), 1),
    ];
    for (name, program, ways) in programs {
        let operations: usize = program.iter().map(Vec::len).sum();
        for network in [Network::Mailbox, Network::Pairwise] {
            let (executions, steps, deadlock) = engine(&program, network, false);
            println!("{name}, {network}: {executions} executions, {steps} steps, {operations} operations");
            assert_eq!((executions, deadlock), (ways, false), "{name}, {network}");
            assert!(steps <= 4 * ways * operations as u64, "{name}, {network}: {steps} steps");
        }
    }
    // Where each message is waited for before the next, none overtakes another: a halo of 6 took millions of steps.
    for (name, program) in [("a ring", ring(8, 20)), ("a halo", halo(6, 20))] {
        let operations: usize = program.iter().map(Vec::len).sum();
        let (executions, steps, deadlock) = engine(&program, Network::Unordered, false);
        assert_eq!((executions, deadlock), (1, false), "{name}, unordered");
        assert!(steps <= 4 * operations as u64, "{name}, unordered: {steps} steps");
    }
}

#[test]
fn choices_offered_late_miss_nothing_that_eager_ones_find() {
    let mut random = Random::new(7, 7);
    let (mut all_steps, mut all_more) = (0, 0);
    for round in 0..cases(1_000) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let (lazy, steps, deadlock) = engine(&program, network, false);
            let (eager, more, eager_deadlock) = engine(&program, network, true);
            assert_eq!((lazy, deadlock), (eager, eager_deadlock), "round {round}, {network:?}: {program:?}");
            (all_steps, all_more) = (all_steps + steps, all_more + more);
        }
    }
    assert!(all_steps < all_more, "late choices are not more work: {all_steps} steps against {all_more}");
}

/// A program in which each process receives at a mailbox of its own, and mostly waits for what it receives.
fn own_mailboxes(random: &mut Random, few: u64, many: u64) -> Program {
    let processes = 2 + random.below(3);
    (0..processes)
        .map(|own| {
            let length = 1 + random.below(if processes < 4 { few } else { many });
            let operation = |random: &mut Random| {
                let to = random.below(processes) as u32;
                match random.below(12) {
                    0 | 1 => Op::Send(to),
                    2 | 3 => Op::Isend(to),
                    4..=7 => Op::Recv(own as u32),
                    8 => Op::Irecv(own as u32),
                    9 => Op::Dsend(to),
                    10 => Op::WaitAll,
                    _ => Op::WaitAny,
                }
            };
            (0..length).map(|_| operation(random)).collect()
        })
        .collect()
}

const IN_TURN: Limits = Limits {
    all: true,
    executions: u64::MAX,
    depth: 1_000_000,
    stops_when_cut: false,
    stretch: 256,
    eager: false,
    in_turn: true,
};

#[test]
fn what_is_left_out_since_nothing_comes_later_is_no_way() {
    use Op::*;
    // What was promised before, the receive that is passed over, is kept by what the later receive has caused.
    let promised = vec![
        vec![Recv(0), Recv(0), Isend(1)],
        vec![Isend(1), Irecv(1), Recv(1), Send(0)],
        vec![Isend(0), WaitAny, Send(0)],
    ];
    assert_eq!(explored(&promised, Network::Pairwise, IN_TURN).0, 2);
    let mut random = Random::new(seed_of(64), 3);
    let (mut fewer, mut steps_all, mut steps_few, mut compared) = (0, 0, 0, 0);
    for round in 0..cases(400) {
        let program = match round % 4 {
            0 => sized_program(&mut random, 6, 4),
            _ => own_mailboxes(&mut random, 9, 6),
        };
        for network in NETWORKS {
            let what = format!("round {round}, {network:?}: {program:?}");
            let (all, more, deadlock) = engine(&program, network, false);
            let (executions, steps, found) = explored(&program, network, IN_TURN);
            assert_eq!((executions, found), (all, deadlock), "{what}");
            fewer += usize::from(steps < more);
            (steps_all, steps_few) = (steps_all + more, steps_few + steps);
            if let Some((ways, deadlock)) = brute_force(&program, network) {
                assert_eq!((executions, found), (ways as u64, deadlock), "{what}");
                compared += 1;
            }
        }
    }
    println!(
        "{compared} compared with brute force, {fewer} took fewer steps: {steps_few} in place of {steps_all}"
    );
    assert!(fewer > cases(400) / 20, "nothing was left out: {fewer} programs");
}

/// Rounds in which each receives of anybody, once: what comes next is sent when all have received. Each receive was left for later in vain,
/// which took the square of the steps.
#[test]
fn rounds_of_receives_take_no_step_in_vain() {
    let round = |own: u32, processes: u32| {
        let others = (0..processes).filter(move |other| *other != own);
        let first =
            if own == 0 { others.map(Op::Isend).collect() } else { vec![Op::Recv(own), Op::Isend(0)] };
        let last = if own == 0 { vec![Op::Recv(own); processes as usize - 1] } else { Vec::new() };
        [first, last, vec![Op::WaitAll]].concat()
    };
    // One that hands out and collects, in whatever order: there are two ways a round to collect from two.
    let rounds = |processes: u32, count: usize| -> Program {
        (0..processes).map(|own| round(own, processes).repeat(count)).collect()
    };
    for (count, ways) in [(1, 2), (2, 4), (5, 32)] {
        let (executions, steps, deadlock) = explored(&rounds(3, count), Network::Pairwise, IN_TURN);
        assert_eq!((executions, deadlock), (ways, false), "{count} rounds");
        let (all, more, _) = engine(&rounds(3, count), Network::Pairwise, false);
        println!("{count} rounds: {executions} executions, {steps} steps in place of {more}");
        assert!(all == ways && steps <= more);
    }
    let ring = |rounds: usize| -> Program {
        (0..4_u32).map(|own| [Op::Isend((own + 1) % 4), Op::Recv(own), Op::WaitAll].repeat(rounds)).collect()
    };
    let (executions, steps, _) = explored(&ring(50), Network::Unordered, IN_TURN);
    assert_eq!(executions, 1);
    assert!(steps <= 4 * 4 * 3 * 50, "{steps} steps");
}

#[test]
fn one_receiver_and_groups_of_three_take_no_step_too_many() {
    let fan_in = |senders: usize| -> Program {
        let mut program = vec![vec![Op::Recv(0); senders]];
        program.extend(vec![vec![Op::Send(0)]; senders]);
        program
    };
    // One execution for each order of the senders; each takes the posts, the ends of the waits and the ends.
    for (senders, orders) in [(1, 1), (2, 2), (3, 6), (4, 24), (7, 5040)] {
        let (executions, transitions, deadlock) = engine(&fan_in(senders), Network::Mailbox, false);
        assert_eq!((executions, deadlock), (orders, false));
        assert_eq!(transitions, orders * (5 * senders as u64 + 1));
    }
    for groups in 1..=3u32 {
        let mut program = Program::new();
        for group in 0..groups {
            program.push(vec![Op::Recv(group); 2]);
            program.extend(vec![vec![Op::Send(group)]; 2]);
        }
        assert_eq!(engine(&program, Network::Mailbox, false).0, 1 << groups);
    }
}

#[test]
fn several_workers_see_what_one_sees() {
    let mut random = Random::new(31, 8);
    for round in 0..cases(250) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let (executions, transitions, deadlock) = engine(&program, network, false);
            let make = || Script { program: program.clone(), at: Vec::new() };
            let limits = Limits { all: true, stretch: 1, ..Limits::default() };
            let mut schedules = None;
            for workers in [1, 2, 3] {
                let frontier =
                    explore_parts(&make, network, limits, workers, Frontier::default(), &mut |_| true)
                        .expect("nothing here is unknown");
                let found = &frontier.found;
                assert!(frontier.is_exhausted());
                assert_eq!(
                    (found.executions, found.verdict == Verdict::Deadlock),
                    (executions, deadlock),
                    "round {round}, {network:?}, {workers} workers: {program:?}"
                );
                assert_eq!(found.transitions, transitions, "round {round}, {network:?}, {workers} workers");
                let first = schedules.get_or_insert_with(|| found.found.clone());
                assert_eq!(*first, found.found, "round {round}, {network:?}, {workers} workers: {program:?}");
            }
        }
    }
}

/// A fan-in whose receiver fails if the last sender is first.
struct LastIsFirst<'a> {
    script: Script,
    is_last: Option<bool>,
    was_found: &'a AtomicBool,
}

impl Processes for LastIsFirst<'_> {
    fn restart(&mut self) {
        self.is_last = None;
        self.script.restart();
    }

    fn count(&self) -> u32 {
        self.script.count()
    }

    fn is_daemon(&self, process: u32) -> bool {
        self.script.is_daemon(process)
    }

    fn resume(&mut self, process: u32, reply: Reply) -> Request {
        if let Reply::Completed { from: Some((sender, _)), .. } = reply {
            self.is_last.get_or_insert(sender == self.count() - 1);
        }
        match self.script.resume(process, reply) {
            Request::Ended if process == 0 && self.is_last == Some(true) => {
                self.was_found.store(true, Ordering::Relaxed);
                Request::Failed("the last was first".to_owned())
            }
            request => request,
        }
    }
}

#[test]
fn what_several_workers_found_is_told_though_one_had_no_time_to_find_the_first() {
    let was_found = AtomicBool::new(false);
    let make = || {
        let mut program = vec![vec![Op::Recv(0); 7]];
        program.extend(vec![vec![Op::Send(0)]; 7]);
        LastIsFirst { script: Script { program, at: Vec::new() }, is_last: None, was_found: &was_found }
    };
    let limits = Limits { stretch: 1, ..Limits::default() };
    let mut goes_on = |_: &_| !was_found.load(Ordering::Relaxed);
    let frontier = explore_parts(&make, Network::Mailbox, limits, 2, Frontier::default(), &mut goes_on);
    let frontier = frontier.expect("nothing here is unknown");
    assert!(!frontier.is_exhausted());
    assert_eq!(frontier.found.verdict, Verdict::Violated);
    assert_eq!(frontier.found.found.len(), 1);
}

#[test]
fn a_search_that_is_stopped_again_and_again_sees_what_one_that_is_not_sees() {
    let mut random = Random::new(77, 2);
    let mut stops = 0;
    for round in 0..cases(400) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let (executions, _, deadlock) = engine(&program, network, false);
            let make = || Script { program: program.clone(), at: Vec::new() };
            let mut frontier = Frontier::default();
            while !frontier.is_exhausted() {
                let limits = Limits {
                    all: true,
                    executions: frontier.found.executions + 1 + random.below(4),
                    stretch: 1,
                    ..Limits::default()
                };
                frontier = explore_parts(&make, network, limits, 1, frontier, &mut |_| true).expect("known");
                stops += 1;
            }
            let verdict = if deadlock { Verdict::Deadlock } else { Verdict::Holds };
            assert_eq!(
                (frontier.found.executions, frontier.found.verdict),
                (executions, verdict),
                "round {round}, {network:?}: {program:?}"
            );
        }
    }
    assert!(cases(400) < 400 || stops > 1_000, "only {stops} stops");
}
