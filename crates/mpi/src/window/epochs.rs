//! Epochs: when a process may access the windows of others, and they its own (MPI 5.0, 12.5).

use std::collections::BTreeSet;

use crate::abi;
use crate::error::{Result, fail};

/// What a process has begun and not ended on a window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Epochs {
    access: Access,
    /// Those who may access its own window, by ranks.
    exposure: Option<Vec<usize>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Access {
    #[default]
    None,
    /// Since a fence; whether there was any access.
    Fence { used: bool },
    /// To these, until `MPI_Win_complete`.
    Start(Vec<usize>),
    /// To those that it has locked.
    Locks(BTreeSet<usize>),
    /// To all, until `MPI_Win_unlock_all`.
    All,
}

fn wrong<T>(message: impl Into<String>) -> Result<T> {
    fail(abi::ERR_RMA_SYNC, message)
}

impl Epochs {
    fn now(&self) -> &'static str {
        match (&self.access, &self.exposure) {
            (Access::Start(_), _) => "an epoch that MPI_Win_start began: MPI_Win_complete ends it",
            (Access::Locks(_), _) => "an epoch that MPI_Win_lock began: MPI_Win_unlock ends it",
            (Access::All, _) => "an epoch that MPI_Win_lock_all began: MPI_Win_unlock_all ends it",
            (_, Some(_)) => "an epoch that MPI_Win_post began: MPI_Win_wait ends it",
            (Access::Fence { .. }, _) => "an epoch that MPI_Win_fence began: another fence ends it",
            (Access::None, None) => "no epoch",
        }
    }

    /// Whether nothing hinders that an access epoch begins: a fence after which nothing happened does not.
    fn is_free(&self) -> bool {
        matches!(self.access, Access::None | Access::Fence { used: false })
    }

    /// `MPI_Win_fence`; whether an epoch may follow is said.
    ///
    /// # Errors
    /// If another kind of epoch is not over.
    pub fn fence(&mut self, succeeds: bool) -> Result {
        if !matches!(self.access, Access::None | Access::Fence { .. }) || self.exposure.is_some() {
            return wrong(format!("a fence within {}", self.now()));
        }
        self.access = if succeeds { Access::Fence { used: false } } else { Access::None };
        Ok(())
    }

    /// `MPI_Win_start`.
    ///
    /// # Errors
    /// If another access epoch is not over.
    pub fn start(&mut self, ranks: Vec<usize>) -> Result {
        if !self.is_free() {
            return wrong(format!("MPI_Win_start within {}", self.now()));
        }
        self.access = Access::Start(ranks);
        Ok(())
    }

    /// `MPI_Win_complete`: who was accessed.
    ///
    /// # Errors
    /// If `MPI_Win_start` was not called.
    pub fn complete(&mut self) -> Result<Vec<usize>> {
        match std::mem::take(&mut self.access) {
            Access::Start(ranks) => Ok(ranks),
            other => {
                self.access = other;
                wrong(format!("MPI_Win_complete without MPI_Win_start: there is {}", self.now()))
            }
        }
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// If another epoch is not over.
    pub fn post(&mut self, ranks: Vec<usize>) -> Result {
        if self.exposure.is_some() || self.access == (Access::Fence { used: true }) {
            return wrong(format!("MPI_Win_post within {}", self.now()));
        }
        if let Access::Fence { .. } = self.access {
            self.access = Access::None;
        }
        self.exposure = Some(ranks);
        Ok(())
    }

    /// `MPI_Win_wait` and `MPI_Win_test`: who has access.
    ///
    /// # Errors
    /// If `MPI_Win_post` was not called.
    pub fn exposed_to(&self) -> Result<Vec<usize>> {
        match &self.exposure {
            Some(ranks) => Ok(ranks.clone()),
            None => {
                wrong(format!("MPI_Win_wait or MPI_Win_test without MPI_Win_post: there is {}", self.now()))
            }
        }
    }

    /// Nobody has access any more.
    pub fn is_exposed_no_longer(&mut self) {
        self.exposure = None;
    }

    /// `MPI_Win_lock`.
    ///
    /// # Errors
    /// If the rank is locked, or another kind of epoch is not over.
    pub fn lock(&mut self, rank: usize) -> Result {
        match &mut self.access {
            Access::None | Access::Fence { used: false } => self.access = Access::Locks([rank].into()),
            Access::Locks(ranks) => {
                if !ranks.insert(rank) {
                    return wrong(format!(
                        "MPI_Win_lock of rank {rank}, which this process has locked already"
                    ));
                }
            }
            _ => return wrong(format!("MPI_Win_lock within {}", self.now())),
        }
        Ok(())
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// If the rank is not locked.
    pub fn unlock(&mut self, rank: usize) -> Result {
        if let Access::Locks(ranks) = &mut self.access
            && ranks.remove(&rank)
        {
            if ranks.is_empty() {
                self.access = Access::None;
            }
            return Ok(());
        }
        wrong(format!("MPI_Win_unlock of rank {rank}, which this process has not locked"))
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// If another access epoch is not over.
    pub fn lock_all(&mut self) -> Result {
        if !self.is_free() {
            return wrong(format!("MPI_Win_lock_all within {}", self.now()));
        }
        self.access = Access::All;
        Ok(())
    }

    /// `MPI_Win_unlock_all`.
    ///
    /// # Errors
    /// If `MPI_Win_lock_all` was not called.
    pub fn unlock_all(&mut self) -> Result {
        if self.access != Access::All {
            return wrong(format!("MPI_Win_unlock_all without MPI_Win_lock_all: there is {}", self.now()));
        }
        self.access = Access::None;
        Ok(())
    }

    /// `MPI_Win_flush` and its like, of a rank or of all.
    ///
    /// # Errors
    /// If it is not locked.
    pub fn flush(&self, rank: Option<usize>) -> Result {
        match (&self.access, rank) {
            (Access::All, _) | (Access::Locks(_), None) => Ok(()),
            (Access::Locks(ranks), Some(rank)) if ranks.contains(&rank) => Ok(()),
            (Access::Locks(_), Some(rank)) => {
                wrong(format!("a flush of rank {rank}, which this process has not locked"))
            }
            _ => wrong(format!("a flush needs MPI_Win_lock or MPI_Win_lock_all: there is {}", self.now())),
        }
    }

    /// Whether there was an access since a fence.
    pub fn has_fenced_access(&self) -> bool {
        self.access == Access::Fence { used: true }
    }

    /// Whether accesses are to those that have posted.
    pub fn is_started(&self) -> bool {
        matches!(self.access, Access::Start(_))
    }

    /// What has a request is accessed: that is for locks alone (12.3.5).
    ///
    /// # Errors
    /// If there are none.
    pub fn request(&self) -> Result {
        match self.access {
            Access::Locks(_) | Access::All => Ok(()),
            _ => wrong(format!(
                "accesses with requests need MPI_Win_lock or MPI_Win_lock_all: there is {}",
                self.now()
            )),
        }
    }

    /// The window of a rank is accessed.
    ///
    /// # Errors
    /// If it may not be.
    pub fn access(&mut self, rank: usize) -> Result {
        match &mut self.access {
            Access::Fence { used } => *used = true,
            Access::All => {}
            Access::Start(ranks) if ranks.contains(&rank) => {}
            Access::Locks(ranks) if ranks.contains(&rank) => {}
            Access::Start(_) => {
                return wrong(format!("rank {rank} is accessed, and is not in the group of MPI_Win_start"));
            }
            Access::Locks(_) => {
                return wrong(format!("rank {rank} is accessed, and this process has not locked it"));
            }
            Access::None => {
                return wrong(format!(
                    "rank {rank} is accessed outside of any epoch: MPI_Win_fence, MPI_Win_start or MPI_Win_lock begin one"
                ));
            }
        }
        Ok(())
    }

    /// What is begun and not ended, where that is a mistake at the end of the window: accesses since a fence count too.
    pub fn is_open(&self) -> Option<&'static str> {
        match (&self.access, &self.exposure) {
            (Access::None | Access::Fence { used: false }, None) => None,
            _ => Some(self.now()),
        }
    }

    /// `MPI_Win_free`.
    ///
    /// # Errors
    /// If an epoch is not over.
    pub fn free(&self) -> Result {
        if !matches!(self.access, Access::None | Access::Fence { .. }) || self.exposure.is_some() {
            return wrong(format!("MPI_Win_free within {}", self.now()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(result: Result) -> i32 {
        result.map_or_else(|error| error.class, |()| abi::SUCCESS)
    }

    #[test]
    fn accesses_need_an_epoch() {
        let mut epochs = Epochs::default();
        assert_eq!(class(epochs.access(0)), abi::ERR_RMA_SYNC);
        epochs.fence(true).expect("there is none");
        assert_eq!(class(epochs.lock(1)), abi::SUCCESS);
        assert_eq!(class(epochs.access(0)), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.access(1)), abi::SUCCESS);
        assert_eq!(class(epochs.lock(1)), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.free()), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.unlock(1)), abi::SUCCESS);
        assert_eq!(class(epochs.unlock(1)), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.free()), abi::SUCCESS);
    }

    #[test]
    fn a_fence_that_is_used_ends_by_a_fence() {
        let mut epochs = Epochs::default();
        epochs.fence(true).expect("there is none");
        epochs.access(3).expect("a fence opens all");
        assert_eq!(class(epochs.lock(3)), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.start(vec![3])), abi::ERR_RMA_SYNC);
        assert_eq!(class(epochs.post(vec![3])), abi::ERR_RMA_SYNC);
        epochs.fence(false).expect("it ends");
        assert_eq!(class(epochs.access(3)), abi::ERR_RMA_SYNC);
        epochs.post(vec![1]).expect("it is free");
        epochs.start(vec![2]).expect("both may be");
        assert_eq!(class(epochs.fence(true)), abi::ERR_RMA_SYNC);
        assert_eq!(epochs.complete(), Ok(vec![2]));
        assert_eq!(epochs.exposed_to(), Ok(vec![1]));
        epochs.is_exposed_no_longer();
        assert_eq!(epochs, Epochs::default());
        assert_eq!(class(epochs.flush(None)), abi::ERR_RMA_SYNC);
        epochs.lock_all().expect("it is free");
        assert_eq!(class(epochs.flush(Some(5))), abi::SUCCESS);
        assert_eq!(class(epochs.lock(5)), abi::ERR_RMA_SYNC);
        epochs.unlock_all().expect("it ends");
    }
}
