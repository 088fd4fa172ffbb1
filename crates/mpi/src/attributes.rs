//! What programs attach to communicators, windows and datatypes (MPI 5.0, 7.7), and what one language reads of what another has
//! attached (19.3.7).

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use crate::abi;
use crate::communicator::Communicator;
use crate::datatype::Type;
use crate::error::{Error, Result, fail};
use crate::os;
use crate::rank::Rank;
use crate::window::Window;

/// How a program attaches and reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// Pointers.
    C,
    /// `INTEGER(KIND=MPI_ADDRESS_KIND)`.
    Fortran,
    /// `INTEGER`, as before MPI 2 (`MPI_ATTR_PUT`).
    OldFortran,
}

/// What is attached under a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// A pointer, from C.
    Pointer(usize),
    /// An address-sized integer, from Fortran.
    Address(Rc<i64>),
    /// An integer, from Fortran.
    Integer(Rc<i32>),
}

impl Value {
    /// What a language attaches.
    pub fn of(language: Language, bits: i64) -> Self {
        match language {
            Language::C => Value::Pointer(bits as usize),
            Language::Fortran => Value::Address(Rc::new(bits)),
            Language::OldFortran => Value::Integer(Rc::new(bits as i32)),
        }
    }

    /// What a language reads: C a pointer to what Fortran has attached, Fortran the pointer of C as a number.
    pub fn read(&self, language: Language) -> i64 {
        match (language, self) {
            (_, Value::Pointer(pointer)) => *pointer as i64,
            (Language::C, Value::Address(value)) => Rc::as_ptr(value) as i64,
            (Language::C, Value::Integer(value)) => Rc::as_ptr(value) as i64,
            (_, Value::Address(value)) => **value,
            (_, Value::Integer(value)) => i64::from(**value),
        }
    }
}

/// To what kind of objects something is attached.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sort {
    /// Communicators.
    Comm,
    /// Datatypes.
    Type,
    /// Windows.
    Win,
}

/// A key under which something is attached, and the program's functions that copy and delete it.
#[derive(Clone, Debug)]
pub struct Keyval {
    /// To what.
    pub sort: Sort,
    /// Called when the object is copied: 0 copies nothing, 1 copies as it is.
    pub copy: usize,
    /// Called when the attribute is deleted; 0 is nothing to call.
    pub delete: usize,
    /// What both are given.
    pub extra_state: i64,
    /// How both are called.
    pub language: Language,
    /// Whether the program has freed it. While something is attached under it, it may do so again.
    pub freed: Cell<bool>,
}

/// What is attached to one object, in the order in which it was.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: i32,
    keyval: Rc<Keyval>,
    value: Value,
}

/// Something that attributes can be attached to.
pub trait Object {
    /// What kind it is.
    const SORT: Sort;

    /// What is attached.
    fn attributes(&self) -> &RefCell<Attributes>;

    /// What the library itself attached.
    fn predefined(&self, _me: &Rank, _key: i32) -> Option<Value> {
        None
    }
}

impl Object for Communicator {
    const SORT: Sort = Sort::Comm;

    fn attributes(&self) -> &RefCell<Attributes> {
        &self.attributes
    }

    fn predefined(&self, me: &Rank, key: i32) -> Option<Value> {
        let values = &me.predefined_attributes;
        Some(Value::Integer(Rc::clone(match key {
            abi::TAG_UB => &values.tag_ub,
            abi::IO => &values.io,
            abi::HOST => &values.host,
            abi::WTIME_IS_GLOBAL => &values.wtime_is_global,
            abi::APPNUM => &values.appnum,
            abi::UNIVERSE_SIZE => &values.universe_size,
            abi::LASTUSEDCODE => {
                let last = me.codes.borrow().last();
                let mut shown = values.last_used_code.borrow_mut();
                if shown.last().is_none_or(|shown| **shown != last) {
                    shown.push(Rc::new(last));
                }
                return shown.last().cloned().map(Value::Integer);
            }
            _ => return None,
        })))
    }
}

impl Object for Type {
    const SORT: Sort = Sort::Type;

    fn attributes(&self) -> &RefCell<Attributes> {
        &self.attributes
    }
}

impl Object for Window {
    const SORT: Sort = Sort::Win;

    fn attributes(&self) -> &RefCell<Attributes> {
        &self.attributes
    }

    fn predefined(&self, _me: &Rank, key: i32) -> Option<Value> {
        self.predefined_attribute(key)
    }
}

/// The predefined attributes of communicators (9.1.2).
#[derive(Debug)]
pub struct Predefined {
    tag_ub: Rc<i32>,
    io: Rc<i32>,
    host: Rc<i32>,
    wtime_is_global: Rc<i32>,
    appnum: Rc<i32>,
    universe_size: Rc<i32>,
    /// Each value that was read: programs keep the pointers.
    last_used_code: RefCell<Vec<Rc<i32>>>,
}

impl Predefined {
    /// Those of a run that has room for so many processes, in one of these programs.
    pub fn new(universe: usize, application: i32) -> Self {
        Self {
            tag_ub: Rc::new(crate::p2p::TAG_MAX),
            io: Rc::new(abi::ANY_SOURCE),
            host: Rc::new(abi::PROC_NULL),
            wtime_is_global: Rc::new(1),
            appnum: Rc::new(application),
            universe_size: Rc::new(universe as i32),
            last_used_code: RefCell::default(),
        }
    }
}

type CopyInC = unsafe extern "C" fn(usize, i32, *mut c_void, *mut c_void, *mut c_void, *mut i32) -> i32;
type DeleteInC = unsafe extern "C" fn(usize, i32, *mut c_void, *mut c_void) -> i32;
type CopyInFortran =
    unsafe extern "C" fn(*const i32, *const i32, *const i64, *const i64, *mut i64, *mut i32, *mut i32);
type DeleteInFortran = unsafe extern "C" fn(*const i32, *const i32, *const i64, *const i64, *mut i32);

impl Keyval {
    /// What a copy of the object has; nothing if the program's function says so.
    fn copied(&self, handle: usize, key: i32, value: &Value) -> Result<Option<Value>> {
        match self.copy {
            0 => return Ok(None),
            1 => return Ok(Some(value.clone())),
            _ => {}
        }
        let (read, mut bits, mut flag) = (value.read(self.language), 0_i64, 0_i32);
        let code = os::in_heap_of_program(|| match self.language {
            Language::C => {
                // SAFETY: the program gave it as a copy function of C.
                let copy = unsafe { std::mem::transmute::<usize, CopyInC>(self.copy) };
                let extra = self.extra_state as *mut c_void;
                // SAFETY: it is given what such a function takes.
                unsafe {
                    copy(handle, key, extra, read as *mut c_void, (&raw mut bits).cast(), &raw mut flag)
                }
            }
            Language::Fortran | Language::OldFortran => {
                // SAFETY: the program gave it as a copy function of Fortran. An address-sized integer begins with the
                // integer of the same value, and has room for one.
                let copy = unsafe { std::mem::transmute::<usize, CopyInFortran>(self.copy) };
                let (handle, mut code) = (handle as i32, abi::SUCCESS);
                // SAFETY: it is given what such a function takes.
                unsafe {
                    copy(
                        &raw const handle,
                        &raw const key,
                        &raw const self.extra_state,
                        &raw const read,
                        &raw mut bits,
                        &raw mut flag,
                        &raw mut code,
                    );
                }
                code
            }
        });
        returned(code, "copy")?;
        Ok((flag != 0).then(|| Value::of(self.language, bits)))
    }

    /// Tells the program that an attribute is deleted.
    fn deleted(&self, handle: usize, key: i32, value: &Value) -> Result {
        if self.delete == 0 {
            return Ok(());
        }
        let read = value.read(self.language);
        let code = os::in_heap_of_program(|| match self.language {
            Language::C => {
                // SAFETY: the program gave it as a delete function of C.
                let delete = unsafe { std::mem::transmute::<usize, DeleteInC>(self.delete) };
                // SAFETY: it is given what such a function takes.
                unsafe { delete(handle, key, read as *mut c_void, self.extra_state as *mut c_void) }
            }
            Language::Fortran | Language::OldFortran => {
                // SAFETY: the program gave it as a delete function of Fortran.
                let delete = unsafe { std::mem::transmute::<usize, DeleteInFortran>(self.delete) };
                let (handle, mut code) = (handle as i32, abi::SUCCESS);
                // SAFETY: it is given what such a function takes.
                unsafe {
                    delete(
                        &raw const handle,
                        &raw const key,
                        &raw const read,
                        &raw const self.extra_state,
                        &raw mut code,
                    );
                }
                code
            }
        });
        returned(code, "delete")
    }
}

fn returned(code: i32, what: &str) -> Result {
    if code == abi::SUCCESS {
        return Ok(());
    }
    Err(Error::new(code, format!("the program's {what} function of an attribute returned the code {code}")))
}

impl Rank {
    /// A new key.
    pub fn new_keyval(&self, keyval: Keyval) -> i32 {
        self.keyvals.borrow_mut().insert(Rc::new(keyval)) as i32
    }

    /// Gives a key back. What is attached under it stays until its objects are freed, and the key can be freed again until
    /// then: delete functions do so.
    ///
    /// # Errors
    /// If it is none of this kind of objects.
    pub fn free_keyval(&self, sort: Sort, key: i32) -> Result {
        self.known_keyval(sort, key)?.freed.set(true);
        self.forget_keyval(key);
        Ok(())
    }

    /// Drops a key that was freed, once nothing is attached under it.
    fn forget_keyval(&self, key: i32) {
        let mut keyvals = self.keyvals.borrow_mut();
        let unused = |keyval: &Rc<Keyval>| keyval.freed.get() && Rc::strong_count(keyval) == 1;
        if keyvals.get(key as usize).is_some_and(unused) {
            keyvals.remove(key as usize);
        }
    }

    /// A key that can be attached under.
    fn keyval(&self, sort: Sort, key: i32) -> Result<Rc<Keyval>> {
        let found = self.known_keyval(sort, key)?;
        if found.freed.get() {
            return fail(abi::ERR_KEYVAL, format!("the key {key} was freed"));
        }
        Ok(found)
    }

    fn known_keyval(&self, sort: Sort, key: i32) -> Result<Rc<Keyval>> {
        match self.keyvals.borrow().get(key as usize) {
            Some(found) if found.sort == sort => Ok(Rc::clone(found)),
            Some(found) => fail(
                abi::ERR_KEYVAL,
                format!("the key {key} is one of {:?}, and the object is a {sort:?}", found.sort),
            ),
            None if key == abi::KEYVAL_INVALID => fail(abi::ERR_KEYVAL, "the key is MPI_KEYVAL_INVALID"),
            None => fail(
                abi::ERR_KEYVAL,
                format!("no key has the number {key}: it is predefined, was freed, or never made"),
            ),
        }
    }

    /// Attaches something to an object; what was there under the key is deleted first.
    ///
    /// # Errors
    /// If there is no such key, or the program's delete function gives an error.
    pub fn set_attribute<T: Object>(&self, object: &T, handle: usize, key: i32, value: Value) -> Result {
        let keyval = self.keyval(T::SORT, key)?;
        self.remove_attribute(object, handle, key)?;
        object.attributes().borrow_mut().entries.push(Entry { key, keyval, value });
        Ok(())
    }

    /// What is attached under a key.
    ///
    /// # Errors
    /// If there is no such key.
    pub fn attribute<T: Object>(&self, object: &T, key: i32) -> Result<Option<Value>> {
        if let Some(value) = object.predefined(self, key) {
            return Ok(Some(value));
        }
        let attributes = object.attributes().borrow();
        if let Some(entry) = attributes.entries.iter().find(|entry| entry.key == key) {
            return Ok(Some(entry.value.clone()));
        }
        self.keyval(T::SORT, key).map(|_| None)
    }

    /// Deletes what is attached under a key.
    ///
    /// # Errors
    /// If there is no such key, or the program's delete function gives an error.
    pub fn delete_attribute<T: Object>(&self, object: &T, handle: usize, key: i32) -> Result {
        if !self.remove_attribute(object, handle, key)? {
            self.keyval(T::SORT, key)?;
        }
        Ok(())
    }

    fn remove_attribute<T: Object>(&self, object: &T, handle: usize, key: i32) -> Result<bool> {
        let found = object.attributes().borrow().entries.iter().find(|entry| entry.key == key).cloned();
        let Some(entry) = found else { return Ok(false) };
        entry.keyval.deleted(handle, key, &entry.value)?;
        object.attributes().borrow_mut().entries.retain(|entry| entry.key != key);
        drop(entry);
        self.forget_keyval(key);
        Ok(true)
    }

    /// Deletes all that is attached to an object, the last first: the object is about to be freed.
    ///
    /// # Errors
    /// If a delete function of the program gives one; what comes after it is still attached.
    pub fn delete_attributes<T: Object>(&self, object: &T, handle: usize) -> Result {
        loop {
            let Some(key) = object.attributes().borrow().entries.last().map(|entry| entry.key) else {
                return Ok(());
            };
            self.remove_attribute(object, handle, key)?;
        }
    }

    /// Attaches to a copy of an object what the program's copy functions say. If one gives an error, nothing is attached.
    ///
    /// # Errors
    /// If a copy function of the program gives one.
    pub fn copy_attributes<T: Object>(&self, object: &T, handle: usize, copy: &T) -> Result {
        let entries = object.attributes().borrow().entries.clone();
        for Entry { key, keyval, value } in entries {
            if let Some(value) = keyval.copied(handle, key, &value)? {
                copy.attributes().borrow_mut().entries.push(Entry { key, keyval, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_reads_what_another_has_attached() {
        let (c, fortran, old) = (Language::C, Language::Fortran, Language::OldFortran);
        assert_eq!(Value::of(c, 77).read(c), 77);
        assert_eq!(Value::of(c, 77).read(fortran), 77);
        assert_eq!(Value::of(fortran, -5).read(old), -5);
        assert_eq!(Value::of(old, 1 << 40 | 3).read(fortran), 3);
        let value = Value::of(fortran, 1 << 40);
        // SAFETY: C is given the address of an address-sized integer, which lives as long as the attribute.
        assert_eq!(unsafe { *(value.read(c) as *const i64) }, 1 << 40);
        let value = Value::of(old, -9);
        // SAFETY: C is given the address of an integer.
        assert_eq!(unsafe { *(value.read(c) as *const i32) }, -9);
    }
}
