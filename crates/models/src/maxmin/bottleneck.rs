//! Equal shares of each bottleneck, the fairness of parallel tasks.
//!
//! Where max-min gives equal progress, this gives each user of a constraint an equal part of its capacity,
//! whatever its weight; what one cannot use, because another constraint or its bound is in the way, goes to
//! the others, round after round. (The "fair bottleneck" of SimGrid's L07 model.)
//!
//! What a solution needs of constraints and elements is copied to rows of its own, one after the other, since each of its many rounds reads
//! all of that: a round visits the variables that still grow and the constraints that these use, and nothing else.

use super::storage::{FixedBy, Sharing, State};
use super::{ConstraintId, System, VariableId};

/// What a solution works with, kept from one to the next so that nothing is allocated.
#[derive(Clone, Default, Debug)]
pub(super) struct Rows {
    /// By constraint: its row in this solution.
    places: Vec<u32>,
    constraints: Vec<Row>,
    /// The constraints that somebody uses who grows.
    live: Vec<u32>,
    variables: Vec<Growing>,
    /// The rows of the constraints that variables use, and the weights.
    uses: Vec<(u32, f64)>,
    /// The variables that still grow, by their rows.
    growing: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// A constraint that somebody uses.
#[derive(Clone, Debug)]
struct Row {
    number: u32,
    is_fat: bool,
    remaining: f64,
    /// Less than this is nothing.
    dust: f64,
    /// How many uses of it there are by those who grow.
    users: u32,
    /// What it offers to each of them in this round, and what they take.
    part: f64,
    taken: f64,
}

/// A variable that is to be solved.
#[derive(Clone, Debug)]
struct Growing {
    index: u32,
    first: u32,
    last: u32,
    bound: f64,
    value: f64,
    cause: FixedBy,
}

/// Gives a value to every active variable.
pub(super) fn solve(system: &mut System) {
    let mut rows = std::mem::take(&mut system.rows);
    rows.fill(system);
    while !rows.growing.is_empty() {
        rows.grow();
        rows.stop();
    }
    rows.write_back(system);
    system.rows = rows;
}

impl Rows {
    fn fill(&mut self, system: &System) {
        self.places.clear();
        self.places.resize(system.constraints.len(), NONE);
        self.constraints.clear();
        self.variables.clear();
        self.uses.clear();
        for (index, variable) in (0..).zip(&system.variables) {
            if variable.state != State::Active || variable.count == 0 {
                continue;
            }
            let first = self.uses.len() as u32;
            for used in system.uses(VariableId(index)) {
                let place = &mut self.places[used.constraint.index()];
                if *place == NONE {
                    *place = self.constraints.len() as u32;
                    let constraint = &system.constraints[used.constraint.index()];
                    self.constraints.push(Row {
                        number: used.constraint.0,
                        is_fat: constraint.sharing == Sharing::FatPipe,
                        remaining: constraint.capacity,
                        dust: constraint.capacity * system.precision,
                        users: 0,
                        part: 0.0,
                        taken: 0.0,
                    });
                }
                self.constraints[*place as usize].users += 1;
                self.uses.push((*place, used.weight));
            }
            let last = self.uses.len() as u32;
            let (bound, cause) = (variable.bound, FixedBy::Nothing);
            self.variables.push(Growing { index, first, last, bound, value: 0.0, cause });
        }
        self.live.clear();
        self.live.extend(0..self.constraints.len() as u32);
        self.growing.clear();
        self.growing.extend(0..self.variables.len() as u32);
    }

    /// Each variable takes the least of what its constraints offer to it.
    fn grow(&mut self) {
        let Self { constraints, live, variables, uses, growing, .. } = self;
        live.retain(|&place| {
            let row = &mut constraints[place as usize];
            // All users of a fat pipe have all of it.
            let users = if row.is_fat { 1.0 } else { f64::from(row.users) };
            row.part = row.remaining.max(0.0) / users;
            row.taken = 0.0;
            row.users > 0
        });
        for &place in growing.iter() {
            let variable = &mut variables[place as usize];
            let uses = &uses[variable.first as usize..variable.last as usize];
            let growth = uses.iter().fold(variable.bound - variable.value, |growth, &(place, weight)| {
                growth.min(constraints[place as usize].part / weight)
            });
            variable.value += growth;
            for &(place, weight) in uses {
                let row = &mut constraints[place as usize];
                let part = weight * growth;
                row.taken = if row.is_fat { row.taken.max(part) } else { row.taken + part };
            }
        }
        for &place in live.iter() {
            let row = &mut constraints[place as usize];
            row.remaining -= row.taken;
        }
    }

    /// Whoever cannot grow any more leaves the others.
    fn stop(&mut self) {
        let Self { constraints, variables, uses, growing, .. } = self;
        growing.retain(|&place| {
            let variable = &mut variables[place as usize];
            let uses = &uses[variable.first as usize..variable.last as usize];
            variable.cause = stopped_by(variable, uses, constraints);
            let goes_on = variable.cause == FixedBy::Nothing;
            if !goes_on {
                uses.iter().for_each(|&(place, _)| constraints[place as usize].users -= 1);
            }
            goes_on
        });
    }

    fn write_back(&self, system: &mut System) {
        let mut solved = self.variables.iter().peekable();
        for (index, variable) in (0..).zip(&mut system.variables) {
            if variable.state != State::Active {
                continue;
            }
            system.variables_solved += 1;
            let (value, cause) = match solved.next_if(|solved| solved.index == index) {
                Some(solved) => (solved.value, solved.cause),
                None => (variable.bound, FixedBy::Nothing),
            };
            variable.fixed_by = cause;
            if variable.value != value {
                variable.value = value;
                system.changed.push(VariableId(index));
            }
        }
        system.touched.extend((0..system.constraints.len()).map(|c| ConstraintId(c as u32)));
    }
}

/// Why a variable cannot grow any more, if it cannot.
fn stopped_by(variable: &Growing, uses: &[(u32, f64)], constraints: &[Row]) -> FixedBy {
    if variable.value >= variable.bound * (1.0 - 1e-12) {
        return FixedBy::Bound;
    }
    let rows = uses.iter().map(|&(place, _)| &constraints[place as usize]);
    let full = rows.into_iter().find(|row| row.remaining <= row.dust);
    full.map_or(FixedBy::Nothing, |row| FixedBy::Constraint(ConstraintId(row.number)))
}
