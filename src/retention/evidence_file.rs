//! Evidence in a file: written app by app as it is gathered, and read back to decide again, byte for byte, without any store.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::evidence::{AppEvidence, Evidence, FleetEvidence};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::private;
use crate::snapshot::disk;

/// An evidence file being written. What is not ended is not JSON, and does not read.
pub(crate) struct EvidenceFile {
    path: PathBuf,
    file: BufWriter<File>,
    is_first: bool,
    unfinished: Unfinished,
}

impl EvidenceFile {
    /// Begins a file that must not exist, mode 0600.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn create(path: &Path, fleet: &FleetEvidence) -> Result<Self, CommandError> {
        let file = create_private(path)?;
        let mut file = Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            is_first: true,
            unfinished: Unfinished(Some(path.to_owned())),
        };
        let head = json(fleet)?;
        // The apps are one more member of the same object.
        let head = head.strip_suffix('}').unwrap_or(&head);
        file.write(&format!("{head},\"apps\":["))?;
        Ok(file)
    }

    /// Adds one app.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn app(&mut self, app: &AppEvidence) -> Result<(), CommandError> {
        let comma = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        let app = json(app)?;
        self.write(&format!("{comma}{app}"))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn end(mut self) -> Result<(), CommandError> {
        self.write("]}\n")?;
        self.file.flush().and_then(|()| self.file.get_ref().sync_all()).map_err(|error| disk(&self.path, &error))?;
        self.unfinished.keep();
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), CommandError> {
        self.file.write_all(text.as_bytes()).map_err(|error| disk(&self.path, &error))
    }
}

/// Reads evidence back.
///
/// # Errors
/// Not found (exit 10); usage for a file that is no evidence.
pub(crate) fn read(path: &Path) -> Result<Evidence, CommandError> {
    let text = std::fs::read(path).map_err(|error| disk(path, &error))?;
    serde_json::from_slice(&text)
        .map_err(|error| CommandError::usage(format!("{}: not evidence of a retention decision: {error}", path.display())))
}

/// A new file that only its owner can read.
///
/// # Errors
/// Usage where it exists; the local disk's.
pub(crate) fn create_private(path: &Path) -> Result<File, CommandError> {
    private::create_file(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::usage(format!("{} exists; it is never overwritten", path.display())).hint("name another file")
        }
        _ => disk(path, &error),
    })
}

/// A file that was just made, and is removed again unless it comes to its end: half of it would look like all.
#[derive(Debug)]
pub(crate) struct Unfinished(pub(crate) Option<PathBuf>);

impl Unfinished {
    /// It is whole.
    pub(crate) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Where it cannot be removed it lacks its end, and is refused by whoever reads it.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A value as one line of JSON.
///
/// # Errors
/// Only for a value that cannot be written as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<String, CommandError> {
    serde_json::to_string(value).map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))
}
