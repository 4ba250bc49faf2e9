//! Manifests that an earlier look has read, kept on this machine.
//!
//! A release is never written twice, so its manifest need not be read twice: what the listing shows with the same etag, size
//! and time is what was read then. Only looks believe what is kept: a run reads everything itself, and a plan that was made
//! with it is compared with what a run reads. Nothing here is ever an error; what cannot be kept is read again.
//!
//! One file an app, below the user's cache directory: the SHA-256 of what follows, and one JSON document. A file that is not
//! this user's own, or that others may write or read, or that is of another store, app or content than it says, is not there.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::host::private;
use crate::platform::hex;
use crate::retention::app_name::AppName;
use crate::store::{Object, ObjectMeta};

/// The document's own name and version.
const SCHEMA: &str = "carlosctl.manifest-cache/1";
/// The largest manifest that is kept, and the largest file that is believed.
const BODY_LIMIT_BYTES: usize = 64 * 1024;
const FILE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// Where the manifests of one store are kept.
#[derive(Debug, Clone)]
pub(crate) struct Manifests {
    directory: PathBuf,
    store: String,
}

/// The manifests of one app, by version.
pub(crate) type Kept = BTreeMap<String, Entry>;

/// One manifest, and the object that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    etag: String,
    bytes: u64,
    last_modified: Timestamp,
    body: String,
}

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    store: String,
    account: String,
    app: String,
    manifests: Kept,
}

impl Entry {
    /// What was read, where it is the object that was listed.
    pub(crate) fn new(listed: &ObjectMeta, read: &Object) -> Option<Self> {
        if read.meta.etag != listed.etag || read.meta.bytes != listed.bytes || read.body.len() > BODY_LIMIT_BYTES {
            return None;
        }
        let body = std::str::from_utf8(&read.body).ok()?.to_owned();
        Some(Self { etag: listed.etag.clone(), bytes: listed.bytes, last_modified: listed.last_modified, body })
    }

    /// The object that is listed, as it was read.
    pub(crate) fn of(&self, listed: &ObjectMeta) -> Option<Object> {
        let is_it = self.etag == listed.etag && self.bytes == listed.bytes && self.last_modified == listed.last_modified;
        is_it.then(|| Object { meta: listed.clone(), body: self.body.clone().into() })
    }
}

impl Manifests {
    /// The manifests of `store`; `None` where the environment names no place to keep them.
    pub(crate) fn of(env: &BTreeMap<String, String>, store: String) -> Option<Self> {
        let named = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
        Some(Self { directory: cache.join("carlosctl/manifests"), store })
    }

    /// What was kept of an app.
    pub(crate) fn read(&self, name: &AppName) -> Kept {
        self.document(name).map(|document| document.manifests).unwrap_or_default()
    }

    fn document(&self, name: &AppName) -> Option<Document> {
        let file = private::open_own(&self.file(name)).ok()?;
        let facts = file.metadata().ok()?;
        if facts.uid() != rustix::process::geteuid().as_raw() || facts.mode() & 0o077 != 0 || facts.len() > FILE_LIMIT_BYTES {
            return None;
        }
        let mut text = Vec::new();
        file.take(FILE_LIMIT_BYTES).read_to_end(&mut text).ok()?;
        let (digest, document) = text.split_at_checked(64)?;
        let document = document.strip_prefix(b"\n")?;
        if hex(&Sha256::digest(document)).as_bytes() != digest {
            return None;
        }
        let document: Document = serde_json::from_slice(document).ok()?;
        let is_it = document.schema == SCHEMA
            && document.store == self.store
            && (&document.account, &document.app) == (&name.account, &name.app);
        is_it.then_some(document)
    }

    /// Keeps the manifests of an app, and nothing else of it.
    pub(crate) fn write(&self, name: &AppName, manifests: Kept) {
        let document = Document {
            schema: SCHEMA.to_owned(),
            store: self.store.clone(),
            account: name.account.clone(),
            app: name.app.clone(),
            manifests,
        };
        let Ok(document) = serde_json::to_vec(&document) else { return };
        // The next look reads what could not be kept.
        let _ = self.put(&self.file(name), &document);
    }

    fn put(&self, path: &Path, document: &[u8]) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let mut staged = tempfile::Builder::new().prefix(".carlosctl-").tempfile_in(&self.directory)?;
        writeln!(staged, "{}", hex(&Sha256::digest(document)))?;
        staged.write_all(document)?;
        staged.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    fn file(&self, name: &AppName) -> PathBuf {
        let mut hash = Sha256::new();
        for part in [&self.store, &name.account, &name.app] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        self.directory.join(hex(&hash.finalize()))
    }
}
