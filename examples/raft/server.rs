//! A Raft server (Ongaro and Ousterhout: *In search of an understandable consensus algorithm*, 2014): leader election and
//! log replication. Whoever has something to be written asks its own server, which brings it to the leader.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_protocol::{Actor, ActorId, Durable, IdMap, IdSet, Out};

/// Something that is to be written into the log.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// At which server somebody asked for it.
    pub origin: ActorId,
    /// The how manyth of that server it is.
    pub number: u32,
    /// What it says.
    pub text: String,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({}.{})", self.text, self.origin, self.number)
    }
}

/// A place in the log.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The term of the leader that took it up.
    pub term: u32,
    /// What is written there; nothing, where a leader only wanted to know that all before it is committed.
    pub command: Option<Command>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            Some(command) => write!(f, "term {}: {command:?}", self.term),
            None => write!(f, "term {}: nothing", self.term),
        }
    }
}

/// What servers say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Msg {
    /// To oneself: somebody asks for this to be written.
    Typed(String),
    /// To the leader: write this.
    Forward(Command),
    /// Will you vote for me in this term? This is the term of my last entry, and how many I have.
    Vote {
        /// The term of the candidate.
        term: u32,
        /// The term of its last entry, and how many there are.
        last: (u32, usize),
    },
    /// I vote for you; or, if it is a later term than yours, you have missed something.
    Voted {
        /// The term of who answers.
        term: u32,
        /// Whether it is a vote.
        granted: bool,
    },
    /// From the leader: this comes after what we have in common.
    Append {
        /// The term of the leader.
        term: u32,
        /// The term of the entry before, and how many come before.
        previous: (u32, usize),
        /// What comes next.
        entries: Vec<Entry>,
        /// How many entries are committed.
        commit: usize,
    },
    /// So much of my log is as yours; or, where that is not known, so much I have at most.
    Appended {
        /// The term of who answers.
        term: u32,
        /// How many entries are the same.
        matched: Option<usize>,
        /// How many entries there are.
        length: usize,
    },
}

/// What survives a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Disk {
    /// The latest term that was heard of.
    pub term: u32,
    /// For whom this server has voted in that term.
    pub voted: Option<ActorId>,
    /// The log.
    pub log: Vec<Entry>,
    /// How many commands were asked for here.
    pub asked: u32,
}

/// What a server is in its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It listens to the leader.
    Follower,
    /// It wants to be the leader, and these have voted for it.
    Candidate(IdSet),
    /// It is the leader: for each follower, what comes next and how much is known to be the same.
    Leader(IdMap<(usize, usize)>),
}

/// What a server knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// What is on its disk.
    pub disk: Disk,
    /// What it is.
    pub role: Role,
    /// The leader of this term, if it is known.
    pub leader: Option<ActorId>,
    /// How many entries are known to be committed.
    pub commit: usize,
    /// What was asked for here and is not known to be committed.
    pub pending: Vec<Command>,
}

impl State {
    /// What is known to be committed. A local search asks for it in states that are none, where there is less.
    pub fn committed(&self) -> &[Entry] {
        &self.disk.log[..self.commit.min(self.disk.log.len())]
    }

    /// The commands among that.
    pub fn written(&self) -> impl Iterator<Item = &Command> {
        self.committed().iter().filter_map(|entry| entry.command.as_ref())
    }

    /// Whether it leads.
    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }
}

/// What can go off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Nothing was heard of a leader.
    Election,
    /// The leader shows that it lives.
    Heartbeat,
    /// What is pending is asked for again.
    Retry,
    /// What it was made for: it asks for something.
    Ask,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    /// How many there are.
    pub nodes: usize,
    /// What it asks for by itself.
    pub asks: Vec<String>,
    /// Beyond this term it does not want to be the leader, so that a checker comes to an end.
    pub terms_max: u32,
    /// Whether it wants to be a leader at all.
    pub ambitious: bool,
    /// Whether it repeats what may have been lost.
    pub persistent: bool,
    /// How long it waits for a leader: this long at least, and less than twice as long.
    pub patience: Duration,
    /// Votes without comparing logs.
    pub bug: bool,
}

/// How long servers wait for a leader, if nothing else is said.
pub const PATIENCE: Duration = Duration::from_millis(300);
const HEARTBEAT: Duration = Duration::from_millis(60);
const RETRY: Duration = Duration::from_millis(250);
const ASK: std::ops::Range<Duration> = Duration::from_millis(500)..Duration::from_millis(1000);

impl Server {
    /// One of several that runs for ever.
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes,
            asks: Vec::new(),
            terms_max: u32::MAX,
            ambitious: true,
            persistent: true,
            patience: PATIENCE,
            bug: false,
        }
    }

    fn others(&self, me: ActorId) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.nodes).map(ActorId::from).filter(move |other| *other != me)
    }

    fn majority(&self) -> usize {
        self.nodes / 2 + 1
    }

    /// Waits for news of a leader, or for votes.
    fn wait(&self, state: &State, out: &mut Out<Self>) {
        if self.ambitious && state.disk.term < self.terms_max {
            out.set_timer(Timer::Election, self.patience..2 * self.patience);
        } else {
            out.cancel_timer(Timer::Election);
        }
    }

    /// Goes on to a later term.
    fn follow(&self, state: &mut State, term: u32, out: &mut Out<Self>) {
        if state.leads() && self.persistent {
            out.cancel_timer(Timer::Heartbeat);
        }
        state.disk.term = term;
        state.disk.voted = None;
        (state.role, state.leader) = (Role::Follower, None);
        self.wait(state, out);
    }

    fn run_for_leader(&self, state: &mut State, out: &mut Out<Self>) {
        let me = out.me();
        self.follow(state, state.disk.term + 1, out);
        state.disk.voted = Some(me);
        state.role = Role::Candidate([me].into_iter().collect());
        out.broadcast(self.others(me), Msg::Vote { term: state.disk.term, last: last(&state.disk.log) });
    }

    fn lead(&self, state: &mut State, out: &mut Out<Self>) {
        let me = out.me();
        let mut followers = IdMap::default();
        for other in self.others(me) {
            followers.insert(other, (state.disk.log.len(), 0));
        }
        (state.role, state.leader) = (Role::Leader(followers), Some(me));
        out.cancel_timer(Timer::Election);
        // What earlier leaders have left is known to be committed once something of this term is.
        if state.commit < state.disk.log.len() {
            state.disk.log.push(Entry { term: state.disk.term, command: None });
        }
        for command in state.pending.clone() {
            self.take_up(state, &command);
        }
        self.append_all(state, out);
    }

    /// The leader writes something into its log, unless it is there.
    fn take_up(&self, state: &mut State, command: &Command) {
        let same = |other: &Command| (other.origin, other.number) == (command.origin, command.number);
        if !state.disk.log.iter().filter_map(|entry| entry.command.as_ref()).any(same) {
            state.disk.log.push(Entry { term: state.disk.term, command: Some(command.clone()) });
        }
    }

    fn append(&self, state: &State, to: ActorId, out: &mut Out<Self>) {
        let Role::Leader(followers) = &state.role else { return };
        let next = followers.get(to).map_or(0, |(next, _)| *next);
        let previous = last(&state.disk.log[..next]);
        let entries = state.disk.log[next..].to_vec();
        out.send(to, Msg::Append { term: state.disk.term, previous, entries, commit: state.commit });
    }

    fn append_all(&self, state: &State, out: &mut Out<Self>) {
        self.others(out.me()).for_each(|other| self.append(state, other, out));
        if self.persistent {
            out.set_timer(Timer::Heartbeat, HEARTBEAT);
        }
    }

    /// Brings what is pending to the leader.
    fn ask(&self, state: &mut State, out: &mut Out<Self>) {
        if state.leads() {
            for command in state.pending.clone() {
                self.take_up(state, &command);
            }
            self.append_all(state, out);
        } else if let Some(leader) = state.leader {
            state.pending.iter().for_each(|command| out.send(leader, Msg::Forward(command.clone())));
        }
        if self.persistent && !state.pending.is_empty() {
            out.set_timer(Timer::Retry, RETRY);
        }
    }

    fn typed(&self, state: &mut State, text: &str, out: &mut Out<Self>) {
        state.disk.asked += 1;
        let command = Command { origin: out.me(), number: state.disk.asked, text: text.to_owned() };
        state.pending.push(command);
        self.ask(state, out);
    }

    /// So many entries are committed.
    fn commit(&self, state: &mut State, commit: usize) {
        state.commit = commit;
        let State { pending, disk, .. } = state;
        let is_committed = |command: &Command| {
            disk.log[..commit].iter().any(|entry| entry.command.as_ref() == Some(command))
        };
        pending.retain(|command| !is_committed(command));
    }

    /// A follower has so much of the leader's log; what a majority has of this term is committed, and all before it.
    fn matched(&self, state: &mut State, from: ActorId, matched: usize, out: &mut Out<Self>) {
        let Role::Leader(followers) = &mut state.role else { return };
        let before = followers.get(from).map_or(0, |(_, before)| *before).max(matched);
        followers.insert(from, (before, before));
        let mut everywhere: Vec<usize> = followers.values().map(|(_, matched)| *matched).collect();
        everywhere.push(state.disk.log.len());
        everywhere.sort_unstable();
        let commit = everywhere[self.nodes - self.majority()];
        // What an earlier leader has begun may still be overwritten, however many have it.
        if commit > state.commit && state.disk.log[commit - 1].term == state.disk.term {
            self.commit(state, commit);
            self.append_all(state, out);
        }
    }

    fn appended(
        &self,
        state: &mut State,
        previous: (u32, usize),
        entries: &[Entry],
        commit: usize,
        out: &mut Out<Self>,
    ) -> Option<usize> {
        self.wait(state, out);
        let log = &mut state.disk.log;
        if previous.1 > log.len() || last(&log[..previous.1]) != previous {
            return None;
        }
        for (place, entry) in (previous.1..).zip(entries) {
            // What contradicts the leader is dropped; what only goes further is not, since this message may be late.
            if log.get(place).is_some_and(|mine| mine.term != entry.term) {
                log.truncate(place);
            }
            if place == log.len() {
                log.push(entry.clone());
            }
        }
        let matched = previous.1 + entries.len();
        if commit.min(matched) > state.commit {
            self.commit(state, commit.min(matched));
        }
        Some(matched)
    }
}

/// The term of the last entry, and how many there are.
fn last(log: &[Entry]) -> (u32, usize) {
    (log.last().map_or(0, |entry| entry.term), log.len())
}

impl Actor for Server {
    type Msg = Msg;
    type State = State;
    type Timer = Timer;

    fn on_start(&self, out: &mut Out<Self>) -> State {
        self.on_recover(&Disk::default(), out)
    }

    fn on_msg(&self, state: &mut State, from: ActorId, msg: &Msg, out: &mut Out<Self>) {
        let heard = match msg {
            Msg::Vote { term, .. } | Msg::Voted { term, .. } => *term,
            Msg::Append { term, .. } | Msg::Appended { term, .. } => *term,
            Msg::Typed(_) | Msg::Forward(_) => 0,
        };
        if heard > state.disk.term {
            self.follow(state, heard, out);
        }
        let term = state.disk.term;
        match msg {
            Msg::Typed(text) if from == out.me() => self.typed(state, text, out),
            // Nobody asks at the server of somebody else.
            Msg::Typed(_) => {}
            Msg::Forward(command) if state.leads() => {
                let before = state.disk.log.len();
                self.take_up(state, command);
                if state.disk.log.len() > before {
                    self.append_all(state, out);
                }
            }
            Msg::Forward(_) => {}
            Msg::Vote { term: of, .. } if *of < term => out.send(from, Msg::Voted { term, granted: false }),
            Msg::Vote { last: theirs, .. } => {
                let free = state.disk.voted.is_none_or(|voted| voted == from);
                if free && (self.bug || *theirs >= last(&state.disk.log)) {
                    state.disk.voted = Some(from);
                    self.wait(state, out);
                    out.send(from, Msg::Voted { term, granted: true });
                }
            }
            Msg::Voted { term: of, granted } => {
                if let Role::Candidate(votes) = &mut state.role
                    && *granted
                    && *of == term
                    && votes.insert(from)
                    && votes.len() >= self.majority()
                {
                    self.lead(state, out);
                }
            }
            Msg::Append { term: of, .. } if *of < term => {
                out.send(from, Msg::Appended { term, matched: None, length: state.disk.log.len() });
            }
            Msg::Append { previous, entries, commit, .. } => {
                (state.role, state.leader) = (Role::Follower, Some(from));
                let matched = self.appended(state, *previous, entries, *commit, out);
                out.send(from, Msg::Appended { term, matched, length: state.disk.log.len() });
            }
            Msg::Appended { term: of, matched, length } if *of == term => match (matched, &mut state.role) {
                (Some(matched), _) => self.matched(state, from, *matched, out),
                (None, Role::Leader(followers)) => {
                    let (next, matched) = followers.get(from).copied().unwrap_or_default();
                    let next = next.saturating_sub(1).min(*length).max(matched);
                    followers.insert(from, (next, matched));
                    self.append(state, from, out);
                }
                (None, _) => {}
            },
            Msg::Appended { .. } => {}
        }
    }

    fn on_timeout(&self, state: &mut State, timer: &Timer, out: &mut Out<Self>) {
        match timer {
            Timer::Election => self.run_for_leader(state, out),
            Timer::Heartbeat if state.leads() => self.append_all(state, out),
            Timer::Heartbeat => {}
            Timer::Retry => self.ask(state, out),
            Timer::Ask => {
                if let Some(text) = self.asks.get(state.disk.asked as usize).cloned() {
                    self.typed(state, &text, out);
                    if self.asks.len() > state.disk.asked as usize {
                        out.set_timer(Timer::Ask, ASK);
                    }
                }
            }
        }
    }
}

impl Durable for Server {
    type Stored = Disk;

    fn stored(&self, state: &State) -> Disk {
        state.disk.clone()
    }

    fn on_recover(&self, disk: &Disk, out: &mut Out<Self>) -> State {
        if self.asks.len() > disk.asked as usize {
            out.set_timer(Timer::Ask, ASK);
        }
        let state =
            State { disk: disk.clone(), role: Role::Follower, leader: None, commit: 0, pending: Vec::new() };
        self.wait(&state, out);
        state
    }
}
