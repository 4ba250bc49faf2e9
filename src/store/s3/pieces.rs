//! A large object in pieces that are under way at once.
//!
//! One connection to a bucket carries a fraction of what the network would. Every piece is asked for under the etag that the
//! first answer named, so all are of one object or the read fails. Whoever can take pieces from anywhere gets them as they
//! arrive; whoever wants them in order gets one after the other. Nothing is held back here, so memory does not grow with the
//! object.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;

use super::body::Download;
use super::errors::Asked;
use super::{S3Store, meta, quote};
use crate::store::key::check_key;
use crate::store::{Chunks, ObjectMeta, ObjectReader, StoreError};

/// How large a piece is. An object of up to this size is one request.
const PIECE_BYTES: u64 = 8 * 1024 * 1024;
/// How many are under way at once.
const PIECES_AT_ONCE: usize = 8;
/// How many chunks may wait for whoever takes them.
const CHUNKS_WAITING: usize = 8;

/// One answer to a reading request.
struct Part {
    /// The facts of the whole object.
    object: ObjectMeta,
    /// How many bytes this answer has.
    bytes: u64,
    stream: ByteStream,
}

/// What is asked for: of an object, or of one version of it.
#[derive(Debug, Clone)]
struct Source {
    store: S3Store,
    key: String,
    version_id: Option<String>,
}

impl S3Store {
    /// Opens an object, as one answer or as several.
    pub(super) async fn open_object(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        check_key(key)?;
        let source = Source { store: self.clone(), key: key.to_owned(), version_id: version_id.map(str::to_owned) };
        let Part { object, bytes, stream } = source.first().await?;
        let first = Download::new(self.clone(), object.clone(), 0..bytes, stream);
        let chunks: Box<dyn Chunks> = if bytes == object.bytes {
            Box::new(first)
        } else {
            Box::new(Pieces {
                etag: object.etag.clone(),
                bytes: object.bytes,
                source,
                now: Some(first),
                next: bytes,
                anywhere: None,
            })
        };
        Ok(ObjectReader { meta: object, chunks })
    }
}

impl Source {
    /// The first piece; the whole object where it is small, or where the store knows no pieces.
    async fn first(&self) -> Result<Part, StoreError> {
        let first = 0..PIECE_BYTES;
        match self.ask(Some(&first), None).await {
            Ok(answer) => self.part(answer, Some(&first)),
            // An empty object has no first byte.
            Err(error) if is_beyond_the_end(&error) => {
                let answer = self.ask(None, None).await;
                self.part(answer.map_err(|error| self.store.words().fault(Asked::Read(&self.key), &error))?, None)
            }
            Err(error) => Err(self.store.words().fault(Asked::Read(&self.key), &error)),
        }
    }

    /// A later piece of exactly the object that the first one was of.
    async fn later(&self, range: &Range<u64>, etag: &str) -> Result<Download, StoreError> {
        let part = match self.ask(Some(range), Some(etag)).await {
            Ok(answer) => self.part(answer, Some(range))?,
            // The condition is ours.
            Err(error) if status(&error) == Some(412) => return Err(self.changed()),
            Err(error) => {
                let error = self.store.words().fault(Asked::Read(&self.key), &error);
                return Err(if error.is_missing() { self.changed() } else { error });
            }
        };
        if part.object.etag != etag {
            return Err(self.changed());
        }
        if part.bytes != range.end - range.start {
            return Err(self.incomplete(format!("the store did not give bytes {} to {}", range.start, range.end - 1)));
        }
        Ok(Download::new(self.store.clone(), part.object, range.clone(), part.stream))
    }

    async fn ask(
        &self,
        range: Option<&Range<u64>>,
        etag: Option<&str>,
    ) -> Result<
        GetObjectOutput,
        SdkError<aws_sdk_s3::operation::get_object::GetObjectError, aws_sdk_s3::config::http::HttpResponse>,
    > {
        let _permit = self.store.permit().await;
        let request = self.store.client().get_object().bucket(self.store.bucket()).key(&self.key);
        let request = request.set_version_id(self.version_id.clone()).set_if_match(etag.map(quote));
        request.set_range(range.map(|range| format!("bytes={}-{}", range.start, range.end - 1))).send().await
    }

    /// The facts of an answer, which says itself of which bytes it is.
    fn part(&self, answer: GetObjectOutput, range: Option<&Range<u64>>) -> Result<Part, StoreError> {
        let GetObjectOutput { content_length, content_range, e_tag, last_modified, body: stream, .. } = answer;
        let mut object = meta(&self.key, content_length, e_tag, last_modified.as_ref())?;
        object.version_id.clone_from(&self.version_id);
        let bytes = object.bytes;
        if let Some(text) = content_range {
            let (start, end, whole) = read_range(&text).ok_or_else(|| self.incomplete(format!("a range {text:?}")))?;
            if range.is_none_or(|range| range.start != start) || end - start != bytes || end > whole {
                return Err(self.incomplete(format!("another range than was asked for: {text:?}")));
            }
            object.bytes = whole;
        } else if range.is_some_and(|range| range.start > 0) {
            return Err(self.incomplete("the store gave the whole object where a piece was asked for".to_owned()));
        }
        Ok(Part { object, bytes, stream })
    }

    fn changed(&self) -> StoreError {
        self.incomplete("it was changed while it was read".to_owned())
    }

    fn incomplete(&self, detail: String) -> StoreError {
        StoreError::Incomplete { subject: self.key.clone(), detail }
    }
}

fn is_beyond_the_end<E: ProvideErrorMetadata>(error: &SdkError<E, aws_sdk_s3::config::http::HttpResponse>) -> bool {
    error.code() == Some("InvalidRange") || status(error) == Some(416)
}

fn status<E>(error: &SdkError<E, aws_sdk_s3::config::http::HttpResponse>) -> Option<u16> {
    error.raw_response().map(|raw| raw.status().as_u16())
}

/// `bytes 0-7/8` as where it begins, the byte after its end, and how many there are.
fn read_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(())?;
    Some((first, last.checked_add(1)?, whole.parse().ok()?))
}

/// The pieces of one object.
struct Pieces {
    source: Source,
    etag: String,
    bytes: u64,
    /// The piece that is being read.
    now: Option<Download>,
    /// Where the next one begins.
    next: u64,
    /// Those that are under way at once, where they may come from anywhere.
    anywhere: Option<Anywhere>,
}

/// Where a piece begins and what it brought, or why it brought nothing.
type Brought = Result<(u64, Bytes), StoreError>;

/// Pieces that are under way at once.
struct Anywhere {
    receiver: Receiver<Brought>,
    /// Ended with this value.
    _tasks: JoinSet<()>,
}

/// Reads pieces until there are none left that nobody reads.
struct Worker {
    source: Source,
    etag: String,
    bytes: u64,
    next: Arc<AtomicU64>,
    sender: Sender<Brought>,
}

impl Pieces {
    /// The end of the piece that begins at `start`.
    fn end(start: u64, bytes: u64) -> u64 {
        bytes.min(start.saturating_add(PIECE_BYTES))
    }

    /// Puts everything that is left under way.
    fn spread(&mut self) -> Anywhere {
        let (sender, receiver) = channel(CHUNKS_WAITING);
        let next = Arc::new(AtomicU64::new(self.next));
        let mut tasks = JoinSet::new();
        let mut first = self.now.take().map(|first| (0, first));
        for _ in 0..PIECES_AT_ONCE {
            let worker = Worker {
                source: self.source.clone(),
                etag: self.etag.clone(),
                bytes: self.bytes,
                next: Arc::clone(&next),
                sender: sender.clone(),
            };
            tasks.spawn(worker.run(first.take()));
        }
        Anywhere { receiver, _tasks: tasks }
    }
}

impl Worker {
    async fn run(self, first: Option<(u64, Download)>) {
        let mut ended = Ok(());
        if let Some((at, piece)) = first {
            ended = self.hand_on(at, piece).await;
        }
        if ended.is_ok() {
            ended = self.rest().await;
        }
        if let Err(error) = ended {
            let _ = self.sender.send(Err(error)).await;
        }
    }

    async fn rest(&self) -> Result<(), StoreError> {
        loop {
            let start = self.next.fetch_add(PIECE_BYTES, Ordering::Relaxed);
            // Nobody listens any more once the reader was given up.
            if start >= self.bytes || self.sender.is_closed() {
                return Ok(());
            }
            let piece = self.source.later(&(start..Pieces::end(start, self.bytes)), &self.etag).await?;
            self.hand_on(start, piece).await?;
        }
    }

    async fn hand_on(&self, mut at: u64, mut piece: Download) -> Result<(), StoreError> {
        while let Some(chunk) = piece.next().await? {
            let bytes = chunk.len() as u64;
            if self.sender.send(Ok((at, chunk))).await.is_err() {
                return Ok(());
            }
            at += bytes;
        }
        Ok(())
    }
}

#[async_trait]
impl Chunks for Pieces {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        loop {
            if let Some(now) = &mut self.now
                && let Some(chunk) = now.next().await?
            {
                return Ok(Some(chunk));
            }
            if self.next >= self.bytes {
                return Ok(None);
            }
            let range = self.next..Self::end(self.next, self.bytes);
            self.now = Some(self.source.later(&range, &self.etag).await?);
            self.next = range.end;
        }
    }

    async fn next_anywhere(&mut self, so_far: u64) -> Result<Option<(u64, Bytes)>, StoreError> {
        let mut anywhere = match self.anywhere.take() {
            Some(anywhere) => anywhere,
            None => self.spread(),
        };
        let brought = anywhere.receiver.recv().await.transpose()?;
        self.anywhere = Some(anywhere);
        // Every worker ended; none may have ended without a word.
        if brought.is_none() && so_far != self.bytes {
            return Err(self.source.incomplete(format!("{so_far} of {} bytes had arrived", self.bytes)));
        }
        Ok(brought)
    }
}

#[cfg(test)]
mod tests {
    use super::read_range;

    #[test]
    fn a_range_says_where_it_is_of() {
        assert_eq!(read_range("bytes 0-7/8"), Some((0, 8, 8)));
        assert_eq!(read_range("bytes 8-8/900"), Some((8, 9, 900)));
        for odd in ["", "bytes */8", "bytes 3-2/8", "bytes 0-7/*", "bytes 0-18446744073709551615/8", "items 0-7/8"] {
            assert_eq!(read_range(odd), None, "{odd}");
        }
    }
}
