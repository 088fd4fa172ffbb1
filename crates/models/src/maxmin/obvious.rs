//! Everything afresh, plainly: the oracle of the incremental solver.
//!
//! Repeatedly: find the constraints that leave least for a penalty of 1, and fix the variables on them, either
//! all at that share, or only those whose bound is lower, the lowest bound first.

use super::storage::{FixedBy, Sharing, State};
use super::{ConstraintId, System, VariableId};

/// Gives a value to every active variable.
pub(super) fn solve(system: &mut System) {
    let count = system.constraints.len();
    let mut remaining: Vec<f64> = system.constraints.iter().map(|constraint| constraint.capacity).collect();
    let mut fixed: Vec<Option<(f64, FixedBy)>> = vec![None; system.variables.len()];
    let mut usage: Vec<f64> = (0..count).map(|c| fresh_usage(system, c, &fixed)).collect();
    let mut left: Vec<usize> = (0..count).filter(|&c| usage[c] > 0.0).collect();

    while !left.is_empty() {
        let share = |c: usize| remaining[c] / usage[c];
        let least = left.iter().map(|&c| share(c)).fold(f64::INFINITY, f64::min);
        let full: Vec<usize> = left.iter().copied().filter(|&c| share(c) == least).collect();
        let mut candidates = Vec::new();
        for &c in &full {
            for user in system.active_users(ConstraintId(c as u32)).map(VariableId::index) {
                if fixed[user].is_none() && candidates.iter().all(|&(other, _)| other != user) {
                    candidates.push((user, c));
                }
            }
        }
        let reach = |user: usize| system.variables[user].bound * system.variables[user].penalty;
        let lowest = candidates.iter().map(|&(user, _)| reach(user)).fold(f64::INFINITY, f64::min);
        if lowest < least {
            candidates.retain(|&(user, _)| (reach(user) - lowest).abs() < system.precision);
        }
        for &(user, c) in &candidates {
            let variable = &system.variables[user];
            let (value, cause) = match lowest < least {
                true => (variable.bound, FixedBy::Bound),
                false => (least / variable.penalty, FixedBy::Constraint(ConstraintId(c as u32))),
            };
            fixed[user] = Some((value, cause));
            for used in system.uses(VariableId(user as u32)) {
                let c = used.constraint.index();
                match system.constraints[c].sharing {
                    Sharing::Shared => {
                        remaining[c] -= used.weight * value;
                        usage[c] -= used.weight / variable.penalty;
                    }
                    Sharing::FatPipe => usage[c] = fresh_usage(system, c, &fixed),
                }
            }
        }
        let is_left = |&c: &usize| {
            let dust = system.constraints[c].capacity * system.precision;
            usage[c] >= system.precision
                && remaining[c] >= dust
                && !(candidates.is_empty() && full.contains(&c))
        };
        left.retain(is_left);
    }
    write_back(system, &fixed);
}

/// The sum, or for a fat pipe the maximum, of weight / penalty of the active variables not fixed yet.
fn fresh_usage(system: &System, c: usize, fixed: &[Option<(f64, FixedBy)>]) -> f64 {
    let constraint = &system.constraints[c];
    let parts = system.elements.iter(&constraint.active).filter_map(|element| {
        let variable = system.elements.variable(element) as usize;
        fixed[variable]
            .is_none()
            .then(|| system.elements.weight(element) / system.variables[variable].penalty)
    });
    match constraint.sharing {
        Sharing::Shared => parts.sum(),
        Sharing::FatPipe => parts.fold(0.0, f64::max),
    }
}

fn write_back(system: &mut System, fixed: &[Option<(f64, FixedBy)>]) {
    for (index, variable) in system.variables.iter_mut().enumerate() {
        if variable.state != State::Active {
            continue;
        }
        system.variables_solved += 1;
        let unused =
            if variable.count == 0 { (variable.bound, FixedBy::Bound) } else { (0.0, FixedBy::Nothing) };
        let (value, cause) = fixed[index].unwrap_or(unused);
        variable.fixed_by = cause;
        if variable.value != value {
            variable.value = value;
            system.changed.push(VariableId(index as u32));
        }
    }
    system.touched.extend((0..system.constraints.len()).map(|c| ConstraintId(c as u32)));
}
