//! What a host offers to compiled programs: functions that they call, and what becomes of their output, their clocks and
//! their ends.

use std::fmt;

use simurgh_kernel::context::Ending;
use simurgh_kernel::simcall::Simcall;

use crate::current;
use crate::watch::Touch;

/// A function or variable that the host offers to programs. A name is looked up in the program, the shim and the libraries, then
/// here, then in libc.
#[derive(Copy, Clone, Debug)]
pub struct Export {
    /// As programs refer to it.
    pub name: &'static str,
    /// Where it is.
    pub address: usize,
}

/// What a host does for the programs that it runs. `rank` is the number of a process, as [`current()`](crate::current()) says.
///
/// All functions but [`crashed`](Self::crashed) are called on the stack of the process, and what they allocate belongs to the
/// host.
pub trait Personality: Send + Sync {
    /// What programs find here.
    fn exports(&self) -> &[Export] {
        &[]
    }

    /// Whether the host itself stands in for a library that the program needs, so that it is not loaded.
    fn provides(&self, library: &str) -> bool {
        let _ = library;
        false
    }

    /// A process begins; none of its code has run.
    fn begins(&self, rank: usize) {
        let _ = rank;
    }

    /// What a process wrote to its standard output (1) or error (2): whole lines, the rest at its end.
    fn output(&self, rank: usize, fd: i32, bytes: &[u8]) {
        let _ = (rank, fd, bytes);
    }

    /// What a process reads from its standard input: the number of bytes; none at the end.
    fn input(&self, rank: usize, bytes: &mut [u8]) -> usize {
        let _ = (rank, bytes);
        0
    }

    /// The date that the clocks of a process show, seconds since the beginning. It may ask. Clocks that know the day begin on
    /// 2020-01-01.
    fn now(&self, rank: usize) -> f64 {
        let _ = rank;
        current::with_port(|port| port.now.seconds())
    }

    /// A process sleeps. It may ask.
    fn sleep(&self, rank: usize, seconds: f64) {
        let _ = rank;
        current::ask(Simcall::Sleep(seconds));
    }

    /// A process is about to touch memory that is [watched](crate::watch); whether it ends before it does. It is interrupted in code
    /// of its program.
    fn touched(&self, rank: usize, touch: &Touch) -> bool {
        let _ = (rank, touch);
        false
    }

    /// What a process touches of memory that is to be watched is not looked at from here on: the effort that was allowed is spent.
    fn is_not_watched(&self, rank: usize) {
        let _ = rank;
    }

    /// A process asked for a thread of its own, which it does not get; it may end here.
    fn refuses_thread(&self, rank: usize) {
        let _ = rank;
    }

    /// A process comes to its end, by itself: main returned, or `exit` was called. It may ask.
    fn leaves(&self, rank: usize, how: &End) {
        let _ = (rank, how);
    }

    /// A process came to an end that it did not choose: `abort`, a signal. Called by whoever drives it, not on its stack.
    fn crashed(&self, rank: usize, how: &End) {
        let _ = (rank, how);
    }

    /// Whether the end of a process is that of all: the others are ended before the simulation is told of it. Called by whoever
    /// drives it, not on its stack.
    fn ends_all(&self, rank: usize, how: &End) -> bool {
        let _ = (rank, how);
        false
    }

    /// What the simulation is told of the end of a process.
    ///
    /// # Errors
    /// What went wrong with it.
    fn ending(&self, rank: usize, how: &End) -> Ending {
        let _ = rank;
        match how {
            End::Exited(0) | End::Killed => Ok(()),
            other => Err(other.to_string()),
        }
    }
}

/// A line of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceLine {
    /// As the compiler was told.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A function that has not returned yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its name; empty if it is not known.
    pub function: String,
    /// Where it is.
    pub place: Option<SourceLine>,
    /// The program or library it is from.
    pub object: String,
    /// From the beginning of that file's image.
    pub address: usize,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.function.is_empty() { "?" } else { &self.function };
        match &self.place {
            Some(place) => write!(f, "{name} at {place}"),
            None => write!(f, "{name} in {} ({:#x})", self.object, self.address),
        }
    }
}

/// A process that was ended by what it did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crash {
    /// The signal that it would have been ended by.
    pub signal: i32,
    /// The address that it could not use, if it is about one.
    pub address: usize,
    /// What happened.
    pub message: String,
    /// The line of the program at which it happened.
    pub place: Option<SourceLine>,
    /// The functions of the program and its libraries, the innermost first.
    pub backtrace: Vec<Frame>,
}

/// How a process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// With this code.
    Exited(i32),
    /// By `abort`, or an assertion that did not hold.
    Aborted(Box<Crash>),
    /// By a signal.
    Crashed(Box<Crash>),
    /// Somebody ended it from outside.
    Killed,
}

impl End {
    /// What is known of an end that it did not choose.
    pub fn crash(&self) -> Option<&Crash> {
        match self {
            End::Aborted(crash) | End::Crashed(crash) => Some(crash),
            End::Exited(_) | End::Killed => None,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exited with code {code}"),
            End::Killed => f.write_str("was ended from outside"),
            End::Aborted(crash) | End::Crashed(crash) => match &crash.place {
                Some(place) => write!(f, "{place}: {}", crash.message),
                None => f.write_str(&crash.message),
            },
        }
    }
}
