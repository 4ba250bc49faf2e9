//! Kind: a file that more people may read or write than is good, because the umask was taken for a rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use carlosctl::demo::registry::{build_live, busy_box};

use crate::common::apps::Bench;
use crate::common::scripted::{Answer, Reply};
use crate::common::{Invocation, Outcome};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner, objects};

/// As a shell with umask 000 would start it.
fn open_umask(invocation: Invocation) -> Command {
    let inner = invocation.into_command();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    command
}

fn run(invocation: Invocation) -> Outcome {
    let output = open_umask(invocation).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

/// Everything below a directory, with its mode.
fn modes(root: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(&at).expect("a directory") {
            let path = entry.expect("an entry").path();
            let facts = fs::symlink_metadata(&path).expect("facts");
            if facts.is_dir() {
                waiting.push(path.clone());
            }
            found.insert(path, facts.permissions().mode() & 0o7777);
        }
    }
    found
}

/// Every command that writes, under umask 000: nothing that came is writable by everybody, and what has a registry, a plan or
/// a receipt in it is its owner's alone.
#[test]
fn nothing_that_is_written_is_as_wide_as_the_umask() {
    let bench = Bench::live();
    bench.shop();
    let standby = bench.deployment.beside("standby");
    fs::create_dir(&standby).expect("a directory");
    fs::set_permissions(&standby, fs::Permissions::from_mode(0o755)).expect("a mode");
    let registry = standby.join("registry.db");
    build_live(&registry, &busy_box(30, "v5")).expect("a registry");
    let out = bench.deployment.beside("out");
    fs::create_dir(&out).expect("a directory");
    let before: BTreeSet<PathBuf> = modes(&bench.deployment.beside("")).into_keys().collect();
    let path = |name: &str| out.join(name).display().to_string();
    let (pull, plan, evidence, transcript) = (path("pull"), path("plan"), path("evidence"), path("transcript"));
    let demo = bench.deployment.beside("demo").display().to_string();
    let restore = ["restore", "--from-box", "edge-a1", "--confirm", "edge-a1", "--allow", "target-not-empty"];
    let allowed = [
        "--allow",
        "box-already-published",
        "--allow",
        "still-writing",
        "--allow",
        "rows-collapsed",
        "--allow",
        "dead-box-reporting",
    ];
    for (args, codes) in [
        (&["box", "snapshot"][..], &[0][..]),
        (&["box", "report"], &[0]),
        (&["snapshot", "pull", "--box", "edge-a1", "--out", &pull], &[0]),
        (&["snapshot", "hold", "--box", "edge-a1"], &[0]),
        (&["retention", "explain", "--evidence-out", &evidence], &[0, 4]),
        (&["retention", "plan", "--out", &plan], &[0, 4]),
        (&["runbook", "run", "quarterly-drill", "--unattended", "--transcript", &transcript], &[0, 3, 4, 5]),
        (&["drill", "--box", "edge-a1"], &[0]),
        (&[&restore[..], &allowed].concat(), &[0]),
        (&["restore", "undo", "--confirm", "edge-b2"], &[0]),
        (&["man", "--out", &path("")], &[0]),
    ] {
        let invocation = bench.run(args.iter().copied()).arg("--registry").arg(&registry).env("CARLOS_BOX_LABEL", "edge-b2");
        let outcome = run(invocation.env("PATH", "/usr/bin:/bin"));
        assert!(codes.contains(&outcome.code), "{args:?}: {outcome}");
    }
    let kept = run(crate::common::carlosctl(["demo", "--keep", "--dir", &demo]));
    assert_eq!(kept.code, 0, "{kept}");
    let after = modes(&bench.deployment.beside(""));
    let new: Vec<_> = after.iter().filter(|(path, _)| !before.contains(*path)).collect();
    for (path, mode) in &new {
        assert_eq!(*mode & 0o002, 0, "{} is {mode:o}", path.display());
        let here = path.starts_with(&standby) || path.starts_with(&out);
        let page = path.extension().is_some_and(|end| end == "1");
        if here && !page && path.is_file() {
            assert_eq!(*mode & 0o077, 0, "{} is {mode:o}", path.display());
        }
    }
    let ends = |end: &str| new.iter().filter(|(path, _)| path.to_string_lossy().contains(end)).count();
    for (name, least) in
        [("out/pull", 1), ("out/plan", 1), ("out/evidence", 1), ("out/transcript", 1), ("registry.db.undone-", 1)]
    {
        assert!(ends(name) >= least, "{name}");
    }
    for (name, least) in
        [("registry.db.restore-", 2), ("control/carlosctl/holds/", 5), ("control/carlosctl/drills/", 1), ("demo/", 30)]
    {
        assert!(ends(name) >= least, "{name}: {}", ends(name));
    }
    assert_eq!(fs::metadata(&demo).expect("facts").permissions().mode() & 0o7777, 0o700, "a demo is its owner's");
}

/// What is received to be looked at, in the middle of it: in a directory that nobody else may enter, under a name that nobody
/// can guess, and so no `-wal` can be put beside it.
#[test]
fn what_is_received_lies_where_nobody_else_can_look() {
    let standby = Standby::new();
    let temporary = standby.deployment.beside("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let current = "control/registry-snapshot/edge-a1.db";
    let half = objects(&standby.deployment)[current].body.len() / 2;
    let mut names = BTreeSet::new();
    let scratch = temporary.display().to_string();
    for args in [&["snapshot", "verify"][..], &["snapshot", "show", "--box", "edge-a1"], &["drill", "--scratch", &scratch]] {
        let (sender, half_sent) = mpsc::channel();
        let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, objects| {
            asked.gets(current).then(|| {
                let _ = sender.send(());
                Answer::from(Reply::object(objects[current].body.clone(), &objects[current].etag).stall_after(half))
            })
        });
        let mut child = open_umask(bucket.run(args.iter().copied()).env("TMPDIR", &temporary))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        half_sent.recv_timeout(Duration::from_mins(1)).expect("the download begins");
        let found = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let found = modes(&temporary);
            found
                .iter()
                .any(|(path, _)| fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() > 0))
                .then_some(found)
        });
        let _ = child.kill();
        let _ = child.wait();
        for (path, mode) in found.expect("something is received") {
            assert_eq!(mode & 0o077, 0, "{args:?}: {} is {mode:o}", path.display());
            if path.parent() == Some(&temporary) {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let random = name.rsplit('-').next().expect("an end");
                assert!(random.len() >= 16, "{name}");
                assert!(names.insert(random.to_owned()), "{name}");
            }
        }
        fs::remove_dir_all(&temporary).expect("removed");
        fs::create_dir(&temporary).expect("a directory");
    }
    assert!(names.len() >= 3, "{names:?}");
}

/// The lock file, in the middle of it.
#[test]
fn the_lock_is_its_owners_alone() {
    let standby = Standby::new();
    let said = standby.deployment.beside("said");
    standby.systemctl(&format!(
        "stat -c '%a' '{}.carlosctl-lock' >>'{}' 2>/dev/null; echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead",
        standby.registry().display(),
        said.display()
    ));
    let outcome = run(standby.restore(["--confirm", "edge-a1"]));
    assert_eq!(outcome.code, 0, "{outcome}");
    let said = fs::read_to_string(said).expect("it was asked");
    assert!(!said.is_empty() && said.lines().all(|mode| mode == "600"), "{said}");
}
