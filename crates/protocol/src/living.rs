//! A node that lives one life: its handlers run once for each thing that happens, and what they ask for is carried out by
//! somebody else. This is where the types of an actor end, as in `node`, but nothing is remembered of the past.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::actor::{Actor, After, Command, Out};
use crate::ids::ActorId;
use crate::node::{Event, Health, Recovery, nobody, quietly};

/// Who answers the choices of a handler.
pub(crate) type Chooser = Box<dyn FnMut(usize) -> usize + Send>;

/// What a handler asked for; timers are numbers.
pub(crate) enum Wish<M> {
    Send(ActorId, M),
    SetTimer(usize, After),
    CancelTimer(usize),
}

/// What came of something that happened.
pub(crate) struct Ran<M> {
    pub(crate) wishes: Vec<Wish<M>>,
    pub(crate) choices: Vec<usize>,
    /// Whether anything is different: the state, the timers, or what is under way.
    pub(crate) effective: bool,
}

/// A node that lives one life.
pub(crate) trait Living<M>: Send {
    fn name(&self) -> String;
    fn start(&mut self, choose: Chooser) -> Ran<M>;
    fn execute(&mut self, event: Event<'_, M>, choose: Chooser) -> Ran<M>;
    fn health(&self) -> Health;
    /// The state of a node that is up.
    fn state(&self) -> Option<&dyn Any>;
    fn text(&self) -> String;
    fn timer_text(&self, timer: usize) -> String;
    /// Why it has failed, if it has.
    fn failure(&self) -> Option<&str>;
}

enum Now<S, D> {
    Up(S),
    Down(D),
    Failed(String),
    Unborn,
}

pub(crate) struct OneLife<A: Actor, R: Recovery<A>> {
    me: ActorId,
    actors: usize,
    actor: Arc<A>,
    resumed: Option<(A::State, Vec<A::Timer>)>,
    now: Now<A::State, R::Stored>,
    /// All timers that were ever set; the number of one is its place.
    timers: Vec<A::Timer>,
    set: BTreeSet<usize>,
}

impl<A: Actor, R: Recovery<A>> OneLife<A, R> {
    pub(crate) fn new(
        me: ActorId,
        actors: usize,
        actor: Arc<A>,
        resumed: Option<(A::State, Vec<A::Timer>)>,
    ) -> Self {
        Self { me, actors, actor, resumed, now: Now::Unborn, timers: Vec::new(), set: BTreeSet::new() }
    }

    fn number(&mut self, timer: A::Timer) -> usize {
        let known = self.timers.iter().position(|other| *other == timer);
        known.unwrap_or_else(|| {
            self.timers.push(timer);
            self.timers.len() - 1
        })
    }

    /// Runs a handler that starts from a state or from nothing.
    fn run(&mut self, choose: Chooser, handler: impl FnOnce(&A, &mut Out<A>) -> A::State) -> Ran<A::Msg> {
        let before = self.set.clone();
        self.run_after(&before, choose, handler)
    }

    /// The same, if these timers were set before.
    fn run_after(
        &mut self,
        before: &BTreeSet<usize>,
        choose: Chooser,
        handler: impl FnOnce(&A, &mut Out<A>) -> A::State,
    ) -> Ran<A::Msg> {
        let mut out = Out::new(self.me, choose);
        let ended = quietly(|| handler(&self.actor, &mut out));
        let (commands, choices) = out.into_asked();
        let ended = ended.and_then(|state| match nobody(&commands, self.actors) {
            Some(to) => Err(format!("a message to actor {to}, but there are {} actors", self.actors)),
            None => Ok(state),
        });
        let state = match ended {
            Ok(state) => state,
            // What the handler asked for before it panicked does not happen, as in a search.
            Err(why) => {
                self.now = Now::Failed(why);
                let wishes = std::mem::take(&mut self.set).into_iter().map(Wish::CancelTimer).collect();
                return Ran { wishes, choices, effective: true };
            }
        };
        let mut effective = !matches!(&self.now, Now::Up(before) if *before == state);
        self.now = Now::Up(state);
        let wishes = commands
            .into_iter()
            .map(|command| match command {
                Command::Send { to, msg } => {
                    effective = true;
                    Wish::Send(to, msg)
                }
                Command::SetTimer { timer, after } => {
                    let timer = self.number(timer);
                    self.set.insert(timer);
                    Wish::SetTimer(timer, after)
                }
                Command::CancelTimer { timer } => {
                    let timer = self.number(timer);
                    self.set.remove(&timer);
                    Wish::CancelTimer(timer)
                }
            })
            .collect();
        Ran { wishes, choices, effective: effective || self.set != *before }
    }
}

impl<A: Actor, R: Recovery<A>> Living<A::Msg> for OneLife<A, R> {
    fn name(&self) -> String {
        self.actor.name()
    }

    fn start(&mut self, choose: Chooser) -> Ran<A::Msg> {
        let Some((state, timers)) = self.resumed.clone() else {
            return self.run(choose, |actor, out| actor.on_start(out));
        };
        self.now = Now::Up(state);
        let soon = After(std::time::Duration::ZERO..std::time::Duration::from_secs(1));
        let set = |timer| {
            let timer = self.number(timer);
            self.set.insert(timer);
            Wish::SetTimer(timer, soon.clone())
        };
        Ran { wishes: timers.into_iter().map(set).collect(), choices: Vec::new(), effective: true }
    }

    fn execute(&mut self, event: Event<'_, A::Msg>, choose: Chooser) -> Ran<A::Msg> {
        let nothing = Ran { wishes: Vec::new(), choices: Vec::new(), effective: false };
        match (&self.now, event) {
            (Now::Up(state), Event::Deliver(from, msg)) => {
                let mut state = state.clone();
                self.run(choose, |actor, out| {
                    actor.on_msg(&mut state, from, msg, out);
                    state
                })
            }
            (Now::Up(state), Event::Timeout(timer)) if self.set.contains(&timer) => {
                let (mut state, name) = (state.clone(), self.timers[timer].clone());
                let before = self.set.clone();
                self.set.remove(&timer);
                self.run_after(&before, choose, |actor, out| {
                    actor.on_timeout(&mut state, &name, out);
                    state
                })
            }
            (Now::Up(state), Event::Crash) => {
                self.now = Now::Down(R::stored(&self.actor, state));
                let wishes = std::mem::take(&mut self.set).into_iter().map(Wish::CancelTimer).collect();
                Ran { wishes, effective: true, ..nothing }
            }
            (Now::Down(stored), Event::Recover) => {
                let stored = stored.clone();
                self.run(choose, |actor, out| R::recover(actor, &stored, out))
            }
            _ => nothing,
        }
    }

    fn health(&self) -> Health {
        match self.now {
            Now::Up(_) => Health::Up,
            Now::Down(_) | Now::Unborn => Health::Down,
            Now::Failed(_) => Health::Failed,
        }
    }

    fn state(&self) -> Option<&dyn Any> {
        match &self.now {
            Now::Up(state) => Some(state),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match &self.now {
            Now::Up(state) => format!("{state:?}"),
            Now::Down(stored) => format!("down, stored {stored:?}"),
            Now::Failed(why) => format!("failed: {why}"),
            Now::Unborn => "not started".to_owned(),
        }
    }

    fn timer_text(&self, timer: usize) -> String {
        format!("{:?}", self.timers[timer])
    }

    fn failure(&self) -> Option<&str> {
        match &self.now {
            Now::Failed(why) => Some(why),
            _ => None,
        }
    }
}
