//! Attacks, by those who can record and play back what goes over the wire, by strangers who hold connections, and by those who have
//! the key: two nodes go on talking, and nothing is heard twice.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::wire::{ALIVE, ANSWER, MESSAGE, OBSERVER, PIECE, QUESTION, Wire, frame};
use crate::support::{KEY, Running, Talker, deployment, go_on, ports, soon, text};
use simurgh_deploy::{Count, Deployment, Observer};

/// Somebody between two nodes, who lets everything through and remembers it.
struct Recorder {
    /// What went to `a` and to `b`.
    recorded: [Arc<Mutex<Vec<Vec<u8>>>>; 2],
    /// The deployments of `a` and of `b`, each of which has the recorder at the address of the other.
    deployments: [Deployment; 2],
    /// Where `a` and `b` are.
    ports: [u16; 2],
    over: Arc<AtomicBool>,
}

/// Runs something beside the test.
#[expect(clippy::disallowed_methods, reason = "what is between the nodes is no part of them")]
fn beside(run: impl FnOnce() + Send + 'static) {
    std::thread::spawn(run);
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    fn new(transport: &str) -> Self {
        let [a, b, to_a, to_b] = ports();
        let recorder = Self {
            recorded: Default::default(),
            deployments: [[a, to_b], [to_a, b]].map(|ports| deployment(transport, ports)),
            ports: [a, b],
            over: Arc::default(),
        };
        for (node, port) in [to_a, to_b].into_iter().enumerate() {
            match transport {
                "udp" => recorder.datagrams(node, port),
                _ => recorder.connections(node, port),
            }
        }
        recorder
    }

    /// Passes on what comes to a port to a node, and what it answers back.
    fn datagrams(&self, node: usize, port: u16) {
        let near = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
        let far = UdpSocket::bind("127.0.0.1:0").expect("a port");
        for socket in [&near, &far] {
            socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        }
        let to: SocketAddr = ([127, 0, 0, 1], self.ports[node]).into();
        let source = Arc::new(Mutex::new(None));
        let sockets = [Arc::new(near), Arc::new(far)];
        for back in [false, true] {
            let [near, far] = sockets.each_ref().map(Arc::clone);
            let (source, over) = (Arc::clone(&source), Arc::clone(&self.over));
            let recorded = Arc::clone(&self.recorded[if back { 1 - node } else { node }]);
            beside(move || {
                let mut buffer = [0; 2000];
                while !over.load(SeqCst) {
                    let from = if back { &far } else { &near };
                    let Ok((length, address)) = from.recv_from(&mut buffer) else { continue };
                    let datagram = &buffer[..length];
                    locked(&recorded).push(datagram.to_vec());
                    if !back {
                        *locked(&source) = Some(address);
                        let _ = far.send_to(datagram, to);
                    } else if let Some(source) = *locked(&source) {
                        let _ = near.send_to(datagram, source);
                    }
                }
            });
        }
    }

    /// The same for connections; only what their makers say is remembered, a connection a piece.
    fn connections(&self, node: usize, port: u16) {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
        let (to, recorded) = (self.ports[node], Arc::clone(&self.recorded[node]));
        beside(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let place = {
                    let mut recorded = locked(&recorded);
                    recorded.push(Vec::new());
                    recorded.len() - 1
                };
                for back in [false, true] {
                    let mut from = if back { &far } else { &near }.try_clone().expect("a stream");
                    let mut into = if back { &near } else { &far }.try_clone().expect("a stream");
                    let recorded = Arc::clone(&recorded);
                    beside(move || {
                        let mut buffer = [0; 4096];
                        while let Ok(length @ 1..) = from.read(&mut buffer) {
                            if !back {
                                locked(&recorded)[place].extend(&buffer[..length]);
                            }
                            if into.write_all(&buffer[..length]).is_err() {
                                break;
                            }
                        }
                        let _ = into.shutdown(Shutdown::Both);
                    });
                }
            }
        });
    }

    fn start(&self, node: usize) -> Running {
        Running::start(["a", "b"][node], &self.deployments[node])
    }

    fn recorded(&self, node: usize) -> Vec<Vec<u8>> {
        locked(&self.recorded[node]).clone()
    }

    /// Plays back all that was recorded, some pieces every few milliseconds, and says how many there were.
    fn play_back(&self) -> usize {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let pieces = [0, 1].map(|node| self.recorded(node));
        for (node, pieces) in pieces.iter().enumerate() {
            for (number, piece) in pieces.iter().enumerate() {
                socket.send_to(piece, ("127.0.0.1", self.ports[node])).expect("it goes out");
                if number % 20 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        }
        pieces.iter().map(Vec::len).sum()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.over.store(true, SeqCst);
    }
}

/// What went wrong: an old `Welcome` was believed, and 84 to 99 of 100 messages went to an incarnation that was dead.
#[test]
fn a_recorded_handshake_is_of_no_use_after_a_restart() {
    let recorder = Recorder::new("udp");
    let (a, b) = (recorder.start(0), recorder.start(1));
    go_on(&[&a, &b], 30);
    b.crash();
    let old = [0, 1].map(|node| recorder.recorded(node));
    let b = recorder.start(1);
    go_on(&[&a, &b], 10);
    let (said, heard) = (a.said(), b.heard());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    while a.said() < said + 100 {
        for (node, pieces) in old.iter().enumerate() {
            // Greetings and their answers are what was played back; the rest makes a node answer.
            for piece in pieces.iter().take(20) {
                socket.send_to(piece, ("127.0.0.1", recorder.ports[node])).expect("it goes out");
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let (said, heard) = (a.said() - said, b.heard() - heard);
    println!("{heard} of {said} were heard while the handshake was played back");
    assert!(heard * 100 >= said * 95, "{heard} of {said} were heard");
    assert_eq!(b.repeated(), 0, "something was heard twice");
    let (a, b) = (a.stop(), b.stop());
    println!("a: {a}\nb: {b}");
    assert!(a.get(Count::Outdated) > 0 && b.get(Count::Outdated) > 0, "{a}; {b}");
}

#[test]
fn recorded_datagrams_are_heard_once() {
    let recorder = Recorder::new("udp");
    let (a, b) = (recorder.start(0), recorder.start(1));
    go_on(&[&a, &b], 50);
    let pieces = (0..5).map(|_| recorder.play_back()).sum::<usize>();
    go_on(&[&a, &b], 20);
    assert_eq!((a.repeated(), b.repeated()), (0, 0), "something was heard twice");
    let (a, b) = (a.stop(), b.stop());
    println!("{pieces} played back\na: {a}\nb: {b}");
    assert!(a.get(Count::Replayed) > 50 && b.get(Count::Replayed) > 50, "{a}; {b}");
}

#[test]
fn a_recorded_connection_is_of_no_use() {
    let recorder = Recorder::new("tcp");
    let (a, mut b) = (recorder.start(0), recorder.start(1));
    go_on(&[&a, &b], 30);
    for restart in [false, true] {
        if restart {
            b.crash();
            b = recorder.start(1);
            go_on(&[&a, &b], 10);
        }
        let heard = b.heard();
        for connection in recorder.recorded(1) {
            let mut stream = TcpStream::connect(("127.0.0.1", recorder.ports[1])).expect("a connection");
            stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
            let _ = stream.write_all(&connection);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() <= 88, "{} bytes come back", answer.len());
        }
        go_on(&[&a, &b], 20);
        assert!(b.heard() > heard && b.repeated() == 0, "something was heard twice");
    }
    let counters = b.stop();
    println!("b: {counters}");
    assert!(counters.get(Count::NotAuthentic) > 0, "{counters}");
}

/// What went wrong: as many connections of strangers as there were places made a node deaf.
#[test]
fn silent_strangers_made_a_node_deaf() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let a = Running::start("a", &deployment);
    soon("a does not listen", || TcpStream::connect(("127.0.0.1", ports[0])).is_ok());
    let over = Arc::new(AtomicBool::new(false));
    for _ in 0..100 {
        let over = Arc::clone(&over);
        beside(move || {
            while !over.load(SeqCst) {
                let Ok(mut stream) = TcpStream::connect(("127.0.0.1", ports[0])) else { continue };
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let _ = stream.read(&mut [0]);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    }
    std::thread::sleep(Duration::from_millis(500));
    #[expect(clippy::disallowed_methods, reason = "what is measured is time")]
    let begin = Instant::now();
    let b = Running::start("b", &deployment);
    go_on(&[&a, &b], 50);
    let took = begin.elapsed();
    over.store(true, SeqCst);
    let counters = a.stop();
    println!("50 messages each in {took:?} beside 100 silent strangers; a: {counters}");
    assert!(took < Duration::from_secs(10), "they needed {took:?}");
    assert!(counters.get(Count::Refused) > 0, "{counters}");
}

#[test]
fn another_key_is_no_key() {
    for transport in ["udp", "tcp"] {
        let ports = ports();
        let other = text(transport, "", ports, ["", ""]).replace(KEY, "the key of somebody else");
        let other = Deployment::parse("test.toml", &other).expect("it is right");
        let (a, b) = (Running::start("a", &deployment(transport, ports)), Running::start("b", &other));
        soon("they say nothing", || a.said() > 50 && b.said() > 50);
        assert_eq!((a.heard(), b.heard()), (0, 0));
        let (a, b) = (a.stop(), b.stop());
        println!("{transport}: {a}; {b}");
        assert!(a.get(Count::NotAuthentic) > 0 && b.get(Count::NotAuthentic) > 0, "{a}; {b}");
    }
}

/// Who has the key and says what is no message: the connection is closed, and no more.
#[test]
fn nonsense_of_those_who_have_the_key_is_dropped() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let (a, b) = (Running::start("a", &deployment), Running::start("b", &deployment));
    go_on(&[&a, &b], 5);
    for number in 0..300_u32 {
        let mut wire = Wire::connect(ports[0], OBSERVER, 0);
        let noise: Vec<u8> = (0..number % 60).map(|_| rand::random()).collect();
        let content = (number % 9) as u8;
        for _ in 0..10 {
            if wire.say(content, &noise).is_err() {
                break;
            }
        }
    }
    // Frames of the session with a bit changed, left out, or sent twice.
    for what in 0..4 {
        let mut wire = Wire::connect(ports[0], OBSERVER, 0);
        let [mut first, second] = [wire.seal(ALIVE, &[]), wire.seal(ALIVE, &[])];
        let bytes = match what {
            0 => [&first[..], &first].concat(),
            1 => second,
            2 => frame(3, OBSERVER, 0, 1, 1, &first[32..]),
            _ => {
                first[40] ^= 1;
                first
            }
        };
        wire.stream.write_all(&bytes).expect("it is taken");
        assert!(wire.is_closed());
    }
    go_on(&[&a, &b], 20);
    assert_eq!((a.repeated(), b.repeated()), (0, 0));
    let counters = a.stop();
    println!("a: {counters}");
    for count in [Count::NotUnderstood, Count::NotAuthentic, Count::Replayed, Count::UnknownSender] {
        assert!(counters.get(count) > 0, "{count:?}: {counters}");
    }
}

#[test]
fn what_is_too_long_ends_a_connection() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let (a, b) = (Running::start("a", &deployment), Running::start("b", &deployment));
    go_on(&[&a, &b], 5);
    // Before anything is proved, nothing is longer than a greeting.
    let mut stranger = TcpStream::connect(("127.0.0.1", ports[0])).expect("a connection");
    stranger.write_all(&frame(1, 1, 0, 7, 0, &[0; 57])).expect("it is taken");
    assert!(matches!(stranger.read(&mut [0; 9]), Ok(0) | Err(_)));
    // Then nothing is longer than a frame, nor are pieces longer than a message may be.
    let mut wire = Wire::connect(ports[0], OBSERVER, 0);
    let mut long = frame(3, OBSERVER, 0, 7, 2, &[]);
    long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    wire.stream.write_all(&long).expect("it is taken");
    assert!(wire.is_closed());
    let mut wire = Wire::connect(ports[0], OBSERVER, 0);
    let mut pieces = 0;
    while wire.say(PIECE, &[7; 100]).is_ok() && pieces < 100_000 {
        pieces += 1;
    }
    assert!(pieces < 100_000, "it takes pieces without end");
    go_on(&[&a, &b], 20);
    let counters = a.stop();
    assert_eq!(counters.get(Count::TooLong), 3, "{counters}");
}

#[expect(clippy::disallowed_methods, reason = "cuts are numbered by the clock")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_micros() as u64
}

/// What went wrong: after the largest number there was no later cut, and nobody could look any more.
#[test]
fn an_observer_with_the_largest_number_shut_out_all_others() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let (a, b) = (Running::start("a", &deployment), Running::start("b", &deployment));
    go_on(&[&a, &b], 5);
    let observer = Observer::new(&deployment).expect("it can look");
    let join = |number: u64| {
        let mut wire = Wire::connect(ports[0], OBSERVER, 0);
        let question = postcard::to_stdvec(&(0_u8, number)).expect("it is encoded");
        wire.say(QUESTION, &question).expect("it is taken");
        let (content, answer) = wire.hear().expect("it is answered");
        assert_eq!(content, ANSWER);
        answer[0]
    };
    let (joined, ahead) = (0, 4);
    let hour = 3_600_000_000;
    for (number, answer) in [(u64::MAX, ahead), (now() + 25 * hour, ahead), (now() + 23 * hour, joined)] {
        assert_eq!(join(number), answer, "{number}");
        go_on(&[&a, &b], 5);
        // Twice, since messages have carried the number of the cut by now.
        for _ in 0..2 {
            let seen = observer.snapshot::<Talker>().expect("it can still look");
            assert!(seen.nodes.iter().all(|node| node.state.heard > 0));
        }
    }
    // Nor does a node believe another node that says so: `b` has the key here, and so has whoever has it.
    let mut wire = Wire::connect(ports[0], 1, 0);
    let message = postcard::to_stdvec(&77_777_u32).expect("it is encoded");
    wire.say(3, &[&u64::MAX.to_le_bytes()[..], &message].concat()).expect("it is taken");
    go_on(&[&a, &b], 5);
    observer.snapshot::<Talker>().expect("it can still look");
}

#[test]
fn a_peer_that_closes_half_of_a_connection_is_let_go() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let listener = TcpListener::bind(("127.0.0.1", ports[1])).expect("the port is free");
    let a = Running::start("a", &deployment);
    // It says no more, and still listens: it is closed.
    soon("a does not listen", || TcpStream::connect(("127.0.0.1", ports[0])).is_ok());
    let mut wire = Wire::connect(ports[0], 1, 0);
    wire.say(MESSAGE, &postcard::to_stdvec(&1_u32).expect("it is encoded")).expect("it is taken");
    wire.stream.shutdown(Shutdown::Write).expect("it is closed");
    assert!(wire.is_closed());
    soon("what was said before is not heard", || a.heard() == 1);
    // It is connected to, and closes its half: the node connects again.
    for _ in 0..3 {
        let (stream, _) = listener.accept().expect("a connection");
        let mut wire = Wire::accept(stream).expect("a greeting");
        assert!(wire.hear().is_some_and(|(content, _)| content == MESSAGE));
        wire.stream.shutdown(Shutdown::Write).expect("it is closed");
    }
    let counters = a.stop();
    assert!(counters.get(Count::Connected) >= 3, "{counters}");
}

/// Who has proved itself and says nothing any more is closed, from either side.
#[test]
fn half_dead_connections_are_ended() {
    let ports = ports();
    let deployment = deployment("tcp", ports);
    let listener = TcpListener::bind(("127.0.0.1", ports[1])).expect("the port is free");
    let a = Running::start("a", &deployment);
    soon("a does not listen", || TcpStream::connect(("127.0.0.1", ports[0])).is_ok());
    let mut silent = Wire::connect(ports[0], 1, 0);
    let (stream, _) = listener.accept().expect("a connection");
    let mut deaf = Wire::accept(stream).expect("a greeting");
    beside(move || while deaf.hear().is_some() {});
    assert!(silent.is_closed());
    let (stream, _) = listener.accept().expect("another connection");
    assert!(Wire::accept(stream).is_some());
    let counters = a.stop();
    println!("a: {counters}");
    assert_eq!(counters.get(Count::Silent), 2, "{counters}");
}

#[test]
fn a_new_connection_of_a_peer_replaces_its_old_one() {
    let ports = ports();
    let a = Running::start("a", &deployment("tcp", ports));
    soon("a does not listen", || TcpStream::connect(("127.0.0.1", ports[0])).is_ok());
    let message = postcard::to_stdvec(&1_u32).expect("it is encoded");
    let mut old = Wire::connect(ports[0], 1, 0);
    old.say(MESSAGE, &message).expect("it is taken");
    for more in 1..50 {
        let mut new = Wire::connect(ports[0], 1, 0);
        // What is still on its way counts.
        old.say(MESSAGE, &message).expect("it is taken");
        new.say(MESSAGE, &message).expect("it is taken");
        soon("something is not heard", || a.heard() > 2 * more);
        if more % 10 == 0 {
            assert!(old.is_closed());
        }
        old = new;
    }
    // Observers have places of their own, and do not replace nodes.
    let mut observers: Vec<Wire> = (0..40).map(|_| Wire::connect(ports[0], OBSERVER, 0)).collect();
    assert!(observers[0].is_closed());
    old.say(MESSAGE, &message).expect("it is taken");
    soon("it is not heard", || a.heard() == 100);
}
