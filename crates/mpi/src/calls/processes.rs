//! Processes that are started, or met, while the program runs (MPI 5.0, 11.7 to 11.11).

use std::ffi::c_char;
use std::rc::Rc;

use super::{check_place, elements, give};
use crate::abi::{self, Comm, Info, text_of, write_text};
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::meeting::{CONNECTING, Side};
use crate::rank::Rank;
use crate::spawning::Command;

/// The communicator of those who call, and whether this process is the root of the call.
fn callers(me: &Rank, comm: Comm, root: i32) -> Result<(Rc<Communicator>, usize, bool)> {
    let found = me.comm(comm)?;
    if found.is_inter() {
        return fail(abi::ERR_COMM, "the communicator connects two groups: an intracommunicator is wanted");
    }
    match usize::try_from(root) {
        Ok(root) if root < found.size() => {
            let is_root = found.rank == root;
            Ok((found, root, is_root))
        }
        _ => fail(
            abi::ERR_ROOT,
            format!("the root is rank {root}, and the communicator has {} processes", found.size()),
        ),
    }
}

/// The text that a program gives.
fn text(place: *const c_char, what: &str) -> Result<String> {
    if place.is_null() {
        return fail(abi::ERR_ARG, format!("{what} is a null pointer"));
    }
    // SAFETY: it ends with a zero.
    Ok(unsafe { text_of(place) })
}

/// The arguments of a program, up to a null pointer.
fn arguments(argv: *mut *mut c_char) -> Vec<String> {
    let mut found = Vec::new();
    if argv as usize == abi::ARGV_NULL {
        return found;
    }
    loop {
        // SAFETY: the list ends with a null pointer, and each text with a zero.
        unsafe {
            let argument = *argv.add(found.len());
            if argument.is_null() {
                return found;
            }
            found.push(text_of(argument));
        }
    }
}

fn command(
    me: &Rank,
    program: *const c_char,
    argv: *mut *mut c_char,
    count: i32,
    info: Info,
) -> Result<Command> {
    let program = text(program, "the command")?;
    let Ok(count) = usize::try_from(count) else {
        return fail(abi::ERR_ARG, format!("maxprocs is {count}: it must not be negative"));
    };
    Ok(Command { program, arguments: arguments(argv), count, info: me.hints(info)? })
}

/// Starts what the root says, and writes what came of it.
fn start(
    me: &Rank,
    (comm, root, wanted): (Rc<Communicator>, usize, Option<Result<Vec<Command>>>),
    intercomm: *mut Comm,
    codes: *mut i32,
) -> Result {
    let asked = wanted.as_ref().and_then(|wanted| wanted.as_ref().ok());
    let asked = asked.map(|commands| commands.iter().map(|command| command.count).sum::<usize>());
    let made = me.spawn(&comm, root, wanted);
    if codes as usize != abi::ERRCODES_IGNORE {
        let (count, code) = match &made {
            Ok(made) => (made.peers().size(), abi::SUCCESS),
            // The others do not know how many were to be started.
            Err(error) => (asked.unwrap_or(0), error.class),
        };
        for place in 0..count {
            // SAFETY: the program has room for as many as are to be started.
            unsafe { codes.add(place).write(code) };
        }
    }
    give(intercomm, abi::COMM_NULL)?;
    give(intercomm, me.keep_comm(made?))
}

pub fn comm_spawn(
    me: &Rank,
    program: *const c_char,
    argv: *mut *mut c_char,
    maxprocs: i32,
    info: Info,
    root: i32,
    comm: Comm,
    intercomm: *mut Comm,
    array_of_errcodes: *mut i32,
) -> Result {
    let (comm, root, is_root) = callers(me, comm, root)?;
    check_place(intercomm)?;
    let wanted = is_root.then(|| Ok(vec![command(me, program, argv, maxprocs, info)?]));
    start(me, (comm, root, wanted), intercomm, array_of_errcodes)
}

/// The programs that the root of `MPI_Comm_spawn_multiple` lists.
fn commands(
    me: &Rank,
    count: i32,
    programs: *mut *mut c_char,
    argvs: *mut *mut *mut c_char,
    maxprocs: *const i32,
    infos: *const Info,
) -> Result<Vec<Command>> {
    if count < 1 {
        return fail(abi::ERR_COUNT, format!("the number of commands is {count}: it must be positive"));
    }
    let programs = elements(count, programs.cast_const(), "commands")?;
    let (counts, infos) = (elements(count, maxprocs, "maxprocs")?, elements(count, infos, "infos")?);
    let argvs = match argvs as usize {
        abi::ARGVS_NULL => vec![std::ptr::null_mut(); programs.len()],
        _ => elements(count, argvs.cast_const(), "arguments")?,
    };
    let lists = programs.into_iter().zip(argvs).zip(counts).zip(infos);
    lists.map(|(((program, argv), count), info)| command(me, program, argv, count, info)).collect()
}

pub fn comm_spawn_multiple(
    me: &Rank,
    count: i32,
    array_of_commands: *mut *mut c_char,
    array_of_argv: *mut *mut *mut c_char,
    array_of_maxprocs: *const i32,
    array_of_info: *const Info,
    root: i32,
    comm: Comm,
    intercomm: *mut Comm,
    array_of_errcodes: *mut i32,
) -> Result {
    let (comm, root, is_root) = callers(me, comm, root)?;
    check_place(intercomm)?;
    let wanted = is_root
        .then(|| commands(me, count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info));
    start(me, (comm, root, wanted), intercomm, array_of_errcodes)
}

pub fn comm_get_parent(me: &Rank, parent: *mut Comm) -> Result {
    // Once it was freed there is none (11.8.2).
    let handle = me.parent.get();
    let is_there = me.comms.borrow().get(handle.0).is_some();
    give(parent, if is_there { handle } else { abi::COMM_NULL })
}

/// The longest name of a port.
const LONGEST: usize = abi::MAX_PORT_NAME as usize;

/// Writes the name of a port where the program wants it.
fn give_port(place: *mut c_char, name: &str) -> Result {
    check_place(place)?;
    // SAFETY: the program has room for the longest name.
    unsafe { write_text(name, place, LONGEST) };
    Ok(())
}

pub fn open_port(me: &Rank, info: Info, port_name: *mut c_char) -> Result {
    check_place(port_name)?;
    me.hints(info)?;
    give_port(port_name, &me.open_port())
}

pub fn close_port(me: &Rank, port_name: *const c_char) -> Result {
    me.close_port(&text(port_name, "the name of the port")?)
}

fn meet(
    me: &Rank,
    port_name: *const c_char,
    info: Info,
    root: i32,
    comm: Comm,
    newcomm: *mut Comm,
    side: Side,
) -> Result {
    let (comm, root, is_root) = callers(me, comm, root)?;
    check_place(newcomm)?;
    let port = is_root.then(|| {
        let hints = me.hints(info)?;
        let seconds = hints.get("timeout").and_then(|value| value.trim().parse::<f64>().ok());
        // Where executions are explored any wait with an end may come to it: then only the program says that there is one.
        let otherwise = if me.world.explored { f64::INFINITY } else { CONNECTING };
        let patience = seconds.filter(|seconds| (0.0..1e12).contains(seconds)).unwrap_or(otherwise);
        Ok((text(port_name, "the name of the port")?, patience))
    });
    let made = me.meet_at_port(&comm, root, port, side)?;
    give(newcomm, me.keep_comm(made))
}

pub fn comm_accept(
    me: &Rank,
    port_name: *const c_char,
    info: Info,
    root: i32,
    comm: Comm,
    newcomm: *mut Comm,
) -> Result {
    meet(me, port_name, info, root, comm, newcomm, Side::Accepts)
}

pub fn comm_connect(
    me: &Rank,
    port_name: *const c_char,
    info: Info,
    root: i32,
    comm: Comm,
    newcomm: *mut Comm,
) -> Result {
    meet(me, port_name, info, root, comm, newcomm, Side::Connects)
}

pub fn publish_name(me: &Rank, service_name: *const c_char, info: Info, port_name: *const c_char) -> Result {
    me.hints(info)?;
    let (service, port) = (text(service_name, "the name")?, text(port_name, "the name of the port")?);
    me.publish(&service, &port)
}

pub fn unpublish_name(
    me: &Rank,
    service_name: *const c_char,
    info: Info,
    _port_name: *const c_char,
) -> Result {
    me.hints(info)?;
    me.unpublish(&text(service_name, "the name")?)
}

pub fn lookup_name(me: &Rank, service_name: *const c_char, info: Info, port_name: *mut c_char) -> Result {
    me.hints(info)?;
    let found = me.lookup(&text(service_name, "the name")?)?;
    give_port(port_name, &found)
}

pub fn comm_join(me: &Rank, fd: i32, intercomm: *mut Comm) -> Result {
    check_place(intercomm)?;
    give(intercomm, abi::COMM_NULL)?;
    let made = me.join(fd)?;
    give(intercomm, me.keep_comm(made))
}
