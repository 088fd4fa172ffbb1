//! How many instructions the workloads take, counted by Valgrind: what must not regress, without a clock.
//!
//! `tests/instructions.txt` has a line for each: the count, and the arguments. More than the tolerance above it fails. After a
//! change that is meant, `UPDATE_INSTRUCTIONS=1 cargo test --profile tests -p benches --test instructions` writes the new counts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// More than this part more than what is written down is told. Since that was written, the allocator of compiled programs came, which is
/// part of whatever is built together with them (0.7 %), labels and posts of actors, pools of users (2 to 4 %), and clocks of links with alarms that are
/// fetched beforehand (1 to 2 %; a fifth less where links are shared, which is written down).
const TOLERANCE: f64 = 0.075;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions.txt")
}

/// Why nothing can be counted here, if so.
fn obstacle() -> Option<&'static str> {
    if cfg!(debug_assertions) {
        return Some("counts are of the profile of tests: add --profile tests");
    }
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Some("counts are of x86_64 Linux");
    }
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => None,
        _ => Some("valgrind is missing: apt-get install valgrind"),
    }
}

fn count(arguments: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_benches"))
        .args(arguments.split_whitespace())
        // Which rounds several threads share depends on the clock.
        .args(["--workers", "1"])
        .output()
        .expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    said.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .unwrap_or_else(|| panic!("{arguments}: valgrind told no count:\n{said}"))
}

#[test]
fn workloads_take_no_more_instructions_than_before() {
    if let Some(why) = obstacle() {
        println!("skipped: {why}");
        return;
    }
    let before = std::fs::read_to_string(file()).expect("the counts are there");
    let (mut now, mut regressions) = (String::new(), Vec::new());
    for line in before.lines() {
        let Some((known, arguments)) = line.trim_start().split_once(' ').filter(|_| !line.starts_with('#'))
        else {
            now += &format!("{line}\n");
            continue;
        };
        let known: u64 = known.replace('_', "").parse().expect("a line is a count and arguments");
        let arguments = arguments.trim();
        let counted = count(arguments);
        now += &format!("{counted:>12} {arguments}\n");
        let change = counted as f64 / known as f64 - 1.0;
        println!("{arguments}: {counted} instructions, {:+.2}%", 100.0 * change);
        if change > TOLERANCE {
            regressions.push(format!("{arguments}: {counted} instructions instead of {known}"));
        } else if change < -TOLERANCE {
            println!("{arguments}: that is fewer than written down; keep it so by UPDATE_INSTRUCTIONS=1");
        }
    }
    if std::env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        return std::fs::write(file(), now).expect("the counts are written");
    }
    assert!(
        regressions.is_empty(),
        "{}\nif that is meant, write it down: UPDATE_INSTRUCTIONS=1",
        regressions.join("\n")
    );
}
