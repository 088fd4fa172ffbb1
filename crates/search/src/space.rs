//! Systems whose states are values: what comes after a state is found without going there.
//!
//! A state is a short list of numbers; what they mean only the space knows. Searches over states ([`bfs`](mod@crate::bfs),
//! [`states`](mod@crate::states), [`liveness`](mod@crate::liveness)) need no more than this. The interned states of protocols are such a space, and
//! so is every [`System`](crate::System), by `stepped`: there a number stands for the steps to a state.

/// Which steps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Those that lead to another state as far as conditions can tell: enough for what is asked of states.
    Effective,
    /// Those without any effect, too: what goes on for ever without effect matters to liveness.
    All,
}

/// A state that comes next.
#[derive(Clone, Copy, Debug)]
pub struct Successor<Step> {
    /// By which step.
    pub step: Step,
    /// What the state is known by.
    pub key: u128,
    start: u32,
    end: u32,
}

/// States that come next, one behind the other. With [`Successors::mark`] and [`Successors::truncate`], a stack.
#[derive(Debug)]
pub struct Successors<Step> {
    /// The states: whoever adds one puts its numbers here, then calls [`Successors::push`].
    pub data: Vec<u32>,
    /// What leads to them.
    pub list: Vec<Successor<Step>>,
}

impl<Step> Default for Successors<Step> {
    fn default() -> Self {
        Self { data: Vec::new(), list: Vec::new() }
    }
}

impl<Step> Successors<Step> {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.truncate((0, 0));
    }

    /// The numbers from this place on are a state.
    ///
    /// # Panics
    /// If there are more than four billion numbers.
    pub fn push(&mut self, step: Step, key: u128, start: usize) {
        let end = u32::try_from(self.data.len()).expect("the states of a path fit in 16 GiB");
        self.list.push(Successor { step, key, start: start as u32, end });
    }

    /// The numbers of a state.
    pub fn state(&self, successor: &Successor<Step>) -> &[u32] {
        &self.data[successor.start as usize..successor.end as usize]
    }

    /// How long it is: (states, numbers).
    pub fn mark(&self) -> (usize, usize) {
        (self.list.len(), self.data.len())
    }

    /// Goes back to how long it was.
    pub fn truncate(&mut self, (list, data): (usize, usize)) {
        self.list.truncate(list);
        self.data.truncate(data);
    }
}

/// A state on a path: what comes after it lies on a stack from `next` to `end`; before it, the stack was at `mark`.
pub(crate) struct Frame {
    pub(crate) next: usize,
    pub(crate) end: usize,
    pub(crate) mark: (usize, usize),
}

impl<Step: Copy> Successors<Step> {
    /// Takes what comes next after a state on a path.
    pub(crate) fn next(&self, frame: &mut Frame) -> Option<Successor<Step>> {
        let next = (frame.next < frame.end).then(|| self.list[frame.next]);
        frame.next += usize::from(next.is_some());
        next
    }
}

/// States one behind the other.
#[derive(Default, Debug)]
pub struct Level {
    data: Vec<u32>,
    ends: Vec<usize>,
}

impl Level {
    pub(crate) fn push(&mut self, state: &[u32]) {
        self.data.extend_from_slice(state);
        self.ends.push(self.data.len());
    }

    /// One of the states.
    pub fn get(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.data[start..self.ends[at]]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }
}

/// How much a search has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The distinct states.
    pub states: usize,
    /// The steps from state to state.
    pub transitions: u64,
    /// The most steps from a start.
    pub depth: usize,
}

/// What leads from a start to something that was found, and perhaps round a cycle there.
#[derive(Clone, Debug)]
pub struct Lasso<Step> {
    /// The number of the start.
    pub start: usize,
    /// The steps, each with the state in which it is made.
    pub steps: Vec<(Vec<u32>, Step)>,
    /// For what goes on for ever: after the last step, all is as it was before the step with this number.
    pub back_to: Option<usize>,
}

/// States, what comes after them, and what is asked of them.
pub trait StateSpace {
    /// What leads from a state to another.
    type Step: Copy;

    /// What a state may show.
    type Finding: Copy;

    /// The states that it can start in.
    fn starts(&mut self) -> Vec<Vec<u32>>;

    /// What a state is known by: the same for states that nothing tells apart.
    fn key(&mut self, state: &[u32]) -> u128;

    /// Puts the states that come after one behind those in `out`. What is found on the way is about that state.
    fn expand(
        &mut self,
        steps: Steps,
        state: &[u32],
        out: &mut Successors<Self::Step>,
    ) -> Option<Self::Finding>;

    /// Expands states by [`Steps::Effective`], from this number on, each into a list of its own; several threads may. Ends with the
    /// first about which something is found.
    fn expand_block(
        &mut self,
        level: &Level,
        first: usize,
        lists: &mut [Successors<Self::Step>],
    ) -> Option<(usize, Self::Finding)> {
        lists.iter_mut().enumerate().find_map(|(at, list)| {
            list.clear();
            self.expand(Steps::Effective, level.get(first + at), list).map(|finding| (first + at, finding))
        })
    }

    /// How many threads expand a block.
    fn workers(&self) -> usize {
        1
    }

    /// Whether a state is within the boundary of what is looked at.
    fn is_within(&mut self, _state: &[u32]) -> bool {
        true
    }

    /// What a new state shows, which is within the boundary; it was come to by this step.
    fn look(&mut self, state: &[u32], step: Option<Self::Step>) -> Vec<Self::Finding>;

    /// Takes note of something that was found.
    fn found(&mut self, finding: Self::Finding, way: Lasso<Self::Step>);

    /// Whether there is anything left to look for.
    fn wants_more(&self) -> bool;

    /// Whether the search has to end, asked after every state.
    fn is_over(&mut self, seen: Seen) -> bool;

    /// Whether nothing is to be looked at beyond so many steps; if so, that is noted.
    fn is_cut(&mut self, depth: usize) -> bool;

    /// Whether a state is to be compared with others that have the same key, by its number.
    fn is_sample(&self, _number: usize) -> bool {
        false
    }

    /// Compares a state with others that have the same key. The last of these states is it; the others lead to it from a start.
    fn compare(&mut self, _number: usize, _way: &[&[u32]]) {}

    /// Is told of each state that was come to, however often.
    fn meet(&mut self, _state: &[u32], _key: u128) {}
}
