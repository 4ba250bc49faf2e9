//! A large object in pieces that are under way at once, handed on in order.
//!
//! One connection to a bucket carries a fraction of what the network would. Every piece is asked for under the etag that the
//! first answer named, so all are of one object or the read fails; and at most a few are ahead of whoever takes them, so
//! memory does not grow with the object.

use std::collections::VecDeque;
use std::ops::Range;

use async_trait::async_trait;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

use super::body::Download;
use super::errors::Asked;
use super::{S3Store, meta, quote};
use crate::store::key::check_key;
use crate::store::{Chunks, ObjectMeta, ObjectReader, StoreError};

/// How large a piece is. An object of up to this size is one request.
const PIECE_BYTES: u64 = 8 * 1024 * 1024;
/// How many are under way at once.
const PIECES_AT_ONCE: usize = 4;

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
                next: bytes,
                source,
                first: Some(first),
                waiting: VecDeque::new(),
                tasks: JoinSet::new(),
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
        let answer = self.ask(Some(range), Some(etag)).await;
        // Only here has a read a condition.
        if answer.as_ref().is_err_and(|error| error.raw_response().is_some_and(|raw| raw.status().as_u16() == 412)) {
            return Err(self.changed());
        }
        let answer = answer.map_err(|error| self.store.words().fault(Asked::Read(&self.key), &error));
        let part = match answer {
            Err(StoreError::NotFound { .. } | StoreError::Deleted { .. }) => return Err(self.changed()),
            answer => self.part(answer?, Some(range))?,
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
    error.code() == Some("InvalidRange") || error.raw_response().is_some_and(|raw| raw.status().as_u16() == 416)
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
    /// Where the next piece begins that nobody has asked for.
    next: u64,
    first: Option<Download>,
    /// What was asked for and not yet handed on, in order.
    waiting: VecDeque<UnboundedReceiver<Result<Bytes, StoreError>>>,
    /// Ended with this value.
    tasks: JoinSet<()>,
}

impl Pieces {
    /// Asks for pieces until enough are under way.
    fn ask(&mut self) {
        while self.next < self.bytes && self.waiting.len() + usize::from(self.first.is_some()) < PIECES_AT_ONCE {
            let range = self.next..self.bytes.min(self.next + PIECE_BYTES);
            self.next = range.end;
            let (source, etag) = (self.source.clone(), self.etag.clone());
            // A piece's own size is the bound.
            let (sender, receiver) = unbounded_channel();
            self.waiting.push_back(receiver);
            self.tasks.spawn(async move {
                let mut piece = match source.later(&range, &etag).await {
                    Ok(piece) => piece,
                    Err(error) => return drop(sender.send(Err(error))),
                };
                loop {
                    let chunk = piece.next().await.transpose();
                    let Some(chunk) = chunk else { return };
                    let is_last = chunk.is_err();
                    // Nobody listens any more once the reader was given up.
                    if sender.send(chunk).is_err() || is_last {
                        return;
                    }
                }
            });
        }
        while self.tasks.try_join_next().is_some() {}
    }
}

#[async_trait]
impl Chunks for Pieces {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        self.ask();
        if let Some(first) = &mut self.first {
            if let Some(chunk) = first.next().await? {
                return Ok(Some(chunk));
            }
            self.first = None;
            self.ask();
        }
        while let Some(piece) = self.waiting.front_mut() {
            match piece.recv().await {
                Some(chunk) => return chunk.map(Some),
                None => drop(self.waiting.pop_front()),
            }
            self.ask();
        }
        Ok(None)
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
