//! What all actors of a program share: the platform, names of mailboxes, and numbers for new objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use simurgh_kernel::ids::MailboxId;
use simurgh_platform::{HostId, Platform};

use crate::error::{Error, Result};

/// One for each program. Numbers given out here name objects and are never compared, so that it does not matter which
/// of two actors that run at once gets the lower one.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) platform: Arc<Platform>,
    /// Of all randomness of the run.
    seed: AtomicU64,
    names: Mutex<Names>,
    objects: AtomicU32,
}

#[derive(Debug, Default)]
struct Names {
    by_name: BTreeMap<Arc<str>, MailboxId>,
    by_id: Vec<Arc<str>>,
}

impl Shared {
    pub(crate) fn new(platform: Arc<Platform>, seed: u64) -> Self {
        Self { platform, seed: AtomicU64::new(seed), names: Mutex::default(), objects: AtomicU32::new(0) }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.load(Ordering::Relaxed)
    }

    /// Mixes the seed of the settings into that of the program.
    pub(crate) fn mix_seed(&self, seed: u64) {
        self.seed.fetch_xor(seed, Ordering::Relaxed);
    }

    pub(crate) fn mailbox(&self, name: &str) -> MailboxId {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = names.by_name.get(name) {
            return id;
        }
        let id = MailboxId::from_index(names.by_id.len());
        let name: Arc<str> = name.into();
        names.by_id.push(Arc::clone(&name));
        names.by_name.insert(name, id);
        id
    }

    pub(crate) fn mailbox_name(&self, id: MailboxId) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.by_id.get(id.index()).map_or_else(|| format!("#{id}"), |name| name.to_string())
    }

    pub(crate) fn next_object(&self) -> u32 {
        self.objects.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn host(&self, name: &str) -> Result<HostId> {
        self.platform.host_named(name).ok_or_else(|| Error::Unknown {
            kind: "host",
            name: name.to_owned(),
            hint: match self.platform.host_suggestion(name) {
                Some(near) => format!("; did you mean {near:?}?"),
                None => "; `simurgh platform show FILE` lists them".to_owned(),
            },
        })
    }
}
