//! Who takes part, where, and with which key: the deployment file.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use simurgh_protocol::ActorId;

use crate::error::Error;
use crate::keys::{NodeKeys, read_public};

/// A shorter key could be guessed.
const KEY_BYTES_MIN: usize = 16;
/// What fits into one datagram beside the header and the tag.
pub(crate) const DATAGRAM_MESSAGE_MAX: usize = 65_000;
const STREAM_MESSAGE_MAX: usize = 64 << 20;
/// More messages than this could not wait anywhere.
const QUEUE_MAX: usize = 1 << 24;

/// What carries messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A datagram a message, lost or late as it may be; at most 65,000 bytes.
    Udp,
    /// A connection from each node to each other, made again whenever it breaks.
    Tcp,
}

/// A node of a deployment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// What it is called.
    pub name: String,
    /// Where it listens: `HOST:PORT`.
    pub address: String,
    /// Its public key, if each node has a key of its own: 64 hexadecimal digits.
    pub public_key: Option<String>,
}

/// Who takes part, where, and with which key.
///
/// ```toml
/// transport = "tcp"            # or "udp"
/// key_file = "secret.key"      # or key = "..." here; at least 16 bytes, the same for all nodes
/// storage = "state"            # a folder for what survives crashes, if the program keeps something
/// message_bytes_max = 65000    # what is longer is dropped
/// queue_max = 1024             # messages that wait for each peer, and for the actor
/// encrypted = true             # says nothing any more: what messages say is hidden always
/// private_key_file = "{node}.key"  # a key of its own for each node, beside the one of all; see below
/// loss = 0.0                   # the share of messages that are lost on purpose, to see what a protocol does then
///
/// [[node]]                     # the first is actor 0
/// name = "alice"
/// address = "127.0.0.1:7401"
/// public_key = "..."           # if each node has a key of its own
/// ```
///
/// Paths are relative to the folder of the file. In `private_key_file`, `{node}` stands for the name of the node;
/// [`Deployment::make_key`] makes such a file and gives the public key for everybody.
#[derive(Clone)]
pub struct Deployment {
    path: PathBuf,
    pub(crate) transport: Transport,
    pub(crate) key: Vec<u8>,
    pub(crate) storage: Option<PathBuf>,
    pub(crate) message_bytes_max: usize,
    pub(crate) queue_max: usize,
    pub(crate) node_keys: Option<NodeKeys>,
    pub(crate) loss: f64,
    pub(crate) nodes: Vec<Peer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    transport: Transport,
    key: Option<String>,
    key_file: Option<PathBuf>,
    storage: Option<PathBuf>,
    message_bytes_max: Option<usize>,
    queue_max: Option<usize>,
    /// From the time when messages could be read by whoever saw them; they never can now, whatever this says.
    #[serde(default, rename = "encrypted")]
    _encrypted: bool,
    private_key_file: Option<String>,
    #[serde(default)]
    loss: f64,
    #[serde(default)]
    node: Vec<Peer>,
}

impl File {
    fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let what = format!("line {line}: {}", error.message().replace('\n', " "));
            Error::Deployment { path: path.into(), what }
        })
    }

    /// The keys of the nodes, if each has one of its own.
    fn node_keys(&self, path: &Path) -> Result<Option<NodeKeys>, Error> {
        let wrong = |what: String| Error::Deployment { path: path.into(), what };
        let with: Vec<&Peer> = self.node.iter().filter(|node| node.public_key.is_some()).collect();
        let Some(private_key_file) = &self.private_key_file else {
            return match with.first() {
                None => Ok(None),
                Some(node) => Err(wrong(format!(
                    "node {:?} has a public_key, but there is no private_key_file; add `private_key_file = \"{{node}}.key\"`",
                    node.name
                ))),
            };
        };
        let mut public = Vec::new();
        for node in &self.node {
            let key = node.public_key.as_deref().ok_or_else(|| {
                let name = &node.name;
                wrong(format!(
                    "node {name:?} has no public_key; make one by `deploy {} --node {name} --make-key`",
                    path.display()
                ))
            })?;
            let read = read_public(key).map_err(|what| wrong(format!("node {:?}: {what}", node.name)))?;
            public.push(read);
        }
        Ok(Some(NodeKeys { public, private_key_file: private_key_file.clone() }))
    }
}

impl Deployment {
    /// Makes a key for a node of a deployment file that asks for them, writes it to its file, and gives the public key.
    ///
    /// # Errors
    /// If there is no such node, or the file of the key cannot be written, or is there already.
    pub fn make_key(path: impl AsRef<Path>, node: &str) -> Result<String, Error> {
        let path = path.as_ref();
        let text = simurgh_files::read_text(path)
            .map_err(|unreadable| Error::Read { path: path.into(), source: unreadable.into() })?;
        let file = File::parse(path, &text)?;
        let place = find(&file.node, node, path)?;
        let template = file.private_key_file.ok_or_else(|| Error::Deployment {
            path: path.into(),
            what: "there is no private_key_file; add `private_key_file = \"{node}.key\"`".into(),
        })?;
        crate::keys::make(&crate::keys::file_of(&template, path, &file.node[place.index()].name))
    }

    /// Reads a deployment file.
    ///
    /// # Errors
    /// If it cannot be read, or something in it is wrong or missing.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = simurgh_files::read_text(path)
            .map_err(|unreadable| Error::Read { path: path.into(), source: unreadable.into() })?;
        Self::parse(path, &text)
    }

    /// Understands the text of a deployment file; `path` tells where it is from, and where its paths begin.
    ///
    /// # Errors
    /// If something in it is wrong or missing.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Self, Error> {
        let path = path.as_ref();
        let wrong = |what: String| Error::Deployment { path: path.into(), what };
        let mut file = File::parse(path, text)?;
        let beside = |other: PathBuf| path.parent().unwrap_or(Path::new("")).join(other);
        let key = match (file.key.take(), file.key_file.take()) {
            (Some(key), None) => key.into_bytes(),
            (None, Some(key_file)) => crate::private::read(&beside(key_file))?.trim_ascii().to_vec(),
            (None, None) => {
                return Err(wrong(
                    "there is no key; add `key_file = \"FILE\"` with a secret of all nodes".into(),
                ));
            }
            (Some(_), Some(_)) => {
                return Err(wrong("both `key` and `key_file` are given; remove one".into()));
            }
        };
        if key.len() < KEY_BYTES_MIN {
            let length = key.len();
            return Err(wrong(format!("the key has {length} bytes; take {KEY_BYTES_MIN} or more")));
        }
        let (most, usual) = match file.transport {
            Transport::Udp => (DATAGRAM_MESSAGE_MAX, DATAGRAM_MESSAGE_MAX),
            Transport::Tcp => (STREAM_MESSAGE_MAX, 1 << 20),
        };
        let message_bytes_max = file.message_bytes_max.unwrap_or(usual);
        if !(1..=most).contains(&message_bytes_max) {
            let what = format!(
                "message_bytes_max is {message_bytes_max}; it may be 1 to {most} over this transport"
            );
            return Err(wrong(what));
        }
        let queue_max = file.queue_max.unwrap_or(1024);
        if queue_max == 0 {
            return Err(wrong("queue_max is 0, so that nothing could be sent; take 1 or more".into()));
        }
        if queue_max > QUEUE_MAX {
            return Err(wrong(format!("queue_max is {queue_max}; it may be 1 to {QUEUE_MAX}")));
        }
        if !(0.0..=1.0).contains(&file.loss) {
            let what = format!("loss is {}; it is a share from 0 to 1, such as 0.1", file.loss);
            return Err(wrong(what));
        }
        if file.node.is_empty() {
            return Err(wrong("there are no nodes; add [[node]] with `name` and `address`".into()));
        }
        for (place, node) in file.node.iter().enumerate() {
            if node.name.is_empty() || node.name.contains(['/', '\0']) {
                return Err(wrong(format!("node {place} needs a name without slashes, not {:?}", node.name)));
            }
            for other in &file.node[..place] {
                if other.name == node.name || other.address == node.address {
                    let both = (&other.name, &node.name);
                    return Err(wrong(format!("nodes {both:?} share a name or an address; change one")));
                }
            }
        }
        let node_keys = file.node_keys(path)?;
        Ok(Self {
            path: path.into(),
            transport: file.transport,
            key,
            storage: file.storage.map(beside),
            message_bytes_max,
            queue_max,
            node_keys,
            loss: file.loss,
            nodes: file.node,
        })
    }

    /// The nodes, in the order of their numbers.
    pub fn nodes(&self) -> &[Peer] {
        &self.nodes
    }

    /// The identities of all actors.
    pub fn actors(&self) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.nodes.len()).map(ActorId::from)
    }

    /// What carries messages.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// The deployment file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A node by its name or its number.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn find(&self, node: &str) -> Result<ActorId, Error> {
        find(&self.nodes, node, &self.path)
    }
}

fn find(nodes: &[Peer], node: &str, path: &Path) -> Result<ActorId, Error> {
    let named = nodes.iter().position(|peer| peer.name == node);
    let numbered = || node.parse::<usize>().ok().filter(|&number| number < nodes.len());
    named.or_else(numbered).map(ActorId::from).ok_or_else(|| {
        let known: Vec<&str> = nodes.iter().map(|peer| peer.name.as_str()).collect();
        Error::UnknownNode { node: node.into(), path: path.into(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "transport = \"udp\"\nkey = \"sixteen bytes or more\"\n\
        [[node]]\nname = \"a\"\naddress = \"127.0.0.1:1\"\n[[node]]\nname = \"b\"\naddress = \"127.0.0.1:2\"\n";

    fn refused(text: &str) -> String {
        Deployment::parse("d.toml", text).err().expect("it is wrong").to_string()
    }

    #[test]
    fn nodes_have_names_and_numbers() {
        let deployment = Deployment::parse("d.toml", GOOD).expect("it is right");
        assert_eq!(deployment.find("b").expect("b"), ActorId(1));
        assert_eq!(deployment.find("0").expect("0"), ActorId(0));
        let error = deployment.find("c").expect_err("nobody");
        assert_eq!(error.to_string(), "there is no node \"c\" in d.toml; its nodes are a, b");
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line() {
        let without_key = GOOD.replace("key = \"sixteen bytes or more\"\n", "");
        assert_eq!(
            refused(&without_key),
            "d.toml: there is no key; add `key_file = \"FILE\"` with a secret of all nodes"
        );
        assert_eq!(
            refused(&GOOD.replace("sixteen bytes or more", "short")),
            "d.toml: the key has 5 bytes; take 16 or more"
        );
        assert_eq!(
            refused(&GOOD.replace("127.0.0.1:2", "127.0.0.1:1")),
            "d.toml: nodes (\"a\", \"b\") share a name or an address; change one"
        );
        assert_eq!(
            refused(&GOOD.replace("key =", "loss = 2.0\nkey =")),
            "d.toml: loss is 2; it is a share from 0 to 1, such as 0.1"
        );
        // The runtime would panic.
        assert_eq!(
            refused(&GOOD.replace("key =", "queue_max = 9223372036854775807\nkey =")),
            "d.toml: queue_max is 9223372036854775807; it may be 1 to 16777216"
        );
        let unknown = refused(&GOOD.replace("\"udp\"", "\"ip\""));
        assert!(unknown.starts_with("d.toml: line 1: unknown variant `ip`"), "{unknown}");
        let missing = refused(&without_key.replace("transport", "key_file = \"none.key\"\ntransport"));
        assert!(missing.starts_with("none.key: cannot be read: "), "{missing}");
        assert!(!unknown.contains('\n') && !missing.contains('\n'));
    }
}
