//! Retention on S3: a scripted bucket that fails as told, and the main job on a real server.

use std::collections::{BTreeMap, BTreeSet};

use carlosctl::store::{WriteStore, create};

use crate::common::apps::{Bench, route, sha256};
use crate::common::bucket::Bucket;
use crate::common::scripted::Reply;
use crate::common::servers::{Server, ministack, seaweedfs};
use crate::common::{Invocation, Outcome, carlosctl};
use crate::retention_explain::{refusals, verdicts};

fn texts(list: &serde_json::Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one.as_str().or(one["version"].as_str()).expect("a text")).collect()
}

fn run(bucket: &Bucket) -> Outcome {
    bucket.run(["retention", "run", "--confirm", "dep", "--json"]).run()
}

/// `ops/shop` keeps 1 of 5: four versions of three objects go.
fn four_to_go() -> Bench {
    let bench = Bench::live();
    let shop = bench.shop().keep(1);
    bench.boxed("edge-a1", &[route("shop-1.example", "shop", "v5", "", "")]);
    drop(shop);
    bench
}

/// Case 41: not one request that could write, and the run deletes what was shown, in the order in which it was shown.
#[test]
fn a_preview_never_asks_for_a_write() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    let read_only = |request: &crate::common::scripted::Request| matches!(request.method.as_str(), "GET" | "HEAD");
    bucket.fault(move |request, _| (!read_only(request)).then(|| Reply::error(500, "InternalError", "no")));
    let plan = bench.deployment.beside("plan");
    let explained = bucket.run(["retention", "explain", "--json"]).run();
    let planned = bucket.run(["retention", "plan", "--json"]).arg("--out").arg(&plan).run();
    assert_eq!((explained.code, planned.code), (0, 0), "{explained}{planned}");
    assert!(bucket.requests().iter().all(|(method, _)| method == "GET" || method == "HEAD"));
    let shown: Vec<String> =
        verdicts(&explained.json()).iter().filter_map(|line| Some(line.strip_suffix(": eligible")?.to_owned())).collect();
    bucket.fault(|_, _| None);
    let ran = bucket.run(["retention", "run", "--confirm", "dep", "--json"]).arg("--plan").arg(&plan).run();
    assert_eq!(ran.code, 0, "{ran}");
    let manifests: Vec<String> = bucket
        .requests()
        .into_iter()
        .filter(|(method, key)| method == "DELETE" && key.ends_with("/manifest.json"))
        .map(|(_, key)| key.replace("apps/ops/", "").replace("/releases/", ".").replace("/manifest.json", ""))
        .collect();
    assert_eq!(manifests, shown);
}

/// No object is read twice, and nothing is listed twice.
#[test]
fn nothing_is_asked_twice() {
    let bench = four_to_go();
    bench.app("shop").pointer("stable", "v5", &["v4"]).tag("t", "v2").record("shop-1.example", "");
    bench.report_below("fleets/x/", "f1", &bench.ago(0), [("o2", "shop", vec!["v1"], true)]);
    let bucket = Bucket::of(&bench);
    assert_eq!(bucket.run(["retention", "explain"]).run().code, 0);
    let mut asked: BTreeMap<(String, String), usize> = BTreeMap::new();
    for request in bucket.requests() {
        *asked.entry(request).or_default() += 1;
    }
    // apps/, apps/ops/, fleets/ and its reports; snapshots, generations, reports; per app two documents and four listings.
    let twice: Vec<_> = asked.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let documents = ["manifests"; 5].len() + ["pointer", "tag", "record"].len() + ["report"; 2].len() + ["snapshot"].len();
    assert_eq!(asked.len(), 7 + 6 + documents, "{asked:#?}");
}

/// Case 1: a page that fails blocks the whole app; nothing is explained from page one.
#[test]
fn half_a_listing_explains_nothing() {
    let bench = four_to_go();
    let shop = bench.app("shop");
    let hosts: Vec<String> = (0..=1000).map(|number| format!("h{number:04}")).collect();
    for host in &hosts {
        shop.record(host, if host == "h1000" { "v1" } else { "" });
    }
    bench.report("edge-a1", 0, hosts.iter().map(|host| (host.as_str(), "shop", vec!["v5"], true)));
    let bucket = Bucket::of(&bench);
    let whole = bucket.run(["retention", "explain", "--json"]).run();
    assert!(verdicts(&whole.json()).contains(&"shop.v1: kept record-pin".to_owned()), "{}", whole.code);
    bucket.fault(|request, prefix| {
        let second = request.parameter("continuation-token").is_some();
        (second && prefix.ends_with("/instances/")).then(|| Reply::error(500, "InternalError", "later"))
    });
    let half = bucket.run(["retention", "explain", "--json"]).run();
    assert_eq!((half.code, refusals(&half.json())), (4, vec!["shop record-unreadable apps/ops/shop/instances/".to_owned()]));
}

/// Case 45: a listing of fleets that fails is not "no fleets".
#[test]
fn fleets_that_cannot_be_listed_refuse_every_app() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    bucket.fault(|_, prefix| (prefix == "fleets/").then(|| Reply::error(500, "InternalError", "later")));
    let outcome = bucket.run(["retention", "explain", "--json"]).run();
    assert_eq!((outcome.code, refusals(&outcome.json())), (4, vec!["shop reports-incomplete fleets/".to_owned()]));
    let before = bucket.keys();
    assert_eq!(run(&bucket).code, 4);
    bucket.fault(|_, prefix| (prefix == "status/boxes/").then(|| Reply::error(403, "AccessDenied", "no")));
    let outcome = bucket.run(["retention", "explain", "--json"]).run();
    assert_eq!(refusals(&outcome.json()), ["shop reports-unavailable status/boxes/"], "{outcome}");
    bucket.fault(|_, prefix| (prefix == "control/registry-snapshots/").then(|| Reply::error(403, "AccessDenied", "no")));
    let outcome = bucket.run(["retention", "explain", "--json"]).run();
    assert_eq!(refusals(&outcome.json()), ["shop registry-unreadable control/registry-snapshots/"], "{outcome}");
    assert_eq!(bucket.keys(), before);
}

/// Case 7: on the wire, too, the key with the space is meant, and no other.
#[test]
fn odd_names_survive_the_wire() {
    let bench = Bench::live();
    let shop = bench.app("shop").keep(1);
    for (version, hours) in
        [("1.2.3+build.7", 500), ("1.2.3 build.7", 400), ("100%", 300), ("a%2Bb", 250), ("한글", 200), ("v9", 100)]
    {
        shop.release(version, hours);
    }
    shop.record("shop+eu.example", "1.2.3+build.7").tag("t", "100%").tag("u", "한글").tag("w", "a%2Bb");
    bench.boxed("edge-a1", &[route("shop+eu.example", "shop", "v9", "", "")]);
    let bucket = Bucket::of(&bench);
    let before = bucket.keys();
    assert_eq!(run(&bucket).code, 0);
    let gone: BTreeSet<String> = before.difference(&bucket.keys()).cloned().collect();
    let artifact = shop.key(&format!("artifacts/{}", sha256("artifact of 1.2.3 build.7")));
    let own = ["manifest.json", "notes.txt"].map(|name| shop.key(&format!("releases/1.2.3 build.7/{name}")));
    assert_eq!(gone, own.into_iter().chain([artifact]).collect());
}

fn is_deletion(request: &crate::common::scripted::Request, key: &str) -> bool {
    request.method == "DELETE" && key.starts_with("apps/")
}

/// Case 14: throttled deletions are sent again; one that answers 404 is done.
#[test]
fn throttling_is_waited_for_and_missing_is_done() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    let (mut number, remove) = (0, bucket.remover());
    bucket.fault(move |request, key| {
        if !is_deletion(request, key) {
            return None;
        }
        number += 1;
        match number {
            5 | 6 => Some(Reply::error(503, "SlowDown", "slower")),
            14 => {
                remove(key);
                None
            }
            _ => None,
        }
    });
    let outcome = run(&bucket);
    assert_eq!(outcome.code, 0, "{outcome}");
    let counts = &outcome.json()["counts"];
    assert_eq!((counts["deleted"].as_u64(), counts["missing"].as_u64()), (Some(11), Some(1)));
}

/// Case 14, second half: it stops, says what is gone, what is incomplete and what remains, and the next run finishes.
#[test]
fn what_fails_is_said_and_finished_by_the_next_run() {
    let bench = four_to_go();
    let zoo = bench.app("zoo").keep(1);
    zoo.release("w1", 300).release("w2", 200);
    bench.boxed("edge-b2", &[route("o1", "zoo", "w2", "", "")]);
    let bucket = Bucket::of(&bench);
    let artifact = format!("apps/ops/shop/artifacts/{}", sha256("artifact of v3"));
    bucket.fault(move |request, key| {
        (is_deletion(request, key) && key == artifact).then(|| Reply::error(503, "SlowDown", "slower"))
    });
    let outcome = bucket.run(["retention", "run", "--confirm", "dep", "--json", "--timeout", "1s"]).run();
    assert_eq!(outcome.code, 3, "{outcome}");
    let document = outcome.json();
    assert_eq!(texts(&document["apps"][0]["deleted"]), ["v4"]);
    assert_eq!(texts(&document["apps"][0]["failed"]), ["v3"]);
    assert_eq!(texts(&document["apps"][0]["skipped"]), ["v2", "v1"]);
    assert_eq!(texts(&document["apps"][1]["deleted"]), ["w1"], "the next app goes on");
    let counts = &document["counts"];
    assert_eq!((counts["deleted"].as_u64(), counts["failed"].as_u64()), (Some(3 + 1 + 3), Some(1)));
    assert!(document["receipt"].is_string());
    assert!(bucket.keys().contains("apps/ops/shop/releases/v3/manifest.json"), "the manifest goes last");
    bucket.fault(|_, _| None);
    let outcome = run(&bucket);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(texts(&outcome.json()["apps"][0]["deleted"]), ["v3", "v2", "v1"]);
    assert!(!bucket.keys().iter().any(|key| key.contains("shop/releases/v3")));
}

/// What changes while the run is at it stops its app before the next version.
#[test]
fn a_pointer_that_moves_during_the_run_stops_the_app() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    // From the third deletion on, the listing of channels has one that nobody decided about.
    let mut deletions = 0;
    bucket.fault(move |request, key| {
        deletions += usize::from(is_deletion(request, key));
        let looks = request.parameter("list-type").is_some() && key == "apps/ops/shop/channels/";
        (looks && deletions >= 3).then(|| Reply::page(&[("apps/ops/shop/channels/edge.json", "new")], None))
    });
    let outcome = run(&bucket);
    assert_eq!(outcome.code, 3, "{outcome}");
    let app = &outcome.json()["apps"][0];
    assert_eq!((texts(&app["deleted"]), texts(&app["skipped"])), (vec!["v4"], vec!["v3", "v2", "v1"]));
    assert!(outcome.stdout.contains("apps/ops/shop/channels/edge.json changed since it was decided"), "{outcome}");
}

/// An object that somebody replaced since it was decided is not deleted: the etag goes with the deletion.
#[test]
fn only_exactly_what_was_decided_on_is_deleted() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    bucket.fault(|request, key| {
        (is_deletion(request, key) && key.ends_with("v4/notes.txt")).then(|| {
            assert!(!request.header("if-match").is_empty());
            Reply::error(412, "PreconditionFailed", "another")
        })
    });
    let outcome = run(&bucket);
    assert_eq!(outcome.code, 3, "{outcome}");
    assert_eq!(texts(&outcome.json()["apps"][0]["failed"]), ["v4"]);
    assert_eq!(outcome.json()["counts"]["deleted"], 0);
}

/// A store that takes a condition and ignores it could run a plan twice.
#[test]
fn a_store_that_overwrites_is_refused() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    let before = bucket.keys();
    bucket.fault(|request, key| {
        (request.method == "PUT" && key.starts_with("control/carlosctl/probe/"))
            .then(|| Reply::new(200, "").header("etag", "\"x\""))
    });
    let outcome = run(&bucket);
    assert_eq!(outcome.code, 5, "{outcome}");
    assert!(outcome.stderr.contains("a plan could be run twice there, so nothing was deleted"), "{outcome}");
    assert_eq!(bucket.keys(), before);
}

#[test]
fn the_main_job_works_on_seaweedfs() {
    main_job(seaweedfs(), &seaweedfs().bucket());
}

#[test]
fn the_main_job_works_on_ministack() {
    main_job(ministack(), &ministack().bucket());
}

/// Object Lock with a default retention: what is overwritten or deleted is kept below, and nothing is in the way.
#[test]
fn the_main_job_works_where_every_version_is_locked() {
    main_job(seaweedfs(), &seaweedfs().locked_bucket());
}

fn main_job(server: &'static Server, bucket: &str) {
    let bench = four_to_go();
    bench.app("shop").release("1.2.3 build+7", 500);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = server.store(bucket).await;
        for (key, body) in bench.deployment.everything() {
            create(&store as &dyn WriteStore, &key, &body.into()).await.expect("an object");
        }
    });
    let run = |args: &[&str]| -> Invocation {
        let mut invocation = carlosctl(args.iter().copied()).arg("--bucket").arg(bucket).env("CARLOS_DATA_DIR", "/nonexistent");
        for (name, value) in server.env() {
            invocation = invocation.env(name, value);
        }
        invocation
    };
    let explained = run(&["retention", "explain", "--json"]).run();
    assert_eq!(explained.code, 0, "{explained}");
    assert_eq!(explained.json()["summary"]["eligible"], 5);
    let plan = bench.deployment.beside("plan");
    let planned = run(&["retention", "plan"]).arg("--out").arg(&plan).run();
    assert_eq!(planned.code, 0, "{planned}");
    let refused = run(&["retention", "run"]).arg("--plan").arg(&plan).run();
    assert_eq!(refused.code, 6, "{refused}");
    let ran = run(&["retention", "run", "--json"]).arg("--confirm").arg(bucket).arg("--plan").arg(&plan).run();
    assert_eq!((ran.code, ran.json()["counts"]["deleted"].as_u64()), (0, Some(15)), "{ran}");
    let again = run(&["retention", "run"]).arg("--confirm").arg(bucket).arg("--plan").arg(&plan).run();
    assert_eq!(again.code, 7, "{again}");
    let left = runtime.block_on(async { server.store(bucket).await.list_releases().await });
    assert_eq!(left, ["apps/ops/shop/releases/v5/manifest.json", "apps/ops/shop/releases/v5/notes.txt"]);
}

trait Releases {
    async fn list_releases(&self) -> Vec<String>;
}

impl<S: carlosctl::store::ReadStore> Releases for S {
    async fn list_releases(&self) -> Vec<String> {
        self.list("apps/ops/shop/releases/").await.expect("a listing").into_iter().map(|object| object.key).collect()
    }
}

/// Ctrl-C: the version that is being deleted is finished, the others are left, and the receipt says so.
#[test]
fn an_interrupted_run_leaves_no_version_half_gone() {
    let bench = four_to_go();
    let bucket = Bucket::of(&bench);
    bucket.fault(|request, key| {
        if is_deletion(request, key) {
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        None
    });
    let mut command = bucket.run(["retention", "run", "--confirm", "dep", "--json"]).into_command();
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("it starts");
    while !bucket.requests().iter().any(|(method, key)| method == "DELETE" && key.starts_with("apps/")) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is told");
    let output = child.wait_with_output().expect("it ends");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!(output.status.code(), Some(130), "{document}");
    let app = &document["apps"][0];
    assert_eq!((texts(&app["deleted"]), texts(&app["skipped"])), (vec!["v4"], vec!["v3", "v2", "v1"]), "{document}");
    assert_eq!(document["counts"]["deleted"], 3);
    assert!(document["receipt"].is_string());
    assert_eq!(bucket.keys().iter().filter(|key| key.contains("/releases/v4/")).count(), 0);
    bucket.fault(|_, _| None);
    assert_eq!(run(&bucket).code, 0);
}

/// With one request at a time, every command still comes to its end.
#[test]
fn one_request_at_a_time_is_enough() {
    let bench = four_to_go();
    let mut routes = vec![route("shop-1.example", "shop", "v5", "", "")];
    for name in ["a", "b", "c"] {
        bench.app(name).keep(1).release("v1", 300).release("v2", 200);
        routes.push(route(&format!("{name}.example"), name, "v2", "", ""));
    }
    bench.boxed("edge-a1", &routes);
    let bucket = Bucket::of(&bench);
    let one = ["--concurrency", "1"];
    let plan = bench.deployment.beside("plan");
    let planned = bucket.run(["retention", "plan"].into_iter().chain(one)).arg("--out").arg(&plan).run();
    assert_eq!(planned.code, 0, "{planned}");
    let run = bucket.run(["retention", "run", "--confirm", "dep", "--json"].into_iter().chain(one));
    let ran = run.arg("--plan").arg(&plan).run();
    assert_eq!((ran.code, ran.json()["counts"]["deleted"].as_u64()), (0, Some(7 * 3)), "{ran}");
}
