//! `mpiexec -n 4 ./app`: what it means in the words of `simurgh run`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode};

use simurgh_actors::{Error, Exit, Result};

use super::compile::instead;
use super::print;

/// Options that say where real processes are to run, or how: a simulation has its platform for that. With a value, or without.
const IGNORED: [(&str, bool); 30] = [
    ("oversubscribe", false),
    ("ppn", true),
    ("npernode", true),
    ("perhost", true),
    ("N", true),
    ("bind-to", true),
    ("bind-to-core", false),
    ("bind-to-none", false),
    ("map-by", true),
    ("rank-by", true),
    ("rmk", true),
    ("launcher", true),
    ("bootstrap", true),
    ("iface", true),
    ("prefix", true),
    ("mca", true),
    ("allow-run-as-root", false),
    ("tag-output", false),
    ("prepend-rank", false),
    ("l", false),
    ("quiet", false),
    ("q", false),
    ("v", false),
    ("verbose", false),
    ("report-bindings", false),
    ("genvall", false),
    ("envall", false),
    ("host", true),
    ("hosts", true),
    ("timeout", true),
];

/// As other launchers do: what the program prints and no more, its own code, any number of processes.
const STARTS: [&str; 4] = ["run", "--quiet", "--oversubscribe", "--exit-as-processes"];

/// How a program that a script starts is to be run: a line a word (crates/mpi/build/alone.c).
const FOR_PROGRAMS: &str = "SIMURGH_MPIEXEC";

/// What a command line of `mpiexec` means.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Meaning {
    /// What `simurgh run` is called with.
    words: Vec<OsString>,
    /// Where the program is among them.
    program: usize,
    /// Variables for the processes.
    variables: Vec<(OsString, OsString)>,
    /// A folder to run in.
    folder: Option<OsString>,
    /// It asks who we are.
    version: bool,
}

/// Whether a command of this name starts processes.
pub(crate) fn is_called(name: &str) -> bool {
    ["mpiexec", "mpirun", "mpiexec.hydra", "simurgh-run"].contains(&name)
}

/// Runs `simurgh run` in the place of this command.
pub(crate) fn run(called: &str, words: &[OsString]) -> Result<ExitCode> {
    let meaning = read(called, words)?;
    if meaning.version {
        print(&format!("{called} (Simurgh) {}\n", env!("CARGO_PKG_VERSION")));
        return Ok(Exit::Fine.into());
    }
    let own = std::env::current_exe().map_err(|error| Error::input(format!("simurgh: {error}")))?;
    let mut command = match meaning.script() {
        None => {
            let mut command = Command::new(own);
            command.args(&meaning.words);
            command
        }
        Some((script, arguments)) => {
            // The program that it starts finds there how it is to be started.
            let words =
                std::iter::once(own.as_os_str()).chain(meaning.options().iter().map(OsString::as_os_str));
            let mut command = Command::new(Path::new(".").join(script));
            command.args(arguments).env(FOR_PROGRAMS, words.collect::<Vec<_>>().join(OsStr::new("\n")));
            command
        }
    };
    command.envs(meaning.variables);
    if let Some(folder) = meaning.folder {
        command.current_dir(folder);
    }
    Ok(instead(command))
}

impl Meaning {
    /// The options that come before the program.
    fn options(&self) -> &[OsString] {
        &self.words[..self.program]
    }

    /// A script that is to start the program, and its arguments: build systems have them (libtool makes one of each program
    /// that is linked with libraries of its own).
    fn script(&self) -> Option<(&OsStr, &[OsString])> {
        let (program, rest) = self.words.get(self.program..)?.split_first()?;
        let mut first = [0; 2];
        let is_script =
            File::open(program).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *b"#!";
        is_script.then(|| (program.as_os_str(), rest.strip_prefix(&["--".into()]).unwrap_or(rest)))
    }
}

/// Several programs are one with the others among its arguments, as `simurgh run` has it: `./a x : -n 2 ./b y`.
fn read(called: &str, words: &[OsString]) -> Result<Meaning> {
    let mut sections = words.split(|word| word == ":");
    let mut meaning = read_one(called, sections.next().unwrap_or_default())?;
    let others: Vec<&[OsString]> = sections.collect();
    if meaning.version || others.is_empty() {
        return Ok(meaning);
    }
    if !meaning.options().iter().any(|word| word == "-n") {
        meaning.words.splice(meaning.program..meaning.program, ["-n".into(), "1".into()]);
        meaning.program += 2;
    }
    if meaning.words.len() == meaning.program + 1 {
        meaning.words.push("--".into());
    }
    for words in others {
        let mut other = read_one(called, words)?;
        let mut options = other.options().iter().skip_while(|word| *word != "-n").skip(1);
        let count = options.next().cloned().unwrap_or_else(|| "1".into());
        meaning.words.extend([":".into(), "-n".into(), count]);
        let rest = other.words.drain(other.program..).enumerate();
        meaning.words.extend(rest.filter(|(place, word)| *place != 1 || word != "--").map(|(_, word)| word));
        for (name, value) in other.variables {
            if let Some((_, first)) =
                meaning.variables.iter().find(|(other, first)| *other == name && *first != value)
            {
                let (name, first, value) =
                    (name.to_string_lossy(), first.to_string_lossy(), value.to_string_lossy());
                return Err(Error::input(format!(
                    "{called}: {name} is {first} for one program and {value} for another; all programs of a run begin with the same variables: give it one value"
                )));
            }
            meaning.variables.push((name, value));
        }
    }
    Ok(meaning)
}

fn read_one(called: &str, words: &[OsString]) -> Result<Meaning> {
    let mut meaning = Meaning { words: STARTS.map(OsString::from).to_vec(), ..Meaning::default() };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let Some(option) = text.strip_prefix("--").or(text.strip_prefix('-')) else {
            let program: Vec<OsString> = std::iter::once(word).chain(rest).cloned().collect();
            meaning.program = meaning.words.len();
            meaning.words.push(found(word));
            if program.len() > 1 {
                meaning.words.push("--".into());
                meaning.words.extend(program.into_iter().skip(1).skip_while(|word| word == "--"));
            }
            return Ok(meaning);
        };
        let mut value = || {
            rest.next()
                .cloned()
                .ok_or_else(|| Error::input(format!("{called}: {text} needs a value after it")))
        };
        match option {
            "n" | "np" | "c" => meaning.words.extend(["-n".into(), value()?]),
            "hostfile" | "machinefile" | "f" | "machine" => {
                meaning.words.extend(["--hostfile".into(), value()?])
            }
            "platform" | "p" => meaning.words.extend(["--platform".into(), value()?]),
            "cfg" | "config" => meaning.words.extend(["--cfg".into(), value()?]),
            "env" | "genv" => meaning.variables.push((value()?, value()?)),
            "x" => {
                let given = value()?.to_string_lossy().into_owned();
                // Without a value it means the one that is there already.
                if let Some((name, value)) = given.split_once('=') {
                    meaning.variables.push((name.into(), value.into()));
                }
            }
            "wdir" | "wd" => meaning.folder = Some(value()?),
            "version" | "V" | "info" => {
                meaning.version = true;
                return Ok(meaning);
            }
            _ => match IGNORED.iter().find(|(name, _)| *name == option) {
                Some((name, true)) => {
                    value()?;
                    if *name == "mca" {
                        value()?;
                    }
                }
                Some((_, false)) => {}
                None => {
                    return Err(Error::input(format!(
                        "{called}: {text} is not known; -n N, --hostfile FILE, --platform FILE and --env NAME VALUE are (see `simurgh run --help`)"
                    )));
                }
            },
        }
    }
    Err(Error::input(format!("{called}: name the program that is to be run, as in `{called} -n 4 ./app`")))
}

/// A program as it is found: `mpiexec` looks in the present folder and in PATH.
fn found(program: &OsStr) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_file() {
        return program.to_owned();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file());
    there.map_or_else(|| program.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(words: &str) -> Result<Meaning> {
        read("mpiexec", &words.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn run_words(words: &str) -> String {
        let meaning = meaning(words).expect("it means something");
        meaning.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_variable_has_one_value_for_all_programs() {
        let wrong = meaning("-n 1 -env A 5 ./a : -n 1 -env A 6 ./b").expect_err("they differ");
        assert!(
            wrong.to_string().starts_with("mpiexec: A is 5 for one program and 6 for another"),
            "{wrong}"
        );
        assert_eq!(meaning("-env A 5 ./a : -env A 5 ./b").expect("they are the same").variables.len(), 2);
    }

    #[test]
    fn usual_command_lines_are_understood() {
        assert_eq!(
            run_words("-n 4 ./app a -n b"),
            "run --quiet --oversubscribe --exit-as-processes -n 4 ./app -- a -n b"
        );
        assert_eq!(run_words("-np 2 ./app"), "run --quiet --oversubscribe --exit-as-processes -n 2 ./app");
        assert_eq!(
            run_words("--hostfile h -np 2 -ppn 1 ./app"),
            "run --quiet --oversubscribe --exit-as-processes --hostfile h -n 2 ./app"
        );
        assert_eq!(
            run_words("--mca btl tcp,self --oversubscribe -np 2 ./app x"),
            "run --quiet --oversubscribe --exit-as-processes -n 2 ./app -- x"
        );
        assert_eq!(
            run_words("-n 2 ./a x : -np 3 ./b -n y : ./c"),
            "run --quiet --oversubscribe --exit-as-processes -n 2 ./a -- x : -n 3 ./b -n y : -n 1 ./c"
        );
        assert_eq!(
            run_words("./a : ./b"),
            "run --quiet --oversubscribe --exit-as-processes -n 1 ./a -- : -n 1 ./b"
        );
        let with = meaning("-genv A 1 -x B=2 -x C -wdir /tmp -n 1 ./app").expect("it means something");
        assert_eq!(with.variables, [("A".into(), "1".into()), ("B".into(), "2".into())]);
        assert_eq!(with.folder.as_deref(), Some(OsStr::new("/tmp")));
        assert!(meaning("--version").expect("it means something").version);
    }

    #[test]
    fn others_are_told() {
        let told = |words: &str| meaning(words).expect_err("it means nothing").to_string();
        assert!(told("-n 4").contains("name the program"));
        assert!(told("-n").contains("needs a value"));
        assert!(told("--frobnicate ./app").contains("--frobnicate is not known"));
        assert!(told("-n 1 ./a : -n 1").contains("name the program"));
    }
}
