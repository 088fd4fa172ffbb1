//! Every crate can be published, one after the other: its manifest says what a registry wants to know, and nothing that it needs
//! comes after it. `scripts/test` makes the packages.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("there are packages") };
    packages
}

fn name(value: &Value) -> &str {
    value["name"].as_str().expect("a name")
}

fn is_public(package: &Value) -> bool {
    // `publish = false` is told as no registry at all.
    package["publish"].is_null()
}

#[test]
fn registries_are_told_what_they_want_to_know() {
    let wanted = ["description", "license", "repository", "readme", "rust_version", "keywords", "categories"];
    for package in packages().iter().filter(|package| is_public(package)) {
        for key in wanted {
            let value = &package[key];
            let is_there = !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
            assert!(is_there, "{} does not say its {key}", name(package));
        }
    }
    let packages = packages();
    let private: BTreeSet<_> = packages.iter().filter(|package| !is_public(package)).map(name).collect();
    assert_eq!(private, BTreeSet::from(["benches", "simurgh-examples", "simurgh-testing"]));
}

#[test]
fn crates_can_be_published_in_an_order() {
    let packages = packages();
    let public: BTreeSet<&str> = packages.iter().filter(|package| is_public(package)).map(name).collect();
    // What must be in the registry before: ordinary dependencies, and those for tests that have a version.
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages.iter().filter(|package| is_public(package)) {
        let uses = before.entry(name(package)).or_default();
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            // Those without a version are left out of the package.
            let is_kept = dependency["kind"] != "dev" || dependency["req"] != "*";
            if !dependency["path"].is_null() && is_kept {
                assert!(
                    dependency["req"] != "*",
                    "{} names no version of {}",
                    name(package),
                    name(dependency)
                );
                assert!(
                    public.contains(name(dependency)),
                    "{} needs {}, which is private",
                    name(package),
                    name(dependency)
                );
                uses.insert(name(dependency));
            }
        }
    }
    while !before.is_empty() {
        let next: Vec<&str> =
            before.iter().filter(|(_, uses)| uses.is_empty()).map(|(name, _)| *name).collect();
        assert!(!next.is_empty(), "these wait for each other: {before:?}");
        for done in next {
            before.remove(done);
            for uses in before.values_mut() {
                uses.remove(done);
            }
        }
    }
}
