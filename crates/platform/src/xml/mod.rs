//! SimGrid's platform and deployment files, version 4.1, and 4 with its older names.
//!
//! `element` reads attributes and says what is wrong with them, `zones` and `clusters` make things, `routes` joins them
//! once everything has been declared, and `actors` reads deployments.

mod actors;
mod clusters;
mod element;
mod routes;
mod zones;

use std::path::Path;

use crate::deployment::ActorDeclaration;
use crate::error::{Complaint, Error, Place};
use crate::platform::Platform;
use element::{Element, LineIndex};

/// Larger numbers of elements would take more memory than the platform that they describe.
const ELEMENTS_MAX: u32 = 50_000_000;

pub(crate) fn platform_from_file(path: &Path) -> Result<Platform, Error> {
    let text = read_text(path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    platform_from_text(&text, &path.display().to_string(), directory)
}

pub(crate) fn platform_from_text(text: &str, name: &str, directory: &Path) -> Result<Platform, Error> {
    with_root(text, name, |root| zones::Reader::new(name, directory).read(root))
}

pub(crate) fn deployment_from_file(path: &Path) -> Result<Vec<ActorDeclaration>, Error> {
    let text = read_text(path)?;
    with_root(&text, &path.display().to_string(), actors::read_deployment)
}

/// A file's text, with messages that say what the file is instead.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    simurgh_files::read_text(path).map_err(|unreadable| {
        let told = crate::error::one_line(unreadable.to_string());
        let (problem, advice) = told.split_once("; ").unwrap_or((&told, "check the file"));
        Error::Unreadable {
            file: path.display().to_string(),
            problem: problem.to_owned(),
            advice: advice.to_owned(),
        }
    })
}

/// Parses a document and checks what all of them have in common: a `<platform>` of a known version.
fn with_root<T>(
    text: &str,
    name: &str,
    read: impl FnOnce(Element<'_, '_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let malformed = |line: Option<u32>, complaint: Complaint| Error::Malformed {
        place: Place { file: name.to_owned(), line },
        problem: complaint.problem,
        advice: complaint.advice,
    };
    if text.trim().is_empty() {
        return Err(malformed(
            None,
            Complaint::new("the file is empty", "write a <platform version=\"4.1\"> with a zone into it"),
        ));
    }
    element::check_shape(text).map_err(|(line, complaint)| malformed(Some(line), complaint))?;
    let options =
        roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: ELEMENTS_MAX, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        let problem = format!("this is not well-formed XML: {error}");
        malformed(Some(error.pos().row), Complaint::new(problem, "correct it there or just before"))
    })?;
    let lines = LineIndex::new(text);
    let root = Element::new(document.root_element(), &lines, name);
    if root.tag() != "platform" {
        return Err(root.error(
            format!("the file holds a <{}>, not a <platform>", root.tag()),
            "give a SimGrid platform file: <platform version=\"4.1\">",
        ));
    }
    root.allow(&["version"])?;
    let version = root.required("version", "the version of the format: version=\"4.1\"")?;
    match version.trim().parse::<f64>() {
        Ok(number) if (4.0..4.15).contains(&number) => read(root),
        Ok(number) if number >= 4.15 => Err(root
            .error(format!("version {version} of the format is newer than 4.1"), "write it as version 4.1")),
        _ => Err(root.error(
            format!("version {version:?} of the format is not supported"),
            "convert the file to version 4.1 with simgrid_update_xml",
        )),
    }
}
