//! Files that take the place of others as a whole.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::reading::is_input;

/// A new file beside the place that it is to take. It is gone with this value, unless it has taken that place. It is locked as long as
/// it is open, so that [`tidy`] can tell it from what a process has left that was killed.
#[derive(Debug)]
pub struct Fresh {
    /// Nothing once it has taken its place.
    file: Option<File>,
    at: PathBuf,
    place: PathBuf,
}

impl Fresh {
    /// An empty file that is opened with these options.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn beside(place: &Path, options: &mut OpenOptions) -> io::Result<Self> {
        loop {
            let at = temporary(place);
            // A file with this name would be somebody else's.
            let file = options.write(true).create_new(true).open(&at)?;
            // Some file systems have no locks: there, what is left stays.
            let _ = file.lock();
            // Whoever tidied up before it was locked has taken it for a file of a process that is gone.
            if at.exists() {
                return Ok(Self { file: Some(file), at, place: place.to_owned() });
            }
        }
    }

    /// What is written there.
    pub fn file(&mut self) -> &mut File {
        self.file.as_mut().expect("it has not taken its place")
    }

    /// Takes its place, from whatever is there. Gives the file, to go on writing.
    ///
    /// # Errors
    /// If it cannot be brought to the disk, or not to its place.
    pub fn replace(self) -> io::Result<File> {
        self.take_place(|at, place| fs::rename(at, place))
    }

    /// Takes its place, if nothing is there.
    ///
    /// # Errors
    /// If something is, or it cannot be brought to the disk.
    pub fn join(self) -> io::Result<File> {
        self.take_place(|at, place| {
            fs::hard_link(at, place)?;
            fs::remove_file(at)
        })
    }

    fn take_place(mut self, put: impl FnOnce(&Path, &Path) -> io::Result<()>) -> io::Result<File> {
        self.file().sync_all()?;
        put(&self.at, &self.place)?;
        let file = self.file.take().expect("it has not taken its place");
        // The new name of the file is on the disk once its folder is.
        #[cfg(unix)]
        File::open(folder(&self.place))?.sync_all()?;
        Ok(file)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.at);
        }
    }
}

/// Writes a file: whoever looks finds what was or what is, also after a crash. What is no file, such as a terminal, is written to as it is.
///
/// # Errors
/// If it cannot be written; then what was there is there still.
pub fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let fill = |file: &mut File| {
        let mut out = BufWriter::new(file);
        write(&mut out).and_then(|()| out.flush())
    };
    match open(path)? {
        Target::Fresh(mut fresh) => {
            tidy(&fresh.place);
            fill(fresh.file())?;
            fresh.replace().map(drop)
        }
        Target::There(mut file) => {
            file.set_len(0)?;
            fill(&mut file)?;
            file.sync_all()
        }
        Target::Special => fill(&mut OpenOptions::new().write(true).open(path)?),
    }
}

/// Whether a file can be written, found out before there is something to write. Nothing is changed.
///
/// # Errors
/// Why it cannot.
pub fn check(path: &Path) -> io::Result<()> {
    open(path).map(drop)
}

enum Target {
    /// A file beside the place.
    Fresh(Fresh),
    /// The file itself, in a folder that takes no other.
    There(File),
    /// A device, a pipe or a socket.
    Special,
}

fn open(path: &Path) -> io::Result<Target> {
    let place = real(path);
    if is_input(&place) {
        let what =
            "this file was read as a part of the input, and what is written would replace it; name another";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut options = OpenOptions::new();
    let there = match fs::metadata(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => {
            // What must not be written is not replaced either.
            Some((OpenOptions::new().write(true).open(&place)?, metadata))
        }
        // Whoever opens a pipe waits for somebody to read it; those without a name, such as `>(command)`, have one who does.
        #[cfg(unix)]
        Ok(metadata)
            if metadata.file_type().is_fifo()
                && !place.starts_with("/dev")
                && !place.starts_with("/proc") =>
        {
            return Err(io::Error::other("this is a pipe, which nobody may be reading; name a file"));
        }
        Ok(_) => return Ok(Target::Special),
    };
    match (Fresh::beside(&place, &mut options), there) {
        (Ok(fresh), Some((_, metadata))) => {
            // It is for whom it was for. Where that cannot be said, its contents are what matters.
            let _ = fresh.file.as_ref().map(|file| file.set_permissions(metadata.permissions()));
            Ok(Target::Fresh(fresh))
        }
        (Ok(fresh), None) => Ok(Target::Fresh(fresh)),
        (Err(_), Some((file, _))) => Ok(Target::There(file)),
        (Err(error), None) => Err(error),
    }
}

/// Removes what crashes have left of files that were to take this place, and nothing that a process is still writing.
pub fn tidy(path: &Path) {
    let begin = beginning(path);
    for entry in fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let drawn = name.to_str().and_then(|name| name.strip_prefix(&begin)?.strip_suffix(".simurgh-new"));
        let is_ours = drawn
            .is_some_and(|drawn| drawn.len() == 32 && drawn.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // Who writes it holds its lock; it is held here until the file is gone.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Where a file is, if its name leads elsewhere.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A name beside a file that nobody else has: it holds a number of 128 bits that is drawn for it.
fn temporary(path: &Path) -> PathBuf {
    let drawn = || RandomState::new().hash_one(std::process::id());
    path.with_file_name(format!("{}{:016x}{:016x}.simurgh-new", beginning(path), drawn(), drawn()))
}

/// How the names begin of files that are to take this place. Names may have 255 bytes.
fn beginning(path: &Path) -> String {
    let name: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(50).collect();
    format!(".{name}.")
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn empty_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("simurgh-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_there_stays_until_all_is_written() {
        let folder = empty_folder("writing");
        let path = folder.join("v.svg");
        for name in ["v.svg", "v.new", "v.svg.new"] {
            fs::write(folder.join(name), name).expect("it is written");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is changed");
        let failed = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the rest is lost"))
        });
        assert_eq!(failed.map_err(|error| error.to_string()), Err("the rest is lost".to_owned()));
        check(&path).expect("it can be written");
        assert_eq!(fs::read(&path).expect("it is there"), b"v.svg");
        write(&path, |out| out.write_all(b"new")).expect("it is written");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read(folder.join("v.new")).expect("it is somebody else's"), b"v.new");
        assert_eq!(names(&folder), ["v.new", "v.svg", "v.svg.new"]);
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = empty_folder("links");
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").expect("it is written");
        std::os::unix::fs::symlink("file", &link).expect("it is made");
        write(&link, |out| out.write_all(b"new")).expect("it is written");
        assert_eq!(fs::read(&file).expect("it is there"), b"new");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        write(Path::new("/dev/null"), |out| out.write_all(b"nothing")).expect("it is written");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn what_a_crash_has_left_is_removed_and_what_is_somebody_elses_is_not() {
        let folder = empty_folder("tidy");
        let path = folder.join("secret");
        let left = temporary(&path);
        let of_users = [folder.join("secret.new"), folder.join(".secret.mine.simurgh-new")];
        for file in of_users.iter().chain([&left]) {
            fs::write(file, "").expect("it is written");
        }
        let mut written = Fresh::beside(&path, &mut OpenOptions::new()).expect("it is made");
        tidy(&path);
        assert!(!left.exists() && of_users.iter().all(|file| file.exists()));
        assert!(written.at.exists(), "somebody is writing it");
        written.file().write_all(b"slow").expect("it is written");
        fs::write(&left, "half").expect("it is written");
        write(&path, |out| out.write_all(b"fast")).expect("it is written");
        assert!(!left.exists(), "whoever writes the same file tidies up");
        written.replace().expect("it is in its place");
        assert_eq!(fs::read(&path).expect("it is there"), b"slow");
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
