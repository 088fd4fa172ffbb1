//! What a program gave to a call of MPI, as far as people want to read of it. The entry points, which are made from the table of
//! procedures, leave it on their stack.

/// The arguments of a call that say something to people, in the order of the standard.
#[derive(Copy, Clone, Debug)]
pub struct Arguments<'a> {
    /// What each of them is, and its name.
    pub meanings: &'static [(Meaning, &'static str)],
    /// The values: numbers, handles and addresses.
    pub values: &'a [i64],
    /// What is answered, and the bytes of one such answer: whether there is anything comes first.
    pub answers: &'static [(Answer, usize)],
    /// Where the answers are written, and how many.
    pub places: &'a [(usize, i64)],
}

/// What a call answers where an argument says.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Whether there are other answers.
    Flag,
    /// A number, a handle, a status; or so many of them.
    One,
    /// How many of others there are.
    Number,
    /// As many as another answer says.
    Numbered,
    /// A text with its end.
    Text,
}

/// What an argument is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// How many elements.
    Count,
    /// Of what.
    Datatype,
    /// Another process, by its rank.
    Rank,
    /// The label of a message.
    Tag,
    /// A communicator.
    Comm,
    /// An operator.
    Op,
    /// Where the handle of a request is.
    Request,
    /// Where the handles of several requests are.
    Requests,
    /// A number that its name tells.
    Number,
}

impl Arguments<'_> {
    /// Nothing is known of them.
    pub const NONE: Arguments<'static> = Arguments { meanings: &[], values: &[], answers: &[], places: &[] };

    /// What each of them is, its name and its value.
    pub fn iter(&self) -> impl Iterator<Item = (Meaning, &'static str, i64)> {
        self.meanings.iter().zip(self.values).map(|(&(meaning, name), &value)| (meaning, name, value))
    }
}
