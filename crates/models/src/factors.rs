//! Factors that turn a platform's figures into what a protocol really gets from them.

/// A factor that depends on the size of the message. Steps are `(from, value)`: a value holds for sizes above
/// its `from`, up to and including the next one's. Up to the first `from` there is no factor: it is 1, so that an
/// empty message under SMPI waits for the bare latency.
#[derive(Clone, PartialEq, Debug)]
pub struct Factor {
    steps: Vec<(f64, f64)>,
}

impl Factor {
    /// The same factor whatever the size.
    pub fn constant(value: f64) -> Factor {
        Factor { steps: vec![(f64::NEG_INFINITY, value)] }
    }

    /// A factor by size; `steps` must rise and not be empty.
    pub fn by_size(steps: &[(f64, f64)]) -> Factor {
        assert!(!steps.is_empty(), "a factor has at least one value");
        assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "the sizes of a factor rise");
        Factor { steps: steps.to_vec() }
    }

    /// Reads `0.97`, or steps as SimGrid writes them: `0:2.01467;257:1.95341`.
    pub fn parse(text: &str) -> Option<Factor> {
        let is_factor = |value: &f64| (0.0..f64::INFINITY).contains(value);
        if let Ok(value) = text.trim().parse() {
            return Some(value).filter(is_factor).map(Factor::constant);
        }
        let mut steps = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (from, value) = part.split_once(':')?;
            steps.push((from.trim().parse().ok()?, value.trim().parse().ok()?));
        }
        // Files list them in any order.
        steps.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
        let rising = steps.windows(2).all(|pair: &[(f64, f64)]| pair[0].0 < pair[1].0);
        let factors = steps.iter().all(|(_, value)| is_factor(value));
        (!steps.is_empty() && rising && factors).then_some(Factor { steps })
    }

    /// Whether it makes nothing of any size.
    pub fn is_ever_zero(&self) -> bool {
        self.steps.iter().any(|(_, value)| *value == 0.0)
    }

    /// The factor for a message of this size.
    #[inline]
    pub fn of(&self, size: f64) -> f64 {
        if let [(from, value)] = self.steps[..] {
            return if from < size { value } else { 1.0 };
        }
        let after = self.steps.partition_point(|&(from, _)| from < size);
        after.checked_sub(1).map_or(1.0, |last| self.steps[last].1)
    }
}

/// Latency factors of SMPI, measured on a real cluster by SimGrid's authors.
pub const SMPI_LATENCY: [(f64, f64); 9] = [
    (0.0, 2.01467),
    (257.0, 1.95341),
    (732.0, 1.9503),
    (1426.0, 1.61075),
    (3484.0, 1.88101),
    (5776.0, 2.18796),
    (9376.0, 2.59299),
    (15424.0, 3.48845),
    (65472.0, 11.6436),
];

/// Bandwidth factors of SMPI, from the same measures.
pub const SMPI_BANDWIDTH: [(f64, f64); 9] = [
    (0.0, 0.812084),
    (257.0, 0.338112),
    (732.0, 0.341987),
    (1426.0, 0.608902),
    (3484.0, 0.77493),
    (5776.0, 1.08739),
    (9376.0, 0.58729),
    (15424.0, 0.697866),
    (65472.0, 0.940694),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_up_to_the_next_size_included() {
        let factor = Factor::by_size(&SMPI_LATENCY);
        for (size, expected) in [
            (0.0, 1.0),
            (16.0, 2.01467),
            (257.0, 2.01467),
            (258.0, 1.95341),
            (65472.0, 3.48845),
            (1e9, 11.6436),
        ] {
            assert_eq!(factor.of(size), expected, "size {size}");
        }
    }

    #[test]
    fn factors_are_read_as_simgrid_writes_them() {
        assert_eq!(Factor::parse("0.97"), Some(Factor::constant(0.97)));
        assert_eq!(Factor::parse("0:1.5; 100:2"), Some(Factor::by_size(&[(0.0, 1.5), (100.0, 2.0)])));
        assert_eq!(Factor::parse("0:1.5;nonsense"), None);
        assert_eq!(Factor::parse("5:1;2:3"), Some(Factor::by_size(&[(2.0, 3.0), (5.0, 1.0)])));
        assert_eq!(Factor::parse("2:1;2:3"), None);
        assert!(Factor::parse("0:1;9:0").is_some_and(|factor| factor.is_ever_zero()));
        for nonsense in ["-1", "nan", "inf", "0:1;9:-2", "0:nan"] {
            assert_eq!(Factor::parse(nonsense), None, "{nonsense}");
        }
    }
}
