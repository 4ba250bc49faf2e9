//! A flat space of keys: the bucket, or a directory that stands for it (formats.md section 2).
//!
//! Two traits. A command that looks is given a [`ReadStore`], on which there is no way to change anything: it is the
//! compiler that keeps previews from deleting. [`WriteStore`] is handed only to the rooms that apply a plan.
//! Absent on purpose: retries of conditional writes inside an adapter (a lost answer must be read back by the caller,
//! see `publish`), and any trust in the order of a listing.

mod digest;
mod directory;
mod error;
mod expiry;
mod faulty;
mod key;
mod memory;
mod prefixed;
mod probe;
mod publish;
mod s3;
mod tally;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use digest::digest_of;
pub use directory::DirectoryStore;
pub use error::StoreError;
pub use expiry::{Expiry, ExpiryRule};
pub use faulty::{Effect, Fault, FaultyStore, Operation};
pub use memory::MemoryStore;
pub use prefixed::Prefixed;
pub use probe::{Capabilities, Capability, probe, probe_for};
pub use publish::{Published, copy, create, replace};
pub use s3::{Endpoint, S3Settings, S3Store, without_password};
pub use tally::Tally;

/// Facts about one object, as a listing or a read gives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectMeta {
    /// The whole key, as stored.
    pub key: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The store's tag of exactly this content, without quotes; opaque, never an MD5.
    pub etag: String,
    /// When the store says it was written.
    pub last_modified: Timestamp,
    /// The version, where one was asked for: from a listing of versions, or of an object opened by its version. Absent
    /// otherwise, also where the store names one, so that an object seen twice is equal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version_id: Option<String>,
}

/// One entry of a listing of versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectVersion {
    /// The version's facts; a delete marker has zero bytes and an empty etag.
    pub object: ObjectMeta,
    /// Whether this is what an ordinary read sees.
    pub is_latest: bool,
    /// Whether this entry is a deletion.
    pub is_delete_marker: bool,
}

/// A whole small object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its facts, as of this read.
    pub meta: ObjectMeta,
    /// Its content.
    pub body: Bytes,
}

/// A large object being read: facts first, then chunks until `None`.
///
/// Reaching `None` is a promise that `meta.bytes` bytes were delivered; a short body is an error.
pub struct ObjectReader {
    /// Its facts, as of this read.
    pub meta: ObjectMeta,
    /// Its content, in order.
    pub chunks: Box<dyn Chunks>,
}

/// The content of an [`ObjectReader`].
#[async_trait]
pub trait Chunks: Send {
    /// The next piece, or `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError>;

    /// As [`next`](Self::next), for whoever can take pieces in any order: where one begins, and its bytes. `so_far` is how
    /// many bytes were taken. One reader is asked in one of the two ways, not in both.
    async fn next_anywhere(&mut self, so_far: u64) -> Result<Option<(u64, Bytes)>, StoreError> {
        Ok(self.next().await?.map(|chunk| (so_far, chunk)))
    }
}

/// What is uploaded: from memory when small, from a file when it may not be.
#[derive(Debug, Clone)]
pub enum Body {
    /// The content itself.
    Bytes(Bytes),
    /// A file that does not change until the upload has ended; read as it is sent.
    File(std::path::PathBuf),
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

/// Under which condition an object is written. There is no unconditional write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// Only where nothing is (`If-None-Match: *`).
    Create,
    /// Only over exactly this etag (`If-Match`).
    Replace(String),
}

/// What an identity may do below a prefix, besides reading and creating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Powers {
    /// Overwrite an object.
    pub overwrite: bool,
    /// Delete an object; where versions are kept, hide it.
    pub delete: bool,
    /// Delete a version for good, where versions are kept.
    pub delete_versions: Option<bool>,
}

/// Reading. Everything here leaves the store as it was.
///
/// Errors of all methods: [`StoreError`], by meaning. A missing object is `NotFound`, never an empty answer.
#[async_trait]
pub trait ReadStore: Send + Sync {
    /// For people: `s3://dep at http://…` or `directory /path`.
    fn describe(&self) -> String;

    /// The name that an operator types to consent to a deletion: the bucket, or the directory's own name.
    fn name(&self) -> String;

    /// Every object below `prefix` (which ends in `/`, or is empty), sorted by key bytes. Complete, or an error.
    /// A `prefix` that does not end in `/` is a whole key: the answer has that object, or nothing. Half a name never matches.
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError>;

    /// The names of the "directories" directly below `prefix`, each as a whole prefix ending in `/`, sorted.
    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Every version and delete marker below `prefix` (or of one whole key, as for `list`), by key, newest first. `Unsupported` where there are none to keep.
    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError>;

    /// A whole object of at most `limit_bytes`; a larger one is `TooLarge`, and is not read.
    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError>;

    /// Opens an object of any size, or one noncurrent version of it.
    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError>;

    /// The facts of one object, without its content.
    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError>;

    /// Every rule by which the store itself removes or archives objects. `Unsupported` where there are none to have.
    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError>;

    /// How far the store's clock is ahead of this machine's, in seconds, as the latest answer showed; `None` when no
    /// answer carried a clock (a directory has the machine's own: `Some(0)`).
    fn clock_ahead_seconds(&self) -> Option<i64>;
}

/// The answer of a listing of one whole key, where asking for the object is as good as listing it.
async fn list_one(store: &dyn ReadStore, key: &str) -> Result<Vec<ObjectMeta>, StoreError> {
    match store.head(key).await {
        Ok(object) => Ok(vec![object]),
        Err(error) if error.is_missing() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Writing. Every write is conditional, and a failed condition is `Conflict`.
#[async_trait]
pub trait WriteStore: ReadStore {
    /// Writes `body` under `condition` and answers the new etag. Sent once: when the answer is lost the error is
    /// `Unavailable` and the write may have happened. Use `create` and `replace` of `publish`, which read back.
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError>;

    /// Copies `from` (or one version of it) to `to` inside the store, where `to` does not exist yet.
    /// The copy fails with `Conflict` when `from` no longer has `etag`, or when `to` exists.
    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError>;

    /// Deletes; a missing object is success (seed: delete is idempotent).
    async fn delete(&self, key: &str) -> Result<(), StoreError>;

    /// What this identity may do below `prefix`, which ends in `/`, learned without touching anything that is there. Only for
    /// a store that was seen to honour conditions; `versions` says whether it keeps any. `Unsupported` where whoever may
    /// write may do everything.
    async fn powers(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError>;

    /// Deletes only exactly `etag`. `Conflict` when the object is another one now; `NotFound` when it is gone.
    /// `Unsupported` where the store cannot be trusted to compare (see `probe`); nothing was deleted then.
    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError>;

    /// Told by [`probe()`] when it has seen that [`delete_exact`](Self::delete_exact) compares, so that nobody tries it again.
    fn compares_before_it_deletes(&self) {}
}
