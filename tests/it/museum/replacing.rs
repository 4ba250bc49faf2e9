//! Kind: what was there is gone before what comes is known to be good, or more than was named is touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use carlosctl::cli::Cli;
use carlosctl::demo::registry::{build_live, busy_box};
use clap::CommandFactory;

use crate::common::apps::Bench;
use crate::common::scripted::{Answer, Reply};
use crate::common::{Invocation, carlosctl};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner};

/// A standby whose registry has three routes of its own.
fn in_use() -> Standby {
    let standby = Standby::new();
    fs::remove_file(standby.registry()).expect("a file");
    build_live(&standby.registry(), &busy_box(3, "own")).expect("a registry");
    standby
}

/// Incident 4: the old database was removed before the new one was fetched, and the fetch failed.
#[test]
fn what_cannot_be_fetched_whole_costs_nothing_that_is_there() {
    let current = "control/registry-snapshot/edge-a1.db";
    for (code, fault) in [
        (14, (|body| Reply::object(body, "e").cut_after(20_000).into()) as fn(Vec<u8>) -> Answer),
        (14, |_| Reply::error(500, "InternalError", "later").into()),
        (14, |_| Answer::Close),
        (10, |_| Reply::error(404, "NoSuchKey", "gone").into()),
    ] {
        let standby = in_use();
        let before = standby.files();
        let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, objects| {
            asked.gets(current).then(|| fault(objects[current].body.clone()))
        });
        let outcome =
            bucket.restore(&standby, ["--confirm", "edge-a1", "--allow", "target-not-empty", "--timeout", "2s"]).run();
        standby.refused(&outcome, code, &before, &[]);
    }
}

/// Incident 2: `-wal` and `-shm` were cleared away, and the `-journal` of the old database was rolled back into the new one.
#[test]
fn a_journal_of_the_old_registry_is_never_beside_the_new_one() {
    let script = "import sqlite3,sys,os
c=sqlite3.connect(sys.argv[1],isolation_level=None)
c.execute('pragma journal_mode=delete'); c.execute('pragma cache_size=2'); c.execute('begin immediate')
c.executemany('insert into routes(host,version) values(?,?)',((f'h{i}.example','x'*900) for i in range(400)))
os.kill(os.getpid(),9)";
    let standby = Standby::new();
    let journal = standby.registry().with_file_name("registry.db-journal");
    let killed = Command::new("python3").args(["-c", script]).arg(standby.registry()).status().expect("python3");
    assert!(!killed.success() && fs::metadata(&journal).expect("a journal").len() > 0);
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!journal.exists());
    assert_eq!(standby.versions(), ["v0"]);

    // One that SQLite cannot make sense of keeps its journal, and takes it along.
    let standby = Standby::new();
    for name in ["registry.db-wal", "registry.db-shm"] {
        let _ = fs::remove_file(standby.registry().with_file_name(name));
    }
    fs::write(standby.registry(), b"no database at all".repeat(300)).expect("a file");
    fs::write(standby.registry().with_file_name("registry.db-journal"), b"the rest of it").expect("a file");
    let outcome = standby.restore(["--confirm", "edge-a1", "--allow", "target-unreadable", "--json"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!standby.registry().with_file_name("registry.db-journal").exists());
    let kept = format!("{}-journal", outcome.json()["before"].as_str().expect("a path"));
    assert_eq!(fs::read(kept).expect("it is kept"), b"the rest of it");
    assert_eq!(standby.versions(), ["v0"]);
}

/// Incident 5: what else lay in the directory was overwritten, and later the directory itself was removed and made anew.
#[test]
fn nothing_else_in_the_directory_is_touched_nor_the_directory() {
    let standby = Standby::new();
    let directory = standby.deployment.beside("data");
    fs::create_dir(directory.join("below")).expect("a directory");
    let others = [
        "notes",
        "registry.db.bak",
        "registry.db.before-20200101T000000Z",
        "registry.db.restore-20200101T000000Z.json",
        ".registry.db.swp",
        "below/registry.db",
    ];
    for name in others {
        fs::write(directory.join(name), name).expect("a file");
    }
    let looks = || {
        let look = |path: &Path| fs::metadata(path).map(|facts| (facts.ino(), facts.mode(), facts.mtime())).expect("facts");
        let mut all: Vec<_> =
            others.iter().map(|name| (look(&directory.join(name)), fs::read(directory.join(name)).ok())).collect();
        let facts = fs::metadata(&directory).expect("facts");
        all.push(((facts.ino(), facts.mode(), 0), None));
        all
    };
    let before = looks();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(looks(), before);
}

/// One command for every argument that names a file to be written.
fn writing(bench: &Bench) -> Vec<(&'static str, Invocation)> {
    vec![
        ("snapshot pull --out", bench.run(["snapshot", "pull", "--box", "edge-a1"]).arg("--out")),
        ("retention plan --out", bench.run(["retention", "plan"]).arg("--out")),
        ("retention explain --evidence-out", bench.run(["retention", "explain"]).arg("--evidence-out")),
        (
            "runbook run --transcript",
            bench.run(["runbook", "run", "planned-failover", "--unattended", "--set", "DEAD=edge-a1"]).arg("--transcript"),
        ),
        ("demo --dir", carlosctl(["demo", "--keep", "--dir"])),
    ]
}

/// Incident 5, at every file that a command is told to write: what has the name already stays, whatever it is.
#[test]
fn no_file_that_is_named_is_written_over() {
    let bench = Bench::live();
    bench.shop();
    for kind in ["file", "hard link", "link", "link to nothing", "directory", "pipe"] {
        let place = tempfile::tempdir().expect("a directory");
        let (out, other) = (place.path().join("out"), place.path().join("other"));
        fs::write(&other, b"precious").expect("a file");
        match kind {
            "file" => fs::write(&out, b"precious").expect("a file"),
            "hard link" => fs::hard_link(&other, &out).expect("a link"),
            "link" => symlink(&other, &out).expect("a link"),
            "link to nothing" => symlink(place.path().join("nothing"), &out).expect("a link"),
            "directory" => fs::create_dir(&out).expect("a directory"),
            _ => assert!(Command::new("mkfifo").arg(&out).status().expect("mkfifo").success()),
        }
        let before = fs::symlink_metadata(&out).expect("facts");
        for (what, invocation) in writing(&bench) {
            let outcome = invocation.arg(&out).run();
            assert!([2, 5].contains(&outcome.code), "{what}, {kind}: {outcome}");
            assert!(outcome.stderr.contains("exists"), "{what}, {kind}: {outcome}");
            let after = fs::symlink_metadata(&out).expect("facts");
            assert_eq!(
                (before.ino(), before.len(), before.mtime()),
                (after.ino(), after.len(), after.mtime()),
                "{what}, {kind}"
            );
            assert_eq!(fs::read(&other).expect("a file"), b"precious", "{what}, {kind}");
            assert!(!place.path().join("nothing").exists(), "{what}, {kind}");
        }
    }
}

/// The list above is complete: every argument whose help says that it must not exist is in it.
#[test]
fn every_file_that_a_command_writes_is_tried() {
    fn walk(command: &clap::Command, words: &[&str], found: &mut Vec<String>) {
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            if help.contains("must not exist") {
                let name = [words.join(" "), format!("--{}", argument.get_long().unwrap_or_default())];
                found.push(name.join(" "));
            }
        }
        for below in command.get_subcommands() {
            walk(below, &[words, &[below.get_name()]].concat(), found);
        }
    }
    let mut found = Vec::new();
    walk(&Cli::command(), &[], &mut found);
    let bench = Bench::live();
    // The demo's is a directory that is made.
    let mut tried: Vec<_> =
        writing(&bench).into_iter().map(|(name, _)| name.to_owned()).filter(|name| !name.starts_with("demo")).collect();
    found.sort();
    tried.sort();
    assert_eq!(found, tried);
}
