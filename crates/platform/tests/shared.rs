//! The reference's own example files and the oracles' platforms, where they are at hand: everything loads, and
//! every pair of hosts has a route where it should. They are not part of the repository, so this may be skipped.

use std::path::{Path, PathBuf};

use simurgh_platform::{Platform, Route};

/// The `.xml` files of a folder beside the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join("shared").join(folder);
    let Ok(entries) = std::fs::read_dir(&root) else {
        println!("skipped: there is no {}", root.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    files
}

/// Asks for routes between all pairs, or a regular sample of them; returns the first complaint.
fn first_missing_route(platform: &Platform) -> Option<String> {
    let hosts: Vec<_> = platform.hosts().collect();
    let step = (hosts.len() / 150).max(1);
    let mut route = Route::default();
    for &src in hosts.iter().step_by(step) {
        for &dst in hosts.iter().skip(src.index() % step).step_by(step) {
            // A host to itself may have no route, in a zone of kind None for instance.
            if src == dst {
                continue;
            }
            if let Err(error) = platform.route_into(src, dst, &mut route) {
                return Some(error.to_string());
            }
        }
    }
    None
}

#[test]
fn the_example_platforms_load_and_route() {
    // These have hosts without routes: between hosts that only compute, for ns-3, or by design.
    let unconnected = [
        "dogbone.xml",
        "emission_platform.xml",
        "faulty_host.xml",
        "model_checker_platform.xml",
        "prop.xml",
        "ptask_L07.xml",
        "small_platform_fatpipe.xml",
        "small_platform_routing_none.xml",
        "wifi_ns3.xml",
    ];
    for path in files("platforms") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let platform = Platform::from_file(&path).unwrap_or_else(|error| panic!("{error}"));
        let drawing = simurgh_platform::svg::draw(&platform);
        assert!(roxmltree::Document::parse(&drawing).is_ok(), "{name} is drawn well-formed");
        let words = simurgh_platform::summary(&platform);
        assert!((4..60).contains(&words.lines().count()), "{words}");
        let missing = first_missing_route(&platform);
        assert_eq!(missing.is_some(), unconnected.contains(&name.as_str()), "{name}: {missing:?}");
    }
}

#[test]
fn the_platforms_of_the_oracles_load_and_route() {
    for path in files("oracles") {
        let platform = Platform::from_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(first_missing_route(&platform), None, "{}", path.display());
    }
}

/// Routes that the facts about the reference state.
#[test]
fn some_routes_of_the_examples_are_known() {
    let examples = files("platforms");
    let table = [
        (
            "cluster_torus.xml",
            "node-0.simgrid.org",
            "node-11.simgrid.org",
            "bob_cluster_link_from_2_to_0_DOWN bob_cluster_link_from_2_to_5_UP bob_cluster_link_from_5_to_11_UP",
        ),
        (
            "cluster_backbone.xml",
            "node-0.simgrid.org",
            "node-2.simgrid.org",
            "cluster0_link_0_UP cluster0_backbone cluster0_link_2_DOWN",
        ),
        ("small_platform.xml", "Tremblay", "Jupiter", "9"),
        ("routing_cluster.xml", "host1", "host6", "l1_UP backbone1 link1-2 backbone2 l6"),
        ("bypassZoneRoute.xml", "1", "2", "my_cluster_1_link_1_UP link_tmp my_cluster_2_link_2_DOWN"),
        ("bypassZoneRoute.xml", "2", "1", "my_cluster_2_link_2_UP link2 link1 my_cluster_1_link_1_DOWN"),
        ("bypassRoute.xml", "AS_2_host1", "AS_2_host2", "AS_2_link7 AS_2_link6 AS_2_link5"),
        ("bypassRoute.xml", "AS_2_host2", "AS_2_host1", "AS_2_link2 AS_2_link1"),
    ];
    for (file, src, dst, expected) in table {
        let Some(path) = examples.iter().find(|path| path.ends_with(file)) else { continue };
        let platform = Platform::from_file(path).unwrap_or_else(|error| panic!("{error}"));
        let host = |name: &str| platform.host_named(name).unwrap();
        let links = platform.route(host(src), host(dst)).unwrap().links;
        let names: Vec<&str> = links.iter().map(|&link| platform.link(link).name).collect();
        assert_eq!(names.join(" "), expected, "{file}: {src} to {dst}");
    }
}
