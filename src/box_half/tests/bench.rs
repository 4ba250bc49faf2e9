//! A box with a registry of its own, and a store that can be hooked.

use std::path::PathBuf;

use async_trait::async_trait;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::box_half::{Line, LiveRegistry, Log, Memory, Outcome, PassError, SnapshotPass, Stop, Stopper};
use crate::demo::registry::{RouteSpec, build_live};
use crate::platform::{Label, Sidecar, keys};
use crate::registry::{Census, Registry};
use crate::store::{
    Body, ExpiryRule, MemoryStore, Object, ObjectMeta, ObjectReader, ObjectVersion, Powers, Put, ReadStore, StoreError,
    WriteStore,
};

pub(super) struct Box_ {
    directory: TempDir,
    pub(super) registry: LiveRegistry,
    pub(super) label: Label,
    pub(super) log: Log,
    lines: UnboundedReceiver<Line>,
    pub(super) stopper: Stopper,
    pub(super) stop: Stop,
    pub(super) memory: Memory,
}

pub(super) fn at(minute: i64) -> Timestamp {
    Timestamp::constant(1_796_032_800, 0) + jiff::SignedDuration::from_mins(minute)
}

impl Box_ {
    pub(super) fn new(label: &str, routes: &[RouteSpec]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build_live(&path, routes).expect("a registry");
        let (log, lines) = Log::new();
        let (stopper, stop) = Stopper::pair();
        let label = label.parse().expect("a label");
        Self { registry: LiveRegistry::new(path), directory, label, log, lines, stopper, stop, memory: Memory::default() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join("registry.db")
    }

    pub(super) fn edit(&self, sql: &str) {
        rusqlite::Connection::open(self.path()).expect("it opens").execute_batch(sql).expect("it runs");
    }

    pub(super) async fn pass(&mut self, store: &dyn WriteStore, minute: i64) -> Result<Outcome, PassError> {
        let Self { registry, label, log, stop, memory, .. } = self;
        let pass = SnapshotPass { store, registry, label, default_account: "ops", log, stop };
        pass.run(at(minute), memory).await
    }

    /// A pass that publishes.
    pub(super) async fn publish(&mut self, store: &dyn WriteStore, minute: i64) {
        let outcome = self.pass(store, minute).await.expect("it publishes");
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
    }

    /// What a new process on this box remembers.
    pub(super) async fn restart(&mut self, store: &dyn WriteStore) {
        self.memory = Memory::seed(store, &self.label).await;
        let (stopper, stop) = Stopper::pair();
        (self.stopper, self.stop) = (stopper, stop);
    }

    pub(super) fn said(&mut self) -> Vec<Line> {
        std::iter::from_fn(|| self.lines.try_recv().ok()).collect()
    }

    pub(super) fn fingerprint(&self) -> String {
        Registry::open_live(&self.path()).expect("it opens").fingerprint().expect("a fingerprint")
    }

    /// Current, sidecar and generations are what a pass that came to its end leaves of this registry.
    pub(super) async fn is_healthy(&self, store: &dyn WriteStore) {
        let current = store.get(&keys::current(&self.label), u64::MAX).await.expect("current");
        let key = keys::sidecar(&self.label);
        let sidecar = Sidecar::read(&key, &store.get(&key, 4096).await.expect("a sidecar").body).expect("it reads");
        assert_eq!((sidecar.label.as_str(), sidecar.bytes), (self.label.as_str(), current.meta.bytes));
        assert_eq!(sidecar.fingerprint, self.fingerprint());
        assert_eq!(fingerprint_of(&current.body), sidecar.fingerprint, "current is another registry than its sidecar says");
        let generations = store.list(&keys::generations(&self.label)).await.expect("a listing");
        assert!(generations.len() <= keys::GENERATIONS_KEPT, "{} generations", generations.len());
        assert!(generations.iter().any(|generation| generation.etag == current.meta.etag), "no generation equals current");
    }
}

/// Opens a snapshot's bytes.
pub(super) fn opened<T>(bytes: &[u8], question: impl FnOnce(&Registry) -> T) -> T {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    question(&Registry::open_snapshot(file.path()).expect("it opens"))
}

pub(super) fn fingerprint_of(bytes: &[u8]) -> String {
    opened(bytes, |registry| registry.fingerprint().expect("a fingerprint"))
}

pub(super) fn census_of(bytes: &[u8]) -> Census {
    opened(bytes, |registry| registry.census("ops").expect("a census"))
}

/// A store that asks before and after each call that changes something or could be waited for.
pub(super) struct Hooked<H> {
    pub(super) inner: MemoryStore,
    pub(super) hook: H,
}

/// Where a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

impl<H: Fn(When, &str) -> bool + Send + Sync> Hooked<H> {
    /// Where the hook says so, the call never goes on: the process is killed here.
    async fn ask(&self, when: When, key: &str) {
        if (self.hook)(when, key) {
            std::future::pending::<()>().await;
        }
    }

    async fn call<T>(&self, key: &str, real: impl Future<Output = T>) -> T {
        self.ask(When::Before, key).await;
        let answer = real.await;
        self.ask(When::After, key).await;
        answer
    }
}

#[async_trait]
impl<H: Fn(When, &str) -> bool + Send + Sync> ReadStore for Hooked<H> {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn name(&self) -> String {
        self.inner.name()
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        self.call(prefix, self.inner.list(prefix)).await
    }
    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.call(prefix, self.inner.list_dirs(prefix)).await
    }
    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        self.call(prefix, self.inner.list_versions(prefix)).await
    }
    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        self.call(key, self.inner.get(key, limit_bytes)).await
    }
    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        self.call(key, self.inner.open(key, version_id)).await
    }
    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        self.call(key, self.inner.head(key)).await
    }
    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        self.inner.expiry_rules().await
    }
    fn clock_ahead_seconds(&self) -> Option<i64> {
        self.inner.clock_ahead_seconds()
    }
}

#[async_trait]
impl<H: Fn(When, &str) -> bool + Send + Sync> WriteStore for Hooked<H> {
    async fn put(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        self.call(key, self.inner.put(key, body, condition)).await
    }
    async fn copy(&self, from: &ObjectMeta, to: &str) -> Result<ObjectMeta, StoreError> {
        self.call(to, self.inner.copy(from, to)).await
    }
    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.call(key, self.inner.delete(key)).await
    }
    async fn powers(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError> {
        self.call(prefix, self.inner.powers(prefix, versions)).await
    }
    async fn delete_exact(&self, key: &str, etag: &str) -> Result<(), StoreError> {
        self.call(key, self.inner.delete_exact(key, etag)).await
    }
}
