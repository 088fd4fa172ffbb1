//! The same protocol in Simurgh and in Stateright, in one run: time and memory of each search, in a process of its own.
//!
//! `vs-stateright [CLIENTS]...` runs all searches, for 2 and 3 clients unless told, and prints a table; `vs-stateright one TOOL SEARCH
//! CLIENTS` runs one of them. Exit code 1 if what is claimed does not hold.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "this program measures")]

mod ours;
mod theirs;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use simurgh_protocol::{Actor, ActorId, Out, Report, System, Verdict, local};
use stateright::{Checker, HasDiscoveries, Model};

/// What one search came to.
#[derive(Clone, Debug)]
struct Result {
    tool: String,
    search: String,
    clients: u32,
    verdict: String,
    states: u64,
    transitions: u64,
    seconds: f64,
    kib: u64,
    steps: usize,
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// How often a quick search is repeated, so that its time can be read: the best counts, for both tools.
const REPEATED: Duration = Duration::from_secs(1);

fn timed<T>(search: impl Fn() -> T) -> (T, f64) {
    let all = Instant::now();
    let mut best = f64::INFINITY;
    loop {
        let begin = Instant::now();
        let found = search();
        best = best.min(begin.elapsed().as_secs_f64());
        if all.elapsed() > REPEATED {
            return (found, best);
        }
    }
}

fn of_ours(search: &str, clients: u32) -> Option<(Report, f64)> {
    let global = ours::with_history(clients);
    let states = ours::with_states(clients);
    let stop = || {
        let begin = Instant::now();
        move |_: &simurgh_protocol::Progress| begin.elapsed() > Duration::from_secs(20)
    };
    Some(match search {
        "bfs" => timed(|| global.checker().bfs()),
        "bfs-2" => timed(|| global.checker().workers(2).bfs()),
        "dfs" => timed(|| global.checker().dfs()),
        "local" => timed(|| states.checker().stop_when(stop()).local()),
        _ => return None,
    })
}

fn one(tool: &str, search: &str, clients: u32) -> Option<Result> {
    let result = |verdict: String, states, transitions, seconds, steps| Result {
        tool: tool.into(),
        search: search.into(),
        clients,
        verdict,
        states,
        transitions,
        seconds,
        kib: peak_kib(),
        steps,
    };
    if tool == "simurgh" {
        let (report, seconds) = of_ours(search, clients)?;
        let steps = report.discovery("value chosen").map_or(0, |schedule| schedule.steps.len());
        return Some(result(report.verdict.to_string(), report.states, report.transitions, seconds, steps));
    }
    let verdict = |all: bool| if all { "holds" } else { "violated" }.to_owned();
    macro_rules! search {
        ($threads:expr, $spawn:ident) => {{
            let (checker, seconds) =
                timed(|| theirs::model(clients as usize).checker().threads($threads).$spawn().join());
            let chosen = checker.discovery("value chosen").map_or(0, |path| path.into_actions().len());
            let holds = chosen > 0 && checker.discovery("linearizable").is_none();
            let (states, made) = (checker.unique_state_count() as u64, checker.state_count() as u64);
            result(verdict(holds), states, made, seconds, chosen)
        }};
    }
    Some(match search {
        "bfs" => search!(1, spawn_bfs),
        "bfs-2" => search!(2, spawn_bfs),
        "dfs" => search!(1, spawn_dfs),
        "dfs-2" => search!(2, spawn_dfs),
        _ => return None,
    })
}

impl Result {
    fn line(&self) -> String {
        let Self { tool, search, clients, verdict, states, transitions, seconds, kib, steps } = self;
        format!("{tool}\t{search}\t{clients}\t{verdict}\t{states}\t{transitions}\t{seconds}\t{kib}\t{steps}")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split('\t');
        Some(Self {
            tool: words.next()?.into(),
            search: words.next()?.into(),
            clients: words.next()?.parse().ok()?,
            verdict: words.next()?.into(),
            states: words.next()?.parse().ok()?,
            transitions: words.next()?.parse().ok()?,
            seconds: words.next()?.parse().ok()?,
            kib: words.next()?.parse().ok()?,
            steps: words.next()?.parse().ok()?,
        })
    }
}

/// Goes from 0 to 1 and back for ever.
struct Walker;

impl Actor for Walker {
    type Msg = ();
    type State = u8;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> u8 {
        out.set_timer((), Duration::from_secs(1));
        0
    }

    fn on_msg(&self, _: &mut u8, _: ActorId, (): &(), _: &mut Out<Self>) {}

    fn on_timeout(&self, state: &mut u8, (): &(), out: &mut Out<Self>) {
        *state = 1 - *state;
        out.set_timer((), Duration::from_secs(1));
    }
}

/// Whether each tool reports the number that never becomes 2: ours, theirs.
fn lasso() -> (bool, bool) {
    let system = System::new().actor(Walker).eventually("becomes two", local(|state: &u8| *state == 2));
    let ours = system.checker().dfs().verdict == Verdict::Violated;
    let theirs = theirs::Lasso.checker().finish_when(HasDiscoveries::All).spawn_bfs().join();
    (ours, theirs.discovery("becomes two").is_some())
}

fn claim(what: String, holds: bool) -> bool {
    println!("{} {what}", if holds { "yes" } else { "NO " });
    holds
}

fn compare(clients: &[u32]) -> bool {
    let me = std::env::current_exe().expect("this program has a path");
    let searches = [
        ("stateright", "dfs"),
        ("stateright", "dfs-2"),
        ("stateright", "bfs"),
        ("stateright", "bfs-2"),
        ("simurgh", "dfs"),
        ("simurgh", "bfs"),
        ("simurgh", "bfs-2"),
        ("simurgh", "local"),
    ];
    println!(
        "{:10} {:6} {:>7} {:>13} {:>9} {:>11} {:>10} {:>8}  value chosen",
        "tool", "search", "clients", "verdict", "states", "transitions", "ms", "MiB"
    );
    let mut all = true;
    for &clients in clients {
        let mut results: Vec<Result> = Vec::new();
        for (tool, search) in searches {
            let output = Command::new(&me).args(["one", tool, search, &clients.to_string()]).output();
            let output = output.expect("this program runs itself");
            let Some(result) = Result::parse(String::from_utf8_lossy(&output.stdout).trim()) else {
                println!("{tool} {search} {clients}: {}", String::from_utf8_lossy(&output.stderr).trim());
                all = false;
                continue;
            };
            let Result { verdict, states, transitions, seconds, kib, steps, .. } = &result;
            println!(
                "{tool:10} {search:6} {clients:7} {verdict:>13} {states:9} {transitions:11} {:10.1} {:8.1}  {steps} steps",
                seconds * 1e3,
                *kib as f64 / 1024.0
            );
            results.push(result);
        }
        let of =
            |tool: &str, search: &str| results.iter().find(|one| one.tool == tool && one.search == search);
        let fastest =
            results.iter().filter(|one| one.tool == "stateright").map(|one| one.seconds).reduce(f64::min);
        for search in ["dfs", "bfs"] {
            if let (Some(ours), Some(theirs)) = (of("simurgh", search), of("stateright", search)) {
                all &= claim(
                    format!("{clients} clients, {search}: the same states"),
                    ours.states == theirs.states,
                );
                let times = theirs.seconds / ours.seconds;
                all &= claim(
                    format!("{clients} clients, {search}: {times:.1} times as fast on one core"),
                    times > 1.0,
                );
                let memory = ours.kib as f64 / theirs.kib as f64;
                all &= claim(
                    format!("{clients} clients, {search}: in {memory:.2} of its memory"),
                    memory <= 1.0,
                );
            }
        }
        if let (Some(ours), Some(fastest)) = (of("simurgh", "local"), fastest) {
            let times = fastest / ours.seconds;
            let holds = ours.verdict == "holds" && times >= 10.0;
            let came_to = if ours.verdict == "holds" { "ends" } else { "does not end, let alone" };
            all &= claim(
                format!("{clients} clients: local search {came_to} {times:.1} times as fast as its best"),
                holds,
            );
        }
        if let Some(bfs) = of("simurgh", "bfs") {
            all &=
                claim(format!("{clients} clients: the shortest way to a value has 8 steps"), bfs.steps == 8);
        }
    }
    let (ours, theirs) = lasso();
    all & claim(
        format!("the lasso is reported, which Stateright {}", if theirs { "does too" } else { "misses" }),
        ours,
    )
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, tool, search, clients] = arguments.as_slice()
        && first == "one"
    {
        let result = clients.parse().ok().and_then(|clients| one(tool, search, clients));
        let Some(result) = result else {
            eprintln!("there is no search {search} of {tool} with {clients} clients");
            return ExitCode::from(2);
        };
        println!("{}", result.line());
        return ExitCode::SUCCESS;
    }
    let clients: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let clients = if clients.is_empty() { vec![2, 3] } else { clients };
    if compare(&clients) { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
