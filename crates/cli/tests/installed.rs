//! What is installed beside the command: completions for shells, and manual pages.

use crate::support::command::{Folder, Ran};

const VERBS: [&str; 14] = [
    "cc",
    "check",
    "completions",
    "cxx",
    "explore",
    "fc",
    "gdb",
    "man",
    "mpi",
    "platform",
    "replay",
    "run",
    "watch",
    "why",
];

fn refused(ran: &Ran, expected: &str) {
    assert_eq!(ran.stderr, format!("simurgh: {expected}\n"), "{}", ran.told());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.told());
}

#[test]
fn every_shell_learns_every_subcommand_and_its_options() {
    let folder = Folder::new("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = folder.simurgh(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.told());
        for word in VERBS.iter().chain(&["deterministic", "receives", "worst-svg"]) {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
    let unknown = folder.simurgh(&["completions", "tcsh"]);
    assert_eq!(unknown.code, 2, "{}", unknown.told());
    assert!(unknown.stderr.contains("invalid value 'tcsh' for '<SHELL>'"), "{}", unknown.told());
}

#[test]
fn bash_completes_a_command_line() {
    let folder = Folder::new("bash");
    assert_eq!(folder.simurgh(&["completions", "bash", "--out", "."]).stdout, "wrote ./simurgh.bash\n");
    let script = "source ./simurgh.bash; COMP_WORDS=(simurgh che); COMP_CWORD=1; _simurgh simurgh che simurgh; \
                  echo \"${COMPREPLY[@]}\"";
    let bash = std::process::Command::new("bash").args(["-c", script]).current_dir(folder.path()).output();
    let Ok(ran) = bash else {
        println!("skipped: there is no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "check\n", "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_subcommand_has_a_page() {
    let folder = Folder::new("man");
    let ran = folder.simurgh(&["man", "--out", "share/man1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.told());
    let pages = std::fs::read_dir(folder.path().join("share/man1")).unwrap();
    let mut pages: Vec<_> =
        pages.map(|page| page.unwrap().file_name().to_string_lossy().into_owned()).collect();
    pages.sort();
    let mut expected: Vec<_> = VERBS.iter().map(|verb| format!("simurgh-{verb}.1")).collect();
    expected.extend(["simurgh.1".to_owned(), "simurgh-platform-show.1".to_owned()]);
    expected.extend(["coverage", "wrappers"].map(|verb| format!("simurgh-mpi-{verb}.1")));
    expected.sort();
    assert_eq!(pages, expected);
    assert_eq!(ran.stdout.lines().count(), expected.len(), "{}", ran.told());
    let page = |name: &str| String::from_utf8(folder.read(&format!("share/man1/{name}"))).unwrap();
    assert!(page("simurgh-check.1").contains("\\-\\-deterministic"), "{}", page("simurgh-check.1"));
    assert!(page("simurgh-replay.1").contains("Exit codes: 0 nothing goes wrong"));
    assert_eq!(folder.simurgh(&["man"]).stdout, page("simurgh.1"));
}

/// A page is the same whenever it is made: packages are built again and compared.
#[test]
fn pages_have_no_date() {
    let folder = Folder::new("man-title");
    let printed = folder.simurgh(&["man"]).stdout;
    let title = printed.lines().find(|line| line.starts_with(".TH")).expect("a page has a title");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(title, format!(".TH simurgh 1  \"simurgh {version}\" Simurgh"));
}

#[test]
fn what_cannot_be_written_is_told() {
    let folder = Folder::new("installed-errors");
    folder.write("file", "");
    for command in [&["man"][..], &["completions", "fish"]] {
        let into = |place| folder.simurgh(&[command, &["--out", place]].concat());
        refused(&into("file"), "file: this is not a directory; name a directory to write into");
        let line = "file/below: Not a directory (os error 20); name a directory to write into";
        refused(&into("file/below"), line);
    }
    std::fs::create_dir_all(folder.path().join("taken/simurgh.fish")).unwrap();
    let ran = folder.simurgh(&["completions", "fish", "--out", "taken"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.told());
    assert!(ran.stderr.starts_with("simurgh: taken/simurgh.fish: "), "{}", ran.told());
}
