//! Bodies on the wire: a file that is read as it is sent, and an answer that must not stand still or end early.

use std::fs::File;
use std::io::{self, Read};
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

use super::S3Store;
use super::errors::seconds;
use crate::store::{Body, Chunks, StoreError};

/// How much of a file is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// An answer's body, counted and timed.
pub(super) struct Download {
    pub(super) store: S3Store,
    pub(super) key: String,
    pub(super) stream: ByteStream,
    pub(super) bytes: u64,
    pub(super) seen: u64,
}

#[async_trait]
impl Chunks for Download {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let timeout = self.store.words().timeout;
        let incomplete = |detail: String| StoreError::Incomplete { subject: self.key.clone(), detail };
        let so_far = |seen: u64| format!("{seen} of {} bytes had arrived", self.bytes);
        match tokio::time::timeout(timeout, self.stream.next()).await {
            Err(_) => Err(StoreError::Unavailable {
                subject: self.key.clone(),
                detail: format!("the body stood still for {}; {}", seconds(timeout), so_far(self.seen)),
            }),
            Ok(Some(Ok(chunk))) => {
                self.seen += chunk.len() as u64;
                if self.seen > self.bytes {
                    return Err(incomplete(format!("the body has more than the announced {} bytes", self.bytes)));
                }
                Ok(Some(chunk))
            }
            Ok(Some(Err(error))) => {
                let why = self.store.words().innermost(&error);
                Err(incomplete(format!("the body broke off: {why}; {}", so_far(self.seen))))
            }
            Ok(None) if self.seen < self.bytes => Err(incomplete(format!("the body ended early; {}", so_far(self.seen)))),
            Ok(None) => Ok(None),
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
