//! A program made into one that takes a given way.

use std::sync::Arc;

use simurgh_explore::receives::reads_from::ReadsFrom;

use super::log::{Log, Trouble};
use super::{interposer, unknown};
use crate::program::Program;

/// A program that takes a given way.
#[derive(Debug)]
pub struct Steering {
    way: Arc<ReadsFrom>,
    log: Arc<Log>,
}

/// Makes a program into one that takes a given way.
pub fn steer(program: Program, way: ReadsFrom) -> (Program, Steering) {
    let way = Arc::new(way);
    let (program, log) = interposer::interpose(program, Some(Arc::clone(&way)));
    (program, Steering { way, log })
}

impl Steering {
    /// Once it was simulated: why it did not take its way, if it did not.
    pub fn obstacle(&self) -> Option<String> {
        match self.log.take_trouble() {
            Some(Trouble::Unknown(what)) => Some(unknown(what).to_string()),
            Some(Trouble::Strayed { actor, what }) => Some(format!("actor {actor:?} {what}")),
            None => {
                let behind = self.log.behind(&self.way)?;
                Some(format!("actor {behind:?} ends or waits before it has done all"))
            }
        }
    }
}
