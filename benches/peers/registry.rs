//! Registries of a given size.

use std::path::{Path, PathBuf};

use carlosctl::demo::registry::{build, busy_box};
use rusqlite::Connection;

use super::Failure;
use super::place::Place;

/// About how many bytes a row of `routes` takes here, its index entries included.
const ROW_BYTES: u64 = 2048;

/// A registry of about `bytes`, as the agent's `VACUUM INTO` leaves it; built once. Two of one size and different `seed` have
/// the same rows with other content.
pub(crate) fn of(place: &Place, bytes: u64, seed: u64) -> Result<PathBuf, Failure> {
    let path = place.lasting("registries")?.join(format!("{bytes}-{seed}.db"));
    let done = format!("registry-{bytes}-{seed}");
    if place.is_done(&done) {
        return Ok(path);
    }
    eprintln!("peers: building a registry of {} MiB", bytes >> 20);
    for leftover in [path.clone(), path.with_extension("raw")] {
        if leftover.exists() {
            std::fs::remove_file(leftover)?;
        }
    }
    let raw = path.with_extension("raw");
    fill(&raw, bytes, seed)?;
    let connection = Connection::open(&raw)?;
    connection.execute("VACUUM INTO ?1", [path.to_str().ok_or("a path that is no text")?])?;
    drop(connection);
    std::fs::remove_file(raw)?;
    place.done(&done)?;
    Ok(path)
}

fn fill(path: &Path, bytes: u64, seed: u64) -> Result<(), Failure> {
    build(path, &busy_box(40, "v5"))?;
    let rows = bytes / ROW_BYTES;
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    // The text that fills a row differs from row to row and from seed to seed, and is the same in every run.
    connection.execute(
        "INSERT INTO routes (host, app, account, version, prev_version, good_version, socket, hibernate, region, build_state)
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
         SELECT printf('host-%08d.example.org', i), 'app-' || (i % 50), 'acct-' || (i % 5), 'v5', 'v4', 'v3',
                printf('/run/carlos/host-%08d.sock', i), 1, 'eu-west-1',
                printf('{\"state\":{\"last_executed\":\"v5\"},\"known\":true,\"read_err\":\"\",\"log\":\"%.*c%d\"}',
                       1500, char(97 + (i + ?2) % 26), i * 7919 + ?2)
         FROM n",
        (i64::try_from(rows)?, i64::try_from(seed)?),
    )?;
    Ok(())
}
