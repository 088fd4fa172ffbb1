//! Dimensions of a grid that are as close to each other as possible (MPI 5.0, 8.5.2).

/// Factors of a number, as many as are asked for, in an order that does not rise: the largest and the smallest are as close as
/// they can be. Of several such, those whose smallest is the largest are taken, then by the next, and so on.
pub fn balanced(number: usize, count: usize) -> Vec<usize> {
    if count == 0 {
        return Vec::new();
    }
    let mut search = Search { divisors: divisors(number), factors: Vec::with_capacity(count), best: None };
    search.fill(number, count);
    let mut factors = search.best.expect("ones and the number itself are such factors");
    factors.reverse();
    factors
}

/// A search among factors that do not fall, the most promising first.
struct Search {
    divisors: Vec<usize>,
    /// Those that are chosen.
    factors: Vec<usize>,
    /// The best so far.
    best: Option<Vec<usize>>,
}

impl Search {
    /// Whether factors up to this one would be closer to each other than the best so far.
    fn is_better(&self, largest: usize) -> bool {
        let spread = |factors: &Vec<usize>| factors[factors.len() - 1] - factors[0];
        let smallest = self.factors.first().copied().unwrap_or(largest);
        self.best.as_ref().is_none_or(|best| largest - smallest < spread(best))
    }

    /// Chooses `count` more factors, whose product is the number.
    fn fill(&mut self, number: usize, count: usize) {
        let least = self.factors.last().copied().unwrap_or(1);
        if count == 1 {
            if number >= least && self.is_better(number) {
                self.best = Some([&self.factors[..], &[number]].concat());
            }
            return;
        }
        // The smallest of so many is at most the root, and the largest at least.
        let reaches = |factor: usize| {
            let power = (0..count).try_fold(1_usize, |power, _| power.checked_mul(factor));
            power.is_none_or(|power| power >= number)
        };
        let root = self.divisors.partition_point(|factor| !reaches(*factor));
        let largest = self.divisors[root];
        let exact = (0..count).try_fold(1_usize, |power, _| power.checked_mul(largest)) == Some(number);
        for place in (0..root + usize::from(exact)).rev() {
            let factor = self.divisors[place];
            if factor < least {
                break;
            }
            if !number.is_multiple_of(factor) {
                continue;
            }
            self.factors.push(factor);
            if self.is_better(largest) {
                self.fill(number / factor, count - 1);
            }
            self.factors.pop();
        }
    }
}

fn divisors(number: usize) -> Vec<usize> {
    let small: Vec<usize> = (1..)
        .take_while(|factor| factor * factor <= number)
        .filter(|factor| number.is_multiple_of(*factor))
        .collect();
    let large = small.iter().rev().map(|factor| number / factor).filter(|factor| factor * factor != number);
    let large: Vec<usize> = large.collect();
    small.into_iter().chain(large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to write a number as factors that do not rise.
    fn all(number: usize, count: usize, most: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let mut found = vec![];
        for factor in (1..=number.min(most)).filter(|factor| number.is_multiple_of(*factor)) {
            for rest in all(number / factor, count - 1, factor) {
                found.push([vec![factor], rest].concat());
            }
        }
        found
    }

    #[test]
    fn factors_are_as_close_as_they_can_be() {
        for number in 1..=300 {
            for count in 1..=4 {
                let worth = |factors: &Vec<usize>| {
                    let spread = factors[0] - factors[count - 1];
                    (
                        spread,
                        factors.iter().rev().map(|factor| std::cmp::Reverse(*factor)).collect::<Vec<_>>(),
                    )
                };
                let best = all(number, count, number).into_iter().min_by_key(worth).expect("there is one");
                assert_eq!(balanced(number, count), best, "{number} by {count}");
            }
        }
        assert_eq!(balanced(1_000_000_000, 3), [1000, 1000, 1000]);
        assert_eq!(balanced(999_983, 2), [999_983, 1]);
        assert_eq!(balanced(6552, 3), [24, 21, 13]);
        assert_eq!(balanced(10_800, 3), [27, 20, 20]);
        assert_eq!(balanced(1, 0), Vec::<usize>::new());
    }
}
