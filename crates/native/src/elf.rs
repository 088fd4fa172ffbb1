//! One ELF file of a group: its segments, and the tables that a loader needs.

use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use crate::error::Error;

pub(crate) const PAGE: usize = 4096;

/// The least multiple of a page that is not less.
pub(crate) fn pages(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}

/// A part of a file that is placed in memory. Addresses are those of the file.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub address: usize,
    pub memory: usize,
    pub offset: usize,
    pub file: usize,
    pub writable: bool,
    pub executable: bool,
}

/// Where the dynamic tables lie, as addresses of the file; 0 is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub strings: usize,
    pub symbols: usize,
    pub gnu_hash: usize,
    pub hash: usize,
    pub versions: usize,
    pub needed_versions: usize,
    pub needed_version_count: usize,
    pub defined_versions: usize,
    pub defined_version_count: usize,
    /// Address and bytes.
    pub rela: (usize, usize),
    pub plt_rela: (usize, usize),
    pub relr: (usize, usize),
    pub init: usize,
    pub fini: usize,
    /// Address and bytes.
    pub preinit_array: (usize, usize),
    pub init_array: (usize, usize),
    pub fini_array: (usize, usize),
    pub symbolic: bool,
}

/// The thread-local part of an object.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ThreadLocal {
    pub address: usize,
    pub file: usize,
    pub memory: usize,
    pub align: usize,
}

/// A program or a library, as its file says.
#[derive(Debug)]
pub(crate) struct Object {
    /// By which others ask for it.
    pub name: String,
    pub path: PathBuf,
    pub segments: Vec<Segment>,
    /// Where it ends, from its address 0.
    pub span: usize,
    pub tables: Tables,
    pub needed: Vec<String>,
    pub run_paths: Vec<String>,
    pub thread_local: Option<ThreadLocal>,
    pub eh_frame_header: Option<usize>,
    pub entry: usize,
    /// Whether it asks for a dynamic linker, as programs do and libraries do not.
    pub is_program: bool,
    /// Where its program headers lie, for those who ask for them (address of the file, number).
    pub headers: (usize, usize),
    /// Where it lies in the group; set once the group is known.
    pub base: usize,
}

type Header = elf::FileHeader64<Endianness>;

impl Object {
    /// Reads what the file says of itself.
    pub fn parse(path: &Path, name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let bad = |reason: &str| Error::unsuitable(path, reason);
        if bytes.starts_with(b"#!") {
            return Err(bad("is a script; name the program that it starts"));
        }
        if bytes.len() < 64 || !bytes.starts_with(b"\x7fELF") {
            return Err(bad("is no program that can be loaded (no ELF file)"));
        }
        if bytes[4] != 2 || bytes[5] != 1 {
            return Err(bad("is a program of another kind of machine; build it for x86-64"));
        }
        let header = Header::parse(bytes).map_err(|_| bad("is a damaged ELF file"))?;
        let endian = Endianness::Little;
        if header.e_machine(endian) != elf::EM_X86_64 {
            return Err(bad("is a program of another kind of machine; build it for x86-64"));
        }
        match header.e_type(endian) {
            elf::ET_DYN => {}
            elf::ET_EXEC => {
                let headers = header.program_headers(endian, bytes).unwrap_or_default();
                if !headers.iter().any(|header| header.p_type(endian) == elf::PT_INTERP) {
                    return Err(bad(
                        "is a static program, linked to fixed addresses, so that it cannot be copied; link it without -static",
                    ));
                }
                return Err(bad(
                    "is linked to fixed addresses, so that it cannot be copied; compile with -fPIE and link with -pie",
                ));
            }
            elf::ET_REL => return Err(bad("is an object file; link it to a program")),
            _ => return Err(bad("is no program")),
        }
        let headers = header
            .program_headers(endian, bytes)
            .map_err(|_| bad("is a damaged ELF file: program headers"))?;
        let mut object = Object {
            name: name.to_owned(),
            path: path.to_owned(),
            segments: Vec::new(),
            span: 0,
            tables: Tables::default(),
            needed: Vec::new(),
            run_paths: Vec::new(),
            thread_local: None,
            eh_frame_header: None,
            entry: header.e_entry(endian) as usize,
            is_program: false,
            headers: (header.e_phoff(endian) as usize, headers.len()),
            base: 0,
        };
        let mut dynamic = None;
        for segment in headers {
            let address = segment.p_vaddr(endian) as usize;
            let (memory, file) = (segment.p_memsz(endian) as usize, segment.p_filesz(endian) as usize);
            let offset = segment.p_offset(endian) as usize;
            let flags = segment.p_flags(endian);
            match segment.p_type(endian) {
                elf::PT_LOAD => {
                    if offset.checked_add(file).is_none_or(|end| end > bytes.len()) || file > memory {
                        return Err(bad("is shorter than it says; copy or build it again"));
                    }
                    object.span = object.span.max(pages(address + memory));
                    object.segments.push(Segment {
                        address,
                        memory,
                        offset,
                        file,
                        writable: (flags & elf::PF_W).0 != 0,
                        executable: (flags & elf::PF_X).0 != 0,
                    });
                }
                elf::PT_DYNAMIC => dynamic = Some(segment),
                elf::PT_INTERP => object.is_program = true,
                elf::PT_TLS => {
                    let align = (segment.p_align(endian) as usize).max(1);
                    object.thread_local = Some(ThreadLocal { address, file, memory, align });
                }
                elf::PT_GNU_EH_FRAME => object.eh_frame_header = Some(address),
                elf::PT_PHDR => object.headers.0 = address,
                _ => {}
            }
        }
        let Some(dynamic) = dynamic else {
            return Err(bad("is linked statically; link it without -static, with -pie"));
        };
        let entries = dynamic
            .dynamic(endian, bytes)
            .ok()
            .flatten()
            .ok_or_else(|| bad("is a damaged ELF file: dynamic section"))?;
        object.read_dynamic(entries, bytes)?;
        if object.tables.symbols == 0 || object.tables.strings == 0 {
            return Err(bad("is linked statically; link it without -static, with -pie"));
        }
        Ok(object)
    }

    fn read_dynamic(&mut self, entries: &[elf::Dyn64<Endianness>], bytes: &[u8]) -> Result<(), Error> {
        let endian = Endianness::Little;
        let (mut names, mut paths, mut soname) = (Vec::new(), Vec::new(), None);
        let tables = &mut self.tables;
        for entry in entries {
            let value = entry.d_val(endian) as usize;
            match entry.d_tag(endian).0 {
                0 => break,
                1 => names.push(value),
                14 => soname = Some(value),
                15 | 29 => paths.push(value),
                5 => tables.strings = value,
                6 => tables.symbols = value,
                4 => tables.hash = value,
                0x6fff_fef5 => tables.gnu_hash = value,
                0x6fff_fff0 => tables.versions = value,
                0x6fff_fffe => tables.needed_versions = value,
                0x6fff_ffff => tables.needed_version_count = value,
                0x6fff_fffc => tables.defined_versions = value,
                0x6fff_fffd => tables.defined_version_count = value,
                7 => tables.rela.0 = value,
                8 => tables.rela.1 = value,
                23 => tables.plt_rela.0 = value,
                2 => tables.plt_rela.1 = value,
                36 => tables.relr.0 = value,
                35 => tables.relr.1 = value,
                12 => tables.init = value,
                13 => tables.fini = value,
                25 => tables.init_array.0 = value,
                27 => tables.init_array.1 = value,
                26 => tables.fini_array.0 = value,
                28 => tables.fini_array.1 = value,
                32 => tables.preinit_array.0 = value,
                33 => tables.preinit_array.1 = value,
                16 => tables.symbolic = true,
                30 => tables.symbolic |= value & 2 != 0,
                _ => {}
            }
        }
        let damaged =
            || Error::unsuitable(&self.path, "is a damaged ELF file: a name in its dynamic section");
        let text = |at: usize| -> Result<String, Error> {
            let offset = self.offset(self.tables.strings + at).ok_or_else(damaged)?;
            let rest = bytes.get(offset..).ok_or_else(damaged)?;
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
            Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let needed = names.into_iter().map(text).collect::<Result<_, _>>()?;
        let mut run_paths = Vec::new();
        for path in paths {
            run_paths.extend(text(path)?.split(':').map(str::to_owned));
        }
        if let Some(soname) = soname {
            self.name = text(soname)?;
        }
        (self.needed, self.run_paths) = (needed, run_paths);
        Ok(())
    }

    /// Where in the file an address lies.
    fn offset(&self, address: usize) -> Option<usize> {
        let segment = self.segments.iter().find(|s| (s.address..s.address + s.file).contains(&address))?;
        Some(address - segment.address + segment.offset)
    }
}

/// A value at an address of memory that was placed by the loader.
///
/// # Safety
/// The address lies in a placed object.
pub(crate) unsafe fn read<T: Copy>(address: usize) -> T {
    // SAFETY: the caller says that something is there; tables may lie unaligned.
    unsafe { (address as *const T).read_unaligned() }
}

/// An entry of a symbol table.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub(crate) struct Symbol {
    pub name: u32,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl Symbol {
    pub fn kind(&self) -> u8 {
        self.info & 15
    }

    pub fn binding(&self) -> u8 {
        self.info >> 4
    }

    pub fn is_weak(&self) -> bool {
        self.binding() == elf::STB_WEAK.0
    }

    pub fn is_local(&self) -> bool {
        self.binding() == elf::STB_LOCAL.0
    }
}

/// A relocation with its addend.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub(crate) struct Rela {
    pub offset: u64,
    pub info: u64,
    pub addend: i64,
}

impl Rela {
    pub fn kind(&self) -> elf::RelocationType {
        elf::RelocationType(self.info as u32)
    }

    pub fn symbol(&self) -> usize {
        (self.info >> 32) as usize
    }
}
