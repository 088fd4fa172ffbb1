//! Files that are for their owner alone: keys, and what nodes store. They are made with mode 0600, and refused with any that lets others in.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Reads a file that nobody else may read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { path: path.into(), source };
    let mut file = File::open(path).map_err(failed)?;
    check(&file, path)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Refuses a file that others may read or write.
pub(crate) fn check(file: &File, path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let failed = |source| Error::Read { path: path.into(), source };
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(Error::NotPrivate { path: path.into(), mode });
        }
    }
    Ok(())
}

/// How to open a file that is made if it is not there, for its owner alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Puts bytes in the place of a file: whoever looks finds what was or what is, also after a crash. Gives the file, to go on writing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<File> {
    placed(path, bytes, |fresh| fs::rename(fresh, path))
}

/// Makes a file with all of its bytes, if there is none.
pub(crate) fn make(path: &Path, bytes: &[u8]) -> io::Result<()> {
    placed(path, bytes, |fresh| {
        fs::hard_link(fresh, path)?;
        fs::remove_file(fresh)
    })
    .map(drop)
}

fn placed(path: &Path, bytes: &[u8], place: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<File> {
    let fresh = temporary(path);
    // A file with this name would be somebody else's.
    let mut file = options().create_new(true).open(&fresh)?;
    let write = || {
        file.write_all(bytes)?;
        file.sync_all()?;
        place(&fresh)?;
        // The new name of the file is on the disk once its folder is.
        File::open(folder(path))?.sync_all()
    };
    match write() {
        Ok(()) => Ok(file),
        Err(error) => {
            let _ = fs::remove_file(&fresh);
            Err(error)
        }
    }
}

/// Removes what crashes have left of files that were to take this place. Nobody else may be about to replace it.
pub(crate) fn tidy(path: &Path) {
    let Some(begin) = path.file_name().map(|name| format!(".{}.", name.to_string_lossy())) else { return };
    for entry in fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let drawn = name.to_str().and_then(|name| name.strip_prefix(&begin)?.strip_suffix(".simurgh-new"));
        if drawn.is_some_and(|drawn| drawn.len() == 32 && drawn.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A name beside a file that nobody else has: it holds a number of 128 bits that is drawn for it.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{:032x}.simurgh-new", rand::random::<u128>()))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn others_are_kept_out_and_nothing_is_left_behind() {
        let folder = std::env::temp_dir().join(format!("simurgh-private-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("secret");
        make(&path, b"one").expect("it is made");
        assert_eq!(make(&path, b"two").map_err(|error| error.kind()), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(read(&path).expect("it is private"), b"one");
        drop(replace(&path, b"three").expect("it is replaced"));
        assert_eq!(read(&path).expect("it is private"), b"three");
        for mode in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is changed");
            let told = read(&path).expect_err("others may see it").to_string();
            let shown = path.display();
            let expected = format!(
                "{shown}: others than its owner may use it (mode {mode:04o}); close it to them by `chmod 600 {shown}`"
            );
            assert_eq!(told, expected);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("it is changed");
        assert!(read(&path).is_ok(), "its owner need not write it");

        // What a crash has left is removed; what is somebody else's is not.
        let left = temporary(&path);
        let of_users = [folder.join("secret.new"), folder.join(".secret.mine.simurgh-new")];
        for file in of_users.iter().chain([&left]) {
            fs::write(file, "").expect("it is written");
        }
        tidy(&path);
        assert!(!left.exists() && of_users.iter().all(|file| file.exists()));
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
