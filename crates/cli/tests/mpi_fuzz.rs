//! Random MPI programs under `check`: those that are right hold, in as many executions as there are ways to receive their messages,
//! and of those with one mistake it is found.
//!
//! `SIMURGH_FUZZ=5000` makes as many, `SIMURGH_FUZZ_SEED` others.

use crate::support::command::Folder;
use crate::support::mpi_fuzz::{Fuzzed, Random, program, small, source};

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What is wrong with what is told of a program, if something is.
fn verdict(folder: &Folder, place: usize, fuzzed: &Fuzzed) -> Option<String> {
    let (processes, place) = (fuzzed.processes.to_string(), place.to_string());
    let ran = folder.simurgh(&["check", "-n", &processes, "./fuzzed", "--", &place]);
    let told = match fuzzed.ways {
        0 => "--buffering infinite: holds: ".to_owned(),
        1 => "--buffering infinite: holds: 1 execution,".to_owned(),
        ways => format!("--buffering infinite: holds: {ways} executions,"),
    };
    if ran.code != 0 || !ran.stdout.starts_with(&told) {
        return Some(format!("not {told}\n{}\n{}", fuzzed.right, ran.told()));
    }
    let ran = folder.simurgh(&["check", "-n", &processes, "./fuzzed", "--", &place, "wrong"]);
    let is_found = fuzzed.found.iter().any(|found| ran.stdout.contains(found));
    (ran.code != 1 || !is_found)
        .then(|| format!("{}: not {:?}\n{}\n{}", fuzzed.mistake, fuzzed.found, fuzzed.wrong, ran.told()))
}

fn compile(folder: &Folder, programs: &[Fuzzed]) {
    folder.write("fuzzed.c", &source(programs));
    let compiled = folder.simurgh(&["cc", "-g", "fuzzed.c", "-o", "fuzzed"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
}

#[test]
fn random_programs_hold_and_random_mistakes_are_found() {
    const AT_ONCE: usize = 200;
    let (count, seed) = (number("SIMURGH_FUZZ", 120), number("SIMURGH_FUZZ_SEED", 17));
    let mut random = Random(seed as u64);
    let folder = Folder::new("mpi-fuzz");
    let mut wrong = Vec::new();
    let mut left = count;
    while left > 0 {
        let programs: Vec<Fuzzed> = (0..left.min(AT_ONCE)).map(|_| program(&mut random)).collect();
        left -= programs.len();
        compile(&folder, &programs);
        let found = programs.iter().enumerate().filter_map(|(place, one)| verdict(&folder, place, one));
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} of {count} with seed {seed}: {}", wrong.len(), wrong.join("\n----\n"));
}

/// All orders of all steps, without any reduction; some are too many for it.
#[test]
fn small_random_programs_are_judged_as_by_plain_search() {
    let (count, seed) = (number("SIMURGH_FUZZ", 120) / 4, number("SIMURGH_FUZZ_SEED", 17));
    let mut random = Random(seed as u64);
    let folder = Folder::new("mpi-fuzz-small");
    let programs: Vec<Fuzzed> = (0..count).map(|_| small(&mut random)).collect();
    compile(&folder, &programs);
    let mut exhausted = 0;
    for (place, fuzzed) in programs.iter().enumerate() {
        assert_eq!(verdict(&folder, place, fuzzed), None, "seed {seed}");
        let place = place.to_string();
        for (more, code, text) in [(None, 0, &fuzzed.right), (Some("wrong"), 1, &fuzzed.wrong)] {
            let words =
                ["check", "-n", "2", "--engine", "dfs", "--executions", "20000", "--buffering", "infinite"];
            let words = words.into_iter().chain(["./fuzzed", "--", &place]).chain(more);
            let ran = folder.simurgh(&words.collect::<Vec<_>>());
            assert!(ran.code == code || ran.code == 3, "seed {seed}: {text}\n{}", ran.told());
            exhausted += usize::from(ran.code == code);
        }
    }
    assert!(exhausted > count, "{exhausted} of {count} programs, right and wrong");
}
