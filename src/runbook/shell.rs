//! Runs one command of a runbook with `sh`, and hears what it says as it says it.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::mpsc;

use crate::cli::Global;

/// One line of what a command said.
#[derive(Debug)]
pub(super) enum Said {
    Out(String),
    Err(String),
}

/// A command that runs.
pub(super) struct Running {
    child: Child,
    /// Whether it has a process group of its own.
    grouped: bool,
    /// What it says; ends when nobody can say anything more.
    pub(super) said: mpsc::UnboundedReceiver<Said>,
}

/// The commands' `carlosctl` is this very program, with the settings that were typed for it.
pub(super) fn prelude(global: &Global) -> io::Result<OsString> {
    let mut line = OsString::from("carlosctl() { ");
    quote(&mut line, std::env::current_exe()?.as_os_str());
    for flag in typed(global) {
        line.push(" ");
        quote(&mut line, &flag);
    }
    line.push(" \"$@\"; }\n");
    Ok(line)
}

/// Starts `command` behind `prelude`. With `asks` it may talk to the operator itself: it keeps our standard input and
/// standard error, and hears the terminal's Ctrl-C as we do. Any other has a process group of its own, so that a Ctrl-C
/// reaches whatever `sh` started.
pub(super) fn start(prelude: &OsStr, command: &str, asks: bool) -> io::Result<Running> {
    let mut script = prelude.to_owned();
    script.push(command);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).stdout(Stdio::piped());
    if !asks {
        shell.stdin(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    }
    let mut child = shell.spawn()?;
    let (sender, said) = mpsc::unbounded_channel();
    if let Some(stdout) = child.stdout.take() {
        hear(stdout, Said::Out, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        hear(stderr, Said::Err, sender);
    }
    Ok(Running { child, grouped: !asks, said })
}

impl Running {
    /// Passes Ctrl-C on to a command that did not hear it.
    pub(super) fn interrupt(&self) {
        let group = i32::try_from(self.child.id()).ok().filter(|_| self.grouped).and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::INT);
        }
    }

    /// Waits for its end, after everything was heard.
    pub(super) fn end(mut self) -> io::Result<i32> {
        self.child.wait().map(code)
    }
}

/// As a shell tells it: 128 and the signal for one that was killed.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

fn hear(stream: impl Read + Send + 'static, said: fn(String) -> Said, sender: mpsc::UnboundedSender<Said>) {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line);
            if sender.send(said(text.trim_end_matches(['\r', '\n']).replace('\t', " "))).is_err() {
                break;
            }
            line.clear();
        }
    });
}

/// The settings that were typed, as they are typed.
fn typed(global: &Global) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut push = |flag: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            let mut whole = OsString::from(format!("--{flag}="));
            whole.push(value);
            flags.push(whole);
        }
    };
    let text = |value: &Option<String>| value.as_ref().map(OsString::from);
    push("bucket", text(&global.bucket).as_deref());
    push("dir", global.dir.as_deref().map(AsRef::as_ref));
    push("endpoint-url", text(&global.endpoint_url).as_deref());
    push("region", text(&global.region).as_deref());
    push("status-bucket", text(&global.status_bucket).as_deref());
    push("status-dir", global.status_dir.as_deref().map(AsRef::as_ref));
    push("status-prefix", text(&global.status_prefix).as_deref());
    push("this-box", text(&global.this_box).as_deref());
    push("registry", global.registry.as_deref().map(AsRef::as_ref));
    for unit in &global.agent_unit {
        push("agent-unit", Some(OsStr::new(unit)));
    }
    push("host-env", global.host_env.as_deref().map(AsRef::as_ref));
    push("concurrency", global.concurrency.map(|number| OsString::from(number.to_string())).as_deref());
    push("timeout", global.timeout.map(|limit| OsString::from(format!("{}ms", limit.as_millis()))).as_deref());
    flags
}

/// Quotes for `sh`, whatever is in it.
fn quote(line: &mut OsString, word: &OsStr) {
    line.push("'");
    for (number, part) in word.as_bytes().split(|byte| *byte == b'\'').enumerate() {
        if number > 0 {
            line.push("'\\''");
        }
        line.push(OsStr::from_bytes(part));
    }
    line.push("'");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_reaches_the_command_as_it_was_typed() {
        let mut line = OsString::from("printf '%s|' ");
        for word in ["a b", "it's", "$(reboot)", "", "\"x\""] {
            quote(&mut line, OsStr::new(word));
            line.push(" ");
        }
        let mut running = start(OsStr::new(""), line.to_str().expect("text"), false).expect("it starts");
        let Some(Said::Out(said)) = running.said.blocking_recv() else { panic!("it says something") };
        assert_eq!(said, "a b|it's|$(reboot)||\"x\"|");
        assert_eq!(running.end().expect("it ends"), 0);
    }

    #[test]
    fn ctrl_c_reaches_what_the_shell_started() {
        let running = start(OsStr::new(""), "trap 'exit 130' INT; sleep 60", false).expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(200));
        running.interrupt();
        assert_eq!(running.end().expect("it ends"), 130);
    }
}
