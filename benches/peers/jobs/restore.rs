//! `restore`, end to end with all checks, beside a plain download, `integrity_check`, and a copy into place with fsync.

use bytes::Bytes;
use carlosctl::platform::{Sidecar, Stamp};
use jiff::{SignedDuration, Timestamp};

use super::{Lab, Road, carlosctl};
use crate::Failure;
use crate::measure::Contender;
use crate::table::Row;
use crate::{data, registry};

const TARGET: f64 = 0.9;
const LABEL: &str = "edge-a1";

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for mib in lab.args.sizes(&[1, 16], &[1, 16, 256], &[1, 16, 256, 1024]) {
        let bucket = format!("restore-{mib}");
        fill(lab, &bucket, mib << 20)?;
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            let endpoint = road.endpoint();
            let key = format!("s3://{bucket}/control/registry-snapshot/{LABEL}.db");
            // Of one filesystem, as the registry's directory and its parent are.
            let (target, landing) = (lab.place.lasting("scratch/target")?, lab.place.lasting("scratch/landing")?);
            let place = target.join("registry.db");
            let place = place.to_str().ok_or("a path that is no text")?;
            let ours = |endpoint: &str| {
                let args = ["restore", "--from-box", LABEL, "--this-box", "edge-b2", "--confirm", LABEL, "--json"];
                let mut command = carlosctl(endpoint, &bucket, &args);
                command.args(["--allow", "still-writing", "--registry", place]);
                command
            };
            let prove_and_place = format!(
                "test \"$(sqlite3 {at} 'pragma integrity_check')\" = ok; cp {at} {place}.new; sync {place}.new; \
                 mv {place}.new {place}; sync {directory}",
                at = landing.join("registry.db").display(),
                directory = target.display()
            );
            let shell = |download: &str| {
                let at = landing.join("registry.db");
                lab.tools.shell(&format!("{download} {}; {prove_and_place}", at.display()), &endpoint)
            };
            // A receipt is named by its second: those of earlier runs would stand in the way.
            let empty = || {
                lab.place.empty("target")?;
                lab.place.empty("landing")?;
                data::clear(lab, &bucket, "control/carlosctl/restores/")
            };
            let mut contenders = [
                Contender::new("carlosctl", || ours(&endpoint)).after(empty),
                Contender::new("s5cmd", || shell(&format!("$S5CMD cp {key}"))).after(empty),
                Contender::new("rclone", || shell(&format!("rclone copyto {}", key.replace("s3://", "s:")))).after(empty),
                Contender::new("aws", || shell(&format!("aws --endpoint-url $ENDPOINT s3 cp --quiet {key}"))).after(empty),
            ];
            let taken = road.in_turn(&mut contenders)?;
            empty()?;
            let (requests, peak_mib) = road.counted(ours)?;
            Row {
                job: "restore",
                size: format!("{mib} MiB"),
                latency: Some(latency),
                taken: &taken,
                target: TARGET,
                peak_mib,
                requests: Some(requests),
            }
            .print();
        }
    }
    Ok(())
}

/// A dead box whose current snapshot is of this size, with its own generation and an older one.
fn fill(lab: &Lab, bucket: &str, bytes: u64) -> Result<(), Failure> {
    let (new, old) = (registry::of(&lab.place, bytes, 1)?, registry::of(&lab.place, bytes, 0)?);
    let read = |path: std::path::PathBuf| std::fs::read(path).map(Bytes::from).unwrap_or_default();
    data::once(lab, bucket, || {
        let last = Timestamp::now() - SignedDuration::from_hours(1);
        let (current, older) = (read(new), read(old));
        let sidecar = Sidecar {
            label: LABEL.to_owned(),
            fingerprint: "5f6bd9".to_owned(),
            created_at: Some(last),
            bytes: current.len() as u64,
        };
        let sidecar = sidecar.to_json().unwrap_or_default();
        let generation = |at: Timestamp| format!("control/registry-snapshots/{LABEL}/{}.db", Stamp::at(at));
        [
            (generation(last - SignedDuration::from_hours(1)), older),
            (generation(last), current.clone()),
            (format!("control/registry-snapshot/{LABEL}.db"), current),
            (format!("control/registry-snapshot/{LABEL}.json"), sidecar.into()),
        ]
    })
}
