//! Procedures whose arguments in Fortran are others than in C.

use std::ffi::{c_char, c_void};

use crate::abi::{self, Comm, Info};
use crate::entry::c;
use crate::fortran::strings::Texts;
use crate::fortran::{Text, handles, length, set, special};

/// Begins.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn init(ierror: *mut i32) {
    // SAFETY: C allows both to be null.
    unsafe { set(ierror, c::init(std::ptr::null_mut(), std::ptr::null_mut())) };
}

/// Begins, with threads.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn init_thread(required: *mut i32, provided: *mut i32, ierror: *mut i32) {
    // SAFETY: C allows the arguments of the program to be null.
    unsafe { set(ierror, c::init_thread(std::ptr::null_mut(), std::ptr::null_mut(), *required, provided)) };
}

/// Tells where the program was started.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn info_create_env(info: *mut i32, ierror: *mut i32) {
    let mut made = abi::INFO_NULL;
    // SAFETY: C allows the arguments of the program to be null; the rest are variables of the program.
    unsafe {
        set(ierror, c::info_create_env(0, std::ptr::null_mut(), &mut made));
        *info = made.to_fortran();
    }
}

/// Controls profiling.
///
/// # Safety
/// Called as Fortran calls. MPI has no error code here; old programs give a variable for it, which is left as it is.
pub unsafe extern "C" fn pcontrol(level: *mut i32) {
    // SAFETY: it is a variable of the program.
    unsafe { c::pcontrol(*level) };
}

/// The time.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn wtime() -> f64 {
    // SAFETY: a process of the program runs.
    unsafe { c::wtime() }
}

/// The precision of the time.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn wtick() -> f64 {
    // SAFETY: a process of the program runs.
    unsafe { c::wtick() }
}

/// The sum of an address and a displacement.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn aint_add(base: *mut i64, displacement: *mut i64) -> i64 {
    // SAFETY: both are variables of the program.
    unsafe { (*base).wrapping_add(*displacement) }
}

/// The difference of two addresses.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn aint_diff(first: *mut i64, second: *mut i64) -> i64 {
    // SAFETY: both are variables of the program.
    unsafe { (*first).wrapping_sub(*second) }
}

/// Keeps the compiler from holding a buffer in registers: that it is called is all.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_f_sync_reg(_buffer: *mut c_void) {}

/// The same, for `mpi_f08`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_simurgh_f_sync_reg_ts(_buffer: *mut c_void) {}

/// `MPI_Alloc_mem` with a `TYPE(C_PTR)`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_alloc_mem_cptr(
    size: *mut i64,
    info: *mut i32,
    base: *mut c_void,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe { set(ierror, c::alloc_mem(*size, Info::from_fortran(*info), base)) };
}

/// `MPI_Win_allocate` with a `TYPE(C_PTR)`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_win_allocate_cptr(
    size: *mut i64,
    unit: *mut i32,
    info: *mut i32,
    comm: *mut i32,
    base: *mut i64,
    win: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program, and the pointer has the size of an address.
    unsafe { crate::entry::f::win_allocate(size, unit, info, comm, base.cast(), win, ierror) };
}

/// `MPI_Win_allocate_shared` with a `TYPE(C_PTR)`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_win_allocate_shared_cptr(
    size: *mut i64,
    unit: *mut i32,
    info: *mut i32,
    comm: *mut i32,
    base: *mut i64,
    win: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: as above.
    unsafe { crate::entry::f::win_allocate_shared(size, unit, info, comm, base.cast(), win, ierror) };
}

/// `MPI_Win_shared_query` with a `TYPE(C_PTR)`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_win_shared_query_cptr(
    win: *mut i32,
    rank: *mut i32,
    size: *mut i64,
    unit: *mut i32,
    base: *mut i64,
    ierror: *mut i32,
) {
    // SAFETY: as above.
    unsafe { crate::entry::f::win_shared_query(win, rank, size, unit, base.cast(), ierror) };
}

/// Starts processes.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn comm_spawn(
    command: *mut c_char,
    argv: *mut c_char,
    count: *mut i32,
    info: *mut i32,
    root: *mut i32,
    comm: *mut i32,
    intercomm: *mut i32,
    codes: *mut i32,
    ierror: *mut i32,
    command_length: usize,
    argv_length: usize,
) {
    // SAFETY: all are variables of the program; the arguments end with a blank one where they are looked at.
    unsafe {
        let special = special();
        let comm = Comm::from_fortran(*comm);
        let is_root = am_root(comm, *root);
        let command = match is_root {
            true => Text::new(command, command_length, false),
            false => Text::new(std::ptr::null(), 0, false),
        };
        let mut arguments = (is_root && !special.is_argv_null(argv))
            .then(|| Texts::until_blank(argv, argv_length, argv_length));
        let arguments = arguments.as_mut().map_or(std::ptr::null_mut(), Texts::as_mut_ptr);
        let mut made = abi::COMM_NULL;
        let result = c::comm_spawn(
            command.as_ptr(),
            arguments,
            *count,
            Info::from_fortran(*info),
            *root,
            comm,
            &mut made,
            special.errcodes(codes),
        );
        *intercomm = made.to_fortran();
        set(ierror, result);
    }
}

/// Starts processes of several programs.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn comm_spawn_multiple(
    count: *mut i32,
    commands: *mut c_char,
    argvs: *mut c_char,
    maxprocs: *mut i32,
    infos: *mut i32,
    root: *mut i32,
    comm: *mut i32,
    intercomm: *mut i32,
    codes: *mut i32,
    ierror: *mut i32,
    command_length: usize,
    argv_length: usize,
) {
    // SAFETY: all are variables of the program; the arguments of each end with a blank one where they are looked at.
    unsafe {
        let special = special();
        let comm = Comm::from_fortran(*comm);
        let programs = if am_root(comm, *root) { length(i64::from(*count)) } else { 0 };
        let command = |index: usize| Text::new(commands.add(index * command_length), command_length, false);
        let mut names = Texts::new((0..programs).map(command).collect());
        // The array is (count, *): the arguments of one program lie `count` apart.
        let of_program = |index: usize| {
            Texts::until_blank(argvs.add(index * argv_length), argv_length, argv_length * programs)
        };
        let no_arguments = programs == 0 || special.is_argv_null(argvs);
        let mut arguments: Vec<Texts> =
            if no_arguments { Vec::new() } else { (0..programs).map(of_program).collect() };
        let mut pointers: Vec<_> = arguments.iter_mut().map(Texts::as_mut_ptr).collect();
        let pointers = if no_arguments { std::ptr::null_mut() } else { pointers.as_mut_ptr() };
        let infos: Vec<Info> = handles(infos, programs, true, Info::from_fortran);
        let mut made = abi::COMM_NULL;
        let result = c::comm_spawn_multiple(
            *count,
            names.as_mut_ptr(),
            pointers,
            maxprocs,
            infos.as_ptr(),
            *root,
            comm,
            &mut made,
            special.errcodes(codes),
        );
        *intercomm = made.to_fortran();
        set(ierror, result);
    }
}

/// Whether the process that runs is the root: what is started is looked at there alone.
unsafe fn am_root(comm: Comm, root: i32) -> bool {
    let mut rank = abi::UNDEFINED;
    // SAFETY: the result is ours.
    unsafe { c::comm_rank(comm, &mut rank) };
    rank == root
}
