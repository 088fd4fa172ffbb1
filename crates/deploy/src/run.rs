//! A small system that runs by itself, to be watched where nothing is deployed: actors in a simulated network, with delays and
//! losses drawn from a seed. It knows no platform; the crate `simurgh-protocol-sim` does.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use simurgh_protocol::runtime::{Environment, NodeRuntime};
use simurgh_protocol::{Actor, ActorId, After, NodeSnapshot, Out, Snapshot};

/// A small generator of random numbers, so that a seed always means the same run.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from 0 up to 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn within(&mut self, range: &Range<Duration>) -> Duration {
        range.start + range.end.saturating_sub(range.start).mul_f64(self.fraction())
    }
}

/// What is going to happen.
enum Coming<A: Actor> {
    Message { from: ActorId, to: ActorId, msg: A::Msg },
    Timer { at: ActorId, timer: A::Timer, number: u64 },
}

/// Actors that run in a simulated network: messages take some time, and some are lost; timers take theirs.
///
/// ```
/// use std::time::Duration;
/// use simurgh_deploy::Run;
/// use simurgh_protocol::{Actor, ActorId, Out};
///
/// struct Ticker;
///
/// impl Actor for Ticker {
///     type Msg = ();
///     type State = u32;
///     type Timer = ();
///     fn on_start(&self, out: &mut Out<Self>) -> u32 {
///         out.set_timer((), Duration::from_secs(1));
///         0
///     }
///     fn on_msg(&self, heard: &mut u32, _: ActorId, (): &(), _: &mut Out<Self>) {
///         *heard += 1;
///     }
///     fn on_timeout(&self, _: &mut u32, (): &(), out: &mut Out<Self>) {
///         out.send(ActorId(1 - out.me().0), ());
///         out.set_timer((), Duration::from_secs(1));
///     }
/// }
///
/// let mut run = Run::new([Ticker, Ticker], 1).loss(0.3);
/// run.advance(Duration::from_secs(100));
/// let heard = run.live().nodes[0].state;
/// assert!((50..90).contains(&heard), "about 70 of 100 arrive: {heard}");
/// ```
#[must_use]
pub struct Run<A: Actor> {
    actors: Vec<A>,
    /// A timer is known by its number: it was set anew or cancelled if what is coming has another.
    nodes: Vec<NodeRuntime<A::State, A::Timer, u64>>,
    around: Around<A>,
}

/// The simulated network, and the clock.
struct Around<A: Actor> {
    actors: usize,
    /// By when it happens, and the order in which it came to be expected.
    coming: BTreeMap<(Duration, u64), Coming<A>>,
    clock: Duration,
    count: u64,
    random: Random,
    loss: f64,
    delays: Range<Duration>,
}

impl<A: Actor> Environment<A> for Around<A> {
    type Due = u64;

    fn send(&mut self, from: ActorId, to: ActorId, msg: A::Msg) {
        let is_lost = self.random.fraction() < self.loss && to != from;
        if !is_lost && to.index() < self.actors {
            let delay = self.random.within(&self.delays);
            self.expect(delay, Coming::Message { from, to, msg });
        }
    }

    fn set_timer(&mut self, at: ActorId, timer: &A::Timer, After(range): After) -> u64 {
        let (delay, number) = (self.random.within(&range), self.count);
        self.expect(delay, Coming::Timer { at, timer: timer.clone(), number });
        number
    }
}

impl<A: Actor> Around<A> {
    fn out(&mut self, me: ActorId) -> Out<A> {
        let mut random = Random(self.random.next());
        Out::new(me, move |options| (random.next() % options as u64) as usize)
    }

    fn expect(&mut self, delay: Duration, coming: Coming<A>) {
        self.coming.insert((self.clock + delay, self.count), coming);
        self.count += 1;
    }
}

impl<A: Actor> Run<A> {
    /// Starts actors; the same seed always gives the same run.
    pub fn new(actors: impl IntoIterator<Item = A>, seed: u64) -> Self {
        let actors: Vec<A> = actors.into_iter().collect();
        let mut around = Around {
            actors: actors.len(),
            coming: BTreeMap::new(),
            clock: Duration::ZERO,
            count: 0,
            random: Random(seed),
            loss: 0.0,
            delays: Duration::from_millis(1)..Duration::from_millis(100),
        };
        let start = |(place, actor): (usize, &A)| {
            let me = ActorId::from(place);
            let mut out = around.out(me);
            let mut node = NodeRuntime::new(actor.on_start(&mut out));
            node.carry_out(out, &mut around);
            node
        };
        Self { nodes: actors.iter().enumerate().map(start).collect(), actors, around }
    }

    /// Loses this part of the messages that are sent from now on, from 0 to 1; never those of an actor to itself.
    pub fn loss(mut self, part: f64) -> Self {
        self.around.loss = part;
        self
    }

    /// Lets messages that are sent from now on take so long; 1 to 100 ms unless told.
    pub fn delays(mut self, delays: Range<Duration>) -> Self {
        self.around.delays = delays;
        self
    }

    /// How long it has run.
    pub fn clock(&self) -> Duration {
        self.around.clock
    }

    /// Runs until so long after the start.
    pub fn advance(&mut self, until: Duration) {
        while let Some(entry) = self.around.coming.first_entry().filter(|entry| entry.key().0 <= until) {
            let ((when, _), coming) = entry.remove_entry();
            self.around.clock = when;
            self.happen(&coming);
        }
        self.around.clock = self.around.clock.max(until);
    }

    fn happen(&mut self, coming: &Coming<A>) {
        let (Coming::Message { to: at, .. } | Coming::Timer { at, .. }) = coming;
        let (actor, node) = (&self.actors[at.index()], &mut self.nodes[at.index()]);
        if let Coming::Timer { timer, number, .. } = coming
            && node.timers.get(timer) != Some(number)
        {
            return;
        }
        let mut out = self.around.out(*at);
        match coming {
            Coming::Message { from, msg, .. } => node.deliver(actor, *from, msg, &mut out),
            Coming::Timer { timer, .. } => node.timeout(actor, timer, &mut out),
        }
        node.carry_out(out, &mut self.around);
    }

    /// Where it is now. Nothing happens meanwhile, so that every cut is consistent.
    pub fn live(&self) -> Snapshot<A> {
        let node = |node: &NodeRuntime<A::State, A::Timer, u64>| NodeSnapshot {
            state: node.state.clone(),
            timers: node.timers.keys().cloned().collect(),
        };
        let flying = |coming: &Coming<A>| match coming {
            Coming::Message { from, to, msg } => Some((*from, *to, msg.clone())),
            Coming::Timer { .. } => None,
        };
        Snapshot {
            nodes: self.nodes.iter().map(node).collect(),
            in_flight: self.around.coming.values().filter_map(flying).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use simurgh_protocol::{System, Verdict, local};

    use super::*;

    /// Passes a number on, one higher; the first begins.
    struct Relay;

    impl Actor for Relay {
        type Msg = u32;
        type State = u32;
        type Timer = u8;

        fn on_start(&self, out: &mut Out<Self>) -> u32 {
            out.set_timer(1, Duration::from_secs(1));
            out.set_timer(2, Duration::from_secs(2));
            0
        }

        fn on_msg(&self, state: &mut u32, from: ActorId, number: &u32, out: &mut Out<Self>) {
            *state = *number;
            out.cancel_timer(2);
            out.send(from, *number + 1);
        }

        fn on_timeout(&self, _: &mut u32, timer: &u8, out: &mut Out<Self>) {
            assert_eq!(*timer, 1, "the other is cancelled before");
            if out.me() == ActorId(0) {
                out.send(ActorId(1), 1);
            }
        }
    }

    #[test]
    fn a_run_is_found_where_it_is_and_goes_on_from_there() {
        let mut run =
            Run::new([Relay, Relay], 7).delays(Duration::from_millis(300)..Duration::from_millis(300));
        run.advance(Duration::from_millis(500));
        assert_eq!(run.live().nodes[0].timers, [1, 2]);
        run.advance(Duration::from_millis(1200));
        let live = run.live();
        assert_eq!((live.nodes[1].state, live.in_flight.as_slice()), (0, &[(ActorId(0), ActorId(1), 1)][..]));
        assert_eq!(live.to_string(), "0: 0, timers [2]\n1: 0, timers [2]\nin flight 0 -> 1: 1\n");
        run.advance(Duration::from_millis(2500));
        let live = run.live();
        assert_eq!((live.nodes[0].state, live.nodes[1].state), (4, 5));

        let system = System::from_live([Relay, Relay], live).always("low", local(|number: &u32| *number < 7));
        let found = system.checker().states_max(1_000).bfs();
        assert_eq!((found.verdict, found.assert_violated("low").steps.len()), (Verdict::Violated, 2));
    }

    #[test]
    fn the_same_seed_is_the_same_run() {
        let after = |seed: u64| {
            let mut run = Run::new([Relay, Relay], seed).loss(0.2);
            run.advance(Duration::from_millis(1900));
            run.live().to_string()
        };
        assert_eq!(after(3), after(3));
        assert!((0..20).any(|seed| after(seed) != after(3)));
    }
}
