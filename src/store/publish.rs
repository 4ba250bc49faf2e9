//! Conditional writes whose answer may be lost: written, read back, and only then called a conflict.
//!
//! A write that was sent and not answered may have been stored. Sent again, it would be refused by its own success. So the
//! object is read back and compared first. Equal content counts as ours: where it matters *who* wrote it (a nonce that
//! may be used once, say), the content must say so.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::digest::digest_of_body;
use super::{Body, ObjectMeta, Put, StoreError, WriteStore};

/// How often a write is sent.
const ATTEMPTS: u32 = 4;
/// The pause after the first attempt; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// What took longer than this altogether is not sent again: a store that does not answer is not waited for many times over.
const AGAIN_WITHIN: Duration = Duration::from_secs(3);

/// What a write that succeeded left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The etag of what is stored now.
    pub etag: String,
    /// Whether the store said so itself; else the object was read back and has our content.
    pub acknowledged: bool,
}

/// Creates `key`.
///
/// # Errors
/// `Conflict` when something else is there; `Unavailable` or `Busy` when it cannot be told after several attempts; others
/// as the store gives them.
pub async fn create(store: &dyn WriteStore, key: &str, body: &Body) -> Result<Published, StoreError> {
    publish(store, key, body, &Put::Create).await
}

/// Replaces exactly `etag` of `key`.
///
/// # Errors
/// As [`create`].
pub async fn replace(store: &dyn WriteStore, key: &str, body: &Body, etag: &str) -> Result<Published, StoreError> {
    publish(store, key, body, &Put::Replace(etag.to_owned())).await
}

/// Copies `from` inside the store to `to`, where nothing is. A copy whose answer was lost is known by the etag of its source.
///
/// # Errors
/// As [`create`], and `Conflict` when `from` has another content by now.
pub async fn copy(store: &dyn WriteStore, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
    let (begin, mut attempt) = (Instant::now(), 1);
    loop {
        let error = match store.copy(from, to).await {
            Ok(copy) => return Ok(copy),
            Err(error) => error,
        };
        if !matches!(error, StoreError::Unavailable { .. } | StoreError::Busy { .. }) {
            return Err(error);
        }
        match store.head(to).await {
            Ok(there) if (&there.etag, there.bytes) == (&from.etag, from.bytes) => return Ok(there),
            Err(missing) if missing.is_missing() && attempt < ATTEMPTS && begin.elapsed() < AGAIN_WITHIN => {}
            // What is there is not known to be the copy, or it answers nothing at all, or this was often enough.
            _ => return Err(error),
        }
        tokio::time::sleep(PAUSE * 2_u32.pow(attempt - 1)).await;
        attempt += 1;
    }
}

async fn publish(store: &dyn WriteStore, key: &str, body: &Body, condition: &Put) -> Result<Published, StoreError> {
    // Whether an earlier attempt of ours may have been stored.
    let mut in_doubt = false;
    let (begin, mut attempt) = (Instant::now(), 1);
    loop {
        let error = match store.put(key, body, condition).await {
            Ok(etag) => return Ok(Published { etag, acknowledged: true }),
            Err(error) => error,
        };
        match &error {
            StoreError::Conflict { .. } if in_doubt => {}
            StoreError::Unavailable { .. } => in_doubt = true,
            StoreError::Busy { .. } => {}
            _ => return Err(error),
        }
        if in_doubt {
            match stored(store, key, body).await {
                Ok(Some(etag)) => return Ok(Published { etag, acknowledged: false }),
                Ok(None) => {}
                // It answers nothing at all: writing again would only wait longer.
                Err(_) => return Err(error),
            }
        }
        if matches!(error, StoreError::Conflict { .. }) || attempt == ATTEMPTS || begin.elapsed() >= AGAIN_WITHIN {
            return Err(error);
        }
        tokio::time::sleep(PAUSE * 2_u32.pow(attempt - 1)).await;
        attempt += 1;
    }
}

/// The etag of `key` when it holds exactly `body`.
async fn stored(store: &dyn WriteStore, key: &str, body: &Body) -> Result<Option<String>, StoreError> {
    let mut reader = match store.open(key, None).await {
        Ok(reader) => reader,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let (sha256, bytes) = digest_of_body::<Sha256>(body).await?;
    if reader.meta.bytes != bytes {
        return Ok(None);
    }
    let mut hasher = Sha256::new();
    while let Some(chunk) = reader.chunks.next().await? {
        hasher.update(&chunk);
    }
    Ok((hasher.finalize() == sha256).then_some(reader.meta.etag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Effect, Fault, FaultyStore, MemoryStore, Operation, ReadStore};
    use bytes::Bytes;

    fn store() -> FaultyStore<MemoryStore> {
        FaultyStore::new(MemoryStore::new("dep"))
    }

    fn body(text: &'static str) -> Body {
        Body::Bytes(Bytes::from_static(text.as_bytes()))
    }

    fn unavailable() -> Effect {
        Effect::Fail(StoreError::Unavailable { subject: "k".into(), detail: "later".into() })
    }

    fn puts(store: &FaultyStore<MemoryStore>) -> usize {
        store.calls().iter().filter(|(operation, _)| *operation == Operation::Put).count()
    }

    #[tokio::test]
    async fn a_lost_answer_is_read_back_and_no_conflict() {
        let store = store().with(Fault::new(Effect::LoseAcknowledgement).on(Operation::Put).nth(1));
        let published = create(&store, "k", &body("ours")).await.expect("it was stored");
        assert_eq!((published.acknowledged, puts(&store)), (false, 1));
        assert_eq!(store.inner().head("k").await.expect("it is there").etag, published.etag);
    }

    #[tokio::test]
    async fn a_write_that_never_arrived_is_sent_again() {
        let store = store().with(Fault::new(unavailable()).on(Operation::Put).nth(1));
        let published = create(&store, "k", &body("ours")).await.expect("the second one is stored");
        assert_eq!((published.acknowledged, puts(&store)), (true, 2));
        let etag = published.etag;
        store.add(Fault::new(unavailable()).on(Operation::Put).nth(1));
        let published = replace(&store, "k", &body("next"), &etag).await.expect("the second one is stored");
        assert!(published.acknowledged);
    }

    #[tokio::test]
    async fn a_conflict_is_a_conflict_even_with_equal_content_when_nothing_was_in_doubt() {
        let store = store();
        store.inner().insert("k", "ours");
        assert!(matches!(create(&store, "k", &body("ours")).await, Err(StoreError::Conflict { .. })));
        assert_eq!(puts(&store), 1);
    }

    #[tokio::test]
    async fn in_doubt_someone_elses_content_is_a_conflict() {
        let lost = Fault::new(unavailable()).on(Operation::Put).nth(1);
        let store = store().with(lost).with(Fault::new(Effect::ChangeBefore("theirs".into())).on(Operation::Put).nth(1));
        assert!(matches!(create(&store, "k", &body("ours")).await, Err(StoreError::Conflict { .. })));
        assert_eq!(store.inner().get("k", 9).await.expect("it is there").body, "theirs");
    }

    #[tokio::test]
    async fn a_busy_key_is_tried_again_and_its_winner_respected() {
        let busy = Effect::Fail(StoreError::Busy { key: "k".into() });
        let store = store().with(Fault::new(busy).on(Operation::Put).times(2));
        assert!(create(&store, "k", &body("ours")).await.expect("the third one is stored").acknowledged);
        assert_eq!(puts(&store), 3);
        store.add(Fault::new(Effect::Fail(StoreError::Busy { key: "k".into() })).on(Operation::Put).nth(1));
        assert!(matches!(create(&store, "k", &body("ours")).await, Err(StoreError::Conflict { .. })));
    }

    #[tokio::test]
    async fn a_copy_is_made_in_spite_of_lost_answers_and_later() {
        let store = store();
        store.inner().insert("from", "content");
        let from = store.inner().head("from").await.expect("it is there");
        for (number, effect) in [unavailable(), Effect::LoseAcknowledgement].into_iter().enumerate() {
            store.add(Fault::new(effect).on(Operation::Copy).nth(1));
            let to = format!("to-{number}");
            assert_eq!(copy(&store, &from, &to).await.expect("it is made").etag, from.etag);
            assert_eq!(store.inner().get(&to, 99).await.expect("it is there").body, "content");
        }
        // Something else under its name is never taken for it.
        store.inner().insert("to", "other");
        store.add(Fault::new(unavailable()).on(Operation::Copy).nth(1));
        assert!(matches!(copy(&store, &from, "to").await, Err(StoreError::Unavailable { .. })));
        assert!(matches!(copy(&store, &from, "to").await, Err(StoreError::Conflict { .. })));
        assert_eq!(store.inner().get("to", 99).await.expect("it is there").body, "other");
    }

    #[tokio::test]
    async fn a_store_that_is_gone_is_not_asked_for_ever() {
        let store = store().with(Fault::new(unavailable()));
        assert!(matches!(create(&store, "k", &body("ours")).await, Err(StoreError::Unavailable { .. })));
        assert_eq!(puts(&store), 1);
    }

    #[tokio::test]
    async fn a_file_is_compared_too() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "from a file").expect("it is written");
        let store = store().with(Fault::new(Effect::LoseAcknowledgement).on(Operation::Put).nth(1));
        let published = create(&store, "k", &Body::File(file.path().to_owned())).await.expect("it was stored");
        assert!(!published.acknowledged);
    }
}
