//! Error classes and codes, of the standard and of the program (MPI 5.0, 9.4 and 9.5).

use std::collections::BTreeMap;

use crate::abi;
use crate::error::{Result, fail};

/// What a program has added to the errors of the standard.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    /// Its classes and codes, by number.
    added: BTreeMap<i32, Added>,
    /// Texts that were given to its classes and codes.
    texts: BTreeMap<i32, String>,
    /// The highest number that was ever given.
    highest: i32,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Added {
    Class { codes: u32 },
    Code { class: i32 },
}

impl Codes {
    /// The highest number in use: `MPI_LASTUSEDCODE`.
    pub fn last(&self) -> i32 {
        self.highest.max(abi::ERR_LASTCODE)
    }

    fn next(&mut self) -> i32 {
        // What was removed is used again from the top.
        let next = self.added.keys().next_back().map_or(abi::ERR_LASTCODE, |last| *last) + 1;
        self.highest = self.highest.max(next);
        next
    }

    /// A new class, which is a code of itself.
    pub fn add_class(&mut self) -> i32 {
        let class = self.next();
        self.added.insert(class, Added::Class { codes: 0 });
        class
    }

    /// A new code of a class.
    ///
    /// # Errors
    /// If there is no such class.
    pub fn add_code(&mut self, class: i32) -> Result<i32> {
        match self.added.get_mut(&class) {
            Some(Added::Class { codes }) => *codes += 1,
            None if standard_text(class).is_some() => {}
            _ => return fail(abi::ERR_ARG, format!("{class} is no error class")),
        }
        let code = self.next();
        self.added.insert(code, Added::Code { class });
        Ok(code)
    }

    /// Gives a code of the program a text.
    ///
    /// # Errors
    /// If it is none of the program.
    pub fn add_text(&mut self, code: i32, text: String) -> Result {
        self.check_added(code)?;
        if text.len() >= abi::MAX_ERROR_STRING as usize {
            return fail(
                abi::ERR_ARG,
                format!("the text has {} letters: {} at most", text.len(), abi::MAX_ERROR_STRING - 1),
            );
        }
        self.texts.insert(code, text);
        Ok(())
    }

    /// Takes a class of the program back.
    ///
    /// # Errors
    /// If it is none, or has codes.
    pub fn remove_class(&mut self, class: i32) -> Result {
        match self.added.get(&class) {
            Some(Added::Class { codes: 0 }) => self.remove(class),
            Some(Added::Class { .. }) => {
                return fail(
                    abi::ERR_ARG,
                    format!("the error class {class} still has codes: remove them first"),
                );
            }
            _ => return fail(abi::ERR_ARG, format!("{class} is no error class that the program has added")),
        }
        Ok(())
    }

    /// Takes a code of the program back.
    ///
    /// # Errors
    /// If it is none.
    pub fn remove_code(&mut self, code: i32) -> Result {
        let Some(&Added::Code { class }) = self.added.get(&code) else {
            return fail(abi::ERR_ARG, format!("{code} is no error code that the program has added"));
        };
        if let Some(Added::Class { codes }) = self.added.get_mut(&class) {
            *codes -= 1;
        }
        self.remove(code);
        Ok(())
    }

    fn remove(&mut self, code: i32) {
        self.added.remove(&code);
        self.texts.remove(&code);
    }

    /// Takes the text of a code back.
    ///
    /// # Errors
    /// If it has none from the program.
    pub fn remove_text(&mut self, code: i32) -> Result {
        self.check_added(code)?;
        if self.texts.remove(&code).is_none() {
            return fail(abi::ERR_ARG, format!("the error code {code} has no text"));
        }
        Ok(())
    }

    fn check_added(&self, code: i32) -> Result {
        if self.added.contains_key(&code) {
            return Ok(());
        }
        fail(abi::ERR_ARG, format!("{code} is no error class or code that the program has added"))
    }

    /// The class of a code.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn class(&self, code: i32) -> Result<i32> {
        match self.added.get(&code) {
            Some(Added::Code { class }) => Ok(*class),
            Some(Added::Class { .. }) => Ok(code),
            None if standard_text(code).is_some() => Ok(code),
            None => fail(abi::ERR_ARG, format!("{code} is no error code")),
        }
    }

    /// The text of a code; that of a class or code of the program that was given none is empty.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn text(&self, code: i32) -> Result<String> {
        if let Some(text) = self.texts.get(&code) {
            return Ok(text.clone());
        }
        if self.added.contains_key(&code) {
            return Ok(String::new());
        }
        match standard_text(code) {
            Some(text) => Ok(text.to_owned()),
            None => fail(abi::ERR_ARG, format!("{code} is no error code")),
        }
    }
}

/// What a class of the standard means.
pub fn standard_text(class: i32) -> Option<&'static str> {
    let place = TEXTS.iter().find(|(known, _)| *known == class)?;
    Some(place.1)
}

/// The classes of the standard.
#[rustfmt::skip]
const TEXTS: &[(i32, &str)] = &[
    (abi::SUCCESS, "MPI_SUCCESS: no error"),
    (abi::ERR_BUFFER, "MPI_ERR_BUFFER: invalid buffer pointer"),
    (abi::ERR_COUNT, "MPI_ERR_COUNT: invalid count"),
    (abi::ERR_TYPE, "MPI_ERR_TYPE: invalid datatype"),
    (abi::ERR_TAG, "MPI_ERR_TAG: invalid tag"),
    (abi::ERR_COMM, "MPI_ERR_COMM: invalid communicator"),
    (abi::ERR_RANK, "MPI_ERR_RANK: invalid rank"),
    (abi::ERR_REQUEST, "MPI_ERR_REQUEST: invalid request"),
    (abi::ERR_ROOT, "MPI_ERR_ROOT: invalid root"),
    (abi::ERR_GROUP, "MPI_ERR_GROUP: invalid group"),
    (abi::ERR_OP, "MPI_ERR_OP: invalid operator"),
    (abi::ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY: invalid topology"),
    (abi::ERR_DIMS, "MPI_ERR_DIMS: invalid dimensions"),
    (abi::ERR_ARG, "MPI_ERR_ARG: invalid argument of another kind"),
    (abi::ERR_UNKNOWN, "MPI_ERR_UNKNOWN: unknown error"),
    (abi::ERR_TRUNCATE, "MPI_ERR_TRUNCATE: a message is longer than the receive"),
    (abi::ERR_OTHER, "MPI_ERR_OTHER: another error that is known"),
    (abi::ERR_INTERN, "MPI_ERR_INTERN: an error of the library"),
    (abi::ERR_PENDING, "MPI_ERR_PENDING: the request is neither complete nor wrong"),
    (abi::ERR_IN_STATUS, "MPI_ERR_IN_STATUS: the error codes are in the statuses"),
    (abi::ERR_ACCESS, "MPI_ERR_ACCESS: permission denied"),
    (abi::ERR_AMODE, "MPI_ERR_AMODE: invalid access mode of a file"),
    (abi::ERR_ASSERT, "MPI_ERR_ASSERT: invalid assertion"),
    (abi::ERR_BAD_FILE, "MPI_ERR_BAD_FILE: invalid file name"),
    (abi::ERR_BASE, "MPI_ERR_BASE: invalid base address"),
    (abi::ERR_CONVERSION, "MPI_ERR_CONVERSION: a conversion function failed"),
    (abi::ERR_DISP, "MPI_ERR_DISP: invalid displacement"),
    (abi::ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP: the data representation is defined already"),
    (abi::ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS: the file exists"),
    (abi::ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE: the file is open"),
    (abi::ERR_FILE, "MPI_ERR_FILE: invalid file"),
    (abi::ERR_INFO_KEY, "MPI_ERR_INFO_KEY: the key is empty or too long"),
    (abi::ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY: the info has no such key"),
    (abi::ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE: the value is too long"),
    (abi::ERR_INFO, "MPI_ERR_INFO: invalid info"),
    (abi::ERR_IO, "MPI_ERR_IO: input or output failed"),
    (abi::ERR_KEYVAL, "MPI_ERR_KEYVAL: invalid key of attributes"),
    (abi::ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE: invalid lock type"),
    (abi::ERR_NAME, "MPI_ERR_NAME: the service name is not published"),
    (abi::ERR_NO_MEM, "MPI_ERR_NO_MEM: no memory is left"),
    (abi::ERR_NOT_SAME, "MPI_ERR_NOT_SAME: an argument differs between processes"),
    (abi::ERR_NO_SPACE, "MPI_ERR_NO_SPACE: no space is left"),
    (abi::ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE: the file does not exist"),
    (abi::ERR_PORT, "MPI_ERR_PORT: invalid port name"),
    (abi::ERR_QUOTA, "MPI_ERR_QUOTA: the quota is used up"),
    (abi::ERR_READ_ONLY, "MPI_ERR_READ_ONLY: the file or file system is read-only"),
    (abi::ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH: memory cannot be attached"),
    (abi::ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window"),
    (abi::ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE: the memory is outside of the window"),
    (abi::ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED: memory cannot be shared"),
    (abi::ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC: wrong synchronisation of a window"),
    (abi::ERR_SERVICE, "MPI_ERR_SERVICE: invalid service name"),
    (abi::ERR_SIZE, "MPI_ERR_SIZE: invalid size"),
    (abi::ERR_SPAWN, "MPI_ERR_SPAWN: processes cannot be started"),
    (abi::ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP: unsupported data representation"),
    (abi::ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION: unsupported operation"),
    (abi::ERR_WIN, "MPI_ERR_WIN: invalid window"),
    (abi::ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR: the window has another flavour"),
    (abi::ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED: the other process has aborted"),
    (abi::ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE: the value does not fit"),
    (abi::ERR_SESSION, "MPI_ERR_SESSION: invalid session"),
    (abi::ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER: invalid error handler"),
    (abi::ERR_ABI, "MPI_ERR_ABI: the binary interface does not fit"),
    (abi::T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT: the tools interface cannot be initialised"),
    (abi::T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE: the tools interface is not accessible"),
    (abi::T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED: the tools interface is not initialised"),
    (abi::T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED: the tools interface does not support it"),
    (abi::T_ERR_MEMORY, "MPI_T_ERR_MEMORY: no memory is left"),
    (abi::T_ERR_INVALID, "MPI_T_ERR_INVALID: invalid use of the tools interface"),
    (abi::T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX: invalid index"),
    (abi::T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM: invalid item"),
    (abi::T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION: invalid session of the tools interface"),
    (abi::T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE: invalid handle"),
    (abi::T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME: invalid name"),
    (abi::T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES: no handle is left"),
    (abi::T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS: no session is left"),
    (abi::T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW: the variable cannot be set now"),
    (abi::T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER: the variable can never be set"),
    (abi::T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE: the variable cannot be written or reset"),
    (abi::T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP: the variable cannot be started or stopped"),
    (abi::T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC: the variable cannot be read and written at once"),
    (abi::ERR_LASTCODE, "MPI_ERR_LASTCODE: the last code of the standard"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_standard_has_a_text() {
        for class in 0..=abi::ERR_ABI {
            assert!(standard_text(class).is_some(), "{class}");
        }
        assert!(TEXTS.iter().all(|(_, text)| text.len() < abi::MAX_ERROR_STRING as usize));
    }

    #[test]
    fn classes_and_codes_of_programs() {
        let mut codes = Codes::default();
        assert_eq!(codes.last(), abi::ERR_LASTCODE);
        let class = codes.add_class();
        let code = codes.add_code(class).expect("the class is there");
        let other = codes.add_code(abi::ERR_ARG).expect("the standard has it");
        assert_eq!(
            [class, code, other].map(|code| codes.class(code).ok()),
            [Some(class), Some(class), Some(abi::ERR_ARG)]
        );
        assert_eq!(codes.last(), other);
        assert_eq!(codes.text(code).as_deref(), Ok(""));
        codes.add_text(code, "too hot".into()).expect("the code is there");
        assert_eq!(codes.text(code).as_deref(), Ok("too hot"));
        assert!(codes.add_text(abi::ERR_ARG, "no".into()).is_err(), "texts of the standard stay");
        assert!(codes.remove_class(class).is_err(), "it has a code");
        codes.remove_text(code).expect("it has one");
        codes.remove_code(code).expect("it is there");
        codes.remove_class(class).expect("its codes are gone");
        assert!(codes.class(code).is_err() && codes.add_code(class).is_err());
    }
}
