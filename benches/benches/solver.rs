//! What a solution of the max-min system costs: afresh, after one change that reaches everything, and after one that is local.
//!
//! `cargo bench -p benches --bench solver`
#![allow(missing_docs)]

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use simurgh_models::Solver;
use simurgh_models::maxmin::{ConstraintId, Method, Sharing, System, Use, VariableId};

/// A star: a constraint for each host, a variable for each flow, over the links of both its ends.
struct Star {
    system: System,
    flows: Vec<(VariableId, [Use; 2])>,
}

impl Star {
    /// Each host sends to others, at distances that are squares, as in the workload `flows`.
    fn crossed(hosts: u32, flows: u32) -> Self {
        let pairs = (0..hosts).flat_map(|host| (1..=flows).map(move |k| (host, (host + k * k) % hosts)));
        Self::new(hosts, pairs.filter(|(from, to)| from != to))
    }

    /// Each host has one neighbour, and no pair touches another.
    fn paired(hosts: u32) -> Self {
        Self::new(hosts, (0..hosts / 2).map(|pair| (2 * pair, 2 * pair + 1)))
    }

    fn new(hosts: u32, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut system = System::new(Method::MaxMin(Solver::Incremental), 1e-5);
        for host in 0..hosts {
            system.add_constraint(125e6 * f64::from(1 + host % 5), Sharing::Shared, None);
        }
        let mut flows = Vec::new();
        for (tag, (from, to)) in (0..).zip(pairs) {
            let uses = [from, to].map(|host| Use { constraint: ConstraintId(host), weight: 1.0 });
            flows.push((system.add_variable(tag, 1.0, f64::INFINITY, &uses), uses));
        }
        Self { system, flows }
    }

    /// One flow ends and one like it begins.
    fn replace(&mut self, number: usize) {
        let (variable, uses) = &mut self.flows[number];
        let tag = self.system.tag(*variable);
        self.system.remove_variable(*variable);
        *variable = self.system.add_variable(tag, 1.0, f64::INFINITY, uses);
        self.system.solve();
    }
}

fn solve_afresh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("solve afresh");
    for hosts in [16, 64, 256] {
        let star = Star::crossed(hosts, 32);
        group.bench_function(BenchmarkId::from_parameter(format!("{} flows", star.flows.len())), |bencher| {
            bencher.iter_batched_ref(|| star.system.clone(), |system| system.solve(), BatchSize::LargeInput);
        });
    }
    group.finish();
}

/// Replaces one flow after the other, and solves after each.
fn replace_one(criterion: &mut Criterion, name: &str, stars: impl IntoIterator<Item = Star>) {
    let mut group = criterion.benchmark_group(name);
    for mut star in stars {
        star.system.solve();
        let count = star.flows.len();
        let mut number = 0;
        group.bench_function(BenchmarkId::from_parameter(format!("of {count} flows")), |bencher| {
            bencher.iter(|| {
                number = (number + 7919) % count;
                star.replace(number);
            });
        });
    }
    group.finish();
}

fn changes(criterion: &mut Criterion) {
    replace_one(
        criterion,
        "replace one that all depend on",
        [16, 64, 256].map(|hosts| Star::crossed(hosts, 32)),
    );
    replace_one(criterion, "replace one that is alone", [100, 10_000, 1_000_000].map(Star::paired));
}

criterion_group!(benches, solve_afresh, changes);
criterion_main!(benches);
