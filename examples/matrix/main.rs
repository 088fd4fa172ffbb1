//! A matrix product by double diffusion: at each step a column of blocks of A goes along the rows of a square grid of
//! processes, and a row of blocks of B along its columns. The numbers are really computed, and checked at the end.
#![forbid(unsafe_code)]

mod block;

use std::process::ExitCode;
use std::sync::Arc;

use block::Block;
use simurgh::platform::ClusterSpec;
use simurgh::prelude::*;
use simurgh::{App, clap};

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// The matrices have so many rows and columns
    #[arg(long, default_value_t = 240)]
    size: usize,
    /// The grid has so many rows and columns of processes
    #[arg(long, default_value_t = 4)]
    grid: usize,
}

impl Options {
    fn check(self) -> simurgh::Result<Self> {
        if self.grid == 0 || self.size == 0 || !self.size.is_multiple_of(self.grid) {
            return Err(simurgh::Error::input(format!(
                "--size {} --grid {}: the size must be a multiple of the grid, and both positive",
                self.size, self.grid
            )));
        }
        Ok(self)
    }

    /// Rows and columns of a block.
    fn block(self) -> usize {
        self.size / self.grid
    }
}

/// Element of A: anything that is not too regular.
fn a(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64 - 5.0
}

/// Element of B.
fn b(row: usize, column: usize) -> f64 {
    1.0 / (1.0 + (row + 2 * column) as f64)
}

/// A block of the result on its way to the first process.
struct Part {
    row: usize,
    column: usize,
    block: Block,
}

struct Process {
    ctx: Ctx,
    options: Options,
    row: usize,
    column: usize,
}

impl Process {
    /// Where a process receives a block of a step.
    fn mailbox(&self, what: &str, step: usize, row: usize, column: usize) -> Mailbox<Arc<Block>> {
        self.ctx.mailbox(&format!("{what} of step {step} for {row},{column}"))
    }

    /// Gives a block to all others that are named.
    async fn diffuse(
        &self,
        block: &Arc<Block>,
        others: impl Iterator<Item = Mailbox<Arc<Block>>>,
        sends: &mut ActivitySet<()>,
    ) {
        for other in others {
            sends.push(other.send(Arc::clone(block), block.bytes()).start().await);
        }
    }

    async fn run(self) -> simurgh::Result {
        let Options { grid, .. } = self.options;
        let size = self.options.block();
        let (top, left) = (self.row * size, self.column * size);
        let own_a = Arc::new(Block::new(size, |row, column| a(top + row, left + column)));
        let own_b = Arc::new(Block::new(size, |row, column| b(top + row, left + column)));
        let mut result = Block::new(size, |_, _| 0.0);
        let mut sends = ActivitySet::new();
        for step in 0..grid {
            if self.column == step {
                let others = (0..grid).filter(|&column| column != step);
                let others = others.map(|column| self.mailbox("A", step, self.row, column));
                self.diffuse(&own_a, others, &mut sends).await;
            }
            if self.row == step {
                let others = (0..grid).filter(|&row| row != step);
                let others = others.map(|row| self.mailbox("B", step, row, self.column));
                self.diffuse(&own_b, others, &mut sends).await;
            }
            let of_row = if self.column == step {
                Arc::clone(&own_a)
            } else {
                self.mailbox("A", step, self.row, self.column).recv().await?
            };
            let of_column = if self.row == step {
                Arc::clone(&own_b)
            } else {
                self.mailbox("B", step, self.row, self.column).recv().await?
            };
            result.add_product(&of_row, &of_column);
            self.ctx.execute(of_row.product_flops()).await?;
        }
        sends.wait_all().await?;
        self.gather(result).await
    }

    /// The first process collects the result and holds it against the direct product.
    async fn gather(self, block: Block) -> simurgh::Result {
        let parts = self.ctx.mailbox::<Part>("parts");
        if (self.row, self.column) != (0, 0) {
            let bytes = block.bytes();
            return parts.send(Part { row: self.row, column: self.column, block }, bytes).await;
        }
        let Options { grid, size } = self.options;
        let computed = self.ctx.now();
        let mut whole = Block::new(size, |_, _| 0.0);
        whole.place(&block, 0, 0);
        for _ in 1..grid * grid {
            let part = parts.recv().await?;
            whole.place(&part.block, part.row * part.block.size(), part.column * part.block.size());
        }
        let mut direct = Block::new(size, |_, _| 0.0);
        direct.add_product(&Block::new(size, a), &Block::new(size, b));
        let error = whole.distance(&direct);
        let alone = direct.product_flops() / self.ctx.host().speed().await;
        self.ctx.say(format!("{grid} x {grid} processes, blocks of {0} x {0}", self.options.block()));
        self.ctx
            .say(format!("computed in {computed:.6} s, {:.1} times as fast as one alone", alone / computed));
        self.ctx.say(format!("gathered in {:.6} s", self.ctx.now() - computed));
        if error > 1e-9 {
            return Err(simurgh::Error::input(format!("the result is wrong: it is off by {error}")));
        }
        self.ctx.say("the result is that of the direct product");
        Ok(())
    }
}

fn platform(options: &Options) -> simurgh::Result<Platform> {
    let options = options.check()?;
    let mut builder = Platform::builder();
    let hosts = u32::try_from(options.grid * options.grid)
        .map_err(|_| simurgh::Error::input(format!("--grid {}: that is too many", options.grid)))?;
    builder
        .cluster(None, ClusterSpec { bandwidth: 1.25e9, latency: 10e-6, ..ClusterSpec::new("node", hosts) });
    Ok(builder.build()?)
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = options.check()?;
    for row in 0..options.grid {
        for column in 0..options.grid {
            let host = program.any_host()?;
            program.spawn(format!("process {row},{column}"), host, move |ctx| {
                Process { ctx, options, row, column }.run()
            })?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
