//! Exact small systems, then the incremental solver against the obvious one.

use proptest::prelude::*;

use super::*;

const PRECISION: f64 = 1e-5;

fn system(solver: Solver) -> System {
    System::new(Method::MaxMin(solver), PRECISION)
}

fn use_of(constraint: ConstraintId, weight: f64) -> Use {
    Use { constraint, weight }
}

fn both(check: impl Fn(System)) {
    check(system(Solver::Obvious));
    check(system(Solver::Incremental));
}

#[test]
fn what_is_visited_often_is_one_line_of_the_cache() {
    assert_eq!((size_of::<Variable>(), size_of::<Constraint>()), (64, 64));
}

#[test]
fn those_that_take_no_part_are_users_in_the_order_in_which_they_became_idle() {
    let mut s = system(Solver::Incremental);
    let c = s.add_constraint(10.0, Sharing::Shared, None);
    let all: Vec<VariableId> =
        (0..5).map(|tag| s.add_variable(tag, 1.0, f64::INFINITY, &[use_of(c, 1.0)])).collect();
    s.solve();
    for idle in [3, 0, 4] {
        s.set_penalty(all[idle], 0.0);
    }
    s.remove_variable(all[0]);
    assert_eq!(s.users(c), [all[1], all[2], all[3], all[4]]);
    s.set_penalty(all[3], 1.0);
    assert_eq!(s.users(c), [all[1], all[2], all[3], all[4]]);
    s.set_penalty(all[1], 0.0);
    assert_eq!(s.users(c), [all[2], all[3], all[4], all[1]]);
}

#[test]
fn a_lone_variable_fills_its_narrowest_constraint() {
    both(|mut s| {
        let wide = s.add_constraint(10.0, Sharing::Shared, None);
        let narrow = s.add_constraint(4.0, Sharing::Shared, None);
        let v = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(wide, 1.0), use_of(narrow, 2.0)]);
        assert!(s.solve());
        assert_eq!((s.value(v), s.fixed_by(v)), (2.0, FixedBy::Constraint(narrow)));
        assert_eq!((s.load(wide), s.load(narrow)), (2.0, 4.0));
        assert!(!s.solve(), "nothing changed");
    });
}

#[test]
fn shares_go_by_penalty_and_bounds_come_first() {
    both(|mut s| {
        let c = s.add_constraint(12.0, Sharing::Shared, None);
        let light = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(c, 1.0)]);
        let heavy = s.add_variable(1, 2.0, f64::INFINITY, &[use_of(c, 1.0)]);
        s.solve();
        assert_eq!((s.value(light), s.value(heavy)), (8.0, 4.0));
        s.set_bound(light, 3.0);
        s.solve();
        assert_eq!((s.value(light), s.fixed_by(light), s.value(heavy)), (3.0, FixedBy::Bound, 9.0));
    });
}

#[test]
fn a_fat_pipe_serves_each_in_full() {
    both(|mut s| {
        let pipe = s.add_constraint(10.0, Sharing::FatPipe, None);
        let a = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(pipe, 1.0)]);
        let b = s.add_variable(1, 1.0, 6.0, &[use_of(pipe, 1.0)]);
        s.solve();
        assert_eq!((s.value(a), s.value(b)), (10.0, 6.0));
    });
}

#[test]
fn a_capacity_of_nothing_gives_nothing() {
    both(|mut s| {
        let closed = s.add_constraint(0.0, Sharing::Shared, None);
        let open = s.add_constraint(10.0, Sharing::Shared, None);
        let stuck = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(closed, 1.0), use_of(open, 1.0)]);
        let free = s.add_variable(1, 1.0, f64::INFINITY, &[use_of(open, 1.0)]);
        s.solve();
        assert_eq!((s.value(stuck), s.value(free)), (0.0, 10.0));
        s.set_capacity(closed, 2.0);
        s.solve();
        assert_eq!((s.value(stuck), s.value(free)), (2.0, 8.0));
    });
}

#[test]
fn a_variable_without_constraints_gets_its_bound() {
    both(|mut s| {
        let v = s.add_variable(0, 1.0, 7.0, &[]);
        assert!(s.solve());
        assert_eq!(s.value(v), 7.0);
    });
}

#[test]
fn slots_go_to_those_that_wait_longest() {
    both(|mut s| {
        let c = s.add_constraint(10.0, Sharing::Shared, Some(2));
        let flows: Vec<VariableId> =
            (0..4).map(|tag| s.add_variable(tag, 1.0, f64::INFINITY, &[use_of(c, 1.0)])).collect();
        let values = |s: &mut System| {
            s.solve();
            flows.iter().map(|&flow| s.value(flow)).collect::<Vec<f64>>()
        };
        assert_eq!(values(&mut s), [5.0, 5.0, 0.0, 0.0]);
        assert_eq!(s.fixed_by(flows[2]), FixedBy::Staged);
        s.set_penalty(flows[0], 0.0);
        assert_eq!(values(&mut s), [0.0, 5.0, 5.0, 0.0]);
        s.set_penalty(flows[0], 1.0);
        s.set_penalty(flows[1], 0.0);
        assert_eq!(values(&mut s), [0.0, 0.0, 5.0, 5.0], "it went to the end of the line");
        s.remove_variable(flows[2]);
        s.solve();
        assert_eq!(s.value(flows[0]), 5.0);
    });
}

#[test]
fn acknowledgements_take_no_slot() {
    both(|mut s| {
        let c = s.add_constraint(10.0, Sharing::Shared, Some(1));
        let flow = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(c, 1.0)]);
        let ack = s.add_variable(1, 1.0, f64::INFINITY, &[use_of(c, 0.05)]);
        s.solve();
        assert!(s.value(flow) > 0.0 && s.value(ack) > 0.0);
    });
}

#[test]
fn bottleneck_shares_are_equal_parts_of_the_capacity() {
    let mut s = System::new(Method::Bottleneck, PRECISION);
    let c = s.add_constraint(12.0, Sharing::Shared, None);
    let d = s.add_constraint(2.0, Sharing::Shared, None);
    let one = s.add_variable(0, 1.0, f64::INFINITY, &[use_of(c, 1.0)]);
    let three = s.add_variable(1, 1.0, f64::INFINITY, &[use_of(c, 3.0)]);
    s.solve();
    assert_eq!((s.value(one), s.value(three)), (6.0, 2.0));
    let elsewhere = s.add_variable(2, 1.0, f64::INFINITY, &[use_of(c, 1.0), use_of(d, 1.0)]);
    s.solve();
    assert!((s.value(elsewhere) - 2.0).abs() < 1e-4);
    assert!((s.load(c) - 12.0).abs() < 1e-3, "what one cannot use goes to the others");
}

/// Equal parts of each bottleneck, plainly: all constraints and variables are looked at in each round. The values by variable.
fn equal_parts(system: &System) -> Vec<f64> {
    let constraints = &system.constraints;
    let mut remaining: Vec<f64> = constraints.iter().map(|constraint| constraint.capacity).collect();
    let mut values = vec![0.0; system.variables.len()];
    let uses = |index: usize| {
        system.uses(VariableId(index as u32)).map(|used| (used.constraint.index(), used.weight))
    };
    let is_active =
        |index: &usize| system.variables[*index].state == State::Active && system.variables[*index].count > 0;
    let mut growing: Vec<usize> = (0..values.len()).filter(is_active).collect();
    while !growing.is_empty() {
        let mut users = vec![0.0; remaining.len()];
        for (c, _) in growing.iter().flat_map(|&index| uses(index)) {
            users[c] = if constraints[c].sharing == Sharing::FatPipe { 1.0 } else { users[c] + 1.0 };
        }
        let mut taken = vec![0.0; remaining.len()];
        for &index in &growing {
            let room = system.variables[index].bound - values[index];
            let growth = uses(index).fold(room, |growth, (c, weight)| {
                growth.min(f64::max(remaining[c], 0.0) / users[c] / weight)
            });
            values[index] += growth;
            for (c, weight) in uses(index) {
                taken[c] = match constraints[c].sharing {
                    Sharing::Shared => taken[c] + weight * growth,
                    Sharing::FatPipe => f64::max(taken[c], weight * growth),
                };
            }
        }
        remaining.iter_mut().zip(&taken).for_each(|(rest, taken)| *rest -= taken);
        growing.retain(|&index| {
            values[index] < system.variables[index].bound * (1.0 - 1e-12)
                && uses(index).all(|(c, _)| remaining[c] > constraints[c].capacity * system.precision)
        });
    }
    values
}

#[derive(Clone, Debug)]
enum Change {
    Add { penalty: u8, bound: Option<u16>, uses: Vec<(u8, u8)> },
    Remove(u8),
    Penalty(u8, u8),
    Bound(u8, Option<u16>),
    Capacity(u8, u16),
    Solve,
}

fn change() -> impl Strategy<Value = Change> {
    let uses = prop::collection::vec((0..12u8, 0..6u8), 0..5);
    let bound = || prop::option::of(1..2000u16);
    prop_oneof![
        6 => (0..5u8, bound(), uses).prop_map(|(penalty, bound, uses)| Change::Add { penalty, bound, uses }),
        2 => any::<u8>().prop_map(Change::Remove),
        2 => (any::<u8>(), 0..6u8).prop_map(|(who, penalty)| Change::Penalty(who, penalty)),
        1 => (any::<u8>(), bound()).prop_map(|(who, bound)| Change::Bound(who, bound)),
        1 => (0..12u8, 0..2000u16).prop_map(|(which, capacity)| Change::Capacity(which, capacity)),
        2 => Just(Change::Solve),
    ]
}

/// Constraints 0 to 7 are shared, 8 and 9 fat pipes, 10 and 11 have a limit of 2.
fn constraints(s: &mut System) -> Vec<ConstraintId> {
    (0..12u32)
        .map(|number| {
            let sharing = if (8..10).contains(&number) { Sharing::FatPipe } else { Sharing::Shared };
            s.add_constraint(f64::from(100 + 37 * number), sharing, (number >= 10).then_some(2))
        })
        .collect()
}

fn apply(s: &mut System, alive: &mut Vec<VariableId>, ids: &[ConstraintId], change: &Change) {
    let real = |bound: Option<u16>| bound.map_or(f64::INFINITY, |bound| f64::from(bound) / 3.0);
    let penalty_of = |penalty: u8| f64::from(penalty) * 0.37;
    match change {
        Change::Add { penalty, bound, uses } => {
            let mut merged: Vec<Use> = Vec::new();
            for &(which, weight) in uses {
                let weight = if weight == 0 { 0.05 } else { f64::from(weight) };
                if merged.iter().all(|used| used.constraint != ids[which as usize]) {
                    merged.push(use_of(ids[which as usize], weight));
                }
            }
            let bound = match (bound, merged.first()) {
                (_, None) => 5.0,
                // Often just what one constraint allows, as for a flow bounded by its narrowest link.
                (Some(number), Some(used)) if number % 3 == 0 => s.capacity(used.constraint) / used.weight,
                (bound, Some(_)) => real(*bound),
            };
            alive.push(s.add_variable(alive.len() as u32, penalty_of(*penalty), bound, &merged));
        }
        Change::Remove(who) if !alive.is_empty() => {
            s.remove_variable(alive.remove(*who as usize % alive.len()))
        }
        Change::Penalty(who, penalty) if !alive.is_empty() => {
            s.set_penalty(alive[*who as usize % alive.len()], penalty_of(*penalty));
        }
        Change::Bound(who, bound) if !alive.is_empty() => {
            s.set_bound(alive[*who as usize % alive.len()], real(*bound));
        }
        Change::Capacity(which, capacity) => s.set_capacity(ids[*which as usize], f64::from(*capacity)),
        _ => {}
    }
}

/// Those whom a solution may meet are counted, so that it knows when it has met all.
fn counts_who_is_used(s: &System) -> bool {
    s.used as usize == s.constraints.iter().filter(|constraint| constraint.active.head != NONE).count()
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(3000)))]

    #[test]
    fn incremental_is_obvious_after_any_changes(changes in prop::collection::vec(change(), 1..60)) {
        let (mut slow, mut fast) = (system(Solver::Obvious), system(Solver::Incremental));
        let (slow_ids, fast_ids) = (constraints(&mut slow), constraints(&mut fast));
        let (mut slow_alive, mut fast_alive) = (Vec::new(), Vec::new());
        for change in changes.iter().chain([&Change::Solve]) {
            apply(&mut slow, &mut slow_alive, &slow_ids, change);
            apply(&mut fast, &mut fast_alive, &fast_ids, change);
            if matches!(change, Change::Solve) {
                slow.solve();
                fast.solve();
                prop_assert!(counts_who_is_used(&slow) && counts_who_is_used(&fast));
                for (&a, &b) in slow_alive.iter().zip(&fast_alive) {
                    prop_assert!(close(slow.value(a), fast.value(b)), "{} {}", slow.value(a), fast.value(b));
                }
            }
        }
    }

    #[test]
    fn equal_parts_are_those_of_plain_rounds_to_the_last_bit(changes in prop::collection::vec(change(), 1..60)) {
        let mut s = System::new(Method::Bottleneck, PRECISION);
        let ids = constraints(&mut s);
        let mut alive = Vec::new();
        for change in changes.iter().chain([&Change::Solve]) {
            apply(&mut s, &mut alive, &ids, change);
            if matches!(change, Change::Solve) {
                s.solve();
                let plain = equal_parts(&s);
                for (index, variable) in s.variables.iter().enumerate() {
                    if variable.state == State::Active && variable.count > 0 {
                        prop_assert_eq!(variable.value.to_bits(), plain[index].to_bits());
                    }
                }
            }
        }
    }

    #[test]
    fn no_capacity_is_exceeded_and_nobody_could_get_more(changes in prop::collection::vec(change(), 1..40)) {
        let mut s = system(Solver::Incremental);
        let ids = constraints(&mut s);
        let mut alive = Vec::new();
        for change in &changes {
            apply(&mut s, &mut alive, &ids, change);
        }
        s.solve();
        for &id in &ids {
            prop_assert!(s.load(id) <= s.capacity(id) * (1.0 + 2.0 * PRECISION) + 1e-9);
        }
        for &v in alive.iter().filter(|&&v| s.penalty(v) > 0.0) {
            match s.fixed_by(v) {
                FixedBy::Bound => prop_assert_eq!(s.value(v), s.variables[v.index()].bound),
                FixedBy::Constraint(c) => {
                    let part = s.uses(v).find(|used| used.constraint == c).map(|used| used.weight * s.value(v));
                    let full = match s.constraints[c.index()].sharing {
                        Sharing::Shared => s.load(c) >= s.capacity(c) * (1.0 - 3.0 * PRECISION),
                        Sharing::FatPipe => part.is_some(),
                    };
                    prop_assert!(full, "{} of {}", s.load(c), s.capacity(c));
                }
                FixedBy::Staged => prop_assert_eq!(s.value(v), 0.0),
                FixedBy::Nothing => prop_assert_eq!(s.value(v), 0.0),
            }
        }
    }
}

/// What happens around one crowded constraint.
#[derive(Clone, Debug)]
enum Crowd {
    /// A flow over the backbone and two links.
    Join {
        penalty: u8,
        bound: Option<u16>,
        links: (u8, u8),
    },
    /// One over a link only.
    Stranger {
        link: u8,
    },
    Remove(u8),
    Penalty(u8, u8),
    Bound(u8, u16),
    Capacity(u8, u16),
    Solve,
}

fn crowd() -> impl Strategy<Value = Crowd> {
    let bound = || prop::option::of(1..400u16);
    let links = (0..20u8, 0..20u8);
    prop_oneof![
        20 => (1..4u8, bound(), links).prop_map(|(penalty, bound, links)| Crowd::Join { penalty, bound, links }),
        1 => (0..20u8).prop_map(|link| Crowd::Stranger { link }),
        10 => any::<u8>().prop_map(Crowd::Remove),
        1 => (any::<u8>(), 0..4u8).prop_map(|(who, penalty)| Crowd::Penalty(who, penalty)),
        1 => (any::<u8>(), 1..400u16).prop_map(|(who, bound)| Crowd::Bound(who, bound)),
        1 => (0..21u8, 1..2000u16).prop_map(|(which, capacity)| Crowd::Capacity(which, capacity)),
        20 => Just(Crowd::Solve),
    ]
}

/// Twenty links, then the backbone.
fn backbone(s: &mut System) -> Vec<ConstraintId> {
    let capacity = |number: u32| if number == 20 { 1000.0 } else { 500.0 + 100.0 * f64::from(number % 7) };
    (0..21).map(|number| s.add_constraint(capacity(number), Sharing::Shared, None)).collect()
}

fn apply_to_crowd(s: &mut System, alive: &mut Vec<VariableId>, ids: &[ConstraintId], change: &Crowd) {
    let penalty_of = |penalty: u8| f64::from(penalty) * 0.37;
    match *change {
        Crowd::Join { penalty, bound, links: (from, to) } => {
            let mut uses = vec![use_of(ids[20], 1.05), use_of(ids[from as usize], 1.0)];
            if from != to {
                uses.push(use_of(ids[to as usize], 0.05));
            }
            let bound = bound.map_or(500.0, |bound| f64::from(bound) / 3.0);
            alive.push(s.add_variable(alive.len() as u32, penalty_of(penalty), bound, &uses));
        }
        Crowd::Stranger { link } => {
            alive.push(s.add_variable(0, 0.37, f64::INFINITY, &[use_of(ids[link as usize], 1.0)]));
        }
        Crowd::Remove(who) if !alive.is_empty() => {
            s.remove_variable(alive.remove(who as usize % alive.len()));
        }
        Crowd::Penalty(who, penalty) if !alive.is_empty() => {
            s.set_penalty(alive[who as usize % alive.len()], penalty_of(penalty));
        }
        Crowd::Bound(who, bound) if !alive.is_empty() => {
            s.set_bound(alive[who as usize % alive.len()], f64::from(bound) / 3.0);
        }
        Crowd::Capacity(which, capacity) => s.set_capacity(ids[which as usize], f64::from(capacity)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(3000)))]

    #[test]
    fn a_pool_is_obvious_after_any_changes(changes in prop::collection::vec(crowd(), 1..150)) {
        let (mut slow, mut fast) = (system(Solver::Obvious), system(Solver::Incremental));
        let (slow_ids, fast_ids) = (backbone(&mut slow), backbone(&mut fast));
        let (mut slow_alive, mut fast_alive) = (Vec::new(), Vec::new());
        for change in changes.iter().chain([&Crowd::Solve]) {
            apply_to_crowd(&mut slow, &mut slow_alive, &slow_ids, change);
            apply_to_crowd(&mut fast, &mut fast_alive, &fast_ids, change);
            if matches!(change, Crowd::Solve) {
                slow.solve();
                fast.solve();
                prop_assert!(counts_who_is_used(&slow) && counts_who_is_used(&fast));
                for (&a, &b) in slow_alive.iter().zip(&fast_alive) {
                    prop_assert!(close(slow.value(a), fast.value(b)), "{} {}", slow.value(a), fast.value(b));
                }
                for &id in &fast_ids {
                    prop_assert!(close(slow.load(id), fast.load(id)), "{} {}", slow.load(id), fast.load(id));
                }
            }
        }
    }
}

#[test]
fn one_that_comes_to_a_pool_touches_nobody_else() {
    let mut s = system(Solver::Incremental);
    let backbone = s.add_constraint(1000.0, Sharing::Shared, None);
    let mut flows = Vec::new();
    for number in 0..1000 {
        let link = s.add_constraint(100.0, Sharing::Shared, None);
        flows.push(s.add_variable(number, 0.5, 100.0, &[use_of(backbone, 1.0), use_of(link, 1.0)]));
        s.solve();
        s.clear_moved();
    }
    let before = s.counts().1;
    for flow in flows.drain(..500) {
        s.remove_variable(flow);
        s.solve();
        s.clear_moved();
    }
    assert_eq!(s.counts().1 - before, 500, "one level a solution");
    assert!(close(s.value(flows[0]), 2.0), "{}", s.value(flows[0]));
}

/// Someone comes to two links of a star, or goes.
#[derive(Clone, Debug)]
enum Traffic {
    Come { from: u8, to: u8, penalty: u8, bound: Option<u16> },
    Go(u16),
    Capacity(u8, u16),
    Solve,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let come = (0..8u8, 1..8u8, 1..4u8, prop::option::weighted(0.1, 1..400u16));
    prop_oneof![
        4 => come.prop_map(|(from, step, penalty, bound)| Traffic::Come { from, to: (from + step) % 8, penalty, bound }),
        8 => any::<u16>().prop_map(Traffic::Go),
        1 => (0..8u8, 1..2000u16).prop_map(|(which, capacity)| Traffic::Capacity(which, capacity)),
        8 => Just(Traffic::Solve),
    ]
}

fn apply_traffic(s: &mut System, alive: &mut Vec<VariableId>, ids: &[ConstraintId], what: &Traffic) {
    match *what {
        Traffic::Come { from, to, penalty, bound } => {
            let uses = [use_of(ids[from as usize], 1.05), use_of(ids[to as usize], 1.0)];
            let bound = bound.map_or(1e4, |bound| f64::from(bound) / 3.0);
            alive.push(s.add_variable(0, 0.37 * f64::from(penalty), bound, &uses));
        }
        Traffic::Go(who) if !alive.is_empty() => {
            let who = who as usize % alive.len();
            s.remove_variable(alive.swap_remove(who));
        }
        Traffic::Capacity(which, capacity) => s.set_capacity(ids[which as usize], f64::from(capacity)),
        _ => {}
    }
}

/// Eight links of five sorts, with so many flows between them.
fn busy_star(s: &mut System, flows: u32) -> (Vec<ConstraintId>, Vec<VariableId>) {
    let capacity = |number: u32| 100.0 * f64::from(1 + number % 5);
    let ids: Vec<ConstraintId> =
        (0..8).map(|number| s.add_constraint(capacity(number), Sharing::Shared, None)).collect();
    let mut alive = Vec::new();
    for number in 0..flows {
        let from = (number % 8) as u8;
        let to = (from + 1 + (number / 8 % 7) as u8) % 8;
        apply_traffic(s, &mut alive, &ids, &Traffic::Come { from, to, penalty: 1 + from % 3, bound: None });
    }
    (ids, alive)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(simurgh_testing::cases(2000)))]

    #[test]
    fn flows_that_meet_others_at_both_ends_are_obvious(all in prop::collection::vec(traffic(), 1..150)) {
        let (mut slow, mut fast) = (system(Solver::Obvious), system(Solver::Incremental));
        let (slow_ids, mut slow_alive) = busy_star(&mut slow, 60);
        let (fast_ids, mut fast_alive) = busy_star(&mut fast, 60);
        for what in all.iter().chain([&Traffic::Solve]) {
            apply_traffic(&mut slow, &mut slow_alive, &slow_ids, what);
            apply_traffic(&mut fast, &mut fast_alive, &fast_ids, what);
            if matches!(what, Traffic::Solve) {
                slow.solve();
                fast.solve();
                prop_assert!(counts_who_is_used(&slow) && counts_who_is_used(&fast));
                for (&a, &b) in slow_alive.iter().zip(&fast_alive) {
                    prop_assert!(close(slow.value(a), fast.value(b)), "{} {}", slow.value(a), fast.value(b));
                }
                for &id in &fast_ids {
                    prop_assert!(close(slow.load(id), fast.load(id)), "{} {}", slow.load(id), fast.load(id));
                }
            }
        }
    }
}

#[test]
fn who_leaves_changes_levels_and_hardly_any_share() {
    let mut s = system(Solver::Incremental);
    let (_, alive) = busy_star(&mut s, 400);
    s.solve();
    let (mut levels, mut shares) = (0, 0);
    for &flow in &alive[..100] {
        s.clear_moved();
        s.remove_variable(flow);
        s.solve();
        levels += s.pool_levels().len();
        shares += s.changed().len() + s.moved().len();
    }
    assert!((100..=800).contains(&levels), "{levels} levels");
    assert!(shares < 200, "{shares} shares were told one by one");
}
