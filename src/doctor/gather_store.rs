//! Asks the deployment store: a listing, a read, and unless told not to, what may be written there.

use std::collections::BTreeMap;

use super::evidence::{Candidate, Largest, Permissions, Publication, Store, StoreFacts, Versions};
use crate::context::Context;
use crate::error::CommandError;
use crate::platform::Label;
use crate::platform::keys::{self, SnapshotKey};
use crate::store::{Capability, ObjectMeta, Powers, ReadStore, StoreError, WriteStore, probe};

/// Where a restore only reads: whoever may do more there is told so.
const ONLY_READ: [&str; 3] = [keys::SNAPSHOTS, keys::GENERATIONS, keys::APPS];

/// What an unversioned bucket calls the one version of an object.
const NO_VERSION: &str = "null";

/// Gathers. Whatever fails is a fact.
pub(super) async fn gather(read_only: bool, context: &mut Context<'_>) -> Store {
    if context.settings.deployment.is_none() {
        return Store::NotNamed;
    }
    let store = match context.deployment().await {
        Ok(store) => store,
        Err(error) => return closed(&error),
    };
    let store = store.as_ref();
    let listed = store.list(keys::SNAPSHOTS).await;
    let objects = listed.as_deref().unwrap_or_default();
    let current = objects.iter().filter(|object| is_current(object));
    let largest = largest(store, current.clone()).await;
    let answered = listed.is_ok();
    // Who does not answer is not asked again and again.
    let own = if answered { own(store, context).await } else { Err("the store does not list".to_owned()) };
    let versions = versions(store, largest.as_ref()).await;
    let (permissions, powers) = match (read_only, answered) {
        (false, true) => tried(matches!(versions, Versions::Kept), context).await,
        _ => (Permissions::NotTried, Vec::new()),
    };
    Store::Open(Box::new(StoreFacts {
        name: store.describe(),
        generations_listed: if answered { store.list_dirs(keys::GENERATIONS).await.map(|_| ()) } else { Ok(()) },
        permissions,
        powers,
        versions,
        expiry: match &listed {
            Ok(_) => store.expiry_rules().await,
            Err(error) => Err(error.clone()),
        },
        candidates: if answered { candidates(store, objects).await } else { Vec::new() },
        own,
        reports: reports(context).await,
        largest,
        // Last: every answer before carried a clock.
        clock_ahead_seconds: store.clock_ahead_seconds(),
        listed: listed.as_ref().map(|_| current.count()).map_err(Clone::clone),
    }))
}

fn closed(error: &CommandError) -> Store {
    Store::Closed { because: error.message.clone(), hint: error.hints.first().cloned() }
}

fn is_current(object: &ObjectMeta) -> bool {
    matches!(keys::read_snapshot_key(&object.key), SnapshotKey::Current(_))
}

/// The largest current snapshot, with whether it may be read.
async fn largest<'o>(store: &dyn ReadStore, current: impl Iterator<Item = &'o ObjectMeta>) -> Option<Largest> {
    let object = current.max_by_key(|object| object.bytes)?;
    let readable = store.head(&object.key).await.map(|_| ());
    Some(Largest { key: object.key.clone(), bytes: object.bytes, readable })
}

/// What is there under this box's own label.
async fn own(store: &dyn ReadStore, context: &Context<'_>) -> Result<Vec<Publication>, String> {
    let Some(label) = &context.settings.this_box else { return Ok(Vec::new()) };
    let mut own = Vec::new();
    for prefix in [keys::current(label), keys::generations(label)] {
        // Newest last.
        let newest = store.list(&prefix).await.map_err(|error| error.to_string())?.pop();
        own.extend(newest.map(|object| Publication { key: object.key }));
    }
    let key = keys::report(&context.settings.status_prefix, label);
    if let Some(status) = context.status_store().await.map_err(|error| error.message)? {
        match status.head(&key).await {
            Ok(_) => own.push(Publication { key }),
            Err(error) if error.is_missing() => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(own)
}

/// Tries writing, conditions and deleting, on one scratch object; then, under conditions that cannot hold, what a restore
/// does not need.
async fn tried(versions: bool, context: &mut Context<'_>) -> (Permissions, Vec<(&'static str, Result<Powers, StoreError>)>) {
    let Ok(store) = context.deployment_for_writing().await else { return (Permissions::NotTried, Vec::new()) };
    context.say(&format!(
        "trying what may be written: one scratch object below {} of {}, removed again (--read-only leaves it out)",
        keys::PROBES,
        store.describe()
    ));
    let capabilities = probe(store.as_ref()).await;
    let refuses = capabilities.as_ref().is_ok_and(|seen| seen.require(&[Capability::ReplaceIf, Capability::DeleteIf]).is_ok());
    let powers = if refuses { powers(store.as_ref(), versions).await } else { Vec::new() };
    (Permissions::Tried(capabilities), powers)
}

async fn powers(store: &dyn WriteStore, versions: bool) -> Vec<(&'static str, Result<Powers, StoreError>)> {
    let ask = async |prefix| (prefix, store.powers(prefix, versions).await);
    futures_util::future::join_all(ONLY_READ.map(ask)).await
}

async fn versions(store: &dyn ReadStore, largest: Option<&Largest>) -> Versions {
    let Some(largest) = largest else { return Versions::Unknown("there is no snapshot to look at".to_owned()) };
    match store.list_versions(&largest.key).await {
        Ok(found) if found.iter().any(|version| version.object.version_id.as_deref().is_some_and(|id| id != NO_VERSION)) => {
            Versions::Kept
        }
        Ok(_) => Versions::NotKept,
        Err(StoreError::Unsupported { .. }) => Versions::Unsupported,
        Err(error) => Versions::Unknown(error.to_string()),
    }
}

/// Every label that has a record or a current snapshot.
async fn candidates(store: &dyn ReadStore, snapshots: &[ObjectMeta]) -> Vec<Candidate> {
    let mut found: BTreeMap<Label, Candidate> = BTreeMap::new();
    let entry = |label: Label| Candidate { label, edges_record: false, current_snapshot: false };
    for object in snapshots {
        if let SnapshotKey::Current(label) = keys::read_snapshot_key(&object.key) {
            found.entry(label.clone()).or_insert_with(|| entry(label)).current_snapshot = true;
        }
    }
    for object in store.list(keys::EDGES).await.unwrap_or_default() {
        let name = object.key.strip_prefix(keys::EDGES).and_then(|name| name.strip_suffix(".json"));
        if let Some(label) = name.and_then(|name| name.parse::<Label>().ok()) {
            found.entry(label.clone()).or_insert_with(|| entry(label)).edges_record = true;
        }
    }
    found.into_values().collect()
}

/// How many reports there are, where there is a status store.
async fn reports(context: &Context<'_>) -> Option<Result<usize, String>> {
    let status = match context.status_store().await {
        Ok(status) => status?,
        Err(error) => return Some(Err(error.message)),
    };
    let prefix = format!("{}{}", context.settings.status_prefix, keys::REPORTS);
    Some(status.list(&prefix).await.map(|objects| objects.len()).map_err(|error| error.to_string()))
}
