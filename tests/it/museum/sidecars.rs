//! Kind: two objects written in two steps, read as one; and a hand-made or foreign sidecar that is half understood.

use crate::common::deployment::registry;
use crate::common::scripted::Reply;
use crate::common::{Outcome, carlosctl};
use crate::restore::{Standby, ago};

use super::bucket::{Bucket, Manner, Object};

const SIDECAR: &str = "control/registry-snapshot/edge-a1.json";

/// Row 17 b: the sidecar changes between two reads of it: somebody still writes.
#[test]
fn a_sidecar_that_changes_while_it_is_read_is_of_a_living_box() {
    let standby = Standby::new();
    let before = standby.files();
    let mut reads = 0;
    let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, objects| {
        if asked.gets(SIDECAR) {
            reads += 1;
            let object: &mut Object = objects.get_mut(SIDECAR).expect("a sidecar");
            let text = String::from_utf8(object.body.clone()).expect("JSON");
            let (head, _) = text.split_once("\"created_at\"").expect("a time");
            let (_, bytes) = text.split_once("\"bytes\"").expect("a size");
            let time = ago(if reads == 1 { 40 } else { 39 });
            object.body = format!("{head}\"created_at\":\"{time}\",\"bytes\"{bytes}").into_bytes();
        }
        None::<Reply>
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["still-writing"]);
    assert!(outcome.stderr.contains("the box is not dead"), "{outcome}");
}

/// The kind of row 17: the snapshot is another one when it is fetched than when it was listed.
#[test]
fn a_snapshot_that_changes_while_it_is_read_is_of_a_living_box() {
    let standby = Standby::new();
    let before = standby.files();
    let key = "control/registry-snapshot/edge-a1.db";
    let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, objects| {
        if asked.gets(key) {
            let object = objects.get_mut(key).expect("a snapshot");
            object.body = registry(200, "newer");
            object.etag = "another".to_owned();
        }
        None::<Reply>
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["still-writing"]);
}

/// Row 17 c: an etag was compared with an MD5, which it is not for an object of several parts or an encrypted one.
#[test]
fn an_etag_is_no_digest_of_anything() {
    let standby = Standby::new();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |_, objects| {
        for object in objects.values_mut().filter(|object| !object.etag.contains('-')) {
            object.etag = format!("{}-2", &object.etag[16..]);
        }
        None::<Reply>
    });
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.json()["object"]["etag"].as_str().expect("an etag").ends_with("-2"));
    assert_eq!(standby.versions(), ["v0"]);
    let verify = bucket.run(["snapshot", "verify", "--box", "edge-a1"]).run();
    assert_eq!(verify.code, 0, "{verify}");
}

/// A standby whose dead box has this sidecar; `TIME` and `BYTES` stand for the right ones.
fn with_sidecar(text: &[u8]) -> Standby {
    let standby = Standby::new();
    let current = std::fs::metadata(standby.deployment.file("control/registry-snapshot/edge-a1.db")).expect("facts").len();
    let text: Vec<u8> = match String::from_utf8(text.to_vec()) {
        Ok(text) => text.replace("TIME", &ago(40)).replace("BYTES", &current.to_string()).into_bytes(),
        Err(error) => error.into_bytes(),
    };
    standby.deployment.put(SIDECAR, &text, &ago(40));
    standby
}

fn verify(standby: &Standby) -> Outcome {
    carlosctl(["snapshot", "verify", "--box", "edge-a1"]).dir(&standby.deployment.dir()).run()
}

const GOOD: &str = r#"{"v":1,"box":"edge-a1","fingerprint":"ab12","created_at":"TIME","bytes":BYTES}"#;

/// Row 18: values that a foreign writer or a hand left in the sidecar gave riddles, or were taken for something else.
#[test]
fn every_odd_value_of_a_sidecar_is_refused_by_its_field() {
    for (from, to, code, words) in [
        ("\"TIME\"", "\"2026-11-30 10:00:00Z\"", "sidecar-unreadable", "field \"created_at\""),
        ("\"TIME\"", "17", "sidecar-unreadable", "field \"created_at\""),
        ("{\"v\"", "\u{feff}{\"v\"", "sidecar-unreadable", "starts with a UTF-8 byte-order mark"),
        ("BYTES}", "BYTES} and more", "sidecar-unreadable", "text after the end"),
        ("BYTES", "1e3", "sidecar-unreadable", "field \"bytes\""),
        ("BYTES", "-1", "sidecar-unreadable", "field \"bytes\""),
        ("BYTES", "9223372036854775808", "sidecar-unreadable", "field \"bytes\""),
        ("BYTES", "\"BYTES\"", "sidecar-unreadable", "field \"bytes\""),
        ("\"v\":1", "\"v\":2", "sidecar-version", "sidecar version 2 is not known"),
        ("\"edge-a1\"", "null", "sidecar-unreadable", "field \"box\""),
        ("\"edge-a1\"", "\"\"", "sidecar-unreadable", "field \"box\""),
        ("\"v\":1", "\"v\":1,\"V\":1", "sidecar-unreadable", "field \"v\": is spelled twice"),
    ] {
        let standby = with_sidecar(GOOD.replace(from, to).as_bytes());
        let before = standby.files();
        let outcome = standby.restore(["--confirm", "edge-a1"]).run();
        standby.refused(&outcome, 5, &before, &[code]);
        assert!(outcome.stderr.contains(words) && outcome.stderr.contains(SIDECAR), "{words} in {outcome}");
        let allowed = standby.restore(["--confirm", "edge-a1", "--allow", code]).run();
        assert_eq!(allowed.code, 2, "{allowed}");
        let verify = verify(&standby);
        assert_eq!(verify.code, 4, "{verify}");
        assert!(verify.stdout.contains(code) && verify.stdout.contains(words), "{words} in {verify}");
    }
    let standby = with_sidecar(b"{\"v\":1,\"box\":\"edge-\xff\"}");
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["sidecar-unreadable"]);
}

/// Row 18: Go's zero time was shown as an age of two thousand years. An unknown time has no age, and is not restored unless
/// that is allowed by name.
#[test]
fn an_unknown_time_has_no_age() {
    for (from, to) in [("\"TIME\"", "\"0001-01-01T00:00:00Z\""), ("\"created_at\":\"TIME\",", ""), ("\"TIME\"", "null")] {
        let standby = with_sidecar(GOOD.replace(from, to).as_bytes());
        let verify = verify(&standby);
        assert_eq!(verify.code, 4, "{verify}");
        assert!(verify.stdout.contains("sidecar-time-unknown"), "{verify}");
        let list = carlosctl(["snapshot", "list", "--box", "edge-a1"]).dir(&standby.deployment.dir()).run();
        let row = list.stdout.lines().find(|line| line.starts_with("  current")).expect("a row");
        assert_eq!(row.split_whitespace().nth(1), Some("-"), "{list}");

        let before = standby.files();
        standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["sidecar-time-unknown"]);
        let allowed = ["--confirm", "edge-a1", "--allow", "sidecar-time-unknown"];
        // An age that is not known is not below any limit either.
        let limited = standby.restore(allowed.iter().copied().chain(["--max-age", "30d"])).run();
        standby.refused(&limited, 5, &before, &["snapshot-too-old"]);
        let outcome = standby.restore(allowed).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        let of = outcome.stderr.lines().find(|line| line.starts_with("of ")).expect("a row");
        assert_eq!(of.split_whitespace().nth(1), Some("-"), "{outcome}");
    }
}

/// The kind of row 18: a file of one's own has no time that could be compared with a limit.
#[test]
fn a_file_is_not_younger_than_a_limit() {
    let standby = Standby::new();
    let file = standby.deployment.beside("saved.db");
    std::fs::write(&file, registry(50, "saved")).expect("a file");
    let at = format!("file:{}", file.display());
    let before = standby.files();
    let args = ["--confirm", "edge-a1", "--at", &at, "--allow", "sidecar-missing", "--max-age", "30d"];
    standby.refused(&standby.restore(args).run(), 5, &before, &["snapshot-too-old"]);
}
