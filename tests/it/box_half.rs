//! The box half at the level of the binary, beside real processes that write the registry.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carlosctl::demo::registry::{build_live, busy_box};
use carlosctl::host::interlock::{Claim, Interlock};
use carlosctl::host::target::Target;
use carlosctl::platform::Sidecar;
use carlosctl::registry::Registry;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::deployment::{Deployment, at};
use crate::common::{Invocation, Outcome, carlosctl};

/// A deployment and a live registry with this many routes beside it.
fn lived(routes: usize) -> (Deployment, PathBuf) {
    let deployment = Deployment::new();
    let registry = deployment.beside("registry.db");
    build_live(&registry, &busy_box(routes, "v1")).expect("a registry");
    (deployment, registry)
}

fn on_the_box(args: &[&str], deployment: &Deployment, registry: &Path) -> Invocation {
    // A killed process leaves its private copy behind: here, where the test removes it.
    let scratch = deployment.beside("tmp");
    std::fs::create_dir_all(&scratch).expect("a directory");
    let invocation = carlosctl(args.iter().copied()).dir(&deployment.dir()).arg("--registry").arg(registry);
    invocation.env("CARLOS_BOX_LABEL", "edge-a1").env("TMPDIR", scratch)
}

fn edit(registry: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(registry).expect("it opens");
    connection.busy_timeout(Duration::from_secs(10)).expect("set");
    connection.execute_batch(sql).expect("it runs");
}

fn fingerprint(path: &Path) -> String {
    Registry::open_live(path).expect("it opens").fingerprint().expect("a fingerprint")
}

/// Current, sidecar and generations are of one content: the registry's.
fn is_healthy(deployment: &Deployment, registry: &Path) {
    let current = deployment.file("control/registry-snapshot/edge-a1.db");
    let key = "control/registry-snapshot/edge-a1.json";
    let sidecar = Sidecar::read(key, &std::fs::read(deployment.file(key)).expect("a sidecar")).expect("it reads");
    assert_eq!(sidecar.bytes, std::fs::metadata(&current).expect("current").len());
    assert_eq!(sidecar.fingerprint, fingerprint(&current));
    assert_eq!(sidecar.fingerprint, fingerprint(registry));
    assert!(generations(deployment) <= 8, "{} generations", generations(deployment));
}

fn generations(deployment: &Deployment) -> usize {
    std::fs::read_dir(deployment.file("control/registry-snapshots/edge-a1")).map_or(0, Iterator::count)
}

/// Another process that writes the registry all the time, until it is dropped.
struct Writer(Child);

impl Writer {
    fn start(registry: &Path) -> Self {
        let mut child =
            Command::new("sqlite3").arg(registry).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("sqlite3");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::spawn(move || {
            let _ = writeln!(stdin, ".timeout 10000");
            for number in 0.. {
                // Both tables in one transaction: a copy that has one without the other is torn.
                let write = writeln!(
                    stdin,
                    "BEGIN; UPDATE routes SET caps = 'n{number}'; UPDATE route_aliases SET host = 'n{number}'; COMMIT;"
                );
                if write.and_then(|()| stdin.flush()).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        Self(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A loop under way. Killed when it is dropped.
struct Loop(Child);

impl Loop {
    fn start(invocation: Invocation) -> Self {
        Self(invocation.into_command().stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary starts"))
    }

    /// Reads its standard error up to a line that has `text` in it.
    fn wait_for(&mut self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        let mut lines = BufReader::new(self.0.stderr.as_mut().expect("a pipe")).lines();
        loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended before {text:?}: {seen:?}")).expect("a line");
            let found = line.contains(text);
            seen.push(line);
            if found {
                return seen;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).expect("a pid")).expect("a pid");
        kill_process(pid, signal).expect("signalled");
    }

    /// How it ends, and after how long.
    fn end(mut self) -> (Option<i32>, Duration) {
        let started = Instant::now();
        let status = self.0.wait().expect("it ends");
        (status.code(), started.elapsed())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn verified(deployment: &Deployment) -> Outcome {
    carlosctl(["snapshot", "verify", "--box", "edge-a1", "--all-generations"]).dir(&deployment.dir()).run()
}

#[test]
fn a_pass_publishes_what_snapshot_verify_calls_good() {
    let (deployment, registry) = lived(200);
    let outcome = on_the_box(&["box", "snapshot", "--json"], &deployment, &registry).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    assert_eq!(
        (document["schema"].as_str(), document["outcome"].as_str()),
        (Some("carlosctl.box-snapshot/1"), Some("published"))
    );
    assert_eq!((document["routes"].as_u64(), document["pruned"].as_u64()), (Some(200), Some(0)));
    is_healthy(&deployment, &registry);
    let verify = verified(&deployment);
    assert_eq!(verify.code, 0, "{verify}");

    let again = on_the_box(&["box", "snapshot"], &deployment, &registry).run();
    assert_eq!((again.code, again.stdout.as_str()), (0, "agent: registry snapshot: unchanged\n"), "{again}");
    let left: Vec<_> = std::fs::read_dir(registry.parent().expect("a parent"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name.ends_with("-wal") || name.ends_with("-shm"))
        .collect();
    assert_eq!(left, Vec::<String>::new(), "nothing is left beside a registry that nobody has open");
    let scratch = std::fs::read_dir(deployment.beside("tmp")).expect("a directory");
    assert_eq!(scratch.count(), 0, "the private copies are removed");
}

#[test]
fn every_copy_of_a_registry_under_constant_writing_is_of_one_moment() {
    let (deployment, registry) = lived(200);
    let writer = Writer::start(&registry);
    let invocation = on_the_box(&["box", "snapshot", "--loop", "--interval", "100ms"], &deployment, &registry);
    let mut repeat = Loop::start(invocation);
    for _ in 0..6 {
        repeat.wait_for("published");
    }
    repeat.signal(Signal::TERM);
    assert_eq!(repeat.end().0, Some(0));
    drop(writer);
    let mut seen = 0;
    for entry in std::fs::read_dir(deployment.file("control/registry-snapshots/edge-a1")).expect("a tail") {
        let path = entry.expect("an entry").path();
        let copy = rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).expect("it opens");
        let distinct = "SELECT count(*) FROM (SELECT caps FROM routes UNION SELECT host FROM route_aliases)";
        assert_eq!(copy.query_row(distinct, [], |row| row.get::<_, i64>(0)).expect("it counts"), 1, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0);
    let last = on_the_box(&["box", "snapshot"], &deployment, &registry).run();
    assert_eq!(last.code, 0, "{last}");
    is_healthy(&deployment, &registry);
}

#[test]
fn a_loop_is_armed_says_a_line_a_pass_and_ends_at_sigterm() {
    let (deployment, registry) = lived(20);
    let invocation = on_the_box(&["box", "snapshot", "--loop", "--interval", "50ms", "--json"], &deployment, &registry);
    let mut repeat = Loop::start(invocation);
    let lines = repeat.wait_for("unchanged");
    assert_eq!(lines[0], "agent: registry snapshot loop armed (every 50ms, control/registry-snapshot/edge-a1.db)", "{lines:?}");
    assert!(lines[1].starts_with("agent: registry snapshot: published control/registry-snapshots/edge-a1/"), "{lines:?}");
    assert_eq!(lines[2], "agent: registry snapshot: unchanged");
    edit(&registry, "UPDATE routes SET unit = 'app.service' WHERE rowid = 1");
    repeat.wait_for("published");
    std::fs::remove_file(&registry).expect("removed");
    repeat.wait_for("agent: registry snapshot pass: snapshot: fingerprint: ");
    repeat.signal(Signal::TERM);
    let mut stdout = repeat.0.stdout.take().expect("a pipe");
    let (code, after) = repeat.end();
    assert_eq!(code, Some(0));
    assert!(after < Duration::from_secs(5), "an idle loop hears it at once: {after:?}");
    let mut document = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut document).expect("it reads");
    let document: serde_json::Value = serde_json::from_str(&document).expect("one document");
    assert_eq!(document["schema"], "carlosctl.box-loop/1");
    assert!(document["failed"].as_u64() >= Some(1), "{document}");
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_stops() {
    let (deployment, registry) = lived(20);
    let socket_path = deployment.beside("notify");
    let socket = UnixDatagram::bind(&socket_path).expect("bound");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    let status = deployment.beside("status");
    std::fs::create_dir(&status).expect("a directory");
    let invocation = on_the_box(&["box", "run", "--interval", "50ms"], &deployment, &registry);
    let repeat = Loop::start(invocation.env("NOTIFY_SOCKET", &socket_path).arg("--status-dir").arg(&status));
    let hear = || {
        let mut heard = [0; 64];
        let length = socket.recv(&mut heard).expect("heard");
        String::from_utf8_lossy(&heard[..length]).into_owned()
    };
    assert_eq!(hear(), "READY=1");
    let report = status.join("status/boxes/edge-a1.json");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !(report.exists() && deployment.file("control/registry-snapshot/edge-a1.json").exists()) {
        assert!(Instant::now() < deadline, "nothing was published");
        std::thread::sleep(Duration::from_millis(20));
    }
    repeat.signal(Signal::TERM);
    assert_eq!(hear(), "STOPPING=1");
    assert_eq!(repeat.end().0, Some(0));
    is_healthy(&deployment, &registry);
}

#[test]
fn a_unit_with_nothing_to_do_is_ready_and_ends_and_one_without_a_store_fails_with_the_reason() {
    let (deployment, registry) = lived(20);
    let socket_path = deployment.beside("notify");
    let socket = UnixDatagram::bind(&socket_path).expect("bound");
    socket.set_nonblocking(true).expect("set");
    let hear = || {
        let mut heard = [0; 128];
        socket.recv(&mut heard).ok().map(|length| String::from_utf8_lossy(&heard[..length]).into_owned())
    };
    let on_a_fleet_box = on_the_box(&["box", "run"], &deployment, &registry).env("CARLOS_BOX_ROLE", "fleet");
    let skipped = on_a_fleet_box.env("NOTIFY_SOCKET", &socket_path).run();
    insta::assert_snapshot!(skipped, @r"
    ------- stderr -------
    agent: box half is a platform-box job — skipped on a fleet box
    [exit 0]
    ");
    assert_eq!(hear().as_deref(), Some("READY=1\nSTATUS=box half is a platform-box job — skipped on a fleet box"));

    let without = |args: [&str; 2]| {
        let invocation = carlosctl(args).arg("--registry").arg(&registry).env("CARLOS_BOX_LABEL", "edge-a1");
        invocation.env("NOTIFY_SOCKET", &socket_path)
    };
    insta::assert_snapshot!(without(["box", "run"]).run(), @"
    ------- stderr -------
    error: no deployment store is named
    hint: give --bucket NAME or --dir PATH, or set CARLOS_DEPLOYMENT_BUCKET or CARLOS_DEPLOYMENT_DIR
    hint: or name a file that sets them, where it is not /etc/carlos/host.env: --host-env PATH
    hint: to look around first: carlosctl demo
    [exit 2]
    ");
    assert_eq!(hear(), None);
    assert_eq!(without(["box", "snapshot"]).arg("--loop").run().code, 0);
    assert_eq!(hear().as_deref(), Some("READY=1\nSTATUS=registry snapshot loop disabled: no deployment store is named"));
}

#[test]
fn killed_at_any_moment_the_next_pass_heals() {
    let (deployment, registry) = lived(200);
    let writer = Writer::start(&registry);
    for round in 0..12_u64 {
        let invocation = on_the_box(&["box", "snapshot", "--loop", "--interval", "1ms"], &deployment, &registry);
        let mut repeat = Loop::start(invocation);
        repeat.wait_for("published");
        std::thread::sleep(Duration::from_millis(3 * round));
        repeat.signal(Signal::KILL);
        repeat.end();
    }
    drop(writer);
    edit(&registry, "UPDATE routes SET version = 'last'");
    // Of two passes in one second the generation is the first one's (seed), so the last has a second of its own.
    std::thread::sleep(Duration::from_millis(1100));
    let last = on_the_box(&["box", "snapshot"], &deployment, &registry).run();
    assert_eq!(last.code, 0, "{last}");
    is_healthy(&deployment, &registry);
    let verify = verified(&deployment);
    assert_eq!(verify.code, 0, "{verify}");
}

#[test]
fn two_loops_of_one_label_on_one_registry_end_healthy() {
    let (deployment, registry) = lived(50);
    let writer = Writer::start(&registry);
    let start = || Loop::start(on_the_box(&["box", "snapshot", "--loop", "--interval", "20ms"], &deployment, &registry));
    let mut loops = [start(), start()];
    for repeat in &mut loops {
        for _ in 0..3 {
            repeat.wait_for("published");
        }
    }
    for repeat in loops {
        repeat.signal(Signal::TERM);
        assert_eq!(repeat.end().0, Some(0));
    }
    drop(writer);
    edit(&registry, "UPDATE routes SET version = 'last'");
    let last = on_the_box(&["box", "snapshot"], &deployment, &registry).run();
    assert_eq!(last.code, 0, "{last}");
    is_healthy(&deployment, &registry);
}

#[test]
fn an_unrestored_standby_of_the_dead_boxs_label_is_held_and_restorable() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    let registry = deployment.beside("registry.db");
    build_live(&registry, &[]).expect("a registry");
    let outcome = on_the_box(&["box", "snapshot", "--json"], &deployment, &registry).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    let held = document["held"].as_str().expect("a hold");
    assert!(
        outcome.stderr.contains("HELD the prior snapshot of edge-a1 first, because this registry has no routes"),
        "{outcome}"
    );
    let selector = format!("hold:{held}");
    let show = carlosctl(["snapshot", "show", "--box", "edge-a1", "--json", "--at", &selector]).dir(&deployment.dir()).run();
    assert_eq!(show.json()["rows"]["routes"], 200, "{show}");
}

#[test]
fn while_a_restore_is_at_the_registry_nothing_starts() {
    let (deployment, registry) = lived(20);
    let target = Target::look(&registry).expect("a target");
    let claim = Claim::new("restore", "standby", at("2026-11-30T10:00:00Z"));
    let interlock = Interlock::acquire(&target, &claim).expect("the interlock");
    for args in [&["box", "run"][..], &["box", "snapshot", "--loop"], &["box", "snapshot"]] {
        let outcome = on_the_box(args, &deployment, &registry).run();
        assert_eq!(outcome.code, 11, "{outcome}");
        assert!(outcome.stderr.contains("another restore of this registry is in progress: restore on standby"), "{outcome}");
    }
    assert_eq!(deployment.everything(), []);
    drop(interlock);
    assert_eq!(on_the_box(&["box", "snapshot"], &deployment, &registry).run().code, 0);
}

#[test]
fn no_restore_begins_while_the_box_half_runs() {
    let (deployment, registry) = lived(20);
    let mut repeat = Loop::start(on_the_box(&["box", "run", "--interval", "1h"], &deployment, &registry));
    repeat.wait_for("armed");
    let target = Target::look(&registry).expect("a target");
    let refused = Interlock::acquire(&target, &Claim::new("restore", "standby", at("2026-11-30T10:00:00Z")));
    assert!(refused.expect_err("refused").to_string().contains("the box half runs on this registry: box run"));
    repeat.signal(Signal::TERM);
    assert_eq!(repeat.end().0, Some(0));
}

#[test]
fn a_fleet_box_leaves_the_job_alone_and_without_a_store_it_is_disabled() {
    let (deployment, registry) = lived(20);
    let fleet = |args: &[&str]| on_the_box(args, &deployment, &registry).env("CARLOS_BOX_ROLE", "fleet").run();
    let skipped = fleet(&["box", "snapshot", "--loop"]);
    insta::assert_snapshot!(skipped, @r"
    ------- stderr -------
    agent: registry snapshot loop is a platform-box job — skipped on a fleet box
    [exit 0]
    ");
    assert_eq!(fleet(&["box", "report"]).code, 0);
    assert_eq!(deployment.everything(), []);

    let registry = registry.display().to_string();
    let without = |args: &[&str]| {
        carlosctl(args.iter().copied()).arg("--registry").arg(&registry).env("CARLOS_BOX_LABEL", "edge-a1").run()
    };
    insta::assert_snapshot!(without(&["box", "snapshot", "--loop"]), @r"
    ------- stderr -------
    agent: registry snapshot loop disabled: no deployment store is named
    [exit 0]
    ");
    assert_eq!(without(&["box", "snapshot"]).code, 2);
    assert_eq!(without(&["box", "report"]).code, 2);
    let paced = on_the_box(&["box", "snapshot", "--interval", "1s"], &deployment, Path::new(&registry)).run();
    assert_eq!(paced.code, 2, "a pace is a loop's: {paced}");
}

#[test]
fn without_a_label_nothing_is_written_under_a_guessed_one() {
    let (deployment, registry) = lived(20);
    let outcome = carlosctl(["box", "snapshot"]).dir(&deployment.dir()).arg("--registry").arg(&registry).run();
    insta::assert_snapshot!(outcome, @r"
    ------- stderr -------
    error: this box's own label is not known
    hint: give --this-box LABEL, or set CARLOS_BOX_LABEL
    [exit 2]
    ");
    assert_eq!(deployment.everything(), []);
}

#[test]
fn a_report_names_what_must_not_be_pruned_and_says_when_it_does_not_know() {
    let (deployment, registry) = lived(8);
    let status = deployment.beside("status");
    std::fs::create_dir(&status).expect("a directory");
    let report = |args: &[&str]| on_the_box(args, &deployment, &registry).arg("--status-dir").arg(&status).run();
    let outcome = report(&["box", "report", "--json"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!((outcome.json()["hosts"].as_u64(), outcome.json()["error"].is_null()), (Some(8), true));
    let body = std::fs::read_to_string(status.join("status/boxes/edge-a1.json")).expect("a report");
    assert!(
        body.contains(r#""blog-0001.example.org":{"account":"acme","app":"blog","builds":["v1"],"complete":true}"#),
        "{body}"
    );

    edit(&registry, "UPDATE routes SET version = CAST(X'FF' AS TEXT) WHERE rowid = 1");
    let outcome = report(&["box", "report"]);
    assert_eq!(outcome.code, 3, "{outcome}");
    let body = std::fs::read_to_string(status.join("status/boxes/edge-a1.json")).expect("a report");
    assert!(body.contains(r#""build_states":null,"build_states_err":"listing routes for build states: "#), "{body}");
}
