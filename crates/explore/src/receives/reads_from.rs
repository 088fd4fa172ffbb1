//! A reads-from relation as plain data: which message each receive got, and what came of every other request, process by process.
//!
//! A way says all that an execution left open. Whoever answers each request of each process as the way says runs the
//! same execution again, whatever the order in which the processes take turns, and however long things take.

use std::fmt;
use std::str::FromStr;

/// What came of a request of a process.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// A send or a receive was posted. A token that is given is a send, one that is taken a receive.
    Posted {
        /// The other end; `None` if it never met one.
        partner: Option<Place>,
    },
    /// A wait ended, or a test succeeded, with this member of its set.
    Completed(u32),
    /// A test found none of its set complete.
    Nothing,
    /// A wait gave up, or an actor was not waited for any longer.
    TimedOut,
    /// This number was chosen.
    Chosen(u32),
    /// All came to the barrier; whether it was the last of them, where that is asked for.
    Passed(bool),
    /// This process was created.
    Spawned(u32),
}

/// One of the posts of a way.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// Whose post.
    pub process: u32,
    /// Which of its posts: the place among its [`Outcome::Posted`].
    pub post: u32,
}

/// What came of the requests of each process, in the order of its program. Requests that have one outcome only, such
/// as those that just take time, are left out; so is a wait that never ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ReadsFrom {
    /// By the number of the process.
    pub processes: Vec<Vec<Outcome>>,
}

impl ReadsFrom {
    /// A number that equal ways share, and different ones hardly ever.
    pub fn fingerprint(&self) -> u128 {
        simurgh_search::fingerprint::fingerprint(&self.processes)
    }

    /// The same way with those processes that come later numbered by who created them, and in which order: `first` are
    /// there from the start. Two runs of one way may create them in different orders.
    pub fn renumbered(&self, first: u32) -> ReadsFrom {
        let mut numbers: Vec<Option<u32>> =
            (0..self.processes.len() as u32).map(|old| (old < first).then_some(old)).collect();
        let mut queue: Vec<u32> = (0..first.min(self.processes.len() as u32)).collect();
        let mut at = 0;
        while let Some(&process) = queue.get(at) {
            at += 1;
            for outcome in &self.processes[process as usize] {
                if let Outcome::Spawned(child) = *outcome
                    && let Some(number @ None) = numbers.get_mut(child as usize)
                {
                    *number = Some(queue.len() as u32);
                    queue.push(child);
                }
            }
        }
        let number = |old: u32| numbers.get(old as usize).copied().flatten().unwrap_or(old);
        let place = |place: Place| Place { process: number(place.process), ..place };
        let outcome = |outcome: &Outcome| match *outcome {
            Outcome::Posted { partner } => Outcome::Posted { partner: partner.map(place) },
            Outcome::Spawned(child) => Outcome::Spawned(number(child)),
            other => other,
        };
        let processes = queue.iter().map(|&old| self.processes[old as usize].iter().map(outcome).collect());
        ReadsFrom { processes: processes.collect() }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Posted { partner: Some(Place { process, post }) } => write!(f, "={process}.{post}"),
            Outcome::Posted { partner: None } => f.write_str("=-"),
            Outcome::Completed(index) => write!(f, "+{index}"),
            Outcome::Nothing => f.write_str("+-"),
            Outcome::TimedOut => f.write_str("+!"),
            Outcome::Passed(last) => f.write_str(if *last { "|last" } else { "|" }),
            Outcome::Chosen(number) => write!(f, "?{number}"),
            Outcome::Spawned(process) => write!(f, "*{process}"),
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "{text:?} is not what came of a request; there are =PROCESS.POST, =-, +INDEX, +-, +!, |, \
                 |last, ?NUMBER, *PROCESS"
            )
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let kind = text.chars().next().ok_or_else(bad)?;
        let rest = &text[kind.len_utf8()..];
        Ok(match (kind, rest) {
            ('=', "-") => Outcome::Posted { partner: None },
            ('+', "-") => Outcome::Nothing,
            ('+', "!") => Outcome::TimedOut,
            ('|', "") => Outcome::Passed(false),
            ('|', "last") => Outcome::Passed(true),
            ('=', _) => {
                let (process, post) = rest.split_once('.').ok_or_else(bad)?;
                let (process, post) = (number(process)?, number(post)?);
                // Labels of messages are positive.
                i32::try_from(post).map_err(|_| bad())?;
                Outcome::Posted { partner: Some(Place { process, post }) }
            }
            ('+', _) => Outcome::Completed(number(rest)?),
            ('?', _) => Outcome::Chosen(number(rest)?),
            ('*', _) => Outcome::Spawned(number(rest)?),
            _ => return Err(bad()),
        })
    }
}

/// One line for each process: its number, and what came of its requests.
impl fmt::Display for ReadsFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (process, outcomes) in self.processes.iter().enumerate() {
            write!(f, "{process}:")?;
            for outcome in outcomes {
                write!(f, " {outcome}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Reads what was written; what follows a `#` is for people.
impl FromStr for ReadsFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut way = ReadsFrom::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let at = |what: String| format!("line {}: {what}", index + 1);
            let expected = way.processes.len();
            let missing = || at(format!("process {expected} is missing; write {expected}: ..."));
            let outcomes = line.strip_prefix(&format!("{expected}:")).ok_or_else(missing)?;
            let outcomes: Result<Vec<_>, _> = outcomes.split_whitespace().map(Outcome::from_str).collect();
            way.processes.push(outcomes.map_err(at)?);
        }
        Ok(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_read_back_as_it_is_written() {
        let met = |process, post| Outcome::Posted { partner: Some(Place { process, post }) };
        let way = ReadsFrom {
            processes: vec![
                vec![met(12, 3), Outcome::Completed(0), Outcome::Chosen(4), Outcome::Spawned(2)],
                Vec::new(),
                vec![Outcome::Posted { partner: None }, Outcome::Nothing, Outcome::Completed(7)],
                vec![Outcome::TimedOut, Outcome::Passed(false), Outcome::Passed(true)],
            ],
        };
        let text = way.to_string();
        assert_eq!(text, "0: =12.3 +0 ?4 *2\n1:\n2: =- +- +7\n3: +! | |last\n");
        assert_eq!(text.parse(), Ok(way.clone()));
        assert_eq!(format!("# best\n\n{}", text.replace('\n', "  # name\n")).parse(), Ok(way));
    }

    #[test]
    fn processes_that_come_later_are_numbered_by_their_parents() {
        let way: ReadsFrom = "0: *3 =2.0\n1: *2\n2: =0.0 *4\n3: =4.0\n4: =3.0".parse().unwrap();
        let same: ReadsFrom = "0: *2 =3.0\n1: *3\n2: =4.0\n3: =0.0 *4\n4: =2.0".parse().unwrap();
        assert_eq!(way.renumbered(2), same);
        assert_eq!(same.renumbered(2), same);
    }

    #[test]
    fn what_is_no_way_is_refused_with_its_line() {
        let refused = |text: &str| text.parse::<ReadsFrom>().unwrap_err();
        assert_eq!(refused("0: =1.0\n2: +0"), "line 2: process 1 is missing; write 1: ...");
        for bad in ["x", "=1", "=1.", "=1.2147483648", "+", "?x", "é", "=.1", "+-1", "|first"] {
            assert!(refused(&format!("0: {bad}")).starts_with("line 1: "), "{bad}");
        }
    }
}
