//! One program on one way: one simulation, and what came of it.

use std::sync::Arc;

use simurgh_explore::receives::actors::Factory;
use simurgh_explore::receives::reads_from::ReadsFrom;
use simurgh_kernel::simcall::{Note, SpawnRequest};
use simurgh_kernel::simulation::End;
use simurgh_platform::Platform;

use super::log::{Story, Trouble};
use super::objective::{Measures, Objective};
use super::{interposer, unknown};
use crate::api::Registry;
use crate::checking::making;
use crate::error::Result;
use crate::program::{Outcome, Program};
use crate::settings::Settings;

/// Adds the actors to a program, each time it is made.
type Fill<'a> = Box<dyn Fn(&mut Program) -> Result + 'a>;

/// A program that is made again and again, and how it is simulated.
pub struct Subject<'a> {
    platform: Arc<Platform>,
    fill: Fill<'a>,
    settings: Box<dyn Fn() -> Settings + 'a>,
    seed: u64,
    registry: Arc<Registry>,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("platform", &self.platform.name()).finish_non_exhaustive()
    }
}

impl<'a> Subject<'a> {
    /// A program on a platform, to which a function adds the actors: always the same ones.
    pub fn new(platform: impl Into<Arc<Platform>>, fill: impl Fn(&mut Program) -> Result + 'a) -> Self {
        Self {
            platform: platform.into(),
            fill: Box::new(fill),
            settings: Box::new(Settings::default),
            seed: 0,
            registry: Registry::new(),
        }
    }

    /// How it is simulated.
    pub fn settings(mut self, settings: impl Fn() -> Settings + 'a) -> Self {
        self.settings = Box::new(settings);
        self
    }

    /// The seed of its randomness.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The platform.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// How many actors there are at the start.
    pub(super) fn actor_count(&self) -> Result<u32> {
        Ok(self.fresh()?.into_parts().0.len() as u32)
    }

    /// Makes it anew.
    fn fresh(&self) -> Result<Program> {
        let mut program = Program::in_registry(Arc::clone(&self.platform), self.seed, &self.registry);
        making(|| (self.fill)(&mut program))?;
        Ok(program)
    }
}

/// A run that came to a good end.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// What it came to.
    pub value: f64,
    /// All that was measured.
    pub measures: Measures,
    /// The way that it took.
    pub way: ReadsFrom,
    /// What each actor did.
    pub stories: Vec<Story>,
    /// Of a run that is left to itself: why it takes none of the ways, if it does not. To the exploration a message is
    /// there as soon as both ends are; so one that is found to be under way, or given up then, is in no way, and
    /// neither is an activity that fails.
    pub astray: Option<String>,
}

/// What became of a program on one way.
#[derive(Debug)]
pub enum Attempt {
    /// It came to a good end.
    Fine(Box<Run>, Box<Outcome>),
    /// Actors failed, or wait for ever.
    Broken(String),
    /// It cannot take this way on this platform.
    Impossible(String),
}

impl Subject<'_> {
    /// Simulates the program on one way, or as it goes by itself if there is none. `prepare` may add to the settings.
    ///
    /// # Errors
    /// If the program cannot be made or simulated, if it does something that is not steered, or if the platform says
    /// nothing about the objective.
    pub fn simulate(
        &self,
        way: Option<&ReadsFrom>,
        objective: Objective,
        prepare: impl FnOnce(&mut Settings),
    ) -> Result<Attempt> {
        let way = way.cloned().map(Arc::new);
        let mut settings = (self.settings)();
        prepare(&mut settings);
        let (program, log) = interposer::interpose(self.fresh()?, way.clone());
        let outcome = program.simulate(settings)?;
        let astray = match log.take_trouble() {
            Some(Trouble::Unknown(what)) => return Err(unknown(what)),
            Some(Trouble::Strayed { actor, what }) => Some(format!("actor {actor:?} {what}")),
            None => None,
        };
        // Whoever strays ends there. What fails before is what the program itself does on its way; what fails after
        // that is no longer its way.
        let first = outcome.report.failures.first();
        let strayed_first = first.is_none_or(|failure| failure.message == interposer::ASTRAY);
        if let (Some(obstacle), Some(_), true) = (&astray, &way, strayed_first) {
            return Ok(Attempt::Impossible(obstacle.clone()));
        }
        let behind = way.as_ref().and_then(|way| log.behind(way));
        if let (Some(actor), None) = (behind, first) {
            return Ok(Attempt::Impossible(format!("actor {actor:?} ends or waits before it has done all")));
        }
        if let Some(damage) = damage_of(&outcome) {
            return Ok(Attempt::Broken(damage));
        }
        let measures = Measures::of(&outcome);
        let value = measures.value(objective)?;
        let run = Run { value, measures, way: log.way(), stories: log.stories(), astray };
        Ok(Attempt::Fine(Box::new(run), Box::new(outcome)))
    }
}

impl Factory for &Subject<'_> {
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        // It was made before the exploration: what does not depend on anything succeeds again.
        if let Ok(program) = self.fresh() {
            let (made, shared) = program.into_parts();
            actors.extend(made);
            notes.extend(shared);
        }
    }
}

/// What went wrong in a run.
fn damage_of(outcome: &Outcome) -> Option<String> {
    if let Some(failure) = outcome.report.failures.first() {
        let (name, at) = (&failure.name, failure.at.seconds());
        return Some(format!("actor {name:?} failed at {at:.6} s: {}", failure.message));
    }
    match &outcome.report.end {
        End::Finished => None,
        End::Deadlock(blocked) => {
            let who: Vec<_> = blocked.iter().map(|blocked| blocked.name.clone()).collect();
            Some(format!("deadlock: {} wait for ever", who.join(", ")))
        }
        End::Reached | End::Interrupted => Some("the run was stopped before its end".to_owned()),
    }
}
