//! `snapshot verify --all-generations` beside a download of the same objects and `integrity_check` on every core.

use bytes::Bytes;
use carlosctl::platform::{Sidecar, Stamp};
use jiff::{SignedDuration, Timestamp};

use super::{Lab, Road, carlosctl, label};
use crate::Failure;
use crate::measure::Contender;
use crate::table::Row;
use crate::{data, registry};

const TARGET: f64 = 1.0;
const GENERATIONS: u64 = 8;
const BYTES: u64 = 1 << 20;

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for boxes in lab.args.sizes(&[10], &[100], &[100]) {
        let bucket = format!("verify-{boxes}");
        let bodies: Vec<Bytes> = (0..GENERATIONS)
            .map(|seed| Ok(std::fs::read(registry::of(&lab.place, BYTES, seed)?)?.into()))
            .collect::<Result<_, Failure>>()?;
        data::once(lab, &bucket, || objects(boxes, &bodies))?;
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            let endpoint = road.endpoint();
            let ours = |endpoint: &str| carlosctl(endpoint, &bucket, &["snapshot", "verify", "--all-generations", "--json"]);
            let into = lab.place.empty("snapshots")?;
            let into = into.display();
            let check = format!(
                "find {into} -name '*.db' -print0 | xargs -0 -P $(nproc) -I@ sqlite3 @ 'pragma integrity_check' | sort -u | \
                 grep -qx ok"
            );
            let shell = |download: String| lab.tools.shell(&format!("{download}; {check}"), &endpoint);
            let empty = || lab.place.empty("snapshots").map(|_| ());
            let mut contenders = [
                Contender::new("carlosctl", || ours(&endpoint)),
                Contender::new("s5cmd", || shell(format!("$S5CMD cp 's3://{bucket}/control/*' {into}/"))).after(empty),
                Contender::new("rclone", || {
                    shell(format!(
                        "rclone copy --fast-list --use-server-modtime --checkers 64 --transfers 64 s:{bucket}/control {into}"
                    ))
                })
                .after(empty),
            ];
            let taken = road.in_turn(&mut contenders)?;
            let (requests, peak_mib) = road.counted(ours)?;
            Row {
                job: "snapshot verify",
                size: format!("{boxes} × {} × 1 MiB", GENERATIONS + 1),
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

fn objects(boxes: u64, bodies: &[Bytes]) -> impl Iterator<Item = (String, Bytes)> {
    let last = Timestamp::now() - SignedDuration::from_hours(1);
    (0..boxes).flat_map(move |number| {
        let label = label(number);
        let current = bodies[0].clone();
        let sidecar = Sidecar {
            label: label.clone(),
            fingerprint: "5f6bd9".to_owned(),
            created_at: Some(last),
            bytes: current.len() as u64,
        };
        let sidecar = sidecar.to_json().unwrap_or_default();
        let mut objects = vec![
            (format!("control/registry-snapshot/{label}.db"), current),
            (format!("control/registry-snapshot/{label}.json"), sidecar.into()),
        ];
        for (body, back) in bodies.iter().zip(0..) {
            let stamp = Stamp::at(last - SignedDuration::from_mins(6 * back));
            objects.push((format!("control/registry-snapshots/{label}/{stamp}.db"), body.clone()));
        }
        objects
    })
}
