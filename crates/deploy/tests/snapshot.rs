//! Snapshots of a deployment that runs are consistent: money that is passed round is neither found twice nor missed.

use std::net::TcpListener;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simurgh_deploy::{Deployment, Error, Node, Observer};
use simurgh_protocol::{Actor, ActorId, Out, Snapshot};

const NODES: usize = 3;
const MONEY: u64 = 1_000;

/// Sends some of its money to somebody, again and again.
struct Bank;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Pay;

impl Actor for Bank {
    type Msg = u64;
    type State = u64;
    type Timer = Pay;

    fn on_start(&self, out: &mut Out<Self>) -> u64 {
        out.set_timer(Pay, Duration::from_millis(300));
        MONEY
    }

    fn on_msg(&self, money: &mut u64, _: ActorId, some: &u64, out: &mut Out<Self>) {
        *money += some;
        self.pay(money, out);
    }

    fn on_timeout(&self, money: &mut u64, Pay: &Pay, out: &mut Out<Self>) {
        self.pay(money, out);
        out.set_timer(Pay, Duration::from_millis(1));
    }
}

impl Bank {
    fn pay(&self, money: &mut u64, out: &mut Out<Self>) {
        let some = (*money).min(1 + out.choose(20) as u64);
        if some > 0 {
            *money -= some;
            let to = ActorId::from(out.choose(NODES));
            out.send(to, some);
        }
    }
}

fn text(transport: &str, more: &str, keys: &[String]) -> String {
    let held = [(); NODES].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let ports = held.map(|listener| listener.local_addr().expect("an address").port());
    let mut text = format!("transport = \"{transport}\"\nkey = \"a key for this test\"\n{more}");
    for (number, port) in ports.iter().enumerate() {
        text += &format!("[[node]]\nname = \"{number}\"\naddress = \"127.0.0.1:{port}\"\n");
        keys.get(number).into_iter().for_each(|key| text += &format!("public_key = \"{key}\"\n"));
    }
    text
}

fn deployment(transport: &str) -> Deployment {
    Deployment::parse("test.toml", &text(transport, "", &[])).expect("it is right")
}

/// Runs a bank at each node while `look` looks at them.
#[allow(
    clippy::disallowed_methods,
    reason = "each node needs a thread of its own, as it has a process of its own elsewhere"
)]
fn while_running(deployment: &Deployment, observable: bool, look: impl FnOnce(&Observer)) {
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    std::thread::scope(|scope| {
        for number in 0..NODES {
            let mut stopped = stop.subscribe();
            scope.spawn(move || {
                let node = Node::new(Bank, &number.to_string(), deployment).expect("it is there");
                let node = if observable { node.observable() } else { node };
                node.until(async move { drop(stopped.recv().await) }).run().expect("it runs");
            });
        }
        look(&Observer::new(deployment).expect("it can look"));
        drop(stop);
    });
}

/// Looks until what is seen is what is waited for, for nodes need some time to start.
fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..100 {
        if let Some(seen) = look() {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("it does not come");
}

fn total(snapshot: &Snapshot<Bank>) -> u64 {
    let kept: u64 = snapshot.nodes.iter().map(|node| node.state).sum();
    kept + snapshot.in_flight.iter().map(|(_, _, some)| some).sum::<u64>()
}

/// So many snapshots must be right, of so many: a busy machine may keep a message from being seen in time, now and then.
const ENOUGH: usize = 20;
const TRIES: usize = 60;

fn money_is_found(transport: &str, deployment: &Deployment) {
    while_running(deployment, true, |observer| {
        soon(|| {
            observer.snapshot::<Bank>().ok().filter(|seen| seen.nodes.iter().all(|node| node.state != MONEY))
        });
        let (mut right, mut flying, mut seen) = (0, 0, Vec::new());
        let mut last = String::new();
        for _ in 0..TRIES {
            let snapshot = match observer.snapshot::<Bank>() {
                Ok(snapshot) => snapshot,
                // A machine that does something else for a while lets a node seem gone.
                Err(error) => {
                    last = error.to_string();
                    continue;
                }
            };
            let total = total(&snapshot);
            assert!(total <= NODES as u64 * MONEY, "money was found twice: {snapshot}");
            assert!(snapshot.nodes.iter().all(|node| node.timers == [Pay]));
            // Datagrams are lost where there are so many. Over TCP, what takes longer than is waited for counts as lost.
            let missed = NODES as u64 * MONEY - total;
            if transport != "udp" && missed >= 200 {
                last = format!("{missed} was missed: {snapshot}");
                continue;
            }
            flying += snapshot.in_flight.len();
            // Where all money is on its way, no node has any: what is on its way differs then.
            seen.push(snapshot.to_string());
            right += 1;
            if right == ENOUGH {
                break;
            }
        }
        assert_eq!(right, ENOUGH, "of {TRIES} snapshots so many were right; the last that was not: {last}");
        seen.dedup();
        println!("{transport}: {flying} messages in flight in {ENOUGH} snapshots");
        assert!(flying > 0 && seen.len() > 2, "nothing went on: {flying} messages in flight, {seen:?}");
    });
}

#[test]
fn money_is_found_over_tcp() {
    money_is_found("tcp", &deployment("tcp"));
}

/// An observer has the key of all only, and understands nodes that have keys of their own and hide what they say.
#[test]
fn money_is_found_where_it_is_hidden() {
    let folder = std::env::temp_dir().join(format!("simurgh-snapshot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, more) = (folder.join("d.toml"), "encrypted = true\nprivate_key_file = \"{node}.key\"\n");
    std::fs::write(&file, text("tcp", more, &[])).expect("it is written");
    let key = |node: usize| Deployment::make_key(&file, &node.to_string()).expect("a key is made");
    let keys: Vec<String> = (0..NODES).map(key).collect();
    std::fs::write(&file, text("tcp", more, &keys)).expect("it is written");
    money_is_found("tcp", &Deployment::read(&file).expect("it is right"));
    std::fs::remove_dir_all(&folder).expect("it is removed");
}

#[test]
fn money_is_found_over_udp() {
    money_is_found("udp", &deployment("udp"));
}

#[test]
fn who_does_not_answer_is_named() {
    let deployment = deployment("tcp");
    let observer = Observer::new(&deployment).expect("it can look");
    let error = observer.snapshot::<Bank>().expect_err("nobody is there");
    assert!(matches!(&error, Error::NoPart { node, .. } if node == "0"), "{error}");
    while_running(&deployment, false, |observer| {
        soon(|| {
            let error = observer.snapshot::<Bank>().expect_err("they do not let themselves be observed");
            error.to_string().contains(".observable()").then_some(())
        });
    });
}
