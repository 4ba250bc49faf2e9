//! `drill`: a restore rehearsed by a restore's own steps, and nothing touched but its receipt.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::common::deployment::{Deployment, registry};
use crate::common::{Invocation, Outcome, carlosctl};
use crate::restore::ago;

/// A deployment with a healthy box, and a scratch directory beside it.
struct Bench {
    deployment: Deployment,
}

impl Bench {
    fn new() -> Self {
        let deployment = Deployment::new();
        for back in (0..8).rev() {
            deployment.pass("edge-a1", &ago(40 + back * 60), &registry(200, &format!("v{back}")));
        }
        fs::create_dir(deployment.beside("scratch")).expect("a directory");
        Self { deployment }
    }

    fn scratch(&self) -> PathBuf {
        self.deployment.beside("scratch")
    }

    fn drill<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        carlosctl(["drill", "--json"].into_iter().chain(args)).dir(&self.deployment.dir()).arg("--scratch").arg(self.scratch())
    }

    /// Runs it, and nothing is left in the scratch directory.
    fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Outcome {
        let outcome = self.drill(args).run();
        assert_eq!(fs::read_dir(self.scratch()).expect("a directory").count(), 0, "{outcome}");
        outcome
    }
}

/// One box's verdict, and its rungs as `rung:passed`.
fn ladder(document: &Value, label: &str) -> (String, Vec<String>) {
    let boxes = document["boxes"].as_array().expect("boxes");
    let drilled = boxes.iter().find(|drilled| drilled["box"] == label).unwrap_or_else(|| panic!("no {label} in {document}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let steps = drilled["ladder"].as_array().expect("a ladder");
    (text(&drilled["verdict"]), steps.iter().map(|step| format!("{}:{}", text(&step["rung"]), text(&step["passed"]))).collect())
}

const ALL_YES: [&str; 4] = ["bytes-intact:yes", "opens:yes", "content-plausible:yes", "restored-equals-source:yes"];

#[test]
fn a_box_that_can_be_restored_is_good_and_only_a_receipt_is_left() {
    let bench = Bench::new();
    let before = bench.deployment.everything();
    let outcome = bench.run([]);
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    let (verdict, rungs) = ladder(&document, "edge-a1");
    assert_eq!((verdict.as_str(), rungs), ("good", ALL_YES.map(str::to_owned).to_vec()));
    let drilled = &document["boxes"][0];
    assert_eq!((&drilled["at"], &drilled["rows"]["routes"]), (&"current".into(), &200.into()));
    assert!(drilled["recovery_seconds"].is_number(), "{outcome}");

    let key = drilled["receipt"].as_str().expect("a key");
    assert!(key.starts_with("control/carlosctl/drills/edge-a1/") && key.ends_with("-good.json"), "{key}");
    let after = bench.deployment.everything();
    assert!(before.iter().all(|object| after.contains(object)));
    assert_eq!(after.len(), before.len() + 1, "{outcome}");
    let receipt: Value = serde_json::from_slice(&fs::read(bench.deployment.file(key)).expect("an object")).expect("JSON");
    assert_eq!((&receipt["schema"], &receipt["sha256"]), (&"carlosctl.drill-receipt/1".into(), &drilled["sha256"]));
}

#[test]
fn the_list_shows_the_last_drill_of_each_box_and_how_it_went() {
    let bench = Bench::new();
    let list = |args: &[&str]| carlosctl(["snapshot", "list"].iter().chain(args).copied()).dir(&bench.deployment.dir()).run();
    assert!(!list(&[]).stdout.contains("LAST DRILL"));
    assert_eq!(list(&["--json"]).json()["boxes"][0]["last_drill"], Value::Null);
    let put = |name: &str| bench.deployment.put(&format!("control/carlosctl/drills/edge-a1/{name}"), b"{}", &ago(1));
    put("20261101T000000Z-good.json");
    put("20261102T000000Z-bad.json");
    put("20261103T000000Z-odd.json");
    bench.deployment.put("control/carlosctl/drills/edge-z9/20261104T000000Z-good.json", b"{}", &ago(1));
    for args in [&["--json"][..], &["--json", "--box", "edge-a1"]] {
        let document = list(args).json();
        let last = serde_json::json!({"stamp": "20261102T000000Z", "verdict": "bad"});
        assert_eq!(document["boxes"][0]["last_drill"], last);
        assert_eq!(document["boxes"].as_array().expect("boxes").len(), 1, "a receipt makes no box");
    }
    let shown = list(&["--as-of", "2026-11-04T00:00:00Z"]);
    assert!(shown.stdout.contains("LAST DRILL") && shown.stdout.contains("bad, 2 d ago"), "{shown}");
    assert_eq!(bench.run([]).code, 0);
    assert_eq!(list(&["--json"]).json()["boxes"][0]["last_drill"]["verdict"], "good");
}

#[test]
fn a_clobbered_box_is_bad_and_its_last_good_one_is_rehearsed_on_demand() {
    let bench = Bench::new();
    bench.deployment.pass("edge-a1", &ago(20), &registry(0, ""));
    bench.deployment.pass("edge-a1", &ago(14), &registry(1, "v1"));
    let outcome = bench.run(["--no-receipt"]);
    assert_eq!(outcome.code, 4, "{outcome}");
    let (verdict, rungs) = ladder(&outcome.json(), "edge-a1");
    assert_eq!((verdict.as_str(), rungs[2].as_str()), ("bad", "content-plausible:no"));
    let good = bench.run(["--no-receipt", "--at", "good"]);
    assert_eq!(good.code, 0, "{good}");
    assert_eq!(good.json()["boxes"][0]["rows"]["routes"], 200);
}

#[test]
fn each_rung_is_failed_by_what_it_stands_for() {
    let key = "control/registry-snapshot/edge-a1.db";
    let with = |change: &dyn Fn(&Bench)| {
        let bench = Bench::new();
        change(&bench);
        let outcome = bench.run(["--no-receipt"]);
        assert_eq!(outcome.code, 4, "{outcome}");
        ladder(&outcome.json(), "edge-a1")
    };
    let (verdict, rungs) = with(&|bench| bench.deployment.remove(key));
    assert_eq!(
        (verdict.as_str(), rungs[0].as_str(), rungs[3].as_str()),
        ("bad", "bytes-intact:no", "restored-equals-source:unknown")
    );
    let (verdict, rungs) = with(&|bench| {
        let body = registry(200, "v0");
        bench.deployment.put(key, &body[..body.len() / 2], &ago(40));
    });
    assert_eq!((verdict.as_str(), rungs[0].as_str()), ("bad", "bytes-intact:no"));
    let (verdict, rungs) = with(&|bench| {
        let body = vec![b'x'; 90_000];
        bench.deployment.pass("edge-a1", &ago(39), &body);
    });
    assert_eq!((verdict.as_str(), rungs[1].as_str(), rungs[3].as_str()), ("bad", "opens:no", "restored-equals-source:unknown"));
    let (verdict, rungs) = with(&|bench| {
        let sidecar = fs::read_to_string(bench.deployment.file("control/registry-snapshot/edge-a1.json")).expect("a sidecar");
        bench.deployment.put(
            "control/registry-snapshot/edge-a1.json",
            sidecar.replace("edge-a1", "edge-b2").as_bytes(),
            &ago(40),
        );
    });
    assert_eq!(
        (verdict.as_str(), rungs[2].as_str(), rungs[3].as_str()),
        ("bad", "content-plausible:no", "restored-equals-source:yes")
    );
}

#[test]
fn a_living_box_is_good() {
    let bench = Bench::new();
    bench.deployment.pass("edge-a1", &ago(0), &registry(201, "v9"));
    bench.deployment.put("status/boxes/edge-a1.json", b"{}", &ago(0));
    let outcome = bench.run(["--no-receipt"]);
    assert_eq!(outcome.code, 0, "{outcome}");
}

#[test]
fn one_bad_box_among_several_makes_the_drill_fail_and_the_others_are_drilled() {
    let bench = Bench::new();
    bench.deployment.healthy_box("edge-b2", &ago(5));
    bench.deployment.remove("control/registry-snapshot/edge-b2.db");
    let outcome = bench.run([]);
    assert_eq!(outcome.code, 4, "{outcome}");
    let document = outcome.json();
    assert_eq!((ladder(&document, "edge-a1").0.as_str(), ladder(&document, "edge-b2").0.as_str()), ("good", "bad"));
    assert!(document["boxes"][1]["receipt"].as_str().expect("a key").ends_with("-bad.json"));
    let one = bench.run(["--box", "edge-a1"]);
    assert_eq!((one.code, one.json()["boxes"].as_array().expect("boxes").len()), (0, 1), "{one}");
    assert_eq!(bench.run(["--box", "edge-a9"]).code, 10);
}

#[test]
fn the_boot_command_works_on_the_restored_copy_within_its_time() {
    let bench = Bench::new();
    let boots = "head -c 15 \"$CARLOS_DRILL_REGISTRY\" | grep -q 'SQLite format 3' && test \"$CARLOS_DRILL_BOX\" = edge-a1";
    let outcome = bench.run(["--no-receipt", "--boot-cmd", boots]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(ladder(&outcome.json(), "edge-a1").1[4], "boots:yes");
    for (command, said) in
        [("echo cannot open it >&2; exit 3", "ended with 3; it said: cannot open it"), ("sleep 60", "took longer than 0.3 s")]
    {
        let outcome = bench.run(["--no-receipt", "--boot-timeout", "300ms", "--boot-cmd", command]);
        assert_eq!(outcome.code, 4, "{outcome}");
        let document = outcome.json();
        assert_eq!(ladder(&document, "edge-a1").1[3..], ["restored-equals-source:yes", "boots:no"]);
        let found = document["boxes"][0]["findings"].as_array().expect("findings");
        assert!(
            found
                .iter()
                .any(|found| found["code"] == "drill-failed" && found["because"].as_str().expect("a text").contains(said)),
            "{outcome}"
        );
    }
    // What is not a registry is not booted.
    bench.deployment.pass("edge-a1", &ago(39), &vec![b'x'; 90_000]);
    let outcome = bench.run(["--no-receipt", "--boot-cmd", "true"]);
    assert_eq!(ladder(&outcome.json(), "edge-a1").1[4], "boots:unknown");
}

#[test]
fn without_a_receipt_nothing_is_written_and_one_that_cannot_be_written_is_said() {
    let bench = Bench::new();
    let before = bench.deployment.everything();
    assert_eq!(bench.run(["--no-receipt"]).code, 0);
    assert!(bench.deployment.everything() == before);
    // Where the directory of receipts would be is a file.
    bench.deployment.put("control/carlosctl/drills", b"", &ago(1));
    let outcome = bench.run([]);
    assert_eq!(outcome.code, 3, "{outcome}");
    let document = outcome.json();
    assert_eq!(ladder(&document, "edge-a1").0, "good");
    assert_eq!(document["boxes"][0]["receipt"], Value::Null);
    assert!(outcome.stdout.contains("receipt-not-stored") && outcome.stdout.contains("--no-receipt"), "{outcome}");
}

#[test]
fn two_drills_in_one_second_have_two_receipts() {
    let bench = Bench::new();
    for _ in 0..3 {
        assert_eq!(bench.run([]).code, 0);
    }
    let receipts = bench.deployment.everything().into_iter().filter(|(key, _)| key.starts_with("control/carlosctl/drills/"));
    assert_eq!(receipts.count(), 3);
}

#[test]
fn nothing_to_drill_is_no_success_and_a_scratch_directory_that_is_missing_is_named() {
    let deployment = Deployment::new();
    let outcome = carlosctl(["drill"]).dir(&deployment.dir()).run();
    assert_eq!(outcome.code, 4, "{outcome}");
    assert!(outcome.stdout.starts_with("no box has a snapshot in"), "{outcome}");
    let bench = Bench::new();
    let outcome = carlosctl(["drill"]).dir(&bench.deployment.dir()).arg("--scratch").arg(bench.deployment.beside("gone")).run();
    assert_eq!(outcome.code, 10, "{outcome}");
    assert!(outcome.stderr.contains("gone"), "{outcome}");
}

#[test]
fn ctrl_c_ends_the_boot_command_and_leaves_nothing() {
    let bench = Bench::new();
    let before = bench.deployment.everything();
    let started = bench.deployment.beside("started");
    let command = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", started.display());
    let mut drill = bench.drill(["--boot-timeout", "10m", "--boot-cmd", &command]).into_command();
    let mut drill = drill.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let until = |done: &dyn Fn() -> bool| {
        (0..1500).any(|_| {
            done() || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
        })
    };
    assert!(until(&|| started.exists()), "the boot command runs");
    let pid = rustix::process::Pid::from_child(&drill);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    assert_eq!(drill.wait().expect("it ends").code(), Some(130));
    let booted = fs::read_to_string(&started).expect("a pid");
    let stat = PathBuf::from(format!("/proc/{}/stat", booted.trim()));
    assert!(until(&|| fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))), "the boot command is killed");
    assert_eq!(fs::read_dir(bench.scratch()).expect("a directory").count(), 0);
    assert!(bench.deployment.everything() == before);
}
