//! Values whose `Drop`, `Clone` or `Debug` ends the process, panics or never comes back under `check`: that is told, and no check
//! takes it for an answer.
//!
//! This binary is the program that it checks, as `unruly` is.

use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "support/checked.rs"]
mod checked;

use simurgh::clap;
use simurgh::prelude::*;

use checked::{Checked, output};

/// Where the value is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Place {
    Mutex,
    Captured,
    Exposed,
    /// In a message that nobody receives.
    Message,
    Invariant,
    /// Captured by the function that makes the program.
    Maker,
}

/// What of it misbehaves.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Of {
    Drop,
    Clone,
    Debug,
    /// Nothing.
    Nothing,
}

/// What it does.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Does {
    Exits,
    Panics,
    Hangs,
}

#[derive(Copy, Clone, Debug, clap::Args)]
struct Options {
    #[arg(value_enum)]
    place: Place,
    #[arg(value_enum)]
    of: Of,
    #[arg(value_enum)]
    does: Does,
    /// So many calls before are fine.
    #[arg(long, default_value_t = 0)]
    after: u32,
    /// Whether an actor fails.
    #[arg(long)]
    fails: bool,
}

static CALLS: AtomicU32 = AtomicU32::new(0);

struct Value(Options);

impl Value {
    fn called(&self, of: Of) {
        if self.0.of != of || CALLS.fetch_add(1, Ordering::Relaxed) < self.0.after {
            return;
        }
        match self.0.does {
            Does::Exits => std::process::exit(0),
            Does::Panics if std::thread::panicking() => {}
            Does::Panics => panic!("as it was built"), // <- panics
            Does::Hangs => {
                while std::hint::black_box(true) {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.called(Of::Drop);
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.called(Of::Clone);
        Self(self.0)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.called(Of::Debug);
        f.write_str("a value")
    }
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let (options, value) = (*options, Value(*options));
    match options.place {
        Place::Mutex => {
            let mutex = program.mutex(value);
            for name in ["a", "b"] {
                let mutex = mutex.clone();
                program.spawn(name, "node-0", move |_| async move { drop(mutex.lock().await) })?;
            }
        }
        Place::Captured => {
            program.spawn("owner", "node-0", move |_: Ctx| async move { drop(value) })?;
        }
        Place::Exposed => {
            let shown = program.exposed("shown", value);
            program.invariant("seen", [shown], |_| true);
            program.spawn("shows", "node-0", move |_| async move { shown.set(Value(options)).await })?;
        }
        Place::Message => {
            program.spawn("sender", "node-0", move |ctx: Ctx| async move {
                ctx.mailbox("nowhere").send(value, 1.0).repeatable().detach().await;
            })?;
        }
        Place::Invariant => {
            let shown = program.exposed("shown", 0);
            program.invariant("seen", [shown], move |_| {
                let whole = &value;
                whole.0.place == Place::Invariant
            });
            program.spawn("shows", "node-0", move |_| async move { shown.set(1).await })?;
        }
        // It has one of its own.
        Place::Maker => std::mem::forget(value),
    }
    // More than one execution.
    for name in ["x", "y", "z"] {
        program.spawn(
            name,
            "node-1",
            |ctx: Ctx| async move { ctx.mailbox("in").send((), 1.0).detach().await },
        )?;
    }
    program.spawn("receiver", "node-2", move |ctx: Ctx| async move {
        ctx.mailbox::<()>("in").recv().await?;
        simurgh::check!(!options.fails, "the receiver fails");
        Ok(())
    })?;
    Ok(())
}

fn check(words: &str) -> Checked {
    let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
    output(command.arg("check").args(words.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

const ENGINES: [&str; 8] = ["receives", "optimal", "source", "dpor", "dfs", "states", "random", "pct"];
const PLACES: [&str; 5] = ["mutex", "captured", "exposed", "message", "invariant"];

/// It ended with code 0, as if all were well.
fn a_value_that_ends_the_process_when_it_is_dropped_is_told() {
    for place in PLACES {
        for engine in ENGINES {
            for after in [0, 2, 5] {
                let words = format!("{place} drop exits --after {after} --engine {engine} --executions 9");
                check(&words).says(2, &["ends the process", "nothing is known of its other executions"]);
            }
        }
        check(&format!("{place} drop exits --after 4 --workers 2")).says(2, &["ends the process"]);
    }
    for words in ["exposed debug exits --engine states", "exposed clone exits --after 1"] {
        check(words).says(2, &["ends the process"]);
    }
    check("message clone exits --network unordered --duplication 1").says(2, &["ends the process"]);
    // What was found stays what it is.
    let found = check("maker drop exits --fails");
    found.says(2, &["the receiver fails", "ends the process"]);
    check("maker nothing exits --fails").says(1, &["the receiver fails"]);
    check("mutex nothing exits").says(0, &["holds"]);
}

/// The line of this file that ends with a remark.
fn line(remark: &str) -> usize {
    let remark = format!("// <- {remark}");
    1 + include_str!("values.rs").lines().position(|line| line.ends_with(&remark)).expect("a line with it")
}

/// It was told as a mistake of ours, or ended the check with a panic.
fn a_value_that_panics_is_told_with_its_trait_and_line() {
    // Which trait it is cannot be told everywhere: within the kernel it is one of several.
    let place = format!("values.rs:{}: ", line("panics"));
    for engine in ENGINES {
        for owner in ["exposed", "message", "invariant"] {
            for after in [0, 2, 5] {
                let words = format!("{owner} drop panics --after {after} --engine {engine} --executions 9");
                check(&words).says(2, &[&place, "as it was built", "`Drop`"]);
            }
        }
    }
    // All interleavings without a copy are tried first by dfs: hours.
    for engine in ENGINES.into_iter().filter(|engine| *engine != "dfs") {
        check(&format!("message clone panics --network unordered --duplication 1 --engine {engine}"))
            .says(2, &[&place, "as it was built", "`Clone`"]);
    }
    check("message drop panics --after 4 --workers 2").says(2, &[&place, "as it was built", "`Drop`"]);
    check("exposed debug panics --engine states").says(2, &[&place, "as it was built", "`Debug`"]);
    // To read a value is part of the invariant.
    check("exposed clone panics").says(1, &["invariant \"seen\" does not hold: panicked: as it was built"]);
    // Those of an actor that has come to its end are its own.
    check("captured drop panics --after 2").says(1, &["owner failed: panicked: as it was built"]);
}

fn a_value_that_never_comes_back_is_told() {
    let of = |of: &str| format!("stopped: the `{of}` of a value did not come back for 1.");
    for engine in ["receives", "optimal", "states"] {
        for place in ["exposed", "message", "invariant"] {
            for after in [0, 5] {
                let words = format!("{place} drop hangs --after {after} --engine {engine} --stuck-after 1");
                // An invariant of a program that is made again is dropped while that is made.
                let made_again = place == "invariant" && after > 0;
                let told = if made_again { "stopped: ".to_owned() } else { of("Drop") };
                check(&words).within(8.0).says(3, &[&told, "did not come back for 1.", "(--stuck-after)"]);
            }
        }
    }
    check("message drop hangs --after 4 --workers 2 --stuck-after 1").within(8.0).says(3, &[&of("Drop")]);
    check("exposed debug hangs --engine states --stuck-after 1").within(8.0).says(3, &[&of("Debug")]);
    let cloned = "message clone hangs --network unordered --duplication 1 --stuck-after 1";
    check(cloned)
        .within(8.0)
        .says(3, &["stopped: the `Drop`, `Clone` or `Debug` of a value did not come back"]);
}

/// A test that hung was told, and hung on.
fn a_check_in_a_test_ends_where_code_does_not_come_back() {
    let ran = |does: &str| {
        let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
        output(command.args(["library", does]).stdout(Stdio::piped()).stderr(Stdio::piped()))
    };
    let told = "simurgh: the `Drop` of a value did not come back for 0.";
    ran("hangs").within(8.0).says(3, &[told, "the process ends (`stuck_after`)"]);
    ran("exits").within(8.0).says(2, &["simurgh: the `Drop` of a value ends the process"]);
    ran("panics").within(8.0).says(0, &["cannot-run", "the `Drop` of a value panics: as it was built"]);
}

/// Checks as a test does.
fn library(does: Does) {
    let options = Options { place: Place::Message, of: Of::Drop, does, after: 2, fails: false };
    let check = simurgh::check(move |program: &mut Program| app(program, &options));
    println!("{}", check.stuck_after(std::time::Duration::from_millis(500)).run());
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).map(String::as_str) == Some("library") {
        let does = match words[2].as_str() {
            "hangs" => Does::Hangs,
            "exits" => Does::Exits,
            _ => Does::Panics,
        };
        library(does);
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).as_deref() == Some("check") {
        let has = |word: &str| words.iter().any(|other| other == word);
        let options = Options {
            place: Place::Maker,
            of: if has("drop") { Of::Drop } else { Of::Nothing },
            does: Does::Exits,
            after: 0,
            fails: false,
        };
        let value = has("maker").then(|| Value(options));
        return simurgh::main_with(move |program: &mut Program, options: &Options| {
            let _ = &value;
            app(program, options)
        });
    }
    macro_rules! tests {
        ($($name:ident),* $(,)?) => { [$((stringify!($name), $name as fn())),*] };
    }
    let tests = tests![
        a_value_that_ends_the_process_when_it_is_dropped_is_told,
        a_value_that_panics_is_told_with_its_trait_and_line,
        a_value_that_never_comes_back_is_told,
        a_check_in_a_test_ends_where_code_does_not_come_back,
    ];
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_run = |name: &str| wanted.as_ref().is_none_or(|wanted| name.contains(wanted));
    for (name, test) in tests.iter().filter(|(name, _)| is_run(name)) {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
