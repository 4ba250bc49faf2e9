//! `retention plan` and `retention run`: what was shown is what goes, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::apps::{App, Bench, route, sha256};
use crate::common::{Invocation, Outcome};

/// Every key of the store but our own.
fn keys(bench: &Bench) -> Vec<String> {
    let all = bench.deployment.everything().into_iter().map(|(key, _)| key);
    all.filter(|key| !key.starts_with("control/carlosctl/")).collect()
}

/// The keys that are gone since `before`.
fn gone(bench: &Bench, before: &[String]) -> Vec<String> {
    let now = keys(bench);
    before.iter().filter(|key| !now.contains(key)).cloned().collect()
}

fn plan_file(bench: &Bench) -> PathBuf {
    bench.deployment.beside("plan")
}

fn plan(bench: &Bench) -> Outcome {
    let _ = fs::remove_file(plan_file(bench));
    bench.run(["retention", "plan", "--json"]).arg("--out").arg(plan_file(bench)).run()
}

fn run_plan(bench: &Bench) -> Outcome {
    bench.run(["retention", "run", "--confirm", "bucket", "--json"]).arg("--plan").arg(plan_file(bench)).run()
}

fn run(bench: &Bench) -> Invocation {
    bench.run(["retention", "run", "--confirm", "bucket", "--json"])
}

fn counts(outcome: &Outcome) -> [u64; 4] {
    let counts = &outcome.json()["counts"];
    ["deleted", "missing", "failed", "unknown"].map(|name| counts[name].as_u64().expect("a count"))
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one.as_str().or(one["version"].as_str()).expect("a text").to_owned()).collect()
}

fn version_keys(app: &App<'_>, version: &str) -> Vec<String> {
    let mut keys = vec![
        app.key(&format!("artifacts/{}", sha256(&format!("artifact of {version}")))),
        app.key(&format!("releases/{version}/manifest.json")),
        app.key(&format!("releases/{version}/notes.txt")),
    ];
    keys.sort();
    keys
}

/// Case 41: neither preview writes anything, and the run deletes exactly what they showed.
#[test]
fn the_previews_write_nothing_and_the_run_deletes_what_they_showed() {
    let bench = Bench::live();
    let shop = bench.shop();
    let before = bench.deployment.everything();
    let explained = bench.run(["retention", "explain", "--json"]).run();
    let planned = plan(&bench);
    assert_eq!((explained.code, planned.code), (0, 0), "{planned}");
    assert_eq!(bench.deployment.everything(), before);
    assert_eq!(planned.json()["plan"]["objects"], 9);
    let mode = fs::metadata(plan_file(&bench)).expect("a plan").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = bench.run(["retention", "plan"]).arg("--out").arg(plan_file(&bench)).run();
    assert_eq!(again.code, 2, "a plan is never overwritten: {again}");

    let before = keys(&bench);
    let ran = run_plan(&bench);
    assert_eq!((ran.code, counts(&ran)), (0, [9, 0, 0, 0]), "{ran}");
    assert_eq!(texts(&ran.json()["apps"][0]["deleted"]), ["v3", "v2", "v1"]);
    let mut expected: Vec<String> = ["v1", "v2", "v3"].iter().flat_map(|version| version_keys(&shop, version)).collect();
    expected.sort();
    assert_eq!(gone(&bench, &before), expected);
    // The receipt names each object, and is where the answer says.
    let receipt = ran.json()["receipt"].as_str().expect("a receipt").to_owned();
    let receipt: Value =
        serde_json::from_slice(&fs::read(bench.deployment.file(&receipt)).expect("it is there")).expect("JSON");
    assert_eq!(receipt["apps"][0]["objects"].as_array().map(Vec::len), Some(9));
    assert_eq!(receipt["counts"]["deleted"], 9);
    // A plan is used once.
    let twice = run_plan(&bench);
    assert_eq!(twice.code, 7, "{twice}");
    assert!(twice.stderr.contains("used already"), "{twice}");
    // And nothing is owed any more.
    let rest = run(&bench).run();
    assert_eq!((rest.code, counts(&rest), rest.json()["receipt"].is_null()), (0, [0; 4], true), "{rest}");
    let said = bench.run(["retention", "run", "--confirm", "bucket"]).run();
    let nothing =
        "no version was eligible, and nothing was left of an earlier run\nobjects: 0 deleted, 0 missing, 0 failed, 0 unknown\n";
    assert_eq!((said.code, said.stdout.as_str()), (0, nothing), "{said}");
}

#[test]
fn without_consent_nothing_goes() {
    let bench = Bench::live();
    bench.shop();
    let before = bench.deployment.everything();
    for (args, code) in [(&["retention", "run"][..], 6), (&["retention", "run", "--confirm", "dep"], 6)] {
        let outcome = bench.run(args.iter().copied()).run();
        assert_eq!(outcome.code, code, "{outcome}");
        assert!(outcome.stderr.contains("to be deleted from"), "it is shown first: {outcome}");
    }
    assert_eq!(bench.deployment.everything(), before);
}

#[test]
fn an_empty_plan_is_used_once_too() {
    let bench = Bench::live();
    let shop = bench.shop();
    drop(shop.keep(9));
    assert_eq!(plan(&bench).code, 0);
    let first = run_plan(&bench);
    assert_eq!((first.code, counts(&first)), (0, [0; 4]), "{first}");
    let second = run_plan(&bench);
    assert_eq!(second.code, 7, "{second}");
}

#[test]
fn a_plan_expires_and_is_for_one_store() {
    let bench = Bench::live();
    bench.shop();
    assert_eq!(plan(&bench).code, 0);
    let text = fs::read_to_string(plan_file(&bench)).expect("a plan");
    let before = bench.deployment.everything();
    // Anything but a whole plan is none.
    let lines: Vec<&str> = text.lines().collect();
    for (bad, code) in [
        (lines[..lines.len() - 1].join("\n"), 2),
        (text.replace("retention-plan/1", "retention-plan/9"), 2),
        (text.replace("releases/v1/notes.txt", "releases/v5/notes.txt"), 2),
        (text.replace("\"expires_at\":\"2", "\"expires_at\":\"1"), 7),
        (text.replace("/bucket\",\"name\"", "/elsewhere\",\"name\""), 5),
        ("{}".to_owned(), 2),
    ] {
        assert_ne!(bad, text);
        fs::write(plan_file(&bench), &bad).expect("a plan");
        let outcome = run_plan(&bench);
        assert_eq!(outcome.code, code, "{outcome}");
    }
    // An hour after it was made it is over, whatever it says.
    let created = text.find("\"created_at\":\"").expect("a time") + "\"created_at\":\"".len();
    let mut old = text.clone();
    old.replace_range(created..created + 4, "2020");
    fs::write(plan_file(&bench), &old).expect("a plan");
    assert_eq!(run_plan(&bench).code, 7);
    assert_eq!(bench.deployment.everything(), before);
    fs::write(plan_file(&bench), &text).expect("a plan");
    assert_eq!(run_plan(&bench).code, 0);
}

/// Every class of input, changed between the plan and its run.
#[test]
fn a_plan_that_the_world_moved_away_from_deletes_nothing() {
    type Change = fn(&Bench, &App<'_>);
    let changes: [(&str, Change); 12] = [
        ("registry", |bench, _| bench.snapshot("edge-a1", &[route("shop-1.example", "shop", "v5", "v1", "")])),
        ("generation", |bench, _| {
            let body = crate::common::deployment::registry_of(&[route("shop-1.example", "shop", "v5", "", "")]);
            bench.deployment.generation("edge-a1", &bench.ago(0), &body);
        }),
        ("a new box", |bench, _| bench.boxed("edge-z9", &[])),
        ("local registry", |bench, _| {
            fs::create_dir_all(bench.deployment.beside("data")).expect("a directory");
            carlosctl::demo::registry::build(&bench.deployment.beside("data/registry.db"), &[]).expect("a registry");
        }),
        ("report, by what it decides", |bench, _| {
            bench.report("edge-a1", 0, [("shop-1.example", "shop", vec!["v5", "v2"], true)]);
        }),
        ("report, that refuses", |bench, _| {
            bench.report("edge-a1", 7, [("shop-1.example", "shop", vec!["v5"], true)]);
        }),
        ("retention record", |bench, shop| bench.put(&shop.key("retention.json"), "{\"keep\":2 }")),
        ("pipeline", |bench, shop| {
            bench.put(&shop.key("pipeline.json"), "{\"channels\":[{\"name\":\"edge\",\"bake\":\"1h\"}]}");
        }),
        ("record", |_, shop| _ = shop.record("shop-1.example", "")),
        ("pointer", |_, shop| _ = shop.pointer("edge", "v5", &[])),
        ("tag", |_, shop| _ = shop.tag("t", "v5")),
        ("release", |_, shop| _ = shop.release("v6", 100)),
    ];
    for (what, change) in changes {
        let bench = Bench::live();
        let shop = bench.shop();
        assert_eq!(plan(&bench).code, 0, "{what}");
        change(&bench, &shop);
        let before = bench.deployment.everything();
        let outcome = run_plan(&bench);
        assert_eq!(outcome.code, 7, "{what}: {outcome}");
        assert!(outcome.stderr.contains("changed: "), "{what}: {outcome}");
        assert_eq!(bench.deployment.everything(), before, "{what}: not even the nonce");
    }
}

#[test]
fn an_object_of_a_version_that_changed_or_came_is_drift() {
    for rest in ["releases/v1/notes.txt", "releases/v1/more.txt"] {
        let bench = Bench::live();
        let shop = bench.shop();
        assert_eq!(plan(&bench).code, 0);
        bench.put(&shop.key(rest), "other");
        assert_eq!(run_plan(&bench).code, 7, "{rest}");
    }
    let bench = Bench::live();
    let shop = bench.shop();
    assert_eq!(plan(&bench).code, 0);
    bench.deployment.remove(&shop.key(&format!("artifacts/{}", sha256("artifact of v1"))));
    assert_eq!(run_plan(&bench).code, 7, "an artifact that is gone");
}

/// Reports are rewritten all the time: that alone changes nothing.
#[test]
fn a_report_that_was_only_rewritten_is_no_drift() {
    let bench = Bench::live();
    bench.shop();
    bench.report("edge-a1", 1, [("shop-1.example", "shop", vec!["v4", "v5"], true)]);
    assert_eq!(plan(&bench).code, 0);
    bench.report("edge-a1", 0, [("shop-1.example", "shop", vec!["v5", "v4"], true)]);
    let outcome = run_plan(&bench);
    assert_eq!(outcome.code, 0, "{outcome}");
}

/// `v1` is not `v10`, and `shop` is not `shop-admin`.
#[test]
fn names_that_begin_alike_are_not_touched() {
    let bench = Bench::live();
    let shop = bench.app("shop").keep(1);
    shop.release("v1", 300).release("v10", 200).release("v1.0", 250);
    shop.tag("t", "v1.0");
    let admin = bench.app("shop-admin").keep(1);
    admin.release("v1", 400).release("v2", 300).tag("t", "v1");
    let routes = [route("h1", "shop", "v10", "", ""), route("h2", "shop-admin", "v2", "", "")];
    bench.boxed("edge-a1", &routes);
    let before = keys(&bench);
    let outcome = run(&bench).arg("ops/shop").run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(gone(&bench, &before), version_keys(&shop, "v1"));
}

/// Case 7: the version with the space goes, and the one with the plus stays.
#[test]
fn odd_names_go_exactly() {
    let bench = Bench::live();
    let shop = bench.app("shop").keep(1);
    for (version, hours) in
        [("1.2.3+build.7", 500), ("1.2.3 build.7", 400), ("100%", 300), ("a%2Bb", 250), ("한글", 200), ("v9", 100)]
    {
        shop.release(version, hours);
    }
    shop.record("shop+eu.example", "1.2.3+build.7").tag("t", "100%").tag("u", "한글").tag("w", "a%2Bb");
    bench.boxed("edge-a1", &[route("shop+eu.example", "shop", "v9", "", "")]);
    let before = keys(&bench);
    assert_eq!(run(&bench).run().code, 0);
    assert_eq!(gone(&bench, &before), version_keys(&shop, "1.2.3 build.7"));
}

/// Case 49: content that another version needs stays, and goes with the last that needs it.
#[test]
fn shared_artifacts_survive() {
    let bench = Bench::live();
    let shop = bench.app("shop").keep(1);
    shop.release_of("v1", 500, &["shared", "old", "twice"]);
    shop.release_of("v2", 400, &["twice", "older"]);
    shop.release_of("v3", 300, &["shared", "new"]);
    bench.boxed("edge-a1", &[route("h1", "shop", "v3", "", "")]);
    let before = keys(&bench);
    let outcome = run(&bench).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let artifact = |content: &str| shop.key(&format!("artifacts/{}", sha256(content)));
    let gone = gone(&bench, &before);
    for content in ["old", "twice", "older"] {
        assert!(gone.contains(&artifact(content)), "{content}");
    }
    for content in ["shared", "new"] {
        assert!(!gone.contains(&artifact(content)), "{content}");
    }
    assert_eq!(gone.len(), 7);
}

/// A release that is in the making may be about to name an artifact that is already there.
#[test]
fn artifacts_stay_while_a_release_is_in_the_making() {
    let bench = Bench::live();
    let shop = bench.shop();
    shop.incomplete("v6", 1);
    let before = keys(&bench);
    let outcome = run(&bench).run();
    assert_eq!((outcome.code, counts(&outcome)), (0, [6, 0, 0, 0]), "{outcome}");
    assert!(gone(&bench, &before).iter().all(|key| key.contains("/releases/")));
    // A day later it is a leftover, and goes itself.
    shop.incomplete("v6", 25);
    let outcome = run(&bench).run();
    assert_eq!((outcome.code, counts(&outcome)), (0, [1, 0, 0, 0]), "{outcome}");
    assert_eq!(texts(&outcome.json()["apps"][0]["deleted"]), ["v6"]);
}

/// Twenty versions one by one, the number of all, and of the named apps alone.
#[test]
fn what_is_about_to_go_is_shown_before_consent() {
    let bench = Bench::live();
    bench.shop();
    let zoo = bench.app("zoo").keep(2);
    for version in 1..=22 {
        zoo.release(&format!("w{version:02}"), 300 - version);
    }
    bench.app("new").keep(1).release("n1", 9);
    bench.boxed("edge-b2", &[route("o1", "zoo", "w22", "", ""), route("o2", "new", "n1", "", "")]);
    let shown = |app: Option<&str>| {
        let outcome = bench.run(["retention", "run"].into_iter().chain(app)).run();
        assert_eq!(outcome.code, 6, "{outcome}");
        let rows = |app: &str| outcome.stderr.lines().filter(|line| line.trim_start().starts_with(app)).count();
        let number = outcome.stderr.split("to be deleted from ").nth(1).and_then(|said| said.split(": ").nth(1));
        let number = number.and_then(|said| said.split(" (").next()).unwrap_or_default().to_owned();
        let more = outcome.stderr.lines().find(|line| line.starts_with("and ")).unwrap_or_default().to_owned();
        (number, rows("ops/shop "), rows("ops/zoo "), more)
    };
    let more = "and 3 more; all of an app: carlosctl retention explain ACCT/APP";
    assert_eq!(shown(None), ("23 versions of 2 apps".to_owned(), 3, 17, more.to_owned()));
    assert_eq!(shown(Some("ops/shop")), ("3 versions of 1 app".to_owned(), 3, 0, String::new()));
    assert_eq!(shown(Some("ops/zoo")), ("20 versions of 1 app".to_owned(), 0, 20, String::new()));
}

#[test]
fn a_refused_app_does_not_stop_the_others() {
    let bench = Bench::live();
    let shop = bench.shop();
    let other = bench.app("zoo").keep(1);
    other.release("w1", 300).release("w2", 200);
    bench.boxed("edge-b2", &[route("o1", "zoo", "w2", "", "")]);
    bench.put(&shop.key("tags/t.json"), "{");
    let before = keys(&bench);
    let outcome = run(&bench).run();
    assert_eq!(outcome.code, 3, "{outcome}");
    assert!(outcome.stderr.contains("blocking tag-unreadable: apps/ops/shop/tags/t.json: "), "{outcome}");
    assert_eq!(gone(&bench, &before), version_keys(&other, "w1"));
    let alone = run(&bench).arg("ops/shop").run();
    assert_eq!((alone.code, alone.json()["receipt"].is_null()), (4, true), "{alone}");
    assert_eq!(alone.json()["apps"][0]["refusals"][0]["code"], "tag-unreadable");
    bench.deployment.remove(&shop.key("tags/t.json"));
    let cured = run(&bench).run();
    assert_eq!((cured.code, counts(&cured)), (0, [9, 0, 0, 0]), "{cured}");
}
