//! The `simurgh` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    simurgh_cli::command::main()
}
