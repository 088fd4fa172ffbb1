//! The real world, on this machine: nodes are threads that talk over TCP or UDP, encrypted, and what they store is in files.

use std::any::Any;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use simurgh_deploy::{Count, Counters, Deployment, Error, Node, Transport};
use simurgh_protocol::{Actor, ActorId, Data, LocalStates, States};
use tokio::sync::{mpsc, oneshot};

use crate::World;
use crate::cast::{Member, Watcher};

/// How often somebody who waits looks.
const GLANCE: Duration = Duration::from_millis(2);

/// The last state that each node has shown.
type Shown = Vec<Option<Arc<dyn Any + Send + Sync>>>;

/// What connects a node to its world.
pub(crate) struct Hooks<M> {
    me: ActorId,
    shown: Arc<Mutex<Shown>>,
    watcher: Option<Watcher>,
    inputs: mpsc::Receiver<M>,
    crash: oneshot::Receiver<()>,
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M> Hooks<M> {
    pub(crate) fn attach<A: Actor<Msg = M>>(self, node: Node<A>) -> Node<A>
    where
        M: Serialize + DeserializeOwned,
    {
        let Self { me, shown, watcher, inputs, crash } = self;
        let node = node.inputs(inputs).crash_when(async {
            let _ = crash.await;
        });
        node.watch(move |state| {
            locked(&shown)[me.index()] = Some(Arc::new(state.clone()));
            if let Some(watcher) = &watcher {
                (locked(watcher))(me, state);
            }
        })
    }
}

/// A node that is up.
struct Up<M> {
    inputs: mpsc::Sender<M>,
    crash: oneshot::Sender<()>,
    thread: JoinHandle<Result<Counters, Error>>,
}

/// A protocol over real sockets on this machine. When it is dropped, its nodes end and what they stored is removed.
pub struct Real<M> {
    members: Vec<Arc<dyn Member<M>>>,
    watcher: Option<Watcher>,
    deployment: Deployment,
    folder: PathBuf,
    shown: Arc<Mutex<Shown>>,
    nodes: Vec<Option<Up<M>>>,
    lost: u64,
}

impl<M: Data> Real<M> {
    pub(crate) fn new(
        members: Vec<Arc<dyn Member<M>>>,
        watcher: Option<Watcher>,
        transport: Transport,
        loss: f64,
    ) -> Self {
        static WORLDS: AtomicU64 = AtomicU64::new(0);
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("simurgh-world-{}-{number}", std::process::id()));
        // All ports are held until all are known, so that they differ.
        let free = || TcpListener::bind("127.0.0.1:0").expect("the system gives a port");
        let held: Vec<TcpListener> = members.iter().map(|_| free()).collect();
        let name = match transport {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        };
        let mut text = format!(
            "transport = \"{name}\"\nencrypted = true\nkey = \"the key of a world that lives for a test\"\nstorage = {:?}\nloss = {loss:?}\n",
            folder.display().to_string()
        );
        for (at, listener) in held.iter().enumerate() {
            let port = listener.local_addr().expect("it has an address").port();
            text += &format!("[[node]]\nname = \"{at}\"\naddress = \"127.0.0.1:{port}\"\n");
        }
        drop(held);
        let deployment = Deployment::parse("the real world", &text).unwrap_or_else(|error| panic!("{error}"));
        let count = members.len();
        let mut world = Self {
            members,
            watcher,
            deployment,
            folder,
            shown: Arc::new(Mutex::new(vec![None; count])),
            nodes: (0..count).map(|_| None).collect(),
            lost: 0,
        };
        for node in 0..count {
            world.start(ActorId::from(node));
        }
        world
    }

    fn start(&mut self, me: ActorId) {
        let (inputs, receiver) = mpsc::channel(64);
        let (crash, crashed) = oneshot::channel();
        let (shown, watcher) = (Arc::clone(&self.shown), self.watcher.clone());
        let hooks = Hooks { me, shown, watcher, inputs: receiver, crash: crashed };
        let (member, deployment) = (Arc::clone(&self.members[me.index()]), self.deployment.clone());
        #[expect(clippy::disallowed_methods, reason = "a node of the real world lives by itself")]
        let thread = std::thread::spawn(move || member.run(me, &deployment, hooks));
        self.nodes[me.index()] = Some(Up { inputs, crash, thread });
    }

    fn end(&mut self, node: ActorId) -> Option<Result<Counters, Error>> {
        let up = self.nodes[node.index()].take()?;
        // It may have ended by itself.
        let _ = up.crash.send(());
        let ended = up.thread.join();
        locked(&self.shown)[node.index()] = None;
        Some(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    /// Fails if a node has ended by itself: it found something that it cannot go on with.
    fn all_live(&mut self) {
        for node in (0..self.nodes.len()).map(ActorId::from) {
            let over = self.nodes[node.index()].as_ref().is_some_and(|up| up.thread.is_finished());
            if over && let Some(ended) = self.end(node) {
                panic!("node {node} of the real world has ended: {ended:?}");
            }
        }
    }
}

impl<M: Data> World<M> for Real<M> {
    fn name(&self) -> &'static str {
        "real"
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn input(&mut self, node: ActorId, msg: M) {
        if let Some(up) = &self.nodes[node.index()] {
            // Who ends at this moment does not get it.
            let _ = up.inputs.blocking_send(msg);
        }
    }

    fn kill(&mut self, node: ActorId) {
        if let Some(ended) = self.end(node) {
            let counters = ended.unwrap_or_else(|error| panic!("node {node} of the real world: {error}"));
            self.lost += counters.get(Count::Lost);
        }
    }

    fn restart(&mut self, node: ActorId) {
        if self.nodes[node.index()].is_none() {
            self.start(node);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the real world has a real clock")]
    fn wait(&mut self, time_max: Duration, until: &mut dyn FnMut(&States<'_>) -> bool) -> bool {
        let begin = Instant::now();
        loop {
            self.all_live();
            let moment = Moment(locked(&self.shown).clone());
            if until(&States::new(&moment)) {
                return true;
            }
            if begin.elapsed() > time_max {
                return false;
            }
            std::thread::sleep(GLANCE);
        }
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

struct Moment(Shown);

impl LocalStates for Moment {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn state(&self, actor: usize) -> Option<&dyn Any> {
        self.0[actor].as_deref().map(|state| state as &dyn Any)
    }
}

impl<M> Drop for Real<M> {
    fn drop(&mut self) {
        for up in self.nodes.iter_mut().filter_map(Option::take) {
            let _ = up.crash.send(());
            let _ = up.thread.join();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl<M> std::fmt::Debug for Real<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let up = self.nodes.iter().filter(|node| node.is_some()).count();
        f.debug_struct("Real").field("nodes", &self.nodes.len()).field("up", &up).finish_non_exhaustive()
    }
}
