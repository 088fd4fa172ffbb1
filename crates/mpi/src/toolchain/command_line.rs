//! The command line of a wrapper: what is for the compiler, what is for us, and whether it links.

use std::ffi::{OsStr, OsString};

use crate::toolchain::Language;

/// A command line, read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    /// Of which wrapper.
    pub language: Language,
    /// The compiler that it names.
    pub compiler: Option<String>,
    /// What is for the compiler.
    pub arguments: Vec<OsString>,
    /// What is left out, since what it makes could not be folded.
    left_out: Vec<&'static str>,
    /// What is asked for.
    pub asked: Asked,
    /// Whether the program is to count what it executes.
    pub counted: bool,
    /// Whether it asks for help, ours and the compiler's.
    pub helps: bool,
}

/// What a wrapper is called for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Compiling.
    Compiling,
    /// Something to show.
    Showing(Shown),
}

/// What wrappers of other implementations show, which build systems ask for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// `-show`, `--showme`: the whole command.
    Command,
    /// `-compile_info`: the compiler and what compiling needs.
    Compile,
    /// `-link_info`: the compiler and what linking needs.
    Link,
    /// `--showme:compile`: what compiling needs.
    CompileFlags,
    /// `--showme:link`: what linking needs.
    LinkFlags,
    /// `--showme:incdirs`: folders of headers.
    Includes,
    /// `--showme:libdirs`: folders of libraries.
    Folders,
    /// `--showme:libs`: names of libraries.
    Libraries,
    /// `--showme:command`: the compiler.
    Compiler,
    /// `--showme:version`: who we are.
    Version,
}

/// Options whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-isysroot",
    "-T",
    "-u",
    "-z",
    "-e",
    "-MF",
    "-MT",
    "-MQ",
    "-J",
    "-B",
    "-A",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-target",
    "-aux-info",
    "--param",
    "-specs",
    "-G",
    "-wrapper",
    "-dumpbase",
    "-dumpdir",
];

/// Options that make programs which cannot be folded.
const LEFT_OUT: &[&str] = &["-static", "-static-pie", "-no-pie", "-nopie", "-fno-pie", "-fno-PIE"];

/// Options with which nothing is linked.
const WITHOUT_LINKING: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];

impl CommandLine {
    /// Reads what follows the name of a wrapper.
    pub fn read(language: Language, words: impl IntoIterator<Item = OsString>) -> Self {
        let mut line = Self {
            language,
            compiler: None,
            arguments: Vec::new(),
            left_out: Vec::new(),
            asked: Asked::Compiling,
            counted: false,
            helps: false,
        };
        for word in words {
            let text = word.to_string_lossy();
            if let Some(option) = LEFT_OUT.iter().find(|option| **option == text) {
                line.left_out.push(option);
                continue;
            }
            if let Some(compiler) = named(&text) {
                line.compiler = Some(compiler.to_owned());
            } else if text == "--counted" || text == "-counted" {
                line.counted = true;
            } else if let Some(what) = asks(&text) {
                line.asked = Asked::Showing(what);
            } else {
                line.helps |= text == "--help";
                line.arguments.push(word);
            }
        }
        line
    }

    fn has(&self, options: &[&str]) -> bool {
        self.arguments.iter().any(|word| options.iter().any(|option| word == option))
    }

    /// The files that it names, of whatever kind, and libraries.
    fn inputs(&self) -> impl Iterator<Item = &OsStr> {
        let mut is_value = false;
        self.arguments.iter().map(OsString::as_os_str).filter(move |word| {
            let text = word.to_string_lossy();
            if std::mem::take(&mut is_value) {
                return false;
            }
            is_value = WITH_VALUE.contains(&&*text);
            text == "-" || !text.starts_with('-')
        })
    }

    /// Whether anything is compiled or preprocessed.
    pub fn compiles(&self) -> bool {
        let is_source = |word: &OsStr| {
            let text = word.to_string_lossy();
            !(text.ends_with(".o") || text.ends_with(".a") || text.ends_with(".so") || text.contains(".so."))
        };
        self.inputs().any(is_source)
    }

    /// Whether a program or a shared object is made.
    pub fn links(&self) -> bool {
        self.inputs().next().is_some() && !self.has(WITHOUT_LINKING)
    }

    /// Whether it says itself whether code can be put anywhere.
    pub fn says_pie(&self) -> bool {
        self.has(&["-fPIC", "-fpic", "-fPIE", "-fpie", "-pie", "-shared", "-r"])
    }

    /// Whether it names a linker, whose options may be others.
    pub fn says_linker(&self) -> bool {
        let named = |word: &OsString| word.to_string_lossy().starts_with("-fuse-ld=");
        self.arguments.iter().any(named) || self.has(&["-r"])
    }

    /// What is left out, and why.
    pub fn warnings(&self) -> Vec<String> {
        let told = |option: &&str| {
            let why = match *option {
                "-static" | "-static-pie" => {
                    "a static program brings a C library of its own, and all processes of a simulation share one"
                }
                _ => "a program that lies at a fixed address cannot be there once for each process",
            };
            format!("{option} is left out: {why}")
        };
        self.left_out.iter().map(told).collect()
    }
}

/// The compiler that an option names, as MPICH's wrappers have it.
fn named(word: &str) -> Option<&str> {
    ["-cc=", "-cxx=", "-CC=", "-fc=", "-f90=", "-f77="].iter().find_map(|option| word.strip_prefix(option))
}

/// What is to be shown, as the wrappers of MPICH and Open MPI have it.
fn asks(word: &str) -> Option<Shown> {
    let word = word.strip_prefix("--").or(word.strip_prefix('-'))?;
    Some(match word {
        "show" | "showme" => Shown::Command,
        "compile_info" | "compile-info" => Shown::Compile,
        "link_info" | "link-info" => Shown::Link,
        "showme:compile" => Shown::CompileFlags,
        "showme:link" => Shown::LinkFlags,
        "showme:incdirs" => Shown::Includes,
        "showme:libdirs" => Shown::Folders,
        "showme:libs" => Shown::Libraries,
        "showme:command" => Shown::Compiler,
        "showme:version" => Shown::Version,
        _ => return None,
    })
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_=+,./:@%^".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> CommandLine {
        CommandLine::read(Language::C, words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn what_links_is_known() {
        for links in
            ["a.c", "a.o b.o -o a", "-o a a.c -lm", "a.c -shared -fPIC", "@list", "-x c -", "-O2 lib.a"]
        {
            assert!(line(links).links(), "{links}");
        }
        for does_not in [
            "-c a.c",
            "-E a.c",
            "a.c -S",
            "-M a.c",
            "--version",
            "-v",
            "-o a",
            "-I x",
            "",
            "-MF x",
            "-dumpmachine",
        ] {
            assert!(!line(does_not).links(), "{does_not}");
        }
        assert!(line("-MD a.c -o a").links(), "-MD writes dependencies beside compiling");
    }

    #[test]
    fn what_compiles_is_known() {
        assert!(line("-c a.c").compiles() && line("-E -").compiles() && line("a.c b.o").compiles());
        assert!(!line("a.o libx.a liby.so libz.so.1 -o a").compiles());
    }

    #[test]
    fn everything_else_is_passed_on_unchanged() {
        let words = "-c a.c -DX=\"y\" -Wl,-x -I . -o a.o";
        let read = line(words);
        assert_eq!(read.arguments, words.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(read.asked, Asked::Compiling);
    }

    #[test]
    fn compilers_and_questions_are_for_us() {
        let read = line("-cc=clang -show -c a.c");
        assert_eq!(read.compiler.as_deref(), Some("clang"));
        assert_eq!(read.asked, Asked::Showing(Shown::Command));
        assert_eq!(read.arguments, ["-c", "a.c"]);
        assert_eq!(line("--showme:incdirs").asked, Asked::Showing(Shown::Includes));
        assert_eq!(line("-showme:link").asked, Asked::Showing(Shown::LinkFlags));
    }

    #[test]
    fn counting_is_for_us() {
        let read = line("--counted -O2 a.c");
        assert!(read.counted && !line("-O2 a.c").counted);
        assert_eq!(read.arguments, ["-O2", "a.c"]);
    }

    #[test]
    fn help_is_for_both() {
        let read = line("--help");
        assert!(read.helps && read.arguments == ["--help"]);
        assert!(!line("--help=warnings a.c").helps && !line("-o help a.c").helps);
    }

    #[test]
    fn what_cannot_be_folded_is_left_out() {
        let read = line("-static -static-libgcc a.c -no-pie");
        assert_eq!(read.arguments, ["-static-libgcc", "a.c"]);
        let told = read.warnings();
        assert!(
            told[0].starts_with("-static is left out: ") && told[1].starts_with("-no-pie is"),
            "{told:?}"
        );
        assert!(line("a.c").warnings().is_empty());
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("-I/a/b"), "-I/a/b");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
