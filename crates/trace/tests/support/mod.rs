//! Small programs, played on the real kernel and recorded; and what every written timeline must satisfy.
#![allow(dead_code)] // Each test uses its part of this.

pub mod check;
pub mod program;
