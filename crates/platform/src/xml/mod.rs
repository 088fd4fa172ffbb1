//! SimGrid's platform and deployment files, version 4.1, and 4 with its older names.
//!
//! `document` gives one element after the other, and checks that all is well-formed: `scanner` reads names and `characters`,
//! `prolog` what stands before the first element, `references` what stands for something else, `namespaces` prefixes.
//! `element` reads attributes and says what is wrong with them, `zones` and `clusters` make things, `routes` joins them
//! once what they name has been declared, and `actors` reads deployments.

mod actors;
mod characters;
mod clusters;
mod document;
mod element;
mod namespaces;
mod prolog;
mod references;
mod routes;
mod scanner;
#[cfg(test)]
mod tests;
mod zones;

use std::path::Path;

use crate::deployment::ActorDeclaration;
use crate::error::{Complaint, Error, Place};
use crate::platform::Platform;
use document::Document;
use element::Element;

/// More elements and texts between them than any platform has.
const NODES_MAX: u32 = 50_000_000;

pub(crate) fn platform_from_file(path: &Path) -> Result<Platform, Error> {
    let text = read_text(path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    platform_from_text(&text, &path.display().to_string(), directory)
}

pub(crate) fn platform_from_text(text: &str, name: &str, directory: &Path) -> Result<Platform, Error> {
    with_root(text, name, |document, root| zones::Reader::new(document, name, directory).read(root))
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

/// Reads a document and checks what all of them have in common: a `<platform>` of a known version. What is not well-formed, wherever
/// it is, is told before what is wrong with the rest.
fn with_root<'t, T>(
    text: &'t str,
    name: &'t str,
    read: impl FnOnce(&mut Document<'t>, &Element<'t>) -> Result<T, Error>,
) -> Result<T, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        let empty =
            Complaint::new("the file is empty", "write a <platform version=\"4.1\"> with a zone into it");
        return Err(Error::Malformed {
            place: Place { file: name.to_owned(), line: None },
            problem: empty.problem,
            advice: empty.advice,
        });
    }
    let (mut document, root) = Document::new(text, name, NODES_MAX)?;
    let result = check_root(&root).and_then(|()| read(&mut document, &root));
    document.finish()?;
    result
}

fn check_root(root: &Element<'_>) -> Result<(), Error> {
    if root.tag() != "platform" {
        return Err(root.error(
            format!("the file holds a <{}>, not a <platform>", root.tag()),
            "give a SimGrid platform file: <platform version=\"4.1\">",
        ));
    }
    root.allow(&["version"])?;
    let version = root.required("version", "the version of the format: version=\"4.1\"")?;
    match version.trim().parse::<f64>() {
        Ok(number) if (4.0..4.15).contains(&number) => Ok(()),
        Ok(number) if number >= 4.15 => Err(root
            .error(format!("version {version} of the format is newer than 4.1"), "write it as version 4.1")),
        _ => Err(root.error(
            format!("version {version:?} of the format is not supported"),
            "convert the file to version 4.1 with simgrid_update_xml",
        )),
    }
}
