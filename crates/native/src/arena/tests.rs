use super::size::{CLASSES, LARGE, class_of, class_total};
use super::*;

/// A heap in memory of its own.
fn arena(bytes: usize) -> (Vec<u128>, *mut Arena) {
    let mut memory = vec![0_u128; bytes / 16];
    // SAFETY: the memory is zero and used by nobody else.
    let arena = unsafe { Arena::create(memory.as_mut_ptr() as usize, bytes) };
    (memory, arena)
}

#[test]
fn every_size_has_a_class_that_holds_it_and_wastes_little() {
    for total in 1..=LARGE {
        let room = class_total(class_of(total));
        assert!(room >= total && room <= total.max(32) + 15.max(total / 4), "{total} in {room}");
    }
    assert_eq!(class_of(LARGE) + 1, CLASSES);
    assert!((2..CLASSES).all(|class| class_of(class_total(class)) == class));
}

#[test]
fn what_is_given_back_is_given_again() {
    let (_memory, arena) = arena(1 << 20);
    // SAFETY: the heap is alive, and its blocks are used as they were given.
    let arena = unsafe { &mut *arena };
    for size in [0, 1, 24, 100, 1000, 5000, 40_000, 100_000] {
        let first = arena.allocate(size).0;
        assert!((first as usize).is_multiple_of(16));
        arena.free(first as usize).unwrap();
        assert_eq!(arena.allocate(size).0, first, "{size}");
        assert_eq!(arena.size(first as usize), Ok(size));
    }
}

#[test]
fn neighbours_are_joined() {
    let (_memory, arena) = arena(1 << 20);
    // SAFETY: as above.
    let arena = unsafe { &mut *arena };
    let blocks: Vec<usize> = (0..4).map(|_| arena.allocate(40_000).0 as usize).collect();
    for block in [1, 0, 2] {
        arena.free(blocks[block]).unwrap();
    }
    assert_eq!(arena.allocate(3 * 40_000).0 as usize, blocks[0]);
    let top = arena.top();
    arena.free(blocks[3]).unwrap();
    assert!(arena.top() < top);
}

#[test]
fn misuse_is_told_apart() {
    let (_memory, arena) = arena(1 << 20);
    // SAFETY: as above; the byte behind a block is one of the heap's own.
    let arena = unsafe { &mut *arena };
    let block = arena.allocate(100).0;
    let other = arena.allocate(100).0;
    assert_eq!(arena.free(block as usize + 16), Err(Misuse::Wild));
    // SAFETY: as above.
    unsafe { block.add(100).write(1) };
    assert_eq!(arena.free(block as usize), Err(Misuse::Overrun));
    arena.free(other as usize).unwrap();
    assert_eq!(arena.free(other as usize), Err(Misuse::Twice));
    assert_eq!(arena.free(8), Err(Misuse::Wild));
}

#[test]
fn aligned_blocks_and_longer_ones() {
    let (_memory, arena) = arena(1 << 20);
    // SAFETY: as above.
    let arena = unsafe { &mut *arena };
    for align in [32, 64, 4096] {
        let block = arena.allocate_aligned(align, 100);
        assert!((block as usize).is_multiple_of(align));
        assert!(arena.size(block as usize).unwrap() >= 100);
        arena.free(block as usize).unwrap();
        assert_eq!(arena.free(block as usize), Err(Misuse::Twice));
    }
    let block = arena.allocate(10).0;
    // SAFETY: ten bytes were given.
    unsafe { block.write_bytes(7, 10) };
    let longer = arena.resize(block as usize, 50_000).unwrap();
    // SAFETY: the ten bytes went with it.
    assert_eq!(unsafe { std::slice::from_raw_parts(longer, 10) }, [7; 10]);
    assert!(arena.resize(longer as usize, 2 << 20).unwrap().is_null());
}

#[test]
fn the_same_requests_give_the_same_places() {
    let places = || {
        let (memory, arena) = arena(1 << 22);
        // SAFETY: as above.
        let arena = unsafe { &mut *arena };
        let (mut held, mut places, mut seed) = (Vec::new(), Vec::new(), 1_u64);
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if seed >> 60 < 7 && !held.is_empty() {
                let block: usize = held.swap_remove((seed >> 33) as usize % held.len());
                arena.free(block).unwrap();
            } else {
                let block = arena.allocate((seed >> 40) as usize % 3000).0 as usize;
                if block != 0 {
                    held.push(block);
                    places.push(block - memory.as_ptr() as usize);
                }
            }
        }
        places
    };
    assert_eq!(places(), places());
}
