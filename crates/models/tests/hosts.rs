//! Processors, disks, parallel tasks and energy: the reference's own timings.

use crate::support::*;
use simurgh_models::*;
use simurgh_platform::{HostId, Platform, Profile, ProfileTarget, Routing};
use std::sync::Arc;

fn one_host(speed: f64, cores: u32) -> (Platform, HostId) {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "host", speed).cores(cores).id();
    (platform.build().unwrap(), host)
}

fn threads(host: HostId, flops: f64, threads: u32) -> Work {
    Work::Execute(Execution { threads, ..Execution::new(host, flops) })
}

#[test]
fn priorities_share_a_core() {
    let (platform, host) = one_host(98.095e6, 1);
    let urgent = Work::Execute(Execution { priority: 2.0, ..Execution::new(host, 98095.0) });
    let mut models = models(platform, &Config::default());
    assert_dates(&play(&mut models, &[(0.0, compute(host, 98095.0)), (0.0, urgent)]), &[0.002, 0.0015]);
}

#[test]
fn bounds_and_priorities_together() {
    let (platform, host) = one_host(1e9, 1);
    let bound = Work::Execute(Execution { bound: Some(2e8), ..Execution::new(host, 1e9) });
    let urgent = Work::Execute(Execution { priority: 3.0, ..Execution::new(host, 1e9) });
    let mut models = models(platform, &Config::default());
    let ends = play(&mut models, &[(0.0, bound), (0.0, compute(host, 1e9)), (0.0, urgent)]);
    assert_dates(&ends, &[5.0, 2.5, 1.666667]);
}

#[test]
fn threads_fill_cores() {
    let (platform, host) = one_host(1e8, 4);
    let platform = Arc::new(platform);
    for (count, expected) in [(2, 10.0), (4, 10.0), (6, 15.0)] {
        let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
        assert_dates(&play(&mut models, &[(0.0, threads(host, 1e9, count))]), &[expected]);
    }
    let mut models = Models::new(platform, &Config::default()).unwrap();
    let ends = play(&mut models, &[(0.0, threads(host, 1e9, 4)), (0.0, compute(host, 1e10))]);
    assert_dates(&ends[..1], &[12.5]);
}

#[test]
fn each_thread_counts_as_an_execution() {
    const SPEED: f64 = 8.095e9;
    let (platform, host) = one_host(SPEED, 4);
    let platform = Arc::new(platform);
    let rows: [(&[u32], f64); 13] = [
        (&[1], 1.0),
        (&[2], 1.0),
        (&[3], 1.0),
        (&[4], 1.0),
        (&[5], 1.25),
        (&[6], 1.5),
        (&[7], 1.75),
        (&[8], 2.0),
        (&[4, 1], 1.25),
        (&[4, 4], 2.0),
        (&[2, 1], 1.0),
        (&[6, 2], 2.0),
        (&[3, 3, 1], 1.75),
    ];
    for (counts, expected) in rows {
        let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
        let plan: Vec<(f64, Work)> = counts.iter().map(|&count| (0.0, threads(host, SPEED, count))).collect();
        assert_dates(&play(&mut models, &plan), &vec![expected; counts.len()]);
    }
}

#[test]
fn several_threads_have_neither_priority_nor_bound() {
    const SPEED: f64 = 8.095e9;
    let (platform, host) = one_host(SPEED, 4);
    let platform = Arc::new(platform);
    let work = |threads, priority, bound| {
        (0.0, Work::Execute(Execution { threads, priority, bound, ..Execution::new(host, SPEED) }))
    };
    let rows = [
        (vec![work(2, 2.0, None), work(4, 1.0, None)], vec![1.5, 1.5]),
        (vec![work(2, 1.0, Some(SPEED / 2.0))], vec![1.0]),
        (vec![work(4, 1.0, Some(SPEED * 1.5))], vec![1.0]),
        (vec![work(1, 1.0, Some(SPEED / 2.0))], vec![2.0]),
    ];
    for (plan, expected) in rows {
        let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
        assert_dates(&play(&mut models, &plan), &expected);
    }
    let mut models = Models::new(platform, &Config::default()).unwrap();
    let id = models.execute(Execution { threads: 4, ..Execution::new(host, SPEED) }, 0).unwrap();
    models.set_priority(id, 0.5);
    models.set_bound(id, Some(1.0));
    assert_eq!(models.step(Some(SimTime::new(0.5)), &mut Step::default()), Progress::Reached);
    assert_eq!(models.remaining(id), Some(2.0 * SPEED), "the flops of all threads");
}

#[test]
fn a_speed_that_follows_a_profile() {
    for (start, flops, expected) in [(10.0, 40.0, 15.0), (0.0, 220.0, 30.0), (10.0, 260.0, 45.0)] {
        let mut platform = Platform::builder();
        let zone = platform.zone("world", Routing::Full);
        let host = platform.host(zone, "host", 10.0).id();
        let profile = Profile::parse("0 1\n10 0.8\n20 0.4\nPERIODICITY 30\n", "speed.profile").unwrap();
        platform.profile(ProfileTarget::HostSpeed(host), Arc::new(profile));
        let mut models = models(platform.build().unwrap(), &Config::default());
        assert_dates(&play(&mut models, &[(start, compute(host, flops))]), &[expected]);
    }
}

#[test]
fn a_speed_of_nothing_is_waited_out() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "host", 10.0).id();
    let profile = Profile::parse("1 0\n5 1\n", "speed.profile").unwrap();
    platform.profile(ProfileTarget::HostSpeed(host), Arc::new(profile));
    let mut models = models(platform.build().unwrap(), &Config::default());
    assert_dates(&play(&mut models, &[(0.0, compute(host, 20.0))]), &[6.0]);
}

#[test]
fn a_profile_alone_does_not_keep_the_run_alive() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "host", 10.0).id();
    let profile = Profile::parse("0 0.5\n1 1\nPERIODICITY 2\n", "speed.profile").unwrap();
    platform.profile(ProfileTarget::HostSpeed(host), Arc::new(profile));
    let mut models = models(platform.build().unwrap(), &Config::default());
    let mut step = Step::default();
    assert_eq!(models.host_speed(host), 5.0, "events of date 0 come first");
    assert_eq!(models.step(None, &mut step), Progress::Idle);
    models.timer(1.5, 0);
    assert_eq!(models.step(None, &mut step), Progress::Moved);
    assert_eq!((models.now().seconds(), step.changes.as_slice()), (1.0, &[Change::HostSpeed(host)][..]));
    assert_eq!(models.step(Some(SimTime::new(1.2)), &mut step), Progress::Reached);
    assert_eq!(models.now(), SimTime::new(1.2));
    assert_eq!(models.step(None, &mut step), Progress::Moved);
    assert_eq!((models.now().seconds(), step.ended.len()), (1.5, 1));
}

#[test]
fn a_host_off_fails_its_executions_and_refuses_others() {
    let (platform, host) = one_host(1e9, 1);
    let mut models = models(platform, &Config::default());
    let mut step = Step::default();
    models.execute(Execution::new(host, 1e9), 7).unwrap();
    models.timer(0.5, 8);
    models.step(None, &mut step);
    models.set_host_state(host, false);
    assert_eq!(models.step(None, &mut step), Progress::Moved);
    assert_eq!(models.now().seconds(), 0.5);
    assert_eq!(step.changes, [Change::HostOff(host)]);
    assert_eq!((step.ended[0].token, step.ended[0].outcome), (7, Outcome::Failed(Resource::Host(host))));
    assert_eq!(models.execute(Execution::new(host, 1.0), 9), Err(Refused::Off(Resource::Host(host))));
    models.set_host_state(host, true);
    models.step(None, &mut step);
    assert_eq!(step.changes, [Change::HostOn(host)]);
    assert!(models.execute(Execution::new(host, 1.0), 9).is_ok());
}

#[test]
fn things_that_end_together_come_in_order() {
    let pair = Pair::new(1e9, 0.0);
    let mut builder = pair.platform;
    let disk = builder.disk(pair.a, "disk", 1e6, 1e6).id();
    let mut models = models(builder.build().unwrap(), &config(&[("network/model", "Raw")]));
    models.io(DiskAccess::new(disk, Direction::Read, 1e6), 0).unwrap();
    models.transfer(Transfer::new(pair.a, pair.b, 1e9), 1).unwrap();
    models.execute(Execution::new(pair.a, 1e9), 2).unwrap();
    models.timer(1.0, 3);
    models.timer(1.0 + 1e-10, 4);
    let mut step = Step::default();
    models.step(None, &mut step);
    let tokens: Vec<Token> = step.ended.iter().map(|ended| ended.token).collect();
    assert_eq!(tokens, [3, 2, 4, 1, 0], "the timer's date was set before the execution's");
}

#[test]
fn nothing_to_compute_takes_no_time_and_sleeps_at_least_a_nanosecond() {
    let (platform, host) = one_host(1e9, 1);
    let mut models = models(platform, &Config::default());
    let ends = play(&mut models, &[(0.0, compute(host, 0.0)), (0.0, Work::Sleep(0.0))]);
    assert_eq!(ends, [0.0, 1e-9]);
}

#[test]
fn disks_are_fluids() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "bob", 1e9).id();
    let disk = platform.disk(host, "Disk1", 1e8, 4e7).id();
    let fast = platform.disk(host, "Disk2", 1e8, 6.4e7).id();
    let platform = Arc::new(platform.build().unwrap());
    let write = |disk, bytes| Work::Io(DiskAccess::new(disk, Direction::Write, bytes));
    let read = Work::Io(DiskAccess::new(disk, Direction::Read, 2e5));
    let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
    let ends = play(&mut models, &[(0.0, write(disk, 4e5)), (-1.0, read), (-1.0, write(fast, 8e5))]);
    assert_dates(&ends, &[0.01, 0.012, 0.0245]);
    let urgent = Work::Io(DiskAccess { priority: 2.0, ..DiskAccess::new(disk, Direction::Write, 4e6) });
    let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
    assert_dates(&play(&mut models, &[(0.0, write(disk, 4e6)), (0.0, urgent)]), &[0.2, 0.15]);
    // Stops less than a byte apart make as much progress as others.
    let mut models = Models::new(platform, &Config::default()).unwrap();
    let io = models.io(DiskAccess::new(disk, Direction::Write, 4e7), 0).unwrap();
    let mut step = Step::default();
    for number in 0..100 {
        models.timer(1e-8, number);
        models.step(None, &mut step);
    }
    let left = models.remaining(io).unwrap();
    assert!((left - (4e7 - 40.0)).abs() < 1e-6, "{left}");
}

/// Reads and writes of one disk that come and go, each step of it by hand: rates from the three capacities, and everybody's
/// progress taken off at every event.
fn fluid(capacities: [f64; 3], plan: &[(f64, Direction, f64)]) -> Vec<f64> {
    let [both, read, write] = capacities;
    let (mut now, mut ends) = (0.0, vec![f64::NAN; plan.len()]);
    let mut left: Vec<f64> = plan.iter().map(|&(_, _, bytes)| bytes).collect();
    loop {
        let under_way: Vec<usize> =
            (0..plan.len()).filter(|&number| plan[number].0 <= now && left[number] > 0.0).collect();
        let is_read = |number: &usize| plan[*number].1 == Direction::Read;
        let reads = under_way.iter().filter(|number| is_read(number)).count() as f64;
        let writes = under_way.len() as f64 - reads;
        let equal = both / (reads + writes);
        let (of_read, of_write) = (equal.min(read / reads), equal.min(write / writes));
        let of_read = of_read.max(((both - of_write * writes) / reads).min(read / reads));
        let of_write = of_write.max(((both - of_read * reads) / writes).min(write / writes));
        let rate = |number: &usize| if is_read(number) { of_read } else { of_write };
        let next_start = plan.iter().map(|&(start, ..)| start).filter(|&start| start > now);
        let next_end = under_way.iter().map(|number| now + left[*number] / rate(number));
        let next = next_start.chain(next_end).fold(f64::INFINITY, f64::min);
        if next == f64::INFINITY {
            return ends;
        }
        for number in &under_way {
            left[*number] -= rate(number) * (next - now);
            if left[*number] < 1e-3 {
                (left[*number], ends[*number]) = (0.0, next);
            }
        }
        now = next;
    }
}

#[test]
fn four_hundred_accesses_end_when_a_fluid_does() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "bob", 1e9).id();
    let disk = platform.disk(host, "disk", 1e8, 4e7).id();
    let mut models = models(platform.build().unwrap(), &Config::default());
    let plan: Vec<(f64, Direction, f64)> = (0..400u32)
        .map(|number| {
            let direction = if number % 3 == 0 { Direction::Write } else { Direction::Read };
            (f64::from(number % 20) * 0.05, direction, f64::from(100_000 + number * 7919 % 900_000))
        })
        .collect();
    let works: Vec<(f64, Work)> = plan
        .iter()
        .map(|&(start, direction, bytes)| (start, Work::Io(DiskAccess::new(disk, direction, bytes))))
        .collect();
    let ends = play(&mut models, &works);
    for (number, (end, wanted)) in ends.iter().zip(fluid([1e8, 1e8, 4e7], &plan)).enumerate() {
        assert!((end - wanted).abs() < 2e-9, "{number}: {end} instead of {wanted}");
    }
}

#[test]
fn parallel_tasks_share_the_bus() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let hosts = ["a", "b", "c"].map(|name| platform.host(zone, name, 1e8).id());
    let bus = platform.link(zone, "bus", 1e5, 0.0).id();
    for (from, to) in [(0, 1), (0, 2), (1, 2)] {
        platform.route(zone, hosts[from], hosts[to], [bus]);
    }
    let platform = Arc::new(platform.build().unwrap());
    let bytes = vec![0.0, 1e7, 1e7, 0.0, 0.0, 1e7, 0.0, 0.0, 0.0];
    let task = ParallelTask { hosts: hosts.to_vec(), flops: vec![1e9; 3], bytes };
    for settings in [&[][..], &[("host/model", "ptask_L07")]] {
        let mut models = Models::new(platform.clone(), &config(settings)).unwrap();
        assert_dates(&play(&mut models, &[(0.0, Work::Parallel(task.clone()))]), &[300.0]);
        let mut models = Models::new(platform.clone(), &config(settings)).unwrap();
        let lone = ParallelTask { hosts: vec![hosts[0]], flops: vec![1e9], bytes: Vec::new() };
        assert_dates(&play(&mut models, &[(0.0, Work::Parallel(lone))]), &[10.0]);
    }
    let wrong = ParallelTask { hosts: hosts.to_vec(), flops: vec![1.0], bytes: Vec::new() };
    let mut models = Models::new(platform, &Config::default()).unwrap();
    let refused = models.parallel(wrong, 0).unwrap_err();
    assert_eq!(refused.to_string(), "a parallel task on 3 hosts has 1 amounts of flops");
}

#[test]
fn with_l07_everything_is_a_parallel_task() {
    let pair = Pair::new(1e6, 0.5);
    let (a, b) = (pair.a, pair.b);
    let mut models = models(pair.build(), &config(&[("host/model", "ptask_L07")]));
    let plan =
        [(0.0, send(a, b, 1e6)), (0.0, send(b, a, 1e6)), (0.0, compute(a, 1e9)), (0.0, compute(a, 1e9))];
    assert_dates(&play(&mut models, &plan), &[2.5, 2.5, 2.0, 2.0]);
}

#[test]
fn joules_of_the_energy_example() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let speeds = [100e6, 50e6, 20e6];
    let per_state = "100.0:93.33333333333333:200.0, 93.0:90.0:170.0, 90.0:90.0:150.0";
    let alone = "100.0:200.0:200.0, 93.0:170.0:170.0, 90.0:150.0:150.0";
    let [one, two, three] =
        [("one", 4, per_state), ("two", 1, alone), ("three", 1, alone)].map(|(name, cores, watts)| {
            let host = platform.host(zone, name, speeds[0]).cores(cores).power_states(&speeds, 0);
            host.property("wattage_per_state", watts).property("wattage_off", "10").id()
        });
    let mut models = models(platform.build().unwrap(), &Config::default());
    play(&mut models, &[(0.0, Work::Sleep(10.0)), (-1.0, compute(one, 1e8))]);
    assert_dates(&[models.now().seconds(), models.host_energy(one).unwrap()], &[11.0, 1120.0]);
    models.set_host_pstate(one, 2).unwrap();
    play(&mut models, &[(0.0, compute(one, 1e8)), (-1.0, Work::Sleep(4.0))]);
    models.set_host_state(two, false);
    play(&mut models, &[(0.0, Work::Sleep(10.0))]);
    let joules = [one, two, three].map(|host| models.host_energy(host).unwrap());
    assert_dates(&[models.now().seconds()], &[30.0]);
    assert_dates(&joules, &[2905.0, 2100.0, 3000.0]);
    assert!(models.set_host_pstate(one, 3).unwrap_err().to_string().contains("there is no number 3"));
}

#[test]
fn watts_of_a_host_follow_its_load() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let speeds = [100e6, 50e6, 20e6];
    let per_state = "100.0:93.33333333333333:200.0, 93.0:90.0:170.0, 90.0:90.0:150.0";
    let alone = "100.0:200.0:200.0, 93.0:170.0:170.0, 90.0:150.0:150.0";
    let [one, two] = [("one", 4, per_state), ("two", 1, alone)].map(|(name, cores, watts)| {
        let host = platform.host(zone, name, speeds[0]).cores(cores).power_states(&speeds, 0);
        host.property("wattage_per_state", watts).property("wattage_off", "10").id()
    });
    let platform = Arc::new(platform.build().unwrap());
    let slow = |host| Work::Execute(Execution { bound: Some(2.5e7), ..Execution::new(host, 1e8) });
    let rows: [(Vec<Work>, f64, f64); 9] = [
        (vec![compute(one, 1e8); 1], 1.0, 120.0),
        (vec![compute(one, 1e8); 2], 1.0, 146.666667),
        (vec![compute(one, 1e8); 3], 1.0, 173.333333),
        (vec![compute(one, 1e8); 4], 1.0, 200.0),
        (vec![compute(one, 1e8); 5], 1.25, 250.0),
        (vec![compute(one, 1e8); 6], 1.5, 300.0),
        (vec![threads(one, 1e8, 2)], 1.0, 146.666667),
        (vec![slow(one)], 4.0, 400.0),
        (vec![slow(two)], 4.0, 800.0),
    ];
    for (works, end, joules) in rows {
        let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
        let host = if works == [slow(two)] { two } else { one };
        let plan: Vec<(f64, Work)> = works.into_iter().map(|work| (0.0, work)).collect();
        play(&mut models, &plan);
        assert_dates(&[models.now().seconds(), models.host_energy(host).unwrap()], &[end, joules]);
    }
    // Another power state in mid execution: 120 W for 0.25 s, then 110 W for 1.5 s.
    let mut models = Models::new(platform, &Config::default()).unwrap();
    models.execute(Execution::new(one, 1e8), 0).unwrap();
    let mut step = Step::default();
    models.step(Some(SimTime::new(0.25)), &mut step);
    models.set_host_pstate(one, 1).unwrap();
    while models.step(None, &mut step) != Progress::Idle {}
    assert_dates(&[models.now().seconds(), models.host_energy(one).unwrap()], &[1.75, 30.0 + 165.0]);
    // Off, and on again: idle at once.
    models.set_host_state(two, false);
    play(&mut models, &[(0.0, Work::Sleep(1.0))]);
    models.set_host_state(two, true);
    play(&mut models, &[(0.0, Work::Sleep(1.0))]);
    assert_dates(&[models.host_energy(two).unwrap()], &[175.0 + 10.0 + 100.0]);
}

#[test]
fn acknowledgements_load_a_link_and_an_off_one_still_draws() {
    let rows = [
        (
            &[("network/model", "CM02"), ("network/crosstraffic", "0")][..],
            [10.75, 11.75, 13.25, 14.25, 15.25],
        ),
        (&[], [10.811856, 11.811856, 13.435567, 14.476804, 15.476804]),
    ];
    for (settings, expected) in rows {
        let mut pair = Pair::new(1e5, 0.0);
        pair.platform.link_property(pair.link, "wattage_range", "1:3");
        let (a, b, link) = (pair.a, pair.b, pair.link);
        let mut models = models(pair.build(), &config(settings));
        let slow = Work::Transfer(Transfer { rate: Some(5e4), ..Transfer::new(a, b, 25000.0) });
        let mut joules = Vec::new();
        play(&mut models, &[(0.0, Work::Sleep(10.0))]);
        for plan in [
            vec![(0.0, send(a, b, 25000.0))],
            vec![(0.0, Work::Sleep(1.0))],
            vec![(0.0, send(a, b, 25000.0)); 2],
            vec![(0.0, slow)],
        ] {
            play(&mut models, &plan);
            joules.push(models.link_energy(link).unwrap());
        }
        models.set_link_state(link, false);
        play(&mut models, &[(0.0, Work::Sleep(1.0))]);
        joules.push(models.link_energy(link).unwrap());
        assert_dates(&joules, &expected);
    }
}

/// 1 Gf at 100:120:200 W, of which a profile leaves a half: 160 W for two seconds (SimGrid 3.32: 320 J).
#[test]
fn a_profile_that_takes_speed_away_takes_load_away() {
    let xml = r#"<platform version="4.1"><zone id="w" routing="Full"><host id="a" speed="1Gf">
        <prop id="wattage_per_state" value="100:120:200"/></host></zone>
        <trace id="t" periodicity="-1">0 0.5</trace><trace_connect kind="SPEED" trace="t" element="a"/></platform>"#;
    let platform = Platform::from_xml(xml, "half.xml", std::path::Path::new(".")).unwrap();
    let host = platform.host_named("a").unwrap();
    let mut models = models(platform, &Config::default());
    play(&mut models, &[(0.0, compute(host, 1e9))]);
    assert_dates(&[models.now().seconds(), models.host_energy(host).unwrap()], &[2.0, 320.0]);
}

/// Where SimGrid 3.32 counts the load that comes after the latency: 422.774227 J of the link, 400 J of each host.
#[test]
fn nothing_is_drawn_by_what_waits_for_its_latency() {
    let xml = r#"<platform version="4.1"><zone id="w" routing="Full">
        <host id="a" speed="1Gf"><prop id="wattage_per_state" value="100:120:200"/></host><host id="b" speed="1Gf"/>
        <link id="l" bandwidth="1MBps" latency="1s"><prop id="wattage_range" value="10:30"/></link>
        <route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>"#;
    let platform = Arc::new(Platform::from_xml(xml, "pair.xml", std::path::Path::new(".")).unwrap());
    let [a, b] = ["a", "b"].map(|name| platform.host_named(name).unwrap());
    let link = platform.link_named("l").unwrap();
    let mut models = Models::new(platform.clone(), &Config::default()).unwrap();
    play(&mut models, &[(0.0, send(a, b, 1e6))]);
    let (latency, transfer) = (13.01, 1.05 * 1e6 / (0.97 * 1e6));
    assert_dates(
        &[models.now().seconds(), models.link_energy(link).unwrap()],
        &[latency + transfer, 10.0 * latency + 30.0 * transfer],
    );
    let mut models = Models::new(platform, &config(&[("host/model", "ptask_L07")])).unwrap();
    let both = ParallelTask { hosts: vec![a, b], flops: vec![1e9; 2], bytes: vec![0.0, 1e6, 0.0, 0.0] };
    play(&mut models, &[(0.0, Work::Parallel(both))]);
    assert_dates(&[models.now().seconds(), models.host_energy(a).unwrap()], &[2.0, 100.0 + 200.0]);
}

#[test]
fn each_power_state_has_its_watts() {
    for watts in ["100:120:200", "100:120:200, 90:100:150, 80:90:100"] {
        let mut platform = Platform::builder();
        let zone = platform.zone("world", Routing::Full);
        platform.host(zone, "one", 1e9).power_states(&[1e9, 5e8], 0).property("wattage_per_state", watts);
        let refused = Models::new(Arc::new(platform.build().unwrap()), &Config::default()).unwrap_err();
        assert!(refused.to_string().contains("the host has 2 power states"), "{refused}");
    }
}

#[test]
fn watts_of_a_link_follow_its_load() {
    let mut pair = Pair::new(1e6, 0.0);
    pair.platform.link_property(pair.link, "wattage_range", "1:3");
    let (a, b, link) = (pair.a, pair.b, pair.link);
    let mut models = models(pair.build(), &config(&[("network/model", "Raw")]));
    play(&mut models, &[(0.0, Work::Sleep(10.0)), (-1.0, send(a, b, 5e6)), (-1.0, Work::Sleep(10.0))]);
    assert_dates(&[models.link_energy(link).unwrap()], &[10.0 + 15.0 + 10.0]);
    assert_eq!(models.host_energy(a), None);
}

#[test]
fn loads_and_causes_are_recorded() {
    let (platform, host) = one_host(1e9, 2);
    let mut models = models(platform, &Config::default());
    models.record_usage(true);
    models.record_explanations(true);
    let mut step = Step::default();
    let first = models.execute(Execution::new(host, 1e9), 10).unwrap();
    for token in [11, 12, 13] {
        models.execute(Execution::new(host, 1e9), token).unwrap();
    }
    let late = models.execute(Execution { bound: Some(1e8), ..Execution::new(host, 1e8) }, 14).unwrap();
    while models.step(None, &mut step) != Progress::Idle {}
    let loads: Vec<(f64, f64)> =
        models.take_usage().iter().map(|usage| (usage.at.seconds(), usage.used.round())).collect();
    assert_eq!(loads.first(), Some(&(0.0, 2e9)));
    assert_eq!(loads.last().map(|&(_, used)| used), Some(0.0));
    let explanation = models.take_explanation(first).unwrap();
    assert_eq!(explanation.segments[0].limit, Limit::Resource(Resource::Host(host)));
    assert_eq!(explanation.segments[0].sharers, [11, 12, 13, 14]);
    let bounded = models.take_explanation(late).unwrap();
    assert_eq!(bounded.segments.len(), 1);
    assert_eq!(bounded.segments[0].limit, Limit::UserBound);
    assert_eq!(models.take_explanation(late), None, "taken once");
}

#[test]
fn a_disk_access_shorter_than_the_clock_can_show_ends() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Full);
    let host = platform.host(zone, "bob", 1e9).id();
    let disk = platform.disk(host, "disk", 1e8, 1e8).id();
    let mut models = models(platform.build().unwrap(), &Config::default());
    let read = Work::Io(DiskAccess::new(disk, Direction::Read, 1.0));
    assert_dates(&play(&mut models, &[(1e12, read)]), &[1e12]);
}

#[test]
fn a_sleep_of_a_year_ends() {
    let (platform, host) = one_host(1e9, 1);
    let mut models = models(platform, &Config::default());
    let plan = [(0.0, Work::Sleep(3e7)), (0.0, Work::Sleep(1e8)), (0.0, compute(host, 1e18))];
    assert_dates(&play(&mut models, &plan), &[3e7, 1e8, 1e9]);
}
