//! Functions of libc that are known by their arguments: what they are about to touch.
//!
//! They run at full speed and are not looked into, since code for vectors reads beyond what it is given. What is listed
//! of a function is what it touches in any case: of a text the bytes up to its end, of a comparison the first ones.

use std::ffi::CStr;
use std::sync::OnceLock;

use crate::malloc;
use crate::region;
use crate::shim;
use crate::watch::{Registers, Touch};

/// What a function does, by the numbers of its arguments.
#[derive(Copy, Clone, Debug)]
enum Deed {
    Reads(usize, Bytes),
    Writes(usize, Bytes),
    /// Gives a block back.
    Frees(usize),
    /// Gives memory back that was mapped.
    Unmaps(usize, Bytes),
    /// Reads a text to its end.
    ReadsText(usize),
    /// Writes there as many bytes as the other text has, and its end.
    CopiesText(usize, usize),
    /// Reads the texts that a format names: its arguments begin there.
    Formats(usize, usize),
    /// The same, of a list of arguments.
    FormatsList(usize, usize),
    /// Writes to where a format says.
    Scans(usize, usize),
}

/// How many bytes.
#[derive(Copy, Clone, Debug)]
enum Bytes {
    One,
    /// One, if this argument is not 0.
    OneOf(usize),
    Argument(usize),
    Product(usize, usize),
}

use Bytes::{Argument, One, OneOf, Product};
use Deed::{CopiesText, Formats, FormatsList, Frees, Reads, ReadsText, Scans, Unmaps, Writes};

const COPIES: &[Deed] = &[Reads(1, Argument(2)), Writes(0, Argument(2))];
const COMPARES: &[Deed] = &[Reads(0, One), Reads(1, One)];

const FUNCTIONS: &[(&CStr, &[Deed])] = &[
    (c"memcpy", COPIES),
    (c"memmove", COPIES),
    (c"mempcpy", COPIES),
    (c"__memcpy_chk", COPIES),
    (c"__memmove_chk", COPIES),
    (c"memset", &[Writes(0, Argument(2))]),
    (c"__memset_chk", &[Writes(0, Argument(2))]),
    (c"bzero", &[Writes(0, Argument(1))]),
    (c"memcmp", &[Reads(0, OneOf(2)), Reads(1, OneOf(2))]),
    (c"memchr", &[Reads(0, OneOf(2))]),
    (c"strlen", &[ReadsText(0)]),
    (c"strdup", &[ReadsText(0)]),
    (c"strchr", &[Reads(0, One)]),
    (c"strrchr", &[ReadsText(0)]),
    (c"strcmp", COMPARES),
    (c"strcasecmp", COMPARES),
    (c"strstr", &[Reads(0, One)]),
    (c"strncmp", &[Reads(0, OneOf(2)), Reads(1, OneOf(2))]),
    (c"strcpy", &[ReadsText(1), CopiesText(0, 1)]),
    (c"stpcpy", &[ReadsText(1), CopiesText(0, 1)]),
    (c"__strcpy_chk", &[ReadsText(1), CopiesText(0, 1)]),
    (c"strcat", &[ReadsText(0), ReadsText(1)]),
    (c"strncpy", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"__strncpy_chk", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"atoi", &[Reads(0, One)]),
    (c"atol", &[Reads(0, One)]),
    (c"atof", &[Reads(0, One)]),
    (c"strtol", &[Reads(0, One)]),
    (c"strtod", &[Reads(0, One)]),
    (c"sprintf", &[Formats(1, 2), Writes(0, One)]),
    (c"snprintf", &[Formats(2, 3), Writes(0, OneOf(1))]),
    (c"vsprintf", &[FormatsList(1, 2), Writes(0, One)]),
    (c"vsnprintf", &[FormatsList(2, 3), Writes(0, OneOf(1))]),
    (c"__sprintf_chk", &[Formats(3, 4), Writes(0, One)]),
    (c"__snprintf_chk", &[Formats(4, 5), Writes(0, OneOf(1))]),
    (c"vfprintf", &[FormatsList(1, 2)]),
    (c"sscanf", &[Reads(0, One), Scans(1, 2)]),
    (c"__isoc99_sscanf", &[Reads(0, One), Scans(1, 2)]),
    (c"__isoc23_sscanf", &[Reads(0, One), Scans(1, 2)]),
    (c"qsort", &[Writes(0, Product(1, 2))]),
    (c"fread", &[Writes(0, OneOf(2))]),
    (c"fgets", &[Writes(0, OneOf(1))]),
    (c"read", &[Writes(1, OneOf(2))]),
    (c"pread", &[Writes(1, OneOf(2))]),
    (c"write", &[Reads(1, Argument(2))]),
    (c"pwrite", &[Reads(1, Argument(2))]),
    (c"fwrite", &[Reads(0, Product(1, 2))]),
    (c"fputs", &[ReadsText(0)]),
    (c"gethostname", &[Writes(0, OneOf(1))]),
    (c"getcwd", &[Writes(0, OneOf(1))]),
    (c"free", &[Frees(0)]),
    (c"realloc", &[Frees(0)]),
    (c"munmap", &[Unmaps(0, Argument(1))]),
];

/// Where they are.
static KNOWN: OnceLock<Vec<(usize, &'static [Deed])>> = OnceLock::new();

/// Looks them up, once.
pub(crate) fn find() {
    // SAFETY: looks names up.
    let find = |name: &CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize };
    KNOWN.get_or_init(|| {
        let mut known: Vec<_> = FUNCTIONS.iter().map(|(name, deeds)| (find(name), *deeds)).collect();
        // What the shim hands to the host.
        let standard: [(usize, &[Deed]); 2] = [
            (shim::WRITE as usize, &[Reads(1, Argument(2))]),
            (shim::READ as usize, &[Writes(0, Argument(1))]),
        ];
        known.extend(standard);
        known.retain(|(address, _)| *address != 0);
        known.sort_unstable_by_key(|(address, _)| *address);
        known
    });
}

/// The arguments of a function that was just called.
struct Call<'a> {
    general: &'a Registers,
    /// What is watched, in order.
    ranges: &'a [(usize, usize)],
    /// Who calls.
    at: usize,
    found: Vec<Touch>,
}

/// What a function that was just called is about to touch of these ranges.
pub(crate) fn touches(general: &Registers, ranges: &[(usize, usize)], at: usize) -> Vec<Touch> {
    let function = general[libc::REG_RIP as usize] as usize;
    let Some(known) = KNOWN.get() else { return Vec::new() };
    let Ok(place) = known.binary_search_by_key(&function, |(address, _)| *address) else { return Vec::new() };
    let mut call = Call { general, ranges, at, found: Vec::new() };
    known[place].1.iter().for_each(|deed| call.does(*deed));
    call.found
}

impl Call<'_> {
    /// An argument by its number: six are in registers, others on the stack, above the address to return to.
    fn argument(&self, number: usize) -> usize {
        const REGISTERS: [i32; 6] =
            [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_RCX, libc::REG_R8, libc::REG_R9];
        if let Some(register) = REGISTERS.get(number) {
            return self.general[*register as usize] as usize;
        }
        let above = self.general[libc::REG_RSP as usize] as usize + 8 * (number - 5);
        // SAFETY: the caller has put so many arguments there.
        unsafe { *(above as *const usize) }
    }

    fn bytes(&self, bytes: Bytes) -> usize {
        match bytes {
            One => 1,
            OneOf(argument) => usize::from(self.argument(argument) > 0),
            Argument(argument) => self.argument(argument),
            Product(one, other) => self.argument(one).saturating_mul(self.argument(other)),
        }
    }

    fn touches(&mut self, address: usize, bytes: usize, writes: bool) {
        if address != 0 && bytes > 0 {
            let at = self.at;
            self.found.push(Touch { address, bytes, writes, at, frees: false, is_atomic: false });
        }
    }

    fn gives_back(&mut self, address: usize, bytes: usize) {
        self.touches(address, bytes, true);
        self.found.iter_mut().for_each(|touch| touch.frees = true);
    }

    fn does(&mut self, deed: Deed) {
        match deed {
            Reads(place, bytes) => self.touches(self.argument(place), self.bytes(bytes), false),
            Writes(place, bytes) => self.touches(self.argument(place), self.bytes(bytes), true),
            Frees(place) => {
                let block = self.argument(place);
                if !region::is_ours(block) {
                    return;
                }
                // SAFETY: it lies in a heap of ours; one that is no block is told by what frees it.
                let bytes = unsafe { malloc::malloc_usable_size(block as *mut u8) };
                self.gives_back(block, bytes);
            }
            Unmaps(place, bytes) => self.gives_back(self.argument(place), self.bytes(bytes)),
            ReadsText(place) => self.reads_text(self.argument(place), usize::MAX),
            CopiesText(to, from) => {
                let to = self.argument(to);
                if self.nearest(to).is_some() {
                    // SAFETY: the function reads it to its end.
                    let length = unsafe { libc::strlen(self.argument(from) as *const libc::c_char) };
                    self.touches(to, length + 1, true);
                }
            }
            Formats(format, first) => {
                let mut next = first;
                self.formats(self.argument(format), &mut |call| {
                    next += 1;
                    call.argument(next - 1)
                });
            }
            FormatsList(format, list) => {
                let mut list = List::of(self.argument(list));
                self.formats(self.argument(format), &mut |_| list.next());
            }
            Scans(format, first) => {
                let directives = Directives::of(self.argument(format)).filter(|directive| !directive.is_star);
                for (place, directive) in (first..).zip(directives) {
                    self.touches(self.argument(place), directive.size(), true);
                }
            }
        }
    }

    /// How far the next watched byte is from an address, if that is near.
    fn nearest(&self, address: usize) -> Option<usize> {
        const NEAR: usize = 4096;
        let place = self.ranges.partition_point(|(_, end)| *end <= address);
        let (start, _) = self.ranges.get(place)?;
        Some(start.saturating_sub(address)).filter(|distance| *distance < NEAR)
    }

    /// A text is read to its end, or so many bytes of it.
    fn reads_text(&mut self, address: usize, most: usize) {
        let Some(distance) = self.nearest(address).filter(|distance| address != 0 && *distance < most) else {
            return;
        };
        // SAFETY: the function reads it as far.
        let length = unsafe { libc::strnlen(address as *const libc::c_char, distance) };
        if length == distance {
            self.touches(address + distance, 1, false);
        }
    }

    /// Reads a format, and the texts that it names.
    fn formats(&mut self, format: usize, next: &mut dyn FnMut(&Self) -> usize) {
        self.reads_text(format, usize::MAX);
        for directive in Directives::of(format) {
            for _ in 0..directive.stars {
                next(self);
            }
            match directive.kind {
                // Numbers with a point are in registers of their own; as long as there are few.
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if directive.longs != b'L' => {}
                b's' if directive.longs == 0 => {
                    let text = next(self);
                    self.reads_text(text, directive.precision.unwrap_or(usize::MAX));
                }
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b'p' | b's' | b'n' => drop(next(self)),
                // What follows cannot be known.
                _ => return,
            }
        }
    }
}

/// A list of arguments, as the ABI of x86-64 has it.
struct List {
    registers: usize,
    offset: usize,
    stack: usize,
}

impl List {
    fn of(list: usize) -> Self {
        // SAFETY: the function is called with one: two offsets, the stack, and where registers were saved.
        unsafe {
            let offset = *(list as *const u32) as usize;
            Self { offset, stack: *((list + 8) as *const usize), registers: *((list + 16) as *const usize) }
        }
    }

    fn next(&mut self) -> usize {
        let place = if self.offset < 48 { self.registers + self.offset } else { self.stack };
        if self.offset < 48 {
            self.offset += 8;
        } else {
            self.stack += 8;
        }
        // SAFETY: the caller gave as many arguments as the format names.
        unsafe { *(place as *const usize) }
    }
}

/// What a format asks for, one after the other.
struct Directives(usize);

/// One of them.
struct Directive {
    kind: u8,
    /// `l`, `L`, `q` for two of `l`, `h`, `H` for two of `h`; or 0.
    longs: u8,
    /// How many numbers of its width and precision are arguments.
    stars: usize,
    is_star: bool,
    precision: Option<usize>,
}

impl Directive {
    /// The bytes of what is written by a scan.
    fn size(&self) -> usize {
        match (self.kind, self.longs) {
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n', longs) => match longs {
                b'l' | b'q' | b'L' => 8,
                b'h' => 2,
                b'H' => 1,
                _ => 4,
            },
            (b'p', _) => 8,
            (b's' | b'c' | b'[', _) => 1,
            (_, b'l') => 8,
            (_, b'L') => 16,
            _ => 4,
        }
    }
}

impl Directives {
    fn of(format: usize) -> Self {
        Self(format)
    }

    fn byte(&mut self) -> u8 {
        // SAFETY: a format of the program, which is read no further than to its end.
        let byte = unsafe { *(self.0 as *const u8) };
        self.0 += usize::from(byte != 0);
        byte
    }
}

impl Iterator for Directives {
    type Item = Directive;

    fn next(&mut self) -> Option<Directive> {
        loop {
            match self.byte() {
                0 => return None,
                b'%' => {}
                _ => continue,
            }
            let mut found = Directive { kind: 0, longs: 0, stars: 0, is_star: false, precision: None };
            loop {
                match self.byte() {
                    0 => return None,
                    b'*' => {
                        found.stars += 1;
                        found.is_star = true;
                    }
                    b'.' => found.precision = Some(0),
                    digit @ b'0'..=b'9' => {
                        let number = |before: usize| (before * 10).saturating_add(usize::from(digit - b'0'));
                        found.precision = found.precision.map(number);
                    }
                    b'l' => found.longs = if found.longs == b'l' { b'q' } else { b'l' },
                    b'h' => found.longs = if found.longs == b'h' { b'H' } else { b'h' },
                    b'z' | b'j' | b't' => found.longs = b'l',
                    b'L' => found.longs = b'L',
                    b'-' | b'+' | b' ' | b'#' | b'\'' => {}
                    kind => {
                        found.kind = kind;
                        break;
                    }
                }
            }
            if found.kind != b'%' {
                // How many bytes of a text are wanted is not known here.
                if found.stars > 0 && found.precision.is_some() {
                    found.precision = Some(1);
                }
                return Some(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_c_reads_them() {
        let format = c"%d of %5.2f%% is %-*s, %.3s or %lld %hhx";
        let found: Vec<_> = Directives::of(format.as_ptr() as usize)
            .map(|found| (found.kind, found.longs, found.stars, found.precision))
            .collect();
        let expected = [
            (b'd', 0, 0, None),
            (b'f', 0, 0, Some(2)),
            (b's', 0, 1, None),
            (b's', 0, 0, Some(3)),
            (b'd', b'q', 0, None),
            (b'x', b'H', 0, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_are_read_to_their_ends() {
        let text = b"abcdefgh\0ijk";
        let (start, general) = (text.as_ptr() as usize, [0; 23]);
        let meets = |range, most| {
            let ranges = [range];
            let mut call = Call { general: &general, ranges: &ranges, at: 0, found: Vec::new() };
            call.reads_text(start, most);
            !call.found.is_empty()
        };
        assert!(meets((start, start + 1), usize::MAX));
        assert!(meets((start + 8, start + 9), usize::MAX));
        assert!(!meets((start + 9, start + 10), usize::MAX));
        assert!(meets((start + 3, start + 10), 4));
        assert!(!meets((start + 3, start + 10), 3));
    }
}
