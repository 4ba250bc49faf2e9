//! Starting up, and the size of the binary.

use std::process::Command;
use std::time::{Duration, Instant};

use super::Lab;
use crate::Failure;
use crate::measure::peak_mib;
use crate::place::Place;
use crate::table::seconds;
use crate::tools::{clean, must};

const RUNS: usize = 41;
const BINARY_LIMIT_BYTES: u64 = 18_000_000;

pub(crate) fn run(lab: &Lab) -> Result<(), Failure> {
    let demo = lab.place.empty("demo")?;
    must(clean(Place::binary()).args(["demo", "--keep", "--dir"]).arg(demo.join("night")))?;
    let list = || {
        let mut command = clean(Place::binary());
        command.args(["snapshot", "list", "--host-env"]).arg(demo.join("night/host.env"));
        command
    };
    let version = || {
        let mut command = clean(Place::binary());
        command.arg("--version");
        command
    };
    row("`--version`", Duration::from_millis(10), &version)?;
    row("`snapshot list`, directory, 3 boxes", Duration::from_millis(25), &list)?;
    let bytes = std::fs::metadata(Place::binary())?.len();
    let met = if bytes <= BINARY_LIMIT_BYTES { "yes" } else { "no" };
    println!("| binary | – | – | {}.{} MB | – | – | ≤ 18.0 MB | {met} | – | – |", bytes / 1_000_000, bytes / 100_000 % 10);
    Ok(())
}

fn row(what: &str, target: Duration, command: &dyn Fn() -> Command) -> Result<(), Failure> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let mut command = command();
        let begin = Instant::now();
        must(&mut command)?;
        times.push(begin.elapsed());
    }
    times.sort();
    let median = times[RUNS / 2];
    let met = if median <= target { "yes" } else { "no" };
    let peak = peak_mib(&command())?.map_or("–".to_owned(), |peak| format!("{peak} MiB"));
    println!("| {what} | – | – | {} | – | – | ≤ {} | {met} | {peak} | – |", fine(median), seconds(target));
    Ok(())
}

/// A time of a few milliseconds.
fn fine(taken: Duration) -> String {
    format!("{:.1} ms", taken.as_secs_f64() * 1000.0)
}
