//! Rosters: the active users of a constraint, written down one after the other, so that a solution need not follow from one to the next.
//! All seats are in one flat array, so that a user finds its own without asking whose they are.

use super::groups::GROUP;
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
    /// The elements of the variable; the group, if this is the seat of one; the next empty seat, if it is nobody's.
    pub first: u32,
    pub count: u32,
    /// The element whose seat this is.
    pub element: u32,
    /// Its only other element, and the constraint of that; [`NONE`] if it has none or several.
    pub other: u32,
    pub other_constraint: u32,
    /// It is a resident of this constraint.
    pub is_resident: bool,
    /// How often it was fixed as one in a row, as far as that counts (see `groups.rs`).
    pub fixes: u8,
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
    element: NONE,
    other: NONE,
    other_constraint: NONE,
    is_resident: false,
    fixes: 0,
};

impl Seat {
    /// Whether it is to be solved.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.level == f64::INFINITY
    }

    /// Whether it is the seat of a group: then its variable is the clock of that.
    #[inline]
    pub fn is_group(&self) -> bool {
        self.variable & GROUP != 0 && self.variable != NONE
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
    pub fn at(&self, seat: u32) -> &Seat {
        &self.all[seat as usize]
    }

    /// A seat.
    #[inline]
    pub fn at_mut(&mut self, seat: u32) -> &mut Seat {
        &mut self.all[seat as usize]
    }

    /// Makes room for so many seats, none of which is taken yet. What was written there before is lost.
    pub fn make_room(&mut self, work: &mut Work, count: u32) {
        (work.seats, work.empty_seats, work.free_seat) = (0, 0, NONE);
        if work.roster != NONE && count <= work.room {
            return;
        }
        self.give_back(work);
        let class = size_class(count.max(1) as usize);
        work.room = 1 << class;
        work.roster = self.allocate(class);
    }

    fn allocate(&mut self, class: usize) -> u32 {
        self.free.get_mut(class).and_then(Vec::pop).unwrap_or_else(|| {
            let first = self.all.len();
            assert!(first + (1 << class) < NONE as usize, "too many uses of resources at once");
            self.all.resize(first + (1 << class), EMPTY_SEAT);
            first as u32
        })
    }

    /// Makes more room for a constraint that has a roster. All its seats are elsewhere then.
    pub fn grow(&mut self, work: &mut Work) {
        let Work { roster, seats, room, .. } = *work;
        let class = size_class(2 * room as usize);
        let first = self.allocate(class);
        self.all.copy_within(roster as usize..(roster + seats) as usize, first as usize);
        self.give_back(work);
        (work.roster, work.seats, work.room) = (first, seats, 1 << class);
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
