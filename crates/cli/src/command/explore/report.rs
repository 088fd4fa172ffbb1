//! How the best and the worst are told to machines.

use serde::Serialize;
use simurgh_actors::timed::{ExploreReport, Receive, Run};

/// What was found as one JSON object and a newline.
pub(super) fn json(report: &ExploreReport) -> String {
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
    let found = &report.found;
    let out = Out {
        objective: report.objective.to_string(),
        unit: report.objective.unit(),
        network: report.network.to_string(),
        executions: found.ways,
        exhausted: found.exhausted,
        best: found.best.as_ref().map(run),
        worst: found.worst.as_ref().map(run),
        simulated: found.simulated.as_ref().map(|run| run.value),
        broken: found.broken,
        damage: found.damage.as_deref(),
        impossible: found.impossible,
        obstacle: found.obstacle.as_deref(),
        seconds: report.seconds,
    };
    let mut text = serde_json::to_string(&out).expect("plain data becomes JSON");
    text.push('\n');
    text
}
