//! N hosts on a star, each sending to K others at once, sizes differing, so that shares change at every end.
//!
//! `cargo run --release -p simurgh-models --example flows 256 32`

use std::sync::Arc;

use simurgh_models::{Config, Models, Progress, Step, Transfer};
use simurgh_platform::{HostId, Platform, Routing};

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let (hosts, flows) = (numbers.first().copied().unwrap_or(64), numbers.get(1).copied().unwrap_or(32));
    let mut platform = Platform::builder();
    let zone = platform.zone("c", Routing::Star);
    for number in 0..hosts {
        let host = platform.host(zone, &format!("h{number}"), 1e9).id();
        let bandwidth = 125e6 * f64::from(1 + number % 5);
        let link = platform.link(zone, &format!("l{number}"), bandwidth, 50e-6).id();
        platform.star(zone, host, &[link]);
    }
    let platform = platform.build().expect("a star");
    let mut models = Models::new(Arc::new(platform), &Config::default()).expect("no properties");
    for me in 0..hosts {
        for k in 1..=flows {
            let to = (me + k * k) % hosts;
            if to != me {
                let size = 1_000_000 + 1000 * ((me * 7919 + k * 104_729) % 9973);
                let what = Transfer::new(HostId(me), HostId(to), f64::from(size));
                models.transfer(what, u64::from(me)).expect("a star has routes");
            }
        }
    }
    let mut step = Step::default();
    while models.step(None, &mut step) != Progress::Idle {}
    println!("clock {}", models.now());
    println!("{:?}", models.statistics());
}
