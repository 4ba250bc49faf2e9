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

#[test]
fn the_copy_to_use_is_the_last_good_one_and_its_time_is_the_originals() {
    let deployment = clobbered();
    let run = |args: &[&str]| carlosctl(args.iter().copied()).dir(&deployment.dir()).env("CARLOS_BOX_LABEL", "edge-b2").run();
    let held = run(&["snapshot", "hold", "--box", "edge-a1"]);
    let stamp = held.stdout.lines().next().and_then(|line| line.split(' ').nth(1)).expect("a stamp").to_owned();
    let at = format!("hold:{stamp}/20261130T100000Z");
    assert!(held.stdout.ends_with(&format!("\nuse it: carlosctl restore --from-box edge-a1 --at {at}\n")), "{held}");
    assert_eq!(hold(&deployment).json()["at"], at);

    let registry = deployment.beside("registry.db").display().to_string();
    let preview = |at: &str| {
        run(&[
            "restore",
            "--from-box",
            "edge-a1",
            "--dry-run",
            "--registry",
            &registry,
            "--allow",
            "no-rows",
            "--allow",
            "rows-collapsed",
            "--allow",
            "still-writing",
            "--at",
            at,
        ])
    };
    let row = |outcome: &Outcome, name: &str| {
        let line = outcome.stderr.lines().find(|line| line.split("  ").next() == Some(name));
        line.unwrap_or_else(|| panic!("no {name} in {outcome}")).split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    let taken = stamp.parse::<carlosctl::platform::Stamp>().expect("a stamp").instant();
    for (at, of) in [(at, "2026-11-30T10:00:00Z"), (format!("hold:{stamp}"), "2026-11-30T11:01:00Z")] {
        let shown = preview(&at);
        assert_eq!((row(&shown, "of"), row(&shown, "held")), (of.to_owned(), taken.to_string()), "{at}: {shown}");
    }
    // What is no copy was not held; and a copy whose sidecar does not describe it is of no known time.
    assert!(!preview("20261130T100000Z").stderr.lines().any(|line| line.starts_with("held ")));
    deployment.remove(&format!("control/carlosctl/holds/edge-a1/{stamp}/current.json"));
    let shown = preview(&format!("hold:{stamp}"));
    assert_eq!(row(&shown, "of"), "-", "{shown}");

    let healthy = Deployment::new();
    healthy.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    let held = hold(&healthy).json();
    assert_eq!(held["at"], format!("hold:{}", held["hold"].as_str().expect("a stamp")));
}

#[test]
fn nobody_is_told_to_hold_what_is_held() {
    let deployment = clobbered();
    let run = |args: &[&str]| carlosctl(args.iter().copied()).dir(&deployment.dir()).run();
    let asks = "first hold what there is: carlosctl snapshot hold --box edge-a1";
    let says = || {
        let list = run(&["snapshot", "list", "--box", "edge-a1"]);
        let verify = run(&["snapshot", "verify", "--box", "edge-a1", "--all-generations"]);
        (list.stdout, verify.stdout)
    };
    let (list, verify) = says();
    assert!(list.contains(asks) && verify.contains(asks), "{list}{verify}");
    let stamp = hold(&deployment).json()["hold"].as_str().expect("a stamp").to_owned();
    let (list, verify) = says();
    let take = format!("carlosctl restore --from-box edge-a1 --at hold:{stamp}/20261130T100000Z\n");
    for said in [&list, &verify] {
        assert!(!said.contains("snapshot hold") && said.contains(&take) && said.contains(&format!("hold {stamp}")), "{said}");
    }
    // A hold that is not sealed, or lacks that one, holds nothing; nor does a copy of another size.
    let below = |name: &str| format!("control/carlosctl/holds/edge-a1/{stamp}/{name}");
    let copy = std::fs::read(deployment.file(&below("20261130T100000Z.db"))).expect("a copy");
    deployment.put(&below("20261130T100000Z.db"), &copy[..4096], "2026-11-30T12:00:00Z");
    assert!(says().0.contains(asks));
    deployment.put(&below("20261130T100000Z.db"), &copy, "2026-11-30T12:00:00Z");
    assert!(!says().0.contains(asks));
    deployment.remove(&below("hold.json"));
    assert!(says().0.contains(asks));
}
