//! What the network may do with messages, and messages on their way as a list of numbers.

use std::fmt;
use std::str::FromStr;

/// A message with its sender and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Envelope {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) msg: u32,
}

impl Envelope {
    /// Messages of one channel keep their order in an ordered network.
    pub(crate) fn channel(self) -> u64 {
        (u64::from(self.from) << 32) | u64::from(self.to)
    }
}

/// In which order messages arrive, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// Messages overtake each other, and each arrives once: datagrams that are not duplicated.
    #[default]
    Unordered,
    /// Messages overtake each other, and each may arrive any number of times.
    Duplicating,
    /// Messages from one actor to another arrive in the order in which they were sent.
    Ordered,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl FromStr for Network {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Unordered, Self::Duplicating, Self::Ordered]
            .into_iter()
            .find(|network| network.to_string() == text)
            .ok_or_else(|| format!("network {text:?} is none of unordered, duplicating, ordered"))
    }
}

impl Network {
    /// Which of the messages on their way can arrive next, by their places. Equal messages count once.
    pub(crate) fn deliverable(self, flying: &[u32], envelopes: &[Envelope]) -> impl Iterator<Item = usize> {
        let queue = move |at: usize| match self {
            Self::Unordered | Self::Duplicating => u64::from(flying[at]),
            Self::Ordered => envelopes[flying[at] as usize].channel(),
        };
        (0..flying.len()).filter(move |&at| at == 0 || queue(at) != queue(at - 1))
    }

    /// Which of them can be lost, by their places.
    pub(crate) fn losable(self, flying: &[u32]) -> impl Iterator<Item = usize> {
        (0..flying.len()).filter(move |&at| at == 0 || self == Self::Ordered || flying[at] != flying[at - 1])
    }

    /// Puts what is on its way afterwards behind `into`: without the message at `taken`, and with what was sent.
    ///
    /// `sends` is in order for the networks without order, and as it was sent for the ordered one.
    pub(crate) fn after(
        self,
        flying: &[u32],
        taken: Option<usize>,
        sends: &[u32],
        envelopes: &[Envelope],
        into: &mut Vec<u32>,
    ) {
        let start = into.len();
        match self {
            Self::Unordered | Self::Duplicating => {
                let mut sends = sends.iter().copied().peekable();
                for (at, &message) in flying.iter().enumerate() {
                    while let Some(sent) = sends.next_if(|sent| *sent <= message) {
                        self.push(sent, start, into);
                    }
                    if taken != Some(at) {
                        self.push(message, start, into);
                    }
                }
                sends.for_each(|sent| self.push(sent, start, into));
            }
            Self::Ordered => {
                let staying = flying.iter().enumerate().filter(|(at, _)| taken != Some(*at));
                into.extend(staying.map(|(_, message)| message));
                for &sent in sends {
                    let channel = envelopes[sent as usize].channel();
                    let behind = into[start..]
                        .partition_point(|other| envelopes[*other as usize].channel() <= channel);
                    into.insert(start + behind, sent);
                }
            }
        }
    }

    fn push(self, message: u32, start: usize, into: &mut Vec<u32>) {
        if self == Self::Unordered || into.len() == start || into.last() != Some(&message) {
            into.push(message);
        }
    }
}
