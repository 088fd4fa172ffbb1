//! What a timed exploration found: the best and the worst, for people and for tests.

use std::fmt::{self, Write};

use simurgh_explore::Network;
use simurgh_files::shown;

use super::{Came, DEPTH_MAX, Found, Objective, Receive, Run, Story};
use crate::checking::Verdict;
use crate::error::Error;
use crate::text::count;

/// What a timed exploration found, and what is to be known about it.
///
/// It prints as `explore` prints it on the command line.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExploreReport {
    /// What is least and most.
    pub objective: Objective,
    /// What may arrive before what.
    pub network: Network,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The best, the worst, and how many ways there are.
    pub found: Found,
    /// Why it cannot run, if it cannot.
    pub error: Option<Error>,
}

impl ExploreReport {
    /// The run with the lowest value, if any came to a good end.
    pub fn best(&self) -> Option<&Run> {
        self.found.best.as_ref()
    }

    /// The run with the highest value, if any came to a good end.
    pub fn worst(&self) -> Option<&Run> {
        self.found.worst.as_ref()
    }

    /// What is to be said of it in one word: it holds if all ways were seen, and all that can happen on this platform come to a good
    /// end.
    pub fn verdict(&self) -> Verdict {
        let Found { broken, exhausted, best, .. } = &self.found;
        if self.error.is_some() {
            Verdict::CannotRun
        } else if *broken > 0 {
            Verdict::Violated
        } else if !exhausted {
            Verdict::NotExhausted
        } else if best.is_none() {
            Verdict::Violated
        } else {
            Verdict::Holds
        }
    }

    /// For tests: all ways were seen, and all that can happen on this platform come to a good end.
    ///
    /// # Panics
    /// If some way comes to a bad end, or that is not known.
    #[track_caller]
    pub fn assert_holds(&self) -> &Self {
        match self.verdict() {
            Verdict::Holds => self,
            Verdict::NotExhausted => self.fail("not all ways were seen"),
            Verdict::CannotRun => self.fail("it cannot be explored"),
            _ if self.found.broken > 0 => self.fail("some way comes to a bad end"),
            _ => self.fail("no way comes to a good end on this platform"),
        }
    }

    /// For tests: the same, and the worst is at most this. Gives the worst.
    ///
    /// # Panics
    /// If it is more, or that is not known.
    #[track_caller]
    pub fn assert_at_most(&self, value: f64) -> &Run {
        match &self.assert_holds().found.worst {
            Some(worst) if worst.value <= value => worst,
            _ => self.fail(&format!("the worst is more than {}", amount(self.objective, value))),
        }
    }

    /// For tests: the same, and the best is at least this. Gives the best.
    ///
    /// # Panics
    /// If it is less, or that is not known.
    #[track_caller]
    pub fn assert_at_least(&self, value: f64) -> &Run {
        match &self.assert_holds().found.best {
            Some(best) if best.value >= value => best,
            _ => self.fail(&format!("the best is less than {}", amount(self.objective, value))),
        }
    }

    /// Ends a test with all that is known.
    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n\n{self}")
    }
}

/// A value with its unit.
pub fn amount(objective: Objective, value: f64) -> String {
    match objective {
        Objective::Makespan => format!("{value:.6} s"),
        Objective::Messages => count(value as u64, "message"),
        Objective::Bytes => format!("{value:.0} B"),
        Objective::Energy => format!("{value:.3} J"),
    }
}

/// The lowest and the highest value until now.
pub fn range(found: &Found, objective: Objective) -> String {
    match (&found.best, &found.worst) {
        (Some(best), Some(worst)) => {
            format!("{} to {}", amount(objective, best.value), amount(objective, worst.value))
        }
        _ => String::new(),
    }
}

/// A way as a file that can be read back.
pub fn way(name: &str, objective: Objective, run: &Run) -> String {
    let mut text = format!("# the {name} {objective}: {}\n", amount(objective, run.value));
    let lines = run.way.to_string();
    for (line, story) in lines.lines().zip(&run.stories) {
        // A name may hold anything; a line break would end the comment.
        let _ = writeln!(text, "{line}  # {}", story.actor.replace(['\n', '\r'], " "));
    }
    text
}

impl ExploreReport {
    /// For people.
    pub(crate) fn in_words(&self) -> String {
        let found = &self.found;
        if let Some(error) = &self.error {
            return format!("cannot-run: {error}\n");
        }
        let mut text = String::new();
        let extent = if found.exhausted { "all of them" } else { "not exhausted: there are more" };
        let _ = writeln!(
            text,
            "{} over {} to receive on a {} network, {extent}, {:.3} s",
            self.objective,
            count(found.ways, "way"),
            self.network,
            self.seconds
        );
        self.values(&mut text);
        for row in rows(found) {
            text.push_str(&row);
        }
        if found.endless {
            let _ = writeln!(
                text,
                "stopped at an execution of more than {DEPTH_MAX} steps: does the program ever end?"
            );
        }
        let ways = count(found.ways, "way");
        if let Some(damage) = &found.damage {
            let (come, have) = if found.broken == 1 { ("comes", "has") } else { ("come", "have") };
            let _ = writeln!(
                text,
                "{} of {ways} {come} to a bad end and {have} no value, the first with: {damage}; `check` shows how",
                found.broken
            );
        }
        if let Some(obstacle) = &found.obstacle {
            let _ = writeln!(
                text,
                "{} of {ways} cannot happen on this platform, the first because {obstacle}",
                found.impossible
            );
        }
        text
    }

    /// Best, worst, and where the plain simulation lies.
    fn values(&self, text: &mut String) {
        let found = &self.found;
        let lines: Vec<_> = [
            ("best", found.best.as_ref(), String::new()),
            ("worst", found.worst.as_ref(), self.ratio()),
            ("simulated", found.simulated.as_ref(), self.position()),
        ]
        .into_iter()
        .map(|(name, run, remark)| {
            (name, run.map_or_else(|| "-".to_owned(), |run| amount(self.objective, run.value)), remark)
        })
        .collect();
        let width = lines.iter().map(|(_, value, _)| value.len()).max().unwrap_or(0);
        for (name, value, remark) in lines {
            let line = format!("  {name:<9}  {value:>width$}  {remark}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }

    fn ratio(&self) -> String {
        match (&self.found.best, &self.found.worst) {
            (Some(best), Some(worst)) if worst.value == best.value => {
                let same =
                    if self.found.exhausted { "order does not matter" } else { "in all that was seen" };
                format!("the same: {same}")
            }
            (Some(best), Some(worst)) if best.value > 0.0 => {
                format!("{:.3} times the best", worst.value / best.value)
            }
            _ => String::new(),
        }
    }

    fn position(&self) -> String {
        let found = &self.found;
        let Some(simulated) = &found.simulated else {
            return "left to itself, it comes to a bad end".to_owned();
        };
        if let Some(astray) = &simulated.astray {
            return format!("as time decides: none of these ways, as {astray}");
        }
        let (Some(best), Some(worst)) = (&found.best, &found.worst) else { return String::new() };
        let part = (simulated.value - best.value) / (worst.value - best.value);
        let place = if best.value == worst.value {
            return String::new();
        } else if simulated.value == best.value {
            "the best".to_owned()
        } else if simulated.value == worst.value {
            "the worst".to_owned()
        } else {
            format!("{:.0} % of the way from the best to the worst", 100.0 * part)
        };
        format!("as time decides: {place}")
    }
}

impl fmt::Display for ExploreReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words())
    }
}

/// Where the best and the worst differ, actor by actor: what it got, and what else it came to.
fn rows(found: &Found) -> Vec<String> {
    let (Some(best), Some(worst)) = (&found.best, &found.worst) else { return Vec::new() };
    let mut rows = Vec::new();
    for (story, place) in best.stories.iter().zip(places(&best.stories)) {
        let Some(other) = find(worst, place) else { continue };
        let plain = found.simulated.as_ref().and_then(|run| find(run, place));
        let mut row = |what: &str, cell: &dyn Fn(&Story) -> String| {
            let (low, high) = (cell(story), cell(other));
            if low == high {
                return;
            }
            let mut text =
                format!("{} {what}\n  best       {low}\n  worst      {high}\n", shown(&story.actor));
            if let Some(plain) = plain {
                let _ = writeln!(text, "  simulated  {}", cell(plain));
            }
            rows.push(text);
        };
        row("got, in the order of its receives", &got);
        row("came to in its waits, tests and choices", &choices);
    }
    rows
}

/// An actor by its name, and which of those with this name it is: numbers of actors that come later differ by way.
type Place<'a> = (&'a str, usize);

fn places(stories: &[Story]) -> impl Iterator<Item = Place<'_>> {
    stories.iter().enumerate().map(|(index, story)| {
        let before = stories[..index].iter().filter(|other| other.actor == story.actor).count();
        (story.actor.as_str(), before)
    })
}

fn find<'a>(run: &'a Run, (name, before): Place<'_>) -> Option<&'a Story> {
    run.stories.iter().filter(|story| story.actor == name).nth(before)
}

/// The senders of what an actor got, numbered where one of them sent several messages to the same mailbox.
fn got(story: &Story) -> String {
    let label = |receive: &Receive| {
        let Some((name, number)) = &receive.from else { return "-".to_owned() };
        let same = |other: &&Receive| {
            other.mailbox == receive.mailbox && other.from.as_ref().is_some_and(|(other, _)| other == name)
        };
        let several = *number > 1 || story.receives.iter().filter(same).count() > 1;
        let name = shown(name);
        if several { format!("{name} #{number}") } else { name.into_owned() }
    };
    story.receives.iter().map(label).collect::<Vec<_>>().join(", ")
}

fn choices(story: &Story) -> String {
    let label = |came: &Came| match came {
        Came::Completed(index) => format!("member {index}"),
        Came::Nothing => "nothing".to_owned(),
        Came::TimedOut => "timeout".to_owned(),
        Came::Passed(true) => "last".to_owned(),
        Came::Passed(false) => "not last".to_owned(),
        Came::Chosen(number) => number.to_string(),
        other => other.to_string(),
    };
    story.choices.iter().map(label).collect::<Vec<_>>().join(", ")
}
