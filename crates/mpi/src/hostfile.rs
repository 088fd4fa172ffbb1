//! Host files: which process runs on which host, in the forms that MPI's launchers know.
//!
//! ```text
//! # a host a line; what follows # is a comment
//! node-0
//! node-1:4
//! node-2 slots=4 max_slots=8
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use simurgh_actors::{Error, Result};
use simurgh_platform::{HostId, Platform};

/// No system folds as many.
const PROCESSES_MAX: usize = 1 << 20;

/// Reads a host file: each host as often as processes run there before the next one has its turn.
///
/// # Errors
/// If a line is not understood, or names a host that the platform does not have.
pub fn read(path: &Path, platform: &Platform) -> Result<Vec<HostId>> {
    let text =
        simurgh_actors::scenario::file::read_text_with(path, "a host a line, HOST:4 for four processes,")?;
    let by_name: BTreeMap<&str, HostId> =
        platform.hosts().map(|host| (platform.host(host).name, host)).collect();
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: String| Error::input(format!("{}:{}: {what}", path.display(), number + 1));
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (name, slots) = entry(line, |name| by_name.contains_key(name)).map_err(&wrong)?;
        match by_name.get(name) {
            Some(_) if slots > PROCESSES_MAX - hosts.len() => {
                return Err(wrong(format!("there are more than {PROCESSES_MAX} processes")));
            }
            Some(host) => hosts.extend(std::iter::repeat_n(*host, slots)),
            None => return Err(wrong(unknown(name, &by_name))),
        }
    }
    if hosts.is_empty() {
        return Err(Error::input(format!(
            "{}: names no host for a process; write a host a line, HOST:4 for four processes",
            path.display()
        )));
    }
    Ok(hosts)
}

/// A host and how many processes it takes; names of hosts may have colons.
fn entry(line: &str, is_host: impl Fn(&str) -> bool) -> std::result::Result<(&str, usize), String> {
    let number = |slots: &str| {
        let slots = slots.trim();
        slots
            .parse::<usize>()
            .map_err(|_| format!("{slots:?} is no number of processes; write HOST:4 or HOST slots=4, say"))
    };
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let (name, mut slots) = match first.rsplit_once(':') {
        Some((name, slots)) if !is_host(first) => (name, number(slots)?),
        _ => (first, 1),
    };
    for word in words {
        match word.split_once('=') {
            Some(("slots", count)) => slots = number(count)?,
            Some(("max_slots" | "max-slots", _)) => {}
            _ => {
                return Err(format!(
                    "{word:?} after a host is not understood; write HOST:4 or HOST slots=4, say"
                ));
            }
        }
    }
    Ok((name, slots))
}

/// What is said of a host that is not there.
fn unknown(name: &str, by_name: &BTreeMap<&str, HostId>) -> String {
    let near = by_name.keys().map(|known| (distance(name, known), *known)).min();
    match near.filter(|(far, _)| *far <= 2.max(name.chars().count() / 3)) {
        Some((_, known)) => format!("the platform has no host {name:?}; do you mean {known:?}?"),
        None => {
            let some: Vec<String> = by_name.keys().take(3).map(|known| format!("{known:?}")).collect();
            let rest = by_name.len().saturating_sub(some.len());
            let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("the platform has no host {name:?}; it has {}{rest}", some.join(", "))
        }
    }
}

/// How many letters are to be changed, added or left out to come from one name to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let changed = corner + usize::from(letter != *other);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_launchers_are_understood() {
        let known = |name: &str| name == "rack:1";
        assert_eq!(entry("node-0", known), Ok(("node-0", 1)));
        assert_eq!(entry("node-0:4", known), Ok(("node-0", 4)));
        assert_eq!(entry("node-0:0", known), Ok(("node-0", 0)));
        assert_eq!(entry("node-0 slots=3 max_slots=8", known), Ok(("node-0", 3)));
        assert_eq!(entry("rack:1", known), Ok(("rack:1", 1)));
        assert_eq!(entry("rack:1:2", known), Ok(("rack:1", 2)));
        assert!(entry("node-0:many", known).is_err_and(|what| what.contains("\"many\" is no number")));
        assert!(entry("node-0 fast", known).is_err_and(|what| what.contains("\"fast\" after a host")));
    }

    #[test]
    fn near_names_are_near() {
        assert_eq!(distance("node-0", "node-0"), 0);
        assert_eq!(distance("nod-0", "node-0"), 1);
        assert_eq!(distance("node_12", "node-1"), 2);
        assert_eq!(distance("", "abc"), 3);
    }
}
