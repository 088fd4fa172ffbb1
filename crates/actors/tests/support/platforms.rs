//! Small platforms, with the numbers that the tests need.

use std::path::{Path, PathBuf};

use simurgh::Platform;

/// Reads a platform of the given zone.
pub fn platform(zone: &str) -> Platform {
    let text = format!("<platform version=\"4.1\">{zone}</platform>");
    Platform::from_xml(&text, "test.xml", Path::new(env!("CARGO_MANIFEST_DIR")))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Hosts a and b of 1 Gflop/s, c of 2 Gflop/s; link l of 1 MBps and 1 ms between a and b, m of 10 MBps and 2 ms between
/// a and c; both between b and c.
pub fn three_hosts() -> Platform {
    platform(
        r#"<zone id="world" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="2Gf"/>
        <link id="l" bandwidth="1MBps" latency="1ms"/><link id="m" bandwidth="10MBps" latency="2ms"/>
        <route src="a" dst="b"><link_ctn id="l"/></route>
        <route src="a" dst="c"><link_ctn id="m"/></route>
        <route src="b" dst="c"><link_ctn id="l"/><link_ctn id="m"/></route>
        </zone>"#,
    )
}

/// The four hosts of the reference's `small_platform.xml` that its timings speak of.
pub fn tremblay_and_others() -> Platform {
    platform(
        r#"<zone id="world" routing="Full">
        <host id="T" speed="98.095Mf"/><host id="J" speed="76.296Mf"/>
        <host id="F" speed="76.296Mf"/><host id="G" speed="48.492Mf"/>
        <link id="0" bandwidth="41.279125MBps" latency="59.904us"/>
        <link id="1" bandwidth="34.285625MBps" latency="514.433us"/>
        <link id="2" bandwidth="118.6825MBps" latency="136.931us"/>
        <link id="3" bandwidth="34.285625MBps" latency="514.433us"/>
        <link id="4" bandwidth="10.099625MBps" latency="479.78us"/>
        <link id="5" bandwidth="27.94625MBps" latency="278.066us"/>
        <link id="8" bandwidth="8.158MBps" latency="270.544us"/>
        <link id="9" bandwidth="7.20975MBps" latency="1.461517ms"/>
        <link id="own" bandwidth="498MBps" latency="15us" sharing_policy="FATPIPE"/>
        <route src="F" dst="F"><link_ctn id="own"/></route>
        <route src="T" dst="J"><link_ctn id="9"/></route>
        <route src="T" dst="G"><link_ctn id="4"/><link_ctn id="3"/><link_ctn id="5"/></route>
        <route src="T" dst="F"><link_ctn id="4"/><link_ctn id="3"/><link_ctn id="2"/><link_ctn id="0"/><link_ctn id="1"/><link_ctn id="8"/></route>
        <route src="J" dst="F"><link_ctn id="9"/><link_ctn id="4"/><link_ctn id="3"/><link_ctn id="2"/><link_ctn id="0"/><link_ctn id="1"/><link_ctn id="8"/></route>
        <route src="F" dst="G"><link_ctn id="8"/><link_ctn id="1"/><link_ctn id="0"/><link_ctn id="2"/><link_ctn id="5"/></route>
        </zone>"#,
    )
}

/// A platform file of the reference, where there is a copy beside the repository; says so where there is none.
pub fn of_the_reference(name: &str) -> Option<Platform> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/platforms").join(name);
    if path.exists() {
        Some(Platform::from_file(path).unwrap())
    } else {
        eprintln!("skipped: {} is not there", path.display());
        None
    }
}
