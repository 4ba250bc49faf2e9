//! `snapshot hold`: the evidence is frozen first, and released only by name.

use crate::common::deployment::{Deployment, registry};
use crate::common::{Outcome, carlosctl};

fn hold(deployment: &Deployment) -> Outcome {
    carlosctl(["snapshot", "hold", "--box", "edge-a1", "--json"]).dir(&deployment.dir()).run()
}

fn clobbered() -> Deployment {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(0, ""));
    deployment
}

#[test]
fn a_hold_copies_everything_seals_it_and_leaves_the_snapshots_alone() {
    let deployment = clobbered();
    let before = deployment.everything();
    let outcome = hold(&deployment);
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    let stamp = document["hold"].as_str().expect("a stamp");
    let objects = document["objects"].as_array().expect("objects");
    assert_eq!(objects.len(), 10, "current, sidecar and eight generations");
    for object in objects {
        let read = |key: &serde_json::Value| std::fs::read(deployment.file(key.as_str().expect("a key"))).expect("an object");
        assert_eq!(read(&object["key"]), read(&object["from"]));
        assert_eq!(object["sha256"].as_str().expect("a digest").len(), 64);
    }
    let after = deployment.everything();
    assert!(before.iter().all(|object| after.contains(object)));
    assert!(after.iter().any(|(key, _)| *key == format!("control/carlosctl/holds/edge-a1/{stamp}/hold.json")));
}

#[test]
fn holding_the_same_twice_is_holding_it_once() {
    let deployment = clobbered();
    let first = hold(&deployment).json();
    let everything = deployment.everything();
    let second = hold(&deployment);
    assert_eq!(second.code, 0, "{second}");
    assert_eq!(second.json()["hold"], first["hold"]);
    assert!(second.stderr.contains("nothing has changed since hold"), "{second}");
    assert_eq!(deployment.everything(), everything);
}

#[test]
fn a_held_snapshot_outlives_the_pruning_and_is_chosen_by_its_hold() {
    let deployment = clobbered();
    let held = hold(&deployment).json();
    for minute in 7..20 {
        deployment.pass("edge-a1", &format!("2026-11-30T11:{minute:02}:00Z"), &registry(0, ""));
    }
    let at = format!("hold:{}/20261130T100000Z", held["hold"].as_str().expect("a stamp"));
    let outcome = carlosctl(["snapshot", "show", "--box", "edge-a1", "--at", &at, "--json"]).dir(&deployment.dir()).run();
    assert_eq!(outcome.json()["rows"]["routes"], 200, "{outcome}");
    let list = carlosctl(["snapshot", "hold", "list"]).dir(&deployment.dir()).run();
    assert!(list.stdout.contains("sealed"), "{list}");
}

#[test]
fn a_hold_is_released_only_with_the_label_typed() {
    let deployment = clobbered();
    let document = hold(&deployment).json();
    let stamp = document["hold"].as_str().expect("a stamp");
    let everything = deployment.everything();
    let release = |confirm: &[&str]| {
        let args = ["snapshot", "hold", "release", "--box", "edge-a1", stamp];
        carlosctl(args.iter().copied().chain(confirm.iter().copied())).dir(&deployment.dir()).run()
    };
    let asked = release(&[]);
    assert_eq!(asked.code, 6, "{asked}");
    assert!(asked.stderr.contains("--confirm edge-a1"), "{asked}");
    assert_eq!(release(&["--confirm", "y"]).code, 6);
    assert_eq!(deployment.everything(), everything);

    let released = release(&["--confirm", "edge-a1"]);
    assert_eq!(released.code, 0, "{released}");
    assert!(!deployment.everything().iter().any(|(key, _)| key.starts_with("control/carlosctl/holds/")));
    assert_eq!(release(&["--confirm", "edge-a1"]).code, 10);
}

#[test]
fn a_hold_that_was_cut_short_is_said_to_be_so() {
    let deployment = clobbered();
    let document = hold(&deployment).json();
    let stamp = document["hold"].as_str().expect("a stamp");
    deployment.remove(&format!("control/carlosctl/holds/edge-a1/{stamp}/hold.json"));
    let list = carlosctl(["snapshot", "list", "--box", "edge-a1"]).dir(&deployment.dir()).run();
    assert!(list.stdout.contains("hold-incomplete"), "{list}");
    let again = hold(&deployment);
    assert!([0, 7].contains(&again.code), "{again}");
}
