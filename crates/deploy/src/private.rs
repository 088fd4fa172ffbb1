//! Files that are for their owner alone: keys, and what nodes store. They are made with mode 0600, and refused with any that lets others in.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use simurgh_files::Fresh;

use crate::error::Error;

/// Reads a file that nobody else may read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { path: path.into(), source };
    let bytes = simurgh_files::read(path).map_err(|unreadable| failed(unreadable.into()))?;
    check(&File::open(path).map_err(failed)?, path)?;
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
    fresh(path, bytes)?.replace()
}

/// Makes a file with all of its bytes, if there is none.
pub(crate) fn make(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fresh(path, bytes)?.join().map(drop)
}

fn fresh(path: &Path, bytes: &[u8]) -> io::Result<Fresh> {
    let mut fresh = Fresh::beside(path, &mut options())?;
    fresh.file().write_all(bytes)?;
    Ok(fresh)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
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
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
