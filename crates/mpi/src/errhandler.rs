//! Error handlers: who is called when a call goes wrong (MPI 5.0, 9.3).

use std::cell::Cell;
use std::rc::Rc;

use crate::abi::{self, Comm, Errhandler, File, Win};
use crate::codes::standard_text;
use crate::communicator::Communicator;
use crate::error::{On, Result, fail};
use crate::file::OpenFile;
use crate::os;
use crate::rank::{Rank, Stage};
use crate::verify::Kind;
use crate::window::Window;

/// Of which objects it handles the errors.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sort {
    /// Communicators.
    Comm,
    /// Windows.
    Win,
    /// Files.
    File,
    /// Sessions.
    Session,
}

/// A function of the program that is called when something goes wrong.
#[derive(Clone, Debug)]
pub struct Handler {
    /// Of which objects.
    pub sort: Sort,
    /// Where it is.
    pub function: usize,
    /// Whether it is called as Fortran calls.
    pub fortran: bool,
    /// How many handles and objects have it.
    pub holders: Cell<u32>,
}

/// Something that went wrong in a call.
#[derive(Copy, Clone, Debug)]
pub struct Raised<'a> {
    /// `MPI_Send`.
    pub procedure: &'a str,
    /// The code that the handler is given.
    pub code: i32,
    /// What it is, for people.
    pub message: &'a str,
    /// Whose handler is called.
    pub on: On,
}

type HandlerInC = unsafe extern "C" fn(*mut usize, *mut i32, ...);
type HandlerInFortran = unsafe extern "C" fn(*mut i32, *mut i32);

/// Whether it is one of the standard.
pub fn is_predefined(errhandler: Errhandler) -> bool {
    matches!(errhandler, abi::ERRORS_ARE_FATAL | abi::ERRORS_ABORT | abi::ERRORS_RETURN)
}

impl Rank {
    /// Keeps an error handler, and gives its handle.
    pub fn new_errhandler(&self, sort: Sort, function: usize, fortran: bool) -> Result<Errhandler> {
        if function == 0 {
            return fail(abi::ERR_ARG, "the error handler is a null pointer");
        }
        let handler = Handler { sort, function, fortran, holders: Cell::new(1) };
        Ok(Errhandler(self.errhandlers.borrow_mut().insert(Rc::new(handler))))
    }

    /// An error handler of the program.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn errhandler(&self, errhandler: Errhandler) -> Result<Rc<Handler>> {
        match self.errhandlers.borrow().get(errhandler.0) {
            Some(found) => Ok(Rc::clone(found)),
            None if errhandler == abi::ERRHANDLER_NULL => {
                fail(abi::ERR_ERRHANDLER, "the error handler is MPI_ERRHANDLER_NULL")
            }
            None => fail(
                abi::ERR_ERRHANDLER,
                format!("no error handler has the handle {:#x}: it was freed, or never made", errhandler.0),
            ),
        }
    }

    /// Checks that an error handler fits a kind of objects.
    ///
    /// # Errors
    /// If it stands for none, or one of other objects.
    pub fn check_errhandler(&self, sort: Sort, errhandler: Errhandler) -> Result {
        if is_predefined(errhandler) {
            return Ok(());
        }
        let found = self.errhandler(errhandler)?.sort;
        if found != sort {
            return fail(
                abi::ERR_ERRHANDLER,
                format!("the error handler is one of {found:?}, and the object is a {sort:?}"),
            );
        }
        Ok(())
    }

    /// One more handle or object has it.
    pub fn hold_errhandler(&self, errhandler: Errhandler) {
        if let Some(handler) = self.errhandlers.borrow().get(errhandler.0) {
            handler.holders.set(handler.holders.get() + 1);
        }
    }

    /// A handle or an object gives it back; the last one ends it.
    pub fn release_errhandler(&self, errhandler: Errhandler) {
        let mut errhandlers = self.errhandlers.borrow_mut();
        let Some(handler) = errhandlers.get(errhandler.0) else { return };
        handler.holders.set(handler.holders.get() - 1);
        if handler.holders.get() == 0 {
            errhandlers.remove(errhandler.0);
        }
    }

    /// Gives an object an error handler in place of the one that it has.
    ///
    /// # Errors
    /// If it does not fit the object.
    pub fn set_errhandler(&self, sort: Sort, place: &Cell<Errhandler>, errhandler: Errhandler) -> Result {
        self.check_errhandler(sort, errhandler)?;
        if sort == Sort::File {
            self.files_are_handled.set(true);
        }
        self.hold_errhandler(errhandler);
        self.release_errhandler(place.replace(errhandler));
        Ok(())
    }

    /// A window.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn window(&self, win: Win) -> Result<Rc<Window>> {
        match self.windows.borrow().get(win.0) {
            Some(found) => Ok(Rc::clone(found)),
            None if win == abi::WIN_NULL => fail(abi::ERR_WIN, "the window is MPI_WIN_NULL"),
            None => fail(
                abi::ERR_WIN,
                format!("no window has the handle {:#x}: it was freed, or never made", win.0),
            ),
        }
    }

    /// A file.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn open_file(&self, file: File) -> Result<Rc<OpenFile>> {
        match self.files.borrow().get(file.0) {
            Some(found) => Ok(Rc::clone(found)),
            None if file == abi::FILE_NULL => fail(abi::ERR_FILE, "the file is MPI_FILE_NULL"),
            None => fail(
                abi::ERR_FILE,
                format!("no file has the handle {:#x}: it was closed, or never opened", file.0),
            ),
        }
    }

    /// Calls the error handler of an object. It comes back if the handler does, with the code that it leaves.
    pub fn raise(&self, raised: &Raised<'_>) -> i32 {
        let (errhandler, handle) = self.errhandler_of(raised.on);
        match errhandler {
            // Errors of files come back unless a program says otherwise (14.7). An argument that is wrong is a mistake all the same.
            abi::ERRORS_RETURN
                if self.world.explored
                    && matches!(raised.on, On::File(_))
                    && !self.files_are_handled.get()
                    && Kind::of_class(raised.code) == Kind::InvalidArgument =>
            {
                self.end(raised)
            }
            abi::ERRORS_RETURN => raised.code,
            abi::ERRORS_ARE_FATAL | abi::ERRORS_ABORT => self.end(raised),
            _ => match self.errhandler(errhandler) {
                Ok(handler) => handler.call(handle, raised.code),
                Err(_) => self.end(raised),
            },
        }
    }

    /// The error handler of an object, and the handle that it is told.
    fn errhandler_of(&self, on: On) -> (Errhandler, usize) {
        let found = match on {
            On::Nothing => None,
            On::Comm(comm) => self.comm(comm).ok().map(|found| (found.errhandler.get(), comm.0)),
            On::Win(win) => self.window(win).ok().map(|found| (found.errhandler.get(), win.0)),
            On::File(abi::FILE_NULL) => Some((self.file_errhandler.get(), abi::FILE_NULL.0)),
            On::File(file) => self.open_file(file).ok().map(|found| (found.errhandler.get(), file.0)),
            On::Session(session) => {
                self.session(session).ok().map(|found| (found.errhandler.get(), session.0))
            }
            On::Given(errhandler) => {
                let nothing = match self.errhandler(errhandler).map(|handler| handler.sort) {
                    Ok(Sort::Session) => abi::SESSION_NULL.0,
                    _ => abi::COMM_NULL.0,
                };
                Some((errhandler, nothing))
            }
        };
        found.unwrap_or_else(|| {
            // That of MPI_COMM_SELF (9.3). Programs older than MPI 4 set that of MPI_COMM_WORLD alone.
            match self.comm_self.errhandler.get() {
                abi::ERRORS_ARE_FATAL => (self.comm_world.errhandler.get(), abi::COMM_WORLD.0),
                other => (other, abi::COMM_SELF.0),
            }
        })
    }

    /// Whose errors are those of a communicator that something under way was begun on, whatever its handle is.
    pub fn on_comm(&self, comm: &Rc<Communicator>) -> On {
        if Rc::ptr_eq(comm, &self.comm_world) {
            return On::Comm(abi::COMM_WORLD);
        }
        let handle = self.comms.borrow().find(|other| Rc::ptr_eq(comm, other));
        handle.map_or(On::Nothing, |handle| On::Comm(Comm(handle)))
    }

    /// Ends the run, with one line that says who did what, where, and what is wrong with it.
    fn end(&self, raised: &Raised<'_>) -> ! {
        let Raised { procedure, code, message, on } = raised;
        let named = |name: &std::cell::RefCell<String>, what: &str| match name.borrow().as_str() {
            "" => format!(" on {what} without a name"),
            name => format!(" on {name}"),
        };
        let place = match on {
            On::Comm(comm) => self.comm(*comm).map(|found| named(&found.name, "a communicator")),
            On::Win(win) => self.window(*win).map(|found| named(&found.name, "a window")),
            _ => Ok(String::new()),
        };
        let class = self.codes.borrow().class(*code).unwrap_or(*code);
        let class = match standard_text(class).and_then(|text| text.split(':').next()) {
            Some(name) => name.to_owned(),
            None => format!("error {code}"),
        };
        let kind = match (self.stage.get(), Kind::of_class(*code)) {
            (Stage::Within, kind) => kind,
            (_, _) => Kind::CallOrder,
        };
        os::abort(kind, *code, &format!("{procedure}{}: {message} ({class})", place.unwrap_or_default()))
    }
}

impl Handler {
    /// Calls the program's function: the code that it leaves.
    fn call(&self, mut handle: usize, mut code: i32) -> i32 {
        os::in_heap_of_program(|| {
            if self.fortran {
                let mut handle = handle as i32;
                // SAFETY: the program gave it as an error handler of Fortran.
                let function = unsafe { std::mem::transmute::<usize, HandlerInFortran>(self.function) };
                // SAFETY: it is given what such a function takes.
                unsafe { function(&raw mut handle, &raw mut code) };
            } else {
                // SAFETY: the program gave it as an error handler of C.
                let function = unsafe { std::mem::transmute::<usize, HandlerInC>(self.function) };
                // SAFETY: it is given what such a function takes.
                unsafe { function(&raw mut handle, &raw mut code) };
            }
        });
        code
    }
}
