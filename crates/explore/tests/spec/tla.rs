//! Traces as a TLA+ module, for TLC to compare with the specification.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use simurgh_explore::Network;

use super::data::{
    ACTORS, Accepts, Ask, By, CONTEXTS, Choice, Entry, Envelope, Follow, MAILBOXES, Post, TAGS, Taken, Told,
};
use super::record::Recorded;

/// What TLC is to check of the traces of a module: invariants, what to expect, and what must fail if it is broken.
pub fn configuration(traces: &[Recorded], invariants: &str, broken: &[(&str, &str)]) -> String {
    // Each state is that of one entry of one trace.
    let states: usize = traces.iter().map(|trace| trace.entries.len()).sum();
    let mut text = format!("\\* expect: holds, {states} states\n");
    for (arm, invariant) in broken {
        text += &format!("\\* broken: {arm} violates {invariant}\n");
    }
    let below = |count: u32| set(&(0..count).collect(), ToString::to_string);
    text += "SPECIFICATION Spec\nCONSTANTS\n";
    text += &format!("    Processes = {}\n    Mailboxes = {}\n", below(ACTORS), below(MAILBOXES));
    text += &format!("    Contexts = {}\n    Tags = {}\n", below(CONTEXTS), below(TAGS));
    text += "    Remember = FALSE\n    Broken = \"none\"\n    Traces <- Recorded\n";
    text + &format!("INVARIANTS {invariants}\n")
}

/// A module that defines `Recorded` to be these traces.
pub fn module(name: &str, traces: &[Recorded]) -> String {
    let mut text = format!("---- MODULE {name} ----\nEXTENDS Validation\n");
    // A definition each: one expression with all of them would be nested too deep for the parser.
    for (index, trace) in traces.iter().enumerate() {
        let network = match trace.network {
            Network::Mailbox => "mailbox",
            Network::Pairwise => "pairwise",
            Network::Unordered => "unordered",
        };
        let entries = sequence(&trace.entries, |entry| format!("\n{}", written(entry)));
        writeln!(text, "T{index} == Trace(\"{network}\", {entries})").expect("strings can be written to");
    }
    let names: Vec<String> = (0..traces.len()).map(|index| format!("T{index}")).collect();
    writeln!(text, "Recorded == <<{}>>\n====", names.join(", ")).expect("strings can be written to");
    text
}

fn written(entry: &Entry) -> String {
    let seen = &entry.seen;
    let step = entry.step.map_or_else(|| "<<>>".to_owned(), taken);
    let parts = [
        step,
        sequence(&entry.asks, |ask| ask.as_ref().map_or_else(|| "Nothing".to_owned(), asked)),
        sequence(&seen.sends, |queue| sequence(queue, post)),
        sequence(&seen.recvs, |queue| sequence(queue, post)),
        set(&seen.travel, post),
        set(&seen.met, |(recv, send)| format!("<<{}, {}>>", post(recv), post(send))),
        sequence(&seen.alive, |alive| truth(*alive).to_owned()),
        sequence(&seen.told, |answer| told(*answer)),
        set(&seen.enabled, |step| taken(*step)),
        set(&entry.depends, ToString::to_string),
    ];
    format!("Entry({})", parts.join(", "))
}

fn sequence<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(write).collect();
    format!("<<{}>>", items.join(", "))
}

fn set<T>(items: &BTreeSet<T>, write: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(write).collect();
    format!("{{{}}}", items.join(", "))
}

fn post(&(actor, number): &Post) -> String {
    format!("<<{actor}, {number}>>")
}

fn maybe(one: Option<Post>) -> String {
    one.map_or_else(|| "None".to_owned(), |one| post(&one))
}

fn envelope((context, source, tag): Envelope) -> String {
    format!("<<{context}, {source}, {tag}>>")
}

fn truth(value: bool) -> &'static str {
    if value { "TRUE" } else { "FALSE" }
}

fn taken(step: Taken) -> String {
    let by = match step.by {
        By::Actor(actor) => format!("<<{actor}>>"),
        By::Channel(sender, mailbox, context) => format!("<<{sender}, {mailbox}, {context}>>"),
        By::Message((sender, number)) => format!("<<{sender}, {number}, 0>>"),
    };
    let choice = match step.choice {
        Choice::Only => "None".to_owned(),
        Choice::Post(one) => post(&one),
        Choice::Number(number) => format!("<<{number}>>"),
    };
    format!("<<{by}, {choice}>>")
}

fn asked(ask: &Ask) -> String {
    match ask {
        Ask::Send { mailbox, context, tag, follow } => {
            format!("SendOf({mailbox}, {context}, {tag}, {})", following(*follow))
        }
        Ask::Recv { mailbox, accepts, follow } => {
            format!("RecvOf({mailbox}, {}, {})", accepted(accepts), following(*follow))
        }
        Ask::Wait { set: posts, timed, giveup, release } => {
            let flags = [timed, giveup, release].map(|flag| truth(*flag)).join(", ");
            format!("WaitOf({}, {flags})", set(posts, post))
        }
        Ask::Test { set: posts } => format!("TestOf({})", set(posts, post)),
        Ask::Local { choices } => format!("LocalOf({choices})"),
        Ask::Cancel { post: one } => format!("CancelOf({})", post(one)),
        Ask::Probe { mailbox, accepts } => format!("ProbeOf({mailbox}, {})", accepted(accepts)),
        Ask::Exit => "Exit".to_owned(),
    }
}

fn accepted(accepts: &Accepts) -> String {
    let (sources, tags) =
        (set(&accepts.sources, ToString::to_string), set(&accepts.tags, ToString::to_string));
    format!("{}, {sources}, {tags}", accepts.context)
}

fn following(follow: Follow) -> &'static str {
    match follow {
        Follow::Return => "\"return\"",
        Follow::Detach => "\"detach\"",
        Follow::Wait => "\"wait\"",
        Follow::Timed => "\"timed\"",
    }
}

fn told(answer: Told) -> String {
    let (what, one, message, number) = match answer {
        Told::Silence => return "Silence".to_owned(),
        Told::Posted(one) => ("posted", Some(one), "None".to_owned(), 0),
        Told::Completed { post, message } => ("taken", Some(post), maybe(message), 0),
        Told::Failed(one) => ("failed", Some(one), "None".to_owned(), 0),
        Told::Timeout => ("timeout", None, "None".to_owned(), 0),
        Told::Nothing => ("nothing", None, "None".to_owned(), 0),
        Told::Chosen(number) => ("chosen", None, "None".to_owned(), number),
        Told::Probed(found) => ("probed", None, found.map_or_else(|| "None".to_owned(), envelope), 0),
        Told::Ready => ("ready", None, "None".to_owned(), 0),
    };
    format!("Told(\"{what}\", {}, {message}, {number})", maybe(one))
}
