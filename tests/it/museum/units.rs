//! Kind: wrong evidence for "it is stopped".

use std::fs;
use std::time::{Duration, Instant};

use crate::restore::Standby;

/// Answers for the agent's service and its socket, and knows nothing of any other unit.
fn answering(service: &str, socket: &str) -> Standby {
    let standby = Standby::new();
    let properties = |words: &str| format!("echo {}", words.replace(' ', "; echo "));
    standby.systemctl(&format!(
        "case \"$*\" in *carlos-edge.service) {} ;; *carlos-edge.socket) {} ;; *) {} ;; esac",
        properties(service),
        properties(socket),
        properties("LoadState=not-found ActiveState=inactive SubState=dead")
    ));
    standby
}

const STOPPED: &str = "LoadState=loaded ActiveState=inactive SubState=dead UnitFileState=disabled";

/// Row 35: the service is stopped and its socket listens: the next connection starts it.
#[test]
fn a_listening_socket_is_as_good_as_a_running_service() {
    let standby = answering(
        &format!("{STOPPED} TriggeredBy=carlos-edge.socket"),
        "LoadState=loaded ActiveState=active SubState=listening Triggers=carlos-edge.service",
    );
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["agent-active"]);
    assert!(outcome.stderr.contains("carlos-edge.socket") && outcome.stderr.contains("listening"), "{outcome}");
}

/// Row 35: a stopped unit that a reboot would start does not stop a restore, and is not passed over either.
#[test]
fn a_stopped_unit_that_is_enabled_is_noted() {
    let standby = answering(&STOPPED.replace("disabled", "enabled"), STOPPED);
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("note unit-enabled: carlos-edge.service"), "{outcome}");
}

/// Row 35: whoever names the agent's units does not think of carlosctl's own, which waits here for its next start.
#[test]
fn our_own_box_half_is_looked_at_whatever_units_are_named() {
    let standby = Standby::new();
    standby.systemctl(
        "case \"$*\" in *carlosctl-box.service) echo LoadState=loaded; echo ActiveState=activating; echo SubState=auto-restart ;; \
         *) echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead ;; esac",
    );
    let before = standby.files();
    let named = standby.restore(["--confirm", "edge-a1"]).env("CARLOS_AGENT_UNITS", "my-agent.service").run();
    for outcome in [named, standby.restore(["--confirm", "edge-a1"]).run()] {
        standby.refused(&outcome, 5, &before, &["agent-active"]);
        assert!(outcome.stderr.contains("hint: systemctl mask --now carlosctl-box.service"), "{outcome}");
    }
}

/// Row 35: a systemctl that hangs is no answer; it must not hang the restore, and is never taken for "stopped".
#[test]
fn a_systemctl_that_hangs_is_given_up_and_said() {
    let standby = Standby::new();
    standby.systemctl("sleep 600");
    let begun = Instant::now();
    let outcome = standby.restore(["--dry-run"]).run();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("warning units-unknown:") && outcome.stderr.contains("did not answer"), "{outcome}");
}

/// Row 35: without systemd the other evidence is used, and named.
#[test]
fn a_machine_without_systemctl_is_said_to_be_one() {
    let standby = Standby::new();
    let empty = standby.deployment.beside("empty");
    fs::create_dir(&empty).expect("a directory");
    let outcome = standby.restore(["--confirm", "edge-a1"]).env("PATH", &empty).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("open files and locks were looked at instead"), "{outcome}");
}

/// Row 35: a stale pid file matched a pid that was given away again, and blocked for ever.
#[test]
fn a_pid_file_is_no_evidence_and_is_left_alone() {
    let standby = Standby::new();
    let file = standby.deployment.beside("data").join("carlos.pid");
    fs::write(&file, std::process::id().to_string()).expect("a file");
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), std::process::id().to_string());
}

/// What was installed already needs no consent to be finished; an agent that runs by now stops it all the same.
#[test]
fn finishing_is_refused_while_the_agent_runs() {
    let standby = answering(STOPPED, STOPPED);
    assert_eq!(standby.restore(["--confirm", "edge-a1"]).run().code, 0);
    let finished = standby.restore(["--json"]).run();
    assert_eq!(finished.code, 0, "{finished}");
    assert_eq!(finished.json()["outcome"], "installed");
    assert!(finished.stderr.contains("stays: nothing is exchanged"), "{finished}");
    standby.systemctl("echo LoadState=loaded; echo ActiveState=active; echo SubState=running");
    let before = standby.files();
    let outcome = standby.restore(["--json"]).run();
    standby.refused(&outcome, 5, &before, &["agent-active"]);
    assert_eq!(outcome.json()["outcome"], "refused");
}
