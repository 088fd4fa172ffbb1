//! What is checked: a program that is made again and again, and what people call it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use simurgh_explore::receives::actors::Factory;
use simurgh_explore::{Actors, Network};
use simurgh_kernel::context::panicked_at;
use simurgh_kernel::exposed::Invariant;
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Note, SpawnRequest};
use simurgh_kernel::watchdog::{Trait, Watchdog, guarding};
use simurgh_platform::Platform;

use super::schedule::base;
use super::silence::{making, not_made, silently};
use crate::api::Registry;
use crate::error::Result;
use crate::program::Program;
use crate::text::shell_word;

/// Adds the actors to a program, each time it is made.
pub(super) type Fill<'a> = Box<dyn Fn(&mut Program) -> Result + Sync + 'a>;

/// A program to check.
pub struct Subject<'a> {
    fill: Fill<'a>,
    platform: Arc<Platform>,
    registry: Arc<Registry>,
    origin: Origin,
    watchdog: Watchdog,
}

/// Where a program comes from, so that it can be made in another process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A scenario, in this file.
    Scenario(PathBuf),
    /// A program of its own, with the arguments that it was called with.
    Program {
        /// How it was called.
        name: String,
        /// All its arguments.
        arguments: Vec<String>,
    },
}

impl Origin {
    /// The program that this is, or a test of it: its name, without what cargo adds to that of a test.
    pub(super) fn this_program() -> Self {
        let called = std::env::args_os().next().unwrap_or_default();
        let name = base(&called.to_string_lossy());
        let is_hash = |end: &str| end.len() == 16 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = match name.rsplit_once('-') {
            Some((name, end)) if is_hash(end) => name.to_owned(),
            _ => name,
        };
        Origin::Program { name, arguments: vec!["check".to_owned()] }
    }

    /// A scenario, in this file.
    pub(super) fn scenario(path: impl AsRef<Path>) -> Self {
        Origin::Scenario(path.as_ref().to_owned())
    }
}

/// The command, as people give it.
impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Scenario(path) => write!(f, "simurgh check {}", shell_word(&path.display().to_string())),
            Origin::Program { name, arguments } => {
                f.write_str(&base(name))?;
                arguments.iter().try_for_each(|word| write!(f, " {}", shell_word(word)))
            }
        }
    }
}

impl<'a> Subject<'a> {
    /// A program on a platform, to which a function adds the actors, each time it is made.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new(
        platform: Arc<Platform>,
        origin: Origin,
        watchdog: Watchdog,
        fill: Fill<'a>,
    ) -> Result<Self> {
        let subject = Self { fill, platform, registry: Registry::new(), origin, watchdog };
        // What does not depend on anything succeeds again, later.
        subject.looked_at(drop)?;
        Ok(subject)
    }

    /// Who looks whether its code comes back.
    pub(crate) fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// Makes it anew, and looks at it.
    fn looked_at<T>(&self, look: impl FnOnce(Program) -> T) -> Result<T> {
        let mut pulse = self.watchdog.pulse();
        pulse.makes();
        let program = self.fresh()?;
        pulse.treats(Some(Trait::Drop));
        silently(|| guarding(Trait::Drop, panicked_at, || look(program)))
    }

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The names of the actors of the start.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = |program: Program| program.into_parts().0.into_iter().map(|actor| actor.name).collect();
        self.looked_at(names).unwrap_or_default()
    }

    /// The name of a mailbox of any of its runs.
    pub fn mailbox_name(&self, mailbox: MailboxId) -> String {
        self.registry.mailbox_name(mailbox)
    }

    /// The program as a system to explore.
    pub fn actors(&self, network: Network) -> Actors<impl FnMut(&mut Kernel)> {
        let registry = Arc::clone(&self.registry);
        Actors::with_pulse(network, self.watchdog.pulse(), move |kernel: &mut Kernel| {
            let mut program = self.fresh().unwrap_or_else(|error| not_made(&error));
            let (exposed, _) = program.take_exposed();
            let (spawned, notes) = program.into_parts();
            for (name, value) in exposed {
                kernel.expose(&name, value);
            }
            for note in notes {
                kernel.serve_note(ActorId(0), note);
            }
            for request in spawned {
                kernel.spawn(request);
            }
        })
        .keep_posts()
        .call_mailboxes(move |mailbox| format!("{:?}", registry.mailbox_name(MailboxId(mailbox))))
        .uphold(self.invariants())
    }

    /// What must be true of what its actors expose.
    pub(crate) fn invariants(&self) -> Vec<Invariant> {
        self.looked_at(|mut program| program.take_exposed().1).unwrap_or_default()
    }

    /// Makes it anew.
    fn fresh(&self) -> Result<Program> {
        let mut program = Program::in_registry(Arc::clone(&self.platform), 0, &self.registry).explored();
        making(|| (self.fill)(&mut program))?;
        Ok(program)
    }
}

impl Factory for &Subject<'_> {
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        let program = self.fresh().unwrap_or_else(|error| not_made(&error));
        program.hand_over(actors, notes);
    }
}
