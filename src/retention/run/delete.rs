//! Deletes one app's versions, one after the other. The only place of retention that deletes anything.
//!
//! Before each version everything that protects versions of the app is listed again and compared with what was decided on.
//! Only exact keys of the plan are deleted, the manifest last, so that a version half gone is still seen, and finished by the
//! next run.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};

use super::answer::{AppRan, Gone, ObjectRan};
use crate::platform::keys::app::{self as keys, AppKey};
use crate::retention::AppName;
use crate::retention::gather::{Reader, Turns};
use crate::retention::plan::{AppPlan, Class, PlannedVersion};
use crate::store::{ObjectMeta, StoreError, WriteStore};
use crate::terminal::{Consent, Progress};

/// How often a deletion is sent.
const ATTEMPTS: u32 = 3;
/// The pause after the first attempt; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// Why versions are left when the run is told to stop.
pub(super) const INTERRUPTED: &str = "told to stop before it";

/// Leave to delete.
#[derive(Debug)]
pub(crate) struct Leave(());

impl Leave {
    /// An operator named the store.
    pub(crate) fn consented(_: &Consent) -> Self {
        Self(())
    }

    /// The unattended pass of a box, on what its own view decides: nobody is asked there, as nobody is by the platform's
    /// agent (contract section 5).
    pub(crate) fn unattended() -> Self {
        Self(())
    }
}

/// A store to delete from, and the leave to do it.
pub(crate) struct Deleting<'a> {
    store: &'a dyn WriteStore,
    turns: &'a Turns,
    is_exact: bool,
    /// Whether to stop before the next version.
    halt: &'a (dyn Fn() -> bool + Send + Sync),
    _leave: Leave,
}

impl<'a> Deleting<'a> {
    /// `is_exact` where the store was seen to compare etags on deletion.
    pub(crate) fn new(
        store: &'a dyn WriteStore,
        turns: &'a Turns,
        is_exact: bool,
        halt: &'a (dyn Fn() -> bool + Send + Sync),
        leave: Leave,
    ) -> Self {
        Self { store, turns, is_exact, halt, _leave: leave }
    }

    /// The store.
    pub(crate) fn store(&self) -> &'a dyn WriteStore {
        self.store
    }

    /// Deletes what is planned of one app, until something is not as it should be.
    pub(crate) async fn app(&self, plan: &AppPlan, progress: &Progress) -> AppRan {
        let mut ran = AppRan::new(plan);
        let mut gone = BTreeSet::new();
        let mut stopped: Option<String> = None;
        for victim in plan.victims() {
            progress.advance(1);
            if (self.halt)() {
                stopped = Some(INTERRUPTED.to_owned());
            }
            if let Some(because) = &stopped {
                ran.skip(victim.version(), because);
                continue;
            }
            if let Err(because) = self.is_as_decided(plan, &gone).await {
                ran.skip(victim.version(), &because);
                stopped = Some(because);
                continue;
            }
            match self.version(victim, &mut ran, &mut gone).await {
                Ok(()) => ran.deleted(victim),
                Err(because) => {
                    ran.fail(victim.version(), &because);
                    stopped = Some(format!("{} failed before it", victim.version()));
                }
            }
        }
        if !gone.is_empty() {
            ran.prove(plan.victims(), &self.still_listed(plan).await);
        }
        ran
    }

    /// What the store still lists of the app's releases and artifacts. What is in it was not deleted, whatever the store
    /// answered.
    async fn still_listed(&self, plan: &AppPlan) -> Result<BTreeSet<String>, String> {
        let AppName { account, app } = plan.name();
        let reader = Reader::new(self.store, self.turns);
        let (releases, artifacts) = (keys::releases(&account, &app), keys::artifacts(&account, &app));
        let (releases, artifacts) = tokio::join!(reader.list(&releases), reader.list(&artifacts));
        let both = releases.and_then(|releases| artifacts.map(|artifacts| [releases, artifacts].concat()));
        both.map(|listed| listed.into_iter().map(|object| object.key).collect()).map_err(|error| error.to_string())
    }

    /// Deletes one version, step by step. What was deleted is noted in any case.
    async fn version(&self, victim: &PlannedVersion, ran: &mut AppRan, gone: &mut BTreeSet<String>) -> Result<(), String> {
        for step in victim.steps() {
            let deletions = stream::iter(step).map(|object| async move { (object, self.object(object).await) });
            let mut deletions = deletions.buffered(self.turns.number);
            let mut failed = Vec::new();
            while let Some((object, outcome)) = deletions.next().await {
                match &outcome {
                    Gone::Deleted | Gone::Missing => {
                        gone.insert(object.key.clone());
                    }
                    Gone::Failed(because) => failed.push(format!("{}: not deleted: {because}", object.key)),
                    Gone::Unknown(because) => {
                        failed.push(format!("{}: not known whether it was deleted: {because}", object.key));
                    }
                }
                ran.object(ObjectRan::new(object, outcome));
            }
            if let Some(first) = failed.first() {
                return Err(first.clone());
            }
        }
        Ok(())
    }

    /// Deletes one object, and finds out what became of it.
    async fn object(&self, object: &ObjectMeta) -> Gone {
        let mut attempt = 1;
        // Whether an earlier attempt of ours may have deleted it.
        let mut in_doubt = false;
        loop {
            let answer = if self.is_exact {
                self.store.delete_exact(&object.key, &object.etag).await
            } else {
                self.store.delete(&object.key).await
            };
            let error = match answer {
                Ok(()) => return Gone::Deleted,
                Err(error) if error.is_missing() => return if in_doubt { Gone::Deleted } else { Gone::Missing },
                Err(error) => error,
            };
            match &error {
                StoreError::Unavailable { .. } => in_doubt = true,
                StoreError::Busy { .. } => {}
                _ => return Gone::Failed(error.to_string()),
            }
            if attempt == ATTEMPTS {
                return self.after_all(object, in_doubt, &error).await;
            }
            tokio::time::sleep(PAUSE * 2_u32.pow(attempt - 1)).await;
            attempt += 1;
        }
    }

    /// What became of an object whose deletion was never answered.
    async fn after_all(&self, object: &ObjectMeta, in_doubt: bool, error: &StoreError) -> Gone {
        match self.store.head(&object.key).await {
            Err(missing) if missing.is_missing() && in_doubt => Gone::Deleted,
            Err(missing) if missing.is_missing() => Gone::Missing,
            Ok(_) => Gone::Failed(error.to_string()),
            Err(_) => Gone::Unknown(error.to_string()),
        }
    }

    /// Lists again what protects versions of the app, and its releases: all must be as decided, but for what we deleted.
    /// Etags of a listing are those of the content, so nothing has to be read again.
    async fn is_as_decided(&self, plan: &AppPlan, gone: &BTreeSet<String>) -> Result<(), String> {
        let AppName { account, app } = plan.name();
        let reader = Reader::new(self.store, self.turns);
        let (retention, pipeline) = (keys::retention_record(&account, &app), keys::pipeline(&account, &app));
        let (records, channels, tags) =
            (keys::records(&account, &app), keys::channels(&account, &app), keys::tags(&account, &app));
        let releases = keys::releases(&account, &app);
        let (retention, pipeline, records, channels, tags, releases) = tokio::join!(
            reader.list(&retention),
            reader.list(&pipeline),
            reader.list(&records),
            reader.list(&channels),
            reader.list(&tags),
            reader.list(&releases),
        );
        for (class, listing) in [
            (Class::RetentionRecord, retention),
            (Class::Pipeline, pipeline),
            (Class::Record, records),
            (Class::Pointer, channels),
            (Class::Tag, tags),
            (Class::Release, releases),
        ] {
            let listing = listing.map_err(|error| format!("could not look again before it: {error}"))?;
            let now: BTreeSet<(&str, &str)> = listing
                .iter()
                .filter(|object| is_of(class, &object.key))
                .map(|object| (object.key.as_str(), object.etag.as_str()))
                .collect();
            let decided: BTreeSet<(&str, &str)> = plan
                .inputs()
                .iter()
                .filter(|input| input.class == class && !gone.contains(&input.key))
                .map(|input| (input.key.as_str(), input.etag.as_str()))
                .collect();
            if let Some((key, _)) = now.symmetric_difference(&decided).next() {
                return Err(format!("{key} changed since it was decided"));
            }
        }
        Ok(())
    }
}

fn is_of(class: Class, key: &str) -> bool {
    let Some((_, _, what)) = keys::read(key) else { return false };
    match class {
        Class::RetentionRecord => what == AppKey::RetentionRecord,
        Class::Pipeline => what == AppKey::Pipeline,
        Class::Record => matches!(what, AppKey::Record(_)),
        Class::Pointer => matches!(what, AppKey::Channel(_)),
        Class::Tag => matches!(what, AppKey::Tag(_)),
        Class::Release => matches!(what, AppKey::Manifest(_) | AppKey::ReleaseObject(_)),
        Class::Registry | Class::Generation | Class::LocalRegistry | Class::Manifest => false,
    }
}

#[cfg(test)]
mod tests;
