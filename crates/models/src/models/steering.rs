//! Changing one piece of work that is under way.

use super::Models;
use crate::actions::{Engine, Phase};
use crate::work::ActionId;

impl Models {
    /// Forgets an action: it is never reported. Unknown and ended ones are ignored.
    pub fn cancel(&mut self, action: ActionId) {
        if let Some(index) = self.actions.find(action) {
            self.release(index);
        }
    }

    /// Makes an action stand still. The wait of a flow goes on.
    pub fn suspend(&mut self, action: ActionId) {
        let Some(index) = self.actions.find(action) else { return };
        if self.actions.at(index).suspended {
            return;
        }
        self.promote_if_uncontended(index);
        let now = self.now;
        let variable = self.variable_of(index);
        let date = self.dates_of(index).date(index);
        self.leave_clock(index);
        let action = self.actions.at_mut(index);
        action.suspended = true;
        if action.phase == Phase::Waiting {
            return;
        }
        match action.engine {
            Engine::Timer => action.remaining = date.map_or(0.0, |date| date - now),
            Engine::Disk => {}
            _ => action.settle(now),
        }
        action.rate = 0.0;
        match action.engine {
            Engine::Timer => {}
            Engine::Cpu => self.cpu.system.set_penalty(variable, 0.0),
            Engine::Network => self.network.system.set_penalty(variable, 0.0),
            Engine::Uncontended => unreachable!("it joined the others"),
            Engine::Disk => self.leave_disk(index),
            Engine::Parallel => self.parallel.system.set_penalty(variable, 0.0),
        }
        self.dates_of(index).remove(index);
        self.explain_suspension(index);
    }

    /// Lets a suspended action go on.
    pub fn resume(&mut self, action: ActionId) {
        let Some(index) = self.actions.find(action) else { return };
        let now = self.now;
        let action = self.actions.at_mut(index);
        if !action.suspended {
            return;
        }
        action.suspended = false;
        if action.phase == Phase::Waiting {
            return;
        }
        action.updated = now;
        let (engine, remaining) = (action.engine, action.remaining);
        if engine == Engine::Timer {
            self.dates_of(index).set(index, now + remaining);
        } else if remaining <= 0.0 {
            self.dates_of(index).set(index, now);
        } else {
            self.activate(index);
        }
    }

    /// Changes the share of an action compared to the others; 1 is usual. Parallel tasks, and executions with
    /// several threads, have no priority.
    pub fn set_priority(&mut self, action: ActionId, priority: f64) {
        let Some(index) = self.actions.find(action) else { return };
        self.promote_if_uncontended(index);
        let variable = self.variable_of(index);
        let action = self.actions.at(index);
        let active = !action.suspended && action.phase == Phase::Moving && action.remaining > 0.0;
        match action.engine {
            Engine::Timer | Engine::Parallel | Engine::Uncontended => {}
            Engine::Cpu => self.cpu.set_priority(variable, priority, !active),
            Engine::Network => self.network.set_priority(variable, priority, active),
            Engine::Disk => {
                self.leave_disk(index);
                self.actions.at_mut(index).factor = priority;
                if active {
                    self.activate(index);
                }
            }
        }
    }

    /// Changes the most that an action may get, in flop/s or B/s. Disk operations, and executions with several
    /// threads, have no bound.
    pub fn set_bound(&mut self, action: ActionId, bound: Option<f64>) {
        let Some(index) = self.actions.find(action) else { return };
        self.promote_if_uncontended(index);
        let variable = self.variable_of(index);
        match self.actions.at(index).engine {
            Engine::Timer | Engine::Disk | Engine::Uncontended => {}
            Engine::Cpu => self.cpu.set_bound(variable, bound),
            Engine::Network => self.network.set_rate(variable, bound),
            Engine::Parallel => self.parallel.set_bound(variable, bound, &self.cpu),
        }
    }

    /// The work left now: flops (of all threads together), bytes, seconds of a timer, the part left (1 to 0) of a parallel task.
    pub fn remaining(&self, action: ActionId) -> Option<f64> {
        let index = self.actions.find(action)?;
        let action = self.actions.at(index);
        Some(match action.engine {
            Engine::Timer => match self.host_dates.date(index) {
                Some(date) => (date - self.now).max(0.0),
                None => action.remaining,
            },
            Engine::Disk if self.disks.ends.clock_of(index).is_some() => {
                self.disks.ends.left(index, self.now)
            }
            Engine::Network if self.network.ends.clock_of(index).is_some() => {
                self.network.ends.left(index, self.now)
            }
            Engine::Cpu if self.cpu.ends.clock_of(index).is_some() => self.cpu.ends.left(index, self.now),
            _ => action.remaining_at(self.now),
        })
    }
}
