//! Square blocks of numbers.

/// A square block, row after row.
pub struct Block {
    size: usize,
    numbers: Vec<f64>,
}

impl Block {
    /// A block of a size, from a function of row and column.
    pub fn new(size: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let numbers = (0..size * size).map(|at| of(at / size, at % size)).collect();
        Self { size, numbers }
    }

    /// Rows and columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How long it is as a message.
    pub fn bytes(&self) -> f64 {
        (self.numbers.len() * size_of::<f64>()) as f64
    }

    /// What multiplying two blocks of this size costs: a multiplication and an addition for each triple.
    pub fn product_flops(&self) -> f64 {
        2.0 * (self.size as f64).powi(3)
    }

    /// Adds the product of two blocks. The middle loop runs along rows of `b`, which lie in memory as they are read.
    pub fn add_product(&mut self, a: &Block, b: &Block) {
        let size = self.size;
        for (sums, row) in self.numbers.chunks_exact_mut(size).zip(a.numbers.chunks_exact(size)) {
            for (&factor, others) in row.iter().zip(b.numbers.chunks_exact(size)) {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum += factor * other;
                }
            }
        }
    }

    /// Writes a smaller block into this one, with its first element at a row and column.
    pub fn place(&mut self, part: &Block, top: usize, left: usize) {
        for (row, numbers) in part.numbers.chunks_exact(part.size).enumerate() {
            let at = (top + row) * self.size + left;
            self.numbers[at..at + part.size].copy_from_slice(numbers);
        }
    }

    /// The largest difference between two elements at the same place.
    pub fn distance(&self, other: &Block) -> f64 {
        self.numbers.iter().zip(&other.numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}
