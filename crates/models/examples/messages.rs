//! Many small messages between random hosts of a star: what one message costs.
//!
//! `cargo run --release -p simurgh-models --example messages 16000 8000 2000000`: hosts, messages at once, in all.

use std::sync::Arc;

use simurgh_models::{Config, Models, Progress, Step, Transfer};
use simurgh_platform::{HostId, Platform, Routing};

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let [hosts, at_once, in_all] = *numbers else { panic!("give three numbers: hosts, at once, in all") };
    let mut platform = Platform::builder();
    let zone = platform.zone("c", Routing::Star);
    let backbone = platform.link(zone, "backbone", 1e11, 10e-6).id();
    for number in 0..hosts {
        let host = platform.host(zone, &format!("h{number}"), 1e9).id();
        let link = platform.link(zone, &format!("l{number}"), 125e6, 50e-6).id();
        platform.star(zone, host, &[link, backbone]);
    }
    let platform = platform.build().expect("a star");
    let mut models = Models::new(Arc::new(platform), &Config::default()).expect("no properties");
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut started = 0;
    let mut send = |models: &mut Models| {
        if started < in_all {
            started += 1;
            let (src, dst) = (HostId(next(hosts) as u32), HostId(next(hosts) as u32));
            models
                .transfer(Transfer::new(src, dst, next(100_000) as f64), started)
                .expect("a star has routes");
        }
    };
    for _ in 0..at_once {
        send(&mut models);
    }
    let mut step = Step::default();
    while models.step(None, &mut step) != Progress::Idle {
        for _ in 0..step.ended.len() {
            send(&mut models);
        }
    }
    println!("clock {}", models.now());
    println!("{:?}", models.statistics());
}
