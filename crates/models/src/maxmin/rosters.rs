//! Rosters: the active users of a constraint, written down one after the other, so that a solution need not follow from one to the next.
//! All seats are in one flat array, so that a user finds its own without asking whose they are.

use super::storage::{NONE, Work, size_class};

/// An active user of a constraint in its roster.
#[derive(Copy, Clone, Debug)]
pub(super) struct Seat {
    /// The level of the variable, infinite while it is to be solved, and what it takes of the constraint.
    pub level: f64,
    pub taken: f64,
    /// The weight / penalty, and the bound * penalty.
    pub part: f64,
    pub reach: f64,
    pub variable: u32,
    /// The elements of the variable.
    pub first: u32,
    pub count: u32,
    /// Its only other element, and the constraint of that; [`NONE`] if it has none or several.
    pub other: u32,
    pub other_constraint: u32,
    /// It is a resident of this constraint.
    pub is_resident: bool,
}

/// Nobody's.
pub(super) const EMPTY_SEAT: Seat = Seat {
    level: f64::NEG_INFINITY,
    taken: 0.0,
    part: 0.0,
    reach: f64::INFINITY,
    variable: NONE,
    first: 0,
    count: 0,
    other: NONE,
    other_constraint: NONE,
    is_resident: false,
};

impl Seat {
    /// Whether it is to be solved.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.level == f64::INFINITY
    }
}

/// All the seats. Blocks of neighbours are given out in powers of two and used again.
#[derive(Clone, Default, Debug)]
pub(super) struct Rosters {
    all: Vec<Seat>,
    free: Vec<Vec<u32>>,
}

impl Rosters {
    /// The seats of a constraint that has a roster.
    #[inline]
    pub fn of(&self, work: &Work) -> &[Seat] {
        &self.all[work.roster as usize..][..work.seats as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub fn of_mut(&mut self, work: &Work) -> &mut [Seat] {
        &mut self.all[work.roster as usize..][..work.seats as usize]
    }

    /// All the seats, by number.
    #[inline]
    pub fn all_mut(&mut self) -> &mut [Seat] {
        &mut self.all
    }

    /// A seat.
    #[inline]
    pub fn at_mut(&mut self, seat: u32) -> &mut Seat {
        &mut self.all[seat as usize]
    }

    /// Makes room for so many seats, none of which is taken yet. What was written there before is lost.
    pub fn make_room(&mut self, work: &mut Work, count: u32) {
        work.seats = 0;
        if work.roster != NONE && count <= work.room {
            return;
        }
        self.give_back(work);
        let class = size_class(count.max(1) as usize);
        work.room = 1 << class;
        work.roster = self.free.get_mut(class).and_then(Vec::pop).unwrap_or_else(|| {
            let first = self.all.len();
            assert!(first + (1 << class) < NONE as usize, "too many uses of resources at once");
            self.all.resize(first + (1 << class), EMPTY_SEAT);
            first as u32
        });
    }

    /// A constraint has no roster any more, if it had one.
    pub fn give_back(&mut self, work: &mut Work) {
        if work.roster == NONE {
            return;
        }
        let class = size_class(work.room as usize);
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        self.free[class].push(std::mem::replace(&mut work.roster, NONE));
        (work.seats, work.room) = (0, 0);
    }
}
