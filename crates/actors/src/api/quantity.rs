//! Amounts and spans of time, as programs give them; and what is not one is refused, with its actor and line.

use std::panic::Location;
use std::time::Duration;

use simurgh_kernel::context::{stand_at, violate};

/// A span of time: a number of seconds, or a [`Duration`].
///
/// ```
/// # use simurgh::prelude::*;
/// # use std::time::Duration;
/// async fn naps(ctx: Ctx) {
///     ctx.sleep(1.5).await;
///     ctx.sleep(Duration::from_millis(1500)).await;
/// }
/// ```
#[derive(Copy, Clone, PartialEq, PartialOrd, Debug)]
pub struct Seconds(pub f64);

impl From<f64> for Seconds {
    #[inline]
    fn from(seconds: f64) -> Self {
        Self(seconds)
    }
}

impl From<i32> for Seconds {
    fn from(seconds: i32) -> Self {
        Self(seconds.into())
    }
}

impl From<u32> for Seconds {
    fn from(seconds: u32) -> Self {
        Self(seconds.into())
    }
}

impl From<Duration> for Seconds {
    fn from(duration: Duration) -> Self {
        Self(duration.as_secs_f64())
    }
}

/// An amount of work: finite, and not negative.
#[track_caller]
#[inline]
pub(crate) fn amount(value: f64, what: &str) -> f64 {
    if (0.0..f64::INFINITY).contains(&value) {
        value
    } else {
        refuse(value, what, "a finite number, 0 or more,")
    }
}

/// A rate, a bound or a share: more than nothing.
#[track_caller]
#[inline]
pub(crate) fn positive(value: f64, what: &str) -> f64 {
    if value > 0.0 { value } else { refuse(value, what, "a number above 0") }
}

/// How long somebody waits at most.
#[track_caller]
#[inline]
pub(crate) fn patience(span: impl Into<Seconds>) -> f64 {
    let Seconds(seconds) = span.into();
    if seconds >= 0.0 {
        seconds
    } else {
        refuse(seconds, "a timeout in seconds", "0 or more, or no timeout to wait for ever,")
    }
}

/// A date, or a span that may be over already.
#[track_caller]
#[inline]
pub(crate) fn moment(span: impl Into<Seconds>, what: &str) -> f64 {
    let Seconds(seconds) = span.into();
    if seconds.is_nan() { refuse(seconds, what, "a number of seconds") } else { seconds }
}

/// How long somebody sleeps, who is to wake up some day.
#[track_caller]
#[inline]
pub(crate) fn nap(span: impl Into<Seconds>) -> f64 {
    let Seconds(seconds) = span.into();
    if (0.0..f64::INFINITY).contains(&seconds) {
        seconds
    } else {
        refuse(seconds, "a sleep", "a finite number of seconds, 0 or more,")
    }
}

/// How many of something there are: one or more.
#[track_caller]
#[inline]
pub(crate) fn some(count: u32, what: &str) -> u32 {
    if count > 0 { count } else { refuse(count, what, "1 or more") }
}

/// How many of something there are: no more than are of use, since each takes memory.
#[track_caller]
pub(crate) fn at_most(count: u32, limit: u32, what: &str) -> u32 {
    if count <= limit { count } else { refuse(count, what, &format!("{limit} or fewer")) }
}

#[cold]
#[track_caller]
fn refuse(value: impl std::fmt::Display, what: &str, expected: &str) -> ! {
    let place = Location::caller();
    stand_at(place);
    violate(format!("{}:{}: {what} cannot be {value}: {expected} is expected", place.file(), place.line()))
}
