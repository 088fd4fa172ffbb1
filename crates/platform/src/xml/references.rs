//! Characters by number and entities by name: `&#233;`, `&amp;`, and those that the document declares.
//!
//! An entity may refer to others, so a short text can stand for one without end, or longer than memory. What one reference stands for
//! may be nested [`DEPTH_MAX`] deep, and take [`REFERENCES_MAX`] references in all.

use crate::xml::characters::is_xml;
use crate::xml::scanner::{Malformed, Result, Scanner};

const DEPTH_MAX: usize = 10;
const REFERENCES_MAX: usize = 255;

/// What stands between `&` and `;`.
pub(super) enum Reference<'t> {
    Character(char),
    /// The entity of that name.
    Entity(&'t str),
}

/// A part of the document that its name stands for.
#[derive(Clone, Copy)]
pub(super) struct Entity<'t> {
    pub(super) name: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The line of its start.
    pub(super) line: u32,
}

/// The entities that a document declares, and how much is being made of them.
#[derive(Default)]
pub(super) struct Entities<'t> {
    declared: Vec<Entity<'t>>,
    /// Entities inside entities, at the moment.
    depth: usize,
    /// Since the outermost reference.
    references: usize,
}

impl<'t> Entities<'t> {
    pub(super) fn declare(&mut self, entity: Entity<'t>) {
        self.declared.push(entity);
    }

    pub(super) fn is_inside(&self) -> bool {
        self.depth > 0
    }

    /// The entity of a reference at `start`, behind which the scanner is: the first declared of that name.
    pub(super) fn enter(&mut self, name: &str, start: usize, scanner: &Scanner<'t>) -> Result<Entity<'t>> {
        let Some(&entity) = self.declared.iter().find(|entity| entity.name == name) else {
            return Err(scanner.wrong(start, |place| format!("unknown entity reference '{name}' at {place}")));
        };
        let is_too_many = self.depth > 0 && self.references == REFERENCES_MAX;
        if is_too_many || self.depth == DEPTH_MAX {
            return Err(scanner.wrong(scanner.at, |place| {
                format!("a possible entity reference loop is detected at {place}")
            }));
        }
        self.references += usize::from(self.depth > 0);
        self.depth += 1;
        Ok(entity)
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
        if self.depth == 0 {
            self.references = 0;
        }
    }

    /// The value of an attribute: references are what they stand for, and spaces of all kinds spaces (section 3.3.3).
    pub(super) fn value(&mut self, scanner: &Scanner<'t>, start: usize, end: usize) -> Result<String> {
        let mut value = String::with_capacity(end - start);
        self.add_value(scanner.part(start, end, scanner.line), &mut value)?;
        Ok(value)
    }

    fn add_value(&mut self, mut scanner: Scanner<'t>, value: &mut String) -> Result<()> {
        while !scanner.is_over() {
            let start = scanner.at;
            let rest = &scanner.text[start..scanner.bytes.len()];
            let plain = rest.find(['&', '\t', '\n', '\r']).unwrap_or(rest.len());
            value.push_str(&rest[..plain]);
            scanner.at += plain;
            match scanner.peek() {
                None => break,
                Some(b'&') => self.add_reference(&mut scanner, value)?,
                Some(_) => {
                    scanner.at += if scanner.starts_with(b"\r\n") { 2 } else { 1 };
                    value.push(' ');
                }
            }
        }
        Ok(())
    }

    fn add_reference(&mut self, scanner: &mut Scanner<'t>, value: &mut String) -> Result<()> {
        let start = scanner.at;
        match reference(scanner)? {
            Reference::Entity(name) => {
                let entity = self.enter(name, start, scanner)?;
                self.add_value(scanner.part(entity.start, entity.end, entity.line), value)?;
                self.leave();
            }
            Reference::Character('<') if self.is_inside() => {
                return Err(scanner.wrong(start, |place| format!("unescaped '<' found at {place}")));
            }
            Reference::Character('\t' | '\n' | '\r') if self.is_inside() => value.push(' '),
            Reference::Character(letter) => value.push(letter),
        }
        Ok(())
    }
}

/// Reads from `&` to `;`.
pub(super) fn reference<'t>(scanner: &mut Scanner<'t>) -> Result<Reference<'t>> {
    let start = scanner.at;
    let malformed = |scanner: &Scanner<'t>| -> Box<Malformed> {
        scanner.wrong(start, |place| format!("malformed entity reference at {place}"))
    };
    scanner.at += 1;
    let reference = if scanner.starts_with(b"#") {
        scanner.at += 1;
        let radix = if scanner.starts_with(b"x") { 16 } else { 10 };
        scanner.at += usize::from(radix == 16);
        let digits = scanner.at;
        while scanner.peek().is_some_and(|byte| (byte as char).is_digit(radix)) {
            scanner.at += 1;
        }
        let number = u32::from_str_radix(scanner.since(digits), radix).map_err(|_| malformed(scanner))?;
        let letter = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        if !is_xml(letter) {
            return Err(malformed(scanner));
        }
        Reference::Character(letter)
    } else {
        match scanner.name().map_err(|_| malformed(scanner))? {
            "quot" => Reference::Character('"'),
            "amp" => Reference::Character('&'),
            "apos" => Reference::Character('\''),
            "lt" => Reference::Character('<'),
            "gt" => Reference::Character('>'),
            name => Reference::Entity(name),
        }
    };
    if !scanner.starts_with(b";") {
        return Err(malformed(scanner));
    }
    scanner.at += 1;
    Ok(reference)
}
