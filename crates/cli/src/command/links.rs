//! `--links`: how much each link carried, and which were the busiest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_kernel::event::{Event, Observer};
use simurgh_models::{Resource, SimTime};
use simurgh_platform::LinkId;

/// What one link carried.
#[derive(Copy, Clone, Debug, Default)]
struct Carried {
    /// Since when it carries what it carries now.
    since: f64,
    rate: f64,
    capacity: f64,
    /// What was carried before.
    amount: f64,
    /// What could have been.
    possible: f64,
}

impl Carried {
    fn until(&mut self, date: f64) {
        let seconds = (date - self.since).max(0.0);
        self.amount += self.rate * seconds;
        self.possible += self.capacity * seconds;
        self.since = date;
    }
}

/// What all links carried; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Busiest {
    links: Arc<Mutex<BTreeMap<LinkId, Carried>>>,
}

impl Busiest {
    /// The links that carried anything: bytes, and the part of what they could have carried until a date; the busiest first.
    pub(crate) fn listed(&self, end: f64) -> Vec<(LinkId, f64, f64)> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut listed: Vec<_> = links
            .iter()
            .map(|(link, carried)| {
                let mut carried = *carried;
                carried.until(end);
                let used = if carried.possible > 0.0 { carried.amount / carried.possible } else { 0.0 };
                (*link, carried.amount, used)
            })
            .filter(|(_, amount, _)| *amount > 0.0)
            .collect();
        listed.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        listed
    }
}

impl Observer for Busiest {
    fn event(&mut self, _now: SimTime, event: &Event) {
        let Event::Used(usage) = event else { return };
        let Resource::Link(link) = usage.resource else { return };
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let carried = links.entry(link).or_insert(Carried { capacity: usage.capacity, ..Carried::default() });
        carried.until(usage.at.seconds());
        carried.rate = usage.used;
        carried.capacity = usage.capacity;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_adds_up() {
        let mut carried = Carried { capacity: 10.0, ..Carried::default() };
        carried.until(1.0);
        carried.rate = 5.0;
        carried.until(3.0);
        assert_eq!((carried.amount, carried.possible), (10.0, 30.0));
    }
}
