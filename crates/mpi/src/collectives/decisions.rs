//! The decisions of Open MPI (4.1.0 to 5.0.0) as tables: which algorithm for how many ranks and bytes.
//!
//! A row holds for fewer ranks than it says, the last one for all others. Within it, an algorithm holds for fewer bytes than stand
//! beside it, the last one for all others.

/// Rows: ranks below which one holds, and its algorithms, each with the bytes below which it holds.
pub type Table = [(usize, &'static [(usize, usize)])];

const MORE: usize = usize::MAX;

/// The number of the algorithm for so many ranks and bytes.
///
/// # Panics
/// If the table does not end with a row for all.
pub fn decide(table: &Table, ranks: usize, bytes: usize) -> usize {
    let (_, row) = table.iter().find(|(below, _)| ranks < *below).or(table.last()).expect("a row for all");
    let found = row.iter().find(|(_, below)| bytes < *below).or(row.last()).expect("an algorithm for all");
    found.0
}

/// Of barriers.
#[rustfmt::skip]
pub const BARRIER: [(usize, &[(usize, usize)]); 8] = [
    (4, &[(3, MORE)]),
    (8, &[(1, MORE)]),
    (64, &[(3, MORE)]),
    (256, &[(4, MORE)]),
    (512, &[(6, MORE)]),
    (1024, &[(4, MORE)]),
    (4096, &[(6, MORE)]),
    (MORE, &[(4, MORE)]),
];

/// Of broadcasts.
#[rustfmt::skip]
pub const BCAST: [(usize, &[(usize, usize)]); 11] = [
    (4, &[(3, 32), (5, 256), (3, 512), (7, 1024), (1, 32768), (5, 131072), (2, 262144), (1, 524288), (6, 1048576), (5, MORE)]),
    (8, &[(5, 64), (6, 128), (5, 2048), (6, 8192), (1, 1048576), (2, MORE)]),
    (16, &[(7, 8), (5, 64), (7, 4096), (5, 16384), (6, 32768), (1, MORE)]),
    (32, &[(7, 4096), (6, 1048576), (8, MORE)]),
    (64, &[(6, 2048), (7, MORE)]),
    (128, &[(7, MORE)]),
    (256, &[(6, 2), (5, 16384), (1, 32768), (5, 65536), (7, MORE)]),
    (1024, &[(7, 16384), (4, 32768), (7, MORE)]),
    (2048, &[(7, 524288), (8, MORE)]),
    (4096, &[(7, 262144), (8, MORE)]),
    (MORE, &[(7, 8192), (5, 16384), (7, 262144), (8, MORE)]),
];

/// Of reductions with an operator that is not commutative.
#[rustfmt::skip]
pub const REDUCE_ORDERED: [(usize, &[(usize, usize)]); 6] = [
    (4, &[(6, 8), (1, MORE)]),
    (8, &[(1, MORE)]),
    (16, &[(6, 1024), (1, 8192), (6, 16384), (1, 262144), (6, MORE)]),
    (128, &[(6, MORE)]),
    (256, &[(6, 512), (1, 1024), (6, MORE)]),
    (MORE, &[(6, MORE)]),
];

/// Of reductions.
#[rustfmt::skip]
pub const REDUCE: [(usize, &[(usize, usize)]); 9] = [
    (4, &[(7, 8), (4, 16), (3, 32), (1, 262144), (3, 524288), (2, 1048576), (3, MORE)]),
    (8, &[(4, 4096), (2, 65536), (5, 262144), (1, 524288), (5, 1048576), (1, MORE)]),
    (16, &[(4, 8192), (5, MORE)]),
    (32, &[(4, 4096), (5, MORE)]),
    (256, &[(5, MORE)]),
    (512, &[(5, 8192), (6, 16384), (5, MORE)]),
    (2048, &[(5, MORE)]),
    (4096, &[(5, 512), (6, 1024), (5, 8192), (6, 16384), (5, MORE)]),
    (MORE, &[(5, 16), (6, 32), (5, 1024), (6, 2048), (5, 8192), (6, 16384), (5, MORE)]),
];

/// Of reductions for all with an operator that is not commutative.
#[rustfmt::skip]
pub const ALLREDUCE_ORDERED: [(usize, &[(usize, usize)]); 7] = [
    (4, &[(3, 131072), (1, MORE)]),
    (8, &[(3, MORE)]),
    (16, &[(3, 1048576), (2, MORE)]),
    (128, &[(3, MORE)]),
    (256, &[(2, 131072), (3, 524288), (2, MORE)]),
    (512, &[(2, 4096), (3, 524288), (2, MORE)]),
    (MORE, &[(2, 2048), (3, MORE)]),
];

/// Of reductions for all.
#[rustfmt::skip]
pub const ALLREDUCE: [(usize, &[(usize, usize)]); 11] = [
    (4, &[(4, 8), (3, 4096), (4, 8192), (3, 16384), (4, 65536), (5, 262144), (6, MORE)]),
    (8, &[(4, 16), (3, 8192), (6, MORE)]),
    (16, &[(3, 8192), (6, MORE)]),
    (32, &[(5, 64), (3, 4096), (6, MORE)]),
    (64, &[(5, 128), (6, MORE)]),
    (128, &[(3, 262144), (6, MORE)]),
    (256, &[(2, 131072), (3, 262144), (6, MORE)]),
    (512, &[(2, 4096), (6, MORE)]),
    (2048, &[(2, 2048), (3, 16384), (6, MORE)]),
    (4096, &[(2, 2048), (5, 4096), (3, 16384), (6, MORE)]),
    (MORE, &[(2, 2048), (5, 16384), (3, 32768), (6, MORE)]),
];

/// Of gathers.
#[rustfmt::skip]
pub const GATHER: [(usize, &[(usize, usize)]); 5] = [
    (4, &[(3, 2), (1, 4), (2, 32768), (1, 65536), (2, 131072), (3, MORE)]),
    (8, &[(2, 1024), (1, 8192), (2, 32768), (1, 262144), (3, MORE)]),
    (256, &[(2, MORE)]),
    (512, &[(2, 2048), (1, 8192), (2, MORE)]),
    (MORE, &[(2, MORE)]),
];

/// Of scatters.
#[rustfmt::skip]
pub const SCATTER: [(usize, &[(usize, usize)]); 6] = [
    (4, &[(3, 2), (1, 131072), (3, 262144), (1, MORE)]),
    (8, &[(2, 2048), (1, 4096), (2, 8192), (1, 32768), (3, 1048576), (1, MORE)]),
    (16, &[(2, 16384), (3, 1048576), (1, MORE)]),
    (32, &[(2, 16384), (1, 32768), (3, MORE)]),
    (64, &[(2, 512), (3, 8192), (2, 16384), (3, MORE)]),
    (MORE, &[(2, 512), (3, MORE)]),
];

/// Of gathers for all.
#[rustfmt::skip]
pub const ALLGATHER: [(usize, &[(usize, usize)]); 10] = [
    (3, &[(6, MORE)]),
    (32, &[(3, MORE)]),
    (64, &[(3, 1024), (5, 65536), (4, MORE)]),
    (128, &[(3, 512), (5, 65536), (4, MORE)]),
    (256, &[(3, 512), (5, 131072), (4, 524288), (5, 1048576), (4, MORE)]),
    (512, &[(3, 32), (2, 128), (3, 1024), (5, 131072), (4, 524288), (5, 1048576), (4, MORE)]),
    (1024, &[(3, 64), (2, 256), (3, 2048), (5, MORE)]),
    (2048, &[(3, 4), (2, 8), (3, 16), (2, 32), (3, 256), (2, 512), (3, 4096), (5, MORE)]),
    (4096, &[(2, 32), (3, 128), (2, 512), (3, 4096), (5, MORE)]),
    (MORE, &[(3, 2), (2, 8), (3, 16), (2, 512), (3, 4096), (5, MORE)]),
];

/// Of gathers for all, of unequal blocks.
#[rustfmt::skip]
pub const ALLGATHERV: [(usize, &[(usize, usize)]); 10] = [
    (3, &[(3, 2048), (5, 4096), (3, 8192), (5, MORE)]),
    (8, &[(1, 256), (4, 4096), (3, 8192), (4, 16384), (2, 262144), (4, MORE)]),
    (16, &[(1, 1024), (2, MORE)]),
    (32, &[(1, 128), (2, 262144), (3, MORE)]),
    (64, &[(1, 256), (2, 8192), (3, MORE)]),
    (128, &[(1, 256), (2, 4096), (3, MORE)]),
    (256, &[(2, 1024), (4, 65536), (3, MORE)]),
    (512, &[(2, 1024), (3, MORE)]),
    (1024, &[(2, 512), (1, 1024), (2, 4096), (4, 1048576), (3, MORE)]),
    (MORE, &[(2, 4096), (4, MORE)]),
];

/// Of exchanges of all with all.
#[rustfmt::skip]
pub const ALLTOALL: [(usize, &[(usize, usize)]); 12] = [
    (3, &[(2, 2), (5, 4), (2, 16), (5, 64), (2, 256), (5, 4096), (2, 32768), (4, 262144), (5, 1048576), (2, MORE)]),
    (8, &[(4, 8192), (1, 16384), (4, 65536), (1, 524288), (2, 1048576), (1, MORE)]),
    (16, &[(4, 262144), (1, MORE)]),
    (32, &[(4, 4), (3, 512), (4, 8192), (1, 32768), (4, 262144), (1, 524288), (4, MORE)]),
    (64, &[(3, 512), (1, 524288), (4, MORE)]),
    (128, &[(3, 1024), (1, 2048), (4, 4096), (1, 262144), (2, MORE)]),
    (256, &[(3, 1024), (4, 2048), (1, 262144), (2, MORE)]),
    (512, &[(3, 1024), (4, 8192), (1, 32768), (2, MORE)]),
    (1024, &[(3, 512), (4, 8192), (1, 16384), (4, 131072), (1, 262144), (2, MORE)]),
    (2048, &[(3, 512), (4, 1024), (1, 2048), (4, 16384), (1, 262144), (4, MORE)]),
    (4096, &[(3, 1024), (4, 4096), (1, 8192), (4, 131072), (1, MORE)]),
    (MORE, &[(3, 2048), (4, 8192), (1, 16384), (4, 32768), (1, 65536), (4, MORE)]),
];

/// Of exchanges of all with all, of unequal blocks.
#[rustfmt::skip]
pub const ALLTOALLV: [(usize, &[(usize, usize)]); 6] = [
    (4, &[(2, MORE)]),
    (64, &[(1, MORE)]),
    (128, &[(2, MORE)]),
    (256, &[(1, MORE)]),
    (1024, &[(2, MORE)]),
    (MORE, &[(1, MORE)]),
];

/// Of reductions that are scattered.
#[rustfmt::skip]
pub const REDUCE_SCATTER: [(usize, &[(usize, usize)]); 11] = [
    (4, &[(3, 65536), (4, 131072), (3, MORE)]),
    (8, &[(1, 8), (2, 262144), (3, MORE)]),
    (32, &[(2, 262144), (3, MORE)]),
    (64, &[(1, 64), (2, 2048), (4, 524288), (3, MORE)]),
    (128, &[(1, 256), (2, 512), (4, 2048), (2, 4096), (4, MORE)]),
    (256, &[(1, 256), (2, 512), (4, MORE)]),
    (512, &[(1, 256), (2, 1024), (4, MORE)]),
    (1024, &[(1, 512), (2, 2048), (4, 8192), (2, 16384), (4, MORE)]),
    (2048, &[(1, 512), (2, 4096), (4, 16384), (2, 32768), (4, MORE)]),
    (4096, &[(1, 512), (2, 4096), (4, MORE)]),
    (MORE, &[(1, 1024), (2, 8192), (4, MORE)]),
];
