//! The whole of the models under both solvers: the same random life gives the same dates.
//!
//! Disks are left out: neither solver is asked about them.

use std::sync::Arc;

use proptest::prelude::*;
use simurgh_models::*;
use simurgh_platform::{HostId, LinkId, Platform, Profile, ProfileTarget, Routing, Sharing};

const HOSTS: u32 = 6;
const CROWD: u32 = 70;

#[derive(Clone, Debug)]
enum Act {
    Send { src: u32, dst: u32, bytes: f64, rate: Option<f64> },
    Execute { host: u32, flops: f64, priority: f64, bound: Option<f64>, threads: u32 },
    Sleep(f64),
    Cancel(usize),
    Suspend(usize),
    Resume(usize),
    Priority(usize, f64),
    Bound(usize, Option<f64>),
    Bandwidth(u32, f64),
    Latency(u32, f64),
    Switch(u32, bool),
    Speed(u32, f64),
    Step,
}

fn act() -> impl Strategy<Value = Act> {
    let host = || 0..HOSTS;
    let bound = || prop::option::of((1..50u32).prop_map(|bound| f64::from(bound) * 2e5));
    let send = (host(), host(), 0..4_000_000u32, bound());
    let execute = (host(), 0..3_000_000u32, 1..4u32, bound(), 1..3u32);
    prop_oneof![
        8 => send.prop_map(|(src, dst, bytes, rate)| Act::Send { src, dst, bytes: f64::from(bytes), rate }),
        4 => execute.prop_map(|(host, flops, priority, bound, threads)| Act::Execute {
            host, flops: f64::from(flops), priority: f64::from(priority), bound, threads
        }),
        2 => (0..2000u32).prop_map(|time| Act::Sleep(f64::from(time) * 1e-3)),
        1 => any::<usize>().prop_map(Act::Cancel),
        2 => any::<usize>().prop_map(Act::Suspend),
        3 => any::<usize>().prop_map(Act::Resume),
        1 => (any::<usize>(), 1..5u32).prop_map(|(who, priority)| Act::Priority(who, f64::from(priority))),
        1 => (any::<usize>(), bound()).prop_map(|(who, bound)| Act::Bound(who, bound)),
        // No round sums of others: where a fat pipe and another link would be full at one level, rounding says which of them is first, and
        // a fat pipe that is full ends the rise of all its users, as in the reference.
        1 => (0..HOSTS, 0..20u32).prop_map(|(link, bandwidth)| {
            Act::Bandwidth(link, f64::from(bandwidth) * 103_711.0)
        }),
        1 => (0..HOSTS, 0..20u32).prop_map(|(link, latency)| Act::Latency(link, f64::from(latency) * 1e-4)),
        1 => (0..HOSTS, any::<bool>()).prop_map(|(link, on)| Act::Switch(link, on)),
        1 => (host(), 0..20u32).prop_map(|(host, scale)| Act::Speed(host, f64::from(scale) * 0.1)),
        12 => Just(Act::Step),
    ]
}

/// A star of hosts of all kinds: a shared, a fat and a limited link, one without latency, one with a profile.
fn world() -> Platform {
    world_of(Routing::Star)
}

/// The same links between the same hosts, joined as a star or by a route for each pair.
fn world_of(routing: Routing) -> Platform {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", routing);
    let mut members = Vec::new();
    for number in 0..HOSTS {
        let host = platform
            .host(zone, &format!("h{number}"), 1e6 + 1e5 * f64::from(number))
            .cores(1 + number % 3)
            .id();
        let (name, bandwidth) = (format!("l{number}"), 1e6 * f64::from(1 + number));
        let latency = if number == 3 { 0.0 } else { 1e-3 * f64::from(number) };
        let link = platform.link(zone, &name, bandwidth, latency);
        let link = match number {
            1 => link.sharing(Sharing::FatPipe).id(),
            2 => link.concurrency(2).id(),
            _ => link.id(),
        };
        if routing == Routing::Star {
            platform.star(zone, host, &[link]);
        }
        members.push((host, link));
        if number == 4 {
            let profile =
                Profile::parse("0.3 2e6\n0.7 0\n0.8 5e6\nPERIODICITY 1.1\n", "link.profile").unwrap();
            platform.profile(ProfileTarget::LinkBandwidth(link), Arc::new(profile));
        }
    }
    if routing != Routing::Star {
        for &(src, up) in &members {
            for &(dst, down) in &members {
                let links = if up == down { vec![up] } else { vec![up, down] };
                platform.route(zone, src, dst, links).one_way();
            }
        }
    }
    platform.build().unwrap()
}

/// Hosts and links that are all the same, so that much happens at the same instant, joined as a star or by a route for each
/// pair; and more of them who take no part, so that the hosts are in a row.
fn uniform_of(routing: Routing) -> Platform {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", routing);
    let mut members = Vec::new();
    for number in 0..HOSTS + 20 {
        let host = platform.host(zone, &format!("h{number}"), 1e6).id();
        let link = platform.link(zone, &format!("l{number}"), 1e6, 1e-3).id();
        if routing == Routing::Star {
            platform.star(zone, host, &[link]);
        }
        members.push((host, link));
    }
    if routing != Routing::Star {
        for &(src, up) in &members {
            for &(dst, down) in &members {
                let links = if up == down { vec![up] } else { vec![up, down] };
                platform.route(zone, src, dst, links).one_way();
            }
        }
    }
    platform.build().unwrap()
}

/// The same, of one of three sizes.
fn of_few_sizes(act: Act) -> Act {
    let one_of = |amount: f64| [0.0, 1e4, 1e6][amount as usize % 3];
    match act {
        Act::Send { src, dst, bytes, .. } => Act::Send { src, dst, bytes: one_of(bytes), rate: None },
        Act::Execute { host, flops, .. } => {
            Act::Execute { host, flops: one_of(flops), priority: 1.0, bound: None, threads: 1 }
        }
        Act::Sleep(time) => Act::Sleep(if time < 1.0 { 1e-3 } else { 1e-2 }),
        other => other,
    }
}

/// Hosts of which each has its own links, without limits and profiles, and one more: a star, with one link for each host or
/// two; routes between all pairs, of two links or of one; all the same or all different. In some there is a crowd of others
/// who take no part, so that hosts are in a row: with one link for each or two, and only some of them.
fn roomy(ground: u32) -> Platform {
    let routing = if ground == 3 { Routing::Full } else { Routing::Star };
    let all = if ground < 4 { HOSTS } else { HOSTS + 20 };
    let mut platform = Platform::builder();
    let zone = platform.zone("world", routing);
    let (mut members, mut ways_back) = (Vec::new(), Vec::new());
    let different = |number: u32| {
        f64::from(match ground {
            0 | 4 | 5 => 1,
            6 => 1 + number.min(3),
            _ => 1 + number,
        })
    };
    for number in 0..=all {
        let link = platform
            .link(zone, &format!("l{number}"), 1e6 * different(number), 1e-3 * different(number))
            .sharing(if (1..4).contains(&ground) && number == 3 { Sharing::FatPipe } else { Sharing::Shared })
            .id();
        members.push(link);
    }
    if ground == 2 || ground == 5 {
        ways_back.extend((0..=all).map(|number| platform.link(zone, &format!("b{number}"), 2e6, 1e-3).id()));
    }
    // The first link is that of a host that comes last.
    let others = (1..=all).chain([0]);
    let mut hosts = Vec::new();
    for number in others {
        let host = platform.host(zone, &format!("h{number}"), 1e6).id();
        let link = members[number as usize];
        match ground {
            0 | 1 | 4 | 6 => platform.star(zone, host, &[link]),
            2 | 5 => {
                platform.star_up(zone, host, &[link]);
                platform.star_down(zone, host, &[ways_back[number as usize]]);
            }
            _ => hosts.push((host, link)),
        }
    }
    for (place, &(src, up)) in hosts.iter().enumerate() {
        for &(dst, down) in &hosts[place + 1..] {
            // Neighbours share a link.
            let links = if place % 2 == 0 { vec![up] } else { vec![up, down] };
            platform.route(zone, src, dst, links);
        }
    }
    platform.build().unwrap()
}

/// A star whose routes all go over one narrow backbone, and hosts of one core: so many flows and executions share one thing each
/// that they are a pool.
fn crowded() -> Platform {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Star);
    let backbone = platform.link(zone, "backbone", 1e6, 1e-3).id();
    for number in 0..CROWD {
        let host = platform.host(zone, &format!("h{number}"), 1e6).id();
        let bandwidth = 1e6 * f64::from(1 + number % 4);
        let link = platform.link(zone, &format!("l{number}"), bandwidth, 1e-3 * f64::from(number % 3)).id();
        platform.star(zone, host, &[link, backbone]);
    }
    platform.build().unwrap()
}

/// The same where there are more hosts; most executions are on one of them.
fn spread(act: Act, number: u32) -> Act {
    match act {
        Act::Send { src, dst, bytes, rate } => {
            let (src, dst) = ((src * 7 + number) % CROWD, (dst * 11 + 3 * number) % CROWD);
            Act::Send { src, dst, bytes, rate: rate.map(|rate| rate / 40.0) }
        }
        Act::Execute { host, flops, priority, bound, .. } => {
            let bound = bound.map(|bound| bound / 40.0);
            Act::Execute { host: host / 3, flops, priority, bound, threads: 1 }
        }
        other => other,
    }
}

/// A star of hosts whose links are of three sorts, all shared.
fn busy() -> Platform {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Star);
    for number in 0..HOSTS {
        let host = platform.host(zone, &format!("h{number}"), 1e6).id();
        let link = platform.link(zone, &format!("l{number}"), 1e6 * f64::from(1 + number % 3), 1e-4).id();
        platform.star(zone, host, &[link]);
    }
    platform.build().unwrap()
}

struct Life {
    models: Models,
    started: Vec<ActionId>,
    log: Vec<(Token, Outcome, f64)>,
    step: Step,
}

impl Life {
    fn new(platform: Arc<Platform>, solver: Solver) -> Life {
        Life::with(platform, &Config { solver, ..Config::default() })
    }

    fn with(platform: Arc<Platform>, config: &Config) -> Life {
        let models = Models::new(platform, config).unwrap();
        Life { models, started: Vec::new(), log: Vec::new(), step: Step::default() }
    }

    /// All that can be seen of flows and links at present, to the last bit.
    fn seen(&self) -> Vec<u64> {
        let models = &self.models;
        let links = (0..models.platform().link_count() as u32).map(LinkId);
        let loads = links.map(|link| models.link_load(link));
        let left = self.started.iter().map(|&id| models.remaining(id).unwrap_or(-1.0));
        loads.chain(left).chain([models.now().seconds()]).map(f64::to_bits).collect()
    }

    fn step(&mut self) -> Progress {
        let progress = self.models.step(None, &mut self.step);
        let now = self.models.now().seconds();
        self.log.extend(self.step.ended.iter().map(|ended| (ended.token, ended.outcome, now)));
        progress
    }

    fn act(&mut self, act: &Act) {
        let token = self.started.len() as u64;
        let who = |number: usize, started: &[ActionId]| started.get(number % started.len().max(1)).copied();
        // The platform's links are the loopback, then one for each host.
        let link_id = |link: u32| LinkId(1 + link);
        let models = &mut self.models;
        match *act {
            Act::Send { src, dst, bytes, rate } => {
                let what = Transfer { rate, ..Transfer::new(HostId(src), HostId(dst), bytes) };
                self.started.extend(models.transfer(what, token));
            }
            Act::Execute { host, flops, priority, bound, threads } => {
                let what = Execution { host: HostId(host), flops, priority, bound, threads };
                self.started.extend(models.execute(what, token));
            }
            Act::Sleep(duration) => self.started.push(models.timer(duration, token)),
            Act::Cancel(number) => who(number, &self.started).into_iter().for_each(|id| models.cancel(id)),
            Act::Suspend(number) => who(number, &self.started).into_iter().for_each(|id| models.suspend(id)),
            Act::Resume(number) => who(number, &self.started).into_iter().for_each(|id| models.resume(id)),
            Act::Priority(number, priority) => {
                who(number, &self.started).into_iter().for_each(|id| models.set_priority(id, priority));
            }
            Act::Bound(number, bound) => {
                who(number, &self.started).into_iter().for_each(|id| models.set_bound(id, bound));
            }
            Act::Bandwidth(link, bandwidth) => models.set_link_bandwidth(link_id(link), bandwidth),
            Act::Latency(link, latency) => models.set_link_latency(link_id(link), latency),
            Act::Switch(link, on) => models.set_link_state(link_id(link), on),
            Act::Speed(host, scale) => models.set_host_speed_scale(HostId(host), scale),
            Act::Step => {
                self.step();
            }
        }
    }
}

/// An empty message ends with its wait. Whoever is told so may change a link before the shares of that instant are
/// computed: the two flows that begin then have their dates from one solution, and end in the order of their start.
#[test]
fn whoever_is_told_of_an_end_comes_before_the_solution() {
    let mut life = Life::new(Arc::new(uniform_of(Routing::Star)), Solver::Incremental);
    for (src, dst, bytes) in [(1, 5, 1e4), (1, 0, 0.0), (2, 0, 1e4)] {
        life.act(&Act::Send { src, dst, bytes, rate: None });
    }
    life.step();
    life.act(&Act::Latency(5, 1e-4));
    while life.step() != Progress::Idle {}
    assert_eq!(life.log.iter().map(|&(token, _, _)| token).collect::<Vec<_>>(), [1, 0, 2]);
}

/// What a flow got that is alone is remembered for those like it: of the same row of hosts, whatever their size.
#[test]
fn flows_of_another_row_get_what_is_theirs() {
    let mut platform = Platform::builder();
    let zone = platform.zone("world", Routing::Star);
    for number in 0..61_u32 {
        let host = platform.host(zone, &format!("h{number}"), 1e6).id();
        let bandwidth = [1e6, 3e6, 2e6, 5e6][number as usize / 20];
        let link = platform.link(zone, &format!("l{number}"), bandwidth, 1e-3).id();
        platform.star(zone, host, &[link]);
    }
    let platform = Arc::new(platform.build().unwrap());
    let mut alone = Life::new(platform.clone(), Solver::Incremental);
    let mut among = Life::new(platform, Solver::Incremental);
    // The link of a host that takes no part.
    among.models.set_link_latency(LinkId(61), 0.5);
    among.models.step(None, &mut Step::default());
    for life in [&mut alone, &mut among] {
        for (src, dst, bytes) in [(0, 1, 1e6), (20, 21, 1e6), (2, 3, 5e5), (22, 3, 1e6), (41, 40, 7e5)] {
            life.act(&Act::Send { src, dst, bytes, rate: None });
            life.step();
        }
        while life.step() != Progress::Idle {}
    }
    assert_eq!(alone.log.len(), 5);
    assert_eq!(alone.log, among.log);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(400)))]

    #[test]
    fn both_solvers_give_the_same_dates(acts in prop::collection::vec(act(), 1..80)) {
        let platform = Arc::new(world());
        let mut fast = Life::new(platform.clone(), Solver::Incremental);
        let mut slow = Life::new(platform, Solver::Obvious);
        for act in &acts {
            fast.act(act);
            slow.act(act);
            let (a, b) = (fast.models.now().seconds(), slow.models.now().seconds());
            prop_assert!((a - b).abs() <= 1e-9 * a.max(1.0), "{a} {b} after {act:?}");
        }
        for _ in 0..300 {
            if fast.step() == Progress::Idle {
                break;
            }
        }
        for _ in 0..300 {
            if slow.step() == Progress::Idle {
                break;
            }
        }
        same(&mut fast, &mut slow)?;
    }

    /// Many share a backbone or a processor, and are solved by one level; some come, go, stop, or want more on the way.
    #[test]
    fn those_who_share_one_thing_end_as_if_each_was_solved(
        begin in prop::collection::vec(act(), 60..120),
        acts in prop::collection::vec(act(), 1..40),
        alike in any::<bool>(),
    ) {
        let platform = Arc::new(crowded());
        let mut fast = Life::new(platform.clone(), Solver::Incremental);
        let mut slow = Life::new(platform, Solver::Obvious);
        let first = begin.into_iter().filter(|act| matches!(act, Act::Send { .. } | Act::Execute { .. }));
        for (act, number) in first.chain(acts).zip(0..) {
            let act = spread(if alike { of_few_sizes(act) } else { act }, number);
            fast.act(&act);
            slow.act(&act);
            let (a, b) = (fast.models.now().seconds(), slow.models.now().seconds());
            prop_assert!((a - b).abs() <= 1e-9 * a.max(1.0), "{a} {b} after {act:?}");
            for (&one, &other) in fast.started.iter().zip(&slow.started) {
                let (a, b) = (fast.models.remaining(one), slow.models.remaining(other));
                let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
                prop_assert!((a - b).abs() <= 1e-2, "{a} {b} left");
            }
        }
        for life in [&mut fast, &mut slow] {
            for _ in 0..500 {
                if life.step() == Progress::Idle {
                    break;
                }
            }
        }
        same(&mut fast, &mut slow)?;
    }

    /// Many flows between few hosts, of which each meets others at both ends; some come, go, stop, or want more on the way.
    #[test]
    fn those_who_meet_others_at_both_ends_end_as_if_each_was_solved(
        begin in prop::collection::vec((0..HOSTS, 1..HOSTS, 1..4_000_000u32), 80..160),
        acts in prop::collection::vec(act(), 1..60),
        alike in any::<bool>(),
    ) {
        let platform = Arc::new(busy());
        let mut fast = Life::new(platform.clone(), Solver::Incremental);
        let mut slow = Life::new(platform, Solver::Obvious);
        let first = begin.into_iter().map(|(src, step, bytes)| {
            Act::Send { src, dst: (src + step) % HOSTS, bytes: f64::from(bytes), rate: None }
        });
        for act in first.chain(acts) {
            let act = if alike { of_few_sizes(act) } else { act };
            fast.act(&act);
            slow.act(&act);
            let (a, b) = (fast.models.now().seconds(), slow.models.now().seconds());
            prop_assert!((a - b).abs() <= 1e-9 * a.max(1.0), "{a} {b} after {act:?}");
        }
        for life in [&mut fast, &mut slow] {
            for _ in 0..800 {
                if life.step() == Progress::Idle {
                    break;
                }
            }
        }
        same(&mut fast, &mut slow)?;
    }

    /// What is recorded is computed the long way: every flow by the solver, every instant by a step of the clock. Ends come in
    /// the same order, at the same dates but for the last bit.
    #[test]
    fn whoever_looks_sees_the_same(acts in prop::collection::vec(act(), 1..120), alike in any::<bool>()) {
        let platform = Arc::new(if alike { uniform_of(Routing::Star) } else { world() });
        let mut plain = Life::new(platform.clone(), Solver::Incremental);
        let mut seen = Life::new(platform, Solver::Incremental);
        seen.models.record_usage(true);
        seen.models.record_explanations(true);
        for act in acts {
            let act = if alike { of_few_sizes(act) } else { act };
            plain.act(&act);
            seen.act(&act);
        }
        for life in [&mut plain, &mut seen] {
            for _ in 0..500 {
                if life.step() == Progress::Idle {
                    break;
                }
            }
        }
        let order = |life: &Life| life.log.iter().map(|&(token, outcome, _)| (token, outcome)).collect::<Vec<_>>();
        prop_assert_eq!(order(&plain), order(&seen));
        for (plain, seen) in plain.log.iter().zip(&seen.log) {
            prop_assert!((plain.2 - seen.2).abs() <= 1e-12 * plain.2.max(1.0), "{plain:?} {seen:?}");
        }
    }

    /// Flows that have their links to themselves are not given to the solver, until a link changes. Nobody can tell: not
    /// a bit of a date, of a load or of what is left differs.
    #[test]
    fn flows_that_are_alone_are_like_the_others(
        acts in prop::collection::vec(act(), 1..150),
        ground in 0..7u32,
        alike in any::<bool>(),
        links_change in any::<bool>(),
        crosstraffic in any::<bool>(),
    ) {
        let platform = Arc::new(roomy(ground));
        let config = Config { crosstraffic, ..Config::default() };
        let mut alone = Life::with(platform.clone(), &config);
        let mut among = Life::with(platform, &config);
        // The link of a host that takes no part.
        among.models.set_link_latency(LinkId(1), 0.5);
        among.models.step(None, &mut Step::default());
        for act in acts {
            let act = match if alike { of_few_sizes(act) } else { act } {
                Act::Bandwidth(..) | Act::Latency(..) | Act::Switch(..) if !links_change => Act::Step,
                Act::Bandwidth(link, bandwidth) => Act::Bandwidth(link + 1, bandwidth),
                Act::Latency(link, latency) => Act::Latency(link + 1, latency),
                Act::Switch(link, on) => Act::Switch(link + 1, on),
                act => act,
            };
            alone.act(&act);
            among.act(&act);
            prop_assert_eq!(alone.seen(), among.seen());
        }
        for _ in 0..500 {
            if alone.step() == Progress::Idle {
                break;
            }
            among.step();
            prop_assert_eq!(alone.seen(), among.seen());
        }
        prop_assert_eq!(&alone.log, &among.log);
        prop_assert_eq!(alone.models.statistics().started, among.models.statistics().started);
    }

    /// The links of a star are found by host, other routes by searching; both are remembered until something changes.
    #[test]
    fn a_star_and_its_routes_give_the_same_dates(
        acts in prop::collection::vec(act(), 1..80),
        alike in any::<bool>(),
    ) {
        let world = if alike { uniform_of } else { world_of };
        let mut short = Life::new(Arc::new(world(Routing::Star)), Solver::Incremental);
        let mut long = Life::new(Arc::new(world(Routing::Full)), Solver::Incremental);
        for act in &acts {
            short.act(act);
            long.act(act);
        }
        for life in [&mut short, &mut long] {
            for _ in 0..300 {
                if life.step() == Progress::Idle {
                    break;
                }
            }
        }
        same(&mut short, &mut long)?;
    }
}

/// Two lives in which the same things ended, in the same way at the same dates.
fn same(fast: &mut Life, slow: &mut Life) -> Result<(), TestCaseError> {
    // What ends at one instant may come in another order: dates may differ by a rounding.
    fast.log.sort_by_key(|&(token, _, _)| token);
    slow.log.sort_by_key(|&(token, _, _)| token);
    prop_assert_eq!(fast.log.len(), slow.log.len());
    for (a, b) in fast.log.iter().zip(&slow.log) {
        prop_assert_eq!((a.0, a.1), (b.0, b.1));
        prop_assert!((a.2 - b.2).abs() <= 1e-9 * a.2.max(1.0), "{:?} {:?}", a, b);
    }
    Ok(())
}
