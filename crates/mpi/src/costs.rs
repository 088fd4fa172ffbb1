//! The configuration keys of SMPI that are about MPI itself.

use simurgh_actors::{Error, Result};
use simurgh_platform::{Platform, units};

use crate::collectives::{Selection, selection};
use crate::compute::Compute;
use crate::world::{Costs, Overhead};

/// What the keys say.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// What calls cost.
    pub costs: Costs,
    /// Which algorithms collectives use.
    pub selection: Selection,
    /// Whether computation takes time (`smpi/simulate-computation`), where it is said.
    pub computes: Option<bool>,
    /// What this machine does in a second, in flops (`smpi/host-speed`), where it is not to be measured.
    pub speed: Option<f64>,
    /// What an instruction is worth where they are counted, in flops (`smpi/flops-per-instruction`).
    pub flops_per_instruction: Option<f64>,
    /// Computation that is shorter does not count, seconds (`smpi/cpu-threshold`).
    pub least: Option<f64>,
}

impl Keys {
    /// How computation counts: as the command says, else as the keys say.
    pub fn compute(&self, said: Option<Compute>) -> Compute {
        let default = || if self.computes == Some(false) { Compute::Nothing } else { Compute::measured() };
        match said.unwrap_or_else(default) {
            Compute::Nothing => Compute::Nothing,
            Compute::Counted { flops, least } => Compute::Counted {
                flops: self.flops_per_instruction.unwrap_or(flops),
                least: self.least.unwrap_or(least),
            },
            Compute::Measured { speed, least } => {
                Compute::Measured { speed: self.speed.unwrap_or(speed), least: self.least.unwrap_or(least) }
            }
        }
    }
}

/// Keys of SMPI that are about how it does its work, and not about what comes of it: there is nothing to do for them.
const WITHOUT_EFFECT: [&str; 16] = [
    "smpi/privatization",
    "smpi/privatize-libs",
    "smpi/shared-malloc",
    "smpi/shared-malloc-blocksize",
    "smpi/shared-malloc-hugepage",
    "smpi/auto-shared-malloc-thresh",
    "smpi/keep-temps",
    "smpi/tmpdir",
    "smpi/display-timing",
    "smpi/display-allocs",
    "smpi/list-leaks",
    "smpi/errors-are-fatal",
    "smpi/pedantic",
    "smpi/buffering",
    "smpi/trace-call-location",
    "smpi/trace-call-use-absolute-path",
];

/// Keys of SMPI that the network model reads.
const OF_THE_NETWORK: [&str; 3] = ["smpi/lat-factor", "smpi/bw-factor", "smpi/IB-penalty-factors"];

/// Reads those keys that are about MPI; others are for somebody else. Each is of the file of a platform, or of the command line.
///
/// # Errors
/// If a value makes no sense, or a key is about MPI and not known.
pub fn read<'k>(config: impl Iterator<Item = (Option<&'k Platform>, &'k str, &'k str)>) -> Result<Keys> {
    let mut keys = Keys::default();
    let mut algorithms = selection::Keys::default();
    for (platform, key, value) in config.filter(|(_, key, _)| key.starts_with("smpi/")) {
        let value = value.trim();
        set(&mut keys, &mut algorithms, key, value).map_err(|expected| {
            Error::input(match platform {
                Some(platform) => format!("{}: {key}={value}: {expected}", platform.config_place(key)),
                None => format!("--config {key}={value}: {expected}"),
            })
        })?;
    }
    keys.selection = algorithms.selection();
    Ok(keys)
}

fn set(
    keys: &mut Keys,
    algorithms: &mut selection::Keys,
    key: &str,
    value: &str,
) -> std::result::Result<(), String> {
    let seconds = || {
        let number = value.parse::<f64>().ok().filter(|number| (0.0..f64::INFINITY).contains(number));
        number.ok_or_else(|| "a number of seconds is expected, 0 or more".to_owned())
    };
    let bytes = || value.parse::<u64>().map_err(|_| "a number of bytes is expected".to_owned());
    let overhead = || {
        Overhead::parse(value)
            .ok_or_else(|| "steps such as 0:1e-6:2e-9;1420:2e-6:1e-9 are expected".to_owned())
    };
    let yes = || match value.to_ascii_lowercase().as_str() {
        "yes" | "on" | "true" | "1" => Ok(true),
        "no" | "off" | "false" | "0" => Ok(false),
        _ => Err("yes or no is expected".to_owned()),
    };
    let speed = || {
        let found = units::parse_speed(value).ok().filter(|speed| *speed > 0.0 && speed.is_finite());
        found.ok_or_else(|| "a speed such as 2Gf is expected".to_owned())
    };
    let costs = &mut keys.costs;
    match key {
        "smpi/send-is-detached-thresh" => costs.detached_below = bytes()?,
        "smpi/async-small-thresh" if bytes()? == 0 => {}
        "smpi/async-small-thresh" => {
            return Err(
                "messages that set out before they are received are not simulated yet; only 0 is".to_owned()
            );
        }
        "smpi/os" => costs.send = overhead()?,
        "smpi/ois" => costs.immediate_send = overhead()?,
        "smpi/or" => costs.receive = overhead()?,
        "smpi/init" => costs.init = seconds()?,
        "smpi/wtime" => costs.wtime = seconds()?,
        "smpi/test" => costs.test = seconds()?,
        "smpi/iprobe" => costs.probe = seconds()?,
        "smpi/grow-injected-times" => costs.polling_grows = yes()?,
        "smpi/finalization-barrier" => costs.finalize_waits = yes()?,
        "smpi/simulate-computation" => keys.computes = Some(yes()?),
        "smpi/host-speed" => keys.speed = Some(speed()?),
        "smpi/flops-per-instruction" => {
            let found = value.parse::<f64>().ok().filter(|flops| *flops > 0.0 && flops.is_finite());
            keys.flops_per_instruction =
                Some(found.ok_or_else(|| "a number of flops is expected, more than 0".to_owned())?);
        }
        "smpi/cpu-threshold" => keys.least = Some(seconds()?),
        key if WITHOUT_EFFECT.contains(&key) || OF_THE_NETWORK.contains(&key) => {}
        _ if algorithms.set(key, value)? => {}
        _ => return Err("this key of MPI is not known; docs/mpi.md lists those that are".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(key: &str, value: &str) -> std::result::Result<Keys, String> {
        read([(None, key, value)].into_iter()).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_mean_something_or_are_refused() {
        assert_eq!(told("smpi/init", "0.5").map(|keys| keys.costs.init), Ok(0.5));
        assert!(told("smpi/privatization", "dlopen").is_ok() && told("network/model", "SMPI").is_ok());
        assert!(told("smpi/async-small-thresh", "0").is_ok());
        for (key, value, said) in [
            ("smpi/async-small-thresh", "1", "not simulated yet"),
            ("smpi/nosuch", "1", "is not known"),
            ("smpi/host-speed", "-1", "a speed"),
            ("smpi/os", "x", "steps"),
            ("smpi/bcast", "best", "there is no algorithm"),
        ] {
            let refused = told(key, value).expect_err(key);
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn keys_of_a_platform_are_told_with_their_line() {
        let text = "<platform version=\"4.1\">\n<config>\n<prop id=\"smpi/init\" value=\"-1\"/></config>\n<zone id=\"z\" routing=\"None\"/></platform>";
        let platform = Platform::from_xml(text, "p.xml", ".".as_ref()).expect("it is a platform");
        let told = read([(Some(&platform), "smpi/init", "-1")].into_iter()).expect_err("it is negative");
        assert_eq!(told.to_string(), "p.xml:3: smpi/init=-1: a number of seconds is expected, 0 or more");
    }

    #[test]
    fn the_command_comes_before_the_keys() {
        let keys = told("smpi/simulate-computation", "no").expect("it is known");
        assert_eq!(keys.compute(None), Compute::Nothing);
        let measured = Compute::Measured { speed: 1.0, least: 2.0 };
        assert_eq!(keys.compute(Some(measured)), measured);
        let keys = told("smpi/host-speed", "2Gf").expect("it is known");
        assert_eq!(keys.compute(Some(measured)), Compute::Measured { speed: 2e9, least: 2.0 });
        assert_eq!(keys.compute(Some(Compute::Nothing)), Compute::Nothing);
    }
}
