//! Start, end, clocks, memory, versions (MPI 5.0, chapters 9 and 11).

use std::ffi::{c_char, c_void};

use super::communicators::HOST;
use super::{check_place, give};
use crate::abi::{self, Comm, Info, write_text};
use crate::error::{Result, fail};
use crate::os;
use crate::rank::{Rank, Stage};
use crate::verify::Kind;

pub fn init(me: &Rank, _argc: *mut i32, _argv: *mut *mut *mut c_char) -> Result {
    begin(me)
}

pub fn init_thread(
    me: &Rank,
    _argc: *mut i32,
    _argv: *mut *mut *mut c_char,
    required: i32,
    provided: *mut i32,
) -> Result {
    let levels = [abi::THREAD_SINGLE, abi::THREAD_FUNNELED, abi::THREAD_SERIALIZED, abi::THREAD_MULTIPLE];
    if !levels.contains(&required) {
        return fail(abi::ERR_ARG, format!("{required} is no level of thread support"));
    }
    me.thread_level.set(required.min(abi::THREAD_SERIALIZED));
    // SAFETY: the program wants the level there.
    unsafe { provided.write(me.thread_level.get()) };
    begin(me)
}

fn begin(me: &Rank) -> Result {
    if me.world.explored && me.stage.get() != Stage::Before {
        me.finding(Kind::CallOrder, &format!("{}: MPI_Init was called before", me.call_name()));
    }
    match me.stage.get() {
        Stage::Before => {}
        Stage::Within => return fail(abi::ERR_OTHER, "MPI_Init was called before"),
        Stage::After => return fail(abi::ERR_OTHER, "MPI_Init is called after MPI_Finalize"),
    }
    me.sleep(me.world.costs.init);
    me.stage.set(Stage::Within);
    // Nobody goes on before all have begun; that costs nothing.
    os::all_have_begun();
    Ok(())
}

pub fn initialized(me: &Rank, flag: *mut i32) -> Result {
    // SAFETY: the program wants the answer there.
    unsafe { flag.write(i32::from(me.stage.get() != Stage::Before)) };
    Ok(())
}

pub fn finalized(me: &Rank, flag: *mut i32) -> Result {
    // SAFETY: the program wants the answer there.
    unsafe { flag.write(i32::from(me.stage.get() == Stage::After)) };
    Ok(())
}

pub fn finalize(me: &Rank) -> Result {
    me.ends()?;
    me.check_leftovers();
    if me.world.costs.finalize_waits {
        // A replay has its own.
        let _hidden = me.scribe.hide();
        super::collectives::barrier(me, abi::COMM_WORLD)?;
    }
    me.flush_buffer(&me.buffered)?;
    let orphans: Vec<_> = me.orphans.borrow_mut().drain(..).collect();
    for orphan in orphans {
        // What is under way is over when it returns (11.2.2); a simulation goes on without what never comes.
        if me.world.explored {
            me.wait_for(&orphan);
        } else {
            me.test(&orphan);
        }
    }
    me.notes_leftovers();
    me.stage.set(Stage::After);
    Ok(())
}

pub fn query_thread(me: &Rank, provided: *mut i32) -> Result {
    // SAFETY: the program wants the level there.
    unsafe { provided.write(me.thread_level.get()) };
    Ok(())
}

pub fn is_thread_main(_me: &Rank, flag: *mut i32) -> Result {
    // SAFETY: the program wants the answer there.
    unsafe { flag.write(i32::from(!os::is_for_worker())) };
    Ok(())
}

pub fn abort(_me: &Rank, _comm: Comm, errorcode: i32) -> Result {
    os::abort(Kind::Abort, errorcode, &format!("called MPI_Abort with the code {errorcode}"))
}

pub fn wtime(me: &Rank) -> f64 {
    let now = me.clock_of_program();
    me.pays_clock();
    now
}

pub fn wtick(_me: &Rank) -> f64 {
    // The precision of simulated time.
    1e-9
}

pub fn get_processor_name(me: &Rank, name: *mut c_char, resultlen: *mut i32) -> Result {
    let host = &me.world.host_name(me.process);
    // SAFETY: the program has room for so many letters.
    unsafe {
        let length = write_text(host, name, abi::MAX_PROCESSOR_NAME as usize);
        resultlen.write(length as i32);
    }
    Ok(())
}

pub fn get_hw_resource_info(me: &Rank, hw_info: *mut Info) -> Result {
    check_place(hw_info)?;
    // A process stays on its host, and may run on any of its cores.
    let entries = [(HOST, "true"), ("simurgh://core", "false")];
    let entries = entries.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    give(hw_info, me.keep_info(crate::info::Info { entries }))
}

pub fn get_version(_me: &Rank, version: *mut i32, subversion: *mut i32) -> Result {
    // SAFETY: the program wants the numbers there.
    unsafe {
        version.write(5);
        subversion.write(0);
    }
    Ok(())
}

pub fn get_library_version(_me: &Rank, version: *mut c_char, resultlen: *mut i32) -> Result {
    let text = concat!("Simurgh ", env!("CARGO_PKG_VERSION"), ", MPI 5.0, simulated");
    // SAFETY: the program has room for so many letters.
    unsafe {
        let length = write_text(text, version, abi::MAX_LIBRARY_VERSION_STRING as usize);
        resultlen.write(length as i32);
    }
    Ok(())
}

pub fn alloc_mem(_me: &Rank, size: i64, _info: Info, baseptr: *mut c_void) -> Result {
    let Ok(size) = usize::try_from(size) else {
        return fail(abi::ERR_ARG, format!("the size is {size}: it must not be negative"));
    };
    let memory = os::in_heap_of_program(|| {
        // SAFETY: any size may be asked for.
        unsafe { libc::malloc(size.max(1)) }
    });
    if memory.is_null() {
        return fail(abi::ERR_NO_MEM, format!("there is no memory for {size} bytes"));
    }
    // SAFETY: the program wants the address there.
    unsafe { baseptr.cast::<*mut c_void>().write(memory) };
    Ok(())
}

pub fn free_mem(me: &Rank, base: *mut c_void) -> Result {
    me.check_free_of_memory(base as usize);
    // SAFETY: the program gives what MPI_Alloc_mem gave.
    unsafe { libc::free(base) };
    Ok(())
}

pub fn pcontrol(_me: &Rank, _level: i32) -> Result {
    Ok(())
}
