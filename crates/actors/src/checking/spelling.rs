//! What options are called.

/// How options are called where they were given, so that what is said about one of them can be found there.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Spelling {
    /// They are methods of [`Check`](super::Check).
    #[default]
    Methods,
    /// They are arguments of the command.
    Arguments,
}

impl Spelling {
    /// The right one of two spellings.
    pub(crate) fn of<'t>(self, argument: &'t str, method: &'t str) -> &'t str {
        match self {
            Spelling::Methods => method,
            Spelling::Arguments => argument,
        }
    }
}
