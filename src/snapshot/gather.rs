//! Sees a deployment's snapshots: listings and one sidecar read a box, nothing else (contract section 6).
//!
//! Nothing waits for what it does not need: sidecars are read while generations, holds and reports are still being listed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use jiff::Timestamp;

use super::evidence::{BoxEvidence, Generation, HoldEvidence, LastDrill, Scene, SidecarRead};
use crate::finding::{Code, Finding};
use crate::platform::document::MAX_BYTES;
use crate::platform::keys::{self, SnapshotKey};
use crate::platform::{Label, Sidecar, SidecarError, Stamp};
use crate::store::{ObjectMeta, ReadStore, StoreError};

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Only these boxes; all when empty.
    pub boxes: Vec<Label>,
    /// Also older versions and delete markers.
    pub all_versions: bool,
    /// Named boxes that may well have no snapshot: their sidecars are read only when a listing shows one, a request less and
    /// a round trip more.
    pub doubtful: bool,
    /// How many requests may be under way at once.
    pub concurrency: usize,
}

/// Where the boxes report: the store, and what is before `status/boxes/` in it.
pub struct Reports<'a> {
    /// The status store.
    pub store: &'a dyn ReadStore,
    /// Empty, or a prefix ending in `/`.
    pub prefix: &'a str,
}

/// Looks at the snapshots of a deployment.
///
/// # Errors
/// Whatever hides a snapshot is an error: a failed or incomplete listing. What hides only side information (reports, an
/// unreadable sidecar) becomes a value and a finding.
pub async fn gather(store: &dyn ReadStore, reports: &Reports<'_>, scope: &Scope) -> Result<Scene, StoreError> {
    let (looked, reported) = join(look_around(store, scope), last_reports(reports, scope)).await;
    let mut scene = looked?;
    match reported {
        Ok(seen) => {
            for (label, at) in seen {
                if let Some(evidence) = scene.boxes.get_mut(&label) {
                    evidence.reported_at = Some(at);
                }
            }
        }
        Err(error) => {
            for evidence in scene.boxes.values_mut() {
                evidence.reports_unread = Some(error.to_string());
            }
            scene.findings.push(Finding::warning(
                Code::NotRead,
                format!("{}{}", reports.prefix, keys::REPORTS),
                format!("the box reports could not be listed, so data at risk is not known: {error}"),
            ));
        }
    }
    if scope.all_versions {
        super::versions::gather(store, &mut scene, scope).await?;
    }
    scene.boxes.retain(|label, evidence| !evidence.is_empty() || scope.boxes.contains(label));
    Ok(scene)
}

/// The snapshots and their sidecars.
async fn look_around(store: &dyn ReadStore, scope: &Scope) -> Result<Scene, StoreError> {
    let (objects, sidecars) =
        if scope.boxes.is_empty() { everything(store, scope).await? } else { named(store, scope).await? };
    let mut scene = sort_out(objects);
    if !scope.boxes.is_empty() {
        scene.boxes.retain(|label, _| scope.boxes.contains(label));
        for label in &scope.boxes {
            scene.boxes.entry(label.clone()).or_insert_with(|| BoxEvidence::new(label.clone()));
        }
    }
    let read: BTreeSet<Label> = sidecars.iter().map(|(label, ..)| label.clone()).collect();
    put_in(&mut scene, sidecars);
    // Also where none is listed, because only a read tells deleted from never written.
    let has_snapshot =
        |seen: &&BoxEvidence| seen.current.is_some() || seen.sidecar_object.is_some() || !seen.generations.is_empty();
    let missing = scene.boxes.values().filter(has_snapshot).map(|seen| &seen.label).filter(|label| !read.contains(*label));
    let missing: Vec<Label> = missing.cloned().collect();
    let sidecars = read_sidecars(store, missing, scope.concurrency).await;
    put_in(&mut scene, sidecars);
    Ok(scene)
}

/// What reading the sidecar of a box brought.
type Sidecars = Vec<(Label, Option<ObjectMeta>, SidecarRead)>;

/// Every object below the prefixes of all boxes. Whoever has a current snapshot or a sidecar is known first, and its sidecar
/// is read while the rest is listed.
async fn everything(store: &dyn ReadStore, scope: &Scope) -> Result<(Vec<ObjectMeta>, Sidecars), StoreError> {
    let currents = async {
        let objects = store.list(keys::SNAPSHOTS).await?;
        let labels: BTreeSet<Label> = objects.iter().filter_map(|object| of_pair(&object.key)).collect();
        let sidecars = read_sidecars(store, labels.into_iter().collect(), scope.concurrency).await;
        Ok::<_, StoreError>((objects, sidecars))
    };
    let mut prefixes = vec![keys::GENERATIONS.to_owned(), keys::HOLDS.to_owned()];
    prefixes.extend(keys::LEGACY.map(str::to_owned));
    let (currents, rest) = join(currents, listings(store, prefixes, scope.concurrency)).await;
    let (mut objects, sidecars) = currents?;
    objects.extend(rest?);
    Ok((objects, sidecars))
}

/// Every object of the named boxes.
async fn named(store: &dyn ReadStore, scope: &Scope) -> Result<(Vec<ObjectMeta>, Sidecars), StoreError> {
    let prefixes = scope.boxes.iter().flat_map(|label| [keys::current(label), keys::generations(label), keys::holds(label)]);
    let presumed = if scope.doubtful { Vec::new() } else { scope.boxes.clone() };
    let sidecars = read_sidecars(store, presumed, scope.concurrency);
    let (objects, sidecars) = join(listings(store, prefixes.collect(), scope.concurrency), sidecars).await;
    Ok((objects?, sidecars))
}

/// Whose pair of current snapshot and sidecar a key is of.
fn of_pair(key: &str) -> Option<Label> {
    match keys::read_snapshot_key(key) {
        SnapshotKey::Current(label) | SnapshotKey::Sidecar(label) => Some(label),
        _ => None,
    }
}

/// Every object below these prefixes.
async fn listings(store: &dyn ReadStore, prefixes: Vec<String>, concurrency: usize) -> Result<Vec<ObjectMeta>, StoreError> {
    let listings = stream::iter(prefixes).map(|prefix| async move { store.list(&prefix).await });
    let listings: Vec<Vec<ObjectMeta>> = listings.buffered(concurrency.max(1)).try_collect().await?;
    Ok(listings.into_iter().flatten().collect())
}

/// Objects to boxes, by their keys alone.
fn sort_out(objects: Vec<ObjectMeta>) -> Scene {
    let mut scene = Scene::default();
    let mut holds: BTreeMap<(Label, Stamp), HoldEvidence> = BTreeMap::new();
    for object in objects {
        let key = object.key.clone();
        match keys::read_snapshot_key(&key) {
            SnapshotKey::Current(label) => entry(&mut scene, label).current = Some(object),
            SnapshotKey::Sidecar(label) => entry(&mut scene, label).sidecar_object = Some(object),
            SnapshotKey::Generation(label, stamp) => entry(&mut scene, label).generations.push(Generation { stamp, object }),
            SnapshotKey::NotAGeneration(label) => entry(&mut scene, label).strays.push(object),
            SnapshotKey::Hold(label, stamp, name) => {
                let hold =
                    holds.entry((label, stamp)).or_insert_with(|| HoldEvidence { stamp, objects: Vec::new(), sealed: false });
                if name == keys::HOLD_SEAL {
                    hold.sealed = true;
                } else {
                    hold.objects.push(object);
                }
            }
            SnapshotKey::Unrecognized if keys::LEGACY.contains(&key.as_str()) => scene.legacy.push(object),
            SnapshotKey::Unrecognized => scene.unrecognized.push(object),
        }
    }
    for ((label, _), hold) in holds.into_iter().rev() {
        entry(&mut scene, label).holds.push(hold);
    }
    for evidence in scene.boxes.values_mut() {
        evidence.generations.sort_by_key(|generation| std::cmp::Reverse(generation.stamp));
        evidence.strays.sort_by(|a, b| a.key.cmp(&b.key));
    }
    scene
}

fn entry(scene: &mut Scene, label: Label) -> &mut BoxEvidence {
    scene.boxes.entry(label.clone()).or_insert_with(|| BoxEvidence::new(label))
}

/// Reads the sidecars of these boxes.
async fn read_sidecars(store: &dyn ReadStore, labels: Vec<Label>, concurrency: usize) -> Sidecars {
    let reads = stream::iter(labels).map(|label| async move {
        let (object, read) = read_sidecar(store, &label).await;
        (label, object, read)
    });
    reads.buffer_unordered(concurrency.max(1)).collect().await
}

/// Sidecars to their boxes. A box of which nothing else was seen has none unless one was read.
fn put_in(scene: &mut Scene, sidecars: Sidecars) {
    for (label, object, read) in sidecars {
        if let Some(seen) = scene.boxes.get_mut(&label)
            && (object.is_some() || !seen.is_empty())
        {
            seen.sidecar = read;
            // The read is newer than the listing.
            seen.sidecar_object = object.or(seen.sidecar_object.take());
        }
    }
}

/// Reads one sidecar. A store that refuses is a value here: it makes this box unreadable, not the others.
pub async fn read_sidecar(store: &dyn ReadStore, label: &Label) -> (Option<ObjectMeta>, SidecarRead) {
    let key = keys::sidecar(label);
    let object = match store.get(&key, MAX_BYTES as u64).await {
        Ok(object) => object,
        Err(StoreError::NotFound { .. }) => return (None, SidecarRead::Missing),
        Err(StoreError::Deleted { .. }) => return (None, SidecarRead::Deleted),
        Err(error) => return (None, SidecarRead::NotRead { because: error.to_string() }),
    };
    let read = match Sidecar::read(&key, &object.body) {
        Ok(sidecar) => SidecarRead::Read(sidecar),
        Err(error @ SidecarError::Version { .. }) => SidecarRead::Version { because: error.to_string() },
        Err(error) => SidecarRead::Unreadable { because: error.to_string() },
    };
    (Some(object.meta), read)
}

/// When each box last reported, from the listing alone.
async fn last_reports(reports: &Reports<'_>, scope: &Scope) -> Result<BTreeMap<Label, Timestamp>, StoreError> {
    let root = format!("{}{}", reports.prefix, keys::REPORTS);
    let prefixes = match scope.boxes.as_slice() {
        [] => vec![root.clone()],
        labels => labels.iter().map(|label| keys::report(reports.prefix, label)).collect(),
    };
    let mut seen = BTreeMap::new();
    for object in listings(reports.store, prefixes, scope.concurrency).await? {
        let label =
            object.key.strip_prefix(&root).and_then(|name| name.strip_suffix(".json")).and_then(|label| label.parse().ok());
        if let Some(label) = label {
            seen.insert(label, object.last_modified);
        }
    }
    Ok(seen)
}

/// The last drill of each box, from one listing a box or one of all. Side information: where it cannot be had, that is a note.
pub(super) async fn last_drills(store: &dyn ReadStore, scope: &Scope) -> Result<BTreeMap<Label, LastDrill>, Finding> {
    let prefixes = match scope.boxes.as_slice() {
        [] => vec![keys::DRILLS.to_owned()],
        labels => labels.iter().map(keys::drills).collect(),
    };
    let reads = prefixes.iter().map(|prefix| async move {
        store.list(prefix).await.map_err(|error| {
            Finding::note(Code::NotRead, prefix, format!("the receipts of drills could not be listed: {error}"))
        })
    });
    let listed: Vec<Vec<ObjectMeta>> = stream::iter(reads).buffered(scope.concurrency.max(1)).try_collect().await?;
    let mut last: BTreeMap<Label, LastDrill> = BTreeMap::new();
    for object in listed.into_iter().flatten() {
        let Some((label, stamp, verdict)) = keys::read_drill_key(&object.key) else { continue };
        if last.get(&label).is_none_or(|known| known.stamp < stamp) {
            last.insert(label, LastDrill { stamp, verdict: verdict.to_owned() });
        }
    }
    Ok(last)
}
