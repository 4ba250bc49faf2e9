//! Every key of the bucket, in one place (formats.md sections 3, 5, 6 and 7).
//!
//! Nothing else in the program spells a key. Prefixes end in `/`, so that `edge-1` never sees `edge-10`.

use super::{Label, Stamp};

/// Where every box's current snapshot and sidecar are: `<box>.db` and `<box>.json` directly below it.
pub const SNAPSHOTS: &str = "control/registry-snapshot/";
/// Where every box's generations are: `<box>/<stamp>.db` below it.
pub const GENERATIONS: &str = "control/registry-snapshots/";
/// The fixed keys of the time before labels; abandoned, shown, never restored by default.
pub const LEGACY: [&str; 2] = ["control/registry-snapshot.db", "control/registry-snapshot.json"];
/// Below this are only our own keys; the platform never touches them.
pub const HOLDS: &str = "control/carlosctl/holds/";
/// Restore receipts.
pub const RESTORES: &str = "control/carlosctl/restores/";
/// Retention run receipts.
pub const RETENTION_RUNS: &str = "control/carlosctl/retention/";
/// Scratch objects of the store probe; removed again.
pub const PROBES: &str = "control/carlosctl/probe/";
/// One record a known box, written by the platform.
pub const EDGES: &str = "control/edges/";
/// Every fleet's reports are below `fleets/<fleet>/`.
pub const FLEETS: &str = "fleets/";
/// Box reports, below a store's root, a status prefix or a fleet.
pub const REPORTS: &str = "status/boxes/";
/// How many generations a box keeps (seed `snapshotKeep`).
pub const GENERATIONS_KEPT: usize = 8;

/// The current snapshot of a box (seed `snapshotDBKey`).
#[must_use]
pub fn current(label: &Label) -> String {
    format!("{SNAPSHOTS}{label}.db")
}

/// The sidecar of a box (seed `snapshotMetaKey`).
#[must_use]
pub fn sidecar(label: &Label) -> String {
    format!("{SNAPSHOTS}{label}.json")
}

/// The prefix of a box's generations (seed `snapshotGenPrefix`).
#[must_use]
pub fn generations(label: &Label) -> String {
    format!("{GENERATIONS}{label}/")
}

/// One generation of a box.
#[must_use]
pub fn generation(label: &Label, stamp: Stamp) -> String {
    format!("{GENERATIONS}{label}/{stamp}.db")
}

/// The prefix of a box's holds.
#[must_use]
pub fn holds(label: &Label) -> String {
    format!("{HOLDS}{label}/")
}

/// The prefix of one hold of a box.
#[must_use]
pub fn hold(label: &Label, hold: Stamp) -> String {
    format!("{HOLDS}{label}/{hold}/")
}

/// The receipt of a restore that `standby` did.
#[must_use]
pub fn restore_receipt(standby: &str, stamp: Stamp) -> String {
    format!("{RESTORES}{standby}/{stamp}.json")
}

/// A box's own report, below `prefix` (empty, a status prefix, or `fleets/<fleet>/`).
#[must_use]
pub fn report(prefix: &str, label: &Label) -> String {
    format!("{prefix}{REPORTS}{label}.json")
}

/// The prefix of everything of an app.
#[must_use]
pub fn app(account: &str, app: &str) -> String {
    format!("apps/{account}/{app}/")
}

/// What a key below [`SNAPSHOTS`] or [`GENERATIONS`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotKey {
    /// A box's current snapshot.
    Current(Label),
    /// A box's sidecar.
    Sidecar(Label),
    /// One generation of a box.
    Generation(Label, Stamp),
    /// A key below a box's own generations that is not a generation.
    NotAGeneration(Label),
    /// Anything else.
    Unrecognized,
}

/// Reads a key found below [`SNAPSHOTS`] or [`GENERATIONS`].
#[must_use]
pub fn read_snapshot_key(key: &str) -> SnapshotKey {
    if let Some(name) = key.strip_prefix(SNAPSHOTS) {
        let label = |suffix: &str| name.strip_suffix(suffix).and_then(|label| label.parse().ok());
        if let Some(label) = label(".db") {
            return SnapshotKey::Current(label);
        }
        if let Some(label) = label(".json") {
            return SnapshotKey::Sidecar(label);
        }
    }
    if let Some((label, name)) = key.strip_prefix(GENERATIONS).and_then(|rest| rest.split_once('/'))
        && let Ok(label) = label.parse::<Label>()
    {
        return match name.strip_suffix(".db").and_then(|stamp| stamp.parse().ok()) {
            Some(stamp) => SnapshotKey::Generation(label, stamp),
            None => SnapshotKey::NotAGeneration(label),
        };
    }
    SnapshotKey::Unrecognized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole() {
        let label: Label = "edge-1".parse().expect("a label");
        let stamp: Stamp = "20261115T000000Z".parse().expect("a stamp");
        assert_eq!(read_snapshot_key("control/registry-snapshot/edge-1.db"), SnapshotKey::Current(label.clone()));
        assert_eq!(
            read_snapshot_key("control/registry-snapshot/edge-1.db.db"),
            SnapshotKey::Current("edge-1.db".parse().expect("a label"))
        );
        assert_eq!(read_snapshot_key(&generation(&label, stamp)), SnapshotKey::Generation(label.clone(), stamp));
        assert_eq!(read_snapshot_key("control/registry-snapshots/edge-1/zzz.db"), SnapshotKey::NotAGeneration(label));
        for key in LEGACY.iter().copied().chain(["control/registry-snapshot/.db", "control/registry-snapshots/x", "apps/a"]) {
            assert_eq!(read_snapshot_key(key), SnapshotKey::Unrecognized, "{key}");
        }
    }
}
