//! A trace from its files: one for all processes, or a list of files, one for each.

use std::path::{Path, PathBuf};

use simurgh_actors::scenario::file::read_text;
use simurgh_actors::{Error, Result};

use super::action::{Action, Verb};

/// What each process does, by its number.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// The lines of each.
    pub processes: Vec<Vec<Action>>,
}

impl Trace {
    /// Reads a trace of an MPI program; none if the file is something else.
    ///
    /// # Errors
    /// Where it cannot be read or understood, and what to do.
    pub fn from_file(path: &Path) -> Result<Option<Trace>> {
        let text = read_text(path)?;
        let mut trace = Trace::default();
        if let Some(files) = listed(path, &text) {
            for file in &files {
                trace.add(&read_text(file)?, &file.display().to_string())?;
            }
        } else if is_of_mpi(&text) {
            trace.add(&text, &path.display().to_string())?;
        } else {
            return Ok(None);
        }
        match trace.processes.iter().position(Vec::is_empty) {
            Some(process) => Err(Error::input(format!(
                "{}: nothing is said of process {process}, and of {} others: give each at least an init",
                path.display(),
                trace.processes.len() - 1
            ))),
            None => Ok(Some(trace)),
        }
    }

    fn add(&mut self, text: &str, name: &str) -> Result<()> {
        const MOST: usize = 1 << 20;
        for (number, line) in text.lines().enumerate() {
            let place = |what: String| Error::input(format!("{name}:{}: {what}", number + 1));
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let Some((process, rest)) = words.split_first() else { continue };
            let Some((verb, numbers)) = rest.split_first() else {
                return Err(place("the action is missing; a line is PROCESS ACTION NUMBERS".to_owned()));
            };
            let process = process.parse::<usize>().ok().filter(|process| *process < MOST);
            let process = process.ok_or_else(|| {
                place(format!("{:?} is no process; processes are numbers from 0 on", words[0]))
            })?;
            let action = Action::parse(verb, numbers).map_err(place)?;
            if process >= self.processes.len() {
                self.processes.resize(process + 1, Vec::new());
            }
            self.processes[process].push(action);
        }
        Ok(())
    }

    /// The most bytes that a call needs in one place.
    pub fn most_bytes(&self) -> usize {
        let processes = self.processes.len() as f64;
        let needed = |action: &Action| {
            let counts = match action.verb {
                // What they compute is no count.
                Verb::Reduce | Verb::Allreduce | Verb::Scan | Verb::Exscan => 1,
                Verb::ReduceScatter => self.processes.len(),
                _ => usize::MAX,
            };
            let most = action.numbers.iter().take(counts).copied().fold(0.0, f64::max);
            match action.verb {
                Verb::Compute | Verb::Sleep | Verb::Wait | Verb::Test => 0.0,
                // Tags may be large, and are none of these.
                Verb::Send
                | Verb::Ssend
                | Verb::Bsend
                | Verb::Isend
                | Verb::Issend
                | Verb::Recv
                | Verb::Irecv => 8.0 * action.number(2, 0.0),
                _ => 8.0 * most * processes,
            }
        };
        self.processes.iter().flatten().map(needed).fold(4096.0, f64::max) as usize
    }
}

/// Whether all processes are numbers.
fn is_of_mpi(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut processes = lines.filter_map(|line| line.split_whitespace().next()).peekable();
    processes.peek().is_some() && processes.all(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The files of a list, if it is one: a file a line. They are looked for where they are said to be, and beside the list.
fn listed(list: &Path, text: &str) -> Option<Vec<PathBuf>> {
    let folder = list.parent().unwrap_or(Path::new("."));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let found = |line: &&str| {
        let path = Path::new(line);
        let places = [path.to_owned(), folder.join(path), folder.join(path.file_name()?)];
        places.into_iter().find(|place| place.is_file())
    };
    lines.iter().map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> std::result::Result<Trace, String> {
        let mut trace = Trace::default();
        trace.add(text, "t.txt").map_err(|error| error.to_string()).map(|()| trace)
    }

    #[test]
    fn lines_are_put_with_their_processes() {
        let trace = added("1 init\n0 init # first\n\n1 send 0 3 100 6\n").expect("it is well written");
        assert_eq!(trace.processes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(trace.most_bytes(), 4096);
        let trace = added("0 allreduce 1000 1e30 0\n0 send 0 2000000000 10 6\n").expect("it is well written");
        assert_eq!(trace.most_bytes(), 8000, "neither flops nor tags are data");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, said) in [
            ("0 init\n0\n", "t.txt:2: the action is missing"),
            ("x init\n", "t.txt:1: \"x\" is no process"),
            ("0 jump\n", "t.txt:1: there is no action"),
        ] {
            let told = added(text).expect_err(text);
            assert!(told.contains(said), "{told}");
        }
        assert!(is_of_mpi("0 init\n1 init") && !is_of_mpi("a compute 1") && !is_of_mpi(""));
    }
}
