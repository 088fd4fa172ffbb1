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
    /// The same, of no more bytes than another argument says.
    ReadsTextOf(usize, usize),
    /// Reads the beginning of the text to which the pointer there leads.
    ReadsAt(usize),
    /// Reads the places that a vector names, of so many.
    ReadsEach(usize, usize),
    /// Writes to the first of them.
    WritesFirst(usize, usize),
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
    /// A pointer, or a number of 64 bits.
    Word,
    /// One, if this argument is not 0.
    OneOf(usize),
    Argument(usize),
    /// As many, but for the last one of an odd number; none of less than nothing.
    Pairs(usize),
    /// So many wide characters.
    Wide(usize),
    /// So many places with their lengths.
    Vectors(usize),
    Product(usize, usize),
}

use Bytes::{Argument, One, OneOf, Pairs, Product, Vectors, Wide, Word};
use Deed::{
    CopiesText, Formats, FormatsList, Frees, Reads, ReadsAt, ReadsEach, ReadsText, ReadsTextOf, Scans,
    Unmaps, Writes, WritesFirst,
};

const COPIES: &[Deed] = &[Reads(1, Argument(2)), Writes(0, Argument(2))];
const WIDE_COPIES: &[Deed] = &[Reads(1, Wide(2)), Writes(0, Wide(2))];
const COMPARES: &[Deed] = &[Reads(0, One), Reads(1, One)];
const COMPARES_SOME: &[Deed] = &[Reads(0, OneOf(2)), Reads(1, OneOf(2))];
const NUMBER: &[Deed] = &[Reads(0, One)];

const FUNCTIONS: &[(&CStr, &[Deed])] = &[
    (c"memcpy", COPIES),
    (c"memmove", COPIES),
    (c"mempcpy", COPIES),
    (c"__memcpy_chk", COPIES),
    (c"__memmove_chk", COPIES),
    (c"memset", &[Writes(0, Argument(2))]),
    (c"__memset_chk", &[Writes(0, Argument(2))]),
    (c"bzero", &[Writes(0, Argument(1))]),
    (c"memcmp", COMPARES_SOME),
    (c"memchr", &[Reads(0, OneOf(2))]),
    (c"strlen", &[ReadsText(0)]),
    (c"strdup", &[ReadsText(0)]),
    (c"strchr", &[Reads(0, One)]),
    (c"strrchr", &[ReadsText(0)]),
    (c"strcmp", COMPARES),
    (c"strcasecmp", COMPARES),
    (c"strstr", &[Reads(0, One)]),
    (c"strncmp", COMPARES_SOME),
    (c"strcpy", &[ReadsText(1), CopiesText(0, 1)]),
    (c"stpcpy", &[ReadsText(1), CopiesText(0, 1)]),
    (c"__strcpy_chk", &[ReadsText(1), CopiesText(0, 1)]),
    (c"strncpy", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"__strncpy_chk", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"strcoll", COMPARES),
    (c"strncasecmp", COMPARES_SOME),
    (c"strcasestr", &[Reads(0, One)]),
    (c"strchrnul", &[Reads(0, One)]),
    (c"index", &[Reads(0, One)]),
    (c"rindex", &[ReadsText(0)]),
    (c"strspn", COMPARES),
    (c"strcspn", COMPARES),
    (c"strpbrk", COMPARES),
    (c"strtok", &[Reads(0, One), ReadsText(1)]),
    (c"strtok_r", &[Reads(0, One), ReadsText(1)]),
    (c"__strtok_r", &[Reads(0, One), ReadsText(1)]),
    (c"strsep", &[ReadsAt(0), ReadsText(1)]),
    (c"__strsep", &[ReadsAt(0), ReadsText(1)]),
    (c"strnlen", &[ReadsTextOf(0, 1)]),
    (c"strndup", &[ReadsTextOf(0, 1)]),
    (c"__strndup", &[ReadsTextOf(0, 1)]),
    (c"__strdup", &[ReadsText(0)]),
    (c"strxfrm", &[ReadsText(1), Writes(0, OneOf(2))]),
    (c"__stpcpy_chk", &[ReadsText(1), CopiesText(0, 1)]),
    (c"strcat", &[ReadsText(0), ReadsText(1)]),
    (c"__strcat_chk", &[ReadsText(0), ReadsText(1)]),
    (c"strncat", &[ReadsText(0), ReadsTextOf(1, 2)]),
    (c"__strncat_chk", &[ReadsText(0), ReadsTextOf(1, 2)]),
    (c"stpncpy", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"__stpncpy_chk", &[Reads(1, OneOf(2)), Writes(0, Argument(2))]),
    (c"memccpy", &[Reads(1, OneOf(3)), Writes(0, OneOf(3))]),
    (c"memrchr", &[Reads(0, OneOf(2))]),
    (c"rawmemchr", &[Reads(0, One)]),
    (c"memmem", &[Reads(0, OneOf(1)), Reads(2, OneOf(3))]),
    (c"bcopy", &[Reads(0, Argument(2)), Writes(1, Argument(2))]),
    (c"bcmp", COMPARES_SOME),
    (c"explicit_bzero", &[Writes(0, Argument(1))]),
    (c"swab", &[Reads(0, Pairs(2)), Writes(1, Pairs(2))]),
    (c"wmemcpy", WIDE_COPIES),
    (c"wmemmove", WIDE_COPIES),
    (c"wmempcpy", WIDE_COPIES),
    (c"wmemset", &[Writes(0, Wide(2))]),
    (c"wmemcmp", COMPARES_SOME),
    (c"wmemchr", &[Reads(0, OneOf(2))]),
    (c"wcslen", &[Reads(0, One)]),
    (c"wcscmp", COMPARES),
    (c"wcsncmp", COMPARES_SOME),
    (c"wcscpy", &[Reads(1, One), Writes(0, One)]),
    (c"wcsncpy", &[Reads(1, OneOf(2)), Writes(0, Wide(2))]),
    (c"wcscat", &[Reads(0, One), Reads(1, One)]),
    (c"wcschr", &[Reads(0, One)]),
    (c"wcsrchr", &[Reads(0, One)]),
    (c"wcsstr", &[Reads(0, One)]),
    (c"atoi", NUMBER),
    (c"atoll", NUMBER),
    (c"strtoul", NUMBER),
    (c"strtoll", NUMBER),
    (c"strtoull", NUMBER),
    (c"strtof", NUMBER),
    (c"strtold", NUMBER),
    (c"__isoc23_strtol", NUMBER),
    (c"__isoc23_strtoul", NUMBER),
    (c"__isoc23_strtoll", NUMBER),
    (c"__isoc23_strtoull", NUMBER),
    (c"atol", NUMBER),
    (c"atof", NUMBER),
    (c"strtol", NUMBER),
    (c"strtod", NUMBER),
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
    (c"qsort_r", &[Writes(0, Product(1, 2))]),
    (c"bsearch", &[Reads(0, OneOf(2)), Reads(1, Product(2, 3))]),
    (c"send", &[Reads(1, Argument(2))]),
    (c"sendto", &[Reads(1, Argument(2))]),
    (c"recv", &[Writes(1, OneOf(2))]),
    (c"recvfrom", &[Writes(1, OneOf(2))]),
    (c"writev", &[Reads(1, Vectors(2)), ReadsEach(1, 2)]),
    (c"readv", &[Reads(1, Vectors(2)), WritesFirst(1, 2)]),
    (c"puts", &[ReadsText(0)]),
    (c"perror", &[ReadsText(0)]),
    (c"fputws", &[Reads(0, One)]),
    (c"getenv", &[ReadsText(0)]),
    (c"fopen", &[ReadsText(0), ReadsText(1)]),
    (c"strftime", &[Writes(0, OneOf(1)), ReadsText(2)]),
    (c"modf", &[Writes(0, Word)]),
    (c"frexp", &[Writes(0, One)]),
    (c"gettimeofday", &[Writes(0, Word)]),
    (c"clock_gettime", &[Writes(1, Word)]),
    (c"time", &[Writes(0, Word)]),
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
            Word => size_of::<usize>(),
            OneOf(argument) => usize::from(self.argument(argument) > 0),
            Argument(argument) => self.argument(argument),
            Pairs(argument) => (self.argument(argument) as isize).max(0) as usize & !1,
            Wide(argument) => self.argument(argument).saturating_mul(size_of::<libc::wchar_t>()),
            Vectors(argument) => self.argument(argument).saturating_mul(size_of::<libc::iovec>()),
            Product(one, other) => self.argument(one).saturating_mul(self.argument(other)),
        }
    }

    fn touches(&mut self, address: usize, bytes: usize, writes: bool) {
        if address != 0 && bytes > 0 {
            let at = self.at;
            self.found.push(Touch { address, bytes, writes, at, frees: false, is_atomic: false });
        }
    }

    /// Places and their lengths: no more than the host takes.
    fn vectors(&self, places: usize, number: usize) -> Vec<(usize, usize)> {
        let (first, number) = (self.argument(places) as *const libc::iovec, self.argument(number));
        let number = if number > 1024 { 0 } else { number };
        // SAFETY: the function reads so many.
        let vector = |index| unsafe { first.add(index).read() };
        (0..number).map(vector).map(|vector| (vector.iov_base as usize, vector.iov_len)).collect()
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
            ReadsTextOf(place, most) => self.reads_text(self.argument(place), self.argument(most)),
            ReadsAt(place) => {
                // SAFETY: the function reads the pointer, and gets one.
                let text = unsafe { *(self.argument(place) as *const usize) };
                self.touches(text, 1, false);
            }
            ReadsEach(places, number) => {
                for (start, bytes) in self.vectors(places, number) {
                    self.touches(start, bytes, false);
                }
            }
            WritesFirst(places, number) => {
                let first = self.vectors(places, number).into_iter().find(|(_, bytes)| *bytes > 0);
                first.into_iter().for_each(|(start, _)| self.touches(start, 1, true));
            }
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
