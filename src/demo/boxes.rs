//! Three boxes and what became of them: one dead, one alive, one clobbered by a standby that reused its label.

use std::io;

use jiff::{SignedDuration, Timestamp};

use super::bucket::Bucket;
use super::registry::{busy_box, snapshot_bytes};
use crate::platform::{BoxMetrics, BoxReport, HostBuilds, Label, Sidecar, Stamp, keys};

/// The box that died 40 minutes ago.
pub(super) const DEAD: &str = "edge-a1";
/// The box that lives.
pub(super) const ALIVE: &str = "edge-b2";
/// The box whose standby was started before it was restored.
pub(super) const CLOBBERED: &str = "edge-c3";
/// The standby of this demo.
pub(super) const STANDBY: &str = "edge-d4";
/// What the dead box's routes adopted last.
pub(super) const VERSION: &str = "v6";

/// Writes everything that the boxes left in the bucket.
pub(super) fn write(bucket: &Bucket, now: Timestamp) -> io::Result<()> {
    let minutes = |minutes: i64| now - SignedDuration::from_mins(minutes);
    for back in (0..8).rev() {
        pass(bucket, DEAD, minutes(40 + back * 90), 240 - usize::try_from(back).unwrap_or_default() * 6)?;
        pass(bucket, ALIVE, minutes(3 + back * 45), 180 - usize::try_from(back).unwrap_or_default() * 2)?;
    }
    for back in (0..6).rev() {
        pass(bucket, CLOBBERED, minutes(70 + back * 120), 300 - usize::try_from(back).unwrap_or_default() * 5)?;
    }
    // One minute after its start the standby wrote its own empty registry, and six minutes later one with a first route.
    pass(bucket, CLOBBERED, minutes(25), 0)?;
    pass(bucket, CLOBBERED, minutes(19), 1)?;
    report(bucket, DEAD, minutes(35), 240)?;
    report(bucket, ALIVE, minutes(1), 180)?;
    report(bucket, CLOBBERED, minutes(20), 1)?;
    bucket.put(keys::LEGACY[0], &registry(12)?, now - SignedDuration::from_hours(24 * 100))
}

/// One pass of the agent (seed `registrySnapshotPass`).
fn pass(bucket: &Bucket, label: &str, at: Timestamp, routes: usize) -> io::Result<()> {
    let body = registry(routes)?;
    let label: Label = label.parse().map_err(io::Error::other)?;
    bucket.put(&keys::generation(&label, Stamp::at(at)), &body, at)?;
    bucket.put(&keys::current(&label), &body, at)?;
    let sidecar = Sidecar {
        label: label.to_string(),
        fingerprint: format!("{:08x}", routes * 2_654_435_761 % 0xffff_ffff),
        created_at: Some(at),
        bytes: body.len() as u64,
    };
    bucket.put(&keys::sidecar(&label), &sidecar.to_json().map_err(io::Error::other)?, at)
}

fn registry(routes: usize) -> io::Result<Vec<u8>> {
    snapshot_bytes(&busy_box(routes, VERSION)).map_err(io::Error::other)
}

/// What the box says of the builds that its instances may need.
fn report(bucket: &Bucket, label: &str, at: Timestamp, routes: usize) -> io::Result<()> {
    let build_states = busy_box(routes, VERSION)
        .into_iter()
        .map(|route| {
            let account = if route.account.is_empty() { "ops".to_owned() } else { route.account };
            (route.host, HostBuilds { account, app: route.app, builds: vec![route.version], complete: true })
        })
        .collect();
    let report = BoxReport {
        label: label.to_owned(),
        generated_at: Some(at),
        metrics: Some(BoxMetrics { build_states, build_states_err: String::new() }),
    };
    let label: Label = label.parse().map_err(io::Error::other)?;
    bucket.put(&keys::report("", &label), &report.to_json().map_err(io::Error::other)?, at)
}
