//! Strangers feed a node with bytes of their own: it drops and counts them, and goes on talking to its peer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use simurgh_deploy::{Count, Counters, Deployment, Node};
use simurgh_protocol::{Actor, ActorId, Out};

/// Each node says a number to the other every 10 ms, and remembers how many it heard.
struct Talker;

impl Actor for Talker {
    type Msg = u32;
    type State = (u32, u32);
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> (u32, u32) {
        out.set_timer((), Duration::from_millis(10));
        (0, 0)
    }

    fn on_msg(&self, (_, heard): &mut (u32, u32), _: ActorId, _: &u32, _: &mut Out<Self>) {
        *heard += 1;
    }

    fn on_timeout(&self, (said, _): &mut (u32, u32), (): &(), out: &mut Out<Self>) {
        *said += 1;
        out.send(ActorId(1 - out.me().0), *said);
        out.set_timer((), Duration::from_millis(10));
    }
}

/// Ports that are free now.
fn ports<const N: usize>() -> [u16; N] {
    let held = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    held.map(|listener| listener.local_addr().expect("an address").port())
}

fn deployment(transport: &str, [a, b]: [u16; 2]) -> Deployment {
    Deployment::parse("test.toml", &text(transport, "", [a, b], ["", ""])).expect("it is right")
}

fn text(transport: &str, more: &str, [a, b]: [u16; 2], [of_a, of_b]: [&str; 2]) -> String {
    format!(
        "transport = \"{transport}\"\nkey = \"a key for this test\"\nmessage_bytes_max = 1000\n{more}\n\
         [[node]]\nname = \"a\"\naddress = \"127.0.0.1:{a}\"\n{of_a}\n\
         [[node]]\nname = \"b\"\naddress = \"127.0.0.1:{b}\"\n{of_b}\n"
    )
}

fn secret_folder(transport: &str) -> PathBuf {
    std::env::temp_dir().join(format!("simurgh-hostile-{transport}-{}", std::process::id()))
}

/// The same with encrypted messages and a key for each node, in a folder of its own.
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

/// What must come is waited for so many hundredths of a second, and no longer.
const PATIENCE: u32 = 3000;

/// What two nodes, `a` and `b`, have heard of each other, and whether they are to end.
#[derive(Default)]
struct Talk {
    heard: [AtomicU32; 2],
    over: AtomicBool,
}

impl Talk {
    /// Waits until each has heard so many more.
    fn go_on(&self, more: u32) {
        let heard = || self.heard.each_ref().map(|heard| heard.load(SeqCst));
        let before = heard();
        for _ in 0..PATIENCE {
            if heard().iter().zip(before).all(|(&now, before)| now >= before + more) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("they do not talk: {:?} heard", heard());
    }

    /// Runs a node until it is over: what was counted.
    fn run(self: &Arc<Self>, place: usize, deployment: &Deployment) -> Counters {
        let (hears, ends) = (Arc::clone(self), Arc::clone(self));
        let over = async move {
            while !ends.over.load(SeqCst) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let node = Node::new(Talker, ["a", "b"][place], deployment).expect("it is there");
        node.watch(move |state| hears.heard[place].store(state.1, SeqCst)).until(over).run().expect("it runs")
    }
}

/// Ends the talk when it is dropped, by a panic too.
struct End<'a>(&'a Talk);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, SeqCst);
    }
}

/// Bytes of every sort: noise, noise behind a right beginning, a frame that says to be longer than it is, or huge;
/// and as long as a greeting.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(any::<u8>(), 0..1500);
    let framed = (any::<u8>(), prop::collection::vec(any::<u8>(), 64..1500), any::<Option<u32>>()).prop_map(
        |(kind, rest, length)| {
            let length = length.unwrap_or(rest.len() as u32 + 8);
            [&b"SG\x01"[..], &[kind % 9], &length.to_le_bytes(), &rest].concat()
        },
    );
    let short = prop::collection::vec(any::<u8>(), 64)
        .prop_map(|rest| [&b"SG\x01"[..], &[rest[0] % 9, 72, 0, 0, 0], &rest].concat());
    prop_oneof![noise, framed, short]
}

/// Two nodes talk while a stranger sends 300 pieces to one of them by `throw`, and go on talking.
fn under_fire(make: impl Fn([u16; 2]) -> Deployment, throw: impl Fn(u16, &[u8]) + Sync) -> Counters {
    let ports = ports();
    let deployment = make(ports);
    let talk = Arc::new(Talk::default());
    std::thread::scope(|scope| {
        let other = scope.spawn(|| talk.run(1, &deployment));
        let stranger = scope.spawn(|| {
            let _end = End(&talk);
            talk.go_on(1);
            let mut runner = TestRunner::deterministic();
            for _ in 0..300 {
                let bytes = hostile().new_tree(&mut runner).expect("bytes").current();
                throw(ports[0], &bytes);
            }
            talk.go_on(20);
        });
        let counters = talk.run(0, &deployment);
        stranger.join().expect("the stranger ends");
        let others = other.join().expect("the other node ends");
        assert_eq!(counters.get(Count::Received), u64::from(talk.heard[0].load(SeqCst)));
        assert_eq!(counters.get(Count::NotUnderstood), 0, "a stranger came through: {counters}");
        assert_eq!(others.dropped(), 0, "nobody threw at the other node: {others}");
        counters
    })
}

fn datagrams(make: impl Fn([u16; 2]) -> Deployment) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let counters = under_fire(make, move |port, bytes| {
        socket.send_to(bytes, ("127.0.0.1", port)).expect("a datagram goes out");
        // So that the buffer of the socket holds them all.
        std::thread::sleep(Duration::from_micros(300));
    });
    assert!(counters.dropped() >= 290, "{counters}");
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
    assert!(counters.dropped() > 200, "{counters}");
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
