//! Handles in C and in Fortran (MPI 5.0, 19.3), and what a program asks of the binary interface (chapter 20).

use std::ffi::c_void;

use super::{check_place, give};
use crate::abi::{
    self, Comm, Datatype, Errhandler, File, Group, Info, Message, Op, Request, Session, Status, Win,
};
use crate::error::{Result, fail};
use crate::info;
use crate::logical::{Booleans, check_size};
use crate::rank::Rank;

pub fn comm_c2f(_me: &Rank, comm: Comm) -> i32 {
    comm.to_fortran()
}

pub fn comm_toint(_me: &Rank, comm: Comm) -> i32 {
    comm.to_fortran()
}

pub fn comm_f2c(_me: &Rank, comm: i32) -> Comm {
    Comm::from_fortran(comm)
}

pub fn comm_fromint(_me: &Rank, comm: i32) -> Comm {
    Comm::from_fortran(comm)
}

pub fn errhandler_c2f(_me: &Rank, errhandler: Errhandler) -> i32 {
    errhandler.to_fortran()
}

pub fn errhandler_toint(_me: &Rank, errhandler: Errhandler) -> i32 {
    errhandler.to_fortran()
}

pub fn errhandler_f2c(_me: &Rank, errhandler: i32) -> Errhandler {
    Errhandler::from_fortran(errhandler)
}

pub fn errhandler_fromint(_me: &Rank, errhandler: i32) -> Errhandler {
    Errhandler::from_fortran(errhandler)
}

pub fn file_c2f(_me: &Rank, file: File) -> i32 {
    file.to_fortran()
}

pub fn file_toint(_me: &Rank, file: File) -> i32 {
    file.to_fortran()
}

pub fn file_f2c(_me: &Rank, file: i32) -> File {
    File::from_fortran(file)
}

pub fn file_fromint(_me: &Rank, file: i32) -> File {
    File::from_fortran(file)
}

pub fn group_c2f(_me: &Rank, group: Group) -> i32 {
    group.to_fortran()
}

pub fn group_toint(_me: &Rank, group: Group) -> i32 {
    group.to_fortran()
}

pub fn group_f2c(_me: &Rank, group: i32) -> Group {
    Group::from_fortran(group)
}

pub fn group_fromint(_me: &Rank, group: i32) -> Group {
    Group::from_fortran(group)
}

pub fn info_c2f(_me: &Rank, info: Info) -> i32 {
    info.to_fortran()
}

pub fn info_toint(_me: &Rank, info: Info) -> i32 {
    info.to_fortran()
}

pub fn info_f2c(_me: &Rank, info: i32) -> Info {
    Info::from_fortran(info)
}

pub fn info_fromint(_me: &Rank, info: i32) -> Info {
    Info::from_fortran(info)
}

pub fn message_c2f(_me: &Rank, message: Message) -> i32 {
    message.to_fortran()
}

pub fn message_toint(_me: &Rank, message: Message) -> i32 {
    message.to_fortran()
}

pub fn message_f2c(_me: &Rank, message: i32) -> Message {
    Message::from_fortran(message)
}

pub fn message_fromint(_me: &Rank, message: i32) -> Message {
    Message::from_fortran(message)
}

pub fn op_c2f(_me: &Rank, op: Op) -> i32 {
    op.to_fortran()
}

pub fn op_toint(_me: &Rank, op: Op) -> i32 {
    op.to_fortran()
}

pub fn op_f2c(_me: &Rank, op: i32) -> Op {
    Op::from_fortran(op)
}

pub fn op_fromint(_me: &Rank, op: i32) -> Op {
    Op::from_fortran(op)
}

pub fn request_c2f(_me: &Rank, request: Request) -> i32 {
    request.to_fortran()
}

pub fn request_toint(_me: &Rank, request: Request) -> i32 {
    request.to_fortran()
}

pub fn request_f2c(_me: &Rank, request: i32) -> Request {
    Request::from_fortran(request)
}

pub fn request_fromint(_me: &Rank, request: i32) -> Request {
    Request::from_fortran(request)
}

pub fn session_c2f(_me: &Rank, session: Session) -> i32 {
    session.to_fortran()
}

pub fn session_toint(_me: &Rank, session: Session) -> i32 {
    session.to_fortran()
}

pub fn session_f2c(_me: &Rank, session: i32) -> Session {
    Session::from_fortran(session)
}

pub fn session_fromint(_me: &Rank, session: i32) -> Session {
    Session::from_fortran(session)
}

pub fn type_c2f(_me: &Rank, datatype: Datatype) -> i32 {
    datatype.to_fortran()
}

pub fn type_toint(_me: &Rank, datatype: Datatype) -> i32 {
    datatype.to_fortran()
}

pub fn type_f2c(_me: &Rank, datatype: i32) -> Datatype {
    Datatype::from_fortran(datatype)
}

pub fn type_fromint(_me: &Rank, datatype: i32) -> Datatype {
    Datatype::from_fortran(datatype)
}

pub fn win_c2f(_me: &Rank, win: Win) -> i32 {
    win.to_fortran()
}

pub fn win_toint(_me: &Rank, win: Win) -> i32 {
    win.to_fortran()
}

pub fn win_f2c(_me: &Rank, win: i32) -> Win {
    Win::from_fortran(win)
}

pub fn win_fromint(_me: &Rank, win: i32) -> Win {
    Win::from_fortran(win)
}

/// The words of a status: it is the same in all languages.
fn copy(from: *const Status, to: *mut Status) -> Result {
    if from.is_null() {
        return fail(
            abi::ERR_ARG,
            "the status is MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE: there is nothing to convert",
        );
    }
    check_place(to)?;
    // SAFETY: the program has a status at either place.
    unsafe { to.write_unaligned(from.read_unaligned()) };
    Ok(())
}

pub fn status_c2f(_me: &Rank, c_status: *const Status, f_status: *mut i32) -> Result {
    copy(c_status, f_status.cast())
}

pub fn status_f2c(_me: &Rank, f_status: *const i32, c_status: *mut Status) -> Result {
    copy(f_status.cast(), c_status)
}

pub fn status_c2f08(_me: &Rank, c_status: *const Status, f08_status: *mut Status) -> Result {
    copy(c_status, f08_status)
}

pub fn status_f082c(_me: &Rank, f08_status: *const Status, c_status: *mut Status) -> Result {
    copy(f08_status, c_status)
}

pub fn status_f082f(_me: &Rank, f08_status: *const Status, f_status: *mut i32) -> Result {
    copy(f08_status, f_status.cast())
}

pub fn status_f2f08(_me: &Rank, f_status: *const i32, f08_status: *mut Status) -> Result {
    copy(f_status.cast(), f08_status)
}

pub fn abi_get_version(_me: &Rank, abi_major: *mut i32, abi_minor: *mut i32) -> Result {
    give(abi_major, abi::ABI_VERSION)?;
    give(abi_minor, abi::ABI_SUBVERSION)
}

/// An info of these keys and values.
fn about(me: &Rank, entries: &[(&str, &str)]) -> Info {
    let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    me.keep_info(info::Info { entries })
}

pub fn abi_get_info(me: &Rank, info: *mut Info) -> Result {
    check_place(info)?;
    let sizes = [("mpi_aint_size", "8"), ("mpi_count_size", "8"), ("mpi_offset_size", "8")];
    give(info, about(me, &sizes))
}

pub fn abi_get_fortran_info(me: &Rank, info: *mut Info) -> Result {
    check_place(info)?;
    let sizes = [
        ("mpi_logical_size", "4"),
        ("mpi_integer_size", "4"),
        ("mpi_real_size", "4"),
        ("mpi_double_precision_size", "8"),
        ("mpi_logical1_supported", "true"),
        ("mpi_logical2_supported", "true"),
        ("mpi_logical4_supported", "true"),
        ("mpi_logical8_supported", "true"),
        ("mpi_logical16_supported", "true"),
        ("mpi_integer1_supported", "true"),
        ("mpi_integer2_supported", "true"),
        ("mpi_integer4_supported", "true"),
        ("mpi_integer8_supported", "true"),
        ("mpi_integer16_supported", "true"),
        ("mpi_real2_supported", "true"),
        ("mpi_real4_supported", "true"),
        ("mpi_real8_supported", "true"),
        ("mpi_real16_supported", "true"),
        ("mpi_complex4_supported", "true"),
        ("mpi_complex8_supported", "true"),
        ("mpi_complex16_supported", "true"),
        ("mpi_complex32_supported", "true"),
        ("mpi_double_complex_supported", "true"),
    ];
    give(info, about(me, &sizes))
}

pub fn abi_set_fortran_info(me: &Rank, info: Info) -> Result {
    let given = me.info(info)?;
    for (key, size) in [
        ("mpi_logical_size", "4"),
        ("mpi_integer_size", "4"),
        ("mpi_real_size", "4"),
        ("mpi_double_precision_size", "8"),
    ] {
        if let Some(other) = given.borrow().get(key).filter(|given| *given != size) {
            return fail(abi::ERR_ABI, format!("{key} is {other}, and the library is made for {size}"));
        }
    }
    Ok(())
}

pub fn abi_set_fortran_booleans(
    me: &Rank,
    logical_size: i32,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
) -> Result {
    let size = check_size(logical_size)?;
    check_place(logical_true)?;
    check_place(logical_false)?;
    // SAFETY: the program has so many bytes at each place.
    let (yes, no) = unsafe {
        (
            std::slice::from_raw_parts(logical_true.cast::<u8>(), size),
            std::slice::from_raw_parts(logical_false.cast::<u8>(), size),
        )
    };
    *me.booleans.borrow_mut() = Some(Booleans::new(logical_size, yes, no)?);
    Ok(())
}

pub fn abi_get_fortran_booleans(
    me: &Rank,
    logical_size: i32,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
    is_set: *mut i32,
) -> Result {
    let size = check_size(logical_size)?;
    check_place(is_set)?;
    let known = *me.booleans.borrow();
    // What compilers on this machine do where the program has not said.
    let known_of_size = known.filter(|known| known.size == size);
    let mut one = [0; 16];
    one[0] = 1;
    let (yes, no) = known_of_size.map_or((one, [0; 16]), |known| (known.yes, known.no));
    check_place(logical_true)?;
    check_place(logical_false)?;
    // SAFETY: the program has room for so many bytes at each place.
    unsafe {
        std::ptr::copy_nonoverlapping(yes.as_ptr(), logical_true.cast(), size);
        std::ptr::copy_nonoverlapping(no.as_ptr(), logical_false.cast(), size);
    }
    give(is_set, i32::from(known_of_size.is_some()))
}
