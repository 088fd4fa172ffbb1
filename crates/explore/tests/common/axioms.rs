//! What the reductions rely on, at every reachable state of a program. The names of the axioms are used in `optimal.rs`.

use std::collections::BTreeSet;

use simurgh_explore::transition::{Fate, Kind, Transition};
use simurgh_explore::{Step, System};

use super::{Played, observed};

/// What is known of a step at a state: the step, and what is possible after it.
struct After {
    taken: Transition,
    then: Vec<Transition>,
}

impl After {
    /// The step as it is possible after this one.
    fn later(&self, step: Step) -> Option<&Transition> {
        self.then.iter().find(|transition| transition.step == step)
    }

    /// What a process can do after this step.
    fn outcomes(&self, process: u64) -> impl Iterator<Item = &Transition> {
        self.then.iter().filter(move |transition| transition.process() == process)
    }
}

/// Checks the axioms at so many states at most; says which does not hold.
pub fn check(system: &mut Played, most: usize) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![Vec::new()];
    while let Some(schedule) = todo.pop() {
        let here = possible(system, &schedule, &[]);
        if !seen.insert((system.state_key(), observed())) {
            continue;
        }
        if seen.len() > most {
            return Ok(());
        }
        let after: Vec<After> = here
            .iter()
            .map(|taken| After { taken: taken.clone(), then: possible(system, &schedule, &[taken.step]) })
            .collect();
        let wrong = |what: String| Err(format!("{what}\nafter {schedule:?}"));
        for a in &after {
            if let Some(made) = enables(&here, a) {
                return wrong(format!("enabling: {:?} makes possible {made:?}", a.taken));
            }
            for b in after.iter().filter(|b| b.taken.process() != a.taken.process()) {
                pair(&here, a, b).or_else(wrong)?;
                if let Some(x) = after.iter().find(|x| hides(a, b, x)) {
                    return wrong(format!("hiding: {:?} and {:?} hide {:?}", a.taken, b.taken, x.taken));
                }
            }
            for b in after.iter().filter(|b| b.taken.process() == a.taken.process()) {
                if let Some(x) = after.iter().find(|x| told_apart(a, b, x)) {
                    return wrong(format!("outcomes: {:?}, {:?} and {:?}", a.taken, b.taken, x.taken));
                }
            }
        }
        for (index, a) in here.iter().enumerate() {
            for b in &here[index + 1..] {
                if a.process() != b.process() && !Played::dependent(a, b) {
                    let orders = [[a.step, b.step], [b.step, a.step]];
                    let [one, other] = orders.map(|order| {
                        let enabled = possible(system, &schedule, &order);
                        (system.state_key(), observed(), enabled)
                    });
                    if one != other {
                        return wrong(format!("commuting: {a:?} and {b:?}\n{one:?}\n{other:?}"));
                    }
                }
            }
            todo.push(schedule.iter().copied().chain([a.step]).collect());
        }
    }
    Ok(())
}

fn possible(system: &mut Played, schedule: &[Step], more: &[Step]) -> Vec<Transition> {
    system.reset();
    schedule.iter().chain(more).for_each(|&step| drop(system.execute(step)));
    let mut enabled = Vec::new();
    system.enabled(&mut enabled);
    enabled
}

/// Enabling: what a step makes possible depends on it.
fn enables<'a>(here: &[Transition], a: &'a After) -> Option<&'a Transition> {
    let is_new = |made: &&Transition| !here.iter().any(|before| before.step == made.step);
    let others = a.then.iter().filter(|made| made.process() != a.taken.process());
    others.filter(is_new).find(|made| !Played::dependent(&a.taken, made))
}

fn pair(here: &[Transition], a: &After, b: &After) -> Result<(), String> {
    let (taken, other) = (&a.taken, &b.taken);
    let later = a.later(other.step);
    if Played::dependent(taken, other) {
        match later {
            // Symmetry: two steps depend on each other in both orders, or in none.
            Some(later) if !Played::dependent(taken, later) => {
                Err(format!("symmetry: {taken:?} and {other:?}, then {later:?}"))
            }
            // Disabling: a process can do something else instead.
            None if !Played::disables(taken)
                && !Played::blocks(taken, other)
                && a.outcomes(other.process()).next().is_none() =>
            {
                Err(format!("disabling: {taken:?} and {other:?}"))
            }
            _ => Ok(()),
        }
    } else {
        // Independence: nothing changes for an independent step, nor for its other outcomes.
        if later != Some(other) && !uses_up(taken, other) {
            return Err(format!("independence: {taken:?} and {other:?}, then {later:?}"));
        }
        let process = other.process();
        let before: Vec<Step> = here.iter().filter(|t| t.process() == process).map(|t| t.step).collect();
        let then: Vec<Step> = a.outcomes(process).map(|t| t.step).collect();
        if before != then && !here.iter().any(|t| t.process() == process && !Played::stays(t)) {
            return Err(format!("outcomes: {taken:?} changes {other:?}: {before:?}, {then:?}"));
        }
        Ok(())
    }
}

/// Whether one more of its kind is lost, or comes twice: `actors::faults` says why this may be independent.
fn uses_up(a: &Transition, b: &Transition) -> bool {
    let fate = |t: &Transition| if let Kind::Submit { fate, .. } = t.kind { Some(fate) } else { None };
    fate(a) == fate(b) && fate(a).is_some_and(|fate| fate != Fate::Kept)
}

/// Outcomes: what depends on one outcome of a request depends on all of them.
fn told_apart(a: &After, b: &After, x: &After) -> bool {
    let stay = Played::stays(&a.taken) && Played::stays(&b.taken);
    let process = x.taken.process();
    stay && process != a.taken.process()
        && Played::dependent(&a.taken, &x.taken) != Played::dependent(&b.taken, &x.taken)
}

/// Hiding: where a step changes what a process does, what depends on that it would have done depends on one of the two as well,
/// or would have left it as it was.
fn hides(a: &After, b: &After, x: &After) -> bool {
    let processes = [a, b, x].map(|step| step.taken.process());
    processes[2] != processes[0]
        && processes[2] != processes[1]
        && Played::dependent(&a.taken, &b.taken)
        && !Played::dependent(&a.taken, &x.taken)
        && Played::dependent(&b.taken, &x.taken)
        && a.outcomes(processes[1]).any(|instead| !Played::dependent(instead, &x.taken))
        && x.later(b.taken.step) != Some(&b.taken)
}
