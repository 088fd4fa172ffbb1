//! Chrome trace events in JSON, the format that <https://ui.perfetto.dev> and chrome://tracing open.
//!
//! A host is a process and an actor a thread of it. Intervals are pairs of `B` and `E` rather than single `X`: an event
//! binds to the slice that is open when it is read, so even what takes no time can be the end of an arrow. Format:
//! "Trace Event Format", Google, 2016.

use std::io::{self, Write};

use crate::chronicle::{Chronicle, Phase};
use crate::rows::{Ends, Row, Rows};
use crate::text;
use crate::timeline::{Ending, Interval, Load, Mark, Message, Outcome, Span, Timeline, Unit};
use crate::words::{self, Value};

/// Process 0 is the idle one for some readers.
const LINKS_PROCESS: usize = 1;
const FIRST_HOST_PROCESS: usize = 2;

impl Timeline {
    /// Writes the timeline for <https://ui.perfetto.dev>.
    pub fn write_perfetto(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = Rows::of(self);
        let mut writer = Writer { timeline: self, rows: &rows, chronicle: Chronicle::default() };
        writer.intervals();
        writer.messages();
        writer.loads();
        writer.failures();
        let Writer { chronicle, .. } = writer;
        let platform = text::json(&self.platform);
        write!(
            out,
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"platform\":{platform}}},\"traceEvents\":["
        )?;
        write!(out, "\n{}", self.metadata(&rows).join(",\n"))?;
        chronicle.write(",\n", out)?;
        writeln!(out, "\n]}}")
    }

    fn metadata(&self, rows: &Rows<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        let mut process = |pid: usize, name: &str| {
            let name = text::json(name);
            let head = format!("{{\"ph\":\"M\",\"pid\":{pid},");
            lines.push(format!("{head}\"name\":\"process_name\",\"args\":{{\"name\":{name}}}}}"));
            lines.push(format!("{head}\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{pid}}}}}"));
        };
        process(LINKS_PROCESS, "links");
        for (place, host) in self.hosts.iter().enumerate() {
            process(FIRST_HOST_PROCESS + place, &host.name);
        }
        for (place, row) in rows.rows.iter().enumerate() {
            let (thread, name) = (self.thread(row, place), text::json(&row.actor.name));
            let head = format!("{{\"ph\":\"M\",{thread},");
            lines.push(format!("{head}\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}}}"));
            lines.push(format!("{head}\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{place}}}}}"));
        }
        lines
    }

    /// The process of a host.
    fn process(&self, host: simurgh_platform::HostId) -> usize {
        FIRST_HOST_PROCESS + self.hosts.partition_point(|line| line.id < host)
    }

    /// The thread of a row. Numbers differ from those of all processes and of all other threads.
    fn thread(&self, row: &Row<'_>, place: usize) -> String {
        let tid = FIRST_HOST_PROCESS + self.hosts.len() + place;
        format!("\"pid\":{},\"tid\":{tid}", self.process(row.host.id))
    }
}

struct Writer<'a> {
    timeline: &'a Timeline,
    rows: &'a Rows<'a>,
    chronicle: Chronicle,
}

impl<'a> Writer<'a> {
    fn thread_at(&self, place: usize) -> String {
        self.timeline.thread(&self.rows.rows[place], place)
    }

    fn intervals(&mut self) {
        for (place, row) in self.rows.rows.iter().enumerate() {
            let thread = self.thread_at(place);
            for interval in row.intervals() {
                self.slice(&thread, interval);
            }
            if row.is_last() && row.actor.ending == Ending::Failed {
                let Span { to, .. } = row.actor.stays.last().expect("this row is a stay").span;
                self.instant(to, &thread, "t", "killed");
            }
        }
    }

    fn slice(&mut self, thread: &str, interval: &Interval) {
        let Span { from, to } = interval.span;
        let name = words::interval(interval);
        let facts = words::facts(self.timeline, interval);
        let pair = |(key, value): &(&str, Value)| {
            let value = match value {
                Value::Text(value) => text::json(value),
                Value::Number(value) => text::json_number(*value),
            };
            format!("{}:{value}", text::json(key))
        };
        let args: Vec<String> = facts.iter().map(pair).collect();
        self.begin(from, Phase::Begin, thread, words::kind(interval.kind), &name, &args.join(","));
        if let Some(failure) = &interval.failure {
            self.instant(to, thread, "t", failure);
        }
        self.end(to, Phase::End, thread);
    }

    /// An arrow for each message that arrived, from an empty slice of the sender to one of the receiver.
    ///
    /// Perfetto lets an arrow run from the slice that began first to the other one. A receiver may well have waited
    /// before its sender sent, so the intervals themselves would turn such arrows round; what stands for the ends of
    /// the message begins when it left and when it arrived.
    fn messages(&mut self) {
        let ends = Ends::of(self.timeline);
        for (number, (message, ends)) in self.timeline.messages.iter().zip(ends).enumerate() {
            if message.outcome != Outcome::Done {
                continue;
            }
            let sender = self.rows.place(message.sender, ends.sending.map_or(message.src, |end| end.host));
            let receiver =
                self.rows.place(message.receiver, ends.receiving.map_or(message.dst, |end| end.host));
            let (Some(sender), Some(receiver)) = (sender, receiver) else { continue };
            let left = ends.sending.map_or(message.span.from, |end| message.span.from.max(end.span.from));
            let name = format!("message to {}", words::actor(self.timeline, message.receiver));
            self.arrow_end(left, sender, "s", number, &name, message);
            let name = format!("message from {}", words::actor(self.timeline, message.sender));
            self.arrow_end(message.span.to, receiver, "f", number, &name, message);
        }
    }

    fn arrow_end(
        &mut self,
        mark: Mark,
        row: usize,
        phase: &str,
        number: usize,
        name: &str,
        message: &Message,
    ) {
        let thread = self.thread_at(row);
        let args = self.message_args(message);
        self.begin(mark, Phase::Within, &thread, "message", name, &args);
        self.flow(mark, &thread, phase, number);
        self.end(mark, Phase::Within, &thread);
    }

    fn message_args(&self, message: &Message) -> String {
        format!(
            "\"bytes\":{},\"mailbox\":{},\"posted (s)\":{}",
            text::json_number(message.bytes),
            text::json(&message.mailbox),
            text::json_number(message.posted.seconds()),
        )
    }

    fn loads(&mut self) {
        for host in &self.timeline.hosts {
            let process = self.timeline.process(host.id);
            self.counter(process, "load", "flop/s", &host.loads);
        }
        for disk in &self.timeline.disks {
            let process = self.timeline.process(disk.host);
            self.counter(process, &format!("disk {}", disk.name), "B/s", &disk.loads);
        }
        for link in &self.timeline.links {
            let unit = match link.unit {
                Unit::BytesPerSecond => "B/s",
                Unit::AirTime => "air time",
            };
            self.counter(LINKS_PROCESS, &link.name, unit, &link.loads);
        }
    }

    fn counter(&mut self, process: usize, name: &str, unit: &str, loads: &[Load]) {
        let name = text::json(name);
        for load in loads.iter().filter(|load| load.used.is_finite()) {
            let (used, percent) = (text::json_number(load.used), text::json_number(load.ratio() * 100.0));
            let ts = text::microseconds(load.at.seconds());
            let line = format!(
                "{{\"ph\":\"C\",\"ts\":{ts},\"pid\":{process},\"name\":{name},\"args\":{{\"{unit}\":{used},\"%\":{percent}}}}}"
            );
            self.chronicle.add(Mark { at: load.at, order: 0 }, Phase::Before, line);
        }
    }

    fn failures(&mut self) {
        for host in &self.timeline.hosts {
            let process = format!("\"pid\":{}", self.timeline.process(host.id));
            self.off_and_on(&host.off, &process, "host", &host.name);
        }
        for link in &self.timeline.links {
            self.off_and_on(&link.off, &format!("\"pid\":{LINKS_PROCESS}"), "link", &link.name);
        }
    }

    fn off_and_on(&mut self, off: &[Span], process: &str, what: &str, name: &str) {
        for span in off {
            self.instant(span.from, process, "p", &format!("{what} {name} off"));
            if span.to.order != u64::MAX {
                self.instant(span.to, process, "p", &format!("{what} {name} on"));
            }
        }
    }

    fn begin(&mut self, mark: Mark, phase: Phase, thread: &str, category: &str, name: &str, args: &str) {
        let (ts, name) = (text::microseconds(mark.seconds()), text::json(name));
        let args = if args.is_empty() { String::new() } else { format!(",\"args\":{{{args}}}") };
        let line =
            format!("{{\"ph\":\"B\",\"ts\":{ts},{thread},\"cat\":\"{category}\",\"name\":{name}{args}}}");
        self.chronicle.add(mark, phase, line);
    }

    fn end(&mut self, mark: Mark, phase: Phase, thread: &str) {
        let ts = text::microseconds(mark.seconds());
        self.chronicle.add(mark, phase, format!("{{\"ph\":\"E\",\"ts\":{ts},{thread}}}"));
    }

    fn flow(&mut self, mark: Mark, thread: &str, which: &str, number: usize) {
        let ts = text::microseconds(mark.seconds());
        let bind = if which == "f" { ",\"bp\":\"e\"" } else { "" };
        let line = format!(
            "{{\"ph\":\"{which}\",\"ts\":{ts},{thread},\"cat\":\"message\",\"name\":\"message\",\"id\":{number}{bind}}}"
        );
        self.chronicle.add(mark, Phase::Within, line);
    }

    fn instant(&mut self, mark: Mark, place: &str, scope: &str, name: &str) {
        let (ts, name) = (text::microseconds(mark.seconds()), text::json(name));
        let line = format!(
            "{{\"ph\":\"i\",\"ts\":{ts},{place},\"s\":\"{scope}\",\"cat\":\"failure\",\"name\":{name}}}"
        );
        self.chronicle.add(mark, Phase::Within, line);
    }
}
