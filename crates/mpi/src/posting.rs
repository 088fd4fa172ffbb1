//! Receives that a process leaves to whoever drives it, and waits that are for all of several requests: one trip to the kernel for
//! an exchange with many, instead of two a message.
//!
//! A receive that is left is posted with the next request to the kernel, whatever that is, and only then its identity is
//! known. Until then it is *untold*: whoever needs it asks for it ([`Rank::tells`]). A search is asked for everything one by one, since each is a step.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use simurgh_kernel::simcall::{Answer, RecvRequest, Simcall, WaitForAll};

use crate::os;
use crate::rank::Rank;
use crate::request::Pending;

/// What a process has left to its driver, and what it waits for at once.
#[derive(Debug)]
pub struct Posting {
    /// The requests whose receives were left since it last asked the kernel, in order.
    untold: RefCell<Vec<Rc<Pending>>>,
    /// All that it waits for at once, in the order of the kernel; nothing if it does not.
    all: RefCell<Vec<Rc<Pending>>>,
    /// How many of these are over.
    over: Arc<AtomicU32>,
    /// The memory of the last wait for all.
    wait: RefCell<Option<Box<WaitForAll>>>,
}

impl Posting {
    /// Nothing yet. `over` outlives the process.
    pub fn new(over: Arc<AtomicU32>) -> Self {
        Self { untold: RefCell::default(), all: RefCell::default(), over, wait: RefCell::default() }
    }

    /// The one that it waits for now, if it waits for all of several.
    pub fn present(&self) -> Option<Rc<Pending>> {
        self.all.borrow().get(self.over.load(Ordering::Relaxed) as usize).cloned()
    }
}

impl Rank {
    /// Whether receives may be left, and several waited for at once.
    fn leaves_posts(&self) -> bool {
        !cfg!(test) && !self.world.wanted.actions && os::takes_posts()
    }

    /// Leaves a receive, where that can be done; what was not left is given back. The request that it is for is
    /// [kept](Self::is_left) before anything else is left.
    pub fn leave_receive(&self, request: RecvRequest) -> Option<RecvRequest> {
        if !self.leaves_posts() {
            return Some(request);
        }
        self.doing.leaves(&request);
        self.world.progress.moves();
        os::leave(request);
        None
    }

    /// This is the request whose receive was left last.
    pub fn is_left(&self, request: Rc<Pending>) {
        self.posting.untold.borrow_mut().push(request);
    }

    /// Asks for the identities of what was left.
    pub fn tells(&self) {
        if !self.posting.untold.borrow().is_empty() {
            self.ask(Simcall::Yield);
        }
    }

    /// The kernel has answered: what was left is posted.
    #[inline]
    pub(crate) fn was_told(&self) {
        let mut untold = self.posting.untold.borrow_mut();
        if !untold.is_empty() {
            os::received(|received| {
                assert_eq!(received.len(), untold.len(), "what was left is posted with the next request");
                untold.drain(..).zip(received).for_each(|(request, activity)| request.is_told(*activity));
            });
        }
    }

    /// Waits until all of these are complete.
    pub fn wait_for_all(&self, requests: &[(usize, Rc<Pending>)]) {
        if !self.can_wait_at_once(requests) {
            requests.iter().for_each(|(_, request)| self.wait_for(request));
            return;
        }
        let Posting { untold, all, over, wait } = &self.posting;
        let mut wanted = wait.take().unwrap_or_else(|| {
            self.for_others(|| Box::new(WaitForAll { over: Arc::clone(over), ..WaitForAll::default() }))
        });
        {
            let mut all = all.borrow_mut();
            // What was left is added to it.
            self.for_others(|| wanted.activities.reserve(requests.len()));
            for (_, request) in requests {
                if let Some(activity) = request.only_activity() {
                    all.push(Rc::clone(request));
                    wanted.activities.push(activity);
                }
            }
            all.append(&mut untold.borrow_mut());
        }
        let Answer::All(mut wanted) = self.ask(Simcall::WaitAll(wanted)) else {
            unreachable!("a wait for all is answered by what came of all")
        };
        let mut waited = std::mem::take(&mut *all.borrow_mut());
        assert_eq!(wanted.results.len(), waited.len(), "all that was waited for is over");
        for (request, result) in waited.iter().zip(wanted.results.drain(..)) {
            request.is_over(self, result);
        }
        waited.clear();
        *all.borrow_mut() = waited;
        wanted.activities.clear();
        *wait.borrow_mut() = Some(wanted);
    }

    /// Whether these can be waited for in one trip, and are worth it: nothing has to be done before all of them are over, and
    /// nothing was left that is not among them.
    fn can_wait_at_once(&self, requests: &[(usize, Rc<Pending>)]) -> bool {
        let (mut known, mut untold) = (0, 0);
        for (_, request) in requests {
            if request.is_complete() {
                continue;
            }
            if !request.is_plain() {
                return false;
            }
            match request.is_untold() {
                true => untold += 1,
                false => known += 1,
            }
        }
        known + untold > usize::from(untold == 0)
            && self.posting.untold.borrow().len() == untold
            && self.leaves_posts()
    }
}
