//! Kind: a lock or a look that ended before the thing that it was for.

use std::fs;

use crate::restore::Standby;

/// The standby's systemctl, which does `inside` the first time that it is asked under the interlock, and `always` each time.
fn asked_under_the_lock(standby: &Standby, inside: &str, always: &str) {
    standby.systemctl(&format!(
        "if [ -e '{0}.carlosctl-lock' ]; then if ! [ -e '{1}' ]; then : >'{1}'; {inside}
         fi; {always}
         else echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead; fi",
        standby.registry().display(),
        standby.deployment.beside("tried").display(),
    ));
}

const NO_UNIT: &str = "echo LoadState=not-found; echo ActiveState=inactive; echo SubState=dead";

/// Incident 3: the lock was tried, let go, and then the file was exchanged; the service came back in between. Here everybody
/// who could come tries in just that moment, and is turned away.
#[test]
fn from_the_last_look_to_the_proof_nobody_else_gets_in() {
    let standby = Standby::new();
    let said = standby.deployment.beside("said");
    let (registry, binary) = (standby.registry(), env!("CARGO_BIN_EXE_carlosctl"));
    let tries = format!(
        "{{ python3 -c \"
import sqlite3
for sql in ('select count(*) from routes', 'begin immediate'):
    try:
        sqlite3.connect('{0}', timeout=0).execute(sql).fetchall(); print('in:', sql)
    except sqlite3.OperationalError as error:
        print('out:', error)
\"
         {binary} box snapshot --dir {1} --registry {0} --this-box edge-b2; echo box $?; }} >'{2}' 2>&1 </dev/null",
        registry.display(),
        standby.deployment.dir().display(),
        said.display(),
    );
    asked_under_the_lock(&standby, &tries, NO_UNIT);
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    let said = fs::read_to_string(said).expect("they tried");
    assert_eq!(said.matches("out: database is locked").count(), 2, "{said}");
    assert!(said.contains("another restore of this registry is in progress: restore on"), "{said}");
    assert!(said.contains("box 11"), "{said}");
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(standby.versions(), ["v0"]);
}

/// The kind of incident 3: the service starts between the question and the lock, and is seen under the lock.
#[test]
fn an_agent_that_starts_after_the_question_is_seen_under_the_lock() {
    let standby = Standby::new();
    asked_under_the_lock(&standby, ":", "echo LoadState=loaded; echo ActiveState=active; echo SubState=running");
    let before = standby.files();
    let outcome = standby.restore(["--confirm", "edge-a1"]).run();
    standby.refused(&outcome, 5, &before, &["agent-active"]);
    assert!(outcome.stderr.contains("this machine changed since it was looked at"), "{outcome}");
    assert!(!standby.registry().with_file_name("registry.db.carlosctl-lock").exists(), "the lock is given back");
}

/// Runner-up: the lock of a process that is gone kept everybody out of the last resort, for ever.
#[test]
fn a_lock_file_whose_holder_is_gone_is_no_lock() {
    let standby = Standby::new();
    let lock = standby.registry().with_file_name("registry.db.carlosctl-lock");
    let claim = r#"{"operation":"restore","host":"standby","pid":1,"since":"2026-11-30T10:00:00Z"}"#;
    for left in [claim.as_bytes(), b"", b"\xff not ours"] {
        fs::write(&lock, left).expect("a file");
        let outcome = standby.restore(["--confirm", "edge-a1", "--allow", "target-not-empty"]).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        assert!(!lock.exists());
    }
}
