use super::*;

/// A directory with a `systemctl` that runs `script`; in it `$unit` is the unit asked for.
fn fake(script: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("systemctl");
    std::fs::write(&file, format!("#!/bin/sh\nfor unit; do :; done\n{script}\n")).expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    directory
}

fn ask_fake(script: &str) -> UnitsAnswer {
    ask_fake_within(script, TIME_LIMIT)
}

fn ask_fake_within(script: &str, limit: Duration) -> UnitsAnswer {
    let directory = fake(script);
    let path = format!("{}:/usr/bin:/bin", directory.path().display());
    ask_within(Some(&path), &["carlos-edge".to_owned()], limit)
}

fn codes(answer: &UnitsAnswer) -> Vec<(&'static str, String)> {
    findings(answer).into_iter().map(|finding| (finding.code.as_str(), finding.because)).collect()
}

const QUIET_SOCKET: &str = "case $unit in *.socket) echo LoadState=not-found; echo ActiveState=inactive; exit;; esac\n";

#[test]
fn every_state_but_stopped_stops_and_is_named() {
    for (active, sub, more, why) in [
        ("active", "running", "MainPID=17", ""),
        ("activating", "start-pre", "Job=4711", ""),
        ("activating", "auto-restart", "", ""),
        ("deactivating", "stop-sigterm", "", ""),
        ("reloading", "reload", "", ""),
        ("maintenance", "cleaning", "", ""),
        ("refreshing", "some-future-word", "", ""),
        ("inactive", "dead-before-auto-restart", "", ""),
        ("failed", "failed-before-auto-restart", "", ""),
        ("inactive", "dead", "Job=4711", ", with a job queued"),
        ("inactive", "dead", "MainPID=17", ", with a process"),
        ("failed", "failed", "ControlPID=17", ", with a process"),
    ] {
        let script =
            format!("{QUIET_SOCKET}echo LoadState=loaded; echo ActiveState={active}; echo SubState={sub}; echo {more}");
        let answer = ask_fake(&script);
        assert_eq!(answer.unknown, None, "{active} {sub}");
        assert_eq!(codes(&answer), [("agent-active", format!("the unit is {active} ({sub}){why}"))]);
        let hint = findings(&answer)[0].hint.clone().unwrap_or_default();
        assert!(hint.starts_with("systemctl mask --now carlos-edge.service || "), "{hint}");
    }
    let answer = ask_fake(&format!("{QUIET_SOCKET}echo ActiveState=active"));
    assert_eq!(codes(&answer), [("agent-active", "the unit is active".to_owned())]);
}

#[test]
fn a_stopping_state_is_believed_whatever_the_exit_status() {
    let answer = ask_fake(&format!("{QUIET_SOCKET}echo ActiveState=activating; echo SubState=start; exit 3"));
    assert_eq!(codes(&answer), [("agent-active", "the unit is activating (start)".to_owned())]);
}

#[test]
fn stopped_failed_masked_and_absent_units_are_fine() {
    for (standing, answer) in [
        (Standing::Stopped, "LoadState=loaded\nActiveState=inactive\nSubState=dead\nUnitFileState=disabled\nMainPID=0\nJob=0"),
        (Standing::Stopped, "LoadState=loaded\nActiveState=failed\nSubState=failed\nUnitFileState=static"),
        (Standing::Masked, "LoadState=masked\nActiveState=inactive\nSubState=dead\nUnitFileState=masked"),
        (Standing::NotFound, "LoadState=not-found\nActiveState=inactive\nSubState=dead\nUnitFileState="),
    ] {
        let answer = ask_fake(&format!("{QUIET_SOCKET}cat <<END\n{answer}\nEND"));
        assert_eq!((answer.unknown.as_deref(), codes(&answer)), (None, vec![]), "{answer:?}");
        assert_eq!((answer.units[0].name.as_str(), answer.units[0].standing), ("carlos-edge.service", standing));
    }
}

#[test]
fn a_stopped_unit_that_is_enabled_is_noted_and_goes_on() {
    let answer = ask_fake(&format!(
        "{QUIET_SOCKET}echo LoadState=loaded; echo ActiveState=inactive; echo SubState=dead; echo UnitFileState=enabled"
    ));
    let findings = findings(&answer);
    assert_eq!((findings.len(), findings[0].code), (1, Code::UnitEnabled));
    assert!(!findings[0].stops(&[]));
}

#[test]
fn whatever_would_start_the_stopped_service_stops() {
    let listening = "echo ActiveState=active; echo SubState=listening";
    for (script, name) in [
        // The socket says so itself, or the service names its triggers; a timer counts as a socket does.
        (format!("case $unit in *.socket) {listening};; *) echo ActiveState=inactive;; esac"), "carlos-edge.socket"),
        (
            format!(
                "case $unit in api.socket) {listening}; echo Triggers=carlos-edge.service;;
                 *) echo ActiveState=inactive; echo TriggeredBy=api.socket;; esac"
            ),
            "api.socket",
        ),
        (
            format!(
                "case $unit in *.socket) {listening};;
                 *) echo ActiveState=inactive; echo TriggeredBy=carlos-edge.socket;; esac"
            ),
            "carlos-edge.socket",
        ),
        (
            "case $unit in adopt.timer) echo ActiveState=active; echo SubState=waiting;;
             *) echo ActiveState=inactive; echo TriggeredBy=adopt.timer;; esac"
                .to_owned(),
            "adopt.timer",
        ),
    ] {
        let findings = findings(&ask_fake(&script));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!((findings[0].code, findings[0].subject.as_str()), (Code::AgentActive, name));
        assert!(findings[0].because.contains("would start carlos-edge.service"), "{findings:?}");
    }
    // A socket of that name that starts something else does not.
    let other =
        format!("case $unit in *.socket) {listening}; echo Triggers=other.service;; *) echo ActiveState=inactive;; esac");
    assert_eq!(findings(&ask_fake(&other)), []);
}

#[test]
fn no_usable_answer_is_unknown_and_says_why() {
    for (script, because) in [
        ("echo 'System has not been booted with systemd as init system' >&2; exit 1", "not been booted"),
        ("echo LoadState=loaded; echo ActiveState=inactive; exit 1", "no ActiveState"),
        ("echo garbage; exit 0", "no ActiveState"),
        ("exit 0", "no ActiveState"),
        ("head -c 1000000 /dev/zero", "no ActiveState"),
    ] {
        let answer = ask_fake(script);
        assert!(answer.unknown.as_ref().is_some_and(|unknown| unknown.contains(because)), "{script}: {answer:?}");
        let findings = findings(&answer);
        assert_eq!((findings.len(), findings[0].code), (1, Code::UnitsUnknown), "{script}");
    }
    for path in [None, Some(""), Some("relative"), Some("/nonexistent")] {
        let answer = ask(path, &["carlos".to_owned()]);
        assert_eq!(answer.unknown.as_deref(), Some("there is no systemctl on PATH"));
    }
}

#[test]
fn a_hanging_systemctl_is_ended_and_what_was_learned_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let pid = directory.path().join("pid");
    for hang in ["sleep 600", "sleep 600 &", "exec 2>&-; sleep 600", "exec >&- 2>&-; sleep 600"] {
        let note = format!("echo $$ >{}", pid.display());
        let script =
            format!("case $unit in *.socket) {note}; {hang};; *) echo ActiveState=active; echo SubState=running;; esac");
        let answer = ask_fake_within(&script, Duration::from_secs(3));
        assert!(answer.unknown.as_ref().is_some_and(|unknown| unknown.contains("did not answer")), "{answer:?}");
        assert_eq!(answer.units.first().map(|unit| unit.standing), Some(Standing::Stops));
        let pid = std::fs::read_to_string(&pid).expect("it began");
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{hang}: it is still there");
    }
}

#[test]
fn one_unreadable_unit_does_not_hide_another_that_runs() {
    let directory = fake("case $unit in b.service) echo ActiveState=active;; *) exit 1;; esac");
    let path = format!("{}:/usr/bin:/bin", directory.path().display());
    let answer = ask(Some(&path), &["a".to_owned(), "b".to_owned()]);
    assert!(answer.unknown.is_some());
    assert_eq!(answer.units.iter().map(|unit| unit.standing).collect::<Vec<_>>(), [Standing::Stops]);
}

#[test]
fn a_name_that_is_an_option_or_a_pattern_is_never_passed_on() {
    let directory = fake("echo ActiveState=inactive");
    let path = format!("{}:/usr/bin:/bin", directory.path().display());
    for name in ["--help", "carlos*", "a b", "", "x;y", "ü"] {
        let answer = ask(Some(&path), &[name.to_owned()]);
        assert!(answer.units.is_empty() && answer.unknown.is_some(), "{name}");
    }
}

/// Neither the language nor the secrets of whoever restores reach it.
#[test]
fn it_is_asked_in_plain_english_and_is_told_nothing() {
    assert!(std::env::var_os("HOME").is_some(), "a shell sets none of its own");
    let said = r#"echo ActiveState=active; echo "SubState=$LC_ALL $SYSTEMD_COLORS ${HOME:-nothing}""#;
    let answer = ask_fake(&format!("{QUIET_SOCKET}{said}"));
    assert_eq!(codes(&answer), [("agent-active", "the unit is active (C 0 nothing)".to_owned())]);
}

#[test]
fn a_full_name_is_asked_for_as_it_is() {
    let directory = fake("echo ActiveState=active");
    let path = format!("{}:/usr/bin:/bin", directory.path().display());
    for name in ["edge.service", "edge.socket", "edge.timer", "edge.path"] {
        assert_eq!(ask(Some(&path), &[name.to_owned()]).units[0].name, name);
    }
}

#[test]
fn only_a_file_that_can_be_run_is_systemctl() {
    let [folder, plain] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    std::fs::create_dir(folder.path().join("systemctl")).expect("a directory");
    std::fs::write(plain.path().join("systemctl"), "no program").expect("a file");
    let real = fake("exit 0");
    let path = [folder.path(), plain.path(), real.path()].map(|directory| directory.display().to_string()).join(":");
    assert_eq!(find_on_path(Some(&path)), Some(real.path().join("systemctl")));
}
