//! Kind: an artefact that is judged by its surface, or changed by being looked at.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::common::carlosctl;
use crate::common::deployment::registry;
use crate::restore::{Standby, ago};

/// A registry after `change` was done to its file.
fn changed(change: impl FnOnce(&Path)) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    fs::write(&path, registry(200, "v5")).expect("a file");
    change(&path);
    fs::read(&path).expect("a file")
}

fn sql(script: &str) -> Vec<u8> {
    changed(|path| Connection::open(path).and_then(|connection| connection.execute_batch(script)).expect("SQL"))
}

/// A standby whose dead box left this.
fn left(body: &[u8]) -> Standby {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &ago(20), body);
    standby
}

/// Row 26: a snapshot with a WAL header could not be opened read-only, or was changed by looking at it; and a journal that
/// happened to lie in the temporary directory was played back into it.
#[test]
fn looking_at_a_snapshot_changes_neither_it_nor_what_lies_around() {
    let body = sql("PRAGMA journal_mode = WAL");
    assert_eq!(&body[18..20], [2, 2]);
    let standby = left(&body);
    let temporary = standby.deployment.beside("tmp");
    fs::create_dir(&temporary).expect("a directory");
    for name in ["registry.db-journal", "staged.db-journal", "carlosctl-registry.db-journal", "registry.db-wal"] {
        fs::write(temporary.join(name), b"a decoy").expect("a file");
    }
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let decoys = names(&temporary);
    let verify =
        carlosctl(["snapshot", "verify", "--all-generations"]).dir(&standby.deployment.dir()).env("TMPDIR", &temporary).run();
    assert_eq!(verify.code, 0, "{verify}");
    let outcome = standby.restore(["--confirm", "edge-a1"]).env("TMPDIR", &temporary).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(fs::read(standby.registry()).expect("a file") == body, "not the bytes of the object");
    assert_eq!(names(&temporary), decoys);
    for side in ["-wal", "-shm", "-journal"] {
        assert!(!standby.registry().with_file_name(format!("registry.db{side}")).exists(), "{side}");
    }
}

/// Row 27: what a quick check passes failed days later. One index lacks a row that its table has.
#[test]
fn damage_in_an_index_is_refused_in_a_few_words_and_another_one_is_offered() {
    let body = changed(|path| {
        let edit = |sql: &str| {
            let connection = Connection::open(path).expect("a database");
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).expect("a setting");
            connection.pragma_update(None, "writable_schema", true).expect("a setting");
            connection.execute_batch(sql).expect("SQL");
        };
        edit(
            "CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'routes_app'; DELETE FROM sqlite_master WHERE name = 'routes_app'",
        );
        let rows: Vec<String> = (0..1000).map(|at| format!("('late-{at}.example.org', 'shop')")).collect();
        edit(&format!("INSERT INTO routes (host, app) VALUES {}", rows.join(",")));
        edit("INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept");
    });
    let standby = left(&body);
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["integrity-failed"]);
    assert!(outcome.stderr.contains("missing from index"), "{outcome}");
    assert!(outcome.stderr.len() < 4000, "a few lines: {outcome}");
    assert!(outcome.stderr.contains(" restore --from-box edge-a1 --at 20"), "{outcome}");
    let good = standby.restore(["--confirm", "edge-a1", "--at", "good"]).run();
    assert_eq!(good.code, 0, "{good}");
    assert_eq!(standby.versions(), ["v0"]);
}

/// Row 28 a, b, e, f: a newer format was called damage; and what is no registry at all must not be installed.
#[test]
fn a_newer_format_is_not_damage_and_what_is_no_registry_is_refused() {
    let with_byte = |at: usize, value: u8| {
        let mut body = registry(200, "v5");
        body[at] = value;
        body
    };
    for (body, code, words) in [
        (with_byte(47, 5), "not-sqlite", "written by something newer"),
        (with_byte(19, 3), "not-sqlite", "written by something newer"),
        (sql("DROP TABLE routes"), "no-routes", "not a registry"),
        (b"#!/bin/sh\n".repeat(400), "not-sqlite", "not a SQLite database"),
    ] {
        let standby = left(&body);
        let before = standby.files();
        let outcome = standby.restore(["--confirm", "edge-a1"]).run();
        standby.refused(&outcome, 5, &before, &[code]);
        assert!(outcome.stderr.contains(words), "{words} in {outcome}");
        assert!(!outcome.stderr.contains("integrity-failed"), "{outcome}");
        assert!(outcome.stderr.contains("--at 20"), "another one is offered: {outcome}");
    }
}

/// The kind of row 28, made on purpose: what is called `routes` is a view, which would run what its maker wrote into it.
#[test]
fn a_view_that_is_called_routes_is_no_table() {
    let body = sql("ALTER TABLE routes RENAME TO hidden; CREATE VIEW routes AS SELECT * FROM hidden;
                    CREATE TRIGGER late INSTEAD OF INSERT ON routes BEGIN DELETE FROM hidden; END");
    let standby = left(&body);
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["no-routes"]);
    let verify = carlosctl(["snapshot", "verify"]).dir(&standby.deployment.dir()).run();
    assert_eq!(verify.code, 4, "{verify}");
}

/// Row 28 c, d: what a newer agent added was called damage.
#[test]
fn what_a_newer_agent_added_is_restored_with_a_warning() {
    let body =
        sql("CREATE TABLE leases (id INTEGER PRIMARY KEY, name TEXT, twice INT GENERATED ALWAYS AS (id * 2) STORED) STRICT;
                    INSERT INTO leases (id, name) VALUES (1, 'x'); ALTER TABLE routes ADD COLUMN shiny TEXT DEFAULT 'yes'");
    let standby = left(&body);
    let outcome = standby.restore(["--confirm", "edge-a1", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    for words in ["warning schema-unknown:", "routes.shiny", "leases"] {
        assert!(outcome.stderr.contains(words), "{words} in {outcome}");
    }
    assert_eq!(outcome.json()["rows"]["leases"], 1);
    assert!(fs::read(standby.registry()).expect("a file") == body);
}

/// Row 29: text that is not UTF-8 ended a summary in a panic, and text behind a NUL was cut off.
#[test]
fn text_that_is_none_is_copied_as_it_is_with_a_warning() {
    let body = sql("UPDATE routes SET version = CAST(X'76FF31' AS TEXT) WHERE rowid = 1;
                    UPDATE routes SET version = CAST(X'76310078' AS TEXT) WHERE rowid = 2;
                    UPDATE routes SET version = X'00FF' WHERE rowid = 3;
                    UPDATE routes SET app = CAST(X'1B5B324AFF' AS TEXT) WHERE rowid = 4");
    let standby = left(&body);
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("warning text-unreadable:"), "{outcome}");
    assert!(!outcome.stderr.contains(['\u{1b}', '\0']), "{outcome:?}");
    assert!(fs::read(standby.registry()).expect("a file") == body);
    for args in [&["snapshot", "show", "--box", "edge-a1"][..], &["snapshot", "diff", "--box", "edge-a1", "2h", "current"]] {
        let outcome = carlosctl(args.iter().copied()).dir(&standby.deployment.dir()).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        assert!(!outcome.stdout.contains(['\u{1b}', '\0']), "{outcome:?}");
    }
    let nul = carlosctl(["snapshot", "diff", "--box", "edge-a1", "2h", "current"]).dir(&standby.deployment.dir()).run();
    assert!(nul.stdout.contains("v1\\u{0}x") && nul.stdout.contains("v\\xff1"), "whole, not cut: {nul}");
}
