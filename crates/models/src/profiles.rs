//! Profile events to come, the nearest first.

use std::sync::Arc;

use simurgh_platform::{Platform, Profile, ProfileTarget, Repeat};

use crate::heap::EventHeap;

/// Where each profile of a platform is at.
#[derive(Debug)]
pub(crate) struct Profiles {
    cursors: Vec<Cursor>,
    /// The next event of each.
    dates: EventHeap,
}

#[derive(Debug)]
struct Cursor {
    target: ProfileTarget,
    profile: Arc<Profile>,
    next: usize,
    round: f64,
}

impl Profiles {
    pub fn new(platform: &Platform) -> Profiles {
        let mut profiles = Profiles { cursors: Vec::new(), dates: EventHeap::default() };
        for binding in platform.profiles() {
            let cursor =
                Cursor { target: binding.target, profile: binding.profile.clone(), next: 0, round: 0.0 };
            profiles.cursors.push(cursor);
            profiles.schedule(profiles.cursors.len() - 1);
        }
        profiles
    }

    /// Whether some of them are of links.
    pub fn change_links(&self) -> bool {
        self.cursors.iter().any(|cursor| match cursor.target {
            ProfileTarget::LinkBandwidth(_) | ProfileTarget::LinkLatency(_) | ProfileTarget::LinkState(_) => {
                true
            }
            ProfileTarget::HostSpeed(_) | ProfileTarget::HostState(_) => false,
        })
    }

    /// The date of the next event.
    pub fn next_date(&self) -> Option<f64> {
        self.dates.next_date()
    }

    /// Takes the next event, if it is dated at most `limit`: what changes, and its value from now on.
    pub fn pop_until(&mut self, limit: f64) -> Option<(ProfileTarget, f64)> {
        if self.dates.next_date()? > limit {
            return None;
        }
        let index = self.dates.pop_before(f64::INFINITY)? as usize;
        let cursor = &mut self.cursors[index];
        let event = (cursor.target, cursor.profile.events[cursor.next].value);
        cursor.next += 1;
        if cursor.next == cursor.profile.events.len() && cursor.profile.repeat != Repeat::Once {
            cursor.next = 0;
            cursor.round += 1.0;
        }
        self.schedule(index);
        Some(event)
    }

    /// The targets that have a value above 0 to come.
    pub fn revivals(&self) -> impl Iterator<Item = ProfileTarget> + '_ {
        self.cursors.iter().filter_map(|cursor| {
            let rest = match cursor.profile.repeat {
                Repeat::Once => &cursor.profile.events[cursor.next.min(cursor.profile.events.len())..],
                Repeat::Periodic(_) => &cursor.profile.events[..],
            };
            rest.iter().any(|event| event.value > 0.0).then_some(cursor.target)
        })
    }

    fn schedule(&mut self, index: usize) {
        let Cursor { profile, next, round, .. } = &self.cursors[index];
        let Some(event) = profile.events.get(*next) else { return };
        let date = match profile.repeat {
            Repeat::Once => event.date,
            Repeat::Periodic(period) => event.date + round * period,
        };
        self.dates.set(index as u32, date);
    }
}
