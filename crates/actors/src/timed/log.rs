//! What a run was like: who met whom and what each request came to, as the interposers of all actors wrote it down.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use simurgh_explore::receives::reads_from::{Outcome, Place, ReadsFrom};
use simurgh_kernel::ids::{MailboxId, SemaphoreId};
use simurgh_kernel::operation::{Side, Token};
use simurgh_models::SimTime;

use crate::api::Shared;

/// Where two posts meet: a mailbox, or a lock or semaphore with its tokens.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Spot {
    Mailbox(MailboxId),
    Token(Token),
}

/// Why a run cannot be like its way, or why its way is not known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// An actor does something that is not steered.
    Unknown(&'static str),
    /// Something went another way: who, and what.
    Strayed {
        /// The actor's name.
        actor: String,
        /// What happened.
        what: String,
    },
}

/// A message that an actor received, or a receive that got none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receive {
    /// The mailbox.
    pub mailbox: String,
    /// Who sent the message, and which of its messages to this mailbox it was, counted from 1. `None` if it never came.
    pub from: Option<(String, u32)>,
}

/// What one actor did in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// The actor's name.
    pub actor: String,
    /// What it received, in the order in which it posted its receives.
    pub receives: Vec<Receive>,
    /// What else was left open: which member each wait for several took, what each test found, what was chosen.
    pub choices: Vec<Outcome>,
}

/// What an interposer is told of a post of a steered actor.
#[derive(Copy, Clone, Debug)]
pub(super) struct Posted {
    pub(super) place: Place,
    pub(super) partner: Option<Place>,
}

#[derive(Debug, Default)]
struct ActorLog {
    name: String,
    daemon: bool,
    outcomes: Vec<Outcome>,
    choices: Vec<Outcome>,
    posts: Vec<PostLog>,
}

#[derive(Copy, Clone, Debug)]
struct PostLog {
    /// Where it is among the outcomes.
    outcome: usize,
    spot: Spot,
    side: Side,
    /// Where nothing is prescribed: when it met its partner.
    met: Option<SimTime>,
}

impl PostLog {
    fn is_send(&self) -> bool {
        self.side.is_send()
    }
}

/// A post that has not met anybody.
#[derive(Copy, Clone, Debug)]
struct Open {
    place: Place,
    side: Side,
    /// When it was posted.
    since: SimTime,
    /// Whether its actor has ended, and with it the post. The exploration lets it stay.
    gone: bool,
}

#[derive(Debug, Default)]
struct State {
    actors: Vec<ActorLog>,
    /// Posts that have not met, oldest first.
    open: BTreeMap<Spot, VecDeque<Open>>,
    tokens: BTreeMap<Place, SemaphoreId>,
    trouble: Option<Trouble>,
}

/// The log of a run.
#[derive(Debug)]
pub(super) struct Log {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

impl Log {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next actor, as this process: those of the start in order, and others as they come.
    pub(super) fn add(&self, process: Option<u32>, name: &str, daemon: bool) -> u32 {
        let mut state = self.state();
        let process = process.map_or(state.actors.len(), |process| process as usize);
        // A steered run may create actors in another order than its way.
        while state.actors.len() <= process {
            let empty = ActorLog { daemon: true, ..ActorLog::default() };
            state.actors.push(empty);
        }
        let actor = &mut state.actors[process];
        (actor.name, actor.daemon) = (name.to_owned(), daemon);
        process as u32
    }

    pub(super) fn name(&self, process: u32) -> String {
        self.state().actors[process as usize].name.clone()
    }

    pub(super) fn become_daemon(&self, process: u32) {
        self.state().actors[process as usize].daemon = true;
    }

    /// The first trouble is the one that counts: others follow from it.
    pub(super) fn trouble(&self, trouble: Trouble) {
        self.state().trouble.get_or_insert(trouble);
    }

    pub(super) fn take_trouble(&self) -> Option<Trouble> {
        self.state().trouble.take()
    }

    /// How many of the requests of an actor came to something until now.
    pub(super) fn count(&self, process: u32) -> usize {
        self.state().actors[process as usize].outcomes.len()
    }

    /// What a request came to, and whether it could have come to something else.
    pub(super) fn came(&self, process: u32, outcome: Outcome, open: bool) {
        let actor = &mut self.state().actors[process as usize];
        actor.outcomes.push(outcome);
        actor.choices.extend(open.then_some(outcome));
    }

    /// A post of an actor whose partner is known. It meets nobody else.
    pub(super) fn posted(
        &self,
        process: u32,
        spot: Spot,
        side: Side,
        partner: Option<Place>,
        now: SimTime,
    ) -> Place {
        let mut state = self.state();
        let place = state.post(process, spot, side, partner);
        let open = state.open.entry(spot).or_default();
        match open.iter().position(|other| Some(other.place) == partner) {
            None => open.push_back(Open { place, side, since: now, gone: false }),
            Some(found) => drop(open.remove(found)),
        }
        place
    }

    /// A post of an actor that goes its own way. It meets the oldest that it may, as in the kernel.
    pub(super) fn meet(&self, process: u32, spot: Spot, side: Side, now: SimTime) -> Place {
        let mut state = self.state();
        let place = state.post(process, spot, side, None);
        let first = state.open.get(&spot).and_then(|open| open.iter().find(|other| side.meets(&other.side)));
        if let Some(&passed) = first.filter(|other| other.gone) {
            let actor = state.actors[passed.place.process as usize].name.clone();
            let what = "ends before it meets whom it would meet".to_owned();
            state.trouble.get_or_insert(Trouble::Strayed { actor, what });
        }
        if !state.pair(place, now) {
            let open = state.open.entry(spot).or_default();
            open.push_back(Open { place, side, since: now, gone: false });
        }
        place
    }

    /// The actor of a post has ended.
    pub(super) fn leave(&self, place: Place) {
        let mut state = self.state();
        for open in state.open.values_mut().flatten().filter(|open| open.place == place) {
            open.gone = true;
        }
    }

    /// Whether somebody is there, and was before this date, whom a post could meet if nothing else were prescribed.
    pub(super) fn has_company(&self, place: Place, now: SimTime) -> bool {
        let state = self.state();
        let PostLog { spot, side, .. } = *state.post_at(place);
        let could_meet = |other: &Open| !other.gone && other.since < now && side.meets(&other.side);
        state.open.get(&spot).is_some_and(|open| open.iter().any(could_meet))
    }

    /// Takes a post back. False if it has met somebody: then it is too late.
    pub(super) fn withdraw(&self, place: Place) -> bool {
        self.state().withdraw(place)
    }

    /// Takes back a post for which there is no more time, at this date. False if it had met somebody before.
    ///
    /// Who gives up at the very instant at which somebody comes is gone by then: the kernel lets timeouts win, and this
    /// log hears of them a little later. Then the one who came meets the next in line.
    pub(super) fn give_up(&self, place: Place, now: SimTime) -> bool {
        let mut state = self.state();
        let post = *state.post_at(place);
        if let Some(partner) = state.partner(place).filter(|_| post.met == Some(now)) {
            state.set_partner(place, None);
            state.set_partner(partner, None);
            if !state.pair(partner, now) {
                let side = state.post_at(partner).side;
                let open = state.open.entry(post.spot).or_default();
                open.push_front(Open { place: partner, side, since: now, gone: false });
            }
            return true;
        }
        state.withdraw(place)
    }

    /// The semaphore of a token of its own: whoever takes this one waits until it is given, and nobody else gets it.
    pub(super) fn token(&self, place: Place) -> SemaphoreId {
        let mut state = self.state();
        *state.tokens.entry(place).or_insert_with(|| SemaphoreId(self.shared.next_object()))
    }

    /// The way that the run took.
    pub(super) fn way(&self) -> ReadsFrom {
        ReadsFrom { processes: self.state().actors.iter().map(|actor| actor.outcomes.clone()).collect() }
    }

    /// The first actor that has not done all that a way says of it. Daemons end with the others, wherever they are.
    pub(super) fn behind(&self, way: &ReadsFrom) -> Option<String> {
        let state = self.state();
        let mut actors = state.actors.iter().zip(&way.processes);
        actors
            .find(|(actor, wanted)| !actor.daemon && actor.outcomes != **wanted)
            .map(|(actor, _)| actor.name.clone())
    }

    /// What each actor did.
    pub(super) fn stories(&self) -> Vec<Story> {
        let state = self.state();
        state.actors.iter().map(|actor| self.story(&state, actor)).collect()
    }

    fn story(&self, state: &State, actor: &ActorLog) -> Story {
        let receives = actor.posts.iter().filter_map(|post| match (post.spot, post.is_send()) {
            (Spot::Mailbox(mailbox), false) => Some((post, mailbox)),
            _ => None,
        });
        let receives = receives.map(|(post, mailbox)| {
            let from = match actor.outcomes[post.outcome] {
                Outcome::Posted { partner } => partner.map(|partner| state.sender(partner, post.spot)),
                _ => None,
            };
            Receive { mailbox: self.shared.mailbox_name(mailbox), from }
        });
        Story { actor: actor.name.clone(), receives: receives.collect(), choices: actor.choices.clone() }
    }
}

impl State {
    fn post(&mut self, process: u32, spot: Spot, side: Side, partner: Option<Place>) -> Place {
        let actor = &mut self.actors[process as usize];
        let place = Place { process, post: actor.posts.len() as u32 };
        actor.posts.push(PostLog { outcome: actor.outcomes.len(), spot, side, met: None });
        actor.outcomes.push(Outcome::Posted { partner });
        place
    }

    fn post_at(&self, place: Place) -> &PostLog {
        &self.actors[place.process as usize].posts[place.post as usize]
    }

    fn partner(&self, place: Place) -> Option<Place> {
        match self.actors[place.process as usize].outcomes[self.post_at(place).outcome] {
            Outcome::Posted { partner } => partner,
            _ => unreachable!("a post is where its log says"),
        }
    }

    fn withdraw(&mut self, place: Place) -> bool {
        let spot = self.post_at(place).spot;
        let is_alone = self.partner(place).is_none();
        if let Some(open) = self.open.get_mut(&spot).filter(|_| is_alone) {
            open.retain(|other| other.place != place);
        }
        is_alone
    }

    /// Lets a post meet the oldest that it may. False if there is none.
    fn pair(&mut self, place: Place, now: SimTime) -> bool {
        let PostLog { spot, side, .. } = *self.post_at(place);
        let Some(open) = self.open.get_mut(&spot) else { return false };
        let Some(found) = open.iter().position(|other| side.meets(&other.side) && !other.gone) else {
            return false;
        };
        let Open { place: other, .. } = open.remove(found).expect("it was just found");
        self.set_partner(place, Some((other, now)));
        self.set_partner(other, Some((place, now)));
        true
    }

    fn set_partner(&mut self, place: Place, partner: Option<(Place, SimTime)>) {
        let actor = &mut self.actors[place.process as usize];
        let post = &mut actor.posts[place.post as usize];
        post.met = partner.map(|(_, date)| date);
        actor.outcomes[post.outcome] = Outcome::Posted { partner: partner.map(|(other, _)| other) };
    }

    /// Who posted a send, and which of its sends to this place it is.
    fn sender(&self, send: Place, spot: Spot) -> (String, u32) {
        let Some(actor) = self.actors.get(send.process as usize) else { return ("?".to_owned(), 0) };
        let before = actor.posts.iter().take(send.post as usize + 1);
        let number = before.filter(|post| post.is_send() && post.spot == spot).count();
        (actor.name.clone(), number as u32)
    }
}
