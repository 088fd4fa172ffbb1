//! The timeline of an MPI program: a process is within a call, by its name, or it computes.

use std::collections::BTreeMap;

use simurgh_models::SimTime;
use simurgh_mpi::tracks::{State, Tracked};
use simurgh_trace::Timeline;
use simurgh_trace::timeline::{ActorLine, Interval, Kind, Mark, Span};

/// Tells what processes called in the place of what the kernel did for them. Processes are the first actors, in their order; of one
/// that is not known, what the kernel did stays.
pub(super) fn adorn(timeline: &mut Timeline, tracked: &[Option<Tracked>]) {
    let mut seconds: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (actor, tracked) in timeline.actors.iter_mut().zip(tracked) {
        let Some(tracked) = tracked else { continue };
        let Some(host) = actor.stays.first().map(|stay| stay.host) else { continue };
        let rest = last_wait(actor, tracked);
        actor.intervals = tracked.states.iter().map(|state| interval(state, host)).collect();
        actor.intervals.extend(rest);
        for state in &tracked.states {
            if let Some(procedure) = state.procedure {
                *seconds.entry(procedure.name()).or_default() += state.to - state.from;
            }
        }
    }
    // The colours of the calls that matter most come first.
    let mut calls: Vec<_> = seconds.into_iter().collect();
    calls.sort_by(|a, b| b.1.total_cmp(&a.1));
    timeline.calls = calls.into_iter().map(|(name, _)| name.to_owned()).collect();
}

/// What a process waited for in the end, if it never came back.
fn last_wait(actor: &ActorLine, tracked: &Tracked) -> Option<Interval> {
    let last = actor.intervals.last()?;
    let is_open = last.span.to.order == u64::MAX && last.span.from.seconds() >= tracked.last;
    is_open.then(|| last.clone())
}

fn interval(state: &State, host: simurgh_platform::HostId) -> Interval {
    let mark = |seconds: f64| Mark { at: SimTime::new(seconds), order: 0 };
    let (kind, detail) = match state.procedure {
        Some(procedure) => (Kind::Calling, procedure.name().to_owned()),
        None => (Kind::Executing, String::new()),
    };
    let span = Span { from: mark(state.from), to: mark(state.to) };
    Interval { kind, detail, host, span, work: None, failure: None }
}
