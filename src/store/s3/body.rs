//! Bodies on the wire: a file that is read as it is sent, and an answer that must not stand still or end early.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::errors::seconds;
use super::listing::unquote;
use super::{S3Store, quote};
use crate::store::{Body, Chunks, ObjectMeta, StoreError};

/// How much of a file is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// How often a body that breaks off is asked for again from there on.
const RESUMED: usize = 2;

/// An answer's body, counted and timed.
pub(super) struct Download {
    store: S3Store,
    /// The whole object that this is of.
    object: ObjectMeta,
    /// Which of its bytes these are.
    range: Range<u64>,
    stream: ByteStream,
    seen: u64,
    resumes_left: usize,
}

impl Download {
    pub(super) fn new(store: S3Store, object: ObjectMeta, range: Range<u64>, stream: ByteStream) -> Self {
        Self { store, object, range, stream, seen: 0, resumes_left: RESUMED }
    }

    /// How many bytes there are to come in all.
    fn bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Goes on where the body broke off; whether it does. Only with the rest of exactly the same content.
    async fn resumes(&mut self) -> bool {
        let (store, object) = (&self.store, &self.object);
        if self.resumes_left == 0 || self.seen >= self.bytes() {
            return false;
        }
        let range = format!("{}-{}", self.range.start + self.seen, self.range.end - 1);
        self.resumes_left -= 1;
        let _permit = store.permit().await;
        let rest = store
            .client()
            .get_object()
            .bucket(store.bucket())
            .key(&object.key)
            .set_version_id(object.version_id.clone())
            .if_match(quote(&object.etag))
            .range(format!("bytes={range}"))
            .send()
            .await;
        let Ok(rest) = rest else { return false };
        let range = format!("bytes {range}/{}", object.bytes);
        let is_it = rest.content_range() == Some(range.as_str()) && rest.e_tag().map(unquote) == Some(object.etag.clone());
        if is_it {
            self.stream = rest.body;
        }
        is_it
    }
}

#[async_trait]
impl Chunks for Download {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let timeout = self.store.words().timeout;
        let (key, bytes) = (self.object.key.clone(), self.bytes());
        let incomplete = |detail: String| Err(StoreError::Incomplete { subject: key.clone(), detail });
        let so_far = |seen: u64| format!("{seen} of {bytes} bytes had arrived");
        loop {
            let broke_off = match tokio::time::timeout(timeout, self.stream.next()).await {
                Err(_) => {
                    let detail = format!("the body stood still for {}; {}", seconds(timeout), so_far(self.seen));
                    return Err(StoreError::Unavailable { subject: key, detail });
                }
                Ok(Some(Ok(chunk))) => {
                    self.seen += chunk.len() as u64;
                    if self.seen > bytes {
                        return incomplete(format!("the body has more than the announced {bytes} bytes"));
                    }
                    return Ok(Some(chunk));
                }
                Ok(None) if self.seen >= bytes => return Ok(None),
                Ok(None) => "the body ended early".to_owned(),
                Ok(Some(Err(error))) => format!("the body broke off: {}", self.store.words().innermost(&error)),
            };
            if !self.resumes().await {
                return incomplete(format!("{broke_off}; {}", so_far(self.seen)));
            }
        }
    }
}

/// What an upload sent so far, for whoever watches it.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Returns when nothing more was sent for `timeout`.
    pub(super) async fn stalled(self, timeout: Duration) {
        let mut sent = self.0.load(Ordering::Relaxed);
        let mut since = Instant::now();
        loop {
            tokio::time::sleep(timeout / 8).await;
            let now = self.0.load(Ordering::Relaxed);
            if now != sent {
                (sent, since) = (now, Instant::now());
            } else if since.elapsed() >= timeout {
                return;
            }
        }
    }
}

/// What is uploaded, as the body of a request. Its length is fixed when it is opened; a file that shrinks breaks the upload
/// off.
pub(super) struct Upload {
    state: State,
    left: u64,
    progress: Progress,
}

enum State {
    Memory(Bytes),
    File(File),
    Reading(JoinHandle<io::Result<(File, Bytes)>>),
    Ended,
}

impl Upload {
    /// Opens what is to be sent, and answers its length too.
    pub(super) fn new(body: &Body, progress: Progress) -> Result<(Self, u64), StoreError> {
        let (state, left) = match body {
            Body::Bytes(bytes) => (State::Memory(bytes.clone()), bytes.len() as u64),
            Body::File(path) => {
                let fail = |error: io::Error| fault(&path.display().to_string(), &error);
                let file = File::open(path).map_err(fail)?;
                let left = file.metadata().map_err(fail)?.len();
                (State::File(file), left)
            }
        };
        Ok((Self { state, left, progress }, left))
    }

    /// As the SDK takes what is large. It can be sent only once, as every conditional write is.
    pub(super) fn into_stream(self) -> ByteStream {
        ByteStream::new(SdkBody::from_body_1_x(self))
    }

    fn sent(&mut self, chunk: Bytes) -> Frame<Bytes> {
        self.left -= chunk.len() as u64;
        self.progress.0.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        Frame::data(chunk)
    }

    /// As the SDK takes what is small: its digest becomes part of the signature.
    pub(super) async fn into_bytes(self) -> Result<Bytes, StoreError> {
        let mut file = match self.state {
            State::Memory(bytes) => return Ok(bytes),
            State::File(file) => file,
            State::Reading(_) | State::Ended => return Ok(Bytes::new()),
        };
        let mut content = vec![0; usize::try_from(self.left).unwrap_or(0)];
        let reading = tokio::task::spawn_blocking(move || file.read_exact(&mut content).map(|()| content.into()));
        reading.await.map_err(io::Error::other).flatten().map_err(|error| fault("the file to upload", &error))
    }
}

fn fault(subject: &str, error: &io::Error) -> StoreError {
    StoreError::Other { subject: subject.to_owned(), detail: error.to_string() }
}

impl http_body::Body for Upload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Memory(_) | State::File(_) if self.left == 0 => return Poll::Ready(None),
                State::Memory(mut bytes) => {
                    let chunk = bytes.split_to(bytes.len().min(CHUNK_BYTES));
                    self.state = State::Memory(bytes);
                    return Poll::Ready(Some(Ok(self.sent(chunk))));
                }
                State::File(mut file) => {
                    let mut chunk = vec![0; usize::try_from(self.left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES)];
                    self.state = State::Reading(tokio::task::spawn_blocking(move || {
                        file.read_exact(&mut chunk)?;
                        Ok((file, chunk.into()))
                    }));
                }
                State::Reading(mut reading) => match Pin::new(&mut reading).poll(context) {
                    Poll::Pending => {
                        self.state = State::Reading(reading);
                        return Poll::Pending;
                    }
                    Poll::Ready(done) => {
                        let (file, chunk) = done.map_err(io::Error::other)??;
                        self.state = State::File(file);
                        return Poll::Ready(Some(Ok(self.sent(chunk))));
                    }
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
