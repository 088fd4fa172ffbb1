//! Going from one stack to another.
//!
//! What a function may expect to find again after a call is put on the stack that is left: six registers, the
//! rounding and exception masks of both floating-point units, and where to go on.

use std::arch::global_asm;

global_asm!(
    ".text",
    ".balign 16",
    ".hidden simurgh_switch",
    ".globl simurgh_switch",
    ".type simurgh_switch, @function",
    "simurgh_switch:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr dword ptr [rsp]",
    "fnstcw word ptr [rsp + 4]",
    "mov qword ptr [rdi], rsp",
    "mov rsp, rsi",
    "ldmxcsr dword ptr [rsp]",
    "fldcw word ptr [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    // A return would go where the processor expects it least.
    "pop rcx",
    "jmp rcx",
    ".size simurgh_switch, . - simurgh_switch",
    // The first frame of a stack: nobody called it.
    ".balign 16",
    ".hidden simurgh_stack_begin",
    ".globl simurgh_stack_begin",
    ".type simurgh_stack_begin, @function",
    "simurgh_stack_begin:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rdi, r12",
    "xor ebp, ebp",
    "call r13",
    "ud2",
    ".cfi_endproc",
    ".size simurgh_stack_begin, . - simurgh_stack_begin",
    // Begins a program as the operating system does: rdi is its entry, rsi what it finds on its stack.
    ".balign 16",
    ".hidden simurgh_enter_program",
    ".globl simurgh_enter_program",
    ".type simurgh_enter_program, @function",
    "simurgh_enter_program:",
    "mov rsp, rsi",
    "xor edx, edx",
    "xor ebp, ebp",
    "jmp rdi",
    ".size simurgh_enter_program, . - simurgh_enter_program",
);

unsafe extern "C" {
    /// Leaves this stack, noting where, and goes on with another.
    pub(crate) fn simurgh_switch(from: *mut usize, to: usize);
    fn simurgh_stack_begin();
    /// Begins a program at its entry.
    pub(crate) fn simurgh_enter_program(entry: usize, stack: usize) -> !;
}

/// What lies on a stack that was left, from its pointer up.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub(crate) struct Saved {
    pub masks: u64,
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub rbx: u64,
    pub rbp: u64,
    pub rip: u64,
}

/// Prepares a stack that ends at `top` to call a function with an argument; gives its pointer.
///
/// # Safety
/// The stack is writable below `top`, and used by nobody.
pub(crate) unsafe fn prepare(top: usize, function: extern "C" fn(usize) -> !, argument: usize) -> usize {
    let stack = (top & !15) - 16 - size_of::<Saved>();
    let saved = Saved {
        // All exceptions masked, to the nearest, 64 bits of mantissa: as a process begins.
        masks: 0x1f80 | 0x037f << 32,
        r15: 0,
        r14: 0,
        r13: function as *const () as u64,
        r12: argument as u64,
        rbx: 0,
        rbp: 0,
        rip: simurgh_stack_begin as *const () as u64,
    };
    // SAFETY: the caller gives the stack.
    unsafe { (stack as *mut Saved).write(saved) };
    stack
}
