//! How the best and the worst are told, to people and to machines.

use std::fmt::Write;

use serde::Serialize;

use crate::command::check::NetworkName;
use crate::command::summary::count;
use crate::timed::{Came, Found, Objective, Receive, Run, Story};

/// What was found, and what is to be known about it.
pub(super) struct Told<'a> {
    pub(super) found: &'a Found,
    pub(super) objective: Objective,
    pub(super) network: NetworkName,
    pub(super) seconds: f64,
}

/// A value with its unit.
pub(super) fn value(objective: Objective, value: f64) -> String {
    match objective {
        Objective::Makespan => format!("{value:.6} s"),
        Objective::Messages => count(value as u64, "message"),
        Objective::Bytes => format!("{value:.0} B"),
        Objective::Energy => format!("{value:.3} J"),
    }
}

/// The lowest and the highest value until now.
pub(super) fn range(found: &Found, objective: Objective) -> String {
    match (&found.best, &found.worst) {
        (Some(best), Some(worst)) => {
            format!("{} to {}", value(objective, best.value), value(objective, worst.value))
        }
        _ => String::new(),
    }
}

/// A way as a file that can be read back.
pub(super) fn way(name: &str, objective: Objective, run: &Run) -> String {
    let mut text = format!("# the {name} {objective}: {}\n", value(objective, run.value));
    let lines = run.way.to_string();
    for (line, story) in lines.lines().zip(&run.stories) {
        // A name may hold anything; a line break would end the comment.
        let _ = writeln!(text, "{line}  # {}", story.actor.replace(['\n', '\r'], " "));
    }
    text
}

impl Told<'_> {
    pub(super) fn json(&self) -> String {
        #[derive(Serialize)]
        struct Out<'a> {
            objective: String,
            unit: &'static str,
            network: String,
            executions: u64,
            exhausted: bool,
            best: Option<OutRun<'a>>,
            worst: Option<OutRun<'a>>,
            simulated: Option<f64>,
            broken: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            damage: Option<&'a str>,
            impossible: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            obstacle: Option<&'a str>,
            seconds: f64,
        }
        #[derive(Serialize)]
        struct OutRun<'a> {
            value: f64,
            makespan: f64,
            messages: u64,
            bytes: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            energy: Option<f64>,
            schedule: Vec<String>,
            receives: Vec<OutReceives<'a>>,
        }
        #[derive(Serialize)]
        struct OutReceives<'a> {
            actor: &'a str,
            got: Vec<OutReceive<'a>>,
        }
        #[derive(Serialize)]
        struct OutReceive<'a> {
            mailbox: &'a str,
            from: Option<&'a str>,
            number: Option<u32>,
        }
        fn receive(receive: &Receive) -> OutReceive<'_> {
            OutReceive {
                mailbox: &receive.mailbox,
                from: receive.from.as_ref().map(|(name, _)| name.as_str()),
                number: receive.from.as_ref().map(|(_, number)| *number),
            }
        }
        fn run(run: &Run) -> OutRun<'_> {
            let with_receives = run.stories.iter().filter(|story| !story.receives.is_empty());
            OutRun {
                value: run.value,
                makespan: run.measures.makespan,
                messages: run.measures.messages,
                bytes: run.measures.bytes,
                energy: run.measures.energy,
                schedule: run.way.to_string().lines().map(str::to_owned).collect(),
                receives: with_receives
                    .map(|story| OutReceives {
                        actor: &story.actor,
                        got: story.receives.iter().map(receive).collect(),
                    })
                    .collect(),
            }
        }
        let found = self.found;
        let out = Out {
            objective: self.objective.to_string(),
            unit: self.objective.unit(),
            network: self.network.to_string(),
            executions: found.ways,
            exhausted: found.exhausted,
            best: found.best.as_ref().map(run),
            worst: found.worst.as_ref().map(run),
            simulated: found.simulated.as_ref().map(|run| run.value),
            broken: found.broken,
            damage: found.damage.as_deref(),
            impossible: found.impossible,
            obstacle: found.obstacle.as_deref(),
            seconds: self.seconds,
        };
        let mut text = serde_json::to_string(&out).expect("plain data becomes JSON");
        text.push('\n');
        text
    }

    pub(super) fn human(&self) -> String {
        let found = self.found;
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
        let found = self.found;
        let lines: Vec<_> = [
            ("best", found.best.as_ref(), String::new()),
            ("worst", found.worst.as_ref(), self.ratio()),
            ("simulated", found.simulated.as_ref(), self.position()),
        ]
        .into_iter()
        .map(|(name, run, remark)| {
            (name, run.map_or_else(|| "-".to_owned(), |run| value(self.objective, run.value)), remark)
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
        let found = self.found;
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
            let mut text = format!("{} {what}\n  best       {low}\n  worst      {high}\n", story.actor);
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
        if several { format!("{name} #{number}") } else { name.clone() }
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
