//! The objects that are copied together: program, shim, libraries; and what a name means among them.

use std::ffi::CString;

use object::elf;

use crate::elf::{Object, Symbol, read};

/// Objects at their places in the template. Tables are read from there.
pub(crate) struct Group {
    pub objects: Vec<Object>,
    /// Where the template lies.
    pub template: usize,
}

/// What a name is found to be in the group.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Found {
    /// Which object defines it.
    pub object: usize,
    pub symbol: Symbol,
}

impl Found {
    /// Where it lies in the group.
    pub fn offset(&self, group: &Group) -> usize {
        group.objects[self.object].base + self.symbol.value as usize
    }
}

impl Group {
    fn at(&self, object: &Object, address: usize) -> usize {
        self.template + object.base + address
    }

    /// A symbol of an object's table.
    pub fn symbol(&self, object: &Object, index: usize) -> Symbol {
        // SAFETY: the table lies in a segment of the object, and relocations name entries of it.
        unsafe { read(self.at(object, object.tables.symbols) + index * size_of::<Symbol>()) }
    }

    fn text(&self, object: &Object, at: u32) -> &str {
        let address = self.at(object, object.tables.strings) + at as usize;
        // SAFETY: names are terminated strings of the object's string table, which stays as long as the group.
        let name = unsafe { std::ffi::CStr::from_ptr(address as *const _) };
        name.to_str().unwrap_or("")
    }

    /// The name of a symbol.
    pub fn name(&self, object: &Object, symbol: &Symbol) -> &str {
        self.text(object, symbol.name)
    }

    /// The version that an object asks of a symbol, by the symbol's number; of one that it defines, the version it gives it.
    pub fn wanted_version(&self, object: &Object, index: usize) -> Option<&str> {
        let wanted = self.version_index(object, index)? & 0x7fff;
        if wanted < 2 {
            return None;
        }
        self.needed_version(object, wanted).or_else(|| self.defined_version(object, wanted))
    }

    fn needed_version(&self, object: &Object, wanted: u16) -> Option<&str> {
        let mut need = self.at(object, object.tables.needed_versions);
        for _ in 0..object.tables.needed_version_count {
            // SAFETY: the table of needed versions is a list of Verneed, each with a list of Vernaux.
            unsafe {
                let (count, mut aux) = (read::<u16>(need + 2), need + read::<u32>(need + 8) as usize);
                for _ in 0..count {
                    if read::<u16>(aux + 6) & 0x7fff == wanted {
                        return Some(self.text(object, read::<u32>(aux + 8)));
                    }
                    aux += read::<u32>(aux + 12) as usize;
                }
                need += read::<u32>(need + 12) as usize;
            }
        }
        None
    }

    fn version_index(&self, object: &Object, index: usize) -> Option<u16> {
        if object.tables.versions == 0 {
            return None;
        }
        // SAFETY: there is a version for each symbol.
        Some(unsafe { read(self.at(object, object.tables.versions) + 2 * index) })
    }

    /// The name of a version that an object defines.
    fn defined_version(&self, object: &Object, wanted: u16) -> Option<&str> {
        let mut definition = self.at(object, object.tables.defined_versions);
        for _ in 0..object.tables.defined_version_count {
            // SAFETY: the table of definitions is a list of Verdef, each with its name as first Verdaux.
            unsafe {
                if read::<u16>(definition + 4) == wanted {
                    let aux = definition + read::<u32>(definition + 12) as usize;
                    return Some(self.text(object, read::<u32>(aux)));
                }
                definition += read::<u32>(definition + 16) as usize;
            }
        }
        None
    }

    /// Whether the definition of a symbol is the one that a reference means.
    fn version_fits(&self, object: &Object, index: usize, wanted: Option<&str>) -> bool {
        let Some(version) = self.version_index(object, index) else { return true };
        match wanted {
            // Nothing is asked for: any but an old one.
            None => version & 0x8000 == 0,
            Some(wanted) => {
                version & 0x7fff < 2
                    || object.tables.defined_versions == 0
                    || self.defined_version(object, version & 0x7fff) == Some(wanted)
            }
        }
    }

    /// What an object means by a name.
    pub fn find_in(&self, number: usize, name: &str, version: Option<&str>) -> Option<Found> {
        let object = &self.objects[number];
        let fits = |index: usize| {
            let symbol = self.symbol(object, index);
            let defined = symbol.section != 0 && !symbol.is_local();
            let is_it =
                defined && self.name(object, &symbol) == name && self.version_fits(object, index, version);
            is_it.then_some(Found { object: number, symbol })
        };
        if object.tables.gnu_hash != 0 {
            self.gnu_hash(object, name, fits)
        } else if object.tables.hash != 0 {
            // SAFETY: the second word of the table is the number of symbols.
            let count = unsafe { read::<u32>(self.at(object, object.tables.hash) + 4) };
            (1..count as usize).find_map(fits)
        } else {
            None
        }
    }

    fn gnu_hash<T>(&self, object: &Object, name: &str, fits: impl Fn(usize) -> Option<T>) -> Option<T> {
        let hash =
            name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)));
        let table = self.at(object, object.tables.gnu_hash);
        // SAFETY: the table is as the linker made it: four words, the filter, the buckets, the chains.
        unsafe {
            let [buckets, first, filters, shift] = read::<[u32; 4]>(table);
            if buckets == 0 {
                return None;
            }
            let filter = read::<u64>(table + 16 + 8 * ((hash / 64) % filters) as usize);
            if filter >> (hash % 64) & filter >> ((hash >> shift) % 64) & 1 == 0 {
                return None;
            }
            let bucket_table = table + 16 + 8 * filters as usize;
            let chains = bucket_table + 4 * buckets as usize;
            let mut index = read::<u32>(bucket_table + 4 * (hash % buckets) as usize);
            if index < first {
                return None;
            }
            loop {
                let entry = read::<u32>(chains + 4 * (index - first) as usize);
                if entry | 1 == hash | 1
                    && let Some(found) = fits(index as usize)
                {
                    return Some(found);
                }
                if entry & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
    }

    /// What a name means in the group, the first object that defines it first.
    pub fn find(&self, name: &str, version: Option<&str>) -> Option<Found> {
        (0..self.objects.len()).find_map(|number| self.find_in(number, name, version))
    }

    /// The number of symbols in an object's table.
    pub fn symbol_count(&self, object: &Object) -> usize {
        // The string table follows the symbols in what every known linker writes.
        object.tables.strings.saturating_sub(object.tables.symbols) / size_of::<Symbol>()
    }

    /// The names that an object refers to and does not define.
    pub fn imports(&self, number: usize) -> impl Iterator<Item = &str> {
        let object = &self.objects[number];
        (1..self.symbol_count(object)).filter_map(|index| {
            let symbol = self.symbol(object, index);
            (symbol.section == 0 && !symbol.is_local()).then(|| self.name(object, &symbol))
        })
    }
}

/// A function that is chosen when the program is loaded.
pub(crate) fn is_chosen_at_load(symbol: &Symbol) -> bool {
    symbol.kind() == elf::STT_GNU_IFUNC.0
}

/// What the libraries that are there once mean by a name.
pub(crate) struct SharedLibraries {
    handles: Vec<usize>,
}

impl SharedLibraries {
    /// Loads them, libc and libm in any case.
    pub fn open(names: &[String]) -> Self {
        let mut wanted = vec!["libc.so.6".to_owned(), "libm.so.6".to_owned()];
        wanted.extend(names.iter().filter(|name| !name.starts_with("ld-linux")).cloned());
        let handles = wanted
            .iter()
            .filter_map(|name| {
                let name = CString::new(name.as_str()).ok()?;
                // SAFETY: loading one of the system's own libraries; the name is terminated.
                let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
                (!handle.is_null()).then_some(handle as usize)
            })
            .collect();
        Self { handles }
    }

    /// The address that a name has in them.
    pub fn find(&self, name: &str, version: Option<&str>) -> Option<usize> {
        let name = CString::new(name).ok()?;
        let version = version.and_then(|version| CString::new(version).ok());
        let look = |handle: &usize, version: Option<&CString>| {
            let handle = *handle as *mut libc::c_void;
            // SAFETY: handles stay open, names are terminated.
            let address = match version {
                Some(version) => unsafe { libc::dlvsym(handle, name.as_ptr(), version.as_ptr()) },
                None => unsafe { libc::dlsym(handle, name.as_ptr()) },
            };
            (!address.is_null()).then_some(address as usize)
        };
        let exact =
            version.as_ref().and_then(|version| self.handles.iter().find_map(|h| look(h, Some(version))));
        exact.or_else(|| self.handles.iter().find_map(|h| look(h, None)))
    }
}
