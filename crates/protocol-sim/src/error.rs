//! What can go wrong when a protocol is to be simulated.

/// Why a protocol cannot be simulated; each in one line that says where, what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system is not put together well.
    #[error("{0}")]
    System(String),
    /// There is no such host.
    #[error("{platform}: there is no host {host:?}{hint}")]
    Host {
        /// Of which platform.
        platform: String,
        /// Which.
        host: String,
        /// What to do.
        hint: String,
    },
    /// There is no host at all.
    #[error("{platform}: there is no host to put an actor on; add one")]
    NoHost {
        /// Of which platform.
        platform: String,
    },
    /// The configuration of the platform is not understood.
    #[error("{platform}: {source}")]
    Config {
        /// Of which platform, and the line.
        platform: String,
        /// What is wrong.
        source: simurgh_models::Error,
    },
    /// A property of the platform makes no sense.
    #[error("{0}")]
    Models(simurgh_models::Error),
    /// Something is not a probability.
    #[error(
        "a {what} of {probability} is none; it is a number from 0 to 1, such as 0.1 for one message in ten"
    )]
    Probability {
        /// What is to happen with messages.
        what: &'static str,
        /// How often.
        probability: f64,
    },
    /// Something is planned for an actor that is not there, or for a date that never comes.
    #[error("{what} of actor {actor} at {at} s: {why}")]
    Plan {
        /// What is to happen.
        what: &'static str,
        /// To whom.
        actor: u32,
        /// When.
        at: f64,
        /// What is wrong with it.
        why: String,
    },
    /// A message has no way to go.
    #[error("a message from {from} to {to}: {source}")]
    NoRoute {
        /// From whom.
        from: String,
        /// To whom.
        to: String,
        /// Why there is no way.
        source: Box<simurgh_platform::RouteError>,
    },
    /// The models do not take a message.
    #[error("a message from {from} to {to}: {reason}")]
    Refused {
        /// From whom.
        from: String,
        /// To whom.
        to: String,
        /// Why not.
        reason: String,
    },
}
