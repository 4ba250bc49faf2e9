//! Runs one command of a runbook with `sh`, and hears what it says as it says it.
//!
//! Standard output and standard error of a command go the same way, so that what it says is heard in the order in which it
//! was said: through one pipe, or where it asks the operator itself through a terminal of its own, as wide as ours.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use tokio::sync::mpsc;

use super::screen::Screen;
use crate::cli::Global;
use crate::flags::{quote, typed};

/// What a command said.
#[derive(Debug)]
pub(super) enum Said {
    /// A whole line.
    Line(String),
    /// What a command that asks writes to its terminal, which is to be seen at once.
    Shown(Vec<u8>),
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

/// Starts `command` behind `prelude`. With `asks` it may talk to the operator itself: it keeps our standard input, and hears
/// the terminal's Ctrl-C as we do. Any other has a process group of its own, so that a Ctrl-C reaches whatever `sh` started.
pub(super) fn start(prelude: &OsStr, command: &str, asks: bool) -> io::Result<Running> {
    let mut script = prelude.to_owned();
    script.push(command);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script);
    let (sender, said) = mpsc::unbounded_channel();
    let child = if asks {
        let (ours, theirs) = terminal()?;
        let child = shell.stdout(theirs.try_clone()?).stderr(theirs).spawn()?;
        hear(ours, true, sender);
        child
    } else {
        let (ours, theirs) = io::pipe()?;
        shell.stdin(Stdio::null()).stdout(theirs.try_clone()?).stderr(theirs).process_group(0);
        let child = shell.spawn()?;
        hear(ours, false, sender);
        child
    };
    // The shell's builder has the other ends; while it lives, nothing that is heard ends.
    drop(shell);
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

/// A terminal, our end and theirs. It passes everything on as it is; what has to be done to it, our own terminal does.
fn terminal() -> io::Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut modes = tcgetattr(&theirs)?;
    modes.make_raw();
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    if let Ok(size) = tcgetwinsize(io::stderr()) {
        tcsetwinsize(&theirs, size)?;
    }
    Ok((ours.into(), theirs))
}

/// Hears what is written to the end. With `shown` every piece is passed on as it comes, too: a question has no line end.
fn hear(mut stream: impl Read + Send + 'static, shown: bool, sender: mpsc::UnboundedSender<Said>) {
    std::thread::spawn(move || {
        let mut screen = Screen::default();
        let mut piece = [0; 4096];
        loop {
            // A terminal ends with an error when the last of its users is gone.
            let read = match stream.read(&mut piece) {
                Ok(read) if read > 0 => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                _ => break,
            };
            if shown {
                let _ = sender.send(Said::Shown(piece[..read].to_vec()));
            }
            for line in screen.write(&piece[..read]) {
                let _ = sender.send(Said::Line(line));
            }
        }
        if let Some(line) = screen.rest() {
            let _ = sender.send(Said::Line(line));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(running: &mut Running) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(said) = running.said.blocking_recv() {
            if let Said::Line(line) = said {
                lines.push(line);
            }
        }
        lines
    }

    #[test]
    fn what_was_typed_reaches_the_command_as_it_was_typed() {
        let mut line = OsString::from("printf '%s|' ");
        for word in ["a b", "it's", "$(reboot)", "", "\"x\""] {
            quote(&mut line, OsStr::new(word));
            line.push(" ");
        }
        let mut running = start(OsStr::new(""), line.to_str().expect("text"), false).expect("it starts");
        assert_eq!(lines(&mut running), ["a b|it's|$(reboot)||\"x\"|"]);
        assert_eq!(running.end().expect("it ends"), 0);
    }

    #[test]
    fn both_streams_are_heard_in_the_order_in_which_they_were_written() {
        let command = "for n in $(seq 50); do echo out $n; echo err $n >&2; done; test -t 2; exit $?";
        let expected: Vec<String> = (1..=50).flat_map(|n| [format!("out {n}"), format!("err {n}")]).collect();
        for (asks, code) in [(false, 1), (true, 0)] {
            let mut running = start(OsStr::new(""), command, asks).expect("it starts");
            assert_eq!(lines(&mut running), expected, "{asks}");
            assert_eq!(running.end().expect("it ends"), code, "only one that asks has a terminal");
        }
    }

    #[test]
    fn ctrl_c_reaches_what_the_shell_started() {
        let mut running = start(OsStr::new(""), "trap 'exit 130' INT; echo ready; sleep 60", false).expect("it starts");
        assert!(matches!(running.said.blocking_recv(), Some(Said::Line(line)) if line == "ready"));
        running.interrupt();
        assert_eq!(running.end().expect("it ends"), 130);
    }
}
