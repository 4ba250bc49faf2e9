//! A store that is asked at most so many things at once, by everyone together.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::store::{Object, ObjectMeta, ReadStore, StoreError};

/// A store to look at, and the turns that all readers of one run share.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'s> {
    store: &'s dyn ReadStore,
    turns: &'s Turns,
}

/// How much may be under way at once.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    requests: Arc<Semaphore>,
    /// How many requests may be under way at once.
    pub(crate) number: usize,
}

impl Turns {
    pub(crate) fn new(number: usize) -> Self {
        let number = number.max(1);
        let requests = Arc::new(Semaphore::new(number));
        Self { requests, number }
    }

    async fn request(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        self.requests.acquire().await.map_err(|error| lost(&error))
    }
}

fn lost(error: &tokio::sync::AcquireError) -> StoreError {
    StoreError::Other { subject: "requests".to_owned(), detail: error.to_string() }
}

impl<'s> Reader<'s> {
    pub(crate) fn new(store: &'s dyn ReadStore, turns: &'s Turns) -> Self {
        Self { store, turns }
    }

    /// The store itself, and the turn to make one request of it.
    pub(crate) async fn turn(&self) -> Result<(&'s dyn ReadStore, SemaphorePermit<'s>), StoreError> {
        Ok((self.store, self.turns.request().await?))
    }

    pub(crate) fn turns(&self) -> &'s Turns {
        self.turns
    }

    pub(crate) async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        let (store, _turn) = self.turn().await?;
        store.list(prefix).await
    }

    pub(crate) async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let (store, _turn) = self.turn().await?;
        store.list_dirs(prefix).await
    }

    pub(crate) async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let (store, _turn) = self.turn().await?;
        store.get(key, limit_bytes).await
    }

    pub(crate) async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        let (store, _turn) = self.turn().await?;
        store.head(key).await
    }
}
