//! Writing over whatever is there, by compare-and-swap (seed 000, `putReplacing`).

use crate::error::CommandError;
use crate::store::{self, Body, ObjectMeta, StoreError, WriteStore};

/// How often a lost race is run again.
pub(super) const ATTEMPTS: usize = 3;

/// What is at `key` now; `None` when nothing is.
pub(super) async fn there(store: &dyn WriteStore, key: &str) -> Result<Option<ObjectMeta>, StoreError> {
    match store.head(key).await {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes over exactly `before`, and answers the new etag; `None` when something else is there by now.
pub(super) async fn swap(
    store: &dyn WriteStore,
    key: &str,
    body: &Body,
    before: Option<&ObjectMeta>,
) -> Result<Option<String>, StoreError> {
    let written = match before {
        None => store::create(store, key, body).await,
        Some(before) => store::replace(store, key, body, &before.etag).await,
    };
    match written {
        Ok(published) => Ok(Some(published.etag)),
        // Gone since it was looked at is a lost race too.
        Err(StoreError::Conflict { .. } | StoreError::NotFound { .. } | StoreError::Deleted { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes `key` whatever is there. `what` is the pass, for messages.
pub(super) async fn put_replacing(store: &dyn WriteStore, what: &str, key: &str, body: &Body) -> Result<(), CommandError> {
    for _ in 0..ATTEMPTS {
        let before = there(store, key).await.map_err(|error| failed(what, "get", &error))?;
        if swap(store, key, body, before.as_ref()).await.map_err(|error| failed(what, "put", &error))?.is_some() {
            return Ok(());
        }
    }
    Err(lost(what, key))
}

/// Three lost races.
pub(super) fn lost(what: &str, key: &str) -> CommandError {
    CommandError::new(crate::exit::Exit::Changed, format!("{what}: {key}: lost CAS race three times"))
}

/// A store's error, in the seed's words. It names the key itself.
pub(super) fn failed(what: &str, doing: &str, error: &StoreError) -> CommandError {
    let mut command = CommandError::from(error.clone());
    command.message = format!("{what}: {doing} {error}");
    command
}
