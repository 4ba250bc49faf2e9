//! Running the binary as a user would, and seeing everything it said.

pub(crate) mod apps;
pub(crate) mod bucket;
pub(crate) mod child;
pub(crate) mod deployment;
pub(crate) mod hints;
pub(crate) mod proxy;
pub(crate) mod pty;
pub(crate) mod scene;
pub(crate) mod scripted;
pub(crate) mod servers;

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// One invocation of the binary with a cleared environment and no terminal.
#[must_use]
pub(crate) struct Invocation {
    command: Command,
}

/// Everything that an invocation said, and how it ended.
#[derive(Debug)]
#[must_use = "compare the whole output or assert the exit code"]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// `carlosctl` with these arguments.
pub(crate) fn carlosctl<'a>(args: impl IntoIterator<Item = &'a str>) -> Invocation {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carlosctl"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(args).stdin(Stdio::null());
    Invocation { command }
}

impl Invocation {
    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Reads the deployment from a directory.
    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.command.env("CARLOS_DEPLOYMENT_DIR", dir);
        self
    }

    /// Adds one argument, a path say.
    pub(crate) fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    /// The command itself, for tests that feed it or kill it.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// The command itself, to be run at a terminal: without the closed standard input.
    pub(crate) fn into_terminal_command(self) -> Command {
        let mut command = Command::new(self.command.get_program());
        command.env_clear().args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Outcome {
        let output = self.command.output().expect("the binary starts");
        let outcome = Outcome {
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            code: output.status.code().unwrap_or(-1),
        };
        hints::all(&outcome.stdout);
        hints::all(&outcome.stderr);
        outcome
    }
}

impl Outcome {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in stdout of {self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}------- stderr -------\n{}[exit {}]", self.stdout, self.stderr, self.code)
    }
}
