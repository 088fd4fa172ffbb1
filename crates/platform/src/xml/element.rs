//! An XML element with its line: attributes that are required, refused or parsed, each failure said in one line.

use std::borrow::Cow;

use crate::error::{Complaint, Error};
use crate::ids::Point;
use crate::inventory::Inventory;
use crate::suggest;

/// A start tag, where it is, and what its file is called.
#[derive(Default)]
pub(super) struct Element<'t> {
    /// Without its prefix.
    pub(super) tag: &'t str,
    pub(super) file: &'t str,
    pub(super) line: u32,
    /// Where in the text.
    pub(super) start: usize,
    /// How many elements it is in, and itself.
    pub(super) depth: usize,
    pub(super) attributes: Attributes<'t>,
}

/// An attribute as written, except for what its value stands for.
#[derive(Default)]
pub(super) struct Attribute<'t> {
    /// Where in the text.
    pub(super) start: usize,
    pub(super) is_prefixed: bool,
    /// Without its prefix.
    pub(super) name: &'t str,
    pub(super) value: Cow<'t, str>,
}

/// The attributes of an element in the order of the file. Most elements have a few: these need no memory of their own.
#[derive(Default)]
pub(super) struct Attributes<'t> {
    first: [Attribute<'t>; 4],
    count: usize,
    more: Vec<Attribute<'t>>,
}

impl<'t> Attributes<'t> {
    #[inline]
    pub(super) fn push(&mut self, attribute: Attribute<'t>) {
        if let Some(place) = self.first.get_mut(self.count) {
            *place = attribute;
            self.count += 1;
        } else {
            self.more.push(attribute);
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.more.clear();
    }

    /// Whether one is given twice.
    #[inline]
    pub(super) fn has_double(&self) -> bool {
        let first = &self.first[..self.count];
        let is_in = |at: usize| first[..at].iter().any(|other| other.name == first[at].name);
        (1..first.len()).any(is_in) || (!self.more.is_empty() && self.has_double_later())
    }

    #[cold]
    fn has_double_later(&self) -> bool {
        (self.first.len()..self.first.len() + self.more.len())
            .any(|at| self.iter().take(at).any(|other| other.name == self.more[at - self.first.len()].name))
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Attribute<'t>> {
        self.first[..self.count].iter().chain(&self.more)
    }
}

impl<'t> Element<'t> {
    pub(super) fn tag(&self) -> &'t str {
        self.tag
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn file(&self) -> &'t str {
        self.file
    }

    /// Inlined wherever the name is known, as are those below: names are then compared without a call.
    #[inline(always)]
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let is_it = |attribute: &&Attribute<'_>| attribute.name == name && !attribute.is_prefixed;
        let Attributes { first, count, more } = &self.attributes;
        let found = first[..*count].iter().find(is_it).or_else(|| more.iter().find(is_it));
        found.map(|attribute| &*attribute.value)
    }

    /// The same, an empty one counting as absent.
    #[inline(always)]
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.attribute(name).filter(|value| !is_blank(value))
    }

    #[inline(always)]
    pub(super) fn required(&self, name: &str, what: &str) -> Result<&str, Error> {
        match self.attribute(name) {
            Some(value) => Ok(value),
            None => Err(self.missing(name, what)),
        }
    }

    #[cold]
    fn missing(&self, name: &str, what: &str) -> Error {
        self.error(format!("<{}> has no {name}", self.tag()), format!("give it {what}"))
    }

    /// An attribute read by a parser, whose complaint gains the place and the attribute's name.
    #[inline(always)]
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        parser: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        match parser(text) {
            Ok(value) => Ok(Some(value)),
            Err(problem) => Err(self.incorrect(name, &problem)),
        }
    }

    #[inline(always)]
    pub(super) fn parsed_required<T>(
        &self,
        name: &str,
        what: &str,
        parser: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, Error> {
        let text = self.required(name, what)?;
        parser(text).map_err(|problem| self.incorrect(name, &problem))
    }

    #[cold]
    fn incorrect(&self, name: &str, problem: &str) -> Error {
        self.error(format!("{name}: {problem}"), format!("correct the {name} of this <{}>", self.tag()))
    }

    /// A choice among words, in any case.
    #[inline]
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
        match found {
            Some(&(_, value)) => Ok(Some(value)),
            None => Err(self.no_choice(name, text, choices.iter().map(|(word, _)| *word).collect())),
        }
    }

    #[cold]
    fn no_choice(&self, name: &str, text: &str, words: Vec<&str>) -> Error {
        let hint = suggest::hint(text, words.iter().copied());
        self.error(format!("{name}={text:?} is not known{hint}"), format!("use one of {}", words.join(", ")))
    }

    /// Refuses attributes that would be ignored: they are misspelt or misunderstood.
    #[inline(always)]
    pub(super) fn allow(&self, names: &[&str]) -> Result<(), Error> {
        match self.attributes.iter().find(|attribute| !names.contains(&attribute.name)) {
            None => Ok(()),
            Some(unknown) => Err(self.not_allowed(unknown, names)),
        }
    }

    #[cold]
    fn not_allowed(&self, unknown: &Attribute<'_>, names: &[&str]) -> Error {
        let hint = suggest::hint(unknown.name, names.iter().copied());
        self.error(
            format!("<{}> has an unknown attribute {:?}{hint}", self.tag(), unknown.name),
            format!("use only {}", names.join(", ")),
        )
    }

    /// Refuses this element inside another.
    pub(super) fn unexpected(&self, parent: &str, expected: &[&str]) -> Error {
        let hint = suggest::hint(self.tag(), expected.iter().copied());
        self.error(
            format!("<{}> is not known inside <{parent}>{hint}", self.tag()),
            format!("use only {}", expected.join(", ")),
        )
    }

    /// The host, router or zone that an attribute names, perhaps near the host found before.
    #[inline(always)]
    pub(super) fn point(&self, name: &str, things: &Inventory, before: &mut u32) -> Result<Point, Error> {
        let value = self.required(name, "the name of a host, router or zone")?;
        self.named_point(name, value, things, before)
    }

    pub(super) fn named_point(
        &self,
        name: &str,
        value: &str,
        things: &Inventory,
        before: &mut u32,
    ) -> Result<Point, Error> {
        match things.point_near(value, before) {
            Some(point) => Ok(point),
            None => Err(self.no_point(name, value, things)),
        }
    }

    #[cold]
    fn no_point(&self, name: &str, value: &str, things: &Inventory) -> Error {
        let names =
            things.host_names.iter().chain(things.router_names.iter()).chain(things.zone_names.iter());
        let hint = suggest::hint(value, names);
        self.error(
            format!("{name}={value:?} names no host, router or zone{hint}"),
            "correct the name, or declare it",
        )
    }

    #[cold]
    pub(super) fn error(&self, problem: impl Into<String>, advice: impl Into<String>) -> Error {
        Complaint::new(problem, advice).at(self.file, Some(self.line))
    }
}

/// Whether there is nothing but spaces.
#[inline]
fn is_blank(text: &str) -> bool {
    match text.as_bytes().first() {
        None => true,
        Some(byte) if byte.is_ascii_graphic() => false,
        Some(_) => text.trim().is_empty(),
    }
}
