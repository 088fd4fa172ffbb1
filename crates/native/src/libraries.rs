//! Where the libraries lie that a program needs.

use std::path::{Path, PathBuf};

/// Libraries that are there once, whoever uses them: libc and its parts, the dynamic linker, and libgomp, whose threads
/// belong to the operating system.
pub(crate) fn is_shared(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "libc.so",
        "libm.so",
        "libmvec.so",
        "libpthread.so",
        "libdl.so",
        "librt.so",
        "libutil.so",
        "libresolv.so",
        "libanl.so",
        "libgomp.so",
        "ld-linux",
    ];
    NAMES.iter().any(|shared| name.starts_with(shared))
}

/// The file of a library, as the dynamic linker would find it.
pub(crate) fn find(name: &str, run_paths: &[String], origin: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let origin = origin.parent().unwrap_or(Path::new(".")).to_string_lossy().into_owned();
    let of_object =
        run_paths.iter().map(|path| path.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin));
    let asked = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let asked: Vec<String> = asked.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    of_object
        .chain(asked)
        .chain(usual())
        .map(|folder| Path::new(&folder).join(name))
        .find(|path| path.is_file())
}

/// The folders of the system: those that its configuration names, and the usual ones.
fn usual() -> Vec<String> {
    let mut folders = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir("/etc/ld.so.conf.d")
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    files.insert(0, PathBuf::from("/etc/ld.so.conf"));
    for text in files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
        folders.extend(text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(str::to_owned));
    }
    let fixed =
        ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
    folders.extend(fixed.map(str::to_owned));
    folders
}
