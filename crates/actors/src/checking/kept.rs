//! A search that was stopped, in a file: what was found, and what is left.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simurgh_explore::fingerprint::fingerprint;
use simurgh_explore::receives::choice::Pick;
use simurgh_explore::receives::future::{Posters, Traffic};
use simurgh_explore::receives::parts::Frontier;
use simurgh_explore::receives::search::{Limits, Search};
use simurgh_explore::receives::{Mailbox, Network, Processes, Side};
use simurgh_explore::{Exploration, Step, Violation};
use simurgh_files::Claim;
use simurgh_kernel::simcall::{Criteria, Envelope};

use super::exploring::Refused;
use super::subject::Origin;
use crate::error::{Error, Result};

/// Changes with the format of the file.
const FORMAT: &str = "simurgh search 7";

/// What is left of a search, and is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Left {
    /// How many parts.
    pub parts: usize,
    /// The file that they are kept in.
    pub path: PathBuf,
}

/// A place where a search is kept.
pub(super) struct Kept {
    path: PathBuf,
    claim: Claim,
    program: String,
    actors: Vec<String>,
    network: String,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    program: String,
    actors: Vec<String>,
    network: String,
    fingerprint: String,
    executions: u64,
    transitions: u64,
    depth: u64,
    cut: u64,
    found: Vec<Found>,
    parts: Vec<String>,
    traffic: Vec<TrafficRow>,
    cuts: Vec<CutRow>,
    /// A fingerprint of all the rest: a search that was changed would say that a program holds of which a part was never seen.
    sum: String,
}

impl File {
    /// The fingerprint of all but itself.
    fn sum_of_rest(&mut self) -> String {
        let sum = std::mem::take(&mut self.sum);
        let rest = serde_json::to_string(self).expect("plain data becomes JSON");
        self.sum = sum;
        format!("{:032x}", fingerprint(&rest))
    }
}

/// A side as plain data: whether it is a send, its context, source and tag.
type SideRow = (bool, u32, Option<u32>, Option<i32>);

/// How often a process was seen to post something: mailbox, process, what, how often, which it may take back, and whether some are on their
/// way together.
type TrafficRow = (u32, u32, SideRow, u32, Vec<u32>, bool);

/// Where choices were cut: mailbox, the post that nobody could take, and whose did not count.
type CutRow = (u32, SideRow, Option<u32>);

fn row_of(side: &Side) -> SideRow {
    match side {
        Side::Send(Envelope { context, source, tag }) => (true, *context, Some(*source), Some(*tag)),
        Side::Recv(Criteria { context, source, tag }) => (false, *context, *source, *tag),
    }
}

fn side_of(&(is_send, context, source, tag): &SideRow) -> Side {
    if is_send {
        let (source, tag) = (source.unwrap_or_default(), tag.unwrap_or_default());
        return Side::Send(Envelope { context, source, tag });
    }
    Side::Recv(Criteria { context, source, tag })
}

fn rows_of(posters: &Posters) -> (Vec<TrafficRow>, Vec<CutRow>) {
    let traffic = posters.traffic.iter().flat_map(|(mailbox, all)| {
        all.iter().map(|((process, side), Traffic { posts, revocable, overlaps })| {
            (mailbox.0, *process, row_of(side), *posts, revocable.iter().copied().collect(), *overlaps)
        })
    });
    let cuts = posters
        .cuts
        .iter()
        .flat_map(|(mailbox, all)| all.iter().map(|(left, excepted)| (mailbox.0, row_of(left), *excepted)));
    (traffic.collect(), cuts.collect())
}

fn posters_of(traffic: Vec<TrafficRow>, cuts: &[CutRow]) -> Posters {
    let traffic = traffic.into_iter().map(|(mailbox, process, side, posts, revocable, overlaps)| {
        let known = Traffic { posts, revocable: revocable.into_iter().collect(), overlaps };
        (Mailbox(mailbox), (process, side_of(&side)), known)
    });
    let cuts = cuts.iter().map(|(mailbox, left, excepted)| (Mailbox(*mailbox), side_of(left), *excepted));
    Posters::new(traffic, cuts)
}

/// A violation as plain data.
#[derive(Serialize, Deserialize)]
struct Found {
    actors: Vec<u32>,
    message: Option<String>,
    schedule: Vec<String>,
}

impl Kept {
    /// The search of a program, which is run once to know it again. Nobody else may keep another search there meanwhile.
    pub(super) fn new(
        path: &Path,
        identity: String,
        actors: Vec<String>,
        network: Network,
        program: &mut dyn Processes,
    ) -> Result<Self, Refused> {
        let claim =
            Claim::on(path).map_err(|unclaimed| Error::input(format!("{}: {unclaimed}", path.display())))?;
        let mut search = Search::new(network, Limits { depth: 10_000, ..Limits::default() }, Vec::new());
        search.run(program, &mut |_| true).map_err(Refused::By)?;
        let fingerprint = format!("{:016x}", search.fingerprint());
        Ok(Self {
            path: path.to_owned(),
            claim,
            program: identity,
            actors,
            network: format!("{network:?}").to_lowercase(),
            fingerprint,
        })
    }

    /// The search until now; one that has not begun if nothing is kept.
    pub(super) fn load(&self) -> Result<Frontier> {
        let text = simurgh_files::read_text(&self.path).map_err(|unreadable| self.error(unreadable))?;
        if text.is_empty() {
            // It was made when it was claimed, by this search or by one that was ended before it could keep anything.
            return Ok(Frontier::default());
        }
        let mut file: File = serde_json::from_str(&text).map_err(|error| {
            self.error(format!("not a search that was kept ({error}); remove it to begin anew"))
        })?;
        let sum = file.sum_of_rest();
        let mismatch = if file.format != FORMAT {
            Some("written by another version")
        } else if file.sum != sum {
            Some("a search that was changed after it was kept")
        } else if file.network != self.network && file.actors == self.actors {
            Some("the search of another network")
        } else if file.actors != self.actors || file.fingerprint != self.fingerprint {
            Some("the search of another program, or of this one with other options")
        } else if file.program != self.program {
            Some("the search of this program with other options, or before it was changed and built again")
        } else {
            None
        };
        if let Some(mismatch) = mismatch {
            return Err(self.error(format!("{mismatch}; remove it to begin anew")));
        }
        self.frontier(file).map_err(|error| self.error(format!("{error}; remove it to begin anew")))
    }

    fn frontier(&self, file: File) -> std::result::Result<Frontier, String> {
        let picks = |text: &String| text.split_whitespace().map(pick).collect::<Result<Vec<_>, _>>();
        let mut found = Vec::new();
        for one in file.found {
            let schedule =
                one.schedule.iter().map(|step| step.parse::<Step>()).collect::<Result<Vec<_>, _>>()?;
            let violation = match (one.message, one.actors.first()) {
                (Some(message), Some(&actor)) => Violation::Failed { actor, message },
                _ => Violation::Deadlock { actors: one.actors },
            };
            found.push((violation, schedule));
        }
        Ok(Frontier {
            found_earlier: false,
            found: Exploration {
                executions: file.executions,
                transitions: file.transitions,
                cut: file.cut,
                found,
                ..Exploration::default()
            },
            parts: file.parts.iter().map(picks).collect::<Result<_, _>>()?,
            depth: file.depth,
            posters: posters_of(file.traffic, &file.cuts),
        })
    }

    /// Keeps what is left.
    pub(super) fn save(&mut self, frontier: &Frontier) -> Result<Left> {
        let path = |picks: &Vec<Pick>| picks.iter().map(in_file).collect::<Vec<_>>().join(" ");
        let found = frontier.found.found.iter().map(|(violation, schedule)| {
            let (actors, message) = match violation {
                Violation::Failed { actor, message } => (vec![*actor], Some(message.clone())),
                Violation::Deadlock { actors } => (actors.clone(), None),
                Violation::Invariant { .. } | Violation::Varies { .. } => {
                    unreachable!("`receives` does not look at several actors, nor at several executions")
                }
            };
            Found { actors, message, schedule: schedule.iter().map(ToString::to_string).collect() }
        });
        let (traffic, cuts) = rows_of(&frontier.posters);
        let mut file = File {
            format: FORMAT.to_owned(),
            program: self.program.clone(),
            actors: self.actors.clone(),
            network: self.network.clone(),
            fingerprint: self.fingerprint.clone(),
            executions: frontier.found.executions,
            transitions: frontier.found.transitions,
            depth: frontier.depth,
            cut: frontier.found.cut,
            found: found.collect(),
            parts: frontier.parts.iter().map(path).collect(),
            traffic,
            cuts,
            sum: String::new(),
        };
        file.sum = file.sum_of_rest();
        let text = serde_json::to_string_pretty(&file).expect("plain data becomes JSON");
        self.claim.replace(text.as_bytes()).map_err(|unclaimed| self.error(unclaimed))?;
        Ok(Left { parts: frontier.parts.len(), path: self.path.clone() })
    }

    /// Nothing is left to be kept.
    pub(super) fn forget(self) {
        // Whoever goes on with it finds that nothing is left.
        let _ = self.claim.remove();
    }

    fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::input(format!("{}: {what}", self.path.display()))
    }
}

/// Options of `check` that say nothing about what is checked: those with a value, and those without.
const BOUNDS: &[&str] = &[
    "--time",
    "--memory",
    "--executions",
    "--depth",
    "--workers",
    "--stuck-after",
    "--resume",
    "--save",
    "--html",
    "--junit",
    "--sarif",
];
const FLAGS: &[&str] = &["--json", "--all", "--quiet", "-q"];

/// What a program is known by: a scenario by its text, any other by the file that is executed, by those that it is made of, and by its
/// arguments. Where what it does differs otherwise, the search is another one and nobody can tell.
pub(super) fn identity(origin: &Origin, made_of: &[PathBuf]) -> String {
    let of_file = |path: &Path| {
        let content = std::fs::read(path).unwrap_or_default();
        format!("{:032x}", fingerprint(&content))
    };
    match origin {
        Origin::Scenario(path) => of_file(path),
        Origin::Program { arguments, .. } => {
            let mut words =
                vec![std::env::current_exe().map_or_else(|_| String::new(), |path| of_file(&path))];
            let mut is_value = false;
            for word in arguments {
                let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(a, b)| (a, Some(b)));
                let is_bound = BOUNDS.contains(&name);
                if !is_value && !is_bound && !FLAGS.contains(&name) {
                    words.push(word.clone());
                }
                is_value = !is_value && is_bound && value.is_none();
            }
            words.extend(made_of.iter().map(|path| of_file(path)));
            words.join(" ")
        }
    }
}

/// How a pick is written in the file.
fn in_file(pick: &Pick) -> String {
    match pick {
        Pick::Meet(post) => format!("m{post}"),
        Pick::Later => "l".to_owned(),
        Pick::Member(index) => format!("w{index}"),
        Pick::None => "n".to_owned(),
        Pick::Number(number) => format!("c{number}"),
    }
}

/// Reads a pick as it is written in the file.
fn pick(text: &str) -> std::result::Result<Pick, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
    match text.split_at_checked(1) {
        Some(("m", post)) => number(post).map(Pick::Meet),
        Some(("w", index)) => number(index).map(Pick::Member),
        Some(("c", chosen)) => number(chosen).map(Pick::Number),
        Some(("l", "")) => Ok(Pick::Later),
        Some(("n", "")) => Ok(Pick::None),
        _ => Err(format!("{text:?} is not a pick: m, w or c with a number, l or n")),
    }
}
