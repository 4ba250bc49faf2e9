//! Kind: the right command on another box, another snapshot than was meant, or a flag that switches the checks off.

use std::fs;

use carlosctl::cli::Cli;
use carlosctl::finding::Code;
use clap::CommandFactory;
use jiff::{SignedDuration, Timestamp};

use crate::common::carlosctl;
use crate::restore::Standby;

/// Incident 9: "latest" was the latest of any host, and one server got the files of another.
#[test]
fn what_is_restored_is_always_of_a_box_that_was_named() {
    let standby = Standby::new();
    let before = standby.files();
    let dir = standby.deployment.dir();
    // There is one box only, and this machine has a label: neither stands in for the name.
    for args in [
        &["restore"][..],
        &["restore", "--confirm", "edge-a1"],
        &["restore", "--same-label"],
        &["snapshot", "show"],
        &["snapshot", "pull", "--out", "x"],
        &["snapshot", "diff", "good", "current"],
        &["snapshot", "hold"],
        &["report", "show"],
    ] {
        let outcome = carlosctl(args.iter().copied())
            .dir(&dir)
            .arg("--registry")
            .arg(standby.registry())
            .env("CARLOS_BOX_LABEL", "edge-a1")
            .env("PATH", standby.path())
            .run();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}: {outcome}");
    }
    assert!(standby.files() == before);
}

/// Incident 10: a restore took an older backup, or one from after the moment that was asked for, and did not say which.
#[test]
fn what_was_chosen_is_said_before_the_question_and_is_never_later_than_asked_for() {
    let standby = Standby::new();
    let list = carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
    let generations = list["boxes"][0]["generations"].as_array().expect("generations");
    let asked = Timestamp::now() - SignedDuration::from_mins(40 + 150);
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let stamp = |value: &serde_json::Value| text(&value["stamp"]).parse::<carlosctl::platform::Stamp>().expect("a stamp");
    let wanted = generations.iter().find(|generation| stamp(generation).instant() <= asked).expect("an older one");
    assert!(stamp(wanted) < stamp(&generations[1]), "not the newest");
    let before = standby.files();
    let outcome = standby.restore(["--at", &asked.to_string(), "--json"]).run();
    standby.refused(&outcome, 6, &before, &[]);
    let document = outcome.json();
    assert_eq!((&document["outcome"], &document["at"]), (&"not-confirmed".into(), &wanted["stamp"]));
    assert_eq!((&document["object"]["key"], &document["object"]["etag"]), (&wanted["key"], &wanted["etag"]));
    let sha256 = text(&document["sha256"]);
    let of = stamp(wanted).instant().to_string();
    let because = format!("newest at or before {}", &asked.to_string()[..13]);
    for shown in [&text(&wanted["key"]), &text(&wanted["etag"]), &sha256, &of, &because] {
        assert!(outcome.stderr.contains(shown.as_str()), "{shown} in {outcome}");
    }
}

/// Incident 11: one broad flag switched the check of identity off along with the one that was meant.
#[test]
fn no_flag_switches_more_than_one_named_check_off() {
    fn walk(command: &clap::Command, found: &mut Vec<String>) {
        found.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
        command.get_subcommands().for_each(|below| walk(below, found));
    }
    let mut flags = Vec::new();
    walk(&Cli::command(), &mut flags);
    assert!(flags.len() > 50, "{flags:?}");
    let broad = ["force", "yes", "assume", "skip", "no-verify", "no-check", "insecure", "unsafe", "ignore", "all-checks"];
    for flag in &flags {
        assert!(broad.iter().all(|word| !flag.contains(word)), "--{flag}");
    }
    // What is never overridden: which box it is, who is at it, and bytes that are no registry.
    for code in
        ["label-mismatch", "same-box", "agent-active", "registry-held", "restore-in-progress", "not-sqlite", "no-routes"]
    {
        assert!(!code.parse::<Code>().expect("a code").overridable(), "{code}");
    }
    let standby = Standby::new();
    standby.deployment.remove("control/registry-snapshot/edge-a1.json");
    fs::remove_file(standby.registry()).expect("a file");
    carlosctl::demo::registry::build_live(&standby.registry(), &carlosctl::demo::registry::busy_box(3, "own"))
        .expect("a registry");
    let before = standby.files();
    for (allow, code) in [("all", 2), ("*", 2), ("", 2), ("sidecar-missing,target-not-empty", 2), ("sidecar-missing", 5)] {
        let outcome = standby.restore(["--confirm", "edge-a1", "--allow", allow]).run();
        standby.refused(&outcome, code, &before, &[]);
    }
}
