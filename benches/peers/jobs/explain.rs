//! `retention explain` beside a recursive listing of `apps/` alone.

use bytes::Bytes;
use carlosctl::demo::registry::{RouteSpec, snapshot_bytes};
use carlosctl::platform::{BoxMetrics, BoxReport, HostBuilds, Sidecar, Stamp};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Lab, Road, carlosctl};
use crate::Failure;
use crate::data;
use crate::measure::Contender;
use crate::table::Row;

const TARGET: f64 = 1.25;
const VERSIONS: u64 = 200;
const BOX: &str = "edge-a1";

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for apps in lab.args.sizes(&[10], &[10, 100], &[10, 100, 1000]) {
        let bucket = format!("explain-{apps}");
        data::once(lab, &bucket, || (0..apps).flat_map(|app| app_objects(&name(app), VERSIONS, 20)))?;
        data::fill(lab, &bucket, box_objects(apps)?)?;
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            let endpoint = road.endpoint();
            let ours = |endpoint: &str| carlosctl(endpoint, &bucket, &["retention", "explain", "--json"]);
            let shell = |script: String| lab.tools.shell(&script, &endpoint);
            let mut contenders = [
                Contender::new("carlosctl", || ours(&endpoint)),
                Contender::new("s5cmd", || shell(format!("$S5CMD ls 's3://{bucket}/apps/*'"))),
                Contender::new("rclone", || {
                    shell(format!("rclone lsf -R --fast-list --use-server-modtime --format pst s:{bucket}/apps"))
                }),
                Contender::new("aws", || shell(format!("aws --endpoint-url $ENDPOINT s3 ls --recursive s3://{bucket}/apps/"))),
            ];
            let taken = road.in_turn(&mut contenders)?;
            let (requests, peak_mib) = road.counted(ours)?;
            Row {
                job: "retention explain",
                size: format!("{apps} apps × {VERSIONS}"),
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

/// The name of an app.
pub(super) fn name(number: u64) -> String {
    format!("app-{number:04}")
}

/// One app of account `ops`: its policy, a release an hour, each with an artifact of its own.
pub(super) fn app_objects(app: &str, versions: u64, keep: u32) -> Vec<(String, Bytes)> {
    let newest = Timestamp::now() - SignedDuration::from_hours(24 * 10);
    let at = |rest: String| format!("apps/ops/{app}/{rest}");
    let mut objects = vec![(at("retention.json".to_owned()), Bytes::from(format!("{{\"keep\":{keep}}}")))];
    for back in 0..versions {
        let version = format!("v{:05}", versions - back);
        let shipped = newest - SignedDuration::from_hours(i64::try_from(back).unwrap_or_default());
        let artifact = Bytes::from(format!("artifact of {app} {version} {}", "x".repeat(512)));
        let sha256 = carlosctl::platform::hex(&Sha256::digest(&artifact));
        let manifest = json!({
            "v": 1, "account": "ops", "app": app, "version": version, "kind": "binary", "shipped_at": shipped.to_string(),
            "artifacts": [{"target": "linux-arm64", "sha256": sha256, "bytes": artifact.len()}],
        });
        objects.push((at(format!("artifacts/{sha256}")), artifact));
        objects.push((at(format!("releases/{version}/manifest.json")), manifest.to_string().into()));
    }
    objects
}

/// A box that hosts every app at its newest version, with a report of this moment.
pub(super) fn box_objects(apps: u64) -> Result<Vec<(String, Bytes)>, Failure> {
    let now = Timestamp::now();
    let newest = format!("v{VERSIONS:05}");
    let routes: Vec<RouteSpec> = (0..apps)
        .map(|app| RouteSpec::new(&format!("{}.example.org", name(app))).app("ops", &name(app)).versions(&newest, "", ""))
        .collect();
    let body = Bytes::from(snapshot_bytes(&routes)?);
    let builds = routes.iter().map(|route| {
        let builds = HostBuilds {
            account: "ops".to_owned(),
            app: route.app.clone(),
            builds: [newest.clone()].into_iter().collect(),
            complete: true,
        };
        (route.host.clone(), builds)
    });
    let report = BoxReport {
        label: BOX.to_owned(),
        generated_at: Some(now),
        metrics: Some(BoxMetrics { build_states: builds.collect(), build_states_err: String::new() }),
    };
    let sidecar =
        Sidecar { label: BOX.to_owned(), fingerprint: "5f6bd9".to_owned(), created_at: Some(now), bytes: body.len() as u64 };
    Ok(vec![
        (format!("control/registry-snapshots/{BOX}/{}.db", Stamp::at(now)), body.clone()),
        (format!("control/registry-snapshot/{BOX}.db"), body),
        (format!("control/registry-snapshot/{BOX}.json"), sidecar.to_json()?.into()),
        (format!("status/boxes/{BOX}.json"), report.to_json()?.into()),
    ])
}
