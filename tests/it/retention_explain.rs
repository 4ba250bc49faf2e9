//! `retention explain`: the stories of an operator, at the level of the binary.

use carlosctl::demo::registry::RouteSpec;
use insta::assert_snapshot;
use serde_json::Value;

use crate::common::apps::{Bench, route};

/// `app.version: verdict[ reason codes]`, in the order of the document.
pub(crate) fn verdicts(document: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut all = Vec::new();
    for app in list(&document["apps"]) {
        for version in list(&app["versions"]) {
            let reasons: Vec<String> = list(&version["reasons"]).iter().map(|reason| text(&reason["code"])).collect();
            let words = [vec![text(&version["verdict"])], reasons].concat();
            all.push(format!("{}.{}: {}", text(&app["app"]), text(&version["version"]), words.join(" ")));
        }
    }
    all
}

/// `app code subject`, of every refusal.
pub(crate) fn refusals(document: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let of = |app: &Value| {
        let app_name = text(&app["app"]);
        list(&app["refusals"])
            .iter()
            .map(move |refusal| format!("{app_name} {} {}", text(&refusal["code"]), text(&refusal["subject"])))
            .collect::<Vec<_>>()
    };
    list(&document["apps"]).iter().flat_map(of).collect()
}

fn eligible(document: &Value) -> Vec<String> {
    verdicts(document).into_iter().filter_map(|line| Some(line.strip_suffix(": eligible")?.to_owned())).collect()
}

#[test]
fn every_version_says_why_it_stays_or_goes() {
    let bench = Bench::fixed();
    bench.shop().pointer("stable", "v5", &["v3"]).tag("v0.2.0", "v2");
    assert_snapshot!(bench.explain([]).run(), @"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop: keeps 2, 1 of 5 versions eligible (254 B would be freed)
    VERSION  SHIPPED                          VERDICT   WHY
    v5       2026-11-23T12:00:00Z (7 d ago)   kept      channel stable is at it; adopted by edge-a1 (shop-1.example); named by the build state of shop-1.example (edge-a1); rank 1 of the newest 2
    v4       2026-11-22T12:00:00Z (8 d ago)   kept      previous on edge-a1 (shop-1.example); rank 2 of the newest 2
    v3       2026-11-21T12:00:00Z (9 d ago)   kept      in the rollback history of channel stable
    v2       2026-11-20T12:00:00Z (10 d ago)  kept      tagged v0.2.0
    v1       2026-11-19T12:00:00Z (11 d ago)  eligible  rank 5, beyond the newest 2, and nothing names it

    1 app: 4 versions kept, 1 eligible (254 B would be freed)
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 0]
    ");
    assert_snapshot!(bench.explain(["--version", "v3"]).run(), @r#"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop v3: kept
    shipped 2026-11-21T12:00:00Z, rank 3 of 5 (order: shipped_at of the manifest, newest first); keeps 2; its bake window ends 2026-11-24T12:00:00Z

    rollback-history: in the rollback history of channel stable
    RULE              KEY                                 ETAG                                                              FIELD               VALUE
    rollback-history  apps/ops/shop/channels/stable.json  b0f68ab24d550682ddf8740ae69ab5477560bcdce63d09f105005e434338ba67  /history/0/version  v3

    ------- stderr -------
    [exit 0]
    "#);
    assert_snapshot!(bench.explain(["ops/shop", "--version", "v1"]).run(), @r#"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop v1: eligible
    shipped 2026-11-19T12:00:00Z, rank 5 of 5 (order: shipped_at of the manifest, newest first); keeps 2; its bake window ends 2026-11-22T12:00:00Z
    rank 5, beyond the newest 2, and nothing names it
    LOOKED FOR        COMPARED
    channel-pointer   1
    rollback-history  1
    tag               1
    adopted           1
    previous          1
    good              0
    record-pin        0
    build-state       1

    ------- stderr -------
    [exit 0]
    "#);
    assert_snapshot!(bench.explain(["--version", "v9"]).run(), @r#"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ------- stderr -------
    error: no version v9 of any app that was looked at
    hint: every version of an app: carlosctl retention explain ACCT/APP
    [exit 10]
    "#);
    assert_snapshot!(bench.explain(["ops/shot"]).run(), @r#"
    ------- stderr -------
    error: no app ops/shot: no route and no object of it
    hint: did you mean ops/shop?
    [exit 10]
    "#);
}

#[test]
fn a_refused_app_says_every_cause_and_what_would_unblock_it() {
    let bench = Bench::fixed();
    let shop = bench.shop();
    bench.report("edge-a1", 7, [("shop-1.example", "shop", vec!["v5"], false)]);
    shop.record("shop-9.example", "v1");
    bench.put(&shop.key("tags/t.json"), "{\"tag\":\"u\",\"version\":\"v1\"}");
    assert_snapshot!(bench.explain([]).run(), @r#"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop: refused; nothing of it may be deleted
    blocking host-unreported: apps/ops/shop/instances/shop-9.example.json: no box report names the build state of shop-9.example
      hint: a report of the box that hosts shop-9.example unblocks, or the removal of its record
    blocking report-incomplete: status/boxes/edge-a1.json: edge-a1 could not read the build state of shop-1.example
      hint: repair the build state of shop-1.example on edge-a1; its next complete report unblocks
    blocking report-stale: status/boxes/edge-a1.json: edge-a1, which hosts shop-1.example, has not reported since 2026-11-30T05:00:00Z; that is 7 h ago
      hint: a report of shop-1.example's box at or after 2026-11-30T06:00:00Z unblocks
    blocking tag-unreadable: apps/ops/shop/tags/t.json: a tag does not read: field "tag": is "u", and the key says "t"
      hint: cut that tag again
    VERSION  SHIPPED                          VERDICT       WHY
    v5       2026-11-23T12:00:00Z (7 d ago)   kept          adopted by edge-a1 (shop-1.example); named by the build state of shop-1.example (edge-a1); rank 1 of the newest 2
    v4       2026-11-22T12:00:00Z (8 d ago)   kept          previous on edge-a1 (shop-1.example); rank 2 of the newest 2
    v3       2026-11-21T12:00:00Z (9 d ago)   undetermined  nothing known keeps it, and the app is refused
    v2       2026-11-20T12:00:00Z (10 d ago)  undetermined  nothing known keeps it, and the app is refused
    v1       2026-11-19T12:00:00Z (11 d ago)  kept          pinned by the record of shop-9.example

    1 app: 3 versions kept, 0 eligible (0 B would be freed), 2 undetermined; 1 app refused
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 4]
    "#);
}

#[test]
fn a_smaller_number_shows_what_it_would_newly_delete() {
    let bench = Bench::fixed();
    bench.shop().keep(3).pointer("stable", "v5", &[]);
    assert_snapshot!(bench.explain(["--keep", "2"]).run(), @"
    view the fleet: 1 snapshot, and no registry of this machine; as if every app kept 2, as of 2026-11-30T12:00:00Z

    ops/shop: keeps 2, 3 of 5 versions eligible (762 B would be freed)
    VERSION  SHIPPED                          VERDICT         WHY
    v5       2026-11-23T12:00:00Z (7 d ago)   kept            channel stable is at it; adopted by edge-a1 (shop-1.example); named by the build state of shop-1.example (edge-a1); rank 1 of the newest 2
    v4       2026-11-22T12:00:00Z (8 d ago)   kept            previous on edge-a1 (shop-1.example); rank 2 of the newest 2
    v3       2026-11-21T12:00:00Z (9 d ago)   eligible (new)  rank 3, beyond the newest 2, and nothing names it
    v2       2026-11-20T12:00:00Z (10 d ago)  eligible        rank 4, beyond the newest 2, and nothing names it
    v1       2026-11-19T12:00:00Z (11 d ago)  eligible        rank 5, beyond the newest 2, and nothing names it

    1 app: 2 versions kept, 3 eligible (762 B would be freed)
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 0]
    ");
}

/// Case 50: what another box runs is nobody's to delete, and its own pass cannot know.
#[test]
fn other_boxes_pins_count_and_their_passes_are_hazards() {
    let bench = Bench::fixed();
    let shop = bench.shop().keep(3);
    shop.pointer("stable", "v5", &[]);
    bench.boxed("edge-a1", &[route("shop-1.example", "shop", "v5", "v4", "v3")]);
    bench.boxed("edge-c3", &[route("shop-2.example", "shop", "v2", "v1", "v1")]);
    assert_snapshot!(bench.explain([]).run(), @"
    view the fleet: 2 snapshots, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop: keeps 3, 0 of 5 versions eligible (0 B would be freed)
    VERSION  SHIPPED                          VERDICT  WHY
    v5       2026-11-23T12:00:00Z (7 d ago)   kept     channel stable is at it; adopted by edge-a1 (shop-1.example); named by the build state of shop-1.example (edge-a1); rank 1 of the newest 3
    v4       2026-11-22T12:00:00Z (8 d ago)   kept     previous on edge-a1 (shop-1.example); rank 2 of the newest 3
    v3       2026-11-21T12:00:00Z (9 d ago)   kept     good (fallback) on edge-a1 (shop-1.example); rank 3 of the newest 3
    v2       2026-11-20T12:00:00Z (10 d ago)  kept     adopted by edge-c3 (shop-2.example); named by the build state of shop-2.example (edge-c3)
    v1       2026-11-19T12:00:00Z (11 d ago)  kept     previous on edge-c3 (shop-2.example); good (fallback) on edge-c3 (shop-2.example)
    hazard: the own pass of edge-a1 would delete v1; held on to by edge-c3 (shop-2.example)

    1 app: 5 versions kept, 0 eligible (0 B would be freed); 1 hazard
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 0]
    ");
    // The box's own pass, by its registry alone, would delete both.
    bench.report("edge-c3", 0, []);
    let own = bench.explain(["--as-box", "edge-a1", "--json"]).run();
    assert_eq!((own.code, eligible(&own.json())), (0, vec!["shop.v2".to_owned(), "shop.v1".to_owned()]));
    // A snapshot that does not read refuses every app, and names its box.
    bench.put("control/registry-snapshot/edge-c3.db", "not a database");
    let outcome = bench.explain(["--json"]).run();
    assert_eq!(outcome.code, 4, "{outcome}");
    assert_eq!(refusals(&outcome.json()), ["shop registry-unreadable control/registry-snapshot/edge-c3.db"]);
    // Left out by name, and recorded.
    let outcome = bench.explain(["--json", "--without-box", "edge-c3"]).run();
    assert_eq!((outcome.code, outcome.json()["without_boxes"][0].as_str()), (0, Some("edge-c3")));
    assert_eq!(eligible(&outcome.json()), ["shop.v2", "shop.v1"]);
    let outcome = bench.explain(["--without-box", "edge-c4"]).run();
    assert_eq!(outcome.code, 10, "{outcome}");
}

/// Case 42: by ship time, and equal times at the boundary stay together.
#[test]
fn ship_time_orders_and_not_the_name() {
    let bench = Bench::fixed();
    let shop = bench.app("shop").keep(2);
    shop.release("9.2.9", 300).release("9.2.10", 200).release("9.2.8", 100).pointer("stable", "9.2.8", &[]);
    bench.boxed("edge-a1", &[route("h1", "shop", "9.2.8", "", "")]);
    let outcome = bench.explain(["--json"]).run();
    assert_eq!(eligible(&outcome.json()), ["shop.9.2.9"], "{outcome}");
    assert!(bench.explain([]).run().stdout.contains("order: shipped_at of the manifest, newest first"));
    shop.release("9.2.9", 200);
    let first = bench.explain(["--json"]).run();
    assert_eq!(eligible(&first.json()), Vec::<String>::new());
    for _ in 0..3 {
        assert_eq!(bench.explain(["--json"]).run().stdout, first.stdout);
    }
}

/// Case 44: exactly the newest, and the fallback beyond them.
#[test]
fn exactly_so_many_are_kept_and_the_fallback_too() {
    let bench = Bench::fixed();
    let shop = bench.shop().keep(3);
    bench.boxed("edge-a1", &[route("h1", "shop", "v5", "v4", "v2")]);
    assert_eq!(eligible(&bench.explain(["--json"]).run().json()), ["shop.v1"]);
    let shop = shop.keep(2);
    assert_eq!(eligible(&bench.explain(["--json"]).run().json()), ["shop.v3", "shop.v1"]);
    drop(shop);
}

/// Case 45: an input that does not read refuses; what is no input does not.
#[test]
fn an_input_that_does_not_read_refuses_and_says_which() {
    let bench = Bench::fixed();
    let shop = bench.shop();
    let other = bench.app("other").keep(1);
    other.release("w1", 300).release("w2", 200);
    bench.boxed("edge-b2", &[route("o1", "other", "w2", "", "")]);
    let all = |bench: &Bench| refusals(&bench.explain(["--json"]).run().json());
    assert_eq!(all(&bench), Vec::<String>::new());
    // What is no record, and a fleet with an odd name.
    bench.put(&shop.key("instances/x/y.json"), "{");
    bench.report_below("fleets/north east/", "f1", &bench.ago(0), [("o2", "other", vec!["w1"], true)]);
    let outcome = bench.explain(["--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.contains("fleets/north east/status/boxes/f1.json"), "{outcome}");
    assert!(verdicts(&outcome.json()).contains(&"other.w1: kept build-state".to_owned()), "{outcome}");

    let key = shop.key("instances/h1.json");
    for bad in ["{", "{\"host\":\"h2\"}"] {
        bench.put(&key, bad);
        let outcome = bench.explain(["--json"]).run();
        assert_eq!((outcome.code, refusals(&outcome.json())), (4, vec![format!("shop record-unreadable {key}")]));
    }
    bench.deployment.remove(&key);
    let report = "fleets/north east/status/boxes/x.json";
    bench.put(report, "{\"lab");
    assert_eq!(all(&bench), ["other", "shop"].map(|app| format!("{app} reports-incomplete {report}")));
    bench.deployment.remove(report);
    for (rest, body, code) in [
        ("retention.json", "{\"keep\":0}", "retention-record-invalid"),
        ("releases/v3/manifest.json", "{\"v\":2}", "manifest-unreadable"),
        ("channels/edge.json", "{}", "pointer-unreadable"),
        ("tags/t.json", "{}", "tag-unreadable"),
        ("pipeline.json", "{\"channels\":[]}", "pipeline-unreadable"),
    ] {
        let key = shop.key(rest);
        let before = std::fs::read(bench.deployment.file(&key)).ok();
        bench.put(&key, body);
        assert_eq!(all(&bench), [format!("shop {code} {key}")], "{rest}");
        match before {
            Some(body) => bench.put(&key, body),
            None => bench.deployment.remove(&key),
        }
        assert_eq!(all(&bench), Vec::<String>::new(), "{rest} is cured");
    }
}

/// Case 46: the six hours to the nanosecond, and hosts that two boxes report.
#[test]
fn six_hours_are_six_hours_and_the_newest_report_of_a_host_counts() {
    let bench = Bench::fixed();
    bench.shop();
    let at = |when: &str, complete: bool| {
        bench.report_below("", "edge-a1", when, [("shop-1.example", "shop", vec!["v5"], complete)]);
        bench.explain(["--json"]).run()
    };
    assert_eq!(at("2026-11-30T06:00:00Z", true).code, 0);
    let late = at("2026-11-30T05:59:59.999999999Z", true);
    assert_eq!(refusals(&late.json()), ["shop report-stale status/boxes/edge-a1.json"]);
    assert!(late.stdout.contains("has not reported since 2026-11-30T05:59:59Z"), "{late}");
    assert_eq!(at("2026-11-30T12:00:00Z", true).code, 0);
    // An old box that the host moved off neither blocks nor loses its builds.
    bench.report("edge-a0", 72, [("shop-1.example", "shop", vec!["v1"], false)]);
    bench.snapshot("edge-a0", &[]);
    let moved = bench.explain(["--json"]).run();
    assert_eq!((moved.code, eligible(&moved.json())), (0, vec!["shop.v3".to_owned(), "shop.v2".to_owned()]), "{moved}");
    // At equal times the first read stands: edge-a0 is read before edge-a1.
    bench.report("edge-a0", 0, [("shop-1.example", "shop", vec!["v1"], false)]);
    let tie = bench.explain(["--json"]).run();
    assert_eq!(refusals(&tie.json()), ["shop report-incomplete status/boxes/edge-a0.json"]);
    assert_eq!(bench.explain(["--json"]).run().stdout, tie.stdout);
    // A box that could not collect blocks every app, as long as it says so freshly.
    for (when, code) in [("2026-11-30T06:00:00Z", 4), ("2026-11-30T05:59:59.999999999Z", 0)] {
        bench.put(
            "status/boxes/edge-a0.json",
            format!("{{\"label\":\"edge-a0\",\"generated_at\":\"{when}\",\"metrics\":{{\"build_states_err\":\"busy\"}}}}"),
        );
        assert_eq!(bench.explain([]).run().code, code, "{when}");
    }
}

/// Case 7: names are bytes, not URLs.
#[test]
fn odd_names_are_taken_as_they_are() {
    let bench = Bench::fixed();
    let shop = bench.app("shop").keep(1);
    for (version, hours) in
        [("1.2.3+build.7", 500), ("1.2.3 build.7", 400), ("100%", 300), ("a%2Bb", 250), ("한글", 200), ("v9", 100)]
    {
        shop.release(version, hours);
    }
    shop.record("shop+eu.example", "1.2.3+build.7").tag("t", "100%").pointer("stable", "한글", &["a%2Bb"]);
    bench.boxed("edge-a1", &[route("shop+eu.example", "shop", "v9", "", "")]);
    let outcome = bench.explain(["--json"]).run();
    assert_eq!((outcome.code, eligible(&outcome.json())), (0, vec!["shop.1.2.3 build.7".to_owned()]), "{outcome}");
    assert_snapshot!(bench.explain([]).run(), @"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    ops/shop: keeps 1, 1 of 6 versions eligible (287 B would be freed)
    VERSION        SHIPPED                               VERDICT   WHY
    v9             2026-11-26T08:00:00Z (4 d 4 h ago)    kept      adopted by edge-a1 (shop+eu.example); named by the build state of shop+eu.example (edge-a1); rank 1 of the newest 1
    한글           2026-11-22T04:00:00Z (8 d 8 h ago)    kept      channel stable is at it
    a%2Bb          2026-11-20T02:00:00Z (10 d 10 h ago)  kept      in the rollback history of channel stable
    100%           2026-11-18T00:00:00Z (12 d 12 h ago)  kept      tagged t
    1.2.3 build.7  2026-11-13T20:00:00Z (16 d 16 h ago)  eligible  rank 5, beyond the newest 1, and nothing names it
    1.2.3+build.7  2026-11-09T16:00:00Z (20 d 20 h ago)  kept      pinned by the record of shop+eu.example

    1 app: 5 versions kept, 1 eligible (287 B would be freed)
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 0]
    ");
}

/// Case 22: the bytes are verified, not a re-encoding of them.
#[test]
fn a_pointer_is_verified_by_its_own_bytes() {
    let bench = Bench::fixed();
    let app = bench.app("a&b").keep(1);
    app.release("v<2>", 300).release("v3", 200).pointer("stable", "v<2>", &[]);
    bench.boxed("edge-b2", &[route("h1", "a&b", "v3", "", "")]);
    bench.shop();
    let good = bench.explain(["--json"]).run();
    assert_eq!(good.code, 0, "{good}");
    assert!(verdicts(&good.json()).contains(&"a&b.v<2>: kept channel-pointer".to_owned()), "{good}");
    // The same JSON, pretty-printed, under the same signature.
    let key = app.key("channels/stable.json");
    let mut envelope: Value =
        serde_json::from_slice(&std::fs::read(bench.deployment.file(&key)).expect("a pointer")).expect("JSON");
    let engine = base64::engine::general_purpose::STANDARD;
    let payload = base64::Engine::decode(&engine, envelope["payload"].as_str().expect("a payload")).expect("base64");
    let payload: Value = serde_json::from_slice(&payload).expect("JSON");
    envelope["payload"] = base64::Engine::encode(&engine, serde_json::to_string_pretty(&payload).expect("JSON")).into();
    bench.put(&key, envelope.to_string());
    let forged = bench.explain(["--json"]).run();
    assert_eq!((forged.code, refusals(&forged.json())), (4, vec![format!("a&b pointer-unverified {key}")]));
    let verdicts = verdicts(&forged.json());
    assert!(verdicts.contains(&"a&b.v<2>: kept channel-pointer".to_owned()), "what it names stays protected");
    assert!(verdicts.contains(&"shop.v1: eligible".to_owned()), "other apps go on");
    // Without the key nothing verifies, and nothing goes.
    let unset = bench.explain(["--json"]).env("CARLOS_RELEASE_PUBKEY", "").run();
    assert!(unset.stdout.contains("CARLOS_RELEASE_PUBKEY is not set"), "{unset}");
}

/// Case 1: the pin of the last record counts.
#[test]
fn a_pin_beyond_the_first_thousand_records_counts() {
    let bench = Bench::fixed();
    let shop = bench.shop();
    let hosts: Vec<String> = (0..=1000).map(|number| format!("h{number:04}")).collect();
    for host in &hosts {
        shop.record(host, if host == "h1000" { "v1" } else { "" });
    }
    bench.report("edge-a1", 0, hosts.iter().map(|host| (host.as_str(), "shop", vec!["v5"], true)));
    let outcome = bench.explain(["--json"]).run();
    assert!(verdicts(&outcome.json()).contains(&"shop.v1: kept record-pin".to_owned()), "{}", outcome.code);
}

#[test]
fn a_sole_housekeeper_collects_from_its_own_registry() {
    let bench = Bench::fixed();
    let shop = bench.app("shop").keep(1);
    shop.release("v1", 400).release("v2", 300).release("v3", 200);
    let explain = || bench.alone(["retention", "explain", "--json", "--as-of", "2026-11-30T12:00:00Z"]);
    let outcome = explain().run();
    assert_eq!(refusals(&outcome.json()), Vec::<String>::new(), "not hosted anywhere: {outcome}");
    std::fs::create_dir_all(bench.deployment.beside("data")).expect("a directory");
    let mut spec: RouteSpec = route("h1", "shop", "v3", "", "");
    spec.build_state = "{\"state\":{\"last_executed\":\"v2\"},\"known\":true}".to_owned();
    let path = bench.deployment.beside("data/registry.db");
    carlosctl::demo::registry::build(&path, &[spec]).expect("a registry");
    let outcome = explain().run();
    assert_eq!((outcome.code, eligible(&outcome.json())), (0, vec!["shop.v1".to_owned()]), "{outcome}");
    assert!(outcome.stdout.contains("named by the build state of h1 (this box (sole housekeeper))"), "{outcome}");
    // The same directory and no registry here: nothing can be told.
    let elsewhere = bench.alone(["retention", "explain", "ops/shop", "--json"]).env("CARLOS_DATA_DIR", "/nonexistent");
    bench.snapshot("edge-a1", &[route("h1", "shop", "v3", "", "")]);
    assert_eq!(refusals(&elsewhere.run().json()), ["shop reports-unavailable status/boxes/"]);
}

#[test]
fn evidence_replays_byte_for_byte_without_any_store() {
    let bench = Bench::fixed();
    bench.shop().pointer("stable", "v5", &["v3"]);
    let file = bench.deployment.beside("evidence.json");
    let before = bench.deployment.everything();
    let live = bench.explain(["--json"]).arg("--evidence-out").arg(&file).env("AWS_SECRET_ACCESS_KEY", "s3cr3t-value").run();
    assert_eq!(live.code, 0, "{live}");
    assert_eq!(bench.deployment.everything(), before);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).expect("text").contains("s3cr3t-value"));
    let replayed = crate::common::carlosctl(["retention", "explain", "--json", "--evidence"]).arg(&file).run();
    assert_eq!((replayed.code, &replayed.stdout), (0, &live.stdout));
    let text = crate::common::carlosctl(["retention", "explain", "--evidence"]).arg(&file).run();
    assert_eq!(text.stdout, bench.explain([]).run().stdout);
    let again = bench.explain([]).arg("--evidence-out").arg(&file).run();
    assert_eq!(again.code, 2, "{again}");
}

#[test]
fn many_apps_are_summed_up_first() {
    let bench = Bench::fixed();
    let names: Vec<String> = (0..25).map(|number| format!("app{number:02}")).collect();
    let routes: Vec<RouteSpec> = names.iter().map(|name| route(&format!("{name}.example"), name, "v2", "", "")).collect();
    bench.boxed("edge-a1", &routes);
    for name in &names {
        let app = bench.app(name).keep(1);
        app.release("v2", 200);
        if name == "app07" {
            app.release("v1", 300);
        }
        if name.ends_with('9') {
            bench.put(&app.key("tags/t.json"), "{");
        }
    }
    assert_snapshot!(bench.explain([]).run(), @r#"
    view the fleet: 1 snapshot, and no registry of this machine, as of 2026-11-30T12:00:00Z

    APP        KEEPS  KEPT  ELIGIBLE  FREES  HAZARDS
    ops/app07  1      1     1         255 B  -

    refused, 1 app: ops/app09
    blocking tag-unreadable: apps/ops/app09/tags/t.json: a tag does not read: EOF while parsing an object at line 1 column 1
      hint: cut that tag again

    refused, 1 app: ops/app19
    blocking tag-unreadable: apps/ops/app19/tags/t.json: a tag does not read: EOF while parsing an object at line 1 column 1
      hint: cut that tag again

    22 apps with nothing to delete
    one app in detail: carlosctl retention explain ACCT/APP
    25 apps: 25 versions kept, 1 eligible (255 B would be freed); 2 apps refused
    order: shipped_at of the manifest, newest first
    ------- stderr -------
    [exit 4]
    "#);
    assert!(bench.explain(["ops/app07"]).run().stdout.contains("VERSION"));
}

#[test]
fn a_snapshot_that_lost_its_rows_refuses_until_it_is_back() {
    let bench = Bench::fixed();
    bench.shop();
    let good = std::fs::read(bench.deployment.file("control/registry-snapshot/edge-a1.db")).expect("a snapshot");
    // An unrestored standby under the same label: as small a file, and no rows.
    bench.deployment.pass("edge-a1", &bench.ago(0), &crate::common::deployment::registry_of(&[]));
    let outcome = bench.explain(["ops/shop", "--json"]).run();
    assert_eq!(refusals(&outcome.json()), ["shop registry-unreadable control/registry-snapshot/edge-a1.db"], "{outcome}");
    bench.put("control/registry-snapshot/edge-a1.db", good);
    assert_eq!(bench.explain(["ops/shop"]).run().code, 0);
    // A box that only its generations, or only its report, show.
    bench.deployment.remove("control/registry-snapshot/edge-a1.db");
    let gone = bench.explain(["ops/shop", "--json"]).run();
    assert_eq!(refusals(&gone.json()), ["shop registry-unreadable control/registry-snapshot/edge-a1.db"], "{gone}");
}

/// Each refusal that the tests above do not cure, produced and cured by hand.
#[test]
fn every_refusal_has_a_cure() {
    let bench = Bench::fixed();
    let shop = bench.shop();
    let all = |bench: &Bench| refusals(&bench.explain(["--json"]).run().json());
    let none = Vec::<String>::new();
    let fresh = || bench.report("edge-a1", 0, [("shop-1.example", "shop", vec!["v5"], true)]);

    shop.record("shop-9.example", "");
    assert_eq!(all(&bench), ["shop host-unreported apps/ops/shop/instances/shop-9.example.json"]);
    let hosts = ["shop-1.example", "shop-9.example"].map(|host| (host, "shop", vec!["v5"], true));
    bench.report("edge-a1", 0, hosts);
    assert_eq!(all(&bench), none);
    bench.deployment.remove(&shop.key("instances/shop-9.example.json"));

    bench.report("edge-a1", 0, [("shop-1.example", "shop", vec!["v5"], false)]);
    assert_eq!(all(&bench), ["shop report-incomplete status/boxes/edge-a1.json"]);
    fresh();
    assert_eq!(all(&bench), none);

    bench.report_below("", "edge-a1", "2026-11-30T12:05:01Z", [("shop-1.example", "shop", vec!["v5"], true)]);
    assert_eq!(all(&bench), ["shop report-from-future status/boxes/edge-a1.json"]);
    bench.report_below("", "edge-a1", "2026-11-30T12:05:00Z", [("shop-1.example", "shop", vec!["v5"], true)]);
    assert_eq!(all(&bench), none);

    shop.pointer("stable", "v5", &[]);
    let other = bench.explain(["--json"]).env("CARLOS_RELEASE_PUBKEY", "AAAA").run();
    assert_eq!(refusals(&other.json()), ["shop pointer-unverified apps/ops/shop/channels/stable.json"]);
    assert!(other.stdout.contains("CARLOS_RELEASE_PUBKEY: the key has 3 bytes, not 32"), "{other}");
    assert_eq!(all(&bench), none);

    let lost = bench.app("lost").keep(1);
    lost.incomplete("v1", 48);
    bench.boxed("edge-b2", &[route("h1", "lost", "v0", "", "")]);
    assert_eq!(all(&bench), ["lost keeps-nothing apps/ops/lost/releases/"]);
    lost.release("v2", 200);
    assert_eq!(all(&bench), none);
}

/// Small registries lose rows without losing pages, so what a clobber took away is seen only in the rows of all of them.
#[test]
fn a_small_registry_that_was_clobbered_twice_pins_nothing_and_refuses() {
    let bench = Bench::fixed();
    bench.shop().pointer("stable", "v5", &[]);
    let routes = |number: usize| -> Vec<RouteSpec> {
        (0..number).map(|at| route(&format!("shop-{at}.example"), "shop", "v3", "v2", "")).collect()
    };
    let pass = |hours: i64, number: usize| {
        bench.deployment.pass("edge-b2", &bench.ago(hours), &crate::common::deployment::registry_of(&routes(number)));
    };
    for (hours, number) in [(5, 6), (4, 1), (3, 2)] {
        pass(hours, number);
    }
    bench.report("edge-b2", 0, []);
    let refused = bench.explain(["--json"]).run();
    assert_eq!(refused.code, 4, "{refused}");
    assert_eq!(refusals(&refused.json()), ["shop registry-unreadable control/registry-snapshot/edge-b2.db"]);
    let because = refused.json()["apps"][0]["refusals"][0]["because"].to_string();
    assert!(
        because.contains("it has 2 of the 6 hosts that control/registry-snapshots/edge-b2/20261130T070000Z.db has"),
        "{because}"
    );
    // One that came down step by step was not written over.
    for (hours, number) in [(9, 6), (8, 4), (7, 3), (6, 2), (5, 2), (4, 2), (3, 2)] {
        pass(hours, number);
    }
    let explained = bench.explain(["--json"]).run();
    assert_eq!(explained.code, 0, "{explained}");
}
