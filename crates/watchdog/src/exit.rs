//! Code of a user that ends the process.

use std::io::Write;

use crate::watchdog::{Stuck, Whose};

/// The exit code of what cannot run.
const CANNOT_RUN: i32 = 2;

/// Code of a user is about to end the process: that is no answer, whatever its code says. Says so, and ends it with exit code 2.
pub fn ended_the_process(who: Stuck) {
    let Stuck { whose, place, .. } = who;
    let after = place.map_or_else(String::new, |place| format!(" after {place}"));
    let inside = if let Whose::Handler { call, .. } = &whose { format!(" in {call}") } else { String::new() };
    let advice = match whose {
        Whose::Handler { .. } | Whose::Asked(_) => "let handlers return, or panic",
        Whose::Value(_) => "no value may do so while a search goes on",
        Whose::Actor(_) | Whose::Invariant(_) | Whose::Program => "let actors return, or fail with an error",
    };
    // A test keeps what is printed by `eprintln` for its end, which never comes.
    let _ = writeln!(
        std::io::stderr(),
        "simurgh: {whose} ends the process{inside}{after} (`std::process::exit`): nothing is known of its other executions; \
         {advice}"
    );
    signal_hook::low_level::exit(CANNOT_RUN)
}
