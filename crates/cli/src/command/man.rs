//! `simurgh man`: the manual pages, made of what `--help` says.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use simurgh_actors::{Error, Exit, Result};

use super::print_as_it_is;
use super::simulate::write_into;

/// The arguments of `simurgh man`.
#[derive(Args, Clone, Debug)]
pub struct ManArguments {
    /// Writes a page for the command and one for each subcommand into this directory, instead of printing the first
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Does it.
pub(crate) fn run(arguments: &ManArguments, command: Command) -> Result<Exit> {
    // `simurgh help run` is `simurgh run --help`, and has no page of its own.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    match &arguments.out {
        Some(folder) => {
            for command in with_subcommands(&command) {
                let page = Man::new(command).manual("Simurgh");
                write_into(folder, &page.get_filename(), &rendered(&page)?)?;
            }
        }
        None => print_as_it_is(&String::from_utf8_lossy(&rendered(&Man::new(command).manual("Simurgh"))?)),
    }
    Ok(Exit::Fine)
}

/// A command and all below it.
fn with_subcommands(command: &Command) -> Vec<Command> {
    let below = command.get_subcommands().flat_map(with_subcommands);
    std::iter::once(command.clone()).chain(below).collect()
}

fn rendered(page: &Man) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Error::other(format!("the manual page: {error}")))?;
    Ok(text)
}
