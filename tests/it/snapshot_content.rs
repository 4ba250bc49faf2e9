//! `snapshot verify`, `show`, `diff` and `pull`: what only the content can tell.

use std::os::unix::fs::PermissionsExt;

use carlosctl::demo::registry::{RouteSpec, busy_box};
use rusqlite::Connection;

use crate::common::deployment::{Deployment, registry, registry_of};
use crate::common::{Outcome, carlosctl};

const AS_OF: &str = "2026-11-30T12:00:00Z";
const WHEN: &str = "2026-11-30T10:00:00Z";

fn verify(deployment: &Deployment) -> Outcome {
    carlosctl(["snapshot", "verify", "--json", "--as-of", AS_OF]).dir(&deployment.dir()).run()
}

/// A box whose one snapshot is `body`; the verdict and the codes of verify.
fn verdict_of(body: &[u8]) -> (Outcome, String, Vec<String>) {
    let deployment = Deployment::new();
    deployment.pass("edge-a1", WHEN, body);
    let outcome = verify(&deployment);
    let document = outcome.json();
    let row = &document["boxes"][0];
    let all = [&row["findings"], &row["objects"][0]["findings"]];
    let codes = all
        .iter()
        .flat_map(|findings| findings.as_array().expect("findings"))
        .map(|finding| finding["code"].as_str().expect("a code").to_owned())
        .collect();
    let verdict = row["verdict"].as_str().expect("a verdict").to_owned();
    (outcome, verdict, codes)
}

/// The bytes of a registry after `change` was done to its file.
fn changed(change: impl FnOnce(&std::path::Path)) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    std::fs::write(&path, registry(200, "v5")).expect("a file");
    change(&path);
    std::fs::read(&path).expect("a file")
}

fn sql(script: &'static str) -> Vec<u8> {
    changed(|path| Connection::open(path).and_then(|connection| connection.execute_batch(script)).expect("SQL"))
}

#[test]
fn a_healthy_box_is_proved_and_exits_0() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    let outcome = carlosctl(["snapshot", "verify", "--all-generations", "--as-of", AS_OF]).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.ends_with("\nbox edge-a1: good\n"), "{outcome}");
    let outcome = verify(&deployment);
    let document = outcome.json();
    let object = &document["boxes"][0]["objects"][0];
    assert_eq!((&object["at"], &object["rows"]["routes"]), (&"current".into(), &200.into()));
    assert_eq!(object["sha256"].as_str().expect("a digest").len(), 64);
}

#[test]
fn empty_short_foreign_and_newer_files_are_refused_by_name() {
    let mut newer_format = registry(200, "v5");
    newer_format[47] = 5;
    let mut newer_version = registry(200, "v5");
    newer_version[19] = 3;
    let whole = registry(200, "v5");
    for (body, code, words) in [
        (Vec::new(), "empty-object", "no bytes"),
        (vec![0; 16384], "not-sqlite", ""),
        (b"#!/bin/sh\n".repeat(200), "not-sqlite", ""),
        (whole[..whole.len() / 2].to_vec(), "short-object", ""),
        (newer_format, "not-sqlite", "newer"),
        (newer_version, "not-sqlite", "newer"),
    ] {
        let (outcome, verdict, codes) = verdict_of(&body);
        assert_eq!((outcome.code, verdict.as_str()), (4, "bad"), "{outcome}");
        assert!(codes.contains(&code.to_owned()), "{code} in {codes:?}: {outcome}");
        assert!(outcome.stdout.contains(words), "{words} in {outcome}");
        assert!(!outcome.stdout.contains("corrupt"), "{outcome}");
    }
}

#[test]
fn damage_that_quick_check_misses_is_found() {
    // An index without the row that its table has.
    let body = changed(|path| {
        let connection = Connection::open(path).expect("a database");
        let index: (String, String, String, i64, String) = connection
            .query_row("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE name = 'routes_app'", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .expect("an index");
        let edit = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
            let connection = Connection::open(path).expect("a database");
            connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).expect("a setting");
            connection.pragma_update(None, "writable_schema", true).expect("a setting");
            connection.execute(sql, parameters).expect("SQL");
        };
        drop(connection);
        edit("DELETE FROM sqlite_master WHERE name = 'routes_app'", &[]);
        edit("INSERT INTO routes (host, app) VALUES ('late.example.org', 'shop')", &[]);
        edit(
            "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)",
            &[&index.0, &index.1, &index.2, &index.3, &index.4],
        );
    });
    let (outcome, verdict, codes) = verdict_of(&body);
    assert_eq!((outcome.code, verdict.as_str()), (4, "bad"), "{outcome}");
    assert_eq!(codes, ["integrity-failed"], "{outcome}");
    assert!(outcome.stdout.contains("missing from index"), "{outcome}");
}

#[test]
fn a_database_that_is_no_registry_and_a_registry_without_routes_are_different() {
    let (_, verdict, codes) = verdict_of(&sql("DROP TABLE routes"));
    assert_eq!((verdict.as_str(), codes), ("bad", vec!["no-routes".to_owned()]));
    let (_, verdict, codes) = verdict_of(&registry(0, ""));
    assert_eq!((verdict.as_str(), codes), ("bad", vec!["no-rows".to_owned()]));
}

#[test]
fn what_a_newer_agent_added_is_a_warning_and_no_damage() {
    let (outcome, verdict, codes) = verdict_of(&sql(
        "ALTER TABLE routes ADD COLUMN shiny TEXT; CREATE TABLE strict_one (a INTEGER PRIMARY KEY, b TEXT GENERATED ALWAYS AS (a + 1)) STRICT",
    ));
    assert_eq!((outcome.code, verdict.as_str()), (0, "good"), "{outcome}");
    assert_eq!(codes, ["schema-unknown"]);
    assert!(outcome.stdout.contains("routes.shiny"), "{outcome}");
}

#[test]
fn text_that_is_none_is_shown_escaped_and_copied_as_it_is() {
    let (outcome, verdict, codes) = verdict_of(&sql(
        "UPDATE routes SET version = CAST(X'76FF31' AS TEXT) WHERE rowid = 1; UPDATE routes SET version = CAST(X'76310078' AS TEXT) WHERE rowid = 2",
    ));
    assert_eq!((outcome.code, verdict.as_str()), (0, "good"), "{outcome}");
    assert_eq!(codes, ["text-unreadable"]);
}

#[test]
fn a_snapshot_with_a_wal_header_is_read_and_left_as_it_is() {
    let body = sql("PRAGMA journal_mode = WAL");
    assert_eq!(&body[18..20], [2, 2]);
    let deployment = Deployment::new();
    deployment.pass("edge-a1", WHEN, &body);
    assert_eq!(verify(&deployment).code, 0);
    let out = deployment.beside("pulled.db");
    let outcome = carlosctl(["snapshot", "pull", "--box", "edge-a1", "--out"]).arg(&out).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(std::fs::read(&out).expect("a file"), body);
}

#[test]
fn fewer_rows_of_one_size_are_a_collapse_that_names_the_last_good_one() {
    let deployment = Deployment::new();
    let big = RouteSpec { caps: "x".repeat(60_000), ..RouteSpec::new("one.example.org") };
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry(200, "v5"));
    deployment.pass("edge-a1", WHEN, &registry_of(&[big]));
    let outcome = verify(&deployment);
    assert_eq!(outcome.code, 4, "{outcome}");
    let finding = &outcome.json()["boxes"][0]["objects"][0]["findings"][0];
    assert_eq!(finding["code"], "rows-collapsed");
    assert_eq!(finding["because"], "current has 1 route of the 200 that 20261130T090000Z has; last good is 20261130T090000Z");
}

#[test]
fn what_was_clobbered_twice_is_not_compared_with_the_first_clobber() {
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T08:00:00Z", &registry(200, "v5"));
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry(1, "v5"));
    deployment.pass("edge-a1", WHEN, &registry(2, "v5"));
    let outcome = verify(&deployment);
    assert_eq!(outcome.code, 4, "{outcome}");
    assert_eq!(outcome.json()["boxes"][0]["verdict"], "bad");
    let finding = &outcome.json()["boxes"][0]["objects"][0]["findings"][0];
    assert_eq!(finding["because"], "current has 2 routes of the 200 that 20261130T080000Z has; last good is 20261130T080000Z");
}

/// A small registry loses rows without losing pages, so the listing sees nothing of a clobber.
#[test]
fn small_registries_that_were_clobbered_twice_are_compared_with_the_last_one_that_was_not() {
    let deployment = Deployment::new();
    for (when, routes) in [("2026-11-30T07:00:00Z", 11), ("2026-11-30T08:00:00Z", 12)] {
        deployment.pass("edge-a1", when, &registry(routes, "v5"));
    }
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry(2, "v5"));
    deployment.pass("edge-a1", WHEN, &registry(3, "v5"));
    let list = carlosctl(["snapshot", "list", "--json", "--as-of", AS_OF]).dir(&deployment.dir()).run().json();
    assert_eq!(list["boxes"][0]["state"], "good", "else the listing alone would show it");
    let outcome = verify(&deployment);
    assert_eq!(outcome.code, 4, "{outcome}");
    let finding = &outcome.json()["boxes"][0]["objects"][0]["findings"][0];
    assert_eq!(finding["because"], "current has 3 routes of the 12 that 20261130T080000Z has; last good is 20261130T080000Z");
}

/// Who goes down step by step was not written over.
#[test]
fn a_small_registry_that_shrinks_slowly_is_good() {
    let deployment = Deployment::new();
    for (hour, routes) in [(5, 12), (6, 9), (7, 6), (8, 4), (9, 3), (10, 2)] {
        deployment.pass("edge-a1", &format!("2026-11-30T{hour:02}:00:00Z"), &registry(routes, "v5"));
    }
    let outcome = verify(&deployment);
    assert_eq!((outcome.code, &outcome.json()["boxes"][0]["verdict"]), (0, &"good".into()), "{outcome}");
}

#[test]
fn as_many_rows_of_other_hosts_are_a_collapse_too() {
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry(100, "v5"));
    let mut foreign = busy_box(100, "v5");
    for route in &mut foreign {
        route.host = format!("other-{}", route.host);
    }
    deployment.pass("edge-a1", WHEN, &registry_of(&foreign));
    let outcome = verify(&deployment);
    assert_eq!(outcome.json()["boxes"][0]["objects"][0]["findings"][0]["code"], "rows-collapsed", "{outcome}");
}

#[test]
fn our_own_fingerprint_is_recomputed_and_a_foreign_one_is_not() {
    let body = registry(200, "v5");
    let sidecar = |fingerprint: &str| {
        let deployment = Deployment::new();
        deployment.pass("edge-a1", WHEN, &body);
        let text =
            format!(r#"{{"v":1,"box":"edge-a1","fingerprint":"{fingerprint}","created_at":"{WHEN}","bytes":{}}}"#, body.len());
        deployment.put("control/registry-snapshot/edge-a1.json", text.as_bytes(), WHEN);
        verify(&deployment)
    };
    assert_eq!(sidecar("whatever").code, 0);
    let outcome = sidecar(&format!("carlosctl-v1:sha256:{}", "0".repeat(64)));
    assert_eq!(outcome.code, 4, "{outcome}");
    assert_eq!(outcome.json()["boxes"][0]["objects"][0]["findings"][0]["code"], "fingerprint-mismatch");
}

#[test]
fn diff_answers_what_is_lost_when_the_older_one_is_taken() {
    let deployment = Deployment::new();
    let mut routes = busy_box(4, "v5");
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry_of(&routes));
    routes.remove(3);
    routes[1].caps = "dns".to_owned();
    routes.push(RouteSpec::new("new.example.org").app("acme", "shop").versions("v6", "v5", "v5"));
    deployment.pass("edge-a1", WHEN, &registry_of(&routes));
    let outcome = carlosctl(["snapshot", "diff", "--box", "edge-a1", "20261130T090000Z", "current", "--as-of", AS_OF])
        .dir(&deployment.dir())
        .run();
    insta::assert_snapshot!(outcome, @r#"
    from 20261130T090000Z to current of edge-a1

    routes: 1 added, 1 removed, 1 changed
    - console-0003.example.org  app=console  build_state={"known":true,"read_err":"","state":{"last_executed":"v5"}}  channel=stable  environment=production  good_version=v-good  hibernate=1  kind=instance  prev_version=v-previous  provisioned=1  region=eu-west-1  socket=/run/carlos/console-0003.example.org.sock  status=ready  version=v5
    + new.example.org  account=acme  app=shop  build_state={"known":true,"read_err":"","state":{"last_executed":"v6"}}  channel=stable  good_version=v5  hibernate=1  kind=instance  prev_version=v5  socket=/run/carlos/new.example.org.sock  status=ready  version=v6
    ~ blog-0001.example.org
        caps:  -> dns
    ------- stderr -------
    chose 20261130T090000Z (control/registry-snapshots/edge-a1/20261130T090000Z.db, 32.0 KiB): generation 20261130T090000Z was asked for
    chose current (control/registry-snapshot/edge-a1.db, 32.0 KiB): the current snapshot
    [exit 0]
    "#);
    let document = carlosctl(["snapshot", "diff", "--box", "edge-a1", "20261130T090000Z", "current", "--json"])
        .dir(&deployment.dir())
        .run()
        .json();
    let table = document["tables"].as_array().expect("tables").iter().find(|table| table["table"] == "routes").expect("routes");
    assert_eq!(table["changed"][0]["columns"]["caps"], serde_json::json!({"from": "", "to": "dns"}));
    assert_eq!(table["added"][0]["host"], "new.example.org");
}

#[test]
fn pull_writes_a_private_verified_copy_and_never_over_anything() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    let out = deployment.beside("pulled.db");
    let pull = |at: &str| {
        carlosctl(["snapshot", "pull", "--box", "edge-a1", "--at", at, "--json", "--out"])
            .arg(&out)
            .dir(&deployment.dir())
            .run()
    };
    let outcome = pull("20261130T050000Z");
    assert_eq!(outcome.code, 0, "{outcome}");
    let key = "control/registry-snapshots/edge-a1/20261130T050000Z.db";
    assert_eq!(std::fs::read(&out).expect("a file"), std::fs::read(deployment.file(key)).expect("an object"));
    assert_eq!(std::fs::metadata(&out).expect("a file").permissions().mode() & 0o777, 0o600);
    let again = pull("current");
    assert_eq!(again.code, 5, "{again}");
    assert_eq!(std::fs::read(&out).expect("a file"), std::fs::read(deployment.file(key)).expect("an object"));

    deployment.put("control/registry-snapshots/edge-a1/20261130T100000Z.db", b"damaged", WHEN);
    std::fs::remove_file(&out).expect("a file");
    let damaged = pull("20261130T100000Z");
    assert_eq!(damaged.code, 5, "{damaged}");
    assert!(!out.exists());
}

#[test]
fn every_selector_names_exactly_one_object_and_says_why() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(0, ""));
    let show = |at: &str| {
        carlosctl(["snapshot", "show", "--box", "edge-a1", "--at", at, "--json", "--as-of", AS_OF]).dir(&deployment.dir()).run()
    };
    for (at, chosen) in [
        ("current", "current"),
        ("good", "20261130T100000Z"),
        ("20261130T050000Z", "20261130T050000Z"),
        ("2026-11-30T05:30:00Z", "20261130T050000Z"),
        ("2026-11-30T06:30:00+01:00", "20261130T050000Z"),
        ("90m", "20261130T100000Z"),
        ("30m", "current"),
    ] {
        let outcome = show(at);
        assert_eq!(outcome.code, 0, "{outcome}");
        assert_eq!(outcome.json()["at"], chosen, "{at}");
        assert!(outcome.stderr.starts_with(&format!("chose {chosen} (control/")), "{outcome}");
    }
    for at in ["20200101T000000Z", "2020-01-01T00:00:00Z", "hold:20261130T100000Z", "version:x"] {
        let outcome = show(at);
        assert!([5, 10].contains(&outcome.code), "{at}: {outcome}");
    }
    let outcome = show("newest");
    assert_eq!(outcome.code, 2, "{outcome}");
}

#[test]
fn good_passes_over_what_does_not_prove() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    let mut damaged = registry(200, "v5");
    let middle = damaged.len() / 2;
    damaged[middle..middle + 4096].fill(0xff);
    deployment.pass("edge-a1", "2026-11-30T11:00:00Z", &damaged);
    let outcome = carlosctl(["snapshot", "show", "--box", "edge-a1", "--at", "good", "--json", "--as-of", AS_OF])
        .dir(&deployment.dir())
        .run();
    assert_eq!(outcome.json()["at"], "20261130T100000Z", "{outcome}");
    assert!(outcome.stderr.contains("passed over current: it does not prove"), "{outcome}");
}
