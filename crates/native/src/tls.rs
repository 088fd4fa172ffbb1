//! Thread-local variables of programs.
//!
//! Code of an executable reaches them at fixed distances below the thread pointer (the local-exec model), which in our
//! process is where the host's own lie. So the host ends its thread-local segment with a pad that it does not use
//! itself, and the blocks of the program and its libraries lie there; their bytes are exchanged when another process runs.
//! The section `.tcommon` is placed last by GNU ld, whose script names it last, and by lld, which keeps the
//! order in which it meets names: hence the variable before it.

use std::arch::{asm, global_asm};

use crate::elf::{Object, pages};
use crate::error::Error;

/// How many bytes of thread-local variables a program may have, its libraries included.
pub(crate) const PAD: usize = 65536;

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".balign 8",
    ".hidden simurgh_tls_first",
    ".globl simurgh_tls_first",
    "simurgh_tls_first: .zero 8",
    ".section .tcommon,\"awT\",@nobits",
    ".balign 64",
    ".hidden simurgh_tls_pad",
    ".globl simurgh_tls_pad",
    ".type simurgh_tls_pad, @object",
    ".size simurgh_tls_pad, 65536",
    "simurgh_tls_pad: .zero 65536",
    ".text",
    // Thread-local descriptors: called with the descriptor in rax, give the distance from the thread pointer.
    ".hidden simurgh_tls_descriptor_of_pad",
    ".globl simurgh_tls_descriptor_of_pad",
    "simurgh_tls_descriptor_of_pad:",
    "mov rax, qword ptr [rax + 8]",
    "ret",
    ".hidden simurgh_tls_descriptor_of_image",
    ".globl simurgh_tls_descriptor_of_image",
    "simurgh_tls_descriptor_of_image:",
    "mov rax, qword ptr [rax + 8]",
    "sub rax, qword ptr fs:[0]",
    "ret",
);

unsafe extern "C" {
    fn simurgh_tls_descriptor_of_pad();
    fn simurgh_tls_descriptor_of_image();
}

pub(crate) fn descriptor_of_pad() -> usize {
    simurgh_tls_descriptor_of_pad as *const () as usize
}

pub(crate) fn descriptor_of_image() -> usize {
    simurgh_tls_descriptor_of_image as *const () as usize
}

/// The thread pointer of this thread.
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the first word that it points to is the pointer itself, by the ABI.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly, pure)) };
    pointer
}

/// Whether the pad ends the host's thread-local segment, as it must.
fn pad_is_last() -> bool {
    let (first, pad): (isize, isize);
    // SAFETY: reads two distances from the table of addresses that the linker made.
    unsafe {
        asm!("mov {}, qword ptr [rip + simurgh_tls_first@GOTTPOFF]", out(reg) first, options(nostack, readonly, pure));
        asm!("mov {}, qword ptr [rip + simurgh_tls_pad@GOTTPOFF]", out(reg) pad, options(nostack, readonly, pure));
    }
    first < pad && pad == -(PAD as isize)
}

/// Where the block of an object lies.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Where {
    /// So far from the thread pointer; negative.
    Pad(isize),
    /// So far from the base of the copy: there is one block a process, whatever the thread.
    Image(usize),
}

/// The thread-local blocks of a group.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// By object; none for those without.
    places: Vec<Option<Where>>,
    /// First bytes of an object: where they lie in its file's image, how many, and where the copy of them is that a
    /// process begins with.
    initial: Vec<(usize, usize, usize)>,
    /// Bytes of the pad that are in use; they end at the thread pointer.
    pub used: usize,
    /// Where a copy keeps its bytes of the pad while another process runs.
    pub saved: usize,
}

impl Blocks {
    pub const TOO_LARGE: &'static str =
        "has more than 64 KiB of thread-local variables; make the large ones global, or allocate them";

    /// Gives each block its place. `end` is the end of the group, and is moved behind what is added.
    pub fn place(objects: &[Object], end: &mut usize) -> Result<Self, Error> {
        let mut blocks = Self { places: vec![None; objects.len()], ..Self::default() };
        let with_blocks = || objects.iter().enumerate().filter_map(|(i, o)| Some((i, o, o.thread_local?)));
        if with_blocks().next().is_none() {
            return Ok(blocks);
        }
        if !pad_is_last() {
            return Err(Error::Host(
                "its thread-local variables do not end with the pad for programs (which linker made it?)",
            ));
        }
        let mut in_image = Vec::new();
        for (number, object, block) in with_blocks() {
            // As linkers assume of a program's block: it ends at the thread pointer but for its alignment.
            let distance = (blocks.used + block.memory).next_multiple_of(block.align);
            if distance <= PAD && block.align <= 64 {
                blocks.used = distance;
                blocks.places[number] = Some(Where::Pad(-(distance as isize)));
            } else if object.is_program {
                return Err(Error::unsuitable(&object.path, Self::TOO_LARGE));
            } else {
                in_image.push(number);
            }
        }
        blocks.saved = *end;
        *end = pages(blocks.saved + blocks.used);
        for number in in_image {
            let block = objects[number].thread_local.expect("it has one");
            *end = end.next_multiple_of(block.align.max(16));
            blocks.places[number] = Some(Where::Image(*end));
            *end += block.memory;
        }
        *end = pages(*end);
        for (number, object, block) in with_blocks() {
            let copy = match blocks.of(number) {
                Where::Pad(offset) => (blocks.saved + blocks.used).wrapping_add_signed(offset),
                Where::Image(offset) => offset,
            };
            blocks.initial.push((object.base + block.address, block.file, copy));
        }
        Ok(blocks)
    }

    /// Where the block of an object lies.
    pub fn of(&self, object: usize) -> Where {
        self.places[object].unwrap_or(Where::Pad(0))
    }

    /// Copies the first bytes of each block in the template to where a process begins with them.
    pub fn fill(&self, template: usize) {
        for (from, bytes, to) in &self.initial {
            // SAFETY: both lie in the template, and do not overlap: the copies come after all objects.
            unsafe {
                ((template + from) as *const u8).copy_to_nonoverlapping((template + to) as *mut u8, *bytes);
            }
        }
    }

    /// What a new thread finds in the pad, from the first bytes in a copy.
    ///
    /// # Safety
    /// A copy of the group lies at `base`.
    pub unsafe fn initial_variables(&self, base: usize) -> Vec<u8> {
        let mut pad = vec![0; self.used];
        for (from, bytes, to) in
            self.initial.iter().filter(|(_, _, to)| to.wrapping_sub(self.saved) < self.used)
        {
            let at = to - self.saved;
            // SAFETY: the first bytes of a block lie in its object.
            let first = unsafe { std::slice::from_raw_parts((base + from) as *const u8, *bytes) };
            pad[at..at + bytes].copy_from_slice(first);
        }
        pad
    }

    /// The same word of the block with which a process begins.
    pub fn initial_copy(&self, at: usize) -> Option<usize> {
        self.initial
            .iter()
            .find(|(from, bytes, _)| (*from..from + bytes).contains(&at))
            .map(|(from, _, to)| at - from + to)
    }
}

/// What code asks for the address of a variable by block and distance.
#[repr(C)]
pub(crate) struct Index {
    block: isize,
    offset: usize,
}

/// `__tls_get_addr` of programs. A block in the pad is known by its negative distance from the thread pointer, another
/// one by its address.
pub(crate) extern "C" fn tls_get_addr(index: *const Index) -> usize {
    // SAFETY: compiled code passes a pair of its own table, which the loader has filled.
    let Index { block, offset } = unsafe { index.read() };
    let block = if block < 0 { thread_pointer().wrapping_add_signed(block) } else { block as usize };
    block.wrapping_add(offset)
}
