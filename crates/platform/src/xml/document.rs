//! A document read once, from its beginning to its end, an element at a time; nothing of it is kept.
//!
//! Whoever has an element asks for those in it ([`Document::child`]), and need not ask for all: what nobody asked for is passed over,
//! and must be well-formed all the same. [`Document::finish`] does so with the rest. An element can be come back to
//! ([`Document::revisit`]) once all has been read.

use std::borrow::Cow;

use crate::error::{Complaint, Error, Place};
use crate::xml::characters::{VALUE, past};
use crate::xml::element::{Attribute, Attributes, Element};
use crate::xml::namespaces::Namespaces;
use crate::xml::prolog;
use crate::xml::references::{Entities, Reference, reference};
use crate::xml::scanner::{Malformed, Result, Scanner, ended, wrong_whole};

/// Deeper elements than any platform needs.
const DEPTH_MAX: usize = 256;
/// More attributes than any element has; each is compared with each.
const ATTRIBUTES_MAX: usize = 256;

/// A document being read.
pub(super) struct Document<'t> {
    file: &'t str,
    scanner: Scanner<'t>,
    entities: Entities<'t>,
    namespaces: Namespaces<'t>,
    /// The names of the elements that are open, outermost first.
    open: Vec<&'t str>,
    /// Where reading goes on after the entities that are being read, how many elements were open before each, and how far the characters
    /// behind it have been checked.
    around: Vec<(Scanner<'t>, usize, usize)>,
    /// Up to where the characters that are being read have been checked: a run is interrupted by each entity in it.
    checked: usize,
    /// Elements, comments, processing instructions and runs of characters, so far, and how many there may be.
    nodes: (u32, u32),
    /// Characters were read last: more of them are of the same run.
    is_in_run: bool,
    run: Option<Run>,
    state: State,
}

enum State {
    /// All of it is still to be checked.
    Reading,
    /// All of it is well-formed.
    Finished,
    Malformed(Error),
}

/// The first characters directly inside an element, while they are read.
struct Run {
    depth: usize,
    text: String,
    line: u32,
    is_begun: bool,
    is_over: bool,
}

/// An element to come back to.
#[derive(Clone, Copy)]
pub(super) struct Bookmark {
    line: u32,
    start: usize,
    /// Where the document ends, or the entity that it is in.
    end: usize,
}

/// What stands next in an element.
enum Next {
    StartTag,
    EndTag,
}

impl<'t> Document<'t> {
    /// Reads to the first element. There may be that many nodes in all.
    pub(super) fn new(
        text: &'t str,
        file: &'t str,
        nodes_max: u32,
    ) -> std::result::Result<(Self, Element<'t>), Error> {
        let mut document = Document {
            file,
            scanner: Scanner::new(text),
            entities: Entities::default(),
            namespaces: Namespaces::default(),
            open: Vec::new(),
            around: Vec::new(),
            checked: 0,
            nodes: (1, nodes_max),
            is_in_run: false,
            run: None,
            state: State::Reading,
        };
        match document.root() {
            Ok(root) => Ok((document, root)),
            Err(malformed) => Err(document.refuse(*malformed)),
        }
    }

    /// Makes `child` the next element directly inside `parent`, if there is one before its end.
    #[inline]
    pub(super) fn child(
        &mut self,
        parent: &Element<'t>,
        child: &mut Element<'t>,
    ) -> std::result::Result<bool, Error> {
        match self.next_child(parent.depth, child) {
            Ok(found) => Ok(found),
            Err(malformed) => Err(self.refuse(*malformed)),
        }
    }

    /// The first characters directly inside an element of which nothing was read, and the line that they start at.
    pub(super) fn text(&mut self, parent: &Element<'t>) -> std::result::Result<(String, u32), Error> {
        let run = Run {
            depth: parent.depth,
            text: String::new(),
            line: parent.line(),
            is_begun: false,
            is_over: false,
        };
        self.run = Some(run);
        let mut child = Element::default();
        while self.child(parent, &mut child)? {}
        let run = self.run.take();
        Ok(run.map_or_else(|| (String::new(), parent.line()), |run| (run.text, run.line)))
    }

    /// Reads the rest: whether all of it is well-formed.
    pub(super) fn finish(&mut self) -> std::result::Result<(), Error> {
        match &self.state {
            State::Finished => return Ok(()),
            State::Malformed(error) => return Err(error.clone()),
            State::Reading => {}
        }
        match self.read_rest() {
            Ok(()) => {
                self.state = State::Finished;
                Ok(())
            }
            Err(malformed) => Err(self.refuse(*malformed)),
        }
    }

    pub(super) fn is_malformed(&self) -> bool {
        matches!(self.state, State::Malformed(_))
    }

    /// Where an element is that was just read.
    pub(super) fn bookmark(&self, element: &Element<'t>) -> Bookmark {
        Bookmark { line: element.line(), start: element.start, end: self.scanner.bytes.len() }
    }

    /// The element there, again, with all that is in it. The whole document has been read.
    pub(super) fn revisit(&mut self, bookmark: Bookmark) -> std::result::Result<Element<'t>, Error> {
        assert!(matches!(self.state, State::Finished), "what is come back to was seen to be well-formed");
        let text = self.scanner.text;
        let bytes = &text.as_bytes()[..bookmark.end];
        self.scanner = Scanner { text, bytes, at: bookmark.start, line: bookmark.line };
        self.open.clear();
        self.around.clear();
        self.checked = 0;
        // What is counted was counted before.
        self.nodes.0 = 0;
        let mut element = Element::default();
        match self.start_tag(&mut element) {
            Ok(()) => Ok(element),
            Err(malformed) => Err(self.refuse(*malformed)),
        }
    }

    fn root(&mut self) -> Result<Element<'t>> {
        prolog::declaration(&mut self.scanner)?;
        self.skip_others()?;
        if self.scanner.starts_with(b"<!DOCTYPE") {
            let (nodes, mut entities) = (&mut self.nodes, std::mem::take(&mut self.entities));
            prolog::document_type(&mut self.scanner, &mut entities, |scanner| other(scanner, nodes))?;
            self.entities = entities;
            self.skip_others()?;
        }
        match self.scanner.peek() {
            Some(b'<') => {
                let mut root = Element::default();
                self.start_tag(&mut root)?;
                Ok(root)
            }
            Some(_) => Err(self.scanner.unknown()),
            None => Err(unclosed(&[])),
        }
    }

    fn next_child(&mut self, depth: usize, child: &mut Element<'t>) -> Result<bool> {
        while self.open.len() >= depth {
            match self.up_to_tag()? {
                Next::StartTag => {
                    self.start_tag(child)?;
                    if child.depth == depth + 1 {
                        return Ok(true);
                    }
                }
                Next::EndTag => self.end_tag()?,
            }
        }
        Ok(false)
    }

    fn read_rest(&mut self) -> Result<()> {
        let mut element = Element::default();
        while self.next_child(1, &mut element)? {}
        self.skip_others()?;
        if self.scanner.is_over() { Ok(()) } else { Err(self.scanner.unknown()) }
    }

    /// Comments and processing instructions outside of the first element.
    fn skip_others(&mut self) -> Result<()> {
        loop {
            self.scanner.skip_spaces();
            if !other(&mut self.scanner, &mut self.nodes)? {
                return Ok(());
            }
        }
    }

    /// Passes characters, comments, references and all else that is no tag.
    #[inline]
    fn up_to_tag(&mut self) -> Result<Next> {
        loop {
            let start = self.scanner.at;
            let line = self.scanner.line;
            if self.scanner.skip_spaces() && self.run.is_some() {
                (self.scanner.at, self.scanner.line) = (start, line);
                self.characters()?;
                continue;
            }
            let Some(byte) = self.scanner.peek() else {
                self.count_run(self.scanner.at > start)?;
                self.leave_entity()?;
                continue;
            };
            if byte != b'<' {
                (self.scanner.at, self.scanner.line) = (start, line);
                self.characters()?;
                continue;
            }
            self.count_run(self.scanner.at > start)?;
            match self.scanner.bytes.get(self.scanner.at + 1) {
                Some(b'/') => {
                    self.end_run();
                    return Ok(Next::EndTag);
                }
                Some(b'!' | b'?') if self.scanner.starts_with(b"<![CDATA[") => self.literal()?,
                Some(b'!' | b'?') => {
                    self.end_run();
                    if !other(&mut self.scanner, &mut self.nodes)? {
                        return Err(self.scanner.unknown());
                    }
                }
                Some(_) => {
                    self.end_run();
                    return Ok(Next::StartTag);
                }
                None => return Err(self.scanner.unknown()),
            }
        }
    }

    fn start_tag(&mut self, element: &mut Element<'t>) -> Result<()> {
        let (start, line) = (self.scanner.at, self.scanner.line);
        self.scanner.at += 1;
        let (prefix, tag) = self.scanner.qualified_name()?;
        let name = self.scanner.since(start + 1);
        let depth = self.open.len() + 1;
        element.attributes.clear();
        let mut is_common = prefix.is_empty();
        if prefix == "xmlns" {
            return Err(self.scanner.wrong(start + 1, |place| {
                format!("the 'xmlns' prefix is used at {place}, but it must not be")
            }));
        }
        let mut count = 0;
        loop {
            while count < ATTRIBUTES_MAX
                && let Some((attribute, end)) = self.scanner.common_attribute()
            {
                self.scanner.at = end;
                element.attributes.push(attribute);
                count += 1;
            }
            let is_spaced = self.scanner.skip_spaces();
            match self.scanner.peek() {
                Some(b'>') => {
                    self.scanner.at += 1;
                    self.open.push(name);
                    break;
                }
                Some(b'/') => {
                    self.scanner.at += 1;
                    self.scanner.expect(b'>')?;
                    break;
                }
                Some(byte) if !is_spaced => return Err(self.scanner.unexpected("a whitespace", byte)),
                None if is_spaced => return Err(ended()),
                None => return Err(unclosed(&self.open)),
                Some(_) => {}
            }
            count += 1;
            if count > ATTRIBUTES_MAX {
                let problem = format!("an element has more than {ATTRIBUTES_MAX} attributes");
                return Err(misshapen(line, problem, "no element of a platform has; remove them"));
            }
            let start = self.scanner.at;
            let (prefix, name) = self.scanner.qualified_name()?;
            let value = self.value()?;
            if !prefix.is_empty() || name == "xmlns" {
                is_common = false;
                let is_declaration =
                    self.namespaces.declare(&self.scanner, depth, (start, prefix, name), &value)?;
                if is_declaration {
                    continue;
                }
            }
            element.attributes.push(Attribute { start, is_prefixed: !prefix.is_empty(), name, value });
        }
        if !is_common {
            self.check_prefixes(&element.attributes, prefix, start + 1)?;
        } else if element.attributes.has_double() {
            return Err(self.double(&element.attributes));
        }
        if self.open.len() < depth {
            self.namespaces.leave(self.open.len());
        } else if depth > DEPTH_MAX {
            let advice = "close the elements, or flatten the zones";
            return Err(misshapen(line, "the elements are nested too deep", advice));
        }
        (element.tag, element.file, element.line, element.start, element.depth) =
            (tag, self.file, line, start, depth);
        count_node(&mut self.nodes)
    }

    /// From behind the name of an attribute.
    #[inline]
    fn value(&mut self) -> Result<Cow<'t, str>> {
        self.scanner.skip_spaces();
        self.scanner.expect(b'=')?;
        self.scanner.skip_spaces();
        let quote = self.scanner.quote()?;
        let start = self.scanner.at;
        let end = past(self.scanner.bytes, start, VALUE);
        if self.scanner.bytes.get(end) != Some(&quote) {
            return self.uncommon_value(start, quote);
        }
        self.scanner.at = end + 1;
        Ok(Cow::Borrowed(&self.scanner.text[start..end]))
    }

    /// A value with references, other quotes, spaces that are not, or letters beyond ASCII; or one without an end.
    #[cold]
    fn uncommon_value(&mut self, start: usize, quote: u8) -> Result<Cow<'t, str>> {
        let length = self.scanner.bytes[start..].iter().position(|byte| [quote, b'<'].contains(byte));
        let end = start + length.ok_or_else(ended)?;
        self.scanner.check_characters(start, end)?;
        self.scanner.skip_to(end);
        self.scanner.expect(quote)?;
        let value = &self.scanner.text[start..end];
        if value.contains(['&', '\t', '\n', '\r']) {
            self.entities.value(&self.scanner, start, end).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(value))
        }
    }

    /// Refuses attributes given twice and prefixes of nothing. The prefix of the element is looked at last.
    #[cold]
    fn check_prefixes(&self, attributes: &Attributes<'t>, prefix: &str, at: usize) -> Result<()> {
        if matches!(self.state, State::Finished) {
            // What was declared around it is forgotten, and was right.
            return Ok(());
        }
        let mut known: Vec<(Option<&str>, &str)> = Vec::new();
        for attribute in attributes.iter() {
            let space = if attribute.is_prefixed {
                let (prefix, _) = self.scanner.text[attribute.start..].split_once(':').unwrap_or_default();
                Some(self.namespaces.find(&self.scanner, prefix, attribute.start)?)
            } else {
                None
            };
            let name = (space, attribute.name);
            if known.contains(&name) {
                return Err(self.given_twice(attribute));
            }
            known.push(name);
        }
        if !prefix.is_empty() {
            self.namespaces.find(&self.scanner, prefix, at)?;
        }
        Ok(())
    }

    #[cold]
    fn double(&self, attributes: &Attributes<'t>) -> Box<Malformed> {
        let mut names = Vec::new();
        for attribute in attributes.iter() {
            if names.contains(&attribute.name) {
                return self.given_twice(attribute);
            }
            names.push(attribute.name);
        }
        unreachable!("an attribute is given twice")
    }

    fn given_twice(&self, attribute: &Attribute<'t>) -> Box<Malformed> {
        let name = attribute.name;
        self.scanner
            .wrong(attribute.start, |place| format!("attribute '{name}' at {place} is already defined"))
    }

    #[inline]
    fn end_tag(&mut self) -> Result<()> {
        let start = self.scanner.at;
        self.scanner.at += 2;
        let opened = self.open.last().copied().unwrap_or_default();
        let rest = &self.scanner.bytes[self.scanner.at..];
        if rest.starts_with(opened.as_bytes()) && rest.get(opened.len()) == Some(&b'>') {
            self.scanner.at += opened.len() + 1;
        } else {
            let name = self.scanner.at;
            self.scanner.qualified_name()?;
            let closed = self.scanner.since(name);
            self.scanner.skip_spaces();
            self.scanner.expect(b'>')?;
            if closed != opened && !self.closes_outside() {
                return Err(self
                    .scanner
                    .wrong(start, |place| format!("expected '{opened}' tag, not '{closed}' at {place}")));
            }
        }
        if self.closes_outside() {
            return Err(self.scanner.wrong(start, |place| format!("unexpected close tag at {place}")));
        }
        self.open.pop();
        self.namespaces.leave(self.open.len());
        Ok(())
    }

    /// Whether the innermost open element was opened outside of the entity that is being read.
    fn closes_outside(&self) -> bool {
        self.around.last().is_some_and(|(_, open, _)| *open >= self.open.len())
    }

    /// Characters up to the next tag or entity.
    #[cold]
    fn characters(&mut self) -> Result<()> {
        let (start, first_line) = (self.scanner.at, self.scanner.line);
        if start >= self.checked {
            self.check_run(start)?;
        }
        let end = self.checked;
        self.count_run(true)?;
        while self.scanner.at < end {
            let from = self.scanner.at;
            let rest = &self.scanner.text[from..end];
            let plain = rest.find('&').unwrap_or(rest.len());
            self.keep(first_line, &rest[..plain]);
            self.scanner.skip_to(from + plain);
            if self.scanner.at == end {
                break;
            }
            let from = self.scanner.at;
            let mut scanner = Scanner { bytes: &self.scanner.bytes[..end], ..self.scanner };
            let found = reference(&mut scanner)?;
            self.scanner.at = scanner.at;
            match found {
                Reference::Character(letter) => {
                    if let Some(run) = self.wanted(first_line) {
                        run.push(letter);
                    }
                }
                Reference::Entity(name) => {
                    let entity = self.entities.enter(name, from, &self.scanner)?;
                    self.around.push((self.scanner, self.open.len(), std::mem::take(&mut self.checked)));
                    self.scanner = self.scanner.part(entity.start, entity.end, entity.line);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Checks all characters from here to the next tag.
    fn check_run(&mut self, start: usize) -> Result<()> {
        let rest = &self.scanner.bytes[start..];
        let end = start + rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
        self.scanner.check_characters(start, end)?;
        if self.scanner.text[start..end].contains("]]>") {
            return Err(self
                .scanner
                .wrong(end, |place| format!("']]>' at {place} is not allowed inside a character data")));
        }
        self.checked = end;
        Ok(())
    }

    /// `<![CDATA[ characters that mean nothing ]]>`
    #[cold]
    fn literal(&mut self) -> Result<()> {
        let line = self.scanner.line;
        self.scanner.at += "<![CDATA[".len();
        let text = self.scanner.up_to("]]>")?;
        self.count_run(true)?;
        // Even if there are none in it.
        self.wanted(line);
        self.keep(line, text);
        Ok(())
    }

    /// Goes on behind the reference to the entity that has been read.
    #[cold]
    fn leave_entity(&mut self) -> Result<()> {
        let Some((scanner, open, checked)) = self.around.pop() else { return Err(unclosed(&self.open)) };
        if self.open.len() != open {
            return Err(self.scanner.wrong(self.scanner.at, |place| {
                format!("an entity ends at {place} before the elements in it")
            }));
        }
        self.entities.leave();
        self.checked = checked;
        self.scanner = scanner;
        Ok(())
    }

    /// Counts a run of characters when it begins.
    #[inline]
    fn count_run(&mut self, has_characters: bool) -> Result<()> {
        if has_characters && !self.is_in_run {
            self.is_in_run = true;
            count_node(&mut self.nodes)?;
        }
        Ok(())
    }

    #[inline]
    fn end_run(&mut self) {
        self.is_in_run = false;
        if let Some(run) = &mut self.run {
            run.is_over |= run.is_begun && run.depth == self.open.len();
        }
    }

    /// Adds to the characters that are asked for, line ends being what they are on every system (section 2.11).
    fn keep(&mut self, line: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        let Some(run) = self.wanted(line) else { return };
        for (at, part) in text.split('\r').enumerate() {
            if at > 0 && !part.starts_with('\n') {
                run.push('\n');
            }
            run.push_str(part);
        }
    }

    /// Where characters go that are asked for.
    fn wanted(&mut self, line: u32) -> Option<&mut String> {
        let depth = self.open.len();
        let run = self.run.as_mut().filter(|run| !run.is_over && run.depth == depth)?;
        if !run.is_begun {
            (run.is_begun, run.line) = (true, line);
        }
        Some(&mut run.text)
    }

    /// What is wrong, and that nothing more is to be read.
    #[cold]
    fn refuse(&mut self, malformed: Malformed) -> Error {
        let Malformed { line, complaint } = malformed;
        let error = Error::Malformed {
            place: Place { file: self.file.to_owned(), line: Some(line) },
            problem: complaint.problem,
            advice: complaint.advice,
        };
        self.state = State::Malformed(error.clone());
        error
    }
}

/// A comment or a processing instruction, if there is one.
fn other(scanner: &mut Scanner<'_>, nodes: &mut (u32, u32)) -> Result<bool> {
    let start = scanner.at;
    if scanner.starts_with(b"<!--") {
        scanner.at += "<!--".len();
        let text = scanner.up_to("-->")?;
        if text.contains("--") || text.ends_with('-') {
            return Err(scanner.wrong(start, |place| format!("comment at {place} contains '--'")));
        }
    } else if scanner.starts_with(b"<?xml ") {
        return Err(scanner.wrong(start, |place| format!("unexpected XML declaration at {place}")));
    } else if scanner.starts_with(b"<?") {
        scanner.at += "<?".len();
        scanner.name()?;
        scanner.skip_spaces();
        scanner.up_to("?>")?;
    } else {
        return Ok(false);
    }
    count_node(nodes)?;
    Ok(true)
}

#[inline]
fn count_node((nodes, most): &mut (u32, u32)) -> Result<()> {
    if *nodes >= *most {
        return Err(wrong_whole("nodes limit reached"));
    }
    *nodes += 1;
    Ok(())
}

/// The text is over, and these elements are open.
#[cold]
fn unclosed(open: &[&str]) -> Box<Malformed> {
    wrong_whole(match open {
        [] => "the document does not have a root node",
        _ => "the root node was opened but never closed",
    })
}

#[cold]
fn misshapen(line: u32, problem: impl Into<String>, advice: &str) -> Box<Malformed> {
    Box::new(Malformed { line, complaint: Complaint::new(problem, advice) })
}
