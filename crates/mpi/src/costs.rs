//! The configuration keys of SMPI that are about MPI itself.

use simurgh_actors::{Error, Result};

use crate::collectives::{Selection, selection};
use crate::world::{Costs, Overhead};

/// What the keys say.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// What calls cost.
    pub costs: Costs,
    /// Which algorithms collectives use.
    pub selection: Selection,
}

/// Reads those keys that are about MPI; others are for somebody else.
///
/// # Errors
/// If a value makes no sense.
pub fn read(config: &[(String, String)]) -> Result<Keys> {
    let mut keys = Keys::default();
    let mut algorithms = selection::Keys::default();
    for (key, value) in config {
        set(&mut keys, key, value.trim())
            .and_then(|()| algorithms.set(key, value.trim()))
            .map_err(|expected| Error::input(format!("--config {key}={value}: {expected}")))?;
    }
    let Costs { async_small_below, detached_below, .. } = keys.costs;
    if async_small_below > detached_below {
        return Err(Error::input(format!(
            "smpi/async-small-thresh={async_small_below} is above smpi/send-is-detached-thresh={detached_below}: what is sent before it \
             is received must not wait for its receiver"
        )));
    }
    keys.selection = algorithms.selection();
    Ok(keys)
}

fn set(keys: &mut Keys, key: &str, value: &str) -> std::result::Result<(), String> {
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
    let costs = &mut keys.costs;
    match key {
        "smpi/send-is-detached-thresh" => costs.detached_below = bytes()?,
        "smpi/async-small-thresh" => costs.async_small_below = bytes()?,
        "smpi/os" => costs.send = overhead()?,
        "smpi/ois" => costs.immediate_send = overhead()?,
        "smpi/or" => costs.receive = overhead()?,
        "smpi/init" => costs.init = seconds()?,
        "smpi/wtime" => costs.wtime = seconds()?,
        "smpi/test" => costs.test = seconds()?,
        "smpi/iprobe" => costs.probe = seconds()?,
        "smpi/grow-injected-times" => costs.polling_grows = yes()?,
        "smpi/finalization-barrier" => costs.finalize_waits = yes()?,
        _ => {}
    }
    Ok(())
}
