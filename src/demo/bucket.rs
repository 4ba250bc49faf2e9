//! The demo's store: files that look as if they had been written at their time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

/// A directory store being filled.
pub(super) struct Bucket {
    root: PathBuf,
}

impl Bucket {
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        Ok(Self { root: root.to_owned() })
    }

    /// Writes one object, as if at `written`.
    pub(super) fn put(&self, key: &str, body: &[u8], written: Timestamp) -> io::Result<()> {
        let path = self.root.join(key);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, body)?;
        let since_1970 = written.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
        File::options().write(true).open(&path)?.set_modified(SystemTime::UNIX_EPOCH + since_1970)
    }

    /// Writes one JSON document, as if at `written`.
    pub(super) fn document(&self, key: &str, document: &serde_json::Value, written: Timestamp) -> io::Result<()> {
        self.put(key, document.to_string().as_bytes(), written)
    }
}
