//! The tools interface (MPI 5.0, 15.3): what can be looked at, and changed, while a program runs.
//!
//! - [`variables`]: the control variables, the performance variables, and how they are grouped.
//! - here: what a program has of them, in sessions and handles.

pub mod variables;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::abi;
use crate::error::{Result, fail};
use crate::handle::{Kind, Table};
use crate::rank::Rank;
use variables::{Amount, PERFORMANCE, Performance};

/// What a program has of the tools interface.
#[derive(Debug)]
pub struct Tools {
    /// How many times it was initialised, and not finalised.
    pub users: Cell<u32>,
    /// Handles of control variables: their numbers.
    pub controls: RefCell<Table<usize>>,
    /// Sessions in which performance is observed.
    pub sessions: RefCell<Table<Rc<Session>>>,
    /// Handles of performance variables.
    pub handles: RefCell<Table<Rc<Observed>>>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            users: Cell::new(0),
            controls: RefCell::new(Table::new(Kind::ControlHandle)),
            sessions: RefCell::new(Table::new(Kind::ToolSession)),
            handles: RefCell::new(Table::new(Kind::PerformanceHandle)),
        }
    }
}

/// A session: the handles of it.
#[derive(Debug, Default)]
pub struct Session {
    handles: RefCell<Vec<usize>>,
}

/// A performance variable that is observed.
#[derive(Debug)]
pub struct Observed {
    /// Which.
    pub variable: usize,
    /// The handle of its session.
    session: usize,
    /// What it had come to when it was stopped.
    sum: Cell<Amount>,
    /// What the process had when it was started, while it runs.
    since: Cell<Option<Amount>>,
}

/// What becomes of a variable that is observed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It counts from now on.
    Start,
    /// It counts no longer.
    Stop,
    /// It counts from nothing.
    Reset,
}

impl Observed {
    fn variable(&self) -> &'static Performance {
        &PERFORMANCE[self.variable]
    }

    /// What it has come to.
    pub fn value(&self, me: &Rank) -> Amount {
        let now = self.variable().value(me);
        if self.variable().is_continuous() {
            return now;
        }
        self.since.get().map_or(self.sum.get(), |since| self.sum.get().plus(now.minus(since)))
    }

    /// Gives it another value.
    ///
    /// # Errors
    /// If it can only be read.
    pub fn set(&self, me: &Rank, value: Amount) -> Result {
        if self.variable().is_continuous() {
            return fail(abi::T_ERR_PVAR_NO_WRITE, "the variable can only be read");
        }
        self.sum.set(value);
        if self.since.get().is_some() {
            self.since.set(Some(self.variable().value(me)));
        }
        Ok(())
    }

    fn does(&self, me: &Rank, deed: Deed) -> Result {
        match deed {
            Deed::Reset => self.set(me, self.value(me).nothing()),
            _ if self.variable().is_continuous() => {
                fail(abi::T_ERR_PVAR_NO_STARTSTOP, "the variable is always observed")
            }
            Deed::Start => {
                if self.since.get().is_none() {
                    self.since.set(Some(self.variable().value(me)));
                }
                Ok(())
            }
            Deed::Stop => {
                self.sum.set(self.value(me));
                self.since.set(None);
                Ok(())
            }
        }
    }
}

impl Rank {
    /// Checks that the tools interface is initialised.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_tools(&self) -> Result {
        match self.tools.users.get() {
            0 => fail(abi::T_ERR_NOT_INITIALIZED, "MPI_T_init_thread comes first"),
            _ => Ok(()),
        }
    }

    /// One who used it goes; with the last one go all handles.
    ///
    /// # Errors
    /// If nobody uses it.
    pub fn leave_tools(&self) -> Result {
        self.check_tools()?;
        self.tools.users.set(self.tools.users.get() - 1);
        if self.tools.users.get() == 0 {
            *self.tools.controls.borrow_mut() = Table::new(Kind::ControlHandle);
            *self.tools.sessions.borrow_mut() = Table::new(Kind::ToolSession);
            *self.tools.handles.borrow_mut() = Table::new(Kind::PerformanceHandle);
        }
        Ok(())
    }

    /// A session.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn tool_session(&self, session: usize) -> Result<Rc<Session>> {
        self.check_tools()?;
        match self.tools.sessions.borrow().get(session) {
            Some(found) => Ok(Rc::clone(found)),
            None => fail(abi::T_ERR_INVALID_SESSION, "there is no such session"),
        }
    }

    /// Ends a session, with its handles.
    ///
    /// # Errors
    /// If there is none.
    pub fn end_tool_session(&self, session: usize) -> Result {
        let found = self.tool_session(session)?;
        for handle in found.handles.borrow().iter() {
            self.tools.handles.borrow_mut().remove(*handle);
        }
        self.tools.sessions.borrow_mut().remove(session);
        Ok(())
    }

    /// A handle of a performance variable in a session.
    ///
    /// # Errors
    /// If there is no such session, or it has no such handle.
    pub fn observed(&self, session: usize, handle: usize) -> Result<Rc<Observed>> {
        self.tool_session(session)?;
        match self.tools.handles.borrow().get(handle) {
            Some(found) if found.session == session => Ok(Rc::clone(found)),
            _ => fail(abi::T_ERR_INVALID_HANDLE, "the session has no such handle"),
        }
    }

    /// Makes a handle of a performance variable in a session.
    ///
    /// # Errors
    /// If there is no such session.
    pub fn observe(&self, session: usize, variable: usize) -> Result<usize> {
        let found = self.tool_session(session)?;
        let sum = Cell::new(PERFORMANCE[variable].value(self).nothing());
        let observed = Observed { variable, session, sum, since: Cell::new(None) };
        let handle = self.tools.handles.borrow_mut().insert(Rc::new(observed));
        found.handles.borrow_mut().push(handle);
        Ok(handle)
    }

    /// Frees a handle of a performance variable.
    ///
    /// # Errors
    /// If there is none.
    pub fn observe_no_more(&self, session: usize, handle: usize) -> Result {
        self.observed(session, handle)?;
        self.tools.handles.borrow_mut().remove(handle);
        self.tool_session(session)?.handles.borrow_mut().retain(|other| *other != handle);
        Ok(())
    }

    /// Starts, stops or resets a variable, or all of a session for which that is possible.
    ///
    /// # Errors
    /// If there is no such session or handle, or the variable does not allow it.
    pub fn tool_does(&self, session: usize, handle: usize, deed: Deed) -> Result {
        if handle != abi::T_PVAR_ALL_HANDLES {
            return self.observed(session, handle)?.does(self, deed);
        }
        let handles = self.tool_session(session)?.handles.borrow().clone();
        for handle in handles {
            let observed = self.observed(session, handle)?;
            if !observed.variable().is_continuous() {
                observed.does(self, deed)?;
            }
        }
        Ok(())
    }
}
