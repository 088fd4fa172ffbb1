//! Members of pools (`maxmin/pool.rs`) as actions: they are dated in virtual time, on the clock of their pool.

use super::Models;
use crate::actions::{Actions, Engine};
use crate::heap::{EventHeap, Lane};
use crate::maxmin::{Standing, System};
use crate::virtual_time::{Newcomer, VirtualTime};

/// After a solution: puts those that came to a pool on its clock, and dates those that left one by themselves.
#[inline]
pub(super) fn follow_pools(
    system: &mut System,
    ends: &mut VirtualTime,
    actions: &mut Actions,
    dates: &mut EventHeap,
    now: f64,
) {
    if !system.moved().is_empty() || !system.pool_levels().is_empty() {
        follow(system, ends, actions, dates, now);
        system.clear_moved();
    }
}

fn follow(system: &System, ends: &mut VirtualTime, actions: &mut Actions, dates: &mut EventHeap, now: f64) {
    // Whose first end may be another, though the level is not.
    let mut visited: Vec<u32> = Vec::new();
    for &variable in system.moved() {
        let Some(standing) = system.standing(variable) else { continue };
        let index = system.tag(variable);
        let action = actions.at_mut(index);
        if let Some(clock) = ends.clock_of(index) {
            action.remaining = ends.remove(index, now);
            (action.rate, action.updated) = (0.0, now);
            visited.push(clock);
        }
        match standing {
            Standing::Level(clock) => {
                visited.push(clock);
                action.settle(now);
                action.rate = 0.0;
                if action.remaining <= 0.0 {
                    dates.set_ranked(Lane::Ends, index, now, action.order as u32);
                } else {
                    dates.remove(index);
                    let weight = action.factor / system.penalty(variable);
                    let (order, work) = (action.order, action.remaining);
                    ends.insert(clock, Newcomer { thing: index, order, work, weight }, now);
                }
            }
            Standing::Own => action.set_share(index, system.value(variable), now, dates),
        }
    }
    for &(clock, level) in system.pool_levels() {
        if ends.has_clock(clock) {
            ends.set_level(clock, level, now);
            visited.push(clock);
        }
    }
    visited.sort_unstable();
    visited.dedup();
    visited.retain(|&clock| ends.has_clock(clock));
    visited.into_iter().for_each(|clock| ends.date_first(clock, dates));
}

impl Models {
    /// An action that is on the clock of a pool leaves it; the next on this clock may end at this instant too.
    #[inline]
    pub(super) fn leave_clock(&mut self, index: u32) {
        let Models { actions, network, cpu, network_dates, host_dates, now, .. } = self;
        let action = actions.at_mut(index);
        let (ends, dates) = match action.engine {
            Engine::Network => (&mut network.ends, network_dates),
            Engine::Cpu => (&mut cpu.ends, host_dates),
            _ => return,
        };
        if let Some(clock) = ends.clock_of(index) {
            action.remaining = ends.remove(index, *now);
            (action.rate, action.updated) = (0.0, *now);
            ends.date_first(clock, dates);
        }
    }
}
