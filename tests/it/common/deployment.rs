//! A deployment in a directory store, built object by object as the platform's agents leave it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use carlosctl::demo::registry::{RouteSpec, busy_box, snapshot_bytes};
use carlosctl::platform::{Sidecar, Stamp};
use jiff::Timestamp;

/// A directory store in a temporary directory.
pub(crate) struct Deployment {
    directory: tempfile::TempDir,
}

/// An instant, from its text.
pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

/// A registry with this many realistic routes, all at `version`.
pub(crate) fn registry(routes: usize, version: &str) -> Vec<u8> {
    snapshot_bytes(&busy_box(routes, version)).expect("a registry")
}

/// A registry with these routes.
pub(crate) fn registry_of(routes: &[RouteSpec]) -> Vec<u8> {
    snapshot_bytes(routes).expect("a registry")
}

impl Deployment {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// Where the store is.
    pub(crate) fn dir(&self) -> PathBuf {
        let dir = self.directory.path().join("bucket");
        fs::create_dir_all(&dir).expect("a directory");
        dir
    }

    /// A place beside the store.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The file of a key.
    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.dir().join(key)
    }

    /// Writes one object, as if at `written`.
    pub(crate) fn put(&self, key: &str, body: &[u8], written: &str) {
        let path = self.file(key);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, body).expect("an object");
        let since_1970 = at(written).duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
        let modified = SystemTime::UNIX_EPOCH + since_1970;
        File::options().write(true).open(&path).expect("an object").set_modified(modified).expect("a time");
    }

    /// Removes one object.
    pub(crate) fn remove(&self, key: &str) {
        fs::remove_file(self.file(key)).expect("an object");
    }

    /// One whole pass of the agent at `when`: generation, current, sidecar, prune to 8 (seed `registrySnapshotPass`).
    pub(crate) fn pass(&self, label: &str, when: &str, body: &[u8]) {
        self.generation(label, when, body);
        self.put(&format!("control/registry-snapshot/{label}.db"), body, when);
        self.sidecar(label, when, body.len());
        let tail = self.dir().join(format!("control/registry-snapshots/{label}"));
        let mut names: Vec<PathBuf> =
            fs::read_dir(tail).expect("a tail").map(|entry| entry.expect("an entry").path()).collect();
        names.sort();
        while names.len() > 8 {
            fs::remove_file(names.remove(0)).expect("a generation");
        }
    }

    /// Only the generation of a pass at `when`.
    pub(crate) fn generation(&self, label: &str, when: &str, body: &[u8]) {
        self.put(&format!("control/registry-snapshots/{label}/{}.db", Stamp::at(at(when))), body, when);
    }

    /// Only the sidecar of a pass at `when`.
    pub(crate) fn sidecar(&self, label: &str, when: &str, bytes: usize) {
        let sidecar = Sidecar {
            label: label.to_owned(),
            fingerprint: "ab12".to_owned(),
            created_at: Some(at(when)),
            bytes: bytes as u64,
        };
        self.put(&format!("control/registry-snapshot/{label}.json"), &sidecar.to_json().expect("JSON"), when);
    }

    /// A box with eight generations of a growing registry, an hour apart, the last one at `last`.
    pub(crate) fn healthy_box(&self, label: &str, last: &str) {
        for back in (0..8).rev() {
            let when = at(last) - jiff::SignedDuration::from_hours(back);
            self.pass(label, &when.to_string(), &registry(200 - 2 * usize::try_from(back).expect("small"), "v5"));
        }
    }

    /// Every key of the store with its sha256, for "nothing changed".
    pub(crate) fn everything(&self) -> Vec<(String, Vec<u8>)> {
        fn walk(root: &Path, at: &Path, found: &mut Vec<(String, Vec<u8>)>) {
            for entry in fs::read_dir(at).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else {
                    let key = path.strip_prefix(root).expect("below").display().to_string();
                    found.push((key, fs::read(&path).expect("an object")));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.dir(), &self.dir(), &mut found);
        found.retain(|(key, _)| !key.starts_with(".carlosctl"));
        found.sort();
        found
    }
}
