//! Kind: owner, mode or place of the new file differ from the old one's, or there is no room for it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use crate::common::{Invocation, carlosctl};
use crate::restore::Standby;

/// A uid that nobody has.
const SERVICE: u32 = 12_345;

/// As a shell with umask 000 would start it.
fn with_open_umask(invocation: Invocation) -> Command {
    within("umask 000; exec \"$@\"", invocation, &["sh"])
}

/// The binary started by a script, whose `"$@"` it is, in what `outer` starts.
fn within(script: &str, invocation: Invocation, outer: &[&str]) -> Command {
    let inner = invocation.into_command();
    let mut command = Command::new(outer[0]);
    command.args(&outer[1..]).args(["-c", script, "sh"]).arg(inner.get_program()).args(inner.get_args()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn facts(path: &Path) -> (u32, u32, u32) {
    let facts = fs::metadata(path).expect("facts");
    (facts.uid(), facts.gid(), facts.mode() & 0o7777)
}

/// Row 30: the restored file belonged to root, and the service saw a database that it could not write.
#[test]
fn the_new_registry_belongs_to_whom_the_old_one_belonged_to() {
    let standby = Standby::new();
    chown(standby.registry(), Some(SERVICE), Some(SERVICE + 1)).expect("this test runs as root");
    fs::set_permissions(standby.registry(), fs::Permissions::from_mode(0o640)).expect("a mode");
    let output = with_open_umask(standby.restore(["--confirm", "edge-a1"])).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(facts(&standby.registry()), (SERVICE, SERVICE + 1, 0o640));
    for (name, _, mode, _) in standby.files() {
        assert_eq!(mode & 0o137, 0, "{name} is wider than the registry: {mode:o}");
        let path = standby.deployment.beside("data").join(&name);
        if name.contains(".before-") {
            assert_eq!(facts(&path), (SERVICE, SERVICE + 1, 0o640));
        }
    }
    assert_eq!(standby.versions(), ["v0"]);
}

/// Row 30: without an old file the directory's owner is who will open the new one, and nobody else.
#[test]
fn without_an_old_registry_the_directory_says_whose_it_is() {
    let standby = Standby::new();
    let directory = standby.deployment.beside("data");
    fs::remove_file(standby.registry()).expect("removed");
    chown(&directory, Some(SERVICE), Some(SERVICE)).expect("this test runs as root");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o750)).expect("a mode");
    let output = with_open_umask(standby.restore(["--confirm", "edge-a1"])).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(facts(&standby.registry()), (SERVICE, SERVICE, 0o600));
    assert_eq!(facts(&directory), (SERVICE, SERVICE, 0o750));
}

/// Runner-up: a restore that root did left one file that belonged to root, and the mode of a directory around it was another
/// one afterwards.
#[test]
fn what_root_does_leaves_nothing_to_root_and_the_directories_as_they_were() {
    let standby = Standby::new();
    let directory = standby.deployment.beside("data");
    for path in [&directory, &standby.registry()] {
        chown(path, Some(SERVICE), Some(SERVICE)).expect("this test runs as root");
    }
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o750)).expect("a mode");
    let around = || [directory.as_path(), directory.parent().expect("a parent")].map(facts);
    let before = around();
    let undo = carlosctl(["restore", "undo", "--this-box", "edge-b2", "--confirm", "edge-b2"])
        .dir(&standby.deployment.dir())
        .arg("--registry")
        .arg(standby.registry())
        .env("PATH", standby.path());
    for invocation in [standby.restore(["--confirm", "edge-a1"]), undo] {
        let output = with_open_umask(invocation).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let mut seen = 0;
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let (uid, gid, mode) = facts(&path);
            assert_eq!((uid, gid, mode & 0o077), (SERVICE, SERVICE, 0), "{}", path.display());
            seen += 1;
        }
        assert!(seen >= 3, "the registry, the one before it and the receipt");
        assert_eq!(around(), before);
    }
}

/// Row 30: somebody who cannot give a file away is told so before anything is exchanged.
#[test]
fn who_cannot_give_the_file_away_is_refused() {
    let standby = Standby::new();
    let directory = standby.deployment.beside("data");
    let invocation = standby.restore(["--confirm", "edge-a1"]);
    for path in [&directory, &standby.deployment.dir()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("a mode");
    }
    fs::set_permissions(directory.parent().expect("a parent"), fs::Permissions::from_mode(0o755)).expect("a mode");
    chown(standby.registry(), Some(SERVICE), Some(SERVICE)).expect("this test runs as root");
    fs::set_permissions(standby.registry(), fs::Permissions::from_mode(0o644)).expect("a mode");
    let before = standby.files();
    // The binary may lie where this user cannot reach it.
    let binary = standby.deployment.beside("carlosctl");
    fs::copy(env!("CARGO_BIN_EXE_carlosctl"), &binary).expect("a copy");
    let inner = invocation.into_command();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=54321", "--regid=54321", "--clear-groups", "--"]).arg(binary).args(inner.get_args());
    command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("setpriv starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("blocking target-unwritable:") && said.contains("belongs to uid 12345"), "{said}");
    assert!(standby.files() == before, "{said}");
}

/// Runs a restore in a mount namespace in which `mounts` was done; every file of the registry's directory before and after it.
fn among_mounts(standby: &Standby, mounts: &str, invocation: Invocation) -> (Option<i32>, String, [String; 2]) {
    let script = format!(
        "D='{}'; B='{}'; look() {{ (cd $D && stat -c '%n %i %U %a' . * && sha256sum *) >\"$1\" 2>&1; }};
         {mounts}; look $B/before; \"$@\" >$B/stdout; code=$?; look $B/after; exit $code",
        standby.deployment.beside("data").display(),
        standby.deployment.beside("").display()
    );
    let output = within(&script, invocation, &["unshare", "--mount", "sh"]).output().expect("unshare starts");
    let looked = ["before", "after"].map(|name| fs::read_to_string(standby.deployment.beside(name)).expect("a look"));
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), looked)
}

/// Moves the registry onto a new tmpfs of this size.
const ONTO_TMPFS: &str =
    "cp $D/registry.db $B/kept && mount -t tmpfs -o size=SIZE,mode=750 tmpfs $D && cp $B/kept $D/registry.db";

/// Row 31 a: the temporary directory is another filesystem, from which nothing can be renamed.
#[test]
fn the_temporary_directory_may_be_elsewhere() {
    let standby = Standby::new();
    let temporary = standby.deployment.beside("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let invocation = standby.restore(["--confirm", "edge-a1"]).env("TMPDIR", &temporary);
    let (code, said, _) = among_mounts(&standby, "mount -t tmpfs tmpfs $B/tmp", invocation);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(standby.versions(), ["v0"]);
}

/// Row 31 b: the disk filled up in the middle, and what was left was neither the old nor the new database.
#[test]
fn without_room_it_is_refused_and_says_how_much_is_needed() {
    let standby = Standby::new();
    let mounts = ONTO_TMPFS.replace("SIZE", "80k");
    let (code, said, [before, after]) = among_mounts(&standby, &mounts, standby.restore(["--confirm", "edge-a1"]));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("blocking no-space:") && said.contains("needs") && said.contains("are free"), "{said}");
    assert_eq!(before, after, "{said}");
}

/// Row 31 c: the directory is mounted read-only.
#[test]
fn a_read_only_directory_is_refused() {
    let standby = Standby::new();
    let mounts = format!("{} && mount -o remount,ro $D", ONTO_TMPFS.replace("SIZE", "4m"));
    let (code, said, [before, after]) = among_mounts(&standby, &mounts, standby.restore(["--confirm", "edge-a1"]));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("blocking target-unwritable:") && said.contains("read-only"), "{said}");
    assert_eq!(before, after, "{said}");
}
