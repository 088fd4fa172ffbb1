//! Where the bytes of an element lie: blocks of memory, in the order of the typemap, as loops where there are many.
//!
//! A layout is a tree: a block, something repeated at a stride, a list of blocks, a list of anything. What is small is made flat
//! and neighbours are joined; what would have many thousands of blocks stays a loop, so that a type of a billion elements is
//! small. Every node knows its bytes, so that any part of the packed stream is found without looking at what is before it.

use std::rc::Rc;

use crate::abi;
use crate::error::{Result, fail};

/// More blocks than these are not listed if they come from loops.
const BLOCKS_MAX: usize = 4096;

/// Where the bytes of an element lie, relative to its address.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where the node begins.
    offset: i64,
    /// Bytes of data.
    size: usize,
    /// The lowest byte, and the one after the highest.
    span: (i64, i64),
    /// How many blocks it stands for.
    blocks: usize,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    /// All of its bytes in one block.
    Block,
    /// The same again and again.
    Repeat { count: usize, stride: i64, child: Rc<Layout> },
    /// Blocks of any length.
    Blocks(Rc<[Piece]>),
    /// Anything, one after the other; the bytes before each.
    Sequence(Rc<[(usize, Layout)]>),
}

/// A block, and the bytes of data before it.
#[derive(Copy, Clone, Debug)]
struct Piece {
    offset: i64,
    length: usize,
    start: usize,
}

impl Layout {
    /// Nothing.
    pub fn empty() -> Self {
        Self { offset: 0, size: 0, span: (0, 0), blocks: 0, node: Node::Blocks(Rc::new([])) }
    }

    /// One block.
    pub fn block(offset: i64, size: usize) -> Self {
        if size == 0 {
            return Self::empty();
        }
        Self { offset, size, span: (offset, offset + size as i64), blocks: 1, node: Node::Block }
    }

    /// Bytes of data.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The lowest byte, and the one after the highest; nothing if there are no bytes.
    pub fn span(&self) -> Option<(i64, i64)> {
        (self.size > 0).then_some(self.span)
    }

    /// Where its only block lies, if it has one.
    pub fn only_block(&self) -> Option<i64> {
        matches!(self.node, Node::Block).then_some(self.offset)
    }

    /// The same elsewhere.
    ///
    /// # Errors
    /// If addresses cannot reach so far.
    pub fn shifted(&self, by: i64) -> Result<Self> {
        let (Some(offset), Some(low), Some(high)) =
            (self.offset.checked_add(by), self.span.0.checked_add(by), self.span.1.checked_add(by))
        else {
            return too_large();
        };
        Ok(Self { offset, span: (low, high), ..self.clone() })
    }

    /// The same `count` times, at a stride.
    ///
    /// # Errors
    /// If addresses cannot reach so far.
    pub fn repeated(&self, count: usize, stride: i64) -> Result<Self> {
        if count == 0 || self.size == 0 {
            return Ok(Self::empty());
        }
        if count == 1 {
            return Ok(self.clone());
        }
        let last = (i128::from(stride)) * (count as i128 - 1);
        let low = i128::from(self.span.0) + last.min(0);
        let high = i128::from(self.span.1) + last.max(0);
        let size = self.size as i128 * count as i128;
        let (Ok(low), Ok(high), Ok(size)) = (i64::try_from(low), i64::try_from(high), i64::try_from(size))
        else {
            return too_large();
        };
        let size = size as usize;
        let whole = |offset, blocks, node| Ok(Self { offset, size, span: (low, high), blocks, node });
        match &self.node {
            Node::Block if i128::from(stride) == self.size as i128 => {
                return whole(self.offset, 1, Node::Block);
            }
            Node::Repeat { count: inner, stride: step, child }
                if i128::from(stride) == i128::from(*step) * *inner as i128 =>
            {
                let node = Node::Repeat { count: count * inner, stride: *step, child: Rc::clone(child) };
                return whole(self.offset, self.blocks.saturating_mul(count), node);
            }
            _ => {}
        }
        let child = Rc::new(self.shifted(self.offset.wrapping_neg())?);
        whole(self.offset, self.blocks.saturating_mul(count), Node::Repeat { count, stride, child })
    }

    /// One after the other.
    ///
    /// # Errors
    /// If there is more than can be counted.
    pub fn sequence(parts: impl IntoIterator<Item = Layout>) -> Result<Self> {
        let mut parts: Vec<Layout> = parts.into_iter().filter(|part| part.size > 0).collect();
        match parts.len() {
            0 => return Ok(Self::empty()),
            1 => return Ok(parts.remove(0)),
            _ => {}
        }
        let size: i128 = parts.iter().map(|part| part.size as i128).sum();
        let Ok(size) = i64::try_from(size) else { return too_large() };
        let size = size as usize;
        let low = parts.iter().map(|part| part.span.0).min().unwrap_or(0);
        let high = parts.iter().map(|part| part.span.1).max().unwrap_or(0);
        let blocks = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.blocks));
        if blocks > parts.len().max(BLOCKS_MAX) {
            let mut start = 0;
            let parts: Rc<[(usize, Layout)]> = parts
                .into_iter()
                .map(|part| {
                    let before = start;
                    start += part.size;
                    (before, part)
                })
                .collect();
            return Ok(Self { offset: 0, size, span: (low, high), blocks, node: Node::Sequence(parts) });
        }
        let mut pieces: Vec<Piece> = Vec::with_capacity(blocks);
        let mut start = 0;
        for part in &parts {
            part.walk(0, &mut |offset, length| {
                match pieces.last_mut() {
                    Some(last) if last.offset + last.length as i64 == offset => last.length += length,
                    _ => pieces.push(Piece { offset, length, start }),
                }
                start += length;
            });
        }
        Ok(Self::of_pieces(pieces, size, (low, high)))
    }

    /// A block, a regular loop of blocks, or a list.
    fn of_pieces(pieces: Vec<Piece>, size: usize, span: (i64, i64)) -> Self {
        let first = pieces[0];
        if pieces.len() == 1 {
            return Self::block(first.offset, first.length);
        }
        let stride = pieces[1].offset.checked_sub(first.offset);
        let regular = pieces.windows(2).all(|pair| {
            pair[0].length == pair[1].length && pair[1].offset.checked_sub(pair[0].offset) == stride
        });
        let blocks = pieces.len();
        match stride.filter(|_| regular) {
            Some(stride) => {
                let child = Rc::new(Self::block(0, first.length));
                let node = Node::Repeat { count: blocks, stride, child };
                Self { offset: first.offset, size, span, blocks, node }
            }
            None => Self { offset: 0, size, span, blocks, node: Node::Blocks(pieces.into()) },
        }
    }

    /// Hands on all blocks, in order.
    pub fn walk<F: FnMut(i64, usize)>(&self, base: i64, visit: &mut F) {
        let base = base.wrapping_add(self.offset);
        match &self.node {
            Node::Block => visit(base, self.size),
            Node::Repeat { count, stride, child } => walk_repeat(child, *count, base, *stride, visit),
            Node::Blocks(pieces) => {
                for piece in pieces.iter() {
                    visit(base.wrapping_add(piece.offset), piece.length);
                }
            }
            Node::Sequence(parts) => parts.iter().for_each(|(_, part)| part.walk(base, visit)),
        }
    }

    /// Hands on the blocks of the bytes of data from `from` to `to`.
    pub fn walk_range<F: FnMut(i64, usize)>(&self, base: i64, from: usize, to: usize, visit: &mut F) {
        if from >= to {
            return;
        }
        if from == 0 && to >= self.size {
            return self.walk(base, visit);
        }
        let base = base.wrapping_add(self.offset);
        match &self.node {
            Node::Block => visit(base.wrapping_add(from as i64), to.min(self.size) - from),
            Node::Repeat { stride, child, .. } => {
                child.walk_repeated_range(base, *stride, from, to.min(self.size), visit);
            }
            Node::Blocks(pieces) => {
                let first = pieces.partition_point(|piece| piece.start + piece.length <= from);
                for piece in pieces[first..].iter().take_while(|piece| piece.start < to) {
                    let skipped = from.saturating_sub(piece.start);
                    let end = piece.length.min(to - piece.start);
                    visit(base.wrapping_add(piece.offset).wrapping_add(skipped as i64), end - skipped);
                }
            }
            Node::Sequence(parts) => {
                let first = parts.partition_point(|(start, part)| start + part.size <= from);
                for (start, part) in parts[first..].iter().take_while(|(start, _)| *start < to) {
                    part.walk_range(base, from.saturating_sub(*start), to - start, visit);
                }
            }
        }
    }

    /// Hands on the blocks of a range of the data of this, repeated at a stride as often as it takes.
    pub fn walk_repeated_range<F: FnMut(i64, usize)>(
        &self,
        base: i64,
        stride: i64,
        from: usize,
        to: usize,
        visit: &mut F,
    ) {
        if from >= to || self.size == 0 {
            return;
        }
        let (mut index, within) = (from / self.size, from % self.size);
        let at = |index: usize| base.wrapping_add(stride.wrapping_mul(index as i64));
        if within > 0 {
            let end = (index + 1) * self.size;
            self.walk_range(at(index), within, to.min(end) - index * self.size, visit);
            index += 1;
        }
        let last = to / self.size;
        if index < last {
            walk_repeat(self, last - index, at(index), stride, visit);
            index = last;
        }
        if index == last {
            self.walk_range(at(last), 0, to - last * self.size, visit);
        }
    }
}

/// Hands on the blocks of something that is repeated.
fn walk_repeat<F: FnMut(i64, usize)>(child: &Layout, count: usize, base: i64, stride: i64, visit: &mut F) {
    let mut at = base;
    if let Some(offset) = child.only_block() {
        at = at.wrapping_add(offset);
        for _ in 0..count {
            visit(at, child.size);
            at = at.wrapping_add(stride);
        }
        return;
    }
    for _ in 0..count {
        child.walk(at, visit);
        at = at.wrapping_add(stride);
    }
}

/// What is told of a type that no memory can hold.
fn too_large<T>() -> Result<T> {
    fail(abi::ERR_ARG, "the datatype is too large: its bytes cannot be counted or addressed with 64 bits")
}
