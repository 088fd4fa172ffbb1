//! Lists in flat arrays: the elements of a variable are neighbours, those of a constraint are linked.

/// A capacity of a [`System`](super::System).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConstraintId(pub u32);

/// Someone who shares capacities of a [`System`](super::System).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct VariableId(pub u32);

impl ConstraintId {
    /// Its number, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl VariableId {
    /// Its number; that of a removed variable is used again.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a capacity is shared.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// The sum of what is taken stays below it.
    Shared,
    /// What each takes stays below it.
    FatPipe,
}

/// That a variable takes `weight * value` of a constraint.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Use {
    /// Of which constraint.
    pub constraint: ConstraintId,
    /// How much for a value of 1; above 0.
    pub weight: f64,
}

/// What kept a value from being higher.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FixedBy {
    /// Nothing yet, or nothing is left for it.
    Nothing,
    /// Its own bound.
    Bound,
    /// This constraint was full.
    Constraint(ConstraintId),
    /// It waits for a slot.
    Staged,
}

/// No element: the end of a list.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    Free,
    Idle,
    /// It has a penalty, but waits for a slot.
    Staged,
    Active,
}

/// What a solution asks of a variable is one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Variable {
    pub penalty: f64,
    pub bound: f64,
    pub value: f64,
    /// `value * penalty`: the height of the water when it was fixed. Infinite until it is solved. Of a resident, neither this nor
    /// the value is kept here (see `residents.rs`).
    pub level: f64,
    /// Its elements are `first .. first + count`.
    pub first: u32,
    pub count: u32,
    pub tag: u32,
    /// The clock that it is a resident of, if it is.
    pub home: u32,
    pub fixed_by: FixedBy,
    pub state: State,
    /// It got its value when it became active, and this was not told yet.
    pub settled: bool,
    /// It is among those to be solved again.
    pub unsettled: bool,
    /// The pool that it is a member of, if it is (see `pool.rs`).
    pub pool: u32,
}

impl Default for Variable {
    fn default() -> Variable {
        Variable {
            penalty: 0.0,
            bound: f64::INFINITY,
            value: 0.0,
            level: f64::INFINITY,
            first: 0,
            count: 0,
            tag: 0,
            home: NONE,
            fixed_by: FixedBy::Nothing,
            state: State::Free,
            settled: false,
            unsettled: false,
            pool: NONE,
        }
    }
}

/// What is known of a variable that takes no part.
#[derive(Copy, Clone, Debug)]
pub(super) struct Idleness {
    /// Where it is among the idle ones, if it is.
    pub place: u32,
    /// When it became idle: the order among those that wait for a slot.
    pub since: u64,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct List {
    pub head: u32,
    pub tail: u32,
}

pub(super) const EMPTY: List = List { head: NONE, tail: NONE };

/// A part of a capacity so far from all of it that no tolerance bridges the gap.
const NEARLY: f64 = 1.0 - 1e-4;

/// What is asked of a capacity whenever somebody comes or goes: one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Constraint {
    pub capacity: f64,
    /// What its active users would take if each reached its bound, and how many would exceed it on their own: those
    /// without a bound and, of a fat pipe, those that could fill it.
    pub demand: f64,
    /// What the owner keeps here (see [`Note`]).
    pub number: f64,
    pub active: List,
    /// Those that have a penalty and wait for a slot, in the order in which they became idle.
    pub staged: List,
    pub greedy: u32,
    pub slots_taken: u32,
    pub limit: u32,
    pub plain: bool,
    pub sharing: Sharing,
    pub dirty: bool,
    /// At the last solution, it could not be full, whoever got what.
    pub slack: bool,
    /// Its active users are written down as they are: whoever came since has a seat, and whoever went left an empty one.
    pub is_roster_true: bool,
}

/// What the owner of a capacity keeps with it, so that it need not look elsewhere: a link its latency, say.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Note {
    /// A number.
    pub number: f64,
    /// Whether the number tells all there is to know.
    pub plain: bool,
}

/// What only a solution asks of a capacity.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// The lowest capacity since the last solution, where its level may have fallen or its capacity changed;
    /// infinite otherwise.
    pub lowest_capacity: f64,
    /// Capacity not given yet. Kept up to date between solutions while the roster is true, unless this is a fat pipe.
    pub remaining: f64,
    /// Sum (fat pipe: maximum) of weight / penalty of those not fixed yet.
    pub usage: f64,
    /// The lowest bound * penalty of its users that are solved.
    pub lowest_bound: f64,
    /// Less than this is nothing: a part of the capacity, as of the last visit.
    pub dust: f64,
    /// Where its active users are written down one after the other, if they are (see [`Constraint::is_roster_true`]), how many seats
    /// there are, and for how many there is room.
    pub roster: u32,
    pub seats: u32,
    pub room: u32,
    /// The clock of those that it fixes, if they are many (see `residents.rs`).
    pub clock: u32,
    /// The solution that visited it last.
    pub mark: u32,
    /// It is out of the present solution.
    pub gone: bool,
    /// It is a fat pipe.
    pub is_fat: bool,
    /// Its usage, a maximum, must be computed again.
    pub stale: bool,
    /// How many seats of its roster are empty, and the first of them: each names the next.
    pub empty_seats: u32,
    pub free_seat: u32,
    /// The pool whose constraint it is, and the one whose members alone use it (see `pool.rs`).
    pub pool: u32,
    pub spoke_of: u32,
    /// How many groups use it (see `groups.rs`).
    pub groups: u32,
    /// The sum of weight / penalty of these.
    pub spoke_usage: f64,
}

impl Default for Work {
    fn default() -> Work {
        Work {
            lowest_capacity: f64::INFINITY,
            remaining: 0.0,
            usage: 0.0,
            lowest_bound: f64::INFINITY,
            dust: 0.0,
            roster: NONE,
            seats: 0,
            room: 0,
            clock: NONE,
            mark: 0,
            gone: false,
            is_fat: false,
            stale: false,
            empty_seats: 0,
            free_seat: NONE,
            pool: NONE,
            spoke_of: NONE,
            groups: 0,
            spoke_usage: 0.0,
        }
    }
}

impl Constraint {
    pub fn new(capacity: f64, sharing: Sharing, limit: u32) -> Constraint {
        Constraint {
            capacity,
            demand: 0.0,
            number: 0.0,
            active: EMPTY,
            staged: EMPTY,
            greedy: 0,
            slots_taken: 0,
            limit,
            plain: false,
            sharing,
            dirty: false,
            slack: true,
            is_roster_true: false,
        }
    }

    /// Whether it cannot be full, even if each of its users reaches its bound, nor ever have so little left that it
    /// counts as nothing.
    #[inline]
    pub fn has_slack(&self) -> bool {
        self.greedy == 0 && (self.sharing == Sharing::FatPipe || self.demand <= self.capacity * NEARLY)
    }

    /// An active user of this weight and bound comes.
    #[inline]
    pub fn add_demand(&mut self, weight: f64, bound: f64) {
        match self.is_greedy(weight, bound) {
            true => self.greedy += 1,
            false => self.demand += weight * bound,
        }
    }

    /// An active user of this weight and bound goes.
    #[inline]
    pub fn remove_demand(&mut self, weight: f64, bound: f64) {
        match self.is_greedy(weight, bound) {
            true => self.greedy -= 1,
            false => self.demand -= weight * bound,
        }
    }

    /// A fat pipe that one of its users could fill slows the others down too: all are fixed at one level.
    #[inline]
    pub fn is_greedy(&self, weight: f64, bound: f64) -> bool {
        Capacity { amount: self.capacity, sharing: self.sharing }.is_exceeded_by(weight, bound)
    }
}

/// So much, shared in this way.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Capacity {
    /// How much.
    pub amount: f64,
    /// How it is shared.
    pub sharing: Sharing,
}

impl Capacity {
    /// Whether one of this weight and bound has none, or could fill a fat pipe.
    #[inline]
    fn is_exceeded_by(self, weight: f64, bound: f64) -> bool {
        bound == f64::INFINITY || (self.sharing == Sharing::FatPipe && weight * bound > self.amount * NEARLY)
    }

    /// Whether it cannot be full, nor ever have so little left that it counts as nothing, if one of this weight and bound
    /// is its only user.
    #[inline]
    pub(super) fn has_slack_for(self, weight: f64, bound: f64) -> bool {
        !self.is_exceeded_by(weight, bound)
            && (self.sharing == Sharing::FatPipe || weight * bound <= self.amount * NEARLY)
    }
}

/// That a variable uses a constraint.
#[derive(Copy, Clone, Debug)]
pub(super) struct Element {
    pub weight: f64,
    pub constraint: u32,
    pub variable: u32,
    pub previous: u32,
    pub next: u32,
    /// Its seat among all, while the roster of the constraint is true; [`NONE`] if it has none of its own,
    pub seat: u32,
    /// but one in a group (see `groups.rs`).
    pub group: u32,
}

impl Element {
    /// One of a variable that is not active.
    #[inline]
    pub fn new(weight: f64, constraint: u32, variable: u32) -> Element {
        Element { weight, constraint, variable, previous: NONE, next: NONE, seat: NONE, group: NONE }
    }

    /// Acknowledgements and wifi shares, which weigh less than 1, take no slot.
    #[inline]
    pub fn takes_slot(&self) -> bool {
        self.weight >= 1.0
    }
}

/// All the elements. Blocks of neighbours are given out in powers of two and used again.
#[derive(Clone, Default, Debug)]
pub(super) struct Elements {
    all: Vec<Element>,
    free: Vec<Vec<u32>>,
}

impl Elements {
    /// A block of `count` neighbours.
    #[inline]
    pub fn allocate(&mut self, count: usize) -> u32 {
        if count == 0 {
            return 0;
        }
        let class = size_class(count);
        if let Some(first) = self.free.get_mut(class).and_then(Vec::pop) {
            return first;
        }
        let first = self.all.len();
        assert!(first + (1 << class) < NONE as usize, "too many uses of resources at once");
        self.all.resize(first + (1 << class), Element::new(0.0, NONE, NONE));
        first as u32
    }

    #[inline]
    pub fn release(&mut self, first: u32, count: usize) {
        if count == 0 {
            return;
        }
        let class = size_class(count);
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        self.free[class].push(first);
    }

    #[inline]
    pub fn at_mut(&mut self, element: u32) -> &mut Element {
        &mut self.all[element as usize]
    }

    #[inline]
    pub fn at(&self, element: u32) -> &Element {
        &self.all[element as usize]
    }

    #[inline]
    pub fn constraint(&self, element: u32) -> u32 {
        self.all[element as usize].constraint
    }

    #[inline]
    pub fn variable(&self, element: u32) -> u32 {
        self.all[element as usize].variable
    }

    #[inline]
    pub fn weight(&self, element: u32) -> f64 {
        self.all[element as usize].weight
    }

    #[inline]
    pub fn next(&self, element: u32) -> u32 {
        self.all[element as usize].next
    }

    /// Acknowledgements and wifi shares, which weigh less than 1, take no slot.
    #[inline]
    pub fn takes_slot(&self, element: u32) -> bool {
        self.all[element as usize].weight >= 1.0
    }

    #[inline]
    pub fn push_back(&mut self, list: &mut List, element: u32) {
        self.all[element as usize].previous = list.tail;
        self.all[element as usize].next = NONE;
        match list.tail {
            NONE => list.head = element,
            tail => self.all[tail as usize].next = element,
        }
        list.tail = element;
    }

    /// A block of neighbours.
    #[inline]
    pub fn block(&self, first: u32, count: u32) -> &[Element] {
        &self.all[first as usize..][..count as usize]
    }

    /// A block of neighbours, as far as there is one.
    #[inline]
    pub fn some_block(&self, first: u32, count: u32) -> &[Element] {
        self.all.get(first as usize..first as usize + count as usize).unwrap_or_default()
    }

    /// A block of neighbours.
    #[inline]
    pub fn block_mut(&mut self, first: u32, count: u32) -> &mut [Element] {
        &mut self.all[first as usize..][..count as usize]
    }

    /// Adds an element in front of another of a list.
    pub fn insert_before(&mut self, list: &mut List, element: u32, after: u32) {
        let previous = std::mem::replace(&mut self.all[after as usize].previous, element);
        self.all[element as usize].previous = previous;
        self.all[element as usize].next = after;
        match previous {
            NONE => list.head = element,
            before => self.all[before as usize].next = element,
        }
    }

    #[inline]
    pub fn previous(&self, element: u32) -> u32 {
        self.all[element as usize].previous
    }

    #[inline]
    pub fn unlink(&mut self, list: &mut List, element: u32) {
        let Element { previous, next, .. } = self.all[element as usize];
        match previous {
            NONE => list.head = next,
            before => self.all[before as usize].next = next,
        }
        match next {
            NONE => list.tail = previous,
            after => self.all[after as usize].previous = previous,
        }
    }

    pub fn iter(&self, list: &List) -> impl Iterator<Item = u32> + '_ {
        let head = list.head;
        std::iter::successors((head != NONE).then_some(head), |&element| {
            let next = self.next(element);
            (next != NONE).then_some(next)
        })
    }
}

pub(super) fn size_class(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}
