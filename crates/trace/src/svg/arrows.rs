//! Messages as arrows, from the sender's row when they set out to the receiver's row when they arrive.

use simurgh_kernel::random::Random;

use super::Notes;
use super::bars::dates;
use super::canvas::Canvas;
use super::layout::Layout;
use crate::rows::Rows;
use crate::text;
use crate::timeline::{Message, Outcome, Timeline};
use crate::words;

/// More arrows than these hide what they are about.
const ARROWS_MAX: usize = 250;

pub(super) fn draw(
    canvas: &mut Canvas,
    timeline: &Timeline,
    rows: &Rows<'_>,
    layout: &Layout<'_>,
    notes: &mut Notes,
) {
    let mut arrows = Vec::new();
    for message in &timeline.messages {
        let sender = rows.place(message.sender, message.src).and_then(|place| layout.bar(place));
        let receiver = rows.place(message.receiver, message.dst).and_then(|place| layout.bar(place));
        if let (Some(sender), Some(receiver)) = (sender, receiver) {
            arrows.push((message, sender, receiver));
        }
    }
    let stride = arrows.len().div_ceil(ARROWS_MAX).max(1) as u64;
    let drawn: Vec<_> =
        (0_u64..).zip(arrows).filter(|(number, _)| scatter(*number).is_multiple_of(stride)).collect();
    if drawn.len() < timeline.messages.len() {
        let all = timeline.messages.len();
        notes.push(format!("{} of {all} messages are drawn as arrows, chosen evenly.", drawn.len()));
    }
    let opacity = match drawn.len() {
        0..=40 => "0.85",
        41..=120 => "0.6",
        _ => "0.4",
    };
    canvas.raw(&format!("<g opacity=\"{opacity}\">"));
    for (_, (message, sender, receiver)) in drawn {
        draw_arrow(canvas, timeline, message, layout, sender, receiver);
    }
    canvas.raw("</g>");
}

/// Numbers in no visible order: every n-th message of a regular program may well be between the same two actors.
fn scatter(number: u64) -> u64 {
    Random::new(number, 0).next_u64()
}

fn draw_arrow(
    canvas: &mut Canvas,
    timeline: &Timeline,
    message: &Message,
    layout: &Layout<'_>,
    sender: (f64, f64),
    receiver: (f64, f64),
) {
    let edge = |(top, height): (f64, f64), towards: f64| {
        // Arrows run from edge to edge, so that the bars stay free.
        if towards > top { top + height } else { top }
    };
    let middle = |(top, height): (f64, f64)| top + height / 2.0;
    let (y1, y2) = if sender == receiver {
        (middle(sender), middle(receiver))
    } else {
        (edge(sender, receiver.0), edge(receiver, sender.0))
    };
    let from = (layout.scale.x(message.span.from.seconds()), y1);
    let to = (layout.scale.x(message.span.to.seconds()), y2);
    let (class, head) = match &message.outcome {
        Outcome::Done => ("arrow", "marker-end=\"url(#head)\""),
        Outcome::Unfinished => ("arrow", "stroke-dasharray=\"3 3\""),
        Outcome::Failed(_) => ("lost", "stroke-dasharray=\"3 3\" marker-end=\"url(#cross)\""),
    };
    canvas.told_line(from, to, class, head, &told(timeline, message));
}

fn told(timeline: &Timeline, message: &Message) -> String {
    let (sender, receiver) =
        (words::actor(timeline, message.sender), words::actor(timeline, message.receiver));
    let mut told = format!(
        "message from {sender} to {receiver} by {}\n{} B ({})\nposted at {} s\n{}",
        message.mailbox,
        message.bytes,
        text::quantity(message.bytes, "B"),
        message.posted.seconds(),
        dates(message.span),
    );
    match &message.outcome {
        Outcome::Done => {}
        Outcome::Unfinished => told.push_str("\nunder way when the run ended"),
        Outcome::Failed(reason) => told.push_str(&format!("\nfailed: {reason}")),
    }
    told
}
