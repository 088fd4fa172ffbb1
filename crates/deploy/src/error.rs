//! What can go wrong when a node is to run.

use std::io;
use std::path::PathBuf;

/// Why a node does not run; each in one line that says where, what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A deployment file that is not understood.
    #[error("{}: {what}", path.display())]
    Deployment {
        /// Which.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A private key cannot be used.
    #[error("{}: {what}", path.display())]
    PrivateKey {
        /// Where it is.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// There is no such node.
    #[error("there is no node \"{node}\" in {}; its nodes are {known}", path.display())]
    UnknownNode {
        /// Who was asked for.
        node: String,
        /// In which deployment file.
        path: PathBuf,
        /// Who is there.
        known: String,
    },
    /// An address is not one.
    #[error(
        "node \"{node}\": address {address}: {source}; write it as HOST:PORT, with a host that is known here"
    )]
    Address {
        /// Whose.
        node: String,
        /// Which.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// Nobody can listen at an address.
    #[error("node \"{node}\": cannot listen at {address}: {source}; {advice}")]
    Listen {
        /// Whose.
        node: String,
        /// Which.
        address: String,
        /// Why.
        source: io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// What is to survive a crash cannot be kept.
    #[error("{}: cannot be written: {source}; nothing that depends on it was sent; make room or mend the folder, and start again", path.display())]
    Store {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What was kept is damaged, or was written by another program.
    #[error("{}: {what}; put back a copy, or remove it if the node may begin anew", path.display())]
    Stored {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// What is kept is held by another process.
    #[error("{}: node {node:?} runs already, and has locked this; stop it first", path.display())]
    Locked {
        /// Where.
        path: PathBuf,
        /// Which node.
        node: String,
    },
    /// What was kept is that of another node.
    #[error("{}: this belongs to node {owner:?}, not to {node:?}; put back the file of {node:?}, or remove it if the node may begin anew", path.display())]
    OfAnother {
        /// Where.
        path: PathBuf,
        /// Whose it is.
        owner: String,
        /// Whose it should be.
        node: String,
    },
    /// A key, or what a node keeps, is in a file that others may use.
    #[error("{0}: others than its owner may use it (mode {mode:04o}); close it to them by `chmod 600 {0}`", path.display())]
    NotPrivate {
        /// Which.
        path: PathBuf,
        /// What the system lets others do.
        mode: u32,
    },
    /// The node has something to keep, and nowhere to keep it.
    #[error("{}: this program keeps something across crashes; add `storage = \"FOLDER\"`", path.display())]
    NoStorage {
        /// The deployment file.
        path: PathBuf,
    },
    /// A running deployment cannot be observed as a whole.
    #[error("node \"{node}\" gives no part of the snapshot: {why}")]
    NoPart {
        /// Which node.
        node: String,
        /// Why.
        why: &'static str,
    },
    /// What a node gave is not understood.
    #[error("node \"{node}\": its state is not understood; does it run the same program as this?")]
    NotUnderstood {
        /// Which node.
        node: String,
    },
    /// What is to be checked cannot be.
    #[error("this cannot be watched: {why}")]
    CannotWatch {
        /// Why.
        why: String,
    },
    /// The system gives no threads, sockets or signals.
    #[error("the system refuses what a node needs: {0}; see the limits of processes and open files")]
    System(io::Error),
}
