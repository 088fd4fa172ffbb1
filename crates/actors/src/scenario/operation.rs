//! One operation of a scenario, as it is written: `send box 1e6 rate 1e5 timeout 2`.

use std::fmt;

use simurgh_platform::units;

/// What an actor of a scenario does.
#[derive(Clone, PartialEq, Debug)]
pub enum Operation {
    /// `exec F [on H] [priority P] [bound B] [timeout S]`: computes.
    Exec {
        /// How much.
        flops: f64,
        /// On which host; the actor's own if not said.
        host: Option<String>,
        /// Its share against others.
        priority: Option<f64>,
        /// At most so many flop/s.
        bound: Option<f64>,
        /// Stops waiting after so many seconds.
        timeout: Option<f64>,
    },
    /// `sleep S`: lets time pass.
    Sleep(f64),
    /// `send BOX BYTES [rate R] [timeout S]`: sends and waits until it has arrived.
    Send(Message, Option<f64>),
    /// `isend BOX BYTES [rate R]`: sends in the background, to be waited for.
    Isend(Message),
    /// `dsend BOX BYTES [rate R]`: sends in the background, detached.
    Dsend(Message),
    /// `recv BOX [rate R] [timeout S]`: receives.
    Recv {
        /// From where.
        mailbox: String,
        /// At most so many bytes a second.
        rate: Option<f64>,
        /// Gives up after so many seconds.
        timeout: Option<f64>,
    },
    /// `irecv BOX [rate R]`: receives in the background, to be waited for.
    Irecv {
        /// From where.
        mailbox: String,
        /// At most so many bytes a second.
        rate: Option<f64>,
    },
    /// `waitall`: waits for all that was started, one by one.
    WaitAll,
    /// `waitany`: waits for one of those that were started.
    WaitAny,
    /// `read DISK BYTES`: reads from a disk of the actor's host.
    Read {
        /// From which disk.
        disk: String,
        /// How much.
        bytes: f64,
    },
    /// `write DISK BYTES`: writes to a disk of the actor's host.
    Write {
        /// To which disk.
        disk: String,
        /// How much.
        bytes: f64,
    },
}

/// A message of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Where to.
    pub mailbox: String,
    /// How long it is.
    pub bytes: f64,
    /// At most so many bytes a second.
    pub rate: Option<f64>,
}

const FORMS: &[(&str, &str)] = &[
    ("exec", "exec FLOPS [on HOST] [priority P] [bound FLOPS_PER_SECOND] [timeout SECONDS]"),
    ("sleep", "sleep SECONDS"),
    ("send", "send MAILBOX BYTES [rate BYTES_PER_SECOND] [timeout SECONDS]"),
    ("isend", "isend MAILBOX BYTES [rate BYTES_PER_SECOND]"),
    ("dsend", "dsend MAILBOX BYTES [rate BYTES_PER_SECOND]"),
    ("recv", "recv MAILBOX [rate BYTES_PER_SECOND] [timeout SECONDS]"),
    ("irecv", "irecv MAILBOX [rate BYTES_PER_SECOND]"),
    ("waitall", "waitall"),
    ("waitany", "waitany"),
    ("read", "read DISK BYTES"),
    ("write", "write DISK BYTES"),
];

impl Operation {
    /// Reads an operation.
    ///
    /// # Errors
    /// What is wrong with it, and how it is written.
    pub fn parse(text: &str) -> Result<Operation, String> {
        let mut words = text.split_whitespace();
        let Some(verb) = words.next() else {
            return Err("an operation is missing; write one such as \"exec 1e9\"".to_owned());
        };
        let Some(&(_, form)) = FORMS.iter().find(|(name, _)| *name == verb) else {
            let names: Vec<_> = FORMS.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no operation {verb:?}; there are {}", names.join(", ")));
        };
        Words { words: words.collect(), at: 0, form }.operation(verb)
    }
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    form: &'static str,
}

impl<'a> Words<'a> {
    fn operation(mut self, verb: &str) -> Result<Operation, String> {
        let operation = match verb {
            "exec" => {
                let flops = self.amount("flops", units::parse_flops)?;
                let host = self.host()?;
                let [priority, bound, timeout] = self.options(["priority", "bound", "timeout"])?;
                Operation::Exec { flops, host, priority, bound, timeout }
            }
            "sleep" => Operation::Sleep(self.amount("seconds", units::parse_time)?),
            "send" => {
                let (mailbox, bytes) = (self.name("mailbox")?, self.amount("bytes", units::parse_size)?);
                let [rate, timeout] = self.options(["rate", "timeout"])?;
                Operation::Send(Message { mailbox, bytes, rate }, timeout)
            }
            "isend" | "dsend" => {
                let (mailbox, bytes) = (self.name("mailbox")?, self.amount("bytes", units::parse_size)?);
                let [rate] = self.options(["rate"])?;
                let message = Message { mailbox, bytes, rate };
                if verb == "isend" { Operation::Isend(message) } else { Operation::Dsend(message) }
            }
            "recv" => {
                let mailbox = self.name("mailbox")?;
                let [rate, timeout] = self.options(["rate", "timeout"])?;
                Operation::Recv { mailbox, rate, timeout }
            }
            "irecv" => {
                let mailbox = self.name("mailbox")?;
                let [rate] = self.options(["rate"])?;
                Operation::Irecv { mailbox, rate }
            }
            "waitall" => Operation::WaitAll,
            "waitany" => Operation::WaitAny,
            "read" => {
                Operation::Read { disk: self.name("disk")?, bytes: self.amount("bytes", units::parse_size)? }
            }
            "write" => {
                Operation::Write { disk: self.name("disk")?, bytes: self.amount("bytes", units::parse_size)? }
            }
            _ => unreachable!("every form is read here"),
        };
        match self.words.get(self.at) {
            None => Ok(operation),
            Some(word) => Err(format!("{word:?} is one word too many; it is written `{}`", self.form)),
        }
    }

    fn next(&mut self, what: &str) -> Result<&'a str, String> {
        let word = self.words.get(self.at).ok_or_else(|| {
            format!(
                "the {what} {} missing; it is written `{}`",
                if what.ends_with('s') { "are" } else { "is" },
                self.form
            )
        })?;
        self.at += 1;
        Ok(word)
    }

    fn name(&mut self, what: &str) -> Result<String, String> {
        self.next(what).map(str::to_owned)
    }

    /// The name behind `on`, if there is one.
    fn host(&mut self) -> Result<Option<String>, String> {
        if self.words.get(self.at) != Some(&"on") {
            return Ok(None);
        }
        self.at += 1;
        self.name("host").map(Some)
    }

    fn amount(&mut self, what: &str, parse: fn(&str) -> Result<f64, String>) -> Result<f64, String> {
        let word = self.next(what)?;
        let amount = parse(word).map_err(|error| format!("{what}: {error}"))?;
        if !amount.is_finite() || amount < 0.0 {
            return Err(format!("{what} cannot be {word}; give a number that is not negative"));
        }
        Ok(amount)
    }

    fn options<const N: usize>(&mut self, names: [&str; N]) -> Result<[Option<f64>; N], String> {
        let mut values = [None; N];
        while let Some(&word) = self.words.get(self.at) {
            let Some(which) = names.iter().position(|&name| name == word) else {
                return Err(format!("{word:?} is not understood; it is written `{}`", self.form));
            };
            self.at += 1;
            if values[which].is_some() {
                return Err(format!("{word} is given twice"));
            }
            let parse = match word {
                "timeout" => units::parse_time,
                "rate" => units::parse_bandwidth,
                "bound" => units::parse_speed,
                _ => plain,
            };
            let value = self.amount(word, parse)?;
            if value == 0.0 && word != "timeout" {
                return Err(format!("{word} cannot be 0; leave it out or give a positive number"));
            }
            values[which] = Some(value);
        }
        Ok(values)
    }
}

fn plain(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = |f: &mut fmt::Formatter<'_>, name: &str, value: &Option<f64>| match value {
            Some(value) => write!(f, " {name} {}", Short(*value)),
            None => Ok(()),
        };
        match self {
            Operation::Exec { flops, host, priority, bound, timeout } => {
                write!(f, "exec {}", Short(*flops))?;
                if let Some(host) = host {
                    write!(f, " on {host}")?;
                }
                option(f, "priority", priority)?;
                option(f, "bound", bound)?;
                option(f, "timeout", timeout)
            }
            Operation::Sleep(seconds) => write!(f, "sleep {}", Short(*seconds)),
            Operation::Send(message, timeout) => {
                write!(f, "send {} {}", message.mailbox, Short(message.bytes))?;
                option(f, "rate", &message.rate)?;
                option(f, "timeout", timeout)
            }
            Operation::Isend(message) => {
                write!(f, "isend {} {}", message.mailbox, Short(message.bytes))?;
                option(f, "rate", &message.rate)
            }
            Operation::Dsend(message) => {
                write!(f, "dsend {} {}", message.mailbox, Short(message.bytes))?;
                option(f, "rate", &message.rate)
            }
            Operation::Recv { mailbox, rate, timeout } => {
                write!(f, "recv {mailbox}")?;
                option(f, "rate", rate)?;
                option(f, "timeout", timeout)
            }
            Operation::Irecv { mailbox, rate } => {
                write!(f, "irecv {mailbox}")?;
                option(f, "rate", rate)
            }
            Operation::WaitAll => f.write_str("waitall"),
            Operation::WaitAny => f.write_str("waitany"),
            Operation::Read { disk, bytes } => write!(f, "read {disk} {}", Short(*bytes)),
            Operation::Write { disk, bytes } => write!(f, "write {disk} {}", Short(*bytes)),
        }
    }
}

/// A number in few letters, however large or small it is.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || (1e-6..1e16).contains(&self.0) {
            self.0.fmt(f)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}
