//! Watching what a program touches: its own loads and stores of some ranges of memory, before each of them happens.
//!
//! The processor is told to stop after an instruction of the program (the trap flag), and the operands of the next one are
//! compared with the ranges. This needs no other build of the program, and takes a signal, which costs a microsecond, or tens of them in
//! virtual machines; so most instructions are [executed](crate::execute) by the handler of that signal, one after the other. It ends
//! after some effort, and whoever wanted it is told so. What the program calls outside of its own code, in libc or in the host, runs at full speed: a
//! breakpoint where it returns to goes on with the steps. Functions of libc are [known](crate::known) by their arguments. Compilers load what a program may not need where that
//! is cheaper than a jump: a load counts once its value is used.
//!
//! A process that is watched for the first time is in a call of the host, which knows where the program goes on.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfo,
    InstructionInfoFactory, OpAccess, OpKind, Register,
};

use crate::current::{self, Heap, Rank, with_heap};
use crate::execute::{Code, RESERVED, Way};
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
    /// How much effort was made, and how much may be: an instruction that is executed here is 1.
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
        self.ranges.is_empty() || self.is_spent()
    }

    /// Whether something is not watched any more that was to be.
    fn is_spent(&self) -> bool {
        !self.ranges.is_empty() && self.made >= self.allowed
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

/// The effort that a trap is, or that the host hears of a touch: so many instructions are executed here in the meantime.
const TRAP: u64 = 100;

/// Watches these ranges of the process that runs in place of those before, with at most so much effort since it was put back: an
/// instruction is 1, and one for which the processor has to be stopped, that touches them, or that calls a library, is 100. The process is
/// in a call of the host, after which the program goes on there.
///
/// # Panics
/// When no process runs on this thread.
pub fn watch(mut ranges: Vec<(usize, usize)>, effort: u64, goes_on: usize) {
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
    watch.allowed = effort;
    if watch.is_spent() {
        // SAFETY: it runs.
        unsafe { is_not_watched(rank) };
    } else if !watch.ranges.is_empty() && watch.breakpoint.is_none() && is_code && install() {
        with_heap(Heap::Host, prepare);
        watch.set_breakpoint(goes_on);
    }
}

/// Tells the host that the effort is spent.
///
/// # Safety
/// The process runs.
unsafe fn is_not_watched(rank: *const Rank) {
    // SAFETY: as the caller says.
    let (shared, number) = unsafe { (&*(*rank).shared, (*rank).number) };
    shared.image.personality.is_not_watched(number);
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

/// Whether an address of a copy of a program lies in what its files say to be code.
///
/// # Safety
/// The process is alive.
unsafe fn is_executable(rank: *const Rank, address: usize) -> bool {
    // SAFETY: as the caller says.
    let (shared, index) = unsafe { (&*(*rank).shared, (*rank).index) };
    let within = address - shared.region.image_of(index);
    shared.image.group.objects.iter().any(|object| {
        object.segments.iter().any(|segment| {
            let start = object.base + segment.address;
            segment.executable && (start..start + segment.memory).contains(&within)
        })
    })
}

/// An address in the program: this one, or its last call, where it is in a library.
///
/// # Safety
/// The process is alive.
unsafe fn place_in_program(rank: *const Rank, address: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { if is_program(rank, address) { address } else { (*rank).watch.called_at } }
}

/// How many bytes an instruction may have.
const LONGEST: usize = 15;

/// Instructions that were looked at, each in a place that follows from its address.
struct Looked {
    factory: InstructionInfoFactory,
    places: Vec<Option<Box<Known>>>,
    /// Their copies, if there can be any.
    code: Option<Code>,
}

/// What is known of an instruction.
struct Known {
    bytes: [u8; LONGEST],
    instruction: Instruction,
    info: InstructionInfo,
    way: Way,
}

thread_local! {
    static LOOKED: RefCell<Option<Looked>> = const { RefCell::new(None) };
}

/// Makes room for instructions, once for each thread.
fn prepare() {
    LOOKED.with_borrow_mut(|looked| {
        looked.get_or_insert_with(|| Looked {
            factory: InstructionInfoFactory::new(),
            places: std::iter::repeat_with(|| None).take(PLACES).collect(),
            code: Code::new(PLACES + RESERVED),
        });
    });
}

/// For so many instructions there is room.
const PLACES: usize = 1 << 13;

impl Looked {
    /// The instruction at an address, and its place.
    ///
    /// # Safety
    /// There is code.
    unsafe fn at(&mut self, at: usize, may_be_executed: impl FnOnce() -> bool) -> (usize, &Known) {
        // SAFETY: the code is mapped, and what follows it in the copy too.
        let bytes = unsafe { (at as *const [u8; LONGEST]).read() };
        // Copies for several processes lie at the same distances from each other.
        let place = (at ^ (at >> 21)) % PLACES;
        let is_known = |known: &Known| known.instruction.ip() == at as u64 && known.bytes == bytes;
        if !self.places[place].as_deref().is_some_and(is_known) {
            let instruction = Decoder::with_ip(64, &bytes, at as u64, DecoderOptions::NONE).decode();
            let info = self.factory.info(&instruction);
            let code = self.code.as_ref().filter(|_| may_be_executed());
            let way = code.map_or(Way::Trap, |code| code.prepare(place, &instruction, info));
            self.places[place] = Some(Box::new(Known { bytes, instruction, info: info.clone(), way }));
        }
        (place, self.places[place].as_deref().expect("it was put there"))
    }
}

/// Begins to handle traps, once.
fn install() -> bool {
    static DONE: OnceLock<bool> = OnceLock::new();
    *DONE.get_or_init(|| {
        with_heap(Heap::Host, known::find);
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
    let frame = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let general = &mut frame.uc_mcontext.gregs;
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
    let step = with_heap(Heap::Host, || unsafe { steps(rank, frame) });
    let general = &mut frame.uc_mcontext.gregs;
    // SAFETY: it runs.
    unsafe { (*rank).watch.is_stepping = matches!(step, Step::Goes) };
    match step {
        Step::Goes => general[libc::REG_EFL as usize] |= TRAP_FLAG,
        Step::Rests | Step::Ends => general[libc::REG_EFL as usize] &= !TRAP_FLAG,
    }
    if let Step::Ends = step {
        // SAFETY: it runs, and does not go on.
        unsafe {
            (*rank).left = Some(End::Exited(1));
            signals::leave_from(general);
        }
    }
}

enum Step {
    /// The processor makes the next one.
    Goes,
    /// It goes on without steps.
    Rests,
    /// It ends here.
    Ends,
}

/// Looks at instructions, and executes them, as far as that can be done here.
///
/// # Safety
/// The process runs, and this is what a signal has interrupted of it.
unsafe fn steps(rank: *mut Rank, frame: &mut libc::ucontext_t) -> Step {
    LOOKED.with_borrow_mut(|looked| {
        // It was prepared by whoever began to watch, on this thread.
        let Some(looked) = looked.as_mut() else { return Step::Rests };
        loop {
            // SAFETY: as the caller says.
            if !unsafe { (*rank).watch.is_stepping } {
                return Step::Rests;
            }
            // SAFETY: as the caller says.
            let (step, place) = unsafe { step(rank, &frame.uc_mcontext.gregs, looked) };
            let Some(place) = place.filter(|_| matches!(step, Step::Goes)) else { return step };
            let (Some(code), Some(known)) = (&looked.code, &looked.places[place]) else { return step };
            // SAFETY: as the caller says; it was prepared for this place.
            if !unsafe { code.executes(place, &known.instruction, known.way, frame) } {
                // SAFETY: as the caller says.
                unsafe { (*rank).watch.made += TRAP };
                return step;
            }
        }
    })
}

/// Looks at the next instruction: what becomes of it, and its place if it is one of the program or its libraries.
///
/// # Safety
/// The process runs, and these are its registers.
unsafe fn step(rank: *mut Rank, general: &Registers, looked: &mut Looked) -> (Step, Option<usize>) {
    // SAFETY: as the caller says.
    let watch = unsafe { &mut (*rank).watch };
    if watch.is_over() {
        if watch.is_spent() {
            // SAFETY: as the caller says.
            unsafe { is_not_watched(rank) };
        }
        return (Step::Rests, None);
    }
    watch.made += 1;
    let at = general[libc::REG_RIP as usize] as usize;
    // SAFETY: as the caller says.
    if !unsafe { is_code(rank, at) } {
        watch.made += TRAP;
        // SAFETY: a function has just been called: where it returns to is on top of the stack.
        let back = unsafe { *(general[libc::REG_RSP as usize] as *const usize) };
        // SAFETY: as the caller says.
        let caller = unsafe { place_in_program(rank, back - 1) };
        for touch in known::touches(general, &watch.ranges, caller) {
            watch.made += TRAP;
            // SAFETY: as the caller says.
            if unsafe { tells(rank, touch) } {
                return (Step::Ends, None);
            }
        }
        // SAFETY: as the caller says.
        if unsafe { is_code(rank, back) } {
            // SAFETY: as the caller says.
            unsafe { (*rank).watch.set_breakpoint(back) };
            return (Step::Rests, None);
        }
        return (Step::Goes, None);
    }
    // SAFETY: there is code; as the caller says.
    let (place, known) = unsafe { looked.at(at, || is_executable(rank, at)) };
    let (instruction, info) = (&known.instruction, &known.info);
    let goes = (Step::Goes, Some(place));
    let flags = general[libc::REG_EFL as usize];
    let moves =
        instruction.condition_code() == ConditionCode::None || is_met(instruction.condition_code(), flags);
    // SAFETY: as the caller says.
    let is_program = unsafe { is_program(rank, at) };
    if is_program && matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
        watch.called_at = at;
    }
    let line = if is_program { at } else { watch.called_at };
    let is_atomic = instruction.has_lock_prefix() || instruction.mnemonic() == iced_x86::Mnemonic::Xchg;
    if let Some((register, touch, left)) = watch.unused.take() {
        match use_of(instruction, info, register, moves) {
            Use::None if left > 0 => watch.unused = Some((register, touch, left - 1)),
            Use::None | Use::Reads => {
                // SAFETY: as the caller says.
                if unsafe { tells(rank, touch) } {
                    return (Step::Ends, None);
                }
            }
            Use::Replaces => {}
        }
    }
    if is_conditional_move(instruction) && !moves {
        return goes;
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
        Some(instruction.op0_register()).filter(|_| is_load(instruction)).map(Register::full_register);
    for touch in found.into_iter().flatten() {
        watch.made += TRAP;
        if let Some(register) = loaded.filter(|_| !touch.writes) {
            watch.unused = Some((register, touch, PATIENCE));
            continue;
        }
        // SAFETY: as the caller says.
        if unsafe { tells(rank, touch) } {
            return (Step::Ends, None);
        }
    }
    goes
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
pub(crate) fn is_met(condition: ConditionCode, flags: i64) -> bool {
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
pub(crate) fn value(general: &Registers, register: Register) -> Option<u64> {
    match register {
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        _ => place_of(register).map(|place| general[place as usize] as u64),
    }
}

/// Where the value of a register is.
pub(crate) fn place_of(register: Register) -> Option<i32> {
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
        _ => return None,
    };
    Some(place)
}
