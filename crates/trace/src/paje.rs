//! A Paje trace, for ViTE, pajeng and R.
//!
//! Containers: hosts and links, and the actors in their hosts. Actors have states and exchange arrows; hosts, links and
//! disks have variables. Format: "Paje trace file", L. Schnorr, 2016; checked with `pj_dump` of pajeng.

use std::io::{self, Write};

use crate::chronicle::{Chronicle, Phase};
use crate::palette;
use crate::rows::{Row, Rows};
use crate::text;
use crate::timeline::{Interval, Kind, Load, Mark, Message, Outcome, Span, Timeline};
use crate::words::{self, Value};

/// The events that are used, each with a number and the fields of its lines.
const DEFINITIONS: &str = "\
%EventDef PajeDefineContainerType 0
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeDefineLinkType 3
%  Alias string
%  Type string
%  StartContainerType string
%  EndContainerType string
%  Name string
%EndEventDef
%EventDef PajeDefineEntityValue 4
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeCreateContainer 5
%  Time date
%  Alias string
%  Type string
%  Container string
%  Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
%  Time date
%  Type string
%  Name string
%EndEventDef
%EventDef PajePushState 7
%  Time date
%  Type string
%  Container string
%  Value string
%  Detail string
%EndEventDef
%EventDef PajePopState 8
%  Time date
%  Type string
%  Container string
%EndEventDef
%EventDef PajeSetVariable 9
%  Time date
%  Type string
%  Container string
%  Value double
%EndEventDef
%EventDef PajeStartLink 10
%  Time date
%  Type string
%  Container string
%  Value string
%  StartContainer string
%  Key string
%  Bytes double
%EndEventDef
%EventDef PajeEndLink 11
%  Time date
%  Type string
%  Container string
%  Value string
%  EndContainer string
%  Key string
%EndEventDef
";

/// The types: containers, states, variables and arrows.
const TYPES: &str = "\
0 HOST 0 \"host\"
0 ACTOR HOST \"actor\"
0 DISK HOST \"disk\"
0 LINK 0 \"link\"
1 DOING ACTOR \"doing\"
1 HOST_STATE HOST \"host state\"
1 LINK_STATE LINK \"link state\"
2 FLOPS HOST \"load in flop/s\" \"0.36 0.56 0.78\"
2 SPEED HOST \"speed in flop/s\" \"0.70 0.70 0.70\"
2 DISK_BYTES DISK \"load in B/s\" \"0.60 0.53 0.77\"
2 DISK_BANDWIDTH DISK \"bandwidth in B/s\" \"0.70 0.70 0.70\"
2 BYTES LINK \"load in B/s\" \"0.50 0.71 0.52\"
2 BANDWIDTH LINK \"bandwidth in B/s\" \"0.70 0.70 0.70\"
3 MESSAGE 0 ACTOR ACTOR \"message\"
4 HOST_OFF HOST_STATE \"off\" \"0.55 0.58 0.62\"
4 LINK_OFF LINK_STATE \"off\" \"0.55 0.58 0.62\"
";

impl Timeline {
    /// Writes the timeline as a Paje trace.
    ///
    /// The load of a wifi link is the share of the time that its air is taken, its bandwidth then being 1.
    pub fn write_paje(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = Rows::of(self);
        let mut writer = Writer { timeline: self, rows: &rows, chronicle: Chronicle::default() };
        writer.resources();
        writer.actors();
        writer.messages();
        let Writer { chronicle, .. } = writer;
        write!(out, "{DEFINITIONS}{TYPES}")?;
        for (place, name) in self.calls.iter().enumerate() {
            let color = palette::fractions(palette::call(place));
            writeln!(out, "4 CALL{place} DOING {} \"{color}\"", text::paje(name))?;
        }
        for kind in Kind::ALL {
            let (name, color) = (words::kind(kind), palette::fractions(palette::color(kind)));
            writeln!(out, "4 {} DOING \"{name}\" \"{color}\"", alias(kind))?;
        }
        write!(out, "4 ARROW MESSAGE \"message\" \"0.35 0.38 0.44\"")?;
        chronicle.write("\n", out)?;
        writeln!(out)
    }
}

struct Writer<'a> {
    timeline: &'a Timeline,
    rows: &'a Rows<'a>,
    chronicle: Chronicle,
}

impl Writer<'_> {
    fn end(&self) -> Mark {
        Mark { at: self.timeline.end, order: u64::MAX }
    }

    fn resources(&mut self) {
        for host in &self.timeline.hosts {
            let name = format!("h{}", host.id);
            self.container(&name, "HOST", "0", &host.name);
            self.variable(&name, "FLOPS", "SPEED", &host.loads);
            self.off(&name, "HOST_STATE", "HOST_OFF", &host.off);
        }
        for link in &self.timeline.links {
            let name = format!("l{}", link.id);
            self.container(&name, "LINK", "0", &link.name);
            self.variable(&name, "BYTES", "BANDWIDTH", &link.loads);
            self.off(&name, "LINK_STATE", "LINK_OFF", &link.off);
        }
        for disk in &self.timeline.disks {
            let name = format!("d{}", disk.id);
            self.container(&name, "DISK", &format!("h{}", disk.host), &disk.name);
            self.variable(&name, "DISK_BYTES", "DISK_BANDWIDTH", &disk.loads);
        }
        // What is inside is destroyed before what is around it, and all of it at the very end.
        let end = self.end();
        for disk in &self.timeline.disks {
            self.add(end, Phase::End, 6, &format!("DISK d{}", disk.id));
        }
    }

    fn container(&mut self, name: &str, kind: &str, parent: &str, title: &str) {
        let title = text::paje(title);
        self.add(Mark::START, Phase::Before, 5, &format!("{name} {kind} {parent} {title}"));
    }

    fn variable(&mut self, container: &str, used: &str, capacity: &str, loads: &[Load]) {
        let mut known = None;
        for load in loads.iter().filter(|load| load.used.is_finite() && load.capacity.is_finite()) {
            let mark = Mark { at: load.at, order: 0 };
            if known != Some(load.capacity) {
                self.add(mark, Phase::Begin, 9, &format!("{capacity} {container} {}", load.capacity));
                known = Some(load.capacity);
            }
            self.add(mark, Phase::Begin, 9, &format!("{used} {container} {}", load.used));
        }
    }

    fn off(&mut self, container: &str, state: &str, value: &str, off: &[Span]) {
        for span in off {
            self.add(span.from, Phase::Begin, 7, &format!("{state} {container} {value} \"\""));
            self.add(span.to, Phase::Begin, 8, &format!("{state} {container}"));
        }
    }

    /// What an actor does in an interval, by its alias.
    fn value(&self, interval: &Interval) -> String {
        let place = self.timeline.calls.iter().position(|name| *name == interval.detail);
        match (interval.kind, place) {
            (Kind::Calling, Some(place)) => format!("CALL{place}"),
            (kind, _) => alias(kind).to_owned(),
        }
    }

    fn actors(&mut self) {
        let last_arrows = self.last_arrows();
        for (place, row) in self.rows.rows.iter().enumerate() {
            let name = container_of(row);
            let stays: Vec<Span> = row.stays().collect();
            let (Some(first), Some(last)) = (stays.first(), stays.last()) else { continue };
            let title = text::paje(&row.actor.name);
            self.add(first.from, Phase::Before, 5, &format!("{name} ACTOR h{} {title}", row.host.id));
            for interval in row.intervals() {
                let (value, detail) = (self.value(interval), text::paje(&self.detail(interval)));
                self.add(interval.span.from, Phase::Begin, 7, &format!("DOING {name} {value} {detail}"));
                self.add(interval.span.to, Phase::Within, 8, &format!("DOING {name}"));
            }
            // A detached message may outlive its sender, and its arrow needs a place to start from.
            let mark = last_arrows[place].map_or(last.to, |arrow| arrow.max(last.to));
            self.add(mark, Phase::End, 6, &format!("ACTOR {name}"));
        }
        let end = self.end();
        for host in &self.timeline.hosts {
            self.add(end, Phase::End, 6, &format!("HOST h{}", host.id));
        }
        for link in &self.timeline.links {
            self.add(end, Phase::End, 6, &format!("LINK l{}", link.id));
        }
    }

    fn detail(&self, interval: &Interval) -> String {
        let mut detail = words::interval(interval);
        for (key, value) in words::facts(self.timeline, interval) {
            match value {
                Value::Text(value) => detail.push_str(&format!("; {key}: {value}")),
                Value::Number(value) => detail.push_str(&format!("; {key}: {value}")),
            }
        }
        detail
    }

    /// The arrows to draw: key, place of the sender, place of the receiver.
    fn arrows(&self) -> Vec<(usize, usize, usize)> {
        let messages = self.timeline.messages.iter().enumerate();
        let arrived = messages.filter(|(_, message)| message.outcome == Outcome::Done);
        let arrow = |(key, message): (usize, &Message)| {
            let sender = self.rows.place(message.sender, message.src)?;
            Some((key, sender, self.rows.place(message.receiver, message.dst)?))
        };
        arrived.filter_map(arrow).collect()
    }

    fn last_arrows(&self) -> Vec<Option<Mark>> {
        let mut last: Vec<Option<Mark>> = vec![None; self.rows.rows.len()];
        for (key, sender, receiver) in self.arrows() {
            let span = self.timeline.messages[key].span;
            last[sender] = last[sender].max(Some(span.from));
            last[receiver] = last[receiver].max(Some(span.to));
        }
        last
    }

    fn messages(&mut self) {
        for (key, sender, receiver) in self.arrows() {
            let message = &self.timeline.messages[key];
            let bytes = if message.bytes.is_finite() { message.bytes } else { 0.0 };
            let (from, to) = (container_of(&self.rows.rows[sender]), container_of(&self.rows.rows[receiver]));
            let Span { from: left, to: arrived } = message.span;
            self.add(left, Phase::Within, 10, &format!("MESSAGE 0 ARROW {from} m{key} {bytes}"));
            self.add(arrived, Phase::Within, 11, &format!("MESSAGE 0 ARROW {to} m{key}"));
        }
    }

    fn add(&mut self, mark: Mark, phase: Phase, event: u32, fields: &str) {
        // Adding 0 turns -0 into 0, which some readers cannot read.
        let time = mark.seconds() + 0.0;
        self.chronicle.add(mark, phase, format!("{event} {time} {fields}"));
    }
}

fn container_of(row: &Row<'_>) -> String {
    format!("a{}h{}", row.actor.id, row.host.id)
}

fn alias(kind: Kind) -> &'static str {
    match kind {
        Kind::Executing => "EXECUTING",
        Kind::Parallel => "PARALLEL",
        Kind::Sending => "SENDING",
        Kind::Receiving => "RECEIVING",
        Kind::Reading => "READING",
        Kind::Writing => "WRITING",
        Kind::WaitingAny => "WAITING_ANY",
        Kind::Sleeping => "SLEEPING",
        Kind::Locking => "LOCKING",
        Kind::Acquiring => "ACQUIRING",
        Kind::Condition => "CONDITION",
        Kind::Barrier => "BARRIER",
        Kind::Joining => "JOINING",
        Kind::Suspended => "SUSPENDED",
        Kind::Calling => "CALLING",
    }
}
