//! Whether a round is worth waking other threads for: found out by trying both and looking at a clock.
//!
//! Rounds are told apart by how many actors run in them, in powers of two. For each of these sizes both ways are tried
//! in turn at first; then the faster one is taken, and now and then the other is tried again, ever more rarely while it is
//! the slower one. While rounds are short, the clock is looked at less and less often: a look costs as much as a message.
//! What is chosen changes how long a simulation takes, and nothing of what it gives. What counts is the time until the
//! requests of the round are served: where another thread ran the code of an actor, the records of that actor are in its
//! cache.
//!
//! On a machine that has other things to do, a round now and then takes a hundred times as long as it should, and none of
//! this must be led astray by it: a round counts for long if two in a row were, or if more than one of its steps was
//! ([`Steps`](super::steps)).

/// A clock in nanoseconds, of the world outside.
pub type Stopwatch = fn() -> u64;

/// A way to run a round.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Alone = 0,
    Together = 1,
}

impl Way {
    fn other(self) -> Self {
        if self == Self::Alone { Self::Together } else { Self::Alone }
    }
}

/// How often each way is tried before one is chosen.
const TRIALS: u32 = 3;
/// A round that takes so many nanoseconds is worth waking others for, many times over.
const LONG: f64 = 500_000.0;
/// A round that takes so many nanoseconds is over before others are awake.
const SHORT: f64 = 60_000.0;
/// The way not chosen is tried again after so many rounds, and while it loses, after twice as many each time.
const AGAIN: u64 = 32;
/// But after so many at the latest.
const LATEST: u64 = 4096;
/// The way chosen is watched once in so many rounds.
const WATCHED: u64 = 32;
/// After so many short rounds in a row not all of them are watched any more,
const CALM: u32 = 256;
/// but one in so many is.
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
    /// What it was the last time.
    last: [f64; 2],
    tries: [u32; 2],
    rounds: u64,
    /// The way not chosen is tried again in this round, and then after so many.
    due: u64,
    again: u64,
    /// How many times in a row the clock showed a short round.
    calm: u32,
    /// So many rounds go by without a thought: those before were short.
    unwatched: u32,
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

/// A round that was.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Seen {
    pub(super) way: Way,
    /// How long it took.
    pub(super) nanoseconds: u64,
    /// What the code of an actor took for sure, if anything is.
    pub(super) sure: Option<f64>,
}

/// The experience.
#[derive(Default, Debug)]
pub(super) struct Choice {
    classes: Vec<Class>,
}

impl Choice {
    /// How the next round of so many actors is run.
    #[inline]
    pub(super) fn next(&mut self, actors: usize) -> Plan {
        const ALONE: Plan = Plan { way: Way::Alone, timed: false, patience: None };
        // There is nobody to share with.
        if actors < 2 {
            return ALONE;
        }
        let index = actors.ilog2() as usize;
        if self.classes.len() <= index {
            self.classes.resize(index + 1, Class::default());
        }
        let class = &mut self.classes[index];
        if class.unwatched > 0 {
            class.unwatched -= 1;
            return ALONE;
        }
        class.rounds += 1;
        let (way, timed) = class.next(actors as f64);
        Plan { way, timed, patience: Some(class.patience(actors as f64)) }
    }

    /// A round is over.
    pub(super) fn learn(&mut self, actors: usize, seen: Seen) {
        if let Some(class) = self.classes.get_mut(actors.max(1).ilog2() as usize) {
            class.learn(actors as f64, seen);
        }
    }

    /// The smallest rounds that several threads run, if any are.
    pub(super) fn threshold(&self) -> Option<usize> {
        let found = self.classes.iter().position(|class| class.best() == Way::Together);
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
        if self.rounds >= self.due {
            (best.other(), true)
        } else {
            (best, self.rounds.is_multiple_of(WATCHED))
        }
    }

    fn learn(&mut self, actors: f64, seen: Seen) {
        let way = seen.way as usize;
        let before = self.best();
        let cost = seen.nanoseconds as f64 / actors;
        let last = std::mem::replace(&mut self.last[way], cost);
        let cost = if self.tries[way] == 0 { cost } else { cost.min(last) };
        let cost = cost.max(seen.sure.unwrap_or(0.0));
        self.tries[way] = self.tries[way].saturating_add(1);
        let known = &mut self.cost[way];
        // The first round of a kind pays for starting threads and for cold memory; and what is quite another cost is that
        // of other code.
        let is_other = self.tries[way] <= 2 || cost > 4.0 * *known || cost < *known / 4.0;
        *known = if is_other { cost } else { *known * 0.75 + cost * 0.25 };

        self.calm =
            if seen.way == Way::Alone && cost * actors < SHORT { self.calm.saturating_add(1) } else { 0 };
        self.unwatched = self.calm.saturating_sub(CALM).min(CALMEST - 1);

        if is_other || self.best() != before {
            self.again = AGAIN;
        } else if seen.way != before {
            self.again = (2 * self.again).min(LATEST);
        } else {
            return;
        }
        self.due = self.rounds + self.again;
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
        if self.tries[1] > 0 && together < alone * GAIN { Way::Together } else { Way::Alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round, and what is learned from it if it is timed. `took` is how long it takes either way; all of its steps are
    /// alike.
    fn round(choice: &mut Choice, actors: usize, took: impl Fn(Way) -> u64) -> Plan {
        let plan = choice.next(actors);
        if plan.timed {
            let nanoseconds = took(plan.way);
            let sure = (plan.way == Way::Alone).then_some(nanoseconds as f64 / actors as f64);
            choice.learn(actors, Seen { way: plan.way, nanoseconds, sure });
        }
        plan
    }

    /// A round in which somebody was kept waiting for 5 ms, in a single step.
    fn disturbed(choice: &mut Choice, actors: usize, took: impl Fn(Way) -> u64) -> Plan {
        let plan = choice.next(actors);
        if plan.timed {
            let nanoseconds = took(plan.way) + 5_000_000;
            let sure = (plan.way == Way::Alone).then_some(took(plan.way) as f64 / actors as f64);
            choice.learn(actors, Seen { way: plan.way, nanoseconds, sure });
        }
        plan
    }

    fn either(alone: u64, together: u64) -> impl Fn(Way) -> u64 {
        move |way| if way == Way::Alone { alone } else { together }
    }

    /// What is chosen for rounds of a size, after many of which each took so long.
    fn settled(actors: usize, alone: u64, together: u64) -> (f64, Option<usize>) {
        let mut choice = Choice::default();
        let is_shared = |_: &i32| round(&mut choice, actors, either(alone, together)).way == Way::Together;
        let shared = (0..10_000).filter(is_shared).count();
        (shared as f64 / 10_000.0, choice.threshold())
    }

    #[test]
    fn the_faster_way_is_taken() {
        let (shared, threshold) = settled(100, 100_000, 60_000);
        assert!(shared > 0.99 && threshold == Some(64), "{shared} {threshold:?}");
        let (shared, threshold) = settled(100, 100_000, 120_000);
        assert!(shared < 0.002 && threshold.is_none(), "{shared} {threshold:?}");
        let (shared, _) = settled(1, 10_000, 1);
        assert_eq!(shared, 0.0, "one actor is never shared");
        let (shared, _) = settled(2, 10_000, 1);
        assert_eq!(shared, 0.0, "nor is a short round");
    }

    #[test]
    fn short_rounds_are_hardly_watched_and_long_ones_are_noticed() {
        let mut choice = Choice::default();
        let mut run = |actors, cost| round(&mut choice, actors, either(cost, cost * 6 / 10));
        let watched = (0..10_000).filter(|_| run(2, 300).patience.is_some()).count();
        assert!((550..650).contains(&watched), "{watched}");
        assert!(run(4, 300).patience.is_some(), "nothing is known of other sizes");
        let shared = (0..200).filter(|_| run(2, 2_000_000).way == Way::Together).count();
        assert!(shared > 150, "{shared}");
    }

    #[test]
    fn who_is_faster_alone_is_not_interrupted() {
        let mut choice = Choice::default();
        for _ in 0..100 {
            round(&mut choice, 512, either(200_000, 300_000));
        }
        assert!(choice.next(512).patience.is_some_and(|patience| patience > 600_000));
        assert_eq!(choice.next(8).patience, Some(PATIENCE));
    }

    #[test]
    fn a_change_is_noticed() {
        let mut choice = Choice::default();
        let mut last = Vec::new();
        for round_number in 0..20_000 {
            let is_first = round_number < 5_000;
            let took = if is_first { either(30_000, 90_000) } else { either(90_000, 30_000) };
            last.push(round(&mut choice, 8, took).way);
        }
        let together = last[10_000..].iter().filter(|&&way| way == Way::Together).count();
        assert!(together > 9_900, "{together}");
    }

    /// Somebody else's work on the machine does not lead to threads being woken, and does not keep them asleep.
    #[test]
    fn a_busy_machine_does_not_lead_astray() {
        let choose = |alone, together| {
            let mut choice = Choice::default();
            let is_shared = |number: &usize| {
                let took = either(alone, together);
                let is_disturbed = number.is_multiple_of(10);
                let plan = if is_disturbed {
                    disturbed(&mut choice, 12, took)
                } else {
                    round(&mut choice, 12, took)
                };
                plan.way == Way::Together
            };
            (0..100_000).filter(is_shared).count()
        };
        let shared = choose(15_000, 50_000);
        assert!(shared < 50, "only the first one, which was disturbed, seems long: {shared}");
        let shared = choose(100_000, 110_000);
        assert!(shared < 100, "{shared}");
        let shared = choose(400_000, 210_000);
        assert!(shared > 99_000, "{shared}");
    }

    /// Where the same actors compute and talk in turn, the rounds in which they compute are shared.
    #[test]
    fn long_rounds_among_short_ones_are_shared() {
        for between in [1, 3, 20, 100] {
            let mut choice = Choice::default();
            let mut alone = 0;
            for number in 0..10_000 {
                let is_long = number % (between + 1) == between;
                let took = if is_long { either(40_000_000, 20_500_000) } else { either(10_000, 40_000) };
                let plan = round(&mut choice, 16, took);
                // One that is watched is shared after its first steps.
                alone += usize::from(is_long && plan.way == Way::Alone && plan.patience.is_none());
            }
            assert_eq!(alone, 0, "{between} short rounds between");
        }
    }
}
