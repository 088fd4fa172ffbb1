//! The platform of those who gave none.
//!
//! Sixteen hosts `node-0` to `node-15`, of 4 cores of 1 Gf each, in a flat cluster `builtin`: split private links of
//! 1 GBps (8 Gbps) and 20 us, a backbone of 10 GBps and 10 us. Each host has a disk named `disk` that reads
//! 500 MBps and writes 250 MBps.

use crate::builder::{BackboneSpec, ClusterSpec};
use crate::inventory::Sharing;
use crate::platform::Platform;

pub(crate) fn platform() -> Platform {
    let mut builder = crate::PlatformBuilder::new("builtin");
    builder.cluster(
        None,
        ClusterSpec {
            prefix: "node-".to_owned(),
            cores: 4,
            bandwidth: 1e9,
            latency: 20e-6,
            backbone: Some(BackboneSpec { bandwidth: 1e10, latency: 10e-6, sharing: Sharing::Shared }),
            ..ClusterSpec::new("builtin", 16)
        },
    );
    for number in 0..16 {
        if let Some(host) = builder.host_named(&format!("node-{number}")) {
            builder.disk(host, "disk", 500e6, 250e6);
        }
    }
    builder.build().expect("the builtin platform is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_platform_is_as_documented() {
        let platform = platform();
        assert_eq!(platform.host_count(), 16);
        let (first, last) = (platform.host_named("node-0").unwrap(), platform.host_named("node-15").unwrap());
        assert_eq!(platform.host(first).cores, 4);
        let disk = platform.disk(platform.disk_named(last, "disk").unwrap());
        assert_eq!(
            (disk.read_bandwidth, disk.write_bandwidth, disk.readwrite_bandwidth),
            (500e6, 250e6, 500e6)
        );
        let route = platform.route(first, last).unwrap();
        assert_eq!(route.links.len(), 3);
        assert!((route.latency - 50e-6).abs() < 1e-12);
    }
}
