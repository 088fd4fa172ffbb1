//! The specification (specs/Primitives.tla) in Rust: slow and obvious, and knowing nothing of the kernel.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_explore::Network;

use super::data::{
    ACTORS, Accepts, Ask, By, Choice, Envelope, Follow, MAILBOXES, Observation, Post, Taken, Told,
};

/// What is known of a post.
#[derive(Clone, Debug)]
enum Record {
    Send { mailbox: u32, envelope: Envelope, detached: bool },
    Recv { mailbox: u32, accepts: Accepts },
}

impl Record {
    fn mailbox(&self) -> u32 {
        match self {
            Record::Send { mailbox, .. } | Record::Recv { mailbox, .. } => *mailbox,
        }
    }

    fn context(&self) -> u32 {
        match self {
            Record::Send { envelope, .. } => envelope.0,
            Record::Recv { accepts, .. } => accepts.context,
        }
    }
}

/// A state of the specification.
#[derive(Clone, Debug)]
pub struct Model {
    network: Network,
    /// Whether a post meets the newest that fits, which is wrong.
    newest: bool,
    posts: BTreeMap<Post, Record>,
    travel: BTreeSet<Post>,
    sends: Vec<Vec<Post>>,
    recvs: Vec<Vec<Post>>,
    met: BTreeSet<(Post, Post)>,
    gone: BTreeSet<Post>,
    open: Vec<BTreeSet<Post>>,
    read: BTreeSet<Post>,
    must: Vec<Option<Ask>>,
    told: Vec<Told>,
    alive: Vec<bool>,
}

impl Model {
    pub fn new(network: Network) -> Self {
        let (actors, mailboxes) = (ACTORS as usize, MAILBOXES as usize);
        Self {
            network,
            newest: false,
            posts: BTreeMap::new(),
            travel: BTreeSet::new(),
            sends: vec![Vec::new(); mailboxes],
            recvs: vec![Vec::new(); mailboxes],
            met: BTreeSet::new(),
            gone: BTreeSet::new(),
            open: vec![BTreeSet::new(); actors],
            read: BTreeSet::new(),
            must: vec![None; actors],
            told: vec![Told::Silence; actors],
            alive: vec![true; actors],
        }
    }

    /// A specification that is wrong: a post meets the newest that fits.
    pub fn broken(network: Network) -> Self {
        Self { newest: true, ..Self::new(network) }
    }

    /// What is wrong with what an actor asks, if something is.
    pub fn may_ask(&self, actor: usize, ask: Option<&Ask>) -> Result<(), String> {
        let Some(ask) = ask else {
            return if self.alive[actor] { Err(format!("{actor} lives and asks nothing")) } else { Ok(()) };
        };
        let own = |set: &BTreeSet<Post>| set.is_subset(&self.open[actor]);
        let allowed = match (&self.must[actor], ask) {
            _ if !self.alive[actor] => false,
            (Some(must), ask) => must == ask,
            (None, Ask::Wait { set, .. } | Ask::Test { set }) => own(set),
            (None, Ask::Cancel { post }) => self.open[actor].contains(post),
            _ => true,
        };
        if allowed { Ok(()) } else { Err(format!("{actor} asks {ask:?}")) }
    }

    /// What may happen next, given what each actor asks.
    pub fn enabled(&self, asks: &[Option<Ask>]) -> BTreeSet<Taken> {
        let mut all = BTreeSet::new();
        for (actor, ask) in asks.iter().enumerate().filter(|(actor, _)| self.alive[*actor]) {
            let by = By::Actor(actor as u32);
            let choices = ask.as_ref().map_or_else(Vec::new, |ask| self.choices(ask));
            all.extend(choices.into_iter().map(|choice| Taken { by, choice }));
        }
        for &post in self.travel.iter().filter(|post| self.may_arrive(**post)) {
            let by = match self.network {
                Network::Pairwise => {
                    let record = &self.posts[&post];
                    By::Channel(post.0, record.mailbox(), record.context())
                }
                _ => By::Message(post),
            };
            all.insert(Taken { by, choice: Choice::Post(post) });
        }
        all
    }

    fn choices(&self, ask: &Ask) -> Vec<Choice> {
        let (set, otherwise) = match ask {
            Ask::Wait { set, timed, .. } => (set, *timed),
            Ask::Test { set } => (set, true),
            Ask::Local { choices } => return (0..*choices).map(Choice::Number).collect(),
            _ => return vec![Choice::Only],
        };
        let over: Vec<Choice> =
            set.iter().filter(|post| self.is_over(**post)).map(|&post| Choice::Post(post)).collect();
        if over.is_empty() && otherwise { vec![Choice::Only] } else { over }
    }

    fn may_arrive(&self, post: Post) -> bool {
        let overtaken = |other: &Post| {
            other.0 == post.0
                && other.1 < post.1
                && self.posts[other].mailbox() == self.posts[&post].mailbox()
                && self.posts[other].context() == self.posts[&post].context()
        };
        self.network == Network::Unordered || !self.travel.iter().any(overtaken)
    }

    fn partner(&self, post: Post) -> Option<Post> {
        let &(recv, send) = self.met.iter().find(|pair| pair.0 == post || pair.1 == post)?;
        Some(if recv == post { send } else { recv })
    }

    fn is_over(&self, post: Post) -> bool {
        self.gone.contains(&post) || self.partner(post).is_some()
    }

    /// Takes a step.
    pub fn apply(&mut self, asks: &[Option<Ask>], step: Taken) {
        let By::Actor(actor) = step.by else {
            let Choice::Post(post) = step.choice else { panic!("a message arrives") };
            self.travel.remove(&post);
            if !self.gone.contains(&post) {
                self.reach(post);
            }
            return;
        };
        let p = actor as usize;
        let ask = asks[p].clone().expect("an actor that acts has asked something");
        self.told[p] = match (ask, step.choice) {
            (Ask::Send { mailbox, context, tag, follow }, _) => {
                let detached = follow == Follow::Detach;
                let envelope = (context, actor, tag);
                self.post(actor, Record::Send { mailbox, envelope, detached }, follow)
            }
            (Ask::Recv { mailbox, accepts, follow }, _) => {
                self.post(actor, Record::Recv { mailbox, accepts }, follow)
            }
            (Ask::Wait { release, .. }, Choice::Post(post)) => self.take(p, post, release),
            (Ask::Test { .. }, Choice::Post(post)) => self.take(p, post, false),
            (Ask::Wait { set, giveup, release, .. }, _) => {
                self.must[p] = None;
                if release {
                    self.open[p].retain(|post| !set.contains(post));
                }
                if giveup {
                    self.take_back(&set);
                }
                Told::Timeout
            }
            (Ask::Test { .. }, _) => Told::Nothing,
            (Ask::Local { .. }, Choice::Number(number)) => Told::Chosen(number),
            (Ask::Local { .. }, _) => panic!("a number is chosen"),
            (Ask::Cancel { post }, _) => {
                self.take_back(&BTreeSet::from([post]));
                Told::Ready
            }
            (Ask::Probe { mailbox, accepts }, _) => {
                let queue = &self.sends[mailbox as usize];
                let fits = |post: &Post| matches!(&self.posts[post], Record::Send { envelope, .. } if accepts.admits(*envelope));
                let found = self.oldest(queue, fits).map(|place| &self.posts[&queue[place]]);
                Told::Probed(found.map(|record| match record {
                    Record::Send { envelope, .. } => *envelope,
                    Record::Recv { .. } => unreachable!("a queue of sends"),
                }))
            }
            (Ask::Exit, _) => {
                let left = |(post, record): (&Post, &Record)| {
                    let detached = matches!(record, Record::Send { detached: true, .. });
                    (post.0 == actor && !detached).then_some(*post)
                };
                let left: BTreeSet<Post> = self.posts.iter().filter_map(left).collect();
                self.take_back(&left);
                self.alive[p] = false;
                self.open[p].clear();
                Told::Silence
            }
        };
    }

    fn post(&mut self, actor: u32, record: Record, follow: Follow) -> Told {
        let p = actor as usize;
        let post = (actor, self.posts.keys().filter(|post| post.0 == actor).count() as u32);
        let travels = matches!(record, Record::Send { .. }) && self.network != Network::Mailbox;
        self.posts.insert(post, record);
        if follow != Follow::Detach {
            self.open[p].insert(post);
        }
        if matches!(follow, Follow::Wait | Follow::Timed) {
            let timed = follow == Follow::Timed;
            let set = BTreeSet::from([post]);
            self.must[p] = Some(Ask::Wait { set, timed, giveup: timed, release: true });
        }
        if travels {
            self.travel.insert(post);
        } else {
            self.reach(post);
        }
        Told::Posted(post)
    }

    /// A post reaches its mailbox.
    fn reach(&mut self, post: Post) {
        let record = self.posts[&post].clone();
        let mailbox = record.mailbox() as usize;
        match record {
            Record::Send { envelope, .. } => {
                let fits = |other: &Post| matches!(&self.posts[other], Record::Recv { accepts, .. } if accepts.admits(envelope));
                match self.oldest(&self.recvs[mailbox], fits) {
                    Some(place) => {
                        let recv = self.recvs[mailbox].remove(place);
                        self.met.insert((recv, post));
                    }
                    None => self.sends[mailbox].push(post),
                }
            }
            Record::Recv { accepts, .. } => {
                let fits = |other: &Post| matches!(&self.posts[other], Record::Send { envelope, .. } if accepts.admits(*envelope));
                match self.oldest(&self.sends[mailbox], fits) {
                    Some(place) => {
                        let send = self.sends[mailbox].remove(place);
                        self.met.insert((post, send));
                    }
                    None => self.recvs[mailbox].push(post),
                }
            }
        }
    }

    fn oldest(&self, queue: &[Post], fits: impl Fn(&Post) -> bool) -> Option<usize> {
        let fits = |post: &Post| fits(post);
        if self.newest { queue.iter().rposition(fits) } else { queue.iter().position(fits) }
    }

    fn take(&mut self, p: usize, post: Post, release: bool) -> Told {
        self.must[p] = None;
        if release {
            self.open[p].remove(&post);
        }
        if self.gone.contains(&post) {
            return Told::Failed(post);
        }
        let receives = matches!(self.posts[&post], Record::Recv { .. });
        let first = receives && self.read.insert(post);
        Told::Completed { post, message: self.partner(post).filter(|_| first) }
    }

    fn take_back(&mut self, posts: &BTreeSet<Post>) {
        let taken: Vec<Post> = posts.iter().copied().filter(|&post| !self.is_over(post)).collect();
        for queue in self.sends.iter_mut().chain(&mut self.recvs) {
            queue.retain(|post| !taken.contains(post));
        }
        self.gone.extend(taken);
    }

    /// What can be seen of the state.
    pub fn observe(&self, asks: &[Option<Ask>]) -> Observation {
        Observation {
            sends: self.sends.clone(),
            recvs: self.recvs.clone(),
            travel: self.travel.difference(&self.gone).copied().collect(),
            met: self.met.clone(),
            alive: self.alive.clone(),
            told: self.told.clone(),
            enabled: self.enabled(asks),
        }
    }
}
