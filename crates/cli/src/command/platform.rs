//! `simurgh platform show FILE`: looks at a platform.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use simurgh_actors::{Error, Exit, Result};
use simurgh_platform::Platform;

use super::print;
use super::simulate::{check_place, named, write_file};

/// The arguments of `simurgh platform`.
#[derive(Args, Clone, Debug)]
pub struct PlatformArguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Clone, Debug)]
enum Verb {
    /// Prints a summary, a route, or a drawing
    Show {
        /// The platform file; the built-in platform if there is none
        file: Option<PathBuf>,
        /// Prints the links, latency and bandwidth from one host to another
        #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
        route: Option<Vec<String>>,
        /// Draws the platform
        #[arg(long, value_name = "OUT.svg")]
        svg: Option<PathBuf>,
    },
}

/// Does it.
pub(crate) fn run(arguments: &PlatformArguments) -> Result<Exit> {
    let Verb::Show { file, route, svg } = &arguments.verb;
    let platform = match file {
        Some(path) => Platform::from_file(path)?,
        None => Platform::builtin(),
    };
    if let Some(ends) = route {
        let host = |name: &str| {
            platform.host_named(name).ok_or_else(|| {
                let advice = match platform.host_suggestion(name) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => "name one of its hosts".to_owned(),
                };
                Error::input(format!("{}: there is no host {name:?}; {advice}", platform.name()))
            })
        };
        let (from, to) = (host(&ends[0])?, host(&ends[1])?);
        let text = simurgh_platform::describe_route(&platform, from, to)
            .map_err(|error| Error::input(format!("{}: {error}", platform.name())))?;
        print(&text);
    }
    if let Some(path) = svg {
        check_place(path)?;
        let drawing = simurgh_platform::svg::draw(&platform);
        write_file(path, |out| out.write_all(drawing.as_bytes()))?;
        print(&format!("wrote {}\n", named(path)));
    }
    if route.is_none() && svg.is_none() {
        print(&simurgh_platform::summary(&platform));
    }
    Ok(Exit::Fine)
}
