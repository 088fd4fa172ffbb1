//! `<actor>` elements, in a platform file or in a deployment file of their own.

use std::collections::BTreeMap;

use crate::deployment::{ActorDeclaration, OnFailure};
use crate::error::Error;
use crate::units;
use crate::xml::document::Document;
use crate::xml::element::Element;

pub(super) fn read_deployment<'t>(
    document: &mut Document<'t>,
    root: &Element<'t>,
) -> Result<Vec<ActorDeclaration>, Error> {
    let mut actors = Vec::new();
    let mut child = Element::default();
    while document.child(root, &mut child)? {
        match child.tag() {
            "actor" | "process" => actors.push(read_actor(document, &child)?),
            "zone" | "AS" | "cluster" => {
                return Err(child.error(
                    format!("a deployment file holds only actors, and here is a <{}>", child.tag()),
                    "give the platform file as platform, and the deployment as deployment",
                ));
            }
            _ => return Err(child.unexpected("platform", &["actor"])),
        }
    }
    Ok(actors)
}

pub(super) fn read_actor<'t>(
    document: &mut Document<'t>,
    element: &Element<'t>,
) -> Result<ActorDeclaration, Error> {
    element.allow(&["host", "function", "start_time", "kill_time", "on_failure"])?;
    let mut actor = ActorDeclaration {
        host: element.required("host", "the host it runs on")?.to_owned(),
        function: element.required("function", "the function it runs")?.to_owned(),
        arguments: Vec::new(),
        properties: BTreeMap::new(),
        start_time: time(element, "start_time")?,
        kill_time: time(element, "kill_time")?,
        on_failure: element
            .choice("on_failure", &[("DIE", OnFailure::Die), ("RESTART", OnFailure::Restart)])?
            .unwrap_or_default(),
        line: element.line(),
    };
    let mut child = Element::default();
    while document.child(element, &mut child)? {
        match child.tag() {
            "argument" => {
                child.allow(&["value"])?;
                actor.arguments.push(child.required("value", "a value")?.to_owned());
            }
            "prop" => {
                let (key, value) = read_property(&child)?;
                actor.properties.insert(key.to_owned(), value.to_owned());
            }
            _ => return Err(child.unexpected(element.tag(), &["argument", "prop"])),
        }
    }
    Ok(actor)
}

pub(super) fn read_property<'e>(element: &'e Element<'_>) -> Result<(&'e str, &'e str), Error> {
    element.allow(&["id", "value"])?;
    Ok((element.required("id", "a name")?, element.required("value", "a value")?))
}

/// A time, -1 being SimGrid's way to say "never".
fn time(element: &Element<'_>, name: &str) -> Result<Option<f64>, Error> {
    if element.attribute(name).is_some_and(|text| text.trim().parse() == Ok(-1.0)) {
        return Ok(None);
    }
    element.parsed(name, units::parse_time)
}
