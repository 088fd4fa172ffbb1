//! What is told of a run that went wrong: who failed, where, and what the others were doing.
//!
//! - `doing`: what one process was doing, in words.
//! - `advice`: what may be the reason that nobody goes on.
//!
//! It is put together when the run is over. The processes are gone then, but their stacks and what the library knew of them are
//! still there to be looked at.

mod advice;
mod doing;

use std::collections::BTreeMap;
use std::path::Path;

use simurgh_kernel::kernel::Unreceived;
use simurgh_native::{End, Frame, SourceLine};

pub use doing::Doing;
pub(crate) use doing::called;

use crate::launch::Run;
use crate::world::Aborted;

/// What is told of a run that went wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Those who failed, the one that ended the run first.
    pub failures: Vec<Failure>,
    /// What the processes were doing that did not fail: the odd ones first.
    pub groups: Vec<Group>,
    /// What each of them was doing.
    pub each: Vec<(u32, Doing)>,
    /// What may be the reason, if nobody can go on.
    pub advice: Vec<String>,
}

/// Processes that failed in the same way.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Which.
    pub ranks: Vec<u32>,
    /// The line of the program, if it is known.
    pub line: Option<String>,
    /// What happened, without the line.
    pub message: String,
    /// The functions that have not returned, the innermost first.
    pub backtrace: Vec<String>,
    /// The exit code that a process would have ended with.
    pub code: i32,
}

/// Processes that were doing the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Which.
    pub ranks: Vec<u32>,
    /// What.
    pub doing: Doing,
}

/// More groups than this are put together by what they call where.
const MOST_GROUPS: usize = 12;

impl Run {
    /// What went wrong. `unreceived` are the messages that nobody has received; there is advice if nobody can go on.
    pub fn report(&self, is_deadlock: bool, unreceived: &[Unreceived]) -> Report {
        let failures = self.failures();
        let others = (0..self.size() as u32)
            .filter(|process| !failures.iter().any(|failure| failure.ranks.contains(process)));
        let doings: Vec<(u32, Doing)> =
            others.map(|process| (process, self.doing(process as usize))).collect();
        let advice = if is_deadlock { advice::advice(self, &doings, unreceived) } else { Vec::new() };
        // Those who had nothing to do any more are told of only if others wait for them.
        let told = doings.iter().filter(|(_, doing)| is_deadlock || !doing.has_ended).cloned().collect();
        Report { failures, groups: grouped(told), each: doings, advice }
    }

    /// What a process is doing, or was when it ended.
    pub fn doing(&self, process: usize) -> Doing {
        match self.end(process) {
            Some(End::Exited(_)) => {
                let stage = self.with_rank(process, |rank| rank.stage.get());
                Doing::ended(stage)
            }
            _ => {
                let line = line_of(&self.place(process));
                self.with_rank(process, |rank| Doing::of(rank, line.clone())).unwrap_or_else(Doing::not_begun)
            }
        }
    }

    fn failures(&self) -> Vec<Failure> {
        let mut failures: Vec<Failure> = Vec::new();
        let aborted = self.aborted();
        if let Some(Aborted { process, code, message, .. }) = &aborted {
            let place = self.place(*process as usize);
            failures.push(Failure {
                ranks: vec![*process],
                line: line_of(&place),
                message: message.clone(),
                backtrace: shown(&place),
                code: *code,
            });
        }
        for process in 0..self.size() {
            if aborted.as_ref().is_some_and(|aborted| aborted.process as usize == process) {
                continue;
            }
            let Some(failure) = self.end(process).and_then(|end| failure(process as u32, &end)) else {
                continue;
            };
            // Those who exit in the same way are told of together.
            match failures.iter_mut().find(|other| is_same(other, &failure)) {
                Some(other) => other.ranks.push(process as u32),
                None => failures.push(failure),
            }
        }
        failures
    }

    /// The exit code of a launcher that ends as its processes do; none if none of them has failed.
    pub fn exit_code(&self) -> Option<u8> {
        let failure = self.failures().into_iter().next()?;
        // What a shell sees are eight bits, and a failure is never seen as none.
        Some(match failure.code & 0xff {
            0 => 1,
            code => code as u8,
        })
    }
}

fn is_same(one: &Failure, other: &Failure) -> bool {
    (one.code, &one.line, &one.backtrace) == (other.code, &other.line, &other.backtrace)
        && without_addresses(&one.message) == without_addresses(&other.message)
}

/// What is left of a message where addresses do not count, which differ from process to process.
fn without_addresses(message: &str) -> String {
    let is_address = |word: &str| word.starts_with("0x");
    let words = message.split(' ').map(|word| if is_address(word) { "0x" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// What is wrong with an end, if something is.
fn failure(process: u32, end: &End) -> Option<Failure> {
    let (line, message, backtrace, code) = match end {
        End::Exited(0) | End::Killed => return None,
        End::Exited(code) => (None, end.to_string(), Vec::new(), *code),
        End::Aborted(crash) | End::Crashed(crash) => {
            let terminates = |frame: &Frame| frame.function.starts_with("std::terminate");
            let message = match crash.backtrace.iter().any(terminates) && crash.message == "aborted" {
                true => "aborted: an exception was thrown that nobody catches".to_owned(),
                false => crash.message.clone(),
            };
            (line_of(&crash.backtrace), message, shown(&crash.backtrace), 128 + crash.signal)
        }
    };
    Some(Failure { ranks: vec![process], line, message, backtrace, code })
}

/// Puts those together that do the same. Where there is no end to what they do, what they do it with does not count.
fn grouped(doings: Vec<(u32, Doing)>) -> Vec<Group> {
    let mut groups = by(doings.iter().cloned(), |doing| doing.to_string());
    if groups.len() > MOST_GROUPS {
        groups = by(doings.into_iter(), Doing::call_and_line);
        for group in groups.iter_mut().filter(|group| group.ranks.len() > 1) {
            group.doing.is_one_of(group.ranks[0]);
        }
    }
    let processes: usize = groups.iter().map(|group| group.ranks.len()).sum();
    // Most wait for all: whoever does not is what one looks for.
    if let Some(place) = groups.iter().position(|group| 2 * group.ranks.len() > processes) {
        let most = groups.remove(place);
        groups.push(most);
    }
    groups
}

/// Groups in the order of their first ranks.
fn by(doings: impl Iterator<Item = (u32, Doing)>, key: impl Fn(&Doing) -> String) -> Vec<Group> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (rank, doing) in doings {
        let place = *places.entry(key(&doing)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.ranks.push(rank),
            None => groups.push(Group { ranks: vec![rank], doing }),
        }
    }
    groups
}

/// Whether a function is one of a library that calls MPI for the program, as the modules of Fortran do.
fn is_wrapper(frame: &Frame) -> bool {
    let name = frame.function.to_lowercase();
    ["mpi_", "pmpi_", "simurgh_", "__simurgh_", "__mpi_"].iter().any(|prefix| name.starts_with(prefix))
}

/// The line of the innermost function of the program itself.
pub(crate) fn line_of(frames: &[Frame]) -> Option<String> {
    place_of(frames).map(|place| place.to_string())
}

/// The same as a file, as it is called from here, and a number.
pub(crate) fn place_of(frames: &[Frame]) -> Option<SourceLine> {
    let own = || frames.iter().filter(|frame| !is_wrapper(frame)).filter_map(|frame| frame.place.as_ref());
    // What a header of the system does, the program has asked it to do.
    let place = own().find(|place| !place.file.starts_with("/usr/")).or_else(|| own().next())?;
    Some(SourceLine { file: near(&place.file), line: place.line })
}

/// How a process ended, in a line: with its place as it is called from here, once.
pub(crate) fn end_in_words(end: &End) -> String {
    let Some(crash) = end.crash() else { return end.to_string() };
    let Some(place) = place_of(&crash.backtrace) else { return end.to_string() };
    // An assertion says itself where it stands.
    let own =
        crash.message.split_once(": ").filter(|(before, _)| before.ends_with(&format!(":{}", place.line)));
    format!("{place}: {}", own.map_or(&*crash.message, |(_, rest)| rest))
}

/// A line as it is shown.
pub(crate) fn shown_line(place: &SourceLine) -> String {
    format!("{}:{}", near(&place.file), place.line)
}

/// The functions of the program, as they are shown: without those that begin it.
fn shown(frames: &[Frame]) -> Vec<String> {
    let own = frames.iter().filter(|frame| !is_wrapper(frame) && frame.function != "_start");
    // Libraries that were called last are of interest only where nothing is known of the program.
    let knows = frames.iter().any(|frame| frame.place.is_some());
    let own = own.skip_while(|frame| knows && frame.place.is_none());
    own.map(|frame| match &frame.place {
        Some(place) => {
            let name = if frame.function.is_empty() { "?" } else { &frame.function };
            format!("{name} at {}:{}", near(&place.file), place.line)
        }
        None => frame.to_string(),
    })
    .collect()
}

/// A file as it is called from here.
fn near(file: &str) -> String {
    let here = std::env::current_dir().ok();
    let inside = here.as_deref().and_then(|here| Path::new(file).strip_prefix(here).ok());
    inside.map_or_else(|| file.to_owned(), |inside| inside.display().to_string())
}

/// `rank 3`, `ranks 0-2, 5 and 7`, `all 64 ranks` are not: `ranks 0-63`.
pub fn ranks_in_words(ranks: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    const MOST: usize = 8;
    let range = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    let mut words = ranges.iter().take(MOST).map(range).collect::<Vec<_>>().join(", ");
    let untold: u32 = ranges.iter().skip(MOST).map(|(first, last)| last - first + 1).sum();
    if untold > 0 {
        words.push_str(&format!(" and {untold} more"));
    }
    let rank = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{rank} {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_told_by_ranges() {
        assert_eq!(ranks_in_words(&[3]), "rank 3");
        assert_eq!(ranks_in_words(&[0, 1]), "ranks 0, 1");
        assert_eq!(ranks_in_words(&[0, 1, 2, 5, 7, 8, 9]), "ranks 0-2, 5, 7-9");
        let odd: Vec<u32> = (0..40).map(|rank| 2 * rank + 1).collect();
        assert_eq!(ranks_in_words(&odd), "ranks 1, 3, 5, 7, 9, 11, 13, 15 and 32 more");
    }

    #[test]
    fn whoever_does_something_else_comes_first() {
        let call = |call: &str| Doing { call: call.to_owned(), ..Doing::default() };
        let doings = (0..64).map(|rank| (rank, call(if rank == 40 { "MPI_Bcast" } else { "MPI_Barrier" })));
        let groups = grouped(doings.collect());
        assert_eq!(groups.len(), 2);
        assert_eq!((groups[0].ranks.as_slice(), groups[0].doing.call.as_str()), (&[40][..], "MPI_Bcast"));
        assert_eq!(ranks_in_words(&groups[1].ranks), "ranks 0-39, 41-63");
    }

    #[test]
    fn many_that_differ_by_their_peers_are_one_group() {
        let doing = |rank: u32| Doing {
            call: "MPI_Recv".to_owned(),
            peer: Some(format!("from rank {}", (rank + 1) % 64)),
            line: Some("x.c:5".to_owned()),
            ..Doing::default()
        };
        let groups = grouped((0..64).map(|rank| (rank, doing(rank))).collect());
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].ranks.len(), 64);
        assert_eq!(grouped((0..4).map(|rank| (rank, doing(rank))).collect()).len(), 4);
    }
}
