//! Datatypes: which bytes of memory make up a message, and what they mean (MPI 5.0, chapter 5).
//!
//! - `basic`: the types that the standard names;
//! - `layout`: where bytes lie, as compact loops; `pack`: what is copied from there and to there;
//! - `constructors`, `arrays`, `fortran`: how types are made of others;
//! - `contents`: how a type was made, for those who ask;
//! - `signature`: which basic types it has, in order; `external`: how they are written for other machines;
//! - `handles`: types by their handles.

mod arrays;
pub mod basic;
mod constructors;
mod contents;
mod external;
mod fortran;
mod handles;
mod layout;
mod pack;
mod signature;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use arrays::Distribution;
pub use basic::{Basic, Class, Leaf, Number};
pub use contents::Contents;
pub(crate) use fortran::match_size;
pub use handles::Predefined;
pub use layout::Layout;
pub use signature::Signature;

use crate::abi::Datatype;
use crate::attributes::Attributes;

/// A datatype.
#[derive(Debug)]
pub struct Type {
    /// Bytes of data in one element.
    pub size: usize,
    /// Where an element begins, relative to its address.
    pub lb: i64,
    /// From one element to the next.
    pub extent: i64,
    /// The lowest byte of data.
    pub true_lb: i64,
    /// From there to the end of the highest byte of data.
    pub true_extent: i64,
    /// What it is, if it is made of no others.
    pub leaf: Option<Leaf>,
    /// What all of its data are, if they are all the same.
    pub uniform: Option<Leaf>,
    /// Which basic types it has.
    pub signature: Signature,
    /// How it was made.
    pub contents: Contents,
    /// Whether communication may use it.
    pub committed: Cell<bool>,
    /// Its handle, if it is predefined: nobody frees it.
    pub permanent: Cell<Option<Datatype>>,
    /// What programs attached to it.
    pub attributes: RefCell<Attributes>,
    /// What programs call it.
    pub name: RefCell<String>,
    /// Whether the lower bound was set by a program, and the upper one: such alone count then (5.1.6).
    marked: (bool, bool),
    /// What addresses of its data are multiples of.
    align: usize,
    layout: Layout,
    /// The types in it, in the order of the typemap, and how many elements of each.
    parts: Rc<[(usize, Rc<Type>)]>,
}

impl Type {
    /// What it is called: `MPI_INT`, or what the program says, or that it was made by the program.
    pub fn described(&self) -> String {
        match (self.name.borrow().as_str(), self.leaf, self.uniform) {
            ("", Some(leaf), _) => leaf.name(),
            ("", None, Some(leaf)) => format!("a derived type of {}", leaf.name()),
            ("", None, None) => "a derived type".to_owned(),
            (name, ..) => name.to_owned(),
        }
    }

    /// Where an element ends, relative to its address.
    pub fn ub(&self) -> i64 {
        self.lb.wrapping_add(self.extent)
    }

    /// Whether the program made it of other types.
    pub fn is_derived(&self) -> bool {
        self.leaf.is_none()
    }

    /// Whether the standard or a call gives it, and not a constructor.
    pub fn is_predefined(&self) -> bool {
        self.permanent.get().is_some()
    }

    /// What people call it.
    pub fn label(&self) -> String {
        let name = self.name.borrow();
        match (name.is_empty(), self.is_predefined()) {
            (false, _) => name.clone(),
            (true, false) => "a derived datatype".to_owned(),
            (true, true) => "a datatype for a kind of Fortran or a pair".to_owned(),
        }
    }

    /// The same type again, with nothing attached to it.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self {
            contents: self.contents.clone(),
            committed: self.committed.clone(),
            permanent: Cell::new(None),
            attributes: RefCell::default(),
            name: RefCell::default(),
            layout: self.layout.clone(),
            parts: Rc::clone(&self.parts),
            ..*self
        }
    }
}
