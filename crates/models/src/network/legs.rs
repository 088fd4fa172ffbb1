//! The way of a host to the centre of its star and back, where that is one link each.
//!
//! Where neighbours among the hosts of a star have neighbours among the links, all alike, as in a cluster, nothing is kept
//! by host: where the links are is a matter of counting, and what a message asks of them is known for all of them at
//! once, as long as no link has changed. So a message between two of millions of hosts begins without a look at memory
//! that belongs to one of them.

use simurgh_platform::{HostId, LinkId, Platform, Sharing as LinkSharing, StarLeg};

use super::Network;
use crate::ahead::fetch_from;
use crate::maxmin::{Capacity, ConstraintId, Sharing};

/// Fewer hosts in a row are looked up one by one,
const ROW: u32 = 16;
/// and so are those of more rows than this.
pub(super) const ROWS: usize = 8;

/// The links of a host to the centre of its star and back.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Leg {
    /// The star, [`Leg::UNKNOWN`] or [`Leg::NONE`].
    pub zone: u32,
    pub up: u32,
    pub down: u32,
}

impl Leg {
    const UNKNOWN: u32 = u32::MAX;
    pub const NONE: u32 = u32::MAX - 1;
}

/// What most messages ask of a link.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Fact {
    pub bandwidth: f64,
    pub latency: f64,
    pub sharing: Sharing,
}

/// What they ask of two links, one up and one down.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Facts {
    pub up: Fact,
    pub down: Fact,
}

/// Hosts of a star in a row, whose links are in a row too and alike.
#[derive(Clone, Debug)]
struct Row {
    first: u32,
    count: u32,
    zone: u32,
    /// The links of the first, and how far apart those of neighbours are.
    up: u32,
    down: u32,
    stride: u32,
    facts: Facts,
}

impl Row {
    #[inline]
    fn has(&self, host: HostId) -> bool {
        host.0.wrapping_sub(self.first) < self.count
    }

    #[inline]
    fn links(&self, host: HostId) -> (LinkId, LinkId) {
        let along = (host.0 - self.first) * self.stride;
        (LinkId(self.up + along), LinkId(self.down + along))
    }
}

/// Where the legs are.
#[derive(Debug)]
pub(super) struct Legs {
    rows: Vec<Row>,
    /// By host, once asked for: those of the others.
    single: Vec<Leg>,
    /// No link has changed.
    as_declared: bool,
}

impl Default for Legs {
    fn default() -> Legs {
        Legs { rows: Vec::new(), single: Vec::new(), as_declared: true }
    }
}

impl Legs {
    /// From now on links may differ from what the platform says.
    pub fn may_differ(&mut self) {
        self.as_declared = false;
    }

    /// Whether none does yet.
    #[inline]
    pub fn is_as_declared(&self) -> bool {
        self.as_declared
    }

    #[inline]
    fn row(&self, host: HostId) -> Option<&Row> {
        self.rows.iter().find(|row| row.has(host))
    }
}

impl Network {
    /// The row of two hosts of which all is known that messages ask: then there is nothing special about their links.
    #[inline]
    pub(super) fn common_row(&self, src: HostId, dst: HostId) -> Option<usize> {
        let Legs { rows, as_declared, .. } = &self.legs;
        rows.iter().position(|row| row.has(src) && row.has(dst)).filter(|_| *as_declared)
    }

    /// What messages ask of the links of a row, if it is known for all of them at once.
    #[inline]
    pub(super) fn facts_of_row(&self, row: usize) -> Option<Facts> {
        self.legs.as_declared.then(|| self.legs.rows[row].facts)
    }

    /// What messages ask of a link, as it is now.
    #[inline]
    pub(super) fn fact(&self, link: ConstraintId) -> Fact {
        let (Capacity { amount, sharing }, note) = self.system.noted(link);
        Fact { bandwidth: amount, latency: note.number, sharing }
    }

    /// Whether a message from or to a host asks for what is known of it alone.
    #[inline]
    pub fn looks_at(&self, host: HostId) -> bool {
        !(self.legs.as_declared && self.legs.row(host).is_some())
    }

    /// Asks the processor for the leg of a host.
    #[inline]
    pub fn fetch_host(&self, host: HostId) {
        fetch_from(&self.legs.single, host.index());
    }

    /// Asks the processor for the links of the leg of a host.
    #[inline]
    pub fn fetch_links(&self, host: HostId) {
        if let Some(Leg { up, down, .. }) = self.known_leg(host) {
            self.system.fetch_constraint(ConstraintId(up));
            if down != up {
                self.system.fetch_constraint(ConstraintId(down));
            }
        }
    }

    /// The leg of a host, if it was asked for before.
    #[inline]
    pub(super) fn known_leg(&self, host: HostId) -> Option<Leg> {
        match self.legs.row(host) {
            Some(row) => {
                let (up, down) = row.links(host);
                Some(Leg { zone: row.zone, up: self.constraint(up)?.0, down: self.constraint(down)?.0 })
            }
            None => self.legs.single.get(host.index()).filter(|leg| leg.zone != Leg::UNKNOWN).copied(),
        }
    }

    /// The leg of a host.
    #[inline]
    pub(super) fn leg(&mut self, platform: &Platform, host: HostId) -> Leg {
        self.known_leg(host).unwrap_or_else(|| self.find_leg(platform, host))
    }

    #[cold]
    fn find_leg(&mut self, platform: &Platform, host: HostId) -> Leg {
        if self.legs.row(host).is_none() && self.legs.rows.len() < ROWS {
            let row = find_row(platform, host).filter(|row| row.count >= ROW);
            self.legs.rows.extend(row);
        }
        let found = match star_leg(platform, host) {
            Some(StarLeg { zone, up, down }) => {
                let (up, down) = (self.slot(platform, up), self.slot(platform, down));
                Leg { zone: zone.0, up: up as u32, down: down as u32 }
            }
            None => Leg { zone: Leg::NONE, up: 0, down: 0 },
        };
        if self.legs.row(host).is_none() {
            let unknown = Leg { zone: Leg::UNKNOWN, up: 0, down: 0 };
            self.legs.single.resize(platform.host_count(), unknown);
            self.legs.single[host.index()] = found;
        }
        found
    }
}

/// The leg of a host. A fat pipe that is passed both ways is counted once, not twice: let it be found the long way.
fn star_leg(platform: &Platform, host: HostId) -> Option<StarLeg> {
    let leg = platform.star_leg(host)?;
    (leg.up != leg.down || platform.link(leg.up).sharing == LinkSharing::Shared).then_some(leg)
}

/// The longest row that a host is in.
fn find_row(platform: &Platform, host: HostId) -> Option<Row> {
    let leg = |number: u32| star_leg(platform, HostId(number));
    let this = leg(host.0)?;
    let facts = facts(platform, this)?;
    let belongs = |number: u32, stride: u32| {
        let along = number.wrapping_sub(host.0).wrapping_mul(stride);
        let (up, down) = (this.up.0.wrapping_add(along), this.down.0.wrapping_add(along));
        let expected = StarLeg { zone: this.zone, up: LinkId(up), down: LinkId(down) };
        leg(number).is_some_and(|leg| leg == expected && self::facts(platform, leg) == Some(facts))
    };
    let last = platform.host_count() as u32 - 1;
    let stride = match host.0 {
        at if at < last => leg(at + 1)?.up.0.checked_sub(this.up.0)?,
        at => this.up.0.checked_sub(leg(at.checked_sub(1)?)?.up.0)?,
    };
    if stride == 0 {
        return None;
    }
    let first = (0..host.0).rev().find(|&number| !belongs(number, stride)).map_or(0, |before| before + 1);
    let end = (host.0 + 1..=last).find(|&number| !belongs(number, stride)).unwrap_or(last + 1);
    let back = (host.0 - first) * stride;
    let (up, down) = (this.up.0 - back, this.down.0 - back);
    Some(Row { first, count: end - first, zone: this.zone.0, up, down, stride, facts })
}

/// What messages ask of the links of a leg, unless there is something special about them.
fn facts(platform: &Platform, leg: StarLeg) -> Option<Facts> {
    let fact = |link: LinkId| {
        let declared = platform.link(link);
        let sharing = match declared.sharing {
            LinkSharing::Shared => Sharing::Shared,
            LinkSharing::FatPipe => Sharing::FatPipe,
            LinkSharing::Wifi => return None,
        };
        let fact = Fact { bandwidth: declared.bandwidth, latency: declared.latency, sharing };
        (link != platform.loopback()).then_some(fact)
    };
    Some(Facts { up: fact(leg.up)?, down: fact(leg.down)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simurgh_platform::Routing;

    /// Hosts of a star, told by how wide the links of each are, up and down; what is not there has the other for both.
    fn star(legs: impl IntoIterator<Item = (f64, Option<f64>)>) -> Platform {
        let mut platform = Platform::builder();
        let zone = platform.zone("star", Routing::Star);
        for (number, (up, down)) in legs.into_iter().enumerate() {
            let host = platform.host(zone, &format!("h{number}"), 1e9).id();
            let up = platform.link(zone, &format!("u{number}"), up, 1e-3).id();
            match down {
                None => platform.star(zone, host, &[up]),
                Some(down) => {
                    let down = platform.link(zone, &format!("d{number}"), down, 1e-3).id();
                    platform.star_up(zone, host, &[up]);
                    platform.star_down(zone, host, &[down]);
                }
            }
        }
        platform.build().expect("a good platform")
    }

    /// First and number of hosts of the row of a host, and all its links as they are counted.
    fn row(platform: &Platform, host: u32) -> Option<(u32, u32)> {
        let row = find_row(platform, HostId(host))?;
        for number in row.first..row.first + row.count {
            let leg = platform.star_leg(HostId(number)).expect("it is in a star");
            assert_eq!(row.links(HostId(number)), (leg.up, leg.down));
        }
        Some((row.first, row.count))
    }

    #[test]
    fn a_row_goes_as_far_as_hosts_are_alike() {
        let alike = star((0..40).map(|_| (1e6, None)));
        let apart = star((0..40).map(|_| (1e6, Some(2e6))));
        let broken = star((0..40).map(|number| (if number == 25 { 2e6 } else { 1e6 }, None)));
        for host in [0, 7, 24, 39] {
            assert_eq!(row(&alike, host), Some((0, 40)));
            assert_eq!(row(&apart, host), Some((0, 40)));
        }
        assert_eq!(row(&broken, 3), Some((0, 25)));
        assert_eq!(row(&broken, 25), Some((25, 1)));
        assert_eq!(row(&broken, 39), Some((26, 14)));
        assert_eq!(row(&star([(1e6, None)]), 0), None);
    }
}
