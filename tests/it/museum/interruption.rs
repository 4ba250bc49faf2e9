//! Kind: an interrupted run leaves something half done, or blocks the next one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rexpect::session::{Options, spawn_with_options};

use crate::common::Invocation;
use crate::common::scripted::{Answer, Reply};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner, objects};

const CURRENT: &str = "control/registry-snapshot/edge-a1.db";

/// A bucket that sends half of the current snapshot, says so, and then nothing more.
fn stalling(standby: &Standby) -> (Bucket, mpsc::Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    let half = objects(&standby.deployment)[CURRENT].body.len() / 2;
    let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, objects| {
        asked.gets(CURRENT).then(|| {
            let object = &objects[CURRENT];
            let _ = sender.send(());
            Answer::from(Reply::object(object.body.clone(), &object.etag).stall_after(half))
        })
    });
    (bucket, receiver)
}

fn start(invocation: Invocation) -> Child {
    let mut command = invocation.into_command();
    // As a shell with umask 000 would start it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command = shell;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Ctrl-C, and how it ended.
fn interrupt(child: Child) -> Output {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    child.wait_with_output().expect("it ends")
}

/// Row 33, and row 30 on the way: Ctrl-C in the middle of the download. What was received lies where nobody else can look,
/// goes away again, and the next run is not in its way.
#[test]
fn ctrl_c_during_the_download_leaves_nothing_and_the_next_run_works() {
    let standby = Standby::new();
    let before = standby.files();
    let (bucket, half_sent) = stalling(&standby);
    let child = start(bucket.restore(&standby, ["--confirm", "edge-a1", "--json"]));
    half_sent.recv_timeout(Duration::from_secs(20)).expect("the download begins");
    let stage = staged(&standby);
    assert_eq!(fs::metadata(&stage).expect("facts").mode() & 0o7777, 0o700);
    for entry in fs::read_dir(&stage).expect("a directory") {
        assert_eq!(entry.expect("an entry").metadata().expect("facts").permissions().mode() & 0o7777, 0o600);
    }
    let begun = Instant::now();
    let output = interrupt(child);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{said}");
    let error: serde_json::Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&error["code"], &error["kind"]), (&130.into(), &"interrupted".into()));
    assert!(standby.files() == before, "{said}");

    let again = Bucket::healthy(&standby.deployment).restore(&standby, ["--confirm", "edge-a1"]).run();
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(standby.versions(), ["v0"]);
}

/// The directory that is received into, as soon as something is in it.
fn staged(standby: &Standby) -> std::path::PathBuf {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let entries = fs::read_dir(standby.deployment.beside("data")).expect("a directory");
        let stage = entries.map(|entry| entry.expect("an entry").path()).find(|path| path.is_dir());
        if let Some(stage) = stage.filter(|stage| fs::metadata(stage.join("staged.db")).is_ok_and(|facts| facts.len() > 0)) {
            return stage;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing was staged beside the registry");
}

/// Row 38 d: Ctrl-C while a progress bar is drawn left a terminal without a cursor.
#[test]
fn ctrl_c_during_the_download_at_a_terminal_leaves_the_cursor() {
    let standby = Standby::new();
    let before = standby.files();
    let (bucket, half_sent) = stalling(&standby);
    let command = bucket.restore(&standby, []).env("TERM", "xterm").into_terminal_command();
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(30_000))).expect("a terminal");
    half_sent.recv_timeout(Duration::from_secs(20)).expect("the download begins");
    // Longer than the first second, in which nothing is drawn.
    std::thread::sleep(Duration::from_millis(1200));
    session.send_control('c').expect("typed");
    let said = session.exp_eof().expect("the end");
    let status = format!("{:?}", session.process().wait().expect("it ends"));
    assert!(status.ends_with(", 130)"), "{status}: {said}");
    assert_eq!(said.matches("\u{1b}[?25l").count(), said.matches("\u{1b}[?25h").count(), "{said:?}");
    assert!(standby.files() == before, "{said}");
}

/// The kind of row 33, behind the exchange: the registry was in place, and a Ctrl-C took the receipt and the answer away.
#[test]
fn ctrl_c_behind_the_exchange_finishes_what_was_begun() {
    let standby = Standby::new();
    let (sender, receiver) = mpsc::channel();
    let bucket = Bucket::of(&standby.deployment, Manner::default(), move |asked, _| {
        if asked.request.method == "PUT" && asked.key.starts_with("control/carlosctl/restores/") {
            let _ = sender.send(());
            std::thread::sleep(Duration::from_millis(1500));
        }
        None::<Reply>
    });
    let child = start(bucket.restore(&standby, ["--confirm", "edge-a1", "--json"]));
    receiver.recv_timeout(Duration::from_secs(20)).expect("the receipt is written");
    let output = interrupt(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("finishing what was begun first"), "{said}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the whole answer");
    assert_eq!(document["outcome"], "installed");
    assert!(document["receipt"].is_string(), "{document}");
    assert_eq!(standby.versions(), ["v0"]);
}

/// Row 38 b: a pipe that is closed is no terminal either; it must not hang or spin.
#[test]
fn a_closed_pipe_is_refused_at_once_with_the_name_of_the_flag() {
    let standby = Standby::new();
    let before = standby.files();
    let mut child = standby.restore([]).into_command();
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("--confirm edge-a1"), "{said}");
    assert!(standby.files() == before);
}
