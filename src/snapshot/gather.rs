//! Sees a deployment's snapshots: listings and one sidecar read a box, nothing else (contract section 6).

use std::collections::BTreeMap;

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
    let listings = listings(store, scope).await?;
    let mut scene = sort_out(listings);
    if !scope.boxes.is_empty() {
        scene.boxes.retain(|label, _| scope.boxes.contains(label));
        for label in &scope.boxes {
            scene.boxes.entry(label.clone()).or_insert_with(|| BoxEvidence::new(label.clone()));
        }
    }
    read_sidecars(store, &mut scene, scope.concurrency).await;
    match last_reports(reports, scope).await {
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

/// Every object below the prefixes in question.
async fn listings(store: &dyn ReadStore, scope: &Scope) -> Result<Vec<ObjectMeta>, StoreError> {
    let mut prefixes: Vec<String> = Vec::new();
    if scope.boxes.is_empty() {
        prefixes.extend([keys::SNAPSHOTS, keys::GENERATIONS, keys::HOLDS].map(str::to_owned));
        prefixes.extend(keys::LEGACY.map(str::to_owned));
    }
    for label in &scope.boxes {
        prefixes.push(keys::current(label));
        prefixes.push(keys::generations(label));
        prefixes.push(keys::holds(label));
    }
    let pages: Vec<Vec<ObjectMeta>> = stream::iter(prefixes)
        .map(|prefix| async move { store.list(&prefix).await })
        .buffered(scope.concurrency.max(1))
        .try_collect()
        .await?;
    Ok(pages.into_iter().flatten().collect())
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

/// Reads the sidecar of every box that has a snapshot: also where none is listed, because only a read tells deleted from
/// never written.
async fn read_sidecars(store: &dyn ReadStore, scene: &mut Scene, concurrency: usize) {
    let has_snapshot = |evidence: &&BoxEvidence| {
        evidence.current.is_some() || evidence.sidecar_object.is_some() || !evidence.generations.is_empty()
    };
    let wanted: Vec<Label> = scene.boxes.values().filter(has_snapshot).map(|evidence| evidence.label.clone()).collect();
    let mut reads = stream::iter(wanted)
        .map(|label| async move {
            let read = read_sidecar(store, &label).await;
            (label, read)
        })
        .buffer_unordered(concurrency.max(1));
    while let Some((label, (object, read))) = reads.next().await {
        if let Some(evidence) = scene.boxes.get_mut(&label) {
            evidence.sidecar = read;
            // The read is newer than the listing.
            evidence.sidecar_object = object.or(evidence.sidecar_object.take());
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
    for prefix in prefixes {
        for object in reports.store.list(&prefix).await? {
            let label =
                object.key.strip_prefix(&root).and_then(|name| name.strip_suffix(".json")).and_then(|label| label.parse().ok());
            if let Some(label) = label {
                seen.insert(label, object.last_modified);
            }
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
    let mut last: BTreeMap<Label, LastDrill> = BTreeMap::new();
    for prefix in prefixes {
        let listed = store.list(&prefix).await.map_err(|error| {
            Finding::note(Code::NotRead, &prefix, format!("the receipts of drills could not be listed: {error}"))
        })?;
        for object in listed {
            let Some((label, stamp, verdict)) = keys::read_drill_key(&object.key) else { continue };
            if last.get(&label).is_none_or(|known| known.stamp < stamp) {
                last.insert(label, LastDrill { stamp, verdict: verdict.to_owned() });
            }
        }
    }
    Ok(last)
}
