//! The colour of each kind of interval, the same in all pictures.

use crate::timeline::{Interval, Kind, Timeline};

/// A colour as `#rrggbb`: what works is saturated, what waits is pale, what is contended is warm.
pub(crate) fn color(kind: Kind) -> &'static str {
    match kind {
        Kind::Executing => "#5b8fc7",
        Kind::Parallel => "#4a9aa5",
        Kind::Sending => "#e3a857",
        Kind::Receiving => "#84b88a",
        Kind::Reading => "#9a86c4",
        Kind::Writing => "#c58bb6",
        Kind::WaitingAny => "#c9c19c",
        Kind::Sleeping => "#d9dde3",
        Kind::Locking => "#d98880",
        Kind::Acquiring => "#e3b1a2",
        Kind::Condition => "#cfa987",
        Kind::Barrier => "#a7adba",
        Kind::Joining => "#bcc6d4",
        Kind::Suspended => "#8d939e",
        Kind::Calling => "#b0b7c3",
    }
}

/// The colours of calls, in the order of their names in the timeline; the last is that of all others.
const CALLS: [&str; 12] = [
    "#e3a857", "#84b88a", "#c58bb6", "#d98880", "#9a86c4", "#c9c19c", "#4a9aa5", "#e3b1a2", "#b5c978",
    "#cfa987", "#a7adba", "#b0b7c3",
];

/// The colour of a call, by its place among those of the timeline.
pub(crate) fn call(place: usize) -> &'static str {
    CALLS[place.min(CALLS.len() - 1)]
}

/// The colour of an interval.
pub(crate) fn of(timeline: &Timeline, interval: &Interval) -> &'static str {
    let place = || timeline.calls.iter().position(|name| *name == interval.detail);
    match interval.kind {
        Kind::Calling => place().map_or(color(Kind::Calling), call),
        kind => color(kind),
    }
}

/// The same colour as three parts of 1, as Paje wants it.
pub(crate) fn fractions(color: &str) -> String {
    let part = |from: usize| {
        let value = u8::from_str_radix(&color[from..from + 2], 16).expect("colours are written #rrggbb");
        format!("{:.3}", f64::from(value) / 255.0)
    };
    format!("{} {} {}", part(1), part(3), part(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_colour() {
        let mut colors: Vec<&str> = Kind::ALL.into_iter().map(color).collect();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), Kind::ALL.len());
        assert_eq!(fractions("#ff0080"), "1.000 0.000 0.502");
    }
}
