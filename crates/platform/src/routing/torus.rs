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

    fn left(&self, rank: u32, dimension: usize) -> u32 {
        let (size, step) = (self.sizes[dimension], self.step(dimension));
        let at = rank / step % size;
        rank - at * step + (at + size - 1) % size * step
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
        for (dimension, &size) in self.sizes.iter().enumerate() {
            let (a, b) = (from / step % size, to / step % size);
            while at / step % size != b {
                let number = dimension as u32;
                if goes_right(a, b, size) {
                    route.push(blocks.private(at, number, Direction::Up));
                    at = self.right(at, dimension);
                } else {
                    at = self.left(at, dimension);
                    route.push(blocks.private(at, number, Direction::Down));
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
        assert_eq!(torus.left(0, 0), 2);
        assert_eq!(torus.left(3, 1), 0);
    }
}
