//! Keys of single nodes (X25519): what two nodes share by them is known to nobody else, so that no node can speak for another.

use std::path::{Path, PathBuf};

use simurgh_protocol::ActorId;
use x25519_dalek::{PublicKey, StaticSecret};

use crate::deployment::Deployment;
use crate::error::Error;
use crate::private;

/// The public keys of all nodes, and where each has its private one.
#[derive(Clone)]
pub(crate) struct NodeKeys {
    pub(crate) public: Vec<[u8; 32]>,
    pub(crate) private_key_file: String,
}

impl NodeKeys {
    /// The private key of a node.
    pub(crate) fn private(&self, deployment: &Deployment, me: ActorId) -> Result<[u8; 32], Error> {
        let name = &deployment.nodes[me.index()].name;
        let path = file_of(&self.private_key_file, deployment.path(), name);
        let wrong = |what: String| Error::PrivateKey { path: path.clone(), what };
        let text = String::from_utf8(private::read(&path)?).unwrap_or_default();
        let private = hexadecimal(text.trim()).ok_or_else(|| {
            wrong("this is no private key; one is 64 hexadecimal digits, and is made by `--make-key`".into())
        })?;
        if PublicKey::from(&StaticSecret::from(private)).to_bytes() != self.public[me.index()] {
            return Err(wrong(format!(
                "this key is not the one of node {name:?} in {}; put its public_key there, or take the right file",
                deployment.path().display()
            )));
        }
        Ok(private)
    }
}

/// The file of the private key of a node.
pub(crate) fn file_of(template: &str, deployment: &Path, node: &str) -> PathBuf {
    deployment.parent().unwrap_or(Path::new("")).join(template.replace("{node}", node))
}

/// Makes a key, writes it to a file that is not there yet, and gives the public one.
pub(crate) fn make(path: &Path) -> Result<String, Error> {
    let secret: [u8; 32] = rand::random();
    let made = private::make(path, format!("{}\n", digits(&secret)).as_bytes());
    made.map_err(|source| Error::PrivateKey {
        path: path.into(),
        what: format!("cannot be made: {source}; a key that is there is not overwritten"),
    })?;
    Ok(digits(PublicKey::from(&StaticSecret::from(secret)).as_bytes()))
}

/// A public key that is written in a deployment file.
pub(crate) fn read_public(text: &str) -> Result<[u8; 32], &'static str> {
    let key = hexadecimal(text)
        .ok_or("its public_key is none; one is 64 hexadecimal digits, as `--make-key` prints them")?;
    // There are a few keys with which everybody shares the same.
    let shared = StaticSecret::from([1; 32]).diffie_hellman(&PublicKey::from(key));
    if shared.was_contributory() { Ok(key) } else { Err("its public_key hides nothing; make another one") }
}

fn digits(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = |place: usize| u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Count;
    use crate::noise::Credentials;
    use crate::noise::tests::meet;
    use proptest::prelude::*;

    /// Three nodes with keys of their own, in a folder.
    fn three(folder: &Path) -> Deployment {
        std::fs::create_dir_all(folder).expect("a folder");
        let text = |keys: &[String]| {
            let mut text =
                "transport = \"tcp\"\nkey = \"sixteen bytes or more\"\nprivate_key_file = \"{node}.key\"\n"
                    .to_owned();
            for node in 0..3 {
                text += &format!("[[node]]\nname = \"n{node}\"\naddress = \"h:{node}\"\n");
                keys.get(node).into_iter().for_each(|key| text += &format!("public_key = \"{key}\"\n"));
            }
            text
        };
        let file = folder.join("d.toml");
        std::fs::write(&file, text(&[])).expect("it is written");
        let missing = Deployment::read(&file).err().expect("there are no keys").to_string();
        assert!(missing.contains("node \"n0\" has no public_key; make one by `deploy "), "{missing}");
        let keys: Vec<String> = (0..3)
            .map(|node| Deployment::make_key(&file, &format!("n{node}")).expect("a key is made"))
            .collect();
        let again = Deployment::make_key(&file, "n0").expect_err("it is there").to_string();
        assert!(
            again.ends_with("a key that is there is not overwritten") && !again.contains('\n'),
            "{again}"
        );
        std::fs::write(&file, text(&keys)).expect("it is written");
        Deployment::read(&file).expect("it is right")
    }

    #[test]
    fn no_node_speaks_for_another() {
        let folder = std::env::temp_dir().join(format!("simurgh-keys-{}", std::process::id()));
        let deployment = three(&folder);
        let own = |node| Credentials::node(&deployment, ActorId(node)).expect("its key is there");
        let [zero, one, two] = [0, 1, 2].map(own);
        assert!(meet(&zero, &one).is_ok() && meet(&one, &two).is_ok());
        // Two says that it is zero, and has the key of all, but not that of zero.
        let mut posing = own(2);
        posing.me = 0;
        assert_eq!(meet(&posing, &one).err(), Some(Count::NotAuthentic));
        assert_eq!(meet(&one, &posing).err(), Some(Count::NotAuthentic));
        // Nor does it help to say nothing of keys, as an observer does.
        let mut plain = Credentials::observer(&deployment);
        plain.me = 0;
        assert_eq!(meet(&plain, &one).err(), Some(Count::NotAuthentic));
        assert_eq!(meet(&one, &plain).err(), Some(Count::NotAuthentic));
        assert!(meet(&Credentials::observer(&deployment), &one).is_ok());
        // A file that is exchanged for another is told.
        std::fs::copy(folder.join("n0.key"), folder.join("n1.key")).expect("it is copied");
        let told = Credentials::node(&deployment, ActorId(1)).err().expect("another key").to_string();
        assert!(told.contains("this key is not the one of node \"n1\""), "{told}");
        std::fs::write(folder.join("n1.key"), "none").expect("it is written");
        let told = Credentials::node(&deployment, ActorId(1)).err().expect("no key").to_string();
        assert!(told.contains("this is no private key"), "{told}");
        std::fs::remove_dir_all(&folder).expect("it is removed");
    }

    proptest! {
        #[test]
        fn keys_are_read_as_they_are_written(key: [u8; 32], text in ".{0,70}") {
            prop_assert_eq!(hexadecimal(&digits(&key)), Some(key));
            // Whatever is written in a deployment file is a key or is told, and nothing panics.
            let _ = read_public(&text);
        }
    }

    #[test]
    fn keys_that_hide_nothing_are_refused() {
        assert!(read_public(&"00".repeat(32)).is_err());
        assert!(read_public(&format!("01{}", "00".repeat(31))).is_err());
        assert!(read_public("f").is_err() && read_public(&"é".repeat(32)).is_err());
    }
}
