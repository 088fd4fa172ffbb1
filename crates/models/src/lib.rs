//! How activities share resources over time.
#![forbid(unsafe_code)]
