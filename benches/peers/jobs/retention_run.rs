//! `retention run`, with every look that comes before a deletion, beside a bulk delete of the same keys.

use std::fmt::Write;

use bytes::Bytes;

use super::explain::{app_objects, box_objects, name};
use super::{Lab, Road, carlosctl};
use crate::Failure;
use crate::data;
use crate::measure::Contender;
use crate::table::Row;

const TARGET: f64 = 1.5;
const BUCKET: &str = "retention-run";
/// Objects of a version besides its manifest and its artifact.
const ASSETS: u64 = 8;
/// Versions of each app that go, and that stay.
const GO: u64 = 20;
const STAY: u32 = 2;

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for objects in lab.args.sizes(&[1000], &[5000], &[5000]) {
        let apps = objects.div_ceil(GO * (ASSETS + 2));
        let keys = lab.place.empty("keys")?.join("keys");
        std::fs::write(&keys, victims(apps))?;
        let keys = keys.display();
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            let endpoint = road.endpoint();
            let ours = |endpoint: &str| carlosctl(endpoint, BUCKET, &["retention", "run", "--confirm", BUCKET, "--json"]);
            let shell = |script: String| lab.tools.shell(&script, &endpoint);
            let again = || refill(lab, apps);
            let mut contenders = [
                Contender::new("carlosctl", || ours(&endpoint)).after(again),
                Contender::new("s5cmd", || shell(format!("$S5CMD rm $(sed 's|^|s3://{BUCKET}/|' {keys})"))).after(again),
                Contender::new("rclone", || {
                    shell(format!("rclone delete --files-from {keys} --checkers 64 --transfers 64 s:{BUCKET}"))
                })
                .after(again),
            ];
            let taken = road.in_turn(&mut contenders)?;
            refill(lab, apps)?;
            let before = data::count(lab, BUCKET, "apps/")?;
            let (requests, peak_mib) = road.counted(ours)?;
            let gone = before - data::count(lab, BUCKET, "apps/")?;
            Row {
                job: "retention run",
                size: format!("{gone} objects of {apps} apps"),
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

fn refill(lab: &Lab, apps: u64) -> Result<(), Failure> {
    data::fill(lab, BUCKET, (0..apps).flat_map(objects))?;
    data::fill(lab, BUCKET, box_objects(apps)?)?;
    Ok(())
}

fn objects(app: u64) -> Vec<(String, Bytes)> {
    let app = name(app);
    let mut objects = app_objects(&app, GO + u64::from(STAY), STAY);
    for version in 1..=GO + u64::from(STAY) {
        for asset in 0..ASSETS {
            let key = format!("apps/ops/{app}/releases/v{version:05}/asset-{asset}");
            objects.push((key, Bytes::from_static(&[b'x'; 512])));
        }
    }
    objects
}

/// The keys that go, one a line, the artifacts of the versions included.
fn victims(apps: u64) -> String {
    let mut keys = String::new();
    for app in 0..apps {
        let objects = objects(app);
        for pair in objects.iter().zip(objects.iter().skip(1)) {
            // An artifact stands before the manifest that names it.
            let ((artifact, _), (manifest, _)) = pair;
            if manifest.ends_with("/manifest.json") && goes(manifest) {
                let _ = writeln!(keys, "{artifact}");
            }
        }
        for (key, _) in objects.iter().filter(|(key, _)| goes(key)) {
            let _ = writeln!(keys, "{key}");
        }
    }
    keys
}

fn goes(key: &str) -> bool {
    let version = key.split_once("/releases/v").and_then(|(_, rest)| rest.get(..5)?.parse::<u64>().ok());
    version.is_some_and(|version| version <= GO)
}
