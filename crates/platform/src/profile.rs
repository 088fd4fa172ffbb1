//! Profiles: how a speed, a bandwidth, a latency or a state changes with time, as data.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Complaint, Error, Place};
use crate::ids::{HostId, LinkId};

/// A profile and what it drives.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileBinding {
    /// What changes.
    pub target: ProfileTarget,
    /// How it changes.
    pub profile: Arc<Profile>,
}

/// What a profile can drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProfileTarget {
    /// Values are factors on the speed.
    HostSpeed(HostId),
    /// 0 is off, anything else on.
    HostState(HostId),
    /// Values are bytes a second.
    LinkBandwidth(LinkId),
    /// Values are seconds.
    LinkLatency(LinkId),
    /// 0 is off, anything else on.
    LinkState(LinkId),
}

/// A list of dated values, perhaps repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Dates in seconds, never falling.
    pub events: Vec<ProfilePoint>,
    /// What happens after the last one.
    pub repeat: Repeat,
}

/// From this date on, this value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfilePoint {
    /// In seconds from the start of the simulation.
    pub date: f64,
    /// In the unit of what is driven.
    pub value: f64,
}

/// What follows the last event of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repeat {
    /// Its value holds for ever.
    Once,
    /// Each event happens again this many seconds after, and again.
    Periodic(f64),
}

impl Profile {
    /// Reads lines `date value`, with `#` and `%` comments, and at most one `PERIODICITY p` or `LOOPAFTER p`.
    pub fn parse(text: &str, name: &str) -> Result<Profile, Error> {
        Self::parse_from_line(text, name, 1)
    }

    /// Reads a profile file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Profile, Error> {
        let text = crate::xml::read_text(path.as_ref())?;
        Self::parse(&text, &path.as_ref().display().to_string())
    }

    /// Its events in order; without end if the profile is periodic. The k-th repetition is at `date + k * period`.
    pub fn iter(&self) -> ProfileIter<'_> {
        ProfileIter { profile: self, next: 0, round: 0.0 }
    }

    /// The same for a profile written inside another file, so that messages tell the line of that file.
    pub(crate) fn parse_from_line(text: &str, name: &str, first_line: u32) -> Result<Profile, Error> {
        let mut events: Vec<ProfilePoint> = Vec::new();
        let mut repeat = None;
        for (offset, line) in text.lines().enumerate() {
            let complain = |complaint| malformed(name, first_line + offset as u32, complaint);
            let line = line.split(['#', '%']).next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            if line.starts_with("STOCHASTIC") {
                return Err(complain(Complaint::new(
                    "a STOCHASTIC profile draws its dates and values at random, and is not read",
                    "draw them once, and write lines \"date value\"",
                )));
            }
            let words: Vec<&str> = line.split_whitespace().take(3).collect();
            let [first, second] = words[..] else {
                return Err(complain(Complaint::new(
                    format!("{line:?} is not a line of a profile"),
                    "write \"date value\", \"PERIODICITY seconds\" or \"LOOPAFTER seconds\"",
                )));
            };
            let value = number(second).ok_or_else(|| {
                complain(Complaint::new(
                    format!("{second:?} is not a number of at least 0"),
                    "write a plain number, without unit",
                ))
            })?;
            match first {
                "PERIODICITY" | "LOOPAFTER" if repeat.is_some() => {
                    return Err(complain(Complaint::new("a profile repeats in two ways", "keep one")));
                }
                "PERIODICITY" | "LOOPAFTER" => repeat = Some((first, value, offset)),
                date => {
                    let date = number(date).ok_or_else(|| {
                        complain(Complaint::new(
                            format!("{date:?} is not a date of at least 0"),
                            "write the date in seconds, without unit",
                        ))
                    })?;
                    if let Some(last) = events.last().filter(|last| last.date > date) {
                        return Err(complain(Complaint::new(
                            format!("date {date} comes after date {}", last.date),
                            "sort the events by date",
                        )));
                    }
                    events.push(ProfilePoint { date, value });
                }
            }
        }
        let repeat = match repeat {
            None => Repeat::Once,
            Some((keyword, value, offset)) => Repeat::Periodic(
                period(keyword, value, &events)
                    .map_err(|complaint| malformed(name, first_line + offset as u32, complaint))?,
            ),
        };
        Ok(Profile { events, repeat })
    }
}

/// From [`Profile::iter`].
#[derive(Clone, Debug)]
pub struct ProfileIter<'a> {
    profile: &'a Profile,
    next: usize,
    round: f64,
}

impl Iterator for ProfileIter<'_> {
    type Item = ProfilePoint;

    fn next(&mut self) -> Option<ProfilePoint> {
        let events = &self.profile.events;
        if self.next == events.len() {
            let Repeat::Periodic(_) = self.profile.repeat else { return None };
            self.next = 0;
            self.round += 1.0;
        }
        let event = events.get(self.next)?;
        self.next += 1;
        let date = match self.profile.repeat {
            Repeat::Periodic(period) => event.date + self.round * period,
            Repeat::Once => event.date,
        };
        Some(ProfilePoint { date, value: event.value })
    }
}

fn malformed(file: &str, line: u32, complaint: Complaint) -> Error {
    let place = Place { file: file.to_owned(), line: Some(line) };
    Error::Malformed { place, problem: complaint.problem, advice: complaint.advice }
}

/// After how long everything happens again.
fn period(keyword: &str, value: f64, events: &[ProfilePoint]) -> Result<f64, Complaint> {
    if keyword == "LOOPAFTER" {
        let period = events.last().map_or(0.0, |last| last.date) + value;
        if period <= 0.0 {
            return Err(Complaint::new(
                "LOOPAFTER 0 repeats the profile without end at date 0",
                "give a LOOPAFTER above 0",
            ));
        }
        return long_enough(period);
    }
    let span = span(events);
    if value <= 0.0 || value < span {
        return Err(Complaint::new(
            format!("a period of {value} s is shorter than the profile, of {span} s"),
            "give a PERIODICITY of at least the time from the first date to the last",
        ));
    }
    long_enough(value)
}

/// The shortest time that passes in a simulation.
const SHORTEST: f64 = 1e-9;

/// A period in which time passes: a profile of a shorter one would change its resource for ever at one date.
pub(crate) fn long_enough(period: f64) -> Result<f64, Complaint> {
    if period >= SHORTEST {
        return Ok(period);
    }
    Err(Complaint::new(
        format!("a period of {period:e} s is too short for time to pass"),
        "give a period of a nanosecond or more",
    ))
}

/// From the first date to the last: a shorter period would make dates go back.
pub(crate) fn span(events: &[ProfilePoint]) -> f64 {
    match (events.first(), events.last()) {
        (Some(first), Some(last)) => last.date - first.date,
        _ => 0.0,
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(profile: &Profile, count: usize) -> Vec<(f64, f64)> {
        profile.iter().take(count).map(|event| (event.date, event.value)).collect()
    }

    #[test]
    fn a_profile_happens_once() {
        let profile = Profile::parse("# speeds\n0 1.0\n\n 2.5 0.5 % half\n", "p").unwrap();
        assert_eq!(dates(&profile, 9), [(0.0, 1.0), (2.5, 0.5)]);
    }

    #[test]
    fn a_period_lets_time_pass() {
        for text in ["0 1\nPERIODICITY 1e-18\n", "0 1\nLOOPAFTER 1e-300\n", "0 1\nPERIODICITY 9e-10\n"] {
            let error = Profile::parse(text, "p").unwrap_err().to_string();
            assert!(
                error.contains("is too short for time to pass; give a period of a nanosecond"),
                "{error}"
            );
        }
        assert!(Profile::parse("0 1\nPERIODICITY 1e-9\n", "p").is_ok());
    }

    #[test]
    fn a_periodicity_counts_from_date_zero() {
        let profile = Profile::parse("PERIODICITY 10\n1 5\n3 6\n", "p").unwrap();
        assert_eq!(profile, Profile::parse("1 5\n3 6\nPERIODICITY 10\n", "p").unwrap());
        assert_eq!(dates(&profile, 5), [(1.0, 5.0), (3.0, 6.0), (11.0, 5.0), (13.0, 6.0), (21.0, 5.0)]);
    }

    #[test]
    fn a_loop_counts_from_the_last_entry() {
        let profile = Profile::parse("2 20\n4 30\nLOOPAFTER 6\n", "p").unwrap();
        assert_eq!(dates(&profile, 5), [(2.0, 20.0), (4.0, 30.0), (12.0, 20.0), (14.0, 30.0), (22.0, 20.0)]);
    }

    #[test]
    fn an_empty_profile_has_no_events_even_if_periodic() {
        assert_eq!(dates(&Profile::parse("", "p").unwrap(), 3), []);
        assert_eq!(dates(&Profile::parse("PERIODICITY 3", "p").unwrap(), 3), []);
    }

    #[test]
    fn what_is_wrong_with_a_profile_is_said_with_its_line() {
        let table = [
            ("2 1\n1 1", "p:2: date 1 comes after date 2; sort the events by date"),
            ("x 1", "p:1: \"x\" is not a date of at least 0; write the date in seconds, without unit"),
            ("1 NaN", "p:1: \"NaN\" is not a number of at least 0; write a plain number, without unit"),
            ("\n-1 1", "p:2: \"-1\" is not a date of at least 0; write the date in seconds, without unit"),
            (
                "1",
                "p:1: \"1\" is not a line of a profile; write \"date value\", \"PERIODICITY seconds\" or \"LOOPAFTER seconds\"",
            ),
            (
                "0 1\n9 1\nPERIODICITY 5",
                "p:3: a period of 5 s is shorter than the profile, of 9 s; give a PERIODICITY of at least the time from the first date to the last",
            ),
            (
                "# drawn\nSTOCHASTIC LOOP\nDET 0 UNIF 10 20\n",
                "p:2: a STOCHASTIC profile draws its dates and values at random, and is not read; draw them once, and write lines \"date value\"",
            ),
            (
                "LOOPAFTER 0",
                "p:1: LOOPAFTER 0 repeats the profile without end at date 0; give a LOOPAFTER above 0",
            ),
        ];
        for (text, message) in table {
            assert_eq!(Profile::parse(text, "p").unwrap_err().to_string(), message);
        }
    }
}
