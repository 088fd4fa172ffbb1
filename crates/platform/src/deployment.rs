//! Which actors start where: the `<actor>` elements of a file, as data.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;

/// An actor to start. The host is a name: a deployment file is read without its platform.
#[derive(Clone, Debug, PartialEq)]
pub struct ActorDeclaration {
    /// The host's name.
    pub host: String,
    /// The function's name.
    pub function: String,
    /// Its arguments, in order.
    pub arguments: Vec<String>,
    /// Its properties.
    pub properties: BTreeMap<String, String>,
    /// When it starts, if not at 0.
    pub start_time: Option<f64>,
    /// When it is killed, if ever.
    pub kill_time: Option<f64>,
    /// What happens to it when its host fails.
    pub on_failure: OnFailure,
    /// The line of the file.
    pub line: u32,
}

/// What becomes of an actor whose host was off and is on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// It stays dead.
    #[default]
    Die,
    /// It starts anew.
    Restart,
}

/// Reads a deployment file: a `<platform version="4.1">` that holds only `<actor>` elements (older name: `process`).
pub fn read_deployment(path: impl AsRef<Path>) -> Result<Vec<ActorDeclaration>, Error> {
    crate::xml::deployment_from_file(path.as_ref())
}
