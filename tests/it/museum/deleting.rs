//! Kind: something goes that was needed, or is said to be gone and is not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use carlosctl::demo::registry::{build_live, busy_box};
use jiff::SignedDuration;

use crate::common::Outcome;
use crate::common::apps::{Bench, route};
use crate::common::scripted::Reply;
use crate::restore::Standby;

use super::bucket::{Bucket, Manner};

type AppBucket = crate::common::bucket::Bucket;

fn keys(bench: &Bench) -> BTreeSet<String> {
    bench.deployment.everything().into_iter().map(|(key, _)| key).filter(|key| !key.starts_with("control/carlosctl/")).collect()
}

fn run(bench: &Bench) -> Outcome {
    bench.run(["retention", "run", "--confirm", "bucket", "--json"]).run()
}

fn texts(list: &serde_json::Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one.as_str().or(one["version"].as_str()).expect("a text")).collect()
}

/// Incident 14: a backup in the making was not in the index, so it was taken for garbage. What has no manifest yet is left
/// alone for a day, and takes no place of those that are kept (runner-up: backups that cannot be restored alone were counted,
/// and none was left that can).
#[test]
fn what_is_in_the_making_is_no_garbage_and_takes_no_place() {
    let bench = Bench::live();
    bench.shop().incomplete("v6", 1).incomplete("v7", 23).incomplete("v0", 25);
    let outcome = run(&bench);
    assert_eq!(outcome.code, 0, "{outcome}");
    let left = keys(&bench);
    for version in ["v7", "v6", "v5", "v4"] {
        assert!(left.contains(&format!("apps/ops/shop/releases/{version}/notes.txt")), "{version} in {outcome}");
    }
    assert_eq!(texts(&outcome.json()["apps"][0]["deleted"]), ["v3", "v2", "v1", "v0"]);
}

/// Incident 15: a mistyped option removed everything, and a unit that was not known was passed over.
#[test]
fn a_policy_that_cannot_be_meant_deletes_nothing() {
    let bench = Bench::live();
    bench.shop();
    let before = keys(&bench);
    for policy in [
        r#"{"keep":0}"#,
        r#"{"keep":-1}"#,
        r#"{"keep":"2w"}"#,
        r#"{"keep":2.5}"#,
        r#"{"keep":null}"#,
        r#"{"kep":2}"#,
        r#"{"keep":2,"keep":1}"#,
        r#"{"keep":2,"Keep":1}"#,
        "{}",
        "[]",
        "",
        "2",
    ] {
        bench.put("apps/ops/shop/retention.json", policy);
        let outcome = run(&bench);
        assert_eq!(outcome.code, 4, "{policy}: {outcome}");
        assert!(outcome.stderr.contains("retention-record-invalid"), "{policy}: {outcome}");
    }
    drop(bench.app("shop").keep(2));
    for (args, code) in [
        (&["retention", "explain", "--keep", "0"][..], 2),
        (&["retention", "explain", "--keep", "2w"], 2),
        (&["retention", "run", "--confirm", "bucket", "--keep-tags", "x"], 2),
        (&["retention", "run", "--confirm", "bucket", "--without-box", "edge-x9"], 10),
        (&["retention", "run", "--confirm", "bucket", "ops/shpo"], 10),
    ] {
        let outcome = bench.run(args.iter().copied()).run();
        assert_eq!(outcome.code, code, "{args:?}: {outcome}");
    }
    assert_eq!(keys(&bench), before);
}

/// Incident 16: versions were counted within groups that nobody saw. The group is the app, and each version has its rank in it.
#[test]
fn each_app_counts_for_itself_and_shows_the_rank() {
    let bench = Bench::live();
    bench.shop();
    let zoo = bench.app("zoo").keep(1);
    zoo.release("w1", 900).release("w2", 800);
    bench.boxed("edge-b2", &[route("o1.example", "zoo", "w2", "", "")]);
    let explained = bench.run(["retention", "explain", "--json"]).run();
    let document = explained.json();
    let ranks = |app: usize| -> Vec<(String, u64)> {
        let versions = document["apps"][app]["versions"].as_array().expect("versions").iter();
        versions
            .map(|one| (one["version"].as_str().expect("a name").to_owned(), one["rank"].as_u64().expect("a rank")))
            .collect()
    };
    assert_eq!(document["apps"][0]["app"], "shop", "{explained}");
    let shop: Vec<_> = ["v5", "v4", "v3", "v2", "v1"].map(str::to_owned).into_iter().zip(1..).collect();
    assert_eq!((ranks(0), ranks(1)), (shop, vec![("w2".to_owned(), 1), ("w1".to_owned(), 2)]));
    let text = bench.run(["retention", "explain"]).run().stdout;
    assert!(text.contains("ops/shop") && text.contains("ops/zoo") && text.contains("rank 5, beyond the newest 2"), "{text}");
    let outcome = run(&bench);
    assert_eq!(texts(&outcome.json()["apps"][1]["deleted"]), ["w1"], "{outcome}");
}

/// Incident 20: retention was keyed on names that change, so it leaked, and in the end snapshots silently stopped. Pruning is
/// of one whole label; and where it fails, the pass says so and fails, though the snapshot is stored.
#[test]
fn pruning_is_of_one_box_and_its_failure_is_no_success() {
    let bench = Bench::live();
    for label in ["edge-1", "edge-10"] {
        bench.deployment.healthy_box(label, &bench.ago(1));
    }
    // One more than a pass leaves: somebody else's to prune.
    bench.deployment.generation("edge-10", &bench.ago(20), b"x");
    let registry = bench.deployment.beside("registry.db");
    build_live(&registry, &busy_box(210, "v6")).expect("a registry");
    let bucket = AppBucket::of(&bench);
    let pass = || bucket.run(["box", "snapshot", "--this-box", "edge-1"]).arg("--registry").arg(&registry).run();
    let count = |label: &str| {
        let prefix = format!("control/registry-snapshots/{label}/");
        bucket.keys().iter().filter(|key| key.starts_with(&prefix)).count()
    };
    bucket.fault(|request, key| {
        let prunes = request.method == "DELETE" && key.starts_with("control/registry-snapshots/");
        prunes.then(|| Reply::error(403, "AccessDenied", "no"))
    });
    let denied = pass();
    assert_eq!((denied.code, count("edge-1"), count("edge-10")), (12, 9, 9), "{denied}");
    assert!(denied.stderr.contains("prune"), "{denied}");
    let listed = bucket.run(["snapshot", "list", "--box", "edge-1", "--json"]).run();
    assert!(listed.stdout.contains("too-many-generations"), "{listed}");
    bucket.fault(|_, _| None);
    let pruned = pass();
    assert_eq!((pruned.code, count("edge-1"), count("edge-10")), (0, 8, 9), "{pruned}");
}

/// Incident 21: retention deleted what a restore under way had chosen. The old registry is not touched for it, and what is
/// held outlives the pruning.
#[test]
fn what_is_pruned_under_a_restore_costs_nothing_and_a_hold_outlives_it() {
    let standby = Standby::new();
    let list = crate::common::carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
    let oldest = list["boxes"][0]["generations"][7].clone();
    let (stamp, key) = (oldest["stamp"].as_str().expect("a stamp"), oldest["key"].as_str().expect("a key").to_owned());
    let before = standby.files();
    // Gone before it is fetched; and gone between the question and the exchange.
    for method in ["GET", "HEAD"] {
        let key = key.clone();
        let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, _| {
            (asked.request.method == method && asked.key == key).then(|| Reply::error(404, "NoSuchKey", "pruned"))
        });
        let outcome = bucket.restore(&standby, ["--at", stamp, "--confirm", "edge-a1"]).run();
        standby.refused(&outcome, 10, &before, &[]);
    }
    let hold =
        crate::common::carlosctl(["snapshot", "hold", "--box", "edge-a1", "--json"]).dir(&standby.deployment.dir()).run();
    let hold = hold.json()["hold"].as_str().expect("a stamp").to_owned();
    standby.deployment.remove(&key);
    let outcome = standby.restore(["--at", &format!("hold:{hold}/{stamp}"), "--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v7"]);
}

/// Incident 22: the store answered with success and deleted nothing, and for months the log said how much had been deleted.
/// What was deleted is listed once more.
#[test]
fn a_deletion_that_was_only_answered_is_no_deletion() {
    let bench = Bench::live();
    drop(bench.shop().keep(3));
    let bucket = AppBucket::of(&bench);
    let run = || bucket.run(["retention", "run", "--confirm", "dep", "--json"]).run();
    bucket.fault(|request, key| {
        let only_said = request.method == "DELETE" && key.starts_with("apps/ops/shop/releases/v1/");
        only_said.then(|| Reply::new(204, ""))
    });
    let outcome = run();
    assert_eq!(outcome.code, 3, "{outcome}");
    let app = &outcome.json()["apps"][0];
    assert_eq!((texts(&app["deleted"]), texts(&app["failed"])), (vec!["v2"], vec!["v1"]));
    assert!(outcome.stdout.contains("still lists it"), "{outcome}");
    let counts = &outcome.json()["counts"];
    assert_eq!((counts["deleted"].as_u64(), counts["failed"].as_u64()), (Some(4), Some(2)), "{outcome}");
    // An answer that cannot be checked is not known.
    let mut deleted = false;
    bucket.fault(move |request, key| {
        deleted |= request.method == "DELETE" && key.ends_with("v1/manifest.json");
        (deleted && request.parameter("list-type").is_some() && key.ends_with("/releases/"))
            .then(|| Reply::error(403, "AccessDenied", "no"))
    });
    let outcome = run();
    assert_eq!((outcome.code, outcome.json()["counts"]["unknown"].as_u64()), (3, Some(2)), "{outcome}");
    bucket.fault(|_, _| None);
    let outcome = run();
    assert_eq!((outcome.code, outcome.json()["counts"]["failed"].as_u64()), (0, Some(0)), "{outcome}");
    assert!(!bucket.keys().iter().any(|key| key.contains("releases/v1/")));
}

/// Incident 23: checksums that came with a new version of a library were refused by clones and by locked buckets. Nothing of
/// the kind is sent, and deletions are single.
#[test]
fn no_checksum_that_a_clone_does_not_know_is_sent() {
    let standby = Standby::new();
    let bucket = Bucket::healthy(&standby.deployment);
    let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let doctor =
        bucket.run(["doctor", "--this-box", "edge-b2"]).arg("--registry").arg(standby.registry()).env("PATH", standby.path());
    assert!(doctor.run().stderr.contains("probe"));
    let requests = bucket.server.requests();
    for method in ["PUT", "DELETE", "GET"] {
        assert!(requests.iter().any(|request| request.method == method), "{method}");
    }
    for request in requests {
        for (name, value) in &request.headers {
            let unknown =
                name.starts_with("x-amz-checksum") || name.starts_with("x-amz-sdk-checksum") || name == "x-amz-trailer";
            assert!(!unknown && !value.contains("aws-chunked"), "{}: {name}: {value}", request.path);
        }
        assert!(request.method != "POST", "{} {}", request.path, request.query);
    }
}

/// Incident 23, the other direction: a bucket that locks what is written to it takes nothing without a digest. It gets one once it
/// has said so, of what is sent, also for what is too large to be kept in memory; and nothing is sent three times.
#[test]
fn a_bucket_that_locks_what_is_written_gets_its_digest() {
    use base64::Engine;
    use md5::{Digest, Md5};

    let bench = Bench::live();
    let registry = bench.deployment.beside("registry.db");
    build_live(&registry, &busy_box(4_000, "v1")).expect("a registry");
    for said in [
        "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters",
        "Content-MD5 HTTP header is required for Put Object requests with Object Lock parameters",
        "x-amz-checksum-crc9 is required",
    ] {
        let bucket = AppBucket::of(&bench);
        let puts = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&puts);
        bucket.fault(move |request, _| {
            if request.method != "PUT" {
                return None;
            }
            let digest = base64::prelude::BASE64_STANDARD.encode(Md5::digest(&request.body));
            let is_taken = request.header("content-md5") == digest;
            seen.lock().expect("nothing panics").push((is_taken, request.body.len() > 1024 * 1024));
            (!is_taken).then(|| Reply::error(400, "InvalidRequest", said))
        });
        let outcome = bucket.run(["box", "snapshot", "--this-box", "edge-c3"]).arg("--registry").arg(&registry).run();
        let puts = puts.lock().expect("nothing panics");
        if said.starts_with("Content-MD5") {
            assert_eq!(outcome.code, 0, "{outcome}");
            assert_eq!(puts.iter().filter(|(is_taken, _)| !is_taken).count(), 1, "{puts:?}");
            assert_eq!(puts.iter().filter(|(_, is_large)| *is_large).count(), 2, "{puts:?}");
        } else {
            assert_eq!((outcome.code, puts.as_slice()), (5, [(false, false)].as_slice()), "{outcome}");
            assert!(outcome.stderr.contains(&format!("answered 400 InvalidRequest: {said}, is not supported")), "{outcome}");
        }
    }
}

/// Runner-up: a clock that was ahead made everything look old. Ages decide what goes, so with clocks apart nothing goes.
#[test]
fn with_clocks_that_disagree_nothing_is_deleted() {
    let bench = Bench::live();
    bench.shop();
    let bucket = AppBucket::of(&bench);
    let before = bucket.keys();
    let registry = bench.deployment.beside("registry.db");
    build_live(&registry, &[route("shop-1.example", "shop", "v5", "v4", "")]).expect("a registry");
    // In the middle of a minute: a store's time has whole seconds, and one may pass under way.
    let ahead = SignedDuration::from_secs(40 * 60 + 30);
    for ahead in [ahead, -ahead] {
        bucket.clock(ahead);
        let outcome = bucket.run(["retention", "run", "--confirm", "dep", "--json"]).run();
        assert_eq!(outcome.code, 13, "{outcome}");
        assert!(outcome.stderr.contains("40 min") && outcome.stderr.contains("nothing was deleted"), "{outcome}");
        let outcome = bucket.run(["box", "retention", "--this-box", "edge-a1"]).arg("--registry").arg(&registry).run();
        assert_eq!(outcome.code, 13, "{outcome}");
        assert_eq!(bucket.keys(), before);
    }
    bucket.clock(SignedDuration::from_mins(4));
    assert_eq!(bucket.run(["retention", "run", "--confirm", "dep"]).run().code, 0);
}
