//! Messages as arrows, from the sender's row when they set out to the receiver's row when they arrive.

use super::Notes;
use super::bars::dates;
use super::canvas::Canvas;
use super::layout::Layout;
use crate::rows::Rows;
use crate::text;
use crate::timeline::{Message, Outcome, Timeline};
use crate::words;

/// More arrows than these hide what they are about.
const ARROWS_MAX: usize = 400;

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
    let stride = arrows.len().div_ceil(ARROWS_MAX).max(1);
    if stride > 1 {
        notes.push(format!(
            "{} of {} messages are drawn as arrows: one in {stride}.",
            arrows.len().div_ceil(stride),
            timeline.messages.len()
        ));
    }
    let opacity = match arrows.len() / stride {
        0..=40 => "0.85",
        41..=150 => "0.6",
        _ => "0.4",
    };
    canvas.raw(&format!("<g opacity=\"{opacity}\">"));
    for (message, sender, receiver) in arrows.into_iter().step_by(stride) {
        draw_arrow(canvas, timeline, message, layout, sender, receiver);
    }
    canvas.raw("</g>");
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
