//! Every key of the bucket, in one place (formats.md sections 3, 5, 6 and 7).
//!
//! Nothing else in the program spells a key. Prefixes end in `/`, so that `edge-1` never sees `edge-10`.

use super::{Label, Stamp};

pub mod app;

/// Where every box's current snapshot and sidecar are: `<box>.db` and `<box>.json` directly below it.
pub const SNAPSHOTS: &str = "control/registry-snapshot/";
/// Where every box's generations are: `<box>/<stamp>.db` below it.
pub const GENERATIONS: &str = "control/registry-snapshots/";
/// The fixed keys of the time before labels; abandoned, shown, never restored by default.
pub const LEGACY: [&str; 2] = ["control/registry-snapshot.db", "control/registry-snapshot.json"];
/// The document that seals a hold; written last.
pub const HOLD_SEAL: &str = "hold.json";
/// Below this are only our own keys; the platform never touches them.
pub const OURS: &str = "control/carlosctl/";
/// Holds.
pub const HOLDS: &str = "control/carlosctl/holds/";
/// Restore receipts.
pub const RESTORES: &str = "control/carlosctl/restores/";
/// Drill receipts: `<box>/<stamp>-<verdict>.json` below it.
pub const DRILLS: &str = "control/carlosctl/drills/";
/// Retention run receipts.
pub const RETENTION_RUNS: &str = "control/carlosctl/retention/";
/// Scratch objects of the store probe; removed again.
pub const PROBES: &str = "control/carlosctl/probe/";
/// One record a known box, written by the platform.
pub const EDGES: &str = "control/edges/";
/// Every app is below `apps/<acct>/<app>/`; see [`app`].
pub const APPS: &str = "apps/";
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

/// The prefix of a box's drill receipts.
#[must_use]
pub fn drills(label: &Label) -> String {
    format!("{DRILLS}{label}/")
}

/// The receipt of a drill of a box. The verdict is in the name, so that a listing tells it.
#[must_use]
pub fn drill(label: &Label, stamp: Stamp, verdict: &str) -> String {
    format!("{DRILLS}{label}/{stamp}-{verdict}.json")
}

/// The box, time and verdict that a key below [`DRILLS`] is the receipt of.
#[must_use]
pub fn read_drill_key(key: &str) -> Option<(Label, Stamp, &str)> {
    let (label, name) = key.strip_prefix(DRILLS)?.split_once('/')?;
    let (stamp, verdict) = name.strip_suffix(".json")?.split_once('-')?;
    let known = ["good", "unknown", "bad"].contains(&verdict);
    known.then_some(()).and_then(|()| Some((label.parse().ok()?, stamp.parse().ok()?, verdict)))
}

/// The receipt of a retention run: when it was, and the nonce of its plan.
#[must_use]
pub fn retention_receipt(stamp: Stamp, nonce: &str) -> String {
    format!("{RETENTION_RUNS}{stamp}-{nonce}.json")
}

/// What shows that a retention plan was used: written before anything is deleted, and never twice.
#[must_use]
pub fn retention_claim(nonce: &str) -> String {
    format!("{RETENTION_RUNS}used/{nonce}.json")
}

/// A box's own report, below `prefix` (empty, a status prefix, or `fleets/<fleet>/`).
#[must_use]
pub fn report(prefix: &str, label: &Label) -> String {
    format!("{prefix}{REPORTS}{label}.json")
}

/// The box that a key below `prefix` is a report of: one level below `boxes/`, and `.json` (formats.md section 6).
#[must_use]
pub fn read_report_key<'a>(prefix: &str, key: &'a str) -> Option<&'a str> {
    let name = key.strip_prefix(prefix)?.strip_prefix(REPORTS)?.strip_suffix(".json")?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// The record of a known box.
#[must_use]
pub fn edge(label: &Label) -> String {
    format!("{EDGES}{label}.json")
}

/// Whether `text` may be one segment of a path: an account, app or version (formats.md section 5).
#[must_use]
pub fn is_segment(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && !text.chars().any(|character| character == '/' || character.is_control())
}

/// What a key below [`SNAPSHOTS`], [`GENERATIONS`] or [`HOLDS`] is.
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
    /// An object of a hold: `(box, hold, name)`.
    Hold(Label, Stamp, String),
    /// Anything else.
    Unrecognized,
}

/// Reads a key found below [`SNAPSHOTS`], [`GENERATIONS`] or [`HOLDS`].
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
    if let Some((label, rest)) = key.strip_prefix(HOLDS).and_then(|rest| rest.split_once('/'))
        && let Some((hold, name)) = rest.split_once('/')
        && let (Ok(label), Ok(hold)) = (label.parse(), hold.parse())
        && !name.is_empty()
        && !name.contains('/')
    {
        return SnapshotKey::Hold(label, hold, name.to_owned());
    }
    SnapshotKey::Unrecognized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_level_below_boxes() {
        assert_eq!(read_report_key("", "status/boxes/edge-1.json"), Some("edge-1"));
        assert_eq!(read_report_key("fleets/north east/", "fleets/north east/status/boxes/x.json"), Some("x"));
        for key in
            ["status/boxes/.json", "status/boxes/a/b.json", "status/boxes/a", "p/status/boxes/a.json", "status/fleet.json"]
        {
            assert_eq!(read_report_key("", key), None, "{key}");
        }
    }

    #[test]
    fn a_drill_key_says_how_it_went() {
        let label: Label = "edge-1".parse().expect("a label");
        let stamp: Stamp = "20261115T000000Z".parse().expect("a stamp");
        let key = drill(&label, stamp, "good");
        assert_eq!(key, "control/carlosctl/drills/edge-1/20261115T000000Z-good.json");
        assert_eq!(read_drill_key(&key), Some((label, stamp, "good")));
        for key in [
            "control/carlosctl/drills/edge-1/20261115T000000Z.json",
            "control/carlosctl/drills/edge-1/20261115T000000Z-fine.json",
            "control/carlosctl/drills/edge-1/x/20261115T000000Z-good.json",
            "control/carlosctl/drills/20261115T000000Z-good.json",
            "control/carlosctl/holds/edge-1/20261115T000000Z-good.json",
        ] {
            assert_eq!(read_drill_key(key), None, "{key}");
        }
    }

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
