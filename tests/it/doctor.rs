//! `doctor`: everything that can be known before the night, and nothing left behind.

use std::fs;

use carlosctl::host::interlock::{Claim, Interlock, Running};
use carlosctl::host::target::Target;
use jiff::Timestamp;
use serde_json::Value;

use crate::common::deployment::{Deployment, registry};
use crate::common::scripted::{Answer, Reply, Request, Scripted};
use crate::common::{Invocation, Outcome, carlosctl};
use crate::restore::{Standby, ago};

const NO_UNIT: &str = "echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead";
const STOPPED: &str = "echo LoadState=loaded; echo ActiveState=inactive; echo SubState=dead; echo UnitFileState=disabled";

fn doctor<'a>(standby: &Standby, args: impl IntoIterator<Item = &'a str>) -> Invocation {
    if !standby.deployment.beside("bin").exists() {
        standby.systemctl(STOPPED);
    }
    let path = format!("{}:/usr/bin:/bin", standby.deployment.beside("bin").display());
    carlosctl(["doctor", "--json"].into_iter().chain(args)).arg("--registry").arg(standby.registry()).env("PATH", path)
}

/// With its store and its label.
fn at_home(standby: &Standby) -> Invocation {
    doctor(standby, ["--this-box", "edge-b2"]).dir(&standby.deployment.dir())
}

fn checks<'d>(document: &'d Value, code: &str) -> Vec<&'d Value> {
    document["checks"].as_array().expect("checks").iter().filter(|check| check["code"] == code).collect()
}

/// Not ready, because of a blocking check of this code.
fn blocked(outcome: &Outcome, code: &str) -> Value {
    assert_eq!(outcome.code, 4, "{outcome}");
    let document = outcome.json();
    assert_eq!(document["verdict"], "not-ready", "{outcome}");
    let found = checks(&document, code).into_iter().find(|check| check["severity"] == "blocking");
    found.unwrap_or_else(|| panic!("no blocking {code} in {outcome}")).clone()
}

#[test]
fn a_cold_standby_is_ready_and_nothing_is_left_behind() {
    let standby = Standby::new();
    let (files, bucket) = (standby.files(), standby.deployment.everything());
    let outcome = at_home(&standby).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    assert_eq!((&document["schema"], &document["verdict"]), (&"carlosctl.doctor/1".into(), &"ready".into()));
    assert!(standby.files() == files && standby.deployment.everything() == bucket);
    assert!(outcome.stderr.contains("control/carlosctl/probe/") && outcome.stderr.contains("removed again"), "{outcome}");
    for subject in ["deployment store", "permission to read", "permission to write", "clock", "own label"] {
        assert!(checks(&document, "ready").iter().any(|check| check["subject"] == subject), "{subject} in {outcome}");
    }
    let label = document["settings"].as_array().expect("settings").iter().find(|setting| setting["name"] == "this-box");
    assert_eq!(label.expect("it is there")["from"], "flag --this-box");
}

#[test]
fn read_only_tries_nothing_out_and_cannot_say_ready() {
    let standby = Standby::new();
    let outcome = at_home(&standby).arg("--read-only").run();
    assert_eq!(outcome.code, 4, "{outcome}");
    let document = outcome.json();
    assert_eq!(document["verdict"], "unknown");
    let blocking = checks(&document, "not-read").into_iter().filter(|check| check["severity"] == "blocking");
    assert_eq!(blocking.count(), 2, "{outcome}");
    assert_eq!(outcome.stderr, "");
    // Not even for a moment: the directory that a probe would have made is not there.
    assert!(!standby.deployment.file("control/carlosctl").exists());
    standby.systemctl("echo LoadState=loaded; echo ActiveState=active; echo SubState=running");
    blocked(&at_home(&standby).arg("--read-only").run(), "agent-active");
}

#[test]
fn without_a_store_it_looks_at_the_machine_and_says_so() {
    let standby = Standby::new();
    let outcome = doctor(&standby, ["--this-box", "edge-b2"]).run();
    let found = blocked(&outcome, "not-ready");
    assert!(found["because"].as_str().expect("a text").contains("none is named"), "{outcome}");
    assert!(checks(&outcome.json(), "ready").iter().any(|check| check["because"] == "no process has it open"), "{outcome}");
    let closed = doctor(&standby, ["--dir", "/nonexistent/bucket"]).run();
    blocked(&closed, "not-ready");
}

#[test]
fn an_unknown_label_is_asked_for_with_the_labels_that_the_store_knows() {
    let standby = Standby::new();
    standby.deployment.put("control/edges/edge-b2.json", b"{}", &ago(1));
    standby.deployment.put("control/edges/odd name.json", b"{}", &ago(1));
    let outcome = doctor(&standby, []).dir(&standby.deployment.dir()).run();
    let hint = blocked(&outcome, "own-label-unknown")["hint"].to_string();
    assert!(hint.contains("edge-a1 (snapshot), edge-b2 (record)"), "{hint}");
    let labels = outcome.json()["labels"].clone();
    assert_eq!(labels[0], serde_json::json!({"box": "edge-a1", "edges_record": false, "current_snapshot": true}));
}

#[test]
fn a_box_that_has_published_is_no_cold_standby() {
    let standby = Standby::new();
    standby.deployment.generation("edge-b2", &ago(5), &registry(3, "v1"));
    let found = blocked(&at_home(&standby).run(), "box-already-published");
    assert!(found["because"].as_str().expect("a text").contains("control/registry-snapshots/edge-b2/"), "{found}");
    standby.deployment.remove(&{
        let (key, _) = standby.deployment.everything().into_iter().find(|(key, _)| key.contains("edge-b2")).expect("one");
        key
    });
    standby.deployment.put("status/boxes/edge-b2.json", b"{}", &ago(5));
    blocked(&at_home(&standby).arg("--status-dir").arg(standby.deployment.dir()).run(), "box-already-published");
}

#[test]
fn a_store_without_a_current_snapshot_has_nothing_to_restore() {
    let standby = Standby::new();
    let empty = Deployment::new();
    let outcome = doctor(&standby, ["--this-box", "edge-b2"]).dir(&empty.dir()).run();
    assert!(blocked(&outcome, "not-ready")["because"].as_str().expect("a text").contains("no box has a current snapshot"));
}

#[test]
fn units_that_run_block_and_units_that_do_not_exist_are_doubted() {
    let standby = Standby::new();
    standby.systemctl("echo LoadState=loaded; echo ActiveState=activating; echo SubState=auto-restart");
    assert!(
        blocked(&at_home(&standby).run(), "agent-active")["hint"].as_str().expect("a hint").contains("systemctl mask --now")
    );
    standby.systemctl(NO_UNIT);
    let outcome = at_home(&standby).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    assert!(checks(&document, "not-ready").iter().any(|check| check["subject"] == "agent units"), "{outcome}");
}

#[test]
fn who_has_the_registry_open_or_is_at_it_is_named() {
    let standby = Standby::new();
    let held = fs::File::open(standby.registry()).expect("a file");
    blocked(&at_home(&standby).run(), "registry-held");
    drop(held);
    let target = Target::look(&standby.registry()).expect("facts");
    let claim = |what: &str| Claim::new(what, "edge-b2", Timestamp::UNIX_EPOCH);
    let running = Running::start(&target.path, &claim("box run")).expect("it starts");
    let found = blocked(&at_home(&standby).run(), "agent-active");
    assert!(found["because"].as_str().expect("a text").contains("box run on edge-b2"), "{found}");
    drop(running);
    let interlock = Interlock::acquire(&target, &claim("restore")).expect("the interlock");
    blocked(&at_home(&standby).run(), "restore-in-progress");
    drop(interlock);
    assert_eq!(at_home(&standby).run().code, 0);
}

#[test]
fn the_place_of_the_registry_is_looked_at() {
    let standby = Standby::new();
    // A registry with routes of its own is not a standby's.
    fs::remove_file(standby.registry()).expect("a file");
    fs::write(standby.registry(), registry(5, "v1")).expect("a file");
    blocked(&at_home(&standby).run(), "target-not-empty");
    fs::write(standby.registry(), b"no database").expect("a file");
    blocked(&at_home(&standby).run(), "target-unreadable");
    // What a killed run left is told, and is no obstacle.
    fs::remove_file(standby.registry()).expect("a file");
    fs::create_dir(standby.deployment.beside("data").join(format!(".registry.db.carlosctl-stage-{:032x}", 7)))
        .expect("a directory");
    let outcome = at_home(&standby).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.contains("an interrupted run left .registry.db.carlosctl-stage-"), "{outcome}");
    fs::remove_dir_all(standby.deployment.beside("data")).expect("a directory");
    blocked(&at_home(&standby).run(), "target-unwritable");
}

/// A bucket with one snapshot, where everything but a read is answered by `write`.
fn bucket(date: &'static str, write: fn(&Request) -> Answer) -> Scripted {
    Scripted::start(move |request| {
        let dated = |reply: Reply| Answer::from(reply.header("date", date));
        match (request.method.as_str(), request.parameter("list-type"), request.parameter("prefix")) {
            ("GET", Some(_), Some(prefix)) if prefix.starts_with("control%2Fregistry-snapshot%2F") => {
                dated(Reply::page(&[("control/registry-snapshot/edge-a1.db", "e1")], None))
            }
            ("GET", Some(_), _) => dated(Reply::page(&[], None)),
            ("HEAD", ..) if request.path.ends_with("edge-a1.db") => dated(Reply::object("x", "e1")),
            ("HEAD" | "GET", ..) => dated(Reply::error(404, "NoSuchKey", "no")),
            _ => write(request),
        }
    })
}

fn on_s3(standby: &Standby, server: &Scripted) -> Outcome {
    doctor(standby, ["--this-box", "edge-b2", "--bucket", "dep", "--region", "us-east-1", "--endpoint-url", &server.endpoint])
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "canary-secret-0123456789")
        .run()
}

#[test]
fn an_identity_that_may_not_write_is_told_what_it_needs() {
    let standby = Standby::new();
    let server = bucket("", |_| Reply::error(403, "AccessDenied", "Access Denied").into());
    let outcome = on_s3(&standby, &server);
    let found = blocked(&outcome, "not-ready");
    assert_eq!(found["subject"], "permission to write", "{outcome}");
    assert!(found["hint"].as_str().expect("a hint").contains("below control/carlosctl/"), "{outcome}");
    assert!(!format!("{outcome}").contains("canary-secret"), "{outcome}");
    // An answer without a time is no answer to whether the clocks agree.
    assert!(checks(&outcome.json(), "not-read").iter().any(|check| check["subject"] == "clock"), "{outcome}");
}

#[test]
fn clocks_that_disagree_are_told_before_the_night() {
    let standby = Standby::new();
    let server = bucket("Sun, 15 Nov 2020 00:00:00 GMT", |_| Reply::error(403, "AccessDenied", "Access Denied").into());
    let found = blocked(&on_s3(&standby, &server), "clock-skew");
    assert!(found["because"].as_str().expect("a text").contains("behind this machine's"), "{found}");
}

#[test]
fn a_user_and_password_in_the_endpoint_are_not_shown() {
    let standby = Standby::new();
    let endpoint = "http://operator:canary-password@127.0.0.1:9";
    let outcome = doctor(&standby, ["--bucket", "dep", "--endpoint-url", endpoint, "--timeout", "2s", "--region", "us-east-1"])
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .run();
    assert_eq!(outcome.code, 4, "{outcome}");
    assert!(!format!("{outcome}").contains("canary-password"), "{outcome}");
    assert!(outcome.stdout.contains("http://127.0.0.1:9"), "{outcome}");
}

#[test]
fn at_a_terminals_width_every_line_says_what_to_do() {
    let standby = Standby::new();
    standby.systemctl("echo LoadState=loaded; echo ActiveState=active; echo SubState=running");
    let path = format!("{}:/usr/bin:/bin", standby.deployment.beside("bin").display());
    let outcome = carlosctl(["doctor", "--this-box", "edge-b2", "--quiet"])
        .dir(&standby.deployment.dir())
        .arg("--registry")
        .arg(standby.registry())
        .env("PATH", path)
        .run();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (4, ""), "{outcome}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("blocking ")) {
        assert!(lines[number + 1].starts_with("  hint: "), "{line}");
    }
    assert!(outcome.stdout.trim_end().lines().last().expect("a line").starts_with("verdict: not-ready ("), "{outcome}");
}

const RULES: &str = "<LifecycleConfiguration>\
    <Rule><ID>logs</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule>\
    <Rule><ID>off</ID><Filter/><Status>Disabled</Status><Expiration><Days>1</Days></Expiration></Rule>\
    <Rule><ID>markers</ID><Filter/><Status>Enabled</Status>\
        <Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule>\
    <Rule><ID>old form</ID><Prefix>control/</Prefix><Status>Enabled</Status><Expiration><Days>90</Days></Expiration></Rule>\
    <Rule><ID>small</ID><Filter><And><Prefix>control/registry-snapshot/</Prefix>\
        <ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter><Status>Enabled</Status>\
        <NoncurrentVersionExpiration><NoncurrentDays>3</NoncurrentDays></NoncurrentVersionExpiration>\
        <Transition><Days>5</Days><StorageClass>GLACIER</StorageClass></Transition></Rule>\
    </LifecycleConfiguration>";

/// A bucket whose lifecycle configuration is answered with `reply`, and that may only be read.
fn with_rules(reply: fn() -> Reply) -> Scripted {
    Scripted::start(move |request| match (request.method.as_str(), request.query.contains("lifecycle")) {
        ("GET", true) => Answer::from(reply()),
        ("GET", _) if request.parameter("list-type").is_some() => {
            Reply::page(&[("control/registry-snapshot/edge-a1.db", "e1")], None).into()
        }
        ("GET" | "HEAD", _) => Reply::error(404, "NoSuchKey", "no").into(),
        _ => Reply::error(403, "AccessDenied", "Access Denied").into(),
    })
}

#[test]
fn lifecycle_rules_that_would_take_the_last_good_snapshot_are_told() {
    let standby = Standby::new();
    let lifecycle = |reply: fn() -> Reply| {
        let outcome = on_s3(&standby, &with_rules(reply));
        let document = outcome.json();
        let all = document["checks"].as_array().expect("checks").iter().filter(|check| check["subject"] == "lifecycle");
        all.map(|check| format!("{} {}", check["code"], check["because"])).collect::<Vec<_>>()
    };
    let found = lifecycle(|| Reply::new(200, RULES));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("old form") && found[0].contains("90 days") && found[0].contains("holds/"), "{found:?}");
    for told in &found[1..] {
        assert!(told.starts_with("\"not-ready\"") && told.contains("small") && told.contains("only some"), "{found:?}");
    }
    assert!(found[1].contains("archives") != found[2].contains("archives"), "{found:?}");
    assert!(found[1].contains("after 3 days") != found[2].contains("after 3 days"), "{found:?}");

    let none = lifecycle(|| Reply::error(404, "NoSuchLifecycleConfiguration", "none"));
    assert_eq!(none, ["\"ready\" \"no rule removes snapshots or holds\""]);
    let unknown = lifecycle(|| Reply::error(403, "AccessDenied", "Access Denied"));
    assert!(unknown.len() == 1 && unknown[0].starts_with("\"not-read\""), "{unknown:?}");
}
