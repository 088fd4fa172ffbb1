//! Vivaldi zones: latencies from network coordinates (Dabek et al., "Vivaldi", SIGCOMM 2004), with heights.

use crate::ids::LinkId;
use crate::routing::star::Star;
use crate::routing::{OptionalEnds, Reason};

/// A star, and where its members are. Coordinates are in milliseconds.
pub(crate) struct Vivaldi {
    pub(crate) star: Star,
    /// By member: its own, or those of the gateway of a member that is a zone.
    pub(crate) coordinates: Vec<Option<[f64; 3]>>,
}

impl Vivaldi {
    /// Appends the members' own links; also returns the latency of what lies between them, in seconds.
    pub(crate) fn route(
        &self,
        from: u32,
        to: u32,
        route: &mut Vec<LinkId>,
    ) -> Result<(OptionalEnds, f64), Reason> {
        let ends = self.star.route(from, to, route)?;
        let of = |member: u32| self.coordinates[member as usize].ok_or(Reason::NoCoordinates(member));
        Ok((ends, distance(of(from)?, of(to)?) / 1000.0))
    }
}

/// Euclid's in the plane, and both heights: also from a point to itself.
fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
    (dx * dx + dy * dy).sqrt() + a[2].abs() + b[2].abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_count_even_from_a_point_itself() {
        assert_eq!(distance([0.0, 0.0, 2.0], [3.0, 4.0, -1.0]), 8.0);
        assert_eq!(distance([7.0, 7.0, 1.5], [7.0, 7.0, 1.5]), 3.0);
    }
}
