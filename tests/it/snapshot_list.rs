//! `snapshot list`: each state is built byte for byte as its cause leaves it.

use crate::common::deployment::{Deployment, registry};
use crate::common::{Outcome, carlosctl};

const AS_OF: &str = "2026-11-30T12:00:00Z";

fn list(deployment: &Deployment) -> Outcome {
    carlosctl(["snapshot", "list", "--as-of", AS_OF]).dir(&deployment.dir()).run()
}

fn list_json(deployment: &Deployment) -> serde_json::Value {
    let outcome = carlosctl(["snapshot", "list", "--json", "--as-of", AS_OF]).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    outcome.json()
}

/// The codes found at one box, or at the document when `label` is empty.
fn codes(document: &serde_json::Value, label: &str) -> Vec<String> {
    let of = |findings: &serde_json::Value| {
        let findings = findings.as_array().expect("findings");
        findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect::<Vec<_>>()
    };
    if label.is_empty() {
        return of(&document["findings"]);
    }
    of(&box_of(document, label)["findings"])
}

fn box_of<'d>(document: &'d serde_json::Value, label: &str) -> &'d serde_json::Value {
    let boxes = document["boxes"].as_array().expect("boxes");
    boxes.iter().find(|row| row["box"] == label).unwrap_or_else(|| panic!("no box {label} in {document}"))
}

#[test]
fn a_healthy_box_is_good_and_says_how_old_its_last_good_snapshot_is() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    insta::assert_snapshot!(list(&deployment), @"
    BOX      LAST GOOD  AGE  SIZE      GENERATIONS  STATE
    edge-a1  current    2 h  84.0 KiB  8            good

    edge-a1
      STAMP             AGE  SIZE                 FLAGS
      current           2 h  84.0 KiB ##########  sidecar ok
      20261130T100000Z  2 h  84.0 KiB ##########  = current
      20261130T090000Z  3 h  84.0 KiB ##########  -
      20261130T080000Z  4 h  84.0 KiB ##########  -
      20261130T070000Z  5 h  84.0 KiB ##########  -
      20261130T060000Z  6 h  84.0 KiB ##########  -
      20261130T050000Z  7 h  84.0 KiB ##########  -
      20261130T040000Z  8 h  80.0 KiB ##########  -
      20261130T030000Z  9 h  80.0 KiB ##########  -
    ------- stderr -------
    [exit 0]
    ");
}

#[test]
fn the_same_bucket_and_instant_give_the_same_bytes() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.healthy_box("edge-b2", "2026-11-30T11:00:00Z");
    assert_eq!(list_json(&deployment), list_json(&deployment));
}

#[test]
fn an_empty_store_has_no_boxes_and_is_no_fault() {
    let deployment = Deployment::new();
    let outcome = list(&deployment);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.starts_with("no box has a snapshot in directory"), "{outcome}");
}

#[test]
fn a_clobbering_standby_is_seen_by_the_collapse_with_the_countdown_to_the_eviction() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(0, ""));
    deployment.pass("edge-a1", "2026-11-30T11:07:00Z", &registry(1, "v1"));
    let outcome = list(&deployment);
    insta::assert_snapshot!(outcome, @"
    BOX      LAST GOOD         AGE  SIZE      GENERATIONS  STATE
    edge-a1  20261130T100000Z  2 h  84.0 KiB  8            suspect: size-collapsed

    edge-a1
      STAMP             AGE     SIZE                 FLAGS
      current           53 min  32.0 KiB ####        sidecar ok
      20261130T110700Z  53 min  32.0 KiB ####        = current size-collapsed
      20261130T110100Z  59 min  32.0 KiB ####        size-collapsed
      20261130T100000Z  2 h     84.0 KiB ##########  -
      20261130T090000Z  3 h     84.0 KiB ##########  -
      20261130T080000Z  4 h     84.0 KiB ##########  -
      20261130T070000Z  5 h     84.0 KiB ##########  -
      20261130T060000Z  6 h     84.0 KiB ##########  -
      20261130T050000Z  7 h     84.0 KiB ##########  -
    warning size-collapsed: edge-a1: current shrank from 84.0 KiB to 32.0 KiB, probably because a standby that was not restored wrote over it; last good is 20261130T100000Z, which edge-a1 deletes when it has written 6 more snapshots, in 25 min at the soonest
      hint: stop the agent that writes as edge-a1, but first hold what there is: carlosctl snapshot hold --box edge-a1
    ------- stderr -------
    [exit 0]
    ");
    let document = list_json(&deployment);
    assert_eq!(box_of(&document, "edge-a1")["last_good"], "20261130T100000Z");
    assert_eq!(box_of(&document, "edge-a1")["state"], "suspect");
}

#[test]
fn the_countdown_is_the_number_of_passes_after_which_the_agent_really_has_pruned_it() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T03:00:00Z");
    let good = deployment.file("control/registry-snapshots/edge-a1/20261130T030000Z.db");
    let mut passes_left = None;
    for pass in 1..20 {
        deployment.pass("edge-a1", &format!("2026-11-30T04:{pass:02}:00Z"), &registry(0, ""));
        if !good.exists() {
            assert_eq!(passes_left, Some(1), "the pass before said that the next one prunes it");
            return;
        }
        let document = list_json(&deployment);
        let finding = &box_of(&document, "edge-a1")["findings"][0];
        let because = finding["because"].as_str().expect("a reason");
        let said: u32 = because
            .split("deletes when it has written ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .map(|number| number.parse().expect("a number"))
            .or_else(|| because.ends_with("deletes when it writes its next snapshot, at any moment").then_some(1))
            .unwrap_or_else(|| panic!("no countdown in {because}"));
        if let Some(before) = passes_left {
            assert_eq!(said, before - 1, "{because}");
        }
        passes_left = Some(said);
    }
    panic!("the last good generation was never pruned");
}

#[test]
fn torn_pairs_are_torn_and_not_corrupt() {
    let (old, new) = (registry(200, "v5"), registry(230, "v6"));
    // Cut after the generation.
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T10:00:00Z", &old);
    deployment.generation("edge-a1", "2026-11-30T10:06:00Z", &new);
    let document = list_json(&deployment);
    assert_eq!(codes(&document, "edge-a1"), ["torn-pair"]);
    assert_eq!(box_of(&document, "edge-a1")["state"], "suspect");
    // Cut between current and sidecar.
    deployment.put("control/registry-snapshot/edge-a1.db", &new, "2026-11-30T10:06:01Z");
    let document = list_json(&deployment);
    assert_eq!(codes(&document, "edge-a1"), ["torn-pair"]);
    let because = box_of(&document, "edge-a1")["findings"][0]["because"].as_str().expect("a reason").to_owned();
    assert!(because.contains("current equals generation 20261130T100600Z"), "{because}");
    // The next pass heals it.
    deployment.sidecar("edge-a1", "2026-11-30T10:06:00Z", new.len());
    assert!(codes(&list_json(&deployment), "edge-a1").is_empty());
}

#[test]
fn a_torn_pair_of_one_size_is_seen_by_the_order_of_the_writes() {
    let (old, new) = (registry(200, "v5"), registry(200, "v6"));
    assert_eq!(old.len(), new.len());
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T10:00:00Z", &old);
    deployment.put("control/registry-snapshot/edge-a1.db", &new, "2026-11-30T10:06:01Z");
    assert_eq!(codes(&list_json(&deployment), "edge-a1"), ["torn-pair"]);
}

#[test]
fn what_is_missing_unreadable_or_of_another_box_has_its_own_name() {
    let body = registry(200, "v5");
    let when = "2026-11-30T10:00:00Z";
    let with_sidecar = |sidecar: Option<&str>| {
        let deployment = Deployment::new();
        deployment.pass("edge-a1", when, &body);
        match sidecar {
            Some(text) => deployment.put(
                "control/registry-snapshot/edge-a1.json",
                text.replace("BYTES", &body.len().to_string()).as_bytes(),
                when,
            ),
            None => deployment.remove("control/registry-snapshot/edge-a1.json"),
        }
        list_json(&deployment)
    };
    let good = r#"{"v":1,"box":"edge-a1","fingerprint":"ab12","created_at":"2026-11-30T10:00:00Z","bytes":BYTES}"#;
    for (sidecar, state, status, code) in [
        (None, "suspect", "missing", "sidecar-missing"),
        (Some(good.replace("edge-a1", "edge-b2")), "bad", "mismatch", "label-mismatch"),
        (Some(good.replace("\"v\":1", "\"v\":2")), "bad", "unreadable", "sidecar-version"),
        (Some("{".to_owned()), "bad", "unreadable", "sidecar-unreadable"),
        (Some(good.replace("2026-11-30T10:00:00Z", "0001-01-01T00:00:00Z")), "suspect", "ok", "sidecar-time-unknown"),
    ] {
        let document = with_sidecar(sidecar.as_deref());
        assert_eq!(codes(&document, "edge-a1"), [code]);
        let row = box_of(&document, "edge-a1");
        assert_eq!((&row["state"], &row["sidecar"]["status"]), (&state.into(), &status.into()), "{code}");
    }
    let deployment = Deployment::new();
    deployment.pass("edge-a1", when, &body);
    deployment.remove("control/registry-snapshot/edge-a1.db");
    let document = list_json(&deployment);
    assert_eq!(codes(&document, "edge-a1"), ["current-missing"]);
    assert_eq!(box_of(&document, "edge-a1")["last_good"], "20261130T100000Z");
    assert_eq!(box_of(&document, "edge-a1")["current"], serde_json::Value::Null);
}

#[test]
fn invalid_stamps_are_no_generations_and_stamps_ahead_are_flagged_and_never_a_default() {
    let deployment = Deployment::new();
    let body = registry(200, "v5");
    deployment.pass("edge-a1", "2026-11-15T00:00:00Z", &body);
    // An old generation that was uploaded again keeps its place in the order of stamps.
    deployment.put("control/registry-snapshots/edge-a1/20261101T000000Z.db", &registry(190, "v4"), "2026-11-30T11:00:00Z");
    for name in ["20260230T000000Z.db", "20261130T101160Z.db", "zzz.db", "20261115T000000Z.db.tmp"] {
        deployment.put(&format!("control/registry-snapshots/edge-a1/{name}"), &body, "2026-11-15T00:00:00Z");
    }
    deployment.put("control/registry-snapshots/edge-a1/99991231T235959Z.db", &body, "2026-11-15T00:00:00Z");
    let document = list_json(&deployment);
    let row = box_of(&document, "edge-a1");
    let stamps: Vec<&str> =
        row["generations"].as_array().expect("generations").iter().map(|g| g["stamp"].as_str().expect("a stamp")).collect();
    assert_eq!(stamps, ["99991231T235959Z", "20261115T000000Z", "20261101T000000Z"]);
    assert_eq!(row["generations"][0]["flags"], serde_json::json!(["stamp-ahead"]));
    assert_eq!(row["last_good"], "current");
    let codes = codes(&document, "edge-a1");
    assert_eq!(codes.iter().filter(|code| *code == "not-a-generation").count(), 4, "{codes:?}");
    assert!(codes.contains(&"stamp-ahead".to_owned()), "{codes:?}");
    let chosen =
        carlosctl(["snapshot", "show", "--box", "edge-a1", "--at", "2026-11-16T00:00:00Z", "--json", "--as-of", AS_OF])
            .dir(&deployment.dir())
            .run();
    assert_eq!(chosen.json()["at"], "current", "{chosen}");
}

#[test]
fn more_than_eight_generations_are_a_symptom() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.generation("edge-a1", "2026-11-30T02:30:00Z", &registry(180, "v5"));
    assert_eq!(codes(&list_json(&deployment), "edge-a1"), ["too-many-generations"]);
}

#[test]
fn boxes_are_told_apart_by_whole_names_and_legacy_keys_are_no_box() {
    let deployment = Deployment::new();
    let body = registry(20, "v5");
    for label in ["edge-1", "edge-10", "edge-1.db"] {
        deployment.pass(label, "2026-11-30T10:00:00Z", &body);
    }
    deployment.put("control/registry-snapshot.db", &body, "2026-01-01T00:00:00Z");
    deployment.put("control/registry-snapshot.json", b"{}", "2026-01-01T00:00:00Z");
    let document = list_json(&deployment);
    let labels: Vec<&str> =
        document["boxes"].as_array().expect("boxes").iter().map(|row| row["box"].as_str().expect("a label")).collect();
    assert_eq!(labels, ["edge-1", "edge-1.db", "edge-10"]);
    assert_eq!(codes(&document, ""), ["legacy-snapshot"]);
    assert_eq!(document["legacy"].as_array().expect("legacy").len(), 2);

    let one =
        carlosctl(["snapshot", "list", "--box", "edge-1", "--json", "--as-of", AS_OF]).dir(&deployment.dir()).run().json();
    let boxes = one["boxes"].as_array().expect("boxes");
    assert_eq!(boxes.len(), 1);
    assert_eq!(boxes[0]["generations"].as_array().expect("generations").len(), 1);
}

#[test]
fn an_unknown_box_is_not_found_and_the_near_one_is_named() {
    let deployment = Deployment::new();
    deployment.pass("edge-a1", "2026-11-30T10:00:00Z", &registry(20, "v5"));
    let outcome = carlosctl(["snapshot", "list", "--box", "edge-a2"]).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 10, "{outcome}");
    assert!(outcome.stderr.contains("did you mean edge-a1?"), "{outcome}");
    let outcome = carlosctl(["snapshot", "list", "--box", "../x"]).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 2, "{outcome}");
}

#[test]
fn hostile_names_never_reach_the_terminal_and_json_keeps_them() {
    let deployment = Deployment::new();
    let body = registry(20, "v5");
    deployment.pass("edge-a1", "2026-11-30T10:00:00Z", &body);
    let sidecar = r#"{"v":1,"box":"edge-a1\u001b[2J\u001b]0;x\u0007","fingerprint":"ab12","created_at":"2026-11-30T10:00:00Z","bytes":BYTES}"#;
    deployment.put(
        "control/registry-snapshot/edge-a1.json",
        sidecar.replace("BYTES", &body.len().to_string()).as_bytes(),
        "2026-11-30T10:00:00Z",
    );
    deployment.put("control/registry-snapshot/bad\u{202e}name.db", &body, "2026-11-30T10:00:00Z");
    let outcome = list(&deployment);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!outcome.stdout.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{outcome:?}");
    assert!(outcome.stdout.contains("bad\\u{202e}name.db"), "{outcome}");
    let document = list_json(&deployment);
    assert_eq!(box_of(&document, "edge-a1")["sidecar"]["box"], "edge-a1\u{1b}[2J\u{1b}]0;x\u{7}");
    assert_eq!(document["unrecognized"][0]["key"], "control/registry-snapshot/bad\u{202e}name.db");
}

#[test]
fn data_at_risk_is_what_the_box_reported_after_its_last_good_snapshot() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.put("status/boxes/edge-a1.json", b"{}", "2026-11-30T11:30:00Z");
    let document = list_json(&deployment);
    assert_eq!(codes(&document, "edge-a1"), ["data-at-risk"]);
    assert_eq!(box_of(&document, "edge-a1")["state"], "good");
    assert_eq!(box_of(&document, "edge-a1")["reported_at"], "2026-11-30T11:30:00Z");
}

#[test]
fn the_box_that_fell_silent_is_seen_and_so_is_one_that_never_reported() {
    let deployment = Deployment::new();
    for (label, report) in
        [("edge-a1", Some("2026-11-30T03:00:00Z")), ("edge-b2", Some("2026-11-30T11:59:30Z")), ("edge-c3", None)]
    {
        deployment.healthy_box(label, "2026-11-30T10:00:00Z");
        if let Some(at) = report {
            deployment.put(&format!("status/boxes/{label}.json"), b"{}", at);
        }
    }
    let outcome = list(&deployment);
    assert_eq!(outcome.code, 0, "{outcome}");
    let table: Vec<&str> = outcome.stdout.lines().take(4).collect();
    insta::assert_snapshot!(table.join("\n"), @"
    BOX      LAST GOOD  AGE  SIZE      GENERATIONS  STATE  REPORTED
    edge-a1  current    2 h  84.0 KiB  8            good   9 h ago
    edge-b2  current    2 h  84.0 KiB  8            good   30 s ago
    edge-c3  current    2 h  84.0 KiB  8            good   never
    ");
}

#[test]
fn head_ends_quietly() {
    let deployment = Deployment::new();
    for number in 0..120 {
        deployment.pass(&format!("edge-{number}"), "2026-11-30T10:00:00Z", b"x");
    }
    let binary = env!("CARGO_BIN_EXE_carlosctl");
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{binary} snapshot list --dir '{}' | head -1; true", deployment.dir().display()))
        .output()
        .expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}
