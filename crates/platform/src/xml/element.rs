//! An XML element with its line: attributes that are required, refused or parsed, each failure said in one line.

use roxmltree::Node;

use crate::error::{Complaint, Error};
use crate::ids::Point;
use crate::inventory::Inventory;
use crate::suggest;

/// Deeper elements than any platform needs; the parser recurses on them.
const DEPTH_MAX: usize = 256;
/// More attributes than any element has; the parser compares each with each.
const ATTRIBUTES_MAX: usize = 256;

/// Where the lines of a text start.
pub(super) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(super) fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineIndex { starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32
    }
}

/// An element, where it is, and what its file is called.
#[derive(Clone, Copy)]
pub(super) struct Element<'a, 'input> {
    node: Node<'a, 'input>,
    lines: &'a LineIndex,
    file: &'a str,
}

impl<'a, 'input> Element<'a, 'input> {
    pub(super) fn new(node: Node<'a, 'input>, lines: &'a LineIndex, file: &'a str) -> Self {
        Element { node, lines, file }
    }

    pub(super) fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    pub(super) fn line(&self) -> u32 {
        self.lines.line(self.node.range().start)
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    /// The text directly inside, and the line it starts at.
    pub(super) fn text(&self) -> (&'a str, u32) {
        let text = self.node.children().find(|child| child.is_text());
        text.map_or(("", self.line()), |node| {
            (node.text().unwrap_or(""), self.lines.line(node.range().start))
        })
    }

    pub(super) fn children(self) -> impl Iterator<Item = Element<'a, 'input>> {
        let Element { node, lines, file } = self;
        node.children().filter(Node::is_element).map(move |node| Element { node, lines, file })
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    /// The same, an empty one counting as absent.
    pub(super) fn filled(&self, name: &str) -> Option<&'a str> {
        self.attribute(name).filter(|value| !value.trim().is_empty())
    }

    pub(super) fn required(&self, name: &str, what: &str) -> Result<&'a str, Error> {
        self.attribute(name)
            .ok_or_else(|| self.error(format!("<{}> has no {name}", self.tag()), format!("give it {what}")))
    }

    /// An attribute read by a parser, whose complaint gains the place and the attribute's name.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        parser: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let value = parser(text).map_err(|problem| {
            self.error(format!("{name}: {problem}"), format!("correct the {name} of this <{}>", self.tag()))
        })?;
        Ok(Some(value))
    }

    pub(super) fn parsed_required<T>(
        &self,
        name: &str,
        what: &str,
        parser: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, Error> {
        self.required(name, what)?;
        match self.parsed(name, parser)? {
            Some(value) => Ok(value),
            None => unreachable!("a required attribute is there"),
        }
    }

    /// A choice among words, in any case.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
        let Some(&(_, value)) = found else {
            let hint = suggest::hint(text, choices.iter().map(|(word, _)| *word));
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            return Err(self.error(
                format!("{name}={text:?} is not known{hint}"),
                format!("use one of {}", words.join(", ")),
            ));
        };
        Ok(Some(value))
    }

    /// Refuses attributes that would be ignored: they are misspelt or misunderstood.
    pub(super) fn allow(&self, names: &[&str]) -> Result<(), Error> {
        for attribute in self.node.attributes() {
            if !names.contains(&attribute.name()) {
                let hint = suggest::hint(attribute.name(), names.iter().copied());
                return Err(self.error(
                    format!("<{}> has an unknown attribute {:?}{hint}", self.tag(), attribute.name()),
                    format!("use only {}", names.join(", ")),
                ));
            }
        }
        Ok(())
    }

    /// Refuses this element inside another.
    pub(super) fn unexpected(&self, parent: &str, expected: &[&str]) -> Error {
        let hint = suggest::hint(self.tag(), expected.iter().copied());
        self.error(
            format!("<{}> is not known inside <{parent}>{hint}", self.tag()),
            format!("use only {}", expected.join(", ")),
        )
    }

    /// The host, router or zone that an attribute names.
    pub(super) fn point(&self, name: &str, things: &Inventory) -> Result<Point, Error> {
        let value = self.required(name, "the name of a host, router or zone")?;
        things.point_named(value).ok_or_else(|| {
            let names =
                things.host_names.iter().chain(things.router_names.iter()).chain(things.zone_names.iter());
            let hint = suggest::hint(value, names);
            self.error(
                format!("{name}={value:?} names no host, router or zone{hint}"),
                "correct the name, or declare it",
            )
        })
    }

    pub(super) fn error(&self, problem: impl Into<String>, advice: impl Into<String>) -> Error {
        Complaint::new(problem, advice).at(self.file, Some(self.line()))
    }
}

/// Refuses texts that would keep the parser busy for ever: elements nested so deep that they exhaust its stack, or with so many
/// attributes that comparing each with each takes minutes. Returns the line, and what is wrong there.
///
/// Tags are counted roughly: CDATA may mislead the count only upwards by what it contains, and comments are skipped.
pub(super) fn check_shape(text: &str) -> Result<(), (u32, Complaint)> {
    let bytes = text.as_bytes();
    let line = |at: usize| 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u32;
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| *byte == b'<') {
        at += offset;
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            at = text[at..].find("-->").map_or(bytes.len(), |end| at + end + 3);
            continue;
        }
        if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
        } else if !rest.starts_with(b"<!") && !rest.starts_with(b"<?") {
            let tag = Tag::at(&rest[1..]);
            if !tag.is_closed {
                depth += 1;
            }
            if depth > DEPTH_MAX {
                let advice = "close the elements, or flatten the zones";
                return Err((line(at), Complaint::new("the elements are nested too deep", advice)));
            }
            if tag.attributes > ATTRIBUTES_MAX {
                let problem = format!("an element has more than {ATTRIBUTES_MAX} attributes");
                return Err((line(at), Complaint::new(problem, "no element of a platform has; remove them")));
            }
        }
        at += 1;
    }
    Ok(())
}

/// A tag, from its name on.
struct Tag {
    /// It has no end tag of its own.
    is_closed: bool,
    /// How many attributes: as many as there are quoted values.
    attributes: usize,
}

impl Tag {
    /// No tag and no value holds a `<`: there it is over, so that all tags together are read once.
    fn at(bytes: &[u8]) -> Self {
        let mut tag = Tag { is_closed: false, attributes: 0 };
        let mut quote = None;
        for &byte in bytes {
            match (quote, byte) {
                (_, b'<') | (None, b'>') => break,
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), close) if open == close => {
                    quote = None;
                    tag.attributes += 1;
                }
                _ => {}
            }
            tag.is_closed = quote.is_none() && byte == b'/';
        }
        tag
    }
}
