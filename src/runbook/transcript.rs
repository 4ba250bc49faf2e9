//! What was done, for the next morning and for `--resume`: one private file, written line by line as things happen.
//!
//! ```text
//! carlosctl runbook transcript 1
//! runbook dr-cold-standby 4f1c…          its name, and a digest of its text
//! machine standby-7
//! setting --host-env=/srv/host.env
//! value DEAD=edge-a1
//! skipped 0.1: a container, there is no systemd
//! step 2.1 at 2026-11-30T18:01:50Z
//! $ carlosctl snapshot verify --box edge-a1
//! | box edge-a1: good
//! exit 0 as the runbook says
//! ```
//!
//! What a command says always stands behind `| `, and what differs in it behind `! `, so no output can pass for a record.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::private;
use crate::snapshot::disk;

use super::expect::{Difference, Values, is_safe};

const FIRST_LINE: &str = "carlosctl runbook transcript 1";
const AS_IT_SHOULD: &str = " as the runbook says";
/// The settings behind it are instead of those before it.
pub(super) const OTHER_SETTINGS: &str = "other settings";

/// An open transcript. Nobody else writes it meanwhile.
#[derive(Debug)]
pub struct Transcript {
    file: File,
    path: PathBuf,
}

/// What an earlier run recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Earlier {
    /// The runbook's name.
    pub runbook: String,
    /// The digest of its text.
    pub digest: String,
    /// The machine on which it was walked.
    pub machine: String,
    /// The settings that were typed, a flag each.
    pub settings: Vec<String>,
    /// What was filled in.
    pub values: Values,
    /// The commands that are not run again.
    pub behind: Behind,
}

/// The commands that are behind a walk, by their names such as `2.1`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Behind {
    /// Those that did as the runbook says.
    pub done: BTreeSet<String>,
    /// Those before the step at which `--from` began.
    pub passed_over: BTreeSet<String>,
    /// Those that the operator skipped.
    pub skipped: BTreeSet<String>,
}

impl Behind {
    /// Whether a command is one of them.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.done.contains(id) || self.passed_over.contains(id) || self.skipped.contains(id)
    }

    /// Forgets what was run or skipped; it is before the walk again.
    pub fn again(&mut self, id: &str) {
        self.done.remove(id);
        self.skipped.remove(id);
    }
}

impl Transcript {
    /// A new one, mode 0600.
    ///
    /// # Errors
    /// Refused when the file exists; else the disk's.
    pub fn create(path: &Path) -> Result<Self, CommandError> {
        let file = private::create_file(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                CommandError::new(Exit::Refused, format!("{}: exists; nothing was run", path.display()))
                    .hint("name another with --transcript, or go on where it ends with --resume")
            }
            _ => disk(path, &error),
        })?;
        let mut transcript = Self { file, path: path.to_owned() };
        transcript.lock()?;
        transcript.record(FIRST_LINE)?;
        Ok(transcript)
    }

    /// One that is there, to go on behind its end.
    ///
    /// # Errors
    /// The disk's; locked while another run writes it; refused when it is none.
    pub fn resume(path: &Path) -> Result<(Self, Earlier), CommandError> {
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(|error| disk(path, &error))?;
        let mut transcript = Self { file, path: path.to_owned() };
        transcript.lock()?;
        let mut text = String::new();
        transcript.file.read_to_string(&mut text).map_err(|error| disk(path, &error))?;
        let earlier = Earlier::read(&text).ok_or_else(|| {
            CommandError::new(Exit::Refused, format!("{}: not a transcript of a runbook; nothing was run", path.display()))
        })?;
        // A run that was killed may have left half a line.
        if !text.ends_with('\n') {
            transcript.record("")?;
        }
        Ok((transcript, earlier))
    }

    fn lock(&self) -> Result<(), CommandError> {
        match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                Err(CommandError::new(Exit::Locked, format!("{}: another run writes it; nothing was run", self.path.display())))
            }
            Err(TryLockError::Error(error)) => Err(disk(&self.path, &error)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one line.
    ///
    /// # Errors
    /// The disk's. What cannot be recorded must not be done.
    pub fn record(&mut self, line: &str) -> Result<(), CommandError> {
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|error| disk(&self.path, &error))
    }

    /// Writes what a command said.
    ///
    /// # Errors
    /// The disk's.
    pub fn said(&mut self, line: &str) -> Result<(), CommandError> {
        self.record(&format!("| {line}"))
    }

    /// Writes how a command ended.
    ///
    /// # Errors
    /// The disk's.
    pub fn ended(&mut self, code: i32, expected: u8, differs: Option<&Difference>) -> Result<(), CommandError> {
        match differs {
            _ if code != i32::from(expected) => self.record(&format!("exit {code}: the runbook says {expected}"))?,
            Some(differs) => self.record(&format!("exit {code}: the runbook shows another output\n! {differs}"))?,
            None => self.record(&format!("exit {code}{AS_IT_SHOULD}"))?,
        }
        self.file.sync_data().map_err(|error| disk(&self.path, &error))
    }
}

impl Earlier {
    /// Reads a transcript; `None` when it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut earlier = Self::default();
        let mut step = None;
        for line in lines {
            if let Some((name, digest)) = line.strip_prefix("runbook ").and_then(|rest| rest.split_once(' ')) {
                (earlier.runbook, earlier.digest) = (name.to_owned(), digest.to_owned());
            } else if let Some(machine) = line.strip_prefix("machine ") {
                machine.clone_into(&mut earlier.machine);
            } else if let Some((name, value)) = line.strip_prefix("value ").and_then(|rest| rest.split_once('=')) {
                // The file may have been edited; what goes into a command is looked at again.
                if !value.is_empty() && !is_safe(value) {
                    return None;
                }
                earlier.values.insert(name.to_owned(), value.to_owned());
            } else if let Some(name) = line.strip_prefix("forgot ") {
                earlier.values.remove(name);
            } else if line == OTHER_SETTINGS {
                earlier.settings.clear();
            } else if let Some(flag) = line.strip_prefix("setting ") {
                earlier.settings.push(flag.to_owned());
            } else if let Some(id) = line.strip_prefix("passed over ") {
                earlier.behind.passed_over.insert(id.to_owned());
            } else if let Some((id, _)) = line.strip_prefix("skipped ").and_then(|rest| rest.split_once(": ")) {
                earlier.behind.skipped.insert(id.to_owned());
            } else if let Some(id) = line.strip_prefix("again ") {
                earlier.behind.again(id);
            } else if let Some((id, _)) = line.strip_prefix("step ").and_then(|rest| rest.split_once(" at ")) {
                step = Some(id.to_owned());
            } else if line.starts_with("exit ") && line.ends_with(AS_IT_SHOULD) {
                earlier.behind.done.extend(step.take());
            }
        }
        (!earlier.runbook.is_empty() && !earlier.digest.is_empty() && !earlier.machine.is_empty()).then_some(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_recorded_is_read_again_and_output_cannot_pass_for_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("t");
        let mut transcript = Transcript::create(&path).expect("a transcript");
        for line in ["runbook x 12ab", "machine vm", "value DEAD=edge-a1", "passed over 1.1", "step 2.1 at T", "$ a"] {
            transcript.record(line).expect("recorded");
        }
        transcript.said("step 9.9 at T").expect("recorded");
        transcript.said("exit 0 as the runbook says").expect("recorded");
        transcript.ended(0, 0, None).expect("recorded");
        transcript.record("step 2.2 at T").expect("recorded");
        transcript.ended(5, 0, None).expect("recorded");
        let differs = Difference { expected: None, printed: Some("exit 0 as the runbook says".to_owned()) };
        transcript.record("step 2.3 at T").expect("recorded");
        transcript.ended(0, 0, Some(&differs)).expect("recorded");
        for line in [
            "setting --dir=/w",
            OTHER_SETTINGS,
            "setting --dir=/x",
            "skipped 2.4: no such unit",
            "skipped 2.5: y",
            "again 2.5",
            "value B=c",
            "forgot B",
        ] {
            transcript.record(line).expect("recorded");
        }
        assert_eq!(Transcript::resume(&path).expect_err("it is being written").exit, Exit::Locked);
        drop(transcript);
        let (_, earlier) = Transcript::resume(&path).expect("a transcript");
        assert_eq!((earlier.runbook.as_str(), earlier.digest.as_str(), earlier.machine.as_str()), ("x", "12ab", "vm"));
        let set = |id: &str| BTreeSet::from([id.to_owned()]);
        assert_eq!(earlier.behind, Behind { done: set("2.1"), passed_over: set("1.1"), skipped: set("2.4") });
        assert_eq!((earlier.settings, earlier.values.len()), (vec!["--dir=/x".to_owned()], 1));
        assert_eq!(std::fs::metadata(&path).expect("facts").permissions().mode() & 0o777, 0o600);
        assert_eq!(Transcript::create(&path).expect_err("it exists").exit, Exit::Refused);
    }

    #[test]
    fn another_file_or_an_unsafe_value_is_no_transcript() {
        assert_eq!(Earlier::read("hello\n"), None);
        assert_eq!(Earlier::read(&format!("{FIRST_LINE}\nrunbook x 1\nmachine vm\nvalue A=$(reboot)\n")), None);
        assert!(Earlier::read(&format!("{FIRST_LINE}\nrunbook x 1\nmachine vm\nvalue A=b\n")).is_some());
    }
}
