//! What a visitor of the engine `receives` is shown: every way once, and all that came of each request in it.

use std::collections::BTreeSet;

use simurgh_explore::Violation;
use simurgh_explore::receives::parts::explore_ways;
use simurgh_explore::receives::reads_from::{Outcome, Place, ReadsFrom};
use simurgh_explore::receives::search::Limits;
use simurgh_explore::receives::{Mailbox, Network, Patience, Processes, Reply, Request, Side};
use smallvec::smallvec;

/// Processes that ask the same things in the same order, whatever they are answered.
struct Fixed {
    requests: Vec<Vec<Request>>,
    /// How many of them are there at the start; the others are created.
    count: u32,
    next: Vec<usize>,
}

impl Fixed {
    fn new(requests: Vec<Vec<Request>>) -> Self {
        Self { count: requests.len() as u32, requests, next: Vec::new() }
    }
}

impl Processes for Fixed {
    fn restart(&mut self) {
        self.next = vec![0; self.requests.len()];
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn is_daemon(&self, _: u32) -> bool {
        false
    }

    fn resume(&mut self, process: u32, _: Reply) -> Request {
        let next = &mut self.next[process as usize];
        *next += 1;
        self.requests[process as usize].get(*next - 1).cloned().unwrap_or(Request::Ended)
    }
}

fn post(mailbox: u32, is_send: bool) -> Request {
    let side = if is_send { Side::Send(Default::default()) } else { Side::Recv(Default::default()) };
    Request::Post(Mailbox(mailbox), side)
}

fn receive(mailbox: u32) -> Request {
    let side = Side::Recv(Default::default());
    Request::PostAndWait(Mailbox(mailbox), side, Patience::Forever)
}

fn ways(mut program: Fixed) -> (Vec<ReadsFrom>, Vec<Option<Violation>>) {
    let (mut ways, mut violations) = (Vec::new(), Vec::new());
    let mut visit = |shown: Option<(&ReadsFrom, &[Violation])>| {
        let Some((way, wrong)) = shown else { return true };
        ways.push(way.clone());
        violations.push(wrong.first().cloned());
        true
    };
    let limits = Limits { all: true, ..Limits::default() };
    let found = explore_ways(&mut program, Network::Mailbox, limits, &mut visit).expect("known");
    assert_eq!(found.executions, ways.len() as u64);
    assert_eq!(ways.iter().collect::<BTreeSet<_>>().len(), ways.len(), "a way is shown once");
    (ways, violations)
}

fn met(process: u32, post: u32) -> Outcome {
    Outcome::Posted { partner: Some(Place { process, post }) }
}

const ALONE: Outcome = Outcome::Posted { partner: None };

#[test]
fn every_order_of_two_messages_with_both_ends_named() {
    let (mut ways, _) = ways(Fixed::new(vec![
        vec![receive(0), receive(0)],
        vec![post(1, true), post(0, true)],
        vec![post(0, true)],
    ]));
    ways.sort();
    let done = Outcome::Completed(0);
    let expected = [
        ReadsFrom {
            processes: vec![vec![met(1, 1), done, met(2, 0), done], vec![ALONE, met(0, 0)], vec![met(0, 1)]],
        },
        ReadsFrom {
            processes: vec![vec![met(2, 0), done, met(1, 1), done], vec![ALONE, met(0, 1)], vec![met(0, 0)]],
        },
    ];
    assert_eq!(ways, expected);
}

#[test]
fn work_that_is_no_post_does_not_count_as_one() {
    // Activities 0 and 2 are work, 1 is the receive, which has to be waited for; then either of the other two.
    let (ways, _) = ways(Fixed::new(vec![
        vec![
            Request::Begin,
            post(0, false),
            Request::Begin,
            Request::WaitAny(smallvec![1], Patience::Forever),
            Request::WaitAny(smallvec![0, 2], Patience::Forever),
        ],
        vec![post(0, true)],
    ]));
    let chosen: BTreeSet<_> = ways.iter().map(|way| way.processes[0].clone()).collect();
    let with = |index| vec![met(1, 0), Outcome::Completed(0), Outcome::Completed(index)];
    assert_eq!(chosen, BTreeSet::from([with(0), with(1)]));
}

#[test]
fn choices_tests_and_new_processes() {
    let mut program = Fixed::new(vec![
        vec![Request::Choose(2), Request::Spawn, post(0, false), Request::TestAny(smallvec![0])],
        vec![post(0, true)],
    ]);
    program.count = 1;
    let (ways, _) = ways(program);
    let mut parents: Vec<_> = ways.iter().map(|way| way.processes[0].clone()).collect();
    parents.sort();
    let expected = [
        (0, Outcome::Completed(0)),
        (0, Outcome::Nothing),
        (1, Outcome::Completed(0)),
        (1, Outcome::Nothing),
    ]
    .map(|(number, tested)| vec![Outcome::Chosen(number), Outcome::Spawned(1), met(1, 0), tested]);
    assert_eq!(parents, expected);
}

#[test]
fn what_went_wrong_comes_with_the_way() {
    let (ways, violations) = ways(Fixed::new(vec![vec![receive(0), receive(0)], vec![post(0, true)]]));
    assert_eq!(
        ways,
        [ReadsFrom { processes: vec![vec![met(1, 0), Outcome::Completed(0), ALONE], vec![met(0, 0)]] }]
    );
    assert_eq!(violations, [Some(Violation::Deadlock { actors: vec![0] })]);
}

#[test]
fn a_visitor_stops_the_search() {
    let senders = (0..4).map(|_| vec![post(0, true)]);
    let receiver = vec![receive(0), receive(0), receive(0), receive(0)];
    let mut program = Fixed::new(std::iter::once(receiver).chain(senders).collect());
    let mut seen = 0;
    let mut visit = |shown: Option<(&ReadsFrom, &[Violation])>| {
        seen += usize::from(shown.is_some());
        seen < 5
    };
    let found = explore_ways(&mut program, Network::Mailbox, Limits::default(), &mut visit).expect("known");
    assert_eq!((found.executions, seen), (5, 5));
    assert_eq!(found.verdict, simurgh_explore::Verdict::NotExhausted);
}

/// Who of the others was last at a barrier, nobody can tell: one that asks was last, or was not.
#[test]
fn a_barrier_where_one_of_four_asks_who_was_last_has_two_ways() {
    let arrive = |told| vec![Request::Arrive { barrier: 0, places: 4, told }];
    for (askers, expected) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)] {
        let requests = (0..4).map(|process| arrive(process < askers)).collect();
        assert_eq!(ways(Fixed::new(requests)).0.len(), expected, "{askers} ask");
    }
}

/// A receive that is cancelled may have got its message, or not: that it can be taken back is known though it never was.
#[test]
fn a_receive_that_meets_its_message_could_have_been_cancelled_before() {
    let receiver = vec![post(0, false), Request::Cancel(0)];
    let sender = vec![post(0, true)];
    assert_eq!(ways(Fixed::new(vec![receiver, sender])).0.len(), 2);
}
