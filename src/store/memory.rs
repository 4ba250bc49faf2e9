//! A store in memory, with or without versions, whose clock the test sets.
//!
//! It answers as S3 does where S3 and a directory differ: any key of up to 1,024 bytes, delete markers, version ids.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;

use super::key::{check_key, check_prefix, is_listed, is_whole_key, sha256_hex};
use super::{
    Body, Chunks, ExpiryRule, Object, ObjectMeta, ObjectReader, ObjectVersion, Powers, Put, ReadStore, StoreError, WriteStore,
    list_one,
};

/// How much one chunk of a streamed read has.
const CHUNK_BYTES: usize = 256 * 1024;

/// A store that lives as long as the process. Writers of tests may also change it behind the traits' back.
#[derive(Debug)]
pub struct MemoryStore {
    name: String,
    versioned: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Oldest version first; without versions at most one, and never a delete marker.
    objects: BTreeMap<String, Vec<Version>>,
    clock: Timestamp,
    clock_ahead_seconds: Option<i64>,
    versions_made: u64,
    expiry_rules: Vec<ExpiryRule>,
}

#[derive(Debug, Clone)]
struct Version {
    id: String,
    at: Timestamp,
    /// `None` is a delete marker.
    body: Option<Bytes>,
}

impl MemoryStore {
    /// An empty store without versions. Its clock stands at 2026-11-15T00:00:00Z until it is set.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with(name.into(), false)
    }

    /// An empty store that keeps versions and delete markers.
    pub fn versioned(name: impl Into<String>) -> Self {
        Self::with(name.into(), true)
    }

    fn with(name: String, versioned: bool) -> Self {
        let clock = Timestamp::constant(1_794_700_800, 0);
        let state =
            State { objects: BTreeMap::new(), clock, clock_ahead_seconds: Some(0), versions_made: 0, expiry_rules: Vec::new() };
        Self { name, versioned, state: Mutex::new(state) }
    }

    /// What the following writes are dated.
    pub fn set_clock(&self, now: Timestamp) {
        self.state().clock = now;
    }

    /// What [`ReadStore::clock_ahead_seconds`] answers.
    pub fn set_clock_ahead_seconds(&self, seconds: Option<i64>) {
        self.state().clock_ahead_seconds = seconds;
    }

    /// What [`ReadStore::expiry_rules`] answers. They are not followed.
    pub fn set_expiry_rules(&self, rules: Vec<ExpiryRule>) {
        self.state().expiry_rules = rules;
    }

    /// Writes unconditionally, dated as the clock says, and answers the etag.
    pub fn insert(&self, key: &str, body: impl Into<Bytes>) -> String {
        let body = body.into();
        let etag = sha256_hex(&body);
        self.push(&mut self.state(), key, Some(body));
        etag
    }

    /// Changes when the newest version of a key was written.
    pub fn set_last_modified(&self, key: &str, at: Timestamp) {
        if let Some(version) = self.state().objects.get_mut(key).and_then(|versions| versions.last_mut()) {
            version.at = at;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, state: &mut State, key: &str, body: Option<Bytes>) -> ObjectMeta {
        state.versions_made += 1;
        let version = Version { id: format!("v{}", state.versions_made), at: state.clock, body };
        let meta = Self::meta(key, &version, false);
        let versions = state.objects.entry(key.to_owned()).or_default();
        if !self.versioned {
            versions.clear();
        }
        versions.push(version);
        meta
    }

    fn meta(key: &str, version: &Version, with_id: bool) -> ObjectMeta {
        let body = version.body.as_deref();
        ObjectMeta {
            key: key.to_owned(),
            bytes: body.map_or(0, |body| body.len() as u64),
            etag: body.map(sha256_hex).unwrap_or_default(),
            last_modified: version.at,
            version_id: with_id.then(|| version.id.clone()),
        }
    }

    fn read(&self, key: &str, version_id: Option<&str>) -> Result<Object, StoreError> {
        check_key(key)?;
        let missing = || StoreError::NotFound { key: key.to_owned() };
        if version_id.is_some() && !self.versioned {
            return Err(self.unsupported("versions"));
        }
        let state = self.state();
        let versions = state.objects.get(key).ok_or_else(missing)?;
        let version = match version_id {
            None => versions.last(),
            Some(id) => versions.iter().find(|version| version.id == id),
        }
        .ok_or_else(missing)?;
        let body = version.body.clone().ok_or_else(|| StoreError::Deleted { key: key.to_owned() })?;
        Ok(Object { meta: Self::meta(key, version, version_id.is_some()), body })
    }

    fn remove(&self, state: &mut State, key: &str) {
        if self.versioned {
            self.push(state, key, None);
        } else {
            state.objects.remove(key);
        }
    }

    fn unsupported(&self, capability: &str) -> StoreError {
        StoreError::Unsupported { store: self.describe(), capability: capability.to_owned() }
    }
}

/// The body that an ordinary read sees.
fn current<'s>(state: &'s State, key: &str) -> Option<&'s Bytes> {
    state.objects.get(key)?.last()?.body.as_ref()
}

fn conflict(key: &str, detail: &str) -> StoreError {
    StoreError::Conflict { key: key.to_owned(), detail: detail.to_owned() }
}

#[async_trait]
impl ReadStore for MemoryStore {
    fn describe(&self) -> String {
        format!("memory {}", self.name)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        if is_whole_key(prefix) {
            return list_one(self, prefix).await;
        }
        check_prefix(prefix)?;
        let state = self.state();
        let newest = state.objects.iter().filter_map(|(key, versions)| Some((key, versions.last()?)));
        Ok(newest
            .filter(|(key, version)| key.starts_with(prefix) && version.body.is_some())
            .map(|(key, version)| Self::meta(key, version, false))
            .collect())
    }

    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        check_prefix(prefix)?;
        let mut directories: Vec<String> = self
            .list(prefix)
            .await?
            .iter()
            .filter_map(|object| object.key[prefix.len()..].split_once('/'))
            .map(|(name, _)| format!("{prefix}{name}/"))
            .collect();
        directories.sort();
        directories.dedup();
        Ok(directories)
    }

    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        if !is_whole_key(prefix) {
            check_prefix(prefix)?;
        }
        if !self.versioned {
            return Err(self.unsupported("versions"));
        }
        let state = self.state();
        let below = state.objects.iter().filter(|(key, _)| is_listed(prefix, key));
        Ok(below
            .flat_map(|(key, versions)| {
                versions.iter().rev().enumerate().map(|(age, version)| ObjectVersion {
                    object: Self::meta(key, version, true),
                    is_latest: age == 0,
                    is_delete_marker: version.body.is_none(),
                })
            })
            .collect())
    }

    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        Ok(self.state().expiry_rules.clone())
    }

    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let object = self.read(key, None)?;
        if object.meta.bytes > limit_bytes {
            return Err(StoreError::TooLarge { key: key.to_owned(), bytes: object.meta.bytes, limit_bytes });
        }
        Ok(object)
    }

    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        let object = self.read(key, version_id)?;
        Ok(ObjectReader { meta: object.meta, chunks: Box::new(BytesChunks(object.body)) })
    }

    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        Ok(self.read(key, None)?.meta)
    }

    fn clock_ahead_seconds(&self) -> Option<i64> {
        self.state().clock_ahead_seconds
    }
}

#[async_trait]
impl WriteStore for MemoryStore {
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        check_key(key)?;
        let body = match body {
            Body::Bytes(bytes) => bytes.clone(),
            Body::File(path) => read_file(path)?,
        };
        let mut state = self.state();
        match (condition, current(&state, key)) {
            (Put::Create, Some(_)) => return Err(conflict(key, "something is there already")),
            (Put::Replace(_), None) => return Err(conflict(key, "nothing is there any more")),
            (Put::Replace(etag), Some(old)) if sha256_hex(old) != *etag => {
                return Err(conflict(key, "its content is another one now"));
            }
            _ => {}
        }
        Ok(self.push(&mut state, key, Some(body)).etag)
    }

    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
        check_key(to)?;
        let source = self.read(&from.key, from.version_id.as_deref())?;
        if source.meta.etag != from.etag {
            return Err(conflict(&from.key, "its content is another one now; it was not copied"));
        }
        let mut state = self.state();
        if current(&state, to).is_some() {
            return Err(conflict(to, "something is there already"));
        }
        Ok(self.push(&mut state, to, Some(source.body)))
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        check_key(key)?;
        self.remove(&mut self.state(), key);
        Ok(())
    }

    async fn powers(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError> {
        check_prefix(prefix)?;
        Ok(Powers { overwrite: true, delete: true, delete_versions: versions.then_some(true) })
    }

    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        check_key(key)?;
        let mut state = self.state();
        let Some(body) = current(&state, key) else { return Err(StoreError::NotFound { key: key.to_owned() }) };
        if sha256_hex(body) != etag {
            return Err(conflict(key, "its content is another one now; it was not deleted"));
        }
        self.remove(&mut state, key);
        Ok(())
    }
}

fn read_file(path: &Path) -> Result<Bytes, StoreError> {
    std::fs::read(path)
        .map(Bytes::from)
        .map_err(|error| StoreError::Other { subject: path.display().to_string(), detail: error.to_string() })
}

/// Content in memory, read piece by piece.
pub(super) struct BytesChunks(pub(super) Bytes);

#[async_trait]
impl Chunks for BytesChunks {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let chunk = self.0.split_to(CHUNK_BYTES.min(self.0.len()));
        Ok(if chunk.is_empty() { None } else { Some(chunk) })
    }
}
