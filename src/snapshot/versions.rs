//! Noncurrent versions and delete markers: what a versioned bucket still has of an overwritten snapshot.

use jiff::Timestamp;
use serde::Serialize;

use super::evidence::{BoxEvidence, Scene};
use super::gather::Scope;
use super::judge::fell;
use crate::finding::{Code, Finding};
use crate::platform::Stamp;
use crate::platform::keys::{self, SnapshotKey};
use crate::store::{ObjectMeta, ObjectVersion, ReadStore, StoreError};
use crate::terminal::{self, Table};

/// One version, as it is shown.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Version {
    key: String,
    #[serde(rename = "version_id")]
    id: String,
    bytes: u64,
    etag: String,
    last_modified: Timestamp,
    is_latest: bool,
    delete_marker: bool,
    /// Whether this is the last version of current that looks like this box.
    last_good: bool,
}

/// Adds every version of every box's current snapshot and sidecar.
///
/// # Errors
/// When the versions cannot be listed whole; where the store keeps none, that is a finding.
pub(super) async fn gather(store: &dyn ReadStore, scene: &mut Scene, scope: &Scope) -> Result<(), StoreError> {
    let prefixes: Vec<String> = match scope.boxes.as_slice() {
        [] => vec![keys::SNAPSHOTS.to_owned()],
        labels => labels.iter().flat_map(|label| [keys::current(label), keys::sidecar(label)]).collect(),
    };
    for prefix in prefixes {
        let found = match store.list_versions(&prefix).await {
            Ok(found) => found,
            Err(error @ StoreError::Unsupported { .. }) => {
                scene.findings.push(Finding::note(Code::NotRead, store.describe(), error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for version in found {
            if let SnapshotKey::Current(label) | SnapshotKey::Sidecar(label) = keys::read_snapshot_key(&version.object.key) {
                if !scope.boxes.is_empty() && !scope.boxes.contains(&label) {
                    continue;
                }
                scene.boxes.entry(label.clone()).or_insert_with(|| BoxEvidence::new(label)).versions.push(version);
            }
        }
    }
    scene.boxes.values().try_for_each(whole)
}

/// Two listings of one bucket: what the one has, the other has a version of. Some stores answer the first versions for all.
fn whole(seen: &BoxEvidence) -> Result<(), StoreError> {
    for object in seen.current.iter().chain(&seen.sidecar_object) {
        if !seen.versions.iter().any(|version| version.object.key == object.key) {
            return Err(StoreError::Incomplete {
                subject: "listing of versions".to_owned(),
                detail: format!("it names no version of {:?}, which is there", object.key),
            });
        }
    }
    Ok(())
}

/// The last version of current that still looks like this box: the newest one that did not collapse against the one before it.
#[must_use]
pub(super) fn last_good(seen: &BoxEvidence) -> Option<&ObjectVersion> {
    let key = keys::current(&seen.label);
    let mut history: Vec<&ObjectVersion> = seen
        .versions
        .iter()
        .filter(|version| version.object.key == key && !version.is_delete_marker && version.object.bytes > 0)
        .collect();
    // The listing is newest first; equal times keep that order when turned.
    history.reverse();
    history.sort_by_key(|version| version.object.last_modified);
    history.into_iter().fold(None, |good: Option<&ObjectVersion>, version| match good {
        Some(before) if fell(before.object.bytes, version.object.bytes) => Some(before),
        _ => Some(version),
    })
}

/// The versions to show, and what they tell.
#[must_use]
pub(super) fn versions(seen: &BoxEvidence) -> (Vec<Version>, Vec<Finding>) {
    let good = last_good(seen);
    let good_id = good.and_then(|version| version.object.version_id.clone());
    let mut findings = Vec::new();
    for version in seen.versions.iter().filter(|version| version.is_latest && version.is_delete_marker) {
        findings.push(
            Finding::warning(
                Code::Deleted,
                seen.label.as_str(),
                format!("{} is hidden by a delete marker", version.object.key),
            )
            .hint("an older version is below; restore it with --at version:<id>"),
        );
    }
    if let (Some(version), Some(id)) = (good.filter(|version| !version.is_latest), &good_id) {
        findings.push(
            Finding::warning(
                Code::NoncurrentGood,
                seen.label.as_str(),
                format!(
                    "version {id} of {}, written {}, was the last that looks like this box",
                    terminal::bytes(version.object.bytes),
                    version.object.last_modified
                ),
            )
            .hint(version_hint(seen, version, id)),
        );
    }
    let rows = seen
        .versions
        .iter()
        .map(|version| Version {
            key: version.object.key.clone(),
            id: version.object.version_id.clone().unwrap_or_default(),
            bytes: version.object.bytes,
            etag: version.object.etag.clone(),
            last_modified: version.object.last_modified,
            is_latest: version.is_latest,
            delete_marker: version.is_delete_marker,
            last_good: good_id.is_some()
                && version.object.version_id == good_id
                && version.object.key == keys::current(&seen.label),
        })
        .collect();
    (rows, findings)
}

/// How to use an older version: from a hold that has it, else as it is, held first.
fn version_hint(seen: &BoxEvidence, version: &ObjectVersion, id: &str) -> String {
    let label = &seen.label;
    let is_copy =
        |copy: &ObjectMeta| !copy.etag.is_empty() && copy.etag == version.object.etag && copy.bytes == version.object.bytes;
    let held = seen.holds.iter().filter(|hold| hold.sealed).find_map(|hold| {
        let copy = hold.objects.iter().find(|copy| is_copy(copy))?;
        let stamp: Stamp = copy.key.rsplit('/').next()?.strip_suffix(".db")?.parse().ok()?;
        Some(format!("hold:{}/{stamp}", hold.stamp))
    });
    match held {
        Some(at) => format!("it is held; to restore it: carlosctl restore --from-box {label} --at {at}"),
        None => {
            format!("to use it give --at version:{id}, but hold it first: carlosctl snapshot hold --box {label} --all-versions")
        }
    }
}

/// The versions of one box for people.
pub(super) fn push_table(text: &mut String, versions: &[Version], as_of: Timestamp, columns: Option<u16>) {
    if versions.is_empty() {
        return;
    }
    let mut table = Table::new(&["  version", "of", "written", "size", "note"], columns);
    for version in versions {
        let name = version.key.rsplit('/').next().unwrap_or_default();
        let mut notes = Vec::new();
        if version.is_latest {
            notes.push("latest");
        }
        if version.delete_marker {
            notes.push("delete marker");
        }
        if version.last_good {
            notes.push("last that looks like this box");
        }
        table.row([
            &format!("  {}", version.id),
            name,
            &terminal::instant_and_age(version.last_modified, as_of),
            &terminal::bytes(version.bytes),
            &notes.join(", "),
        ]);
    }
    text.push_str(&table.to_string());
}
