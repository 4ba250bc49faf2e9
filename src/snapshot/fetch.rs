//! One object into a file, hashed on the way.
//!
//! The network, the hash and the disk overlap: a thread of its own hashes and writes what the runtime receives, a few chunks
//! behind it. Memory is flat in the size of the object.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::landing::{Landing, Private, receive};
use super::select::{Chosen, Source};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::private;
use crate::store::{Chunks, ObjectMeta, ObjectReader, ReadStore, StoreError};
use crate::terminal::Progress;

/// How many chunks may wait for the disk. Of every object that is under way: `verify` has 32.
const CHUNKS_WAITING: usize = 4;
/// How much of a local file is read at once.
const FILE_CHUNK_BYTES: usize = 256 * 1024;

/// An object that has landed.
#[derive(Debug)]
pub struct Fetched<L = Private> {
    /// The object's facts as of the read.
    pub meta: ObjectMeta,
    /// The sha256 of what was received, in hex.
    pub sha256: String,
    /// The file.
    pub landing: L,
}

/// Fetches what was chosen.
///
/// # Errors
/// The store's, or the local disk's.
pub async fn fetch<L: Landing>(
    store: &dyn ReadStore,
    chosen: &Chosen,
    landing: L,
    progress: Option<&Progress>,
) -> Result<Fetched<L>, CommandError> {
    let reader = open(store, chosen).await?;
    let meta = reader.meta.clone();
    let (landing, sha256) = stream(reader, landing, progress).await?;
    Ok(Fetched { meta, sha256, landing })
}

/// Opens what was chosen.
///
/// # Errors
/// The store's, or the local file's.
pub(super) async fn open(store: &dyn ReadStore, chosen: &Chosen) -> Result<ObjectReader, CommandError> {
    match &chosen.source {
        Source::Object(object) => Ok(store.open(&object.key, object.version_id.as_deref()).await?),
        Source::File(path) => open_file(path).map_err(|error| disk(path, &error)),
    }
}

/// Streams `reader` into `landing` and answers the sha256 in hex. The file is written, not yet synced.
async fn stream<L: Landing>(
    mut reader: ObjectReader,
    landing: L,
    progress: Option<&Progress>,
) -> Result<(L, String), CommandError> {
    let (sender, receiver) = mpsc::channel::<(u64, Bytes)>(CHUNKS_WAITING);
    let path = landing.path().to_owned();
    let writer = tokio::task::spawn_blocking(move || receive(receiver, &landing).map(|sha256| (landing, sha256)));
    let mut so_far = 0;
    let received = loop {
        match reader.chunks.next_anywhere(so_far).await {
            Ok(Some((at, chunk))) => {
                so_far += chunk.len() as u64;
                if let Some(progress) = progress {
                    progress.advance(chunk.len() as u64);
                }
                // The writer is gone only after an error, which is what it answers below.
                if sender.send((at, chunk)).await.is_err() {
                    break Ok(());
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    drop(sender);
    let written = writer.await.map_err(|error| CommandError::new(Exit::Unexpected, format!("{}: {error}", path.display())))?;
    received?;
    written.map_err(|error| disk(&path, &error))
}

/// A failure of the local disk, by what an operator can do about it.
#[must_use]
pub fn disk(path: &Path, error: &std::io::Error) -> CommandError {
    let exit = match error.kind() {
        std::io::ErrorKind::NotFound => Exit::NotFound,
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::ReadOnlyFilesystem => {
            Exit::Refused
        }
        std::io::ErrorKind::PermissionDenied => Exit::Credentials,
        _ => Exit::Unexpected,
    };
    CommandError::new(exit, format!("{}: {error}", path.display()))
}

/// A local file read like an object.
fn open_file(path: &Path) -> std::io::Result<ObjectReader> {
    let file = private::open_file(path)?;
    let facts = file.metadata()?;
    let last_modified = facts.modified().ok().and_then(|at| Timestamp::try_from(at).ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    let meta = ObjectMeta {
        key: path.display().to_string(),
        bytes: facts.len(),
        etag: String::new(),
        last_modified,
        version_id: None,
    };
    Ok(ObjectReader { meta, chunks: Box::new(FileChunks { file, path: path.to_owned() }) })
}

struct FileChunks {
    file: File,
    path: PathBuf,
}

#[async_trait]
impl Chunks for FileChunks {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut chunk = vec![0; FILE_CHUNK_BYTES];
        match self.file.read(&mut chunk) {
            Ok(0) => Ok(None),
            Ok(length) => {
                chunk.truncate(length);
                Ok(Some(chunk.into()))
            }
            Err(error) => Err(StoreError::Other { subject: self.path.display().to_string(), detail: error.to_string() }),
        }
    }
}
