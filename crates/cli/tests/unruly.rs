//! Programs that misbehave under `check`: they never end, never come back, or are not the same twice. All engines say who, and
//! where.
//!
//! This binary is the program that it checks: `unruly check WHAT` explores one of the programs below, and without arguments
//! it runs itself so, again and again.

use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "support/checked.rs"]
mod checked;

use simurgh::clap;
use simurgh::prelude::*;

use checked::{Checked, now, output};

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
    /// An actor with a loop in which it asks for nothing.
    NeverComesBack,
    /// An actor with a loop in which it asks for nothing before its first request.
    NeverBegins,
    Exits,
    ExitsWhenMade,
    /// An actor that takes a long time between two requests, each of which is its own affair.
    SlowYields,
    /// An invariant that comes to no answer.
    NeverJudges,
    /// The function that makes the program loops.
    NeverMade,
    /// The function that makes the program panics.
    PanicsWhenMade,
    /// More orders than anybody can try, each step of which takes its time.
    SlowSteps,
    /// More orders than anybody can try.
    Large,
    /// A computation that takes longer than its actor waits.
    ExecutionTimesOut,
    /// A computation that is not over when its actor looks.
    ExecutionIsNotOver,
    /// A computation that is over when its actor looks.
    ExecutionIsOver,
    /// The second of two computations is over first.
    SecondIsFirst,
    /// A computation that is stopped before it is over.
    IsStopped,
    /// A computation that is over before it is stopped.
    IsNotStopped,
    /// A computation with a timeout, whatever comes of it.
    EitherWay,
    /// A computation that is waited for, plainly.
    Plainly,
    /// An actor that sends elsewhere in each run.
    Moody,
    /// An actor that lives longer in each run.
    Ages,
    /// Two that fail, beside others that do not end.
    FailsAndGoesOn,
    /// Two that look for a message again and again.
    PollsForMessages,
    /// One that waits for a message with a timeout, again and again.
    Retries,
    /// One that creates others for ever.
    SpawnsForEver,
    /// One that goes on for ever in a case that cannot be.
    GoesOnIfImpossible,
    /// Nine that send to one.
    Nine,
    /// The same, where the second order is wrong.
    NineWithABug,
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

/// Busy for ever, which no compiler sees through.
fn never_comes_back() {
    while std::hint::black_box(true) {
        std::hint::spin_loop();
    }
}

/// Busy for a while.
fn takes_its_time() {
    std::thread::sleep(std::time::Duration::from_millis(100));
}

async fn computes(ctx: Ctx, what: What) -> simurgh::Result {
    let wrong = |what: &str| Err(simurgh::Error::other(what));
    let started = ctx.execute(1e12).start().await;
    match what {
        What::ExecutionTimesOut => started.wait_for(1.0).await?, // <- execution-times-out
        What::EitherWay => drop(started.wait_for(1.0).await),
        What::ExecutionIsNotOver if started.test().await?.is_none() => return wrong("not over"),
        What::ExecutionIsOver if started.test().await?.is_some() => return wrong("over"),
        What::SecondIsFirst => {
            let second = ctx.execute(1e12).start().await;
            let mut both = ActivitySet::from_iter([started, second]);
            if both.wait_any().await?.0 == 1 {
                return wrong("the second was first");
            }
        }
        What::IsStopped => {
            started.cancel().await;
            started.wait().await?;
        }
        What::IsNotStopped => {
            started.cancel().await;
            if started.wait().await.is_ok() {
                return wrong("it was over");
            }
        }
        What::Plainly => started.wait().await?,
        _ => {}
    }
    Ok(())
}

/// How often the program was made.
static MADE: AtomicU32 = AtomicU32::new(0);

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let made = MADE.fetch_add(1, Ordering::Relaxed);
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
            Ok(())
        })?,
        What::NeverComesBack => program.spawn("hermit", "node-1", |ctx| async move {
            ctx.mailbox("n").send((), 1.0).detach().await; // <- never-comes-back
            never_comes_back();
        })?,
        What::NeverBegins => program.spawn("hermit", "node-1", |_| async { never_comes_back() })?,
        What::Exits => program.spawn("hermit", "node-1", |ctx| async move {
            ctx.mailbox("n").send((), 1.0).detach().await; // <- exits
            if std::hint::black_box(true) {
                std::process::exit(0);
            }
        })?,
        What::ExitsWhenMade => std::process::exit(0),
        What::SlowYields => program.spawn("hermit", "node-1", |ctx| async move {
            while std::hint::black_box(true) {
                takes_its_time();
                ctx.yield_now().await; // <- slow-yields
            }
        })?,
        What::NeverJudges => {
            let value = program.exposed("value", 0);
            program.invariant("in doubt", [value], |_| {
                never_comes_back();
                true
            });
            program.spawn("shows", "node-1", move |_| async move { value.set(1).await })?
        }
        What::NeverMade => {
            never_comes_back();
            return Ok(());
        }
        What::PanicsWhenMade => {
            program.barrier(0); // <- panics-when-made
            return Ok(());
        }
        What::SlowSteps | What::Large => {
            for sender in 0..9 {
                let slow = options.what == What::SlowSteps;
                program.spawn(format!("sender-{sender}"), "node-1", move |ctx| async move {
                    if slow {
                        takes_its_time();
                    }
                    ctx.mailbox("in").send(sender, 1.0).await
                })?;
            }
            program.spawn("receiver", "node-2", |ctx| async move {
                for _ in 0..9 {
                    ctx.mailbox::<i32>("in").recv().await?;
                }
                Ok(())
            })?
        }
        What::Moody => program.spawn("moody", "node-1", move |ctx| async move {
            ctx.mailbox(&format!("box-{}", made % 2)).send((), 1.0).detach().await;
        })?,
        What::Ages => program.spawn("ages", "node-1", move |ctx| async move {
            for _ in 0..made {
                ctx.mailbox("box").send((), 1.0).detach().await;
            }
        })?,
        What::FailsAndGoesOn => {
            program.spawn("fails", "node-1", |ctx| async move {
                match ctx.choose(2).await {
                    0 => Err(simurgh::Error::other("as it must")),
                    _ => Ok(()),
                }
            })?;
            program.spawn("patient", "node-2", |ctx| async move {
                while ctx.mailbox::<()>("nobody").recv().timeout(1.0).await.is_err() {}
            })?
        }
        What::PollsForMessages => {
            for (own, other) in [("a", "b"), ("b", "a")] {
                program.spawn(own, "node-1", move |ctx| async move {
                    let receive = ctx.mailbox::<()>(own).recv().start().await;
                    ctx.mailbox(other).send((), 1.0).detach().await;
                    while receive.test().await?.is_none() {
                        ctx.sleep(1.0).await;
                    }
                    Ok(())
                })?;
            }
            return Ok(());
        }
        What::Retries => {
            program.spawn("server", "node-1", |ctx| async move { ctx.mailbox("in").send((), 1.0).await })?;
            program.spawn("patient", "node-2", |ctx| async move {
                while ctx.mailbox::<()>("in").recv().timeout(1.0).await.is_err() {
                    ctx.mailbox("requests").send((), 1.0).detach().await;
                }
            })?
        }
        What::SpawnsForEver => program.spawn("parent", "node-1", |ctx| async move {
            for _ in 0..1_000_000 {
                ctx.spawn("child", "node-2", |ctx| async move { ctx.sleep(1.0).await })?.await;
            }
            Ok(())
        })?,
        What::GoesOnIfImpossible => goes_on_if_impossible(program)?,
        what @ (What::Nine | What::NineWithABug) => {
            for number in 0..9 {
                program.spawn(format!("sender-{number}"), "node-1", move |ctx| async move {
                    ctx.mailbox("in").send(number, 1.0).detach().await;
                })?;
            }
            program.spawn("receiver", "node-2", move |ctx| async move {
                let mut order = Vec::new();
                for _ in 0..9 {
                    order.push(ctx.mailbox::<i32>("in").recv().await?);
                }
                simurgh::check!(
                    what == What::Nine || order != [0, 1, 2, 3, 4, 5, 6, 8, 7],
                    "as it was built"
                );
                Ok(())
            })?
        }
        what => program.spawn("worker", "node-1", move |ctx| computes(ctx, what))?,
    };
    Ok(())
}

/// Who takes the message of the other leaves its own to it: so it cannot be that the other finds none.
fn goes_on_if_impossible(program: &mut Program) -> simurgh::Result<ActorHandle> {
    program.spawn("a", "node-1", |ctx| async move {
        let shared = ctx.mailbox::<i32>("shared");
        shared.send(0, 1.0).detach().await;
        let got = shared.recv().timeout(1.0).await.ok();
        ctx.mailbox("judge").send((0usize, got), 1.0).detach().await;
    })?;
    program.spawn("b", "node-1", |ctx| async move {
        let shared = ctx.mailbox::<i32>("shared");
        shared.send(1, 1.0).detach().await;
        let got = shared.recv().timeout(1.0).await.ok();
        let _ = shared.send(2, 1.0).timeout(1.0).await;
        ctx.mailbox("judge").send((1usize, got), 1.0).detach().await;
    })?;
    program.spawn("judge", "node-1", |ctx| async move {
        let mut got = [None; 2];
        for _ in 0..2 {
            let (who, what): (usize, Option<i32>) = ctx.mailbox("judge").recv().await?;
            got[who] = what;
        }
        while got == [None, Some(0)] {
            ctx.mailbox("nobody").send((), 1.0).detach().await;
        }
        Ok(())
    })
}

const ENGINES: [&str; 7] = ["receives", "optimal", "source", "dpor", "dfs", "random", "pct"];

fn command(what: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
    command.args(["check", what]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn check(what: &str, arguments: &[&str]) -> Checked {
    output(&mut command(what, arguments))
}

fn an_actor_that_polls_is_told_with_its_name_and_line() {
    for engine in ENGINES {
        for what in ["yields", "polls-the-clock", "sleeps-until"] {
            check(what, &["--engine", engine, "--time", "60"]).within(40.0).says(
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

/// The first of these was told after 349 s, the last after more than 500.
fn programs_that_try_in_vain_for_ever_are_told_soon() {
    for engine in ENGINES {
        for what in ["polls-for-messages", "retries", "spawns-for-ever"] {
            if ["random", "pct"].contains(&engine) && what != "spawns-for-ever" {
                // Most walks end.
                continue;
            }
            // A bound of its own would be told as such.
            let checked = check(what, &["--engine", engine, "--time", "60"]).within(55.0);
            checked.says(3, &["not-exhausted", " on after ", "seems to be endless"]);
        }
    }
    // No search over states came to a thousand of them.
    for engine in ["bfs", "states"] {
        let checked = check("spawns-for-ever", &["--engine", engine]).within(60.0);
        checked.says(3, &["not-exhausted", " on after ", "seems to be endless"]);
        assert!(!checked.stdout.contains("(--depth)"), "nobody gave a depth: {checked:#?}");
    }
    // Whoever says how far to go is not told so.
    check("retries", &["--depth", "30"]).says(3, &["go on after 30 steps (--depth)"]);
}

fn what_goes_on_in_an_execution_that_cannot_be_is_no_finding() {
    let told = "came to what does not end, in an execution that cannot be; exploring with optimal instead";
    check("goes-on-if-impossible", &[]).says(0, &["holds", told]);
}

/// The rest of a search was taken for that of the same program with another option, and found nothing wrong with it.
fn a_search_that_was_kept_belongs_to_the_program_with_its_options() {
    let file = std::env::temp_dir().join(format!("unruly-{}.search", std::process::id()));
    let path = file.to_str().expect("text");
    check("nine", &["--executions", "1000", "--resume", path]).says(3, &["not-exhausted: 1000 executions"]);
    let refused = "the search of this program with other options, or before it was changed and built again";
    check("nine-with-a-bug", &["--resume", path]).says(2, &[refused]);
    // Bounds are none of these options, nor is how it is told.
    check("nine", &["--time=600", "--workers", "2", "--json", &format!("--resume={path}")])
        .says(0, &["\"verdict\":\"holds\"", "\"executions\":362880"]);
    assert!(!file.exists(), "nothing is left");
}

fn code_that_never_comes_back_is_told_with_its_name_and_line() {
    let table = [
        ("never-comes-back", "hermit did not come back from its code for 1.".to_owned()),
        ("never-comes-back", format!("s, after crates/cli/tests/unruly.rs:{}", line("never-comes-back"))),
        ("never-begins", "hermit did not come back from its code for 1.".to_owned()),
        ("slow-yields", format!("s, after crates/cli/tests/unruly.rs:{}", line("slow-yields"))),
        ("never-judges", "invariant \"in doubt\" did not come to an answer for 1.".to_owned()),
        ("never-made", "the function that makes the program did not come back for 1.".to_owned()),
    ];
    for engine in ["receives", "optimal", "dfs", "random"] {
        for (what, words) in &table {
            let checked = check(what, &["--engine", engine, "--stuck-after", "1"]).within(4.0);
            checked.says(3, &["not-exhausted", words, "(--stuck-after)"]);
        }
    }
    check("never-comes-back", &["--workers", "2", "--stuck-after", "1"])
        .within(4.0)
        .says(3, &["hermit did not"]);
    let checked = check("never-comes-back", &["--json", "--stuck-after", "1"]);
    checked.says(3, &["\"exhausted\":false", "\"stopped\":\"stopped: hermit did not come back"]);
    check("never-comes-back", &["--stuck-after=-1"]).says(2, &["--stuck-after: a number of seconds"]);
}

fn code_that_ends_the_process_is_told() {
    let after = format!("hermit ends the process after crates/cli/tests/unruly.rs:{}", line("exits"));
    for engine in ENGINES {
        check("exits", &["--engine", engine]).says(2, &[&after]);
    }
    check("exits", &["--workers", "2"]).says(2, &[&after]);
    check("exits-when-made", &[]).says(2, &["the function that makes the program ends the process"]);
}

/// A run ended with code 101.
fn a_program_that_cannot_be_made_is_told_with_its_line() {
    let place = format!("unruly.rs:{}: ", line("panics-when-made"));
    let words = [&place, "the function that makes the program panics: ", "the size of a barrier cannot be 0"];
    for verb in ["run", "check", "explore"] {
        let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
        output(command.args([verb, "panics-when-made"])).says(2, &words);
    }
}

fn bounds_are_heard_within_a_second() {
    for what in ["never-comes-back", "slow-yields", "never-judges", "never-made", "slow-steps", "large"] {
        for engine in ["receives", "optimal", "dfs"] {
            let told = "stopped after 0.5 s (--time)";
            check(what, &["--engine", engine, "--time", "0.5"]).within(2.5).says(3, &["not-exhausted", told]);
        }
    }
}

fn whoever_ends_programs_is_heard_as_ctrl_c_is() {
    for signal in ["-INT", "-TERM"] {
        for what in ["never-comes-back", "slow-steps", "large"] {
            let child = command(what, &["--engine", "optimal"]).spawn().expect("it runs");
            std::thread::sleep(std::time::Duration::from_millis(500));
            let start = now();
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.expect("kill runs").success());
            let output = child.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(3), "{what} {signal}: {text}");
            assert!(text.contains("interrupted"), "{what} {signal}: {text}");
            assert!(start.elapsed().as_secs_f64() < 2.0, "{what} {signal}");
        }
    }
}

fn a_computation_may_time_out_or_be_over_or_not() {
    let table = [
        ("execution-times-out", "worker failed"),
        ("execution-is-not-over", "worker failed: not over"),
        ("execution-is-over", "worker failed: over"),
        ("second-is-first", "worker failed: the second was first"),
        ("is-stopped", "worker failed"),
        ("is-not-stopped", "worker failed: it was over"),
    ];
    for engine in ENGINES {
        for (what, words) in table {
            check(what, &["--engine", engine]).says(1, &[words]);
        }
    }
    let told = "the engine receives does not explore computations and disk accesses that may time out";
    check("either-way", &[]).says(0, &["holds: 2 executions", told]);
    for engine in ["optimal", "source", "dpor"] {
        check("either-way", &["--engine", engine]).says(0, &["holds: 2 executions"]);
        check("plainly", &["--engine", engine]).says(0, &["holds: 1 execution,"]);
    }
    check("plainly", &[]).says(0, &["holds: 1 execution,"]);
}

fn a_program_that_is_not_the_same_twice_is_told_at_once_with_its_actor() {
    for engine in ENGINES {
        let checked = check("moody", &["--engine", engine]);
        checked.says(
            2,
            &["actor \"moody\" asked for a send to mailbox", "where it asked for a send to mailbox"],
        );
        let checked = check("ages", &["--engine", engine]);
        checked.says(2, &["actor \"ages\" asked for a send to mailbox", "where it asked for its end before"]);
    }
}

fn machines_are_told_that_something_was_left_out() {
    for engine in ["receives", "optimal", "dfs"] {
        let checked = check("fails-and-goes-on", &["--engine", engine, "--all", "--json", "--depth", "30"]);
        checked.says(1, &["\"verdict\":\"violated\"", "\"exhausted\":false", "\"cut\":{\"executions\":"]);
    }
    let checked = check("large", &["--all", "--json", "--executions", "10"]);
    checked.says(3, &["\"exhausted\":false", "\"stopped\":\"stopped after 10 executions (--executions)\""]);
    let checked = check("plainly", &["--json"]);
    checked.says(0, &["\"exhausted\":true"]);
    assert!(!checked.stdout.contains("stopped"), "{checked:#?}");
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| ["run", "check", "explore"].contains(&first.as_str())) {
        return simurgh::main_with(app);
    }
    macro_rules! tests {
        ($($name:ident),* $(,)?) => { [$((stringify!($name), $name as fn())),*] };
    }
    let tests = tests![
        an_actor_that_polls_is_told_with_its_name_and_line,
        a_million_computations_in_a_row_are_none_too_many,
        programs_that_try_in_vain_for_ever_are_told_soon,
        what_goes_on_in_an_execution_that_cannot_be_is_no_finding,
        a_search_that_was_kept_belongs_to_the_program_with_its_options,
        code_that_never_comes_back_is_told_with_its_name_and_line,
        code_that_ends_the_process_is_told,
        a_program_that_cannot_be_made_is_told_with_its_line,
        bounds_are_heard_within_a_second,
        whoever_ends_programs_is_heard_as_ctrl_c_is,
        a_computation_may_time_out_or_be_over_or_not,
        a_program_that_is_not_the_same_twice_is_told_at_once_with_its_actor,
        machines_are_told_that_something_was_left_out,
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
