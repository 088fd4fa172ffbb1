//! Info objects: keys and values in the order in which they were given (MPI 5.0, chapter 10).

/// A list of keys and values.
#[derive(Clone, Debug, Default)]
pub struct Info {
    /// In the order in which they were given.
    pub entries: Vec<(String, String)>,
}
