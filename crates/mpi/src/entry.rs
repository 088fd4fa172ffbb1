//! What happens at every call, before and after the function that does it.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::*;
use crate::arguments::{Answer, Arguments, Meaning};
use crate::errhandler::Raised;
use crate::error::{Error, On, Result};
use crate::os;
use crate::rank::{Rank, Stage};
use crate::verify::Kind;

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

/// What programs find under a name.
pub struct Offered {
    /// The name.
    pub name: &'static str,
    /// The function.
    pub address: *const (),
}

// SAFETY: the address is that of a function, which does not change.
unsafe impl Sync for Offered {}

/// A call that answers with an error code.
#[inline]
pub fn enter(procedure: Procedure, on: On, call: impl FnOnce(&Rank) -> Result) -> i32 {
    called(procedure, on, &Arguments::NONE, call)
}

/// The same, with what the program gave.
#[inline]
pub fn called(
    procedure: Procedure,
    on: On,
    arguments: &Arguments<'_>,
    call: impl FnOnce(&Rank) -> Result,
) -> i32 {
    let mut call = Some(call);
    entered(procedure, on, arguments, &mut |me| call.take().map_or(Ok(()), |call| call(me)))
}

/// The same for all procedures: there are two thousand entry points, and this is compiled once.
fn entered(
    procedure: Procedure,
    on: On,
    arguments: &Arguments<'_>,
    call: &mut dyn FnMut(&Rank) -> Result,
) -> i32 {
    let mut code = SUCCESS;
    within(procedure, arguments, &mut |me| {
        let allowed = is_allowed(me, procedure, on);
        match on {
            On::Comm(comm) if me.world.explored && allowed.is_ok() => me.check_together(comm, procedure),
            On::File(file) if me.world.explored && allowed.is_ok() => me.check_file(file, procedure),
            _ => {}
        }
        let begun = me.operations_begun();
        let result = allowed.and_then(|()| call(me));
        if me.world.explored && result.is_ok() {
            me.check_answers(arguments, begun);
        }
        if let Err(error) = result {
            // What the tools interface has to say is nobody's error (15.3.2).
            code = match procedure.name().starts_with("MPI_T_") {
                true => error.class,
                false => me.handle_error(procedure, on, error),
            };
        }
    });
    code
}

/// A call that answers with something else.
#[inline]
pub fn answer<T>(procedure: Procedure, call: impl FnOnce(&Rank) -> T) -> T {
    let (mut call, mut answer) = (Some(call), None);
    within(procedure, &Arguments::NONE, &mut |me| answer = call.take().map(|call| call(me)));
    answer.expect("it was called")
}

/// The program calls: its computation counts, memory is taken from the library's heap, and the time that it takes is noted. A
/// function of the program that is called from here may call again.
fn within(procedure: Procedure, arguments: &Arguments<'_>, call: &mut dyn FnMut(&Rank)) {
    if os::is_worker() {
        return os::on_process(&mut || within(procedure, arguments, call));
    }
    let me = os::rank();
    if os::is_child() {
        os::end_child(&format!("calls {}", procedure.name()));
    }
    os::in_heap_of_library(|| {
        let outer = me.procedure.replace(Some(procedure));
        let caller = me.caller.replace(os::caller());
        if outer.is_none() {
            me.doing.begins(arguments);
            me.polling.is_first.set(true);
            me.has_computed();
            if procedure != Procedure::Wtime {
                me.clock_reads.set(0);
            }
        }
        let before = os::now();
        if me.world.explored && os::is_for_worker() {
            me.check_thread();
        }
        guarded(procedure, || call(me));
        me.procedure.set(outer);
        me.caller.set(caller);
        if outer.is_some() {
            os::set_caller(caller);
        }
        if outer.is_none() {
            me.has_called(procedure, before, os::now());
            me.goes_on();
        }
    });
}

/// The variant for large counts of a call that has to know.
fn large<T>(me: &Rank, call: impl FnOnce(&Rank) -> T) -> T {
    me.large.set(true);
    let answer = call(me);
    me.large.set(false);
    answer
}

/// A call of what is not there.
pub fn missing(name: &str) -> ! {
    os::abort(
        Kind::Unsupported,
        1,
        &format!(
            "{name} is not implemented; `simurgh mpi coverage PROGRAM` lists all calls of a program that are not"
        ),
    )
}

/// A mistake of ours must not unwind into the program.
fn guarded<T>(procedure: Procedure, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        os::abort(Kind::Unsupported, 1, &format!("{}: internal error: {message}", procedure.name()))
    })
}

/// Whether it may be called now (MPI 5.0, 11.4.1).
fn is_allowed(me: &Rank, procedure: Procedure, on: On) -> Result {
    if me.stage.get() == Stage::Within {
        return Ok(());
    }
    let always = matches!(
        procedure,
        Procedure::Init
            | Procedure::InitThread
            | Procedure::Initialized
            | Procedure::Finalized
            | Procedure::GetVersion
            | Procedure::GetLibraryVersion
            | Procedure::QueryThread
            | Procedure::ErrorClass
            | Procedure::ErrorString
            | Procedure::Abort
            | Procedure::Pcontrol
    ) || {
        let name = procedure.name();
        ["MPI_T_", "MPI_Info_", "MPI_Session_", "MPI_Abi_", "MPI_Add_error", "MPI_Remove_error"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            || name.ends_with("_create_errhandler")
            || name.ends_with("_call_errhandler")
            || name == "MPI_Errhandler_free"
            || name.ends_with("_c2f")
            || name.ends_with("_f2c")
            || name.ends_with("_toint")
            || name.ends_with("_fromint")
    };
    match me.stage.get() {
        _ if !always && me.world.explored && matches!(on, On::Comm(COMM_WORLD | COMM_SELF)) => {
            let message = "MPI_COMM_WORLD and MPI_COMM_SELF are there from MPI_Init to MPI_Finalize: a process that has a \
                 session alone makes its communicators of the groups of that";
            crate::error::fail(ERR_OTHER, message)
        }
        _ if always || !me.sessions.borrow().is_empty() => Ok(()),
        Stage::Within => Ok(()),
        Stage::Before => crate::error::fail(ERR_OTHER, "called before MPI_Init"),
        Stage::After => crate::error::fail(ERR_OTHER, "called after MPI_Finalize"),
    }
}

impl Rank {
    /// Tells the error handler of an object; gives the code that the call answers with, if it goes on.
    pub fn handle_error(&self, procedure: Procedure, on: On, error: Error) -> i32 {
        let raised = Raised {
            procedure: procedure.name(),
            code: error.class,
            message: &error.message,
            on: error.on.unwrap_or(on),
        };
        self.raise(&raised)
    }
}
