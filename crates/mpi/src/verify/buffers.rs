//! Memory that a communication owns, from its begin to its completion (MPI 5.0, 3.7.2): a send's may be read and not written, a
//! receive's not even read. Other calls are compared with it, and so are the loads and stores of the program itself.

use std::cell::{Cell, RefCell};

use simurgh_native::Touch;

use crate::arguments::{Answer, Arguments};
use crate::file::OpenFile;
use crate::os;
use crate::rank::Rank;
use crate::request::Pending;
use crate::world::Aborted;

use super::Kind;
use super::effort::Unwatched;
use super::used::{BLOCKS_MAX, Role, Used};

/// No variable lies below: constants of the standard that stand for none do.
const PLACES_FIRST: usize = 4096;

/// What communications of a process own.
#[derive(Debug, Default)]
pub struct Buffers {
    owned: RefCell<Vec<Owned>>,
    next: Cell<u64>,
    /// The number of what the last access to a window owns, if it owns something.
    pub(super) last: Cell<u64>,
}

/// What one of them owns.
#[derive(Debug)]
struct Owned {
    number: u64,
    used: Used,
    call: &'static str,
    at: usize,
    /// The moment at which its message was sent, if its request is freed: it is over once that message is known to be received.
    sent: Option<u32>,
    /// What was in it when it began, if it is only read.
    sum: Option<u64>,
}

impl Rank {
    /// A call uses memory: nothing that is under way owns it.
    pub fn check_uses(&self, uses: impl FnOnce() -> Vec<Used>) {
        if self.world.explored
            && (!self.buffers.owned.borrow().is_empty() || !self.windows.borrow().is_empty())
        {
            let uses = uses();
            self.check_each(&uses);
            self.check_windows(&uses, false);
        }
    }

    /// A call has written memory.
    pub fn has_written(&self, uses: impl FnOnce() -> Vec<Used>) {
        if self.world.explored && !self.windows.borrow().is_empty() {
            self.check_windows(&uses(), true);
        }
    }

    /// What a call reads and what it writes do not overlap.
    pub fn check_apart(&self, uses: impl FnOnce() -> (Vec<Used>, Vec<Used>)) {
        if !self.world.explored {
            return;
        }
        let (read, written) = uses();
        if read.iter().any(|read| written.iter().any(|written| written.conflicts(read))) {
            let message =
                format!("{}: the buffers to send from and to receive into overlap", self.call_name());
            self.finding(Kind::BufferRace, &message);
        }
    }

    /// No byte of what a call writes is written twice (3.2.4, 6.5).
    pub fn check_written(&self, uses: &[Used]) {
        let written = uses.iter().filter(|used| used.writes).flat_map(|used| used.blocks.iter().copied());
        let mut written: Vec<(usize, usize)> = written.collect();
        written.sort_unstable();
        let is_twice = written.windows(2).any(|pair| pair[1].0 < pair[0].1);
        if is_twice && written.len() < BLOCKS_MAX {
            let message = format!("{}: entries of what is received overlap each other", self.call_name());
            self.finding(Kind::InvalidArgument, &message);
        }
    }

    fn check_each(&self, uses: &[Used]) {
        self.check_each_until(uses, u64::MAX);
    }

    /// How many operations have begun so far that own something.
    pub fn operations_begun(&self) -> u64 {
        self.buffers.next.get()
    }

    /// A call has written its answers: they do not lie in what operations own that had begun before it, and are not completed by it.
    pub fn check_answers(&self, arguments: &Arguments<'_>, begun: u64) {
        if self.buffers.owned.borrow().is_empty() && self.windows.borrow().is_empty() {
            return;
        }
        let uses = answers(arguments);
        if !uses.is_empty() {
            self.check_each_until(&uses, begun);
            self.check_windows(&uses, true);
        }
    }

    /// Nothing of this meets what one of the first so many owns.
    fn check_each_until(&self, uses: &[Used], last: u64) {
        let found = {
            let owned = self.buffers.owned.borrow();
            let wrong = |owned: &&Owned| {
                owned.number <= last
                    && uses.iter().any(|used| used.conflicts(&owned.used))
                    && !self.is_over(owned)
            };
            owned
                .iter()
                .find(wrong)
                .map(|owned| (owned.used.in_words(), owned.call, owned.at, owned.used.owner_does()))
        };
        let Some((what, call, at, does)) = found else { return };
        let own = if uses.iter().any(|used| used.role == Role::Answer) { "answer" } else { "buffer" };
        let message = format!(
            "{}: its {own} overlaps with {what} of {call}{}, which {does}",
            self.call_name(),
            self.line_of(at),
        );
        self.finding(Kind::BufferRace, &message);
    }

    /// A request begins: it owns memory until it is completed.
    pub fn owns(&self, request: &Pending, uses: impl FnOnce() -> Vec<Used>) {
        if !self.world.explored {
            return;
        }
        request.posted.set(self.moment_of_post());
        let uses: Vec<Used> = uses().into_iter().filter(|used| !used.blocks.is_empty()).collect();
        if uses.is_empty() {
            return;
        }
        self.check_each(&uses);
        let number = self.own_exposed(uses);
        request.owns.set(number);
    }

    /// A call begins what another one ends: the number of what it owns, 0 if that is nothing.
    pub fn owns_until_its_end(&self, uses: impl FnOnce() -> Vec<Used>) -> u64 {
        if !self.world.explored {
            return 0;
        }
        let uses = uses();
        if uses.is_empty() {
            return 0;
        }
        self.check_each(&uses);
        self.own_exposed(uses)
    }

    /// What had this number is over.
    pub fn owns_until_now(&self, number: u64) {
        if number != 0 {
            self.is_done(number);
            self.own_no_longer(number);
        }
    }

    /// What had this number is done with windows and files.
    fn is_done(&self, number: u64) {
        if number != 0 {
            self.is_done_in_windows(number);
            self.is_done_in_files(number);
        }
    }

    /// The same as [`Rank::own`]; what lies in windows is accessed there until then.
    pub(super) fn own_exposed(&self, uses: Vec<Used>) -> u64 {
        let number = self.buffers.next.get() + 1;
        self.begins_in_windows(&uses, number);
        self.own(uses)
    }

    /// Something owns memory from now on: its number.
    pub(super) fn own(&self, uses: Vec<Used>) -> u64 {
        let number = self.buffers.next.get() + 1;
        self.buffers.next.set(number);
        let (call, at) = (self.call_name(), self.caller.get());
        // What is written in its own place changes.
        let stays = |used: &Used| !uses.iter().any(|other| other.writes && other.overlaps(used));
        let sums: Vec<_> = uses.iter().map(|used| used.sum().filter(|_| stays(used))).collect();
        let owned = uses.into_iter().zip(sums);
        let owned = owned.map(|(used, sum)| Owned { number, used, call, at, sent: None, sum });
        self.buffers.owned.borrow_mut().extend(owned);
        self.watches();
        number
    }

    /// A message was just sent that lies in an attached buffer: nobody touches that until the message is known to be received, or the
    /// buffer is empty (3.6).
    pub fn lies_in(&self, buffer: (usize, usize), owns: &Cell<u64>) {
        /// So many messages of one buffer are remembered: the last ones.
        const MESSAGES_MAX: usize = 64;
        if !self.world.explored || buffer.0 >= buffer.1 {
            return;
        }
        if owns.get() == 0 {
            self.buffers.next.set(self.buffers.next.get() + 1);
            owns.set(self.buffers.next.get());
        }
        let number = owns.get();
        let used = Used { role: Role::Attached, ..Used::bytes(buffer.0, buffer.1, true) };
        let (call, at, sent) = (self.call_name(), self.caller.get(), Some(self.moment_of_send()));
        {
            let mut owned = self.buffers.owned.borrow_mut();
            if owned.iter().filter(|owned| owned.number == number).count() == MESSAGES_MAX {
                let oldest = owned.iter().position(|owned| owned.number == number);
                oldest.map(|oldest| owned.remove(oldest));
            }
            owned.push(Owned { number, used, call, at, sent, sum: None });
        }
        self.watches();
    }

    /// A request that is under way owns more.
    pub fn owns_more(&self, request: &Pending, uses: impl FnOnce() -> Used) {
        if !self.world.explored {
            return;
        }
        let uses = [uses()];
        self.check_each(&uses);
        let first = request.owns.get();
        self.begins_in_windows(&uses, if first == 0 { self.buffers.next.get() + 1 } else { first });
        let number = self.own(uses.into());
        if first == 0 {
            request.owns.set(number);
        } else {
            let mut owned = self.buffers.owned.borrow_mut();
            let added = owned.iter_mut().filter(|owned| owned.number == number);
            added.for_each(|owned| owned.number = first);
        }
    }

    /// A part of what a request owns is the program's again.
    pub fn owns_less(&self, request: &Pending, uses: impl FnOnce() -> Used) {
        if self.world.explored {
            let (number, used) = (request.owns.get(), uses());
            self.buffers
                .owned
                .borrow_mut()
                .retain(|owned| owned.number != number || owned.used.blocks != used.blocks);
            self.watches();
        }
    }

    /// A request is freed. What a send owns then is the program's again when it can know that the message was received (3.7.3).
    pub fn owns_unless_received(&self, request: &Pending) {
        let number = request.owns.replace(0);
        self.is_done(number);
        let mut owned = self.buffers.owned.borrow_mut();
        owned
            .iter_mut()
            .filter(|owned| number != 0 && owned.number == number)
            .for_each(|owned| owned.sent = Some(request.posted.get()));
    }

    /// Whether the request was freed, and its message is known to be received.
    fn is_over(&self, owned: &Owned) -> bool {
        let Some(sent) = owned.sent else { return false };
        self.for_others(|| {
            let common = self.world.common.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let received = common.receipts.get(&(self.process, sent));
            received.is_some_and(|(by, moment)| self.knows(*by, *moment))
        })
    }

    /// All accesses to a file that were begun with a request are to be completed by now.
    pub fn check_requests_of(&self, file: &OpenFile) {
        let open = {
            let (owned, begun) = (self.buffers.owned.borrow(), file.begun.borrow());
            let open = owned.iter().find(|owned| begun.contains(&owned.number));
            open.map(|owned| (owned.call, owned.at))
        };
        if let Some((call, at)) = open {
            let (name, line) = (self.call_name(), self.line_of(at));
            let message = format!("{name}: {call}{line} is not completed: its request is waited for first");
            self.finding(Kind::CallOrder, &message);
        }
    }

    /// The process calls `MPI_Finalize`: nothing is under way when that returns.
    pub(super) fn owns_nothing(&self) {
        self.buffers.owned.borrow_mut().clear();
        self.watches();
    }

    /// A request is completed or freed.
    pub fn owns_no_longer(&self, request: &Pending) {
        let number = request.owns.replace(0);
        if number != 0 {
            self.is_done(number);
            self.own_no_longer(number);
            self.has_got(number);
        }
    }

    /// The program is told that a request is complete, which it completes later: its memory is the program's again.
    pub fn tells_complete(&self, request: &Pending) {
        if self.world.explored {
            request.was_told.set(true);
            self.owns_no_longer(request);
        }
    }

    /// What was only read is what it was: not every store is seen when it happens.
    fn check_unchanged(&self, number: u64) {
        let changed = {
            let owned = self.buffers.owned.borrow();
            let is_changed = |owned: &&Owned| {
                owned.number == number && owned.sum.is_some_and(|sum| owned.used.sum() != Some(sum))
            };
            owned.iter().find(is_changed).map(|owned| (owned.used.in_words(), owned.call, owned.at))
        };
        if let Some((what, call, at)) = changed {
            let (name, line) = (self.call_name(), self.line_of(at));
            let message = format!("{name}: {what} of {call}{line} was stored to before it was completed");
            self.finding(Kind::BufferRace, &message);
        }
    }

    /// The memory is the program's again.
    pub(super) fn own_no_longer(&self, number: u64) {
        self.check_unchanged(number);
        self.buffers.owned.borrow_mut().retain(|owned| owned.number != number);
        self.watches();
    }

    /// Watches what is owned now.
    pub fn watches(&self) {
        if !self.world.explored {
            return;
        }
        let owned = self.buffers.owned.borrow();
        let ranges = || {
            let owned = owned.iter().flat_map(|owned| owned.used.blocks.iter().copied());
            owned.chain(self.exposed_memory()).collect()
        };
        match self.world.effort.allowed() {
            0 if owned.is_empty() && self.exposed_memory().is_empty() => {}
            0 => self.world.effort.misses(Unwatched::LaterExecutions),
            effort => os::watch(effort, ranges),
        }
    }

    /// The program is about to touch memory that is watched; whether that is the end of the execution.
    pub fn is_touched(&self, touch: &Touch) -> bool {
        let (start, end) = (touch.address, touch.address + touch.bytes);
        let found = {
            let owned = self.buffers.owned.borrow();
            let wrong = |owned: &&Owned| {
                let conflicts = owned.used.writes || touch.writes;
                conflicts && owned.used.meets(start, end) && !self.is_over(owned)
            };
            owned
                .iter()
                .find(wrong)
                .map(|owned| (owned.used.in_words(), owned.call, owned.at, owned.used.why()))
        };
        let Some((place, call, at, why)) = found else { return self.touches_window(touch) };
        let what = match (touch.frees, touch.writes) {
            (true, _) => "free of",
            (false, true) => "a store to",
            (false, false) => "a load from",
        };
        let message = format!("{what} {place} of {call}{}, which {why}", self.world.lines.in_words(at));
        self.found(Kind::BufferRace, message, touch.at + 1);
        true
    }

    /// Notes what was found; whoever calls ends the process.
    pub(super) fn found(&self, kind: Kind, message: String, at: usize) {
        self.world.effort.looks_closely();
        let mut aborted = self.world.aborted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *aborted = Some(Aborted { process: self.process, code: 1, message, kind, at });
    }
}

/// The memory that the answers of a call were written to.
fn answers(arguments: &Arguments<'_>) -> Vec<Used> {
    // SAFETY: the program gave room for it, where the call has written it.
    let number = |place: usize| unsafe { (place as *const i32).read_unaligned() };
    let (mut uses, mut numbered) = (Vec::new(), 0);
    for ((answer, bytes), (place, count)) in arguments.answers.iter().zip(arguments.places) {
        // Statuses, weights and the like may be ignored.
        if *place < PLACES_FIRST {
            continue;
        }
        let bytes = match answer {
            Answer::One | Answer::Flag | Answer::Number => bytes * usize::try_from(*count).unwrap_or(0),
            Answer::Numbered => bytes * numbered,
            // SAFETY: as above.
            Answer::Text => 1 + unsafe { libc::strlen(*place as *const libc::c_char) },
        };
        if *answer == Answer::Number {
            numbered = usize::try_from(number(*place)).unwrap_or(0);
        }
        if bytes > 0 {
            uses.push(Used { role: Role::Answer, ..Used::bytes(*place, place + bytes, true) });
        }
        if *answer == Answer::Flag && number(*place) == 0 {
            break;
        }
    }
    uses
}
