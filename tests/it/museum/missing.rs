//! Kind: missing, forbidden and deleted folded into one "not found", and a check that is left out because of it.

use std::fs;

use crate::common::deployment::registry;
use crate::common::scripted::Reply;
use crate::restore::{Standby, ago};

use super::bucket::{Bucket, Manner};

const SIDECAR: &str = "control/registry-snapshot/edge-a1.json";

/// Row 10 a: the sidecar is forbidden, and so is looking whether it exists, while the snapshot itself can be had.
#[test]
fn what_may_not_be_listed_is_not_restored() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |asked, _| {
        (asked.is_listing() || asked.key == SIDECAR).then(|| Reply::error(403, "AccessDenied", "Access Denied"))
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1", "--allow", "sidecar-missing"]).run();
    standby.refused(&outcome, 12, &before, &[]);
    assert!(outcome.stderr.contains("not permitted"), "{outcome}");
}

/// Row 10 a: only the sidecar is forbidden. That is not a missing sidecar, which may be allowed.
#[test]
fn a_forbidden_sidecar_is_not_a_missing_one() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |asked, _| {
        asked.gets(SIDECAR).then(|| Reply::error(403, "AccessDenied", "Access Denied"))
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1", "--allow", "sidecar-missing"]).run();
    standby.refused(&outcome, 5, &before, &["sidecar-unreadable"]);
    assert!(outcome.stderr.contains("missing or not permitted"), "{outcome}");
}

/// Row 10 b: a delete marker looked as if nothing had ever been there.
#[test]
fn a_deleted_sidecar_was_there_once() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |asked, objects| {
        objects.remove(SIDECAR);
        (asked.key == SIDECAR)
            .then(|| Reply::error(404, "NoSuchKey", "The specified key does not exist.").header("x-amz-delete-marker", "true"))
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["sidecar-missing"]);
    assert!(outcome.stderr.contains("deleted; an older version may exist"), "{outcome}");
    let list = bucket.run(["snapshot", "list", "--json"]).run();
    assert_eq!(list.code, 0, "{list}");
    assert_eq!(list.json()["boxes"][0]["generations"].as_array().expect("generations").len(), 8);
}

/// Row 10 c: the bucket itself is not there.
#[test]
fn a_missing_bucket_is_not_a_missing_box() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |_, _| Some(Reply::error(404, "NoSuchBucket", "none")));
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 10, &before, &[]);
    assert!(outcome.stderr.contains("no such bucket"), "{outcome}");
}

/// The kind of row 10, at the reports: where they may not be listed, a box that still reports looked dead.
#[test]
fn a_box_whose_reports_may_not_be_listed_is_not_dead() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |asked, _| {
        asked.prefix.starts_with("status/").then(|| Reply::error(403, "AccessDenied", "Access Denied"))
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["dead-box-reporting", "box-already-published"]);
    let allowed = ["--confirm", "edge-a1", "--allow", "dead-box-reporting", "--allow", "box-already-published"];
    let outcome = bucket.restore(&standby, allowed).run();
    assert_eq!(outcome.code, 0, "{outcome}");
}

/// Row 16 c: the newest snapshot is empty and the one before is good. SQLite calls an empty file whole, and a machine came
/// up as a fresh one without a word; nor is another snapshot taken without being asked for.
#[test]
fn an_empty_snapshot_is_refused_and_the_last_good_one_is_named() {
    let standby = Standby::new();
    let list = |standby: &Standby| {
        crate::common::carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json()
    };
    let good = list(&standby)["boxes"][0]["generations"][0]["stamp"].as_str().expect("a stamp").to_owned();
    standby.deployment.pass("edge-a1", &ago(20), b"");
    let row = &list(&standby)["boxes"][0];
    assert_eq!((&row["state"], &row["last_good"]), (&"bad".into(), &good.as_str().into()), "{row}");
    assert_eq!(row["generations"][0]["flags"], serde_json::json!(["empty-object"]));
    let before = standby.files();
    for at in ["current", row["generations"][0]["stamp"].as_str().expect("a stamp")] {
        let outcome = standby.restore(["--confirm", "edge-a1", "--at", at]).run();
        standby.refused(&outcome, 5, &before, &["empty-object"]);
        assert!(outcome.stderr.contains(&format!(" restore --from-box edge-a1 --at {good}")), "{outcome}");
    }
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &good]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
}

/// The kind of row 10, on the disk: a directory store that is not there, or that is a file.
#[test]
fn a_missing_directory_is_not_an_empty_store() {
    let standby = Standby::new();
    let nowhere = standby.deployment.beside("nowhere");
    let run = || crate::common::carlosctl(["snapshot", "list"]).dir(&nowhere).run();
    let outcome = run();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (10, ""), "{outcome}");
    fs::write(&nowhere, registry(1, "v1")).expect("a file");
    let outcome = run();
    assert_ne!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
}

/// The kind of row 10, at the snapshot itself: where current is missing nothing else is taken for it, and what there is is named.
#[test]
fn a_missing_current_is_not_replaced_by_what_is_there() {
    let standby = Standby::new();
    standby.deployment.remove("control/registry-snapshot/edge-a1.db");
    let before = standby.files();
    for args in [&["--confirm", "edge-a1", "--json"][..], &["--dry-run", "--json"]] {
        let outcome = standby.restore(args.iter().copied()).run();
        standby.refused(&outcome, 5, &before, &["current-missing"]);
        assert_eq!((&outcome.json()["outcome"], &outcome.json()["object"]), (&"refused".into(), &serde_json::Value::Null));
    }
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", "good"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}
