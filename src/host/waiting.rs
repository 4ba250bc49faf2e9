//! Another process that has to do with a registry, for the tests: only those of other processes see POSIX locks and descriptors.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A python process that ran `script` (with the registry's path in `path`), said so, and waits until it is dropped.
pub(super) struct Python(Child);

impl Python {
    pub(super) fn run(path: &Path, script: &str) -> Self {
        let script = format!(
            "import sys, os, fcntl, sqlite3\npath = sys.argv[1]\n{script}\nprint('ready', flush=True)\nsys.stdin.read()"
        );
        let mut child = Command::new("python3")
            .args(["-c", &script])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed by this test: apt-get install python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Self(child)
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
