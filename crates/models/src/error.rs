//! What a user of the models can get wrong.

use thiserror::Error as ThisError;

/// Each displays as one line that says what is wrong and what to do.
#[derive(Clone, PartialEq, Debug, ThisError)]
pub enum Error {
    /// A configuration key that neither this simulator nor SimGrid has.
    #[error("unknown configuration key \"{key}\"{}", did_you_mean(.suggestion))]
    UnknownKey {
        /// The key given.
        key: String,
        /// The nearest one that exists.
        suggestion: Option<String>,
    },
    /// A value that the key does not take.
    #[error("configuration key \"{key}\" cannot be \"{value}\"; {expected}")]
    BadValue {
        /// The key given.
        key: String,
        /// The value given.
        value: String,
        /// What is expected.
        expected: String,
    },
    /// A power state that the host does not have.
    #[error("host \"{host}\" has {count} power state(s), numbered from 0; there is no number {pstate}")]
    NoSuchPstate {
        /// The host's name.
        host: String,
        /// The state asked for.
        pstate: usize,
        /// How many there are.
        count: usize,
    },
    /// A link that is no wifi cell, or a level that it does not have.
    #[error("link \"{link}\" has no wifi rate number {level}: it has {count}, numbered from 0")]
    NoSuchRate {
        /// The link's name.
        link: String,
        /// The level asked for.
        level: usize,
        /// How many there are (0 where the link is no wifi cell).
        count: usize,
    },
    /// A property of the platform file that cannot be read.
    #[error("{owner}: property \"{property}\" cannot be \"{value}\"; {expected}")]
    BadProperty {
        /// The platform, the line, and `host "name"` or `link "name"`.
        owner: String,
        /// The property's name.
        property: String,
        /// Its value.
        value: String,
        /// What is expected.
        expected: String,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(key) => format!("; did you mean \"{key}\"?"),
        None => {
            "; the keys are those of SimGrid, such as network/model and host/model; docs/models.md lists them"
                .to_string()
        }
    }
}
