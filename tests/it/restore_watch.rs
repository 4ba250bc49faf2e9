//! `restore watch`: what the agent publishes after the restore is the proof.

use std::fs;

use crate::common::deployment::registry;
use crate::common::{Outcome, carlosctl};
use crate::restore::{Standby, ago};

fn watch(standby: &Standby) -> Outcome {
    carlosctl(["restore", "watch", "--for", "1s", "--interval", "100ms", "--json", "--registry"])
        .arg(standby.registry())
        .dir(&standby.deployment.dir())
        .run()
}

fn restored(label: &[&str]) -> Standby {
    let standby = Standby::new();
    let all = ["restore", "--from-box", "edge-a1", "--confirm", "edge-a1"];
    let outcome = carlosctl(all.iter().chain(label).copied())
        .dir(&standby.deployment.dir())
        .arg("--registry")
        .arg(standby.registry())
        .env("PATH", "/usr/bin:/bin")
        .run();
    assert_eq!(outcome.code, 0, "{outcome}");
    standby
}

fn codes(outcome: &Outcome) -> Vec<String> {
    let document = outcome.json();
    let findings = document["findings"].as_array().expect("findings").iter();
    findings.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn under_a_label_of_its_own_the_first_snapshot_must_have_every_restored_route() {
    let standby = restored(&["--this-box", "edge-b2"]);
    let silent = watch(&standby);
    assert_eq!((silent.code, silent.json()["verdict"].as_str()), (4, Some("unknown")), "{silent}");

    // The agent writes a moment after the restore.
    let soon = ago(-1);
    standby.deployment.pass("edge-b2", &soon, &registry(199, "v0"));
    let short = watch(&standby);
    assert_eq!((short.code, codes(&short)), (4, vec!["restored-rows-missing".to_owned()]), "{short}");

    let whole = fs::read(standby.registry()).expect("a file");
    standby.deployment.pass("edge-b2", &ago(-2), &whole);
    let good = watch(&standby);
    assert_eq!((good.code, good.json()["verdict"].as_str()), (0, Some("good")), "{good}");
}

#[test]
fn under_the_same_label_silence_is_the_proof_and_a_new_generation_an_alarm() {
    let standby = restored(&["--this-box", "edge-a1", "--same-label"]);
    let silent = watch(&standby);
    assert_eq!((silent.code, silent.json()["verdict"].as_str()), (0, Some("good")), "{silent}");
    standby.deployment.pass("edge-a1", &ago(-1), &registry(200, "other"));
    let alarm = watch(&standby);
    assert_eq!((alarm.code, codes(&alarm)), (4, vec!["unexpected-snapshot".to_owned()]), "{alarm}");
}

#[test]
fn without_a_receipt_there_is_nothing_to_prove() {
    let standby = Standby::new();
    assert_eq!(watch(&standby).code, 10);
    let restored = restored(&["--this-box", "edge-b2"]);
    let undo = carlosctl(["restore", "undo", "--this-box", "edge-b2", "--confirm", "edge-b2", "--registry"])
        .arg(restored.registry())
        .dir(&restored.deployment.dir())
        .env("PATH", "/usr/bin:/bin")
        .run();
    assert_eq!(undo.code, 0, "{undo}");
    assert_eq!(watch(&restored).code, 10);
}

#[test]
fn a_clobber_from_end_to_end() {
    // The rebuilt box reused the label, and its agent ran before the restore.
    let standby = Standby::new();
    let run = |args: &[&str]| {
        carlosctl(args.iter().copied())
            .dir(&standby.deployment.dir())
            .arg("--registry")
            .arg(standby.registry())
            .env("PATH", "/usr/bin:/bin")
            .env("CARLOS_BOX_LABEL", "edge-a1")
            .run()
    };
    let pass = run(&["box", "snapshot"]);
    assert_eq!(pass.code, 0, "{pass}");
    let list = run(&["snapshot", "list", "--json"]).json();
    assert_eq!(list["boxes"][0]["state"], "suspect");
    assert_eq!(list["boxes"][0]["holds"].as_array().expect("holds").len(), 1, "our own box half held it first");
    let hold = run(&["snapshot", "hold", "--box", "edge-a1", "--json"]);
    assert_eq!(hold.code, 0, "{hold}");
    let same = ["restore", "--from-box", "edge-a1", "--same-label", "--confirm", "edge-a1"];
    let refused = run(&same);
    assert_eq!(refused.code, 5, "{refused}");
    let restored = run(&[&same[..], &["--at", "good", "--allow", "still-writing", "--json"]].concat());
    assert_eq!(restored.code, 0, "{restored}");
    assert_eq!(standby.versions(), ["v0"]);
    // The sidecar is the clobbering agent's, so the restored box has something to write, and that is the proof.
    let watch = ["restore", "watch", "--for", "1s", "--interval", "100ms", "--json"];
    let silent = run(&watch);
    assert_eq!((silent.code, silent.json()["verdict"].as_str()), (4, Some("unknown")), "{silent}");
    let pass = run(&["box", "snapshot"]);
    assert_eq!(pass.code, 0, "{pass}");
    let proved = run(&watch);
    assert_eq!(proved.code, 0, "{proved}");
    let list = run(&["snapshot", "list", "--json"]).json();
    assert_eq!((&list["boxes"][0]["state"], &list["boxes"][0]["last_good"]), (&"good".into(), &"current".into()));
}
