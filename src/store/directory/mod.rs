//! A directory that stands for a bucket (formats.md section 2): keys are relative paths, the etag is the SHA-256 of the body.
//!
//! Absent on purpose: versions (there are none to keep), and any cache of digests: a file's times say when it was written,
//! never what is in it.

mod names;
mod tree;
mod write;

use std::fs::{File, Metadata};
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use self::names::fault;
use self::tree::{CHUNK_BYTES, Root, changed, content, facts, unchanged};
use super::key::is_whole_key;
use super::{
    Body, Chunks, ExpiryRule, Object, ObjectMeta, ObjectReader, ObjectVersion, Powers, Put, ReadStore, StoreError, Tally,
    WriteStore, list_one,
};

/// A store in a directory. Cloning shares the open root.
#[derive(Debug, Clone)]
pub struct DirectoryStore {
    root: Arc<Root>,
    name: String,
    tally: Tally,
}

impl DirectoryStore {
    /// Opens an existing directory.
    ///
    /// # Errors
    /// `NoStore` where there is no such directory, `Denied` where it may not be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let root = Root::open(path.to_owned())?;
        // The directory's own name, also for "." and for a path that ends in a link.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = real.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(Self { root: Arc::new(root), name, tally: Tally::default() })
    }

    /// Counts what is answered in `tally` from now on.
    #[must_use]
    pub fn counted(mut self, tally: Tally) -> Self {
        self.tally = tally;
        self
    }

    /// Runs file work where it does not hold up other requests.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Root) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let root = Arc::clone(&self.root);
        blocking(move || work(&root)).await
    }

    fn unsupported(&self, capability: &str) -> StoreError {
        StoreError::Unsupported { store: self.describe(), capability: capability.to_owned() }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, StoreError> + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StoreError::Other { subject: "file access".to_owned(), detail: error.to_string() }))
}

#[async_trait]
impl ReadStore for DirectoryStore {
    fn describe(&self) -> String {
        format!("directory {}", self.root.path.display())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        if is_whole_key(prefix) {
            return list_one(self, prefix).await;
        }
        let (prefix, tally) = (prefix.to_owned(), self.tally.clone());
        self.run(move |root| {
            let mut objects = root.list(&prefix, &tally)?;
            objects.sort_by(|a, b| a.key.cmp(&b.key));
            Ok(objects)
        })
        .await
    }

    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let prefix = prefix.to_owned();
        self.run(move |root| {
            let mut directories = root.list_directories(&prefix)?;
            directories.sort();
            Ok(directories)
        })
        .await
    }

    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        if !is_whole_key(prefix) {
            names::of_prefix(prefix)?;
        }
        Err(self.unsupported("versions"))
    }

    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let (key, tally) = (key.to_owned(), self.tally.clone());
        self.run(move |root| {
            tally.add_read();
            let (mut file, _) = root.object(&key)?;
            let (meta, body) = content(&mut file, &key, limit_bytes)?;
            Ok(Object { meta, body: body.into() })
        })
        .await
    }

    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        if version_id.is_some() {
            names::of_key(key)?;
            return Err(self.unsupported("versions"));
        }
        let key = key.to_owned();
        self.run(move |root| {
            let (mut file, metadata) = root.object(&key)?;
            let meta = facts(&mut file, &key)?;
            file.rewind().map_err(|error| fault(&key, &error))?;
            let chunks = FileChunks { key, bytes_left: meta.bytes, state: Some((file, metadata)) };
            Ok(ObjectReader { meta, chunks: Box::new(chunks) })
        })
        .await
    }

    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        let key = key.to_owned();
        self.run(move |root| {
            let (mut file, _) = root.object(&key)?;
            facts(&mut file, &key)
        })
        .await
    }

    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        Err(self.unsupported("a lifecycle rule"))
    }

    fn clock_ahead_seconds(&self) -> Option<i64> {
        Some(0)
    }
}

#[async_trait]
impl WriteStore for DirectoryStore {
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        let (key, body, condition) = (key.to_owned(), body.clone(), condition.clone());
        self.run(move |root| {
            names::of_key(&key)?;
            let mut content: Box<dyn Read> = match body {
                Body::Bytes(bytes) => Box::new(Cursor::new(bytes)),
                Body::File(path) => Box::new(open_upload(&path)?),
            };
            let staged = root.stage(&key, content.as_mut())?;
            root.publish(&staged, &key, &condition)?;
            Ok(staged.etag.clone())
        })
        .await
    }

    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
        if from.version_id.is_some() {
            return Err(self.unsupported("versions"));
        }
        let (from, to) = (from.clone(), to.to_owned());
        self.run(move |root| {
            names::of_key(&to)?;
            let (mut file, _) = root.object(&from.key)?;
            let staged = root.stage(&to, &mut file)?;
            if staged.etag != from.etag {
                return Err(StoreError::Conflict {
                    key: from.key,
                    detail: "its content is another one now; it was not copied".to_owned(),
                });
            }
            root.publish(&staged, &to, &Put::Create)?;
            staged.meta(&to)
        })
        .await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.run(move |root| match root.remove(&key, None) {
            Err(StoreError::NotFound { .. }) => Ok(()),
            result => result,
        })
        .await
    }

    async fn powers(&self, prefix: &str, _versions: bool) -> Result<Powers, StoreError> {
        names::of_prefix(prefix)?;
        Err(self.unsupported("a permission to create and not to delete"))
    }

    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        let (key, etag) = (key.to_owned(), etag.to_owned());
        self.run(move |root| root.remove(&key, Some(&etag))).await
    }
}

fn open_upload(path: &PathBuf) -> Result<File, StoreError> {
    File::open(path).map_err(|error| StoreError::Other { subject: path.display().to_string(), detail: error.to_string() })
}

/// A file read piece by piece.
struct FileChunks {
    key: String,
    bytes_left: u64,
    /// Gone while a piece is read, and after an error.
    state: Option<(File, Metadata)>,
}

#[async_trait]
impl Chunks for FileChunks {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let Some((mut file, metadata)) = self.state.take() else { return Err(changed(&self.key)) };
        let (key, bytes_left) = (self.key.clone(), self.bytes_left);
        let (file, chunk) = blocking(move || {
            let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(bytes_left).unwrap_or(CHUNK_BYTES))];
            file.read_exact(&mut chunk).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => changed(&key),
                _ => fault(&key, &error),
            })?;
            // The digest in the facts is of what was there when it was opened.
            if !unchanged(&metadata, &file.metadata().map_err(|error| fault(&key, &error))?) {
                return Err(changed(&key));
            }
            Ok(((file, metadata), chunk))
        })
        .await?;
        self.state = Some(file);
        self.bytes_left -= chunk.len() as u64;
        Ok(if chunk.is_empty() { None } else { Some(chunk.into()) })
    }
}
