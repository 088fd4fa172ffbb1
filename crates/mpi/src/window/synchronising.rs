//! Synchronisation: fences, groups of origins and targets, locks, flushes (MPI 5.0, 12.5).

use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{ActivitySet, Failure, Follow, Payload, Simcall};

use super::{Hold, Window};
use crate::collectives::{barrier, team::Team};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::message::{Content, Data};
use crate::p2p::{Context, Manner, Mode};
use crate::rank::Rank;

/// A process may be accessed.
const POSTED: i32 = 0;
/// A process has been accessed.
const COMPLETED: i32 = 1;

impl Rank {
    /// Neither a post nor the end of an access waits for the other side.
    fn tell(&self, window: &Window, ranks: &[usize], what: i32) -> Result {
        let before = self.eager.get();
        if self.world.explored {
            self.eager.set(Some(u64::MAX));
        }
        let told = self.tell_each(window, ranks, what);
        self.eager.set(before);
        told
    }

    fn tell_each(&self, window: &Window, ranks: &[usize], what: i32) -> Result {
        for rank in ranks {
            let (rank, tag) = (*rank as i32, window.tag + what);
            let (mode, manner, wait) = (Mode::Standard, Manner::Blocking, Follow::Wait(None));
            self.send_data(&window.comm, Context::Collective, rank, tag, Data::new(), mode, manner, wait)?;
        }
        Ok(())
    }

    fn listen(&self, window: &Window, ranks: &[usize], what: i32) -> Result<Vec<ActivityId>> {
        let receive = |rank: &usize| {
            let posted =
                self.post_receive(&window.comm, Context::Collective, *rank as i32, window.tag + what)?;
            Ok(posted.expect("a rank of a group is somebody"))
        };
        ranks.iter().map(receive).collect()
    }

    fn hear(&self, receives: Vec<ActivityId>) -> Result {
        self.receive_all(&receives)?;
        Ok(())
    }

    /// Waits for all processes of a window.
    ///
    /// # Errors
    /// If a message is lost.
    pub(super) fn meet(&self, window: &Window) -> Result {
        barrier::barrier(&Team::all(self, &window.comm, window.tag + COMPLETED + 1))
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// If another kind of epoch is not over, or a message is lost.
    pub fn fence(&self, window: &Window, precedes: bool, succeeds: bool) -> Result {
        window.epochs.borrow_mut().fence(succeeds)?;
        window.has_news();
        self.tells_of_stores(window);
        self.completes_accesses(window, None);
        if precedes {
            self.meet(window)?;
            self.finish_all(window)?;
        }
        self.meet(window)?;
        self.has_fenced(window);
        Ok(())
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// If another epoch is not over, or a message is lost.
    pub fn expose_to(&self, window: &Window, ranks: Vec<usize>) -> Result {
        window.epochs.borrow_mut().post(ranks.clone())?;
        window.has_news();
        self.tell(window, &ranks, POSTED)
    }

    /// `MPI_Win_start`.
    ///
    /// # Errors
    /// If another epoch is not over, or a message is lost.
    pub fn start_access(&self, window: &Window, ranks: Vec<usize>) -> Result {
        window.epochs.borrow_mut().start(ranks.clone())?;
        let receives = self.listen(window, &ranks, POSTED)?;
        self.hear(receives)
    }

    /// `MPI_Win_complete`.
    ///
    /// # Errors
    /// If there is no such epoch, or a message is lost.
    pub fn complete_access(&self, window: &Window) -> Result {
        let ranks = window.epochs.borrow_mut().complete()?;
        self.completes_accesses(window, None);
        // A target that has heard of it may change what was to be read.
        ranks.iter().try_for_each(|rank| window.mine().settle_gets_from(*rank))?;
        self.tell(window, &ranks, COMPLETED)?;
        self.finish_own(window, None)
    }

    /// `MPI_Win_wait`.
    ///
    /// # Errors
    /// If there is no such epoch, or a message is lost.
    pub fn wait_for_access(&self, window: &Window) -> Result {
        let ranks = window.epochs.borrow().exposed_to()?;
        let begun = window.awaited.take();
        let receives = match begun {
            Some(receives) => receives,
            None => self.listen(window, &ranks, COMPLETED)?,
        };
        self.hear(receives)?;
        window.epochs.borrow_mut().is_exposed_no_longer();
        self.finish_all(window)
    }

    /// `MPI_Win_test`.
    ///
    /// # Errors
    /// If there is no such epoch, or a message is lost.
    pub fn test_access(&self, window: &Window) -> Result<bool> {
        let ranks = window.epochs.borrow().exposed_to()?;
        let is_begun = window.awaited.borrow().is_some();
        if !is_begun {
            let receives = self.listen(window, &ranks, COMPLETED)?;
            *window.awaited.borrow_mut() = Some(receives);
        }
        let polls = &self.world.polls.test;
        self.sleep(f64::from(polls.get()) * self.world.costs.test);
        let left = || window.awaited.borrow().clone().unwrap_or_default();
        while let Some(first) = left().first().copied() {
            if is_begun {
                self.polls(&[first]);
            }
            if !left().contains(&first) {
                continue;
            }
            // It is over when all of them are, in whatever order.
            let activities: ActivitySet = if self.world.explored {
                [first].into_iter().collect()
            } else {
                left().into_iter().collect()
            };
            match self.ask(Simcall::TestAny { activities: activities.clone() }).into_over() {
                Ok((index, result)) => self.has_heard(activities[index as usize], result),
                Err(_) => break,
            }
        }
        let over = left().is_empty();
        self.has_polled(polls, over);
        if !over {
            return Ok(false);
        }
        window.awaited.take();
        window.epochs.borrow_mut().is_exposed_no_longer();
        self.finish_all(window)?;
        Ok(true)
    }

    /// Whether a test of a window waits for this.
    pub(crate) fn is_awaited(&self, activity: ActivityId) -> bool {
        let is_there =
            |window: &Rc<Window>| window.awaited.borrow().iter().flatten().any(|other| *other == activity);
        self.windows.borrow().iter().any(is_there)
    }

    /// What a test of a window waits for is over. What is lost is not told: nobody else would be.
    pub(crate) fn has_heard(
        &self,
        activity: ActivityId,
        result: std::result::Result<Option<Payload>, Failure>,
    ) {
        for window in self.windows.borrow().iter() {
            window.awaited.borrow_mut().iter_mut().for_each(|left| left.retain(|other| *other != activity));
        }
        if let Ok(Some(message)) = result {
            self.learns(&Content::of(message));
        }
    }

    /// `MPI_Win_lock`.
    ///
    /// # Errors
    /// If another epoch is not over.
    pub fn lock_window(&self, window: &Window, rank: usize, hold: Hold) -> Result {
        window.epochs.borrow_mut().lock(rank)?;
        self.polls_memory();
        self.take_window(window.exposed(rank), window.comm.rank, hold);
        self.learns_of_lock(window, rank, hold);
        window.held.borrow_mut().insert(rank, hold);
        self.flush(window, rank)
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// If it was not locked, or a communication failed.
    pub fn unlock_window(&self, window: &Rc<Window>, rank: usize) -> Result {
        window.epochs.borrow_mut().unlock(rank)?;
        self.tells_of_stores(window);
        self.leave(window, rank)
    }

    /// Gives the window of a rank back: the data are there for whoever has it next, even if their time is not over.
    fn leave(&self, window: &Rc<Window>, rank: usize) -> Result {
        let hold = window.held.borrow_mut().remove(&rank).unwrap_or(Hold::Shared);
        let (at, own) = (window.exposed(rank), window.comm.rank);
        let settled = window.mine().settle_gets_from(rank).and_then(|()| match at.has_puts_of(own) {
            false if hold == Hold::Shared => Ok(()),
            _ => self.with_memory_of(window, rank, || at.settle_puts_of(own)),
        });
        self.completes_accesses(window, Some(rank));
        if self.world.explored && hold == Hold::Exclusive {
            // The program may have looked at it by itself. Nobody has changed it since.
            self.has_looked_at(window, rank, &window.ranges(rank));
        }
        self.holds_no_longer(window, rank);
        self.leaves_in_lock(window, rank, hold);
        self.give_window_back(window.exposed(rank), window.comm.rank, hold);
        settled.and(self.flush(window, rank))
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// If another epoch is not over.
    pub fn lock_all(&self, window: &Window) -> Result {
        window.epochs.borrow_mut().lock_all()?;
        (0..window.comm.size()).try_for_each(|rank| {
            self.take_window(window.exposed(rank), window.comm.rank, Hold::Shared);
            self.learns_of_lock(window, rank, Hold::Shared);
            self.flush(window, rank)
        })
    }

    /// `MPI_Win_unlock_all`.
    ///
    /// # Errors
    /// If `MPI_Win_lock_all` was not called, or a communication failed.
    pub fn unlock_all(&self, window: &Rc<Window>) -> Result {
        window.epochs.borrow_mut().unlock_all()?;
        self.tells_of_stores(window);
        (0..window.comm.size()).try_for_each(|rank| self.leave(window, rank))
    }

    /// Waits for what is under way with a rank.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn flush(&self, window: &Window, rank: usize) -> Result {
        self.flush_local(window, Some(rank))?;
        match rank == window.comm.rank {
            true => Ok(()),
            false => self.finish_puts(window, rank),
        }
    }

    /// Waits for what is under way with all.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn flush_all(&self, window: &Window) -> Result {
        self.flush_local(window, None)?;
        let mut others = (0..window.comm.size()).filter(|rank| *rank != window.comm.rank);
        others.try_for_each(|rank| self.finish_puts(window, rank))
    }

    /// Waits for what is under way at this process with a rank, or with all: its buffers are its own again.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn flush_local(&self, window: &Window, rank: Option<usize>) -> Result {
        self.finish_own(window, rank)
    }

    /// A barrier of the program waits at its end for what is under way at this process, in the windows of the communicator, as in the
    /// reference.
    ///
    /// # Errors
    /// If a communication failed.
    pub fn finish_windows(&self, comm: &Communicator) -> Result {
        if self.windows.borrow().is_empty() {
            return Ok(());
        }
        let is_meant = |window: &&Rc<Window>| window.comm.context == comm.context;
        let windows: Vec<_> = self.windows.borrow().iter().filter(is_meant).cloned().collect();
        windows.iter().try_for_each(|window| self.finish_own(window, None))
    }

    /// Checks that a flush is allowed; a program that does nothing else waits for another.
    ///
    /// # Errors
    /// If it is not.
    pub fn may_flush(&self, window: &Window, rank: Option<usize>) -> Result {
        window.epochs.borrow().flush(rank)?;
        self.looks_at(window);
        Ok(())
    }
}
