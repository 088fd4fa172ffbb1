//! What came of an MPI program: where its time went, by calls and by processes. For people, for machines, and as a timeline.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use simurgh_actors::Outcome;
use simurgh_mpi::launch::Run;
use simurgh_mpi::tracks::Tracked;
use simurgh_platform::shown;
use simurgh_trace::Timeline;

use super::links::Busiest;
use super::simulate::More;

/// So many calls are listed for people.
const CALLS: usize = 8;
/// So many links are.
const LINKS: usize = 5;

/// What is told of an MPI program beside what is told of any.
pub(crate) struct OfMpi {
    /// What the program is called.
    name: Option<String>,
    run: Run,
    links: Option<Busiest>,
}

impl OfMpi {
    pub(crate) fn new(file: &Path, run: Run, links: Option<Busiest>) -> Self {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Self { name, run, links }
    }
}

/// Where the time of all processes went.
#[derive(Serialize)]
struct Summary {
    processes: usize,
    bytes: f64,
    /// Seconds of all processes together.
    seconds: f64,
    computing: f64,
    in_mpi: f64,
    calls: Vec<Call>,
    ranks: Vec<Process>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<Link>>,
    #[serde(skip)]
    messages: u64,
}

#[derive(Serialize)]
struct Call {
    name: &'static str,
    count: u64,
    seconds: f64,
}

#[derive(Clone, Serialize)]
struct Process {
    rank: usize,
    end: f64,
    computing: f64,
    in_mpi: f64,
    messages: u64,
    bytes: f64,
}

#[derive(Serialize)]
struct Link {
    name: String,
    bytes: f64,
    /// The part of the whole time and of what it can carry.
    used: f64,
}

impl Summary {
    fn new(tracked: &[Option<Tracked>], links: Option<Vec<Link>>) -> Self {
        let mut calls: BTreeMap<&'static str, (u64, f64)> = BTreeMap::new();
        let mut ranks = Vec::new();
        for (rank, tracked) in tracked.iter().enumerate() {
            let Some(tracked) = tracked else { continue };
            for (name, count, seconds) in &tracked.calls {
                let call = calls.entry(name).or_default();
                call.0 += count;
                call.1 += seconds;
            }
            ranks.push(Process {
                rank,
                end: tracked.last,
                computing: tracked.computed,
                in_mpi: tracked.in_calls(),
                messages: tracked.messages,
                bytes: tracked.bytes,
            });
        }
        let mut calls: Vec<Call> =
            calls.into_iter().map(|(name, (count, seconds))| Call { name, count, seconds }).collect();
        calls.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(b.count.cmp(&a.count)));
        let sum = |of: fn(&Process) -> f64| ranks.iter().map(of).fold(0.0, |sum, one| sum + one);
        Self {
            processes: tracked.len(),
            bytes: sum(|rank| rank.bytes),
            seconds: sum(|rank| rank.end),
            computing: sum(|rank| rank.computing),
            in_mpi: sum(|rank| rank.in_mpi),
            messages: ranks.iter().map(|rank| rank.messages).sum(),
            calls,
            ranks,
            links,
        }
    }

    /// A part of the time of all processes.
    fn share(&self, seconds: f64) -> String {
        let share = if self.seconds > 0.0 { 100.0 * seconds / self.seconds } else { 0.0 };
        format!("{share:>6.1}%")
    }

    /// In a few lines.
    fn human(&self) -> String {
        let mut text = String::new();
        let Some(first) = self.ranks.first() else { return text };
        let mean = |seconds: f64| seconds / self.ranks.len() as f64;
        let mut line = |what: &str, seconds: f64, more: String| {
            let more = if more.is_empty() { more } else { format!("  {more}") };
            let _ = writeln!(text, "  {what:<22}{}{:>14.6} s{more}", self.share(seconds), mean(seconds));
        };
        line("computing", self.computing, String::new());
        line("in MPI", self.in_mpi, format!("{} messages, {}", self.messages, bytes(self.bytes)));
        let elsewhere = self.seconds - self.computing - self.in_mpi;
        if elsewhere > 1e-3 * self.seconds {
            line("elsewhere", elsewhere, String::new());
        }
        // What rounds to nothing is told together.
        let listed: Vec<&Call> = self.calls.iter().filter(|call| call.seconds > 0.0).collect();
        let seen = listed.iter().take_while(|call| call.seconds >= 5e-4 * self.seconds).count().min(CALLS);
        for call in &listed[..seen] {
            line(&format!("  {}", call.name), call.seconds, format!("{} calls", call.count));
        }
        if let Some(rest) = listed.get(seen..).filter(|rest| !rest.is_empty()) {
            let seconds = rest.iter().map(|call| call.seconds).sum();
            let count: u64 = rest.iter().map(|call| call.count).sum();
            let noun = if rest.len() == 1 { "other" } else { "others" };
            line(&format!("  {} {noun}", rest.len()), seconds, format!("{count} calls"));
        }
        let (mut fastest, mut slowest) = (first, first);
        for rank in &self.ranks {
            fastest = if rank.end < fastest.end { rank } else { fastest };
            slowest = if rank.end > slowest.end { rank } else { slowest };
        }
        let same = fastest.end == slowest.end && self.ranks.len() > 1;
        let ends = [("first to end", fastest), ("last to end", slowest)];
        if same {
            let _ = writeln!(text, "  {:<22}all at {:.6} s", "end", slowest.end);
        }
        for (what, rank) in ends.into_iter().filter(|_| !same) {
            let part = |seconds: f64| if rank.end > 0.0 { 100.0 * seconds / rank.end } else { 0.0 };
            let (computing, in_mpi) = (part(rank.computing), part(rank.in_mpi));
            let _ = writeln!(
                text,
                "  {what:<22}rank {} at {:.6} s: {computing:.1}% computing, {in_mpi:.1}% in MPI",
                rank.rank, rank.end
            );
        }
        for link in self.links.iter().flatten().take(LINKS) {
            let _ = writeln!(
                text,
                "  link {:<17}{:>6.1}%  {}",
                shown(&link.name),
                100.0 * link.used,
                bytes(link.bytes)
            );
        }
        text
    }
}

/// So many bytes, in few letters.
fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut value = bytes;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

impl OfMpi {
    fn summary(&self, outcome: &Outcome) -> Summary {
        let links = self.links.as_ref().map(|links| {
            let listed = links.listed(outcome.clock());
            let name = |link| outcome.platform().link(link).name.to_owned();
            listed.into_iter().map(|(link, bytes, used)| Link { name: name(link), bytes, used }).collect()
        });
        Summary::new(&self.run.tracked(), links)
    }
}

impl More for OfMpi {
    fn human(&self, outcome: &Outcome) -> String {
        self.summary(outcome).human()
    }

    fn json(&self, outcome: &Outcome) -> serde_json::Value {
        serde_json::to_value(self.summary(outcome)).expect("plain data becomes JSON")
    }

    fn messages(&self) -> u64 {
        self.run.skipped()
    }

    fn adorn(&self, timeline: &mut Timeline) {
        timeline.title.clone_from(&self.name);
        super::mpi_timeline::adorn(timeline, &self.run.tracked());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_of_all() {
        let tracked = |last: f64, computed: f64, send: f64| {
            let calls = vec![("MPI_Send", 2, send), ("MPI_Comm_rank", 1, 0.0)];
            Some(Tracked { calls, computed, messages: 2, bytes: 1500.0, last, states: Vec::new() })
        };
        let summary = Summary::new(&[tracked(4.0, 3.0, 1.0), None, tracked(6.0, 1.0, 5.0)], None);
        let text = summary.human();
        let expected = "  computing               40.0%      2.000000 s
  in MPI                  60.0%      3.000000 s  4 messages, 3.0 kB
    MPI_Send              60.0%      3.000000 s  4 calls
  first to end          rank 0 at 4.000000 s: 75.0% computing, 25.0% in MPI
  last to end           rank 2 at 6.000000 s: 16.7% computing, 83.3% in MPI
";
        assert_eq!(text, expected);
        assert_eq!(Summary::new(&[None], None).human(), "", "of nobody anything is known");
        // The sum of no calls was -0.
        let idle = Tracked { computed: 0.0, last: 0.0, ..Tracked::default() };
        let text = Summary::new(&[Some(idle)], None).human();
        assert!(!text.contains('-'), "{text}");
    }

    #[test]
    fn bytes_are_told_in_few_letters() {
        assert_eq!(
            [0.0, 999.0, 1500.0, 2.5e9].map(bytes),
            ["0 B", "999 B", "1.5 kB", "2.5 GB"].map(String::from)
        );
    }
}
