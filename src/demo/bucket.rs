//! The demo's store: files that look as if they had been written at their time.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

/// A directory of our own, and those that it is in as far as they are missing.
pub(super) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A directory store being filled.
pub(super) struct Bucket {
    root: PathBuf,
}

impl Bucket {
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        directory(root)?;
        Ok(Self { root: root.to_owned() })
    }

    /// Writes one object, as if at `written`.
    pub(super) fn put(&self, key: &str, body: &[u8], written: Timestamp) -> io::Result<()> {
        let path = self.root.join(key);
        if let Some(parent) = path.parent() {
            directory(parent)?;
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(body)?;
        let since_1970 = written.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
        file.set_modified(SystemTime::UNIX_EPOCH + since_1970)
    }

    /// Writes one JSON document, as if at `written`.
    pub(super) fn document(&self, key: &str, document: &serde_json::Value, written: Timestamp) -> io::Result<()> {
        self.put(key, document.to_string().as_bytes(), written)
    }
}
