//! Functions, files and lines, from the debug information of a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use addr2line::Loader;

use crate::personality::{Frame, SourceLine};

/// What was read of the debug information of files, when somebody first asked.
#[derive(Default)]
pub(crate) struct Lines {
    files: Mutex<BTreeMap<PathBuf, Option<Reader>>>,
}

struct Reader(Loader);

// SAFETY: a loader has cells that are filled when it is asked, and is asked by those alone who hold the lock.
unsafe impl Send for Reader {}

impl Lines {
    fn with<T>(&self, path: &Path, f: impl FnOnce(&Loader) -> Option<T>) -> Option<T> {
        let mut files = self.files.lock().ok()?;
        let reader = files.entry(path.to_owned()).or_insert_with(|| Loader::new(path).ok().map(Reader));
        f(&reader.as_ref()?.0)
    }

    /// The line of an address, as the file has it.
    pub fn line(&self, path: &Path, address: usize) -> Option<SourceLine> {
        self.with(path, |loader| {
            let location = loader.find_location(address as u64).ok()??;
            Some(SourceLine { file: location.file?.to_owned(), line: location.line? })
        })
    }

    /// The function at an address, after those that are inlined there.
    pub fn frames(&self, path: &Path, object: &str, address: usize) -> Vec<Frame> {
        let known = self.with(path, |loader| {
            let mut found = Vec::new();
            let mut frames = loader.find_frames(address as u64).ok()?;
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
                let place = frame.location.and_then(|at| {
                    Some(SourceLine { file: at.file?.to_owned(), line: at.line.filter(|line| *line > 0)? })
                });
                found.push(Frame {
                    function: function.unwrap_or_default(),
                    place,
                    object: object.to_owned(),
                    address,
                });
            }
            if found.iter().all(|frame| frame.function.is_empty()) {
                let symbol = loader.find_symbol(address as u64)?;
                let function = addr2line::demangle_auto(symbol.into(), None).into_owned();
                found = vec![Frame { function, place: None, object: object.to_owned(), address }];
            }
            Some(found)
        });
        let unknown =
            || vec![Frame { function: String::new(), place: None, object: object.to_owned(), address }];
        known.filter(|frames| !frames.is_empty()).unwrap_or_else(unknown)
    }
}
