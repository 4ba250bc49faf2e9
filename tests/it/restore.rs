//! `restore`: decided on everything, done under the interlock, proved, and taken back.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use carlosctl::demo::registry::{RouteSpec, build_live, busy_box};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use crate::common::deployment::{Deployment, registry, registry_of};
use crate::common::{Invocation, Outcome, carlosctl};

/// A dead box in the bucket, and a standby whose agent was never started.
pub(crate) struct Standby {
    pub(crate) deployment: Deployment,
}

pub(crate) fn ago(minutes: i64) -> String {
    (Timestamp::now() - SignedDuration::from_mins(minutes)).to_string()
}

impl Standby {
    /// The dead box made eight snapshots, the last one 40 minutes ago; the standby has an empty registry.
    pub(crate) fn new() -> Self {
        let deployment = Deployment::new();
        for back in (0..8).rev() {
            deployment.pass("edge-a1", &ago(40 + back * 60), &registry(200, &format!("v{back}")));
        }
        let standby = Self { deployment };
        fs::create_dir(standby.deployment.beside("data")).expect("a directory");
        build_live(&standby.registry(), &[]).expect("a registry");
        standby
    }

    /// The dead box has only small snapshots, of one number of pages, the last two of which a standby wrote. The last good one.
    fn small_and_clobbered_twice(&self) -> String {
        for (minutes, routes) in (20..28).rev().map(|minutes| (minutes, 12)).chain([(15, 2), (14, 3)]) {
            self.deployment.pass("edge-a1", &ago(minutes), &registry(routes, &format!("v{minutes}")));
        }
        let list = carlosctl(["snapshot", "list", "--json"]).dir(&self.deployment.dir()).run().json();
        assert_eq!(list["boxes"][0]["last_good"], "current", "else the listing alone would show it");
        list["boxes"][0]["generations"][2]["stamp"].as_str().expect("a stamp").to_owned()
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.deployment.beside("data").join("registry.db")
    }

    /// `restore` with a systemctl that knows no unit.
    pub(crate) fn restore<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        carlosctl(["restore", "--from-box", "edge-a1", "--this-box", "edge-b2"].into_iter().chain(args))
            .dir(&self.deployment.dir())
            .arg("--registry")
            .arg(self.registry())
            .env("PATH", self.path())
    }

    /// A PATH whose systemctl knows no unit, unless another was written.
    pub(crate) fn path(&self) -> String {
        let bin = self.deployment.beside("bin");
        if !bin.exists() {
            self.systemctl("echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead");
        }
        format!("{}:/usr/bin:/bin", bin.display())
    }

    pub(crate) fn systemctl(&self, script: &str) {
        let bin = self.deployment.beside("bin");
        fs::create_dir_all(&bin).expect("a directory");
        let path = bin.join("systemctl");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Everything in the registry's directory, with what must not change.
    pub(crate) fn files(&self) -> Vec<(String, u64, u32, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.deployment.beside("data"))
            .expect("a directory")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let facts = entry.metadata().expect("facts");
                let content = if facts.is_file() { fs::read(entry.path()).expect("a file") } else { Vec::new() };
                (entry.file_name().to_string_lossy().into_owned(), facts.ino(), facts.mode(), content)
            })
            .collect();
        files.retain(|(name, ..)| !name.ends_with(".carlosctl-lock"));
        files.sort();
        files
    }

    /// The versions in the registry as an ordinary open of the path sees them.
    pub(crate) fn versions(&self) -> Vec<String> {
        versions(&self.registry())
    }

    /// Refused with these codes stopping it, and nothing touched.
    pub(crate) fn refused(&self, outcome: &Outcome, code: i32, before: &[(String, u64, u32, Vec<u8>)], codes: &[&str]) {
        assert_eq!(outcome.code, code, "{outcome}");
        assert!(self.files() == before, "something was touched: {outcome}");
        for wanted in codes {
            assert!(outcome.stderr.contains(&format!("blocking {wanted}:")), "{wanted} in {outcome}");
        }
    }
}

fn versions(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).expect("a database");
    let mut statement = connection.prepare("SELECT DISTINCT version FROM routes ORDER BY 1").expect("SQL");
    statement.query_map([], |row| row.get(0)).expect("rows").map(|row| row.expect("a row")).collect()
}

#[test]
fn a_dead_boxs_registry_is_installed_and_the_old_one_is_kept() {
    let standby = Standby::new();
    let outcome = standby.restore(["--confirm", "edge-a1", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    assert_eq!(
        (&document["outcome"], &document["at"], &document["rows"]["routes"]),
        (&"installed".into(), &"current".into(), &200.into())
    );
    let installed = fs::read(standby.registry()).expect("a file");
    assert!(installed == fs::read(standby.deployment.file("control/registry-snapshot/edge-a1.db")).expect("an object"));
    assert_eq!(versions(Path::new(document["before"].as_str().expect("a path"))), Vec::<String>::new());
    assert_eq!(fs::metadata(standby.registry()).expect("facts").mode() & 0o777, 0o600);
    assert_eq!(standby.versions(), ["v0"]);
    // The receipt is in both places, and says the same.
    let receipt = fs::read(standby.deployment.file(document["receipt"].as_str().expect("a key"))).expect("an object");
    assert_eq!(fs::read(document["receipt_file"].as_str().expect("a path")).expect("a file"), receipt);
    let receipt: serde_json::Value = serde_json::from_slice(&receipt).expect("JSON");
    assert_eq!(receipt["sha256"], document["sha256"]);
    assert!(receipt["object"]["etag"].is_string());
}

#[test]
fn a_script_that_restores_many_times_a_second_has_a_receipt_of_each() {
    let standby = Standby::new();
    for second in 0..90 {
        let taken = carlosctl::platform::Stamp::at(Timestamp::now() + SignedDuration::from_secs(second));
        fs::write(standby.registry().with_file_name(format!("registry.db.restore-{taken}.json")), "{}").expect("a file");
    }
    let outcome = standby.restore(["--confirm", "edge-a1", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(standby.deployment.file(outcome.json()["receipt"].as_str().expect("a key")).is_file());
}

#[test]
fn a_dry_run_goes_up_to_the_question_and_changes_nothing() {
    let standby = Standby::new();
    let before = standby.files();
    let bucket = standby.deployment.everything();
    let outcome = standby.restore(["--dry-run", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.json()["outcome"], "would-install");
    assert!(standby.files() == before);
    assert!(standby.deployment.everything() == bucket);
    assert!(!standby.deployment.beside("data").join("registry.db.carlosctl-lock").exists());
}

#[test]
fn without_a_terminal_and_without_the_flag_it_names_the_flag_at_once() {
    let standby = Standby::new();
    let before = standby.files();
    for confirm in [&[][..], &["--confirm", "y"], &["--confirm", "edge-b2"], &["--no-input"]] {
        let outcome = standby.restore(confirm.iter().copied()).run();
        standby.refused(&outcome, 6, &before, &[]);
        assert!(outcome.stderr.contains("edge-a1"), "{outcome}");
    }
    // The scene is shown before the question.
    let outcome = standby.restore([]).run();
    for shown in ["dead box", "edge-a1", "this machine", "box edge-b2", "is kept beside it, as registry.db.before-", "HOSTS"] {
        assert!(outcome.stderr.contains(shown), "{shown} in {outcome}");
    }
    assert!(outcome.stderr.contains("needs --confirm edge-a1"), "{outcome}");
}

#[test]
fn running_it_again_finishes_and_exits_0() {
    let standby = Standby::new();
    assert_eq!(standby.restore(["--confirm", "edge-a1"]).run().code, 0);
    let installed = fs::read(standby.registry()).expect("a file");
    let again = standby.restore(["--confirm", "edge-a1", "--json"]).run();
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(again.json()["outcome"], "installed");
    assert!(again.stderr.contains("already-restored"), "{again}");
    assert!(fs::read(standby.registry()).expect("a file") == installed);
}

#[test]
fn identity_is_refused_when_wrong_and_when_unknown() {
    let standby = Standby::new();
    let before = standby.files();
    let own = standby.restore(["--confirm", "edge-a1"]).arg("--this-box").arg("edge-a1").run();
    // The flag was given twice: clap refuses, which is no consent either.
    assert_ne!(own.code, 0, "{own}");
    let dir = standby.deployment.dir();
    let plain = |args: &[&str]| {
        carlosctl(args.iter().copied()).dir(&dir).arg("--registry").arg(standby.registry()).env("PATH", "/usr/bin:/bin").run()
    };
    let same = plain(&["restore", "--from-box", "edge-a1", "--this-box", "edge-a1", "--confirm", "edge-a1"]);
    standby.refused(&same, 5, &before, &["same-box"]);
    let unknown = plain(&["restore", "--from-box", "edge-a1", "--confirm", "edge-a1"]);
    standby.refused(&unknown, 5, &before, &["own-label-unknown"]);
    let mistyped = plain(&["restore", "--from-box", "Edge-A1", "--this-box", "edge-b2", "--confirm", "Edge-A1"]);
    standby.refused(&mistyped, 10, &before, &[]);
    assert!(mistyped.stderr.contains("did you mean edge-a1?"), "{mistyped}");
    // Not one that sounds like it: it is this box.
    let itself = plain(&["restore", "--from-box", "edge-a2", "--this-box", "edge-a2", "--confirm", "edge-a2"]);
    standby.refused(&itself, 10, &before, &[]);
    assert!(itself.stderr.contains("hint: edge-a2 is this box itself") && !itself.stderr.contains("did you mean"), "{itself}");
    let spaced = plain(&["restore", "--from-box", "edge-a1 ", "--this-box", "edge-b2", "--confirm", "edge-a1"]);
    standby.refused(&spaced, 2, &before, &[]);
    let contradiction = plain(&["restore", "--from-box", "edge-a1", "--this-box", "edge-b2", "--same-label"]);
    standby.refused(&contradiction, 2, &before, &[]);
}

#[test]
fn a_foreign_or_unreadable_sidecar_is_never_passed_over() {
    for (change, code) in [
        (r#""box":"edge-b2""#, "label-mismatch"),
        (r#""box":"edge-a1\u001b[2J""#, "label-mismatch"),
        (r#""box":null"#, "sidecar-unreadable"),
        (r#""box":"edge-a1","v":2"#, "sidecar-unreadable"),
    ] {
        let standby = Standby::new();
        let key = "control/registry-snapshot/edge-a1.json";
        let sidecar =
            fs::read_to_string(standby.deployment.file(key)).expect("a sidecar").replace(r#""box":"edge-a1""#, change);
        standby.deployment.put(key, sidecar.as_bytes(), &ago(40));
        let before = standby.files();
        standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &[code]);
        let allowed = standby.restore(["--confirm", "edge-a1", "--allow", code]).run();
        assert_eq!(allowed.code, 2, "{allowed}");
        assert!(allowed.stderr.contains("can never be overridden"), "{allowed}");
    }
}

#[test]
fn what_may_be_overridden_is_overridden_one_by_one_and_written_down() {
    let standby = Standby::new();
    standby.deployment.remove("control/registry-snapshot/edge-a1.json");
    fs::remove_file(standby.registry()).expect("a file");
    build_live(&standby.registry(), &busy_box(3, "own")).expect("a registry");
    let before = standby.files();
    let both = ["sidecar-missing", "target-not-empty"];
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &both);
    standby.refused(&standby.restore(["--confirm", "edge-a1", "--allow", both[0]]).run(), 5, &before, &both[1..]);
    let outcome = standby.restore(["--confirm", "edge-a1", "--allow", both[0], "--allow", both[1], "--json"]).run();
    for code in both {
        assert!(outcome.stderr.contains(&format!("warning {code}: ")), "{outcome}");
        assert!(outcome.stderr.contains(&format!("; allowed by --allow {code}\n")), "{outcome}");
    }
    assert_eq!(outcome.code, 0, "{outcome}");
    let receipt = fs::read(outcome.json()["receipt_file"].as_str().expect("a path")).expect("a file");
    let receipt: serde_json::Value = serde_json::from_slice(&receipt).expect("JSON");
    assert_eq!(receipt["allowed"], serde_json::json!(both));
}

#[test]
fn clobbered_snapshots_are_refused_and_the_last_good_one_is_named_with_its_command() {
    let standby = Standby::new();
    let good = {
        let list = carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
        list["boxes"][0]["generations"][0]["stamp"].as_str().expect("a stamp").to_owned()
    };
    standby.deployment.pass("edge-a1", &ago(20), &registry(0, ""));
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["no-rows"]);
    assert!(outcome.stderr.contains(&format!(" restore --from-box edge-a1 --at {good}")), "{outcome}");
    // A few routes of its own are a collapse.
    standby.deployment.pass("edge-a1", &ago(15), &registry_of(&[RouteSpec::new("standby.example.org")]));
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["rows-collapsed"]);
    assert!(outcome.stderr.contains(&format!("--at {good}")), "{outcome}");
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &good]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn small_snapshots_that_were_clobbered_twice_are_refused_too() {
    let standby = Standby::new();
    let good = standby.small_and_clobbered_twice();
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["rows-collapsed"]);
    assert!(outcome.stderr.contains(&format!("current has 3 routes of the 12 that {good} has")), "{outcome}");
    assert!(outcome.stderr.contains(&format!(" restore --from-box edge-a1 --at {good}")), "{outcome}");
    let same = carlosctl(["restore", "--from-box", "edge-a1", "--this-box", "edge-a1", "--same-label"])
        .args(&["--confirm", "edge-a1", "--allow", "rows-collapsed"])
        .dir(&standby.deployment.dir())
        .arg("--registry")
        .arg(standby.registry())
        .env("PATH", standby.path());
    standby.refused(&same.run(), 5, &before, &["rows-collapsed"]);
}

#[test]
fn small_snapshots_that_shrank_slowly_are_restored() {
    let standby = Standby::new();
    for (minutes, routes) in [(39, 120), (38, 70), (37, 40), (36, 25), (35, 15), (34, 9), (33, 6), (32, 5)] {
        standby.deployment.pass("edge-a1", &ago(minutes), &registry(routes, "v9"));
    }
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v9"]);
}

/// Bytes that a disk lost, or somebody replaced: both objects of the pass prove by themselves, and only one is as it was written.
#[test]
fn a_current_that_differs_from_the_generation_of_its_own_pass_is_refused() {
    let standby = Standby::new();
    let current = standby.deployment.file("control/registry-snapshot/edge-a1.db");
    let written = fs::metadata(&current).expect("facts").modified().expect("a time");
    let body = registry(200, "w0");
    assert_eq!(body.len(), fs::read(&current).expect("an object").len());
    fs::write(&current, body).expect("an object");
    fs::File::options().write(true).open(&current).expect("a file").set_modified(written).expect("a time");
    let list = carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
    assert_eq!(list["boxes"][0]["state"], "good", "a listing has no bytes to compare");
    let own = list["boxes"][0]["generations"][0]["stamp"].as_str().expect("a stamp").to_owned();
    let older = list["boxes"][0]["generations"][1]["stamp"].as_str().expect("a stamp").to_owned();

    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["torn-pair"]);
    assert!(outcome.stderr.contains(&format!("edge-a1.db: differs from generation {own} of the same pass")), "{outcome}");
    assert!(!outcome.stderr.contains("last good is"), "the other one may be the damaged one: {outcome}");
    assert!(outcome.stderr.contains(" restore --from-box edge-a1 --at good"), "{outcome}");
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &own]).run();
    standby.refused(&outcome, 5, &before, &["torn-pair"]);
    assert!(outcome.stderr.contains(".db: differs from current of the same pass"), "{outcome}");
    let asked = |args: &[&str]| carlosctl(args.iter().copied()).dir(&standby.deployment.dir()).run();
    let out = standby.deployment.beside("out.db").display().to_string();
    let pulled = asked(&["snapshot", "pull", "--box", "edge-a1", "--out", &out]);
    assert_eq!((pulled.code, Path::new(&out).exists()), (5, false), "{pulled}");
    for args in [&["snapshot", "verify"][..], &["snapshot", "verify", "--all-generations"]] {
        let verified = asked(args);
        assert_eq!(verified.code, 4, "{verified}");
        assert!(verified.stdout.contains("box edge-a1: bad"), "{verified}");
    }
    let drilled = asked(&["drill", "--box", "edge-a1", "--no-receipt"]);
    assert_eq!(drilled.code, 4, "{drilled}");
    // The newest of which nothing is in doubt.
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", "good"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("passed over current"), "{outcome}");
    assert!(outcome.stderr.contains(&format!("chose {older}")), "{outcome}");
    assert_eq!(standby.versions(), ["v1"]);
    let outcome = standby.restore(["--confirm", "edge-a1", "--allow", "torn-pair", "--allow", "target-not-empty"]).run();
    assert_eq!((outcome.code, standby.versions()), (0, vec!["w0".to_owned()]), "{outcome}");
}

/// What is taken back last is not always what was done last.
#[test]
fn an_undo_after_a_restore_over_nothing_says_that_it_goes_further() {
    let standby = Standby::new();
    assert_eq!(standby.restore(["--confirm", "edge-a1"]).run().code, 0);
    assert!(!undo(&standby, &["--dry-run"]).stderr.contains("one restore further"));
    fs::remove_file(standby.registry()).expect("moved away");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let over_nothing = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(over_nothing.code, 0, "{over_nothing}");
    let away = format!("next 4   to take it back, once the agent is stopped: move {} away", standby.registry().display());
    assert!(over_nothing.stdout.contains(&away), "{over_nothing}");
    let shown = undo(&standby, &["--dry-run"]);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stderr.contains("replaced nothing: this goes back one restore further"), "{shown}");
}

#[test]
fn a_held_clobber_is_refused_as_the_clobber_is() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &ago(15), &registry_of(&[RouteSpec::new("standby.example.org")]));
    let held = carlosctl(["snapshot", "hold", "--box", "edge-a1", "--json"]).dir(&standby.deployment.dir()).run();
    assert_eq!(held.code, 0, "{held}");
    let hold = held.json()["hold"].as_str().expect("a stamp").to_owned();
    let before = standby.files();
    let clobber = standby.restore(["--confirm", "edge-a1", "--at", &format!("hold:{hold}")]).run();
    standby.refused(&clobber, 5, &before, &["rows-collapsed"]);
    let list = carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
    let good = list["boxes"][0]["last_good"].as_str().expect("a stamp");
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &format!("hold:{hold}/{good}")]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn good_finds_the_last_good_one_itself() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &ago(20), &registry(0, ""));
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", "good"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn under_the_same_label_emptiness_and_collapse_cannot_be_waved_through() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &ago(20), &registry(0, ""));
    let before = standby.files();
    let dir = standby.deployment.dir();
    let same = |args: &[&str]| {
        let all = ["restore", "--from-box", "edge-a1", "--this-box", "edge-a1", "--same-label", "--confirm", "edge-a1"];
        carlosctl(all.iter().copied().chain(args.iter().copied()))
            .dir(&dir)
            .arg("--registry")
            .arg(standby.registry())
            .env("PATH", "/usr/bin:/bin")
            .run()
    };
    let refused = same(&["--allow", "no-rows", "--allow", "size-collapsed"]);
    standby.refused(&refused, 5, &before, &["no-rows"]);
    assert!(refused.stderr.contains("restoring edge-a1 was refused (no-rows);"), "{refused}");
    let outcome = same(&["--at", "good"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn bad_bytes_are_refused_before_the_target_is_touched() {
    let whole = registry(200, "v5");
    for (body, code) in [
        (Vec::new(), "empty-object"),
        (vec![0; 16384], "not-sqlite"),
        (whole[..whole.len() / 2].to_vec(), "short-object"),
        (registry(0, ""), "no-rows"),
    ] {
        let standby = Standby::new();
        standby.deployment.pass("edge-a1", &ago(20), &body);
        let before = standby.files();
        standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &[code]);
    }
}

#[test]
fn a_torn_pair_is_torn_and_its_generation_can_be_chosen() {
    let standby = Standby::new();
    let newer = registry(230, "newer");
    let when = ago(20);
    standby.deployment.generation("edge-a1", &when, &newer);
    standby.deployment.put("control/registry-snapshot/edge-a1.db", &newer, &when);
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["torn-pair"]);
    let stamp = carlosctl::platform::Stamp::at(when.parse().expect("an instant")).to_string();
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &stamp]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["newer"]);
}

#[test]
fn whoever_takes_an_older_one_than_the_last_good_is_told_what_that_costs() {
    let standby = Standby::new();
    let older = carlosctl::platform::Stamp::at(ago(40 + 3 * 60).parse().expect("an instant"));
    let generations = standby.deployment.dir().join("control/registry-snapshots/edge-a1");
    let stamps = fs::read_dir(generations).expect("a tail").map(|entry| entry.expect("an entry").file_name());
    let mut stamps: Vec<String> = stamps.map(|name| name.to_string_lossy().trim_end_matches(".db").to_owned()).collect();
    stamps.sort();
    let at = stamps.iter().rfind(|stamp| **stamp <= older.to_string()).expect("an older one");
    let outcome = standby.restore(["--dry-run", "--at", at]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("warning data-at-risk: control/registry-snapshots/edge-a1/"), "{outcome}");
    assert!(outcome.stderr.contains("3 h before the last good one (current)"), "{outcome}");
    assert!(outcome.stderr.contains(&format!(" snapshot diff --box edge-a1 {at} current")), "{outcome}");
    let newest = standby.restore(["--dry-run"]).run();
    assert!(!newest.stderr.contains("before the last good one"), "{newest}");
}

#[test]
fn a_box_that_writes_or_reports_is_not_dead() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &ago(3), &registry(200, "v9"));
    standby.deployment.put("status/boxes/edge-a1.json", b"{}", &ago(2));
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["still-writing", "dead-box-reporting"]);
}

#[test]
fn a_standby_whose_agent_has_run_is_told_so() {
    let standby = Standby::new();
    standby.deployment.pass("edge-b2", &ago(20), &registry(0, ""));
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["box-already-published"]);
}

#[test]
fn an_old_snapshot_is_refused_only_when_an_age_was_given() {
    let standby = Standby::new();
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1", "--max-age", "30m"]).run(), 5, &before, &["snapshot-too-old"]);
    assert_eq!(standby.restore(["--confirm", "edge-a1", "--max-age", "1h"]).run().code, 0);
}

#[test]
fn an_agent_in_any_state_but_stopped_is_refused_with_the_state() {
    for state in ["active/running", "activating/start", "deactivating/stop", "reloading/reload", "activating/auto-restart"] {
        let standby = Standby::new();
        let (active, sub) = state.split_once('/').expect("two words");
        standby.systemctl(&format!(
            "echo LoadState=loaded; echo ActiveState={active}; echo SubState={sub}; echo UnitFileState=enabled"
        ));
        let before = standby.files();
        let outcome = standby.restore(["--confirm", "edge-a1"]).run();
        standby.refused(&outcome, 5, &before, &["agent-active"]);
        assert!(outcome.stderr.contains(sub), "{state} in {outcome}");
    }
    let standby = Standby::new();
    standby
        .systemctl("echo 'System has not been booted with systemd as init system (PID 1). Can'\"'\"'t operate.' >&2; exit 1");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("units-unknown"), "{outcome}");
}

#[test]
fn a_process_that_holds_the_registry_is_named() {
    let standby = Standby::new();
    let script = "import sqlite3,sys,time\nc=sqlite3.connect(sys.argv[1])\nc.execute('select count(*) from routes').fetchall()\nprint('up',flush=True)\ntime.sleep(60)";
    let mut holder = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(standby.registry())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().expect("a pipe")), &mut String::new())
        .expect("a line");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    let pid = holder.id().to_string();
    holder.kill().expect("killed");
    holder.wait().expect("ended");
    assert_eq!(outcome.code, 5, "{outcome}");
    assert!(
        outcome.stderr.contains("blocking registry-held:")
            && outcome.stderr.contains(&pid)
            && outcome.stderr.contains("python3"),
        "{outcome}"
    );
}

#[test]
fn an_uncheckpointed_wal_of_a_killed_agent_is_folded_in_and_never_beside_the_new_registry() {
    let standby = Standby::new();
    let script = "import sqlite3,sys,os\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\nc.execute('pragma wal_autocheckpoint=0')\nc.execute(\"insert into routes(host,version) values('late.example.org','STANDBYX')\")\nos.kill(os.getpid(),9)";
    let status = std::process::Command::new("python3").args(["-c", script]).arg(standby.registry()).status().expect("python3");
    assert!(!status.success());
    let wal = standby.deployment.beside("data").join("registry.db-wal");
    assert!(fs::metadata(&wal).expect("a wal").len() > 0);
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["target-not-empty"]);
    let outcome = standby.restore(["--confirm", "edge-a1", "--allow", "target-not-empty", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!wal.exists() || fs::metadata(&wal).expect("facts").len() == 0);
    assert_eq!(standby.versions(), ["v0"]);
    let kept = Connection::open(outcome.json()["before"].as_str().expect("a path")).expect("a database");
    let version: String = kept.query_row("SELECT version FROM routes", [], |row| row.get(0)).expect("the late row");
    assert_eq!(version, "STANDBYX");
}

#[test]
fn links_are_followed_to_the_real_file_whose_directory_is_used() {
    let standby = Standby::new();
    let real = standby.deployment.beside("real");
    fs::create_dir(&real).expect("a directory");
    fs::rename(standby.registry(), real.join("the.db")).expect("moved");
    std::os::unix::fs::symlink(real.join("the.db"), standby.registry()).expect("a link");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(fs::symlink_metadata(standby.registry()).expect("facts").is_symlink());
    assert_eq!(standby.versions(), ["v0"]);
    assert!(
        fs::read_dir(&real).expect("a directory").any(|entry| entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .starts_with("the.db.before-"))
    );
}

#[test]
fn a_missing_directory_or_a_registry_with_a_second_name_is_refused() {
    let standby = Standby::new();
    fs::hard_link(standby.registry(), standby.deployment.beside("data").join("second")).expect("a link");
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["target-unsafe"]);
    fs::remove_dir_all(standby.deployment.beside("data")).expect("removed");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 5, "{outcome}");
    assert!(outcome.stderr.contains("blocking target-unwritable:"), "{outcome}");
}

#[test]
fn two_restores_keep_two_old_registries_and_undo_takes_the_last_one_back() {
    let standby = Standby::new();
    let list = carlosctl(["snapshot", "list", "--json"]).dir(&standby.deployment.dir()).run().json();
    let earlier = list["boxes"][0]["generations"][3]["stamp"].as_str().expect("a stamp").to_owned();
    let first = standby.restore(["--confirm", "edge-a1", "--at", &earlier, "--json"]).run();
    assert_eq!(first.code, 0, "{first}");
    let second = standby.restore(["--confirm", "edge-a1", "--allow", "target-not-empty", "--json"]).run();
    assert_eq!(second.code, 0, "{second}");
    let (first, second) = (first.json()["before"].clone(), second.json()["before"].clone());
    assert_ne!(first, second);
    assert_eq!(versions(Path::new(first.as_str().expect("a path"))), Vec::<String>::new());
    assert_eq!(versions(Path::new(second.as_str().expect("a path"))), ["v3"]);

    let undo = |args: &[&str]| undo(&standby, args);
    let before = standby.files();
    standby.refused(&undo(&[]), 6, &before, &[]);
    standby.refused(&undo(&["--confirm", "edge-a1"]), 6, &before, &[]);
    let undone = undo(&["--confirm", "edge-b2", "--json"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(undone.json()["outcome"], "undone");
    assert_eq!(standby.versions(), ["v3"]);
    assert!(PathBuf::from(undone.json()["before"].as_str().expect("a path")).exists());
}

fn undo(standby: &Standby, args: &[&str]) -> Outcome {
    carlosctl(["restore", "undo", "--this-box", "edge-b2"].into_iter().chain(args.iter().copied()))
        .dir(&standby.deployment.dir())
        .arg("--registry")
        .arg(standby.registry())
        .env("PATH", "/usr/bin:/bin")
        .run()
}

#[test]
fn an_undo_that_was_cut_off_and_comes_again_goes_back_no_further() {
    let standby = Standby::new();
    let older = standby.deployment.beside("older.db");
    fs::write(&older, registry(200, "older")).expect("a file");
    let at = format!("file:{}", older.display());
    assert_eq!(standby.restore(["--confirm", "edge-a1", "--at", &at, "--allow", "sidecar-missing"]).run().code, 0);
    let second = standby.restore(["--confirm", "edge-a1", "--allow", "target-not-empty", "--json"]).run();
    assert_eq!(second.code, 0, "{second}");
    // Killed after the exchange: the registry is back, and the one that it replaced has no name of its own yet.
    let before = PathBuf::from(second.json()["before"].as_str().expect("a path"));
    let name = before.file_name().expect("a name").to_string_lossy().into_owned();
    let origin = name.strip_prefix("registry.db.").expect("our name");
    let inode = fs::metadata(&before).expect("facts").ino();
    let undone = "registry.db.undone-20361130T120000Z";
    let swap = standby.registry().with_file_name(format!("{undone}.swap-{inode}.from-{origin}"));
    fs::rename(standby.registry(), &swap).expect("renamed");
    fs::rename(&before, standby.registry()).expect("renamed");

    let shown = undo(&standby, &["--dry-run"]);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stderr.contains(&format!("comes back         {}\n", before.display())), "{shown}");
    assert!(shown.stderr.contains("came back already, by an undo that was cut off"), "{shown}");
    assert!(swap.exists(), "a preview changes nothing");
    let completed = undo(&standby, &["--confirm", "edge-b2"]);
    assert_eq!(completed.code, 0, "{completed}");
    let said =
        format!("put {name} back as {}: completed what was cut off, nothing was exchanged\n", standby.registry().display());
    assert!(completed.stdout.starts_with(&said), "{completed}");
    assert_eq!(standby.versions(), ["older"]);
    assert!(!swap.exists() && standby.registry().with_file_name(undone).exists());
    // One more is one restore further, and says so.
    let further = undo(&standby, &["--dry-run"]);
    assert!(
        further
            .stderr
            .contains("beware             undone before, at 2036-11-30T12:00:00Z: this goes back one restore further"),
        "{further}"
    );
}

#[test]
fn a_second_restore_meanwhile_is_locked_out_with_11() {
    let standby = Standby::new();
    let lock = standby.deployment.beside("data").join("registry.db.carlosctl-lock");
    let file = fs::File::create(&lock).expect("a lock file");
    file.lock().expect("a lock");
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 11, &before, &["restore-in-progress"]);
}

#[test]
fn a_file_of_ones_own_is_restored_only_with_the_missing_sidecar_allowed() {
    let standby = Standby::new();
    let file = standby.deployment.beside("saved.db");
    fs::write(&file, registry(50, "saved")).expect("a file");
    let at = format!("file:{}", file.display());
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1", "--at", &at]).run(), 5, &before, &["sidecar-missing"]);
    let outcome = standby.restore(["--confirm", "edge-a1", "--at", &at, "--allow", "sidecar-missing"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["saved"]);
}
