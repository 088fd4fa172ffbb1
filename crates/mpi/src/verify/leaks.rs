//! What a process has left when it calls `MPI_Finalize`: requests that were not completed, objects that were not freed (MPI 5.0,
//! 11.2.2).

use std::rc::Rc;

use crate::abi::{self, Errhandler};
use crate::handle::Table;
use crate::rank::{Rank, Stage};
use crate::request::{Pending, Work};
use crate::window::Window;

use super::Kind;

/// So many lines are told of one kind of object.
const MOST: usize = 4;

impl Pending {
    fn begun_by(&self, name: &str) -> bool {
        self.begun.get().and_then(|begun| begun.begun_by).is_some_and(|by| by.name().starts_with(name))
    }

    /// `the request of MPI_Isend`.
    fn in_words(&self) -> String {
        match self.begun.get().and_then(|begun| begun.begun_by) {
            Some(by) => format!("the request of {}", by.name()),
            None => "a request".to_owned(),
        }
    }
}

impl Rank {
    /// Ends the execution if something is left.
    pub fn check_leftovers(&self) {
        if !self.world.explored {
            return;
        }
        self.check_meetings();
        self.check_requests();
        self.check_windows_are_closed();
        self.owns_nothing();
        // What no session and no process belongs to may be freed by who has none any more.
        let lasting = [
            self.left("info object", &self.infos.borrow(), |_, _| true),
            self.left("error handler", &self.errhandlers.borrow(), |handle, handler| {
                handler.holders.get() as usize > self.objects_with(Errhandler(handle))
            }),
        ];
        self.check_left(lasting);
    }

    /// The last session of a process that has not called `MPI_Init` is about to end: what was made in it is freed (11.3.1).
    pub fn check_left_of_sessions(&self) {
        if !self.world.explored || self.stage.get() == Stage::Within || self.sessions.borrow().len() > 1 {
            return;
        }
        self.check_requests();
        self.check_windows_are_closed();
        self.check_left([]);
    }

    /// A process ends by itself, with this code: its sessions are over.
    pub fn check_sessions_are_over(&self, code: i32) {
        let left = self.sessions.borrow();
        if let (true, Some((.., at))) = (self.world.explored && code == 0, left.with_origins().next()) {
            let message = format!("ended without MPI_Session_finalize of the session{}", self.line_of(at));
            self.finding(Kind::MissingFinalize, &message);
        }
    }

    /// A thread calls that is not the one that called `MPI_Init` (11.6).
    pub fn check_thread(&self) {
        let level = self.thread_level.get();
        if self.stage.get() == Stage::Within && level < abi::THREAD_SERIALIZED {
            let name = if level == abi::THREAD_SINGLE { "SINGLE" } else { "FUNNELED" };
            let message = format!(
                "{}: called by another thread than MPI_Init was, and the level of thread support is MPI_THREAD_{name}",
                self.call_name()
            );
            self.finding(Kind::CallOrder, &message);
        }
    }

    fn check_left<const N: usize>(&self, more: [Option<String>; N]) {
        let left = [
            self.left("communicator", &self.comms.borrow(), |handle, _| handle != self.parent.get().0),
            self.left("datatype", &self.types.borrow(), |_, datatype| !datatype.is_predefined()),
            self.left("group", &self.groups.borrow(), |_, _| true),
            self.left("operator", &self.operators.borrow(), |_, _| true),
            self.left("window", &self.windows.borrow(), |_, _| true),
            self.left("file", &self.files.borrow(), |_, _| true),
            self.left("attribute key", &self.keyvals.borrow(), |_, keyval| !keyval.freed.get()),
            self.left("matched message", &self.messages.borrow(), |_, _| true),
        ];
        let left: Vec<String> = left.into_iter().chain(more).flatten().collect();
        if !left.is_empty() {
            self.finding(Kind::Leak, &format!("{}: never freed: {}", self.call_name(), left.join("; ")));
        }
    }

    /// How many objects have an error handler, which stays while they do.
    fn objects_with(&self, errhandler: Errhandler) -> usize {
        let own = [&self.comm_world.errhandler, &self.comm_self.errhandler, &self.file_errhandler];
        own.into_iter().filter(|place| place.get() == errhandler).count()
            + self.comms.borrow().iter().filter(|comm| comm.errhandler.get() == errhandler).count()
            + self.windows.borrow().iter().filter(|window| window.errhandler.get() == errhandler).count()
            + self.files.borrow().iter().filter(|file| file.errhandler.get() == errhandler).count()
            + self.sessions.borrow().iter().filter(|session| session.errhandler.get() == errhandler).count()
    }

    fn left<T>(&self, what: &str, table: &Table<T>, is_left: impl Fn(usize, &T) -> bool) -> Option<String> {
        let mut made: Vec<usize> = table
            .with_origins()
            .filter(|(handle, object, _)| is_left(*handle, object))
            .map(|found| found.2)
            .collect();
        if made.is_empty() {
            return None;
        }
        let count = made.len();
        made.sort_unstable();
        made.dedup();
        let mut lines: Vec<String> =
            made.iter().filter_map(|at| self.for_others(|| self.world.lines.at(*at))).collect();
        lines.dedup();
        let more = if lines.len() > MOST { ", ..." } else { "" };
        lines.truncate(MOST);
        let plural = if count == 1 { "" } else { "s" };
        let lines =
            if lines.is_empty() { String::new() } else { format!(" made at {}{more}", lines.join(", ")) };
        Some(format!("{count} {what}{plural}{lines}"))
    }

    /// Requests that are under way, or were never started, or not freed.
    fn check_requests(&self) {
        let requests = self.requests.borrow();
        if let Some((_, request, at)) = requests.with_origins().next() {
            let by = request.begun.get().and_then(|begun| begun.begun_by);
            let by = by.map_or("a request", |by| by.name());
            let line = self.line_of(at);
            let message = match (&request.persistent, request.active.get()) {
                (None, _) | (Some(_), true) => {
                    format!("the request of {by}{line} is never completed by a wait or test")
                }
                (Some(_), false) if !request.was_started.get() => {
                    format!("the persistent request{line} is never started, and never freed")
                }
                (Some(_), false) => format!("the persistent request{line} is never freed"),
            };
            let message = format!("{}: {message}", self.call_name());
            self.finding(Kind::Request, &message);
        }
    }

    /// A request is freed that was cancelled, which ends it as a wait does (3.8.4): its message is taken back or there by now.
    pub fn ends_cancelled(&self, request: &Pending) {
        let is_receive = matches!(&*request.work.borrow(), Work::Receive(_));
        if self.world.explored && request.cancelled.get() && request.active.get() && is_receive {
            self.wait_for(request);
            request.active.set(false);
            self.owns_no_longer(request);
        }
    }

    /// A request is freed: what is under way then is never known to be complete.
    pub fn check_freed(&self, request: &Pending) {
        if !self.world.explored {
            return;
        }
        if request.was_awaited.get() && !request.was_started.get() {
            let message = "MPI_Request_free: the persistent request was waited for, and never started";
            self.finding(Kind::Request, message);
        }
        if !request.active.get() {
            return;
        }
        let is_send = matches!(&*request.work.borrow(), Work::Nothing);
        if !is_send && !request.was_told.get() {
            let by = request.begun.get().and_then(|begun| begun.begun_by).map_or("a receive", |by| by.name());
            let message = format!(
                "MPI_Request_free: the request of {by} is active: nothing tells when its buffer can be used again"
            );
            self.finding(Kind::Request, &message);
        }
    }

    /// A request is waited for or tested: one that was not started yet is complete. If it never is, that was a mistake.
    pub fn check_waited(&self, request: Option<&Pending>) {
        let Some(request) = request.filter(|_| self.world.explored) else { return };
        if !request.was_started.get() {
            request.was_awaited.set(true);
        }
    }

    /// Several requests are waited for or tested: each of them once.
    pub fn check_distinct(&self, requests: &[(usize, Rc<Pending>)]) {
        if !self.world.explored {
            return;
        }
        let is_there =
            |place: usize| requests[..place].iter().any(|(_, one)| Rc::ptr_eq(one, &requests[place].1));
        if let Some(place) = (1..requests.len()).find(|place| is_there(*place)) {
            let message =
                format!("{}: {} stands twice in the array", self.call_name(), requests[place].1.in_words());
            self.finding(Kind::Request, &message);
        }
    }

    /// A request is cancelled: only sends, receives and requests of the program itself can be (3.8.4).
    pub fn check_cancelled(&self, request: &Pending) {
        use crate::request::Persistent;
        let is_message = match request.persistent.as_deref() {
            Some(Persistent::Send(_) | Persistent::Receive(_)) => true,
            Some(_) => false,
            None if request.begun_by("MPI_Isendrecv") => true,
            None => request.comm.is_some() && !matches!(&*request.work.borrow(), Work::Several(_)),
        };
        let is_own = matches!(&*request.work.borrow(), Work::Generalized(_));
        if self.world.explored && !is_message && !is_own {
            let message = format!(
                "MPI_Cancel: {} cannot be cancelled: only those of sends and receives can",
                request.in_words()
            );
            self.finding(Kind::Request, &message);
        }
    }

    /// Windows that are left within an epoch.
    fn check_windows_are_closed(&self) {
        self.windows.borrow().iter().for_each(|window| self.check_window_is_closed(window));
    }

    /// A window ends: no epoch is open.
    pub fn check_window_is_closed(&self, window: &Window) {
        if let Some(open) = window.is_open().filter(|_| self.world.explored) {
            self.finding(Kind::Epoch, &format!("{} within {open}", self.call_name()));
        }
    }
}
