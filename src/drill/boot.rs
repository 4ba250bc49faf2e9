//! The operator's own command on the restored copy: something starts on it, or does not.
//!
//! It runs in a process group of its own, which is ended as a whole: when the command ends, when its time is up, and when the
//! drill is interrupted. It gets no credentials and no setting of the deployment, because what it starts may be the agent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::platform::Label;

/// What of the environment it gets.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"];
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much of what it said last is kept.
const SAID_BYTES: u64 = 400;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boot {
    /// Whether it ended with 0 in time.
    pub booted: bool,
    /// How it ended, and what it said last.
    pub because: String,
    /// How long it took.
    pub took: Duration,
}

/// Runs `command` by `sh -c` in `directory`, with `registry` in `CARLOS_DRILL_REGISTRY`.
pub async fn boot(command: &str, registry: &Path, label: &Label, limit: Duration, env: &BTreeMap<String, String>) -> Boot {
    let began = Instant::now();
    let ended = run(command, registry, label, limit, env).await;
    let took = began.elapsed();
    match ended {
        Ok((Some(status), _)) if status.success() => {
            Boot { booted: true, because: "the boot command ended with 0".to_owned(), took }
        }
        Ok((status, said)) => {
            let how = match status {
                None => format!("took longer than {} s and was killed", limit.as_secs_f64()),
                Some(status) => match (status.code(), status.signal()) {
                    (Some(code), _) => format!("ended with {code}"),
                    (None, signal) => format!("was ended by signal {}", signal.unwrap_or_default()),
                },
            };
            let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
            Boot { booted: false, because: format!("the boot command {how}{said}"), took }
        }
        Err(error) => Boot { booted: false, because: format!("the boot command did not start: {error}"), took },
    }
}

/// Its status, `None` when its time was up, and what it said last.
async fn run(
    command: &str,
    registry: &Path,
    label: &Label,
    limit: Duration,
    env: &BTreeMap<String, String>,
) -> io::Result<(Option<ExitStatus>, String)> {
    let directory = registry.parent().unwrap_or(Path::new("/"));
    let mut log = File::options().read(true).append(true).create_new(true).mode(0o600).open(directory.join("boot.log"))?;
    let given = ENVIRONMENT.iter().filter_map(|name| Some((*name, env.get(*name)?)));
    let mut group = Group::spawn(
        Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .envs(given)
            .env("CARLOS_DRILL_REGISTRY", registry)
            .env("CARLOS_DRILL_BOX", label.as_str())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?),
    )?;
    let deadline = Instant::now() + limit;
    while !group.leader_ended()? {
        if Instant::now() >= deadline {
            group.end();
            return Ok((None, last_words(&mut log)));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let status = group.end();
    Ok((status, last_words(&mut log)))
}

/// A process group, ended when dropped.
struct Group {
    leader: Child,
    ended: bool,
}

impl Group {
    fn spawn(command: &mut Command) -> io::Result<Self> {
        Ok(Self { leader: command.process_group(0).spawn()?, ended: false })
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.leader.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether its leader has ended. It is not reaped, so that its number stays the group's until the group is ended.
    fn leader_ended(&self) -> io::Result<bool> {
        let Some(pid) = self.pid() else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Ends every process of the group, and answers how its leader ended.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        self.leader.wait().ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// The end of what was said, on one line.
fn last_words(log: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = log
        .seek(SeekFrom::End(0))
        .and_then(|length| log.seek(SeekFrom::Start(length.saturating_sub(SAID_BYTES))))
        .and_then(|_| log.take(SAID_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if read.is_ok() { lines.join(" / ") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn booted(command: &str, limit_millis: u64) -> Boot {
        let directory = tempfile::tempdir().expect("a directory");
        let env = [("PATH", "/usr/bin:/bin"), ("AWS_SECRET_ACCESS_KEY", "canary"), ("CARLOS_DEPLOYMENT_BUCKET", "dep")];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let label = "edge-a1".parse().expect("a label");
        let registry = directory.path().join("registry.db");
        boot(command, &registry, &label, Duration::from_millis(limit_millis), &env).await
    }

    /// Waits until a process is gone, or a zombie that nobody has reaped yet: a signal that was sent is not yet an end.
    fn is_killed(pid_file: &Path) -> bool {
        let pid = std::fs::read_to_string(pid_file).expect("it started");
        (0..500).any(|_| {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            let ended = state.is_empty() || state.contains(") Z");
            if !ended {
                std::thread::sleep(LOOK_EVERY);
            }
            ended
        })
    }

    #[tokio::test]
    async fn it_has_booted_when_it_ends_with_0_in_time() {
        let boot = booted("test -n \"$CARLOS_DRILL_REGISTRY\" && test \"$CARLOS_DRILL_BOX\" = edge-a1", 20_000).await;
        assert!(boot.booted, "{boot:?}");
        let boot = booted("echo no such table; exit 7", 20_000).await;
        assert_eq!((boot.booted, boot.because.as_str()), (false, "the boot command ended with 7; it said: no such table"));
    }

    #[tokio::test]
    async fn neither_credentials_nor_settings_reach_it() {
        let boot = booted("env | grep -q -e AWS -e DEPLOYMENT && exit 1; exit 0", 20_000).await;
        assert!(boot.booted, "{boot:?}");
    }

    #[tokio::test]
    async fn when_its_time_is_up_it_is_killed_with_what_it_started() {
        let directory = tempfile::tempdir().expect("a directory");
        let child = directory.path().join("child");
        let boot =
            booted(&format!("sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600' & wait", child.display()), 3_000).await;
        assert!(!boot.booted && boot.because.contains("took longer than 3 s"), "{boot:?}");
        assert!(is_killed(&child));
    }

    #[tokio::test]
    async fn what_it_leaves_behind_is_killed_too() {
        let directory = tempfile::tempdir().expect("a directory");
        let child = directory.path().join("child");
        let boot = booted(&format!("sleep 600 & echo $! > {}", child.display()), 20_000).await;
        assert!(boot.booted, "{boot:?}");
        assert!(is_killed(&child));
    }
}
