//! Dimensions of a grid that are as close to each other as possible (MPI 5.0, 8.5.2).

/// Factors of a number, as many as are asked for, in an order that does not rise: the largest is as small as it can be, then
/// the next, and so on.
pub fn balanced(number: usize, count: usize) -> Vec<usize> {
    let mut factors = Vec::with_capacity(count);
    if count > 0 {
        let divisors = divisors(number);
        let found = fill(&divisors, number, count, number, &mut factors);
        debug_assert!(found, "the number itself and ones are such factors");
    }
    factors
}

/// Puts `count` factors of a number, none above `most`, behind those that are there.
fn fill(divisors: &[usize], number: usize, count: usize, most: usize, factors: &mut Vec<usize>) -> bool {
    if count == 1 {
        if number <= most {
            factors.push(number);
        }
        return number <= most;
    }
    // The largest of so many is at least the root.
    let reaches = |factor: usize| {
        let power = (0..count).try_fold(1_usize, |power, _| power.checked_mul(factor));
        power.is_none_or(|power| power >= number)
    };
    let first = divisors.partition_point(|factor| !reaches(*factor));
    for factor in divisors[first..].iter().take_while(|factor| **factor <= most) {
        if number.is_multiple_of(*factor) {
            factors.push(*factor);
            if fill(divisors, number / factor, count - 1, *factor, factors) {
                return true;
            }
            factors.pop();
        }
    }
    false
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
    fn the_largest_factor_is_as_small_as_it_can_be() {
        for number in 1..=200 {
            for count in 1..=4 {
                let best = all(number, count, number).into_iter().min().expect("there is one");
                assert_eq!(balanced(number, count), best, "{number} by {count}");
            }
        }
        assert_eq!(balanced(1_000_000_000, 3), [1000, 1000, 1000]);
        assert_eq!(balanced(999_983, 2), [999_983, 1]);
        assert_eq!(balanced(6552, 3), [24, 21, 13]);
        assert_eq!(balanced(1, 0), Vec::<usize>::new());
    }
}
