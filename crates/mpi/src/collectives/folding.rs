//! Reductions of data without gaps: which of two operands is the left one, and where an operator finds them.

use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::abi::Datatype;
use crate::datatype::Type;
use crate::error::Result;
use crate::operator::{Action, Operator};
use crate::rank::Rank;

/// Bytes that lie where elements of any type may lie.
#[derive(Clone, Default)]
pub struct Scratch {
    words: Vec<u128>,
    length: usize,
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({} bytes)", self.length)
    }
}

impl Scratch {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(16)], length }
    }

    /// A copy.
    pub fn copy(data: &[u8]) -> Self {
        let number = data.len().div_ceil(16);
        let mut words = Vec::<u128>::with_capacity(number);
        // SAFETY: there is room for so many words, the last of which may have more bytes than are copied.
        unsafe {
            if let Some(last) = number.checked_sub(1) {
                words.as_mut_ptr().add(last).write(0);
            }
            std::ptr::copy_nonoverlapping(data.as_ptr(), words.as_mut_ptr().cast::<u8>(), data.len());
            words.set_len(number);
        }
        Self { words, length: data.len() }
    }
}

impl Deref for Scratch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the words have at least so many bytes.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the words have at least so many bytes.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.length) }
    }
}

/// An operator on elements without gaps.
pub trait Combine: fmt::Debug {
    /// Bytes of an element.
    fn element(&self) -> usize;

    /// Whether operands may change places.
    fn is_commutative(&self) -> bool;

    /// What the operator does.
    fn action(&self) -> Option<Action> {
        None
    }

    /// Whether elements are of a type that a program made.
    fn is_derived(&self) -> bool {
        false
    }

    /// `inout` becomes `input` op `inout`, element by element. Both are aligned as elements of the type are.
    ///
    /// # Errors
    /// If the operator does not know the type.
    fn combine(&self, me: &Rank, input: &[u8], inout: &mut [u8]) -> Result;
}

/// A reduction.
#[derive(Clone, Debug)]
pub struct Folding {
    operator: Rc<dyn Combine>,
    /// Bytes of an element.
    pub element: usize,
    /// Whether operands may change places.
    pub commutative: bool,
}

impl Folding {
    /// A reduction by this operator.
    pub fn new(operator: Rc<dyn Combine>) -> Self {
        let (element, commutative) = (operator.element(), operator.is_commutative());
        Self { operator, element, commutative }
    }

    /// What the operator does, if it is one that a program can name.
    pub fn action(&self) -> Option<Action> {
        self.operator.action()
    }

    /// Whether elements are of a type that a program made.
    pub fn is_derived(&self) -> bool {
        self.operator.is_derived()
    }

    /// `data` becomes `left` op `data`; `left` may be shorter, and then the rest stays.
    ///
    /// # Errors
    /// If the operator does not know the type.
    pub fn from_left(&self, me: &Rank, left: &[u8], data: &mut [u8]) -> Result {
        if left.is_empty() {
            return Ok(());
        }
        let data = &mut data[..left.len()];
        match (self.is_aligned(left), self.is_aligned(data)) {
            (true, true) => self.operator.combine(me, left, data),
            (false, true) => self.operator.combine(me, &Scratch::copy(left), data),
            _ => {
                let mut copy = Scratch::copy(data);
                self.operator.combine(me, &Scratch::copy(left), &mut copy)?;
                data.copy_from_slice(&copy);
                Ok(())
            }
        }
    }

    /// `data` becomes `data` op `right`.
    ///
    /// # Errors
    /// If the operator does not know the type.
    pub fn from_right(&self, me: &Rank, right: &[u8], data: &mut [u8]) -> Result {
        if self.commutative {
            return self.from_left(me, right, data);
        }
        if right.is_empty() {
            return Ok(());
        }
        let data = &mut data[..right.len()];
        let mut result = Scratch::copy(right);
        self.from_left(me, data, &mut result)?;
        data.copy_from_slice(&result);
        Ok(())
    }

    /// Whether elements may lie there: numbers of their size may, and 16 is enough for all.
    fn is_aligned(&self, data: &[u8]) -> bool {
        let needed = 1 << self.element.trailing_zeros().min(4);
        data.as_ptr().addr().is_multiple_of(needed)
    }
}

/// An operator of a program or the standard, on a datatype.
#[derive(Debug)]
pub struct Operation {
    /// The operator.
    pub operator: Rc<Operator>,
    /// The handle that an operator of a program is told.
    pub datatype: Datatype,
    /// What it is.
    pub ty: Rc<Type>,
}

impl Combine for Operation {
    fn element(&self) -> usize {
        self.ty.size
    }

    fn is_commutative(&self) -> bool {
        self.operator.commutative
    }

    fn action(&self) -> Option<Action> {
        Some(self.operator.action)
    }

    fn is_derived(&self) -> bool {
        !self.ty.is_predefined()
    }

    fn combine(&self, me: &Rank, input: &[u8], inout: &mut [u8]) -> Result {
        let Some(count) = inout.len().checked_div(self.ty.size) else { return Ok(()) };
        if self.ty.is_contiguous() {
            let (input, inout) = (input.as_ptr().cast(), inout.as_mut_ptr().cast());
            // SAFETY: so many elements lie at both.
            return unsafe { self.operator.apply(me, input, inout, count, self.datatype, &self.ty) };
        }
        let (mut left, mut right) = (Spread::new(&self.ty, count), Spread::new(&self.ty, count));
        left.put(input);
        right.put(inout);
        // SAFETY: so many elements lie at both.
        unsafe {
            self.operator.apply(me, left.first(), right.first(), count, self.datatype, &self.ty)?;
        }
        right.get(inout);
        Ok(())
    }
}

/// Elements of a type with gaps, as they lie in memory.
struct Spread<'a> {
    memory: Scratch,
    /// Where the first element begins: not at the first byte if it has data before that.
    begin: i64,
    ty: &'a Type,
    count: usize,
}

impl<'a> Spread<'a> {
    fn new(ty: &'a Type, count: usize) -> Self {
        // Elements may follow one another backwards.
        let last = ty.extent * (count as i64 - 1);
        let (begin, end) = (ty.true_lb + last.min(0), ty.true_lb + ty.true_extent + last.max(0));
        // The first element stays where it may lie, so it is moved by whole lines.
        let begin = begin.div_euclid(16) * 16;
        Self { memory: Scratch::zeros((end - begin).max(0) as usize), begin, ty, count }
    }

    fn first(&mut self) -> *mut c_void {
        self.memory.words.as_mut_ptr().cast::<u8>().wrapping_offset(-self.begin as isize).cast()
    }

    fn put(&mut self, data: &[u8]) {
        let (first, count) = (self.first(), self.count);
        // SAFETY: there is room for so many.
        unsafe { self.ty.unpack(data, first, count) };
    }

    fn get(&mut self, data: &mut [u8]) {
        let mut packed = crate::message::Data::new();
        let (first, count) = (self.first(), self.count);
        // SAFETY: so many lie there.
        unsafe { self.ty.pack(first, count, &mut packed) };
        data.copy_from_slice(&packed);
    }
}
