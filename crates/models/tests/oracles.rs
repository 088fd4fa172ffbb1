//! The 150 runs of the reference, played on the models alone by the plainest of kernels.
//!
//! Skipped where the runs are not beside the repository.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simurgh_models::*;
use simurgh_platform::{HostId, Platform};

#[test]
fn every_run_of_the_reference_is_played_to_the_digit() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let mut names: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    names.sort();
    let mut wrong = Vec::new();
    for path in &names {
        for solver in [Solver::Incremental, Solver::Obvious] {
            if let Err(difference) = check(path, solver) {
                wrong.push(format!("{} ({solver:?}): {difference}", path.file_stem().unwrap().display()));
            }
        }
    }
    assert_eq!(names.len(), 150, "the runs are all there");
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), 2 * names.len(), wrong.join("\n"));
}

fn check(path: &Path, solver: Solver) -> Result<(), String> {
    let scenario = Scenario::read(path);
    let mut config = scenario.config;
    config.solver = solver;
    config.whole_bytes = true;
    let platform = Arc::new(Platform::from_file(&scenario.platform).map_err(|error| error.to_string())?);
    let mut player = Player::new(platform, &config, scenario.actors);
    player.run();
    let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
    let mut answers = player.answers;
    for line in expected.lines().filter(|line| !line.starts_with("end ")) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let key = (words[0].to_string(), words[1].parse().unwrap());
        let Some((date, how)) = answers.remove(&key) else { return Err(format!("no line for \"{line}\"")) };
        let wanted: f64 = words[2].parse().unwrap();
        if (date - wanted).abs() > 1e-8 * wanted.max(1.0) || how != words[3] {
            return Err(format!("\"{line}\", but here {date:.9} {how}"));
        }
    }
    match answers.into_iter().next() {
        Some(((actor, index), (date, how))) => Err(format!("too much: {actor} {index} {date} {how}")),
        None => Ok(()),
    }
}

struct Scenario {
    platform: PathBuf,
    config: Config,
    actors: Vec<(String, String, Vec<String>)>,
}

impl Scenario {
    fn read(path: &Path) -> Scenario {
        let text = std::fs::read_to_string(path).unwrap();
        let mut scenario =
            Scenario { platform: PathBuf::new(), config: Config::default(), actors: Vec::new() };
        for line in text.lines().map(str::trim) {
            let pair =
                line.split_once(" = ").map(|(key, value)| (key.trim_matches('"'), value.trim_matches('"')));
            match pair {
                _ if line.starts_with("[[actor]]") => {
                    scenario.actors.push((String::new(), String::new(), Vec::new()));
                }
                Some(("platform", file)) => scenario.platform = path.with_file_name(file),
                Some(("name", name)) => scenario.actors.last_mut().unwrap().0 = name.to_string(),
                Some(("host", host)) => scenario.actors.last_mut().unwrap().1 = host.to_string(),
                Some(("do", _)) => {}
                Some((key, value)) => {
                    scenario.config.set(key, value).unwrap();
                }
                None if line.starts_with('"') => {
                    let operation = line.trim_end_matches(',').trim_matches('"');
                    scenario.actors.last_mut().unwrap().2.push(operation.to_string());
                }
                None => {}
            }
        }
        scenario
    }
}

#[derive(Copy, Clone, PartialEq, Debug)]
enum CommState {
    Unmatched,
    Moving(ActionId),
    Over(&'static str),
}

struct Comm {
    mailbox: String,
    sender: Option<usize>,
    receiver: Option<usize>,
    bytes: f64,
    rate: Option<f64>,
    state: CommState,
    detached: bool,
    waiters: Vec<usize>,
}

#[derive(Clone, PartialEq, Debug)]
enum Blocked {
    No,
    Comm(usize, Option<ActionId>),
    All,
    Any,
    Work(ActionId),
    Dead,
}

struct Actor {
    name: String,
    host: HostId,
    operations: Vec<String>,
    next: usize,
    pending: Vec<usize>,
    blocked: Blocked,
}

struct Player {
    models: Models,
    actors: Vec<Actor>,
    comms: Vec<Comm>,
    /// Unmatched sends, or unmatched receives.
    mailboxes: BTreeMap<String, VecDeque<usize>>,
    ready: VecDeque<usize>,
    answers: BTreeMap<(String, usize), (f64, String)>,
}

const COMM: u64 = 1 << 40;
const TIMEOUT: u64 = 1 << 41;

impl Player {
    fn new(platform: Arc<Platform>, config: &Config, actors: Vec<(String, String, Vec<String>)>) -> Player {
        let actors: Vec<Actor> = actors
            .into_iter()
            .map(|(name, host, operations)| Actor {
                name,
                host: platform.host_named(&host).unwrap(),
                operations,
                next: 0,
                pending: Vec::new(),
                blocked: Blocked::No,
            })
            .collect();
        Player {
            models: Models::new(platform, config).unwrap(),
            ready: (0..actors.len()).collect(),
            actors,
            comms: Vec::new(),
            mailboxes: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }

    fn run(&mut self) {
        let mut step = Step::default();
        loop {
            while let Some(actor) = self.ready.pop_front() {
                self.turn(actor);
            }
            if self.models.step(None, &mut step) == Progress::Idle {
                return;
            }
            for &change in &step.changes {
                if let Change::HostOff(host) = change {
                    for actor in 0..self.actors.len() {
                        if self.actors[actor].host == host {
                            self.end_actor(actor);
                        }
                    }
                }
            }
            for ended in step.ended.clone() {
                self.ended(ended);
            }
        }
    }

    fn ended(&mut self, ended: Ended) {
        if ended.token & COMM != 0 {
            let comm = (ended.token - COMM) as usize;
            if self.comms[comm].state == CommState::Moving(ended.action) {
                let how = if ended.outcome == Outcome::Done { "ok" } else { "failure" };
                self.comm_over(comm, how);
            }
        } else if ended.token & TIMEOUT != 0 {
            let actor = (ended.token - TIMEOUT) as usize;
            if let Blocked::Comm(comm, Some(timer)) = self.actors[actor].blocked
                && timer == ended.action
            {
                self.leave_mailbox(comm);
                if let CommState::Moving(action) = self.comms[comm].state {
                    self.models.cancel(action);
                }
                self.comm_over(comm, "timeout");
            }
        } else {
            let actor = ended.token as usize;
            if self.actors[actor].blocked == Blocked::Work(ended.action) && ended.outcome == Outcome::Done {
                self.answer(actor, "ok");
            }
        }
    }

    fn answer(&mut self, actor: usize, how: &str) {
        let this = &mut self.actors[actor];
        if let Blocked::Comm(_, Some(timer)) = this.blocked {
            self.models.cancel(timer);
        }
        this.blocked = Blocked::No;
        let date = self.models.now().seconds();
        self.answers.insert((this.name.clone(), this.next), (date, how.to_string()));
        this.next += 1;
        self.ready.push_back(actor);
    }

    fn turn(&mut self, actor: usize) {
        if self.actors[actor].blocked == Blocked::Dead {
            return;
        }
        let this = &self.actors[actor];
        let Some(operation) = this.operations.get(this.next).cloned() else {
            self.end_actor(actor);
            return;
        };
        let host = this.host;
        let words: Vec<&str> = operation.split_whitespace().collect();
        let number = |position: usize| words[position].parse::<f64>().unwrap();
        let option = |name: &str| {
            words.iter().position(|word| *word == name).map(|place| words[place + 1].parse::<f64>().unwrap())
        };
        match words[0] {
            "sleep" => {
                if number(1) <= 0.0 {
                    return self.answer(actor, "ok");
                }
                let timer = self.models.timer(number(1), actor as u64);
                self.actors[actor].blocked = Blocked::Work(timer);
            }
            "exec" => {
                let what = Execution {
                    priority: option("priority").unwrap_or(1.0),
                    bound: option("bound"),
                    ..Execution::new(host, number(1))
                };
                let action = self.models.execute(what, actor as u64).unwrap();
                self.actors[actor].blocked = Blocked::Work(action);
            }
            "read" | "write" => {
                let disk = self.models.platform().disk_named(host, words[1]).unwrap();
                let direction = if words[0] == "read" { Direction::Read } else { Direction::Write };
                let action =
                    self.models.io(DiskAccess::new(disk, direction, number(2)), actor as u64).unwrap();
                self.actors[actor].blocked = Blocked::Work(action);
            }
            "send" | "isend" | "dsend" => {
                let comm = self.post(words[1], actor, true, number(2), option("rate"), words[0] == "dsend");
                self.after_post(actor, comm, words[0], option("timeout"));
            }
            "recv" | "irecv" => {
                let comm = self.post(words[1], actor, false, 0.0, option("rate"), false);
                self.after_post(actor, comm, words[0], option("timeout"));
            }
            "waitall" => {
                self.actors[actor].blocked = Blocked::All;
                self.look(actor);
            }
            "waitany" => {
                self.actors[actor].blocked = Blocked::Any;
                self.look(actor);
            }
            other => panic!("unknown operation {other}"),
        }
    }

    fn after_post(&mut self, actor: usize, comm: usize, kind: &str, timeout: Option<f64>) {
        match kind {
            "send" | "recv" => {
                let timer = timeout.map(|timeout| self.models.timer(timeout, TIMEOUT + actor as u64));
                self.actors[actor].blocked = Blocked::Comm(comm, timer);
                self.comms[comm].waiters.push(actor);
                self.look(actor);
            }
            "dsend" => self.answer(actor, "ok"),
            _ => {
                self.actors[actor].pending.push(comm);
                self.answer(actor, "ok");
            }
        }
    }

    fn post(
        &mut self,
        mailbox: &str,
        actor: usize,
        sends: bool,
        bytes: f64,
        rate: Option<f64>,
        detached: bool,
    ) -> usize {
        let queue = self.mailboxes.entry(mailbox.to_string()).or_default();
        let waiting = queue.front().copied().filter(|&comm| self.comms[comm].sender.is_some() != sends);
        let comm = match waiting {
            Some(comm) => {
                queue.pop_front();
                comm
            }
            None => {
                queue.push_back(self.comms.len());
                self.comms.push(Comm {
                    mailbox: mailbox.to_string(),
                    sender: None,
                    receiver: None,
                    bytes: 0.0,
                    rate: None,
                    state: CommState::Unmatched,
                    detached: false,
                    waiters: Vec::new(),
                });
                self.comms.len() - 1
            }
        };
        let this = &mut self.comms[comm];
        if sends {
            this.sender = Some(actor);
            this.bytes = bytes;
            this.rate = rate;
            this.detached = detached;
        } else {
            this.receiver = Some(actor);
        }
        if let (Some(sender), Some(receiver)) = (this.sender, this.receiver) {
            let ends = [sender, receiver].map(|actor| self.actors[actor].host);
            let what = Transfer { rate: this.rate, ..Transfer::new(ends[0], ends[1], this.bytes) };
            match self.models.transfer(what, COMM + comm as u64) {
                Ok(action) => self.comms[comm].state = CommState::Moving(action),
                Err(Refused::Off(_)) => self.comm_over(comm, "failure"),
                Err(other) => panic!("{other}"),
            }
        }
        comm
    }

    fn leave_mailbox(&mut self, comm: usize) {
        if let Some(queue) = self.mailboxes.get_mut(&self.comms[comm].mailbox) {
            queue.retain(|&other| other != comm);
        }
    }

    fn comm_over(&mut self, comm: usize, how: &'static str) {
        self.comms[comm].state = CommState::Over(how);
        for actor in std::mem::take(&mut self.comms[comm].waiters) {
            self.look(actor);
        }
    }

    /// Whether what an actor waits for is over.
    fn look(&mut self, actor: usize) {
        match self.actors[actor].blocked.clone() {
            Blocked::Comm(comm, _) => {
                if let CommState::Over(how) = self.comms[comm].state {
                    self.answer(actor, how);
                }
            }
            Blocked::All => loop {
                let Some(&comm) = self.actors[actor].pending.first() else { return self.answer(actor, "ok") };
                match self.comms[comm].state {
                    CommState::Over("ok") => {
                        self.actors[actor].pending.remove(0);
                    }
                    CommState::Over(how) => return self.answer(actor, how),
                    _ => {
                        if !self.comms[comm].waiters.contains(&actor) {
                            self.comms[comm].waiters.push(actor);
                        }
                        return;
                    }
                }
            },
            Blocked::Any => {
                let pending = self.actors[actor].pending.clone();
                for (place, &comm) in pending.iter().enumerate() {
                    if let CommState::Over(how) = self.comms[comm].state {
                        if how == "ok" {
                            self.actors[actor].pending.remove(place);
                            return self.answer(actor, &format!("ok {place}"));
                        }
                        return self.answer(actor, how);
                    }
                }
                for comm in pending {
                    if !self.comms[comm].waiters.contains(&actor) {
                        self.comms[comm].waiters.push(actor);
                    }
                }
            }
            Blocked::No | Blocked::Work(_) | Blocked::Dead => {}
        }
    }

    fn end_actor(&mut self, actor: usize) {
        let blocked = std::mem::replace(&mut self.actors[actor].blocked, Blocked::Dead);
        if let Blocked::Work(action) | Blocked::Comm(_, Some(action)) = blocked {
            self.models.cancel(action);
        }
        let mut left = std::mem::take(&mut self.actors[actor].pending);
        if let Blocked::Comm(comm, _) = blocked {
            left.push(comm);
        }
        for comm in left {
            match self.comms[comm].state {
                CommState::Unmatched => self.leave_mailbox(comm),
                CommState::Moving(action) => {
                    self.models.cancel(action);
                    self.comm_over(comm, "failure");
                }
                CommState::Over(_) => {}
            }
        }
    }
}
