//! Programs whose actors write down what happens to them.

use std::sync::{Arc, Mutex};

use simurgh::api::{HostRef, IntoEnding};
use simurgh::prelude::*;

/// Dated lines, in the order in which they were written.
#[derive(Clone, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    /// Writes what happened, and when.
    pub fn at(&self, ctx: &Ctx, what: impl Into<String>) {
        self.write(format!("{:.6} {}", ctx.now(), what.into()));
    }

    pub fn write(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    /// Writes how an operation ended: `ok`, or why not.
    pub fn how(&self, ctx: &Ctx, what: &str, result: simurgh::Result<impl Sized>) {
        let how = result.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
        self.at(ctx, format!("{what}: {how}"));
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// A program and its log.
pub struct Play {
    pub program: Program,
    pub log: Log,
}

impl Play {
    pub fn on(platform: Platform) -> Self {
        Self { program: Program::new(platform), log: Log::default() }
    }

    /// Adds an actor.
    pub fn actor<F, Fut>(&mut self, name: &str, host: impl Into<HostRef>, code: F) -> ActorHandle
    where
        F: FnOnce(Ctx, Log) -> Fut + Send + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        let log = self.log.clone();
        self.program.spawn(name, host, |ctx| code(ctx, log)).unwrap()
    }

    /// Runs it; all must come to a good end. Gives the log.
    pub fn lines(self) -> Vec<String> {
        run(self.program);
        self.log.lines()
    }

    /// Runs it, whatever it comes to.
    pub fn ends(self) -> (Outcome, Vec<String>) {
        let outcome = self.program.simulate(Settings::default()).unwrap();
        (outcome, self.log.lines())
    }
}

/// Runs a program that must come to a good end.
pub fn run(program: Program) -> Outcome {
    let outcome = program.simulate(Settings::default()).unwrap();
    assert!(outcome.is_fine(), "{:?}", outcome.report);
    outcome
}

/// A good end, of the type that actors end with.
pub fn fine() -> simurgh::Result {
    Ok(())
}
