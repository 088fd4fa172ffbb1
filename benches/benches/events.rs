//! What the list of dates to come costs, and what one message costs the models.
//!
//! `cargo bench -p benches --bench events`
#![allow(missing_docs)]

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use simurgh_models::heap::EventHeap;
use simurgh_models::{Config, Models, Step, Transfer};
use simurgh_platform::{HostId, Platform, Routing};

const SIZES: [u32; 3] = [1000, 30_000, 1_000_000];

/// Numbers that look random enough (Knuth's linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    fn fraction(&mut self) -> f64 {
        f64::from(self.below(1 << 30)) / f64::from(1 << 30)
    }
}

fn filled(size: u32, numbers: &mut Numbers) -> EventHeap {
    let mut heap = EventHeap::default();
    for thing in 0..size {
        heap.set(thing, numbers.fraction());
    }
    heap
}

/// The nearest is taken, and gets a new date: the size stays.
fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("take the nearest and date it anew");
    for size in SIZES {
        let mut numbers = Numbers(1);
        let mut heap = filled(size, &mut numbers);
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let now = heap.next_date().expect("the size stays");
                let thing = heap.pop_before(f64::INFINITY).expect("the size stays");
                heap.set(thing, now + numbers.fraction());
            });
        });
    }
    group.finish();
}

/// A timeout is set far ahead, and taken back when the message comes: what most timers of a protocol do.
fn take_back(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("take a timeout back and set it anew");
    for size in SIZES {
        let mut numbers = Numbers(1);
        let mut heap = filled(size, &mut numbers);
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let thing = numbers.below(size);
                heap.remove(thing);
                heap.set(thing, 1.0 + numbers.fraction());
            });
        });
    }
    group.finish();
}

/// Small messages between random hosts of a star, an eighth of the hosts sending at any time.
fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one message of the models");
    for hosts in [1000, 30_000] {
        let mut platform = Platform::builder();
        let zone = platform.zone("c", Routing::Star);
        for number in 0..hosts {
            let host = platform.host(zone, &format!("h{number}"), 1e9).id();
            let link = platform.link(zone, &format!("l{number}"), 125e6, 50e-6).id();
            platform.star(zone, host, &[link]);
        }
        let platform = Arc::new(platform.build().expect("a star"));
        let mut models = Models::new(platform, &Config::default()).expect("no properties");
        let mut numbers = Numbers(1);
        let mut send = |models: &mut Models| {
            let (src, dst) = (HostId(numbers.below(hosts)), HostId(numbers.below(hosts)));
            models.transfer(Transfer::new(src, dst, 10.0), 0).expect("a star has routes");
        };
        for _ in 0..hosts / 8 {
            send(&mut models);
        }
        let mut step = Step::default();
        let mut due = 0;
        group.bench_function(BenchmarkId::from_parameter(format!("{hosts} hosts")), |bencher| {
            bencher.iter(|| {
                while due == 0 {
                    models.step(None, &mut step);
                    due = step.ended.len();
                }
                due -= 1;
                send(&mut models);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold, take_back, messages);
criterion_main!(benches);
