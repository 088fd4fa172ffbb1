//! Events by hand, and exactly what is written of them.

use std::sync::Arc;

use crate::support::check;
use simurgh_kernel::event::{Event, Observer, Reason};
use simurgh_kernel::ids::{ActivityId, ActorId, MailboxId};
use simurgh_kernel::simcall::Failure;
use simurgh_models::{Resource, SimTime, Usage};
use simurgh_platform::{HostId, LinkId, Platform, Routing};
use simurgh_trace::timeline::{Ending, Kind, Outcome, Work};
use simurgh_trace::{Recorder, Recording, Timeline};

const ALICE: ActorId = ActorId(0);
const BOB: ActorId = ActorId(1);
const A: HostId = HostId(0);
const B: HostId = HostId(1);
/// The loopback is link 0.
const WIRE: LinkId = LinkId(1);
const BOX: MailboxId = MailboxId(0);

/// Two hosts `a` and `b & c`, and a link between them.
fn platform() -> Arc<Platform> {
    let mut builder = Platform::builder();
    let world = builder.zone("world", Routing::Full);
    let a = builder.host(world, "a", 1e9).id();
    let b = builder.host(world, "b & c", 1e9).id();
    let wire = builder.link(world, "wire", 1e6, 1e-3).id();
    builder.route(world, a, b, [wire]);
    Arc::new(builder.build().expect("a good platform"))
}

fn record(events: &[(f64, Event)]) -> Recording {
    let (mut recorder, recording) = Recorder::new(platform());
    for (at, event) in events {
        recorder.event(SimTime::new(*at), event);
    }
    recording
}

fn timeline(events: &[(f64, Event)], end: f64) -> Timeline {
    record(events).finish(SimTime::new(end), &|_| "<box>".to_owned())
}

fn started(actor: ActorId, name: &str, host: HostId) -> Event {
    Event::ActorStarted { actor, name: name.into(), host }
}

fn blocked(actor: ActorId, reason: Reason) -> Event {
    Event::Blocked { actor, reason }
}

fn unblocked(actor: ActorId) -> Event {
    Event::Unblocked { actor }
}

fn transfer(activity: u64, posted: f64) -> Event {
    Event::TransferStarted {
        activity: ActivityId::from_bits(activity),
        sender: ALICE,
        receiver: BOB,
        src: A,
        dst: B,
        mailbox: BOX,
        bytes: 5e5,
        posted: SimTime::new(posted),
    }
}

fn over(activity: u64, result: Result<(), Failure>) -> Event {
    Event::ActivityEnded { activity: ActivityId::from_bits(activity), result }
}

fn used(at: f64, resource: Resource, used: f64, capacity: f64) -> Event {
    Event::Used(Usage { at: SimTime::new(at), resource, used, capacity })
}

/// Bob waits for a message that Alice sends half a second later.
fn message() -> Vec<(f64, Event)> {
    vec![
        (0.0, started(ALICE, "alice", A)),
        (0.0, started(BOB, "bob \"the builder\"", B)),
        (0.0, blocked(ALICE, Reason::Sleeping)),
        (0.0, blocked(BOB, Reason::Receiving(BOX))),
        (0.5, unblocked(ALICE)),
        (0.5, transfer(0, 0.5)),
        (0.5, blocked(ALICE, Reason::Sending(BOX))),
        (0.5, used(0.5, Resource::Link(WIRE), 1e6, 1e6)),
        (1.0001, over(0, Ok(()))),
        (1.0001, unblocked(ALICE)),
        (1.0001, unblocked(BOB)),
        (1.0001, used(1.0001, Resource::Link(WIRE), 0.0, 1e6)),
        (1.0001, Event::ActorEnded { actor: ALICE, failed: false }),
        (1.0001, Event::ActorEnded { actor: BOB, failed: true }),
    ]
}

#[test]
fn a_message_for_perfetto() {
    let [perfetto, ..] = check::written(&timeline(&message(), 1.0001));
    let args = r#""bytes":500000,"sender":"alice","receiver":"bob \"the builder\"","mailbox":"<box>","posted (s)":0.5,"met (s)":0.5"#;
    let end_args = r#""bytes":500000,"mailbox":"<box>","posted (s)":0.5"#;
    let expected = [
        r#"{"displayTimeUnit":"ms","otherData":{"platform":"platform"},"traceEvents":["#,
        r#"{"ph":"M","pid":1,"name":"process_name","args":{"name":"links"}},"#,
        r#"{"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":1}},"#,
        r#"{"ph":"M","pid":2,"name":"process_name","args":{"name":"a"}},"#,
        r#"{"ph":"M","pid":2,"name":"process_sort_index","args":{"sort_index":2}},"#,
        r#"{"ph":"M","pid":3,"name":"process_name","args":{"name":"b & c"}},"#,
        r#"{"ph":"M","pid":3,"name":"process_sort_index","args":{"sort_index":3}},"#,
        r#"{"ph":"M","pid":2,"tid":4,"name":"thread_name","args":{"name":"alice"}},"#,
        r#"{"ph":"M","pid":2,"tid":4,"name":"thread_sort_index","args":{"sort_index":0}},"#,
        r#"{"ph":"M","pid":3,"tid":5,"name":"thread_name","args":{"name":"bob \"the builder\""}},"#,
        r#"{"ph":"M","pid":3,"tid":5,"name":"thread_sort_index","args":{"sort_index":1}},"#,
        r#"{"ph":"B","ts":0,"pid":2,"tid":4,"cat":"sleeping","name":"sleeping"},"#,
        &format!(
            r#"{{"ph":"B","ts":0,"pid":3,"tid":5,"cat":"receiving","name":"receiving from <box>","args":{{{args}}}}},"#
        ),
        r#"{"ph":"C","ts":500000,"pid":1,"name":"wire","args":{"B/s":1000000,"%":100}},"#,
        r#"{"ph":"E","ts":500000,"pid":2,"tid":4},"#,
        &format!(
            r#"{{"ph":"B","ts":500000,"pid":2,"tid":4,"cat":"sending","name":"sending to <box>","args":{{{args}}}}},"#
        ),
        &format!(
            r#"{{"ph":"B","ts":500000,"pid":2,"tid":4,"cat":"message","name":"message to bob \"the builder\"","args":{{{end_args}}}}},"#
        ),
        r#"{"ph":"s","ts":500000,"pid":2,"tid":4,"cat":"message","name":"message","id":0},"#,
        r#"{"ph":"E","ts":500000,"pid":2,"tid":4},"#,
        r#"{"ph":"C","ts":1000100,"pid":1,"name":"wire","args":{"B/s":0,"%":0}},"#,
        &format!(
            r#"{{"ph":"B","ts":1000100,"pid":3,"tid":5,"cat":"message","name":"message from alice","args":{{{end_args}}}}},"#
        ),
        r#"{"ph":"f","ts":1000100,"pid":3,"tid":5,"cat":"message","name":"message","id":0,"bp":"e"},"#,
        r#"{"ph":"E","ts":1000100,"pid":3,"tid":5},"#,
        r#"{"ph":"E","ts":1000100,"pid":2,"tid":4},"#,
        r#"{"ph":"E","ts":1000100,"pid":3,"tid":5},"#,
        r#"{"ph":"i","ts":1000100,"pid":3,"tid":5,"s":"t","cat":"failure","name":"killed"}"#,
        "]}",
    ];
    assert_eq!(perfetto.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_message_for_paje() {
    let [_, paje, _] = check::written(&timeline(&message(), 1.0001));
    let facts = "bytes: 500000; sender: alice; receiver: bob 'the builder'; mailbox: <box>; posted (s): 0.5; met (s): 0.5";
    let expected = [
        "5 0 h0 HOST 0 \"a\"",
        "5 0 h1 HOST 0 \"b & c\"",
        "5 0 l1 LINK 0 \"wire\"",
        "5 0 a0h0 ACTOR h0 \"alice\"",
        "5 0 a1h1 ACTOR h1 \"bob 'the builder'\"",
        "7 0 DOING a0h0 SLEEPING \"sleeping\"",
        &format!("7 0 DOING a1h1 RECEIVING \"receiving from <box>; {facts}\""),
        "9 0.5 BANDWIDTH l1 1000000",
        "9 0.5 BYTES l1 1000000",
        "8 0.5 DOING a0h0",
        "10 0.5 MESSAGE 0 ARROW a0h0 m0 500000",
        &format!("7 0.5 DOING a0h0 SENDING \"sending to <box>; {facts}\""),
        "9 1.0001 BYTES l1 0",
        "11 1.0001 MESSAGE 0 ARROW a1h1 m0",
        "8 1.0001 DOING a0h0",
        "8 1.0001 DOING a1h1",
        "6 1.0001 ACTOR a0h0",
        "6 1.0001 ACTOR a1h1",
        "6 1.0001 HOST h0",
        "6 1.0001 HOST h1",
        "6 1.0001 LINK l1",
    ];
    let body = |line: &&str| {
        line.split(' ').next().is_some_and(|event| event.parse::<u32>().is_ok_and(|event| event > 4))
    };
    assert_eq!(paje.lines().filter(body).collect::<Vec<_>>(), expected);
}

#[test]
fn a_message_as_a_picture() {
    let [.., svg] = check::written(&timeline(&message(), 1.0001));
    let expected = [
        ">2 actors on 2 hosts  ·  1 message, 500 kB  ·  1 s simulated</text>",
        ">b &amp; c</text>",
        ">bob &quot;the builder&quot;</text>",
        "<title>alice on a: sending to &lt;box&gt;&#10;0.5 s to 1.0001 s (500 ms)&#10;bytes: 500000&#10;",
        "<title>message from alice to bob &quot;the builder&quot; by &lt;box&gt;&#10;500000 B (500 kB)&#10;posted at 0.5 s",
        "<title>bob &quot;the builder&quot; was killed or failed&#10;at 1.0001 s</title>",
        "<title>wire: mean 50 %, peak 100 % of 1 MB/s</title>",
    ];
    for text in expected {
        assert!(svg.contains(text), "{text} is not in\n{svg}");
    }
    for absent in ["failed message", ">executing<", ">off<"] {
        assert!(!svg.contains(absent), "the legend shows what is there, not {absent}");
    }
}

#[test]
fn intervals_know_the_work_that_ended_them() {
    let timeline = timeline(&message(), 1.0001);
    let kinds = |actor: usize| {
        let intervals = &timeline.actors[actor].intervals;
        intervals.iter().map(|interval| (interval.kind, interval.work)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(0), [(Kind::Sleeping, None), (Kind::Sending, Some(Work::Message(0)))]);
    assert_eq!(kinds(1), [(Kind::Receiving, Some(Work::Message(0)))]);
    assert_eq!((timeline.actors[0].ending, timeline.actors[1].ending), (Ending::Finished, Ending::Failed));
    assert_eq!(timeline.messages[0].outcome, Outcome::Done);
}

#[test]
fn a_wait_that_gives_up_knows_what_it_gave_up() {
    let timeline = timeline(
        &[
            (0.0, started(ALICE, "alice", A)),
            (0.0, started(BOB, "bob", B)),
            (0.0, blocked(ALICE, Reason::Sending(BOX))),
            (0.0, transfer(0, 0.0)),
            (0.0, blocked(BOB, Reason::Receiving(BOX))),
            // The receiver's timeout: it goes on, which ends the message, which wakes the sender.
            (0.25, unblocked(BOB)),
            (0.25, over(0, Err(Failure::Timeout))),
            (0.25, unblocked(ALICE)),
        ],
        0.25,
    );
    for actor in &timeline.actors {
        let interval = &actor.intervals[0];
        assert_eq!(interval.work, Some(Work::Message(0)), "{}", actor.name);
        assert_eq!(interval.failure.as_deref(), Some("timeout"), "{}", actor.name);
    }
    assert_eq!(timeline.messages[0].outcome, Outcome::Failed("timeout".into()));
    let [perfetto, ..] = check::written(&timeline);
    assert!(!perfetto.contains("\"ph\":\"s\""), "what never arrived has no arrow");
}

#[test]
fn what_is_not_over_lasts_until_the_end() {
    let events = [
        (0.0, started(ALICE, "alice", A)),
        (0.0, started(BOB, "bob", B)),
        (0.0, blocked(ALICE, Reason::Sending(BOX))),
        (1.0, transfer(0, 0.0)),
        (1.0, blocked(BOB, Reason::Receiving(BOX))),
        (2.0, Event::HostState(B, false)),
    ];
    let recording = record(&events);
    let name = |_| "box".to_owned();
    for end in [3.0, 2.0, 1.0] {
        // The last asks for an end before what happened, and gets the earliest that makes sense.
        let timeline = recording.finish(SimTime::new(end), &name);
        let end = end.max(2.0);
        assert_eq!(timeline.end.seconds(), end);
        assert_eq!(timeline.actors[0].intervals[0].span.to.seconds(), end);
        assert_eq!(timeline.messages[0].span.to.seconds(), end);
        assert_eq!(timeline.messages[0].outcome, Outcome::Unfinished);
        assert_eq!(timeline.hosts[1].off[0].to.seconds(), end);
        check::written(&timeline);
    }
}

#[test]
fn an_actor_that_moves_has_a_row_on_each_host() {
    let timeline = timeline(
        &[
            (0.0, started(ALICE, "alice", A)),
            (0.0, blocked(ALICE, Reason::Executing)),
            (1.0, Event::ActorMoved { actor: ALICE, host: B }),
            (2.0, unblocked(ALICE)),
            (2.0, Event::ActorEnded { actor: ALICE, failed: false }),
        ],
        2.0,
    );
    let intervals = timeline.actors[0].intervals.iter();
    let spans: Vec<_> = intervals
        .map(|interval| (interval.host, interval.span.from.seconds(), interval.span.to.seconds()))
        .collect();
    assert_eq!(spans, [(A, 0.0, 1.0), (B, 1.0, 2.0)]);
    let [perfetto, ..] = check::written(&timeline);
    assert_eq!(perfetto.matches("\"name\":\"thread_name\",\"args\":{\"name\":\"alice\"}").count(), 2);
}

#[test]
fn a_link_that_comes_on_was_off_before() {
    let wire = |on| Event::LinkState(WIRE, on);
    let timeline =
        timeline(&[(1.0, wire(true)), (2.0, wire(false)), (2.5, wire(false)), (3.0, wire(true))], 4.0);
    let off: Vec<_> =
        timeline.links[0].off.iter().map(|span| (span.from.seconds(), span.to.seconds())).collect();
    assert_eq!(off, [(0.0, 1.0), (2.0, 3.0)]);
    check::written(&timeline);
}

#[test]
fn of_several_loads_at_one_date_the_last_counts() {
    let load = |at, load| (at, used(at, Resource::Host(A), load, 1e9));
    let timeline =
        timeline(&[load(0.0, 0.0), load(0.0, 1e9), load(1.0, 1e9), load(2.0, 5e8), load(2.0, 1e9)], 3.0);
    let loads: Vec<_> = timeline.hosts[0].loads.iter().map(|load| (load.at.seconds(), load.used)).collect();
    assert_eq!(loads, [(0.0, 1e9)]);
}

#[test]
fn a_message_without_duration_leaves_before_it_arrives() {
    // The receiver's row comes first, and everything happens at one date.
    let (sender, receiver) = (BOB, ALICE);
    let activity = ActivityId::from_bits(0);
    let (mailbox, bytes, posted) = (BOX, 0.0, SimTime::ZERO);
    let timeline = timeline(
        &[
            (0.0, started(ALICE, "receiver", A)),
            (0.0, started(BOB, "sender", B)),
            (0.0, blocked(ALICE, Reason::Receiving(BOX))),
            (
                0.0,
                Event::TransferStarted { activity, sender, receiver, src: B, dst: A, mailbox, bytes, posted },
            ),
            (0.0, blocked(BOB, Reason::Sending(BOX))),
            (0.0, over(0, Ok(()))),
            (0.0, unblocked(ALICE)),
            (0.0, unblocked(BOB)),
        ],
        0.0,
    );
    let [perfetto, _, svg] = check::written(&timeline);
    assert!(perfetto.contains("\"ph\":\"f\""));
    assert!(svg.contains("No simulated time has passed."));
}

#[test]
fn a_crowded_picture_says_what_is_left_out() {
    let mut events = Vec::new();
    for actor in (0..2500).map(ActorId) {
        events.push((0.0, started(actor, &"name ".repeat(50), A)));
        for date in 0..20 {
            events.push((f64::from(date) * 1e-6, blocked(actor, Reason::Sleeping)));
        }
    }
    for number in 0..1000 {
        events.push((0.5, transfer(number, 0.0)));
        events.push((0.75, over(number, Ok(()))));
    }
    let mut timeline = timeline(&events, 1.0);
    // Alice and Bob are on one host here.
    timeline.messages.iter_mut().for_each(|message| message.dst = A);
    let [.., svg] = check::written(&timeline);
    let notes: Vec<&str> = svg.lines().rev().skip(1).take(4).collect();
    let expected = [
        ">262 of 1000 messages are drawn as arrows, chosen evenly.<",
        ">36000 intervals too short to be seen are left out.<",
        ">154 of 2000 actors are named; a bar tells its actor when the pointer rests on it.<",
        ">The first 2000 rows of 2500 are shown.<",
    ];
    for (note, expected) in notes.iter().zip(expected) {
        assert!(note.contains(expected), "{note} instead of {expected}");
    }
}

#[test]
fn nothing_at_all_can_be_written() {
    check::written(&timeline(&[], 0.0));
    check::written(&Timeline::default());
}
