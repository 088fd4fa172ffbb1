//! What all actors of a program share: the platform, names of mailboxes, and numbers for new objects.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use simurgh_kernel::context::{stand_at, violate, with_port};
use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_platform::{HostId, Platform};

use super::names::{Ids, Names};
use crate::error::{Error, Result};

/// One for each program. Numbers given out here name objects and are never compared, so that it does not matter which
/// of two actors that run at once gets the lower one.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) platform: Arc<Platform>,
    /// Of all randomness of the run.
    seed: AtomicU64,
    registry: Arc<Registry>,
    /// How many objects each actor has made; `None` is the program itself.
    made: Mutex<BTreeMap<Option<ActorId>, u32>>,
}

/// The numbers of mailboxes and other objects. A program that is run again and again, each time in another order, has
/// one registry for all its runs: so a mailbox and a lock have the same number in all of them, whoever comes first. An
/// exploration compares the steps of one run with those of another, and relies on it.
///
/// Registries have a number by which they are found, so that a mailbox is two numbers that are copied freely: it is its
/// name alone that needs the registry, for somebody to read.
#[derive(Debug)]
pub(crate) struct Registry {
    number: u32,
    tables: Mutex<Tables>,
}

/// Which program an object is of. Numbers of objects mean nothing in another one, where they may be there too.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tag(pub(crate) u32);

impl Tag {
    /// Ends the actor that runs, if it is of another program.
    #[track_caller]
    #[inline]
    pub(super) fn check(self, what: &str) {
        if with_port(|port| port.program != 0 && port.program != self.0) == Some(true) {
            self.refuse(what);
        }
    }

    #[cold]
    #[track_caller]
    fn refuse(self, what: &str) -> ! {
        let place = Location::caller();
        stand_at(place);
        violate(format!(
            "{}:{}: this {what} is of another program: use one of the program that the actor is of",
            place.file(),
            place.line()
        ))
    }
}

/// The registries that are in use.
static REGISTRIES: Mutex<BTreeMap<u32, Weak<Registry>>> = Mutex::new(BTreeMap::new());
/// How many there were so far.
static COUNT: AtomicU32 = AtomicU32::new(0);

fn registries() -> MutexGuard<'static, BTreeMap<u32, Weak<Registry>>> {
    REGISTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a mailbox of a registry, as long as that is in use.
pub(crate) fn mailbox_name(registry: u32, id: MailboxId) -> String {
    let found = registries().get(&registry).and_then(Weak::upgrade);
    found.map_or_else(|| format!("#{id}"), |registry| registry.mailbox_name(id))
}

impl Drop for Registry {
    fn drop(&mut self) {
        registries().remove(&self.number);
    }
}

#[derive(Debug, Default)]
struct Tables {
    names: Names,
    /// By who made it, and how many that one had made before.
    objects: BTreeMap<(Option<ActorId>, u32), u32>,
}

impl Registry {
    /// A registry without names.
    pub(crate) fn new() -> Arc<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let registry = Arc::new(Self { number, tables: Mutex::default() });
        registries().insert(number, Arc::downgrade(&registry));
        registry
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn mailbox_name(&self, id: MailboxId) -> String {
        self.tables().names.name(id).unwrap_or_else(|| format!("#{id}"))
    }

    fn object(&self, maker: Option<ActorId>, number: u32) -> u32 {
        let mut tables = self.tables();
        let next = tables.objects.len() as u32;
        *tables.objects.entry((maker, number)).or_insert(next)
    }
}

impl Shared {
    pub(crate) fn new(platform: Arc<Platform>, seed: u64, registry: Arc<Registry>) -> Self {
        Self { platform, seed: AtomicU64::new(seed), registry, made: Mutex::default() }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.load(Ordering::Relaxed)
    }

    /// Mixes the seed of the settings into that of the program.
    pub(crate) fn mix_seed(&self, seed: u64) {
        self.seed.fetch_xor(seed, Ordering::Relaxed);
    }

    pub(crate) fn mailbox(&self, name: &str) -> MailboxId {
        self.registry.tables().names.mailbox(name)
    }

    pub(super) fn mailboxes(&self, before: &str, count: u32) -> Ids {
        self.registry.tables().names.row(before, count)
    }

    pub(crate) fn mailbox_name(&self, id: MailboxId) -> String {
        self.registry.mailbox_name(id)
    }

    /// The number of the registry, by which names are found.
    pub(crate) fn registry(&self) -> u32 {
        self.registry.number
    }

    /// The program as its objects know it.
    pub(crate) fn tag(&self) -> Tag {
        Tag(self.registry.number.wrapping_add(1))
    }

    /// The number of an object that the actor that runs makes, or the program before it runs.
    pub(crate) fn next_object(&self) -> u32 {
        let maker = with_port(|port| port.actor);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = made.entry(maker).or_insert(0);
        *count += 1;
        self.registry.object(maker, *count - 1)
    }

    #[track_caller]
    pub(crate) fn host(&self, name: &str) -> Result<HostId> {
        match self.platform.host_named(name) {
            Some(host) => Ok(host),
            None => Err(Error::unknown("host", name, self.platform.host_suggestion(name).as_deref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use simurgh_kernel::context::{Body, Door};
    use simurgh_models::SimTime;

    use super::*;

    /// The numbers that two actors get for a mailbox and a lock each, when they run in this order.
    fn numbers(registry: &Arc<Registry>, order: [u32; 2]) -> BTreeMap<u32, (MailboxId, u32)> {
        let shared = Arc::new(Shared::new(Arc::new(Platform::builtin()), 0, Arc::clone(registry)));
        let got = Arc::new(Mutex::new(BTreeMap::new()));
        for actor in order {
            let (shared, into) = (Arc::clone(&shared), Arc::clone(&got));
            let mut body = Body::Future(Box::pin(async move {
                let numbers = (shared.mailbox(&format!("of {actor}")), shared.next_object());
                into.lock().unwrap().insert(actor, numbers);
                Ok(())
            }));
            let mut door = Door::new();
            door.prepare(ActorId(actor), HostId(0), SimTime::ZERO, None);
            body.resume(&mut door);
        }
        std::mem::take(&mut *got.lock().unwrap())
    }

    #[test]
    fn numbers_do_not_depend_on_the_order_of_a_run() {
        let registry = Registry::new();
        assert_eq!(numbers(&registry, [0, 1]), numbers(&registry, [1, 0]));
        // Without a common registry they do.
        assert_ne!(numbers(&Registry::new(), [0, 1]), numbers(&Registry::new(), [1, 0]));
    }
}
