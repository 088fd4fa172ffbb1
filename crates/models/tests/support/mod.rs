//! What the tests share: playing a list of dated work, and finding the reference's platform files.
#![allow(dead_code)]

use std::path::PathBuf;
use std::sync::Arc;

use simurgh_models::*;
use simurgh_platform::{HostId, LinkId, Platform, PlatformBuilder, Routing, ZoneId};

/// One thing to start.
#[derive(Clone, PartialEq, Debug)]
pub enum Work {
    Execute(Execution),
    Transfer(Transfer),
    Io(DiskAccess),
    Parallel(ParallelTask),
    Sleep(f64),
}

/// Starts each piece of work at its date, or, if the date is negative, when the one before it ends; answers
/// when each ended.
pub fn play(models: &mut Models, plan: &[(f64, Work)]) -> Vec<f64> {
    const LATER: u64 = 1 << 32;
    let mut ends = vec![f64::NAN; plan.len()];
    for (number, (date, work)) in plan.iter().enumerate() {
        if *date == 0.0 {
            start(models, work, number as u64);
        } else if *date > 0.0 {
            models.timer(*date, LATER + number as u64);
        }
    }
    let mut step = Step::default();
    while models.step(None, &mut step) != Progress::Idle {
        for ended in step.ended.clone() {
            if ended.token >= LATER {
                let number = ended.token - LATER;
                start(models, &plan[number as usize].1, number);
                continue;
            }
            let number = ended.token as usize;
            ends[number] = match ended.outcome {
                Outcome::Done => models.now().seconds(),
                Outcome::Failed(_) => -models.now().seconds(),
            };
            if plan.get(number + 1).is_some_and(|(date, _)| *date < 0.0) {
                start(models, &plan[number + 1].1, number as u64 + 1);
            }
        }
    }
    ends
}

pub fn start(models: &mut Models, work: &Work, token: u64) -> ActionId {
    match work.clone() {
        Work::Execute(what) => models.execute(what, token),
        Work::Transfer(what) => models.transfer(what, token),
        Work::Io(what) => models.io(what, token),
        Work::Parallel(what) => models.parallel(what, token),
        Work::Sleep(duration) => Ok(models.timer(duration, token)),
    }
    .expect("it can start")
}

pub fn send(src: HostId, dst: HostId, bytes: f64) -> Work {
    Work::Transfer(Transfer::new(src, dst, bytes))
}

pub fn compute(host: HostId, flops: f64) -> Work {
    Work::Execute(Execution::new(host, flops))
}

/// To the last digit that the reference prints.
#[track_caller]
pub fn assert_dates(ends: &[f64], expected: &[f64]) {
    assert_eq!(ends.len(), expected.len(), "{ends:?}");
    for (end, expected) in ends.iter().zip(expected) {
        assert!((end - expected).abs() < 0.6e-6, "{ends:?} instead of {expected:?}");
    }
}

pub fn models(platform: Platform, config: &Config) -> Models {
    Models::new(Arc::new(platform), config).expect("the platform's properties are right")
}

pub fn config(settings: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (key, value) in settings {
        config.set(key, value).expect("a setting that exists");
    }
    config
}

/// A platform file of the reference, where there is a copy beside the repository.
pub fn reference_platform(name: &str) -> Option<Platform> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/platforms");
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(Platform::from_file(path).expect("the reference's platforms are right"))
}

pub fn hosts<const N: usize>(platform: &Platform, names: [&str; N]) -> [HostId; N] {
    names.map(|name| platform.host_named(name).expect("a host of that name"))
}

/// Two hosts of 1 Gflop/s, joined by one link.
pub struct Pair {
    pub platform: PlatformBuilder,
    pub zone: ZoneId,
    pub a: HostId,
    pub b: HostId,
    pub link: LinkId,
}

impl Pair {
    pub fn new(bandwidth: f64, latency: f64) -> Pair {
        let mut platform = Platform::builder();
        let zone = platform.zone("world", Routing::Full);
        let a = platform.host(zone, "a", 1e9).id();
        let b = platform.host(zone, "b", 1e9).id();
        let link = platform.link(zone, "link", bandwidth, latency).id();
        platform.route(zone, a, b, [link]);
        Pair { platform, zone, a, b, link }
    }

    pub fn build(self) -> Platform {
        self.platform.build().expect("a pair of hosts")
    }
}
