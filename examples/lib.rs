//! Programs to learn from, one topic a folder: each has a page, and its expected output is a test.
#![forbid(unsafe_code)]

pub mod protocol;

/// The page about tests: what it shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/checking-in-tests.md")]
struct CheckingInTests;

/// What SimGrid's calls are here: what it shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-simgrid.md")]
struct FromSimGrid;
