//! Watching what a program touches: its own loads and stores of some ranges of memory, before each of them happens.
//!
//! The processor is told to stop after every instruction of the program (the trap flag), and the operands of the next one are
//! compared with the ranges. This needs no other build of the program, and costs about a microsecond an instruction, so that it ends
//! after some number of steps. What the program calls outside of its own code, in libc or in the host, runs at full speed: a
//! breakpoint where it returns to goes on with the steps. Functions of libc are [known](crate::known) by their arguments. Compilers load what a program may not need where that
//! is cheaper than a jump: a load counts once its value is used.
//!
//! A process that is watched for the first time is in a call of the host, which knows where the program goes on.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock};

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfo,
    InstructionInfoFactory, OpAccess, OpKind, Register,
};

use crate::current::{self, Heap, Rank, with_heap};
use crate::known;
use crate::personality::End;
use crate::signals;

/// A load or store that is about to happen.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    /// From where.
    pub address: usize,
    /// So many bytes.
    pub bytes: usize,
    /// Whether it is a store.
    pub writes: bool,
    /// The instruction.
    pub at: usize,
    /// Whether the memory is given back.
    pub frees: bool,
    /// Whether it is one that processors do at once, whoever else touches it.
    pub is_atomic: bool,
}

/// What is watched of a process.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// From where to where, in order, and apart from each other.
    ranges: Vec<(usize, usize)>,
    /// How many steps were made, and how many may be.
    made: u64,
    allowed: u64,
    is_stepping: bool,
    /// A load whose value was not used yet: the register it is in, and for how many instructions it is waited for.
    unused: Option<(Register, Touch, u8)>,
    /// The last call in the code of the program itself.
    called_at: usize,
    /// Where a breakpoint is, and the byte that it replaces.
    breakpoint: Option<(usize, u8)>,
}

impl Watch {
    /// The process is put back to an earlier state.
    pub fn forget(&mut self) {
        self.remove_breakpoint();
        *self = Self::default();
    }

    fn remove_breakpoint(&mut self) {
        if let Some((at, byte)) = self.breakpoint.take() {
            patch(at, byte);
        }
    }

    fn set_breakpoint(&mut self, at: usize) {
        self.remove_breakpoint();
        // SAFETY: code of the program, which can be read.
        let byte = unsafe { *(at as *const u8) };
        if patch(at, BREAKPOINT) {
            self.breakpoint = Some((at, byte));
        }
    }

    fn is_over(&self) -> bool {
        self.ranges.is_empty() || self.made >= self.allowed
    }

    fn meets(&self, address: usize, bytes: usize) -> bool {
        let after = self.ranges.partition_point(|(_, end)| *end <= address);
        self.ranges.get(after).is_some_and(|(start, _)| *start < address + bytes)
    }
}

/// The registers of a signal.
pub(crate) type Registers = [libc::greg_t; 23];

/// `int3`.
const BREAKPOINT: u8 = 0xcc;
const TRAP_FLAG: i64 = 0x100;

/// Writes a byte of code, which may be read and executed alone.
fn patch(at: usize, byte: u8) -> bool {
    static MEMORY: OnceLock<Option<File>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| OpenOptions::new().write(true).open("/proc/self/mem").ok());
    memory.as_ref().is_some_and(|memory| memory.write_all_at(&[byte], at as u64).is_ok())
}

/// Watches these ranges of the process that runs in place of those before, for at most so many steps since it was put back. It is in
/// a call of the host, after which the program goes on there.
///
/// # Panics
/// When no process runs on this thread.
pub fn watch(mut ranges: Vec<(usize, usize)>, steps: u64, goes_on: usize) {
    let rank = current::rank();
    assert!(!rank.is_null(), "no process of a compiled program runs on this thread");
    ranges.retain(|(start, end)| start < end);
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let joins = next.0 <= before.1;
        if joins {
            before.1 = before.1.max(next.1);
        }
        joins
    });
    // SAFETY: it runs.
    let (watch, is_code) = unsafe { (&mut (*rank).watch, is_code(rank, goes_on)) };
    watch.ranges = ranges;
    watch.allowed = steps;
    if !watch.is_over() && watch.breakpoint.is_none() && is_code && install() {
        watch.set_breakpoint(goes_on);
    }
}

/// Whether an address is one of the program of a process, or of its libraries.
///
/// # Safety
/// The process is alive.
unsafe fn is_code(rank: *const Rank, address: usize) -> bool {
    // SAFETY: as the caller says.
    let (shared, index) = unsafe { (&*(*rank).shared, (*rank).index) };
    shared.region.process_at(address) == Some(index)
}

/// Whether an address is one of the program itself.
///
/// # Safety
/// The process is alive.
unsafe fn is_program(rank: *const Rank, address: usize) -> bool {
    // SAFETY: as the caller says.
    let (shared, index) = unsafe { (&*(*rank).shared, (*rank).index) };
    let start = shared.region.image_of(index);
    (start..start + shared.image.group.objects[0].span).contains(&address)
}

/// An address in the program: this one, or its last call, where it is in a library.
///
/// # Safety
/// The process is alive.
unsafe fn place_in_program(rank: *const Rank, address: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { if is_program(rank, address) { address } else { (*rank).watch.called_at } }
}

/// What decodes; how many bytes an instruction may have.
static INFO: Mutex<Option<InstructionInfoFactory>> = Mutex::new(None);
const LONGEST: usize = 15;

/// Begins to handle traps, once.
fn install() -> bool {
    static DONE: OnceLock<bool> = OnceLock::new();
    *DONE.get_or_init(|| {
        with_heap(Heap::Host, || {
            if let Ok(mut info) = INFO.lock() {
                *info = Some(InstructionInfoFactory::new());
            }
            known::find();
        });
        // SAFETY: an action that is zero but for what is set; the handler is of the type that the flags say.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = trapped as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) == 0
        }
    })
}

extern "C" fn trapped(signal: i32, _info: *mut libc::siginfo_t, context: *mut std::ffi::c_void) {
    // SAFETY: the kernel gives the registers, which the thread goes on with.
    let general = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let rank = current::rank_or_owner();
    if rank.is_null() {
        // It is none of a process: it comes again, and ends us.
        // SAFETY: gives the signal its default action.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: it runs, or a worker of it does.
    let watch = unsafe { &mut (*rank).watch };
    let at = general[libc::REG_RIP as usize] as usize;
    if let Some((place, _)) = watch.breakpoint
        && at == place + 1
    {
        watch.remove_breakpoint();
        general[libc::REG_RIP as usize] = place as i64;
        // What workers of a process do is not looked at.
        if current::rank() == rank {
            watch.is_stepping = true;
        }
    } else if !watch.is_stepping {
        // SAFETY: a trap of the program itself ends it as any signal does.
        unsafe { signals::end(signal, context) };
        return;
    }
    // It is interrupted in its own code, and holds no lock of ours. What is allocated here is not its own.
    // SAFETY: it runs, and these are its registers.
    match with_heap(Heap::Host, || unsafe { step(rank, general) }) {
        Step::Goes => general[libc::REG_EFL as usize] |= TRAP_FLAG,
        Step::Rests => {
            watch.is_stepping = false;
            general[libc::REG_EFL as usize] &= !TRAP_FLAG;
        }
        Step::Ends => {
            watch.is_stepping = false;
            general[libc::REG_EFL as usize] &= !TRAP_FLAG;
            // SAFETY: it runs, and does not go on.
            unsafe {
                (*rank).left = Some(End::Exited(1));
                signals::leave_from(general);
            }
        }
    }
}

enum Step {
    /// It makes the next step.
    Goes,
    /// It goes on without steps.
    Rests,
    /// It ends here.
    Ends,
}

/// Looks at the next instruction.
///
/// # Safety
/// The process runs, and these are its registers.
unsafe fn step(rank: *mut Rank, general: &Registers) -> Step {
    // SAFETY: as the caller says.
    let watch = unsafe { &mut (*rank).watch };
    if !watch.is_stepping || watch.is_over() {
        return Step::Rests;
    }
    watch.made += 1;
    let at = general[libc::REG_RIP as usize] as usize;
    // SAFETY: as the caller says.
    if !unsafe { is_code(rank, at) } {
        // SAFETY: a function has just been called: where it returns to is on top of the stack.
        let back = unsafe { *(general[libc::REG_RSP as usize] as *const usize) };
        // SAFETY: as the caller says.
        let caller = unsafe { place_in_program(rank, back - 1) };
        for touch in known::touches(general, &watch.ranges, caller) {
            // SAFETY: as the caller says.
            if unsafe { tells(rank, touch) } {
                return Step::Ends;
            }
        }
        // SAFETY: as the caller says.
        if unsafe { is_code(rank, back) } {
            // SAFETY: as the caller says.
            unsafe { (*rank).watch.set_breakpoint(back) };
            return Step::Rests;
        }
        return Step::Goes;
    }
    // SAFETY: the code is mapped, and what follows it in the copy too.
    let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, LONGEST) };
    let instruction = Decoder::with_ip(64, bytes, at as u64, DecoderOptions::NONE).decode();
    let Ok(mut info) = INFO.try_lock() else { return Step::Goes };
    let Some(info) = info.as_mut() else { return Step::Rests };
    let flags = general[libc::REG_EFL as usize];
    let moves =
        instruction.condition_code() == ConditionCode::None || is_met(instruction.condition_code(), flags);
    let info = info.info(&instruction);
    // SAFETY: as the caller says.
    let is_program = unsafe { is_program(rank, at) };
    if is_program && matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
        watch.called_at = at;
    }
    let line = if is_program { at } else { watch.called_at };
    let is_atomic = instruction.has_lock_prefix() || instruction.mnemonic() == iced_x86::Mnemonic::Xchg;
    if let Some((register, touch, left)) = watch.unused.take() {
        match use_of(&instruction, info, register, moves) {
            Use::None if left > 0 => watch.unused = Some((register, touch, left - 1)),
            Use::None | Use::Reads => {
                // SAFETY: as the caller says.
                if unsafe { tells(rank, touch) } {
                    return Step::Ends;
                }
            }
            Use::Replaces => {}
        }
    }
    if is_conditional_move(&instruction) && !moves {
        return Step::Goes;
    }
    let mut found: [Option<Touch>; 4] = [None; 4];
    let mut count = 0;
    for memory in info.used_memory() {
        let writes = match memory.access() {
            OpAccess::Read | OpAccess::CondRead => false,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => true,
            OpAccess::None | OpAccess::NoMemAccess => continue,
        };
        // Of repeated string instructions the size is not said: each repetition is a step.
        let bytes = memory.memory_size().size().max(1);
        let Some(address) = memory.virtual_address(0, |register, _, _| value(general, register)) else {
            continue;
        };
        if count < found.len() && watch.meets(address as usize, bytes) {
            let address = address as usize;
            found[count] = Some(Touch { address, bytes, writes, at: line, frees: false, is_atomic });
            count += 1;
        }
    }
    let loaded =
        Some(instruction.op0_register()).filter(|_| is_load(&instruction)).map(Register::full_register);
    for touch in found.into_iter().flatten() {
        if let Some(register) = loaded.filter(|_| !touch.writes) {
            watch.unused = Some((register, touch, PATIENCE));
            continue;
        }
        // SAFETY: as the caller says.
        if unsafe { tells(rank, touch) } {
            return Step::Ends;
        }
    }
    Step::Goes
}

/// For how many instructions the use of a value is waited for: a value that is loaded in vain is replaced before.
const PATIENCE: u8 = 40;

/// What an instruction does with a register.
enum Use {
    None,
    Reads,
    Replaces,
}

fn use_of(instruction: &Instruction, info: &InstructionInfo, register: Register, moves: bool) -> Use {
    if is_conditional_move(instruction) {
        let is_source = instruction.op1_kind() == OpKind::Register
            && instruction.op1_register().full_register() == register;
        let is_target = instruction.op0_register().full_register() == register;
        return match (is_source, is_target, moves) {
            (true, _, true) => Use::Reads,
            (_, true, true) => Use::Replaces,
            _ => Use::None,
        };
    }
    let mut replaces = false;
    for used in info.used_registers().iter().filter(|used| used.register().full_register() == register) {
        match used.access() {
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                return Use::Reads;
            }
            OpAccess::Write => replaces = true,
            _ => {}
        }
    }
    match instruction.flow_control() {
        // What is loaded in vain is not kept across calls.
        FlowControl::Call | FlowControl::IndirectCall | FlowControl::Return if !replaces => Use::Reads,
        _ if replaces => Use::Replaces,
        _ => Use::None,
    }
}

fn is_conditional_move(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Cmova
            | M::Cmovae
            | M::Cmovb
            | M::Cmovbe
            | M::Cmove
            | M::Cmovg
            | M::Cmovge
            | M::Cmovl
            | M::Cmovle
            | M::Cmovne
            | M::Cmovno
            | M::Cmovnp
            | M::Cmovns
            | M::Cmovo
            | M::Cmovp
            | M::Cmovs
    )
}

/// Whether an instruction does nothing but to load a register.
fn is_load(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic as M;
    instruction.op0_kind() == OpKind::Register
        && matches!(
            instruction.mnemonic(),
            M::Mov
                | M::Movzx
                | M::Movsx
                | M::Movsxd
                | M::Movss
                | M::Movsd
                | M::Movd
                | M::Movq
                | M::Movaps
                | M::Movups
                | M::Movapd
                | M::Movupd
                | M::Movdqa
                | M::Movdqu
                | M::Vmovss
                | M::Vmovsd
                | M::Vmovd
                | M::Vmovq
                | M::Vmovaps
                | M::Vmovups
                | M::Vmovapd
                | M::Vmovupd
                | M::Vmovdqa
                | M::Vmovdqu
        )
}

/// Whether a condition holds.
fn is_met(condition: ConditionCode, flags: i64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    match condition {
        ConditionCode::None => true,
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
    }
}

/// Tells the host; whether the process ends.
///
/// # Safety
/// The process runs.
unsafe fn tells(rank: *mut Rank, touch: Touch) -> bool {
    // SAFETY: as the caller says.
    let (watch, number, shared) = unsafe { (&(*rank).watch, (*rank).number, &*(*rank).shared) };
    if !watch.meets(touch.address, touch.bytes) {
        return false;
    }
    shared.image.personality.touched(number, &touch)
}

/// What is in a register; nothing if it is no ordinary one.
fn value(general: &Registers, register: Register) -> Option<u64> {
    let place = match register {
        Register::RAX => libc::REG_RAX,
        Register::RBX => libc::REG_RBX,
        Register::RCX => libc::REG_RCX,
        Register::RDX => libc::REG_RDX,
        Register::RSI => libc::REG_RSI,
        Register::RDI => libc::REG_RDI,
        Register::RBP => libc::REG_RBP,
        Register::RSP => libc::REG_RSP,
        Register::R8 => libc::REG_R8,
        Register::R9 => libc::REG_R9,
        Register::R10 => libc::REG_R10,
        Register::R11 => libc::REG_R11,
        Register::R12 => libc::REG_R12,
        Register::R13 => libc::REG_R13,
        Register::R14 => libc::REG_R14,
        Register::R15 => libc::REG_R15,
        Register::RIP => libc::REG_RIP,
        Register::CS | Register::DS | Register::ES | Register::SS => return Some(0),
        _ => return None,
    };
    Some(general[place as usize] as u64)
}
