//! A real terminal with a command at it.

use std::process::Command;

use rexpect::session::{Options, PtySession, spawn_with_options};

/// A command at a terminal of its own.
pub(crate) struct Terminal {
    session: PtySession,
}

impl Terminal {
    /// Starts `command` at a terminal that does not say how wide it is.
    pub(crate) fn start(command: Command) -> Self {
        let session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).expect("a terminal");
        Self { session }
    }

    /// Starts `command` at a terminal of so many columns.
    pub(crate) fn wide(columns: u16, command: &Command) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("PATH=/usr/bin:/bin stty cols {columns}; exec \"$@\""), "sh"]);
        shell.arg(command.get_program()).args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        if let Some(directory) = command.get_current_dir() {
            shell.current_dir(directory);
        }
        Self::start(shell)
    }

    /// Waits until `text`, which is ASCII, was said, and answers what was said before it.
    pub(crate) fn expect(&mut self, text: &str) -> String {
        said(&self.session.exp_string(text).unwrap_or_else(|error| panic!("{text:?} was not said: {error}")))
    }

    /// Types a line.
    pub(crate) fn line(&mut self, typed: &str) {
        self.session.send_line(typed).expect("typed");
    }

    /// Presses Ctrl-C.
    pub(crate) fn ctrl_c(&mut self) {
        self.session.send_control('c').expect("typed");
    }

    /// Waits for the end: the exit code, and what else was said.
    pub(crate) fn end(mut self) -> (i32, String) {
        let said = said(&self.session.exp_eof().expect("the end"));
        // The status is of a type of a crate that is not ours to name; it prints as `Exited(Pid(7), 130)`.
        let status = format!("{:?}", self.session.process().wait().expect("it ends"));
        let code = status.strip_prefix("Exited(").and_then(|rest| rest.trim_end_matches(')').rsplit(' ').next()?.parse().ok());
        (code.unwrap_or_else(|| panic!("it ended with {status}")), said)
    }
}

/// What was said, as text: it comes with one character a byte.
fn said(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text.chars().map(|byte| u8::try_from(byte).ok()).collect();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.to_owned())
}
