//! What every written timeline must satisfy, whatever was recorded.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use simurgh_trace::Timeline;

/// The three formats of a timeline, each checked.
pub fn written(timeline: &Timeline) -> [String; 3] {
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    timeline.write_perfetto(&mut out[0]).unwrap();
    timeline.write_paje(&mut out[1]).unwrap();
    timeline.write_svg(&mut out[2]).unwrap();
    let written = out.map(|bytes| String::from_utf8(bytes).expect("all formats are UTF-8"));
    perfetto(&written[0]);
    paje(&written[1]);
    svg(&written[2]);
    written
}

/// Dates never go back, slices nest, and each arrow leaves one open slice for another.
pub fn perfetto(text: &str) {
    let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let mut open: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let mut processes = BTreeSet::new();
    let (mut started, mut finished) = (BTreeSet::new(), BTreeSet::new());
    let mut last = f64::NEG_INFINITY;
    for event in json["traceEvents"].as_array().expect("a list of events") {
        let phase = event["ph"].as_str().expect("each event has a phase");
        let pid = event["pid"].as_u64().expect("each event has a process");
        if phase == "M" {
            processes.insert(pid);
            continue;
        }
        assert!(processes.contains(&pid), "process {pid} has no name");
        let date = event["ts"].as_f64().expect("each event has a date");
        assert!(date >= last, "{date} after {last}");
        last = date;
        let slices = open.entry((pid, event["tid"].as_u64().unwrap_or(0))).or_default();
        match phase {
            "B" => {
                assert!(event["name"].is_string());
                *slices += 1;
            }
            "E" => *slices = slices.checked_sub(1).expect("an end has a beginning"),
            "s" | "f" => {
                let id = event["id"].as_u64().expect("arrows have numbers");
                assert!(*slices > 0, "arrow {id} is bound to no slice: {event}");
                if phase == "s" {
                    assert!(started.insert(id), "arrow {id} starts twice");
                } else {
                    assert_eq!(event["bp"], "e");
                    assert!(started.contains(&id) && finished.insert(id), "arrow {id} ends before it starts");
                }
            }
            "C" => assert!(event["args"].as_object().unwrap().values().all(Value::is_number), "{event}"),
            "i" => assert!(["t", "p"].contains(&event["s"].as_str().unwrap())),
            other => panic!("unknown phase {other}"),
        }
    }
    assert_eq!(started, finished, "every arrow arrives");
    assert!(open.values().all(|slices| *slices == 0), "every slice ends");
}

/// Dates never go back, containers live while they are used, states and arrows are balanced.
pub fn paje(text: &str) {
    let mut containers: BTreeSet<String> = ["0".to_owned()].into();
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    let (mut arrows, mut last) = (BTreeSet::new(), 0.0);
    for line in text.lines().filter(|line| !line.starts_with('%')) {
        let words = words(line);
        let event: u32 = words[0].parse().expect("an event number");
        if event < 5 {
            continue;
        }
        let date: f64 = words[1].parse().expect("a date");
        assert!(date >= last, "{line}: dates go back");
        last = date;
        let alive = |name: &str| assert!(containers.contains(name), "{line}: no container {name}");
        match event {
            5 => {
                alive(&words[4]);
                assert!(containers.insert(words[2].clone()), "{line}: created twice");
                assert_eq!(words.len(), 6, "{line}");
            }
            6 => assert!(containers.remove(&words[3]), "{line}: destroyed without being there"),
            7 => {
                alive(&words[3]);
                assert_eq!(words.len(), 6, "{line}");
                *states.entry(format!("{} {}", words[2], words[3])).or_default() += 1;
            }
            8 => {
                alive(&words[3]);
                let count = states.entry(format!("{} {}", words[2], words[3])).or_default();
                *count = count.checked_sub(1).unwrap_or_else(|| panic!("{line}: nothing to pop"));
            }
            9 => {
                alive(&words[3]);
                assert!(words[4].parse::<f64>().unwrap().is_finite());
            }
            10 => {
                alive(&words[5]);
                assert!(arrows.insert(words[6].clone()), "{line}: starts twice");
            }
            11 => {
                alive(&words[5]);
                assert!(arrows.remove(&words[6]), "{line}: ends before it starts");
            }
            _ => panic!("{line}: unknown event"),
        }
    }
    assert!(arrows.is_empty() && states.values().all(|count| *count == 0));
    assert_eq!(containers.len(), 1, "all containers are destroyed but the root: {containers:?}");
}

/// The words of a line; a quoted one may have spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Tags are balanced, attributes quoted, references known, and no coordinate is out of this world.
pub fn svg(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        references(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "tags are balanced");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "attributes are quoted: {tag}");
        references(tag);
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
        if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
    }
    assert!(rest.trim().is_empty() && open.is_empty(), "all tags are closed: {open:?}");
}

fn references(text: &str) {
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().unwrap_or_default();
        assert!(["lt", "gt", "amp", "quot", "#39", "#10"].contains(&name), "&{part}");
    }
    let illegal = |character: char| character.is_ascii_control() && character != '\n';
    assert!(!text.contains(illegal), "{text:?}");
}
