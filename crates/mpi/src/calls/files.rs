//! Files (MPI 5.0, chapter 14).

use std::ffi::{c_char, c_void};

use super::p2p;
use super::windows::{hints, tell, tell_hints};
use crate::abi::{self, Comm, Datatype, File, Group, Info, Request, Status};
use crate::error::{Error, On, Result, fail};
use crate::file::{Direction, Elements, OpenFile, Place, Representation, Split, View, check_mode};
use crate::rank::Rank;

impl From<p2p::Elements> for Elements {
    fn from(p2p::Elements { buffer, count, datatype }: p2p::Elements) -> Self {
        Elements { buffer, count, datatype }
    }
}

/// Writes a status where the program wants it.
fn tell_status(status: *mut Status, value: Status) -> Result {
    // SAFETY: the program gives a status, or none.
    unsafe { value.write(status) };
    Ok(())
}

/// The name of a file.
fn path(filename: *const c_char) -> Result<String> {
    // SAFETY: the text of the program ends with a zero.
    let path = unsafe { abi::text_of(filename) };
    if path.is_empty() {
        let error = Error::new(abi::ERR_BAD_FILE, "the name of the file is empty");
        return Err(error.on(On::File(abi::FILE_NULL)));
    }
    Ok(path)
}

pub fn file_open(
    me: &Rank,
    comm: Comm,
    filename: *const c_char,
    amode: i32,
    info: Info,
    fh: *mut File,
) -> Result {
    let comm = me.comm(comm)?;
    if comm.is_inter() {
        return fail(
            abi::ERR_COMM,
            "a file is opened by an intracommunicator, and this is an intercommunicator",
        );
    }
    let path = path(filename)?;
    me.check_opened(&comm, amode);
    check_mode(amode).map_err(|error| error.on(On::File(abi::FILE_NULL)))?;
    let file = me.open(&comm, path, amode, hints(me, info)?)?;
    tell(fh, File(me.files.borrow_mut().insert(file)))
}

pub fn file_close(me: &Rank, fh: *mut File) -> Result {
    // SAFETY: the program gives a handle of its own.
    let handle = unsafe { fh.read() };
    let file = me.file(handle)?;
    me.check_described(&file.comm, Vec::new);
    me.check_requests_of(&file);
    me.close(&file).map_err(|error| error.on(On::File(handle)))?;
    me.release_errhandler(file.errhandler.get());
    me.files.borrow_mut().remove(handle.0);
    tell(fh, abi::FILE_NULL)
}

pub fn file_delete(me: &Rank, filename: *const c_char, info: Info) -> Result {
    hints(me, info)?;
    me.delete(&path(filename)?)
}

fn sized(me: &Rank, fh: File, size: i64, only_longer: bool) -> Result {
    let file = me.file(fh)?;
    me.check_direction(&file, Direction::Write)?;
    me.check_not_sequential(&file)?;
    me.check_described(&file.comm, || vec![("sizes", vec![size])]);
    if !only_longer {
        me.check_completed(&file);
    }
    match u64::try_from(size) {
        Ok(size) => me.set_size(&file, size, only_longer),
        Err(_) => fail(abi::ERR_ARG, format!("the size is {size}: it must not be negative")),
    }
}

pub fn file_set_size(me: &Rank, fh: File, size: i64) -> Result {
    sized(me, fh, size, false)
}

pub fn file_preallocate(me: &Rank, fh: File, size: i64) -> Result {
    sized(me, fh, size, true)
}

pub fn file_get_size(me: &Rank, fh: File, size: *mut i64) -> Result {
    tell(size, me.file(fh)?.size()? as i64)
}

pub fn file_get_group(me: &Rank, fh: File, group: *mut Group) -> Result {
    let members = me.file(fh)?.comm.group.clone();
    tell(group, me.keep_group(members))
}

pub fn file_get_amode(me: &Rank, fh: File, amode: *mut i32) -> Result {
    tell(amode, me.file(fh)?.amode)
}

pub fn file_set_info(me: &Rank, fh: File, info: Info) -> Result {
    let file = me.file(fh)?;
    let given = hints(me, info)?;
    file.info.borrow_mut().extend(given);
    Ok(())
}

pub fn file_get_info(me: &Rank, fh: File, info_used: *mut Info) -> Result {
    let hints = me.file(fh)?.info.borrow().clone();
    tell_hints(me, &hints, info_used)
}

pub fn file_set_view(
    me: &Rank,
    fh: File,
    disp: i64,
    etype: Datatype,
    filetype: Datatype,
    datarep: *const c_char,
    info: Info,
) -> Result {
    let file = me.file(fh)?;
    let given = hints(me, info)?;
    let (etype, filetype) = (me.committed(etype)?, me.committed(filetype)?);
    // SAFETY: the text of the program ends with a zero.
    let representation = me.representation(&unsafe { abi::text_of(datarep) })?;
    me.check_view(&file, &etype, &filetype, representation);
    me.check_completed(&file);
    let displacement = match disp {
        abi::DISPLACEMENT_CURRENT if file.amode & abi::MODE_SEQUENTIAL != 0 => {
            file.seen().byte_offset(me.shared_position(&file))
        }
        disp if disp < 0 => {
            return fail(
                abi::ERR_ARG,
                format!("the displacement of the view is {disp}: it must not be negative"),
            );
        }
        disp => disp,
    };
    let view = View::new(displacement, etype, filetype, representation)?;
    if file.amode & abi::MODE_RDONLY == 0 {
        view.check_written()?;
    }
    file.info.borrow_mut().extend(given);
    me.set_view(&file, view)
}

pub fn file_get_view(
    me: &Rank,
    fh: File,
    disp: *mut i64,
    etype: *mut Datatype,
    filetype: *mut Datatype,
    datarep: *mut c_char,
) -> Result {
    let view = me.file(fh)?.seen();
    tell(disp, view.displacement)?;
    tell(etype, me.handle_of_type(&view.etype))?;
    tell(filetype, me.handle_of_type(&view.filetype))?;
    let name = me.representation_name(view.representation);
    // SAFETY: the program has room for the longest name.
    unsafe { abi::write_text(&name, datarep, abi::MAX_DATAREP_STRING as usize) };
    Ok(())
}

pub fn register_datarep(
    me: &Rank,
    datarep: *const c_char,
    read_conversion_fn: abi::Function,
    write_conversion_fn: abi::Function,
    dtype_file_extent_fn: usize,
    extra_state: *mut c_void,
) -> Result {
    // SAFETY: the text of the program ends with a zero.
    let name = unsafe { abi::text_of(datarep) };
    let _ = (dtype_file_extent_fn, extra_state);
    let converts = read_conversion_fn.address != 0 || write_conversion_fn.address != 0;
    me.register_representation(name, converts).map_err(|error| error.on(On::File(abi::FILE_NULL)))
}

pub fn file_seek(me: &Rank, fh: File, offset: i64, whence: i32) -> Result {
    let file = me.file(fh)?;
    me.check_not_sequential(&file)?;
    file.position.set(me.sought(&file, offset, whence, file.position.get())?);
    Ok(())
}

pub fn file_seek_shared(me: &Rank, fh: File, offset: i64, whence: i32) -> Result {
    let file = me.file(fh)?;
    me.check_described(&file.comm, || vec![("offsets", vec![offset]), ("whences", vec![i64::from(whence)])]);
    me.check_not_sequential(&file)?;
    let place = me.sought(&file, offset, whence, me.shared_position(&file))?;
    me.move_shared(&file, place)
}

pub fn file_get_position(me: &Rank, fh: File, offset: *mut i64) -> Result {
    let file = me.file(fh)?;
    me.check_not_sequential(&file)?;
    tell(offset, file.position.get())
}

pub fn file_get_position_shared(me: &Rank, fh: File, offset: *mut i64) -> Result {
    let file = me.file(fh)?;
    tell(offset, me.ask_shared_position(&file)?)
}

pub fn file_get_byte_offset(me: &Rank, fh: File, offset: i64, disp: *mut i64) -> Result {
    let file = me.file(fh)?;
    me.check_not_sequential(&file)?;
    if offset < 0 {
        return fail(abi::ERR_ARG, format!("the offset is {offset}: it must not be negative"));
    }
    tell(disp, file.seen().byte_offset(offset))
}

pub fn file_get_type_extent(me: &Rank, fh: File, datatype: Datatype, extent: *mut i64) -> Result {
    let (file, datatype) = (me.file(fh)?, me.datatype(datatype)?);
    let bytes = match file.seen().representation {
        Representation::External32 if !datatype.is_derived() => datatype.external_size() as i64,
        _ => datatype.extent,
    };
    tell(extent, bytes)
}

pub fn file_set_atomicity(me: &Rank, fh: File, flag: i32) -> Result {
    let file = me.file(fh)?;
    me.check_described(&file.comm, || vec![("flags", vec![i64::from(flag != 0)])]);
    file.atomic.set(flag != 0);
    Ok(())
}

pub fn file_get_atomicity(me: &Rank, fh: File, flag: *mut i32) -> Result {
    tell(flag, i32::from(me.file(fh)?.atomic.get()))
}

pub fn file_sync(me: &Rank, fh: File) -> Result {
    let file = me.file(fh)?;
    me.check_completed(&file);
    me.sync_file(&file)
}

/// A file, and the elements that are read or written.
fn access(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result<(std::rc::Rc<OpenFile>, Elements)> {
    let file = me.file(fh)?;
    Ok((file, me.elements(buf, count, datatype)?.into()))
}

pub fn file_read(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write(&file, Direction::Read, Place::Own, &elements)?)
}

pub fn file_iread(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write(&file, Direction::Read, Place::Own, &elements)?))
}

pub fn file_read_at(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write(&file, Direction::Read, Place::At(offset), &elements)?)
}

pub fn file_iread_at(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write(&file, Direction::Read, Place::At(offset), &elements)?))
}

pub fn file_read_all(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_all(&file, Direction::Read, Place::Own, &elements)?)
}

pub fn file_iread_all(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write_all(&file, Direction::Read, Place::Own, &elements)?))
}

pub fn file_read_at_all(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_all(&file, Direction::Read, Place::At(offset), &elements)?)
}

pub fn file_iread_at_all(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write_all(&file, Direction::Read, Place::At(offset), &elements)?))
}

pub fn file_read_shared(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_shared(&file, Direction::Read, &elements)?)
}

pub fn file_iread_shared(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_shared(&file, Direction::Read, &elements)?))
}

pub fn file_read_ordered(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_ordered(&file, Direction::Read, &elements)?)
}

pub fn file_read_all_begin(me: &Rank, fh: File, buf: *mut c_void, count: i64, datatype: Datatype) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::ReadAll, &elements, || {
        me.read_or_write_all(&file, Direction::Read, Place::Own, &elements)
    })
}

pub fn file_read_all_end(me: &Rank, fh: File, buf: *mut c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::ReadAll, buf)?)
}

pub fn file_read_at_all_begin(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::ReadAtAll, &elements, || {
        me.read_or_write_all(&file, Direction::Read, Place::At(offset), &elements)
    })
}

pub fn file_read_at_all_end(me: &Rank, fh: File, buf: *mut c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::ReadAtAll, buf)?)
}

pub fn file_read_ordered_begin(
    me: &Rank,
    fh: File,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::ReadOrdered, &elements, || {
        me.read_or_write_ordered(&file, Direction::Read, &elements)
    })
}

pub fn file_read_ordered_end(me: &Rank, fh: File, buf: *mut c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::ReadOrdered, buf)?)
}

pub fn file_write(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write(&file, Direction::Write, Place::Own, &elements)?)
}

pub fn file_iwrite(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write(&file, Direction::Write, Place::Own, &elements)?))
}

pub fn file_write_at(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write(&file, Direction::Write, Place::At(offset), &elements)?)
}

pub fn file_iwrite_at(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write(&file, Direction::Write, Place::At(offset), &elements)?))
}

pub fn file_write_all(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_all(&file, Direction::Write, Place::Own, &elements)?)
}

pub fn file_iwrite_all(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write_all(&file, Direction::Write, Place::Own, &elements)?))
}

pub fn file_write_at_all(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_all(&file, Direction::Write, Place::At(offset), &elements)?)
}

pub fn file_iwrite_at_all(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_read_or_write_all(&file, Direction::Write, Place::At(offset), &elements)?))
}

pub fn file_write_shared(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_shared(&file, Direction::Write, &elements)?)
}

pub fn file_iwrite_shared(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    request: *mut Request,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell(request, me.keep(me.begin_shared(&file, Direction::Write, &elements)?))
}

pub fn file_write_ordered(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    status: *mut Status,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    tell_status(status, me.read_or_write_ordered(&file, Direction::Write, &elements)?)
}

pub fn file_write_all_begin(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::WriteAll, &elements, || {
        me.read_or_write_all(&file, Direction::Write, Place::Own, &elements)
    })
}

pub fn file_write_all_end(me: &Rank, fh: File, buf: *const c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::WriteAll, buf)?)
}

pub fn file_write_at_all_begin(
    me: &Rank,
    fh: File,
    offset: i64,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::WriteAtAll, &elements, || {
        me.read_or_write_all(&file, Direction::Write, Place::At(offset), &elements)
    })
}

pub fn file_write_at_all_end(me: &Rank, fh: File, buf: *const c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::WriteAtAll, buf)?)
}

pub fn file_write_ordered_begin(
    me: &Rank,
    fh: File,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    let (file, elements) = access(me, fh, buf, count, datatype)?;
    me.begin_split(&file, Split::WriteOrdered, &elements, || {
        me.read_or_write_ordered(&file, Direction::Write, &elements)
    })
}

pub fn file_write_ordered_end(me: &Rank, fh: File, buf: *const c_void, status: *mut Status) -> Result {
    let file = me.file(fh)?;
    tell_status(status, me.end_split(&file, Split::WriteOrdered, buf)?)
}
