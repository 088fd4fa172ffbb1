//! `simurgh run FILE`: a scenario, a deployment, a trace, or a compiled MPI program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use simurgh_platform::Platform;

use super::simulate::{Played, RunOptions, simulate};
use simurgh_actors::scenario::{Scenario, play};
use simurgh_actors::{Error, Exit, Program, Result};
use simurgh_trace_replay::{self as traces, Trace};

/// The arguments of `simurgh run`.
#[derive(Args, Clone, Debug)]
pub struct RunArguments {
    /// A scenario (.toml), a SimGrid deployment (.xml), a compiled MPI program, or a time-independent trace (any other name)
    pub file: PathBuf,
    /// What an MPI program is called with: all that follows it
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
    /// The platform file (SimGrid XML); that of the scenario, or the built-in one, if there is none
    #[arg(long, short, value_name = "FILE")]
    pub platform: Option<PathBuf>,
    /// The time-independent trace of all actors of a deployment
    #[arg(long, value_name = "FILE")]
    pub actions: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) mpi: super::mpi::MpiOptions,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// Does it.
pub(crate) fn run(arguments: &RunArguments) -> Result<Exit> {
    let options = &arguments.options;
    let kind = arguments.file.extension().and_then(|extension| extension.to_str());
    if kind != Some("xml") && arguments.actions.is_some() {
        return Err(Error::input("--actions goes with a deployment file (.xml)"));
    }
    if super::mpi::is_compiled(&arguments.file) {
        return super::mpi::run(arguments);
    }
    super::mpi::refuse_binary(&arguments.file)?;
    let trace = of_mpi(arguments, kind);
    if trace.is_err() && arguments.mpi.processes.is_some() && std::fs::File::open(&arguments.file).is_ok() {
        // What is to be run by processes is no trace.
        arguments.mpi.refuse(&arguments.file)?;
    }
    if let Some(trace) = trace? {
        return super::mpi::replay(arguments, trace);
    }
    arguments.mpi.refuse(&arguments.file)?;
    if let Some(first) = arguments.arguments.first() {
        return Err(Error::input(format!(
            "{first:?}: only compiled programs are called with arguments, and {} is none",
            arguments.file.display()
        )));
    }
    match kind {
        Some("toml") => {
            let (scenario, program, records) =
                prepare(&arguments.file, arguments.platform.as_deref(), options.seed)?;
            simulate(program, options, Some(Played { scenario: &scenario, records }))
        }
        Some("xml") => {
            let mut program = Program::with_seed(load(arguments.platform.as_deref())?, options.seed);
            let mpi = traces::deploy(&mut program, &arguments.file, arguments.actions.as_deref())?;
            simulate(program, &for_mpi(options, mpi), None)
        }
        _ => {
            let trace = Trace::from_file(&arguments.file)?;
            let mut program = Program::with_seed(load(arguments.platform.as_deref())?, options.seed);
            traces::spread(&mut program, &trace)?;
            simulate(program, &for_mpi(options, trace.mpi), None)
        }
    }
}

/// The trace of an MPI program, if the file is one. Its processes call what compiled programs call, where these can be run.
fn of_mpi(arguments: &RunArguments, kind: Option<&str>) -> Result<Option<simurgh_mpi::traces::Trace>> {
    let can_run = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
    if !can_run || matches!(kind, Some("toml" | "xml")) || !arguments.file.is_file() {
        return Ok(None);
    }
    simurgh_mpi::traces::Trace::from_file(&arguments.file)
}

/// The network model of MPI programs is SMPI, unless the options say otherwise.
pub(crate) fn for_mpi(options: &RunOptions, mpi: bool) -> RunOptions {
    let mut options = options.clone();
    if mpi {
        options.config.insert(0, "network/model=SMPI".to_owned());
    }
    options
}

/// Reads a scenario and its platform, and makes a program of them.
pub(crate) fn prepare(
    file: &Path,
    platform: Option<&Path>,
    seed: u64,
) -> Result<(Scenario, Program, simurgh_actors::scenario::Records)> {
    let scenario = Scenario::from_file(file)?;
    let platform = match platform {
        Some(_) => load(platform)?,
        None => Arc::new(scenario.read_platform()?),
    };
    let (program, records) = play(&scenario, platform, seed)?;
    Ok((scenario, program, records))
}

pub(crate) fn load(path: Option<&Path>) -> Result<Arc<Platform>> {
    Ok(Arc::new(match path {
        Some(path) => Platform::from_file(path)?,
        None => Platform::builtin(),
    }))
}
