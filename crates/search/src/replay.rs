//! Following a schedule, step by step; where it cannot be followed, it says so.

use std::fmt;

use crate::system::System;

/// A schedule that was followed to its end, or to the violation that was looked for.
#[derive(Clone, Debug)]
pub struct Followed<Transition, Violation> {
    /// What each step did.
    pub transitions: Vec<Transition>,
    /// The violations, in the order in which they came, each with how many steps had been taken then. A deadlock is
    /// known at the end.
    pub violations: Vec<(usize, Violation)>,
}

/// A schedule of a system that was followed.
pub type FollowedOf<S> = Followed<<S as System>::Transition, <S as System>::Violation>;

impl<Transition, Violation: PartialEq> Followed<Transition, Violation> {
    /// How many steps had been taken when a violation came; `None` if it did not.
    pub fn came(&self, violation: &Violation) -> Option<usize> {
        self.violations.iter().find(|(_, came)| came == violation).map(|(steps, _)| *steps)
    }
}

/// Where a schedule cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impossible<Step> {
    /// How many steps were taken.
    pub taken: usize,
    /// The step that is not possible then.
    pub step: Step,
    /// What is possible instead.
    pub possible: Vec<Step>,
}

impl<Step: fmt::Debug + fmt::Display> std::error::Error for Impossible<Step> {}

impl<Step: fmt::Display> fmt::Display for Impossible<Step> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} ({}) is not possible there", self.taken + 1, self.step)?;
        if self.possible.is_empty() {
            return f.write_str("; nothing is");
        }
        let steps: Vec<_> = self.possible.iter().map(ToString::to_string).collect();
        write!(f, "; possible are {}", steps.join(", "))
    }
}

/// Starts anew and follows a schedule.
///
/// # Errors
/// Where it cannot be followed.
pub fn follow<S: System>(system: &mut S, schedule: &[S::Step]) -> Result<FollowedOf<S>, Impossible<S::Step>> {
    let mut follower = Follower::new(system);
    for &step in schedule {
        follower.take(step)?;
    }
    Ok(follower.end())
}

/// Follows a schedule that is given step by step.
pub struct Follower<'s, S: System> {
    /// The system, to look at between two steps.
    pub system: &'s mut S,
    followed: FollowedOf<S>,
    enabled: Vec<S::Transition>,
}

impl<'s, S: System> Follower<'s, S> {
    /// Starts anew.
    pub fn new(system: &'s mut S) -> Self {
        system.reset();
        let followed = Followed { transitions: Vec::new(), violations: Vec::new() };
        let mut follower = Self { system, followed, enabled: Vec::new() };
        follower.note_violations();
        follower
    }

    /// Whether a step can be taken now.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&mut self, step: S::Step) -> Result<(), Impossible<S::Step>> {
        self.enabled.clear();
        self.system.enabled(&mut self.enabled);
        if self.enabled.iter().any(|transition| S::step(transition) == step) {
            return Ok(());
        }
        let possible = self.enabled.iter().map(S::step).collect();
        Err(Impossible { taken: self.followed.transitions.len(), step, possible })
    }

    /// Takes a step: gives what it did.
    ///
    /// # Errors
    /// If it is not possible.
    pub fn take(&mut self, step: S::Step) -> Result<&S::Transition, Impossible<S::Step>> {
        self.check(step)?;
        let transition = self.system.execute(step);
        self.followed.transitions.push(transition);
        self.note_violations();
        Ok(self.followed.transitions.last().expect("just taken"))
    }

    /// The violations until now, each with how many steps had been taken then.
    pub fn violations(&self) -> &[(usize, S::Violation)] {
        &self.followed.violations
    }

    /// All steps were taken: whether this is a deadlock is known now.
    pub fn end(mut self) -> FollowedOf<S> {
        self.enabled.clear();
        self.system.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            let steps = self.followed.transitions.len();
            let violations = self.system.at_end(&mut self.followed.transitions.iter().map(S::step));
            self.followed.violations.extend(violations.into_iter().map(|violation| (steps, violation)));
        }
        self.followed
    }

    fn note_violations(&mut self) {
        let (steps, known) = (self.followed.transitions.len(), self.followed.violations.len());
        let new = (known..self.system.violation_count()).map(|index| (steps, self.system.violation(index)));
        self.followed.violations.extend(new);
    }
}
