//! A program that is run in another process, and what came of it.

use std::process::Command;
use std::time::Instant;

/// What came of a check.
#[derive(Debug)]
pub struct Checked {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

impl Checked {
    pub fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for words in words {
            assert!(self.stdout.contains(words) || self.stderr.contains(words), "{words:?}: {self:#?}");
        }
    }

    #[track_caller]
    pub fn within(self, seconds: f64) -> Self {
        assert!(self.seconds < seconds, "{self:#?}");
        self
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a search takes is what is tested")]
pub fn now() -> Instant {
    Instant::now()
}

pub fn output(command: &mut Command) -> Checked {
    let start = now();
    let output = command.output().expect("it runs");
    Checked {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
        seconds: start.elapsed().as_secs_f64(),
    }
}
