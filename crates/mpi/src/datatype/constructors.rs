//! How types are made of others (MPI 5.0, 5.1.2 to 5.1.10).
//!
//! Each constructor is a list of blocks: so many elements of a type, here. Bounds follow from it: the lowest and the highest
//! byte, rounded up to the strictest alignment; but where a part has bounds that a program set, such bounds alone count.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::basic::{Basic, Leaf};
use super::contents::Contents;
use super::layout::Layout;
use super::signature::{Signature, of_parts};
use super::{Type, signature};
use crate::abi;
use crate::error::{Result, fail};

/// So many elements of a type, at a displacement in bytes.
pub(super) struct Block<'a> {
    pub displacement: i64,
    pub count: usize,
    pub old: &'a Rc<Type>,
}

/// Bounds that programs set: the lowest of the lower ones, the highest of the upper ones.
#[derive(Copy, Clone, Default)]
pub(super) struct Marks {
    pub low: Option<i128>,
    pub high: Option<i128>,
}

impl Marks {
    /// Both.
    pub fn both(low: i128, high: i128) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    fn and(self, other: Self) -> Self {
        let either = |one: Option<i128>, other: Option<i128>, both: fn(i128, i128) -> i128| match (one, other)
        {
            (Some(one), Some(other)) => Some(both(one, other)),
            (one, other) => one.or(other),
        };
        Self { low: either(self.low, other.low, i128::min), high: either(self.high, other.high, i128::max) }
    }

    /// Those of `count` at a stride.
    fn repeated(self, count: usize, stride: i64) -> Self {
        let last = i128::from(stride) * (count as i128 - 1);
        Self { low: self.low.map(|low| low + last.min(0)), high: self.high.map(|high| high + last.max(0)) }
    }

    fn shifted(self, by: i64) -> Self {
        let by = i128::from(by);
        Self { low: self.low.map(|low| low + by), high: self.high.map(|high| high + by) }
    }
}

impl Type {
    /// A type that is made of no others.
    pub(super) fn of_leaf(leaf: Leaf, name: &str, contents: Contents) -> Result<Self> {
        let (layout, signature) = match leaf {
            Leaf::Basic(basic) => (Layout::block(0, basic.size), Signature::of(basic)),
            Leaf::Pair(value, index) => {
                let offset = Leaf::index_offset(value, index) as i64;
                let parts = [Layout::block(0, value.size), Layout::block(offset, index.size)];
                (Layout::sequence(parts)?, Signature::of(value).then(Signature::of(index)))
            }
        };
        let (true_lb, end) = layout.span().unwrap_or_default();
        Ok(Self {
            size: layout.size(),
            lb: 0,
            extent: (end as usize).next_multiple_of(leaf.align()) as i64,
            true_lb,
            true_extent: end - true_lb,
            leaf: Some(leaf),
            uniform: Some(leaf),
            signature,
            contents,
            committed: Cell::new(true),
            permanent: Cell::new(None),
            attributes: RefCell::default(),
            name: RefCell::new(name.to_owned()),
            marked: (false, false),
            align: leaf.align(),
            layout,
            parts: Rc::new([]),
        })
    }

    /// A named basic type.
    pub(super) fn of_basic(basic: &'static Basic) -> Result<Self> {
        Self::of_leaf(Leaf::Basic(basic), basic.name, Contents::named())
    }

    /// A type of these bytes; its bounds are set, or follow from the layout and the alignment.
    pub(super) fn derived(
        layout: Layout,
        marks: Marks,
        align: usize,
        parts: Vec<(usize, Rc<Type>)>,
        contents: Contents,
    ) -> Result<Self> {
        let (true_lb, true_ub) = layout.span().unwrap_or_default();
        let lb = marks.low.unwrap_or(true_lb.into());
        let natural = i128::from(true_ub) - lb;
        let align = align.max(1);
        let padded =
            if natural > 0 { (natural as u128).next_multiple_of(align as u128) as i128 } else { natural };
        let extent = marks.high.map_or(padded, |high| high - lb);
        let true_extent = true_ub.checked_sub(true_lb);
        let (Ok(lb), Ok(extent), Some(true_extent)) = (i64::try_from(lb), i64::try_from(extent), true_extent)
        else {
            return fail(abi::ERR_ARG, "the datatype is too large: its extent does not fit into 64 bits");
        };
        let (signature, uniform) = of_parts(&parts);
        Ok(Self {
            size: layout.size(),
            lb,
            extent,
            true_lb,
            true_extent,
            leaf: None,
            uniform,
            signature,
            contents,
            committed: Cell::new(false),
            permanent: Cell::new(None),
            attributes: RefCell::default(),
            name: RefCell::default(),
            marked: (marks.low.is_some(), marks.high.is_some()),
            align,
            layout,
            parts: parts.into(),
        })
    }

    /// The bounds that were set.
    fn marks(&self) -> Marks {
        let (lb, extent) = (i128::from(self.lb), i128::from(self.extent));
        Marks { low: self.marked.0.then_some(lb), high: self.marked.1.then_some(lb + extent) }
    }

    /// `MPI_LB` or `MPI_UB`: no data, but a bound. MPI 3.0 has removed them, and programs still use them.
    pub(super) fn of_mark(name: &str, marked: (bool, bool)) -> Result<Self> {
        let mut mark = Self::derived(Layout::empty(), Marks::default(), 1, Vec::new(), Contents::named())?;
        mark.marked = marked;
        mark.committed.set(true);
        name.clone_into(mark.name.get_mut());
        Ok(mark)
    }

    /// Of blocks of any types.
    pub(super) fn of_blocks<'a>(blocks: impl Iterator<Item = Block<'a>>, contents: Contents) -> Result<Self> {
        let blocks = blocks.filter(|block| block.count > 0);
        let (mut marks, mut align) = (Marks::default(), 0);
        let mut layouts = Vec::new();
        let mut parts: Vec<(usize, Rc<Type>)> = Vec::new();
        for Block { displacement, count, old } in blocks {
            marks = marks.and(old.marks().repeated(count, old.extent).shifted(displacement));
            align = align.max(old.align);
            layouts.push(old.layout.repeated(count, old.extent)?.shifted(displacement)?);
            match parts.last_mut() {
                Some((before, last)) if Rc::ptr_eq(last, old) => *before += count,
                _ => parts.push((count, Rc::clone(old))),
            }
        }
        Self::derived(Layout::sequence(layouts)?, marks, align, parts, contents)
    }

    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// If it is too large.
    pub fn contiguous(count: usize, old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_CONTIGUOUS, large).counts([count as i64]).of(old);
        Self::of_blocks(std::iter::once(Block { displacement: 0, count, old }), contents)
    }

    /// `MPI_Type_vector`: the stride is in elements.
    ///
    /// # Errors
    /// If it is too large.
    pub fn vector(count: usize, length: usize, stride: i64, old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents =
            Contents::new(abi::COMBINER_VECTOR, large).counts([count as i64, length as i64, stride]).of(old);
        let Some(bytes) = stride.checked_mul(old.extent) else {
            return fail(abi::ERR_ARG, format!("a stride of {stride} elements is too large"));
        };
        Self::strided(count, length, bytes, old, contents)
    }

    /// `MPI_Type_create_hvector`: the stride is in bytes.
    ///
    /// # Errors
    /// If it is too large.
    pub fn hvector(count: usize, length: usize, stride: i64, old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_HVECTOR, large)
            .counts([count as i64, length as i64])
            .addresses([stride])
            .of(old);
        Self::strided(count, length, stride, old, contents)
    }

    fn strided(count: usize, length: usize, stride: i64, old: &Rc<Type>, contents: Contents) -> Result<Self> {
        let Some(elements) = count.checked_mul(length) else {
            return fail(abi::ERR_COUNT, format!("{count} blocks of {length} elements are too many"));
        };
        let layout = old.layout.repeated(length, old.extent)?.repeated(count, stride)?;
        let (marks, align, parts) = match elements {
            0 => (Marks::default(), 0, Vec::new()),
            _ => {
                let marks = old.marks().repeated(length, old.extent).repeated(count, stride);
                (marks, old.align, vec![(elements, Rc::clone(old))])
            }
        };
        Self::derived(layout, marks, align, parts, contents)
    }

    /// `MPI_Type_indexed`: blocks of these lengths, displaced by elements.
    ///
    /// # Errors
    /// If it is too large.
    pub fn indexed(lengths: &[i64], displacements: &[i64], old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_INDEXED, large)
            .counts([lengths.len() as i64])
            .counts(lengths.iter().copied())
            .counts(displacements.iter().copied())
            .of(old);
        let bytes = in_bytes(displacements, old)?;
        Self::of_blocks(blocks(lengths.iter().copied(), &bytes, old), contents)
    }

    /// `MPI_Type_create_hindexed`: blocks of these lengths, displaced by bytes.
    ///
    /// # Errors
    /// If it is too large.
    pub fn hindexed(lengths: &[i64], displacements: &[i64], old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_HINDEXED, large)
            .counts([lengths.len() as i64])
            .counts(lengths.iter().copied())
            .addresses(displacements.iter().copied())
            .of(old);
        Self::of_blocks(blocks(lengths.iter().copied(), displacements, old), contents)
    }

    /// `MPI_Type_create_indexed_block`: blocks of one length, displaced by elements.
    ///
    /// # Errors
    /// If it is too large.
    pub fn indexed_block(length: usize, displacements: &[i64], old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_INDEXED_BLOCK, large)
            .counts([displacements.len() as i64, length as i64])
            .counts(displacements.iter().copied())
            .of(old);
        let bytes = in_bytes(displacements, old)?;
        Self::of_blocks(blocks(std::iter::repeat(length as i64), &bytes, old), contents)
    }

    /// `MPI_Type_create_hindexed_block`: blocks of one length, displaced by bytes.
    ///
    /// # Errors
    /// If it is too large.
    pub fn hindexed_block(length: usize, displacements: &[i64], old: &Rc<Type>, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_HINDEXED_BLOCK, large)
            .counts([displacements.len() as i64, length as i64])
            .addresses(displacements.iter().copied())
            .of(old);
        Self::of_blocks(blocks(std::iter::repeat(length as i64), displacements, old), contents)
    }

    /// `MPI_Type_create_struct`: blocks of different types.
    ///
    /// # Errors
    /// If it is too large.
    pub fn structure(lengths: &[i64], displacements: &[i64], olds: &[Rc<Type>], large: bool) -> Result<Self> {
        let mut contents = Contents::new(abi::COMBINER_STRUCT, large)
            .counts([lengths.len() as i64])
            .counts(lengths.iter().copied())
            .addresses(displacements.iter().copied());
        contents.types = olds.to_vec();
        let blocks = lengths.iter().zip(displacements).zip(olds).map(|((length, displacement), old)| Block {
            displacement: *displacement,
            count: *length as usize,
            old,
        });
        Self::of_blocks(blocks, contents)
    }

    /// `MPI_Type_create_resized`: other bounds.
    ///
    /// # Errors
    /// Never; others may.
    pub fn resized(old: &Rc<Type>, lb: i64, extent: i64, large: bool) -> Result<Self> {
        let contents = Contents::new(abi::COMBINER_RESIZED, large).addresses([lb, extent]).of(old);
        let marks = Marks::both(lb.into(), i128::from(lb) + i128::from(extent));
        Self::derived(old.layout.clone(), marks, old.align, vec![(1, Rc::clone(old))], contents)
    }

    /// `MPI_Type_dup`: the same, attributes apart, committed if that was.
    pub fn dup(old: &Rc<Type>) -> Self {
        let mut twin = old.twin();
        twin.leaf = None;
        twin.contents = Contents::new(abi::COMBINER_DUP, false).of(old);
        twin.parts = Rc::new([(1, Rc::clone(old))]);
        debug_assert_eq!(signature::of_parts(&twin.parts).0, twin.signature);
        twin
    }
}

/// Displacements in bytes of those in elements.
fn in_bytes(displacements: &[i64], old: &Type) -> Result<Vec<i64>> {
    let bytes = |displacement: &i64| displacement.checked_mul(old.extent);
    match displacements.iter().map(bytes).collect() {
        Some(bytes) => Ok(bytes),
        None => fail(abi::ERR_ARG, "a displacement is too large: in bytes it does not fit into 64 bits"),
    }
}

/// Blocks of one type.
fn blocks<'a>(
    lengths: impl Iterator<Item = i64>,
    displacements: &'a [i64],
    old: &'a Rc<Type>,
) -> impl Iterator<Item = Block<'a>> {
    lengths.zip(displacements).map(move |(length, displacement)| Block {
        displacement: *displacement,
        count: length as usize,
        old,
    })
}
