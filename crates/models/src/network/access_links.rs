//! The access links of a host: to the centre of its star and back, where that is one link each.
//!
//! Where neighbours among the hosts of a star have neighbours among the links, all alike, as in a cluster, nothing is kept
//! by host (a uniform range): where the links are is arithmetic, and what a message asks of them is known for all of them at
//! once, as long as no link has changed. So a message between two of millions of hosts begins without a look at memory
//! that belongs to one of them.

use simurgh_platform::{HostId, LinkId, Platform, Sharing as LinkSharing, StarLeg};

use super::Network;
use crate::maxmin::{Capacity, ConstraintId, Sharing};
use crate::prefetch::prefetch_from;

/// Fewer hosts in a range are looked up one by one,
const RANGE: u32 = 16;
/// and so are those of more ranges than this.
pub(super) const RANGES: usize = 8;

/// The links of a host to the centre of its star and back.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct AccessLink {
    /// The star, [`AccessLink::UNKNOWN`] or [`AccessLink::NONE`].
    pub zone: u32,
    pub up: u32,
    pub down: u32,
}

impl AccessLink {
    const UNKNOWN: u32 = u32::MAX;
    pub const NONE: u32 = u32::MAX - 1;
}

/// What most messages ask of a link.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct LinkParams {
    pub bandwidth: f64,
    pub latency: f64,
    pub sharing: Sharing,
}

/// What they ask of two links, one up and one down.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct PairParams {
    pub up: LinkParams,
    pub down: LinkParams,
}

/// Hosts of a star in a range, whose links are in a range too and alike.
#[derive(Clone, Debug)]
struct UniformRange {
    first: u32,
    count: u32,
    zone: u32,
    /// The links of the first, and how far apart those of neighbours are.
    up: u32,
    down: u32,
    stride: u32,
    params: PairParams,
}

impl UniformRange {
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

/// Where the access links are.
#[derive(Debug)]
pub(super) struct AccessLinks {
    ranges: Vec<UniformRange>,
    /// By host, once asked for: those of the others.
    single: Vec<AccessLink>,
    /// No link has changed.
    as_declared: bool,
}

impl Default for AccessLinks {
    fn default() -> AccessLinks {
        AccessLinks { ranges: Vec::new(), single: Vec::new(), as_declared: true }
    }
}

impl AccessLinks {
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
    fn range(&self, host: HostId) -> Option<&UniformRange> {
        self.ranges.iter().find(|range| range.has(host))
    }
}

impl Network {
    /// The range of two hosts of which all is known that messages ask: then there is nothing special about their links.
    #[inline]
    pub(super) fn common_range(&self, src: HostId, dst: HostId) -> Option<usize> {
        let AccessLinks { ranges, as_declared, .. } = &self.access_links;
        ranges.iter().position(|range| range.has(src) && range.has(dst)).filter(|_| *as_declared)
    }

    /// What messages ask of the links of a range, if it is known for all of them at once.
    #[inline]
    pub(super) fn params_of_range(&self, range: usize) -> Option<PairParams> {
        self.access_links.as_declared.then(|| self.access_links.ranges[range].params)
    }

    /// What messages ask of a link, as it is now.
    #[inline]
    pub(super) fn link_params(&self, link: ConstraintId) -> LinkParams {
        let (Capacity { amount, sharing }, note) = self.system.noted(link);
        LinkParams { bandwidth: amount, latency: note.number, sharing }
    }

    /// Whether a message from or to a host asks for what is known of it alone.
    #[inline]
    pub fn looks_at(&self, host: HostId) -> bool {
        !(self.access_links.as_declared && self.access_links.range(host).is_some())
    }

    /// Asks the processor for the access link of a host.
    #[inline]
    pub fn prefetch_host(&self, host: HostId) {
        prefetch_from(&self.access_links.single, host.index());
    }

    /// Asks the processor for the links of the access link of a host.
    #[inline]
    pub fn prefetch_links(&self, host: HostId) {
        if let Some(AccessLink { up, down, .. }) = self.known_access_link(host) {
            self.system.prefetch_constraint(ConstraintId(up));
            if down != up {
                self.system.prefetch_constraint(ConstraintId(down));
            }
        }
    }

    /// The access link of a host, if it was asked for before.
    #[inline]
    pub(super) fn known_access_link(&self, host: HostId) -> Option<AccessLink> {
        match self.access_links.range(host) {
            Some(range) => {
                let (up, down) = range.links(host);
                Some(AccessLink {
                    zone: range.zone,
                    up: self.constraint(up)?.0,
                    down: self.constraint(down)?.0,
                })
            }
            None => self
                .access_links
                .single
                .get(host.index())
                .filter(|access_link| access_link.zone != AccessLink::UNKNOWN)
                .copied(),
        }
    }

    /// The access link of a host.
    #[inline]
    pub(super) fn access_link(&mut self, platform: &Platform, host: HostId) -> AccessLink {
        self.known_access_link(host).unwrap_or_else(|| self.find_leg(platform, host))
    }

    #[cold]
    fn find_leg(&mut self, platform: &Platform, host: HostId) -> AccessLink {
        if self.access_links.range(host).is_none() && self.access_links.ranges.len() < RANGES {
            let range = find_row(platform, host).filter(|range| range.count >= RANGE);
            self.access_links.ranges.extend(range);
        }
        let found = match star_leg(platform, host) {
            Some(StarLeg { zone, up, down }) => {
                let (up, down) = (self.slot(platform, up), self.slot(platform, down));
                AccessLink { zone: zone.0, up: up as u32, down: down as u32 }
            }
            None => AccessLink { zone: AccessLink::NONE, up: 0, down: 0 },
        };
        if self.access_links.range(host).is_none() {
            let unknown = AccessLink { zone: AccessLink::UNKNOWN, up: 0, down: 0 };
            self.access_links.single.resize(platform.host_count(), unknown);
            self.access_links.single[host.index()] = found;
        }
        found
    }
}

/// The access link of a host. A fat pipe that is passed both ways is counted once, not twice: let it be found the long way.
fn star_leg(platform: &Platform, host: HostId) -> Option<StarLeg> {
    let access_link = platform.star_leg(host)?;
    (access_link.up != access_link.down || platform.link(access_link.up).sharing == LinkSharing::Shared)
        .then_some(access_link)
}

/// The longest range that a host is in.
fn find_row(platform: &Platform, host: HostId) -> Option<UniformRange> {
    let access_link = |number: u32| star_leg(platform, HostId(number));
    let this = access_link(host.0)?;
    let params = params(platform, this)?;
    let belongs = |number: u32, stride: u32| {
        let along = number.wrapping_sub(host.0).wrapping_mul(stride);
        let (up, down) = (this.up.0.wrapping_add(along), this.down.0.wrapping_add(along));
        let expected = StarLeg { zone: this.zone, up: LinkId(up), down: LinkId(down) };
        access_link(number).is_some_and(|access_link| {
            access_link == expected && self::params(platform, access_link) == Some(params)
        })
    };
    let last = platform.host_count() as u32 - 1;
    let stride = match host.0 {
        at if at < last => access_link(at + 1)?.up.0.checked_sub(this.up.0)?,
        at => this.up.0.checked_sub(access_link(at.checked_sub(1)?)?.up.0)?,
    };
    if stride == 0 {
        return None;
    }
    let first = (0..host.0).rev().find(|&number| !belongs(number, stride)).map_or(0, |before| before + 1);
    let end = (host.0 + 1..=last).find(|&number| !belongs(number, stride)).unwrap_or(last + 1);
    let back = (host.0 - first) * stride;
    let (up, down) = (this.up.0 - back, this.down.0 - back);
    Some(UniformRange { first, count: end - first, zone: this.zone.0, up, down, stride, params })
}

/// What messages ask of the links of an access link, unless there is something special about them.
fn params(platform: &Platform, access_link: StarLeg) -> Option<PairParams> {
    let link_params = |link: LinkId| {
        let declared = platform.link(link);
        let sharing = match declared.sharing {
            LinkSharing::Shared => Sharing::Shared,
            LinkSharing::FatPipe => Sharing::FatPipe,
            LinkSharing::Wifi => return None,
        };
        let link_params = LinkParams { bandwidth: declared.bandwidth, latency: declared.latency, sharing };
        (link != platform.loopback()).then_some(link_params)
    };
    Some(PairParams { up: link_params(access_link.up)?, down: link_params(access_link.down)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simurgh_platform::Routing;

    /// Hosts of a star, told by how wide the links of each are, up and down; what is not there has the other for both.
    fn star(access_links: impl IntoIterator<Item = (f64, Option<f64>)>) -> Platform {
        let mut platform = Platform::builder();
        let zone = platform.zone("star", Routing::Star);
        for (number, (up, down)) in access_links.into_iter().enumerate() {
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

    /// First and number of hosts of the range of a host, and all its links as they are counted.
    fn range(platform: &Platform, host: u32) -> Option<(u32, u32)> {
        let range = find_row(platform, HostId(host))?;
        for number in range.first..range.first + range.count {
            let access_link = platform.star_leg(HostId(number)).expect("it is in a star");
            assert_eq!(range.links(HostId(number)), (access_link.up, access_link.down));
        }
        Some((range.first, range.count))
    }

    #[test]
    fn a_row_goes_as_far_as_hosts_are_alike() {
        let alike = star((0..40).map(|_| (1e6, None)));
        let apart = star((0..40).map(|_| (1e6, Some(2e6))));
        let broken = star((0..40).map(|number| (if number == 25 { 2e6 } else { 1e6 }, None)));
        for host in [0, 7, 24, 39] {
            assert_eq!(range(&alike, host), Some((0, 40)));
            assert_eq!(range(&apart, host), Some((0, 40)));
        }
        assert_eq!(range(&broken, 3), Some((0, 25)));
        assert_eq!(range(&broken, 25), Some((25, 1)));
        assert_eq!(range(&broken, 39), Some((26, 14)));
        assert_eq!(range(&star([(1e6, None)]), 0), None);
    }
}
