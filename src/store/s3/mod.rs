//! A bucket behind S3's protocol (formats.md section 2), AWS or not.
//!
//! Reads are repeated by the SDK where that is safe. Writes with a condition are sent once: a repeated create whose first
//! answer was lost is refused by its own success (`publish` reads back instead). Every wait has an end.

mod body;
mod client;
mod clock;
mod endpoint;
mod errors;
mod lifecycle;
mod listing;
mod pieces;
mod powers;
mod upload;
mod whole;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::{ByteStream, DateTime};
use bytes::{Bytes, BytesMut};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use self::body::Download;
pub use self::client::S3Settings;
pub use self::endpoint::{Endpoint, without_password};
use self::errors::{Asked, Words};
use self::listing::{timestamp, unquote};
use super::{
    Body, Chunks, ExpiryRule, Object, ObjectMeta, ObjectReader, ObjectVersion, Powers, Put, ReadStore, StoreError, Tally,
    WriteStore,
    key::{check_key, random_name},
    probe::another,
    publish::create,
};
use crate::platform::keys;

/// The largest object that one request uploads or copies.
const ONE_REQUEST_LIMIT_BYTES: u64 = 5 * 1024 * 1024 * 1024;
/// How often a small object is read whose body breaks off.
const READS: usize = 3;

/// A bucket. Cloning shares the connections.
#[derive(Debug, Clone)]
pub struct S3Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    bucket: String,
    words: Words,
    permits: Semaphore,
    tally: Tally,
    /// Whether this store was seen to compare before it deletes; asked at most once.
    deletes_exactly: OnceCell<bool>,
    /// Whether the bucket was seen to take no upload without a digest.
    wants_digests: AtomicBool,
}

impl S3Store {
    /// Finds region, endpoint and credentials. Nothing is asked of the bucket yet.
    ///
    /// # Errors
    /// `Credentials`, naming what was tried, within ten seconds; `Other` for certificates that cannot be used.
    pub async fn open(settings: S3Settings) -> Result<Self, StoreError> {
        let opened = client::open(&settings).await?;
        let inner = Inner {
            client: opened.client,
            bucket: settings.bucket,
            words: opened.words,
            permits: Semaphore::new(settings.concurrency.max(1)),
            tally: settings.tally,
            deletes_exactly: OnceCell::new(),
            wants_digests: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    fn client(&self) -> &Client {
        &self.inner.client
    }

    fn bucket(&self) -> &str {
        &self.inner.bucket
    }

    fn words(&self) -> &Words {
        &self.inner.words
    }

    /// Waits until another request may be under way.
    async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so there is always a permit to be had.
        self.inner.permits.acquire().await.ok()
    }

    fn unsupported(&self, capability: &str) -> StoreError {
        StoreError::Unsupported { store: self.words().store.clone(), capability: capability.to_owned() }
    }

    async fn get_object(&self, key: &str) -> Result<(ObjectMeta, ByteStream), StoreError> {
        check_key(key)?;
        let _permit = self.permit().await;
        let answer = self.client().get_object().bucket(self.bucket()).key(key).send().await;
        let answer = answer.map_err(|error| self.words().fault(Asked::Read(key), &error))?;
        let GetObjectOutput { content_length, e_tag, last_modified, body, .. } = answer;
        Ok((meta(key, content_length, e_tag, last_modified.as_ref())?, body))
    }

    /// A whole small object, read once.
    async fn read_whole(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let (meta, stream) = self.get_object(key).await?;
        if meta.bytes > limit_bytes {
            return Err(StoreError::TooLarge { key: key.to_owned(), bytes: meta.bytes, limit_bytes });
        }
        let mut chunks = Download::new(self.clone(), meta.clone(), 0..meta.bytes, stream);
        let mut body = BytesMut::new();
        while let Some(chunk) = chunks.next().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(Object { meta, body: body.freeze() })
    }

    async fn head_object(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        check_key(key)?;
        let _permit = self.permit().await;
        let answer = self.client().head_object().bucket(self.bucket()).key(key).send().await;
        let answer = answer.map_err(|error| self.words().fault(Asked::Head(key), &error))?;
        meta(key, answer.content_length, answer.e_tag, answer.last_modified.as_ref())
    }

    async fn copy_object(&self, from: &ObjectMeta, to: &str, create_only: bool) -> Result<(), StoreError> {
        let version = from.version_id.as_deref().map(|id| format!("?versionId={}", encode(id))).unwrap_or_default();
        let answer = self
            .client()
            .copy_object()
            .bucket(self.bucket())
            .key(to)
            .copy_source(format!("{}/{}{version}", encode(self.bucket()), encode(&from.key)))
            .copy_source_if_match(quote(&from.etag))
            .set_if_none_match(create_only.then(|| "*".to_owned()))
            .customize()
            .config_override(aws_sdk_s3::config::Config::builder().retry_config(RetryConfig::disabled()))
            .send()
            .await;
        match answer.map_err(|error| self.words().fault(Asked::Write(to), &error)) {
            Ok(_) => Ok(()),
            Err(StoreError::NotFound { .. }) => Err(StoreError::NotFound { key: from.key.clone() }),
            Err(StoreError::Deleted { .. }) => Err(StoreError::Deleted { key: from.key.clone() }),
            Err(StoreError::Conflict { key, .. }) => {
                let detail = format!("something is there by now, or {} has another content", from.key);
                Err(StoreError::Conflict { key, detail })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a deletion with a wrong etag is refused, tried on an object of our own.
    async fn deletes_exactly(&self) -> Result<bool, StoreError> {
        let check = || async {
            let key = format!("{}{}", keys::PROBES, random_name()?);
            let etag = match create(self, &key, &Body::Bytes(Bytes::from_static(b"carlosctl"))).await {
                // Who may not try cannot know.
                Err(StoreError::Denied { .. }) => return Ok(false),
                result => result?.etag,
            };
            let refused = matches!(self.delete_if_match(&key, &another(&etag)).await, Err(StoreError::Conflict { .. }));
            let kept = self.head(&key).await.is_ok();
            self.delete(&key).await?;
            Ok(refused && kept)
        };
        self.inner.deletes_exactly.get_or_try_init(check).await.copied()
    }

    async fn delete_if_match(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        let _permit = self.permit().await;
        let request = self.client().delete_object().bucket(self.bucket()).key(key).if_match(quote(etag));
        let answer = request.send().await;
        answer.map(|_| ()).map_err(|error| self.words().fault(Asked::Write(key), &error))
    }
}

#[async_trait]
impl ReadStore for S3Store {
    fn describe(&self) -> String {
        self.words().store.clone()
    }

    fn name(&self) -> String {
        self.bucket().to_owned()
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        self.all_objects(prefix).await
    }

    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.all_directories(prefix).await
    }

    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        self.all_versions(prefix).await
    }

    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let mut reads = 1;
        loop {
            match self.read_whole(key, limit_bytes).await {
                Err(StoreError::Incomplete { .. }) if reads < READS => reads += 1,
                result => {
                    self.inner.tally.add_read();
                    return result;
                }
            }
        }
    }

    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        self.open_object(key, version_id).await
    }

    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        match self.head_object(key).await {
            // All that a `HEAD` says by its number alone: its answer has no body. Asking for a byte brings the reason.
            Err(error @ (StoreError::NotFound { .. } | StoreError::Denied { .. } | StoreError::Other { .. })) => {
                let asked = self.client().get_object().bucket(self.bucket()).key(key).range("bytes=0-0").send().await;
                Err(asked.map_or_else(|why| self.words().fault(Asked::Read(key), &why), |_| error))
            }
            result => result,
        }
    }

    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        self.lifecycle().await
    }

    fn clock_ahead_seconds(&self) -> Option<i64> {
        self.words().clock.ahead_seconds()
    }
}

#[async_trait]
impl WriteStore for S3Store {
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        check_key(key)?;
        match self.send(key, body, condition).await {
            // AWS answers a replacement of nothing with 404, SeaweedFS with 412.
            Err(StoreError::NotFound { key } | StoreError::Deleted { key }) => {
                Err(StoreError::Conflict { key, detail: "nothing is there any more".to_owned() })
            }
            Err(StoreError::Conflict { key, .. }) => {
                let detail = match condition {
                    Put::Create => "something is there already",
                    Put::Replace(_) => "its content is another one now, or gone",
                };
                Err(StoreError::Conflict { key, detail: detail.to_owned() })
            }
            result => result,
        }
    }

    /// The destination's emptiness is checked with a `HEAD` first, for servers that ignore the condition on a copy; where
    /// the server honours `If-None-Match` there, it is also atomic.
    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
        check_key(&from.key)?;
        if from.bytes > ONE_REQUEST_LIMIT_BYTES {
            let limit_bytes = ONE_REQUEST_LIMIT_BYTES;
            return Err(StoreError::TooLarge { key: from.key.clone(), bytes: from.bytes, limit_bytes });
        }
        // A missing bucket looks like a missing key here; the copy itself will say.
        match self.head_object(to).await {
            Ok(_) => return Err(StoreError::Conflict { key: to.to_owned(), detail: "something is there already".to_owned() }),
            Err(error) if error.is_missing() => {}
            Err(error) => return Err(error),
        }
        let permit = self.permit().await;
        match self.copy_object(from, to, true).await {
            // Some stores know no condition on the destination of a copy, and say so: then the look above has to do.
            Err(StoreError::Unsupported { .. }) => self.copy_object(from, to, false).await,
            result => result,
        }?;
        drop(permit);
        let copy = self.head(to).await?;
        if copy.bytes == from.bytes {
            return Ok(copy);
        }
        let detail = format!("the copy has {} bytes, {} has {}", copy.bytes, from.key, from.bytes);
        Err(StoreError::Conflict { key: to.to_owned(), detail })
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        check_key(key)?;
        let _permit = self.permit().await;
        let answer = self.client().delete_object().bucket(self.bucket()).key(key).send().await;
        match answer.map_err(|error| self.words().fault(Asked::Write(key), &error)) {
            Err(error) if error.is_missing() => Ok(()),
            result => result.map(|_| ()),
        }
    }

    async fn powers(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError> {
        self.powers_below(prefix, versions).await
    }

    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        check_key(key)?;
        // A trial is not tried out first, and looks by itself at what became of it.
        if key.starts_with(keys::PROBES) {
            return self.delete_if_match(key, etag).await;
        }
        if !self.deletes_exactly().await? {
            return Err(self.unsupported("delete-if-match"));
        }
        match self.delete_if_match(key, etag).await {
            // SeaweedFS answers a deletion of nothing as it answers a wrong etag.
            Err(StoreError::Conflict { key, detail }) => match self.head(&key).await {
                Err(error) if error.is_missing() => Err(error),
                _ => Err(StoreError::Conflict { key, detail }),
            },
            result => result,
        }
    }

    fn compares_before_it_deletes(&self) {
        // Where it was tried before, that answer stands.
        let _ = self.inner.deletes_exactly.set(true);
    }
}

/// The facts of an answer. Without them it is not known what was read.
fn meta(key: &str, bytes: Option<i64>, etag: Option<String>, modified: Option<&DateTime>) -> Result<ObjectMeta, StoreError> {
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    if let (Some(bytes), Some(etag), Some(last_modified)) = (bytes, etag, modified.and_then(timestamp)) {
        return Ok(ObjectMeta { key: key.to_owned(), bytes, etag: unquote(&etag), last_modified, version_id: None });
    }
    let detail = "the answer lacks the object's length, etag or time".to_owned();
    Err(StoreError::Incomplete { subject: key.to_owned(), detail })
}

/// An etag with its quotes.
fn quote(etag: &str) -> String {
    format!("\"{etag}\"")
}

/// Percent-encodes all but what no server reads as anything else; `/` stays.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
