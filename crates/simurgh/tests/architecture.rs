//! docs/ARCHITECTURE.md states who uses whom; this holds it against the real dependency graph.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Graph = BTreeMap<String, BTreeSet<String>>;

fn documented() -> Graph {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("docs/ARCHITECTURE.md is there");
    let (_, rest) = text.split_once("<!-- crate map -->").expect("the crate map begins");
    let (map, _) = rest.split_once("<!-- end of crate map -->").expect("the crate map ends");
    let names =
        |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    map.lines()
        .filter(|line| line.starts_with("- "))
        .map(|line| {
            let mut names = names(line).into_iter();
            let crate_name = names.next().expect("each line names a crate");
            (crate_name, names.collect())
        })
        .collect()
}

fn real() -> Graph {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |package: &serde_json::Value| package["name"].as_str().expect("a name").to_owned();
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let ordinary = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
            (name(package), ordinary.map(name).filter(|name| members.contains(name)).collect())
        })
        .collect()
}

#[test]
fn the_crate_map_is_the_dependency_graph() {
    assert_eq!(documented(), real());
}

#[test]
fn nothing_below_knows_what_is_above() {
    let order = [
        "simurgh-files",
        "simurgh-random",
        "simurgh-watchdog",
        "simurgh-search",
        "simurgh-platform",
        "simurgh-models",
        "simurgh-kernel",
        "simurgh-native",
        "simurgh-explore",
        "simurgh-protocol",
        "simurgh-protocol-sim",
        "simurgh-deploy",
        "simurgh-worlds",
        "simurgh-trace",
        "simurgh-actors",
        "simurgh-trace-replay",
        "simurgh-mpi",
        "simurgh-cli",
        "simurgh",
        "simurgh-examples",
        "benches",
    ];
    let rank = |name: &str| order.iter().position(|other| *other == name).expect("every crate has its place");
    for (name, uses) in real() {
        for used in uses {
            assert!(rank(&used) < rank(&name), "{name} uses {used}, which is above it");
        }
    }
}
