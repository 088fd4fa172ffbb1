//! Where the data of a collective lie: elements of a datatype in memory of the program, as bytes without gaps.

use std::borrow::Cow;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut, Range};
use std::rc::Rc;

use super::folding::Scratch;
use super::team::land;
use crate::datatype::Type;
use crate::error::Result;
use crate::message::{Content, Data};

/// Elements of a datatype, one after the other.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Where they begin.
    pub buffer: *mut c_void,
    /// How many.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
}

impl Piece {
    /// Nothing, at no place.
    pub fn nothing(datatype: &Rc<Type>) -> Self {
        Self { buffer: std::ptr::null_mut(), count: 0, datatype: Rc::clone(datatype) }
    }

    /// Some of these elements, from number `first` on.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Self {
        let away = first as i64 * self.datatype.extent;
        Self {
            buffer: self.buffer.wrapping_byte_offset(away as isize),
            count,
            datatype: Rc::clone(&self.datatype),
        }
    }

    /// So many bytes of data.
    pub fn bytes(&self) -> usize {
        self.datatype.size * self.count
    }

    /// The data without gaps: the memory of the program where it has none.
    pub fn read(&self) -> Cow<'_, [u8]> {
        if self.bytes() == 0 {
            return Cow::Borrowed(&[]);
        }
        if self.datatype.is_contiguous() {
            // SAFETY: the program says that so many elements lie there, and changes nothing while the call lasts.
            return Cow::Borrowed(unsafe { std::slice::from_raw_parts(self.buffer.cast(), self.bytes()) });
        }
        Cow::Owned(self.packed().into_vec())
    }

    /// The data without gaps, as a copy.
    pub fn packed(&self) -> Data {
        self.packed_into(Data::new())
    }

    /// The same, in this memory.
    pub fn packed_into(&self, mut data: Data) -> Data {
        if self.bytes() > 0 {
            // SAFETY: the program says that so many elements lie there.
            unsafe { self.datatype.pack(self.buffer, self.count, &mut data) };
        }
        data
    }

    /// Puts data there; what does not fit is left off.
    pub fn write(&self, data: &[u8]) {
        let fits = data.len().min(self.bytes());
        if fits > 0 {
            // SAFETY: the program gave room for so many elements.
            unsafe { self.datatype.unpack(&data[..fits], self.buffer, self.count) };
        }
    }

    /// Puts a message there.
    ///
    /// # Errors
    /// If it is longer than that.
    pub fn receive(&self, content: &Content) -> Result {
        self.write(&content.data);
        if content.data.len() > self.bytes() {
            land(content, &mut vec![0; self.bytes()])?;
        }
        Ok(())
    }

    /// The place as bytes to write to; what lies there is kept.
    pub fn stage(&self) -> Stage {
        let copy =
            (!self.datatype.is_contiguous() && self.bytes() > 0).then(|| Scratch::copy(&self.packed()));
        Stage { piece: self.clone(), copy }
    }

    /// Copies from another piece.
    pub fn copy_from(&self, other: &Piece) {
        if self.bytes() == 0 || other.bytes() == 0 {
            return;
        }
        if self.datatype.is_contiguous() && other.datatype.is_contiguous() {
            let fits = self.bytes().min(other.bytes());
            // SAFETY: the program says that so much lies at both; they may overlap if it is mistaken.
            unsafe { std::ptr::copy(other.buffer.cast::<u8>(), self.buffer.cast::<u8>(), fits) };
            return;
        }
        self.write(&other.packed());
    }
}

/// A place of the program as bytes without gaps: its memory, or a copy that is put back in the end.
#[derive(Debug)]
pub struct Stage {
    piece: Piece,
    copy: Option<Scratch>,
}

impl Stage {
    /// Puts a copy back.
    pub fn commit(self) {
        if let Some(copy) = &self.copy {
            self.piece.write(copy);
        }
    }
}

impl Deref for Stage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.copy {
            Some(copy) => copy,
            None if self.piece.bytes() == 0 => &[],
            // SAFETY: the program gave room for so many elements, which have no gaps.
            None => unsafe { std::slice::from_raw_parts(self.piece.buffer.cast(), self.piece.bytes()) },
        }
    }
}

impl DerefMut for Stage {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.copy {
            Some(copy) => copy,
            None if self.piece.bytes() == 0 => &mut [],
            // SAFETY: the program gave room for so many elements, which have no gaps.
            None => unsafe { std::slice::from_raw_parts_mut(self.piece.buffer.cast(), self.piece.bytes()) },
        }
    }
}

/// A block for each rank.
#[derive(Clone, Debug)]
pub enum Blocks {
    /// As many elements for each, one block after the other.
    Equal {
        /// The first.
        first: Piece,
        /// How many blocks.
        number: usize,
    },
    /// Each somewhere, and of another size.
    Listed(Vec<Piece>),
}

impl Blocks {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Blocks::Equal { number, .. } => *number,
            Blocks::Listed(pieces) => pieces.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn block(&self, index: usize) -> Piece {
        match self {
            Blocks::Equal { first, .. } => first.part(index * first.count, first.count),
            Blocks::Listed(pieces) => pieces[index].clone(),
        }
    }

    /// The bytes of each.
    pub fn sizes(&self) -> Vec<usize> {
        match self {
            Blocks::Equal { first, number } => vec![first.bytes(); *number],
            Blocks::Listed(pieces) => pieces.iter().map(Piece::bytes).collect(),
        }
    }

    /// All of them as one, where they are.
    pub fn whole(&self) -> Option<Piece> {
        match self {
            Blocks::Equal { first, number } => Some(Piece { count: first.count * number, ..first.clone() }),
            Blocks::Listed(_) => None,
        }
    }

    /// All of them as one, where they lie one after the other without gaps.
    pub fn in_a_row(&self) -> Option<Piece> {
        let Blocks::Listed(pieces) = self else { return self.whole() };
        let first = pieces.first()?;
        let mut end = first.buffer;
        let mut follows = |piece: &Piece| {
            let is_next = Rc::ptr_eq(&piece.datatype, &first.datatype) && piece.buffer == end;
            end = end.wrapping_byte_add(piece.bytes());
            is_next
        };
        let is_row = first.datatype.is_contiguous() && pieces.iter().all(&mut follows);
        is_row.then(|| Piece { count: pieces.iter().map(|piece| piece.count).sum(), ..first.clone() })
    }

    /// All data without gaps, block after block.
    pub fn read(&self) -> Vec<u8> {
        match self.whole() {
            Some(whole) => whole.read().into_owned(),
            None => {
                let mut all = Vec::with_capacity(self.sizes().iter().sum());
                (0..self.len()).for_each(|index| all.extend_from_slice(&self.block(index).read()));
                all
            }
        }
    }

    /// Puts data without gaps there, block after block.
    pub fn write(&self, data: &[u8]) {
        let mut rest = data;
        for index in 0..self.len() {
            let piece = self.block(index);
            let (first, after) = rest.split_at(piece.bytes().min(rest.len()));
            piece.write(first);
            rest = after;
        }
    }
}

/// Where blocks lie in data without gaps.
#[derive(Clone, Debug)]
pub enum Layout {
    /// So many blocks of so many bytes each.
    Equal(usize, usize),
    /// Each begins at such a byte; the last number is the end of all.
    Listed(Vec<usize>),
}

impl Layout {
    /// Blocks of these sizes, one after the other.
    pub fn of(sizes: &[usize]) -> Self {
        Layout::Listed(offsets(sizes))
    }

    /// How many blocks.
    pub fn len(&self) -> usize {
        match self {
            Layout::Equal(number, _) => *number,
            Layout::Listed(offsets) => offsets.len() - 1,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where consecutive blocks lie.
    pub fn blocks(&self, blocks: Range<usize>) -> Range<usize> {
        match self {
            Layout::Equal(_, bytes) => blocks.start * bytes..blocks.end * bytes,
            Layout::Listed(offsets) => offsets[blocks.start]..offsets[blocks.end],
        }
    }

    /// Where a block lies; the numbers are a circle.
    pub fn block(&self, block: usize) -> Range<usize> {
        let block = block % self.len();
        self.blocks(block..block + 1)
    }

    /// Where `number` blocks from `first` on lie, round the end of all.
    pub fn round(&self, first: usize, number: usize) -> [Range<usize>; 2] {
        let (first, all) = (first % self.len(), self.len());
        let end = (first + number).min(all);
        [self.blocks(first..end), self.blocks(0..number - (end - first))]
    }
}

/// Where blocks of these sizes begin when one follows the other; the last number is their sum.
pub fn offsets(sizes: &[usize]) -> Vec<usize> {
    let mut sum = 0;
    let mut offsets = vec![0];
    for size in sizes {
        sum += size;
        offsets.push(sum);
    }
    offsets
}
