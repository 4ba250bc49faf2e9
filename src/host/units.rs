//! What systemd says about the units that open the registry (formats.md section 8, contract section 1).
//!
//! `systemctl show` is asked for machine-readable properties, one unit a call, and never for its localized text. `is-active`
//! is not used: it fails alike for a unit that is stopped and for one that is about to start. A service that is stopped while
//! its socket listens is as good as running: the next connection starts it.
//!
//! No answer is never "stopped": whatever cannot be read becomes [`UnitsAnswer::unknown`], and the caller says so.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::finding::{Code, Finding};

/// The unit that runs our own box half. It is always asked about: whoever names the agent's units need not think of it.
pub const BOX_HALF: &str = "carlosctl-box.service";

/// How long all questions together may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// More than `systemctl show` of one unit ever says.
const OUTPUT_LIMIT_BYTES: u64 = 256 * 1024;

const PROPERTIES: &str =
    "--property=Id,LoadState,ActiveState,SubState,UnitFileState,TriggeredBy,Triggers,MainPID,ControlPID,Job";

/// What could be learned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnitsAnswer {
    /// The units that answered, in the order asked, each followed by what would start it.
    pub units: Vec<Unit>,
    /// Why not everything is known.
    pub unknown: Option<String>,
}

/// One unit's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The service that it would start, for a socket, timer or path unit.
    pub starts: Option<String>,
    /// `ActiveState` and `SubState` as systemd spells them.
    pub state: String,
    /// What follows from it.
    pub standing: Standing,
    /// Whether a reboot would start it.
    pub enabled: bool,
}

/// What a unit's state means for a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Stopped, and nothing is queued.
    Stopped,
    /// Masked: it cannot be started.
    Masked,
    /// There is no such unit on this machine.
    NotFound,
    /// It runs, changes its state, or stands ready to start something: a restore must not go on.
    Stops,
}

/// Asks the `systemctl` on `path_env` about `names` and whatever triggers them. Takes five seconds at most.
#[must_use]
pub fn ask(path_env: Option<&str>, names: &[String]) -> UnitsAnswer {
    ask_within(path_env, names, TIME_LIMIT)
}

fn ask_within(path_env: Option<&str>, names: &[String], limit: Duration) -> UnitsAnswer {
    let mut answer = UnitsAnswer::default();
    let Some(systemctl) = find_on_path(path_env) else {
        answer.unknown = Some("there is no systemctl on PATH".to_owned());
        return answer;
    };
    let ask = Ask { systemctl, path_env: path_env.unwrap_or_default(), deadline: Instant::now() + limit };
    // At once: each question is a process of its own, and a restore asks them twice.
    let answers: Vec<(Vec<Unit>, Result<(), String>)> = std::thread::scope(|scope| {
        let asked: Vec<_> = names.iter().map(|name| scope.spawn(|| ask.unit_and_triggers(name))).collect();
        let lost = |_| (Vec::new(), Err("the question was lost".to_owned()));
        asked.into_iter().map(|asked| asked.join().unwrap_or_else(lost)).collect()
    });
    for (units, result) in answers {
        answer.units.extend(units);
        if let Err(because) = result {
            // The others are still asked: one that runs stops the restore, whatever is not known of this one.
            answer.unknown.get_or_insert(because);
        }
    }
    answer
}

/// What the answer means, in findings: units that stop a restore block, the rest is noted.
#[must_use]
pub fn findings(answer: &UnitsAnswer) -> Vec<Finding> {
    let mut findings: Vec<Finding> = answer.units.iter().filter_map(unit_finding).collect();
    if let Some(because) = &answer.unknown {
        let because = format!("systemd could not be asked: {because}; open files and locks were looked at instead");
        findings.push(
            Finding::warning(Code::UnitsUnknown, "systemctl", because)
                .hint("make sure by hand that nothing starts the agent until the restore is proved"),
        );
    }
    findings
}

fn unit_finding(unit: &Unit) -> Option<Finding> {
    let name = &unit.name;
    match unit.standing {
        Standing::Stops => {
            let because = match &unit.starts {
                None => format!("the unit is {}", unit.state),
                Some(service) => format!("the unit is {} and would start {service}", unit.state),
            };
            let hint = mask(name);
            Some(Finding::blocking(Code::AgentActive, name, because).hint(hint))
        }
        Standing::Stopped if unit.enabled => {
            let because = format!("the unit is {} and enabled: a reboot would start it", unit.state);
            Some(Finding::note(Code::UnitEnabled, name, because).hint(mask(name)))
        }
        Standing::Stopped | Standing::Masked | Standing::NotFound => None,
    }
}

/// A runtime mask is not advised: a unit file in `/etc` hides it, and `systemctl unmask` without `--runtime` leaves it.
fn mask(name: &str) -> String {
    format!("systemctl mask --now {name} || systemctl disable --now {name}")
}

struct Ask<'a> {
    systemctl: PathBuf,
    path_env: &'a str,
    deadline: Instant,
}

impl Ask<'_> {
    /// A unit and what would start it, as far as they could be asked, and why not further.
    fn unit_and_triggers(&self, name: &str) -> (Vec<Unit>, Result<(), String>) {
        let mut units = Vec::new();
        let result = self.add_unit_and_triggers(name, &mut units);
        (units, result)
    }

    fn add_unit_and_triggers(&self, name: &str, units: &mut Vec<Unit>) -> Result<(), String> {
        let service = full_name(name)?;
        let properties = self.show(&service)?;
        let mut triggers: Vec<String> = words(&properties, "TriggeredBy").map(str::to_owned).collect();
        units.push(judge(&service, None, &properties));
        // Asked for even when it is not named as a trigger: an older systemd lists only loaded ones.
        if let Some(stem) = service.strip_suffix(".service") {
            let socket = format!("{stem}.socket");
            if !triggers.contains(&socket) {
                triggers.push(socket);
            }
        }
        for trigger in triggers {
            let properties = self.show(&trigger)?;
            let starts: Vec<&str> = words(&properties, "Triggers").collect();
            if starts.is_empty() || starts.contains(&service.as_str()) {
                units.push(judge(&trigger, Some(&service), &properties));
            }
        }
        Ok(())
    }

    fn show(&self, unit: &str) -> Result<BTreeMap<String, String>, String> {
        let mut command = Command::new(&self.systemctl);
        command.args(["show", "--no-pager", PROPERTIES, unit]);
        command.env_clear().env("PATH", self.path_env).env("LC_ALL", "C").env("SYSTEMD_COLORS", "0");
        // A group of its own, so that a hanging script is ended together with what it started.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.systemctl.display()))?;
        let stdout = read_aside(child.stdout.take());
        let stderr = read_aside(child.stderr.take());
        let ended = self.wait(&mut child, &stdout, &stderr);
        if ended.is_none() {
            end(&mut child);
        }
        let (success, stdout, stderr) =
            ended.ok_or_else(|| format!("systemctl show {unit} did not answer within {} s", TIME_LIMIT.as_secs()))?;
        let properties = properties(&stdout);
        let state = properties.get("ActiveState").map_or("", String::as_str);
        // An answer that stops us is believed whatever the exit status; one that would let us go on only with status 0.
        if state.is_empty() || (!success && matches!(state, "inactive" | "failed")) {
            let said = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("no ActiveState in its answer");
            return Err(format!("systemctl show {unit}: {}", said.trim()));
        }
        Ok(properties)
    }

    fn wait(
        &self,
        child: &mut Child,
        stdout: &mpsc::Receiver<String>,
        stderr: &mpsc::Receiver<String>,
    ) -> Option<(bool, String, String)> {
        let left = || self.deadline.saturating_duration_since(Instant::now());
        let stdout = stdout.recv_timeout(left()).ok()?;
        let stderr = stderr.recv_timeout(left()).ok()?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Some((status.success(), stdout, stderr)),
                Ok(None) if !left().is_zero() => std::thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }
}

fn judge(name: &str, starts: Option<&str>, properties: &BTreeMap<String, String>) -> Unit {
    let get = |property: &str| properties.get(property).map_or("", String::as_str);
    let (active, sub) = (get("ActiveState"), get("SubState"));
    let is_set = |property: &str| !matches!(get(property), "" | "0");
    let mut state = if sub.is_empty() { active.to_owned() } else { format!("{active} ({sub})") };
    // Anything but the two quiet states stops, also words that a newer systemd may add.
    let quiet = matches!(active, "inactive" | "failed") && !sub.contains("auto-restart");
    let queued = is_set("Job");
    let process = is_set("MainPID") || is_set("ControlPID");
    if quiet && queued {
        state.push_str(", with a job queued");
    }
    if quiet && process {
        state.push_str(", with a process");
    }
    let standing = match get("LoadState") {
        _ if !quiet || queued || process => Standing::Stops,
        "not-found" => Standing::NotFound,
        "masked" => Standing::Masked,
        _ => Standing::Stopped,
    };
    let enabled = matches!(get("UnitFileState"), "enabled" | "enabled-runtime");
    Unit { name: name.to_owned(), starts: starts.map(str::to_owned), state, standing, enabled }
}

/// A unit's full name, as systemctl completes it. A pattern or an option is no unit name.
fn full_name(name: &str) -> Result<String, String> {
    const TYPES: [&str; 4] = [".service", ".socket", ".timer", ".path"];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@' | b':' | b'\\');
    if name.is_empty() || name.starts_with('-') || !name.bytes().all(plain) {
        return Err(format!("{name:?} is not the name of a unit"));
    }
    let typed = TYPES.iter().any(|kind| name.ends_with(kind));
    Ok(if typed { name.to_owned() } else { format!("{name}.service") })
}

fn properties(text: &str) -> BTreeMap<String, String> {
    text.lines().filter_map(|line| line.split_once('=')).map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect()
}

fn words<'p>(properties: &'p BTreeMap<String, String>, property: &str) -> impl Iterator<Item = &'p str> {
    properties.get(property).map_or("", String::as_str).split_whitespace()
}

/// Relative entries of PATH are passed over: this runs as root, in whatever directory the operator happens to be.
fn find_on_path(path_env: Option<&str>) -> Option<PathBuf> {
    std::env::split_paths(path_env?)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("systemctl"))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Reads a stream to its end on a thread of its own, which is left behind when the stream never ends.
fn read_aside(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            let _ = stream.take(OUTPUT_LIMIT_BYTES).read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// Ends the group of a child that took too long.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests;
