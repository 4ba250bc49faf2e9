//! `box snapshot` of an unchanged and of a changed registry, beside one scan, and beside `vacuum into` and the same uploads.

use std::path::Path;

use rusqlite::Connection;

use super::{Lab, Road, carlosctl};
use crate::Failure;
use crate::measure::Contender;
use crate::table::Row;
use crate::tools::must;
use crate::{data, registry};

const LABEL: &str = "edge-a1";

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    for mib in lab.args.sizes(&[16], &[100], &[100]) {
        let bucket = format!("box-{mib}");
        let live = lab.place.lasting("scratch")?.join("live.db");
        if live.exists() {
            std::fs::remove_file(&live)?;
        }
        std::fs::copy(registry::of(&lab.place, mib << 20, 0)?, &live)?;
        Connection::open(&live)?.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        data::fill(lab, &bucket, [])?;
        must(&mut ours(&lab.server.endpoint(), &bucket, &live))?;
        for latency in lab.args.latencies() {
            let road = Road::new(lab, latency)?;
            unchanged(&road, &bucket, &live, mib)?;
            changed(lab, &road, &bucket, &live, mib)?;
        }
    }
    Ok(())
}

fn ours(endpoint: &str, bucket: &str, live: &Path) -> std::process::Command {
    let mut command = carlosctl(endpoint, bucket, &["box", "snapshot", "--this-box", LABEL, "--json", "--registry"]);
    command.arg(live);
    command
}

fn unchanged(road: &Road<'_>, bucket: &str, live: &Path, mib: u64) -> Result<(), Failure> {
    let endpoint = road.endpoint();
    let scan = format!("sqlite3 {} 'select sum(length(build_state) + length(host)) from routes not indexed'", live.display());
    let mut contenders = [
        Contender::new("carlosctl", || ours(&endpoint, bucket, live)),
        Contender::new("one scan", || road.lab.tools.shell(&scan, &endpoint)),
    ];
    let taken = road.in_turn(&mut contenders)?;
    let (requests, peak_mib) = road.counted(|endpoint| ours(endpoint, bucket, live))?;
    Row {
        job: "box snapshot, unchanged",
        size: format!("{mib} MiB"),
        latency: Some(road.latency),
        taken: &taken,
        target: 1.1,
        peak_mib,
        requests: Some(requests),
    }
    .print();
    Ok(())
}

fn changed(lab: &Lab, road: &Road<'_>, bucket: &str, live: &Path, mib: u64) -> Result<(), Failure> {
    let endpoint = road.endpoint();
    let change = || {
        let connection = Connection::open(live)?;
        connection.execute_batch("UPDATE routes SET caps = caps || 'x' WHERE host = 'host-00000007.example.org'")?;
        // A generation is named by its second.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        Ok(())
    };
    let copy = lab.place.empty("copy")?.join("copy.db");
    let clear = || lab.place.empty("copy").map(|_| ());
    let vacuum = format!("sqlite3 {} \"vacuum into '{}'\"", live.display(), copy.display());
    let shell = |upload: &str| {
        let twice = format!("{upload}/control/generation; {upload}/control/current");
        lab.tools.shell(&format!("{vacuum}; {twice}"), &endpoint)
    };
    let mut contenders = [
        Contender::new("carlosctl", || ours(&endpoint, bucket, live)).after(change),
        Contender::new("s5cmd", || shell(&format!("$S5CMD cp {} s3://{bucket}-peer", copy.display()))).after(clear),
        Contender::new("rclone", || shell(&format!("rclone copyto {} s:{bucket}-peer", copy.display()))).after(clear),
    ];
    data::fill(lab, &format!("{bucket}-peer"), [])?;
    let taken = road.in_turn(&mut contenders)?;
    change()?;
    let (requests, peak_mib) = road.counted(|endpoint| ours(endpoint, bucket, live))?;
    Row {
        job: "box snapshot, changed",
        size: format!("{mib} MiB"),
        latency: Some(road.latency),
        taken: &taken,
        target: 1.0,
        peak_mib,
        requests: Some(requests),
    }
    .print();
    Ok(())
}
