//! Loops that are executed a few times, and afterwards take the mean of these times (`SIMURGH_SAMPLE_LOCAL` and the like of
//! `simurgh.h`).
//!
//! A sample is what a block computed, in flops. A block that calls MPI is sampled by its computations alone, and its calls are left
//! out with it: such a block should not be sampled.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::rank::Rank;

/// Where a block is: a line of a file.
pub type Place = (u32, String);

/// What is known of blocks, by their places.
#[derive(Debug, Default)]
pub struct Samples {
    known: BTreeMap<Place, Sample>,
}

/// What is known of a block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    count: u32,
    sum: f64,
    squares: f64,
}

/// Where processes are in their blocks.
#[derive(Debug, Default)]
pub struct Sampling {
    /// What the process had computed when its block began, in flops.
    began: Cell<f64>,
    /// Its own samples.
    pub own: std::cell::RefCell<Samples>,
}

/// How well a block must be known before it is left out.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Enough {
    /// It was executed so many times.
    pub times: u32,
    /// Or the standard error of the mean is less than this part of the mean, where that is not 0.
    pub error: f64,
}

impl Sample {
    fn add(&mut self, flops: f64) {
        self.count += 1;
        self.sum += flops;
        self.squares += flops * flops;
    }

    fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / f64::from(self.count) }
    }

    /// The standard error of the mean, as a part of the mean.
    fn error(&self) -> f64 {
        let (count, mean) = (f64::from(self.count), self.mean());
        let variance = (self.squares / count - mean * mean).max(0.0) * count / (count - 1.0);
        if mean == 0.0 { 0.0 } else { (variance / count).sqrt() / mean }
    }

    fn is_known(&self, enough: Enough) -> bool {
        let is_exact = enough.error > 0.0 && self.count >= 2 && self.error() <= enough.error;
        // Who asks for no time at all is given one: there is no mean of nothing.
        self.count >= enough.times.max(1) || is_exact
    }
}

impl Samples {
    /// The mean of a block that is known well enough.
    fn mean(&self, place: &Place, enough: Enough) -> Option<f64> {
        self.known.get(place).filter(|sample| sample.is_known(enough)).map(Sample::mean)
    }

    fn add(&mut self, place: Place, flops: f64) {
        self.known.entry(place).or_default().add(flops);
    }
}

impl Rank {
    /// A block is reached: whether it is to be executed. Otherwise it has taken its time.
    pub fn begins_sample(&self, place: &Place, global: bool, enough: Enough) -> bool {
        self.has_computed();
        let known = if global {
            self.world.samples().mean(place, enough)
        } else {
            self.sampling.own.borrow().mean(place, enough)
        };
        match known {
            Some(flops) => {
                if flops > 0.0 {
                    self.compute(flops);
                }
                self.goes_on();
                false
            }
            None => {
                self.sampling.began.set(self.tracks.flops.get());
                self.goes_on();
                true
            }
        }
    }

    /// A block was executed.
    pub fn ends_sample(&self, place: Place, global: bool) {
        // However short it is: that is what the mean is made of.
        self.has_computed_at_least(0.0);
        let flops = self.tracks.flops.get() - self.sampling.began.get();
        if global {
            self.for_others(|| self.world.samples().add((place.0, place.1.clone()), flops));
        } else {
            self.sampling.own.borrow_mut().add(place, flops);
        }
        self.goes_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Enough = Enough { times: 3, error: 0.0 };

    #[test]
    fn a_block_is_known_after_so_many_times() {
        let (mut samples, place) = (Samples::default(), (7, "a.c".to_owned()));
        for flops in [1.0, 2.0, 6.0] {
            assert_eq!(samples.mean(&place, THREE), None);
            samples.add(place.clone(), flops);
        }
        assert_eq!(samples.mean(&place, THREE), Some(3.0));
        assert_eq!(samples.mean(&(8, "a.c".to_owned()), THREE), None, "another block");
        assert_eq!(samples.mean(&place, Enough { times: 9, error: 0.0 }), None);
    }

    #[test]
    fn a_block_that_takes_the_same_each_time_is_known_earlier() {
        let (mut even, mut odd) = (Sample::default(), Sample::default());
        for flops in [5.0, 5.0] {
            even.add(flops);
        }
        for flops in [1.0, 9.0] {
            odd.add(flops);
        }
        let enough = Enough { times: 100, error: 0.01 };
        assert!(even.is_known(enough) && !odd.is_known(enough));
        assert!(!Sample::default().is_known(Enough { times: 0, error: 0.0 }), "there is no mean of nothing");
    }
}
