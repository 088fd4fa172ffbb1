//! Files of a deployment: keys that others may read, and what is stored by two processes or another node, are refused in one line.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use simurgh_deploy::{Deployment, Node};
use simurgh_protocol::{Actor, ActorId, Durable, Out};

/// Counts how often it was started.
struct Counter;

impl Actor for Counter {
    type Msg = ();
    type State = u32;
    type Timer = ();

    fn on_start(&self, _: &mut Out<Self>) -> u32 {
        1
    }

    fn on_msg(&self, _: &mut u32, _: ActorId, (): &(), _: &mut Out<Self>) {}
}

impl Durable for Counter {
    type Stored = u32;

    fn stored(&self, starts: &u32) -> u32 {
        *starts
    }

    fn on_recover(&self, starts: &u32, _: &mut Out<Self>) -> u32 {
        starts + 1
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("simurgh-files-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn change_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is changed");
}

const NODES: &str =
    "[[node]]\nname = \"a\"\naddress = \"127.0.0.1:0\"\n[[node]]\nname = \"b\"\naddress = \"127.0.0.2:0\"\n";

#[test]
fn keys_that_others_may_read_are_refused() {
    let folder = folder("keys");
    let (file, key) = (folder.join("d.toml"), folder.join("secret.key"));
    fs::write(&file, format!("transport = \"tcp\"\nkey_file = \"secret.key\"\n{NODES}"))
        .expect("it is written");
    fs::write(&key, "sixteen bytes or more").expect("it is written");
    change_mode(&key, 0o644);
    let told = Deployment::read(&file).err().expect("others may read it").to_string();
    let shown = key.display();
    assert_eq!(
        told,
        format!(
            "{shown}: others than its owner may use it (mode 0644); close it to them by `chmod 600 {shown}`"
        )
    );
    // What it says to do is enough.
    change_mode(&key, 0o600);
    Deployment::read(&file).expect("its owner alone may read it");

    // Keys of single nodes are made right, and looked at too.
    let text = |keys: [&str; 2]| {
        let [a, b] =
            keys.map(|key| if key.is_empty() { key.into() } else { format!("public_key = \"{key}\"\n") });
        format!(
            "transport = \"tcp\"\nkey = \"sixteen bytes or more\"\nprivate_key_file = \"{{node}}.key\"\n\
             [[node]]\nname = \"a\"\naddress = \"127.0.0.1:0\"\n{a}[[node]]\nname = \"b\"\naddress = \"127.0.0.2:0\"\n{b}"
        )
    };
    fs::write(&file, text(["", ""])).expect("it is written");
    let keys = ["a", "b"].map(|node| Deployment::make_key(&file, node).expect("it is made"));
    let mode = fs::metadata(folder.join("a.key")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, text([&keys[0], &keys[1]])).expect("it is written");
    let deployment = Deployment::read(&file).expect("it is right");
    change_mode(&folder.join("a.key"), 0o640);
    let run = |node| Node::new(Counter, node, &deployment).expect("it is there").until(async {}).run();
    let told = run("a").expect_err("others may read it").to_string();
    assert!(told.contains("a.key: others than its owner may use it (mode 0640)"), "{told}");
    run("b").expect("it runs");
    // Nothing is left of how they were made.
    let names = fs::read_dir(&folder).expect("the folder").flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, ["a.key", "b.key", "d.toml", "secret.key"]);
    fs::remove_dir_all(&folder).expect("it is removed");
}

#[test]
fn what_is_stored_is_for_one_process_of_one_node() {
    let folder = folder("stored");
    let text = format!("transport = \"udp\"\nkey = \"sixteen bytes or more\"\nstorage = \"state\"\n{NODES}");
    let deployment = Deployment::parse(folder.join("d.toml"), &text).expect("it is right");
    let node = |name: &str| Node::durable(Counter, name, &deployment);
    let starts = |name: &str| {
        let seen = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let shows = std::sync::Arc::clone(&seen);
        let store = move |starts: &u32| shows.store(*starts, std::sync::atomic::Ordering::SeqCst);
        node(name).expect("it is free").watch(store).until(async {}).run().expect("it runs");
        seen.load(std::sync::atomic::Ordering::SeqCst)
    };
    for expected in 1..5 {
        assert_eq!(starts("a"), expected);
    }
    let held = node("a").expect("it is free");
    let told = node("a").err().expect("it is held").to_string();
    assert!(
        told.ends_with("a.stored: node \"a\" runs already, and has locked this; stop it first"),
        "{told}"
    );
    drop(held);
    let state = folder.join("state");
    fs::copy(state.join("a.stored"), state.join("b.stored")).expect("it is copied");
    let told = node("b").err().expect("it is of another").to_string();
    assert!(told.contains("b.stored: this belongs to node \"a\", not to \"b\""), "{told}");
    change_mode(&state.join("a.stored"), 0o660);
    let told = node("a").err().expect("others may write it").to_string();
    assert!(told.contains("(mode 0660); close it to them by `chmod 600 "), "{told}");
    change_mode(&state.join("a.stored"), 0o600);
    assert_eq!(starts("a"), 5);
    fs::remove_dir_all(&folder).expect("it is removed");
}
