//! Equal shares of each bottleneck, the fairness of parallel tasks.
//!
//! Where max-min gives equal progress, this gives each user of a constraint an equal part of its capacity,
//! whatever its weight; what one cannot use, because another constraint or its bound is in the way, goes to
//! the others, round after round. (The "fair bottleneck" of SimGrid's L07 model.)

use super::storage::{FixedBy, Sharing, State};
use super::{ConstraintId, System, VariableId};

/// Gives a value to every active variable.
pub(super) fn solve(system: &mut System) {
    let mut remaining: Vec<f64> = system.constraints.iter().map(|constraint| constraint.capacity).collect();
    let mut values = vec![0.0; system.variables.len()];
    let mut causes = vec![FixedBy::Nothing; system.variables.len()];
    let active = |index: &usize| {
        let variable = &system.variables[*index];
        variable.state == State::Active && variable.count > 0
    };
    let mut growing: Vec<usize> = (0..system.variables.len()).filter(active).collect();
    while !growing.is_empty() {
        let parts = parts(system, &remaining, &growing);
        let mut taken = vec![0.0; remaining.len()];
        for &index in &growing {
            let variable = VariableId(index as u32);
            let mut growth = system.variables[index].bound - values[index];
            for used in system.uses(variable) {
                growth = growth.min(parts[used.constraint.index()] / used.weight);
            }
            values[index] += growth;
            for used in system.uses(variable) {
                let c = used.constraint.index();
                match system.constraints[c].sharing {
                    Sharing::Shared => taken[c] += used.weight * growth,
                    Sharing::FatPipe => taken[c] = f64::max(taken[c], used.weight * growth),
                }
            }
        }
        for (rest, taken) in remaining.iter_mut().zip(&taken) {
            *rest -= taken;
        }
        growing.retain(|&index| {
            causes[index] = stopped_by(system, index, values[index], &remaining);
            causes[index] == FixedBy::Nothing
        });
    }
    write_back(system, &values, &causes);
}

/// What each constraint offers to each of its users that still grow.
fn parts(system: &System, remaining: &[f64], growing: &[usize]) -> Vec<f64> {
    let mut users = vec![0.0; remaining.len()];
    for &index in growing {
        for used in system.uses(VariableId(index as u32)) {
            let c = used.constraint.index();
            match system.constraints[c].sharing {
                Sharing::Shared => users[c] += 1.0,
                Sharing::FatPipe => users[c] = 1.0,
            }
        }
    }
    remaining
        .iter()
        .zip(&users)
        .map(|(rest, users)| rest.max(0.0) / f64::max(*users, f64::MIN_POSITIVE))
        .collect()
}

/// Why a variable cannot grow any more, if it cannot.
fn stopped_by(system: &System, index: usize, value: f64, remaining: &[f64]) -> FixedBy {
    let bound = system.variables[index].bound;
    if value >= bound * (1.0 - 1e-12) {
        return FixedBy::Bound;
    }
    for used in system.uses(VariableId(index as u32)) {
        let c = used.constraint.index();
        if remaining[c] <= system.constraints[c].capacity * system.precision {
            return FixedBy::Constraint(used.constraint);
        }
    }
    FixedBy::Nothing
}

fn write_back(system: &mut System, values: &[f64], causes: &[FixedBy]) {
    for (index, variable) in system.variables.iter_mut().enumerate() {
        if variable.state != State::Active {
            continue;
        }
        system.variables_solved += 1;
        let value = if variable.count == 0 { variable.bound } else { values[index] };
        variable.fixed_by = causes[index];
        if variable.value != value {
            variable.value = value;
            system.changed.push(VariableId(index as u32));
        }
    }
    system.touched.extend((0..system.constraints.len()).map(|c| ConstraintId(c as u32)));
}
