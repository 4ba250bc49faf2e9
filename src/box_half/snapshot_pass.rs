//! One pass (seed 000, `registrySnapshotPass`): when the registry changed, a generation, then current, then the sidecar, then
//! the pruning; and the fingerprint is remembered only after all of it.
//!
//! Differences from the seed, all on the safe side: a hold first (see `guard`); the published fingerprint is that of the copy
//! that was published, not of the moment before; and a first pass with nothing to publish finishes what a killed one left
//! (seed: the pruning would wait for the next change).

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;
use tempfile::TempDir;

use super::guard::{Prior, refused};
use super::live::LiveRegistry;
use super::log::Log;
use super::replacing::{self, ATTEMPTS, failed};
use super::stop::{PassError, Stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::document::MAX_BYTES;
use crate::platform::{Label, Sidecar, Stamp, go, keys};
use crate::registry::{Census, Registry};
use crate::store::{self, Body, Capability, ObjectMeta, StoreError, WriteStore};

/// How far this machine's clock may be from the store's before it is said.
const CLOCK_TOLERANCE_SECONDS: i64 = 300;

/// What a pass needs.
pub struct SnapshotPass<'a> {
    /// The deployment store.
    pub store: &'a dyn WriteStore,
    /// This box's registry.
    pub registry: &'a LiveRegistry,
    /// This box.
    pub label: &'a Label,
    /// The account of a route that names none.
    pub default_account: &'a str,
    /// Where it speaks.
    pub log: &'a Log,
    /// When it ends.
    pub stop: &'a Stop,
}

/// What is remembered from one pass to the next.
#[derive(Debug, Default)]
pub struct Memory {
    /// The fingerprint of what was published last; empty when that is not known.
    fingerprint: String,
    /// The size that the sidecar names, until it was seen that the snapshot beside it is the one.
    unsettled: Option<u64>,
    /// What this process has published last, by the etag of current.
    published: Option<(String, Census)>,
    /// Whether the store was seen to enforce conditions.
    store_is_trusted: bool,
}

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The registry is as it was published last.
    Unchanged {
        /// Generations that an earlier pass should have pruned.
        pruned: usize,
    },
    /// It was published.
    Published(Published),
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Published {
    /// The generation's key.
    pub generation: String,
    /// Whether another object already had that key. It was kept, and may hold older content.
    pub generation_existed: bool,
    /// The snapshot's size.
    pub bytes: u64,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its routes.
    pub routes: u64,
    /// The hold that was taken before the prior snapshot was overwritten.
    pub held: Option<Stamp>,
    /// How many generations were pruned.
    pub pruned: usize,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unchanged { pruned: 0 } => write!(f, "agent: registry snapshot: unchanged"),
            Self::Unchanged { pruned } => write!(f, "agent: registry snapshot: unchanged, pruned {pruned}"),
            Self::Published(published) => {
                let kept = if published.generation_existed { " (it existed, and was kept)" } else { "" };
                write!(
                    f,
                    "agent: registry snapshot: published {}{kept}, {} bytes, {} routes, pruned {}",
                    published.generation, published.bytes, published.routes, published.pruned
                )
            }
        }
    }
}

/// The clean copy that is published.
pub(super) struct Copy {
    path: PathBuf,
    bytes: u64,
    fingerprint: String,
    pub(super) census: Census,
    _directory: TempDir,
}

impl Memory {
    /// Starts where the bucket is (seed `seedSnapshotFingerprint`), so that a loop which is restarted often does not fill the
    /// generations with equal copies. Whatever cannot be read is not remembered; this never fails.
    pub async fn seed(store: &dyn WriteStore, label: &Label) -> Self {
        let key = keys::sidecar(label);
        let sidecar = store.get(&key, MAX_BYTES as u64).await.ok();
        let sidecar = sidecar.and_then(|object| Sidecar::read(&key, &object.body).ok());
        sidecar.map_or_else(Self::default, |sidecar| Self {
            fingerprint: sidecar.fingerprint,
            unsettled: Some(sidecar.bytes),
            ..Self::default()
        })
    }
}

impl SnapshotPass<'_> {
    /// Makes one pass. `now` names the generation and dates the sidecar.
    ///
    /// # Errors
    /// `Failed` with what was not done; everything is tried again at the next pass. `Stopped` at a point where nothing is
    /// half done.
    pub async fn run(&self, now: Timestamp, memory: &mut Memory) -> Result<Outcome, PassError> {
        let fingerprint = self.fingerprint().await?;
        self.go_on(fingerprint, now, memory).await
    }

    /// Makes the only pass of a process: the bucket is asked where it is while the registry is read.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_once(&self, now: Timestamp) -> Result<Outcome, PassError> {
        let (fingerprint, mut memory) = tokio::join!(self.fingerprint(), Memory::seed(self.store, self.label));
        self.go_on(fingerprint?, now, &mut memory).await
    }

    async fn fingerprint(&self) -> Result<String, PassError> {
        let fingerprint = self.registry.ask(self.stop, |registry, _| registry.fingerprint()).await?;
        fingerprint.map_err(|error| refused("snapshot: fingerprint", &error))
    }

    async fn go_on(&self, fingerprint: String, now: Timestamp, memory: &mut Memory) -> Result<Outcome, PassError> {
        if fingerprint == memory.fingerprint
            && let Some(pruned) = self.settled(memory).await?
        {
            return Ok(Outcome::Unchanged { pruned });
        }
        // The copy is this machine's work, the rest is waiting for the store.
        let is_trusted = memory.store_is_trusted;
        let (copy, trusted, there) = tokio::join!(self.copy(), self.trust(is_trusted), self.there(memory.published.as_ref()));
        let copy = copy?;
        trusted?;
        memory.store_is_trusted = true;
        let outcome = self.publish(copy, there?, now, memory).await;
        self.say_clock();
        outcome.map(Outcome::Published)
    }

    /// Finishes what a killed pass may have left; `None` when that takes a whole pass. Asked once a process.
    async fn settled(&self, memory: &mut Memory) -> Result<Option<usize>, PassError> {
        let Some(bytes) = memory.unsettled else { return Ok(Some(0)) };
        let key = keys::current(self.label);
        let (current, surplus) = tokio::join!(self.stop.unless_said(replacing::there(self.store, &key)), self.surplus());
        let current = current?.map_err(|error| failed("snapshot", "get", &error))?;
        if current.is_none_or(|current| current.bytes != bytes) {
            return Ok(None);
        }
        let pruned = self.prune(surplus?).await?;
        memory.unsettled = None;
        Ok(Some(pruned))
    }

    /// A clean copy in a private place.
    async fn copy(&self) -> Result<Copy, PassError> {
        let default_account = self.default_account.to_owned();
        let copied = self.registry.ask(self.stop, move |registry, interrupter| {
            let io = |error: std::io::Error| crate::registry::RegistryError::Io(error.to_string());
            let directory = crate::host::private::directory("carlosctl-").map_err(io)?;
            let path = directory.path().join("registry.db");
            registry.vacuum_into(&path)?;
            let copy = Registry::open_snapshot(&path)?.interrupted_by(interrupter)?;
            let (census, fingerprint) = copy.census_and_fingerprint(&default_account)?;
            let bytes = std::fs::metadata(&path).map_err(io)?.len();
            Ok(Copy { path, bytes, fingerprint, census, _directory: directory })
        });
        copied.await?.map_err(|error| refused("snapshot: vacuum", &error))
    }

    /// A store that takes conditions and ignores them would let two boxes overwrite each other unseen.
    async fn trust(&self, is_trusted: bool) -> Result<(), PassError> {
        if !is_trusted {
            let needed = [Capability::CreateOnly, Capability::ReplaceIf];
            let found = self.stop.unless_said(store::probe_for(self.store, &needed)).await?;
            let enough = found.and_then(|found| found.require(&needed));
            enough.map_err(|error| failed("snapshot", "trying the store:", &error))?;
        }
        Ok(())
    }

    /// What is about to be overwritten: the sidecar where it names another box, and the snapshot.
    async fn there(&self, known: Option<&(String, Census)>) -> Result<(Option<Sidecar>, Option<Prior>), PassError> {
        let (foreign, prior) = tokio::join!(self.foreign(), self.prior(known));
        Ok((foreign?, prior?))
    }

    async fn publish(
        &self,
        copy: Copy,
        (foreign, prior): (Option<Sidecar>, Option<Prior>),
        now: Timestamp,
        memory: &mut Memory,
    ) -> Result<Published, PassError> {
        let stamp = Stamp::at(now);
        let body = Body::File(copy.path.clone());
        let held = self.hold_first(prior.as_ref(), &copy, foreign.as_ref(), stamp).await?;

        let generation = keys::generation(self.label, stamp);
        let created = self.stop.unless_said(store::create(self.store, &generation, &body)).await?;
        let generation_existed = match created {
            Ok(_) => false,
            // A run of the same second, or a clock that stepped back: what is there is kept (seed).
            Err(StoreError::Conflict { .. }) => true,
            Err(error) => return Err(failed("snapshot", "put", &error).into()),
        };
        if let Some(prior) = &foreign {
            self.warn_of(prior);
        }
        let sidecar = Sidecar {
            label: self.label.as_str().to_owned(),
            fingerprint: copy.fingerprint.clone(),
            created_at: Some(now),
            bytes: copy.bytes,
        };
        let sidecar = sidecar.to_json().map_err(|error| CommandError::new(Exit::Unexpected, format!("snapshot: {error}")))?;

        if self.stop.is_said() {
            return Err(PassError::Stopped);
        }
        // From here on until the sidecar stands, being told to stop is not heard: current and sidecar are a pair.
        let (etag, held) = self.replace_current(&body, prior, &copy, (foreign.as_ref(), stamp, held)).await?;
        replacing::put_replacing(self.store, "snapshot", &keys::sidecar(self.label), &sidecar.into()).await?;

        self.still_a_pair(&etag).await?;

        let pruned = self.prune(self.surplus().await?).await?;
        memory.fingerprint.clone_from(&copy.fingerprint);
        memory.unsettled = None;
        let Copy { bytes, fingerprint, census, .. } = copy;
        let routes = census.routes;
        memory.published = Some((etag, census));
        Ok(Published { generation, generation_existed, bytes, fingerprint, routes, held, pruned })
    }

    /// Replaces current by compare-and-swap; whoever wrote meanwhile is judged like what was there first.
    async fn replace_current(
        &self,
        body: &Body,
        mut prior: Option<Prior>,
        copy: &Copy,
        (foreign, stamp, mut held): (Option<&Sidecar>, Stamp, Option<Stamp>),
    ) -> Result<(String, Option<Stamp>), PassError> {
        let key = keys::current(self.label);
        for attempt in 1..=ATTEMPTS {
            let before = prior.as_ref().map(|prior| &prior.object);
            let swapped = replacing::swap(self.store, &key, body, before).await;
            if let Some(etag) = swapped.map_err(|error| failed("snapshot", "put", &error))? {
                return Ok((etag, held));
            }
            if attempt < ATTEMPTS {
                prior = self.prior(None).await?;
                held = self.hold_first(prior.as_ref(), copy, foreign, stamp).await?.or(held);
            }
        }
        Err(replacing::lost("snapshot", &key).into())
    }

    /// Whether the sidecar that was written describes what is there. Another writer of this label may have come in between; then
    /// nothing is remembered, and the next pass writes both again.
    async fn still_a_pair(&self, etag: &str) -> Result<(), PassError> {
        let key = keys::current(self.label);
        let current = self.stop.unless_said(replacing::there(self.store, &key)).await?;
        if current.map_err(|error| failed("snapshot", "get", &error))?.is_some_and(|current| current.etag == etag) {
            return Ok(());
        }
        Err(CommandError::new(Exit::Changed, format!("snapshot: {key}: another writer of this label came in between")).into())
    }

    /// The lexically smallest generations beyond 8, whatever they are (seed).
    async fn surplus(&self) -> Result<Vec<ObjectMeta>, PassError> {
        let listed = self.stop.unless_said(self.store.list(&keys::generations(self.label))).await?;
        let mut generations = listed.map_err(|error| failed("snapshot", "list generations:", &error))?;
        generations.sort_by(|one, other| one.key.cmp(&other.key));
        generations.truncate(generations.len().saturating_sub(keys::GENERATIONS_KEPT));
        Ok(generations)
    }

    /// Deletes them.
    async fn prune(&self, surplus: Vec<ObjectMeta>) -> Result<usize, PassError> {
        for generation in &surplus {
            let deleted = self.stop.unless_said(self.store.delete(&generation.key)).await?;
            deleted.map_err(|error| failed("snapshot", "prune", &error))?;
        }
        Ok(surplus.len())
    }

    /// The seed's warning, word for word.
    fn warn_of(&self, prior: &Sidecar) {
        let created_at = prior.created_at.and_then(|at| Timestamp::from_second(at.as_second()).ok());
        self.log.warning(format!(
            "agent: registry snapshot: OVERWRITING a snapshot written by box {:?} (this box is {:?}, prior created_at {}) — if \
             this box is a standby that has not been restored yet, STOP and preserve the prior snapshot",
            prior.label,
            self.label.as_str(),
            go::format_instant(created_at)
        ));
    }

    /// A clock that is ahead names generations that sort last and push good ones out.
    fn say_clock(&self) {
        if let Some(ahead) = self.store.clock_ahead_seconds()
            && ahead.abs() > CLOCK_TOLERANCE_SECONDS
        {
            let (seconds, direction) = (ahead.abs(), if ahead > 0 { "behind" } else { "ahead of" });
            self.log.warning(format!(
                "agent: registry snapshot: this box's clock is {seconds} s {direction} the store's, so its generations are \
                 misnamed; set the clock"
            ));
        }
    }
}
