//! Kind: somebody who may write beside the registry, or below the store's directory, has put something there that is not what
//! its name says: a link, a pipe, another directory. Nothing is followed, waited for or written through.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rexpect::session::{Options, PtySession, spawn_with_options};

use crate::common::{Invocation, Outcome, carlosctl};
use crate::restore::Standby;

/// Runs it, and fails where it waits for something that never comes.
fn in_time(invocation: Invocation) -> Outcome {
    let mut command = invocation.into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("the child is ours").is_none() {
        if begun.elapsed() > Duration::from_mins(1) {
            let _ = child.kill();
            panic!("it hangs: {:?}", command.get_args().collect::<Vec<_>>());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// Every command that looks at the registry here.
fn looking(standby: &Standby) -> Vec<(&'static str, Invocation)> {
    let with = |args: &[&str]| {
        let invocation =
            carlosctl(args.iter().copied()).dir(&standby.deployment.dir()).arg("--registry").arg(standby.registry());
        invocation.env("PATH", standby.path()).env("CARLOS_STATUS_DIR", standby.deployment.dir())
    };
    vec![
        ("restore", standby.restore(["--confirm", "edge-a1", "--allow", "target-unreadable", "--allow", "target-not-empty"])),
        ("undo", with(&["restore", "undo", "--this-box", "edge-b2", "--confirm", "edge-b2"])),
        ("watch", with(&["restore", "watch", "--for", "1s", "--interval", "500ms"])),
        ("doctor", with(&["doctor", "--this-box", "edge-b2"])),
        ("box snapshot", with(&["box", "snapshot", "--this-box", "edge-b2"])),
        ("box report", with(&["box", "report", "--this-box", "edge-b2"])),
        ("retention explain", with(&["retention", "explain"])),
    ]
}

/// A pipe, a socket, a device or a directory at the registry's path: refused, and nobody waits at it.
#[test]
fn what_is_no_file_is_no_registry_and_is_not_waited_for() {
    for kind in ["pipe", "socket", "directory", "device"] {
        let standby = Standby::new();
        let path = standby.registry();
        for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
            let _ = fs::remove_file(path.with_file_name(name));
        }
        let _socket = match kind {
            "pipe" => {
                pipe(&path);
                None
            }
            "socket" => Some(UnixListener::bind(&path).expect("a socket")),
            "directory" => {
                fs::create_dir(&path).expect("a directory");
                None
            }
            _ => {
                assert!(Command::new("mknod").arg(&path).args(["c", "1", "5"]).status().expect("mknod").success());
                None
            }
        };
        for (what, invocation) in looking(&standby) {
            let outcome = in_time(invocation);
            if what == "restore" {
                assert_eq!(outcome.code, 5, "{kind}: {outcome}");
                assert!(outcome.stderr.contains("blocking target-unsafe:"), "{kind}: {outcome}");
            } else if what != "retention explain" {
                assert_ne!(outcome.code, 0, "{what}, {kind}: {outcome}");
            }
        }
        assert!(!fs::symlink_metadata(&path).expect("facts").is_file(), "{kind}");
    }
}

/// The same as a side file: SQLite waits for ever at a pipe that is called `-journal`, writes into what is linked as `-shm`
/// and empties what is linked as `-wal`.
#[test]
fn what_is_no_file_of_its_own_is_no_side_file() {
    for side in ["-wal", "-shm", "-journal"] {
        for kind in ["pipe", "link", "hard link"] {
            let standby = Standby::new();
            for name in ["registry.db-wal", "registry.db-shm"] {
                let _ = fs::remove_file(standby.registry().with_file_name(name));
            }
            let precious = standby.deployment.beside("precious");
            fs::write(&precious, b"precious".repeat(9000)).expect("a file");
            let path = standby.registry().with_file_name(format!("registry.db{side}"));
            match kind {
                "pipe" => pipe(&path),
                "link" => symlink(&precious, &path).expect("a link"),
                _ => fs::hard_link(&precious, &path).expect("a link"),
            }
            for (what, invocation) in looking(&standby) {
                let outcome = in_time(invocation);
                if what == "restore" {
                    assert_eq!(outcome.code, 5, "{kind}{side}: {outcome}");
                    assert!(outcome.stderr.contains("blocking target-unsafe:"), "{kind}{side}: {outcome}");
                }
                assert!(!outcome.to_string().contains("preciousprecious"), "{what}, {kind}{side}: {outcome}");
            }
            assert_eq!(fs::read(&precious).expect("a file"), b"precious".repeat(9000), "{kind}{side}");
            assert!(fs::symlink_metadata(&path).is_ok(), "{kind}{side}");
        }
    }
}

/// What stands for a kept registry or a receipt is looked at before it is opened.
#[test]
fn what_stands_for_a_kept_registry_or_a_receipt_is_no_more_than_a_name() {
    for kind in ["pipe", "link"] {
        let standby = Standby::new();
        let precious = standby.deployment.beside("precious");
        fs::write(&precious, r#"{"outcome":"precious","secret":"preciousprecious"}"#).expect("a file");
        let put = |name: &str| {
            let path = standby.registry().with_file_name(name);
            if kind == "pipe" { pipe(&path) } else { symlink(&precious, &path).expect("a link") }
        };
        put("registry.db.before-20261130T100000Z");
        put("registry.db.restore-20261130T100000Z.json");
        for (what, invocation) in looking(&standby).into_iter().filter(|(what, _)| ["undo", "watch", "doctor"].contains(what)) {
            let outcome = in_time(invocation);
            assert!(what == "doctor" || outcome.code != 0, "{what}, {kind}: {outcome}");
            assert!(!outcome.to_string().contains("preciousprecious"), "{what}, {kind}: {outcome}");
        }
        assert_eq!(standby.versions(), Vec::<String>::new());
    }
}

/// Waits for the question, lets `meanwhile` happen, consents, and answers how it ended and everything that was said.
fn with_a_change_at_the_question(standby: &Standby, meanwhile: impl FnOnce()) -> (String, String) {
    let command = standby.restore([]).env("TERM", "xterm").into_terminal_command();
    let mut session: PtySession = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).expect("a terminal");
    session.exp_string("type edge-a1 to go on").expect("the question");
    meanwhile();
    session.send_line("edge-a1").expect("typed");
    let said = session.exp_eof().expect("the end");
    (format!("{:?}", session.process().wait().expect("it ends")), said)
}

/// The path is a link, and leads elsewhere when the operator has consented to what it led to.
#[test]
fn a_link_that_is_turned_at_the_question_is_noticed() {
    let standby = Standby::new();
    let (one, other) = (standby.deployment.beside("one"), standby.deployment.beside("other"));
    for place in [&one, &other] {
        fs::create_dir(place).expect("a directory");
        fs::copy(standby.registry(), place.join("registry.db")).expect("a copy");
    }
    fs::remove_file(standby.registry()).expect("a file");
    symlink(one.join("registry.db"), standby.registry()).expect("a link");
    let files = |place: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(place).expect("a directory").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| !path.to_string_lossy().contains("carlosctl-stage")).collect()
    };
    let before = (files(&one), files(&other));
    let (status, said) = with_a_change_at_the_question(&standby, || {
        fs::remove_file(standby.registry()).expect("a link");
        symlink(other.join("registry.db"), standby.registry()).expect("a link");
    });
    assert!(status.ends_with(", 7)") && said.contains("changed since it was looked at"), "{status}: {said}");
    assert_eq!((files(&one), files(&other)), before, "{said}");
}

/// The registry itself is another file, or a link, or has a side file by now.
#[test]
fn a_registry_that_is_another_one_at_the_question_is_noticed() {
    for kind in ["copy", "link", "wal"] {
        let standby = Standby::new();
        let copy = standby.deployment.beside("copy");
        fs::copy(standby.registry(), &copy).expect("a copy");
        let (status, said) = with_a_change_at_the_question(&standby, || match kind {
            "copy" => fs::rename(&copy, standby.registry()).expect("moved"),
            "link" => {
                fs::remove_file(standby.registry()).expect("a file");
                symlink(&copy, standby.registry()).expect("a link");
            }
            _ => fs::write(standby.registry().with_file_name("registry.db-wal"), b"late").expect("a file"),
        });
        assert!(status.ends_with(", 7)"), "{kind}: {status}: {said}");
        assert!(said.contains("changed since it was looked at"), "{kind}: {said}");
        assert_eq!(standby.deployment.everything().iter().filter(|(key, _)| key.contains("/restores/")).count(), 0);
    }
}

/// The directory is another one, in which there is no registry either.
#[test]
fn a_directory_that_is_another_one_at_the_question_is_noticed() {
    let standby = Standby::new();
    let directory = standby.deployment.beside("data");
    fs::remove_dir_all(&directory).expect("removed");
    fs::create_dir(&directory).expect("a directory");
    let (status, said) = with_a_change_at_the_question(&standby, || {
        fs::rename(&directory, standby.deployment.beside("moved")).expect("moved");
        fs::create_dir(&directory).expect("a directory");
    });
    assert!(status.ends_with(", 7)") && said.contains("changed since it was looked at"), "{status}: {said}");
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 0, "{said}");
}

/// A link to nothing is a link to a place: where that place is no directory that is there, it is refused.
#[test]
fn a_link_to_nothing_is_the_place_that_it_names() {
    let standby = Standby::new();
    for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        let _ = fs::remove_file(standby.registry().with_file_name(name));
    }
    let place = standby.deployment.beside("elsewhere");
    symlink(place.join("real.db"), standby.registry()).expect("a link");
    let before = standby.files();
    standby.refused(&standby.restore(["--confirm", "edge-a1"]).run(), 5, &before, &["target-unwritable"]);
    fs::create_dir(&place).expect("a directory");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(fs::symlink_metadata(standby.registry()).expect("facts").is_symlink());
    assert_eq!(standby.versions(), ["v0"]);
    assert!(place.join("real.db").is_file());
}

/// Below a store's directory a link leads nowhere, and a pipe is not waited for: whoever may write there could otherwise have
/// any file of the operator's machine shown, or copied into the store.
#[test]
fn nothing_below_the_store_leads_out_of_it() {
    for kind in ["link", "linked directory", "pipe", "hard link"] {
        let standby = Standby::new();
        let outside = standby.deployment.beside("outside");
        fs::create_dir(&outside).expect("a directory");
        fs::write(outside.join("edge-a1.db"), b"preciousprecious").expect("a file");
        let (directory, file) = ("control/registry-snapshot", "control/registry-snapshot/edge-a1.db");
        let at = |key: &str| standby.deployment.file(key);
        if kind == "linked directory" {
            fs::remove_dir_all(at(directory)).expect("removed");
            symlink(&outside, at(directory)).expect("a link");
        } else {
            standby.deployment.remove(file);
            match kind {
                "link" => symlink(outside.join("edge-a1.db"), at(file)).expect("a link"),
                "pipe" => pipe(&at(file)),
                _ => fs::hard_link(outside.join("edge-a1.db"), at(file)).expect("a link"),
            }
        }
        let before = standby.files();
        let dir = standby.deployment.dir();
        let with = |args: &[&str]| in_time(carlosctl(args.iter().copied()).dir(&dir));
        for outcome in [
            in_time(standby.restore(["--confirm", "edge-a1"])),
            with(&["snapshot", "list"]),
            with(&["snapshot", "hold", "--box", "edge-a1"]),
            with(&["snapshot", "show", "--box", "edge-a1"]),
        ] {
            assert_ne!(outcome.code, 0, "{kind}: {outcome}");
            assert!(!outcome.to_string().contains("preciousprecious"), "{kind}: {outcome}");
        }
        assert!(standby.files() == before, "{kind}");
        assert_eq!(fs::read(outside.join("edge-a1.db")).expect("a file"), b"preciousprecious");
        assert_eq!(fs::read_dir(&outside).expect("a directory").count(), 1, "{kind}");
    }
}

/// A page that is written into a directory replaces a link that has its name, and does not write through it.
#[test]
fn a_manual_page_is_not_written_through_a_link() {
    let place = tempfile::tempdir().expect("a directory");
    let (out, precious) = (place.path().join("man"), place.path().join("precious"));
    fs::create_dir(&out).expect("a directory");
    fs::write(&precious, b"precious").expect("a file");
    symlink(&precious, out.join("carlosctl.1")).expect("a link");
    let outcome = carlosctl(["man", "--out"]).arg(&out).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(fs::read(&precious).expect("a file"), b"precious");
    assert!(fs::read_to_string(out.join("carlosctl.1")).expect("a page").starts_with(".ie"));
}
