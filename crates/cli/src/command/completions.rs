//! `simurgh completions SHELL`: what a shell needs to know to complete command lines.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::{Generator, Shell};
use simurgh_actors::{Exit, Result};

use super::print_as_it_is;
use super::simulate::write_into;

/// The arguments of `simurgh completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArguments {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
    /// Writes into this directory, under the name that the shell looks for, instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Does it.
pub(crate) fn run(arguments: &CompletionsArguments, mut command: Command) -> Result<Exit> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, &name, &mut text);
    match &arguments.out {
        Some(folder) => write_into(folder, &arguments.shell.file_name(&name), &text)?,
        None => print_as_it_is(&String::from_utf8_lossy(&text)),
    }
    Ok(Exit::Fine)
}
