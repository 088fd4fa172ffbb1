//! Writes timelines of a few small programs, to be looked at: `cargo run -p simurgh-trace --example gallery -- DIRECTORY`.

#[path = "../tests/support/program.rs"]
#[allow(dead_code)] // The tests use the rest.
mod program;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use program::{Op, Script, play};
use simurgh_kernel::random::Random;
use simurgh_platform::{DiskId, HostId, LinkId, Platform};
use simurgh_trace::Timeline;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    for (name, timeline) in [
        ("pair", pair()),
        ("ring", ring(12)),
        ("workers", workers(300, 6)),
        ("failures", failures()),
        ("names", names()),
        ("nothing", play(Platform::builtin(), Vec::new())),
        ("instant", play(Platform::builtin(), vec![script("brief", 0, vec![])])),
        ("crowd", workers(3000, 2)),
    ] {
        write(directory, name, &timeline)?;
    }
    Ok(())
}

fn write(directory: &Path, name: &str, timeline: &Timeline) -> std::io::Result<()> {
    let file =
        |extension: &str| File::create(directory.join(format!("{name}.{extension}"))).map(BufWriter::new);
    let (mut json, mut paje, mut svg) = (file("json")?, file("paje")?, file("svg")?);
    timeline.write_perfetto(&mut json)?;
    timeline.write_paje(&mut paje)?;
    timeline.write_svg(&mut svg)?;
    json.flush()?;
    paje.flush()?;
    svg.flush()
}

fn script(name: &str, host: u32, ops: Vec<Op>) -> Script {
    (name.to_owned(), HostId(host), ops)
}

fn pair() -> Timeline {
    let disk = DiskId(1);
    let ping = vec![Op::Execute(4e8), Op::Send(0, 2e8), Op::Recv(1), Op::Sleep(0.2), Op::Execute(2e8)];
    let pong =
        vec![Op::Recv(0), Op::Read(disk, 1e8), Op::Execute(3e8), Op::Send(1, 3e8), Op::Write(disk, 5e7)];
    play(Platform::builtin(), vec![script("ping", 0, ping), script("pong", 1, pong)])
}

/// Everyone computes and passes a token on, with uneven work and a barrier between the rounds.
fn ring(count: u32) -> Timeline {
    let mut scripts = Vec::new();
    for number in 0..count {
        let next = (number + 1) % count;
        let mut ops = Vec::new();
        for round in 0..4 {
            ops.push(Op::Execute(1e8 + 4e7 * f64::from((number * 7 + round * 5) % 11)));
            ops.push(Op::StartSend(next, 8e7));
            ops.push(Op::Recv(number));
            ops.push(Op::WaitAll);
            ops.push(Op::Lock(0));
            ops.push(Op::Sleep(0.01));
            ops.push(Op::Unlock(0));
            ops.push(Op::Arrive);
        }
        scripts.push(script(&format!("rank {number}"), number / 3, ops));
    }
    play(Platform::builtin(), scripts)
}

/// A master gives tasks to many workers.
fn workers(count: u32, tasks: u32) -> Timeline {
    let mut random = Random::new(1, 0);
    let mut master = Vec::new();
    for _ in 0..tasks {
        master.extend((0..count).map(|worker| Op::StartSend(1 + worker, 1e6)));
        master.push(Op::WaitAll);
        master.extend((0..count).map(|_| Op::Recv(0)));
    }
    let mut scripts = vec![script("master", 0, master)];
    for worker in 0..count {
        let mut ops = Vec::new();
        for _ in 0..tasks {
            ops.push(Op::Recv(1 + worker));
            ops.push(Op::Execute(1e8 * (0.5 + random.next_f64())));
            ops.push(Op::Send(0, 1e5));
        }
        scripts.push(script(&format!("worker-{worker}"), 1 + worker % 15, ops));
    }
    play(Platform::builtin(), scripts)
}

/// A link and a host go off and come back, messages time out, an actor is killed, another one moves.
fn failures() -> Timeline {
    let stubborn = vec![Op::Send(0, 4e8), Op::Send(0, 4e8), Op::Execute(3e8)];
    let listener = vec![Op::RecvFor(0, 0.1), Op::Recv(0), Op::Sleep(0.2), Op::Recv(0)];
    let doomed = vec![Op::Execute(1e10)];
    let nomad =
        vec![Op::Execute(3e8), Op::Move(HostId(4)), Op::Execute(3e8), Op::Send(0, 1e8), Op::Sleep(0.1)];
    let victim = vec![Op::Recv(9)];
    let breaker = vec![
        Op::Sleep(0.3),
        Op::LinkState(LinkId(3), false),
        Op::Sleep(0.1),
        Op::LinkState(LinkId(3), true),
        Op::Sleep(0.2),
        Op::HostState(HostId(2), false),
        Op::Sleep(0.3),
        Op::Kill(4),
        Op::HostState(HostId(2), true),
        Op::Sleep(0.1),
    ];
    let scripts = vec![
        script("stubborn sender", 0, stubborn),
        script("listener", 1, listener),
        script("doomed", 2, doomed),
        script("nomad", 3, nomad),
        script("victim", 1, victim),
        script("breaker", 5, breaker),
    ];
    play(Platform::builtin(), scripts)
}

fn names() -> Timeline {
    let long = "the actor that was given a name far too long for any picture, and then some more of it";
    let odd = "<script>alert(\"&amp;\")</script>\nand a second line";
    let sender = vec![Op::Execute(1e8), Op::Send(0, 1e8), Op::DetachSend(0, 1e7)];
    let receiver = vec![Op::Recv(0), Op::StartRecv(0), Op::Execute(2e8), Op::WaitAny];
    play(
        Platform::builtin(),
        vec![script(long, 0, sender), script(odd, 0, receiver), script("鳥の言葉", 1, vec![Op::Sleep(0.3)])],
    )
}
