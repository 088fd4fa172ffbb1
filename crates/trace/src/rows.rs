//! The rows of a picture: each host's actors, an actor that moved having a row on each host that it visited.

use std::collections::BTreeMap;

use simurgh_kernel::ids::ActorId;
use simurgh_platform::HostId;

use crate::timeline::{ActorLine, HostLine, Interval, Kind, Span, Timeline, Work};

/// One actor on one host.
pub(crate) struct Row<'a> {
    pub(crate) host: &'a HostLine,
    pub(crate) actor: &'a ActorLine,
}

impl<'a> Row<'a> {
    /// When the actor was there.
    pub(crate) fn stays(&self) -> impl Iterator<Item = Span> + use<'a> {
        let host = self.host.id;
        self.actor.stays.iter().filter(move |stay| stay.host == host).map(|stay| stay.span)
    }

    /// What the actor did there.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = &'a Interval> + use<'a> {
        let host = self.host.id;
        self.actor.intervals.iter().filter(move |interval| interval.host == host)
    }

    /// Whether this is where the actor was last.
    pub(crate) fn is_last(&self) -> bool {
        self.actor.stays.last().is_some_and(|stay| stay.host == self.host.id)
    }
}

/// All rows by host, then by actor; and where each is.
pub(crate) struct Rows<'a> {
    pub(crate) rows: Vec<Row<'a>>,
    places: BTreeMap<(ActorId, HostId), usize>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(timeline: &'a Timeline) -> Rows<'a> {
        let mut pairs: Vec<(HostId, ActorId)> = Vec::new();
        for actor in &timeline.actors {
            pairs.extend(actor.stays.iter().map(|stay| (stay.host, actor.id)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let row = |&(host, actor): &(HostId, ActorId)| {
            Some(Row { host: timeline.host(host)?, actor: timeline.actor(actor)? })
        };
        let rows: Vec<Row<'a>> = pairs.iter().filter_map(row).collect();
        let place = |(place, row): (usize, &Row<'a>)| ((row.actor.id, row.host.id), place);
        let places = rows.iter().enumerate().map(place).collect();
        Rows { rows, places }
    }

    /// The place of an actor on a host.
    pub(crate) fn place(&self, actor: ActorId, host: HostId) -> Option<usize> {
        self.places.get(&(actor, host)).copied()
    }
}

/// The interval of each end of a message that ended with it, where there is one.
#[derive(Copy, Clone, Default)]
pub(crate) struct Ends<'a> {
    pub(crate) sending: Option<&'a Interval>,
    pub(crate) receiving: Option<&'a Interval>,
}

impl<'a> Ends<'a> {
    /// The ends of all messages, in the order of [`Timeline::messages`].
    pub(crate) fn of(timeline: &'a Timeline) -> Vec<Ends<'a>> {
        let mut ends = vec![Ends::default(); timeline.messages.len()];
        for actor in &timeline.actors {
            for interval in &actor.intervals {
                let Some(Work::Message(place)) = interval.work else { continue };
                let receives = match interval.kind {
                    Kind::Sending => false,
                    Kind::Receiving => true,
                    _ => timeline.messages[place].receiver == actor.id,
                };
                if receives {
                    ends[place].receiving = Some(interval);
                } else {
                    ends[place].sending = Some(interval);
                }
            }
        }
        ends
    }
}
