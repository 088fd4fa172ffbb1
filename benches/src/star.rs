//! Hosts on a star, each with one link to its centre that both directions share.

use simurgh::Platform;
use simurgh::platform::{HostId, Routing};

/// A star of hosts of 1 Gf, `PREFIX0`, `PREFIX1`..., and links of 50 us; `bandwidth` says how wide each is.
pub fn star(
    prefix: &str,
    hosts: u32,
    bandwidth: impl Fn(u32) -> f64,
) -> simurgh::Result<(Platform, Vec<HostId>)> {
    let mut builder = Platform::builder();
    builder.reserve(hosts as usize, prefix.len() + 6);
    let zone = builder.zone("c", Routing::Star);
    let mut all = Vec::with_capacity(hosts as usize);
    for number in 0..hosts {
        let host = builder.host(zone, &format!("{prefix}{number}"), 1e9).id();
        let link = builder.link(zone, &format!("l{number}"), bandwidth(number), 50e-6).id();
        builder.star(zone, host, &[link]);
        all.push(host);
    }
    Ok((builder.build()?, all))
}
