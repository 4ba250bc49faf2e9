//! Kind: a name that is read as another one, or that acts on whoever reads it.

use carlosctl::demo::registry::RouteSpec;

use crate::common::deployment::{Deployment, registry, registry_of};
use crate::common::scripted::Reply;
use crate::common::{Outcome, carlosctl};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner, Object, objects};

const WHEN: &str = "2026-11-30T10:00:00Z";

/// Nothing that moves a cursor, rings a bell or turns text around.
fn harmless(outcome: &Outcome) {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || turns(c)), "{outcome:?}");
    }
}

/// Row 3: one machine's job acted on another's archives, because `edge-1` is how `edge-10` begins. S3 knows only prefixes.
#[test]
fn a_label_is_a_whole_name_in_a_bucket_too() {
    let deployment = Deployment::new();
    for label in ["edge-1", "edge-10", "edge-1.db", "edge-1.json"] {
        deployment.pass(label, WHEN, &registry(20, label));
    }
    for key in ["control/registry-snapshot.db", "control/registry-snapshot.json"] {
        deployment.put(key, &registry(20, "legacy"), WHEN);
    }
    let bucket = Bucket::healthy(&deployment);
    let one = bucket.run(["snapshot", "list", "--box", "edge-1", "--json"]).run().json();
    let boxes = one["boxes"].as_array().expect("boxes");
    assert_eq!((boxes.len(), &boxes[0]["box"]), (1, &"edge-1".into()));
    assert_eq!(boxes[0]["generations"].as_array().expect("generations").len(), 1);
    let all = bucket.run(["snapshot", "list", "--json"]).run().json();
    assert_eq!(all["boxes"].as_array().expect("boxes").len(), 4);
    assert_eq!(all["legacy"].as_array().expect("legacy").len(), 2);
}

/// Row 3: without a box of its own, the abandoned pair is not what is restored.
#[test]
fn the_abandoned_pair_is_never_restored_by_default() {
    let standby = Standby::new();
    let before = standby.files();
    let deployment = Deployment::new();
    deployment.put("control/registry-snapshot.db", &registry(20, "legacy"), WHEN);
    deployment.put("control/registry-snapshot.json", b"{}", WHEN);
    let outcome = Bucket::healthy(&deployment).restore(&standby, ["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 10, &before, &[]);
}

/// Row 7: a key with a plus, a space, a percent sign or letters beyond ASCII was decoded twice, or not at all, and stood for
/// another key.
#[test]
fn odd_keys_are_shown_exactly_as_they_are_stored() {
    let odd = ["1.2.3+build.7", "1.2.3 build.7", "100%", "a%2Bb", "한글", "shop+eu.example"];
    let deployment = Deployment::new();
    deployment.pass("edge-a1", WHEN, &registry(20, "v5"));
    let mut stored = objects(&deployment);
    let object = Object { body: b"x".to_vec(), etag: "e".to_owned(), written: WHEN.parse().expect("an instant") };
    for name in odd {
        stored.insert(format!("control/registry-snapshot/{name}.db"), object.clone());
        stored.insert(format!("control/registry-snapshots/edge-a1/{name}.db"), object.clone());
    }
    let bucket = Bucket::with(stored, Manner::default(), |_, _| None::<Reply>);
    let document = bucket.run(["snapshot", "list", "--json"]).run().json();
    let boxes = document["boxes"].as_array().expect("boxes");
    assert_eq!(boxes.len(), 1, "{document}");
    let mut expected: Vec<String> = odd.iter().map(|name| format!("control/registry-snapshot/{name}.db")).collect();
    expected.sort();
    let keys = |rows: &serde_json::Value| -> Vec<String> {
        rows.as_array().expect("rows").iter().map(|row| row["key"].as_str().expect("a key").to_owned()).collect()
    };
    assert_eq!(keys(&document["unrecognized"]), expected);
    let found = boxes[0]["findings"].to_string();
    for name in odd {
        assert!(found.contains(&format!("control/registry-snapshots/edge-a1/{name}.db is not named by a stamp")), "{found}");
    }
}

/// Row 9: what a store says is printed by whoever it refuses.
#[test]
fn the_words_of_a_store_cannot_act_on_the_terminal() {
    let words = "no&#27;[2J&#13;&#7;\u{202e}gnp.exe\u{9b}1A";
    let bucket = Bucket::of(&Deployment::new(), Manner::default(), move |_, _| Some(Reply::error(403, "AccessDenied", words)));
    for args in [&["snapshot", "list"][..], &["snapshot", "list", "--json"], &["snapshot", "verify"]] {
        let outcome = bucket.run(args.iter().copied()).run();
        assert_eq!(outcome.code, 12, "{outcome}");
        assert!(outcome.stderr.contains("AccessDenied"), "{outcome}");
        if !args.contains(&"--json") {
            harmless(&outcome);
        }
    }
}

/// Row 9: a host is foreign text as well, wherever it is shown; JSON keeps the true value.
#[test]
fn a_hostile_host_is_shown_escaped_and_kept_true_in_json() {
    let host = "a\u{1b}[1A\u{1b}[2K\u{202e}b\r.example.org";
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &registry(2, "v5"));
    let mut routes = carlosctl::demo::registry::busy_box(2, "v5");
    routes.push(RouteSpec::new(host).app("ac\u{7}me", "sh\u{2066}op"));
    deployment.pass("edge-a1", WHEN, &registry_of(&routes));
    let run = |args: &[&str]| carlosctl(args.iter().copied()).dir(&deployment.dir()).run();
    let diff = ["snapshot", "diff", "--box", "edge-a1", "20261130T090000Z", "current"];
    let outcome = run(&diff);
    harmless(&outcome);
    assert!(outcome.stdout.contains("+ a\\u{1b}[1A"), "{outcome}");
    harmless(&run(&["snapshot", "show", "--box", "edge-a1"]));
    let document = run(&[&diff[..], &["--json"]].concat()).json();
    let tables = document["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["table"] == "routes").expect("routes");
    assert_eq!(table["added"][0]["host"], host);
}
