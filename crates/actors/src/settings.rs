//! How a program is simulated.

use simurgh_kernel::event::Observer;
use simurgh_kernel::simulation::{Listener, Pacing, Watcher};

/// How a program is simulated.
#[derive(Default)]
pub struct Settings {
    /// SimGrid's configuration keys and values, applied after those of the platform.
    pub config: Vec<(String, String)>,
    /// The seed of all randomness, mixed with that of the program.
    pub seed: u64,
    /// Stops at this date.
    pub until: Option<f64>,
    /// How many turns an operation takes within an instant.
    pub pacing: Pacing,
    /// How many threads run the code of the actors, where that is faster; as many as there are cores if not said. The
    /// outcome is the same for any number.
    pub workers: Option<usize>,
    /// Whether these threads share every round of two actors and more, instead of those where it is faster.
    pub always_share: bool,
    /// Whether the time that the solver takes is measured, for [`Outcome::statistics`](crate::Outcome::statistics).
    pub timed: bool,
    /// Who sees what happens.
    pub observers: Vec<Box<dyn Observer>>,
    /// Whether every duration is explained to the observers.
    pub explain: bool,
    /// Who looks at the run now and then.
    pub watcher: Option<Watcher>,
    /// Who hears what the actors say.
    pub listener: Option<Listener>,
}

/// Settings can be written one after the other:
///
/// ```
/// # use simurgh::prelude::*;
/// # use simurgh::Pacing;
/// let settings = Settings::default().config("network/model", "CM02").seed(7).until(60.0).pacing(Pacing::Reference);
/// assert_eq!(settings.until, Some(60.0));
/// ```
impl Settings {
    /// Sets one of SimGrid's configuration keys, after those of the platform.
    #[must_use]
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.push((key.into(), value.into()));
        self
    }

    /// The seed of all randomness, mixed with that of the program.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Stops at this date.
    #[must_use]
    pub fn until(mut self, date: f64) -> Self {
        self.until = Some(date);
        self
    }

    /// How many turns an operation takes within an instant.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// How many threads run the code of the actors, where that is faster. The outcome is the same for any number.
    #[must_use]
    pub fn workers(mut self, threads: usize) -> Self {
        self.workers = Some(threads);
        self
    }

    /// Adds somebody who sees what happens.
    #[must_use]
    pub fn observe(mut self, observer: impl Observer + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Explains every duration to the observers.
    #[must_use]
    pub fn explain(mut self) -> Self {
        self.explain = true;
        self
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("config", &self.config)
            .field("seed", &self.seed)
            .field("until", &self.until)
            .field("pacing", &self.pacing)
            .finish_non_exhaustive()
    }
}
