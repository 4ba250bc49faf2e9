//! `snapshot list` beside a listing of both prefixes and a download of every sidecar.

use bytes::Bytes;
use carlosctl::platform::{Sidecar, Stamp};
use jiff::{SignedDuration, Timestamp};

use super::{Lab, Road, carlosctl, label};
use crate::Failure;
use crate::data;
use crate::measure::Contender;
use crate::table::Row;

const GENERATIONS: i64 = 8;
const TARGET: f64 = 0.8;

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for boxes in lab.args.sizes(&[10, 100], &[10, 100, 1000], &[10, 100, 1000, 5000]) {
        let bucket = format!("list-{boxes}");
        data::once(lab, &bucket, || objects(boxes))?;
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            let endpoint = road.endpoint();
            let ours = |endpoint: &str| carlosctl(endpoint, &bucket, &["snapshot", "list", "--json"]);
            let shell = |script: String| lab.tools.shell(&script, &endpoint);
            let empty = || lab.place.empty("sidecars").map(|_| ());
            let into = lab.place.empty("sidecars")?;
            let into = into.display();
            let mut contenders = [
                Contender::new("carlosctl", || ours(&endpoint)),
                Contender::new("s5cmd", || {
                    shell(format!(
                        "$S5CMD ls 's3://{bucket}/control/registry-snapshots/*' & \
                         $S5CMD cp 's3://{bucket}/control/registry-snapshot/*.json' {into}/; wait $!"
                    ))
                })
                .after(empty),
                Contender::new("rclone", || {
                    shell(format!(
                        "rclone lsf -R --fast-list --use-server-modtime --format pst s:{bucket}/control/registry-snapshots & \
                         rclone copy --fast-list --use-server-modtime --checkers 64 --transfers 64 --include '*.json' \
                         s:{bucket}/control/registry-snapshot {into}; wait $!"
                    ))
                })
                .after(empty),
                Contender::new("aws", || {
                    shell(format!(
                        "aws --endpoint-url $ENDPOINT s3 ls --recursive s3://{bucket}/control/registry-snapshots/ & \
                         aws --endpoint-url $ENDPOINT s3 cp --recursive --quiet --exclude '*' --include '*.json' \
                         s3://{bucket}/control/registry-snapshot/ {into}/; wait $!"
                    ))
                })
                .after(empty),
            ];
            // Thousands of downloads, each a Python task: minutes, and never the fastest.
            let contenders = if boxes > 100 { &mut contenders[..3] } else { &mut contenders[..] };
            let taken = road.in_turn(contenders)?;
            let (requests, peak_mib) = road.counted(ours)?;
            Row {
                job: "snapshot list",
                size: format!("{boxes} boxes"),
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

/// Boxes with eight generations each, of which the newest is current, a sidecar and a report. Their content is never read.
fn objects(boxes: u64) -> impl Iterator<Item = (String, Bytes)> {
    let last = Timestamp::now() - SignedDuration::from_hours(1);
    (0..boxes).flat_map(move |number| {
        let label = label(number);
        let body = |back: i64| Bytes::from(format!("{label} {back} {}", "x".repeat(1024)));
        let sidecar = Sidecar {
            label: label.clone(),
            fingerprint: format!("{number:064x}"),
            created_at: Some(last),
            bytes: body(0).len() as u64,
        };
        let sidecar = sidecar.to_json().unwrap_or_default();
        let mut objects = vec![
            (format!("control/registry-snapshot/{label}.db"), body(0)),
            (format!("control/registry-snapshot/{label}.json"), sidecar.into()),
            (format!("status/boxes/{label}.json"), Bytes::from_static(b"{}")),
        ];
        for back in 0..GENERATIONS {
            let stamp = Stamp::at(last - SignedDuration::from_mins(6 * back));
            objects.push((format!("control/registry-snapshots/{label}/{stamp}.db"), body(back)));
        }
        objects
    })
}
