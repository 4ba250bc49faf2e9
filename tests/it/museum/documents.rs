//! Kind: a document or a key in which nothing is read as anything, or anything as nothing.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::common::apps::{Bench, release_key, route};
use crate::retention_explain::{refusals, verdicts};

/// Row 20: Go writes `null` for a map or a list without anything in it; a strict reader failed on it, and a lax one took a
/// report that says nothing for one that says "nothing to protect".
#[test]
fn null_is_nothing_said_and_no_fault() {
    let bench = Bench::fixed();
    bench.shop();
    bench.app("zoo").keep(1).release("w1", 900).release("w2", 800).record("h2.example", "");
    bench.snapshot("edge-b2", &[route("h2.example", "zoo", "w2", "", "")]);
    let head = r#""generated_at":"2026-11-30T11:00:00Z""#;
    for metrics in [r#","metrics":{"build_states":null}"#, r#","metrics":null"#, ""] {
        bench.put("status/boxes/edge-b2.json", format!(r#"{{"label":"edge-b2",{head}{metrics}}}"#));
        let outcome = bench.explain(["--json"]).run();
        assert_eq!(outcome.code, 4, "{outcome}");
        assert_eq!(
            refusals(&outcome.json()),
            ["zoo host-unreported apps/ops/zoo/instances/h2.example.json"],
            "{metrics}: {outcome}"
        );
        assert!(verdicts(&outcome.json()).contains(&"shop.v1: eligible".to_owned()), "{outcome}");
    }
    let states = r#"{"h2.example":{"account":"ops","app":"zoo","builds":null,"complete":true}}"#;
    bench.put("status/boxes/edge-b2.json", format!(r#"{{"label":"edge-b2",{head},"metrics":{{"build_states":{states}}}}}"#));
    let outcome = bench.explain(["--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(verdicts(&outcome.json()).contains(&"zoo.w1: eligible".to_owned()), "{outcome}");
}

/// Row 23: with a key of zeros, a point of small order or half a key, some libraries let any signature pass, and a planted
/// pointer set a version free. The same key in another spelling is the same key.
#[test]
fn a_key_that_lets_anything_pass_lets_nothing_go() {
    let bench = Bench::fixed();
    let shop = bench.shop();
    shop.pointer("stable", "v5", &["v4"]);
    let key = STANDARD.decode(release_key().public_text()).expect("base64");
    let mut identity = [0; 32];
    identity[0] = 1;
    let explain = |text: &str| bench.explain(["--json"]).env("CARLOS_RELEASE_PUBKEY", text).run();
    let weak = "the key is not a point that only one private key belongs to";
    let other = carlosctl::platform::pointer::ReleaseKey::from_seed(&[9; 32]).public_text();
    for (bad, because) in [
        (STANDARD.encode(identity).as_str(), weak),
        (&STANDARD.encode([0; 32]), weak),
        (&STANDARD.encode(&key[..31]), "the key has 31 bytes, not 32"),
        ("no key", "the key is not base64"),
        (&other, "does not verify"),
    ] {
        let outcome = explain(bad);
        assert_ne!(outcome.code, 0, "{bad}: {outcome}");
        assert!(verdicts(&outcome.json()).iter().all(|verdict| !verdict.ends_with(": eligible")), "{bad}: {outcome}");
        assert!(outcome.stdout.contains(because), "{bad}: {outcome}");
    }
    for good in [format!("{}\n", STANDARD.encode(&key)), URL_SAFE_NO_PAD.encode(&key)] {
        let outcome = explain(&good);
        assert_eq!(outcome.code, 0, "{good:?}: {outcome}");
        assert!(verdicts(&outcome.json()).contains(&"shop.v1: eligible".to_owned()), "{outcome}");
    }
}
