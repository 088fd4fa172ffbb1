//! Relocations, looked up once. What is the same in every copy is written into the template; what depends on where the
//! copy lies is kept as a list that is applied to each.

use std::collections::BTreeSet;

use object::elf;

use crate::elf::{Rela, read};
use crate::error::Error;
use crate::group::{Found, Group, SharedLibraries, is_chosen_at_load};
use crate::tls::{Blocks, Where};

/// A word of a copy that is its base plus a number.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Relative {
    pub at: usize,
    pub value: usize,
}

/// Where the bytes of a copied variable come from.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Copied {
    pub to: usize,
    pub from: usize,
    pub bytes: usize,
}

/// What is to be done to each copy, in this order.
#[derive(Debug, Default)]
pub(crate) struct Relocations {
    pub relative: Vec<Relative>,
    /// Within the copy.
    pub copied: Vec<Copied>,
    /// Words that a function of the copy gives: where, and the function.
    pub chosen: Vec<Relative>,
    /// Names that are nowhere, in the order of their stubs.
    pub undefined: Vec<String>,
}

/// What names mean beside the group.
pub(crate) struct Outside<'a> {
    /// What wins over the group: what there may be only one of.
    pub first: &'a dyn Fn(&str) -> Option<usize>,
    /// What comes after the group: exports of the personality.
    pub exports: &'a dyn Fn(&str) -> Option<usize>,
    pub shared: &'a SharedLibraries,
    /// The number of the shim in the group.
    pub shim: usize,
    /// What a function that is nowhere points to, by its number: the fault tells its name.
    pub stubs: usize,
}

/// A word of memory, before it is known where the copy lies.
enum Value {
    /// The same everywhere.
    Absolute(usize),
    /// So far from the base of the copy.
    Relative(usize),
    /// What a function of the copy gives, which lies so far from its base.
    Chosen(usize),
}

pub(crate) fn resolve(group: &Group, outside: &Outside<'_>, blocks: &Blocks) -> Result<Relocations, Error> {
    let mut resolver =
        Resolver { group, outside, blocks, done: Relocations::default(), seen: BTreeSet::new() };
    for number in 0..group.objects.len() {
        resolver.object(number)?;
    }
    Ok(resolver.done)
}

struct Resolver<'a> {
    group: &'a Group,
    outside: &'a Outside<'a>,
    blocks: &'a Blocks,
    done: Relocations,
    seen: BTreeSet<String>,
}

impl Resolver<'_> {
    fn object(&mut self, number: usize) -> Result<(), Error> {
        let object = &self.group.objects[number];
        self.relr(number);
        for (address, bytes) in [object.tables.rela, object.tables.plt_rela] {
            for index in 0..bytes / size_of::<Rela>() {
                // SAFETY: the dynamic section says that so many relocations lie there.
                let rela: Rela =
                    unsafe { read(self.group.template + object.base + address + index * size_of::<Rela>()) };
                self.relocation(number, &rela)?;
            }
        }
        Ok(())
    }

    /// Relative relocations in the dense form: addresses, and bitmaps of the words that follow.
    fn relr(&mut self, number: usize) {
        let object = &self.group.objects[number];
        let (table, bytes) = object.tables.relr;
        let base = object.base;
        let mut next = 0;
        for index in 0..bytes / 8 {
            // SAFETY: the dynamic section says that so many entries lie there.
            let entry: usize = unsafe { read(self.group.template + base + table + 8 * index) };
            if entry & 1 == 0 {
                self.relative_in_place(base, entry);
                next = entry + 8;
            } else {
                for bit in (1..64).filter(|bit| entry >> bit & 1 == 1) {
                    self.relative_in_place(base, next + 8 * (bit - 1));
                }
                next += 63 * 8;
            }
        }
    }

    fn relative_in_place(&mut self, base: usize, at: usize) {
        // SAFETY: the word lies in a segment of the object; it holds the addend.
        let addend: usize = unsafe { read(self.group.template + base + at) };
        self.put(base + at, Value::Relative(base.wrapping_add(addend)));
    }

    fn relocation(&mut self, number: usize, rela: &Rela) -> Result<(), Error> {
        let object = &self.group.objects[number];
        let at = object.base + rela.offset as usize;
        let addend = rela.addend as usize;
        match rela.kind() {
            elf::R_X86_64_NONE => {}
            elf::R_X86_64_RELATIVE => self.put(at, Value::Relative(object.base.wrapping_add(addend))),
            elf::R_X86_64_IRELATIVE => self.put(at, Value::Chosen(object.base.wrapping_add(addend))),
            elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => {
                let value = self.meaning(number, rela.symbol(), 0);
                self.put(at, value);
            }
            elf::R_X86_64_64 => {
                let value = self.meaning(number, rela.symbol(), addend);
                self.put(at, value);
            }
            elf::R_X86_64_SIZE64 => {
                let size = self.defining(number, rela.symbol()).map_or(0, |found| found.symbol.size as usize);
                self.put(at, Value::Absolute(size.wrapping_add(addend)));
            }
            elf::R_X86_64_COPY => self.copy(number, rela.symbol(), at),
            elf::R_X86_64_DTPMOD64 => {
                let owner = self.thread_local(number, rela.symbol())?.0;
                let value = match self.blocks.of(owner) {
                    Where::Pad(offset) => Value::Absolute(offset as usize),
                    Where::Image(offset) => Value::Relative(offset),
                };
                self.put(at, value);
            }
            elf::R_X86_64_DTPOFF64 => {
                let offset = self.thread_local(number, rela.symbol())?.1;
                self.put(at, Value::Absolute(offset.wrapping_add(addend)));
            }
            elf::R_X86_64_TPOFF64 => {
                let (owner, offset) = self.thread_local(number, rela.symbol())?;
                let Where::Pad(block) = self.blocks.of(owner) else {
                    return Err(Error::unsuitable(&object.path, Blocks::TOO_LARGE));
                };
                self.put(at, Value::Absolute((block as usize).wrapping_add(offset).wrapping_add(addend)));
            }
            elf::R_X86_64_TLSDESC => {
                let (owner, offset) = self.thread_local(number, rela.symbol())?;
                let offset = offset.wrapping_add(addend);
                let (resolver, argument) = match self.blocks.of(owner) {
                    Where::Pad(block) => (
                        crate::tls::descriptor_of_pad(),
                        Value::Absolute((block as usize).wrapping_add(offset)),
                    ),
                    Where::Image(block) => {
                        (crate::tls::descriptor_of_image(), Value::Relative(block + offset))
                    }
                };
                self.put(at, Value::Absolute(resolver));
                self.put(at + 8, argument);
            }
            other => {
                let reason =
                    format!("has a relocation of kind {}; compile everything with -fPIC or -fPIE", other.0);
                return Err(Error::unsuitable(&object.path, reason));
            }
        }
        Ok(())
    }

    /// The object that owns a thread-local variable, and how far it lies from the beginning of its block.
    fn thread_local(&mut self, number: usize, index: usize) -> Result<(usize, usize), Error> {
        if index == 0 {
            return Ok((number, 0));
        }
        match self.defining(number, index) {
            Some(found) => Ok((found.object, found.symbol.value as usize)),
            None => {
                let object = &self.group.objects[number];
                let name = self.group.name(object, &self.group.symbol(object, index));
                Err(Error::unsuitable(
                    &object.path,
                    format!("needs the thread-local variable {name}, which is nowhere"),
                ))
            }
        }
    }

    /// The definition that a reference means, within the group.
    fn defining(&self, number: usize, index: usize) -> Option<Found> {
        let object = &self.group.objects[number];
        let symbol = self.group.symbol(object, index);
        let name = self.group.name(object, &symbol);
        if symbol.section != 0 && (symbol.is_local() || symbol.other & 3 != 0) {
            return Some(Found { object: number, symbol });
        }
        let version = self.group.wanted_version(object, index);
        let own = || self.group.find_in(number, name, version);
        if object.tables.symbolic
            && let Some(found) = own()
        {
            return Some(found);
        }
        let own_symbol = || (symbol.section != 0).then_some(Found { object: number, symbol });
        self.group.find(name, version).or_else(own_symbol)
    }

    fn meaning(&mut self, number: usize, index: usize, addend: usize) -> Value {
        let object = &self.group.objects[number];
        let symbol = self.group.symbol(object, index);
        let name = self.group.name(object, &symbol);
        if let Some(address) = (self.outside.first)(name) {
            return Value::Absolute(address.wrapping_add(addend));
        }
        let version = self.group.wanted_version(object, index);
        if number == self.outside.shim
            && let Some(libc_name) = name.strip_prefix("libc_")
            && let Some(address) = self.outside.shared.find(libc_name, None)
        {
            return Value::Absolute(address);
        }
        if let Some(found) = self.defining(number, index) {
            let offset = found.offset(self.group).wrapping_add(addend);
            return if is_chosen_at_load(&found.symbol) {
                Value::Chosen(offset)
            } else {
                Value::Relative(offset)
            };
        }
        let outside = (self.outside.exports)(name).or_else(|| self.outside.shared.find(name, version));
        match outside {
            Some(address) => Value::Absolute(address.wrapping_add(addend)),
            None if symbol.is_weak() => Value::Absolute(0),
            None => Value::Absolute(self.stub(name)),
        }
    }

    /// What a name that is nowhere points to: an address that nobody can read, call or write.
    fn stub(&mut self, name: &str) -> usize {
        if self.seen.insert(name.to_owned()) {
            self.done.undefined.push(name.to_owned());
        }
        let number = self.done.undefined.iter().position(|other| other == name).expect("it was added");
        self.outside.stubs + STUB * number
    }

    /// A variable of a library that lies in the program: its first bytes are the library's.
    fn copy(&mut self, number: usize, index: usize, to: usize) {
        let object = &self.group.objects[number];
        let symbol = self.group.symbol(object, index);
        let name = self.group.name(object, &symbol).to_owned();
        let version = self.group.wanted_version(object, index);
        let others = (0..self.group.objects.len()).filter(|other| *other != number);
        let found = others.clone().find_map(|other| self.group.find_in(other, &name, version));
        // Weak copies of old names carry no version.
        let found = found.or_else(|| others.clone().find_map(|other| self.group.find_in(other, &name, None)));
        if let Some(found) = found {
            let bytes = symbol.size.min(found.symbol.size) as usize;
            self.done.copied.push(Copied { to, from: found.offset(self.group), bytes });
            return;
        }
        let outside = (self.outside.exports)(&name).or_else(|| self.outside.shared.find(&name, version));
        if let Some(from) = outside {
            // SAFETY: the variable of the library is as long as the program was told when it was linked.
            unsafe {
                let to = (self.group.template + to) as *mut u8;
                (from as *const u8).copy_to_nonoverlapping(to, symbol.size as usize);
            }
        } else {
            self.stub(&name);
        }
    }

    /// Sets a word, now or in each copy; the same word of the thread-local block if it is part of its first bytes.
    fn put(&mut self, at: usize, value: Value) {
        for at in [Some(at), self.blocks.initial_copy(at)].into_iter().flatten() {
            match value {
                // SAFETY: relocations lie in segments of their object, and the template is writable.
                Value::Absolute(value) => unsafe {
                    ((self.group.template + at) as *mut usize).write_unaligned(value);
                },
                Value::Relative(value) => self.done.relative.push(Relative { at, value }),
                Value::Chosen(value) => self.done.chosen.push(Relative { at, value }),
            }
        }
    }
}

/// How far the stubs of names that are nowhere lie from each other.
pub(crate) const STUB: usize = 16;
