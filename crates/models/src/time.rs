//! A date of the simulated clock.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

/// Seconds since the simulation began. Ordered totally, so it can key ordered collections.
#[derive(Copy, Clone, Debug, Default)]
pub struct SimTime(f64);

impl SimTime {
    /// The beginning of every simulation.
    pub const ZERO: SimTime = SimTime(0.0);

    /// The date `seconds` after the beginning.
    pub const fn new(seconds: f64) -> SimTime {
        SimTime(seconds)
    }

    /// Seconds since the beginning.
    pub const fn seconds(self) -> f64 {
        self.0
    }
}

impl PartialEq for SimTime {
    fn eq(&self, other: &SimTime) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SimTime {}

impl PartialOrd for SimTime {
    fn partial_cmp(&self, other: &SimTime) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SimTime {
    fn cmp(&self, other: &SimTime) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Add<f64> for SimTime {
    type Output = SimTime;
    fn add(self, seconds: f64) -> SimTime {
        SimTime(self.0 + seconds)
    }
}

impl Sub for SimTime {
    type Output = f64;
    fn sub(self, earlier: SimTime) -> f64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.precision() {
            Some(digits) => write!(f, "{:.*}", digits, self.0),
            None => write!(f, "{:.6}", self.0),
        }
    }
}
