//! How files are read and written, for every crate that does so.
//!
//! - [`reading`](read): within bounds; what is no file (a pipe, a device) is refused instead of waited for.
//! - [`writing`](write()): beside its place first, and put there when it is on the disk: whoever looks finds what was or what is.
//! - [`Claim`]: a file that one process alone goes on writing.
//! - [`shown`](fn@shown): what was in a file, in a line for people.
//!
//! ```
//! let path = std::env::temp_dir().join(format!("simurgh-files-{}", std::process::id()));
//! simurgh_files::write(&path, |out| out.write_all(b"all of it")).unwrap();
//! assert_eq!(simurgh_files::read_text(&path).unwrap(), "all of it");
//! let zeros = simurgh_files::read("/dev/zero".as_ref()).unwrap_err().to_string();
//! assert_eq!(zeros, "this is a device, not a file; write what it gives into a file, and name that");
//! # std::fs::remove_file(&path).unwrap();
//! ```

#![forbid(unsafe_code)]

mod claim;
mod reading;
mod shown;
mod writing;

pub use claim::{Claim, Unclaimed};
pub use reading::{LENGTH_MAX, Unreadable, protect_inputs, read, read_text};
pub use shown::{shortened, shown, visible};
pub use writing::{Fresh, check, tidy, write};
