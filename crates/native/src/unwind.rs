//! Which functions have not returned: from the registers of a process, by the tables that compilers leave for exceptions.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection, X86_64,
};

use crate::find_object;
use crate::personality::Frame;
use crate::processes::Shared;
use crate::switch::Saved;

/// The registers that matter: the six that functions keep for their callers, the stack and where it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub rip: usize,
    /// By their numbers in debug information.
    values: [usize; 16],
    /// Whether it stands where a call returns to.
    is_return: bool,
}

const STACK: usize = 7;
const MOST: usize = 64;

impl Registers {
    /// Of a stack that was left.
    ///
    /// # Safety
    /// It was.
    pub fn suspended(stack: usize) -> Self {
        // SAFETY: what lies there was put there by the switch.
        let saved = unsafe { (stack as *const Saved).read() };
        let mut values = [0; 16];
        values[3] = saved.rbx as usize;
        values[6] = saved.rbp as usize;
        values[STACK] = stack + size_of::<Saved>();
        for (number, value) in [(12, saved.r12), (13, saved.r13), (14, saved.r14), (15, saved.r15)] {
            values[number] = value as usize;
        }
        Self { rip: saved.rip as usize, values, is_return: true }
    }

    /// Of a thread that was interrupted.
    pub fn of_signal(general: &[i64]) -> Self {
        let order = [
            libc::REG_RAX,
            libc::REG_RDX,
            libc::REG_RCX,
            libc::REG_RBX,
            libc::REG_RSI,
            libc::REG_RDI,
            libc::REG_RBP,
            libc::REG_RSP,
            libc::REG_R8,
            libc::REG_R9,
            libc::REG_R10,
            libc::REG_R11,
            libc::REG_R12,
            libc::REG_R13,
            libc::REG_R14,
            libc::REG_R15,
        ];
        let values = order.map(|register| general[register as usize] as usize);
        Self { rip: general[libc::REG_RIP as usize] as usize, values, is_return: false }
    }

    /// The stack pointer.
    pub fn stack(&self) -> usize {
        self.values[STACK]
    }

    /// Goes back to before a call whose function is not there: its return address is on the stack.
    pub fn leave_call(&mut self, stack: std::ops::Range<usize>) {
        if stack.contains(&self.values[STACK]) {
            // SAFETY: the address lies in the stack of the process.
            self.rip = unsafe { crate::elf::read(self.values[STACK]) };
            self.values[STACK] += 8;
            self.is_return = true;
        }
    }
}

type Slice = EndianSlice<'static, LittleEndian>;

/// The functions of a program and its libraries that have not returned, the innermost first. Those of the host, of libc
/// and of the shim are left out.
pub(crate) fn backtrace(shared: &Shared, registers: &Registers) -> Vec<Frame> {
    find_object::while_walking(shared, || walk(shared, registers))
}

fn walk(shared: &Shared, registers: &Registers) -> Vec<Frame> {
    let mut registers = registers.clone();
    let mut frames = Vec::new();
    let mut context = UnwindContext::new();
    for _ in 0..4096 {
        if registers.rip == 0 || frames.len() >= MOST {
            break;
        }
        // A call that never returns may be the last of its function.
        let at = registers.rip - usize::from(registers.is_return);
        frames.extend(describe(shared, at));
        if step(shared, &mut registers, at, &mut context).is_none() {
            break;
        }
    }
    frames
}

/// The frames at an address, inlined functions included; none outside of the program and its libraries.
fn describe(shared: &Shared, address: usize) -> Vec<Frame> {
    let Some(index) = shared.region.process_at(address) else { return Vec::new() };
    let offset = address - shared.region.image_of(index);
    let Some((object, address)) = shared.image.object_at(offset) else { return Vec::new() };
    if !object.path.is_file() {
        return Vec::new();
    }
    shared.image.lines.frames(&object.path, &object.name, address)
}

/// Goes from a function to its caller.
fn step(
    shared: &Shared,
    registers: &mut Registers,
    at: usize,
    context: &mut UnwindContext<usize>,
) -> Option<()> {
    let (range, header) = find_object::tables(at)?;
    let bytes = |from: usize| -> &'static [u8] {
        // SAFETY: the tables for exceptions lie in the object around the address, and stay as long as it is loaded.
        unsafe { std::slice::from_raw_parts(from as *const u8, range.end.saturating_sub(from)) }
    };
    let slice = |from: usize| -> Slice { EndianSlice::new(bytes(from), LittleEndian) };
    let bases = BaseAddresses::default().set_eh_frame_hdr(header as u64);
    let parsed = EhFrameHdr::from(slice(header)).parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(frames) = parsed.eh_frame_ptr() else { return None };
    let bases = bases.set_eh_frame(frames);
    let eh_frame: EhFrame<Slice> = EhFrame::from(slice(frames as usize));
    let table = parsed.table()?;
    let row = table
        .unwind_info_for_address(&eh_frame, &bases, context, at as u64, EhFrame::cie_from_offset)
        .ok()?
        .clone();
    let readable = |address: usize| is_readable(shared, registers, address);
    let word = |address: usize| -> Option<usize> {
        // SAFETY: only addresses of the stack of the process are read.
        readable(address).then(|| unsafe { crate::elf::read(address) })
    };
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            registers.values.get(register.0 as usize)?.wrapping_add_signed(*offset as isize)
        }
        // Procedure linkage tables: 8 bytes, 8 more behind the push.
        CfaRule::Expression(_) => {
            let pushed = usize::from(registers.rip & 15 >= 11);
            registers.values[STACK] + 8 + 8 * pushed
        }
    };
    let mut values = registers.values;
    let restore = |register: Register| -> Option<Option<usize>> {
        match row.register(register) {
            Some(RegisterRule::Offset(offset)) => Some(Some(word(cfa.wrapping_add_signed(offset as isize))?)),
            Some(RegisterRule::ValOffset(offset)) => Some(Some(cfa.wrapping_add_signed(offset as isize))),
            Some(RegisterRule::Register(other)) => Some(registers.values.get(other.0 as usize).copied()),
            Some(RegisterRule::Undefined) if register == X86_64::RA => None,
            _ => Some(None),
        }
    };
    for number in 0..16_u16 {
        if let Some(Some(value)) = restore(Register(number)) {
            values[number as usize] = value;
        }
    }
    let rip = restore(X86_64::RA)?.or_else(|| word(cfa.wrapping_sub(8)))?;
    values[STACK] = cfa;
    if cfa <= registers.values[STACK] && !at_signal(registers) {
        return None;
    }
    *registers = Registers { rip, values, is_return: true };
    Some(())
}

fn at_signal(registers: &Registers) -> bool {
    !registers.is_return
}

/// Whether an address lies in a stack that is being walked.
fn is_readable(shared: &Shared, registers: &Registers, address: usize) -> bool {
    let stack = registers.values[STACK];
    let homes = shared.region.homes;
    let bytes = shared.region.home.bytes();
    match stack.checked_sub(homes).map(|offset| offset / bytes).filter(|index| *index < shared.ranks.len()) {
        Some(index) => shared.region.stack(index).contains(&address),
        None => false,
    }
}
