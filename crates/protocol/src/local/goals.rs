//! What local states would decide a property, put together (figure 9, checkSystemInvariant).

use std::collections::BTreeMap;

use crate::actor::Data;
use crate::evaluate::is_panic;
use crate::local::bits::Bits;
use crate::local::graph::Graph;
use crate::node::Health;
use crate::property::{Kind, Mode as When};
use crate::session::{Code, Decided, Session};

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
pub(crate) fn goals<M: Data>(session: &mut Session<'_, M>, graph: &Graph, mode: Mode) -> Vec<Goal> {
    let actors = session.space.actors();
    let mut goals = Vec::new();
    for actor in 0..actors {
        let failed = |state: &u32| session.space.facts(actor, *state).health == Health::Failed;
        let failed: Bits = graph.seen(actor).iter().filter(failed).collect();
        push(&mut goals, Decided::Panic, actors, &[(actor, &failed)]);
    }
    let open = session.open().to_vec();
    if mode == Mode::Gen {
        for_all(session, graph, &open, &mut goals);
        return goals;
    }
    for property in open {
        match &session.system.properties[property].condition.0 {
            Kind::Local { .. } => for_one(session, graph, property, &mut goals),
            Kind::Pairwise { .. } => for_two(session, graph, property, &mut goals),
            Kind::Projected { .. } => for_keys(session, graph, property, &mut goals),
            Kind::Global(_) | Kind::World(_) | Kind::History(_) => {
                for_all(session, graph, &[property], &mut goals)
            }
        }
    }
    goals
}

fn push(goals: &mut Vec<Goal>, decides: Decided, actors: usize, targets: &[(usize, &Bits)]) {
    if targets.iter().all(|(_, states)| !states.is_empty()) {
        let mut all = vec![None; actors];
        for (actor, states) in targets {
            all[*actor] = Some((*states).clone());
        }
        goals.push(Goal { decides, targets: all });
    }
}

fn wanted<M: Data>(session: &Session<'_, M>, property: usize) -> bool {
    session.system.properties[property].mode == When::Sometimes
}

/// A condition on one state is decided by each actor alone.
fn for_one<M: Data>(session: &mut Session<'_, M>, graph: &Graph, property: usize, goals: &mut Vec<Goal>) {
    let (actors, wanted) = (session.space.actors(), wanted(session, property));
    for actor in 0..actors {
        let decides =
            |state: &u32| session.evaluator.of_one(property, &session.space, actor, *state) == Some(wanted);
        let states: Bits = graph.seen(actor).iter().filter(decides).collect();
        push(goals, Decided::Property(property), actors, &[(actor, &states)]);
    }
}

/// A condition on pairs is decided by each two, if they may be there together.
fn for_two<M: Data>(session: &mut Session<'_, M>, graph: &Graph, property: usize, goals: &mut Vec<Goal>) {
    let (actors, wanted) = (session.space.actors(), wanted(session, property));
    for left in 0..actors {
        for right in left + 1..actors {
            let (mut of_left, mut of_right) = (Bits::default(), Bits::default());
            let everyone: Bits = (0..graph.count(right)).collect();
            for state in 0..graph.count(left) {
                if state % 256 == 255 && session.over_often(graph.states, graph.depth as usize) {
                    return;
                }
                let company = graph.company(left, state, right).unwrap_or(&everyone);
                let plain = graph.plain(left, state);
                for other in company.iter() {
                    let other = graph.plain(right, other);
                    // With pasts, the same two meet more than once.
                    if graph.has_pasts() && of_left.get(plain) && of_right.get(other) {
                        continue;
                    }
                    let pair = ((left, plain), (right, other));
                    if session.evaluator.of_two_anew(property, &session.space, pair.0, pair.1) == Some(wanted)
                    {
                        session.report.system_states += 1;
                        of_left.set(plain);
                        of_right.set(other);
                    }
                }
            }
            push(goals, Decided::Property(property), actors, &[(left, &of_left), (right, &of_right)]);
        }
    }
}

/// A condition on projections is decided by what they keep of all actors together; where what holds of each two holds of all, by
/// two that do not, with the others as they like.
fn for_keys<M: Data>(session: &mut Session<'_, M>, graph: &Graph, property: usize, goals: &mut Vec<Goal>) {
    let (actors, wanted) = (session.space.actors(), wanted(session, property));
    let mut classes: Vec<Classes> = vec![BTreeMap::new(); actors];
    for (actor, classes) in classes.iter_mut().enumerate() {
        for state in graph.seen(actor).iter() {
            let key = session.evaluator.key(property, &session.space, actor, state);
            classes.entry(key).or_default().set(state);
        }
        if let Some((_, states)) = classes.iter().find(|(key, _)| key.is_some_and(is_panic)) {
            push(goals, Decided::Property(property), actors, &[(actor, states)]);
        }
        classes.retain(|key, _| !key.is_some_and(is_panic));
    }
    let pairs =
        matches!(session.system.properties[property].condition.0, Kind::Projected { pairs: true, .. });
    if pairs && !wanted {
        for_two_keys(session, graph, property, &classes, goals);
    } else {
        let mut all = Together { property, graph, classes: &classes, found: Vec::new(), union: Vec::new() };
        let everyone = (0..actors).map(|actor| (0..graph.count(actor)).collect()).collect();
        all.combine(session, &mut Vec::new(), &mut Vec::new(), everyone);
        for targets in if all.found.len() > COMBINATIONS_MAX { vec![all.union] } else { all.found } {
            let targets: Vec<(usize, &Bits)> = targets.iter().enumerate().collect();
            push(goals, Decided::Property(property), actors, &targets);
        }
    }
}

/// The states of an actor by what is kept of them.
type Classes = BTreeMap<Option<u32>, Bits>;

/// With more combinations of keys than this, one question is asked for all of them.
const COMBINATIONS_MAX: usize = 32;

fn for_two_keys<M: Data>(
    session: &mut Session<'_, M>,
    graph: &Graph,
    property: usize,
    classes: &[Classes],
    goals: &mut Vec<Goal>,
) {
    let actors = classes.len();
    let with_key = |actor: usize| classes[actor].iter().filter_map(|(key, states)| Some(((*key)?, states)));
    for left in 0..actors {
        for (key, states) in with_key(left) {
            for right in left + 1..actors {
                for (other_key, others) in with_key(right) {
                    if !session.evaluator.of_keys(property, &[key, other_key]) {
                        session.report.system_states += 1;
                        let of_left = in_company(graph, left, states, right, others);
                        let of_right = in_company(graph, right, others, left, states);
                        let targets = [(left, &of_left), (right, &of_right)];
                        push(goals, Decided::Property(property), actors, &targets);
                    }
                }
            }
        }
    }
}

/// Those of some states that may be there together with one of some states of another actor.
fn in_company(graph: &Graph, actor: usize, states: &Bits, other: usize, others: &Bits) -> Bits {
    let with_pasts = |actor: usize, states: &Bits| -> Bits {
        (0..graph.count(actor)).filter(|state| states.get(graph.plain(actor, *state))).collect()
    };
    let others = with_pasts(other, others);
    let meets =
        |state: &u32| graph.company(actor, *state, other).is_none_or(|company| company.meets(&others));
    with_pasts(actor, states).iter().filter(meets).map(|state| graph.plain(actor, state)).collect()
}

/// Combinations of what is kept of all actors that decide a property.
struct Together<'a> {
    property: usize,
    graph: &'a Graph,
    classes: &'a [Classes],
    /// For each combination, the states of each actor.
    found: Vec<Vec<Bits>>,
    /// The same for all combinations at once.
    union: Vec<Bits>,
}

impl Together<'_> {
    /// Goes on with the next actor: `keys` and `chosen` states of those before, and which states of all may be there with those.
    fn combine<M: Data>(
        &mut self,
        session: &mut Session<'_, M>,
        keys: &mut Vec<Option<u32>>,
        chosen: &mut Vec<Bits>,
        possible: Vec<Bits>,
    ) {
        let actor = keys.len();
        let Some(classes) = self.classes.get(actor) else {
            session.over(self.graph.states, self.graph.depth as usize);
            let present: Vec<u32> = keys.iter().copied().flatten().collect();
            if session.evaluator.of_keys(self.property, &present) == wanted(session, self.property) {
                session.report.system_states += 1;
                self.take(chosen);
            }
            return;
        };
        for (key, states) in classes {
            if session.cut.is_some() {
                return;
            }
            let graph = self.graph;
            let is_meant = |state: &u32| states.get(graph.plain(actor, *state));
            let here: Bits = possible[actor].iter().filter(is_meant).collect();
            if here.is_empty() {
                continue;
            }
            let mut possible = possible.clone();
            for (other, possible) in possible.iter_mut().enumerate().skip(actor + 1) {
                let mut company = Bits::default();
                if here
                    .iter()
                    .all(|state| graph.company(actor, state, other).map(|met| company.add(met)).is_some())
                {
                    *possible = possible.and(&company);
                }
            }
            keys.push(*key);
            chosen.push(here.iter().map(|state| graph.plain(actor, state)).collect());
            self.combine(session, keys, chosen, possible);
            chosen.pop();
            keys.pop();
        }
    }

    fn take(&mut self, chosen: &[Bits]) {
        if self.found.len() <= COMBINATIONS_MAX {
            self.found.push(chosen.to_vec());
        }
        self.union.resize(chosen.len(), Bits::default());
        self.union.iter_mut().zip(chosen).for_each(|(union, states)| union.add(states));
    }
}

/// Makes all system states whose members may be there together, and looks at the properties in each.
fn for_all<M: Data>(
    session: &mut Session<'_, M>,
    graph: &Graph,
    properties: &[usize],
    goals: &mut Vec<Goal>,
) {
    let actors = session.space.actors();
    let mut targets: Vec<Vec<Bits>> = vec![vec![Bits::default(); actors]; properties.len()];
    system_states(session, graph, &mut Made::default(), &mut |session, state| {
        session.report.system_states += 1;
        for (&property, targets) in properties.iter().zip(&mut targets) {
            if session.evaluator.decides(property, &session.space, state, None) {
                note(targets, state);
            }
        }
    });
    for (property, targets) in properties.iter().zip(&targets) {
        let targets: Vec<(usize, &Bits)> = targets.iter().enumerate().collect();
        push(goals, Decided::Property(*property), actors, &targets);
    }
}

/// Whether the boundary panics in a system state: it sees all of it, so all of them have to be made.
pub(crate) fn for_boundary<M: Data>(session: &mut Session<'_, M>, graph: &Graph) -> Option<Goal> {
    session.system.within.as_ref()?;
    let actors = session.space.actors();
    let mut targets = vec![Bits::default(); actors];
    system_states(session, graph, &mut Made::default(), &mut |session, state| {
        session.within(state);
        if session.broken_boundary().is_some() {
            note(&mut targets, state);
        }
    });
    let mut goals = Vec::new();
    let targets: Vec<(usize, &Bits)> = targets.iter().enumerate().collect();
    push(&mut goals, Decided::Broken(Code::Boundary), actors, &targets);
    goals.pop()
}

fn note(targets: &mut [Bits], state: &[u32]) {
    for (states, local) in targets.iter_mut().zip(state) {
        states.set(*local);
    }
}

/// A system state that is being made: the states of the first actors, with their pasts and without.
#[derive(Default)]
struct Made {
    numbers: Vec<u32>,
    plain: Vec<u32>,
}

fn system_states<M: Data>(
    session: &mut Session<'_, M>,
    graph: &Graph,
    made: &mut Made,
    see: &mut impl FnMut(&mut Session<'_, M>, &[u32]),
) {
    let actor = made.plain.len();
    if actor == session.space.actors() {
        see(session, &made.plain);
        session.over(graph.states, graph.depth as usize);
        return;
    }
    let mut possible: Bits = (0..graph.count(actor)).collect();
    for (other, &chosen) in made.numbers.iter().enumerate() {
        if let Some(company) = graph.company(other, chosen, actor) {
            possible = possible.and(company);
        }
    }
    for one in possible.iter() {
        if session.cut.is_some() {
            return;
        }
        made.numbers.push(one);
        made.plain.push(graph.plain(actor, one));
        system_states(session, graph, made, see);
        made.plain.pop();
        made.numbers.pop();
    }
}
