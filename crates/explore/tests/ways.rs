//! The shared programs with a known number of ways to receive their messages.

use std::path::PathBuf;

use crate::common::{Engine, Op, Program, system, ways};
use simurgh_explore::{Network, Verdict, Violation, dfs, dpor, optimal, source};

struct Case {
    name: String,
    program: Program,
    expected: String,
}

impl Case {
    /// The number after `key` in the part of the model, and whether it can deadlock.
    fn expected(&self, model: &str) -> (usize, bool) {
        let part = self.expected.split(&format!("\"{model}\"")).nth(1).expect("every model is there");
        let part = part.split('}').next().expect("an object");
        let number: String =
            part.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        (number.parse().expect("a number"), part.contains("true"))
    }
}

/// None where the programs are not there: they are not part of the repository.
fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ways");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected = std::fs::read_to_string(path.with_extension("expected")).expect("readable");
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let lines = text.lines().filter(|line| line.starts_with("do ="));
        Case { name, program: lines.map(operations).collect(), expected }
    };
    paths.into_iter().map(read).collect()
}

fn operations(line: &str) -> Vec<Op> {
    let quoted = line.split('"').skip(1).step_by(2);
    let operation = |text: &str| {
        let mut words = text.split(' ');
        let verb = words.next().expect("a verb");
        let mailbox = words.next().and_then(|word| word.strip_prefix('m')?.parse().ok());
        match (verb, mailbox) {
            ("send", Some(m)) => Op::Send(m),
            ("isend", Some(m)) => Op::Isend(m),
            ("dsend", Some(m)) => Op::Dsend(m),
            ("recv", Some(m)) => Op::Recv(m),
            ("irecv", Some(m)) => Op::Irecv(m),
            ("waitall", _) => Op::WaitAll,
            ("waitany", _) => Op::WaitAny,
            _ => panic!("unknown operation {text:?}"),
        }
    };
    quoted.map(operation).collect()
}

const MODELS: [(&str, Network); 3] =
    [("mailbox", Network::Mailbox), ("pairwise", Network::Pairwise), ("unordered", Network::Unordered)];

/// Compares an engine with what is known; gives back how many programs it could finish.
fn compare(engine: Engine, most: u64) -> usize {
    let mut finished = 0;
    for case in cases() {
        for (model, network) in MODELS {
            let (ways, found, exhausted) =
                ways(system(&case.program, network).keep_posts(), Some(most), engine);
            if !exhausted {
                continue;
            }
            finished += 1;
            let deadlock = found.found.iter().any(|(what, _)| matches!(what, Violation::Deadlock { .. }));
            assert_eq!((ways.len(), deadlock), case.expected(model), "{} {model}", case.name);
            assert_ne!(found.verdict, Verdict::Violated);
        }
    }
    finished
}

#[test]
fn plain_search_finds_every_way() {
    let finished = compare(dfs::explore, 5_000);
    println!("{finished} of {} finished", 3 * cases().len());
}

#[test]
fn reductions_find_every_way() {
    for (name, engine) in
        [("dpor", dpor::explore as Engine), ("source", source::explore), ("optimal", optimal::explore)]
    {
        let finished = compare(engine, 100_000);
        println!("{name}: {finished} of {} finished", 3 * cases().len());
    }
}
