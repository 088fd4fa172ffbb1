//! What stands before the first element: the XML declaration, and the document type with the entities that it declares.
//!
//! A document type elsewhere is named and not read; of one written here, entities count, and the rest is passed over.

use crate::xml::references::{Entities, Entity};
use crate::xml::scanner::{Result, Scanner, ended};

/// `<?xml version="1.0" encoding="utf-8" standalone="yes"?>`, if it is there.
pub(super) fn declaration(scanner: &mut Scanner<'_>) -> Result<()> {
    if !scanner.starts_with(b"<?xml ") {
        return Ok(());
    }
    scanner.at += "<?xml".len();
    separated(scanner)?;
    if !scanner.starts_with(b"version") {
        return scanner.expect_word("version");
    }
    attribute(scanner)?;
    separated(scanner)?;
    if scanner.starts_with(b"encoding") {
        attribute(scanner)?;
        separated(scanner)?;
    }
    if scanner.starts_with(b"standalone") {
        attribute(scanner)?;
    }
    scanner.skip_spaces();
    scanner.expect_word("?>")
}

fn separated(scanner: &mut Scanner<'_>) -> Result<()> {
    if scanner.skip_spaces() || scanner.starts_with(b"?>") {
        return Ok(());
    }
    match scanner.peek() {
        Some(byte) => Err(scanner.unexpected("a whitespace", byte)),
        None => Ok(()),
    }
}

fn attribute(scanner: &mut Scanner<'_>) -> Result<()> {
    scanner.qualified_name()?;
    scanner.skip_spaces();
    scanner.expect(b'=')?;
    scanner.skip_spaces();
    let quote = scanner.quote()?;
    let start = scanner.at;
    let length = scanner.bytes[start..].iter().position(|byte| [quote, b'<'].contains(byte));
    let end = start + length.ok_or_else(ended)?;
    scanner.check_characters(start, end)?;
    scanner.skip_to(end);
    scanner.expect(quote)
}

/// `<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">`, and what it may hold. Comments and processing instructions in it
/// are read by `other`, which says whether there was one.
pub(super) fn document_type<'t>(
    scanner: &mut Scanner<'t>,
    entities: &mut Entities<'t>,
    mut other: impl FnMut(&mut Scanner<'t>) -> Result<bool>,
) -> Result<()> {
    let start = scanner.at;
    scanner.at += "<!DOCTYPE".len();
    scanner.expect_spaces()?;
    if !scanner.is_over() {
        scanner.name()?;
    }
    scanner.skip_spaces();
    external(scanner)?;
    scanner.skip_spaces();
    match scanner.byte()? {
        b'>' => {
            scanner.at += 1;
            return Ok(());
        }
        b'[' => scanner.at += 1,
        byte => return Err(scanner.unexpected("'[' or '>'", byte)),
    }
    while !scanner.is_over() {
        scanner.skip_spaces();
        if scanner.starts_with(b"<!ENTITY") {
            entity(scanner, entities)?;
        } else if other(scanner)? {
        } else if scanner.starts_with(b"]") {
            scanner.at += 1;
            scanner.skip_spaces();
            return scanner.expect(b'>');
        } else if [&b"<!ELEMENT"[..], b"<!ATTLIST", b"<!NOTATION"]
            .iter()
            .any(|word| scanner.starts_with(word))
        {
            let length = scanner.bytes[scanner.at..].iter().position(|byte| *byte == b'>');
            let Some(length) = length else {
                scanner.at = start;
                return Err(scanner.unknown());
            };
            scanner.skip_to(scanner.at + length + 1);
        } else {
            return Err(scanner.unknown());
        }
    }
    Ok(())
}

/// `SYSTEM "where"` or `PUBLIC "what" "where"`; says whether it was there.
fn external(scanner: &mut Scanner<'_>) -> Result<bool> {
    let parts = match () {
        () if scanner.starts_with(b"SYSTEM") => 1,
        () if scanner.starts_with(b"PUBLIC") => 2,
        () => return Ok(false),
    };
    scanner.at += "SYSTEM".len();
    for _ in 0..parts {
        scanner.expect_spaces()?;
        quoted(scanner)?;
    }
    Ok(true)
}

/// Anything between quotes: where it starts and ends.
fn quoted(scanner: &mut Scanner<'_>) -> Result<(usize, usize)> {
    let quote = scanner.quote()?;
    let start = scanner.at;
    let length = scanner.bytes[start..].iter().position(|byte| *byte == quote).ok_or_else(ended)?;
    scanner.skip_to(start + length);
    scanner.at += 1;
    Ok((start, start + length))
}

/// `<!ENTITY name "what it stands for">`. Those of other files are not known later, when something refers to them.
fn entity<'t>(scanner: &mut Scanner<'t>, entities: &mut Entities<'t>) -> Result<()> {
    scanner.at += "<!ENTITY".len();
    scanner.expect_spaces()?;
    let is_parameter = scanner.starts_with(b"%");
    if is_parameter {
        scanner.at += 1;
        scanner.expect_spaces()?;
    }
    let name = scanner.name()?;
    scanner.expect_spaces()?;
    match scanner.byte()? {
        b'"' | b'\'' => {
            let line = scanner.line;
            let (start, end) = quoted(scanner)?;
            entities.declare(Entity { name, start, end, line });
        }
        b'S' | b'P' => {
            if !external(scanner)? {
                return Err(scanner.wrong(scanner.at, |place| format!("invalid ExternalID at {place}")));
            }
            scanner.skip_spaces();
            if !is_parameter && scanner.starts_with(b"NDATA") {
                scanner.at += "NDATA".len();
                scanner.expect_spaces()?;
                if !scanner.is_over() {
                    scanner.name()?;
                }
            }
        }
        byte => return Err(scanner.unexpected("a quote, SYSTEM or PUBLIC", byte)),
    }
    scanner.skip_spaces();
    scanner.expect(b'>')
}
