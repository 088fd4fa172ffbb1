//! A matrix product by double diffusion, as in chapter 4 of Rosa's thesis: at each step a column of blocks of A goes
//! along the rows of a grid of actors and a row of blocks of B along its columns, and all of them multiply. The numbers are
//! really computed, which is what workers are for; the result is checked.

use std::sync::Arc;

use clap::Args;
use simurgh::prelude::*;

use crate::star::star;
use crate::{Line, Threads};

/// How large it is, and who computes.
#[derive(Args, Copy, Clone, Debug)]
pub struct Options {
    /// The matrices have so many rows and columns, a multiple of the grid
    size: usize,
    /// The grid has so many rows and columns of actors
    #[arg(long, default_value_t = 4)]
    grid: usize,
}

/// A square block, row after row.
struct Block {
    size: usize,
    numbers: Vec<f64>,
}

impl Block {
    fn new(size: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        Self { size, numbers: (0..size * size).map(|at| of(at / size, at % size)).collect() }
    }

    fn bytes(&self) -> f64 {
        size_of_val(&*self.numbers) as f64
    }

    /// Adds the product of two blocks. The innermost loop runs along rows of `b`, which lie in memory as they are read;
    /// a few of them at a time, which stay in the cache of their core: several cores that wait for one memory would not be
    /// faster than one.
    fn add_product(&mut self, a: &Block, b: &Block) {
        const TOGETHER: usize = 32;
        let size = self.size;
        for (left, some) in b.numbers.chunks(TOGETHER * size).enumerate() {
            let rows = self.numbers.chunks_exact_mut(size).zip(a.numbers.chunks_exact(size));
            for (sums, row) in rows {
                for (&factor, others) in row[left * TOGETHER..].iter().zip(some.chunks_exact(size)) {
                    for (sum, other) in sums.iter_mut().zip(others) {
                        *sum += factor * other;
                    }
                }
            }
        }
    }

    /// Adds the product with the part of a vector that begins at `left` to the part that begins at `top`.
    fn add_times(&self, vector: &[f64], left: usize, sums: &mut [f64], top: usize) {
        for (sum, row) in sums[top..].iter_mut().zip(self.numbers.chunks_exact(self.size)) {
            *sum += row.iter().zip(&vector[left..]).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}

/// A matrix of whole numbers, so that sums are exact in any order: each element depends on its row and column.
#[derive(Copy, Clone)]
struct Pattern {
    row: usize,
    column: usize,
    modulus: usize,
}

const A: Pattern = Pattern { row: 7, column: 3, modulus: 11 };
const B: Pattern = Pattern { row: 5, column: 13, modulus: 17 };

impl Pattern {
    fn at(self, row: usize, column: usize) -> f64 {
        self.shifted((row * self.row + column * self.column) % self.modulus)
    }

    /// So that about half of them are below 0.
    fn shifted(self, rest: usize) -> f64 {
        rest as f64 - (self.modulus / 2) as f64
    }

    /// A row of the matrix times a vector.
    fn times(self, row: usize, vector: &[f64]) -> f64 {
        let mut rest = (row * self.row) % self.modulus;
        let mut sum = 0.0;
        for x in vector {
            sum += self.shifted(rest) * x;
            rest += self.column;
            if rest >= self.modulus {
                rest -= self.modulus;
            }
        }
        sum
    }
}

/// A vector to multiply the result with.
fn probe(row: usize) -> f64 {
    (row % 7) as f64 - 3.0
}

/// A block of the result, and where it belongs.
struct Part {
    top: usize,
    left: usize,
    block: Block,
}

/// The mailboxes of an actor of the grid.
struct Inbox {
    of_row: Mailbox<Arc<Block>>,
    of_column: Mailbox<Arc<Block>>,
}

/// What all actors know.
struct Grid {
    options: Options,
    inboxes: Vec<Inbox>,
    parts: Mailbox<Part>,
    barrier: Barrier,
}

impl Grid {
    fn inbox(&self, row: usize, column: usize) -> &Inbox {
        &self.inboxes[row * self.options.grid + column]
    }
}

async fn actor(ctx: Ctx, grid: Arc<Grid>, row: usize, column: usize) -> simurgh::Result {
    let side = grid.options.grid;
    let size = grid.options.size / side;
    let (top, left) = (row * size, column * size);
    let own_a = Arc::new(Block::new(size, |row, column| A.at(top + row, left + column)));
    let own_b = Arc::new(Block::new(size, |row, column| B.at(top + row, left + column)));
    let mut result = Block::new(size, |_, _| 0.0);
    for step in 0..side {
        let mut sends = ActivitySet::new();
        let (mut of_row, mut of_column) = (Arc::clone(&own_a), Arc::clone(&own_b));
        for other in (0..side).filter(|&other| other != step) {
            if column == step {
                let message = Arc::clone(&own_a);
                sends.push(grid.inbox(row, other).of_row.send(message, own_a.bytes()).start().await);
            }
            if row == step {
                let message = Arc::clone(&own_b);
                sends.push(grid.inbox(other, column).of_column.send(message, own_b.bytes()).start().await);
            }
        }
        if column != step {
            of_row = grid.inbox(row, column).of_row.recv().await?;
        }
        if row != step {
            of_column = grid.inbox(row, column).of_column.recv().await?;
        }
        sends.wait_all().await?;
        // All multiply at once, as the steps of the algorithm do: in one round, however late each block came.
        grid.barrier.wait().await;
        result.add_product(&of_row, &of_column);
        ctx.execute(2.0 * (size as f64).powi(3)).await?;
    }
    if (row, column) != (0, 0) {
        let bytes = result.bytes();
        return grid.parts.send(Part { top, left, block: result }, bytes).await;
    }
    verify(&grid, Part { top, left, block: result }).await
}

/// Holds C x against A (B x): as good as a comparison of all elements, for a square of the work instead of a cube.
async fn verify(grid: &Grid, own: Part) -> simurgh::Result {
    let Options { size, grid: side, .. } = grid.options;
    let vector: Vec<f64> = (0..size).map(probe).collect();
    let mut found = vec![0.0; size];
    own.block.add_times(&vector, own.left, &mut found, own.top);
    for _ in 1..side * side {
        let part = grid.parts.recv().await?;
        part.block.add_times(&vector, part.left, &mut found, part.top);
    }
    let times =
        |of: Pattern, vector: &[f64]| -> Vec<f64> { (0..size).map(|row| of.times(row, vector)).collect() };
    let expected = times(A, &times(B, &vector));
    match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        Some(row) => Err(simurgh::Error::other(format!("row {row} of the product is wrong"))),
        None => Ok(()),
    }
}

pub fn run(options: Options, threads: Threads) -> simurgh::Result<Line> {
    let Options { size, grid: side } = options;
    if side == 0 || size == 0 || !size.is_multiple_of(side) || side > 1000 {
        return Err(simurgh::Error::input(format!(
            "matmul {size} --grid {side}: give a size that is a multiple of the grid, and a grid from 1 to 1000"
        )));
    }
    let (platform, hosts) = star("h", (side * side) as u32, |_| 1.25e9)?;
    let mut program = Program::new(platform);
    let inboxes = (0..side * side)
        .map(|number| Inbox {
            of_row: program.mailbox(&format!("row {number}")),
            of_column: program.mailbox(&format!("column {number}")),
        })
        .collect();
    let (parts, barrier) = (program.mailbox("parts"), program.barrier((side * side) as u32));
    let grid = Arc::new(Grid { options, inboxes, parts, barrier });
    for (number, &host) in hosts.iter().enumerate() {
        let grid = Arc::clone(&grid);
        program.spawn("p", host, move |ctx| actor(ctx, grid, number / side, number % side))?;
    }
    crate::simulate(program, threads)
}
