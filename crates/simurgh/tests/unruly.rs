//! Programs that misbehave under `check`: they never end, never come back, or are not the same twice. All engines say who, and
//! where.
//!
//! This binary is the program that it checks: `unruly check WHAT` explores one of the programs below, and without arguments
//! it runs itself so, again and again.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use simurgh::clap;
use simurgh::prelude::*;

/// A program that is checked.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum What {
    /// An actor that yields for ever.
    Yields,
    /// An actor that waits for a date by yielding.
    PollsTheClock,
    /// An actor that waits for a date by sleeping.
    SleepsUntil,
    /// As many computations in a row as somebody might do in earnest.
    ManyExecutions,
}

#[derive(clap::Args)]
struct Options {
    #[arg(value_enum)]
    what: What,
}

/// The line of this file that ends with a remark.
fn line(remark: &str) -> usize {
    let remark = format!("// <- {remark}");
    1 + include_str!("unruly.rs").lines().position(|line| line.ends_with(&remark)).expect("a line with it")
}

async fn yields(ctx: Ctx) -> simurgh::Result {
    loop {
        ctx.yield_now().await; // <- yields
    }
}

async fn polls_the_clock(ctx: Ctx) -> simurgh::Result {
    while ctx.now() < 10.0 {
        ctx.yield_now().await; // <- polls-the-clock
    }
    Ok(())
}

async fn sleeps_until(ctx: Ctx) -> simurgh::Result {
    while ctx.now() < 10.0 {
        ctx.sleep(1.0).await; // <- sleeps-until
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    // Somebody else, who is first and does something.
    program.spawn("bystander", "node-0", |ctx| async move {
        ctx.mailbox("m").send((), 1.0).detach().await;
    })?;
    match options.what {
        What::Yields => program.spawn("poller", "node-1", yields)?,
        What::PollsTheClock => program.spawn("poller", "node-1", polls_the_clock)?,
        What::SleepsUntil => program.spawn("poller", "node-1", sleeps_until)?,
        What::ManyExecutions => program.spawn("worker", "node-1", |ctx| async move {
            for _ in 0..1_500_000 {
                ctx.execute(1.0).await?;
            }
            Ok::<(), simurgh::Error>(())
        })?,
    };
    Ok(())
}

const ENGINES: [&str; 7] = ["receives", "optimal", "source", "dpor", "dfs", "random", "pct"];

/// What came of a check.
#[derive(Debug)]
struct Checked {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    seconds: f64,
}

impl Checked {
    fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for words in words {
            assert!(self.stdout.contains(words) || self.stderr.contains(words), "{words:?}: {self:#?}");
        }
    }

    #[track_caller]
    fn within(self, seconds: f64) -> Self {
        assert!(self.seconds < seconds, "{self:#?}");
        self
    }
}

fn command(what: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
    command.args(["check", what]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[expect(clippy::disallowed_methods, reason = "how long a search takes is what is tested")]
fn now() -> Instant {
    Instant::now()
}

fn check(what: &str, arguments: &[&str]) -> Checked {
    let start = now();
    let output = command(what, arguments).output().expect("it runs");
    Checked {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
        seconds: start.elapsed().as_secs_f64(),
    }
}

fn an_actor_that_polls_is_told_with_its_name_and_line() {
    for engine in ENGINES {
        for what in ["yields", "polls-the-clock", "sleeps-until"] {
            check(what, &["--engine", engine, "--time", "60"]).within(20.0).says(
                1,
                &[
                    "poller failed: goes on for ever without doing anything that others can see",
                    &format!("unruly.rs:{}", line(what)),
                ],
            );
        }
    }
}

fn a_million_computations_in_a_row_are_none_too_many() {
    for engine in ["receives", "optimal", "dfs"] {
        check("many-executions", &["--engine", engine]).within(20.0).says(0, &["holds"]);
    }
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == "check") {
        return simurgh::main_with(app);
    }
    let tests: &[(&str, fn())] = &[
        (
            "an_actor_that_polls_is_told_with_its_name_and_line",
            an_actor_that_polls_is_told_with_its_name_and_line,
        ),
        (
            "a_million_computations_in_a_row_are_none_too_many",
            a_million_computations_in_a_row_are_none_too_many,
        ),
    ];
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, test) in
        tests.iter().filter(|(name, _)| wanted.as_ref().is_none_or(|wanted| name.contains(wanted)))
    {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
