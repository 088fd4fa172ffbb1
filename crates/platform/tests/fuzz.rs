//! Whatever is read, the answer is a platform or a message: never a panic, never two lines.

use std::path::Path;

use proptest::prelude::*;
use simurgh_platform::{Platform, Profile, Route, units};

/// A platform with most elements of the format, to be damaged.
const VALID: &str = r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config id="c"><prop id="network/model" value="CM02"/></config>
  <trace id="t" periodicity="21.0">0.0 1.0
    11.0 0.5</trace>
  <zone id="world" routing="Floyd">
    <prop id="k" value="v"/>
    <zone id="A" routing="Full">
      <host id="a1" speed="1Gf,2Gf" pstate="1" core="2"><disk id="d" read_bw="1MBps" write_bw="2MBps"/></host>
      <host id="a2" speed="98.095Mf"/>
      <link id="la" bandwidth="125MBps" latency="50us" sharing_policy="SPLITDUPLEX"/>
      <route src="a1" dst="a2"><link_ctn id="la" direction="UP"/></route>
    </zone>
    <cluster id="f" prefix="f" suffix="" radical="0-3,7" speed="1Gf" bw="1MBps" lat="1us" bb_bw="1GBps" bb_lat="0"/>
    <cluster id="torus" prefix="t" suffix="" radical="0-11" speed="1Gf" bw="1MBps" lat="1us" topology="TORUS" topo_parameters="3,2,2"/>
    <cluster id="ft" prefix="x" suffix="" radical="0-15" speed="1Gf" bw="1MBps" lat="1us" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2" limiter_link="1MBps"/>
    <cluster id="df" prefix="y" suffix="" radical="0-11" speed="1Gf" bw="1MBps" lat="1us" topology="DRAGONFLY" topo_parameters="2,4;3,3;2,2;1" loopback_bw="1GBps"/>
    <zone id="V" routing="Vivaldi"><peer id="p" speed="1Gf" bw_in="1MBps" bw_out="2MBps" coordinates="1 2 3"/></zone>
    <zone id="S" routing="Star"><host id="s" speed="1Gf"/><link id="ls" bandwidth="1MBps"/><route src="s" dst="*"><link_ctn id="ls"/></route></zone>
    <zone id="C" routing="Cluster"><host id="c" speed="1Gf"/><link id="lc" bandwidth="1MBps"/><host_link id="c" up="lc" down="lc"/><backbone id="bb" bandwidth="1GBps" latency="0"/></zone>
    <zone id="W" routing="Wifi"><prop id="access_point" value="ap"/><router id="ap"/><host id="w" speed="1Gf"/><link id="air" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps"/></zone>
    <link id="out" bandwidth="1MBps" latency="1ms"/>
    <zoneRoute src="A" dst="f" gw_src="a1" gw_dst="ff_router"><link_ctn id="out"/></zoneRoute>
    <zoneRoute src="f" dst="S" gw_src="f0" gw_dst="s"><link_ctn id="out"/></zoneRoute>
    <bypassZoneRoute src="A" dst="S" gw_src="a2" gw_dst="s"><link_ctn id="out"/></bypassZoneRoute>
  </zone>
  <trace_connect kind="SPEED" trace="t" element="a1"/>
  <actor host="a1" function="main"><argument value="1"/></actor>
</platform>"#;

/// Reads, and if that works looks at everything that routing could trip over.
fn read(text: &str) {
    match Platform::from_xml(text, "fuzz.xml", Path::new("/nonexistent")) {
        Ok(platform) => {
            let mut route = Route::default();
            if platform.host_count() < 100 {
                let drawing = simurgh_platform::svg::draw(&platform);
                assert!(roxmltree::Document::parse(&drawing).is_ok());
                assert!(!simurgh_platform::summary(&platform).is_empty());
            }
            for src in platform.hosts().take(40) {
                for dst in platform.hosts().take(40) {
                    let _ = platform.route_into(src, dst, &mut route).map_err(|error| error.to_string());
                }
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
}

#[test]
fn the_example_to_be_damaged_is_valid() {
    let platform = Platform::from_xml(VALID, "fuzz.xml", Path::new("/nonexistent")).unwrap();
    assert_eq!(platform.host_count(), 2 + 5 + 12 + 16 + 12 + 4);
    read(VALID);
}

/// Words that are likely to matter where another one stood.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("-1".to_owned()),
        Just("0".to_owned()),
        Just("NaN".to_owned()),
        Just("1e308GBps".to_owned()),
        Just("4294967295".to_owned()),
        Just("0-4294967295".to_owned()),
        Just("1,0;2,2;3".to_owned()),
        Just("2;1,65536;65536,1;9,9".to_owned()),
        Just("A".to_owned()),
        Just("a1".to_owned()),
        Just("world".to_owned()),
        Just("Dijkstra".to_owned()),
        Just("\u{0}\u{fffd}é".to_owned()),
        "[ -~]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: simurgh_testing::cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_replaced(which in prop::collection::vec((0_usize..400, word()), 1..4)) {
        let mut text = VALID.to_owned();
        for (number, word) in which {
            let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
            let pairs: Vec<&[usize]> = quotes.chunks_exact(2).collect();
            if let Some(pair) = pairs.get(number % pairs.len().max(1)) {
                text.replace_range(pair[0] + 1..pair[1], &word);
            }
        }
        read(&text);
    }

    #[test]
    fn pieces_cut_copied_and_inserted(
        edits in prop::collection::vec((0.0..1.0_f64, 0_usize..60, 0.0..1.0_f64, "[<>/\"= a-z0-9]{0,5}"), 1..5)
    ) {
        let mut text = VALID.to_owned();
        for (at, length, from, insert) in edits {
            let mut start = (at * text.len() as f64) as usize;
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            while !text.is_char_boundary(end) { end -= 1; }
            let source = (from * VALID.len() as f64) as usize;
            let piece: String = VALID.chars().skip(source).take(length / 2).collect();
            text.replace_range(start..end.max(start), &(piece + &insert));
        }
        read(&text);
    }

    #[test]
    fn elements_left_out_or_moved(which in prop::collection::vec((0_usize..40, 0_usize..40), 1..4)) {
        let mut lines: Vec<&str> = VALID.lines().collect();
        for (from, to) in which {
            if lines.is_empty() { break; }
            let line = lines.remove(from % lines.len());
            if to % 2 == 0 {
                lines.insert(to % (lines.len() + 1), line);
            }
        }
        read(&lines.join("\n"));
    }

    #[test]
    fn random_text(text in "\\PC{0,200}") {
        read(&text);
        read(&format!("<platform version=\"4.1\">{text}</platform>"));
    }

    #[test]
    fn random_bytes_in_a_file(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn quantities(text in "\\PC{0,12}") {
        for parse in [units::parse_bandwidth, units::parse_speed, units::parse_flops, units::parse_time, units::parse_size] {
            if let Ok(value) = parse(&text) {
                prop_assert!(value.is_finite() && value >= 0.0);
            }
        }
    }

    #[test]
    fn quantities_nearly_right(number in -1e3..1e12_f64, unit in "[kMGTE]?i?[Bbf]?(ps)?[smhdw]?") {
        for parse in [units::parse_bandwidth, units::parse_speed, units::parse_flops, units::parse_time, units::parse_size] {
            if let Ok(value) = parse(&format!("{number}{unit}")) {
                prop_assert!(value.is_finite() && value >= 0.0);
            }
        }
    }

    #[test]
    fn profiles(text in "([0-9.#%]{1,4}[ \n]|PERIODICITY |LOOPAFTER |[a-z\n ]){0,20}") {
        if let Ok(profile) = Profile::parse(&text, "p") {
            let events: Vec<_> = profile.iter().take(50).collect();
            prop_assert!(events.windows(2).all(|pair| pair[0].date <= pair[1].date + 1e-9));
        }
    }
}
