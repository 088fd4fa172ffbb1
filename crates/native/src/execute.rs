//! Executing one instruction of a process while its thread is in a handler of a signal.
//!
//! A trap after every instruction costs a signal each, microseconds to tens of them in virtual machines. So the handler of a trap goes on by
//! itself: an instruction is copied to code of ours, and called with the registers of the process, which costs less than a tenth of a
//! microsecond, and means exactly what it means to this processor. Jumps, calls and the stack are done by hand, since the
//! stack of the process is not the one that the handler runs on. What is not known here is left to the processor, with a trap after it:
//! repeated string instructions, x87 and MMX, AVX-512, system calls.
//!
//! An instruction that faults has changed nothing: whoever asked is told so, lets the processor do it again, and what is wrong happens where it does.

use std::arch::global_asm;
use std::cell::Cell;

use iced_x86::{EncodingKind, FlowControl, Instruction, InstructionInfo, Mnemonic, OpKind, Register};

use crate::watch::{Registers, is_met, place_of, value};

/// The general registers as the code below has them, in the order of their numbers, and the flags. `rsp` stands for itself.
type General = [u64; 17];
const FLAGS: usize = 16;

/// What processes may have in their flags that would not do for us: the trap flag.
const TRAP_FLAG: u64 = 0x100;

/// The place of an instruction in code of ours, and the byte after it: `ret`.
const SLOT: usize = 32;
const RETURN: u8 = 0xc3;

// A leaf that is called as C does: rdi has registers, rsi code, rdx what `fxsave` left or null, rcx the components of `xsave` or 0. It says
// whether the code came to its end; if it faults, it goes on at `simurgh_execute_failed`, and the registers are what they were.
global_asm!(
    ".text",
    ".balign 16",
    ".hidden simurgh_execute",
    ".globl simurgh_execute",
    ".type simurgh_execute, @function",
    "simurgh_execute:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "push rcx",
    "push rdx",
    "push rdi",
    "push rsi",
    "test rdx, rdx",
    "jz 3f",
    "test rcx, rcx",
    "jz 2f",
    "mov eax, ecx",
    "mov rcx, rdx",
    "xor edx, edx",
    "xrstor64 [rcx]",
    "jmp 3f",
    "2: fxrstor64 [rdx]",
    "3: push qword ptr [rdi + 16 * 8]",
    "popfq",
    "mov rax, [rdi]",
    "mov rcx, [rdi + 1 * 8]",
    "mov rdx, [rdi + 2 * 8]",
    "mov rbx, [rdi + 3 * 8]",
    "mov rbp, [rdi + 5 * 8]",
    "mov rsi, [rdi + 6 * 8]",
    "mov r8, [rdi + 8 * 8]",
    "mov r9, [rdi + 9 * 8]",
    "mov r10, [rdi + 10 * 8]",
    "mov r11, [rdi + 11 * 8]",
    "mov r12, [rdi + 12 * 8]",
    "mov r13, [rdi + 13 * 8]",
    "mov r14, [rdi + 14 * 8]",
    "mov r15, [rdi + 15 * 8]",
    "mov rdi, [rdi + 7 * 8]",
    "call qword ptr [rsp]",
    "push rdi",
    "mov rdi, [rsp + 16]",
    "mov [rdi], rax",
    "mov [rdi + 1 * 8], rcx",
    "mov [rdi + 2 * 8], rdx",
    "mov [rdi + 3 * 8], rbx",
    "mov [rdi + 5 * 8], rbp",
    "mov [rdi + 6 * 8], rsi",
    "mov [rdi + 8 * 8], r8",
    "mov [rdi + 9 * 8], r9",
    "mov [rdi + 10 * 8], r10",
    "mov [rdi + 11 * 8], r11",
    "mov [rdi + 12 * 8], r12",
    "mov [rdi + 13 * 8], r13",
    "mov [rdi + 14 * 8], r14",
    "mov [rdi + 15 * 8], r15",
    "pop qword ptr [rdi + 7 * 8]",
    "pushfq",
    "pop qword ptr [rdi + 16 * 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "test rdx, rdx",
    "jz 5f",
    "test rcx, rcx",
    "jz 4f",
    "mov eax, ecx",
    "mov rcx, rdx",
    "xor edx, edx",
    "xsave64 [rcx]",
    "jmp 5f",
    "4: fxsave64 [rdx]",
    "5: mov eax, 1",
    "6: cld",
    "add rsp, 32",
    "ldmxcsr [rsp]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".hidden simurgh_execute_failed",
    ".globl simurgh_execute_failed",
    "simurgh_execute_failed:",
    "add rsp, 8",
    "xor eax, eax",
    "jmp 6b",
    ".size simurgh_execute, . - simurgh_execute",
);

unsafe extern "C" {
    fn simurgh_execute(general: *mut General, code: *const u8, vectors: *mut u8, components: u64) -> u64;
    fn simurgh_execute_failed();
}

thread_local! {
    /// Where code lies that instructions are copied to, from where to where.
    static CODE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether an instruction that was executed here has faulted: then the thread goes on where that is told.
pub(crate) fn has_faulted(general: &mut Registers) -> bool {
    let (start, end) = CODE.get();
    let at = general[libc::REG_RIP as usize] as usize;
    let is_here = (start..end).contains(&at);
    if is_here {
        general[libc::REG_RIP as usize] = simurgh_execute_failed as *const () as i64;
    }
    is_here
}

/// Code of ours, a slot for each instruction that is remembered.
#[derive(Debug)]
pub(crate) struct Code {
    slots: *mut u8,
}

impl Drop for Code {
    fn drop(&mut self) {
        let (start, end) = CODE.replace((0, 0));
        // SAFETY: it was mapped for this thread, which executes none of it.
        unsafe { libc::munmap(start as *mut _, end - start) };
    }
}

/// How an instruction is executed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By the processor, which traps after it.
    Trap,
    /// From its slot.
    Copied {
        /// What its copy has in the place of `rsp` or `rip`, and what that stands for.
        stands: Option<(Register, Stands)>,
        vectors: Vectors,
    },
    /// As what it does to `rip` and the stack.
    ByHand(Hand),
}

/// What a register of a copy stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stands {
    Stack,
    Address(u64),
}

/// Which registers of vectors an instruction needs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Vectors {
    None,
    Sse,
    Avx,
}

/// What is done by hand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Hand {
    Jump,
    JumpIf,
    Call,
    Return,
    Push,
    Pop,
    Leave,
}

impl Code {
    /// Room for so many instructions; nothing where memory cannot be written and executed.
    pub fn new(slots: usize) -> Option<Self> {
        let bytes = slots * SLOT;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: maps new memory, wherever there is room.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // The last two read a word at rdi, and write rsi there.
        let code = Self { slots: start.cast() };
        code.write(slots - 1, &[0x48, 0x8b, 0x07]);
        code.write(slots - 2, &[0x48, 0x89, 0x37]);
        CODE.set((start as usize, start as usize + bytes));
        Some(code)
    }

    fn write(&self, slot: usize, instruction: &[u8]) {
        assert!(instruction.len() < SLOT, "an instruction has up to 15 bytes");
        // SAFETY: slots are apart from each other, and written by this thread alone, while none is executed.
        unsafe {
            let to = self.slots.add(slot * SLOT);
            to.copy_from_nonoverlapping(instruction.as_ptr(), instruction.len());
            to.add(instruction.len()).write(RETURN);
        }
    }

    /// Finds out how an instruction is executed, and writes its copy to a slot.
    pub fn prepare(&self, slot: usize, instruction: &Instruction, info: &InstructionInfo) -> Way {
        if let Some(hand) = by_hand(instruction) {
            return Way::ByHand(hand);
        }
        let Some(vectors) = vectors(instruction, info) else { return Way::Trap };
        if !is_plain(instruction) {
            return Way::Trap;
        }
        let mut copy = *instruction;
        let uses = |wanted: Register| {
            info.used_registers().iter().any(|used| used.register().full_register() == wanted)
        };
        let is_relative = instruction.is_ip_rel_memory_operand();
        let stands = match (uses(Register::RSP), is_relative) {
            (true, true) => return Way::Trap,
            (false, false) => None,
            (is_stack, _) => {
                // Of the first eight, for the sake of registers that have no name where there is a prefix.
                let Some(free) = SCRATCH.into_iter().find(|register| !uses(*register)) else {
                    return Way::Trap;
                };
                if is_stack && !replaces_stack(&mut copy, free) {
                    return Way::Trap;
                }
                if is_relative {
                    copy.set_memory_base(free);
                    copy.set_memory_displacement64(0);
                    copy.set_memory_displ_size(0);
                }
                let address = instruction.ip_rel_memory_address();
                Some((free, if is_stack { Stands::Stack } else { Stands::Address(address) }))
            }
        };
        let mut encoder = iced_x86::Encoder::new(64);
        match encoder.encode(&copy, 0) {
            Ok(_) => self.write(slot, &encoder.take_buffer()),
            Err(_) => return Way::Trap,
        }
        Way::Copied { stands, vectors }
    }

    /// Executes an instruction with the registers that a signal came with; whether it could be.
    ///
    /// # Safety
    /// The context is that of a process that runs, in the handler of a signal on this thread, which is at this instruction; the slot was
    /// prepared for it.
    pub unsafe fn executes(
        &self,
        slot: usize,
        instruction: &Instruction,
        way: Way,
        context: &mut libc::ucontext_t,
    ) -> bool {
        match way {
            Way::Trap => false,
            Way::Copied { stands, vectors } => {
                // SAFETY: as the caller says.
                let is_done = unsafe { self.executes_copy(slot, stands, vectors, context) };
                if is_done {
                    context.uc_mcontext.gregs[libc::REG_RIP as usize] = instruction.next_ip() as i64;
                }
                is_done
            }
            Way::ByHand(hand) => {
                self.does_by_hand(hand, instruction, &mut context.uc_mcontext.gregs).is_some()
            }
        }
    }

    /// # Safety
    /// As [`Self::executes`].
    unsafe fn executes_copy(
        &self,
        slot: usize,
        stands: Option<(Register, Stands)>,
        vectors: Vectors,
        context: &mut libc::ucontext_t,
    ) -> bool {
        let state: *mut u8 = match vectors {
            Vectors::None => std::ptr::null_mut(),
            Vectors::Sse | Vectors::Avx => context.uc_mcontext.fpregs.cast(),
        };
        // SAFETY: the kernel gives the state of vectors with the registers, and stays with its format.
        let Some(components) = (unsafe { components(state, vectors) }) else { return false };
        let before = &mut context.uc_mcontext.gregs;
        let mut general: General = std::array::from_fn(|number| match NUMBERED.get(number) {
            Some(place) => before[*place as usize] as u64,
            None => before[libc::REG_EFL as usize] as u64 & !TRAP_FLAG,
        });
        let stack = NUMBERED.iter().position(|place| *place == libc::REG_RSP).expect("it is one of them");
        let number = stands.map(|(register, stands)| {
            let number = register.number();
            general[number] = match stands {
                Stands::Stack => general[stack],
                Stands::Address(address) => address,
            };
            number
        });
        // SAFETY: the slot has one instruction that goes on behind it, or faults, and does not touch the stack.
        let is_done =
            unsafe { simurgh_execute(&raw mut general, self.slots.add(slot * SLOT), state, components) != 0 };
        if is_done {
            // SAFETY: it is the state that the signal came with, just written.
            unsafe { is_in_use(state) };
            if let (Some(number), Some((_, stands))) = (number, stands) {
                if stands == Stands::Stack {
                    general[stack] = general[number];
                }
                general[number] = before[NUMBERED[number] as usize] as u64;
            }
            for (number, place) in NUMBERED.iter().enumerate() {
                before[*place as usize] = general[number] as i64;
            }
            before[libc::REG_EFL as usize] = general[FLAGS] as i64;
        }
        is_done
    }

    /// Jumps, calls, returns, and what is pushed and popped.
    fn does_by_hand(&self, hand: Hand, instruction: &Instruction, general: &mut Registers) -> Option<()> {
        const RIP: usize = libc::REG_RIP as usize;
        const RSP: usize = libc::REG_RSP as usize;
        let stack = general[RSP] as u64;
        let next = instruction.next_ip();
        match hand {
            Hand::Jump => general[RIP] = self.source(instruction, general)? as i64,
            Hand::JumpIf => {
                let jumps = is_met(instruction.condition_code(), general[libc::REG_EFL as usize]);
                general[RIP] = if jumps { instruction.near_branch_target() } else { next } as i64;
            }
            Hand::Call => {
                let target = self.source(instruction, general)?;
                self.store(stack.wrapping_sub(8), next)?;
                (general[RSP], general[RIP]) = (stack.wrapping_sub(8) as i64, target as i64);
            }
            Hand::Return => {
                let target = self.load(stack)?;
                let above = match instruction.op_count() {
                    0 => 0,
                    _ => u64::from(instruction.immediate16()),
                };
                (general[RSP], general[RIP]) = ((stack + 8 + above) as i64, target as i64);
            }
            Hand::Push => {
                let value = self.source(instruction, general)?;
                self.store(stack.wrapping_sub(8), value)?;
                (general[RSP], general[RIP]) = (stack.wrapping_sub(8) as i64, next as i64);
            }
            Hand::Pop => {
                let popped = self.load(stack)?;
                general[RSP] = (stack + 8) as i64;
                general[place_of(instruction.op0_register())? as usize] = popped as i64;
                general[RIP] = next as i64;
            }
            Hand::Leave => {
                let frame = general[libc::REG_RBP as usize] as u64;
                general[libc::REG_RBP as usize] = self.load(frame)? as i64;
                (general[RSP], general[RIP]) = ((frame + 8) as i64, next as i64);
            }
        }
        Some(())
    }

    /// What the first operand is.
    fn source(&self, instruction: &Instruction, general: &Registers) -> Option<u64> {
        match instruction.op0_kind() {
            OpKind::NearBranch64 => Some(instruction.near_branch64()),
            OpKind::Register => value(general, instruction.op0_register()),
            OpKind::Memory => {
                self.load(instruction.virtual_address(0, 0, |register, _, _| value(general, register))?)
            }
            _ => Some(instruction.immediate(0)),
        }
    }

    fn load(&self, address: u64) -> Option<u64> {
        self.word(address, None)
    }

    fn store(&self, address: u64, word: u64) -> Option<()> {
        self.word(address, Some(word)).map(drop)
    }

    /// Reads or writes a word, wherever it is.
    fn word(&self, address: u64, written: Option<u64>) -> Option<u64> {
        let mut general: General = [0; 17];
        (general[7], general[6]) = (address, written.unwrap_or(0));
        let (start, end) = CODE.get();
        let slot = (end - start) / SLOT - if written.is_some() { 2 } else { 1 };
        // SAFETY: the slot reads or writes a word, or faults.
        let is_done = unsafe {
            simurgh_execute(&raw mut general, self.slots.add(slot * SLOT), std::ptr::null_mut(), 0) != 0
        };
        is_done.then_some(general[0])
    }
}

/// The slots of a room that instructions do not get.
pub(crate) const RESERVED: usize = 2;

/// Where the registers are, in the order of their numbers.
const NUMBERED: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

const SCRATCH: [Register; 7] =
    [Register::RAX, Register::RCX, Register::RDX, Register::RBX, Register::RSI, Register::RDI, Register::RBP];

fn by_hand(instruction: &Instruction) -> Option<Hand> {
    let is_wide = match instruction.op0_kind() {
        OpKind::Register => place_of(instruction.op0_register()).is_some(),
        OpKind::Memory => {
            instruction.memory_size().size() == 8
                && matches!(instruction.memory_segment(), Register::DS | Register::SS)
        }
        _ => true,
    };
    let found = match (instruction.flow_control(), instruction.mnemonic()) {
        // Those that count in a register have no condition.
        (FlowControl::ConditionalBranch, _) => {
            let has_condition = instruction.condition_code() != iced_x86::ConditionCode::None;
            return has_condition.then_some(Hand::JumpIf);
        }
        (FlowControl::UnconditionalBranch | FlowControl::IndirectBranch, Mnemonic::Jmp) => Hand::Jump,
        (FlowControl::Call | FlowControl::IndirectCall, Mnemonic::Call) => Hand::Call,
        (FlowControl::Return, Mnemonic::Ret) => return Some(Hand::Return),
        (FlowControl::Next, Mnemonic::Push) if instruction.stack_pointer_increment() == -8 => Hand::Push,
        (FlowControl::Next, Mnemonic::Pop)
            if instruction.stack_pointer_increment() == 8 && instruction.op0_kind() == OpKind::Register =>
        {
            Hand::Pop
        }
        (FlowControl::Next, Mnemonic::Leave) => return Some(Hand::Leave),
        _ => return None,
    };
    is_wide.then_some(found)
}

/// Whether an instruction does the same from anywhere, once.
fn is_plain(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::Next
        && !instruction.is_stack_instruction()
        && !instruction.is_privileged()
        && !instruction.is_vsib()
        && !instruction.is_string_instruction()
        && !instruction.is_save_restore_instruction()
        && !matches!(
            instruction.mnemonic(),
            Mnemonic::Ldmxcsr | Mnemonic::Stmxcsr | Mnemonic::Vldmxcsr | Mnemonic::Vstmxcsr
        )
        && (0..instruction.op_count()).all(|operand| {
            let register = instruction.op_register(operand);
            instruction.op_kind(operand) != OpKind::Register || !register.is_segment_register()
        })
}

/// The registers of vectors that an instruction uses; nothing if it uses some that are not known here.
fn vectors(instruction: &Instruction, info: &InstructionInfo) -> Option<Vectors> {
    let uses = |is: fn(Register) -> bool| info.used_registers().iter().any(|used| is(used.register()));
    match instruction.encoding() {
        // Emms and its like name no register.
        EncodingKind::Legacy
            if uses(|register| register.is_st() || register.is_mm())
                || instruction.mnemonic() == Mnemonic::Emms
                || instruction.fpu_stack_increment_info().writes_top()
                || is_x87(instruction) =>
        {
            None
        }
        EncodingKind::Legacy if uses(Register::is_vector_register) => Some(Vectors::Sse),
        EncodingKind::Legacy => Some(Vectors::None),
        EncodingKind::VEX if uses(Register::is_vector_register) => Some(Vectors::Avx),
        // Those of BMI have general registers alone; `vzeroupper` has none.
        EncodingKind::VEX if uses(Register::is_gpr) => Some(Vectors::None),
        _ => None,
    }
}

fn is_x87(instruction: &Instruction) -> bool {
    use iced_x86::CpuidFeature as Feature;
    instruction
        .cpuid_features()
        .iter()
        .any(|feature| matches!(feature, Feature::FPU | Feature::FPU287 | Feature::FPU387 | Feature::MMX))
}

/// Puts a register in the place of `rsp`; whether it stands nowhere any more.
fn replaces_stack(copy: &mut Instruction, free: Register) -> bool {
    for operand in 0..copy.op_count() {
        if copy.op_kind(operand) == OpKind::Register {
            match copy.op_register(operand) {
                Register::RSP => copy.set_op_register(operand, free),
                register if register.full_register() == Register::RSP => return false,
                _ => {}
            }
        }
    }
    if copy.memory_base() == Register::RSP {
        copy.set_memory_base(free);
    }
    copy.memory_base().full_register() != Register::RSP
        && copy.memory_index().full_register() != Register::RSP
}

/// What of the state of vectors is put in and out by `xsave`, 0 for `fxsave`; nothing if that is not there.
///
/// # Safety
/// It is the state that a signal came with.
unsafe fn components(state: *const u8, vectors: Vectors) -> Option<u64> {
    /// Of x87, SSE, AVX; of AVX-512.
    const AVX: u64 = 0b111;
    const WIDER: u64 = 0b1110_0000;
    if vectors == Vectors::None {
        return Some(0);
    }
    if state.is_null() {
        return None;
    }
    if vectors == Vectors::Sse {
        return Some(0);
    }
    // SAFETY: as the caller says.
    let has =
        unsafe { if is_extended(state) { state.add(OWN + 8).cast::<u64>().read_unaligned() } else { 0 } };
    (has & AVX == AVX).then_some(has & (AVX | WIDER))
}

/// Where the kernel says that its state is one of `xsave`, and which components it has (`struct _fpx_sw_bytes`).
const OWN: usize = 464;

/// # Safety
/// It is the state that a signal came with.
unsafe fn is_extended(state: *const u8) -> bool {
    const MAGIC: u32 = 0x4650_5853;
    // SAFETY: as the caller says.
    unsafe { state.add(OWN).cast::<u32>().read_unaligned() == MAGIC }
}

/// Says that the state has registers of SSE in it: `fxsave` writes them without saying so, and `xsave` may say that all are 0.
///
/// # Safety
/// It is the state that a signal came with, or null.
unsafe fn is_in_use(state: *mut u8) {
    const HEADER: usize = 512;
    const SSE: u64 = 0b11;
    // SAFETY: as the caller says.
    unsafe {
        if !state.is_null() && is_extended(state) {
            *state.add(HEADER).cast::<u64>() |= SSE;
        }
    }
}
