//! Info objects: keys and values in the order in which they were given (MPI 5.0, chapter 10).

use std::cell::RefCell;
use std::rc::Rc;

use crate::abi;
use crate::error::{Result, fail};
use crate::rank::Rank;

/// A list of keys and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// In the order in which they were given.
    pub entries: Vec<(String, String)>,
}

/// Checks the length of a key.
///
/// # Errors
/// If it is empty or too long.
pub fn check_key(key: &str) -> Result {
    let longest = abi::MAX_INFO_KEY as usize - 1;
    match key.len() {
        0 => fail(abi::ERR_INFO_KEY, "the key is empty"),
        length if length > longest => {
            fail(abi::ERR_INFO_KEY, format!("the key has {length} letters: {longest} at most"))
        }
        _ => Ok(()),
    }
}

impl Info {
    /// Gives a key a value; a key that is there keeps its place.
    ///
    /// # Errors
    /// If the key is empty, or one of both is too long.
    pub fn set(&mut self, key: &str, value: &str) -> Result {
        check_key(key)?;
        let longest = abi::MAX_INFO_VAL as usize - 1;
        if value.len() > longest {
            return fail(
                abi::ERR_INFO_VALUE,
                format!("the value of {key:?} has {} letters: {longest} at most", value.len()),
            );
        }
        match self.entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, before)) => *before = value.to_owned(),
            None => self.entries.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Takes a key out.
    ///
    /// # Errors
    /// If it is not there.
    pub fn delete(&mut self, key: &str) -> Result {
        check_key(key)?;
        match self.entries.iter().position(|(known, _)| known == key) {
            Some(place) => {
                self.entries.remove(place);
                Ok(())
            }
            None => fail(abi::ERR_INFO_NOKEY, format!("the info has no key {key:?}")),
        }
    }
}

impl Rank {
    /// A list of keys and values.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn info(&self, info: abi::Info) -> Result<Rc<RefCell<Info>>> {
        match info {
            abi::INFO_ENV => Ok(Rc::new(RefCell::new(self.environment(&[])))),
            abi::INFO_NULL => fail(abi::ERR_INFO, "the info is MPI_INFO_NULL"),
            abi::Info(handle) => match self.infos.borrow().get(handle) {
                Some(found) => Ok(Rc::clone(found)),
                None => fail(
                    abi::ERR_INFO,
                    format!("no info has the handle {handle:#x}: it was freed, or never made"),
                ),
            },
        }
    }

    /// The keys and values that a program gives, none for `MPI_INFO_NULL`.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn hints(&self, info: abi::Info) -> Result<Info> {
        match info {
            abi::INFO_NULL => Ok(Info::default()),
            _ => Ok(self.info(info)?.borrow().clone()),
        }
    }

    /// Keeps a list, and gives its handle.
    pub fn keep_info(&self, info: Info) -> abi::Info {
        abi::Info(self.infos.borrow_mut().insert(Rc::new(RefCell::new(info))))
    }

    /// What is known of how the program was started (10.2.7, 11.2.1).
    pub fn environment(&self, arguments: &[String]) -> Info {
        let mut info = Info::default();
        let level = match self.thread_level.get() {
            abi::THREAD_MULTIPLE => "MPI_THREAD_MULTIPLE",
            abi::THREAD_SERIALIZED => "MPI_THREAD_SERIALIZED",
            abi::THREAD_FUNNELED => "MPI_THREAD_FUNNELED",
            _ => "MPI_THREAD_SINGLE",
        };
        let maxprocs = self.comm_world.size().to_string();
        let mut add = |key: &str, value: &str| {
            if value.len() < abi::MAX_INFO_VAL as usize {
                info.entries.push((key.to_owned(), value.to_owned()));
            }
        };
        if let Some((command, rest)) = arguments.split_first() {
            add("command", command);
            add("argv", &rest.join(" "));
        }
        add("maxprocs", &maxprocs);
        add("soft", &maxprocs);
        add("host", &self.world.host_name(self.process));
        add("arch", std::env::consts::ARCH);
        add("thread_level", level);
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_have_limits_and_an_order() {
        let mut info = Info::default();
        let key = "k".repeat(abi::MAX_INFO_KEY as usize - 1);
        let value = "v".repeat(abi::MAX_INFO_VAL as usize - 1);
        assert_eq!(info.set(&key, &value), Ok(()));
        let class = |result: Result| result.map_err(|error| error.class);
        assert_eq!(class(info.set(&(key.clone() + "k"), "")), Err(abi::ERR_INFO_KEY));
        assert_eq!(class(info.set("", "")), Err(abi::ERR_INFO_KEY));
        assert_eq!(class(info.set("a", &(value.clone() + "v"))), Err(abi::ERR_INFO_VALUE));
        assert_eq!(info.set("b", "1").and(info.set("a", "2")).and(info.set("b", "3")), Ok(()));
        let keys: Vec<&str> = info.entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, [key.as_str(), "b", "a"]);
        assert_eq!((info.get("b"), info.get("c")), (Some("3"), None));
        assert_eq!(class(info.delete("c")), Err(abi::ERR_INFO_NOKEY));
        assert_eq!(info.delete("b"), Ok(()));
        assert_eq!(info.get("b"), None);
    }
}
