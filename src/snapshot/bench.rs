//! What the tests of the pure rules share: objects of one box, each of a time of 30 November 2026.

use jiff::Timestamp;

use super::evidence::{BoxEvidence, Generation, SidecarRead};
use crate::platform::{Label, Sidecar, Stamp, keys};
use crate::store::ObjectMeta;

pub(super) fn at(time: &str) -> Timestamp {
    format!("2026-11-30T{time}Z").parse().expect("an instant")
}

pub(super) fn stamp(time: &str) -> Stamp {
    Stamp::at(at(time))
}

pub(super) fn label() -> Label {
    "edge-a1".parse().expect("a label")
}

/// An object that was written at `time`, and whose content no other time has.
pub(super) fn object(key: String, time: &str, bytes: u64) -> ObjectMeta {
    ObjectMeta { key, bytes, etag: time.into(), last_modified: at(time), version_id: None }
}

pub(super) fn generation(time: &str, bytes: u64) -> Generation {
    Generation { stamp: stamp(time), object: object(keys::generation(&label(), stamp(time)), time, bytes) }
}

/// The sidecar of a current that was written at `time`.
pub(super) fn sidecar(time: &str, bytes: u64) -> SidecarRead {
    let (fingerprint, created_at) = ("ab12".into(), Some(at(time)));
    SidecarRead::Read(Sidecar { label: label().to_string(), fingerprint, created_at, bytes })
}

pub(super) fn sidecar_of(seen: &mut BoxEvidence) -> &mut Sidecar {
    let SidecarRead::Read(sidecar) = &mut seen.sidecar else { panic!("a sidecar") };
    sidecar
}
