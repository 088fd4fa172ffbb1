//! Strangers feed a node with bytes of their own: it drops and counts them, and goes on talking to its peer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use crate::support::wire::frame;
use crate::support::{Running, Talker, deployment, go_on, ports, text};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use simurgh_deploy::{Count, Counters, Deployment};

fn secret_folder(transport: &str) -> PathBuf {
    std::env::temp_dir().join(format!("simurgh-hostile-{transport}-{}", std::process::id()))
}

/// The same with a key for each node, in a folder of its own.
fn secret_deployment(transport: &str, ports: [u16; 2]) -> Deployment {
    let folder = secret_folder(transport);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, more) = (folder.join("d.toml"), "encrypted = true\nprivate_key_file = \"{node}.key\"");
    std::fs::write(&file, text(transport, more, ports, ["", ""])).expect("it is written");
    let keys = ["a", "b"].map(|node| Deployment::make_key(&file, node).expect("a key is made"));
    let keys = keys.map(|key| format!("public_key = \"{key}\""));
    std::fs::write(&file, text(transport, more, ports, [&keys[0], &keys[1]])).expect("it is written");
    Deployment::read(&file).expect("it is right")
}

/// Bytes of every sort: noise, noise behind a right beginning, a frame that says to be longer than it is, or huge;
/// frames from and to those who are there, as long as greetings, and others.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(any::<u8>(), 0..1500);
    let framed = (any::<u8>(), prop::collection::vec(any::<u8>(), 64..1500), any::<Option<u32>>()).prop_map(
        |(kind, rest, length)| {
            let length = length.unwrap_or(rest.len() as u32 + 8);
            [&b"SG\x02"[..], &[kind % 6], &length.to_le_bytes(), &rest].concat()
        },
    );
    let addressed =
        (0_u8..6, prop::bool::ANY, any::<(u64, u64)>(), prop::collection::vec(any::<u8>(), 0..100)).prop_map(
            |(kind, observer, (session, nonce), mut rest)| {
                if kind < 3 {
                    rest.resize(56, 7);
                }
                frame(kind, if observer { u32::MAX } else { 1 }, 0, session, nonce, &rest)
            },
        );
    prop_oneof![noise, framed, addressed]
}

/// How many pieces a stranger throws.
const PIECES: usize = 3000;

/// Two nodes talk while a stranger sends pieces to one of them by `throw`, and go on talking.
fn under_fire(make: impl Fn([u16; 2]) -> Deployment, throw: impl Fn(u16, &[u8])) -> Counters {
    let ports = ports();
    let deployment = make(ports);
    let [a, b] = ["a", "b"].map(|node| Running::start(node, &deployment));
    go_on(&[&a, &b], 1);
    let mut runner = TestRunner::deterministic();
    for _ in 0..PIECES {
        let bytes = hostile().new_tree(&mut runner).expect("bytes").current();
        throw(ports[0], &bytes);
    }
    go_on(&[&a, &b], 20);
    let (counters, others) = (a.stop(), b.stop());
    assert_eq!(counters.get(Count::NotUnderstood), 0, "a stranger came through: {counters}");
    assert_eq!(others.dropped(), 0, "nobody threw at the other node: {others}");
    counters
}

fn datagrams(make: impl Fn([u16; 2]) -> Deployment) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let counters = under_fire(make, move |port, bytes| {
        socket.send_to(bytes, ("127.0.0.1", port)).expect("a datagram goes out");
        // So that the buffer of the socket holds them all.
        std::thread::sleep(Duration::from_micros(300));
    });
    assert!(counters.dropped() >= PIECES as u64 * 95 / 100, "{counters}");
    let kinds = [Count::Garbage, Count::NotAuthentic, Count::TooLong];
    assert!(kinds.iter().all(|&kind| counters.get(kind) > 0), "{counters}");
}

fn connections(make: impl Fn([u16; 2]) -> Deployment) {
    let counters = under_fire(make, |port, bytes| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        // It may be closed before all is written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        assert!(matches!(stream.read(&mut [0; 100]), Ok(0) | Err(_)), "a stranger is not answered");
    });
    assert!(counters.dropped() > PIECES as u64 / 2, "{counters}");
    let kinds = [Count::Garbage, Count::NotAuthentic, Count::TooLong];
    assert!(kinds.iter().all(|&kind| counters.get(kind) > 0), "{counters}");
}

#[test]
fn datagrams_of_strangers_are_dropped_and_counted() {
    datagrams(|ports| deployment("udp", ports));
}

#[test]
fn connections_of_strangers_are_closed_and_counted() {
    connections(|ports| deployment("tcp", ports));
}

/// With encrypted messages and a key for each node, all is as without.
#[test]
fn strangers_are_dropped_where_messages_are_encrypted() {
    datagrams(|ports| secret_deployment("udp", ports));
    connections(|ports| secret_deployment("tcp", ports));
    for transport in ["udp", "tcp"] {
        std::fs::remove_dir_all(secret_folder(transport)).expect("it is removed");
    }
}

#[test]
fn an_address_in_use_is_told_in_one_line() {
    let held = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = held.local_addr().expect("an address").port();
    let deployment = deployment("tcp", [port, ports::<1>()[0]]);
    let error = simurgh_deploy::run(Talker, "a", &deployment).expect_err("the address is taken").to_string();
    assert!(error.starts_with(&format!("node \"a\": cannot listen at 127.0.0.1:{port}: ")), "{error}");
    assert!(error.ends_with("; stop what listens there, or give the node another address"), "{error}");
}
