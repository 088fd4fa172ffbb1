//! Parallel tasks: the reference's timings on its own example, hosts of 1 flop/s and links of 1 B/s.
//!
//! The reference shares by an iteration that stops short by 1e-5 of a capacity, so that where two resources
//! limit a task its dates are off by as much: 5.500039 for 5.5. All is compared to 1e-4 of a date.

use std::sync::Arc;

use crate::support::*;
use simurgh_models::*;
use simurgh_platform::{HostId, LinkId, Platform, Routing, Sharing};

/// Hosts 0 to 4 of 1 flop/s, 5 to 7 of 2. Host 0 to 3 each have a link of 1 B/s and 0.5 s to a switch of 1 s;
/// from host 0 a link of its own goes to 4 (link 0 again), to 5 (a fat pipe), to 6 (so far away that the TCP
/// window allows 1 B/s), and to 7 (a real one).
fn world() -> Arc<Platform> {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let hosts: Vec<HostId> = (0..8)
        .map(|number| {
            let speed = if number < 5 { 1.0 } else { 2.0 };
            platform.host(zone, &format!("cpu{number}"), speed).id()
        })
        .collect();
    let switch = platform.link(zone, "switch", 2.0, 1.0).sharing(Sharing::FatPipe).id();
    let links: Vec<LinkId> =
        (0..4).map(|number| platform.link(zone, &format!("link{number}"), 1.0, 0.5).id()).collect();
    for from in 0..4 {
        for to in from + 1..4 {
            platform.route(zone, hosts[from], hosts[to], [links[from], switch, links[to]]);
        }
    }
    let fat = platform.link(zone, "fat", 1.0, 0.5).sharing(Sharing::FatPipe).id();
    let far = platform.link(zone, "far", 1.0, 2097152.0).sharing(Sharing::FatPipe).id();
    let real = platform.link(zone, "real", 125e6, 100e-6).id();
    for (to, link) in [(4, links[0]), (5, fat), (6, far), (7, real)] {
        platform.route(zone, hosts[0], hosts[to], [link]);
    }
    Arc::new(platform.build().unwrap())
}

fn l07() -> Models {
    Models::new(world(), &config(&[("host/model", "ptask_L07")])).unwrap()
}

/// Who takes part, what each computes, and the bytes from one place of that list to another.
type Task = (&'static [u32], &'static [f64], &'static [(usize, usize, f64)]);

fn task(&(hosts, flops, messages): &Task) -> ParallelTask {
    let count = hosts.len();
    let mut bytes = vec![0.0; if messages.is_empty() { 0 } else { count * count }];
    for &(from, to, size) in messages {
        bytes[from * count + to] = size;
    }
    ParallelTask { hosts: hosts.iter().map(|&host| HostId(host)).collect(), flops: flops.to_vec(), bytes }
}

/// Plays each list of work that starts at 0, and compares the ends of all.
#[track_caller]
fn check<'a>(table: impl IntoIterator<Item = (Vec<Work>, &'a [f64])>) {
    let mut wrong = Vec::new();
    for (works, expected) in table {
        let plan: Vec<(f64, Work)> = works.iter().map(|work| (0.0, work.clone())).collect();
        let ends = play(&mut l07(), &plan);
        let near = |(end, expected): (&f64, &f64)| (end - expected).abs() <= 1e-4 * expected;
        if !ends.iter().zip(expected).all(near) {
            wrong.push(format!("{works:?}: {ends:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tasks that start together, and when they end.
const TABLE: &[(&[Task], &[f64])] = &[
    // The slowest part sets the pace.
    (&[(&[0, 1], &[3.0, 1.0], &[])], &[3.0]),
    (&[(&[0, 5], &[3.0, 8.0], &[])], &[4.0]),
    (&[(&[5], &[5.0], &[])], &[2.5]),
    (&[(&[0, 4], &[4.0, 0.0], &[(0, 1, 2.0)])], &[4.5]),
    (&[(&[0, 4], &[1.0, 1.0], &[(0, 1, 3.0)])], &[3.5]),
    (&[(&[0, 4], &[], &[(0, 1, 2.0)])], &[2.5]),
    (&[(&[0, 4], &[], &[(0, 1, 2.0), (1, 0, 3.0)])], &[5.5]),
    (&[(&[0, 1], &[], &[(0, 1, 2.0)])], &[4.0]),
    (&[(&[0, 1, 2], &[1.0, 1.0, 1.0], &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)])], &[4.0]),
    (&[(&[0, 0], &[2.0, 3.0], &[])], &[5.000018]),
    (&[(&[0, 4], &[0.0, 0.0], &[(0, 1, 0.0)])], &[0.0]),
    (&[(&[0, 4], &[0.0, 0.0], &[])], &[0.0]),
    // On a fat pipe, messages do not add up.
    (&[(&[0, 5], &[], &[(0, 1, 1.5)])], &[2.0]),
    (&[(&[0, 5], &[], &[(0, 1, 1.5), (1, 0, 1.0)])], &[2.0]),
    (
        &[(&[0, 5], &[], &[(0, 1, 2.0)]), (&[0, 5], &[], &[(0, 1, 1.0)]), (&[0, 5], &[], &[(1, 0, 3.0)])],
        &[2.5, 1.5, 3.5],
    ),
    // The TCP window.
    (&[(&[0, 6], &[], &[(0, 1, 1.0)])], &[2097153.0]),
    (&[(&[0, 6], &[], &[(0, 1, 4.0)])], &[2097156.0]),
    (&[(&[0, 6, 4], &[], &[(0, 1, 1.0), (0, 2, 1.0)])], &[2097153.0]),
    // Those whom one resource limits get equal parts of it, in flops and bytes.
    (&[(&[0], &[4.0], &[]), (&[0], &[2.0], &[])], &[6.0, 4.0]),
    (&[(&[0], &[1.0], &[]), (&[0], &[2.0], &[]), (&[0], &[6.0], &[])], &[3.0, 5.0, 9.0]),
    (&[(&[0, 1], &[4.0, 4.0], &[]), (&[0, 2], &[2.0, 1.0], &[])], &[6.0, 4.0]),
    (&[(&[0, 4], &[4.0, 0.0], &[(0, 1, 2.0)]), (&[0], &[2.0], &[])], &[6.0, 3.5]),
    (&[(&[0, 4], &[], &[(0, 1, 2.0)]), (&[0, 1], &[], &[(0, 1, 1.0)])], &[3.0, 3.5]),
    (&[(&[0, 1, 2], &[], &[(0, 1, 3.0), (0, 2, 2.0)]), (&[1, 2], &[], &[(0, 1, 1.0)])], &[7.333333, 4.0]),
    (
        &[(&[0, 1], &[6.0, 1.0], &[]), (&[0, 1], &[3.0, 1.0], &[]), (&[0, 1], &[0.0, 2.0], &[])],
        &[9.0, 6.0, 2.666667],
    ),
    (&[(&[0, 1], &[6.0, 1.0], &[]), (&[0], &[3.0], &[]), (&[1], &[8.0], &[])], &[9.0, 6.0, 9.0]),
    // Two resources limit the tasks.
    (
        &[(&[0, 4], &[4.0, 0.0], &[(0, 1, 1.0)]), (&[0, 4], &[1.0, 0.0], &[(0, 1, 4.0)])],
        &[5.500039, 5.500039],
    ),
    (&[(&[0, 1], &[6.0, 1.0], &[]), (&[0, 1], &[1.0, 6.0], &[])], &[7.000033, 7.000033]),
    (
        &[
            (&[0, 4], &[4.0, 0.0], &[(0, 1, 1.0)]),
            (&[0, 4], &[1.0, 0.0], &[(0, 1, 4.0)]),
            (&[0], &[2.0], &[]),
        ],
        &[7.000013, 5.814460, 4.171388],
    ),
];

#[test]
fn tasks_that_start_together() {
    let works = |tasks: &[Task]| tasks.iter().map(|one| Work::Parallel(task(one))).collect();
    check(TABLE.iter().map(|&(tasks, expected)| (works(tasks), expected)));
}

#[test]
fn executions_and_messages_are_tasks_too() {
    let [h0, h1, h4, h7] = [0, 1, 4, 7].map(HostId);
    let mixed = Work::Parallel(task(&(&[0, 4], &[4.0, 0.0], &[(0, 1, 2.0)])));
    let urgent = Work::Execute(Execution { priority: 2.0, ..Execution::new(h0, 2.0) });
    let table: [(&[Work], &[f64]); 7] = [
        (&[mixed, compute(h0, 2.0)], &[6.0, 3.5]),
        (&[send(h0, h4, 2.0)], &[2.5]),
        (&[send(h0, h4, 2.0), send(h0, h1, 1.0)], &[3.0, 3.5]),
        (&[send(h0, h7, 1e8)], &[0.8001]),
        (&[send(h0, h7, 5e7), send(h7, h0, 1e8)], &[0.8001, 1.2001]),
        // Nothing to send: not even a latency.
        (&[send(h0, h4, 0.0)], &[0.0]),
        // This model knows no priorities.
        (&[urgent, compute(h0, 2.0)], &[4.0, 4.0]),
    ];
    check(table.map(|(works, expected)| (works.to_vec(), expected)));
}

#[test]
fn a_suspended_task_keeps_what_is_left() {
    let mut models = l07();
    let mut step = Step::default();
    let id = models.parallel(task(&(&[0, 4], &[4.0, 0.0], &[(0, 1, 2.0)])), 0).unwrap();
    let reached = models.step(Some(SimTime::new(1.0)), &mut step);
    assert_eq!(reached, Progress::Reached, "the wait is over at 0.5, which concerns nobody");
    assert_eq!(models.remaining(id), Some(0.875));
    models.suspend(id);
    assert_eq!(models.step(Some(SimTime::new(3.0)), &mut step), Progress::Idle);
    models.timer(2.0, 1);
    models.step(None, &mut step);
    models.resume(id);
    models.step(None, &mut step);
    assert_eq!((models.now().seconds(), step.ended[0].token), (6.5, 0));
}
