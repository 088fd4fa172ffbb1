//! What an actor costs that does nothing but wait for a message, beyond its own data.

use peak_alloc::PeakAlloc;
use simurgh::prelude::*;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

async fn wait(inbox: Mailbox<u64>) -> simurgh::Result {
    match inbox.recv().timeout(1.0).await {
        Err(error) if error.is_timeout() => Ok(()),
        other => other.map(drop),
    }
}

/// The most bytes that a simulation of so many of them takes.
fn peak(actors: usize) -> usize {
    let before = MEMORY.current_usage();
    let mut program = Program::new(Platform::builtin());
    for number in 0..actors {
        let inbox = program.mailbox(&format!("{number}"));
        program.spawn("idle", "node-0", move |_| wait(inbox)).expect("the host is there");
    }
    MEMORY.reset_peak_usage();
    assert!(program.simulate(Settings::default()).expect("it can be run").is_fine());
    MEMORY.peak_usage() - before
}

#[test]
fn an_idle_actor_costs_less_than_half_a_kilobyte_beyond_its_data() {
    let own = {
        let program = Program::new(Platform::builtin());
        let inbox = program.mailbox::<u64>("inbox");
        // What its code holds while it waits.
        size_of_val(&wait(inbox))
    };
    let (few, many) = (peak(1 << 15), peak(1 << 16));
    let each = (many - few) / (1 << 15);
    println!("{each} bytes an actor, {own} of them its own data");
    assert!(each < own + 512, "{each} bytes, {own} of them its own");
}
