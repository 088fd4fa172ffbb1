//! The nodes of a system as a checker sees them: local states are numbers, and handlers lead from one to others.
//!
//! This is where the types of an actor end: above, a system of several kinds of actors is made of numbers alone.

use std::any::Any;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use crate::actor::{Actor, Command, Data, Durable, Out, next_script};
use crate::ids::ActorId;
use crate::intern::Interner;
use crate::living::{Living, OneLife};

/// What can happen to a node.
#[derive(Clone, Copy)]
pub(crate) enum Event<'a, M> {
    Deliver(ActorId, &'a M),
    Timeout(usize),
    Crash,
    Recover,
}

/// One thing that a handler may lead to, by the choices that it made.
pub(crate) struct Outcome<M> {
    pub(crate) local: u32,
    pub(crate) sends: Vec<(ActorId, M)>,
    pub(crate) choices: Vec<usize>,
}

/// How a node is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Up,
    Down,
    Failed,
}

/// A node whose local states are numbers.
pub(crate) trait Node<M>: Send + Sync {
    fn name(&self) -> String;
    fn start(&mut self) -> Vec<Outcome<M>>;
    fn execute(&mut self, local: u32, event: Event<'_, M>) -> Vec<Outcome<M>>;
    fn timers(&self, local: u32) -> usize;
    fn timer_text(&self, local: u32, timer: usize) -> String;
    fn health(&self, local: u32) -> Health;
    /// The state of a node that is up.
    fn state(&self, local: u32) -> Option<&dyn Any>;
    fn text(&self, local: u32) -> String;
    fn hash(&self, local: u32, permutation: usize) -> u128;
    fn len(&self) -> usize;
}

/// Makes nodes: a system keeps these, and each search makes nodes of its own.
pub(crate) trait Kind<M>: Send + Sync {
    fn node(&self, me: ActorId, actors: usize, permutations: Arc<Vec<Vec<u32>>>) -> Box<dyn Node<M>>;
    /// A node that lives one life.
    fn living(&self, me: ActorId, actors: usize) -> Box<dyn Living<M>>;
}

/// What becomes of an actor that crashes.
pub(crate) trait Recovery<A: Actor>: Send + Sync + 'static {
    type Stored: Data;
    fn stored(actor: &A, state: &A::State) -> Self::Stored;
    fn recover(actor: &A, stored: &Self::Stored, out: &mut Out<A>) -> A::State;
}

/// It starts anew.
pub(crate) struct Anew;

impl<A: Actor> Recovery<A> for Anew {
    type Stored = ();
    fn stored(_: &A, _: &A::State) {}
    fn recover(actor: &A, (): &(), out: &mut Out<A>) -> A::State {
        actor.on_start(out)
    }
}

/// It starts from what is on its disk.
pub(crate) struct FromDisk;

impl<A: Durable> Recovery<A> for FromDisk {
    type Stored = A::Stored;
    fn stored(actor: &A, state: &A::State) -> A::Stored {
        actor.stored(state)
    }
    fn recover(actor: &A, stored: &A::Stored, out: &mut Out<A>) -> A::State {
        actor.on_recover(stored, out)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Local<S, T, D> {
    Up { state: S, timers: Vec<T> },
    Down { stored: D },
    Failed { why: String },
}

type LocalOf<A, R> = Local<<A as Actor>::State, <A as Actor>::Timer, <R as Recovery<A>>::Stored>;

/// An actor, where it starts from if that is not its beginning, and what becomes of it in a crash.
pub(crate) struct Kept<A: Actor, R> {
    pub(crate) actor: Arc<A>,
    pub(crate) resumed: Option<(A::State, Vec<A::Timer>)>,
    pub(crate) recovery: std::marker::PhantomData<fn() -> R>,
}

impl<A: Actor, R: Recovery<A>> Kind<A::Msg> for Kept<A, R> {
    fn node(&self, me: ActorId, actors: usize, permutations: Arc<Vec<Vec<u32>>>) -> Box<dyn Node<A::Msg>> {
        let locals = Interner::new(permutations.len());
        let (actor, resumed) = (Arc::clone(&self.actor), self.resumed.clone());
        Box::new(Typed::<A, R> { me, actors, actor, resumed, locals, permutations })
    }

    fn living(&self, me: ActorId, actors: usize) -> Box<dyn Living<A::Msg>> {
        Box::new(OneLife::<A, R>::new(me, actors, Arc::clone(&self.actor), self.resumed.clone()))
    }
}

struct Typed<A: Actor, R: Recovery<A>> {
    me: ActorId,
    actors: usize,
    actor: Arc<A>,
    resumed: Option<(A::State, Vec<A::Timer>)>,
    locals: Interner<LocalOf<A, R>>,
    permutations: Arc<Vec<Vec<u32>>>,
}

impl<A: Actor, R: Recovery<A>> Typed<A, R> {
    fn intern(&mut self, local: LocalOf<A, R>) -> u32 {
        let me = self.me;
        self.locals.intern(local, &self.permutations, || crate::hash::fingerprint(&me))
    }

    /// Runs a handler once for every way to choose.
    fn outcomes(
        &mut self,
        timers: &[A::Timer],
        handler: impl Fn(&A, &mut Out<A>) -> A::State,
    ) -> Vec<Outcome<A::Msg>> {
        let mut outcomes = Vec::new();
        let mut script = Some(Vec::new());
        while let Some(prescribed) = script {
            let mut out = Out::scripted(self.me, prescribed);
            let ended = quietly(|| handler(&self.actor, &mut out));
            let (commands, choices, options) = out.into_parts();
            let ended = ended.and_then(|state| match nobody(&commands, self.actors) {
                Some(to) => Err(format!("a message to actor {to}, but there are {} actors", self.actors)),
                None => Ok(state),
            });
            let mut sends = Vec::new();
            let local = match ended {
                Ok(state) => {
                    let mut timers = timers.to_vec();
                    for command in commands {
                        match command {
                            Command::Send { to, msg } => sends.push((to, msg)),
                            Command::SetTimer { timer, .. } => {
                                if let Err(at) = timers.binary_search(&timer) {
                                    timers.insert(at, timer);
                                }
                            }
                            Command::CancelTimer { timer } => timers.retain(|other| *other != timer),
                        }
                    }
                    Local::Up { state, timers }
                }
                // What the handler asked for before it panicked does not happen: nothing does before it has ended.
                Err(why) => Local::Failed { why },
            };
            let local = self.intern(local);
            script = next_script(choices.clone(), &options);
            outcomes.push(Outcome { local, sends, choices });
        }
        outcomes
    }
}

impl<A: Actor, R: Recovery<A>> Node<A::Msg> for Typed<A, R> {
    fn name(&self) -> String {
        self.actor.name()
    }

    fn start(&mut self) -> Vec<Outcome<A::Msg>> {
        if let Some((state, mut timers)) = self.resumed.clone() {
            timers.sort();
            let local = self.intern(Local::Up { state, timers });
            return vec![Outcome { local, sends: Vec::new(), choices: Vec::new() }];
        }
        self.outcomes(&[], |actor, out| actor.on_start(out))
    }

    fn execute(&mut self, local: u32, event: Event<'_, A::Msg>) -> Vec<Outcome<A::Msg>> {
        let single = |local| vec![Outcome { local, sends: Vec::new(), choices: Vec::new() }];
        match (self.locals.get(local).clone(), event) {
            (Local::Up { state, timers }, Event::Deliver(from, msg)) => {
                self.outcomes(&timers, |actor, out| {
                    let mut state = state.clone();
                    actor.on_msg(&mut state, from, msg, out);
                    state
                })
            }
            (Local::Up { state, mut timers }, Event::Timeout(place)) => {
                let timer = timers.remove(place);
                self.outcomes(&timers, |actor, out| {
                    let mut state = state.clone();
                    actor.on_timeout(&mut state, &timer, out);
                    state
                })
            }
            (Local::Up { state, .. }, Event::Crash) => {
                let down = match quietly(|| R::stored(&self.actor, &state)) {
                    Ok(stored) => Local::Down { stored },
                    Err(why) => Local::Failed { why },
                };
                single(self.intern(down))
            }
            (Local::Down { stored }, Event::Recover) => {
                self.outcomes(&[], |actor, out| R::recover(actor, &stored, out))
            }
            // Nothing reaches a node that is down, and nothing happens to one that has failed.
            _ => single(local),
        }
    }

    fn timers(&self, local: u32) -> usize {
        match self.locals.get(local) {
            Local::Up { timers, .. } => timers.len(),
            Local::Down { .. } | Local::Failed { .. } => 0,
        }
    }

    fn timer_text(&self, local: u32, timer: usize) -> String {
        match self.locals.get(local) {
            Local::Up { timers, .. } => format!("{:?}", timers[timer]),
            Local::Down { .. } | Local::Failed { .. } => String::new(),
        }
    }

    fn health(&self, local: u32) -> Health {
        match self.locals.get(local) {
            Local::Up { .. } => Health::Up,
            Local::Down { .. } => Health::Down,
            Local::Failed { .. } => Health::Failed,
        }
    }

    fn state(&self, local: u32) -> Option<&dyn Any> {
        match self.locals.get(local) {
            Local::Up { state, .. } => Some(state),
            Local::Down { .. } | Local::Failed { .. } => None,
        }
    }

    fn text(&self, local: u32) -> String {
        match self.locals.get(local) {
            Local::Up { state, timers } if timers.is_empty() => format!("{state:?}"),
            Local::Up { state, timers } => format!("{state:?}, timers {timers:?}"),
            Local::Down { stored } => format!("down, stored {stored:?}"),
            Local::Failed { why } => format!("failed: {why}"),
        }
    }

    fn hash(&self, local: u32, permutation: usize) -> u128 {
        self.locals.hash(local, permutation)
    }

    fn len(&self) -> usize {
        self.locals.len()
    }
}

/// Somebody to whom a message goes who is not there.
pub(crate) fn nobody<A: Actor>(commands: &[Command<A>], actors: usize) -> Option<ActorId> {
    commands.iter().find_map(|command| match command {
        Command::Send { to, .. } if to.index() >= actors => Some(*to),
        _ => None,
    })
}

thread_local! {
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs code of a user; if it panics, gives what it said instead of printing it, since a checker comes by here often.
pub(crate) fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(outer);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or("a panic".to_owned(), |text| (*text).to_owned()),
    })
}
