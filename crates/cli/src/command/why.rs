//! `simurgh why FILE ACTOR INDEX`: explains one duration of a scenario.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use simurgh_actors::scenario::{How, Operation, Record, Scenario};
use simurgh_actors::{Error, Exit, Result, Settings};
use simurgh_kernel::event::{Event, Observer};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::simulation::{Pacing, activity_of};
use simurgh_models::{Explanation, FlowFacts, Limit, Resource, Segment, SimTime, What};
use simurgh_platform::Platform;
use simurgh_platform::units::{show_bandwidth, show_speed, show_time};

use super::print;
use super::run::prepare;

/// The arguments of `simurgh why`.
#[derive(Args, Clone, Debug)]
pub struct WhyArguments {
    /// The scenario (.toml)
    pub file: PathBuf,
    /// The actor
    pub actor: String,
    /// Which of its operations, from 0
    pub index: usize,
    /// The platform file; that of the scenario if there is none
    #[arg(long, short, value_name = "FILE")]
    pub platform: Option<PathBuf>,
}

/// Does it.
pub(crate) fn run(arguments: &WhyArguments) -> Result<Exit> {
    let (scenario, program, records) = prepare(&arguments.file, arguments.platform.as_deref(), 0)?;
    let Some(actor) = scenario.actors.iter().position(|actor| actor.name == arguments.actor) else {
        let names: Vec<_> = scenario.actors.iter().map(|actor| actor.name.as_str()).collect();
        return Err(Error::input(format!(
            "{}: there is no actor {:?}; there are {}",
            scenario.name,
            arguments.actor,
            names.join(", ")
        )));
    };
    let count = scenario.actors[actor].operations.len();
    if arguments.index >= count {
        return Err(Error::input(format!(
            "{}: actor {:?} has {count} operations, numbered from 0; there is no number {}",
            scenario.name, arguments.actor, arguments.index
        )));
    }
    let seen = Arc::new(Mutex::new(Seen::default()));
    let settings = Settings {
        config: scenario.config.clone(),
        pacing: Pacing::Reference,
        observers: vec![Box::new(Witness { seen: Arc::clone(&seen) })],
        explain: true,
        ..Settings::default()
    };
    let platform = Arc::clone(program.platform());
    program.simulate(settings)?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let record = records.take().into_iter().find(|r| r.actor == actor && r.index == arguments.index);
    print(&match record {
        Some(record) => Teller { scenario: &scenario, platform: &platform, seen: &seen }.tell(&record),
        None => format!(
            "{}, operation {}: {}\nnever ended; `simurgh run` tells who waits for what\n",
            arguments.actor, arguments.index, scenario.actors[actor].operations[arguments.index]
        ),
    });
    Ok(Exit::Fine)
}

/// What was seen of one activity.
#[derive(Clone, Debug)]
struct Witnessed {
    /// Its actor, or sender and receiver.
    actors: Vec<ActorId>,
    posted: SimTime,
    explanation: Option<Explanation>,
}

#[derive(Debug, Default)]
struct Seen {
    activities: BTreeMap<ActivityId, Witnessed>,
}

struct Witness {
    seen: Arc<Mutex<Seen>>,
}

impl Observer for Witness {
    fn event(&mut self, now: SimTime, event: &Event) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = |activity: ActivityId, actors: Vec<ActorId>, posted: SimTime| {
            seen.activities.insert(activity, Witnessed { actors, posted, explanation: None });
        };
        match event {
            Event::TransferStarted { activity, sender, receiver, posted, .. } => {
                start(*activity, vec![*sender, *receiver], *posted);
            }
            Event::ExecutionStarted { activity, actor, .. }
            | Event::AccessStarted { activity, actor, .. }
            | Event::ParallelStarted { activity, actor, .. } => start(*activity, vec![*actor], now),
            Event::Explained { activity, explanation } => {
                if let Some(witnessed) = seen.activities.get_mut(activity) {
                    witnessed.explanation = Some((**explanation).clone());
                }
            }
            _ => {}
        }
    }
}

/// Turns what was seen into words.
struct Teller<'a> {
    scenario: &'a Scenario,
    platform: &'a Platform,
    seen: &'a Seen,
}

impl Teller<'_> {
    fn tell(&self, record: &Record) -> String {
        let actor = &self.scenario.actors[record.actor];
        let operation = &actor.operations[record.index];
        let mut text = String::new();
        let _ = writeln!(text, "{}, operation {}: {operation}", actor.name, record.index);
        let how = match record.how {
            How::Ok | How::OkAt(_) => String::new(),
            How::Timeout => ", and ended with a timeout".to_owned(),
            How::Failure => ", and failed".to_owned(),
        };
        let _ = writeln!(
            text,
            "took {:.9} s, from {:.6} to {:.6}{how}",
            record.end - record.begin,
            record.begin,
            record.end
        );
        match self.cause(record, operation) {
            Some((witnessed, explanation)) => self.explain(&mut text, record, witnessed, explanation),
            None => text.push_str(match operation {
                Operation::Sleep(_) => "\na sleep lasts as long as it says, whatever else happens\n",
                Operation::Isend(_) | Operation::Irecv { .. } | Operation::Dsend(_) => {
                    "\nit only starts a communication, which takes no time; ask about the wait for it\n"
                }
                Operation::WaitAll | Operation::WaitAny => "\nwhat it waited for was already over\n",
                _ if record.how == How::Timeout => "\nnobody came to the mailbox before the timeout\n",
                _ => "\nit took no time\n",
            }),
        }
        text
    }

    /// The activity whose end was the end of the operation: the one that lasted longest, if several ended then.
    fn cause(&self, record: &Record, operation: &Operation) -> Option<(&Witnessed, &Explanation)> {
        if matches!(
            operation,
            Operation::Isend(_) | Operation::Irecv { .. } | Operation::Dsend(_) | Operation::Sleep(_)
        ) {
            return None;
        }
        let me = ActorId::from_index(record.actor);
        let fits = |explanation: &Explanation| match operation {
            Operation::Exec { .. } => matches!(explanation.what, What::Execution(_)),
            Operation::Read { .. } | Operation::Write { .. } => {
                matches!(explanation.what, What::DiskAccess(_))
            }
            _ => matches!(explanation.what, What::Transfer(_)),
        };
        let known = self.seen.activities.values().filter(|witnessed| witnessed.actors.contains(&me));
        let mut causes: Vec<_> = known
            .filter_map(|witnessed| {
                witnessed.explanation.as_ref().map(|explanation| (witnessed, explanation))
            })
            .filter(|(_, explanation)| fits(explanation))
            .filter(|(_, explanation)| {
                let at_the_end = (explanation.ended.seconds() - record.end).abs() < 1e-9;
                at_the_end && (explanation.ended.seconds() > record.begin || record.end == record.begin)
            })
            .collect();
        causes.sort_by_key(|(_, explanation)| explanation.started);
        causes.into_iter().next_back().filter(|_| record.end > record.begin)
    }

    fn explain(&self, text: &mut String, record: &Record, witnessed: &Witnessed, explanation: &Explanation) {
        text.push('\n');
        let started = explanation.started.seconds();
        match &explanation.what {
            What::Transfer(flow) => {
                self.meeting(text, record, witnessed, started);
                self.flow(text, explanation, flow);
            }
            What::Execution(execution) => {
                let _ = writeln!(
                    text,
                    "{} flops on {}{}",
                    execution.flops,
                    self.platform.host(execution.host).name,
                    if execution.priority == 1.0 {
                        String::new()
                    } else {
                        format!(", priority {}", execution.priority)
                    }
                );
            }
            What::DiskAccess(access) => {
                let disk = self.platform.disk(access.disk);
                let _ = writeln!(
                    text,
                    "{} bytes on disk {} of {} (reads {}, writes {})",
                    access.bytes,
                    disk.name,
                    self.platform.host(disk.host).name,
                    show_bandwidth(disk.read_bandwidth),
                    show_bandwidth(disk.write_bandwidth)
                );
            }
            What::Timer { .. } | What::ParallelTask(_) => {}
        }
        self.segments(text, explanation);
    }

    /// Before the flow could start, sender and receiver had to meet.
    fn meeting(&self, text: &mut String, record: &Record, witnessed: &Witnessed, started: f64) {
        if started > record.begin {
            let me = ActorId::from_index(record.actor);
            let other = witnessed
                .actors
                .iter()
                .find(|&&actor| actor != me)
                .map_or("itself", |&actor| self.name(actor));
            let _ = writeln!(
                text,
                "  {:>14.9} s  waiting for {other}, who came at {started:.6}",
                started - record.begin
            );
        } else if started < record.begin {
            let _ = writeln!(
                text,
                "  it was under way since {started:.6} (posted at {:.6}), before the wait began",
                witnessed.posted.seconds()
            );
        }
    }

    fn flow(&self, text: &mut String, explanation: &Explanation, flow: &FlowFacts) {
        if let Some(until) = explanation.latency_until {
            let waited = until.min(explanation.ended) - explanation.started;
            let _ = writeln!(
                text,
                "  {waited:>14.9} s  latency: {} (factor {}) over {}",
                show_time(flow.latency),
                flow.latency_factor,
                self.route(flow)
            );
        }
        let moved = explanation.latency_until.unwrap_or(explanation.started).min(explanation.ended);
        let _ = writeln!(
            text,
            "  {:>14.9} s  {} bytes from {} to {}",
            explanation.ended - moved,
            flow.bytes,
            self.platform.host(flow.src).name,
            self.platform.host(flow.dst).name
        );
        let mut bounds = vec![format!("bandwidth factor {}", flow.bandwidth_factor)];
        if let Some((link, bandwidth)) = flow.bandwidth {
            bounds.push(format!(
                "slowest link {} ({})",
                self.platform.link(link).name,
                show_bandwidth(bandwidth)
            ));
        }
        if let Some(window) = flow.window_bound {
            bounds.push(format!("TCP window {}", show_bandwidth(window)));
        }
        if let Some(rate) = flow.rate {
            bounds.push(format!("asked rate {}", show_bandwidth(rate)));
        }
        if !flow.reverse_links.is_empty() {
            bounds.push("acknowledgements take 5% of the way back".to_owned());
        }
        let _ = writeln!(text, "                    {}", bounds.join(", "));
    }

    fn route(&self, flow: &FlowFacts) -> String {
        if flow.links.is_empty() {
            return "no link".to_owned();
        }
        let names: Vec<_> = flow.links.iter().map(|&link| self.platform.link(link).name).collect();
        names.join(", ")
    }

    fn segments(&self, text: &mut String, explanation: &Explanation) {
        const MOST: usize = 30;
        let moving: Vec<_> =
            explanation.segments.iter().filter(|s| s.limit != Limit::Latency && s.to > s.from).collect();
        if moving.is_empty() {
            return;
        }
        text.push_str("\n          from            to          rate  limited by\n");
        for &segment in moving.iter().take(MOST) {
            self.segment(text, &explanation.what, segment);
        }
        if moving.len() > MOST {
            let _ = writeln!(text, "  and {} more changes of rate", moving.len() - MOST);
        }
        if let Some((limit, seconds)) = longest(&moving) {
            let whole = explanation.ended - explanation.started;
            let _ = writeln!(
                text,
                "\nbottleneck: {}, for {:.1}% of the time",
                self.limit(&limit),
                100.0 * seconds / whole.max(f64::MIN_POSITIVE)
            );
        }
    }

    fn segment(&self, text: &mut String, what: &What, segment: &Segment) {
        let rate = match what {
            What::Execution(_) => show_speed(segment.rate),
            What::ParallelTask(_) => format!("{:.6}/s", segment.rate),
            _ => show_bandwidth(segment.rate),
        };
        let _ = write!(
            text,
            "{:>14.6}{:>14.6}  {rate:>12}  {}",
            segment.from.seconds(),
            segment.to.seconds(),
            self.limit(&segment.limit)
        );
        let sharers: Vec<_> = segment.sharers.iter().filter_map(|&token| self.sharer(token)).collect();
        if !sharers.is_empty() {
            const MOST: usize = 4;
            let shown = sharers.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
            let more = sharers.len().saturating_sub(MOST);
            let _ = write!(text, ", shared with {shown}");
            if more > 0 {
                let _ = write!(text, " and {more} more");
            }
        }
        text.push('\n');
    }

    fn sharer(&self, token: u64) -> Option<String> {
        let witnessed = self.seen.activities.get(&activity_of(token)?)?;
        Some(match witnessed.actors.as_slice() {
            [sender, receiver] => format!("{} -> {}", self.name(*sender), self.name(*receiver)),
            [actor, ..] => self.name(*actor).to_owned(),
            [] => return None,
        })
    }

    fn limit(&self, limit: &Limit) -> String {
        match limit {
            Limit::Resource(Resource::Host(host)) => {
                format!("host {} is full", self.platform.host(*host).name)
            }
            Limit::Resource(Resource::Link(link)) => {
                let link = self.platform.link(*link);
                format!("link {} is full ({})", link.name, show_bandwidth(link.bandwidth))
            }
            Limit::Resource(Resource::Disk(disk)) => {
                format!("disk {} is full", self.platform.disk(*disk).name)
            }
            Limit::Bandwidth(link) => format!("the bandwidth of link {}", self.platform.link(*link).name),
            Limit::TcpWindow => "the TCP window over this latency".to_owned(),
            Limit::UserRate => "the rate asked for".to_owned(),
            Limit::OneCore => "the speed of a core".to_owned(),
            Limit::UserBound => "the bound asked for".to_owned(),
            Limit::Suspended => "being suspended".to_owned(),
            Limit::Latency => "latency".to_owned(),
            Limit::Concurrency => "the concurrency limit of a link".to_owned(),
            Limit::Nothing => "nothing".to_owned(),
        }
    }

    fn name(&self, actor: ActorId) -> &str {
        self.scenario.actors.get(actor.index()).map_or("?", |actor| actor.name.as_str())
    }
}

/// What limited the rate for the longest time, and for how long.
fn longest(segments: &[&Segment]) -> Option<(Limit, f64)> {
    let mut totals: Vec<(Limit, f64)> = Vec::new();
    for segment in segments {
        let seconds = segment.to - segment.from;
        match totals.iter_mut().find(|(limit, _)| *limit == segment.limit) {
            Some((_, total)) => *total += seconds,
            None => totals.push((segment.limit, seconds)),
        }
    }
    totals.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })
}
