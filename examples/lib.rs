//! Programs to learn from, one topic a folder: each has a page, and its expected output is a test.
#![forbid(unsafe_code)]

pub mod protocol;
