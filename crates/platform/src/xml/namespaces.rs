//! Prefixes of names, and what they were declared to stand for ("Namespaces in XML 1.0").
//!
//! A platform has none. A file may have them all the same, and one with a prefix that it never declared is refused.

use crate::xml::scanner::{Result, Scanner};

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// The declarations around the place that is being read.
#[derive(Default)]
pub(super) struct Namespaces<'t> {
    /// Innermost last: how deep the element is that has it, the prefix, and what it stands for.
    declared: Vec<(usize, &'t str, String)>,
}

impl<'t> Namespaces<'t> {
    /// Takes an attribute for a declaration, if it is one: `xmlns="..."`, `xmlns:prefix="..."`.
    #[cold]
    pub(super) fn declare(
        &mut self,
        scanner: &Scanner<'t>,
        depth: usize,
        (start, prefix, name): (usize, &'t str, &'t str),
        value: &str,
    ) -> Result<bool> {
        if prefix != "xmlns" && name != "xmlns" {
            return Ok(false);
        }
        let wrong = |say: &dyn Fn(&str) -> String| Err(scanner.wrong(start, |place| say(&place.to_string())));
        let reserved =
            |place: &str| format!("the 'xmlns' URI is used at {place}, but it must not be declared");
        let misused =
            |place: &str| format!("the 'xml' namespace URI is used for not 'xml' prefix at {place}");
        if prefix == "xmlns" {
            if value == XMLNS {
                return wrong(&reserved);
            }
            if name == "xml" && value != XML {
                return wrong(&|place| format!("'xml' namespace prefix mapped to wrong URI at {place}"));
            }
            if name != "xml" && value == XML {
                return wrong(&misused);
            }
            if self.declared.iter().any(|(at, known, _)| (*at, *known) == (depth, name)) {
                return wrong(&|place| format!("namespace '{name}' at {place} is already defined"));
            }
            if name != "xml" {
                self.declared.push((depth, name, value.to_owned()));
            }
            return Ok(true);
        }
        match value {
            XML => wrong(&misused),
            XMLNS => wrong(&reserved),
            _ => Ok(true),
        }
    }

    /// What a prefix stands for, which is at that place.
    pub(super) fn find(&self, scanner: &Scanner<'t>, prefix: &str, at: usize) -> Result<&str> {
        if prefix == "xml" {
            return Ok(XML);
        }
        let found = self.declared.iter().rev().find(|(_, known, _)| *known == prefix);
        found.map(|(_, _, value)| value.as_str()).ok_or_else(|| {
            scanner.wrong(at, |place| format!("an unknown namespace prefix '{prefix}' at {place}"))
        })
    }

    /// Forgets what was declared deeper than that.
    #[inline]
    pub(super) fn leave(&mut self, depth: usize) {
        while self.declared.last().is_some_and(|(at, ..)| *at > depth) {
            self.declared.pop();
        }
    }
}
