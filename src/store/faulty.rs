//! A store that fails on purpose: the n-th call, or every call that matches, in the ways that real stores fail.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    Body, Chunks, ExpiryRule, Object, ObjectMeta, ObjectReader, ObjectVersion, Powers, Put, ReadStore, StoreError, WriteStore,
};

/// Which method of the traits is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the method of that name")]
pub enum Operation {
    List,
    ListDirs,
    ListVersions,
    Get,
    Open,
    Head,
    ExpiryRules,
    Put,
    Copy,
    Delete,
    Powers,
    DeleteExact,
}

/// What happens instead of, or after, the real call.
#[derive(Debug, Clone)]
pub enum Effect {
    /// The call is not made and fails.
    Fail(StoreError),
    /// The call is made, its answer is lost, and it fails as `Unavailable`.
    LoseAcknowledgement,
    /// A body (of get or open) ends after so many bytes, as `Incomplete`.
    ShortBody(u64),
    /// Before the call, someone else writes this content to the key.
    ChangeBefore(Bytes),
    /// After the call, someone else writes this content to the key.
    ChangeAfter(Bytes),
}

/// One fault: when, and what.
#[derive(Debug, Clone)]
pub struct Fault {
    operation: Option<Operation>,
    key: Option<String>,
    /// Of the calls that match, how many pass before it strikes.
    skip: usize,
    /// How often it strikes.
    times: usize,
    effect: Effect,
}

impl Fault {
    /// Strikes at every call.
    #[must_use]
    pub fn new(effect: Effect) -> Self {
        Self { operation: None, key: None, skip: 0, times: usize::MAX, effect }
    }

    /// Strikes only at this method.
    #[must_use]
    pub fn on(mut self, operation: Operation) -> Self {
        self.operation = Some(operation);
        self
    }

    /// Strikes only at keys (or prefixes) that contain this text. A copy is matched by its destination.
    #[must_use]
    pub fn key(mut self, part: impl Into<String>) -> Self {
        self.key = Some(part.into());
        self
    }

    /// Strikes only at the n-th call that matches, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: usize) -> Self {
        self.skip = n.saturating_sub(1);
        self.times = 1;
        self
    }

    /// Strikes at so many calls that match, then never again.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    fn matches(&self, operation: Operation, key: &str) -> bool {
        self.operation.is_none_or(|own| own == operation) && self.key.as_ref().is_none_or(|part| key.contains(part))
    }
}

/// Another store, with faults, and a record of what was asked of it.
pub struct FaultyStore<S> {
    inner: S,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    faults: Vec<Fault>,
    calls: Vec<(Operation, String)>,
}

impl<S: WriteStore> FaultyStore<S> {
    /// A store that does not fail yet.
    pub fn new(inner: S) -> Self {
        Self { inner, state: Mutex::default() }
    }

    /// Adds a fault. Of several that match a call, the first that was added strikes.
    #[must_use]
    pub fn with(self, fault: Fault) -> Self {
        self.add(fault);
        self
    }

    /// Adds a fault to a store that is in use.
    pub fn add(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// The store behind the faults.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Every call so far, in order, with its key or prefix.
    pub fn calls(&self) -> Vec<(Operation, String)> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call and answers what strikes it.
    fn strike(&self, operation: Operation, key: &str) -> Option<Effect> {
        let mut state = self.state();
        state.calls.push((operation, key.to_owned()));
        let mut struck = None;
        for fault in state.faults.iter_mut().filter(|fault| fault.matches(operation, key)) {
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 && struck.is_none() {
                fault.times -= 1;
                struck = Some(fault.effect.clone());
            }
        }
        struck
    }

    /// Makes a call with whatever strikes it.
    async fn call<T>(
        &self,
        operation: Operation,
        key: &str,
        real: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<(T, Option<Effect>), StoreError> {
        let effect = self.strike(operation, key);
        match &effect {
            Some(Effect::Fail(error)) => return Err(error.clone()),
            Some(Effect::ChangeBefore(body)) => self.overwrite(key, body).await?,
            _ => {}
        }
        let value = real.await?;
        match &effect {
            Some(Effect::LoseAcknowledgement) => {
                return Err(StoreError::Unavailable { subject: key.to_owned(), detail: "the answer was lost".to_owned() });
            }
            Some(Effect::ChangeAfter(body)) => self.overwrite(key, body).await?,
            _ => {}
        }
        Ok((value, effect))
    }

    /// Writes over whatever is there, as a foreign program would.
    async fn overwrite(&self, key: &str, body: &Bytes) -> Result<(), StoreError> {
        let condition = match self.inner.head(key).await {
            Ok(meta) => Put::Replace(meta.etag),
            Err(error) if error.is_missing() => Put::Create,
            Err(error) => return Err(error),
        };
        self.inner.put(key, &Body::Bytes(body.clone()), &condition).await.map(|_| ())
    }
}

#[async_trait]
impl<S: WriteStore> ReadStore for FaultyStore<S> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        Ok(self.call(Operation::List, prefix, self.inner.list(prefix)).await?.0)
    }

    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.call(Operation::ListDirs, prefix, self.inner.list_dirs(prefix)).await?.0)
    }

    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        Ok(self.call(Operation::ListVersions, prefix, self.inner.list_versions(prefix)).await?.0)
    }

    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let (object, effect) = self.call(Operation::Get, key, self.inner.get(key, limit_bytes)).await?;
        match effect {
            Some(Effect::ShortBody(bytes)) if bytes < object.meta.bytes => Err(short(key, bytes)),
            _ => Ok(object),
        }
    }

    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        let (reader, effect) = self.call(Operation::Open, key, self.inner.open(key, version_id)).await?;
        match effect {
            Some(Effect::ShortBody(bytes)) if bytes < reader.meta.bytes => {
                let chunks = Short { key: key.to_owned(), inner: reader.chunks, left: bytes, bytes };
                Ok(ObjectReader { meta: reader.meta, chunks: Box::new(chunks) })
            }
            _ => Ok(reader),
        }
    }

    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        Ok(self.call(Operation::Head, key, self.inner.head(key)).await?.0)
    }

    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        Ok(self.call(Operation::ExpiryRules, "", self.inner.expiry_rules()).await?.0)
    }

    fn clock_ahead_seconds(&self) -> Option<i64> {
        self.inner.clock_ahead_seconds()
    }
}

#[async_trait]
impl<S: WriteStore> WriteStore for FaultyStore<S> {
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        Ok(self.call(Operation::Put, key, self.inner.put(key, body, condition)).await?.0)
    }

    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
        Ok(self.call(Operation::Copy, to, self.inner.copy(from, to)).await?.0)
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.call(Operation::Delete, key, self.inner.delete(key)).await.map(|_| ())
    }

    async fn powers(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError> {
        Ok(self.call(Operation::Powers, prefix, self.inner.powers(prefix, versions)).await?.0)
    }

    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        self.call(Operation::DeleteExact, key, self.inner.delete_exact(key, etag)).await.map(|_| ())
    }
}

/// A body that breaks off.
struct Short {
    key: String,
    inner: Box<dyn Chunks>,
    left: u64,
    bytes: u64,
}

#[async_trait]
impl Chunks for Short {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.left == 0 {
            return Err(short(&self.key, self.bytes));
        }
        let chunk = self.inner.next().await?;
        Ok(chunk.map(|mut chunk| {
            chunk.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.left -= chunk.len() as u64;
            chunk
        }))
    }
}

fn short(key: &str, bytes: u64) -> StoreError {
    StoreError::Incomplete { subject: key.to_owned(), detail: format!("the body ended after {bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[tokio::test]
    async fn faults_strike_when_and_where_they_were_told_to() {
        let gone = || Effect::Fail(StoreError::NotFound { key: "planned".into() });
        let store = FaultyStore::new(MemoryStore::new("m")).with(Fault::new(gone()).on(Operation::Get).key("/b").nth(2));
        store.inner().insert("a/b", "0123456789");
        store.inner().insert("a/c", "x");
        assert!(store.get("a/b", 99).await.is_ok());
        assert!(store.get("a/c", 99).await.is_ok());
        assert!(store.head("a/b").await.is_ok());
        assert!(store.get("a/b", 99).await.is_err(), "the second get of it");
        assert!(store.get("a/b", 99).await.is_ok());
        assert_eq!(store.calls().len(), 5);
        assert_eq!(store.calls()[2], (Operation::Head, "a/b".to_owned()));
    }

    #[tokio::test]
    async fn bodies_break_off_and_objects_change_as_planned() {
        let store = FaultyStore::new(MemoryStore::new("m"))
            .with(Fault::new(Effect::ShortBody(4)).on(Operation::Open))
            .with(Fault::new(Effect::ShortBody(4)).on(Operation::Get).nth(1))
            .with(Fault::new(Effect::ChangeAfter("new".into())).on(Operation::Head));
        store.inner().insert("k", "0123456789");
        let mut reader = store.open("k", None).await.expect("it opens");
        assert_eq!(reader.chunks.next().await, Ok(Some(Bytes::from("0123"))));
        assert!(matches!(reader.chunks.next().await, Err(StoreError::Incomplete { .. })));
        assert!(matches!(store.get("k", 99).await, Err(StoreError::Incomplete { .. })));
        assert_eq!(store.head("k").await.expect("the old facts").bytes, 10);
        assert_eq!(store.get("k", 99).await.expect("the new content").body, "new");
    }
}
