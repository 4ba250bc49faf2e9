//! What a store can be trusted with, found by trying it on objects of our own (formats.md section 2).
//!
//! Some servers take a condition and ignore it. Only a refusal that was seen counts; whatever cannot be told is no.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::key::random_name;
use super::{Body, Put, ReadStore, StoreError, WriteStore};
use crate::platform::keys;

/// A trial that failed within this time is made once more.
const AGAIN_WITHIN: Duration = Duration::from_secs(1);
/// The pause before.
const PAUSE: Duration = Duration::from_millis(200);

/// One thing that commands may need a store to enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// A create is refused where something is.
    CreateOnly,
    /// A replacement is refused unless the etag is the one that is there.
    ReplaceIf,
    /// A deletion is refused unless the etag is the one that is there.
    DeleteIf,
}

/// What was seen to be enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// A create is refused where something is.
    pub create_only: bool,
    /// A replacement is refused unless the etag is the one that is there.
    pub replace_if: bool,
    /// A deletion is refused unless the etag is the one that is there.
    pub delete_if: bool,
    store: String,
    /// What the store said where it would not do something at all: it may have been about something else.
    said: Option<String>,
}

impl Capabilities {
    /// Refuses unless every capability was seen.
    ///
    /// # Errors
    /// `Unsupported`, naming the first that is missing.
    pub fn require(&self, needed: &[Capability]) -> Result<(), StoreError> {
        for capability in needed {
            let (there, name) = match capability {
                Capability::CreateOnly => (self.create_only, "a create that never overwrites (If-None-Match)"),
                Capability::ReplaceIf => (self.replace_if, "a replacement of exactly one etag (If-Match)"),
                Capability::DeleteIf => (self.delete_if, "a deletion of exactly one etag (If-Match)"),
            };
            if !there {
                let capability = match &self.said {
                    Some(said) => format!("{name}, to which {said},"),
                    None => name.to_owned(),
                };
                return Err(StoreError::Unsupported { store: self.store.clone(), capability });
            }
        }
        Ok(())
    }
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::CreateOnly, Self::ReplaceIf, Self::DeleteIf];
}

/// Tries a store out, in everything. Its scratch object is removed again, also where a trial failed.
///
/// # Errors
/// The store's, where it could not be tried: no permission, no answer.
pub async fn probe(store: &dyn WriteStore) -> Result<Capabilities, StoreError> {
    probe_for(store, &Capability::ALL).await
}

/// As [`probe`], only in what is `wanted`; anything else counts as not seen.
///
/// # Errors
/// As [`probe`].
pub async fn probe_for(store: &dyn WriteStore, wanted: &[Capability]) -> Result<Capabilities, StoreError> {
    let begin = Instant::now();
    match once(store, wanted).await {
        // Its writes are sent once, so one "later" would end what was only a trial. What was waited for in vain is not asked again.
        Err(StoreError::Unavailable { .. } | StoreError::Busy { .. }) if begin.elapsed() < AGAIN_WITHIN => {
            tokio::time::sleep(PAUSE).await;
            once(store, wanted).await
        }
        result => result,
    }
}

/// One trial, on an object of its own.
async fn once(store: &dyn WriteStore, wanted: &[Capability]) -> Result<Capabilities, StoreError> {
    let key = format!("{}{}", keys::PROBES, random_name()?);
    let tried = try_out(store, &key, wanted).await;
    if tried.as_ref().is_ok_and(|found| found.delete_if) {
        store.compares_before_it_deletes();
        return tried;
    }
    let removed = store.delete(&key).await;
    let capabilities = tried?;
    removed.map(|()| capabilities)
}

async fn try_out(store: &dyn WriteStore, key: &str, wanted: &[Capability]) -> Result<Capabilities, StoreError> {
    let mut found =
        Capabilities { create_only: false, replace_if: false, delete_if: false, store: store.describe(), said: None };
    let (first, second, third) = (body("first"), body("second"), body("third"));
    let Some(mut etag) = done(store.put(key, &first, &Put::Create).await, &mut found)? else { return Ok(found) };
    found.create_only = refused(store.put(key, &second, &Put::Create).await)? && holds(store, key, &first).await?;
    if !found.create_only {
        // What is there now is not what the next trial would build on.
        return Ok(found);
    }
    let mut content = &first;
    if wanted.contains(&Capability::ReplaceIf) {
        let replaced = done(store.put(key, &second, &Put::Replace(etag.clone())).await, &mut found)?;
        let stale_refused = refused(store.put(key, &third, &Put::Replace(etag.clone())).await)?;
        found.replace_if = replaced.is_some() && stale_refused && holds(store, key, &second).await?;
        let Some(now) = replaced else { return Ok(found) };
        (etag, content) = (now, &second);
    }
    if wanted.contains(&Capability::DeleteIf) {
        found.delete_if = refused(store.delete_exact(key, &another(&etag)).await)?
            && holds(store, key, content).await?
            && done(store.delete_exact(key, &etag).await, &mut found)?.is_some();
    }
    Ok(found)
}

/// Not any etag, but one that differs from the right one only in its digits.
pub(super) fn another(etag: &str) -> String {
    etag.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect()
}

fn body(text: &'static str) -> Body {
    Body::Bytes(Bytes::from_static(text.as_bytes()))
}

/// The value of what was done; `None` where the store refused to do it at all.
fn done<T>(result: Result<T, StoreError>, found: &mut Capabilities) -> Result<Option<T>, StoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::Other { detail, .. }) => {
            found.said = Some(detail);
            Ok(None)
        }
        Err(StoreError::Conflict { .. } | StoreError::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether what had to be refused was refused, for the right reason.
fn refused<T>(result: Result<T, StoreError>) -> Result<bool, StoreError> {
    match result {
        Err(StoreError::Conflict { .. }) => Ok(true),
        Ok(_) | Err(StoreError::Unsupported { .. } | StoreError::Other { .. } | StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a refusal also left the content alone: some servers refuse and write.
async fn holds<S: ReadStore + ?Sized>(store: &S, key: &str, expected: &Body) -> Result<bool, StoreError> {
    let Body::Bytes(expected) = expected else { return Ok(false) };
    match store.get(key, 1024).await {
        Ok(object) => Ok(object.body == *expected),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DirectoryStore, Effect, Fault, FaultyStore, MemoryStore, Operation};

    const ALL: [Capability; 3] = Capability::ALL;

    async fn left_behind(store: &dyn WriteStore) -> usize {
        store.list(keys::PROBES).await.expect("a listing").len()
    }

    #[tokio::test]
    async fn our_own_stores_can_be_trusted_and_are_left_clean() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = DirectoryStore::open(directory.path()).expect("it opens");
        for store in [&MemoryStore::new("m") as &dyn WriteStore, &MemoryStore::versioned("v"), &directory] {
            let found = probe(store).await.expect("it can be tried");
            assert_eq!(found.require(&ALL), Ok(()), "{}", store.describe());
            assert_eq!(left_behind(store).await, 0, "{}", store.describe());
        }
    }

    #[tokio::test]
    async fn a_refusal_that_was_not_seen_does_not_count() {
        let refuse = Effect::Fail(StoreError::Unsupported { store: "m".into(), capability: "x".into() });
        let store = FaultyStore::new(MemoryStore::new("m")).with(Fault::new(refuse).on(Operation::DeleteExact));
        let found = probe(&store).await.expect("it can be tried");
        assert_eq!((found.create_only, found.replace_if, found.delete_if), (true, true, false));
        assert!(matches!(found.require(&ALL), Err(StoreError::Unsupported { .. })));
        assert_eq!(found.require(&ALL[..2]), Ok(()));
        assert_eq!(left_behind(store.inner()).await, 0);
    }

    #[tokio::test]
    async fn what_was_not_wanted_is_not_tried_and_not_trusted() {
        let store = FaultyStore::new(MemoryStore::new("m"));
        let found = probe_for(&store, &[Capability::CreateOnly]).await.expect("it can be tried");
        assert_eq!((found.create_only, found.replace_if, found.delete_if), (true, false, false));
        let calls: Vec<Operation> = store.calls().into_iter().map(|(operation, _)| operation).collect();
        assert_eq!(calls, [Operation::Put, Operation::Put, Operation::Get, Operation::Delete]);
        let found = probe_for(&store, &[Capability::DeleteIf]).await.expect("it can be tried");
        assert_eq!((found.replace_if, found.delete_if), (false, true));
        assert_eq!(left_behind(store.inner()).await, 0);
    }

    #[tokio::test]
    async fn a_deletion_that_is_refused_and_done_all_the_same_is_no_capability() {
        let gone = Effect::ChangeBefore("other".into());
        let store = FaultyStore::new(MemoryStore::new("m")).with(Fault::new(gone).on(Operation::DeleteExact).nth(1));
        assert!(!probe(&store).await.expect("it can be tried").delete_if);
        assert_eq!(left_behind(store.inner()).await, 0);
    }

    #[tokio::test]
    async fn a_server_that_refuses_and_writes_all_the_same_is_found_out() {
        let overwritten = Effect::ChangeBefore("second".into());
        let store = FaultyStore::new(MemoryStore::new("m")).with(Fault::new(overwritten).on(Operation::Put).nth(2));
        assert!(!probe(&store).await.expect("it can be tried").create_only);
    }

    #[tokio::test]
    async fn a_trial_that_fails_half_way_cleans_up() {
        let gone = Effect::Fail(StoreError::Unavailable { subject: "k".into(), detail: "later".into() });
        let store = FaultyStore::new(MemoryStore::new("m")).with(Fault::new(gone.clone()).on(Operation::Put).nth(3));
        assert_eq!(probe(&store).await.expect("the second trial is whole").require(&ALL), Ok(()));
        assert_eq!(left_behind(store.inner()).await, 0);
        // The second write of the first trial, and of the second.
        store.add(Fault::new(gone.clone()).on(Operation::Put).nth(2));
        store.add(Fault::new(gone).on(Operation::Put).nth(3));
        assert!(matches!(probe(&store).await, Err(StoreError::Unavailable { .. })));
        assert_eq!(left_behind(store.inner()).await, 0);
    }
}
