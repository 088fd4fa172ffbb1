//! Decides whether the actors of a round run in parallel, by measuring both modes.
//!
//! Rounds are told apart by how many actors run in them, in powers of two; and, of one size, short ones from long ones, by
//! how long their code takes. Short ones are run by one thread: it is done before the others are awake. Of long ones both
//! modes are tried at first; then the faster one is taken, and now and then the other is tried again, ever more rarely while
//! it is the slower one. Several threads are faster if the code is, which is all that they can share, and if it also takes
//! less time until the requests of the round are served: where another thread ran the code of an actor, the records of that
//! actor are in its cache.
//!
//! The next round is expected to be like the last ones. After a long one others are woken for short ones too, until that
//! has cost as much as running a long one alone would; then one thread begins, and a round that turns out to be long is
//! shared after its first steps. Where all are short, the clock is looked at less and less often: a look costs as much as a
//! message. What is chosen changes how long a simulation takes, and nothing of what it gives.
//!
//! On a machine that has other things to do, a round now and then takes a hundred times as long as it should, and none of
//! this must be led astray by it: a round counts for long if four in a row were, or if more than one of its steps was
//! ([`RoundTimer`](super::round_timer)).

/// A clock in nanoseconds, of the world outside.
pub type Stopwatch = fn() -> u64;

/// How a round is run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Sequential = 0,
    Parallel = 1,
}

impl Mode {
    fn other(self) -> Self {
        if self == Self::Sequential { Self::Parallel } else { Self::Sequential }
    }
}

/// How often each mode is tried before one is chosen.
const TRIALS: u64 = 3;
/// So many rounds of a kind are remembered.
const RECENT: usize = 4;
/// A round whose code takes so many nanoseconds is worth waking others for, many times over.
const LONG: f64 = 500_000.0;
/// A round is short if sharing its code cannot save so many nanoseconds, which is several times what it takes to wake others.
const WORTH: f64 = 125_000.0;
/// What waking others in vain costs, about.
const IN_VAIN: f64 = 50_000.0;
/// So many short rounds are shared before the next one is expected to be short; more of them where sharing a long one saves
/// more than that,
const FEW: f64 = 4.0;
/// but not more than so many.
const MANY: f64 = 1024.0;
/// What several threads do in this part of the time that one took was other code, and short.
const PART: f64 = 1.0 / 16.0;
/// The mode not chosen is tried again after so many rounds, and while it loses, after twice as many each time.
const AGAIN: u64 = 32;
/// But after so many at the latest.
const LATEST: u64 = 4096;
/// The mode chosen is watched once in so many rounds.
const WATCHED: u64 = 32;
/// After so many short rounds in a row not all of them are watched any more,
const CALM: u32 = 256;
/// or after so many as it takes to spend, on looking, the length of the long ones.
const LOOKS: f64 = 500.0;
/// But one in so many is.
const CALMEST: u32 = 32;
/// Where one thread is faster, a round is shared only if it takes so many times as long as usual.
const UNUSUAL: f64 = 4.0;
/// With several threads there must be a gain that is worth it.
const GAIN: f64 = 0.8;

/// What a round costs, in nanoseconds for an actor.
#[derive(Copy, Clone, Default, Debug)]
struct Cost {
    code: f64,
    /// Until the requests were served.
    whole: f64,
}

/// What is known of rounds of about one size.
#[derive(Copy, Clone, Default, Debug)]
struct Class {
    /// What long rounds cost, in either mode: the least of the last ones, since a thread has to wait for memory now and then.
    cost: [Cost; 2],
    recent: [[Cost; RECENT]; 2],
    tries: [u64; 2],
    /// What the code cost, in the last rounds of any kind that were run by one thread.
    codes: [f64; RECENT],
    rounds: u64,
    /// The mode not chosen is tried again in this round, and then after so many.
    due: u64,
    again: u64,
    /// How many rounds in a row were short.
    shorts: u32,
    /// So many rounds go by without a thought: those before were short.
    unwatched: u32,
}

/// A round to come.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    pub(super) mode: Mode,
    /// Whether it is to be learned from.
    pub(super) timed: bool,
    /// If somebody looks at the clock: after so many nanoseconds it is shared after all.
    pub(super) patience: Option<u64>,
}

/// A round that was.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Seen {
    pub(super) mode: Mode,
    /// How long its code took, in nanoseconds.
    pub(super) code: u64,
    /// How long it took until its requests were served.
    pub(super) whole: u64,
    /// What the code of an actor took for sure, if anything is; otherwise nothing.
    pub(super) sure: f64,
}

/// The experience.
#[derive(Default, Debug)]
pub(super) struct ParallelismController {
    classes: Vec<Class>,
    /// A round whose code takes less than so many nanoseconds is short.
    short: f64,
}

impl ParallelismController {
    /// Nothing is known yet of so many threads.
    pub(super) fn new(threads: usize) -> Self {
        // All but one of them take a part off the first.
        let threads = threads.max(2) as f64;
        Self { classes: Vec::new(), short: WORTH * threads / (threads - 1.0) }
    }

    /// How the next round of so many actors is run.
    #[inline]
    pub(super) fn next(&mut self, actors: usize) -> Plan {
        const SEQUENTIAL: Plan = Plan { mode: Mode::Sequential, timed: false, patience: None };
        // There is nobody to share with.
        if actors < 2 {
            return SEQUENTIAL;
        }
        let index = actors.ilog2() as usize;
        if self.classes.len() <= index {
            self.classes.resize(index + 1, Class::default());
        }
        let class = &mut self.classes[index];
        if class.unwatched > 0 {
            class.unwatched -= 1;
            return SEQUENTIAL;
        }
        class.rounds += 1;
        let (mode, timed) = class.next(actors as f64);
        Plan { mode, timed, patience: Some(class.patience(actors as f64, self.short)) }
    }

    /// A round is over.
    pub(super) fn learn(&mut self, actors: usize, seen: Seen) {
        if let Some(class) = self.classes.get_mut(actors.max(1).ilog2() as usize) {
            class.learn(actors as f64, seen, self.short);
        }
    }

    /// The smallest rounds that several threads run, if any are.
    pub(super) fn threshold(&self) -> Option<usize> {
        let found = self.classes.iter().position(|class| class.best() == Mode::Parallel);
        found.map(|index| 1 << index)
    }
}

impl Class {
    /// How a round of so many actors is run, and whether it is timed.
    fn next(&self, actors: f64) -> (Mode, bool) {
        if self.is_over(actors) {
            return (Mode::Sequential, true);
        }
        // Code that takes long is not run by one thread again to be sure.
        let is_long = self.cost[0].code * actors > LONG;
        if self.tries[0] < TRIALS && !is_long {
            return (Mode::Sequential, true);
        }
        if self.tries[1] < TRIALS {
            return (Mode::Parallel, true);
        }
        match self.best() {
            best if self.rounds >= self.due => (best.other(), true),
            Mode::Sequential => (Mode::Sequential, self.rounds.is_multiple_of(WATCHED)),
            Mode::Parallel => (Mode::Parallel, true),
        }
    }

    /// Whether long rounds are over, as far as one can see: others were woken in vain for as long as sharing one saves.
    fn is_over(&self, actors: f64) -> bool {
        let saved = self.cost[0].code * actors / 2.0;
        f64::from(self.shorts) >= (saved / IN_VAIN).clamp(FEW, MANY)
    }

    fn learn(&mut self, actors: f64, seen: Seen, short: f64) {
        let cost = Cost { code: seen.code as f64 / actors, whole: seen.whole as f64 / actors };
        match seen.mode {
            Mode::Sequential => {
                self.codes.rotate_right(1);
                self.codes[0] = cost.code;
                let code = self.codes.into_iter().fold(cost.code, f64::min).max(seen.sure);
                if code * actors < short {
                    return self.was_short(actors);
                }
                let known = self.cost[0].code;
                let is_other = code > 4.0 * known || code < known / 4.0;
                self.compare(Mode::Sequential, cost, is_other);
            }
            Mode::Parallel if cost.code * actors < short / 2.0 || cost.code < self.cost[0].code * PART => {
                self.was_short(actors);
            }
            Mode::Parallel => self.compare(Mode::Parallel, cost, false),
        }
    }

    fn was_short(&mut self, actors: f64) {
        self.shorts = self.shorts.saturating_add(1);
        let watched = CALM.max((self.cost[0].code * actors / LOOKS) as u32);
        self.unwatched = self.shorts.saturating_sub(watched).min(CALMEST - 1);
    }

    /// A round was long, and perhaps of other code than those before: which mode is better?
    fn compare(&mut self, mode: Mode, cost: Cost, is_other: bool) {
        (self.shorts, self.unwatched) = (0, 0);
        let before = self.best();
        let (index, recent) = (mode as usize, &mut self.recent[mode as usize]);
        if is_other || self.tries[index] == 0 {
            *recent = [cost; RECENT];
        }
        recent[self.tries[index] as usize % RECENT] = cost;
        self.tries[index] += 1;
        self.cost[index] = recent.iter().fold(cost, |least, cost| Cost {
            code: least.code.min(cost.code),
            whole: least.whole.min(cost.whole),
        });

        if is_other || self.best() != before {
            self.again = AGAIN;
        } else if mode != before {
            self.again = (2 * self.again).min(LATEST);
        } else {
            return;
        }
        self.due = self.rounds + self.again;
    }

    /// How long one thread goes on with a round of so many actors before the others are woken after all.
    fn patience(&self, actors: f64, short: f64) -> u64 {
        let is_known = self.tries.iter().all(|&tries| tries >= TRIALS);
        let patience = match is_known && self.best() == Mode::Sequential {
            true => short.max(UNUSUAL * self.cost[0].code * actors),
            false => short,
        };
        patience as u64
    }

    /// The faster mode. Serving is not made faster by other threads, only slower: the code must be faster, and all of it.
    fn best(&self) -> Mode {
        let [alone, together] = self.cost;
        let is_faster = together.code < alone.code * GAIN && together.whole < alone.whole * GAIN;
        if self.tries[1] > 0 && is_faster { Mode::Parallel } else { Mode::Sequential }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round, and what is learned from it if it is timed. `took` is how long its code takes in either mode, and all of it; its
    /// steps are alike.
    fn served(choice: &mut ParallelismController, actors: usize, took: impl Fn(Mode) -> (u64, u64)) -> Plan {
        let plan = choice.next(actors);
        if plan.timed {
            let (code, whole) = took(plan.mode);
            let sure = if plan.mode == Mode::Sequential { code as f64 / actors as f64 } else { 0.0 };
            choice.learn(actors, Seen { mode: plan.mode, code, whole, sure });
        }
        plan
    }

    /// The same, where serving takes no time.
    fn round(choice: &mut ParallelismController, actors: usize, took: impl Fn(Mode) -> u64) -> Plan {
        served(choice, actors, |mode| (took(mode), took(mode)))
    }

    /// A round in which somebody was kept waiting for 5 ms, in a single step.
    fn disturbed(choice: &mut ParallelismController, actors: usize, took: impl Fn(Mode) -> u64) -> Plan {
        let plan = choice.next(actors);
        if plan.timed {
            let code = took(plan.mode) + 5_000_000;
            let sure =
                if plan.mode == Mode::Sequential { took(plan.mode) as f64 / actors as f64 } else { 0.0 };
            choice.learn(actors, Seen { mode: plan.mode, code, whole: code, sure });
        }
        plan
    }

    fn either(alone: u64, together: u64) -> impl Fn(Mode) -> u64 {
        move |mode| if mode == Mode::Sequential { alone } else { together }
    }

    /// What is chosen for rounds of a size, after many of which each took so long.
    fn settled(actors: usize, alone: u64, together: u64) -> (f64, Option<usize>) {
        let mut choice = ParallelismController::new(2);
        let is_shared = |_: &i32| round(&mut choice, actors, either(alone, together)).mode == Mode::Parallel;
        let shared = (0..10_000).filter(is_shared).count();
        (shared as f64 / 10_000.0, choice.threshold())
    }

    #[test]
    fn the_faster_way_is_taken() {
        let (shared, threshold) = settled(100, 300_000, 180_000);
        assert!(shared > 0.99 && threshold == Some(64), "{shared} {threshold:?}");
        let (shared, threshold) = settled(100, 300_000, 360_000);
        assert!(shared < 0.002 && threshold.is_none(), "{shared} {threshold:?}");
        let (shared, _) = settled(1, 1_000_000, 1);
        assert_eq!(shared, 0.0, "one actor is never shared");
        let (shared, _) = settled(2, 200_000, 1);
        assert_eq!(shared, 0.0, "nor is a short round");
    }

    #[test]
    fn short_rounds_are_hardly_watched_and_long_ones_are_noticed() {
        let mut choice = ParallelismController::new(2);
        let mut run = |actors, cost| round(&mut choice, actors, either(cost, cost * 6 / 10));
        let watched = (0..10_000).filter(|_| run(2, 300).patience.is_some()).count();
        assert!((550..650).contains(&watched), "{watched}");
        assert!(run(4, 300).patience.is_some(), "nothing is known of other sizes");
        let shared = (0..200).filter(|_| run(2, 2_000_000).mode == Mode::Parallel).count();
        assert!(shared > 150, "{shared}");
    }

    #[test]
    fn who_is_faster_alone_is_not_interrupted() {
        let mut choice = ParallelismController::new(2);
        for _ in 0..100 {
            round(&mut choice, 512, either(400_000, 500_000));
        }
        assert!(choice.next(512).patience.is_some_and(|patience| patience > 600_000));
        assert_eq!(choice.next(8).patience, Some(2 * WORTH as u64));
    }

    #[test]
    fn a_change_is_noticed() {
        let mut choice = ParallelismController::new(2);
        let mut last = Vec::new();
        for round_number in 0..20_000 {
            let is_first = round_number < 5_000;
            let took = if is_first { either(200_000, 300_000) } else { either(300_000, 200_000) };
            last.push(round(&mut choice, 8, took).mode);
        }
        let together = last[10_000..].iter().filter(|&&mode| mode == Mode::Parallel).count();
        assert!(together > 9_900, "{together}");
    }

    /// Somebody else's work on the machine does not lead to threads being woken, and does not keep them asleep.
    #[test]
    fn a_busy_machine_does_not_lead_astray() {
        let choose = |alone, together| {
            let mut choice = ParallelismController::new(2);
            let is_shared = |number: &usize| {
                let took = either(alone, together);
                let is_disturbed = number.is_multiple_of(10);
                let plan = if is_disturbed {
                    disturbed(&mut choice, 12, took)
                } else {
                    round(&mut choice, 12, took)
                };
                plan.mode == Mode::Parallel
            };
            (0..100_000).filter(is_shared).count()
        };
        let shared = choose(15_000, 50_000);
        assert!(shared < 50, "only the first one, which was disturbed, seems long: {shared}");
        let shared = choose(300_000, 310_000);
        assert!(shared < 100, "{shared}");
        let shared = choose(400_000, 210_000);
        assert!(shared > 99_000, "{shared}");
    }

    /// Where the same actors compute and talk in turn, the rounds in which they compute are shared.
    #[test]
    fn long_rounds_among_short_ones_are_shared() {
        for between in [1, 3, 20, 100] {
            let mut choice = ParallelismController::new(2);
            let mut alone = 0;
            for number in 0..10_000 {
                let is_long = number % (between + 1) == between;
                let took = if is_long { either(40_000_000, 20_500_000) } else { either(10_000, 40_000) };
                let plan = round(&mut choice, 16, took);
                // One that is watched is shared after its first steps.
                alone += usize::from(is_long && plan.mode == Mode::Sequential && plan.patience.is_none());
            }
            assert_eq!(alone, 0, "{between} short rounds between");
        }
    }

    /// Where serving takes long and code does not, there is nothing to share.
    #[test]
    fn what_cannot_be_shared_does_not_count() {
        let mut choice = ParallelismController::new(2);
        for _ in 0..1000 {
            assert_eq!(served(&mut choice, 512, |_| (200_000, 2_000_000)).mode, Mode::Sequential);
        }
    }

    /// The memory of a system that has just started is cold now and then, which tells nothing about other threads.
    #[test]
    fn cold_memory_is_not_other_code() {
        let mut choice = ParallelismController::new(2);
        let mut shared = 0;
        for number in 0..400 {
            let serving = if number % 8 < 3 { 1_800_000 } else { 40_000 };
            let took = |mode| {
                let code = either(300_000, 500_000)(mode);
                (code, code + serving)
            };
            shared += usize::from(served(&mut choice, 512, took).mode == Mode::Parallel);
        }
        assert!(shared <= 10, "{shared}");
    }

    /// Where there is no core to spare, two threads are not woken for ever because of rounds that are long for both, however
    /// long it takes to wake them for the short ones.
    #[test]
    fn who_gains_nothing_among_short_rounds_stops() {
        for (long, woken) in [(4_000_000, 90_000), (4_000_000, 200_000), (400_000, 60_000)] {
            for actors in [2, 16] {
                let mut choice = ParallelismController::new(2);
                let run = |number: usize| {
                    let is_long = number.is_multiple_of(4);
                    let took = if is_long { either(long, long + 10_000) } else { either(10_000, woken) };
                    usize::from(round(&mut choice, actors, took).mode == Mode::Parallel)
                };
                let shared: usize = (0..10_000).map(run).sum();
                assert!(shared < 200, "{actors} actors, long ones of {long} ns: {shared}");
            }
        }
    }

    /// After long rounds others are woken for short ones, but not for long.
    #[test]
    fn short_rounds_after_long_ones_go_back_to_one_thread() {
        let mut choice = ParallelismController::new(2);
        let mut shared = |rounds, alone, together| {
            let run = |_: &i32| round(&mut choice, 16, either(alone, together)).mode == Mode::Parallel;
            (0..rounds).filter(run).count()
        };
        assert!(shared(100, 4_000_000, 2_100_000) > 90);
        let in_vain = shared(10_000, 10_000, 90_000);
        assert!((4..60).contains(&in_vain), "{in_vain}");
    }

    /// Two actors are not shared once one of them runs: for them others are woken in advance, while that pays.
    #[test]
    fn two_who_compute_now_and_then_share() {
        let mut choice = ParallelismController::new(2);
        let mut alone = 0;
        for number in 0..10_000 {
            let is_long = number % 101 == 100;
            let took = if is_long { either(40_000_000, 20_500_000) } else { either(10_000, 60_000) };
            let plan = round(&mut choice, 2, took);
            alone += usize::from(is_long && plan.mode == Mode::Sequential);
        }
        assert!(alone < 10, "{alone} of 99");
    }

    /// Code that is faster by two threads is of no use if the rest is slower by as much.
    #[test]
    fn what_is_in_the_cache_of_others_counts() {
        let mut choice = ParallelismController::new(2);
        let mut shared = 0;
        for _ in 0..10_000 {
            let took = |mode| if mode == Mode::Sequential { (400_000, 800_000) } else { (210_000, 850_000) };
            shared += usize::from(served(&mut choice, 512, took).mode == Mode::Parallel);
        }
        assert!(shared < 20, "{shared}");
    }

    /// Where rounds were long, many short ones in a row do not make one stop looking: looking is cheap beside a long one.
    #[test]
    fn who_has_seen_long_rounds_goes_on_looking() {
        let mut choice = ParallelismController::new(2);
        (0..10).for_each(|_| _ = round(&mut choice, 16, either(40_000_000, 20_500_000)));
        let mut is_watched = |_: &i32| round(&mut choice, 16, either(10_000, 60_000)).patience.is_some();
        assert_eq!((0..20_000).filter(&mut is_watched).count(), 20_000);
        assert!((0..200_000).filter(is_watched).count() < 100_000, "but not for ever");
    }

    /// A program that begins to compute is noticed soon, also where its rounds took some time before.
    #[test]
    fn other_code_is_another_matter() {
        let mut choice = ParallelismController::new(2);
        (0..10_000).for_each(|_| _ = round(&mut choice, 16, either(300_000, 400_000)));
        let is_shared =
            |_: &i32| round(&mut choice, 16, either(40_000_000, 20_500_000)).mode == Mode::Parallel;
        let shared = (0..100).filter(is_shared).count();
        assert!(shared > 50, "{shared}");
    }
}
