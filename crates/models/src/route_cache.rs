//! A cache of routes between hosts: many programs send along the same few again and again.
//!
//! Direct-mapped: each pair of hosts has one place, where the last pair that was looked up there is kept. It grows while the hit rate is
//! low, and where it stays so (everybody sends to everybody) it is switched off for a while.

use simurgh_platform::HostId;
use smallvec::SmallVec;

use crate::maxmin::Use;
use crate::network::UncontendedFlow;

/// What a message from a host to another needs to know of the links between them.
#[derive(Clone, Debug)]
pub(crate) struct CachedRoute {
    pub src: HostId,
    pub dst: HostId,
    pub latency: f64,
    /// The smallest bandwidth, infinite if none, and where that link is.
    pub narrowest: f64,
    pub narrowest_at: u32,
    /// `L + Σ S / bandwidth`.
    pub penalty: f64,
    /// Whether there is no link at all.
    pub is_empty: bool,
    /// How the links are known of a message that has them to itself, if they can be.
    pub uncontended: Option<UncontendedFlow>,
    /// The links, each once, there and back.
    pub uses: SmallVec<[Use; 4]>,
}

impl CachedRoute {
    const NOWHERE: HostId = HostId(u32::MAX);

    /// Becomes the same, in the memory that it has.
    fn become_like(&mut self, other: &CachedRoute) {
        let mut uses = std::mem::take(&mut self.uses);
        uses.clear();
        uses.extend_from_slice(&other.uses);
        *self = CachedRoute { uses, ..*other };
    }
}

impl Default for CachedRoute {
    fn default() -> CachedRoute {
        CachedRoute {
            src: CachedRoute::NOWHERE,
            dst: CachedRoute::NOWHERE,
            latency: 0.0,
            narrowest: f64::INFINITY,
            narrowest_at: 0,
            penalty: 0.0,
            is_empty: true,
            uncontended: None,
            uses: SmallVec::new(),
        }
    }
}

const SMALLEST: usize = 64;
const LARGEST: usize = 4096;
/// After so many questions it is decided whether the table is of use.
const TRIAL: u32 = 1024;
/// It is large enough, if all questions but one in so many were answered.
const ENOUGH: u32 = 16;
/// It is of use, if at least one question in so many was answered.
const WORTH: u32 = 4;
/// For so many messages it is left alone if not.
const REST: u32 = 1 << 15;

/// The table.
#[derive(Debug, Default)]
pub(crate) struct RouteCache {
    entries: Vec<CachedRoute>,
    asked: u32,
    answered: u32,
    rest: u32,
}

impl RouteCache {
    /// Whether the route is known; if so, where.
    #[inline]
    pub fn find(&mut self, src: HostId, dst: HostId) -> Option<usize> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        if self.entries.is_empty() {
            return None;
        }
        self.asked += 1;
        let place = self.place(src, dst);
        let entry = &self.entries[place];
        if entry.src == src && entry.dst == dst {
            self.answered += 1;
            return Some(place);
        }
        None
    }

    /// The route at a place.
    #[inline]
    pub fn at(&self, place: usize) -> &CachedRoute {
        &self.entries[place]
    }

    /// Remembers a route, if routes are remembered at present.
    pub fn keep(&mut self, route: &CachedRoute) {
        if self.rest > 0 {
            return;
        }
        if self.asked >= TRIAL {
            let is_of_use = self.answered >= self.asked / WORTH;
            let is_enough = self.answered >= self.asked - self.asked / ENOUGH;
            let is_largest = self.entries.len() >= LARGEST;
            (self.asked, self.answered) = (0, 0);
            if !is_of_use && is_largest {
                self.rest = REST;
                return;
            }
            if !is_enough && !is_largest {
                let size = self.entries.len() * 2;
                self.entries.clear();
                self.entries.resize(size, CachedRoute::default());
            }
        }
        if self.entries.is_empty() {
            self.entries.resize(SMALLEST, CachedRoute::default());
        }
        let place = self.place(route.src, route.dst);
        self.entries[place].become_like(route);
    }

    /// Forgets all: something about a link changed.
    pub fn clear(&mut self) {
        for entry in &mut self.entries {
            entry.src = CachedRoute::NOWHERE;
        }
    }

    #[inline]
    fn place(&self, src: HostId, dst: HostId) -> usize {
        let pair = u64::from(src.0) << 32 | u64::from(dst.0);
        // Fibonacci hashing: the upper bits of the product depend on all of the pair.
        let mixed = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize & (self.entries.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(src: u32, dst: u32) -> CachedRoute {
        CachedRoute { src: HostId(src), dst: HostId(dst), latency: f64::from(src), ..CachedRoute::default() }
    }

    fn ask(routes: &mut RouteCache, src: u32, dst: u32) -> bool {
        match routes.find(HostId(src), HostId(dst)) {
            Some(place) => {
                assert_eq!(routes.at(place).latency, f64::from(src));
                true
            }
            None => {
                routes.keep(&route(src, dst));
                false
            }
        }
    }

    #[test]
    fn a_way_is_known_until_something_changes() {
        let mut routes = RouteCache::default();
        assert!(!ask(&mut routes, 1, 2));
        assert!(ask(&mut routes, 1, 2));
        assert!(!ask(&mut routes, 2, 1));
        routes.clear();
        assert!(!ask(&mut routes, 1, 2));
    }

    /// A table in which pairs drive each other out answers many questions, and is too small nevertheless.
    #[test]
    fn it_grows_where_some_pairs_are_never_found() {
        let mut routes = RouteCache::default();
        let pairs = |number: u32| (number % 16, 16 + number / 16 % 7);
        let asked = |number: u32| pairs(number % 112);
        let known = (0..30_000).filter(|&number| ask(&mut routes, asked(number).0, asked(number).1)).count();
        let last =
            (30_000..31_120).filter(|&number| ask(&mut routes, asked(number).0, asked(number).1)).count();
        assert!(known > 20_000, "{known}");
        assert!(last >= 1120 - 1120 / ENOUGH as usize, "{last}");
    }

    #[test]
    fn it_grows_while_it_is_too_small_and_rests_where_nothing_comes_again() {
        let mut routes = RouteCache::default();
        let known = (0..20_000).filter(|number| ask(&mut routes, number % 1000, 7)).count();
        assert!(known > 10_000, "{known}");
        assert!(routes.entries.len() > 1000);
        let mut never = RouteCache::default();
        assert!((0..20_000).all(|number| !ask(&mut never, number, 7)));
        assert!(never.rest > 0 && never.entries.len() == LARGEST);
    }
}
