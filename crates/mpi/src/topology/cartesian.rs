//! Grids of any number of dimensions, each with ends or closed to a ring (MPI 5.0, 8.5.1).

use crate::abi;

/// A grid. Ranks are in row-major order: the last coordinate runs fastest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cartesian {
    /// How many processes in each dimension.
    pub dims: Vec<i32>,
    /// Whether the last of a dimension is beside the first.
    pub periods: Vec<bool>,
}

impl Cartesian {
    /// How many processes it has.
    pub fn size(&self) -> usize {
        self.dims.iter().map(|dim| *dim as usize).product()
    }

    /// Where a rank is.
    pub fn coords(&self, rank: usize) -> Vec<i32> {
        let mut rest = rank;
        let mut coords = vec![0; self.dims.len()];
        for (coord, dim) in coords.iter_mut().zip(&self.dims).rev() {
            *coord = (rest % *dim as usize) as i32;
            rest /= *dim as usize;
        }
        coords
    }

    /// The rank at a place; none beyond the ends. In a ring any number is a place.
    pub fn rank(&self, coords: &[i32]) -> Option<usize> {
        let mut rank = 0;
        for ((coord, dim), periodic) in coords.iter().zip(&self.dims).zip(&self.periods) {
            let coord = if *periodic { coord.rem_euclid(*dim) } else { *coord };
            if !(0..*dim).contains(&coord) {
                return None;
            }
            rank = rank * *dim as usize + coord as usize;
        }
        Some(rank)
    }

    /// From whom a shift by so many steps comes to a rank, and to whom it goes; `MPI_PROC_NULL` beyond the ends.
    pub fn shift(&self, rank: usize, direction: usize, steps: i32) -> (i32, i32) {
        let coords = self.coords(rank);
        let at = |coord: i64| {
            let dim = i64::from(self.dims[direction]);
            let coord = if self.periods[direction] { coord.rem_euclid(dim) } else { coord };
            if !(0..dim).contains(&coord) {
                return abi::PROC_NULL;
            }
            let mut moved = coords.clone();
            moved[direction] = coord as i32;
            self.rank(&moved).map_or(abi::PROC_NULL, |rank| rank as i32)
        };
        let (here, steps) = (i64::from(coords[direction]), i64::from(steps));
        (at(here - steps), at(here + steps))
    }

    /// The grid that is left of some dimensions.
    pub fn part(&self, remain: &[bool]) -> Self {
        let kept = |index: &usize| remain[*index];
        let dimensions = (0..self.dims.len()).filter(kept);
        Self {
            dims: dimensions.clone().map(|index| self.dims[index]).collect(),
            periods: dimensions.map(|index| self.periods[index]).collect(),
        }
    }

    /// Which part a rank is in, and where in it: those with the same coordinates in the other dimensions are together.
    pub fn place_in_part(&self, rank: usize, remain: &[bool]) -> (i32, i32) {
        let (mut color, mut key) = (0, 0);
        for ((coord, dim), remains) in self.coords(rank).iter().zip(&self.dims).zip(remain) {
            let place = if *remains { &mut key } else { &mut color };
            *place = *place * dim + coord;
        }
        (color, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Cartesian {
        Cartesian { dims: vec![2, 3, 4], periods: vec![false, true, false] }
    }

    #[test]
    fn coordinates_and_ranks_are_each_others_inverse() {
        let grid = grid();
        let mut expected = vec![];
        for x in 0..2 {
            for y in 0..3 {
                for z in 0..4 {
                    expected.push(vec![x, y, z]);
                }
            }
        }
        for (rank, coords) in expected.iter().enumerate() {
            assert_eq!(&grid.coords(rank), coords);
            assert_eq!(grid.rank(coords), Some(rank));
        }
        assert_eq!(grid.rank(&[1, -4, 0]), grid.rank(&[1, 2, 0]));
        assert_eq!((grid.rank(&[2, 0, 0]), grid.rank(&[0, 0, -1])), (None, None));
        assert_eq!(Cartesian { dims: vec![], periods: vec![] }.rank(&[]), Some(0));
    }

    #[test]
    fn shifts_end_at_the_edges_and_go_round_in_rings() {
        let grid = grid();
        assert_eq!(grid.shift(0, 0, 1), (abi::PROC_NULL, 12));
        assert_eq!(grid.shift(12, 0, 1), (0, abi::PROC_NULL));
        assert_eq!(grid.shift(0, 1, 1), (8, 4));
        assert_eq!(grid.shift(0, 1, -4), (4, 8));
        assert_eq!(grid.shift(1, 2, 2), (abi::PROC_NULL, 3));
        assert_eq!(grid.shift(1, 2, i32::MAX), (abi::PROC_NULL, abi::PROC_NULL));
    }

    #[test]
    fn parts_hold_what_differs_in_the_dimensions_that_remain() {
        let (grid, remain) = (grid(), [true, false, true]);
        let part = grid.part(&remain);
        assert_eq!(part, Cartesian { dims: vec![2, 4], periods: vec![false, false] });
        for rank in 0..grid.size() {
            let (coords, (color, key)) = (grid.coords(rank), grid.place_in_part(rank, &remain));
            assert_eq!(color, coords[1]);
            assert_eq!(part.coords(key as usize), [coords[0], coords[2]]);
        }
    }
}
