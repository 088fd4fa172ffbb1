//! Fewest links between all pairs at once: Floyd, "Algorithm 97: Shortest Path", CACM 5(6), 1962.
//!
//! Ties are broken as the reference does: the middle point outermost, then source, then target, in member order, and
//! only a strictly shorter way replaces another. The table is made when the first route is asked for.

use std::sync::OnceLock;

use crate::ids::ZoneId;
use crate::routing::declared::DeclaredRoutes;
use crate::routing::{DeadEnd, Ends, Finder, Reason};
use crate::zone::ZoneRecord;

/// More members than this would take minutes and gigabytes.
pub(crate) const MEMBERS_MAX: usize = 8192;

/// The declared routes, and how they combine.
pub(crate) struct Floyd {
    pub(crate) declared: DeclaredRoutes,
    hops: OnceLock<Hops>,
}

/// For each source and target, the member before the target on the way there.
struct Hops {
    before: Vec<u16>,
}

const NOWHERE: u16 = u16::MAX;

impl Floyd {
    pub(crate) fn new(declared: DeclaredRoutes) -> Self {
        assert!(declared.members() <= MEMBERS_MAX, "the builder limits Floyd zones");
        Floyd { declared, hops: OnceLock::new() }
    }

    /// The member before `to` on the way from `from`.
    fn before(&self, from: u32, to: u32) -> Option<u32> {
        let members = self.declared.members();
        let hops = self.hops.get_or_init(|| Hops::new(&self.declared));
        let before = hops.before[from as usize * members + to as usize];
        (before != NOWHERE).then_some(u32::from(before))
    }
}

impl Hops {
    fn new(declared: &DeclaredRoutes) -> Self {
        let members = declared.members();
        let mut costs = vec![u32::MAX; members * members];
        let mut before = vec![NOWHERE; members * members];
        for (from, to, links) in declared.iter() {
            let at = from as usize * members + to as usize;
            costs[at] = links.len() as u32;
            before[at] = from as u16;
        }
        let (mut middle_costs, mut middle_before) = (Vec::new(), Vec::new());
        for middle in 0..members {
            let row = middle * members..(middle + 1) * members;
            middle_costs.clear();
            middle_costs.extend_from_slice(&costs[row.clone()]);
            middle_before.clear();
            middle_before.extend_from_slice(&before[row]);
            for from in 0..members {
                let to_middle = costs[from * members + middle];
                if to_middle == u32::MAX {
                    continue;
                }
                let row = from * members..(from + 1) * members;
                let ways = costs[row.clone()].iter_mut().zip(&mut before[row]);
                for ((cost, last), (&rest, &rest_last)) in ways.zip(middle_costs.iter().zip(&middle_before)) {
                    let through = to_middle.saturating_add(rest);
                    if through < *cost {
                        *cost = through;
                        *last = rest_last;
                    }
                }
            }
        }
        Hops { before }
    }
}

impl Finder<'_> {
    pub(crate) fn floyd(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        floyd: &Floyd,
        from: u32,
        to: u32,
    ) -> Result<Ends, DeadEnd> {
        if from == to {
            let at = floyd.declared.find(from, to);
            return self.itself(zone, record, &floyd.declared, at, from);
        }
        self.along_hops(zone, record, &floyd.declared, from, to, |at| floyd.before(from, at))
    }

    /// A declared route from a member to itself, else the implicit loopback.
    pub(crate) fn itself(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        declared: &DeclaredRoutes,
        at: Option<usize>,
        member: u32,
    ) -> Result<Ends, DeadEnd> {
        match at {
            Some(at) => self.links.extend_from_slice(declared.links(at)),
            None => self.implicit_loopback(record).map_err(|reason| DeadEnd {
                zone,
                from: member,
                to: member,
                reason,
            })?,
        }
        let point = record.members[member as usize];
        Ok(Ends { src: point, dst: point })
    }

    /// Appends the declared routes on the way from `from` to `to`, given each member's predecessor on it. Where one
    /// route enters a zone by another gateway than the next one leaves it by, the way between the two comes between.
    pub(crate) fn along_hops(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        declared: &DeclaredRoutes,
        from: u32,
        to: u32,
        before: impl Fn(u32) -> Option<u32>,
    ) -> Result<Ends, DeadEnd> {
        let point = |member: u32| record.members[member as usize];
        let start = self.links.len();
        let mut ends = Ends { src: point(from), dst: point(to) };
        let mut next_leaves = None;
        let mut at = to;
        // Predecessors lead backwards: everything is written in reverse, then turned round at once.
        while at != from {
            let hop = before(at).and_then(|previous| Some((previous, declared.find(previous, at)?)));
            let Some((previous, route)) = hop else {
                return Err(DeadEnd { zone, from, to, reason: Reason::Unconnected });
            };
            let enters = declared.end_dst(route, point(at));
            match next_leaves {
                None => ends.dst = enters,
                Some(leaves) if leaves != enters => {
                    let joint = self.links.len();
                    self.global(enters, leaves)?;
                    self.links[joint..].reverse();
                }
                Some(_) => {}
            }
            self.links.extend(declared.links(route).iter().rev());
            let leaves = declared.end_src(route, point(previous));
            next_leaves = Some(leaves);
            ends.src = leaves;
            at = previous;
        }
        self.links[start..].reverse();
        Ok(ends)
    }
}
