//! What local states would decide a property, put together (figure 9, checkSystemInvariant).

use std::collections::BTreeMap;

use simurgh_search::StateSpace;
use simurgh_watchdog::Code;

use crate::evaluate::{Found, PANICS, failed};
use crate::local::bits::Bits;
use crate::local::graph::Graph;
use crate::node::Health;
use crate::property::Kind;
use crate::session::{Decided, Session};

/// Which system states are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Those that a property can tell apart.
    Opt,
    /// All.
    Gen,
}

/// A question: can these be there at the same time?
pub(crate) struct Goal {
    /// What a real system state of this kind decides.
    pub(crate) decides: Decided,
    /// For each actor, the states that it has to be in; nothing if any will do.
    pub(crate) targets: Vec<Option<Bits>>,
}

/// All questions that the local states give rise to.
pub(crate) fn goals(session: &mut Session<'_>, graph: &Graph, mode: Mode) -> Vec<Goal> {
    let (properties, open) = (&session.system.properties, session.open.clone());
    let mut goals = Goals { session, graph, found: Vec::new() };
    for actor in 0..graph.actors() {
        let failed = |state: &u32| goals.session.space.facts(actor, *state).health == Health::Failed;
        let failed = graph.seen(actor).iter().filter(failed).collect();
        goals.push(Decided::Panic, [(actor, failed)]);
    }
    if mode == Mode::Gen {
        goals.of_all(&open);
        return goals.found;
    }
    for property in open {
        match &properties[property].condition.kind {
            Kind::Local(_) => goals.of_one(property),
            Kind::Pairwise(_) => goals.of_two(property),
            Kind::Projected(pairs, _) => goals.of_keys(property, *pairs),
            Kind::Global(_) | Kind::World(_) | Kind::History(_) => goals.of_all(&[property]),
        }
    }
    goals.found
}

/// Whether the boundary panics in a system state: it sees all of it, so all of them have to be made.
pub(crate) fn of_boundary(session: &mut Session<'_>, graph: &Graph) -> Option<Goal> {
    session.system.within.as_ref()?;
    let mut goals = Goals { session, graph, found: Vec::new() };
    let mut targets = vec![Bits::default(); graph.actors()];
    goals.system_states(&mut Made::default(), &mut |session, state| {
        session.is_within(state);
        if session.broken_boundary().is_some() {
            note(&mut targets, state);
        }
    });
    goals.push(Decided::Broken(Code::Boundary), targets.into_iter().enumerate());
    goals.found.pop()
}

/// The states of an actor by what is kept of them.
type Classes = BTreeMap<Option<u32>, Bits>;

/// With more combinations of keys than this, one question is asked for all of them.
const COMBINATIONS_MAX: usize = 32;

/// Questions that are being put together.
struct Goals<'s, 'a> {
    session: &'s mut Session<'a>,
    graph: &'s Graph,
    found: Vec<Goal>,
}

impl<'a> Goals<'_, 'a> {
    /// Some actors have to be in some states, if there are any.
    fn push(&mut self, decides: Decided, of_actors: impl IntoIterator<Item = (usize, Bits)>) {
        let mut targets = vec![None; self.graph.actors()];
        for (actor, states) in of_actors {
            if states.is_empty() {
                return;
            }
            targets[actor] = Some(states);
        }
        self.found.push(Goal { decides, targets });
    }

    /// A condition on one state is decided by each actor alone.
    fn of_one(&mut self, property: usize) {
        let wanted = Some(self.session.evaluator.deciding(property));
        for actor in 0..self.graph.actors() {
            let Session { evaluator, space, .. } = &mut *self.session;
            let decides = |state: &u32| evaluator.of_one(property, space, (actor, *state)) == wanted;
            let states = self.graph.seen(actor).iter().filter(decides).collect();
            self.push(Decided::Property(property), [(actor, states)]);
        }
    }

    /// A condition on pairs is decided by each two, if they may be there together.
    fn of_two(&mut self, property: usize) {
        let (graph, wanted) = (self.graph, Some(self.session.evaluator.deciding(property)));
        for (left, right) in pairs(self.graph.actors()) {
            let (mut of_left, mut of_right) = (Bits::default(), Bits::default());
            let everyone: Bits = (0..graph.count(right)).collect();
            for state in 0..graph.count(left) {
                if state % 256 == 255 && self.session.over_often(graph.progress()) {
                    return;
                }
                let Session { evaluator, space, report, .. } = &mut *self.session;
                let coexistence = graph.coexistence(left, state, right).unwrap_or(&everyone);
                let plain = graph.plain(left, state);
                for other in coexistence.iter() {
                    let other = graph.plain(right, other);
                    // With causal histories, the same two meet more than once.
                    if graph.causes.are_told_apart && of_left.get(plain) && of_right.get(other) {
                        continue;
                    }
                    if evaluator.of_two_anew(property, space, [(left, plain), (right, other)]) == wanted {
                        report.system_states += 1;
                        of_left.set(plain);
                        of_right.set(other);
                    }
                }
            }
            self.push(Decided::Property(property), [(left, of_left), (right, of_right)]);
        }
    }

    /// A condition on projections is decided by what they keep of all actors together; where what holds of each two holds of all,
    /// by two that do not, with the others as they like.
    fn of_keys(&mut self, property: usize, pairs: bool) {
        let mut classes: Vec<Classes> = vec![BTreeMap::new(); self.graph.actors()];
        for (actor, classes) in classes.iter_mut().enumerate() {
            let Session { evaluator, space, .. } = &mut *self.session;
            for state in self.graph.seen(actor).iter() {
                classes.entry(evaluator.key(property, space, (actor, state))).or_default().set(state);
            }
            let panics = classes.extract_if(.., |key, _| *key == Some(PANICS));
            for (_, states) in panics.collect::<Vec<_>>() {
                self.push(Decided::Property(property), [(actor, states)]);
            }
        }
        if pairs && !self.session.evaluator.deciding(property) {
            return self.of_two_keys(property, &classes);
        }
        let (keys, chosen, found, union) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut all = Together { property, classes: &classes, keys, chosen, found, union };
        let everyone = (0..self.graph.actors()).map(|actor| (0..self.graph.count(actor)).collect()).collect();
        self.combine(&mut all, everyone);
        for targets in if all.found.len() > COMBINATIONS_MAX { vec![all.union] } else { all.found } {
            self.push(Decided::Property(property), targets.into_iter().enumerate());
        }
    }

    fn of_two_keys(&mut self, property: usize, classes: &[Classes]) {
        let with_key =
            |actor: usize| classes[actor].iter().filter_map(|(key, states)| Some(((*key)?, states)));
        for left in 0..self.graph.actors() {
            for (key, states) in with_key(left) {
                for right in left + 1..self.graph.actors() {
                    for (other_key, others) in with_key(right) {
                        if !self.session.evaluator.of_keys(property, &[key, other_key]) {
                            self.session.report.system_states += 1;
                            let of_left = in_company(self.graph, (left, states), (right, others));
                            let of_right = in_company(self.graph, (right, others), (left, states));
                            self.push(Decided::Property(property), [(left, of_left), (right, of_right)]);
                        }
                    }
                }
            }
        }
    }

    /// Goes on with the next actor: which states of all may be there with those that were chosen of the actors before.
    fn combine(&mut self, all: &mut Together<'_>, possible: Vec<Bits>) {
        let (actor, graph) = (all.keys.len(), self.graph);
        let Some(classes) = all.classes.get(actor) else {
            self.session.is_over(graph.progress());
            let present: Vec<u32> = all.keys.iter().copied().flatten().collect();
            let evaluator = &mut self.session.evaluator;
            if evaluator.of_keys(all.property, &present) == evaluator.deciding(all.property) {
                self.session.report.system_states += 1;
                all.take();
            }
            return;
        };
        for (key, states) in classes {
            if self.session.cut.is_some() {
                return;
            }
            let is_meant = |state: &u32| states.get(graph.plain(actor, *state));
            let here: Bits = possible[actor].iter().filter(is_meant).collect();
            if here.is_empty() {
                continue;
            }
            let mut possible = possible.clone();
            for (other, possible) in possible.iter_mut().enumerate().skip(actor + 1) {
                let mut coexistence = Bits::default();
                let mut meet =
                    |state: u32| graph.coexistence(actor, state, other).map(|met| coexistence.add(met));
                if here.iter().all(|state| meet(state).is_some()) {
                    *possible = possible.and(&coexistence);
                }
            }
            all.keys.push(*key);
            all.chosen.push(here.iter().map(|state| graph.plain(actor, state)).collect());
            self.combine(all, possible);
            all.chosen.pop();
            all.keys.pop();
        }
    }

    /// Makes all system states whose members may be there together, and looks at the properties in each.
    fn of_all(&mut self, properties: &[usize]) {
        let mut targets = vec![vec![Bits::default(); self.graph.actors()]; properties.len()];
        self.system_states(&mut Made::default(), &mut |session, state| {
            session.report.system_states += 1;
            if failed(&session.space, state, None) {
                return;
            }
            for (&property, targets) in properties.iter().zip(&mut targets) {
                if session.evaluator.decides(property, Found { space: &session.space, state }, None) {
                    note(targets, state);
                }
            }
        });
        for (&property, targets) in properties.iter().zip(targets) {
            self.push(Decided::Property(property), targets.into_iter().enumerate());
        }
    }

    fn system_states(&mut self, made: &mut Made, see: &mut impl FnMut(&mut Session<'a>, &[u32])) {
        let (actor, graph) = (made.plain.len(), self.graph);
        if actor == self.graph.actors() {
            see(self.session, &made.plain);
            self.session.is_over(graph.progress());
            return;
        }
        let mut possible: Bits = (0..graph.count(actor)).collect();
        for (other, &chosen) in made.numbers.iter().enumerate() {
            if let Some(coexistence) = graph.coexistence(other, chosen, actor) {
                possible = possible.and(coexistence);
            }
        }
        for one in possible.iter() {
            if self.session.cut.is_some() {
                return;
            }
            made.numbers.push(one);
            made.plain.push(graph.plain(actor, one));
            self.system_states(made, see);
            made.plain.pop();
            made.numbers.pop();
        }
    }
}

/// Each two actors, once.
fn pairs(actors: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..actors).flat_map(move |left| (left + 1..actors).map(move |right| (left, right)))
}

/// Those of some states that may be there together with one of some states of another actor.
fn in_company(graph: &Graph, (actor, states): (usize, &Bits), (other, others): (usize, &Bits)) -> Bits {
    let with_pasts = |actor: usize, states: &Bits| -> Bits {
        (0..graph.count(actor)).filter(|state| states.get(graph.plain(actor, *state))).collect()
    };
    let others = with_pasts(other, others);
    let meets = |state: &u32| {
        graph.coexistence(actor, *state, other).is_none_or(|coexistence| coexistence.meets(&others))
    };
    with_pasts(actor, states).iter().filter(meets).map(|state| graph.plain(actor, state)).collect()
}

/// Combinations of what is kept of all actors that decide a property.
struct Together<'a> {
    property: usize,
    classes: &'a [Classes],
    /// What is kept of the first actors, and their states of which that is kept: the combination that is being made.
    keys: Vec<Option<u32>>,
    chosen: Vec<Bits>,
    /// For each combination, the states of each actor.
    found: Vec<Vec<Bits>>,
    /// The same for all combinations at once.
    union: Vec<Bits>,
}

impl Together<'_> {
    fn take(&mut self) {
        if self.found.len() <= COMBINATIONS_MAX {
            self.found.push(self.chosen.clone());
        }
        self.union.resize(self.chosen.len(), Bits::default());
        self.union.iter_mut().zip(&self.chosen).for_each(|(union, states)| union.add(states));
    }
}

/// A system state that is being made: the states of the first actors, with their causal histories and without.
#[derive(Default)]
struct Made {
    numbers: Vec<u32>,
    plain: Vec<u32>,
}

fn note(targets: &mut [Bits], state: &[u32]) {
    targets.iter_mut().zip(state).for_each(|(states, local)| _ = states.set(*local));
}
