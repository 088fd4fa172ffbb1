//! Runs the command in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A fresh folder for one test.
pub struct Folder {
    path: PathBuf,
}

/// What a run of the command came to.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    arguments: Vec<String>,
}

impl Ran {
    pub fn told(&self) -> String {
        format!("simurgh {:?} -> {}\n{}{}", self.arguments, self.code, self.stdout, self.stderr)
    }
}

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command").join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path.join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path.join(name)).unwrap()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the command there.
    pub fn simurgh(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_simurgh"))
            .args(arguments)
            .current_dir(&self.path)
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        }
    }
}
