//! Whether a round is worth waking other threads for: found out by trying both and looking at a clock.
//!
//! Rounds are told apart by how many actors run in them, in powers of two. For each of these sizes both ways are tried
//! in turn at first; then the faster one is taken, and now and then the other is tried again. While rounds are short, the
//! clock is looked at less and less often: a look costs as much as a message. What is chosen changes how long a simulation
//! takes, and nothing of what it gives. What counts is the time until the requests of the round are served: where another
//! thread ran the code of an actor, the records of that actor are in its cache.

/// A clock in nanoseconds, of the world outside.
pub type Stopwatch = fn() -> u64;

/// A way to run a round.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Alone = 0,
    Together = 1,
}

/// How often each way is tried before one is chosen.
const TRIALS: u32 = 3;
/// A round that takes so many nanoseconds is worth waking others for, many times over.
const LONG: f64 = 500_000.0;
/// A round that takes so many nanoseconds is over before others are awake.
const SHORT: f64 = 60_000.0;
/// The way not chosen is tried once in so many rounds.
const AGAIN: u32 = 512;
/// Of short rounds, one in so many is watched at least.
const CALMEST: u32 = 32;
/// A round that one thread is not done with after so many nanoseconds is shared with the others: several times what it
/// takes to wake them.
const PATIENCE: u64 = 100_000;
/// Where one thread is faster, it is shared only if it takes so many times as long as usual.
const UNUSUAL: f64 = 4.0;
/// With several threads there must be a gain that is worth it.
const GAIN: f64 = 0.8;

/// What is known of rounds of about one size.
#[derive(Copy, Clone, Default, Debug)]
struct Class {
    /// Nanoseconds for an actor, either way; the mean, recent rounds counting more.
    cost: [f64; 2],
    tries: [u32; 2],
    rounds: u32,
    /// How many times in a row the clock showed a short round.
    calm: u32,
}

/// A round to come.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    pub(super) way: Way,
    /// Whether it is to be learned from.
    pub(super) timed: bool,
    /// If somebody looks at the clock: after so many nanoseconds it is shared after all.
    pub(super) patience: Option<u64>,
}

/// The experience.
#[derive(Default, Debug)]
pub(super) struct Choice {
    classes: Vec<Class>,
    /// So many rounds of at most so many actors go by without a thought: those before were short.
    unwatched: u32,
    small: usize,
}

impl Choice {
    /// How the next round of so many actors is run.
    #[inline]
    pub(super) fn next(&mut self, actors: usize) -> Plan {
        // There is nobody to share with, or nothing worth it.
        if actors < 2 || (actors <= self.small && self.unwatched > 0) {
            self.unwatched = self.unwatched.saturating_sub(1);
            return Plan { way: Way::Alone, timed: false, patience: None };
        }
        self.plan(actors)
    }

    fn plan(&mut self, actors: usize) -> Plan {
        let index = actors.ilog2() as usize;
        if self.classes.len() <= index {
            self.classes.resize(index + 1, Class::default());
        }
        let class = &mut self.classes[index];
        class.rounds = class.rounds.wrapping_add(1);
        self.unwatched = 0;
        let (way, timed) = class.next(actors as f64);
        Plan { way, timed, patience: Some(class.patience(actors as f64)) }
    }

    /// A round took so long.
    pub(super) fn learn(&mut self, actors: usize, way: Way, nanoseconds: u64) {
        let Some(class) = self.classes.get_mut(actors.max(1).ilog2() as usize) else { return };
        let cost = nanoseconds as f64 / actors as f64;
        class.calm = if way == Way::Alone && (nanoseconds as f64) < SHORT { class.calm + 1 } else { 0 };
        (self.unwatched, self.small) = ((1 << class.calm.min(CALMEST.ilog2())) - 1, actors);
        let way = way as usize;
        class.tries[way] += 1;
        let known = &mut class.cost[way];
        // The first round of a kind pays for starting threads and for cold memory; and what is quite another cost is that
        // of other code.
        let is_other = cost > 4.0 * *known || cost < *known / 4.0;
        *known = if class.tries[way] <= 2 || is_other { cost } else { *known * 0.75 + cost * 0.25 };
    }

    /// The smallest rounds that several threads run, if any are.
    pub(super) fn threshold(&self) -> Option<usize> {
        let tried = |class: &Class| class.tries.iter().all(|&tries| tries > 0);
        let found = self.classes.iter().position(|class| tried(class) && class.best() == Way::Together);
        found.map(|index| 1 << index)
    }
}

impl Class {
    /// How a round of so many actors is run, and whether it is timed.
    fn next(&self, actors: f64) -> (Way, bool) {
        // Code that takes long is not run by one thread again to be sure.
        let is_long = self.tries[0] > 0 && self.cost[0] * actors > LONG;
        if self.tries[0] < TRIALS && !is_long {
            return (Way::Alone, true);
        }
        // Others are not woken for what is done sooner than they come.
        if self.cost[0] * actors < SHORT {
            return (Way::Alone, true);
        }
        if self.tries[1] < TRIALS {
            return (Way::Together, true);
        }
        let best = self.best();
        if self.rounds.is_multiple_of(AGAIN) {
            (if best == Way::Alone { Way::Together } else { Way::Alone }, true)
        } else {
            (best, self.rounds.is_multiple_of(AGAIN / 16))
        }
    }

    /// How long one thread goes on with a round of so many actors before the others are woken after all.
    fn patience(&self, actors: f64) -> u64 {
        let is_known = self.tries.iter().all(|&tries| tries >= TRIALS);
        match is_known && self.best() == Way::Alone {
            true => PATIENCE.max((UNUSUAL * self.cost[0] * actors) as u64),
            false => PATIENCE,
        }
    }

    fn best(&self) -> Way {
        let [alone, together] = self.cost;
        if together < alone * GAIN { Way::Together } else { Way::Alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is chosen for rounds of a size, after many of which each took so long.
    fn settled(actors: usize, alone: u64, together: u64) -> (f64, Option<usize>) {
        let mut choice = Choice::default();
        let mut shared = 0;
        for _ in 0..10_000 {
            let Plan { way, timed, .. } = choice.next(actors);
            shared += u32::from(way == Way::Together);
            if timed {
                choice.learn(actors, way, if way == Way::Alone { alone } else { together });
            }
        }
        (f64::from(shared) / 10_000.0, choice.threshold())
    }

    #[test]
    fn the_faster_way_is_taken() {
        let (shared, threshold) = settled(100, 100_000, 60_000);
        assert!(shared > 0.98 && threshold == Some(64), "{shared} {threshold:?}");
        let (shared, threshold) = settled(100, 100_000, 120_000);
        assert!(shared < 0.01 && threshold.is_none(), "{shared} {threshold:?}");
        let (shared, _) = settled(1, 10_000, 1);
        assert_eq!(shared, 0.0, "one actor is never shared");
        let (shared, _) = settled(2, 10_000, 1);
        assert_eq!(shared, 0.0, "nor is a short round");
    }

    #[test]
    fn short_rounds_are_hardly_watched_and_a_long_one_is_noticed() {
        let mut choice = Choice::default();
        let run = |choice: &mut Choice, cost| {
            let plan = choice.next(2);
            if plan.timed {
                choice.learn(2, plan.way, if plan.way == Way::Alone { cost } else { cost * 6 / 10 });
            }
            plan
        };
        let watched = (0..3200).filter(|_| run(&mut choice, 300).patience.is_some()).count();
        assert!((95..120).contains(&watched), "{watched}");
        let shared = (0..200).filter(|_| run(&mut choice, 2_000_000).way == Way::Together).count();
        assert!(shared > 150, "{shared}");
    }

    #[test]
    fn who_is_faster_alone_is_not_interrupted() {
        let mut choice = Choice::default();
        for _ in 0..100 {
            let plan = choice.next(512);
            choice.learn(512, plan.way, if plan.way == Way::Alone { 200_000 } else { 300_000 });
        }
        assert!(choice.next(512).patience.is_some_and(|patience| patience > 600_000));
        assert_eq!(choice.next(8).patience, Some(PATIENCE));
    }

    #[test]
    fn a_change_is_noticed() {
        let mut choice = Choice::default();
        let mut last = Vec::new();
        for round in 0..20_000 {
            let Plan { way, timed, .. } = choice.next(8);
            let cost = match (way, round < 5_000) {
                (Way::Alone, true) | (Way::Together, false) => 30_000,
                _ => 90_000,
            };
            if timed {
                choice.learn(8, way, cost);
            }
            last.push(way);
        }
        let together = last[15_000..].iter().filter(|&&way| way == Way::Together).count();
        assert!(together > 4_900, "{together}");
    }
}
