//! `runbook show` and `runbook run`: read at a terminal, walked by hand, unattended, cut off, and gone on with.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use carlosctl::runbook::parse::Section;
use rexpect::session::{Options, PtySession, spawn_with_options};

use crate::common::carlosctl;
use crate::common::scene::{Ended, Scene};
use crate::runbook_scenes;
use crate::runbooks::runbook;

pub(crate) const TIMERS: &str = "'TIMERS=carlos-adopt.timer carlos-ops.timer'";

/// The whole cold-standby runbook without a terminal.
pub(crate) fn unattended(scene: &Scene, dead: &str) -> Ended {
    scene.run(&format!(
        "carlosctl runbook run dr-cold-standby --unattended --set DEAD={dead} --set {TIMERS} --set HOST_ENV={} \
         --transcript {} --confirm {dead} --timeout 2s",
        scene.path("host.env"),
        scene.path("transcript"),
    ))
}

pub(crate) fn transcript(scene: &Scene) -> String {
    fs::read_to_string(scene.path("transcript")).expect("a transcript")
}

fn restored(scene: &Scene) -> bool {
    fs::read(scene.path("standby/registry.db")).expect("a registry")
        == fs::read(scene.object("control/registry-snapshot/edge-a1.db")).expect("an object")
}

pub(crate) fn standby(name: &str) -> Scene {
    let mut scene = Scene::standby();
    runbook_scenes::set(name, &mut scene);
    scene
}

#[test]
fn the_whole_runbook_is_walked_unattended_and_written_down() {
    let scene = standby("standby");
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 0, "{said}");
    let all = runbook("dr-cold-standby").steps().flat_map(Section::commands).count();
    assert!(said.contains(&format!("dr-cold-standby: done; {all} of {all} commands as the runbook says")), "{said}");
    assert!(restored(&scene), "{said}");
    let written = transcript(&scene);
    for line in [
        "value HOLD=20",
        "$ carlosctl restore --from-box edge-a1 --confirm edge-a1",
        "| edge-d4 after the restore of edge-a1: good",
    ] {
        assert!(written.contains(line), "{line} in {written}");
    }
    let mode = fs::metadata(scene.path("transcript")).expect("facts").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // It is never written over.
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 5, "{said}");
    assert_eq!(transcript(&scene), written);
}

#[test]
fn it_stops_at_the_first_command_that_does_not_end_as_it_should() {
    for (name, dead, at, exit) in [
        ("agent-running-again", "edge-a1", "4.1", 5),
        ("standby", "edge-a2", "1.1", 10),
        ("sidecar-of-another", "edge-a1", "1.1", 0),
        ("store-down", "edge-a1", "1.1", 14),
        ("units-in-etc", "edge-a1", "0.2", 1),
        ("no-secrets-key", "edge-a1", "6.2", 1),
        ("agent-elsewhere", "edge-a1", "8.1", 4),
    ] {
        let scene = standby(name);
        let (code, said) = unattended(&scene, dead);
        let written = transcript(&scene);
        let stops: Vec<&str> =
            written.lines().filter(|line| line.starts_with("exit ") && line.contains(": the runbook")).collect();
        assert_eq!(code, 3, "{name}: {said}");
        let differs = if exit == 0 { "shows another output" } else { "says 0" };
        assert_eq!(stops, [format!("exit {exit}: the runbook {differs}")], "{name}: {said}");
        let last = written.lines().rfind(|line| line.starts_with("step ")).expect("a step");
        assert!(last.starts_with(&format!("step {at} at ")), "{name}: {last}");
        assert!(said.contains("nothing after it was run"), "{name}: {said}");
        assert_eq!(restored(&scene), at >= "5", "{name}: {said}");
    }
}

#[test]
fn it_goes_on_where_it_ended_and_only_there() {
    let scene = standby("no-secrets-key");
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 3, "{said}");
    // What to do about it is shown.
    assert!(said.contains("There is no secrets key"), "{said}");
    fs::write(scene.path("host.env"), "CARLOS_SECRETS_KEY=not-a-real-one\n").expect("settings");
    let resume =
        |more: &str| scene.run(&format!("carlosctl runbook run --unattended --resume {} {more}", scene.path("transcript")));
    let (code, said) = resume("undo-a-restore");
    assert_eq!(code, 5, "{said}");
    let before = transcript(&scene);
    let (code, said) = resume("");
    assert_eq!(code, 0, "{said}");
    let written = transcript(&scene);
    let second = written.strip_prefix(&before).expect("it is only added to");
    assert!(
        second.contains("step 6.2 at ") && !second.contains("step 6.1 at ") && !second.contains("restore --from-box"),
        "{second}"
    );
    // The transcript of another machine, or of another text.
    for (from, to, code) in [("machine ", "machine x", 5), ("runbook dr-cold-standby ", "runbook dr-cold-standby 0", 7)] {
        fs::write(scene.path("transcript"), before.replacen(from, to, 1)).expect("a transcript");
        let (ended, said) = resume("");
        assert_eq!(ended, code, "{said}");
    }
    fs::write(scene.path("transcript"), before.replacen("value DEAD=edge-a1", "value DEAD=$(reboot)", 1))
        .expect("a transcript");
    assert_eq!(resume("").0, 5);
}

#[test]
fn consent_and_values_are_never_guessed() {
    let scene = standby("standby");
    let run = |more: &str| scene.run(&format!("carlosctl runbook run {more}"));
    let before = scene.everything();
    for (typed, code, says) in [
        ("dr-cold-standby --set DEAD=edge-a1", 6, "--unattended"),
        ("dr-cold-standby --set DEAD=edge-a1 --unattended --transcript t1", 2, "--set TIMERS=VALUE"),
        ("dr-cold-standby --set 'DEAD=x;reboot' --unattended --transcript t2", 2, "cannot stand in a command"),
        ("dr-cold-standby --set DAED=x --unattended --transcript t3", 2, "has no value DAED"),
        ("dr-cold-standby --from 77 --unattended --transcript t4", 2, "its steps are 0 to 9"),
        ("retention-refused --unattended --transcript t5", 2, "for reading"),
        ("nonsense --unattended", 10, "runbook list"),
        ("--unattended", 2, "NAME"),
    ] {
        let (ended, said) = run(typed);
        assert_eq!(ended, code, "{typed}: {said}");
        assert!(said.contains(says), "{typed}: {said}");
    }
    assert!(scene.everything() == before);
    // The destructive command wants its own consent, and the wrong name is none.
    for confirm in ["", "--confirm edge-b2", "--confirm y"] {
        let scene = standby("standby");
        let (ended, said) = scene.run(&format!(
            "carlosctl runbook run dr-cold-standby --from 5 --unattended --set DEAD=edge-a1 --transcript t {confirm}"
        ));
        assert_eq!(ended, 6, "{said}");
        assert!(said.contains("--confirm edge-a1 was not given") && !restored(&scene), "{said}");
    }
}

#[test]
fn the_commands_of_a_runbook_get_the_settings_that_were_typed() {
    let mut scene = standby("standby");
    let flags = format!(
        "--dir {} --status-dir {} --registry {} --this-box edge-d4",
        scene.path("bucket"),
        scene.path("bucket"),
        scene.path("standby/registry.db")
    );
    scene.env.retain(|name, _| !name.starts_with("CARLOS_"));
    let (code, said) = scene.run(&format!(
        "carlosctl {flags} runbook run quarterly-drill --unattended --json --set DEAD=edge-a1 --transcript t 2>/dev/null"
    ));
    assert_eq!(code, 0, "{said}");
    let document: serde_json::Value = serde_json::from_str(&said).expect("one document");
    assert_eq!((&document["schema"], &document["outcome"]), (&"carlosctl.runbook-run/1".into(), &"done".into()));
    assert_eq!(document["values"]["REGISTRY"], scene.path("standby/registry.db"));
}

pub(crate) fn at_a_terminal(scene: &Scene, line: &str) -> PtySession {
    spawn_with_options(scene.shell(&format!("exec {line}")), Options::new().timeout_ms(Some(60_000))).expect("a terminal")
}

pub(crate) fn exit_code(session: &mut PtySession) -> String {
    format!("{:?}", session.process().wait().expect("it ends"))
}

#[test]
pub(crate) fn at_a_terminal_each_command_is_shown_and_what_changes_something_wants_a_word() {
    let scene = standby("restored");
    let mut session =
        at_a_terminal(&scene, &format!("carlosctl runbook run undo-a-restore --set {TIMERS} --transcript transcript"));
    session.exp_string("Every restore keeps the registry that it replaced").expect("what it is about");
    session.exp_string("Step 1: Nothing may write meanwhile").expect("the step");
    session.exp_string("$ systemctl mask --now carlos-edge.service carlos-adopt.timer carlos-ops.timer").expect("the command");
    // Neither Enter nor y starts what changes something.
    for (typed, said) in [
        ("", "Enter alone runs nothing that changes something; it was not run"),
        ("y", "\"y\" is none of these; it was not run"),
    ] {
        session.exp_string("type run to run it, or stop").expect("the question");
        session.send_line(typed).expect("typed");
        session.exp_string(said).expect("it is said");
    }
    session.exp_string("type run to run it, or stop").expect("the question");
    session.send_line("run").expect("typed");
    session.exp_string("1.1: exit 0, as the runbook says").expect("it ran");
    session.exp_string("Enter runs it, or type stop").expect("a look");
    session.send_line("").expect("typed");
    session.exp_string("BEFORE is 20").expect("it is taken from what was printed");
    // The undo itself asks, at this terminal, for the box's name.
    session.exp_string("Enter runs it, or type stop; it asks for edge-d4 itself").expect("the command that asks itself");
    session.send_line("").expect("typed");
    session.exp_string("type edge-d4 to go on").expect("its own question");
    session.send_line("edge-d4").expect("typed");
    session.exp_string("Enter runs it, or type stop").expect("the last one");
    session.send_line("stop").expect("typed");
    session.exp_string("stopped before 4.1").expect("it is said");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 6)"));
    assert!(!restored(&scene), "the registry from before is back");
    assert!(transcript(&scene).contains("value BEFORE=20"));
}

#[test]
fn what_is_not_known_is_asked_for_and_looked_at() {
    let scene = standby("standby");
    let mut session = at_a_terminal(&scene, "carlosctl runbook run clobbered-snapshot --transcript transcript");
    session.exp_string("DEAD, the box whose snapshots were overwritten").expect("the question");
    session.send_line("edge-c3; reboot").expect("typed");
    session.exp_string("cannot stand in a command").expect("it is refused");
    session.send_line("edge-c3").expect("typed");
    session.exp_string("$ carlosctl snapshot list --box edge-c3").expect("the command");
    session.exp_string("Enter runs it").expect("the question");
    session.send_line("").expect("typed");
    session.exp_string("GOOD is 20").expect("it is taken from the list");
    session.exp_string("type run to run it, or stop").expect("the hold");
    session.send_control('c').expect("typed");
    session.exp_string("interrupted; the transcript is kept").expect("it is said");
    session.exp_string("hint: to go on: carlosctl runbook run --resume transcript\r\n").expect("how to go on");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 130)"));
    // The transcript is kept, and goes on with the hold.
    let (code, said) =
        scene.run("carlosctl runbook run --resume transcript --unattended --set 'TIMERS=carlos-adopt.timer' --confirm edge-c3");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2.1  $ carlosctl snapshot hold --box edge-c3") && !said.contains("1.1  $"), "{said}");
}

#[test]
fn ctrl_c_while_a_command_runs_ends_that_command_and_keeps_the_transcript() {
    let scene = standby("standby");
    // A watch that nothing ends: the agent publishes nothing.
    scene.agent("true");
    scene.run("systemctl mask --now carlos-edge.service; carlosctl restore --from-box edge-a1 --confirm edge-a1");
    let child = scene
        .shell(
            "exec @BIN@ runbook run dr-cold-standby --from 8 --unattended --set DEAD=edge-a1 --transcript transcript"
                .replace("@BIN@", env!("CARGO_BIN_EXE_carlosctl"))
                .as_str(),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let begin = std::time::Instant::now();
    while !fs::read_to_string(scene.path("transcript")).unwrap_or_default().contains("| watching what edge-d4 publishes") {
        assert!(begin.elapsed().as_secs() < 60, "it never watched");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    // How long it would have been, and how it is begun again.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("for 13 min at most: until 20") && said.contains("; Ctrl-C ends it, and nothing is changed\n"),
        "{said}"
    );
    assert!(said.ends_with("hint: to go on: carlosctl runbook run --resume transcript --unattended\n"), "{said}");
    let written = transcript(&scene);
    assert!(written.ends_with("interrupted, exit 130\n"), "{written}");
}

#[test]
fn a_value_of_which_there_is_none_is_given_by_enter_or_as_an_empty_one() {
    let scene = standby("standby");
    let mut session = at_a_terminal(&scene, "carlosctl runbook run dr-cold-standby --set DEAD=edge-a1 --transcript transcript");
    session.exp_string("Enter runs it").expect("the look around");
    session.send_line("").expect("typed");
    session.exp_string("TIMERS, the timers here that run").expect("what it is about");
    let question = "TIMERS, or Enter alone where there is none, or stop: ";
    session.exp_string(question).expect("the question says how");
    for word in ["skip", "none", "run"] {
        session.send_line(word).expect("typed");
        session.exp_string(&format!("{word:?} is an answer to another question, and no TIMERS")).expect("it is not taken");
        session.exp_string(question).expect("the question again");
    }
    session.send_line("").expect("typed");
    session.exp_string("0.2  $ systemctl mask --now carlos-edge.service\r\n").expect("without any timer");
    session.exp_string("type run to run it, or stop, or skip").expect("the question");
    session.send_line("stop").expect("typed");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 6)"));
    assert!(transcript(&scene).contains("\nvalue TIMERS=\n"));

    let (code, said) = scene.run(&format!(
        "carlosctl runbook run --resume transcript --unattended --confirm edge-a1 --set HOST_ENV={}",
        scene.path("host.env")
    ));
    assert_eq!(code, 0, "{said}");
    for line in [
        "9.1  $ systemctl unmask\n9.1: skipped: there is none of TIMERS\n",
        "9.2: skipped: there is none of TIMERS\n",
        "skipped 9.1, 9.2\n",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    // There is one after all: what rests on it is run again, and what named nothing is run.
    let (code, said) = scene.run("carlosctl runbook run --resume transcript --unattended --set TIMERS=carlos-ops.timer");
    // The agent runs by now, so the rehearsal of the restore stops it.
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("4.1 ended with exit 5"), "{said}");
    assert!(said.contains("0.2  $ systemctl mask --now carlos-edge.service carlos-ops.timer\n"), "{said}");
    // What there must be cannot be empty, neither typed nor written into a transcript.
    for set in ["DEAD=", "AGENT="] {
        let (code, said) = scene.run(&format!("carlosctl runbook run dr-cold-standby --unattended --set {set} --transcript t"));
        assert!(code == 2 && said.contains("empty, and there must be one"), "{said}");
    }
    let written = transcript(&scene).replace("value DEAD=edge-a1", "value DEAD=");
    fs::write(scene.path("transcript"), written).expect("a transcript");
    let (code, said) = scene.run("carlosctl runbook run --resume transcript --unattended");
    assert!(code == 5 && said.contains("DEAD is empty in it; nothing was run"), "{said}");
}

#[test]
fn the_question_for_a_value_can_be_left_and_a_mistyped_runbook_has_a_near_one() {
    let scene = standby("standby");
    let mut session = at_a_terminal(&scene, "carlosctl runbook run clobbered-snapshot --transcript transcript");
    session.exp_string("DEAD, or stop: ").expect("the question");
    session.send_line("stop").expect("typed");
    session.exp_string("stopped at the question for DEAD; nothing more was run").expect("it is said");
    session.exp_string("hint: to go on: carlosctl runbook run --resume transcript\r\n").expect("how to go on");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 6)"));
    for command in ["show dr-cold-stanby", "run dr-cold-stanby --unattended"] {
        let (code, said) = scene.run(&format!("carlosctl runbook {command}"));
        let expected = "hint: did you mean dr-cold-standby? every runbook: carlosctl runbook list\n";
        assert!(code == 10 && said.contains(expected), "{said}");
    }
}

#[test]
fn a_runbook_is_readable_at_any_width_and_plain_in_a_pipe() {
    let scene = standby("standby");
    let (code, piped) = scene.run("carlosctl runbook show dr-cold-standby");
    assert_eq!(code, 0);
    assert!(piped.contains("\n```console\n$ carlosctl restore --from-box $DEAD\n"), "{piped}");
    let mut session = at_a_terminal(&scene, "sh -c 'stty cols 60; carlosctl runbook show dr-cold-standby'");
    let shown = session.exp_eof().expect("the end").replace('\r', "");
    assert!(shown.contains("\n    $ carlosctl restore --from-box $DEAD\n"), "{shown}");
    assert!(
        !shown.contains("```") && !shown.contains("**") && !shown.contains("scene:") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    let long = shown.lines().find(|line| !line.starts_with("    ") && line.chars().count() > 60);
    assert_eq!(long, None);
}

#[test]
fn a_runbook_is_readable_where_the_settings_are_broken() {
    let directory = tempfile::tempdir().expect("a directory");
    let broken = directory.path().join("host.env");
    std::fs::write(&broken, "nonsense\n").expect("a file");
    for args in [&["runbook", "list"][..], &["runbook", "show", "credentials-clock-network"]] {
        let whole = carlosctl(args.iter().copied()).run();
        let read = carlosctl(args.iter().copied()).arg("--host-env").arg(&broken).env("CARLOS_BOX_LABEL", "../x").run();
        assert_eq!((read.code, read.stderr.as_str()), (0, ""), "{read}");
        assert_eq!(read.stdout.lines().count(), whole.stdout.lines().count());
    }
    let doctor = carlosctl(["doctor"]).arg("--host-env").arg(&broken).run();
    assert_eq!((doctor.code, doctor.stdout.as_str()), (2, ""), "{doctor}");
}
