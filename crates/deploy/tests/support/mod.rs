//! What tests of deployments share: nodes that talk, ports, and somebody who speaks the wire format by a program of its own.
#![allow(dead_code, reason = "no test needs all of it")]

pub mod wire;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_deploy::{Counters, Deployment, Node};
use simurgh_protocol::{Actor, ActorId, Out};

/// Each of two nodes says a number to the other every 10 ms, and remembers what it heard.
pub struct Talker;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Talk {
    pub said: u32,
    pub heard: u32,
    /// How many were heard that had been heard before.
    pub repeated: u32,
    numbers: BTreeSet<u32>,
}

impl Actor for Talker {
    type Msg = u32;
    type State = Talk;
    type Timer = ();

    fn on_start(&self, out: &mut Out<Self>) -> Talk {
        out.set_timer((), Duration::from_millis(10));
        Talk::default()
    }

    fn on_msg(&self, talk: &mut Talk, _: ActorId, number: &u32, _: &mut Out<Self>) {
        talk.heard += 1;
        talk.repeated += u32::from(!talk.numbers.insert(*number));
    }

    fn on_timeout(&self, talk: &mut Talk, (): &(), out: &mut Out<Self>) {
        talk.said += 1;
        out.send(ActorId(1 - out.me().0), talk.said);
        out.set_timer((), Duration::from_millis(10));
    }
}

/// What must come is waited for so many hundredths of a second, and no longer.
pub const PATIENCE: u32 = 3000;

/// A talker that runs, and ends when this is dropped.
pub struct Running {
    shown: Arc<Shown>,
    thread: Option<JoinHandle<Counters>>,
}

#[derive(Default)]
struct Shown {
    said: AtomicU32,
    heard: AtomicU32,
    repeated: AtomicU32,
    stop: AtomicBool,
    crash: AtomicBool,
}

/// Is done once something is asked for.
async fn asked(shown: Arc<Shown>, of: fn(&Shown) -> &AtomicBool) {
    while !of(&shown).load(SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Running {
    #[expect(clippy::disallowed_methods, reason = "each node needs a thread, as it has a process elsewhere")]
    pub fn start(node: &str, deployment: &Deployment) -> Self {
        let shown = Arc::new(Shown::default());
        let (shows, deployment, node) = (Arc::clone(&shown), deployment.clone(), node.to_owned());
        let thread = std::thread::spawn(move || {
            let stop = asked(Arc::clone(&shows), |shown| &shown.stop);
            let crash = asked(Arc::clone(&shows), |shown| &shown.crash);
            let node = Node::new(Talker, &node, &deployment).expect("it is there").observable();
            let node = node.watch(move |talk| {
                shows.said.store(talk.said, SeqCst);
                shows.heard.store(talk.heard, SeqCst);
                shows.repeated.store(talk.repeated, SeqCst);
            });
            node.until(stop).crash_when(crash).run().expect("it runs")
        });
        Self { shown, thread: Some(thread) }
    }

    pub fn said(&self) -> u32 {
        self.shown.said.load(SeqCst)
    }

    pub fn heard(&self) -> u32 {
        self.shown.heard.load(SeqCst)
    }

    pub fn repeated(&self) -> u32 {
        self.shown.repeated.load(SeqCst)
    }

    fn end(&mut self, of: fn(&Shown) -> &AtomicBool) -> Counters {
        of(&self.shown).store(true, SeqCst);
        self.thread.take().expect("it runs").join().expect("it ends well")
    }

    pub fn stop(mut self) -> Counters {
        self.end(|shown| &shown.stop)
    }

    pub fn crash(mut self) -> Counters {
        self.end(|shown| &shown.crash)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shown.crash.store(true, SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Waits until each has heard so many more.
pub fn go_on(nodes: &[&Running], more: u32) {
    let before: Vec<u32> = nodes.iter().map(|node| node.heard()).collect();
    let heard = || nodes.iter().map(|node| node.heard());
    soon("they do not talk", || heard().zip(&before).all(|(now, before)| now >= before + more));
}

/// Waits until something is true.
pub fn soon(otherwise: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..PATIENCE {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{otherwise}");
}

/// Ports that are free now.
pub fn ports<const N: usize>() -> [u16; N] {
    let held = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    held.map(|listener| listener.local_addr().expect("an address").port())
}

pub const KEY: &str = "a key for this test";

pub fn text(transport: &str, more: &str, [a, b]: [u16; 2], [of_a, of_b]: [&str; 2]) -> String {
    format!(
        "transport = \"{transport}\"\nkey = \"{KEY}\"\nmessage_bytes_max = 1000\n{more}\n\
         [[node]]\nname = \"a\"\naddress = \"127.0.0.1:{a}\"\n{of_a}\n\
         [[node]]\nname = \"b\"\naddress = \"127.0.0.1:{b}\"\n{of_b}\n"
    )
}

pub fn deployment(transport: &str, ports: [u16; 2]) -> Deployment {
    Deployment::parse("test.toml", &text(transport, "", ports, ["", ""])).expect("it is right")
}
