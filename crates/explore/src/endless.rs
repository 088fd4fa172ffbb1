//! Actors that go on for ever without doing anything that others can see: they yield, sleep, or look at a clock that stands still.

/// After so many requests in a row that concern nobody else, an actor is taken to run in circles: more than a program does in
/// earnest, and few enough to be done within a second or so.
pub(crate) const LOCAL_MAX: u32 = 2_000_000;

/// What is wrong with such an actor.
pub(crate) fn endless() -> String {
    format!(
        "goes on for ever without doing anything that others can see ({LOCAL_MAX} requests); time stands still under `check`"
    )
}

/// What is wrong with an actor that panics when it has come to its end, before what it says.
pub(crate) const AT_ITS_END: &str = "panicked in what it does at its end";
