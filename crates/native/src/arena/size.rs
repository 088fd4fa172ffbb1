//! Size classes: steps of 16 bytes up to 1 KiB, then four for each doubling; beyond, multiples of a page.

/// The longest block that belongs to a class, with what stands around it.
pub(super) const LARGE: usize = 32768;
const FINE: usize = 1024;

/// How many classes there are.
pub(super) const CLASSES: usize = FINE / 16 + 1 + 4 * 5;

/// The class of a block.
pub(super) fn class_of(total: usize) -> usize {
    debug_assert!(total <= LARGE);
    // A free block holds the next one behind its header.
    let total = total.max(32);
    if total <= FINE {
        return total.div_ceil(16);
    }
    let doubling = (total - 1).ilog2();
    let step = 1 << (doubling - 2);
    let quarter = (total - (1 << doubling)).div_ceil(step);
    FINE / 16 + 4 * (doubling as usize - 10) + quarter
}

/// How long the blocks of a class are.
pub(super) fn class_total(class: usize) -> usize {
    if class <= FINE / 16 {
        return class * 16;
    }
    let above = class - FINE / 16 - 1;
    let doubling = 10 + above / 4;
    (1 << doubling) + (above % 4 + 1) * (1 << (doubling - 2))
}

/// How long a large block is.
pub(super) fn large_total(total: usize) -> usize {
    total.next_multiple_of(4096)
}
