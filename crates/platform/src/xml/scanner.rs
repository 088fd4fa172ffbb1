//! A text read byte by byte: spaces, names and what has to come next, and the line that was reached.
//!
//! What a document has before its first mistake is read once; where the mistake is gets counted when there is one.

use std::borrow::Cow;
use std::fmt;

use crate::error::Complaint;
use crate::xml::characters::{
    NAME, NAME_START, SPACE, VALUE, is, is_name, is_name_start, is_xml, is_xml_byte_of_ascii, past,
};
use crate::xml::element::Attribute;

/// Why a text is not a document, or none that is read, and the line to look at.
#[derive(Debug)]
pub(super) struct Malformed {
    pub(super) line: u32,
    pub(super) complaint: Complaint,
}

/// Boxed: what is rare should not make every result large.
pub(super) type Result<T> = std::result::Result<T, Box<Malformed>>;

/// A line and a column, from 1, the column in characters.
pub(super) struct Position {
    line: u32,
    column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A place in a text, and how far one may read from there.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    /// The text up to where it is read: its end, or that of an entity in it.
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    /// The line of `at`.
    pub(super) line: u32,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Scanner { text, bytes: text.as_bytes(), at: 0, line: 1 }
    }

    /// The same text from one place, which is in that line, to another.
    pub(super) fn part(&self, start: usize, end: usize, line: u32) -> Self {
        Scanner { text: self.text, bytes: &self.text.as_bytes()[..end], at: start, line }
    }

    pub(super) fn is_over(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn starts_with(&self, word: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word))
    }

    /// The next byte, which has to be there.
    #[inline]
    pub(super) fn byte(&self) -> Result<u8> {
        self.peek().ok_or_else(ended)
    }

    /// The text since a place that was passed.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    /// Goes to a place further on, over any bytes.
    pub(super) fn skip_to(&mut self, to: usize) {
        self.line += lines(&self.bytes[self.at..to]);
        self.at = to;
    }

    /// Says whether there were any.
    #[inline]
    pub(super) fn skip_spaces(&mut self) -> bool {
        let (start, bytes) = (self.at, self.bytes);
        let mut at = start;
        while at < bytes.len() && is(bytes[at], SPACE) {
            self.line += u32::from(bytes[at] == b'\n');
            at += 1;
        }
        self.at = at;
        at > start
    }

    pub(super) fn expect_spaces(&mut self) -> Result<()> {
        let next = self.byte()?;
        if self.skip_spaces() { Ok(()) } else { Err(self.unexpected("a whitespace", next)) }
    }

    #[inline]
    pub(super) fn expect(&mut self, wanted: u8) -> Result<()> {
        let next = self.byte()?;
        if next != wanted {
            return Err(self.unexpected_byte(wanted, next));
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if !self.starts_with(word.as_bytes()) {
            return Err(self.wrong(self.at, |place| format!("expected '{word}' at {place}")));
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    pub(super) fn quote(&mut self) -> Result<u8> {
        let quote = self.byte()?;
        if !matches!(quote, b'"' | b'\'') {
            return Err(self.unexpected("a quote", quote));
        }
        self.at += 1;
        Ok(quote)
    }

    /// A name without a meaning to namespaces: of an entity, of a processing instruction.
    pub(super) fn name(&mut self) -> Result<&'t str> {
        let start = self.at;
        let mut rest = self.text[start..self.bytes.len()].chars();
        if !rest.next().is_some_and(is_name_start) {
            return Err(self.bad_name(start));
        }
        let length: usize = rest.take_while(|letter| is_name(*letter)).map(char::len_utf8).sum();
        let first = self.text[start..].chars().next().map_or(0, char::len_utf8);
        self.at = start + first + length;
        Ok(self.since(start))
    }

    /// The name of an element or an attribute: what is before its colon, often nothing, and what is after it.
    #[inline]
    pub(super) fn qualified_name(&mut self) -> Result<(&'t str, &'t str)> {
        let start = self.at;
        let end = past(self.bytes, start, NAME);
        let is_whole = self.bytes.get(end).is_none_or(|byte| *byte != b':' && byte.is_ascii());
        if end > start && is_whole && is(self.bytes[start], NAME_START) {
            self.at = end;
            return Ok(("", self.since(start)));
        }
        self.uncommon_name()
    }

    /// An attribute as most are, and where it ends: a space, a name of ASCII without a prefix, and a value that is what it says.
    #[inline]
    pub(super) fn common_attribute(&self) -> Option<(Attribute<'t>, usize)> {
        let bytes = self.bytes;
        if self.peek() != Some(b' ') {
            return None;
        }
        let start = self.at + 1;
        let end = past(bytes, start, NAME);
        let &[b'=', quote @ (b'"' | b'\'')] = bytes.get(end..end + 2)? else { return None };
        let first = end + 2;
        let last = past(bytes, first, VALUE);
        let name = &self.text[start..end];
        if !is(bytes[start], NAME_START) || *bytes.get(last)? != quote || name == "xmlns" {
            return None;
        }
        let value = Cow::Borrowed(&self.text[first..last]);
        Some((Attribute { start, is_prefixed: false, name, value }, last + 1))
    }

    /// One with a colon, or with letters beyond ASCII; or none.
    #[cold]
    fn uncommon_name(&mut self) -> Result<(&'t str, &'t str)> {
        let start = self.at;
        let whole = &self.text[start..self.bytes.len()];
        let length = whole.find(|letter| !is_name(letter)).unwrap_or(whole.len());
        let name = &whole[..length];
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let begins = |part: &str| part.chars().next().is_some_and(is_name_start);
        if local.contains(':') || !begins(local) || !(prefix.is_empty() || begins(prefix)) {
            return Err(self.bad_name(start));
        }
        self.at += length;
        Ok((prefix, local))
    }

    /// Refuses characters that no document may hold.
    pub(super) fn check_characters(&self, start: usize, end: usize) -> Result<()> {
        let part = &self.text[start..end];
        if part.bytes().all(is_xml_byte_of_ascii) {
            return Ok(());
        }
        match part.char_indices().find(|(_, letter)| !is_xml(*letter)) {
            Some((offset, letter)) => Err(self
                .wrong(start + offset, |place| format!("a non-XML character {letter:?} found at {place}"))),
            None => Ok(()),
        }
    }

    /// Characters up to a word, which is passed as well.
    pub(super) fn up_to(&mut self, word: &str) -> Result<&'t str> {
        let start = self.at;
        let rest = &self.text[start..self.bytes.len()];
        let end = rest.find(word).map_or(self.bytes.len(), |offset| start + offset);
        self.check_characters(start, end)?;
        self.skip_to(end);
        let inside = self.since(start);
        self.expect_word(word)?;
        Ok(inside)
    }

    #[cold]
    pub(super) fn unexpected(&self, wanted: &str, found: u8) -> Box<Malformed> {
        self.wrong(self.at, |place| format!("expected {wanted} not '{}' at {place}", found as char))
    }

    #[cold]
    fn unexpected_byte(&self, wanted: u8, found: u8) -> Box<Malformed> {
        self.unexpected(&format!("'{}'", wanted as char), found)
    }

    #[cold]
    pub(super) fn unknown(&self) -> Box<Malformed> {
        self.wrong(self.at, |place| format!("unknown token at {place}"))
    }

    #[cold]
    fn bad_name(&self, at: usize) -> Box<Malformed> {
        self.wrong(at, |place| format!("invalid name token at {place}"))
    }

    /// What is wrong at a place.
    #[cold]
    pub(super) fn wrong(&self, at: usize, say: impl FnOnce(&Position) -> String) -> Box<Malformed> {
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let place =
            Position { line: lines(before.as_bytes()) + 1, column: before[start..].chars().count() + 1 };
        not_well_formed(place.line, &say(&place))
    }
}

/// What is wrong with a text as a whole.
#[cold]
pub(super) fn wrong_whole(problem: &str) -> Box<Malformed> {
    not_well_formed(1, problem)
}

#[cold]
pub(super) fn ended() -> Box<Malformed> {
    wrong_whole("unexpected end of stream")
}

fn not_well_formed(line: u32, problem: &str) -> Box<Malformed> {
    let problem = format!("this is not well-formed XML: {problem}");
    Box::new(Malformed { line, complaint: Complaint::new(problem, "correct it there or just before") })
}

/// How many lines end in these bytes.
pub(super) fn lines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u32
}
