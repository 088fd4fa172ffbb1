//! Types by their handles: those of the standard, made when they are first asked for, and those of programs.

use std::cell::RefCell;
use std::rc::Rc;

use super::basic::{self, Leaf, PAIRS};
use super::contents::Contents;
use super::{Basic, Type};
use crate::abi::{self, Datatype};
use crate::error::{Error, Result, fail};
use crate::rank::Rank;

/// The handles of the standard's types are from here on.
const FIRST: usize = 512;

/// The predefined types of a process, as far as it has used them.
#[derive(Debug, Default)]
pub struct Predefined {
    named: RefCell<Vec<Option<Rc<Type>>>>,
    /// Types for Fortran's kinds and pairs without names, by what they were asked for with.
    unnamed: RefCell<Vec<(Asked, Datatype)>>,
}

/// What a predefined type without a name was asked for with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// A combiner, precision and range.
    Kind(i32, i32, i32),
    /// The types of a value and an index.
    Pair(Datatype, Datatype),
}

/// Makes a type of the standard.
fn named(handle: Datatype) -> Option<Result<Type>> {
    let made = match (handle, basic::basic(handle)) {
        (_, Some(basic)) => Type::of_basic(basic),
        (abi::LB, _) => Type::of_mark("MPI_LB", (true, false)),
        (abi::UB, _) => Type::of_mark("MPI_UB", (false, true)),
        _ => {
            let (_, name, value, index) = PAIRS.iter().find(|pair| pair.0 == handle)?;
            let part = |handle| basic::basic(handle).expect("pairs are of basic types");
            Type::of_leaf(Leaf::Pair(part(*value), part(*index)), name, Contents::named())
        }
    };
    Some(made.inspect(|made| made.permanent.set(Some(handle))))
}

impl Predefined {
    /// A type of the standard by its handle.
    pub fn get(&self, handle: Datatype) -> Option<Rc<Type>> {
        let index = handle.0.checked_sub(FIRST)?;
        if let Some(Some(found)) = self.named.borrow().get(index) {
            return Some(Rc::clone(found));
        }
        let made = Rc::new(named(handle)?.ok()?);
        let mut all = self.named.borrow_mut();
        if all.len() <= index {
            all.resize(index + 1, None);
        }
        all[index] = Some(Rc::clone(&made));
        Some(made)
    }
}

impl Rank {
    /// A datatype.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn datatype(&self, datatype: Datatype) -> Result<Rc<Type>> {
        if let Some(found) = self.predefined.get(datatype) {
            return Ok(found);
        }
        if datatype == abi::DATATYPE_NULL {
            return fail(abi::ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
        }
        match self.types.borrow().get(datatype.0) {
            Some(found) => Ok(Rc::clone(found)),
            None => fail(
                abi::ERR_TYPE,
                format!("no datatype has the handle {:#x}: it was freed, or never made", datatype.0),
            ),
        }
    }

    /// A datatype that communication may use.
    ///
    /// # Errors
    /// If the handle stands for none, or its type is not committed.
    pub fn committed(&self, datatype: Datatype) -> Result<Rc<Type>> {
        let found = self.datatype(datatype)?;
        match found.committed.get() {
            true => Ok(found),
            false => fail(
                abi::ERR_TYPE,
                format!(
                    "{} is not committed: call MPI_Type_commit before it is used for communication",
                    found.label()
                ),
            ),
        }
    }

    /// Keeps a datatype, and gives its handle.
    pub fn keep_type(&self, datatype: Type) -> Datatype {
        Datatype(self.types.borrow_mut().insert(Rc::new(datatype)))
    }

    /// A handle that a program may have, and frees, of a type that another was made of.
    pub fn handle_of_type(&self, datatype: &Rc<Type>) -> Datatype {
        datatype.permanent.get().unwrap_or_else(|| self.keep_type(datatype.twin()))
    }

    /// Takes a datatype from the program; what uses it still may go on.
    ///
    /// # Errors
    /// If the handle stands for none, or for a predefined one.
    pub fn drop_type(&self, datatype: Datatype) -> Result<Rc<Type>> {
        let found = self.datatype(datatype)?;
        if found.permanent.get().is_some() {
            return fail(abi::ERR_TYPE, format!("{} is predefined: it cannot be freed", found.label()));
        }
        self.types
            .borrow_mut()
            .remove(datatype.0)
            .ok_or_else(|| Error::new(abi::ERR_TYPE, "the datatype was freed already"))
    }

    /// Frees a datatype, and takes off what is attached to it.
    ///
    /// # Errors
    /// If the handle stands for none, or for a predefined one.
    pub fn free_type(&self, datatype: Datatype) -> Result {
        let found = self.datatype(datatype)?;
        if found.permanent.get().is_none() {
            self.delete_attributes(&*found, datatype.0)?;
        }
        self.drop_type(datatype)?;
        Ok(())
    }

    /// The same datatype again, with what is attached to it.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn dup_type(&self, datatype: Datatype) -> Result<Datatype> {
        let old = self.datatype(datatype)?;
        let copy = Type::dup(&old);
        self.copy_attributes(&*old, datatype.0, &copy)?;
        Ok(self.keep_type(copy))
    }

    /// A predefined type without a name: the same handle for the same question.
    pub(super) fn unnamed(&self, asked: Asked, make: impl FnOnce() -> Result<Type>) -> Result<Datatype> {
        let before =
            self.predefined.unnamed.borrow().iter().find(|known| known.0 == asked).map(|known| known.1);
        if let Some(handle) = before {
            return Ok(handle);
        }
        let made = make()?;
        let handle = self.keep_type(made);
        self.datatype(handle)?.permanent.set(Some(handle));
        self.predefined.unnamed.borrow_mut().push((asked, handle));
        Ok(handle)
    }

    /// The basic type that a handle stands for, if it is one of the standard's.
    pub(super) fn basic(&self, datatype: Datatype) -> Result<Option<&'static Basic>> {
        match self.datatype(datatype)?.leaf {
            Some(Leaf::Basic(basic)) => Ok(Some(basic)),
            _ => Ok(None),
        }
    }
}
