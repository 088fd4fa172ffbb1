//! What several tests need.
#![allow(dead_code, missing_docs)]

pub mod folder;
pub mod log;
pub mod platforms;
pub mod scenario;
