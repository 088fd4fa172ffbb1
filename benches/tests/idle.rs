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

/// The most bytes that a simulation of so many of them takes, each with a mailbox of its own or with one of a row.
fn peak(actors: u32, row: bool) -> usize {
    let before = MEMORY.current_usage();
    let mut program = Program::new(Platform::builtin());
    let inboxes = program.mailboxes("of a row ", if row { actors } else { 0 });
    for number in 0..actors {
        let inbox = if row { inboxes.at(number) } else { program.mailbox(&format!("{number}")) };
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
    let each = |row| (peak(1 << 16, row) - peak(1 << 15, row)) / (1 << 15);
    let (single, of_row) = (each(false), each(true));
    println!("{single} bytes an actor, {own} of them its own data; {of_row} with a mailbox of a row");
    assert!(single < own + 512, "{single} bytes, {own} of them its own");
    assert!(of_row < single, "{of_row} bytes with a mailbox of a row, {single} with one of its own");
}
