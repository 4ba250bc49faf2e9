//! Real files, as crashes and careless copies leave them (cases 16, 24, 26, 27, 28 and 29).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::*;
use crate::demo::registry::{RouteSpec, build, build_live, busy_box};
use crate::finding::Code;

/// Every file of a directory with the hash of its content: equal before and after means that nothing was touched.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a file");
            (path, Sha256::digest(bytes).to_vec())
        })
        .collect()
}

/// Runs SQL in the database with the machine's own `sqlite3`, and kills it before it can clean up.
fn killed_writer(path: &Path, sql: &str) {
    use std::io::{BufRead, BufReader, Write};
    let mut child =
        Command::new("sqlite3").arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sqlite3 is installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "{sql}\nSELECT 'written';").expect("it reads");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    while lines.next().expect("it answers").expect("a line") != "written" {}
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
}

fn versions(registry: &Registry) -> Vec<String> {
    registry
        .read(|connection| {
            let mut statement = connection.prepare("SELECT DISTINCT version FROM routes ORDER BY 1")?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
        .expect("it reads")
}

fn edit(path: &Path, sql: &str) {
    Connection::open(path).expect("it opens").execute_batch(sql).expect("it runs");
}

#[test]
fn a_stale_wal_is_seen_by_the_agents_view_and_not_by_the_snapshots_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build_live(&path, &busy_box(200, "STANDBYX")).expect("a registry");
    killed_writer(&path, "UPDATE routes SET version = 'STALE';");
    // A careless restore: the file is replaced, the side files stay.
    let snapshot = directory.path().join("snapshot.db");
    build(&snapshot, &busy_box(200, "DEADBOXX")).expect("a snapshot");
    std::fs::rename(&snapshot, &path).expect("renamed");
    let before = files(directory.path());
    assert_eq!(before.len(), 3, "registry, -wal and -shm");

    let alone = Registry::open_snapshot(&path).expect("it opens");
    assert_eq!(versions(&alone), ["DEADBOXX"]);
    let agent = Registry::open_as_agent(&path).expect("it opens");
    assert_ne!(versions(&agent), ["DEADBOXX"], "the leftover -wal undoes the restore, and this view must say so");
    drop((alone, agent));
    assert_eq!(files(directory.path()), before);
}

#[test]
fn a_wal_header_without_a_wal_opens_everywhere_and_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry ?#%.db");
    build_live(&path, &busy_box(20, "v1")).expect("a registry");
    std::fs::write(directory.path().join("decoy.db-journal"), b"decoy").expect("written");
    let before = files(directory.path());
    assert_eq!(before.len(), 2);
    for open in [Registry::open_snapshot, Registry::open_live, Registry::open_as_agent] {
        let registry = open(&path).expect("it opens");
        assert!(registry.check().expect("it runs").is_clean());
        assert_eq!(registry.census("ops").expect("it counts").routes, 20);
        drop(registry);
        assert_eq!(files(directory.path()), before);
    }
}

#[test]
fn an_empty_wal_that_nobody_has_open_is_no_reason_to_leave_a_shm() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build_live(&path, &busy_box(20, "v1")).expect("a registry");
    std::fs::write(directory.path().join("registry.db-wal"), b"").expect("written");
    let before = files(directory.path());
    for open in [Registry::open_live, Registry::open_as_agent] {
        assert_eq!(versions(&open(&path).expect("it opens")), ["v1"]);
        assert_eq!(files(directory.path()), before);
    }
}

#[test]
fn a_live_registry_shows_what_its_writer_has_committed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build_live(&path, &busy_box(20, "v1")).expect("a registry");
    let writer = Connection::open(&path).expect("it opens");
    writer.execute_batch("UPDATE routes SET version = 'v2'").expect("it writes");
    let registry = Registry::open_live(&path).expect("it opens");
    assert_eq!(versions(&registry), ["v2"]);
    writer.execute_batch("BEGIN; UPDATE routes SET version = 'v3'").expect("it writes");
    assert_eq!(versions(&registry), ["v2"], "not committed");
    writer.execute_batch("COMMIT").expect("it commits");
    assert_eq!(versions(&registry), ["v3"]);
    writer
        .execute_batch("UPDATE routes SET version = 'v4'; PRAGMA wal_checkpoint(TRUNCATE); UPDATE routes SET version = 'v5'")
        .expect("it writes");
    assert_eq!(versions(&registry), ["v5"]);
}

#[test]
fn a_killed_writers_wal_is_read_and_not_touched() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build_live(&path, &busy_box(20, "v1")).expect("a registry");
    killed_writer(&path, "UPDATE routes SET version = 'v2';");
    let before = files(directory.path());
    assert_eq!(before.len(), 3);
    let registry = Registry::open_live(&path).expect("it opens");
    assert_eq!(versions(&registry), ["v2"]);
    drop(registry);
    assert_eq!(files(directory.path()), before);
}

#[test]
fn a_hot_journal_is_named_and_not_rolled_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(2000, "v1")).expect("a registry");
    // A small cache makes the writer spill into the file before its commit, so that the journal is hot.
    killed_writer(
        &path,
        "PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN; UPDATE routes SET version = hex(randomblob(200));",
    );
    let before = files(directory.path());
    assert_eq!(before.len(), 2, "registry and -journal");
    let answer = Registry::open_live(&path).and_then(|registry| registry.census("ops"));
    assert!(matches!(answer, Err(RegistryError::Unfinished(_))), "{answer:?}");
    assert_eq!(files(directory.path()), before);
}

#[test]
fn a_file_that_changes_while_it_is_taken_as_unchanging_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build_live(&path, &busy_box(20, "v1")).expect("a registry");
    let registry = Registry::open_live(&path).expect("it opens");
    edit(&path, "UPDATE routes SET version = 'v2'");
    assert_eq!(registry.census("ops").map(|census| census.routes), Err(RegistryError::Changed));
}

#[test]
fn damage_of_an_index_alone_is_found_which_a_quick_check_misses() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(200, "v1")).expect("a registry");
    edit(
        &path,
        "CREATE TABLE held AS SELECT * FROM sqlite_schema WHERE name = 'routes_app';
         PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'routes_app';",
    );
    edit(&path, "UPDATE routes SET app = 'moved' WHERE rowid = 7");
    edit(
        &path,
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM held; PRAGMA writable_schema = OFF; DROP TABLE held;",
    );
    let quick: String =
        Connection::open(&path).expect("it opens").query_row("PRAGMA quick_check", [], |row| row.get(0)).expect("it runs");
    assert_eq!(quick, "ok", "the recipe makes damage that quick_check does not see");

    let registry = Registry::open_snapshot(&path).expect("it opens");
    let check = registry.check().expect("it runs");
    assert!(check.damage.iter().any(|line| line.contains("routes_app")), "{check:?}");
    let census = registry.census("ops").expect("it counts");
    assert!(census.apps.iter().any(|app| app.app == "moved"), "read by the table, not by the index: {census:?}");
}

#[test]
fn a_page_of_zeros_is_damage_and_only_a_few_lines_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(2000, "v1")).expect("a registry");
    let mut bytes = std::fs::read(&path).expect("it reads");
    bytes[8 * 4096..40 * 4096].fill(0);
    std::fs::write(&path, &bytes).expect("written");
    let check = Registry::open_snapshot(&path).expect("it opens").check().expect("it runs");
    assert!((1..=6).contains(&check.damage.len()), "{check:?}");
}

#[test]
fn a_dangling_foreign_key_is_told_apart_from_damage() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(3, "v1")).expect("a registry");
    edit(
        &path,
        "PRAGMA foreign_keys = OFF; CREATE TABLE grants (host TEXT REFERENCES routes(host));
         INSERT INTO grants VALUES ('gone.example.org');",
    );
    let check = Registry::open_snapshot(&path).expect("it opens").check().expect("it runs");
    assert_eq!(check.damage, Vec::<String>::new());
    assert_eq!(check.foreign_keys, ["grants: row 1 names a row of routes that is not there"]);
}

#[test]
fn strict_tables_generated_columns_and_unknown_names_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    edit(
        &path,
        "CREATE TABLE routes (Host TEXT PRIMARY KEY, App TEXT, GoodVersion TEXT, twice TEXT AS (host || host), novelty TEXT) STRICT;
         CREATE TABLE fleets (name TEXT) STRICT; CREATE VIEW v AS SELECT * FROM routes;
         CREATE VIRTUAL TABLE search USING fts5(body);
         INSERT INTO routes VALUES ('h1', 'shop', 'v1', 'n');",
    );
    let registry = Registry::open_snapshot(&path).expect("it opens");
    assert!(registry.check().expect("it runs").is_clean());
    let census = registry.census("ops").expect("it counts");
    assert_eq!(census.routes, 1);
    assert_eq!(
        census.apps,
        [AppHosts { account: "ops".into(), app: "shop".into(), hosts: Hosts::try_from(["h1"].as_slice()).expect("one") }]
    );
    assert!(census.unknown.contains(&"routes.novelty".to_owned()) && census.unknown.contains(&"fleets".to_owned()));
    assert!(!census.tables.contains_key("v") && !census.tables.contains_key("search"), "{:?}", census.tables);
}

#[test]
fn a_database_that_is_no_registry_is_its_own_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, sql) in [
        ("no-table.db", "CREATE TABLE other (host TEXT)"),
        ("a-view.db", "CREATE TABLE other (host TEXT); CREATE VIEW routes AS SELECT * FROM other"),
        ("no-host.db", "CREATE TABLE routes (name TEXT)"),
        ("two-hosts.db", "CREATE TABLE routes (host TEXT, ho_st TEXT)"),
    ] {
        let path = directory.path().join(name);
        edit(&path, sql);
        let error = Registry::open_snapshot(&path).expect("it opens").census("ops").expect_err("no registry");
        assert!(matches!(error, RegistryError::NotARegistry(_)), "{name}: {error:?}");
        assert_eq!(error.code(), Code::NoRoutes);
    }
}

#[test]
fn an_empty_file_is_refused_before_sqlite_calls_it_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    std::fs::write(&path, b"").expect("written");
    for open in [Registry::open_snapshot, Registry::open_live, Registry::open_as_agent] {
        let error = open(&path).expect_err("refused");
        assert_eq!((&error, error.code()), (&RegistryError::Header(HeaderFault::Empty), Code::EmptyObject));
    }
    let error = Registry::open_live(&directory.path().join("none.db")).expect_err("refused");
    assert!(matches!(error, RegistryError::Io(_)), "{error:?}");
    assert!(Registry::open_live(directory.path()).is_err(), "a directory");
}

#[test]
fn bad_text_is_counted_shown_whole_and_panics_nowhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &[RouteSpec::new("h0").app("acme", "shop").versions("v1", "", "")]).expect("a registry");
    edit(
        &path,
        "INSERT INTO routes (host, version) VALUES ('h1', CAST(X'76FF31' AS TEXT)), ('h2', CAST(X'76310078' AS TEXT)),
             ('h3', X'7631'), (CAST(X'68FF' AS TEXT), 'v1'), (NULL, 'v1');",
    );
    let census = Registry::open_snapshot(&path).expect("it opens").census("ops").expect("it counts");
    assert_eq!((census.routes, census.unreadable_text), (6, 4));
    let values: Vec<_> = census.unreadable.iter().map(|bad| (bad.row.as_str(), bad.value.as_str())).collect();
    assert_eq!(values, [("h1", "v\\xff1"), ("h2", "v1\0x"), ("h3", "x'7631'"), ("h\\xff", "h\\xff")]);
}

#[test]
fn the_box_scoped_columns_that_are_in_use_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(200, "v1")).expect("a registry");
    let census = Registry::open_snapshot(&path).expect("it opens").census("ops").expect("it counts");
    let used: Vec<_> = census.box_scoped.iter().map(|(name, rows)| (name.as_str(), *rows)).collect();
    assert_eq!(used, [("account", 150), ("caps", 40), ("environment", 200), ("provisioned", 67)]);
    assert_eq!(census.tables["route_aliases"], 20);
    assert_eq!(census.hosts().len(), 200);
    assert_eq!(
        census.apps.iter().map(|app| (app.account.as_str(), app.app.as_str(), app.hosts.len())).collect::<Vec<_>>(),
        [("acme", "blog", 50), ("acme", "shop", 50), ("globex", "portal", 50), ("ops", "console", 50)]
    );
}

#[test]
fn an_interrupted_question_is_not_answered() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    build(&path, &busy_box(2000, "v1")).expect("a registry");
    let registry = Registry::open_snapshot(&path).expect("it opens");
    let interrupter = registry.interrupter();
    let stopped = registry.read(|connection| {
        let stopper = std::thread::spawn(move || interrupter.interrupt());
        // Endless without the interruption.
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n";
        let answer = connection.query_row(endless, [], |row| row.get::<_, i64>(0));
        stopper.join().expect("it ran");
        Ok(answer?)
    });
    assert_eq!(stopped, Err(RegistryError::Interrupted));
    assert_eq!(registry.check(), Err(RegistryError::Interrupted), "and no later one is begun");
}
