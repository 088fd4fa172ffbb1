//! SimGrid's configuration keys, as they are written on its command line and in its platform files.

use simurgh_platform::units;

use super::{Config, HostModel, Known, NetworkKind, Solver};
use crate::error::Error;
use crate::factors::Factor;

/// Keys that take effect here.
const USED: [&str; 27] = [
    "network/model",
    "network/crosstraffic",
    "network/TCP-gamma",
    "network/loopback-bw",
    "network/loopback-lat",
    "network/latency-factor",
    "network/bandwidth-factor",
    "network/weight-S",
    "network/constant-latency",
    "network/optim",
    "network/solver",
    "network/concurrency-limit",
    "cpu/model",
    "cpu/optim",
    "cpu/solver",
    "disk/model",
    "disk/solver",
    "host/model",
    "host/solver",
    "maxmin/concurrency-limit",
    "maxmin/precision",
    "precision/timing",
    "precision/work-amount",
    "smpi/IB-penalty-factors",
    "smpi/bw-factor",
    "smpi/lat-factor",
    "simurgh/solver",
];

/// Keys of SimGrid's that mean nothing to the models, so that its command lines can be used as they are.
const IGNORED: [&str; 39] = [
    "bmf/max-iterations",
    "bmf/precision",
    "bmf/selective-update",
    "clean-atexit",
    "cpu/maxmin-selective-update",
    "debug/breakpoint",
    "debug/clean-atexit",
    "debug/verbose-exit",
    "exception/cutpath",
    "help-nostop",
    "host/disk",
    "link_energy/dump",
    "network/asynchronous-small-thresh",
    "network/coordinates",
    "network/maxmin-selective-update",
    "network/name-prefix",
    "network/sender-gap",
    "ns3/NetworkModel",
    "ns3/TcpModel",
    "ns3/network-model",
    "ns3/seed",
    "path",
    "plugin",
    "plugins",
    "replay",
    "seed",
    "storage/max_file_descriptors",
    "surf/precision",
    "vm/cpu-overcommit",
    "vm/model",
    "xbt/log",
    "xml/lmm",
    "activity-table",
    "no-output",
    "stop-time",
    "verbose",
    "version",
    "workstation/model",
    "ticket-lock",
];

/// Families of keys that mean nothing to the models.
const IGNORED_FAMILIES: [&str; 6] = ["tracing", "smpi/", "contexts/", "model-check/", "instr/", "viva/"];

/// Sets `key` of `config` to `value`.
pub(super) fn set(config: &mut Config, key: &str, value: &str) -> Result<Known, Error> {
    let bad = |expected: &str| Error::BadValue {
        key: key.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    };
    let number = || {
        value
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|it| it.is_finite())
            .ok_or_else(|| bad("a number is expected"))
    };
    let not_negative =
        || number().and_then(|it| if it >= 0.0 { Ok(it) } else { Err(bad("0 or more is expected")) });
    let positive =
        || number().and_then(|it| if it > 0.0 { Ok(it) } else { Err(bad("more than 0 is expected")) });
    let limit = || {
        let number = value.trim().parse::<i64>().ok().filter(|&number| number >= -1);
        let number = number.ok_or_else(|| bad("a whole number is expected, -1 for no limit"))?;
        Ok(u32::try_from(number).ok().filter(|&slots| slots > 0))
    };
    let latency_factor = || Factor::parse(value).ok_or_else(|| bad(FACTOR));
    // A bandwidth of nothing would never bring a message.
    let bandwidth_factor = || {
        let factor = Factor::parse(value).filter(|factor| !factor.is_ever_zero());
        factor.ok_or_else(|| bad(FACTOR_ABOVE))
    };
    match key {
        "network/model" => config.network = network_kind(value).map_err(|expected| bad(&expected))?,
        "network/crosstraffic" => config.crosstraffic = boolean(value).ok_or_else(|| bad("yes or no"))?,
        "network/TCP-gamma" => config.tcp_gamma = number()?,
        "network/loopback-bw" => {
            let parsed = units::parse_bandwidth(value).ok().filter(|&bandwidth| bandwidth > 0.0);
            config.loopback_bandwidth =
                Some(parsed.ok_or_else(|| bad("a bandwidth above 0 is expected, such as 10GBps"))?);
        }
        "network/loopback-lat" => {
            let parsed = units::parse_time(value).map_err(|_| bad("a time such as 10us is expected"))?;
            config.loopback_latency = Some(parsed);
        }
        "smpi/lat-factor" => config.smpi_latency_factor = Some(latency_factor()?),
        "smpi/bw-factor" => config.smpi_bandwidth_factor = Some(bandwidth_factor()?),
        "network/latency-factor" => config.latency_factor = Some(latency_factor()?),
        "network/bandwidth-factor" => config.bandwidth_factor = Some(bandwidth_factor()?),
        "network/weight-S" => config.weight_s = Some(not_negative()?),
        "network/constant-latency" => config.constant_latency = not_negative()?,
        "maxmin/concurrency-limit" | "network/concurrency-limit" => config.concurrency_limit = limit()?,
        "network/optim" | "cpu/optim" => match value {
            // Both give the same shares here: `simurgh/solver` is the one that chooses.
            "Lazy" | "Full" | "TI" => return Ok(Known::Ignored),
            _ => return Err(bad("Lazy, Full or TI is expected")),
        },
        "simurgh/solver" => match value {
            "incremental" => config.solver = Solver::Incremental,
            "obvious" => config.solver = Solver::Obvious,
            _ => return Err(bad("incremental or obvious is expected")),
        },
        "network/solver" | "cpu/solver" | "disk/solver" | "host/solver" => match value {
            "maxmin" | "fairbottleneck" => return Ok(Known::Ignored),
            _ => return Err(bad("only maxmin is implemented (fairbottleneck for parallel tasks)")),
        },
        "host/model" => match value {
            "default" | "compound" => config.host_model = HostModel::Default,
            "ptask_L07" => config.host_model = HostModel::PtaskL07,
            _ => return Err(bad("default, compound or ptask_L07 is expected")),
        },
        "cpu/model" => match value {
            "Cas01" | "default" => {}
            _ => return Err(bad("Cas01 is the only one")),
        },
        "disk/model" => match value {
            "S19" | "default" => {}
            _ => return Err(bad("S19 is the only one")),
        },
        "precision/timing" => config.precision_timing = positive()?,
        "precision/work-amount" | "maxmin/precision" => config.precision_work_amount = positive()?,
        "smpi/IB-penalty-factors" => {
            let parts: Option<Vec<f64>> = value.split(';').map(|part| part.trim().parse().ok()).collect();
            let [beta_in, beta_out, gamma_out] = parts.as_deref().unwrap_or(&[]) else {
                return Err(bad("three numbers such as 0.965;0.925;1.35 are expected"));
            };
            config.infiniband =
                super::Infiniband { beta_in: *beta_in, beta_out: *beta_out, gamma_out: *gamma_out };
        }
        _ if IGNORED.contains(&key) || IGNORED_FAMILIES.iter().any(|family| key.starts_with(family)) => {
            return Ok(Known::Ignored);
        }
        _ => return Err(Error::UnknownKey { key: key.to_string(), suggestion: nearest(key) }),
    }
    Ok(Known::Used)
}

const FACTOR: &str = "a number, 0 or more, or steps such as 0:2.01;257:1.95, is expected";
const FACTOR_ABOVE: &str = "a number above 0, or steps such as 0:2.01;257:1.95, is expected";

fn boolean(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "yes" | "on" | "true" => Some(true),
        "0" | "no" | "off" | "false" => Some(false),
        _ => None,
    }
}

fn network_kind(value: &str) -> Result<NetworkKind, String> {
    match value {
        "LV08" | "default" => Ok(NetworkKind::Lv08),
        "CM02" => Ok(NetworkKind::Cm02),
        "Raw" | "raw" => Ok(NetworkKind::Raw),
        "SMPI" => Ok(NetworkKind::Smpi),
        "IB" => Ok(NetworkKind::Infiniband),
        "Constant" => Ok(NetworkKind::Constant),
        "ns-3" | "NS3" => {
            Err("ns-3 is not built in: choose LV08, CM02, Raw, SMPI, IB or Constant".to_string())
        }
        _ => Err("LV08, CM02, Raw, SMPI, IB or Constant is expected".to_string()),
    }
}

/// The key most like `key`, if one is at all.
fn nearest(key: &str) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in USED.iter().chain(IGNORED.iter()) {
        let distance = edit_distance(&key.to_ascii_lowercase(), &candidate.to_ascii_lowercase());
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.filter(|&(distance, _)| distance <= 2 + key.len() / 3).map(|(_, name)| name.to_string())
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_simgrid_are_known() {
        let mut config = Config::default();
        for (key, value, known) in [
            ("network/model", "CM02", Known::Used),
            ("network/crosstraffic", "off", Known::Used),
            ("network/loopback-bw", "1GBps", Known::Used),
            ("network/latency-factor", "0:1;100:2", Known::Used),
            ("host/model", "ptask_L07", Known::Used),
            ("tracing/filename", "a.trace", Known::Ignored),
            ("contexts/nthreads", "4", Known::Ignored),
            ("path", "/tmp", Known::Ignored),
        ] {
            assert_eq!(config.set(key, value), Ok(known), "{key}");
        }
        assert_eq!(config.network, NetworkKind::Cm02);
        assert!(!config.crosstraffic);
        assert_eq!(config.loopback_bandwidth, Some(1e9));
    }

    #[test]
    fn a_wrong_key_or_value_says_what_to_do() {
        let mut config = Config::default();
        for (key, value, message) in [
            (
                "network/modle",
                "CM02",
                "unknown configuration key \"network/modle\"; did you mean \"network/model\"?",
            ),
            (
                "network/crosstraffic",
                "maybe",
                "configuration key \"network/crosstraffic\" cannot be \"maybe\"; yes or no",
            ),
            (
                "network/loopback-bw",
                "0",
                "configuration key \"network/loopback-bw\" cannot be \"0\"; a bandwidth above 0 is expected, such as 10GBps",
            ),
            (
                "maxmin/concurrency-limit",
                "-5",
                "configuration key \"maxmin/concurrency-limit\" cannot be \"-5\"; a whole number is expected, -1 for no limit",
            ),
            (
                "network/model",
                "ns-3",
                "configuration key \"network/model\" cannot be \"ns-3\"; ns-3 is not built in: choose LV08, CM02, Raw, SMPI, IB or Constant",
            ),
        ] {
            assert_eq!(config.set(key, value).unwrap_err().to_string(), message);
        }
    }
}
