//! A grid that wraps around in each dimension, walked one dimension after the other.

use crate::ids::LinkId;
use crate::routing::Reason;
use crate::routing::cluster::{Blocks, Direction};
use crate::routing::star::add_once;

/// The sizes of the dimensions. The private link j of a host leads to its right neighbour in the j-th dimension.
pub(crate) struct Torus {
    pub(crate) sizes: Vec<u32>,
}

impl Torus {
    /// The neighbour one to the right in a dimension, wrapping.
    pub(crate) fn right(&self, rank: u32, dimension: usize) -> u32 {
        let (size, step) = (self.sizes[dimension], self.step(dimension));
        let at = rank / step % size;
        rank - at * step + (at + 1) % size * step
    }

    /// How far apart in rank are two neighbours in a dimension.
    fn step(&self, dimension: usize) -> u32 {
        self.sizes[..dimension].iter().product()
    }

    pub(crate) fn route(
        &self,
        blocks: &Blocks,
        from: u32,
        to: u32,
        route: &mut Vec<LinkId>,
    ) -> Result<(), Reason> {
        let start = route.len();
        route.extend(blocks.limiter(from));
        if from == to {
            return Err(Reason::NoWayToItself);
        }
        let mut at = from;
        let mut step = 1;
        for (number, &size) in (0..).zip(&self.sizes) {
            // Where it is in this dimension, and where it goes: nothing else changes meanwhile.
            let (mut here, there) = (from / step % size, to / step % size);
            let is_right = goes_right(here, there, size);
            // Of the first host: those of the others are as many strides further.
            let up = blocks.private(0, number, Direction::Up).0;
            let down = blocks.private(0, number, Direction::Down).0;
            while here != there {
                if is_right {
                    route.push(LinkId(up + at * blocks.stride));
                    (here, at) = match here + 1 == size {
                        true => (0, at - here * step),
                        false => (here + 1, at + step),
                    };
                } else {
                    (here, at) = match here {
                        0 => (size - 1, at + (size - 1) * step),
                        _ => (here - 1, at - step),
                    };
                    route.push(LinkId(down + at * blocks.stride));
                }
                if let Some(limiter) = blocks.limiter(at) {
                    add_once(route, start, limiter);
                }
            }
            step *= size;
        }
        Ok(())
    }
}

/// From coordinate `a` of the source to `b`: the shorter way, with the reference's choice between equals.
fn goes_right(a: u32, b: u32, size: u32) -> bool {
    let half = size / 2;
    (a < b && b <= a + half) || (a > half && (a + half) % size >= b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_round_a_ring_of_four() {
        assert!(goes_right(0, 2, 4));
        assert!(!goes_right(2, 0, 4));
        assert!(goes_right(1, 3, 4));
        assert!(goes_right(3, 1, 4));
        assert!(goes_right(0, 1, 2));
        assert!(!goes_right(1, 0, 2));
    }

    #[test]
    fn neighbours_wrap() {
        let torus = Torus { sizes: vec![3, 2, 2] };
        assert_eq!(torus.right(2, 0), 0);
        assert_eq!(torus.right(2, 1), 5);
        assert_eq!(torus.right(5, 2), 11);
    }

    /// Each step is to a neighbour, whichever way round, and the last one is there.
    #[test]
    fn a_way_is_a_row_of_neighbours() {
        let torus = Torus { sizes: vec![3, 4, 2] };
        let blocks = Blocks { first: 0, stride: 3, has_loopback: false, has_limiter: false, split: false };
        for (from, to) in
            (0..24).flat_map(|from| (0..24).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            let mut route = Vec::new();
            torus.route(&blocks, from, to, &mut route).expect("there is a way");
            let mut at = from;
            for link in route {
                let (owner, dimension) = (link.0 / 3, link.0 as usize % 3);
                let right = torus.right(owner, dimension);
                assert!(at == owner || at == right, "{from} to {to}: {at} is at no end of {link:?}");
                at = if at == owner { right } else { owner };
            }
            assert_eq!(at, to);
        }
    }
}
