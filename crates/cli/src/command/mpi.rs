//! `simurgh run -n 64 -p cluster.xml ./app`: an MPI program, compiled by `simurgh cc` or another compiler.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Command, ValueEnum};
use simurgh_actors::{Error, Exit, Outcome, Result};
use simurgh_kernel::event::Observer;
use simurgh_mpi::compute::Compute;
use simurgh_mpi::launch::{Another, Launch, Run};
use simurgh_mpi::traces::Trace;
use simurgh_mpi::tracks::Wanted;
use simurgh_mpi::world::Output;

use super::links::Busiest;
use super::lookout::Lookout;
use super::mpi_summary::OfMpi;
use super::record;
use super::run::{RunArguments, for_mpi, load};
use super::simulate::{named, parse_config, simulate_with};
use super::{mpi_report, print};

/// What can be said of MPI programs.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "MPI programs")]
pub struct MpiOptions {
    /// How many processes; as many as the host file has lines, or the platform hosts, if not said
    #[arg(long = "processes", short = 'n', visible_alias = "np", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub processes: Option<u32>,
    /// Which process runs on which host: a host a line, host:4 for four processes
    #[arg(long, visible_alias = "machinefile", value_name = "FILE")]
    pub hostfile: Option<PathBuf>,
    /// Lets processes share hosts if there are more of them than hosts
    #[arg(long)]
    pub oversubscribe: bool,
    /// Ends the run when a process computes, or all of them poll, for so many seconds of real time without getting any further; if
    /// not said, it is told on standard error from 10 seconds on, and nobody is ended
    #[arg(long, value_name = "SECONDS")]
    pub stuck_after: Option<f64>,
    /// Ends with the exit code of the processes, as other launchers do
    #[arg(long, hide = true)]
    pub exit_as_processes: bool,
    /// What computation between two calls counts [default: measured]
    #[arg(long, value_enum, value_name = "HOW")]
    pub compute: Option<ComputeName>,
    /// Tells which links were the busiest
    #[arg(long)]
    pub links: bool,
    /// Writes what each process did as a time-independent trace, to be replayed on other platforms: `simurgh run FOLDER/trace.txt`
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
}

/// How computation between two calls counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum ComputeName {
    /// The time that it takes here, scaled by the speeds of this machine and of the simulated host
    Measured,
    /// The instructions that are executed, in programs that were compiled with --counted: the same in every run
    Counted,
    /// Nothing: communication alone takes time
    None,
}

impl MpiOptions {
    /// Refuses them where no MPI program is run.
    pub(crate) fn refuse(&self, file: &Path) -> Result<()> {
        let given = [
            (self.processes.is_some(), "-n"),
            (self.hostfile.is_some(), "--hostfile"),
            (self.oversubscribe, "--oversubscribe"),
            (self.compute.is_some(), "--compute"),
            (self.links, "--links"),
            (self.record.is_some(), "--record"),
            (self.stuck_after.is_some(), "--stuck-after"),
        ];
        refuse_options(&given, file)
    }
}

/// Refuses options of MPI programs that were given, where the file is none.
pub(crate) fn refuse_options(given: &[(bool, &str)], file: &Path) -> Result<()> {
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) if file.exists() => Err(Error::input(format!(
            "{option} goes with a compiled MPI program, and {} is {}",
            file.display(),
            what_it_is(file)
        ))),
        Some(_) => Err(Error::input(format!("{}: there is no such file", file.display()))),
        None => Ok(()),
    }
}

/// What a file is that is no compiled program, and what to do.
fn what_it_is(file: &Path) -> &'static str {
    if file.is_dir() {
        return "a directory; name the program in it";
    }
    match beginning(file) {
        Some(bytes) if bytes.starts_with(b"#!") => {
            "a script; name the program that it calls, or let the script call `simurgh run`"
        }
        Some(bytes) if bytes.is_empty() => "an empty file; compile the program again with simurgh cc",
        Some(bytes) => what_it_holds(&bytes).unwrap_or("none; compile it with simurgh cc"),
        None => "none; compile it with simurgh cc",
    }
}

/// The first bytes of a file; none if it is no file, or cannot be read.
fn beginning(file: &Path) -> Option<Vec<u8>> {
    const FIRST: u64 = 512;
    let mut bytes = Vec::new();
    let file = file.is_file().then(|| File::open(file).ok()).flatten()?;
    file.take(FIRST).read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// What is no text by its first bytes, and what to do.
fn what_it_holds(bytes: &[u8]) -> Option<&'static str> {
    // Texts that editors save with two bytes a letter are told as texts.
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        Some("an archive of object files; link it to a program with simurgh cc, and name that")
    } else if bytes.contains(&0) && !is_wide {
        Some("neither a program nor a text; name a program that simurgh cc has made")
    } else {
        None
    }
}

/// Refuses a file that is no compiled program and cannot be a text, before it is read as one.
pub(crate) fn refuse_binary(file: &Path) -> Result<()> {
    match beginning(file).and_then(|bytes| what_it_holds(&bytes)) {
        Some(what) => Err(Error::input(format!("{}: this is {what}", file.display()))),
        None => Ok(()),
    }
}

/// Whether a file is an executable or a library, of whatever machine.
pub(crate) fn is_compiled(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

/// Refuses a compiled program where only scenarios are taken.
pub(crate) fn refuse_compiled(verb: &str, file: &Path) -> Result<()> {
    match is_compiled(file) {
        true => Err(Error::input(format!(
            "{0}: `{verb}` takes no compiled MPI programs yet; simulate it with `simurgh run -n 4 {0}`",
            file.display()
        ))),
        false => Ok(()),
    }
}

/// What follows a compiled program on the command line are its own arguments, whatever they look like: they are marked by `--`.
pub(crate) fn mark_arguments(mut words: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let verb = words.get(1).and_then(|word| word.to_str()).and_then(|word| cli.find_subcommand(word));
    let Some(verb) = verb.filter(|verb| ["run", "check"].contains(&verb.get_name())) else { return words };
    let takes_value = |word: &str| {
        verb.get_arguments().filter(|argument| argument.get_action().takes_values()).any(|argument| {
            let long = argument.get_long_and_visible_aliases().unwrap_or_default();
            let all = argument.get_all_aliases().unwrap_or_default();
            let short = argument.get_short_and_visible_aliases().unwrap_or_default();
            let is_long =
                word.strip_prefix("--").is_some_and(|name| long.contains(&name) || all.contains(&name));
            let is_short = word.strip_prefix('-').is_some_and(|name| {
                let mut letters = name.chars();
                letters.next().is_some_and(|letter| short.contains(&letter)) && letters.next().is_none()
            });
            is_long || is_short
        })
    };
    let mut place = 2;
    while let Some(word) = words.get(place) {
        match word.to_str() {
            Some("--") => return words,
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                place += 1 + usize::from(takes_value(option));
            }
            // What is not there may be meant to be one.
            _ if is_compiled(Path::new(word)) || !Path::new(word).exists() => {
                if words.get(place + 1).is_some_and(|next| next != "--") {
                    words.insert(place + 1, OsString::from("--"));
                }
                return words;
            }
            _ => return words,
        }
    }
    words
}

/// Simulates an MPI program.
pub(crate) fn run(arguments: &RunArguments) -> Result<Exit> {
    play(arguments, None)
}

/// Replays a time-independent trace of an MPI program.
pub(crate) fn replay(arguments: &RunArguments, trace: Trace) -> Result<Exit> {
    let options = &arguments.mpi;
    let of_programs = [
        (options.processes.is_some(), "-n"),
        (options.compute.is_some(), "--compute"),
        (!arguments.arguments.is_empty(), "an argument"),
    ];
    if let Some((_, option)) = of_programs.iter().find(|(given, _)| *given) {
        return Err(Error::input(format!(
            "{option} goes with a compiled MPI program, and {} is a trace, which says how many processes there are and what they compute; leave it out",
            arguments.file.display()
        )));
    }
    play(arguments, Some(Arc::new(trace)))
}

fn play(arguments: &RunArguments, trace: Option<Arc<Trace>>) -> Result<Exit> {
    let mut options = for_mpi(&arguments.options, true);
    let record = arguments.mpi.record.as_deref();
    if let Some(folder) = record {
        record::check(folder)?;
    }
    let (of_first, others) = programs(&arguments.arguments)?;
    if !others.is_empty() && arguments.mpi.processes.is_none() {
        return Err(Error::input(format!(
            "several programs: say how many processes each has, as in simurgh run -n 2 {} : -n 4 {}",
            arguments.file.display(),
            others[0].executable.display()
        )));
    }
    let launch = Launch {
        executable: arguments.file.clone(),
        arguments: of_first.to_vec(),
        others,
        processes: arguments.mpi.processes.map(|count| count as usize),
        hostfile: arguments.mpi.hostfile.clone(),
        config: parse_config(&options.config)?,
        oversubscribe: arguments.mpi.oversubscribe,
        compute: arguments.mpi.compute.map(|how| match how {
            ComputeName::None => Compute::Nothing,
            ComputeName::Counted => Compute::counted(),
            ComputeName::Measured => Compute::measured(),
        }),
        output: if options.json { Output::AllToError } else { Output::AsItIs },
        seed: options.seed,
        wanted: Wanted {
            states: options.wants_timeline(),
            actions: record.is_some(),
            messages: arguments.mpi.links || options.way.is_some(),
        },
        replay: trace,
        explored: None,
    };
    // The processes share one libc, which knows one of them at a time.
    options.workers = Some(1);
    let patience = arguments.mpi.stuck_after;
    if let Some(seconds) = patience.filter(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
        return Err(Error::input(format!("--stuck-after {seconds}: give a number of seconds, such as 60")));
    }
    if options.json {
        super::keep_output();
    }
    let (program, run) = launch.prepare(load(arguments.platform.as_deref())?)?;
    super::gdb::stop_for_debugger(&run)?;
    let links = arguments.mpi.links.then(Busiest::default);
    let observers = links.iter().map(|links| Box::new(links.clone()) as Box<dyn Observer>).collect();
    let more = OfMpi::new(&arguments.file, run.clone(), links);
    let lookout = Lookout::start(&run, patience, options.quiet);
    let teller = |outcome: &Outcome| {
        let stuck = patience.filter(|_| lookout.has_ended());
        let told = mpi_report::told(&run, outcome, stuck);
        end_lines(&run, options.quiet && told.text.is_empty());
        told
    };
    let exit = simulate_with(program, &options, None, Some(&teller), Some(&more), observers)?;
    let exit = if exit == Exit::Failed && lookout.has_ended() { Exit::NotExhausted } else { exit };
    drop(lookout);
    if let Some(folder) = record {
        recorded(&run, folder, options.quiet || options.json)?;
    }
    if let Some(error) = run.unprinted() {
        super::lost(error);
    }
    if let Some(code) = run.exit_code().filter(|_| arguments.mpi.exit_as_processes && exit == Exit::Failed) {
        let _ = std::io::stdout().flush();
        std::process::exit(i32::from(code));
    }
    Ok(exit)
}

/// What follows a program: its own arguments, then other programs, as in `a : -n 4 ./b c`.
pub(crate) fn programs(words: &[String]) -> Result<(&[String], Vec<Another>)> {
    let begins = |place: &usize| {
        words[*place] == ":" && matches!(words.get(place + 1).map(String::as_str), Some("-n" | "-np"))
    };
    let missing = || Error::input("a program is missing after the colon, as in `: -n 4 ./b`");
    if words.last().is_some_and(|last| last == ":") {
        return Err(missing());
    }
    let starts: Vec<usize> = (0..words.len()).filter(begins).collect();
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    let another = |(start, end): (&usize, usize)| match &words[start + 2..end] {
        [count, program, arguments @ ..] => {
            let processes = count.parse().ok().filter(|count| *count > 0);
            let processes =
                processes.ok_or_else(|| Error::input(format!("-n {count}: give a number from 1 on")))?;
            let executable = PathBuf::from(program);
            match is_compiled(&executable) {
                true => Ok(Another { executable, arguments: arguments.to_vec(), processes }),
                false if executable.exists() => Err(Error::input(format!(
                    "{program}: is no compiled program; compile it with simurgh cc"
                ))),
                false => Err(Error::input(format!("{program}: there is no such file"))),
            }
        }
        _ => Err(missing()),
    };
    let others: Vec<Another> = starts.iter().zip(ends).map(another).collect::<Result<_>>()?;
    Ok((&words[..starts.first().copied().unwrap_or(words.len())], others))
}

/// Writes the trace, and says so.
fn recorded(run: &Run, folder: &Path, quiet: bool) -> Result<()> {
    let (list, left_out) = record::write(run, folder)?;
    if !left_out.is_empty() {
        eprintln!(
            "simurgh: --record: traces cannot tell {}; a replay leaves out what these did",
            left_out.join(", ")
        );
    }
    if !quiet {
        print(&format!("wrote {}\n", named(&list)));
    }
    Ok(())
}

/// What we say begins on a line of its own, whatever a process said last.
fn end_lines(run: &Run, nothing_is_said: bool) {
    let [out, error] = run.is_unterminated();
    if out {
        print(if nothing_is_said { "" } else { "\n" });
    }
    if error && !nothing_is_said {
        eprintln!();
    }
}
